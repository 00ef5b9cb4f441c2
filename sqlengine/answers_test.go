package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
