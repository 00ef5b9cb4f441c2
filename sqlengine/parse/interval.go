package parse

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// units are the units of intervals, EXTRACT and TIMESTAMPADD, plural forms included, in their one spelling.
var units = map[string]string{}

func init() {
	for _, u := range []string{"NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"} {
		units[u], units[u+"S"] = u, u
	}
	for _, u := range []string{
		"DAY_HOUR", "DAY_MICROSECOND", "DAY_MINUTE", "DAY_SECOND", "HOUR_MICROSECOND", "HOUR_MINUTE", "HOUR_SECOND",
		"MINUTE_MICROSECOND", "MINUTE_SECOND", "SECOND_MICROSECOND", "YEAR_MONTH",
	} {
		units[u] = u
	}
}

// unitName is a unit in upper case and singular; a word that is none is only put into upper case.
func unitName(word string) string {
	word = strings.TrimPrefix(strings.ToUpper(word), "SQL_TSI_")
	if unit := units[word]; unit != "" {
		return unit
	}
	return word
}

// unitFirst are the functions whose first argument may be a unit as a bare word.
var unitFirst = map[string]bool{
	"TIMESTAMPADD": true, "TIMESTAMPDIFF": true, "DATEADD": true, "DATEDIFF": true, "DATE_ADD": true, "DATE_DIFF": true,
	"TIMEDIFF": true,
}

// unitAhead tells whether a bare unit and a comma follow.
func (p *parser) unitAhead() bool {
	t := p.tok()
	if t.kind != tokWord || !p.isAt(1, ",") {
		return false
	}
	word := unitName(p.text(t))
	return units[word] != "" || word == "DAYOFYEAR"
}

// isUnit tells whether the token n places on is a unit.
func (p *parser) isUnit(n int) bool {
	t := p.peek(n)
	return t.kind == tokWord && t.word != "" && units[t.word] != ""
}

// interval reads INTERVAL with its parts, or MySQL's function INTERVAL(n, a, b, ...); nil if the word is a name here.
func (p *parser) interval() Expr {
	start := p.tok().start
	next := p.peek(1)
	switch {
	case next.kind == tokNumber, next.kind == tokString, next.kind == tokRaw, next.kind == tokVariable, p.isAt(1, "?", ":", "CASE", "NULL", "CAST"):
	case p.isAt(1, "("):
		p.skip(2)
		items := p.rowItems()
		if len(items) > 1 {
			return p.call(start, "interval", items...)
		}
		p.pend(items[0], next.start)
	case p.isAt(1, "-", "+"):
		if after := p.peek(2); after.kind == tokWord && !p.operandAhead(2) || p.opts.Dialect == Spark && after.kind == tokNumber && !p.isUnit(3) {
			return nil
		}
	case next.kind == tokWord || next.kind == tokQuoted:
		if !p.isName(1) || !p.isUnit(2) && !p.isAt(2, ".", "(", "*", "/", "+", "-", "%") {
			return nil
		}
	default:
		return nil
	}
	if p.pending == nil {
		p.advance()
	}
	i := &Interval{}
	for {
		part := IntervalPart{Value: p.value()}
		if p.isUnit(0) {
			part.Unit = units[p.advance().word]
			if p.is("TO") && p.isUnit(1) {
				p.advance()
				part.To = units[p.advance().word]
			}
		} else if literal, ok := part.Value.(*Literal); !ok || literal.Kind != StringLiteral || len(i.Parts) > 0 || !strings.ContainsFunc(literal.Text, unicode.IsLetter) {
			p.failUnit()
		}
		i.Parts = append(i.Parts, part)
		p.chain(len(i.Parts))
		if part.Unit == "" || p.opts.Dialect == MySQL || !p.intervalGoesOn() {
			i.span = p.spanFrom(start)
			return i
		}
	}
}

// intervalGoesOn tells whether another value and unit follow, as in Spark's INTERVAL 1 DAY 2 HOURS.
func (p *parser) intervalGoesOn() bool {
	n := 0
	if p.is("-", "+") {
		n = 1
	}
	k := p.peek(n).kind
	return (k == tokNumber || k == tokString) && p.isUnit(n+1)
}

func (p *parser) failUnit() {
	t := p.tok()
	err := syntaxError(t.start, "unexpected %s, expected a unit such as DAY", p.describe(t))
	if near := Meant(p.text(t), slices.Sorted(maps.Keys(units))); near != "" && t.kind == tokWord {
		err.WithHint("did you mean %s?", near)
	}
	p.bail(err)
}
