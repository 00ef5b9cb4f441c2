package change_test

import (
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

func TestMySQLInsert(t *testing.T) {
	in := instance(t)
	strict := options(expr.MySQL)
	to := table(t, "id int not null; n int; s varchar(3); d date; m decimal(4,1); ts timestamp_ntz; v variant; f double; b boolean", "", nil)
	check(t, in, to, strict,
		"INSERT INTO t (n) VALUES (1)", "[DELTASQL_NO_DEFAULT_VALUE]",
		"INSERT INTO t (id) VALUES (NULL)", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] Column 'id' cannot be null…",
		"INSERT INTO t (id) VALUES (DEFAULT)", "[DELTASQL_NO_DEFAULT_VALUE]",
		"INSERT INTO t (id, n) VALUES (1, 99999999999)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
		"INSERT INTO t (id, n) VALUES (1, 'abc')", "[DELTASQL_INCORRECT_VALUE]",
		"INSERT INTO t (id, n) VALUES (1, '')", "[DELTASQL_INCORRECT_VALUE]",
		"INSERT INTO t (id, n) VALUES (1, '12abc')", "[DELTASQL_DATA_TRUNCATED]",
		"INSERT INTO t (id, n) VALUES (1, '99999999999')", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
		"INSERT INTO t (id, s) VALUES (1, 'toolong')", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
		"INSERT INTO t (id, d) VALUES (1, '2024-02-31')", "[DELTASQL_INCORRECT_DATETIME_VALUE]",
		"INSERT INTO t (id, d) VALUES (1, '2024-02-03x')", "[DELTASQL_INCORRECT_DATETIME_VALUE]",
		"INSERT INTO t (id, m) VALUES (1, 12345.6)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
		"INSERT INTO t (id, m) VALUES (1, 'x')", "[DELTASQL_INCORRECT_VALUE]",
		"INSERT INTO t (id, n) VALUES (1, 1), (2, 2), (3, 'x')", "[DELTASQL_INCORRECT_VALUE]",
		"INSERT INTO t VALUES (1, 2)", "[INSERT_COLUMN_ARITY_MISMATCH]",
		"INSERT INTO t (id, n) VALUES (1)", "[INSERT_COLUMN_ARITY_MISMATCH]",
		"INSERT INTO t (id, n) VALUES (1, 2), (3)", "[INSERT_COLUMN_ARITY_MISMATCH]",
		"INSERT INTO t (id, nope) VALUES (1, 2)", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"INSERT INTO t (id, id) VALUES (1, 2)", "[DELTASQL_COLUMN_SPECIFIED_TWICE]",
		"INSERT INTO t (id, s, m) VALUES (1, 'abc', 123.45)", "1 | NULL | abc | NULL | 123.5 | NULL | NULL | NULL | NULL",
		"INSERT INTO t (id, n, m) VALUES (1, 7.5, 1.25e0), (2, -7.5, -0.25)", "1 | 8 | NULL | NULL | 1.3 | NULL | NULL | NULL | NULL / 2 | -8 | NULL | NULL | -0.3 | NULL | NULL | NULL | NULL",
		"INSERT INTO t (id, n, f) VALUES ('3', ' 7.5 ', '1e2')", "3 | 8 | NULL | NULL | NULL | NULL | NULL | 100.0 | NULL",
		"INSERT INTO t (id, d, ts) VALUES (1, '2024-02-29', '2024-02-29 12:13:14.5'), (2, 20240229, '20240229121314')", "1 | NULL | NULL | 2024-02-29 | NULL | 2024-02-29 12:13:14.5 | NULL | NULL | NULL / 2 | NULL | NULL | 2024-02-29 | NULL | 2024-02-29 12:13:14 | NULL | NULL | NULL",
		`INSERT INTO t (id, v) VALUES (1, '{"a": [1]}')`, "1 | NULL | NULL | NULL | NULL | NULL | {'a': [1]} | NULL | NULL",
		`INSERT INTO t (id, v) VALUES (1, '{bad')`, "[DELTASQL_INVALID_JSON_TEXT]",
		"INSERT INTO t (id, b) VALUES (1, 2), (2, 0), (3, TRUE)", "1 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | true / 2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | false / 3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | true",
		"INSERT INTO t (id, n) VALUES (10, id + 1), (11, n + 1)", "10 | 11 | NULL | NULL | NULL | NULL | NULL | NULL | NULL / 11 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
		"INSERT INTO t (id, n) VALUES (1, 5 / 0)", "[DIVIDE_BY_ZERO]",
		"INSERT INTO t (id, n) VALUES (1, 5 % (1 - 1)), (2, NULL / 0)", "[DIVIDE_BY_ZERO]",
		"INSERT INTO t (id, n) VALUES (2, NULL / 0), (3, 6 / 4), (4, 7 DIV 2)", "2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL / 3 | 2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL / 4 | 3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
		"INSERT INTO t (id, s) VALUES (1, 'ab    '), (2, 'abc ')", "1 | NULL | ab  | NULL | NULL | NULL | NULL | NULL | NULL / 2 | NULL | abc | NULL | NULL | NULL | NULL | NULL | NULL",
		"INSERT INTO t SET id = 5, n = 2 + 3", "5 | 5 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
		"INSERT INTO t (id, n) SELECT 9, (SELECT 90)", "9 | 90 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
	)
	check(t, in, table(t, "a int; b varchar(5) default 'x'", "", nil), strict,
		"INSERT INTO t VALUES ()", "NULL | x",
		"INSERT INTO t () VALUES (), ()", "NULL | x / NULL | x",
	)
	lenient := strict
	lenient.Lenient = true
	check(t, in, table(t, "id int; n tinyint; m decimal(4,1)", "", nil), lenient,
		"INSERT INTO t (id, n) VALUES (1, 1 / 0)", "1 | NULL | NULL",
		"INSERT INTO t VALUES (1, 300, 99999), (2, '-300', -99999.99), (3, 'x', 'y'), (4, '7y', '1.25'), (5, NULL, NULL)",
		"1 | 127 | 999.9 / 2 | -128 | -999.9 / 3 | 0 | 0.0 / 4 | 7 | 1.3 / 5 | NULL | NULL",
		"INSERT INTO t VALUES (1, 300, 99999e0), (2, -7.5, CASE WHEN 1 = 0 THEN 1e0 END)", "1 | 127 | 999.9 / 2 | -8 | NULL",
	)
}

// A file of LOAD DATA gives columns and variables by position; SET computes from them.
func TestLoadData(t *testing.T) {
	in := instance(t)
	to := table(t, "a int; b varchar(5); c int default 7", "", nil)
	text := protocol.DataType{Kind: protocol.KindString}
	file := bind.SQLTable{SQL: "(SELECT * FROM (VALUES ('1', 'x', '5'), ('2', 'y', '6')) v(f1, f2, f3))", Columns: []expr.OutputColumn{{Out: "f1", Type: text, Nullable: true}, {Out: "f2", Type: text, Nullable: true}, {Out: "f3", Type: text, Nullable: true}}}
	for sql, want := range map[string]string{
		"LOAD DATA INFILE 'x' INTO TABLE t":                                                "1 | x | 5 / 2 | y | 6",
		"LOAD DATA INFILE 'x' INTO TABLE t (a, @skip, c)":                                  "1 | NULL | 5 / 2 | NULL | 6",
		"LOAD DATA INFILE 'x' INTO TABLE t (a, @v, @w) SET b = CONCAT(@v, a), c = @w * 10": "1 | x1 | 50 / 2 | y2 | 60",
		"LOAD DATA INFILE 'x' INTO TABLE t (@a, b, c) SET a = @a + 1":                      "2 | x | 5 / 3 | y | 6",
		"LOAD DATA INFILE 'x' INTO TABLE t (b, a, c)":                                      "[DELTASQL_INCORRECT_VALUE]",
		"LOAD DATA INFILE 'x' INTO TABLE t (a, nope, c)":                                   "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"LOAD DATA INFILE 'x' INTO TABLE t (a, b)":                                         "[DELTASQL_WRONG_NUMBER_OF_FIELDS]",
	} {
		plan, err := change.LoadData(t.Context(), parsed(t, sql, expr.MySQL).(*parse.LoadData), file, to, options(expr.MySQL))
		got := ""
		if err == nil {
			got, err = rows(t.Context(), in, plan.Query)
		}
		if err != nil {
			got = "[" + string(protocol.ClassOf(err)) + "]"
		}
		if got != want {
			t.Errorf("%s\n  want %s\n  got  %s %v", sql, want, got, err)
		}
	}
}
