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
// How a relation is made: the files that pruning keeps are put into branches of files that are read alike (with or without
// a deletion vector; the same layout where the layout matters). A branch is one
// SELECT over read_parquet(list, bound_schema => ...), with what the log knows of the columns' values, so that DuckDB plans
// joins well (docs/decisions/0009); the branches are joined by UNION ALL, and the lists are bound as parameters. Row positions and per-file facts come from the C functions of scan/duck.
//
// A variant that is JSON's null stays apart from NULL, also inside structs, lists and maps (docs/decisions/0007); what is
// refused is a file where both kinds meet in lists so long that rows times the longest list exceed a billion positions.
//
// Nested members keep their physical names inside a relation, so that a condition on s.a still prunes row groups;
// Relation.Logical renames them where a whole struct leaves the statement.
package scan
