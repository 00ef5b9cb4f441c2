package expr

import (
	"strings"
	"sync"
)

// Cost tells how much text DuckDB makes of a template when it has put its macros in place: how many words the template itself comes
// to, and how often each of its n operands stands in them. DuckDB plans every copy for itself, so copies of copies add up fast.
func Cost(template string, n int) (words int, copies []int) {
	return measured(template, n, macroCosts(), func(string) int { return -1 })
}

// macroCost is the Cost of a macro's body.
type macroCost struct {
	words  int
	copies []int // of each parameter
}

// macroCosts measures the macros once; a macro comes after those that it uses.
var macroCosts = sync.OnceValue(func() map[string]macroCost {
	costs := map[string]macroCost{}
	for _, macro := range macros {
		head, body, _ := strings.Cut(strings.TrimPrefix(macro, "CREATE MACRO "), " AS ")
		name, list, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		params := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
		words, copies := measured(body, len(params), costs, func(word string) int {
			for i, p := range params {
				if p == word {
					return i
				}
			}
			return -1
		})
		costs[name] = macroCost{words, copies}
	}
	return costs
})

// mostCopies caps counts, which would overflow where macros nest.
const mostCopies = 1 << 20

// measured walks over SQL text. Operands are {0}, {1}, ... or words that param knows. Inside a macro's call everything counts as
// often as the macro names the parameter that it is given for.
func measured(text string, n int, known map[string]macroCost, param func(word string) int) (words int, copies []int) {
	copies = make([]int, n)
	type level struct {
		macro []int // copies of the parameters of the macro called, nil for others
		arg   int
		outer int // the factor around the call
	}
	var levels []level
	factor, called, hasCalled := 1, macroCost{}, false
	add := func(count *int, by int) { *count = min(*count+by, mostCopies) }
	enter := func() {
		if at := levels[len(levels)-1]; at.macro != nil {
			factor = 0
			if at.arg < len(at.macro) {
				factor = min(at.outer*at.macro[at.arg], mostCopies)
			}
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'' || c == '"':
			end := i + 1 + strings.IndexByte(text[i+1:]+string(c), c)
			add(&words, factor)
			i = end + 1
			continue
		case wordByte(c):
			start := i
			for i < len(text) && wordByte(text[i]) {
				i++
			}
			word := text[start:i]
			switch at := param(word); {
			case start > 0 && text[start-1] == '{' && i < len(text) && text[i] == '}':
				if at = operandIndex(word); at >= 0 && at < n {
					add(&copies[at], factor)
				}
			case i < len(text) && text[i] == '(':
				called, hasCalled = known[word]
				add(&words, factor*max(1, called.words))
			case at >= 0 && (start == 0 || text[start-1] != '.'):
				add(&copies[at], factor)
			default:
				add(&words, factor)
			}
			continue
		case c == '(' || c == '[':
			at := level{outer: factor}
			if hasCalled {
				at.macro = called.copies
			}
			hasCalled = false
			levels = append(levels, at)
			enter()
		case c == ',' && len(levels) > 0:
			levels[len(levels)-1].arg++
			enter()
		case (c == ')' || c == ']') && len(levels) > 0:
			factor = levels[len(levels)-1].outer
			levels = levels[:len(levels)-1]
		}
		i++
	}
	return words, copies
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// operandIndex reads the number of an operand; -1 where it is none.
func operandIndex(digits string) int {
	n := 0
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' || n > 1000000 {
			return -1
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n
}
