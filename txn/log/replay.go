package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// errUnfit marks a compaction file that cannot stand for its commits.
var errUnfit = errors.New("compaction damaged or not reconciled")

// build replays a segment on a state and makes the snapshot.
func (t *Table) build(ctx context.Context, segment *Segment, s *state) (*Snapshot, error) {
	anchor := segment.commit.Name
	if anchor == "" {
		anchor = segment.checkpoint.name()
	}
	// The anchor's identity is taken before anything is read, so that a log replaced meanwhile is noticed next time.
	anchorInfo, err := t.store.Stat(ctx, anchor)
	if err != nil {
		return nil, storageError(anchor, err)
	}
	if segment.checkpoint != nil {
		if err := t.loadCheckpoint(ctx, s, segment.checkpoint); err != nil {
			return nil, err
		}
	}
	if err := t.replay(ctx, segment, s); err != nil {
		return nil, err
	}
	return t.finish(ctx, segment, s, anchor, anchorInfo)
}

// finish makes the snapshot of a state to which everything is applied.
func (t *Table) finish(ctx context.Context, segment *Segment, s *state, anchor string, anchorInfo store.FileInfo) (*Snapshot, error) {
	if s.protocol == nil || s.metadata == nil {
		missing := "protocol"
		if s.protocol != nil {
			missing = "metaData"
		}
		return nil, protocol.NewError("DELTA_STATE_RECOVER_ERROR", "version %d of the table %s cannot be rebuilt: its log has no %s action (read: %s)",
			segment.Version, t.name, missing, summary(segment.Files()))
	}
	unreadable := protocol.CheckReadable(*s.protocol, t.name)
	config, err := protocol.NewTableConfig(*s.protocol, *s.metadata)
	if err != nil {
		return nil, cmp.Or(unreadable, err)
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		table: t, version: segment.Version, config: config, files: files, segment: segment, state: s,
		anchor: anchor, anchorTag: anchorInfo.ETag, timestamp: anchorInfo.ModTimeMillis, warnings: slices.Clip(s.warnings),
		unreadable: unreadable,
	}
	if err := t.takeCommitTime(ctx, snapshot); err != nil {
		return nil, err
	}
	return snapshot, t.verifyChecksum(ctx, snapshot)
}

// replay applies the segment's commits.
func (t *Table) replay(ctx context.Context, segment *Segment, s *state) error {
	at := 0
	for c, err := range readCommits(ctx, t.store, segment.replayed) {
		file := segment.replayed[at]
		at++
		if file.Kind == protocol.LogCompaction {
			// Damage to one is no loss either: the commits that it joins say the same.
			damaged := protocol.ClassOf(err) == "DELTA_INVALID_LOG_FILE"
			if damaged || err == nil && !c.reconciled() {
				t.unusable[file.Name] = true
				return errUnfit
			}
		}
		if err != nil {
			return err
		}
		if err := s.applyCommit(c); err != nil {
			return err
		}
	}
	return nil
}

// reconciled tells whether a file holds at most one action for each file key and each single action, as a compaction
// must. Some writers only join the commits; replayed as one commit, such a file would give another state.
func (c *commit) reconciled() bool {
	seen := make(map[uint64]bool, c.adds+c.removes)
	domains, txns := map[string]bool{}, map[string]bool{}
	protocols, metadata := 0, 0
	for i := range c.actions {
		var key fileKey
		switch action := &c.actions[i]; {
		case action.Add != nil:
			key = keyOf([]byte(action.Add.Path), action.Add.DeletionVector)
		case action.Remove != nil:
			key = keyOf([]byte(action.Remove.Path), action.Remove.DeletionVector)
		case action.Protocol != nil:
			protocols++
			continue
		case action.Metadata != nil:
			metadata++
			continue
		case action.Txn != nil:
			if txns[action.Txn.AppID] {
				return false
			}
			txns[action.Txn.AppID] = true
			continue
		case action.Domain != nil:
			if domains[action.Domain.Domain] {
				return false
			}
			domains[action.Domain.Domain] = true
			continue
		default:
			continue
		}
		hash := key.hash() // two keys with one hash would only cost the use of the file
		if seen[hash] {
			return false
		}
		seen[hash] = true
	}
	return protocols <= 1 && metadata <= 1
}

// summary lists names for a message, the middle of many left out.
func summary(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s, %s, ... %s", names[0], names[1], names[len(names)-1])
	}
	return fmt.Sprint(names)
}
