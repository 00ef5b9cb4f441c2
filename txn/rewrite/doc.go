// Package rewrite turns rows into a table's data files: it runs a query, writes what it gives as Parquet files with the
// statistics and partition values that the protocol asks for, and stages them in a transaction.
//
// What it promises:
//
//	W1 What Write has staged is durable: files and folders are synced before the transaction hears of them.
//	W2 Where Write fails, for whatever reason, no file of its is left; what a crash leaves are files that no version refers
//	   to and VACUUM finds.
//	W3 The statistics of its files are bounds of their rows (S2), and stand for every leaf that the table's properties choose.
//	W4 Its files read back as the rows that the query gave: names and field ids, types, partition values, NULL beside a
//	   variant's null.
//
// Obligations on values (NOT NULL, CHECK, lengths, generated columns) are not its business: whoever makes the query has them in
// it, and names them in Rows.Done.
//
// Reading order: write.go is the whole way; layout.go with physical.go says what stands in a file, partition.go in which file a
// row goes, facts.go what the log says of a file, place.go how files get their names.
package rewrite
