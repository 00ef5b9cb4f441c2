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

// A view over * keeps its columns when the table below grows.
func TestUnsupportedStatements(t *testing.T) {
	s, _ := openWarehouse(t)
	for _, sql := range []string{
		"CREATE FUNCTION f(x INT) RETURNS INT RETURN x", "GRANT SELECT ON people TO someone",
	} {
		e := refuse(t, s, sql, "DELTASQL_UNSUPPORTED_STATEMENT")
		if verb, _, _ := strings.Cut(sql, " "); !strings.Contains(e.Message, verb) {
			t.Errorf("%s: the message does not name the verb: %s", sql, e.Message)
		}
	}
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
