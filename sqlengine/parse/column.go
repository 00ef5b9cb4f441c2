package parse

import (
	"strings"

	"deltasql/protocol"
)

// columnPlace is where a column's definition stands, which decides what may follow the type.
type columnPlace struct {
	duplicate protocol.Class // class of an attribute that is given twice
	path      bool           // the name may reach into a struct
	position  bool           // FIRST and AFTER may follow
	added     bool           // by ALTER TABLE: Spark adds no generated and no identity column
}

var (
	ofTable = columnPlace{duplicate: "CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE"}
	ofAlter = columnPlace{duplicate: "ALTER_TABLE_COLUMN_DESCRIPTOR_DUPLICATE", path: true, position: true, added: true}
)

// columnDef reads name type attributes.
func (p *parser) columnDef(place columnPlace) ColumnDef {
	at := p.tok().start
	if !p.isName(0) {
		p.fail("a column")
	}
	name := Name{p.ident()}
	for place.path && p.accept(".") {
		if name = append(name, p.part()); len(name) > maxName {
			p.limit("a name of more than %d parts", maxName)
		}
	}
	return p.columnBody(at, name, place)
}

// columnBody reads what stands behind a column's name.
func (p *parser) columnBody(at Pos, name Name, place columnPlace) ColumnDef {
	c := ColumnDef{Pos: at, Path: name}
	p.accept(":")
	if t := p.tok(); t.kind == tokWord && strings.EqualFold(p.text(t), "SERIAL") && p.opts.Dialect == MySQL {
		p.advance()
		c.Type = &TypeName{Pos: t.start, Type: protocol.DataType{Kind: protocol.KindLong}, Length: -1, Digits: -1, Text: p.text(t)}
		c.NotNull, c.Unique, c.Identity = true, true, &Identity{Pos: t.start, AutoIncrement: true}
	} else {
		typ := p.columnType()
		p.sized(&typ)
		c.Type = &typ
		if typ.MySQLCollation != "" {
			c.Ignored = append(c.Ignored, Ignored{Pos: typ.Pos, What: "COLLATE " + typ.MySQLCollation})
		}
	}
	seen := map[string]bool{}
	for p.columnAttribute(&c, place, seen) {
	}
	return c
}

// sized asks for the length of CHAR and VARCHAR; MySQL's CHAR is CHAR(1).
func (p *parser) sized(t *TypeName) {
	word := strings.ToUpper(t.Text)
	limited := strings.HasPrefix(word, "CHAR") || strings.HasPrefix(word, "VARCHAR") || strings.HasPrefix(word, "NCHAR") ||
		strings.HasPrefix(word, "NVARCHAR") || strings.HasPrefix(word, "NATIONAL")
	if t.Type.Kind != protocol.KindString || t.MySQL == "ENUM" || !limited || t.Length >= 0 {
		return
	}
	if p.opts.Dialect == MySQL && t.Fixed {
		t.Length, t.CharVarchar = 1, "char(1)"
		return
	}
	p.bail(protocol.NewError("DATATYPE_MISSING_SIZE", "type %s of a column needs a length", t.Text).At(t.Pos.Line, t.Pos.Column).
		WithHint("write %s(n), or STRING for text of any length", t.Text))
}

func quoteIdent(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// columnAttribute reads one attribute of a column; false where none follows.
func (p *parser) columnAttribute(c *ColumnDef, place columnPlace, seen map[string]bool) bool {
	at := p.tok().start
	once := func(what string) {
		if seen[what] {
			p.bail(protocol.NewError(place.duplicate, "column %s has %s twice", c.Path[len(c.Path)-1].Name, what).At(at.Line, at.Column))
		}
		seen[what] = true
	}
	switch {
	case p.is("NOT"):
		once("NOT NULL")
		p.expect("NOT", "NULL")
		c.NotNull = true
	case p.is("NULL"):
		once("NULL")
		p.advance()
		c.Null = true
	case p.is("DEFAULT"):
		once("DEFAULT")
		p.advance()
		text := p.storedText()
		c.Default = &text
		c.Backfill = p.accept("BACKFILL")
	case p.is("ON") && p.isAt(1, "UPDATE"):
		once("ON UPDATE")
		p.skip(2)
		text := p.storedText()
		c.OnUpdate = &text
	case p.is("GENERATED"), p.is("AS") && p.isAt(1, "("):
		once("GENERATED")
		if place.added && p.opts.Dialect == Spark {
			err := syntaxError(at, "unexpected %s: a generated or identity column cannot be added to a table", p.describe(p.tok()))
			p.bail(err.WithHint("declare it in CREATE TABLE or CREATE OR REPLACE TABLE ... AS SELECT"))
		}
		p.generated(c)
	case p.is("AUTO_INCREMENT"):
		once("AUTO_INCREMENT")
		p.advance()
		c.Identity = &Identity{Pos: at, AutoIncrement: true}
	case p.is("COMMENT"):
		once("COMMENT")
		p.advance()
		c.Comment = p.textLiteral()
	case p.is("COLLATE"):
		once("COLLATE")
		p.advance()
		name := p.collationName()
		if mysqlCollation.MatchString(name[len(name)-1].Name) {
			c.Ignored = append(c.Ignored, p.ignore(at))
		} else {
			c.Collation = name
		}
	case p.is("CHARACTER") && p.isAt(1, "SET"), p.is("CHARSET"):
		once("CHARACTER SET")
		p.characterSet()
	case p.is("FIRST", "AFTER") && place.position:
		once("position")
		if p.advance().word == "FIRST" {
			c.First = true
		} else {
			after := p.ident()
			c.After = &after
		}
	case p.is("VISIBLE", "INVISIBLE"), p.is("COLUMN_FORMAT", "STORAGE", "SRID"):
		once(p.tok().word)
		if p.advance().word != "VISIBLE" && p.previous.word != "INVISIBLE" {
			p.advance()
		}
		c.Ignored = append(c.Ignored, p.ignore(at))
	case p.is("MASK"):
		p.refuse(at, "a column mask is not supported")
	default:
		return p.columnConstraint(c, once)
	}
	return true
}

// columnConstraint reads CHECK, PRIMARY KEY, UNIQUE and REFERENCES of a column.
func (p *parser) columnConstraint(c *ColumnDef, once func(string)) bool {
	at := p.tok().start
	var name *Ident
	if p.is("CONSTRAINT") {
		p.advance()
		if !p.is("CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "FOREIGN") {
			n := p.ident()
			name = &n
		}
		if !p.is("CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "FOREIGN") {
			p.fail("CHECK", "PRIMARY KEY", "UNIQUE", "REFERENCES")
		}
	}
	switch {
	case p.is("CHECK"):
		c.Checks = append(c.Checks, p.check(at, name))
	case p.is("PRIMARY") || p.is("KEY") && p.opts.Dialect == MySQL:
		once("PRIMARY KEY")
		if p.advance().word == "PRIMARY" {
			p.expect("KEY")
		}
		p.keyInfo()
		c.PrimaryKey = true
	case p.is("UNIQUE"):
		once("UNIQUE")
		p.advance()
		p.accept("KEY")
		p.keyInfo()
		c.Unique = true
	case p.is("REFERENCES"), p.is("FOREIGN"):
		once("REFERENCES")
		if p.accept("FOREIGN") {
			p.expect("KEY")
		}
		key := ForeignKey{Pos: at, Name: name}
		p.references(&key)
		c.References = &key
	default:
		return false
	}
	return true
}

// generated reads GENERATED ALWAYS|BY DEFAULT AS IDENTITY, GENERATED ALWAYS AS (e), and MySQL's AS (e).
func (p *parser) generated(c *ColumnDef) {
	at := p.tok().start
	always := true
	if p.accept("GENERATED") {
		if p.accept("BY") {
			p.expect("DEFAULT")
			always = false
		} else if !p.accept("ALWAYS") {
			p.fail("ALWAYS", "BY DEFAULT")
		}
	}
	p.expect("AS")
	if !always || p.is("IDENTITY") {
		p.expect("IDENTITY")
		c.Identity = &Identity{Pos: at, Always: always}
		if p.is("(") {
			p.sequenceOptions(c.Identity)
		}
		return
	}
	p.expect("(")
	text := p.storedText()
	p.expect(")")
	c.Generated = &text
	p.accept("STORED", "VIRTUAL", "PERSISTENT")
}

// sequenceOptions reads (START WITH n INCREMENT BY n), in any order.
func (p *parser) sequenceOptions(identity *Identity) {
	p.expect("(")
	for !p.is(")") {
		at := p.tok().start
		option, name := &identity.Start, "START"
		switch {
		case p.accept("START"):
			p.accept("WITH")
		case p.accept("INCREMENT"):
			p.accept("BY")
			option, name = &identity.Step, "STEP"
		default:
			p.fail("START WITH", "INCREMENT BY", "')'")
		}
		if *option != nil {
			p.bail(protocol.NewError("IDENTITY_COLUMNS_DUPLICATED_SEQUENCE_GENERATOR_OPTION", "%s of an identity column is given twice", name).At(at.Line, at.Column))
		}
		*option = p.integer()
		p.accept(",")
	}
	p.expect(")")
}
