package main

import (
	"strings"

	"deltasql/sqlengine/parse"
)

// colors are the terminal's colours of the token classes; classes without an entry stay plain.
var colors = map[parse.TokenClass]string{
	parse.KeywordToken:    "\x1b[1;34m",
	parse.StringToken:     "\x1b[32m",
	parse.NumberToken:     "\x1b[36m",
	parse.CommentToken:    "\x1b[90m",
	parse.IdentifierToken: "",
}

// highlight colours a line of SQL while it is edited; text that does not lex stays as it is.
func highlight(line []rune) string {
	text := string(line)
	var out strings.Builder
	at := 0
	for _, token := range parse.Tokens(text) {
		color := colors[token.Class]
		if color == "" {
			continue
		}
		out.WriteString(text[at:token.Start])
		out.WriteString(color + text[token.Start:token.End] + "\x1b[0m")
		at = token.End
	}
	out.WriteString(text[at:])
	return out.String()
}
