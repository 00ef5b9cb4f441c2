package protocol

import (
	"math"
	"strings"
	"testing"
	"time"
)

func mustType(t *testing.T, text string) DataType {
	t.Helper()
	dt, err := ParseDataType(text)
	if err != nil {
		t.Fatal(err)
	}
	return dt
}

func TestDecodePartitionValue(t *testing.T) {
	berlin := time.FixedZone("x", 2*3600)
	for _, c := range []struct{ typ, text, json string }{
		{"string", "a/b=c%", `"a/b=c%"`}, {"string", "NULL", `"NULL"`}, {"string", "__HIVE_DEFAULT_PARTITION__", `"__HIVE_DEFAULT_PARTITION__"`},
		{"int", "-2147483648", "-2147483648"}, {"tinyint", "127", "127"}, {"smallint", "-5", "-5"}, {"bigint", "9223372036854775807", "9223372036854775807"}, {"int", "5.0", "5"},
		{"float", "0.1", "0.1"}, {"double", "1.0E10", "1e+10"}, {"double", "NaN", `"NaN"`}, {"float", "-Infinity", `"-Infinity"`}, {"double", "1", "1"}, {"float", "1e300", `"Infinity"`},
		{"decimal(10,2)", "1.5", `"1.50"`}, {"decimal(10,2)", "-0.05", `"-0.05"`}, {"decimal(38,18)", "12345678901234567890.123456789012345678", `"12345678901234567890.123456789012345678"`}, {"decimal(5,0)", "1E3", `"1000"`}, {"decimal(5,2)", "7", `"7.00"`},
		{"boolean", "true", "true"}, {"boolean", "FALSE", "false"},
		{"date", "1969-12-31", `"1969-12-31"`}, {"date", "0001-01-01", `"0001-01-01"`}, {"date", "9999-12-31", `"9999-12-31"`}, {"date", "2000-02-29", `"2000-02-29"`}, {"date", "+10000-01-01", `"+10000-01-01"`},
		{"timestamp", "2000-01-01T12:00:00.000000Z", `"2000-01-01T12:00:00.000000Z"`}, {"timestamp", "2000-01-01 12:00:00", `"2000-01-01T12:00:00.000000Z"`},
		{"timestamp", "1969-12-31 23:59:59.999999", `"1969-12-31T23:59:59.999999Z"`}, {"timestamp", "2000-01-01 12:00:00.5+02:00", `"2000-01-01T10:00:00.500000Z"`}, {"timestamp", "2000-01-01", `"2000-01-01T00:00:00.000000Z"`},
		{"timestamp_ntz", "1969-12-31 23:20:57.657658", `"1969-12-31T23:20:57.657658"`}, {"timestamp_ntz", "2021-11-18 02:30", `"2021-11-18T02:30:00.000000"`}, {"timestamp_ntz", "2021-11-18", `"2021-11-18T00:00:00.000000"`},
		{"binary", "hello", `"68656c6c6f"`}, {"binary", "\u0001\u00ff", `"01c3bf"`},
		{"interval year to month", "INTERVAL '1-2' YEAR TO MONTH", `"INTERVAL '1-2' YEAR TO MONTH"`}, {"interval year to month", "INTERVAL -'0-1' YEAR TO MONTH", `"INTERVAL '-0-1' YEAR TO MONTH"`},
		{"interval day to second", "INTERVAL '-1 02:03:04.5' DAY TO SECOND", `"INTERVAL '-1 02:03:04.5' DAY TO SECOND"`},
	} {
		v, err := DecodePartitionValue(mustType(t, c.typ), c.text, false, nil)
		if err != nil {
			t.Errorf("%s %q: %v", c.typ, c.text, err)
			continue
		}
		if got := string(v.AppendJSON(nil)); got != c.json {
			t.Errorf("%s %q: %s, want %s", c.typ, c.text, got, c.json)
		}
		for _, null := range []struct {
			text string
			null bool
		}{{"", false}, {"x", true}} {
			if v, err := DecodePartitionValue(mustType(t, c.typ), null.text, null.null, nil); err != nil || !v.Null {
				t.Errorf("%s: %+v must be NULL: %v", c.typ, null, err)
			}
		}
	}
	for _, c := range []struct{ typ, text string }{
		{"int", "x"}, {"int", "2147483648"}, {"tinyint", "128"}, {"int", "1.5"}, {"double", "0x1p2"}, {"double", "1_0"}, {"double", "one"}, {"decimal(4,2)", "1.005"}, {"decimal(4,2)", "100"},
		{"boolean", "1"}, {"date", "2001-02-29"}, {"date", "2001-13-01"}, {"date", "today"}, {"date", "2001-01-01 00:00:00"}, {"timestamp", "2000-01-01 25:00:00"}, {"timestamp", "2000-01-01 12:00:00 Mars/Base"},
		{"timestamp_ntz", "2000-01-01 12:00:00x"}, {"variant", "1"}, {"array<int>", "[]"}, {"interval year to month", "1-12"}, {"interval day to second", "1"},
	} {
		if v, err := DecodePartitionValue(mustType(t, c.typ), c.text, false, nil); ClassOf(err) != "DELTA_INVALID_PARTITION_VALUE" {
			t.Errorf("%s %q: %+v, %v must be refused", c.typ, c.text, v, err)
		}
	}
	// Both forms of one instant are equal, the one without an offset read in the writer's zone.
	ts := mustType(t, "timestamp")
	a, _ := DecodePartitionValue(ts, "2000-01-01 14:00:00", false, berlin)
	b, _ := DecodePartitionValue(ts, "2000-01-01T12:00:00.000000Z", false, berlin)
	if a.Compare(b) != 0 {
		t.Errorf("%s and %s differ", a.Text(), b.Text())
	}
	ntz, _ := DecodePartitionValue(mustType(t, "timestamp_ntz"), "2000-01-01 14:00:00", false, berlin)
	if ntz.Text() != "2000-01-01 14:00:00" {
		t.Error("a timestamp_ntz has no zone:", ntz.Text())
	}
}

func TestWallClockInZone(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zone database")
	}
	for text, want := range map[string]string{
		"2024-01-15 12:00:00": "2024-01-15T17:00:00.000000Z",
		"2024-07-15 12:00:00": "2024-07-15T16:00:00.000000Z",
		"2024-03-10 02:30:00": "2024-03-10T07:30:00.000000Z", // skipped: the offset before the change
		"2024-11-03 01:30:00": "2024-11-03T05:30:00.000000Z", // twice: the earlier
		"2024-11-03 02:30:00": "2024-11-03T07:30:00.000000Z",
		"2024-03-10 03:30:00": "2024-03-10T07:30:00.000000Z",
	} {
		v, ok := ParseValue(DataType{Kind: KindTimestamp}, text, zone)
		if got := strings.Trim(string(v.AppendJSON(nil)), `"`); !ok || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestCivilCalendar(t *testing.T) {
	for days := int64(-800_000); days < 3_000_000; days += 97 {
		y, m, d := civil(days)
		at := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
		if at.Unix() != days*86400 || DaysFromCivil(y, m, d) != days {
			t.Fatalf("day %d is %d-%d-%d", days, y, m, d)
		}
	}
}

func TestValueCompare(t *testing.T) {
	long := func(v int64) Value { return Value{Kind: KindLong, Int: v} }
	double := func(f float64) Value { return Value{Kind: KindDouble, Float: f} }
	dec := func(text string, scale int) Value {
		d, ok := ParseInt128Decimal(text, scale)
		if !ok {
			t.Fatal(text)
		}
		return Value{Kind: KindDecimal, Dec: d, Scale: scale}
	}
	str := func(s string) Value { return Value{Kind: KindString, Str: s} }
	ascending := [][]Value{
		{NullValue(KindLong), long(-1), long(0), long(math.MaxInt64)},
		{double(math.Inf(-1)), double(-1), double(0), double(1e308), double(math.Inf(1)), double(math.NaN())},
		{long(-3), dec("-2.5", 1), double(-2.4), dec("0.1000", 4), double(0.1), dec("0.2", 2), long(1), double(math.NaN())},
		{double(9007199254740992), long(9007199254740993), dec("9007199254740993.5", 1)},
		{dec("-99999999999999999999999999999999999999", 0), dec("-0.1", 38), dec("0.1", 38), dec("99999999999999999999999999999999999999", 0)},
		{str(""), str("Z"), str("a"), str("é")},
		{{Kind: KindTimestamp, Int: -1}, {Kind: KindDate, Int: 0}, {Kind: KindTimestampNTZ, Int: 1}, {Kind: KindDate, Int: 1 << 40}},
		{{Kind: KindBoolean}, {Kind: KindBoolean, Int: 1}},
	}
	for _, values := range ascending {
		for i, a := range values {
			for j, b := range values {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got := a.Compare(b); got != want {
					t.Errorf("%s against %s: %d, want %d", a.SQL(), b.SQL(), got, want)
				}
			}
		}
	}
	if double(math.Copysign(0, -1)).Compare(double(0)) != 0 || dec("1.10", 2).Compare(dec("1.1", 1)) != 0 || long(2).Compare(double(2)) != 0 {
		t.Error("equal values must compare equal")
	}
}

func TestValueTexts(t *testing.T) {
	for _, c := range []struct {
		v         Value
		text, sql string
	}{
		{NullValue(KindInteger), "NULL", "NULL"},
		{Value{Kind: KindBoolean, Int: 1}, "true", "true"},
		{Value{Kind: KindLong, Int: 5}, "5", "5L"},
		{Value{Kind: KindDouble, Float: 1}, "1.0", "1D"},
		{Value{Kind: KindDouble, Float: 1e7}, "1.0E7", "1e+07D"},
		{Value{Kind: KindDouble, Float: 0.00012}, "1.2E-4", "0.00012D"},
		{Value{Kind: KindFloat, Float: float64(float32(0.1))}, "0.1", "0.1F"},
		{Value{Kind: KindDouble, Float: math.NaN()}, "NaN", "DOUBLE('NaN')"},
		{Value{Kind: KindDecimal, Dec: Int128FromInt64(-5), Scale: 2}, "-0.05", "-0.05BD"},
		{Value{Kind: KindString, Str: `it's \`}, `it's \`, `'it\'s \\'`},
		{Value{Kind: KindBinary, Str: "\x01\xff"}, "\x01\xff", "X'01FF'"},
		{Value{Kind: KindDate, Int: -1}, "1969-12-31", "DATE '1969-12-31'"},
		{Value{Kind: KindTimestamp, Int: -1}, "1969-12-31 23:59:59.999999", "TIMESTAMP '1969-12-31 23:59:59.999999 UTC'"},
		{Value{Kind: KindTimestampNTZ, Int: 10_500_000}, "1970-01-01 00:00:10.5", "TIMESTAMP_NTZ '1970-01-01 00:00:10.5'"},
		{Value{Kind: KindTimestampNTZ}, "1970-01-01 00:00:00", "TIMESTAMP_NTZ '1970-01-01 00:00:00'"},
		{Value{Kind: KindIntervalDayTime, Int: math.MinInt64}, "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND", "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND"},
	} {
		if c.v.Text() != c.text || c.v.SQL() != c.sql {
			t.Errorf("%q and %q, want %q and %q", c.v.Text(), c.v.SQL(), c.text, c.sql)
		}
	}
}

func TestInt128Decimal(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale int
		want  string
	}{
		{"0", 0, "0"}, {"-0", 2, "0.00"}, {"1", 2, "1.00"}, {"+1.50", 1, "1.5"}, {".5", 1, "0.5"}, {"5.", 0, "5"}, {"1e3", 0, "1000"}, {"1E-2", 2, "0.01"}, {"100e-2", 0, "1"},
		{"170141183460469231731687303715884105727", 0, "170141183460469231731687303715884105727"}, {"-170141183460469231731687303715884105727", 0, "-170141183460469231731687303715884105727"},
		{"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999"}, {"0.00000000000000000000000000000000000001", 38, "0.00000000000000000000000000000000000001"},
		{"1" + strings.Repeat("0", 50) + "e-50", 0, "1"}, {"0." + strings.Repeat("0", 80), 3, "0.000"},
	} {
		got, ok := ParseInt128Decimal(c.text, c.scale)
		if !ok || got.String(c.scale) != c.want {
			t.Errorf("%s at %d: %s, %v; want %s", c.text, c.scale, got.String(c.scale), ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "1e", "e5", "1x", " 1", "0x1", "170141183460469231731687303715884105728", "1e39", "1e999999999999", "0.1", "NaN"} {
		if v, ok := ParseInt128Decimal(text, 0); ok {
			t.Errorf("%q must be refused, gave %s", text, v.String(0))
		}
	}
}
