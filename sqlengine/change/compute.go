package change

import (
	"fmt"
	"strconv"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/txn"
)

// computed puts the columns that are computed from others over the assigned ones: generated columns without a value of their own, and
// new values of identity columns.
func (b *binding) computed(values *expr.Relation, cells []cell, plan *Plan) (*expr.Relation, error) {
	items := make([]bind.Item, len(b.schema.Fields))
	any := false
	for i, f := range b.schema.Fields {
		own := columnOf(values, i)
		items[i] = bind.Item{Name: string(f.Name), Value: own}
		if text, ok := b.generation(f); ok && (!cells[i].given() || cells[i].marker >= 0) {
			value, err := b.generated(f, text, values)
			if err != nil {
				return nil, err
			}
			items[i].Value, any = b.partitionText(i, unless(own, cells[i], values, value)), true
		}
		if id, ok := b.identity(f); ok && b.updates {
			b.done = append(b.done, txn.Duty{Kind: txn.Identity, Column: string(f.Name)})
		} else if ok {
			value := b.numbered(i, f, id, cells[i], values, plan)
			any = any || value != expr.Expr(own)
			items[i].Value = value
		}
	}
	if !any {
		return values, nil
	}
	carried := make([]int, len(b.carried))
	for i, at := range b.carried {
		carried[i] = len(items)
		items = append(items, bind.Item{Value: columnOf(values, at)})
	}
	b.carried = carried
	return b.build.Derived(b.build.Block(values, items), ""), nil
}

// unless is a column's own value, or a computed one: in every row without a value, or in those that wrote DEFAULT.
func unless(own expr.Expr, c cell, values *expr.Relation, computed expr.Expr) expr.Expr {
	if c.marker < 0 {
		return computed
	}
	return &expr.Case{Typed: expr.Typed{Of: own.Type(), Null: true}, Else: own,
		Whens: []expr.When{{Condition: columnOf(values, c.marker), Result: computed}}}
}

// generated is the value of a generation expression over the table's columns.
func (b *binding) generated(f protocol.Field, text string, values *expr.Relation) (expr.Expr, error) {
	value, err := b.storedExpression(text, b.columns(values), "the generation expression of column `"+string(f.Name)+"`")
	if err != nil {
		return nil, err
	}
	out, err := expr.Convert(value, f.Type, b.stored.Context(), false)
	if err != nil {
		return nil, protocol.NewError("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH", "the expression of the generated column `%s` of %s has type %s, but the column has type %s", f.Name, b.table.shown(), value.Type(), f.Type)
	}
	return out, nil
}

// columns is the scope in which stored expressions see a row of the table.
func (b *binding) columns(values *expr.Relation) bind.Scope {
	items := make([]bind.Item, len(b.schema.Fields))
	for i, f := range b.schema.Fields {
		items[i] = bind.Item{Name: string(f.Name), Value: columnOf(values, i)}
	}
	return bind.Named(items, b.table.Name...)
}

// numbered is an identity column's value. New ones are base, base + step, ... over the rows that get one. MySQL's AUTO_INCREMENT also
// asks for a new value by NULL, and by 0 unless a session says otherwise.
func (b *binding) numbered(i int, f protocol.Field, id protocol.Identity, c cell, values *expr.Relation, plan *Plan) expr.Expr {
	own := expr.Expr(columnOf(values, i))
	use := Identity{Column: i, Step: id.Step, Base: id.Start, Count: -1, Explicit: c.given(), Generated: !c.given()}
	if id.HighWaterMark != nil {
		use.Base = *id.HighWaterMark + id.Step
	}
	b.done = append(b.done, txn.Duty{Kind: txn.Identity, Column: string(f.Name)})
	wants := expr.Expr(nil)
	switch {
	case c.given() && b.mysql() && !b.merges:
		sql := "({0} IS NULL OR {0} = 0)"
		if b.opts.ZeroIsValue {
			sql = "{0} IS NULL"
		}
		wants, use.Generated = &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: sql, Args: []expr.Expr{own}}, true
		if c.marker >= 0 {
			wants = &expr.Logic{Typed: expr.Typed{Of: boolean}, Or: true, Operands: []expr.Expr{columnOf(values, c.marker), wants}}
		}
	case c.marker >= 0:
		wants, use.Generated, use.Count = columnOf(values, c.marker), true, c.marked
	case c.given():
		plan.Identity = append(plan.Identity, use)
		return own
	}
	plan.Identity = append(plan.Identity, use)
	long := protocol.DataType{Kind: protocol.KindLong}
	number := func(rank string, args ...expr.Expr) expr.Expr {
		sql := fmt.Sprintf("(CAST('%s' AS BIGINT) + CAST('%s' AS BIGINT) * (%s - 1))", strconv.FormatInt(use.Base, 10), strconv.FormatInt(use.Step, 10), rank)
		return &expr.Raw{Typed: expr.Typed{Of: long}, SQL: sql, Args: args, Volatile: true}
	}
	if wants == nil {
		return number("row_number() OVER ()")
	}
	ranked := number("CAST(sum(CASE WHEN {0} THEN 1 ELSE 0 END) OVER (ROWS UNBOUNDED PRECEDING) AS BIGINT)", wants)
	return &expr.Case{Typed: expr.Typed{Of: long, Null: true}, Whens: []expr.When{{Condition: wants, Result: ranked}}, Else: own}
}
