package txn

import (
	"errors"

	"deltasql/protocol"
)

// Parameter is one of an operation's parameters as commitInfo records them: a key and its value as JSON.
type Parameter = protocol.Parameter

// Metric is one of an operation's metrics as commitInfo records them: a number as text.
type Metric = protocol.Metric

// Operation is what a commit says of itself, in the words of the reference (`WRITE`, `SET TBLPROPERTIES`).
type Operation struct {
	Name       string
	Parameters []Parameter // in the order they are recorded
	Metrics    []Metric
	// Tags go into commitInfo.tags beside those that the transaction knows: delta.rowTracking.preserved and
	// delta.identity.schemaUpdate.
	Tags map[string]string
	// NeverChangesData marks kinds of operation that leave the table's rows as they are whatever they do (OPTIMIZE, REORG,
	// backfill, statistics): under WriteSerializable they need snapshot isolation only.
	NeverChangesData bool
	// AllowEmpty makes a commit even where nothing is staged.
	AllowEmpty bool
	// Revalidate is asked by a commit that drops features and lost to another: may they still be dropped from the table as
	// the winner left it, at that version? nil refuses (protocol digest, "Concurrency around the downgrade commit").
	Revalidate func(winner int64) error
}

// The names of operations that the conflict rules know.
const (
	OperationBackfill   = "ROW TRACKING BACKFILL"
	OperationUnbackfill = "ROW TRACKING UNBACKFILL"
	operationRestore    = "RESTORE"
	operationClone      = "CLONE"
)

// The tags that have a meaning to writers: of commitInfo, and of an add.
const (
	tagIdentity      = "delta.identity.schemaUpdate"
	tagRowTracking   = "delta.rowTracking.preserved"
	tagIcebergCompat = "ICEBERG_COMPAT_VERSION"
)

// Committed is a commit that stands.
type Committed struct {
	// Version is the commit's version; for one that was left out, the version that the transaction read or, of an
	// application's transaction that was already there, the newest known.
	Version  int64
	Attempts int
	// Warnings say what upkeep of the log failed. The commit stands nonetheless.
	Warnings []string
	// Empty: there was nothing to commit, so there is no new version.
	Empty bool
	// AlreadyApplied: the table holds the application's transaction, or a later one; nothing was written (SetTxn).
	AlreadyApplied bool
}

// Conflict is a commit that lost to another one whose changes it cannot be combined with. It wraps the *protocol.Error, so
// that protocol.ClassOf sees the class.
type Conflict struct {
	Winner    int64  // the version that won
	Operation string // what its commitInfo calls it; may be empty
	// Rerun: the statement made values that another writer has used up (identity), and running it again on a new snapshot
	// is sure to make fresh ones. For other conflicts a second run is right too, but only where the caller may repeat
	// what the statement read.
	Rerun bool
	err   *protocol.Error
}

// Error is the message with its class.
func (c *Conflict) Error() string { return c.err.Error() }

// Unwrap gives the *protocol.Error.
func (c *Conflict) Unwrap() error { return c.err }

// MayRerun tells whether running the statement again on a new snapshot can be expected to succeed without changing what it
// means: the conflict was over identity values only.
func MayRerun(err error) bool {
	var c *Conflict
	return errors.As(err, &c) && c.Rerun
}

// internal is a fault of a caller inside the product.
func internal(format string, args ...any) *protocol.Error {
	return protocol.NewError(protocol.ClassInternal, format, args...)
}
