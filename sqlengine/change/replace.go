package change

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// replaced binds what an INSERT takes away: PARTITION of INSERT OVERWRITE, REPLACE WHERE, REPLACE USING.
func (b *binding) replaced(s *parse.Insert, plan *Plan, in *source) error {
	switch {
	case s.ReplaceWhere != nil:
		return b.replaceWhere(s, plan)
	case s.ReplaceUsing != nil:
		return b.replaceUsing(s, plan, in)
	case s.ReplaceOn != nil:
		return b.replaceOn(s, plan)
	}
	return nil
}

// replaceWhere holds the new rows to the condition. The rows that it takes away are those of a DELETE by it.
func (b *binding) replaceWhere(s *parse.Insert, plan *Plan) error {
	text := strings.TrimSpace(s.ReplaceText)
	own, err := b.build.Condition(s.ReplaceWhere, b.columns(plan.values))
	if err != nil {
		return err
	}
	if err := deterministic(own, "REPLACE WHERE"); err != nil {
		return err
	}
	b.check(untrue(own), b.failure("DELTA_REPLACE_WHERE_MISMATCH", b.withValues("Written data does not conform to the condition '"+text+"' of REPLACE WHERE. Row with values:", own)...))
	plan.Query = b.checked(plan.values)
	return nil
}

// replaceOn binds the rows of the table that match some row of the source. The source runs a second time for that, so it must give the
// same rows again.
func (b *binding) replaceOn(s *parse.Insert, plan *Plan) error {
	if !plan.Deterministic {
		return fail("UNSUPPORTED_FEATURE", s.Pos, "the data of INSERT ... REPLACE ON must be deterministic, since it is read twice").
			WithHint("store the data in a table first")
	}
	if b.table.Source == nil {
		return protocol.NewError(protocol.ClassInternal, "REPLACE ON needs the snapshot of %s", b.table.shown())
	}
	target, err := b.build.Scan(bind.Resolved{Source: b.table.Source}, b.table.shown(), s.Pos)
	if err != nil {
		return err
	}
	again, err := b.source(s)
	if err != nil {
		return err
	}
	path := b.table.Name
	if s.Alias != nil {
		path = []string{s.Alias.Name}
	}
	var alias []string
	if s.QueryAlias != nil {
		alias = []string{s.QueryAlias.Name}
	}
	scope := bind.Over(target, path...)
	on, err := b.build.Condition(s.ReplaceOn, scope.Beside(bind.Named(itemsOf(again.relation, 0, again.width), alias...)))
	if err != nil {
		return err
	}
	if err := deterministic(on, "REPLACE ON"); err != nil {
		return err
	}
	matches, err := b.build.Select(again.relation, []bind.Item{{Value: truthValue()}}, on, nil, nil, scope)
	if err != nil {
		return err
	}
	places, hasID, err := place(target)
	if err != nil {
		return err
	}
	items := append([]bind.Item{{Name: "action", Value: actionOf(rewrite.Delete)}}, places...)
	plan.Removed = &Changes{Deletes: true, Target: target}
	plan.Removed.places(0, hasID)
	if plan.Removed.Query, err = b.build.Select(target, items, &expr.Exists{Typed: expr.Typed{Of: boolean}, Query: matches}, nil, nil, scope); err != nil {
		return err
	}
	plan.Removed.Query.With = again.with
	b.build.Finish(plan.Removed.Query)
	return nil
}

// deterministic refuses conditions that would give another answer when asked again, also in their subqueries.
func deterministic(e expr.Expr, where string) error {
	volatile := bind.Volatile(e)
	expr.Walk(e, func(x expr.Expr) bool {
		if q := expr.QueryOf(x); q != nil {
			volatile = volatile || bind.VolatileQuery(q)
		}
		return !volatile
	})
	if volatile {
		return protocol.NewError("INVALID_NON_DETERMINISTIC_EXPRESSIONS", "the condition of %s must be deterministic", where)
	}
	return nil
}

// replaceUsing finds the key columns: the table and the data have each of them, at the same position unless BY NAME matches them.
func (b *binding) replaceUsing(s *parse.Insert, plan *Plan, in *source) error {
	for _, name := range s.ReplaceUsing {
		at := b.schema.Lookup(name.Name)
		own := -1
		for i := range in.width {
			if strings.EqualFold(in.query.Columns[i].Name, name.Name) {
				own = i
			}
		}
		if at < 0 || own < 0 && (s.ByName || !in.listed) {
			where := "the table"
			if at >= 0 {
				where = "the data"
			}
			return fail("UNRESOLVED_INSERT_REPLACE_USING_COLUMN", name.Pos, "the column `%s` of REPLACE USING is not in %s", name.Name, where)
		}
		if own >= 0 && !s.ByName && (own >= len(in.targets) || in.targets[own] != at) {
			return fail("INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", name.Pos, "the column `%s` of REPLACE USING stands at different places in the table and in the data", name.Name).
				WithHint("use INSERT ... BY NAME, or give the columns of the query in the table's order")
		}
		if t := b.schema.Fields[at].Type; t.Holds(protocol.KindMap) || t.Holds(protocol.KindVariant) {
			return fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", name.Pos, "values of type %s cannot be compared, so `%s` cannot stand in REPLACE USING", t, name.Name)
		}
		plan.Using = append(plan.Using, at)
	}
	return nil
}
