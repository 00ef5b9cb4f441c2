package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schemaNames are the type names in schema JSON, simpleNames those that users see (Spark's simple strings), by Kind.
var schemaNames = [...]string{
	KindVoid: "void", KindBoolean: "boolean", KindByte: "byte", KindShort: "short", KindInteger: "integer", KindLong: "long",
	KindFloat: "float", KindDouble: "double", KindDecimal: "decimal", KindString: "string", KindBinary: "binary", KindDate: "date",
	KindTimestamp: "timestamp", KindTimestampNTZ: "timestamp_ntz", KindVariant: "variant",
	KindIntervalYearMonth: "interval year to month", KindIntervalDayTime: "interval day to second",
	KindGeometry: "geometry", KindGeography: "geography", KindFile: "file",
}

var simpleNames = func() [len(schemaNames)]string {
	names := schemaNames
	names[KindByte], names[KindShort], names[KindInteger], names[KindLong] = "tinyint", "smallint", "int", "bigint"
	return names
}()

// scalarByName has every spelling of a type without parameters, in lower case.
var scalarByName = map[string]DataType{
	"null": {Kind: KindVoid}, "unknown": {Kind: KindVoid},
	"bool": {Kind: KindBoolean}, "real": {Kind: KindFloat}, "timestamp_ltz": {Kind: KindTimestamp},
	"dec": {Kind: KindDecimal, Precision: 10}, "numeric": {Kind: KindDecimal, Precision: 10},
}

func init() {
	for kind, name := range schemaNames {
		t := DataType{Kind: Kind(kind)}
		if t.Kind == KindDecimal {
			t.Precision = 10
		}
		scalarByName[name] = t
		scalarByName[simpleNames[kind]] = t
	}
	units := []string{"year", "month"}
	for i, from := range units {
		for _, to := range units[i:] {
			addInterval(KindIntervalYearMonth, from, to)
		}
	}
	units = []string{"day", "hour", "minute", "second"}
	for i, from := range units {
		for _, to := range units[i:] {
			addInterval(KindIntervalDayTime, from, to)
		}
	}
}

// addInterval registers one range of an interval type; a range other than the whole one is kept in Parameter.
func addInterval(kind Kind, from, to string) {
	text := from
	if from != to {
		text = from + " to " + to
	}
	t := DataType{Kind: kind, Parameter: text}
	if "interval "+text == schemaNames[kind] {
		t.Parameter = ""
	}
	scalarByName["interval "+text] = t
}

// parsePrimitive reads a type that is not an array, map or struct, in either vocabulary.
func parsePrimitive(text string) (DataType, bool) {
	if t, ok := scalarByName[text]; ok {
		return t, true
	}
	text = strings.Join(strings.Fields(text), " ")
	lower := strings.ToLower(text)
	if t, ok := scalarByName[lower]; ok {
		return t, true
	}
	const collate = "string collate "
	if strings.HasPrefix(lower, collate) && len(text) > len(collate) && !strings.Contains(text[len(collate):], " ") {
		return DataType{Kind: KindString, Collation: text[len(collate):]}, true
	}
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		return DataType{}, false
	}
	name, inside := strings.TrimSpace(lower[:open]), strings.TrimSpace(text[open+1:len(text)-1])
	switch name {
	case "decimal", "dec", "numeric":
		p, s, two := strings.Cut(inside, ",")
		precision, err := strconv.Atoi(strings.TrimSpace(p))
		scale := 0
		if two && err == nil {
			scale, err = strconv.Atoi(strings.TrimSpace(s))
		}
		if err != nil || precision < 1 || precision > 38 || scale < 0 || scale > precision {
			return DataType{}, false
		}
		return DataType{Kind: KindDecimal, Precision: precision, Scale: scale}, true
	case "char", "character", "varchar":
		if n, err := strconv.Atoi(inside); err != nil || n < 1 {
			return DataType{}, false
		}
		return DataType{Kind: KindString}, true
	case "geometry", "geography":
		if inside == "" || strings.ContainsAny(inside, "()") {
			return DataType{}, false
		}
		kind := KindGeometry
		if name == "geography" {
			kind = KindGeography
		}
		return DataType{Kind: kind, Parameter: inside}, true
	}
	return DataType{}, false
}

func isCharVarchar(text string) bool {
	text = strings.ToLower(text)
	return strings.HasPrefix(text, "char(") || strings.HasPrefix(text, "varchar(")
}

// primitiveName is a scalar type's text in the given vocabulary.
func (t DataType) primitiveName(names []string) string {
	switch t.Kind {
	case KindDecimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case KindGeometry, KindGeography:
		if t.Parameter != "" {
			return names[t.Kind] + "(" + t.Parameter + ")"
		}
	case KindIntervalYearMonth, KindIntervalDayTime:
		if t.Parameter != "" {
			return "interval " + t.Parameter
		}
	}
	if int(t.Kind) < len(names) {
		return names[t.Kind]
	}
	return "unknown"
}

// String is the simple name: "struct<a:int,b:array<string>>", "decimal(10,2)", "bigint". Names of members stand as they are.
func (t DataType) String() string {
	var text strings.Builder
	t.writeName(&text)
	return text.String()
}

func (t DataType) writeName(text *strings.Builder) {
	switch t.Kind {
	case KindArray:
		text.WriteString("array<")
		t.Element.writeName(text)
	case KindMap:
		text.WriteString("map<")
		t.Key.writeName(text)
		text.WriteByte(',')
		t.Value.writeName(text)
	case KindStruct:
		text.WriteString("struct<")
		for i := range t.Fields {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(string(t.Fields[i].Name))
			text.WriteByte(':')
			t.Fields[i].Type.writeName(text)
		}
	default:
		text.WriteString(t.primitiveName(simpleNames[:]))
		if t.Kind == KindFile && (t.Parameter == FileManaged || t.Parameter == FileExternal) {
			text.WriteString(" " + strings.ToLower(t.Parameter)) // schema JSON has it among the field's metadata
		}
		return
	}
	text.WriteByte('>')
}

// Equal compares types, ignoring nullability, metadata and collation; names of members count, with their case.
func (t DataType) Equal(o DataType) bool {
	if t.Kind != o.Kind {
		return false
	}
	switch t.Kind {
	case KindDecimal:
		return t.Precision == o.Precision && t.Scale == o.Scale && t.Parameter == o.Parameter
	case KindGeometry, KindGeography, KindIntervalYearMonth, KindIntervalDayTime:
		return t.Parameter == o.Parameter
	case KindArray:
		return t.Element.Equal(*o.Element)
	case KindMap:
		return t.Key.Equal(*o.Key) && t.Value.Equal(*o.Value)
	case KindStruct:
		if len(t.Fields) != len(o.Fields) {
			return false
		}
		for i := range t.Fields {
			if t.Fields[i].Name != o.Fields[i].Name || !t.Fields[i].Type.Equal(o.Fields[i].Type) {
				return false
			}
		}
	}
	return true
}

// ParseDataType reads a simple name: scalars in either vocabulary ("bigint" or "long"), array<>, map<,>, struct<name:type,...>
// with names optionally in backticks. Members and elements come out nullable.
func ParseDataType(text string) (DataType, error) {
	const limit = 1 << 20
	if len(text) > limit {
		return DataType{}, NewError("DELTA_INVALID_SCHEMA", "the type has %d bytes; the limit is %d", len(text), limit)
	}
	p := typeTextParser{text: text}
	t, ok := p.dataType(0)
	if p.skipSpace(); !ok || p.pos != len(text) {
		return DataType{}, NewError("DELTA_INVALID_SCHEMA", "%q is not a type", shorten(text))
	}
	return t, nil
}

type typeTextParser struct {
	text string
	pos  int
}

func (p *typeTextParser) skipSpace() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n' || p.text[p.pos] == '\r') {
		p.pos++
	}
}

func (p *typeTextParser) take(b byte) bool {
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == b {
		p.pos++
		return true
	}
	return false
}

func (p *typeTextParser) dataType(depth int) (DataType, bool) {
	if depth > maxSchemaDepth {
		return DataType{}, false
	}
	p.skipSpace()
	start, parens := p.pos, 0
	for p.pos < len(p.text) {
		b := p.text[p.pos]
		if b == '(' {
			parens++
		} else if b == ')' {
			parens--
		} else if parens == 0 && (b == ',' || b == '>' || b == '<') {
			break
		}
		p.pos++
	}
	name := strings.TrimSpace(p.text[start:p.pos])
	if p.pos == len(p.text) || p.text[p.pos] != '<' {
		switch strings.ToLower(name) {
		case "file managed":
			return DataType{Kind: KindFile, Parameter: FileManaged}, true
		case "file external":
			return DataType{Kind: KindFile, Parameter: FileExternal}, true
		}
		return parsePrimitive(name)
	}
	p.pos++
	switch strings.ToLower(name) {
	case "array":
		element, ok := p.dataType(depth + 1)
		return DataType{Kind: KindArray, Element: &element, ContainsNull: true}, ok && p.take('>')
	case "map":
		key, ok := p.dataType(depth + 1)
		if !ok || !p.take(',') {
			return DataType{}, false
		}
		value, ok := p.dataType(depth + 1)
		return DataType{Kind: KindMap, Key: &key, Value: &value, ValueContainsNull: true}, ok && p.take('>')
	case "struct":
		t := DataType{Kind: KindStruct, Fields: []Field{}}
		for !p.take('>') {
			if len(t.Fields) > 0 && !p.take(',') {
				return DataType{}, false
			}
			member, ok := p.memberName()
			if !ok || !p.take(':') {
				return DataType{}, false
			}
			child, ok := p.dataType(depth + 1)
			if !ok {
				return DataType{}, false
			}
			t.Fields = append(t.Fields, Field{Name: LogicalName(member), Type: child, Nullable: true})
		}
		return t, true
	}
	return DataType{}, false
}

func (p *typeTextParser) memberName() (string, bool) {
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == '`' {
		var name strings.Builder
		for p.pos++; p.pos < len(p.text); p.pos++ {
			if p.text[p.pos] == '`' {
				if p.pos+1 >= len(p.text) || p.text[p.pos+1] != '`' {
					p.pos++
					return name.String(), name.Len() > 0
				}
				p.pos++
			}
			name.WriteByte(p.text[p.pos])
		}
		return "", false
	}
	end := strings.IndexByte(p.text[p.pos:], ':')
	if end <= 0 {
		return "", false
	}
	name := strings.TrimSpace(p.text[p.pos : p.pos+end])
	p.pos += end
	return name, name != "" && !strings.ContainsAny(name, "<>,")
}

// Holds tells whether a type is of a kind or has one of it inside.
func (t DataType) Holds(kind Kind) bool {
	switch t.Kind {
	case kind:
		return true
	case KindArray:
		return t.Element.Holds(kind)
	case KindMap:
		return t.Key.Holds(kind) || t.Value.Holds(kind)
	}
	return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Type.Holds(kind) })
}
