package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// jsonTable binds JSON_TABLE as a block over the rows that its path finds in the document: a relation of (row, ordinal), one
// more for each NESTED PATH joined to it, and an item a column. A value that does not fit its column's type is NULL, or
// what ON ERROR says; one that is missing is NULL, or what ON EMPTY says.
func (b *binder) jsonTable(j *parse.JSONTable, p place, lateral *scope) (expr.From, *scope, error) {
	if j.Alias == nil && p.context.Dialect == expr.MySQL {
		return nil, nil, fail("DELTASQL_DERIVED_TABLE_WITHOUT_ALIAS", j.Pos, "JSON_TABLE needs an alias")
	}
	sc := sees(p, lateral).outer
	if sc == nil {
		sc = &scope{}
	}
	doc, err := expr.Bind(&env{b: b, place: p, scope: sc, clause: clauseFrom}, j.Doc)
	if err != nil {
		return nil, nil, err
	}
	t := &jsonTable{b: b, place: p, sel: &expr.Select{}}
	rows, err := t.rows(doc, j.Path)
	if err != nil {
		return nil, nil, err
	}
	t.sel.From = rows
	if err := t.add(rows, j.Columns, 0); err != nil {
		return nil, nil, err
	}
	t.sel.Visible = len(t.sel.Items)
	q := &expr.Query{Body: t.sel}
	b.output(q, t.columns)
	r := b.derived(q, aliasName(j.Alias))
	r.Lateral = true
	return b.aliased(r, j.Alias, nil)
}

type jsonTable struct {
	b       *binder
	place   place
	sel     *expr.Select
	columns []expr.OutputColumn
}

var stringType = protocol.DataType{Kind: protocol.KindString}

// rows is the relation of what a path finds: column 0 is the row as JSON, column 1 its number from 1.
func (t *jsonTable) rows(doc expr.Expr, path parse.Expr) (*expr.Relation, error) {
	text, err := jsonPath(path)
	if err != nil {
		return nil, err
	}
	list := "json_extract({0}, {1})"
	if !strings.Contains(text, "*") {
		list = "list_filter([" + list + "], lambda found: found IS NOT NULL)"
	}
	r := t.b.relation(expr.RelSQL, "")
	r.Lateral = true
	r.Args = []expr.Expr{doc, stringLiteral(text)}
	r.SQL = "(SELECT unnest(" + list + ") AS v, unnest(range(1, len(" + list + ") + 1)) AS o)"
	r.Columns = []expr.OutputColumn{{Out: "v", Type: stringType, Nullable: true}, {Out: "o", Type: longType}}
	return r, nil
}

func stringLiteral(text string) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: stringType}, Value: protocol.Value{Kind: protocol.KindString, Str: text}}
}

// jsonPath reads a path and writes it as DuckDB has it.
func jsonPath(x parse.Expr) (string, error) {
	l, ok := x.(*parse.Literal)
	if !ok || l.Kind != parse.StringLiteral {
		return "", fail("NON_FOLDABLE_ARGUMENT", x.At(), "a path of JSON_TABLE must be a string literal")
	}
	text := strings.TrimSpace(l.Text)
	if !strings.HasPrefix(text, "$") || strings.Contains(text, "**") || strings.Contains(text, " to ") {
		return "", fail("UNSUPPORTED_FEATURE", x.At(), "the JSON path %q is not supported", l.Text).
			WithHint("a path is $ with members and elements, such as $.a[0] or $[*]")
	}
	return strings.ReplaceAll(text, "[last]", "[#-1]"), nil
}

// add makes an item of each column over the rows of a relation.
func (t *jsonTable) add(rows *expr.Relation, columns []parse.JSONColumn, depth int) error {
	nested := 0
	for _, c := range columns {
		if c.Nested != nil {
			if nested++; nested > 1 || depth > 20 {
				return fail("UNSUPPORTED_FEATURE", c.Path.At(), "several NESTED paths beside each other are not supported").
					WithHint("use one JSON_TABLE for each and join them")
			}
			inner, err := t.rows(columnOf(rows, 0), c.Path)
			if err != nil {
				return err
			}
			t.sel.From = &expr.Join{Kind: "LEFT", Left: t.sel.From, Right: inner, On: literalTrue()}
			if err := t.add(inner, c.Nested, depth+1); err != nil {
				return err
			}
			continue
		}
		value, err := t.value(rows, c)
		if err != nil {
			return err
		}
		t.sel.Items = append(t.sel.Items, value)
		t.columns = append(t.columns, expr.OutputColumn{Name: c.Name.Name, Type: value.Type(), Nullable: true})
	}
	return nil
}

func (t *jsonTable) value(rows *expr.Relation, c parse.JSONColumn) (expr.Expr, error) {
	integer := protocol.DataType{Kind: protocol.KindInteger}
	if c.Ordinality {
		return &expr.Cast{Typed: expr.Typed{Of: integer, Null: true}, Operand: columnOf(rows, 1)}, nil
	}
	path, err := jsonPath(c.Path)
	if err != nil {
		return nil, err
	}
	operands := []expr.Expr{columnOf(rows, 0), stringLiteral(path)}
	if c.Exists {
		return &expr.Raw{Typed: expr.Typed{Of: integer, Null: true}, SQL: "CAST(json_exists({0}, {1}) AS INTEGER)", Args: operands}, nil
	}
	found := &expr.Raw{Typed: expr.Typed{Of: stringType, Null: true}, SQL: "json_extract({0}, {1})", Args: operands}
	onEmpty, err := t.fallback(c.OnEmpty, c.Type)
	if err != nil {
		return nil, err
	}
	onError, err := t.fallback(c.OnError, c.Type)
	if err != nil {
		return nil, err
	}
	value, err := t.converted(found, c.Type)
	if err != nil {
		return nil, err
	}
	when := func(sql string, args []expr.Expr, result expr.Expr) expr.When {
		return expr.When{Condition: &expr.Raw{Typed: booleanTyped(true), SQL: sql, Args: args}, Result: result}
	}
	out := &expr.Case{Typed: expr.Typed{Of: value.Type(), Null: true}, Whens: []expr.When{
		when("NOT json_exists({0}, {1})", operands, onEmpty),
		when("json_type({0}) = 'NULL'", []expr.Expr{found}, expr.Null(value.Type())),
		when("{0} IS NULL", []expr.Expr{value}, onError),
	}, Else: value}
	return out, nil
}

// converted is a JSON value in a column's type; NULL where it does not fit. Objects and arrays fit JSON columns only.
func (t *jsonTable) converted(found expr.Expr, typ parse.TypeName) (expr.Expr, error) {
	if typ.MySQL == "JSON" {
		return &expr.Raw{Typed: expr.Typed{Of: stringType, Null: true}, SQL: "CAST({0} AS VARCHAR)", Args: []expr.Expr{found}}, nil
	}
	text := &expr.Raw{Typed: expr.Typed{Of: stringType, Null: true}, Args: []expr.Expr{found},
		SQL: "CASE WHEN json_type({0}) NOT IN ('OBJECT', 'ARRAY') THEN json_extract_string({0}, '$') END"}
	return t.cast(text, typ)
}

// cast reads a text strictly, whatever the session's dialect: a value that is not wholly of the type is none.
func (t *jsonTable) cast(text expr.Expr, typ parse.TypeName) (expr.Expr, error) {
	if typ.Type.Kind == protocol.KindString {
		if typ.Length < 0 {
			return text, nil
		}
		return &expr.Raw{Typed: expr.Typed{Of: stringType, Null: true}, Args: []expr.Expr{text}, SQL: "CASE WHEN length({0}) <= " + itoa(int64(typ.Length)) + " THEN {0} END"}, nil
	}
	context := *t.place.context
	context.Dialect = expr.Spark
	p := t.place
	p.context = &context
	typ.MySQL = ""
	e := t.b.constants(p).with(map[string]expr.Expr{"\x00j": text})
	value, err := expr.Bind(e, &parse.Cast{Try: true, Operand: synthetic("\x00j"), Type: typ})
	return value, located(err, typ.Pos)
}

// fallback is DEFAULT '...' of ON EMPTY and ON ERROR: the text of a JSON value.
func (t *jsonTable) fallback(x parse.Expr, typ parse.TypeName) (expr.Expr, error) {
	if x == nil {
		of := typ.Type
		if typ.MySQL == "JSON" {
			of = stringType
		}
		return expr.Null(of), nil
	}
	bound, err := expr.Bind(t.b.constants(t.place), x)
	if err != nil {
		return nil, err
	}
	found := &expr.Raw{Typed: expr.Typed{Of: stringType, Null: true}, SQL: "json_extract({0}, '$')", Args: []expr.Expr{bound}}
	return t.converted(found, typ)
}
