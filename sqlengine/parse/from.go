package parse

// fromList reads a FROM list; a comma is a cross join that binds weaker than JOIN.
func (p *parser) fromList() From {
	left := p.joined()
	for n := 1; p.is(","); n++ {
		p.chain(n)
		at := p.advance().start
		left = &Join{Pos: at, Kind: JoinCross, Comma: true, Left: left, Right: p.joined()}
	}
	return left
}

// joined reads an item with the joins and pivots that follow it, from left to right.
func (p *parser) joined() From {
	left := p.factor()
	for n := 1; ; n++ {
		p.chain(n)
		if p.is("PIVOT") && p.isAt(1, "(") {
			left = p.pivot(left)
			continue
		}
		if p.is("UNPIVOT") && p.isAt(1, "(", "INCLUDE", "EXCLUDE") {
			left = p.unpivot(left)
			continue
		}
		if p.is("ON", "USING") && !p.onDuplicate() {
			if outer, ok := p.lateCondition(left); ok {
				left = outer
				continue
			}
		}
		join := p.joinHead()
		if join == nil {
			p.checkConditions(left)
			return left
		}
		join.Left, join.Right = left, p.factor()
		p.joinCondition(join)
		left = join
	}
}

// joinHead reads the words of a join up to JOIN; nil if none begins here.
func (p *parser) joinHead() *Join {
	j := &Join{Pos: p.tok().start}
	if p.is("ASOF") {
		p.refuse(j.Pos, "ASOF JOIN is not supported")
	}
	if p.is("STRAIGHT_JOIN") {
		p.advance()
		return j
	}
	if p.is("NATURAL") {
		p.advance()
		j.Natural = true
	}
	outer := false
	switch {
	case p.is("INNER"):
		p.advance()
	case p.is("CROSS"):
		p.advance()
		j.Kind = JoinCross
	case p.is("LEFT", "RIGHT", "FULL") && p.isAt(1, "JOIN", "OUTER", "SEMI", "ANTI"):
		side := p.advance().word
		j.Kind, outer = map[string]JoinKind{"LEFT": JoinLeft, "RIGHT": JoinRight, "FULL": JoinFull}[side], true
		if side == "LEFT" && p.is("SEMI", "ANTI") {
			j.Kind, outer = p.semi(), false
		}
	case p.is("SEMI", "ANTI") && p.isAt(1, "JOIN"):
		j.Kind = p.semi()
	case p.is("JOIN"):
	case p.is("LEFT", "RIGHT"):
		p.advance()
		p.fail("JOIN", "OUTER JOIN", "SEMI JOIN", "ANTI JOIN")
	default:
		if j.Natural {
			p.fail("JOIN")
		}
		return nil
	}
	if outer {
		p.accept("OUTER")
	}
	p.expect("JOIN")
	return j
}

func (p *parser) semi() JoinKind {
	if p.advance().word == "SEMI" {
		return JoinLeftSemi
	}
	return JoinLeftAnti
}

func (p *parser) joinCondition(j *Join) {
	switch {
	case j.Natural, p.onDuplicate():
	case p.accept("ON"):
		j.On = p.expr()
	case p.is("USING"):
		p.advance()
		j.Using = p.identList()
	}
	if j.Kind == JoinCross && (j.On != nil || j.Using != nil) {
		j.Kind = JoinInner // MySQL takes CROSS JOIN ... ON for that
	}
}

// onDuplicate tells whether ON DUPLICATE KEY of an INSERT follows, which is no condition of a join.
func (p *parser) onDuplicate() bool { return p.sequence("ON", "DUPLICATE", "KEY") }

// open tells whether a join may still take a condition.
func (j *Join) open() bool {
	return j.On == nil && j.Using == nil && !j.Natural && !j.Comma
}

// lateCondition reads the second condition of a JOIN b JOIN c ON x ON y, which belongs to the nearest join to the left
// that has none: a JOIN (b JOIN c ON x) ON y.
func (p *parser) lateCondition(left From) (From, bool) {
	top, ok := left.(*Join)
	if !ok || top.open() {
		return nil, false
	}
	above := top
	for {
		below, ok := above.Left.(*Join)
		if !ok {
			return nil, false
		}
		if below.open() {
			above.Left = below.Right
			below.Right = top
			p.joinCondition(below)
			return below, true
		}
		above = below
	}
}

// checkConditions refuses an outer join without a condition where MySQL does.
func (p *parser) checkConditions(from From) {
	for p.opts.Dialect == MySQL {
		j, ok := from.(*Join)
		if !ok {
			return
		}
		if j.open() && (j.Kind == JoinLeft || j.Kind == JoinRight) {
			p.fail("ON", "USING")
		}
		from = j.Left
	}
}

// factor reads one item of FROM.
func (p *parser) factor() From {
	if from := p.pendingFrom; from != nil {
		p.pendingFrom = nil
		return from
	}
	at := p.tok().start
	switch {
	case p.is("("):
		p.enter()
		defer p.leave()
		p.advance()
		q, from := p.queryOrFrom()
		p.expect(")")
		if q != nil {
			return p.derivedTable(at, q)
		}
		return p.aliased(at, from)
	case p.is("{"):
		return p.escapedJoin()
	case p.is("LATERAL"):
		return p.lateral()
	case p.is("VALUES"):
		t := &DerivedTable{Pos: at, Query: &Query{Pos: at, Body: p.values()}}
		t.Alias = p.alias()
		return t
	case p.is("JSON_TABLE") && p.isAt(1, "("):
		return p.jsonTable()
	case p.is("TABLE") && p.isAt(1, "("):
		p.advance()
		p.advance()
		f := p.tableFunction(at, p.name())
		p.expect(")")
		f.Alias = p.alias()
		return f
	case p.isString():
		err := syntaxError(at, "unexpected %s, expected a table", p.describe(p.tok()))
		p.bail(err.WithHint("a table is named by its path as delta.`path` (also parquet., csv., json.)"))
	case !p.isName(0) && !((p.is("LEFT", "RIGHT")) && p.isAt(1, "(")):
		p.fail("a table", "'('", "LATERAL", "VALUES")
	case p.functionAhead():
		f := p.tableFunction(at, p.name())
		f.Alias = p.alias()
		p.noSample()
		return f
	}
	return p.tableRef()
}

// functionAhead tells whether a dotted name and "(" follow, which is a table function. IDENTIFIER( is a name.
func (p *parser) functionAhead() bool {
	if p.is("IDENTIFIER") {
		return false
	}
	n := 1
	for p.isAt(n, ".") {
		n += 2
	}
	return p.isAt(n, "(")
}

// queryOrFrom reads what stands behind a "(" in FROM: a query, or joined tables.
func (p *parser) queryOrFrom() (*Query, From) {
	if p.startsQuery() || p.is("VALUES") {
		return p.query(), nil
	}
	if !p.is("(") {
		return nil, p.fromList()
	}
	p.enter()
	defer p.leave()
	at := p.advance().start
	q, from := p.queryOrFrom()
	p.expect(")")
	switch {
	case q == nil:
		p.pendingFrom = p.aliased(at, from)
	case p.continuesQuery():
		return p.queryFrom(q), nil
	case p.is(")"):
		return &Query{Pos: at, Body: &NestedQuery{Query: q}}, nil
	default:
		p.pendingFrom = p.derivedTable(at, q)
	}
	return nil, p.fromList()
}

// aliased gives a parenthesised item an alias of its own, which Spark allows, by a SELECT over it.
func (p *parser) aliased(at Pos, from From) From {
	alias := p.alias()
	if alias == nil {
		return from
	}
	star := &Star{span: span{Start: at, Stop: at.Offset}}
	all := &Select{Pos: at, Items: []SelectItem{{Expr: star}}, From: from}
	return &DerivedTable{Pos: at, Query: &Query{Pos: at, Body: all}, Alias: alias}
}

func (p *parser) derivedTable(at Pos, q *Query) *DerivedTable {
	t := &DerivedTable{Pos: at, Query: q}
	if t.Sample = p.sample(); t.Sample == nil {
		t.Alias = p.alias()
		t.Sample = p.sample()
	} else {
		t.Alias = p.alias()
	}
	return t
}

// escapedJoin reads ODBC's { OJ a LEFT JOIN b ON ... }.
func (p *parser) escapedJoin() From {
	p.expect("{")
	p.expect("OJ")
	p.enter()
	defer p.leave()
	from := p.joined()
	p.expect("}")
	return from
}

func (p *parser) lateral() From {
	at := p.advance().start
	if p.accept("(") {
		q := p.query()
		p.expect(")")
		t := p.derivedTable(at, q)
		t.Lateral = true
		return t
	}
	if p.is("JSON_TABLE") && p.isAt(1, "(") {
		return p.jsonTable()
	}
	if !p.isName(0) || !p.functionAhead() {
		p.fail("'('", "a table function")
	}
	f := p.tableFunction(at, p.name())
	f.Lateral = true
	f.Alias = p.alias()
	p.noSample()
	return f
}

func (p *parser) tableFunction(at Pos, name Name) *TableFunction {
	f := &TableFunction{Pos: at, Name: name}
	p.expect("(")
	f.Args = p.plainArgs()
	if p.is("WITH") && p.isAt(1, "ORDINALITY") {
		p.refuse(p.tok().start, "WITH ORDINALITY is not supported: use posexplode")
	}
	return f
}

func (p *parser) noSample() {
	if p.is("TABLESAMPLE") {
		p.refuse(p.tok().start, "TABLESAMPLE of a table function is not supported: sample a subquery over it")
	}
}

// tableRef reads a table's name with time travel, sample and alias.
func (p *parser) tableRef() *TableRef {
	t := &TableRef{Pos: p.tok().start, Name: p.tableName()}
	if p.is("PARTITION") && p.isAt(1, "(") {
		p.refuse(p.tok().start, "PARTITION (...) is not supported: a Delta table has no named partitions, filter by its partition columns")
	}
	if p.is("CHANGES") && p.isAt(1, "FROM") {
		p.refuse(p.tok().start, "CHANGES FROM is not supported: use table_changes('table', start, end)")
	}
	t.AsOf = p.asOf()
	t.Sample = p.sample()
	t.Alias = p.alias()
	if t.AsOf == nil && t.Alias != nil {
		t.AsOf = p.asOf()
	}
	if t.Sample == nil {
		t.Sample = p.sample()
	}
	p.indexHints()
	return t
}

// alias reads [AS] name [(columns)].
func (p *parser) alias() *Alias {
	switch {
	case p.is("AS"):
		p.advance()
		if p.isString() {
			p.fail("a name")
		}
	case p.tok().kind == tokQuoted:
	case p.tok().kind == tokWord && p.isName(0) && notTables[p.tok().word] == "" && !p.startsAsOf():
	default:
		return nil
	}
	a := &Alias{Name: p.ident()}
	if p.is("(") && p.isName(1) {
		a.Columns = p.identList()
	}
	return a
}

// indexHints reads MySQL's USE/FORCE/IGNORE INDEX (...), which mean nothing here.
func (p *parser) indexHints() {
	for p.is("USE", "FORCE", "IGNORE") && p.isAt(1, "INDEX", "KEY") {
		p.advance()
		p.advance()
		if p.accept("FOR") && !p.accept("JOIN") {
			if !p.accept("ORDER", "GROUP") {
				p.fail("JOIN", "ORDER BY", "GROUP BY")
			}
			p.expect("BY")
		}
		p.expect("(")
		for !p.is(")") {
			p.part()
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
		if p.is(",") && p.isAt(1, "USE", "FORCE", "IGNORE") && p.isAt(2, "INDEX", "KEY") {
			p.advance()
		}
	}
}
