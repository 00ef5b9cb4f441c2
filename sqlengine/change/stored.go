package change

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Stored is a checked expression of a table's definition.
type Stored struct {
	Expr expr.Expr
	// Text is what is stored: for a CHECK the tokens joined by one blank, as the reference writes it, for others the text as given.
	Text string
	// References are the paths of the columns that the expression names, each once, in the order of their first naming.
	References [][]protocol.LogicalName
}

// CheckExpression checks the condition of a CHECK constraint over a schema: a deterministic boolean of one row.
func CheckExpression(ctx context.Context, name string, text parse.Text, schema protocol.DataType, opts Options) (*Stored, error) {
	return nil, protocol.NewError("UNSUPPORTED_FEATURE", "CHECK is not bound yet")
}

// GeneratedExpression checks GENERATED ALWAYS AS of a column of schema: a deterministic expression over columns that are not generated,
// of exactly the column's type.
func GeneratedExpression(ctx context.Context, column protocol.Field, text parse.Text, schema protocol.DataType, opts Options) (*Stored, error) {
	return nil, protocol.NewError("UNSUPPORTED_FEATURE", "GENERATED is not bound yet")
}

// DefaultExpression checks a column's DEFAULT: without columns or subqueries, of a type that can be stored in the column. Verb is the
// statement for the message, such as "CREATE TABLE".
func DefaultExpression(ctx context.Context, verb string, column protocol.Field, text parse.Text, opts Options) (*Stored, error) {
	return nil, protocol.NewError("UNSUPPORTED_FEATURE", "DEFAULT is not bound yet")
}
