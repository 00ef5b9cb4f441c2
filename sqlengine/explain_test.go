package sqlengine

import (
	"strings"
	"testing"
)

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
