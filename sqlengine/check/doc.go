// Package check verifies a table against the protocol: what a reader would trip over, and what readers silently read differently.
// It is the check behind Session.Check and the command deltasql check.
//
// Of the log it checks that
//   - the listing has no gap (L1) and no name that the log does not know, and the hint names a checkpoint that is there;
//   - each commit keeps the protocol's rules for its actions, alone and against the state that it changes;
//   - each checkpoint and each compaction equals the replay of the commits that it stands for (L2), and each .crc agrees with it.
//
// Of the newest version it checks that
//   - protocol, metadata and schema fit together, and features come with what they require;
//   - every data file is there with the size, the rows and the columns that the log says;
//   - partition values and deletion vectors can be read;
//   - no two files have the same row ids and the high-water mark is above all of them (R1: a row id is given out once);
//   - statistics do not contradict themselves; with Options.Deep, which reads all rows, that they are bounds of the rows (S2).
//
// # Promises
//
// Nothing is changed on the store. A fault does not end the check: what does not build on the faulty part is checked all the same;
// only where the newest version cannot be read, its data files are not known. A fault names its file and is one line. Lawful differences between writers are no faults: where the protocol
// leaves a choice, or implementations disagree and readers do not rely on it, the check is silent.
//
// # Independence
//
// The replay is this package's own (replay.go), plain and in commit order, so that it does not share the faults of the reader that
// it checks: package txn/log reads checkpoints and the newest version, and both are held against the plain replay. It holds a table's
// whole state as maps, which is dear for millions of files and is no matter in a check.
//
// The walk is table.go; listing.go, commit.go, replay.go, config.go, files.go, schema.go and statistics.go are what it looks at, in this
// order. The package knows no catalog and no SQL but its own questions to DuckDB.
package check
