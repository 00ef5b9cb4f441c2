package stats

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"deltasql/protocol"
)

// partitionColumn holds the values of a partition column as codes into the sorted distinct values, so that every condition
// becomes a few ranges of codes, and a point condition a look at the files of one code. Immutable but for the postings.
type partitionColumn struct {
	codes  []uint32 // a file's value
	values vector   // distinct and ascending; code i is element i
	// nullCode and undecidedCode follow the values. Undecided is a text that cannot be decoded or whose meaning is not settled:
	// its files are always kept, and reading them tells the user.
	nullCode, undecidedCode uint32

	postingsOnce sync.Once
	files        []int32  // all files by code, ascending in a code
	starts       []uint32 // files of code i are files[starts[i]:starts[i+1]]
	postingsSize atomic.Int64
}

// newPartitionColumn decodes each distinct text once. nullable is the column's: an empty text is NULL for every type, but the
// empty string in a string column that cannot be NULL is left undecided (bugs PP-01).
func newPartitionColumn(src Source, leaf Leaf, nullable bool) *partitionColumn {
	n := src.NumFiles()
	c := &partitionColumn{codes: make([]uint32, n)}
	kind := valueStorage(leaf.Type)

	const nullText, firstText = 0, 1
	seen := map[string]uint32{}
	var decoded []scalar
	var state []placement // per text: placedExactly, or placedBelow for NULL, or placedOutside for undecided
	for i := range n {
		text, null := src.PartitionValue(i, leaf.Path[0])
		if null {
			c.codes[i] = nullText
			continue
		}
		code, ok := seen[text]
		if !ok {
			code = uint32(firstText + len(decoded))
			seen[text] = code
			v, at := decodePartition(leaf.Type, kind, text, nullable)
			decoded = append(decoded, v)
			state = append(state, at)
		}
		c.codes[i] = code
	}

	order := make([]uint32, 0, len(decoded))
	for i, at := range state {
		if at == placedExactly {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return compareScalars(kind, &decoded[a], &decoded[b]) })
	var values []scalar
	final := make([]uint32, firstText+len(decoded))
	for i, at := range order {
		// Several texts may be one value, as instants in two zones are.
		if i == 0 || compareScalars(kind, &decoded[order[i-1]], &decoded[at]) != 0 {
			values = append(values, decoded[at])
		}
		final[firstText+at] = uint32(len(values) - 1)
	}
	c.values = vectorOf(kind, values)
	distinct := uint32(len(values))
	c.nullCode, c.undecidedCode = distinct, distinct+1
	final[nullText] = c.nullCode
	for i, at := range state {
		switch at {
		case placedBelow:
			final[firstText+i] = c.nullCode
		case placedOutside:
			final[firstText+i] = c.undecidedCode
		}
	}
	for i, code := range c.codes {
		c.codes[i] = final[code]
	}
	return c
}

func decodePartition(t protocol.DataType, kind storage, text string, nullable bool) (scalar, placement) {
	if text == "" {
		if !nullable && kind == texts {
			return scalar{}, placedOutside
		}
		return scalar{}, placedBelow
	}
	if kind == noStorage {
		return scalar{}, placedOutside
	}
	v, err := protocol.DecodePartitionValue(t, text, false, time.UTC)
	switch {
	case err != nil:
		return scalar{}, placedOutside
	case v.Null:
		return scalar{}, placedBelow
	}
	at := place(t, v)
	if at.at != placedExactly {
		return scalar{}, placedOutside
	}
	return at.low, placedExactly
}

// codeRange is the codes from low up to and without high.
type codeRange struct{ low, high uint32 }

// accepted gives the codes that satisfy an atom, undecided aside.
func (c *partitionColumn) accepted(a *atom) []codeRange {
	distinct := c.nullCode
	all := []codeRange{{0, distinct}}
	if c.values.storage == noStorage && a.kind != atomNull {
		return all
	}
	switch a.kind {
	case atomNull:
		return []codeRange{{c.nullCode, c.nullCode + 1}}
	case atomRange:
		return []codeRange{c.spanCodes(&a.span)}
	case atomIn:
		return c.pointCodes(a.points)
	case atomNotIn:
		return complement(c.pointCodes(a.points), distinct)
	case atomNotPrefix:
		s := span{low: scalar{s: a.prefix}, hasLow: true}
		s.high, s.hasHigh = prefixEnd(a.prefix)
		s.openHigh = s.hasHigh
		return complement([]codeRange{c.spanCodes(&s)}, distinct)
	}
	return all
}

// firstCode is the first code whose value is at least v, or above v.
func (c *partitionColumn) firstCode(v *scalar, above bool) uint32 {
	return uint32(sort.Search(int(c.nullCode), func(i int) bool {
		order := c.values.compare(int32(i), v)
		return order > 0 || order == 0 && !above
	}))
}

func (c *partitionColumn) spanCodes(s *span) codeRange {
	r := codeRange{0, c.nullCode}
	if s.hasLow {
		r.low = c.firstCode(&s.low, s.openLow)
	}
	if s.hasHigh {
		r.high = max(r.low, c.firstCode(&s.high, !s.openHigh))
	}
	return r
}

func (c *partitionColumn) pointCodes(points []scalar) []codeRange {
	var out []codeRange
	for i := range points {
		at := c.firstCode(&points[i], false)
		if at < c.nullCode && c.values.compare(int32(at), &points[i]) == 0 {
			out = append(out, codeRange{at, at + 1})
		}
	}
	return out
}

// complement is the rest of the codes 0 to n-1; ranges are ascending.
func complement(ranges []codeRange, n uint32) []codeRange {
	var out []codeRange
	from := uint32(0)
	for _, r := range ranges {
		if r.low > from {
			out = append(out, codeRange{from, r.low})
		}
		from = max(from, r.high)
	}
	if from < n {
		out = append(out, codeRange{from, n})
	}
	return out
}

// filter keeps the files whose value satisfies the atom. all tells that files is every file.
func (c *partitionColumn) filter(a *atom, files []int32, all bool) []int32 {
	ranges := c.accepted(a)
	ranges = append(ranges, codeRange{c.undecidedCode, c.undecidedCode + 1})
	if all && len(files) >= indexMinFiles {
		if found, ok := c.lookup(ranges); ok {
			return found
		}
	}
	accept := make([]bool, c.undecidedCode+1)
	for _, r := range ranges {
		for code := r.low; code < r.high; code++ {
			accept[code] = true
		}
	}
	out := make([]int32, 0, 64)
	for _, f := range files {
		if accept[c.codes[f]] {
			out = append(out, f)
		}
	}
	return out
}

// lookup reads the files off the postings where they are few.
func (c *partitionColumn) lookup(ranges []codeRange) ([]int32, bool) {
	c.postingsOnce.Do(c.buildPostings)
	total := 0
	for _, r := range ranges {
		total += int(c.starts[r.high] - c.starts[r.low])
	}
	if total > len(c.codes)/8 {
		return nil, false
	}
	out := make([]int32, 0, total)
	for _, r := range ranges {
		out = append(out, c.files[c.starts[r.low]:c.starts[r.high]]...)
	}
	slices.Sort(out)
	return out, true
}

// buildPostings is a counting sort.
func (c *partitionColumn) buildPostings() {
	c.starts = make([]uint32, c.undecidedCode+2)
	for _, code := range c.codes {
		c.starts[code+1]++
	}
	for i := 1; i < len(c.starts); i++ {
		c.starts[i] += c.starts[i-1]
	}
	next := slices.Clone(c.starts)
	c.files = make([]int32, len(c.codes))
	for f, code := range c.codes {
		c.files[next[code]] = int32(f)
		next[code]++
	}
	c.postingsSize.Store(int64(4 * (cap(c.starts) + cap(c.files))))
}

func (c *partitionColumn) memory() int64 {
	return int64(4*cap(c.codes)) + c.values.memory() + c.postingsSize.Load()
}
