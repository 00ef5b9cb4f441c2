package stats

import (
	"testing"

	"deltasql/protocol"
)

func TestBounds(t *testing.T) {
	whole := `{"numRecords":3,"minValues":{"id":1,"d":0.5,"s":"a"},"maxValues":{"id":5,"d":7.25,"s":"b"},"nullCount":{"id":0,"d":1,"s":0}}`
	loose := whole[:len(whole)-1] + `,"tightBounds":false}`
	cases := []struct {
		name                string
		files               memorySource
		enclosed, neverNull bool
		low, high           int64
	}{
		{"one file", memorySource{{stats: whole}}, true, true, 1, 5},
		{"a file of NULLs adds none", memorySource{{stats: whole}, {stats: `{"numRecords":2,"nullCount":{"id":2}}`}}, true, false, 1, 5},
		{"two files", memorySource{{stats: whole}, {stats: `{"numRecords":1,"minValues":{"id":-3},"maxValues":{"id":2},"nullCount":{"id":0}}`}}, true, true, -3, 5},
		{"a file without bounds", memorySource{{stats: whole}, {stats: `{"numRecords":1,"nullCount":{"id":0}}`}}, false, true, 0, 0},
		{"a file without null count", memorySource{{stats: `{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":5}}`}}, true, false, 1, 5},
		{"no statistics", memorySource{{stats: whole}, {}}, false, false, 0, 0},
		{"only NULLs", memorySource{{stats: `{"numRecords":2,"nullCount":{"id":2}}`}}, false, false, 0, 0},
		{"wide bounds under a vector", memorySource{{stats: loose, deleted: 1}}, true, true, 1, 5},
		{"bounds of the live rows alone", memorySource{{stats: whole, deleted: 1}}, false, false, 0, 0},
	}
	for _, c := range cases {
		files := make([]int32, len(c.files))
		for i := range files {
			files[i] = int32(i)
		}
		got := NewTable(c.files, config("id long", "d dec", "s string")).Bounds([]Leaf{leafOf("id long")}, files)[0]
		if got.Enclosed != c.enclosed || got.NeverNull != c.neverNull || c.enclosed && (got.Min.Int != c.low || got.Max.Int != c.high) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	table := NewTable(memorySource{{stats: whole, values: map[string]string{"p": "1"}}}, config("id long", "d dec", "s string", "*p int"))
	got := table.Bounds([]Leaf{leafOf("d dec"), leafOf("s string"), leafOf("p int"), leafOf("id long")}, []int32{0})
	if d := got[0]; !d.Enclosed || d.NeverNull || d.Min.Dec.String(2) != "0.50" || d.Max.Dec.String(2) != "7.25" {
		t.Errorf("decimal: %+v", d)
	}
	if s := got[1]; s.Enclosed || !s.NeverNull {
		t.Errorf("bounds of strings may be cut: %+v", s)
	}
	if p := got[2]; p.Enclosed || p.NeverNull {
		t.Errorf("partition columns are not in the files: %+v", p)
	}
	if id := got[3]; !id.Enclosed || id.Min.Kind != protocol.KindLong {
		t.Errorf("a leaf after others: %+v", id)
	}
	if none := table.Bounds([]Leaf{leafOf("id long")}, nil)[0]; none.Enclosed || none.NeverNull {
		t.Errorf("no files: %+v", none)
	}
}
