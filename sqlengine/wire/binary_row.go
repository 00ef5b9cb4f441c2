package wire

import (
	"math"

	"deltasql/scan/duck"
)

func binaryTiny(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return append(out, byte(v.Int64(row))), true
}

func binaryShort(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return appendUint16(out, uint16(v.Int64(row))), true
}

func binaryLong(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return appendUint32(out, uint32(v.Int64(row))), true
}

func binaryLongLong(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return appendUint64(out, uint64(v.Int64(row))), true
}

func binaryFloat(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	f := v.Float64(row)
	return appendUint32(out, math.Float32bits(float32(f))), !math.IsNaN(f) && !math.IsInf(f, 0)
}

func binaryDouble(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	f := v.Float64(row)
	return appendUint64(out, math.Float64bits(f)), !math.IsNaN(f) && !math.IsInf(f, 0)
}

func binaryDate(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return appendBinaryDate(append(out, 4), v.Int64(row))
}

func appendBinaryDate(out []byte, days int64) ([]byte, bool) {
	year, month, day := civil(days)
	return append(appendUint16(out, uint16(year)), byte(month), byte(day)), year >= 0 && year <= maxYear
}

// binaryMoment writes a date, its clock and its microseconds, each left out with all behind it where they are zero.
func binaryMoment(w *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	days, rest := floorDiv(w.wallClock(v, row, &c.of), microsPerDay)
	seconds, fraction := rest/microsPerSecond, rest%microsPerSecond
	length := byte(4)
	switch {
	case fraction != 0:
		length = 11
	case seconds != 0:
		length = 7
	}
	out, ok := appendBinaryDate(append(out, length), days)
	if length >= 7 {
		out = append(out, byte(seconds/3600), byte(seconds/60%60), byte(seconds%60))
	}
	if length == 11 {
		out = appendUint32(out, uint32(fraction))
	}
	return out, ok
}

func binaryTime(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	negative, micros, ok := timeOf(v.Interval(row))
	seconds, fraction := micros/microsPerSecond, micros%microsPerSecond
	length := byte(12)
	switch {
	case micros == 0:
		return append(out, 0), ok
	case fraction == 0:
		length = 8
	}
	sign := byte(0)
	if negative {
		sign = 1
	}
	out = appendUint32(append(out, length, sign), uint32(seconds/86400))
	out = append(out, byte(seconds/3600%24), byte(seconds/60%60), byte(seconds%60))
	if fraction != 0 {
		out = appendUint32(out, uint32(fraction))
	}
	return out, ok
}
