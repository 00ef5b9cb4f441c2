package sqlengine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
