package parse

import "slices"

// The levels, weakest first:
//
//	MySQL   OR ||(or) · XOR · AND && · NOT · = <=> < IS IN LIKE BETWEEN · | · & · << >> · + - · * / DIV % MOD · ^ · ||(concat) · - ~ ! BINARY
//	Spark   OR · AND · NOT ! · IN LIKE BETWEEN IS · = <=> < · | · ^ · & · << >> >>> · + - || · * / % DIV · - + ~
//
// In MySQL IN, LIKE and BETWEEN bind tighter than =, in Spark weaker: a = b LIKE c is a = (b LIKE c) there, (a = b) LIKE c here.

// expr reads an expression of any kind, a lambda included.
func (p *parser) expr() Expr {
	p.enter()
	defer p.leave()
	if p.pending == nil && p.lambdaAhead() {
		return p.lambda()
	}
	return p.or()
}

func (p *parser) exprs() []Expr {
	list := []Expr{p.expr()}
	for p.accept(",") {
		list = append(list, p.expr())
	}
	return list
}

// pend makes the next primary return e, whose text begins at start.
func (p *parser) pend(e Expr, start Pos) { p.pending, p.pendingStart = e, start }

// lambdaAhead tells whether x -> or (x, y) -> follows. In MySQL x -> '$.a' is JSON_EXTRACT.
func (p *parser) lambdaAhead() bool {
	n := 0
	switch {
	case p.is("("):
		for n = 1; ; n += 2 {
			if k := p.peek(n).kind; k != tokWord && k != tokQuoted {
				return false
			}
			if !p.isAt(n+1, ",") {
				break
			}
		}
		if !p.isAt(n+1, ")") {
			return false
		}
		n++
	case p.tok().kind == tokWord && p.isName(0), p.tok().kind == tokQuoted:
	default:
		return false
	}
	return p.isAt(n+1, "->") && !(p.opts.Dialect == MySQL && p.peek(n+2).kind == tokString)
}

func (p *parser) lambda() Expr {
	start := p.tok().start
	l := &Lambda{}
	if p.is("(") {
		l.Params = p.identList()
	} else {
		l.Params = []Ident{p.ident()}
	}
	p.expect("->")
	l.Body = p.expr()
	l.span = p.spanFrom(start)
	return l
}

// ---- logic ----

func (p *parser) binary(start Pos, op string, at Pos, left, right Expr) Expr {
	return &Binary{span: p.spanFrom(start), Op: op, OpPos: at, Left: left, Right: right}
}

// pipesAreOr tells whether || is a logical or.
func (p *parser) pipesAreOr() bool { return p.opts.Dialect == MySQL && !p.opts.PipesAsConcat }

func (p *parser) or() Expr {
	start := p.start()
	left := p.xor()
	for n := 1; p.is("OR") || p.pipesAreOr() && p.is("||"); n++ {
		p.chain(n)
		op := p.advance()
		left = p.binary(start, op.word, op.start, left, p.xor())
	}
	return left
}

func (p *parser) xor() Expr {
	start := p.start()
	left := p.and()
	for n := 1; p.is("XOR"); n++ {
		p.chain(n)
		op := p.advance()
		left = p.binary(start, op.word, op.start, left, p.and())
	}
	return left
}

func (p *parser) and() Expr {
	start := p.start()
	left := p.not()
	for n := 1; p.is("AND", "&&"); n++ {
		p.chain(n)
		op := p.advance()
		left = p.binary(start, op.word, op.start, left, p.not())
	}
	return left
}

func (p *parser) not() Expr {
	if p.pending == nil && (p.is("NOT") && !p.opts.HighNotPrecedence || p.is("!") && p.opts.Dialect == Spark) {
		p.enter()
		defer p.leave()
		op := p.advance()
		operand := p.not()
		return &Unary{span: p.spanFrom(op.start), Op: op.word, Operand: operand}
	}
	if p.opts.Dialect == MySQL {
		return p.mysqlCondition()
	}
	return p.sparkCondition()
}

// ---- comparison ----

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

// ---- arithmetic ----

// value reads an expression without comparisons and logic.
func (p *parser) value() Expr { return p.bits(1) }

// level is the precedence of the present token as an infix operator on values; 0 if it is none.
func (p *parser) level() int {
	t := p.tok()
	if t.kind == tokWord {
		switch {
		case t.word == "DIV", t.word == "MOD" && p.operandAhead(1):
			if p.opts.Dialect == MySQL {
				return 5
			}
			return 6
		}
		return 0
	}
	if t.kind != tokOp {
		return 0
	}
	if p.opts.Dialect == MySQL {
		switch t.word {
		case "|":
			return 1
		case "&":
			return 2
		case "<<", ">>":
			return 3
		case "+", "-":
			return 4
		case "*", "/", "%":
			return 5
		case "^":
			return 6
		case "||":
			if p.opts.PipesAsConcat {
				return 7
			}
		}
		return 0
	}
	switch t.word {
	case "|":
		return 1
	case "^":
		return 2
	case "&":
		return 3
	case "<<", ">>", ">>>":
		return 4
	case "+", "-", "||":
		return 5
	case "*", "/", "%":
		return 6
	}
	return 0
}

// operandAhead tells whether the token n places on can begin an operand.
func (p *parser) operandAhead(n int) bool {
	t := p.peek(n)
	switch t.kind {
	case tokEOF:
		return false
	case tokOp:
		return slices.Contains([]string{"(", "-", "+", "~", "?", ":", "{"}, t.word)
	case tokWord:
		return t.word == "" || reserved[t.word] == "" && notItems[t.word] == "" || p.isAt(n, "CASE", "NULL", "TRUE", "FALSE")
	}
	return true
}

// bits reads infix operators on values down to a level.
func (p *parser) bits(lowest int) Expr {
	start := p.start()
	left := p.unary()
	for n := 1; ; n++ {
		level := p.level()
		if level < lowest || level == 0 {
			return left
		}
		p.chain(n)
		op := p.advance()
		p.enter()
		right := p.bits(level + 1)
		p.leave()
		left = p.binary(start, op.word, op.start, left, right)
	}
}

func (p *parser) unary() Expr {
	start := p.start()
	if p.pending != nil {
		return p.postfix(start, p.primary())
	}
	t := p.tok()
	switch {
	case p.is("-", "+", "~"),
		p.is("!") && p.opts.Dialect == MySQL,
		p.is("NOT") && p.opts.HighNotPrecedence:
		p.enter()
		defer p.leave()
		p.advance()
		operand := p.unary()
		return &Unary{span: p.spanFrom(t.start), Op: t.word, Operand: operand}
	case p.is("BINARY") && p.opts.Dialect == MySQL && p.operandAhead(1):
		p.enter()
		defer p.leave()
		p.advance()
		operand := p.unary()
		return &Cast{span: p.spanFrom(t.start), Operand: operand, Type: binaryType(t.start)}
	}
	return p.postfix(start, p.primary())
}

// postfix reads what may follow a primary: .field, [index], ::type, :path, COLLATE, MySQL's -> and ->>.
func (p *parser) postfix(start Pos, e Expr) Expr {
	for n := 1; ; n++ {
		if n > maxDepth {
			p.limit("a chain of more than %d postfix operators", maxDepth)
		}
		switch {
		case p.is(".") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted):
			p.advance()
			name := p.part()
			e = &Field{span: p.spanFrom(start), Operand: e, Name: name}
		case p.is("["):
			p.advance()
			index := p.expr()
			p.expect("]")
			e = &Index{span: p.spanFrom(start), Operand: e, Index: index}
		case p.is("::"):
			p.advance()
			t := p.typeName()
			e = &Cast{span: p.spanFrom(start), Operand: e, Type: t}
		case p.is("?") && p.isAt(1, "::"):
			p.skip(2)
			t := p.typeName()
			e = &Cast{span: p.spanFrom(start), Try: true, Operand: e, Type: t}
		case p.is(":") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted || p.isAt(1, "[")):
			e = p.variantPath(start, e)
		case p.is("COLLATE"):
			p.advance()
			c := &Collate{Operand: e}
			if p.isString() {
				at := p.tok().start
				c.Collation = Name{{Name: p.stringText(), Quoted: true, Pos: at}}
			} else if p.is("BINARY") {
				c.Collation = Name{p.take()}
			} else {
				c.Collation = p.name()
			}
			c.span = p.spanFrom(start)
			e = c
		case p.is("->", "->>") && p.peek(1).kind == tokString:
			arrow := p.advance().word
			path := p.primary()
			e = p.call(start, "json_extract", e, path)
			if arrow == "->>" {
				e = p.call(start, "json_unquote", e)
			}
		default:
			return e
		}
	}
}

// variantPath reads :a.b[0]['k'].
func (p *parser) variantPath(start Pos, e Expr) Expr {
	v := &VariantPath{Operand: e}
	p.expect(":")
	for n := 0; ; n++ {
		if n > maxDepth {
			p.limit("a path of more than %d steps", maxDepth)
		}
		switch {
		case p.is("["):
			p.advance()
			index := p.expr()
			p.expect("]")
			v.Steps = append(v.Steps, PathStep{Index: index})
		case n == 0 || p.is(".") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted):
			if n > 0 {
				p.advance()
			}
			name := p.part()
			v.Steps = append(v.Steps, PathStep{Name: name.Name, Quoted: name.Quoted})
		default:
			v.span = p.spanFrom(start)
			return v
		}
	}
}
