package expr_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/sqlengine/expr"
)

func TestCost(t *testing.T) {
	cases := []struct {
		template string
		copies   []int
	}{
		{"upper({0})", []int{1}},
		{"upper({0}) || '{0}'", []int{1}},
		{"CASE WHEN {1} = 0 THEN {0} ELSE {0} / {1} END", []int{2, 2}},
		{"wrap_int({0})", []int{3}},
		{"wrap_int(abs({0}) + {1})", []int{3, 3}},
		{"wrap_int(wrap_int({0}))", []int{9}},
		{"shift_left_int({0}, {1})", []int{3, 3}},
		{"my_substring_index({0}, {1}, {2})", []int{4, 6, 4}},
		{"spark_double_text(CAST({0} AS VARCHAR))", []int{1}}, // bound to a lambda's parameter
		{"variant_null()", []int{}},
	}
	for _, c := range cases {
		if words, copies := expr.Cost(c.template, len(c.copies)); !slices.Equal(copies, c.copies) || words < 1 {
			t.Errorf("%s: %d words, copies %v, want %v", c.template, words, copies, c.copies)
		}
	}
}

// TestNestedCalls runs calls within calls whose texts, copied at each level, would take DuckDB minutes or for ever.
func TestNestedCalls(t *testing.T) {
	in := instance(t)
	cases := []struct {
		dialect             expr.Dialect
		before, core, after string
		levels              int
		in, want            string
	}{
		{expr.MySQL, "substring_index(", "x", ", '.', 2)", 30, "'a.b.c'", "a.b"},
		{expr.Spark, "substring_index(", "x", ", '.', -2)", 30, "'a.b.c'", "b.c"},
		{expr.Spark, "lpad(", "x", ", 5, '-')", 30, "'a.b.c'", "a.b.c"},
		{expr.MySQL, "lpad(", "x", ", 6, '-')", 30, "'a.b.c'", "-a.b.c"},
		{expr.Spark, "shiftleft(", "x", ", 1)", 20, "1", "1048576"},
		{expr.Spark, "bround(", "x", ", 1)", 20, "CAST(1.25 AS DECIMAL(10,2))", "1.2"},
		{expr.Spark, "substring_index(", "max(x)", ", '.', 2)", 20, "'a.b.c'", "a.b"},
		{expr.Spark, "substring_index(", "x", ", '.', 2)", 20, "CAST(NULL AS STRING)", "NULL"},
		{expr.Spark, "substring_index(", "max(x) OVER ()", ", '.', 2)", 20, "'a.b.c'", "a.b"},
		{expr.Spark, "substring_index(", "(SELECT x)", ", '.', 2)", 20, "'a.b.c'", "a.b"},
		{expr.Spark, "substring_index(", "(SELECT max(y) FROM (VALUES ('a.b.c')) AS v(y))", ", '.', 2)", 20, "'a.b.c'", "a.b"},
	}
	for _, c := range cases {
		nested := strings.Repeat(c.before, c.levels) + c.core + strings.Repeat(c.after, c.levels)
		start := time.Now()
		text, _, err := run(t, in, session(c.dialect), "SELECT "+nested+" FROM (SELECT "+c.in+" AS x) AS t")
		if err != nil || text != c.want {
			t.Errorf("%s: %q, want %q, error %v", nested, text, c.want, err)
		}
		if spent := time.Since(start); spent > 10*time.Second {
			t.Errorf("%s took %v", nested, spent)
		}
	}
	nested := strings.Repeat("substring_index(", 9) + "x" + strings.Repeat(", '.', 2)", 9)
	text, _, err := run(t, in, session(expr.Spark), "SELECT upper("+nested+") || count(*) FROM (SELECT 'a.b.c' AS x) AS t GROUP BY "+nested)
	if err != nil || text != "A.B1" {
		t.Errorf("grouped: %q, error %v", text, err)
	}
}
