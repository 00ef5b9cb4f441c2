package ddl

import (
	"deltasql/protocol"
	"deltasql/txn"
)

// Env is what a change of a table takes from outside.
type Env struct {
	NewID     func() string // a fresh UUID as text
	NowMillis int64         // milliseconds since 1970
	// SessionDefaults are the session's settings below spark.databricks.delta.properties.defaults., with or without that
	// prefix. They are written into tables as they are made; a table that is there ignores them.
	SessionDefaults map[string]string
	// ArbitraryProperties lets names that start with "delta." and mean nothing pass (spark.databricks.delta.allowArbitraryProperties.enabled).
	ArbitraryProperties bool
}

// State is a table as it is.
type State struct {
	Config     *protocol.TableConfig
	Domains    map[string]protocol.DomainMetadata // live ones, by name
	NumFiles   int
	NumVectors int   // files with a deletion vector
	Tracked    bool  // every file has a baseRowId and a defaultRowCommitVersion
	Version    int64 // of the snapshot that all of this is read from
}

// Change is what a statement writes; nil parts stay as they are.
type Change struct {
	Protocol  *protocol.Protocol
	Metadata  *protocol.Metadata
	Domains   []protocol.DomainMetadata
	Operation txn.Operation
	Warnings  []string
	// Checks are asked of the rows that are there, in the transaction that commits the change.
	Checks []Check
	// Before are commits that come first, such as those that give row ids to the files of a table. After them the change is
	// asked for again, of the table as it is then, until nothing comes before it. They stand even if the change then fails,
	// and a statement that is run again takes up where it stopped.
	Before []Step
	// Rewrite are the live files that the commit also writes anew, with its metadata, without changing rows.
	Rewrite FileSet
}

// CreateSpec is a table as a statement wants it.
type CreateSpec struct {
	Table       string  // the table as the user named it, for messages
	Description *string // COMMENT
	// Schema is a struct. Field metadata carry the comment, CURRENT_DEFAULT, the generation expression, the identity and the
	// CHAR or VARCHAR type; a field that is not nullable is NOT NULL. Expressions have been checked by the caller.
	Schema           protocol.DataType
	PartitionColumns []string
	ClusterBy        [][]string // paths of logical names; nil is no CLUSTER BY, an empty list is CLUSTER BY NONE
	Properties       map[string]string
	Constraints      map[string]string // CHECK constraints: name to SQL text
	AsSelect         bool
	OrReplace        bool
	UserColumns      bool // columns were written; without them and without a query an existing log is adopted
	External         bool // LOCATION or a path was given
}
