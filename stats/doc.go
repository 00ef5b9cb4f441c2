// Package stats decides from the log alone which data files of a snapshot a query must read, and writes what later queries decide by.
//
// It owns the Predicate, a small closed tree over leaf columns in which whatever cannot be said is Maybe, and the Table: the
// statistics and partition values of a snapshot's files, held as one column per leaf, parsed when a query first asks for the
// leaf and immutable afterwards. A Table may be used by any number of goroutines.
//
// Invariants:
//
//	S1  A file is skipped only if no live row of it can make the predicate TRUE. Missing, damaged or ambiguous statistics keep it.
//	S2  Statistics are outer bounds: wide is legal. An answer taken from them as exact (MinMax, Rows, NullCount) is refused
//	    unless every file proves it.
//
// Read the files in the order of a query: predicate.go (what is asked), normal.go with literal.go (its normal form, literals in
// terms of the leaf's type), scanner.go, bound.go and instant.go (statistics JSON to bounds), column.go and partition.go (how they
// are held), judge.go and index.go (one condition over one leaf), prune.go (the whole). exact.go and outer.go give answers other
// than which files to read.
//
// The statistics of new files are written by encode.go, with truncate.go for the bounds of strings; S2 binds it too. texts.go gives
// what is written as text, for checkpoints, and strip.go takes a member away.
//
// The package does no I/O and knows neither SQL nor files; txn/log gives it bytes through Source.
package stats
