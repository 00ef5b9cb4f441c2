package stats

import (
	"math"

	"deltasql/protocol"
)

const (
	microsPerSecond = 1_000_000
	secondsPerDay   = 86_400
	microsPerDay    = secondsPerDay * microsPerSecond
)

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

var monthDays = [...]int64{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// parseDate reads "yyyy-MM-dd" from the front of text: a sign and more than four digits of year are accepted, as Java prints
// years beyond 9999. It gives the rest of the text.
func parseDate(text []byte) (days int64, rest []byte, ok bool) {
	negative := false
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		negative = text[0] == '-'
		text = text[1:]
	}
	year, digits := int64(0), 0
	for digits < len(text) && digits < 7 && text[digits]-'0' <= 9 {
		year = year*10 + int64(text[digits]-'0')
		digits++
	}
	if digits < 4 {
		return 0, nil, false
	}
	text = text[digits:]
	if len(text) < 6 || text[0] != '-' || text[3] != '-' {
		return 0, nil, false
	}
	month, ok1 := twoDigits(text[1:])
	day, ok2 := twoDigits(text[4:])
	if !ok1 || !ok2 || month < 1 || month > 12 || day < 1 || day > monthDays[month-1] {
		return 0, nil, false
	}
	if negative {
		year = -year
	}
	if month == 2 && day == 29 && (year%4 != 0 || year%100 == 0 && year%400 != 0) {
		return 0, nil, false
	}
	return protocol.DaysFromCivil(year, month, day), text[6:], true
}

func twoDigits(text []byte) (int64, bool) {
	if len(text) < 2 || text[0]-'0' > 9 || text[1]-'0' > 9 {
		return 0, false
	}
	return int64(text[0]-'0')*10 + int64(text[1]-'0'), true
}

// offsetStyle says how the text of an instant gave its zone.
type offsetStyle uint8

const (
	offsetNone    offsetStyle = iota // no zone: a wall clock reading, or UTC
	offsetZulu                       // Z
	offsetHours                      // whole hours
	offsetMinutes                    // hours and minutes other than 00, no seconds
	offsetSeconds                    // down to the second
)

// parseInstant reads a date, or a date and a time with 'T' or a blank between, a fraction of any length (cut to microseconds) and
// an optional zone: "2024-01-02T03:04:05.678Z" of Spark, "2024-01-01 00:00:00+00" of DuckDB, "...+05:53:28".
// The result is in microseconds, with the offset taken off; false where the text is anything else or the instant has no int64.
func parseInstant(text []byte) (micros int64, style offsetStyle, ok bool) {
	days, rest, ok := parseDate(text)
	if !ok {
		return 0, 0, false
	}
	seconds, fraction := int64(0), int64(0)
	if len(rest) > 0 {
		if rest[0] != 'T' && rest[0] != ' ' {
			return 0, 0, false
		}
		if seconds, fraction, rest, ok = parseTime(rest[1:]); !ok {
			return 0, 0, false
		}
		var offset int64
		if offset, style, ok = parseOffset(rest); !ok {
			return 0, 0, false
		}
		seconds -= offset
	}
	const maxDays = math.MaxInt64/microsPerDay - 1
	if days > maxDays || days < -maxDays {
		return 0, 0, false
	}
	return days*microsPerDay + seconds*microsPerSecond + fraction, style, true
}

// parseTime reads "HH:mm[:ss[.f...]]".
func parseTime(text []byte) (seconds, fraction int64, rest []byte, ok bool) {
	hour, ok1 := twoDigits(text)
	if !ok1 || len(text) < 5 || text[2] != ':' {
		return 0, 0, nil, false
	}
	minute, ok2 := twoDigits(text[3:])
	if !ok2 || hour > 23 || minute > 59 {
		return 0, 0, nil, false
	}
	seconds = hour*3600 + minute*60
	text = text[5:]
	if len(text) == 0 || text[0] != ':' {
		return seconds, 0, text, true
	}
	second, ok3 := twoDigits(text[1:])
	if !ok3 || second > 59 {
		return 0, 0, nil, false
	}
	seconds += second
	text = text[3:]
	if len(text) == 0 || text[0] != '.' {
		return seconds, 0, text, true
	}
	digits := 0
	for text = text[1:]; len(text) > 0 && text[0]-'0' <= 9; text = text[1:] {
		if digits < 6 {
			fraction = fraction*10 + int64(text[0]-'0')
		}
		digits++
	}
	if digits == 0 {
		return 0, 0, nil, false
	}
	for ; digits < 6; digits++ {
		fraction *= 10
	}
	return seconds, fraction, text, true
}

// parseOffset reads "", "Z", "+HH", "+HH:mm", "+HHmm" or "+HH:mm:ss" and gives seconds east of UTC.
func parseOffset(text []byte) (seconds int64, style offsetStyle, ok bool) {
	if len(text) == 0 {
		return 0, offsetNone, true
	}
	if len(text) == 1 && text[0] == 'Z' {
		return 0, offsetZulu, true
	}
	if text[0] != '+' && text[0] != '-' {
		return 0, 0, false
	}
	negative := text[0] == '-'
	text = text[1:]
	style = offsetHours
	for unit := int64(3600); unit > 0 && len(text) > 0; unit /= 60 {
		if unit < 3600 && text[0] == ':' {
			text = text[1:]
		}
		part, ok := twoDigits(text)
		if !ok || unit == 3600 && part > 18 || part > 59 {
			return 0, 0, false
		}
		text = text[2:]
		seconds += part * unit
		switch {
		case unit == 60 && part != 0:
			style = offsetMinutes
		case unit == 1:
			style = offsetSeconds
		}
	}
	if len(text) > 0 {
		return 0, 0, false
	}
	if negative {
		seconds = -seconds
	}
	return seconds, style, true
}
