package stats

import (
	"bytes"
	"math"
	"strconv"
	"unsafe"

	"deltasql/protocol"
)

// storage is how the values of a leaf are held.
type storage uint8

const (
	noStorage storage = iota // the type has no usable bounds, null counts only
	ints                     // booleans, integers, dates (days), timestamps (microseconds)
	floats
	decimals // unscaled, at the leaf's scale
	texts    // bytes in their own order, which for UTF-8 is code point order
)

// boundStorage is how the bounds of a type are held. Lists and maps have no bounds; those of binary columns have no agreed text
// form, those of variants and geometries need their own comparison, and those of a string with a collation of its own are in
// another order than its comparisons.
func boundStorage(t protocol.DataType) storage {
	switch t.Kind {
	case protocol.KindBoolean, protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong,
		protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return ints
	case protocol.KindFloat, protocol.KindDouble:
		return floats
	case protocol.KindDecimal:
		return decimals
	case protocol.KindString:
		if binaryCollation(t) {
			return texts
		}
	}
	return noStorage
}

func binaryCollation(t protocol.DataType) bool {
	return t.Collation == "" || t.Collation == "UTF8_BINARY" || t.Collation == "SPARK.UTF8_BINARY"
}

// scalar is a value in one of the storages.
type scalar struct {
	i int64
	f float64
	d protocol.Int128
	s string
}

// boundReader turns the tokens of one leaf into bounds. Whatever does not parse, or is outside the leaf's type, is unknown.
type boundReader struct {
	kind      protocol.Kind
	precision int
	scale     int
	widened   bool // a double that was a float in older files
	storage   storage
	scratch   []byte
}

// bounds are the bounds of one file, wide enough for whatever the writer may have cut off. Texts are in sMin and sMax and valid
// until the next scan; all other fields are valid only as far as hasMin and hasMax say.
type bounds struct {
	min, max       scalar
	sMin, sMax     []byte
	hasMin, hasMax bool
}

func newBoundReader(leaf Leaf, widened bool) *boundReader {
	return &boundReader{
		kind: leaf.Type.Kind, precision: leaf.Type.Precision, scale: leaf.Type.Scale,
		widened: widened, storage: boundStorage(leaf.Type),
	}
}

// read gives the bounds of the tokens min and max. Bounds in the wrong order are both unknown.
func (r *boundReader) read(s *scanner, min, max token, b *bounds) {
	b.hasMin, b.hasMax = false, false
	if text, ok := boundText(s, min); ok {
		switch r.storage {
		case ints:
			b.min.i, b.hasMin = r.readInt(text, min.kind, false)
		case floats:
			b.min.f, b.hasMin = r.readFloat(text, false)
		case decimals:
			b.min.d, b.hasMin = readDecimal(text, r.precision, r.scale)
		case texts:
			b.hasMin = min.kind != tokenScalar
			b.sMin = lowText(text)
			if min.kind == tokenEscaped { // the scanner's scratch is wanted for max
				r.scratch = append(r.scratch[:0], b.sMin...)
				b.sMin = r.scratch
			}
		}
	}
	if text, ok := boundText(s, max); ok {
		switch r.storage {
		case ints:
			b.max.i, b.hasMax = r.readInt(text, max.kind, true)
		case floats:
			b.max.f, b.hasMax = r.readFloat(text, true)
		case decimals:
			b.max.d, b.hasMax = readDecimal(text, r.precision, r.scale)
		case texts:
			b.hasMax = max.kind != tokenScalar && boundedAbove(text)
			b.sMax = text
		}
	}
	if b.hasMin && b.hasMax && r.inverted(b) {
		b.hasMin, b.hasMax = false, false
	}
}

func (r *boundReader) inverted(b *bounds) bool {
	switch r.storage {
	case ints:
		return b.min.i > b.max.i
	case floats:
		return b.min.f > b.max.f
	case decimals:
		return b.min.d.Cmp(b.max.d) > 0
	}
	return bytes.Compare(b.sMin, b.sMax) > 0
}

func boundText(s *scanner, t token) ([]byte, bool) {
	switch t.kind {
	case tokenScalar, tokenString, tokenEscaped:
		return s.bytes(t)
	}
	return nil, false
}

// readInt reads the bound of a leaf held as an integer.
func (r *boundReader) readInt(text []byte, kind tokenKind, upper bool) (int64, bool) {
	switch r.kind {
	case protocol.KindBoolean:
		switch string(text) {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
		return 0, false
	case protocol.KindDate:
		if kind == tokenScalar {
			return 0, false
		}
		days, rest, ok := parseDate(text)
		return days, ok && len(rest) == 0
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		if kind == tokenScalar {
			return 0, false
		}
		return readInstantBound(text, r.kind == protocol.KindTimestampNTZ, upper)
	}
	v, ok := readInteger(text)
	if !ok {
		return 0, false
	}
	switch r.kind {
	case protocol.KindByte:
		ok = v == int64(int8(v))
	case protocol.KindShort:
		ok = v == int64(int16(v))
	case protocol.KindInteger:
		ok = v == int64(int32(v))
	}
	return v, ok
}

// readInteger reads decimal digits; a fraction of zeros is accepted, an exponent, the mark of a float that may be rounded, is not.
func readInteger(text []byte) (int64, bool) {
	if point := bytes.IndexByte(text, '.'); point >= 0 {
		if len(bytes.Trim(text[point+1:], "0")) > 0 {
			return 0, false
		}
		text = text[:point]
		if len(text) > 16 { // beyond 2^53 such text may be a rounded float
			return 0, false
		}
	}
	negative := false
	if len(text) > 0 && text[0] == '-' {
		negative = true
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 19 {
		return 0, false
	}
	var magnitude uint64
	for _, b := range text {
		if b-'0' > 9 {
			return 0, false
		}
		magnitude = magnitude*10 + uint64(b-'0')
	}
	if negative {
		return -int64(magnitude), magnitude <= 1<<63
	}
	return int64(magnitude), magnitude < 1<<63
}

// Writers differ from the data by at most these.
const (
	// cutMicros: statistics keep milliseconds of a microsecond value (bugs ST-01).
	cutMicros = 999
	// cutOffsetMicros: some writers printed a historic zone offset without its seconds (bugs ST-03).
	cutOffsetMicros = 59 * microsPerSecond
)

// The instants before which zone offsets had seconds: in general, and in the last places to give them up (Liberia, 1972).
var (
	startOf1900 = protocol.DaysFromCivil(1900, 1, 1) * microsPerDay
	startOf1973 = protocol.DaysFromCivil(1973, 1, 1) * microsPerDay
)

// readInstantBound reads the bound of a timestamp and widens it. The maximum was cut to milliseconds; a minimum before 1970 may
// have been cut towards zero, which is upwards.
func readInstantBound(text []byte, local, upper bool) (int64, bool) {
	micros, style, ok := parseInstant(text)
	if !ok || local && style > offsetZulu {
		return 0, false
	}
	slack := int64(0)
	if upper || micros < 0 {
		slack = cutMicros
	}
	if style == offsetMinutes && micros < startOf1973 || style == offsetHours && micros < startOf1900 {
		slack += cutOffsetMicros
	}
	if upper {
		if micros > math.MaxInt64-slack {
			return math.MaxInt64, true
		}
		return micros + slack, true
	}
	return micros - slack, true // parseInstant stays a day clear of the limits
}

// readFloat reads the bound of a float or double. NaN is no bound. A float's text is rounded to a float first, so that "0.1"
// means the float; where the column was a float once, the text may be either and the wider reading counts.
func (r *boundReader) readFloat(text []byte, upper bool) (float64, bool) {
	view := unsafe.String(unsafe.SliceData(text), len(text)) // parsed at once, not kept
	if r.kind == protocol.KindFloat {
		return parseFloat(view, 32)
	}
	v, ok := parseFloat(view, 64)
	if !ok || !r.widened {
		return v, ok
	}
	single, ok := parseFloat(view, 32)
	if ok && (upper && single > v || !upper && single < v) {
		return single, true
	}
	return v, ok
}

// parseFloat is strconv's without its extensions (hexadecimal, underscores); a number outside the type and NaN are refused.
func parseFloat(text string, size int) (float64, bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case 'x', 'X', '_', 'p', 'P':
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(text, size)
	return v, err == nil && !math.IsNaN(v)
}

// readDecimal reads the bound of a decimal exactly. A bound that does not fit the type is unknown, and so is one that was
// probably printed from a float (bugs ST-07).
func readDecimal(text []byte, precision, scale int) (protocol.Int128, bool) {
	view := unsafe.String(unsafe.SliceData(text), len(text)) // parsed at once, not kept
	v, ok := protocol.ParseInt128Decimal(view, scale)
	if !ok {
		return v, false
	}
	if v.Hi == v.Hi>>63 && v.Lo < safeUnscaled {
		return v, precision >= 15 || v.Digits() <= precision
	}
	if negative := v.Neg(); v.Hi < 0 && negative.Hi == 0 && negative.Lo < safeUnscaled {
		return v, precision >= 15 || v.Digits() <= precision
	}
	if v.Digits() > precision || roundedFloat(text, scale) {
		return v, false
	}
	return v, true
}

// safeUnscaled: 15 digits survive a float whatever they are.
const safeUnscaled = 1_000_000_000_000_000

// roundedFloat tells text that a float may have been printed as, from text that only a decimal is: a float has at most 17
// significant digits and either an exponent or a fraction that is not as long as the scale.
func roundedFloat(text []byte, scale int) bool {
	significant, trailing, fraction, point, exponent := 0, 0, 0, false, false
	for _, b := range text {
		switch {
		case b == '.':
			point = true
		case b == 'e' || b == 'E':
			exponent = true
		case b >= '0' && b <= '9' && !exponent:
			if point {
				fraction++
			}
			if b == '0' {
				if significant > 0 {
					trailing++
				}
				continue
			}
			significant += trailing + 1
			trailing = 0
		}
	}
	if significant > 17 {
		return false
	}
	return exponent || point && (fraction != scale || scale <= 1)
}

// replacement is U+FFFD: in statistics it may stand for bytes or for half of a surrogate pair that a writer could not print.
var replacement = []byte("\uFFFD")

// lowText is a lower bound of what text stood for.
func lowText(text []byte) []byte {
	if bytes.IndexByte(text, replacement[0]) < 0 {
		return text
	}
	low, _, _ := bytes.Cut(text, replacement)
	return low
}

// boundedAbove tells whether text is an upper bound: older writers put U+FFFD behind a cut maximum, which characters outside the
// basic plane exceed (bugs ST-05).
func boundedAbove(text []byte) bool {
	return bytes.IndexByte(text, replacement[0]) < 0 || !bytes.Contains(text, replacement)
}
