package sqlengine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// What fails leaves no folders of partitions, in which the next CREATE of the name would see something.
func TestFailedWritesLeaveNoFolders(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id INT, p INT, q INT) PARTITIONED BY (p, q)")
	want(t, s, "INSERT INTO t VALUES (1, 1, 1)")
	want(t, s, "BEGIN")
	want(t, s, "INSERT INTO t VALUES (2, 1, 2), (3, 2, 1)")
	want(t, s, "INSERT INTO t VALUES (4, 2, 1)")
	want(t, s, "ROLLBACK")
	left, err := filepath.Glob(filepath.Join(root, "default", "t", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if !strings.Contains(name, "_delta_log") && !strings.HasSuffix(name, "/p=1/q=1") {
			t.Errorf("%s is left", name)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(root, "default", "t")); len(entries) != 2 {
		t.Errorf("the table's folder has %v", entries)
	}
	want(t, s, "SELECT * FROM t", "[1,1,1]")
}

// dropping is a store that takes the table's folder away just before a call.
type dropping struct {
	store.Store
	folder string
	before func(operation, name string) bool
}

func (d *dropping) drop(operation, name string) {
	if d.before(operation, name) {
		if err := os.RemoveAll(d.folder); err != nil {
			panic(err)
		}
	}
}

func (d *dropping) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	d.drop("put", name)
	return d.Store.PutIfAbsent(ctx, name, data)
}

func (d *dropping) Locate(ctx context.Context, name string) (string, error) {
	d.drop("locate", name)
	return d.Store.Locate(ctx, name)
}

// A table that is dropped while a statement changes it does not come back, and nothing of the statement stays.
func TestDroppedTablesStayGone(t *testing.T) {
	for name, at := range map[string]struct{ operation, name string }{
		"before rows are written": {"locate", "staging-"},
		"before the commit":       {"put", "_delta_log/00000000000000000002.json"},
	} {
		t.Run(name, func(t *testing.T) {
			armed := false
			s := openSession(t, openEngine(t, Options{Store: func(folder string, files store.Store) store.Store {
				return &dropping{files, folder, func(operation, name string) bool {
					hit := armed && operation == at.operation && strings.HasPrefix(name, at.name)
					armed = armed && !hit
					return hit
				}}
			}}), SessionOptions{})
			want(t, s, "CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)")
			want(t, s, "INSERT INTO t VALUES (1, 1)")
			armed = true
			refuse(t, s, "INSERT INTO t VALUES (2, 2)", "DELTA_METADATA_CHANGED")
			if armed {
				t.Fatal("the folder was not taken away")
			}
			if _, err := os.Lstat(filepath.Join(s.engine.catalog.root, "default", "t")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is there again: %v", err)
			}
			if _, _, err := answer(s, "SELECT * FROM t"); protocol.ClassOf(err) == "" {
				t.Errorf("a table that is gone is read: %v", err)
			}
			want(t, s, "CREATE TABLE t (id INT)")
		})
	}
}
