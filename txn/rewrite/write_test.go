package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func TestWriteNothing(t *testing.T) {
	tt := newTable(t, openInstance(t), field("id", `"long"`)+","+field("p", `"string"`), []string{"p"}, nil)
	written := tt.write("SELECT 1::BIGINT AS c0, 'a' AS c1 WHERE false")
	if len(written.Files) > 0 || written.Rows > 0 {
		t.Errorf("without rows there is %+v", written)
	}
	if files := tt.dataFiles(); len(files) > 0 {
		t.Errorf("without rows there are files: %q", files)
	}
}

func TestWriteArguments(t *testing.T) {
	tt := newTable(t, openInstance(t), field("id", `"long"`)+","+field("v", `"string"`), nil, nil)
	written := tt.write("SELECT i AS c0, $2 AS c1 FROM range($1) t(i)", int64(3), "it's")
	if written.Rows != 3 || len(written.Files) != 1 {
		t.Errorf("%+v", written)
	}
	if got := tt.read(); !slices.Equal(got, []string{"0|it's", "1|it's", "2|it's"}) {
		t.Errorf("got %q", got)
	}
}

// TestNames holds paths against the forms of the reference, and tests that they lead to the files.
func TestNames(t *testing.T) {
	in := openInstance(t)
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`
	mapped := `{"name":"v","type":"integer","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-v"}},` +
		`{"name":"p","type":"string","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-p"}}`
	plain := field("v", `"integer"`) + "," + field("p", `"string"`)
	for _, test := range []struct {
		name, fields  string
		partitions    []string
		configuration map[string]string
		value         string // of p
		want          string // a pattern of the path
		logged        string // the partition value
	}{
		{"plain", plain, nil, nil, "'x'", `part-00000-` + uuid + `-c000\.zstd\.parquet`, ""},
		{"codec", plain, nil, map[string]string{"delta.parquet.compression.codec": "SNAPPY"}, "'x'", `part-00000-` + uuid + `-c000\.snappy\.parquet`, ""},
		{"no codec", plain, nil, map[string]string{"delta.parquet.compression.codec": "none"}, "'x'", `part-00000-` + uuid + `-c000\.parquet`, ""},
		{"partition", plain, []string{"p"}, nil, "'x'", `p=x/part-00000-` + uuid + `\.c000\.zstd\.parquet`, "x"},
		{"escaped twice", plain, []string{"p"}, nil, "'a/b=c %'", `p=a%252Fb%253Dc%20%2525/part-.*`, "a/b=c %"},
		{"control characters", plain, []string{"p"}, nil, "'a' || chr(9) || chr(10)", `p=a%2509%250A/part-.*`, "a\t\n"},
		{"braces as Hive has them", plain, []string{"p"}, nil, "'{a}[b]'", `p=%257Ba%7D%255Bb%255D/part-.*`, "{a}[b]"},
		{"NULL", plain, []string{"p"}, nil, "NULL::VARCHAR", `p=__HIVE_DEFAULT_PARTITION__/part-.*`, "NULL"},
		{"empty is NULL", plain, []string{"p"}, nil, "''", `p=__HIVE_DEFAULT_PARTITION__/part-.*`, "NULL"},
		{"what looks like NULL", plain, []string{"p"}, nil, "'__HIVE_DEFAULT_PARTITION__'", `p=__HIVE_DEFAULT_PARTITION__/part-.*`, "__HIVE_DEFAULT_PARTITION__"},
		{"random prefix", plain, []string{"p"}, map[string]string{"delta.randomizeFilePrefixes": "true", "delta.randomPrefixLength": "5"}, "'x'", `[0-9A-Za-z]{5}/part-.*\.c000\.zstd\.parquet`, "x"},
		{"column mapping", mapped, []string{"p"}, map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}, "'x'", `[0-9A-Za-z]{2}/part-.*`, "x"},
		{"too long for a folder", plain, []string{"p"}, nil, "repeat('é', 300)", `[0-9A-Za-z]{2}/part-.*`, strings.Repeat("é", 300)},
		{"longer than all parts but the last", plain, []string{"p"}, nil, "repeat('xyz', 700)", `[0-9A-Za-z]{2}/part-.*`, strings.Repeat("xyz", 700)},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, test.fields, test.partitions, test.configuration)
			written := tt.write("SELECT 1::INTEGER AS c0, " + test.value + " AS c1")
			if len(written.Files) != 1 {
				t.Fatalf("%d files", len(written.Files))
			}
			add := written.Files[0]
			if !regexp.MustCompile("^" + test.want + "$").MatchString(add.Path) {
				t.Errorf("the path is %s, not like %s", add.Path, test.want)
			}
			name, _, err := protocol.DecodePath(add.Path)
			if err != nil || !slices.Equal(tt.dataFiles(), []string{name}) {
				t.Errorf("the path leads to %q (%v), the files are %q", name, err, tt.dataFiles())
			}
			for _, value := range add.PartitionValues {
				got := "NULL"
				if value != nil {
					got = *value
				}
				if got != test.logged {
					t.Errorf("the partition value is %q, want %q", got, test.logged)
				}
			}
			if len(add.PartitionValues) != len(test.partitions) {
				t.Errorf("partition values %v", add.PartitionValues)
			}
			if info, err := os.Stat(filepath.Join(tt.dir, filepath.FromSlash(name))); err != nil || info.Size() != add.Size || info.ModTime().UnixMilli() != add.ModificationTime {
				t.Errorf("size and time: %v, %v of %+v", info, err, add)
			}
			tt.check()
		})
	}
}

// TestPartitionValues has each type's text, as the log and folders have it.
func TestPartitionValues(t *testing.T) {
	in := openInstance(t)
	for _, test := range []struct{ typ, value, logged, folder string }{
		{`"boolean"`, "true", "true", "true"},
		{`"byte"`, "(-128)::TINYINT", "-128", "-128"},
		{`"long"`, "9223372036854775807", "9223372036854775807", "9223372036854775807"},
		{`"float"`, "'0.1'::FLOAT", "0.1", "0.1"},
		{`"double"`, "1e20::DOUBLE", "1.0E20", "1.0E20"},
		{`"double"`, "'nan'::DOUBLE", "NaN", "NaN"},
		{`"double"`, "'-inf'::DOUBLE", "-Infinity", "-Infinity"},
		{`"decimal(5,2)"`, "1.5::DECIMAL(5,2)", "1.50", "1.50"},
		{`"decimal(38,10)"`, "'-0.5'::DECIMAL(38,10)", "-0.5000000000", "-0.5000000000"},
		{`"date"`, "DATE '2024-02-29'", "2024-02-29", "2024-02-29"},
		{`"date"`, "DATE '0045-03-15 (BC)'", "-0044-03-15", "-0044-03-15"},
		{`"timestamp"`, "TIMESTAMPTZ '2024-01-01 06:00:00+02'", "2024-01-01T04:00:00.000000Z", "2024-01-01 04%3A00%3A00"},
		{`"timestamp"`, "TIMESTAMPTZ '1969-12-31 23:59:59.999999+00'", "1969-12-31T23:59:59.999999Z", "1969-12-31 23%3A59%3A59.999999"},
		{`"timestamp_ntz"`, "TIMESTAMP '2024-01-01 06:00:00'", "2024-01-01 06:00:00", "2024-01-01 06%3A00%3A00"},
		{`"binary"`, `'a\x00b'::BLOB`, "a\x00b", "a%00b"},
	} {
		t.Run(test.typ+" "+test.value, func(t *testing.T) {
			tt := newTable(t, in, field("v", `"integer"`)+","+field("p", test.typ), []string{"p"}, nil)
			add := tt.write("SELECT 1::INTEGER AS c0, " + test.value + " AS c1").Files[0]
			if value := add.PartitionValues["p"]; value == nil || *value != test.logged {
				t.Errorf("the log has %v, want %q", value, test.logged)
			}
			if name, _, _ := protocol.DecodePath(add.Path); !strings.HasPrefix(name, "p="+test.folder+"/") {
				t.Errorf("the file is %q, not in the folder of %q", name, test.folder)
			}
			got, want := tt.read(), rows(t, in, "SELECT '1', CAST("+test.value+" AS VARCHAR)")
			if !slices.Equal(got, want) {
				t.Errorf("read back as %q, want %q", got, want)
			}
		})
	}
	tt := newTable(t, in, field("v", `"integer"`)+","+field("p", `"binary"`), []string{"p"}, nil)
	_, err := tt.tryWrite(context.Background(), Rows{SQL: `SELECT 1::INTEGER AS c0, '\xFF'::BLOB AS c1`}, Options{})
	if protocol.ClassOf(err) != "UNSUPPORTED_FEATURE" || len(tt.dataFiles()) > 0 {
		t.Errorf("bytes that are no text: %v, files %q", err, tt.dataFiles())
	}
}

func TestManyPartitions(t *testing.T) {
	tt := newTable(t, openInstance(t), field("v", `"long"`)+","+field("p", `"long"`), []string{"p"}, nil)
	written := tt.write("SELECT i AS c0, i % 1500 AS c1 FROM range(30000) t(i)")
	if len(written.Files) != 1500 || written.Rows != 30000 {
		t.Errorf("%d files, %d rows", len(written.Files), written.Rows)
	}
	if got := rows(t, tt.in, "SELECT CAST(count(*) AS VARCHAR) FROM read_parquet($1, hive_partitioning => false)", tt.dir+"/*/*.parquet"); got[0] != "30000" {
		t.Errorf("rows: %q", got)
	}
}

func TestTargetFileSize(t *testing.T) {
	in := openInstance(t)
	const sql = "SELECT hash(i) % 1000000007 AS c0 FROM range(1000000) t(i)"
	fields := field("v", `"long"`)
	query := "SELECT CAST(c0 AS BIGINT) AS c0 FROM (" + sql + ")"
	for _, test := range []struct {
		configuration map[string]string
		bytes         int64
		several       bool
	}{
		{nil, 0, false},
		{nil, 1 << 20, true},
		{map[string]string{"delta.targetFileSize": "1mb"}, 0, true},
		{map[string]string{"delta.targetFileSize": "1048576"}, 1 << 40, false},
	} {
		tt := newTable(t, in, fields, nil, test.configuration)
		written, err := tt.tryWrite(context.Background(), Rows{SQL: query}, Options{TargetFileBytes: test.bytes})
		if err != nil {
			t.Fatal(err)
		}
		if several := len(written.Files) > 1; several != test.several || written.Rows != 1_000_000 {
			t.Errorf("%v, %d bytes: %d files of %d rows", test.configuration, test.bytes, len(written.Files), written.Rows)
		}
	}
	tt := newTable(t, in, fields, nil, map[string]string{"delta.targetFileSize": "large"})
	if _, err := tt.tryWrite(context.Background(), Rows{SQL: query}, Options{}); protocol.ClassOf(err) != "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED" {
		t.Errorf("a bad property: %v", err)
	}
}

// TestSortedFiles: files of sorted rows have ranges of their own; neighbours may share what threads had in hand.
func TestSortedFiles(t *testing.T) {
	tt := newTable(t, openInstance(t), field("v", `"long"`), nil, nil)
	written, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT CAST(hash(i) >> 1 AS BIGINT) AS c0 FROM range(2000000) t(i)"}, Options{TargetFileBytes: 1 << 20, SortBy: []string{"c0"}})
	if err != nil {
		t.Fatal(err)
	}
	covered := 0.0
	for _, add := range written.Files {
		var s struct{ MinValues, MaxValues struct{ V int64 } }
		if err := json.Unmarshal([]byte(add.Stats), &s); err != nil {
			t.Fatal(err)
		}
		covered += float64(s.MaxValues.V - s.MinValues.V)
	}
	if len(written.Files) < 5 || covered > 2*math.MaxInt64 {
		t.Errorf("the ranges of %d files together are %.2f of all", len(written.Files), covered/math.MaxInt64)
	}
}

// TestFieldIDs looks at the ids and annotations in a file with another reader of Parquet than ours.
func TestFieldIDs(t *testing.T) {
	fields := `{"name":"l","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"integer","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-x"}}]},"containsNull":true},"nullable":true,` +
		`"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-l","delta.columnMapping.nested.ids":{"col-l.element":7}}},` +
		`{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"long","containsNull":true},"valueContainsNull":true},"nullable":true,` +
		`"metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"col-m","delta.columnMapping.nested.ids":{"col-m.key":8,"col-m.value":9,"col-m.value.element":10}}},` +
		`{"name":"t","type":"timestamp","nullable":true,"metadata":{"delta.columnMapping.id":4,"delta.columnMapping.physicalName":"col-t"}},` +
		`{"name":"n","type":"timestamp_ntz","nullable":true,"metadata":{"delta.columnMapping.id":5,"delta.columnMapping.physicalName":"col-n"}},` +
		`{"name":"v","type":"variant","nullable":true,"metadata":{"delta.columnMapping.id":6,"delta.columnMapping.physicalName":"col-v"}}`
	tt := newTable(t, openInstance(t), fields, nil, map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "10"})
	add := tt.write("SELECT [{'x': 1}] AS c0, MAP(['k'], [[2::BIGINT]]) AS c1, TIMESTAMPTZ '2024-01-01 00:00:00+00' AS c2, TIMESTAMP '2024-01-01' AS c3, 5::VARIANT AS c4").Files[0]
	want := "col-l:1 list:0 element:7 col-x:2 col-m:3 key_value:0 key:8 value:9 list:0 element:10 col-t:4:utc=true col-n:5:utc=false col-v:6:variant metadata:0 value:0"
	if got := tt.fieldIDs(add); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	tt.check()
}

// fieldIDs are the names, ids and some annotations of what a file holds.
func (tt *testTable) fieldIDs(add protocol.AddFile) string {
	tt.t.Helper()
	file, err := os.Open(filepath.Join(tt.dir, filepath.FromSlash(add.Path)))
	if err != nil {
		tt.t.Fatal(err)
	}
	defer file.Close()
	opened, err := parquet.OpenFile(file, add.Size)
	if err != nil {
		tt.t.Fatal(err)
	}
	var got []string
	for _, e := range opened.Metadata().Schema[1:] {
		text := fmt.Sprintf("%s:%d", e.Name, e.FieldID)
		switch logical := e.LogicalType.Value.(type) {
		case *format.TimestampType:
			text += fmt.Sprintf(":utc=%t", logical.IsAdjustedToUTC)
		case *format.VariantType:
			text += ":variant"
		}
		got = append(got, text)
	}
	return strings.Join(got, " ")
}

// TestIcebergFieldIDs: elements have ids where Iceberg compatibility is on, and need none where it is only supported; its third
// version gives the columns of row tracking the ids that Iceberg knows them by.
func TestIcebergFieldIDs(t *testing.T) {
	in := openInstance(t)
	list := func(nested string) string {
		return `{"name":"l","type":{"type":"array","elementType":"long","containsNull":true},"nullable":true,` +
			`"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-l"` + nested + `}}`
	}
	configuration := func(more ...string) map[string]string {
		c := map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2", "delta.enableRowTracking": "true",
			"delta.rowTracking.materializedRowIdColumnName": "_id", "delta.rowTracking.materializedRowCommitVersionColumnName": "_version"}
		for _, name := range more {
			c[name] = "true"
		}
		return c
	}
	for _, test := range []struct {
		name, feature, fields string
		configuration         map[string]string
		want                  string
	}{
		{"supported only", "icebergCompatV2", list(""), configuration(), "col-l:1 list:0 element:0 _id:0 _version:0"},
		{"2", "icebergCompatV2", list(`,"delta.columnMapping.nested.ids":{"col-l.element":2}`), configuration("delta.enableIcebergCompatV2"), "col-l:1 list:0 element:2 _id:0 _version:0"},
		{"3", "icebergCompatV3", list(`,"delta.columnMapping.nested.ids":{"col-l.element":2}`), configuration("delta.enableIcebergCompatV3"),
			"col-l:1 list:0 element:2 _id:2147483540 _version:2147483539"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := features
			p.WriterFeatures = append(slices.Clone(features.WriterFeatures), test.feature)
			tt := newTableOf(t, in, p, protocol.Metadata{ID: "id", Provider: "parquet", SchemaString: `{"type":"struct","fields":[` + test.fields + `]}`, Configuration: test.configuration})
			written, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT [1::BIGINT] AS c0, 5::BIGINT AS c1, 6::BIGINT AS c2", RowIDs: true}, Options{DataChange: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.fieldIDs(written.Files[0]); got != test.want {
				t.Errorf(" got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestBloomFilters(t *testing.T) {
	in := openInstance(t)
	const filters = `SELECT CAST(count(bloom_filter_offset) AS VARCHAR), CAST(coalesce(max(bloom_filter_length), 0) AS VARCHAR) FROM parquet_metadata($1)`
	var lengths []string
	for _, properties := range []map[string]string{nil, {"parquet.bloom.filter.fpp": "0.0001"}, {"parquet.bloom.filter.enabled": "false"}} {
		tt := newTable(t, in, field("v", `"string"`), nil, properties)
		tt.write("SELECT (i % 500)::VARCHAR AS c0 FROM range(20000) t(i)")
		lengths = append(lengths, rows(t, in, filters, tt.dir+"/*.parquet")...)
	}
	if !strings.HasPrefix(lengths[0], "1|") || !strings.HasPrefix(lengths[1], "1|") || lengths[1] == lengths[0] || lengths[2] != "0|0" {
		t.Errorf("filters and their sizes: %q", lengths)
	}
	for name, value := range map[string]string{"parquet.bloom.filter.fpp": "2", "parquet.bloom.filter.enabled": "perhaps"} {
		tt := newTable(t, in, field("v", `"string"`), nil, map[string]string{name: value})
		if _, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT 'x' AS c0"}, Options{DataChange: true}); protocol.ClassOf(err) != "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED" {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
}

func TestRowIDsAndIdentity(t *testing.T) {
	identity := `{"name":"id","type":"long","nullable":false,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":false}}`
	tt := newTable(t, openInstance(t), identity, nil, map[string]string{
		"delta.enableRowTracking": "true", "delta.rowTracking.materializedRowIdColumnName": "_row-id", "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
		"delta.dataSkippingNumIndexedCols": "0",
	})
	written, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT i AS c0, i + 100 AS c1, 7::BIGINT AS c2 FROM range(5, 8) t(i)", RowIDs: true}, Options{DataChange: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := written.Identity["id"]; got != (Bounds{5, 7}) {
		t.Errorf("identity values %v", got)
	}
	got := rows(t, tt.in, `SELECT CAST(id AS VARCHAR), CAST("_row-id" AS VARCHAR), CAST("_row-version" AS VARCHAR) FROM read_parquet($1)`, tt.dir+"/*.parquet")
	if !slices.Equal(got, []string{"5|105|7", "6|106|7", "7|107|7"}) {
		t.Errorf("the file has %q", got)
	}
	if stats := written.Files[0].Stats; stats != `{"numRecords":3,"minValues":{},"maxValues":{},"nullCount":{},"tightBounds":true}` {
		t.Errorf("statistics %s", stats)
	}
}

func TestChangeFiles(t *testing.T) {
	tt := newTable(t, openInstance(t), field("v", `"long"`)+","+field("p", `"string"`), []string{"p"}, map[string]string{"delta.enableChangeDataFeed": "true"})
	tx := tt.begin()
	written, err := Write(context.Background(), tt.in, tx, Rows{SQL: "SELECT 1::BIGINT AS c0, 'a' AS c1, 'delete' AS c2", ChangeType: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(written.Files) != 0 || len(written.Changes) != 1 || !regexp.MustCompile(`^_change_data/p=a/cdc-00000-.*\.c000\.zstd\.parquet$`).MatchString(written.Changes[0].Path) {
		t.Errorf("%+v", written)
	}
	if adds, removes, changes := tx.Staged(); adds != 0 || removes != 0 || changes != 1 {
		t.Errorf("staged: %d, %d, %d", adds, removes, changes)
	}
	if got := rows(t, tt.in, "SELECT CAST(v AS VARCHAR), _change_type FROM read_parquet($1, hive_partitioning => false)", tt.dir+"/_change_data/*/*.parquet"); !slices.Equal(got, []string{"1|delete"}) {
		t.Errorf("the file has %q", got)
	}
	tx.Abort(context.Background())
	if files := tt.dataFiles(); len(files) > 0 {
		t.Errorf("after the transaction was given up there are %q", files)
	}
}

// TestVoid: columns and members of the type void are in no file.
func TestVoid(t *testing.T) {
	in := openInstance(t)
	tt := newTable(t, in, field("a", `"long"`)+","+field("n", `"void"`)+","+field("s", `{"type":"struct","fields":[`+field("x", `"long"`)+","+field("y", `"void"`)+`]}`), nil, nil)
	tt.write(`SELECT 1::BIGINT AS c0, NULL AS c1, {'x': 2::BIGINT, 'y': NULL} AS c2`)
	if got := tt.read(); !slices.Equal(got, []string{"1|NULL|{'x': 2, 'y': NULL}"}) {
		t.Errorf("read back as %q", got)
	}
	for typ, class := range map[string]protocol.Class{
		`"void"`: "DELTA_CANNOT_WRITE_EMPTY_SCHEMA",
		`{"type":"array","elementType":"void","containsNull":true}`: "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
		`{"type":"struct","fields":[` + field("x", `"void"`) + `]}`: "DELTA_CANNOT_WRITE_EMPTY_SCHEMA",
		`"geometry"`: "UNSUPPORTED_FEATURE", `"interval year to month"`: "UNSUPPORTED_FEATURE",
	} {
		config, err := protocol.NewTableConfig(features, protocol.Metadata{ID: "x", SchemaString: `{"type":"struct","fields":[` + field("c", typ) + `]}`})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newLayout(config, Rows{}, false); protocol.ClassOf(err) != class {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestWrongTypes: a query that does not give the table's types is our fault, and makes no file.
func TestWrongTypes(t *testing.T) {
	tt := newTable(t, openInstance(t), field("a", `"integer"`), nil, nil)
	for _, sql := range []string{"SELECT 1::BIGINT AS c0", "SELECT 1.5 AS c0", "SELECT 1::HUGEINT AS c0", "SELECT now() AS c0"} {
		_, err := tt.tryWrite(context.Background(), Rows{SQL: sql}, Options{})
		if protocol.ClassOf(err) != protocol.ClassInternal {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if files := tt.dataFiles(); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
}

// TestFailures: whatever fails, no file is left and the table is as it was (W2).
func TestFailures(t *testing.T) {
	in := openInstance(t)
	fields := field("v", `"long"`) + "," + field("p", `"long"`)
	long := "SELECT CAST(hash(i) % 1000000007 AS BIGINT) AS c0, i % 5 AS c1 FROM range(200000000) t(i)"
	for _, partitions := range [][]string{nil, {"p"}} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			tt := newTable(t, in, fields, partitions, nil)
			expect := func(what string, err error, is func(error) bool) {
				t.Helper()
				if err == nil || !is(err) {
					t.Errorf("%s: %v", what, err)
				}
				if files := tt.dataFiles(); len(files) > 0 {
					t.Errorf("%s: files are left: %q", what, files)
				}
				entries, _ := os.ReadDir(tt.dir)
				if len(entries) != 1 {
					t.Errorf("%s: the table's folder has %v", what, entries)
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			_, err := tt.tryWrite(ctx, Rows{SQL: long}, Options{TargetFileBytes: 1 << 20})
			cancel()
			expect("cancelled", err, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) })

			_, err = tt.tryWrite(context.Background(), Rows{SQL: "SELECT CASE WHEN i = 900000 THEN CAST(error('[MY] broken') AS BIGINT) ELSE i END AS c0, i % 5 AS c1 FROM range(1000000) t(i)"}, Options{TargetFileBytes: 1 << 20})
			expect("an error of a row", err, func(err error) bool {
				var fault *duck.Error
				return errors.As(err, &fault) && fault.Kind == duck.ErrorInvalidInput && fault.Message == "[MY] broken"
			})

			tx := tt.begin()
			_, err = Write(context.Background(), in, tx, Rows{SQL: "SELECT i AS c0, i % 5 AS c1 FROM range(10) t(i)"}, Options{})
			if err != nil {
				t.Fatal(err) // it owes nothing that it cannot do
			}
			tx.Abort(context.Background())
			for _, entry := range tt.dataFiles() {
				t.Errorf("after the transaction was given up there is %s", entry)
			}
		})
	}
}

// TestDutiesMissing: the transaction refuses files whose rows owe something, and they are deleted.
func TestDutiesMissing(t *testing.T) {
	tt := newTable(t, openInstance(t), field("v", `"string"`), nil, nil)
	tx := tt.begin()
	metadata := tx.Config().Metadata
	metadata.SchemaString = `{"type":"struct","fields":[{"name":"v","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(3)"}}]}`
	if err := tx.SetMetadata(metadata); err != nil {
		t.Fatal(err)
	}
	_, err := Write(context.Background(), tt.in, tx, Rows{SQL: "SELECT 'long text' AS c0"}, Options{})
	if protocol.ClassOf(err) != protocol.ClassInternal || !strings.Contains(err.Error(), "Length(v)") {
		t.Errorf("%v", err)
	}
	if files := tt.dataFiles(); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
	if _, err := Write(context.Background(), tt.in, tx, Rows{SQL: "SELECT 'abc' AS c0", Done: []txn.Duty{{Kind: txn.Length, Column: "v"}}}, Options{}); err != nil {
		t.Error(err)
	}
}

// TestStorageFaults writes where nothing can be written.
func TestStorageFaults(t *testing.T) {
	in := openInstance(t)
	tt := newTable(t, in, field("v", `"long"`), nil, nil)
	if os.Getuid() != 0 {
		if err := os.Chmod(tt.dir, 0o555); err != nil {
			t.Fatal(err)
		}
		_, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT 1::BIGINT AS c0"}, Options{})
		os.Chmod(tt.dir, 0o755)
		if protocol.ClassOf(err) != "DELTASQL_STORAGE" {
			t.Errorf("a folder without permission: %v", err)
		}
	}
	tx := tt.begin()
	moved := tt.dir + "-away"
	if err := os.Rename(tt.dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tt.dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Write(context.Background(), in, tx, Rows{SQL: "SELECT 1::BIGINT AS c0", Done: tx.Duties()}, Options{})
	if protocol.ClassOf(err) != "DELTASQL_STORAGE" {
		t.Errorf("a file in the place of the folder: %v", err)
	}
}

// TestPlacingFails: a folder for one of the partitions cannot be made, when the files of others are in their places already.
func TestPlacingFails(t *testing.T) {
	tt := newTable(t, openInstance(t), field("v", `"long"`)+","+field("p", `"long"`), []string{"p"}, nil)
	if err := os.WriteFile(filepath.Join(tt.dir, "p=7"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := tt.tryWrite(context.Background(), Rows{SQL: "SELECT i AS c0, i % 10 AS c1 FROM range(100) t(i)"}, Options{})
	if protocol.ClassOf(err) != "DELTASQL_STORAGE" {
		t.Errorf("%v", err)
	}
	if files := tt.dataFiles(); !slices.Equal(files, []string{"p=7"}) {
		t.Errorf("files are left: %q", files)
	}
}

// TestFullDisk needs a small file system, whose folder the environment names: the test is skipped without.
func TestFullDisk(t *testing.T) {
	small := os.Getenv("DELTASQL_SMALL_DISK")
	if small == "" {
		t.Skip("DELTASQL_SMALL_DISK names no small file system")
	}
	in := openInstance(t)
	for _, partitions := range [][]string{nil, {"p"}} {
		dir, err := os.MkdirTemp(small, "t")
		if err != nil {
			t.Fatal(err)
		}
		tt := newTableIn(t, in, dir, features, protocol.Metadata{ID: "x", Provider: "parquet", PartitionColumns: partitions,
			SchemaString: `{"type":"struct","fields":[` + field("v", `"long"`) + "," + field("p", `"long"`) + `]}`})
		_, err = tt.tryWrite(context.Background(), Rows{SQL: "SELECT CAST(hash(i) % 1000000007 AS BIGINT) AS c0, i % 5 AS c1 FROM range(20000000) t(i)"}, Options{})
		if protocol.ClassOf(err) != "DELTASQL_STORAGE" {
			t.Errorf("%v", err)
		}
		if files := tt.dataFiles(); len(files) > 0 {
			t.Errorf("files are left: %q", files)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("the folder has %v", entries)
		}
		os.RemoveAll(dir)
	}
}
