package parse

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
