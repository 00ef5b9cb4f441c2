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
	case p.is("VALUES"):
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

// valuesOperand reads VALUES as a query. Spark gives it an alias, which makes it a SELECT over it.
func (p *parser) valuesOperand() Body {
	at := p.tok().start
	values := p.values()
	alias := (*Alias)(nil)
	if p.opts.Dialect == Spark {
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
	p.expect("VALUES")
	for {
		v.Rows = append(v.Rows, p.valuesRow())
		if !p.accept(",") {
			return v
		}
	}
}

func (p *parser) valuesRow() []Expr {
	start := p.tok().start
	row := p.is("ROW") && p.isAt(1, "(")
	if row {
		p.advance()
	}
	if !p.is("(") || p.lambdaAhead() {
		return []Expr{p.expr()}
	}
	p.advance()
	items := p.rowItems()
	if row || p.is(",", ")", ";", "AS") || p.tok().kind != tokOp {
		return items
	}
	p.pend(p.rowOrItem(items, start), start)
	return []Expr{p.expr()}
}

// ---- SELECT ----

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

// ---- GROUP BY ----

func (p *parser) groupBy() *GroupBy {
	p.expect("GROUP", "BY")
	g := &GroupBy{}
	if p.is("ALL") && !p.isAt(1, ",", ".") {
		p.advance()
		g.All = true
	} else {
		for {
			g.Elements = append(g.Elements, p.groupElement())
			if !p.accept(",") {
				break
			}
		}
	}
	switch {
	case p.is("WITH") && p.isAt(1, "ROLLUP", "CUBE"):
		p.advance()
		g.WithRollup = p.is("ROLLUP")
		g.WithCube = p.is("CUBE")
		p.advance()
	case p.is("GROUPING") && p.isAt(1, "SETS"):
		// Spark's GROUP BY a, b GROUPING SETS (...): the sets alone decide, the list only names their columns.
		g.Elements = []GroupElement{p.groupElement()}
	}
	return g
}

func (p *parser) groupElement() GroupElement {
	switch {
	case p.is("ROLLUP", "CUBE") && p.isAt(1, "("):
		kind := GroupRollup
		if p.advance().word == "CUBE" {
			kind = GroupCube
		}
		return GroupElement{Kind: kind, Sets: p.groupSets()}
	case p.is("GROUPING") && p.isAt(1, "SETS") && p.isAt(2, "("):
		p.advance()
		p.advance()
		return GroupElement{Kind: GroupSets, Sets: p.groupSets()}
	case p.is("(") && p.isAt(1, ")"):
		p.advance()
		p.advance()
		return GroupElement{Kind: GroupSets, Sets: [][]Expr{{}}}
	}
	return GroupElement{Kind: GroupExpr, Expr: p.expr()}
}

// groupSets reads ( a, (b, c), () ).
func (p *parser) groupSets() [][]Expr {
	p.expect("(")
	var sets [][]Expr
	for {
		if p.is("ROLLUP", "CUBE") && p.isAt(1, "(") || p.is("GROUPING") && p.isAt(1, "SETS") {
			p.refuse(p.tok().start, "%s inside GROUPING SETS is not supported: list the sets", p.tok().word)
		}
		if p.is("(") && p.isAt(1, ")") {
			p.advance()
			p.advance()
			sets = append(sets, []Expr{})
		} else {
			sets = append(sets, p.groupSet())
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return sets
}

// groupSet reads a set of one expression, or of a parenthesised list.
func (p *parser) groupSet() []Expr {
	e := p.expr()
	if row, ok := e.(*Tuple); ok {
		return row.Items
	}
	return []Expr{e}
}

// ---- windows ----

// windowSpec reads (…) of OVER or WINDOW, or a window's name.
func (p *parser) windowSpec() *WindowSpec {
	w := &WindowSpec{Pos: p.tok().start}
	if !p.is("(") {
		base := p.ident()
		w.Base = &base
		return w
	}
	p.advance()
	if p.isName(0) && !(p.is("PARTITION", "DISTRIBUTE", "ORDER", "SORT", "CLUSTER") && p.isAt(1, "BY")) && !p.startsFrame() {
		base := p.take()
		w.Base = &base
	}
	if p.is("PARTITION", "DISTRIBUTE") {
		p.advance()
		p.expect("BY")
		w.PartitionBy = p.exprs()
	}
	if p.is("CLUSTER") {
		p.refuse(p.tok().start, "CLUSTER BY in a window is not supported: use PARTITION BY and ORDER BY")
	}
	if p.is("ORDER", "SORT") {
		p.advance()
		p.expect("BY")
		w.OrderBy = p.orderItems()
	}
	if p.startsFrame() {
		w.Frame = p.frame()
	}
	if !p.is(")") {
		p.fail("PARTITION BY", "ORDER BY", "ROWS", "RANGE", "')'")
	}
	p.advance()
	return w
}

func (p *parser) startsFrame() bool {
	return p.is("ROWS", "RANGE", "GROUPS") && !p.isAt(1, ")")
}

func (p *parser) frame() *Frame {
	f := &Frame{}
	switch p.advance().word {
	case "RANGE":
		f.Unit = FrameRange
	case "GROUPS":
		f.Unit = FrameGroups
	}
	if p.accept("BETWEEN") {
		f.Start = p.frameBound()
		p.expect("AND")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
		f.End = FrameBound{Kind: CurrentRow}
	}
	if p.accept("EXCLUDE") {
		switch {
		case p.acceptAll("CURRENT", "ROW"):
			f.Exclude = "CURRENT ROW"
		case p.acceptAll("NO", "OTHERS"):
			f.Exclude = "NO OTHERS"
		case p.is("GROUP", "TIES"):
			f.Exclude = p.advance().word
		default:
			p.fail("CURRENT ROW", "GROUP", "TIES", "NO OTHERS")
		}
	}
	return f
}

func (p *parser) frameBound() FrameBound {
	switch {
	case p.acceptAll("CURRENT", "ROW"):
		return FrameBound{Kind: CurrentRow}
	case p.is("UNBOUNDED") && p.isAt(1, "PRECEDING", "FOLLOWING"):
		p.advance()
		if p.advance().word == "PRECEDING" {
			return FrameBound{Kind: UnboundedPreceding}
		}
		return FrameBound{Kind: UnboundedFollowing}
	}
	bound := FrameBound{Kind: Preceding, Offset: p.value()}
	if !p.accept("PRECEDING") {
		if !p.accept("FOLLOWING") {
			p.fail("PRECEDING", "FOLLOWING")
		}
		bound.Kind = Following
	}
	return bound
}
