package parse

import "unicode/utf8"

// TokenClass is what a token is shown as.
type TokenClass uint8

// The classes.
const (
	KeywordToken TokenClass = iota
	IdentifierToken
	StringToken
	NumberToken
	CommentToken
	OperatorToken
	VariableToken
	BrokenToken // an unterminated string or comment, a stray character
)

// Token is a piece of a text for highlighting: its bytes are sql[Start:End].
type Token struct {
	Class      TokenClass
	Start, End int
}

// Tokens cuts a text, whole or unfinished, into tokens in order. Blanks are in none of them.
func Tokens(sql string, opts Options) []Token {
	opts.Start = Pos{}
	lx := newLexer(sql, opts)
	lx.keep = true
	var tokens []Token
	for {
		at := lx.at
		t, err := lx.next()
		if err != nil {
			at = lx.at // behind the blanks that were skipped
			n := len(sql) - at.Offset
			if c := sql[at.Offset]; c != '\'' && c != '"' && c != '`' && c != '/' && c|0x20 != 'x' && c|0x20 != 'b' && c|0x20 != 'n' && c|0x20 != 'r' {
				_, n = utf8.DecodeRuneInString(sql[at.Offset:])
			}
			lx.move(n)
			tokens = append(tokens, Token{Class: BrokenToken, Start: at.Offset, End: lx.at.Offset})
			continue
		}
		if t.kind == tokEOF {
			return tokens
		}
		tokens = append(tokens, Token{Class: classOf(t, tokens, sql), Start: t.start.Offset, End: t.end})
	}
}

func classOf(t token, before []Token, sql string) TokenClass {
	switch t.kind {
	case tokWord:
		if t.word == "" || len(before) > 0 && sql[before[len(before)-1].Start:before[len(before)-1].End] == "." {
			return IdentifierToken
		}
		return KeywordToken
	case tokQuoted:
		return IdentifierToken
	case tokString, tokRaw, tokBinary, tokBit:
		return StringToken
	case tokNumber:
		return NumberToken
	case tokComment:
		return CommentToken
	case tokVariable:
		return VariableToken
	}
	return OperatorToken
}
