package change_test

import (
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

func TestStored(t *testing.T) {
	schema := table(t, "id int; s string; l array<int>; n struct<a:int,b:string>; g int generated id + 1; m map<string,int>; ts timestamp", "", nil).Config.Schema
	spark := options(expr.Spark)
	for text, want := range map[string]string{
		"SIZE(l) <= 2":                        "SIZE ( l ) <= 2 [l]",
		"n.a > id -- why\n AND N.A < 9":       "n . a > id AND N . A < 9 [n.a id]",
		"m['k'] > 0":                          "m [ 'k' ] > 0 [m]",
		"exists(l, x -> x > id)":              "exists ( l , x -> x > id ) [l id]",
		"id + 1":                              "[DELTA_NON_BOOLEAN_CHECK_CONSTRAINT]",
		"SUM(id) > 0":                         "[INVALID_WHERE_CONDITION]",
		"ROW_NUMBER() OVER (ORDER BY id) > 0": "[WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE]",
		"no_such_function(id) > 0":            "[UNRESOLVED_ROUTINE]",
		"id + TRUE > 0":                       "[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES]",
		"nope > 0":                            "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"rand() > id":                         "[DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT]",
		"id > (SELECT 1)":                     "[DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT]",
		"ts < current_timestamp()":            "[DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT]",
		"current_user() = s":                  "[DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT]",
		"id > 0), (1":                         "[PARSE_SYNTAX_ERROR]",
	} {
		got, err := change.CheckExpression(t.Context(), "c", parse.Text{Text: text}, schema, spark)
		result(t, text, want, got, err)
	}
	for _, c := range [][3]string{
		{"x int", "id * 2", "id * 2 [id]"},
		{"x bigint", "id * 2", "[DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH]"},
		{"x string", "id * 2", "[DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH]"},
		{"x smallint", "id * 2", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x struct<a:int>", "id", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x double", "rand()", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x int", "(SELECT 1)", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x int", "g + 1", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"id int", "id + 1", "[UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x bigint", "sum(id)", "[DELTA_AGGREGATE_IN_GENERATED_COLUMN]"},
		{"x date", "current_date()", "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN]"},
		{"x date", "CAST(ts AS DATE)", "CAST(ts AS DATE) [ts]"},
		{"x int", "nope + 1", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]"},
	} {
		of := table(t, c[0], "", nil).Config.Schema.Fields[0]
		got, err := change.GeneratedExpression(t.Context(), of, parse.Text{Text: c[1]}, schema, spark)
		result(t, c[0]+" "+c[1], c[2], got, err)
	}
	for _, c := range [][3]string{
		{"x int", "42", "42 []"},
		{"x int", "'not a number'", "[INVALID_DEFAULT_VALUE.DATA_TYPE]"},
		{"x decimal(5,2)", "1.5", "1.5 []"},
		{"x date", "DATE '2024-02-29'", "DATE '2024-02-29' []"},
		{"x timestamp", "current_timestamp()", "current_timestamp() []"},
		{"x string", "concat('x', 'y')", "concat('x', 'y') []"},
		{"x int", "id", "[INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION]"},
		{"x int", "(SELECT 1)", "[INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION]"},
		{"x variant", "NULL", "NULL []"},
		{"x variant", "1", "[INVALID_DEFAULT_VALUE.DATA_TYPE]"},
	} {
		of := table(t, c[0], "", nil).Config.Schema.Fields[0]
		got, err := change.DefaultExpression(t.Context(), "CREATE TABLE", of, parse.Text{Text: c[1]}, spark)
		result(t, c[0]+" "+c[1], c[2], got, err)
	}
}

func result(t *testing.T, text, want string, got *change.Stored, err error) {
	t.Helper()
	out := ""
	if err != nil {
		out = "[" + string(protocol.ClassOf(err)) + "]"
	} else {
		var paths []string
		for _, path := range got.References {
			var parts []string
			for _, name := range path {
				parts = append(parts, string(name))
			}
			paths = append(paths, strings.Join(parts, "."))
		}
		out = got.Text + " [" + strings.Join(paths, " ") + "]"
	}
	if out != want {
		t.Errorf("%s\n  want %s\n  got  %s %v", text, want, out, err)
	}
}
