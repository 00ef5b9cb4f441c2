package bind_test

import (
	"strconv"
	"strings"
	"testing"

	"deltasql/sqlengine/expr"
)

// TestLimits asks for what is short as a text and would be huge once expanded.
func TestLimits(t *testing.T) {
	doubling := "SELECT id AS a0"
	for i := 1; i < 60; i++ {
		doubling += ", a" + strconv.Itoa(i-1) + " + a" + strconv.Itoa(i-1) + " AS a" + strconv.Itoa(i)
	}
	nested := "SELECT id AS a FROM t"
	for range 60 {
		nested = "SELECT a + a AS a FROM (" + nested + ") WHERE a + a > 3"
	}
	deep := strings.Repeat("SELECT * FROM (", 300) + "SELECT 1 AS x" + strings.Repeat(")", 300)
	cases := []struct{ name, sql, want string }{
		{"aliases of aliases", doubling + " FROM t", "[DELTASQL_LIMIT_EXCEEDED]"},
		{"conditions through derived tables", nested, "SELECT "},
		{"nesting", deep, "[DELTASQL_LIMIT_EXCEEDED]"},
		{"cube", "SELECT id FROM t GROUP BY CUBE (id" + strings.Repeat(", x", 13) + ")", "[DELTASQL_LIMIT_EXCEEDED]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := outcome(c.sql, expr.Spark, "spark"); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %.300s", got)
			}
		})
	}
}
