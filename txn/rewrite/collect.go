package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
)

// What this file does is to run the query of Changes, once, and to note which rows of which files change.

// columns are the names of the query's columns.
func (a *application) columns() string {
	names := []string{"file", `"row"`, "action"}
	each := func(prefix string) {
		for i := range a.config.Schema.Fields {
			names = append(names, fmt.Sprintf("%s%d", prefix, i))
		}
	}
	if a.changes.HasOld {
		each("old")
	}
	if a.changes.HasNew {
		each("new")
	}
	if a.changes.HasRowIDs {
		names = append(names, "row_id", "row_commit_version")
	}
	if a.changes.HasDiffers {
		names = append(names, "differs")
	}
	for i := range a.changes.Counts {
		names = append(names, fmt.Sprintf("count%d", i))
	}
	return strings.Join(names, ", ")
}

// collect runs the query. Rows with values are kept in a table of DuckDB, which spills to the disk; for rows that are only
// deleted their places suffice.
func (a *application) collect(ctx context.Context) error {
	from, args := "("+a.changes.SQL+") AS changes("+a.columns()+")", a.changes.Args
	if a.changes.HasNew || a.changes.HasOld {
		a.table = "changes_" + strings.ReplaceAll(uuid.NewString(), "-", "")
		if err := a.in.Exec(ctx, "CREATE TABLE "+a.table+" AS SELECT * FROM "+from, args...); err != nil {
			return err
		}
		from, args = a.table, nil
	}
	if err := a.collectFrom(ctx, from, args); err != nil {
		return err
	}
	counts, err := a.sums(ctx)
	if err != nil {
		return err
	}
	defer func() { a.applied.Counts = counts }()
	again, err := a.checkRepeated(ctx)
	if err != nil {
		return err
	}
	if again && a.table != "" {
		sql := fmt.Sprintf(`DELETE FROM %[1]s WHERE file IS NOT NULL AND rowid NOT IN (SELECT min(rowid) FROM %[1]s WHERE file IS NOT NULL GROUP BY file, "row")`, a.table)
		if err := a.in.Exec(ctx, sql); err != nil {
			return err
		}
		a.touched, a.applied = map[int32]*touched{}, &Applied{}
		if err := a.collectFrom(ctx, from, args); err != nil {
			return err
		}
	}
	for number, f := range a.touched {
		if f.rows.IsEmpty() {
			delete(a.touched, number) // all its rows are kept
		}
	}
	return nil
}

// sums adds up the columns of counts.
func (a *application) sums(ctx context.Context) ([]int64, error) {
	if a.changes.Counts == 0 {
		return nil, nil
	}
	items := make([]string, a.changes.Counts)
	for i := range items {
		items[i] = fmt.Sprintf("CAST(coalesce(sum(count%d), 0) AS BIGINT)", i)
	}
	stream, err := a.in.Query(ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+a.table)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	batch, err := stream.Next(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(items))
	for i := range counts {
		counts[i] = batch.Vector(i).Int64(0)
	}
	return counts, nil
}

// collectFrom reads where the changed rows lie.
func (a *application) collectFrom(ctx context.Context, from string, args []any) error {
	differs := "true"
	if a.changes.HasDiffers {
		differs = "differs"
	}
	stream, err := a.in.Query(ctx, `SELECT file, "row", action, `+differs+" FROM "+from, args...)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.collectBatch(batch); err != nil {
			return err
		}
	}
}

// collectBatch notes where the rows of a batch lie, and counts them.
func (a *application) collectBatch(batch *duck.Batch) error {
	files, rows, actions, differs := batch.Vector(0), batch.Vector(1), batch.Vector(2), batch.Vector(3)
	bad := func(format string, args ...any) error {
		return protocol.NewError(protocol.ClassInternal, "the changed rows of %s: %s", a.tx.Table().Name(), fmt.Sprintf(format, args...))
	}
	var f *touched
	for i := range batch.Len() {
		if !actions.Valid(i) {
			return bad("a row without an action")
		}
		action := Action(actions.Int64(i))
		if action == Insert {
			if !a.changes.HasNew {
				return bad("a row is inserted without values")
			}
			a.applied.Inserted++
			continue
		}
		if !files.Valid(i) && action == Keep {
			continue // a row of the source that does nothing
		}
		if !files.Valid(i) || !rows.Valid(i) {
			return bad("a row is changed that has no place")
		}
		number, row := files.Int64(i), rows.Int64(i)
		if number < 0 || number >= int64(a.snapshot.Files().Len()) || row < 0 {
			return bad("the row %d of the file %d, of %d", row, number, a.snapshot.Files().Len())
		}
		if f == nil || f.number != int32(number) {
			if f = a.touched[int32(number)]; f == nil {
				f = &touched{number: int32(number), rows: roaring64.New(), updated: roaring64.New(), kept: roaring64.New()}
				a.touched[f.number] = f
			}
		}
		f.given++
		switch action {
		case Keep:
			f.kept.Add(uint64(row))
		case Delete, DeleteBySource:
			if f.rows.CheckedAdd(uint64(row)) {
				a.applied.Deleted++
				if action == DeleteBySource {
					a.applied.DeletedBySource++
				}
			}
		case Update, UpdateBySource:
			if !a.changes.HasNew {
				return bad("a row is updated without values")
			}
			f.rows.Add(uint64(row))
			f.updated.Add(uint64(row))
			a.applied.Updated++
			if action == UpdateBySource {
				a.applied.UpdatedBySource++
			}
			if differs.Valid(i) && differs.Bool(i) {
				a.applied.Differing++
			}
		default:
			return bad("the action %d", action)
		}
	}
	return nil
}

// numbers are the touched files, ascending.
func (a *application) numbers() []int32 {
	numbers := make([]int32, 0, len(a.touched))
	for number := range a.touched {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}
