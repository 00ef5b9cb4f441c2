package bind

import (
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// limits binds LIMIT and OFFSET, which become bigint literals.
func (b *binder) limits(out *expr.Query, q *parse.Query, p place) error {
	for _, part := range []struct {
		text   parse.Expr
		target *expr.Expr
		word   string
	}{{q.Limit, &out.Limit, "LIMIT"}, {q.Offset, &out.Offset, "OFFSET"}} {
		if part.text == nil {
			continue
		}
		bound, err := expr.Bind(b.constants(p), part.text)
		if err != nil {
			return err
		}
		value, err := b.fold(bound, part.text.At())
		if err != nil {
			return located(err, part.text.At())
		}
		n, ok := wholeNumber(value)
		if !ok {
			return fail("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", part.text.At(), "%s needs a whole number, not a value of type %s", part.word, bound.Type())
		}
		if n < 0 {
			return fail("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", part.text.At(), "%s cannot be negative, but is %d", part.word, n)
		}
		*part.target = &expr.Literal{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindLong}}, Value: protocol.Value{Kind: protocol.KindLong, Int: n}}
	}
	return nil
}

// wholeNumber reads an integer; a whole decimal beyond bigint (MySQL's 18446744073709551615) counts as the largest bigint.
func wholeNumber(v protocol.Value) (int64, bool) {
	switch {
	case v.Null:
		return 0, false
	case v.Kind >= protocol.KindByte && v.Kind <= protocol.KindLong:
		return v.Int, true
	case v.Kind == protocol.KindDecimal && v.Scale == 0:
		if n, ok := v.Dec.Int64(); ok {
			return n, true
		}
		if v.Dec.Sign() > 0 {
			return 1<<63 - 1, true
		}
		return -1, true
	}
	return 0, false
}
