package parse

// begin reads BEGIN [WORK|TRANSACTION] and START TRANSACTION with its characteristics. A script, BEGIN ... END, is no transaction.
func (p *parser) begin() Statement {
	t := &Transaction{Pos: p.tok().start, Verb: "BEGIN"}
	if p.is("START") {
		if !p.isAt(1, "TRANSACTION") {
			return p.unsupported(p.objectVerb())
		}
		p.skip(2)
	} else {
		switch {
		case p.isAt(1, "ATOMIC"):
			return p.unsupported("BEGIN ATOMIC")
		case !p.isAt(1, "WORK", "TRANSACTION", "READ", "WITH") && !p.endsAt(1):
			return p.unsupported("BEGIN ... END")
		}
		p.advance()
		p.accept("WORK", "TRANSACTION")
	}
	if p.endsAt(0) {
		return t
	}
	for {
		switch {
		case p.acceptAll("WITH", "CONSISTENT", "SNAPSHOT"):
			t.Consistent = true
		case p.acceptAll("READ", "ONLY"):
			t.ReadOnly = true
		case p.acceptAll("READ", "WRITE"):
		default:
			p.fail("WITH CONSISTENT SNAPSHOT", "READ ONLY", "READ WRITE", "the end of the statement")
		}
		if !p.accept(",") {
			return t
		}
	}
}

// finish reads COMMIT and ROLLBACK.
func (p *parser) finish() Statement {
	word := p.advance()
	t := &Transaction{Pos: word.start, Verb: word.word}
	p.accept("WORK", "TRANSACTION")
	if t.Verb == "ROLLBACK" && p.accept("TO") {
		p.accept("SAVEPOINT")
		name := p.ident()
		t.Verb, t.Savepoint = "ROLLBACK TO", &name
		return t
	}
	if p.accept("AND") {
		t.Chain = !p.accept("NO")
		p.expect("CHAIN")
	}
	if p.is("RELEASE") || p.is("NO") && p.isAt(1, "RELEASE") {
		if p.is("RELEASE") {
			p.refuse(p.tok().start, "%s RELEASE is not supported", word.word)
		}
		p.skip(2)
	}
	return t
}

// savepoint reads SAVEPOINT x and RELEASE SAVEPOINT x.
func (p *parser) savepoint() Statement {
	word := p.advance()
	t := &Transaction{Pos: word.start, Verb: word.word}
	if t.Verb == "RELEASE" {
		p.expect("SAVEPOINT")
	}
	name := p.ident()
	t.Savepoint = &name
	return t
}

// ---- prepared statements ----

// prepare reads PREPARE name FROM 'text' | @variable.
func (p *parser) prepare() Statement {
	s := &Prepare{Pos: p.advance().start, Name: p.ident()}
	p.expect("FROM")
	if !p.isString() && p.tok().kind != tokVariable {
		p.fail("a string", "@variable")
	}
	s.Text = p.primary()
	return s
}

// execute reads EXECUTE name [USING @a, @b], and EXECUTE IMMEDIATE text [INTO names] [USING values].
func (p *parser) execute() Statement {
	e := &Execute{Pos: p.advance().start}
	if p.is("IMMEDIATE") && !p.endsAt(1, "USING") {
		p.advance()
		e.Immediate = p.expr()
		if p.accept("INTO") {
			for {
				e.Into = append(e.Into, p.targetVariable())
				if !p.accept(",") {
					break
				}
			}
		}
		if p.accept("USING") {
			e.Using = p.executeArgs()
		}
		return e
	}
	e.Name = p.ident()
	if p.accept("USING") {
		e.Using = p.executeArgs()
	}
	return e
}

// targetVariable reads a variable that takes a result: @a, or the name of a declared one.
func (p *parser) targetVariable() string {
	if p.tok().kind == tokVariable {
		return p.variable().Name
	}
	return p.ident().Name
}

// executeArgs reads e [AS name], ..., perhaps in parentheses.
func (p *parser) executeArgs() []Arg {
	var args []Arg
	for {
		arg := Arg{}
		start := p.tok().start
		arg.Expr = p.expr()
		if tuple, ok := arg.Expr.(*Tuple); ok && args == nil && p.lex.sql[start.Offset] == '(' {
			for _, item := range tuple.Items {
				args = append(args, Arg{Expr: item})
			}
			return args
		}
		if p.accept("AS") || p.isName(0) {
			name := p.ident()
			arg.Name = &name
		}
		args = append(args, arg)
		if !p.accept(",") {
			return args
		}
	}
}

// deallocate reads DEALLOCATE|DROP PREPARE name.
func (p *parser) deallocate() Statement {
	d := &Deallocate{Pos: p.advance().start}
	p.expect("PREPARE")
	d.Name = p.ident()
	return d
}
