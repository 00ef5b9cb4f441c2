package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// variantLeaf says of one variant of a file, at whatever depth, which of the values that DuckDB gives as NULL are NULL.
// The definition levels of the variant's group say it; what the group holds need not be looked at.
//
// A value's position counts rows, and the elements of each list or map on the way to it: with one list between,
// row*strides[0] + element. strides has an entry for each list or map.
type variantLeaf struct {
	clean   bool // the file has no variant null here: DuckDB's NULLs are right, and absent is not set
	strides []int64
	absent  []uint64 // bit p: the value at position p is NULL; up to the word of the last
}

const (
	variantReaders = 4
	// maxVariantPositions bounds a leaf's bitset: 128 MB.
	maxVariantPositions = 1 << 30
	// maxCachedVariantBytes bounds what is kept of files' variants.
	maxCachedVariantBytes = 64 << 20
)

// knownVariants are the leaves of files' columns.
var knownVariants = newCache(maxCachedVariantBytes, func(_ variantKey, leaves []variantLeaf) int {
	size := 300 // of an entry and its key
	for _, leaf := range leaves {
		size += 80 + 8*len(leaf.absent)
	}
	return size
})

type variantKey struct {
	file   layoutKey
	column string
}

// variantRead is a column of a file whose variants are to be looked at.
type variantRead struct {
	file   *dataFile
	column *layoutColumn
}

// readVariants looks at the columns, a few files at a time, and sets dataFile.variants.
func readVariants(ctx context.Context, reads []variantRead) error {
	found := make([][]variantLeaf, len(reads))
	err := inParallel(ctx, variantReaders, len(reads), func(ctx context.Context, i int) (err error) {
		found[i], err = readVariantColumn(ctx, reads[i])
		return err
	})
	if err != nil {
		return err
	}
	for i, read := range reads {
		read.file.setVariants(read.column.name, found[i])
		knownVariants.put(variantKey{read.file.layoutKey(), read.column.name}, found[i])
	}
	return nil
}

// readVariantColumn gives the leaves of a column, in the order of variantTypes.
func readVariantColumn(ctx context.Context, read variantRead) (leaves []variantLeaf, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		var known *protocol.Error
		switch {
		case err == nil, errors.As(err, &known), ctx.Err() != nil:
		case errors.Is(err, os.ErrNotExist):
			err = missingFile(read.file)
		default:
			err = damagedFile(read.file, fmt.Sprintf("the variants of the column %s: %s", read.column.name, err))
		}
	}()
	opened, err := os.Open(read.file.local)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(opened, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	groups, err := variantGroups(nil, file.Root().Column(read.column.name), &read.column.typ)
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		leaf, err := readVariantLeaf(ctx, file, group)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf)
	}
	return leaves, nil
}

// variantGroups appends the groups of a column that DuckDB reads as variants, in the order of variantTypes.
func variantGroups(list []*parquet.Column, column *parquet.Column, t *duck.Type) ([]*parquet.Column, error) {
	if !hasVariants(t) {
		return list, nil
	}
	if column == nil {
		return nil, errors.New("the file's schema has no such group")
	}
	var err error
	switch t.Kind {
	case duck.KindVariant:
		return append(list, column), nil
	case duck.KindStruct:
		for i := range t.Children {
			if list, err = variantGroups(list, childNamed(column, t.Names[i]), &t.Children[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case duck.KindList:
		return variantGroups(list, listElement(column), &t.Children[0])
	case duck.KindMap:
		entry := onlyChild(column)
		if entry == nil || len(entry.Columns()) != 2 {
			return nil, errors.New("a map has no keys and values")
		}
		return variantGroups(list, entry.Columns()[1], &t.Children[0].Children[1])
	}
	return nil, fmt.Errorf("a variant inside %s", t)
}

// childNamed finds a member as DuckDB does.
func childNamed(column *parquet.Column, name string) *parquet.Column {
	for _, child := range column.Columns() {
		if strings.EqualFold(child.Name(), name) {
			return child
		}
	}
	return nil
}

func onlyChild(column *parquet.Column) *parquet.Column {
	if children := column.Columns(); len(children) == 1 {
		return children[0]
	}
	return nil
}

// listElement is the group of a list's elements: inside a repeated group of its own, or in old files that group itself
// (Parquet's LogicalTypes.md, "Lists", backward-compatibility rules).
func listElement(column *parquet.Column) *parquet.Column {
	repeated := onlyChild(column)
	if repeated == nil || !repeated.Repeated() {
		return nil
	}
	if element := onlyChild(repeated); element != nil && repeated.Name() != "array" && repeated.Name() != column.Name()+"_tuple" {
		return element
	}
	return repeated
}

func readVariantLeaf(ctx context.Context, file *parquet.File, group *parquet.Column) (variantLeaf, error) {
	metadata, value := group.Column("metadata"), group.Column("value")
	if metadata == nil || !metadata.Leaf() {
		return variantLeaf{}, errors.New("a variant has no metadata")
	}
	if noVariantNulls(file, metadata, value) {
		return variantLeaf{clean: true}, nil
	}
	return walkLevels(ctx, file, metadata, group)
}

// noVariantNulls says that no value is a variant null, by the footer alone. A variant null is the single byte 0 (Parquet's
// VariantEncoding.md, basic type 0 of type 0), also in a shredded file, and no other value begins with it; so the smallest
// value tells. (A value without any part would be one too, but is not valid.) Null counts are used only where all values
// are NULL, as a missing count reads as 0.
func noVariantNulls(file *parquet.File, metadata, value *parquet.Column) bool {
	if value == nil || !value.Leaf() {
		return false
	}
	for _, rows := range file.Metadata().RowGroups {
		if metadata.Index() >= len(rows.Columns) || value.Index() >= len(rows.Columns) {
			return false
		}
		if allNull(&rows.Columns[metadata.Index()]) || allNull(&rows.Columns[value.Index()]) {
			continue
		}
		smallest := rows.Columns[value.Index()].MetaData.Statistics.MinValue
		if len(smallest) == 0 || smallest[0] == 0 {
			return false
		}
	}
	return true
}

func allNull(chunk *format.ColumnChunk) bool {
	return chunk.MetaData.Statistics.NullCount == chunk.MetaData.NumValues
}
