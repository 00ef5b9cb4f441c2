package expr

import (
	"strconv"
	"strings"

	"deltasql/protocol"
)

// collectionFunctions make and take apart arrays, maps and structs.
var collectionFunctions = []*function{
	custom("array", inBoth, "any*", array),
	custom("map", inBoth, "any*", mapFunction),
	lazily("named_struct", inBoth, "any*", namedStruct),
	lazily("struct", inBoth, "any+", structFunction),
	custom("map_from_arrays", inBoth, "array array", func(c *call) (Expr, error) {
		return rawOf(mapOf(elementOf(c.args[0]), elementOf(c.args[1])), "map({0}, {1})", c.args...), nil
	}),
	custom("map_from_entries", inBoth, "array", mapFromEntries),
	custom("str_to_map", inBoth, "string [string] [string]", strToMap),
	custom("size cardinality", inBoth, "any", size),
	fn("array_size", inBoth, "array", asInt, "CAST(len({0}) AS INTEGER)").total(),
	custom("element_at", inBoth, "any any", elementAt(false)),
	custom("try_element_at", inBoth, "any any", elementAt(true)),
	custom("get", inBoth, "array int", func(c *call) (Expr, error) {
		return rawNull(elementOf(c.args[0]), "CASE WHEN {1} >= 0 THEN {0}[{1} + 1] END", c.args...), nil
	}),
	custom("array_contains", inBoth, "array any", withItem(tBoolean, "CASE WHEN list_contains({0}, {1}) THEN true WHEN {1} IS NULL OR {0} IS NULL OR len({0}) > list_count({0}) THEN NULL ELSE false END")),
	custom("array_position", inBoth, "array any", withItem(tLong, "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN CAST(coalesce(list_position({0}, {1}), 0) AS BIGINT) END")),
	custom("array_remove", inBoth, "array any", func(c *call) (Expr, error) {
		list, item, err := c.withElement(c.args[0], c.args[1])
		return rawOf(list.Type(), "CASE WHEN {1} IS NOT NULL THEN list_filter({0}, lambda item: item IS DISTINCT FROM {1}) END", list, item), err
	}),
	custom("array_append", inBoth, "array any", func(c *call) (Expr, error) {
		list, item, err := c.withElement(c.args[0], c.args[1])
		return rawOf(list.Type(), "CASE WHEN {0} IS NOT NULL THEN list_append({0}, {1}) END", list, item), err
	}),
	custom("array_prepend", inBoth, "array any", func(c *call) (Expr, error) {
		list, item, err := c.withElement(c.args[0], c.args[1])
		return rawOf(list.Type(), "CASE WHEN {0} IS NOT NULL THEN list_prepend({1}, {0}) END", list, item), err
	}),
	custom("array_insert", inBoth, "array int any", func(c *call) (Expr, error) {
		list, item, err := c.withElement(c.args[0], c.args[2])
		return rawOf(list.Type(), "list_insert_at({0}, {1}, {2})", list, c.args[1], item), err
	}),
	custom("array_distinct", inBoth, "array", keepType("list_unique_in_order({0})")),
	custom("array_max", inBoth, "array", func(c *call) (Expr, error) { return rawNull(elementOf(c.args[0]), "list_max({0})", c.args...), nil }),
	custom("array_min", inBoth, "array", func(c *call) (Expr, error) { return rawNull(elementOf(c.args[0]), "list_min({0})", c.args...), nil }),
	custom("array_union", inBoth, "array array", twoArrays("list_unique_in_order({0} || {1})")),
	custom("array_intersect", inBoth, "array array", twoArrays("list_unique_in_order(list_filter({0}, lambda item: list_has_null({1}, item)))")),
	custom("array_except", inBoth, "array array", twoArrays("list_unique_in_order(list_filter({0}, lambda item: NOT list_has_null({1}, item)))")),
	custom("arrays_overlap", inBoth, "array array", func(c *call) (Expr, error) {
		list, _, err := c.unified(c.args, c.at)
		return rawNull(tBoolean, "CASE WHEN list_has_any({0}, {1}) THEN true WHEN len({0}) > 0 AND len({1}) > 0 AND (list_count({0}) < len({0}) OR list_count({1}) < len({1})) THEN NULL WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN false END", list...), err
	}),
	custom("array_join", inBoth, "array string [string]", arrayJoin),
	custom("array_repeat", inBoth, "any int", func(c *call) (Expr, error) {
		return rawOf(arrayOf(c.args[0].Type()), "CASE WHEN {1} IS NOT NULL THEN list_transform(range(CAST({1} AS BIGINT)), lambda item: {0}) END", typedVoid(c.args[0]), c.args[1]), nil
	}),
	custom("array_compact", inBoth, "array", keepType("list_filter({0}, lambda item: item IS NOT NULL)")),
	custom("sort_array", inBoth, "array [boolean]", sortArray),
	custom("flatten", inBoth, "array", func(c *call) (Expr, error) {
		inner := elementOf(c.args[0])
		if inner.Kind != protocol.KindArray {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "flatten takes an array of arrays, not %s", c.args[0].Type())
		}
		return rawNull(inner, "CASE WHEN list_count({0}) = len({0}) THEN flatten({0}) END", c.args...), nil
	}),
	custom("slice", inBoth, "array int int", keepType("list_part({0}, {1}, {2})")),
	custom("sequence", inBoth, "any any [any]", sequence),
	custom("shuffle", inBoth, "array", refused("its order cannot be repeated")),
	custom("arrays_zip", inBoth, "array+", arraysZip),
	custom("map_keys", inBoth, "map", func(c *call) (Expr, error) {
		return rawOf(arrayOf(*c.args[0].Type().Key), "map_keys({0})", c.args...), nil
	}),
	custom("map_values", inBoth, "map", func(c *call) (Expr, error) {
		return rawOf(arrayOf(*c.args[0].Type().Value), "map_values({0})", c.args...), nil
	}),
	custom("map_entries", inBoth, "map", func(c *call) (Expr, error) {
		return rawOf(arrayOf(entryOf(c.args[0].Type())), "map_entries({0})", c.args...), nil
	}),
	custom("map_contains_key", inBoth, "map any", func(c *call) (Expr, error) {
		key, err := convert(c.args[1], *c.args[0].Type().Key, c.ctx, false)
		return rawOf(tBoolean, "map_contains({0}, {1})", c.args[0], key), placed(err, c.at)
	}),
	custom("map_concat", inBoth, "map*", mapConcat),
}

func elementOf(e Expr) protocol.DataType { return *e.Type().Element }

func entryOf(m protocol.DataType) protocol.DataType {
	return protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{
		{Name: "key", Type: *m.Key}, {Name: "value", Type: *m.Value, Nullable: m.ValueContainsNull},
	}}
}

// keepType is a call over an array that gives an array of its type.
func keepType(sql string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) { return rawOf(c.args[0].Type(), sql, c.args...), nil }
}

func twoArrays(sql string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		list, t, err := c.unified(c.args, c.at)
		if err != nil {
			return nil, err
		}
		return rawOf(t, "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN "+sql+" END", list...), nil
	}
}

// withElement brings an array and a value to one element type.
func (c *call) withElement(list, item Expr) (Expr, Expr, error) {
	t, ok := commonType(elementOf(list), item.Type(), c.ctx)
	if !ok {
		return list, item, mismatch(c.at, "ARRAY_FUNCTION_DIFF_TYPES", "%s takes an array and a value of its element's type, not %s and %s", c.name, list.Type(), item.Type())
	}
	out, err := convert(list, arrayOf(t), c.ctx, false)
	if err != nil {
		return list, item, placed(err, c.at)
	}
	value, err := convert(item, t, c.ctx, false)
	return out, value, placed(err, c.at)
}

// withItem is a search for an item in an array.
func withItem(t protocol.DataType, sql string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		list, item, err := c.withElement(c.args[0], c.args[1])
		if err != nil {
			return nil, err
		}
		return rawNull(t, sql, list, item), nil
	}
}

func array(c *call) (Expr, error) {
	list, t, err := c.unified(c.args, c.at)
	if err != nil {
		return nil, err
	}
	out := arrayOf(t)
	out.ContainsNull = anyNullable(list)
	if len(list) == 0 || t.Kind == protocol.KindVoid {
		return &Raw{Typed: Typed{out, false}, SQL: "CAST([" + spread("{*}", len(list)) + "] AS INTEGER[])", Args: list}, nil
	}
	return &Raw{Typed: Typed{out, false}, SQL: "[" + spread("{*}", len(list)) + "]", Args: list}, nil
}

func mapFunction(c *call) (Expr, error) {
	if len(c.args)%2 != 0 {
		return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "map takes pairs of a key and a value, not %d arguments", len(c.args))
	}
	var keys, values []Expr
	for i := 0; i < len(c.args); i += 2 {
		keys, values = append(keys, c.args[i]), append(values, c.args[i+1])
	}
	keys, keyType, err := c.unified(keys, c.at)
	if err != nil {
		return nil, err
	}
	values, valueType, err := c.unified(values, c.at)
	if err != nil {
		return nil, err
	}
	if keyType.Kind == protocol.KindMap {
		return nil, mismatch(c.at, "INVALID_MAP_KEY_TYPE", "a map cannot be the key of a map")
	}
	t := mapOf(keyType, valueType)
	if len(keys) == 0 {
		return &Raw{Typed: Typed{t, false}, SQL: "CAST(map([], []) AS " + DuckType(t) + ")"}, nil
	}
	var k, v []string
	for i := range keys {
		k, v = append(k, operand(2*i)), append(v, operand(2*i+1))
	}
	args := make([]Expr, 0, len(c.args))
	for i := range keys {
		args = append(args, typedVoid(keys[i]), typedVoid(values[i]))
	}
	return &Raw{Typed: Typed{t, false}, SQL: "map([" + strings.Join(k, ", ") + "], [" + strings.Join(v, ", ") + "])", Args: args}, nil
}

func namedStruct(c *call) (Expr, error) {
	args, err := c.bound(c.binder, c.node.Args)
	if err != nil {
		return nil, err
	}
	if len(args)%2 != 0 || len(args) == 0 {
		return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "named_struct takes pairs of a name and a value, not %d arguments", len(args))
	}
	var names []string
	var items []Expr
	for i := 0; i < len(args); i += 2 {
		name, ok := constantText(args[i])
		if !ok {
			return nil, mismatch(c.at, "CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", "the names of named_struct must be constant text")
		}
		names, items = append(names, name), append(items, args[i+1])
	}
	if err := distinctNames(names, c.at); err != nil {
		return nil, err
	}
	return structOf(names, items), nil
}

func structFunction(c *call) (Expr, error) {
	var names []string
	var items []Expr
	for i, a := range c.node.Args {
		bound, err := c.bound(c.binder, c.node.Args[i:i+1])
		if err != nil {
			return nil, err
		}
		for _, e := range bound {
			name := structName(a.Expr, len(items))
			switch n := e.(type) {
			case *Column:
				if len(bound) > 1 {
					name = n.Relation.Columns[n.Index].Name
				}
			case *Field:
				if len(bound) > 1 {
					name = string(n.Name)
				}
			}
			names, items = append(names, name), append(items, e)
		}
	}
	if err := distinctNames(names, c.at); err != nil {
		return nil, err
	}
	return structOf(names, items), nil
}

func mapFromEntries(c *call) (Expr, error) {
	t := elementOf(c.args[0])
	if t.Kind != protocol.KindStruct || len(t.Fields) != 2 {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "map_from_entries takes an array of structs of two fields, not %s", c.args[0].Type())
	}
	m := mapOf(t.Fields[0].Type, t.Fields[1].Type)
	sql := "map_from_entries(list_transform({0}, lambda entry: struct_pack(key := " + member("entry", t.Fields[0].Name) + ", value := " + member("entry", t.Fields[1].Name) + ")))"
	return rawOf(m, sql, c.args...), nil
}

func strToMap(c *call) (Expr, error) {
	pair, key := Expr(textLiteral(",")), Expr(textLiteral(":"))
	if len(c.args) > 1 {
		pair = c.args[1]
	}
	if len(c.args) > 2 {
		key = c.args[2]
	}
	sql := "map_from_entries(list_transform(string_split({0}, {1}), lambda entry: struct_pack(key := split_part(entry, {2}, 1), value := CASE WHEN contains(entry, {2}) THEN substring(entry, instr(entry, {2}) + length({2})) END)))"
	return rawOf(mapOf(tString, tString), sql, c.args[0], pair, key), nil
}

func size(c *call) (Expr, error) {
	switch c.args[0].Type().Kind {
	case protocol.KindArray:
		return rawOf(tInt, "CAST(len({0}) AS INTEGER)", c.args...), nil
	case protocol.KindMap:
		return rawOf(tInt, "CAST(cardinality({0}) AS INTEGER)", c.args...), nil
	}
	return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes an array or a map, not %s", c.name, c.args[0].Type())
}

// elementAt counts from 1 and from the end where negative; outside is an error, in try_element_at NULL.
func elementAt(try bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		list, at := c.args[0], c.args[1]
		switch list.Type().Kind {
		case protocol.KindMap:
			key, err := convert(at, *list.Type().Key, c.ctx, false)
			if err != nil {
				return nil, placed(err, c.at)
			}
			return mapValue(list, key), nil
		case protocol.KindArray:
			index, err := c.accept(at, "int")
			if err != nil {
				return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "the index of %s must be an integer, not %s", c.name, at.Type())
			}
			zero := failSQL("INVALID_INDEX_OF_ZERO", "The index 0 is invalid. An index shall be either < 0 or > 0.")
			outside := "error('[INVALID_ARRAY_INDEX_IN_ELEMENT_AT] The index ' || {1} || ' is out of bounds. The array has ' || len({0}) || ' elements. Use try_element_at to get NULL instead.')"
			if try {
				outside = "NULL"
			}
			if i, ok := constantInt(index); ok && i != 0 && try {
				return rawNull(elementOf(list), "{0}[{1}]", list, index), nil
			}
			sql := "CASE WHEN {1} = 0 THEN " + zero + " WHEN abs({1}) > len({0}) THEN " + outside + " ELSE {0}[{1}] END"
			return rawNull(elementOf(list), once(list, sql), list, index), nil
		}
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes an array or a map, not %s", c.name, list.Type())
	}
}

func arrayJoin(c *call) (Expr, error) {
	list, err := convert(c.args[0], arrayOf(tString), c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	if len(c.args) == 3 {
		return rawOf(tString, joined("list_transform({0}, lambda item: coalesce(item, {2}))", "{1}", c.args[1]), list, c.args[1], c.args[2]), nil
	}
	return rawOf(tString, joined("{0}", "{1}", c.args[1]), list, c.args[1]), nil
}

func sortArray(c *call) (Expr, error) {
	if !isOrderable(elementOf(c.args[0])) {
		return nil, mismatch(c.at, "INVALID_ORDERING_TYPE", "values of type %s cannot be sorted", elementOf(c.args[0]))
	}
	order := "'ASC', 'NULLS FIRST'"
	if len(c.args) == 2 {
		l, ok := asLiteral(c.args[1])
		if !ok {
			return nil, notSupported(c.at, "the direction of sort_array must be a constant")
		}
		if l.Value.Int == 0 {
			order = "'DESC', 'NULLS LAST'"
		}
	}
	return rawOf(c.args[0].Type(), "list_sort({0}, "+order+")", c.args[0]), nil
}

// sequence is the numbers, dates or timestamps from one to another, both included; without a step it goes towards the end.
func sequence(c *call) (Expr, error) {
	from, to := c.args[0], c.args[1]
	t, ok := commonType(from.Type(), to.Type(), c.ctx)
	if !ok || !isIntegral(t) && !isDatetime(t) {
		return nil, mismatch(c.at, "SEQUENCE_WRONG_INPUT_TYPES", "sequence takes two integers, dates or timestamps, not %s and %s", from.Type(), to.Type())
	}
	args := make([]Expr, 2, 3)
	for i, e := range c.args[:2] {
		var err error
		if args[i], err = convert(e, t, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
	}
	out := arrayOf(t)
	out.ContainsNull = false
	if isIntegral(t) {
		step := "CASE WHEN {0} <= {1} THEN 1 ELSE -1 END"
		if len(c.args) == 3 {
			e, err := convert(c.args[2], tLong, c.ctx, false)
			if err != nil {
				return nil, placed(err, c.at)
			}
			args, step = append(args, e), "{2}"
		}
		return castTo(out, "sequence_checked(CAST({0} AS BIGINT), CAST({1} AS BIGINT), "+step+")", args...), nil
	}
	step := "INTERVAL 1 DAY"
	if len(c.args) == 3 {
		if !isInterval(c.args[2].Type()) {
			return nil, mismatch(c.at, "SEQUENCE_WRONG_INPUT_TYPES", "the step of a sequence of dates must be an interval, not %s", c.args[2].Type())
		}
		args, step = append(args, c.args[2]), "{2}"
	}
	if t.Kind == protocol.KindTimestamp {
		return castTo(out, "generate_series({0}, {1}, "+step+")", args...), nil
	}
	return castTo(out, "generate_series(CAST({0} AS TIMESTAMP), CAST({1} AS TIMESTAMP), "+step+")", args...), nil
}

func arraysZip(c *call) (Expr, error) {
	fields := make([]protocol.Field, len(c.args))
	members := make([]string, len(c.args))
	for i, a := range c.args {
		name := strconv.Itoa(i)
		if c.node != nil && i < len(c.node.Args) {
			if n := structName(c.node.Args[i].Expr, i); !strings.HasPrefix(n, "col") {
				name = n
			}
		}
		for _, f := range fields[:i] {
			if strings.EqualFold(string(f.Name), name) {
				name = strconv.Itoa(i)
			}
		}
		fields[i] = protocol.Field{Name: protocol.LogicalName(name), Type: elementOf(a), Nullable: true}
		members[i] = quoteIdent(name) + " := entry[" + strconv.Itoa(i+1) + "]"
	}
	t := arrayOf(protocol.DataType{Kind: protocol.KindStruct, Fields: fields})
	return rawOf(t, "list_transform(list_zip("+spread("{*}", len(c.args))+"), lambda entry: struct_pack("+strings.Join(members, ", ")+"))", c.args...), nil
}

func mapConcat(c *call) (Expr, error) {
	if len(c.args) == 0 {
		return &Raw{Typed: Typed{mapOf(tString, tString), false}, SQL: "CAST(map([], []) AS MAP(VARCHAR, VARCHAR))"}, nil
	}
	list, t, err := c.unified(c.args, c.at)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = "map_entries(" + operand(i) + ")"
	}
	return rawOf(t, "map_from_entries("+strings.Join(parts, " || ")+")", list...), nil
}
