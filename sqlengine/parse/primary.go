package parse

import (
	"strings"
)

// primary reads an operand without its postfix operators.
func (p *parser) primary() Expr {
	if e := p.pending; e != nil {
		p.pending = nil
		return e
	}
	t := p.tok()
	switch t.kind {
	case tokNumber:
		p.advance()
		kind, text, suffix := numberValue(p.text(t))
		return &Literal{span: p.spanFrom(t.start), Kind: kind, Text: text, Suffix: suffix}
	case tokString, tokRaw:
		text := p.stringText()
		return &Literal{span: p.spanFrom(t.start), Kind: StringLiteral, Text: text}
	case tokBinary, tokBit:
		return p.bytesLiteral()
	case tokVariable:
		return p.variableOrAssign()
	case tokQuoted:
		return p.column()
	case tokOp:
		return p.symbol()
	case tokWord:
		return p.wordPrimary()
	}
	p.fail("an expression")
	return nil
}

func (p *parser) bytesLiteral() Expr {
	t := p.advance()
	literal := &Literal{span: p.spanFrom(t.start), Kind: BinaryLiteral}
	ok := false
	if t.kind == tokBinary {
		literal.Text, ok = binaryValue(p.text(t))
	} else {
		literal.Kind = BitLiteral
		literal.Text, ok = bitValue(p.text(t))
	}
	if !ok {
		p.bail(syntaxError(t.start, "%s is no binary literal", p.describe(t)).WithHint("x'..' holds hexadecimal digits, b'..' holds 0 and 1"))
	}
	return literal
}

// spacedBinary reads X '1F', the form that CHECK constraints written by Spark hold.
func (p *parser) spacedBinary() Expr {
	start := p.advance().start
	t := p.advance()
	literal := &Literal{span: p.spanFrom(start), Kind: BinaryLiteral}
	ok := false
	if literal.Text, ok = binaryValue("x" + p.text(t)); !ok {
		p.bail(syntaxError(start, "X %s is no binary literal", p.text(t)).WithHint("X '..' holds hexadecimal digits"))
	}
	return literal
}

// symbol reads an operand that begins with punctuation.
func (p *parser) symbol() Expr {
	start := p.tok().start
	switch {
	case p.is("("):
		p.enter()
		defer p.leave()
		p.advance()
		q, first := p.queryOrExpr()
		if q != nil {
			p.expect(")")
			return &Subquery{span: p.spanFrom(start), Query: q}
		}
		return p.rowOrItem(p.moreItems(first), start)
	case p.is("?"):
		p.advance()
		p.params++
		return &Param{span: p.spanFrom(start), Index: p.params}
	case p.is(":") && p.peek(1).kind == tokWord && p.peek(1).start.Offset == start.Offset+1:
		p.advance()
		name := p.take().Name
		return &Param{span: p.spanFrom(start), Name: name}
	case p.is("{"):
		return p.escape()
	}
	p.fail("an expression")
	return nil
}

// queryOrExpr reads what stands behind a "(": a query, or an expression. Where a second "(" follows, only what comes
// behind its ")" tells; so what was read is handed on instead of being read again.
func (p *parser) queryOrExpr() (*Query, Expr) {
	if p.startsQuery() {
		return p.query(), nil
	}
	if !p.is("(") || p.lambdaAhead() {
		return nil, p.expr()
	}
	p.enter()
	defer p.leave()
	start := p.advance().start
	q, first := p.queryOrExpr()
	if q == nil {
		p.pend(p.rowOrItem(p.moreItems(first), start), start)
		return nil, p.expr()
	}
	p.expect(")")
	switch {
	case p.continuesQuery():
		return p.queryFrom(q), nil
	case p.is(")"):
		return &Query{Pos: start, Body: &NestedQuery{Query: q}}, nil
	}
	p.pend(&Subquery{span: p.spanFrom(start), Query: q}, start)
	return nil, p.expr()
}

// moreItems reads the rest of a list up to its ")".
func (p *parser) moreItems(first Expr) []Expr {
	items := []Expr{first}
	for p.accept(",") {
		items = append(items, p.expr())
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return items
}

// rowItems reads a list behind its "(", and the ")".
func (p *parser) rowItems() []Expr {
	q, first := p.queryOrExpr()
	if q != nil {
		first = &Subquery{span: span{Start: q.Pos, Stop: p.previous.end}, Query: q}
	}
	return p.moreItems(first)
}

// rowOrItem makes a row value of several items; one item is itself.
func (p *parser) rowOrItem(items []Expr, start Pos) Expr {
	if len(items) == 1 {
		return items[0]
	}
	return &Tuple{span: p.spanFrom(start), Items: items}
}

// escape reads the ODBC forms {d '..'}, {t '..'}, {ts '..'} and {fn call(..)}.
func (p *parser) escape() Expr {
	start := p.advance().start
	t := p.advance()
	var e Expr
	switch p.upper(t) {
	case "D":
		e = &Literal{Kind: DateLiteral, Text: p.stringText()}
	case "T":
		e = &Literal{Kind: TimeLiteral, Text: p.stringText()}
	case "TS":
		e = &Literal{Kind: TimestampLiteral, Text: p.stringText()}
	case "FN":
		e = p.expr()
	default:
		p.bail(syntaxError(t.start, "unexpected %s, expected d, t, ts or fn", p.describe(t)))
	}
	p.expect("}")
	if literal, ok := e.(*Literal); ok {
		literal.span = p.spanFrom(start)
	}
	return e
}

// variable reads @name, @@name, @@scope.name.
func (p *parser) variable() *Variable {
	t := p.advance()
	raw := p.text(t)
	v := &Variable{span: p.spanFrom(t.start)}
	if !strings.HasPrefix(raw, "@@") {
		v.Scope, v.Name = "user", unquoteVariable(raw[1:])
		return v
	}
	scope, name, dotted := strings.Cut(raw[2:], ".")
	v.Name = unquoteVariable(raw[2:])
	if dotted {
		switch strings.ToLower(scope) {
		case "session", "local":
			v.Scope, v.Name = "session", unquoteVariable(name)
		case "global", "persist", "persist_only":
			v.Scope, v.Name = "global", unquoteVariable(name)
		}
	}
	return v
}

func unquoteVariable(name string) string {
	if name != "" && strings.ContainsRune("'\"`", rune(name[0])) {
		return strings.Trim(name, name[:1])
	}
	return name
}

// variableOrAssign reads a variable, or @x := e.
func (p *parser) variableOrAssign() Expr {
	v := p.variable()
	if v.Scope != "user" || !p.is(":=") {
		return v
	}
	p.advance()
	value := p.expr()
	return &Assign{span: p.spanFrom(v.Start), Variable: v.Name, Value: value}
}

// column reads a dotted name; a "(" behind it makes it a call.
func (p *parser) column() Expr {
	start := p.tok().start
	name := p.name()
	if p.is("(") && !(p.beforeQuery && p.isAt(1, "SELECT", "WITH", "VALUES", "TABLE", "FROM")) {
		return p.callOf(start, name)
	}
	return &Column{span: p.spanFrom(start), Name: name}
}

// charsets are those whose text is UTF-8 or a subset of it, as introducers _utf8mb4'..'.
var charsets = map[string]bool{"_UTF8MB4": true, "_UTF8MB3": true, "_UTF8": true, "_ASCII": true, "_LATIN1": true, "_BINARY": true}

// wordPrimary reads an operand that begins with a word.
func (p *parser) wordPrimary() Expr {
	t := p.tok()
	start := t.start
	next := p.peek(1)
	switch t.word {
	case "NULL", "TRUE", "FALSE":
		p.advance()
		kind := map[string]LiteralKind{"NULL": NullLiteral, "TRUE": TrueLiteral, "FALSE": FalseLiteral}[t.word]
		return &Literal{span: p.spanFrom(start), Kind: kind, Text: ""}
	case "CASE":
		return p.caseExpr()
	case "CAST", "TRY_CAST":
		if next.word == "(" {
			return p.cast()
		}
	case "EXISTS":
		if next.word == "(" {
			return p.exists()
		}
	case "INTERVAL":
		if e := p.interval(); e != nil {
			return e
		}
	case "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ":
		if next.kind == tokString {
			p.advance()
			kind := map[string]LiteralKind{
				"DATE": DateLiteral, "TIME": TimeLiteral, "TIMESTAMP": TimestampLiteral,
				"TIMESTAMP_NTZ": TimestampNTZLiteral, "TIMESTAMP_LTZ": TimestampLTZLiteral,
			}[t.word]
			text := p.stringText()
			return &Literal{span: p.spanFrom(start), Kind: kind, Text: text}
		}
	case "ROW":
		if next.word == "(" {
			p.skip(2)
			items := p.rowItems()
			return &Tuple{span: p.spanFrom(start), Items: items}
		}
	case "MATCH":
		if next.word == "(" {
			p.refuse(start, "MATCH ... AGAINST is not supported: use LIKE or RLIKE")
		}
	case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "CURRENT_DATABASE", "CURRENT_SCHEMA", "CURRENT_CATALOG",
		"LOCALTIME", "LOCALTIMESTAMP", "SESSION_USER", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP":
		if next.word != "(" && next.word != "." {
			p.advance()
			return p.call(start, strings.ToLower(t.word))
		}
	case "LIKE", "RLIKE":
		if next.word == "(" {
			name := Name{p.take()}
			return p.callOf(start, name)
		}
	case "":
		if next.kind == tokString && p.opts.Dialect == Spark && strings.EqualFold(p.text(t), "X") {
			return p.spacedBinary()
		}
		if next.kind == tokString || next.kind == tokBinary {
			if e := p.introduced(); e != nil {
				return e
			}
		}
	}
	if softWords[t.word] != "" && next.word == "(" && t.word != "BY" && t.word != "LATERAL" && t.word != "FOR" {
		name := Name{p.take()} // left(s, 2), values(c)
		return p.callOf(start, name)
	}
	if !p.isName(0) {
		p.fail("an expression")
	}
	return p.column()
}

// introduced reads _utf8mb4'..'; nil if the word is no character set.
func (p *parser) introduced() Expr {
	t := p.tok()
	set := p.upper(t)
	if !strings.HasPrefix(set, "_") {
		return nil
	}
	if !charsets[set] {
		if p.opts.Dialect == MySQL {
			p.refuse(t.start, "character set %s is not supported: text is UTF-8", set[1:])
		}
		return nil
	}
	p.advance()
	literal := p.primary().(*Literal)
	literal.span = p.spanFrom(t.start)
	literal.Kind = StringLiteral
	if set == "_BINARY" {
		literal.Kind = BinaryLiteral
	}
	if set == "_LATIN1" || set == "_ASCII" {
		for i := range len(literal.Text) {
			if literal.Text[i] >= 0x80 {
				p.refuse(t.start, "character set %s beyond ASCII is not supported: text is UTF-8", set[1:])
			}
		}
	}
	return literal
}

func (p *parser) caseExpr() Expr {
	start := p.advance().start
	c := &Case{}
	if !p.is("WHEN") {
		c.Operand = p.expr()
	}
	for p.accept("WHEN") {
		when := When{Condition: p.expr()}
		p.expect("THEN")
		when.Result = p.expr()
		c.Whens = append(c.Whens, when)
	}
	if len(c.Whens) == 0 {
		p.fail("WHEN")
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	if !p.accept("END") {
		if c.Else != nil {
			p.fail("END")
		}
		p.fail("WHEN", "ELSE", "END")
	}
	c.span = p.spanFrom(start)
	return c
}

func (p *parser) cast() Expr {
	t := p.advance()
	p.expect("(")
	c := &Cast{Try: t.word == "TRY_CAST", Operand: p.expr()}
	p.expect("AS")
	c.Type = p.typeName()
	if p.is("ARRAY") {
		p.refuse(p.tok().start, "CAST ... AS ... ARRAY is not supported")
	}
	p.expect(")")
	c.span = p.spanFrom(t.start)
	return c
}

// exists reads EXISTS (query); Spark's exists(array, x -> ..) is a call.
func (p *parser) exists() Expr {
	t := p.peek(0)
	name := Name{p.take()}
	p.expect("(")
	q, first := p.queryOrExpr()
	if q != nil {
		p.expect(")")
		return &Exists{span: p.spanFrom(t.start), Query: q}
	}
	call := &Call{Name: name, Args: []Arg{{Expr: first}}}
	for p.accept(",") {
		call.Args = append(call.Args, Arg{Expr: p.expr()})
	}
	p.expect(")")
	call.span = p.spanFrom(t.start)
	return call
}
