package change

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Insert binds INSERT: the rows it adds. With schema evolution, Incoming tells first what the table must become.
func Insert(ctx context.Context, s *parse.Insert, t Table, opts Options) (plan *Plan, err error) {
	return nil, protocol.NewError("UNSUPPORTED_FEATURE", "INSERT is not bound yet")
}

// Incoming is the schema of an INSERT's rows in the table's own terms: columns that the table has under the table's names, with the
// source's type where the table's may be widened to it; behind them the columns and struct members that the table lacks. Schema evolution
// merges it into the table's schema, and then the statement is bound over the new one.
func Incoming(ctx context.Context, s *parse.Insert, t Table, opts Options) (protocol.DataType, error) {
	return protocol.DataType{}, protocol.NewError("UNSUPPORTED_FEATURE", "INSERT is not bound yet")
}

// Load binds rows that come from files. IncomingRows is its Incoming.
func Load(ctx context.Context, rows Rows, t Table, opts Options) (plan *Plan, err error) {
	return nil, protocol.NewError("UNSUPPORTED_FEATURE", "INSERT is not bound yet")
}

// IncomingRows is Incoming for Load.
func IncomingRows(ctx context.Context, rows Rows, t Table, opts Options) (protocol.DataType, error) {
	return protocol.DataType{}, protocol.NewError("UNSUPPORTED_FEATURE", "INSERT is not bound yet")
}
