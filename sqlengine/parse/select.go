package parse

// fromFirst reads Spark's FROM t SELECT ...
func (p *parser) fromFirst() Body {
	at := p.tok().start
	p.expect("FROM")
	from := p.fromList()
	views := p.lateralViews()
	if p.is("|>") {
		p.refuse(p.tok().start, "the pipe syntax |> is not supported: write the query with its clauses in their usual order")
	}
	if !p.is("SELECT") {
		p.fail("SELECT")
	}
	s := &Select{Pos: at, From: from, LateralViews: views}
	p.selectItems(s)
	p.selectClauses(s)
	return s
}

func (p *parser) selectBlock() *Select {
	s := &Select{Pos: p.tok().start}
	p.selectItems(s)
	if p.is("INTO") {
		p.intoClause()
	}
	if p.accept("FROM") {
		if p.is("DUAL") && p.opts.Dialect == MySQL && !p.isAt(1, ".", ",", "JOIN") {
			p.advance()
		} else {
			s.From = p.fromList()
		}
	}
	s.LateralViews = p.lateralViews()
	if len(s.LateralViews) > 0 && p.is("PIVOT", "UNPIVOT") {
		p.refuse(p.tok().start, "%s behind LATERAL VIEW is not supported: put the LATERAL VIEW into a subquery", p.tok().word)
	}
	p.selectClauses(s)
	return s
}

// selectOptions are read and ignored.
var selectOptions = []string{
	"ALL", "HIGH_PRIORITY", "STRAIGHT_JOIN", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT",
	"SQL_CACHE", "SQL_NO_CACHE", "SQL_CALC_FOUND_ROWS",
}

func (p *parser) selectItems(s *Select) {
	p.expect("SELECT")
	for {
		if p.is(selectOptions...) && !p.isAt(1, ",", "FROM", ".", ")") {
			p.advance()
			continue
		}
		if p.is("DISTINCT") || p.is("DISTINCTROW") && !p.isAt(1, ",", "FROM", ".") {
			p.advance()
			s.Distinct = true
			if p.is("ON") && p.isAt(1, "(") {
				p.advance()
				p.advance()
				s.DistinctOn = p.rowItems()
			}
			continue
		}
		break
	}
	if p.is("TRANSFORM") && p.isAt(1, "(") && p.isTransformClause() {
		p.refuse(p.tok().start, "SELECT TRANSFORM (...) USING is not supported")
	}
	for {
		s.Items = append(s.Items, p.selectItem())
		if !p.accept(",") {
			return
		}
	}
}

// isTransformClause tells SELECT TRANSFORM (a, b) USING 'script' from a call of transform(array, lambda).
func (p *parser) isTransformClause() bool {
	depth := 0
	for n := 1; n < 1000; n++ {
		switch {
		case p.peek(n).kind == tokEOF:
			return false
		case p.isAt(n, "("):
			depth++
		case p.isAt(n, ")"):
			if depth--; depth == 0 {
				return p.isAt(n+1, "USING")
			}
		}
	}
	return false
}

func (p *parser) selectItem() SelectItem {
	start := p.tok().start
	item := SelectItem{Expr: p.star()}
	if item.Expr == nil {
		item.Expr = p.expr()
	}
	item.Text = p.lex.sql[start.Offset:p.previous.end]
	if p.accept("AS") {
		switch {
		case p.is("("):
			item.Columns = p.identList()
		case p.isString():
			alias := Ident{Pos: p.tok().start, Quoted: true}
			alias.Name = p.stringText()
			item.Alias = &alias
		default:
			alias := p.ident()
			item.Alias = &alias
		}
		return item
	}
	if p.isString() {
		alias := Ident{Pos: p.tok().start, Quoted: true}
		alias.Name = p.stringText()
		item.Alias = &alias
	} else if k := p.tok().kind; k == tokQuoted || k == tokWord && p.isName(0) && notItems[p.tok().word] == "" {
		alias := p.take()
		item.Alias = &alias
	}
	return item
}

// star reads *, t.* with EXCEPT and REPLACE; nil if none is here.
func (p *parser) star() Expr {
	n := 0
	for p.peek(n).kind == tokWord || p.peek(n).kind == tokQuoted {
		if n == 0 && !p.isName(0) || !p.isAt(n+1, ".") {
			return nil
		}
		if n += 2; n > 2*maxName {
			return nil
		}
	}
	if !p.isAt(n, "*") {
		return nil
	}
	s := &Star{}
	start := p.tok().start
	for !p.is("*") {
		s.Qualifier = append(s.Qualifier, p.take())
		p.expect(".")
	}
	p.advance()
	if p.is("EXCEPT", "EXCLUDE") && p.isAt(1, "(") && !p.isAt(2, "SELECT", "WITH", "(", "VALUES", "TABLE", "FROM") {
		p.advance()
		p.advance()
		for {
			s.Except = append(s.Except, p.name())
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	if p.is("REPLACE") && p.isAt(1, "(") {
		p.advance()
		p.advance()
		for {
			item := p.selectItem()
			if item.Alias == nil {
				p.fail("AS")
			}
			s.Replace = append(s.Replace, item)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	s.span = p.spanFrom(start)
	return s
}

func (p *parser) lateralViews() []LateralView {
	var views []LateralView
	for p.is("LATERAL") && p.isAt(1, "VIEW") {
		view := LateralView{Pos: p.advance().start}
		p.advance()
		view.Outer = p.is("OUTER") && !p.isAt(1, "(")
		if view.Outer {
			p.advance()
		}
		view.Name = p.name()
		p.expect("(")
		view.Args = p.plainArgs()
		if p.isName(0) && (notTables[p.tok().word] == "" || p.tok().kind == tokQuoted) && !p.is("AS") {
			table := p.take()
			view.Table = &table
		}
		if p.accept("AS") {
			for {
				view.Columns = append(view.Columns, p.ident())
				if !p.accept(",") {
					break
				}
			}
		}
		views = append(views, view)
	}
	return views
}

func (p *parser) selectClauses(s *Select) {
	if p.accept("WHERE") {
		s.Where = p.expr()
	}
	if p.is("GROUP") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("HAVING") {
		s.Having = p.expr()
	}
	for {
		switch {
		case p.is("QUALIFY") && s.Qualify == nil:
			p.advance()
			s.Qualify = p.expr()
		case p.is("WINDOW") && s.Windows == nil:
			p.advance()
			for {
				w := NamedWindow{Name: p.ident()}
				p.expect("AS")
				w.Spec = *p.windowSpec()
				s.Windows = append(s.Windows, w)
				if !p.accept(",") {
					break
				}
			}
		default:
			return
		}
	}
}
