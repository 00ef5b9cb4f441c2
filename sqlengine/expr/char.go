package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deltasql/protocol"
)

// CharLength is n where an expression is a column declared CHAR(n), whose values are padded with blanks; 0 for others.
func CharLength(e Expr) int {
	if c, ok := e.(*Column); ok {
		return c.Relation.Columns[c.Index].CharLength
	}
	return 0
}

// charSides brings what is compared with a CHAR column to its length, so that trailing blanks do not matter, as in Spark:
// constants are padded at once, of two CHAR columns the shorter one is. Other expressions compare as they are.
func charSides(left, right Expr) (Expr, Expr) {
	return paddedBeside(right, left), paddedBeside(left, right)
}

// paddedBeside gives e as it is compared with column.
func paddedBeside(column, e Expr) Expr {
	n := CharLength(column)
	if n == 0 {
		return e
	}
	if l, ok := asLiteral(e); ok && l.Of.Kind == protocol.KindString {
		if missing := n - utf8.RuneCountInString(l.Value.Str); missing > 0 {
			return &Literal{Typed: l.Typed, Value: protocol.Value{Kind: protocol.KindString, Str: l.Value.Str + strings.Repeat(" ", missing)}}
		}
		return e
	}
	if own := CharLength(e); own > 0 && own < n {
		return rawOf(e.Type(), fmt.Sprintf("rpad({0}, %d, ' ')", n), e)
	}
	return e
}
