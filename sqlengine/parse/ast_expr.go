package parse

import "deltasql/protocol"

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
	Length int      // CHAR(n), VARCHAR(n), BINARY(n); -1 where not given
	Fixed  bool     // CHAR rather than VARCHAR
	MySQL  string   // "", "SIGNED", "UNSIGNED", "CHAR", "BINARY", "DATETIME", "TIME", "YEAR", "JSON", "DECIMAL", ...
	Digits int      // fractional digits of DATETIME(n), TIME(n); -1 where not given
	Text   string   // as written
	Values []string // of ENUM, which only a column's definition may have
	// MySQLCollation is a collation of MySQL's, such as utf8mb4_general_ci. No table keeps it.
	MySQLCollation string
	// CharVarchar is the type as Spark stores it in __CHAR_VARCHAR_TYPE_STRING, such as array<varchar(3)>, where it holds CHAR(n)
	// or VARCHAR(n) at any depth; "" where it does not.
	CharVarchar string
}
