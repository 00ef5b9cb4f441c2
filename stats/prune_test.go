package stats

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"deltasql/protocol"
)

// memoryFile is an add action as far as skipping is concerned.
type memoryFile struct {
	stats   string
	values  map[string]string // partition values; absent is NULL
	deleted int64
}

type memorySource []memoryFile

func (s memorySource) NumFiles() int           { return len(s) }
func (s memorySource) RawStats(i int) []byte   { return []byte(s[i].stats) }
func (s memorySource) DeletedRows(i int) int64 { return s[i].deleted }

func (s memorySource) PartitionValue(i int, name protocol.PhysicalName) (string, bool) {
	v, ok := s[i].values[string(name)]
	return v, !ok
}

// Types by the names that the tests use.
var testTypes = map[string]protocol.DataType{
	"bool": {Kind: protocol.KindBoolean}, "byte": {Kind: protocol.KindByte}, "short": {Kind: protocol.KindShort},
	"int": {Kind: protocol.KindInteger}, "long": {Kind: protocol.KindLong}, "float": {Kind: protocol.KindFloat},
	"double": {Kind: protocol.KindDouble}, "string": {Kind: protocol.KindString}, "binary": {Kind: protocol.KindBinary},
	"date": {Kind: protocol.KindDate}, "ts": {Kind: protocol.KindTimestamp}, "ntz": {Kind: protocol.KindTimestampNTZ},
	"dec": {Kind: protocol.KindDecimal, Precision: 10, Scale: 2}, "dec18": {Kind: protocol.KindDecimal, Precision: 18},
	"dec38": {Kind: protocol.KindDecimal, Precision: 38, Scale: 6}, "dec52": {Kind: protocol.KindDecimal, Precision: 20, Scale: 5},
	"collated": {Kind: protocol.KindString, Collation: "ICU.en_US_CI"}, "list": {Kind: protocol.KindArray},
	"variant": {Kind: protocol.KindVariant}, "file": {Kind: protocol.KindFile},
}

// config makes a configuration of columns "name type", partition columns with a leading '*', columns that cannot be NULL with a
// trailing '!'.
func config(columns ...string) *protocol.TableConfig {
	cfg := &protocol.TableConfig{Schema: protocol.DataType{Kind: protocol.KindStruct}, Mapping: "none"}
	for i, c := range columns {
		if strings.HasPrefix(c, "*") {
			cfg.PartitionColumns = append(cfg.PartitionColumns, i)
		}
		name, kind, _ := strings.Cut(strings.Trim(c, "*!"), " ")
		cfg.Schema.Fields = append(cfg.Schema.Fields, protocol.Field{
			Name: protocol.LogicalName(name), Type: testTypes[kind], Nullable: !strings.HasSuffix(c, "!"),
		})
	}
	return cfg
}

// leafOf is "path type", the path with dots.
func leafOf(text string) Leaf {
	path, kind, _ := strings.Cut(text, " ")
	leaf := Leaf{Type: testTypes[kind]}
	for name := range strings.SplitSeq(path, ".") {
		leaf.Path = append(leaf.Path, protocol.PhysicalName(name))
	}
	return leaf
}

// literal makes a value; text for decimals ("dec:1.25"), dates and timestamps is parsed.
func literal(v any) protocol.Value {
	switch v := v.(type) {
	case nil:
		return protocol.Value{Null: true}
	case bool:
		if v {
			return protocol.Value{Kind: protocol.KindBoolean, Int: 1}
		}
		return protocol.Value{Kind: protocol.KindBoolean}
	case int:
		return protocol.Value{Kind: protocol.KindLong, Int: int64(v)}
	case float32:
		return protocol.Value{Kind: protocol.KindFloat, Float: float64(v)}
	case float64:
		return protocol.Value{Kind: protocol.KindDouble, Float: v}
	case protocol.Value:
		return v
	}
	kind, text, typed := strings.Cut(v.(string), ":")
	if !typed || kind != "dec" && kind != "date" && kind != "ts" && kind != "ntz" {
		return protocol.Value{Kind: protocol.KindString, Str: v.(string)}
	}
	switch kind {
	case "dec":
		scale := 0
		if point := strings.IndexByte(text, '.'); point >= 0 {
			scale = len(text) - point - 1
		}
		d, ok := protocol.ParseInt128Decimal(text, scale)
		if !ok {
			panic(text)
		}
		return protocol.Value{Kind: protocol.KindDecimal, Dec: d, Scale: scale}
	case "date":
		days, _, ok := parseDate([]byte(text))
		if !ok {
			panic(text)
		}
		return protocol.Value{Kind: protocol.KindDate, Int: days}
	case "ts", "ntz":
		micros, _, ok := parseInstant([]byte(text))
		if !ok {
			panic(text)
		}
		return protocol.Value{Kind: testTypes[kind].Kind, Int: micros}
	}
	panic(v)
}

func cmpOf(leaf string, op Op, v any) Predicate {
	return Compare{Leaf: leafOf(leaf), Op: op, Value: literal(v)}
}

func inOf(leaf string, values ...any) Predicate {
	p := InList{Leaf: leafOf(leaf)}
	for _, v := range values {
		p.Values = append(p.Values, literal(v))
	}
	return p
}

func isNull(leaf string) Predicate    { return IsNull{leafOf(leaf)} }
func isNotNull(leaf string) Predicate { return IsNotNull{leafOf(leaf)} }

// bounded is the statistics of a file with one leaf a.
func bounded(min, max, nulls, records string) memoryFile {
	text := `{"numRecords":` + records
	if min != "" {
		text += `,"minValues":{"a":` + min + `}`
	}
	if max != "" {
		text += `,"maxValues":{"a":` + max + `}`
	}
	if nulls != "" {
		text += `,"nullCount":{"a":` + nulls + `}`
	}
	return memoryFile{stats: text + "}"}
}

func TestPruneByRule(t *testing.T) {
	nan := math.NaN()
	maybe := Maybe{Text: "f(y)"}
	emoji := strings.Repeat("a", 32) + "\U0001F33C"
	cases := []struct {
		name    string
		columns []string
		files   []memoryFile
		p       Predicate
		keep    string
	}{
		{"integers <", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, cmpOf("a long", Less, 10), "0"},
		{"integers >=", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, cmpOf("a long", GreaterOrEqual, 10), "1"},
		{"integers >", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, cmpOf("a long", Greater, 19), ""},
		{"integers <=", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, cmpOf("a long", LessOrEqual, -1), ""},
		{"integers =", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10"), bounded("", "", "", "5")}, cmpOf("a long", Equal, 12), "1 2"},
		{"<> on a constant file", []string{"a long"}, []memoryFile{bounded("5", "5", "0", "3"), bounded("5", "6", "0", "3")}, cmpOf("a long", NotEqual, 5), "1"},
		{"<> with a bound missing", []string{"a long"}, []memoryFile{bounded("5", "", "0", "3")}, cmpOf("a long", NotEqual, 5), "0"},
		{"IN", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "3"), bounded("20", "29", "0", "3"), bounded("10", "19", "0", "3")}, inOf("a long", 25, 3, nil), "0 1"},
		{"NOT IN", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3"), bounded("3", "4", "0", "3")}, Not{inOf("a long", 3, 4)}, "1"},
		{"NOT IN with NULL", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3")}, Not{inOf("a long", 9, nil)}, ""},
		{"IN ()", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3")}, inOf("a long"), ""},
		{"NOT IN () holds for NULL too", []string{"a long"}, []memoryFile{bounded("", "", "3", "3")}, Not{inOf("a long")}, "0"},
		{"compare with NULL", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3")}, cmpOf("a long", NotEqual, nil), ""},
		{"NOT of compare with NULL", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3")}, Not{cmpOf("a long", Equal, nil)}, ""},
		{"<=> NULL", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3"), bounded("3", "3", "1", "3")}, cmpOf("a long", NullSafeEqual, nil), "1"},
		{"NOT <=> value", []string{"a long"}, []memoryFile{bounded("3", "3", "0", "3"), bounded("3", "3", "1", "3"), bounded("3", "4", "0", "3")}, Not{cmpOf("a long", NullSafeEqual, 3)}, "1 2"},
		{"an all-null file has no values", []string{"a long"}, []memoryFile{bounded("", "", "3", "3")}, cmpOf("a long", NotEqual, 3), ""},
		{"NOT of a range", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "3"), bounded("10", "19", "0", "3")}, Not{cmpOf("a long", Less, 10)}, "1"},
		{"contradiction", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "3")}, And{cmpOf("a long", Less, 3), cmpOf("a long", Greater, 5)}, ""},
		{"no statistics", []string{"a long"}, []memoryFile{{}, {stats: "{}"}, {stats: "[]"}, {stats: `{"numRecords":3,"minValues":{"a":7}`}}, cmpOf("a long", Equal, 1), "0 1 2 3"},
		{"bounds in the wrong order", []string{"a long"}, []memoryFile{bounded("9", "0", "0", "3")}, cmpOf("a long", Equal, 20), "0"},
		{"numbers as strings", []string{"a long"}, []memoryFile{bounded(`"0"`, `"9"`, `"0"`, `"3"`)}, cmpOf("a long", Equal, 20), ""},

		{"ST-01 maximum cut to ms", []string{"a ts"}, []memoryFile{bounded(`"2024-01-01T00:00:00.123Z"`, `"2024-01-01T00:00:00.123Z"`, "0", "1")}, cmpOf("a ts", Greater, "ts:2024-01-01 00:00:00.1234"), "0"},
		{"ST-01 equality", []string{"a ts"}, []memoryFile{bounded(`"2024-01-01T00:00:00.123Z"`, `"2024-01-01T00:00:00.123Z"`, "0", "1")}, cmpOf("a ts", Equal, "ts:2024-01-01 00:00:00.123456"), "0"},
		{"ST-01 last microsecond", []string{"a ntz"}, []memoryFile{bounded(`"2024-01-01T00:00:00.123"`, `"2024-01-01T00:00:00.123"`, "0", "1")}, cmpOf("a ntz", GreaterOrEqual, "ntz:2024-01-01 00:00:00.123999"), "0"},
		{"ST-01 beyond", []string{"a ts"}, []memoryFile{bounded(`"2024-01-01T00:00:00.123Z"`, `"2024-01-01T00:00:00.123Z"`, "0", "1")}, cmpOf("a ts", Greater, "ts:2024-01-01 00:00:00.124"), ""},
		{"ST-01 <> of a cut bound", []string{"a ts"}, []memoryFile{bounded(`"2024-01-01T00:00:00.123Z"`, `"2024-01-01T00:00:00.123Z"`, "0", "1")}, cmpOf("a ts", NotEqual, "ts:2024-01-01 00:00:00.123"), "0"},
		{"ST-03 seconds of the offset lost", []string{"a ts"}, []memoryFile{bounded(`"1850-01-01T01:01:01.000+00:53"`, `"1850-01-01T01:01:01.000+00:53"`, "0", "1")}, cmpOf("a ts", Equal, "ts:1850-01-01 00:07:33Z"), "0"},
		{"ST-03 seconds of the offset there", []string{"a ts"}, []memoryFile{bounded(`"1850-01-01T01:01:01.000+00:53:28"`, `"1850-01-01T01:01:01.000+00:53:28"`, "0", "1")}, cmpOf("a ts", Equal, "ts:1850-01-01 00:07:33Z"), "0"},
		{"ST-03 exact offset skips", []string{"a ts"}, []memoryFile{bounded(`"1850-01-01T01:01:01.000+00:53:28"`, `"1850-01-01T01:01:01.000+00:53:28"`, "0", "1")}, cmpOf("a ts", Equal, "ts:1850-01-01 00:07:35Z"), ""},
		{"ST-05 maximum with U+FFFD", []string{"a string"}, []memoryFile{bounded(`"a"`, `"`+strings.Repeat("a", 32)+`\ufffd"`, "0", "1")}, cmpOf("a string", Equal, emoji), "0"},
		{"ST-05 above U+10000", []string{"a string"}, []memoryFile{bounded(`"a"`, `"`+strings.Repeat("a", 32)+`�"`, "0", "1")}, cmpOf("a string", GreaterOrEqual, strings.Repeat("a", 32)+"\U00010000"), "0"},
		{"ST-05 half a pair", []string{"a string"}, []memoryFile{bounded(`"a"`, `"aaa\ud83c"`, "0", "1")}, cmpOf("a string", Equal, "aaa\U0001F33C"), "0"},
		{"ST-07 all digits", []string{"a dec18"}, []memoryFile{bounded("999999999999999999", "999999999999999999", "0", "1")}, cmpOf("a dec18", Less, "dec:999999999999999999"), ""},
		{"ST-07 rounded up out of the type", []string{"a dec18"}, []memoryFile{bounded("1e18", "1e18", "0", "1")}, cmpOf("a dec18", Equal, "dec:999999999999999999"), "0"},
		{"ST-07 rounded float inside the type", []string{"a dec38"}, []memoryFile{bounded("1.2345678901234568e17", "123456789012345680.0", "0", "1")}, cmpOf("a dec38", Equal, "dec:123456789012345678.12"), "0"},
		{"ST-07 string", []string{"a dec38"}, []memoryFile{bounded(`"99999999999999999999999999999999.999999"`, `"99999999999999999999999999999999.999999"`, "0", "1")}, cmpOf("a dec38", Less, "dec:99999999999999999999999999999999.999999"), ""},
		{"ST-07 small exact", []string{"a dec"}, []memoryFile{bounded("0.10", "0.1", "0", "1")}, cmpOf("a dec", Greater, "dec:0.10"), ""},
		{"ST-08 NaN above a finite maximum", []string{"a double"}, []memoryFile{bounded("1.0", "1.0", "0", "2")}, cmpOf("a double", Greater, 100.0), "0"},
		{"ST-08 = NaN", []string{"a double"}, []memoryFile{bounded("1.0", "1.0", "0", "2")}, cmpOf("a double", Equal, nan), "0"},
		{"ST-08 <> with NaN", []string{"a double"}, []memoryFile{bounded("1.0", "1.0", "0", "2")}, cmpOf("a double", NotEqual, 1.0), "0"},
		{"ST-08 IN with NaN", []string{"a double"}, []memoryFile{bounded("1.0", "1.0", "0", "2")}, inOf("a double", 7.0, nan), "0"},
		{"ST-08 below the minimum", []string{"a double"}, []memoryFile{bounded("1.0", `"NaN"`, "0", "2")}, cmpOf("a double", Less, 1.0), ""},
		{"ST-08 equality beyond", []string{"a double"}, []memoryFile{bounded("1.0", "2.0", "0", "2")}, cmpOf("a double", Equal, 3.0), ""},
		{"ST-08 range with an upper end", []string{"a double"}, []memoryFile{bounded("1.0", "2.0", "0", "2")}, And{cmpOf("a double", Greater, 3.0), cmpOf("a double", Less, 4.0)}, ""},
		{"ST-08 infinities", []string{"a double"}, []memoryFile{bounded(`"-Infinity"`, `"Infinity"`, "0", "3"), bounded("-Infinity", "NaN", "0", "3")}, cmpOf("a double", Less, -1e300), "0 1"},
		{"ST-08 all NaN", []string{"a double"}, []memoryFile{bounded(`"NaN"`, `"NaN"`, "0", "1")}, cmpOf("a double", Equal, 0.0), "0"},
		{"ST-08 zeros are equal", []string{"a double"}, []memoryFile{bounded("0.0", "0.0", "0", "1"), bounded("-0.0", "-0.0", "0", "1")}, And{cmpOf("a double", GreaterOrEqual, 0.0), cmpOf("a double", LessOrEqual, math.Copysign(0, -1))}, "0 1"},
		{"ST-09 no statistics of a partition column", []string{"id long", "*p int!"}, []memoryFile{{stats: `{"numRecords":1,"minValues":{"id":1}}`, values: map[string]string{"p": "1"}}, {values: map[string]string{"p": "2"}}}, cmpOf("p int", Equal, 1), "0"},
		{"ST-12 maybe under AND", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, And{cmpOf("a long", Greater, 12), maybe}, "1"},
		{"ST-12 maybe under OR", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, Or{cmpOf("a long", Greater, 12), maybe}, "0 1"},
		{"ST-12 maybe under NOT AND", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("10", "19", "0", "10")}, Not{And{cmpOf("a long", Greater, 12), maybe}}, "0 1"},
		{"ST-12 maybe under NOT OR", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10"), bounded("13", "19", "0", "10")}, Not{Or{cmpOf("a long", Greater, 12), maybe}}, "0"},
		{"ST-12 maybe alone and negated", []string{"a long"}, []memoryFile{bounded("0", "9", "0", "10")}, Or{Not{maybe}, maybe}, "0"},
		{"ST-17 dates", []string{"*d date"}, []memoryFile{{values: map[string]string{"d": "2025-05-23"}}, {values: map[string]string{"d": "2025-05-24"}}, {}}, cmpOf("d date", Equal, "date:2025-05-24"), "1"},
		{"ST-18 literal beyond the old type", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1"), bounded("5000000000", "5000000000", "0", "1")}, cmpOf("a long", Less, math.MaxInt64), "0 1"},
		{"ST-18 below", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1"), bounded("5000000000", "5000000000", "0", "1")}, cmpOf("a long", Greater, -3000000000), "0 1"},
		{"ST-18 between", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1"), bounded("5000000000", "5000000000", "0", "1")}, cmpOf("a long", Equal, 4294967296), ""},
		{"ST-18 bound outside the type", []string{"a byte"}, []memoryFile{bounded("300", "300", "0", "1")}, cmpOf("a byte", Equal, 44), "0"},
		{"ST-20 null count of a partition column", []string{"*p int"}, []memoryFile{{stats: `{"numRecords":2,"nullCount":{"p":0}}`}, {stats: `{"numRecords":2}`, values: map[string]string{"p": "1"}}}, isNull("p int"), "0"},
		{"ST-20 IS NOT NULL", []string{"*p int"}, []memoryFile{{stats: `{"numRecords":2,"nullCount":{"p":0}}`}, {values: map[string]string{"p": "1"}}}, isNotNull("p int"), "1"},

		{"TY-06 int to double", []string{"a double"}, []memoryFile{bounded("1", "3", "0", "1")}, cmpOf("a double", LessOrEqual, 0.5), ""},
		{"TY-06 int to decimal", []string{"a dec52"}, []memoryFile{bounded("123", "123", "0", "1"), bounded("1.25", "1.25", "0", "1")}, cmpOf("a dec52", Equal, "dec:123.00"), "0"},
		{"TY-06 date to timestamp_ntz", []string{"a ntz"}, []memoryFile{bounded(`"2024-01-01"`, `"2024-01-01"`, "0", "1"), bounded(`"2024-01-02"`, `"2024-01-02"`, "0", "1")}, cmpOf("a ntz", Equal, "ntz:2024-01-01 00:00:00"), "0"},
		{"TY-06 float text is a float", []string{"a float"}, []memoryFile{bounded("0.1", "0.1", "0", "1")}, cmpOf("a float", Equal, float32(0.1)), "0"},
		{"TY-06 float text is not the double", []string{"a float"}, []memoryFile{bounded("0.1", "0.1", "0", "1")}, cmpOf("a float", LessOrEqual, float64(float32(0.1))), "0"},
		{"TY-08 column missing in the file", []string{"a string"}, []memoryFile{{stats: `{"numRecords":3}`}, bounded(`"male"`, `"male"`, "0", "2")}, isNotNull("a string"), "0 1"},
		{"TY-08 IS NULL", []string{"a string"}, []memoryFile{{stats: `{"numRecords":3}`}, bounded(`"male"`, `"male"`, "0", "2"), bounded("", "", "3", "3")}, isNull("a string"), "0 2"},
		{"TY-08 null count says all", []string{"a string"}, []memoryFile{bounded("", "", "3", "3")}, isNotNull("a string"), ""},
		{"loose bounds: partial null count", []string{"a int"}, []memoryFile{{stats: `{"numRecords":3,"nullCount":{"a":1},"tightBounds":false}`, deleted: 1}}, Or{isNull("a int"), isNotNull("a int")}, "0"},
		{"loose bounds: null count 0", []string{"a int"}, []memoryFile{{stats: `{"numRecords":3,"nullCount":{"a":0},"tightBounds":false}`, deleted: 1}}, isNull("a int"), ""},
		{"loose bounds: all null", []string{"a int"}, []memoryFile{{stats: `{"numRecords":3,"nullCount":{"a":3},"tightBounds":false}`, deleted: 1}}, isNotNull("a int"), ""},
		{"null count above the records", []string{"a int"}, []memoryFile{bounded("", "", "4", "3")}, isNotNull("a int"), "0"},
		{"null count without numRecords", []string{"a int"}, []memoryFile{{stats: `{"nullCount":{"a":4}}`}, {stats: `{"nullCount":{"a":0}}`}}, isNull("a int"), "0"},

		{"PP-01 empty text is NULL", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": ""}}, {}, {values: map[string]string{"p": "abc"}}}, isNull("p string"), "0 1"},
		{"PP-01 empty integer", []string{"*p int"}, []memoryFile{{values: map[string]string{"p": ""}}}, isNotNull("p int"), ""},
		{"PP-01 NOT NULL string is kept either way", []string{"*p string!"}, []memoryFile{{values: map[string]string{"p": ""}}, {values: map[string]string{"p": "x"}}}, cmpOf("p string", Equal, ""), "0"},
		{"PP-02 the folder name is a text", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "__HIVE_DEFAULT_PARTITION__"}}}, isNull("p string"), ""},
		{"damaged partition value is kept", []string{"*p int"}, []memoryFile{{values: map[string]string{"p": "x"}}, {values: map[string]string{"p": "2"}}}, cmpOf("p int", Equal, 1), "0"},
		{"partition range", []string{"*p int"}, []memoryFile{{values: map[string]string{"p": "10"}}, {values: map[string]string{"p": "9"}}, {values: map[string]string{"p": "2"}}, {}}, And{cmpOf("p int", Greater, 2), cmpOf("p int", Less, 10)}, "1"},
		{"partition <>", []string{"*p int"}, []memoryFile{{values: map[string]string{"p": "10"}}, {values: map[string]string{"p": "9"}}, {}}, cmpOf("p int", NotEqual, 9), "0"},
		{"partition NOT IN", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "a"}}, {values: map[string]string{"p": "b"}}, {values: map[string]string{"p": "c"}}, {}}, Not{inOf("p string", "a", "c")}, "1"},
		{"partition prefix", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "abc"}}, {values: map[string]string{"p": "abd"}}, {values: map[string]string{"p": "ac"}}}, Prefix{leafOf("p string"), "ab"}, "0 1"},
		{"partition NOT prefix", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "abc"}}, {values: map[string]string{"p": "aa"}}, {values: map[string]string{"p": "ac"}}, {}}, Not{Prefix{leafOf("p string"), "ab"}}, "1 2"},
		{"partition NOT prefix that ends in U+FFFD", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "ab\U0001F33C"}}, {values: map[string]string{"p": "ab\uFFFDx"}}, {values: map[string]string{"p": "b"}}}, Not{Prefix{leafOf("p string"), "ab\uFFFD"}}, "0 2"},
		{"partition NOT prefix of no UTF-8", []string{"*p string"}, []memoryFile{{values: map[string]string{"p": "ab"}}, {values: map[string]string{"p": "a\x81"}}, {values: map[string]string{"p": "a\x80\xff"}}}, Not{Prefix{leafOf("p string"), "a\x80"}}, "0 1"},
		{"partition NaN is greatest", []string{"*p double"}, []memoryFile{{values: map[string]string{"p": "NaN"}}, {values: map[string]string{"p": "1"}}}, cmpOf("p double", Greater, 100.0), "0"},
		{"partition or statistics", []string{"*p int", "a int"}, []memoryFile{{stats: `{"numRecords":1,"minValues":{"a":1},"maxValues":{"a":1}}`, values: map[string]string{"p": "1"}}, {stats: `{"numRecords":1,"minValues":{"a":1},"maxValues":{"a":1}}`, values: map[string]string{"p": "2"}}}, Or{cmpOf("p int", Equal, 2), cmpOf("a int", Equal, 7)}, "1"},

		{"prefix", []string{"a string"}, []memoryFile{bounded(`"abc"`, `"abz"`, "0", "1"), bounded(`"ac"`, `"b"`, "0", "1"), bounded(`"a"`, `"aaz"`, "0", "1")}, Prefix{leafOf("a string"), "ab"}, "0"},
		{"NOT prefix", []string{"a string"}, []memoryFile{bounded(`"abc"`, `"abz"`, "0", "1"), bounded(`"abc"`, `"b"`, "0", "1")}, Not{Prefix{leafOf("a string"), "ab"}}, "1"},
		{"strings in byte order", []string{"a string"}, []memoryFile{bounded(`"Z"`, `"Zz"`, "0", "1"), bounded(`"\u00e9"`, `"\u00e9"`, "0", "1")}, cmpOf("a string", Greater, "a"), "1"},
		{"string below an open end", []string{"a string"}, []memoryFile{bounded(`"b"`, `"c"`, "0", "1")}, cmpOf("a string", Less, "b"), ""},
		{"string above", []string{"a string"}, []memoryFile{bounded(`"b"`, `"c"`, "0", "1")}, cmpOf("a string", Greater, "c"), ""},
		{"collated strings", []string{"a collated"}, []memoryFile{bounded(`"b"`, `"c"`, "0", "1")}, cmpOf("a collated", Equal, "B"), "0"},
		{"booleans", []string{"a bool"}, []memoryFile{bounded("false", "false", "0", "1"), bounded("false", "true", "0", "1")}, cmpOf("a bool", Equal, true), "1"},
		{"binary has null counts only", []string{"a binary"}, []memoryFile{bounded(`"a"`, `"a"`, "0", "1"), bounded("", "", "1", "1")}, cmpOf("a binary", Equal, protocol.Value{Kind: protocol.KindBinary, Str: "b"}), "0"},
		{"lists have null counts only", []string{"a list"}, []memoryFile{bounded("", "", "0", "1"), bounded("", "", "1", "1")}, isNull("a list"), "1"},
		{"struct members", []string{"s list"}, []memoryFile{{stats: `{"numRecords":2,"minValues":{"s":{"x":1,"y":{"z":5}}},"maxValues":{"s":{"x":1,"y":{"z":6}}}}`}}, cmpOf("s.y.z int", Equal, 1), ""},
		{"9.5 a file value with a leaf that is never null", []string{"a file"}, []memoryFile{bounded("", "", `{"uri":0,"size":2}`, "2"), bounded("", "", `{"uri":1,"size":2}`, "2"), bounded("", "", "0", "2")}, isNull("a file"), "1"},
		{"9.5 IS NOT NULL of a file value", []string{"a file"}, []memoryFile{bounded("", "", `{"uri":2,"size":2}`, "2")}, isNotNull("a file"), "0"},
		{"9.5 leaf of a file value", []string{"a file"}, []memoryFile{{stats: `{"numRecords":1,"minValues":{"a":{"uri":"s3://b/a"}},"maxValues":{"a":{"uri":"s3://b/z"}}}`}}, cmpOf("a.uri string", Equal, "s3://c"), ""},

		{"dates before 1970 and after 9999", []string{"a date"}, []memoryFile{bounded(`"1582-10-15"`, `"1582-10-15"`, "0", "1"), bounded(`"+12000-01-01"`, `"12000-01-01"`, "0", "1")}, cmpOf("a date", Greater, "date:9999-12-31"), "1"},
		{"DuckDB instants", []string{"a ts"}, []memoryFile{bounded(`"2024-01-01 00:00:00+00"`, `"2024-01-01 00:00:00+00"`, "0", "1"), bounded(`"2024-01-02 00:00:00"`, `"2024-01-02 00:00:00"`, "0", "1")}, cmpOf("a ts", Equal, "ts:2024-01-01T00:00:00Z"), "0"},

		{"decimal literal on integers", []string{"a int"}, []memoryFile{bounded("4", "4", "0", "1"), bounded("5", "5", "0", "1")}, cmpOf("a int", Less, "dec:4.5"), "0"},
		{"decimal literal above integers", []string{"a int"}, []memoryFile{bounded("4", "4", "0", "1"), bounded("5", "5", "0", "1")}, cmpOf("a int", Greater, "dec:4.5"), "1"},
		{"decimal literal between integers", []string{"a int"}, []memoryFile{bounded("0", "9", "0", "1")}, cmpOf("a int", Equal, "dec:4.5"), ""},
		{"<> between integers needs a value", []string{"a int"}, []memoryFile{bounded("0", "0", "0", "1"), bounded("", "", "1", "1")}, cmpOf("a int", NotEqual, "dec:4.5"), "0"},
		{"negative fraction", []string{"a int"}, []memoryFile{bounded("-5", "-5", "0", "1"), bounded("-4", "-4", "0", "1")}, cmpOf("a int", Less, "dec:-4.5"), "0"},
		{"literal above every integer", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1")}, cmpOf("a long", GreaterOrEqual, "dec:9223372036854775808"), ""},
		{"literal below every integer", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1")}, cmpOf("a long", Greater, "dec:-9223372036854775809"), "0"},
		{"double literal on integers", []string{"a int"}, []memoryFile{bounded("4", "4", "0", "1"), bounded("5", "5", "0", "1")}, cmpOf("a int", LessOrEqual, 4.9), "0"},
		{"large double literal on integers is not judged", []string{"a long"}, []memoryFile{bounded("0", "0", "0", "1"), bounded("", "", "1", "1")}, cmpOf("a long", Greater, 1e18), "0"},
		{"float literal on integers, which are compared as floats", []string{"a int"}, []memoryFile{bounded("16777217", "16777217", "0", "1"), bounded("3", "4", "0", "1")}, cmpOf("a int", Equal, float32(1<<24)), "0 1"},
		{"small float literal on integers", []string{"a int"}, []memoryFile{bounded("4", "4", "0", "1"), bounded("5", "5", "0", "1")}, cmpOf("a int", Less, float32(4.5)), "0"},
		{"double literal on float", []string{"a float"}, []memoryFile{bounded("0.1", "0.1", "0", "1"), bounded("0.2", "0.2", "0", "1")}, cmpOf("a float", Equal, 0.1), "0"},
		{"decimal literal finer than the column", []string{"a dec"}, []memoryFile{bounded("1.00", "1.00", "0", "1"), bounded("1.01", "1.01", "0", "1")}, cmpOf("a dec", Greater, "dec:1.005"), "1"},
		{"literal of another kind needs a value", []string{"a string"}, []memoryFile{bounded(`"x"`, `"x"`, "0", "1"), bounded("", "", "1", "1")}, cmpOf("a string", Equal, 5), "0"},
		{"date literal on timestamp_ntz", []string{"a ntz"}, []memoryFile{bounded(`"2024-01-01T10:00:00"`, `"2024-01-01T11:00:00"`, "0", "1")}, cmpOf("a ntz", Less, "date:2024-01-01"), ""},
		{"timestamp_ntz literal on date", []string{"a date"}, []memoryFile{bounded(`"2024-01-01"`, `"2024-01-01"`, "0", "1"), bounded(`"2024-01-02"`, `"2024-01-02"`, "0", "1")}, cmpOf("a date", Less, "ntz:2024-01-01T10:00:00"), "0"},

		{"constants", nil, []memoryFile{{}}, And{Const(true), Not{Const(false)}}, "0"},
		{"false", nil, []memoryFile{{}}, Const(false), ""},
		{"NULL and its negation", nil, []memoryFile{{}}, Or{Null{}, Not{Null{}}}, ""},
		{"nothing asked", nil, []memoryFile{{}, {}}, nil, "0 1"},
		{"no files", []string{"a int"}, nil, cmpOf("a int", Equal, 1), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := NewTable(memorySource(c.files), config(c.columns...)).Prune(c.p)
			if text := strings.Trim(fmt.Sprint(got.Keep), "[]"); text != c.keep {
				t.Errorf("kept %q, want %q", text, c.keep)
			}
			if got.SkippedByPartition+got.SkippedByStats+len(got.Keep) != len(c.files) {
				t.Errorf("skipped %d and %d, kept %d of %d", got.SkippedByPartition, got.SkippedByStats, len(got.Keep), len(c.files))
			}
		})
	}
}

// Older files of a column widened from float hold "0.1" for the float, newer ones for the double; neither may be skipped.
func TestPruneWidenedFloat(t *testing.T) {
	cfg := config("a double")
	cfg.Schema.Fields[0].Metadata = protocol.FieldMetadata{"delta.typeChanges": []byte(`[{"fromType":"float","toType":"double"}]`)}
	table := NewTable(memorySource{bounded("0.1", "0.1", "0", "1")}, cfg)
	for _, v := range []float64{0.1, float64(float32(0.1))} {
		if got := table.Prune(cmpOf("a double", Equal, v)); len(got.Keep) != 1 {
			t.Errorf("a = %v skips the file", v)
		}
		if got := table.Prune(And{cmpOf("a double", NotEqual, v), cmpOf("a double", LessOrEqual, 1.0)}); len(got.Keep) != 1 {
			t.Errorf("a <> %v skips the file", v)
		}
	}
	if got := table.Prune(cmpOf("a double", Equal, 0.2)); len(got.Keep) != 0 {
		t.Errorf("a = 0.2 keeps the file")
	}
}

func TestPruneByPhysicalName(t *testing.T) {
	cfg := config("id long", "*p int")
	cfg.Mapping = "name"
	for i, name := range []string{"col-1", "col-2"} {
		cfg.Schema.Fields[i].Metadata = protocol.FieldMetadata{"delta.columnMapping.physicalName": []byte(`"` + name + `"`)}
	}
	table := NewTable(memorySource{
		{stats: `{"numRecords":1,"minValues":{"col-1":1},"maxValues":{"col-1":1}}`, values: map[string]string{"col-2": "1"}},
		{stats: `{"numRecords":1,"minValues":{"col-1":2},"maxValues":{"col-1":2}}`, values: map[string]string{"col-2": "2"}},
	}, cfg)
	got := table.Prune(And{cmpOf("col-1 long", Equal, 2), cmpOf("col-2 int", Equal, 2)})
	if !reflect.DeepEqual(got.Keep, []int32{1}) || got.SkippedByPartition != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPruneReport(t *testing.T) {
	files := memorySource{}
	for i := range 100 {
		f := bounded(fmt.Sprint(i*10), fmt.Sprint(i*10+9), "0", "10")
		f.values = map[string]string{"p": fmt.Sprint(i % 4)}
		files = append(files, f)
	}
	table := NewTable(files, config("a long", "*p int"))
	id := Leaf{Path: []protocol.PhysicalName{"a"}, Type: testTypes["long"], Name: "id"}
	got := table.Prune(And{
		Compare{id, GreaterOrEqual, literal(500)}, Maybe{"f(x)"}, And{cmpOf("p int", Equal, 1), Compare{id, Less, literal(600)}},
	})
	want := Result{
		Keep: []int32{53, 57}, SkippedByPartition: 75, SkippedByStats: 23,
		By: []PredicateReport{
			{Text: "id >= 500 AND id < 600", Skipped: 23},
			{Text: "f(x)"},
			{Text: "p = 1", Partition: true, Skipped: 75},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	among := table.PruneFiles(cmpOf("a long", Less, 30), []int32{1, 2, 90})
	if !reflect.DeepEqual(among.Keep, []int32{1, 2}) {
		t.Errorf("among some files: %+v", among)
	}
}
