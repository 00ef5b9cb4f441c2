package sqlengine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// footerElement is a SchemaElement as an independent reader of Thrift sees it.
type footerElement struct {
	Name        string `thrift:"4,required"`
	NumChildren int32  `thrift:"5,optional"`
	Logical     *struct {
		Variant *struct{} `thrift:"16,optional"`
		File    *struct{} `thrift:"19,optional"`
	} `thrift:"10,optional"`
}

type footerSchema struct {
	Schema []footerElement `thrift:"2,required"`
}

// fileGroups reads a Parquet file's footer and gives the paths of the groups that are marked as files.
func fileGroups(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	footer := data[len(data)-8-length : len(data)-8]
	var meta footerSchema
	reader := new(thrift.CompactProtocol).NewReader(bytes.NewReader(footer))
	if err := thrift.NewDecoder(reader).Decode(&meta); err != nil {
		t.Fatal(err)
	}
	var found []string
	at := 0
	var walk func(path []string)
	walk = func(path []string) {
		e := meta.Schema[at]
		at++
		if len(meta.Schema) > 1 && at > 1 {
			path = append(path[:len(path):len(path)], e.Name)
		}
		if e.Logical != nil && e.Logical.File != nil {
			found = append(found, strings.Join(path, "."))
		}
		for range e.NumChildren {
			walk(path)
		}
	}
	walk(nil)
	if at != len(meta.Schema) {
		t.Errorf("%s: the schema's tree has %d elements of %d", path, at, len(meta.Schema))
	}
	return found
}

func dataFiles(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") && !strings.Contains(path, "_delta_log") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestFileAnnotation: every data file that is written has the logical type FILE on each group of a file value and on nothing else, also
// those of OPTIMIZE, UPDATE and change feeds, at any depth and under column mapping; the values read back (protocol digest 9.1).
func TestFileAnnotation(t *testing.T) {
	for _, mode := range []string{"none", "name", "id"} {
		t.Run(mode, func(t *testing.T) {
			folder := t.TempDir()
			session := openSession(t, openEngine(t, Options{Catalog: folder}), SessionOptions{})
			do := func(sql string) string { t.Helper(); return strings.Join(answered(t, session, sql), " ") }
			properties := "'delta.columnMapping.mode' = '" + mode + "', 'delta.enableChangeDataFeed' = 'true'"
			do(`CREATE TABLE t (p INT, x STRUCT<uri: STRING, offset: BIGINT>, f FILE, s STRUCT<a: INT, g: FILE>, l ARRAY<FILE>, k MAP<STRING, ARRAY<STRUCT<h: FILE>>>) PARTITIONED BY (p) TBLPROPERTIES (` + properties + `)`)
			for i := range 3 {
				do(fmt.Sprintf(`INSERT INTO t SELECT %d, named_struct('uri', 'u', 'offset', 1), file('s3://b/' || id, 1, id), named_struct('a', 1, 'g', file_inline('x')), array(file('s3://l/a')), map('k', array(named_struct('h', file('s3://h/a')))) FROM range(10)`, i))
			}
			do(`UPDATE t SET f = file('s3://b/updated') WHERE f.uri = 's3://b/3'`)
			do(`DELETE FROM t WHERE f.size = 4`)
			do(`OPTIMIZE t`)
			paths := dataFiles(t, filepath.Join(folder, "default", "t"))
			if len(paths) < 9 {
				t.Fatalf("only %d files", len(paths))
			}
			for _, path := range paths {
				groups := fileGroups(t, path)
				if len(groups) != 4 {
					t.Errorf("%s: files are %q", path, groups)
				}
				if want := "f s.g l.list.element k.key_value.value.list.element.h"; mode == "none" && strings.Join(groups, " ") != want {
					t.Errorf("%s: files are %q, want %q", path, groups, want)
				}
			}
			const tail = `1,1,"s3://l/a","s3://h/a"]`
			expected := `["s3://b/0",` + tail + ` ["s3://b/updated",` + tail
			got := do(`SELECT f.uri, s.a, octet_length(string(s.g)) - 14, l[0].uri, k['k'][0].h.uri FROM t WHERE p = 1 AND (f.uri = 's3://b/0' OR f.uri LIKE '%updated') ORDER BY f.uri`)
			if got != expected {
				t.Errorf("got  %s\nwant %s", got, expected)
			}
			if got := do(`SELECT count(*), sum(f.size), count(f.offset) FROM t`); got != "[27,114,24]" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestFileSkipping: comparisons, prefixes, lists and tests for NULL of a file's leaves skip files by the statistics of the leaf, before
// and after a checkpoint; EXPLAIN names the leaf (protocol digest 9.5).
func TestFileSkipping(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT, f FILE, s STRUCT<g: FILE>) TBLPROPERTIES ('delta.checkpointInterval' = '100')")
	for n := 1; n <= 4; n++ {
		run(t, s, fmt.Sprintf("INSERT INTO t SELECT id, file('s3://b/%[1]d/' || id, 0, %[1]d00 + id, 'image/%[1]d', 'CRC32:0000000%[1]d'), named_struct('g', file('s3://g/%[1]d')) FROM range(5)", n))
	}
	run(t, s, "INSERT INTO t VALUES (50, NULL, NULL)", "INSERT INTO t VALUES (60, file_inline('x'), NULL)")
	conditions := []struct {
		condition     string
		skipped, rows int
	}{
		{"f.uri = 's3://b/3/2'", 5, 1},
		{"F.URI = 's3://b/3/2'", 5, 1},
		{"f['uri'] = 's3://b/3/2'", 5, 1},
		{"f.uri LIKE 's3://b/2%'", 5, 5},
		{"f.uri IN ('s3://b/1/0', 's3://b/4/4')", 4, 2},
		{"f.uri > 's3://b/3/'", 4, 10},
		{"f.size BETWEEN 200 AND 204", 5, 5},
		{"f.offset > 0", 6, 0},
		{"f.content_type = 'image/1'", 5, 5},
		{"f.checksum = 'CRC32:00000003'", 5, 5},
		{"s.g.uri = 's3://g/4'", 5, 5},
		{"f.uri IS NULL", 4, 2},
		{"f.uri IS NOT NULL", 2, 20},
		{"f IS NULL", 4, 1},
		{"f IS NOT NULL", 0, 21},
		{"f IS NOT NULL AND f.size IS NULL", 4, 1},
	}
	check := func(when string) {
		t.Helper()
		for _, c := range conditions {
			rows := answered(t, s, "SELECT count(*) FROM t WHERE "+c.condition)
			if rows[0] != fmt.Sprintf("[%d]", c.rows) {
				t.Errorf("%s, %s: rows %s, want %d", when, c.condition, rows[0], c.rows)
			}
			plan := strings.Join(answered(t, s, "EXPLAIN SELECT * FROM t WHERE "+c.condition), "\n")
			var skipped int
			for _, line := range strings.Split(plan, "\n") {
				if _, after, ok := strings.Cut(line, "skipped by statistics"); ok {
					fmt.Sscan(strings.Trim(after, `"] `), &skipped)
				}
			}
			if skipped > c.skipped || skipped < c.skipped && c.condition != "f IS NOT NULL" {
				t.Errorf("%s, %s: %d files skipped, want %d\n%s", when, c.condition, skipped, c.skipped, plan)
			}
			if c.skipped > 0 && !strings.Contains(strings.ToLower(plan), "f.") && !strings.Contains(plan, "g.") && !strings.Contains(plan, "f IS") {
				t.Errorf("%s, %s: the plan names no leaf\n%s", when, c.condition, plan)
			}
		}
	}
	check("from JSON")
	for _, properties := range []string{"'delta.checkpoint.writeStatsAsStruct' = 'true'", "'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'"} {
		run(t, s, "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '1', "+properties+")")
		s = openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
		check("from a checkpoint with " + properties)
	}
}

// TestFileStatistics: the log has, for every file, how often each leaf is NULL and bounds of the five public ones; what a value holds
// itself has neither.
func TestFileStatistics(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (f FILE)", "INSERT INTO t VALUES (file('s3://b/a', 1, 2, 'x/y', 'ETAG:1')), (file('s3://b/z')), (NULL), (file_inline('abc', 'text/plain'))")
	data, err := os.ReadFile(filepath.Join(root, "default", "t", "_delta_log", "00000000000000000001.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{\"numRecords\":4,\"minValues\":{\"f\":{\"uri\":\"s3://b/a\",\"offset\":1,\"size\":2,\"content_type\":\"text/plain\",\"checksum\":\"ETAG:1\"}},` +
		`\"maxValues\":{\"f\":{\"uri\":\"s3://b/z\",\"offset\":1,\"size\":2,\"content_type\":\"x/y\",\"checksum\":\"ETAG:1\"}},` +
		`\"nullCount\":{\"f\":{\"uri\":2,\"offset\":3,\"size\":3,\"content_type\":2,\"checksum\":3}}`
	if !strings.Contains(string(data), want) {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// TestForeignFileValues: what another writer stored is read as it is meant: groups in any order and of any subset of members, values
// that cannot be resolved as NULL or, if the session says so, as an error; their leaves are what is stored. Such a value cannot be
// written again, and one that refers to its own data file cannot be moved. A nullCount that is one number for the column skips nothing
// wrongly (protocol digest 9.3, 9.6).
func TestForeignFileValues(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, s, "CREATE TABLE t (id INT, f FILE)")
	add := func(version int, name, query, stats string) {
		t.Helper()
		from := filepath.Join(t.TempDir(), name)
		run(t, s, "COPY ("+query+") TO '"+from+"' (FORMAT parquet)")
		to := filepath.Join(root, "default", "t", name)
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(to)
		if err != nil {
			t.Fatal(err)
		}
		rawCommit(t, root, "t", version, fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":0,"dataChange":true,"stats":%q}}`, name, info.Size(), stats))
	}
	add(1, "a.parquet", `SELECT CAST(column1 AS INT) AS id, CASE WHEN column1 < 9 THEN named_struct('size', CAST(column3 AS BIGINT), 'offset', CAST(column2 AS BIGINT), 'uri', column4) END AS f FROM
		VALUES (1, 0, 3, 's3://b/a'), (2, NULL, NULL, 'relative/a'), (3, -1, 3, 's3://b/c'), (4, 5, NULL, 's3://b/d'), (5, NULL, 3, ''), (6, 2, 3, NULL), (9, 0, 0, '') AS v(column1, column2, column3, column4)`,
		`{"numRecords":7,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0,"f":1}}`)
	add(2, "b.parquet", `SELECT CAST(20 AS INT) AS id, named_struct('uri', 's3://b/z') AS f`,
		`{"numRecords":1,"minValues":{"id":20,"f":{"uri":"s3://b/z"}},"maxValues":{"id":20,"f":{"uri":"s3://b/z"}},"nullCount":{"id":0,"f":{"uri":0,"offset":1,"size":1,"content_type":1,"checksum":1}}}`)
	const head = `{"uri":`
	shown := func(uri, offset, size string) string {
		return head + uri + `,"offset":` + offset + `,"size":` + size + `,"content_type":null,"checksum":null}`
	}
	want(t, s, "SELECT id, f FROM t ORDER BY id",
		`[1,`+shown(`"s3://b/a"`, "0", "3")+`]`, `[2,null]`, `[3,null]`, `[4,null]`, `[5,null]`, `[6,`+shown("null", "2", "3")+`]`, `[9,null]`, `[20,`+shown(`"s3://b/z"`, "null", "null")+`]`)
	want(t, s, "SELECT id, f.uri, f.offset FROM t WHERE f.uri LIKE '%relative%' OR f.offset < 0 ORDER BY id", `[2,"relative/a",null]`, `[3,"s3://b/c",-1]`)
	want(t, s, "SELECT id FROM t WHERE f IS NULL", `[9]`)
	want(t, s, "SELECT count(*) FROM t WHERE f.checksum IS NULL", `[8]`)
	want(t, s, "SELECT id FROM t WHERE f.uri = 's3://b/z'", `[20]`)
	run(t, s, "SET deltasql_file_strict = 1")
	refuse(t, s, "SELECT f FROM t WHERE id = 2", "DELTASQL_INVALID_FILE_VALUE")
	want(t, s, "SELECT f FROM t WHERE id = 1", `[`+shown(`"s3://b/a"`, "0", "3")+`]`)
	run(t, s, "SET deltasql_file_strict = 0", "CREATE TABLE other (id INT, f FILE)")
	for id := 2; id <= 6; id++ {
		refuse(t, s, fmt.Sprintf("INSERT INTO other SELECT id, f FROM t WHERE id = %d", id), "DELTASQL_INVALID_FILE_VALUE")
		refuse(t, s, fmt.Sprintf("CREATE TABLE made AS SELECT id, f FROM t WHERE id = %d", id), "DELTASQL_INVALID_FILE_VALUE")
	}
	want(t, s, "SELECT count(*) FROM other", `[0]`)
	refuse(t, s, "OPTIMIZE t", "DELTASQL_INVALID_FILE_VALUE")
	run(t, s, "DELETE FROM t WHERE id > 20")
	refuse(t, s, "DELETE FROM t WHERE id = 1", "DELTASQL_INVALID_FILE_VALUE") // the others would be written into a new file
	want(t, s, "SELECT count(*) FROM t", `[8]`)
	run(t, s, "DELETE FROM t WHERE id BETWEEN 1 AND 9", "INSERT INTO other SELECT id, f FROM t")
	want(t, s, "SELECT id, f.uri FROM other", `[20,"s3://b/z"]`)
}

// TestFileLeavesAreCharged: the five leaves of a file count among the first delta.dataSkippingNumIndexedCols, so that of 40 columns behind
// one file 27 have statistics.
func TestFileLeavesAreCharged(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	var columns, values []string
	for i := range 40 {
		columns, values = append(columns, fmt.Sprintf("c%d INT", i)), append(values, "1")
	}
	run(t, s, "CREATE TABLE t (f FILE, "+strings.Join(columns, ", ")+")", "INSERT INTO t VALUES (file('s3://b/a'), "+strings.Join(values, ", ")+")")
	data, err := os.ReadFile(filepath.Join(root, "default", "t", "_delta_log", "00000000000000000001.json"))
	if err != nil {
		t.Fatal(err)
	}
	for column, counted := range map[string]bool{"uri": true, "checksum": true, "c0": true, "c26": true, "c27": false, "c39": false, "inline": false} {
		if got := strings.Contains(string(data), `\"`+column+`\":`); got != counted {
			t.Errorf("the log mentions %s: %v, want %v\n%s", column, got, counted, data)
		}
	}
}

// TestVacuumKeepsFilesOfValues: a file that a value refers to is no garbage, also where it lies in the table's own folder.
func TestVacuumKeepsFilesOfValues(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	folder := filepath.Join(root, "default", "t")
	picture, garbage := filepath.Join(folder, "photos", "cat.png"), filepath.Join(folder, "part-00000-0b9c1a52-3d7f-4a5c-8a3e-0123456789ab-c000.snappy.parquet")
	run(t, s, "CREATE TABLE t (f FILE MANAGED)", "INSERT INTO t VALUES (file('file:"+picture+"'))")
	if err := os.MkdirAll(filepath.Dir(picture), 0o777); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-100 * 24 * time.Hour)
	for _, path := range []string{picture, garbage} {
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	run(t, s, "VACUUM t")
	if _, err := os.Stat(picture); err != nil {
		t.Errorf("the picture is gone: %v", err)
	}
	if _, err := os.Stat(garbage); !os.IsNotExist(err) {
		t.Errorf("the garbage is there: %v", err)
	}
}
