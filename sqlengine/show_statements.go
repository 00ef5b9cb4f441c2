package sqlengine

import (
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// show answers SHOW in its forms; LIMIT and OFFSET apply to all of them.
func (st *statement) show(s *parse.Show) (*Result, error) {
	limit, limited, err := st.count(s.Limit)
	if err != nil {
		return nil, err
	}
	offset, _, err := st.count(s.Offset)
	if err != nil {
		return nil, err
	}
	table, err := st.shown(s)
	if err != nil {
		return nil, err
	}
	if s.Where != nil {
		return st.metaWhere(table, s)
	}
	if limited || offset > 0 {
		table = meta.Slice(table, offset, limit, limited)
	}
	return st.metaResult(table)
}

// metaWhere filters a metadata answer as a query over it.
func (st *statement) metaWhere(table meta.Table, s *parse.Show) (*Result, error) {
	relation, err := metaRelation(table)
	if err != nil {
		return nil, err
	}
	st.answer = relation
	return st.query(&parse.Query{
		Body: &parse.Select{
			Items: []parse.SelectItem{{Expr: &parse.Star{}, Text: "*"}},
			From:  &parse.TableFunction{Pos: s.Pos, Name: parse.Name{{Name: answerFunction}}},
			Where: s.Where,
		},
		Limit: s.Limit, Offset: s.Offset,
	})
}

func (st *statement) shown(s *parse.Show) (meta.Table, error) {
	if st.mysql() {
		if table, ok, err := st.shownToMySQL(s); ok || err != nil {
			return table, err
		}
	}
	switch s.What {
	case "COUNT WARNINGS", "COUNT ERRORS":
		return st.showCount(s.What), nil
	case "DATABASES":
		return st.showDatabases(s)
	case "CURRENT NAMESPACE":
		return meta.Pairs("catalog", "namespace", [][2]string{{catalogName, st.session.Database()}}), nil
	case "CATALOGS":
		return st.showNames(s, "catalog", []string{catalogName})
	case "TABLES", "VIEWS", "TABLE EXTENDED":
		return st.showTables(s)
	case "FUNCTIONS", "USER FUNCTIONS", "SYSTEM FUNCTIONS":
		return st.showFunctions(s)
	case "VARIABLES":
		return st.showVariables(s)
	case "WARNINGS", "ERRORS":
		return st.showWarnings(s)
	case "PROCESSLIST":
		return st.showProcesses(s), nil
	case "COLUMNS":
		return st.showColumns(s)
	case "PARTITIONS", "TBLPROPERTIES", "CREATE TABLE", "CREATE VIEW", "FEATURES", "FILES", "LOG", "CONSTRAINTS":
		return st.showTable(s)
	}
	return meta.Table{}, placed(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "SHOW %s is not supported by this version", s.What), s.Pos)
}

func (st *statement) mysql() bool { return st.session.Dialect() == expr.MySQL }

// showNames filters names by LIKE.
func (st *statement) showNames(s *parse.Show, column string, names []string) (meta.Table, error) {
	var kept []string
	for _, name := range names {
		if meta.MatchLike(s.Like, name, st.mysql()) {
			kept = append(kept, name)
		}
	}
	return meta.Names(column, kept), nil
}

func (st *statement) showDatabases(s *parse.Show) (meta.Table, error) {
	names, err := st.session.engine.catalog.databases(st.ctx)
	if err != nil {
		return meta.Table{}, err
	}
	return st.showNames(s, "namespace", names)
}

func (st *statement) showFunctions(s *parse.Show) (meta.Table, error) {
	var names []string
	if s.What != "USER FUNCTIONS" {
		names = expr.Functions(st.session.Dialect())
	}
	return st.showNames(s, "function", names)
}

func (st *statement) showVariables(s *parse.Show) (meta.Table, error) {
	var kept [][2]string
	for _, pair := range st.session.settings.all() {
		if meta.MatchLike(s.Like, pair[0], true) {
			kept = append(kept, pair)
		}
	}
	return meta.Pairs("Variable_name", "Value", kept), nil
}

// showWarnings answers with the warnings of the statement before and with the error that ended it; SHOW ERRORS with the error.
func (st *statement) showWarnings(s *parse.Show) (meta.Table, error) {
	st.keepWarnings()
	var list []meta.Warning
	if s.What == "WARNINGS" {
		for _, w := range st.warnings {
			level := "Warning"
			if isNote(w.Code) {
				level = "Note"
			}
			list = append(list, meta.Warning{Level: level, Code: w.Code, Message: w.Message})
		}
	}
	if failure := st.session.lastFailure(); failure != nil {
		info, _ := protocol.InfoOf(failure.Class)
		text := "[" + string(failure.Class) + "] (" + info.SQLState + ") " + failure.Text()
		list = append(list, meta.Warning{Level: "Error", Code: failure.MySQLNumber(), Message: text})
	}
	return meta.Warnings(list), nil
}

// databaseOf is the database of IN/FROM, or the current one.
func (st *statement) databaseOf(in parse.Name) (string, error) {
	if len(in) == 0 {
		if st.session.Database() == "" {
			return "", noDatabase()
		}
		return st.session.Database(), nil
	}
	name := in
	if len(name) == 2 && isCatalog(name[0].Name) {
		name = name[1:]
	}
	if len(name) != 1 {
		return "", at(protocol.NewError("SCHEMA_NOT_FOUND", "there is no database %s", written(in)), in)
	}
	database, err := st.session.engine.catalog.database(st.ctx, name[0].Name)
	return database, at(err, in)
}

// showTables lists tables and views, or views alone.
func (st *statement) showTables(s *parse.Show) (meta.Table, error) {
	database, err := st.databaseOf(s.In)
	if err != nil {
		return meta.Table{}, err
	}
	list, err := st.listed(database, s.What != "VIEWS")
	if err != nil {
		return meta.Table{}, err
	}
	list = slices.DeleteFunc(list, func(entry meta.Listed) bool { return !meta.MatchLike(s.Like, entry.Name, st.mysql()) })
	meta.SortListed(list)
	switch s.What {
	case "VIEWS":
		return meta.ShowViews(list), nil
	case "TABLE EXTENDED":
		return meta.ShowTablesExtended(list, st.information), nil
	}
	return meta.ShowTables(list), nil
}

// listed are the views of a database, with tables also its tables, and the session's own.
func (st *statement) listed(database string, withTables bool) ([]meta.Listed, error) {
	catalog := st.session.engine.catalog
	var list []meta.Listed
	add := func(entry meta.Listed) { list = append(list, entry) }
	if withTables {
		tables, err := catalog.tables(st.ctx, database)
		if err != nil {
			return nil, err
		}
		temporary := st.session.temporaryTablesOf(database)
		for _, name := range temporary {
			add(meta.Listed{Namespace: database, Name: name, Temporary: true})
		}
		for _, name := range tables {
			if !slices.ContainsFunc(temporary, func(hiding string) bool { return strings.EqualFold(hiding, name) }) {
				add(meta.Listed{Namespace: database, Name: name})
			}
		}
	}
	views, err := catalog.views(st.ctx, database)
	if err != nil {
		return nil, err
	}
	for _, name := range views {
		add(meta.Listed{Namespace: database, Name: name, View: true})
	}
	for _, name := range st.session.temporaryViews() {
		add(meta.Listed{Name: name, Temporary: true, View: true})
	}
	return list, nil
}

// information is a table's text in SHOW TABLE EXTENDED; a table that does not open says why.
func (st *statement) information(entry meta.Listed) string {
	if entry.View {
		return "Type: VIEW\n"
	}
	t, err := st.lookUp(st.ctx, entry.Namespace, entry.Name)
	if err == nil {
		var subject meta.Subject
		if subject, err = st.subject(t, nil); err == nil {
			return meta.Information(subject)
		}
	}
	return "cannot be opened: " + translate(err, "").Error() + "\n"
}

// inDatabase puts the database of IN/FROM before a bare name: SHOW COLUMNS IN t IN d.
func inDatabase(table, in parse.Name) parse.Name {
	if len(in) == 0 || len(table) != 1 {
		return table
	}
	return append(append(parse.Name{}, in...), table...)
}

func (st *statement) showColumns(s *parse.Show) (meta.Table, error) {
	t, err := st.resolve(st.ctx, inDatabase(s.Table, s.In))
	if err != nil {
		return meta.Table{}, err
	}
	var names []string
	switch {
	case t.view != nil:
		columns, err := st.viewColumns(t.view)
		if err != nil {
			return meta.Table{}, err
		}
		for _, c := range columns {
			names = append(names, c.Name)
		}
	case t.system != nil:
		for _, c := range t.system.columns {
			names = append(names, c.Name)
		}
	case t.format != "":
		files, err := st.filesRelation(st.ctx, t)
		if err != nil {
			return meta.Table{}, err
		}
		for _, c := range files.Columns {
			names = append(names, c.Name)
		}
	default:
		subject, err := st.subject(t, nil)
		if err != nil {
			return meta.Table{}, at(err, s.Table)
		}
		for _, field := range subject.Snapshot.Config().Schema.Fields {
			names = append(names, string(field.Name))
		}
	}
	return st.showNames(s, "col_name", names)
}

// showTable answers the SHOW forms about one Delta table.
func (st *statement) showTable(s *parse.Show) (meta.Table, error) {
	name := inDatabase(s.Table, s.In)
	t, err := st.resolve(st.ctx, name)
	if err != nil {
		return meta.Table{}, err
	}
	if t.view != nil && strings.HasPrefix(s.What, "CREATE ") {
		return meta.Names("createtab_stmt", []string{t.view.createStatement()}), nil
	}
	table, err := st.table(t, "SHOW "+s.What)
	if err != nil {
		return meta.Table{}, at(err, name)
	}
	if s.What == "LOG" {
		return st.showLog(table), nil
	}
	moment, err := st.moment(s.AsOf)
	if err != nil {
		return meta.Table{}, err
	}
	st.inspects = s.What == "FEATURES"
	subject, err := st.subject(t, moment)
	if err != nil {
		return meta.Table{}, at(err, name)
	}
	switch s.What {
	case "PARTITIONS":
		filters, err := st.partitionFilters(s, subject.Snapshot.Config().Schema)
		if err != nil {
			return meta.Table{}, err
		}
		partitions, err := meta.Partitions(subject, filters)
		if err != nil {
			return meta.Table{}, at(err, name)
		}
		return partitions, nil
	case "TBLPROPERTIES":
		return meta.Properties(subject, s.Key), nil
	case "CREATE TABLE", "CREATE VIEW":
		return meta.CreateTable(subject), nil
	case "FEATURES":
		return meta.Features(subject), nil
	case "FILES":
		return meta.Files(subject), nil
	case "CONSTRAINTS":
		return meta.Constraints(subject), nil
	}
	return meta.Table{}, placed(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "SHOW %s is not supported by this version", s.What), s.Pos)
}

// showLog lists the files of a log. It needs no snapshot, so that it answers where the log is damaged and none can be made.
func (st *statement) showLog(table *log.Table) meta.Table {
	files := table.Store()
	return meta.Log(files.List(st.ctx, logFolder+"/", ""), func(name string) ([]protocol.Action, error) {
		return check.ReadActions(st.ctx, files, name)
	})
}

// partitionFilters works out PARTITION (column = value, ...), each value cast to its column's type by the session's rules.
func (st *statement) partitionFilters(s *parse.Show, schema protocol.DataType) ([]meta.PartitionFilter, error) {
	var filters []meta.PartitionFilter
	for _, p := range s.Spec {
		if p.Value == nil {
			return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "PARTITION (%s) needs a value", p.Name.Name).At(p.Name.Pos.Line, p.Name.Pos.Column)
		}
		filter := meta.PartitionFilter{Column: p.Name.Name}
		if i := schema.Lookup(p.Name.Name); i >= 0 {
			of := schema.Fields[i].Type
			v, err := st.constant(&parse.Cast{Operand: p.Value, Type: parse.TypeName{Pos: p.Value.At(), Type: of, Length: -1, Digits: -1, Text: of.String()}})
			if err != nil {
				return nil, err
			}
			filter.Value = v.value
		}
		filters = append(filters, filter)
	}
	return filters, nil
}

// refresh forgets what is known of a table.
func (st *statement) refresh(s *parse.Refresh) (*Result, error) {
	t, err := st.resolve(st.ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if t.view == nil && t.format == "" {
		st.session.engine.catalog.forget(t.path)
	}
	return &Result{}, nil
}
