package meta

import (
	"strings"

	"deltasql/protocol"
)

// lengthReader reads a type as Spark keeps it where CHAR and VARCHAR are inside, such as array<struct<a:varchar(3),b:int>>, along the
// type that the schema has. Names, NOT NULL and comments are the schema's: the kept text has names without quotes, and nothing else.
type lengthReader struct {
	text   string
	failed bool // the text is not of this type: what is read from then on is the schema's
}

// stringType is what a text was declared as.
func (r *lengthReader) stringType(t protocol.DataType) string {
	plain := "STRING"
	if t.Collation != "" {
		plain += " COLLATE " + t.Collation
	}
	if r == nil || r.failed {
		return plain
	}
	word := strings.ToUpper(r.scalar())
	switch {
	case !strings.HasPrefix(word, "CHAR(") && !strings.HasPrefix(word, "VARCHAR("):
		return plain
	case t.Collation != "":
		return word + " COLLATE " + t.Collation
	}
	return word
}

// expect passes over what the type's shape says must come.
func (r *lengthReader) expect(word string) {
	if r == nil || r.failed {
		return
	}
	rest := strings.TrimLeft(r.text, " ")
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		r.failed = true
		return
	}
	r.text = rest[len(word):]
}

// member passes over a member's name and the colon; a name that it had before, where a writer left the text behind.
func (r *lengthReader) member(name string) {
	if r == nil || r.failed {
		return
	}
	r.text = strings.TrimLeft(r.text, " ")
	for _, form := range []string{name, quoteAlways(name)} {
		if rest, ok := strings.CutPrefix(r.text, form); ok && strings.HasPrefix(rest, ":") {
			r.text = rest[1:]
			return
		}
	}
	if at := strings.IndexAny(r.text, ":,<>"); at > 0 && r.text[at] == ':' {
		r.text = r.text[at+1:]
		return
	}
	r.failed = true
}

// scalar reads a type without parts, up to what separates it from the next.
func (r *lengthReader) scalar() string {
	if r == nil || r.failed {
		return ""
	}
	depth, end := 0, len(r.text)
scan:
	for i := range len(r.text) {
		switch r.text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',', '>':
			if depth == 0 {
				end = i
				break scan
			}
		}
	}
	word := strings.TrimSpace(r.text[:end])
	r.text = r.text[end:]
	return word
}
