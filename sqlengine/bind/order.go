package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// direction resolves the placement of NULLs: first in ascending order and last in descending order, in both dialects.
func direction(o parse.OrderItem, e expr.Expr) expr.Order {
	first := !o.Desc
	if o.NullsFirst != nil {
		first = *o.NullsFirst
	}
	return expr.Order{Expr: e, Desc: o.Desc, NullsFirst: first}
}

// orderBy binds ORDER BY over a block: positions, output names, then expressions over the columns of FROM. What equals an
// item becomes a reference to the output.
func (k *block) orderBy(q *parse.Query, output *expr.Relation) ([]expr.Order, error) {
	var orders []expr.Order
	if q.OrderAll {
		return allOrders(q, output), nil
	}
	for _, o := range q.OrderBy {
		i, ok, err := position(o.Expr, len(k.items), "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY")
		if err != nil {
			return nil, err
		}
		if ok {
			orders = append(orders, direction(o, columnOf(output, i)))
			continue
		}
		e := k.env(clauseOrder)
		_, isName := o.Expr.(*parse.Column)
		e.nested = !isName
		value, err := expr.Bind(e, o.Expr)
		if err != nil {
			return nil, err
		}
		if _, constant := value.(*expr.Literal); constant {
			continue
		}
		if value, err = k.toOutput(value, output, o.Expr.At()); err != nil {
			return nil, err
		}
		if !sortable(value.Type()) {
			return nil, fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", o.Expr.At(), "ORDER BY cannot sort a value of type %s", value.Type())
		}
		orders = append(orders, direction(o, value))
	}
	return orders, nil
}

// allOrders is ORDER BY ALL: every column from left to right, with the direction of the clause.
func allOrders(q *parse.Query, output *expr.Relation) []expr.Order {
	var o parse.OrderItem
	if len(q.OrderBy) > 0 {
		o = q.OrderBy[0]
	}
	orders := make([]expr.Order, len(output.Columns))
	for i := range output.Columns {
		orders[i] = direction(o, columnOf(output, i))
	}
	return orders
}

// toOutput turns an order expression that equals an item into the output column. Behind DISTINCT nothing else is left, so
// there its parts must be output columns.
func (k *block) toOutput(value expr.Expr, output *expr.Relation, at parse.Pos) (expr.Expr, error) {
	for i, it := range k.items {
		if same(it.value, value) {
			return columnOf(output, i), nil
		}
	}
	for _, it := range k.items {
		if volatile(it.value) && contains(value, func(x expr.Expr) bool { return x == it.value }) {
			return nil, fail("UNSUPPORTED_FEATURE", at, "ORDER BY an expression over `%s`, which is not deterministic, is not supported", it.name).
				WithHint("select the expression itself, or sort around a subquery")
		}
	}
	if !k.sel.Distinct {
		return value, nil
	}
	mapped := rewrite(value, func(x expr.Expr) expr.Expr {
		for i, it := range k.items {
			if same(it.value, x) {
				return columnOf(output, i)
			}
		}
		return nil
	})
	var missing *expr.Column
	walk(mapped, true, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok && k.relations[c.Relation] {
			missing = c
		}
		return missing == nil
	})
	if missing != nil {
		name := missing.Relation.Columns[missing.Index].Name
		return nil, fail("UNRESOLVED_COLUMN.WITH_SUGGESTION", at, "ORDER BY behind SELECT DISTINCT cannot use `%s`, which is not selected", name).
			WithHint("add it to the select list, or leave DISTINCT out")
	}
	return mapped, nil
}

func sortable(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindVariant, protocol.KindMap:
		return false
	case protocol.KindArray:
		return sortable(*t.Element)
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if !sortable(f.Type) {
				return false
			}
		}
	}
	return true
}

// orderOutput binds ORDER BY over a set operation, VALUES or a nested query: only output columns are visible.
func (b *binder) orderOutput(out *expr.Query, q *parse.Query, p place) error {
	if q.OrderAll {
		out.OrderBy = allOrders(q, out.Output)
		return nil
	}
	sc := relationScope(out.Output, nil).under(p.outer)
	e := &env{b: b, place: p, scope: sc, clause: clauseFrom}
	for _, o := range q.OrderBy {
		i, ok, err := position(o.Expr, len(out.Columns), "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY")
		if err != nil {
			return err
		}
		var value expr.Expr
		if ok {
			value = columnOf(out.Output, i)
		} else if value, err = b.orderName(o.Expr, out.Output); err != nil {
			return err
		} else if value == nil {
			if value, err = expr.Bind(e, o.Expr); err != nil {
				return err
			}
		}
		if _, constant := value.(*expr.Literal); constant {
			continue
		}
		if !sortable(value.Type()) {
			return fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", o.Expr.At(), "ORDER BY cannot sort a value of type %s", value.Type())
		}
		out.OrderBy = append(out.OrderBy, direction(o, value))
	}
	return nil
}

// orderName finds a bare output name, the first of several equal ones, since a set operation has no tables to tell them apart.
func (b *binder) orderName(x parse.Expr, output *expr.Relation) (expr.Expr, error) {
	c, ok := x.(*parse.Column)
	if !ok || len(c.Name) != 1 {
		return nil, nil
	}
	for i, column := range output.Columns {
		if strings.EqualFold(column.Name, c.Name[0].Name) {
			return columnOf(output, i), nil
		}
	}
	return nil, nil
}
