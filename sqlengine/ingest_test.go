package sqlengine

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deltasql/protocol"
)

// put writes files below a folder and gives the folder.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func freshSession(t *testing.T, options SessionOptions) *Session {
	t.Helper()
	return openSession(t, openEngine(t, Options{}), options)
}

// A file is loaded once, by its path, time and size; what is new is loaded, force loads all again.
func TestCopyIntoLoadsOnce(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	in := put(t, map[string]string{"a.csv": "id,name\n1,a\n2,\n", "sub/b.csv": "name,id\n\"b \"\"q\"\", x\",3\n", "_c.csv": "junk", ".d": "junk"})
	want(t, s, "CREATE TABLE t (id INT, name STRING)")
	copyIn := "COPY INTO t FROM '" + in + "' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')"
	want(t, s, copyIn, `[3,3,0]`)
	want(t, s, "SELECT * FROM t ORDER BY id", `[1,"a"]`, `[2,null]`, `[3,"b \"q\", x"]`)
	want(t, s, copyIn, `[0,0,0]`)
	if err := os.WriteFile(filepath.Join(in, "a.csv"), []byte("id,name\n7,z\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	want(t, s, copyIn, `[1,1,0]`)
	want(t, s, copyIn+" COPY_OPTIONS ('force' = 'true')", `[2,2,0]`)
	want(t, s, copyIn+" COPY_OPTIONS ('force' = 'true')", `[2,2,0]`)
	want(t, s, copyIn, `[0,0,0]`)
	want(t, s, "SELECT count(*) FROM t", `[8]`)
	// The table remembers over checkpoints, and another spelling of the path is the same file.
	want(t, s, "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
	want(t, s, "INSERT INTO t VALUES (0, 'x')")
	other := openSession(t, openEngine(t, Options{Catalog: s.engine.catalog.root}), SessionOptions{})
	want(t, other, strings.Replace(copyIn, in, "file:"+in+"/sub/..", 1), `[0,0,0]`)
}

// Of two that load the same files at once each file is loaded by one, also where they have other files besides.
func TestCopyIntoConcurrently(t *testing.T) {
	root := t.TempDir()
	in := put(t, map[string]string{"1.csv": "1\n", "2.csv": "2\n", "3.csv": "3\n", "4.csv": "4\n"})
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id INT)")
	var group sync.WaitGroup
	for _, files := range []string{"'1.csv', '2.csv'", "'2.csv', '3.csv'", "'1.csv', '3.csv', '4.csv'", "'4.csv', '2.csv'", "'1.csv'", "'3.csv', '1.csv'"} {
		mine := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
		group.Go(func() {
			result, err := mine.Execute(context.Background(), "COPY INTO t BY POSITION FROM '"+in+"' FILEFORMAT = CSV FILES = ("+files+")")
			if err != nil {
				t.Error(err)
				return
			}
			result.Close()
		})
	}
	group.Wait()
	want(t, s, "SELECT id, count(*) FROM t GROUP BY id ORDER BY id", `[1,1]`, `[2,1]`, `[3,1]`, `[4,1]`)
}

// A transaction whose files another session has loaded meanwhile stores nothing, and says so.
func TestCopyIntoInTransactions(t *testing.T) {
	engine := openEngine(t, Options{})
	one, two := openSession(t, engine, SessionOptions{}), openSession(t, engine, SessionOptions{})
	in := put(t, map[string]string{"1.csv": "1\n"})
	copyIn := "COPY INTO t BY POSITION FROM '" + in + "' FILEFORMAT = CSV"
	want(t, one, "CREATE TABLE t (id INT)")
	want(t, one, "BEGIN")
	want(t, one, "INSERT INTO t VALUES (9)")
	want(t, one, copyIn, `[1,1,0]`)
	want(t, one, copyIn, `[0,0,0]`)
	want(t, two, copyIn, `[1,1,0]`)
	refuse(t, one, "COMMIT", "DELTA_CONCURRENT_TRANSACTION")
	want(t, one, "SELECT * FROM t", `[1]`)
}

func TestCopyIntoPatterns(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	in := put(t, map[string]string{"a1.csv": "1", "a2.csv": "2", "b1.csv": "3", "sub/a1.csv": "4", "sub/deep/a9.csv": "5", "we[i]rd.csv": "6"})
	want(t, s, "CREATE TABLE t (id INT)")
	for pattern, rows := range map[string]string{
		"a?.csv": "2", "[ab]1.csv": "2", "[^a]*.csv": "2", "{a,b}1.csv": "2", "sub/*.csv": "1", "**/a*.csv": "4", `we\\[i\\]rd.csv`: "1", "nothing": "0",
		"[!a]1.csv": "1", "**": "6", "*": "4",
	} {
		want(t, s, "COPY INTO t BY POSITION FROM '"+in+"' FILEFORMAT = CSV PATTERN = '"+pattern+"' COPY_OPTIONS ('force' = 'true')", "["+rows+","+rows+",0]")
	}
	for _, pattern := range []string{"[a", "{a", "a}", `a\\`} {
		refuse(t, s, "COPY INTO t FROM '"+in+"' FILEFORMAT = CSV PATTERN = '"+pattern+"'", "INVALID_PARAMETER_VALUE")
	}
}

// What goes wrong says what, and stores nothing.
func TestCopyIntoFaults(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	in := put(t, map[string]string{
		"short.csv": "1,2\n3\n", "open.csv": "1,\"2\n", "inner.csv": "1,\"2\"x\n", "lines.csv": "1,\"a\nb\"\n", "latin.csv": "1,\xe9\n",
		"text.csv": "x,2\n", "extra.csv": "id,name,more\n1,a,2\n", "bad.json": "{\"id\": 1}\n{\"id\": \n", "bad.parquet": "no Parquet", "null.csv": ",1\n",
	})
	want(t, s, "CREATE TABLE t (id INT NOT NULL, name STRING)")
	file := func(name string) string {
		return "COPY INTO t BY POSITION FROM '" + in + "/" + name + "' FILEFORMAT = CSV "
	}
	for sql, class := range map[string]protocol.Class{
		file("short.csv"): "MALFORMED_RECORD_IN_PARSING", file("open.csv"): "MALFORMED_RECORD_IN_PARSING", file("inner.csv"): "MALFORMED_RECORD_IN_PARSING",
		file("lines.csv"): "MALFORMED_RECORD_IN_PARSING", file("latin.csv"): "MALFORMED_RECORD_IN_PARSING", file("text.csv"): "CAST_INVALID_INPUT",
		file("null.csv"):    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
		file("missing.csv"): "DELTA_PATH_DOES_NOT_EXIST",
		"COPY INTO t FROM '" + in + "/extra.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')":                     "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
		"COPY INTO t FROM '" + in + "/short.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('mode' = 'PERMISSIVE')":                 "DELTA_METADATA_MISMATCH",
		"COPY INTO t FROM '" + in + "/bad.json' FILEFORMAT = JSON":                                                        "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
		"COPY INTO t FROM '" + in + "/bad.parquet' FILEFORMAT = PARQUET":                                                  "DELTA_FAILED_TO_READ_FILE",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = ORC":                                                                  "DELTASQL_UNSUPPORTED_STATEMENT",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = CSV FILES = ('../x.csv')":                                             "INVALID_PARAMETER_VALUE",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = CSV FORMAT_OPTIONS ('headr' = 'true')":                                "DELTASQL_UNSUPPORTED_STATEMENT",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'maybe')":                              "INVALID_PARAMETER_VALUE",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = CSV FORMAT_OPTIONS ('encoding' = 'ISO-8859-1')":                       "DELTASQL_UNSUPPORTED_STATEMENT",
		"COPY INTO t FROM '" + in + "' FILEFORMAT = CSV COPY_OPTIONS ('forced' = 'true')":                                 "DELTASQL_UNSUPPORTED_STATEMENT",
		"COPY INTO t FROM '" + filepath.Join(s.engine.catalog.root, "default", "t") + "' FILEFORMAT = PARQUET":            "DELTA_TABLE_ONLY_OPERATION",
		"COPY INTO t FROM '" + filepath.Join(s.engine.catalog.root, "default", "t", "_delta_log") + "' FILEFORMAT = JSON": "DELTA_TABLE_ONLY_OPERATION",
		"COPY INTO t FROM '" + s.engine.catalog.root + "' FILEFORMAT = PARQUET":                                           "DELTA_TABLE_ONLY_OPERATION",
	} {
		refuse(t, s, sql, class)
	}
	want(t, s, "SELECT count(*) FROM t", `[0]`)
	permissive := "COPY INTO t BY POSITION FROM '" + in + "' FILEFORMAT = CSV FILES = ('short.csv') FORMAT_OPTIONS ('mode' = 'PERMISSIVE')"
	want(t, s, strings.Replace(permissive, "PERMISSIVE", "DROPMALFORMED", 1)+" VALIDATE", `[1,"2"]`)
	want(t, s, permissive+" VALIDATE 1 ROWS", `[1,"2"]`)
	want(t, s, permissive, `[2,2,0]`)
	want(t, s, "COPY INTO t BY POSITION FROM '"+in+"' FILEFORMAT = CSV FILES = ('inner.csv', 'lines.csv') FORMAT_OPTIONS ('ignoreCorruptFiles' = 'true', 'multiLine' = 'true')", `[1,1,1]`)
	want(t, s, "COPY INTO t FROM '"+in+"' FILEFORMAT = PARQUET FILES = ('bad.parquet') FORMAT_OPTIONS ('ignoreCorruptFiles' = 'true')", `[0,0,1]`)
	want(t, s, "SELECT * FROM t ORDER BY id, name", `[1,"2"]`, `[1,"a\nb"]`, `[3,null]`)
}

func TestCopyIntoFormats(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	in := put(t, map[string]string{
		"d.csv":   "day;at;n\n31/12/2025;2025-12-31 23:59;NA\n",
		"e.csv":   "\ufeffa\tb\r\n1\t'x\\'y'\r\n\r\n# note\r\n2\t\r\n",
		"f.json":  "{\"id\": 1, \"d\": \"2024-02-29\", \"m\": {\"a\": 1, \"b\": 2}, \"p\": 1.10, \"l\": [1, null], \"s\": {\"x\": \"2024-01-01\", \"w\": 7}, \"v\": {\"k\": [1]}}\n{\"id\": 2}\n",
		"i.json":  "{\"p\": 12345678901234567.891}\n",
		"g.json":  "[\n {\"id\": 3,\n \"p\": 12345678.91}\n]",
		"h.csv":   "k,i,b,x,d\n1,3000000000,true,1.5,2024-01-01\n2,,false,2,2024-02-01\n",
		"new.csv": "id,extra\n5,6\n",
	})
	want(t, s, "CREATE TABLE c (day DATE, at TIMESTAMP, n INT)")
	want(t, s, "COPY INTO c FROM '"+in+"/d.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'sep' = ';', 'nullValue' = 'NA', 'dateFormat' = 'dd/MM/yyyy', 'timestampFormat' = 'yyyy-MM-dd HH:mm')", `[1,1,0]`)
	want(t, s, "SELECT * FROM c", `["2025-12-31","2025-12-31T23:59:00.000000Z",null]`)
	want(t, s, "CREATE TABLE e (a INT, b STRING)")
	want(t, s, "COPY INTO e FROM '"+in+"/e.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'delimiter' = '\\t', 'quote' = '\\'', 'comment' = '#')", `[2,2,0]`)
	want(t, s, "SELECT * FROM e ORDER BY a", `[1,"x'y"]`, `[2,null]`)
	want(t, s, "CREATE TABLE j (id BIGINT, d DATE, m MAP<STRING, BIGINT>, p DECIMAL(10,2), l ARRAY<INT>, s STRUCT<x: DATE, w: VARIANT>, v VARIANT)")
	want(t, s, "COPY INTO j FROM '"+in+"/f.json' FILEFORMAT = JSON", `[2,2,0]`)
	want(t, s, "COPY INTO j FROM '"+in+"/g.json' FILEFORMAT = JSON FORMAT_OPTIONS ('multiLine' = 'true')", `[1,1,0]`)
	want(t, s, "SELECT id, d, m, p, l, s.x, to_json(s.w), to_json(v) FROM j ORDER BY id", `[1,"2024-02-29",[["a",1],["b",2]],"1.10",[1,null],"2024-01-01","7","{\"k\":[1]}"]`,
		`[2,null,null,null,null,null,null,null]`, `[3,null,null,"12345678.91",null,null,null,null]`)
	refuse(t, s, "COPY INTO j FROM '"+in+"/i.json' FILEFORMAT = JSON", "NUMERIC_VALUE_OUT_OF_RANGE")
	want(t, s, "CREATE TABLE h")
	want(t, s, "COPY INTO h FROM '"+in+"/h.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'inferSchema' = 'true') COPY_OPTIONS ('mergeSchema' = 'true')", `[2,2,0]`)
	want(t, s, "SELECT typeof(k), typeof(i), typeof(b), typeof(x), typeof(d), h.* FROM h WHERE k = 1", `["int","bigint","boolean","double","date",1,3000000000,true,1.5,"2024-01-01"]`)
	want(t, s, "CREATE TABLE k (id INT DEFAULT 1, twice INT GENERATED ALWAYS AS (id * 2)) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
	want(t, s, "COPY INTO k FROM '"+in+"/new.csv' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true') COPY_OPTIONS ('mergeSchema' = 'true')", `[1,1,0]`)
	want(t, s, "SELECT * FROM k", `[5,10,"6"]`)
	want(t, s, "COPY INTO k (id) FROM (SELECT _c0::INT + 1 FROM '"+in+"/new.csv' WHERE _c0 <> 'id') FILEFORMAT = CSV COPY_OPTIONS ('force' = 'true')", `[1,1,0]`)
	want(t, s, "SELECT id, twice, extra FROM k ORDER BY id", `[5,10,"6"]`, `[6,12,null]`)
}

// What COPY TO writes, COPY INTO reads back.
func TestCopyRoundTrip(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	want(t, s, "SET TIME ZONE 'Asia/Kolkata'")
	want(t, s, "CREATE TABLE t (i INT, s STRING, d DATE, at TIMESTAMP, n TIMESTAMP_NTZ, x DOUBLE, p DECIMAL(20,3), b BOOLEAN)")
	want(t, s, `INSERT INTO t VALUES (1, 'a,"b"', DATE'2024-02-29', TIMESTAMP'2024-01-01 00:00:00.123456', TIMESTAMP_NTZ'1999-12-31 23:59:59.5', 1.5e300, 123456789012.891, true),
		(2, '', NULL, NULL, NULL, NULL, NULL, NULL), (3, NULL, DATE'0001-01-01', TIMESTAMP'1969-12-31 23:59:59', NULL, -0.0, 0.001, false), (4, 'line\nline \\ tab\t', NULL, NULL, NULL, NULL, NULL, NULL)`)
	before := answered(t, s, "SELECT * FROM t ORDER BY i")
	for _, f := range []struct{ name, export, format, options string }{
		{"a.csv", "", "CSV", "('header' = 'true', 'multiLine' = 'true', 'escape' = '\"')"},
		{"b.txt", "(FORMAT csv, HEADER false, DELIMITER '|', COMPRESSION none)", "CSV", "('sep' = '|', 'multiLine' = 'true', 'escape' = '\"')"},
		{"c.csv.gz", "", "CSV", "('header' = 'true', 'multiLine' = 'true', 'escape' = '\"')"},
		{"d.json", "", "JSON", "()"}, {"e.jsonl.gz", "", "JSON", "()"}, {"f.parquet", "", "PARQUET", "()"}, {"g", "(FORMAT parquet, COMPRESSION zstd)", "PARQUET", "()"},
	} {
		path := filepath.Join(folder, f.name)
		want(t, s, "COPY t TO '"+path+"' "+f.export)
		want(t, s, "CREATE OR REPLACE TABLE u (i INT, s STRING, d DATE, at TIMESTAMP, n TIMESTAMP_NTZ, x DOUBLE, p DECIMAL(20,3), b BOOLEAN)")
		position := ""
		if f.name == "b.txt" {
			position = "BY POSITION "
		}
		options := ""
		if f.options != "()" {
			options = " FORMAT_OPTIONS " + f.options
		}
		want(t, s, "COPY INTO u "+position+"FROM '"+path+"' FILEFORMAT = "+f.format+options, `[4,4,0]`)
		if after := answered(t, s, "SELECT * FROM u ORDER BY i"); strings.Join(after, "\n") != strings.Join(before, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", f.name, strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
		refuse(t, s, "COPY t TO '"+path+"' "+f.export, "DELTASQL_FILE_EXISTS")
	}
	entries, _ := os.ReadDir(folder)
	if len(entries) != 7 {
		t.Errorf("the folder has %v", entries)
	}
}

func answered(t *testing.T, s *Session, sql string) []string {
	t.Helper()
	_, rows, err := answer(s, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func TestCopyToPaths(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	root := s.engine.catalog.root
	want(t, s, "CREATE TABLE t AS SELECT id, id % 2 AS p, CASE WHEN id = 3 THEN NULL ELSE 'x y' END AS q FROM range(4)")
	for path, class := range map[string]protocol.Class{
		root + "/default/t/x.csv": "DELTA_TABLE_ONLY_OPERATION", root + "/default/t' (FORMAT csv, PARTITION_BY p) --": "DELTA_TABLE_ONLY_OPERATION", root + "/default/t/_delta_log/x.csv": "DELTA_TABLE_ONLY_OPERATION",
		folder + "/no/x.csv": "DELTA_PATH_DOES_NOT_EXIST", folder + "/x": "PARSE_SYNTAX_ERROR",
	} {
		refuse(t, s, "COPY t TO '"+path+"'", class)
	}
	refuse(t, s, "COPY t TO '"+folder+"/x.csv' (COLOUR red)", "DELTASQL_UNSUPPORTED_STATEMENT")
	refuse(t, s, "COPY t TO '"+folder+"/x.csv' (FORMAT orc)", "DELTASQL_UNSUPPORTED_STATEMENT")
	refuse(t, s, "COPY (SELECT array(1) AS a) TO '"+folder+"/x.csv'", "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
	refuse(t, s, "COPY (SELECT 1 AS a, 2 AS A) TO '"+folder+"/x.csv'", "COLUMN_ALREADY_EXISTS")
	refuse(t, s, "COPY (SELECT id / (id - 2) AS a FROM t) TO '"+folder+"/x.csv'", "DIVIDE_BY_ZERO")
	want(t, s, "COPY (SELECT id FROM t ORDER BY id DESC) TO '"+folder+"/x.csv'")
	text, err := os.ReadFile(folder + "/x.csv")
	if string(text) != "id\n3\n2\n1\n0\n" {
		t.Errorf("%q, %v", text, err)
	}
	want(t, s, "COPY (SELECT 7 AS seven) TO '"+folder+"/x.csv' (OVERWRITE)")
	if text, _ = os.ReadFile(folder + "/x.csv"); string(text) != "seven\n7\n" {
		t.Errorf("%q", text)
	}
	for _, format := range []string{"csv", "json", "parquet"} {
		want(t, s, "COPY t TO '"+folder+"/parts' (FORMAT "+format+", PARTITION_BY (p, q), OVERWRITE)")
		names, err := filepath.Glob(folder + "/parts/p=*/q=*/*." + format)
		if err != nil || len(names) != 3 {
			t.Errorf("%s: %v, %v", format, names, err)
		}
	}
	note := folder + "/parts/p=0/notes.txt"
	if err := os.WriteFile(note, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, s, "COPY t TO '"+folder+"/parts' (FORMAT csv, PARTITION_BY p, OVERWRITE)", "DELTASQL_FILE_EXISTS")
	if err := os.Remove(note); err != nil {
		t.Errorf("a folder with a file that is no data was replaced: %v", err)
	}
	refuse(t, s, "COPY t TO '"+root+"' (FORMAT csv, PARTITION_BY p, OVERWRITE)", "DELTASQL_FILE_EXISTS")
	refuse(t, s, "COPY t TO '"+filepath.Dir(root)+"' (FORMAT csv, PARTITION_BY p, OVERWRITE)", "DELTASQL_FILE_EXISTS")
	want(t, s, "CREATE TABLE delta.`"+folder+"/parts/inner` (a INT)")
	refuse(t, s, "COPY t TO '"+folder+"/parts' (FORMAT csv, PARTITION_BY p, OVERWRITE)", "DELTA_TABLE_ONLY_OPERATION")
	entries, _ := os.ReadDir(folder)
	if len(entries) != 2 {
		t.Errorf("the folder has %v", entries)
	}
	reader := openSession(t, s.engine, SessionOptions{ReadOnly: true})
	refuse(t, reader, "COPY t TO '"+folder+"/y.csv'", "DELTASQL_READ_ONLY")
	fenced := openSession(t, openEngine(t, Options{Roots: []string{root}}), SessionOptions{})
	refuse(t, fenced, "COPY (SELECT 1 AS a) TO '"+folder+"/y.csv'", "DELTASQL_PATH_FENCED")
	refuse(t, fenced, "COPY INTO t FROM '"+folder+"' FILEFORMAT = CSV", "DELTA_TABLE_NOT_FOUND")
}

// A link inside of the fence does not lead out of it.
func TestCopyIntoFence(t *testing.T) {
	out := put(t, map[string]string{"secret.csv": "1\n"})
	in := t.TempDir()
	if err := os.Symlink(filepath.Join(out, "secret.csv"), filepath.Join(in, "a.csv")); err != nil {
		t.Fatal(err)
	}
	s := openSession(t, openEngine(t, Options{Roots: []string{in}}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id INT)")
	refuse(t, s, "COPY INTO t BY POSITION FROM '"+in+"' FILEFORMAT = CSV", "DELTASQL_PATH_FENCED")
	refuse(t, s, "LOAD DATA INFILE '"+in+"/a.csv' INTO TABLE t", "DELTASQL_PATH_FENCED")
}

// LOAD DATA reads MySQL's text.
func TestLoadData(t *testing.T) {
	texts := map[string]string{
		"plain":    "1\ta\n2\t\\N\n3\ttab\\\tline\\\nback\\\\\n4\t\n",
		"csv":      "head,line\r\n1,\"a \"\"q\"\", b\"\r\n2,NULL\r\n3,\"NULL\"\r\n4,\"x\"y\"\r\n",
		"prefixed": "junk\nxxx1\ta\nnothing\n--xxx2\tb\n",
		"few":      "1\n2\tb\tc\n",
		"escapes":  "1\ta\\0b\\Zc\\q\n",
		"latin":    "1\t\xe9\n",
		"vars":     "3|x\n4|y\n",
	}
	in := put(t, texts)
	for door, sessions := range map[string]SessionOptions{
		"server": {Dialect: "mysql"},
		"client": {Dialect: "mysql", LocalFile: func(_ context.Context, name string) (io.ReadCloser, error) { return os.Open(name) }},
	} {
		t.Run(door, func(t *testing.T) {
			s := freshSession(t, sessions)
			local := ""
			if door == "client" {
				local = "LOCAL "
			}
			want(t, s, "CREATE TABLE t (id INT, name TEXT)")
			load := func(file, rest string) string {
				return "LOAD DATA " + local + "INFILE '" + in + "/" + file + "' INTO TABLE t " + rest
			}
			check := func(sql string, rows ...string) {
				t.Helper()
				want(t, s, "CREATE OR REPLACE TABLE t (id INT, name TEXT)")
				want(t, s, sql)
				want(t, s, "SELECT id, name FROM t ORDER BY id", rows...)
			}
			check(load("plain", ""), `[1,"a"]`, `[2,null]`, `[3,"tab\tline\nback\\"]`, `[4,""]`)
			check(load("csv", `FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\r\n' IGNORE 1 LINES`), `[1,"a \"q\", b"]`, `[2,null]`, `[3,"NULL"]`, `[4,"x\"y"]`)
			check(load("prefixed", "LINES STARTING BY 'xxx'"), `[1,"a"]`, `[2,"b"]`)
			check(load("escapes", ""), `[1,"a\u0000b\u001acq"]`)
			check(load("vars", "FIELDS TERMINATED BY '|' (@n, name) SET id = @n * 10"), `[30,"x"]`, `[40,"y"]`)
			check(load("vars", "FIELDS TERMINATED BY '|' (id, @skip)"), `[3,null]`, `[4,null]`)
			check(load("vars", "FIELDS TERMINATED BY '|' IGNORE 5 LINES"))
			refuse(t, s, load("latin", ""), "MALFORMED_RECORD_IN_PARSING")
			refuse(t, s, strings.Replace(load("plain", ""), "INTO", "REPLACE INTO", 1), "DELTASQL_UNSUPPORTED_STATEMENT")
			refuse(t, s, load("plain", "FIELDS TERMINATED BY ''"), "DELTASQL_UNSUPPORTED_STATEMENT")
			refuse(t, s, load("plain", "CHARACTER SET latin1"), "DELTASQL_UNSUPPORTED_STATEMENT")
			refuse(t, s, load("plain", "(name, id)"), "DELTASQL_INCORRECT_VALUE")
			if door == "server" {
				refuse(t, s, load("few", ""), "DELTASQL_WRONG_NUMBER_OF_FIELDS")
				refuse(t, s, load("missing", ""), "DELTA_PATH_DOES_NOT_EXIST")
				check(strings.Replace(load("few", ""), "INTO", "IGNORE INTO", 1), `[1,null]`, `[2,"b"]`)
			} else {
				check(load("few", ""), `[1,null]`, `[2,"b"]`)
			}
			want(t, s, "SHOW WARNINGS")
		})
	}
}

// The rows of one batch come in and number themselves.
func TestInsertManyRows(t *testing.T) {
	s := freshSession(t, SessionOptions{Dialect: "mysql"})
	want(t, s, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(20) DEFAULT 'none')")
	var text strings.Builder
	text.WriteString("INSERT INTO t (a, b) VALUES ")
	for i := range 10_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString("(" + strings.Repeat("1", i%5+1) + ",'row \\'quoted\\'')")
	}
	started := time.Now()
	result, err := s.Execute(context.Background(), text.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", time.Since(started))
	if result.Affected != 10_000 || result.LastInsertID != 1 {
		t.Errorf("%d rows, first id %d", result.Affected, result.LastInsertID)
	}
	want(t, s, "SELECT count(*), min(id), max(id), count(DISTINCT id), sum(a), max(b) FROM t", `[10000,1,10000,10000,"24690000","row 'quoted'"]`)
	want(t, s, "INSERT INTO t SET a = 5")
	want(t, s, "INSERT INTO t () VALUES ()")
	want(t, s, "INSERT INTO t VALUES (DEFAULT, 6, DEFAULT)")
	want(t, s, "SELECT a, b FROM t WHERE id > 10000 ORDER BY id", `[5,"none"]`, `[null,"none"]`, `[6,"none"]`)
	want(t, s, "SELECT last_insert_id()", `[10003]`)
}
