package expr_test

import (
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// TestDepth runs long chains of operators, each of which is a level of its own for the parser and several for DuckDB.
func TestDepth(t *testing.T) {
	in := instance(t)
	for _, c := range []struct{ step, want string }{{" + 1", "981"}, {" - 1", "-979"}, {" + CAST(1 AS BIGINT)", "981"}} {
		sql := "SELECT x" + strings.Repeat(c.step, 980) + " FROM (SELECT 1 AS x)"
		if text, _, err := run(t, in, session(expr.Spark), sql); err != nil || text != c.want {
			t.Errorf("1%s ...: %q, want %q, error %v", c.step, text, c.want, err)
		}
	}
	err := in.Exec(t.Context(), "SELECT "+strings.Repeat("(1 + ", 5000)+"1"+strings.Repeat(")", 5000))
	if protocol.ClassOf(duckFault(err)) != "DELTASQL_LIMIT_EXCEEDED" {
		t.Errorf("a deep expression: %v", err)
	}
}
