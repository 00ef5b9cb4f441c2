package scan

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/stats"
)

// CharLength is n for a column declared CHAR(n). Such values lie in files as they were written and are padded with blanks
// when they are read, as the reference does; CHAR inside a nested type is left as it lies.
func CharLength(field protocol.Field) (int, bool) {
	declared, ok := field.Metadata.CharVarchar()
	if !ok || field.Type.Kind != protocol.KindString {
		return 0, false
	}
	inside, ok := strings.CutPrefix(strings.ToLower(declared), "char(")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(inside, ")"))
	return n, err == nil && n > 0
}

// padded writes the padding around the expression of a CHAR column's value; length counts characters.
func padded(field protocol.Field, expression string) string {
	n, ok := CharLength(field)
	if !ok {
		return expression
	}
	return fmt.Sprintf("CASE WHEN length(%s) < %d THEN rpad(%s, %d, ' ') ELSE %s END", expression, n, expression, n, expression)
}

// withoutChars replaces the conditions on CHAR columns: they are about padded values, statistics about those in the files.
func withoutChars(p stats.Predicate, config *protocol.TableConfig) stats.Predicate {
	char := func(l stats.Leaf) bool {
		if len(l.Path) != 1 {
			return false
		}
		for i, field := range config.Schema.Fields {
			if config.PhysicalName(i) == l.Path[0] {
				_, ok := CharLength(field)
				return ok
			}
		}
		return false
	}
	each := func(list []stats.Predicate) []stats.Predicate {
		out := make([]stats.Predicate, len(list))
		for i, member := range list {
			out[i] = withoutChars(member, config)
		}
		return out
	}
	maybe := stats.Maybe{Text: p.String()}
	switch p := p.(type) {
	case stats.And:
		return stats.And(each(p))
	case stats.Or:
		return stats.Or(each(p))
	case stats.Not:
		return stats.Not{Of: withoutChars(p.Of, config)}
	case stats.Compare:
		if char(p.Leaf) {
			return maybe
		}
	case stats.InList:
		if char(p.Leaf) {
			return maybe
		}
	case stats.Prefix:
		if char(p.Leaf) {
			return maybe
		}
	}
	return p
}
