package parse

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// simpleTypes are the types of one word. MySQL words among them are told by TypeName.MySQL as well.
var simpleTypes = map[string]protocol.Kind{
	"BOOLEAN": protocol.KindBoolean, "BOOL": protocol.KindBoolean,
	"TINYINT": protocol.KindByte, "BYTE": protocol.KindByte,
	"SMALLINT": protocol.KindShort, "SHORT": protocol.KindShort, "YEAR": protocol.KindShort,
	"INT": protocol.KindInteger, "INTEGER": protocol.KindInteger, "MEDIUMINT": protocol.KindInteger,
	"BIGINT": protocol.KindLong, "LONG": protocol.KindLong, "SIGNED": protocol.KindLong,
	"FLOAT": protocol.KindFloat, "REAL": protocol.KindFloat, "DOUBLE": protocol.KindDouble,
	"STRING": protocol.KindString, "TEXT": protocol.KindString, "TINYTEXT": protocol.KindString, "MEDIUMTEXT": protocol.KindString,
	"LONGTEXT": protocol.KindString, "CHAR": protocol.KindString, "CHARACTER": protocol.KindString, "NCHAR": protocol.KindString,
	"VARCHAR": protocol.KindString, "NVARCHAR": protocol.KindString, "NATIONAL": protocol.KindString,
	"BINARY": protocol.KindBinary, "VARBINARY": protocol.KindBinary, "BLOB": protocol.KindBinary, "TINYBLOB": protocol.KindBinary,
	"MEDIUMBLOB": protocol.KindBinary, "LONGBLOB": protocol.KindBinary,
	"DATE": protocol.KindDate, "TIMESTAMP": protocol.KindTimestamp, "TIMESTAMP_LTZ": protocol.KindTimestamp,
	"TIMESTAMP_NTZ": protocol.KindTimestampNTZ, "DATETIME": protocol.KindTimestampNTZ, "TIME": protocol.KindString,
	"VARIANT": protocol.KindVariant, "JSON": protocol.KindVariant, "VOID": protocol.KindVoid,
	"GEOMETRY": protocol.KindGeometry, "GEOGRAPHY": protocol.KindGeography, "FILE": protocol.KindFile,
}

// unsignedTypes are the Delta types that hold MySQL's unsigned ones.
var unsignedTypes = map[protocol.Kind]protocol.DataType{
	protocol.KindByte:    {Kind: protocol.KindShort},
	protocol.KindShort:   {Kind: protocol.KindInteger},
	protocol.KindInteger: {Kind: protocol.KindLong},
	protocol.KindLong:    {Kind: protocol.KindDecimal, Precision: 20},
}

func binaryType(at Pos) TypeName {
	return TypeName{Pos: at, Type: protocol.DataType{Kind: protocol.KindBinary}, Length: -1, Digits: -1, MySQL: "BINARY", Text: "BINARY"}
}

// typeName reads a type in any spelling.
func (p *parser) typeName() TypeName {
	t := p.columnType()
	if t.MySQL == "ENUM" {
		p.refuse(t.Pos, "type ENUM is not supported here: use STRING")
	}
	return t
}

// columnType reads the type of a column's definition, which may be ENUM as well.
func (p *parser) columnType() TypeName {
	t := p.typeAt(0)
	t.Text = p.lex.sql[t.Pos.Offset:p.previous.end]
	return t
}

// nested reads the type inside an ARRAY, MAP or STRUCT.
func (p *parser) nested(depth int) TypeName {
	t := p.typeAt(depth + 1)
	switch t.MySQL {
	case "TIME", "YEAR", "UNSIGNED", "SIGNED", "ENUM":
		p.refuse(t.Pos, "%s inside a nested type is not supported", t.MySQL)
	}
	return t
}

// spark is a type as Spark writes it in __CHAR_VARCHAR_TYPE_STRING.
func (t *TypeName) spark() string {
	if t.CharVarchar != "" {
		return t.CharVarchar
	}
	return withoutModes(t.Type).String()
}

// withoutModes is a type without the storage modes of files, which have a place of their own in a field's metadata.
func withoutModes(t protocol.DataType) protocol.DataType {
	inside := func(part *protocol.DataType) *protocol.DataType {
		if part == nil {
			return nil
		}
		plain := withoutModes(*part)
		return &plain
	}
	if t.Kind == protocol.KindFile {
		t.Parameter = ""
	}
	t.Element, t.Key, t.Value = inside(t.Element), inside(t.Key), inside(t.Value)
	t.Fields = slices.Clone(t.Fields)
	for i := range t.Fields {
		t.Fields[i].Type = withoutModes(t.Fields[i].Type)
	}
	return t
}

func (p *parser) typeAt(depth int) TypeName {
	if depth > maxTypeDepth {
		p.limit("a type nested more than %d levels deep", maxTypeDepth)
	}
	t := TypeName{Pos: p.tok().start, Length: -1, Digits: -1}
	tok := p.tok()
	if tok.kind != tokWord || tok.word == "" {
		p.failType(tok)
	}
	p.advance()
	switch word := tok.word; word {
	case "ARRAY":
		p.openAngle(word)
		element := p.nested(depth)
		p.closeAngle()
		t.Type = protocol.DataType{Kind: protocol.KindArray, Element: &element.Type, ContainsNull: true}
		if element.CharVarchar != "" {
			t.CharVarchar = "array<" + element.spark() + ">"
		}
	case "MAP":
		p.openAngle(word)
		key := p.nested(depth)
		p.expect(",")
		value := p.nested(depth)
		p.closeAngle()
		t.Type = protocol.DataType{Kind: protocol.KindMap, Key: &key.Type, Value: &value.Type, ValueContainsNull: true}
		if key.CharVarchar != "" || value.CharVarchar != "" {
			t.CharVarchar = "map<" + key.spark() + "," + value.spark() + ">"
		}
	case "STRUCT":
		t.Type.Kind = protocol.KindStruct
		t.Type.Fields, t.CharVarchar = p.structFields(depth)
	case "DECIMAL", "DEC", "NUMERIC", "FIXED":
		p.decimal(&t)
	case "INTERVAL":
		t.Type.Kind = p.intervalType()
	case "UNSIGNED":
		t.Type = unsignedTypes[protocol.KindLong]
		t.MySQL = word
		p.accept("INTEGER", "INT")
	case "BIT":
		t.Type.Kind = protocol.KindBoolean
		if n := p.typeLength(); n > 1 {
			p.refuse(tok.start, "BIT(%d) is not supported: use BINARY", n)
		}
	case "SET":
		p.refuse(tok.start, "type SET is not supported: use STRING or ARRAY<STRING>")
	case "ENUM":
		t.Type.Kind, t.MySQL = protocol.KindString, word
		t.Values = p.stringList()
		p.characterSet()
		p.collation(&t)
	default:
		kind, ok := simpleTypes[word]
		if !ok {
			p.failType(tok)
		}
		t.Type.Kind = kind
		p.simpleType(&t, word)
	}
	return t
}

func (p *parser) failType(t token) {
	err := syntaxError(t.start, "unexpected %s, expected a type", p.describe(t))
	if t.kind == tokWord {
		words := []string{"ARRAY", "MAP", "STRUCT", "DECIMAL", "NUMERIC", "INTERVAL", "UNSIGNED"}
		words = append(words, slices.Sorted(maps.Keys(simpleTypes))...)
		if near := Meant(p.text(t), words); near != "" {
			err.WithHint("did you mean %s?", near)
		}
	}
	p.bail(err)
}

// simpleType reads what may follow a type of one word.
func (p *parser) simpleType(t *TypeName, word string) {
	switch word {
	case "SIGNED":
		p.accept("INTEGER", "INT")
		t.MySQL = word
	case "TINYINT", "SMALLINT", "INT", "INTEGER", "MEDIUMINT", "BIGINT":
		width := p.typeLength()
		if word == "TINYINT" && width == 1 {
			t.Type.Kind = protocol.KindBoolean
		}
		if p.accept("UNSIGNED") {
			if t.Type.Kind == protocol.KindBoolean {
				t.Type.Kind = protocol.KindByte
			}
			t.Type = unsignedTypes[t.Type.Kind]
		} else {
			p.accept("SIGNED")
		}
		p.accept("ZEROFILL")
	case "FLOAT", "REAL", "DOUBLE":
		if word == "DOUBLE" {
			p.accept("PRECISION")
		}
		defer p.unsigned()
		if n := p.typeLength(); n > 24 && word == "FLOAT" || word == "REAL" && p.opts.Dialect == MySQL {
			t.Type.Kind = protocol.KindDouble
		}
	case "CHAR", "CHARACTER", "NCHAR", "VARCHAR", "NVARCHAR", "NATIONAL":
		p.charType(t, word)
	case "BINARY", "VARBINARY", "BLOB":
		t.Length = p.typeLength()
		if word == "BINARY" && p.opts.Dialect == MySQL {
			t.MySQL = word
		}
	case "STRING", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT":
		if word == "TEXT" {
			p.typeLength()
		}
		p.characterSet()
		p.collation(t)
	case "DATETIME", "TIME", "YEAR":
		t.MySQL = word
		t.Digits = p.fraction(word)
	case "TIMESTAMP":
		t.Digits = p.fraction(word)
		switch {
		case p.acceptAll("WITHOUT", "TIME", "ZONE"):
			t.Type.Kind = protocol.KindTimestampNTZ
		case p.is("WITH") && p.isAt(1, "LOCAL", "TIME"):
			p.advance()
			p.accept("LOCAL")
			p.expect("TIME", "ZONE")
		}
	case "JSON":
		t.MySQL = word
	case "GEOMETRY", "GEOGRAPHY":
		if p.accept("(") {
			t.Type.Parameter = p.text(p.advance())
			p.expect(")")
		}
	case "FILE":
		if p.is("MANAGED", "EXTERNAL") {
			t.Type.Parameter = p.advance().word
		}
	}
}

func (p *parser) charType(t *TypeName, word string) {
	if word == "NATIONAL" && !p.accept("CHAR", "CHARACTER", "VARCHAR") {
		p.fail("CHAR", "VARCHAR")
	}
	varying := p.previous.word == "VARCHAR" || word == "VARCHAR" || word == "NVARCHAR"
	if !varying {
		varying = p.accept("VARYING")
	}
	t.Length = p.typeLength()
	t.Fixed = !varying
	if p.opts.Dialect == MySQL && t.Fixed {
		t.MySQL = "CHAR"
	}
	if t.Length >= 0 {
		t.CharVarchar = "varchar(" + strconv.Itoa(t.Length) + ")"
		if t.Fixed {
			t.CharVarchar = "char(" + strconv.Itoa(t.Length) + ")"
		}
	}
	p.characterSet()
	p.collation(t)
}

// unsigned reads MySQL's UNSIGNED and ZEROFILL of a number with a fraction, which change nothing here.
func (p *parser) unsigned() {
	for p.accept("UNSIGNED", "SIGNED", "ZEROFILL") {
	}
}

// stringList reads ('a', 'b').
func (p *parser) stringList() []string {
	p.expect("(")
	var list []string
	for {
		list = append(list, p.stringText())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return list
}

// characterSet reads CHARACTER SET x or CHARSET x; text is UTF-8 whatever it says, so others are refused.
func (p *parser) characterSet() {
	if !p.accept("CHARSET") && !p.acceptAll("CHARACTER", "SET") {
		return
	}
	at := p.tok().start
	name := p.part().Name
	if !charsets["_"+strings.ToUpper(name)] {
		p.refuse(at, "character set %s is not supported: text is UTF-8", name)
	}
}

// collation reads COLLATE x of a string type.
func (p *parser) collation(t *TypeName) {
	p.accept("BINARY") // MySQL's CHAR(n) BINARY
	if p.accept("COLLATE") {
		t.setCollation(p.collationName())
	}
}

// collationName reads the name of a collation, perhaps with its provider: icu.UNICODE.
func (p *parser) collationName() Name {
	if p.isString() {
		at := p.tok().start
		return Name{{Name: p.stringText(), Quoted: true, Pos: at}}
	}
	name := Name{p.part()}
	for p.accept(".") {
		if name = append(name, p.part()); len(name) > maxName {
			p.limit("a name of more than %d parts", maxName)
		}
	}
	return name
}

// mysqlCollation matches the names of MySQL's collations. Spark's UTF8_BINARY and UTF8_LCASE are none of them.
var mysqlCollation = regexp.MustCompile(`(?i)^(?:(?:utf8mb[34]|utf8|latin[0-9]|ascii|ucs2|utf16|utf32|cp125[0-9])_\w*(?:_ci|_cs|_bin)|(?:utf8mb[34]|utf8|latin[0-9]|ascii)_bin)$`)

// setCollation gives a string type its collation. UTF8_BINARY is the default and is not kept.
func (t *TypeName) setCollation(name Name) {
	collation := strings.ToUpper(name[len(name)-1].Name)
	switch {
	case len(name) > 1:
		t.Type.Collation = strings.ToLower(name[len(name)-2].Name) + "." + collation
		if t.Type.Collation == "spark.UTF8_BINARY" {
			t.Type.Collation = ""
		}
	case collation == "UTF8_BINARY" || collation == "BINARY":
	case mysqlCollation.MatchString(collation):
		t.MySQLCollation = name[0].Name
	case strings.HasPrefix(collation, "UTF8_LCASE"), strings.HasPrefix(collation, "UTF8_BINARY_"):
		t.Type.Collation = "spark." + collation
	default:
		t.Type.Collation = "icu." + collation
	}
}

// typeLength reads (n), or (n, m) of MySQL's floats; -1 where none is given.
func (p *parser) typeLength() int {
	if !p.is("(") || p.peek(1).kind != tokNumber {
		return -1
	}
	p.advance()
	n := p.smallNumber(1 << 31)
	if p.accept(",") {
		p.smallNumber(255)
	}
	p.expect(")")
	return n
}

func (p *parser) fraction(word string) int {
	n := p.typeLength()
	if n > 6 && word != "YEAR" {
		p.bail(syntaxError(p.previous.start, "%s has at most 6 fractional digits", word))
	}
	return n
}

// smallNumber reads an unsigned integer up to most.
func (p *parser) smallNumber(most int64) int {
	t := p.tok()
	n, err := strconv.ParseInt(p.text(t), 10, 64)
	if t.kind != tokNumber || err != nil || n > most {
		p.fail("a number up to " + strconv.FormatInt(most, 10))
	}
	p.advance()
	return int(n)
}

func (p *parser) decimal(t *TypeName) {
	t.Type = protocol.DataType{Kind: protocol.KindDecimal, Precision: 10}
	if p.opts.Dialect == MySQL {
		t.MySQL = "DECIMAL"
	}
	at := p.tok().start
	if !p.accept("(") {
		return
	}
	t.Type.Precision = p.smallNumber(1000)
	if p.accept(",") {
		t.Type.Scale = p.smallNumber(1000)
	}
	p.expect(")")
	p.unsigned()
	precision := t.Type.Precision
	if precision > 38 {
		p.bail(protocol.NewError("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "DECIMAL has a precision of 1 to 38, not %d", precision).At(at.Line, at.Column))
	}
	if precision < 1 {
		p.bail(protocol.NewError("INVALID_PARAMETER_VALUE", "DECIMAL has a precision of 1 to 38, not %d", precision).At(at.Line, at.Column))
	}
	if t.Type.Scale > t.Type.Precision {
		p.bail(protocol.NewError("INVALID_PARAMETER_VALUE", "the scale %d of DECIMAL is greater than its precision %d", t.Type.Scale, t.Type.Precision).WithErrno(1427).At(at.Line, at.Column))
	}
}

// intervalType reads YEAR [TO MONTH] or DAY [TO SECOND] and the fields between.
func (p *parser) intervalType() protocol.Kind {
	at := p.tok().start
	from := units[p.tok().word]
	if from == "" {
		p.refuse(at, "INTERVAL without fields is no type of a column: write INTERVAL YEAR TO MONTH or INTERVAL DAY TO SECOND")
	}
	p.advance()
	kind := protocol.KindIntervalDayTime
	order := []string{"DAY", "HOUR", "MINUTE", "SECOND"}
	if from == "YEAR" || from == "MONTH" {
		kind, order = protocol.KindIntervalYearMonth, []string{"YEAR", "MONTH"}
	}
	place := func(unit string) int {
		for i, u := range order {
			if u == unit {
				return i
			}
		}
		return -1
	}
	if place(from) < 0 {
		p.bail(syntaxError(at, "%s is no field of an interval type", from))
	}
	if p.is("TO") && p.isUnit(1) {
		p.advance()
		at = p.tok().start
		if to := units[p.advance().word]; place(to) <= place(from) {
			p.bail(syntaxError(at, "an interval type cannot go from %s to %s", from, to))
		}
	}
	return kind
}

func (p *parser) openAngle(word string) {
	if !p.accept("<") {
		p.fail("'<' after " + word)
	}
}

// structFields reads <a: INT NOT NULL COMMENT '..', b STRING>, and gives the struct as Spark writes it where a field is CHAR(n) or
// VARCHAR(n).
func (p *parser) structFields(depth int) (fields []protocol.Field, charVarchar string) {
	fields = []protocol.Field{}
	if p.accept("<>") {
		return fields, ""
	}
	p.openAngle("STRUCT")
	if p.accept(">") {
		return fields, ""
	}
	var names []string
	limited := false
	for {
		if k := p.tok().kind; k != tokWord && k != tokQuoted {
			p.fail("a field's name")
		}
		field := protocol.Field{Name: protocol.LogicalName(p.take().Name), Nullable: true}
		p.accept(":")
		member := p.nested(depth)
		field.Type = member.Type
		limited = limited || member.CharVarchar != ""
		names = append(names, string(field.Name)+":"+member.spark())
		if p.is("NOT") {
			p.expect("NOT", "NULL")
			field.Nullable = false
		} else {
			p.accept("NULL")
		}
		if p.accept("COMMENT") {
			text, err := json.Marshal(p.stringText())
			if err != nil {
				p.fail("a string")
			}
			field.Metadata = protocol.FieldMetadata{"comment": text}
		}
		fields = append(fields, field)
		if !p.accept(",") {
			break
		}
	}
	p.closeAngle()
	if limited {
		charVarchar = "struct<" + strings.Join(names, ",") + ">"
	}
	return fields, charVarchar
}
