package expr

import (
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
		return fromVoid(e, tDouble), nil
	case t.Kind == protocol.KindBoolean:
		return convert(e, tInt, b.ctx, false)
	case t.Kind == protocol.KindBinary:
		if l, ok := asLiteral(e); ok && len(l.Value.Str) <= 8 { // X'41' + 0
			return bytesNumber(l.Value.Str), nil
		}
		return b.mysqlConvert(rawOf(tString, "decode({0}, 'replace')", e), tDouble, at)
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
	if isUnsigned(number.Type()) { // what is negative is not unsigned
		number = rawOf(decimalOf(20, 0), "{0}", number)
	}
	shown, err := negate(number, n.At())
	if err != nil || !isInexact(number) {
		return shown, err
	}
	all, err := negate(exactly(number), n.At())
	return showing(shown, all), err
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
			return b.divided(tLong, "CAST(trunc({0} / nullif({1}, 0)) AS BIGINT)", left, right), nil
		case "/", "%":
			return b.divided(tDouble, "({0} "+op+" nullif({1}, 0))", left, right), nil
		}
		return rawOf(tDouble, "({0} "+op+" {1})", left, right), nil
	case op == "/":
		return b.mysqlDivide(left, right, at)
	case isUnsigned(lt) && (isUnsigned(rt) || isIntegral(rt)), isUnsigned(rt) && isIntegral(lt):
		return b.mysqlUnsigned(op, left, right), nil
	case isIntegral(lt) && isIntegral(rt):
		for _, e := range []*Expr{&left, &right} {
			if *e, err = b.mysqlConvert(*e, tLong, at); err != nil {
				return nil, err
			}
		}
		switch op {
		case "DIV":
			return b.divided(tLong, "({0} // nullif({1}, 0))", left, right), nil
		case "%":
			return b.divided(tLong, "({0} % nullif({1}, 0))", left, right), nil
		}
		return rawOf(tLong, "({0} "+op+" {1})", left, right), nil
	}
	return b.mysqlDecimals(op, left, right, at)
}

func isUnsigned(t protocol.DataType) bool { return t.Equal(tUnsigned) }

// mysqlUnsigned is arithmetic of whole numbers of which one is unsigned: so is the result, and one that is none is an error.
func (b *binder) mysqlUnsigned(op string, left, right Expr) Expr {
	sql := "CAST({0} AS HUGEINT) " + op + " CAST({1} AS HUGEINT)"
	switch op {
	case "DIV":
		return b.divided(tUnsigned, "my_unsigned(CAST({0} AS HUGEINT) // nullif(CAST({1} AS HUGEINT), 0))", left, right)
	case "%": // has the sign of what is divided
		of := tLong
		if isUnsigned(left.Type()) {
			of = tUnsigned
		}
		return b.divided(of, "CAST(CAST({0} AS HUGEINT) % nullif(CAST({1} AS HUGEINT), 0) AS "+DuckType(of)+")", left, right)
	case "-":
		if b.ctx.SignedSubtraction {
			return castTo(tLong, sql, left, right)
		}
	}
	return rawOf(tUnsigned, "my_unsigned("+sql+")", left, right)
}

func (b *binder) mysqlDecimals(op string, left, right Expr, at parse.Pos) (Expr, error) {
	lt, rt := decimalView(left), decimalView(right)
	if isInexact(left) || isInexact(right) {
		return b.mysqlInexact(op, mysqlDecimalType(op, lt, rt), left, right, at)
	}
	left, err := b.mysqlConvert(left, lt, at)
	if err != nil {
		return nil, err
	}
	if right, err = b.mysqlConvert(right, rt, at); err != nil {
		return nil, err
	}
	t := mysqlDecimalType(op, lt, rt)
	switch op {
	case "DIV":
		return b.divided(tLong, decimalQuotient(tLong, 0, lt, rt, true), left, right), nil
	case "%":
		for _, e := range []*Expr{&left, &right} {
			if *e, err = b.mysqlConvert(*e, t, at); err != nil {
				return nil, err
			}
		}
		return b.divided(t, "CAST({0} % nullif({1}, 0) AS "+DuckType(t)+")", left, right), nil
	case "*":
		if lt.Scale+rt.Scale > maxPrecision {
			return nil, fail(at, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "the product of %s and %s needs more than %d digits", lt, rt, maxPrecision)
		}
	}
	return b.naturalDecimal(op, t, left, right)
}

// mysqlDecimalType is the type of arithmetic over two decimals, division aside.
func mysqlDecimalType(op string, lt, rt protocol.DataType) protocol.DataType {
	scale, whole := max(lt.Scale, rt.Scale), max(lt.Precision-lt.Scale, rt.Precision-rt.Scale)
	switch op {
	case "%":
		return bounded(whole+scale, scale)
	case "*":
		return bounded(lt.Precision+rt.Precision, lt.Scale+rt.Scale)
	}
	return bounded(whole+scale+1, scale)
}

// nullable marks a fragment as one that may be NULL whatever its operands are.
func (r *Raw) nullable() *Raw { r.Null = true; return r }

// mysqlDivide is the quotient at the dividend's scale plus 4, NULL where the divisor is zero.
func (b *binder) mysqlDivide(left, right Expr, at parse.Pos) (Expr, error) {
	scale := min(decimalView(left).Scale+4, 30)
	left, right = exactly(left), exactly(right)
	lt, rt := decimalView(left), decimalView(right)
	left, err := b.mysqlConvert(left, lt, at)
	if err != nil {
		return nil, err
	}
	if right, err = b.mysqlConvert(right, rt, at); err != nil {
		return nil, err
	}
	t := bounded(lt.Precision-lt.Scale+rt.Scale+scale, scale)
	shown := b.divided(t, decimalQuotient(t, scale, lt, rt, false), left, right)
	all := quotientType(lt, rt, scale)
	return showing(shown, b.divided(all, decimalQuotient(all, all.Scale, lt, rt, true), left, right)), nil
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
	out, err := b.mysqlAddInterval(n.Op, e, i, n.At())
	return out, true, err
}

// mysqlAddInterval adds an interval. A date stays a date for days and larger units. Text is a date or a datetime by its own
// form and gives text.
func (b *binder) mysqlAddInterval(op string, e Expr, i *parse.Interval, at parse.Pos) (Expr, error) {
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
		return fromVoid(e, tNTZ), nil
	}
	if isInterval(t) { // a TIME
		return rawOf(tDayTime, "({0} "+op+" {1})", e, interval), nil
	}
	if t.Kind == protocol.KindDate && dateUnits {
		return b.inCalendar(rawNull(tDate, "CAST({0} "+op+" {1} AS DATE)", e, interval), "date_add_interval"), nil
	}
	if text, ok := constantText(e); ok && dateUnits && !strings.Contains(text, ":") {
		d, err := b.mysqlConvert(e, tDate, at)
		if err != nil {
			return nil, err
		}
		sum := b.inCalendar(rawNull(tDate, "CAST({0} "+op+" {1} AS DATE)", d, interval), "date_add_interval")
		return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
	}
	if t.Kind == protocol.KindTimestamp {
		local, err := b.mysqlConvert(e, tNTZ, at)
		if err != nil {
			return nil, err
		}
		return b.inCalendar(rawNull(tNTZ, "({0} "+op+" {1})", local, interval), "date_add_interval"), nil
	}
	text, own := t.Kind == protocol.KindString, e
	if t.Kind != protocol.KindTimestampNTZ && t.Kind != protocol.KindDate {
		if e, err = b.mysqlConvert(e, tNTZ, at); err != nil {
			return nil, err
		}
	}
	sum := b.inCalendar(rawNull(tNTZ, "({0} "+op+" {1})", e, interval), "date_add_interval")
	if text && dateUnits {
		return rawNull(tString, "my_dated({0}, {1})", own, sum), nil
	}
	if text {
		return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
	}
	return sum, nil
}
