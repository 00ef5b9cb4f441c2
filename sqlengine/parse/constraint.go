package parse

import "slices"

// check reads CHECK (e) [NOT ENFORCED].
func (p *parser) check(at Pos, name *Ident) Check {
	p.expect("CHECK", "(")
	c := Check{Pos: at, Name: name, Condition: p.storedText()}
	p.expect(")")
	for {
		switch {
		case p.acceptAll("NOT", "ENFORCED"):
			c.NotEnforced = true
		case p.accept("ENFORCED"):
		case p.is("RELY", "NORELY"):
			p.advance()
		default:
			return c
		}
	}
}

// keyInfo reads what Databricks lets follow a key; nothing of it has an effect, since keys are not enforced.
func (p *parser) keyInfo() {
	for {
		switch {
		case p.acceptAll("NOT", "ENFORCED"), p.accept("ENFORCED", "RELY", "NORELY", "DEFERRABLE"),
			p.acceptAll("NOT", "DEFERRABLE"), p.acceptAll("INITIALLY", "DEFERRED"), p.acceptAll("INITIALLY", "IMMEDIATE"):
		default:
			return
		}
	}
}

// references reads REFERENCES t (columns) with its actions.
func (p *parser) references(key *ForeignKey) {
	p.expect("REFERENCES")
	key.Table = p.tableName()
	if p.is("(") {
		key.Target = p.identList()
	}
	for {
		switch {
		case p.accept("MATCH"):
			if !p.accept("FULL", "PARTIAL", "SIMPLE") {
				p.fail("FULL", "PARTIAL", "SIMPLE")
			}
		case p.is("ON") && p.isAt(1, "UPDATE", "DELETE"):
			p.skip(2)
			switch {
			case p.accept("CASCADE", "RESTRICT"), p.acceptAll("NO", "ACTION"), p.acceptAll("SET", "NULL"), p.acceptAll("SET", "DEFAULT"):
			default:
				p.fail("NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT")
			}
		default:
			p.keyInfo()
			if p.is("MATCH") || p.is("ON") && p.isAt(1, "UPDATE", "DELETE") {
				continue
			}
			return
		}
	}
}

// tableElements are what a CREATE TABLE or ALTER TABLE ... ADD may hold besides columns.
type tableElements struct {
	checks      []Check
	keys        []Key
	foreignKeys []ForeignKey
}

// constraintAhead tells whether a constraint or key begins here rather than a column of that name.
func (p *parser) constraintAhead() bool {
	switch {
	case p.is("CONSTRAINT"):
		kinds := []string{"CHECK", "PRIMARY", "UNIQUE", "FOREIGN"}
		return p.isAt(1, kinds...) || p.isAt(2, kinds...) || p.isName(1) && !isType(p.peek(1).word)
	case p.is("CHECK"):
		return p.isAt(1, "(")
	case p.is("PRIMARY", "FOREIGN"):
		return p.isAt(1, "KEY")
	case p.is("UNIQUE"):
		return p.isAt(1, "KEY", "INDEX") && !p.endsAt(2, ",", ")") || p.keyAhead(1)
	case p.is("FULLTEXT", "SPATIAL"):
		return p.isAt(1, "KEY", "INDEX") || p.keyAhead(1)
	case p.is("KEY", "INDEX"):
		return p.keyAhead(1)
	}
	return false
}

// keyAhead tells whether [name] [USING type] (columns) stands n places on, and no type with a length.
func (p *parser) keyAhead(n int) bool {
	if p.isAt(n, "(") {
		return true
	}
	if k := p.peek(n).kind; k != tokWord && k != tokQuoted {
		return false
	}
	inside := p.peek(n + 2)
	return p.isAt(n+1, "USING") || p.isAt(n+1, "(") && inside.kind != tokNumber && inside.kind != tokString
}

// tableConstraint reads a constraint or key of a table.
func (p *parser) tableConstraint(e *tableElements) {
	at := p.tok().start
	var name *Ident
	if p.accept("CONSTRAINT") && !p.is("PRIMARY", "FOREIGN", "UNIQUE") && !(p.is("CHECK") && p.opts.Dialect == MySQL) {
		if p.is("CHECK") && p.isAt(1, "(") {
			p.advance()
			p.bail(syntaxError(p.tok().start, "unexpected '(': a constraint has a name in CONSTRAINT name CHECK (...)"))
		}
		n := p.ident()
		name = &n
	}
	switch {
	case p.is("CHECK"):
		e.checks = append(e.checks, p.check(at, name))
	case p.is("FOREIGN"):
		p.advance()
		p.expect("KEY")
		key := ForeignKey{Pos: at, Name: name}
		if p.isName(0) && !p.is("(") {
			n := p.ident() // MySQL's name of the index
			if name == nil {
				key.Name = &n
			}
		}
		key.Columns = p.identList()
		p.references(&key)
		e.foreignKeys = append(e.foreignKeys, key)
	case p.is("PRIMARY", "UNIQUE", "FULLTEXT", "SPATIAL", "KEY", "INDEX"):
		e.keys = append(e.keys, p.key(at, name))
	default:
		p.fail("CHECK", "PRIMARY KEY", "FOREIGN KEY", "UNIQUE")
	}
}

// key reads PRIMARY KEY, UNIQUE [KEY], [FULLTEXT|SPATIAL] KEY|INDEX with their columns and options.
func (p *parser) key(at Pos, name *Ident) Key {
	k := Key{Pos: at, Kind: p.advance().word, Name: name}
	switch k.Kind {
	case "PRIMARY":
		p.expect("KEY")
		k.Kind = "PRIMARY KEY"
	case "KEY":
		k.Kind = "INDEX"
	case "UNIQUE", "FULLTEXT", "SPATIAL":
		p.accept("KEY", "INDEX")
	}
	if p.isName(0) && !p.is("USING", "(") {
		n := p.ident()
		if name == nil {
			k.Name = &n
		}
	}
	p.indexType()
	k.Columns = p.keyColumns(k.Kind)
	p.keyInfo()
	for p.indexType() || p.indexOption() {
	}
	return k
}

// indexType reads USING BTREE.
func (p *parser) indexType() bool {
	if !p.accept("USING") {
		return false
	}
	p.part()
	return true
}

func (p *parser) indexOption() bool {
	switch {
	case p.accept("COMMENT"):
		p.stringText()
	case p.accept("KEY_BLOCK_SIZE"):
		p.accept("=")
		p.integer()
	case p.is("WITH") && p.isAt(1, "PARSER"):
		p.skip(2)
		p.part()
	case p.accept("VISIBLE", "INVISIBLE"):
	default:
		return false
	}
	return true
}

// keyColumns reads (a, b(10) DESC, (expression)); an expression is no column and only an index may hold one.
func (p *parser) keyColumns(kind string) []Ident {
	p.expect("(")
	columns := []Ident{}
	for {
		if p.is("(") && slices.Contains([]string{"INDEX", "UNIQUE"}, kind) {
			p.expr()
		} else {
			columns = append(columns, p.ident())
			p.typeLength()
		}
		p.accept("ASC", "DESC", "TIMESERIES")
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return columns
}
