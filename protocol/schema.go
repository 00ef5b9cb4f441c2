package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Limits on a schema that comes from a table's log. The deepest and largest schemas seen in the wild stay far below them.
const (
	maxSchemaDepth = 500      // levels of struct, array and map
	maxSchemaBytes = 64 << 20 // of schemaString
)

// ParseSchema reads metaData.schemaString (protocol, "Schema Serialization Format") into a KindStruct.
// An empty text is the schema without columns: tables exist whose metaData has none.
// Two fields of one struct whose names differ only in case are refused with DELTA_DUPLICATE_COLUMNS_FOUND,
// anything malformed with DELTA_INVALID_SCHEMA naming the path to it.
func ParseSchema(schemaString string) (DataType, error) {
	if len(schemaString) > maxSchemaBytes {
		return DataType{}, NewError("DELTA_INVALID_SCHEMA", "the schema has %d bytes; the limit is %d", len(schemaString), maxSchemaBytes)
	}
	if strings.TrimSpace(schemaString) == "" {
		return DataType{Kind: KindStruct}, nil
	}
	t, err := parseSchemaJSON([]byte(schemaString))
	if err != nil {
		return DataType{}, err
	}
	if t.Kind != KindStruct {
		return DataType{}, NewError("DELTA_INVALID_SCHEMA", "the schema is %s, not a struct", t)
	}
	return t, nil
}

func parseSchemaJSON(data []byte) (DataType, error) {
	p := schemaParser{jsonCursor{data: data}}
	t, err := p.dataType(0)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		if e, ok := err.(*Error); ok {
			return DataType{}, e
		}
		return DataType{}, NewError("DELTA_INVALID_SCHEMA", "the schema is malformed").WithCause(err)
	}
	return t, nil
}

type schemaParser struct{ jsonCursor }

// dataType reads a type: a name, or an object whose "type" member says which. Members may come in any order.
func (p *schemaParser) dataType(depth int) (DataType, error) {
	if depth > maxSchemaDepth {
		return DataType{}, p.fault("types nest deeper than %d levels", maxSchemaDepth)
	}
	if p.peek() == '"' {
		at := p.pos
		name, err := p.str()
		if err != nil {
			return DataType{}, err
		}
		t, ok := parsePrimitive(name)
		if !ok {
			p.pos = at
			return DataType{}, p.fault("unknown type %q", shorten(name))
		}
		return t, nil
	}
	if p.peek() != '{' {
		return DataType{}, p.expected("a type")
	}
	var (
		kind                            string
		t                               DataType
		element, key, value             *DataType
		containsNull, valueContainsNull = true, true
		haveFields                      bool
	)
	seen := map[string]bool{}
	start := p.pos
	err := p.object(func(name []byte) error {
		member := string(name)
		if seen[member] {
			return within(member, p.fault("given twice"))
		}
		seen[member] = true
		var err error
		child := func(at **DataType) {
			var c DataType
			if c, err = p.dataType(depth + 1); err == nil {
				*at = &c
			}
		}
		switch member {
		case "type":
			kind, err = p.str()
		case "fields":
			haveFields = true
			t.Fields, err = p.fields(depth + 1)
		case "elementType":
			child(&element)
		case "keyType":
			child(&key)
		case "valueType":
			child(&value)
		case "containsNull":
			containsNull, err = p.bool()
		case "valueContainsNull":
			valueContainsNull, err = p.bool()
		default:
			err = p.skip()
		}
		return within(member, err)
	})
	if err != nil {
		return DataType{}, err
	}
	missing := func(what string) (DataType, error) {
		p.pos = start
		return DataType{}, p.fault("%s type without %q", kind, what)
	}
	switch kind {
	case "struct":
		if !haveFields {
			return missing("fields")
		}
		t.Kind = KindStruct
		return t, nil
	case "array":
		if element == nil {
			return missing("elementType")
		}
		return DataType{Kind: KindArray, Element: element, ContainsNull: containsNull}, nil
	case "map":
		if key == nil {
			return missing("keyType")
		}
		if value == nil {
			return missing("valueType")
		}
		return DataType{Kind: KindMap, Key: key, Value: value, ValueContainsNull: valueContainsNull}, nil
	}
	// The file type's first description wraps the name in an object; nothing stops a writer from doing so for others.
	if t, ok := parsePrimitive(kind); ok {
		return t, nil
	}
	p.pos = start
	if kind == "" {
		return missing("type")
	}
	return DataType{}, p.fault("unknown type %q", shorten(kind))
}

func (p *schemaParser) fields(depth int) ([]Field, error) {
	fields := []Field{}
	names := map[string]bool{}
	err := p.array(func(int) error {
		f, err := p.field(depth)
		if err != nil {
			return err
		}
		folded := strings.ToLower(string(f.Name))
		if names[folded] {
			return NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "the schema has the column %q twice (names differ only in case)", f.Name)
		}
		names[folded] = true
		fields = append(fields, f)
		return nil
	})
	return fields, err
}

func (p *schemaParser) field(depth int) (Field, error) {
	f := Field{Nullable: true}
	var haveName, haveType bool
	start := p.pos
	seen := map[string]bool{}
	charVarchar := ""
	err := p.object(func(name []byte) error {
		member := string(name)
		if seen[member] {
			return within(member, p.fault("given twice"))
		}
		seen[member] = true
		var err error
		switch member {
		case "name":
			var s string
			s, err = p.str()
			f.Name, haveName = LogicalName(s), true
		case "type":
			isName, at := p.peek() == '"', p.pos
			f.Type, err = p.dataType(depth)
			if isName && err == nil {
				if text := strings.Trim(string(p.data[at:p.pos]), `"`); isCharVarchar(text) {
					charVarchar = text
				}
			}
			haveType = true
		case "nullable":
			f.Nullable, err = p.bool()
		case "metadata":
			if p.null() {
				return nil
			}
			f.Metadata, err = p.metadata()
		default:
			err = p.skip()
		}
		return within(member, err)
	})
	if err != nil {
		return f, err
	}
	if !haveName || !haveType {
		p.pos = start
		return f, p.fault("a field needs a name and a type")
	}
	if charVarchar != "" {
		f.Metadata = f.Metadata.with(metaCharVarchar, json.RawMessage(appendJSONString(nil, charVarchar)))
	}
	if collations := f.Metadata.Collations(); len(collations) > 0 {
		applyCollations(&f.Type, string(f.Name), collations)
	}
	if modes := f.Metadata.FileModes(); len(modes) > 0 {
		applyFileModes(&f.Type, string(f.Name), modes)
	}
	return f, nil
}

func (p *schemaParser) metadata() (FieldMetadata, error) {
	var m FieldMetadata
	err := p.object(func(name []byte) error {
		if _, twice := m[string(name)]; twice {
			return within(string(name), p.fault("given twice"))
		}
		key := string(name)
		raw, err := p.raw()
		if err != nil {
			return within(key, err)
		}
		if m == nil {
			m = FieldMetadata{}
		}
		m[key] = json.RawMessage(bytes.Clone(raw))
		return nil
	})
	return m, err
}

// applyCollations sets the collation of the strings that __COLLATIONS of the nearest field names by path
// ("c", "c.element", "c.value.element").
func applyCollations(t *DataType, path string, collations map[string]string) {
	switch t.Kind {
	case KindString:
		if name, ok := collations[path]; ok {
			t.Collation = name
		}
	case KindArray:
		applyCollations(t.Element, path+".element", collations)
	case KindMap:
		applyCollations(t.Key, path+".key", collations)
		applyCollations(t.Value, path+".value", collations)
	}
}

// JSON is the type as the reference writes it into schemaString: members in its order, no blanks, absent metadata as {}.
// Metadata keys are sorted, because FieldMetadata keeps no order; their values are compacted, otherwise verbatim.
func (t DataType) JSON() string { return string(t.appendJSON(nil)) }

func (t DataType) appendJSON(dst []byte) []byte {
	switch t.Kind {
	case KindStruct:
		dst = append(dst, `{"type":"struct","fields":[`...)
		for i := range t.Fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = t.Fields[i].appendJSON(dst)
		}
		return append(dst, `]}`...)
	case KindArray:
		dst = append(dst, `{"type":"array","elementType":`...)
		dst = t.Element.appendJSON(dst)
		dst = append(dst, `,"containsNull":`...)
		return append(appendBool(dst, t.ContainsNull), '}')
	case KindMap:
		dst = append(dst, `{"type":"map","keyType":`...)
		dst = t.Key.appendJSON(dst)
		dst = append(dst, `,"valueType":`...)
		dst = t.Value.appendJSON(dst)
		dst = append(dst, `,"valueContainsNull":`...)
		return append(appendBool(dst, t.ValueContainsNull), '}')
	}
	return appendJSONString(dst, t.primitiveName(schemaNames[:]))
}

func (f *Field) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = appendJSONString(dst, string(f.Name))
	dst = append(dst, `,"type":`...)
	dst = f.Type.appendJSON(dst)
	dst = append(dst, `,"nullable":`...)
	dst = appendBool(dst, f.Nullable)
	dst = append(dst, `,"metadata":{`...)
	metadata := f.storedMetadata()
	keys := make([]string, 0, len(metadata))
	for k := range metadata {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, k), ':')
		var compact bytes.Buffer
		if json.Compact(&compact, metadata[k]) == nil {
			dst = append(dst, compact.Bytes()...)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, "}}"...)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// AsNullable is the type with everything inside it nullable, and with no metadata of members but their comments: what a column made
// from a query has.
func (t DataType) AsNullable() DataType {
	switch t.Kind {
	case KindArray:
		element := t.Element.AsNullable()
		t.Element, t.ContainsNull = &element, true
	case KindMap:
		key, value := t.Key.AsNullable(), t.Value.AsNullable()
		t.Key, t.Value, t.ValueContainsNull = &key, &value, true
	case KindStruct:
		fields := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = Field{Name: f.Name, Type: f.Type.AsNullable(), Nullable: true}
			if comment, ok := f.Metadata.Comment(); ok {
				fields[i].Metadata = fields[i].Metadata.WithComment(comment)
			}
		}
		t.Fields = fields
	}
	return t
}
