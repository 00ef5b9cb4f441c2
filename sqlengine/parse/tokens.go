package parse

import (
	"strings"

	"deltasql/protocol"
)

// TokensJoined gives the tokens of an expression joined by one blank each, as a table's CHECK constraints are stored: `SIZE(l) <= 2`
// is `SIZE ( l ) <= 2`, `s.a` is `s . a`. Comments are left out. Every engine reads the text as Spark does, whatever the session's
// settings were, so what a setting gave another meaning is written in Spark's way: "x" as a name under ANSI_QUOTES, a plain backslash,
// and || and && as MySQL's OR and AND.
func TokensJoined(text string, o Options) (string, error) {
	if len(text) > maxText {
		return "", protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the expression has %d bytes, at most %d are allowed", len(text), maxText)
	}
	lex := newLexer(text, o)
	var parts []string
	for {
		t, err := lex.next()
		if err != nil {
			return "", err
		}
		if t.kind == tokEOF {
			break
		}
		parts = append(parts, sparkToken(text[t.start.Offset:t.end], t, o))
	}
	if len(parts) == 0 {
		return "", syntaxError(lex.at, "the expression is empty")
	}
	return strings.Join(parts, " "), nil
}

// sparkToken is a token as Spark reads it.
func sparkToken(text string, t token, o Options) string {
	switch {
	case t.kind == tokQuoted && text[0] == '"':
		return quoteIdent(quotedValue(text))
	case t.kind == tokString && o.NoBackslashEscapes && strings.Contains(text, `\`):
		return strings.ReplaceAll(text, `\`, `\\`)
	case t.word == "||" && o.Dialect == MySQL && !o.PipesAsConcat:
		return "OR"
	case t.word == "&&":
		return "AND"
	}
	return text
}
