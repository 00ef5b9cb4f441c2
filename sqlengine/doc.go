// Package sqlengine is the public Go API of deltasql: an Engine over a catalog of Delta tables, Sessions on it, and statements
// that give streamed Results.
//
//	engine, err := sqlengine.Open(sqlengine.Options{Catalog: "/lake"})
//	session := engine.NewSession(sqlengine.SessionOptions{})
//	result, err := session.Execute(ctx, "SELECT * FROM sales VERSION AS OF 3")
//	for {
//		batch, err := result.Next(ctx) // io.EOF at the end
//	}
//	result.Close()
//
// It owns names (which folder is meant), sessions (database, variables, temporary views, the clock), the walk of a statement
// (parse, bind, one pinned snapshot a table, plan, stream), admission and cancellation. It knows no packets and no files of a
// table: package txn/log reads logs, package scan decides which files and rows are read, DuckDB evaluates.
//
// Promises. Q1: every use of a table in one statement sees one version. Q2: a Result's columns have the bound types; what
// DuckDB returns agrees with them. Q3: every error that leaves this package is a *protocol.Error. Q4: reading creates nothing
// on disk. Q5: an Engine outlives any failure of one statement.
package sqlengine
