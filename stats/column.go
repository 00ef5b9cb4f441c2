package stats

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"deltasql/protocol"
)

// bitmap is a set of file numbers.
type bitmap []uint64

func newBitmap(n int) bitmap      { return make(bitmap, (n+63)/64) }
func (b bitmap) set(i int)        { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) has(i int32) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitmap) count() (total int) {
	for _, word := range b {
		total += bits.OnesCount64(word)
	}
	return total
}

// vector is a column of scalars of one storage; only that storage's slices are set.
type vector struct {
	storage storage
	ints    []int64
	floats  []float64
	decs    []protocol.Int128
	arena   []byte
	offsets []uint32 // text i is arena[offsets[i]:offsets[i+1]]
}

func newVector(kind storage, n int) vector {
	v := vector{storage: kind}
	switch kind {
	case ints:
		v.ints = make([]int64, 0, n)
	case floats:
		v.floats = make([]float64, 0, n)
	case decimals:
		v.decs = make([]protocol.Int128, 0, n)
	case texts:
		v.offsets = make([]uint32, 1, n+1)
	}
	return v
}

// add appends; text is the value of the texts storage.
func (v *vector) add(value scalar, text []byte) {
	switch v.storage {
	case ints:
		v.ints = append(v.ints, value.i)
	case floats:
		v.floats = append(v.floats, value.f)
	case decimals:
		v.decs = append(v.decs, value.d)
	case texts:
		v.arena = append(v.arena, text...)
		v.offsets = append(v.offsets, uint32(len(v.arena)))
	}
}

// full tells that a text of this length no longer fits the offsets.
func (v *vector) full(length int) bool { return len(v.arena)+length > math.MaxUint32 }

func (v *vector) text(i int32) []byte { return v.arena[v.offsets[i]:v.offsets[i+1]] }

// compare orders element i and a scalar; floats order NaN greatest.
func (v *vector) compare(i int32, to *scalar) int {
	switch v.storage {
	case ints:
		return cmp.Compare(v.ints[i], to.i)
	case floats:
		return compareFloats(v.floats[i], to.f)
	case decimals:
		return v.decs[i].Cmp(to.d)
	case texts:
		return compareText(v.text(i), to.s)
	}
	return 0
}

// compareElements orders two elements.
func (v *vector) compareElements(i, j int32) int {
	switch v.storage {
	case ints:
		return cmp.Compare(v.ints[i], v.ints[j])
	case floats:
		return compareFloats(v.floats[i], v.floats[j])
	case decimals:
		return v.decs[i].Cmp(v.decs[j])
	case texts:
		return bytes.Compare(v.text(i), v.text(j))
	}
	return 0
}

func (v *vector) memory() int64 {
	return int64(cap(v.ints)*8 + cap(v.floats)*8 + cap(v.decs)*16 + cap(v.arena) + cap(v.offsets)*4)
}

// compareFloats is the order of Spark and DuckDB: NaN is greatest and equal to itself, the two zeros are equal.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmp.Compare(nanRank(a), nanRank(b))
}

func nanRank(f float64) int {
	if math.IsNaN(f) {
		return 1
	}
	return 0
}

func compareText(a []byte, b string) int {
	return bytes.Compare(a, unsafe.Slice(unsafe.StringData(b), len(b)))
}

// column is what the statistics say of one leaf, an element a file. Immutable but for the index.
type column struct {
	leaf Leaf
	min  vector
	max  vector
	// hasMin and hasMax tell known bounds; an unknown bound is stored as the widest value of its storage.
	hasMin, hasMax bitmap
	// mayHaveNull and mayHaveValue tell whether a live row can be NULL or something else: null counts of 0 and of numRecords are
	// the two that always mean something, with deletion vectors and loose bounds too.
	mayHaveNull, mayHaveValue bitmap
	// nulls is the null count of the physical rows, -1 where unknown; with loose bounds only 0 and numRecords may be believed.
	nulls []int64

	lookups   atomic.Int32
	indexOnce sync.Once
	index     *sortedIndex
	indexSize atomic.Int64
}

// columnBuilder fills a column file by file.
type columnBuilder struct {
	column *column
	reader *boundReader
}

func newColumnBuilder(leaf Leaf, widened bool, n int) *columnBuilder {
	reader := newBoundReader(leaf, widened)
	c := &column{leaf: leaf, nulls: make([]int64, 0, n), mayHaveNull: newBitmap(n), mayHaveValue: newBitmap(n)}
	c.min, c.max = newVector(reader.storage, n), newVector(reader.storage, n)
	if reader.storage != noStorage {
		c.hasMin, c.hasMax = newBitmap(n), newBitmap(n)
	}
	return &columnBuilder{column: c, reader: reader}
}

// widest is what stands for unknown bounds.
var (
	widestMin = scalar{i: math.MinInt64, f: math.Inf(-1), d: protocol.Int128{Hi: math.MinInt64}}
	widestMax = scalar{i: math.MaxInt64, f: math.Inf(1), d: protocol.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}}
)

// add takes file i, files in ascending order; numRecords is -1 where unknown.
func (b *columnBuilder) add(i int, s *scanner, tokens *[sections]token, numRecords int64) {
	c := b.column
	nulls := int64(-1)
	switch t := tokens[sectionNulls]; t.kind {
	case tokenScalar, tokenString:
		if n := s.count(t); numRecords < 0 || n <= numRecords {
			nulls = n
		}
	case tokenObjectZero:
		// A struct or file value is never NULL if some leaf of it never is: leaves count the rows whose whole value is NULL too.
		nulls = 0
	}
	c.nulls = append(c.nulls, nulls)
	if nulls != 0 {
		c.mayHaveNull.set(i)
	}
	if nulls < 0 || nulls != numRecords {
		c.mayHaveValue.set(i)
	}
	if b.reader.storage == noStorage {
		return
	}
	known := b.reader.read(s, tokens[sectionMin], tokens[sectionMax])
	if !known.hasMin || c.min.full(len(known.sMin)) {
		known.hasMin, known.min, known.sMin = false, widestMin, nil
	}
	if !known.hasMax || c.max.full(len(known.sMax)) {
		known.hasMax, known.max, known.sMax = false, widestMax, nil
	}
	c.min.add(known.min, known.sMin)
	c.max.add(known.max, known.sMax)
	if known.hasMin {
		c.hasMin.set(i)
	}
	if known.hasMax {
		c.hasMax.set(i)
	}
}

// addUnknown takes a file without readable statistics.
func (b *columnBuilder) addUnknown(i int) {
	var none [sections]token
	b.add(i, nil, &none, -1)
}

func (c *column) memory() int64 {
	bitmaps := len(c.hasMin) + len(c.hasMax) + len(c.mayHaveNull) + len(c.mayHaveValue)
	return c.min.memory() + c.max.memory() + int64(cap(c.nulls)*8+bitmaps*8) + c.indexSize.Load()
}
