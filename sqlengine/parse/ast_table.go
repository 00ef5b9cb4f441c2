package parse

// ---- statements that define tables and databases ----

// Text is an expression together with its own text, for what is stored as text: defaults, generation expressions, CHECKs.
type Text struct {
	Expr Expr
	Text string // as written, without surrounding blanks
	Pos  Pos
}

// ColumnDef is a column of CREATE TABLE, ADD COLUMN, REPLACE COLUMNS, MODIFY and CHANGE. Path has one part except where
// ALTER reaches into a struct. Nested NOT NULL and comments are in Type.
type ColumnDef struct {
	Pos        Pos
	Path       Name
	Type       *TypeName // nil where a form needs none
	NotNull    bool
	Null       bool // NULL was written
	Default    *Text
	OnUpdate   *Text // MySQL's ON UPDATE CURRENT_TIMESTAMP
	Generated  *Text // GENERATED ALWAYS AS (e), also MySQL's AS (e) STORED|VIRTUAL
	Identity   *Identity
	Comment    *string
	Collation  Name
	Checks     []Check
	PrimaryKey bool
	Unique     bool
	References *ForeignKey
	First      bool   // position
	After      *Ident // position
	Backfill   bool   // DEFAULT e BACKFILL: rows that are there get the default, too
	Ignored    []Ignored
}

// Identity is GENERATED ALWAYS|BY DEFAULT AS IDENTITY (START WITH n INCREMENT BY n); AUTO_INCREMENT is BY DEFAULT without
// numbers, with AutoIncrement set.
type Identity struct {
	Pos           Pos
	Always        bool
	Start, Step   *int64 // nil where not given
	AutoIncrement bool
}

// Check is [CONSTRAINT name] CHECK (e) [NOT ENFORCED].
type Check struct {
	Pos         Pos
	Name        *Ident
	Condition   Text
	NotEnforced bool
}

// Key is PRIMARY KEY or UNIQUE, INDEX, KEY, FULLTEXT, SPATIAL (Kind, upper case); only a PRIMARY KEY means something here.
type Key struct {
	Pos     Pos
	Kind    string // "PRIMARY KEY", "UNIQUE", "INDEX", "FULLTEXT", "SPATIAL"
	Name    *Ident
	Columns []Ident
}

// ForeignKey is [CONSTRAINT name] FOREIGN KEY (columns) REFERENCES table (columns); Columns is nil for a column's REFERENCES.
type ForeignKey struct {
	Pos     Pos
	Name    *Ident
	Columns []Ident
	Table   Name
	Target  []Ident
}

// Ignored is a clause that is read and has no effect, such as ENGINE = InnoDB; What is its text for the warning.
type Ignored struct {
	Pos  Pos
	What string
}

// PartitionColumn is a column of PARTITIONED BY; Type is set in the Hive form, which also adds the column.
type PartitionColumn struct {
	Name Ident
	Type *TypeName
}

// ClusterBy is CLUSTER BY (paths), NONE or AUTO.
type ClusterBy struct {
	Pos        Pos
	Columns    []Name
	None, Auto bool
}

// CreateMode tells CREATE, CREATE OR REPLACE and REPLACE apart.
type CreateMode uint8

// The modes.
const (
	Create CreateMode = iota
	CreateOrReplace
	Replace
)

type (
	// CreateTable is CREATE TABLE with columns, AS query, LIKE table or CLONE table.
	CreateTable struct {
		Pos         Pos
		Mode        CreateMode
		IfNotExists bool
		External    bool
		Temporary   bool
		Name        Name
		HasColumns  bool // a column list was written, perhaps an empty one
		Columns     []ColumnDef
		Checks      []Check
		Keys        []Key
		ForeignKeys []ForeignKey
		Using       string // format as written; "" where none is
		PartitionBy []PartitionColumn
		ClusterBy   *ClusterBy
		Location    *string
		Properties  []Property
		Options     []Property // OPTIONS (...)
		Comment     *string
		Collation   Name // DEFAULT COLLATION
		Query       *Query
		QueryText   string
		Like        Name
		Clone       *Clone
		Ignored     []Ignored
	}

	// Clone is SHALLOW|DEEP CLONE source [AS OF]; a bare CLONE is deep.
	Clone struct {
		Pos     Pos
		Shallow bool
		Source  Name
		AsOf    *AsOf
	}

	// DropTable is DROP [TEMPORARY] TABLE [IF EXISTS] t, ... [PURGE].
	DropTable struct {
		Pos       Pos
		IfExists  bool
		Temporary bool
		Names     []Name
		Purge     bool
	}

	// CreateDatabase is CREATE DATABASE|SCHEMA|NAMESPACE.
	CreateDatabase struct {
		Pos         Pos
		IfNotExists bool
		Name        Name
		Comment     *string
		Location    *string
		Properties  []Property
		Collation   Name      // DEFAULT COLLATION
		Ignored     []Ignored // CHARACTER SET, COLLATE
	}

	// DropDatabase is DROP DATABASE|SCHEMA [IF EXISTS] d [RESTRICT|CASCADE].
	DropDatabase struct {
		Pos      Pos
		IfExists bool
		Name     Name
		Cascade  bool // MySQL's DROP DATABASE always takes the tables along; the engine decides by the dialect
		Restrict bool
	}

	// AlterTable is ALTER TABLE t action, ...; RENAME TABLE a TO b is one AlterTable a pair inside a Several.
	AlterTable struct {
		Pos     Pos
		Name    Name
		Actions []AlterAction
		Ignored []Ignored
	}

	// Several is one statement that is several: RENAME TABLE a TO b, c TO d.
	Several struct{ Statements []Statement }

	// AlterView is ALTER VIEW v AS query, RENAME TO, SET/UNSET TBLPROPERTIES.
	AlterView struct {
		Pos     Pos
		Name    Name
		Columns []ViewColumn
		Query   *Query
		Text    string
		Action  AlterAction // RenameTable, SetProperties, UnsetProperties; nil with Query
	}

	// CommentOn is COMMENT ON TABLE|VIEW|DATABASE|COLUMN name IS 'text'|NULL.
	CommentOn struct {
		Pos  Pos
		What string // "TABLE", "VIEW", "DATABASE", "COLUMN"
		Name Name
		Text *string // nil: NULL
	}
)

// AlterAction is one change of ALTER TABLE.
type AlterAction interface{ alterAction() }

type (
	// AddColumns is ADD COLUMN(S).
	AddColumns struct {
		Pos         Pos
		IfNotExists bool
		Columns     []ColumnDef
	}

	// DropColumns is DROP COLUMN(S).
	DropColumns struct {
		Pos      Pos
		IfExists bool
		Columns  []Name
	}

	// RenameColumn is RENAME COLUMN path TO name.
	RenameColumn struct {
		Pos    Pos
		Column Name
		To     Ident
	}

	// ChangeColumn is ALTER/CHANGE/MODIFY COLUMN; what is nil or false stays as it is. MySQL's MODIFY, and its CHANGE old new, give
	// the whole definition anew (Whole): what it leaves out is dropped, and the other fields but Column and Rename are not set.
	// Spark's CHANGE a b INT is no Whole: it gives Rename, where b is another name, and Type. ALTER COLUMN a ..., b ... is one
	// ChangeColumn a column.
	ChangeColumn struct {
		Pos         Pos
		Column      Name
		Rename      *Ident
		Whole       bool
		Definition  *ColumnDef // of Whole
		Type        *TypeName
		SetNotNull  bool
		DropNotNull bool
		SetDefault  *Text
		DropDefault bool
		Comment     *string
		Collation   Name
		First       bool
		After       *Ident
		Sync        bool // SYNC IDENTITY
	}

	// ReplaceColumns is REPLACE COLUMNS (...).
	ReplaceColumns struct {
		Pos     Pos
		Columns []ColumnDef
	}

	// AddCheck is ADD [CONSTRAINT n] CHECK (e).
	AddCheck struct{ Check Check }

	// AddKey is ADD [CONSTRAINT n] PRIMARY KEY | UNIQUE | INDEX (...).
	AddKey struct{ Key Key }

	// AddForeignKey is ADD [CONSTRAINT n] FOREIGN KEY.
	AddForeignKey struct{ Key ForeignKey }

	// DropConstraint is DROP CONSTRAINT [IF EXISTS] n, DROP CHECK n, DROP PRIMARY KEY, DROP INDEX|KEY|FOREIGN KEY n. Name is nil for
	// PRIMARY KEY, and for Databricks' DROP FOREIGN KEY (columns), whose Columns are set.
	DropConstraint struct {
		Pos      Pos
		Kind     string // "CONSTRAINT", "CHECK", "PRIMARY KEY", "FOREIGN KEY", "INDEX"
		IfExists bool
		Name     *Ident
		Columns  []Ident
	}

	// SetProperties is SET TBLPROPERTIES (...).
	SetProperties struct {
		Pos        Pos
		Properties []Property
	}

	// UnsetProperties is UNSET TBLPROPERTIES [IF EXISTS] (...).
	UnsetProperties struct {
		Pos      Pos
		IfExists bool
		Keys     []string
	}

	// SetClustering is CLUSTER BY (...) | NONE | AUTO; Partitions is set for REPLACE PARTITIONED BY WITH CLUSTER BY.
	SetClustering struct {
		ClusterBy  ClusterBy
		Partitions bool
	}

	// DropFeature is DROP FEATURE name [TRUNCATE HISTORY].
	DropFeature struct {
		Pos      Pos
		Feature  string
		Truncate bool
	}

	// RenameTable is RENAME TO name.
	RenameTable struct {
		Pos Pos
		To  Name
	}

	// SetLocation is SET LOCATION 'uri'; Partition where it was about one partition, which is refused.
	SetLocation struct {
		Pos       Pos
		Location  string
		Partition bool
	}

	// SetTableComment is MySQL's COMMENT = 'text'.
	SetTableComment struct {
		Pos  Pos
		Text string
	}

	// RefusedAction is an action that the grammar knows and no Delta table has: ADD PARTITION, SET OWNER and kin.
	RefusedAction struct {
		Pos  Pos
		What string
	}
)

func (*AddColumns) alterAction()      {}
func (*DropColumns) alterAction()     {}
func (*RenameColumn) alterAction()    {}
func (*ChangeColumn) alterAction()    {}
func (*ReplaceColumns) alterAction()  {}
func (*AddCheck) alterAction()        {}
func (*AddKey) alterAction()          {}
func (*AddForeignKey) alterAction()   {}
func (*DropConstraint) alterAction()  {}
func (*SetProperties) alterAction()   {}
func (*UnsetProperties) alterAction() {}
func (*SetClustering) alterAction()   {}
func (*DropFeature) alterAction()     {}
func (*RenameTable) alterAction()     {}
func (*SetLocation) alterAction()     {}
func (*SetTableComment) alterAction() {}
func (*RefusedAction) alterAction()   {}

func (*CreateTable) statement()    {}
func (*DropTable) statement()      {}
func (*CreateDatabase) statement() {}
func (*DropDatabase) statement()   {}
func (*AlterTable) statement()     {}
func (*Several) statement()        {}
func (*AlterView) statement()      {}
func (*CommentOn) statement()      {}
