package bind

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Catalog finds what FROM names. It pins what it finds: two mentions of a table in a statement give the same snapshot.
type Catalog interface {
	// Table finds a table, a view, or a path. A missing one is an error of a class that Missing knows.
	Table(ctx context.Context, ref *parse.TableRef, asOf *AsOf) (Resolved, error)
	// TableFunction finds the table functions that need the catalog, such as table_changes. It decides by the function's name,
	// and only then asks for the arguments, which must be constants. False leaves the function to package expr.
	TableFunction(ctx context.Context, fn *parse.TableFunction, args Arguments) (Resolved, bool, error)
}

// Arguments folds the arguments of a table function; an argument that is not constant is an error.
type Arguments func() ([]Constant, error)

// Constant is a folded argument; Name is set for name => value.
type Constant struct {
	Name  string
	Value protocol.Value
	Type  protocol.DataType
	Pos   parse.Pos
}

// AsOf is the moment a table is read at: exactly one of Version and Timestamp is set.
type AsOf struct {
	Version   *int64
	Timestamp *int64 // microseconds since 1970-01-01T00:00:00Z
	Pos       parse.Pos
}

// Resolved is what a name stands for: exactly one of Source, View and SQL is set.
type Resolved struct {
	// Source is a table's snapshot. Hidden columns named "_metadata.x" together make the struct _metadata.
	Source expr.Source
	View   *View
	SQL    *SQLTable
	// Name is the full name, database first, so that database.table.column finds its table. Empty: as written in the text.
	Name []string
}

// View is a stored query, read in its own database, dialect and meaning of ||.
type View struct {
	Name     string // for messages and against cycles; unique in the catalog
	Query    *parse.Query
	Database string   // empty for a temporary view, whose names are the session's
	Columns  []string // names of its columns; nil: the query's own
	Dialect  expr.Dialect
	// PipesAsConcat is whether || concatenates where the dialect is MySQL's.
	PipesAsConcat bool
}

type storedView struct{}

// InStoredView tells a Catalog that a name is one of a stored view's query, which what belongs to a session cannot hide.
func InStoredView(ctx context.Context) bool { return ctx.Value(storedView{}) != nil }

// SQLTable is a DuckDB table expression, such as a read_parquet call. Columns[i].Out are its columns in order; {0}, {1} in SQL
// stand for Args.
type SQLTable struct {
	SQL     string
	Args    []expr.Expr
	Columns []expr.OutputColumn
}

// Missing tells whether an error says that a table does not exist.
func Missing(err error) bool {
	if err == nil {
		return false
	}
	switch protocol.ClassOf(err) {
	case "TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_MISSING_DELTA_TABLE", "DELTA_PATH_DOES_NOT_EXIST",
		"SCHEMA_NOT_FOUND":
		return true
	}
	return false
}
