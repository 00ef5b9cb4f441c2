package duckgen

import (
	"strconv"
	"strings"

	"deltasql/sqlengine/expr"
)

// noting begins the names of the functions that note something, which copies would note as often.
const noting = "delta_note"

// template prints a fragment with its operands put in. An operand that DuckDB would copy although it is long already, or although it notes
// something, is bound once, to a member of a lambda's parameter; nested calls would otherwise double it over and over.
func (p *printer) template(sql string, args []expr.Expr) string {
	words, copies := expr.Cost(sql, len(args))
	outer, outerBound := p.words+words, p.bound
	p.bound = 0
	texts, sizes := make([]string, len(args)), make([]int, len(args))
	long := false
	for i, a := range args {
		p.words = 0
		texts[i] = p.expr(a)
		sizes[i] = p.words
		long = long || copies[i] > 1 && (sizes[i] > maxCopied || strings.Contains(texts[i], noting))
	}
	p.words = outer
	inner := p.bound
	p.bound = max(outerBound, inner)
	if !long {
		for i, n := range sizes {
			p.words += n * copies[i]
		}
		return p.fill(sql, texts)
	}
	// Named by what is inside, so that one expression always has one text: GROUP BY finds it in the select list by that.
	p.bound = max(outerBound, inner+1)
	name := "b" + strconv.Itoa(inner+1)
	var members []string
	for i, a := range args {
		switch a.(type) {
		case *expr.Literal, *expr.Lambda: // stay: some functions take nothing but a constant
			p.words += sizes[i] * copies[i]
			continue
		}
		member := "v" + strconv.Itoa(i)
		members = append(members, member+" := "+texts[i])
		p.words += sizes[i] + copies[i]
		texts[i] = name + "." + member
	}
	return "list_transform([struct_pack(" + strings.Join(members, ", ") + ")], lambda " + name + ": " + p.fill(sql, texts) + ")[1]"
}

// fill puts operands into a template for {0}, {1}, ...: bare where they stand alone between parentheses and commas, in
// parentheses elsewhere unless they hold together. Text in quotes is left as it is.
func (p *printer) fill(sql string, texts []string) string {
	var out strings.Builder
	for i := 0; i < len(sql); {
		switch c := sql[i]; c {
		case '\'', '"':
			end := quotedEnd(sql, i)
			out.WriteString(sql[i:end])
			i = end
			continue
		case '{':
			if end := strings.IndexByte(sql[i:], '}'); end > 1 {
				if n, err := strconv.Atoi(sql[i+1 : i+end]); err == nil {
					if n < 0 || n >= len(texts) {
						return p.fail("the template %q names an operand that is not there", sql)
					}
					after := i + end + 1
					if alone(sql[:i], sql[after:]) || selfContained(texts[n]) {
						out.WriteString(texts[n])
					} else {
						out.WriteString("(" + texts[n] + ")")
					}
					i = after
					continue
				}
			}
		}
		out.WriteByte(sql[i])
		i++
	}
	return out.String()
}

// alone tells whether what stands around an operand leaves it whole.
func alone(before, after string) bool {
	before, after = strings.TrimRight(before, " "), strings.TrimLeft(after, " ")
	opens := before == "" || strings.HasSuffix(before, "(") || strings.HasSuffix(before, ",") || strings.HasSuffix(before, "[")
	closes := after == "" || after[0] == ')' || after[0] == ',' || after[0] == ']'
	return opens && closes
}

// quotedEnd is the index behind a quoted text that begins at i; doubled quotes belong to it.
func quotedEnd(s string, i int) int {
	q := s[i]
	for j := i + 1; j < len(s); j++ {
		if s[j] != q {
			continue
		}
		if j+1 < len(s) && s[j+1] == q {
			j++
			continue
		}
		return j + 1
	}
	return len(s)
}

// selfContained tells whether a text is an operand that no operator beside it can break: a name, a number, a quoted text, a call,
// something in brackets, a CASE, with casts by :: behind it.
func selfContained(s string) bool {
	i := 0
	if strings.HasPrefix(s, "CASE ") && strings.HasSuffix(s, " END") {
		return caseEnd(s) == len(s)
	}
	word := func() bool {
		start := i
		for i < len(s) && (s[i] == '_' || s[i] == '$' || s[i] == '.' || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
			i++
		}
		return i > start
	}
	pieces := 0
	for i < len(s) {
		switch {
		case s[i] == '"':
			i = quotedEnd(s, i)
		case s[i] == '\'':
			if pieces > 0 {
				return false
			}
			i = quotedEnd(s, i)
		case s[i] == '(' || s[i] == '[':
			end := bracketEnd(s, i)
			if end < 0 {
				return false
			}
			i = end
		case strings.HasPrefix(s[i:], "::") && pieces > 0:
			i += 2
			if !word() {
				return false
			}
		default:
			if !word() {
				return false
			}
		}
		pieces++
	}
	return pieces > 0
}

// bracketEnd is the index behind the bracket that closes the one at i; -1 where there is none.
func bracketEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '\'', '"':
			i = quotedEnd(s, i)
			continue
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// caseEnd is the index behind the END that closes a leading CASE.
func caseEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\'' || s[i] == '"':
			i = quotedEnd(s, i)
			continue
		case strings.HasPrefix(s[i:], "CASE ") && boundary(s, i):
			depth++
		case strings.HasPrefix(s[i:], "END") && boundary(s, i) && (i+3 == len(s) || !letter(s[i+3])):
			if depth--; depth == 0 {
				return i + 3
			}
		}
		i++
	}
	return -1
}

func boundary(s string, i int) bool { return i == 0 || !letter(s[i-1]) }

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '"'
}
