package ddl

import (
	"strings"
	"testing"

	"deltasql/protocol"
)

func tableState(t *testing.T, p protocol.Protocol, fields string, configuration map[string]string, clustering string) State {
	t.Helper()
	config, err := protocol.NewTableConfig(p, protocol.Metadata{ID: "id", Provider: "parquet", SchemaString: `{"type":"struct","fields":[` + fields + `]}`,
		PartitionColumns: []string{}, Configuration: configuration})
	if err != nil {
		t.Fatal(err)
	}
	s := State{Config: config, Domains: map[string]protocol.DomainMetadata{}}
	if clustering != "" {
		s.Domains[protocol.DomainClustering] = protocol.DomainMetadata{Domain: protocol.DomainClustering, Configuration: `{"clusteringColumns":` + clustering + `}`}
	}
	return s
}

const (
	identity12 = `{"name":"i","type":"long","nullable":true,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.highWaterMark":12,"delta.identity.allowExplicitInsert":false}}`
	identity5  = `{"name":"i","type":"long","nullable":true,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.highWaterMark":5,"delta.identity.allowExplicitInsert":false}}`
)

// Marks never fall, features never go, and clustering becomes what it was (bugs MT-10).
func TestRestoreKeepsMarks(t *testing.T) {
	before := protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"identityColumns"}}
	after := protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"identityColumns", "rowTracking", "domainMetadata", "clustering", "checkpointProtection"}}
	then := tableState(t, before, identity5, map[string]string{"k": "old"}, "")
	now := tableState(t, after, identity12, map[string]string{"k": "new", propRowIDColumn: "r", propRowVersionColumn: "v", propProtectedBefore: "9"}, `[["i"]]`)
	change, err := Restore(now, then)
	if err != nil {
		t.Fatal(err)
	}
	for _, feature := range after.WriterFeatures {
		if !change.Protocol.Supports(feature) {
			t.Errorf("the protocol lost %s", feature)
		}
	}
	if !strings.Contains(change.Metadata.SchemaString, `"delta.identity.highWaterMark":12`) {
		t.Errorf("the mark fell: %s", change.Metadata.SchemaString)
	}
	for key, want := range map[string]string{"k": "old", propRowIDColumn: "r", propRowVersionColumn: "v", propProtectedBefore: "9"} {
		if got := change.Metadata.Configuration[key]; got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	if len(change.Domains) != 1 || !strings.Contains(change.Domains[0].Configuration, `"clusteringColumns":[]`) {
		t.Errorf("clustering became %v", change.Domains)
	}
	if back, err := Restore(then, now); err != nil || !strings.Contains(back.Domains[0].Configuration, `[["i"]]`) {
		t.Errorf("%v %v", back, err)
	}
}

func TestClone(t *testing.T) {
	p := protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"rowTracking", "domainMetadata", "identityColumns", "clustering", "checkpointProtection"}}
	source := tableState(t, p, identity5, map[string]string{"delta.enableRowTracking": "true", propRowIDColumn: "_row-id-col-s", propRowVersionColumn: "_row-commit-version-col-s", propProtectedBefore: "4", "k": "1"}, `[["i"]]`)
	n := 0
	env := Env{NewID: func() string { n++; return string(rune('a' + n)) }, SessionDefaults: map[string]string{tableDefaultsForTest: "true"}}
	change, err := Clone(nil, source, CreateSpec{Table: "c", Properties: map[string]string{"k": "2"}}, env)
	if err != nil {
		t.Fatal(err)
	}
	c := change.Metadata.Configuration
	if c["k"] != "2" || c[propRowIDColumn] == "_row-id-col-s" || c[propRowIDColumn] == "" || c[propProtectedBefore] != "" || c["delta.appendOnly"] != "" {
		t.Errorf("the clone has the properties %v", c)
	}
	if !strings.Contains(change.Metadata.SchemaString, `"delta.identity.highWaterMark":5`) || len(change.Domains) != 1 || change.Protocol.Supports("checkpointProtection") {
		t.Errorf("%s %v %v", change.Metadata.SchemaString, change.Domains, change.Protocol)
	}
}

const tableDefaultsForTest = "spark.databricks.delta.properties.defaults.appendOnly"
