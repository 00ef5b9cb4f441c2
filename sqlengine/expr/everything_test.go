//go:build slow

package expr_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// values are a row with a column of each type.
const values = `(SELECT 3 AS i, CAST(50 AS BIGINT) AS l, CAST(2.5 AS DOUBLE) AS f, CAST(2.50 AS DECIMAL(10,2)) AS n, 'abc' AS s, true AS b,
	DATE '2024-02-29' AS d, CAST('2024-02-29 12:00:00' AS TIMESTAMP) AS ts, CAST('2024-02-29 12:00:00' AS TIMESTAMP_NTZ) AS tn, X'4142' AS x,
	array(3, 1) AS ai, array('a', 'b') AS at, map('k', 1) AS m, named_struct('p', 1, 'q', 'q') AS st, parse_json('{"a":1}') AS v, NULL AS z,
	CAST(1 AS TINYINT) AS y, CAST(0.5 AS FLOAT) AS r) AS vals`

// TestEveryFunctionBindsWhatItAccepts calls every function of both dialects over columns of every type. Whatever it accepts,
// DuckDB must accept as well: a binder error of DuckDB is a fault of a template, and so is a type that differs from the bound one.
func TestEveryFunctionBindsWhatItAccepts(t *testing.T) {
	from := os.Getenv("FROM_FUNCTION") // resumes a long run
	in := instance(t)
	columns := strings.Fields("i l f n s b d ts tn x ai at m st v z y r")
	constants := []string{"1", "'a'", "DATE '2024-01-01'", "0.5", "NULL", "INTERVAL 1 DAY"}
	for _, dialect := range []expr.Dialect{expr.MySQL, expr.Spark} {
		for _, name := range expr.Functions(dialect) {
			// GROUPING needs GROUP BY, which package bind checks.
			if name < from || strings.HasPrefix(name, "grouping") || expr.IsGenerator(name) || name == "raise_error" || name == "sleep" {
				continue
			}
			over := ""
			switch name {
			case "row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist", "lag", "lead", "nth_value":
				over = " OVER (ORDER BY i)"
			}
			calls := []string{name + "()" + over}
			for _, c := range columns {
				calls = append(calls, name+"("+c+")"+over)
				for _, k := range constants {
					calls = append(calls, name+"("+c+", "+k+")"+over, name+"("+k+", "+c+")"+over)
				}
				calls = append(calls, name+"("+c+", "+c+")"+over, name+"("+c+", i)"+over, name+"("+c+", s)"+over, name+"("+c+", "+c+", "+c+")"+over,
					name+"("+c+", 1, 1)"+over, name+"("+c+", 'a', 'b')"+over, name+"(1, "+c+", "+c+", 1)"+over, name+"(i, i, i, i, i, "+c+")"+over)
			}
			for _, c := range []string{"ai", "at", "m"} {
				calls = append(calls, name+"("+c+", e -> e)", name+"("+c+", (e, g) -> e)", name+"("+c+", "+c+", (e, g) -> e)", name+"("+c+", 0, (e, g) -> e)")
			}
			faults := 0
			for _, call := range calls {
				if problem := accepted(t, in, session(dialect), call); problem != "" {
					if faults++; faults <= 2 {
						t.Errorf("%v %s: %s", dialect, call, problem)
					}
				}
			}
		}
	}
}

// accepted binds and runs a call; it gives the fault, "" where the call is refused or runs.
func accepted(t *testing.T, in *duck.Instance, ctx *expr.Context, call string) (problem string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			problem = fmt.Sprint("panic: ", p)
		}
	}()
	s, err := parse.Parse("SELECT "+call+" FROM "+values, parse.Options{Dialect: parse.Dialect(ctx.Dialect)})
	if err != nil {
		return ""
	}
	q, err := bind.Query(t.Context(), s.(*parse.QueryStatement).Query, bind.Options{Context: ctx, Catalog: noTables{}})
	if err != nil {
		if protocol.ClassOf(err) == protocol.ClassInternal {
			return err.Error()
		}
		return ""
	}
	printed, args, err := duckgen.Print(q, duckgen.Options{})
	if err != nil {
		return err.Error()
	}
	of := q.Columns[0].Type
	limited, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	got, err := cell(limited, in, "SELECT CAST(c0 AS VARCHAR), typeof(c0) FROM ("+printed+") AS t(c0)", args, of)
	if err != nil {
		if duckFault(err) != nil {
			return ""
		}
		return strings.SplitN(err.Error(), "\n", 2)[0] + "\n" + strings.SplitN(printed, "\nFROM", 2)[0]
	}
	if strings.Contains(got, "(DuckDB has") {
		return got + "\n" + strings.SplitN(printed, "\nFROM", 2)[0]
	}
	return ""
}
