package scan

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// statsJSON are statistics of rows with ids from low to high, none of them NULL.
func statsJSON(rows, low, high int) string {
	return fmt.Sprintf(`,"stats":"{\"numRecords\":%d,\"minValues\":{\"id\":%d},\"maxValues\":{\"id\":%d},\"nullCount\":{\"id\":0}}"`, rows, low, high)
}

// explain is DuckDB's plan of a query over a relation, on one line.
func explain(t *testing.T, in *duck.Instance, relation *Relation, where string) string {
	t.Helper()
	stream, err := in.Query(context.Background(), "EXPLAIN SELECT c0 FROM ("+relation.SQL+")"+where, relation.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	batch, err := stream.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return batch.Vector(1).Text(0)
}

// known makes the files' layouts known, as a scan that needs them does.
func (tt *testTable) known(names ...string) {
	tt.t.Helper()
	var files []*dataFile
	for _, name := range names {
		f := &dataFile{path: name, size: 1, modTime: 1000}
		if err := (tableRef{name: "t", store: tt.Store()}).locate(context.Background(), f); err != nil {
			tt.t.Fatal(err)
		}
		files = append(files, f)
	}
	if err := findLayouts(context.Background(), tt.in, files, true); err != nil {
		tt.t.Fatal(err)
	}
}

// TestEstimates: DuckDB plans with the log's number of rows and bounds (docs/decisions/0009).
func TestEstimates(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"long"`), nil, nil)
	var adds, names []string
	first := 0
	for i, rows := range []int{2, 5000, 6000, 7000} { // mean 4500
		name := fmt.Sprintf("%d.parquet", i)
		table.write(name, fmt.Sprintf("SELECT %d + i AS id FROM range(%d) t(i)", first, rows), "")
		adds, names = append(adds, add(name, "", statsJSON(rows, first, first+rows-1))), append(names, name)
		first += rows
	}
	table.commit(adds...)
	table.known(names...)
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, skip := range []bool{true, false} {
		relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0}, Skip: skip})
		if err != nil {
			t.Fatal(err)
		}
		if plan := explain(t, in, relation, ""); !strings.Contains(plan, "~20,000 rows") {
			t.Errorf("skipping %v: 18,002 rows are estimated otherwise:\n%s", skip, plan)
		}
		for where, hopeless := range map[string]bool{" WHERE c0 >= 18002": true, " WHERE c0 < 0": true, " WHERE c0 IS NULL": true, " WHERE c0 > 18000": false} {
			if plan := explain(t, in, relation, where); strings.Contains(plan, "Empty Result") != (skip && hopeless) {
				t.Errorf("skipping %v,%s:\n%s", skip, where, plan)
			}
		}
		if got := query(t, in, relation, "count(c0), sum(c0)", ""); got != "[18002, 162027001]" {
			t.Errorf("skipping %v: %s", skip, got)
		}
		relation.Release()
	}
}

// TestUnlikeFiles: files with other types, columns, order or case of names give the same rows whether their layouts are known or
// not.
func TestUnlikeFiles(t *testing.T) {
	in := openInstance(t)
	fields := strings.Join([]string{field("id", `"long"`), field("file_row_number", `"double"`), field("d", `"timestamp_ntz"`),
		field("x1", `"decimal(12,3)"`), field("p", `"string"`)}, ",")
	table := newTable(t, in, fields, []string{"p"}, nil)
	files := []struct{ name, query string }{
		{"same.parquet", "SELECT 1::BIGINT AS id, 1.5::DOUBLE AS file_row_number, TIMESTAMP '2024-01-01 00:00:01' AS d, 1.125::DECIMAL(12,3) AS x1"},
		{"narrow.parquet", "SELECT 2::INTEGER AS id, 2.5::FLOAT AS file_row_number, DATE '2024-01-02' AS d, 2.25::DECIMAL(5,2) AS x1"},
		{"order.parquet", "SELECT 3.125::DECIMAL(12,3) AS x1, TIMESTAMP '2024-01-03' AS d, 'other' AS q, 3.5::DOUBLE AS file_row_number, 3::BIGINT AS id"},
		{"missing.parquet", "SELECT 4::BIGINT AS id, 'wrong' AS p, 7 AS file_index"},
		{"case.parquet", "SELECT 5::SMALLINT AS ID, 5.5::DOUBLE AS File_Row_Number"},
		{"null.parquet", "SELECT NULL::BIGINT AS id, 6.5::DOUBLE AS file_row_number"},
	}
	var adds, names []string
	for i, f := range files {
		table.write(f.name, f.query, "")
		adds = append(adds, add(f.name, `"p":"a"`, fmt.Sprintf(`,"stats":"{\"numRecords\":1,\"minValues\":{\"id\":%d},\"maxValues\":{\"id\":%[1]d},\"nullCount\":{\"id\":%[2]d}}"`, i+1, i/5)))
		names = append(names, f.name)
	}
	table.commit(adds...)
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ expressions, where, want string }{
		{"c0, c1", "", "[1.0, 1.5] [2.0, 2.5] [3.0, 3.5] [4.0, NULL] [5.0, 5.5] [NULL, 6.5]"},
		{"c2", "", "['2024-01-01 00:00:01'] ['2024-01-02 00:00:00'] ['2024-01-03 00:00:00'] [NULL] [NULL] [NULL]"},
		{"c3", "c3 IS NOT NULL", "[1.125] [2.250] [3.125]"},
		{"c0", "c2 > TIMESTAMP '2024-01-01 12:00:00'", "[2] [3]"},
		{"c0", "c1 IS NULL", "[4]"},
		{"c1", "c0 IS NULL", "[6.5]"},
		{"c0", "c4 = 'a' AND c0 > 3", "[4] [5]"},
		{"c0, c5", "c0 BETWEEN 2 AND 4", "[2, 0] [3, 0] [4, 0]"},
		{"typeof(c0), typeof(c1), typeof(c2), typeof(c3)", "c0 = 2", "[BIGINT, DOUBLE, TIMESTAMP, 'DECIMAL(12,3)']"},
	} {
		for _, known := range []bool{false, true} {
			if known {
				table.known(names...)
			} else {
				forget(table, names)
			}
			relation, err := Build(context.Background(), in, Request{
				Snapshot: snapshot, Columns: []int{0, 1, 2, 3, 4}, Hidden: []HiddenColumn{RowIndex}, Skip: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := query(t, in, relation, test.expressions, test.where); got != test.want {
				t.Errorf("known %v: %s WHERE %s:\ngot  %s\nwant %s\n%s", known, test.expressions, test.where, got, test.want, relation.SQL)
			}
			relation.Release()
		}
	}
}

// forget drops what is known of files.
func forget(table *testTable, names []string) {
	layouts.mu.Lock()
	defer layouts.mu.Unlock()
	for key := range layouts.byFile {
		if strings.HasPrefix(key.path, table.dir) {
			delete(layouts.byFile, key)
		}
	}
}

func TestColumnStatistics(t *testing.T) {
	for _, test := range []struct {
		kind    protocol.Kind
		n       int64
		written string
	}{
		{protocol.KindLong, -5, "-5"},
		{protocol.KindDate, 0, "1970-01-01"},
		{protocol.KindDate, -719162, "0001-01-01"},
		{protocol.KindDate, -719163, ""},
		{protocol.KindDate, 2932896, "9999-12-31"},
		{protocol.KindDate, 2932897, ""},
		{protocol.KindTimestamp, -1, "1969-12-31 23:59:59.999999+00"},
		{protocol.KindTimestampNTZ, 1_700_000_000_123_456, "2023-11-14 22:13:20.123456"},
		{protocol.KindTimestampNTZ, 1 << 62, ""},
		{protocol.KindDouble, 1, ""},
		{protocol.KindString, 1, ""},
	} {
		got, _ := boundText(protocol.Value{Kind: test.kind, Int: test.n}, protocol.DataType{Kind: test.kind})
		if got != test.written {
			t.Errorf("%v of %d: %q, want %q", test.kind, test.n, got, test.written)
		}
	}
}
