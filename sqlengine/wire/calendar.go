package wire

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// civil is the date of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
func civil(days int64) (year int64, month, day int) {
	// Years begin in March here, so that the leap day is the last of a year; an era is 400 years of 146,097 days.
	days += 719_468
	era := days / 146_097
	if days < 0 {
		era = (days - 146_096) / 146_097
	}
	ofEra := days - era*146_097
	yearOfEra := (ofEra - ofEra/1_460 + ofEra/36_524 - ofEra/146_096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*ofYear + 2) / 153
	day = int(ofYear-(153*shifted+2)/5) + 1
	month = int(shifted) + 3
	year = yearOfEra + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// daysOf is the day of a date, counted from 1970-01-01.
func daysOf(year int64, month, day int) int64 {
	if month <= 2 {
		year--
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	yearOfEra := year - era*400
	shifted := int64(month+9) % 12
	ofYear := (153*shifted+2)/5 + int64(day) - 1
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + ofYear - 719_468
}

// validDate tells whether the calendar has a date.
func validDate(year int64, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	y, m, d := civil(daysOf(year, month, day))
	return y == year && m == month && d == day
}

// maxYear is the last year of the protocol's dates; the first is 0.
const maxYear = 9999

// digits2 appends two digits.
func digits2(out []byte, n int) []byte { return append(out, byte('0'+n/10%10), byte('0'+n%10)) }

// appendDate writes YYYY-MM-DD; false for a year that has not four digits.
func appendDate(out []byte, days int64) ([]byte, bool) {
	year, month, day := civil(days)
	if year < 0 || year > maxYear {
		return out, false
	}
	out = digits2(digits2(out, int(year/100)), int(year%100))
	out = digits2(append(out, '-'), month)
	return digits2(append(out, '-'), day), true
}

// appendClock writes HH:MM:SS of seconds; hours may have more digits.
func appendClock(out []byte, seconds int64) []byte {
	hours := seconds / 3600
	if hours > 99 {
		out = append(out, byte('0'+hours/100%10))
	}
	out = digits2(out, int(hours%100))
	out = digits2(append(out, ':'), int(seconds/60%60))
	return digits2(append(out, ':'), int(seconds%60))
}

// appendMicros writes a point and as many digits as the fraction needs, and at least so many; nothing for none.
func appendMicros(out []byte, micros int64, digits int) []byte {
	if micros == 0 && digits == 0 {
		return out
	}
	out = append(out, '.')
	for unit := int64(100_000); unit > 0 && (digits > 0 || micros != 0); unit /= 10 {
		out = append(out, byte('0'+micros/unit))
		micros %= unit
		digits--
	}
	return out
}

// floorDiv divides, rounding down; the rest is never negative.
func floorDiv(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}
