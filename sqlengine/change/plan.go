package change

import (
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
)

// Table is the table that a statement writes to.
type Table struct {
	// Name is the table in messages and the qualifier of its columns, database first.
	Name []string
	// Config is the table as it will be: after the schema evolution that the statement brings with it.
	Config *protocol.TableConfig
	// Source is the snapshot that the statement changes. INSERT needs none.
	Source expr.Source
}

// Options are the surroundings of a change.
type Options struct {
	bind.Options
	// Lenient is MySQL without STRICT_TRANS_TABLES: values that do not fit are brought to the nearest that does.
	Lenient bool
	// ZeroIsValue is MySQL's NO_AUTO_VALUE_ON_ZERO: 0 in an identity column is stored and asks for no new value.
	ZeroIsValue bool
}

// Plan is a bound change that adds rows.
type Plan struct {
	// Query gives the table's logical columns in order, named as in the schema and printed as c0, c1, ...; structs have logical
	// member names, variants are DuckDB's VARIANT.
	Query *expr.Query
	// Done are the duties that Query holds every row to.
	Done []txn.Duty
	// Identity says for each identity column how its values come about.
	Identity []Identity
	// Partition are the constant values of a PARTITION clause by the schema's names, in the order of the table's partition columns. They
	// are expressions without columns of the columns' types: INSERT OVERWRITE replaces only partitions that have all of them.
	Partition []PartitionValue
	// Replaced is, of INSERT ... REPLACE ON and REPLACE USING, the change of both the rows that are added and those that are deleted; nil of
	// other statements. Its query computes the source once, so that both are about the same rows whatever the source is; Query is a part
	// of it.
	Replaced *Changes

	values *expr.Relation // the table's columns before they are checked
}

// Identity is how an identity column is filled.
type Identity struct {
	Column int // of the schema
	// Generated is whether rows get new values: Base, Base+Step, ... in the order of the rows.
	Generated  bool
	Base, Step int64
	// Count is how many rows get a new value; -1: at most as many as are written, of a MERGE those that it inserts. The new
	// high-water mark is Base + (Count-1) * Step; gaps are allowed.
	Count int64
	// Explicit is whether rows may bring values of their own.
	Explicit bool
}

// PartitionValue is c = value of a PARTITION clause.
type PartitionValue struct {
	Column int // of the schema
	Value  expr.Expr
}

// Rows are rows that a statement takes from outside of SQL: the files of COPY INTO, the text of LOAD DATA.
type Rows struct {
	// Source is a DuckDB table expression with the rows.
	Source bind.SQLTable
	// Items and Where shape them, nil Items being *. They see Source's columns, qualified by Alias where it is set.
	Items []parse.SelectItem
	Where parse.Expr
	Alias string
	// Columns are the columns of the table that the items go to; nil: all of them by name, or by position with ByPosition.
	Columns    []parse.Name
	ByPosition bool
	Evolve     bool
}
