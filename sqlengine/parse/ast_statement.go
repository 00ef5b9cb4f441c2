package parse

type (
	// QueryStatement runs a query. Into names the variables of SELECT ... INTO @a, @b, without their @.
	QueryStatement struct {
		Query *Query
		Into  []string
	}

	// Do is MySQL's DO: a query of expressions whose values nobody sees.
	Do struct{ Query *Query }

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
func (*Do) statement()             {}
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
