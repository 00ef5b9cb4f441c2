// Package log reads and writes a table's transaction log on a store: from a listing to a segment (which files rebuild a
// version), from a segment to a snapshot (the state of the table at that version), from the commits to history and to times;
// and the other way a version's commit, its checksum, checkpoints, compactions, and the clean-up of what has expired.
//
// It owns the caches: a Table keeps its newest Snapshot and extends it by the commits that came since, and a few older ones.
//
// Invariants:
//
//	L1  A version's commits have no gap; a log with one is refused, never bridged.
//	L2  A checkpoint stands for the replay of its commits; which of several complete ones is used makes no difference.
//	L3  A Snapshot never changes; what a later commit adds or removes shows only in a later Snapshot.
//
// Read the files in the order of a load: table.go (caches, which listing), segment.go (which files), checkpoint.go and
// commit.go (their actions), replay.go and state.go (reconciliation), columns.go with fileindex.go (how rows are held),
// files.go and snapshot.go (what callers see). clock.go and history.go answer questions about times and commits.
//
// Writing starts at write.go (a commit) and overlay.go (a snapshot with what is not committed yet); upkeep.go says what is
// done after a commit, by checksum_write.go, checkpoint_write.go over parquet_actions.go, checkpoint_stats.go and
// parquet_file.go, compact.go and cleanup.go. tombstones.go gives what a snapshot does not keep. What decides whether a
// version may be written, and which, is for package txn.
//
// A file of a table is identified by (canonical path, deletion vector), see Action Reconciliation in the protocol.
// The package reads Parquet only through the Parquet port, and writes it itself; it knows nothing of SQL statements of users.
package log
