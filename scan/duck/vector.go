package duck

import (
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Int128 is a two's complement 128-bit integer, high word first.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Interval is DuckDB's interval: three parts that are not normalised against each other.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Batch is up to a few thousand rows, column by column.
type Batch struct {
	length  int
	vectors []Vector
}

// Len is the number of rows.
func (b *Batch) Len() int { return b.length }

// Vector is column i.
func (b *Batch) Vector(i int) *Vector { return &b.vectors[i] }

// Vector is one column of a batch, or the elements or members of a nested one. Its accessors read DuckDB's memory in
// place; row runs from 0. Reading a row that is not Valid gives an undefined value, never a fault, except that List
// answers an empty list.
type Vector struct {
	typ      *Type
	data     unsafe.Pointer
	validity unsafe.Pointer // a bit a row, nil when every row is valid
	children []Vector
}

// Type is the column's type.
func (v *Vector) Type() *Type { return v.typ }

// Kind is the column's kind.
func (v *Vector) Kind() Kind { return v.typ.Kind }

// newVectors makes the tree of vectors of a result; load points it at a chunk.
func newVectors(types []Type) []Vector {
	vectors := make([]Vector, len(types))
	for i := range types {
		vectors[i] = Vector{typ: &types[i], children: newVectors(types[i].Children)}
	}
	return vectors
}

// load points the vector, and what is nested in it, at DuckDB's.
func (v *Vector) load(source bindings.Vector) {
	v.validity = bindings.VectorGetValidity(source)
	switch v.typ.Kind {
	case KindStruct:
		for i := range v.children {
			v.children[i].load(bindings.StructVectorGetChild(source, bindings.IdxT(i)))
		}
	case KindList, KindMap:
		v.data = bindings.VectorGetData(source)
		v.children[0].load(bindings.ListVectorGetChild(source))
	case KindArray:
		v.children[0].load(bindings.ArrayVectorGetChild(source))
	case KindVariant, KindOther:
	default:
		v.data = bindings.VectorGetData(source)
	}
}

// at reads element row of an array of T.
func at[T any](data unsafe.Pointer, row int) T {
	var zero T
	return *(*T)(unsafe.Add(data, uintptr(row)*unsafe.Sizeof(zero)))
}

// Valid says that the row is not NULL.
func (v *Vector) Valid(row int) bool {
	if v.validity == nil {
		return v.typ.Kind != KindNull
	}
	return at[uint64](v.validity, row>>6)>>(uint(row)&63)&1 == 1
}

// Bool reads a BOOLEAN.
func (v *Vector) Bool(row int) bool { return at[uint8](v.data, row) != 0 }

// Int64 reads every integer type of up to 64 bits, dates (days), times, timestamps (in the type's own unit), booleans,
// and the unscaled value of a decimal of up to 18 digits. An unsigned value above the range wraps: use Uint64.
func (v *Vector) Int64(row int) int64 {
	switch v.typ.Kind {
	case KindBoolean, KindUTinyInt:
		return int64(at[uint8](v.data, row))
	case KindTinyInt:
		return int64(at[int8](v.data, row))
	case KindSmallInt:
		return int64(at[int16](v.data, row))
	case KindUSmallInt:
		return int64(at[uint16](v.data, row))
	case KindInteger, KindDate:
		return int64(at[int32](v.data, row))
	case KindUInteger:
		return int64(at[uint32](v.data, row))
	case KindDecimal:
		return int64(v.Int128(row).Lo)
	case KindFloat, KindDouble:
		return int64(v.Float64(row))
	case KindHugeInt:
		return int64(v.Int128(row).Lo)
	default:
		return at[int64](v.data, row)
	}
}

// Uint64 reads an unsigned integer.
func (v *Vector) Uint64(row int) uint64 { return uint64(v.Int64(row)) }

// Float64 reads FLOAT and DOUBLE.
func (v *Vector) Float64(row int) float64 {
	if v.typ.Kind == KindFloat {
		return float64(at[float32](v.data, row))
	}
	return at[float64](v.data, row)
}

// Int128 reads HUGEINT, any integer type, and the unscaled value of a decimal of any width.
func (v *Vector) Int128(row int) Int128 {
	switch v.typ.Kind {
	case KindHugeInt, KindUHugeInt, KindUUID:
		return v.wide(row)
	case KindUBigInt:
		return Int128{Lo: at[uint64](v.data, row)}
	case KindDecimal:
		switch {
		case v.typ.Width <= 4:
			return extend(int64(at[int16](v.data, row)))
		case v.typ.Width <= 9:
			return extend(int64(at[int32](v.data, row)))
		case v.typ.Width <= 18:
			return extend(at[int64](v.data, row))
		}
		return v.wide(row)
	default:
		return extend(v.Int64(row))
	}
}

func (v *Vector) wide(row int) Int128 {
	words := at[[2]uint64](v.data, row)
	return Int128{Hi: int64(words[1]), Lo: words[0]}
}

func extend(n int64) Int128 { return Int128{Hi: n >> 63, Lo: uint64(n)} }

// Micros reads a date or a timestamp of any unit as microseconds since 1970-01-01T00:00:00, rounding nanoseconds down.
func (v *Vector) Micros(row int) int64 {
	n := v.Int64(row)
	switch v.typ.Kind {
	case KindDate:
		return n * 86_400_000_000
	case KindTimestampS:
		return n * 1_000_000
	case KindTimestampMS:
		return n * 1_000
	case KindTimestampNS, KindTimestampTZNS:
		if micros := n / 1_000; n%1_000 >= 0 {
			return micros
		} else {
			return micros - 1
		}
	default:
		return n
	}
}

// maxInlined is the length up to which DuckDB keeps a string inside its 16-byte header.
const maxInlined = 12

// Bytes reads VARCHAR, BLOB, GEOMETRY, BIT and ENUM without copying; the slice must not be changed or kept.
func (v *Vector) Bytes(row int) []byte {
	if v.typ.Kind == KindEnum {
		name := v.enumName(row)
		return unsafe.Slice(unsafe.StringData(name), len(name))
	}
	header := unsafe.Add(v.data, uintptr(row)*16)
	length := *(*uint32)(header)
	if length <= maxInlined {
		return unsafe.Slice((*byte)(unsafe.Add(header, 4)), length)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(header, 8)), length)
}

// Text is Bytes as a string of its own.
func (v *Vector) Text(row int) string { return string(v.Bytes(row)) }

func (v *Vector) enumName(row int) string {
	var index int
	switch count := len(v.typ.Names); {
	case count <= 1<<8:
		index = int(at[uint8](v.data, row))
	case count <= 1<<16:
		index = int(at[uint16](v.data, row))
	default:
		index = int(at[uint32](v.data, row))
	}
	if index >= len(v.typ.Names) {
		return ""
	}
	return v.typ.Names[index]
}

// Interval reads an INTERVAL.
func (v *Vector) Interval(row int) Interval {
	return at[Interval](v.data, row)
}

// UUID reads a UUID as its sixteen bytes in written order.
func (v *Vector) UUID(row int) (id [16]byte) {
	value := v.wide(row)
	hi := uint64(value.Hi) ^ 1<<63 // DuckDB flips the sign bit so that UUIDs sort as integers
	for i := range 8 {
		id[i] = byte(hi >> (56 - 8*i))
		id[8+i] = byte(value.Lo >> (56 - 8*i))
	}
	return id
}

// List is where the elements of a LIST, ARRAY or MAP lie in Child(0).
func (v *Vector) List(row int) (offset, length int) {
	if !v.Valid(row) {
		return 0, 0
	}
	if v.typ.Kind == KindArray {
		return row * v.typ.Size, v.typ.Size
	}
	entry := at[[2]uint64](v.data, row)
	return int(entry[0]), int(entry[1])
}

// Child is the element vector of a list (0), the entry struct of a map (0), or member k of a struct. A struct's
// members have the struct's row numbers.
func (v *Vector) Child(k int) *Vector { return &v.children[k] }
