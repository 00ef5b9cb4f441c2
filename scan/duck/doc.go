// Package duck owns DuckDB: the in-memory instance, its settings, its connections, running statements as streams of
// column batches, interruption, and the few C functions that scans need. It is the only importer of DuckDB's bindings
// and knows nothing of Delta.
//
// What it promises:
//
//	K1 A running Stream holds one connection of its own; closing it, early or not, leaves no work behind.
//	K2 A cancelled context stops the statement and leaves the instance usable.
//	K3 A fault inside DuckDB (INTERNAL, FATAL) costs the running statements, never the process: the instance is
//	   replaced. Nothing may therefore be kept inside it (no tables, no views, no session settings) except what
//	   Config.Macros makes anew.
//	K4 DuckDB's time zone is always UTC; zones belong to the layers above.
//
// Bytes and vectors given out by a Batch lie in DuckDB's memory and are valid until the next call of Next or Close.
package duck
