package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// ordered makes an element of ORDER BY: the key of a value's collation, and the placement of NULLs, which is first in ascending
// order and last in descending order in both dialects.
func ordered(o parse.OrderItem, e expr.Expr, ctx *expr.Context) (expr.Order, error) {
	at := parse.Pos{}
	if o.Expr != nil {
		at = o.Expr.At()
	}
	if !sortable(e.Type()) {
		return expr.Order{}, expr.WithPart(fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", at, "a value of type %s cannot be sorted by", e.Type()), e.Type())
	}
	key, err := expr.CollationKey(e, ctx)
	if err != nil {
		return expr.Order{}, located(err, at)
	}
	first := !o.Desc
	if o.NullsFirst != nil {
		first = *o.NullsFirst
	}
	return expr.Order{Expr: key, Desc: o.Desc, NullsFirst: first}, nil
}

// orderBy binds ORDER BY over a block: positions, output names, then expressions over the columns of FROM. What equals an
// item becomes a reference to the output.
func (k *block) orderBy(q *parse.Query, output *expr.Relation) ([]expr.Order, error) {
	var orders []expr.Order
	add := func(o parse.OrderItem, value expr.Expr) error {
		order, err := ordered(o, value, k.place.context)
		if err != nil {
			return err
		}
		// A folded output column of a plain block is folded where it is computed: by position there is only the column itself.
		if c, ok := value.(*expr.Column); ok && c.Relation == output && order.Expr != value && !k.sel.Distinct {
			if order.Expr, err = expr.CollationKey(k.items[c.Index].value, k.place.context); err != nil {
				return err
			}
		}
		orders = append(orders, order)
		return nil
	}
	if q.OrderAll {
		for i := range output.Columns {
			if err := add(allDirection(q), columnOf(output, i)); err != nil {
				return nil, err
			}
		}
		return orders, nil
	}
	for _, o := range q.OrderBy {
		i, ok, err := position(o.Expr, len(k.items), "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY")
		if err != nil {
			return nil, err
		}
		if ok {
			if err := add(o, columnOf(output, i)); err != nil {
				return nil, err
			}
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
		if err := add(o, value); err != nil {
			return nil, err
		}
	}
	return orders, nil
}

// allDirection is the direction of ORDER BY ALL, which sorts by every column from left to right.
func allDirection(q *parse.Query) parse.OrderItem {
	if len(q.OrderBy) > 0 {
		return q.OrderBy[0]
	}
	return parse.OrderItem{}
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
	case protocol.KindVariant, protocol.KindMap, protocol.KindFile:
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
		for i := range out.Columns {
			order, err := ordered(allDirection(q), columnOf(out.Output, i), p.context)
			if err != nil {
				return err
			}
			out.OrderBy = append(out.OrderBy, order)
		}
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
		order, err := ordered(o, value, p.context)
		if err != nil {
			return err
		}
		out.OrderBy = append(out.OrderBy, order)
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
