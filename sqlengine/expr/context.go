package expr

import (
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Dialect decides what a text means where MySQL and Spark differ.
type Dialect uint8

// The dialects.
const (
	Spark Dialect = iota
	MySQL
)

// Context is what lowering needs to know of the session. It is fixed for a statement.
type Context struct {
	Dialect       Dialect
	TimeZone      string    // IANA name or offset (+02:00); DuckDB itself always runs in UTC
	Now           time.Time // the statement's start
	Database      string
	User          string
	Version       string
	PipesAsConcat bool // MySQL dialect: || concatenates
	MySQLCompare  bool // case- and accent-insensitive comparison
	// Notes gives the collector (duck.Notes) in which the MySQL dialect notes the values that it bends; nil: it bends them silently. Strict
	// makes errors of them, as in statements that write in strict mode. ZeroDivisionTold is about divisions by zero, which are else
	// NULL and no more.
	Notes            func() int64
	Strict           bool
	ZeroDivisionTold bool
	// GroupConcatLimit is how many bytes GROUP_CONCAT gives at most, 0 for no limit; SignedSubtraction that the difference of unsigned
	// numbers may be negative. Both are the MySQL dialect\'s.
	GroupConcatLimit  int64
	SignedSubtraction bool
	ConnectionID      int64
	LastInsertID      int64                                                               // the first identity value that the session's last INSERT to make any has made
	WideDecimals      bool                                                                // compute every decimal in 128 bits: set when a statement is run again after a decimal overflow
	RowVariables      map[string]bool                                                     // names of @x, in lower case, that stand for columns called @x
	Variable          func(scope, name string) (protocol.Value, protocol.DataType, error) // @x and @@x
	Assign            func(name string, value protocol.Value)                             // @x := constant
	Param             func(index int, name string) (protocol.Value, protocol.DataType, error)
	Warn              func(code int, message string)
}

// Env is what an expression may see around it; package bind implements it for each clause.
type Env interface {
	Context() *Context
	// Resolve binds a dotted name to an expression: a column, a struct member of one, a select alias, a lambda parameter.
	Resolve(name parse.Name) (Expr, error)
	// Query binds a subquery that may refer to this environment's columns.
	Query(q *parse.Query) (*Query, error)
	// Aggregate accepts an aggregate call (its arguments already bound in the environment that ArgEnv gives), or fails where
	// none may stand.
	Aggregate(a *Aggregate, at parse.Pos) (Expr, error)
	// AggregateArgs is the environment of an aggregate's arguments.
	AggregateArgs() Env
	// Grouped tells whether the block that the expression belongs to has GROUP BY.
	Grouped() bool
	// Window accepts a window call; Spec resolves its window.
	Window(w *Window, at parse.Pos) (Expr, error)
	// WindowSpec binds what stands in OVER, named windows included.
	WindowSpec(spec *parse.WindowSpec) (WindowSpec, error)
	// Lambda is an environment in which params are visible as well.
	Lambda(params *Relation) Env
	// NewRelation makes a relation with a fresh ID.
	NewRelation(kind RelKind, name string) *Relation
	// Stars expands *, t.* and s.* among a function's arguments.
	Stars(s *parse.Star) ([]Expr, error)
}
