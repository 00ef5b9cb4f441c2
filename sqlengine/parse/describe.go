package parse

// describeStatement reads every form of DESCRIBE.
func (p *parser) describeStatement() Statement {
	at := p.advance().start
	followed := p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted || p.peek(1).kind == tokString
	switch {
	case p.is("DETAIL") && followed:
		p.advance()
		d := &Describe{Pos: at, What: "DETAIL"}
		p.tableOrPath(d)
		return d
	case p.is("HISTORY") && followed && !p.isAt(1, "LIMIT"):
		p.advance()
		d := &Describe{Pos: at, What: "HISTORY"}
		p.tableOrPath(d)
		if p.accept("LIMIT") {
			d.Limit = p.limitValue()
		}
		return d
	case p.is("DATABASE", "SCHEMA", "NAMESPACE") && followed:
		p.advance()
		d := &Describe{Pos: at, What: "DATABASE", Extended: p.acceptExtended()}
		d.Name = p.name()
		return d
	case p.is("FUNCTION") && followed:
		p.advance()
		d := &Describe{Pos: at, What: "FUNCTION", Extended: p.acceptExtended()}
		if p.isString() {
			d.Name = Name{{Name: p.stringText(), Quoted: true, Pos: at}}
		} else if p.isName(0) {
			d.Name = p.name()
		} else {
			d.Name = Name{p.take()}
		}
		return d
	case p.is("QUERY") && (p.isAt(1, queryVerbs...)):
		p.advance()
		return &Describe{Pos: at, What: "QUERY", Query: p.query()}
	case p.startsQuery() && !(p.is("TABLE") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted)), p.is("("):
		if p.opts.Dialect == MySQL {
			return &Explain{Statement: p.queryStatement()}
		}
		return &Describe{Pos: at, What: "QUERY", Query: p.query()}
	case p.is("ANALYZE", "FORMAT") && p.opts.Dialect == MySQL && (p.isAt(1, "=") || p.isAt(1, queryVerbs...)):
		return p.explained(at) // MySQL's DESCRIBE is EXPLAIN
	}
	return p.describeTable(at)
}

func (p *parser) acceptExtended() bool {
	if !p.is("EXTENDED", "FORMATTED") {
		return false
	}
	if k := p.peek(1).kind; k != tokWord && k != tokQuoted {
		return false
	}
	p.advance()
	return true
}

// tableOrPath reads a table's name, or its path as a string.
func (p *parser) tableOrPath(d *Describe) {
	if p.isString() {
		d.Path = p.stringText()
		return
	}
	d.Name = p.tableName()
}

// describeTable reads [TABLE] [EXTENDED] t [time travel] [column] [AS JSON].
func (p *parser) describeTable(at Pos) Statement {
	d := &Describe{Pos: at, What: "TABLE"}
	if p.is("TABLE") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted) {
		p.advance()
	}
	d.Extended = p.acceptExtended()
	if !p.isName(0) {
		p.fail("a table", "DETAIL", "HISTORY", "QUERY", "DATABASE", "FUNCTION")
	}
	d.Name = p.tableName()
	d.AsOf = p.asOf()
	if p.is("PARTITION") && p.isAt(1, "(") {
		p.refuse(p.tok().start, "DESCRIBE ... PARTITION (...) is not supported")
	}
	if p.isString() {
		p.refuse(p.tok().start, "a pattern of column names is not supported here: use SHOW COLUMNS FROM t LIKE 'pattern'")
	}
	if p.isName(0) && !p.is("AS") {
		d.Column = p.name()
	}
	if p.accept("AS") {
		p.expect("JSON")
		d.JSON = true
	}
	return d
}
