// Package duckgen prints bound queries as DuckDB SQL. It decides nothing: types, NULL order, names and meanings are those of
// the tree; the text has them spelled out, so that no setting and no rule of DuckDB's binder changes what runs.
//
// Relations are named r<ID>, common table expressions cte<ID>, output columns c0, c1, ...; columns are always qualified and
// quoted, so no name of a user can capture another. Scans are printed by the caller. Bound values of scans are numbered $1, $2
// in the order in which the scans are printed.
package duckgen
