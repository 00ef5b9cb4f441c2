package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/expr"
)

// fileResults writes the expressions that give of file values what a result shows, wherever they are in a value.
type fileResults struct {
	strict bool // a value that cannot be resolved is an error and not NULL
	lambda int
}

func (r *fileResults) shown(t protocol.DataType, x string) string {
	if !t.Holds(protocol.KindFile) {
		return x
	}
	switch t.Kind {
	case protocol.KindFile:
		return expr.FileShown(x, r.strict)
	case protocol.KindArray:
		v := r.variable()
		return fmt.Sprintf("list_transform(%s, lambda %s: %s)", x, v, r.shown(*t.Element, v))
	case protocol.KindMap:
		v := r.variable()
		return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(key := %s, value := %s)))",
			x, v, r.shown(*t.Key, v+".key"), r.shown(*t.Value, v+".value"))
	}
	members := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		name := duck.QuoteIdentifier(string(f.Name))
		members[i] = name + " := " + r.shown(f.Type, x+"."+name)
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN struct_pack(%s) END", x, strings.Join(members, ", "))
}

func (r *fileResults) variable() string {
	r.lambda++
	return fmt.Sprintf("file_v%d", r.lambda)
}
