package parse

// ---- statements that change rows, keep tables, and run transactions ----

// InsertMode is what happens to the rows that are there.
type InsertMode uint8

// The modes of INSERT.
const (
	InsertInto        InsertMode = iota
	InsertOverwrite              // OVERWRITE
	InsertReplace                // REPLACE WHERE p, USING (columns), ON p: see Insert.ReplaceWhere and kin
	InsertIgnore                 // MySQL's INSERT IGNORE
	InsertReplaceInto            // MySQL's REPLACE INTO
)

type (
	// Insert is every form of INSERT and MySQL's REPLACE. Exactly one of Query, Default is the source; VALUES is a Query whose
	// body is Values, SET a = 1 gives Columns and one row of Values. DEFAULT in VALUES is a DefaultValue.
	Insert struct {
		Pos          Pos
		With         []CTE // of WITH before INSERT; the source query sees them
		Recursive    bool
		Evolve       bool // WITH SCHEMA EVOLUTION
		Mode         InsertMode
		Table        Name
		Alias        *Ident
		Partition    []PartitionAssign
		IfNotExists  bool // of PARTITION
		Columns      []Name
		HasColumns   bool
		ByName       bool
		ReplaceWhere Expr
		ReplaceText  string // of ReplaceWhere or ReplaceOn
		ReplaceUsing []Ident
		ReplaceOn    Expr
		Query        *Query
		QueryAlias   *Ident // MySQL's VALUES (...) AS new, Spark's REPLACE ON source alias
		QueryColumns []Ident
		Default      bool // DEFAULT VALUES, or MySQL's VALUES (), ()
		DefaultRows  int  // of Default: how many rows
		OnDuplicate  []SetItem
		Ignored      []Ignored // LOW_PRIORITY and kin
	}

	// PartitionAssign is c or c = value of INSERT's PARTITION clause; Value is nil for a dynamic one.
	PartitionAssign struct {
		Name  Ident
		Value Expr
	}

	// SetItem is path = e; Value is a DefaultValue for DEFAULT.
	SetItem struct {
		Target Name
		Value  Expr
	}

	// Update is UPDATE; From is the target with its joins in MySQL's multi-table form, else one TableRef.
	Update struct {
		Pos       Pos
		With      []CTE
		Recursive bool
		From      From
		Set       []SetItem
		Where     Expr
		WhereText string
		OrderBy   []OrderItem
		Limit     Expr
		Ignored   []Ignored // LOW_PRIORITY, IGNORE
		Ignore    bool
	}

	// Delete is DELETE; Targets are set in MySQL's multi-table forms, where From is the join.
	Delete struct {
		Pos       Pos
		With      []CTE
		Recursive bool
		Targets   []Name
		From      From
		Where     Expr
		WhereText string
		OrderBy   []OrderItem
		Limit     Expr
		Ignored   []Ignored
	}

	// Truncate is TRUNCATE TABLE t; Partition is set where a PARTITION clause was written, which is refused.
	Truncate struct {
		Pos       Pos
		Table     Name
		Partition bool
	}

	// Merge is MERGE INTO. Texts are kept for the commit's operation parameters and for messages.
	Merge struct {
		Pos        Pos
		With       []CTE
		Recursive  bool
		Evolve     bool
		Target     *TableRef
		TargetText string
		Source     From
		SourceText string
		On         Expr
		OnText     string
		Whens      []MergeWhen
	}

	// MergeWhen is one WHEN clause.
	MergeWhen struct {
		Pos       Pos
		Kind      MergeKind
		Condition Expr
		Text      string // of Condition
		Action    MergeAction
		Star      bool      // UPDATE SET *, INSERT *
		Except    []Name    // of Star
		Set       []SetItem // UPDATE SET, or INSERT (columns) VALUES (...) as pairs
	}

	// MergeKind is which rows a WHEN clause is about.
	MergeKind uint8

	// MergeAction is what it does.
	MergeAction uint8

	// CopyInto is COPY INTO t FROM 'path' | (SELECT ... FROM 'path').
	CopyInto struct {
		Pos           Pos
		Table         Name
		Columns       []Name
		ByPosition    bool
		Path          string
		Items         []SelectItem // of the SELECT form; nil for the plain one
		Where         Expr
		Format        string // upper case; "" where the files' names have to tell
		Validate      bool
		ValidateRows  *int64 // nil: all
		Files         []string
		Pattern       string
		FormatOptions []Property
		CopyOptions   []Property
	}

	// CopyTo is COPY t | (query) TO 'path' [(options)].
	CopyTo struct {
		Pos     Pos
		Table   *TableRef // or
		Query   *Query
		Path    string
		Options []Property
	}

	// LoadData is MySQL's LOAD DATA [LOCAL] INFILE.
	LoadData struct {
		Pos        Pos
		Local      bool
		Path       string
		Replace    bool
		Ignore     bool
		Table      Name
		Charset    string
		FieldsEnd  *string
		Enclosed   *string
		Optionally bool
		Escaped    *string
		LinesStart *string
		LinesEnd   *string
		SkipLines  int64
		Targets    []LoadTarget
		Set        []SetItem
		Ignored    []Ignored
	}

	// LoadTarget is a column, or @variable, that a field of the file goes to.
	LoadTarget struct {
		Column   *Ident
		Variable string
	}

	// Optimize is OPTIMIZE t [FULL] [WHERE p] [ZORDER BY (...)] [DRY RUN]; MySQL's OPTIMIZE TABLE a, b sets MySQL.
	Optimize struct {
		Pos       Pos
		Tables    []Name
		Path      string // OPTIMIZE '/path'
		MySQL     bool
		Full      bool
		Where     Expr
		WhereText string
		ZOrder    []Name
		DryRun    bool
	}

	// Reorg is REORG TABLE t [WHERE p] APPLY (what).
	Reorg struct {
		Pos        Pos
		Table      Name
		Where      Expr
		WhereText  string
		Purge      bool
		Checkpoint bool
		Uniform    *int64 // UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = n)
	}

	// Vacuum is VACUUM t | 'path' with LITE | FULL, RETAIN n HOURS, USING INVENTORY and DRY RUN in any order.
	Vacuum struct {
		Pos       Pos
		Table     Name
		Path      string
		Lite      bool
		DryRun    bool
		Retain    Expr   // hours
		Inventory *Query // USING INVENTORY t is SELECT * FROM t
	}

	// Restore is RESTORE TABLE t TO VERSION|TIMESTAMP AS OF x.
	Restore struct {
		Pos   Pos
		Table Name
		AsOf  *AsOf
	}

	// Convert is CONVERT TO DELTA source [NO STATISTICS] [PARTITIONED BY (c type, ...)].
	Convert struct {
		Pos          Pos
		Source       Name
		NoStatistics bool
		PartitionBy  []PartitionColumn
	}

	// Maintain is a statement about tables with few options: FSCK REPAIR TABLE, MSCK REPAIR TABLE, CHECK TABLE, REPAIR TABLE,
	// ANALYZE TABLE, ANALYZE TABLES, GENERATE, CHECKPOINT, COMPACT LOG, CLEAN LOG, REPAIR CHECKSUM, EXPORT TABLE.
	Maintain struct {
		Pos     Pos
		Verb    string // the words above, upper case
		Tables  []Name
		DryRun  bool
		Compute bool // ANALYZE ... COMPUTE STATISTICS; without it, MySQL's ANALYZE TABLE
		Delta   bool // ANALYZE ... COMPUTE DELTA STATISTICS
		// Mode is GENERATE's mode as written; ANALYZE's "NOSCAN"; FSCK's "METADATA ONLY", "VERIFY ALL FILES" or
		// "VERIFY FILES"; MSCK's "ADD", "DROP" or "SYNC"; MySQL's options of CHECK and REPAIR TABLE.
		Mode          string
		Columns       []Name // ANALYZE ... FOR COLUMNS
		AllColumns    bool   // ANALYZE ... FOR ALL COLUMNS
		Partition     bool   // ANALYZE ... PARTITION, which is refused
		In            Name   // ANALYZE TABLES IN database
		After, Before Expr   // FSCK ... VERIFY FILES MODIFIED BETWEEN After AND Before
		From, To      *int64 // COMPACT LOG; From is the version of EXPORT TABLE
		Path          string // EXPORT TABLE ... TO
	}

	// Transaction is BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO.
	Transaction struct {
		Pos        Pos
		Verb       string // "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ROLLBACK TO"
		Savepoint  *Ident
		ReadOnly   bool
		Consistent bool // WITH CONSISTENT SNAPSHOT
		Chain      bool // AND CHAIN
	}

	// Prepare is PREPARE name FROM 'text' | @variable.
	Prepare struct {
		Pos  Pos
		Name Ident
		Text Expr
	}

	// Execute is EXECUTE name [USING @a, ...], or EXECUTE IMMEDIATE text [INTO ...] [USING ...] with Immediate set.
	Execute struct {
		Pos       Pos
		Name      Ident
		Immediate Expr
		Using     []Arg
		Into      []string // EXECUTE IMMEDIATE ... INTO variables
	}

	// Deallocate is DEALLOCATE|DROP PREPARE name.
	Deallocate struct {
		Pos  Pos
		Name Ident
	}

	// DefaultValue is the keyword DEFAULT as a value in VALUES, SET and MERGE.
	DefaultValue struct{ span }
)

// The rows of WHEN clauses.
const (
	WhenMatched MergeKind = iota
	WhenNotMatched
	WhenNotMatchedBySource
)

// The actions of WHEN clauses.
const (
	MergeUpdate MergeAction = iota
	MergeDelete
	MergeInsert
)

func (*Insert) statement()      {}
func (*Update) statement()      {}
func (*Delete) statement()      {}
func (*Truncate) statement()    {}
func (*Merge) statement()       {}
func (*CopyInto) statement()    {}
func (*CopyTo) statement()      {}
func (*LoadData) statement()    {}
func (*Optimize) statement()    {}
func (*Reorg) statement()       {}
func (*Vacuum) statement()      {}
func (*Restore) statement()     {}
func (*Convert) statement()     {}
func (*Maintain) statement()    {}
func (*Transaction) statement() {}
func (*Prepare) statement()     {}
func (*Execute) statement()     {}
func (*Deallocate) statement()  {}
