// Package roundtrip has tests alone: what txn/log writes must be read back as it was, by the log's own reader through
// DuckDB, which txn/log itself does not know.
package roundtrip
