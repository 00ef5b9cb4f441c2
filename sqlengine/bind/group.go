package bind

import (
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// groupBy resolves GROUP BY into grouping sets: ordinals, aliases (behind columns), ALL, ROLLUP, CUBE and GROUPING SETS.
func (k *block) groupBy() error {
	g := k.ast.GroupBy
	if g == nil {
		return nil
	}
	k.aggregated, k.sel.Grouped = true, true
	if g.All {
		return k.groupByAll()
	}
	sets := []expr.GroupSet{{}}
	var plain [][]expr.Expr
	for _, el := range g.Elements {
		if el.Kind == parse.GroupExpr {
			key, err := k.groupKey(el.Expr)
			if err != nil {
				return err
			}
			if (g.WithRollup || g.WithCube) && !isTuple(el.Expr) {
				plain = append(plain, key)
				continue
			}
			if sets, err = k.cross(sets, []expr.GroupSet{key}, el.Expr.At()); err != nil {
				return err
			}
			continue
		}
		parts, at, err := k.groupParts(el)
		if err != nil {
			return err
		}
		var more []expr.GroupSet
		switch el.Kind {
		case parse.GroupRollup:
			more = rollup(parts)
		case parse.GroupCube:
			if more, err = k.cube(parts, at); err != nil {
				return err
			}
		default:
			for _, p := range parts {
				more = append(more, p)
			}
		}
		if sets, err = k.cross(sets, more, at); err != nil {
			return err
		}
	}
	if plain != nil {
		more := rollup(plain)
		if g.WithCube {
			var err error
			if more, err = k.cube(plain, k.ast.Pos); err != nil {
				return err
			}
		}
		var err error
		if sets, err = k.cross(sets, more, k.ast.Pos); err != nil {
			return err
		}
	}
	k.sel.GroupBy = sets
	return nil
}

func isTuple(x parse.Expr) bool { _, ok := x.(*parse.Tuple); return ok }

func (k *block) groupParts(el parse.GroupElement) (parts [][]expr.Expr, at parse.Pos, err error) {
	at = k.ast.Pos
	for _, set := range el.Sets {
		part := []expr.Expr{}
		for _, x := range set {
			at = x.At()
			key, err := k.groupKey(x)
			if err != nil {
				return nil, at, err
			}
			part = append(part, key...)
		}
		parts = append(parts, part)
	}
	return parts, at, nil
}

// groupKey binds one key; a tuple stands for its members.
func (k *block) groupKey(x parse.Expr) ([]expr.Expr, error) {
	if t, ok := x.(*parse.Tuple); ok {
		var keys []expr.Expr
		for _, member := range t.Items {
			key, err := k.groupKey(member)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key...)
		}
		return keys, nil
	}
	key, err := k.ordinal(x, "GROUP_BY_POS_OUT_OF_RANGE", "GROUP BY")
	if err != nil {
		return nil, err
	}
	_, name := x.(*parse.Column)
	byItem := key != nil || name
	if key == nil {
		if key, err = expr.Bind(k.env(clauseGroup), x); err != nil {
			return nil, err
		}
	}
	if contains(key, isAggregate) {
		if byItem {
			return nil, fail("GROUP_BY_POS_AGGREGATE", x.At(), "GROUP BY refers to a select item that contains an aggregate")
		}
		return nil, fail("GROUP_BY_AGGREGATE", x.At(), "an aggregate cannot stand in GROUP BY")
	}
	if contains(key, isWindow) {
		return nil, fail("DELTASQL_MISPLACED_WINDOW", x.At(), "a window function cannot stand in GROUP BY")
	}
	if !groupable(key.Type()) {
		return nil, expr.WithPart(fail("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", x.At(), "GROUP BY cannot use a value of type %s", key.Type()), key.Type())
	}
	for _, known := range k.keys {
		if same(known, key) {
			return []expr.Expr{known}, nil
		}
	}
	k.keys = append(k.keys, key)
	return []expr.Expr{key}, nil
}

func groupable(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindVariant, protocol.KindFile:
		return false
	case protocol.KindArray:
		return groupable(*t.Element)
	case protocol.KindMap:
		return groupable(*t.Key) && groupable(*t.Value)
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if !groupable(f.Type) {
				return false
			}
		}
	}
	return true
}

// groupByAll takes every item without an aggregate as a key.
func (k *block) groupByAll() error {
	set := expr.GroupSet{}
	for _, it := range k.items {
		if contains(it.value, isAggregate) || contains(it.value, isWindow) {
			continue
		}
		if _, ok := it.value.(*expr.Literal); ok {
			continue
		}
		if !groupable(it.value.Type()) {
			return expr.WithPart(fail("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", it.at, "GROUP BY ALL cannot use `%s` of type %s", it.name, it.value.Type()), it.value.Type())
		}
		set = append(set, it.value)
		k.keys = append(k.keys, it.value)
	}
	if len(set) == 0 {
		k.sel.Grouped = false // one group, as without GROUP BY
		return nil
	}
	k.sel.GroupBy = []expr.GroupSet{set}
	return nil
}

// cross combines the grouping sets of two elements: every set of one with every set of the other.
func (k *block) cross(left, right []expr.GroupSet, at parse.Pos) ([]expr.GroupSet, error) {
	if len(left)*len(right) > maxSets {
		return nil, fail("DELTASQL_LIMIT_EXCEEDED", at, "GROUP BY makes more than %d grouping sets", maxSets)
	}
	var out []expr.GroupSet
	for _, l := range left {
		for _, r := range right {
			set := append(expr.GroupSet{}, l...)
			for _, key := range r {
				if !member(set, key) {
					set = append(set, key)
				}
			}
			out = append(out, set)
		}
	}
	return out, nil
}

func member(list []expr.Expr, e expr.Expr) bool {
	for _, x := range list {
		if x == e {
			return true
		}
	}
	return false
}

// rollup gives (a, b), (a), ().
func rollup(parts [][]expr.Expr) []expr.GroupSet {
	var sets []expr.GroupSet
	for n := len(parts); n >= 0; n-- {
		set := expr.GroupSet{}
		for _, p := range parts[:n] {
			set = append(set, p...)
		}
		sets = append(sets, set)
	}
	return sets
}

// cube gives every subset.
func (k *block) cube(parts [][]expr.Expr, at parse.Pos) ([]expr.GroupSet, error) {
	if len(parts) > 12 {
		return nil, fail("DELTASQL_LIMIT_EXCEEDED", at, "CUBE takes at most 12 columns")
	}
	var sets []expr.GroupSet
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		set := expr.GroupSet{}
		for i, p := range parts {
			if mask&(1<<(len(parts)-1-i)) != 0 {
				set = append(set, p...)
			}
		}
		sets = append(sets, set)
	}
	return sets, nil
}
