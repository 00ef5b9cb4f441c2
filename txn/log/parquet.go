package log

import "context"

// Parquet is the port through which the log reads Parquet (checkpoints and sidecars): it runs one SQL query and hands
// over its rows, batch by batch and in order. The package writes the SQL (DuckDB's dialect, `read_parquet`); scan/duck
// implements the port. The queries give only VARCHAR and BIGINT columns.
//
// Query returns the first error of the query, of each, or of ctx. Arguments are int64, string, []string or nil.
type Parquet interface {
	Query(ctx context.Context, sql string, args []any, each func(Batch) error) error
}

// Batch is some rows of a result as columns. It is valid only inside the callback that received it.
type Batch interface {
	// Len is the number of rows.
	Len() int
	// Bytes is the text of a VARCHAR column; ok is false for NULL. The slice is valid only inside the callback.
	Bytes(column, row int) (text []byte, ok bool)
	// Int64 is the value of a BIGINT column; ok is false for NULL.
	Int64(column, row int) (value int64, ok bool)
}
