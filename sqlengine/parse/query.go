package parse

// startsQuery tells whether the present token can only begin a query (a "(" may, too).
func (p *parser) startsQuery() bool {
	switch {
	case p.is("SELECT"), p.is("WITH"):
		return true
	case p.is("VALUES"):
		t := p.peek(1)
		return t.kind != tokEOF && (t.kind != tokOp || t.word == "(" && p.opts.Dialect == Spark || t.word == "-" || t.word == "?") && !p.isAt(1, "FROM")
	case p.is("TABLE"):
		return p.isName(1)
	case p.is("FROM"):
		return p.opts.Dialect == Spark && (p.isName(1) || p.isAt(1, "(", "VALUES"))
	}
	return false
}

// query reads a whole query: WITH, body, ORDER BY, LIMIT.
func (p *parser) query() *Query {
	p.enter()
	defer p.leave()
	q := &Query{Pos: p.tok().start}
	if p.is("WITH") {
		p.with(q)
	}
	q.Body = p.body()
	p.queryTail(q)
	return q
}

// queryFrom continues a query whose first operand, a parenthesised query, has been read.
func (p *parser) queryFrom(first *Query) *Query {
	q := &Query{Pos: first.Pos, Body: p.setOperations(&NestedQuery{Query: first})}
	p.queryTail(q)
	return q
}

// continuesQuery tells whether what follows a parenthesised query makes it an operand of a greater query.
func (p *parser) continuesQuery() bool {
	return p.setOperator() != "" || p.is("ORDER", "LIMIT", "SORT") || p.is("OFFSET", "FETCH") && p.peek(1).kind != tokOp
}

func (p *parser) with(q *Query) {
	p.expect("WITH")
	if p.is("RECURSIVE") && !p.isAt(1, "AS", "(") {
		p.advance()
		q.Recursive = true
	}
	for {
		cte := CTE{Name: p.ident()}
		if p.is("(") && !p.isAt(1, "SELECT", "WITH") {
			cte.Columns = p.identList()
		}
		if p.opts.Dialect == MySQL || !p.is("(") { // Spark may leave AS out
			p.expect("AS")
		}
		if !p.accept("MATERIALIZED") && p.is("NOT") {
			p.expect("NOT", "MATERIALIZED")
		}
		p.expect("(")
		cte.Query = p.query()
		p.expect(")")
		q.With = append(q.With, cte)
		if !p.accept(",") {
			return
		}
	}
}

// queryTail reads ORDER BY, LIMIT and their kin. INTO may stand between them, locks are read and ignored.
func (p *parser) queryTail(q *Query) {
	for {
		at := p.tok().start
		switch {
		case p.is("ORDER", "SORT") && q.OrderBy == nil && !q.OrderAll:
			q.SortBy = p.advance().word == "SORT"
			p.expect("BY")
			if p.is("ALL") && !p.isAt(1, "(", ".", "+", "-") {
				p.advance()
				q.OrderAll = true
				if p.is("DESC", "ASC", "NULLS") && !p.accept("ASC") {
					p.refuse(at, "ORDER BY ALL takes no direction")
				}
				continue
			}
			q.OrderBy = p.orderItems()
		case p.is("CLUSTER", "DISTRIBUTE") && p.isAt(1, "BY"):
			p.refuse(at, "%s BY has no meaning here: use ORDER BY", p.tok().word)
		case p.is("LIMIT") && q.Limit == nil:
			p.advance()
			p.limitClause(q)
		case p.is("OFFSET") && q.Offset == nil:
			p.advance()
			q.Offset = p.limitValue()
			p.accept("ROW", "ROWS")
		case p.is("FETCH") && q.Limit == nil:
			p.advance()
			if !p.accept("FIRST", "NEXT") {
				p.fail("FIRST", "NEXT")
			}
			if p.is("ROW", "ROWS") {
				q.Limit = &Literal{span: p.spanFrom(at), Kind: IntegerLiteral, Text: "1"}
			} else {
				q.Limit = p.limitValue()
			}
			if !p.accept("ROW", "ROWS") {
				p.fail("ROWS")
			}
			if p.is("WITH") {
				p.refuse(at, "FETCH ... WITH TIES is not supported")
			}
			p.expect("ONLY")
		case p.is("INTO"):
			p.intoClause()
		case p.is("FOR") && p.isAt(1, "UPDATE", "SHARE"):
			p.advance()
			p.advance()
			if p.accept("OF") {
				p.name()
				for p.accept(",") {
					p.name()
				}
			}
			if !p.accept("NOWAIT") && p.accept("SKIP") {
				p.expect("LOCKED")
			}
		case p.is("LOCK"):
			p.advance()
			p.expect("IN", "SHARE", "MODE")
		case p.is("|>"):
			p.refuse(at, "the pipe syntax |> is not supported: write the query with its clauses in their usual order")
		default:
			return
		}
	}
}

// limitClause reads what follows LIMIT: n, offset and n, n OFFSET m, ALL.
func (p *parser) limitClause(q *Query) {
	if p.accept("ALL") {
		return
	}
	first := p.limitValue()
	if p.accept(",") {
		q.Offset, q.Limit = first, p.limitValue()
		return
	}
	q.Limit = first
}

// limitValue reads a count. MySQL takes only an integer, a parameter or a variable.
func (p *parser) limitValue() Expr {
	if p.opts.Dialect == Spark {
		return p.expr()
	}
	t := p.tok()
	switch {
	case t.kind == tokNumber, t.kind == tokVariable, p.is("?", ":"):
		value := p.primary()
		if number, ok := value.(*Literal); ok && number.Kind != IntegerLiteral {
			p.bail(syntaxError(t.start, "unexpected %s, expected an integer", p.describe(t)))
		}
		return value
	}
	p.fail("an integer", "?")
	return nil
}

// intoClause reads INTO @a, @b; files are refused.
func (p *parser) intoClause() {
	at := p.tok().start
	p.expect("INTO")
	if p.is("OUTFILE", "DUMPFILE") {
		p.refuse(at, "SELECT ... INTO %s is not supported", p.tok().word)
	}
	if p.into != nil || p.depth != p.outer {
		p.bail(syntaxError(at, "INTO may stand once, in the outermost query"))
	}
	for {
		t := p.tok()
		if t.kind != tokVariable {
			p.fail("@variable")
		}
		v := p.variable()
		if v.Scope != "user" {
			p.bail(syntaxError(t.start, "unexpected %s, expected @variable", p.describe(t)))
		}
		p.into = append(p.into, v.Name)
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) orderItems() []OrderItem {
	var items []OrderItem
	for {
		item := OrderItem{Expr: p.expr()}
		if !p.accept("ASC") {
			item.Desc = p.accept("DESC")
		}
		if p.is("NULLS") && p.isAt(1, "FIRST", "LAST") {
			p.advance()
			first := p.advance().word == "FIRST"
			item.NullsFirst = &first
		}
		items = append(items, item)
		if !p.accept(",") {
			return items
		}
	}
}

// ---- set operations ----

// setOperator is the set operator at the present token, or "".
func (p *parser) setOperator() string {
	switch {
	case p.is("UNION", "INTERSECT", "EXCEPT"):
		return p.tok().word
	case p.is("MINUS") && (p.isAt(1, "SELECT", "ALL", "DISTINCT", "(", "TABLE", "VALUES", "FROM")):
		return "EXCEPT"
	}
	return ""
}

// body reads operands joined by set operators; INTERSECT binds tighter than UNION and EXCEPT.
func (p *parser) body() Body { return p.setOperations(p.operand()) }

func (p *parser) setOperations(left Body) Body {
	left = p.intersections(left)
	for n := 1; ; n++ {
		op := p.setOperator()
		if op != "UNION" && op != "EXCEPT" {
			return left
		}
		p.chain(n)
		operation := p.setOperation(left)
		operation.Right = p.intersections(p.operand())
		left = operation
	}
}

func (p *parser) intersections(left Body) Body {
	for n := 1; p.setOperator() == "INTERSECT"; n++ {
		p.chain(n)
		operation := p.setOperation(left)
		operation.Right = p.operand()
		left = operation
	}
	return left
}

// setOperation reads the operator with ALL, DISTINCT and BY NAME.
func (p *parser) setOperation(left Body) *SetOperation {
	operation := &SetOperation{Pos: p.tok().start, Left: left}
	switch p.setOperator() {
	case "UNION":
		operation.Op = Union
	case "INTERSECT":
		operation.Op = Intersect
	default:
		operation.Op = Except
	}
	p.advance()
	if !p.accept("DISTINCT") {
		operation.All = p.accept("ALL")
	}
	operation.ByName = p.acceptAll("BY", "NAME")
	return operation
}

// operand reads one operand of a set operation.
func (p *parser) operand() Body {
	switch {
	case p.is("SELECT"):
		return p.selectBlock()
	case p.is("("):
		p.advance()
		q := p.query()
		p.expect(")")
		return &NestedQuery{Query: q}
	case p.is("VALUES"), p.is("VALUE") && p.defaults:
		return p.valuesOperand()
	case p.is("TABLE"):
		p.advance()
		return &TableBody{Table: p.tableRef()}
	case p.is("FROM") && p.opts.Dialect == Spark:
		return p.fromFirst()
	}
	p.fail("SELECT", "VALUES", "TABLE", "'('")
	return nil
}

// valuesOperand reads VALUES as a query. Spark gives it an alias, which makes it a SELECT over it; that of an INSERT is read there.
func (p *parser) valuesOperand() Body {
	at, inserted := p.tok().start, p.defaults
	values := p.values()
	alias := (*Alias)(nil)
	if p.opts.Dialect == Spark && !inserted {
		alias = p.alias()
	}
	if alias == nil {
		return values
	}
	from := &DerivedTable{Pos: at, Query: &Query{Pos: at, Body: values}, Alias: alias}
	return &Select{Pos: at, Items: []SelectItem{{Expr: &Star{span: span{Start: at, Stop: at.Offset}}}}, From: from}
}

// values reads VALUES (1, 2), (3, 4) or VALUES ROW(1, 2) or VALUES 1, 2.
func (p *parser) values() *Values {
	v := &Values{Pos: p.tok().start}
	defaults := p.defaults
	p.defaults = false
	if !p.accept("VALUES") && !(defaults && p.accept("VALUE")) {
		p.fail("VALUES")
	}
	for {
		v.Rows = append(v.Rows, p.valuesRow(defaults))
		if !p.accept(",") {
			return v
		}
	}
}

// valuesRow reads one row; DEFAULT is a value in those of an INSERT.
func (p *parser) valuesRow(defaults bool) []Expr {
	start := p.tok().start
	row := p.is("ROW") && p.isAt(1, "(")
	if row {
		p.advance()
	}
	if !p.is("(") || p.lambdaAhead() {
		return []Expr{p.expr()}
	}
	p.advance()
	items := p.valuesItems(defaults)
	if row || p.is(",", ")", ";", "AS") || p.tok().kind != tokOp {
		return items
	}
	p.pend(p.rowOrItem(items, start), start)
	return []Expr{p.expr()}
}

// valuesItems reads the items of a row behind its "(", and the ")".
func (p *parser) valuesItems(defaults bool) []Expr {
	if !defaults {
		return p.rowItems()
	}
	var items []Expr
	if p.is("DEFAULT") {
		items = []Expr{p.valueOrDefault()}
	} else if q, first := p.queryOrExpr(); q != nil {
		items = []Expr{&Subquery{span: span{Start: q.Pos, Stop: p.previous.end}, Query: q}}
	} else {
		items = []Expr{first}
	}
	for p.accept(",") {
		items = append(items, p.valueOrDefault())
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return items
}
