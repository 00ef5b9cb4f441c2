package stats

import (
	"math"
	"strings"
	"testing"

	"deltasql/protocol"
)

func newTestEncoder(t *testing.T, schema string, partitions []string, configuration map[string]string, clustering ...[]protocol.PhysicalName) *Encoder {
	t.Helper()
	config, err := protocol.NewTableConfig(
		protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"variantType"}, WriterFeatures: []string{"variantType"}},
		protocol.Metadata{ID: "x", SchemaString: `{"type":"struct","fields":[` + schema + `]}`, PartitionColumns: partitions, Configuration: configuration})
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(config, clustering)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func testField(name, typ string) string {
	return `{"name":"` + name + `","type":` + typ + `,"nullable":true,"metadata":{}}`
}

func TestEncodeValues(t *testing.T) {
	number := func(kind protocol.Kind, n int64) protocol.Value { return protocol.Value{Kind: kind, Int: n} }
	float := func(kind protocol.Kind, f float64) protocol.Value { return protocol.Value{Kind: kind, Float: f} }
	decimal := func(text string, scale int) protocol.Value {
		d, ok := protocol.ParseInt128Decimal(text, scale)
		if !ok {
			t.Fatal(text)
		}
		return protocol.Value{Kind: protocol.KindDecimal, Dec: d, Scale: scale}
	}
	text := func(s string) protocol.Value { return protocol.Value{Kind: protocol.KindString, Str: s} }
	day := func(year, month, day int64) protocol.Value {
		return number(protocol.KindDate, protocol.DaysFromCivil(year, month, day))
	}
	for _, test := range []struct {
		name, typ string
		low, high protocol.Value
		want      string // of minimum and maximum, "" for none
	}{
		{"long", `"long"`, number(protocol.KindLong, math.MinInt64), number(protocol.KindLong, math.MaxInt64), "-9223372036854775808 9223372036854775807"},
		{"byte", `"byte"`, number(protocol.KindByte, -128), number(protocol.KindByte, 127), "-128 127"},
		{"float", `"float"`, float(protocol.KindFloat, float64(float32(0.1))), float(protocol.KindFloat, 1e10), "0.1 1.0E10"},
		{"double", `"double"`, float(protocol.KindDouble, -1.5e-30), float(protocol.KindDouble, 123), "-1.5E-30 123.0"},
		{"NaN is the greatest", `"double"`, float(protocol.KindDouble, 1), float(protocol.KindDouble, math.NaN()), `1.0 "NaN"`},
		{"NaN alone", `"float"`, float(protocol.KindFloat, math.NaN()), float(protocol.KindFloat, math.NaN()), `"NaN" "NaN"`},
		{"infinities", `"double"`, float(protocol.KindDouble, math.Inf(-1)), float(protocol.KindDouble, math.Inf(1)), `"-Infinity" "Infinity"`},
		{"zeros", `"double"`, float(protocol.KindDouble, math.Copysign(0, -1)), float(protocol.KindDouble, math.Copysign(0, -1)), "-0.0 0.0"},
		{"decimal", `"decimal(38,10)"`, decimal("-1.5", 10), decimal("1234567890123456789012345678.0000000001", 10), "-1.5000000000 1234567890123456789012345678.0000000001"},
		{"small decimal", `"decimal(38,38)"`, decimal("0", 38), decimal("0.00000000000000000000000000000000000001", 38), "0.00000000000000000000000000000000000000 0.00000000000000000000000000000000000001"},
		{"date", `"date"`, day(1, 1, 1), day(9999, 12, 31), `"0001-01-01" "9999-12-31"`},
		{"far dates", `"date"`, day(-44, 3, 15), day(12345, 1, 1), `"-0044-03-15" "+12345-01-01"`},
		{"timestamp", `"timestamp"`, number(protocol.KindTimestamp, -1), number(protocol.KindTimestamp, 1999), `"1969-12-31T23:59:59.999Z" "1970-01-01T00:00:00.001Z"`},
		{"timestamp_ntz", `"timestamp_ntz"`, number(protocol.KindTimestampNTZ, -1001), number(protocol.KindTimestampNTZ, 999), `"1969-12-31T23:59:59.998" "1970-01-01T00:00:00.000"`},
		{"timestamp out of reach", `"timestamp"`, number(protocol.KindTimestamp, math.MinInt64), number(protocol.KindTimestamp, 0), `- "1970-01-01T00:00:00.000Z"`},
		{"string", `"string"`, text("a\"\\\n<\u0001"), text("z"), `"a\"\\\n<\u0001" "z"`},
		{"long string", `"string"`, text(strings.Repeat("a", 40)), text(strings.Repeat("b", 40)), `"` + strings.Repeat("a", 32) + `" "` + strings.Repeat("b", 32) + "\x7f" + `"`},
		{"boolean", `"boolean"`, number(protocol.KindBoolean, 0), number(protocol.KindBoolean, 1), ""},
		{"binary", `"binary"`, protocol.Value{Kind: protocol.KindBinary, Str: "a"}, protocol.Value{Kind: protocol.KindBinary, Str: "b"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newTestEncoder(t, testField("c", test.typ), nil, nil)
			got, err := e.Encode(2, []LeafFacts{{Nulls: 0, Min: &test.low, Max: &test.high}})
			if err != nil {
				t.Fatal(err)
			}
			low, high, _ := strings.Cut(test.want, " ")
			member := func(text string) string {
				if text == "" || text == "-" {
					return "{}"
				}
				return `{"c":` + text + `}`
			}
			want := `{"numRecords":2,"minValues":` + member(low) + `,"maxValues":` + member(high) + `,"nullCount":{"c":0}}`
			if got != want {
				t.Errorf(" got %s\nwant %s", got, want)
			}
		})
	}
}

func TestEncodeShape(t *testing.T) {
	one := protocol.Value{Kind: protocol.KindInteger, Int: 1}
	known, none := LeafFacts{Nulls: 0, Min: &one, Max: &one}, LeafFacts{Nulls: 3}
	unknown := LeafFacts{Nulls: -1}
	inner := `{"type":"struct","fields":[` + testField("x", `"integer"`) + `,` + testField("y", `"boolean"`) + `]}`
	flags := `{"type":"struct","fields":[` + testField("z", `"boolean"`) + `]}`
	variants := `{"type":"struct","fields":[` + testField("v", `"variant"`) + `]}`
	list := `{"type":"array","elementType":"integer","containsNull":true}`
	for _, test := range []struct {
		name, schema string
		facts        []LeafFacts
		want         string
	}{
		{"struct", testField("s", inner), []LeafFacts{known, none}, `"minValues":{"s":{"x":1}},"maxValues":{"s":{"x":1}},"nullCount":{"s":{"x":0,"y":3}}`},
		{"a struct whose bounds are not there stays", testField("s", inner), []LeafFacts{none, none}, `"minValues":{"s":{}},"maxValues":{"s":{}},"nullCount":{"s":{"x":3,"y":3}}`},
		{"one that can have none does not", testField("s", flags), []LeafFacts{none}, `"minValues":{},"maxValues":{},"nullCount":{"s":{"z":3}}`},
		{"one of variants does", testField("s", variants), []LeafFacts{none}, `"minValues":{"s":{}},"maxValues":{"s":{}},"nullCount":{"s":{"v":3}}`},
		{"variants, lists", testField("v", `"variant"`) + "," + testField("l", list), []LeafFacts{none, {Nulls: 1}}, `"minValues":{},"maxValues":{},"nullCount":{"v":3,"l":1}`},
		{"unknown count", testField("a", `"integer"`) + "," + testField("b", `"integer"`), []LeafFacts{unknown, known}, `"minValues":{"b":1},"maxValues":{"b":1},"nullCount":{"b":0}`},
		{"void", testField("n", `"void"`) + "," + testField("b", `"integer"`), []LeafFacts{none, known}, `"minValues":{"b":1},"maxValues":{"b":1},"nullCount":{"n":3,"b":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := newTestEncoder(t, test.schema, nil, nil).Encode(3, test.facts)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"numRecords":3,` + test.want + `}`; got != want {
				t.Errorf(" got %s\nwant %s", got, want)
			}
		})
	}
}

func TestCollectedLeaves(t *testing.T) {
	inner := `{"type":"struct","fields":[` + testField("x", `"integer"`) + `,` + testField("y", `"string"`) + `]}`
	schema := strings.Join([]string{testField("p", `"integer"`), testField("a", `"integer"`), testField("s", inner), testField("b", `"integer"`)}, ",")
	for _, test := range []struct {
		name          string
		configuration map[string]string
		clustering    [][]protocol.PhysicalName
		want          string
	}{
		{"all but partition columns", nil, nil, "a s.x s.y b"},
		{"the first two", map[string]string{"delta.dataSkippingNumIndexedCols": "2"}, nil, "a s.x"},
		{"none", map[string]string{"delta.dataSkippingNumIndexedCols": "0"}, nil, ""},
		{"clustering columns always", map[string]string{"delta.dataSkippingNumIndexedCols": "1"}, [][]protocol.PhysicalName{{"b"}, {"s", "y"}}, "a s.y b"},
		{"a list, in the order of the schema", map[string]string{"delta.dataSkippingStatsColumns": "b,s"}, nil, "s.x s.y b"},
		{"a list and clustering columns", map[string]string{"delta.dataSkippingStatsColumns": "b"}, [][]protocol.PhysicalName{{"a"}}, "a b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, leaf := range newTestEncoder(t, schema, []string{"p"}, test.configuration, test.clustering...).Leaves {
				var path []string
				for _, name := range leaf.Physical {
					path = append(path, string(name))
				}
				got = append(got, strings.Join(path, "."))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	top := string(maxRune)
	for _, test := range []struct {
		name, text string
		limit      int
		low, high  string // high "-" for none
	}{
		{"short", "abc", 3, "abc", "abc"},
		{"empty", "", 3, "", ""},
		{"ASCII", "abcd", 3, "abc", "abc\x7f"},
		{"the next is not ASCII", "abcé", 3, "abc", "abc" + top},
		{"the next is DEL", "abc\x7f", 3, "abc", "abc" + top},
		{"no pair is split", "ab😀", 3, "ab", "ab" + top},
		{"a pair counts two", "😀😀x", 4, "😀😀", "😀😀\x7f"},
		{"over the greatest character", "abc" + top + "d", 3, "abc", "abc" + top + "\x7f"},
		{"to the end", "abc" + top, 3, "abc", "abc" + top},
		{"too many of them", "abc" + top + top + top, 3, "abc", "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if low := TruncateMin(test.text, test.limit); low != test.low || low > test.text {
				t.Errorf("minimum %q, want %q", low, test.low)
			}
			high, ok := TruncateMax(test.text, test.limit)
			if !ok {
				high = "-"
			}
			if high != test.high || ok && high < test.text {
				t.Errorf("maximum %q, want %q", high, test.high)
			}
		})
	}
}
