package parse

// startsAsOf tells whether a time travel clause begins here.
func (p *parser) startsAsOf() bool {
	n := 0
	if p.is("FOR") {
		n = 1
	}
	switch {
	case p.isAt(n, "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME"):
		return p.isAt(n+1, "AS") && p.isAt(n+2, "OF") || n == 1
	case p.is("AS") && p.isAt(1, "OF"):
		t := p.peek(2)
		return t.kind == tokNumber || t.kind == tokString || t.kind == tokVariable || t.kind == tokOp && p.isAt(2, "(", "?", ":", "-") ||
			t.kind == tokWord && p.isName(2) && notTables[t.word] == "" || p.isAt(2, "CAST", "TIMESTAMP", "DATE")
	case p.is("AT"):
		return p.isAt(1, "(") && p.isAt(2, "VERSION", "TIMESTAMP") && p.isAt(3, "=>")
	}
	return false
}

// asOf reads a time travel clause in any of its spellings; nil if none begins here.
func (p *parser) asOf() *AsOf {
	if !p.startsAsOf() {
		return nil
	}
	a := &AsOf{Pos: p.tok().start}
	if p.accept("AT") {
		p.expect("(")
		version := p.advance().word == "VERSION"
		p.expect("=>")
		if version {
			a.Version = p.version()
		} else {
			a.Timestamp = p.value()
		}
		p.expect(")")
		return a
	}
	if p.acceptAll("AS", "OF") {
		switch {
		case p.is("VERSION") && (p.peek(1).kind == tokNumber || p.peek(1).kind == tokString || p.isAt(1, "?", ":")):
			p.advance()
			a.Version = p.version()
		case p.is("TIMESTAMP") && p.peek(1).kind == tokWord:
			p.advance()
			a.Timestamp = p.value()
		default:
			a.Either = p.value()
		}
		return a
	}
	p.accept("FOR")
	version := p.is("VERSION", "SYSTEM_VERSION")
	p.advance()
	if p.is("BETWEEN", "FROM", "ALL") {
		p.refuse(p.tok().start, "a range of versions is not supported here: use table_changes('table', start, end)")
	}
	p.expect("AS", "OF")
	if version {
		a.Version = p.version()
	} else {
		a.Timestamp = p.value()
	}
	return a
}

// version reads what names a version: an integer, text, a parameter or a variable, as in Spark.
func (p *parser) version() Expr {
	switch k := p.tok().kind; {
	case k == tokNumber, k == tokString, k == tokVariable, p.is("?", ":"):
		return p.primary()
	}
	p.fail("a version number")
	return nil
}
