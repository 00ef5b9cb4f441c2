package stats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"deltasql/protocol"
)

var scannedLeaves = []Leaf{leafOf("a long"), leafOf("s.b long"), leafOf("s.c.d string"), leafOf("s list"), leafOf("é\"\\ long"), leafOf("numRecords long")}

func TestScanShapes(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"usual", `{"numRecords":3,"minValues":{"a":1,"s":{"b":2}},"maxValues":{"a":9},"nullCount":{"a":0,"s":{"b":1,"c":{"d":0}}},"tightBounds":true}`, "3 true a=1|9|0 s.b=2||1 s.c.d=||0 s={}||{0}"},
		{"another order and blanks", " {\n\"tightBounds\" : false ,\t\"nullCount\" : { \"a\" : 1 } , \"numRecords\" : 4 }\r", "4 false a=||1"},
		{"unknown members", `{"x":[1,{"y":"}]"}],"minValues":{"zz":{"a":5},"a":-1.5e3,"q":"\\\""},"statsWithCollation":{"a":{"minValues":{"a":7}}}}`, "- - a=-1.5e3||"},
		{"escapes in names and values", `{"minValues":{"\u0061":"x\ny\u00e9\ud83c\udf3c","\u00e9\"\\":7}}`, "- - a=x\ny\u00e9\U0001F33C|| é\"\\=7||"},
		{"nulls and bare words", `{"numRecords":null,"minValues":{"a":NaN},"maxValues":{"a":-Infinity},"nullCount":null}`, "null - a=NaN|-Infinity|"},
		{"a name twice", `{"minValues":{"a":1,"a":2,"s":{"b":3},"s":{"x":3}},"maxValues":{"a":1},"maxValues":{}}`, "- - a=2|| s={}||"},
		{"a scalar for a struct", `{"nullCount":{"s":5},"minValues":7}`, "- - s=||5"},
		{"leaf named as a section", `{"minValues":{"numRecords":1,"minValues":{"a":2}}}`, "- - numRecords=1||"},
		{"empty object", `{}`, "- -"},
	}
	for _, c := range cases {
		s := newScanner(scannedLeaves)
		if !s.scan([]byte(c.text)) {
			t.Errorf("%s: refused", c.name)
			continue
		}
		if got := describe(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	for _, text := range []string{"", " ", "null", "[]", `"x"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1}x`, `{"minValues":{"a":1}`, `{"minValues":{"a":"x}}`, `{"a":[1}`, `{a:1}`, `{"a" 1}`} {
		if newScanner(scannedLeaves).scan([]byte(text)) {
			t.Errorf("%q is accepted", text)
		}
	}
	records := newScanner(nil)
	if !records.scan([]byte(`{"numRecords":12,"minValues":{`)) || records.count(records.numRecords) != 12 {
		t.Error("numRecords alone stops early")
	}
	if records.scan([]byte(`{"numRecords":12`)) {
		t.Error("a number cut off is accepted")
	}
}

// describe prints what was found: numRecords, tightBounds, then path=min|max|nulls.
func describe(s *scanner) string {
	show := func(t token) string {
		text, _ := s.bytes(t)
		switch t.kind {
		case tokenMissing:
			return ""
		case tokenObject:
			return "{}"
		case tokenObjectZero:
			return "{0}"
		}
		return string(text)
	}
	out := bytes.NewBufferString(show(s.numRecords) + " " + show(s.tight))
	if s.numRecords.kind == tokenMissing {
		out = bytes.NewBufferString("- ")
		if s.tight.kind == tokenMissing {
			out.WriteString("-")
		}
	} else if s.tight.kind == tokenMissing {
		out.WriteString("-")
	}
	for i, leaf := range scannedLeaves {
		if tokens := *s.leaf(i); tokens != ([sections]token{}) {
			fmt.Fprintf(out, " %s=%s|%s|%s", leaf, show(tokens[0]), show(tokens[1]), show(tokens[2]))
		}
	}
	return out.String()
}

// FuzzStatsJSON compares with encoding/json wherever that accepts the text.
func FuzzStatsJSON(f *testing.F) {
	f.Add([]byte(`{"numRecords":3,"minValues":{"a":1,"s":{"b":2,"c":{"d":"x"}}},"maxValues":{"a":9},"nullCount":{"a":0,"s":{"b":1}},"tightBounds":true}`))
	f.Add([]byte(`{"numRecords":"3","minValues":{"\u0061":"\ud83c\udf3c\ud83c"},"nullCount":{"s":{"x":{"y":0}}}}`))
	f.Add([]byte(`{"minValues":{"a":[{"a":0}],"a":null},"minValues":{"é\"\\":-0.0e-7}}`))
	f.Add([]byte(`{"maxValues":{"s":{"c":{"d":{}}},"s":1}} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newScanner(scannedLeaves)
		accepted := s.scan(data)
		if accepted {
			for i := range scannedLeaves {
				for _, found := range s.leaf(i) {
					s.bytes(found)
				}
			}
		}
		var want map[string]any
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if !utf8.Valid(data) || !json.Valid(data) || decoder.Decode(&want) != nil || want == nil {
			return
		}
		if !accepted {
			t.Fatalf("%q is refused", data)
		}
		checkToken(t, s, s.numRecords, want, "numRecords")
		checkToken(t, s, s.tight, want, "tightBounds")
		for i, leaf := range scannedLeaves {
			for section, name := range []protocol.PhysicalName{"minValues", "maxValues", "nullCount"} {
				checkToken(t, s, s.leaf(i)[section], want, append([]protocol.PhysicalName{name}, leaf.Path...)...)
			}
		}
	})
}

func checkToken(t *testing.T, s *scanner, found token, want any, path ...protocol.PhysicalName) {
	t.Helper()
	for i, name := range path {
		object, ok := want.(map[string]any)
		if !ok {
			if found.kind != tokenMissing {
				t.Fatalf("%v: found %v below what is no object", path[:i], found)
			}
			return
		}
		if want, ok = object[string(name)]; !ok {
			if found.kind != tokenMissing {
				t.Fatalf("%v: found %v that is not there", path, found)
			}
			return
		}
	}
	text, whole := s.bytes(found)
	switch v := want.(type) {
	case nil:
		if found.kind != tokenNull {
			t.Fatalf("%v: %v for null", path, found)
		}
	case bool:
		if found.kind != tokenScalar || string(text) != fmt.Sprint(v) {
			t.Fatalf("%v: %q for %v", path, text, v)
		}
	case json.Number:
		if found.kind != tokenScalar || string(text) != v.String() {
			t.Fatalf("%v: %q for %v", path, text, v)
		}
	case string:
		if found.kind != tokenString && found.kind != tokenEscaped || whole && string(text) != v {
			t.Fatalf("%v: %q for %q", path, text, v)
		}
	case map[string]any:
		if found.kind != tokenObject && found.kind != tokenObjectZero {
			t.Fatalf("%v: %v for an object", path, found)
		}
		if hasZero(v) && found.kind != tokenObjectZero {
			t.Fatalf("%v: the zero is not seen", path)
		}
	case []any:
		if found.kind != tokenObject {
			t.Fatalf("%v: %v for an array", path, found)
		}
	}
}

func hasZero(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return v == "0"
	case map[string]any:
		for _, member := range v {
			if hasZero(member) {
				return true
			}
		}
	}
	return false
}
