package sqlengine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// Cheap statements of the conformance list (docs/conformance.md) that no other test holds.

// rawCommit appends a version to a table's log as another writer would.
func rawCommit(t *testing.T, root, table string, version int, actions ...string) {
	t.Helper()
	file := filepath.Join(root, "default", table, protocol.LogFolder, protocol.CommitName(int64(version)))
	if err := os.WriteFile(file, []byte(strings.Join(actions, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withConfiguration is the metadata action of a table with other properties.
func withConfiguration(t *testing.T, config *protocol.TableConfig, set map[string]string) string {
	t.Helper()
	properties := config.Properties()
	for key, value := range set {
		properties[key] = value
	}
	text, err := json.Marshal(map[string]any{"metaData": map[string]any{"id": config.Metadata.ID, "format": map[string]any{"provider": "parquet", "options": map[string]string{}},
		"schemaString": config.Metadata.SchemaString, "partitionColumns": config.Metadata.PartitionColumns, "configuration": properties}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func configOf(t *testing.T, s *Session, root, name string) *protocol.TableConfig {
	t.Helper()
	table, err := s.engine.catalog.table(filepath.Join(root, "default", name))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Config()
}

func run(t *testing.T, s *Session, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, _, err := answer(s, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// TestUnknownPropertiesArePreserved is statement 181: a delta property that this product does not know stays through every change, and
// cannot be set here.
func TestUnknownPropertiesArePreserved(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT)")
	rawCommit(t, root, "t", 1, withConfiguration(t, configOf(t, s, root, "t"), map[string]string{"delta.someFuture": "x"}))
	run(t, s, "INSERT INTO t VALUES (1)", "ALTER TABLE t ADD COLUMN s STRING", "ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')", "COMMENT ON TABLE t IS 'c'", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "DELETE FROM t WHERE id = 2")
	if value := configOf(t, s, root, "t").Property("delta.someFuture"); value != "x" {
		t.Errorf("delta.someFuture is %q", value)
	}
	refuse(t, s, "ALTER TABLE t SET TBLPROPERTIES ('delta.someOther' = 'x')", "DELTA_UNKNOWN_CONFIGURATION")
}

// TestUnsetOfAMissingProperty is statement 180.
func TestUnsetOfAMissingProperty(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT)", "ALTER TABLE t UNSET TBLPROPERTIES ('nothing')", "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('nothing', 'delta.appendOnly')")
}

// TestClusteringDomainInFlatForm is statement 186: a domain that lists names instead of paths is read, and our next change writes paths.
func TestClusteringDomainInFlatForm(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (a INT, b INT) CLUSTER BY (a)")
	rawCommit(t, root, "t", 1, `{"domainMetadata":{"domain":"delta.clustering","configuration":"{\"clusteringColumns\":[\"b\"],\"domainName\":\"delta.clustering\"}","removed":false}}`)
	if text := createStatement(t, s, "t"); !strings.Contains(text, "CLUSTER BY (b)") {
		t.Errorf("SHOW CREATE TABLE: %s", text)
	}
	run(t, s, "ALTER TABLE t CLUSTER BY (b, a)", "INSERT INTO t VALUES (1, 2)")
	log, err := os.ReadFile(filepath.Join(root, "default", "t", protocol.LogFolder, protocol.CommitName(2)))
	if err != nil || !strings.Contains(string(log), `[[\"b\"],[\"a\"]]`) {
		t.Errorf("the domain is not written as paths: %s, %v", log, err)
	}
}

// TestProtocolFromAnotherWriterIsLowered is statement 26: the next change of the protocol stores its weakest form.
func TestProtocolFromAnotherWriterIsLowered(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
	rawCommit(t, root, "t", 1, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["domainMetadata","rowTracking"]}}`)
	run(t, s, "ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
	if p := configOf(t, s, root, "t").Protocol; p.MinReaderVersion != 1 || p.MinWriterVersion != 7 || p.ReaderFeatures != nil || !slices.Equal(p.WriterFeatures, []string{"appendOnly", "domainMetadata", "rowTracking"}) {
		t.Errorf("the protocol is %+v", p)
	}
}

// TestPropertiesThatContradict is statement 188, and 187 of retentions.
func TestPropertiesThatContradict(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	const both = "'delta.enableDeletionVectors' = 'true', 'delta.compatibility.symlinkFormatManifest.enabled' = 'true'"
	refuse(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ("+both+")", "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION")
	run(t, s, "CREATE TABLE t (id INT)")
	for _, properties := range []string{both, "'delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 2 days'"} {
		if _, _, err := answer(s, "ALTER TABLE t SET TBLPROPERTIES ("+properties+")"); err == nil || protocol.ClassOf(err) == protocol.ClassInternal {
			t.Errorf("%s: %v", properties, err)
		}
	}
}

// TestMetadataOfAFeatureThatIsNotListed is statement 6: what is switched on without its feature can be read, and is not written.
func TestMetadataOfAFeatureThatIsNotListed(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO t VALUES (1)")
	rawCommit(t, root, "t", 2, withConfiguration(t, configOf(t, s, root, "t"), map[string]string{"delta.enableDeletionVectors": "true"}))
	want(t, s, "SELECT * FROM t", `[1]`)
	for _, sql := range []string{"INSERT INTO t VALUES (2)", "DELETE FROM t WHERE id = 1", "ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')"} {
		refuse(t, s, sql, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH")
	}
}
