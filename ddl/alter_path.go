package ddl

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

// Path names a column or something inside it: members of structs by name, array elements as "element", map keys and values
// as "key" and "value". It is written as the user wrote it; names ignore case.
type Path []string

// String is the path as the reference writes it into history: parts joined by points, a part that has one itself in backticks.
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, part := range p {
		if strings.Contains(part, ".") {
			part = "`" + part + "`"
		}
		parts[i] = part
	}
	return strings.Join(parts, ".")
}

// within says that the path is the other one or leads into what that names.
func (p Path) within(other Path) bool {
	return len(p) >= len(other) && slices.EqualFunc(p[:len(other)], other, strings.EqualFold)
}

// touches says that one of the paths leads into what the other names: a change of the one is felt by the other.
func (p Path) touches(other Path) bool { return p.within(other) || other.within(p) }

// place is where a path leads in a schema: a field of a struct, or the element, key or value of a collection. It points into
// the schema it was found in, so that a change through it changes that schema.
type place struct {
	path   Path               // spelled as the schema does
	parent *protocol.DataType // what has the field, element, key or value
	index  int                // into parent.Fields; -1 in a collection
	owner  *protocol.Field    // the nearest struct field at or above, which keeps the record of type changes
	below  string             // from the owner to the place: "", "element", "value.element"
	inside bool               // below an array or a map
}

// field is the struct field that the place is; nil for elements, keys and values.
func (p *place) field() *protocol.Field {
	if p.index < 0 {
		return nil
	}
	return &p.parent.Fields[p.index]
}

// dataType is the type of what stands at the place.
func (p *place) dataType() *protocol.DataType {
	if f := p.field(); f != nil {
		return &f.Type
	}
	switch p.path[len(p.path)-1] {
	case "key":
		return p.parent.Key
	case "value":
		return p.parent.Value
	}
	return p.parent.Element
}

// nullable tells whether NULL may stand at the place. Keys are never NULL.
func (p *place) nullable() bool {
	if f := p.field(); f != nil {
		return f.Nullable
	}
	switch p.path[len(p.path)-1] {
	case "key":
		return false
	case "value":
		return p.parent.ValueContainsNull
	}
	return p.parent.ContainsNull
}

// find follows a path. What is not there is UNRESOLVED_COLUMN, a way through something that has no members INVALID_FIELD_NAME.
func find(schema *protocol.DataType, path Path) (*place, error) {
	at := &place{}
	t := schema
	for i, name := range path {
		next := &place{path: append(at.path[:i:i], name), parent: t, index: -1, owner: at.owner, below: at.below, inside: at.inside}
		step := func(part string) {
			next.path[i] = part
			next.inside = true
			if next.below != "" {
				part = next.below + "." + part
			}
			next.below = part
		}
		switch {
		case t.Kind == protocol.KindStruct:
			if next.index = t.Lookup(name); next.index < 0 {
				return nil, unresolved(path, t)
			}
			next.owner, next.below = &t.Fields[next.index], ""
			next.path[i] = string(next.owner.Name)
		case t.Kind == protocol.KindArray && strings.EqualFold(name, "element"):
			step("element")
		case t.Kind == protocol.KindMap && strings.EqualFold(name, "key"):
			step("key")
		case t.Kind == protocol.KindMap && strings.EqualFold(name, "value"):
			step("value")
		default:
			return nil, notStruct(path, at.path)
		}
		at = next
		t = at.dataType()
	}
	return at, nil
}

func unresolved(path Path, t *protocol.DataType) *protocol.Error {
	return protocol.NewError("UNRESOLVED_COLUMN.WITH_SUGGESTION", "there is no column %s", path).
		WithHint("the names there are: %s", strings.Join(fieldNames(t), ", "))
}

func notStruct(path, parent Path) *protocol.Error {
	return protocol.NewError("INVALID_FIELD_NAME", "the name %s is invalid: %s is not a struct", path, parent).
		WithHint("members of arrays are reached by .element, those of maps by .key and .value")
}

func fieldNames(t *protocol.DataType) []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = string(f.Name)
	}
	return names
}

// walk visits every struct field of a type with its path, parents first; the fields may be changed in place.
func walk(t *protocol.DataType, visit func(path Path, f *protocol.Field) error) error {
	return walkBelow(nil, t, visit)
}

func walkBelow(path Path, t *protocol.DataType, visit func(path Path, f *protocol.Field) error) error {
	below := func(name string) Path { return append(path[:len(path):len(path)], name) }
	switch t.Kind {
	case protocol.KindStruct:
		for i := range t.Fields {
			p := below(string(t.Fields[i].Name))
			if err := visit(p, &t.Fields[i]); err != nil {
				return err
			}
			if err := walkBelow(p, &t.Fields[i].Type, visit); err != nil {
				return err
			}
		}
	case protocol.KindArray:
		return walkBelow(below("element"), t.Element, visit)
	case protocol.KindMap:
		if err := walkBelow(below("key"), t.Key, visit); err != nil {
			return err
		}
		return walkBelow(below("value"), t.Value, visit)
	}
	return nil
}

// copyType is a copy that shares nothing that an ALTER changes.
func copyType(t protocol.DataType) protocol.DataType {
	child := func(c *protocol.DataType) *protocol.DataType {
		if c == nil {
			return nil
		}
		out := copyType(*c)
		return &out
	}
	t.Element, t.Key, t.Value = child(t.Element), child(t.Key), child(t.Value)
	if t.Fields != nil {
		t.Fields = slices.Clone(t.Fields)
		for i := range t.Fields {
			t.Fields[i].Type = copyType(t.Fields[i].Type)
			t.Fields[i].Metadata = maps.Clone(t.Fields[i].Metadata)
		}
	}
	return t
}

// The keys of field metadata that an ALTER writes or takes away.
const (
	metaKeyComment       = "comment"
	metaKeyDefault       = "CURRENT_DEFAULT"
	metaKeyExistsDefault = "EXISTS_DEFAULT"
	metaKeyCharVarchar   = "__CHAR_VARCHAR_TYPE_STRING"
	metaKeyTypeChanges   = "delta.typeChanges"
	metaKeyHighWaterMark = "delta.identity.highWaterMark"
	metaKeyInvariants    = "delta.invariants"
)

// mappingKeys are what column mapping keeps in field metadata, and what Parquet readers of the reference find there.
var mappingKeys = []string{"delta.columnMapping.id", "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids", "parquet.field.id", "parquet.field.nested.ids"}

func setMeta(f *protocol.Field, key string, value any) {
	if f.Metadata == nil {
		f.Metadata = protocol.FieldMetadata{}
	}
	f.Metadata[key] = jsonText(value)
}

// jsonText is a value as JSON, with <, > and & as they are, as the reference writes them.
func jsonText(value any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // values are texts, numbers, lists and maps of them
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
