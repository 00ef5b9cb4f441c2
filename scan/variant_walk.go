package scan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deltasql/protocol"

	"github.com/parquet-go/parquet-go"
)

// levelWalk walks the levels of a variant's metadata, value by value. Its group is NULL where fewer levels are defined
// than the group has, and is not there at all where fewer are defined than the innermost list or map has.
type levelWalk struct {
	present, element byte // levels
	strides          []int64
	row              int64
	index            []int64 // of the element, in each list or map
	words            []uint64
	positions        []int64 // of the absent: row and index, flat; for variants without lists words is filled at once
}

// walkLevels reads the whole metadata column.
func walkLevels(ctx context.Context, file *parquet.File, metadata, group *parquet.Column) (variantLeaf, error) {
	depth := metadata.MaxRepetitionLevel()
	w := levelWalk{
		present: byte(group.MaxDefinitionLevel()), element: elementLevel(file.Root(), group.Path()),
		strides: make([]int64, depth), row: -1, index: make([]int64, depth),
	}
	pages := metadata.Pages()
	defer pages.Close()
	for {
		if err := ctx.Err(); err != nil {
			return variantLeaf{}, err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return variantLeaf{}, err
		}
		err = w.page(page, metadata.MaxDefinitionLevel())
		parquet.Release(page)
		if err != nil {
			return variantLeaf{}, err
		}
	}
	if w.row+1 != file.NumRows() {
		return variantLeaf{}, fmt.Errorf("they have %d rows, the footer says %d", w.row+1, file.NumRows())
	}
	return w.finish()
}

// elementLevel is the definition level at which an element of the innermost list or map on the path is there; 0 where
// there is none.
func elementLevel(column *parquet.Column, path []string) byte {
	level := 0
	for _, name := range path {
		column = column.Column(name)
		if column.Repeated() {
			level = column.MaxDefinitionLevel()
		}
	}
	return byte(level)
}

func (w *levelWalk) page(page parquet.Page, maxDefinition int) error {
	defined, repeated, n := page.DefinitionLevels(), page.RepetitionLevels(), int(page.NumValues())
	if maxDefinition > 0 && len(defined) != n || len(w.index) > 0 && len(repeated) != n {
		return errors.New("a page lacks levels")
	}
	for i := range n {
		level := 0
		if len(w.index) > 0 {
			level = int(repeated[i])
		}
		if err := w.next(level); err != nil {
			return err
		}
		if maxDefinition > 0 && defined[i] < w.present && defined[i] >= w.element {
			w.absent()
		}
	}
	return nil
}

// next moves on to the next value, which repeats at the level; 0 is a new row.
func (w *levelWalk) next(level int) error {
	if level > len(w.index) || level > 0 && w.row < 0 {
		return errors.New("a repetition level is wrong")
	}
	if level == 0 {
		w.row++
	} else {
		w.index[level-1]++
	}
	clear(w.index[level:])
	for k, index := range w.index {
		w.strides[k] = max(w.strides[k], index+1)
	}
	return nil
}

func (w *levelWalk) absent() {
	if len(w.index) == 0 {
		w.setBit(w.row)
		return
	}
	w.positions = append(append(w.positions, w.row), w.index...)
}

func (w *levelWalk) setBit(position int64) {
	if missing := position/64 + 1 - int64(len(w.words)); missing > 0 {
		w.words = append(w.words, make([]uint64, missing)...)
	}
	w.words[position/64] |= 1 << (position % 64)
}

func (w *levelWalk) finish() (variantLeaf, error) {
	positions := w.row + 1
	for _, stride := range w.strides {
		if len(w.positions) > 0 && positions > maxVariantPositions/max(stride, 1) {
			return variantLeaf{}, protocol.NewError("UNSUPPORTED_FEATURE",
				"a file has variants of both NULL and null in lists that are too long to tell them apart")
		}
		positions *= stride
	}
	for at := 0; at < len(w.positions); at += 1 + len(w.index) {
		position := w.positions[at]
		for k, stride := range w.strides {
			position = position*stride + w.positions[at+1+k]
		}
		w.setBit(position)
	}
	return variantLeaf{strides: w.strides, absent: w.words}, nil
}
