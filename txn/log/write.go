package log

import (
	"context"
	"errors"
	"iter"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// WriteCommit creates a version's commit file with the content that protocol.EncodeCommit gives. Only that of version 0 makes the
// table's folder; where the folder is gone, later ones give an error that wraps store.ErrNotFound. NotWritten with an error
// that wraps store.ErrExists means that another writer was first. Unknown means that only the log can tell: read the
// version back with ReadCommit and compare its txnId (C2).
func (t *Table) WriteCommit(ctx context.Context, version int64, data []byte) (store.Outcome, error) {
	name := logFolder + protocol.CommitName(version)
	if version > 0 {
		ctx = store.RootStands(ctx)
	}
	outcome, err := t.store.PutIfAbsent(ctx, name, data)
	if err == nil || errors.Is(err, store.ErrExists) {
		return outcome, err
	}
	return outcome, writeError(name, err)
}

// writeError is storageError for a file that could not be written.
func writeError(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return protocol.NewError("DELTASQL_STORAGE", "the log file %s cannot be written", name).WithCause(err)
}

// ReadCommit reads one version's commit without listing the log.
// Errors: DELTA_LOG_FILE_NOT_FOUND where there is none (yet).
func (t *Table) ReadCommit(ctx context.Context, version int64) (Commit, error) {
	name := logFolder + protocol.CommitName(version)
	info, err := t.store.Stat(ctx, name)
	if err != nil {
		return Commit{}, t.explain(storageError(name, err))
	}
	c, err := readActions(ctx, t.store, name, info.Size)
	if err != nil {
		return Commit{}, t.explain(err)
	}
	out := Commit{Version: version, TimestampMillis: info.ModTimeMillis}
	out.Info, out.Actions = c.takeInfo()
	if millis, ok := out.Info.InCommitTimestamp(); ok {
		out.TimestampMillis = millis
	}
	return out, nil
}

// CommitsAfter gives the commits that followed a version, oldest first, up to the newest: what won against a writer who
// read that version. Their times are their in-commit timestamps, else the times of their files as those stand.
// The iteration ends at the first error.
func (t *Table) CommitsAfter(ctx context.Context, version int64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		for next := version + 1; ; next++ {
			commit, err := t.ReadCommit(ctx, next)
			if protocol.ClassOf(err) == "DELTA_LOG_FILE_NOT_FOUND" {
				return
			}
			if !yield(commit, err) || err != nil {
				return
			}
		}
	}
}

// Committed hands the table the commit that its caller has just written, so that the next Snapshot need not read it, and
// gives the snapshot that it makes. It is nil where the table did not know the version before, or knows a later one than
// that already; nothing is lost then, Snapshot reads the log.
func (t *Table) Committed(ctx context.Context, commit Commit) *Snapshot {
	if t.acquire(ctx) != nil {
		return nil
	}
	defer t.release()
	known := t.newest
	if known != nil && known.version == commit.Version && known.unreadable == nil {
		return known // somebody has read it meanwhile
	}
	if known == nil || known.version != commit.Version-1 || known.unreadable != nil {
		return nil
	}
	if same, err := t.unchanged(ctx, known); err != nil || !same {
		return nil // the table was dropped and made again
	}
	name := logFolder + protocol.CommitName(commit.Version)
	info, err := t.store.Stat(ctx, name)
	if err != nil {
		return nil
	}
	state := known.state.extend()
	if state.totals == nil {
		state.totals = known.files.totals()
	}
	if err := state.applyCommit(commit.parsed(name)); err != nil {
		return nil // the next Snapshot reads the file and says what is wrong with it
	}
	parsed, _ := protocol.ParseLogFile(protocol.CommitName(commit.Version))
	file := logFile{info, parsed}
	segment := &Segment{Version: commit.Version, commit: file, replayed: []logFile{file}}
	snapshot, err := t.finish(ctx, segment, state, name, info)
	if err != nil {
		return nil
	}
	t.newest = snapshot
	return snapshot
}

// parsed is a commit in the form in which it is applied.
func (c Commit) parsed(file string) *commit {
	out := &commit{version: c.Version, file: file}
	for _, action := range c.Actions {
		out.add(action)
	}
	if c.Info != nil {
		out.add(protocol.Action{CommitInfo: c.Info})
	}
	return out
}
