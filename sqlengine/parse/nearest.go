package parse

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest gives the candidates by likeness to a name that none of them is, the most alike first and otherwise in their order; empty
// and repeated ones are left out. Likeness is the number of edits, regardless of case.
func Nearest(name string, candidates []string) []string {
	const most = 1000 // what is looked at, since every one costs a comparison
	type ranked struct {
		name  string
		edits int
	}
	var list []ranked
	seen := map[string]bool{"": true}
	for _, candidate := range candidates {
		if !seen[candidate] && len(list) < most {
			seen[candidate] = true
			list = append(list, ranked{candidate, edits(name, candidate)})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.edits, b.edits) })
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.name
	}
	return names
}

// Meant is the candidate that a misspelt name most likely meant, or "": the edits are at most three and a third of the letters that
// the two have on average, so that short names are not taken for any other short one. A candidate that is the name itself was not meant.
func Meant(name string, candidates []string) string {
	const most = 3
	best, fewest := "", most+1
	for _, candidate := range candidates {
		if strings.EqualFold(name, candidate) {
			continue
		}
		letters := utf8.RuneCountInString(name) + utf8.RuneCountInString(candidate)
		if n := edits(name, candidate); n < fewest && n <= (letters+2)/6 {
			best, fewest = candidate, n
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace and the neighbours to swap that turn one name into another, regardless of
// case. Of long names only the beginnings are compared.
func edits(a, b string) int {
	x, y := beginning(a), beginning(b)
	earlier, before, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range before {
		before[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			changed := 1
			if x[i-1] == y[j-1] {
				changed = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+changed)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], earlier[j-2]+1)
			}
		}
		earlier, before, row = before, row, earlier
	}
	return before[len(y)]
}

func beginning(name string) []rune {
	const letters = 64
	runes := []rune(strings.ToLower(name[:min(len(name), letters*utf8.UTFMax)]))
	return runes[:min(len(runes), letters)]
}
