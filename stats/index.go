package stats

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

const (
	// indexMinFiles: below it a pass over the bounds is as fast.
	indexMinFiles = 4096
	// indexAfterLookups: an index costs some twenty passes, so a leaf that is asked once does not get one.
	indexAfterLookups = 3
)

// sortedIndex finds the files whose bounds meet a narrow range without looking at all of them: the files in order of their
// minimum, and for each place in that order the file with the greatest maximum so far. The files that may meet [low, high] are
// then between the first place whose running maximum reaches low and the last whose minimum is not above high; where files do not
// overlap much these are a handful.
type sortedIndex struct {
	files   []int32 // with both bounds and a value, by minimum
	running []int32 // running[p] is the file with the greatest maximum among files[:p+1]
	open    []int32 // with a bound missing, ascending: always found
}

// indexed is the index, once the leaf has been asked often enough; nil before.
func (c *column) indexed() *sortedIndex {
	if c.lookups.Load() < indexAfterLookups && c.lookups.Add(1) < indexAfterLookups {
		return nil
	}
	c.indexOnce.Do(func() {
		c.index = newSortedIndex(c)
		c.indexSize.Store(int64(4 * (cap(c.index.files) + cap(c.index.running) + cap(c.index.open))))
	})
	return c.index
}

func newSortedIndex(c *column) *sortedIndex {
	n := int32(len(c.nulls))
	x := &sortedIndex{files: make([]int32, 0, n)}
	for f := range n {
		switch {
		case !c.mayHaveValue.has(f):
		case c.hasMin.has(f) && c.hasMax.has(f):
			x.files = append(x.files, f)
		default:
			x.open = append(x.open, f)
		}
	}
	sortByMinimum(c, x.files)
	x.running = make([]int32, len(x.files))
	for p, f := range x.files {
		x.running[p] = f
		if p > 0 && c.max.compareElements(x.running[p-1], f) > 0 {
			x.running[p] = x.running[p-1]
		}
	}
	return x
}

// sortByMinimum sorts by a 64-bit key first; for texts it is the eight bytes after what all minima have in common, for URIs
// share long beginnings.
func sortByMinimum(c *column, files []int32) {
	type entry struct {
		key  uint64
		file int32
	}
	entries := make([]entry, len(files))
	const signBit = 1 << 63
	switch c.min.storage {
	case ints:
		for p, f := range files {
			entries[p] = entry{uint64(c.min.ints[f]) ^ signBit, f}
		}
	case texts:
		common := commonPrefix(&c.min, files)
		var key [8]byte
		for p, f := range files {
			key = [8]byte{}
			copy(key[:], c.min.text(f)[common:])
			entries[p] = entry{binary.BigEndian.Uint64(key[:]), f}
		}
	case decimals:
		for p, f := range files {
			entries[p] = entry{uint64(c.min.decs[f].Hi) ^ signBit, f}
		}
	default:
		for p, f := range files {
			entries[p] = entry{0, f}
		}
	}
	exact := c.min.storage == ints
	slices.SortFunc(entries, func(a, b entry) int {
		if order := cmp.Compare(a.key, b.key); order != 0 || exact {
			return order
		}
		return c.min.compareElements(a.file, b.file)
	})
	for p, e := range entries {
		files[p] = e.file
	}
}

func commonPrefix(v *vector, files []int32) int {
	if len(files) == 0 {
		return 0
	}
	common := v.text(files[0])
	for _, f := range files {
		text := v.text(f)
		if bytes.HasPrefix(text, common) {
			continue
		}
		n := 0
		for n < len(text) && n < len(common) && text[n] == common[n] {
			n++
		}
		common = common[:n]
	}
	return len(common)
}

// find gives the files, ascending, that may meet one of the spans; false where so many would have to be looked at that a pass
// over all is better.
func (x *sortedIndex) find(c *column, spans []span) ([]int32, bool) {
	limit := len(c.nulls) / 8
	if len(x.open) > limit {
		return nil, false
	}
	out := slices.Clone(x.open)
	looked := 0
	for i := range spans {
		s := &spans[i]
		from, to := 0, len(x.files)
		if s.hasHigh {
			to = sort.Search(len(x.files), func(p int) bool { return !s.reachesDown(c, x.files[p]) })
		}
		if s.hasLow {
			from = sort.Search(to, func(p int) bool { return s.reachesUp(c, x.running[p]) })
		}
		if looked += to - from; looked > limit {
			return nil, false
		}
		for _, f := range x.files[from:to] {
			if !s.hasLow || s.reachesUp(c, f) {
				out = append(out, f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), true
}

// reachesDown tells that the file's minimum is not above the span.
func (s *span) reachesDown(c *column, f int32) bool {
	order := c.min.compare(f, &s.high)
	return order < 0 || order == 0 && !s.openHigh
}

// reachesUp tells that the file's maximum is not below the span.
func (s *span) reachesUp(c *column, f int32) bool {
	order := c.max.compare(f, &s.low)
	return order > 0 || order == 0 && !s.openLow
}
