// Package txn is the only door to a changed table: a Transaction collects what one commit will do, and Commit makes it the
// next version of the log, or nothing.
//
//	tx, err := txn.Begin(ctx, table, snapshot, options)    // refuses what this product may not write
//	tx.ReadWhere(predicate)                                // what the change depends on
//	tx.Wrote(names...)                                     // files that exist now and must not stay if it fails
//	err = tx.Add(files, done)                              // done: the duties that were discharged for their rows
//	err = tx.Remove(true, old...)
//	committed, err := tx.Commit(ctx, txn.Operation{Name: "UPDATE"})
//
// A transaction carries obligations: what the table's features ask of new rows (Duties) must be named as done by whoever
// adds files, or the commit fails. What they ask of a commit (row ids, times, append-only, isolation) it does itself.
//
// Invariants, beside those of txn/log:
//
//	C1  A version is created by one writer, whole; a transaction that fails leaves the table as it was.
//	C2  What Commit reports as committed is durable, and what it reports as failed is not and will not be in the table.
//	    Where neither can be known it says so (DELTASQL_COMMIT_OUTCOME_UNKNOWN), and deletes nothing.
//	C3  Concurrent transactions end as some serial order that their isolation level allows.
//	R1  Row ids are unique in a table, and the mark of those given out never falls.
//
// Caveats: a transaction changes one table. A table that a catalog manages is refused. Files that a failed commit could not
// delete are unreferenced, and VACUUM removes them.
//
// Read the files in the order of a commit: transaction.go and staged.go (what is collected), duty.go and legality.go (what
// it must satisfy), contender.go (how it becomes a commit), commit.go (the loop), conflict.go, conflict_metadata.go, reads.go
// and isolation.go (what another commit means for it), identity.go.
package txn
