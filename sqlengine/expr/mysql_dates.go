package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// mysqlDateFunctions: DATETIME is a wall clock, TIME an interval of up to 838 hours. Text that is no date gives NULL.
var mysqlDateFunctions = []*function{
	custom("now current_timestamp sysdate localtime", inMySQL, "[bigint]", mysqlNow),
	custom("localtime sysdate", inSpark, "[bigint]", mysqlNow),
	custom("current_date curdate", inMySQL, "", func(c *call) (Expr, error) { return c.today(), nil }),
	custom("curtime current_time", inBoth, "[bigint]", func(c *call) (Expr, error) { return c.moment(tDayTime, c.localNow().Value.Int) }),
	custom("utc_date", inBoth, "", func(c *call) (Expr, error) {
		return constant(tDate, protocol.Value{Int: floorDiv(c.ctx.Now.Unix(), 86400)}), nil
	}),
	custom("utc_timestamp", inBoth, "[bigint]", func(c *call) (Expr, error) { return c.moment(tNTZ, c.ctx.Now.UnixMicro()) }),
	custom("utc_time", inBoth, "[bigint]", func(c *call) (Expr, error) { return c.moment(tDayTime, c.ctx.Now.UnixMicro()) }),
	custom("date", inMySQL, "any", mysqlCastCall(tDate)),
	custom("time", inBoth, "any", mysqlCastCall(tDayTime)),
	custom("timestamp", inMySQL, "any [any]", mysqlTimestamp),
	custom("hour", inMySQL, "any", clockPart("hour", "my_micros({0}) // 3600000000")),
	custom("minute", inMySQL, "any", clockPart("minute", "my_micros({0}) // 60000000 % 60")),
	custom("second", inMySQL, "any", clockPart("second", "my_micros({0}) // 1000000 % 60")),
	custom("microsecond", inBoth, "any", clockPart("microsecond", "my_micros({0}) % 1000000")),
	custom("year", inMySQL, "any", datePart("YEAR")),
	custom("quarter", inMySQL, "any", datePart("QUARTER")),
	custom("month", inMySQL, "any", datePart("MONTH")),
	custom("day dayofmonth", inMySQL, "any", datePart("DAY")),
	custom("dayname", inMySQL, "datetime", func(c *call) (Expr, error) {
		return rawOf(tString, "dayname("+c.ctx.wallClock(c.args[0].Type(), "{0}")+")", c.args[0]), nil
	}),
	custom("monthname", inMySQL, "any", func(c *call) (Expr, error) {
		e, err := c.beside(tString, "monthname({0})", "my_zero_month(%s)")
		if err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 1 of %s must be a date, not %s", c.name, c.args[0].Type())
		}
		return e, nil
	}),
	custom("week", inBoth, "datetime [bigint]", week(false)),
	custom("yearweek", inBoth, "datetime [bigint]", week(true)),
	lazily("date_add adddate", inMySQL, "any any [any]", mysqlDateAdd("+")),
	lazily("date_sub subdate", inMySQL, "any any", mysqlDateAdd("-")),
	lazily("adddate", inSpark, "any any", mysqlDateAdd("+")),
	lazily("subdate", inSpark, "any any", mysqlDateAdd("-")),
	lazily("timestampadd", inMySQL, "any any any", mysqlTimestampAdd),
	lazily("timestampdiff", inMySQL, "any any any", dateDiff),
	custom("datediff", inMySQL, "date date", func(c *call) (Expr, error) { return castTo(tLong, "{0} - {1}", c.args...), nil }),
	custom("addtime", inBoth, "any any", addTime("+")),
	custom("subtime", inBoth, "any any", addTime("-")),
	custom("timediff", inBoth, "any any", timeDiff),
	fn("period_add", inBoth, "bigint bigint", asLong, "my_period({0}, {1})").total(),
	fn("period_diff", inBoth, "bigint bigint", asLong, "(({0} // 100 * 12 + {0} % 100) - ({1} // 100 * 12 + {1} % 100))").total(),
	custom("time_to_sec", inBoth, "any", func(c *call) (Expr, error) {
		e, err := c.mysqlConvert(c.args[0], tDayTime, c.at)
		return rawNull(tLong, "CAST(spark_micros({0}) // 1000000 AS BIGINT)", e), err
	}),
	custom("sec_to_time", inBoth, "number", func(c *call) (Expr, error) {
		return withDigits(rawNull(tDayTime, "to_microseconds(CAST({0} * 1000000::BIGINT AS BIGINT))", c.args[0]), numberDigits(c.args[0])), nil
	}),
	fn("maketime", inBoth, "bigint bigint double", fixed(tDayTime), "CASE WHEN {1} BETWEEN 0 AND 59 AND {2} >= 0 AND {2} < 60 THEN to_microseconds(CAST((abs({0}) * 3600 + {1} * 60 + {2}) * 1000000 AS BIGINT) * CASE WHEN {0} < 0 THEN -1 ELSE 1 END) END"),
	fn("makedate", inBoth, "bigint bigint", asDate, "CASE WHEN {1} > 0 THEN make_date(CASE WHEN {0} < 70 THEN {0} + 2000 WHEN {0} < 100 THEN {0} + 1900 ELSE {0} END, 1, 1) + CAST({1} - 1 AS INTEGER) END"),
	fn("to_days", inBoth, "date", asLong, "CAST({0} - DATE '1970-01-01' + 719528 AS BIGINT)").total(),
	fn("from_days", inBoth, "bigint", asDate, "(DATE '1970-01-01' + CAST({0} - 719528 AS INTEGER))").total(),
	custom("to_seconds", inBoth, "datetime", func(c *call) (Expr, error) {
		e, err := c.mysqlConvert(c.args[0], tNTZ, c.at)
		return rawNull(tLong, "CAST(epoch_us({0}) // 1000000 + 719528 * 86400::BIGINT AS BIGINT)", e), err
	}),
	custom("unix_timestamp", inMySQL, "[any]", mysqlUnixTimestamp),
	custom("from_unixtime", inMySQL, "number [string]", mysqlFromUnixtime),
	custom("convert_tz", inBoth, "any string string", convertTZ),
	custom("date_format", inMySQL, "any string", mysqlDateFormat),
	custom("time_format", inBoth, "any string", timeFormat),
	custom("str_to_date", inBoth, "string string", strToDate),
	custom("get_format", inBoth, "string string", getFormat),
}

func mysqlNow(c *call) (Expr, error) { return c.moment(tNTZ, c.localNow().Value.Int) }

// moment is a wall clock, or its time of day, with the fractional digits that the function's argument asks for.
func (c *call) moment(of protocol.DataType, micros int64) (Expr, error) {
	digits := int64(0)
	if len(c.args) == 1 {
		var ok bool
		if digits, ok = constantInt(c.args[0]); !ok || digits < 0 || digits > 6 {
			return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "%s takes 0 to 6 fractional digits", c.name)
		}
	}
	if of.Kind == protocol.KindIntervalDayTime {
		micros -= floorDiv(micros, 86_400_000_000) * 86_400_000_000
	}
	unit := pow10(6 - int(digits))
	return withDigits(constant(of, protocol.Value{Int: floorDiv(micros, unit) * unit}), int(digits)), nil
}

func mysqlCastCall(t protocol.DataType) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) { return c.mysqlConvert(c.args[0], t, c.at) }
}

func mysqlTimestamp(c *call) (Expr, error) {
	e, err := c.mysqlConvert(c.args[0], tNTZ, c.at)
	if err != nil || len(c.args) == 1 {
		return e, err
	}
	t, err := c.mysqlConvert(c.args[1], tDayTime, c.at)
	return rawNull(tNTZ, "({0} + {1})", e, t), err
}

// clockPart is a part of a datetime's clock, or of a TIME.
func clockPart(name, ofTime string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e := c.args[0]
		if isDatetime(e.Type()) && name != "microsecond" {
			return castTo(tInt, "date_part('"+name+"', "+c.ctx.wallClock(e.Type(), "{0}")+")", e), nil
		}
		t, err := c.mysqlConvert(e, tDayTime, c.at)
		return castTo(tInt, ofTime, t).(*Raw).nullable(), err
	}
}

// week is WEEK(d, mode) and YEARWEEK(d, mode), modes 0 to 7.
func week(withYear bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		mode := int64(0)
		if len(c.args) == 2 {
			var ok bool
			if mode, ok = constantInt(c.args[1]); !ok || mode < 0 || mode > 7 {
				return nil, notSupported(c.at, "the mode of %s must be a constant from 0 to 7", c.name)
			}
		}
		d, err := c.mysqlConvert(c.args[0], tDate, c.at)
		if err != nil {
			return nil, err
		}
		if withYear {
			mode |= 2
			return castTo(tLong, fmt.Sprintf("my_week_year%d({0}) * 100 + my_week%d({0})", mode, mode), d), nil
		}
		return castTo(tInt, fmt.Sprintf("my_week%d({0})", mode), d), nil
	}
}

func mysqlDateAdd(op string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if len(c.node.Args) == 3 {
			return dateAdd(c)
		}
		e, err := c.bind(c.node.Args[0].Expr)
		if err != nil {
			return nil, err
		}
		if i, ok := c.node.Args[1].Expr.(*parse.Interval); ok {
			return c.mysqlAddInterval(op, e, i, c.at)
		}
		days, err := c.bind(c.node.Args[1].Expr)
		if err != nil {
			return nil, err
		}
		n, err := c.mysqlNumber(days, c.at)
		if err != nil {
			return nil, err
		}
		if n, err = c.mysqlConvert(n, tInt, c.at); err != nil {
			return nil, err
		}
		if e.Type().Kind == protocol.KindTimestampNTZ {
			return c.inCalendar(rawNull(tNTZ, "({0} "+op+" to_days({1}))", e, n), "date_add_interval"), nil
		}
		d, err := c.mysqlConvert(e, tDate, c.at)
		if err != nil {
			return nil, err
		}
		sum := c.inCalendar(rawNull(tDate, "({0} "+op+" {1})", d, n), "date_add_interval")
		if e.Type().Kind == protocol.KindString {
			return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
		}
		return sum, nil
	}
}

func mysqlTimestampAdd(c *call) (Expr, error) {
	unit, ok := c.unit(0)
	unit = strings.TrimPrefix(unit, "SQL_TSI_")
	if _, known := intervalUnits[unit]; !ok || !known {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "%s: %s is no unit of time", c.name, unit)
	}
	e, err := c.bind(c.node.Args[2].Expr)
	if err != nil {
		return nil, err
	}
	interval := &parse.Interval{Parts: []parse.IntervalPart{{Value: c.node.Args[1].Expr, Unit: unit}}}
	return c.mysqlAddInterval("+", e, interval, c.at)
}

// addTime is ADDTIME and SUBTIME: of a TIME, or of a datetime by the form of the first argument.
func addTime(op string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		right, err := c.mysqlConvert(c.args[1], tDayTime, c.at)
		if err != nil {
			return nil, err
		}
		left := c.args[0]
		text, isText := constantText(left)
		if isDatetime(left.Type()) || isText && plainDatetime.MatchString(text) {
			clock, err := c.mysqlConvert(left, tNTZ, c.at)
			if err != nil {
				return nil, err
			}
			sum := rawNull(tNTZ, "({0} "+op+" {1})", clock, right)
			if isText {
				return rawNull(tString, "CAST({0} AS VARCHAR)", sum), nil
			}
			return sum, nil
		}
		time, err := c.mysqlConvert(left, tDayTime, c.at)
		if err != nil {
			return nil, err
		}
		sum := rawNull(tDayTime, "({0} "+op+" {1})", time, right)
		if left.Type().Kind == protocol.KindString {
			return c.mysqlConvert(sum, tString, c.at)
		}
		return sum, nil
	}
}

func timeDiff(c *call) (Expr, error) {
	clock := func(e Expr) bool {
		text, ok := constantText(e)
		return isDatetime(e.Type()) || ok && plainDatetime.MatchString(text)
	}
	t := tDayTime
	if clock(c.args[0]) && clock(c.args[1]) {
		t = tNTZ
	} else if clock(c.args[0]) != clock(c.args[1]) {
		return Null(tDayTime), nil
	}
	args := make([]Expr, 2)
	for i := range args {
		var err error
		if args[i], err = c.mysqlConvert(c.args[i], t, c.at); err != nil {
			return nil, err
		}
	}
	return rawNull(tDayTime, "({0} - {1})", args...), nil
}

func mysqlUnixTimestamp(c *call) (Expr, error) {
	if len(c.args) == 0 {
		return constant(tLong, protocol.Value{Int: c.ctx.Now.Unix()}), nil
	}
	e := c.args[0]
	digits := 0
	if text, ok := constantText(e); ok {
		_, fraction, _ := strings.Cut(text, ".")
		digits = min(len(fraction), 6)
	} else if isTime(e.Type()) {
		digits = shownDigits(e)
	}
	ts, err := c.mysqlConvert(e, tTimestamp, c.at)
	if err != nil {
		return nil, err
	}
	if digits > 0 {
		of := decimalOf(14+digits, digits)
		return castTo(of, "CAST(epoch_us({0}) AS DECIMAL(18,0)) * 0.000001", ts).(*Raw).nullable(), nil
	}
	return rawNull(tLong, "CAST(floor(epoch_us({0}) / 1000000) AS BIGINT)", ts), nil
}

func mysqlFromUnixtime(c *call) (Expr, error) {
	clock := rawNull(tNTZ, "CASE WHEN {0} >= 0 THEN "+c.ctx.local("make_timestamptz(CAST({0} * 1000000::BIGINT AS BIGINT))")+" END", c.args[0])
	if len(c.args) == 1 {
		return withDigits(clock, numberDigits(c.args[0])), nil
	}
	return c.mysqlFormatted(clock, c.args[1])
}

// numberDigits is how many digits of a fraction a number of seconds brings.
func numberDigits(e Expr) int {
	switch t := e.Type(); {
	case t.Kind == protocol.KindDecimal:
		return min(t.Scale, 6)
	case isFloating(t):
		return 6
	}
	return 0
}

func convertTZ(c *call) (Expr, error) {
	clock, err := c.mysqlConvert(c.args[0], tNTZ, c.at)
	if err != nil {
		return nil, err
	}
	text := "{0}"
	for i, wrap := range []func(zone string) (string, error){
		func(name string) (string, error) {
			zone, err := Zone(name)
			if err != nil {
				return "", err
			}
			return instantSQL(zone, text), nil
		},
		func(name string) (string, error) {
			zone, err := Zone(name)
			if err != nil {
				return "", err
			}
			return localSQL(zone, text), nil
		},
	} {
		name, ok := constantText(c.args[i+1])
		if !ok {
			if isNullLiteral(c.args[i+1]) {
				return Null(tNTZ), nil
			}
			return nil, notSupported(c.at, "the time zones of CONVERT_TZ must be constants")
		}
		if strings.EqualFold(name, "SYSTEM") {
			name = c.zoneName()
		}
		next, err := wrap(name)
		if err != nil {
			return Null(tNTZ), nil // MySQL gives NULL for a zone it does not know
		}
		text = next
	}
	return rawNull(tNTZ, text, clock), nil
}

// mysqlExtract is EXTRACT(unit FROM d), with compound units such as YEAR_MONTH.
func (c *call) mysqlExtract(field string, e Expr) (Expr, error) {
	units := map[string]string{
		"YEAR": "date_part('year', {0})", "QUARTER": "date_part('quarter', {0})", "MONTH": "date_part('month', {0})", "DAY": "date_part('day', {0})",
		"WEEK": "my_week0(CAST({0} AS DATE))", "YEAR_MONTH": "date_part('year', {0}) * 100 + date_part('month', {0})",
	}
	times := map[string]string{
		"HOUR": "my_micros({0}) // 3600000000", "MINUTE": "my_micros({0}) // 60000000 % 60", "SECOND": "my_micros({0}) // 1000000 % 60",
		"MICROSECOND": "my_micros({0}) % 1000000", "HOUR_MINUTE": "my_micros({0}) // 3600000000 * 100 + my_micros({0}) // 60000000 % 60",
		"HOUR_SECOND":        "my_micros({0}) // 3600000000 * 10000 + my_micros({0}) // 60000000 % 60 * 100 + my_micros({0}) // 1000000 % 60",
		"MINUTE_SECOND":      "my_micros({0}) // 60000000 % 60 * 100 + my_micros({0}) // 1000000 % 60",
		"SECOND_MICROSECOND": "my_micros({0}) % 60000000",
	}
	days := map[string]string{
		"DAY_HOUR": "%d0 * 100 + date_part('hour', {0})", "DAY_MINUTE": "%d0 * 10000 + date_part('hour', {0}) * 100 + date_part('minute', {0})",
		"DAY_SECOND": "%d0 * 1000000 + date_part('hour', {0}) * 10000 + date_part('minute', {0}) * 100 + date_part('second', {0})",
	}
	if sql, ok := times[field]; ok {
		t, err := c.mysqlConvert(e, tDayTime, c.at)
		return castTo(tLong, sql, t).(*Raw).nullable(), err
	}
	sql, ok := units[field]
	if !ok {
		if sql, ok = days[field]; !ok {
			return nil, fail(c.at, "INVALID_EXTRACT_FIELD", "%s is no field of a date or time", field)
		}
		sql = strings.ReplaceAll(sql, "%d0", "date_part('day', {0})")
	}
	c.args = []Expr{e}
	zero, parted := zeroParts[field]
	clock, compound := dayClocks[field]
	switch {
	case compound: // a zero date's day counts none of its hours
		time, err := c.mysqlConvert(e, tDayTime, c.at)
		if err != nil || zeroDateOf(e) == "" {
			break
		}
		day, err := c.mysqlConvert(e, tNTZ, c.at)
		return rawNull(tLong, fmt.Sprintf("CAST(coalesce(%s %% 100 * %s + "+clock+", "+sql+") AS BIGINT)", zeroDateOf(e), dayUnits[field]), day, e, time), err
	case parted:
		out, err := c.beside(tLong, sql, zero)
		return out, placed(err, c.at)
	}
	day, err := c.mysqlConvert(e, tNTZ, c.at)
	return castTo(tLong, sql, day).(*Raw).nullable(), err
}

// dayClocks are the clocks of compound fields that begin with the day, over a TIME {2}, and dayUnits what a day counts in them.
var (
	dayClocks = map[string]string{
		"DAY_HOUR": "my_micros({2}) // 3600000000", "DAY_MINUTE": "my_micros({2}) // 3600000000 * 100 + my_micros({2}) // 60000000 %% 60",
		"DAY_SECOND": "my_micros({2}) // 3600000000 * 10000 + my_micros({2}) // 60000000 %% 60 * 100 + my_micros({2}) // 1000000 %% 60",
	}
	dayUnits = map[string]string{"DAY_HOUR": "100", "DAY_MINUTE": "10000", "DAY_SECOND": "1000000"}
)

var dateFormats = map[string]string{
	"DATE/USA": "%m.%d.%Y", "DATE/JIS": "%Y-%m-%d", "DATE/ISO": "%Y-%m-%d", "DATE/EUR": "%d.%m.%Y", "DATE/INTERNAL": "%Y%m%d",
	"DATETIME/USA": "%Y-%m-%d %H.%i.%s", "DATETIME/JIS": "%Y-%m-%d %H:%i:%s", "DATETIME/ISO": "%Y-%m-%d %H:%i:%s", "DATETIME/EUR": "%Y-%m-%d %H.%i.%s", "DATETIME/INTERNAL": "%Y%m%d%H%i%s",
	"TIME/USA": "%h:%i:%s %p", "TIME/JIS": "%H:%i:%s", "TIME/ISO": "%H:%i:%s", "TIME/EUR": "%H.%i.%s", "TIME/INTERNAL": "%H%i%s",
}

func getFormat(c *call) (Expr, error) {
	kind, _ := constantText(c.args[0])
	place, ok := constantText(c.args[1])
	format, known := dateFormats[strings.ReplaceAll(strings.ToUpper(kind), "TIMESTAMP", "DATETIME")+"/"+strings.ToUpper(place)]
	if !ok || !known {
		return Null(tString), nil
	}
	return textLiteral(format), nil
}
