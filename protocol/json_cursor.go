package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds nesting in everything parsed here; the deepest legal document is a schema (see maxSchemaDepth).
const maxJSONDepth = 1600

// jsonCursor is a strict pull reader over one JSON text (RFC 8259).
// The decoders of this package are written on it rather than on a reflecting library for three reasons: member names are
// matched exactly (the standard library also accepts "PATH" for "path"), a member given twice is noticed, and every
// complaint can name the member. It allocates only for strings that are kept.
type jsonCursor struct {
	data    []byte
	pos     int
	depth   int
	scratch []byte // the last string that had escapes; see rawString
}

// jsonFault is a syntax or type error at a byte offset, with the path of members that leads to it.
type jsonFault struct {
	offset int
	path   string
	text   string
}

func (f *jsonFault) Error() string {
	if f.path == "" {
		return fmt.Sprintf("%s (byte %d)", f.text, f.offset)
	}
	return fmt.Sprintf("%s: %s (byte %d)", f.path, f.text, f.offset)
}

// within puts a member's name in front of the fault's path, on the way up. Long names, which come from outside as the rest
// does, are cut.
func within(name string, err error) error {
	if f, ok := err.(*jsonFault); ok {
		name = shorten(name)
		switch {
		case f.path == "":
			f.path = name
		case f.path[0] == '[':
			f.path = name + f.path
		default:
			f.path = name + "." + f.path
		}
	}
	return err
}

func (c *jsonCursor) fault(format string, args ...any) error {
	return &jsonFault{offset: c.pos, text: fmt.Sprintf(format, args...)}
}

func (c *jsonCursor) skipSpace() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

// peek is the first byte of the next token, 0 at the end.
func (c *jsonCursor) peek() byte {
	c.skipSpace()
	if c.pos >= len(c.data) {
		return 0
	}
	return c.data[c.pos]
}

// kindOf names the value that starts with b, for messages.
func kindOf(b byte) string {
	switch {
	case b == '"':
		return "a string"
	case b == '{':
		return "an object"
	case b == '[':
		return "an array"
	case b == 't' || b == 'f':
		return "a boolean"
	case b == 'n':
		return "null"
	case b == '-' || b >= '0' && b <= '9':
		return "a number"
	case b == 0:
		return "the end of the text"
	}
	return fmt.Sprintf("%q", b)
}

func (c *jsonCursor) expected(what string) error {
	return c.fault("expected %s, found %s", what, kindOf(c.peek()))
}

// null consumes a null if that is what comes.
func (c *jsonCursor) null() bool {
	if c.peek() == 'n' && bytes.HasPrefix(c.data[c.pos:], []byte("null")) {
		c.pos += 4
		return true
	}
	return false
}

// object calls member with each member's name, the cursor standing at its value, which member must consume.
// The name is valid only until the next string is read.
func (c *jsonCursor) object(member func(name []byte) error) error {
	if c.peek() != '{' {
		return c.expected("an object")
	}
	if c.depth++; c.depth > maxJSONDepth {
		return c.fault("nesting exceeds %d levels", maxJSONDepth)
	}
	c.pos++
	if c.peek() == '}' {
		c.pos++
		c.depth--
		return nil
	}
	for {
		if c.peek() != '"' {
			return c.expected("a member name")
		}
		name, err := c.rawString()
		if err != nil {
			return err
		}
		if c.peek() != ':' {
			return c.expected("':'")
		}
		c.pos++
		if err := member(name); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.pos++
		case '}':
			c.pos++
			c.depth--
			return nil
		default:
			return c.expected("',' or '}'")
		}
	}
}

// array calls element for each element, the cursor standing at it.
func (c *jsonCursor) array(element func(index int) error) error {
	if c.peek() != '[' {
		return c.expected("an array")
	}
	if c.depth++; c.depth > maxJSONDepth {
		return c.fault("nesting exceeds %d levels", maxJSONDepth)
	}
	c.pos++
	if c.peek() == ']' {
		c.pos++
		c.depth--
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
		switch c.peek() {
		case ',':
			c.pos++
		case ']':
			c.pos++
			c.depth--
			return nil
		default:
			return c.expected("',' or ']'")
		}
	}
}

// str reads a string value into fresh memory.
func (c *jsonCursor) str() (string, error) {
	if c.peek() != '"' {
		return "", c.expected("a string")
	}
	raw, err := c.rawString()
	return string(raw), err
}

// rawString reads a string. The bytes alias the input, or where it has escapes a buffer that the next such string reuses.
// Invalid UTF-8 becomes U+FFFD.
func (c *jsonCursor) rawString() ([]byte, error) {
	start := c.pos + 1
	ascii := true
	for i := start; i < len(c.data); i++ {
		switch b := c.data[i]; {
		case b == '"':
			c.pos = i + 1
			raw := c.data[start:i]
			if !ascii && !utf8.Valid(raw) {
				raw = replaceInvalid(raw)
			}
			return raw, nil
		case b == '\\':
			return c.escapedString(start, i)
		case b < 0x20:
			c.pos = i
			return nil, c.fault("control character %#02x inside a string", b)
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	c.pos = len(c.data)
	return nil, c.fault("the text ends inside a string")
}

// replaceInvalid puts U+FFFD in place of every byte that is not part of UTF-8.
func replaceInvalid(text []byte) []byte {
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		out = utf8.AppendRune(out, r)
		text = text[size:]
	}
	return out
}

// escapedString goes on from the first backslash, at i.
func (c *jsonCursor) escapedString(start, i int) ([]byte, error) {
	out := c.scratch[:0]
	defer func() { c.scratch = out }()
	for run := start; ; {
		for i < len(c.data) && c.data[i] != '"' && c.data[i] != '\\' && c.data[i] >= 0x20 {
			i++
		}
		out = append(out, c.data[run:i]...)
		if i >= len(c.data) {
			c.pos = len(c.data)
			return nil, c.fault("the text ends inside a string")
		}
		if c.data[i] < 0x20 {
			c.pos = i
			return nil, c.fault("control character %#02x inside a string", c.data[i])
		}
		if c.data[i] == '"' {
			c.pos = i + 1
			if !utf8.Valid(out) {
				out = replaceInvalid(out)
			}
			return out, nil
		}
		c.pos = i
		if i+1 >= len(c.data) {
			return nil, c.fault("the text ends inside a string")
		}
		width := 2
		switch b := c.data[i+1]; b {
		case '"', '\\', '/':
			out = append(out, b)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(c.data, i+2)
			if !ok {
				return nil, c.fault("bad \\u escape")
			}
			width = 6
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+8 <= len(c.data) && c.data[i+6] == '\\' && c.data[i+7] == 'u' {
					low, ok = hex4(c.data, i+8)
				}
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r, width = pair, 12
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, c.fault("bad escape \\%c", b)
		}
		i += width
		run = i
	}
}

func hex4(data []byte, at int) (rune, bool) {
	if at+4 > len(data) {
		return 0, false
	}
	var r rune
	for _, b := range data[at : at+4] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		case b >= 'A' && b <= 'F':
			r = r<<4 | rune(b-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// number reads a number's text, checked against JSON's grammar; it aliases the input.
func (c *jsonCursor) number() ([]byte, error) {
	b := c.peek()
	if b != '-' && (b < '0' || b > '9') {
		return nil, c.expected("a number")
	}
	start, i := c.pos, c.pos
	digits := func() int {
		from := i
		for i < len(c.data) && c.data[i] >= '0' && c.data[i] <= '9' {
			i++
		}
		return i - from
	}
	if c.data[i] == '-' {
		i++
	}
	leading := i
	if n := digits(); n == 0 || n > 1 && c.data[leading] == '0' {
		return nil, c.fault("bad number")
	}
	if i < len(c.data) && c.data[i] == '.' {
		i++
		if digits() == 0 {
			return nil, c.fault("bad number")
		}
	}
	if i < len(c.data) && (c.data[i] == 'e' || c.data[i] == 'E') {
		i++
		if i < len(c.data) && (c.data[i] == '+' || c.data[i] == '-') {
			i++
		}
		if digits() == 0 {
			return nil, c.fault("bad number")
		}
	}
	c.pos = i
	return c.data[start:i], nil
}

// int reads an integer; 12.0 and 1e3 count, as they do for the reference, 12.5 does not.
func (c *jsonCursor) int() (int64, error) {
	at := c.pos
	if b := c.peek(); b != '-' && (b < '0' || b > '9') {
		return 0, c.expected("an integer")
	}
	text, err := c.number()
	if err != nil {
		return 0, err
	}
	if len(text) < 19 {
		v, negative, plain := int64(0), text[0] == '-', true
		for i, b := range text {
			if b >= '0' && b <= '9' {
				v = v*10 + int64(b-'0')
			} else if i > 0 || !negative {
				plain = false
				break
			}
		}
		if plain {
			if negative {
				v = -v
			}
			return v, nil
		}
	}
	d, ok := ParseInt128Decimal(string(text), 0)
	v, fits := d.Int64()
	if !ok || !fits {
		c.pos = at
		return 0, c.fault("%s is not a 64-bit integer", shorten(string(text)))
	}
	return v, nil
}

func (c *jsonCursor) bool() (bool, error) {
	switch {
	case c.peek() == 't' && bytes.HasPrefix(c.data[c.pos:], []byte("true")):
		c.pos += 4
		return true, nil
	case c.peek() == 'f' && bytes.HasPrefix(c.data[c.pos:], []byte("false")):
		c.pos += 5
		return false, nil
	}
	return false, c.expected("a boolean")
}

// skip consumes one value of any kind, checking its syntax.
func (c *jsonCursor) skip() error {
	switch b := c.peek(); {
	case b == '{':
		return c.object(func([]byte) error { return c.skip() })
	case b == '[':
		return c.array(func(int) error { return c.skip() })
	case b == '"':
		_, err := c.rawString()
		return err
	case b == 't' || b == 'f':
		_, err := c.bool()
		return err
	case b == 'n':
		if c.null() {
			return nil
		}
		return c.fault("bad literal")
	case b == '-' || b >= '0' && b <= '9':
		_, err := c.number()
		return err
	}
	return c.expected("a value")
}

// raw consumes one value and gives its text, aliasing the input.
func (c *jsonCursor) raw() ([]byte, error) {
	c.skipSpace()
	start := c.pos
	err := c.skip()
	return c.data[start:c.pos], err
}

// end checks that nothing but white space is left.
func (c *jsonCursor) end() error {
	if c.peek() != 0 || c.pos < len(c.data) {
		return c.fault("unexpected text after the value")
	}
	return nil
}

// shorten cuts text that goes into a message.
func shorten(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

const upperHex = "0123456789ABCDEF"

// appendJSONString writes a string as the reference's writer does: only '"', '\' and control characters are escaped.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\b':
			dst = append(dst, `\b`...)
		case b == '\f':
			dst = append(dst, `\f`...)
		case b == '\n':
			dst = append(dst, `\n`...)
		case b == '\r':
			dst = append(dst, `\r`...)
		case b == '\t':
			dst = append(dst, `\t`...)
		case b < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, upperHex[b>>4], upperHex[b&15])
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}
