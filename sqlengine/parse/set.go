package parse

import "strings"

// set reads every form of SET.
func (p *parser) set() Statement {
	at := p.tok().start
	switch next := p.peek(1); {
	case next.word == "CATALOG" && p.isName(2) && !p.isAt(2, "=", ":="):
		p.skip(2)
		return &Use{Catalog: true, Name: p.name()}
	case next.word == "VAR" || next.word == "VARIABLE":
		return p.unsupported("SET VARIABLE")
	case next.word == "PASSWORD" || next.word == "ROLE" || next.word == "RESOURCE" || next.word == "DEFAULT" && p.isAt(2, "ROLE"):
		return p.unsupported("SET " + next.word)
	}
	p.advance()
	s := &Set{Pos: at}
	if p.tok().kind == tokEOF || p.is(";") {
		return s
	}
	if p.is("-") && p.peek(1).kind == tokWord && strings.EqualFold(p.text(p.peek(1)), "v") {
		p.skip(2)
		return s
	}
	if p.dottedSetting() {
		s.Assigns = []SetAssign{p.sparkSetting()}
		return s
	}
	for {
		s.Assigns = append(s.Assigns, p.assignment()...)
		if !p.accept(",") {
			return s
		}
	}
}

// dottedSetting tells whether a name with dots follows: Spark's SET a.b.c = text.
func (p *parser) dottedSetting() bool {
	return p.tok().kind == tokWord && p.isAt(1, ".") || p.tok().kind == tokQuoted && !p.isAt(1, ",")
}

// settingName reads a setting's name: words joined by dots, dashes or colons.
func (p *parser) settingName() string {
	if p.tok().kind == tokVariable {
		return p.variable().Name
	}
	name := p.part().Name
	for p.is(".", "-", ":") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted) {
		name += p.advance().word + p.part().Name
	}
	return name
}

// sparkSetting reads a.b.c = text, where the text goes on to the statement's end; one quoted string is its content.
func (p *parser) sparkSetting() SetAssign {
	assign := SetAssign{Name: p.settingName()}
	if !p.accept("=", "==") {
		return assign
	}
	t := p.tok()
	start, end := t.start, t.start.Offset
	if next := p.peek(1); t.kind == tokQuoted && (next.kind == tokEOF || next.word == ";") {
		assign.Value = &Literal{span: span{Start: start, Stop: t.end}, Kind: StringLiteral, Text: p.take().Name}
		return assign
	}
	if p.isString() {
		text := p.stringText()
		if p.tok().kind == tokEOF || p.is(";") {
			assign.Value = &Literal{span: p.spanFrom(start), Kind: StringLiteral, Text: text}
			return assign
		}
	}
	for p.tok().kind != tokEOF && !p.is(";") {
		end = p.advance().end
	}
	assign.Value = &Literal{span: span{Start: start, Stop: end}, Kind: StringLiteral, Text: p.lex.sql[start.Offset:end]}
	return assign
}

func (p *parser) textValue(text string) Expr {
	return &Literal{span: span{Start: p.previous.start, Stop: p.previous.end}, Kind: StringLiteral, Text: text}
}

// assignment reads one assignment of the list; a few forms make two.
func (p *parser) assignment() []SetAssign {
	switch {
	case p.is("TIME") && p.isAt(1, "ZONE"):
		p.skip(2)
		return []SetAssign{{Name: "time_zone", Value: p.zone()}}
	case p.is("NAMES"):
		p.advance()
		assigns := []SetAssign{{Name: "names", Value: p.wordOrString()}}
		if p.accept("COLLATE") {
			assigns = append(assigns, SetAssign{Name: "collation_connection", Value: p.wordOrString()})
		}
		return assigns
	case p.is("CHARACTER") && p.isAt(1, "SET"), p.is("CHARSET"):
		if p.advance().word == "CHARACTER" {
			p.advance()
		}
		return []SetAssign{{Name: "character_set", Value: p.wordOrString()}}
	case p.is("COLLATION") && !p.isAt(1, "=", ":="):
		p.advance()
		return []SetAssign{{Name: "collation", Value: p.wordOrString()}}
	case p.tok().kind == tokVariable:
		v := p.variable()
		if !p.accept("=", ":=") {
			p.fail("'='", "':='")
		}
		if v.Scope == "user" {
			return []SetAssign{{Scope: "user", Name: v.Name, Value: p.expr()}}
		}
		return []SetAssign{{Scope: v.Scope, Name: v.Name, Value: p.setting()}}
	}
	scope := ""
	if p.is("SESSION", "GLOBAL", "LOCAL", "PERSIST", "PERSIST_ONLY") && p.peek(1).kind == tokWord {
		switch word := p.advance().word; word {
		case "SESSION", "LOCAL":
			scope = strings.ToLower(word)
		default:
			scope = "global"
		}
	}
	if p.is("TRANSACTION") && !p.isAt(1, "=", ":=") {
		p.advance()
		return p.transaction(scope)
	}
	assign := SetAssign{Scope: scope, Name: p.settingName()}
	switch {
	case p.accept("=", ":="):
		assign.Value = p.setting()
	case scope == "" && p.opts.Dialect == Spark && (p.tok().kind == tokEOF || p.is(";")):
	default:
		p.fail("'='")
	}
	return []SetAssign{assign}
}

// setting reads a system variable's value; a bare word is text.
func (p *parser) setting() Expr {
	t, next := p.tok(), p.peek(1)
	if t.kind == tokWord && !p.is("TRUE", "FALSE", "NULL") && (next.kind == tokEOF || next.word == "," || next.word == ";") {
		p.advance()
		return p.textValue(p.text(t))
	}
	return p.expr()
}

func (p *parser) wordOrString() Expr {
	t := p.tok()
	if p.isString() {
		text := p.stringText()
		return &Literal{span: p.spanFrom(t.start), Kind: StringLiteral, Text: text}
	}
	if t.kind != tokWord && t.kind != tokQuoted {
		p.fail("a name", "a string")
	}
	return p.textValue(p.take().Name)
}

// zone reads the value of SET TIME ZONE.
func (p *parser) zone() Expr {
	p.accept("=")
	if p.is("INTERVAL") {
		return p.expr()
	}
	return p.wordOrString()
}

// transaction reads the characteristics of SET TRANSACTION.
func (p *parser) transaction(scope string) []SetAssign {
	var assigns []SetAssign
	for {
		switch {
		case p.acceptAll("ISOLATION", "LEVEL"):
			level := ""
			switch {
			case p.acceptAll("READ", "COMMITTED"):
				level = "READ-COMMITTED"
			case p.acceptAll("READ", "UNCOMMITTED"):
				level = "READ-UNCOMMITTED"
			case p.acceptAll("REPEATABLE", "READ"):
				level = "REPEATABLE-READ"
			case p.accept("SERIALIZABLE"):
				level = "SERIALIZABLE"
			default:
				p.fail("READ COMMITTED", "READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE")
			}
			assigns = append(assigns, SetAssign{Scope: scope, Name: "transaction_isolation", Value: p.textValue(level)})
		case p.is("READ"):
			p.advance()
			value := "ON"
			if !p.accept("ONLY") {
				p.expect("WRITE")
				value = "OFF"
			}
			assigns = append(assigns, SetAssign{Scope: scope, Name: "transaction_read_only", Value: p.textValue(value)})
		default:
			p.fail("ISOLATION LEVEL", "READ ONLY", "READ WRITE")
		}
		if !p.accept(",") {
			return assigns
		}
	}
}
