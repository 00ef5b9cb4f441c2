package expr

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
)

var utc = time.UTC

var wholeNumberText = regexp.MustCompile(`^` + wholeNumber + `$`)

var integerText = regexp.MustCompile(`^[+-]?\d+$`)

// foldCast converts a constant in Go where that is certain to give what DuckDB would; where it is not, or where the value does
// not fit, it declines and the cast is left to run (and to fail with its own error).
func foldCast(l *Literal, to protocol.DataType, ctx *Context) (protocol.Value, bool) {
	none := protocol.Value{}
	from, v := l.Of, l.Value
	switch {
	case from.Kind == protocol.KindString && ctx.Dialect == Spark:
		return foldText(v.Str, to, ctx)
	case from.Kind == protocol.KindString:
		if to.Kind == protocol.KindDouble || to.Kind == protocol.KindFloat {
			if ctx.notes() && !wholeNumberText.MatchString(v.Str) {
				return none, false // what is left out is told when it runs
			}
			f, err := strconv.ParseFloat(strings.TrimSpace(numericPrefix.FindString(v.Str)), 64)
			return protocol.Value{Float: f}, err == nil || !numericPrefix.MatchString(v.Str)
		}
		if isDatetime(to) && plainDatetime.MatchString(v.Str) {
			return foldText(v.Str, to, ctx)
		}
		return none, false
	case isIntegral(from) && isIntegral(to):
		return protocol.Value{Int: v.Int}, fitsInteger(v.Int, to)
	case isIntegral(from) && isFloating(to):
		return protocol.Value{Float: float64(v.Int)}, v.Int > -1<<53 && v.Int < 1<<53 && (to.Kind == protocol.KindDouble || v.Int > -1<<24 && v.Int < 1<<24)
	case isIntegral(from) && to.Kind == protocol.KindDecimal:
		return rescaled(protocol.Int128FromInt64(v.Int), 0, to)
	case from.Kind == protocol.KindDecimal && to.Kind == protocol.KindDecimal:
		return rescaled(v.Dec, from.Scale, to)
	case from.Kind == protocol.KindDecimal && to.Kind == protocol.KindDouble:
		f, err := strconv.ParseFloat(v.Dec.String(from.Scale), 64)
		return protocol.Value{Float: f}, err == nil
	case from.Kind == protocol.KindDecimal && isIntegral(to):
		whole, ok := v.Dec.Rescale(from.Scale, 0)
		n, fits := whole.Int64()
		return protocol.Value{Int: n}, ok && fits && fitsInteger(n, to)
	case from.Kind == protocol.KindFloat && to.Kind == protocol.KindDouble:
		return protocol.Value{Float: v.Float}, true
	case from.Kind == protocol.KindDate && to.Kind == protocol.KindTimestampNTZ:
		return protocol.Value{Int: v.Int * 86_400_000_000}, v.Int > -2_000_000 && v.Int < 2_932_897
	case from.Kind == protocol.KindDate && to.Kind == protocol.KindTimestamp, from.Kind == protocol.KindTimestampNTZ && to.Kind == protocol.KindTimestamp:
		text := dateString(v.Int)
		if from.Kind == protocol.KindTimestampNTZ {
			text = timestampString(v.Int, utc)
		}
		micros, _, ok := parseTimestamp(text, ctx.location())
		return protocol.Value{Int: micros}, ok
	case from.Kind == protocol.KindTimestampNTZ && to.Kind == protocol.KindDate:
		return protocol.Value{Int: floorDiv(v.Int, 86_400_000_000)}, true
	case from.Kind == protocol.KindBoolean && isIntegral(to):
		return protocol.Value{Int: v.Int}, true
	case to.Kind == protocol.KindString && isIntegral(from):
		return protocol.Value{Str: strconv.FormatInt(v.Int, 10)}, true
	case to.Kind == protocol.KindString && from.Kind == protocol.KindDecimal:
		return protocol.Value{Str: v.Dec.String(from.Scale)}, true
	case to.Kind == protocol.KindString && from.Kind == protocol.KindDate && v.Int < 2_932_897 && v.Int > -719_529:
		return protocol.Value{Str: dateString(v.Int)}, true
	}
	return none, false
}

// plainDatetime is the text of a date or time that MySQL and Spark read alike.
var plainDatetime = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?)?$`)

func fitsInteger(n int64, t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindByte:
		return n >= math.MinInt8 && n <= math.MaxInt8
	case protocol.KindShort:
		return n >= math.MinInt16 && n <= math.MaxInt16
	case protocol.KindInteger:
		return n >= math.MinInt32 && n <= math.MaxInt32
	}
	return true
}

// rescaled brings an unscaled decimal to a decimal type, rounding half away from zero; false where it does not fit.
func rescaled(v protocol.Int128, scale int, to protocol.DataType) (protocol.Value, bool) {
	out, ok := v.Rescale(scale, to.Scale)
	if !ok && to.Scale < scale {
		out, ok = roundHalfUp(v, scale-to.Scale)
	}
	return protocol.Value{Dec: out, Scale: to.Scale}, ok && out.Digits() <= to.Precision
}

// roundHalfUp drops digits from an unscaled decimal.
func roundHalfUp(v protocol.Int128, digits int) (protocol.Int128, bool) {
	n, ok := new(big.Int).SetString(v.String(0), 10)
	if !ok {
		return v, false
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	half := new(big.Int).Rsh(unit, 1)
	if n.Sign() < 0 {
		half.Neg(half)
	}
	n.Quo(n.Add(n, half), unit)
	return protocol.ParseInt128Decimal(n.String(), 0)
}

func foldText(text string, to protocol.DataType, ctx *Context) (protocol.Value, bool) {
	trimmed := strings.TrimSpace(text)
	switch {
	case isIntegral(to):
		n, err := strconv.ParseInt(trimmed, 10, 64)
		return protocol.Value{Int: n}, err == nil && integerText.MatchString(trimmed) && fitsInteger(n, to)
	case to.Kind == protocol.KindDouble, to.Kind == protocol.KindFloat:
		switch strings.ToLower(trimmed) {
		case "nan":
			return protocol.Value{Float: math.NaN()}, true
		case "infinity", "+infinity", "inf", "+inf":
			return protocol.Value{Float: math.Inf(1)}, true
		case "-infinity", "-inf":
			return protocol.Value{Float: math.Inf(-1)}, true
		}
		if strings.ContainsAny(trimmed, "_xXpP") {
			return protocol.Value{}, false
		}
		bits := 64
		if to.Kind == protocol.KindFloat {
			bits = 32
		}
		f, err := strconv.ParseFloat(trimmed, bits)
		return protocol.Value{Float: f}, err == nil
	case to.Kind == protocol.KindDecimal:
		t, v, ok := decimalText(trimmed)
		if !ok {
			return protocol.Value{}, false
		}
		return rescaled(v, t.Scale, to)
	case to.Kind == protocol.KindBoolean:
		switch strings.ToLower(trimmed) {
		case "t", "true", "y", "yes", "1":
			return protocol.Value{Int: 1}, true
		case "f", "false", "n", "no", "0":
			return protocol.Value{Int: 0}, true
		}
	case to.Kind == protocol.KindDate:
		days, ok := parseDate(text)
		return protocol.Value{Int: days}, ok
	case to.Kind == protocol.KindTimestamp:
		micros, _, ok := parseTimestamp(text, ctx.location())
		return protocol.Value{Int: micros}, ok
	case to.Kind == protocol.KindTimestampNTZ:
		micros, _, ok := parseTimestamp(text, nil)
		return protocol.Value{Int: micros}, ok
	case to.Kind == protocol.KindBinary:
		return protocol.Value{Str: text}, true
	}
	return protocol.Value{}, false
}
