package parse

// Pos is a place in the statement's text: byte offset, and 1-based line and column (in characters).
type Pos struct{ Offset, Line, Column int }

// Ident is one part of a name, as written; Quoted tells `a` from a.
type Ident struct {
	Name   string
	Quoted bool
	Pos    Pos
}

// Name is a dotted name, outermost part first.
type Name []Ident

// Statement is anything that ends with a semicolon.
type Statement interface{ statement() }

// Expr is a scalar, aggregate or window expression as written; nothing is resolved or typed yet.
type Expr interface {
	expr()
	// At is where the expression begins; End is the byte offset behind its last character.
	At() Pos
	End() int
}

// span is embedded by every expression.
type span struct {
	Start Pos
	Stop  int
}

func (s span) At() Pos  { return s.Start }
func (s span) End() int { return s.Stop }
func (span) expr()      {}
