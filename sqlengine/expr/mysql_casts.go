package expr

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// mysql writes MySQL's conversions between scalar types.
func (c *casting) mysql(from, to protocol.DataType, x string) (string, bool) {
	switch {
	case to.Kind == protocol.KindString:
		return c.mysqlText(from, x)
	case isNumeric(to):
		return c.mysqlNumeric(from, to, x)
	case to.Kind == protocol.KindBoolean:
		n, ok := c.sql(from, tDouble, x)
		return "(" + n + " <> 0)", ok
	case to.Kind == protocol.KindBinary:
		text, ok := c.sql(from, tString, x)
		return "encode(" + text + ")", ok
	case to.Kind == protocol.KindVariant:
		return c.duck(x, to), true
	case to.Kind == protocol.KindIntervalDayTime:
		return c.mysqlTime(from, x)
	case to.Kind == protocol.KindDate:
		if from.Kind == protocol.KindIntervalDayTime {
			return "", false
		}
		clock, ok := c.sql(from, tNTZ, x)
		return "CAST(" + clock + " AS DATE)", ok
	case to.Kind == protocol.KindTimestamp:
		clock, ok := c.sql(from, tNTZ, x)
		return instantSQL(c.ctx.location(), clock), ok
	case to.Kind == protocol.KindTimestampNTZ:
		switch {
		case from.Kind == protocol.KindTimestamp:
			return localSQL(c.ctx.location(), x), true
		case from.Kind == protocol.KindString:
			return c.clockOfText(x), true
		case isNumeric(from):
			return c.toldIfNull("my_datetime_number(CAST("+x+" AS BIGINT))", x, tNTZ, incorrectMoment, "Incorrect datetime value: "), true
		}
	}
	return "", false
}

func (c *casting) mysqlText(from protocol.DataType, x string) (string, bool) {
	switch from.Kind {
	case protocol.KindBoolean:
		return "CAST(CAST(" + x + " AS TINYINT) AS VARCHAR)", true
	case protocol.KindFloat, protocol.KindDouble:
		return "my_double_text(CAST(" + x + " AS VARCHAR))", true
	case protocol.KindTimestamp:
		return "CAST(" + localSQL(c.ctx.location(), x) + " AS VARCHAR)", true
	case protocol.KindDecimal:
		if from.Scale == from.Precision {
			return "fraction_text(CAST(" + x + " AS VARCHAR))", true
		}
	case protocol.KindBinary:
		return "decode(" + x + ", 'replace')", true
	case protocol.KindIntervalDayTime:
		return "my_time_text(" + x + ")", true
	case protocol.KindVariant:
		return "variant_text(" + x + ")", true
	}
	return c.duck(x, tString), c.plain(from, tString)
}

func (c *casting) mysqlNumeric(from, to protocol.DataType, x string) (string, bool) {
	switch from.Kind {
	case protocol.KindBinary:
		return c.mysqlNumeric(tString, to, "decode("+x+", 'replace')")
	case protocol.KindString:
		if isIntegral(to) {
			return "CAST(" + c.numberOfText("my_int", "INTEGER", wholeDigits, tLong, x) + " AS " + DuckType(to) + ")", true
		}
		if to.Kind == protocol.KindDecimal {
			return c.clamped(c.numberOfText("my_decimal", "DECIMAL", wholeNumber, decimalOf(maxPrecision, 10), x), to), true
		}
		return "CAST(" + c.numberOfText("my_num", "DOUBLE", wholeNumber, tDouble, x) + " AS " + DuckType(to) + ")", true
	case protocol.KindDate:
		return "CAST(CAST(strftime(" + x + ", '%Y%m%d') AS BIGINT) AS " + DuckType(to) + ")", true
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		clock := x
		if from.Kind == protocol.KindTimestamp {
			clock = localSQL(c.ctx.location(), x)
		}
		if isIntegral(to) {
			return "CAST(CAST(strftime(" + clock + ", '%Y%m%d%H%M%S') AS BIGINT) AS " + DuckType(to) + ")", true
		}
		return "CAST(CAST(strftime(" + clock + ", '%Y%m%d%H%M%S.%f') AS DECIMAL(20,6)) AS " + DuckType(to) + ")", true
	case protocol.KindIntervalDayTime:
		return "CAST(my_time_number(" + x + ") AS " + DuckType(to) + ")", true
	}
	if !isNumeric(from) && from.Kind != protocol.KindBoolean {
		return "", false
	}
	if to.Kind == protocol.KindDecimal && from.Kind == protocol.KindDecimal {
		room := to.Precision - to.Scale - (from.Precision - from.Scale)
		if room > 0 || room == 0 && from.Scale <= to.Scale { // rounding may carry one digit further
			return c.duck(x, to), true
		}
	}
	if to.Kind == protocol.KindDecimal {
		if own := integerDecimal(from).Precision; isIntegral(from) && own+to.Scale <= maxPrecision { // DuckDB compares an integer as a decimal of the bound's own digits
			x = "CAST(" + x + " AS " + DuckType(decimalOf(own+to.Scale, to.Scale)) + ")"
		}
		return c.clamped(x, to), true
	}
	return c.duck(x, to), true
}

// clamped brings a number into a decimal's range, as MySQL does with a warning.
func (c *casting) clamped(x string, to protocol.DataType) string {
	limit := strings.Repeat("9", to.Precision-to.Scale)
	if limit == "" {
		limit = "0"
	}
	if to.Scale > 0 {
		limit += "." + strings.Repeat("9", to.Scale)
	}
	bound := "CAST('" + limit + "' AS " + DuckType(to) + ")"
	nearest := "CAST(least(greatest(" + x + ", -" + bound + "), " + bound + ") AS " + DuckType(to) + ")"
	if c.try || !c.ctx.notes() {
		return "CASE WHEN " + x + " IS NOT NULL THEN " + nearest + " END" // both pass over NULL
	}
	told := c.ctx.bent(outOfRange, to, c.constant, quoting("Out of range value ", "CAST("+x+" AS VARCHAR)", " for "+strings.ToUpper(to.String())), nearest)
	return "CASE WHEN abs(" + x + ") > " + bound + " THEN " + told + " WHEN " + x + " IS NOT NULL THEN " + nearest + " END"
}

// shortened is text cut to n characters.
func (b *binder) shortened(e Expr, n int) Expr {
	cut := fmt.Sprintf("left({0}, %d)", n)
	if !b.ctx.notes() {
		return rawOf(tString, cut, e)
	}
	told := b.ctx.bent(truncatedValue, tString, isConstant(e), quoting(fmt.Sprintf("Truncated incorrect CHAR(%d) value: ", n), "{0}", ""), cut)
	return rawOf(tString, fmt.Sprintf("CASE WHEN length({0}) > %d THEN %s ELSE {0} END", n, told), e)
}

func (c *casting) mysqlTime(from protocol.DataType, x string) (string, bool) {
	switch {
	case from.Kind == protocol.KindString:
		return c.toldIfNull("my_time("+x+")", x, tDayTime, truncatedValue, "Truncated incorrect time value: "), true
	case isNumeric(from):
		return c.toldIfNull("my_time(CAST(CAST("+x+" AS BIGINT) AS VARCHAR))", x, tDayTime, truncatedValue, "Truncated incorrect time value: "), true
	case from.Kind == protocol.KindTimestampNTZ:
		return "(" + x + " - date_trunc('day', " + x + "))", true
	case from.Kind == protocol.KindTimestamp:
		clock := localSQL(c.ctx.location(), x)
		return "(" + clock + " - date_trunc('day', " + clock + "))", true
	case from.Kind == protocol.KindDate:
		return "CASE WHEN " + x + " IS NOT NULL THEN INTERVAL 0 SECOND END", true
	}
	return "", false
}

// mysqlCast is CAST to one of MySQL's own types.
func (b *binder) mysqlCast(n *parse.Cast, e Expr) (Expr, error) {
	at := n.At()
	switch n.Type.MySQL {
	case "SIGNED":
		number, err := b.mysqlInteger(e, at)
		if err != nil {
			return nil, err
		}
		if number.Type().Equal(tUnsigned) {
			return rawOf(tLong, "my_signed({0})", number), nil
		}
		return b.mysqlConvert(number, tLong, at)
	case "UNSIGNED":
		number, err := b.mysqlInteger(e, at)
		if err != nil {
			return nil, err
		}
		return rawOf(tUnsigned, "CAST(my_u64({0}) AS DECIMAL(20,0))", number), nil
	case "CHAR", "BINARY":
		out, err := b.mysqlConvert(e, n.Type.Type, at)
		if err != nil || n.Type.Length < 0 {
			return out, err
		}
		if n.Type.MySQL == "BINARY" {
			return rawOf(tBinary, fmt.Sprintf("my_binary({0}, %d)", n.Type.Length), out), nil
		}
		return b.shortened(out, n.Type.Length), nil
	case "DATETIME":
		out, err := b.mysqlConvert(e, tNTZ, at)
		if err != nil {
			return nil, err
		}
		return roundedClock(out, max(n.Type.Digits, 0)), nil
	case "TIME":
		out, err := b.mysqlConvert(e, tDayTime, at)
		if err != nil {
			return nil, err
		}
		return withDigits(rawNull(tDayTime, fmt.Sprintf("my_round_time({0}, %d)", pow10(6-max(n.Type.Digits, 0))), out), max(n.Type.Digits, 0)), nil
	case "YEAR":
		number, err := b.mysqlInteger(e, at)
		if err != nil {
			return nil, err
		}
		return rawNull(tShort, "my_year({0})", number), nil
	case "JSON":
		if e.Type().Kind == protocol.KindString {
			return jsonText("CAST({0} AS JSON)", e), nil
		}
		if e.Type().Kind == protocol.KindFile {
			return jsonText("to_json(file_public({0}))", e), nil
		}
		if e.Type().Holds(protocol.KindFile) {
			return nil, notSupported(at, "CAST of %s AS JSON is not supported", e.Type()).WithHint("use to_json, or cast the files inside one by one")
		}
		return jsonText("to_json({0})", e), nil
	}
	return b.mysqlConvert(exactly(e), n.Type.Type, at)
}

// mysqlInteger is a value as CAST AS SIGNED takes it: text by its integer prefix, other numbers rounded.
func (b *binder) mysqlInteger(e Expr, at parse.Pos) (Expr, error) {
	t := e.Type()
	if t.Kind == protocol.KindString {
		if text, ok := constantText(e); ok {
			digits := regexp.MustCompile(`^\s*[+-]?\d+`).FindString(text)
			if n, ok := new(big.Int).SetString(strings.TrimPrefix(strings.TrimSpace(digits), "+"), 10); ok && !n.IsInt64() && n.IsUint64() {
				v, _ := protocol.ParseInt128Decimal(n.String(), 0)
				return constant(tUnsigned, protocol.Value{Dec: v}), nil
			}
		}
		return b.mysqlConvert(e, tLong, at)
	}
	number, err := b.mysqlNumber(exactly(e), at)
	if err != nil {
		return nil, err
	}
	if t := number.Type(); t.Kind == protocol.KindDecimal && t.Scale > 0 {
		return b.mysqlConvert(rawOf(decimalOf(t.Precision-t.Scale+1, 0), fmt.Sprintf("CAST(round({0}) AS DECIMAL(%d,0))", min(maxPrecision, t.Precision-t.Scale+1)), number), tLong, at)
	}
	if isFloating(number.Type()) {
		return rawOf(tLong, "CAST(round_even({0}, 0) AS BIGINT)", number), nil
	}
	return number, nil
}

// roundedClock rounds a datetime to a number of fractional digits.
func roundedClock(e Expr, digits int) Expr {
	if digits >= 6 {
		return withDigits(rawOf(tNTZ, "{0}", e), 6)
	}
	unit := pow10(6 - digits)
	if l, ok := asLiteral(e); ok {
		return withDigits(constant(tNTZ, protocol.Value{Int: floorDiv(l.Value.Int+unit/2, unit) * unit}), digits)
	}
	return withDigits(rawNull(tNTZ, fmt.Sprintf("my_round_clock({0}, %d)", unit), e), digits)
}

func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}
