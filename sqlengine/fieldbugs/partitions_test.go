package fieldbugs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPP01EmptyStringAndNullAsPartitionValue(t *testing.T) {
	build := func(t *testing.T, typ string) *table {
		tb := newTable(t, shape{fields: []string{"id long", "p " + typ}, partitionBy: []string{"p"}})
		tb.parquet("a.parquet", ids(1, 1))
		tb.parquet("b.parquet", ids(2, 2))
		tb.parquet("c.parquet", ids(3, 3))
		tb.parquet("d.parquet", ids(4, 4))
		value := `"abc"`
		if !strings.HasPrefix(typ, "string") {
			value = `"5"`
		}
		tb.commit(1, tb.add("a.parquet", partition("p", value)), tb.add("b.parquet", partition("p", `""`)))
		if !strings.HasSuffix(typ, "not null") {
			tb.commit(2, tb.add("c.parquet", partition("p", "null")), tb.add("d.parquet", partition()))
		}
		return tb
	}
	for _, typ := range []string{"string", "integer"} {
		t.Run(typ, func(t *testing.T) {
			tb := build(t, typ)
			tb.wantIDs("p IS NULL", 2, 3, 4)
			tb.wantIDs("p IS NOT NULL", 1)
			tb.want("SELECT count(p), count(DISTINCT p), count(*) FROM $t", "1,1,4")
			if typ == "string" {
				tb.wantIDs("p = ''")
				tb.wantIDs("coalesce(p, '') = ''", 2, 3, 4)
			}
		})
	}
	t.Run("string not null", func(t *testing.T) {
		tb := build(t, "string not null")
		tb.want("SELECT id, p FROM $t", `1,"abc"`, `2,""`)
		tb.wantIDs("p = ''", 2)
		tb.wantIDs("p IS NULL")
		tb.wantIDs("p <> 'abc'", 2)
	})
}

func TestPP02HiveDefaultPartition(t *testing.T) {
	tb := newTable(t, shape{fields: []string{"id long", "d date"}, partitionBy: []string{"d"}})
	tb.parquet("d=__HIVE_DEFAULT_PARTITION__/a.parquet", ids(1, 1))
	tb.parquet("d=2024-01-01/b.parquet", ids(2, 2))
	tb.commit(1, tb.add("d=__HIVE_DEFAULT_PARTITION__/a.parquet", partition("d", "null")), tb.add("d=2024-01-01/b.parquet", partition("d", `"2024-01-02"`)))
	tb.want("SELECT * FROM $t", "1,null", `2,"2024-01-02"`) // the folder's name says nothing
	tb.wantIDs("d IS NULL", 1)
	text := newTable(t, shape{fields: []string{"id long", "p string"}, partitionBy: []string{"p"}})
	text.parquet("a.parquet", ids(1, 1))
	text.commit(1, text.add("a.parquet", partition("p", `"__HIVE_DEFAULT_PARTITION__"`)))
	text.want("SELECT * FROM $t", `1,"__HIVE_DEFAULT_PARTITION__"`)
	text.wantIDs("p = '__HIVE_DEFAULT_PARTITION__'", 1)
}

// oddValues are partition values that were written under one name and looked up under another.
var oddValues = []string{"ID$", "R&D", "A/A", "B B", "a:b", "a%20b", "100%", "x=y", "(beta)", "[1]", "{2}", "#", "?", `"`, "'", `\`, "\t", "\n",
	"..", ".", strings.Repeat("é", 100), "🌼", "trailing ", "dot.", "*", "a[!b]", "$1", "%2F", "+", "a;b", "${x}", "`", "NULL", "null", "ÿ\u0301", "$x", "true"}

// hivePath is a folder name as Hive-style writers make it: the value escaped for the folder.
func hivePath(value string) string {
	var out strings.Builder
	for _, c := range []byte(value) {
		if c <= ' ' || strings.IndexByte(`"#%'*/:=?\{[]^$&;`+"\x7f", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// uriPath is a path as the log writes it: percent-encoded once.
func uriPath(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if c >= 0x80 || strings.IndexByte(" %\"#<>?[]\\^`{|}\t\n", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

func TestPP04OddPartitionValues(t *testing.T) {
	s := shape{features: "deletionVectors", fields: []string{"id long", "p string"}, partitionBy: []string{"p"}}
	tb := newTable(t, s)
	all := []string{s.protocolAction(), s.metadataAction()}
	var want []string
	for i, value := range oddValues {
		folder := "p=" + hivePath(value)
		if i%2 == 1 && !strings.ContainsAny(value, "/\x00") && !strings.Contains(value, "..") && len(value) < 200 {
			folder = "p=" + value // as writers that escape nothing make it
		}
		name := fmt.Sprintf("%s/f%d.parquet", folder, i)
		tb.parquet(name, ids(10*i, 10*i+2))
		add := tb.add(uriPath(name), partition("p", asJSON(value)), records(3), inline(t, 1))
		tb.commit(i+1, add)
		all = append(all, add)
		want = append(want, fmt.Sprintf("%d,%s", 10*i, asJSON(value)), fmt.Sprintf("%d,%s", 10*i+2, asJSON(value)))
	}
	check := func(t *testing.T) {
		tb.t = t
		tb.want("SELECT * FROM $t", want...)
		tb.want("SELECT count(*) FROM $t", fmt.Sprint(2*len(oddValues)))
		tb.want("SELECT count(DISTINCT p), count(DISTINCT _metadata.file_path) FROM $t", fmt.Sprintf("%d,%[1]d", len(oddValues)))
		for i, value := range oddValues {
			literal := "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value) + "'"
			tb.wantIDs("p = "+literal, 10*i, 10*i+2)
		}
	}
	t.Run("commits", check)
	tb.t = t
	tb.checkpoint(len(oddValues), all...)
	t.Run("checkpoint", check)
	tb.t = t
	// Removed again, under another spelling of the same path where there is one.
	var removes []string
	for i, value := range oddValues[:5] {
		removes = append(removes, tb.drop(uriPath(fmt.Sprintf("p=%s/f%d.parquet", map[bool]string{true: hivePath(value), false: value}[i%2 == 0 || strings.Contains(value, "/")], i)), inline(t, 1)))
	}
	tb.commit(len(oddValues)+1, removes...)
	tb.want("SELECT count(*) FROM $t", fmt.Sprint(2*(len(oddValues)-5)))
}

func TestPP05OddPartitionColumnNames(t *testing.T) {
	names := []string{"x%20x", "é", "A", "x+y", "p=q", "a.b"}
	fields := []string{"id long"}
	for _, name := range names {
		fields = append(fields, field(name, "integer", true, "{}"))
	}
	tb := newTable(t, shape{fields: fields, partitionBy: names})
	for id, add := range []string{"", "a=9/é=8/x%20x=7/f1.parquet", "f2.parquet"} {
		if add == "" {
			continue
		}
		tb.parquet(add, ids(id, id))
		var values []string
		for i, name := range names {
			values = append(values, name, fmt.Sprintf(`"%d"`, 10*id+i))
		}
		tb.commit(id, tb.add(uriPath(add), partition(values...), records(1)))
	}
	tb.want("SELECT * FROM $t", "1,10,11,12,13,14,15", "2,20,21,22,23,24,25")
	for i, name := range names {
		tb.wantIDs(fmt.Sprintf("`%s` = %d", name, 20+i), 2)
		tb.wantFiles(fmt.Sprintf("SELECT id FROM $t WHERE `%s` = %d", name, 20+i), 1)
	}
	t.Run("with mapping", func(t *testing.T) {
		tb := newTable(t, shape{
			features: "columnMapping", partitionBy: []string{"a b"}, config: map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"},
			fields: []string{mapped("id", "long", "id", 1), mapped("a b", "integer", "col-x%20", 2)},
		})
		tb.parquet("a.parquet", ids(1, 1))
		tb.commit(1, tb.add("a.parquet", partition("col-x%20", `"3"`)))
		tb.want("SELECT * FROM $t WHERE `a b` = 3", "1,3")
	})
}

func TestPP07PartitionValueJustBefore1970(t *testing.T) {
	tb := newTable(t, shape{features: "timestampNtz", fields: []string{"id long", "n timestamp_ntz", "z timestamp", "d date"}, partitionBy: []string{"n", "z", "d"}})
	for i, c := range [][3]string{
		{"1969-12-31 23:20:57.657658", "1969-12-31T23:20:57.657658Z", "1969-12-31"},
		{"1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "1582-10-15"},
		{"1969-12-31 23:59:59", "1970-01-01T00:59:59+01:00", "0001-01-01"},
		{"1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-01"},
		{"1582-10-04 12:00:00.5", "1582-10-04 12:00:00.5", "9999-12-31"},
	} {
		name := fmt.Sprintf("f%d.parquet", i)
		tb.parquet(name, ids(i, i))
		tb.commit(i+1, tb.add(name, partition("n", asJSON(c[0]), "z", asJSON(c[1]), "d", asJSON(c[2])), records(1)))
	}
	tb.want("SELECT * FROM $t",
		`0,"1969-12-31T23:20:57.657658","1969-12-31T23:20:57.657658Z","1969-12-31"`, `1,"1969-12-31T23:59:59.999999","1969-12-31T23:59:59.999999Z","1582-10-15"`,
		`2,"1969-12-31T23:59:59.000000","1969-12-31T23:59:59.000000Z","0001-01-01"`,
		`3,"1970-01-01T00:00:00.000000","1970-01-01T00:00:00.000000Z","1970-01-01"`,
		`4,"1582-10-04T12:00:00.500000","1582-10-04T12:00:00.500000Z","9999-12-31"`)
	tb.wantIDs("n < TIMESTAMP_NTZ '1970-01-01 00:00:00' AND n > TIMESTAMP_NTZ '1969-12-31 23:59:59'", 1)
	tb.wantIDs("n = TIMESTAMP_NTZ '1969-12-31 23:20:57.657658'", 0)
	tb.wantIDs("z >= TIMESTAMP '1969-12-31 23:59:59.999999Z'", 1, 3)
	tb.wantIDs("d < DATE '1582-10-15'", 2)
	tb.wantFiles("SELECT id FROM $t WHERE n = TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'", 1)
}

func TestPP09OrderOfPartitionColumnsDiffersFromTheSchema(t *testing.T) {
	for name, fields := range map[string][]string{
		"last in the schema":  {"id long", "first string", "second string"},
		"first in the schema": {"first string", "second string", "id long"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shape{fields: fields, partitionBy: []string{"second", "first"}}
			tb := newTable(t, s)
			tb.parquet("second=B/first=A/f.parquet", ids(1, 1))
			tb.parquet("first=X/second=Y/g.parquet", ids(2, 2))
			one, two := tb.add("second=B/first=A/f.parquet", partition("first", `"A"`, "second", `"B"`), records(1)),
				tb.add("first=X/second=Y/g.parquet", partition("second", `"Y"`, "first", `"X"`), records(1))
			tb.commit(1, one, two)
			for range 2 {
				tb.want("SELECT id, first, second FROM $t", `1,"A","B"`, `2,"X","Y"`)
				tb.wantIDs("first = 'A'", 1)
				tb.wantIDs("second = 'Y'", 2)
				tb.wantIDs("first = 'B'")
				tb.want("SHOW PARTITIONS $t", `"B","A"`, `"Y","X"`)
				tb.checkpoint(1, s.protocolAction(), s.metadataAction(), one, two)
				tb.remove("_delta_log/00000000000000000000.json")
			}
		})
	}
}

func TestPP10EmptyTables(t *testing.T) {
	for name, s := range map[string]shape{
		"plain":       columns("id long", "p string"),
		"partitioned": {fields: []string{"id long", "p string"}, partitionBy: []string{"p"}},
		"vectors":     {features: "deletionVectors", fields: []string{"id long", "p string"}},
		"mapped": {protocol: `{"minReaderVersion":2,"minWriterVersion":5}`, partitionBy: []string{"p"}, fields: []string{mapped("id", "long", "c1", 1), mapped("p", "string", "c2", 2)},
			config: map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, s)
			check := func() {
				tb.want("SELECT * FROM $t")
				tb.want("SELECT id, p FROM $t WHERE p = 'x' AND id > 5 ORDER BY id LIMIT 3")
				tb.want("SELECT count(*), count(id), min(id), max(p), sum(id) FROM $t", "0,0,null,null,null")
				tb.want("SELECT p, count(*) FROM $t GROUP BY p")
				tb.want("SELECT * FROM $t a JOIN $t b USING (id)")
				tb.want("SELECT x, a.id FROM VALUES (1L) AS v(x) LEFT JOIN $t a ON a.id = x", "1,null")
				tb.want("SELECT count(_metadata.file_path) FROM $t", "0")
				for sql, rows := range map[string]int{"DESCRIBE $t": 0, "DESCRIBE DETAIL $t": 1, "SHOW COLUMNS IN $t": 2} {
					if got, err := tb.rows(sql); err != nil || rows > 0 && len(got) != rows {
						t.Errorf("%s gives %v, %v", sql, got, err)
					}
				}
			}
			check()
			values := partition()
			if s.partitionBy != nil {
				values = partition("p", `"x"`)
			}
			tb.parquet("a.parquet", ids(1, 3))
			tb.commit(1, tb.add("a.parquet", records(3), values))
			tb.want("SELECT count(*) FROM $t", "3")
			tb.commit(2, tb.drop("a.parquet"))
			check()
			tb.parquet("none.parquet", "SELECT 1::BIGINT AS id, 'x' AS p WHERE false")
			tb.commit(3, tb.add("none.parquet", records(0), values))
			check()
		})
	}
}

func TestMT02SpellingsOfATablesPath(t *testing.T) {
	tb := newTable(t, columns("id long"))
	tb.parquet("a.parquet", ids(1, 3))
	tb.commit(1, tb.add("a.parquet", records(3)))
	link := filepath.Join(t.TempDir(), "link to it")
	tb.check(os.Symlink(tb.dir, link))
	folder, err := os.Getwd()
	tb.check(err)
	relative, err := filepath.Rel(folder, tb.dir)
	tb.check(err)
	for _, path := range []string{tb.dir, tb.dir + "/", tb.dir + "//", "file://" + tb.dir, "file:" + tb.dir, "file:///" + tb.dir[1:] + "/", link, "file://" + strings.ReplaceAll(link, " ", "%20"),
		relative, "./" + relative, filepath.Dir(tb.dir) + "/./" + filepath.Base(tb.dir)} {
		tb.want("SELECT id FROM delta.`"+path+"`", "1", "2", "3")
	}
}

func TestDM04SpellingsOfAFilesPath(t *testing.T) {
	// A remove must find its add however the two spell the path, else the file's rows come back beside their copies.
	for name, paths := range map[string][2]string{
		"blank, encoded in one":   {"p=A B/f.parquet", "p=A%20B/f.parquet"},
		"blank, encoded in other": {"p=A%20B/f.parquet", "p=A B/f.parquet"},
		"accents":                 {"p=%C3%A9/f.parquet", "p=é/f.parquet"},
		"upper and lower hex":     {"p=%c3%a9/f.parquet", "p=%C3%A9/f.parquet"},
		"percent sign":            {"p=100%25/f.parquet", "p=100%25/f.parquet"},
		"absolute, with a scheme": {"file:$dir/f.parquet", "$dir/f.parquet"},
		"slashes of the scheme":   {"file:$dir/f.parquet", "file://$dir/f.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, shape{fields: []string{"id long", "p string"}, partitionBy: []string{"p"}})
			old, gone := strings.ReplaceAll(paths[0], "$dir", tb.dir), strings.ReplaceAll(paths[1], "$dir", tb.dir)
			local := strings.NewReplacer("%20", " ", "%C3%A9", "é", "%c3%a9", "é", "%25", "%").Replace(paths[0])
			tb.parquet(strings.TrimPrefix(strings.TrimPrefix(local, "file:$dir/"), "$dir/"), ids(1, 3))
			tb.parquet("g.parquet", ids(1, 3))
			tb.commit(1, tb.add(old, partition("p", `"v"`), records(3)))
			tb.want("SELECT id FROM $t", "1", "2", "3")
			tb.commit(2, tb.drop(gone, partition("p", `"v"`)), tb.add("g.parquet", partition("p", `"v"`), records(3)))
			tb.want("SELECT id FROM $t", "1", "2", "3")
			tb.want("SELECT count(*) FROM $t", "3")
		})
	}
}
