package sqlengine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Maintenance between any two changes leaves the rows as they are, their ids and versions, and every older version; it is silent in
// the change feed, and RESTORE and clones have just the rows of what they follow.
func TestMaintenanceChangesNoRows(t *testing.T) {
	layouts := map[string]string{
		"plain":     "TBLPROPERTIES (%s)",
		"parts":     "PARTITIONED BY (p) TBLPROPERTIES (%s)",
		"clustered": "CLUSTER BY (v, n.x) TBLPROPERTIES (%s, 'delta.columnMapping.mode' = 'name')",
		"vectors":   "PARTITIONED BY (p) TBLPROPERTIES (%s, 'delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '3')",
	}
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				maintainHistory(t, layout, name == "clustered", seed)
			}
		})
	}
}

func maintainHistory(t *testing.T, layout string, clustered bool, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir(), Threads: 1}), SessionOptions{Settings: map[string]string{"deltasql_dialect": "spark"}})
	run := func(sql string) {
		t.Helper()
		if _, _, err := answer(s, sql); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, sql, err)
		}
	}
	rows := func(from string) string {
		t.Helper()
		return strings.Join(answered(t, s, "SELECT id, v, n, p FROM "+from+" ORDER BY id, v, p"), "\n")
	}
	ids := func() string {
		t.Helper()
		return strings.Join(answered(t, s, "SELECT id, v, p, _metadata.row_id AS r, _metadata.row_commit_version AS c FROM t ORDER BY r"), "\n")
	}
	version := func() int64 {
		t.Helper()
		table, err := s.engine.catalog.table(filepath.Join(s.engine.catalog.root, "default", "t"))
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.Version()
	}
	run("CREATE TABLE t (id INT, v DOUBLE, n STRUCT<x: INT, y: STRING>, p INT) USING delta " +
		fmt.Sprintf(layout, "'delta.enableRowTracking' = 'true', 'delta.enableChangeDataFeed' = 'true'"))
	history := map[int64]string{version(): rows("t")}
	next := 0
	for range 14 {
		switch random.IntN(4) {
		case 0, 1:
			var values []string
			for range 1 + random.IntN(8) {
				values = append(values, fmt.Sprintf("(%d, %d, named_struct('x', %d, 'y', 'k%d'), %d)", next, random.IntN(50), random.IntN(9), next%3, random.IntN(3)))
				next++
			}
			run("INSERT INTO t VALUES " + strings.Join(values, ", "))
		case 2:
			run(fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id %% 4 = %d", random.IntN(4)))
		case 3:
			run(fmt.Sprintf("DELETE FROM t WHERE id %% 5 = %d AND v < 30", random.IntN(5)))
		}
		history[version()] = rows("t")
		before, tracked, at := rows("t"), ids(), version()
		statements := []string{"OPTIMIZE t", "REORG TABLE t APPLY (PURGE)", "ANALYZE TABLE t COMPUTE DELTA STATISTICS", "CHECKPOINT t", "VACUUM t", "VACUUM t LITE", "FSCK REPAIR TABLE t", "COMPACT LOG t"}
		if clustered {
			statements = append(statements, "OPTIMIZE t FULL")
		} else {
			statements = append(statements, "OPTIMIZE t ZORDER BY (v, n.x)", "OPTIMIZE t ZORDER BY (n.y)")
		}
		statement := statements[random.IntN(len(statements))]
		run(statement)
		if after := rows("t"); after != before {
			t.Fatalf("seed %d: %s changed rows:\n%s\nbefore\n%s", seed, statement, after, before)
		}
		if after := ids(); after != tracked {
			t.Fatalf("seed %d: %s changed ids:\n%s\nbefore\n%s", seed, statement, after, tracked)
		}
		if now := version(); now > at {
			want(t, s, fmt.Sprintf("SELECT count(*) FROM table_changes('t', %d, %d)", at+1, now), "[0]")
			history[now] = before
		}
		if random.IntN(4) == 0 {
			var versions []int64
			for v := range history {
				versions = append(versions, v)
			}
			back := versions[random.IntN(len(versions))]
			if back == version() {
				continue
			}
			run(fmt.Sprintf("RESTORE TABLE t TO VERSION AS OF %d", back))
			if after := rows("t"); after != history[back] {
				t.Fatalf("seed %d: RESTORE to %d gave\n%s\nand not\n%s", seed, back, after, history[back])
			}
			history[version()] = history[back]
			want(t, s, "SELECT count(*) - count(DISTINCT _metadata.row_id) FROM t", "[0]")
		}
	}
	for v, then := range history {
		if got := rows(fmt.Sprintf("t VERSION AS OF %d", v)); got != then {
			t.Errorf("seed %d: version %d is\n%s\nand was\n%s", seed, v, got, then)
		}
	}
	run("CREATE TABLE c SHALLOW CLONE t")
	run("CREATE TABLE d DEEP CLONE t")
	last := rows("t")
	run("DELETE FROM c WHERE id % 2 = 0")
	run("INSERT INTO t VALUES (-1, 0, NULL, 1)")
	run("CREATE OR REPLACE TABLE d DEEP CLONE t")
	if rows("d") != rows("t") || rows("t") == last {
		t.Errorf("seed %d: the deep clone does not follow its source", seed)
	}
	run("INSERT INTO c VALUES (-2, 0, NULL, 1)")
	want(t, s, "SELECT count(*) - count(DISTINCT _metadata.row_id) FROM c", "[0]")
	want(t, s, "SELECT count(*) - count(DISTINCT _metadata.row_id) FROM d", "[0]")
	for _, m := range answered(t, s, "CHECK TABLE t, c, d") {
		if !strings.Contains(m, `"OK"`) {
			t.Errorf("seed %d: %s", seed, m)
		}
	}
}

// VACUUM deletes what is old and not referred to, and nothing else (bugs MT-01).
func TestVacuumKeepsWhatIsNeeded(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	want(t, s, "CREATE TABLE v (id INT, _p INT) USING delta PARTITIONED BY (_p) LOCATION '"+folder+"' TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	want(t, s, "INSERT INTO v VALUES (1, 1), (2, 1), (3, 1)")
	want(t, s, "DELETE FROM v WHERE id = 2")
	old, young := time.Now().Add(-10*24*time.Hour), time.Now().Add(-time.Hour)
	place := func(name string, at time.Time) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	gone := []string{"orphan.parquet", "_p=1/part-9.parquet", "ab/deletion_vector_x.bin", "_change_data/cdc-1.parquet", "staging-1/data_0.parquet"}
	kept := []string{"_delta_index/i", ".hidden/h", "_tmp/t", ".f", "nested/_delta_log/00000000000000000000.json", "nested/part-1.parquet"}
	for _, name := range append(gone, kept...) {
		place(name, old)
	}
	kept = append(kept, "young.parquet", "staging-2/data_0.parquet")
	place("young.parquet", young)
	place("staging-2/data_0.parquet", young)
	if _, _, err := answer(s, "RESTORE TABLE v TO VERSION AS OF 1"); err != nil { // the vector is superseded, and young
		t.Fatal(err)
	}
	if listed := answered(t, s, "VACUUM v DRY RUN"); len(listed) != len(gone) {
		t.Errorf("the dry run lists %v", listed)
	}
	want(t, s, "VACUUM v", `["file:`+folder+`"]`)
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "staging-1")); err == nil {
		t.Error("the folder of a writer that died is still there")
	}
	want(t, s, "SELECT count(*) FROM v VERSION AS OF 2", "[2]")
	history := answered(t, s, "DESCRIBE HISTORY v LIMIT 2")
	if !strings.Contains(history[1], `"VACUUM START"`) || !strings.Contains(history[1], `["numFilesToDelete","5"]`) || !strings.Contains(history[0], `["numDeletedFiles","5"]`) {
		t.Errorf("history says %v", history)
	}
}

// Files that another took away: RESTORE names them before it writes, FSCK takes them out.
func TestMissingFiles(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	want(t, s, "CREATE TABLE m (id INT) USING delta LOCATION '"+folder+"'")
	want(t, s, "INSERT INTO m VALUES (1)")
	want(t, s, "INSERT INTO m VALUES (2)")
	want(t, s, "DELETE FROM m WHERE id = 1")
	entries, err := filepath.Glob(filepath.Join(folder, "part-*"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v %v", entries, err)
	}
	for _, path := range entries {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	refused := refuse(t, s, "RESTORE TABLE m TO VERSION AS OF 2", "DELTA_FILE_NOT_FOUND_DETAILED")
	if !strings.Contains(refused.Message, "part-") {
		t.Errorf("%v does not name the file", refused)
	}
	if listed := answered(t, s, "FSCK REPAIR TABLE m DRY RUN"); len(listed) != 1 || !strings.Contains(listed[0], "true") {
		t.Errorf("FSCK would repair %v", listed)
	}
	want(t, s, "FSCK REPAIR TABLE m", "[1]")
	want(t, s, "SELECT count(*) FROM m", "[0]")
	want(t, s, "FSCK REPAIR TABLE m", "[0]")
}

// Two optimizers and writers at once lose no row and make none.
func TestOptimizersAndWriters(t *testing.T) {
	engine := openEngine(t, Options{Catalog: t.TempDir(), Threads: 1})
	first := openSession(t, engine, SessionOptions{})
	want(t, first, "CREATE TABLE t (id INT, w INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	var group sync.WaitGroup
	for w := range 3 {
		group.Go(func() {
			s := openSession(t, engine, SessionOptions{})
			for i := range 12 {
				if _, _, err := answer(s, fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", i, w)); err != nil {
					t.Errorf("insert: %v", err)
				}
			}
		})
	}
	for range 2 {
		group.Go(func() {
			s := openSession(t, engine, SessionOptions{})
			for range 8 {
				if _, _, err := answer(s, "OPTIMIZE t"); err != nil {
					t.Errorf("OPTIMIZE: %v", err)
				}
				if _, _, err := answer(s, "VACUUM t"); err != nil {
					t.Errorf("VACUUM: %v", err)
				}
			}
		})
	}
	group.Wait()
	want(t, first, "SELECT count(*), count(DISTINCT id * 10 + w) FROM t", "[36,36]")
}

// Small files are packed behind the commit that makes one too many, where the table asks for it.
func TestAutoCompaction(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	want(t, s, "CREATE TABLE a (id INT) USING delta TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')")
	for i := range autoCompactFiles {
		want(t, s, fmt.Sprintf("INSERT INTO a VALUES (%d)", i))
	}
	want(t, s, "SELECT count(*), count(DISTINCT _metadata.file_path) FROM a", fmt.Sprintf("[%d,1]", autoCompactFiles))
}

// CONVERT takes the columns of all files, keeps values as they are, and counts them.
func TestConvert(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	want(t, s, "CREATE TABLE one AS SELECT 1 AS a, 'x' AS b")
	want(t, s, "CREATE TABLE two AS SELECT 2 AS a, CAST('NaN' AS DOUBLE) AS c")
	want(t, s, "CREATE TABLE bad AS SELECT 'text' AS a")
	copyTo := func(table, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, _, err := answer(s, "COPY "+table+" TO '"+filepath.Join(folder, name)+"' (FORMAT parquet)"); err != nil {
			t.Fatal(err)
		}
	}
	copyTo("one", "d=2024-01-02/x 1.parquet")
	copyTo("two", "d=__HIVE_DEFAULT_PARTITION__/y.parquet")
	from := "CONVERT TO DELTA parquet.`" + folder + "`"
	refuse(t, s, from, "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME")
	refuse(t, s, from+" PARTITIONED BY (e DATE)", "DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME")
	refuse(t, s, from+" PARTITIONED BY (d INT)", "DELTA_FAILED_CAST_PARTITION_VALUE")
	copyTo("bad", "d=2024-01-03/z.parquet")
	refuse(t, s, from+" PARTITIONED BY (d DATE)", "DELTA_FAILED_MERGE_SCHEMA_FILE")
	if err := os.RemoveAll(filepath.Join(folder, "d=2024-01-03")); err != nil {
		t.Fatal(err)
	}
	want(t, s, from+" PARTITIONED BY (d DATE)")
	want(t, s, "SELECT * FROM delta.`"+folder+"` ORDER BY a", `[1,"x",null,"2024-01-02"]`, `[2,null,"NaN",null]`)
	want(t, s, "SELECT count(b), min(a), max(a) FROM delta.`"+folder+"`", "[1,1,2]")
	want(t, s, from) // it is one already
	want(t, s, "SELECT a FROM delta.`"+folder+"` WHERE d IS NULL", "[2]")
}
