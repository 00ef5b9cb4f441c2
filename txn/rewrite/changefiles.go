package rewrite

import (
	"context"
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn"
	"deltasql/txn/log"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Readers of changes take a commit's change files for the whole truth where it has any, and else its added and removed files and
// their vectors. So a commit writes change files for all of its changes or for none, also where a transaction makes it of
// several statements: the first that needs them writes down what came before it, and all that come after write theirs.

// The kinds of changes.
const (
	insertChange    = "insert"
	deleteChange    = "delete"
	preimageChange  = "update_preimage"
	postimageChange = "update_postimage"
)

// feed writes the change files of the changed rows, if there are to be any. rewrites says that files are written anew, whose
// deleted rows nothing else would tell of.
func (a *application) feed(ctx context.Context, rewrites bool) error {
	if !a.feeds {
		return nil
	}
	_, _, before := a.tx.Staged()
	deletes := a.applied.Deleted > 0
	if before == 0 && a.applied.Updated == 0 && !(deletes && (rewrites || a.changes.ChangeFiles)) {
		return nil
	}
	f := &feeder{in: a.in, tx: a.tx}
	defer f.release()
	if before == 0 {
		if err := f.describeStaged(ctx, a.snapshot); err != nil {
			return err
		}
	}
	if a.changes.HasOld {
		if deletes || a.applied.Updated > 0 {
			kind := fmt.Sprintf("CASE WHEN %s THEN '%s' ELSE '%s' END", actionIn(Delete, DeleteBySource), deleteChange, preimageChange)
			f.parts = append(f.parts, a.changeRows("old", kind, Delete, DeleteBySource, Update, UpdateBySource))
		}
	} else {
		deleted, updated := map[int32]*roaring64.Bitmap{}, map[int32]*roaring64.Bitmap{}
		for number, file := range a.touched {
			deleted[number] = roaring64.AndNot(file.rows, file.updated)
			updated[number] = file.updated
		}
		if err := f.rows(ctx, a.snapshot, deleted, deleteChange); err != nil {
			return err
		}
		if err := f.rows(ctx, a.snapshot, updated, preimageChange); err != nil {
			return err
		}
	}
	if a.applied.Updated+a.applied.Inserted > 0 {
		kind := fmt.Sprintf("CASE WHEN %s THEN '%s' ELSE '%s' END", actionIn(Insert), insertChange, postimageChange)
		f.parts = append(f.parts, a.changeRows("new", kind, Update, UpdateBySource, Insert))
	}
	written, err := f.write(ctx)
	if err != nil {
		return err
	}
	a.wrote(written)
	a.applied.ChangeFiles += len(written.Changes)
	a.applied.ChangeBytes += written.Bytes
	return nil
}

// changeRows reads change rows from the table of changes.
func (a *application) changeRows(prefix, kind string, actions ...Action) string {
	return "SELECT " + strings.Join(a.values(prefix), ", ") + ", " + kind + fmt.Sprintf(" AS c%d", len(a.config.Schema.Fields)) +
		" FROM " + a.table + " WHERE " + actionIn(actions...)
}

// feeder collects queries of change rows.
type feeder struct {
	in        *duck.Instance
	tx        *txn.Transaction
	parts     []string
	args      []any
	relations []*scan.Relation
}

func (f *feeder) release() {
	for _, r := range f.relations {
		r.Release()
	}
}

// rows adds rows of a snapshot's files as changes of a kind.
func (f *feeder) rows(ctx context.Context, snapshot *log.Snapshot, rows map[int32]*roaring64.Bitmap, kind string) error {
	return f.add(ctx, snapshot, scan.Subset{Rows: rows}, kind)
}

// files adds all live rows of a snapshot's files as changes of a kind.
func (f *feeder) files(ctx context.Context, snapshot *log.Snapshot, files []int32, kind string) error {
	if len(files) == 0 {
		return nil
	}
	return f.add(ctx, snapshot, scan.Subset{Only: files}, kind)
}

func (f *feeder) add(ctx context.Context, snapshot *log.Snapshot, subset scan.Subset, kind string) error {
	relation, sql, err := keptRows(ctx, f.in, snapshot, subset, false, len(f.args)+1)
	if err != nil {
		return err
	}
	f.relations = append(f.relations, relation)
	if relation.Report.Read == 0 {
		return nil
	}
	n := len(relation.Columns)
	f.parts = append(f.parts, fmt.Sprintf("SELECT *, '%s' AS c%d FROM (%s)", kind, n, sql))
	f.args = append(f.args, relation.Args...)
	return nil
}

// write writes what was collected.
func (f *feeder) write(ctx context.Context) (*Written, error) {
	if len(f.parts) == 0 {
		return &Written{}, nil
	}
	written, err := writeRows(ctx, f.in, f.tx, Rows{SQL: strings.Join(f.parts, " UNION ALL "), Args: f.args, ChangeType: true}, Options{})
	for _, r := range f.relations {
		err = r.Diagnose(err)
	}
	return written, err
}

// describeStaged adds what the transaction has staged so far and its added and removed files told well enough until now: view is
// the transaction's view of the table before the statement that needs change files.
func (f *feeder) describeStaged(ctx context.Context, view *log.Snapshot) error {
	read := f.tx.Snapshot()
	if read == nil || read == view {
		return nil
	}
	if config := view.Config(); config.Metadata.SchemaString != read.Config().Metadata.SchemaString {
		// A statement has given the table columns: what went before it is told with these as well.
		actions := []protocol.Action{{Protocol: &config.Protocol}, {Metadata: &config.Metadata}}
		var err error
		if read, err = read.Overlay(log.Commit{Version: read.Version() + 1, Actions: actions}); err != nil {
			return err
		}
	}
	before := map[string]int32{}
	old, now := read.Files(), view.Files()
	for i := range old.Len() {
		before[protocol.PathKey(old.Path(i))] = int32(i)
	}
	var came, went []int32
	hidden := map[int32]*roaring64.Bitmap{}
	for i := range now.Len() {
		path := protocol.PathKey(now.Path(i))
		was, ok := before[path]
		if !ok {
			came = append(came, int32(i))
			continue
		}
		delete(before, path)
		if old.DeletionVector(int(was)).UniqueID() == now.DeletionVector(i).UniqueID() {
			continue
		}
		rows, err := scan.DeletedRows(ctx, view, int32(i))
		if err != nil {
			return err
		}
		known, err := scan.DeletedRows(ctx, read, was)
		if err != nil {
			return err
		}
		if known != nil {
			rows.AndNot(known)
		}
		hidden[was] = rows
	}
	for _, i := range before {
		went = append(went, i)
	}
	if err := f.files(ctx, read, went, deleteChange); err != nil {
		return err
	}
	if err := f.rows(ctx, read, hidden, deleteChange); err != nil {
		return err
	}
	return f.files(ctx, view, came, insertChange)
}

// feedFiles writes change files of whole files where the transaction has change files already: of the live rows of files of a
// snapshot, all as changes of one kind.
func feedFiles(ctx context.Context, in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, files []int32, kind string) (*Written, error) {
	f := &feeder{in: in, tx: tx}
	defer f.release()
	if err := f.files(ctx, snapshot, files, kind); err != nil {
		return nil, err
	}
	return f.write(ctx)
}

// feedInserted does so for files that were just added.
func feedInserted(ctx context.Context, in *duck.Instance, tx *txn.Transaction, added []protocol.AddFile) error {
	view, err := tx.View()
	if err != nil || view == nil || len(added) == 0 {
		return err
	}
	paths := map[string]bool{}
	for i := range added {
		paths[protocol.PathKey(added[i].Path)] = true
	}
	var files []int32
	for i := range view.Files().Len() {
		if paths[protocol.PathKey(view.Files().Path(i))] {
			files = append(files, int32(i))
		}
	}
	_, err = feedFiles(ctx, in, tx, view, files, insertChange)
	return err
}

// feedsAlready tells whether the transaction has change files, so that whatever else it changes must be in such files too.
func feedsAlready(tx *txn.Transaction) bool {
	_, _, changes := tx.Staged()
	return changes > 0
}
