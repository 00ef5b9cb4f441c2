package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

func TestForeignFiles(t *testing.T) {
	s, root := openWarehouse(t)
	csv := filepath.Join(root, "x.csv")
	if err := os.WriteFile(csv, []byte("a,b,{0}\n1,x,2020-01-01\n2,,2020-01-02\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, s, "SELECT * FROM csv.`"+csv+"` ORDER BY a DESC", `[2,null,"2020-01-02"]`, `[1,"x","2020-01-01"]`)
	want(t, s, "SELECT `{0}` FROM csv.`"+csv+"` WHERE a = 1", `["2020-01-01"]`)
	want(t, s, "DESCRIBE csv.`"+csv+"`", `["a","bigint",null]`, `["b","string",null]`, `["{0}","date",null]`)
	want(t, s, "SELECT count(*) FROM json.`"+root+"/default/people/_delta_log/*.json` WHERE add IS NOT NULL", `[5]`)
	want(t, s, "SELECT metaData.description FROM json.`"+root+"/default/people/_delta_log/00000000000000000000.json` WHERE metaData IS NOT NULL", `["who"]`)
	_, rows, err := answer(s, "SELECT count(*) FROM parquet.`"+root+"/default/people`")
	if err != nil || len(rows) != 1 || rows[0] == `[0]` {
		t.Errorf("parquet files of a folder: %v %v", rows, err)
	}
	refuse(t, s, "SELECT * FROM parquet.`"+root+"/nope.parquet`", "DELTA_PATH_DOES_NOT_EXIST")
	refuse(t, s, "DESCRIBE HISTORY parquet.`"+root+"/default/people`", "DELTA_TABLE_ONLY_OPERATION")
	refuse(t, s, "SELECT * FROM parquet.`"+csv+"`", "DELTA_FAILED_TO_READ_FILE")
	if e := refuse(t, s, "SELECT * FROM delta.`"+csv+"`", "DELTA_TABLE_ONLY_OPERATION"); !strings.Contains(e.Hint, "csv.`") {
		t.Errorf("hint %q", e.Hint)
	}
}

// A path is itself before it is a pattern, a folder is its data files, and devices are not read.
func TestForeignPaths(t *testing.T) {
	s, root := openWarehouse(t)
	folder := filepath.Join(root, "raw[1]")
	for name, text := range map[string]string{"a.csv": "a\n1\n", "b?.csv": "a\n2\n", "below/c.csv": "a\n3\n", "_old/d.csv": "a\n4\n", ".e.csv": "a\n5\n", "note.txt": "x"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(folder, filepath.Join(folder, "loop")); err != nil {
		t.Skip(err)
	}
	want(t, s, "SELECT a FROM csv.`"+folder+"` ORDER BY a", `[1]`, `[2]`, `[3]`)
	want(t, s, "SELECT a FROM csv.`"+folder+"/b?.csv`", `[2]`)
	want(t, s, "SELECT a FROM csv.`"+root+"/raw*/a.c*`", `[1]`)
	refuse(t, s, "SELECT * FROM csv.`"+root+"/no*`", "DELTA_PATH_DOES_NOT_EXIST")
	refuse(t, s, "SELECT * FROM parquet.`"+folder+"`", "DELTA_PATH_DOES_NOT_EXIST")
	refuse(t, s, "SELECT * FROM csv.`"+os.DevNull+"`", "DELTASQL_STORAGE")
	want(t, s, "SELECT count(*) >= 7, count(*) < 20 FROM parquet.`"+root+"/default/checkpoints`", `[true,true]`)
	if warnings := s.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0].Message, "is a Delta table") {
		t.Errorf("the files of a Delta table: %v", warnings)
	}
}

// What DuckDB offers beside our own tables of functions cannot be reached through SQL.
func TestDoorsToTheMachineAreShut(t *testing.T) {
	s, _ := openWarehouse(t)
	for _, call := range []string{
		"read_text('/etc/passwd')", "read_blob('/etc/passwd')", "read_csv('/etc/passwd')", "read_json('/etc/passwd')", "read_parquet('x')", "glob('/*')",
		"query('SELECT 1')", "query_table('people')", "duckdb_settings()", "duckdb_functions()", "pragma_version()", "sniff_csv('/etc/passwd')", "parquet_metadata('x')",
	} {
		refuse(t, s, "SELECT * FROM "+call, "UNRESOLVABLE_TABLE_VALUED_FUNCTION")
	}
	for _, call := range []string{
		"getenv('HOME')", "current_setting('memory_limit')", "glob('/*')", "getvariable('x')", "delta_live(1, 1, 1)", "delta_str(1, 1, 1)", "error('x')",
		"write_log('x')", "which_secret('s3://x', 's3')", "nextval('s')", "current_query()", "txid_current()",
	} {
		refuse(t, s, "SELECT "+call, "UNRESOLVED_ROUTINE")
	}
	for _, sql := range []string{"COPY people TO '/tmp/x'", "ATTACH '/tmp/x'", "INSTALL httpfs", "LOAD httpfs", "EXPORT DATABASE '/tmp/x'", "CALL pragma_version()"} {
		if _, _, err := answer(s, sql); err == nil || protocol.ClassOf(err) == protocol.ClassInternal {
			t.Errorf("%s: %v", sql, err)
		}
	}
	refuse(t, s, "SELECT * FROM '/etc/passwd'", "PARSE_SYNTAX_ERROR")
	refuse(t, s, "SELECT * FROM sqlite_master", "DELTA_TABLE_NOT_FOUND")
}
