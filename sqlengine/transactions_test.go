package sqlengine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

func TestTransactions(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	other := openSession(t, s.engine, SessionOptions{})
	want(t, s, "CREATE TABLE a (id INT, s STRING)")
	want(t, s, "CREATE TABLE b (id INT)")
	want(t, s, "INSERT INTO a VALUES (1, 'x')")

	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO a VALUES (2, 'y')")
	want(t, s, "SAVEPOINT p")
	want(t, s, "INSERT INTO a SELECT id + 10, s FROM a")
	want(t, s, "SELECT id FROM a ORDER BY id", `[1]`, `[2]`, `[11]`, `[12]`)
	want(t, other, "SELECT id FROM a ORDER BY id", `[1]`)
	refuse(t, s, "INSERT INTO b VALUES (1)", "DELTASQL_MULTI_TABLE_TRANSACTION")
	refuse(t, s, "INSERT INTO a VALUES ('nonsense', 'x')", "CAST_INVALID_INPUT")
	want(t, s, "ROLLBACK TO SAVEPOINT p")
	want(t, s, "SELECT id FROM a ORDER BY id", `[1]`, `[2]`)
	refuse(t, s, "ROLLBACK TO nowhere", "DELTASQL_NO_SAVEPOINT")
	want(t, other, "INSERT INTO b VALUES (5)")
	want(t, s, "COMMIT")
	want(t, other, "SELECT id FROM a ORDER BY id", `[1]`, `[2]`)
	want(t, s, "SELECT version, operation FROM (SELECT 1 AS version, 'WRITE' AS operation)", `[1,"WRITE"]`)

	want(t, s, "START TRANSACTION")
	want(t, s, "INSERT OVERWRITE a VALUES (9, 'z')")
	want(t, s, "SELECT id FROM a", `[9]`)
	want(t, s, "ROLLBACK")
	want(t, s, "SELECT id FROM a ORDER BY id", `[1]`, `[2]`)

	want(t, s, "START TRANSACTION READ ONLY")
	refuse(t, s, "INSERT INTO a VALUES (3, 'z')", "DELTASQL_READ_ONLY")
	want(t, s, "SELECT count(*) FROM b", `[1]`)
	want(t, other, "INSERT INTO b VALUES (6)")
	want(t, s, "SELECT count(*) FROM b", `[1]`)
	want(t, s, "COMMIT")
	want(t, s, "SELECT count(*) FROM b", `[2]`)

	want(t, s, "SET autocommit = 0")
	want(t, s, "INSERT INTO b VALUES (7)")
	want(t, other, "SELECT count(*) FROM b", `[2]`)
	want(t, s, "CREATE TABLE c (id INT)") // which ends the transaction first
	want(t, other, "SELECT count(*) FROM b", `[3]`)
	want(t, s, "INSERT INTO b VALUES (8)")
	want(t, s, "SET autocommit = 1")
	want(t, other, "SELECT count(*) FROM b", `[4]`)
}

// TestTransactionsThatMixKinds: a commit of several statements keeps the duties of all of them.
func TestTransactionsThatMixKinds(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	// Rows that are inserted have no ids to keep, also where another statement removes files.
	want(t, s, "CREATE TABLE tracked (id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'false')")
	want(t, s, "INSERT INTO tracked VALUES (1), (2)")
	want(t, s, "BEGIN")
	want(t, s, "DELETE FROM tracked WHERE id = 1")
	want(t, s, "INSERT INTO tracked VALUES (3)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id, _metadata.row_id < 2 FROM tracked ORDER BY id", `[2,true]`, `[3,false]`)

	// What an overwrite removes stands in change files where the statement before it has made some.
	want(t, s, "CREATE TABLE fed (id INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
	want(t, s, "INSERT INTO fed VALUES (1), (2)")
	want(t, s, "BEGIN")
	want(t, s, "UPDATE fed SET id = 5 WHERE id = 1")
	want(t, s, "INSERT OVERWRITE fed VALUES (9)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id, sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END) AS n FROM table_changes('fed', 2) GROUP BY id HAVING n <> 0 ORDER BY id",
		`[1,-1]`, `[2,-1]`, `[9,1]`)
}

// TestTransactionsThatEvolve: what a transaction did before it gave the table a column is fed with that column.
func TestTransactionsThatEvolve(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	for _, vectors := range []string{"true", "false"} {
		name := "evolving_" + vectors
		want(t, s, "CREATE TABLE "+name+" (id INT, st STRUCT<x: INT>) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"', 'delta.columnMapping.mode' = 'name')")
		want(t, s, "INSERT INTO "+name+" VALUES (1, named_struct('x', 1)), (2, NULL)")
		want(t, s, "INSERT INTO "+name+" VALUES (3, named_struct('x', 3))")
		want(t, s, "BEGIN")
		want(t, s, "DELETE FROM "+name+" WHERE id = 3") // a whole file
		if vectors == "true" {
			want(t, s, "DELETE FROM "+name+" WHERE id = 2")
		}
		want(t, s, "MERGE WITH SCHEMA EVOLUTION INTO "+name+" t USING (SELECT 1 AS id, named_struct('x', 5, 'y', 'new') AS st, 'e' AS extra) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
			`[1,1,0,0]`)
		want(t, s, "COMMIT")
		changes := []string{`["update_postimage",1,"new","e"]`, `["update_preimage",1,null,null]`}
		if vectors == "true" {
			changes = append([]string{`["delete",2,null,null]`}, changes...)
		}
		changes = append([]string{`["delete",3,null,null]`}, changes...)
		if vectors == "true" {
			changes[0], changes[1] = changes[1], changes[0]
		}
		want(t, s, "SELECT _change_type, id, st.y, extra FROM table_changes('"+name+"', 3) ORDER BY 1, 2", changes...)
	}
}

// TestTransactionsDependOnWhatTheirQueriesRead: a commit that rests on a count that is no longer right is a conflict.
func TestTransactionsDependOnWhatTheirQueriesRead(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	other := openSession(t, s.engine, SessionOptions{})
	want(t, s, "CREATE TABLE slots (id INT, p STRING) PARTITIONED BY (p)")
	want(t, s, "INSERT INTO slots VALUES (1, 'a')")
	for _, query := range []string{"SELECT count(*) FROM slots WHERE p = 'a'", "SELECT max(id) + 1 FROM slots WHERE p = 'a'"} {
		for _, meanwhile := range []string{"INSERT INTO slots VALUES (9, 'a')", "DELETE FROM slots WHERE id = 9"} {
			want(t, s, "BEGIN")
			if _, err := s.Execute(t.Context(), query); err != nil {
				t.Fatal(err)
			}
			want(t, other, meanwhile)
			want(t, s, "INSERT INTO slots VALUES (2, 'a')")
			result, err := s.Execute(t.Context(), "COMMIT")
			if info, ok := protocol.InfoOf(protocol.ClassOf(err)); !ok || info.Errno != 1213 {
				t.Errorf("%s, %s: %v, %v", query, meanwhile, result, err)
			}
		}
		want(t, s, "BEGIN")
		if _, err := s.Execute(t.Context(), query); err != nil {
			t.Fatal(err)
		}
		want(t, other, "INSERT INTO slots VALUES (3, 'b')") // which the query does not read
		want(t, s, "INSERT INTO slots VALUES (4, 'c')")
		want(t, s, "COMMIT")
	}
}

// A statement that found no row, or failed, leaves the transaction free to change another table.
func TestTransactionIsOfTheTableThatChanges(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	want(t, s, "CREATE TABLE a (id INT)")
	want(t, s, "CREATE TABLE b (id INT)")
	want(t, s, "INSERT INTO b VALUES (1)")
	want(t, s, "BEGIN")
	want(t, s, "DELETE FROM a WHERE id = 9")
	want(t, s, "SAVEPOINT p")
	refuse(t, s, "INSERT INTO a VALUES ('x')", "CAST_INVALID_INPUT")
	want(t, s, "UPDATE b SET id = 2")
	refuse(t, s, "INSERT INTO a VALUES (1)", "DELTASQL_MULTI_TABLE_TRANSACTION")
	want(t, s, "ROLLBACK TO p")
	want(t, s, "SELECT id FROM b", `[1]`)
	want(t, s, "INSERT INTO a VALUES (3)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id FROM a", `[3]`)
	want(t, s, "SELECT id FROM b", `[1]`)
}

// TestOneTableByTwoPaths: a table that is reached by its name, by its path and over a symbolic link is one table, for the version that a
// transaction reads, for what it sees of its own changes and for the conflicts that its reads make.
func TestOneTableByTwoPaths(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	other := openSession(t, s.engine, SessionOptions{})
	want(t, s, "CREATE TABLE slots (id INT, p STRING) PARTITIONED BY (p)")
	want(t, s, "INSERT INTO slots VALUES (1, 'a')")
	folder := filepath.Join(root, "default", "slots")
	if info, err := os.Stat(filepath.Join(folder, "_delta_log")); err != nil || !info.IsDir() {
		t.Fatal("the table is not where it is looked for", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	conflict := func(text string) {
		t.Helper()
		_, _, err := answer(s, text)
		if info, ok := protocol.InfoOf(protocol.ClassOf(err)); !ok || info.Errno != 1213 {
			t.Errorf("%s: %v is no conflict", text, err)
		}
	}
	for _, names := range [][2]string{
		{"slots", "delta.`" + folder + "`"}, {"slots", "delta.`" + link + "`"}, {"delta.`" + link + "`", "slots"}, {"delta.`" + link + "/`", "delta.`file:" + folder + "`"},
	} {
		read, changed := names[0], names[1]
		// Its own changes are seen by either name, and the version stays the one that was read first.
		want(t, s, "BEGIN")
		want(t, s, "SELECT count(*) FROM "+read+" WHERE p = 'b'", `[0]`)
		want(t, other, "INSERT INTO "+read+" VALUES (5, 'c')")
		want(t, s, "SELECT count(*) FROM "+changed+" WHERE p = 'c'", `[0]`)
		want(t, s, "INSERT INTO "+changed+" VALUES (2, 'b')")
		want(t, s, "INSERT INTO "+read+" SELECT id + 1, p FROM "+changed+" WHERE p = 'b'")
		want(t, s, "SELECT id FROM "+read+" WHERE p = 'b' ORDER BY id", `[2]`, `[3]`)
		want(t, s, "UPDATE "+changed+" SET id = id + 10 WHERE p = 'b' AND id IN (SELECT id FROM "+read+" WHERE p = 'b')")
		want(t, s, "SELECT id FROM "+read+" WHERE p = 'b' ORDER BY id", `[12]`, `[13]`)
		want(t, s, "ROLLBACK")
		// A read by one name is a dependence of a change by the other.
		want(t, s, "BEGIN")
		want(t, s, "SELECT count(*) FROM "+read+" WHERE p = 'a'", `[1]`)
		want(t, other, "INSERT INTO slots VALUES (9, 'a')")
		want(t, s, "INSERT INTO "+changed+" VALUES (2, 'a')")
		conflict("COMMIT")
		want(t, s, "BEGIN")
		want(t, s, "INSERT INTO "+changed+" SELECT id, 'd' FROM "+read+" WHERE p = 'a'")
		want(t, other, "DELETE FROM slots WHERE id = 9")
		conflict("COMMIT")
		want(t, other, "DELETE FROM slots WHERE p <> 'a'")
		want(t, s, "SELECT id, p FROM slots", `[1,"a"]`)
	}
	want(t, s, "CREATE TABLE second (id INT)")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO slots VALUES (4, 'a')")
	refuse(t, s, "INSERT INTO second VALUES (1)", "DELTASQL_MULTI_TABLE_TRANSACTION")
	want(t, s, "INSERT INTO delta.`"+link+"` VALUES (5, 'a')")
	want(t, s, "COMMIT")
	want(t, s, "SELECT count(*) FROM slots", `[3]`)
}

// TestSessionsEndInTheMiddle: a session that is closed, or whose statement is cancelled, inside a transaction leaves the table and its
// folder as they were.
func TestSessionsEndInTheMiddle(t *testing.T) {
	root := t.TempDir()
	engine := openEngine(t, Options{Catalog: root})
	other := openSession(t, engine, SessionOptions{})
	want(t, other, "CREATE TABLE t (id INT, v INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
	want(t, other, "INSERT INTO t VALUES (1, 1), (2, 2)")
	files := func() (names []string) {
		t.Helper()
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := files()
	s := openSession(t, engine, SessionOptions{})
	want(t, s, "BEGIN")
	want(t, s, "UPDATE t SET v = v + 1 WHERE id = 1")
	want(t, s, "INSERT INTO t VALUES (3, 3)")
	staged := files()
	if slices.Equal(staged, before) {
		t.Fatal("nothing is staged")
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := s.Execute(ctx, "INSERT INTO t SELECT CAST(a.id AS INT), 0 FROM range(100000) a, range(100000) b"); err == nil {
		t.Error("the cancelled statement succeeded")
	}
	if after := files(); !slices.Equal(after, staged) {
		t.Errorf("the cancelled statement left %q", after)
	}
	want(t, s, "SELECT id, v FROM t ORDER BY id", `[1,2]`, `[2,2]`, `[3,3]`) // the transaction goes on
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := files(); !slices.Equal(after, before) {
		t.Errorf("the closed session left %q", after)
	}
	want(t, other, "SELECT id, v FROM t ORDER BY id", `[1,1]`, `[2,2]`)
}

// TestTargetsThatAreDropped: what a transaction changes may be dropped meanwhile, by itself where it is temporary, or by another session.
func TestTargetsThatAreDropped(t *testing.T) {
	engine := openEngine(t, Options{Catalog: t.TempDir()})
	s, other := openSession(t, engine, SessionOptions{}), openSession(t, engine, SessionOptions{})
	outside := t.TempDir()

	// A temporary table that hides a stored one: with it goes what the transaction did to it, and the stored one can be changed.
	want(t, s, "CREATE TABLE x (id INT)")
	want(t, s, "CREATE TEMPORARY TABLE x (id INT)")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO x VALUES (1)")
	want(t, s, "DROP TEMPORARY TABLE x")
	want(t, s, "SELECT count(*) FROM x", `[0]`)
	want(t, s, "INSERT INTO x VALUES (7)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id FROM x", `[7]`)
	// The same where nothing else is changed, and with a savepoint of before the drop.
	want(t, s, "CREATE TEMPORARY TABLE x (id INT)")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO x VALUES (1)")
	want(t, s, "SAVEPOINT p")
	want(t, s, "INSERT INTO x VALUES (2)")
	want(t, s, "DROP TEMPORARY TABLE x")
	want(t, s, "ROLLBACK TO p")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id FROM x", `[7]`)

	// A temporary view over the changed table.
	want(t, s, "CREATE TEMPORARY VIEW v AS SELECT id FROM x")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO x VALUES (8)")
	want(t, s, "SELECT count(*) FROM v", `[2]`)
	want(t, s, "DROP VIEW v")
	want(t, s, "INSERT INTO x VALUES (9)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT count(*) FROM x", `[3]`)

	// An external table loses its name; the transaction was begun on its folder, which is still a table.
	want(t, s, "CREATE TABLE e (id INT) LOCATION '"+outside+"'")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO e VALUES (1)")
	want(t, other, "DROP TABLE e")
	refuse(t, s, "SELECT * FROM e", "DELTA_TABLE_NOT_FOUND")
	want(t, s, "COMMIT")
	want(t, s, "SELECT id FROM delta.`"+outside+"`", `[1]`)

	// A managed table is gone with its folder: the commit fails and does not bring half a table back.
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO x VALUES (10)")
	want(t, other, "DROP TABLE x")
	if _, _, err := answer(s, "COMMIT"); err == nil {
		t.Error("the commit to a dropped table succeeded")
	}
	refuse(t, s, "SELECT * FROM x", "DELTA_TABLE_NOT_FOUND")
	want(t, s, "CREATE TABLE x (id INT, more STRING)")
	want(t, s, "SELECT * FROM x")
	// One that was made anew under its name is another table.
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO x VALUES (10, 'a')")
	want(t, other, "DROP TABLE x")
	want(t, other, "CREATE TABLE x (id INT, more STRING)")
	if _, _, err := answer(s, "COMMIT"); err == nil {
		t.Error("the commit to another table succeeded")
	}
	want(t, s, "SELECT * FROM x")
	for _, line := range answered(t, s, "CHECK TABLE x") {
		if !strings.Contains(line, `"OK"`) {
			t.Error(line)
		}
	}
}

// A statement that finds nothing to do leaves nothing in its transaction: COPY INTO ... VALIDATE looks at columns and adds none.
func TestTransactionForgetsWhatValidates(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	in := put(t, map[string]string{"a.csv": "id,more\n1,x\n"})
	want(t, s, "CREATE TABLE t (id INT)")
	want(t, s, "BEGIN")
	answered(t, s, "COPY INTO t FROM '"+in+"' FILEFORMAT = CSV VALIDATE FORMAT_OPTIONS ('header' = 'true') COPY_OPTIONS ('mergeSchema' = 'true')")
	want(t, s, "INSERT INTO t VALUES (7)")
	want(t, s, "COMMIT")
	want(t, s, "SELECT * FROM t", "[7]")
}

// What a temporary table was made of was read, and the commit depends on it.
func TestTransactionDependsOnItsTemporaryTables(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	other := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (v INT)")
	want(t, s, "INSERT INTO t VALUES (1)")
	want(t, s, "BEGIN")
	want(t, s, "CREATE TEMPORARY TABLE m AS SELECT max(v) AS v FROM t")
	want(t, s, "INSERT INTO t SELECT v + 1 FROM m")
	want(t, other, "INSERT INTO t VALUES (2)")
	refuse(t, s, "COMMIT", "DELTA_CONCURRENT_APPEND")
	want(t, s, "SELECT v FROM t ORDER BY v", "[1]", "[2]")
}

// A statement whose application transaction the table has already stores nothing and says so.
func TestAppliedStatementsCountNothing(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	want(t, s, "CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, v INT)")
	want(t, s, "SET deltasql_txn_app_id = 'loader'")
	want(t, s, "SET deltasql_txn_version = '1'")
	want(t, s, "INSERT INTO t (v) VALUES (1)")
	want(t, s, "SELECT LAST_INSERT_ID()", "[1]")
	for _, sql := range []string{
		"INSERT INTO t (v) VALUES (2), (3)", "UPDATE t SET v = 9", "DELETE FROM t", "BEGIN; INSERT INTO t (v) VALUES (4); COMMIT",
	} {
		var result *Result
		if strings.HasPrefix(sql, "BEGIN") { // inside of a transaction nobody knows yet
			want(t, s, "SELECT LAST_INSERT_ID()", "[1]")
		}
		for _, one := range strings.Split(sql, "; ") {
			var err error
			if result, err = s.Execute(t.Context(), one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
		if result.Affected != 0 || result.LastInsertID != 0 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0].Message, "loader") {
			t.Errorf("%s: %d rows, id %d, warnings %v", sql, result.Affected, result.LastInsertID, result.Warnings)
		}
	}
	want(t, s, "MERGE INTO t USING (SELECT 1 AS v) AS n ON t.v = n.v WHEN MATCHED THEN DELETE", "[0,0,0,0]")
	want(t, s, "SELECT * FROM t", "[1,1]")
}
