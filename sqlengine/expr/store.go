package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// Convert is the cast of an expression by the dialect's rules, as CAST writes it; try gives NULL where the value does not convert.
func Convert(e Expr, to protocol.DataType, ctx *Context, try bool) (Expr, error) {
	return convert(e, to, ctx, try)
}

// Raise fails at run time with an error of a class (see DuckError). Its parts are texts and string expressions; a NULL shows as null.
// It has no value and so fits any type: it may only stand as a result of a CASE or an operand of COALESCE, whose other results have
// the type given.
func Raise(of protocol.DataType, class protocol.Class, parts ...any) Expr {
	raise := &Raw{Typed: Typed{of, true}}
	texts := []string{quoteText("[" + string(class) + "] ")}
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			texts = append(texts, quoteText(part))
		case Expr:
			texts = append(texts, fmt.Sprintf("coalesce({%d}, 'null')", len(raise.Args)))
			raise.Args = append(raise.Args, part)
		}
	}
	raise.SQL = "error(concat(" + strings.Join(texts, ", ") + "))"
	return raise
}

// Shown is a value as messages show it. What has no text form shows as its type.
func Shown(e Expr, ctx *Context) Expr {
	if e.Type().Kind == protocol.KindString {
		return e
	}
	text, err := convert(e, tString, ctx, false)
	if err != nil {
		return rawNull(tString, "CASE WHEN {0} IS NOT NULL THEN "+quoteText(e.Type().String())+" END", e)
	}
	return text
}

// Fallible tells whether the cast between two scalar types fails for some values.
func Fallible(from, to protocol.DataType) bool {
	switch {
	case from.Equal(to), from.Kind == protocol.KindVoid, to.Kind == protocol.KindString, to.Kind == protocol.KindVariant:
		return false
	case from.Kind == protocol.KindString:
		return to.Kind != protocol.KindBinary
	case from.Kind == protocol.KindBoolean:
		return !isNumeric(to) || to.Kind == protocol.KindDecimal
	case to.Kind == protocol.KindBoolean:
		return !isNumeric(from)
	case isIntegral(from) && isIntegral(to):
		return to.Kind < from.Kind
	case isNumeric(from) && to.Kind == protocol.KindDouble:
		return false
	case to.Kind == protocol.KindFloat && isNumeric(from):
		return from.Kind == protocol.KindDouble
	case isIntegral(from) && to.Kind == protocol.KindDecimal:
		return to.Precision-to.Scale < integerDecimal(from).Precision
	case from.Kind == protocol.KindDecimal && to.Kind == protocol.KindDecimal:
		whole, room := from.Precision-from.Scale, to.Precision-to.Scale
		return room < whole || room == whole && to.Scale < from.Scale
	case isDatetime(from) && isDatetime(to):
		return false
	case from.Kind == protocol.KindTimestamp:
		return to.Kind != protocol.KindLong && !isFloating(to)
	}
	return true
}
