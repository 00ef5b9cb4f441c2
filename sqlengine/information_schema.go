package sqlengine

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
)

// systemRelation is a relation of information_schema, or one of the few that clients ask for in mysql, performance_schema and sys. Its
// rows are made from the catalog when the statement is planned: conditions on names of databases and tables choose what is looked at,
// and a log is read only where a column asks for what is in it.
type systemRelation struct {
	database, name string
	columns        []meta.Column
	// rows gives the rows to yield, each with one value a column; nil: there are none.
	rows func(st *statement, w *wanted, yield func(row ...any)) error
}

// wanted is what a scan needs of a system relation.
type wanted struct {
	schemas, tables nameSet
	used            map[string]bool // columns by name; nil: all
}

// uses tells whether any of the columns is read.
func (w *wanted) uses(names ...string) bool {
	for _, name := range names {
		if w.used == nil || w.used[name] {
			return true
		}
	}
	return false
}

// nameSet are the names that conditions leave, by their lower case; nil: all names.
type nameSet map[string]string

func (s nameSet) has(name string) bool {
	if s == nil {
		return true
	}
	_, ok := s[strings.ToLower(name)]
	return ok
}

// and leaves the names of both.
func (s nameSet) and(other nameSet) nameSet {
	if s == nil || other == nil {
		if s == nil {
			return other
		}
		return s
	}
	both := nameSet{}
	for lower, name := range s {
		if other.has(lower) {
			both[lower] = name
		}
	}
	return both
}

const informationSchema = "information_schema"

// systemDatabases are those whose relations are ours. A database of the catalog hides one of its name, but for information_schema.
var systemDatabases = map[string]bool{informationSchema: true, "mysql": true, "performance_schema": true, "sys": true}

// systemColumns reads a list of columns: NAME:type, with ? behind a type that may be NULL. Types are s(tring), i(nteger), l(ong) and
// t(ime).
func systemColumns(text string) []meta.Column {
	kinds := map[byte]protocol.Kind{'s': protocol.KindString, 'i': protocol.KindInteger, 'l': protocol.KindLong, 't': protocol.KindTimestampNTZ}
	var columns []meta.Column
	for _, field := range strings.Fields(text) {
		name, kind, ok := strings.Cut(field, ":")
		if !ok {
			kind = "s"
		}
		columns = append(columns, meta.Column{Name: name, Type: protocol.DataType{Kind: kinds[kind[0]]}, Nullable: strings.HasSuffix(kind, "?")})
	}
	return columns
}

// systemList is every system relation, and systemRelations finds one by database and name, both in lower case.
var (
	systemList      []systemRelation
	systemRelations map[string]*systemRelation
)

func init() { // not plain initialisers, since the rows of some relations are the relations
	systemList, systemRelations = everySystemRelation(), map[string]*systemRelation{}
	for i := range systemList {
		r := &systemList[i]
		systemRelations[strings.ToLower(r.database+"."+r.name)] = r
	}
}

// systemTarget finds what a name in a system database stands for; false where the database is none.
func (st *statement) systemTarget(database, name string) (target, bool, error) {
	lower := strings.ToLower(database)
	if !systemDatabases[lower] {
		return target{}, false, nil
	}
	if lower != informationSchema {
		if _, err := st.session.engine.catalog.database(st.ctx, database); err == nil {
			return target{}, false, nil
		}
	}
	if r := systemRelations[lower+"."+strings.ToLower(name)]; r != nil {
		return target{format: systemFormat, system: r, database: r.database, name: r.name}, true, nil
	}
	err := protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "there is no relation %s in %s", name, lower)
	if lower == informationSchema {
		err.WithErrno(1109)
	}
	var names []string
	for _, r := range systemList {
		if r.database == lower {
			names = append(names, r.name)
		}
	}
	if near := parse.Meant(name, names); near != "" {
		err.WithHint("did you mean %s.%s?", lower, near)
	}
	return target{}, true, err
}

// systemFormat marks the target of a system relation, which like a file is no Delta table.
const systemFormat = "system"

// systemSource is a system relation as a row source.
type systemSource struct {
	relation *systemRelation
	columns  []expr.OutputColumn
}

// Columns are the relation's columns.
func (s *systemSource) Columns() []expr.OutputColumn { return s.columns }

func newSystemSource(r *systemRelation) *systemSource {
	s := &systemSource{relation: r}
	for i, c := range r.columns {
		s.columns = append(s.columns, expr.OutputColumn{Name: c.Name, Out: out(i), Type: c.Type, Nullable: c.Nullable})
	}
	return s
}

// build makes a table expression of the columns that a scan uses; its one value, the rows as JSON, is placeholder number first.
func (s *systemSource) build(st *statement, use *expr.Scan, first int) (string, []any, error) {
	w := st.wantedOf(s.relation, use.Filters)
	w.used = map[string]bool{}
	var kept []int
	for i, used := range use.Used {
		if used {
			kept = append(kept, i)
			w.used[s.relation.columns[i].Name] = true
		}
	}
	if len(kept) == 0 { // rows are counted
		kept = []int{0}
	}
	columns := make([]meta.Column, len(kept))
	for i, k := range kept {
		columns[i] = s.relation.columns[k]
	}
	text := []byte{'['}
	var yield = func(row ...any) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, '{')
		for i, k := range kept {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(append(text, quoteJSON(out(i))...), ':')
			text = appendValue(text, row[k], columns[i].Type)
		}
		text = append(text, '}')
	}
	if s.relation.rows != nil {
		if err := s.relation.rows(st, w, yield); err != nil {
			return "", nil, err
		}
	}
	if len(text) > maxAnswer {
		return "", nil, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "%s.%s has too many rows", s.relation.database, s.relation.name).WithHint("name databases or tables in WHERE")
	}
	items := make([]string, len(kept))
	for i, k := range kept {
		items[i] = "r." + out(i) + " AS " + out(k)
	}
	inner := strings.Replace(rowsSQL(columns), "$1", "$"+strconv.Itoa(first), 1)
	return "(SELECT " + strings.Join(items, ", ") + " FROM (" + inner + ") AS r)", []any{string(append(text, ']'))}, nil
}

// schemaColumns and tableColumns are the columns that name the database and the table of a row.
var (
	schemaColumns = map[string]bool{"TABLE_SCHEMA": true, "SCHEMA_NAME": true, "CONSTRAINT_SCHEMA": true}
	tableColumns  = map[string]bool{"TABLE_NAME": true}
)

// wantedOf works out which names the conditions of a scan leave. It never leaves out a name that a row could pass with.
func (st *statement) wantedOf(r *systemRelation, filters []expr.Expr) *wanted {
	predicate := bind.Predicate(st.ctx, filters, bind.Skipping{
		Context: st.context(), Fold: st.foldOnce,
		Leaf: func(column int, path []protocol.LogicalName) (stats.Leaf, bool) {
			if len(path) > 0 || column >= len(r.columns) {
				return stats.Leaf{}, false
			}
			c := r.columns[column]
			return stats.Leaf{Name: c.Name, Type: c.Type, Path: []protocol.PhysicalName{protocol.PhysicalName(c.Name)}}, true
		},
	})
	return &wanted{schemas: namesLeft(predicate, schemaColumns), tables: namesLeft(predicate, tableColumns)}
}

// namesLeft are the names that a predicate allows for some columns; nil: any.
func namesLeft(p stats.Predicate, columns map[string]bool) nameSet {
	only := func(leaf stats.Leaf, values ...protocol.Value) nameSet {
		if !columns[leaf.Name] {
			return nil
		}
		names := nameSet{}
		for _, v := range values {
			if v.Null {
				continue
			}
			if v.Kind != protocol.KindString {
				return nil
			}
			names[strings.ToLower(v.Str)] = v.Str
		}
		return names
	}
	switch p := p.(type) {
	case stats.And:
		var left nameSet
		for _, member := range p {
			left = left.and(namesLeft(member, columns))
		}
		return left
	case stats.Or:
		all := nameSet{}
		for _, member := range p {
			names := namesLeft(member, columns)
			if names == nil {
				return nil
			}
			for lower, name := range names {
				all[lower] = name
			}
		}
		return all
	case stats.Compare:
		if p.Op == stats.Equal || p.Op == stats.NullSafeEqual {
			return only(p.Leaf, p.Value)
		}
	case stats.InList:
		return only(p.Leaf, p.Values...)
	}
	return nil
}
