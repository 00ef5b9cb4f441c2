package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deltasql/protocol"
)

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokWord
	tokQuoted // `x`, or "x" under ANSI_QUOTES
	tokString
	tokRaw // r'..'
	tokNumber
	tokBinary   // x'..', 0x..
	tokBit      // b'..', 0b..
	tokVariable // @x, @@x
	tokOp       // operators and punctuation
	tokComment  // only in the highlighter's mode
)

// token is a piece of the text. Its value is decoded on demand, so that a token costs no memory beyond this struct.
type token struct {
	kind  tokenKind
	start Pos
	end   int    // byte offset behind the token
	word  string // a keyword in upper case, for tokWord; the operator, for tokOp
}

// lexer reads tokens from a text. Comments are skipped unless keep is set, executable comments are read as text.
type lexer struct {
	sql        string
	opts       Options
	at         Pos // the next character
	executable bool
	keep       bool
	last       token // the token before, for the rules of "." and "--"
	blankLine  bool  // only blanks and comments so far on this line
}

func newLexer(sql string, opts Options) *lexer {
	at := Pos{Line: 1, Column: 1}
	if opts.Start.Line > 0 {
		at.Line, at.Column = opts.Start.Line, opts.Start.Column
	}
	lx := &lexer{sql: sql, opts: opts, at: at, blankLine: true}
	if strings.HasPrefix(sql, "\uFEFF") {
		lx.at.Offset = len("\uFEFF")
	}
	return lx
}

// move goes n bytes on and keeps the position.
func (lx *lexer) move(n int) {
	text := lx.sql[lx.at.Offset : lx.at.Offset+n]
	lx.at.Offset += n
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		lx.at.Line += strings.Count(text, "\n")
		lx.at.Column = 1
		text = text[i+1:]
	}
	lx.at.Column += utf8.RuneCountInString(text)
}

func (lx *lexer) rest() string { return lx.sql[lx.at.Offset:] }

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// wordLength is the length of the longest run of word characters at the start of s: letters, digits, _, $ and
// everything above ASCII that is no blank.
func wordLength(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '$' {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Pi, r) || unicode.Is(unicode.Pf, r) || r == '\uFEFF' || r == '\u200B' {
			return i
		}
		i += size
	}
	return len(s)
}

// next reads a token.
func (lx *lexer) next() (token, *protocol.Error) {
	for {
		if t, ok, err := lx.skipBlank(); err != nil || ok {
			return t, err
		}
		s := lx.rest()
		if s == "" {
			break
		}
		if lx.executable && strings.HasPrefix(s, "*/") {
			start := lx.at
			lx.move(2)
			lx.executable = false
			if lx.keep {
				return token{kind: tokComment, start: start, end: lx.at.Offset}, nil
			}
			continue
		}
		t, err := lx.token(s)
		if err == nil {
			lx.last, lx.blankLine = t, false
		}
		return t, err
	}
	return token{kind: tokEOF, start: lx.at, end: lx.at.Offset}, nil
}

// skipBlank skips blanks and comments; in the highlighter's mode it returns comments as tokens.
func (lx *lexer) skipBlank() (t token, ok bool, err *protocol.Error) {
	for {
		s := lx.rest()
		if s == "" {
			return t, false, nil
		}
		n := 0
		switch c := s[0]; {
		case c == '\n':
			lx.move(1)
			lx.blankLine = true
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			lx.move(1)
			continue
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s)
			if !unicode.IsSpace(r) && r != '\uFEFF' && r != '\u200B' {
				return t, false, nil
			}
			lx.move(size)
			continue
		case c == '#' || strings.HasPrefix(s, "--") && lx.dashesComment(s):
			if n = strings.IndexByte(s, '\n'); n < 0 {
				n = len(s)
			}
		case strings.HasPrefix(s, "/*"):
			skip, run := executableComment(s)
			if run && !lx.executable {
				lx.executable = true
				n = skip
			} else if n = blockComment(s, lx.opts.Dialect == Spark); n < 0 {
				return t, false, syntaxError(lx.at, "the comment that begins here has no end").WithHint("close it with */")
			}
		default:
			return t, false, nil
		}
		start := lx.at
		lx.move(n)
		if lx.keep {
			return token{kind: tokComment, start: start, end: lx.at.Offset}, true, nil
		}
	}
}

// dashesComment tells whether "--" at the start of s begins a comment. In Spark it always does. In MySQL 5--3 is
// 5 - (-3), so there a blank must follow, or nothing else may stand before it on its line.
func (lx *lexer) dashesComment(s string) bool {
	return lx.opts.Dialect == Spark || lx.blankLine || len(s) == 2 || s[2] <= ' '
}

// executableComment tells whether s begins with an executable comment that is to be read, and how long its opening is.
func executableComment(s string) (opening int, run bool) {
	if !strings.HasPrefix(s, "/*!") {
		return 0, false
	}
	n, version := 3, 0
	for n < len(s) && n < 9 && isDigit(s[n]) {
		version = version*10 + int(s[n]-'0')
		n++
	}
	return n, version <= executableVersion
}

// blockComment is the length of the comment at the start of s, or -1 if it has no end.
func blockComment(s string, nested bool) int {
	depth := 0
	for i := 0; i < len(s)-1; i++ {
		switch {
		case s[i] == '*' && s[i+1] == '/' && i > 1:
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		case s[i] == '/' && s[i+1] == '*' && (nested || depth == 0):
			i++
			depth++
		}
	}
	return -1
}

// operators are the ones of several characters, longest first.
var operators = []string{
	"<=>", ">>>", "->>", "<=", ">=", "<>", "!=", "==", "<<", ">>", "||", "&&", "->", "=>", ":=", "::", "|>",
}

const singles = "+-*/%^&|~!=<>()[]{},.;:?"

// token reads the token at the start of s, which is not empty and begins with no blank.
func (lx *lexer) token(s string) (token, *protocol.Error) {
	t := token{start: lx.at}
	take := func(kind tokenKind, n int, word string) (token, *protocol.Error) {
		lx.move(n)
		t.kind, t.end, t.word = kind, lx.at.Offset, word
		return t, nil
	}
	c := s[0]
	afterDot := lx.last.kind == tokOp && lx.last.word == "." && lx.last.end == lx.at.Offset
	switch {
	case c == '\'' || c == '"' && !lx.opts.AnsiQuotes:
		return lx.quoted(s, 0, tokString)
	case c == '`' || c == '"':
		t, err := lx.quoted(s, 0, tokQuoted)
		if err == nil {
			if n := timeTravelSuffix(lx.rest()); n > 0 {
				lx.move(n)
				t.end = lx.at.Offset
			}
		}
		return t, err
	case c == '@':
		return lx.variable(s)
	case (isDigit(c) || c == '.' && isDigit(byteAt(s, 1)) && !lx.dotOfName()) && !afterDot:
		if n, kind := number(s); n > 0 {
			return take(kind, n, "")
		}
	case c == '.' || strings.IndexByte(singles, c) >= 0:
		for _, op := range operators {
			if strings.HasPrefix(s, op) {
				return take(tokOp, len(op), op)
			}
		}
		return take(tokOp, 1, s[:1])
	}
	n := wordLength(s)
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(s)
		err := syntaxError(lx.at, "unexpected character %q", r)
		if unicode.Is(unicode.Pi, r) || unicode.Is(unicode.Pf, r) {
			err.WithHint("write plain quotes: ' or \"")
		}
		return t, err
	}
	if quote := byteAt(s, n); n == 1 && (quote == '\'' || quote == '"' && !lx.opts.AnsiQuotes) && !afterDot {
		switch c | 0x20 {
		case 'x':
			return lx.quoted(s, 1, tokBinary)
		case 'b':
			return lx.quoted(s, 1, tokBit)
		case 'n':
			return lx.quoted(s, 1, tokString)
		case 'r':
			if lx.opts.Dialect == Spark {
				return lx.quoted(s, 1, tokRaw)
			}
		}
	}
	word := keyword(s[:n])
	return take(tokWord, n+timeTravelSuffix(s[n:]), word)
}

// dotOfName tells whether a "." right here continues a name, so that t.1a is a name and not t followed by .1.
func (lx *lexer) dotOfName() bool {
	return lx.last.end == lx.at.Offset && (lx.last.kind == tokWord || lx.last.kind == tokQuoted)
}

// timeTravelSuffix is the length of @v12 or @20260131235959000 at the start of s, which is part of a table's name.
func timeTravelSuffix(s string) int {
	if byteAt(s, 0) != '@' {
		return 0
	}
	n := wordLength(s[1:]) + 1
	digits := s[1:n]
	if n > 2 && s[1]|0x20 == 'v' {
		digits = s[2:n]
	} else if n != 18 {
		return 0
	}
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return 0
		}
	}
	return n
}
