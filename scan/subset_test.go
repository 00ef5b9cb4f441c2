package scan

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"deltasql/protocol"
	"deltasql/stats"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// TestSubset: files 0 to 2 hold 0..9, 100..102 and 200..201; a vector hides 0 to 6 of the first and 100+1 of the second.
func TestSubset(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("p", `"string"`), []string{"p"}, nil)
	table.write("a.parquet", "SELECT i::INTEGER AS id FROM range(10) t(i)", "")
	table.write("b.parquet", "SELECT (100 + i)::INTEGER AS id FROM range(3) t(i)", "")
	table.write("c.parquet", "SELECT (200 + i)::INTEGER AS id FROM range(2) t(i)", "")
	vectors := vectorFile(t, filepath.Join(t.TempDir(), "v.bin"), []uint64{0, 1, 2, 3, 4, 5, 6}, []uint64{1})
	table.commit(add("a.parquet", `"p":"x"`, `,"deletionVector":`+vectors[0]+`,"stats":"{\"numRecords\":10}"`),
		add("b.parquet", `"p":"y"`, `,"deletionVector":`+vectors[1]), add("c.parquet", `"p":null`, `,"stats":"{\"numRecords\":2}"`))
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rows := func(numbers ...uint64) *roaring64.Bitmap { return roaring64.BitmapOf(numbers...) }
	partition := stats.Compare{Leaf: stats.Leaf{Path: []protocol.PhysicalName{"p"}, Type: protocol.DataType{Kind: protocol.KindString}, Partition: true},
		Op: stats.Equal, Value: protocol.Value{Kind: protocol.KindString, Str: "x"}}
	for _, test := range []struct {
		name      string
		subset    Subset
		predicate stats.Predicate
		want      string
		deleted   int64
	}{
		{"all", Subset{}, nil, "[100, 1, 0, y] [102, 1, 2, y] [200, 2, 0, NULL] [201, 2, 1, NULL] [7, 0, 7, x] [8, 0, 8, x] [9, 0, 9, x]", 8},
		{"only", Subset{Only: []int32{2, 1, 2}}, nil, "[100, 1, 0, y] [102, 1, 2, y] [200, 2, 0, NULL] [201, 2, 1, NULL]", 1},
		{"none", Subset{Only: []int32{}}, nil, "", 0},
		{"only and a predicate", Subset{Only: []int32{0, 2}}, partition, "[7, 0, 7, x] [8, 0, 8, x] [9, 0, 9, x]", 7},
		{"nothing satisfies it", Subset{Only: []int32{1}}, partition, "", 0},
		{"minus", Subset{Minus: map[int32]*roaring64.Bitmap{0: rows(3, 8), 1: rows(2), 2: rows(0)}}, nil, "[100, 1, 0, y] [201, 2, 1, NULL] [7, 0, 7, x] [9, 0, 9, x]", 11},
		{"minus less than the vector", Subset{Only: []int32{0}, Minus: map[int32]*roaring64.Bitmap{0: rows(0)}}, nil, "[7, 0, 7, x] [8, 0, 8, x] [9, 0, 9, x]", 7},
		{"minus everything", Subset{Only: []int32{2}, Minus: map[int32]*roaring64.Bitmap{2: rows(0, 1)}}, nil, "", 2},
		{"rows", Subset{Rows: map[int32]*roaring64.Bitmap{0: rows(1, 9), 2: rows(1)}}, nil, "[1, 0, 1, x] [201, 2, 1, NULL] [9, 0, 9, x]", 9},
		{"rows of none", Subset{Rows: map[int32]*roaring64.Bitmap{0: rows()}}, nil, "", 0},
		{"no rows", Subset{Rows: map[int32]*roaring64.Bitmap{}}, nil, "", 0},
		{"rows and minus", Subset{Only: []int32{0}, Rows: map[int32]*roaring64.Bitmap{0: rows(1, 9), 2: rows(1)}, Minus: map[int32]*roaring64.Bitmap{0: rows(1)}}, nil, "[9, 0, 9, x]", 9},
	} {
		relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0, 1}, Hidden: []HiddenColumn{FileNumber, RowIndex},
			Subset: test.subset, Predicate: test.predicate, Skip: test.predicate != nil})
		if err != nil {
			t.Fatal(test.name, err)
		}
		if got := query(t, in, relation, "c0::VARCHAR, c2::VARCHAR, c3::VARCHAR, c1", ""); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if relation.Report.DeletedRows != test.deleted {
			t.Errorf("%s: %d deleted rows, want %d", test.name, relation.Report.DeletedRows, test.deleted)
		}
		relation.Release()
	}
	for _, bad := range []Subset{{Rows: map[int32]*roaring64.Bitmap{0: rows(10)}}, {Minus: map[int32]*roaring64.Bitmap{2: rows(2)}}} {
		if _, err := Build(context.Background(), in, Request{Snapshot: snapshot, Subset: bad}); protocol.ClassOf(err) != "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX" {
			t.Errorf("a row that is not there: %v", err)
		}
	}
	for file, want := range []string{"{0,1,2,3,4,5,6}", "{1}", ""} {
		got := ""
		if deleted, err := DeletedRows(context.Background(), snapshot, int32(file)); err != nil {
			t.Error(err)
		} else if deleted != nil {
			got = deleted.String()
		}
		if got != want {
			t.Errorf("file %d has the deleted rows %s, want %s", file, got, want)
		}
	}
}

// TestPerFile: one row for each file, though the files are not even there.
func TestPerFile(t *testing.T) {
	in := openInstance(t)
	for _, files := range []int{3, 40} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			table := newTable(t, in, field("id", `"integer"`)+","+field("p", `"integer"`)+","+field("d", `"date"`), []string{"p", "d"}, nil)
			vector := vectorFile(t, filepath.Join(t.TempDir(), "v.bin"), []uint64{1})[0]
			for i := range files {
				table.commit(add(fmt.Sprintf("%d.parquet", i), fmt.Sprintf(`"p":"%d","d":null`, i*10), `,"deletionVector":`+vector))
			}
			snapshot, err := table.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			request := Request{Snapshot: snapshot, Columns: []int{1, 2}, Hidden: []HiddenColumn{FileNumber, RowIndex}, Subset: Subset{PerFile: true}}
			relation, err := Build(context.Background(), in, request)
			if err != nil {
				t.Fatal(err)
			}
			defer relation.Release()
			if got, want := query(t, in, relation, "c0::VARCHAR, c1::VARCHAR, c2::VARCHAR, c3::VARCHAR", "c0 IN (10, 20)"), "[10, NULL, 1, NULL] [20, NULL, 2, NULL]"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			request.Columns = []int{0}
			if _, err := Build(context.Background(), in, request); protocol.ClassOf(err) != protocol.ClassInternal {
				t.Errorf("a column of the rows: %v", err)
			}
		})
	}
}

// TestUnpadded: CHAR columns as they lie in the files.
func TestUnpadded(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, `{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(4)"}}`, nil, nil)
	table.write("a.parquet", "SELECT 'x' AS c", "")
	table.commit(add("a.parquet", "", ""))
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for unpadded, want := range map[bool]string{false: "[x   |]", true: "[x|]"} {
		relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0}, Unpadded: unpadded})
		if err != nil {
			t.Fatal(err)
		}
		if got := query(t, in, relation, "c0 || '|'", ""); got != want {
			t.Errorf("%t: got %s, want %s", unpadded, got, want)
		}
		relation.Release()
	}
}
