package sqlengine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deltasql/protocol"
)

// Of several that create a table at once, the others find it made.
func TestConcurrentCreators(t *testing.T) {
	root := t.TempDir()
	engines := []*Engine{openEngine(t, Options{Catalog: root}), openEngine(t, Options{Catalog: root})}
	want(t, openSession(t, engines[0], SessionOptions{}), "CREATE TABLE source (id INT)")
	for k, form := range []struct {
		sql   string
		fails protocol.Class // of those that come later; "": they succeed
		rows  int
	}{
		{"CREATE TABLE IF NOT EXISTS %s (id INT)", "", 0},
		{"CREATE TABLE IF NOT EXISTS %s AS SELECT 1 AS id", "", 1},
		{"CREATE TABLE IF NOT EXISTS %s SHALLOW CLONE source", "", 0},
		{"CREATE TABLE %s SHALLOW CLONE source", "DELTA_TABLE_ALREADY_EXISTS", 0},
		{"CREATE TABLE %s (id INT) LOCATION '" + t.TempDir() + "/t'", "TABLE_OR_VIEW_ALREADY_EXISTS", 0},
		{"CREATE TABLE IF NOT EXISTS %s LOCATION '" + t.TempDir() + "/t' AS SELECT 1 AS id", "", 1},
		{"CREATE TABLE %s (id INT)", "TABLE_OR_VIEW_ALREADY_EXISTS", 0},
		{"CREATE TABLE %s AS SELECT 1 AS id", "TABLE_OR_VIEW_ALREADY_EXISTS", 1},
	} {
		const writers = 6
		name := fmt.Sprintf("t%d", k)
		var errs [writers]error
		var all sync.WaitGroup
		for i := range writers {
			s := openSession(t, engines[i%2], SessionOptions{})
			all.Go(func() { _, errs[i] = s.Execute(t.Context(), fmt.Sprintf(form.sql, name)) })
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if protocol.ClassOf(err) != form.fails {
				t.Errorf("%s: %v", form.sql, err)
			}
		}
		if form.fails != "" && made != 1 {
			t.Errorf("%s has made the table %d times", form.sql, made)
		}
		s := openSession(t, engines[0], SessionOptions{})
		want(t, s, "SELECT count(*) FROM "+name, fmt.Sprintf("[%d]", form.rows))
	}
}

// A name that a CREATE reserved and left stands for nothing, and the next CREATE takes it.
func TestReservedName(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	left := t.TempDir() + "/left"
	if err := s.engine.catalog.putExternal(t.Context(), &externalTable{Name: "T", Database: "default", Location: left, Reserved: true}, false); err != nil {
		t.Fatal(err)
	}
	want(t, s, "SHOW TABLES")
	refuse(t, s, "SELECT * FROM t", "DELTA_TABLE_NOT_FOUND")
	want(t, s, "DROP TABLE IF EXISTS t")
	want(t, s, "CREATE TABLE t (id INT) LOCATION '"+t.TempDir()+"/t'")
	want(t, s, "SHOW TABLES", `["default","t",false]`)
	want(t, s, "INSERT INTO t VALUES (1)")
	want(t, s, "SELECT * FROM t", "[1]")
	want(t, s, "DROP TABLE t")
	refuse(t, s, "CREATE TABLE t LOCATION '"+left+"' AS SELECT CAST(raise_error('no') AS INT) AS id", "USER_RAISED_EXCEPTION")
	want(t, s, "SHOW TABLES")
	if t2, err := s.engine.catalog.externalEntry(t.Context(), "default", "t"); err != nil || t2 != nil {
		t.Errorf("a CREATE that failed leaves the name: %v, %v", t2, err)
	}
}

// slowly runs a statement and, while it holds a name, what comes beside it.
func slowly(t *testing.T, s *Session, sql string, held nameLock, beside func()) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { _, err := s.Execute(t.Context(), sql); done <- err }()
	for _, err := os.Stat(s.engine.catalog.lockFile(held)); err != nil; _, err = os.Stat(s.engine.catalog.lockFile(held)) {
		select {
		case err := <-done:
			t.Fatalf("%s ended before anything came beside it: %v", sql, err)
		default:
			time.Sleep(time.Millisecond)
		}
	}
	beside()
	return <-done
}

func heldLocks(t *testing.T, e *Engine) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(e.catalog.root, lockFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

const slow = "SELECT CAST(count(*) AS INT) AS id FROM range(4000) a, range(4000) b WHERE a.id + b.id > 5"

// Two statements about one name come one after the other, whatever kinds they are.
func TestNamesUnderRace(t *testing.T) {
	for _, test := range []struct {
		name, first, second string
		fails               protocol.Class // the second
		tables              []string
	}{
		{"another location", "CREATE TABLE t LOCATION '%[1]s/x' AS " + slow, "CREATE TABLE T (id INT) LOCATION '%[1]s/y'", "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"t"}},
		{"the same location", "CREATE TABLE t LOCATION '%[1]s/x' AS " + slow, "CREATE TABLE u (id INT) LOCATION '%[1]s/x'", "", []string{"t", "u"}},
		{"in the database's folder", "CREATE TABLE t LOCATION '%[1]s/x' AS " + slow, "CREATE TABLE t (id INT)", "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"t"}},
		{"other case", "CREATE TABLE t AS " + slow, "CREATE TABLE T (id INT)", "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"t"}},
		{"view", "CREATE TABLE t AS " + slow, "CREATE VIEW t AS SELECT 1 AS a", "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"t"}},
		{"rename", "CREATE TABLE t AS " + slow, "ALTER TABLE o RENAME TO t", "TABLE_OR_VIEW_ALREADY_EXISTS", []string{"o", "t"}},
		{"drop", "CREATE TABLE t AS " + slow, "DROP TABLE t", "", nil},
		{"drop of the database", "CREATE TABLE d.t AS " + slow, "DROP DATABASE d CASCADE", "", nil},
		{"convert", "CREATE TABLE delta.`%[1]s/x` AS " + slow, "CONVERT TO DELTA parquet.`%[1]s/x`", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			engines := []*Engine{openEngine(t, Options{Catalog: root}), openEngine(t, Options{Catalog: root})}
			s, beside := openSession(t, engines[0], SessionOptions{}), openSession(t, engines[1], SessionOptions{})
			want(t, s, "CREATE DATABASE d")
			if slices.Contains(test.tables, "o") {
				want(t, s, "CREATE TABLE o (id INT)")
			}
			named := func(sql string) string {
				if strings.Contains(sql, "%[1]s") {
					return fmt.Sprintf(sql, outside)
				}
				return sql
			}
			var second error
			held := lockOfName("default", "t")
			switch test.name {
			case "drop of the database":
				held = lockOfName("d", "t")
			case "convert":
				held = lockOfFolder(outside + "/x")
			}
			if err := slowly(t, s, named(test.first), held, func() { _, second = beside.Execute(t.Context(), named(test.second)) }); err != nil {
				t.Fatal(err)
			}
			if (second != nil) != (test.fails != "") || second != nil && protocol.ClassOf(second) != test.fails {
				t.Errorf("%s: %v", named(test.second), second)
			}
			shown := make([]string, len(test.tables))
			for i, name := range test.tables {
				shown[i] = fmt.Sprintf(`["default",%q,false]`, name)
			}
			want(t, s, "SHOW TABLES", shown...)
			if left := heldLocks(t, engines[0]); len(left) > 2 { // those of databases are shared, and stay
				t.Errorf("locks stay: %q", left)
			}
		})
	}
}

// A statement that is cancelled does not wait for a name any longer.
func TestWaitForNameEnds(t *testing.T) {
	e := openEngine(t, Options{Catalog: t.TempDir()})
	unlock, err := e.catalog.lock(t.Context(), lockOfName("default", "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := openSession(t, e, SessionOptions{}).Execute(ctx, "CREATE TABLE T (id INT)"); err == nil {
		t.Error("the name was not waited for")
	}
}

// What lies at a location is not lost where a statement takes it for a new table's.
func TestLocationsKeepTheirRows(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	at := t.TempDir() + "/x"
	want(t, s, "CREATE TABLE delta.`"+at+"` (z STRING)")
	want(t, s, "INSERT INTO delta.`"+at+"` VALUES ('kept')")
	want(t, s, "CREATE TABLE source (id INT)")
	refuse(t, s, "CREATE TABLE c DEEP CLONE source LOCATION '"+at+"'", "DELTA_UNSUPPORTED_NON_EMPTY_CLONE")
	refuse(t, s, "CREATE TABLE IF NOT EXISTS c LIKE source LOCATION '"+at+"'", "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION")
	refuse(t, s, "CREATE OR REPLACE TABLE source LIKE source", "PARSE_SYNTAX_ERROR")
	want(t, s, "SELECT * FROM delta.`"+at+"`", `["kept"]`)
	want(t, s, "SHOW TABLES", `["default","source",false]`)
}

// A folder of another kind is not taken by a rename, be it empty.
func TestRenameReplacesNoFolder(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE delta.`"+root+"/people` (id INT)")
	want(t, s, "CREATE DATABASE db2")
	refuse(t, s, "ALTER TABLE people RENAME TO db2", "TABLE_OR_VIEW_ALREADY_EXISTS")
	want(t, s, "CREATE TABLE db2.t (id INT)")
}

// What a DROP that died has left does not keep a database.
func TestDroppedFoldersGo(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE DATABASE d")
	if err := os.MkdirAll(filepath.Join(root, "d", droppedPrefix+"1", "_delta_log"), 0o777); err != nil {
		t.Fatal(err)
	}
	want(t, s, "DROP DATABASE d")
	want(t, s, "SHOW DATABASES", `["default"]`)

	// Nor does it lie there for ever, or stand in the way of a table of the name.
	run(t, s, "CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)")
	hidden := filepath.Join(root, "default", droppedPrefix+"1")
	if err := os.Rename(filepath.Join(root, "default", "t"), hidden); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(hidden, protocol.LogFolder, protocol.CommitName(1))); err != nil {
		t.Fatal(err)
	}
	s = openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "SHOW TABLES")
	refuse(t, s, "SELECT * FROM t", "DELTA_TABLE_NOT_FOUND")
	run(t, s, "CREATE TABLE t (s STRING)", "INSERT INTO t VALUES ('x')")
	want(t, s, "SELECT * FROM t", `["x"]`)
	run(t, s, "DROP TABLE t")
	if left, err := os.ReadDir(filepath.Join(root, "default")); err != nil || len(left) > 0 {
		t.Errorf("left of dropped tables: %v, %v", left, err)
	}
}

func TestLocationsOverlap(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id INT)")
	const class = "DELTASQL_LOCATION_OVERLAP"
	table := filepath.Join(root, "default", "t")
	refuse(t, s, "CREATE TABLE i (id INT) LOCATION '"+filepath.Join(table, "sub")+"'", class)
	refuse(t, s, "CREATE TABLE delta.`"+filepath.Join(table, "_delta_log", "sub")+"` (id INT)", class)
	refuse(t, s, "CREATE TABLE l LIKE t LOCATION '"+filepath.Join(table, "sub")+"'", class)
	refuse(t, s, "CREATE DATABASE d LOCATION '"+filepath.Join(table, "d")+"'", class)
	refuse(t, s, "CREATE TABLE c (id INT) LOCATION '"+filepath.Join(root, "_deltasql", "c")+"'", class)
	want(t, s, "SHOW TABLES", `["default","t",false]`)
}

// The rows of a query are not lost on a table that lies there already.
func TestCreateAsSelectOverTable(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	at := "LOCATION '" + filepath.Join(t.TempDir(), "t") + "'"
	want(t, s, "CREATE TABLE a (id INT) "+at)
	want(t, s, "INSERT INTO a VALUES (1)")
	want(t, s, "DROP TABLE a")
	refuse(t, s, "CREATE TABLE a "+at+" AS SELECT 5 AS id", "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION")
	want(t, s, "CREATE TABLE a "+at)
	want(t, s, "SELECT * FROM a", `[1]`)
}
