package sqlengine

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deltasql/protocol"
)

// warehouse is a catalog of its own over a copy of the project's tables.
func warehouse(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../testdata/warehouse")); err != nil {
		t.Fatal(err)
	}
	return root
}

func openWarehouse(t *testing.T) (*Session, string) {
	t.Helper()
	root := warehouse(t)
	return openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{}), root
}

func TestNamesOfTables(t *testing.T) {
	s, root := openWarehouse(t)
	for _, name := range []string{
		"people", "PEOPLE", "default.people", "Default.People", "spark_catalog.default.people", "`people`",
		"delta.`" + root + "/default/people`", "delta.`" + root + "/default/people/`", "delta.`file:" + root + "/default/people`",
		"delta.`file://" + root + "/default/people`", "`people@v3`", "delta.`" + root + "/default/people@v3`", "people VERSION AS OF 3",
	} {
		want(t, s, "SELECT count(*) FROM "+name, `[4]`)
	}
	want(t, s, "SELECT count(*) FROM people@v1", `[2]`)
	refuse(t, s, "SELECT * FROM `people@v1` VERSION AS OF 1", "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS")
	if e := refuse(t, s, "SELECT *\nFROM peple", "DELTA_TABLE_NOT_FOUND"); !strings.Contains(e.Hint, "people") || e.Line != 2 || e.Column != 6 {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
	if e := refuse(t, s, "SELECT * FROM nowhere.t", "DELTA_TABLE_NOT_FOUND"); !strings.Contains(e.Message, "nowhere") {
		t.Error(e)
	}
	refuse(t, s, "SELECT * FROM a.b.c", "DELTA_TABLE_NOT_FOUND")
	refuse(t, s, "SELECT * FROM delta.`"+root+"/nope`", "DELTA_PATH_DOES_NOT_EXIST")
	if e := refuse(t, s, "SELECT * FROM delta.`"+root+"/default/parts/p=a`", "DELTA_TABLE_ONLY_OPERATION"); !strings.Contains(e.Error(), root+"/default/parts") {
		t.Error(e)
	}
	refuse(t, s, "SELECT * FROM delta.`"+root+"/default`", "DELTA_TABLE_ONLY_OPERATION")
	refuse(t, s, "SELECT * FROM delta.`s3://bucket/t`", "DELTASQL_STORAGE")
	if _, err := os.Stat(filepath.Join(root, "_deltasql")); !os.IsNotExist(err) {
		t.Error("reading made a folder in the catalog")
	}
}

func TestUse(t *testing.T) {
	s, root := openWarehouse(t)
	if err := os.CopyFS(filepath.Join(root, "Other", "folk"), os.DirFS(filepath.Join(root, "default", "people"))); err != nil {
		t.Fatal(err)
	}
	want(t, s, "USE other")
	if s.Database() != "Other" {
		t.Errorf("the database is %q", s.Database())
	}
	want(t, s, "SELECT count(*) FROM folk", `[4]`)
	want(t, s, "SELECT current_database()", `["Other"]`)
	refuse(t, s, "SELECT count(*) FROM people", "DELTA_TABLE_NOT_FOUND")
	refuse(t, s, "USE nowhere", "SCHEMA_NOT_FOUND")
	want(t, s, "USE spark_catalog.default")
	want(t, s, "SHOW DATABASES", `["Other"]`, `["default"]`)
	want(t, s, "SHOW DATABASES LIKE 'o*'", `["Other"]`)
	want(t, s, "SHOW TABLES IN other", `["Other","folk",false]`)
	if _, err := s.engine.NewSession(SessionOptions{Database: "nowhere"}); protocol.ClassOf(err) != "SCHEMA_NOT_FOUND" {
		t.Errorf("a session on a missing database: %v", err)
	}
}

func TestVariables(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{Settings: map[string]string{"spark.some.key": "x"}})
	want(t, s, "SET spark.some.key", `["spark.some.key","x"]`)
	want(t, s, "SET spark.other.key", `["spark.other.key","<undefined>"]`)
	want(t, s, "SET deltasql_dialect = mysql")
	want(t, s, "SELECT @@deltasql_dialect, 7 / 2", `["mysql","3.5000"]`)
	want(t, s, "SET deltasql_dialect = 'auto'")
	want(t, s, "SELECT 7 / 2", `[3.5]`)
	want(t, s, "SET @a = 1 + 1, @b = 'x'")
	want(t, s, "SELECT @a, @b, @c", `[2,"x",null]`)
	want(t, s, "SET time_zone = '+02:00'")
	want(t, s, "SELECT @@time_zone", `["+02:00"]`)
	want(t, s, "SET TIME ZONE 'Europe/Berlin'")
	want(t, s, "SHOW VARIABLES LIKE 'time_zone'", `["time_zone","Europe/Berlin"]`)
	want(t, s, "RESET spark.sql.session.timeZone")
	want(t, s, "SELECT @@time_zone, @@autocommit", `["UTC",1]`)
	refuse(t, s, "SET deltasql_dialekt = mysql", "UNRESOLVED_VARIABLE")
	refuse(t, s, "SELECT @@nothing", "UNRESOLVED_VARIABLE")
	refuse(t, s, "SET time_zone = 'Mars'", "INVALID_PARAMETER_VALUE")
	want(t, s, "SELECT 1, 'y' INTO @a, @b")
	want(t, s, "SELECT @a, @b", `[1,"y"]`)
	refuse(t, s, "SELECT 1 INTO @a, @b", "NUM_COLUMNS_MISMATCH")
}

func TestClock(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	fixed := func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	engine := openEngine(t, Options{Clock: fixed, TestNow: now})
	s := openSession(t, engine, SessionOptions{})
	want(t, s, "SELECT current_date()", `["2026-01-01"]`)
	s = openSession(t, engine, SessionOptions{Settings: map[string]string{"deltasql_test_clock": "1"}})
	want(t, s, "SELECT current_timestamp()", `["2030-01-02T03:04:05.000000Z"]`)
	want(t, s, "SET deltasql_clock_advance = 'INTERVAL 7 DAYS'")
	want(t, s, "SELECT current_date()", `["2030-01-09"]`)
}

func TestViews(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "CREATE VIEW v (k COMMENT 'key', label) AS SELECT id, upper(name) AS u FROM people")
	refuse(t, s, "CREATE VIEW v AS SELECT 1 AS x", "TABLE_OR_VIEW_ALREADY_EXISTS")
	refuse(t, s, "CREATE VIEW people AS SELECT 1 AS x", "TABLE_OR_VIEW_ALREADY_EXISTS")
	refuse(t, s, "CREATE OR REPLACE VIEW people AS SELECT 1 AS x", "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
	want(t, s, "CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS x")
	want(t, s, "SELECT * FROM v WHERE k < 3 ORDER BY k", `[1,"ADA"]`, `[2,"GRACE"]`)
	want(t, s, "DESCRIBE v", `["k","int","key"]`, `["label","string",null]`)
	want(t, s, "SHOW COLUMNS IN v", `["k"]`, `["label"]`)
	want(t, s, "SHOW VIEWS", `["default","v",false]`)
	refuse(t, s, "DESCRIBE DETAIL v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "DESCRIBE HISTORY v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "SHOW PARTITIONS v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "SELECT * FROM v VERSION AS OF 1", "UNSUPPORTED_FEATURE.TIME_TRAVEL")
	want(t, s, "CREATE OR REPLACE VIEW v AS SELECT count(*) AS n FROM people VERSION AS OF 1")
	want(t, s, "SELECT * FROM v", `[2]`)
	refuse(t, s, "CREATE OR REPLACE VIEW v AS SELECT * FROM v", "RECURSIVE_VIEW")
	refuse(t, s, "CREATE VIEW twice AS SELECT 1 AS a, 2 AS A", "COLUMN_ALREADY_EXISTS")
	refuse(t, s, "CREATE VIEW w (a) AS SELECT 1, 2", "CREATE_VIEW_COLUMN_ARITY_MISMATCH")
	refuse(t, s, "CREATE VIEW w AS SELECT nope FROM people", "UNRESOLVED_COLUMN.WITH_SUGGESTION")

	other := openSession(t, openEngine(t, Options{Catalog: root, ReadOnly: true}), SessionOptions{})
	want(t, other, "SELECT n FROM default.V", `[2]`)
	refuse(t, other, "CREATE VIEW w AS SELECT 1 AS x", "DELTASQL_UNSUPPORTED_STATEMENT")
	refuse(t, other, "DROP VIEW v", "DELTASQL_UNSUPPORTED_STATEMENT")
	want(t, other, "CREATE TEMPORARY VIEW v AS SELECT 'mine' AS x")
	want(t, other, "SELECT * FROM v", `["mine"]`)
	want(t, other, "SHOW VIEWS", `["","v",true]`, `["default","v",false]`)
	want(t, other, "CREATE TEMP VIEW w AS SELECT concat(x, '!') AS y FROM v")
	want(t, other, "SELECT y FROM w", `["mine!"]`)
	want(t, other, "CREATE TEMP VIEW people AS SELECT id FROM people WHERE id = 1")
	want(t, other, "SELECT * FROM people", `[1]`)
	want(t, other, "SELECT count(*) FROM default.people", `[4]`)
	refuse(t, other, "CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM w", "RECURSIVE_VIEW")
	want(t, other, "DROP VIEW v")
	want(t, other, "SELECT * FROM v", `[2]`)

	want(t, s, "DROP VIEW v")
	refuse(t, s, "SELECT * FROM v", "DELTA_TABLE_NOT_FOUND")
	refuse(t, s, "DROP VIEW v", "VIEW_NOT_FOUND")
	refuse(t, s, "DROP VIEW people", "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
	want(t, s, "DROP VIEW IF EXISTS v")
}

// A view over * keeps its columns when the table below grows.
func TestViewKeepsItsColumns(t *testing.T) {
	s, root := openWarehouse(t)
	log := filepath.Join(root, "default", "evolved", protocol.LogFolder)
	grown := filepath.Join(t.TempDir(), "log")
	if err := os.CopyFS(grown, os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	commits, err := filepath.Glob(filepath.Join(log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commits {
		if base := filepath.Base(name); strings.TrimPrefix(base, ".") >= protocol.CommitName(2) {
			os.Remove(name)
		}
	}
	want(t, s, "CREATE VIEW all_of_it AS SELECT * FROM evolved")
	before, _, err := answer(s, "SELECT * FROM all_of_it")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(log, os.DirFS(grown)); err != nil {
		t.Fatal(err)
	}
	now, _, err := answer(s, "SELECT * FROM evolved")
	if err != nil || now == before {
		t.Fatalf("the table did not grow: %s, %v", now, err)
	}
	if after, _, err := answer(s, "SELECT * FROM all_of_it"); err != nil || after != before {
		t.Errorf("the view has %s, had %s, %v", after, before, err)
	}
}

func TestUnsupportedStatements(t *testing.T) {
	s, _ := openWarehouse(t)
	for _, sql := range []string{
		"INSERT INTO people VALUES (1)", "DELETE FROM people", "UPDATE people SET id = 1", "CREATE TABLE t (id INT) USING delta",
		"DROP TABLE people", "OPTIMIZE people", "VACUUM people", "ALTER TABLE people ADD COLUMN x INT", "MERGE INTO people USING people s ON false WHEN MATCHED THEN DELETE",
	} {
		e := refuse(t, s, sql, "DELTASQL_UNSUPPORTED_STATEMENT")
		if verb, _, _ := strings.Cut(sql, " "); !strings.Contains(e.Message, verb) {
			t.Errorf("%s: the message does not name the verb: %s", sql, e.Message)
		}
	}
}

func TestTimeTravel(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 0", `[0]`)
	refuse(t, s, "SELECT * FROM people VERSION AS OF 99", "DELTA_VERSION_NOT_FOUND")
	refuse(t, s, "SELECT * FROM people TIMESTAMP AS OF '2099-01-01'", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
	refuse(t, s, "SELECT * FROM people TIMESTAMP AS OF '1999-01-01'", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION")
	want(t, s, "SET deltasql_clamp_timestamps = on")
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2099-01-01'", `[4]`)

	for i, at := range []string{"2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z", "2024-05-03T10:00:00Z", "2024-05-04T10:00:00Z"} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(root, "default", "people", protocol.LogFolder, protocol.CommitName(int64(i)))
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	s = openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 10:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 09:59:59'", `[0]`)
	want(t, s, "SELECT count(*) FROM people FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-03 00:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF DATE '2024-05-03' + INTERVAL 1 DAY", `[4]`)
	want(t, s, "SELECT count(*) FROM people@20240502100000000", `[2]`)
	want(t, s, "SET deltasql_as_of = '2024-05-02 12:00:00'")
	want(t, s, "SELECT count(*) FROM people", `[2]`)
	want(t, s, "SET deltasql_as_of = 0")
	want(t, s, "SELECT count(*) FROM people", `[0]`)
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 1", `[2]`)
	want(t, s, "SET deltasql_as_of = 'soon'")
	refuse(t, s, "SELECT count(*) FROM people", "DELTA_TIMESTAMP_INVALID")
	want(t, s, "RESET deltasql_as_of")
	want(t, s, "SET deltasql_time_travel_guard = on")
	refuse(t, s, "SELECT count(*) FROM people VERSION AS OF 1", "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION")
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 3", `[4]`)
	want(t, s, "SET time_zone = '+02:00'")
	want(t, s, "SET deltasql_time_travel_guard = auto")
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 12:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 11:59:59'", `[0]`)
}

func TestTableChanges(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "SELECT id, v, _change_type, _commit_version FROM table_changes('feed', 2, 3) ORDER BY 4, 3, 1",
		`[2,"B","update_postimage",2]`, `[2,"b","update_preimage",2]`, `[3,"c","delete",3]`)
	want(t, s, "SELECT count(*) FROM table_changes('default.feed', 1, 100)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('"+root+"/default/feed', 1 + 0)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes_by_path('"+root+"/default/feed', 1)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('delta.`"+root+"/default/feed`', 1)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('feed', '2000-01-01')", `[9]`)
	refuse(t, s, "SELECT * FROM table_changes('feed', '2099-01-01')", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
	refuse(t, s, "SELECT * FROM table_changes('feed', 2, 1)", "DELTA_INVALID_CDC_RANGE")
	refuse(t, s, "SELECT * FROM table_changes('feed', 99)", "DELTA_CDC_START_VERSION_AFTER_LATEST")
	refuse(t, s, "SELECT * FROM table_changes('feed', 99, 100)", "DELTA_CDC_START_VERSION_AFTER_LATEST")
	refuse(t, s, "SELECT * FROM table_changes('feed', NULL)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY")
	refuse(t, s, "SELECT * FROM table_changes('feed')", "INCORRECT_NUMBER_OF_ARGUMENTS")
	refuse(t, s, "SELECT * FROM table_changes('feed', 0, 1, 2)", "INCORRECT_NUMBER_OF_ARGUMENTS")
	refuse(t, s, "SELECT * FROM table_changes('nope', 0)", "TABLE_OR_VIEW_NOT_FOUND")
	refuse(t, s, "SELECT * FROM table_changes('feed', true)", "DELTA_TIMESTAMP_INVALID")
	refuse(t, s, "SELECT * FROM table_changes('feed', 'soon')", "DELTA_TIMESTAMP_INVALID")
	refuse(t, s, "SELECT * FROM table_changes('people', 0)", "DELTA_MISSING_CHANGE_DATA")
	refuse(t, s, "SELECT c.* FROM people p, table_changes('feed', p.id) c", "DELTA_CDC_NON_CONSTANT_ARGUMENT")
	want(t, s, "SET deltasql_changes_out_of_range = on")
	want(t, s, "SELECT id, _commit_version FROM table_changes('feed', 99)")
	want(t, s, "SELECT count(*) FROM table_changes('feed', '2099-01-01')", `[0]`)
}

// A table dropped and made anew under a running session is read anew, also where its version is higher (bugs LR-16).
func TestTableMadeAnew(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "SELECT count(*) FROM people", `[4]`)
	path := filepath.Join(root, "default", "people")
	for name, rows := range map[string]string{"feed": `[3]`, "vectors": `[901]`, "people": `[4]`} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(path, os.DirFS(filepath.Join("../testdata/warehouse/default", name))); err != nil {
			t.Fatal(err)
		}
		want(t, s, "SELECT count(*) FROM people", rows)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	refuse(t, s, "SELECT count(*) FROM people", "DELTA_TABLE_NOT_FOUND")
}

func TestAnswersFromTheLog(t *testing.T) {
	s, root := openWarehouse(t)
	files, err := filepath.Glob(filepath.Join(root, "default", "*", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal("no data files", err)
	}
	nested, _ := filepath.Glob(filepath.Join(root, "default", "*", "*", "*.parquet"))
	deeper, _ := filepath.Glob(filepath.Join(root, "default", "*", "*", "*", "*.parquet"))
	for _, file := range append(append(files, nested...), deeper...) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	want(t, s, "SELECT count(*) FROM people", `[4]`)
	want(t, s, "SELECT count(*) AS n, min(id), max(id), count(name), count(1) FROM people", `[4,1,4,3,4]`)
	want(t, s, "SELECT count(*) FROM vectors", `[901]`)
	want(t, s, "SELECT count(*) FROM parts WHERE p = 'a'", `[2]`)
	want(t, s, "SELECT count(*), min(d), max(d) FROM parts WHERE p IN ('a', 'x=y') OR p IS NULL", `[5,"1969-12-31","2024-01-01"]`)
	want(t, s, "SELECT count(*) FROM parts WHERE p <> 'a' AND d IS NOT NULL", `[2]`)
	want(t, s, "SELECT count(*) FROM empty", `[0]`)
	want(t, s, "SELECT min(id) FROM people WHERE false", `[null]`)
	for _, sql := range []string{
		"SELECT min(id) FROM vectors", "SELECT min(name) FROM people", "SELECT max(score) FROM people", "SELECT count(*) FROM people WHERE id > 1",
		"SELECT sum(id) FROM people", "SELECT count(*) FROM parts WHERE upper(p) = 'A'",
	} {
		e := refuse(t, s, sql, "DELTA_FILE_NOT_FOUND_DETAILED")
		if !strings.Contains(e.Error(), ".parquet") || e.Table == "" {
			t.Errorf("%s: %v (table %q) does not name table and file", sql, e, e.Table)
		}
	}
	want(t, s, "SET deltasql_metadata_answers = off")
	refuse(t, s, "SELECT max(id) FROM people", "DELTA_FILE_NOT_FOUND_DETAILED")
}

func TestExplain(t *testing.T) {
	s, _ := openWarehouse(t)
	_, rows, err := answer(s, "EXPLAIN SELECT n FROM parts WHERE p = 'a' AND n > 5")
	text := strings.Join(rows, "\n")
	if err != nil || !strings.Contains(text, "skipped by partition") || !strings.Contains(text, "Output: n int") {
		t.Errorf("%s\n%v", text, err)
	}
	_, rows, err = answer(s, "EXPLAIN ANALYZE SELECT * FROM people ORDER BY id")
	if text = strings.Join(rows, "\n"); err != nil || !strings.Contains(text, "rows returned") || !strings.Contains(text, "file sizes [") {
		t.Errorf("%s\n%v", text, err)
	}
	_, rows, err = answer(s, "EXPLAIN EXTENDED SELECT * FROM people")
	if text = strings.Join(rows, "\n"); err != nil || !strings.Contains(text, "read_parquet") {
		t.Errorf("%s\n%v", text, err)
	}
	refuse(t, s, "EXPLAIN SHOW TABLES", "DELTASQL_UNSUPPORTED_STATEMENT")
}

func TestShowWhere(t *testing.T) {
	s, _ := openWarehouse(t)
	want(t, s, "SHOW TABLES WHERE tableName LIKE 'pe%' OR tableName = 'parts'", `["default","parts",false]`, `["default","people",false]`)
	_, rows, err := answer(s, "SHOW FILES parts WHERE partition['p'] = 'a' AND numRecords > 0")
	if err != nil || len(rows) != 2 {
		t.Errorf("%v %v", rows, err)
	}
	want(t, s, "SHOW VARIABLES WHERE Variable_name = 'autocommit'", `["autocommit","1"]`)
	refuse(t, s, "SHOW TABLES WHERE nope = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
}

func TestForeignFiles(t *testing.T) {
	s, root := openWarehouse(t)
	csv := filepath.Join(root, "x.csv")
	if err := os.WriteFile(csv, []byte("a,b,{0}\n1,x,2020-01-01\n2,,2020-01-02\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, s, "SELECT * FROM csv.`"+csv+"` ORDER BY a DESC", `[2,null,"2020-01-02"]`, `[1,"x","2020-01-01"]`)
	want(t, s, "SELECT `{0}` FROM csv.`"+csv+"` WHERE a = 1", `["2020-01-01"]`)
	want(t, s, "DESCRIBE csv.`"+csv+"`", `["a","bigint",null]`, `["b","string",null]`, `["{0}","date",null]`)
	want(t, s, "SELECT count(*) FROM json.`"+root+"/default/people/_delta_log/*.json` WHERE add IS NOT NULL", `[5]`)
	want(t, s, "SELECT metaData.description FROM json.`"+root+"/default/people/_delta_log/00000000000000000000.json` WHERE metaData IS NOT NULL", `["who"]`)
	_, rows, err := answer(s, "SELECT count(*) FROM parquet.`"+root+"/default/people`")
	if err != nil || len(rows) != 1 || rows[0] == `[0]` {
		t.Errorf("parquet files of a folder: %v %v", rows, err)
	}
	refuse(t, s, "SELECT * FROM parquet.`"+root+"/nope.parquet`", "DELTA_PATH_DOES_NOT_EXIST")
	refuse(t, s, "DESCRIBE HISTORY parquet.`"+root+"/default/people`", "DELTA_TABLE_ONLY_OPERATION")
	refuse(t, s, "SELECT * FROM parquet.`"+csv+"`", "DELTA_FAILED_TO_READ_FILE")
	if e := refuse(t, s, "SELECT * FROM delta.`"+csv+"`", "DELTA_TABLE_ONLY_OPERATION"); !strings.Contains(e.Hint, "csv.`") {
		t.Errorf("hint %q", e.Hint)
	}
}

func TestCancelKeepsTheSession(t *testing.T) {
	s, _ := openWarehouse(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	started := time.Now()
	result, err := s.Execute(ctx, "SELECT sum(a.id * b.id * c.id * d.id) FROM range(100000) a, range(100000) b, range(1000) c, range(1000) d")
	if err == nil {
		_, err = result.Next(ctx)
		result.Close()
	}
	if protocol.ClassOf(err) != "DELTASQL_CANCELLED" || time.Since(started) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(started), err)
	}
	want(t, s, "SELECT 1", `[1]`)
}

func TestAdmission(t *testing.T) {
	engine := openEngine(t, Options{MaxRunning: 1})
	one, two := openSession(t, engine, SessionOptions{}), openSession(t, engine, SessionOptions{})
	result, err := one.Execute(context.Background(), "SELECT id FROM range(1000000)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := two.Execute(ctx, "SELECT 2"); protocol.ClassOf(err) != "DELTASQL_CANCELLED" {
		t.Errorf("a second statement beyond the limit: %v", err)
	}
	result.Close()
	if _, err := result.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("Next after Close: %v", err)
	}
	want(t, two, "SELECT 2", `[2]`)
}

func TestSessionsAtOnce(t *testing.T) {
	root := warehouse(t)
	engine := openEngine(t, Options{Catalog: root})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := engine.NewSession(SessionOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				want(t, s, "SELECT count(*) FROM people p JOIN vectors v ON p.id = v.id", `[3]`)
				want(t, s, "SELECT count(*) FROM (SELECT id FROM feed EXCEPT SELECT id FROM feed)", `[0]`)
			}
		})
	}
	group.Wait()
}

func TestClosedEngine(t *testing.T) {
	engine := openEngine(t, Options{})
	s := openSession(t, engine, SessionOptions{})
	engine.Close()
	refuse(t, s, "SELECT 1", "DELTASQL_CANCELLED")
}

func TestWrongOptions(t *testing.T) {
	if _, err := Open(Options{Catalog: "/nowhere/at/all"}); protocol.ClassOf(err) != "DELTA_PATH_DOES_NOT_EXIST" {
		t.Errorf("a catalog that is not there: %v", err)
	}
	engine, err := Open(Options{Catalog: t.TempDir(), Memory: "lots"})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := openSession(t, engine, SessionOptions{})
	refuse(t, s, "SELECT 1", "INVALID_PARAMETER_VALUE")
}
