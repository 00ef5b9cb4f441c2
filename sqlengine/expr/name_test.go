package expr_test

import (
	"testing"

	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

func TestNameOfSelectItems(t *testing.T) {
	for text, want := range map[string]string{
		"t.a":                               "a",
		"count(*)":                          "count(1)",
		"COUNT(DISTINCT _metadata.row_id)":  "count(DISTINCT _metadata.row_id)",
		"a + b":                             "(a + b)",
		"Sum(x)":                            "sum(x)",
		"CAST(a AS INT)":                    "CAST(a AS INT)",
		"a::decimal(5,2)":                   "CAST(a AS DECIMAL(5,2))",
		"UPPER(s)":                          "upper(s)",
		"1":                                 "1",
		"'x'":                               "x",
		"-1":                                "-1",
		"-a":                                "(- a)",
		"NULL":                              "NULL",
		"a <> 1":                            "(NOT (a = 1))",
		"a IS NOT NULL":                     "(a IS NOT NULL)",
		"a IN (1, 2)":                       "(a IN (1, 2))",
		"NOT a":                             "(NOT a)",
		"a AND b":                           "(a AND b)",
		"a || 'x'":                          "concat(a, x)",
		"a[0]":                              "a[0]",
		"s LIKE 'a%'":                       "s LIKE a%",
		"CASE WHEN a = 1 THEN 2 ELSE 3 END": "CASE WHEN (a = 1) THEN 2 ELSE 3 END",
		"transform(a, x -> x + 1)":          "transform(a, lambdafunction((namedlambdavariable() + 1), namedlambdavariable()))",
		"row_number() OVER (PARTITION BY g ORDER BY x)": "row_number() OVER (PARTITION BY g ORDER BY x ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
		"if(a, 1, 2)": "(IF(a, 1, 2))",
	} {
		s, err := parse.Parse("SELECT "+text, parse.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		item := s.(*parse.QueryStatement).Query.Body.(*parse.Select).Items[0].Expr
		if got := expr.Name(item); got != want {
			t.Errorf("%s: want %s, got %s", text, want, got)
		}
	}
}
