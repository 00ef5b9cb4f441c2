package sqlengine

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

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
