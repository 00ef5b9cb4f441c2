// Package sqlengine is the public Go API of deltasql: SQL over folders of Delta tables. It has four nouns.
//
//   - An Engine is one catalog (a folder of databases of tables) with one DuckDB. It is safe for concurrent use.
//   - A Session is one user's state: current database, variables, temporary views, warnings.
//   - A statement is what Session.Execute takes: one, with or without its semicolon.
//   - A Result is what it gave: columns with Delta's types, and batches of rows that are computed as they are asked for.
//
// In six lines, without the errors (the package example has them):
//
//	engine, err := sqlengine.Open(sqlengine.Options{Catalog: "/lake"})
//	session, err := engine.NewSession(sqlengine.SessionOptions{})
//	result, err := session.Execute(ctx, "SELECT id FROM sales VERSION AS OF 3")
//	for batch, err := result.Next(ctx); err == nil; batch, err = result.Next(ctx) { // io.EOF at the end
//		fmt.Println(batch.Vector(0).Int64(0))
//	}
//
// # Promises
//
// C1: a statement that fails leaves the table as it was. C2: what a statement has answered for is durable.
// Q1: every use of a table in one statement sees one version. Q2: a Result's columns have the bound types; what DuckDB returns
// agrees with them. Q3: every error that leaves this package is a *protocol.Error. Q4: reading creates nothing on disk. Q5: an
// Engine outlives any failure of one statement.
//
// # Caveats
//
// Close every Result, also one that was read to its end or failed: it holds one of the engine's places for running statements
// (Options.MaxRunning) until then, and a session that runs a second statement while its first result is open takes a second place.
// A Batch is valid until the next call of Next. The context given to Execute governs the whole life of the result: cancelling it,
// or its deadline, ends the rows too.
//
// What the catalog itself keeps (views, names of tables elsewhere, what CREATE DATABASE said) are files below its folder _deltasql.
//
// Unless Options fence paths, a session reads and writes any file that the process may: delta.`path`, parquet.`path`, csv.`path` and
// json.`path` name files outside the catalog. Nothing else of DuckDB's reach is open to SQL: its functions and table functions are those of package expr.
//
// A path that is a symbolic link is another table than the folder it leads to: two names of one table may see two versions.
//
// # Where to read on
//
// The walk of a statement is session.go (ExecuteAt), statement.go (run: which kind), plan.go (query: bind, plan, open). Names are
// resolve.go over catalog.go; which version is pins.go; what the log answers alone is answers.go. Each family of statements has a
// file: set_, show_, describe_, view_, create_, insert_, dml_, alter_, database_, copy_statements.go, explain.go. Changes go through
// writing.go; transactions.go has the session's own, feature_steps.go what takes several commits. Answers about tables are made by
// package meta and become rows in rows.go.
// Session.Check (check.go) opens package check, which holds a table against the protocol and shares nothing with the walk above.
//
// The package owns names, sessions, the walk of a statement, admission and cancellation. It knows no packets and no files of a
// table: package txn/log reads logs, package scan decides which files and rows are read, DuckDB evaluates.
package sqlengine
