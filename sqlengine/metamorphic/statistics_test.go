package metamorphic_test

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"deltasql/protocol"
)

// quality says what the statistics of a file are like.
type quality int

const (
	fullStatistics    quality = iota
	roundedStatistics         // strings cut, timestamps down to milliseconds, NaN passed over: what writers do
	someStatistics            // of a random half of the leaves
	looseStatistics           // bounds and counts wider than the data
	countStatistics           // the number of rows alone
	noStatistics
)

// collector makes a file's statistics in the plainest way: it looks at every row.
type collector struct {
	quality quality
	names   func(protocol.Field) string
	skip    func(column int) bool // partition columns
	rows    []row                 // as in the file
	live    []row                 // of these, the ones that no vector hides; nil: all
	chance  func(n int) bool
}

// object is a JSON object; a nil *int or the like never goes into it.
type object map[string]any

// collect gives the statistics object, nil for none.
func (c *collector) collect(schema protocol.DataType) object {
	if c.quality == noStatistics && c.live == nil {
		return nil
	}
	out := object{"numRecords": len(c.rows)}
	if c.live != nil || c.quality == looseStatistics {
		out["tightBounds"] = false
	}
	if c.quality == noStatistics || c.quality == countStatistics {
		return out
	}
	low, high, nulls := object{}, object{}, object{}
	for i, field := range schema.Fields {
		if !c.skip(i) {
			c.leaf(field, func(r row) cell { return r[i] }, low, high, nulls)
		}
	}
	out["minValues"], out["maxValues"], out["nullCount"] = low, high, nulls
	return out
}

// leaf adds the statistics of a field, whose cells get gives; a NULL struct makes its members NULL.
func (c *collector) leaf(field protocol.Field, get func(row) cell, low, high, nulls object) {
	name := c.names(field)
	if field.Type.Kind == protocol.KindStruct {
		lows, highs, counts := object{}, object{}, object{}
		for k, member := range field.Type.Fields {
			c.leaf(member, func(r row) cell {
				if s := get(r); !s.value.Null {
					return s.parts[k]
				}
				return cell{value: protocol.NullValue(member.Type.Kind)}
			}, lows, highs, counts)
		}
		low[name], high[name], nulls[name] = lows, highs, counts
		return
	}
	if c.quality == someStatistics && c.chance(2) {
		return
	}
	nulls[name] = c.nulls(get)
	if field.Type.Kind == protocol.KindArray || field.Type.Kind == protocol.KindBoolean {
		return
	}
	var least, most *protocol.Value
	for _, r := range c.rows {
		v := get(r).value
		if v.Null || c.quality == roundedStatistics && math.IsNaN(v.Float) {
			continue
		}
		if least == nil || v.Compare(*least) < 0 {
			least = &v
		}
		if most == nil || v.Compare(*most) > 0 {
			most = &v
		}
	}
	if least == nil {
		return
	}
	if text, ok := c.bound(*least, false); ok {
		low[name] = text
	}
	if text, ok := c.bound(*most, true); ok {
		high[name] = text
	}
}

// nulls counts NULLs. With a vector the count is what the protocol wants of it: the number of rows if all live ones are NULL, 0 if
// no row is, and anything between otherwise.
func (c *collector) nulls(get func(row) cell) int {
	count := func(rows []row) (n int) {
		for _, r := range rows {
			if get(r).value.Null {
				n++
			}
		}
		return n
	}
	all := count(c.rows)
	switch {
	case c.live != nil && count(c.live) == len(c.live):
		return len(c.rows)
	case c.quality == looseStatistics && 0 < all && all < len(c.rows):
		return 1
	}
	return all
}

// bound writes a bound as JSON, or says that there is none.
func (c *collector) bound(v protocol.Value, upper bool) (any, bool) {
	sign := int64(-1)
	if upper {
		sign = 1
	}
	switch v.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return v.Text(), true
		}
		if c.quality == looseStatistics {
			v.Float += float64(sign)
		}
		return json.RawMessage(v.Text()), true
	case protocol.KindDecimal:
		return json.RawMessage(v.Text()), true
	case protocol.KindString:
		if c.quality == roundedStatistics {
			return cut(v.Str, upper)
		}
		return v.Str, true
	case protocol.KindDate:
		if c.quality == looseStatistics {
			v.Int += sign
		}
		return v.Text(), true
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return c.instant(v), true
	}
	if c.quality == looseStatistics && v.Int > math.MinInt64 && v.Int < math.MaxInt64 {
		v.Int += sign
	}
	return v.Int, true
}

// instant writes a time: both bounds are rounded down to milliseconds, as writers do.
func (c *collector) instant(v protocol.Value) string {
	at := time.UnixMicro(v.Int).UTC()
	layout := "2006-01-02T15:04:05.000000"
	if c.quality == roundedStatistics {
		at = at.Truncate(time.Millisecond)
		layout = "2006-01-02T15:04:05.000"
	}
	if v.Kind == protocol.KindTimestampNTZ {
		return at.Format(layout)
	}
	if c.chance(2) {
		return at.In(time.FixedZone("", 2*3600)).Format(layout + "-07:00")
	}
	return at.Format(layout) + "Z"
}

const cutLength = 3

// cut shortens a string bound: a prefix is below, and a prefix with a last character behind it above.
func cut(s string, upper bool) (any, bool) {
	end := 0
	for range cutLength {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end >= len(s) {
		return s, true
	}
	if !upper {
		return s[:end], true
	}
	if next, _ := utf8.DecodeRuneInString(s[end:]); next == utf8.MaxRune {
		return nil, false
	}
	return s[:end] + string(utf8.MaxRune), true
}

// text is the statistics as the log has them.
func (o object) text() string {
	if o == nil {
		return ""
	}
	out, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("statistics: %v", err)) // made of texts and numbers
	}
	return string(out)
}
