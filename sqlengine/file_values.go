package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/expr"
)

// fileValues writes the expressions that do something to every file value, wherever it is in a value of a type.
type fileValues struct {
	do     func(x string) string // the expression of a file's place
	lambda int
}

func (r *fileValues) in(t protocol.DataType, x string) string {
	if !t.Holds(protocol.KindFile) {
		return x
	}
	switch t.Kind {
	case protocol.KindFile:
		return r.do(x)
	case protocol.KindArray:
		v := r.variable()
		return fmt.Sprintf("list_transform(%s, lambda %s: %s)", x, v, r.in(*t.Element, v))
	case protocol.KindMap:
		v := r.variable()
		return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(key := %s, value := %s)))",
			x, v, r.in(*t.Key, v+".key"), r.in(*t.Value, v+".value"))
	}
	members := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		name := duck.QuoteIdentifier(string(f.Name))
		members[i] = name + " := " + r.in(f.Type, x+"."+name)
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN struct_pack(%s) END", x, strings.Join(members, ", "))
}

func (r *fileValues) variable() string {
	r.lambda++
	return fmt.Sprintf("file_v%d", r.lambda)
}

// checkedFiles is a query whose file values are held against the rules of stored ones; its columns are c0, c1, ...
func checkedFiles(sql string, schema protocol.DataType) string {
	if !schema.Holds(protocol.KindFile) {
		return sql
	}
	values := fileValues{do: expr.FileChecked}
	items := make([]string, len(schema.Fields))
	for i, f := range schema.Fields {
		column := out(i)
		items[i] = values.in(f.Type, column) + " AS " + column
	}
	return "SELECT " + strings.Join(items, ", ") + "\nFROM (" + sql + ")"
}
