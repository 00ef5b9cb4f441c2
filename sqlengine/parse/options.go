package parse

// Dialect decides what a text means where Spark and MySQL differ. Its values equal those of package expr.
type Dialect uint8

// The dialects.
const (
	Spark Dialect = iota
	MySQL
)

// Options are the session's settings that change how a text is read.
type Options struct {
	Dialect            Dialect
	AnsiQuotes         bool // "x" is an identifier
	NoBackslashEscapes bool // a backslash in a string is a plain character
	PipesAsConcat      bool // MySQL: || concatenates, and binds tighter than ^
	HighNotPrecedence  bool // MySQL: NOT binds as tightly as !
	// Start is where the text begins in a longer script, so that lines and columns are the script's; offsets are always
	// those of the text itself. The zero value means a text of its own.
	Start Pos
}

// The limits on what a text may ask of the parser. Each has the class DELTASQL_LIMIT_EXCEEDED.
const (
	maxText      = 64 << 20 // bytes of a statement, as in MySQL's max_allowed_packet
	maxDepth     = 1000     // nesting of expressions, subqueries and joins
	maxChain     = 10000    // operands of a chain such as a + b + c, which makes a tree as deep as it is long
	maxTypeDepth = 100      // nesting of a type
	maxName      = 16       // parts of a dotted name
)

// executableVersion is the highest server version whose /*!NNNNN ... */ comments are read as text.
const executableVersion = 90999
