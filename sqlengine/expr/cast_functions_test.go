package expr_test

import (
	"math"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

func TestCastFunctions(t *testing.T) {
	in := instance(t)
	check(t, in, session(expr.Spark), castFunctionRows)
}

const castFunctionRows = `
boolean('true') ¦ boolean ¦ true
tinyint('1') ¦ tinyint ¦ 1
smallint(1.5) ¦ smallint ¦ 1
int('3') ¦ int ¦ 3
int('x') ¦ int ¦ [CAST_INVALID_INPUT]
int(1, 2) ¦ int ¦ [WRONG_NUM_ARGS.WITHOUT_SUGGESTION]
bigint('3') ¦ bigint ¦ 3
int(1) * 1.5 ¦ decimal(13,1) ¦ 1.5
float('NaN') ¦ float ¦ nan
double('-Infinity') ¦ double ¦ -inf
decimal('2.5') ¦ decimal(10,0) ¦ 3
string(1) ¦ string ¦ 1
binary('AB') ¦ binary ¦ AB
date('2024-01-02') ¦ date ¦ 2024-01-02
timestamp('2024-01-02') ¦ timestamp ¦ 2024-01-02 00:00:00+00
`

// TestValueText binds what Value.SQL writes.
func TestValueText(t *testing.T) {
	in := instance(t)
	for _, c := range []struct {
		value      protocol.Value
		of, wanted string
	}{
		{protocol.Value{Kind: protocol.KindDouble, Float: math.NaN()}, "double", "nan"},
		{protocol.Value{Kind: protocol.KindDouble, Float: math.Inf(-1)}, "double", "-inf"},
		{protocol.Value{Kind: protocol.KindFloat, Float: math.Inf(1)}, "float", "inf"},
		{protocol.Value{Kind: protocol.KindFloat, Float: math.NaN()}, "float", "nan"},
		{protocol.Value{Kind: protocol.KindDouble, Float: 1e300}, "double", "1e+300"},
		{protocol.Value{Kind: protocol.KindFloat, Float: 1.5}, "float", "1.5"},
		{protocol.Value{Kind: protocol.KindByte, Int: -128}, "tinyint", "-128"},
		{protocol.Value{Kind: protocol.KindShort, Int: 7}, "smallint", "7"},
		{protocol.Value{Kind: protocol.KindLong, Int: math.MinInt64}, "bigint", "-9223372036854775808"},
		{protocol.Value{Kind: protocol.KindString, Str: "a'\\b"}, "string", "a'\\b"},
		{protocol.Value{Kind: protocol.KindBinary, Str: "AB"}, "binary", "AB"},
		{protocol.Value{Kind: protocol.KindDate, Int: 1}, "date", "1970-01-02"},
		{protocol.Value{Kind: protocol.KindTimestamp, Int: 1}, "timestamp", "1970-01-01 00:00:00.000001+00"},
		{protocol.Value{Kind: protocol.KindTimestampNTZ, Int: 1}, "timestamp_ntz", "1970-01-01 00:00:00.000001"},
		{protocol.Value{Kind: protocol.KindBoolean, Int: 1}, "boolean", "true"},
	} {
		text, of, err := run(t, in, session(expr.Spark), "SELECT "+c.value.SQL())
		if err != nil || text != c.wanted || of != c.of {
			t.Errorf("%s: %s %q, want %s %q, error %v", c.value.SQL(), of, text, c.of, c.wanted, err)
		}
	}
}
