package main

import (
	"strings"

	"deltasql/sqlengine/parse"
)

// colors are the terminal's colours of the token classes; classes without an entry stay plain.
var colors = map[parse.TokenClass]string{
	parse.KeywordToken:  "\x1b[1;34m",
	parse.StringToken:   "\x1b[32m",
	parse.NumberToken:   "\x1b[36m",
	parse.CommentToken:  "\x1b[90m",
	parse.VariableToken: "\x1b[35m",
	parse.BrokenToken:   "\x1b[31m",
}

// highlight colours a text of SQL while it is edited.
func highlight(text string, options parse.Options) string {
	var out strings.Builder
	at := 0
	for _, token := range parse.Tokens(text, options) {
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
