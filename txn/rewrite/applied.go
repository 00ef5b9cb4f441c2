package rewrite

import (
	"strconv"
	"time"

	"deltasql/protocol"
	"deltasql/txn"
)

// Applied is what a change did to a table.
type Applied struct {
	// Rows that were deleted, updated, inserted, and that were only written again; the first two include those of BySource.
	Deleted, Updated, Inserted, Copied int64
	// Rows that a MERGE deleted or updated because its source had none like them.
	DeletedBySource, UpdatedBySource int64
	// Differing are the updated rows that are not as they were, where Changes.HasDiffers; else Updated.
	Differing int64

	// Counts are the sums of the columns that Changes.Counts speaks of.
	Counts []int64

	FilesAdded, FilesRemoved int
	BytesAdded, BytesRemoved int64
	// Files that got a vector, that had one before and got another, and whose former vector is gone.
	VectorsAdded, VectorsUpdated, VectorsRemoved int
	ChangeFiles                                  int
	ChangeBytes                                  int64
	// Sizes are those of the added files.
	Sizes []int64

	// Identity has the least and greatest values that inserted rows have in identity columns.
	Identity map[protocol.LogicalName]Bounds

	// Scan and Rewrite are the times that it took to find the changed rows and to write files.
	Scan, Rewrite time.Duration
	// The caller's to set: the rows of a MERGE's source, the time of materialising that, and the whole statement's time, which
	// is otherwise the sum of the others.
	SourceRows         int64
	Materialise, Total time.Duration
}

// Changed tells whether there is anything to commit.
func (a *Applied) Changed() bool { return a.Deleted+a.Updated+a.Inserted > 0 || a.FilesRemoved > 0 }

// added counts files that were written.
func (a *Applied) added(w *Written) {
	a.FilesAdded += len(w.Files)
	a.BytesAdded += w.Bytes
	for i := range w.Files {
		a.Sizes = append(a.Sizes, w.Files[i].Size)
	}
}

// removed counts a file that is removed.
func (a *Applied) removed(add *protocol.AddFile) {
	a.FilesRemoved++
	a.BytesRemoved += add.Size
	if add.DeletionVector != nil {
		a.VectorsRemoved++
	}
}

// Metrics are the operation's metrics as the reference calls them; nil for an operation that is no change of rows.
func (a *Applied) Metrics(operation string) []txn.Metric {
	var m metrics
	total := a.Total
	if total == 0 {
		total = a.Materialise + a.Scan + a.Rewrite
	}
	switch operation {
	case "DELETE", "UPDATE":
		m.count("numRemovedFiles", int64(a.FilesRemoved))
		m.count("numRemovedBytes", a.BytesRemoved)
		m.count("numCopiedRows", a.Copied)
		m.count("numDeletionVectorsAdded", int64(a.VectorsAdded))
		m.count("numDeletionVectorsUpdated", int64(a.VectorsUpdated))
		m.count("numDeletionVectorsRemoved", int64(a.VectorsRemoved))
		m.count("numAddedFiles", int64(a.FilesAdded))
		m.count("numAddedChangeFiles", int64(a.ChangeFiles))
		if operation == "DELETE" {
			m.count("numDeletedRows", a.Deleted)
		} else {
			m.count("numUpdatedRows", a.Updated)
		}
		m.count("numAddedBytes", a.BytesAdded)
		m.millis("executionTimeMs", total)
		m.millis("scanTimeMs", a.Scan)
		m.millis("rewriteTimeMs", a.Rewrite)
	case "MERGE":
		m.count("numSourceRows", a.SourceRows)
		m.count("numOutputRows", a.Copied+a.Updated+a.Inserted)
		m.count("numTargetRowsInserted", a.Inserted)
		m.count("numTargetRowsUpdated", a.Updated)
		m.count("numTargetRowsMatchedUpdated", a.Updated-a.UpdatedBySource)
		m.count("numTargetRowsNotMatchedBySourceUpdated", a.UpdatedBySource)
		m.count("numTargetRowsDeleted", a.Deleted)
		m.count("numTargetRowsMatchedDeleted", a.Deleted-a.DeletedBySource)
		m.count("numTargetRowsNotMatchedBySourceDeleted", a.DeletedBySource)
		m.count("numTargetRowsCopied", a.Copied)
		m.count("numTargetFilesAdded", int64(a.FilesAdded))
		m.count("numTargetFilesRemoved", int64(a.FilesRemoved))
		m.count("numTargetBytesAdded", a.BytesAdded)
		m.count("numTargetBytesRemoved", a.BytesRemoved)
		m.count("numTargetDeletionVectorsAdded", int64(a.VectorsAdded))
		m.count("numTargetDeletionVectorsUpdated", int64(a.VectorsUpdated))
		m.count("numTargetDeletionVectorsRemoved", int64(a.VectorsRemoved))
		m.count("numTargetChangeFilesAdded", int64(a.ChangeFiles))
		m.millis("materializeSourceTimeMs", a.Materialise)
		m.millis("scanTimeMs", a.Scan)
		m.millis("rewriteTimeMs", a.Rewrite)
		m.millis("executionTimeMs", total)
	case "WRITE": // one that replaces rows
		m.count("numFiles", int64(a.FilesAdded))
		m.count("numOutputRows", a.Copied+a.Inserted)
		m.count("numOutputBytes", a.BytesAdded)
		m.count("numRemovedFiles", int64(a.FilesRemoved))
		m.count("numRemovedBytes", a.BytesRemoved)
		m.count("numDeletedRows", a.Deleted)
		m.count("numCopiedRows", a.Copied)
		m.count("numAddedChangeFiles", int64(a.ChangeFiles))
	case "TRUNCATE":
		m.count("numRemovedFiles", int64(a.FilesRemoved))
		m.millis("executionTimeMs", total)
	case "OPTIMIZE", "REORG":
		m.count("numAddedFiles", int64(a.FilesAdded))
		m.count("numAddedBytes", a.BytesAdded)
		m.count("numRemovedFiles", int64(a.FilesRemoved))
		m.count("numRemovedBytes", a.BytesRemoved)
		m.count("numDeletionVectorsRemoved", int64(a.VectorsRemoved))
		m.sizes(a.Sizes)
	}
	return m
}

type metrics []txn.Metric

func (m *metrics) count(key string, n int64) {
	*m = append(*m, txn.Metric{Key: key, Value: strconv.FormatInt(n, 10)})
}

func (m *metrics) millis(key string, d time.Duration) { m.count(key, d.Milliseconds()) }
