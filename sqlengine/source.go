package sqlengine

import (
	"context"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn/log"
)

// tableSource is a table's snapshot as a row source: the schema's fields, then the hidden columns of _metadata.
type tableSource struct {
	target   target
	snapshot *log.Snapshot
	columns  []expr.OutputColumn
}

// Columns are the table's columns in order, hidden ones last.
func (s *tableSource) Columns() []expr.OutputColumn { return s.columns }

// newTableSource makes the source of a table. That of a table whose rows change numbers its files as well.
func newTableSource(t target, snapshot *log.Snapshot, numbered bool) *tableSource {
	s := &tableSource{target: t, snapshot: snapshot}
	for _, field := range snapshot.Config().Schema.Fields {
		char, _ := scan.CharLength(field)
		s.columns = append(s.columns, expr.OutputColumn{
			Name: string(field.Name), Out: out(len(s.columns)), Type: field.Type, Nullable: field.Nullable, CharLength: char,
		})
	}
	for _, h := range scan.Hidden(snapshot.Config()) {
		info := h.Info()
		s.columns = append(s.columns, expr.OutputColumn{Name: "_metadata." + info.Name, Out: out(len(s.columns)), Type: info.Type, Nullable: true, Hidden: true})
	}
	if numbered {
		s.columns = append(s.columns, expr.OutputColumn{Name: change.FileNumber, Out: out(len(s.columns)), Type: scan.FileNumber.Info().Type, Nullable: true, Hidden: true})
	}
	return s
}

// PhysicalField implements duckgen.Nested: under column mapping the members of a column have other names in the scan.
func (s *tableSource) PhysicalField(column int, path []protocol.LogicalName) protocol.PhysicalName {
	config := s.snapshot.Config()
	if column >= len(config.Schema.Fields) {
		return protocol.PhysicalName(path[len(path)-1])
	}
	return physicalField(config.Schema.Fields[column].Type, path, config.Mapping)
}

func physicalField(t protocol.DataType, path []protocol.LogicalName, mode protocol.MappingMode) protocol.PhysicalName {
	for k, name := range path {
		i := t.Lookup(string(name))
		if i < 0 {
			break
		}
		if k == len(path)-1 {
			return t.Fields[i].PhysicalName(mode)
		}
		t = t.Fields[i].Type
	}
	return protocol.PhysicalName(path[len(path)-1])
}

// WholeColumn implements duckgen.Nested.
func (s *tableSource) WholeColumn(column int) string { return wholeColumn(s.snapshot.Config(), column) }

func wholeColumn(config *protocol.TableConfig, column int) string {
	if column >= len(config.Schema.Fields) {
		return ""
	}
	const operand = "{0}"
	template, err := scan.LogicalColumn(config, column, operand)
	if err != nil || template == operand {
		return "" // a type that cannot be read is refused when the scan is built
	}
	return template
}

// leaf names a column of the scan, or a member below it, for statistics.
func leafOf(config *protocol.TableConfig, column int, path []protocol.LogicalName) (stats.Leaf, bool) {
	if column >= len(config.Schema.Fields) {
		return stats.Leaf{}, false
	}
	field := config.Schema.Fields[column]
	leaf := stats.Leaf{
		Path: []protocol.PhysicalName{config.PhysicalName(column)}, Type: field.Type,
		Partition: config.IsPartitionColumn(column), Name: string(field.Name),
	}
	for _, name := range path {
		if leaf.Type.Kind == protocol.KindFile {
			leaf.Type = protocol.DataType{Kind: protocol.KindStruct, Fields: protocol.FileLeaves()}
		}
		i := leaf.Type.Lookup(string(name))
		if leaf.Type.Kind != protocol.KindStruct || i < 0 {
			return stats.Leaf{}, false
		}
		member := leaf.Type.Fields[i]
		leaf.Path = append(leaf.Path, member.PhysicalName(config.Mapping))
		leaf.Type, leaf.Name = member.Type, leaf.Name+"."+string(member.Name)
	}
	return leaf, true
}

// out is how the printer calls column i of a relation.
func out(i int) string { return "c" + strconv.Itoa(i) }

// Table implements bind.Catalog.
func (st *statement) Table(ctx context.Context, ref *parse.TableRef, asOf *bind.AsOf) (bind.Resolved, error) {
	t, err := st.resolve(ctx, ref.Name)
	if err != nil {
		return bind.Resolved{}, err
	}
	switch {
	case t.view != nil:
		if asOf != nil || t.moment != nil {
			return bind.Resolved{}, at(protocol.NewError("UNSUPPORTED_FEATURE.TIME_TRAVEL", "time travel on the view %s is not supported", t.view.qualified()).
				WithHint("put the version into the view's query, or read its tables"), ref.Name)
		}
		if st.creating != nil && strings.EqualFold(st.creating.qualified(), t.view.qualified()) && (st.creating.Database == "") == (t.view.Database == "") {
			return bind.Resolved{}, at(protocol.NewError("RECURSIVE_VIEW", "the view %s would read itself", t.view.qualified()), ref.Name)
		}
		st.temporaries = st.temporaries || t.view.Database == ""
		return st.viewRelation(t.view)
	case t.format != "":
		if asOf != nil {
			return bind.Resolved{}, at(protocol.NewError("UNSUPPORTED_FEATURE.TIME_TRAVEL", "%s has no versions", t.shown()), ref.Name)
		}
		if t.system != nil {
			return bind.Resolved{Source: newSystemSource(t.system), Name: []string{t.database, t.name}}, nil
		}
		files, err := st.filesRelation(ctx, t)
		if err != nil {
			return bind.Resolved{}, at(err, ref.Name)
		}
		return bind.Resolved{SQL: files}, nil
	}
	st.temporaries = st.temporaries || t.temporary != nil
	snapshot, err := st.snapshot(ctx, t, asOf)
	if err != nil {
		return bind.Resolved{}, at(withTable(err, t), ref.Name)
	}
	resolved := bind.Resolved{Source: newTableSource(t, snapshot, st.tx != nil && snapshot.Table() == st.tx.Table())}
	if t.name != "" {
		resolved.Name = []string{t.database, t.name}
	}
	return resolved, nil
}

func (st *statement) viewRelation(v *view) (bind.Resolved, error) {
	query, err := v.parsed()
	if err != nil {
		return bind.Resolved{}, err
	}
	mode, err := parseSQLMode(v.SQLMode)
	if err != nil {
		return bind.Resolved{}, err
	}
	resolved := bind.Resolved{View: &bind.View{
		Name: v.qualified(), Query: query, Database: v.namesIn(), Columns: v.columnNames(),
		Dialect: v.dialect(), PipesAsConcat: mode.pipesAsConcat,
	}}
	if v.Database != "" {
		resolved.Name = []string{v.Database, v.Name}
	}
	return resolved, nil
}

// withTable names the table in an error of a lower layer that does not.
func withTable(err error, t target) error {
	if known, ok := err.(*protocol.Error); ok && known.Table == "" && !strings.Contains(known.Message, t.shown()) {
		known.Table = t.shown()
	}
	return err
}
