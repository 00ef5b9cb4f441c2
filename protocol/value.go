package protocol

import (
	"cmp"
	"math"
	"math/big"
	"strings"
)

// Value is one typed scalar: a decoded partition value, a statistics bound, or a literal of a predicate.
//
//	KindBoolean                              Int is 0 or 1
//	KindByte .. KindLong                     Int
//	KindFloat, KindDouble                    Float
//	KindDecimal                              Dec is the unscaled value, Scale its scale
//	KindString, KindBinary                   Str (bytes)
//	KindDate                                 Int, days since 1970-01-01
//	KindTimestamp, KindTimestampNTZ          Int, microseconds since 1970-01-01T00:00:00
//	KindIntervalYearMonth / DayTime          Int, months / microseconds
//
// Null with any Kind is the typed NULL.
type Value struct {
	Kind  Kind
	Null  bool
	Int   int64
	Float float64
	Str   string
	Dec   Int128
	Scale int
}

// Int128 is a two's complement 128-bit integer, high word first.
type Int128 struct {
	Hi int64
	Lo uint64
}

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

// ratCompare compares n*10^-scale with a finite double exactly.
func ratCompare(n Int128, scale int, f float64) int {
	hi, lo := n.abs()
	num := new(big.Int).SetUint64(hi)
	num.Lsh(num, 64).Or(num, new(big.Int).SetUint64(lo))
	if n.Hi < 0 {
		num.Neg(num)
	}
	left := new(big.Rat).SetFrac(num, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, 0))), nil))
	right := new(big.Rat)
	right.SetFloat64(f)
	return left.Cmp(right)
}
