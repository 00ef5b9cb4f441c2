package sqlengine

import (
	"strconv"
	"unicode/utf8"

	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/stats"
)

// Partitions are often generated from a column that queries filter: a day of a moment, a prefix of a text. What a condition says of the source
// it says of the partition as well, so that whole partitions are skipped without a look at statistics. Every row of a table satisfies
// its generation expressions, so a condition may be joined with what follows from it.

// zoneSlack is how far the clock of the session that wrote a row may have been from this one's: a TIMESTAMP's day is that of its
// writer's time zone. Zones lie between -12 and +14 hours, and a switch of the clocks may come between.
const zoneSlack = 30 * 3600 * 1e6

// derived are the partition columns that are generated from one source.
type derived struct {
	change.Generation
	leaf   stats.Leaf
	source protocol.Field
	of     func(v protocol.Value) (protocol.Value, bool) // the generated value; false where it has none
}

// The functions that never fall where their source grows.
var monotone = map[string]bool{"": true, "cast": true, "date": true, "to_date": true, "year": true, "date_trunc": true, "trunc": true, "date_format": true,
	"substring": true, "substr": true, "left": true}

// clockParts are the parts of a moment behind its year, in their order; the day has two names.
var clockParts = [][]string{{"month"}, {"day", "dayofmonth"}, {"hour"}}

// sortedFormats are the formats of date_format whose texts are in the order of time.
var sortedFormats = map[string]bool{"yyyy": true, "yyyy-MM": true, "yyyy-MM-dd": true, "yyyy-MM-dd-HH": true}

// withGenerated joins a scan's condition with what it says of generated partition columns.
func (st *statement) withGenerated(t target, config *protocol.TableConfig, p stats.Predicate) stats.Predicate {
	if len(config.PartitionColumns) == 0 {
		return p
	}
	bySource := map[string][]derived{}
	options := st.changeOptions()
	table := change.Table{Name: []string{t.shown()}, Config: config}
	for _, g := range change.Generations(config) {
		leaf, ok := leafOf(config, g.Column, nil)
		source, known := leafOf(config, g.Source, nil)
		d := derived{Generation: g, leaf: leaf, source: config.Schema.Fields[g.Source]}
		if !ok || !known || !leaf.Partition || !d.follows() {
			continue
		}
		d.of = func(v protocol.Value) (protocol.Value, bool) {
			e, err := g.Of(st.ctx, table, v, options)
			if err != nil {
				return protocol.Value{}, false
			}
			value, err := st.foldOnce(st.ctx, e)
			return value, err == nil && !value.Null
		}
		bySource[source.String()] = append(bySource[source.String()], d)
	}
	if len(bySource) == 0 {
		return p
	}
	return joinDerived(p, bySource)
}

// follows tells whether anything follows for the generated column.
func (d derived) follows() bool {
	of := d.source.Type
	if _, declared := d.source.Metadata.CharVarchar(); declared || of.Collation != "" || d.leaf.Type.Collation != "" {
		return false // comparisons pad or fold such text
	}
	moment := of.Kind == protocol.KindDate || of.Kind == protocol.KindTimestamp || of.Kind == protocol.KindTimestampNTZ
	switch d.Function {
	case "":
		return of.Equal(d.leaf.Type) && of.Kind != protocol.KindFloat && of.Kind != protocol.KindDouble
	case "cast", "date", "to_date", "year", "month", "day", "dayofmonth", "hour":
		return moment && len(d.Texts)+len(d.Numbers) == 0
	case "date_trunc", "trunc":
		return moment && len(d.Texts) == 1 && len(d.Numbers) == 0
	case "date_format":
		return moment && len(d.Texts) == 1 && sortedFormats[d.Texts[0]]
	case "substring", "substr":
		return of.Kind == protocol.KindString && len(d.Texts) == 0 && len(d.Numbers) == 2 && (d.Numbers[0] == "0" || d.Numbers[0] == "1")
	case "left":
		return of.Kind == protocol.KindString && len(d.Texts) == 0 && len(d.Numbers) == 1
	}
	return false
}

// joinDerived goes through the conditions that are not negated.
func joinDerived(p stats.Predicate, bySource map[string][]derived) stats.Predicate {
	with := func(leaf stats.Leaf, follow func(d []derived) stats.And) stats.Predicate {
		if leaf.Partition {
			return p
		}
		more := follow(bySource[leaf.String()])
		if len(more) == 0 {
			return p
		}
		return append(stats.And{p}, more...)
	}
	switch p := p.(type) {
	case stats.And:
		out := make(stats.And, len(p))
		for i, x := range p {
			out[i] = joinDerived(x, bySource)
		}
		return out
	case stats.Or:
		out := make(stats.Or, len(p))
		for i, x := range p {
			out[i] = joinDerived(x, bySource)
		}
		return out
	case stats.IsNull:
		return with(p.Leaf, func(list []derived) (out stats.And) {
			for _, d := range list {
				out = append(out, stats.IsNull{Leaf: d.leaf})
			}
			return out
		})
	case stats.Compare:
		return with(p.Leaf, func(list []derived) stats.And { return compareDerived(list, p.Op, p.Value) })
	case stats.InList:
		return with(p.Leaf, func(list []derived) stats.And {
			var any stats.Or
			for _, v := range p.Values {
				if v.Null {
					continue // equals nothing
				}
				one := compareDerived(list, stats.Equal, v)
				if len(one) == 0 {
					return nil
				}
				any = append(any, one)
			}
			return stats.And{any}
		})
	case stats.Prefix:
		return with(p.Leaf, func(list []derived) (out stats.And) {
			for _, d := range list {
				if text, ok := d.prefix(p.Text); ok && text != "" {
					out = append(out, d.orEmpty(stats.Prefix{Leaf: d.leaf, Text: text}))
				}
			}
			return out
		})
	}
	return p
}

// prefix is what a generated text begins with where its source begins with a text.
func (d derived) prefix(text string) (string, bool) {
	n := -1
	var err error
	switch d.Function {
	case "":
		return text, true
	case "left":
		n, err = strconv.Atoi(d.Numbers[0])
	case "substring", "substr":
		n, err = strconv.Atoi(d.Numbers[1])
	default:
		return "", false
	}
	if err != nil || n < 0 {
		return "", false
	}
	for utf8.RuneCountInString(text) > n {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text, true
}

// orEmpty lets the missing value pass where the generated one is text: the empty text is stored as one.
func (d derived) orEmpty(p stats.Predicate) stats.Predicate {
	if d.leaf.Type.Kind != protocol.KindString {
		return p
	}
	return stats.Or{p, stats.IsNull{Leaf: d.leaf}}
}

// compareDerived is what source op value says of the columns generated from the source.
func compareDerived(list []derived, op stats.Op, v protocol.Value) (out stats.And) {
	if v.Null {
		if op == stats.NullSafeEqual {
			for _, d := range list {
				out = append(out, stats.IsNull{Leaf: d.leaf})
			}
		}
		return out
	}
	if op == stats.NotEqual {
		return nil
	}
	var year *derived
	for i, d := range list {
		if v.Kind != d.source.Type.Kind {
			return nil
		}
		if d.Function == "year" {
			year = &list[i]
		}
		if !monotone[d.Function] {
			continue
		}
		low, high := v, v
		if v.Kind == protocol.KindTimestamp && d.Function != "" {
			low.Int, high.Int = v.Int-zoneSlack, v.Int+zoneSlack
		}
		if op != stats.Less && op != stats.LessOrEqual {
			if least, ok := d.of(low); ok {
				least.Int -= d.shift()
				out = append(out, d.orEmpty(d.orEarly(stats.Compare{Leaf: d.leaf, Op: stats.GreaterOrEqual, Value: least})))
			}
		}
		if op != stats.Greater && op != stats.GreaterOrEqual {
			if most, ok := d.of(high); ok {
				most.Int += d.shift()
				out = append(out, d.orEmpty(stats.Compare{Leaf: d.leaf, Op: stats.LessOrEqual, Value: most}))
			}
		}
	}
	if year != nil {
		out = append(out, calendar(*year, list, op, v)...)
	}
	return out
}

// shift is how far a generated moment may lie from what it would be by this session's clock: a month begins when the writer's did.
func (d derived) shift() int64 {
	if d.Function == "date_trunc" && d.leaf.Type.Kind == protocol.KindTimestamp {
		return zoneSlack
	}
	return 0
}

// orEarly lets pass what date_format writes of years beyond 9999, which begins with a sign and sorts before all others.
func (d derived) orEarly(p stats.Predicate) stats.Predicate {
	if d.Function != "date_format" {
		return p
	}
	return stats.Or{p, stats.Compare{Leaf: d.leaf, Op: stats.Less, Value: protocol.Value{Kind: protocol.KindString, Str: "0"}}}
}

// calendar is what follows for a year together with the month, the day and the hour behind it, as far as the table has them.
func calendar(year derived, list []derived, op stats.Op, v protocol.Value) (out stats.And) {
	chain := []derived{year}
	for _, names := range clockParts {
		at := -1
		for i, d := range list {
			for _, name := range names {
				if d.Function == name {
					at = i
				}
			}
		}
		if at < 0 {
			break
		}
		chain = append(chain, list[at])
	}
	if len(chain) == 1 {
		return nil
	}
	bound := func(v protocol.Value, strict, last stats.Op) {
		values := make([]protocol.Value, len(chain))
		for i, d := range chain {
			var ok bool
			if values[i], ok = d.of(v); !ok {
				return
			}
		}
		var any stats.Or
		for i := range chain {
			all := stats.And{}
			for k := range i {
				all = append(all, stats.Compare{Leaf: chain[k].leaf, Op: stats.Equal, Value: values[k]})
			}
			o := strict
			if i == len(chain)-1 {
				o = last
			}
			any = append(any, append(all, stats.Compare{Leaf: chain[i].leaf, Op: o, Value: values[i]}))
		}
		out = append(out, any)
	}
	low, high := v, v
	if v.Kind == protocol.KindTimestamp {
		low.Int, high.Int = v.Int-zoneSlack, v.Int+zoneSlack
	}
	if op != stats.Less && op != stats.LessOrEqual {
		bound(low, stats.Greater, stats.GreaterOrEqual)
	}
	if op != stats.Greater && op != stats.GreaterOrEqual {
		bound(high, stats.Less, stats.LessOrEqual)
	}
	return out
}
