package parse

// Kill is KILL [CONNECTION | QUERY] id.
type Kill struct {
	Pos   Pos
	Query bool // the statement that the session runs, not the session
	ID    Expr
}

func (*Kill) statement() {}

func (p *parser) kill() Statement {
	k := &Kill{Pos: p.advance().start}
	if p.is("QUERY", "CONNECTION") {
		k.Query = p.advance().word == "QUERY"
	}
	k.ID = p.expr()
	return k
}
