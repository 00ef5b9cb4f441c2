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
		return b.replaceOn(s, plan, in)
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

// replaceOn joins the new rows with the rows of the table that match some row of the source.
func (b *binding) replaceOn(s *parse.Insert, plan *Plan, in *source) error {
	target, err := b.replacedTable(s)
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
	given := b.build.Read(in.shared[len(in.shared)-1])
	scope := bind.Over(target, path...)
	on, err := b.build.Condition(s.ReplaceOn, scope.Beside(bind.Named(itemsOf(given, 0, in.width), alias...)))
	if err != nil {
		return err
	}
	if err := deterministic(on, "REPLACE ON"); err != nil {
		return err
	}
	matches, err := b.build.Select(given, []bind.Item{{Value: truthValue()}}, on, nil, nil, scope)
	if err != nil {
		return err
	}
	return b.replaceMatching(plan, target, &expr.Exists{Typed: expr.Typed{Of: boolean}, Query: matches}, scope, in.shared)
}

// replacedTable is the scan of the table that INSERT ... REPLACE ON and REPLACE USING take rows from.
func (b *binding) replacedTable(s *parse.Insert) (*expr.Relation, error) {
	if b.table.Source == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "INSERT ... REPLACE needs the snapshot of %s", b.table.shown())
	}
	return b.build.Scan(bind.Resolved{Source: b.table.Source}, b.table.shown(), s.Pos)
}

// replaceMatching makes the change that adds the plan's rows and deletes those of the table for which a condition holds, under queries
// that both of them read.
func (b *binding) replaceMatching(plan *Plan, target *expr.Relation, condition expr.Expr, scope bind.Scope, with []*expr.CTE) error {
	places, hasID, err := place(target)
	if err != nil {
		return err
	}
	items := append([]bind.Item{{Name: "action", Value: actionOf(rewrite.Delete)}}, places...)
	removed := &Changes{Deletes: true, Target: target}
	removed.places(0, hasID)
	if removed.Query, err = b.build.Select(target, items, condition, nil, nil, scope); err != nil {
		return err
	}
	plan.Replaced = Replacing(plan, removed)
	plan.Replaced.Query.With = with
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

// replaceUsing joins the new rows with the rows of the table that are equal to one of them in all key columns; NULL equals nothing. The
// table and the data have each key column, at the same position unless BY NAME matches them.
func (b *binding) replaceUsing(s *parse.Insert, plan *Plan, in *source) error {
	using, err := b.keysUsed(s, in)
	if err != nil {
		return err
	}
	target, err := b.replacedTable(s)
	if err != nil {
		return err
	}
	once := b.build.Shared(plan.Query, "rows")
	added, given := b.build.Read(once), b.build.Read(once)
	plan.Query = b.build.Block(added, itemsOf(added, 0, len(b.schema.Fields)))
	keys := &expr.InQuery{Typed: expr.Typed{Of: boolean, Null: true}}
	var items []bind.Item
	for _, at := range using {
		keys.Operands = append(keys.Operands, columnOf(target, at))
		items = append(items, bind.Item{Name: string(b.schema.Fields[at].Name), Value: columnOf(given, at)})
	}
	keys.Query = b.build.Block(given, items)
	return b.replaceMatching(plan, target, keys, bind.Over(target, b.table.Name...), []*expr.CTE{once})
}

// keysUsed are the columns of the schema that REPLACE USING names.
func (b *binding) keysUsed(s *parse.Insert, in *source) (using []int, err error) {
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
			return nil, fail("UNRESOLVED_INSERT_REPLACE_USING_COLUMN", name.Pos, "the column `%s` of REPLACE USING is not in %s", name.Name, where)
		}
		if own >= 0 && !s.ByName && (own >= len(in.targets) || in.targets[own] != at) {
			return nil, fail("INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", name.Pos, "the column `%s` of REPLACE USING stands at different places in the table and in the data", name.Name).
				WithHint("use INSERT ... BY NAME, or give the columns of the query in the table's order")
		}
		if t := b.schema.Fields[at].Type; t.Holds(protocol.KindMap) || t.Holds(protocol.KindVariant) {
			return nil, fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", name.Pos, "values of type %s cannot be compared, so `%s` cannot stand in REPLACE USING", t, name.Name)
		}
		using = append(using, at)
	}
	return using, nil
}
