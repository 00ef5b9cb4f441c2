package duckgen_test

import (
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
)

// TestLimits prints trees that are small and whose text would be huge, or deeper than DuckDB takes.
func TestLimits(t *testing.T) {
	of := expr.Typed{Of: protocol.DataType{Kind: protocol.KindInteger}}
	nested := func(sql string, levels int) expr.Expr {
		e := expr.Expr(&expr.Literal{Typed: of, Value: protocol.Value{Kind: protocol.KindInteger, Int: 1}})
		for range levels {
			e = &expr.Raw{Typed: of, SQL: sql, Args: []expr.Expr{e}}
		}
		return e
	}
	cases := []struct {
		name, sql string
		levels    int
		want      protocol.Class // of the error; "" for none
	}{
		{"an operand twice, a few times", "f({0}, {0})", 10, ""},
		{"an operand twice, many times", "f({0}, {0})", 60, ""},
		{"an operand of a macro that copies it", "my_substring_index({0}, '.', 2)", 60, ""},
		{"deep", "f({0})", 900, ""},
		{"too deep", "f({0})", 5000, "DELTASQL_LIMIT_EXCEEDED"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, _, err := duckgen.Expression(nested(c.sql, c.levels), duckgen.Options{})
			switch {
			case c.want != "":
				if protocol.ClassOf(err) != c.want {
					t.Errorf("error %v, want %s", err, c.want)
				}
			case err != nil || !strings.Contains(text, "1") || len(text) > 20_000:
				t.Errorf("text of %d bytes %.100q, error %v", len(text), text, err)
			}
		})
	}
}
