package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// cte binds one common table expression.
func (b *binder) cte(c *parse.CTE, recursive bool, p place) (*expr.CTE, error) {
	b.ids++
	out := &expr.CTE{ID: b.ids, Name: c.Name.Name}
	if op, ok := c.Query.Body.(*parse.SetOperation); ok && recursive && op.Op == parse.Union && mentions(op.Right, c.Name.Name) {
		return out, b.recursive(out, c, op, p)
	}
	q, err := b.query(c.Query, p)
	if err != nil {
		return nil, err
	}
	out.Query = q
	out.Columns = append([]expr.OutputColumn(nil), q.Columns...)
	walkQuery(q, func(e expr.Expr) { out.Materialized = out.Materialized || volatile(e) })
	return out, rename(out.Columns, c.Columns, c.Name.Name, c.Name.Pos)
}

// recursive binds WITH RECURSIVE c AS (anchor UNION [ALL] step): the anchor fixes names and types, the step is cast to them.
func (b *binder) recursive(out *expr.CTE, c *parse.CTE, op *parse.SetOperation, p place) error {
	if len(c.Query.OrderBy) > 0 || c.Query.Limit != nil || c.Query.Offset != nil || c.Query.OrderAll {
		return fail("INVALID_RECURSIVE_REFERENCE.PLACE", c.Name.Pos, "ORDER BY and LIMIT cannot stand in the recursive query `%s` itself", c.Name.Name).
			WithHint("put them into the query that reads it")
	}
	for i := range c.Query.With {
		inner, err := b.cte(&c.Query.With[i], c.Query.Recursive, p)
		if err != nil {
			return err
		}
		out.Query = &expr.Query{With: append(withOf(out.Query), inner)}
		p.ctes = &cteFrame{name: c.Query.With[i].Name.Name, cte: inner, outer: p.ctes}
	}
	anchor, columns, err := b.body(op.Left, p)
	if err != nil {
		return err
	}
	out.Recursive = true
	types := make([]protocol.DataType, len(columns))
	out.Columns = make([]expr.OutputColumn, len(columns))
	for i, column := range columns {
		types[i] = column.Type
		if column.Type.Kind == protocol.KindVoid {
			types[i] = protocol.DataType{Kind: protocol.KindString}
		}
		out.Columns[i] = expr.OutputColumn{Name: column.Name, Out: "c" + strconv.Itoa(i), Type: types[i], Nullable: true}
	}
	if err := rename(out.Columns, c.Columns, c.Name.Name, c.Name.Pos); err != nil {
		return err
	}
	if anchor, err = b.retype(anchor, columns, types, p); err != nil {
		return located(err, op.Pos)
	}
	if op.All {
		out.Columns = append(out.Columns, expr.OutputColumn{Out: "c" + strconv.Itoa(len(columns)), Type: longType, Hidden: true})
	}
	p.ctes = &cteFrame{name: c.Name.Name, cte: out, outer: p.ctes}
	step, stepColumns, err := b.body(op.Right, p)
	if err != nil {
		return err
	}
	if len(stepColumns) != len(columns) { // the depth is not among them
		return fail("NUM_COLUMNS_MISMATCH", op.Pos, "UNION needs inputs with the same number of columns, but the first has %d and the second has %d", len(columns), len(stepColumns))
	}
	depth := b.deeper(step, out, len(columns))
	if step, err = b.recast(step, stepColumns, types, p); err != nil {
		return located(err, op.Pos)
	}
	word := "UNION"
	if op.All {
		word = "UNION ALL"
		anchor = b.beside(anchor, out.Columns[:len(columns)], longLiteral(0))
		step = b.beside(step, out.Columns[:len(columns)], depth)
	}
	body := &expr.SetOperation{Op: word, Left: anchor, Right: step}
	out.Query = &expr.Query{With: withOf(out.Query), Body: body}
	b.output(out.Query, out.Columns)
	return nil
}

var longType = protocol.DataType{Kind: protocol.KindLong}

func longLiteral(n int64) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: longType}, Value: protocol.Value{Kind: protocol.KindLong, Int: n}}
}

// deeper is the recursive step's depth: one more than that of the row it reads, or an error beyond the limit. UNION ALL of a step
// that never ends would fill the disk otherwise; UNION ends when nothing new comes, and a step that is no plain block over
// the recursive table has no row to count from, so their depth stays 0.
func (b *binder) deeper(step expr.Body, cte *expr.CTE, column int) expr.Expr {
	s, ok := step.(*expr.Select)
	if !ok || s.Distinct || len(s.DistinctOn) > 0 || len(s.GroupBy) > 0 {
		return longLiteral(0)
	}
	var before *expr.Relation
	relationsOf(s.From, func(r *expr.Relation) {
		if r.CTE == cte && before == nil {
			before = r
		}
	})
	if before == nil || column >= len(before.Columns) {
		return longLiteral(0)
	}
	most := b.opts.MaxRecursion
	if most == 0 {
		most = 1000
	}
	limit := itoa(most)
	return &expr.Raw{Typed: expr.Typed{Of: longType}, Args: []expr.Expr{columnOf(before, column)},
		SQL: "CASE WHEN {0} >= " + limit + " THEN CAST(error('[RECURSION_LEVEL_LIMIT_EXCEEDED] the recursive query went deeper than " + limit +
			" levels') AS BIGINT) ELSE coalesce({0}, 0) + 1 END"}
}

// beside adds an output to a body: to the block itself, or to a block over it.
func (b *binder) beside(body expr.Body, columns []expr.OutputColumn, e expr.Expr) expr.Body {
	if s, ok := body.(*expr.Select); ok && !s.Distinct && len(s.DistinctOn) == 0 && len(s.Items) == s.Visible {
		n := *s
		n.Items = append(append([]expr.Expr(nil), s.Items...), e)
		n.Visible = len(n.Items)
		return &n
	}
	rel := b.wrapped(body, columns)
	s := &expr.Select{From: rel}
	for i := range columns {
		s.Items = append(s.Items, columnOf(rel, i))
	}
	s.Items = append(s.Items, longLiteral(0))
	s.Visible = len(s.Items)
	return s
}

func withOf(q *expr.Query) []*expr.CTE {
	if q == nil {
		return nil
	}
	return q.With
}

// recast casts the recursive step's columns to the anchor's types, narrowing where it must; a value that does not fit fails.
func (b *binder) recast(body expr.Body, columns []expr.OutputColumn, types []protocol.DataType, p place) (expr.Body, error) {
	for i, c := range columns {
		if _, err := expr.CommonType(c.Type, types[i], p.context); err != nil {
			return nil, fail("INCOMPATIBLE_COLUMN_TYPE", parse.Pos{}, "column %d of the recursive query has type %s, its first part has type %s", i+1, c.Type, types[i])
		}
	}
	return b.retype(body, columns, types, p)
}

// mentions tells whether a body names a table anywhere in its FROM clauses or set operations.
func mentions(body parse.Body, name string) bool {
	switch body := body.(type) {
	case *parse.Select:
		return fromMentions(body.From, name)
	case *parse.SetOperation:
		return mentions(body.Left, name) || mentions(body.Right, name)
	case *parse.NestedQuery:
		return mentions(body.Query.Body, name)
	case *parse.TableBody:
		return fromMentions(body.Table, name)
	}
	return false
}

func fromMentions(f parse.From, name string) bool {
	switch f := f.(type) {
	case *parse.TableRef:
		return len(f.Name) == 1 && strings.EqualFold(f.Name[0].Name, name)
	case *parse.Join:
		return fromMentions(f.Left, name) || fromMentions(f.Right, name)
	case *parse.DerivedTable:
		return mentions(f.Query.Body, name)
	case *parse.Pivot:
		return fromMentions(f.Input, name)
	case *parse.Unpivot:
		return fromMentions(f.Input, name)
	}
	return false
}
