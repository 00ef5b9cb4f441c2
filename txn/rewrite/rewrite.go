package rewrite

import (
	"context"
	"slices"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn"
	"deltasql/txn/log"
)

// Rewrite writes files of a snapshot anew with the rows that they have: without the rows that vectors hide, under the names and in
// the types of the table as it will be, and with the ids and versions that the rows have. The rows of all files are packed into
// files of Options.TargetFileBytes, or with Options.Apart into at least one for each. For readers of changes nothing happens.
//
// The snapshot may have other names for the columns than the table will have (a change of column mapping), but must have the same
// columns in the same order.
func Rewrite(ctx context.Context, in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, files []int32, o Options) (*Applied, error) {
	a, err := newApplication(in, tx, snapshot, o)
	if err != nil {
		return nil, err
	}
	return a.finish(ctx, a.rewrite(ctx, files))
}

func (a *application) rewrite(ctx context.Context, files []int32) error {
	started := time.Now()
	live, err := liveRows(ctx, a.in, a.snapshot, files)
	if err != nil {
		return err
	}
	groups := [][]int32{files}
	if a.options.Apart {
		groups = slices.Collect(slices.Chunk(files, 1))
	}
	rows := int64(0)
	for i := range files {
		rows += live[i]
	}
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		if err := a.rewriteTogether(ctx, group); err != nil {
			return err
		}
	}
	if a.applied.Copied != rows {
		return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the log says that the files to be written anew have %d rows, but they have %d", rows, a.applied.Copied).
			WithTable(a.tx.Table().Name())
	}
	for _, number := range files {
		add := a.snapshot.Files().Add(int(number))
		if err := a.tx.Remove(false, add); err != nil {
			return err
		}
		a.applied.removed(&add)
	}
	a.applied.Rewrite = time.Since(started)
	return nil
}

// rewriteTogether packs the rows of some files.
func (a *application) rewriteTogether(ctx context.Context, files []int32) error {
	rows := Rows{Done: append(a.tx.Duties(), txn.Duty{Kind: txn.ChangeRows}, txn.Duty{Kind: txn.RowIDs}), RowIDs: a.tracked}
	relation, sql, err := keptRows(ctx, a.in, a.snapshot, scan.Subset{Only: files}, a.tracked, 1)
	if err != nil {
		return err
	}
	defer relation.Release()
	rows.SQL, rows.Args = sql, relation.Args
	o := a.options
	o.DataChange = false
	if len(o.OrderBy) > 0 {
		if o.SortBy, err = curveOrder(ctx, a.in, a.snapshot, files, o.OrderBy); err != nil {
			return err
		}
	}
	written, err := writeRows(ctx, a.in, a.tx, rows, o)
	if err != nil {
		return relation.Diagnose(err)
	}
	a.wrote(written)
	a.applied.added(written)
	a.applied.Copied += written.Rows
	return nil
}

// sizes are the spread of file sizes: the value at a share of the sorted sizes.
func (m *metrics) sizes(sizes []int64) {
	sorted := slices.Sorted(slices.Values(sizes))
	at := func(percent int) int64 {
		if len(sorted) == 0 {
			return 0
		}
		return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
	}
	m.count("minFileSize", at(0))
	m.count("p25FileSize", at(25))
	m.count("p50FileSize", at(50))
	m.count("p75FileSize", at(75))
	m.count("maxFileSize", at(100))
}
