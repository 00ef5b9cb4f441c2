package log

import (
	"slices"

	"deltasql/protocol"
)

// totals are the distributions that a version's checksum records. A state keeps them up to date once they are there;
// without a writer they are never made.
type totals struct {
	sizes   *protocol.FileSizeHistogram
	deleted [protocol.DeletedRecordClasses]int64 // files by the number of their deleted rows
}

func newTotals() *totals { return &totals{sizes: protocol.NewFileSizeHistogram()} }

// totals counts all files.
func (f *Files) totals() *totals {
	t := newTotals()
	for i := range f.Len() {
		t.count(f.Size(i), f.DeletedRows(i), 1)
	}
	return t
}

func (t *totals) count(sizeBytes, deletedRows, n int64) {
	t.sizes.Count(sizeBytes, n)
	t.deleted[protocol.DeletedRecordClass(deletedRows)] += n
}

func (t *totals) clone() *totals {
	if t == nil {
		return nil
	}
	return &totals{
		sizes: &protocol.FileSizeHistogram{
			SortedBinBoundaries: t.sizes.SortedBinBoundaries,
			FileCounts:          slices.Clone(t.sizes.FileCounts), TotalBytes: slices.Clone(t.sizes.TotalBytes),
		},
		deleted: t.deleted,
	}
}
