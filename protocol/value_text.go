package protocol

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
			return strings.ToUpper(simpleNames[v.Kind]) + "('" + v.Text() + "')"
		}
		if v.Kind == KindFloat {
			return strconv.FormatFloat(v.Float, 'g', -1, 32) + "F"
		}
		return strconv.FormatFloat(v.Float, 'g', -1, 64) + "D"
	}
	return v.Text()
}

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
