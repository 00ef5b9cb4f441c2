package scan

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"deltasql/protocol"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Subset narrows a scan to a part of the snapshot. Files are named by their numbers; the zero value is the whole.
type Subset struct {
	// Only are the files that are read; nil is all.
	Only []int32
	// Rows are the rows that are read, by file, whatever the files' own vectors say: other files are not read. nil is all.
	Rows map[int32]*roaring64.Bitmap
	// Minus are rows that are left out beside those that the files' own vectors hide.
	Minus map[int32]*roaring64.Bitmap
	// PerFile gives one row for each file instead of its rows, and opens none: only partition columns and hidden columns of
	// files may be asked for, and RowIndex, which is NULL.
	PerFile bool
}

// files are the files that may be read, ascending; nil where that is every one.
func (s *Subset) files() []int32 {
	if s.Rows == nil {
		if s.Only == nil {
			return nil
		}
		files := slices.Clone(s.Only)
		slices.Sort(files)
		return slices.Compact(files)
	}
	files := slices.AppendSeq(make([]int32, 0, len(s.Rows)), maps.Keys(s.Rows))
	slices.Sort(files)
	if s.Only != nil {
		only := map[int32]bool{}
		for _, i := range s.Only {
			only[i] = true
		}
		files = slices.DeleteFunc(files, func(i int32) bool { return !only[i] })
	}
	return slices.DeleteFunc(files, func(i int32) bool { return s.Rows[i].IsEmpty() })
}

// narrow sets what is wanted of a file.
func (s *Subset) narrow(f *dataFile) error {
	f.minus = s.Minus[f.number]
	rows, ok := s.Rows[f.number]
	if !ok {
		return nil
	}
	f.vector = nil
	if f.minus != nil {
		rows = roaring64.AndNot(rows, f.minus)
		f.minus = nil
	}
	if f.records >= 0 {
		f.deletedRows = f.records - int64(rows.GetCardinality())
	}
	var err error
	if f.only, err = bitset(rows, f.records); f.only == nil {
		f.only = []uint64{}
	}
	return err
}

// leaveOut adds the rows of Minus to those of the vectors, which others share.
func (b *builder) leaveOut() error {
	for _, f := range b.files {
		if f.minus == nil || f.minus.IsEmpty() {
			continue
		}
		minus, err := bitset(f.minus, f.records)
		if err != nil {
			return b.table.vectorError(f.path, err)
		}
		before := 0
		for i, word := range f.deleted {
			if i == len(minus) {
				minus = append(minus, f.deleted[i:]...)
				break
			}
			before += bits.OnesCount64(minus[i] & word)
			minus[i] |= word
		}
		f.deleted = minus
		f.deletedRows += int64(f.minus.GetCardinality()) - int64(before)
	}
	return nil
}

// checkPerFile refuses columns that have no value for a whole file.
func (req *Request) checkPerFile(config *protocol.TableConfig) error {
	if !req.PerFile {
		return nil
	}
	for _, i := range req.Columns {
		if !config.IsPartitionColumn(i) {
			return protocol.NewError(protocol.ClassInternal, "the column %d differs among the rows of a file", i)
		}
	}
	for _, h := range req.Hidden {
		if h == RowID || h == RowCommitVersion {
			return protocol.NewError(protocol.ClassInternal, "%s differs among the rows of a file", h.Info().Name)
		}
	}
	return nil
}

// perFileSource gives one row for each of a branch's files.
func perFileSource(files int) string {
	return fmt.Sprintf("(SELECT CAST(i AS UBIGINT) AS file_index FROM range(%d) AS numbers(i))", files)
}
