package change

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// Delete binds DELETE, of one table also in MySQL's forms with joins.
func Delete(ctx context.Context, s *parse.Delete, t Table, opts Options) (out *Changes, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
	with, err := b.build.With(s.With, s.Recursive)
	if err != nil {
		return nil, err
	}
	from, scope, target, err := b.from(s.From)
	if err != nil {
		return nil, err
	}
	if err := b.unordered(target, s.OrderBy, s.Limit, s.Pos); err != nil {
		return nil, err
	}
	out = &Changes{Deletes: true, Target: target, Simple: target != nil && len(s.OrderBy) == 0 && s.Limit == nil}
	if len(s.Targets) > 1 {
		return nil, fail("DELTASQL_MULTI_TABLE_CHANGE", s.Pos, "one DELETE can take rows from one table only")
	}
	if len(s.Targets) == 1 {
		found, ok := scope.Relation(s.Targets[0])
		if !ok || found.Kind != expr.RelScan {
			return nil, fail("DELTASQL_UNKNOWN_TABLE", s.Targets[0][0].Pos, "unknown table %s in a DELETE of several", spelled(s.Targets[0]))
		}
		out.Target = found
	}
	if out.Target == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "a DELETE without a table")
	}
	where, err := b.where(s.Where, scope)
	if err != nil {
		return nil, err
	}
	if out.Simple {
		out.Where = where
	}
	items, hasID, err := place(out.Target)
	if err != nil {
		return nil, err
	}
	if target == nil { // the side of a join that may be missing
		where = both(where, present(items[0].Value))
	}
	items = append([]bind.Item{{Name: "action", Value: actionOf(rewrite.Delete)}}, items...)
	if out.Query, err = b.build.Select(from, items, where, s.OrderBy, s.Limit, scope); err != nil {
		return nil, err
	}
	out.Query.With = with
	out.places(0, hasID)
	b.build.Finish(out.Query)
	return out, nil
}

// places says where the columns behind the values stand.
func (c *Changes) places(values int, hasID bool) {
	c.Values, c.Action, c.File, c.Row, c.RowID = values, values, values+1, values+2, -1
	if hasID {
		c.RowID = values + 3
	}
}
