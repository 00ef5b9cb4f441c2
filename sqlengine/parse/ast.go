package parse

import "deltasql/protocol"

// Pos is a place in the statement's text: byte offset, and 1-based line and column (in characters).
type Pos struct{ Offset, Line, Column int }

// Ident is one part of a name, as written; Quoted tells `a` from a.
type Ident struct {
	Name   string
	Quoted bool
	Pos    Pos
}

// Name is a dotted name, outermost part first.
type Name []Ident

// Statement is anything that ends with a semicolon.
type Statement interface{ statement() }

// Expr is a scalar, aggregate or window expression as written; nothing is resolved or typed yet.
type Expr interface {
	expr()
	// At is where the expression begins; End is the byte offset behind its last character.
	At() Pos
	End() int
}

// span is embedded by every expression.
type span struct {
	Start Pos
	Stop  int
}

func (s span) At() Pos  { return s.Start }
func (s span) End() int { return s.Stop }
func (span) expr()      {}

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

// ---- expressions ----

// LiteralKind tells literals apart.
type LiteralKind uint8

// The kinds of literals. Text holds the digits or the decoded string.
const (
	NullLiteral LiteralKind = iota
	TrueLiteral
	FalseLiteral
	IntegerLiteral // Suffix "", "L", "S", "Y"
	DecimalLiteral // 1.5, 1.5BD
	DoubleLiteral  // 1e3, 1.5D; Suffix "F" for float
	StringLiteral
	BinaryLiteral // X'..', 0x..: Text holds the bytes
	BitLiteral    // b'101': Text holds the bytes
	DateLiteral   // DATE '..'
	TimeLiteral   // TIME '..'
	TimestampLiteral
	TimestampNTZLiteral
	TimestampLTZLiteral
)

type (
	// Literal is a constant.
	Literal struct {
		span
		Kind   LiteralKind
		Text   string
		Suffix string
	}

	// Interval is INTERVAL expr unit, INTERVAL '1-2' YEAR TO MONTH, INTERVAL 1 DAY 2 HOURS (several Parts).
	Interval struct {
		span
		Parts []IntervalPart
	}

	// IntervalPart is a value with its unit, upper case and singular ("DAY", "YEAR_MONTH"); To is the end of a range
	// ("YEAR" with To "MONTH"). Unit is empty for INTERVAL '1 day 2 hours'.
	IntervalPart struct {
		Value Expr
		Unit  string
		To    string
	}

	// Column is a name in an expression: column, table.column, struct.field and so on; the binder decides.
	Column struct {
		span
		Name Name
	}

	// Star is *, t.* or s.*, with EXCEPT and REPLACE lists.
	Star struct {
		span
		Qualifier Name
		Except    []Name
		Replace   []SelectItem
	}

	// Unary is an operator before its operand: "-", "+", "~", "NOT", "!".
	Unary struct {
		span
		Op      string
		Operand Expr
	}

	// Binary is an infix operator, upper case: + - * / % DIV MOD = <> < <= > >= <=> AND OR XOR || && & | ^ << >> >>>.
	// The parser writes <> for !=, = for ==; || and && stay as written, since their meaning is the dialect's.
	Binary struct {
		span
		Op          string
		OpPos       Pos
		Left, Right Expr
	}

	// Between is e [NOT] BETWEEN low AND high.
	Between struct {
		span
		Not                bool
		Operand, Low, High Expr
	}

	// In is e [NOT] IN (list) or (query); exactly one of List and Query is set.
	In struct {
		span
		Not     bool
		Operand Expr
		List    []Expr
		Query   *Query
	}

	// Like is LIKE, ILIKE or RLIKE (REGEXP, SIMILAR TO), with ANY/ALL lists of Spark and ESCAPE.
	Like struct {
		span
		Op         string // "LIKE", "ILIKE", "RLIKE"
		Not        bool
		Quantifier string // "", "ANY", "ALL"
		Operand    Expr
		Patterns   []Expr // one unless there is a quantifier
		Escape     Expr
	}

	// Is is e IS [NOT] NULL / TRUE / FALSE / UNKNOWN.
	Is struct {
		span
		Not     bool
		What    string // "NULL", "TRUE", "FALSE", "UNKNOWN"
		Operand Expr
	}

	// IsDistinct is a IS [NOT] DISTINCT FROM b.
	IsDistinct struct {
		span
		Not         bool
		Left, Right Expr
	}

	// Case is both forms of CASE; Operand is nil in the searched form.
	Case struct {
		span
		Operand Expr
		Whens   []When
		Else    Expr
	}

	// When is one branch of a CASE.
	When struct{ Condition, Result Expr }

	// Cast is CAST, TRY_CAST, e::type, CONVERT(e, type).
	Cast struct {
		span
		Try     bool
		Operand Expr
		Type    TypeName
	}

	// Call is a function call: scalar, aggregate (Distinct, OrderBy, Filter) or window (Over). Special syntax is turned
	// into plain arguments: EXTRACT(u FROM e) is extract('U', e); TRIM(BOTH a FROM b) is trim('BOTH', a, b) with Name "trim";
	// SUBSTRING(a FROM b FOR c) is substring(a, b, c); POSITION(a IN b) is position(a, b); count(*) has one *Star argument;
	// TIMESTAMPDIFF(unit, a, b), DATE_ADD(a, INTERVAL ..) keep the unit as a string literal and the interval as *Interval;
	// niladic CURRENT_DATE and kin have no arguments; CHAR(n USING cs), CONVERT(e USING cs) carry the charset as a string in
	// an argument named USING. TRIM(LEADING FROM b) is trim('LEADING', ' ', b); j -> '$.p' is json_extract(j, '$.p'), ->> that
	// within json_unquote; a MEMBER OF (b) is member_of(a, b); MySQL's INTERVAL(n, a, ..) is interval(n, a, ..).
	Call struct {
		span
		Name        Name
		Args        []Arg
		Distinct    bool
		OrderBy     []OrderItem // inside the parentheses (GROUP_CONCAT, array_agg)
		WithinGroup []OrderItem
		Separator   Expr // GROUP_CONCAT
		Filter      Expr
		IgnoreNulls *bool // IGNORE NULLS true, RESPECT NULLS false
		Over        *WindowSpec
	}

	// Arg is an argument, named (name => e) or not.
	Arg struct {
		Name *Ident
		Expr Expr
	}

	// Lambda is x -> e or (x, y) -> e.
	Lambda struct {
		span
		Params []Ident
		Body   Expr
	}

	// Subquery is a scalar subquery.
	Subquery struct {
		span
		Query *Query
	}

	// Exists is [NOT] EXISTS (query); NOT is a Unary above it.
	Exists struct {
		span
		Query *Query
	}

	// Quantified is e op ANY|SOME|ALL (query).
	Quantified struct {
		span
		Op      string
		All     bool
		Operand Expr
		Query   *Query
	}

	// Field is e.name where e is no plain name (a name chain is a Column).
	Field struct {
		span
		Operand Expr
		Name    Ident
	}

	// Index is e[i].
	Index struct {
		span
		Operand, Index Expr
	}

	// VariantPath is e:a.b[0]['k'].
	VariantPath struct {
		span
		Operand Expr
		Steps   []PathStep
	}

	// PathStep is a field (Name) or an index (Index, not nil).
	PathStep struct {
		Name   string
		Quoted bool
		Index  Expr
	}

	// Tuple is (a, b) as a row value.
	Tuple struct {
		span
		Items []Expr
	}

	// Param is ? (Index counts from 1) or :name.
	Param struct {
		span
		Index int
		Name  string
	}

	// Variable is @name (Scope "user"), @@name, @@session.name, @@global.name.
	Variable struct {
		span
		Scope string // "user", "", "session", "global"
		Name  string
	}

	// Assign is @x := e inside an expression.
	Assign struct {
		span
		Variable string
		Value    Expr
	}

	// Collate is e COLLATE name.
	Collate struct {
		span
		Operand   Expr
		Collation Name
	}
)

// TypeName is a type as written. Type has the Delta meaning where there is one; CHAR(n) and VARCHAR(n) are strings with
// Length; MySQL's UNSIGNED, SIGNED, TIME, YEAR, JSON and CHAR CHARACTER SET are told by MySQL (upper case).
type TypeName struct {
	Pos    Pos
	Type   protocol.DataType
	Length int    // CHAR(n), VARCHAR(n), BINARY(n); -1 where not given
	Fixed  bool   // CHAR rather than VARCHAR
	MySQL  string // "", "SIGNED", "UNSIGNED", "CHAR", "BINARY", "DATETIME", "TIME", "YEAR", "JSON", "DECIMAL", ...
	Digits int    // fractional digits of DATETIME(n), TIME(n); -1 where not given
	Text   string // as written
}

// ---- statements ----

type (
	// QueryStatement runs a query. Into names the variables of SELECT ... INTO @a, @b, without their @.
	QueryStatement struct {
		Query *Query
		Into  []string
	}

	// Explain is EXPLAIN [ANALYZE] [EXTENDED|FORMATTED|COST|CODEGEN] [FORMAT=x] statement.
	Explain struct {
		Analyze   bool
		Format    string // "", "EXTENDED", "FORMATTED", "COST", "TREE", "JSON", "TRADITIONAL"
		Statement Statement
	}

	// Use changes the current database (USE [DATABASE|SCHEMA] x), or the catalog (USE CATALOG x, SET CATALOG x).
	Use struct {
		Name    Name
		Catalog bool
	}

	// Describe covers DESCRIBE/DESC of tables, columns, databases, queries and functions, and DETAIL and HISTORY.
	Describe struct {
		Pos      Pos
		What     string // "TABLE", "DETAIL", "HISTORY", "DATABASE", "QUERY", "FUNCTION"
		Extended bool
		JSON     bool
		Name     Name   // the table, database or function
		Path     string // DETAIL '/path'
		AsOf     *AsOf
		Column   Name // DESCRIBE t col
		Query    *Query
		Limit    Expr // HISTORY LIMIT n
	}

	// Show covers the SHOW statements of this product; What is the words between SHOW and the first name, upper case and
	// singular spaces: "TABLES", "DATABASES", "COLUMNS", "PARTITIONS", "TBLPROPERTIES", "CREATE TABLE", "VIEWS", "CATALOGS",
	// "FUNCTIONS", "FEATURES", "FILES", "CONSTRAINTS", "VARIABLES", "WARNINGS", ...
	Show struct {
		Pos      Pos
		What     string
		Full     bool
		Extended bool
		Scope    string // "", "GLOBAL", "SESSION"
		Table    Name
		In       Name // IN/FROM database
		Like     *string
		Where    Expr
		Key      string           // SHOW TBLPROPERTIES t ('key')
		Spec     []PartitionValue // SHOW PARTITIONS t PARTITION (c = v)
		AsOf     *AsOf
		Limit    Expr // SHOW WARNINGS LIMIT [offset,] n
		Offset   Expr
	}

	// PartitionValue is c = v of a PARTITION clause.
	PartitionValue struct {
		Name  Ident
		Value Expr
	}

	// Set assigns variables: SET a = 1, @b = 2, SESSION c = 3; SET spark.x.y = z; SET TIME ZONE 'UTC' (Name time_zone);
	// SET NAMES and SET CHARACTER SET (Names names, character_set).
	Set struct {
		Pos     Pos
		Assigns []SetAssign
	}

	// SetAssign is one assignment; Value is nil for SET key (show it). A bare word as value is a string literal.
	SetAssign struct {
		Scope string // "", "user", "session", "global", "local"
		Name  string
		Value Expr
	}

	// Reset is RESET [name].
	Reset struct{ Name string }

	// CreateView is CREATE [OR REPLACE] [[GLOBAL] TEMPORARY] VIEW.
	CreateView struct {
		Pos         Pos
		OrReplace   bool
		Temporary   bool
		Global      bool // with Temporary
		IfNotExists bool
		Name        Name
		Columns     []ViewColumn
		Comment     string
		Properties  []Property
		Query       *Query
		Text        string // the query's text as written
	}

	// ViewColumn names a view's column.
	ViewColumn struct {
		Name    Ident
		Comment string
	}

	// Property is a key with its value.
	Property struct{ Key, Value string }

	// DropView is DROP VIEW [IF EXISTS].
	DropView struct {
		Pos      Pos
		IfExists bool
		Name     Name
	}

	// Refresh is REFRESH TABLE t, which forgets cached state.
	Refresh struct{ Name Name }

	// Unsupported is a statement that the grammar knows by its first words and this version does not run.
	Unsupported struct {
		Pos  Pos
		Verb string // "INSERT", "CREATE TABLE", ...
	}
)

func (*QueryStatement) statement() {}
func (*Explain) statement()        {}
func (*Use) statement()            {}
func (*Describe) statement()       {}
func (*Show) statement()           {}
func (*Set) statement()            {}
func (*Reset) statement()          {}
func (*CreateView) statement()     {}
func (*DropView) statement()       {}
func (*Refresh) statement()        {}
func (*Unsupported) statement()    {}
