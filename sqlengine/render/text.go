package render

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// appendScalar writes the types whose text needs no JSON quoting. ISO is the machine form of instants (T, six digits, Z for
// timestamps); otherwise a blank separates date and time and zero fractions are left out.
func appendScalar(out []byte, v *duck.Vector, row int, t *protocol.DataType, iso bool) []byte {
	switch t.Kind {
	case protocol.KindDecimal:
		n := v.Int128(row)
		return append(out, protocol.Int128{Hi: n.Hi, Lo: n.Lo}.String(t.Scale)...)
	case protocol.KindBinary, protocol.KindGeometry, protocol.KindGeography:
		return hex.AppendEncode(out, v.Bytes(row))
	case protocol.KindDate:
		return appendDate(out, time.Unix(v.Int64(row)*86400, 0).UTC())
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return appendTimestamp(out, v.Int64(row), t.Kind == protocol.KindTimestamp, iso)
	case protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime:
		return appendInterval(out, v.Interval(row), t.Kind)
	default:
		return append(out, v.Bytes(row)...)
	}
}

// appendDate writes YYYY-MM-DD; years outside 0000 to 9999 carry their sign.
func appendDate(out []byte, at time.Time) []byte {
	year := at.Year()
	if year >= 0 && year <= 9999 {
		return at.AppendFormat(out, "2006-01-02")
	}
	if year > 9999 {
		out = append(out, '+')
	}
	out = strconv.AppendInt(out, int64(year), 10)
	return at.AppendFormat(out, "-01-02")
}

func appendTimestamp(out []byte, micros int64, instant, iso bool) []byte {
	at := time.UnixMicro(micros).UTC()
	out = appendDate(out, at)
	if iso {
		out = at.AppendFormat(out, "T15:04:05.000000")
		if instant {
			out = append(out, 'Z')
		}
		return out
	}
	if at.Nanosecond() == 0 {
		return at.AppendFormat(out, " 15:04:05")
	}
	return at.AppendFormat(out, " 15:04:05.999999")
}

// AppendText writes one value for people: text as it is, nested values as JSON.
func AppendText(out []byte, v *duck.Vector, row int, t *protocol.DataType) []byte {
	if !v.Valid(row) {
		return append(out, "NULL"...)
	}
	switch t.Kind {
	case protocol.KindString:
		return append(out, v.Bytes(row)...)
	case protocol.KindFloat, protocol.KindDouble, protocol.KindBoolean, protocol.KindByte, protocol.KindShort,
		protocol.KindInteger, protocol.KindLong:
		start := len(out)
		out = AppendJSON(out, v, row, t, VariantPlain)
		return append(out[:start], bytes.Trim(out[start:], `"`)...)
	case protocol.KindVariant, protocol.KindArray, protocol.KindMap, protocol.KindStruct:
		return AppendJSON(out, v, row, t, VariantPlain)
	case protocol.KindFile:
		return appendFileText(out, v, row)
	default:
		return appendScalar(out, v, row, t, false)
	}
}

// appendInterval writes an interval as an ANSI literal: INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND.
func appendInterval(out []byte, i duck.Interval, kind protocol.Kind) []byte {
	if kind == protocol.KindIntervalYearMonth {
		months := int64(i.Months)
		out = append(out, "INTERVAL '"...)
		if months < 0 {
			out, months = append(out, '-'), -months
		}
		out = strconv.AppendInt(out, months/12, 10)
		out = append(out, '-')
		out = strconv.AppendInt(out, months%12, 10)
		return append(out, "' YEAR TO MONTH"...)
	}
	micros := int64(i.Days)*24*3600*1e6 + i.Micros
	out = append(out, "INTERVAL '"...)
	if micros < 0 {
		out, micros = append(out, '-'), -micros
	}
	seconds := micros / 1e6
	out = strconv.AppendInt(out, seconds/86400, 10)
	out = append(out, ' ')
	out = time.Unix(seconds%86400, micros%1e6*1000).UTC().AppendFormat(out, "15:04:05.999999")
	return append(out, "' DAY TO SECOND"...)
}
