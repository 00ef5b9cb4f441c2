package rewrite

import (
	"context"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
)

// RemoveWhere removes the files whose rows all satisfy a condition on partition columns, and reads none of them; nil is every
// file. decided is false, and nothing is staged, where partition values alone do not tell for each file whether its rows
// satisfy it.
func RemoveWhere(ctx context.Context, in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, p stats.Predicate) (a *Applied, decided bool, err error) {
	files, decided := decidedFiles(snapshot, p)
	if !decided {
		return nil, false, nil
	}
	a, err = RemoveFiles(ctx, in, tx, snapshot, files)
	return a, err == nil, err
}

// decidedFiles are the files whose rows satisfy the condition; false where some file may have both such rows and others.
func decidedFiles(snapshot *log.Snapshot, p stats.Predicate) ([]int32, bool) {
	if p == nil {
		p = stats.And{}
	}
	if !onPartitions(snapshot.Config(), p) {
		return nil, false
	}
	table := snapshot.Stats()
	keep := table.Prune(p).Keep
	// Values that cannot be decoded, and conditions beyond what statistics judge, keep a file whichever way they are asked.
	if doubt := table.PruneFiles(stats.Not{Of: p}, keep).Keep; len(doubt) > 0 {
		return nil, false
	}
	return keep, true
}

// onPartitions tells whether a condition is about partition columns alone. CHAR columns are compared padded with blanks, which
// their values in the log are not.
func onPartitions(config *protocol.TableConfig, p stats.Predicate) bool {
	partition := func(l stats.Leaf) bool {
		for _, i := range config.PartitionColumns {
			if len(l.Path) == 1 && l.Path[0] == config.PhysicalName(i) {
				_, char := scan.CharLength(config.Schema.Fields[i])
				return !char
			}
		}
		return false
	}
	each := func(list []stats.Predicate) bool {
		for _, member := range list {
			if !onPartitions(config, member) {
				return false
			}
		}
		return true
	}
	switch p := p.(type) {
	case stats.And:
		return each(p)
	case stats.Or:
		return each(p)
	case stats.Not:
		return p.Of != nil && onPartitions(config, p.Of)
	case stats.Compare:
		return partition(p.Leaf)
	case stats.IsNull:
		return partition(p.Leaf)
	case stats.IsNotNull:
		return partition(p.Leaf)
	case stats.InList:
		return partition(p.Leaf)
	case stats.Prefix:
		return partition(p.Leaf)
	case stats.Const, stats.Null:
		return true
	}
	return false
}

// RemoveFiles removes whole files of a snapshot with all their rows. No data are read, but for the number of rows where the
// statistics do not have it, and for change files where the transaction has some already.
func RemoveFiles(ctx context.Context, in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, files []int32) (*Applied, error) {
	a, err := newApplication(in, tx, snapshot, Options{})
	if err != nil {
		return nil, err
	}
	return a.finish(ctx, a.removeFiles(ctx, files))
}

func (a *application) removeFiles(ctx context.Context, files []int32) error {
	started := time.Now()
	live, err := liveRows(ctx, a.in, a.snapshot, files)
	if err != nil {
		return err
	}
	adds := make([]protocol.AddFile, len(files))
	for i, number := range files {
		adds[i] = a.snapshot.Files().Add(int(number))
		a.applied.Deleted += live[i]
		a.applied.removed(&adds[i])
	}
	if a.feeds && feedsAlready(a.tx) {
		written, err := feedFiles(ctx, a.in, a.tx, a.snapshot, files, deleteChange)
		if err != nil {
			return err
		}
		a.wrote(written)
		a.applied.ChangeFiles, a.applied.ChangeBytes = len(written.Changes), written.Bytes
	}
	err = a.tx.Remove(true, adds...)
	a.applied.Scan = time.Since(started)
	return err
}
