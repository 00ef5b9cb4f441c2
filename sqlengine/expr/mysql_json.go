package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// mysqlJSONFunctions work on JSON text. Their results are text that is marked as JSON, so that one inside another stays a
// document instead of becoming a quoted string.
var mysqlJSONFunctions = []*function{
	custom("json_extract", inBoth, "any string+", jsonExtract),
	custom("json_unquote", inBoth, "string", func(c *call) (Expr, error) { return rawNull(tString, "my_json_unquote({0})", c.args...), nil }),
	custom("json_value", inBoth, "any string", func(c *call) (Expr, error) {
		doc, path, err := c.docAndPath()
		return rawNull(tString, "json_extract_string({0}, "+quoteText(path)+")", doc), err
	}),
	custom("json_type", inBoth, "string", func(c *call) (Expr, error) {
		return rawNull(tString, "my_json_type(CAST({0} AS JSON))", c.args...), nil
	}),
	custom("json_length", inBoth, "string [string]", func(c *call) (Expr, error) {
		doc, err := c.docAt(1)
		return castTo(tLong, "my_json_length({0})", doc).(*Raw).nullable(), err
	}),
	custom("json_depth", inBoth, "string", func(c *call) (Expr, error) {
		return rawNull(tLong, "my_json_depth(CAST(CAST({0} AS JSON) AS VARCHAR))", c.args...), nil
	}),
	custom("json_keys", inBoth, "string [string]", func(c *call) (Expr, error) {
		doc, err := c.docAt(1)
		return jsonText("CASE WHEN json_type({0}) = 'OBJECT' THEN to_json(json_keys({0})) END", doc), err
	}),
	custom("json_valid", inBoth, "string", func(c *call) (Expr, error) { return rawOf(tBoolean, "json_valid({0})", c.args...), nil }),
	custom("json_contains", inBoth, "any any [string]", jsonContains),
	custom("json_contains_path", inBoth, "string string string+", jsonContainsPath),
	custom("member_of", inBoth, "any any", func(c *call) (Expr, error) {
		item, err := c.jsonValue(c.args[0])
		if err != nil {
			return nil, err
		}
		doc, err := c.jsonDoc(c.args[1])
		return rawNull(tBoolean, "list_contains(from_json(CASE json_type({1}) WHEN 'ARRAY' THEN {1} ELSE '[' || {1} || ']' END, '[\"JSON\"]'), {0})", item, doc), err
	}),
	custom("json_quote", inBoth, "string", func(c *call) (Expr, error) { return rawNull(tString, "CAST(to_json({0}) AS VARCHAR)", c.args...), nil }),
	custom("json_object", inBoth, "any*", jsonObject),
	custom("json_array", inBoth, "any*", jsonArray),
	custom("json_set", inBoth, "string string any+", jsonChange("json_set")),
	custom("json_insert", inBoth, "string string any+", jsonChange("json_insert")),
	custom("json_replace", inBoth, "string string any+", jsonChange("json_replace")),
	custom("json_remove", inBoth, "string string+", jsonRemove),
	custom("json_merge_patch", inBoth, "string string+", func(c *call) (Expr, error) {
		return jsonText(spread("json_merge_patch({*})", len(c.args)), c.args...), nil
	}),
	custom("json_pretty", inBoth, "string", func(c *call) (Expr, error) { return rawOf(tString, "json_pretty(CAST({0} AS JSON))", c.args...), nil }),
	custom("json_array_append", inBoth, "string string any+", jsonArrayChange(appendedAt)),
	custom("json_array_insert", inBoth, "string string any+", jsonArrayChange(insertedAt)),
	custom("json_search", inBoth, "string string string [string] [string]", jsonSearch),
	custom("json_merge_preserve json_merge", inBoth, "string string+", func(c *call) (Expr, error) {
		sql := "json_extract(CAST({0} AS JSON), '$')" // written anew, so that equal keys have equal bytes
		for i := range c.args[1:] {
			sql = fmt.Sprintf("delta_json_merge(%s, json_extract(CAST({%d} AS JSON), '$'))", sql, i+1)
		}
		return jsonText(sql, c.args...), nil
	}),
	custom("json_overlaps json_storage_size", inBoth, "any+", refused("DuckDB has no such look at a document")),
}

// jsonText is a JSON result as text.
func jsonText(sql string, args ...Expr) *Raw {
	return &Raw{Typed: Typed{tString, true}, SQL: "CAST(" + sql + " AS VARCHAR)", Args: args, json: true}
}

// isJSON tells whether a value is a document rather than text.
func isJSON(e Expr) bool {
	r, ok := e.(*Raw)
	return ok && r.json || e.Type().Kind == protocol.KindVariant
}

// jsonValue is a value as DuckDB JSON: a document stays one, text is quoted, everything else printed as JSON has it.
func (c *call) jsonValue(e Expr) (Expr, error) {
	switch t := e.Type(); {
	case isJSON(e):
		return rawOf(tString, "CAST({0} AS JSON)", e), nil
	case t.Kind == protocol.KindVoid:
		return rawOf(tString, "coalesce(CAST(CAST({0} AS VARCHAR) AS JSON), CAST('null' AS JSON))", e), nil
	case isDatetime(t), t.Kind == protocol.KindIntervalDayTime, t.Kind == protocol.KindBinary:
		text, err := c.mysqlConvert(e, tString, c.at)
		return rawOf(tString, "to_json({0})", text), err
	}
	return rawOf(tString, "to_json({0})", e), nil
}

// jsonDoc is a document argument: JSON text, or a variant.
func (c *call) jsonDoc(e Expr) (Expr, error) {
	if e.Type().Kind == protocol.KindVariant {
		return rawNull(tString, "variant_json({0})", e), nil
	}
	out, err := c.mysqlConvert(e, tString, c.at)
	return out, err
}

// path is a constant path in DuckDB's spelling.
func (c *call) path(e Expr) (string, error) {
	text, ok := constantText(e)
	if !ok {
		return "", notSupported(c.at, "the path of %s must be a constant", c.name)
	}
	if !strings.HasPrefix(text, "$") {
		return "", fail(c.at, "INVALID_PARAMETER_VALUE", "%q is no JSON path", text).WithHint("a path begins with $")
	}
	return strings.NewReplacer("[last]", "[#-1]", "[last-", "[#-").Replace(text), nil
}

func (c *call) docAndPath() (Expr, string, error) {
	doc, err := c.jsonDoc(c.args[0])
	if err != nil {
		return nil, "", err
	}
	path, err := c.path(c.args[1])
	return doc, path, err
}

// docAt is the document, or its part at the path that argument i gives.
func (c *call) docAt(i int) (Expr, error) {
	if len(c.args) <= i {
		return rawNull(tString, "CAST({0} AS JSON)", c.args[0]), nil
	}
	path, err := c.path(c.args[i])
	return rawNull(tString, "json_extract({0}, "+quoteText(path)+")", c.args[0]), err
}

// jsonExtract gives a part, or the parts of a path with wildcards or of several paths as an array.
func jsonExtract(c *call) (Expr, error) {
	doc, err := c.jsonDoc(c.args[0])
	if err != nil {
		return nil, err
	}
	for _, a := range c.args[1:] {
		if isNullLiteral(a) {
			return Null(tString), nil
		}
	}
	var parts []string
	wild := false
	for _, a := range c.args[1:] {
		path, err := c.path(a)
		if err != nil {
			return nil, err
		}
		wild = wild || strings.Contains(path, "*")
		parts = append(parts, "json_extract({0}, "+quoteText(path)+")")
	}
	switch {
	case len(parts) == 1 && wild:
		return jsonText("CASE WHEN len("+parts[0]+") > 0 THEN to_json("+parts[0]+") END", doc), nil
	case len(parts) == 1:
		return jsonText(parts[0], doc), nil
	case wild:
		return nil, notSupported(c.at, "JSON_EXTRACT takes one path where it has wildcards")
	}
	list := "list_filter([" + strings.Join(parts, ", ") + "], lambda part: part IS NOT NULL)"
	return jsonText("CASE WHEN len("+list+") > 0 THEN to_json("+list+") END", doc), nil
}

func jsonContains(c *call) (Expr, error) {
	doc, err := c.jsonDoc(c.args[0])
	if err != nil {
		return nil, err
	}
	candidate, err := c.jsonDoc(c.args[1])
	if err != nil {
		return nil, err
	}
	part := "{0}"
	if len(c.args) == 3 {
		path, err := c.path(c.args[2])
		if err != nil {
			return nil, err
		}
		part = "json_extract({0}, " + quoteText(path) + ")"
	}
	return rawNull(tBoolean, "json_contains(CAST("+part+" AS JSON), CAST({1} AS JSON))", doc, candidate), nil
}

func jsonContainsPath(c *call) (Expr, error) {
	mode, ok := constantText(c.args[1])
	if !ok || !strings.EqualFold(mode, "one") && !strings.EqualFold(mode, "all") {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "JSON_CONTAINS_PATH takes 'one' or 'all'")
	}
	var parts []string
	for _, a := range c.args[2:] {
		path, err := c.path(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, "json_exists({0}, "+quoteText(path)+")")
	}
	join := " AND "
	if strings.EqualFold(mode, "one") {
		join = " OR "
	}
	return rawNull(tBoolean, "("+strings.Join(parts, join)+")", c.args[0]), nil
}

func jsonObject(c *call) (Expr, error) {
	if len(c.args)%2 != 0 {
		return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "json_object takes pairs of a key and a value, not %d arguments", len(c.args))
	}
	args := make([]Expr, len(c.args))
	for i, a := range c.args {
		var err error
		if i%2 == 0 {
			args[i], err = c.mysqlConvert(a, tString, c.at)
		} else {
			args[i], err = c.jsonValue(a)
		}
		if err != nil {
			return nil, err
		}
	}
	return jsonText(spread("json_object({*})", len(args)), args...), nil
}

func jsonArray(c *call) (Expr, error) {
	args := make([]Expr, len(c.args))
	for i, a := range c.args {
		var err error
		if args[i], err = c.jsonValue(a); err != nil {
			return nil, err
		}
	}
	return jsonText(spread("json_array({*})", len(args)), args...), nil
}

// jsonChange nests a call for each pair of a path and a value.
func jsonChange(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if len(c.args)%2 != 1 {
			return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s takes a document and pairs of a path and a value", c.name)
		}
		sql, args := "CAST({0} AS JSON)", []Expr{c.args[0]}
		for i := 1; i < len(c.args); i += 2 {
			path, err := c.path(c.args[i])
			if err != nil {
				return nil, err
			}
			value, err := c.jsonValue(c.args[i+1])
			if err != nil {
				return nil, err
			}
			sql = name + "(" + sql + ", " + quoteText(path) + ", " + operand(len(args)) + ")"
			args = append(args, value)
		}
		return jsonText(sql, args...), nil
	}
}

func jsonRemove(c *call) (Expr, error) {
	sql := "CAST({0} AS JSON)"
	for _, a := range c.args[1:] {
		path, err := c.path(a)
		if err != nil {
			return nil, err
		}
		sql = "json_remove(" + sql + ", " + quoteText(path) + ")"
	}
	return jsonText(sql, c.args[0]), nil
}

func jsonArrayAgg(c *call) (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	value, err := c.jsonValue(args[0])
	if err != nil {
		return nil, err
	}
	list, err := c.aggregate("list", arrayOf(tString), value)
	if err != nil {
		return nil, err
	}
	return jsonText("to_json({0})", list), nil
}

func jsonObjectAgg(c *call) (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	key, err := c.mysqlConvert(args[0], tString, c.at)
	if err != nil {
		return nil, err
	}
	value, err := c.jsonValue(args[1])
	if err != nil {
		return nil, err
	}
	out, err := c.aggregate("json_group_object", tString, key, value)
	if err != nil {
		return nil, err
	}
	return jsonText("{0}", out), nil
}
