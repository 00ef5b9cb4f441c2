package stats

import (
	"bytes"
	"cmp"
	"math"
	"sort"

	"deltasql/protocol"
)

// The functions of this file apply one atom to the statistics of a leaf: a pass over the files still in question that keeps those
// of which a live row can satisfy it (S1). A bound that is not known is stored as the widest value, so the passes need not ask.

// filter keeps the files that may satisfy the atom. all tells that files is every file.
func (c *column) filter(a *atom, files []int32, all bool) []int32 {
	switch a.kind {
	case atomNull:
		return keepSet(c.mayHaveNull, files)
	case atomRange, atomIn:
		if !c.trusted(a) {
			break
		}
		if all && len(files) >= indexMinFiles {
			if index := c.indexed(); index != nil {
				if found, ok := index.find(c, a.spans()); ok {
					return found
				}
			}
		}
		if a.kind == atomIn && len(a.points) > 1 {
			return c.filterPoints(a.points, files)
		}
		return c.filterSpan(&a.spans()[0], files)
	case atomNotIn:
		if c.min.storage != noStorage && c.min.storage != floats {
			return c.filterExcept(a.points, files)
		}
	case atomNotPrefix:
		if c.min.storage == texts {
			return c.filterNotPrefix(a.prefix, files)
		}
	}
	return keepSet(c.mayHaveValue, files)
}

// trusted tells whether the bounds can decide a range or list. Maxima of floats bound what is not NaN, since writers disagree
// whether NaN counts: they decide nothing that NaN, the greatest value, satisfies (bugs ST-08).
func (c *column) trusted(a *atom) bool {
	switch c.min.storage {
	case noStorage:
		return false
	case floats:
		if a.kind == atomRange {
			return a.span.hasHigh && !math.IsNaN(a.span.high.f)
		}
		return !math.IsNaN(a.points[len(a.points)-1].f)
	}
	return true
}

// spans is the range of an atomRange, or a range for each point of an atomIn.
func (a *atom) spans() []span {
	if a.kind == atomRange {
		return []span{a.span}
	}
	out := make([]span, len(a.points))
	for i, p := range a.points {
		out[i] = span{low: p, high: p, hasLow: true, hasHigh: true}
	}
	return out
}

func keepSet(set bitmap, files []int32) []int32 {
	out := make([]int32, 0, len(files))
	for _, f := range files {
		if set.has(f) {
			out = append(out, f)
		}
	}
	return out
}

func (c *column) filterSpan(s *span, files []int32) []int32 {
	low, high := widestMin, widestMax
	if s.hasLow {
		low = s.low
	}
	if s.hasHigh {
		high = s.high
	}
	switch c.min.storage {
	case ints:
		return overlaps(c.min.ints, c.max.ints, low.i, high.i, c.mayHaveValue, files)
	case floats:
		return overlaps(c.min.floats, c.max.floats, low.f, high.f, c.mayHaveValue, files)
	case decimals:
		return c.overlapsDecimal(low.d, high.d, files)
	}
	return c.overlapsText(s, files)
}

// overlaps keeps the files whose [min, max] meets [low, high].
func overlaps[T cmp.Ordered](min, max []T, low, high T, mayHaveValue bitmap, files []int32) []int32 {
	out := make([]int32, 0, 64)
	for _, f := range files {
		if min[f] <= high && max[f] >= low && mayHaveValue.has(f) {
			out = append(out, f)
		}
	}
	return out
}

func (c *column) overlapsDecimal(low, high protocol.Int128, files []int32) []int32 {
	out := make([]int32, 0, 64)
	for _, f := range files {
		if c.min.decs[f].Cmp(high) <= 0 && c.max.decs[f].Cmp(low) >= 0 && c.mayHaveValue.has(f) {
			out = append(out, f)
		}
	}
	return out
}

func (c *column) overlapsText(s *span, files []int32) []int32 {
	out := make([]int32, 0, 64)
	for _, f := range files {
		if !c.mayHaveValue.has(f) || s.hasHigh && !s.reachesDown(c, f) {
			continue
		}
		if !s.hasLow || !c.hasMax.has(f) || s.reachesUp(c, f) {
			out = append(out, f)
		}
	}
	return out
}

// filterPoints keeps the files with one of the sorted points between their bounds.
func (c *column) filterPoints(points []scalar, files []int32) []int32 {
	out := make([]int32, 0, 64)
	for _, f := range files {
		if !c.mayHaveValue.has(f) {
			continue
		}
		at := sort.Search(len(points), func(i int) bool { return c.min.compare(f, &points[i]) <= 0 })
		if at < len(points) && (!c.hasMax.has(f) || c.max.compare(f, &points[at]) >= 0) {
			out = append(out, f)
		}
	}
	return out
}

// filterExcept keeps the files that may have a value other than the points: not those whose bounds are one and the same point.
func (c *column) filterExcept(points []scalar, files []int32) []int32 {
	out := make([]int32, 0, len(files))
	for _, f := range files {
		if !c.mayHaveValue.has(f) {
			continue
		}
		if c.hasMin.has(f) && c.hasMax.has(f) {
			at := sort.Search(len(points), func(i int) bool { return c.min.compare(f, &points[i]) <= 0 })
			if at < len(points) && c.min.compare(f, &points[at]) == 0 && c.max.compare(f, &points[at]) == 0 {
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// filterNotPrefix drops the files whose bounds both start with the prefix, for then everything between them does.
func (c *column) filterNotPrefix(prefix string, files []int32) []int32 {
	start := []byte(prefix)
	out := make([]int32, 0, len(files))
	for _, f := range files {
		if !c.mayHaveValue.has(f) {
			continue
		}
		if c.hasMin.has(f) && c.hasMax.has(f) && bytes.HasPrefix(c.min.text(f), start) && bytes.HasPrefix(c.max.text(f), start) {
			continue
		}
		out = append(out, f)
	}
	return out
}
