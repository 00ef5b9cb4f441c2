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
		if near := nearest(text, words); near != "" {
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
		if near := nearest(text, clauses); near != "" {
			return "did you mean " + near + " instead of " + text + "?"
		}
	}
	return ""
}

// nearest is the word at the smallest edit distance from text: at most 1 for words of up to four letters, else 2.
func nearest(text string, words []string) string {
	text = strings.ToUpper(text)
	best, found := 3, ""
	for _, word := range words {
		most := 2
		if len(word) <= 4 {
			most = 1
		}
		if len(text) > 32 || word == text {
			continue
		}
		if d := distance(text, word); d <= most && d < best {
			best, found = d, word
		}
	}
	return found
}

// distance counts insertions, deletions, replacements and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var earlier []int
	for i := 1; i <= len(a); i++ {
		earlier, before = before, row
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], earlier[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
