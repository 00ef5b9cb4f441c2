// Package scan turns a snapshot, the columns wanted and a predicate into a pruned list of data files and one DuckDB
// relation of logical rows; and a range of versions into one of change rows. It changes no table.
//
// What it promises:
//
//	S1 A relation has every row of the snapshot that could match the predicate, and only live rows.
//	S3 Its columns are logical values: partition values from the log in the column's type, columns that a file lacks as
//	   NULL, older types widened, zone-less timestamps apart from instants, variants decoded, their nulls apart from NULL.
//	S4 What a file holds is never guessed from its name or folder.
//	S5 What cannot be read right is refused, naming the table and the file.
//
// How a relation is made: the files that pruning keeps are put into branches of files that are read alike (the same columns stored
// alike, with or without a deletion vector). A branch is one SELECT over read_parquet(list, ...) that names the columns and the types
// they are read as; the branches are joined by UNION ALL, and the lists are bound as parameters. Row positions and per-file
// facts come from the C functions of scan/duck.
//
// Reading order:
//
//	relation.go    Request, Relation, Report; builder.write is the whole way
//	file.go        one data file, its path; diagnose.go names the file in DuckDB's errors
//	layout.go      what the files store, remembered; footer.go finds their schemas, stored.go refuses what does not fit
//	branch.go      files into branches; branch_sql.go writes the SELECT of one, facts.go its per-file values, source.go its
//	               read_parquet, statistics.go what DuckDB plans it with
//	adapt.go       nested, binary and other columns that DuckDB does not read right by itself; variant_nulls.go for variants
//	partition.go   partition values; hidden.go the members of _metadata; vectors.go deletion vectors
//	changes.go     the same for a range of commits
//
// There are three ways to read a branch: by bound_schema with the type that the files store, adapted by an
// expression (some column needs it, builder.adapts); by bound_schema with the table's types over files that have the columns,
// for DuckDB's estimates (builder.byLayout); and by schema, which gives NULL for what a file lacks, for very many files or kinds of
// files (docs/decisions/0003, 0009, 0010).
//
// A variant that is JSON's null stays apart from NULL, also inside structs, lists and maps (docs/decisions/0007); what is
// refused is a file where both kinds meet in lists so long that rows times the longest list exceed a billion positions.
//
// Nested members keep their physical names inside a relation, so that a condition on s.a still prunes row groups;
// Relation.Logical renames them where a whole struct leaves the statement.
package scan
