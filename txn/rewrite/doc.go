// Package rewrite turns rows into a table's data files: it runs a query, writes what it gives as Parquet files with the
// statistics and partition values that the protocol asks for, and stages them in a transaction. It changes and deletes rows, by
// deletion vectors or by writing files anew, and writes files anew for their own sake.
//
// What it promises:
//
//	W1 What Write has staged is durable: files and folders are synced before the transaction hears of them.
//	W2 Where Write fails, for whatever reason, no file of its is left; what a crash leaves are files that no version refers
//	   to and VACUUM finds.
//	W3 The statistics of its files are bounds of their rows (S2), and stand for every leaf that the table's properties choose.
//	W4 Its files read back as the rows that the query gave: names and field ids, types, partition values, NULL beside a
//	   variant's null.
//	W5 Apply, RemoveWhere and Rewrite stage a change whole or not at all, and leave no table in DuckDB and, where they fail, no
//	   file. What they hold in memory are places of rows; values spill to the disk.
//	W6 A row that stays, in its file or in another, keeps its id and version where the table tracks rows; one that is updated keeps
//	   its id.
//	W7 A commit's change files tell all of its changes or it has none, and then its added and removed files and their vectors do.
//
// Obligations on values (NOT NULL, CHECK, lengths, generated columns) are not its business: whoever makes the query has them in
// it, and names them in Rows.Done.
//
// Reading order: write.go is the whole way; layout.go with physical.go says what stands in a file, annotate.go marks what DuckDB cannot, partition.go in which file a
// row goes, facts.go what the log says of a file, place.go how files get their names. apply.go is the way of changed rows, with collect.go for finding them, with vectors.go
// for deletion vectors, changefiles.go for change data feeds and applied.go for what is counted; remove.go removes whole files,
// rewrite.go writes them anew.
//
// What maintains tables stands on these: bins.go with curve.go chooses the files that OPTIMIZE packs and the order of their rows,
// statistics.go makes statistics of files that are there, whole_files.go compares versions by their files (RESTORE), clone.go and
// convert.go take files of other tables and of plain folders, manifest.go lists files for other readers, vacuum.go finds what no
// version needs.
package rewrite
