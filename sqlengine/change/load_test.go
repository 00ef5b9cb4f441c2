package change_test

import (
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

func TestIncoming(t *testing.T) {
	spark := options(expr.Spark)
	to := table(t, "id int; s struct<a:int>; widen smallint", "", nil)
	for sql, want := range map[string]string{
		"INSERT INTO t BY NAME SELECT 2 AS ID, NAMED_STRUCT('a', 2L, 'b', 'two') AS s, 2.5 AS extra": "struct<id:int,s:struct<a:bigint,b:string>,extra:decimal(2,1)>",
		"INSERT INTO t SELECT 4, NAMED_STRUCT('q', 4, 'b', 'four'), 4L, 'pos' AS pos":                "struct<id:int,s:struct<a:int,b:string>,widen:bigint,pos:string>",
		"INSERT INTO t SELECT 1L, NAMED_STRUCT('a', '4'), CAST(3.25 AS DECIMAL(12,2))":               "struct<id:bigint,s:struct<a:int>,widen:decimal(12,2)>",
		"INSERT INTO t SELECT '1', NULL, CAST(3.25 AS DECIMAL(3,2))":                                 "struct<id:int,s:struct<a:int>,widen:smallint>",
		"INSERT INTO t (widen) VALUES (1)":                                                           "struct<widen:int>",
	} {
		got, err := change.Incoming(t.Context(), parsed(t, sql, expr.Spark).(*parse.Insert), to, spark)
		if err != nil || got.String() != want {
			t.Errorf("%s\n  want %s\n  got  %s %v", sql, want, got, err)
		}
	}
}

func TestLoad(t *testing.T) {
	in := instance(t)
	to := table(t, "a int; b string; c double default 1.5", "", nil)
	long, text := protocol.DataType{Kind: protocol.KindLong}, protocol.DataType{Kind: protocol.KindString}
	files := bind.SQLTable{SQL: "(SELECT range AS x, 'v' || range AS y FROM range(2))", Columns: []expr.OutputColumn{{Name: "A", Out: "x", Type: long}, {Name: "b", Out: "y", Type: text}}}
	for _, c := range []struct {
		rows change.Rows
		want string
	}{
		{change.Rows{Source: files}, "0 | v0 | 1.5 / 1 | v1 | 1.5"},
		{change.Rows{Source: files, ByPosition: true}, "[DELTA_INSERT_COLUMN_ARITY_MISMATCH]"},
		{change.Rows{Source: files, Columns: []parse.Name{{{Name: "c"}}, {{Name: "b"}}}}, "NULL | v0 | 0.0 / NULL | v1 | 1.0"},
	} {
		plan, err := change.Load(t.Context(), c.rows, to, options(expr.Spark))
		got := ""
		if err == nil {
			got, err = rows(t.Context(), in, plan.Query)
		}
		if err != nil {
			got = "[" + string(protocol.ClassOf(err)) + "]"
		}
		if got != c.want {
			t.Errorf("want %s, got %s %v", c.want, got, err)
		}
	}
}
