package sqlengine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

// Conditions on names choose which logs are read: with thousands of tables, a question about one does not open the others. A table
// that cannot be opened is passed over with a warning.
func TestConditionsChooseTheTables(t *testing.T) {
	root := warehouse(t)
	for i := range 300 {
		broken := filepath.Join(root, "many", fmt.Sprintf("broken%d", i), "_delta_log")
		if err := os.MkdirAll(broken, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(broken, "00000000000000000000.json"), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(root, "many", "people"), os.DirFS(filepath.Join(root, "default", "people"))); err != nil {
		t.Fatal(err)
	}
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{Dialect: "mysql"})
	for _, where := range []string{
		"table_schema = 'many' AND table_name = 'people'", "table_name IN ('people', 'nope') AND table_schema = 'many'",
		"table_schema = 'many' AND (table_name = 'people' OR table_name = 'also')", "(table_schema, table_name) = ('many', 'people')",
	} {
		start := time.Now()
		want(t, s, "SELECT count(*) FROM information_schema.columns WHERE "+where, `[4]`)
		if warnings := s.Warnings(); len(warnings) > 0 {
			t.Errorf("%s opened other tables: %v", where, warnings[0])
		}
		t.Log(where, time.Since(start))
	}
	want(t, s, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'many'", `[301]`)
	if warnings := s.Warnings(); len(warnings) > 0 {
		t.Errorf("names alone opened tables: %v", warnings[0])
	}
	want(t, s, "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'many'", `[4]`)
	if warnings := s.Warnings(); len(warnings) != 300 || !strings.Contains(warnings[0].Message, "many.broken") {
		t.Errorf("%d warnings", len(warnings))
	}
}

// MySQL's numbers where it has one for the context.
func TestErrorNumbersOfContexts(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{Dialect: "mysql"})
	want(t, s, "CREATE TABLE t (a INT, b INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
	for sql, number := range map[string]int{
		"DROP TABLE gone": 1051, "SELECT * FROM gone": 1146, "SELECT * FROM nowhere.t": 1049, "DROP DATABASE nowhere": 1008, "USE nowhere": 1049,
		"CREATE TABLE u (a DECIMAL(5,6))": 1427, "SET autocommit = 'perhaps'": 1231, "SELECT * FROM information_schema.gone": 1109,
		"ALTER TABLE t DROP COLUMN gone": 1091,
	} {
		_, _, err := answer(s, sql)
		var known *protocol.Error
		if !errors.As(err, &known) || known.MySQLNumber() != number {
			t.Errorf("%s: %v, want %d", sql, err, number)
		}
	}
}
