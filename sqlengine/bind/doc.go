// Package bind turns a parsed query into a bound one: it finds tables through a Catalog, resolves names in their scopes, shapes
// clauses as the statement's dialect means them, and checks what the grammar cannot. Package expr types and lowers the
// expressions themselves; this package is their environment.
//
// After binding, two passes prepare the scans: prune.go marks the columns that are read and drops the outputs that nobody reads,
// pushdown.go finds the conditions that every row of a scan must satisfy to matter.
//
// Invariants: B1 names are matched without regard to case and keep the case in which they are written; B2 every Column of a
// bound query belongs to a relation of its own FROM or of an enclosing query's; B3 a condition on a scan never removes a row
// that could change the result (S1 of the design), so whatever is not understood stays out of it.
package bind
