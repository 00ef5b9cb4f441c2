package ddl

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// testEnv gives ids that tell their order: id-1, id-2 and so on.
func testEnv() Env {
	n := 0
	return Env{NowMillis: 1_700_000_000_000, NewID: func() string { n++; return fmt.Sprintf("id-%d", n) }}
}

// columns makes a schema from "a int, s struct<x:string>"; edits change fields of it by name.
func columns(t *testing.T, text string, edits ...func(*protocol.DataType)) protocol.DataType {
	t.Helper()
	if text == "" {
		return protocol.DataType{Kind: protocol.KindStruct}
	}
	var members []string
	depth, start := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		case c == ',' && depth == 0:
			name, kind, _ := strings.Cut(strings.TrimSpace(text[start:i]), " ")
			members = append(members, "`"+name+"`:"+kind)
			start = i + 1
		}
	}
	schema, err := protocol.ParseDataType("struct<" + strings.Join(members, ",") + ">")
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range edits {
		edit(&schema)
	}
	return schema
}

// meta changes the metadata of a top-level column.
func meta(name string, change func(protocol.FieldMetadata) protocol.FieldMetadata) func(*protocol.DataType) {
	return func(t *protocol.DataType) {
		f := &t.Fields[t.Lookup(name)]
		f.Metadata = change(f.Metadata)
	}
}

func notNull(names ...string) func(*protocol.DataType) {
	return func(t *protocol.DataType) {
		for _, name := range names {
			t.Fields[t.Lookup(name)].Nullable = false
		}
	}
}

func generated(name, sql string) func(*protocol.DataType) {
	return meta(name, func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithGeneration(sql) })
}

func identity(name string, id protocol.Identity) func(*protocol.DataType) {
	return meta(name, func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithIdentity(id) })
}

func defaulted(name, sql string) func(*protocol.DataType) {
	return meta(name, func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithCurrentDefault(sql) })
}

// shown is a protocol as the tests write it: "1 7 [] appendOnly,invariants"; without lists "1 2".
func shown(p protocol.Protocol) string {
	text := fmt.Sprintf("%d %d", p.MinReaderVersion, p.MinWriterVersion)
	if p.ReaderFeatures != nil {
		text += " [" + strings.Join(p.ReaderFeatures, ",") + "]"
	}
	if p.WriterFeatures != nil {
		text += " " + strings.Join(p.WriterFeatures, ",")
	}
	return text
}

// stateOf is the table that a change makes of a table.
func stateOf(t *testing.T, old *State, c *Change) State {
	t.Helper()
	var p protocol.Protocol
	domains := map[string]protocol.DomainMetadata{}
	if old != nil {
		p = old.Config.Protocol
		maps.Copy(domains, old.Domains)
	}
	if c.Protocol != nil {
		p = *c.Protocol
	}
	for _, d := range c.Domains {
		domains[d.Domain] = d
	}
	config, err := protocol.NewTableConfig(p, *c.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return State{Config: config, Domains: domains}
}

// created is a new table; its ids are other ones than those of testEnv.
func created(t *testing.T, spec CreateSpec) State {
	t.Helper()
	env := testEnv()
	next := env.NewID
	env.NewID = func() string { return "old-" + next() }
	c, err := Create(spec, env)
	if err != nil {
		t.Fatal(err)
	}
	return stateOf(t, nil, c)
}

func wantClass(t *testing.T, err error, class protocol.Class) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %s", class)
	}
	if got := protocol.ClassOf(err); got != class {
		t.Errorf("%v; want %s", err, class)
	}
	if _, known := protocol.InfoOf(class); !known {
		t.Errorf("%s is not registered", class)
	}
}

type props = map[string]string

var madeID = regexp.MustCompile(`id-[0-9]+$`)

// TestCreateProtocol holds the recorded protocols and properties of new tables.
func TestCreateProtocol(t *testing.T) {
	for _, c := range []struct {
		name     string
		spec     CreateSpec
		protocol string
		config   props // nil is not compared
	}{
		{"nothing said", CreateSpec{}, "1 2", props{}},
		{"protocol defaults ignored", CreateSpec{Properties: props{"delta.ignoreProtocolDefaults": "true"}}, "1 1", props{}},
		{"1 7", CreateSpec{Properties: props{"delta.minReaderVersion": "1", "delta.minWriterVersion": "7"}}, "1 1", props{}},
		{"3 7", CreateSpec{Properties: props{"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"}}, "1 1", props{}},
		{"1 1", CreateSpec{Properties: props{"delta.minReaderVersion": "1", "delta.minWriterVersion": "1"}}, "1 1", props{}},
		{"3 5", CreateSpec{Properties: props{"delta.minReaderVersion": "3", "delta.minWriterVersion": "5"}}, "2 5", props{}},
		{"writer 3", CreateSpec{Properties: props{"delta.minWriterVersion": "3"}}, "1 3", props{}},
		{"writer 5", CreateSpec{Properties: props{"delta.minWriterVersion": "5"}}, "1 4", props{}},
		{"writer 6", CreateSpec{Properties: props{"delta.minWriterVersion": "6"}}, "1 6", props{}},
		{"2 4", CreateSpec{Properties: props{"delta.minReaderVersion": "2", "delta.minWriterVersion": "4"}}, "1 4", props{}},
		{"2 6", CreateSpec{Properties: props{"delta.minReaderVersion": "2", "delta.minWriterVersion": "6"}}, "2 6", props{}},
		{"NOT NULL alone", CreateSpec{Schema: columns(t, "id int", notNull("id")), Properties: props{"delta.ignoreProtocolDefaults": "true"}}, "1 7 invariants", props{}},
		{"feed alone", CreateSpec{Properties: props{"delta.ignoreProtocolDefaults": "true", "delta.enableChangeDataFeed": "true"}}, "1 7 changeDataFeed", props{"delta.enableChangeDataFeed": "true"}},
		{"ignored and 1 4", CreateSpec{Properties: props{"delta.ignoreProtocolDefaults": "true", "delta.minReaderVersion": "1", "delta.minWriterVersion": "4"}}, "1 4", props{}},
		{"vectors", CreateSpec{Properties: props{"delta.enableDeletionVectors": "true"}}, "3 7 [deletionVectors] appendOnly,deletionVectors,invariants", props{"delta.enableDeletionVectors": "true"}},
		{"row tracking", CreateSpec{Properties: props{"delta.enableRowTracking": "true"}}, "1 7 appendOnly,domainMetadata,invariants,rowTracking",
			props{"delta.enableRowTracking": "true", propRowIDColumn: "_row-id-col-*", propRowVersionColumn: "_row-commit-version-col-*"}},
		{"mapping", CreateSpec{Properties: props{"delta.columnMapping.mode": "name"}}, "2 7 appendOnly,columnMapping,invariants", props{"delta.columnMapping.mode": "name", propMaxColumnID: "1"}},
		{"timestamps", CreateSpec{Properties: props{"delta.enableInCommitTimestamps": "true"}}, "1 7 appendOnly,inCommitTimestamp,invariants", props{"delta.enableInCommitTimestamps": "true"}},
		{"checkpoints", CreateSpec{Properties: props{"delta.checkpointPolicy": "v2"}}, "3 7 [v2Checkpoint] appendOnly,invariants,v2Checkpoint", props{"delta.checkpointPolicy": "v2"}},
		{"widening", CreateSpec{Properties: props{"delta.enableTypeWidening": "true"}}, "3 7 [typeWidening] appendOnly,invariants,typeWidening", nil},
		{"append only", CreateSpec{Properties: props{"delta.appendOnly": "true"}}, "1 2", nil},
		{"partition columns in files", CreateSpec{Properties: props{"delta.enableMaterializePartitionColumnsFeature": "true"}}, "1 7 appendOnly,invariants,materializePartitionColumns", nil},
		{"many", CreateSpec{Properties: props{"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true", "delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"}},
			"3 7 [columnMapping,deletionVectors] appendOnly,changeDataFeed,columnMapping,deletionVectors,domainMetadata,invariants,rowTracking", nil},
		{"shredding", CreateSpec{Schema: columns(t, "id int, v variant"), Properties: props{"delta.enableVariantShredding": "true"}},
			"3 7 [variantShredding-preview,variantType] appendOnly,invariants,variantShredding-preview,variantType", nil},
		{"shredding under its own name", CreateSpec{Schema: columns(t, "v variant"), Properties: props{"delta.enableVariantShredding": "true", "delta.feature.variantShredding": "supported"}},
			"3 7 [variantShredding,variantType] appendOnly,invariants,variantShredding,variantType", nil},
		{"named row tracking", CreateSpec{Properties: props{"delta.feature.rowTracking": "supported"}}, "1 7 appendOnly,domainMetadata,invariants,rowTracking",
			props{propRowIDColumn: "_row-id-col-*", propRowVersionColumn: "_row-commit-version-col-*"}},
		{"named and suspended", CreateSpec{Properties: props{"delta.feature.rowTracking": "supported", "delta.rowTrackingSuspended": "true"}}, "1 7 appendOnly,domainMetadata,invariants,rowTracking", nil},
		{"named timestampNtz", CreateSpec{Properties: props{"delta.feature.timestampNtz": "supported"}}, "3 7 [timestampNtz] appendOnly,invariants,timestampNtz", props{}},
		{"named legacy ones", CreateSpec{Properties: props{"delta.feature.appendOnly": "supported", "delta.feature.invariants": "supported"}}, "1 2", props{}},
		{"two named", CreateSpec{Properties: props{"delta.feature.domainMetadata": "supported", "delta.feature.identityColumns": "supported"}}, "1 7 appendOnly,domainMetadata,identityColumns,invariants", props{}},
		{"a preview by name", CreateSpec{Properties: props{"delta.feature.typeWidening-preview": "supported"}}, "3 7 [typeWidening-preview] appendOnly,invariants,typeWidening-preview", props{}},
		{"the preview stands for the feature", CreateSpec{Properties: props{"delta.feature.typeWidening-preview": "supported", "delta.enableTypeWidening": "true"}},
			"3 7 [typeWidening-preview] appendOnly,invariants,typeWidening-preview", nil},
		{"mapping without a mode", CreateSpec{Properties: props{"delta.feature.columnMapping": "supported", "delta.feature.allowColumnDefaults": "enabled"}},
			"2 7 allowColumnDefaults,appendOnly,columnMapping,invariants", props{}},
		{"case does not count", CreateSpec{Properties: props{"DELTA.FEATURE.DeletionVectors": "SUPPORTED"}}, "3 7 [deletionVectors] appendOnly,deletionVectors,invariants", props{}},
		{"all of 2 5", CreateSpec{Schema: columns(t, "id int, g int", generated("g", "id + 1")), Properties: props{"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name", "delta.feature.checkConstraints": "supported"}}, "2 5", nil},
		{"identity", CreateSpec{Schema: columns(t, "k bigint", identity("k", protocol.Identity{Start: 1, Step: 1}))}, "1 7 appendOnly,identityColumns,invariants", props{}},
		{"generated", CreateSpec{Schema: columns(t, "id int, g int", generated("g", "id * 2"))}, "1 7 appendOnly,generatedColumns,invariants", props{}},
		{"default", CreateSpec{Schema: columns(t, "id int", defaulted("id", "42"))}, "1 7 allowColumnDefaults,appendOnly,invariants", props{}},
		{"a CHECK", CreateSpec{Constraints: props{"Pos": "id > 0"}}, "1 3", props{"delta.constraints.pos": "id > 0"}},
		{"a CHECK as a property", CreateSpec{Properties: props{"delta.constraints.pos": "id > 0"}}, "1 3", props{"delta.constraints.pos": "id > 0"}},
		{"ntz nested", CreateSpec{Schema: columns(t, "a array<struct<t:timestamp_ntz>>")}, "3 7 [timestampNtz] appendOnly,invariants,timestampNtz", props{}},
		{"variant nested", CreateSpec{Schema: columns(t, "s struct<w:variant>")}, "3 7 [variantType] appendOnly,invariants,variantType", props{}},
		{"clustered", CreateSpec{ClusterBy: [][]string{{"id"}}}, "1 7 appendOnly,clustering,domainMetadata,invariants", props{}},
		{"keys of one's own keep their case", CreateSpec{Properties: props{"DELTA.AppendOnly": "TRUE", "My.Key": "A", "my.key": "b", "delta.logRetentionDuration": "interval 60 days", "delta.universalFormat.config.Some.Key": "x"}}, "1 2",
			props{"delta.appendOnly": "TRUE", "My.Key": "A", "my.key": "b", "delta.logRetentionDuration": "interval 60 days", "delta.universalformat.config.some.key": "x"}},
		{"iceberg 1", CreateSpec{Properties: props{"delta.enableIcebergCompatV1": "true"}}, "2 7 appendOnly,columnMapping,icebergCompatV1,invariants",
			props{"delta.enableIcebergCompatV1": "true", "delta.columnMapping.mode": "name", propAtomicConversion: "true", propMaxColumnID: "1"}},
		{"iceberg 2", CreateSpec{Properties: props{"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "name"}}, "2 7 appendOnly,columnMapping,icebergCompatV2,invariants",
			props{"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "name", propAtomicConversion: "true", propMaxColumnID: "1"}},
		{"iceberg 3", CreateSpec{Properties: props{"delta.enableIcebergCompatV3": "true"}}, "2 7 appendOnly,columnMapping,domainMetadata,icebergCompatV3,invariants,rowTracking", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.spec.Schema.Fields == nil {
				c.spec.Schema = columns(t, "id int")
			}
			change, err := Create(c.spec, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(*change.Protocol); got != c.protocol {
				t.Errorf("protocol %s, want %s", got, c.protocol)
			}
			if err := change.Protocol.Validate(); err != nil {
				t.Error(err)
			}
			got := maps.Clone(change.Metadata.Configuration)
			for _, name := range []string{propRowIDColumn, propRowVersionColumn} {
				if value, ok := got[name]; ok {
					got[name] = madeID.ReplaceAllString(value, "*")
				}
			}
			if c.config != nil && !maps.Equal(got, c.config) {
				t.Errorf("properties %v, want %v", got, c.config)
			}
		})
	}
}

// TestCreateRefused holds the recorded classes of definitions that are refused.
func TestCreateRefused(t *testing.T) {
	long := "a int, b int, c int, d int, e int"
	for _, c := range []struct {
		name  string
		spec  CreateSpec
		class protocol.Class
	}{
		{"clustered and partitioned", CreateSpec{Schema: columns(t, "a int, b int"), PartitionColumns: []string{"a"}, ClusterBy: [][]string{{"b"}}}, "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY"},
		{"five clustering columns", CreateSpec{Schema: columns(t, long), ClusterBy: [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}}, "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"},
		{"clustered by an array", CreateSpec{Schema: columns(t, "a int, b array<int>"), ClusterBy: [][]string{{"b"}}}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{"clustered by a boolean", CreateSpec{Schema: columns(t, "a int, b boolean"), ClusterBy: [][]string{{"b"}}}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{"clustered by a struct", CreateSpec{Schema: columns(t, "a int, b struct<x:int>"), ClusterBy: [][]string{{"b"}}}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{"clustered by a variant", CreateSpec{Schema: columns(t, "a int, v variant"), ClusterBy: [][]string{{"v"}}}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{"clustered by nothing known", CreateSpec{Schema: columns(t, "a int"), ClusterBy: [][]string{{"nope"}}}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
		{"clustered twice", CreateSpec{Schema: columns(t, "a int, b int"), ClusterBy: [][]string{{"a"}, {"A"}}}, "DELTA_DUPLICATE_COLUMNS_FOUND"},
		{"clustered without statistics", CreateSpec{Schema: columns(t, "a int, b int"), ClusterBy: [][]string{{"b"}}, Properties: props{"delta.dataSkippingNumIndexedCols": "1"}}, "DELTA_CLUSTERING_COLUMN_MISSING_STATS"},
		{"clustered outside the list", CreateSpec{Schema: columns(t, "a int, b int"), ClusterBy: [][]string{{"b"}}, Properties: props{"delta.dataSkippingStatsColumns": "a"}}, "DELTA_CLUSTERING_COLUMN_MISSING_STATS"},
		{"clustering by hand", CreateSpec{Schema: columns(t, "a int"), Properties: props{"delta.feature.clustering": "supported"}}, "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"},
		{"blank in a name", CreateSpec{Schema: protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "a b", Type: protocol.DataType{Kind: protocol.KindInteger}, Nullable: true}}}}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"},
		{"semicolon in a member", CreateSpec{Schema: columns(t, "id int, s struct<`x;y`:int>")}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"},
		{"semicolon in an element's member", CreateSpec{Schema: columns(t, "id int, s array<struct<`x;y`:int>>")}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"},
		{"blank in a partition column", CreateSpec{Schema: protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{
			{Name: "a", Type: protocol.DataType{Kind: protocol.KindInteger}, Nullable: true}, {Name: "b c", Type: protocol.DataType{Kind: protocol.KindString}, Nullable: true}}}, PartitionColumns: []string{"b c"}}, "DELTA_INVALID_PARTITION_COLUMN_NAME"},
		{"twice", CreateSpec{Schema: columns(t, "id int, ID string")}, "COLUMN_ALREADY_EXISTS"},
		{"twice in a struct", CreateSpec{Schema: columns(t, "id int, s struct<a:int,A:int>")}, "COLUMN_ALREADY_EXISTS"},
		{"twice in an element", CreateSpec{Schema: columns(t, "s array<struct<a:int,A:int>>")}, "COLUMN_ALREADY_EXISTS"},
		{"NOT NULL in an array", CreateSpec{Schema: columns(t, "a array<struct<x:int>>", func(s *protocol.DataType) { s.Fields[0].Type.Element.Fields[0].Nullable = false })}, "DELTA_NESTED_NOT_NULL_CONSTRAINT"},
		{"NOT NULL in a map", CreateSpec{Schema: columns(t, "m map<string,struct<x:int>>", func(s *protocol.DataType) { s.Fields[0].Type.Value.Fields[0].Nullable = false })}, "DELTA_NESTED_NOT_NULL_CONSTRAINT"},
		{"unknown partition column", CreateSpec{Schema: columns(t, "a int, b string"), PartitionColumns: []string{"c"}}, "DELTA_PARTITION_COLUMN_NOT_FOUND"},
		{"all partition columns", CreateSpec{Schema: columns(t, "a int, b string"), PartitionColumns: []string{"a", "b"}}, "ALL_PARTITION_COLUMNS_NOT_ALLOWED"},
		{"partitioned by an array", CreateSpec{Schema: columns(t, "a int, b array<int>"), PartitionColumns: []string{"b"}}, "INVALID_PARTITION_COLUMN_DATA_TYPE"},
		{"partitioned by a variant", CreateSpec{Schema: columns(t, "a int, b variant"), PartitionColumns: []string{"b"}}, "INVALID_PARTITION_COLUMN_DATA_TYPE"},
		{"partitioned by void", CreateSpec{Schema: columns(t, "a int, b void"), PartitionColumns: []string{"b"}}, "INVALID_PARTITION_COLUMN_DATA_TYPE"},
		{"partitioned twice", CreateSpec{Schema: columns(t, "a int, b string"), PartitionColumns: []string{"b", "B"}}, "DELTA_DUPLICATE_COLUMNS_FOUND"},
		{"identity of INT", CreateSpec{Schema: columns(t, "k int", identity("k", protocol.Identity{Start: 1, Step: 1}))}, "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"},
		{"identity without a step", CreateSpec{Schema: columns(t, "k bigint", identity("k", protocol.Identity{Start: 1}))}, "DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP"},
		{"identity as partition column", CreateSpec{Schema: columns(t, "k bigint, s string", identity("k", protocol.Identity{Start: 1, Step: 1})), PartitionColumns: []string{"k"}}, "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED"},
		{"identity and generated", CreateSpec{Schema: columns(t, "k bigint, s int", identity("k", protocol.Identity{Start: 1, Step: 1}), generated("k", "s"))}, "DELTA_IDENTITY_COLUMNS_WITH_GENERATED_EXPRESSION"},
		{"identity and default", CreateSpec{Schema: columns(t, "k bigint", identity("k", protocol.Identity{Start: 1, Step: 1}), defaulted("k", "1"))}, "IDENTITY_COLUMN_WITH_DEFAULT_VALUE"},
		{"half an identity", CreateSpec{Schema: columns(t, "k bigint", meta("k", func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithInt("delta.identity.start", 1) }))}, "DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA"},
		{"generated and default", CreateSpec{Schema: columns(t, "a int, g int", generated("g", "a"), defaulted("g", "1"))}, "GENERATED_COLUMN_WITH_DEFAULT_VALUE"},
		{"a generated variant", CreateSpec{Schema: columns(t, "a int, g variant", generated("g", "a"))}, "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN"},
		{"a variant's default", CreateSpec{Schema: columns(t, "v variant", defaulted("v", "1"))}, "INVALID_DEFAULT_VALUE.DATA_TYPE"},
		{"an interval", CreateSpec{Schema: columns(t, "a int, i interval year to month")}, "DELTA_UNSUPPORTED_DATA_TYPES"},
		{"an interval in a map", CreateSpec{Schema: columns(t, "a int, i map<string,interval day to second>")}, "DELTA_UNSUPPORTED_DATA_TYPES"},
		{"a file as a key", CreateSpec{Schema: columns(t, "a int, f map<file,int>")}, "DELTA_UNSUPPORTED_DATA_TYPES"},
		{"a collation", CreateSpec{Schema: columns(t, "s string", func(s *protocol.DataType) { s.Fields[0].Type.Collation = "ICU.de" })}, "DELTASQL_UNSUPPORTED_FEATURE"},
		{"change feed's names", CreateSpec{Schema: columns(t, "id int, _change_type string"), Properties: props{"delta.enableChangeDataFeed": "true"}}, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"},
		{"unknown property", CreateSpec{Properties: props{"delta.noSuchThing": "1"}}, "DELTA_UNKNOWN_CONFIGURATION"},
		{"unknown feature", CreateSpec{Properties: props{"delta.feature.nope": "supported"}}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"},
		{"bad status", CreateSpec{Properties: props{"delta.feature.typeWidening": "yes"}}, "DELTA_UNSUPPORTED_FEATURE_STATUS"},
		{"catalog", CreateSpec{Properties: props{"delta.feature.catalogManaged": "supported"}}, "DELTASQL_UNSUPPORTED_FEATURE"},
		{"redirect", CreateSpec{Properties: props{"delta.redirectReaderWriter-preview": "{}"}}, "DELTASQL_UNSUPPORTED_PROPERTY"},
		{"redirect by name", CreateSpec{Properties: props{"delta.feature.redirectWriterOnly-preview": "supported"}}, "DELTASQL_UNSUPPORTED_FEATURE"},
		{"geometry by name", CreateSpec{Properties: props{"delta.feature.geospatial": "supported"}}, "DELTASQL_UNSUPPORTED_FEATURE"},
		{"vectors and manifests", CreateSpec{Properties: props{"delta.enableDeletionVectors": "true", "delta.compatibility.symlinkFormatManifest.enabled": "true"}},
			"DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION"},
		{"tracked and suspended", CreateSpec{Properties: props{"delta.enableRowTracking": "true", "delta.rowTrackingSuspended": "true"}}, "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"},
		{"log shorter than files", CreateSpec{Properties: props{"delta.logRetentionDuration": "1 day"}}, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{"files longer than the log", CreateSpec{Properties: props{"delta.deletedFileRetentionDuration": "31 days"}}, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{"reserved constraint", CreateSpec{Constraints: props{"__CHAR_VARCHAR_STRING_LENGTH_CHECK__": "true"}}, "DELTA_INVALID_CONSTRAINT_NAME"},
		{"constraint twice", CreateSpec{Constraints: props{"c": "id > 0"}, Properties: props{"delta.constraints.C": "id > 1"}}, "DELTA_CONSTRAINT_ALREADY_EXISTS"},
		{"statistics of a partition column", CreateSpec{Schema: columns(t, "a int, p int"), PartitionColumns: []string{"p"}, Properties: props{"delta.dataSkippingStatsColumns": "P"}}, "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"},
		{"statistics of nothing known", CreateSpec{Properties: props{"delta.dataSkippingStatsColumns": "nope"}}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
		{"statistics of an array", CreateSpec{Schema: columns(t, "a array<int>"), Properties: props{"delta.dataSkippingStatsColumns": "a"}}, "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"},
		{"statistics twice", CreateSpec{Schema: columns(t, "s struct<x:int,y:int>"), Properties: props{"delta.dataSkippingStatsColumns": "s.x,s"}}, "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"},
		{"iceberg 1 and 2", CreateSpec{Properties: props{"delta.enableIcebergCompatV1": "true", "delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "name"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.VERSION_MUTUAL_EXCLUSIVE"},
		{"iceberg 2 and vectors", CreateSpec{Properties: props{"delta.enableIcebergCompatV2": "true", "delta.enableDeletionVectors": "true"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_SHOULD_BE_DISABLED"},
		{"iceberg 1 and an array", CreateSpec{Schema: columns(t, "id int, a array<int>"), Properties: props{"delta.enableIcebergCompatV1": "true"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE"},
		{"iceberg 2 and a variant", CreateSpec{Schema: columns(t, "id int, a variant"), Properties: props{"delta.enableIcebergCompatV2": "true"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE"},
		{"iceberg without mapping", CreateSpec{Properties: props{"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "none"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
		{"iceberg 3 without row tracking", CreateSpec{Properties: props{"delta.enableIcebergCompatV3": "true", "delta.enableRowTracking": "false"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
		{"iceberg 3 and a computed default", CreateSpec{Schema: columns(t, "d date", defaulted("d", "current_date()")), Properties: props{"delta.enableIcebergCompatV3": "true"}}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE"},
		{"iceberg writer", CreateSpec{Properties: props{"delta.enableIcebergWriterCompatV1": "true"}}, "DELTASQL_UNSUPPORTED_PROPERTY"},
		{"UniForm alone", CreateSpec{Properties: props{"delta.universalFormat.enabledFormats": "iceberg"}}, "DELTA_UNIVERSAL_FORMAT_VIOLATION.ICEBERG_COMPAT_REQUIRED"},
		{"hudi and vectors", CreateSpec{Properties: props{"delta.universalFormat.enabledFormats": "hudi", "delta.enableDeletionVectors": "true"}}, "DELTA_UNIVERSAL_FORMAT_VIOLATION.HUDI_DELETE_VECTORS_NOT_SUPPORTED"},
		{"hudi and a short", CreateSpec{Schema: columns(t, "id smallint"), Properties: props{"delta.universalFormat.enabledFormats": "hudi"}}, "DELTA_UNIVERSAL_FORMAT_VIOLATION.HUDI_UNSUPPORTED_DATA_TYPE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.spec.Schema.Fields == nil {
				c.spec.Schema = columns(t, "id int")
			}
			_, err := Create(c.spec, testEnv())
			wantClass(t, err, c.class)
		})
	}
}

// TestCreateOperation: names and parameters of operations are what the reference writes, in its order.
func TestCreateOperation(t *testing.T) {
	comment := "it's \"new\""
	spec := CreateSpec{Schema: columns(t, "id int, s struct<y:date>, p string"), ClusterBy: [][]string{{"ID"}, {"s", "y"}}, Description: &comment, Properties: props{"k": "v"}}
	texts := func(c *Change) string {
		var out []string
		for _, p := range c.Operation.Parameters {
			out = append(out, fmt.Sprintf("%s=%s", p.Key, p.Value))
		}
		return c.Operation.Name + " " + strings.Join(out, " ")
	}
	change, err := Create(spec, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(change), `CREATE TABLE partitionBy="[]" clusterBy="[\"id\",\"s.y\"]" description="it's \"new\"" isManaged="true" properties="{\"k\":\"v\"}"`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(change.Domains) != 1 || change.Domains[0].Configuration != `{"clusteringColumns":[["id"],["s","y"]],"domainName":"delta.clustering"}` {
		t.Errorf("domains %v", change.Domains)
	}
	old := stateOf(t, nil, change)
	for _, c := range []struct {
		replace bool
		spec    CreateSpec
		want    string
	}{
		{false, CreateSpec{AsSelect: true, External: true}, `CREATE TABLE AS SELECT partitionBy="[]" clusterBy="[]" description=null isManaged="false" properties="{}"`},
		{false, CreateSpec{OrReplace: true}, `CREATE OR REPLACE TABLE partitionBy="[]" clusterBy="[]" description=null isManaged="true" properties="{}"`},
		{true, CreateSpec{OrReplace: true, AsSelect: true}, `CREATE OR REPLACE TABLE AS SELECT partitionBy="[]" clusterBy="[]" description=null isManaged="true" properties="{}"`},
		{true, CreateSpec{}, `REPLACE TABLE partitionBy="[]" clusterBy="[]" description=null isManaged="true" properties="{}"`},
		{false, CreateSpec{PartitionColumns: []string{"ID"}}, `CREATE TABLE partitionBy="[\"id\"]" clusterBy="[]" description=null isManaged="true" properties="{}"`},
	} {
		c.spec.Schema = columns(t, "id int, v int")
		change, err := Create(c.spec, testEnv())
		if c.replace {
			change, err = Replace(old, c.spec, testEnv())
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(change); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestCreateSchema: what is stored of columns.
func TestCreateSchema(t *testing.T) {
	mark := int64(7)
	from := columns(t, "id int, s string, a array<struct<x:int>>", notNull("id"),
		meta("s", func(m protocol.FieldMetadata) protocol.FieldMetadata {
			return m.WithComment("kept").WithCharVarchar("varchar(3)").WithCurrentDefault("'x'").WithText("EXISTS_DEFAULT", "'x'").WithColumnMapping(9, "col-old")
		}))
	from.Fields[2].Type.ContainsNull = false
	plain := created(t, CreateSpec{Schema: from, Properties: props{"delta.feature.allowColumnDefaults": "supported"}})
	if got, want := plain.Config.Metadata.SchemaString, `{"type":"struct","fields":[{"name":"id","type":"integer","nullable":false,"metadata":{}},`+
		`{"name":"s","type":"string","nullable":true,"metadata":{"CURRENT_DEFAULT":"'x'","__CHAR_VARCHAR_TYPE_STRING":"varchar(3)","comment":"kept"}},`+
		`{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"integer","nullable":true,"metadata":{}}]},"containsNull":false},"nullable":true,"metadata":{}}]}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	query := created(t, CreateSpec{Schema: from, AsSelect: true})
	if got, want := query.Config.Metadata.SchemaString, `{"type":"struct","fields":[{"name":"id","type":"integer","nullable":true,"metadata":{}},`+
		`{"name":"s","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(3)","comment":"kept"}},`+
		`{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"integer","nullable":true,"metadata":{}}]},"containsNull":true},"nullable":true,"metadata":{}}]}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, ok := from.Fields[1].Metadata.ColumnID(); !ok || from.Fields[0].Nullable {
		t.Error("the spec's schema was changed (M4)")
	}
	like, err := Like(created(t, CreateSpec{Schema: columns(t, "k bigint", identity("k", protocol.Identity{Start: 1, Step: 2, HighWaterMark: &mark}))}), CreateSpec{}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := stateOf(t, nil, like).Config.Schema.Fields[0].Metadata.Identity(); !ok || id.Step != 2 || id.HighWaterMark != nil {
		t.Errorf("identity %+v", id)
	}
}

func TestLike(t *testing.T) {
	comment := "source"
	source := created(t, CreateSpec{
		Schema: columns(t, "id int, p string, g int", notNull("id"), generated("g", "id + 1")), PartitionColumns: []string{"p"}, Description: &comment,
		Constraints: props{"pos": "id > 0"}, Properties: props{"delta.enableDeletionVectors": "true", "user.key": "u", "delta.columnMapping.mode": "name", "delta.enableRowTracking": "true"},
	})
	change, err := Like(source, CreateSpec{Properties: props{"user.key": "mine", "DELTA.appendOnly": "true"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(*change.Protocol), shown(source.Config.Protocol); got != want {
		t.Errorf("protocol %s, want %s", got, want)
	}
	m := change.Metadata
	if *m.Description != "source" || !slices.Equal(m.PartitionColumns, []string{"p"}) || m.Configuration["user.key"] != "mine" || m.Configuration["delta.appendOnly"] != "true" ||
		m.Configuration["delta.constraints.pos"] != "id > 0" || m.Configuration["delta.enableDeletionVectors"] != "true" {
		t.Errorf("metadata %+v", m)
	}
	if change.Operation.Name != "CREATE TABLE" {
		t.Error(change.Operation.Name)
	}
	if stateOf(t, nil, change).Config.Schema.Fields[0].Nullable {
		t.Error("NOT NULL is lost")
	}
	clustered := created(t, CreateSpec{Schema: columns(t, "a int"), ClusterBy: [][]string{{"a"}}})
	change, err = Like(clustered, CreateSpec{}, testEnv())
	if err != nil || !change.Protocol.Supports("clustering") || len(change.Domains) != 0 {
		t.Errorf("%v: the feature comes along, the columns do not: %v", err, change)
	}
	lowest := created(t, CreateSpec{Schema: columns(t, "a int"), Properties: props{"delta.ignoreProtocolDefaults": "true"}})
	if change, err = Like(lowest, CreateSpec{}, testEnv()); err != nil || shown(*change.Protocol) != "1 1" {
		t.Errorf("%v %v", err, change)
	}
}

func TestReplace(t *testing.T) {
	old := created(t, CreateSpec{Schema: columns(t, "a int, s struct<x:int,y:string>, gone int, b int"), ClusterBy: [][]string{{"a"}},
		Properties: props{"delta.columnMapping.mode": "name", "delta.enableRowTracking": "true", "user": "x"}})
	rows := old.Config.Property(propRowIDColumn)
	change, err := Replace(old, CreateSpec{Schema: columns(t, "new int, A int, s struct<x:int,y:int>, b bigint"), Properties: props{"delta.columnMapping.mode": "name"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	now := stateOf(t, &old, change)
	if change.Protocol != nil {
		t.Errorf("the protocol changed: %s", shown(*change.Protocol))
	}
	if now.Config.Metadata.ID == "" || now.Config.Property(propRowIDColumn) != rows {
		t.Error("the row ids' column keeps its name as long as the feature is there")
	}
	if _, kept := now.Config.LookupProperty("user"); kept || now.Config.Active("rowTracking") {
		t.Error("properties are replaced")
	}
	if d := now.Domains[protocol.DomainClustering]; d.Removed || d.Configuration != `{"clusteringColumns":[],"domainName":"delta.clustering"}` {
		t.Errorf("domain %+v", d)
	}
	id := func(c *protocol.TableConfig, path ...string) (int, protocol.PhysicalName) {
		f := existingField(&c.Schema, path)
		id, _ := f.ColumnID()
		name, _ := f.Metadata.PhysicalName()
		return id, name
	}
	for _, path := range [][]string{{"a"}, {"s", "x"}} {
		oldID, oldName := id(old.Config, path...)
		if newID, newName := id(now.Config, path...); oldID != newID || oldName != newName {
			t.Errorf("%v was %d %s and is %d %s", path, oldID, oldName, newID, newName)
		}
	}
	for _, path := range [][]string{{"new"}, {"s"}, {"s", "y"}, {"b"}} {
		if newID, _ := id(now.Config, path...); newID <= 6 {
			t.Errorf("%v has the id %d, which was another column's", path, newID)
		}
	}
	if now.Config.Property(propMaxColumnID) != "10" {
		t.Error("maxColumnId is " + now.Config.Property(propMaxColumnID))
	}

	_, err = Replace(old, CreateSpec{Schema: columns(t, "a int, p int"), PartitionColumns: []string{"p"}}, testEnv())
	wantClass(t, err, "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE")
	_, err = Replace(old, CreateSpec{}, testEnv())
	wantClass(t, err, "DELTA_SCHEMA_NOT_PROVIDED")

	plain := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.minWriterVersion": "4"}})
	change, err = Replace(plain, CreateSpec{Schema: columns(t, "id int"), AsSelect: true, Properties: props{"delta.enableRowTracking": "true"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(*change.Protocol), "1 7 appendOnly,changeDataFeed,checkConstraints,domainMetadata,generatedColumns,invariants,rowTracking"; got != want {
		t.Errorf("protocol %s, want %s", got, want)
	}
	if change.Domains != nil {
		t.Error("no clustering, no domain")
	}
	iceberg := created(t, CreateSpec{Schema: columns(t, "a int, p int, q int"), PartitionColumns: []string{"p"}, Properties: props{"delta.enableIcebergCompatV2": "true"}})
	_, err = Replace(iceberg, CreateSpec{Schema: columns(t, "a int, p int, q int"), PartitionColumns: []string{"q"}, Properties: props{"delta.enableIcebergCompatV2": "true"}}, testEnv())
	wantClass(t, err, "DELTA_ICEBERG_COMPAT_VIOLATION.REPLACE_TABLE_CHANGE_PARTITION_NAMES")
}

func TestReplaceKeepsTimestampsSince(t *testing.T) {
	old := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.enableInCommitTimestamps": "true"}})
	m := old.Config.Metadata
	m.Configuration = maps.Clone(m.Configuration)
	m.Configuration[propVersionSince], m.Configuration[propTimestampSince] = "3", "1700000000000"
	config, err := protocol.NewTableConfig(old.Config.Protocol, m)
	if err != nil {
		t.Fatal(err)
	}
	old.Config = config
	for on, want := range map[string]string{"true": "3", "false": ""} {
		change, err := Replace(old, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.enableInCommitTimestamps": on}}, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		if got := change.Metadata.Configuration[propVersionSince]; got != want {
			t.Errorf("%s: %q, want %q", on, got, want)
		}
	}
}

func TestAdopt(t *testing.T) {
	there := created(t, CreateSpec{Schema: columns(t, "id int, p string", meta("id", func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithComment("key") })), PartitionColumns: []string{"p"},
		Properties: props{"k": "v", "delta.columnMapping.mode": "name", "delta.enableRowTracking": "true"}})
	commented := meta("id", func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithComment("key") })
	properties := props{"k": "v", "delta.columnMapping.mode": "name", "delta.enableRowTracking": "true", "delta.minWriterVersion": "7"}
	for _, c := range []struct {
		name  string
		spec  CreateSpec
		class protocol.Class
	}{
		{"nothing said", CreateSpec{}, ""},
		{"all said", CreateSpec{UserColumns: true, Schema: columns(t, "p string, ID int", commented), PartitionColumns: []string{"p"}, Properties: properties}, ""},
		{"a column more", CreateSpec{UserColumns: true, Schema: columns(t, "id int, p string, more int", commented), PartitionColumns: []string{"p"}}, "DELTA_CREATE_TABLE_SCHEME_MISMATCH"},
		{"a column less", CreateSpec{UserColumns: true, Schema: columns(t, "id int", commented), PartitionColumns: []string{"p"}}, "DELTA_CREATE_TABLE_SCHEME_MISMATCH"},
		{"another type", CreateSpec{UserColumns: true, Schema: columns(t, "id bigint, p string", commented), PartitionColumns: []string{"p"}}, "DELTA_CREATE_TABLE_SCHEME_MISMATCH"},
		{"another comment", CreateSpec{UserColumns: true, Schema: columns(t, "id int, p string"), PartitionColumns: []string{"p"}}, "DELTA_CREATE_TABLE_SCHEME_MISMATCH"},
		{"NOT NULL", CreateSpec{UserColumns: true, Schema: columns(t, "id int, p string", commented, notNull("id")), PartitionColumns: []string{"p"}}, "DELTA_CREATE_TABLE_SCHEME_MISMATCH"},
		{"not partitioned", CreateSpec{UserColumns: true, Schema: columns(t, "id int, p string", commented)}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING"},
		{"clustered instead", CreateSpec{UserColumns: true, Schema: columns(t, "id int, p string", commented), ClusterBy: [][]string{{"id"}}}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING"},
		{"clustered too", CreateSpec{ClusterBy: [][]string{{"id"}}}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING"},
		{"another value", CreateSpec{Properties: props{"k": "other", "delta.columnMapping.mode": "name", "delta.enableRowTracking": "true"}}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"},
		{"a property less", CreateSpec{Properties: props{"k": "v"}}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"},
		{"a property more", CreateSpec{Properties: props{"k": "v", "delta.columnMapping.mode": "name", "delta.enableRowTracking": "true", "x": "y"}}, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Adopt(there, c.spec, testEnv())
			if c.class != "" {
				wantClass(t, err, c.class)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	clustered := created(t, CreateSpec{Schema: columns(t, "a int, b int"), ClusterBy: [][]string{{"b"}}})
	if err := Adopt(clustered, CreateSpec{UserColumns: true, Schema: columns(t, "a int, b int"), ClusterBy: [][]string{{"B"}}}, testEnv()); err != nil {
		t.Error(err)
	}
	wantClass(t, Adopt(clustered, CreateSpec{UserColumns: true, Schema: columns(t, "a int, b int")}, testEnv()), "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING")
	empty := created(t, CreateSpec{})
	wantClass(t, Adopt(empty, CreateSpec{UserColumns: true, Schema: columns(t, "id int")}, testEnv()), "DELTA_CREATE_TABLE_SCHEME_MISMATCH")
}

// TestParametersAreJSON: every parameter is a JSON value.
func TestParametersAreJSON(t *testing.T) {
	change, err := Create(CreateSpec{Schema: columns(t, "id int"), Properties: props{`q"<&>`: "\n"}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range change.Operation.Parameters {
		if !json.Valid(p.Value) {
			t.Errorf("%s: %s", p.Key, p.Value)
		}
	}
}

// TestRaisedClassesAreRegistered finds the classes this package raises by their spelling in its source.
func TestRaisedClassesAreRegistered(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	raise := regexp.MustCompile(`(?:NewError|fail)\("([A-Z][A-Z0-9_.]+)"`)
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range raise.FindAllSubmatch(source, -1) {
			if _, ok := protocol.InfoOf(protocol.Class(m[1])); !ok && !strings.HasPrefix(string(m[1]), "HUDI_") {
				t.Errorf("%s raises %s, which is not registered", name, m[1])
			}
		}
	}
}
