package protocol

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// lists makes a protocol with lists; reader nil where the version has none.
func lists(r int, reader, writer []string) Protocol {
	return Protocol{MinReaderVersion: r, MinWriterVersion: 7, ReaderFeatures: reader, WriterFeatures: writer}
}

func plain(r, w int) Protocol { return Protocol{MinReaderVersion: r, MinWriterVersion: w} }

func names(text string) []string { return strings.Fields(text) }

func TestFeatureTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Features() {
		if seen[f.Name] {
			t.Errorf("%s stands twice", f.Name)
		}
		seen[f.Name] = true
		if f.Kind != WriterFeature && f.Kind != ReaderWriterFeature {
			t.Errorf("%s has no kind", f.Name)
		}
		if f.Kind == WriterFeature && !f.Reads {
			t.Errorf("%s is a writer feature and never blocks reading", f.Name)
		}
		if f.Auto && (f.Active == nil || f.Needed != nil) {
			t.Errorf("%s: what is active brings it, or something else does", f.Name)
		}
		for _, r := range f.Requires {
			if _, ok := LookupFeature(r); !ok {
				t.Errorf("%s requires %s, which is not in the table", f.Name, r)
			}
		}
	}
	if f, ok := LookupFeature("timestampWithoutTimezone"); !ok || f.Name != "timestampNtz" {
		t.Error("the alias of timestampNtz is not known")
	}
	if _, ok := LookupFeature("DeletionVectors"); ok {
		t.Error("names in the protocol are case-sensitive")
	}
}

// TestNeededFeatures has for each feature that metadata bring what brings it, on a table that supports nothing.
func TestNeededFeatures(t *testing.T) {
	field := func(name, kind, metadata string) string {
		return `{"type":"struct","fields":[{"name":"` + name + `","type":` + kind + `,"nullable":true,"metadata":{` + metadata + `}}]}`
	}
	tests := map[string]struct {
		schema, property, value string
	}{
		"appendOnly":                   {"", "delta.appendOnly", "TRUE"},
		"columnMapping":                {"", "delta.columnMapping.mode", "Name"},
		"identityColumns":              {schema: field("k", `"long"`, `"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":true`)},
		"invariants":                   {schema: `{"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"integer","nullable":false,"metadata":{}}]},"nullable":true,"metadata":{}}]}`},
		"deletionVectors":              {"", "delta.enableDeletionVectors", "true"},
		"rowTracking":                  {"", "delta.enableRowTracking", "true"},
		"timestampNtz":                 {schema: field("a", `{"type":"array","elementType":"timestamp_ntz","containsNull":true}`, "")},
		"typeWidening":                 {"", "DELTA.enableTypeWidening", "true"},
		"v2Checkpoint":                 {"", "delta.checkpointPolicy", "v2"},
		"icebergCompatV1":              {"", "delta.enableIcebergCompatV1", "true"},
		"icebergCompatV2":              {"", "delta.enableIcebergCompatV2", "true"},
		"icebergCompatV3":              {"", "delta.enableIcebergCompatV3", "true"},
		"inCommitTimestamp":            {"", "delta.enableInCommitTimestamps", "true"},
		"checkConstraints":             {"", "delta.constraints.c", "a > 0"},
		"generatedColumns":             {schema: field("g", `"integer"`, `"delta.generationExpression":"1"`)},
		"changeDataFeed":               {"", "delta.enableChangeDataFeed", "true"},
		"allowColumnDefaults":          {schema: field("d", `"integer"`, `"CURRENT_DEFAULT":"1"`)},
		"variantType":                  {schema: field("m", `{"type":"map","keyType":"string","valueType":"variant","valueContainsNull":true}`, "")},
		"variantShredding-preview":     {"", "delta.enableVariantShredding", "true"},
		"materializePartitionColumns":  {"", "delta.enableMaterializePartitionColumnsFeature", "true"},
		"geospatial":                   {schema: field("g", `"geometry(OGC:CRS84)"`, "")},
		"fileType":                     {schema: field("f", `"file"`, "")},
		"coordinatedCommits-preview":   {"", "delta.coordinatedCommits.commitCoordinator-preview", "name"},
		"redirectReaderWriter-preview": {"", "delta.redirectReaderWriter-preview", "{}"},
		"redirectWriterOnly-preview":   {"", "delta.redirectWriterOnly-preview", "{}"},
		"icebergWriterCompatV1":        {"", "delta.enableIcebergWriterCompatV1", "true"},
		"icebergWriterCompatV3":        {"", "delta.enableIcebergWriterCompatV3", "true"},
		"collations":                   {schema: field("c", `"string"`, `"__COLLATIONS":{"c":"ICU.de"}`)},
	}
	for _, f := range Features() {
		test, listed := tests[f.Name]
		if brought := f.Auto || f.Needed != nil; brought != listed {
			t.Errorf("%s: metadata bring it %v, in the test %v", f.Name, brought, listed)
		}
		if !listed {
			continue
		}
		m := Metadata{SchemaString: test.schema}
		if test.property != "" {
			m.Configuration = map[string]string{test.property: test.value}
		}
		config, err := NewTableConfig(plain(1, 1), m)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if got := config.NeededFeatures(); len(got) != 1 || got[0] != f {
			t.Errorf("%s: the metadata need %v", f.Name, got)
		}
	}
}

func TestPropertyNames(t *testing.T) {
	for _, test := range []struct {
		name, want string
		known      bool
	}{
		{"DELTA.APPENDONLY", "delta.appendOnly", true},
		{"delta.constraints.Pos", "delta.constraints.pos", true},
		{"Delta.Feature.DeletionVectors", "delta.feature.deletionvectors", true},
		{"delta.universalFormat.config.Iceberg.X", "delta.universalformat.config.iceberg.x", true},
		{"My.Key", "My.Key", true},
		{"delta.nope", "delta.nope", false},
	} {
		if got, known := CanonicalProperty(test.name); got != test.want || known != test.known {
			t.Errorf("%s: %s %v", test.name, got, known)
		}
	}
	if f, ok := FeatureByProperty("DELETIONVECTORS"); !ok || f.Name != "deletionVectors" {
		t.Error("features are found whatever their case")
	}
	if _, ok := FeatureByProperty("nope"); ok {
		t.Error("a feature that is none")
	}
}

func TestCheckReadable(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Protocol
		class Class
		text  string
	}{
		{"legacy", plain(1, 2), "", ""},
		{"column mapping at reader 2", lists(2, nil, names("columnMapping")), "", ""},
		{"empty lists at low versions", Protocol{1, 2, []string{}, []string{}}, "", ""},
		{"version before names", lists(4, names("blahabl"), names("blahabl")), "DELTA_INVALID_PROTOCOL_VERSION", "reader version 4"},
		{"version without lists", plain(5, 7), "DELTA_INVALID_PROTOCOL_VERSION", ""},
		{"reader 3 without list", lists(3, nil, names("appendOnly")), "DELTA_INVALID_LOG_FILE", "readerFeatures"},
		{"writer 7 without list", plain(1, 7), "DELTA_INVALID_LOG_FILE", "writerFeatures"},
		{"reader 3 with writer 6", Protocol{3, 6, []string{}, nil}, "DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE", ""},
		{"reader list at version 2", Protocol{2, 5, names("columnMapping"), nil}, "DELTA_INVALID_LOG_FILE", ""},
		{"writer list at version 2", Protocol{1, 2, nil, names("appendOnly")}, "DELTA_INVALID_LOG_FILE", ""},
		{"unknown reader features", lists(3, names("zeta deletionVectors alpha"), names("zeta")), "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "alpha, zeta"},
		{"unknown writer feature", lists(1, nil, names("liquid")), "", ""},
		{"catalogOwned", lists(3, names("catalogOwned"), names("catalogOwned")), "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "catalogOwned"},
		{"catalogManaged and its preview", lists(3, names("catalogManaged catalogOwned-preview"), names("catalogManaged")), "", ""},
		{"geospatial", lists(3, names("geospatial"), names("geospatial")), "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "geospatial"},
		{"adaptive metadata", lists(3, names("adaptiveMetadata-preview"), names("adaptiveMetadata-preview")), "DELTA_UNSUPPORTED_FEATURES_FOR_READ", ""},
		{"previews and aliases", lists(3, names("timestampWithoutTimezone typeWidening-preview variantType-preview variantShredding-preview collations"), []string{}), "", ""},
	} {
		err := CheckReadable(c.p, "db.t")
		if c.class == "" && err != nil || c.class != "" && (err == nil || ClassOf(err) != c.class || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.class)
		}
	}
	if err := CheckWritable(lists(1, nil, names("liquid")), "t"); ClassOf(err) != "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" {
		t.Error(err)
	}
	if err := CheckWritable(plain(1, 8), "t"); ClassOf(err) != "DELTA_INVALID_PROTOCOL_VERSION" {
		t.Error(err)
	}
}

func TestImplicitFeatures(t *testing.T) {
	four := names("appendOnly changeDataFeed checkConstraints generatedColumns invariants")
	for _, c := range []struct {
		p     Protocol
		want  []string
		canon Protocol
	}{
		{plain(1, 1), nil, plain(1, 1)},
		{plain(1, 2), names("appendOnly invariants"), plain(1, 2)},
		{plain(1, 3), names("appendOnly checkConstraints invariants"), plain(1, 3)},
		{plain(1, 4), four, plain(1, 4)},
		{plain(1, 5), four, plain(1, 4)},
		{plain(1, 6), names("appendOnly changeDataFeed checkConstraints generatedColumns identityColumns invariants"), plain(1, 6)},
		{plain(2, 1), nil, plain(1, 1)},
		{plain(2, 4), four, plain(1, 4)},
		{plain(2, 5), names("appendOnly changeDataFeed checkConstraints columnMapping generatedColumns invariants"), plain(2, 5)},
		{plain(2, 6), names("appendOnly changeDataFeed checkConstraints columnMapping generatedColumns identityColumns invariants"), plain(2, 6)},
		{plain(3, 5), names("appendOnly changeDataFeed checkConstraints columnMapping generatedColumns invariants"), plain(2, 5)},
		{lists(1, nil, []string{}), nil, plain(1, 1)},
		{lists(3, []string{}, []string{}), nil, plain(1, 1)},
	} {
		if got := c.p.Features(); !slices.Equal(got, c.want) {
			t.Errorf("%v implies %v, want %v", c.p, got, c.want)
		}
		for _, f := range features {
			if c.p.Supports(f.Name) != slices.Contains(c.want, f.Name) {
				t.Errorf("%v: Supports(%s) is wrong", c.p, f.Name)
			}
		}
		if got := c.p.Normalize(); !reflect.DeepEqual(got, c.canon) {
			t.Errorf("%v normalises to %v, want %v", c.p, got, c.canon)
		}
		if got := c.p.Denormalize().Normalize(); !reflect.DeepEqual(got, c.canon) {
			t.Errorf("%v denormalised and normalised is %v, want %v", c.p, got, c.canon)
		}
	}
}

// TestAlgebraExamples are the worked examples of the protocol digest, section 2.4.
func TestAlgebraExamples(t *testing.T) {
	with := func(p Protocol, features ...string) Protocol {
		t.Helper()
		q, err := p.WithFeatures(features...)
		if err != nil {
			t.Fatal(err)
		}
		if !p.CanUpgradeTo(q) {
			t.Errorf("%v to %v must be an upgrade", p, q)
		}
		return q
	}
	fast := func(p Protocol, feature string) Protocol { // DROP FEATURE with checkpoint protection
		t.Helper()
		q := with(p.WithoutFeature(feature), "checkpointProtection")
		if !p.CanDowngradeTo(q, feature) {
			t.Errorf("%v to %v must be a downgrade", p, q)
		}
		return q
	}
	truncated := func(p Protocol, feature string) Protocol {
		t.Helper()
		q := p.WithoutFeature(feature)
		if !p.CanDowngradeTo(q, feature) || p.CanUpgradeTo(q) {
			t.Errorf("%v to %v must be a downgrade", p, q)
		}
		return q
	}
	standard := plain(1, 2)
	vectors := lists(3, names("deletionVectors"), names("appendOnly deletionVectors invariants"))
	for _, c := range []struct {
		name      string
		got, want Protocol
	}{
		{"new table", standard.Normalize(), plain(1, 2)},
		{"new table with versions (1,1)", plain(1, 1).Normalize(), plain(1, 1)},
		{"new table with versions (3,7)", lists(3, []string{}, []string{}).Normalize(), plain(1, 1)},
		{"new table with versions (1,7)", lists(1, nil, []string{}).Normalize(), plain(1, 1)},
		{"new table with deletion vectors", with(standard, "deletionVectors"), vectors},
		{"new table with row tracking", with(standard, "rowTracking"), lists(1, nil, names("appendOnly domainMetadata invariants rowTracking"))},
		{"new table with column mapping", with(standard, "columnMapping"), lists(2, nil, names("appendOnly columnMapping invariants"))},
		{"add a CHECK", with(standard, "checkConstraints"), plain(1, 3)},
		{"enable the change feed", with(standard, "changeDataFeed"), lists(1, nil, names("appendOnly changeDataFeed invariants"))},
		{"(1,4) with column mapping", with(plain(1, 4), "columnMapping"), plain(2, 5)},
		{"(2,5) with deletion vectors", with(plain(2, 5), "deletionVectors"), lists(3, names("columnMapping deletionVectors"), names("appendOnly changeDataFeed checkConstraints columnMapping deletionVectors generatedColumns invariants"))},
		{"[checkConstraints] with writer 3", lists(1, nil, names("checkConstraints")).Merge(plain(1, 3)), plain(1, 3)},
		{"(1,2) with (3,7)", standard.Merge(lists(3, []string{}, []string{})), plain(1, 2)},
		{"(1,2) with writer 5", standard.Merge(plain(1, 5)), plain(1, 4)},
		{"drop CHECK", truncated(plain(1, 3), "checkConstraints"), plain(1, 2)},
		{"drop column mapping, fast", fast(plain(2, 5), "columnMapping"), lists(1, nil, names("appendOnly changeDataFeed checkConstraints checkpointProtection generatedColumns invariants"))},
		{"drop column mapping, truncated", truncated(plain(2, 5), "columnMapping"), plain(1, 4)},
		{"drop deletion vectors, truncated", truncated(vectors, "deletionVectors"), plain(1, 2)},
		{"drop deletion vectors, fast", fast(vectors, "deletionVectors"), lists(1, nil, names("appendOnly checkpointProtection invariants"))},
		{"a reader version too high", lists(3, []string{}, names("rowTracking domainMetadata")).Normalize(), lists(1, nil, names("domainMetadata rowTracking"))},
		{"column mapping alone", lists(3, names("columnMapping"), names("columnMapping")).Merge(), lists(2, nil, names("columnMapping"))},
		{"an alias is never written", lists(3, names("timestampWithoutTimezone"), names("timestampWithoutTimezone")).Normalize(), lists(3, names("timestampNtz"), names("timestampNtz"))},
		{"an unknown name stays, however odd the versions", Protocol{3, 0, nil, names("zeta")}.Normalize(), Protocol{3, 0, nil, names("zeta")}},
		{"an unknown name stays", lists(3, []string{}, names("appendOnly zeta")).Normalize(), lists(3, []string{}, names("appendOnly zeta"))},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
		if again := c.got.Normalize(); !reflect.DeepEqual(again, c.got) {
			t.Errorf("%s: normalising again gives %+v", c.name, again)
		}
	}
	closure, err := FeatureClosure("icebergCompatV3")
	if err != nil || !slices.Equal(closure, names("columnMapping domainMetadata icebergCompatV3 rowTracking")) {
		t.Errorf("%v, %v", closure, err)
	}
	if _, err := standard.WithFeatures("zeta"); ClassOf(err) != "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG" {
		t.Error(err)
	}
}
