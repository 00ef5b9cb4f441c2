package stats

import (
	"bytes"
	"cmp"
	"math"
	"slices"
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

// vector is a column of scalars of one storage; only that storage's slices are set.
type vector struct {
	storage storage
	ints    []int64
	floats  []float64
	decs    []protocol.Int128
	arena   []byte
	offsets []uint32 // text i is arena[offsets[i]:offsets[i+1]]
}

// newVector makes room for n elements, to be set in any order; texts by a textFiller.
func newVector(kind storage, n int) vector {
	v := vector{storage: kind}
	switch kind {
	case ints:
		v.ints = make([]int64, n)
	case floats:
		v.floats = make([]float64, n)
	case decimals:
		v.decs = make([]protocol.Int128, n)
	case texts:
		v.offsets = make([]uint32, n+1)
	}
	return v
}

func (v *vector) set(i int, value *scalar) {
	switch v.storage {
	case ints:
		v.ints[i] = value.i
	case floats:
		v.floats[i] = value.f
	case decimals:
		v.decs[i] = value.d
	}
}

// textFiller fills a run of a vector's texts, from first on, in order. Several may work at once on runs that do not overlap; the
// offsets they write are within their own run until join.
type textFiller struct {
	v           *vector
	first, next int
	run         []byte
}

// maxRunBytes keeps the offsets of all runs within 32 bits; texts beyond it are taken as unknown.
const maxRunBytes = math.MaxUint32 / maxWorkers

func (f *textFiller) fits(text []byte) bool { return len(f.run)+len(text) <= maxRunBytes }

func (f *textFiller) add(text []byte) {
	f.run = append(f.run, text...)
	f.next++
	f.v.offsets[f.next] = uint32(len(f.run))
}

// reserve makes room for count texts in all, judging by those that are there.
func (f *textFiller) reserve(count int) {
	if n := f.next - f.first; n > 0 {
		f.run = slices.Grow(f.run, len(f.run)/n*(count-n)*17/16)
	}
}

// join ends the filling; the fillers are in the order of their runs and cover the vector.
func (v *vector) join(fillers []*textFiller) {
	if len(fillers) == 1 {
		v.arena = fillers[0].run
		return
	}
	total := 0
	for _, f := range fillers {
		total += len(f.run)
	}
	v.arena = make([]byte, 0, total)
	for _, f := range fillers {
		base := uint32(len(v.arena))
		for i := f.first; i < f.next; i++ {
			v.offsets[i+1] += base
		}
		v.arena = append(v.arena, f.run...)
	}
}

// vectorOf holds the values.
func vectorOf(kind storage, values []scalar) vector {
	v := newVector(kind, len(values))
	filler := &textFiller{v: &v}
	for i := range values {
		v.set(i, &values[i])
		if kind == texts {
			filler.add([]byte(values[i].s))
		}
	}
	v.join([]*textFiller{filler})
	return v
}

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

// newColumn makes a column of which nothing is known yet.
func newColumn(leaf Leaf, n int) *column {
	kind := boundStorage(leaf.Type)
	c := &column{leaf: leaf, nulls: make([]int64, n), mayHaveNull: newBitmap(n), mayHaveValue: newBitmap(n)}
	c.min, c.max = newVector(kind, n), newVector(kind, n)
	if kind != noStorage {
		c.hasMin, c.hasMax = newBitmap(n), newBitmap(n)
	}
	return c
}

// columnBuilder fills a run of a column, file by file. Several may fill one column at once: runs start at a multiple of 64, so
// that no two share a word of a bitmap.
type columnBuilder struct {
	column   *column
	reader   *boundReader
	count    int    // files of the run
	bounds   bounds // scratch
	min, max *textFiller
}

func newColumnBuilder(c *column, widened bool, first, count int) *columnBuilder {
	return &columnBuilder{
		column: c, reader: newBoundReader(c.leaf, widened), count: count,
		min: &textFiller{v: &c.min, first: first, next: first}, max: &textFiller{v: &c.max, first: first, next: first},
	}
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
	c.nulls[i] = nulls
	if nulls != 0 {
		c.mayHaveNull.set(i)
	}
	if nulls < 0 || nulls != numRecords {
		c.mayHaveValue.set(i)
	}
	if b.reader.storage == noStorage {
		return
	}
	known := &b.bounds
	b.reader.read(s, tokens[sectionMin], tokens[sectionMax], known)
	if c.min.storage == texts {
		b.addTexts(i, known)
		return
	}
	low, high := &widestMin, &widestMax
	if known.hasMin {
		c.hasMin.set(i)
		low = &known.min
	}
	if known.hasMax {
		c.hasMax.set(i)
		high = &known.max
	}
	c.min.set(i, low)
	c.max.set(i, high)
}

// reserveAfter is the number of files by which the length of texts is foretold.
const reserveAfter = 1000

func (b *columnBuilder) addTexts(i int, known *bounds) {
	var low, high []byte
	if known.hasMin && b.min.fits(known.sMin) {
		b.column.hasMin.set(i)
		low = known.sMin
	}
	if known.hasMax && b.max.fits(known.sMax) {
		b.column.hasMax.set(i)
		high = known.sMax
	}
	b.min.add(low)
	b.max.add(high)
	if i-b.min.first == reserveAfter {
		b.min.reserve(b.count)
		b.max.reserve(b.count)
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
