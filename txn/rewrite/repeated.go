package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

const (
	shownRepeated = 5  // rows that the error of a repeated row names
	shownKey      = 60 // characters of a key's value in it
)

// checkRepeated refuses rows that came several times; again tells that there are some, which is allowed.
func (a *application) checkRepeated(ctx context.Context) (again bool, err error) {
	for _, number := range a.numbers() {
		f := a.touched[number]
		if f.given == int64(f.rows.GetCardinality()+f.kept.GetCardinality()) && !f.rows.Intersects(f.kept) {
			continue
		}
		if a.changes.AllowRepeated || a.changes.AllowRepeatedDeletes && f.updated.IsEmpty() && f.kept.IsEmpty() {
			again = true
			continue
		}
		return false, a.repeated(ctx, f)
	}
	return again, nil
}

// repeated is the error of rows that came several times, of which f has one: it counts them and names some by their keys.
func (a *application) repeated(ctx context.Context, f *touched) error {
	class := a.changes.Repeated
	if class == "" {
		class = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
	}
	table := a.tx.Table().Name()
	message := fmt.Sprintf("a row of the table %s would be changed by more than one row of the source, and it is open which of them counts", table)
	if a.table != "" && len(a.changes.Keys) > 0 {
		rows, count, err := a.repeatedRows(ctx)
		if err != nil {
			return err
		}
		message = fmt.Sprintf("%d rows of the table %s would be changed by more than one row of the source each, and it is open which of them counts: %s", count, table, strings.Join(rows, ", "))
		if count == 1 {
			message = fmt.Sprintf("a row of the table %s would be changed by more than one row of the source, and it is open which of them counts: %s", table, rows[0])
		} else if int64(len(rows)) < count {
			message += ", ..."
		}
	}
	hint := "make the source have one row for each row that it matches"
	if a.changes.FindRepeated != "" {
		hint += "; these are the rows: " + a.changes.FindRepeated
	}
	return protocol.NewError(class, "%s (data file %s)", message, a.snapshot.Files().Path(int(f.number))).WithTable(table).WithHint("%s", hint)
}

// repeatedRows counts the rows that came several times and shows the keys of the first of them. DuckDB does the counting, which spills.
func (a *application) repeatedRows(ctx context.Context) (shown []string, count int64, err error) {
	places, err := a.repeatedPlaces(ctx)
	if err != nil {
		return nil, 0, err
	}
	subset, times := scan.Subset{Rows: map[int32]*roaring64.Bitmap{}}, map[[2]int64]int64{}
	for _, p := range places {
		count, times[[2]int64{p[0], p[1]}] = p[3], p[2]
		rows := subset.Rows[int32(p[0])]
		if rows == nil {
			rows = roaring64.New()
			subset.Rows[int32(p[0])] = rows
		}
		rows.Add(uint64(p[1]))
	}
	relation, err := scan.Build(ctx, a.in, scan.Request{Snapshot: a.snapshot, Columns: a.changes.Keys, Hidden: []scan.HiddenColumn{scan.FileNumber, scan.RowIndex}, Subset: subset})
	if err != nil {
		return nil, 0, err
	}
	defer relation.Release()
	n := len(a.changes.Keys)
	items := []string{fmt.Sprintf("c%d", n), fmt.Sprintf("c%d", n+1)}
	for i := range n {
		items = append(items, fmt.Sprintf("CAST(%s AS VARCHAR)", relation.Logical(i, fmt.Sprintf("c%d", i))))
	}
	stream, err := a.in.Query(ctx, "SELECT "+strings.Join(items, ", ")+" FROM ("+relation.SQL+") ORDER BY 1, 2", relation.Args...)
	if err != nil {
		return nil, 0, relation.Diagnose(err)
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return shown, count, nil
		}
		if err != nil {
			return nil, 0, relation.Diagnose(err)
		}
		for row := range batch.Len() {
			keys := make([]string, n)
			for i, column := range a.changes.Keys {
				value := "NULL"
				if v := batch.Vector(2 + i); v.Valid(row) {
					value = shortened(v.Text(row))
				}
				keys[i] = string(a.snapshot.Config().Schema.Fields[column].Name) + " = " + value
			}
			place := [2]int64{batch.Vector(0).Int64(row), batch.Vector(1).Int64(row)}
			shown = append(shown, fmt.Sprintf("(%s) by %d", strings.Join(keys, ", "), times[place]))
		}
	}
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > shownKey {
		return string(runes[:shownKey]) + "..."
	}
	return text
}

// repeatedPlaces are up to shownRepeated places that came several times: file, row, how often, and how many such places there are.
func (a *application) repeatedPlaces(ctx context.Context) (out [][4]int64, err error) {
	stream, err := a.in.Query(ctx, fmt.Sprintf(`SELECT file, "row", count(*), count(*) OVER () FROM %s WHERE file IS NOT NULL GROUP BY file, "row" HAVING count(*) > 1 ORDER BY file, "row" LIMIT %d`,
		a.table, shownRepeated))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range batch.Len() {
			var place [4]int64
			for i := range place {
				place[i] = batch.Vector(i).Int64(row)
			}
			out = append(out, place)
		}
	}
}
