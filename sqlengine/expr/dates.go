package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// dateFunctions are Spark's functions of dates and times, and those that both dialects share. A timestamp is looked at in the
// session's time zone.
var dateFunctions = []*function{
	custom("current_date curdate", inSpark, "", func(c *call) (Expr, error) { return c.today(), nil }),
	custom("current_timestamp now", inSpark, "", func(c *call) (Expr, error) {
		return constant(tTimestamp, protocol.Value{Int: c.ctx.Now.UnixMicro()}), nil
	}),
	custom("localtimestamp", inBoth, "", func(c *call) (Expr, error) { return c.localNow(), nil }),
	custom("current_timezone", inBoth, "", func(c *call) (Expr, error) { return textLiteral(c.zoneName()), nil }),
	custom("year", inSpark, "datetime", part("year")),
	custom("quarter", inSpark, "datetime", part("quarter")),
	custom("month", inSpark, "datetime", part("month")),
	custom("day dayofmonth", inSpark, "datetime", part("day")),
	custom("dayofyear", inBoth, "datetime", part("doy")),
	custom("dayofweek", inBoth, "datetime", partPlus("dow", 1)),
	custom("weekday", inBoth, "datetime", partPlus("isodow", -1)),
	custom("weekofyear", inBoth, "datetime", part("week")),
	custom("hour", inSpark, "datetime", part("hour")),
	custom("minute", inSpark, "datetime", part("minute")),
	custom("second", inSpark, "datetime", part("second")),
	lazily("extract date_part datepart", inBoth, "any any", extract),
	lazily("date_add", inSpark, "any any [any]", dateAdd),
	custom("date_sub", inSpark, "date any", addDays("-")),
	lazily("dateadd timestampadd", inSpark, "any any [any]", dateAdd),
	lazily("datediff date_diff timestampdiff", inSpark, "any any [any]", dateDiff),
	custom("add_months", inSpark, "date int", func(c *call) (Expr, error) {
		return castTo(tDate, "{0} + to_months({1})", c.args...), nil
	}),
	custom("months_between", inSpark, "timestamp timestamp [boolean]", monthsBetween),
	custom("last_day", inBoth, "date", func(c *call) (Expr, error) { return rawOf(tDate, "last_day({0})", c.args...), nil }),
	custom("next_day", inSpark, "date string", nextDay),
	custom("trunc", inSpark, "any any", truncDate),
	custom("date_trunc", inSpark, "string datetime", dateTrunc),
	fn("make_date", inBoth, "int int int", asDate, "make_date({0}, {1}, {2})").total(),
	custom("make_timestamp make_timestamp_ltz", inSpark, "int int int int int any [string]", makeTimestamp),
	custom("make_timestamp_ntz", inSpark, "int int int int int any", makeTimestamp),
	custom("to_date", inSpark, "any [string]", toDate),
	custom("try_to_date", inSpark, "any [string]", toDate),
	custom("to_timestamp to_timestamp_ltz", inSpark, "any [string]", toTimestamp(tTimestamp, false)),
	custom("to_timestamp_ntz", inSpark, "any [string]", toTimestamp(tNTZ, false)),
	custom("try_to_timestamp", inSpark, "any [string]", toTimestamp(tTimestamp, true)),
	custom("date_format", inSpark, "datetime string", dateFormat),
	custom("unix_timestamp to_unix_timestamp", inSpark, "[any] [string]", unixTimestamp),
	custom("from_unixtime", inSpark, "bigint [string]", fromUnixtime),
	fn("unix_date", inBoth, "date", asInt, "CAST({0} - DATE '1970-01-01' AS INTEGER)").total(),
	fn("date_from_unix_date", inBoth, "int", asDate, "(DATE '1970-01-01' + {0})").total(),
	fn("unix_seconds", inBoth, "timestamp", asLong, "CAST(floor(epoch_us({0}) / 1000000) AS BIGINT)").total(),
	fn("unix_millis", inBoth, "timestamp", asLong, "CAST(floor(epoch_us({0}) / 1000) AS BIGINT)").total(),
	fn("unix_micros", inBoth, "timestamp", asLong, "epoch_us({0})").total(),
	custom("timestamp_seconds", inBoth, "number", func(c *call) (Expr, error) { return convert(c.args[0], tTimestamp, c.ctx, false) }),
	fn("timestamp_millis", inBoth, "bigint", asTimestamp, "make_timestamptz({0} * 1000)").total(),
	fn("timestamp_micros", inBoth, "bigint", asTimestamp, "make_timestamptz({0})").total(),
	fn("dayname", inSpark, "date", asString, "left(dayname({0}), 3)").total(),
	fn("monthname", inSpark, "date", asString, "left(monthname({0}), 3)").total(),
	custom("from_utc_timestamp", inSpark, "timestamp string", shiftZone(true)),
	custom("to_utc_timestamp", inSpark, "timestamp string", shiftZone(false)),
	custom("convert_timezone", inSpark, "string any [any]", convertTimezone),
	fn("make_interval", inSpark, "[int] [int]", fixed(tMonths), "INTERVAL 0 MONTH", "to_years({0})", "to_months({0} * 12 + {1})").total(),
	fn("make_ym_interval", inSpark, "[int] [int]", fixed(tMonths), "INTERVAL 0 MONTH", "to_years({0})", "to_months({0} * 12 + {1})").total(),
	fn("make_dt_interval", inSpark, "[int] [int] [int] [double]", fixed(tDayTime), "INTERVAL 0 DAY", "to_days({0})", "(to_days({0}) + to_hours({1}))",
		"(to_days({0}) + to_hours({1}) + to_minutes({2}))", "(to_days({0}) + to_hours({1}) + to_minutes({2}) + to_microseconds(CAST({3} * 1000000 AS BIGINT)))").total(),
	custom("window_time", inSpark, "any", func(c *call) (Expr, error) {
		return nil, notSupported(c.at, "time windows are for streams and are not supported")
	}),
}

func (c *call) today() Expr {
	y, m, d := c.ctx.Now.In(c.ctx.location()).Date()
	days, _ := parseDate(fmt.Sprintf("%04d-%02d-%02d", y, int(m), d))
	return constant(tDate, protocol.Value{Int: days})
}

// localNow is the statement's start as the session's wall clock.
func (c *call) localNow() *Literal {
	_, offset := c.ctx.Now.In(c.ctx.location()).Zone()
	return constant(tNTZ, protocol.Value{Int: c.ctx.Now.UnixMicro() + int64(offset)*1_000_000})
}

func (c *call) zoneName() string {
	if c.ctx.TimeZone == "" {
		return "UTC"
	}
	return c.ctx.TimeZone
}

// wallClock is the text of a datetime operand as a DuckDB DATE or TIMESTAMP in the session's zone. DuckDB's date functions
// over an instant answer for UTC.
func (c *Context) wallClock(t protocol.DataType, x string) string {
	if t.Kind == protocol.KindTimestamp {
		return c.local(x)
	}
	return x
}

func part(name string) func(c *call) (Expr, error) { return partPlus(name, 0) }

func partPlus(name string, add int) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		sql := fmt.Sprintf("date_part('%s', %s)", name, c.ctx.wallClock(c.args[0].Type(), "{0}"))
		if add != 0 {
			sql += fmt.Sprintf(" + %d", add)
		}
		return castTo(tInt, sql, c.args[0]), nil
	}
}

// extractFields are the fields of EXTRACT that are integers, with the text over a wall clock.
var extractFields = map[string]string{
	"YEAR": "date_part('year', {0})", "Y": "date_part('year', {0})", "YEARS": "date_part('year', {0})", "YR": "date_part('year', {0})", "YRS": "date_part('year', {0})",
	"YEAROFWEEK": "date_part('isoyear', {0})", "QUARTER": "date_part('quarter', {0})", "QTR": "date_part('quarter', {0})",
	"MONTH": "date_part('month', {0})", "MON": "date_part('month', {0})", "MONS": "date_part('month', {0})", "MONTHS": "date_part('month', {0})",
	"WEEK": "date_part('week', {0})", "W": "date_part('week', {0})", "WEEKS": "date_part('week', {0})",
	"DAY": "date_part('day', {0})", "D": "date_part('day', {0})", "DAYS": "date_part('day', {0})",
	"DAYOFWEEK": "date_part('dow', {0}) + 1", "DOW": "date_part('dow', {0}) + 1", "DAYOFWEEK_ISO": "date_part('isodow', {0})", "DOW_ISO": "date_part('isodow', {0})",
	"DOY": "date_part('doy', {0})", "HOUR": "date_part('hour', {0})", "H": "date_part('hour', {0})", "HOURS": "date_part('hour', {0})", "HR": "date_part('hour', {0})", "HRS": "date_part('hour', {0})",
	"MINUTE": "date_part('minute', {0})", "M": "date_part('minute', {0})", "MIN": "date_part('minute', {0})", "MINS": "date_part('minute', {0})", "MINUTES": "date_part('minute', {0})",
}

var secondFields = map[string]bool{"SECOND": true, "S": true, "SEC": true, "SECONDS": true, "SECS": true}

func extract(c *call) (Expr, error) {
	field, ok := c.unit(0)
	if !ok {
		return nil, mismatch(c.at, "NON_FOLDABLE_INPUT", "the field of %s must be a constant", c.name)
	}
	e, err := c.bind(c.node.Args[1].Expr)
	if err != nil {
		return nil, err
	}
	if c.ctx.Dialect == MySQL {
		return c.mysqlExtract(field, e)
	}
	if isInterval(e.Type()) {
		return c.extractInterval(field, e)
	}
	given := e.Type()
	if e, err = c.accept(e, "datetime"); err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "extract takes a date, a timestamp or an interval, not %s", given)
	}
	clock := c.ctx.wallClock(e.Type(), "{0}")
	if secondFields[field] {
		t := decimalOf(8, 6)
		return castTo(t, "CAST(date_part('microsecond', "+clock+") AS DECIMAL(18,0)) * 0.000001", e), nil
	}
	sql, ok := extractFields[field]
	if !ok {
		return nil, fail(c.at, "INVALID_EXTRACT_FIELD", "%s is no field of a date or timestamp", field)
	}
	return castTo(tInt, strings.ReplaceAll(sql, "{0}", clock), e), nil
}

func (c *call) extractInterval(field string, e Expr) (Expr, error) {
	sql, ok := map[string]string{
		"YEAR": "spark_months({0}) // 12", "MONTH": "spark_months({0}) % 12", "DAY": "spark_micros({0}) // 86400000000",
		"HOUR": "spark_micros({0}) // 3600000000 % 24", "MINUTE": "spark_micros({0}) // 60000000 % 60",
	}[field]
	if ok {
		return castTo(tInt, sql, e), nil
	}
	if secondFields[field] {
		return castTo(decimalOf(8, 6), "CAST(spark_micros({0}) % 60000000 AS DECIMAL(18,0)) * 0.000001", e), nil
	}
	return nil, fail(c.at, "INVALID_EXTRACT_FIELD", "%s is no field of an interval", field)
}

// unit reads an argument that is a unit's name, bare or as text, in upper case.
func (c *call) unit(i int) (string, bool) {
	switch n := c.node.Args[i].Expr.(type) {
	case *parse.Literal:
		if n.Kind == parse.StringLiteral {
			return strings.ToUpper(n.Text), true
		}
	case *parse.Column:
		if len(n.Name) == 1 {
			return strings.ToUpper(n.Name[0].Name), true
		}
	}
	return "", false
}

// addDays is date_add(d, n); with an interval (MySQL's form) the date arithmetic of +.
func addDays(op string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if isInterval(c.args[1].Type()) {
			wholeDays := c.node != nil && dayOnly(c.node.Args[1].Expr)
			return c.datetimeArithmetic(op, c.args[0], c.args[1], wholeDays, c.at)
		}
		days, err := c.accept(c.args[1], "int")
		if err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 2 of %s must be a number of days, not %s", c.name, c.args[1].Type())
		}
		return rawOf(tDate, "({0} "+op+" {1})", c.args[0], days), nil
	}
}

// dateAdd is dateadd(unit, n, ts), which gives a timestamp, and dateadd(date, n).
func dateAdd(c *call) (Expr, error) {
	if len(c.node.Args) == 2 {
		args, err := c.bound(c.binder, c.node.Args)
		if err != nil {
			return nil, err
		}
		if args[0], err = c.accept(args[0], "date"); err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 1 of %s must be a date", c.name)
		}
		c.args = args
		return addDays("+")(c)
	}
	unit, ok := c.unit(0)
	name := strings.TrimSuffix(strings.TrimPrefix(unit, "SQL_TSI_"), "S")
	size, known := intervalUnits[map[string]string{"DAYOFYEAR": "DAY"}[name]]
	if !known {
		size, known = intervalUnits[name]
	}
	if !ok || !known {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "%s: %s is no unit of time", c.name, unit)
	}
	args, err := c.bound(c.binder, c.node.Args[1:])
	if err != nil {
		return nil, err
	}
	n, err := c.accept(args[0], "bigint")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 2 of %s must be a number, not %s", c.name, args[0].Type())
	}
	ts, err := c.accept(args[1], "datetime")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 3 of %s must be a timestamp, not %s", c.name, args[1].Type())
	}
	if ts.Type().Kind == protocol.KindDate {
		if ts, err = convert(ts, tTimestamp, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
	}
	if size.months > 0 {
		return c.addInterval("+", ts, rawOf(tMonths, fmt.Sprintf("to_months(CAST({0} * %d AS INTEGER))", size.months), n), false), nil
	}
	interval := rawOf(tDayTime, fmt.Sprintf("to_microseconds({0} * %d)", size.micros), n)
	if size.micros%86_400_000_000 == 0 && ts.Type().Kind == protocol.KindTimestamp && !c.ctx.isUTC() { // days follow the calendar
		days := rawOf(tDayTime, fmt.Sprintf("to_days(CAST({0} * %d AS INTEGER))", size.micros/86_400_000_000), n)
		return rawOf(tTimestamp, c.ctx.instant("("+c.ctx.local("{0}")+" + {1})"), ts, days), nil
	}
	return c.addInterval("+", ts, interval, false), nil
}

// dateDiff is datediff(end, start) in days, and timestampdiff(unit, start, end) in whole units.
func dateDiff(c *call) (Expr, error) {
	if len(c.node.Args) == 2 {
		args, err := c.bound(c.binder, c.node.Args)
		if err != nil {
			return nil, err
		}
		for i := range args {
			if args[i], err = c.accept(args[i], "date"); err != nil {
				return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be a date", i+1, c.name)
			}
		}
		return castTo(tInt, "{0} - {1}", args...), nil
	}
	unit, ok := c.unit(0)
	name := strings.TrimPrefix(unit, "SQL_TSI_")
	if _, known := intervalUnits[name]; !known {
		name = strings.TrimSuffix(name, "S")
	}
	if name == "DAYOFYEAR" {
		name = "DAY"
	}
	if _, known := intervalUnits[name]; !ok || !known {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "%s: %s is no unit of time", c.name, unit)
	}
	args, err := c.bound(c.binder, c.node.Args[1:])
	if err != nil {
		return nil, err
	}
	clocks := make([]Expr, 2)
	for i := range args {
		e, err := c.accept(args[i], "datetime")
		if err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be a timestamp, not %s", i+2, c.name, args[i].Type())
		}
		if clocks[i], err = convert(e, tNTZ, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
	}
	return rawNull(tLong, unitsBetween(name), clocks...), nil
}

// unitsBetween counts whole units from {0} to {1}, two wall clocks.
func unitsBetween(unit string) string {
	size := intervalUnits[unit]
	if size.months > 0 {
		return fmt.Sprintf("CAST(clock_months({0}, {1}) // %d AS BIGINT)", size.months)
	}
	return fmt.Sprintf("CAST((epoch_us({1}) - epoch_us({0})) // %d AS BIGINT)", size.micros)
}

func monthsBetween(c *call) (Expr, error) {
	clocks := make([]Expr, 2)
	for i := range clocks {
		var err error
		if clocks[i], err = convert(c.args[i], tNTZ, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
	}
	sql := "round(spark_months_between({0}, {1}), 8)"
	if len(c.args) == 3 {
		rounded, ok := c.args[2].(*Literal)
		if !ok {
			return nil, notSupported(c.at, "the third argument of months_between must be a constant")
		}
		if rounded.Value.Int == 0 {
			sql = "spark_months_between({0}, {1})"
		}
	}
	return rawOf(tDouble, sql, clocks...), nil
}

// weekdays are counted from Monday, 1.
var weekdays = map[string]int{"MO": 1, "TU": 2, "WE": 3, "TH": 4, "FR": 5, "SA": 6, "SU": 7}

func nextDay(c *call) (Expr, error) {
	text, ok := constantText(c.args[1])
	if !ok || len(text) < 2 {
		return nil, notSupported(c.at, "the day of next_day must be a constant name")
	}
	day, ok := weekdays[strings.ToUpper(text[:2])]
	if !ok {
		return nil, fail(c.at, "ILLEGAL_DAY_OF_WEEK", "%q is no day of the week", text)
	}
	return rawOf(tDate, fmt.Sprintf("({0} + CAST((%d - isodow({0}) + 6) %% 7 + 1 AS INTEGER))", day), c.args[0]), nil
}

// truncUnits are the units of trunc and date_trunc, with DuckDB's names.
var truncUnits = map[string]string{
	"YEAR": "year", "YYYY": "year", "YY": "year", "QUARTER": "quarter", "MONTH": "month", "MM": "month", "MON": "month", "WEEK": "week",
	"DAY": "day", "DD": "day", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second", "MILLISECOND": "millisecond", "MICROSECOND": "microsecond",
}

func truncDate(c *call) (Expr, error) {
	if isNumeric(c.args[0].Type()) {
		return c.callBound("truncate", c.at, c.args...)
	}
	e, err := c.accept(c.args[0], "date")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "trunc takes a date, not %s", c.args[0].Type())
	}
	text, ok := constantText(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the unit of trunc must be a constant")
	}
	unit, ok := truncUnits[strings.ToUpper(text)]
	if !ok || unit == "day" || unit == "hour" || unit == "minute" || unit == "second" || strings.HasSuffix(unit, "cond") {
		return Null(tDate), nil
	}
	return castTo(tDate, "date_trunc('"+unit+"', {0})", e), nil
}

func dateTrunc(c *call) (Expr, error) {
	text, ok := constantText(c.args[0])
	if !ok {
		return nil, notSupported(c.at, "the unit of date_trunc must be a constant")
	}
	e := c.args[1]
	if e.Type().Kind == protocol.KindDate {
		var err error
		if e, err = convert(e, tTimestamp, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
	}
	unit, ok := truncUnits[strings.ToUpper(text)]
	if !ok {
		return Null(e.Type()), nil
	}
	if e.Type().Kind == protocol.KindTimestamp {
		return rawOf(tTimestamp, c.ctx.instant("date_trunc('"+unit+"', "+c.ctx.local("{0}")+")"), e), nil
	}
	return rawOf(tNTZ, "date_trunc('"+unit+"', {0})", e), nil
}

func makeTimestamp(c *call) (Expr, error) {
	args := append([]Expr(nil), c.args[:6]...)
	var err error
	if args[5], err = convert(args[5], tDouble, c.ctx, false); err != nil {
		return nil, placed(err, c.at)
	}
	clock := "make_timestamp(CAST({0} AS BIGINT), CAST({1} AS BIGINT), CAST({2} AS BIGINT), CAST({3} AS BIGINT), CAST({4} AS BIGINT), {5})"
	if c.name == "make_timestamp_ntz" {
		return rawOf(tNTZ, clock, args...), nil
	}
	zone := c.ctx.location()
	if len(c.args) == 7 {
		name, ok := constantText(c.args[6])
		if !ok {
			return nil, notSupported(c.at, "the time zone of make_timestamp must be a constant")
		}
		if zone, err = Zone(name); err != nil {
			return nil, placed(err, c.at)
		}
	}
	return rawOf(tTimestamp, instantSQL(zone, clock), args...), nil
}

func shiftZone(from bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		name, ok := constantText(c.args[1])
		if !ok {
			return nil, notSupported(c.at, "the time zone of %s must be a constant", c.name)
		}
		zone, err := Zone(name)
		if err != nil {
			return nil, placed(err, c.at)
		}
		if from { // the instant's wall clock there, read as UTC's
			return rawOf(tTimestamp, instantSQL(utc, localSQL(zone, "{0}")), c.args[0]), nil
		}
		return rawOf(tTimestamp, instantSQL(zone, localSQL(utc, "{0}")), c.args[0]), nil
	}
}

// convertTimezone is convert_timezone([from,] to, timestamp_ntz).
func convertTimezone(c *call) (Expr, error) {
	names := c.args[:len(c.args)-1]
	source := c.ctx.location()
	var zones []string
	for _, n := range names {
		text, ok := constantText(n)
		if !ok {
			return nil, notSupported(c.at, "the time zones of convert_timezone must be constants")
		}
		zones = append(zones, text)
	}
	target, err := Zone(zones[len(zones)-1])
	if err != nil {
		return nil, placed(err, c.at)
	}
	if len(zones) == 2 {
		if source, err = Zone(zones[0]); err != nil {
			return nil, placed(err, c.at)
		}
	}
	ts, err := convert(c.args[len(c.args)-1], tNTZ, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	return rawOf(tNTZ, localSQL(target, instantSQL(source, "{0}")), ts), nil
}
