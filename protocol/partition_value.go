package protocol

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// DecodePartitionValue reads a partition value as the log stores it (protocol, "Partition Value Serialization").
// null is a JSON null, and "" means the same for every type. A timestamp without an offset of its own is a reading of the
// writer's clock, which is taken to stand in zone (nil: UTC). Text that is no value of the type, and types that cannot be
// partition values, are DELTA_INVALID_PARTITION_VALUE.
func DecodePartitionValue(t DataType, text string, null bool, zone *time.Location) (Value, error) {
	if null || text == "" {
		return NullValue(t.Kind), nil
	}
	v, ok := ParseValue(t, text, zone)
	if !ok {
		return Value{}, NewError("DELTA_INVALID_PARTITION_VALUE", "the partition value %q is no %s", shorten(text), t)
	}
	return v, nil
}

// ParseValue reads the text of a scalar, as partition values and the bounds of statistics write it; false where the text is
// no value of the type or the type has no such text. Decimals are exact: digits beyond the scale are refused.
func ParseValue(t DataType, text string, zone *time.Location) (Value, bool) {
	v := Value{Kind: t.Kind}
	ok := true
	switch t.Kind {
	case KindVoid:
		return NullValue(KindVoid), true
	case KindString, KindBinary:
		// Binary values are written as the characters of their UTF-8 reading; JSON has undone its own escapes already.
		v.Str = text
	case KindBoolean:
		switch {
		case strings.EqualFold(text, "true"):
			v.Int = 1
		case !strings.EqualFold(text, "false"):
			return Value{}, false
		}
	case KindByte:
		v.Int, ok = parseInteger(text, 8)
	case KindShort:
		v.Int, ok = parseInteger(text, 16)
	case KindInteger:
		v.Int, ok = parseInteger(text, 32)
	case KindLong:
		v.Int, ok = parseInteger(text, 64)
	case KindFloat:
		v.Float, ok = parseFloat(text, 32)
	case KindDouble:
		v.Float, ok = parseFloat(text, 64)
	case KindDecimal:
		v.Scale = t.Scale
		v.Dec, ok = ParseInt128Decimal(strings.TrimSpace(text), t.Scale)
		ok = ok && v.Dec.Digits() <= max(t.Precision, 1)
	case KindDate:
		p := timeText{text: strings.TrimSpace(text)}
		v.Int, ok = p.date()
		ok = ok && p.rest() == ""
	case KindTimestamp:
		v.Int, ok = parseTimestamp(text, zone, true)
	case KindTimestampNTZ:
		v.Int, ok = parseTimestamp(text, nil, false)
	case KindIntervalYearMonth:
		v.Int, ok = parseYearMonth(text)
	case KindIntervalDayTime:
		v.Int, ok = parseDayTime(text)
	default:
		return Value{}, false
	}
	return v, ok
}

func parseInteger(text string, bits int) (int64, bool) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseInt(text, 10, bits)
	if err == nil {
		return v, true
	}
	// Widened from nothing, but written by hand or by Python: 5.0 is 5.
	d, ok := ParseInt128Decimal(text, 0)
	v, fits := d.Int64()
	return v, ok && fits && v >= -1<<(bits-1) && v <= 1<<(bits-1)-1
}

func parseFloat(text string, bits int) (float64, bool) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "nan":
		return math.NaN(), true
	case "infinity", "+infinity", "inf", "+inf":
		return math.Inf(1), true
	case "-infinity", "-inf":
		return math.Inf(-1), true
	}
	if strings.ContainsAny(text, "xXpP_nN") {
		return 0, false // Go's hexadecimal and grouped forms
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil && !math.IsInf(f, 0) { // beyond the range is infinite, as in Java
		return 0, false
	}
	return f, true
}

// timeText reads dates and times from the left.
type timeText struct {
	text string
	pos  int
}

func (p *timeText) rest() string { return p.text[p.pos:] }

func (p *timeText) take(b byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == b {
		p.pos++
		return true
	}
	return false
}

// digits reads from least to most digits.
func (p *timeText) digits(least, most int) (int64, bool) {
	start, v := p.pos, int64(0)
	for p.pos < len(p.text) && p.pos-start < most && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		v = v*10 + int64(p.text[p.pos]-'0')
		p.pos++
	}
	return v, p.pos-start >= least
}

// date reads [+-]y-m-d and gives days since 1970. Years have up to seven digits.
func (p *timeText) date() (int64, bool) {
	negative := p.take('-')
	if !negative {
		p.take('+')
	}
	year, ok := p.digits(4, 7)
	if negative {
		year = -year
	}
	if !ok || !p.take('-') {
		return 0, false
	}
	month, ok := p.digits(1, 2)
	if !ok || month < 1 || month > 12 || !p.take('-') {
		return 0, false
	}
	day, ok := p.digits(1, 2)
	if !ok || day < 1 || day > daysInMonth(year, month) {
		return 0, false
	}
	return DaysFromCivil(year, month, day), true
}

// clock reads h:m[:s[.fraction]] in microseconds; digits beyond the sixth are dropped, as Spark does.
func (p *timeText) clock() (int64, bool) {
	hour, ok := p.digits(1, 2)
	if !ok || hour > 23 || !p.take(':') {
		return 0, false
	}
	minute, ok := p.digits(1, 2)
	if !ok || minute > 59 {
		return 0, false
	}
	micros := (hour*3600 + minute*60) * 1_000_000
	if !p.take(':') {
		return micros, true
	}
	second, ok := p.digits(1, 2)
	if !ok || second > 59 {
		return 0, false
	}
	micros += second * 1_000_000
	if p.take('.') {
		start := p.pos
		fraction, ok := p.digits(1, 6)
		if !ok {
			return 0, false
		}
		for n := p.pos - start; n < 6; n++ {
			fraction *= 10
		}
		for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
			p.pos++
		}
		micros += fraction
	}
	return micros, true
}

// parseTimestamp reads a date, optionally a time after a blank or T, and optionally an offset or zone name.
// Without one the reading stands in zone. A timestamp_ntz has no zone: one that is there is read over, since the wall
// clock reading is the value.
func parseTimestamp(text string, zone *time.Location, instant bool) (int64, bool) {
	p := timeText{text: strings.TrimSpace(text)}
	days, ok := p.date()
	if !ok {
		return 0, false
	}
	var clock int64
	if p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == 'T') {
		p.pos++
		if clock, ok = p.clock(); !ok {
			return 0, false
		}
	}
	if days > math.MaxInt64/microsPerDay-1 || days < math.MinInt64/microsPerDay+1 {
		return 0, false
	}
	micros := days*microsPerDay + clock
	named := strings.TrimSpace(p.rest())
	if named == "" {
		if !instant {
			return micros, true
		}
		return wallClock(micros, zone), true
	}
	offset, fixed := parseOffset(named)
	switch {
	case !instant:
		return micros, fixed
	case fixed:
		return micros - offset*1_000_000, true
	}
	// Zone names need the time zone database, which is data and not I/O of ours only where the caller has loaded it.
	if zone != nil && strings.Trim(named, "[]") == zone.String() {
		return wallClock(micros, zone), true
	}
	return 0, false
}

// parseOffset reads Z, UTC, GMT or [+-]h[h][:mm[:ss]] or [+-]hhmm, in seconds.
func parseOffset(text string) (int64, bool) {
	for _, name := range []string{"UTC", "GMT", "UT"} {
		if after, ok := strings.CutPrefix(text, name); ok {
			if after == "" {
				return 0, true
			}
			text = after
			break
		}
	}
	if text == "Z" || text == "z" {
		return 0, true
	}
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	p := timeText{text: text, pos: 1}
	hours, ok := p.digits(1, 2)
	var minutes, seconds int64
	if p.take(':') {
		var ok2 bool
		minutes, ok2 = p.digits(2, 2)
		ok = ok && ok2
		if p.take(':') {
			seconds, ok2 = p.digits(2, 2)
			ok = ok && ok2
		}
	} else if p.rest() != "" {
		var ok2 bool
		minutes, ok2 = p.digits(2, 2)
		ok = ok && ok2
	}
	if !ok || p.rest() != "" || hours > 18 || minutes > 59 || seconds > 59 {
		return 0, false
	}
	total := hours*3600 + minutes*60 + seconds
	if text[0] == '-' {
		total = -total
	}
	return total, true
}

// intervalBody unwraps INTERVAL [-]'...' UNIT TO UNIT; bare text passes as it is.
func intervalBody(text, unit string) (body string, negative, ok bool) {
	text = strings.TrimSpace(text)
	upper := strings.ToUpper(text)
	if !strings.HasPrefix(upper, "INTERVAL") {
		return text, false, true
	}
	text = strings.TrimSpace(text[len("INTERVAL"):])
	if after, minus := strings.CutPrefix(text, "-"); minus {
		text, negative = strings.TrimSpace(after), true
	}
	if !strings.HasPrefix(text, "'") {
		return "", false, false
	}
	body, tail, closed := strings.Cut(text[1:], "'")
	return body, negative, closed && strings.Join(strings.Fields(strings.ToUpper(tail)), " ") == unit
}

// parseYearMonth reads an ANSI literal such as INTERVAL '1-2' YEAR TO MONTH, in months.
func parseYearMonth(text string) (int64, bool) {
	body, negative, ok := intervalBody(text, "YEAR TO MONTH")
	p := timeText{text: body}
	if p.take('-') {
		negative = !negative
	} else {
		p.take('+')
	}
	years, ok1 := p.digits(1, 9)
	ok = ok && ok1 && p.take('-')
	months, ok2 := p.digits(1, 2)
	if !ok || !ok2 || months > 11 || p.rest() != "" {
		return 0, false
	}
	total := years*12 + months
	if negative {
		total = -total
	}
	return total, total >= math.MinInt32 && total <= math.MaxInt32
}

// parseDayTime reads an ANSI literal such as INTERVAL '1 02:03:04.5' DAY TO SECOND, in microseconds.
func parseDayTime(text string) (int64, bool) {
	body, negative, ok := intervalBody(text, "DAY TO SECOND")
	p := timeText{text: body}
	if p.take('-') {
		negative = !negative
	} else {
		p.take('+')
	}
	days, ok1 := p.digits(1, 9)
	ok = ok && ok1 && p.take(' ')
	clock, ok2 := p.clock()
	if !ok || !ok2 || p.rest() != "" || days >= math.MaxInt64/microsPerDay {
		return 0, false
	}
	total := days*microsPerDay + clock
	if negative {
		total = -total
	}
	return total, true
}
