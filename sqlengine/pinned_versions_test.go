package sqlengine

import (
	"context"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"

	"deltasql/txn/store"
)

// A session that reads an older version changes no rows by the places that they have there.
func TestChangesUnderAsOf(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	const class = "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"
	want(t, s, "CREATE TABLE t (id INT, x INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	want(t, s, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
	want(t, s, "INSERT OVERWRITE t VALUES (5, 5), (6, 6), (7, 7)")
	want(t, s, "SET deltasql_as_of = '1'")
	want(t, s, "SELECT id FROM t ORDER BY id", `[1]`, `[2]`, `[3]`)
	refuse(t, s, "DELETE FROM t WHERE x = 2", class)
	refuse(t, s, "DELETE FROM t", class)
	refuse(t, s, "UPDATE t SET x = 100 WHERE id = 3", class)
	refuse(t, s, "MERGE INTO t USING (SELECT 2 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET x = 77", class)
	refuse(t, s, "INSERT INTO t REPLACE WHERE id = 2 VALUES (2, 2)", class)
	want(t, s, "INSERT INTO t SELECT id, x FROM t WHERE id = 1") // brings a row back
	want(t, s, "RESET deltasql_as_of")
	want(t, s, "SELECT id FROM t ORDER BY id", `[1]`, `[5]`, `[6]`, `[7]`)
}

// looks calls something before a look for new commits of a table.
type looks struct {
	store.Store
	folder string
	before *atomic.Pointer[func()]
}

func (l looks) tell() {
	if act := l.before.Load(); act != nil && filepath.Base(l.folder) == "t" {
		(*act)()
	}
}

func (l looks) List(ctx context.Context, folder, after string) iter.Seq2[store.FileInfo, error] {
	l.tell()
	return l.Store.List(ctx, folder, after)
}

func (l looks) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	l.tell()
	return l.Store.Read(ctx, name, limit)
}

func (l looks) Stat(ctx context.Context, name string) (store.FileInfo, error) {
	l.tell()
	return l.Store.Stat(ctx, name)
}

// A query that fills the table in place of which it is made reads the version that goes, and no row that came between is lost.
func TestReplaceBySelfReadsWhatItReplaces(t *testing.T) {
	root := t.TempDir()
	var before atomic.Pointer[func()]
	s := openSession(t, openEngine(t, Options{Catalog: root, Store: func(folder string, files store.Store) store.Store { return looks{files, folder, &before} }}), SessionOptions{})
	other := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id INT)")
	want(t, s, "INSERT INTO t VALUES (1)")
	looked := 0
	act := func() {
		if looked++; looked == 3 {
			want(t, other, "INSERT INTO t VALUES (2)")
		}
	}
	before.Store(&act)
	want(t, s, "CREATE OR REPLACE TABLE t AS SELECT * FROM t")
	before.Store(nil)
	if looked < 3 {
		t.Fatalf("the table was looked at %d times: the row did not come between", looked)
	}
	want(t, s, "SELECT id FROM t ORDER BY id", `[1]`, `[2]`)
}
