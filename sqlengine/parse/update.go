package parse

// changed refuses time travel and samples of the table that a change names, and what is no table. It stands at a place.
func (p *parser) changed(at Pos, from From, verb string) From {
	switch f := from.(type) {
	case *TableRef:
		if f.AsOf != nil {
			p.bail(syntaxError(f.AsOf.Pos, "only the newest version of a table can be changed"))
		}
		if f.Sample != nil {
			p.bail(syntaxError(f.Pos, "%s takes no TABLESAMPLE", verb))
		}
	case *Join:
	default:
		p.bail(syntaxError(at, "%s takes a table", verb))
	}
	return from
}

// update reads UPDATE, behind the WITH that may stand before.
func (p *parser) update(with *Query) Statement {
	u := &Update{Pos: with.Pos, With: with.With, Recursive: with.Recursive}
	p.advance()
	u.Ignored = p.modifiers()
	u.Ignore = p.is("IGNORE") && !p.isAt(1, "SET")
	if u.Ignore {
		p.advance()
	}
	u.From = p.changed(p.tok().start, p.fromList(), "UPDATE")
	p.noTimeTravel()
	if !p.accept("SET") {
		p.fail("SET")
	}
	u.Set = p.setItems()
	if p.is("FROM") {
		p.refuse(p.tok().start, "UPDATE ... FROM is not supported: use MERGE INTO, or UPDATE t JOIN u ON ... SET")
	}
	u.Where, u.WhereText = p.where()
	u.OrderBy, u.Limit = p.changeTail()
	return u
}

// where reads WHERE and keeps its text.
func (p *parser) where() (Expr, string) {
	if !p.accept("WHERE") {
		return nil, ""
	}
	return p.exprText()
}

// changeTail reads MySQL's ORDER BY and LIMIT of a change.
func (p *parser) changeTail() (order []OrderItem, limit Expr) {
	if p.accept("ORDER") {
		p.expect("BY")
		order = p.orderItems()
	}
	if p.accept("LIMIT") {
		limit = p.limitValue()
	}
	if p.is("RETURNING") {
		p.refuse(p.tok().start, "RETURNING is not supported")
	}
	return order, limit
}

// delete reads DELETE, behind the WITH that may stand before: FROM t, or MySQL's DELETE a, b FROM joins and DELETE FROM a, b USING joins.
func (p *parser) delete(with *Query) Statement {
	d := &Delete{Pos: with.Pos, With: with.With, Recursive: with.Recursive}
	p.advance()
	for p.is(changeModifiers...) || p.is("IGNORE") && p.isAt(1, "FROM") {
		d.Ignored = append(d.Ignored, p.ignore(p.advance().start))
	}
	switch {
	case !p.is("FROM"):
		if !p.isName(0) {
			p.fail("FROM")
		}
		d.Targets = p.deleteTargets()
		p.expect("FROM")
	case p.targetsAhead():
		p.advance()
		d.Targets = p.deleteTargets()
		p.expect("USING")
	default:
		p.advance()
	}
	d.From = p.changed(p.tok().start, p.fromList(), "DELETE")
	p.noTimeTravel()
	if _, joined := d.From.(*Join); joined && d.Targets == nil {
		p.bail(syntaxError(d.Pos, "DELETE from joined tables says which: DELETE t FROM t JOIN ..."))
	}
	d.Where, d.WhereText = p.where()
	d.OrderBy, d.Limit = p.changeTail()
	return d
}

// targetsAhead tells whether FROM is followed by a list of tables and USING.
func (p *parser) targetsAhead() bool {
	const most = 1000
	for n := 1; n < most; n++ {
		t := p.peek(n)
		switch {
		case t.word == "USING":
			return n > 1
		case t.kind == tokQuoted, t.word == ".", t.word == ",", t.word == "*":
		case t.kind == tokWord && reserved[t.word] == "" && softWords[t.word] == "":
		default:
			return false
		}
	}
	return false
}

// deleteTargets reads a, b.*, c.
func (p *parser) deleteTargets() []Name {
	var targets []Name
	for {
		targets = append(targets, p.tableName())
		if p.is(".") && p.isAt(1, "*") {
			p.skip(2)
		}
		if !p.accept(",") {
			return targets
		}
	}
}

// truncate reads TRUNCATE [TABLE] t.
func (p *parser) truncate() Statement {
	t := &Truncate{Pos: p.advance().start}
	if p.is("TABLE") && p.isName(1) {
		p.advance()
	}
	t.Table = p.tableName()
	p.noTimeTravel()
	if p.accept("PARTITION") {
		t.Partition = true
		p.partitionAssigns()
	}
	return t
}
