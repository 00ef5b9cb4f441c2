package stats

import "deltasql/protocol"

// Bound is what the statistics of a set of files say of a column's values in all their physical rows.
type Bound struct {
	// Min and Max enclose every value, where Enclosed is set: they may be wider than the values are.
	Min, Max protocol.Value
	Enclosed bool
	// NeverNull: no row is NULL.
	NeverNull bool
}

// Bounds gives what is known of each leaf in files, which hold at least one. Partition columns and leaves below the top level
// are unknown, and so are the bounds of strings, which may be cut, and of floats, which have NaN. A file whose vector was
// written with tight bounds says nothing of the rows that the vector deletes, so nothing of its physical rows.
//
// Columns that were not asked for before are parsed for every file of the snapshot, in one pass.
func (t *Table) Bounds(leaves []Leaf, files []int32) []Bound {
	out := make([]Bound, len(leaves))
	var stored []Leaf
	for _, leaf := range leaves {
		if len(leaf.Path) == 1 && !t.isPartition(leaf) {
			stored = append(stored, leaf)
		}
	}
	columns := t.columnsOf(stored)
	loose := t.looseFiles()
	for i, leaf := range leaves {
		if c := columns[leaf.key()]; c != nil && len(files) > 0 {
			out[i] = t.bound(c, files, loose)
		}
	}
	return out
}

func (t *Table) bound(c *column, files []int32, loose bitmap) Bound {
	kind := c.leaf.Type.Kind
	b := Bound{
		NeverNull: true,
		Enclosed: integerKind(kind) || kind == protocol.KindDate || kind == protocol.KindDecimal ||
			kind == protocol.KindTimestamp || kind == protocol.KindTimestampNTZ,
	}
	least, greatest := int32(-1), int32(-1)
	for _, f := range files {
		if t.src.DeletedRows(int(f)) > 0 && !loose.has(f) {
			return Bound{}
		}
		b.NeverNull = b.NeverNull && !c.mayHaveNull.has(f)
		if !b.Enclosed || !c.mayHaveValue.has(f) {
			continue
		}
		if !c.hasMin.has(f) || !c.hasMax.has(f) {
			b.Enclosed = false
			continue
		}
		if least < 0 || c.min.compareElements(f, least) < 0 {
			least = f
		}
		if greatest < 0 || c.max.compareElements(f, greatest) > 0 {
			greatest = f
		}
	}
	if b.Enclosed = b.Enclosed && least >= 0; b.Enclosed {
		b.Min, b.Max = c.min.value(c.leaf.Type, least), c.max.value(c.leaf.Type, greatest)
	}
	return b
}
