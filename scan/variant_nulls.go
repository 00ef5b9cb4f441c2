package scan

import (
	"context"
	"fmt"
	"slices"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// DuckDB 2.0 reads a variant null (JSON's null as the whole value) of an annotated variant as NULL, though its VARIANT type
// has both and the protocol keeps them apart. What follows puts the variant nulls back, for the columns that a relation
// has, in the files that can hold any.

// variantNull is the value itself: an empty dictionary of version 1, and the byte of a null.
const variantNull = `variant_bytes_to_variant('\x01\x00\x00\x00'::BLOB)`

func hasVariants(t *duck.Type) bool {
	return t.Kind == duck.KindVariant || slices.ContainsFunc(t.Children, func(child duck.Type) bool { return hasVariants(&child) })
}

// variantTypes appends the variants inside a type, outermost first.
func variantTypes(list []*duck.Type, t *duck.Type) []*duck.Type {
	if t.Kind == duck.KindVariant {
		return append(list, t)
	}
	for i := range t.Children {
		list = variantTypes(list, &t.Children[i])
	}
	return list
}

// findVariantNulls looks at the variants of the columns that the relation reads, in files that were not met before.
func (b *builder) findVariantNulls(ctx context.Context) error {
	var unknown []variantRead
	for _, c := range b.columns {
		if c.source != sourceFile || !contains(c.field.Type, ofKind(protocol.KindVariant)) {
			continue
		}
		for _, f := range b.files {
			column := b.storedColumn(f.layout, c)
			if column == nil || !hasVariants(&column.typ) {
				continue
			}
			if leaves, ok := knownVariants.get(variantKey{f.layoutKey(), column.name}); ok {
				f.setVariants(column.name, leaves)
			} else {
				unknown = append(unknown, variantRead{f, column})
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return readVariants(ctx, unknown)
}

// storedColumn finds a column in a file; nil where the file lacks it.
func (b *builder) storedColumn(l *layout, c column) *layoutColumn {
	if b.config.Mapping == protocol.MappingID {
		id, _ := c.field.ColumnID()
		return l.byID(id)
	}
	return l.byName(string(c.physical))
}

func (f *dataFile) setVariants(column string, leaves []variantLeaf) {
	if f.variants == nil {
		f.variants = map[string][]variantLeaf{}
	}
	f.variants[column] = leaves
	for _, leaf := range leaves {
		f.variantNulls = f.variantNulls || !leaf.clean
	}
}

// variantFix is how the NULLs of one variant are put right.
type variantFix struct {
	set   *duck.Set // nil where all values are there, so that every NULL of DuckDB's is a variant null
	depth int       // lists and maps on the way
}

// variantFixes gives the fixes of a column, by the variant's type in the layout, and makes their row sets: the integers of
// a file say whether it has variant nulls at all, then the strides; its deleted "rows" are the positions that are NULL.
func (w *branchWriter) variantFixes(column *layoutColumn) (map[*duck.Type]variantFix, error) {
	if !w.branch.variantNulls {
		return nil, nil
	}
	var fixes map[*duck.Type]variantFix
	for i, t := range variantTypes(nil, &column.typ) {
		leaves := make([]variantLeaf, len(w.branch.files))
		depth, some, all := 0, false, true
		for k, f := range w.branch.files {
			if found := f.variants[column.name]; i < len(found) {
				leaves[k] = found[i]
			} else {
				leaves[k].clean = true
			}
			some = some || !leaves[k].clean
			all = all && !leaves[k].clean && len(leaves[k].absent) == 0
			depth = max(depth, len(leaves[k].strides))
		}
		if !some {
			continue
		}
		fix := variantFix{depth: depth}
		if !all {
			set, err := newVariantSet(leaves, depth)
			if err != nil {
				return nil, err
			}
			w.variantSets = append(w.variantSets, set)
			fix.set = set
		}
		if fixes == nil {
			fixes = map[*duck.Type]variantFix{}
		}
		fixes[t] = fix
	}
	return fixes, nil
}

func newVariantSet(leaves []variantLeaf, depth int) (*duck.Set, error) {
	spec := duck.SetSpec{Files: len(leaves), Deleted: make([][]uint64, len(leaves)), Ints: make([]duck.IntColumn, 1+depth)}
	for k := range spec.Ints {
		spec.Ints[k] = duck.IntColumn{Values: make([]int64, len(leaves)), Valid: make([]bool, len(leaves))}
	}
	for i, leaf := range leaves {
		if leaf.clean {
			continue // NULL integers: no position, no fix
		}
		spec.Deleted[i] = leaf.absent
		for k, n := range append([]int64{1}, leaf.strides...) {
			spec.Ints[k].Values[i], spec.Ints[k].Valid[i] = n, true
		}
	}
	return duck.NewSet(spec)
}

// fixVariant is the conversion of a variant that DuckDB has read; indexes are the lambda variables that count the elements,
// from 1, of the lists and maps on the way to it.
func fixVariant(fix variantFix, indexes []string) convert {
	if fix.set == nil {
		return func(e string) string { return "coalesce(" + e + ", " + variantNull + ")" }
	}
	position := "file_row_number"
	for k, index := range indexes {
		position = fmt.Sprintf("(%s * delta_int(%d, %d, file_index) + %s - 1)", position, fix.set.ID(), k+1, index)
	}
	return func(e string) string {
		return fmt.Sprintf("CASE WHEN %s IS NULL AND delta_int(%d, 0, file_index) = 1 AND delta_live(%[2]d, file_index, %[3]s) THEN %[4]s ELSE %[1]s END",
			e, fix.set.ID(), position, variantNull)
	}
}
