package sqlengine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

func TestViews(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "CREATE VIEW v (k COMMENT 'key', label) AS SELECT id, upper(name) AS u FROM people")
	refuse(t, s, "CREATE VIEW v AS SELECT 1 AS x", "TABLE_OR_VIEW_ALREADY_EXISTS")
	refuse(t, s, "CREATE VIEW people AS SELECT 1 AS x", "TABLE_OR_VIEW_ALREADY_EXISTS")
	refuse(t, s, "CREATE OR REPLACE VIEW people AS SELECT 1 AS x", "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
	want(t, s, "CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS x")
	want(t, s, "SELECT * FROM v WHERE k < 3 ORDER BY k", `[1,"ADA"]`, `[2,"GRACE"]`)
	want(t, s, "DESCRIBE v", `["k","int","key"]`, `["label","string",null]`)
	want(t, s, "SHOW COLUMNS IN v", `["k"]`, `["label"]`)
	want(t, s, "SHOW VIEWS", `["default","v",false]`)
	refuse(t, s, "DESCRIBE DETAIL v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "DESCRIBE HISTORY v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "SHOW PARTITIONS v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
	refuse(t, s, "SELECT * FROM v VERSION AS OF 1", "UNSUPPORTED_FEATURE.TIME_TRAVEL")
	want(t, s, "CREATE OR REPLACE VIEW v AS SELECT count(*) AS n FROM people VERSION AS OF 1")
	want(t, s, "SELECT * FROM v", `[2]`)
	refuse(t, s, "CREATE OR REPLACE VIEW v AS SELECT * FROM v", "RECURSIVE_VIEW")
	refuse(t, s, "CREATE VIEW twice AS SELECT 1 AS a, 2 AS A", "COLUMN_ALREADY_EXISTS")
	refuse(t, s, "CREATE VIEW w (a) AS SELECT 1, 2", "CREATE_VIEW_COLUMN_ARITY_MISMATCH")
	refuse(t, s, "CREATE VIEW w AS SELECT nope FROM people", "UNRESOLVED_COLUMN.WITH_SUGGESTION")

	other := openSession(t, openEngine(t, Options{Catalog: root, ReadOnly: true}), SessionOptions{})
	want(t, other, "SELECT n FROM default.V", `[2]`)
	refuse(t, other, "CREATE VIEW w AS SELECT 1 AS x", "DELTASQL_READ_ONLY")
	refuse(t, other, "DROP VIEW v", "DELTASQL_READ_ONLY")
	want(t, other, "CREATE TEMPORARY VIEW v AS SELECT 'mine' AS x")
	want(t, other, "SELECT * FROM v", `["mine"]`)
	want(t, other, "SHOW VIEWS", `["","v",true]`, `["default","v",false]`)
	want(t, other, "CREATE TEMP VIEW w AS SELECT concat(x, '!') AS y FROM v")
	want(t, other, "SELECT y FROM w", `["mine!"]`)
	want(t, other, "CREATE TEMP VIEW people AS SELECT id FROM people WHERE id = 1")
	want(t, other, "SELECT * FROM people", `[1]`)
	want(t, other, "SELECT count(*) FROM default.people", `[4]`)
	refuse(t, other, "CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM w", "RECURSIVE_VIEW")
	want(t, other, "DROP VIEW v")
	want(t, other, "SELECT * FROM v", `[2]`)

	want(t, s, "DROP VIEW v")
	refuse(t, s, "SELECT * FROM v", "DELTA_TABLE_NOT_FOUND")
	refuse(t, s, "DROP VIEW v", "VIEW_NOT_FOUND")
	refuse(t, s, "DROP VIEW people", "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
	want(t, s, "DROP VIEW IF EXISTS v")
}

func TestViewKeepsItsColumns(t *testing.T) {
	s, root := openWarehouse(t)
	log := filepath.Join(root, "default", "evolved", protocol.LogFolder)
	grown := filepath.Join(t.TempDir(), "log")
	if err := os.CopyFS(grown, os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	commits, err := filepath.Glob(filepath.Join(log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commits {
		if base := filepath.Base(name); strings.TrimPrefix(base, ".") >= protocol.CommitName(2) {
			os.Remove(name)
		}
	}
	want(t, s, "CREATE VIEW all_of_it AS SELECT * FROM evolved")
	before, _, err := answer(s, "SELECT * FROM all_of_it")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(log, os.DirFS(grown)); err != nil {
		t.Fatal(err)
	}
	now, _, err := answer(s, "SELECT * FROM evolved")
	if err != nil || now == before {
		t.Fatalf("the table did not grow: %s, %v", now, err)
	}
	if after, _, err := answer(s, "SELECT * FROM all_of_it"); err != nil || after != before {
		t.Errorf("the view has %s, had %s, %v", after, before, err)
	}
}

// A view means what it meant when it was made, whatever sql_mode the session has that reads it.
func TestViewKeepsItsMode(t *testing.T) {
	root := warehouse(t)
	engine := openEngine(t, Options{Catalog: root})
	s := openSession(t, engine, SessionOptions{Dialect: "mysql", Settings: map[string]string{"sql_mode": "ANSI_QUOTES"}})
	want(t, s, `CREATE VIEW quoted AS SELECT "id" AS x FROM people WHERE id = 2`)
	want(t, s, `CREATE VIEW either AS SELECT 0 || 1 AS x`)
	want(t, s, "SET sql_mode = ''")
	want(t, s, "SELECT x FROM quoted", `[2]`)
	want(t, s, "SELECT x FROM either", `[true]`)
	want(t, openSession(t, engine, SessionOptions{}), "SELECT x FROM quoted", `[2]`)
	want(t, s, "SET sql_mode = 'PIPES_AS_CONCAT'")
	want(t, s, "CREATE VIEW joined AS SELECT x || 'a' AS y, e.x OR false AS z FROM either AS e")
	want(t, s, "SELECT 0 || 1, x FROM either", `["01",true]`)
	for _, mode := range []string{"", "PIPES_AS_CONCAT"} {
		want(t, s, "SET sql_mode = '"+mode+"'")
		want(t, s, "SELECT y, z FROM joined", `["1a",true]`)
	}
}

// A definition that is not what CREATE VIEW writes is damaged, and is neither followed nor shown as something else.
func TestDamagedViews(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "CREATE VIEW good AS SELECT 1 AS a")
	folder := filepath.Join(root, "_deltasql", "views", "default")
	for name, text := range map[string]string{
		"nothing": "", "null": "null", "list": "[]",
		"of_none":  `{"format":1,"name":"of_none","database":"","query":"SELECT 1 AS a","outputs":["a"],"columns":[{"name":"a"}],"dialect":"spark"}`,
		"of_other": `{"format":1,"name":"good","database":"default","query":"SELECT 1 AS a","outputs":["a"],"columns":[{"name":"a"}],"dialect":"spark"}`,
		"columns":  `{"format":1,"name":"columns","database":"default","query":"SELECT 1 AS a","outputs":["a"],"columns":[{"name":"a"},{"name":"b"}],"dialect":"spark"}`,
		"dialect":  `{"format":1,"name":"dialect","database":"default","query":"SELECT 1 AS a","outputs":["a"],"columns":[{"name":"a"}],"dialect":"dutch"}`,
		"mode":     `{"format":1,"name":"mode","database":"default","query":"SELECT 1 AS a","outputs":["a"],"columns":[{"name":"a"}],"dialect":"mysql","sqlMode":"X"}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		refuse(t, s, "SELECT * FROM `"+name+"`", "DELTASQL_STORAGE")
		refuse(t, s, "SHOW CREATE TABLE `"+name+"`", "DELTASQL_STORAGE")
	}
	want(t, s, "SHOW VIEWS LIKE 'g*'", `["default","good",false]`)
	want(t, s, "CREATE OR REPLACE VIEW good AS SELECT 2 AS a")
	want(t, s, "SELECT * FROM good", `[2]`)
}

// Views that double at every level end at a limit, not at the end of the memory.
func TestViewsThatDouble(t *testing.T) {
	s, _ := openWarehouse(t)
	want(t, s, "CREATE TEMP VIEW v0 AS SELECT 1 AS a")
	for i := 1; ; i++ {
		sql := fmt.Sprintf("CREATE TEMP VIEW v%d AS SELECT a FROM v%d UNION ALL SELECT a FROM v%d", i, i-1, i-1)
		_, _, err := answer(s, sql)
		if protocol.ClassOf(err) == "DELTASQL_LIMIT_EXCEEDED" {
			return
		}
		if err != nil || i > 30 {
			t.Fatalf("level %d: %v", i, err)
		}
	}
}
