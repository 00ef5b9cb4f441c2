package parse

import (
	"strings"

	"deltasql/protocol"
)

// quoted reads a quoted token whose quote is at s[at]; the quote is doubled, or escaped where escapes count.
func (lx *lexer) quoted(s string, at int, kind tokenKind) (token, *protocol.Error) {
	quote := s[at]
	escapes := kind == tokString && !lx.opts.NoBackslashEscapes
	for i := at + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && escapes:
			i++
		case s[i] == quote && kind != tokRaw && byteAt(s, i+1) == quote:
			i++
		case s[i] == quote:
			t := token{kind: kind, start: lx.at}
			lx.move(i + 1)
			t.end = lx.at.Offset
			return t, nil
		}
	}
	what := "string"
	if kind == tokQuoted {
		what = "quoted name"
	}
	return token{}, syntaxError(lx.at, "the %s that begins here has no end", what).WithHint("close it with %c", quote)
}

// variable reads @name, @'name', @`name`, @@name and @@scope.name.
func (lx *lexer) variable(s string) (token, *protocol.Error) {
	t := token{kind: tokVariable, start: lx.at}
	n := 1
	if byteAt(s, 1) == '@' {
		n = 2
	}
	for {
		switch c := byteAt(s, n); c {
		case '\'', '"', '`':
			end := strings.IndexByte(s[n+1:], c)
			if end < 0 {
				return t, syntaxError(lx.at, "the quoted name that begins here has no end").WithHint("close it with %c", c)
			}
			n += end + 2
		default:
			n += wordLength(s[n:])
		}
		if byteAt(s, n) != '.' || wordLength(s[n+1:]) == 0 && byteAt(s, n+1) != '`' {
			break
		}
		n++
	}
	if n <= 2 && s[n-1] == '@' {
		return t, syntaxError(lx.at, "unexpected '@'").WithHint("a variable is written @name or @@name")
	}
	lx.move(n)
	t.end = lx.at.Offset
	return t, nil
}

// number is the length and kind of the number at the start of s; 0 if it is a name that begins with a digit.
func number(s string) (int, tokenKind) {
	if s[0] == '0' && (byteAt(s, 1) == 'x' || byteAt(s, 1) == 'b') {
		hex := s[1] == 'x'
		n := 2
		for n < len(s) && (hex && isHex(s[n]) || !hex && (s[n] == '0' || s[n] == '1')) {
			n++
		}
		if n > 2 && wordLength(s[n:]) == 0 {
			if hex {
				return n, tokBinary
			}
			return n, tokBit
		}
	}
	n := digits(s)
	whole := n
	fraction := false
	if byteAt(s, n) == '.' && (wordLength(s[n+1:]) == 0 || isDigit(byteAt(s, n+1)) || numberTail(s[n+1:])) && byteAt(s, n+1) != '.' {
		fraction = true
		n++
		n += digits(s[n:])
	}
	if e := byteAt(s, n) | 0x20; e == 'e' {
		m := n + 1
		if sign := byteAt(s, m); sign == '+' || sign == '-' {
			m++
		}
		if d := digits(s[m:]); d > 0 {
			n = m + d
			fraction = true
		}
	}
	tail := wordLength(s[n:])
	switch strings.ToUpper(s[n : n+min(tail, 2)]) {
	case "":
		return n, tokNumber
	case "L", "S", "Y":
		if !fraction && tail == 1 {
			return n + 1, tokNumber
		}
	case "D", "F":
		if tail == 1 {
			return n + 1, tokNumber
		}
	case "BD":
		if tail == 2 {
			return n + 2, tokNumber
		}
	}
	if fraction || whole == 0 {
		return n, tokNumber // the parser refuses what follows
	}
	return 0, tokWord
}

// numberTail tells whether the word at the start of s may follow "1.": an exponent or a suffix.
func numberTail(s string) bool {
	word := strings.ToUpper(s[:wordLength(s)])
	switch word {
	case "D", "F", "BD":
		return true
	}
	return strings.HasPrefix(word, "E") && (digits(word[1:]) > 0 || len(word) == 1 && (byteAt(s, 1) == '+' || byteAt(s, 1) == '-') && isDigit(byteAt(s, 2)))
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
