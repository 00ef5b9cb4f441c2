package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInsertedRowsAreClustered: rows that a statement brings itself lie in their file in the order of the clustering columns.
func TestInsertedRowsAreClustered(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	want(t, s, "CREATE TABLE c (id INT, s STRUCT<day: DATE, n: INT>) CLUSTER BY (s.day, id)")
	want(t, s, "INSERT INTO c VALUES (3, named_struct('day', DATE '2026-01-03', 'n', 1)), (2, named_struct('day', DATE '2026-01-01', 'n', 2)), (1, named_struct('day', DATE '2026-01-03', 'n', 3))")
	want(t, s, "SELECT id, _metadata.row_index FROM c ORDER BY 2", `[2,0]`, `[1,1]`, `[3,2]`)
}

// TestLogIsCompacted: with the setting every so many commits are one file as well, and a new engine reads the table from it.
func TestLogIsCompacted(t *testing.T) {
	s := freshSession(t, SessionOptions{Settings: map[string]string{"deltasql_log_compaction": "3"}})
	want(t, s, "CREATE TABLE l (id INT)")
	for range 7 {
		want(t, s, "INSERT INTO l VALUES (1)")
	}
	folder := filepath.Join(s.engine.catalog.root, "default", "l", "_delta_log")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".compacted.json") {
			found++
		}
	}
	if found == 0 {
		t.Error("no compacted file")
	}
	other := openSession(t, openEngine(t, Options{Catalog: s.engine.catalog.root}), SessionOptions{})
	want(t, other, "SELECT count(*) FROM l", `[7]`)
}
