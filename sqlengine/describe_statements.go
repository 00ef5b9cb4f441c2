package sqlengine

import (
	"math"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// describe answers DESCRIBE in its forms.
func (st *statement) describe(s *parse.Describe) (*Result, error) {
	if s.JSON {
		return nil, placed(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "DESCRIBE ... AS JSON is not supported by this version"), s.Pos)
	}
	switch s.What {
	case "QUERY":
		return st.describeQuery(s.Query)
	case "DATABASE":
		return st.describeDatabase(s)
	case "DETAIL":
		return st.describeDetail(s)
	case "HISTORY":
		return st.describeHistory(s)
	case "TABLE":
		return st.describeTable(s)
	}
	return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "DESCRIBE %s is not supported by this version", s.What).At(s.Pos.Line, s.Pos.Column)
}

// named is the target of a statement that takes a name or a quoted path.
func (st *statement) named(name parse.Name, path string) (target, error) {
	if path != "" {
		return st.resolvePath("delta", path)
	}
	return st.resolve(st.ctx, name)
}

// tableNamed is named for the statements that only Delta tables have. A path without a table is, for them, one error.
func (st *statement) tableNamed(name parse.Name, path, doing string) (target, *log.Table, error) {
	t, err := st.named(name, path)
	if err != nil {
		if protocol.ClassOf(err) == "DELTA_PATH_DOES_NOT_EXIST" {
			known := err.(*protocol.Error)
			known.Class, known.Message = "DELTA_TABLE_ONLY_OPERATION", known.Message+"; "+doing+" is only supported for Delta tables"
		}
		return t, nil, err
	}
	table, err := st.table(t, doing)
	return t, table, at(err, name)
}

// subject is a table with a snapshot for the metadata functions.
func (st *statement) subject(t target, asOf *bind.AsOf) (meta.Subject, error) {
	snapshot, err := st.snapshot(st.ctx, t, asOf)
	if err != nil {
		return meta.Subject{}, withTable(err, t)
	}
	s := meta.Subject{Location: t.path, Snapshot: snapshot}
	if t.name != "" {
		s.Catalog, s.Database, s.Name, s.Temporary = catalogName, t.database, t.name, t.temporary != nil
		external, err := st.session.engine.catalog.external(st.ctx, t.database, t.name)
		if err != nil {
			return meta.Subject{}, err
		}
		s.Managed = external == nil || external.Location != t.path
	}
	return s, nil
}

func (st *statement) describeTable(s *parse.Describe) (*Result, error) {
	t, err := st.resolve(st.ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if st.mysql() && !s.Extended {
		return st.describeToMySQL(t, s)
	}
	if t.view != nil {
		return st.describeView(t.view, s)
	}
	if t.format != "" {
		ref := &parse.TableRef{Pos: s.Pos, Name: s.Name}
		return st.describeQuery(&parse.Query{Body: &parse.TableBody{Table: ref}})
	}
	moment, err := st.moment(s.AsOf)
	if err != nil {
		return nil, err
	}
	subject, err := st.subject(t, moment)
	if err != nil {
		return nil, at(err, s.Name)
	}
	if len(s.Column) == 0 {
		return st.metaResult(meta.Describe(subject, s.Extended))
	}
	schema := subject.Snapshot.Config().Schema
	if len(s.Column) > 1 {
		return nil, at(protocol.NewError("UNSUPPORTED_FEATURE.DESC_TABLE_COLUMN", "DESCRIBE of a member of a column (%s) is not supported", written(s.Column)).
			WithHint("DESCRIBE the column %s", s.Column[0].Name), s.Column)
	}
	i := schema.Lookup(s.Column[0].Name)
	if i < 0 {
		return nil, at(unknownColumn(s.Column[0].Name, t, schema), s.Column)
	}
	return st.metaResult(meta.DescribeColumn(subject, schema.Fields[i]))
}

// unknownColumn is the error of a column that a table does not have, with the nearest name.
func unknownColumn(name string, t target, schema protocol.DataType) error {
	names := make([]string, len(schema.Fields))
	for i, field := range schema.Fields {
		names[i] = string(field.Name)
	}
	err := protocol.NewError("UNRESOLVED_COLUMN.WITH_SUGGESTION", "%s has no column %s", t.shown(), name)
	if near := parse.Meant(name, names); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("its columns are %s", strings.Join(names, ", "))
}

func (st *statement) describeQuery(query *parse.Query) (*Result, error) {
	bound, err := bind.Query(st.ctx, query, st.bindOptions())
	if err != nil {
		return nil, err
	}
	return st.metaResult(meta.DescribeFields(outputColumns(bound.Columns), nil))
}

func (st *statement) describeView(v *view, s *parse.Describe) (*Result, error) {
	if len(s.Column) > 0 {
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "DESCRIBE of one column of a view is not supported").At(s.Pos.Line, s.Pos.Column)
	}
	columns, err := st.viewColumns(v)
	if err != nil {
		return nil, err
	}
	comments := make([]*string, len(v.Columns))
	for i, c := range v.Columns {
		comments[i] = c.Comment
	}
	table := meta.DescribeFields(columns, comments)
	if s.Extended {
		entries := [][2]string{{"Catalog", catalogName}}
		if v.Database != "" {
			entries = append(entries, [2]string{"Database", v.Database})
		}
		entries = append(entries, [2]string{"Table", v.Name}, [2]string{"Type", "VIEW"})
		if v.Comment != "" {
			entries = append(entries, [2]string{"Comment", v.Comment})
		}
		entries = append(entries, [2]string{"View Text", v.Query}, [2]string{"View Catalog and Namespace", catalogName + "." + v.Current})
		for _, p := range v.Properties {
			entries = append(entries, [2]string{"Property " + p[0], p[1]})
		}
		table = meta.WithBlock(table, "# Detailed Table Information", entries)
	}
	return st.metaResult(table)
}

// viewColumns binds a view as a statement would use it.
func (st *statement) viewColumns(v *view) ([]meta.Column, error) {
	name := parse.Name{{Name: v.Name, Quoted: true}}
	if v.Database != "" {
		name = append(parse.Name{{Name: v.Database, Quoted: true}}, name...)
	}
	query := &parse.Query{Body: &parse.TableBody{Table: &parse.TableRef{Name: name}}}
	bound, err := bind.Query(st.ctx, query, st.bindOptions())
	if err != nil {
		return nil, err
	}
	return outputColumns(bound.Columns), nil
}

func (st *statement) describeDatabase(s *parse.Describe) (*Result, error) {
	name := s.Name
	if len(name) == 2 && isCatalog(name[0].Name) {
		name = name[1:]
	}
	if len(name) != 1 {
		return nil, at(protocol.NewError("SCHEMA_NOT_FOUND", "there is no database %s", written(s.Name)), s.Name)
	}
	catalog := st.session.engine.catalog
	database, err := catalog.database(st.ctx, name[0].Name)
	if err != nil {
		return nil, at(err, s.Name)
	}
	places, err := catalog.places(st.ctx, database)
	if err != nil {
		return nil, err
	}
	entry, err := catalog.databaseEntry(st.ctx, database)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		entry = &databaseEntry{}
	}
	pairs := [][2]string{
		{"Catalog Name", catalogName}, {"Namespace Name", database}, {"Comment", entry.Comment}, {"Location", "file:" + places[0]}, {"Owner", ""},
	}
	if s.Extended {
		properties := make([]string, len(entry.Properties))
		for i, p := range entry.Properties {
			properties[i] = "(" + p[0] + "," + p[1] + ")"
		}
		pairs = append(pairs, [2]string{"Properties", strings.Join(properties, ", ")})
	}
	return st.metaResult(meta.Pairs("info_name", "info_value", pairs))
}

func (st *statement) describeDetail(s *parse.Describe) (*Result, error) {
	t, err := st.named(s.Name, s.Path)
	if err == nil && t.format != "" && t.system == nil {
		if _, err := readerSQL(t.format, t.path); err != nil {
			return nil, err
		}
		return st.metaResult(meta.ForeignDetail(t.format, t.path))
	}
	t, _, err = st.tableNamed(s.Name, s.Path, "DESCRIBE DETAIL")
	if err != nil {
		return nil, err
	}
	moment, err := st.moment(s.AsOf)
	if err != nil {
		return nil, err
	}
	st.inspects = true
	subject, err := st.subject(t, moment)
	if err != nil {
		return nil, at(err, s.Name)
	}
	return st.metaResult(meta.Detail(subject))
}

func (st *statement) describeHistory(s *parse.Describe) (*Result, error) {
	t, table, err := st.tableNamed(s.Name, s.Path, "DESCRIBE HISTORY")
	if err != nil {
		return nil, err
	}
	limit, limited, err := st.count(s.Limit)
	if err != nil {
		return nil, err
	}
	if limited && limit == 0 {
		return st.metaResult(meta.History(nil))
	}
	commits, err := table.History(st.ctx, int(min(limit, math.MaxInt32)))
	if err != nil {
		return nil, at(withTable(err, t), s.Name)
	}
	return st.metaResult(meta.History(commits))
}

// count works out the operand of a LIMIT; given is false where there is none.
func (st *statement) count(e parse.Expr) (n int64, given bool, err error) {
	if e == nil {
		return 0, false, nil
	}
	c, err := st.constant(e)
	if err != nil {
		return 0, false, err
	}
	if c.value.Null || c.value.Kind < protocol.KindByte || c.value.Kind > protocol.KindLong || c.value.Int < 0 {
		return 0, false, placed(protocol.NewError("INVALID_PARAMETER_VALUE", "LIMIT takes a whole number that is not negative"), e.At())
	}
	return c.value.Int, true, nil
}

// moment works out a time travel clause of a metadata statement as the binder does for FROM.
func (st *statement) moment(asOf *parse.AsOf) (*bind.AsOf, error) {
	if asOf == nil {
		return nil, nil
	}
	return bind.Moment(st.ctx, asOf, st.bindOptions())
}
