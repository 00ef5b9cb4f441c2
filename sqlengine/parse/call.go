package parse

import (
	"strconv"
	"strings"
)

// call makes a plain call of a function for a form that has its own syntax.
func (p *parser) call(start Pos, name string, args ...Expr) *Call {
	c := &Call{Name: Name{{Name: name, Pos: start}}}
	for _, a := range args {
		c.Args = append(c.Args, Arg{Expr: a})
	}
	c.span = p.spanFrom(start)
	return c
}

// callOf reads the arguments of a call and what may follow them. The present token is its "(".
func (p *parser) callOf(start Pos, name Name) Expr {
	p.enter()
	defer p.leave()
	if len(name) == 1 && !name[0].Quoted {
		if e := p.specialCall(start, strings.ToUpper(name[0].Name)); e != nil {
			return e
		}
	}
	c := &Call{Name: name}
	p.expect("(")
	p.callArgs(c)
	p.callSuffix(c)
	c.span = p.spanFrom(start)
	return c
}

// plainArgs reads arguments up to the ")".
func (p *parser) plainArgs() []Arg {
	var args []Arg
	if p.accept(")") {
		return args
	}
	for {
		args = append(args, p.arg())
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return args
}

// arg reads an argument: a star, name => value, or an expression.
func (p *parser) arg() Arg {
	if k := p.tok().kind; (k == tokWord || k == tokQuoted) && p.isAt(1, "=>") {
		name := p.take()
		p.advance()
		return Arg{Name: &name, Expr: p.expr()}
	}
	if star := p.star(); star != nil {
		return Arg{Expr: star}
	}
	return Arg{Expr: p.expr()}
}

// callArgs reads everything between the parentheses of a call, and the ")".
func (p *parser) callArgs(c *Call) {
	if p.is("DISTINCT") {
		p.advance()
		c.Distinct = true
	} else if p.is("ALL") && !p.isAt(1, ")", ",", ".") {
		p.advance()
	}
	if p.accept(")") {
		return
	}
	unit := unitFirst[strings.ToUpper(c.Name[len(c.Name)-1].Name)]
	if unit && p.unitAhead() {
		t := p.advance()
		c.Args = append(c.Args, Arg{Expr: &Literal{span: p.spanFrom(t.start), Kind: StringLiteral, Text: unitName(p.text(t))}})
		p.expect(",")
	}
	var names []*Ident // of struct's members, where one is given
	for {
		c.Args = append(c.Args, p.arg())
		if p.is("AS") && len(c.Name) == 1 && strings.EqualFold(c.Name[0].Name, "struct") {
			p.advance()
			names = append(names, make([]*Ident, len(c.Args)-len(names))...)
			name := p.ident()
			names[len(c.Args)-1] = &name
		}
		if !p.accept(",") {
			break
		}
	}
	if names != nil {
		p.nameMembers(c, names)
	}
	p.acceptNulls(c)
	if p.is("ORDER") {
		p.advance()
		p.expect("BY")
		c.OrderBy = p.orderItems()
	}
	if p.accept("SEPARATOR") {
		c.Separator = p.primary()
	}
	p.acceptNulls(c)
	if p.is("LIMIT") {
		p.refuse(p.tok().start, "LIMIT inside a call is not supported")
	}
	if p.is("USING") { // CHAR(65 USING utf8mb4)
		c.Args = append(c.Args, p.usingArg())
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
}

// nameMembers makes Spark's struct(a AS x, b) the call named_struct('x', a, 'b', b). A member without a name has its column's, or
// its place's.
func (p *parser) nameMembers(c *Call, names []*Ident) {
	var args []Arg
	for i, a := range c.Args {
		name := "col" + strconv.Itoa(i+1)
		switch x := a.Expr.(type) {
		case *Star:
			p.refuse(x.At(), "* beside members with names is not supported in struct: list the columns")
		case *Column:
			name = x.Name[len(x.Name)-1].Name
		case *Field:
			name = x.Name.Name
		}
		if i < len(names) && names[i] != nil {
			name = names[i].Name
		}
		at := a.Expr.At()
		args = append(args, Arg{Expr: &Literal{span: span{Start: at, Stop: at.Offset}, Kind: StringLiteral, Text: name}}, a)
	}
	c.Name = Name{{Name: "named_struct", Pos: c.Name[0].Pos}}
	c.Args = args
}

// usingArg reads USING charset as an argument named using.
func (p *parser) usingArg() Arg {
	name := p.take()
	t := p.tok()
	charset := p.part()
	return Arg{Name: &name, Expr: &Literal{span: p.spanFrom(t.start), Kind: StringLiteral, Text: charset.Name}}
}

// acceptNulls reads IGNORE NULLS or RESPECT NULLS.
func (p *parser) acceptNulls(c *Call) {
	if p.is("IGNORE", "RESPECT") && p.isAt(1, "NULLS") {
		ignore := p.advance().word == "IGNORE"
		p.advance()
		c.IgnoreNulls = &ignore
	}
}

// callSuffix reads WITHIN GROUP, FILTER, IGNORE NULLS and OVER.
func (p *parser) callSuffix(c *Call) {
	if p.is("WITHIN") && p.isAt(1, "GROUP") {
		p.skip(2)
		p.expect("(", "ORDER", "BY")
		c.WithinGroup = p.orderItems()
		p.expect(")")
	}
	if p.is("FILTER") && p.isAt(1, "(") {
		p.skip(2)
		p.expect("WHERE")
		c.Filter = p.expr()
		p.expect(")")
	}
	if p.is("FROM") && p.isAt(1, "FIRST", "LAST") && p.isAt(2, "OVER", "IGNORE", "RESPECT") {
		at := p.advance().start
		if p.advance().word == "LAST" {
			p.refuse(at, "FROM LAST is not supported: reverse the window's ORDER BY")
		}
	}
	p.acceptNulls(c)
	if p.is("OVER") && (p.isAt(1, "(") || p.isName(1)) {
		p.advance()
		c.Over = p.windowSpec()
	}
}

// specialCall reads the calls with a syntax of their own; nil if name has none or the plain form follows.
func (p *parser) specialCall(start Pos, name string) Expr {
	switch name {
	case "EXTRACT":
		if (p.peek(1).kind == tokWord || p.peek(1).kind == tokString) && p.isAt(2, "FROM") {
			return p.extract(start)
		}
	case "TRIM":
		return p.trim(start)
	case "SUBSTRING", "SUBSTR", "MID", "OVERLAY", "POSITION":
		return p.keywordArgs(start, strings.ToLower(name))
	case "CONVERT":
		return p.convert(start)
	case "GET_FORMAT":
		if p.isAt(1, "DATE", "TIME", "DATETIME", "TIMESTAMP") && p.isAt(2, ",") {
			p.advance()
			kind := p.advance()
			p.advance()
			what := &Literal{span: p.spanFrom(kind.start), Kind: StringLiteral, Text: kind.word}
			c := &Call{Name: Name{{Name: "get_format", Pos: start}}, Args: append([]Arg{{Expr: what}}, p.plainArgs()...)}
			c.span = p.spanFrom(start)
			return c
		}
	case "JSON_VALUE":
		return p.jsonValue(start)
	}
	return nil
}

func (p *parser) extract(start Pos) Expr {
	p.expect("(")
	t := p.advance()
	unit := p.text(t)
	if t.kind == tokString {
		unit = stringValue(unit, t.kind, p.opts)
	}
	field := &Literal{span: p.spanFrom(t.start), Kind: StringLiteral, Text: unitName(unit)}
	p.expect("FROM")
	e := p.expr()
	p.expect(")")
	return p.call(start, "extract", field, e)
}

// trim reads TRIM(x), TRIM(BOTH a FROM x), TRIM(LEADING FROM x), TRIM(a FROM x), and Spark's trim(x, a).
func (p *parser) trim(start Pos) Expr {
	p.expect("(")
	side := ""
	if p.is("BOTH", "LEADING", "TRAILING") && !p.isAt(1, ")", ",", ".") {
		side = p.advance().word
	}
	var what Expr
	if !p.is("FROM") {
		what = p.expr()
		if side == "" && !p.is("FROM") {
			c := &Call{Name: Name{{Name: "trim", Pos: start}}, Args: []Arg{{Expr: what}}}
			for p.accept(",") {
				c.Args = append(c.Args, p.arg())
			}
			p.expect(")")
			c.span = p.spanFrom(start)
			return c
		}
	}
	if side == "" {
		side = "BOTH"
	}
	at := span{Start: start, Stop: start.Offset}
	if what != nil && p.is(")") { // TRIM(BOTH x)
		p.advance()
		return p.call(start, "trim", &Literal{span: at, Kind: StringLiteral, Text: side}, &Literal{span: at, Kind: StringLiteral, Text: " "}, what)
	}
	p.expect("FROM")
	e := p.expr()
	p.expect(")")
	if what == nil {
		what = &Literal{span: at, Kind: StringLiteral, Text: " "}
	}
	return p.call(start, "trim", &Literal{span: at, Kind: StringLiteral, Text: side}, what, e)
}

// keywordArgs reads calls whose arguments may be parted by words: SUBSTRING(a FROM b FOR c), POSITION(a IN b),
// OVERLAY(a PLACING b FROM c FOR d).
func (p *parser) keywordArgs(start Pos, name string) Expr {
	c := &Call{Name: Name{{Name: name, Pos: start}}}
	p.expect("(")
	if !p.is(")") {
		for {
			c.Args = append(c.Args, p.keywordArg(name))
			if p.accept(",") {
				continue
			}
			if name == "position" && p.accept("IN") || name == "overlay" && p.accept("PLACING") || name != "position" && p.accept("FROM", "FOR") {
				continue
			}
			break
		}
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	c.span = p.spanFrom(start)
	return c
}

func (p *parser) keywordArg(name string) Arg {
	if p.isAt(1, "=>") {
		return p.arg()
	}
	if name == "position" {
		return Arg{Expr: p.value()} // IN parts the arguments
	}
	return Arg{Expr: p.expr()}
}

// convert reads CONVERT(e, type) and CONVERT(e USING charset).
func (p *parser) convert(start Pos) Expr {
	p.expect("(")
	e := p.expr()
	if p.is("USING") {
		c := &Call{Name: Name{{Name: "convert", Pos: start}}, Args: []Arg{{Expr: e}, p.usingArg()}}
		p.expect(")")
		c.span = p.spanFrom(start)
		return c
	}
	if !p.accept(",") {
		p.fail("','", "USING")
	}
	c := &Cast{Operand: e, Type: p.typeName()}
	p.expect(")")
	c.span = p.spanFrom(start)
	return c
}

// jsonValue reads JSON_VALUE(doc, path [RETURNING type] [NULL ON EMPTY] [NULL ON ERROR]).
func (p *parser) jsonValue(start Pos) Expr {
	p.expect("(")
	c := &Call{Name: Name{{Name: "json_value", Pos: start}}}
	for {
		c.Args = append(c.Args, p.arg())
		if !p.accept(",") {
			break
		}
	}
	var returning *TypeName
	if p.accept("RETURNING") {
		t := p.typeName()
		returning = &t
	}
	for p.is("NULL", "ERROR", "DEFAULT") {
		if !p.is("NULL") {
			p.refuse(p.tok().start, "%s ON EMPTY and ON ERROR of JSON_VALUE are not supported", p.tok().word)
		}
		p.advance()
		p.expect("ON")
		if !p.accept("EMPTY", "ERROR") {
			p.fail("EMPTY", "ERROR")
		}
	}
	p.expect(")")
	c.span = p.spanFrom(start)
	if returning != nil {
		return &Cast{span: c.span, Operand: c, Type: *returning}
	}
	return c
}
