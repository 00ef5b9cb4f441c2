package protocol

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// NullValue is the typed NULL.
func NullValue(kind Kind) Value { return Value{Kind: kind, Null: true} }

// Compare orders two values of comparable kinds as Spark does: NULL first; all numbers by value, whatever their kind, NaN
// above every other and -0.0 equal to 0.0; strings and binaries by bytes; both timestamp kinds and dates by instant, a date
// as its midnight. Values of kinds that do not compare are ordered by kind, so that the order is total.
func (v Value) Compare(o Value) int {
	if v.Null || o.Null {
		switch {
		case v.Null && o.Null:
			return 0
		case v.Null:
			return -1
		}
		return 1
	}
	a, b := v.family(), o.family()
	if a != b {
		return cmp.Compare(a, b)
	}
	switch a {
	case familyNumber:
		return compareNumbers(v, o)
	case familyText:
		return strings.Compare(v.Str, o.Str)
	case familyTime:
		if v.Kind == o.Kind {
			return cmp.Compare(v.Int, o.Int)
		}
		return v.instant().Cmp(o.instant())
	}
	return cmp.Compare(v.Int, o.Int)
}

type family uint8

const (
	familyBoolean family = iota
	familyNumber
	familyText
	familyTime
	familyMonths
	familyMicros
	familyNone
)

func (v Value) family() family {
	switch v.Kind {
	case KindBoolean:
		return familyBoolean
	case KindByte, KindShort, KindInteger, KindLong, KindFloat, KindDouble, KindDecimal:
		return familyNumber
	case KindString, KindBinary:
		return familyText
	case KindDate, KindTimestamp, KindTimestampNTZ:
		return familyTime
	case KindIntervalYearMonth:
		return familyMonths
	case KindIntervalDayTime:
		return familyMicros
	}
	return familyNone
}

const microsPerDay = 24 * 3600 * 1_000_000

// instant is microseconds since 1970; 128 bits, for a date's may exceed 64.
func (v Value) instant() Int128 {
	if v.Kind != KindDate {
		return Int128FromInt64(v.Int)
	}
	hi, lo, _ := mulAdd(0, uint64(max(v.Int, -v.Int)), microsPerDay, 0)
	n := Int128{Hi: int64(hi), Lo: lo}
	if v.Int < 0 {
		return n.Neg()
	}
	return n
}

func (v Value) isFloat() bool { return v.Kind == KindFloat || v.Kind == KindDouble }

func compareNumbers(v, o Value) int {
	switch {
	case v.isFloat() && o.isFloat():
		return compareFloats(v.Float, o.Float)
	case v.isFloat():
		return -compareExact(o, v.Float)
	case o.isFloat():
		return compareExact(v, o.Float)
	}
	a, aScale := v.decimal()
	b, bScale := o.decimal()
	return CompareDecimals(a, aScale, b, bScale)
}

func (v Value) decimal() (Int128, int) {
	if v.Kind == KindDecimal {
		return v.Dec, v.Scale
	}
	return Int128FromInt64(v.Int), 0
}

func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

// compareExact compares an integer or decimal with a double without rounding the exact side.
func compareExact(v Value, f float64) int {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 1):
		return -1
	case math.IsInf(f, -1):
		return 1
	}
	n, scale := v.decimal()
	return ratCompare(n, scale, f)
}

// Text is the value as CAST(v AS STRING) gives it: the form of partition values in SHOW PARTITIONS and of results that
// are shown. A timestamp is shown in UTC. NULL is "NULL".
func (v Value) Text() string {
	if v.Null {
		return "NULL"
	}
	switch v.Kind {
	case KindBoolean:
		return strconv.FormatBool(v.Int != 0)
	case KindByte, KindShort, KindInteger, KindLong:
		return strconv.FormatInt(v.Int, 10)
	case KindFloat:
		return javaFloat(v.Float, 32)
	case KindDouble:
		return javaFloat(v.Float, 64)
	case KindDecimal:
		return v.Dec.String(v.Scale)
	case KindString, KindBinary:
		return v.Str
	case KindDate:
		return formatDate(v.Int)
	case KindTimestamp, KindTimestampNTZ:
		text := formatMicros(v.Int, ' ')
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	case KindIntervalYearMonth:
		return "INTERVAL '" + yearMonth(v.Int) + "' YEAR TO MONTH"
	case KindIntervalDayTime:
		return "INTERVAL '" + dayTime(v.Int) + "' DAY TO SECOND"
	}
	return ""
}

// SQL is a literal of Spark's dialect that has the value and, as far as literals go, its type.
func (v Value) SQL() string {
	if v.Null {
		return "NULL"
	}
	switch v.Kind {
	case KindString:
		return "'" + strings.ReplaceAll(strings.ReplaceAll(v.Str, `\`, `\\`), "'", `\'`) + "'"
	case KindBinary:
		return "X'" + strings.ToUpper(hex.EncodeToString([]byte(v.Str))) + "'"
	case KindDate:
		return "DATE '" + v.Text() + "'"
	case KindTimestamp:
		return "TIMESTAMP '" + v.Text() + " UTC'"
	case KindTimestampNTZ:
		return "TIMESTAMP_NTZ '" + v.Text() + "'"
	case KindByte:
		return v.Text() + "Y"
	case KindShort:
		return v.Text() + "S"
	case KindLong:
		return v.Text() + "L"
	case KindDecimal:
		return v.Text() + "BD"
	case KindFloat, KindDouble:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return strings.ToUpper(kindSQL(v.Kind)) + "('" + v.Text() + "')"
		}
		if v.Kind == KindFloat {
			return strconv.FormatFloat(v.Float, 'g', -1, 32) + "F"
		}
		return strconv.FormatFloat(v.Float, 'g', -1, 64) + "D"
	}
	return v.Text()
}

func kindSQL(k Kind) string { return simpleNames[k] }

// AppendJSON writes the value in the encoding of the command line's events (integers as numbers, decimals as strings with
// their scale, binaries in hexadecimal, times in ISO form).
func (v Value) AppendJSON(dst []byte) []byte {
	if v.Null {
		return append(dst, "null"...)
	}
	switch v.Kind {
	case KindBoolean:
		return appendBool(dst, v.Int != 0)
	case KindByte, KindShort, KindInteger, KindLong:
		return strconv.AppendInt(dst, v.Int, 10)
	case KindFloat, KindDouble:
		bits := 64
		if v.Kind == KindFloat {
			bits = 32
		}
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return appendJSONString(dst, javaFloat(v.Float, bits))
		}
		return strconv.AppendFloat(dst, v.Float, 'g', -1, bits)
	case KindDecimal:
		return appendJSONString(dst, v.Dec.String(v.Scale))
	case KindBinary:
		return appendJSONString(dst, hex.EncodeToString([]byte(v.Str)))
	case KindTimestamp:
		return appendJSONString(dst, formatMicros(v.Int, 'T')+"Z")
	case KindTimestampNTZ:
		return appendJSONString(dst, formatMicros(v.Int, 'T'))
	}
	return appendJSONString(dst, v.Text())
}

// javaFloat prints as Java's Double.toString does: a point always, an exponent outside 1e-3 to 1e7.
func javaFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		text := strconv.FormatFloat(f, 'E', -1, bits)
		mantissa, exponent, _ := strings.Cut(text, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(f, 'f', -1, bits)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// formatDate prints days since 1970; years beyond 9999 get a sign, as ISO 8601 has it.
func formatDate(days int64) string {
	year, month, day := civil(days)
	return formatYear(year) + fmt.Sprintf("-%02d-%02d", month, day)
}

func formatYear(year int64) string {
	switch {
	case year > 9999:
		return fmt.Sprintf("+%d", year)
	case year < 0:
		return fmt.Sprintf("-%04d", -year)
	}
	return fmt.Sprintf("%04d", year)
}

// formatMicros prints microseconds since 1970 with six digits of fraction.
func formatMicros(micros int64, separator byte) string {
	days, rest := floorDiv(micros, microsPerDay)
	seconds := rest / 1_000_000
	return formatDate(days) + fmt.Sprintf("%c%02d:%02d:%02d.%06d", separator, seconds/3600, seconds/60%60, seconds%60, rest%1_000_000)
}

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

func yearMonth(months int64) string {
	sign := ""
	if months < 0 {
		sign = "-"
	}
	y, m := months/12, months%12
	return fmt.Sprintf("%s%d-%d", sign, max(y, -y), max(m, -m))
}

func dayTime(micros int64) string {
	sign := ""
	magnitude := uint64(micros)
	if micros < 0 {
		sign, magnitude = "-", -magnitude
	}
	seconds := magnitude / 1_000_000
	text := fmt.Sprintf("%s%d %02d:%02d:%02d", sign, seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)
	if fraction := magnitude % 1_000_000; fraction != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")
	}
	return text
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
