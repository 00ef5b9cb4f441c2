package parse

// ---- queries ----

// Query is a query expression with its WITH, ORDER BY and LIMIT.
type Query struct {
	Pos       Pos
	Recursive bool
	With      []CTE
	Body      Body
	OrderBy   []OrderItem
	OrderAll  bool // ORDER BY ALL
	SortBy    bool // SORT BY rather than ORDER BY (Spark)
	Limit     Expr // nil, or LIMIT ALL
	Offset    Expr
}

// CTE is one common table expression.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
}

// Body is a Select, SetOperation, Values, TableBody or NestedQuery.
type Body interface{ body() }

// Select is one SELECT block.
type Select struct {
	Pos          Pos
	Distinct     bool
	DistinctOn   []Expr
	Items        []SelectItem
	From         From // nil without FROM; a comma list is a tree of cross joins
	Where        Expr
	GroupBy      *GroupBy
	Having       Expr
	Qualify      Expr
	Windows      []NamedWindow
	LateralViews []LateralView
}

// SelectItem is an expression with its alias; Expr may be a *Star. Columns holds the aliases of `f(x) AS (a, b)`.
type SelectItem struct {
	Expr    Expr
	Alias   *Ident
	Columns []Ident
	Text    string // the item as written, which MySQL uses as the column's name
}

// GroupBy holds every form: plain expressions, ALL, WITH ROLLUP / WITH CUBE, and grouping sets.
type GroupBy struct {
	All        bool
	Elements   []GroupElement
	WithRollup bool
	WithCube   bool
}

// GroupElement is an expression, or one of ROLLUP, CUBE and GROUPING SETS with its sets.
type GroupElement struct {
	Kind GroupKind
	Expr Expr     // GroupExpr
	Sets [][]Expr // GroupRollup, GroupCube: each a composite column; GroupSets: each a set
}

// GroupKind tells the forms of GroupElement apart.
type GroupKind uint8

// The kinds of GROUP BY elements.
const (
	GroupExpr GroupKind = iota
	GroupRollup
	GroupCube
	GroupSets
)

// SetOp is UNION, INTERSECT or EXCEPT (MINUS).
type SetOp uint8

// The set operations.
const (
	Union SetOp = iota
	Intersect
	Except
)

// SetOperation joins two bodies.
type SetOperation struct {
	Pos         Pos
	Op          SetOp
	All         bool
	ByName      bool
	Left, Right Body
}

// Values is VALUES (..), (..) (also VALUES ROW(..) and VALUES 1, 2).
type Values struct {
	Pos  Pos
	Rows [][]Expr
}

// TableBody is TABLE t.
type TableBody struct{ Table *TableRef }

// NestedQuery is a parenthesised query as an operand, with its own ORDER BY and LIMIT.
type NestedQuery struct{ Query *Query }

func (*Select) body()       {}
func (*SetOperation) body() {}
func (*Values) body()       {}
func (*TableBody) body()    {}
func (*NestedQuery) body()  {}

// OrderItem is an ORDER BY element. NullsFirst is nil where the text does not say.
type OrderItem struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool
}

// NamedWindow is WINDOW name AS (spec).
type NamedWindow struct {
	Name Ident
	Spec WindowSpec
}

// WindowSpec is what stands in OVER: a reference to a named window, a spec, or both.
type WindowSpec struct {
	Pos         Pos
	Base        *Ident
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// FrameUnit is ROWS, RANGE or GROUPS.
type FrameUnit uint8

// The units of a frame.
const (
	FrameRows FrameUnit = iota
	FrameRange
	FrameGroups
)

// Frame is a window frame.
type Frame struct {
	Unit       FrameUnit
	Start, End FrameBound // End of `ROWS n PRECEDING` is CURRENT ROW
	Exclude    string     // "", "CURRENT ROW", "GROUP", "TIES", "NO OTHERS"
}

// BoundKind tells the frame bounds apart.
type BoundKind uint8

// The kinds of frame bounds.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is one end of a frame.
type FrameBound struct {
	Kind   BoundKind
	Offset Expr // Preceding, Following
}

// ---- FROM ----

// From is a TableRef, Join, DerivedTable, TableFunction, Pivot or Unpivot.
type From interface{ from() }

// Alias is a relation's alias with optional column names.
type Alias struct {
	Name    Ident
	Columns []Ident
}

// TableRef names a table, view, CTE or path (delta.`path`, parquet.`path`: Name has two parts, the second quoted).
type TableRef struct {
	Pos    Pos
	Name   Name
	AsOf   *AsOf
	Alias  *Alias
	Sample *Sample
}

// AsOf is a time travel clause, or the name's own suffix @v12 / @20260131235959000 (which the parser leaves in the name).
type AsOf struct {
	Pos       Pos
	Version   Expr // exactly one of Version, Timestamp, Either is set
	Timestamp Expr
	Either    Expr // `t AS OF x`: an integer is a version, anything else a time
}

// Sample is TABLESAMPLE (n PERCENT | n ROWS) [REPEATABLE (seed)].
type Sample struct {
	Percent, Rows Expr
	Seed          Expr
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins.
const (
	JoinInner JoinKind = iota
	JoinCross
	JoinLeft
	JoinRight
	JoinFull
	JoinLeftSemi
	JoinLeftAnti
)

// Join joins two FROM items. Comma is a comma of the FROM list (binds weaker than JOIN in MySQL and Spark).
type Join struct {
	Pos         Pos
	Kind        JoinKind
	Natural     bool
	Comma       bool
	Left, Right From
	On          Expr
	Using       []Ident
}

// DerivedTable is a subquery in FROM, LATERAL or not.
type DerivedTable struct {
	Pos     Pos
	Lateral bool
	Query   *Query
	Alias   *Alias
	Sample  *Sample
}

// TableFunction is f(args) in FROM: range, explode, table_changes, json_table and so on.
// Options holds `WITH ORDINALITY` and the like.
type TableFunction struct {
	Pos     Pos
	Lateral bool
	Name    Name
	Args    []Arg
	Alias   *Alias
}

// JSONTable is JSON_TABLE(expr, path COLUMNS (...)).
type JSONTable struct {
	Pos     Pos
	Doc     Expr
	Path    Expr
	Columns []JSONColumn
	Alias   *Alias
}

// JSONColumn is one column of a JSON_TABLE: FOR ORDINALITY, a typed path, EXISTS PATH, or NESTED PATH with columns.
type JSONColumn struct {
	Name       Ident
	Ordinality bool
	Exists     bool
	Type       TypeName
	Path       Expr
	OnEmpty    Expr // DEFAULT value; nil means NULL
	OnError    Expr
	Nested     []JSONColumn
}

// LateralView is LATERAL VIEW [OUTER] f(args) tableAlias [AS col, col].
type LateralView struct {
	Pos     Pos
	Outer   bool
	Name    Name
	Args    []Arg
	Table   *Ident
	Columns []Ident
}

// Pivot is PIVOT (aggregates FOR columns IN (values)).
type Pivot struct {
	Pos        Pos
	Input      From
	Aggregates []SelectItem
	Columns    []Expr
	Values     []PivotValue
	Alias      *Alias
}

// PivotValue is one value (or row of values) of a pivot, with its alias.
type PivotValue struct {
	Expr  Expr
	Alias *Ident
}

// Unpivot is UNPIVOT [INCLUDE NULLS] (value FOR name IN (columns)).
type Unpivot struct {
	Pos          Pos
	IncludeNulls bool
	Input        From
	Values       []Ident
	Name         Ident
	Columns      []UnpivotColumn
	Alias        *Alias
}

// UnpivotColumn is a column, or a tuple of columns, with its alias.
type UnpivotColumn struct {
	Columns []Name
	Alias   *Ident
}

func (*TableRef) from()      {}
func (*Join) from()          {}
func (*DerivedTable) from()  {}
func (*TableFunction) from() {}
func (*JSONTable) from()     {}
func (*Pivot) from()         {}
func (*Unpivot) from()       {}
