package expr

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// The MySQL dialect: integers compute in 64 bits, decimals at scale s1+4 in a division, text counts as the number it begins
// with, and a division by zero is NULL. Comparisons stay booleans here and become 0 or 1 where a number or text is wanted;
// the wire shows a boolean as TINYINT(1).

var numericPrefix = regexp.MustCompile(`^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)`)

// mysqlNumber is the number that a value counts as: text becomes a double, a date an integer of its digits.
func (b *binder) mysqlNumber(e Expr, at parse.Pos) (Expr, error) {
	t := e.Type()
	switch {
	case isNumeric(t):
		return e, nil
	case t.Kind == protocol.KindVoid:
		return Null(tDouble), nil
	case t.Kind == protocol.KindBoolean:
		return convert(e, tInt, b.ctx, false)
	case t.Kind == protocol.KindBinary:
		if l, ok := asLiteral(e); ok && len(l.Value.Str) <= 8 { // X'41' + 0
			return bytesNumber(l.Value.Str), nil
		}
		return rawOf(tDouble, "my_num(decode({0}, 'replace'))", e), nil
	case t.Kind == protocol.KindDate, t.Kind == protocol.KindIntervalDayTime:
		return b.mysqlConvert(e, tLong, at)
	case isDatetime(t):
		if l, ok := asLiteral(e); ok && l.Value.Int%1_000_000 != 0 {
			return b.mysqlConvert(e, decimalOf(20, 6), at)
		}
		return b.mysqlConvert(e, tLong, at)
	case isNested(t) || t.Kind == protocol.KindVariant:
		return nil, mismatch(at, "UNEXPECTED_INPUT_TYPE", "a value of type %s cannot count as a number", t)
	}
	return b.mysqlConvert(e, tDouble, at)
}

func (b *binder) mysqlConvert(e Expr, t protocol.DataType, at parse.Pos) (Expr, error) {
	out, err := convert(e, t, b.mysqlContext(), false)
	return out, placed(err, at)
}

// mysqlContext is the context with MySQL's conversions, for MySQL's casts and functions in a Spark statement.
func (b *binder) mysqlContext() *Context {
	if b.ctx.Dialect == MySQL {
		return b.ctx
	}
	c := *b.ctx
	c.Dialect = MySQL
	return &c
}

func (c *call) mysqlArgument(e Expr, want protocol.DataType) (Expr, error) {
	return convert(e, want, c.mysqlContext(), false)
}

// bytesNumber reads bytes as a big-endian unsigned number.
func bytesNumber(s string) Expr {
	n := new(big.Int).SetBytes([]byte(s))
	if n.IsInt64() {
		return constant(tLong, protocol.Value{Int: n.Int64()})
	}
	v, _ := protocol.ParseInt128Decimal(n.String(), 0)
	return constant(tUnsigned, protocol.Value{Dec: v})
}

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
			return "my_datetime(" + x + ")", true
		case isNumeric(from):
			return "my_datetime_number(CAST(" + x + " AS BIGINT))", true
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
			return "CAST(my_int(" + x + ") AS " + DuckType(to) + ")", true
		}
		if to.Kind == protocol.KindDecimal {
			return c.clamped("my_decimal("+x+")", to), true
		}
		return "CAST(my_num(" + x + ") AS " + DuckType(to) + ")", true
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
	if to.Kind == protocol.KindDecimal && from.Kind == protocol.KindDecimal && from.Precision-from.Scale <= to.Precision-to.Scale && from.Scale <= to.Scale {
		return c.duck(x, to), true
	}
	if to.Kind == protocol.KindDecimal {
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
	return "CAST(least(greatest(" + x + ", -" + bound + "), " + bound + ") AS " + DuckType(to) + ")"
}

func (c *casting) mysqlTime(from protocol.DataType, x string) (string, bool) {
	switch {
	case from.Kind == protocol.KindString:
		return "my_time(" + x + ")", true
	case isNumeric(from):
		return "my_time(CAST(CAST(" + x + " AS BIGINT) AS VARCHAR))", true
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

// comparableMySQL is the type of a comparison: text meets a number as a double, and a date as a datetime.
func comparableMySQL(a, b protocol.DataType, ctx *Context) (protocol.DataType, bool) {
	if a.Kind == protocol.KindVoid {
		return b, true
	}
	if b.Kind == protocol.KindVoid {
		return a, true
	}
	if isNested(a) || isNested(b) {
		return commonType(a, b, ctx)
	}
	number := func(t protocol.DataType) bool { return isNumeric(t) || t.Kind == protocol.KindBoolean }
	text := func(t protocol.DataType) bool { return t.Kind == protocol.KindString || t.Kind == protocol.KindBinary }
	time := func(t protocol.DataType) bool { return t.Kind == protocol.KindIntervalDayTime }
	switch {
	case a.Kind == protocol.KindBoolean && b.Kind == protocol.KindBoolean:
		return tBoolean, true
	case number(a) && number(b):
		if a.Kind == protocol.KindBoolean {
			a = tInt
		}
		if b.Kind == protocol.KindBoolean {
			b = tInt
		}
		return commonNumber(a, b, ctx), true
	case text(a) && text(b):
		return commonMySQL(a, b), true
	case isDatetime(a) && isDatetime(b):
		return commonType(a, b, ctx)
	case time(a) && time(b), time(a) && text(b):
		return tDayTime, true
	case time(b) && text(a):
		return tDayTime, true
	case isDatetime(a) && text(b):
		return clockOf(a), true
	case isDatetime(b) && text(a):
		return clockOf(b), true
	case isDatetime(a) && number(b) || isDatetime(b) && number(a) || time(a) && number(b) || time(b) && number(a):
		return tDouble, true
	case text(a) && number(b), text(b) && number(a):
		return tDouble, true
	case isDatetime(a) && time(b), isDatetime(b) && time(a):
		return tDayTime, true
	case a.Kind == b.Kind:
		return a, true
	}
	return a, false
}

func clockOf(t protocol.DataType) protocol.DataType {
	if t.Kind == protocol.KindTimestamp {
		return t
	}
	return tNTZ
}

func (b *binder) mysqlComparisonSide(e Expr, t protocol.DataType, at parse.Pos) (Expr, error) {
	if t.Kind == protocol.KindDouble && !isNumeric(e.Type()) {
		n, err := b.mysqlNumber(e, at)
		if err != nil {
			return nil, err
		}
		e = n
	}
	return b.mysqlConvert(e, t, at)
}

// dateBesideText keeps a date column bare beside the text of a plain date, so that files can be skipped.
func dateBesideText(left, right Expr) (Expr, Expr) {
	one := func(date, text Expr) Expr {
		s, ok := constantText(text)
		if !ok || date.Type().Kind != protocol.KindDate || !plainDatetime.MatchString(s) || strings.Contains(s, ":") {
			return text
		}
		if days, ok := parseDate(s); ok {
			return constant(tDate, protocol.Value{Int: days})
		}
		return text
	}
	return one(right, left), one(left, right)
}

func (b *binder) mysqlUnary(n *parse.Unary, e Expr) (Expr, error) {
	if n.Op == "~" {
		u, err := b.unsigned(e, n.At())
		if err != nil {
			return nil, err
		}
		return rawOf(tUnsigned, "CAST(xor({0}, 18446744073709551615::UBIGINT) AS DECIMAL(20,0))", u), nil
	}
	number, err := b.mysqlNumber(e, n.At())
	if err != nil {
		return nil, err
	}
	if n.Op == "+" {
		return e, nil
	}
	if isIntegral(number.Type()) {
		if number, err = b.mysqlConvert(number, tLong, n.At()); err != nil {
			return nil, err
		}
	}
	return negate(number, n.At())
}

// mysqlArithmetic is + - * / % and DIV.
func (b *binder) mysqlArithmetic(op string, left, right Expr, at parse.Pos) (Expr, error) {
	left, err := b.mysqlNumber(left, at)
	if err != nil {
		return nil, err
	}
	if right, err = b.mysqlNumber(right, at); err != nil {
		return nil, err
	}
	lt, rt := left.Type(), right.Type()
	switch {
	case isFloating(lt) || isFloating(rt):
		for _, e := range []*Expr{&left, &right} {
			if *e, err = b.mysqlConvert(*e, tDouble, at); err != nil {
				return nil, err
			}
		}
		switch op {
		case "DIV":
			return rawNull(tLong, "CAST(trunc({0} / nullif({1}, 0)) AS BIGINT)", left, right), nil
		case "/", "%":
			return rawNull(tDouble, "({0} "+op+" nullif({1}, 0))", left, right), nil
		}
		return rawOf(tDouble, "({0} "+op+" {1})", left, right), nil
	case op == "/":
		return b.mysqlDivide(left, right, at)
	case isIntegral(lt) && isIntegral(rt):
		for _, e := range []*Expr{&left, &right} {
			if *e, err = b.mysqlConvert(*e, tLong, at); err != nil {
				return nil, err
			}
		}
		switch op {
		case "DIV":
			return rawNull(tLong, "({0} // nullif({1}, 0))", left, right), nil
		case "%":
			return rawNull(tLong, "({0} % nullif({1}, 0))", left, right), nil
		}
		return rawOf(tLong, "({0} "+op+" {1})", left, right), nil
	}
	return b.mysqlDecimals(op, left, right, at)
}

func (b *binder) mysqlDecimals(op string, left, right Expr, at parse.Pos) (Expr, error) {
	lt, rt := decimalView(left), decimalView(right)
	left, err := b.mysqlConvert(left, lt, at)
	if err != nil {
		return nil, err
	}
	if right, err = b.mysqlConvert(right, rt, at); err != nil {
		return nil, err
	}
	scale := max(lt.Scale, rt.Scale)
	switch op {
	case "DIV":
		return rawNull(tLong, decimalQuotient(tLong, 0, lt, rt, true), left, right), nil
	case "%":
		t := bounded(max(lt.Precision-lt.Scale, rt.Precision-rt.Scale)+scale, scale)
		for _, e := range []*Expr{&left, &right} {
			if *e, err = b.mysqlConvert(*e, t, at); err != nil {
				return nil, err
			}
		}
		return castTo(t, "{0} % nullif({1}, 0)", left, right).(*Raw).nullable(), nil
	case "*":
		if lt.Scale+rt.Scale > maxPrecision {
			return nil, fail(at, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "the product of %s and %s needs more than %d digits", lt, rt, maxPrecision)
		}
		return b.naturalDecimal(op, bounded(lt.Precision+rt.Precision, lt.Scale+rt.Scale), left, right)
	}
	if lt.Equal(tUnsigned) && rt.Equal(tUnsigned) || op == "-" && lt.Equal(tUnsigned) {
		return rawOf(tUnsigned, "my_unsigned({0} "+op+" {1})", left, right), nil
	}
	return b.naturalDecimal(op, bounded(max(lt.Precision-lt.Scale, rt.Precision-rt.Scale)+scale+1, scale), left, right)
}

// nullable marks a fragment as one that may be NULL whatever its operands are.
func (r *Raw) nullable() *Raw { r.Null = true; return r }

// mysqlDivide is the exact quotient at the dividend's scale plus 4, NULL where the divisor is zero.
func (b *binder) mysqlDivide(left, right Expr, at parse.Pos) (Expr, error) {
	lt, rt := decimalView(left), decimalView(right)
	left, err := b.mysqlConvert(left, lt, at)
	if err != nil {
		return nil, err
	}
	if right, err = b.mysqlConvert(right, rt, at); err != nil {
		return nil, err
	}
	scale := min(lt.Scale+4, 30)
	t := bounded(lt.Precision-lt.Scale+rt.Scale+scale, scale)
	return rawNull(t, decimalQuotient(t, scale, lt, rt, false), left, right), nil
}

// unsigned is a value as 64 unsigned bits, a DuckDB UBIGINT; the tree has no such type, so it only stands inside other nodes.
func (b *binder) unsigned(e Expr, at parse.Pos) (Expr, error) {
	if l, ok := asLiteral(e); ok && l.Of.Kind == protocol.KindBinary && len(l.Value.Str) > 8 {
		return nil, notSupported(at, "bit operations on more than 8 bytes are not supported")
	}
	n, err := b.mysqlNumber(e, at)
	if err != nil {
		return nil, err
	}
	if isFloating(n.Type()) || n.Type().Kind == protocol.KindDecimal && n.Type().Scale > 0 {
		n = rawOf(decimalOf(20, 0), "CAST(round({0}) AS DECIMAL(20,0))", n)
	}
	return rawOf(tUnsigned, "my_u64({0})", n), nil
}

func (b *binder) mysqlBits(op string, left, right Expr, at parse.Pos) (Expr, error) {
	l, err := b.unsigned(left, at)
	if err != nil {
		return nil, err
	}
	r, err := b.unsigned(right, at)
	if err != nil {
		return nil, err
	}
	sql := map[string]string{
		"&": "{0} & {1}", "|": "{0} | {1}", "^": "xor({0}, {1})",
		"<<": "CASE WHEN {1} > 63 THEN 0::UBIGINT ELSE CAST((CAST({0} AS HUGEINT) << CAST({1} AS INTEGER)) & 18446744073709551615::HUGEINT AS UBIGINT) END",
		">>": "CASE WHEN {1} > 63 THEN 0::UBIGINT ELSE {0} >> {1} END", ">>>": "CASE WHEN {1} > 63 THEN 0::UBIGINT ELSE {0} >> {1} END",
	}[op]
	return castTo(tUnsigned, sql, l, r), nil
}

// mysqlDateInterval is d + INTERVAL n unit and its kin, which need the interval as written. It declines in the Spark dialect
// and where neither side is an interval.
func (b *binder) mysqlDateInterval(n *parse.Binary) (Expr, bool, error) {
	if b.ctx.Dialect != MySQL {
		return nil, false, nil
	}
	operand, interval := n.Left, n.Right
	i, ok := interval.(*parse.Interval)
	if !ok && n.Op == "+" {
		i, ok = n.Left.(*parse.Interval)
		operand = n.Right
	}
	if !ok {
		return nil, false, nil
	}
	e, err := b.bind(operand)
	if err != nil {
		return nil, true, err
	}
	out, err := b.mysqlAddInterval(n.Op, e, i, false, n.At())
	return out, true, err
}

// mysqlAddInterval adds an interval. A date stays a date for days and larger units. Text is a date or a datetime by its own
// form: DATE_ADD gives text back (asText), + a datetime.
func (b *binder) mysqlAddInterval(op string, e Expr, i *parse.Interval, asText bool, at parse.Pos) (Expr, error) {
	interval, err := b.in(b.env).bindInterval(i)
	if err != nil {
		return nil, err
	}
	dateUnits := true
	for _, p := range i.Parts {
		switch p.Unit {
		case "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "YEAR_MONTH":
		default:
			dateUnits = false
		}
	}
	t := e.Type()
	if t.Kind == protocol.KindVoid {
		return Null(tNTZ), nil
	}
	if isInterval(t) { // a TIME
		return rawOf(tDayTime, "({0} "+op+" {1})", e, interval), nil
	}
	if t.Kind == protocol.KindDate && dateUnits {
		return rawNull(tDate, "my_in_range(CAST({0} "+op+" {1} AS DATE))", e, interval), nil
	}
	if text, ok := constantText(e); ok && dateUnits && !strings.Contains(text, ":") {
		d, err := b.mysqlConvert(e, tDate, at)
		if err != nil {
			return nil, err
		}
		sum := rawNull(tDate, "my_in_range(CAST({0} "+op+" {1} AS DATE))", d, interval)
		if asText {
			return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
		}
		return sum, nil
	}
	if t.Kind == protocol.KindTimestamp {
		local, err := b.mysqlConvert(e, tNTZ, at)
		if err != nil {
			return nil, err
		}
		return rawNull(tNTZ, "({0} "+op+" {1})", local, interval), nil
	}
	text, own := t.Kind == protocol.KindString && asText, e
	if t.Kind != protocol.KindTimestampNTZ && t.Kind != protocol.KindDate {
		if e, err = b.mysqlConvert(e, tNTZ, at); err != nil {
			return nil, err
		}
	}
	sum := rawNull(tNTZ, "({0} "+op+" {1})", e, interval)
	if text && dateUnits {
		return rawNull(tString, "my_dated({0}, {1})", own, sum), nil
	}
	if text {
		return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
	}
	return sum, nil
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
		return rawOf(tString, fmt.Sprintf("left({0}, %d)", n.Type.Length), out), nil
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
		return rawNull(tDayTime, fmt.Sprintf("my_round_time({0}, %d)", pow10(6-max(n.Type.Digits, 0))), out), nil
	case "YEAR":
		number, err := b.mysqlInteger(e, at)
		if err != nil {
			return nil, err
		}
		return rawNull(tShort, "my_year({0})", number), nil
	case "JSON":
		if e.Type().Kind == protocol.KindString {
			return rawOf(tString, "CAST(CAST({0} AS JSON) AS VARCHAR)", e), nil
		}
		return rawOf(tString, "CAST(to_json({0}) AS VARCHAR)", e), nil
	}
	out, err := b.mysqlConvert(e, n.Type.Type, at)
	return out, err
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
		return rawOf(tLong, "my_int({0})", e), nil
	}
	number, err := b.mysqlNumber(e, at)
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
		return e
	}
	unit := pow10(6 - digits)
	if l, ok := asLiteral(e); ok {
		return constant(tNTZ, protocol.Value{Int: floorDiv(l.Value.Int+unit/2, unit) * unit})
	}
	return rawNull(tNTZ, fmt.Sprintf("my_round_clock({0}, %d)", unit), e)
}

func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// mysqlSum is decimal over exact numbers, double over others.
func (c *call) mysqlSum() (Expr, error) {
	e, err := c.numericArg()
	if err != nil {
		return nil, err
	}
	switch t := e.Type(); {
	case isIntegral(t):
		a, err := c.aggregate("sum", decimalOf(maxPrecision, 0), e)
		if err != nil {
			return nil, err
		}
		return rawNull(decimalOf(maxPrecision, 0), "CAST({0} AS DECIMAL(38,0))", a), nil
	case t.Kind == protocol.KindDecimal:
		return c.sumOf(e, bounded(t.Precision+22, t.Scale))
	}
	return c.sumOf(e, tDouble)
}

// mysqlAvg is decimal at scale s+4 over exact numbers.
func (c *call) mysqlAvg(e Expr) (Expr, error) {
	t := e.Type()
	switch {
	case isIntegral(t):
		own := integerDecimal(t)
		d, err := c.mysqlConvert(e, own, c.at)
		if err != nil {
			return nil, err
		}
		return c.decimalAvg(d, bounded(own.Precision+4, 4))
	case t.Kind == protocol.KindDecimal:
		scale := min(t.Scale+4, 30)
		return c.decimalAvg(e, bounded(t.Precision-t.Scale+scale, scale))
	}
	e, err := convert(e, tDouble, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	return c.aggregate("avg", tDouble, e)
}

// mysqlBitsOf is BIT_AND, BIT_OR and BIT_XOR, which are never NULL.
func (c *call) mysqlBitsOf(name string, e Expr) (Expr, error) {
	u, err := c.unsigned(e, c.at)
	if err != nil {
		return nil, err
	}
	a, err := c.aggregate(name, tUnsigned, u)
	if err != nil {
		return nil, err
	}
	empty := "0::UBIGINT"
	if name == "bit_and" {
		empty = "18446744073709551615::UBIGINT"
	}
	return &Raw{Typed: Typed{tUnsigned, false}, SQL: "CAST(coalesce({0}, " + empty + ") AS DECIMAL(20,0))", Args: []Expr{a}}, nil
}
