package log

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"deltasql/protocol"
)

// Tombstones gives the snapshot's removed files: the remove actions that are the newest of their key, expired ones included
// as far as the log still has them. A snapshot does not keep them, since no query needs them; they are read from the log
// here, for checkpoints, compactions and VACUUM. Order has no meaning. The iteration ends at the first error.
//
// What is held in memory are the keys that the commits after the newest checkpoint name.
func (s *Snapshot) Tombstones(ctx context.Context) iter.Seq2[protocol.RemoveFile, error] {
	return func(yield func(protocol.RemoveFile, error) bool) {
		if err := s.tombstones(ctx, func(remove *protocol.RemoveFile) bool { return yield(*remove, nil) }); err != nil {
			yield(protocol.RemoveFile{}, s.table.explain(err))
		}
	}
}

// errStopped ends an iteration that its caller does not want any more.
var errStopped = errors.New("stopped")

func (s *Snapshot) tombstones(ctx context.Context, yield func(*protocol.RemoveFile) bool) error {
	if s.overlay {
		return protocol.NewError(protocol.ClassInternal, "the tombstones of an open transaction were asked for")
	}
	l, err := list(ctx, s.table.store, s.table.hint(ctx, s.version))
	if err != nil {
		return err
	}
	excluded := map[string]bool{}
	for {
		for _, file := range l.compactions {
			excluded[file.Name] = true // the commits say the same, and in a form that was checked
		}
		segment, err := l.segment(s.version, excluded)
		if err == nil {
			yielded := false
			err = s.table.segmentTombstones(ctx, segment, func(remove *protocol.RemoveFile) bool {
				yielded = true
				return yield(remove)
			})
			switch {
			case errors.Is(err, errStopped):
				return nil
			case !errors.Is(err, errDamaged) || yielded:
				return err
			}
			excluded[segment.checkpoint.name()] = true
			continue
		}
		if l.fromStart {
			return err
		}
		if l, err = list(ctx, s.table.store, 0); err != nil {
			return err
		}
	}
}

// segmentTombstones reads the commits first, newest action of each key, and then lets through what the checkpoint has of
// keys that no commit names.
func (t *Table) segmentTombstones(ctx context.Context, segment *Segment, yield func(*protocol.RemoveFile) bool) error {
	newest := map[string]*protocol.RemoveFile{} // nil where the newest action is an add
	for c, err := range readCommits(ctx, t.store, segment.replayed) {
		if err != nil {
			return err
		}
		c.newestRemoves(newest)
	}
	if segment.checkpoint != nil {
		err := t.checkpointRemoves(ctx, segment.checkpoint, func(remove *protocol.RemoveFile) error {
			if _, named := newest[textKey(remove.Path, remove.DeletionVector)]; !named && !yield(remove) {
				return errStopped
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, remove := range newest {
		if remove != nil && !yield(remove) {
			return errStopped
		}
	}
	return nil
}

// newestRemoves puts for each key that a commit names its remove, nil where the commit adds the file. As in applyCommit,
// adds and removes of one key do not go together, and where they do the later line counts.
func (c *commit) newestRemoves(newest map[string]*protocol.RemoveFile) {
	for i := range c.actions {
		switch action := &c.actions[i]; {
		case action.Add != nil:
			newest[textKey(action.Add.Path, action.Add.DeletionVector)] = nil
		case action.Remove != nil:
			newest[textKey(action.Remove.Path, action.Remove.DeletionVector)] = action.Remove
		}
	}
}

// textKey is a fileKey as a text: the byte 0 is in no path.
func textKey(path string, vector *protocol.DeletionVector) string {
	key := keyOf([]byte(path), vector)
	return string(key.path) + "\x00" + key.vector
}

// checkpointRemoves gives the remove actions of a checkpoint.
func (t *Table) checkpointRemoves(ctx context.Context, c *checkpoint, each func(*protocol.RemoveFile) error) error {
	var paths []string
	var sidecars []*protocol.Sidecar
	wrap := func(err error) error {
		if err == nil || errors.Is(err, errStopped) {
			return err
		}
		return damaged(c.name(), err)
	}
	if c.files[0].JSON {
		manifest, err := readActions(ctx, t.store, c.name(), c.files[0].Size)
		if err != nil {
			return wrap(err)
		}
		for i := range manifest.actions {
			switch action := &manifest.actions[i]; {
			case action.Sidecar != nil:
				sidecars = append(sidecars, action.Sidecar)
			case action.Remove != nil:
				if err := each(action.Remove); err != nil {
					return err
				}
			}
		}
	} else {
		located, err := t.locate(ctx, c.files)
		if err != nil {
			return err
		}
		groups, err := t.groupByColumns(ctx, located)
		if err != nil {
			return wrap(err)
		}
		if sidecars, err = t.readSidecars(ctx, groups); err != nil {
			return wrap(err)
		}
		paths = located
	}
	for _, sidecar := range sidecars {
		local, err := t.locateSidecar(ctx, sidecar.Path)
		if err != nil {
			return err
		}
		paths = append(paths, local)
	}
	groups, err := t.groupByColumns(ctx, paths)
	if err != nil {
		return wrap(err)
	}
	for _, group := range groups {
		sql := removesSQL(group.columns, group.paths)
		if sql == "" {
			continue
		}
		err := t.parquet.Query(ctx, sql, nil, func(batch Batch) error {
			for row := range batch.Len() {
				text, _ := batch.Bytes(0, row)
				action, err := protocol.ParseAction(fmt.Appendf(nil, `{"remove":%s}`, text))
				if err != nil {
					return err
				}
				if err := each(action.Remove); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return wrap(err)
		}
	}
	return nil
}

// readSidecars gives the sidecar actions of Parquet files.
func (t *Table) readSidecars(ctx context.Context, groups []fileGroup) ([]*protocol.Sidecar, error) {
	return t.loadSingles(ctx, newState(), groups)
}

// removesSQL gives the remove actions as JSON; "" where the files can hold none.
func removesSQL(columns *duckType, paths []string) string {
	t := columns.field("remove")
	if t == nil {
		return ""
	}
	remove := &columnExpr{quoteName("remove"), t}
	path := remove.field("path")
	if path == nil {
		return ""
	}
	return "SELECT " + remove.actionJSON() + " FROM " + readParquet(paths) + " WHERE " + path.sql + " IS NOT NULL"
}
