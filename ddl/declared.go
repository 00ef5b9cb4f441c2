package ddl

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// declaredLengths are the CHAR and VARCHAR types of the strings of a schema, by the identity of the string: the ids of the fields on the
// way to it, or their names where they have none.
type declaredLengths map[string]string

// step is the identity of a field below another.
func step(below string, f *protocol.Field) string {
	if id, ok := f.ColumnID(); ok {
		return fmt.Sprint(below, "#", id)
	}
	return below + "." + strings.ToLower(string(f.Name))
}

// eachString gives the identities of the strings of a type in their order, and to each the field that it is the type of, if it is one's.
func eachString(below string, t *protocol.DataType, own *protocol.Field, visit func(key string, own *protocol.Field)) {
	switch t.Kind {
	case protocol.KindString:
		visit(below, own)
	case protocol.KindArray:
		eachString(below+">e", t.Element, nil, visit)
	case protocol.KindMap:
		eachString(below+">k", t.Key, nil, visit)
		eachString(below+">v", t.Value, nil, visit)
	case protocol.KindStruct:
		for i := range t.Fields {
			eachString(step(below, &t.Fields[i]), &t.Fields[i].Type, &t.Fields[i], visit)
		}
	}
}

// lengthsOf reads a schema whose texts are in step with its types. unread are the fields whose text is not of their type, which another
// writer can have left so.
func lengthsOf(schema *protocol.DataType) (out declaredLengths, unread map[string]bool) {
	out, unread = declaredLengths{}, map[string]bool{}
	var fields func(below string, t *protocol.DataType)
	fields = func(below string, t *protocol.DataType) {
		for i := range t.Fields {
			f := &t.Fields[i]
			key := step(below, f)
			if text, ok := f.Metadata.CharVarchar(); ok {
				lengths, ok := protocol.DeclaredLengths(text, f.Type)
				unread[key] = !ok
				eachString(key, &f.Type, f, func(key string, _ *protocol.Field) {
					if ok {
						out[key], lengths = lengths[0], lengths[1:]
					}
				})
				continue
			}
			if f.Type.Kind == protocol.KindStruct {
				fields(key, &f.Type)
			}
		}
	}
	fields("", schema)
	return out, unread
}

// keyOf is the identity of what a path leads to.
func (a *alteration) keyOf(path Path) string {
	key, t := "", &a.schema
	for _, part := range path {
		switch t.Kind {
		case protocol.KindArray:
			key, t = key+">e", t.Element
		case protocol.KindMap:
			if strings.EqualFold(part, "key") {
				key, t = key+">k", t.Key
			} else {
				key, t = key+">v", t.Value
			}
		case protocol.KindStruct:
			at := t.Lookup(part)
			if at < 0 {
				return ""
			}
			key, t = step(key, &t.Fields[at]), &t.Fields[at].Type
		}
	}
	return key
}

// declaredAt is the declared type of the string that a place holds, wherever its length stands; "" for a plain string.
func (a *alteration) declaredAt(at *place) string {
	if f := at.field(); f != nil {
		if text, ok := f.Metadata.CharVarchar(); ok {
			return text
		}
	}
	key := a.keyOf(at.path)
	if text, ok := a.lengths[key]; ok {
		return text
	}
	known, _ := lengthsOf(a.lengthsIn())
	return known[key]
}

// declare gives the string that a place holds another declared type; followLengths writes it where it belongs.
func (a *alteration) declare(at *place, text string) {
	setCharVarchar(at.field(), text)
	if len(at.path) > 1 {
		if a.lengths == nil {
			a.lengths = declaredLengths{}
		}
		a.lengths[a.keyOf(at.path)] = text
	}
}

// followLengths brings the texts of declared lengths in step with the types that they belong to. All lengths inside a column stand in one
// text with the column, as in the reference: what is added there joins it, and names, order and members are those of the schema as it
// is now.
func (a *alteration) followLengths() {
	known, unread := lengthsOf(a.lengthsIn())
	for key, text := range a.lengths {
		known[key] = text
	}
	for i := range a.schema.Fields {
		f := &a.schema.Fields[i]
		key := step("", f)
		if f.Type.Kind == protocol.KindString || unread[key] {
			continue // the text of a string says all of it, and what cannot be read is left
		}
		var lengths []string
		eachString(key, &f.Type, f, func(key string, own *protocol.Field) {
			length := known[key]
			if own != nil && own != f {
				if text, ok := own.Metadata.CharVarchar(); ok {
					length = text
				}
			}
			lengths = append(lengths, length)
		})
		_ = walk(&f.Type, func(_ Path, inner *protocol.Field) error {
			setCharVarchar(inner, "")
			return nil
		})
		setCharVarchar(f, protocol.DeclaredText(f.Type, lengths))
	}
}

// lengthsIn is the schema whose texts are in step: the table's own, or the one that lost its ids together with column mapping.
func (a *alteration) lengthsIn() *protocol.DataType {
	if a.unmapped != nil {
		return a.unmapped
	}
	return &a.old.Config.Schema
}
