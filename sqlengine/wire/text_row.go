package wire

import (
	"math"
	"math/bits"
	"strconv"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

func textInteger(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	at := len(out)
	return measured(strconv.AppendInt(append(out, 0), v.Int64(row), 10), at), true
}

func textFloat(_ *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	f := v.Float64(row)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return out, false
	}
	at := len(out)
	size := 64
	if c.of.Kind == protocol.KindFloat && math.Abs(f) < nearMaxFloat {
		size = 32
	}
	return measured(appendFloat(append(out, 0), f, size), at), true
}

// nearMaxFloat is below the one FLOAT whose shortest text, read as a DOUBLE, is no FLOAT any more: some clients refuse that.
const nearMaxFloat = 3.4028234e38

// appendFloat writes the shortest text that reads back as the same number, without an exponent from 1e-15 up to 1e15, as MySQL does.
func appendFloat(out []byte, f float64, size int) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-15 || a >= 1e15) {
		at := len(out)
		out = strconv.AppendFloat(out, f, 'e', -1, size)
		// Go writes e+20 and e-07, MySQL e20 and e-7.
		for i := at; i < len(out); i++ {
			if out[i] != 'e' {
				continue
			}
			from, to := i+1, i+1
			if out[from] == '-' {
				to++
			}
			for from++; from < len(out)-1 && out[from] == '0'; from++ {
			}
			return out[:to+copy(out[to:], out[from:])]
		}
		return out
	}
	return strconv.AppendFloat(out, f, 'f', -1, size)
}

func textDecimal(_ *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	at := len(out)
	out = append(out, 0)
	if v.Type().Width <= 18 {
		return measured(appendDecimal(out, v.Int64(row), c.of.Scale), at), true
	}
	n := v.Int128(row)
	return measured(appendWideDecimal(out, n, c.of.Scale), at), true
}

// appendDecimal writes n with the point before its last scale digits.
func appendDecimal(out []byte, n int64, scale int) []byte {
	magnitude := uint64(n)
	if n < 0 {
		out, magnitude = append(out, '-'), -magnitude
	}
	return appendDigits(out, 0, magnitude, scale)
}

func appendWideDecimal(out []byte, n duck.Int128, scale int) []byte {
	high, low := uint64(n.Hi), n.Lo
	if n.Hi < 0 {
		out = append(out, '-')
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	return appendDigits(out, high, low, scale)
}

// appendDigits writes a number of 128 bits with the point before its last scale digits.
func appendDigits(out []byte, high, low uint64, scale int) []byte {
	var digits [40]byte
	at := len(digits)
	for high != 0 || low != 0 {
		var rest uint64
		high, rest = high/10, high%10
		low, rest = bits.Div64(rest, low, 10)
		at--
		digits[at] = byte('0' + rest)
	}
	for len(digits)-at <= scale {
		at--
		digits[at] = '0'
	}
	point := len(digits) - scale
	out = append(out, digits[at:point]...)
	if scale > 0 {
		out = append(append(out, '.'), digits[point:]...)
	}
	return out
}

func textDate(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	at := len(out)
	out, ok := appendDate(append(out, 0), v.Int64(row))
	return measured(out, at), ok
}

// wallClock is a timestamp as it is shown.
func (w *rowWriter) wallClock(v *duck.Vector, row int, t *protocol.DataType) int64 {
	if micros := v.Micros(row); t.Kind == protocol.KindTimestamp {
		return w.zone.local(micros)
	} else {
		return micros
	}
}

func textMoment(w *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	at := len(out)
	out, ok := appendMoment(append(out, 0), w.wallClock(v, row, &c.of), c.digits)
	return measured(out, at), ok
}

// appendMoment writes YYYY-MM-DD HH:MM:SS and a fraction of at least some digits.
func appendMoment(out []byte, micros int64, digits int) ([]byte, bool) {
	days, rest := floorDiv(micros, microsPerDay)
	out, ok := appendDate(out, days)
	out = appendClock(append(out, ' '), rest/microsPerSecond)
	return appendMicros(out, rest%microsPerSecond, digits), ok
}

// timeOf is an interval as a TIME: its sign and its size. A TIME has at most 838 hours.
func timeOf(i duck.Interval) (negative bool, micros int64, ok bool) {
	micros = int64(i.Days)*microsPerDay + i.Micros
	if negative = micros < 0; negative {
		micros = -micros
	}
	return negative, micros, i.Months == 0 && micros < 839*3600*microsPerSecond && micros >= 0
}

func textTime(_ *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	negative, micros, ok := timeOf(v.Interval(row))
	at := len(out)
	if out = append(out, 0); negative {
		out = append(out, '-')
	}
	out = appendClock(out, micros/microsPerSecond)
	return measured(appendMicros(out, micros%microsPerSecond, c.digits), at), ok
}
