package parse

var comparisons = []string{"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"}

// mysqlCondition reads comparisons whose operands may be IN, LIKE, BETWEEN.
func (p *parser) mysqlCondition() Expr {
	start := p.start()
	left := p.mysqlPredicate()
	for n := 1; ; n++ {
		p.chain(n)
		switch {
		case p.is(comparisons...):
			left = p.comparison(start, left, p.mysqlPredicate)
		case p.is("IS"):
			left = p.isSuffix(start, left, p.mysqlPredicate)
		default:
			return left
		}
	}
}

func (p *parser) mysqlPredicate() Expr {
	start := p.start()
	left := p.bits(1)
	if suffix := p.predicate(start, left, func() Expr { return p.bits(1) }); suffix != nil {
		return suffix
	}
	return left
}

// sparkCondition reads predicates whose operands may be comparisons.
func (p *parser) sparkCondition() Expr {
	start := p.start()
	left := p.sparkComparison()
	for n := 1; ; n++ {
		p.chain(n)
		suffix := p.predicate(start, left, p.sparkComparison)
		switch {
		case suffix != nil:
			left = suffix
		case p.is("IS"):
			left = p.isSuffix(start, left, p.sparkComparison)
		case p.is(comparisons...): // behind a predicate, where Spark wants parentheses
			left = p.comparison(start, left, p.value)
		default:
			return left
		}
	}
}

func (p *parser) sparkComparison() Expr {
	start := p.start()
	left := p.bits(1)
	for n := 1; p.is(comparisons...); n++ {
		p.chain(n)
		left = p.comparison(start, left, p.value)
	}
	return left
}

// comparison reads the operator and what stands on its right: an operand, or ANY/ALL (query).
func (p *parser) comparison(start Pos, left Expr, operand func() Expr) Expr {
	op := p.advance()
	word := op.word
	switch word {
	case "==":
		word = "="
	case "!=":
		word = "<>"
	}
	if p.is("ANY", "SOME", "ALL") && p.isAt(1, "(") {
		all := p.advance().word == "ALL"
		p.advance()
		q := p.query()
		p.expect(")")
		return &Quantified{span: p.spanFrom(start), Op: word, All: all, Operand: left, Query: q}
	}
	return p.binary(start, word, op.start, left, operand())
}

// isSuffix reads IS [NOT] NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM.
func (p *parser) isSuffix(start Pos, left Expr, operand func() Expr) Expr {
	p.expect("IS")
	not := p.accept("NOT")
	switch {
	case p.is("NULL", "TRUE", "FALSE", "UNKNOWN"):
		what := p.advance().word
		return &Is{span: p.spanFrom(start), Not: not, What: what, Operand: left}
	case p.accept("DISTINCT"):
		p.expect("FROM")
		right := operand()
		return &IsDistinct{span: p.spanFrom(start), Not: not, Left: left, Right: right}
	}
	if not {
		p.fail("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM")
	}
	p.fail("NULL", "NOT NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM")
	return nil
}

// predicate reads [NOT] BETWEEN, IN, LIKE and their kin behind left; nil if none is here.
func (p *parser) predicate(start Pos, left Expr, operand func() Expr) Expr {
	not := p.is("NOT") || p.is("!") && p.opts.Dialect == Spark
	n := 0
	if not {
		n = 1
	}
	switch {
	case not && p.isAt(1, "NULL"): // of a column's definition, behind DEFAULT e
		return nil
	case p.isAt(n, "BETWEEN"):
		p.skip(n + 1)
		low := operand()
		p.expect("AND")
		high := operand()
		if p.opts.Dialect == MySQL { // the upper bound is a predicate itself
			p.enter()
			defer p.leave()
			if deeper := p.predicate(high.At(), high, operand); deeper != nil {
				high = deeper
			}
		}
		return &Between{span: p.spanFrom(start), Not: not, Operand: left, Low: low, High: high}
	case p.isAt(n, "IN"):
		p.skip(n + 1)
		return p.in(start, not, left)
	case p.isAt(n, "LIKE", "ILIKE", "RLIKE", "REGEXP") || p.isAt(n, "SIMILAR") && p.isAt(n+1, "TO"):
		p.skip(n)
		return p.like(start, not, left, operand)
	case not:
		p.advance()
		p.fail("BETWEEN", "IN", "LIKE", "RLIKE")
	case p.is("MEMBER") && p.isAt(1, "OF"):
		p.skip(2)
		p.expect("(")
		list := p.expr()
		p.expect(")")
		return p.call(start, "member_of", left, list)
	case p.is("SOUNDS") && p.isAt(1, "LIKE"):
		at := p.tok().start
		p.skip(2)
		right := operand()
		return p.binary(start, "=", at, p.call(start, "soundex", left), p.call(right.At(), "soundex", right))
	}
	return nil
}

func (p *parser) skip(n int) {
	for range n {
		p.advance()
	}
}

// in reads (list) or (query) behind IN.
func (p *parser) in(start Pos, not bool, left Expr) Expr {
	p.expect("(")
	q, first := p.queryOrExpr()
	if q != nil {
		p.expect(")")
		return &In{span: p.spanFrom(start), Not: not, Operand: left, Query: q}
	}
	list := []Expr{first}
	for p.accept(",") {
		list = append(list, p.expr())
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return &In{span: p.spanFrom(start), Not: not, Operand: left, List: list}
}

func (p *parser) like(start Pos, not bool, left Expr, operand func() Expr) Expr {
	l := &Like{Op: p.advance().word, Not: not, Operand: left}
	switch l.Op {
	case "SIMILAR":
		p.expect("TO")
		l.Op = "RLIKE"
	case "REGEXP":
		l.Op = "RLIKE"
	}
	if p.is("ANY", "SOME", "ALL") && p.isAt(1, "(") && l.Op != "RLIKE" {
		l.Quantifier = "ANY"
		if p.advance().word == "ALL" {
			l.Quantifier = "ALL"
		}
		p.advance()
		if p.startsQuery() {
			p.refuse(p.tok().start, "%s %s over a query is not supported: give a list of patterns", l.Op, l.Quantifier)
		}
		l.Patterns = p.exprs()
		p.expect(")")
	} else {
		l.Patterns = []Expr{operand()}
	}
	if p.accept("ESCAPE") {
		l.Escape = p.value()
	}
	l.span = p.spanFrom(start)
	return l
}
