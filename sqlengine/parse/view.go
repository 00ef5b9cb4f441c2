package parse

// createView reads CREATE VIEW; nil, with nothing taken, if the statement creates something else.
func (p *parser) createView() Statement {
	n := 1
	v := &CreateView{Pos: p.tok().start}
	if p.isAt(n, "OR") && p.isAt(n+1, "REPLACE") {
		v.OrReplace = true
		n += 2
	}
	n = p.viewAttributes(n)
	if p.isAt(n, "GLOBAL") {
		v.Global = true
		n++
	}
	if p.isAt(n, "TEMP", "TEMPORARY") {
		v.Temporary = true
		n++
	}
	if !p.isAt(n, "VIEW") || v.Global && !v.Temporary {
		return nil
	}
	p.skip(n + 1)
	v.IfNotExists = p.acceptAll("IF", "NOT", "EXISTS")
	v.Name = p.tableName()
	if p.is("(") {
		v.Columns = p.viewColumns()
	}
	for {
		switch {
		case p.is("COMMENT"):
			p.advance()
			v.Comment = p.stringText()
			continue
		case p.is("TBLPROPERTIES"):
			p.advance()
			v.Properties = append(v.Properties, p.properties()...)
			continue
		case p.is("WITH") && p.isAt(1, "SCHEMA"):
			p.skip(2)
			p.accept("TYPE")
			if !p.accept("BINDING", "COMPENSATION", "EVOLUTION") {
				p.fail("BINDING", "COMPENSATION", "EVOLUTION")
			}
			continue
		case p.is("USING"):
			return p.unsupported("CREATE TEMPORARY VIEW USING")
		}
		break
	}
	p.expect("AS")
	start := p.tok().start
	v.Query = p.query()
	v.Text = p.lex.sql[start.Offset:p.previous.end]
	if p.is("WITH") {
		p.refuse(p.tok().start, "WITH CHECK OPTION is not supported: views are read-only")
	}
	return v
}

// viewAttributes skips MySQL's ALGORITHM, DEFINER and SQL SECURITY from token n on, and returns where VIEW should be.
func (p *parser) viewAttributes(n int) int {
	for {
		switch {
		case p.isAt(n, "ALGORITHM") && p.isAt(n+1, "="):
			n += 3
		case p.isAt(n, "DEFINER") && p.isAt(n+1, "="):
			n += 3
			if p.isAt(n, "(") {
				n += 2 // CURRENT_USER()
			}
			if p.peek(n).kind == tokVariable {
				n++ // root@localhost
			}
		case p.isAt(n, "SQL") && p.isAt(n+1, "SECURITY"):
			n += 3
		default:
			return n
		}
	}
}

func (p *parser) viewColumns() []ViewColumn {
	p.expect("(")
	var columns []ViewColumn
	for {
		c := ViewColumn{Name: p.ident()}
		if p.accept("COMMENT") {
			c.Comment = p.stringText()
		}
		columns = append(columns, c)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return columns
}

func (p *parser) dropView() Statement {
	d := &DropView{Pos: p.advance().start}
	p.advance()
	d.IfExists = p.acceptAll("IF", "EXISTS")
	d.Name = p.tableName()
	if p.is(",") {
		p.refuse(p.tok().start, "DROP VIEW takes one view at a time")
	}
	p.accept("CASCADE", "RESTRICT")
	return d
}

// alterView reads ALTER VIEW v [(columns)] AS query, RENAME TO, SET and UNSET TBLPROPERTIES. VIEW stands n places on.
func (p *parser) alterView(n int) Statement {
	a := &AlterView{Pos: p.tok().start}
	p.skip(n + 1)
	a.Name = p.tableName()
	at := p.tok().start
	switch {
	case p.is("RENAME"):
		p.advance()
		p.expect("TO")
		a.Action = &RenameTable{Pos: at, To: p.tableName()}
	case p.is("SET"):
		p.advance()
		p.expect("TBLPROPERTIES")
		a.Action = &SetProperties{Pos: at, Properties: p.properties()}
	case p.is("UNSET"):
		p.advance()
		p.expect("TBLPROPERTIES")
		a.Action = &UnsetProperties{Pos: at, IfExists: p.ifExists(), Keys: p.propertyKeys()}
	case p.is("WITH"):
		p.refuse(at, "ALTER VIEW ... WITH SCHEMA is not supported: use CREATE OR REPLACE VIEW")
	default:
		if p.is("(") {
			a.Columns = p.viewColumns()
		}
		if !p.accept("AS") {
			p.fail("AS", "RENAME TO", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES")
		}
		start := p.tok().start
		a.Query = p.query()
		a.Text = p.textFrom(start)
	}
	return a
}
