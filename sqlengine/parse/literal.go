package parse

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// stringValue decodes a tokString or tokRaw as written, prefix and quotes included.
func stringValue(raw string, kind tokenKind, opts Options) string {
	for raw[0] != '\'' && raw[0] != '"' {
		raw = raw[1:]
	}
	quote := raw[:1]
	body := raw[1 : len(raw)-1]
	if kind == tokRaw {
		return body
	}
	if opts.NoBackslashEscapes || !strings.Contains(body, `\`) {
		return strings.ReplaceAll(body, quote+quote, quote)
	}
	var out strings.Builder
	out.Grow(len(body))
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == quote[0]:
			i++ // doubled
			out.WriteByte(quote[0])
		case body[i] == '\\' && i+1 < len(body):
			i += unescape(&out, body[i+1:], opts.Dialect)
		default:
			out.WriteByte(body[i])
		}
	}
	return out.String()
}

// unescape writes what a backslash and s mean and returns how many bytes of s it used. \% and \_ keep their backslash,
// since they matter to LIKE; an unknown escape is the character itself. Only Spark has \u, \U and octal escapes.
func unescape(out *strings.Builder, s string, dialect Dialect) int {
	if dialect == Spark {
		if width := map[byte]int{'u': 4, 'U': 8}[s[0]]; width > 0 && len(s) > width {
			if r, err := strconv.ParseUint(s[1:1+width], 16, 32); err == nil && r <= utf8.MaxRune {
				out.WriteRune(rune(r))
				return 1 + width
			}
		}
		if len(s) >= 3 && s[0] >= '0' && s[0] <= '1' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7' {
			out.WriteByte((s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'))
			return 3
		}
	}
	switch s[0] {
	case '0':
		out.WriteByte(0)
	case 'b':
		out.WriteByte('\b')
	case 'n':
		out.WriteByte('\n')
	case 'r':
		out.WriteByte('\r')
	case 't':
		out.WriteByte('\t')
	case 'Z':
		out.WriteByte(26)
	case '%', '_':
		out.WriteByte('\\')
		out.WriteByte(s[0])
	default:
		out.WriteByte(s[0])
	}
	return 1
}

// quotedValue decodes a tokQuoted; a time travel suffix behind the quote belongs to the name.
func quotedValue(raw string) string {
	quote := raw[:1]
	end := strings.LastIndex(raw, quote)
	return strings.ReplaceAll(raw[1:end], quote+quote, quote) + raw[end+1:]
}

// binaryValue decodes x'4D' and 0x4D. An odd number of digits is filled up on the left, as Spark and MySQL's 0x do.
func binaryValue(raw string) (string, bool) {
	body := raw[2:]
	if raw[1] == '\'' || raw[1] == '"' {
		body = strings.ReplaceAll(body[:len(body)-1], " ", "")
	}
	if len(body)%2 == 1 {
		body = "0" + body
	}
	data, err := hex.DecodeString(body)
	return string(data), err == nil
}

// bitValue decodes b'101' and 0b101 to bytes, the highest first.
func bitValue(raw string) (string, bool) {
	body := raw[2:]
	if raw[1] == '\'' || raw[1] == '"' {
		body = body[:len(body)-1]
	}
	data := make([]byte, (len(body)+7)/8)
	for i := range len(body) {
		bit := len(body) - 1 - i
		switch body[i] {
		case '1':
			data[len(data)-1-bit/8] |= 1 << (bit % 8)
		case '0':
		default:
			return "", false
		}
	}
	return string(data), true
}

// numberValue splits a number into its kind, digits and suffix.
func numberValue(raw string) (kind LiteralKind, text, suffix string) {
	n := len(raw)
	for n > 0 && !isDigit(raw[n-1]) && raw[n-1] != '.' {
		n--
	}
	text, suffix = raw[:n], strings.ToUpper(raw[n:])
	switch {
	case suffix == "BD":
		kind = DecimalLiteral
	case suffix == "D" || suffix == "F" || strings.ContainsAny(text, "eE"):
		kind = DoubleLiteral
	case strings.Contains(text, "."):
		kind = DecimalLiteral
	default:
		kind = IntegerLiteral
	}
	return kind, text, suffix
}
