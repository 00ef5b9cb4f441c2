package protocol

import (
	"slices"
	"strings"
	"testing"
)

func TestDutiesComeFromFeatures(t *testing.T) {
	const fields = `{"name":"a","type":"long","nullable":false,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":false}},` +
		`{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":false,"metadata":{"delta.invariants":"{\"expression\":{\"expression\":\"x > 3\"}}"}},` +
		`{"name":"l","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"in","type":"long","nullable":false,"metadata":{}}]},"containsNull":true},"nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},` +
		`{"name":"g","type":"long","nullable":true,"metadata":{"delta.generationExpression":"a + 1"}},` +
		`{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)"}},` +
		`{"name":"p","type":"integer","nullable":true,"metadata":{}}`
	config := func(p Protocol, properties map[string]string) *TableConfig {
		t.Helper()
		c, err := NewTableConfig(p, Metadata{SchemaString: `{"type":"struct","fields":[` + fields + `]}`, PartitionColumns: []string{"p"}, Configuration: properties})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	text := func(duties []Duty) string {
		var names []string
		for _, d := range duties {
			names = append(names, d.String())
		}
		return strings.Join(names, " ")
	}
	const always = "Statistics PartitionValues Length(c)"
	features := func(names ...string) Protocol {
		return Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: names}
	}
	properties := map[string]string{"delta.constraints.Positive": "a > 0", "delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"}
	for _, c := range []struct {
		p          Protocol
		properties map[string]string
		rows       string
		changes    string
	}{
		{Protocol{MinReaderVersion: 1, MinWriterVersion: 1}, nil, always + " NotNull(a) NotNull(s.x) Invariant(s.x)", ""},
		{Protocol{MinReaderVersion: 1, MinWriterVersion: 6}, properties, always + " Identity(a) NotNull(a) NotNull(s.x) Invariant(s.x) Check(positive) Generated(g)", "ChangeRows"},
		{features("rowTracking", "domainMetadata", "changeDataFeed"), properties, always + " NotNull(a) NotNull(s.x) Invariant(s.x) Check(positive)", "RowIDs ChangeRows"},
		{features("materializePartitionColumns"), nil, always + " NotNull(a) NotNull(s.x) Invariant(s.x) MaterializedPartitions", ""},
		{features("icebergCompatV2"), map[string]string{"delta.enableIcebergCompatV2": "true"}, always + " NotNull(a) NotNull(s.x) Invariant(s.x) MaterializedPartitions NestedIDs", ""},
		{features("icebergCompatV2"), nil, always + " NotNull(a) NotNull(s.x) Invariant(s.x)", ""},
	} {
		config := config(c.p, c.properties)
		if got := text(config.Duties()); got != c.rows {
			t.Errorf("%v: %q, want %q", c.p, got, c.rows)
		}
		if got := text(config.ChangeDuties()); got != c.changes {
			t.Errorf("%v: changes owe %q, want %q", c.p, got, c.changes)
		}
	}
}

// Features that only some writers could honour are refused to be written, and what is written is read.
func TestWrittenFeaturesAreRead(t *testing.T) {
	refused := []string{"catalogManaged", "catalogOwned-preview", "coordinatedCommits-preview", "redirectWriterOnly-preview", "redirectReaderWriter-preview"}
	for _, f := range Features() {
		if f.Writes && (!f.Reads || slices.Contains(refused, f.Name)) {
			t.Errorf("%s must not be written", f.Name)
		}
	}
}
