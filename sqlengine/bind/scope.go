package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// scope is what the names of one query block can mean: the columns of its FROM, and behind them the enclosing block's.
type scope struct {
	outer *scope
	// columns are what * gives, in order, and what a bare name is looked up in; hidden ones are found by name only.
	columns []column
	tables  []*table
}

// column is a name with its meaning.
type column struct {
	name   string
	value  expr.Expr
	hidden bool
	// members makes the column a struct put together from the relation's hidden columns (_metadata); value is nil then.
	members []column
}

// table is a relation of FROM under the name that qualifies its columns.
type table struct {
	path    []string // [alias], or the name's parts, outermost first; empty for a relation without a name
	columns []column
}

// metadataColumn is the struct of hidden columns.
const metadataColumn = "_metadata"

// relationScope is the scope of one relation.
func relationScope(r *expr.Relation, path []string) *scope {
	t := &table{path: path}
	var members []column
	for i, c := range r.Columns {
		value := &expr.Column{Typed: expr.Typed{Of: c.Type, Null: c.Nullable}, Relation: r, Index: i}
		if member, ok := strings.CutPrefix(c.Name, metadataColumn+"."); ok && c.Hidden {
			members = append(members, column{name: member, value: value, hidden: true})
			continue
		}
		t.columns = append(t.columns, column{name: c.Name, value: value, hidden: c.Hidden})
	}
	if members != nil {
		t.columns = append(t.columns, column{name: metadataColumn, hidden: true, members: members})
	}
	return &scope{columns: t.columns, tables: []*table{t}}
}

// beside is the scope of two FROM items side by side.
func beside(left, right *scope) *scope {
	return &scope{
		columns: append(append([]column(nil), left.columns...), right.columns...),
		tables:  append(append([]*table(nil), left.tables...), right.tables...),
	}
}

// nullable is the scope with every column nullable: the side of an outer join that may be missing.
func (s *scope) nullable() *scope {
	known := map[expr.Expr]expr.Expr{}
	var loosen func(list []column) []column
	loosen = func(list []column) []column {
		out := make([]column, len(list))
		for i, c := range list {
			out[i] = c
			out[i].members = loosen(c.members)
			if c.members == nil {
				out[i].members = nil
			}
			if c.value == nil || c.value.Nullable() {
				continue
			}
			if _, ok := known[c.value]; !ok {
				known[c.value] = asNullable(c.value)
			}
			out[i].value = known[c.value]
		}
		return out
	}
	out := &scope{outer: s.outer, columns: loosen(s.columns)}
	for _, t := range s.tables {
		out.tables = append(out.tables, &table{path: t.path, columns: loosen(t.columns)})
	}
	return out
}

func asNullable(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Column:
		n := *e
		n.Null = true
		return &n
	case *expr.Raw:
		n := *e
		n.Null = true
		return &n
	}
	return e
}

// under is the scope with another one behind it.
func (s *scope) under(outer *scope) *scope {
	return &scope{outer: outer, columns: s.columns, tables: s.tables}
}

// named tells whether the qualifier is a tail of the table's path.
func (t *table) named(qualifier parse.Name) bool {
	if len(qualifier) > len(t.path) {
		return false
	}
	tail := t.path[len(t.path)-len(qualifier):]
	for i, part := range qualifier {
		if !strings.EqualFold(part.Name, tail[i]) {
			return false
		}
	}
	return true
}

// lookup finds a dotted name in this scope and then in the enclosing ones. Qualified meanings win over struct members, the
// nearest scope wins over outer ones. Nil without an error: no such column anywhere.
func (s *scope) lookup(name parse.Name) (expr.Expr, error) {
	for ; s != nil; s = s.outer {
		e, err := s.local(name)
		if e != nil || err != nil {
			return e, err
		}
	}
	return nil, nil
}

// local finds a name in this scope alone.
func (s *scope) local(name parse.Name) (expr.Expr, error) {
	for k := min(len(name)-1, 3); k >= 0; k-- {
		var found []column
		if k == 0 {
			found = named(s.columns, name[0].Name)
		} else {
			for _, t := range s.tables {
				if t.named(name[:k]) {
					found = append(found, named(t.columns, name[k].Name)...)
				}
			}
		}
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 {
			return nil, ambiguous(name, s)
		}
		return found[0].member(name[k+1:])
	}
	return nil, nil
}

// named gives the columns of a name; hidden ones only where no visible one has it.
func named(columns []column, name string) []column {
	var visible, hidden []column
	for _, c := range columns {
		switch {
		case !strings.EqualFold(c.name, name):
		case c.hidden:
			hidden = append(hidden, c)
		default:
			visible = append(visible, c)
		}
	}
	if visible != nil {
		return visible
	}
	return hidden
}

// member follows the rest of a dotted name into the column's struct.
func (c column) member(rest parse.Name) (expr.Expr, error) {
	if c.members == nil {
		return fields(c.value, rest)
	}
	if len(rest) == 0 {
		return packed(c.members), nil
	}
	for _, m := range c.members {
		if strings.EqualFold(m.name, rest[0].Name) {
			return fields(m.value, rest[1:])
		}
	}
	return nil, fieldNotFound(rest[0], memberNames(c.members))
}

func memberNames(members []column) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return names
}

// packed is the struct of the members.
func packed(members []column) expr.Expr {
	out := &expr.Raw{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindStruct}}}
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = quoted(m.name) + " := {" + strconv.Itoa(i) + "}"
		out.Args = append(out.Args, m.value)
		out.Of.Fields = append(out.Of.Fields, protocol.Field{Name: protocol.LogicalName(m.name), Type: m.value.Type(), Nullable: m.value.Nullable()})
	}
	out.SQL = "struct_pack(" + strings.Join(parts, ", ") + ")"
	return out
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// fields takes members of structs; over an array of structs a member is the array of the members, as in Spark.
func fields(e expr.Expr, rest parse.Name) (expr.Expr, error) {
	for _, part := range rest {
		next, err := fieldOf(e, part)
		if err != nil {
			return nil, err
		}
		e = next
	}
	return e, nil
}

func fieldOf(e expr.Expr, part parse.Ident) (expr.Expr, error) {
	t, err := expr.Opened(e.Type(), part)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Kind == protocol.KindStruct:
		f, err := fieldIn(t, part)
		if err != nil {
			return nil, err
		}
		return &expr.Field{Typed: expr.Typed{Of: f.Type, Null: f.Nullable || e.Nullable()}, Operand: e, Name: f.Name}, nil
	case t.Kind == protocol.KindArray && t.Element.Kind == protocol.KindStruct:
		f, err := fieldIn(*t.Element, part)
		if err != nil {
			return nil, err
		}
		of := protocol.DataType{Kind: protocol.KindArray, Element: &f.Type, ContainsNull: t.ContainsNull || f.Nullable}
		return &expr.Raw{Typed: expr.Typed{Of: of, Null: e.Nullable()}, Args: []expr.Expr{e},
			SQL: "list_transform({0}, lambda e: e." + quoted(string(f.Name)) + ")"}, nil
	}
	return nil, fail("INVALID_EXTRACT_BASE_FIELD_TYPE", part.Pos, "cannot take the field `%s` of a value of type %s", part.Name, t)
}

func fieldIn(t protocol.DataType, part parse.Ident) (protocol.Field, error) {
	found := -1
	for i, f := range t.Fields {
		if !strings.EqualFold(string(f.Name), part.Name) {
			continue
		}
		if found >= 0 {
			return protocol.Field{}, fail("AMBIGUOUS_REFERENCE_TO_FIELDS", part.Pos, "the struct has several fields named `%s`", part.Name)
		}
		found = i
	}
	if found < 0 {
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = string(f.Name)
		}
		return protocol.Field{}, fieldNotFound(part, names)
	}
	return t.Fields[found], nil
}

func fieldNotFound(part parse.Ident, names []string) error {
	return fail("FIELD_NOT_FOUND", part.Pos, "no such struct field `%s` in %s", part.Name, ticked(names)).
		WithHint("%s", suggestion(part.Name, names))
}

func ambiguous(name parse.Name, s *scope) error {
	var meanings []string
	for _, t := range s.tables {
		for _, c := range t.columns {
			if strings.EqualFold(c.name, name[len(name)-1].Name) || strings.EqualFold(c.name, name[0].Name) {
				meanings = append(meanings, strings.Join(append(append([]string(nil), t.path...), c.name), "."))
			}
		}
	}
	e := fail("AMBIGUOUS_REFERENCE", name[0].Pos, "reference %s is ambiguous", spelled(name))
	if len(meanings) > 0 {
		e.WithHint("it could be %s; write the table's name before it", ticked(meanings))
	}
	return e
}

// unresolved is the error for a name that means nothing, with the nearest names of the scope.
func (s *scope) unresolved(name parse.Name, more []string) error {
	var known []string
	for _, c := range s.columns {
		if !c.hidden {
			known = append(known, c.name)
		}
	}
	if len(name) > 1 {
		for _, t := range s.tables {
			for _, c := range t.columns {
				if len(t.path) > 0 && !c.hidden {
					known = append(known, t.path[len(t.path)-1]+"."+c.name)
				}
			}
		}
	}
	known = append(known, more...)
	near := suggestion(bare(name), known)
	if near == "" {
		return fail("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", name[0].Pos, "a column or variable named %s cannot be resolved", spelled(name))
	}
	return fail("UNRESOLVED_COLUMN.WITH_SUGGESTION", name[0].Pos, "a column or variable named %s cannot be resolved", spelled(name)).
		WithHint("%s", near)
}

// suggestion is the hint that names the closest of what is known; empty where nothing is.
func suggestion(name string, known []string) string {
	const most = 3
	near := parse.Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return "did you mean one of these: " + ticked(near[:min(len(near), most)])
}

// bare is a name's parts joined by dots.
func bare(name parse.Name) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = part.Name
	}
	return strings.Join(parts, ".")
}

// spelled is a name as messages show it.
func spelled(name parse.Name) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = "`" + strings.ReplaceAll(part.Name, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}

func ticked(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// expandStar gives the columns of *, t.* or s.*, without EXCEPT and REPLACE.
func (s *scope) expandStar(star *parse.Star) ([]column, error) {
	if len(star.Qualifier) == 0 {
		return visible(s.columns), nil
	}
	for at := s; at != nil; at = at.outer {
		var found []column
		matched := false
		for _, t := range at.tables {
			if t.named(star.Qualifier) {
				matched = true
				found = append(found, visible(t.columns)...)
			}
		}
		if matched {
			return found, nil
		}
	}
	e, err := s.lookup(star.Qualifier)
	if err != nil {
		return nil, err
	}
	if e == nil || e.Type().Kind != protocol.KindStruct {
		return nil, fail("CANNOT_RESOLVE_STAR_EXPAND", star.At(), "%s.* cannot be expanded: it is neither a table nor a struct", spelled(star.Qualifier)).
			WithHint("%s", suggestion(bare(star.Qualifier), s.tableNames()))
	}
	var out []column
	for _, f := range e.Type().Fields {
		member, err := fieldOf(e, parse.Ident{Name: string(f.Name), Pos: star.At()})
		if err != nil {
			return nil, err
		}
		out = append(out, column{name: string(f.Name), value: member})
	}
	return out, nil
}

func (s *scope) tableNames() []string {
	var names []string
	for _, t := range s.tables {
		if len(t.path) > 0 {
			names = append(names, t.path[len(t.path)-1])
		}
	}
	return names
}

func visible(columns []column) []column {
	out := make([]column, 0, len(columns))
	for _, c := range columns {
		if !c.hidden {
			out = append(out, c)
		}
	}
	return out
}
