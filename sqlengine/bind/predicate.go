package bind

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/stats"
)

// Skipping is what Predicate needs to know of a scan and its session.
type Skipping struct {
	Context *expr.Context
	// Leaf names a column of the scan's relation, or a member of a struct below it, for statistics; false: it has none.
	Leaf func(column int, path []protocol.LogicalName) (stats.Leaf, bool)
	// Fold evaluates an expression without columns; nil leaves those that are no literals to Maybe.
	Fold func(ctx context.Context, e expr.Expr) (protocol.Value, error)
	// Text prints a condition for EXPLAIN; nil prints nothing.
	Text func(e expr.Expr) string
}

// Predicate translates the filters of a scan for data skipping. Comparisons of a leaf with a constant, lists, prefixes and tests
// for NULL are understood, and so is a column under a cast that keeps order and loses nothing; the rest is Maybe.
func Predicate(ctx context.Context, filters []expr.Expr, s Skipping) stats.Predicate {
	t := translator{ctx: ctx, Skipping: s}
	all := stats.And{}
	for _, f := range filters {
		all = append(all, t.condition(f))
	}
	return all
}

type translator struct {
	ctx context.Context
	Skipping
}

func (t translator) maybe(e expr.Expr) stats.Predicate {
	if t.Text == nil {
		return stats.Maybe{}
	}
	return stats.Maybe{Text: t.Text(e)}
}

func (t translator) condition(e expr.Expr) stats.Predicate {
	switch e := e.(type) {
	case *expr.Literal:
		switch {
		case e.Value.Null:
			return stats.Null{}
		case e.Of.Kind == protocol.KindBoolean:
			return stats.Const(e.Value.Int != 0)
		}
	case *expr.Logic:
		members := make([]stats.Predicate, len(e.Operands))
		for i, x := range e.Operands {
			members[i] = t.condition(x)
		}
		if e.Or {
			return stats.Or(members)
		}
		return stats.And(members)
	case *expr.Not:
		return stats.Not{Of: t.condition(e.Operand)}
	case *expr.IsNull:
		if leaf, ok := t.leaf(e.Operand); ok {
			return stats.IsNull{Leaf: leaf}
		}
	case *expr.Column, *expr.Field:
		if leaf, ok := t.leaf(e); ok && leaf.Type.Kind == protocol.KindBoolean {
			return stats.Compare{Leaf: leaf, Op: stats.Equal, Value: protocol.Value{Kind: protocol.KindBoolean, Int: 1}}
		}
	case *expr.Compare:
		return t.compare(e)
	case *expr.In:
		return t.in(e)
	case *expr.Like:
		return t.like(e)
	}
	return t.maybe(e)
}

var operators = map[string]stats.Op{
	"=": stats.Equal, "<>": stats.NotEqual, "<": stats.Less, "<=": stats.LessOrEqual, ">": stats.Greater, ">=": stats.GreaterOrEqual,
	"IS NOT DISTINCT FROM": stats.NullSafeEqual, "IS DISTINCT FROM": stats.NullSafeEqual,
}

// mirrored is the operator with its sides exchanged.
var mirrored = map[stats.Op]stats.Op{
	stats.Equal: stats.Equal, stats.NotEqual: stats.NotEqual, stats.NullSafeEqual: stats.NullSafeEqual,
	stats.Less: stats.Greater, stats.LessOrEqual: stats.GreaterOrEqual, stats.Greater: stats.Less, stats.GreaterOrEqual: stats.LessOrEqual,
}

func (t translator) compare(e *expr.Compare) stats.Predicate {
	op, known := operators[e.Op]
	left, right := e.Left, e.Right
	if hasColumn(right) {
		left, right, op = right, left, mirrored[op]
	}
	leaf, ok := t.leaf(left)
	if !ok || !known {
		return t.maybe(e)
	}
	value, ok := t.value(right, leaf)
	if !ok {
		return t.maybe(e)
	}
	out := stats.Predicate(stats.Compare{Leaf: leaf, Op: op, Value: value})
	if e.Op == "IS DISTINCT FROM" {
		return stats.Not{Of: out}
	}
	return out
}

func (t translator) in(e *expr.In) stats.Predicate {
	leaf, ok := t.leaf(e.Operand)
	if !ok {
		return t.maybe(e)
	}
	values := make([]protocol.Value, len(e.List))
	for i, x := range e.List {
		if values[i], ok = t.value(x, leaf); !ok {
			return t.maybe(e)
		}
	}
	return stats.InList{Leaf: leaf, Values: values}
}

// like understands a pattern that begins with text: 'abc%' is that prefix, 'abc%d' has it, 'abc' is an equality.
func (t translator) like(e *expr.Like) stats.Predicate {
	pattern, constant := e.Pattern.(*expr.Literal)
	leaf, ok := t.leaf(e.Operand)
	if !ok || !constant || pattern.Value.Null || e.CaseFold || leaf.Type.Kind != protocol.KindString || !t.binary(leaf) {
		return t.maybe(e)
	}
	var prefix strings.Builder
	text := []rune(pattern.Value.Str)
	i := 0
	for i < len(text) && text[i] != '%' && text[i] != '_' {
		if e.Escape != 0 && text[i] == e.Escape {
			if i++; i == len(text) {
				return t.maybe(e)
			}
		}
		prefix.WriteRune(text[i])
		i++
	}
	start := stats.Prefix{Leaf: leaf, Text: prefix.String()}
	switch {
	case i == len(text):
		return stats.Compare{Leaf: leaf, Op: stats.Equal, Value: protocol.Value{Kind: protocol.KindString, Str: prefix.String()}}
	case strings.Trim(string(text[i:]), "%") == "":
		return start
	case prefix.Len() == 0:
		return t.maybe(e)
	}
	return stats.And{start, t.maybe(e)}
}

// value is a constant operand that can be compared with a leaf: of its type, or a number beside a number.
func (t translator) value(e expr.Expr, leaf stats.Leaf) (protocol.Value, bool) {
	if hasColumn(e) || !pure(e) {
		return protocol.Value{}, false
	}
	var value protocol.Value
	if l, ok := e.(*expr.Literal); ok {
		value = l.Value
	} else {
		if t.Fold == nil {
			return value, false
		}
		var err error
		if value, err = t.Fold(t.ctx, e); err != nil {
			return value, false
		}
	}
	of := e.Type()
	value.Kind = of.Kind
	if value.Null {
		return value, true
	}
	if of.Kind != leaf.Type.Kind && !(number(of.Kind) && number(leaf.Type.Kind)) {
		return value, false
	}
	return value, t.binary(leaf)
}

// binary tells whether values of a leaf compare by their bytes: text under a collation does not.
func (t translator) binary(leaf stats.Leaf) bool {
	return leaf.Type.Kind != protocol.KindString || leaf.Type.Collation == "" && !(t.Context != nil && t.Context.MySQLCompare)
}

func number(k protocol.Kind) bool { return k >= protocol.KindByte && k <= protocol.KindDecimal }

func hasColumn(e expr.Expr) bool {
	return contains(e, func(x expr.Expr) bool { _, ok := x.(*expr.Column); return ok })
}

// leaf is the column or struct member that an expression reads, looking through casts that keep order and lose nothing.
func (t translator) leaf(e expr.Expr) (stats.Leaf, bool) {
	for {
		c, ok := e.(*expr.Cast)
		if !ok || c.Try || !lossless(c.Operand.Type(), c.Of) {
			break
		}
		e = c.Operand
	}
	var path []protocol.LogicalName
	for {
		f, ok := e.(*expr.Field)
		if !ok {
			break
		}
		path = append([]protocol.LogicalName{f.Name}, path...)
		e = f.Operand
	}
	c, ok := e.(*expr.Column)
	if !ok || c.Relation.Kind != expr.RelScan || t.Leaf == nil {
		return stats.Leaf{}, false
	}
	return t.Leaf(c.Index, path)
}

// lossless tells whether a cast maps values one to one and keeps their order: widening of integers, integers to decimals (one that
// does not fit fails), small integers and floats to double, decimals to a scale at least as large.
func lossless(from, to protocol.DataType) bool {
	integer := func(k protocol.Kind) bool { return k >= protocol.KindByte && k <= protocol.KindLong }
	switch {
	case integer(from.Kind) && integer(to.Kind):
		return to.Kind >= from.Kind
	case integer(from.Kind) && to.Kind == protocol.KindDecimal:
		return true
	case integer(from.Kind) && to.Kind == protocol.KindDouble:
		return from.Kind != protocol.KindLong
	case from.Kind == protocol.KindFloat && to.Kind == protocol.KindDouble:
		return true
	case from.Kind == protocol.KindDecimal && to.Kind == protocol.KindDecimal:
		return to.Scale >= from.Scale
	}
	return from.Equal(to) && from.Collation == to.Collation
}
