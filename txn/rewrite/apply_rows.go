package rewrite

import (
	"context"
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// keptRows reads rows of a snapshot's files as Rows has them: logical values, and with ids the rows' ids and versions.
func keptRows(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, subset scan.Subset, ids bool, firstParameter int) (*scan.Relation, string, error) {
	request := scan.Request{Snapshot: snapshot, Subset: subset, Unpadded: true, FirstParameter: firstParameter}
	n := len(snapshot.Config().Schema.Fields)
	for i := range n {
		request.Columns = append(request.Columns, i)
	}
	if ids {
		request.Hidden = []scan.HiddenColumn{scan.RowID, scan.RowCommitVersion}
	}
	relation, err := scan.Build(ctx, in, request)
	if err != nil {
		return nil, "", err
	}
	outputs := make([]string, len(relation.Columns))
	for i := range outputs {
		column := fmt.Sprintf("c%d", i)
		outputs[i] = relation.Logical(i, column) + " AS " + column
	}
	return relation, "SELECT " + strings.Join(outputs, ", ") + " FROM (" + relation.SQL + ")", nil
}

// newRows reads updated and inserted rows from the table of changes. Updated rows keep their ids and get the new version.
func (a *application) newRows(ids bool) (string, error) {
	outputs := a.values("new")
	if ids {
		id := "row_id"
		if !a.changes.HasRowIDs {
			if a.applied.Updated > 0 {
				return "", protocol.NewError(protocol.ClassInternal, "rows of %s are updated without their ids", a.tx.Table().Name())
			}
			id = "NULL"
		}
		n := len(outputs)
		outputs = append(outputs, fmt.Sprintf("CASE WHEN action <> %d THEN CAST(%s AS BIGINT) END AS c%d", Insert, id, n), fmt.Sprintf("CAST(NULL AS BIGINT) AS c%d", n+1))
	}
	return "SELECT " + strings.Join(outputs, ", ") + " FROM " + a.table + " WHERE " + actionIn(Update, UpdateBySource, Insert), nil
}

// values are the columns of the old or the new values under the names that Rows wants.
func (a *application) values(prefix string) []string {
	outputs := make([]string, len(a.config.Schema.Fields))
	for i := range outputs {
		outputs[i] = fmt.Sprintf("%s%d AS c%d", prefix, i, i)
	}
	return outputs
}

func actionIn(actions ...Action) string {
	texts := make([]string, len(actions))
	for i, action := range actions {
		texts[i] = fmt.Sprint(action)
	}
	return "action IN (" + strings.Join(texts, ", ") + ")"
}

// identity finds the bounds of identity columns among the inserted rows: what was there before moves no mark.
func (a *application) identity(ctx context.Context) error {
	var fields []int
	outputs := []string{"count(*)"}
	for i := range a.config.Schema.Fields {
		if _, ok := a.config.Schema.Fields[i].Metadata.Identity(); ok {
			fields = append(fields, i)
			outputs = append(outputs, fmt.Sprintf("min(new%d)", i), fmt.Sprintf("max(new%[1]d)", i))
		}
	}
	if len(fields) == 0 || a.applied.Inserted == 0 {
		return nil
	}
	stream, err := a.in.Query(ctx, "SELECT "+strings.Join(outputs, ", ")+" FROM "+a.table+" WHERE "+actionIn(Insert))
	if err != nil {
		return err
	}
	defer stream.Close()
	batch, err := stream.Next(ctx)
	if err != nil {
		return err
	}
	a.applied.Identity = map[protocol.LogicalName]Bounds{}
	for k, i := range fields {
		if low, high := batch.Vector(1+2*k), batch.Vector(2+2*k); low.Valid(0) {
			a.applied.Identity[a.config.Schema.Fields[i].Name] = Bounds{low.Int64(0), high.Int64(0)}
		}
	}
	return nil
}
