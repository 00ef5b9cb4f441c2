package duck

import bindings "github.com/duckdb/duckdb-go-bindings"

// Version is DuckDB's own version, such as "v2.0.0".
func Version() string { return bindings.LibraryVersion() }
