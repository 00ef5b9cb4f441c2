package expr

import (
	"strings"

	"deltasql/protocol"
)

// CollationKey is what a value is sorted and grouped by: the value itself, or for text under a collation that folds case or accents
// the folded text. A collation with an order of its own that DuckDB has not is an error.
func CollationKey(e Expr, ctx *Context) (Expr, error) {
	t := e.Type()
	if t.Kind != protocol.KindString {
		return e, nil
	}
	name := t.Collation
	if name == "" && ctx.Dialect == MySQL && ctx.MySQLCompare {
		name = "utf8mb4_0900_ai_ci"
	}
	key := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if key == "" || binaryCollation[key] {
		return e, nil
	}
	fold, ok := foldCollation[key]
	if !ok {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE.COLLATION", "sorting and grouping by the collation %s is not supported", name).
			WithHint("use COLLATE UTF8_BINARY or UTF8_LCASE")
	}
	return rawOf(tString, fold, e), nil
}
