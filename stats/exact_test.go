package stats

import (
	"testing"

	"deltasql/protocol"
)

// ST-15: ids NULL, 1, 2; then the row with NULL is deleted, then 2.
func TestExactWithDeletionVectors(t *testing.T) {
	whole := memoryFile{stats: `{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":1},"tightBounds":true}`}
	loose := `{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":1},"tightBounds":false}`
	id := leafOf("id long")
	cases := []struct {
		name      string
		file      memoryFile
		rows      int64
		rowsExact bool
		nulls     bool
		bounds    bool
	}{
		{"as written", whole, 3, true, true, true},
		{"one deleted", memoryFile{stats: loose, deleted: 1}, 2, true, false, false},
		{"two deleted", memoryFile{stats: loose, deleted: 2}, 1, true, false, false},
		{"deleted but still called tight", memoryFile{stats: whole.stats, deleted: 1}, 2, true, false, false},
		{"loose without a vector", memoryFile{stats: loose}, 3, true, false, false},
		{"more deleted than there are", memoryFile{stats: loose, deleted: 4}, 0, false, false, false},
		{"no record count", memoryFile{stats: `{"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":1}}`}, 0, false, false, false},
		{"no null count", memoryFile{stats: `{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":2}}`}, 3, true, false, false},
		{"no maximum", memoryFile{stats: `{"numRecords":3,"minValues":{"id":1},"nullCount":{"id":0}}`}, 3, true, true, false},
		{"no statistics", memoryFile{}, 0, false, false, false},
	}
	for _, c := range cases {
		table := NewTable(memorySource{c.file}, config("id long"))
		if rows, exact := table.Rows(nil); rows != c.rows || exact != c.rowsExact {
			t.Errorf("%s: %d rows, exact %v", c.name, rows, exact)
		}
		if _, exact := table.NullCount(id, nil); exact != c.nulls {
			t.Errorf("%s: null count exact %v", c.name, exact)
		}
		if min, max, exact := table.MinMax(id, nil); exact != c.bounds || exact && (min.Int != 1 || max.Int != 2) {
			t.Errorf("%s: %v to %v, exact %v", c.name, min, max, exact)
		}
	}
}

func TestExactOverFiles(t *testing.T) {
	table := NewTable(memorySource{
		{stats: `{"numRecords":3,"minValues":{"d":1.5,"s":"a"},"maxValues":{"d":2.5,"s":"b"},"nullCount":{"d":1,"s":0}}`, values: map[string]string{"p": "7"}},
		{stats: `{"numRecords":2,"nullCount":{"d":2,"s":2}}`, values: map[string]string{"p": "10"}},
		{stats: `{"numRecords":4,"minValues":{"d":-1.25,"s":"a"},"maxValues":{"d":0,"s":"b"},"nullCount":{"d":0,"s":0}}`, values: map[string]string{"p": "9"}},
		{stats: `{"numRecords":1}`, values: map[string]string{"p": "99"}, deleted: 1},
		{stats: `{}`},
	}, config("d dec", "s string", "*p int"))
	files := []int32{0, 1, 2}
	if min, max, exact := table.MinMax(leafOf("d dec"), files); !exact || min.Dec.String(2) != "-1.25" || max.Dec.String(2) != "2.50" {
		t.Errorf("decimal: %v to %v, %v", min, max, exact)
	}
	if _, _, exact := table.MinMax(leafOf("s string"), files); exact {
		t.Error("bounds of strings are claimed to be exact")
	}
	if min, _, exact := table.MinMax(leafOf("d dec"), []int32{1}); !exact || !min.Null {
		t.Errorf("all NULL: %v, %v", min, exact)
	}
	if n, exact := table.NullCount(leafOf("d dec"), files); n != 3 || !exact {
		t.Errorf("%d nulls, %v", n, exact)
	}
	p := leafOf("p int")
	if min, max, exact := table.MinMax(p, []int32{0, 1, 2, 3}); !exact || min.Int != 7 || max.Int != 10 {
		t.Errorf("partition: %v to %v, %v (the file with 99 has no live row)", min, max, exact)
	}
	if _, _, exact := table.MinMax(p, nil); exact {
		t.Error("a file without record count may be empty")
	}
	if n, exact := table.NullCount(p, files); n != 0 || !exact {
		t.Errorf("partition: %d nulls, %v", n, exact)
	}
	if n, exact := table.Rows(files); n != 9 || !exact {
		t.Errorf("%d rows, %v", n, exact)
	}
	if n, exact := table.Rows(nil); n != 9 || exact {
		t.Errorf("%d rows, %v: the last file's are unknown", n, exact)
	}
	if n, ok := table.NumRecords(1); n != 2 || !ok {
		t.Errorf("%d records, %v", n, ok)
	}
	if _, ok := table.NumRecords(4); ok {
		t.Error("records of a file without count")
	}
	if n, exact := table.Rows([]int32{}); n != 0 || !exact {
		t.Errorf("no files: %d rows, %v", n, exact)
	}
}

func TestPredicateText(t *testing.T) {
	id := Leaf{Path: []protocol.PhysicalName{"col-1"}, Type: testTypes["long"], Name: "id"}
	cases := []struct {
		p    Predicate
		want string
	}{
		{Compare{id, GreaterOrEqual, literal(5)}, "id >= 5"},
		{cmpOf("s.x string", Equal, "it's"), "s.x = 'it''s'"},
		{And{isNull("a int"), Or{cmpOf("a int", NullSafeEqual, nil), Not{isNotNull("b int")}}}, "a IS NULL AND (a <=> NULL OR NOT (b IS NOT NULL))"},
		{inOf("a dec", "dec:1.50", nil, 0.1), "a IN (1.50, NULL, 0.1)"},
		{cmpOf("a date", Less, "date:1969-12-31"), "a < DATE '1969-12-31'"},
		{cmpOf("a ts", NotEqual, "ts:1969-12-31 23:20:57.657658"), "a <> TIMESTAMP '1969-12-31 23:20:57.657658Z'"},
		{cmpOf("a ntz", LessOrEqual, "ntz:2024-01-01"), "a <= TIMESTAMP_NTZ '2024-01-01 00:00:00'"},
		{Prefix{leafOf("a string"), "50%_"}, `a LIKE '50\%\_%'`},
		{cmpOf("a binary", Greater, protocol.Value{Kind: protocol.KindBinary, Str: "\x00\xff"}), "a > X'00FF'"},
		{cmpOf("a float", Equal, float32(0.1)), "a = 0.1"},
		{cmpOf("a bool", Equal, true), "a = true"},
		{And{}, "true"}, {Or{}, "false"}, {Null{}, "NULL"}, {Maybe{}, "maybe"}, {Maybe{"f(y) > 1"}, "f(y) > 1"},
	}
	for _, c := range cases {
		if got := c.p.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Counts that cannot be true prove nothing: neither a sum beyond 64 bits nor more NULLs than rows.
func TestExactRefusesImpossibleCounts(t *testing.T) {
	huge := memoryFile{stats: `{"numRecords":9223372036854775807,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":0}}`}
	if rows, exact := NewTable(memorySource{huge, huge}, config("id long")).Rows(nil); exact || rows < 0 {
		t.Errorf("rows: %d, exact %t", rows, exact)
	}
	table := NewTable(memorySource{{stats: `{"numRecords":3,"nullCount":{"id":5}}`}}, config("id long"))
	if n, ok := table.NullCount(leafOf("id long"), nil); ok && n > 3 {
		t.Errorf("%d of 3 rows are NULL", n)
	}
}
