package stats

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"deltasql/protocol"
)

// placement says where a literal lies among the values of a leaf's type.
type placement uint8

const (
	placedOutside placement = iota // of no order that we share: nothing can be said but that the leaf is not null
	placedExactly                  // low and high are the value itself
	placedWithin                   // the value is somewhere from low to high, both included
	placedBetween                  // strictly between low and the next value of the type
	placedBelow                    // below every value of the type
	placedAbove                    // above every value of the type
)

// position is a literal in terms of a leaf's storage.
type position struct {
	at        placement
	low, high scalar
}

func exactly(v scalar) position { return position{at: placedExactly, low: v, high: v} }

// valueStorage is how the values of a partition column are held and compared: as bounds are, and binary columns as well.
func valueStorage(t protocol.DataType) storage {
	if t.Kind == protocol.KindBinary {
		return texts
	}
	return boundStorage(t)
}

func integerKind(k protocol.Kind) bool { return k >= protocol.KindByte && k <= protocol.KindLong }

// place converts a literal that is not NULL to the leaf's type without rounding, whatever numeric kind it has.
func place(t protocol.DataType, v protocol.Value) position {
	switch {
	case valueStorage(t) == noStorage:
	case integerKind(t.Kind):
		return placeInteger(v)
	case t.Kind == protocol.KindDecimal:
		return placeDecimal(t, v)
	case t.Kind == protocol.KindFloat || t.Kind == protocol.KindDouble:
		return placeFloat(t, v)
	case t.Kind == v.Kind:
		return exactly(scalar{i: v.Int, s: v.Str})
	case t.Kind == protocol.KindDate && v.Kind == protocol.KindTimestampNTZ:
		days := floorDiv(v.Int, microsPerDay)
		if days*microsPerDay != v.Int {
			return position{at: placedBetween, low: scalar{i: days}}
		}
		return exactly(scalar{i: days})
	case t.Kind == protocol.KindTimestampNTZ && v.Kind == protocol.KindDate:
		const maxDays = math.MaxInt64 / microsPerDay
		switch {
		case v.Int > maxDays:
			return position{at: placedAbove}
		case v.Int < -maxDays:
			return position{at: placedBelow}
		}
		return exactly(scalar{i: v.Int * microsPerDay})
	}
	return position{at: placedOutside}
}

func placeInteger(v protocol.Value) position {
	switch {
	case integerKind(v.Kind):
		return exactly(scalar{i: v.Int})
	case v.Kind == protocol.KindDecimal:
		whole, exact := floorDecimal(v, 0)
		n, fits := int64(0), whole.IsInt64()
		switch {
		case !fits && whole.Sign() > 0:
			return position{at: placedAbove}
		case !fits:
			return position{at: placedBelow}
		}
		if n = whole.Int64(); !exact {
			return position{at: placedBetween, low: scalar{i: n}}
		}
		return exactly(scalar{i: n})
	case v.Kind == protocol.KindFloat || v.Kind == protocol.KindDouble:
		// Engines compare such a pair in the floating type; below 2^53, or 2^24 for a float, that is exact, above it and for
		// NaN nothing is claimed.
		exactBelow := float64(1 << 53)
		if v.Kind == protocol.KindFloat {
			exactBelow = 1 << 24
		}
		if !(math.Abs(v.Float) < exactBelow) {
			return position{at: placedOutside}
		}
		floor := math.Floor(v.Float)
		if floor != v.Float {
			return position{at: placedBetween, low: scalar{i: int64(floor)}}
		}
		return exactly(scalar{i: int64(floor)})
	}
	return position{at: placedOutside}
}

func placeDecimal(t protocol.DataType, v protocol.Value) position {
	switch {
	case integerKind(v.Kind):
		v = protocol.Value{Kind: protocol.KindDecimal, Dec: protocol.Int128FromInt64(v.Int)}
	case v.Kind != protocol.KindDecimal:
		return position{at: placedOutside}
	}
	if d, ok := v.Dec.Rescale(v.Scale, t.Scale); ok {
		return exactly(scalar{d: d})
	}
	whole, exact := floorDecimal(v, t.Scale)
	switch {
	case whole.BitLen() > 127 && whole.Sign() > 0:
		return position{at: placedAbove}
	case whole.BitLen() > 127:
		return position{at: placedBelow}
	}
	d := int128FromBig(whole)
	if !exact {
		return position{at: placedBetween, low: scalar{d: d}}
	}
	return exactly(scalar{d: d})
}

// placeFloat is exact for a literal that is one of the type's values. Otherwise engines differ in which side is rounded, and the
// literal may be anything from one value below its nearest ones to one above.
func placeFloat(t protocol.DataType, v protocol.Value) position {
	var double float64
	exact := false
	switch {
	case v.Kind == protocol.KindFloat || v.Kind == protocol.KindDouble:
		double, exact = v.Float, true
	case integerKind(v.Kind):
		double = float64(v.Int)
		exact = v.Int > -1<<53 && v.Int < 1<<53
	case v.Kind == protocol.KindDecimal:
		whole, isWhole := floorDecimal(v, 0)
		if exact = isWhole && whole.BitLen() <= 53; exact {
			double = float64(whole.Int64())
		} else {
			double, _ = new(big.Rat).SetFrac(bigFromInt128(v.Dec), powerOfTen(v.Scale)).Float64()
		}
	default:
		return position{at: placedOutside}
	}
	if math.IsNaN(double) {
		return exactly(scalar{f: double})
	}
	single := double
	if t.Kind == protocol.KindFloat {
		single = float64(float32(double))
	}
	if exact && single == double {
		return exactly(scalar{f: double})
	}
	low, high := math.Min(single, double), math.Max(single, double)
	if !exact {
		low, high = math.Nextafter(low, math.Inf(-1)), math.Nextafter(high, math.Inf(1))
	}
	return position{at: placedWithin, low: scalar{f: low}, high: scalar{f: high}}
}

// floorDecimal is the value as an integer of the scale, rounded down, and whether nothing was lost.
func floorDecimal(v protocol.Value, scale int) (*big.Int, bool) {
	unscaled := bigFromInt128(v.Dec)
	if scale >= v.Scale {
		return unscaled.Mul(unscaled, powerOfTen(scale-v.Scale)), true
	}
	remainder := new(big.Int)
	unscaled.DivMod(unscaled, powerOfTen(v.Scale-scale), remainder) // Euclidean: rounds down for a positive divisor
	return unscaled, remainder.Sign() == 0
}

// powerOfTen bounds the exponent: no decimal type has a scale beyond 38.
func powerOfTen(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(max(exponent, 0), 100))), nil)
}

func bigFromInt128(v protocol.Int128) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(v.Lo))
}

// int128FromBig needs |n| < 2^127.
func int128FromBig(n *big.Int) protocol.Int128 {
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return protocol.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: lo.Uint64()}
}

// compareScalars orders two values of a storage.
func compareScalars(kind storage, a, b *scalar) int {
	switch kind {
	case ints:
		return cmp.Compare(a.i, b.i)
	case floats:
		return compareFloats(a.f, b.f)
	case decimals:
		return a.d.Cmp(b.d)
	}
	return cmp.Compare(a.s, b.s)
}

// next is the least value above v, previous the greatest below it, in any storage but texts; false where there is none.
// For floats NaN is above infinity.
func next(kind storage, v scalar) (scalar, bool) {
	switch kind {
	case ints:
		if v.i == math.MaxInt64 {
			return v, false
		}
		v.i++
	case floats:
		switch {
		case math.IsNaN(v.f):
			return v, false
		case math.IsInf(v.f, 1):
			v.f = math.NaN()
		default:
			v.f = math.Nextafter(v.f, math.Inf(1))
		}
	case decimals:
		lo, carry := bits.Add64(v.d.Lo, 1, 0)
		if v.d.Hi == math.MaxInt64 && carry != 0 {
			return v, false
		}
		v.d = protocol.Int128{Hi: v.d.Hi + int64(carry), Lo: lo}
	}
	return v, true
}

func previous(kind storage, v scalar) (scalar, bool) {
	switch kind {
	case ints:
		if v.i == math.MinInt64 {
			return v, false
		}
		v.i--
	case floats:
		switch {
		case math.IsNaN(v.f):
			v.f = math.Inf(1)
		case math.IsInf(v.f, -1):
			return v, false
		default:
			v.f = math.Nextafter(v.f, math.Inf(-1))
		}
	case decimals:
		lo, borrow := bits.Sub64(v.d.Lo, 1, 0)
		if v.d.Hi == math.MinInt64 && borrow != 0 {
			return v, false
		}
		v.d = protocol.Int128{Hi: v.d.Hi - int64(borrow), Lo: lo}
	}
	return v, true
}
