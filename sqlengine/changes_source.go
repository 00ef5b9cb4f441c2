package sqlengine

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/sqlengine/expr"
	"deltasql/txn/log"
)

// changesSource is a range of a table's changes as a row source: the columns of the schema that the rows are shown in, then
// _change_type, _commit_version and _commit_timestamp. The range is empty where to is before from.
type changesSource struct {
	target   target
	table    *log.Table
	config   *protocol.TableConfig
	from, to int64
	columns  []expr.OutputColumn
}

// newChangesSource chooses the schema as scan.BuildChanges does: the latest one, or under column mapping that of the range's end.
func newChangesSource(ctx context.Context, t target, table *log.Table, from, to int64) (*changesSource, error) {
	latest, err := table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	s := &changesSource{target: t, table: table, config: latest.Config(), from: from, to: to}
	if s.config.Mapping != protocol.MappingNone && to != latest.Version() && from <= to {
		end, err := table.SnapshotAt(ctx, to)
		if err != nil {
			return nil, err
		}
		s.config = end.Config()
	}
	for _, field := range (&scan.Changes{Config: s.config}).ChangeFields() {
		s.columns = append(s.columns, expr.OutputColumn{Name: string(field.Name), Out: out(len(s.columns)), Type: field.Type, Nullable: true})
	}
	return s, nil
}

// Columns are the columns of the change rows.
func (s *changesSource) Columns() []expr.OutputColumn { return s.columns }

// PhysicalField implements duckgen.Nested.
func (s *changesSource) PhysicalField(column int, path []protocol.LogicalName) protocol.PhysicalName {
	if column >= len(s.config.Schema.Fields) {
		return protocol.PhysicalName(path[len(path)-1])
	}
	return physicalField(s.config.Schema.Fields[column].Type, path, s.config.Mapping)
}

// WholeColumn implements duckgen.Nested.
func (s *changesSource) WholeColumn(column int) string { return wholeColumn(s.config, column) }

// build makes the relation of the change rows; first is the number of its first placeholder.
func (s *changesSource) build(ctx context.Context, instance *duck.Instance, first int) (*scan.Relation, error) {
	if s.to < s.from {
		return s.empty()
	}
	changes, err := scan.BuildChanges(ctx, instance, scan.ChangeRequest{Table: s.table, From: s.from, To: s.to, FirstParameter: first})
	if err != nil {
		return nil, err
	}
	fields := changes.ChangeFields()
	for i := range fields {
		// A commit between binding and now may have changed the schema.
		if len(fields) != len(s.columns) || !fields[i].Type.Equal(s.columns[i].Type) {
			changes.Release()
			return nil, protocol.NewError("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE", "the schema of %s changed while the statement started", s.target.shown()).
				WithHint("run the statement again")
		}
	}
	return changes.Relation, nil
}

func (s *changesSource) empty() (*scan.Relation, error) {
	relation := &scan.Relation{}
	items := make([]string, len(s.columns))
	for i, c := range s.columns {
		kind, err := scan.TypeText(c.Type, s.config.Mapping)
		if err != nil {
			return nil, err
		}
		items[i] = "CAST(NULL AS " + kind + ") AS " + out(i)
		relation.Columns = append(relation.Columns, scan.Column{Name: out(i), Type: c.Type, Nullable: true})
	}
	relation.SQL = "SELECT " + strings.Join(items, ", ") + " WHERE false"
	return relation, nil
}
