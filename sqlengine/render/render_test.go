package render_test

import (
	"context"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/render"
)

// TestValues checks the encoding of every type, for programs and for people.
func TestValues(t *testing.T) {
	engine, err := duck.Open(duck.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, c := range []struct{ sql, typ, json, text string }{
		{"NULL::INTEGER", "int", "null", "NULL"},
		{"true", "boolean", "true", "true"},
		{"(-128)::TINYINT", "tinyint", "-128", "-128"},
		{"9223372036854775807", "bigint", "9223372036854775807", "9223372036854775807"},
		{"1.0::DOUBLE", "double", "1.0", "1.0"},
		{"1e21::DOUBLE", "double", "1e+21", "1e+21"},
		{"0.1::FLOAT", "float", "0.1", "0.1"},
		{"'nan'::DOUBLE", "double", `"NaN"`, "NaN"},
		{"'-inf'::FLOAT", "float", `"-Infinity"`, "-Infinity"},
		{"(-0.05)::DECIMAL(5,2)", "decimal(5,2)", `"-0.05"`, "-0.05"},
		{"'-99999999999999999999999999999999999.999'::DECIMAL(38,3)", "decimal(38,3)",
			`"-99999999999999999999999999999999999.999"`, "-99999999999999999999999999999999999.999"},
		{`'a"b\' || chr(10) || chr(1) || 'é'`, "string", `"a\"b\\\n\u0001é"`, "a\"b\\\n\x01é"},
		{`'\x00\xFF'::BLOB`, "binary", `"00ff"`, "00ff"},
		{"DATE '0001-02-03'", "date", `"0001-02-03"`, "0001-02-03"},
		{"DATE '12024-02-03'", "date", `"+12024-02-03"`, "+12024-02-03"},
		{"TIMESTAMP '1969-12-31 23:59:59.5'", "timestamp_ntz", `"1969-12-31T23:59:59.500000"`, "1969-12-31 23:59:59.5"},
		{"TIMESTAMPTZ '2024-01-01 00:00:00+01'", "timestamp", `"2023-12-31T23:00:00.000000Z"`, "2023-12-31 23:00:00"},
		{"to_months(-14)", "interval year to month", `"INTERVAL '-1-2' YEAR TO MONTH"`, "INTERVAL '-1-2' YEAR TO MONTH"},
		{"to_days(1) + to_microseconds(3723500000)", "interval day to second",
			`"INTERVAL '1 01:02:03.5' DAY TO SECOND"`, "INTERVAL '1 01:02:03.5' DAY TO SECOND"},
		{"[1, NULL]::INTEGER[]", "array<int>", "[1,null]", "[1,null]"},
		{"MAP {'b': 1, 'a': 2}", "map<string,int>", `[["a",2],["b",1]]`, `[["a",2],["b",1]]`},
		{"MAP {10::BIGINT: 'x', 9: 'y'}", "map<bigint,string>", `[[9,"y"],[10,"x"]]`, `[[9,"y"],[10,"x"]]`},
		{"{'a': 1, 'b': {'c': 'x'}}", "struct<a:int,b:struct<c:string>>", `{"a":1,"b":{"c":"x"}}`, `{"a":1,"b":{"c":"x"}}`},
		{`'{"k":1}'`, "variant", `{"$variant":{"k":1}}`, `{"k":1}`},
	} {
		kind, err := protocol.ParseDataType(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := engine.Query(context.Background(), "SELECT "+c.sql)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		batch, err := stream.Next(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if got := string(render.AppendJSON(nil, batch.Vector(0), 0, &kind, render.VariantWrapped)); got != c.json {
			t.Errorf("%s as JSON is %s, want %s", c.sql, got, c.json)
		}
		if got := string(render.AppendText(nil, batch.Vector(0), 0, &kind)); got != c.text {
			t.Errorf("%s as text is %s, want %s", c.sql, got, c.text)
		}
		stream.Close()
	}
}
