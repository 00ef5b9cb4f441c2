package scan

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
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
		if plan := explain(t, in, relation, " WHERE c0 = 7"); strings.Contains(plan, "~2 rows") != skip {
			t.Errorf("skipping %v: the rows of one value:\n%s", skip, plan)
		}
		if got := query(t, in, relation, "count(c0), sum(c0)", ""); got != "[18002, 162027001]" {
			t.Errorf("skipping %v: %s", skip, got)
		}
		relation.Release()
	}
}

// TestWrongStatistics: what the log says wrongly of a file that is read changes no row of it (docs/decisions/0011).
func TestWrongStatistics(t *testing.T) {
	in := openInstance(t)
	for name, wrong := range map[string]struct {
		rows, low, high int
		id              string
	}{
		"narrow":      {1000, 0, 10, "i"},
		"elsewhere":   {1000, 5000, 5010, "i"},
		"one value":   {1000, 5, 5, "i"},
		"few rows":    {2, 0, 1, "i"},
		"NULLs":       {1000, 0, 999, "CASE WHEN i % 2 = 0 THEN i END"},
		"only NULLs":  {1000, 7, 7, "NULL::BIGINT"},
		"many values": {1000, 0, 999, "i // 900"},
	} {
		table := newTable(t, in, field("id", `"long"`)+","+field("v", `"long"`), nil, nil)
		table.write("f.parquet", "SELECT "+wrong.id+" AS id, i % 3 AS v FROM range(1000) t(i)", "")
		table.commit(add("f.parquet", "", statsJSON(wrong.rows, wrong.low, wrong.high)))
		snapshot, err := table.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0, 1}})
		if err != nil {
			t.Fatal(err)
		}
		told, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0, 1}, Skip: true})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(told.SQL, "column_statistics") {
			t.Errorf("%s: DuckDB is told nothing", name)
		}
		for _, statement := range []string{
			"SELECT count(*), count(id), count(DISTINCT id), min(id), max(id), sum(id * id) FROM R",
			"SELECT count(*), sum(id) FROM (SELECT id FROM R GROUP BY id)",
			"SELECT count(*), sum(id) FROM (SELECT id, sum(v) FROM R GROUP BY ALL)",
			"SELECT count(*), sum(id) FROM (SELECT DISTINCT id, v FROM R)",
			"SELECT list(id) FROM (SELECT id FROM R ORDER BY id, v)",
			"SELECT list(id) FROM (SELECT id FROM R ORDER BY v, id DESC LIMIT 900)",
			"SELECT count(*) FROM R a JOIN R b USING (id)",
			"SELECT count(*) FROM R WHERE id NOT IN (SELECT id FROM R WHERE v = 1)",
			"SELECT count(*) FROM R WHERE id IS NULL", "SELECT count(*) FROM R WHERE id IS NOT NULL",
			"SELECT count(*) FROM R WHERE id >= 0", "SELECT count(*) FROM R WHERE id > 500", "SELECT count(*) FROM R WHERE id + 1 < 2000",
		} {
			want, got := oneRow(t, in, plain, statement), oneRow(t, in, told, statement)
			if got != want {
				t.Errorf("%s: %s\ngot  %.200s\nwant %.200s", name, statement, got, want)
			}
		}
		plain.Release()
		told.Release()
	}
}

// oneRow is the row of a statement over a relation named R, of columns id and v.
func oneRow(t *testing.T, in *duck.Instance, relation *Relation, statement string) string {
	t.Helper()
	stream, err := in.Query(context.Background(), "WITH R AS NOT MATERIALIZED (SELECT c0 AS id, c1 AS v FROM ("+relation.SQL+
		")) SELECT CAST(answer AS VARCHAR) FROM ("+statement+") AS answer", relation.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	batch, err := stream.Next(context.Background())
	if err != nil {
		return err.Error()
	}
	return batch.Vector(0).Text(0)
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
				forget(table)
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
func forget(table *testTable) {
	layouts.mu.Lock()
	defer layouts.mu.Unlock()
	for key := range layouts.byFile {
		if strings.HasPrefix(key.path, table.dir) {
			delete(layouts.byFile, key)
		}
	}
}

func TestMostValues(t *testing.T) {
	bound := func(low, high int64) stats.Bound {
		return stats.Bound{Enclosed: true, Min: protocol.Value{Int: low, Dec: protocol.Int128FromInt64(low)}, Max: protocol.Value{Int: high, Dec: protocol.Int128FromInt64(high)}}
	}
	for _, test := range []struct {
		t     protocol.DataType
		b     stats.Bound
		count int64 // -1: not known
	}{
		{protocol.DataType{Kind: protocol.KindLong}, bound(-5, 5), 11},
		{protocol.DataType{Kind: protocol.KindLong}, bound(math.MinInt64, math.MaxInt64), -1},
		{protocol.DataType{Kind: protocol.KindLong}, bound(0, math.MaxInt64), -1},
		{protocol.DataType{Kind: protocol.KindLong}, bound(1, math.MaxInt64), math.MaxInt64},
		{protocol.DataType{Kind: protocol.KindDate}, bound(7, 7), 1},
		{protocol.DataType{Kind: protocol.KindDecimal, Precision: 5, Scale: 2}, bound(-100, 100), 201},
		{protocol.DataType{Kind: protocol.KindDecimal, Precision: 38}, bound(-100, 100), 201},
		{protocol.DataType{Kind: protocol.KindDecimal, Precision: 38}, stats.Bound{Enclosed: true, Max: protocol.Value{Dec: protocol.Int128{Hi: 1}}}, -1},
		{protocol.DataType{Kind: protocol.KindTimestamp}, bound(0, 5), -1},
		{protocol.DataType{Kind: protocol.KindLong}, stats.Bound{}, -1},
	} {
		if n, ok := mostValues(test.b, test.t); ok != (test.count >= 0) || ok && n != test.count {
			t.Errorf("%s between %v and %v: %d, %v", test.t, test.b.Min.Int, test.b.Max.Int, n, ok)
		}
	}
}
