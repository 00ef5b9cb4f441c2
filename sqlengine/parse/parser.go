package parse

import (
	"strings"

	"deltasql/protocol"
)

// parser is a recursive-descent parser over a window of tokens, lexed as they are needed. Errors travel as bailout
// panics, which Parse catches; nothing is ever parsed twice, so the time is linear in the text's length.
type parser struct {
	lex      *lexer
	opts     Options
	window   []token // window[head] is the present token
	head     int
	previous token
	depth    int
	params   int      // how many ? were seen
	into     []string // variables of SELECT ... INTO @a, @b
	outer    int      // the depth of the statement's own query, where INTO may stand

	defaults    bool // the next VALUES are those of an INSERT, where DEFAULT is a value
	beforeQuery bool // a query follows the expression, so that a name before "(SELECT" is no call

	// pending is a primary expression (or FROM item) that was read before it was known what it begins: "(" may open a
	// query, a row or an expression. The next call of primary (or factor) returns it. Its text begins at pendingStart.
	pending      Expr
	pendingFrom  From
	pendingStart Pos
}

// Parse reads one statement, which a semicolon may end. Its error is a *protocol.Error with line and column.
func Parse(sql string, opts Options) (Statement, error) {
	statement, _, err := parseText(sql, opts)
	return statement, err
}

// parseText parses, and gives the parser for what it has counted.
func parseText(sql string, opts Options) (statement Statement, p *parser, err error) {
	if len(sql) > maxText {
		return nil, nil, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the statement has %d bytes, at most %d are allowed", len(sql), maxText)
	}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case bailout:
			statement, err = nil, fault.err
		default:
			statement, err = nil, protocol.NewError(protocol.ClassInternal, "the parser failed: %v", fault)
		}
	}()
	p = &parser{lex: newLexer(sql, opts), opts: opts}
	statement = p.statement()
	p.end()
	return statement, p, nil
}

// end expects the end of the text, behind at most a semicolon.
func (p *parser) end(expected ...string) {
	if p.accept(";") {
		if p.tok().kind != tokEOF {
			p.fail("the end of the text: one statement at a time")
		}
	}
	if p.tok().kind != tokEOF {
		p.fail(append(expected, "the end of the statement")...)
	}
}

// peek is the token n places on; peek(0) is the present one.
func (p *parser) peek(n int) token {
	if p.head+n >= len(p.window) {
		p.fill(n)
	}
	return p.window[p.head+n]
}

// fill reads tokens up to the one n places on.
func (p *parser) fill(n int) {
	for len(p.window) <= p.head+n {
		t, err := p.lex.next()
		if err != nil {
			p.bail(err)
		}
		p.window = append(p.window, t)
	}
}

func (p *parser) tok() token { return p.peek(0) }

func (p *parser) advance() token {
	t := p.tok()
	p.previous = t
	p.head++
	// The window is moved up only when most of it is behind, so that each token is moved a bounded number of times however far ahead
	// a statement had to be looked at.
	if p.head == len(p.window) || p.head > max(256, len(p.window)/2) {
		p.window = p.window[:copy(p.window, p.window[p.head:])]
		p.head = 0
	}
	return t
}

// text is a token as written.
func (p *parser) text(t token) string { return p.lex.sql[t.start.Offset:t.end] }

// is tells whether the present token is one of the keywords or operators.
func (p *parser) is(words ...string) bool { return p.isAt(0, words...) }

func (p *parser) isAt(n int, words ...string) bool {
	if p.head+n >= len(p.window) {
		p.fill(n)
	}
	word := p.window[p.head+n].word
	if word == "" {
		return false
	}
	for _, w := range words {
		if word == w {
			return true
		}
	}
	return false
}

// sequence tells whether the next tokens are exactly these words.
func (p *parser) sequence(words ...string) bool {
	for i, w := range words {
		if p.peek(i).word != w {
			return false
		}
	}
	return true
}

func (p *parser) accept(words ...string) bool {
	if p.is(words...) {
		p.advance()
		return true
	}
	return false
}

// acceptAll takes the words if all of them follow.
func (p *parser) acceptAll(words ...string) bool {
	if !p.sequence(words...) {
		return false
	}
	for range words {
		p.advance()
	}
	return true
}

func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			if keywords[w] == "" {
				w = "'" + w + "'"
			}
			p.fail(w)
		}
	}
}

// closeAngle takes one ">" even where the lexer read >> or >>> or >=.
func (p *parser) closeAngle() {
	t := p.tok()
	if t.kind != tokOp || !strings.HasPrefix(t.word, ">") {
		p.fail("'>'", "','")
	}
	if t.word == ">" {
		p.advance()
		return
	}
	p.previous = token{kind: tokOp, start: t.start, end: t.start.Offset + 1, word: ">"}
	t.word = t.word[1:]
	t.start.Offset++
	t.start.Column++
	p.window[p.head] = t
}

// enter guards a level of nesting; every enter has its leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.limit("the statement is nested more than %d levels deep", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) limit(format string, args ...any) {
	at := p.tok().start
	p.bail(protocol.NewError("DELTASQL_LIMIT_EXCEEDED", format, args...).At(at.Line, at.Column))
}

// chain guards the length of a chain of operators, which becomes a tree of that depth.
func (p *parser) chain(n int) {
	if n > maxChain {
		p.limit("a chain of more than %d operators", maxChain)
	}
}

// start is where the expression that is about to be read begins.
func (p *parser) start() Pos {
	if p.pending != nil {
		return p.pendingStart
	}
	return p.tok().start
}

// spanFrom is the span from start to the last token taken.
func (p *parser) spanFrom(start Pos) span { return span{Start: start, Stop: p.previous.end} }

// ---- names ----

// isName tells whether the token n places on can be a name by itself.
func (p *parser) isName(n int) bool {
	t := p.peek(n)
	switch t.kind {
	case tokQuoted:
		return true
	case tokWord:
		if t.word == "" {
			return true
		}
		if reserved[t.word] != "" {
			return false
		}
		if softWords[t.word] != "" {
			return p.opts.Dialect == Spark && !p.isAt(n+1, "BY")
		}
		return true
	case tokNumber:
		return p.digitName(t)
	}
	return false
}

// digitName tells whether a number's text may be a name as well: 10L, 1d.
func (p *parser) digitName(t token) bool {
	text := p.text(t)
	return !isDigit(text[len(text)-1]) && !strings.Contains(text, ".")
}

// take makes an Ident of the present token, whatever word it is.
func (p *parser) take() Ident {
	t := p.advance()
	if t.kind == tokQuoted {
		return Ident{Name: quotedValue(p.text(t)), Quoted: true, Pos: t.start}
	}
	return Ident{Name: p.text(t), Pos: t.start}
}

// ident reads a name of one part.
func (p *parser) ident() Ident {
	if !p.isName(0) {
		p.fail("a name")
	}
	return p.take()
}

// identList reads (a, b, c).
func (p *parser) identList() []Ident {
	p.expect("(")
	var names []Ident
	for {
		names = append(names, p.ident())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return names
}

// part reads what stands behind a dot: any word is a name there.
func (p *parser) part() Ident {
	if k := p.tok().kind; k != tokWord && k != tokQuoted {
		p.fail("a name")
	}
	return p.take()
}

// name reads a dotted name, or IDENTIFIER('a.b').
func (p *parser) name() Name {
	if p.is("IDENTIFIER") && p.isAt(1, "(") {
		return p.identifierClause()
	}
	name := Name{p.ident()}
	for p.is(".") && !p.isAt(1, "*") {
		p.advance()
		name = append(name, p.part())
		if len(name) > maxName {
			p.limit("a name of more than %d parts", maxName)
		}
	}
	return name
}

// tableName is a name of at most three parts.
func (p *parser) tableName() Name {
	at := p.tok().start
	name := p.name()
	if len(name) > 3 {
		p.bail(syntaxError(at, "a table's name has at most three parts (catalog.database.table), this one has %d", len(name)))
	}
	return name
}

// identifierClause reads IDENTIFIER('text'): the text is a name.
func (p *parser) identifierClause() Name {
	p.expect("IDENTIFIER")
	p.expect("(")
	at := p.tok().start
	if p.tok().kind != tokString && p.tok().kind != tokRaw {
		p.refuse(at, "IDENTIFIER takes a string literal here")
	}
	text := p.stringText()
	p.expect(")")
	inner := &parser{lex: newLexer(text, Options{Dialect: p.opts.Dialect, Start: at}), opts: p.opts}
	if inner.is("IDENTIFIER") {
		p.bail(syntaxError(at, "%q is no name", text))
	}
	name := inner.name()
	if inner.tok().kind != tokEOF {
		p.bail(syntaxError(at, "%q is no name", text))
	}
	for i := range name {
		name[i].Pos = at
	}
	return name
}

// stringText reads a string literal, joined with those that follow it.
func (p *parser) stringText() string {
	if k := p.tok().kind; k != tokString && k != tokRaw {
		p.fail("a string")
	}
	var parts []string
	for p.tok().kind == tokString || p.tok().kind == tokRaw {
		t := p.advance()
		parts = append(parts, stringValue(p.text(t), t.kind, p.opts))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts, "")
}

func (p *parser) isString() bool { return p.tok().kind == tokString || p.tok().kind == tokRaw }

// upper is a token's text in upper case.
func (p *parser) upper(t token) string { return strings.ToUpper(p.text(t)) }

// properties reads ( 'key' = 'value', ... ) of TBLPROPERTIES.
func (p *parser) properties() []Property {
	p.expect("(")
	var list []Property
	seen := map[string]bool{}
	for {
		at := p.tok().start
		property := Property{Key: p.propertyKey()}
		if seen[property.Key] {
			p.bail(protocol.NewError("DUPLICATE_KEY", "key %s is given twice", property.Key).At(at.Line, at.Column))
		}
		seen[property.Key] = true
		p.accept("=", "==")
		switch t := p.tok(); {
		case p.isString():
			property.Value = p.stringText()
		case t.kind == tokNumber || p.is("TRUE", "FALSE"):
			p.advance()
			property.Value = p.text(t)
		case p.is("-") && p.peek(1).kind == tokNumber:
			p.advance()
			property.Value = "-" + p.text(p.advance())
		default:
			p.fail("a string", "a number", "TRUE", "FALSE")
		}
		list = append(list, property)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return list
}

// propertyKey reads 'a.b' or a.b.
func (p *parser) propertyKey() string {
	if p.isString() {
		return p.stringText()
	}
	key := p.part().Name
	for p.accept(".", "-") {
		key += p.previous.word
		key += p.part().Name
	}
	return key
}
