package sqlengine

import (
	"strings"
	"testing"
)

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

// SHOW WARNINGS and SHOW ERRORS tell of the statement before them, as often as they are asked.
func TestShowWarningsRepeatsTheError(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	refuse(t, s, "SELECT nope", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
	for _, sql := range []string{"SHOW WARNINGS", "SHOW ERRORS", "SHOW WARNINGS"} {
		_, rows, err := answer(s, sql)
		if err != nil || len(rows) != 1 || !strings.HasPrefix(rows[0], `["Error",1054,"[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] (42703) `) {
			t.Errorf("%s: %v, %v", sql, rows, err)
		}
	}
	want(t, s, "SELECT 1", `[1]`)
	want(t, s, "SHOW WARNINGS")
	refuse(t, s, "SELECT CAST(id AS STRING)::INT + CASE WHEN id = 9999 THEN CAST('x' AS INT) ELSE 0 END FROM range(10000)", "CAST_INVALID_INPUT")
	if _, rows, err := answer(s, "SHOW ERRORS"); err != nil || len(rows) != 1 || !strings.Contains(rows[0], "CAST_INVALID_INPUT") {
		t.Errorf("an error after the first rows: %v, %v", rows, err)
	}
}
