package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// checkGroups makes sure that a grouped block uses only keys and aggregates outside of aggregates, and fills in what depends
// on the keys (grouping_id, nullability). A block with aggregates and no GROUP BY is one group.
func (k *block) checkGroups(out *expr.Query) error {
	if err := k.strayGrouping(out); err != nil || !k.aggregated {
		return err
	}
	if k.sel.GroupBy == nil {
		k.sel.GroupBy = []expr.GroupSet{{}}
	}
	k.dropEmptyTotal()
	if err := k.foldKeys(); err != nil {
		return err
	}
	for i := range k.sel.Items {
		checked, err := k.grouped(k.sel.Items[i], k.items[i].at)
		if err != nil {
			return err
		}
		k.sel.Items[i] = checked
		if checked.Nullable() || len(k.sel.GroupBy) > 1 && member(k.keys, checked) {
			out.Output.Columns[i].Nullable = true
		}
	}
	for _, clause := range []*expr.Expr{&k.sel.Having, &k.sel.Qualify} {
		if *clause == nil {
			continue
		}
		checked, err := k.grouped(*clause, k.ast.Pos)
		if err != nil {
			return err
		}
		*clause = checked
	}
	for i, x := range k.sel.DistinctOn {
		checked, err := k.grouped(x, k.ast.Pos)
		if err != nil {
			return err
		}
		k.sel.DistinctOn[i] = checked
	}
	for i, o := range out.OrderBy {
		if c, ok := o.Expr.(*expr.Column); ok && c.Relation == out.Output {
			continue
		}
		checked, err := k.grouped(o.Expr, k.ast.Pos)
		if err != nil {
			return err
		}
		out.OrderBy[i].Expr = checked
	}
	return nil
}

// strayGrouping refuses grouping and grouping_id where rows are not grouped yet: anywhere without groups, else in WHERE and in
// conditions of joins. Keys are looked at where they are bound.
func (k *block) strayGrouping(out *expr.Query) error {
	at := k.ast.Pos
	before := []expr.Expr{k.sel.Where}
	joined := []expr.From{k.sel.From}
	for i := 0; i < len(joined); i++ {
		if j, ok := joined[i].(*expr.Join); ok {
			joined = append(joined, j.Left, j.Right)
			before = append(before, j.On)
		}
	}
	if !k.aggregated {
		for i, x := range k.sel.Items {
			if i < len(k.items) && contains(x, isGrouping) {
				return noGrouping(k.items[i].at)
			}
			before = append(before, x)
		}
		before = append(append(before, k.sel.DistinctOn...), k.sel.Having, k.sel.Qualify)
		for _, o := range out.OrderBy {
			before = append(before, o.Expr)
		}
	}
	for _, x := range before {
		if contains(x, isGrouping) {
			return noGrouping(at)
		}
	}
	return nil
}

func isGrouping(e expr.Expr) bool {
	_, ok := e.(*expr.Grouping)
	return ok
}

func noGrouping(at parse.Pos) error {
	return fail("UNSUPPORTED_GROUPING_EXPRESSION", at, "grouping and grouping_id need GROUP BY with ROLLUP, CUBE or GROUPING SETS")
}

// foldKeys makes groups by collation: text that folds to the same key is one group, and stands for it by one of its values.
func (k *block) foldKeys() error {
	for i, set := range k.sel.GroupBy {
		folded := make(expr.GroupSet, len(set))
		for j, key := range set {
			fold, err := expr.CollationKey(key, k.place.context)
			if err != nil {
				return located(err, k.ast.Pos)
			}
			folded[j] = fold
			if fold == key {
				continue
			}
			if len(k.sel.GroupBy) > 1 {
				return fail("UNSUPPORTED_FEATURE.COLLATION", k.ast.Pos, "several grouping sets over text that is compared without case are not supported").
					WithHint("group by lower(...) instead")
			}
			if k.folded == nil {
				k.folded = map[expr.Expr]bool{}
			}
			k.folded[key] = true
		}
		k.sel.GroupBy[i] = folded
	}
	return nil
}

// dropEmptyTotal leaves out the row of the empty grouping set where there are no rows at all: in both dialects the total of a
// ROLLUP comes from rows, while DuckDB gives it always.
func (k *block) dropEmptyTotal() {
	for _, set := range k.sel.GroupBy {
		if k.sel.Grouped && len(set) == 0 {
			k.sel.Having = and(k.sel.Having, someRows(nil))
			return
		}
	}
}

// someRows is the condition that a group has rows that satisfy a filter (nil: any).
func someRows(filter expr.Expr) expr.Expr {
	long := expr.Typed{Of: protocol.DataType{Kind: protocol.KindLong}}
	return &expr.Compare{
		Typed: booleanTyped(false), Op: ">",
		Left:  &expr.Aggregate{Typed: long, Name: "count", Filter: filter},
		Right: &expr.Literal{Typed: long, Value: protocol.Value{Kind: protocol.KindLong}},
	}
}

// grouped checks one expression of a grouped block.
func (k *block) grouped(e expr.Expr, at parse.Pos) (expr.Expr, error) {
	var fault error
	checked := rewrite(e, func(x expr.Expr) expr.Expr {
		for _, key := range k.keys {
			if r, ok := x.(*expr.Raw); !same(key, x) && (!ok || r.Shown == nil || !same(key, r.Shown)) {
				continue
			}
			if k.folded[key] {
				return &expr.Aggregate{Typed: expr.Typed{Of: x.Type(), Null: x.Nullable()}, Name: "first", Args: []expr.Expr{key}}
			}
			return key
		}
		switch x := x.(type) {
		case *expr.Aggregate:
			expr.Children(x, func(c expr.Expr) {
				if contains(c, isGrouping) && fault == nil {
					fault = noGrouping(at)
				}
			})
			return x
		case *expr.Grouping:
			g, err := k.grouping(x, at)
			if err != nil && fault == nil {
				fault = err
			}
			return g
		case *expr.Column:
			if !k.relations[x.Relation] {
				return nil
			}
			if k.b.opts.AnyValue && k.mysql() {
				return &expr.Aggregate{Typed: expr.Typed{Of: x.Of, Null: true}, Name: "first", Args: []expr.Expr{x}}
			}
			if fault == nil {
				fault = k.ungrouped(x, at)
			}
		}
		if q := expr.QueryOf(x); q != nil && fault == nil {
			walkQuery(q, func(inner expr.Expr) {
				walk(inner, true, func(y expr.Expr) bool {
					if c, ok := y.(*expr.Column); ok && k.relations[c.Relation] && !k.isKey(c) && fault == nil {
						fault = k.ungrouped(c, at)
					}
					return fault == nil
				})
			})
		}
		return nil
	})
	return checked, fault
}

func (k *block) isKey(e expr.Expr) bool {
	for _, key := range k.keys {
		if same(key, e) {
			return true
		}
	}
	return false
}

func (k *block) ungrouped(c *expr.Column, at parse.Pos) error {
	name := c.Relation.Columns[c.Index].Name
	if !k.sel.Grouped {
		return fail("MISSING_GROUP_BY", at, "the query is one group, since it has an aggregate or HAVING and no GROUP BY, so the column `%s` has no single value", name).
			WithHint("add GROUP BY, or aggregate the column, for example any_value(%s)", name)
	}
	return fail("MISSING_AGGREGATION", at, "the column `%s` is neither in GROUP BY nor inside an aggregate", name).
		WithHint("add it to GROUP BY, or use any_value(%s) if any value of the group will do", name)
}

// grouping checks that GROUPING's arguments are keys; without arguments (grouping_id()) it takes all of them.
func (k *block) grouping(g *expr.Grouping, at parse.Pos) (expr.Expr, error) {
	if !k.sel.Grouped {
		return g, noGrouping(at)
	}
	n := *g
	n.Args = nil
	if len(g.Args) == 0 {
		n.Args = append(n.Args, k.keys...)
		return &n, nil
	}
	for _, a := range g.Args {
		found := false
		for _, key := range k.keys {
			if same(key, a) {
				n.Args, found = append(n.Args, key), true
				break
			}
		}
		if !found {
			var names []string
			for _, key := range k.keys {
				if c, ok := key.(*expr.Column); ok {
					names = append(names, c.Relation.Columns[c.Index].Name)
				}
			}
			return g, fail("GROUPING_COLUMN_MISMATCH", at, "an argument of grouping is not among the keys of GROUP BY (%s)", strings.Join(names, ", "))
		}
	}
	return &n, nil
}
