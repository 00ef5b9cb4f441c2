package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deltasql/protocol"
)

func syntaxError(at Pos, format string, args ...any) *protocol.Error {
	return protocol.NewError("PARSE_SYNTAX_ERROR", format, args...).At(at.Line, at.Column)
}

// bailout carries an error up to Parse. It never leaves the package.
type bailout struct{ err *protocol.Error }

func (p *parser) bail(err *protocol.Error) { panic(bailout{err}) }

// fail refuses the present token; expected lists what could stand there.
func (p *parser) fail(expected ...string) {
	t := p.tok()
	err := syntaxError(t.start, "unexpected %s%s", p.describe(t), expectation(expected))
	if hint := p.hint(t, expected); hint != "" {
		err.WithHint("%s", hint)
	}
	p.bail(err)
}

// refuse is for what the grammar knows and this product does not do.
func (p *parser) refuse(at Pos, format string, args ...any) {
	p.bail(protocol.NewError("UNSUPPORTED_FEATURE", format, args...).At(at.Line, at.Column))
}

func expectation(expected []string) string {
	switch len(expected) {
	case 0:
		return ""
	case 1:
		return ", expected " + expected[0]
	}
	last := len(expected) - 1
	return ", expected " + strings.Join(expected[:last], ", ") + " or " + expected[last]
}

// describe names a token in a message: its text, cut where it is long.
func (p *parser) describe(t token) string {
	if t.kind == tokEOF || t.kind == tokOp && t.word == ";" {
		return "end of the statement"
	}
	text := p.lex.sql[t.start.Offset:t.end]
	const most = 40
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "..."
	}
	if t.kind == tokString || t.kind == tokQuoted {
		return text
	}
	return "'" + text + "'"
}

// hint guesses what was meant: a comma too many, or a keyword a letter away from what stands at t or just before it.
func (p *parser) hint(t token, expected []string) string {
	if p.previous.kind == tokOp && p.previous.word == "," && (t.word == "FROM" || t.word == ")" || t.kind == tokEOF) {
		return "remove the comma before it"
	}
	var words []string
	for _, e := range expected {
		if first, _, _ := strings.Cut(e, " "); keywords[first] != "" {
			words = append(words, first)
		}
	}
	if t.kind == tokWord {
		text := p.text(t)
		if near := Meant(text, words); near != "" {
			return "did you mean " + near + "?"
		}
		name := reserved[t.word] != "" && slices.Contains(expected, "a name")
		if name || softWords[t.word] != "" && slices.Contains(expected, "an expression") {
			return "quote it as `" + text + "` to use it as a name"
		}
	}
	if p.previous.kind == tokWord && p.previous.word == "" {
		text := p.text(p.previous)
		clauses := []string{"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "UNION", "QUALIFY", "BETWEEN", "VALUES"}
		if near := Meant(text, clauses); near != "" {
			return "did you mean " + near + " instead of " + text + "?"
		}
	}
	return ""
}
