package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// lambdaFunctions take a function of their elements. DuckDB counts an index from 1 and has no three-valued exists, so bodies
// are rewritten or folded where needed.
var lambdaFunctions = []*function{
	lazily("transform", inBoth, "any any", transformArray),
	lazily("filter", inBoth, "any any", filterArray),
	lazily("exists any_match", inBoth, "any any", holds("OR", "false")),
	lazily("forall all_match", inBoth, "any any", holds("AND", "true")),
	lazily("aggregate reduce", inBoth, "any any any [any]", reduce),
	lazily("zip_with", inBoth, "any any any", zipWith),
	lazily("map_filter", inBoth, "any any", mapFilter),
	lazily("transform_keys", inBoth, "any any", transformMap(true)),
	lazily("transform_values", inBoth, "any any", transformMap(false)),
	lazily("map_zip_with", inBoth, "any any any", mapZipWith),
	lazily("array_sort", inBoth, "any [any]", arraySort),
}

// parameterOf is a lambda's parameter: its type, and how it is printed where that is not by its own name.
type parameterOf struct {
	of  protocol.DataType
	sql string // a template over the lambda's first parameter, "" for the parameter itself
	raw protocol.DataType
}

// lambda binds argument i as a function of the given parameters.
func (c *call) lambda(i int, params ...parameterOf) (*Lambda, error) {
	n, ok := c.node.Args[i].Expr.(*parse.Lambda)
	if !ok {
		return nil, fail(c.at, "INVALID_LAMBDA_FUNCTION_CALL", "argument %d of %s must be a lambda such as x -> x + 1", i+1, c.name)
	}
	if len(n.Params) > len(params) {
		return nil, fail(n.At(), "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "%s calls its lambda with %d arguments, this one takes %d", c.name, len(params), len(n.Params))
	}
	rel := c.env.NewRelation(RelLambda, c.name)
	seen := map[string]bool{}
	derived := &derivedEnv{Env: nil, values: map[string]Expr{}}
	for k, p := range n.Params {
		key := strings.ToLower(p.Name)
		if seen[key] {
			return nil, fail(p.Pos, "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES", "the lambda has two arguments named %s", p.Name)
		}
		seen[key] = true
		of := params[k].of
		if params[k].sql != "" {
			of = params[k].raw
		}
		rel.Columns = append(rel.Columns, OutputColumn{Name: p.Name, Out: fmt.Sprintf("l%d_%d", rel.ID, k), Type: of, Nullable: true})
	}
	for k, p := range n.Params {
		if params[k].sql != "" {
			own := &Column{Typed{params[k].raw, true}, rel, k}
			derived.values[strings.ToLower(p.Name)] = rawOf(params[k].of, params[k].sql, own)
		}
	}
	derived.Env = c.env.Lambda(rel)
	var env Env = derived
	if len(derived.values) == 0 {
		env = derived.Env
	}
	body, err := c.in(env).bind(n.Body)
	if err != nil {
		return nil, err
	}
	return &Lambda{Typed: Typed{body.Type(), body.Nullable()}, Params: rel, Body: body}, nil
}

// derivedEnv gives some names of a lambda a computed value: an index counted from 0, a key or a value of an entry.
type derivedEnv struct {
	Env
	values map[string]Expr
}

func (e *derivedEnv) Resolve(name parse.Name) (Expr, error) {
	if v, ok := e.values[strings.ToLower(name[0].Name)]; ok {
		for _, part := range name[1:] {
			var err error
			if v, err = member1(v, part); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	return e.Env.Resolve(name)
}

func (e *derivedEnv) Lambda(params *Relation) Env {
	values := map[string]Expr{}
	for name, v := range e.values {
		values[name] = v
	}
	for _, c := range params.Columns {
		delete(values, strings.ToLower(c.Name))
	}
	return &derivedEnv{e.Env.Lambda(params), values}
}

func (e *derivedEnv) AggregateArgs() Env { return &derivedEnv{e.Env.AggregateArgs(), e.values} }

// index is a lambda's parameter that counts elements from 0.
func index() parameterOf {
	return parameterOf{of: tInt, sql: "CAST({0} - 1 AS INTEGER)", raw: tLong}
}

func element(t protocol.DataType) parameterOf { return parameterOf{of: t} }

// arrayArg binds argument i, which must be an array.
func (c *call) arrayArg(i int) (Expr, error) { return c.collectionArg(i, "array", "an array") }

// mapArg binds argument i, which must be a map.
func (c *call) mapArg(i int) (Expr, error) { return c.collectionArg(i, "map", "a map") }

// collectionArg binds argument i, which must be of a kind; what names it in the message.
func (c *call) collectionArg(i int, kind, what string) (Expr, error) {
	e, err := c.bind(c.node.Args[i].Expr)
	if err != nil {
		return nil, err
	}
	out, err := c.accept(e, kind)
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be %s, not %s", i+1, c.name, what, e.Type())
	}
	return out, nil
}

func transformArray(c *call) (Expr, error) {
	list, err := c.arrayArg(0)
	if err != nil {
		return nil, err
	}
	f, err := c.lambda(1, element(elementOf(list)), index())
	if err != nil {
		return nil, err
	}
	t := arrayOf(f.Body.Type())
	t.ContainsNull = f.Body.Nullable()
	return &Raw{Typed: Typed{t, list.Nullable()}, SQL: "list_transform({0}, {1})", Args: []Expr{list, f}}, nil
}

// predicate makes a lambda's body a boolean.
func (c *call) predicate(f *Lambda) (*Lambda, error) {
	body, err := c.truth(f.Body, c.at)
	if err != nil {
		return nil, err
	}
	return &Lambda{Typed: Typed{tBoolean, body.Nullable()}, Params: f.Params, Body: body}, nil
}

func filterArray(c *call) (Expr, error) {
	list, err := c.arrayArg(0)
	if err != nil {
		return nil, err
	}
	f, err := c.lambda(1, element(elementOf(list)), index())
	if err != nil {
		return nil, err
	}
	if f, err = c.predicate(f); err != nil {
		return nil, err
	}
	return &Raw{Typed: Typed{list.Type(), list.Nullable()}, SQL: "list_filter({0}, {1})", Args: []Expr{list, f}}, nil
}

// holds is exists and forall, three-valued: OR or AND over the predicate's values.
func holds(op, start string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		list, err := c.arrayArg(0)
		if err != nil {
			return nil, err
		}
		f, err := c.lambda(1, element(elementOf(list)))
		if err != nil {
			return nil, err
		}
		if f, err = c.predicate(f); err != nil {
			return nil, err
		}
		sql := "list_reduce(list_transform({0}, {1}), lambda verdict, item: verdict " + op + " item, " + start + ")"
		return &Raw{Typed: Typed{tBoolean, true}, SQL: sql, Args: []Expr{list, f}}, nil
	}
}

// reduce is aggregate(array, start, (acc, x) -> merge [, acc -> finish]).
func reduce(c *call) (Expr, error) {
	list, err := c.arrayArg(0)
	if err != nil {
		return nil, err
	}
	start, err := c.bind(c.node.Args[1].Expr)
	if err != nil {
		return nil, err
	}
	merge, err := c.lambda(2, element(start.Type()), element(elementOf(list)))
	if err != nil {
		return nil, err
	}
	if len(merge.Params.Columns) != 2 {
		return nil, fail(c.at, "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "the second lambda of %s takes the accumulator and an element", c.name)
	}
	if !merge.Body.Type().Equal(start.Type()) {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s: the lambda gives %s, the accumulator is %s", c.name, merge.Body.Type(), start.Type()).
			WithHint("cast the start value to %s", merge.Body.Type())
	}
	out := &Raw{Typed: Typed{start.Type(), true}, SQL: "list_reduce({0}, {1}, {2})", Args: []Expr{list, merge, start}}
	if len(c.node.Args) == 3 {
		return out, nil
	}
	finish, err := c.lambda(3, element(start.Type()))
	if err != nil {
		return nil, err
	}
	return &Raw{Typed: Typed{finish.Body.Type(), true}, SQL: "CASE WHEN {0} IS NOT NULL THEN list_transform([list_reduce({0}, {1}, {2})], {3})[1] END", Args: []Expr{list, merge, start, finish}}, nil
}

// zipWith pairs two arrays; the shorter one is filled with NULL.
func zipWith(c *call) (Expr, error) {
	left, err := c.arrayArg(0)
	if err != nil {
		return nil, err
	}
	right, err := c.arrayArg(1)
	if err != nil {
		return nil, err
	}
	return c.overPairs("list_zip({0}, {1})", left, right, elementOf(left), elementOf(right))
}

func (c *call) overPairs(pairs string, left, right Expr, lt, rt protocol.DataType) (Expr, error) {
	f, err := c.entryLambda(2, lt, rt, "{0}[1]", "{0}[2]")
	if err != nil {
		return nil, err
	}
	sql := "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN list_transform(" + pairs + ", {2}) END"
	return &Raw{Typed: Typed{arrayOf(f.Body.Type()), true}, SQL: sql, Args: []Expr{left, right, f}}, nil
}

// entryLambda binds a lambda of two arguments as a DuckDB lambda of one, of which both are parts.
func (c *call) entryLambda(i int, first, second protocol.DataType, firstSQL, secondSQL string) (*Lambda, error) {
	n, ok := c.node.Args[i].Expr.(*parse.Lambda)
	if !ok || len(n.Params) != 2 {
		return nil, fail(c.at, "INVALID_LAMBDA_FUNCTION_CALL", "argument %d of %s must be a lambda of two arguments", i+1, c.name)
	}
	rel := c.env.NewRelation(RelLambda, c.name)
	entry := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "key", Type: first, Nullable: true}, {Name: "value", Type: second, Nullable: true}}}
	// The one printed parameter carries no name that a text could say.
	rel.Columns = []OutputColumn{{Name: "\x00entry", Out: fmt.Sprintf("l%d_0", rel.ID), Type: entry, Nullable: true}}
	own := &Column{Typed{entry, true}, rel, 0}
	env := &derivedEnv{c.env.Lambda(rel), map[string]Expr{
		strings.ToLower(n.Params[0].Name): rawOf(first, firstSQL, own),
		strings.ToLower(n.Params[1].Name): rawOf(second, secondSQL, own),
	}}
	body, err := c.in(env).bind(n.Body)
	if err != nil {
		return nil, err
	}
	return &Lambda{Typed: Typed{body.Type(), body.Nullable()}, Params: rel, Body: body}, nil
}

func mapFilter(c *call) (Expr, error) {
	m, err := c.mapArg(0)
	if err != nil {
		return nil, err
	}
	f, err := c.entryLambda(1, *m.Type().Key, *m.Type().Value, "{0}.key", "{0}.value")
	if err != nil {
		return nil, err
	}
	if f, err = c.predicate(f); err != nil {
		return nil, err
	}
	return &Raw{Typed: Typed{m.Type(), m.Nullable()}, SQL: "map_from_entries(list_filter(map_entries({0}), {1}))", Args: []Expr{m, f}}, nil
}

func transformMap(keys bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		m, err := c.mapArg(0)
		if err != nil {
			return nil, err
		}
		f, err := c.entryLambda(1, *m.Type().Key, *m.Type().Value, "{0}.key", "{0}.value")
		if err != nil {
			return nil, err
		}
		if keys {
			t := mapOf(f.Body.Type(), *m.Type().Value)
			return &Raw{Typed: Typed{t, m.Nullable()}, SQL: "map(list_transform(map_entries({0}), {1}), map_values({0}))", Args: []Expr{m, f}}, nil
		}
		t := mapOf(*m.Type().Key, f.Body.Type())
		return &Raw{Typed: Typed{t, m.Nullable()}, SQL: "map(map_keys({0}), list_transform(map_entries({0}), {1}))", Args: []Expr{m, f}}, nil
	}
}

// mapZipWith joins two maps by key: f(key, value of the first or NULL, value of the second or NULL).
func mapZipWith(c *call) (Expr, error) {
	left, err := c.mapArg(0)
	if err != nil {
		return nil, err
	}
	right, err := c.mapArg(1)
	if err != nil {
		return nil, err
	}
	n, ok := c.node.Args[2].Expr.(*parse.Lambda)
	if !ok || len(n.Params) != 3 {
		return nil, fail(c.at, "INVALID_LAMBDA_FUNCTION_CALL", "argument 3 of map_zip_with must be a lambda of three arguments")
	}
	key, ok := commonType(*left.Type().Key, *right.Type().Key, c.ctx)
	if !ok || !key.Equal(*left.Type().Key) || !key.Equal(*right.Type().Key) {
		return nil, mismatch(c.at, "MAP_ZIP_WITH_DIFF_TYPES", "map_zip_with takes maps with keys of one type, not %s and %s", left.Type(), right.Type())
	}
	rel := c.env.NewRelation(RelLambda, c.name)
	rel.Columns = []OutputColumn{{Name: n.Params[0].Name, Out: fmt.Sprintf("l%d_0", rel.ID), Type: key, Nullable: false}}
	own := &Column{Typed{key, false}, rel, 0}
	env := &derivedEnv{c.env.Lambda(rel), map[string]Expr{
		strings.ToLower(n.Params[1].Name): mapValue(left, own),
		strings.ToLower(n.Params[2].Name): mapValue(right, own),
	}}
	body, err := c.in(env).bind(n.Body)
	if err != nil {
		return nil, err
	}
	f := &Lambda{Typed: Typed{body.Type(), body.Nullable()}, Params: rel, Body: body}
	keys := "list_unique_in_order(map_keys({0}) || map_keys({1}))"
	sql := "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN map(" + keys + ", list_transform(" + keys + ", {2})) END"
	return &Raw{Typed: Typed{mapOf(key, body.Type()), true}, SQL: sql, Args: []Expr{left, right, f}}, nil
}

// arraySort sorts with NULLs last, or by a comparator.
func arraySort(c *call) (Expr, error) {
	list, err := c.arrayArg(0)
	if err != nil {
		return nil, err
	}
	if len(c.node.Args) == 1 {
		if !isOrderable(elementOf(list)) {
			return nil, mismatch(c.at, "INVALID_ORDERING_TYPE", "values of type %s cannot be sorted", elementOf(list))
		}
		return rawOf(list.Type(), "list_sort({0}, 'ASC', 'NULLS LAST')", list), nil
	}
	n, ok := c.node.Args[1].Expr.(*parse.Lambda)
	if !ok || len(n.Params) != 2 {
		return nil, fail(c.at, "INVALID_LAMBDA_FUNCTION_CALL", "argument 2 of array_sort must be a lambda of two arguments")
	}
	return c.insertionSort(list)
}

// insertionSort sorts by a comparator, since DuckDB sorts by no function: each element goes behind those that the comparator does
// not put after it.
func (c *call) insertionSort(list Expr) (Expr, error) {
	n := c.node.Args[1].Expr.(*parse.Lambda)
	t := elementOf(list)
	compare, err := c.lambda(1, element(t), element(t))
	if err != nil {
		return nil, err
	}
	if !isNumeric(compare.Body.Type()) {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "the comparator of array_sort must give an integer, not %s", compare.Body.Type())
	}
	// sorted and item are the parameters of the fold; the comparator's are taken by the filter inside it.
	sorted := c.env.NewRelation(RelLambda, "sorted")
	sorted.Columns = []OutputColumn{
		{Name: "\x00sorted", Out: fmt.Sprintf("l%d_0", sorted.ID), Type: arrayOf(t), Nullable: true},
		{Name: n.Params[1].Name, Out: fmt.Sprintf("l%d_1", sorted.ID), Type: t, Nullable: true},
	}
	inner := c.env.Lambda(sorted)
	before := inner.NewRelation(RelLambda, "before")
	before.Columns = []OutputColumn{{Name: n.Params[0].Name, Out: fmt.Sprintf("l%d_0", before.ID), Type: t, Nullable: true}}
	body, err := c.in(inner.Lambda(before)).bind(n.Body)
	if err != nil {
		return nil, err
	}
	not := &Raw{Typed: Typed{tBoolean, true}, SQL: "({0} <= 0)", Args: []Expr{body}}
	after := &Raw{Typed: Typed{tBoolean, true}, SQL: "({0} > 0)", Args: []Expr{body}}
	all := &Column{Typed{arrayOf(t), true}, sorted, 0}
	item := &Column{Typed{t, true}, sorted, 1}
	step := &Raw{Typed: Typed{arrayOf(t), true}, SQL: "list_filter({0}, {1}) || [{2}] || list_filter({0}, {3})", Args: []Expr{
		all, &Lambda{Typed{tBoolean, true}, before, not}, item, &Lambda{Typed{tBoolean, true}, before, after},
	}}
	fold := &Lambda{Typed{arrayOf(t), true}, sorted, step}
	return &Raw{Typed: Typed{list.Type(), list.Nullable()}, SQL: "list_reduce({0}, {1}, CAST([] AS " + DuckType(list.Type()) + "))", Args: []Expr{list, fold}}, nil
}
