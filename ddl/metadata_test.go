package ddl

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// table is a table with the given protocol, columns and properties, however another writer made it.
func table(t *testing.T, p protocol.Protocol, schema protocol.DataType, properties props) State {
	t.Helper()
	config, err := protocol.NewTableConfig(p, protocol.Metadata{ID: "table", Provider: "parquet", SchemaString: schema.JSON(), Configuration: properties})
	if err != nil {
		t.Fatal(err)
	}
	return State{Config: config}
}

// set is the metadata of a table with properties changed; "" takes one away.
func set(old State, properties props) protocol.Metadata {
	m := old.Config.Metadata
	m.Configuration = maps.Clone(m.Configuration)
	if m.Configuration == nil {
		m.Configuration = props{}
	}
	for name, value := range properties {
		if value == "" {
			delete(m.Configuration, name)
		} else {
			m.Configuration[name] = value
		}
	}
	return m
}

func withSchema(old State, schema protocol.DataType) protocol.Metadata {
	m := old.Config.Metadata
	m.SchemaString = schema.JSON()
	return m
}

func legacy(r, w int) protocol.Protocol {
	return protocol.Protocol{MinReaderVersion: r, MinWriterVersion: w}
}

func writer(r int, features ...string) protocol.Protocol {
	return protocol.Protocol{MinReaderVersion: r, MinWriterVersion: 7, WriterFeatures: features}
}

// TestUpgrade holds the worked examples of the protocol digest, and what else properties and columns bring to a table that
// is there.
func TestUpgrade(t *testing.T) {
	id := columns(t, "id int")
	all := "appendOnly,changeDataFeed,checkConstraints,columnMapping,deletionVectors,generatedColumns,invariants"
	for _, c := range []struct {
		name string
		from protocol.Protocol
		set  props
		add  string // columns after "id int"
		want string
	}{
		{"a CHECK", legacy(1, 2), props{"delta.constraints.c": "id > 0"}, "", "1 3"},
		{"feed", legacy(1, 2), props{"delta.enableChangeDataFeed": "true"}, "", "1 7 appendOnly,changeDataFeed,invariants"},
		{"feed by its old name", legacy(1, 2), props{"delta.enableChangeDataCapture": "true"}, "", "1 7 appendOnly,changeDataFeed,invariants"},
		{"mapping at 1 4", legacy(1, 4), props{"delta.columnMapping.mode": "name"}, "", "2 5"},
		{"mapping at 1 2", legacy(1, 2), props{"delta.columnMapping.mode": "name"}, "", "2 7 appendOnly,columnMapping,invariants"},
		{"vectors at 2 5", legacy(2, 5), props{"delta.enableDeletionVectors": "true"}, "", "3 7 [columnMapping,deletionVectors] " + all},
		{"gaps are filled", writer(1, "checkConstraints"), props{"delta.minWriterVersion": "3"}, "", "1 3"},
		{"3 7 adds nothing", legacy(1, 2), props{"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"}, "", "1 2"},
		{"writer 5 alone", legacy(1, 2), props{"delta.minWriterVersion": "5"}, "", "1 4"},
		{"2 6", legacy(1, 2), props{"delta.minReaderVersion": "2", "delta.minWriterVersion": "6"}, "", "2 6"},
		{"lower versions", legacy(1, 4), props{"delta.minWriterVersion": "2"}, "", "1 4"},
		{"a feature by name", legacy(1, 2), props{"delta.feature.deletionVectors": "supported"}, "", "3 7 [deletionVectors] appendOnly,deletionVectors,invariants"},
		{"a legacy feature by name", writer(1, "appendOnly", "invariants", "rowTracking", "domainMetadata"), props{"delta.feature.checkConstraints": "SUPPORTED"}, "", "1 7 appendOnly,checkConstraints,domainMetadata,invariants,rowTracking"},
		{"what it requires", legacy(1, 2), props{"delta.feature.icebergCompatV3": "supported"}, "", "2 7 appendOnly,columnMapping,domainMetadata,icebergCompatV3,invariants,rowTracking"},
		{"timestamps", legacy(1, 2), props{"delta.enableInCommitTimestamps": "true"}, "", "1 7 appendOnly,inCommitTimestamp,invariants"},
		{"widening and checkpoints", legacy(1, 2), props{"delta.enableTypeWidening": "true", "delta.checkpointPolicy": "v2"}, "", "3 7 [typeWidening,v2Checkpoint] appendOnly,invariants,typeWidening,v2Checkpoint"},
		{"off brings nothing", legacy(1, 2), props{"delta.enableDeletionVectors": "false", "delta.columnMapping.mode": "none"}, "", "1 2"},
		{"off takes nothing", writer(1, "changeDataFeed"), props{"delta.enableChangeDataFeed": "false"}, "", "1 7 changeDataFeed"},
		{"a variant", legacy(1, 2), nil, "s struct<v:variant>", "3 7 [variantType] appendOnly,invariants,variantType"},
		{"a preview stands for it", protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"variantType-preview"}, WriterFeatures: []string{"variantType-preview"}}, nil, "v variant", "3 7 [variantType-preview] variantType-preview"},
		{"nothing new leaves it as it is", protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"rowTracking", "domainMetadata"}}, props{"k": "v"}, "", "3 7 [] rowTracking,domainMetadata"},
		{"a rewrite makes it the weakest", protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"rowTracking", "domainMetadata"}}, props{"delta.appendOnly": "true"}, "", "1 7 appendOnly,domainMetadata,rowTracking"},
		{"NOT NULL at 1 1", legacy(1, 1), nil, "n int!", "1 7 invariants"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := table(t, c.from, id, nil)
			m := set(old, c.set)
			if c.add != "" {
				schema := columns(t, "id int, "+strings.TrimSuffix(c.add, "!"))
				schema.Fields[1].Nullable = !strings.HasSuffix(c.add, "!")
				m.SchemaString = schema.JSON()
			}
			p, now, err := UpdateMetadata(&old, m, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(p); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for key := range now.Configuration {
				if isProtocolProperty(key) {
					t.Errorf("%s is stored (M2)", key)
				}
			}
		})
	}
}

func TestUpgradeRefused(t *testing.T) {
	id := columns(t, "id int")
	on := func(p protocol.Protocol, properties props) State { return table(t, p, id, properties) }
	mapped := created(t, CreateSpec{Schema: id, Properties: props{"delta.columnMapping.mode": "name"}})
	left := columns(t, "id int", meta("id", func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithColumnMapping(1, "id") }))
	iceberg := created(t, CreateSpec{Schema: id, Properties: props{"delta.enableIcebergCompatV3": "true"}})
	tracked := created(t, CreateSpec{Schema: id, Properties: props{"delta.enableRowTracking": "true", "delta.columnMapping.mode": "name"}})
	vectors := on(legacy(1, 2), nil)
	vectors.NumFiles, vectors.NumVectors = 3, 1
	mappedVectors := mapped
	mappedVectors.NumVectors = 1
	files := mapped
	files.NumFiles = 1
	firstIceberg := created(t, CreateSpec{Schema: id, Properties: props{"delta.enableIcebergCompatV1": "true"}})
	firstIceberg.NumFiles = 1
	partitioned := created(t, CreateSpec{Schema: columns(t, "id int, p int"), PartitionColumns: []string{"p"}, Properties: props{"delta.columnMapping.mode": "name"}})
	partitioned.NumFiles = 1
	for _, c := range []struct {
		name  string
		old   State
		m     protocol.Metadata
		class protocol.Class
	}{
		{"ntz on an old table", vectors, withSchema(vectors, columns(t, "id int, n timestamp_ntz")), "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"},
		{"a version that is none", vectors, set(vectors, props{"delta.minWriterVersion": "8"}), "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{"a version that is no number", vectors, set(vectors, props{"delta.minReaderVersion": "abc"}), "DELTA_PROTOCOL_PROPERTY_NOT_INT"},
		{"none to id", vectors, set(vectors, props{"delta.columnMapping.mode": "id"}), "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{"name to id", mapped, set(mapped, props{"delta.columnMapping.mode": "id"}), "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{"name to none without a rewrite", mapped, set(mapped, props{"delta.columnMapping.mode": "none"}), "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{"left-over ids", table(t, legacy(1, 2), left, nil), set(table(t, legacy(1, 2), left, nil), props{"delta.columnMapping.mode": "name"}),
			"DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS"},
		{"a column with the switch", vectors, func() protocol.Metadata {
			m := set(vectors, props{"delta.columnMapping.mode": "name"})
			m.SchemaString = columns(t, "id int, b int").JSON()
			return m
		}(), "DELTA_UNSUPPORTED_COLUMN_MAPPING_SCHEMA_CHANGE"},
		{"manifests with vectors there", vectors, set(vectors, props{"delta.compatibility.symlinkFormatManifest.enabled": "true"}),
			"DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.EXISTING_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION"},
		{"catalog", vectors, set(vectors, props{"delta.feature.catalogManaged": "supported"}), "DELTASQL_UNSUPPORTED_FEATURE"},
		{"iceberg without mapping", vectors, set(vectors, props{"delta.enableIcebergCompatV2": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
		{"iceberg with vectors there", mappedVectors, set(mappedVectors, props{"delta.enableIcebergCompatV2": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_NOT_PURGED"},
		{"iceberg 3 over files without ids", files, set(files, props{"delta.enableIcebergCompatV3": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
		{"iceberg 2 over files", files, set(files, props{"delta.enableIcebergCompatV2": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.CHANGE_VERSION_NEED_REWRITE"},
		{"iceberg 2 over files of iceberg 1", firstIceberg, set(firstIceberg, props{"delta.enableIcebergCompatV1": "false", "delta.enableIcebergCompatV2": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.CHANGE_VERSION_NEED_REWRITE"},
		{"iceberg 1 over partitioned files", partitioned, set(partitioned, props{"delta.enableIcebergCompatV1": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.CHANGE_VERSION_NEED_REWRITE"},
		{"iceberg 3 stays", iceberg, set(iceberg, props{"delta.enableIcebergCompatV3": "false"}), "DELTA_ICEBERG_COMPAT_VIOLATION.DISABLING_REQUIRED_TABLE_FEATURE"},
		{"iceberg 3 after row tracking", tracked, set(tracked, props{"delta.enableIcebergCompatV3": "true"}), "DELTA_ICEBERG_COMPAT_VIOLATION.INCOMPATIBLE_TABLE_FEATURE"},
		{"a row id's name", tracked, withSchema(tracked, columns(t, "id int, "+tracked.Config.Property(propRowIDColumn)+" int")), "DELTA_ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED"},
		{"suspended and on", on(writer(1, "domainMetadata", "rowTracking"), props{"delta.rowTrackingSuspended": "true"}),
			set(on(writer(1, "domainMetadata", "rowTracking"), props{"delta.rowTrackingSuspended": "true"}), props{"delta.enableRowTracking": "true"}), "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"},
		{"feed's names in a column", on(writer(1, "changeDataFeed"), props{"delta.enableChangeDataFeed": "true"}),
			func() protocol.Metadata {
				o := on(writer(1, "changeDataFeed"), props{"delta.enableChangeDataFeed": "true"})
				return withSchema(o, columns(t, "id int, _commit_version bigint"))
			}(), "RESERVED_CDC_COLUMNS_ON_WRITE"},
		{"retention falls", vectors, set(vectors, props{"delta.logRetentionDuration": "2 days"}), "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{"the largest id is too small", mapped, set(mapped, props{"delta.columnMapping.maxColumnId": "no number"}), "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := UpdateMetadata(&c.old, c.m, testEnv())
			wantClass(t, err, c.class)
		})
	}
}

// TestMapping: who gets which id and which name.
func TestMapping(t *testing.T) {
	update := func(old *State, m protocol.Metadata) State {
		t.Helper()
		p, now, err := UpdateMetadata(old, m, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		config, err := protocol.NewTableConfig(p, now)
		if err != nil {
			t.Fatal(err)
		}
		return State{Config: config}
	}
	ids := func(s State) string {
		var out []string
		_ = walk(&s.Config.Schema, func(path Path, f *protocol.Field) error {
			id, _ := f.ColumnID()
			name, _ := f.Metadata.PhysicalName()
			out = append(out, fmt.Sprintf("%s=%d:%s", path, id, name))
			return nil
		})
		return strings.Join(out, " ") + " max " + s.Config.Property(propMaxColumnID)
	}
	expect := func(s State, want string) {
		t.Helper()
		if got := ids(s); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	schema := columns(t, "a int, s struct<x:int,l:array<struct<y:int>>>, m map<string,struct<z:int>>")

	fresh := update(nil, protocol.Metadata{SchemaString: schema.JSON(), Configuration: props{"delta.columnMapping.mode": "id"}})
	expect(fresh, "a=1:col-id-1 s=2:col-id-2 s.x=3:col-id-3 s.l=4:col-id-4 s.l.element.y=5:col-id-5 m=6:col-id-6 m.value.z=7:col-id-7 max 7")

	plain := table(t, legacy(1, 2), schema, nil)
	upgraded := update(&plain, set(plain, props{"delta.columnMapping.mode": "name"}))
	expect(upgraded, "a=1:a s=2:s s.x=3:x s.l=4:l s.l.element.y=5:y m=6:m m.value.z=7:z max 7")

	more := copyType(upgraded.Config.Schema)
	more.Fields = append(more.Fields, columns(t, "new int").Fields...)
	added := update(&upgraded, withSchema(upgraded, more))
	expect(added, "a=1:a s=2:s s.x=3:x s.l=4:l s.l.element.y=5:y m=6:m m.value.z=7:z new=8:col-id-1 max 8")

	fewer := copyType(added.Config.Schema)
	fewer.Fields = fewer.Fields[:1]
	dropped := update(&added, withSchema(added, fewer))
	expect(dropped, "a=1:a max 8")
	again := copyType(dropped.Config.Schema)
	again.Fields = append(again.Fields, columns(t, "new int").Fields...)
	expect(update(&dropped, withSchema(dropped, again)), "a=1:a new=9:col-id-1 max 9")

	empty := table(t, legacy(1, 2), columns(t, ""), nil)
	m := set(empty, props{"delta.columnMapping.mode": "name"})
	m.SchemaString = columns(t, "a int").JSON()
	expect(update(&empty, m), "a=1:col-id-1 max 1")

	if s := update(&plain, withSchema(plain, added.Config.Schema)); hasMapping(s.Config.Schema) {
		t.Error("keys of another table's mapping are not taken over without the mode")
	}
	nested := update(nil, protocol.Metadata{SchemaString: columns(t, "l array<map<string,array<int>>>, a int").JSON(), Configuration: props{"delta.enableIcebergCompatV2": "true"}})
	if got, want := string(nested.Config.Schema.Fields[0].Metadata[nestedIDs]),
		`{"col-id-1.element":3,"col-id-1.element.key":4,"col-id-1.element.value":5,"col-id-1.element.value.element":6}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if string(nested.Config.Schema.Fields[1].Metadata[nestedIDs]) != "{}" || nested.Config.Property(propMaxColumnID) != "6" {
		t.Error(nested.Config.Metadata.SchemaString, nested.Config.Property(propMaxColumnID))
	}
	kept := update(&nested, set(nested, props{"k": "v"}))
	if kept.Config.Metadata.SchemaString != nested.Config.Metadata.SchemaString {
		t.Error("ids that are there stay")
	}
}

func TestSessionDefaults(t *testing.T) {
	env := testEnv()
	env.SessionDefaults = map[string]string{
		sessionDefaultPrefix + "enableDeletionVectors": "true", sessionDefaultPrefix + "feature.checkConstraints": "supported", "checkpointInterval": "7", "noSuchThing": "x",
	}
	for _, c := range []struct {
		given    props
		protocol string
		config   props
	}{
		{nil, "3 7 [deletionVectors] appendOnly,checkConstraints,deletionVectors,invariants", props{"delta.checkpointInterval": "7", "delta.enableDeletionVectors": "true"}},
		{props{"delta.enableDeletionVectors": "false", "delta.checkpointInterval": "3"}, "1 3", props{"delta.checkpointInterval": "3", "delta.enableDeletionVectors": "false"}},
		{props{"delta.ignoreProtocolDefaults": "true"}, "3 7 [deletionVectors] deletionVectors", props{"delta.checkpointInterval": "7", "delta.enableDeletionVectors": "true"}},
	} {
		change, err := Create(CreateSpec{Schema: columns(t, "id int"), Properties: c.given}, env)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(*change.Protocol); got != c.protocol || !maps.Equal(change.Metadata.Configuration, c.config) {
			t.Errorf("%v: %s %v", c.given, got, change.Metadata.Configuration)
		}
	}
	old := created(t, CreateSpec{Schema: columns(t, "id int")})
	if p, m, err := UpdateMetadata(&old, set(old, props{"k": "v"}), env); err != nil || shown(p) != "1 2" || len(m.Configuration) != 1 {
		t.Errorf("a table that is there ignores the session's defaults: %v %v %v", p, m, err)
	}
	env.SessionDefaults = map[string]string{"checkpointInterval": "never"}
	_, err := Create(CreateSpec{Schema: columns(t, "id int")}, env)
	wantClass(t, err, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED")
}

// TestStripUnsupported: a schema that comes from another table does not raise the protocol of this one by its expressions.
func TestStripUnsupported(t *testing.T) {
	schema := columns(t, "k bigint, g int", identity("k", protocol.Identity{Start: 1, Step: 1}), generated("g", "1"))
	old := table(t, legacy(1, 2), columns(t, "k bigint, g int"), nil)
	p, m, err := UpdateMetadata(&old, withSchema(old, schema), testEnv())
	if err != nil || shown(p) != "1 2" || strings.Contains(m.SchemaString, "delta.") {
		t.Errorf("%v %s %s", err, shown(p), m.SchemaString)
	}
	old = table(t, legacy(1, 6), columns(t, "k bigint, g int"), nil)
	if _, m, err = UpdateMetadata(&old, withSchema(old, schema), testEnv()); err != nil || m.SchemaString != schema.JSON() {
		t.Errorf("%v %s", err, m.SchemaString)
	}
}

// TestRowTrackingColumns: the names are the table's own.
func TestRowTrackingColumns(t *testing.T) {
	old := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.enableRowTracking": "true"}})
	_, m, err := UpdateMetadata(&old, set(old, props{propRowIDColumn: "of another table", "delta.enableRowTracking": "false"}), testEnv())
	if err != nil || m.Configuration[propRowIDColumn] != old.Config.Property(propRowIDColumn) {
		t.Errorf("%v %v", err, m.Configuration)
	}
	plain := created(t, CreateSpec{Schema: columns(t, "id int")})
	if _, m, err = UpdateMetadata(&plain, set(plain, props{propRowIDColumn: "of another table"}), testEnv()); err != nil || len(m.Configuration) != 0 {
		t.Errorf("%v %v", err, m.Configuration)
	}
}

// TestUniversalFormatGoesWithCompatibility: Iceberg leaves the list where compatibility is switched off.
func TestUniversalFormatGoesWithCompatibility(t *testing.T) {
	change, err := Create(CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.enableIcebergCompatV2": "true", "delta.universalFormat.enabledFormats": "iceberg"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if len(change.Warnings) != 1 {
		t.Error("nobody said that the other format's metadata are not written")
	}
	old := stateOf(t, nil, change)
	_, m, err := UpdateMetadata(&old, set(old, props{"delta.enableIcebergCompatV2": "false"}), testEnv())
	if _, there := m.Configuration[propUniversalFormats]; err != nil || there {
		t.Errorf("%v %v", err, m.Configuration)
	}
	if m.Configuration[propAtomicConversion] != "true" {
		t.Error("the conversion property stays, as recorded")
	}
}

// TestCheckProperties has a right and a wrong value for every property.
func TestCheckProperties(t *testing.T) {
	const validation = protocol.Class("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED")
	values := map[string]struct{ good, bad string }{
		"delta.appendOnly": {"TRUE", "yes"}, "delta.autoOptimize": {"true", "1"}, "delta.autoOptimize.autoCompact": {"auto", "sometimes"}, "delta.autoOptimize.optimizeWrite": {"false", ""},
		"delta.checkpointInterval": {"1", "0"}, "delta.checkpointRetentionDuration": {"interval 2 days", "soon"}, "delta.checkpointPolicy": {"v2", "v3"}, "delta.checkpoint.writeStatsAsJson": {"true", "t"},
		"delta.checkpoint.writeStatsAsStruct": {"false", "f"}, "delta.columnMapping.mode": {"NAME", "sideways"}, "delta.compatibility.symlinkFormatManifest.enabled": {"false", "0"},
		"delta.dataSkippingNumIndexedCols": {"-1", "-2"}, "delta.dataSkippingStatsColumns": {"a, s.`b.c`", "a,,b"}, "delta.dataSkippingStringPrefixLength": {"0", "-1"},
		"delta.deletedFileRetentionDuration": {"0 hours", "2 months"}, "delta.dropFeatureTruncateHistory.retentionDuration": {"1 hour", "1 fortnight"}, "delta.enableChangeDataCapture": {"true", "on"},
		"delta.enableChangeDataFeed": {"true", "on"}, "delta.enableDeletionVectors": {"true", "on"}, "delta.enableExpiredLogCleanup": {"true", "on"}, "delta.enableFullRetentionRollback": {"true", "on"},
		"delta.enableIcebergCompatV1": {"true", "on"}, "delta.enableIcebergCompatV2": {"true", "on"}, "delta.enableIcebergCompatV3": {"true", "on"}, "delta.enableIcebergWriterCompatV1": {"false", "on"},
		"delta.enableIcebergWriterCompatV3": {"false", "on"}, "delta.enableInCommitTimestamps": {"true", "on"}, "delta.enableMaterializePartitionColumnsFeature": {"true", "on"},
		"delta.writePartitionColumnsToParquet": {"true", "on"}, "delta.enableRowTracking": {"true", "on"}, "delta.rowTrackingSuspended": {"true", "on"}, "delta.enableTypeWidening": {"true", "on"},
		"delta.enableVariantShredding": {"true", "on"}, "delta.ignoreProtocolDefaults": {"true", "on"}, "delta.isolationLevel": {"Serializable", "SnapshotIsolation"}, "delta.logRetentionDuration": {"52 weeks", "1 month"},
		"delta.sampleRetentionDuration": {"7 days", "-7 days"}, "delta.minReaderVersion": {"3", "4"}, "delta.minWriterVersion": {"7", "0"}, "delta.parquet.compression.codec": {"ZSTD", "brotli"},
		"delta.parquet.format.version": {"2.12.0", "1.1"}, "delta.randomizeFilePrefixes": {"true", "on"}, "delta.randomPrefixLength": {"3", "0"}, "delta.setTransactionRetentionDuration": {"90 days", "90"},
		"delta.targetFileSize": {"128mb", "much"}, "delta.tuneFileSizesForRewrites": {"true", "on"}, "delta.universalFormat.enabledFormats": {"iceberg,hudi", "iceberg,iceberg"},
		"delta.universalFormat.iceberg.atomicConversion.supported": {"true", "on"}, "delta.castIcebergTimeType": {"true", "on"}, "delta.ignoreIcebergBucketPartition": {"true", "on"},
	}
	refused := []string{"delta.redirectReaderWriter-preview", "delta.redirectWriterOnly-preview", "delta.coordinatedCommits.commitCoordinator-preview", "delta.coordinatedCommits.commitCoordinatorConf-preview"}
	for _, name := range protocol.PropertyNames() {
		v, listed := values[name]
		switch {
		case systemProperties[name]:
			_, err := CheckProperties(props{name: "5"}, Env{})
			wantClass(t, err, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY")
		case slices.Contains(refused, name):
			_, err := CheckProperties(props{name: "{}"}, Env{})
			wantClass(t, err, "DELTASQL_UNSUPPORTED_PROPERTY")
		case !listed:
			t.Errorf("%s has no values in the test", name)
		default:
			for _, spelling := range []string{name, strings.ToUpper(name)} {
				if got, err := CheckProperties(props{spelling: v.good}, Env{}); err != nil || got[name] != v.good {
					t.Errorf("%s = %q: %v %v", spelling, v.good, got, err)
				}
				_, err := CheckProperties(props{spelling: v.bad}, Env{})
				class := validation
				if strings.HasSuffix(name, "Duration") {
					class = "DELTA_INVALID_INTERVAL"
				}
				wantClass(t, err, class)
			}
		}
	}
	for _, c := range []struct {
		given props
		class protocol.Class
	}{
		{props{"delta.logRetentionDuration": " "}, "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"},
		{props{"delta.noSuchThing": "1"}, "DELTA_UNKNOWN_CONFIGURATION"},
		{props{"location": "/x"}, "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"},
		{props{"provider": "parquet"}, "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"},
		{props{"clusteringColumns": "id"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"},
		{props{"delta.appendOnly": "true", "DELTA.APPENDONLY": "false"}, "DUPLICATE_KEY"},
	} {
		_, err := CheckProperties(c.given, Env{})
		wantClass(t, err, c.class)
	}
	if got, err := CheckProperties(props{"delta.noSuchThing": "1"}, Env{ArbitraryProperties: true}); err != nil || got["delta.noSuchThing"] != "1" {
		t.Errorf("%v %v", got, err)
	}
	_, err := CheckProperties(props{"delta.apendOnly": "true"}, Env{})
	if e, ok := err.(*protocol.Error); !ok || !strings.Contains(e.Hint, "delta.appendOnly") {
		t.Errorf("%v has no hint", err)
	}
}

// TestLowestProtocol holds M1 (and P1) over random sets of properties: the protocol of a new table supports all that its
// metadata need, is its own normal form, and without any one of its features would not do.
func TestLowestProtocol(t *testing.T) {
	choices := []struct {
		name, value string
		features    []string // what it brings
	}{
		{"delta.appendOnly", "true", []string{"appendOnly"}},
		{"delta.enableChangeDataFeed", "true", []string{"changeDataFeed"}},
		{"delta.enableDeletionVectors", "true", []string{"deletionVectors"}},
		{"delta.enableRowTracking", "true", []string{"rowTracking", "domainMetadata"}},
		{"delta.columnMapping.mode", "name", []string{"columnMapping"}},
		{"delta.columnMapping.mode", "none", nil},
		{"delta.enableTypeWidening", "true", []string{"typeWidening"}},
		{"delta.enableInCommitTimestamps", "true", []string{"inCommitTimestamp"}},
		{"delta.checkpointPolicy", "v2", []string{"v2Checkpoint"}},
		{"delta.constraints.c", "id > 0", []string{"checkConstraints"}},
		{"delta.enableMaterializePartitionColumnsFeature", "true", []string{"materializePartitionColumns"}},
		{"delta.feature.generatedColumns", "supported", []string{"generatedColumns"}},
		{"delta.feature.identityColumns", "supported", []string{"identityColumns"}},
		{"delta.feature.invariants", "supported", []string{"invariants"}},
		{"delta.feature.vacuumProtocolCheck", "supported", []string{"vacuumProtocolCheck"}},
		{"delta.feature.timestampNtz", "supported", []string{"timestampNtz"}},
		{"delta.feature.columnMapping", "supported", []string{"columnMapping"}},
		{"delta.minWriterVersion", "3", []string{"appendOnly", "invariants", "checkConstraints"}},
		{"delta.ignoreProtocolDefaults", "true", nil},
		{"k", "v", nil},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		given := props{}
		want := map[string]bool{"appendOnly": true, "invariants": true}
		var picked []int
		for i, c := range choices {
			if _, taken := given[c.name]; !taken && r.IntN(4) == 0 {
				given[c.name] = c.value
				picked = append(picked, i)
			}
		}
		if given["delta.ignoreProtocolDefaults"] == "true" {
			want = map[string]bool{}
		}
		for _, i := range picked {
			for _, f := range choices[i].features {
				want[f] = true
			}
		}
		change, err := Create(CreateSpec{Schema: columns(t, "id int"), Properties: given}, testEnv())
		if err != nil {
			t.Fatalf("round %d, %v: %v", round, given, err)
		}
		p := *change.Protocol
		if got := p.Features(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("round %d, %v: features %v, want %v", round, given, got, slices.Sorted(maps.Keys(want)))
		}
		if !p.Normalize().Equal(p) || p.Validate() != nil {
			t.Fatalf("round %d, %v: %s is not the weakest form", round, given, shown(p))
		}
		// The same properties, set on a plain table, support the same and keep what was there.
		old := created(t, CreateSpec{Schema: columns(t, "id int")})
		if _, ntz := given["delta.feature.timestampNtz"]; !ntz {
			now, _, err := UpdateMetadata(&old, set(old, given), testEnv())
			if err != nil {
				t.Fatalf("round %d, %v: %v", round, given, err)
			}
			want["appendOnly"], want["invariants"] = true, true
			if got := now.Features(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || !now.Normalize().Equal(now) {
				t.Fatalf("round %d, %v: %s, want %v", round, given, shown(now), slices.Sorted(maps.Keys(want)))
			}
		}
	}
}

// A mark below an id of the schema, which would give the id a second time, does not pass the last look.
func TestMarkIsBelowAnID(t *testing.T) {
	c, err := Create(CreateSpec{Schema: columns(t, "a int, b struct<c:int>"), Properties: props{"delta.columnMapping.mode": "name"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	check := func(mark string) error {
		m := *c.Metadata
		m.Configuration = maps.Clone(m.Configuration)
		m.Configuration[propMaxColumnID] = mark
		if mark == "" {
			delete(m.Configuration, propMaxColumnID)
		}
		config, err := protocol.NewTableConfig(*c.Protocol, m)
		if err != nil {
			t.Fatal(err)
		}
		return checkMappedColumns(config)
	}
	if err := check("3"); err != nil {
		t.Error(err)
	}
	wantClass(t, check("2"), "DELTA_COLUMN_MAPPING_MAX_COLUMN_ID_NOT_SET_CORRECTLY")
	wantClass(t, check(""), "DELTA_COLUMN_MAPPING_MAX_COLUMN_ID_NOT_SET")
}
