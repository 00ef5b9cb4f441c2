package sqlengine

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

// Statements of the conformance list (docs/conformance.md) about what features leave in the log and in the files.

// commitsOf are the actions of each commit of a table, by kind, and the operations.
func commitsOf(t *testing.T, root, table string) (actions []map[string][]map[string]any, operations []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "default", table, protocol.LogFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commit, operation := map[string][]map[string]any{}, ""
		for line := range strings.Lines(string(text)) {
			var action map[string]map[string]any
			if err := json.Unmarshal([]byte(line), &action); err != nil {
				t.Fatal(err)
			}
			for kind, a := range action {
				commit[kind] = append(commit[kind], a)
				if kind == "commitInfo" {
					operation, _ = a["operation"].(string)
				}
			}
		}
		actions, operations = append(actions, commit), append(operations, operation)
	}
	return actions, operations
}

// TestTombstonesOfVectors is statement 38 and the checkpoint of 39: every file of vectors that an unexpired remove refers to has a
// tombstone of its own, so that a VACUUM that knows no vectors leaves it, and no checkpoint behind the drop has a vector.
func TestTombstonesOfVectors(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.randomizeFilePrefixes' = 'true')", "INSERT INTO t SELECT id FROM range(9000)",
		"DELETE FROM t WHERE id % 3 = 0", "DELETE FROM t WHERE id % 7 = 0", "ALTER TABLE t DROP FEATURE deletionVectors")
	commits, operations := commitsOf(t, root, "t")
	vectors, tombstones := map[string]bool{}, map[string]bool{}
	for i, commit := range commits {
		for _, remove := range commit["remove"] {
			if v, ok := remove["deletionVector"].(map[string]any); ok && v["storageType"] == "u" {
				path, _, err := (&protocol.DeletionVector{StorageType: "u", PathOrInline: v["pathOrInlineDv"].(string)}).Path()
				if err != nil {
					t.Fatal(err)
				}
				vectors[path] = true
			}
			if operations[i] != "Deletion Vector Tombstones" {
				continue
			}
			if remove["dataChange"] != false || remove["deletionVector"] != nil || remove["deletionTimestamp"] == nil || remove["partitionValues"] != nil {
				t.Errorf("the tombstone %v", remove)
			}
			path, err := url.PathUnescape(remove["path"].(string))
			if err != nil {
				t.Fatal(err)
			}
			tombstones[path] = true
			if _, err := os.Stat(filepath.Join(root, "default", "t", path)); err != nil {
				t.Error(err)
			}
		}
	}
	if len(vectors) != 2 || fmt.Sprint(vectors) != fmt.Sprint(tombstones) {
		t.Errorf("the tombstones %v of the vectors %v", tombstones, vectors)
	}
	checkpoints, err := filepath.Glob(filepath.Join(root, "default", "t", protocol.LogFolder, "*.checkpoint*"))
	if err != nil || len(checkpoints) < 4 {
		t.Fatalf("the checkpoints %q, %v", checkpoints, err)
	}
	for _, file := range checkpoints {
		want(t, s, "SELECT count(add.path), count(add.deletionVector) FROM parquet.`"+file+"`", `[1,0]`)
	}
}

// TestHistoryOfNoTime is statement 43: where no history is to be kept the second run ends at once.
func TestHistoryOfNoTime(t *testing.T) {
	c := dropCase{feature: "deletionVectors", setup: append(slices.Clone(dropCases[0].setup), "ALTER TABLE t SET TBLPROPERTIES ('delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 0 hours')")}
	d := c.make(t)
	refuse(t, d.session, "ALTER TABLE t DROP FEATURE deletionVectors TRUNCATE HISTORY", "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD")
	d.ahead += time.Minute // times are cut to the minute
	d.open()
	run(t, d.session, "ALTER TABLE t DROP FEATURE deletionVectors TRUNCATE HISTORY")
	if p := d.config(t).Protocol; p.MinReaderVersion != 1 || p.MinWriterVersion != 2 || p.WriterFeatures != nil {
		t.Errorf("the protocol is %+v", p)
	}
	refuse(t, d.session, "SELECT * FROM t VERSION AS OF 1", "DELTA_VERSION_NOT_FOUND")
	want(t, d.session, "SELECT * FROM t ORDER BY id", `[1,"a"]`, `[3,"c"]`)
	d.faultless()
}

// TestBackfillComesInBatches is statement 65: three commits give 50 000 files their row ids, and the property comes behind them.
func TestBackfillComesInBatches(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.checkpointInterval' = '100')")
	const files = 50_000
	lines := make([]string, files)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"add":{"path":"f%d","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":2}"}}`, i)
	}
	rawCommit(t, root, "t", 1, lines...)
	run(t, s, "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
	commits, operations := commitsOf(t, root, "t")
	total, mark := 0, ""
	for i, commit := range commits {
		for _, m := range commit["metaData"] {
			if on := m["configuration"].(map[string]any)["delta.enableRowTracking"]; (on == "true") != (i == len(commits)-1) {
				t.Errorf("version %d has the property as %v", i, on)
			}
		}
		if operations[i] != "ROW TRACKING BACKFILL" {
			continue
		}
		if len(commit["add"]) > 22_000 {
			t.Errorf("version %d has %d files", i, len(commit["add"]))
		}
		total += len(commit["add"])
		for _, add := range commit["add"] {
			if add["dataChange"] != false || add["baseRowId"] == nil || add["defaultRowCommitVersion"] == nil {
				t.Fatalf("version %d: %v", i, add)
			}
		}
		mark = commit["domainMetadata"][0]["configuration"].(string)
	}
	if got := strings.Join(operations[2:], ", "); total != files || got != "UPGRADE PROTOCOL, ROW TRACKING BACKFILL, ROW TRACKING BACKFILL, ROW TRACKING BACKFILL, SET TBLPROPERTIES" {
		t.Errorf("%d files in %s", total, got)
	}
	if !strings.Contains(mark, fmt.Sprintf(`"rowIdHighWaterMark":%d`, 2*files-1)) {
		t.Errorf("the mark is %s", mark)
	}
}

// TestMarkOfColumnIDsIsMended is statement 101 on a table that another writer left with a mark below its ids: it can be read, no id is
// given a second time, and the next change of its definition mends the mark.
func TestMarkOfColumnIDsIsMended(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "INSERT INTO t VALUES (1, 'a')")
	rawCommit(t, root, "t", 2, withConfiguration(t, configOf(t, s, root, "t"), map[string]string{"delta.columnMapping.maxColumnId": "1"}))
	want(t, s, "SELECT * FROM t", `[1,"a"]`)
	run(t, s, "ALTER TABLE t ADD COLUMN x INT")
	config := configOf(t, s, root, "t")
	if id, _ := config.Schema.Fields[2].ColumnID(); id != 3 || config.Property("delta.columnMapping.maxColumnId") != "3" {
		t.Errorf("the column's id is %d, the mark %s", id, config.Property("delta.columnMapping.maxColumnId"))
	}
	want(t, s, "SELECT * FROM t", `[1,"a",null]`)
}

// TestFilesForIceberg is statement 128: what IcebergCompatV2 asks of the files of every kind of write.
func TestFilesForIceberg(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (p STRING, id INT, at TIMESTAMP, l ARRAY<INT>, m MAP<STRING, INT>) PARTITIONED BY (p) TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true')",
		"INSERT INTO t VALUES ('a', 1, TIMESTAMP '2024-01-01 00:00:00', array(1), map('x', 1)), ('a', 2, NULL, NULL, NULL)", "UPDATE t SET id = 3 WHERE id = 2", "INSERT INTO t SELECT * FROM t", "OPTIMIZE t")
	commits, _ := commitsOf(t, root, "t")
	adds := 0
	for i, commit := range commits {
		for _, add := range commit["add"] {
			adds++
			tags, _ := add["tags"].(map[string]any)
			stats := asJSON(t, add["stats"].(string)).(map[string]any)
			if tags["ICEBERG_COMPAT_VERSION"] != "2" || stats["numRecords"] == nil {
				t.Errorf("version %d: %v", i, add)
			}
			path, _, err := protocol.DecodePath(add["path"].(string))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(root, "default", "t", path)
			columns, _, err := answer(s, "SELECT * FROM parquet.`"+file+"` LIMIT 0")
			if err != nil || strings.Count(columns, ", ") < 4 || !strings.HasPrefix(columns[strings.LastIndex(columns, ", ")+2:], "col-") || !strings.HasSuffix(columns, " string") {
				t.Errorf("version %d: the columns %s, %v", i, columns, err)
			}
		}
	}
	if adds < 4 {
		t.Errorf("only %d files", adds)
	}
}

// TestPartitionColumnsInFiles is statement 164: materialised partition columns come last in the files, and readers take the log's value
// where the two differ.
func TestPartitionColumnsInFiles(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (q INT, id INT, p STRING) PARTITIONED BY (q, p) TBLPROPERTIES ('delta.feature.materializePartitionColumns' = 'supported')", "INSERT INTO t VALUES (7, 1, 'a')")
	commits, _ := commitsOf(t, root, "t")
	add := commits[1]["add"][0]
	path, _, err := protocol.DecodePath(add["path"].(string))
	if err != nil {
		t.Fatal(err)
	}
	columns, rows, err := answer(s, "SELECT * FROM parquet.`"+filepath.Join(root, "default", "t", path)+"`")
	if err != nil || columns != "id int, q int, p string" || fmt.Sprint(rows) != `[[1,7,"a"]]` {
		t.Errorf("the file has %s %v, %v", columns, rows, err)
	}
	add["partitionValues"] = map[string]any{"q": "8", "p": "b"}
	line, err := json.Marshal(map[string]any{"add": add})
	if err != nil {
		t.Fatal(err)
	}
	rawCommit(t, root, "t", 2, string(line))
	want(t, s, "SELECT * FROM t", `[8,1,"b"]`)
	want(t, s, "SELECT id FROM t WHERE p = 'b' AND q = 8", `[1]`)
	want(t, s, "SELECT id FROM t WHERE q = 7")
}

// TestCheckpointsAreOfOneFile is statement 145: no checkpoint has several parts, and sidecars are named without their folder.
func TestCheckpointsAreOfOneFile(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '1')", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
	files, err := filepath.Glob(filepath.Join(root, "default", "t", protocol.LogFolder, "*.checkpoint.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the checkpoints %q, %v", files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if parts := strings.Split(name, "."); len(parts) > 4 || len(parts) == 4 && len(parts[2]) != 36 {
			t.Errorf("the checkpoint %s", name)
		}
		sidecars, err := filepath.Glob(filepath.Join(filepath.Dir(file), "_sidecars", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, sidecar := range sidecars {
			if strings.Contains(filepath.Base(sidecar), "/") {
				t.Error(sidecar)
			}
		}
		_, rows, err := answer(s, "SELECT sidecar.path FROM parquet.`"+file+"` WHERE sidecar.path IS NOT NULL")
		if err != nil && !strings.HasSuffix(file, ".json") {
			t.Error(err)
		}
		for _, row := range rows {
			var path []string
			if err := json.Unmarshal([]byte(row), &path); err != nil || strings.Contains(path[0], "/") {
				t.Errorf("the sidecar %s, %v", row, err)
			} else if _, err := os.Stat(filepath.Join(filepath.Dir(file), "_sidecars", path[0])); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestExpressionsOfOthers: a CHECK that another product understands and this one does not keeps rows from being written and the columns
// that it may need from being changed, and nothing else; it can be dropped.
func TestExpressionsOfOthers(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')", "INSERT INTO t VALUES (1, 'a'), (2, 'b')", "ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0)")
	rawCommit(t, root, "t", 3, withConfiguration(t, configOf(t, s, root, "t"), map[string]string{"delta.constraints.c": "their_function(id) > 0"}))
	want(t, s, "SELECT * FROM t ORDER BY id", `[1,"a"]`, `[2,"b"]`)
	for _, sql := range []string{"INSERT INTO t VALUES (3, 'c')", "UPDATE t SET id = 4"} {
		if _, _, err := answer(s, sql); err == nil || !strings.Contains(err.Error(), "their_function") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"ALTER TABLE t DROP COLUMN s", "ALTER TABLE t RENAME COLUMN id TO x"} {
		refuse(t, s, sql, "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")
	}
	run(t, s, "ALTER TABLE t ADD COLUMN x INT", "ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')", "ALTER TABLE t ALTER COLUMN id COMMENT 'a number'", "ALTER TABLE t DROP FEATURE deletionVectors",
		"ALTER TABLE t DROP CONSTRAINT c", "INSERT INTO t VALUES (3, 'c', 5)", "ALTER TABLE t DROP COLUMN s")
	want(t, s, "SELECT * FROM t ORDER BY id", `[1,null]`, `[2,null]`, `[3,5]`)
}

// TestClonesAreNotTheCatalogs is statement 30: what is made of a catalog-managed table is managed by no catalog, and can be written.
func TestClonesAreNotTheCatalogs(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true', 'delta.feature.vacuumProtocolCheck' = 'supported')", "INSERT INTO t VALUES (1)")
	rawCommit(t, root, "t", 2, `{"commitInfo":{"inCommitTimestamp":99999999999999,"timestamp":1,"operation":"UPGRADE PROTOCOL"}}`,
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged","vacuumProtocolCheck"],"writerFeatures":["appendOnly","catalogManaged","inCommitTimestamp","invariants","vacuumProtocolCheck"]}}`,
		withConfiguration(t, configOf(t, s, root, "t"), map[string]string{"io.unitycatalog.tableId": "theirs"}))
	refuse(t, s, "INSERT INTO t VALUES (2)", "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED")
	for name, how := range map[string]string{"u": "SHALLOW CLONE t", "v": "DEEP CLONE t"} {
		run(t, s, "CREATE TABLE "+name+" "+how, "INSERT INTO "+name+" VALUES (2)")
		want(t, s, "SELECT * FROM "+name+" ORDER BY id", `[1]`, `[2]`)
		config := configOf(t, s, root, name)
		if _, theirs := config.Properties()["io.unitycatalog.tableId"]; config.Supports("catalogManaged") || theirs {
			t.Errorf("%s: %+v, %v", name, config.Protocol, config.Properties())
		}
	}
}
