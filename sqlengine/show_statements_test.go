package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

func TestShowWhere(t *testing.T) {
	s, _ := openWarehouse(t)
	want(t, s, "SHOW TABLES WHERE tableName LIKE 'pe%' OR tableName = 'parts'", `["default","parts",false]`, `["default","people",false]`)
	_, rows, err := answer(s, "SHOW FILES parts WHERE partition['p'] = 'a' AND numRecords > 0")
	if err != nil || len(rows) != 2 {
		t.Errorf("%v %v", rows, err)
	}
	want(t, s, "SHOW VARIABLES WHERE Variable_name = 'autocommit'", `["autocommit","ON"]`)
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

// SHOW LOG is how a damaged log is looked at, so it answers for one, file by file.
func TestShowLogOfADamagedTable(t *testing.T) {
	s, root := openWarehouse(t)
	folder := filepath.Join(root, "default", "people", protocol.LogFolder)
	if err := os.Remove(filepath.Join(folder, protocol.CommitName(1))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, protocol.CommitName(2)), []byte(`{"add":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := answer(s, "DESCRIBE DETAIL people"); err == nil {
		t.Error("a damaged log has details")
	}
	_, rows, err := answer(s, "SHOW LOG people WHERE kind = 'commit'")
	if err != nil || len(rows) != 3 || !strings.Contains(rows[0], "protocol 1") || !strings.Contains(rows[1], "cannot be read: ") || !strings.Contains(rows[2], "add 1") {
		t.Errorf("%s, %v", strings.Join(rows, "\n"), err)
	}
}
