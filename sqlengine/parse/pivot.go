package parse

func (p *parser) sample() *Sample {
	if !p.is("TABLESAMPLE") {
		return nil
	}
	at := p.advance().start
	s := &Sample{}
	method := p.accept("BERNOULLI", "SYSTEM")
	p.expect("(")
	if p.is("BUCKET") {
		p.refuse(at, "TABLESAMPLE (BUCKET ...) is not supported: give a PERCENT or a number of ROWS")
	}
	amount := p.value()
	switch {
	case p.accept("PERCENT", "%"):
		s.Percent = amount
	case p.accept("ROWS"):
		s.Rows = amount
	case method:
		s.Percent = amount
	default:
		p.fail("PERCENT", "ROWS")
	}
	p.expect(")")
	if p.accept("REPEATABLE") {
		p.expect("(")
		s.Seed = p.value()
		p.expect(")")
	}
	return s
}

func (p *parser) pivot(input From) From {
	v := &Pivot{Pos: p.tok().start, Input: input}
	p.expect("PIVOT")
	p.expect("(")
	for {
		v.Aggregates = append(v.Aggregates, p.selectItem())
		if !p.accept(",") {
			break
		}
	}
	p.expect("FOR")
	if p.accept("(") {
		v.Columns = p.rowItems()
	} else {
		v.Columns = []Expr{p.value()}
	}
	p.expect("IN")
	p.expect("(")
	for {
		value := PivotValue{Expr: p.expr()}
		if p.accept("AS") || p.isName(0) {
			alias := p.ident()
			value.Alias = &alias
		}
		v.Values = append(v.Values, value)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.expect(")")
	v.Alias = p.alias()
	return v
}

func (p *parser) unpivot(input From) From {
	u := &Unpivot{Pos: p.tok().start, Input: input}
	p.expect("UNPIVOT")
	if p.is("INCLUDE", "EXCLUDE") {
		u.IncludeNulls = p.advance().word == "INCLUDE"
		p.expect("NULLS")
	}
	p.expect("(")
	if p.is("(") {
		u.Values = p.identList()
	} else {
		u.Values = []Ident{p.ident()}
	}
	p.expect("FOR")
	u.Name = p.ident()
	p.expect("IN")
	p.expect("(")
	for {
		column := UnpivotColumn{}
		if p.accept("(") {
			for {
				column.Columns = append(column.Columns, p.name())
				if !p.accept(",") {
					break
				}
			}
			p.expect(")")
		} else {
			column.Columns = []Name{p.name()}
		}
		if p.accept("AS") || p.isName(0) {
			alias := p.ident()
			column.Alias = &alias
		}
		u.Columns = append(u.Columns, column)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.expect(")")
	u.Alias = p.alias()
	return u
}

func (p *parser) jsonTable() From {
	t := &JSONTable{Pos: p.advance().start}
	p.expect("(")
	t.Doc = p.expr()
	p.expect(",")
	t.Path = p.value()
	t.Columns = p.jsonColumns()
	p.expect(")")
	t.Alias = p.alias()
	return t
}

func (p *parser) jsonColumns() []JSONColumn {
	p.enter()
	defer p.leave()
	p.expect("COLUMNS")
	p.expect("(")
	var columns []JSONColumn
	for {
		columns = append(columns, p.jsonColumn())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return columns
}

func (p *parser) jsonColumn() JSONColumn {
	var c JSONColumn
	if p.is("NESTED") && (p.isAt(1, "PATH") || p.peek(1).kind == tokString) {
		p.advance()
		p.accept("PATH")
		c.Path = p.value()
		c.Nested = p.jsonColumns()
		return c
	}
	c.Name = p.ident()
	if p.acceptAll("FOR", "ORDINALITY") {
		c.Ordinality = true
		return c
	}
	c.Type = p.typeName()
	c.Exists = p.accept("EXISTS")
	p.expect("PATH")
	c.Path = p.value()
	for p.is("NULL", "DEFAULT", "ERROR") {
		at := p.tok().start
		var value Expr
		switch p.advance().word {
		case "DEFAULT":
			value = p.value()
		case "ERROR":
			p.refuse(at, "ERROR ON EMPTY and ERROR ON ERROR of JSON_TABLE are not supported")
		}
		p.expect("ON")
		switch {
		case p.accept("EMPTY"):
			c.OnEmpty = value
		case p.accept("ERROR"):
			c.OnError = value
		default:
			p.fail("EMPTY", "ERROR")
		}
	}
	return c
}
