package expr

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// intervalUnits says how many months or microseconds a unit has.
var intervalUnits = map[string]struct {
	months int64
	micros int64
}{
	"YEAR": {months: 12}, "QUARTER": {months: 3}, "MONTH": {months: 1},
	"WEEK": {micros: 7 * 86_400_000_000}, "DAY": {micros: 86_400_000_000}, "HOUR": {micros: 3_600_000_000},
	"MINUTE": {micros: 60_000_000}, "SECOND": {micros: 1_000_000}, "MILLISECOND": {micros: 1_000}, "MICROSECOND": {micros: 1},
}

// compoundUnits are the units of an interval written as one text, largest first. MySQL joins them by "_" (HOUR_MINUTE), the
// standard by TO (HOUR TO MINUTE).
func compoundUnits(from, to string) []string {
	order := []string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"}
	var units []string
	for _, u := range order {
		if u == from || len(units) > 0 {
			units = append(units, u)
		}
		if u == to {
			return units
		}
	}
	return nil
}

// bindInterval types an interval: months or microseconds, a literal where its values are.
func (b *binder) bindInterval(n *parse.Interval) (Expr, error) {
	parts := n.Parts
	if len(parts) == 1 && parts[0].Unit == "" {
		e, err := b.bind(parts[0].Value)
		if err != nil {
			return nil, err
		}
		text, ok := constantText(e)
		if !ok {
			return nil, fail(n.At(), "INVALID_INTERVAL_FORMAT", "an interval without a unit must be a text such as '1 day 2 hours'")
		}
		return intervalText(text, n.At())
	}
	var sum Expr
	for _, p := range parts {
		e, err := b.intervalPart(p, n.At())
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = e
			continue
		}
		if sum.Type().Kind != e.Type().Kind {
			return nil, notSupported(n.At(), "an interval of months and of days in one is not supported").WithHint("add the two intervals one after the other")
		}
		l, okL := asLiteral(sum)
		r, okR := asLiteral(e)
		if okL && okR {
			sum = constant(l.Of, protocol.Value{Int: l.Value.Int + r.Value.Int})
		} else {
			sum = rawOf(sum.Type(), "({0} + {1})", sum, e)
		}
	}
	return sum, nil
}

func (b *binder) intervalPart(p parse.IntervalPart, at parse.Pos) (Expr, error) {
	from, to := p.Unit, p.To
	if f, t, ok := strings.Cut(from, "_"); ok {
		from, to = f, t
	}
	value, err := b.bind(p.Value)
	if err != nil {
		return nil, err
	}
	if to != "" {
		text, ok := constantText(value)
		if !ok {
			if n, isInt := constantInt(value); isInt {
				text, ok = strconv.FormatInt(n, 10), true
			} else if l, isLiteral := asLiteral(value); isLiteral && l.Of.Kind == protocol.KindDecimal {
				text, ok = l.Value.Dec.String(l.Of.Scale), true
			}
		}
		if !ok {
			return nil, notSupported(at, "an interval of %s to %s must be a constant text", from, to)
		}
		return compoundInterval(text, from, to, p.Unit != from, at)
	}
	unit, ok := intervalUnits[from]
	if !ok {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%s is no unit of an interval", from)
	}
	t := tDayTime
	if unit.months > 0 {
		t = tMonths
	}
	if amount, ok := amountOf(value); ok {
		count := new(big.Rat).Mul(amount, big.NewRat(unit.months+unit.micros, 1))
		if from != "SECOND" && !amount.IsInt() || !count.IsInt() && from == "SECOND" {
			return b.fractionalInterval(amount, from, unit.months+unit.micros, t, at)
		}
		if !count.IsInt() || !count.Num().IsInt64() {
			return nil, fail(at, "INVALID_INTERVAL_FORMAT", "the interval is out of range")
		}
		return constant(t, protocol.Value{Int: count.Num().Int64()}), nil
	}
	if isNullLiteral(value) {
		return Null(t), nil
	}
	return b.variableInterval(value, from, t, at)
}

// fractionalInterval: MySQL rounds the amount of every unit but SECOND, Spark refuses it.
func (b *binder) fractionalInterval(amount *big.Rat, unit string, size int64, t protocol.DataType, at parse.Pos) (Expr, error) {
	if b.ctx.Dialect == Spark && unit != "SECOND" {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "an interval of %s must be a whole number", strings.ToLower(unit))
	}
	digits := 0
	if unit == "SECOND" {
		digits = 6
	}
	rounded, _ := new(big.Rat).SetString(amount.FloatString(digits))
	count := rounded.Mul(rounded, big.NewRat(size, 1))
	if !count.IsInt() || !count.Num().IsInt64() {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "the interval is out of range")
	}
	return constant(t, protocol.Value{Int: count.Num().Int64()}), nil
}

var intervalFunctions = map[string]string{
	"YEAR": "to_years(CAST({0} AS INTEGER))", "QUARTER": "to_months(CAST({0} AS INTEGER) * 3)", "MONTH": "to_months(CAST({0} AS INTEGER))",
	"WEEK": "to_days(CAST({0} AS INTEGER) * 7)", "DAY": "to_days(CAST({0} AS INTEGER))", "HOUR": "to_hours(CAST({0} AS BIGINT))",
	"MINUTE": "to_minutes(CAST({0} AS BIGINT))", "SECOND": "to_microseconds(CAST({0} * 1000000 AS BIGINT))",
	"MILLISECOND": "to_microseconds(CAST({0} AS BIGINT) * 1000)", "MICROSECOND": "to_microseconds(CAST({0} AS BIGINT))",
}

func (b *binder) variableInterval(value Expr, unit string, t protocol.DataType, at parse.Pos) (Expr, error) {
	if !isNumeric(value.Type()) {
		to := tLong
		if unit == "SECOND" {
			to = decimalOf(18, 6)
		}
		var err error
		if value, err = convert(value, to, b.ctx, false); err != nil {
			return nil, placed(err, at)
		}
	}
	return rawOf(t, intervalFunctions[unit], value), nil
}

// amountOf is the number that a literal holds, text included.
func amountOf(e Expr) (*big.Rat, bool) {
	l, ok := asLiteral(e)
	if !ok {
		return nil, false
	}
	switch {
	case isIntegral(l.Of):
		return big.NewRat(l.Value.Int, 1), true
	case l.Of.Kind == protocol.KindDecimal:
		return new(big.Rat).SetString(l.Value.Dec.String(l.Of.Scale))
	case l.Of.Kind == protocol.KindString:
		text := strings.TrimSpace(l.Value.Str)
		if !plainNumber.MatchString(text) {
			return nil, false
		}
		return new(big.Rat).SetString(text)
	}
	return nil, false
}

var (
	plainNumber  = regexp.MustCompile(`^[+-]?(\d{1,20}(\.\d{0,12})?|\.\d{1,12})$`)
	intervalPair = regexp.MustCompile(`(?i)([+-]?\s*\d+(?:\.\d+)?)\s*(years?|quarters?|months?|weeks?|days?|hours?|minutes?|seconds?|milliseconds?|microseconds?)`)
	digitRun     = regexp.MustCompile(`\d+`)
)

// compoundInterval reads '1-2' YEAR TO MONTH, '1 2:3:4.5' DAY TO SECOND and MySQL's looser forms, whose numbers stand for the
// smallest units when there are fewer of them than units.
func compoundInterval(text, from, to string, mysql bool, at parse.Pos) (Expr, error) {
	units := compoundUnits(from, to)
	if units == nil {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%s to %s is no interval", from, to)
	}
	trimmed := strings.TrimSpace(text)
	negative := strings.HasPrefix(trimmed, "-")
	whole, fraction := trimmed, ""
	if to == "SECOND" {
		whole, fraction, _ = strings.Cut(trimmed, ".")
	}
	numbers := digitRun.FindAllString(whole, -1)
	if len(numbers) > len(units) || len(numbers) == 0 || !mysql && len(numbers) != len(units) {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is no interval of %s to %s", text, strings.ToLower(from), strings.ToLower(to))
	}
	units = units[len(units)-len(numbers):]
	t, total := tDayTime, int64(0)
	for i, digits := range numbers {
		if to == "MICROSECOND" && i == len(numbers)-1 && len(numbers) > 1 {
			digits = (digits + "000000")[:6]
		}
		n, err := strconv.ParseInt(digits, 10, 40)
		if err != nil {
			return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is out of range", text)
		}
		unit := intervalUnits[units[i]]
		if unit.months > 0 {
			t = tMonths
		}
		total += n * (unit.months + unit.micros)
	}
	if fraction != "" {
		n, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
		if err != nil {
			return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is no interval", text)
		}
		total += n
	}
	if negative {
		total = -total
	}
	return constant(t, protocol.Value{Int: total}), nil
}

// intervalText reads INTERVAL '1 day 2 hours'.
func intervalText(text string, at parse.Pos) (Expr, error) {
	pairs := intervalPair.FindAllStringSubmatch(text, -1)
	if rest := strings.TrimSpace(intervalPair.ReplaceAllString(text, "")); len(pairs) == 0 || rest != "" {
		return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is no interval", text)
	}
	var months, micros int64
	for _, p := range pairs {
		unit := intervalUnits[strings.TrimSuffix(strings.ToUpper(p[2]), "S")]
		amount, ok := new(big.Rat).SetString(strings.ReplaceAll(p[1], " ", ""))
		if !ok {
			return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is no interval", text)
		}
		count := amount.Mul(amount, big.NewRat(unit.months+unit.micros, 1))
		if !count.IsInt() || !count.Num().IsInt64() {
			return nil, fail(at, "INVALID_INTERVAL_FORMAT", "%q is out of range", text)
		}
		if unit.months > 0 {
			months += count.Num().Int64()
		} else {
			micros += count.Num().Int64()
		}
	}
	if months != 0 && micros != 0 {
		return nil, notSupported(at, "an interval of months and of days in one is not supported").WithHint("add the two intervals one after the other")
	}
	if months != 0 {
		return constant(tMonths, protocol.Value{Int: months}), nil
	}
	return constant(tDayTime, protocol.Value{Int: micros}), nil
}

// dayOnly tells whether an interval is written in whole days, so that a date plus it stays a date.
func dayOnly(e parse.Expr) bool {
	n, ok := e.(*parse.Interval)
	if !ok {
		return false
	}
	for _, p := range n.Parts {
		if p.To != "" || p.Unit != "DAY" && p.Unit != "WEEK" {
			return false
		}
	}
	return true
}

// datetimeArithmetic is + and - over dates, timestamps and intervals.
func (b *binder) datetimeArithmetic(op string, left, right Expr, wholeDays bool, at parse.Pos) (Expr, error) {
	lt, rt := left.Type(), right.Type()
	if op == "+" && (isInterval(lt) || !isDatetime(lt)) && isDatetime(rt) {
		left, right, lt, rt = right, left, rt, lt
	}
	switch {
	case isInterval(lt) && isInterval(rt):
		if lt.Kind != rt.Kind {
			return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "%s cannot join %s and %s", op, lt, rt)
		}
		return rawOf(lt, "({0} "+op+" {1})", left, right), nil
	case isInterval(rt) && lt.Kind == protocol.KindString:
		out, err := convert(left, tTimestamp, b.ctx, false)
		if err != nil {
			return nil, placed(err, at)
		}
		return b.addInterval(op, out, right, wholeDays), nil
	case isInterval(rt) && isDatetime(lt):
		return b.addInterval(op, left, right, wholeDays), nil
	case op == "-" && (isDatetime(lt) || lt.Kind == protocol.KindString) && (isDatetime(rt) || rt.Kind == protocol.KindString):
		return b.datetimeDifference(left, right, at)
	case lt.Kind == protocol.KindDate && (isIntegral(rt) || rt.Kind == protocol.KindVoid):
		days, err := convert(right, tInt, b.ctx, false)
		if err != nil {
			return nil, placed(err, at)
		}
		return rawOf(tDate, "({0} "+op+" {1})", left, days), nil
	}
	return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "%s cannot join %s and %s", op, lt, rt)
}

// addInterval adds months by the session zone's calendar and days and less as exact time, as Spark does.
func (b *binder) addInterval(op string, e, interval Expr, wholeDays bool) Expr {
	switch t := e.Type(); {
	case t.Kind == protocol.KindDate && (interval.Type().Kind == protocol.KindIntervalYearMonth || wholeDays):
		return castTo(tDate, "{0} "+op+" {1}", e, interval)
	case t.Kind == protocol.KindDate && b.ctx.Dialect == Spark:
		ts, err := convert(e, tTimestamp, b.ctx, false)
		if err != nil {
			ts = e
		}
		return rawOf(tTimestamp, "({0} "+op+" {1})", ts, interval)
	case t.Kind == protocol.KindDate:
		return rawOf(tNTZ, "({0} "+op+" {1})", e, interval)
	case t.Kind == protocol.KindTimestamp && interval.Type().Kind == protocol.KindIntervalYearMonth && !b.ctx.isUTC():
		return rawOf(tTimestamp, b.ctx.instant("("+b.ctx.local("{0}")+" "+op+" {1})"), e, interval)
	default:
		return rawOf(t, "({0} "+op+" {1})", e, interval)
	}
}

func (b *binder) datetimeDifference(left, right Expr, at parse.Pos) (Expr, error) {
	t, ok := commonType(left.Type(), right.Type(), b.ctx)
	if !ok || !isDatetime(t) {
		return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "- cannot join %s and %s", left.Type(), right.Type())
	}
	for _, e := range []*Expr{&left, &right} {
		var err error
		if *e, err = convert(*e, t, b.ctx, false); err != nil {
			return nil, placed(err, at)
		}
	}
	if t.Kind == protocol.KindDate {
		return rawOf(tDayTime, "to_days(CAST({0} - {1} AS INTEGER))", left, right), nil
	}
	return rawOf(tDayTime, "({0} - {1})", left, right), nil
}

// scaleInterval is an interval times or divided by a number.
func (b *binder) scaleInterval(op string, left, right Expr, at parse.Pos) (Expr, error) {
	if op == "*" && isInterval(right.Type()) {
		left, right = right, left
	}
	if !isInterval(left.Type()) || !isNumeric(right.Type()) {
		return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "%s cannot join %s and %s", op, left.Type(), right.Type())
	}
	if left.Type().Kind == protocol.KindIntervalYearMonth {
		sql := fmt.Sprintf("to_months(CAST(round(spark_months({0}) %s {1}) AS INTEGER))", op)
		return guardedInterval(op, tMonths, sql, left, right), nil
	}
	return guardedInterval(op, tDayTime, fmt.Sprintf("to_microseconds(CAST(round(spark_micros({0}) %s {1}) AS BIGINT))", op), left, right), nil
}

func guardedInterval(op string, t protocol.DataType, sql string, left, right Expr) Expr {
	if op == "*" {
		return rawOf(t, sql, left, right)
	}
	return guarded(t, sql, failSQL("INTERVAL_DIVIDED_BY_ZERO", "An interval was divided by zero."), left, right)
}
