// Package expr is the bound form of queries and expressions: every name resolved, every expression typed, every dialect's
// meaning already spelled in terms of DuckDB's. Package bind resolves names and shapes queries, this package types and lowers
// expressions (operators, casts, functions of both dialects), and package duckgen prints the tree as DuckDB SQL.
//
// Invariants: E1 a bound expression evaluates in DuckDB to exactly its Type (the printer adds no cast of its own);
// E2 nodes are immutable once bound and may be shared; E3 a relation's columns are addressed by (Relation, Index), never by name.
package expr
