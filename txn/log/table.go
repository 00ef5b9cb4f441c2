package log

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/store"
)

const (
	// maxHintBytes bounds _last_checkpoint; a larger one is not worth reading.
	maxHintBytes = 4 << 20
	// olderSnapshots is how many snapshots of older versions are kept for repeated time travel.
	olderSnapshots = 4
	// latestVersion stands for the newest version; no caller can ask for it by a number.
	latestVersion = math.MinInt64
)

// Table reads one table's log. It keeps the newest snapshot it has seen, and a few older ones.
// All methods are safe for concurrent use.
type Table struct {
	store   store.Store
	name    string
	parquet Parquet

	// lock guards what follows; a channel of one, so that waiting for another's load ends with the context.
	lock     chan struct{}
	newest   *Snapshot
	older    []*Snapshot     // most recently used last
	unusable map[string]bool // compaction files that are damaged or not reconciled

	turn chan struct{} // of one: see Turn
}

// OpenTable gives a table of a store that is rooted at the table's folder. It does no I/O. The name is for messages.
func OpenTable(st store.Store, name string, parquet Parquet) *Table {
	return &Table{store: st, name: name, parquet: parquet, lock: make(chan struct{}, 1), unusable: map[string]bool{}, turn: make(chan struct{}, 1)}
}

// Name is how messages call the table.
func (t *Table) Name() string { return t.name }

// Store is the table's folder.
func (t *Table) Store() store.Store { return t.store }

func (t *Table) acquire(ctx context.Context) error {
	select {
	case t.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Table) release() { <-t.lock }

// Snapshot gives the newest version. If it is the one known already, that costs two looks at the store; if commits
// followed, only those are read; if the log is another one (dropped and created again), all of it is.
//
// Errors: DELTA_TABLE_NOT_FOUND and DELTA_TABLE_ONLY_OPERATION where there is no table, what the protocol's negotiation
// says of a table that must not be read, and for damage the DELTA_ classes, naming the file.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	snapshot, err := t.Inspect(ctx)
	if err != nil {
		return nil, err
	}
	return snapshot.readable()
}

// Inspect is Snapshot also of a table that must not be read: to tell what its protocol and metadata say, while Unreadable
// says why nothing else may be made of it.
func (t *Table) Inspect(ctx context.Context) (*Snapshot, error) {
	if err := t.acquire(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	return t.latest(ctx)
}

// latest is Inspect under the lock.
func (t *Table) latest(ctx context.Context) (*Snapshot, error) {
	if t.newest != nil {
		snapshot, err := t.refresh(ctx)
		if err != nil {
			return nil, t.explain(err)
		}
		if snapshot != nil {
			t.newest = snapshot
			return snapshot, nil
		}
		t.newest, t.older = nil, nil
	}
	snapshot, err := t.load(ctx, latestVersion)
	if mayHaveMoved(err) && ctx.Err() == nil {
		snapshot, err = t.load(ctx, latestVersion)
	}
	if err != nil {
		return nil, t.explain(err)
	}
	t.newest = snapshot
	return snapshot, nil
}

// mayHaveMoved tells errors that a log gives which is changed while it is read: a clean-up or a drop takes files away, and
// a listing of a folder may miss a commit that arrives during it but show the next one.
func mayHaveMoved(err error) bool {
	class := protocol.ClassOf(err)
	return class == "DELTA_LOG_FILE_NOT_FOUND" || class == "DELTA_VERSIONS_NOT_CONTIGUOUS"
}

// refresh extends the newest snapshot by the commits that followed. It gives nil where the log must be read anew.
func (t *Table) refresh(ctx context.Context) (*Snapshot, error) {
	known := t.newest
	same, err := t.unchanged(ctx, known)
	if err != nil || !same {
		return nil, err
	}
	known, more, err := t.step(ctx, known)
	if protocol.ClassOf(err) == "DELTA_LOG_FILE_NOT_FOUND" && ctx.Err() == nil {
		return nil, nil
	}
	if err != nil || !more {
		return known, err
	}
	l, err := list(ctx, t.store, known.version+1)
	if err != nil {
		return nil, err
	}
	if len(l.commits) == 0 {
		return nil, nil
	}
	segment := &Segment{Version: l.commits[len(l.commits)-1].Version}
	segment.commit, segment.checksum = l.commits[len(l.commits)-1], l.checksums[segment.Version]
	if segment.replayed, err = l.replayed(known.version, segment.Version, t.unusable); err != nil {
		return nil, nil // the full listing decides what the gap means
	}
	snapshot, err := t.build(ctx, segment, known.state.extend())
	switch {
	case errors.Is(err, errUnfit):
		return t.refresh(ctx) // this time without the file
	case protocol.ClassOf(err) == "DELTA_LOG_FILE_NOT_FOUND" && ctx.Err() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return snapshot, nil
}

// localSteps and remoteSteps are how many commits that followed are looked for by name before the log is listed. In a folder
// a look costs next to nothing, and a listing as much as there are files: much for a writer that meets new commits every
// time. Far away each look is a round trip, and the listing is one too.
const (
	localSteps  = 32
	remoteSteps = 2
)

// step extends a snapshot by the next commits, and tells whether there are more of them than it reads.
func (t *Table) step(ctx context.Context, known *Snapshot) (*Snapshot, bool, error) {
	var state *state
	limit := known.version + remoteSteps
	segment := &Segment{}
	for version := known.version + 1; ; version++ {
		name := logFolder + protocol.CommitName(version)
		info, err := t.store.Stat(ctx, name)
		last := errors.Is(err, store.ErrNotFound)
		if err != nil && !last {
			return nil, false, storageError(name, err)
		}
		if last && state == nil {
			return known, false, nil
		}
		if last || version > limit {
			checksum := logFolder + protocol.ChecksumName(segment.Version)
			if info, err := t.store.Stat(ctx, checksum); err == nil {
				parsed, _ := protocol.ParseLogFile(protocol.ChecksumName(segment.Version))
				segment.checksum = logFile{info, parsed}
			}
			snapshot, err := t.finish(ctx, segment, state, segment.commit.Name, segment.commit.FileInfo)
			return snapshot, !last, err
		}
		commit, err := readActions(ctx, t.store, name, info.Size)
		if err != nil {
			return nil, false, err
		}
		if state == nil {
			state = known.state.extend()
			if _, err := t.store.Locate(ctx, name); err == nil {
				limit = known.version + localSteps
			}
		}
		commit.version = version
		if err := state.applyCommit(commit); err != nil {
			return nil, false, err
		}
		parsed, _ := protocol.ParseLogFile(protocol.CommitName(version))
		info.Name = name
		segment.Version, segment.commit = version, logFile{info, parsed}
		segment.replayed = append(segment.replayed, segment.commit)
	}
}

// unchanged tells whether the file that a snapshot hangs on is still the same.
func (t *Table) unchanged(ctx context.Context, s *Snapshot) (bool, error) {
	info, err := t.store.Stat(ctx, s.anchor)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, storageError(s.anchor, err)
	}
	return info.ETag == s.anchorTag, nil
}

// Stands tells whether the log is still the one that a snapshot was read from: not where the table was dropped, whether or not
// another one was made in its place, nor where the snapshot's commit is behind what a clean-up has left.
func (t *Table) Stands(ctx context.Context, s *Snapshot) (bool, error) {
	same, err := t.unchanged(ctx, s)
	return same, t.explain(err)
}

// SnapshotAt gives a version.
// Errors: DELTA_VERSION_NOT_FOUND with the versions that can be rebuilt; else as Snapshot.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	if err := t.acquire(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	if version < 0 {
		version = -1 // below every version; the listing gives the range for the message
	}
	if t.newest != nil && t.newest.version == version {
		if same, err := t.unchanged(ctx, t.newest); err == nil && same {
			return t.newest.readable()
		}
	}
	for i, snapshot := range t.older {
		if snapshot.version != version {
			continue
		}
		t.older = slices.Delete(t.older, i, i+1)
		if same, err := t.unchanged(ctx, snapshot); err == nil && same {
			t.older = append(t.older, snapshot)
			return snapshot.readable()
		}
		break
	}
	snapshot, err := t.load(ctx, version)
	if err != nil {
		return nil, t.explain(err)
	}
	snapshot.state.index = nil // it is never extended
	if len(t.older) == olderSnapshots {
		t.older = slices.Delete(t.older, 0, 1)
	}
	t.older = append(t.older, snapshot)
	return snapshot.readable()
}

// load reads a version from the log: it lists, chooses files and replays them, and where a checkpoint turns out damaged
// or a compaction unfit it chooses again without them.
func (t *Table) load(ctx context.Context, version int64) (*Snapshot, error) {
	l, err := list(ctx, t.store, t.hint(ctx, version))
	if err != nil {
		return nil, err
	}
	excluded := maps.Clone(t.unusable)
	var damage error
	for {
		if version != latestVersion && l.fromStart {
			if err := t.checkRange(l, version); err != nil {
				return nil, err
			}
		}
		var snapshot *Snapshot
		segment, err := l.segment(version, excluded)
		if err == nil && segment.Version >= 0 {
			if snapshot, err = t.build(ctx, segment, newState()); err == nil {
				if damage != nil {
					snapshot.warnings = append(snapshot.warnings, damage.Error()+"; older files of the log were used instead")
				}
				return snapshot, nil
			}
		}
		switch {
		case segment != nil && errors.Is(err, errUnfit):
			maps.Copy(excluded, t.unusable) // build has put the file there
			continue
		case segment != nil && errors.Is(err, errDamaged):
			damage = cmp.Or(damage, err)
			excluded[segment.checkpoint.name()] = true
		case segment != nil && segment.Version >= 0:
			return nil, err
		case l.fromStart:
			return nil, t.cannotRebuild(ctx, l, version, err, damage)
		}
		if !l.fromStart {
			if l, err = list(ctx, t.store, 0); err != nil {
				return nil, err
			}
		}
	}
}

// hint gives the version to list from: that of the newest checkpoint according to _last_checkpoint if it is of use, else 0.
// The hint is never trusted further: the listing shows what is there.
func (t *Table) hint(ctx context.Context, version int64) int64 {
	data, err := t.store.Read(ctx, logFolder+protocol.LastCheckpointName, maxHintBytes)
	if err != nil {
		return 0
	}
	last, err := protocol.ParseLastCheckpoint(data)
	if err != nil || version != latestVersion && last.Version > version {
		return 0
	}
	return last.Version
}

// checkRange refuses versions that the log does not have.
func (t *Table) checkRange(l *listing, version int64) error {
	if l.empty() || version >= l.earliest() && version <= l.latest() {
		return nil
	}
	return t.versionNotFound(l, version)
}

func (t *Table) versionNotFound(l *listing, version int64) error {
	return protocol.NewError("DELTA_VERSION_NOT_FOUND", "version %d of the table %s cannot be read; available versions: [%d, %d]",
		version, t.name, l.earliest(), l.latest())
}

// cannotRebuild says why no set of files gives the version, from a listing of the whole log.
func (t *Table) cannotRebuild(ctx context.Context, l *listing, version int64, err, damage error) error {
	switch {
	case l.empty():
		return t.noTable(ctx)
	case damage != nil:
		return damage
	case !errors.Is(err, errIncomplete):
		return err
	case version != latestVersion:
		return t.versionNotFound(l, version)
	}
	return protocol.NewError("DELTA_TRUNCATED_TRANSACTION_LOG",
		"version %d of the table %s cannot be rebuilt: its log starts at commit %d and has no complete checkpoint",
		l.latest(), t.name, l.commits[0].Version).
		WithHint("the older commits were deleted by hand or by a clean-up; restore them, or a checkpoint")
}

// noTable tells a folder without a log from nothing at all.
func (t *Table) noTable(ctx context.Context) error {
	for _, err := range t.store.List(ctx, "", "") {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return storageError(t.name, err)
		}
		if err == nil {
			return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s is not a Delta table: its folder has no commit in %s",
				t.name, protocol.LogFolder).WithHint("read plain files as parquet.`path`, csv.`path` or json.`path`")
		}
		break
	}
	return protocol.NewError("DELTA_TABLE_NOT_FOUND", "the Delta table %s does not exist", t.name)
}

// explain gives an error that leaves the package the table's name.
func (t *Table) explain(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.Table == "" {
		named := *e
		named.Table = t.name
		return &named
	}
	return err
}
