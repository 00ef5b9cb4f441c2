package rewrite

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn"
	"deltasql/txn/log"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Action is what becomes of a row.
type Action int8

// The actions, as Changes.SQL has them.
const (
	// Keep is a row that stays as it is. It counts only where it comes a second time (Changes.Repeated). Without a place it is a row
	// of the source that does nothing.
	Keep Action = iota
	Delete
	Update
	Insert
	// DeleteBySource and UpdateBySource are Delete and Update by a MERGE's NOT MATCHED BY SOURCE; they differ in the metrics.
	DeleteBySource
	UpdateBySource
)

// Changes is a query that gives the rows that change, and how.
type Changes struct {
	// SQL is a SELECT whose columns are, by their positions:
	//
	//	file, row            BIGINT, scan.FileNumber and scan.RowIndex of the row in the snapshot; NULL for a row that is inserted
	//	action               an Action
	//	old values           with HasOld: the columns of the table's schema as they are, in the types of scan.TypeText
	//	new values           with HasNew: the columns of the schema as they will be, likewise; of no meaning for a row that is deleted or kept
	//	row id, row version  with HasRowIDs: scan.RowID and scan.RowCommitVersion of the row
	//	differs              with HasDiffers: BOOLEAN, whether an updated row is not as it was
	//	counts               BIGINT, as many as Counts says, whose sums over all rows go into Applied.Counts
	//
	// Members of structs have their logical names. Without HasNew there may be rows to delete only. Without HasOld what change
	// files tell of rows as they were is read from the files once more.
	SQL string
	// Args are the values of its parameters, the first of which is $1.
	Args                                  []any
	HasOld, HasNew, HasRowIDs, HasDiffers bool
	// Counts is how many columns of counts there are; they need HasNew.
	Counts int
	// A row that comes several times is an error of the class Repeated, empty for
	// DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE. AllowRepeatedDeletes lets it pass where the row is deleted every
	// time, and AllowRepeated always: then any one of its changes counts.
	AllowRepeatedDeletes, AllowRepeated bool
	Repeated                            protocol.Class
	// Keys are columns of the schema by which that error names rows, and FindRepeated a query that finds them all, for its hint.
	Keys         []int
	FindRepeated string
	// ChangeFiles wants change files also where deleted rows and inserted rows would be told by vectors and new files, as the reference
	// has it for MERGE.
	ChangeFiles bool
	// Done are the duties that the query discharges for the new values.
	Done []txn.Duty
}

// Apply changes rows of a table and stages that: rows that go are hidden by deletion vectors where the table has these switched on,
// otherwise their files are written anew without them; a file that loses all its rows is removed; new and updated rows go
// into new files; and where the table feeds changes, change files tell of it if the log would not.
//
// The snapshot is the one that the query's file numbers are about: the transaction's View, with whatever was staged before. The query
// runs once. Where nothing changes nothing is staged. Where Apply fails, what was staged before is as it was and no file of its
// is left; the error may be DuckDB's own, about the query.
func Apply(ctx context.Context, in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, c Changes, o Options) (*Applied, error) {
	a, err := newApplication(in, tx, snapshot, o)
	if err != nil {
		return nil, err
	}
	a.changes = c
	return a.finish(ctx, a.apply(ctx))
}

// application is one change of a table's rows.
type application struct {
	in       *duck.Instance
	tx       *txn.Transaction
	snapshot *log.Snapshot
	config   *protocol.TableConfig // as it will be
	options  Options
	changes  Changes
	applied  *Applied
	tracked  bool // rows keep their ids
	feeds    bool // the table feeds changes

	table     string // DuckDB's, of the changed rows; "" where there is none
	touched   map[int32]*touched
	savepoint *txn.Savepoint
	names     []string // files that were written, on the store
}

// touched is a file some of whose rows change.
type touched struct {
	number  int32
	add     protocol.AddFile
	rows    *roaring64.Bitmap // that change
	updated *roaring64.Bitmap // those of them that are updated
	kept    *roaring64.Bitmap // those that the query gave and that stay
	given   int64             // how many rows the query gave, repeated ones too
	live    int64             // rows before the change
	merged  *roaring64.Bitmap // all rows that are hidden after it
}

// records is how many rows the file holds.
func (f *touched) records() int64 {
	if f.add.DeletionVector != nil {
		return f.live + f.add.DeletionVector.Cardinality
	}
	return f.live
}

// left is how many rows stay.
func (f *touched) left() int64 { return f.live - int64(f.rows.GetCardinality()) }

func newApplication(in *duck.Instance, tx *txn.Transaction, snapshot *log.Snapshot, o Options) (*application, error) {
	config := tx.Config()
	if snapshot == nil || config == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "rows of %s are changed before it is made", tx.Table().Name())
	}
	if len(config.Schema.Fields) != len(snapshot.Config().Schema.Fields) {
		return nil, protocol.NewError(protocol.ClassInternal, "the snapshot of %s has %d columns, the table will have %d", tx.Table().Name(),
			len(snapshot.Config().Schema.Fields), len(config.Schema.Fields))
	}
	return &application{
		in: in, tx: tx, snapshot: snapshot, config: config, options: o, applied: &Applied{}, savepoint: tx.Savepoint(),
		tracked: config.Active("rowTracking") && snapshot.Config().Active("rowTracking"), feeds: config.Active("changeDataFeed"),
		touched: map[int32]*touched{},
	}, nil
}

// finish ends the change: what it made on the way goes, and if it failed everything does.
func (a *application) finish(ctx context.Context, err error) (*Applied, error) {
	after := context.WithoutCancel(ctx)
	if a.table != "" {
		// Where DuckDB was replaced after a fault of its own the table is gone with it.
		_ = a.in.Exec(after, "DROP TABLE IF EXISTS "+a.table)
	}
	if err != nil {
		return nil, errors.Join(err, a.tx.RollbackTo(a.savepoint), removeNames(after, a.tx, a.names))
	}
	return a.applied, nil
}

// removeNames deletes files, whatever has become of the context.
func removeNames(ctx context.Context, tx *txn.Transaction, names []string) error {
	ctx = context.WithoutCancel(ctx)
	var failures []error
	for _, name := range names {
		if err := tx.Table().Store().Delete(ctx, name); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func (a *application) apply(ctx context.Context) error {
	started := time.Now()
	if err := a.collect(ctx); err != nil {
		return err
	}
	a.applied.Scan = time.Since(started)
	if len(a.touched) == 0 && a.applied.Inserted == 0 {
		return nil
	}
	started = time.Now()
	if err := a.measure(ctx); err != nil {
		return err
	}
	rewritten, err := a.hide(ctx)
	if err != nil {
		return err
	}
	if err := a.feed(ctx, len(rewritten) > 0 || !takesVectors(a.config)); err != nil {
		return err
	}
	if err := a.write(ctx, rewritten); err != nil {
		return err
	}
	a.applied.Rewrite = time.Since(started)
	return nil
}

// measure finds out of each touched file how many live rows it has and which of its rows will be hidden.
func (a *application) measure(ctx context.Context) error {
	numbers := a.numbers()
	live, err := liveRows(ctx, a.in, a.snapshot, numbers)
	if err != nil {
		return err
	}
	return inParallel(ctx, len(numbers), func(i int) error {
		f := a.touched[numbers[i]]
		f.add, f.live = a.snapshot.Files().Add(int(f.number)), live[i]
		f.merged = f.rows
		old, err := scan.DeletedRows(ctx, a.snapshot, f.number)
		if err != nil {
			return err
		}
		if old != nil {
			if old.Intersects(f.rows) {
				return protocol.NewError(protocol.ClassInternal, "rows of %s are changed that were deleted before", f.add.Path)
			}
			old.Or(f.rows)
			f.merged = old
		}
		return protocol.CheckRowIndexes(f.merged, f.records())
	})
}

// liveRows counts the rows of files; those whose statistics do not have the number are asked themselves.
func liveRows(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, numbers []int32) ([]int64, error) {
	files := snapshot.Files()
	live, at := make([]int64, len(numbers)), map[int32]int{}
	var unknown []int32
	for i, number := range numbers {
		n, ok := files.NumRecords(int(number))
		if !ok {
			unknown = append(unknown, number)
			at[number] = i
			continue
		}
		live[i] = n - files.DeletedRows(int(number))
	}
	if len(unknown) == 0 {
		return live, nil
	}
	relation, err := scan.Build(ctx, in, scan.Request{Snapshot: snapshot, Hidden: []scan.HiddenColumn{scan.FileNumber}, Subset: scan.Subset{Only: unknown}})
	if err != nil {
		return nil, err
	}
	defer relation.Release()
	stream, err := in.Query(ctx, "SELECT c0, count(*) FROM ("+relation.SQL+") GROUP BY c0", relation.Args...)
	if err != nil {
		return nil, relation.Diagnose(err)
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return live, nil
		}
		if err != nil {
			return nil, relation.Diagnose(err)
		}
		for i := range batch.Len() {
			live[at[int32(batch.Vector(0).Int64(i))]] = batch.Vector(1).Int64(i)
		}
	}
}

// hide stages the end of the changed rows: files without rows are removed, of others the vectors grow. It gives the files that must
// be written anew.
func (a *application) hide(ctx context.Context) (rewritten []*touched, err error) {
	var hidden []*touched
	var bitmaps []*roaring64.Bitmap
	for _, number := range a.numbers() {
		f := a.touched[number]
		switch {
		case f.left() == 0:
			if err := a.tx.Remove(true, f.add); err != nil {
				return nil, err
			}
			a.applied.removed(&f.add)
		case takesVectors(a.config):
			hidden = append(hidden, f)
			bitmaps = append(bitmaps, f.merged)
		default:
			rewritten = append(rewritten, f)
		}
	}
	vectors, names, err := WriteVectors(ctx, a.tx, bitmaps)
	if err != nil {
		return nil, err
	}
	a.names = append(a.names, names...)
	for i, f := range hidden {
		before := f.records() - f.live
		statistics, err := wideStatistics(f.add.Stats, f.records(), before)
		if err != nil {
			return nil, err
		}
		if err := a.tx.UpdateVector(f.add, vectors[i], statistics); err != nil {
			return nil, err
		}
		a.applied.VectorsAdded++
		if f.add.DeletionVector != nil {
			a.applied.VectorsUpdated++
			a.applied.VectorsRemoved++
		}
	}
	return rewritten, nil
}

// write writes the new rows, and with them those that stay of files that are written anew.
func (a *application) write(ctx context.Context, rewritten []*touched) error {
	news := a.applied.Updated+a.applied.Inserted > 0
	if !news && len(rewritten) == 0 {
		return nil
	}
	rows := Rows{Done: a.tx.Duties(), RowIDs: a.tracked && (len(rewritten) > 0 || a.applied.Updated > 0)}
	var parts []string
	var kept *scan.Relation
	if len(rewritten) > 0 {
		subset := scan.Subset{Minus: map[int32]*roaring64.Bitmap{}}
		for _, f := range rewritten {
			subset.Only = append(subset.Only, f.number)
			subset.Minus[f.number] = f.rows
			a.applied.Copied += f.left()
		}
		relation, sql, err := keptRows(ctx, a.in, a.snapshot, subset, rows.RowIDs, 1)
		if err != nil {
			return err
		}
		defer relation.Release()
		kept, parts, rows.Args = relation, append(parts, sql), relation.Args
	}
	if news {
		sql, err := a.newRows(rows.RowIDs)
		if err != nil {
			return err
		}
		parts = append(parts, sql)
		rows.Done = slices.Clone(a.changes.Done) // of kept rows all duties were done before
		if err := a.identity(ctx); err != nil {
			return err
		}
	}
	rows.SQL = strings.Join(parts, " UNION ALL ")
	rows.Done = append(rows.Done, txn.Duty{Kind: txn.ChangeRows}, txn.Duty{Kind: txn.RowIDs})
	o := a.options
	o.DataChange = true
	written, err := writeRows(ctx, a.in, a.tx, rows, o)
	if err != nil {
		return kept.Diagnose(err)
	}
	a.applied.added(written)
	a.wrote(written)
	if wanted := a.applied.Copied + a.applied.Updated + a.applied.Inserted; written.Rows != wanted {
		return protocol.NewError(protocol.ClassInternal, "%d rows of %s were written instead of %d", written.Rows, a.tx.Table().Name(), wanted)
	}
	for _, f := range rewritten {
		if err := a.tx.Remove(true, f.add); err != nil {
			return err
		}
		a.applied.removed(&f.add)
	}
	return nil
}

// wrote remembers the names of files in case the change fails later.
func (a *application) wrote(w *Written) { a.names = append(a.names, storeNames(w)...) }

// storeNames are the names on the store of what was written.
func storeNames(w *Written) []string {
	var names []string
	note := func(path string) {
		if name, absolute, err := protocol.DecodePath(path); err == nil && !absolute {
			names = append(names, name)
		}
	}
	for i := range w.Files {
		note(w.Files[i].Path)
	}
	for i := range w.Changes {
		note(w.Changes[i].Path)
	}
	return names
}
