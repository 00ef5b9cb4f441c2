package protocol

import "strings"

// DeclaredLengths reads what a field's __CHAR_VARCHAR_TYPE_STRING says of a type, such as array<struct<a:varchar(3),b:int>>: for each
// string in the type, in the order in which they stand there, "char(n)", "varchar(n)" or "". false is that the text is not of the type.
// Names may differ, since some writers leave the text as it is when they rename a member; their number and the shape may not.
func DeclaredLengths(text string, t DataType) ([]string, bool) {
	r := declaredReader{text: text}
	r.read(&t)
	return r.lengths, !r.failed && strings.TrimSpace(r.text) == ""
}

// DeclaredText is the text for a type whose strings were declared so; "" where all of them are plain. Strings beyond the list are plain.
func DeclaredText(t DataType, lengths []string) string {
	var out strings.Builder
	declared := false
	var write func(t *DataType)
	write = func(t *DataType) {
		switch t.Kind {
		case KindArray:
			out.WriteString("array<")
			write(t.Element)
			out.WriteByte('>')
		case KindMap:
			out.WriteString("map<")
			write(t.Key)
			out.WriteByte(',')
			write(t.Value)
			out.WriteByte('>')
		case KindStruct:
			out.WriteString("struct<")
			for i := range t.Fields {
				if i > 0 {
					out.WriteByte(',')
				}
				out.WriteString(string(t.Fields[i].Name) + ":")
				write(&t.Fields[i].Type)
			}
			out.WriteByte('>')
		case KindString:
			length := ""
			if len(lengths) > 0 {
				length, lengths = lengths[0], lengths[1:]
			}
			if length != "" {
				declared = true
				out.WriteString(length)
				return
			}
			out.WriteString(t.String())
		case KindFile:
			out.WriteString("file") // the storage mode has a key of its own
		default:
			out.WriteString(t.String())
		}
	}
	write(&t)
	if !declared {
		return ""
	}
	return out.String()
}

type declaredReader struct {
	text    string
	lengths []string
	failed  bool
}

func (r *declaredReader) read(t *DataType) {
	switch t.Kind {
	case KindArray:
		r.expect("array<")
		r.read(t.Element)
		r.expect(">")
	case KindMap:
		r.expect("map<")
		r.read(t.Key)
		r.expect(",")
		r.read(t.Value)
		r.expect(">")
	case KindStruct:
		r.expect("struct<")
		for i := range t.Fields {
			if i > 0 {
				r.expect(",")
			}
			r.member(string(t.Fields[i].Name))
			r.read(&t.Fields[i].Type)
			r.skipTo(",>") // a comment
		}
		r.expect(">")
	case KindString:
		word := strings.ToLower(strings.TrimSpace(r.skipTo(",>")))
		if end := strings.IndexByte(word, ')'); isCharVarchar(word) && end > 0 {
			word = word[:end+1] // without a comment
		} else {
			word = ""
		}
		r.lengths = append(r.lengths, word)
	default:
		r.skipTo(",>")
	}
}

func (r *declaredReader) expect(word string) {
	r.text = strings.TrimLeft(r.text, " ")
	if len(r.text) < len(word) || !strings.EqualFold(r.text[:len(word)], word) {
		r.failed = true
		return
	}
	r.text = r.text[len(word):]
}

// member passes over a name and its colon: the given one, or whatever else stands there.
func (r *declaredReader) member(name string) {
	r.text = strings.TrimLeft(r.text, " ")
	for _, form := range []string{name, "`" + strings.ReplaceAll(name, "`", "``") + "`"} {
		if rest, ok := strings.CutPrefix(r.text, form+":"); ok {
			r.text = rest
			return
		}
	}
	if len(r.skipTo(":,>")) == 0 {
		r.failed = true
	}
	r.expect(":")
}

// skipTo reads up to one of some characters that stands outside of parentheses and back quotes.
func (r *declaredReader) skipTo(ends string) string {
	depth, quoted := 0, false
	for i := range len(r.text) {
		switch c := r.text[i]; {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && strings.IndexByte(ends, c) >= 0:
			word := r.text[:i]
			r.text = r.text[i:]
			return word
		}
	}
	word := r.text
	r.text = ""
	return word
}
