package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// generators are the functions that give rows: in FROM, in LATERAL VIEW and in a select list. An _outer form gives one row of
// NULLs where there is nothing to give.
var generators = map[string]func(g *generating) error{
	"range": rangeRows, "generate_series": seriesRows,
	"explode": explodeRows, "explode_outer": explodeRows, "unnest": explodeRows,
	"posexplode": explodeRows, "posexplode_outer": explodeRows,
	"inline": inlineRows, "inline_outer": inlineRows,
	"stack": stackRows, "json_tuple": jsonTupleRows,
	"variant_explode": variantRows, "variant_explode_outer": variantRows,
}

// generating is a table function while it is bound: its arguments, and the relation that it fills.
type generating struct {
	*binder
	at   parse.Pos
	name string
	args []Expr
	rel  *Relation
}

// IsGenerator tells whether a name is a table function of this package.
func IsGenerator(name string) bool { return generators[strings.ToLower(name)] != nil }

// BindTableFunction binds a table function as a relation of Kind RelSQL. The environment is that of its arguments: with
// LATERAL it sees the relations to the left.
func BindTableFunction(env Env, f *parse.TableFunction) (*Relation, error) {
	name := strings.ToLower(f.Name[len(f.Name)-1].Name)
	bind := generators[name]
	if bind == nil || len(f.Name) != 1 {
		return nil, unknownTableFunction(f)
	}
	b := &binder{env: env, ctx: env.Context()}
	g := &generating{binder: b, at: f.Pos, name: name}
	for _, a := range f.Args {
		if a.Name != nil {
			return nil, fail(f.Pos, "NAMED_PARAMETERS_NOT_SUPPORTED", "%s takes no named arguments", name)
		}
		e, err := b.bind(a.Expr)
		if err != nil {
			return nil, err
		}
		g.args = append(g.args, e)
	}
	g.rel = env.NewRelation(RelSQL, name)
	g.rel.Lateral = f.Lateral
	if err := bind(g); err != nil {
		return nil, err
	}
	return g.rel, nil
}

func unknownTableFunction(f *parse.TableFunction) error {
	err := fail(f.Pos, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "there is no table function %s", dotted(f.Name))
	names := []string{"table_changes"}
	for name := range generators {
		names = append(names, name)
	}
	if near := parse.Meant(f.Name[len(f.Name)-1].Name, names); near != "" {
		err.WithHint("did you mean %s?", near)
	}
	return err
}

func (g *generating) column(name string, t protocol.DataType, null bool) {
	out := fmt.Sprintf("c%d", len(g.rel.Columns))
	g.rel.Columns = append(g.rel.Columns, OutputColumn{Name: name, Out: out, Type: t, Nullable: null})
}

func (g *generating) counted(least, most int) error {
	if n := len(g.args); n < least || most >= 0 && n > most {
		return fail(g.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s does not take %d arguments", g.name, n)
	}
	return nil
}

func (g *generating) outer() bool { return strings.HasSuffix(g.name, "_outer") }

// integers brings every argument to bigint.
func (g *generating) integers() error {
	for i, a := range g.args {
		if !isIntegral(a.Type()) && a.Type().Kind != protocol.KindString {
			return mismatch(g.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be an integer, not %s", i+1, g.name, a.Type())
		}
		var err error
		if g.args[i], err = convert(a, tLong, g.ctx, false); err != nil {
			return placed(err, g.at)
		}
	}
	return nil
}

// rangeRows is range(end), range(start, end), range(start, end, step) and with a number of partitions, which is ignored.
func rangeRows(g *generating) error {
	if err := g.counted(1, 4); err != nil {
		return err
	}
	if err := g.integers(); err != nil {
		return err
	}
	if len(g.args) == 4 {
		g.args = g.args[:3]
	}
	g.column("id", tLong, false)
	g.rel.SQL, g.rel.Args = "range("+spread("{*}", len(g.args))+")", g.args
	return nil
}

func seriesRows(g *generating) error {
	if err := g.counted(2, 3); err != nil {
		return err
	}
	if err := g.integers(); err != nil {
		return err
	}
	g.column("generate_series", tLong, false)
	g.rel.SQL, g.rel.Args = "generate_series("+spread("{*}", len(g.args))+")", g.args
	return nil
}

func explodeRows(g *generating) error {
	if err := g.counted(1, 1); err != nil {
		return err
	}
	e := g.args[0]
	t := e.Type()
	pos := strings.HasPrefix(g.name, "pos")
	if pos {
		g.column("pos", tInt, g.outer())
	}
	switch t.Kind {
	case protocol.KindArray:
		g.column("col", *t.Element, t.ContainsNull || g.outer())
		g.unnest(e, pos, "{0}")
	case protocol.KindMap:
		g.column("key", *t.Key, g.outer())
		g.column("value", *t.Value, t.ValueContainsNull || g.outer())
		g.unnest(e, pos, "map_keys({0})", "map_values({0})")
	default:
		return mismatch(g.at, "UNEXPECTED_INPUT_TYPE", "%s takes an array or a map, not %s", g.name, t)
	}
	return nil
}

// unnest gives lists of one length side by side, with their positions from 0 in front.
func (g *generating) unnest(e Expr, pos bool, lists ...string) {
	items := make([]string, 0, len(lists)+1)
	if pos {
		items = append(items, "unnest(range(len("+lists[0]+")))")
		if g.outer() {
			items[0] = "unnest(CASE WHEN len(" + lists[0] + ") > 0 THEN range(len(" + lists[0] + ")) ELSE [NULL] END)"
		}
		items[0] = "CAST(" + items[0] + " AS INTEGER)"
	}
	for _, l := range lists {
		if g.outer() {
			l = "CASE WHEN len(" + l + ") > 0 THEN " + l + " ELSE [NULL] END"
		}
		items = append(items, "unnest("+l+")")
	}
	g.rel.SQL, g.rel.Args = "(SELECT "+strings.Join(items, ", ")+")", []Expr{e}
}

// inlineRows is a row for each struct of an array, a column for each member.
func inlineRows(g *generating) error {
	if err := g.counted(1, 1); err != nil {
		return err
	}
	t := g.args[0].Type()
	if t.Kind != protocol.KindArray || t.Element.Kind != protocol.KindStruct {
		return mismatch(g.at, "UNEXPECTED_INPUT_TYPE", "%s takes an array of structs, not %s", g.name, t)
	}
	lists := make([]string, len(t.Element.Fields))
	for i, f := range t.Element.Fields {
		g.column(string(f.Name), f.Type, f.Nullable || t.ContainsNull || g.outer())
		lists[i] = "list_transform({0}, lambda s: " + member("s", f.Name) + ")"
	}
	g.unnest(g.args[0], false, lists...)
	return nil
}

// stackRows is stack(n, e1, e2, ...): n rows of the values in turn.
func stackRows(g *generating) error {
	if err := g.counted(2, -1); err != nil {
		return err
	}
	n, ok := constantInt(g.args[0])
	if !ok || n < 1 {
		return mismatch(g.at, "VALUE_OUT_OF_RANGE", "the first argument of stack must be a constant number of rows above 0")
	}
	values, rows := g.args[1:], int(n)
	width := (len(values) + rows - 1) / rows
	var args []Expr
	var items []string
	for column := 0; column < width; column++ {
		var list []Expr
		for row := 0; row < rows; row++ {
			if i := row*width + column; i < len(values) {
				list = append(list, values[i])
			} else {
				list = append(list, Null(tVoid))
			}
		}
		list, t, err := g.unified(list, g.at)
		if err != nil {
			return err
		}
		marks := make([]string, len(list))
		for i := range list {
			marks[i] = operand(len(args) + i)
		}
		args = append(args, list...)
		items = append(items, "unnest(CAST(["+strings.Join(marks, ", ")+"] AS "+DuckType(t)+"[]))")
		g.column(fmt.Sprintf("col%d", column), t, anyNullable(list))
	}
	g.rel.SQL, g.rel.Args = "(SELECT "+strings.Join(items, ", ")+")", args
	return nil
}

// jsonTupleRows is one row of the members of a JSON object that are named, as text.
func jsonTupleRows(g *generating) error {
	if err := g.counted(2, -1); err != nil {
		return err
	}
	doc, err := convert(g.args[0], tString, g.ctx, false)
	if err != nil {
		return placed(err, g.at)
	}
	items := make([]string, len(g.args)-1)
	for i, a := range g.args[1:] {
		name, ok := constantText(a)
		if !ok {
			return notSupported(g.at, "the names of json_tuple must be constants")
		}
		path := `$."` + strings.ReplaceAll(name, `"`, `\"`) + `"`
		items[i] = "CASE WHEN json_valid({0}) THEN json_extract_string({0}, " + quoteText(path) + ") END"
		g.column(fmt.Sprintf("c%d", i), tString, true)
	}
	g.rel.SQL, g.rel.Args = "(SELECT "+strings.Join(items, ", ")+")", []Expr{doc}
	return nil
}

// variantRows is a row for each element of an array or each member of an object in a variant: position, key, value.
func variantRows(g *generating) error {
	if err := g.counted(1, 1); err != nil {
		return err
	}
	if t := g.args[0].Type(); t.Kind != protocol.KindVariant {
		return mismatch(g.at, "UNEXPECTED_INPUT_TYPE", "%s takes a variant, not %s", g.name, t)
	}
	g.column("pos", tInt, g.outer())
	g.column("key", tString, true)
	g.column("value", tVariant, g.outer())
	g.unnest(g.args[0], true, "variant_item_keys({0})", "variant_items({0})")
	return nil
}
