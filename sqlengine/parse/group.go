package parse

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
