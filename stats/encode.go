package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// CollectedLeaves are the leaves of which new files have statistics, in the order of the schema: those that the table's
// properties choose (protocol.TableConfig.StatisticsLeaves), and the clustering columns whatever these say.
func CollectedLeaves(config *protocol.TableConfig, clustering [][]protocol.PhysicalName) ([]protocol.Leaf, error) {
	chosen, err := config.StatisticsLeaves()
	if err != nil {
		return nil, err
	}
	if len(clustering) == 0 {
		return chosen, nil
	}
	isChosen := map[string]bool{}
	for _, leaf := range chosen {
		isChosen[leafKey(leaf.Physical)] = true
	}
	for _, path := range clustering {
		isChosen[leafKey(path)] = true
	}
	return slices.DeleteFunc(config.Leaves(), func(leaf protocol.Leaf) bool { return !isChosen[leafKey(leaf.Physical)] }), nil
}

func leafKey(path []protocol.PhysicalName) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteString(strconv.Quote(string(name)))
	}
	return b.String()
}

// Bounded tells whether the statistics of a leaf of the type have a least and a greatest value: those that the reference
// gives them to. Booleans and binary values have none, which readers accept but do not expect.
func Bounded(t protocol.DataType) bool {
	return t.Kind != protocol.KindBoolean && boundStorage(t) != noStorage
}

// LeafFacts is what a file has of a leaf.
type LeafFacts struct {
	Nulls int64 // rows in which the leaf, or a struct around it, is NULL; -1 where that is not known
	// Min and Max are bounds of the values that are not NULL; NaN counts as the greatest number. They may be wider than the
	// values but never narrower (S2). nil where there is none.
	Min, Max *protocol.Value
}

// Encoder writes the statistics of a table's new files, as the reference does.
type Encoder struct {
	Leaves []protocol.Leaf // whose facts Encode takes
	prefix int             // UTF-16 units of string bounds
	tight  bool            // the table may have deletion vectors, so that bounds say whether they are tight
}

// NewEncoder makes the encoder of a table; clustering are its clustering columns.
func NewEncoder(config *protocol.TableConfig, clustering [][]protocol.PhysicalName) (*Encoder, error) {
	const prefixProperty = "delta.dataSkippingStringPrefixLength"
	leaves, err := CollectedLeaves(config, clustering)
	if err != nil {
		return nil, err
	}
	prefix, _, err := config.IntProperty(prefixProperty)
	if err != nil {
		return nil, err
	}
	if prefix < 0 {
		return nil, protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %d; it must not be negative", prefixProperty, prefix)
	}
	return &Encoder{Leaves: leaves, prefix: int(min(prefix, math.MaxInt32)), tight: config.Supports("deletionVectors")}, nil
}

// Prefix is how many UTF-16 units string bounds have; 0 means that there are none.
func (e *Encoder) Prefix() int { return e.prefix }

// Encode writes the statistics of a file with so many rows; facts are those of Leaves.
func (e *Encoder) Encode(rows int64, facts []LeafFacts) (string, error) {
	if len(facts) != len(e.Leaves) {
		return "", protocol.NewError(protocol.ClassInternal, "statistics of %d leaves were given for %d", len(facts), len(e.Leaves))
	}
	w := statisticsWriter{encoder: e, facts: facts, dst: fmt.Appendf(nil, `{"numRecords":%d`, rows)}
	for _, section := range []struct {
		name  string
		write func(leaf int) bool
		keep  func(t protocol.DataType) bool // whether an object that has only such leaves, all without a value, is written
	}{
		{"minValues", w.minimum, boundedOrVariant}, {"maxValues", w.maximum, boundedOrVariant},
		{"nullCount", w.nulls, func(protocol.DataType) bool { return true }},
	} {
		w.dst = append(w.dst, `,"`+section.name+`":`...)
		w.write, w.keep = section.write, section.keep
		w.object(0, len(e.Leaves), 0)
	}
	if e.tight {
		w.dst = append(w.dst, `,"tightBounds":true`...)
	}
	return string(append(w.dst, '}')), nil
}

// boundedOrVariant: the reference counts variants among what can have bounds, though it writes none for them.
func boundedOrVariant(t protocol.DataType) bool { return t.Kind == protocol.KindVariant || Bounded(t) }

// statisticsWriter writes one file's statistics, section by section.
type statisticsWriter struct {
	encoder *Encoder
	facts   []LeafFacts
	dst     []byte
	write   func(leaf int) bool // appends the leaf's value; false where it has none
	keep    func(t protocol.DataType) bool
}

// object writes the leaves from first to before end, which share their names down to depth, as one object.
func (w *statisticsWriter) object(first, end, depth int) {
	w.dst = append(w.dst, '{')
	start := len(w.dst)
	for first < end {
		name := w.encoder.Leaves[first].Physical[depth]
		next, kept := first, false
		for next < end && w.encoder.Leaves[next].Physical[depth] == name {
			kept = kept || w.keep(w.encoder.Leaves[next].Type)
			next++
		}
		before := len(w.dst)
		if before > start {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(appendText(w.dst, string(name)), ':')
		wrote := kept
		if len(w.encoder.Leaves[first].Physical) > depth+1 {
			if kept {
				w.object(first, next, depth+1)
			}
		} else {
			wrote = w.write(first)
		}
		if !wrote {
			w.dst = w.dst[:before]
		}
		first = next
	}
	w.dst = append(w.dst, '}')
}

func (w *statisticsWriter) nulls(leaf int) bool {
	n := w.facts[leaf].Nulls
	if n < 0 {
		return false
	}
	w.dst = strconv.AppendInt(w.dst, n, 10)
	return true
}

func (w *statisticsWriter) minimum(leaf int) bool {
	v := w.facts[leaf].Min
	if v == nil || v.Null || !Bounded(w.encoder.Leaves[leaf].Type) {
		return false
	}
	low := *v
	switch low.Kind {
	case protocol.KindString:
		if w.encoder.prefix == 0 {
			return false
		}
		low.Str = TruncateMin(low.Str, w.encoder.prefix)
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		var ok bool
		if low.Int, ok = cutToMillis(low.Int); !ok {
			return false
		}
	}
	w.dst = appendBound(w.dst, low)
	return true
}

// maximum: the greatest timestamp is cut to milliseconds too, since readers know and add one.
func (w *statisticsWriter) maximum(leaf int) bool {
	v := w.facts[leaf].Max
	if v == nil || v.Null || !Bounded(w.encoder.Leaves[leaf].Type) {
		return false
	}
	high := *v
	switch high.Kind {
	case protocol.KindString:
		if w.encoder.prefix == 0 {
			return false
		}
		var ok bool
		if high.Str, ok = TruncateMax(high.Str, w.encoder.prefix); !ok {
			return false
		}
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		var ok bool
		if high.Int, ok = cutToMillis(high.Int); !ok {
			return false
		}
	case protocol.KindFloat, protocol.KindDouble:
		if high.Float == 0 {
			high.Float = 0 // -0.0 equals 0.0, and readers need not know
		}
	}
	w.dst = appendBound(w.dst, high)
	return true
}

// cutToMillis gives the millisecond in which an instant lies.
func cutToMillis(micros int64) (int64, bool) {
	millis := floorDiv(micros, 1000)
	return millis * 1000, millis >= math.MinInt64/1000
}

// appendBound writes a bound: numbers as numbers, those that JSON has no number for as strings, decimals with all digits of their
// scale, times as ISO 8601 has them with milliseconds.
func appendBound(dst []byte, v protocol.Value) []byte {
	switch v.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		if !math.IsNaN(v.Float) && !math.IsInf(v.Float, 0) {
			return append(dst, v.Text()...)
		}
		return appendText(dst, v.Text())
	case protocol.KindDecimal:
		return append(dst, v.Dec.String(v.Scale)...)
	case protocol.KindTimestamp:
		dst = v.AppendJSON(dst)
		return append(dst[:len(dst)-len(`000Z"`)], `Z"`...)
	case protocol.KindTimestampNTZ:
		dst = v.AppendJSON(dst)
		return append(dst[:len(dst)-len(`000"`)], '"')
	}
	return v.AppendJSON(dst)
}

func appendText(dst []byte, text string) []byte {
	return protocol.Value{Kind: protocol.KindString, Str: text}.AppendJSON(dst)
}
