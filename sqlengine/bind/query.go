package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// cteFrame is one common table expression in scope, with those around it.
type cteFrame struct {
	name  string
	cte   *expr.CTE
	outer *cteFrame
}

func (f *cteFrame) find(name string) *expr.CTE {
	for ; f != nil; f = f.outer {
		if strings.EqualFold(f.name, name) {
			return f.cte
		}
	}
	return nil
}

// query binds a query expression with its WITH, ORDER BY and LIMIT.
func (b *binder) query(q *parse.Query, p place) (*expr.Query, error) {
	if err := b.enter(q.Pos); err != nil {
		return nil, err
	}
	defer b.leave()
	out := &expr.Query{}
	for i, c := range q.With {
		for _, earlier := range q.With[:i] {
			if strings.EqualFold(earlier.Name.Name, c.Name.Name) {
				return nil, fail("DUPLICATED_CTE_NAMES", c.Name.Pos, "the name `%s` stands twice in WITH", c.Name.Name)
			}
		}
		cte, err := b.cte(&q.With[i], q.Recursive, p)
		if err != nil {
			return nil, err
		}
		out.With = append(out.With, cte)
		p.ctes = &cteFrame{name: c.Name.Name, cte: cte, outer: p.ctes}
	}
	if s, ok := q.Body.(*parse.Select); ok {
		return out, b.selectQuery(out, s, q, p)
	}
	body, columns, err := b.body(q.Body, p)
	if err != nil {
		return nil, err
	}
	out.Body = body
	b.output(out, columns)
	if err := b.orderOutput(out, q, p); err != nil {
		return nil, err
	}
	return out, b.limits(out, q, p)
}

// output gives the query its columns, printed as c0, c1, ...
func (b *binder) output(q *expr.Query, columns []expr.OutputColumn) {
	out := b.relation(expr.RelQuery, "")
	out.Columns = make([]expr.OutputColumn, len(columns))
	for i, c := range columns {
		out.Columns[i] = expr.OutputColumn{Name: c.Name, Out: "c" + strconv.Itoa(i), Type: c.Type, Nullable: c.Nullable, CharLength: c.CharLength}
	}
	q.Output, q.Columns = out, out.Columns
}

// body binds what stands between WITH and ORDER BY, and gives its columns.
func (b *binder) body(body parse.Body, p place) (expr.Body, []expr.OutputColumn, error) {
	switch body := body.(type) {
	case *parse.Select:
		q := &expr.Query{}
		if err := b.selectQuery(q, body, &parse.Query{Pos: body.Pos}, p); err != nil {
			return nil, nil, err
		}
		return q.Body, q.Columns, nil
	case *parse.SetOperation:
		return b.setOperation(body, p)
	case *parse.Values:
		return b.values(body, p)
	case *parse.TableBody:
		star := &parse.Select{Pos: body.Table.Pos, Items: []parse.SelectItem{{Expr: &parse.Star{}}}, From: body.Table}
		return b.body(star, p)
	case *parse.NestedQuery:
		q, err := b.query(body.Query, p)
		if err != nil {
			return nil, nil, err
		}
		if len(q.With) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
			return q.Body, q.Columns, nil
		}
		return q, q.Columns, nil
	}
	return nil, nil, protocol.NewError(protocol.ClassInternal, "query body %T", body)
}

// setOperation binds UNION, INTERSECT and EXCEPT: both sides are brought to common types, the left one names the columns.
func (b *binder) setOperation(s *parse.SetOperation, p place) (expr.Body, []expr.OutputColumn, error) {
	if err := b.enter(s.Pos); err != nil {
		return nil, nil, err
	}
	defer b.leave()
	left, leftColumns, err := b.body(s.Left, p)
	if err != nil {
		return nil, nil, err
	}
	right, rightColumns, err := b.body(s.Right, p)
	if err != nil {
		return nil, nil, err
	}
	return b.combine(s, left, leftColumns, right, rightColumns, p)
}

func (b *binder) combine(s *parse.SetOperation, left expr.Body, leftColumns []expr.OutputColumn, right expr.Body, rightColumns []expr.OutputColumn, p place) (expr.Body, []expr.OutputColumn, error) {
	word := [...]string{parse.Union: "UNION", parse.Intersect: "INTERSECT", parse.Except: "EXCEPT"}[s.Op]
	if s.ByName {
		left, leftColumns, right, rightColumns = b.byName(left, leftColumns, right, rightColumns)
	}
	if len(leftColumns) != len(rightColumns) {
		return nil, nil, fail("NUM_COLUMNS_MISMATCH", s.Pos, "%s needs inputs with the same number of columns, but the first has %d and the second has %d",
			word, len(leftColumns), len(rightColumns))
	}
	types := make([]protocol.DataType, len(leftColumns))
	columns := make([]expr.OutputColumn, len(leftColumns))
	for i, l := range leftColumns {
		r := rightColumns[i]
		t, err := expr.CommonType(l.Type, r.Type, p.context)
		if err != nil {
			return nil, nil, fail("INCOMPATIBLE_COLUMN_TYPE", s.Pos, "%s cannot combine column %d: the first input has type %s, the second has type %s", word, i+1, l.Type, r.Type)
		}
		types[i] = t
		nullable := l.Nullable || r.Nullable
		if s.Op == parse.Except {
			nullable = l.Nullable
		}
		columns[i] = expr.OutputColumn{Name: l.Name, Type: t, Nullable: nullable}
	}
	left, err := b.retype(left, leftColumns, types, p)
	if err != nil {
		return nil, nil, located(err, s.Pos)
	}
	right, err = b.retype(right, rightColumns, types, p)
	if err != nil {
		return nil, nil, located(err, s.Pos)
	}
	if s.All {
		word += " ALL"
	}
	out := &expr.SetOperation{Op: word, Left: left, Right: right}
	if word == "UNION ALL" {
		return out, columns, nil
	}
	for i, c := range columns {
		if c.Type.Holds(protocol.KindFile) {
			return nil, nil, expr.WithPart(fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", s.Pos, "%s cannot compare files, and column %d, %s, has them", word, i+1, c.Name), c.Type)
		}
	}
	folded, err := b.foldSet(out, columns, p.context)
	return folded, columns, located(err, s.Pos)
}

// foldSet makes UNION compare text by its collation. INTERSECT and EXCEPT have no such form and are refused there.
func (b *binder) foldSet(s *expr.SetOperation, columns []expr.OutputColumn, ctx *expr.Context) (expr.Body, error) {
	samples := make([]expr.Expr, len(columns))
	for i, c := range columns {
		samples[i] = expr.Null(c.Type)
	}
	if _, folds, err := collationKeys(samples, ctx); err != nil || !folds {
		return s, err
	}
	if s.Op != "UNION" {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE.COLLATION", "%s over text that is compared without case is not supported", s.Op).
			WithHint("compare lower(...) of the columns")
	}
	rel := b.wrapped(&expr.SetOperation{Op: "UNION ALL", Left: s.Left, Right: s.Right}, columns)
	items := make([]expr.Expr, len(columns))
	for i := range columns {
		items[i] = columnOf(rel, i)
	}
	keys, _, err := collationKeys(items, ctx)
	return &expr.Select{Distinct: true, DistinctOn: keys, Items: items, Visible: len(items), From: rel}, err
}

// byName puts the right side's columns in the left side's order; a column that one side lacks is NULL there.
func (b *binder) byName(left expr.Body, leftColumns []expr.OutputColumn, right expr.Body, rightColumns []expr.OutputColumn) (expr.Body, []expr.OutputColumn, expr.Body, []expr.OutputColumn) {
	names := append([]expr.OutputColumn(nil), leftColumns...)
	for _, r := range rightColumns {
		if indexOf(leftColumns, r.Name) < 0 {
			names = append(names, r)
		}
	}
	arrange := func(body expr.Body, columns []expr.OutputColumn) (expr.Body, []expr.OutputColumn) {
		rel := b.wrapped(body, columns)
		s := &expr.Select{From: rel, Visible: len(names)}
		out := make([]expr.OutputColumn, len(names))
		for i, n := range names {
			out[i] = expr.OutputColumn{Name: n.Name, Type: n.Type, Nullable: true}
			if at := indexOf(columns, n.Name); at >= 0 {
				out[i].Type, out[i].Nullable = columns[at].Type, columns[at].Nullable
				s.Items = append(s.Items, columnOf(rel, at))
			} else {
				out[i].Type = protocol.DataType{Kind: protocol.KindVoid}
				s.Items = append(s.Items, expr.Null(out[i].Type))
			}
		}
		return s, out
	}
	left, leftColumns = arrange(left, leftColumns)
	right, rightColumns = arrange(right, rightColumns)
	return left, leftColumns, right, rightColumns
}

func indexOf(columns []expr.OutputColumn, name string) int {
	for i, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// wrapped is a relation over a body.
func (b *binder) wrapped(body expr.Body, columns []expr.OutputColumn) *expr.Relation {
	q, ok := body.(*expr.Query)
	if !ok {
		q = &expr.Query{Body: body}
		b.output(q, columns)
	}
	return b.derived(q, "")
}

// derived is a relation over a query.
func (b *binder) derived(q *expr.Query, name string) *expr.Relation {
	r := b.relation(expr.RelQuery, name)
	r.Query = q
	r.Columns = append([]expr.OutputColumn(nil), q.Columns...)
	return r
}

func columnOf(r *expr.Relation, i int) *expr.Column {
	c := r.Columns[i]
	return &expr.Column{Typed: expr.Typed{Of: c.Type, Null: c.Nullable}, Relation: r, Index: i}
}

// retype casts a body's columns. The casts go into the body's own items where that keeps its meaning.
func (b *binder) retype(body expr.Body, columns []expr.OutputColumn, types []protocol.DataType, p place) (expr.Body, error) {
	equal := true
	for i, c := range columns {
		equal = equal && c.Type.Equal(types[i])
	}
	if equal {
		return body, nil
	}
	switch s := body.(type) {
	case *expr.Select:
		if s.Distinct || len(s.Items) != s.Visible {
			break
		}
		items, err := coerceAll(s.Items, types, p.context)
		if err != nil {
			return nil, err
		}
		n := *s
		n.Items = items
		return &n, nil
	case *expr.Values:
		n := &expr.Values{Rows: make([][]expr.Expr, len(s.Rows))}
		for i, row := range s.Rows {
			cast, err := coerceAll(row, types, p.context)
			if err != nil {
				return nil, err
			}
			n.Rows[i] = cast
		}
		return n, nil
	case *expr.SetOperation:
		if s.Op != "UNION ALL" {
			break
		}
		left, err := b.retype(s.Left, columns, types, p)
		if err != nil {
			return nil, err
		}
		right, err := b.retype(s.Right, columns, types, p)
		if err != nil {
			return nil, err
		}
		return &expr.SetOperation{Op: s.Op, Left: left, Right: right}, nil
	}
	rel := b.wrapped(body, columns)
	s := &expr.Select{From: rel, Visible: len(types)}
	for i := range types {
		s.Items = append(s.Items, columnOf(rel, i))
	}
	items, err := coerceAll(s.Items, types, p.context)
	s.Items = items
	return s, err
}

func coerceAll(list []expr.Expr, types []protocol.DataType, ctx *expr.Context) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		c, err := expr.Coerce(e, types[i], ctx)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// values binds VALUES.
func (b *binder) values(v *parse.Values, p place) (expr.Body, []expr.OutputColumn, error) {
	e := &env{b: b, place: p, scope: (&scope{}).under(p.outer), clause: clauseValues}
	rows, err := e.rows(v)
	if err != nil {
		return nil, nil, err
	}
	return constantTable(rows, v, p.context)
}

// rows binds the cells of VALUES.
func (e *env) rows(v *parse.Values) ([][]expr.Expr, error) {
	rows := make([][]expr.Expr, len(v.Rows))
	for i, row := range v.Rows {
		if len(row) != len(v.Rows[0]) {
			return nil, fail("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", row[0].At(), "VALUES: row %d has %d columns, the first has %d", i+1, len(row), len(v.Rows[0]))
		}
		for _, x := range row {
			bound, err := expr.Bind(e, x)
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], bound)
		}
	}
	return rows, nil
}

// constantTable brings the cells of VALUES to their columns' types, each the common type of the rows.
func constantTable(rows [][]expr.Expr, v *parse.Values, ctx *expr.Context) (expr.Body, []expr.OutputColumn, error) {
	columns := make([]expr.OutputColumn, len(rows[0]))
	for j, x := range rows[0] {
		columns[j] = expr.OutputColumn{Name: valuesName(j, ctx), Type: x.Type(), Nullable: x.Nullable()}
	}
	for i, row := range rows[1:] {
		for j, x := range row {
			t, err := expr.CommonType(columns[j].Type, x.Type(), ctx)
			if err != nil {
				return nil, nil, fail("INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", v.Rows[i+1][j].At(), "VALUES: column %d has values of types %s and %s", j+1, columns[j].Type, x.Type())
			}
			columns[j].Type, columns[j].Nullable = t, columns[j].Nullable || x.Nullable()
		}
	}
	types := make([]protocol.DataType, len(columns))
	for j, c := range columns {
		types[j] = c.Type
	}
	out := make([][]expr.Expr, len(rows))
	for i := range rows {
		cast, err := coerceAll(rows[i], types, ctx)
		if err != nil {
			return nil, nil, located(err, v.Pos)
		}
		out[i] = cast
	}
	return &expr.Values{Rows: out}, columns, nil
}

func valuesName(i int, ctx *expr.Context) string {
	if ctx.Dialect == expr.MySQL {
		return "column_" + strconv.Itoa(i)
	}
	return "col" + strconv.Itoa(i+1)
}
