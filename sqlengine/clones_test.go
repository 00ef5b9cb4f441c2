package sqlengine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deltasql/protocol"
)

// Several deep clones into one table at once: those that lose take away only what they copied themselves.
func TestConcurrentDeepClones(t *testing.T) {
	root := t.TempDir()
	engines := []*Engine{openEngine(t, Options{Catalog: root}), openEngine(t, Options{Catalog: root})}
	s := openSession(t, engines[0], SessionOptions{})
	run := func(sql string) {
		t.Helper()
		if _, err := s.Execute(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE TABLE source (id BIGINT, p BIGINT) PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	run("INSERT INTO source SELECT id, id % 4 FROM range(40)")
	run("DELETE FROM source WHERE id < 8")
	for round := range 6 {
		form := "CREATE TABLE u DEEP CLONE source"
		if round > 0 {
			run(fmt.Sprintf("INSERT INTO source VALUES (%d, %d)", 100+round, round))
			run(fmt.Sprintf("DELETE FROM source WHERE id = %d", 10+round))
			form = "CREATE OR REPLACE TABLE u DEEP CLONE source"
		}
		var all sync.WaitGroup
		var errs [5]error
		for i := range errs {
			s := openSession(t, engines[i%2], SessionOptions{})
			all.Go(func() { _, errs[i] = s.Execute(t.Context(), form) })
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			switch class := string(protocol.ClassOf(err)); {
			case err == nil:
				made++
			case class != "DELTA_TABLE_ALREADY_EXISTS" && !strings.Contains(class, "CONCURRENT") && class != "DELTA_METADATA_CHANGED" && class != "DELTA_PROTOCOL_CHANGED":
				t.Errorf("round %d: %v", round, err)
			}
		}
		if made == 0 {
			t.Fatalf("round %d: nobody made the clone: %v", round, errs)
		}
		whole := answered(t, s, "SELECT * FROM source ORDER BY id")
		if got := answered(t, s, "SELECT * FROM u ORDER BY id"); strings.Join(got, " ") != strings.Join(whole, " ") {
			t.Fatalf("round %d: the clone has\n%s\nand the source\n%s", round, got, whole)
		}
		want(t, s, "FSCK REPAIR TABLE u", "[0]")
	}
	log, err := filepath.Glob(filepath.Join(root, "default", "u", "_delta_log", "*.json"))
	if err != nil || len(log) < 6 {
		t.Errorf("the clone has the commits %q: %v", log, err)
	}
}

// A deep clone that is made once more copies what came and no more, and undoes what was done to the clone itself.
func TestDeepCloneFollows(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	run := func(sql string) {
		t.Helper()
		if _, err := s.Execute(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	const copied = "CREATE OR REPLACE TABLE u DEEP CLONE s"
	again := func(files int) {
		t.Helper()
		got := answered(t, s, copied)
		if len(got) != 1 || strings.Split(strings.Trim(got[0], "[]"), ",")[3] != fmt.Sprint(files) {
			t.Errorf("files copied: %s, wanted %d", got, files)
		}
		if a, b := answered(t, s, "SELECT * FROM s ORDER BY id"), answered(t, s, "SELECT * FROM u ORDER BY id"); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("the clone has %s and the source %s", b, a)
		}
	}
	run("CREATE TABLE s (id BIGINT, v STRING) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	run("INSERT INTO s SELECT id, 'a' FROM range(20)")
	run("INSERT INTO s SELECT id + 20, 'b' FROM range(20)")
	again(2)
	again(0)
	run("INSERT INTO s VALUES (99, 'c')")
	again(1)
	run("DELETE FROM s WHERE id = 3")
	again(1) // the vector, not the file of the rows
	again(0)
	run("DELETE FROM u WHERE id = 4") // by the clone's own vector
	again(1)
	run("UPDATE u SET v = 'z' WHERE id > 30")
	again(1) // of one file the rows are there, under a vector; the other is gone
	run("RESTORE TABLE s TO VERSION AS OF 1")
	again(0)
	want(t, s, "SELECT count(*) FROM u VERSION AS OF 0", "[40]")
	want(t, s, "SELECT count(*) FROM u VERSION AS OF 2", "[41]")
}

// Of a deep clone's files, those that a failed clone has written are deleted, and no others: those that older versions of the clone
// have stay.
func TestFailedDeepCloneKeepsOlderVersions(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	source := t.TempDir()
	want(t, s, "CREATE TABLE s (id INT) USING delta LOCATION '"+source+"' TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	want(t, s, "INSERT INTO s VALUES (1), (2)")
	want(t, s, "DELETE FROM s WHERE id = 2")
	answered(t, s, "CREATE TABLE c DEEP CLONE s")
	want(t, s, "INSERT OVERWRITE s VALUES (3)")
	answered(t, s, "CREATE OR REPLACE TABLE c DEEP CLONE s")
	before, err := filepath.Glob(filepath.Join(source, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	answered(t, s, "RESTORE TABLE s TO VERSION AS OF 2")
	want(t, s, "INSERT INTO s VALUES (4)")
	after, err := filepath.Glob(filepath.Join(source, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range after {
		if !strings.Contains(strings.Join(before, "\n"), name) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	refuse(t, s, "CREATE OR REPLACE TABLE c DEEP CLONE s", "DELTA_FILE_NOT_FOUND_DETAILED")
	want(t, s, "SELECT id FROM c", "[3]")
	want(t, s, "SELECT id FROM c VERSION AS OF 0", "[1]")
}

// A vector that the source refers to in another table's folder is copied with the rest.
func TestDeepCloneOfShallowClone(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	want(t, s, "CREATE TABLE a (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	want(t, s, "INSERT INTO a VALUES (1), (2), (3)")
	want(t, s, "DELETE FROM a WHERE id = 2")
	answered(t, s, "CREATE TABLE s SHALLOW CLONE a")
	answered(t, s, "CREATE TABLE d DEEP CLONE s")
	want(t, s, "SELECT id FROM d ORDER BY id", "[1]", "[3]")
	for _, m := range answered(t, s, "CHECK TABLE d") {
		if !strings.Contains(m, `"OK"`) {
			t.Error(m)
		}
	}
	counts := answered(t, s, "CREATE OR REPLACE TABLE d DEEP CLONE s")
	if len(counts) != 1 || !strings.HasSuffix(counts[0], ",1,0,0,0,0]") {
		t.Errorf("a clone of what has not changed answers %v", counts)
	}
	want(t, s, "DELETE FROM d WHERE id = 3")
	answered(t, s, "CREATE OR REPLACE TABLE d DEEP CLONE s")
	want(t, s, "SELECT id FROM d ORDER BY id", "[1]", "[3]")
	want(t, s, "DROP TABLE a")
	want(t, s, "SELECT id FROM d ORDER BY id", "[1]", "[3]")
}

// Files of one name in different folders of a source stay different files.
func TestDeepCloneOfEqualNames(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	for _, p := range []string{"1", "2"} {
		if err := os.Mkdir(filepath.Join(folder, "p="+p), 0o777); err != nil {
			t.Fatal(err)
		}
		want(t, s, "COPY (SELECT "+p+" AS id) TO '"+filepath.Join(folder, "p="+p, "x.parquet")+"'")
	}
	want(t, s, "CONVERT TO DELTA parquet.`"+folder+"` PARTITIONED BY (p INT)")
	answered(t, s, "CREATE TABLE s SHALLOW CLONE delta.`"+folder+"`")
	answered(t, s, "CREATE TABLE d DEEP CLONE s")
	want(t, s, "SELECT id, p FROM d ORDER BY id", "[1,1]", "[2,2]")
}

// A clone that takes after another table has the rows of that, though files of both may have one name and one size.
func TestDeepCloneOfAnotherTable(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	for i, name := range []string{"a", "b"} {
		folder := t.TempDir()
		want(t, s, fmt.Sprintf("COPY (SELECT %d AS id) TO '%s'", i, filepath.Join(folder, "x.parquet")))
		want(t, s, "CONVERT TO DELTA parquet.`"+folder+"`")
		want(t, s, "CREATE TABLE "+name+" LOCATION '"+folder+"'")
	}
	answered(t, s, "CREATE TABLE c DEEP CLONE a")
	answered(t, s, "CREATE OR REPLACE TABLE c DEEP CLONE b")
	want(t, s, "SELECT id FROM c", "[1]")
	// A shallow clone of a deep one becomes a deep one: all of its files are its own.
	answered(t, s, "CREATE TABLE d SHALLOW CLONE c")
	answered(t, s, "CREATE OR REPLACE TABLE d DEEP CLONE b")
	want(t, s, "DROP TABLE c")
	want(t, s, "SELECT id FROM d", "[1]")
}

// VACUUM of a table keeps what shallow clones of it refer to, also clones of clones and those outside of the catalog, as long as they are
// there.
func TestVacuumSparesClones(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	clock := time.Now()
	engine := openEngine(t, Options{Catalog: root, Clock: func() time.Time { return clock }})
	s := openSession(t, engine, SessionOptions{})
	run := func(sql string) {
		t.Helper()
		if _, _, err := answer(s, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	left := func() int {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(root, "default", "s", "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	const vacuum = "VACUUM s RETAIN 0 HOURS"
	run("SET spark.databricks.delta.retentionDurationCheck.enabled = false")
	run("CREATE TABLE s (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	run("INSERT INTO s SELECT id FROM range(10)")
	run("DELETE FROM s WHERE id = 3")
	run("CREATE TABLE sh SHALLOW CLONE s")
	run("CREATE TABLE deeper SHALLOW CLONE sh LOCATION '" + outside + "/deeper'")
	run("INSERT INTO sh VALUES (50)")
	run("INSERT OVERWRITE s VALUES (7)")
	run("DELETE FROM sh WHERE id = 4") // by a vector of the clone's own
	clock = clock.Add(24 * time.Hour)
	want(t, s, vacuum+" DRY RUN")
	run(vacuum)
	if left() != 3 {
		t.Errorf("%d files are left, and three are needed", left())
	}
	want(t, s, "SELECT count(*), sum(id) FROM sh", "[9,88]")
	want(t, s, "SELECT count(*), sum(id) FROM deeper", "[9,42]")

	// The clone's older versions need them inside the clone's own retention.
	run("TRUNCATE TABLE sh")
	run("DROP TABLE deeper")
	if err := os.RemoveAll(filepath.Join(outside, "deeper")); err != nil {
		t.Fatal(err)
	}
	run(vacuum)
	want(t, s, "SELECT count(*), sum(id) FROM sh VERSION AS OF 0", "[9,42]")

	// A clone that cannot be read stops VACUUM, also the dry run.
	commit := filepath.Join(root, "default", "sh", "_delta_log", "00000000000000000000.json")
	whole, err := os.ReadFile(commit)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(commit, []byte("{\"add\":1}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	other := openSession(t, openEngine(t, Options{Catalog: root, Clock: func() time.Time { return clock }}), SessionOptions{})
	if _, _, err := answer(other, "SET spark.databricks.delta.retentionDurationCheck.enabled = false"); err != nil {
		t.Fatal(err)
	}
	refuse(t, other, vacuum, "DELTASQL_CLONE_NOT_READABLE")
	refuse(t, other, vacuum+" DRY RUN", "DELTASQL_CLONE_NOT_READABLE")
	if left() != 3 {
		t.Errorf("%d files are left of three", left())
	}
	if err := os.WriteFile(commit, whole, 0o666); err != nil {
		t.Fatal(err)
	}

	// A clone that may be on its way is spared, one that is long gone is not.
	run("DROP TABLE sh")
	run(vacuum)
	if left() != 3 {
		t.Errorf("%d files are left of three that a clone may be about to refer to", left())
	}
	clock = clock.Add(8 * 24 * time.Hour)
	run(vacuum)
	if left() != 1 {
		t.Errorf("%d files are left of the one that is needed", left())
	}
	want(t, s, "SELECT id FROM s", "[7]")
	if entries, err := filepath.Glob(filepath.Join(root, "_deltasql", "clones", "*", "*.json")); err != nil || len(entries) > 1 { // the one of sh, as a source
		t.Errorf("the entries %q of clones are left: %v", entries, err)
	}
}
