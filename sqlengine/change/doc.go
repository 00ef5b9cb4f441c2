// Package change binds the statements that write rows. Each becomes one bound query that gives the table's logical columns in
// order, with every duty of a writer towards a row spelled out in it: store assignment, defaults, generated and identity values,
// NOT NULL, CHECK, invariants and the lengths of CHAR and VARCHAR. A row that breaks one fails the query by error('[CLASS] text').
//
// A plan's query has up to four blocks, one over the other: the statement's source as it was written; the assignment of its columns to
// the table's; the columns computed from others; the checks. A check is part of an output column's value and never a condition, since
// DuckDB moves conditions below filters and joins, to rows that the statement does not write.
//
// Invariants: C1 no output column of a plan can be read without its checks; C2 a value is computed once, in the block that owns it,
// and named by column above it; C3 stored expressions (CHECK, generated, default) are read in the Spark dialect, whatever the session's.
package change
