// Package fieldbugs holds tests alone: what users of Delta tables reported against other engines, each case rebuilt from its
// smallest table and asked through the public API. A test is named by the case's area and number (LR log replay, PF protocol and
// features, ST statistics, TY types, PP partitions and paths, DM conditions, CC concurrency, MT maintenance, CD change data,
// PS scale, ME memory, EM messages); cases that only writing can show are tested where writing is.
//
// Every query runs twice, with skipping and answers from statistics on and off, and must give the same rows.
package fieldbugs
