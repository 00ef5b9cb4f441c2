package stats

import (
	"math"

	"deltasql/protocol"
)

// What this file gives is the truth about the live rows or nothing (S2, bugs ST-15). files are ascending file numbers; nil means
// every file.

// NumRecords is the number of physical rows of a file, deleted ones included.
func (t *Table) NumRecords(i int) (int64, bool) {
	n := t.numRecords()[i]
	return max(n, 0), n >= 0
}

// Rows is the number of live rows of files. Where some file's count is unknown it is the sum of the known ones and exact is false;
// so it is where the sum is beyond any table's, which no true counts give.
func (t *Table) Rows(files []int32) (total int64, exact bool) {
	exact = true
	records := t.numRecords()
	for _, f := range t.orAll(files) {
		live, ok := t.live(records, f)
		if live > math.MaxInt64-total {
			return total, false
		}
		total, exact = total+live, exact && ok
	}
	return total, exact
}

func (t *Table) orAll(files []int32) []int32 {
	if files == nil {
		return t.allFiles()
	}
	return files
}

// live is the number of live rows of a file; a vector with more rows than the file has makes it unknown.
func (t *Table) live(records []int64, f int32) (int64, bool) {
	n := records[f]
	if n < 0 {
		return 0, false
	}
	n -= t.src.DeletedRows(int(f))
	return max(n, 0), n >= 0
}

// NullCount is the number of live rows of files in which the leaf is NULL.
func (t *Table) NullCount(leaf Leaf, files []int32) (int64, bool) {
	records := t.numRecords()
	total := int64(0)
	if t.isPartition(leaf) {
		c := t.partitionOf(leaf)
		for _, f := range t.orAll(files) {
			live, ok := t.live(records, f)
			switch {
			case !ok || c.codes[f] == c.undecidedCode:
				return 0, false
			case c.codes[f] == c.nullCode:
				total += live
			}
		}
		return total, true
	}
	c := t.columnOf(leaf)
	if c == nil {
		return 0, false
	}
	loose := t.looseFiles()
	for _, f := range t.orAll(files) {
		live, ok := t.live(records, f)
		switch {
		case !ok:
			return 0, false
		case !c.mayHaveNull.has(f):
		case !c.mayHaveValue.has(f):
			total += live
		case c.nulls[f] < 0 || c.nulls[f] > live || t.loosened(loose, f):
			return 0, false
		default:
			total += c.nulls[f]
		}
	}
	return total, true
}

// loosened tells that deletions may have made a file's bounds and counts wider than its live rows.
func (t *Table) loosened(loose bitmap, f int32) bool {
	return loose.has(f) || t.src.DeletedRows(int(f)) > 0
}

// looseFiles are the files with tightBounds=false, known once some leaf's column is.
func (t *Table) looseFiles() bitmap {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.loose
}

// columnOf is the statistics column of a leaf, nil for a leaf without path.
func (t *Table) columnOf(leaf Leaf) *column {
	if len(leaf.Path) == 0 {
		return nil
	}
	return t.columnsOf([]Leaf{leaf})[leaf.key()]
}

// MinMax is the least and the greatest value of the leaf among the live rows of files, typed NULLs where there is none. exact is
// false, and the values are not to be used, unless every file proves its part: bounds present, tight, without deletion vector, and
// of a type that writers do not round. Strings are cut, timestamps lose microseconds, and floats have NaN; those are never exact.
func (t *Table) MinMax(leaf Leaf, files []int32) (min, max protocol.Value, exact bool) {
	null := protocol.Value{Kind: leaf.Type.Kind, Null: true, Scale: leaf.Type.Scale}
	if t.isPartition(leaf) {
		return t.partitionMinMax(leaf, files, null)
	}
	if !exactBounds(leaf.Type) {
		return null, null, false
	}
	c := t.columnOf(leaf)
	if c == nil {
		return null, null, false
	}
	records, loose := t.numRecords(), t.looseFiles()
	least, greatest := int32(-1), int32(-1)
	for _, f := range t.orAll(files) {
		switch {
		case records[f] < 0 || t.loosened(loose, f):
			return null, null, false
		case !c.mayHaveValue.has(f):
			continue
		case c.nulls[f] < 0 || !c.hasMin.has(f) || !c.hasMax.has(f):
			return null, null, false
		}
		if least < 0 || c.min.compareElements(f, least) < 0 {
			least = f
		}
		if greatest < 0 || c.max.compareElements(f, greatest) > 0 {
			greatest = f
		}
	}
	if least < 0 {
		return null, null, true
	}
	return c.min.value(leaf.Type, least), c.max.value(leaf.Type, greatest), true
}

// exactBounds are the types whose bounds are values of rows.
func exactBounds(t protocol.DataType) bool {
	return integerKind(t.Kind) || t.Kind == protocol.KindDate || t.Kind == protocol.KindDecimal
}

// partitionMinMax needs to know which files have live rows at all.
func (t *Table) partitionMinMax(leaf Leaf, files []int32, null protocol.Value) (least, greatest protocol.Value, exact bool) {
	c := t.partitionOf(leaf)
	records := t.numRecords()
	low, high := uint32(math.MaxUint32), uint32(0)
	for _, f := range t.orAll(files) {
		live, ok := t.live(records, f)
		code := c.codes[f]
		switch {
		case !ok || code == c.undecidedCode:
			return null, null, false
		case live == 0 || code == c.nullCode:
			continue
		}
		low, high = min(low, code), max(high, code)
	}
	if low > high {
		return null, null, true
	}
	return c.values.value(leaf.Type, int32(low)), c.values.value(leaf.Type, int32(high)), true
}

// value is element i as a value of the type.
func (v *vector) value(t protocol.DataType, i int32) protocol.Value {
	out := protocol.Value{Kind: t.Kind}
	switch v.storage {
	case ints:
		out.Int = v.ints[i]
	case floats:
		out.Float = v.floats[i]
	case decimals:
		out.Dec, out.Scale = v.decs[i], t.Scale
	case texts:
		out.Str = string(v.text(i))
	}
	return out
}
