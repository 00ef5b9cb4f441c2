package protocol

import "time"

const microsPerDay = 24 * 3600 * 1_000_000

func floorDiv(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}

// civil turns days since 1970 into a date of the proleptic Gregorian calendar.
func civil(days int64) (year, month, day int64) {
	era, doe := floorDiv(days+719468, 146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	shifted := (5*doy + 2) / 153
	day = doy - (153*shifted+2)/5 + 1
	month = shifted + 3
	year = yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysFromCivil gives the days since 1970 of a date of the proleptic Gregorian calendar.
func DaysFromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era, yoe := floorDiv(year, 400)
	doy := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

func daysInMonth(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// wallClock turns a wall clock reading in a zone into an instant; nil is UTC. A reading that a change of the clocks skips
// is taken with the offset before the change, as java.time does; one that occurs twice is the earlier.
func wallClock(micros int64, zone *time.Location) int64 {
	if zone == nil || zone == time.UTC {
		return micros
	}
	seconds, fraction := floorDiv(micros, 1_000_000)
	offsetAt := func(unix int64) int64 { _, off := time.Unix(unix, 0).In(zone).Zone(); return int64(off) }
	// The offsets before and after any change within a day of the reading: one of them applies.
	before, after := offsetAt(seconds-86400), offsetAt(seconds+86400)
	instant := seconds - before
	if before != after && offsetAt(instant) != before && offsetAt(seconds-after) == after {
		instant = seconds - after
	}
	return instant*1_000_000 + fraction
}
