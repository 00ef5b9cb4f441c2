package parse

import (
	"slices"

	"deltasql/protocol"
)

// textFrom is the source between a place and the last token taken.
func (p *parser) textFrom(start Pos) string {
	return p.lex.sql[start.Offset:max(start.Offset, p.previous.end)]
}

// exprText reads an expression and keeps its text.
func (p *parser) exprText() (Expr, string) {
	start := p.tok().start
	e := p.expr()
	return e, p.textFrom(start)
}

// storedText reads an expression that is stored as text.
func (p *parser) storedText() Text {
	at := p.tok().start
	e, text := p.exprText()
	return Text{Expr: e, Text: text, Pos: at}
}

// valueOrDefault reads a value, or the keyword DEFAULT where one may stand: in VALUES of INSERT, in SET and in MERGE.
func (p *parser) valueOrDefault() Expr {
	if !p.is("DEFAULT") || p.isAt(1, "(", ".") {
		return p.expr()
	}
	at := p.advance().start
	if p.tok().kind == tokOp && !p.is(",", ")", ";") {
		p.bail(syntaxError(at, "DEFAULT stands alone as a value, not in an expression").
			WithHint("quote it as `%s` if a column of that name is meant", p.text(p.previous)))
	}
	return &DefaultValue{span: p.spanFrom(at)}
}

// clauses refuses clauses that are given twice.
type clauses map[string]bool

func (p *parser) once(seen clauses, what string, at Pos) {
	if seen[what] {
		p.bail(protocol.NewError("DUPLICATE_CLAUSES", "clause %s is given twice", what).At(at.Line, at.Column).WithHint("remove one of them"))
	}
	seen[what] = true
}

// ignore makes a clause without effect of the source from start on.
func (p *parser) ignore(start Pos) Ignored { return Ignored{Pos: start, What: p.textFrom(start)} }

// ifExists and ifNotExists read these words.
func (p *parser) ifExists() bool    { return p.acceptAll("IF", "EXISTS") }
func (p *parser) ifNotExists() bool { return p.acceptAll("IF", "NOT", "EXISTS") }

// textLiteral reads a string literal into a new variable.
func (p *parser) textLiteral() *string {
	text := p.stringText()
	return &text
}

// nameList reads a, b.c, d.
func (p *parser) nameList() []Name {
	names := []Name{p.name()}
	for p.accept(",") {
		names = append(names, p.name())
	}
	return names
}

// names reads (a, b.c).
func (p *parser) names() []Name {
	p.expect("(")
	names := p.nameList()
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return names
}

// tableNames reads t, u, v.
func (p *parser) tableNames() []Name {
	names := []Name{p.tableName()}
	for p.accept(",") {
		names = append(names, p.tableName())
	}
	return names
}

// integer reads a signed integer.
func (p *parser) integer() *int64 {
	t := p.tok()
	sign := int64(1)
	if p.is("-", "+") {
		if p.advance().word == "-" {
			sign = -1
		}
	}
	kind, text, suffix := IntegerLiteral, "", ""
	if p.tok().kind == tokNumber {
		kind, text, suffix = numberValue(p.text(p.tok()))
	}
	n, ok := wholeNumber(text, sign)
	if p.tok().kind != tokNumber || kind != IntegerLiteral || suffix != "" && suffix != "L" || !ok {
		p.bail(syntaxError(t.start, "unexpected %s, expected an integer of 64 bits", p.describe(p.tok())))
	}
	p.advance()
	return &n
}

// wholeNumber turns digits into a number of 64 bits.
func wholeNumber(digits string, sign int64) (int64, bool) {
	n := int64(0)
	for i := range len(digits) {
		d := sign * int64(digits[i]-'0')
		next := n*10 + d
		if next/10 != n || sign > 0 && next < n || sign < 0 && next > n {
			return 0, false
		}
		n = next
	}
	return n, digits != ""
}

// noTimeTravel refuses a time travel clause behind a table that is to be changed.
func (p *parser) noTimeTravel() {
	if p.startsAsOf() {
		p.bail(syntaxError(p.tok().start, "unexpected %s: only the newest version of a table can be changed", p.describe(p.tok())))
	}
}

// endsAt tells whether one of the words stands n places on, or the statement ends there.
func (p *parser) endsAt(n int, words ...string) bool {
	t := p.peek(n)
	return t.kind == tokEOF || t.kind == tokOp && t.word == ";" || t.word != "" && slices.Contains(words, t.word)
}
