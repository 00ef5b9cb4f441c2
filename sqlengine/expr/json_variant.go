package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// jsonFunctions are Spark's functions of JSON text and variants.
var jsonFunctions = []*function{
	custom("parse_json", inBoth, "string", func(c *call) (Expr, error) {
		return rawOf(tVariant, "variant_of(CAST({0} AS JSON))", c.args...), nil
	}),
	custom("try_parse_json", inBoth, "string", func(c *call) (Expr, error) {
		return rawNull(tVariant, "variant_of(TRY_CAST({0} AS JSON))", c.args...), nil
	}),
	custom("variant_get", inBoth, "any string [string]", variantGet(false)),
	custom("try_variant_get", inBoth, "any string [string]", variantGet(true)),
	custom("is_variant_null", inBoth, "any", func(c *call) (Expr, error) {
		e, err := c.variantArg(0)
		return rawOf(tBoolean, "variant_is_null({0})", e), err
	}),
	custom("to_variant_object", inBoth, "any", func(c *call) (Expr, error) {
		if !isNested(c.args[0].Type()) {
			return nil, mismatch(c.at, "CAST_WITHOUT_SUGGESTION", "to_variant_object takes an array, a map or a struct, not %s", c.args[0].Type())
		}
		if hasMap(c.args[0].Type()) {
			return rawOf(tVariant, "CAST(to_json({0}) AS VARIANT)", c.args...), nil
		}
		return rawOf(tVariant, "CAST({0} AS VARIANT)", c.args...), nil
	}),
	custom("schema_of_variant", inBoth, "any", func(c *call) (Expr, error) {
		e, err := c.variantArg(0)
		return rawOf(tString, "variant_schema({0})", e), err
	}),
	custom("to_json", inBoth, "any [any]", toJSON),
	custom("get_json_object", inBoth, "string string", func(c *call) (Expr, error) {
		return rawNull(tString, "CASE WHEN json_valid({0}) THEN json_extract_string({0}, {1}) END", c.args...), nil
	}),
	custom("json_array_length", inBoth, "string", func(c *call) (Expr, error) {
		return rawNull(tInt, "CASE WHEN json_valid({0}) AND json_type({0}) = 'ARRAY' THEN CAST(json_array_length({0}) AS INTEGER) END", c.args...), nil
	}),
	custom("json_object_keys", inBoth, "string", func(c *call) (Expr, error) {
		return rawNull(arrayOf(tString), "CASE WHEN json_valid({0}) AND json_type({0}) = 'OBJECT' THEN json_keys({0}) END", c.args...), nil
	}),
	custom("from_json", inBoth, "string string [any]", fromJSON),
	custom("schema_of_json", inBoth, "string", refused("give the schema to from_json as text")),
}

func hasMap(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindMap:
		return true
	case protocol.KindArray:
		return hasMap(*t.Element)
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if hasMap(f.Type) {
				return true
			}
		}
	}
	return false
}

func (c *call) variantArg(i int) (Expr, error) {
	e := c.args[i]
	switch e.Type().Kind {
	case protocol.KindVariant:
		return e, nil
	case protocol.KindVoid:
		return fromVoid(e, tVariant), nil
	}
	return e, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be a variant, not %s", i+1, c.name, e.Type())
}

// variantGet is variant_get(v, '$.path', 'type'); the type is variant where none is given.
func variantGet(try bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		v, err := c.variantArg(0)
		if err != nil {
			return nil, err
		}
		path, ok := constantText(c.args[1])
		if !ok {
			return nil, notSupported(c.at, "the path of %s must be a constant", c.name)
		}
		steps, ok := variantPath(path)
		if !ok {
			return nil, fail(c.at, "INVALID_VARIANT_GET_PATH", "%q is no path of a variant", path).WithHint("write it as $.a.b[0]['c d']")
		}
		part, err := c.variantSteps(v, steps, c.at)
		if err != nil || len(c.args) == 2 {
			return part, err
		}
		text, ok := constantText(c.args[2])
		if !ok {
			return nil, notSupported(c.at, "the type of %s must be a constant", c.name)
		}
		t, err := protocol.ParseDataType(text)
		if err != nil {
			return nil, placed(err, c.at)
		}
		out, err := convert(part, t, c.ctx, try)
		return out, placed(err, c.at)
	}
}

// variantPath reads $.a['b c'][0].
func variantPath(path string) ([]parse.PathStep, bool) {
	if !strings.HasPrefix(path, "$") {
		return nil, false
	}
	var steps []parse.PathStep
	for rest := path[1:]; rest != ""; {
		switch {
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			name := rest[1 : 1+end]
			if name == "" {
				return nil, false
			}
			steps, rest = append(steps, parse.PathStep{Name: name}), rest[1+end:]
		case strings.HasPrefix(rest, "['") || strings.HasPrefix(rest, `["`):
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if end < 0 {
				return nil, false
			}
			steps, rest = append(steps, parse.PathStep{Name: rest[2 : 2+end], Quoted: true}), rest[4+end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 2 || strings.Trim(rest[1:end], "0123456789") != "" {
				return nil, false
			}
			steps, rest = append(steps, parse.PathStep{Index: &parse.Literal{Kind: parse.IntegerLiteral, Text: rest[1:end]}}), rest[end+1:]
		default:
			return nil, false
		}
	}
	return steps, true
}

// toJSON prints a value as Spark does: without members that are NULL.
func toJSON(c *call) (Expr, error) {
	t := c.args[0].Type()
	switch {
	case t.Kind == protocol.KindVariant:
		return rawOf(tString, "variant_json({0})", c.args[0]), nil
	case isNested(t), t.Kind == protocol.KindFile:
		w := casting{ctx: c.ctx}
		return rawOf(tString, "CAST("+w.json(t, "{0}")+" AS VARCHAR)", c.args[0]), nil
	}
	return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "to_json takes a struct, an array, a map or a variant, not %s", t)
}

// json writes a value as DuckDB JSON. Members that are NULL are left out, as Spark leaves them.
func (c *casting) json(t protocol.DataType, x string) string {
	switch t.Kind {
	case protocol.KindFile:
		return c.json(protocol.DataType{Kind: protocol.KindStruct, Fields: protocol.FileLeaves()}, x)
	case protocol.KindStruct:
		var pairs []string
		for _, f := range t.Fields {
			m := member(x, f.Name)
			pairs = append(pairs, fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN CAST(to_json(%s) AS VARCHAR) || ':' || CAST(%s AS VARCHAR) END", m, quoteText(string(f.Name)), c.json(f.Type, m)))
		}
		return "CAST(CASE WHEN " + x + " IS NOT NULL THEN '{' || array_to_string(list_filter([" + strings.Join(pairs, ", ") + "], lambda pair: pair IS NOT NULL), ',') || '}' END AS JSON)"
	case protocol.KindArray:
		v := c.variable()
		item := "coalesce(CAST(" + c.json(*t.Element, v) + " AS VARCHAR), 'null')"
		return "CAST('[' || array_to_string(list_transform(" + x + ", lambda " + v + ": " + item + "), ',') || ']' AS JSON)"
	case protocol.KindMap:
		v := c.variable()
		key, ok := c.sql(*t.Key, tString, v+".key")
		if !ok {
			key = "CAST(" + v + ".key AS VARCHAR)"
		}
		pair := "CAST(to_json(" + key + ") AS VARCHAR) || ':' || coalesce(CAST(" + c.json(*t.Value, v+".value") + " AS VARCHAR), 'null')"
		return "CAST('{' || array_to_string(list_transform(map_entries(" + x + "), lambda " + v + ": " + pair + "), ',') || '}' AS JSON)"
	case protocol.KindDecimal: // DuckDB's own would be a double
		return "CAST(fraction_text(CAST(" + x + " AS VARCHAR)) AS JSON)"
	case protocol.KindVariant:
		return "CAST(variant_json(" + x + ") AS JSON)"
	case protocol.KindTimestamp:
		return "to_json(strftime(" + localSQL(c.ctx.location(), x) + ", '%Y-%m-%dT%H:%M:%S.%g') || " + zoneSuffix(c.ctx) + ")"
	case protocol.KindTimestampNTZ:
		return "to_json(strftime(" + x + ", '%Y-%m-%dT%H:%M:%S.%g'))"
	case protocol.KindBinary:
		return "to_json(to_base64(" + x + "))"
	}
	return "to_json(" + x + ")"
}

// zoneSuffix is the offset that Spark appends to a timestamp in JSON: Z for UTC. For a zone whose offset changes it is that
// of the statement's start, and such zones are rare in JSON made by a query.
func zoneSuffix(ctx *Context) string {
	_, seconds := ctx.Now.In(ctx.location()).Zone()
	if seconds == 0 {
		return "'Z'"
	}
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return fmt.Sprintf("'%s%02d:%02d'", sign, seconds/3600, seconds%3600/60)
}

// fromJSON reads JSON text by a schema given as text; text that does not fit is NULL.
func fromJSON(c *call) (Expr, error) {
	text, ok := constantText(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the schema of from_json must be a constant text")
	}
	t, err := protocol.ParseDataType(text)
	if err != nil {
		return nil, placed(err, c.at)
	}
	structure, ok := jsonStructure(t)
	if !ok {
		return nil, notSupported(c.at, "from_json cannot read %s", t)
	}
	return rawNull(t, "CASE WHEN json_valid({0}) THEN from_json({0}, "+quoteText(structure)+") END", c.args[0]), nil
}

// jsonStructure is DuckDB's description of a type for from_json.
func jsonStructure(t protocol.DataType) (string, bool) {
	switch t.Kind {
	case protocol.KindStruct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			inner, ok := jsonStructure(f.Type)
			if !ok {
				return "", false
			}
			parts[i] = fmt.Sprintf("%q:%s", string(f.Name), inner)
		}
		return "{" + strings.Join(parts, ",") + "}", true
	case protocol.KindArray:
		inner, ok := jsonStructure(*t.Element)
		return "[" + inner + "]", ok
	case protocol.KindMap, protocol.KindVariant, protocol.KindBinary, protocol.KindTimestamp, protocol.KindVoid:
		return "", false
	}
	return `"` + DuckType(t) + `"`, isAtomic(t) && !isInterval(t)
}
