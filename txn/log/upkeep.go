package log

import (
	"context"
	"errors"
	"time"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// Upkeep is what AfterCommit needs besides the table: where its time and its random names come from, and what the session
// wants otherwise than by default.
type Upkeep struct {
	Now   func() time.Time
	NewID func() string // a fresh UUID in its usual spelling
	// Snapshot is the version that was committed, as Committed gave it; nil to read it from the log where it is needed.
	Snapshot *Snapshot
	// SidecarActions is how many file actions go into one sidecar of a V2 checkpoint; 0 is the default.
	SidecarActions int
	// ManifestJSON makes the top-level file of a V2 checkpoint JSON instead of Parquet.
	ManifestJSON bool
	// CompactionInterval makes every so many commits one compacted file of them, unless a checkpoint is due; 0 makes none.
	CompactionInterval int64
}

// AfterCommit does what is due after a commit: the version's checksum, a checkpoint at every interval of the table with
// the hint that leads to it, a compaction, and the clean-up of expired log files. The commit stands whatever happens here:
// failures come back as warnings, each starting with an error class in brackets.
func (t *Table) AfterCommit(ctx context.Context, version int64, o Upkeep) (warnings []string) {
	ctx = store.RootStands(ctx)
	warn := func(err error) bool {
		if err != nil {
			warnings = append(warnings, warning(t.explain(err)))
		}
		return err != nil
	}
	snapshot, err := t.after(ctx, version, o)
	if warn(err) {
		return warnings
	}
	warn(t.WriteChecksum(ctx, snapshot))
	interval, _, err := snapshot.config.IntProperty("delta.checkpointInterval")
	if err == nil && interval <= 0 {
		err = protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property delta.checkpointInterval is %d; it must be positive", interval)
	}
	if warn(err) {
		return warnings
	}
	if version == 0 || version%interval != 0 {
		if every := o.CompactionInterval; every > 1 && version > 0 && version%every == 0 {
			warn(t.Compact(ctx, version-every+1, version))
		}
		return warnings
	}
	if _, err := t.Checkpoint(ctx, snapshot, o); warn(err) {
		return warnings // nothing is cleaned up before the newest checkpoint stands
	}
	before, wanted, err := snapshot.Expired(o.Now())
	if !warn(err) && wanted {
		_, err := t.CleanUp(ctx, snapshot, before, o)
		warn(err)
	}
	return warnings
}

// warning is an error's text with its class.
func warning(err error) string {
	var classed *protocol.Error
	if !errors.As(err, &classed) {
		err = protocol.NewError("DELTASQL_STORAGE", "the upkeep of the log was not finished").WithCause(err)
	}
	return err.Error()
}

// after is the snapshot of the version that was committed.
func (t *Table) after(ctx context.Context, version int64, o Upkeep) (*Snapshot, error) {
	if o.Snapshot != nil && o.Snapshot.version == version && !o.Snapshot.overlay {
		return o.Snapshot, nil
	}
	return t.SnapshotAt(ctx, version)
}
