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
