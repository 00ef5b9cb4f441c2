package sqlengine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/sqlengine/check"
)

// wideningColumn is a column of a table whose types grow, with the values that are stored in it.
type wideningColumn struct {
	name  string
	chain []string // the types that it has, one after the other
	at    int
	// values are literals of each type by its place in the chain; where a type has none, those of the type before go on.
	values [][]string
}

func (c *wideningColumn) kind() string { return c.chain[c.at] }

func wideningColumns() []*wideningColumn {
	bytes, shorts, ints, longs := []string{"-128", "127", "0", "-1"}, []string{"-32768", "32767", "128"}, []string{"-2147483648", "2147483647", "32768"}, []string{"-9223372036854775808", "9223372036854775807", "2147483648"}
	return []*wideningColumn{
		{name: "i", chain: []string{"TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(22,2)"}, values: [][]string{bytes, shorts, ints, longs, {"9223372036854775808.25", "-0.01"}}},
		{name: "d", chain: []string{"SMALLINT", "INT", "DOUBLE"}, values: [][]string{shorts, ints, {"'0.1'", "'NaN'", "'-Infinity'", "'1e300'", "'-0.0'"}}},
		{name: "m", chain: []string{"TINYINT", "DECIMAL(12,2)", "DECIMAL(20,6)", "DECIMAL(38,10)"}, values: [][]string{bytes, {"9999999999.99", "-0.01"}, {"99999999999999.999999"}, {"-9999999999999999999999999999.0000000001"}}},
		{name: "f", chain: []string{"FLOAT", "DOUBLE"}, values: [][]string{{"'0.1'", "'3.4028235E38'", "'-1.4E-45'", "'NaN'", "'Infinity'", "'-0.0'"}, {"'0.1'", "'1.7976931348623157E308'", "'4.9E-324'"}}},
		{name: "c", chain: []string{"DECIMAL(5,2)", "DECIMAL(9,2)", "DECIMAL(12,4)", "DECIMAL(38,18)"}, values: [][]string{{"999.99", "-999.99", "0.01"}, {"9999999.99"}, {"-99999999.9999"}, {"99999999999999999999.999999999999999999"}}},
		{name: "t", chain: []string{"DATE", "TIMESTAMP_NTZ"}, values: [][]string{{"'0001-01-01'", "'1582-10-04'", "'1582-10-15'", "'1969-12-31'", "'9999-12-31'"}, {"'1969-12-31 23:59:59.999999'", "'1582-10-10 00:00:00.000001'"}}},
	}
}

// widening is such a table beside a model: rows by k, whose values are expressions that go through the types as the rows did.
type widening struct {
	t       *testing.T
	random  *rand.Rand
	root    string
	session *Session
	columns []*wideningColumn
	nested  string // a column of which there is a copy inside this: "" for none, struct, array, map value
	rows    map[int]map[string]string
	next    int
	script  []string
}

// TestWideningAgrees takes tables with columns of every kind that can be widened through random inserts, deletes, updates, compactions and
// widenings, under partitions, column mapping, deletion vectors, change data and few statistics. After each step every filter, bound and
// count gives what the same expression gives over the values themselves, whatever files were skipped. DELTASQL_WIDENING_SEEDS is the
// number of tables.
func TestWideningAgrees(t *testing.T) {
	seeds := 2
	if n, err := strconv.Atoi(os.Getenv("DELTASQL_WIDENING_SEEDS")); err == nil {
		seeds = n
	}
	first, _ := strconv.Atoi(os.Getenv("DELTASQL_WIDENING_FIRST"))
	for seed := first; seed < first+seeds; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			w := newWidening(t, uint64(seed))
			for range 14 {
				w.step()
				w.check(false)
				if t.Failed() {
					t.Fatalf("after\n%s", strings.Join(w.script, ";\n"))
				}
			}
			w.check(true)
			w.run("ALTER TABLE t DROP FEATURE typeWidening")
			w.check(true)
			if err := w.session.Check(t.Context(), "t", check.Options{Deep: true}, func(f check.Fault) { t.Errorf("check: %s: %s", f.File, f.Message) }); err != nil {
				t.Errorf("check: %v", err)
			}
			if t.Failed() {
				t.Fatalf("after\n%s", strings.Join(w.script, ";\n"))
			}
		})
	}
}

func newWidening(t *testing.T, seed uint64) *widening {
	w := &widening{t: t, random: rand.New(rand.NewPCG(seed, 11)), root: t.TempDir(), columns: wideningColumns(), rows: map[int]map[string]string{}}
	w.open()
	var defs []string
	for _, c := range w.columns {
		defs = append(defs, c.name+" "+c.kind())
	}
	w.nested = []string{"", "struct", "array", "map"}[w.random.IntN(4)]
	for _, c := range w.columns {
		switch w.nested {
		case "struct":
			defs = append(defs, "n"+c.name+" STRUCT<x: "+c.kind()+", y: STRING>")
		case "array":
			defs = append(defs, "n"+c.name+" ARRAY<"+c.kind()+">")
		case "map":
			defs = append(defs, "n"+c.name+" MAP<STRING, "+c.kind()+">")
		}
	}
	properties := []string{"'delta.enableTypeWidening' = 'true'", "'delta.feature.timestampNtz' = 'supported'", "'delta.checkpointInterval' = '3'"}
	for _, more := range [][]string{{"", "'delta.columnMapping.mode' = 'name'", "'delta.columnMapping.mode' = 'id'"}, {"", "'delta.enableDeletionVectors' = 'true'"}, {"", "'delta.enableChangeDataFeed' = 'true'"},
		{"", "'delta.dataSkippingNumIndexedCols' = '4'"}, {"", "'delta.checkpoint.writeStatsAsJson' = 'false'"}, {"", "'delta.enableRowTracking' = 'true'"}, {"", "'delta.checkpointPolicy' = 'v2'"}} {
		if p := more[w.random.IntN(len(more))]; p != "" {
			properties = append(properties, p)
		}
	}
	layout := ""
	switch w.random.IntN(3) {
	case 0:
		layout = " PARTITIONED BY (" + w.columns[w.random.IntN(len(w.columns))].name + ")"
	case 1:
		if !slices.Contains(properties, "'delta.dataSkippingNumIndexedCols' = '4'") {
			layout = " CLUSTER BY (" + w.columns[w.random.IntN(len(w.columns))].name + ")"
		}
	}
	w.run("CREATE TABLE t (k INT, " + strings.Join(defs, ", ") + ")" + layout + " TBLPROPERTIES (" + strings.Join(properties, ", ") + ")")
	return w
}

func (w *widening) open() {
	w.session = openSession(w.t, openEngine(w.t, Options{Catalog: w.root}), SessionOptions{})
}

func (w *widening) run(sql string) {
	w.t.Helper()
	w.script = append(w.script, sql)
	if _, _, err := answer(w.session, sql); err != nil {
		w.t.Fatalf("%s: %v\nafter\n%s", sql, err, strings.Join(w.script, ";\n"))
	}
}

// value is a random literal that the column's type has now, as an expression of that type.
func (w *widening) value(c *wideningColumn) string {
	at := w.random.IntN(c.at + 1)
	text := "NULL"
	if n := w.random.IntN(len(c.values[at]) + 1); n < len(c.values[at]) {
		text = c.values[at][n]
	}
	return "CAST(" + text + " AS " + c.kind() + ")"
}

func (w *widening) inside(c *wideningColumn, value string) string {
	switch w.nested {
	case "struct":
		return "named_struct('x', " + value + ", 'y', 'y')"
	case "array":
		return "array(" + value + ")"
	}
	return "map('y', " + value + ")"
}

// reach is the value inside the nested copy of a column.
func (w *widening) reach(c *wideningColumn) string {
	return "n" + c.name + map[string]string{"struct": ".x", "array": "[0]", "map": "['y']"}[w.nested]
}

func (w *widening) step() {
	c := w.columns[w.random.IntN(len(w.columns))]
	switch n := w.random.IntN(12); {
	case n < 4 || len(w.rows) < 3:
		var rows []string
		for range 1 + w.random.IntN(3) {
			w.next++
			row, list := map[string]string{}, []string{strconv.Itoa(w.next)}
			for _, c := range w.columns {
				row[c.name] = w.value(c)
				list = append(list, row[c.name])
			}
			if w.nested != "" {
				for _, c := range w.columns {
					list = append(list, w.inside(c, row[c.name]))
				}
			}
			w.rows[w.next] = row
			rows = append(rows, "("+strings.Join(list, ", ")+")")
		}
		w.run("INSERT INTO t VALUES " + strings.Join(rows, ", "))
	case n < 5:
		k := 1 + w.random.IntN(w.next)
		w.run("DELETE FROM t WHERE k = " + strconv.Itoa(k))
		delete(w.rows, k)
	case n < 6:
		k, value := 1+w.random.IntN(w.next), w.value(c)
		set := c.name + " = " + value
		if w.nested != "" {
			set += ", n" + c.name + " = " + w.inside(c, value)
		}
		w.run("UPDATE t SET " + set + " WHERE k = " + strconv.Itoa(k))
		if w.rows[k] != nil {
			w.rows[k][c.name] = value
		}
	case n < 7:
		w.run("OPTIMIZE t")
	case n < 8:
		w.open()
	default:
		if c.at == len(c.chain)-1 {
			return
		}
		c.at++
		w.run("ALTER TABLE t ALTER COLUMN " + c.name + " TYPE " + c.kind())
		if w.nested != "" {
			w.run("ALTER TABLE t ALTER COLUMN n" + c.name + map[string]string{"struct": ".x", "array": ".element", "map": ".value"}[w.nested] + " TYPE " + c.kind())
		}
		for _, row := range w.rows {
			row[c.name] = "CAST(" + row[c.name] + " AS " + c.kind() + ")"
		}
	}
}

// check compares answers over the table with answers over the values: all that is asked of every column, or some of one.
func (w *widening) check(whole bool) {
	w.t.Helper()
	if len(w.rows) == 0 {
		return
	}
	var texts []string
	for _, k := range slices.Sorted(maps.Keys(w.rows)) {
		list := []string{strconv.Itoa(k)}
		for _, c := range w.columns {
			list = append(list, w.rows[k][c.name])
		}
		texts = append(texts, "("+strings.Join(list, ", ")+")")
	}
	names := []string{"k"}
	for _, c := range w.columns {
		names = append(names, c.name)
	}
	model := "(SELECT * FROM VALUES " + strings.Join(texts, ", ") + " AS v(" + strings.Join(names, ", ") + "))"
	compare := func(table, values string) {
		w.t.Helper()
		columns, got, err := answer(w.session, table)
		if err != nil {
			w.t.Errorf("%s: %v", table, err)
			return
		}
		_, want, err := answer(w.session, values)
		if err != nil {
			w.t.Errorf("%s: %v", values, err)
		} else if !slices.Equal(got, want) {
			w.t.Errorf("%s (%s)\n%s\nwant\n%s", table, columns, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	list := strings.Join(names, ", ")
	compare("SELECT "+list+" FROM t ORDER BY k", "SELECT "+list+" FROM "+model+" ORDER BY k")
	one := w.random.IntN(len(w.columns))
	for i, c := range w.columns {
		if !whole && i != one {
			continue
		}
		bounds := fmt.Sprintf("SELECT min(%[1]s), max(%[1]s), count(%[1]s) FROM ", c.name)
		compare(bounds+"t", bounds+model)
		at := w.random.IntN(c.at + 1)
		literal := c.values[at][w.random.IntN(len(c.values[at]))]
		typed := "CAST(" + literal + " AS " + c.chain[w.random.IntN(c.at-at+1)+at] + ")"
		for _, filter := range []string{c.name + " = " + typed, c.name + " <> " + typed, c.name + " < " + typed, c.name + " >= " + typed, c.name + " IN (" + typed + ", " + w.value(c) + ")", c.name + " IS NULL", c.name + " <=> " + w.value(c)} {
			if !whole && w.random.IntN(2) == 0 {
				continue
			}
			compare("SELECT k FROM t WHERE "+filter+" ORDER BY k", "SELECT k FROM "+model+" WHERE "+filter+" ORDER BY k")
			if w.nested != "" {
				inner := strings.Replace(filter, c.name+" ", w.reach(c)+" ", 1)
				compare("SELECT k, "+w.reach(c)+" FROM t WHERE "+inner+" ORDER BY k", "SELECT k, "+c.name+" FROM "+model+" WHERE "+filter+" ORDER BY k")
			}
		}
	}
}
