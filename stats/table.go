package stats

import (
	"deltasql/protocol"
)

// Source is what a snapshot gives of its files, numbered 0 to NumFiles()-1 in an order that never changes.
// Its methods are called from several goroutines at once.
type Source interface {
	NumFiles() int
	// RawStats is the statistics JSON of the add action, nil or empty where it has none. The bytes must not change later.
	RawStats(i int) []byte
	// PartitionValue is the text of the log for a partition column; null for JSON null and for an absent key.
	PartitionValue(i int, name protocol.PhysicalName) (text string, null bool)
	// DeletedRows is the cardinality of the file's deletion vector, 0 without one.
	DeletedRows(i int) int64
}

// Result is the outcome of Prune.
type Result struct {
	// Keep holds the files that may have matching rows, ascending. It belongs to the caller.
	Keep []int32
	// SkippedByPartition and SkippedByStats add up, with Keep, to the number of files.
	SkippedByPartition, SkippedByStats int
	// By has an entry for each top-level conjunct, in the predicate's order.
	By []PredicateReport
}

// PredicateReport says what one conjunct did: it skipped so many of the files that the conjuncts applied before it had left.
type PredicateReport struct {
	Text      string
	Partition bool // judged by partition values alone
	Skipped   int
}

// The methods of Table, as others may rely on them:
//
//	func NewTable(src Source, cfg *protocol.TableConfig) *Table
//	func (t *Table) Prune(p Predicate) Result
//	func (t *Table) PruneFiles(p Predicate, files []int32) Result // narrows a list that is already there
//	func (t *Table) NumRecords(i int) (int64, bool)               // physical rows
//	func (t *Table) Rows(files []int32) (int64, bool)             // live rows; nil: all files
//	func (t *Table) NullCount(leaf Leaf, files []int32) (int64, bool)
//	func (t *Table) MinMax(leaf Leaf, files []int32) (min, max protocol.Value, exact bool)
//	func (t *Table) Bytes() int64
type Table struct {
	src Source
	cfg *protocol.TableConfig
}

// NewTable does no work: a leaf's column is parsed when a query first needs it. cfg must be the configuration of the same snapshot.
func NewTable(src Source, cfg *protocol.TableConfig) *Table { return &Table{src: src, cfg: cfg} }
