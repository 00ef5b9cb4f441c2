package protocol

import (
	"cmp"
	"math/bits"
	"strings"
)

// Int128FromInt64 widens.
func Int128FromInt64(v int64) Int128 { return Int128{Hi: v >> 63, Lo: uint64(v)} }

// Int64 narrows; false where the value does not fit.
func (a Int128) Int64() (int64, bool) { return int64(a.Lo), a.Hi == int64(a.Lo)>>63 }

// Sign is -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	}
	return 1
}

// Neg is the two's complement negation; the smallest value is its own negation.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{Hi: int64(hi), Lo: lo}
}

// Cmp orders two integers of equal scale.
func (a Int128) Cmp(b Int128) int {
	if a.Hi != b.Hi {
		return cmp.Compare(a.Hi, b.Hi)
	}
	return cmp.Compare(a.Lo, b.Lo)
}

// abs is the magnitude; it also holds for the smallest value.
func (a Int128) abs() (hi, lo uint64) {
	if a.Hi < 0 {
		a = a.Neg()
	}
	return uint64(a.Hi), a.Lo
}

// mulAdd is magnitude*m + add; false on a carry out of 128 bits.
func mulAdd(hi, lo, m, add uint64) (uint64, uint64, bool) {
	loHi, loLo := bits.Mul64(lo, m)
	hiHi, hiLo := bits.Mul64(hi, m)
	sum, carry := bits.Add64(hiLo, loHi, 0)
	low, carry2 := bits.Add64(loLo, add, 0)
	high, carry3 := bits.Add64(sum, 0, carry2)
	return high, low, hiHi == 0 && carry == 0 && carry3 == 0
}

// signed puts a sign to a magnitude below 2^127.
func signed(hi, lo uint64, negative bool) (Int128, bool) {
	if hi>>63 != 0 {
		return Int128{}, false
	}
	v := Int128{Hi: int64(hi), Lo: lo}
	if negative {
		v = v.Neg()
	}
	return v, true
}

// Rescale changes the scale of an unscaled decimal exactly; false where digits would be lost or it would overflow.
func (a Int128) Rescale(from, to int) (Int128, bool) {
	if from == to || a.Sign() == 0 {
		return a, true
	}
	hi, lo := a.abs()
	for ; from < to; from++ {
		var ok bool
		if hi, lo, ok = mulAdd(hi, lo, 10, 0); !ok {
			return Int128{}, false
		}
	}
	for ; from > to; from-- {
		qh, r := hi/10, hi%10
		ql, rem := bits.Div64(r, lo, 10)
		if rem != 0 {
			return Int128{}, false
		}
		hi, lo = qh, ql
	}
	return signed(hi, lo, a.Hi < 0)
}

// CompareDecimals orders a*10^-aScale and b*10^-bScale without rounding.
func CompareDecimals(a Int128, aScale int, b Int128, bScale int) int {
	if aScale == bScale {
		return a.Cmp(b)
	}
	if a.Sign() != b.Sign() {
		return cmp.Compare(a.Sign(), b.Sign())
	}
	if aScale > bScale {
		return -CompareDecimals(b, bScale, a, aScale)
	}
	// The one with the smaller scale is brought up; if it does not fit any more, its magnitude is the larger.
	scaled, ok := a.Rescale(aScale, bScale)
	if !ok {
		return a.Sign()
	}
	return scaled.Cmp(b)
}

// Digits is the number of decimal digits of the magnitude, 1 for zero.
func (a Int128) Digits() int {
	return len(strings.TrimPrefix(a.String(0), "-"))
}

// String prints the value with the point put scale digits from the right: Int128{Lo: 1234}.String(2) is "12.34".
func (a Int128) String(scale int) string {
	var buf [48]byte
	at := len(buf)
	hi, lo := a.abs()
	digits := 0
	for ; hi != 0 || lo != 0 || digits <= scale; digits++ {
		if digits == scale && digits > 0 {
			at--
			buf[at] = '.'
		}
		qh, r := hi/10, hi%10
		ql, rem := bits.Div64(r, lo, 10)
		hi, lo = qh, ql
		at--
		buf[at] = byte('0' + rem)
		if at < 3 { // a scale beyond any decimal type
			break
		}
	}
	if a.Hi < 0 {
		at--
		buf[at] = '-'
	}
	return string(buf[at:])
}

// ParseInt128Decimal reads decimal text ("-12.340", "1e3", "+5", ".5") as an integer scaled by 10^scale.
// It is exact: text with digits other than zero beyond the scale, or a value outside 128 bits, gives false.
func ParseInt128Decimal(text string, scale int) (Int128, bool) {
	i, negative := 0, false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	var hi, lo uint64
	digits, fraction, point := 0, 0, false
	pending := 0 // zeros seen since the last other digit: trailing ones need not fit
	for ; i < len(text); i++ {
		b := text[i]
		if b == '.' && !point {
			point = true
			continue
		}
		if b < '0' || b > '9' {
			break
		}
		digits++
		if point {
			fraction++
		}
		if b == '0' {
			if hi != 0 || lo != 0 {
				pending++
			}
			continue
		}
		for ; pending > 0; pending-- {
			var ok bool
			if hi, lo, ok = mulAdd(hi, lo, 10, 0); !ok {
				return Int128{}, false
			}
		}
		var ok bool
		if hi, lo, ok = mulAdd(hi, lo, 10, uint64(b-'0')); !ok {
			return Int128{}, false
		}
	}
	if digits == 0 {
		return Int128{}, false
	}
	exponent := 0
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		down := false
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			down = text[i] == '-'
			i++
		}
		from := i
		for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
			if exponent < 1_000_000 {
				exponent = exponent*10 + int(text[i]-'0')
			}
		}
		if i == from {
			return Int128{}, false
		}
		if down {
			exponent = -exponent
		}
	}
	if i != len(text) {
		return Int128{}, false
	}
	if hi == 0 && lo == 0 {
		return Int128{}, true
	}
	shift := scale + exponent - fraction + pending
	if shift > 40 || shift < -40 {
		return Int128{}, false
	}
	v, ok := signed(hi, lo, negative)
	if !ok {
		return Int128{}, false
	}
	return v.Rescale(0, shift)
}
