package sqlengine

import (
	"testing"

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
