package log

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// sidecarGrace is for how long a sidecar that no checkpoint names is kept: the checkpoint may be in the making.
const sidecarGrace = 24 * time.Hour

// Expired is the time up to which commits are expired for a table by its own retention: midnight of the day, in UTC, that
// lies delta.logRetentionDuration back. ok is false where the table does not want its log cleaned up.
func (s *Snapshot) Expired(now time.Time) (before time.Time, ok bool, err error) {
	enabled, err := s.config.BoolProperty("delta.enableExpiredLogCleanup")
	if err != nil || !enabled {
		return time.Time{}, false, err
	}
	retention, _, err := s.config.DurationProperty("delta.logRetentionDuration")
	if err != nil {
		return time.Time{}, false, err
	}
	return midnight(now.Add(-time.Duration(retention) * time.Millisecond)), true, nil
}

func midnight(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// CleanUp deletes the part of the log that no version from `before` on needs, and gives how many files it deleted. The
// oldest version that stays is that of the newest checkpoint whose commit, by the time of its file, is not later than
// before; where there is none, nothing is deleted (protocol, "Metadata Cleanup").
//
// Of what is older go the commits, checkpoints and checksums, of what starts at or before it the compactions and staged
// commits, then the sidecars that no remaining checkpoint names and that are older than a day, and hidden files that dead
// writers left. Before anything is deleted, the checkpoint that everything then hangs on is read; and if it is only there
// under a name that old clients do not look at, a classic copy is written, so that they see the protocol that stops them.
//
// Commits go first, oldest first, so that a clean-up that is interrupted leaves a log whose newest versions are whole. Since
// the first version that stays always has its checkpoint, a table with checkpoint protection may be cleaned up in part.
func (t *Table) CleanUp(ctx context.Context, s *Snapshot, before time.Time, o Upkeep) (deleted int, err error) {
	deleted, err = t.cleanUp(ctx, s, before, o)
	return deleted, t.explain(err)
}

func (t *Table) cleanUp(ctx context.Context, s *Snapshot, before time.Time, o Upkeep) (int, error) {
	l, err := list(ctx, t.store, 0)
	if err != nil {
		return 0, err
	}
	kept := l.oldestKept(s.version, before)
	if kept == nil {
		return 0, nil
	}
	expired, err := t.expiredFiles(ctx, kept.version)
	if err != nil {
		return 0, err
	}
	deleted := 0
	if len(expired) > 0 {
		if err := t.secure(ctx, kept, l, o); err != nil {
			return 0, err
		}
		for _, name := range expired {
			if err := t.store.Delete(ctx, name); err != nil {
				return deleted, deleteError(name, err)
			}
			deleted++
		}
	}
	swept, err := t.sweep(ctx, o.Now())
	return deleted + swept, err
}

// Expirable are the names of the files that CleanUp would delete first: commits, checkpoints, checksums and compactions. What it sweeps
// away besides is not among them.
func (t *Table) Expirable(ctx context.Context, s *Snapshot, before time.Time) ([]string, error) {
	l, err := list(ctx, t.store, 0)
	if err != nil {
		return nil, t.explain(err)
	}
	kept := l.oldestKept(s.version, before)
	if kept == nil {
		return nil, nil
	}
	names, err := t.expiredFiles(ctx, kept.version)
	return names, t.explain(err)
}

func deleteError(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return protocol.NewError("DELTASQL_STORAGE", "the log file %s cannot be deleted", name).WithCause(err)
}

// oldestKept is the newest checkpoint of a version up to another whose commit is not later than a time; nil for none.
// The times of commits are those of their files, each moved behind the one before, so that a version counts as late as any
// before it.
func (l *listing) oldestKept(version int64, before time.Time) *checkpoint {
	newest, at := int64(-1), int64(0)
	for _, file := range l.commits {
		if file.Version > version {
			break
		}
		at = max(file.ModTimeMillis, at+1)
		if at > before.UnixMilli() {
			break
		}
		newest = file.Version
	}
	for i := len(l.checkpoints) - 1; i >= 0; i-- {
		if l.checkpoints[i].version <= newest {
			return &l.checkpoints[i]
		}
	}
	return nil
}

// secure makes sure that the log can do without what is older than a checkpoint.
func (t *Table) secure(ctx context.Context, kept *checkpoint, l *listing, o Upkeep) error {
	state := newState()
	if err := t.loadCheckpoint(ctx, state, kept); err != nil {
		return err
	}
	classic := slices.ContainsFunc(l.checkpoints, func(c checkpoint) bool {
		return c.version == kept.version && c.kind() != protocol.LogUUIDCheckpoint
	})
	if classic {
		return nil
	}
	old, err := t.SnapshotAt(ctx, kept.version)
	if err != nil {
		return err
	}
	_, err = t.checkpoint(ctx, old, o, false)
	return err
}

// expiredFiles are the names that CleanUp deletes for the oldest version that stays, in the order in which they go.
func (t *Table) expiredFiles(ctx context.Context, oldest int64) ([]string, error) {
	var commits, others []string
	for info, err := range t.store.List(ctx, logFolder, "") {
		if err != nil {
			return nil, storageError(logFolder, err)
		}
		file, ok := protocol.ParseLogFile(checkedFile(strings.TrimPrefix(info.Name, logFolder)))
		if !ok {
			continue
		}
		switch file.Kind {
		case protocol.LogCommit:
			if file.Version < oldest {
				commits = append(commits, info.Name)
			}
		case protocol.LogChecksum, protocol.LogCheckpoint, protocol.LogMultipartCheckpoint, protocol.LogUUIDCheckpoint:
			if file.Version < oldest {
				others = append(others, info.Name)
			}
		case protocol.LogCompaction:
			if file.Version <= oldest {
				others = append(others, info.Name)
			}
		}
	}
	for info, err := range t.store.List(ctx, logFolder+protocol.StagedFolder+"/", "") {
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, storageError(logFolder+protocol.StagedFolder, err)
		}
		file, ok := protocol.ParseLogFile(strings.TrimPrefix(info.Name, logFolder))
		if ok && file.Kind == protocol.LogStagedCommit && file.Version <= oldest {
			others = append(others, info.Name)
		}
	}
	return append(commits, others...), nil
}

// checkedFile is the name itself, or the name that a hidden checksum of Hadoop's file systems (".name.crc") stands beside:
// it goes with its file.
func checkedFile(name string) string {
	inner, hidden := strings.CutPrefix(name, ".")
	if inner, checked := strings.CutSuffix(inner, ".crc"); hidden && checked {
		return inner
	}
	return name
}

// sweep deletes sidecars that no checkpoint names and hidden files that their writers left, if older than the grace.
// A checkpoint that cannot be read keeps all sidecars.
func (t *Table) sweep(ctx context.Context, now time.Time) (int, error) {
	young := midnight(now).Add(-sidecarGrace).UnixMilli()
	var doomed []string
	orphans := func(folder string, orphan func(name string) bool) error {
		for info, err := range t.store.List(ctx, folder, "") {
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return storageError(folder, err)
			}
			if info.IsFolder() || info.ModTimeMillis >= young {
				continue
			}
			if _, hidden := store.TemporaryOf(info.Name); hidden || orphan(info.Name) {
				doomed = append(doomed, info.Name)
			}
		}
		return nil
	}
	if err := orphans(logFolder, func(string) bool { return false }); err != nil {
		return 0, err
	}
	var named map[string]bool
	var namedErr error
	err := orphans(logFolder+protocol.SidecarFolder+"/", func(name string) bool {
		if named == nil && namedErr == nil {
			named, namedErr = t.namedSidecars(ctx)
		}
		_, sidecar := protocol.ParseLogFile(strings.TrimPrefix(name, logFolder))
		return sidecar && namedErr == nil && !named[path.Base(name)]
	})
	if err != nil {
		return 0, err
	}
	for i, name := range doomed {
		if err := t.store.Delete(ctx, name); err != nil {
			return i, deleteError(name, err)
		}
	}
	return len(doomed), namedErr
}

// namedSidecars are the file names of the sidecars that the checkpoints of the log name.
func (t *Table) namedSidecars(ctx context.Context) (map[string]bool, error) {
	l, err := list(ctx, t.store, 0)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for i := range l.checkpoints {
		c := &l.checkpoints[i]
		if c.kind() == protocol.LogMultipartCheckpoint {
			continue // of the first kind, which has no sidecars
		}
		sidecars, err := t.sidecarsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, sidecar := range sidecars {
			decoded, _, err := protocol.DecodePath(sidecar.Path)
			if err != nil {
				return nil, err
			}
			named[path.Base(decoded)] = true
		}
	}
	return named, nil
}

// sidecarsOf are the sidecars that a checkpoint names.
func (t *Table) sidecarsOf(ctx context.Context, c *checkpoint) ([]*protocol.Sidecar, error) {
	if c.files[0].JSON {
		manifest, err := readActions(ctx, t.store, c.name(), c.files[0].Size)
		if err != nil {
			return nil, err
		}
		var sidecars []*protocol.Sidecar
		for i := range manifest.actions {
			if sidecar := manifest.actions[i].Sidecar; sidecar != nil {
				sidecars = append(sidecars, sidecar)
			}
		}
		return sidecars, nil
	}
	paths, err := t.locate(ctx, c.files)
	if err != nil {
		return nil, err
	}
	groups, err := t.groupByColumns(ctx, paths)
	if err != nil {
		return nil, damaged(c.name(), err)
	}
	return t.readSidecars(ctx, groups)
}
