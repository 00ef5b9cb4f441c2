package duckgen_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
)

// TestLiterals has DuckDB read literals of every type back: the type must be the literal's, the text its value's.
func TestLiterals(t *testing.T) {
	decimal := func(text string, precision, scale int) expr.Expr {
		n, ok := protocol.ParseInt128Decimal(text, scale)
		if !ok {
			t.Fatal(text)
		}
		of := protocol.DataType{Kind: protocol.KindDecimal, Precision: precision, Scale: scale}
		return &expr.Literal{Typed: expr.Typed{Of: of}, Value: protocol.Value{Kind: of.Kind, Dec: n, Scale: scale}}
	}
	of := func(kind protocol.Kind, v protocol.Value) expr.Expr {
		v.Kind = kind
		return &expr.Literal{Typed: expr.Typed{Of: protocol.DataType{Kind: kind}}, Value: v}
	}
	integer := protocol.DataType{Kind: protocol.KindInteger}
	list := protocol.DataType{Kind: protocol.KindArray, Element: &integer, ContainsNull: true}
	cases := []struct {
		e         expr.Expr
		typ, text string
	}{
		{of(protocol.KindBoolean, protocol.Value{Int: 1}), "BOOLEAN", "true"},
		{of(protocol.KindByte, protocol.Value{Int: -128}), "TINYINT", "-128"},
		{of(protocol.KindShort, protocol.Value{Int: 32767}), "SMALLINT", "32767"},
		{of(protocol.KindInteger, protocol.Value{Int: math.MinInt32}), "INTEGER", "-2147483648"},
		{of(protocol.KindInteger, protocol.Value{Int: 0}), "INTEGER", "0"},
		{of(protocol.KindLong, protocol.Value{Int: math.MinInt64}), "BIGINT", "-9223372036854775808"},
		{of(protocol.KindLong, protocol.Value{Int: 1}), "BIGINT", "1"},
		{of(protocol.KindFloat, protocol.Value{Float: float64(float32(0.1))}), "FLOAT", "0.1"},
		{of(protocol.KindDouble, protocol.Value{Float: math.Nextafter(1, 2)}), "DOUBLE", "1.0000000000000002"},
		{of(protocol.KindDouble, protocol.Value{Float: math.NaN()}), "DOUBLE", "nan"},
		{of(protocol.KindDouble, protocol.Value{Float: math.Inf(-1)}), "DOUBLE", "-inf"},
		{of(protocol.KindDouble, protocol.Value{Float: math.Copysign(0, -1)}), "DOUBLE", "-0.0"},
		{of(protocol.KindDouble, protocol.Value{Float: 5e-324}), "DOUBLE", "5e-324"},
		{decimal("-0.05", 5, 2), "DECIMAL(5,2)", "-0.05"},
		{decimal("99999999999999999999999999999999.999999", 38, 6), "DECIMAL(38,6)", "99999999999999999999999999999999.999999"},
		{of(protocol.KindString, protocol.Value{Str: `it's "é" {0} \n`}), "VARCHAR", `it's "é" {0} \n`},
		{of(protocol.KindString, protocol.Value{Str: "a\x00b"}), "VARCHAR", "a\x00b"},
		{of(protocol.KindBinary, protocol.Value{Str: "\x00\xffA"}), "BLOB", `\x00\xFFA`},
		{of(protocol.KindDate, protocol.Value{Int: -719162}), "DATE", "0001-01-01"},
		{of(protocol.KindDate, protocol.Value{Int: 2932896}), "DATE", "9999-12-31"},
		{of(protocol.KindTimestamp, protocol.Value{Int: -1}), "TIMESTAMP WITH TIME ZONE", "1969-12-31 23:59:59.999999+00"},
		{of(protocol.KindTimestampNTZ, protocol.Value{Int: 1}), "TIMESTAMP", "1970-01-01 00:00:00.000001"},
		{of(protocol.KindIntervalYearMonth, protocol.Value{Int: -14}), "INTERVAL", "-1 year -2 months"},
		{of(protocol.KindIntervalDayTime, protocol.Value{Int: 3_600_000_001}), "INTERVAL", "01:00:00.000001"},
		{expr.Null(integer), "INTEGER", ""},
		{expr.Null(list), "INTEGER[]", ""},
	}
	in, err := duck.Open(duck.Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx := context.Background()
	for _, c := range cases {
		text, _, err := duckgen.Expression(c.e, duckgen.Options{})
		if err != nil {
			t.Errorf("%s %s: %v", c.typ, c.text, err)
			continue
		}
		stream, err := in.Query(ctx, "SELECT typeof("+text+"), CAST("+text+" AS VARCHAR)")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		batch, err := stream.Next(ctx)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			stream.Close()
			continue
		}
		typ, value := batch.Vector(0).Text(0), ""
		if batch.Vector(1).Valid(0) {
			value = batch.Vector(1).Text(0)
		}
		if typ != c.typ || value != c.text {
			t.Errorf("%s is %s %q, want %s %q", text, typ, value, c.typ, c.text)
		}
		stream.Close()
		// The same constant among many rows, which are printed in another way: every row and the NULL at the end must come back.
		const n = 60
		rows := make([][]expr.Expr, n+1)
		for i := range n {
			rows[i] = []expr.Expr{c.e, expr.Null(protocol.DataType{})}
		}
		rows[n] = []expr.Expr{expr.Null(c.e.Type()), expr.Null(protocol.DataType{})}
		columns := []expr.OutputColumn{{Out: "c0", Type: c.e.Type()}, {Out: "c1"}}
		many, _, err := duckgen.Print(&expr.Query{Body: &expr.Values{Rows: rows}, Columns: columns}, duckgen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		stream, err = in.Query(ctx, "SELECT min(typeof(c0)), CAST(count(*) AS VARCHAR), CAST(count(c0) AS VARCHAR), any_value(CAST(c0 AS VARCHAR)), CAST(count(DISTINCT CAST(c0 AS VARCHAR)) AS VARCHAR) FROM ("+many+")")
		if err != nil {
			t.Errorf("%s: %v", many, err)
			continue
		}
		if batch, err = stream.Next(ctx); err != nil {
			t.Errorf("%s: %v", many, err)
			stream.Close()
			continue
		}
		value = ""
		if batch.Vector(3).Valid(0) {
			value = batch.Vector(3).Text(0)
		}
		l, _ := c.e.(*expr.Literal)
		present, distinct := "60", "1"
		if l == nil || l.Value.Null {
			present, distinct = "0", "0"
		}
		if got := []string{batch.Vector(0).Text(0), batch.Vector(1).Text(0), batch.Vector(2).Text(0), value, batch.Vector(4).Text(0)}; !slices.Equal(got, []string{c.typ, "61", present, c.text, distinct}) {
			t.Errorf("%s among many rows: %q", c.text, got)
		}
		stream.Close()
	}
}

// TestOperandsHoldTogether puts operands into templates: each must keep its value beside an operator that binds more tightly.
func TestOperandsHoldTogether(t *testing.T) {
	boolean := expr.Typed{Of: protocol.DataType{Kind: protocol.KindBoolean}}
	number := func(n int64) expr.Expr {
		return &expr.Literal{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindInteger}}, Value: protocol.Value{Kind: protocol.KindInteger, Int: n}}
	}
	raw := func(sql string, args ...expr.Expr) expr.Expr { return &expr.Raw{Typed: boolean, SQL: sql, Args: args} }
	sum := raw("{0} + {1}", number(1), number(2))
	cases := []struct {
		e    expr.Expr
		want string
	}{
		{raw("{0} * {1}", sum, number(3)), "(1 + 2) * 3"},
		{raw("f({0}, {1})", sum, sum), "f(1 + 2, 1 + 2)"},
		{raw("{0} * 2", raw("abs({0})", sum)), "abs(1 + 2) * 2"},
		{raw("{0}[{1}]", raw("list({0})", sum), sum), "list(1 + 2)[1 + 2]"},
		{raw("- {0}", number(-1)), "- (-1)::INTEGER"},
		{raw("{0} || 'x{1}'", raw("CASE WHEN {0} THEN 1 END", sum)), "CASE WHEN (1 + 2) THEN 1 END || 'x{1}'"},
		{&expr.Not{Typed: boolean, Operand: &expr.Compare{Typed: boolean, Op: "=", Left: sum, Right: number(3)}}, "NOT ((1 + 2) = 3)"},
		{&expr.Logic{Typed: boolean, Operands: []expr.Expr{raw("a OR b"), &expr.Logic{Typed: boolean, Or: true, Operands: []expr.Expr{raw("c"), raw("d")}}}}, "(a OR b) AND (c OR d)"},
		{raw("{0} + {0}", raw("(SELECT 1)")), "(SELECT 1) + (SELECT 1)"},
		{raw("{0} + 1", raw("(a) + (b)")), "((a) + (b)) + 1"},
		{raw("{0} + 1", raw("'a' 'b'")), "('a' 'b') + 1"},
		{raw("{0}.f", raw("r1.\"a b\"")), "r1.\"a b\".f"},
	}
	for _, c := range cases {
		got, _, err := duckgen.Expression(c.e, duckgen.Options{})
		if err != nil || strings.Join(strings.Fields(got), " ") != c.want {
			t.Errorf("got %s, want %s (%v)", got, c.want, err)
		}
	}
}
