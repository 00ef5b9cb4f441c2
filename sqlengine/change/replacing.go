package change

import (
	"strconv"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/txn/rewrite"
)

// Replacing joins the rows that an INSERT adds with those that it takes away into one change, for tables that feed changes: where the
// rows that go need change files, the new ones must stand in them as well.
func Replacing(plan *Plan, removed *Changes) *Changes {
	schema := plan.Query.Columns
	out := &Changes{
		Deletes: true, Inserts: true, Done: plan.Done, Identity: plan.Identity, Target: removed.Target,
	}
	out.places(len(schema), removed.RowID >= 0)
	side := func(q *expr.Query, value func(r *expr.Relation, column int) expr.Expr) *expr.Select {
		r := &expr.Relation{ID: 1, Kind: expr.RelQuery, Name: "", Columns: q.Columns, Query: q}
		block := &expr.Select{From: r}
		for column := range out.width() {
			block.Items = append(block.Items, value(r, column))
		}
		block.Visible = len(block.Items)
		return block
	}
	long := protocol.DataType{Kind: protocol.KindLong}
	added := side(plan.Query, func(r *expr.Relation, column int) expr.Expr {
		switch {
		case column < len(schema):
			return columnOf(r, column)
		case column == out.Action:
			return actionOf(rewrite.Insert)
		}
		return expr.Null(long)
	})
	gone := side(removed.Query, func(r *expr.Relation, column int) expr.Expr {
		switch column {
		case out.Action:
			return columnOf(r, removed.Action)
		case out.File:
			return columnOf(r, removed.File)
		case out.Row:
			return columnOf(r, removed.Row)
		case out.RowID:
			return columnOf(r, removed.RowID)
		}
		return expr.Null(schema[column].Type)
	})
	out.Query = &expr.Query{Body: &expr.SetOperation{Op: "UNION ALL", Left: added, Right: gone}}
	for column, item := range added.Items {
		name := strconv.Itoa(column)
		out.Query.Columns = append(out.Query.Columns, expr.OutputColumn{Name: name, Out: "c" + name, Type: item.Type(), Nullable: true})
	}
	return out
}

// width is how many columns the query has.
func (c *Changes) width() int {
	if c.RowID >= 0 {
		return c.RowID + 1
	}
	return c.Row + 1
}
