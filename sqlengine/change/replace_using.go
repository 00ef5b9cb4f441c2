package change

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// removedUsing binds the rows of the table that INSERT ... REPLACE USING deletes: those that are equal in all key columns to a new
// row. The statement's rows are computed a second time for that, so its source must give the same rows again.
func removedUsing(ctx context.Context, s *parse.Insert, t Table, opts Options, plan *Plan) (*Changes, error) {
	if !plan.Deterministic {
		return nil, fail("UNSUPPORTED_FEATURE", s.Pos, "the data of INSERT ... REPLACE USING must be deterministic, since it is read twice").
			WithHint("store the data in a table first")
	}
	again := *s
	again.Mode, again.ReplaceUsing = parse.InsertInto, nil
	rows, err := Insert(ctx, &again, t, opts)
	if err != nil {
		return nil, err
	}
	b := newBinding(ctx, t, opts, "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
	if t.Source == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "REPLACE USING needs the snapshot of %s", t.shown())
	}
	target, err := b.build.Scan(bind.Resolved{Source: t.Source}, t.shown(), s.Pos)
	if err != nil {
		return nil, err
	}
	new := b.build.Derived(rows.Query, "")
	keys := &expr.InQuery{Typed: expr.Typed{Of: boolean, Null: true}}
	var items []bind.Item
	for _, at := range plan.Using {
		keys.Operands = append(keys.Operands, columnOf(target, at))
		items = append(items, bind.Item{Name: string(b.schema.Fields[at].Name), Value: columnOf(new, at)})
	}
	keys.Query = b.build.Block(new, items)
	places, hasID, err := place(target)
	if err != nil {
		return nil, err
	}
	places = append([]bind.Item{{Name: "action", Value: actionOf(rewrite.Delete)}}, places...)
	removed := &Changes{Deletes: true, Target: target}
	removed.places(0, hasID)
	if removed.Query, err = b.build.Select(target, places, keys, nil, nil, bind.Over(target, t.Name...)); err != nil {
		return nil, err
	}
	b.build.Finish(removed.Query)
	return removed, nil
}
