package change

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// source is an INSERT's bound source.
type source struct {
	query    *expr.Query
	with     []*expr.CTE // of WITH before INSERT
	relation *expr.Relation
	width    int           // columns that the statement wrote; markers stand behind them
	markers  map[int]int   // of a column where some rows wrote DEFAULT for what is computed
	defaults map[int]bool  // columns where every row did
	marked   map[int]int64 // how many rows
	targets  []int         // columns of the schema that the source's go to by position, before BY NAME
	listed   bool          // the statement has a column list
	shared   []*expr.CTE   // by share: what whoever reads the source must stand under
}

func (s *source) column(i int) expr.Expr { return columnOf(s.relation, i) }

// source binds where the rows come from.
func (b *binding) source(s *parse.Insert) (*source, error) {
	in := &source{markers: map[int]int{}, defaults: map[int]bool{}, marked: map[int]int64{}, listed: s.HasColumns && len(s.Columns) > 0}
	var err error
	if in.targets, err = b.targets(s); err != nil {
		return nil, err
	}
	if in.with, err = b.build.With(s.With, s.Recursive); err != nil {
		return nil, err
	}
	values, isValues := valuesOf(s.Query)
	switch {
	case s.Default:
		in.query = b.emptyRows(max(s.DefaultRows, 1))
		in.targets, in.listed = nil, true
	case isValues:
		in.query, err = b.values(values, in)
	default:
		in.query, err = b.build.Query(s.Query)
		if err == nil {
			in.width = len(in.query.Columns)
		}
	}
	if err != nil {
		return nil, err
	}
	in.relation = b.build.Derived(in.query, "")
	return in, nil
}

// share makes the source a query that is computed once, however often the statement reads it.
func (b *binding) share(in *source) {
	once := b.build.Shared(in.query, "source")
	in.shared, in.with = append(in.with, once), nil
	in.relation = b.build.Read(once)
}

// valuesOf is a query that is VALUES and nothing else.
func valuesOf(q *parse.Query) (*parse.Values, bool) {
	if q == nil || len(q.With) > 0 || len(q.OrderBy) > 0 || q.OrderAll || q.Limit != nil || q.Offset != nil {
		return nil, false
	}
	v, ok := q.Body.(*parse.Values)
	return v, ok
}

// emptyRows is n rows without a column of their own.
func (b *binding) emptyRows(n int) *expr.Query {
	rows := b.build.Relation(expr.RelSQL, "")
	rows.SQL = "range(" + strconv.Itoa(n) + ")"
	rows.Columns = []expr.OutputColumn{{Name: "range", Out: "range", Type: protocol.DataType{Kind: protocol.KindLong}}}
	return b.build.Block(rows, []bind.Item{{Value: columnOf(rows, 0)}})
}

// targets are the columns that the source's go to by position: those of the column list, or all that PARTITION does not fix.
func (b *binding) targets(s *parse.Insert) ([]int, error) {
	if len(s.Columns) > 0 {
		return b.listed(s.Columns)
	}
	fixed := map[int]bool{}
	for _, p := range s.Partition {
		if p.Value != nil {
			fixed[b.schema.Lookup(p.Name.Name)] = true
		}
	}
	var out []int
	for i := range b.schema.Fields {
		if !fixed[i] {
			out = append(out, i)
		}
	}
	return out, nil
}

// listed finds the columns of a column list; a name may be qualified by the table's.
func (b *binding) listed(list []parse.Name) ([]int, error) {
	seen := map[int]bool{}
	out := make([]int, len(list))
	for i, name := range list {
		at := b.schema.Lookup(name[0].Name)
		if len(name) > 1 {
			if qualifies(b.table.Name, name[:len(name)-1]) {
				at = b.schema.Lookup(name[len(name)-1].Name)
			} else if at >= 0 {
				return nil, fail("UNSUPPORTED_FEATURE", name[0].Pos, "the column list of INSERT takes columns, not members of structs such as %s", spelled(name)).
					WithHint("give the whole struct, for example by named_struct")
			}
		}
		if at < 0 {
			return nil, b.unresolved(name)
		}
		if seen[at] {
			class := protocol.Class("COLUMN_ALREADY_EXISTS")
			if b.mysql() {
				class = "DELTASQL_COLUMN_SPECIFIED_TWICE"
			}
			return nil, fail(class, name[0].Pos, "the column `%s` stands twice in the column list", b.schema.Fields[at].Name)
		}
		seen[at] = true
		out[i] = at
	}
	return out, nil
}

// qualifies tells whether a qualifier is a tail of the table's name.
func qualifies(table []string, qualifier parse.Name) bool {
	if len(qualifier) > len(table) {
		return false
	}
	for i, part := range qualifier {
		if !strings.EqualFold(part.Name, table[len(table)-len(qualifier)+i]) {
			return false
		}
	}
	return true
}

func (b *binding) unresolved(name parse.Name) error {
	e := fail("UNRESOLVED_COLUMN.WITH_SUGGESTION", name[0].Pos, "%s has no column %s", b.table.shown(), spelled(name))
	near := parse.Nearest(name[len(name)-1].Name, names(b.schema.Fields))
	if len(near) == 0 {
		e.Class = "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
		return e
	}
	return e.WithHint("did you mean one of these: %s", ticked(near[:min(len(near), 3)]))
}

// cells says for each column of the table where its value comes from.
func (b *binding) cells(s *parse.Insert, in *source) ([]cell, error) {
	cells := make([]cell, len(b.schema.Fields))
	for i := range cells {
		cells[i] = cell{from: -1, marker: -1}
	}
	if err := b.partition(s.Partition, cells); err != nil {
		return nil, err
	}
	if s.ByName {
		return cells, b.byName(in, cells)
	}
	if err := b.arity(s, in); err != nil {
		return nil, err
	}
	for i := range in.width {
		at := in.targets[i]
		if cells[at].constant != nil {
			return nil, protocol.NewError("STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST", "column `%s` of %s has a value in PARTITION and stands in the column list too", b.schema.Fields[at].Name, b.table.shown())
		}
		if in.defaults[i] {
			continue
		}
		cells[at].from = i
		if marker, ok := in.markers[i]; ok {
			cells[at].marker, cells[at].marked = marker, in.marked[i]
		}
	}
	return cells, nil
}

// partition binds the PARTITION clause.
func (b *binding) partition(list []parse.PartitionAssign, cells []cell) error {
	for _, p := range list {
		at := b.schema.Lookup(p.Name.Name)
		if at < 0 || !b.table.Config.IsPartitionColumn(at) {
			return fail("NON_PARTITION_COLUMN", p.Name.Pos, "PARTITION cannot hold `%s`, which is no partition column of %s", p.Name.Name, b.table.shown())
		}
		if p.Value == nil {
			continue
		}
		value, err := b.build.Expression(p.Value, bind.Scope{})
		if err != nil {
			return err
		}
		f := b.schema.Fields[at]
		if value, err = b.assign.store(value, f.Type, string(f.Name)); err != nil {
			return err
		}
		cells[at].constant = b.partitionText(at, value)
	}
	return nil
}

// arity compares the source's width with the columns it goes to.
func (b *binding) arity(s *parse.Insert, in *source) error {
	have, want := in.width, len(in.targets)
	if have == want || in.targets == nil {
		return nil
	}
	message := fmt.Sprintf("cannot write to %s: %d columns are to be written but the data has %d", b.table.shown(), want, have)
	switch {
	case b.mysql():
		return protocol.NewError("INSERT_COLUMN_ARITY_MISMATCH", "%s", message)
	case in.listed && have > want:
		return protocol.NewError("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", "%s", message)
	case in.listed:
		return protocol.NewError("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", "%s", message)
	case have > want:
		return protocol.NewError("DELTA_METADATA_MISMATCH", "%s", message).WithHint("INSERT WITH SCHEMA EVOLUTION adds columns that the table lacks")
	}
	return protocol.NewError("DELTA_INSERT_COLUMN_ARITY_MISMATCH", "%s", message).WithHint("name the columns: INSERT INTO t (a, b) ...")
}

// byName matches the source's columns to the table's by name.
func (b *binding) byName(in *source, cells []cell) error {
	seen := map[string]bool{}
	var unknown []string
	for i := range in.width {
		name := in.query.Columns[i].Name
		if folded := strings.ToLower(name); seen[folded] {
			return protocol.NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "the data for %s has the column `%s` twice", b.table.shown(), name)
		} else {
			seen[folded] = true
		}
		at := b.schema.Lookup(name)
		if at < 0 {
			unknown = append(unknown, name)
			continue
		}
		if cells[at].constant != nil {
			return protocol.NewError("STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST", "column `%s` of %s has a value in PARTITION and one in the data too", name, b.table.shown())
		}
		cells[at].from = i
	}
	switch {
	case unknown == nil:
		return nil
	case in.width > len(b.schema.Fields):
		return protocol.NewError("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", "%s has no column %s", b.table.shown(), ticked(unknown))
	}
	return protocol.NewError("DELTA_METADATA_MISMATCH", "%s has no column %s", b.table.shown(), ticked(unknown)).
		WithHint("INSERT WITH SCHEMA EVOLUTION adds columns that the table lacks")
}

// fail makes an error at a place in the text; the zero Pos has none.
func fail(class protocol.Class, at parse.Pos, format string, args ...any) *protocol.Error {
	e := protocol.NewError(class, format, args...)
	if at.Line > 0 {
		e.At(at.Line, at.Column)
	}
	return e
}

// spelled is a name as messages show it.
func spelled(name parse.Name) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = "`" + strings.ReplaceAll(part.Name, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}
