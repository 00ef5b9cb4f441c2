package metamorphic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"deltasql/protocol"
)

// query is a generated SELECT in pieces, so that a failing one can be made smaller. $1 and $2 in it stand for tables.
type query struct {
	items   []string
	from    string
	where   []string // joined by AND
	group   []string
	having  string
	orderBy string // a total order
	limit   string
}

func (q query) String() string {
	out := "SELECT " + strings.Join(q.items, ", ") + " FROM " + q.from
	if len(q.where) > 0 {
		out += " WHERE " + strings.Join(q.where, " AND ")
	}
	if len(q.group) > 0 {
		out += " GROUP BY " + strings.Join(q.group, ", ")
	}
	if q.having != "" {
		out += " HAVING " + q.having
	}
	if q.orderBy != "" {
		out += " ORDER BY " + q.orderBy + q.limit
	}
	return out
}

// smaller are the queries with one piece less.
func (q query) smaller() []query {
	var out []query
	for i := range q.where {
		less := q
		less.where = slices.Delete(slices.Clone(q.where), i, i+1)
		out = append(out, less)
	}
	for i := range q.items {
		if len(q.items) > 1 {
			less := q
			less.items = slices.Delete(slices.Clone(q.items), i, i+1)
			out = append(out, less)
		}
	}
	less := q
	less.having = ""
	if q.having != "" {
		out = append(out, less)
	}
	less = q
	less.orderBy, less.limit = "", ""
	if q.orderBy != "" {
		out = append(out, less)
	}
	return out
}

// leaf is a scalar column, or a member of one, with the values that the data has in it.
type leaf struct {
	name   string
	typ    protocol.DataType
	values []protocol.Value
	get    func(row) protocol.Value
}

// generator draws queries over the columns of a dataset.
type generator struct {
	rng    *rand.Rand
	leaves []leaf
}

func newGenerator(data *dataset, rng *rand.Rand) *generator {
	g := &generator{rng: rng}
	for c, field := range data.schema.Fields {
		switch field.Type.Kind {
		case protocol.KindArray:
		case protocol.KindStruct:
			for k, member := range field.Type.Fields {
				g.leaves = append(g.leaves, leaf{name: string(field.Name) + "." + string(member.Name), typ: member.Type, get: func(r row) protocol.Value {
					if r[c].value.Null {
						return protocol.NullValue(member.Type.Kind)
					}
					return r[c].parts[k].value
				}})
			}
		default:
			g.leaves = append(g.leaves, leaf{name: string(field.Name), typ: field.Type, get: func(r row) protocol.Value { return r[c].value }})
		}
	}
	for i := range g.leaves {
		for _, r := range data.rows {
			if v := g.leaves[i].get(r); !v.Null {
				g.leaves[i].values = append(g.leaves[i].values, v)
			}
		}
	}
	return g
}

// edge is a query about the least or the greatest value that a leaf has in a file.
func (g *generator) edge(file []row) query {
	l := g.leaf()
	if g.chance(2) {
		l = g.named(pick(g, "ts", "tn", "d", "f", "s", "st.y"))
	}
	q := query{items: []string{"t.id"}, from: "$1 t"}
	if g.chance(6) {
		q.items = nil
		for range 1 + g.rng.IntN(3) {
			q.items = append(q.items, fmt.Sprintf(pick(g, "min(t.%s)", "max(t.%s)", "count(t.%s)"), pick(g, l.name, g.leaf().name)))
		}
		return q
	}
	var least, most *protocol.Value
	for _, r := range file {
		v := l.get(r)
		if !v.Null && (least == nil || v.Compare(*least) < 0) {
			least = &v
		}
		if !v.Null && (most == nil || v.Compare(*most) > 0) {
			most = &v
		}
	}
	if least == nil || g.chance(12) {
		q.where = []string{fmt.Sprintf("t.%s IS %sNULL", l.name, pick(g, "", "NOT "))}
		return q
	}
	at := pick(g, *least, *most)
	l.values = []protocol.Value{at}
	switch {
	case g.chance(8):
		q.where = []string{fmt.Sprintf("t.%s IN (%s, %s)", l.name, g.constant(l), g.constant(l))}
	case l.typ.Kind == protocol.KindString && g.chance(3):
		runes := []rune(at.Str)
		prefix := protocol.Value{Kind: protocol.KindString, Str: likeText.Replace(string(runes[:g.rng.IntN(len(runes)+1)])) + "%"}
		q.where = []string{fmt.Sprintf("t.%s LIKE %s", l.name, prefix.SQL())}
	default:
		q.where = []string{fmt.Sprintf("t.%s %s %s", l.name, pick(g, operators...), g.constant(l))}
	}
	return q
}

func pick[T any](g *generator, of ...T) T { return of[g.rng.IntN(len(of))] }

func (g *generator) chance(n int) bool { return g.rng.IntN(n) == 0 }

func (g *generator) leaf() leaf { return pick(g, g.leaves...) }

// named finds a leaf.
func (g *generator) named(name string) leaf {
	return g.leaves[slices.IndexFunc(g.leaves, func(l leaf) bool { return l.name == name })]
}

// constant is a literal near the leaf's values: one of them, or a neighbour.
func (g *generator) constant(l leaf) string {
	if g.chance(40) {
		return "NULL"
	}
	if len(l.values) == 0 {
		return "NULL"
	}
	v := pick(g, l.values...)
	if g.chance(2) {
		v = g.neighbour(v)
	}
	if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
		return fmt.Sprintf("CAST('%s' AS %s)", v.Text(), l.typ)
	}
	return v.SQL()
}

func (g *generator) neighbour(v protocol.Value) protocol.Value {
	step := pick[int64](g, -1, 1)
	switch v.Kind {
	case protocol.KindInteger, protocol.KindDate:
		v.Int += step
	case protocol.KindLong:
		v.Int = v.Int/2 + step
	case protocol.KindDouble, protocol.KindFloat:
		v.Float += float64(step) / 8
	case protocol.KindDecimal:
		v.Dec = protocol.Int128FromInt64(int64(v.Dec.Lo)/2 + step)
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		v.Int += step * pick[int64](g, 1, 999, 1000)
	case protocol.KindString:
		if runes := []rune(v.Str); len(runes) > 0 && g.chance(2) {
			v.Str = string(runes[:len(runes)-1])
		} else {
			v.Str += pick(g, "a", " ", "\x7f", "é")
		}
	}
	return v
}

// condition draws a tree of predicates over a table that is called by the alias.
func (g *generator) condition(alias string, depth int) string {
	if depth > 0 && g.chance(2) {
		left, right := g.condition(alias, depth-1), g.condition(alias, depth-1)
		switch g.rng.IntN(6) {
		case 0, 1:
			return "(" + left + " AND " + right + ")"
		case 2, 3:
			return "(" + left + " OR " + right + ")"
		case 4:
			return "NOT (" + left + ")"
		default:
			return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", left, right, pick(g, "true", "false", "NULL"))
		}
	}
	return g.atom(alias)
}

var operators = []string{"=", "<>", "<", "<=", ">", ">=", "<=>"}

func (g *generator) atom(alias string) string {
	l := g.leaf()
	column := alias + "." + l.name
	switch g.rng.IntN(12) {
	case 0, 1, 2, 3:
		if g.chance(4) {
			return fmt.Sprintf("%s %s %s", g.constant(l), pick(g, operators...), column)
		}
		return fmt.Sprintf("%s %s %s", column, pick(g, operators...), g.constant(l))
	case 4:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", column, pick(g, "", "", "NOT "), g.constant(l), g.constant(l))
	case 5:
		var list []string
		for range 1 + g.rng.IntN(5) {
			list = append(list, g.constant(l))
		}
		return fmt.Sprintf("%s %sIN (%s)", column, pick(g, "", "", "NOT "), strings.Join(list, ", "))
	case 6:
		return fmt.Sprintf("%s IS %sNULL", pick(g, column, alias+".st", alias+".a"), pick(g, "", "NOT "))
	case 7:
		return g.like(alias)
	case 8:
		return g.mixed(alias)
	case 9:
		return fmt.Sprintf("%s.%s %s %s.%s", alias, pick(g, "i", "q", "st.x", "id", "d", "n"), pick(g, operators...), alias, pick(g, "i", "q", "st.x", "id", "f", "l"))
	case 10:
		return pick(g, alias+".b", "NOT "+alias+".b", alias+".b IS NOT TRUE", alias+".b = true", "true", alias+".b IS FALSE")
	}
	return g.computed(alias)
}

// likeText escapes what LIKE takes for itself.
var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

func (g *generator) like(alias string) string {
	l := g.named(pick(g, "s", "s", "st.y", "p"))
	text := "a"
	if len(l.values) > 0 {
		runes := []rune(pick(g, l.values...).Str)
		text = string(runes[:min(len(runes), g.rng.IntN(5))])
	}
	pattern := protocol.Value{Kind: protocol.KindString, Str: likeText.Replace(text) + pick(g, "%", "%", "%", "_%", "", "%1")}
	return fmt.Sprintf("%s.%s %sLIKE %s", alias, l.name, pick(g, "", "", "NOT "), pattern.SQL())
}

// mixed compares with a constant of another type.
func (g *generator) mixed(alias string) string {
	op := pick(g, operators...)
	number := fmt.Sprintf("%d.%d", g.rng.IntN(120)-40, g.rng.IntN(10))
	day := pick(g, g.named("dt").values...)
	return fmt.Sprintf(pick(g,
		"%[1]s.i %[2]s %[3]s", "%[1]s.i %[2]s %[3]sD", "%[1]s.id %[2]s %[3]s", "%[1]s.l %[2]s %[3]sD", "%[1]s.n %[2]s %[3]sD", "%[1]s.d %[2]s %[3]s",
		"%[1]s.f %[2]s %[3]s", "%[1]s.q %[2]s %[3]s", "%[1]s.dt %[2]s TIMESTAMP '%[4]s 00:00:01'", "%[1]s.ts %[2]s %[5]s", "%[1]s.tn %[2]s %[5]s",
		"%[1]s.ts %[2]s '%[4]s'", "%[1]s.dt %[2]s '%[4]s'", "%[1]s.id %[2]s '17'", "%[1]s.st.x %[2]s %[3]s"), alias, op, number, day.Text(), day.SQL())
}

// computed compares an expression over columns that cannot fail for any row.
func (g *generator) computed(alias string) string {
	i, n := g.constant(g.named("i")), g.rng.IntN(90)-30
	s, day := g.constant(g.named("s")), g.constant(g.named("dt"))
	return fmt.Sprintf(pick(g,
		"%[1]s.i + 1 %[2]s %[3]s", "%[1]s.i * 2 %[2]s %[3]s", "-%[1]s.i %[2]s %[3]s", "%[1]s.id %% 7 = 3", "10 - %[1]s.i %[2]s %[4]d", "abs(%[1]s.i) %[2]s %[4]d",
		"coalesce(%[1]s.i, 0) %[2]s %[3]s", "coalesce(%[1]s.q, %[1]s.i) %[2]s %[3]s", "upper(%[1]s.s) %[2]s %[5]s", "length(%[1]s.s) %[2]s %[4]d",
		"year(%[1]s.dt) %[2]s 1970", "month(%[1]s.ts) %[2]s 6", "substring(%[1]s.s, 1, 1) %[2]s substring(%[5]s, 1, 1)",
		"CAST(%[1]s.i AS STRING) %[2]s '%[4]d'", "CAST(%[1]s.ts AS DATE) %[2]s %[6]s", "CAST(%[1]s.tn AS DATE) %[2]s %[6]s", "CAST(%[1]s.dt AS TIMESTAMP) %[2]s %[1]s.ts",
		"CAST(%[1]s.i AS BIGINT) %[2]s %[4]d", "CAST(%[1]s.i AS DOUBLE) %[2]s %[3]s", "CAST(%[1]s.n AS DOUBLE) %[2]s %[4]d", "CAST(%[1]s.i AS DECIMAL(20,2)) %[2]s %[4]d.25",
		"CAST(%[1]s.f AS DOUBLE) %[2]s %[4]d", "CAST(%[1]s.n AS DECIMAL(20,1)) %[2]s %[4]d", "try_cast(%[1]s.s AS INT) IS NULL", "CAST(%[1]s.b AS INT) %[2]s 1",
		"size(%[1]s.a) %[2]s 2", "array_contains(%[1]s.a, %[4]d)", "concat(%[1]s.p, %[1]s.s) %[2]s %[5]s", "isnan(%[1]s.d)", "%[1]s.d + 1 %[2]s %[4]d",
		"date_add(%[1]s.dt, 3) %[2]s %[6]s", "nullif(%[1]s.q, 1) %[2]s %[4]d", "%[1]s.i IN (%[1]s.q, %[1]s.st.x, 3)", "(%[1]s.i, %[1]s.q) = (%[4]d, 1)",
		"greatest(%[1]s.i, %[1]s.q) %[2]s %[4]d", "if(%[1]s.b, %[1]s.i, %[1]s.q) %[2]s %[4]d", "ifnull(%[1]s.s, 'none') %[2]s %[5]s", "%[1]s.ts %[2]s timestamp_millis(%[4]d)",
		"startswith(%[1]s.s, %[5]s)", "trim(%[1]s.s) %[2]s %[5]s"), alias, pick(g, operators...), i, n, s, day)
}

func (g *generator) conditions(alias string, atMost int) []string {
	var out []string
	for range g.rng.IntN(atMost + 1) {
		out = append(out, g.condition(alias, 2))
	}
	return out
}

// columns draws columns to show, the key always among them.
func (g *generator) columns(alias string) []string {
	out := []string{alias + ".id"}
	for range g.rng.IntN(4) {
		out = append(out, pick(g, alias+"."+g.leaf().name, alias+".st", alias+".a", alias+".st.y", alias+".i + 1", "upper("+alias+".s)"))
	}
	return out
}

var aggregates = []string{"count(*)", "count(%s)", "min(%s)", "max(%s)", "count(DISTINCT %s)"}

func (g *generator) aggregates(alias string) []string {
	var out []string
	for range 1 + g.rng.IntN(4) {
		text := pick(g, aggregates...)
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, alias+"."+g.leaf().name)
		}
		out = append(out, pick(g, text, text, "sum("+alias+".i)", "sum("+alias+".n)", "avg("+alias+".i)", "count_if("+alias+".b)"))
	}
	return out
}

// next draws a query.
func (g *generator) next() query {
	switch g.rng.IntN(16) {
	case 0, 1, 2:
		return query{items: g.columns("t"), from: "$1 t", where: g.conditions("t", 3)}
	case 3, 4:
		q := query{items: g.aggregates("t"), from: "$1 t", where: g.conditions("t", 2)}
		if g.chance(2) {
			q.group = []string{pick(g, "t.p", "t.q", "t.b", "year(t.dt)", "t.dt", "t.i % 3", "t.st.x", "t.d")}
			q.items = append(q.items, q.group[0])
			if g.chance(3) {
				q.having = pick(g, "count(*) > 1", "max(t.i) > 10", "min(t.s) IS NOT NULL", q.group[0]+" IS NOT NULL")
			}
		}
		return q
	case 5:
		return query{items: g.columns("t"), from: "$1 t", where: g.conditions("t", 2),
			orderBy: fmt.Sprintf("t.%s %s, t.id", g.leaf().name, pick(g, "ASC", "DESC", "DESC NULLS FIRST", "NULLS LAST")), limit: fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(20))}
	case 6, 7, 8:
		return g.join()
	case 9, 10, 11:
		return g.subquery()
	case 12:
		inner := query{items: []string{"t.id", "t.i AS v", "t.s AS w"}, from: "$1 t", where: g.conditions("t", 2)}
		other := query{items: []string{"u.id", "u.q AS v", "u.p AS w"}, from: "$2 u", where: g.conditions("u", 2)}
		from := fmt.Sprintf("(%s %s %s) x", inner, pick(g, "UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"), other)
		return query{items: []string{"x.id", "x.v", "x.w"}, from: from,
			where: []string{pick(g, "true", "x.v "+pick(g, operators...)+" "+g.constant(g.named("i")), "x.w "+pick(g, operators...)+" "+g.constant(g.named("s")))}}
	case 13:
		inner := query{items: []string{"t.id", "t.i + 1 AS e", "coalesce(t.s, t.p) AS w", "t.ts AS z"}, from: "$1 t", where: g.conditions("t", 2)}
		return query{items: []string{"x.id", "x.e", "x.w"}, from: fmt.Sprintf("(%s) x", inner),
			where: []string{pick(g, "x.e "+pick(g, operators...)+" "+g.constant(g.named("i")), "x.w LIKE 'a%'", "x.z >= "+g.constant(g.named("ts")))}}
	case 14:
		inner := query{items: []string{"t.id", "t.i", "t.p", "row_number() OVER (PARTITION BY t.p ORDER BY t.id) AS r", "count(*) OVER (PARTITION BY t.q) AS c"}, from: "$1 t", where: g.conditions("t", 1)}
		return query{items: []string{"x.id", "x.r", "x.c"}, from: fmt.Sprintf("(%s) x", inner),
			where: []string{pick(g, "x.r <= 2", "x.p = 'a'", "x.i > "+g.constant(g.named("i")), "x.c > 10 AND x.id < 40")}}
	default:
		// One error, and nothing beside it by which its row might be left out.
		return pick(g, query{items: []string{pick(g, "CAST(t.s AS INT)", "1 / (t.id - 3)", "t.nothing", "t.st.nothing")}, from: "$1 t"},
			query{items: []string{"t.id"}, from: "$1 t", where: []string{pick(g, "t.s = 5", "CAST(t.d AS INT) > 3", "t.l + t.l > 0", "t.s + t.b > 0")}})
	}
}

func (g *generator) join() query {
	kind := pick(g, "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
	on := []string{pick(g, "t.id = u.id", "t.id = u.id", "t.i = u.q", "t.id = u.i", "t.dt = u.dt AND t.q = u.q", "t.s = u.s", "t.id <=> u.st.x")}
	if g.chance(2) {
		on = append(on, g.condition(pick(g, "t", "u"), 1))
	}
	if g.chance(3) {
		on = append(on, g.condition("u", 1))
	}
	q := query{from: fmt.Sprintf("$1 t %s $2 u ON %s", kind, strings.Join(on, " AND ")), where: g.conditions("t", 1)}
	q.items = g.columns("t")
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		return q
	}
	q.items = append(q.items, g.columns("u")...)
	q.where = append(q.where, g.conditions("u", 1)...)
	return q
}

func (g *generator) subquery() query {
	inner := query{items: []string{"u.id"}, from: "$2 u", where: g.conditions("u", 2)}
	q := query{items: g.columns("t"), from: "$1 t", where: g.conditions("t", 1)}
	switch g.rng.IntN(6) {
	case 0:
		q.where = append(q.where, fmt.Sprintf("t.id %sIN (%s)", pick(g, "", "NOT "), inner))
	case 1:
		inner.where = append(inner.where, pick(g, "u.id = t.id", "u.i = t.i", "u.q < t.q AND u.p = t.p"))
		q.where = append(q.where, fmt.Sprintf("%sEXISTS (%s)", pick(g, "", "NOT "), inner))
	case 2:
		inner.items = []string{pick(g, "max(u.i)", "min(u.i)", "count(*)", "max(u.id)")}
		q.where = append(q.where, fmt.Sprintf("t.i %s (%s)", pick(g, operators[:6]...), inner))
	case 3:
		inner.items = []string{"u.i"}
		q.where = append(q.where, fmt.Sprintf("t.i %sIN (%s)", pick(g, "", "NOT "), inner))
	case 4:
		inner.items = []string{"max(u.s)"}
		inner.where = append(inner.where, "u.q = t.q")
		q.items = append(q.items, fmt.Sprintf("(%s)", inner))
	default:
		inner.items = []string{"u.i"}
		q.where = append(q.where, fmt.Sprintf("(t.b OR t.i IN (%s))", inner))
	}
	return q
}
