// Package meta answers the metadata statements: DESCRIBE, SHOW and kin. Each is a pure function from a snapshot, a log or
// lists of names to a Table, with the column names, types and order that Spark with Delta gives (recorded in its shells), so
// that programs written for it find what they look for. Statements of our own (SHOW FEATURES, FILES, LOG, CONSTRAINTS) follow
// the same habits. The package opens no data file and knows no SQL text; package sqlengine turns a Table into a result.
package meta
