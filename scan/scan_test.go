package scan

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"deltasql/protocol"
)

// TestStructLayouts: members are right whatever the order and the number of members in the files
// (docs/decisions/0003).
func TestStructLayouts(t *testing.T) {
	in := openInstance(t)
	inner := `{"type":"struct","fields":[` + field("q", `"integer"`) + "," + field("p", `"long"`) + `]}`
	s := `{"type":"struct","fields":[` + field("b", `"integer"`) + "," + field("c", inner) + "," + field("a", `"double"`) + "," +
		field("d", `"string"`) + `]}`
	list := `{"type":"array","elementType":` + inner + `,"containsNull":true}`
	m := `{"type":"map","keyType":"string","valueType":` + inner + `,"valueContainsNull":true}`
	table := newTable(t, in, strings.Join([]string{field("id", `"integer"`), field("s", s), field("l", list), field("m", m)}, ","), nil, nil)
	table.write("same.parquet", `SELECT 1 AS id, {'b': 10, 'c': {'q': 11, 'p': 12::BIGINT}, 'a': 1.5::DOUBLE, 'd': 'x'} AS s,
		[{'q': 13, 'p': 14::BIGINT}] AS l, MAP {'k': {'q': 15, 'p': 16::BIGINT}} AS m`, "")
	table.write("other.parquet", `SELECT 2 AS id, {'a': 2.5::FLOAT, 'b': 20, 'c': {'p': 22::INTEGER, 'z': 7, 'q': 21}} AS s,
		[{'p': 24, 'q': 23}] AS l, MAP {'k': {'p': 26}} AS m`, "")
	table.write("none.parquet", "SELECT 3 AS id", "")
	table.write("strange.parquet", "SELECT 4 AS id, {'zz': 1} AS s, [{'zz': 1}] AS l", "")
	table.write("null.parquet", "SELECT 5 AS id, NULL::STRUCT(a DOUBLE) AS s, NULL::STRUCT(p INT)[] AS l", "")
	table.commit(add("same.parquet", "", ""), add("other.parquet", "", ""), add("none.parquet", "", ""),
		add("strange.parquet", "", ""), add("null.parquet", "", ""))
	for _, test := range []struct{ expressions, where, want string }{
		{"c0, c1.c.p, c1.c.q, c1.a, c1.b", "c0 <= 2", "[1.0, 12.0, 11.0, 1.5, 10.0] [2.0, 22.0, 21.0, 2.5, 20.0]"},
		{"c1.c.p", "", "[12] [22] [NULL] [NULL] [NULL]"},
		{"c1.d", "", "[NULL] [NULL] [NULL] [NULL] [x]"},
		{"c0", "c1.c.p = 22", "[2]"},
		{"c0", "c1.a > 2", "[2]"},
		{"c0", "c1.d IS NULL", "[2] [3] [4] [5]"},
		{"c0", "c1.c.q IS NULL", "[3] [4] [5]"},
		{"c0", "c1 IS NULL", "[3] [5]"},
		{"c0, c2[1].p, c2[1].q, c3['k'].p, c3['k'].q", "", "[1, 14, 13, 16, 15] [2, 24, 23, 26, NULL] [3, NULL, NULL, NULL, NULL] " +
			"[4, NULL, NULL, NULL, NULL] [5, NULL, NULL, NULL, NULL]"},
		{"c1", "c0 = 2", "[{'b': 20, 'c': {'q': 21, 'p': 22}, 'a': 2.5, 'd': NULL}]"},
		{"c1", "c0 = 4", "[{'b': NULL, 'c': NULL, 'a': NULL, 'd': NULL}]"},
		{"c2", "c0 IN (4, 5)", "[NULL] [[{'q': NULL, 'p': NULL}]]"},
	} {
		if got := table.rows(test.expressions, test.where, "id", "s", "l", "m"); got != test.want {
			t.Errorf("%s WHERE %s:\ngot  %s\nwant %s", test.expressions, test.where, got, test.want)
		}
	}
}

func TestRenameNestedMembers(t *testing.T) {
	in := openInstance(t)
	inner := `{"type":"struct","fields":[` + mapped("in'ner", `"integer"`, "col-3", 3) + `]}`
	s := `{"type":"struct","fields":[` + mapped("x%y", inner, "col-2", 2) + `]}`
	list := `{"type":"array","elementType":` + inner + `,"containsNull":true}`
	table := newTable(t, in, mapped("s", s, "col-1", 1)+","+mapped("l", strings.ReplaceAll(list, `"delta.columnMapping.id":3`, `"delta.columnMapping.id":5`), "col-4", 4),
		nil, map[string]string{"delta.columnMapping.mode": "name"})
	table.write("f.parquet", `SELECT {'col-2': {'col-3': 7}} AS "col-1", [{'col-3': 8}, NULL] AS "col-4"`, "")
	table.commit(add("f.parquet", "", ""))
	relation, err := table.relation(nil, "s", "l")
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	got := query(t, in, relation, "CAST("+relation.Logical(0, "c0")+" AS VARCHAR), CAST("+relation.Logical(1, "c1")+" AS VARCHAR)", "")
	if want := `['{\'x%y\': {\'in\\\'ner\': 7}}', '[{\'in\\\'ner\': 8}, NULL]']`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := query(t, in, relation, `c0."col-2"."col-3"`, ""); got != "[7]" {
		t.Errorf("the physical member: %s", got)
	}
}

func TestFieldIDs(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, mapped("a", `"integer"`, "pa", 1)+","+mapped("b", `"string"`, "pb", 2), nil,
		map[string]string{"delta.columnMapping.mode": "id"})
	table.write("ids.parquet", `SELECT 1 AS whatever, 'x' AS other`, ", FIELD_IDS {whatever: 1, other: 2}")
	table.commit(add("ids.parquet", "", ""))
	if got := table.rows("c0::VARCHAR, c1", "", "a", "b"); got != "[1, x]" {
		t.Errorf("by field id: %s", got)
	}
	table.write("plain.parquet", `SELECT 2 AS pa, 'y' AS pb`, "")
	table.commit(add("plain.parquet", "", ""))
	if got := table.rows("c0", "", "a"); got != "DELTA_FAILED_TO_READ_FILE" {
		t.Errorf("a file without field ids: %s", got)
	}
	if got := table.rows("1", ""); got != "[1] [1]" {
		t.Errorf("rows alone: %s", got)
	}
}

// TestUnannotatedText: text and bytes are told apart by the table, not by the file.
func TestUnannotatedText(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("s", `"string"`)+","+field("b", `"binary"`), nil, nil)
	table.write("proper.parquet", `SELECT 1 AS id, 'it''s é\x41' AS s, 'é\x41'::VARCHAR::BLOB AS b WHERE false UNION ALL SELECT 1, 'it''s é\x41', encode('é\x41')`, "")
	table.write("swapped.parquet", `SELECT 2 AS id, encode('it''s é\x41') AS s, 'é\x41' AS b`, "")
	table.commit(add("proper.parquet", "", ""), add("swapped.parquet", "", ""))
	want := `[1, 'it\'s é\\x41'] [2, 'it\'s é\\x41']`
	if got := table.rows("c0::VARCHAR, c1", "", "id", "s"); got != want {
		t.Errorf("text alone:\ngot  %s\nwant %s", got, want)
	}
	if got := table.rows("c0::VARCHAR, c1", "", "id", "s", "b"); got != want {
		t.Errorf("text beside bytes:\ngot  %s\nwant %s", got, want)
	}
	if got, want := table.rows("hex(c2)", "", "id", "s", "b"), "[C3A95C783431] [C3A95C783431]"; got != want {
		t.Errorf("bytes: %s, want %s", got, want)
	}
}

// TestPartitionValues: values of every type are the same from literals (few tuples) and from a row set (many).
func TestPartitionValues(t *testing.T) {
	in := openInstance(t)
	types := []string{"boolean", "byte", "short", "integer", "long", "float", "double", "decimal(10,2)", "string", "binary", "date", "timestamp", "timestamp_ntz"}
	rows := [][]string{
		{"true", "-128", "-32768", "-2147483648", "-9223372036854775808", "1.5", "NaN", "-12345678.90", "it's", "ab", "1969-12-31",
			"1969-12-31T23:59:59.999999Z", "1969-12-31 23:20:57.657658"},
		{"false", "127", "32767", "2147483647", "9223372036854775807", "-Infinity", "0.1", "0.01", "%$?[x]*", "\u00ff", "0001-01-01",
			"2000-01-01 12:00:00", "9999-12-31 23:59:59.999999"},
		{"", "", "", "", "", "", "", "", "", "", "", "", ""},
	}
	var fields, names, expressions []string
	for i, typ := range types {
		name := fmt.Sprintf("p%d", i)
		names = append(names, name)
		fields = append(fields, field(name, `"`+typ+`"`))
		expressions = append(expressions, fmt.Sprintf("CAST(c%d AS VARCHAR)", i+1))
	}
	table := newTable(t, in, field("id", `"integer"`)+","+strings.Join(fields, ","), names, nil)
	var adds []string
	addRow := func(file string, row []string) {
		var values []string
		for i, value := range row {
			if value != "" || i%2 == 0 { // the empty text and an absent key are both NULL
				values = append(values, fmt.Sprintf(`"p%d":"%s"`, i, value))
			}
		}
		adds = append(adds, add(file, strings.Join(values, ","), ""))
	}
	for i, row := range rows {
		file := fmt.Sprintf("f%d.parquet", i)
		table.write(file, fmt.Sprintf("SELECT %d AS id, 'wrong' AS p8", i), "")
		addRow(file, row)
	}
	table.commit(adds...)
	read := func() string {
		return table.rows("c0::VARCHAR, "+strings.Join(expressions, ", "), "c0 < 3", append([]string{"id"}, names...)...)
	}
	few := read()
	want := `[0, true, -128, -32768, -2147483648, -9223372036854775808, 1.5, nan, -12345678.90, 'it\'s', ab, 1969-12-31, '1969-12-31 23:59:59.999999+00', '1969-12-31 23:20:57.657658'] ` +
		`[1, false, 127, 32767, 2147483647, 9223372036854775807, -inf, 0.1, 0.01, '%$?[x]*', '\\xC3\\xBF', 0001-01-01, '2000-01-01 12:00:00+00', '9999-12-31 23:59:59.999999'] ` +
		`[2` + strings.Repeat(", NULL", len(types)) + `]`
	if few != want {
		t.Errorf("literals:\ngot  %s\nwant %s", few, want)
	}
	adds = nil
	for i := range maxCastTuples {
		file := fmt.Sprintf("g%d.parquet", i)
		table.write(file, "SELECT 1000 AS id", "")
		row := append([]string(nil), rows[0]...)
		row[4] = fmt.Sprint(i)
		addRow(file, row)
	}
	table.commit(adds...)
	if many := read(); many != want {
		t.Errorf("row set:\ngot  %s\nwant %s", many, want)
	}
	table.write("bad.parquet", "SELECT 9 AS id", "")
	table.commit(add("bad.parquet", `"p3":"x"`, ""))
	if got := table.rows("c0", "", "id", "p3"); got != "DELTA_INVALID_PARTITION_VALUE" {
		t.Errorf("a value that is no integer: %s", got)
	}
	if got := table.rows("count(*)", "", "id"); got != "[20]" {
		t.Errorf("a bad value of a column that is not wanted: %s", got)
	}
}

// TestOddPaths: file names are taken literally, percent-encoding is undone once, absolute paths are followed.
func TestOddPaths(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, nil)
	elsewhere := filepath.Join(t.TempDir(), "a b.parquet")
	var adds []string
	for i, name := range []string{"p=[1]/a.parquet", "p=1/a.parquet", "q=*x?/a.parquet", "q=yx1/a.parquet", "a%20b.parquet", "a b.parquet", `back\sl*sh.parquet`, "{2}.parquet", "é'.parquet"} {
		table.write(name, fmt.Sprintf("SELECT %d AS id", i), "")
		adds = append(adds, add(escapePath(name), "", ""))
	}
	table.write("moved.parquet", "SELECT 100 AS id", "")
	if err := os.Rename(filepath.Join(table.dir, "moved.parquet"), elsewhere); err != nil {
		t.Fatal(err)
	}
	adds = append(adds, add("file:"+escapePath(elsewhere), "", ""))
	table.commit(adds...)
	if got, want := table.rows("c0", "", "id"), "[0] [100] [1] [2] [3] [4] [5] [6] [7] [8]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDamagedFiles(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("b", `"binary"`), nil, nil)
	table.write("ok.parquet", "SELECT 1 AS id, 'x'::BLOB AS b", "")
	for _, damage := range []struct {
		name  string
		data  []byte
		class protocol.Class
	}{
		{"missing.parquet", nil, "DELTA_FILE_NOT_FOUND_DETAILED"},
		{"empty.parquet", []byte{}, "DELTA_FAILED_TO_READ_FILE"},
		{"text.parquet", []byte("this is no Parquet file at all"), "DELTA_FAILED_TO_READ_FILE"},
		{"cut.parquet", []byte("PAR1 and then the end is missing"), "DELTA_FAILED_TO_READ_FILE"},
	} {
		if damage.data != nil {
			if err := os.WriteFile(filepath.Join(table.dir, damage.name), damage.data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		table.commit(add("ok.parquet", "", ""), add(damage.name, "", ""))
		for _, columns := range [][]string{{"id"}, {"id", "b"}} {
			relation, err := table.relation(nil, columns...)
			if err == nil {
				err = relation.Diagnose(in.Exec(context.Background(), relation.SQL, relation.Args...))
				relation.Release()
			}
			if protocol.ClassOf(err) != damage.class || !strings.Contains(err.Error(), damage.name) || !strings.Contains(err.Error(), table.dir) {
				t.Errorf("%s, columns %v: %v", damage.name, columns, err)
			}
		}
		table.commit(fmt.Sprintf(`{"remove":{"path":%q,"dataChange":true}}`, damage.name))
	}
	if got := table.rows("c0", "", "id"); got != "[1]" {
		t.Errorf("after the removal: %s", got)
	}
}

// vectorFile writes a file of deletion vectors and gives the descriptors as JSON.
func vectorFile(t *testing.T, path string, rows ...[]uint64) []string {
	t.Helper()
	data := []byte{1}
	var descriptors []string
	for _, list := range rows {
		bitmap, err := protocol.EncodeBitmap(roaring64.BitmapOf(list...))
		if err != nil {
			t.Fatal(err)
		}
		descriptors = append(descriptors, fmt.Sprintf(`{"storageType":"p","pathOrInlineDv":%q,"offset":%d,"sizeInBytes":%d,"cardinality":%d}`,
			"file:"+escapePath(path), len(data), len(bitmap), len(list)))
		data = binary.BigEndian.AppendUint32(data, uint32(len(bitmap)))
		data = append(data, bitmap...)
		data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(bitmap))
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return descriptors
}

func TestDeletionVectors(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, nil)
	table.write("a.parquet", "SELECT i::INTEGER AS id FROM range(10) t(i)", "")
	table.write("b.parquet", "SELECT (100 + i)::INTEGER AS id FROM range(3) t(i)", "")
	table.write("c.parquet", "SELECT (200 + i)::INTEGER AS id FROM range(2) t(i)", "")
	vectors := vectorFile(t, filepath.Join(t.TempDir(), "two vectors.bin"), []uint64{0, 1, 2, 3, 4, 5, 6}, []uint64{1})
	bitmap, err := protocol.EncodeBitmap(roaring64.BitmapOf(0))
	if err != nil {
		t.Fatal(err)
	}
	inline := fmt.Sprintf(`{"storageType":"i","pathOrInlineDv":%q,"sizeInBytes":%d,"cardinality":1}`, protocol.EncodeZ85(bitmap), len(bitmap))
	withVector := func(path, vector, stats string) string {
		return add(path, "", `,"deletionVector":`+vector+`,"stats":`+fmt.Sprintf("%q", stats))
	}
	table.commit(withVector("a.parquet", vectors[0], `{"numRecords":10}`), withVector("b.parquet", vectors[1], ""), withVector("c.parquet", inline, `{"numRecords":2}`))
	if got, want := table.rows("c0", "", "id"), "[100] [102] [201] [7] [8] [9]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	relation, err := table.relation([]HiddenColumn{RowIndex}, "id")
	if err != nil {
		t.Fatal(err)
	}
	if r := relation.Report; r.FilesWithVectors != 3 || r.DeletedRows != 9 || r.RowsKnown || r.Branches != 1 {
		t.Errorf("report: %+v", r)
	}
	if got, want := query(t, in, relation, "c0, c1", "c0 > 100"), "[102, 2] [201, 1]"; got != want {
		t.Errorf("row indexes: got %s, want %s", got, want)
	}
	relation.Release()
	for _, bad := range []struct {
		descriptor, stats string
		class             string
	}{
		{strings.Replace(vectors[0], `"cardinality":7`, `"cardinality":2`, 1), "", "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"},
		{strings.Replace(vectors[0], `"offset":1,`, `"offset":2,`, 1), "", "DELTA_DELETION_VECTOR_SIZE_MISMATCH"},
		{vectors[0], `{"numRecords":6}`, "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"},
		{strings.Replace(vectors[0], "two", "no", 1), "", "DELTA_FILE_NOT_FOUND_DETAILED"},
	} {
		table.commit(`{"remove":{"path":"a.parquet","dataChange":true,"deletionVector":` + vectors[0] + `}}`)
		table.commit(withVector("a.parquet", bad.descriptor, bad.stats))
		if got := table.rows("c0", "", "id"); got != bad.class {
			t.Errorf("%s with %s: %s, want %s", bad.descriptor, bad.stats, got, bad.class)
		}
		table.commit(`{"remove":{"path":"a.parquet","dataChange":true,"deletionVector":`+bad.descriptor+`}}`,
			withVector("a.parquet", vectors[0], ""))
	}
}

// TestDamagedBytes: whatever byte of a file is another one, or the first that is missing, a statement gives rows or names the file.
func TestDamagedBytes(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, nil)
	table.write("whole.parquet", "SELECT 1 AS id", "")
	table.write("other.parquet", "SELECT 2 AS id", "")
	table.commit(add("whole.parquet", "", ""), add("other.parquet", "", ""))
	path := filepath.Join(table.dir, "whole.parquet")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		changed := append([]byte(nil), data...)
		changed[i] ^= 0x55
		for what, content := range map[string][]byte{"changed": changed, "missing": data[:i]} {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			forget(table)
			got := table.rows("c0", "", "id")
			if got != "DELTA_FAILED_TO_READ_FILE" && (what == "missing" || !strings.HasSuffix(got, "[2]") && !strings.HasPrefix(got, "[2]")) {
				t.Errorf("byte %d %s: %s", i, what, got)
			}
		}
	}
}

func TestHiddenColumns(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, map[string]string{
		"delta.enableRowTracking": "true",
		rowIDProperty:             "_row-id-col-1", rowCommitVersionProperty: "_row-version-col-1",
	})
	table.write("x=a b/fresh.parquet", "SELECT i::INTEGER AS id FROM range(2) t(i)", "")
	table.write("moved.parquet", `SELECT 10 AS id, 77::BIGINT AS "_row-id-col-1", NULL::BIGINT AS "_row-version-col-1"
		UNION ALL SELECT 11, NULL, 3 ORDER BY id`, "")
	table.commit(add("x=a%20b/fresh.parquet", "", `,"baseRowId":40,"defaultRowCommitVersion":1`),
		add("moved.parquet", "", `,"baseRowId":50,"defaultRowCommitVersion":2`))
	relation, err := table.relation([]HiddenColumn{FileName, FileSize, FileBlockStart, FileBlockLength, FileModificationTime, RowIndex,
		BaseRowID, DefaultRowCommitVersion, RowID, RowCommitVersion, FilePath}, "id")
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	got := query(t, in, relation, "c0, c2, c3, c4, epoch_ms(c5), c6, c7, c8, c9, c10", "")
	want := "[0, 1, 0, 1, 1000, 0, 40, 1, 40, 1] [1, 1, 0, 1, 1000, 1, 40, 1, 41, 1] [10, 1, 0, 1, 1000, 0, 50, 2, 77, 2] [11, 1, 0, 1, 1000, 1, 50, 2, 51, 3]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := query(t, in, relation, "c1, c11", "c0 = 0"), "[fresh.parquet, 'file:"+table.dir+"/x=a%20b/fresh.parquet']"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEmptyTable(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("n", `"void"`)+","+field("p", `"date"`), []string{"p"}, nil)
	relation, err := table.relation(nil, "id", "n", "p")
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	stream, err := in.Query(context.Background(), relation.SQL, relation.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if got := fmt.Sprint(stream.Columns()); got != `[{c0 INTEGER} {c1 "NULL"} {c2 DATE}]` {
		t.Errorf("columns %s", got)
	}
	table.write("empty.parquet", "SELECT 1 AS id WHERE false", "")
	table.write("one.parquet", "SELECT 1 AS id", "")
	table.commit(add("empty.parquet", `"p":"2024-01-01"`, ""), add("one.parquet", `"p":"2024-01-02"`, ""))
	if got := table.rows("c0::VARCHAR, c1, c2::VARCHAR", "", "id", "n", "p"); got != "[1, NULL, 2024-01-02]" {
		t.Errorf("got %s", got)
	}
}

// TestConcurrentScans: relations may be built and read side by side.
func TestConcurrentScans(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("b", `"binary"`), nil, nil)
	table.write("a.parquet", "SELECT i::INTEGER AS id, 'x'::BLOB AS b FROM range(1000) t(i)", "")
	vectors := vectorFile(t, filepath.Join(t.TempDir(), "v.bin"), []uint64{1, 2, 3})
	table.commit(add("a.parquet", "", `,"deletionVector":`+vectors[0]))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				if got := table.rows("count(*), sum(c0)", "", "id", "b"); got != "[997, 499494]" {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	group.Wait()
}

// TestFileValues: a value of the file type has all its members, whichever of them a file stores and in whatever order.
func TestFileValues(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, nil)
	table.commit(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["fileType"],"writerFeatures":["fileType"]}}`,
		metadataLine(field("id", `"integer"`)+","+field("f", `"file"`), nil, nil))
	table.write("full.parquet", `SELECT 1 AS id, {'uri': 's3://b/a', 'offset': 1::BIGINT, 'size': 2::BIGINT, 'content_type': 'x/y', 'checksum': 'MD5:0'} AS f`, "")
	table.write("some.parquet", `SELECT 2 AS id, {'inline': 'abc'::BLOB, 'size': 3::BIGINT, 'uri': 'u'} AS f UNION ALL SELECT 3, NULL`, "")
	table.commit(add("full.parquet", "", ""), add("some.parquet", "", ""))
	want := `[1, {'uri': 's3://b/a', 'offset': 1, 'size': 2, 'content_type': x/y, 'checksum': 'MD5:0', 'inline': NULL}] ` +
		`[2, {'uri': u, 'offset': NULL, 'size': 3, 'content_type': NULL, 'checksum': NULL, 'inline': abc}] [3, NULL]`
	got := strings.ReplaceAll(table.rows("c0::VARCHAR, c1::VARCHAR", "", "id", "f"), `\'`, `'`)
	if got = strings.NewReplacer(`'{`, `{`, `}'`, `}`).Replace(got); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
