// Package metamorphic holds tests alone: one random logical table is laid out in many ways (column mapping, partitions, deletion
// vectors, file sizes, statistics of all qualities, checkpoints of all kinds), random queries are asked of each layout with
// skipping on, and every answer must be the one that the plainest layout gives with skipping off.
//
// It holds S1 (skipping never drops a row that could match), S2 (statistics are bounds) and L2 (a checkpoint equals the replay
// of its commits) together: none of them may show in a query's rows.
//
// Beside that, random histories of statements that change rows are done to tables of several layouts and to a plain model, which rows,
// change rows, row ids and older versions are compared with; and writers that all change the same tables at once must leave what some
// order of their commits explains.
//
//	go test ./sqlengine/metamorphic                                  a short run of one fixed seed
//	go test ./sqlengine/metamorphic -seed 0 -rounds 20 -queries 500 -edges 1000  random seeds, printed; a failure names its own
//	DELTASQL_HISTORIES=15m go test ./sqlengine/metamorphic -run 'Histories|Writers'  histories from -history (a seed) on, one after the other, and writers
package metamorphic
