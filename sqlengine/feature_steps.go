package sqlengine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// steps runs what a change of a table needs in commits of its own, in their order. Each step looks at the table as it is when its
// turn comes, and what is done stands: a statement that was interrupted is run again and begins with what is left.
func (st *statement) steps(t target, table *log.Table, list []ddl.Step) error {
	for _, step := range list {
		if err := st.step(t, table, step); err != nil {
			return withTable(err, t)
		}
	}
	return nil
}

func (st *statement) step(t target, table *log.Table, step ddl.Step) error {
	switch step.Kind {
	case ddl.StepCommit, ddl.StepRewrite, ddl.StepDowngrade:
		return st.commitStep(t, table, step)
	case ddl.StepRecommit:
		return st.recommit(t, table, step)
	case ddl.StepTombstones:
		return st.tombstones(t, table, step)
	case ddl.StepBarrier:
		return st.barrier(t, table, step)
	case ddl.StepCleanUp:
		return st.cleanUp(table, step)
	case ddl.StepHistory:
		return st.searchHistory(table, step)
	case ddl.StepTruncated:
		extent, err := table.Extent(st.ctx)
		if err == nil && (extent.Checkpoint < step.Before || extent.Commit >= 0 && extent.Commit < step.Before) {
			return step.Refusal
		}
		return err
	case ddl.StepCheckpoint:
		snapshot, err := table.Snapshot(st.ctx)
		if err == nil {
			_, err = table.Checkpoint(st.ctx, snapshot, st.upkeep())
		}
		if err != nil {
			st.warn(warningLog, "the last checkpoint could not be written: %v", err)
		}
		return nil
	case ddl.StepStop:
		return step.Refusal
	}
	return protocol.NewError(protocol.ClassInternal, "a step of an unknown kind: %s", step)
}

func (st *statement) upkeep() log.Upkeep { return log.Upkeep{Now: st.session.now, NewID: newID} }

// commitStep commits what a step changes of the definition, with the files that it has written anew.
func (st *statement) commitStep(t target, table *log.Table, step ddl.Step) error {
	_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		view, err := tx.View()
		if err != nil {
			return nil, err
		}
		operation := step.Operation
		if step.Kind == ddl.StepDowngrade {
			now, err := st.dropState(table, view)
			if err != nil {
				return nil, err
			}
			if err := now.Revalidate(step.Feature); err != nil {
				return nil, err
			}
			operation.Revalidate = func(winner int64) error {
				snapshot, err := table.SnapshotAt(st.ctx, winner)
				if err != nil {
					return err
				}
				now, err := st.dropState(table, snapshot)
				if err != nil {
					return err
				}
				return now.Revalidate(step.Feature)
			}
		}
		made, err := step.Change(state(view), st.env())
		if err != nil {
			return nil, err
		}
		if err := st.stage(tx, made); err != nil {
			return nil, err
		}
		if err := st.rewriteFiles(tx, view, step.Files); err != nil {
			return nil, err
		}
		if !tx.Changed() {
			return nil, nil
		}
		return &operation, nil
	})
	return err
}

// rewriteFiles writes files anew inside a transaction, without changing rows.
func (st *statement) rewriteFiles(tx *txn.Transaction, view *log.Snapshot, set ddl.FileSet) error {
	if set == ddl.FilesNone {
		return nil
	}
	files, err := st.filesIn(view, set)
	if err != nil || len(files) == 0 {
		return err
	}
	if err := st.admit(); err != nil {
		return err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return err
	}
	_, err = rewrite.Rewrite(st.progress(), instance, tx, view, files, rewrite.Options{})
	return translate(err, "")
}

// filesIn are the live files of a set, by number.
func (st *statement) filesIn(view *log.Snapshot, set ddl.FileSet) ([]int32, error) {
	files := view.Files()
	var is func(i int) bool
	switch set {
	case ddl.FilesAll:
		is = func(int) bool { return true }
	case ddl.FilesWithVectors:
		is = func(i int) bool { return files.DeletionVector(i) != nil }
	case ddl.FilesWithRowIDs, ddl.FilesWithoutRowID:
		is = func(i int) bool {
			_, id := files.BaseRowID(i)
			_, version := files.DefaultRowCommitVersion(i)
			if set == ddl.FilesWithRowIDs {
				return id || version
			}
			return !id || !version
		}
	case ddl.FilesClustered:
		is = func(i int) bool { return files.Add(i).ClusteringProvider != "" }
	case ddl.FilesCollated:
		is = func(i int) bool { return strings.Contains(string(files.RawStats(i)), `"statsWithCollation"`) }
	case ddl.FilesShredded:
		return scan.FilesShredded(st.ctx, view)
	case ddl.FilesOfOldTypes:
		instance, err := st.session.engine.duck()
		if err != nil {
			return nil, err
		}
		return scan.FilesOfOldTypes(st.ctx, instance, view)
	default:
		return nil, protocol.NewError(protocol.ClassInternal, "an unknown set of files: %s", set)
	}
	var list []int32
	for i := range files.Len() {
		if is(i) {
			list = append(list, int32(i))
		}
	}
	return list, nil
}

// recommit describes files anew in commits of so many files each, until none of the set is left.
func (st *statement) recommit(t target, table *log.Table, step ddl.Step) error {
	for n := 0; ; n++ {
		more := false
		_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
			view, err := tx.View()
			if err != nil {
				return nil, err
			}
			list, err := st.filesIn(view, step.Files)
			if err != nil {
				return nil, err
			}
			more = step.BatchFiles > 0 && len(list) > step.BatchFiles
			if more {
				list = list[:step.BatchFiles]
			}
			for _, i := range list {
				add := view.Files().Add(int(i))
				add.DataChange = false
				switch step.Files {
				case ddl.FilesWithRowIDs:
					add.BaseRowID, add.DefaultRowCommitVersion = nil, nil
				case ddl.FilesClustered:
					add.ClusteringProvider = ""
				case ddl.FilesCollated:
					if add.Stats, err = stats.WithoutMember(add.Stats, "statsWithCollation"); err != nil {
						return nil, err
					}
				}
				if err := tx.AddAgain(add); err != nil {
					return nil, err
				}
			}
			made, err := step.Change(state(view), st.env())
			if err != nil {
				return nil, err
			}
			if err := st.stage(tx, made); err != nil {
				return nil, err
			}
			if !tx.Changed() {
				return nil, nil
			}
			operation := step.Batch(n)
			return &operation, nil
		})
		if err != nil || !more {
			return err
		}
	}
}

// tombstones commits a remove for each file of vectors that removed files in the retention refer to.
func (st *statement) tombstones(t target, table *log.Table, step ddl.Step) error {
	_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		snapshot := tx.Snapshot()
		named, there := map[string]bool{}, map[string]bool{}
		for remove, err := range snapshot.Tombstones(st.ctx) {
			if err != nil {
				return nil, err
			}
			if remove.DeletionVector == nil {
				there[remove.Path] = true
				continue
			}
			path, absolute, err := remove.DeletionVector.Path()
			if err != nil {
				return nil, err
			}
			if path != "" && !absolute {
				named[protocol.EncodePath(path)] = true
			}
		}
		for path := range named {
			if there[path] {
				continue
			}
			if err := tx.Tombstone(path); err != nil {
				return nil, err
			}
		}
		operation := step.Operation
		operation.AllowEmpty = true
		return &operation, nil
	})
	return err
}

// barrier makes an empty commit, writes a checkpoint there and reads the table from it, a few times if it must.
func (st *statement) barrier(t target, table *log.Table, step ddl.Step) error {
	var failure error
	for range 3 {
		_, err := st.changeTable(t, table, func(*txn.Transaction) (*txn.Operation, error) {
			operation := step.Operation
			operation.AllowEmpty = true
			return &operation, nil
		})
		if err != nil {
			return err
		}
		snapshot, err := table.Snapshot(st.ctx)
		if err != nil {
			return err
		}
		if _, err = table.Checkpoint(st.ctx, snapshot, st.upkeep()); err == nil {
			err = st.verify(table, snapshot)
		}
		if err == nil {
			return nil
		}
		failure = err
	}
	if step.Refusal != nil {
		return step.Refusal.WithCause(failure)
	}
	return failure
}

// verify reads a version with nothing known of it, which takes the newest checkpoint, and compares.
func (st *statement) verify(table *log.Table, want *log.Snapshot) error {
	fresh := log.OpenTable(table.Store(), table.Name(), st.session.engine.catalog.parquet)
	got, err := fresh.SnapshotAt(st.ctx, want.Version())
	if err != nil {
		return err
	}
	name := protocol.VersionName(want.Version()) + ".checkpoint"
	rests := slices.ContainsFunc(got.Segment().Files(), func(file string) bool { return strings.Contains(file, name) })
	if !rests || got.Files().Len() != want.Files().Len() || got.Files().SizeBytes() != want.Files().SizeBytes() {
		return fmt.Errorf("the checkpoint of version %d does not give the version back", want.Version())
	}
	return nil
}

// cleanUp deletes the part of the log that is older than a step says.
func (st *statement) cleanUp(table *log.Table, step ddl.Step) error {
	snapshot, err := table.Snapshot(st.ctx)
	if err != nil {
		return err
	}
	unit := 24 * time.Hour
	if step.Granularity == ddl.GranularityMinute {
		unit = time.Minute
	}
	before := st.session.now().Add(-time.Duration(step.RetentionMillis) * time.Millisecond).UTC().Truncate(unit)
	_, err = table.CleanUp(st.ctx, snapshot, before, st.upkeep())
	return err
}

// searchHistory refuses the step where what is left of the log uses the feature.
func (st *statement) searchHistory(table *log.Table, step ddl.Step) error {
	extent, err := table.Extent(st.ctx)
	if err != nil {
		return err
	}
	if extent.Checkpoint >= 0 {
		old, err := table.SnapshotAt(st.ctx, extent.Checkpoint)
		if err != nil {
			return err
		}
		metadata := old.Config().Metadata
		if ddl.HistoryTrace(step.Feature, protocol.Action{Metadata: &metadata}) {
			return step.Refusal
		}
		for i := range old.Files().Len() {
			add := old.Files().Add(i)
			if ddl.HistoryTrace(step.Feature, protocol.Action{Add: &add}) {
				return step.Refusal
			}
		}
	}
	newest, err := table.Snapshot(st.ctx)
	if err != nil || extent.Commit < 0 {
		return err
	}
	for commit, err := range table.Commits(st.ctx, extent.Commit, newest.Version()) {
		if err != nil {
			return err
		}
		for _, action := range commit.Actions {
			if ddl.HistoryTrace(step.Feature, action) {
				return step.Refusal
			}
		}
	}
	return nil
}
