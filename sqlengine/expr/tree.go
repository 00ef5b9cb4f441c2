package expr

import "deltasql/protocol"

// Expr is a typed expression. Type is the Delta type of its value; Nullable may be true where it is not known.
type Expr interface {
	Type() protocol.DataType
	Nullable() bool
}

// Typed is embedded by the nodes: the type and nullability of an expression's value.
type Typed struct {
	Of   protocol.DataType
	Null bool
}

// Type is the Delta type of the value.
func (t Typed) Type() protocol.DataType { return t.Of }

// Nullable tells whether the value may be NULL.
func (t Typed) Nullable() bool { return t.Null }

type (
	// Literal is a scalar constant (Value.Null for a typed NULL).
	Literal struct {
		Typed
		Value  protocol.Value
		folded bool // the value of a cast: it counts with its type's digits in decimal arithmetic, not with its own
		digits int  // of a time: digits of the fraction that are shown even where they are zeros
	}

	// Column is column Index of a relation in scope (an outer one for a correlated subquery).
	Column struct {
		Typed
		Relation *Relation
		Index    int
	}

	// Field takes a member of a struct. Over a chain of Fields that ends in a Column of a Scan, the printer writes the
	// physical member, so that row groups are still pruned (column mapping).
	Field struct {
		Typed
		Operand Expr
		Name    protocol.LogicalName
	}

	// Cast converts between Delta types by DuckDB's cast. It never converts by a session's rules: lowering has already
	// dealt with time zones, rounding and formats.
	Cast struct {
		Typed
		Operand Expr
		Try     bool
	}

	// Compare is = <> < <= > >= , or "IS DISTINCT FROM" / "IS NOT DISTINCT FROM"; both sides have one type.
	Compare struct {
		Typed
		Op          string
		Left, Right Expr
	}

	// Logic is AND or OR of two or more booleans.
	Logic struct {
		Typed
		Or       bool
		Operands []Expr
	}

	// Not negates a boolean.
	Not struct {
		Typed
		Operand Expr
	}

	// IsNull is IS NULL; Not IsNull is IS NOT NULL.
	IsNull struct {
		Typed
		Operand Expr
	}

	// In is membership in a list of one type; NOT IN is a Not above it.
	In struct {
		Typed
		Operand Expr
		List    []Expr
	}

	// Like is LIKE with escape Escape (0: none). Pattern is usually a Literal.
	Like struct {
		Typed
		Operand, Pattern Expr
		Escape           rune
		CaseFold         bool // ILIKE
	}

	// Case is the searched CASE; results have one type.
	Case struct {
		Typed
		Whens []When
		Else  Expr // nil: NULL
	}

	// When is a branch of a Case.
	When struct{ Condition, Result Expr }

	// Raw is a fragment of DuckDB SQL with operands: {0}, {1}, ... stand for Args printed (as primaries, parenthesised where
	// needed). It is the form of every scalar operator and function that skipping does not look into.
	// Args may hold a Lambda. Volatile marks random(), uuid() and kin.
	Raw struct {
		Typed
		SQL      string
		Args     []Expr
		Volatile bool
		json     bool   // text that is a JSON document, so that a JSON function takes it as one
		fraction *int   // of a time: digits of the fraction that are always shown; nil: those that its operands show
		bare     string // of a part of a variant: SQL where a JSON null may as well be SQL's NULL
		exact    Expr   // of a decimal that a division made: the same value with the digits that it does not show, nil for none
		Shown    Expr   // of such a value: the one that shows fewer digits, nil for all others
	}

	// Lambda is a function argument; its Params are columns of its own Relation (Kind RelLambda), printed by name.
	Lambda struct {
		Typed
		Params *Relation
		Body   Expr
	}

	// Aggregate is an aggregate call: SQL as in Raw over Args ("sum({0})"); DISTINCT, ORDER BY and FILTER are added by the
	// printer at the call's closing parenthesis, so SQL must be one plain call. Wrap it in Raw for what comes after.
	Aggregate struct {
		Typed
		Name     string // DuckDB's function
		Args     []Expr
		Distinct bool
		OrderBy  []Order
		Filter   Expr
	}

	// Window is a window call: a window function or an aggregate over a window.
	Window struct {
		Typed
		Name        string
		Args        []Expr
		Distinct    bool
		ArgOrder    []Order // ORDER BY among the arguments
		Filter      Expr
		IgnoreNulls bool
		Spec        WindowSpec
	}

	// WindowSpec is a resolved window.
	WindowSpec struct {
		PartitionBy []Expr
		OrderBy     []Order
		Frame       string // DuckDB's frame clause without its expressions, {0} and {1} stand for Bounds; "" for the default
		Bounds      []Expr
	}

	// Order is an ORDER BY element; nulls placement is always explicit.
	Order struct {
		Expr       Expr
		Desc       bool
		NullsFirst bool
	}

	// Subquery is a scalar subquery (one column).
	Subquery struct {
		Typed
		Query *Query
	}

	// Exists is EXISTS (query).
	Exists struct {
		Typed
		Query *Query
	}

	// InQuery is operands IN (query); several operands make a row comparison. NOT IN is a Not above it.
	InQuery struct {
		Typed
		Operands []Expr
		Query    *Query
	}

	// Quantified is operand op ANY/ALL (query).
	Quantified struct {
		Typed
		Op      string
		All     bool
		Operand Expr
		Query   *Query
	}

	// Grouping is GROUPING(e, ..) or grouping_id: bits of the grouping columns, as DuckDB's GROUPING.
	Grouping struct {
		Typed
		Args []Expr
	}
)

// ---- relations ----

// RelKind tells where a relation's rows come from.
type RelKind uint8

// The kinds of relations.
const (
	RelScan   RelKind = iota // a snapshot of a table: Scan is set
	RelQuery                 // a derived table or an inlined view: Query is set
	RelCTE                   // a reference to a CTE: CTE is set
	RelSQL                   // a DuckDB table expression: SQL over Args (range, unnest, read_csv, ...)
	RelLambda                // parameters of a lambda
)

// Relation is a row source in FROM. ID is unique in a statement; the printer's alias is "r<ID>".
// Column i is printed as r<ID>."<Columns[i].Out>".
type Relation struct {
	ID      int
	Kind    RelKind
	Name    string // what the user called it, for messages
	Columns []OutputColumn
	Scan    *Scan
	Query   *Query
	CTE     *CTE
	SQL     string // RelSQL: a DuckDB table expression with {0}.. for Args; its columns are Columns[i].Out in order
	Args    []Expr
	Lateral bool   // refers to relations to its left
	Sample  string // DuckDB's TABLESAMPLE clause, "" for none
}

// OutputColumn describes a relation's column: the name users see, the name printed, and its type.
type OutputColumn struct {
	Name     string
	Out      string
	Type     protocol.DataType
	Nullable bool
	Hidden   bool // not part of * (_metadata and kin)
	// CharLength is n of a column declared CHAR(n), 0 for others; such a column is a STRING whose values come padded.
	CharLength int
}

// Scan is a use of a table's snapshot. Source is opaque here; the engine plans it.
// Used marks the columns that the statement reads; Filters are conjuncts over this scan's columns alone that every row of
// the statement's result must satisfy, found by package bind: the scan may skip files by them, the query still applies them.
type Scan struct {
	Source  Source
	Used    []bool
	Filters []Expr
}

// Source is what a catalog gives for a table: its columns. The engine knows the concrete type.
type Source interface {
	// Columns are the table's columns in order, hidden ones last.
	Columns() []OutputColumn
}

// ---- queries ----

// CTE is a bound common table expression.
type CTE struct {
	ID           int
	Name         string
	Query        *Query
	Recursive    bool
	Materialized bool // a volatile query, which must run once however often it is named
	References   int  // how often the statement names it; a recursive one counts its own naming too
	Columns      []OutputColumn
}

// Query is a bound query. Columns names its output; output column i is printed as "c<i>".
type Query struct {
	With    []*CTE
	Body    Body
	OrderBy []Order // over the columns of Output
	Limit   Expr    // bigint constants or parameters; nil: none
	Offset  Expr
	Output  *Relation // its Columns are the query's columns; ORDER BY of a set operation refers to it
	Columns []OutputColumn
}

// Body is a *Select, *SetOperation, *Values or *Query (a nested query).
type Body interface{ body() }

// Select is a bound SELECT block. ORDER BY and LIMIT of a query over one Select are in Query; OrderBy expressions there may be
// any expressions over this Select's scope, printed in the same block.
type Select struct {
	Distinct   bool
	DistinctOn []Expr
	Items      []Expr // hidden sort columns may follow the visible ones
	Visible    int    // how many of Items are output
	From       From   // nil: one row without columns
	Where      Expr
	GroupBy    []GroupSet // one plain set: len 1; none: nil. GroupBy with an empty set is a global aggregate
	Grouped    bool       // GROUP BY was given
	Having     Expr
	Qualify    Expr
}

// GroupSet is one grouping set.
type GroupSet []Expr

// From is a *Relation or a *Join.
type From interface{ from() }

// Join is a bound join; Kind is DuckDB's keyword ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI", "CROSS").
type Join struct {
	Kind        string
	Left, Right From
	On          Expr // nil for CROSS
}

// SetOperation is UNION, INTERSECT or EXCEPT over bodies of equal width and types.
type SetOperation struct {
	Op          string // "UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"
	Left, Right Body
}

// Values is a constant table.
type Values struct{ Rows [][]Expr }

func (*Select) body()       {}
func (*SetOperation) body() {}
func (*Values) body()       {}
func (*Query) body()        {}
func (*Relation) from()     {}
func (*Join) from()         {}
