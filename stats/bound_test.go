package stats

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

// boundsOf reads a text as both bounds of a leaf of the kind.
func boundsOf(kind string, min, max string) bounds {
	leaf := Leaf{Path: []protocol.PhysicalName{"a"}, Type: testTypes[kind]}
	s := newScanner([]Leaf{leaf})
	if !s.scan([]byte(`{"minValues":{"a":` + min + `},"maxValues":{"a":` + max + `}}`)) {
		return bounds{}
	}
	var b bounds
	newBoundReader(leaf, false).read(s, s.leaf(0)[sectionMin], s.leaf(0)[sectionMax], &b)
	b.min.s, b.max.s = string(b.sMin), string(b.sMax)
	return b
}

func TestReadInstantBound(t *testing.T) {
	const ms, s = 1000, microsPerSecond
	at := func(text string) int64 {
		v, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return v.UnixMicro()
	}
	cases := []struct {
		kind, text string
		min, max   int64
	}{
		{"ts", "2024-01-02T03:04:05.678Z", at("2024-01-02T03:04:05.678Z"), at("2024-01-02T03:04:05.678Z") + ms - 1},
		{"ts", "2024-01-02T03:04:05.678+05:30", at("2024-01-02T03:04:05.678+05:30"), at("2024-01-02T03:04:05.678+05:30") + ms - 1},
		{"ts", "2024-01-02 03:04:05+00", at("2024-01-02T03:04:05Z"), at("2024-01-02T03:04:05Z") + ms - 1},
		{"ts", "2024-01-02 03:04:05.123456-0230", at("2024-01-02T03:04:05.123456-02:30"), at("2024-01-02T03:04:05.123456-02:30") + ms - 1},
		{"ts", "2024-01-02 03:04:05", at("2024-01-02T03:04:05Z"), at("2024-01-02T03:04:05Z") + ms - 1},
		{"ts", "2024-01-02T03:04", at("2024-01-02T03:04:00Z"), at("2024-01-02T03:04:00Z") + ms - 1},
		{"ts", "2024-01-02", at("2024-01-02T00:00:00Z"), at("2024-01-02T00:00:00Z") + ms - 1},
		{"ts", "1850-01-01T05:53:28.000+05:53:28", at("1850-01-01T00:00:00Z") - ms + 1, at("1850-01-01T00:00:00Z") + ms - 1},
		{"ts", "1850-01-01T01:01:01.000+00:53", at("1850-01-01T00:08:01Z") - ms + 1 - 59*s, at("1850-01-01T00:08:01Z") + ms - 1 + 59*s},
		{"ts", "1930-01-01T00:20:00.000+00:20", at("1930-01-01T00:00:00Z") - ms + 1 - 59*s, at("1930-01-01T00:00:00Z") + ms - 1 + 59*s},
		{"ts", "1890-01-01T00:00:00.000+01:00", at("1889-12-31T23:00:00Z") - ms + 1 - 59*s, at("1889-12-31T23:00:00Z") + ms - 1 + 59*s},
		{"ts", "1970-01-01T00:00:00.000Z", 0, ms - 1},
		{"ts", "1969-12-31T23:59:59.999Z", -ms - ms + 1, -ms + ms - 1},
		{"ntz", "2024-01-02T03:04:05.678", at("2024-01-02T03:04:05.678Z"), at("2024-01-02T03:04:05.678Z") + ms - 1},
		{"ntz", "2024-01-02T03:04:05.678Z", at("2024-01-02T03:04:05.678Z"), at("2024-01-02T03:04:05.678Z") + ms - 1},
		{"ts", "+12024-01-02T03:04:05Z", at("2024-01-02T03:04:05Z") + 10000*31556952*s, at("2024-01-02T03:04:05Z") + 10000*31556952*s + ms - 1},
		{"ts", "0001-01-01T00:00:00.000Z", at("0001-01-01T00:00:00Z") - ms + 1, at("0001-01-01T00:00:00Z") + ms - 1},
	}
	for _, c := range cases {
		b := boundsOf(c.kind, strconv.Quote(c.text), strconv.Quote(c.text))
		if !b.hasMin || !b.hasMax || b.min.i != c.min || b.max.i != c.max {
			t.Errorf("%s: %d to %d (%v %v), want %d to %d", c.text, b.min.i, b.max.i, b.hasMin, b.hasMax, c.min, c.max)
		}
	}
	for _, text := range []string{
		"", "x", "2024", "2024-13-01", "2024-02-30", "2023-02-29T00:00:00Z", "2024-01-02T24:00:00Z", "2024-01-02T03:60:00Z", "2024-01-02T03:04:60Z",
		"2024-01-02T03:04:05.Z", "2024-01-02T03:04:05 UTC", "2024-01-02T03:04:05+19", "2024-01-02T03:04:05+1", "2024-01-02T03:04:05Z[UTC]",
		"infinity", "-9999999-01-01", "9999999-01-01", "2024-01-02T", "2024-1-2", "290309-12-22 (BC) 00:00:00+00",
	} {
		if b := boundsOf("ts", strconv.Quote(text), strconv.Quote(text)); b.hasMin || b.hasMax {
			t.Errorf("%q is a bound", text)
		}
	}
	if b := boundsOf("ntz", `"2024-01-02T03:04:05+01:00"`, "1704164645"); b.hasMin || b.hasMax {
		t.Error("an offset on a wall clock reading, or a bare number, is a bound")
	}
}

func TestReadOtherBounds(t *testing.T) {
	known := []struct{ kind, text string }{
		{"long", "9223372036854775807"}, {"long", "-9223372036854775808"}, {"long", `"12"`}, {"long", "12.000"}, {"byte", "-128"},
		{"double", "1e308"}, {"double", `"1.5"`}, {"double", "Infinity"}, {"float", "3.4028235e38"}, {"dec", "99999999.99"}, {"dec", "1E+3"},
		{"dec", "0E-10"}, {"dec18", "999999999999999999"}, {"dec38", "123456789012345678.120000"}, {"date", `"-0044-03-15"`}, {"bool", "true"},
	}
	for _, c := range known {
		if b := boundsOf(c.kind, c.text, c.text); !b.hasMin || !b.hasMax {
			t.Errorf("%s %s is no bound", c.kind, c.text)
		}
	}
	unknown := []struct{ kind, text string }{
		{"long", "9223372036854775808"}, {"long", "1e3"}, {"long", "1.5"}, {"long", "true"}, {"long", `"x"`}, {"long", "{}"}, {"long", "null"}, {"byte", "128"},
		{"short", "32768"}, {"int", "2147483648"}, {"double", "NaN"}, {"double", `"NaN"`}, {"double", "1e400"}, {"double", "0x1p3"}, {"double", `"1_0"`},
		{"float", "1e39"}, {"dec", "100000000.00"}, {"dec", "0.001"}, {"dec18", "1e18"}, {"dec18", "123456789012345680.0"}, {"dec38", "1.2345678901234568e17"},
		{"date", `"2024-01-01T00:00:00"`}, {"date", "20240101"}, {"bool", "1"}, {"string", "5"}, {"binary", `"x"`}, {"collated", `"x"`}, {"variant", `"x"`},
		{"list", "[1]"}, {"string", `"\ud83c"`}, {"string", `"\x"`},
	}
	for _, c := range unknown {
		if b := boundsOf(c.kind, c.text, c.text); b.hasMin || b.hasMax {
			t.Errorf("%s %s is a bound", c.kind, c.text)
		}
	}
	if b := boundsOf("string", `"ab�cd"`, `"ab�cd"`); b.min.s != "ab" || !b.hasMin || b.hasMax {
		t.Errorf("replaced characters: %+v", b)
	}
}

// FuzzBound gives any text as both bounds of any kind. What is known of them must hold the value that the standard library reads.
func FuzzBound(f *testing.F) {
	for kind, text := range map[string]string{
		"long": "12", "double": "1e-7", "float": "0.1", "dec": "1.25", "dec38": "1e17", "date": "2024-02-29", "ts": "2024-01-02T03:04:05.678+05:53:28",
		"ntz": "2024-01-02 03:04:05", "string": "aé\U0001F33C", "bool": "true",
	} {
		f.Add(kind, text, true)
		f.Add(kind, text, false)
	}
	f.Fuzz(func(t *testing.T, kind, text string, quoted bool) {
		if _, ok := testTypes[kind]; !ok {
			return
		}
		token := text
		if quoted {
			encoded, err := json.Marshal(text)
			if err != nil {
				return
			}
			token = string(encoded)
		}
		b := boundsOf(kind, token, token)
		if !b.hasMin || !b.hasMax {
			return
		}
		text = strings.TrimSpace(text)
		within := true
		switch kind {
		case "byte", "short", "int", "long":
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				within = b.min.i == v && b.max.i == v
			}
		case "double", "float":
			size := map[string]int{"double": 64, "float": 32}[kind]
			v, err := strconv.ParseFloat(text, size)
			within = err == nil && !math.IsNaN(v) && b.min.f == v && b.max.f == v
		case "dec", "dec18", "dec38", "dec52":
			v, ok := new(big.Rat).SetString(text)
			low, _ := new(big.Rat).SetString(b.min.d.String(testTypes[kind].Scale))
			within = ok && low != nil && low.Cmp(v) == 0 && b.min.d == b.max.d
		case "date":
			if v, err := time.Parse("2006-01-02", text); err == nil {
				within = b.min.i*secondsPerDay == v.Unix() && b.max.i == b.min.i
			}
		case "ts", "ntz":
			if v, err := time.Parse(time.RFC3339Nano, text); err == nil {
				within = b.min.i <= v.UnixMicro() && v.UnixMicro() <= b.max.i && b.max.i-b.min.i <= 2*(cutMicros+cutOffsetMicros)
			}
		case "string":
			within = !quoted || b.min.s <= text && b.max.s >= text || text != token
		}
		if !within {
			t.Errorf("%s %q gives %+v", kind, token, b)
		}
	})
}
