package fieldbugs_test

import (
	"fmt"
	"strings"
	"testing"
)

// storing is a table with a column v of a type, and a file that stores the DuckDB expression for it.
func storing(t *testing.T, typ, stored string) *table {
	t.Helper()
	tb := newTable(t, shape{features: "timestampNtz", fields: []string{"id long", "v " + typ}})
	tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, "+stored+" AS v")
	tb.commit(1, tb.add("a.parquet", records(1)))
	return tb
}

func TestEM05StoredTypeThatDoesNotFit(t *testing.T) {
	t.Run("a struct for a text", func(t *testing.T) {
		tb := damagedTable(t)
		tb.parquet("b.parquet", "SELECT 3::BIGINT AS id, {'x': 1} AS name")
		tb.refuse("SELECT * FROM $t", "DELTA_FAILED_TO_READ_FILE", "$dir", "b.parquet", "column name", "STRUCT", "string")
		tb.want("SELECT id FROM $t", "1", "2", "3")
		if rows, err := tb.rows("SELECT name FROM $t WHERE id < 3"); err != nil || strings.Join(rows, " ") != `"n1" "n2"` {
			t.Errorf("the other file, which alone can have such rows, gives %v, %v", rows, err)
		}
	})
	for _, c := range []struct{ typ, stored, says string }{
		{"string", "[1]", "v as INTEGER[]"},
		{"string", "5", "v as INTEGER"},
		{"string", "true", "v as BOOLEAN"},
		{"string", "DATE '2024-01-01'", "v as DATE"},
		{"string", "INTERVAL 1 DAY", "v as INTERVAL"},
		{"binary", "5", "v as INTEGER"},
		{"boolean", "1::INTEGER", "v as INTEGER"},
		{"boolean", "'true'", "v as VARCHAR"},
		{"integer", "'5'", "v as VARCHAR"},
		{"integer", "1.5::FLOAT", "v as FLOAT"},
		{"long", "1.7::DOUBLE", "v as DOUBLE"},
		{"long", "true", "v as BOOLEAN"},
		{"long", "5::DECIMAL(9,0)", "v as DECIMAL(9,0)"},
		{"long", "TIME '01:02:03'", "v as TIME"},
		{"long", "DATE '2024-01-01'", "v as DATE"},
		{"float", "5.5::DOUBLE", "v as DOUBLE"},
		{"float", "5::INTEGER", "v as INTEGER"},
		{"double", "'1.5'", "v as VARCHAR"},
		{"double", "5::BIGINT", "v as BIGINT"},
		{"double", "5.1::DECIMAL(9,1)", "v as DECIMAL(9,1)"},
		{"decimal(5,2)", "123.456::DECIMAL(10,3)", "v as DECIMAL(10,3)"},
		{"decimal(5,2)", "1.5::DOUBLE", "v as DOUBLE"},
		{"date", "'2024-01-01'", "v as VARCHAR"},
		{"date", "TIMESTAMP '2024-01-01 01:02:03'", "v as TIMESTAMP"},
		{"timestamp", "DATE '2024-01-01'", "v as DATE"},
		{"timestamp", "5::BIGINT", "v as BIGINT"},
		{structType("x long"), "5", "v as INTEGER"},
		{structType("x long"), "{'x': 'a'}", "v.x as VARCHAR"},
		{arrayOf("long"), "{'x': 5}", `v as STRUCT("x" INTEGER)`},
		{arrayOf("integer"), "['x']", "v.element as VARCHAR"},
		{arrayOf("integer"), "MAP {1: 2}", "v as MAP(INTEGER, INTEGER)"},
		{mapOf("string", "integer"), "MAP {'a': 'b'}", "v.value as VARCHAR"},
		{mapOf("long", "integer"), "MAP {'1': 2}", "v.key as VARCHAR"},
		{arrayOf(structType("x long")), "[{'x': {'y': 1}}]", `v.element.x as STRUCT("y" INTEGER)`},
	} {
		t.Run(c.typ+" from "+c.stored, func(t *testing.T) {
			tb := storing(t, c.typ, c.stored)
			tb.refuse("SELECT v FROM $t", "DELTA_FAILED_TO_READ_FILE", "$dir", "a.parquet", c.says, "parquet.`")
			tb.refuse("SELECT id FROM $t WHERE v IS NOT NULL", "DELTA_FAILED_TO_READ_FILE", "a.parquet", c.says)
			tb.want("SELECT id FROM $t", "1")
			tb.want("SELECT count(*) FROM $t", "1")
		})
	}
}

func TestEM05StoredNumberOutOfRange(t *testing.T) {
	for _, c := range []struct{ typ, stored string }{
		{"byte", "300::INTEGER"}, {"integer", "5000000000::BIGINT"}, {"long", "18446744073709551615::UBIGINT"},
		{"decimal(5,2)", "12345.67::DECIMAL(10,2)"}, {"decimal(5,2)", "12345::INTEGER"},
		{arrayOf("integer"), "[5000000000::BIGINT]"}, {structType("x integer"), "{'x': 5000000000::BIGINT}"},
	} {
		t.Run(c.typ+" from "+c.stored, func(t *testing.T) {
			storing(t, c.typ, c.stored).refuse("SELECT v FROM $t", "DELTA_FAILED_TO_READ_FILE", "$dir", "a.parquet", "ast", "value")
		})
	}
}

func TestEM05StoredTypeThatFits(t *testing.T) {
	for _, c := range []struct{ typ, stored, want string }{
		{"byte", "5::INTEGER", "5"},
		{"short", "-5::BIGINT", "-5"},
		{"integer", "5::UTINYINT", "5"},
		{"long", "4294967295::UINTEGER", "4294967295"},
		{"long", "5::UBIGINT", "5"},
		{"double", "5::INTEGER", "5.0"},
		{"double", "0.5::FLOAT", "0.5"},
		{"decimal(10,0)", "5::INTEGER", `"5"`},
		{"decimal(4,1)", "5::INTEGER", `"5.0"`}, // a byte column widened, whose file lacks the annotation
		{"decimal(20,5)", "123.45::DECIMAL(10,2)", `"123.45000"`},
		{"decimal(5,2)", "123.45::DECIMAL(30,2)", `"123.45"`},
		{"string", "encode('x')", `"x"`},
		{"binary", "'x'", `"78"`},
		{"string", "'8a4f1e6c-8c5b-4e5e-9f6a-0a1b2c3d4e5f'::UUID", `"8a4f1e6c-8c5b-4e5e-9f6a-0a1b2c3d4e5f"`},
		{"string", "'a'::ENUM('a','b')", `"a"`},
		{"string", "'{}'::JSON", `"{}"`},
		{"timestamp", "TIMESTAMP '1960-01-01 01:02:03.123456'", `"1960-01-01T01:02:03.123456Z"`},
		{"timestamp_ntz", "TIMESTAMPTZ '1960-01-01 01:02:03.123456+00'", `"1960-01-01T01:02:03.123456"`},
		{"timestamp_ntz", "TIMESTAMP_MS '1960-01-01 00:00:00.123'", `"1960-01-01T00:00:00.123000"`},
		{"timestamp_ntz", "DATE '1960-01-01'", `"1960-01-01T00:00:00.000000"`},
		// The microsecond in which the time lies, as Spark and DuckDB read INT96.
		{"timestamp_ntz", "TIMESTAMP_NS '1960-01-01 00:00:00.123456789'", `"1960-01-01T00:00:00.123456"`},
		{"timestamp", "TIMESTAMP_NS '2024-01-01 00:00:00.123456789'", `"2024-01-01T00:00:00.123456Z"`},
		{arrayOf("timestamp_ntz"), "[TIMESTAMP_NS '1960-01-01 00:00:00.123456789', NULL]", `["1960-01-01T00:00:00.123456",null]`},
		{structType("x long", "y string"), "{'z': 1, 'x': 5::TINYINT}", `{"x":5,"y":null}`},
		{arrayOf("long"), "[5::INTEGER]", "[5]"},
		{mapOf("long", "double"), "MAP {1::INTEGER: 0.5::FLOAT}", "[[1,0.5]]"},
	} {
		t.Run(c.typ+" from "+c.stored, func(t *testing.T) {
			tb := storing(t, c.typ, c.stored)
			tb.want("SELECT v FROM $t", c.want)
			tb.want("SELECT a.v FROM $t a JOIN $t b ON a.id = b.id", c.want)
		})
	}
}

// TestEM05OneFileAmongMany: files that fit are read together with others of their own layouts, the one that does not is found.
func TestEM05OneFileAmongMany(t *testing.T) {
	var fields, want []string
	for k := range 20 {
		fields = append(fields, fmt.Sprintf("c%d long", k))
	}
	tb := newTable(t, columns(fields...))
	var adds []string
	for k := range 20 { // each file lacks another column
		var row, shown []string
		for i := range 20 {
			if i == k {
				shown = append(shown, "null")
				continue
			}
			row = append(row, fmt.Sprintf("%d::%s AS c%d", 100*k+i, []string{"BIGINT", "INTEGER"}[i%2], i))
			shown = append(shown, fmt.Sprint(100*k+i))
		}
		name := fmt.Sprintf("f%d.parquet", k)
		tb.parquet(name, "SELECT "+strings.Join(row, ", "))
		adds, want = append(adds, tb.add(name, records(1))), append(want, strings.Join(shown, ","))
	}
	tb.commit(1, adds...)
	tb.want("SELECT * FROM $t", want...)
	tb.want("SELECT sum(c0), count(c1) FROM $t", "19000,19")
	tb.parquet("odd.parquet", "SELECT '7' AS c3")
	tb.commit(2, tb.add("odd.parquet", records(1)))
	tb.refuse("SELECT * FROM $t", "DELTA_FAILED_TO_READ_FILE", "odd.parquet", "c3", "$dir")
	tb.want("SELECT count(c4) FROM $t", "19")
}
