package bind

import (
	"sort"
	"strings"
)

// suggestion is the hint that names the closest of what is known; empty where nothing is.
func suggestion(name string, known []string) string {
	if near := nearest(name, known, 3); len(near) > 0 {
		return "did you mean one of these: " + ticked(near)
	}
	return ""
}

// nearest gives the closest names, best first, by edits relative to length; names that share nothing are left out.
func nearest(name string, known []string, most int) []string {
	type candidate struct {
		name string
		cost int
	}
	seen := map[string]bool{}
	var list []candidate
	for _, k := range known {
		if k == "" || seen[k] || len(list) > 1000 {
			continue
		}
		seen[k] = true
		list = append(list, candidate{k, edits(strings.ToLower(name), strings.ToLower(k))})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].cost < list[j].cost })
	var out []string
	for _, c := range list {
		if len(out) < most {
			out = append(out, c.name)
		}
	}
	return out
}

// edits is the Levenshtein distance of two short names.
func edits(a, b string) int {
	const longest = 64
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), longest)], y[:min(len(y), longest)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		previous := row[0]
		row[0] = i + 1
		for j := range y {
			cost := previous
			if x[i] != y[j] {
				cost = 1 + min(previous, row[j], row[j+1])
			}
			previous, row[j+1] = row[j+1], cost
		}
	}
	return row[len(y)]
}
