package metamorphic_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// datum is one value of the histories' table: lit is how SQL writes it, text how JSON shows it, and the rest what it compares by.
// A struct has its members in parts.
type datum struct {
	null      bool
	number    float64 // of decimals, dates, times and doubles
	whole     int64   // of integers
	str       string
	lit, text string
	parts     []datum
}

// The columns of the table; the last one comes with schema evolution.
const (
	colU = iota // unique, never NULL, never changed
	colK
	colV
	colD
	colN
	colDate
	colTime
	colStruct
	colP
	colE
	numColumns
)

var historyColumns = []string{"u", "k", "v", "d", "n", "dt", "ts", "st", "p", "e"}

// null is NULL of any column; as a struct, its members are NULL too.
var null = datum{null: true, lit: "NULL", text: "null", parts: []datum{{null: true, lit: "NULL", text: "null"}, {null: true, lit: "NULL", text: "null"}}}

func wholeDatum(i int64) datum {
	return datum{whole: i, lit: strconv.FormatInt(i, 10), text: strconv.FormatInt(i, 10)}
}

func textDatum(s string) datum {
	quoted := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s)
	return datum{str: s, lit: "'" + quoted + "'", text: `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`}
}

func doubleDatum(f float64) datum {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case math.IsNaN(f):
		text = "NaN"
	case math.IsInf(f, 0):
		text = strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+") + "inity"
	}
	d := datum{number: f, lit: "double('" + text + "')", text: `"` + text + `"`}
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		if d.text = text; !strings.ContainsAny(text, ".e") {
			d.text += ".0"
		}
	}
	return d
}

func structDatum(x, y datum) datum {
	return datum{parts: []datum{x, y}, lit: "named_struct('x', " + castTo(x, "INT") + ", 'y', " + castTo(y, "STRING") + ")", text: `{"x":` + x.text + `,"y":` + y.text + `}`}
}

func castTo(d datum, typ string) string { return "CAST(" + d.lit + " AS " + typ + ")" }

// pools are the values that columns take.
var pools = func() (p [numColumns][]datum) {
	for i := range int64(10) {
		p[colK] = append(p[colK], wholeDatum(i))
	}
	p[colK] = append(p[colK], null, wholeDatum(-1<<62), wholeDatum(1<<53+1))
	for _, s := range []string{"", " ", "a", "b", "B", "ü", "日本", `a'b\c`, "%_%", strings.Repeat("m", 40), strings.Repeat("m", 39) + "\U0010FFFF"} {
		p[colV] = append(p[colV], textDatum(s))
	}
	p[colV] = append(p[colV], null)
	for _, f := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1.5, -1.5, 1e308, 5e-324} {
		p[colD] = append(p[colD], doubleDatum(f))
	}
	p[colD] = append(p[colD], null)
	for _, s := range []string{"0.000", "-0.001", "999999999.999", "-999999999.999", "1.500"} {
		f, _ := strconv.ParseFloat(s, 64)
		p[colN] = append(p[colN], datum{number: f, lit: "CAST('" + s + "' AS DECIMAL(12,3))", text: `"` + s + `"`})
	}
	p[colN] = append(p[colN], null)
	for i, s := range []string{"0001-01-01", "1582-10-15", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"} {
		p[colDate] = append(p[colDate], datum{number: float64(i), lit: "DATE '" + s + "'", text: `"` + s + `"`})
	}
	p[colDate] = append(p[colDate], null)
	for i, s := range []string{"0001-01-01 00:00:00.000000", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00.000001", "2024-02-29 12:00:00.123456", "9999-12-31 23:59:59.999999"} {
		p[colTime] = append(p[colTime], datum{number: float64(i), lit: "TIMESTAMP '" + s + "'", text: `"` + strings.Replace(s, " ", "T", 1) + `Z"`})
	}
	p[colTime] = append(p[colTime], null)
	for _, x := range []datum{wholeDatum(1), wholeDatum(-7), null} {
		for _, y := range []datum{textDatum(""), textDatum("y"), null} {
			p[colStruct] = append(p[colStruct], structDatum(x, y))
		}
	}
	p[colStruct] = append(p[colStruct], null)
	for _, s := range []string{"a", "b", "A", "a b", "ü/%", "x=y&z", "é", "null"} { // an empty one is NULL where it partitions
		p[colP] = append(p[colP], textDatum(s))
	}
	p[colP] = append(p[colP], null)
	p[colE] = p[colV]
	return p
}()

func compareData(column int, a, b datum) int {
	switch column {
	case colU, colK:
		return cmp.Compare(a.whole, b.whole)
	case colD, colN, colDate, colTime:
		if math.IsNaN(a.number) || math.IsNaN(b.number) { // the greatest, and equal to itself
			return -cmp.Compare(b2i(math.IsNaN(b.number)), b2i(math.IsNaN(a.number)))
		}
		return cmp.Compare(a.number, b.number)
	}
	return strings.Compare(a.str, b.str)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// record is a row. id and version are what row tracking has shown of it: -1 for not seen yet.
type record struct {
	values      []datum
	id, version int64
}

func (r *record) text(columns int) string {
	parts := make([]string, columns)
	for i := range parts {
		if i < len(r.values) {
			parts[i] = r.values[i].text
		} else {
			parts[i] = "null"
		}
	}
	return strings.Join(parts, ",")
}

func (r *record) with(column int, d datum) record {
	out := record{values: slices.Clone(r.values), id: r.id, version: -1}
	out.values[column] = d
	return out
}

// truth is SQL's: -1 false, 0 unknown, 1 true.
type truth int

func truthOf(b bool) truth {
	if b {
		return 1
	}
	return -1
}

// condition is a predicate over the table's rows, for an alias t.
type condition struct {
	sql  string
	eval func(r *record) truth
}

// state is the table as the model has it.
type state struct {
	rows    []record
	columns int
	// changes are those of the statements since the last commit.
	changes []string
	tracked bool // rows have ids
}

func (s *state) clone() *state {
	return &state{rows: slices.Clone(s.rows), columns: s.columns, changes: slices.Clone(s.changes), tracked: s.tracked}
}

func (s *state) note(kind string, r *record) {
	s.changes = append(s.changes, r.text(s.columns)+`,"`+kind+`"`)
}

// update replaces a row.
func (s *state) update(i int, r record) {
	s.note("update_preimage", &s.rows[i])
	s.note("update_postimage", &r)
	s.rows[i] = r
}

func (s *state) remove(goes func(r *record) bool) (removed int64) {
	var kept []record
	for i := range s.rows {
		if goes(&s.rows[i]) {
			s.note("delete", &s.rows[i])
			removed++
			continue
		}
		kept = append(kept, s.rows[i])
	}
	s.rows = kept
	return removed
}

func (s *state) insert(rows []record) {
	for _, r := range rows {
		for len(r.values) < s.columns {
			r.values = append(slices.Clip(r.values), null)
		}
		r.id, r.version = -1, -1
		s.note("insert", &r)
		s.rows = append(s.rows, r)
	}
}

// author makes random statements.
type author struct {
	*rand.Rand
	next int64    // the next u
	src  []record // of the table src (u, k, v)
}

func (a *author) value(column int) datum { return pools[column][a.IntN(len(pools[column]))] }

// row is a new row of the table without the column of schema evolution.
func (a *author) row() record {
	r := record{values: make([]datum, colE)}
	a.next++
	r.values[colU] = wholeDatum(a.next)
	for c := colK; c < colE; c++ {
		r.values[c] = a.value(c)
	}
	return r
}

func (a *author) newRows(most int) []record {
	rows := make([]record, 1+a.IntN(most))
	for i := range rows {
		rows[i] = a.row()
	}
	return rows
}

// leaf is a simple condition. Subqueries stand in no condition of a MERGE.
func (a *author) leaf(columns int, subqueries bool) condition {
	if subqueries && a.IntN(4) == 0 {
		return a.subquery()
	}
	column := a.IntN(columns)
	name, get := "t."+historyColumns[column], func(r *record) datum { return r.values[column] }
	pool := pools[column]
	switch column {
	case colU:
		u := a.Int64N(a.next + 2)
		pool = []datum{wholeDatum(u), wholeDatum(u / 2)}
	case colStruct:
		if a.IntN(3) > 0 {
			member := a.IntN(2)
			pool = []datum{wholeDatum(1), wholeDatum(-7), wholeDatum(2)}
			kind := colK
			if name += ".x"; member == 1 {
				name, kind, pool = "t.st.y", colV, []datum{textDatum(""), textDatum("y"), textDatum("yy")}
			}
			return a.comparison(name, kind, pool, func(r *record) datum { return r.values[colStruct].parts[member] })
		}
		return condition{name + " IS NULL", func(r *record) truth { return truthOf(get(r).null) }}
	}
	return a.comparison(name, column, pool, get)
}

func (a *author) comparison(name string, column int, pool []datum, get func(r *record) datum) condition {
	value := pool[a.IntN(len(pool))]
	op := []string{"=", "<>", "<", ">=", "<=>", "IS NULL", "IS NOT NULL", "IN", "NOT IN"}[a.IntN(9)]
	compare := func(hit func(c int) bool) func(r *record) truth {
		return func(r *record) truth {
			if v := get(r); !v.null && !value.null {
				return truthOf(hit(compareData(column, v, value)))
			}
			return 0
		}
	}
	typed := value.lit
	if value.null && column == colStruct {
		typed = "CAST(NULL AS STRING)"
	}
	switch op {
	case "=":
		return condition{name + " = " + typed, compare(func(c int) bool { return c == 0 })}
	case "<>":
		return condition{name + " <> " + typed, compare(func(c int) bool { return c != 0 })}
	case "<":
		return condition{name + " < " + typed, compare(func(c int) bool { return c < 0 })}
	case ">=":
		return condition{typed + " <= " + name, compare(func(c int) bool { return c >= 0 })}
	case "<=>":
		return condition{name + " <=> " + typed, func(r *record) truth {
			v := get(r)
			return truthOf(v.null && value.null || !v.null && !value.null && compareData(column, v, value) == 0)
		}}
	case "IS NULL":
		return condition{name + " IS NULL", func(r *record) truth { return truthOf(get(r).null) }}
	case "IS NOT NULL":
		return condition{name + " IS NOT NULL", func(r *record) truth { return truthOf(!get(r).null) }}
	}
	list := []datum{value, pool[a.IntN(len(pool))], pool[a.IntN(len(pool))]}
	in := condition{fmt.Sprintf("%s IN (%s, %s, %s)", name, list[0].lit, list[1].lit, list[2].lit), func(r *record) truth {
		return among(column, get(r), list)
	}}
	if op == "NOT IN" {
		return not(condition{strings.Replace(in.sql, " IN ", " NOT IN ", 1), in.eval}, in.sql)
	}
	return in
}

// not negates what eval says; the SQL is negated already where it differs from plain.
func not(c condition, plain string) condition {
	sql := c.sql
	if sql == plain {
		sql = "NOT (" + sql + ")"
	}
	return condition{sql, func(r *record) truth { return -c.eval(r) }}
}

func among(column int, v datum, list []datum) truth {
	unknown := false
	for _, o := range list {
		if v.null || o.null {
			unknown = true
		} else if compareData(column, v, o) == 0 {
			return 1
		}
	}
	if unknown && len(list) > 0 {
		return 0
	}
	return -1
}

func (a *author) subquery() condition {
	keys := func(keep func(r *record) bool) (out []datum) {
		for i := range a.src {
			if keep(&a.src[i]) {
				out = append(out, a.src[i].values[colK])
			}
		}
		return out
	}
	all := keys(func(*record) bool { return true })
	notNull := keys(func(r *record) bool { return !r.values[colK].null })
	switch a.IntN(5) {
	case 0:
		return condition{"t.k IN (SELECT s.k FROM src s)", func(r *record) truth { return among(colK, r.values[colK], all) }}
	case 1:
		return condition{"t.k NOT IN (SELECT s.k FROM src s WHERE s.k IS NOT NULL)", func(r *record) truth { return -among(colK, r.values[colK], notNull) }}
	case 2:
		return condition{"t.k NOT IN (SELECT s.k FROM src s)", func(r *record) truth { return -among(colK, r.values[colK], all) }}
	case 3:
		return condition{"NOT EXISTS (SELECT 1 FROM src s WHERE s.k = t.k)", func(r *record) truth { return truthOf(among(colK, r.values[colK], notNull) != 1) }}
	}
	most := slices.MaxFunc(notNull, func(x, y datum) int { return compareData(colK, x, y) })
	return condition{"t.k > (SELECT max(s.k) - 3 FROM src s)", func(r *record) truth {
		if v := r.values[colK]; !v.null {
			return truthOf(v.whole > most.whole-3)
		}
		return 0
	}}
}

func (a *author) condition(columns int, subqueries bool) condition {
	c := a.leaf(columns, subqueries)
	switch a.IntN(6) {
	case 0:
		return not(c, c.sql)
	case 1, 2, 3:
		d := a.leaf(columns, subqueries)
		if a.IntN(2) == 0 {
			return condition{"(" + c.sql + ") AND (" + d.sql + ")", func(r *record) truth { return min(c.eval(r), d.eval(r)) }}
		}
		return condition{"(" + c.sql + ") OR (" + d.sql + ")", func(r *record) truth { return max(c.eval(r), d.eval(r)) }}
	}
	return c
}

// assignment is SET of a column or a member; source is the row of a MERGE's source, nil elsewhere.
type assignment struct {
	sql   string
	apply func(old, to *record, source *record)
}

// assignments are to columns, each once.
func (a *author) assignments(columns int, source bool) (list []assignment) {
	targets := a.Perm(columns)[:1+a.IntN(3)]
	for _, column := range targets {
		if column == colU {
			continue
		}
		list = append(list, a.assign(column, source))
	}
	if len(list) == 0 {
		list = append(list, a.assign(colV, source))
	}
	return list
}

func (a *author) assign(column int, source bool) assignment {
	name := "t." + historyColumns[column]
	set := func(sql string, value func(old, source *record) datum) assignment {
		return assignment{name + " = " + sql, func(old, to, source *record) { to.values[column] = value(old, source) }}
	}
	if source && (column == colK || column == colV || column == colP) && a.IntN(2) == 0 {
		return set("s."+historyColumns[column], func(_, source *record) datum { return source.values[column] })
	}
	switch {
	case column == colK && a.IntN(2) == 0:
		return set("t.k % 1000 + 1", func(old, _ *record) datum {
			if v := old.values[colK]; !v.null {
				return wholeDatum(v.whole%1000 + 1)
			}
			return null
		})
	case column == colV && a.IntN(3) == 0:
		return set("t.p", func(old, _ *record) datum { return old.values[colP] })
	case column == colV && a.IntN(3) == 0:
		return set("concat(substr(t.v, 1, 3), 'x')", func(old, _ *record) datum {
			v := old.values[colV]
			if v.null {
				return null
			}
			runes := []rune(v.str)
			return textDatum(string(runes[:min(3, len(runes))]) + "x")
		})
	case column == colD && a.IntN(2) == 0:
		return set("-t.d", func(old, _ *record) datum {
			if v := old.values[colD]; !v.null {
				return doubleDatum(-v.number)
			}
			return null
		})
	case column == colStruct && a.IntN(3) == 0:
		return assignment{"t.st.x = 2", func(old, to, _ *record) {
			to.values[colStruct] = structDatum(wholeDatum(2), old.values[colStruct].parts[1])
		}}
	case column == colStruct && a.IntN(2) == 0:
		return assignment{"t.st.y = t.p, t.st.x = NULL", func(old, to, _ *record) { to.values[colStruct] = structDatum(null, old.values[colP]) }}
	}
	value := a.value(column)
	return set(value.lit, func(_, _ *record) datum { return value })
}

func join[T any](list []T, by string, text func(T) string) string {
	parts := make([]string, len(list))
	for i, item := range list {
		parts[i] = text(item)
	}
	return strings.Join(parts, by)
}

func assigned(list []assignment) string {
	return join(list, ", ", func(x assignment) string { return x.sql })
}

func changedBy(list []assignment, old record, source *record) record {
	to := record{values: slices.Clone(old.values), id: old.id, version: -1}
	for _, x := range list {
		x.apply(&old, &to, source)
	}
	return to
}

// valuesOf lists rows as SQL.
func valuesOf(rows []record, columns ...int) string {
	return "VALUES " + join(rows, ", ", func(r record) string {
		return "(" + join(columns, ", ", func(c int) string { return r.values[c].lit }) + ")"
	})
}

func plainColumns() []int {
	return []int{colU, colK, colV, colD, colN, colDate, colTime, colStruct, colP}
}
