package expr

import (
	"math"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// constant makes a literal node.
func constant(t protocol.DataType, v protocol.Value) *Literal {
	v.Kind = t.Kind
	if t.Kind == protocol.KindDecimal {
		v.Scale = t.Scale
	}
	return &Literal{Typed: Typed{t, v.Null}, Value: v}
}

// Null is the typed NULL.
func Null(t protocol.DataType) *Literal { return constant(t, protocol.Value{Null: true}) }

func textLiteral(s string) *Literal { return constant(tString, protocol.Value{Str: s}) }

func intLiteral(n int64) *Literal {
	if n < math.MinInt32 || n > math.MaxInt32 {
		return constant(tLong, protocol.Value{Int: n})
	}
	return constant(tInt, protocol.Value{Int: n})
}

func boolLiteral(b bool) *Literal {
	if b {
		return constant(tBoolean, protocol.Value{Int: 1})
	}
	return constant(tBoolean, protocol.Value{})
}

// asLiteral gives the literal that an expression is, if it is one with a value.
func asLiteral(e Expr) (*Literal, bool) {
	l, ok := e.(*Literal)
	if !ok || l.Value.Null {
		return nil, false
	}
	return l, true
}

func isNullLiteral(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Value.Null
}

// constantText is the value of a string literal.
func constantText(e Expr) (string, bool) {
	l, ok := asLiteral(e)
	if !ok || l.Of.Kind != protocol.KindString {
		return "", false
	}
	return l.Value.Str, true
}

// constantInt is the value of an integer literal.
func constantInt(e Expr) (int64, bool) {
	l, ok := asLiteral(e)
	if !ok {
		return 0, false
	}
	if isIntegral(l.Of) {
		return l.Value.Int, true
	}
	if l.Of.Kind == protocol.KindDecimal && l.Of.Scale == 0 {
		return l.Value.Dec.Int64()
	}
	return 0, false
}

// bindLiteral types a literal: an integer is int, bigint if it is large and decimal beyond; a number with a point is decimal
// with the digits written; one with an exponent is double (Spark reads 1e0 as double as well).
func (b *binder) bindLiteral(l *parse.Literal, negative bool) (Expr, error) {
	text := l.Text
	if negative {
		text = "-" + text
	}
	switch l.Kind {
	case parse.NullLiteral:
		return Null(tVoid), nil
	case parse.TrueLiteral:
		return boolLiteral(true), nil
	case parse.FalseLiteral:
		return boolLiteral(false), nil
	case parse.IntegerLiteral:
		return b.integer(l, text)
	case parse.DecimalLiteral:
		return b.decimal(l, text)
	case parse.DoubleLiteral:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && (math.IsInf(f, 0) || f == 0) || err != nil && !strings.Contains(err.Error(), "range") {
			return nil, fail(l.At(), "INVALID_NUMERIC_LITERAL_RANGE", "the number %s is outside the range of double", text)
		}
		if strings.EqualFold(l.Suffix, "F") {
			return constant(tFloat, protocol.Value{Float: float64(float32(f))}), nil
		}
		return constant(tDouble, protocol.Value{Float: f}), nil
	case parse.StringLiteral:
		return textLiteral(l.Text), nil
	case parse.BinaryLiteral, parse.BitLiteral:
		return constant(tBinary, protocol.Value{Str: l.Text}), nil
	case parse.DateLiteral:
		if days, ok := parseDate(l.Text); ok {
			return constant(tDate, protocol.Value{Int: days}), nil
		}
		return nil, fail(l.At(), "INVALID_TYPED_LITERAL", "%q is not a DATE", l.Text).WithHint("write it as DATE '2024-12-31'")
	case parse.TimeLiteral:
		if micros, ok := parseTime(l.Text); ok {
			return constant(tDayTime, protocol.Value{Int: micros}), nil
		}
		return nil, fail(l.At(), "INVALID_TYPED_LITERAL", "%q is not a TIME", l.Text)
	}
	return b.timestamp(l)
}

func (b *binder) timestamp(l *parse.Literal) (Expr, error) {
	ntz := l.Kind == parse.TimestampNTZLiteral || l.Kind == parse.TimestampLiteral && b.ctx.Dialect == MySQL
	zone := b.ctx.location()
	if ntz {
		zone = nil
	}
	micros, _, ok := parseTimestamp(l.Text, zone)
	if !ok {
		return nil, fail(l.At(), "INVALID_TYPED_LITERAL", "%q is not a TIMESTAMP", l.Text).
			WithHint("write it as TIMESTAMP '2024-12-31 23:59:59'")
	}
	if ntz {
		return constant(tNTZ, protocol.Value{Int: micros}), nil
	}
	return constant(tTimestamp, protocol.Value{Int: micros}), nil
}

func (b *binder) integer(l *parse.Literal, text string) (Expr, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	limits := map[string]struct {
		t      protocol.DataType
		lo, hi int64
	}{
		"Y": {tByte, math.MinInt8, math.MaxInt8}, "S": {tShort, math.MinInt16, math.MaxInt16}, "L": {tLong, math.MinInt64, math.MaxInt64},
	}
	if limit, ok := limits[strings.ToUpper(l.Suffix)]; ok {
		if err != nil || n < limit.lo || n > limit.hi {
			return nil, fail(l.At(), "INVALID_NUMERIC_LITERAL_RANGE", "the number %s is outside the range of %s", text, limit.t)
		}
		return constant(limit.t, protocol.Value{Int: n}), nil
	}
	if err != nil {
		if _, err := strconv.ParseUint(text, 10, 64); err == nil && b.ctx.Dialect == MySQL {
			_, v, _ := decimalText(text)
			return constant(tUnsigned, protocol.Value{Dec: v}), nil
		}
		return b.decimal(l, text)
	}
	return intLiteral(n), nil
}

func (b *binder) decimal(l *parse.Literal, text string) (Expr, error) {
	t, v, ok := decimalText(text)
	if !ok {
		return nil, fail(l.At(), "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "the number %s needs more than %d digits", text, maxPrecision)
	}
	return constant(t, protocol.Value{Dec: v, Scale: t.Scale}), nil
}

// decimalText reads decimal text with the precision and scale it shows (0.50 is decimal(2,2), 1e-3 is decimal(3,3)).
func decimalText(text string) (protocol.DataType, protocol.Int128, bool) {
	mantissa, exponent := strings.ToLower(text), 0
	if at := strings.IndexByte(mantissa, 'e'); at >= 0 {
		n, err := strconv.Atoi(mantissa[at+1:])
		if err != nil || n > maxPrecision || n < -maxPrecision {
			return tVoid, protocol.Int128{}, false
		}
		mantissa, exponent = mantissa[:at], n
	}
	_, fraction, _ := strings.Cut(mantissa, ".")
	scale := max(len(fraction)-exponent, 0)
	v, ok := protocol.ParseInt128Decimal(text, scale)
	precision := max(v.Digits(), scale, 1)
	if !ok || precision > maxPrecision {
		return tVoid, v, false
	}
	return decimalOf(precision, scale), v, true
}

// parseTime reads MySQL's TIME text: [-][d ]h:m[:s[.f]], up to 838:59:59, as microseconds.
func parseTime(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	days := int64(0)
	if day, rest, ok := strings.Cut(text, " "); ok {
		n, err := strconv.ParseInt(day, 10, 32)
		if err != nil {
			return 0, false
		}
		days, text = n, rest
	}
	clock, fraction, _ := strings.Cut(text, ".")
	parts := strings.Split(clock, ":")
	if len(parts) == 1 && days == 0 { // hhmmss as digits
		if len(clock) > 7 || clock == "" {
			return 0, false
		}
		padded := strings.Repeat("0", max(0, 6-len(clock))) + clock
		parts = []string{padded[:len(padded)-4], padded[len(padded)-4 : len(padded)-2], padded[len(padded)-2:]}
	}
	var units [3]int64
	if len(parts) > 3 {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil || n < 0 || i > 0 && n > 59 {
			return 0, false
		}
		units[i] = n
	}
	micros, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0, false
	}
	micros += ((days*24+units[0])*3600 + units[1]*60 + units[2]) * 1_000_000
	if micros > (838*3600+59*60+59)*1_000_000 {
		return 0, false
	}
	if negative {
		micros = -micros
	}
	return micros, true
}
