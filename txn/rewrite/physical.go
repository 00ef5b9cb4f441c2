package rewrite

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// converter writes the expressions that make stored values of logical ones: members of structs get their physical names, those of
// the type void go, and variants inside other types become what the format stores of them, which DuckDB does by itself only
// for whole columns.
type converter struct {
	mode   protocol.MappingMode
	lambda int // how many lambda variables were used, to keep nested ones apart
}

// changes says that values of the type are not stored as they are.
func (c *converter) changes(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindVariant, protocol.KindFile:
		return true
	case protocol.KindArray:
		return c.changes(*t.Element)
	case protocol.KindMap:
		return c.changes(*t.Key) || c.changes(*t.Value)
	case protocol.KindStruct:
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Type.Kind == protocol.KindVoid || string(f.PhysicalName(c.mode)) != string(f.Name) || c.changes(f.Type) {
				return true
			}
		}
	}
	return false
}

// physical is the expression of what is stored of the value e; asIs says that the value needs no change whatever its type.
func (c *converter) physical(e string, t protocol.DataType, asIs bool) string {
	if asIs || !c.changes(t) {
		return e
	}
	switch t.Kind {
	case protocol.KindVariant:
		// A NULL is no variant at all, and a variant's null is a value: the function makes the latter of both.
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE variant_to_parquet_variant(%[1]s) END", e)
	case protocol.KindFile:
		// A range without a URI is one of the file that holds the value: it means other bytes in any other file.
		return fmt.Sprintf("CASE WHEN %s.\"offset\" IS NOT NULL AND coalesce(%[1]s.uri, '') = '' AND %[1]s.inline IS NULL THEN error('%s') ELSE %[1]s END", e, selfReference)
	case protocol.KindArray:
		x := c.variable()
		return fmt.Sprintf("list_transform(%s, lambda %s: %s)", e, x, c.physical(x, *t.Element, false))
	case protocol.KindMap:
		x := c.variable()
		return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(key := %s, value := %s)))",
			e, x, c.physical(x+".key", *t.Key, false), c.physical(x+".value", *t.Value, false))
	}
	var members []string
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.Kind == protocol.KindVoid {
			continue
		}
		inner := c.physical(e+"."+duck.QuoteIdentifier(string(f.Name)), f.Type, false)
		members = append(members, duck.QuoteIdentifier(string(f.PhysicalName(c.mode)))+" := "+inner)
	}
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE struct_pack(%s) END", e, strings.Join(members, ", "))
}

const selfReference = "[DELTASQL_INVALID_FILE_VALUE] a file value has offset and size but no uri: it refers to bytes of the data file that it is in, and cannot be written into another one"

func (c *converter) variable() string {
	c.lambda++
	return fmt.Sprintf("x%d", c.lambda)
}
