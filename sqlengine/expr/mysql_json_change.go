package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// jsonArrayChange applies a change of an array to each pair of a path and a value in turn.
func jsonArrayChange(change func(c *call, document, path, value string) (string, error)) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if len(c.args)%2 != 1 {
			return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s takes a document and pairs of a path and a value", c.name)
		}
		doc := Expr(rawOf(tString, "CAST({0} AS JSON)", c.args[0]))
		for i := 1; i < len(c.args); i += 2 {
			path, err := c.path(c.args[i])
			if err != nil {
				return nil, err
			}
			if strings.Contains(path, "*") {
				return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "the path %q of %s may have no wildcards", path, c.name).WithErrno(3149)
			}
			value, err := c.jsonValue(c.args[i+1])
			if err != nil {
				return nil, err
			}
			sql, err := change(c, "{0}", path, "{1}")
			if err != nil {
				return nil, err
			}
			doc = rawNull(tString, sql, doc, value)
		}
		return jsonText("{0}", doc), nil
	}
}

// replacedPart is a document with another value at a path.
func replacedPart(document, path, value string) string {
	if path == "$" {
		return value
	}
	return "json_set(" + document + ", " + quoteText(path) + ", " + value + ")"
}

// itemsOf is a JSON array as a list of documents; another value counts as an array of it alone.
func itemsOf(part string) string {
	return "from_json(CASE json_type(" + part + ") WHEN 'ARRAY' THEN " + part + " ELSE CAST('[' || CAST(" + part + " AS VARCHAR) || ']' AS JSON) END, '[\"JSON\"]')"
}

// appendedAt puts a value behind the array at a path, or makes an array of the value there; where nothing is, nothing changes.
func appendedAt(_ *call, document, path, value string) (string, error) {
	part := "json_extract(" + document + ", " + quoteText(path) + ")"
	return "CASE WHEN " + part + " IS NULL THEN " + document + " ELSE " + replacedPart(document, path, "to_json(list_append("+itemsOf(part)+", "+value+"))") + " END", nil
}

var lastIndex = regexp.MustCompile(`^(.*)\[(\d+)\]$`)

// insertedAt puts a value before the item of an array that a path names, or behind its last one; where there is no array, nothing changes.
func insertedAt(c *call, document, path, value string) (string, error) {
	m := lastIndex.FindStringSubmatch(path)
	if m == nil {
		return "", fail(c.at, "INVALID_PARAMETER_VALUE", "the path %q of %s does not end in an item of an array", path, c.name).WithErrno(3165)
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return "", fail(c.at, "INVALID_PARAMETER_VALUE", "the index of the path %q is too large", path)
	}
	part := "json_extract(" + document + ", " + quoteText(m[1]) + ")"
	items := itemsOf(part)
	list := fmt.Sprintf("list_concat(list_append((%s)[1:%d], %s), (%s)[%d:])", items, n, value, items, n+1)
	return "CASE WHEN json_type(" + part + ") = 'ARRAY' THEN " + replacedPart(document, m[1], "to_json("+list+")") + " ELSE " + document + " END", nil
}

// jsonSearch gives the paths of the texts in a document that match a pattern of LIKE: the first, or all of them.
func jsonSearch(c *call) (Expr, error) {
	mode, ok := constantText(c.args[1])
	if !ok || !strings.EqualFold(mode, "one") && !strings.EqualFold(mode, "all") {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "JSON_SEARCH takes 'one' or 'all'").WithErrno(3154)
	}
	escape := `\`
	if len(c.args) > 3 && !isNullLiteral(c.args[3]) {
		if escape, ok = constantText(c.args[3]); !ok || len([]rune(escape)) > 1 {
			return nil, fail(c.at, "INVALID_ESCAPE_CHAR", "the escape of JSON_SEARCH is one constant character").WithErrno(1210)
		}
		if escape == "" {
			escape = `\`
		}
	}
	if len(c.args) > 4 {
		return nil, notSupported(c.at, "JSON_SEARCH below a path is not supported").WithHint("search JSON_EXTRACT(document, path)")
	}
	found := "to_json(found[1])"
	if strings.EqualFold(mode, "all") {
		found = "CASE WHEN len(found) = 1 THEN to_json(found[1]) ELSE to_json(found) END"
	}
	paths := "(SELECT list(fullkey ORDER BY id) FROM json_tree(CAST({0} AS JSON)) WHERE type = 'VARCHAR' AND (atom ->> '$') LIKE {1} ESCAPE " + quoteText(escape) + ")"
	return jsonText("list_transform(["+paths+"], lambda found: CASE WHEN found IS NOT NULL THEN "+found+" END)[1]", c.args[0], c.args[2]), nil
}
