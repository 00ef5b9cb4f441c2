package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	dateText = regexp.MustCompile(`^([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?$`)
	timeText = regexp.MustCompile(`^(?:([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?)?(?:[T ]?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)? ?(Z|[Uu][Tt][Cc]|[A-Za-z]+(?:/[A-Za-z_+\-0-9/]+)?|(?:UTC|GMT|UT)?[+-]\d{1,2}(?::?\d{2})?(?::?\d{2})?)?$`)
)

// parseDate reads a date in Spark's forms: yyyy, yyyy-[m]m, yyyy-[m]m-[d]d, the last with anything behind a T or a blank.
// It gives days since 1970-01-01.
func parseDate(text string) (int64, bool) {
	m := dateText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	t, ok := civil(m[1], m[2], m[3])
	return floorDiv(t.Unix(), 86400), ok
}

// civil is midnight UTC of a date whose month and day may be empty (1); false for one that is in no calendar.
func civil(year, month, day string) (time.Time, bool) {
	y, err := strconv.Atoi(year)
	if err != nil {
		return time.Time{}, false
	}
	m, d := 1, 1
	if month != "" {
		m, _ = strconv.Atoi(month)
	}
	if day != "" {
		d, _ = strconv.Atoi(day)
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// parseTimestamp reads a timestamp in Spark's forms: a date form, then optionally T or a blank, h:m, h:m:s or h:m:s.fraction,
// and a zone. It gives microseconds since the epoch, in zone where the text names none, and whether it named one.
// A zone of nil asks for a wall clock reading: the text's zone is then left out of account.
func parseTimestamp(text string, zone *time.Location) (micros int64, zoned, ok bool) {
	m := timeText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[1] == "" || m[4] != "" && m[3] == "" || m[4] == "" && m[8] != "" && m[3] == "" {
		return 0, false, false
	}
	day, ok := civil(m[1], m[2], m[3])
	if !ok {
		return 0, false, false
	}
	var parts [3]int
	for i := range parts {
		parts[i], _ = strconv.Atoi(m[4+i])
	}
	if parts[0] > 23 || parts[1] > 59 || parts[2] > 59 {
		return 0, false, false
	}
	fraction, _ := strconv.Atoi((m[7] + "000000")[:6])
	clock := day.Add(time.Duration(parts[0])*time.Hour + time.Duration(parts[1])*time.Minute + time.Duration(parts[2])*time.Second)
	if m[8] != "" {
		named, err := Zone(m[8])
		if err != nil {
			return 0, false, false
		}
		zoned = true
		if zone != nil {
			zone = named
		}
	}
	if zone == nil {
		zone = time.UTC
	}
	return inZone(clock, zone).Unix()*1_000_000 + int64(fraction), zoned, true
}

// inZone reads a wall clock held as UTC in a zone; a reading in a gap moves forward by the gap's length, as Java does.
func inZone(clock time.Time, zone *time.Location) time.Time {
	if zone == time.UTC {
		return clock
	}
	_, before := clock.Add(-24 * time.Hour).In(zone).Zone()
	t := clock.Add(-time.Duration(before) * time.Second)
	_, at := t.In(zone).Zone()
	if at == before {
		return t
	}
	_, after := clock.Add(24 * time.Hour).In(zone).Zone()
	u := clock.Add(-time.Duration(after) * time.Second)
	if _, at := u.In(zone).Zone(); at == after {
		return u
	}
	return t // in a gap
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// dateString is yyyy-mm-dd of days since the epoch.
func dateString(days int64) string {
	t := time.Unix(days*86400, 0).UTC()
	return fmt.Sprintf("%s-%02d-%02d", yearString(t.Year()), int(t.Month()), t.Day())
}

func yearString(year int) string {
	switch {
	case year > 9999:
		return fmt.Sprintf("+%d", year)
	case year < 0:
		return fmt.Sprintf("-%04d", -year)
	}
	return fmt.Sprintf("%04d", year)
}

// timestampString is Spark's text of microseconds since the epoch in a zone; trailing zeros of the fraction are left out.
func timestampString(micros int64, zone *time.Location) string {
	seconds := floorDiv(micros, 1_000_000)
	t := time.Unix(seconds, 0).In(zone)
	text := fmt.Sprintf("%s-%02d-%02d %02d:%02d:%02d", yearString(t.Year()), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second())
	if fraction := micros - seconds*1_000_000; fraction != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")
	}
	return text
}
