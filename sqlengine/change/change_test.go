package change_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// instance is a DuckDB with the macros of package expr.
func instance(t *testing.T) *duck.Instance {
	t.Helper()
	in, err := duck.Open(duck.Config{Threads: 1, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	for _, m := range expr.Macros() {
		if err := in.Exec(t.Context(), m); err != nil {
			t.Fatalf("%s\n%v", m, err)
		}
	}
	return in
}

var column = regexp.MustCompile(`^(\S+) (.+?)( not null)?( default (.+)| generated (.+)| always (-?\d+) (-?\d+)| by default (-?\d+) (-?\d+))?( mark (-?\d+))?$`)

// table makes a table of "name type [not null] [default e | generated e | always start step | by default start step [mark n]]; ...".
// A type varchar(n) or char(n), at any depth, is declared so.
func table(t *testing.T, columns, partition string, checks map[string]string) change.Table {
	t.Helper()
	schema := protocol.DataType{Kind: protocol.KindStruct}
	for _, text := range strings.Split(columns, "; ") {
		m := column.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("column %q", text)
		}
		plain := regexp.MustCompile(`(var)?char\(\d+\)`).ReplaceAllString(m[2], "string")
		of, err := protocol.ParseDataType(strings.ReplaceAll(plain, "!", ""))
		if err != nil {
			t.Fatal(err)
		}
		f := protocol.Field{Name: protocol.LogicalName(m[1]), Type: of, Nullable: m[3] == ""}
		if strings.Contains(m[2], "!") { // the first member of the struct is NOT NULL
			f.Type.Fields[0].Nullable = false
		}
		if plain != m[2] && plain != strings.ReplaceAll(m[2], "!", "") || strings.Contains(m[2], "char(") {
			f.Metadata = f.Metadata.WithCharVarchar(m[2])
		}
		number := func(i int) int64 { n, _ := strconv.ParseInt(m[i], 10, 64); return n }
		switch {
		case m[5] != "":
			f.Metadata = f.Metadata.WithCurrentDefault(m[5])
		case m[6] != "":
			f.Metadata = f.Metadata.WithGeneration(m[6])
		case m[7] != "" || m[9] != "":
			id := protocol.Identity{Start: number(7), Step: number(8)}
			if m[9] != "" {
				id = protocol.Identity{Start: number(9), Step: number(10), AllowExplicitInsert: true}
			}
			if m[12] != "" {
				mark := number(12)
				id.HighWaterMark = &mark
			}
			f.Metadata = f.Metadata.WithIdentity(id)
		}
		schema.Fields = append(schema.Fields, f)
	}
	meta := protocol.Metadata{ID: "t", Provider: "parquet", SchemaString: schema.JSON(), Configuration: map[string]string{}}
	if partition != "" {
		meta.PartitionColumns = strings.Split(partition, ",")
	}
	for name, text := range checks {
		meta.Configuration["delta.constraints."+name] = text
	}
	p := protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"typeWidening", "timestampNtz", "variantType"},
		WriterFeatures: []string{"typeWidening", "timestampNtz", "variantType", "identityColumns", "generatedColumns", "allowColumnDefaults", "checkConstraints", "invariants"}}
	if strings.Contains(columns, "widen") {
		meta.Configuration["delta.enableTypeWidening"] = "true"
	}
	config, err := protocol.NewTableConfig(p, meta)
	if err != nil {
		t.Fatal(err)
	}
	return change.Table{Name: []string{"db", "t"}, Config: config, Source: source{config}}
}

// source is the table's snapshot for the binder.
type source struct{ config *protocol.TableConfig }

func (s source) Columns() []expr.OutputColumn {
	var out []expr.OutputColumn
	for _, f := range s.config.Schema.Fields {
		out = append(out, expr.OutputColumn{Name: string(f.Name), Out: string(f.Name), Type: f.Type, Nullable: true})
	}
	for _, h := range []string{change.FileNumber, "_metadata.row_index", "_metadata.row_id"} {
		out = append(out, expr.OutputColumn{Name: h, Out: h, Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true, Hidden: true})
	}
	return out
}

func options(dialect expr.Dialect) change.Options {
	return change.Options{Options: bind.Options{Context: &expr.Context{Dialect: dialect, ZeroDivisionTold: true, TimeZone: "UTC", Database: "db", User: "me",
		Now: time.Date(2024, 3, 5, 14, 7, 9, 0, time.UTC)}}}
}

func parsed(t *testing.T, sql string, dialect expr.Dialect) parse.Statement {
	t.Helper()
	opts := parse.Options{Dialect: parse.Spark}
	if dialect == expr.MySQL {
		opts.Dialect = parse.MySQL
	}
	s, err := parse.Parse(sql, opts)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return s
}

// outcome is what an INSERT writes: rows "a | b" in order, joined by " / ", or the class of its error.
func outcome(t *testing.T, in *duck.Instance, sql string, to change.Table, opts change.Options) (string, *change.Plan, error) {
	t.Helper()
	plan, err := change.Insert(t.Context(), parsed(t, sql, opts.Context.Dialect).(*parse.Insert), to, opts)
	if err != nil {
		return "[" + string(protocol.ClassOf(err)) + "]", nil, err
	}
	query := *plan.Query
	if plan.Replaced != nil {
		query.With = plan.Replaced.Query.With // of which Query is a part
	}
	text, err := rows(t.Context(), in, &query)
	if err != nil {
		return "[" + string(protocol.ClassOf(err)) + "]", plan, err
	}
	return text, plan, nil
}

func rows(ctx context.Context, in *duck.Instance, q *expr.Query) (string, error) {
	printed, args, err := duckgen.Print(q, duckgen.Options{})
	if err != nil {
		return "", err
	}
	items := make([]string, len(q.Columns))
	for i := range items {
		items[i] = fmt.Sprintf("coalesce(CAST(c%d AS VARCHAR), 'NULL')", i)
		if of := q.Columns[i].Type; of.Kind != protocol.KindVoid { // every column has in DuckDB the type that the plan says
			name := strings.ReplaceAll(strings.ReplaceAll(expr.DuckType(of), `"`, ""), "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
			items[i] += fmt.Sprintf(" || CASE WHEN replace(typeof(c%d), '\"', '') = '%s' THEN '' ELSE ' is ' || typeof(c%d) END", i, name, i)
		}
	}
	lines, err := texts(ctx, in, "SELECT "+strings.Join(items, " || ' | ' || ")+" FROM ("+printed+")", args)
	if err != nil {
		return "", fault(err, printed)
	}
	return strings.Join(lines, " / "), nil
}

// texts runs a query of one column of text.
func texts(ctx context.Context, in *duck.Instance, sql string, args []any) ([]string, error) {
	s, err := in.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []string
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			out = append(out, b.Vector(0).Text(i))
		}
	}
}

// fault is a DuckDB error as the engine reports it.
func fault(err error, printed string) error {
	var f *duck.Error
	if errors.As(err, &f) {
		if known := expr.DuckError(string(f.Kind) + " Error: " + f.Message); known != nil {
			return known
		}
	}
	return fmt.Errorf("%w\n%s", err, printed)
}

// check runs statements over one table; each is the SQL and what it comes to.
func check(t *testing.T, in *duck.Instance, to change.Table, opts change.Options, cases ...string) {
	t.Helper()
	for i := 0; i < len(cases); i += 2 {
		got, _, err := outcome(t, in, cases[i], to, opts)
		if want := cases[i+1]; got != want && !(strings.HasSuffix(want, "…") && err != nil && strings.Contains(err.Error(), strings.TrimSuffix(want, "…"))) {
			t.Errorf("%s\n  want %s\n  got  %s\n  %v", cases[i], want, got, err)
		}
	}
}

func TestSparkInsert(t *testing.T) {
	in := instance(t)
	spark := options(expr.Spark)

	t.Run("list, defaults and arity", func(t *testing.T) {
		check(t, in, table(t, "a int; b string default 'none'; c double", "", nil), spark,
			"INSERT INTO t (c, a) VALUES (1.5, 1)", "1 | none | 1.5",
			"INSERT INTO t (a, b) VALUES (2, DEFAULT), (3, NULL)", "2 | none | NULL / 3 | NULL | NULL",
			"INSERT INTO t VALUES (4, DEFAULT, DEFAULT)", "4 | none | NULL",
			"INSERT INTO t VALUES (5)", "[DELTA_INSERT_COLUMN_ARITY_MISMATCH]",
			"INSERT INTO t (a, b) VALUES (6)", "[INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS]",
			"INSERT INTO t (a) VALUES (7, 'x')", "[INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS]",
			"INSERT INTO t (a, nope) VALUES (8, 1)", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
			"INSERT INTO t (a, A) VALUES (9, 9)", "[COLUMN_ALREADY_EXISTS]",
			"INSERT INTO t VALUES (10, 'x', 1.0, 2)", "[DELTA_METADATA_MISMATCH]",
			"WITH w AS (SELECT 7 AS x) INSERT INTO t SELECT x, 'w', x FROM w", "7 | w | 7.0",
			"INSERT INTO t WITH w AS (SELECT 7 AS x) SELECT x, 'w', x FROM w UNION ALL SELECT 8, 'v', 1", "7 | w | 7.0 / 8 | v | 1.0",
			"INSERT INTO t (t.a, db.t.b) VALUES (1, 'q')", "1 | q | NULL",
			"INSERT INTO t SELECT 1, 'x', 2 WHERE false", "",
		)
	})
	t.Run("by name", func(t *testing.T) {
		check(t, in, table(t, "id int; name string; v double", "", nil), spark,
			"INSERT INTO t BY NAME SELECT 1.5 AS v, 1 AS ID, 'a' AS name", "1 | a | 1.5",
			"INSERT INTO t BY NAME SELECT 2 AS ID, 'b' AS Name", "2 | b | NULL",
			"INSERT INTO t BY NAME SELECT 3 AS id, 'c' AS nope", "[DELTA_METADATA_MISMATCH]",
			"INSERT INTO t BY NAME SELECT 4 AS id, 'd' AS name, 1.0 AS v, 1 AS extra", "[INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS]",
			"INSERT INTO t BY NAME SELECT 5 AS id, 6 AS id", "[DELTA_DUPLICATE_COLUMNS_FOUND]",
		)
	})
	t.Run("casts", func(t *testing.T) {
		check(t, in, table(t, "i int; b boolean; dt date; ts timestamp; x binary; m decimal(5,2); s string; a array<int>", "", nil), spark,
			"INSERT INTO t (i) VALUES ('12')", "12 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
			"INSERT INTO t (b, dt, ts) VALUES (1, '2024-01-01', 0)", "NULL | true | 2024-01-01 | 1970-01-01 00:00:00+00 | NULL | NULL | NULL | NULL",
			"INSERT INTO t (m) SELECT CAST(1000 AS INT)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (m) VALUES ('1000')", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (m) VALUES ('x')", "[CAST_INVALID_INPUT]",
			"INSERT INTO t (m) VALUES (1.005), (-1.005), (999.994)", "NULL | NULL | NULL | NULL | NULL | 1.01 | NULL | NULL / NULL | NULL | NULL | NULL | NULL | -1.01 | NULL | NULL / NULL | NULL | NULL | NULL | NULL | 999.99 | NULL | NULL",
			"INSERT INTO t (m) VALUES (999.995)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (i, a) SELECT TRUE, ARRAY('1', NULL)", "1 | NULL | NULL | NULL | NULL | NULL | NULL | [1, NULL]",
			"INSERT INTO t (x) VALUES (1)", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION]",
			"INSERT INTO t (s) SELECT ARRAY(1, 2)", "NULL | NULL | NULL | NULL | NULL | NULL | [1, 2] | NULL",
			"INSERT INTO t (a) SELECT ARRAY('x')", "[CAST_INVALID_INPUT]",
			"INSERT INTO t (a) SELECT ARRAY(1L, 5000000000L)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (i) SELECT DATE '2024-01-01'", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION]",
			"INSERT INTO t (i) VALUES ('12x')", "[CAST_INVALID_INPUT]",
			"INSERT INTO t (i) SELECT x FROM (VALUES ('12x'), ('3')) v(x) WHERE x = '3'", "3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
			"INSERT INTO t (i) SELECT x FROM (VALUES (5000000000), (3)) v(x) LIMIT 0", "",
			"INSERT INTO t (i) SELECT CAST(7.9 AS DECIMAL(3,1)) UNION ALL SELECT -7.9D", "7 | NULL | NULL | NULL | NULL | NULL | NULL | NULL / -7 | NULL | NULL | NULL | NULL | NULL | NULL | NULL",
			"INSERT INTO t (i) SELECT CAST(1e10 AS DOUBLE)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (i) SELECT CAST('NaN' AS DOUBLE)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (i) SELECT raise_error('boom')", "[USER_RAISED_EXCEPTION]",
		)
		check(t, in, table(t, "a tinyint; b smallint; c int; d bigint; f float", "", nil), spark,
			"INSERT INTO t (a) VALUES (127)", "127 | NULL | NULL | NULL | NULL",
			"INSERT INTO t (a) VALUES (128)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (b) VALUES (-32769)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (c) VALUES (2147483648)", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (d) SELECT CAST('9223372036854775808' AS DECIMAL(20,0))", "[CAST_OVERFLOW_IN_TABLE_INSERT]",
			"INSERT INTO t (f) VALUES (-1e300D), (1.5D), (NULL)", "NULL | NULL | NULL | NULL | -inf / NULL | NULL | NULL | NULL | 1.5 / NULL | NULL | NULL | NULL | NULL",
			"INSERT INTO t (a) VALUES (128)", "[CAST_OVERFLOW_IN_TABLE_INSERT] Fail to assign the value 128 of type INT to the TINYINT type column `a`…",
		)
	})
	t.Run("nested", func(t *testing.T) {
		to := table(t, "id int; s struct<a:int,b:string>; l array<struct<q:int,w:string>>; m map<string,struct<z:bigint>>", "", nil)
		check(t, in, to, spark,
			"INSERT INTO t VALUES (1, NAMED_STRUCT('x', 10, 'y', 'ten'), NULL, NULL)", "1 | {'a': 10, 'b': ten} | NULL | NULL",
			"INSERT INTO t VALUES (2, NAMED_STRUCT('b', 20, 'a', 'twenty'), array(named_struct('w', 1L, 'q', 2)), map('k', named_struct('a', 1), 'l', NULL))",
			"2 | {'a': 20, 'b': twenty} | [{'q': 1, 'w': 2}] | {k={'z': 1}, l=NULL}",
			"INSERT INTO t BY NAME SELECT 3 AS id, NAMED_STRUCT('b', 'thirty', 'A', 30) AS s, array(named_struct('w', 'x', 'q', 2), NULL) AS l", "3 | {'a': 30, 'b': thirty} | [{'q': 2, 'w': x}, NULL] | NULL",
			"INSERT INTO t BY NAME SELECT NAMED_STRUCT('b', 'only') AS s", "NULL | {'a': NULL, 'b': only} | NULL | NULL",
			"INSERT INTO t (id, s) VALUES (4, NULL), (5, NAMED_STRUCT('a', NULL, 'b', NULL))", "4 | NULL | NULL | NULL / 5 | {'a': NULL, 'b': NULL} | NULL | NULL",
			"INSERT INTO t (s) VALUES (NAMED_STRUCT('a', 1))", "[DELTA_INSERT_COLUMN_ARITY_MISMATCH]",
			"INSERT INTO t (s) VALUES (NAMED_STRUCT('a', 1, 'b', 'x', 'c', 2))", "[DELTA_METADATA_MISMATCH]",
			"INSERT INTO t BY NAME SELECT NAMED_STRUCT('a', 1, 'c', 'x') AS s", "[DELTA_METADATA_MISMATCH]",
			"INSERT INTO t (s) VALUES (5)", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION]",
			"INSERT INTO t (s) VALUES (NAMED_STRUCT('a', 'x', 'b', 'x'))", "[CAST_INVALID_INPUT]",
		)
	})
	t.Run("variant", func(t *testing.T) {
		check(t, in, table(t, "id int; v variant", "", nil), spark,
			`INSERT INTO t SELECT 1, parse_json('{"a": 1}')`, "1 | {'a': 1}",
			`INSERT INTO t VALUES (3, '{"a": 1}'), (4, NULL)`, `3 | {"a": 1} / 4 | NULL`,
			`INSERT INTO t SELECT v, 1 FROM (SELECT parse_json('12') AS v)`, "12 | 1",
			`INSERT INTO t SELECT v, 1 FROM (SELECT parse_json('"x"') AS v)`, "[INVALID_VARIANT_CAST]",
		)
	})
	t.Run("void", func(t *testing.T) {
		check(t, in, table(t, "b void; a int not null", "", nil), spark,
			"INSERT INTO t VALUES (NULL, 1)", "NULL | 1",
			"INSERT INTO t VALUES (NULL, NULL)", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
			"INSERT INTO t (a) VALUES (2)", "NULL | 2",
			"INSERT INTO t VALUES (1, 2)", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION]",
		)
		check(t, in, table(t, "a void", "", nil), spark, "INSERT INTO t VALUES (NULL)", "[DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS]")
		check(t, in, table(t, "a int; b array<void>", "", nil), spark, "INSERT INTO t VALUES (1, NULL)", "[DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE]")
	})
	t.Run("partitions", func(t *testing.T) {
		to := table(t, "id int; p string; q int", "p,q", nil)
		check(t, in, to, spark,
			"INSERT INTO t PARTITION (p = 'a', q = 1) VALUES (1), (2)", "1 | a | 1 / 2 | a | 1",
			"INSERT INTO t PARTITION (q = '2', p = 'a') SELECT 3", "3 | a | 2",
			"INSERT INTO t PARTITION (p = 'b', q) VALUES (4, 1), (5, 2)", "4 | b | 1 / 5 | b | 2",
			"INSERT OVERWRITE t PARTITION (p = 'a') SELECT 7, 9", "7 | a | 9",
			"INSERT INTO t PARTITION (nope = 1) VALUES (8)", "[NON_PARTITION_COLUMN]",
			"INSERT INTO t PARTITION (id = 1) VALUES ('x', 8)", "[NON_PARTITION_COLUMN]",
			"INSERT INTO t PARTITION (p = 'c', q = 1) VALUES (9, 9)", "[DELTA_METADATA_MISMATCH]",
			"INSERT INTO t PARTITION (p = 'c', q = 1) VALUES (9, 9)", "[DELTA_METADATA_MISMATCH]",
			"INSERT INTO t PARTITION (p = 'c') (id, p) VALUES (9, 'x')", "[STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST]",
			"INSERT INTO t VALUES (1, '', 1), (2, '__HIVE_DEFAULT_PARTITION__', 1), (3, ' ', NULL)", "1 | NULL | 1 / 2 | NULL | 1 / 3 |   | NULL",
		)
		_, plan, err := outcome(t, in, "INSERT OVERWRITE t PARTITION (q = 1, p) VALUES (1, 'x')", to, spark)
		if err != nil || len(plan.Partition) != 1 || plan.Partition[0].Column != 2 {
			t.Errorf("static partition: %+v %v", plan, err)
		}
		check(t, in, table(t, "id int; p string not null", "p", nil), spark, "INSERT INTO t VALUES (1, '')", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]")
	})
}

func TestDuties(t *testing.T) {
	in := instance(t)
	spark := options(expr.Spark)
	t.Run("not null", func(t *testing.T) {
		check(t, in, table(t, "id int not null; s struct<!a:int,b:string>", "", nil), spark,
			"INSERT INTO t VALUES (1, NAMED_STRUCT('a', 1, 'b', NULL))", "1 | {'a': 1, 'b': NULL}",
			"INSERT INTO t VALUES (NULL, NAMED_STRUCT('a', 1, 'b', 'x'))", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
			"INSERT INTO t VALUES (2, NAMED_STRUCT('a', NULL, 'b', 'x'))", "NOT NULL constraint violated for column: s.a.…",
			"INSERT INTO t VALUES (3, NULL)", "NOT NULL constraint violated for column: s.a.…",
			"INSERT INTO t (s) VALUES (NAMED_STRUCT('a', 1, 'b', 'x'))", "[DELTA_INSERT_COLUMN_MISMATCH]",
			"INSERT INTO t (id) VALUES (4)", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
			"INSERT INTO t SELECT x, NAMED_STRUCT('a', x, 'b', 'x') FROM (VALUES (1), (NULL)) v(x) WHERE x IS NOT NULL", "1 | {'a': 1, 'b': x}",
		)
	})
	t.Run("checks", func(t *testing.T) {
		check(t, in, table(t, "id int; x int; s struct<a:int>", "", map[string]string{"positive": "x > 0", "inner": "s . a IS NULL OR s . a < id"}), spark,
			"INSERT INTO t VALUES (2, 1, NULL)", "2 | 1 | NULL",
			"INSERT INTO t VALUES (3, 0, NULL)", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint positive (x > 0) violated by row with values:\n - x : 0…",
			"INSERT INTO t VALUES (4, NULL, NULL)", "violated by row with values:\n - x : null…",
			"INSERT INTO t VALUES (5, 5, NULL), (6, -1, NULL)", "\n - x : -1…",
			"INSERT INTO t VALUES (5, 5, named_struct('a', 5))", "\n - id : 5\n - s.a : 5…",
			"INSERT INTO t SELECT id, x, NULL FROM (VALUES (1, 1), (2, -1)) v(id, x) WHERE x > 0", "1 | 1 | NULL",
			"INSERT INTO t SELECT v.id, x, NULL FROM (VALUES (1, 1), (2, -1)) v(id, x) JOIN (SELECT 1 AS id) w ON v.id = w.id", "1 | 1 | NULL",
		)
	})
	t.Run("generated", func(t *testing.T) {
		to := table(t, "id int; ts timestamp; d date generated CAST(ts AS DATE); twice int generated id * 2", "", nil)
		check(t, in, to, spark,
			"INSERT INTO t (id, ts) VALUES (1, TIMESTAMP '2024-03-01 12:00:00')", "1 | 2024-03-01 12:00:00+00 | 2024-03-01 | 2",
			"INSERT INTO t VALUES (2, TIMESTAMP '1969-12-31 23:59:59', DATE '1969-12-31', 4)", "2 | 1969-12-31 23:59:59+00 | 1969-12-31 | 4",
			"INSERT INTO t VALUES (3, TIMESTAMP '2024-03-01 12:00:00', DATE '2024-03-02', 6)", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]",
			"INSERT INTO t (id, twice) VALUES (4, 9)", "CHECK constraint Generated Column (twice <=> id * 2) violated by row with values:\n - id : 4\n - twice : 9…",
			"INSERT INTO t (id) VALUES (5)", "5 | NULL | NULL | 10",
			"INSERT INTO t VALUES (NULL, NULL, NULL, NULL)", "NULL | NULL | NULL | NULL",
			"INSERT INTO t (id, twice) VALUES (1, DEFAULT), (2, 4), (3, DEFAULT)", "1 | NULL | NULL | 2 / 2 | NULL | NULL | 4 / 3 | NULL | NULL | 6",
			"INSERT INTO t (id, twice) VALUES (1, DEFAULT), (2, DEFAULT)", "1 | NULL | NULL | 2 / 2 | NULL | NULL | 4",
			"INSERT INTO t (id, twice) VALUES (1, DEFAULT), (2, 5)", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]",
		)
		check(t, in, table(t, "s string; g string generated substring(s, 1, 1)", "g", nil), spark,
			"INSERT INTO t (s) VALUES ('abc'), ('')", "abc | a /  | NULL",
			"INSERT INTO t VALUES ('', '')", " | NULL")
	})
	t.Run("lengths", func(t *testing.T) {
		to := table(t, "id int; c char(3); v varchar(3); a array<varchar(2)>; m map<varchar(1),struct<x:int,y:char(2)>>", "", nil)
		check(t, in, to, spark,
			"INSERT INTO t (id, c, v, a) VALUES (1, 'ab', 'abc', ARRAY('x', 'xy'))", "1 | ab | abc | [x, xy] | NULL",
			"INSERT INTO t (id, c, v, a) VALUES (2, 'ünï', 'ünï', ARRAY('😀😀', NULL))", "2 | ünï | ünï | [😀😀, NULL] | NULL",
			"INSERT INTO t (id, v) VALUES (3, 'abcd')", "Value \"abcd\" of column `v`…",
			"INSERT INTO t (id, c) VALUES (4, 'abcd')", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
			"INSERT INTO t (id, v) VALUES (5, 'ab    ')", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
			"INSERT INTO t (id, a) VALUES (6, ARRAY('ok', 'bad'))", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
			"INSERT INTO t (id, m) VALUES (6, map('k', named_struct('x', 1, 'y', 'ab'), 'l', NULL))", "6 | NULL | NULL | NULL | {k={'x': 1, 'y': ab}, l=NULL}",
			"INSERT INTO t (id, m) VALUES (6, map('k', named_struct('x', 1, 'y', 'abc')))", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
			"INSERT INTO t (id, m) VALUES (6, map('kk', named_struct('x', 1, 'y', 'ab')))", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
			"INSERT INTO t (id, c, v) VALUES (7, '', '')", "7 |  |  | NULL | NULL",
			"INSERT INTO t (v) VALUES (12345)", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
		)
	})
	t.Run("identity", func(t *testing.T) {
		always := table(t, "id bigint always 10 -3; v string", "", nil)
		check(t, in, always, spark,
			"INSERT INTO t (v) VALUES ('x'), ('y')", "10 | x / 7 | y",
			"INSERT INTO t VALUES (5, 'y')", "[DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED]",
			"INSERT INTO t (id, v) VALUES (DEFAULT, 'z')", "[DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED]",
		)
		to := table(t, "id bigint by default 100 10 mark 130; v string", "", nil)
		check(t, in, to, spark,
			"INSERT INTO t (v) VALUES ('p'), ('q')", "140 | p / 150 | q",
			"INSERT INTO t VALUES (5, 'q')", "5 | q",
			"INSERT INTO t VALUES (DEFAULT, 'a'), (5, 'q'), (DEFAULT, 'b'), (NULL, 'c')", "140 | a / 5 | q / 150 | b / NULL | c",
			"INSERT INTO t VALUES (DEFAULT, 'a')", "140 | a",
		)
		for sql, want := range map[string]change.Identity{
			"INSERT INTO t (v) VALUES ('p')":                      {Generated: true, Base: 140, Step: 10, Count: -1},
			"INSERT INTO t VALUES (5, 'q')":                       {Base: 140, Step: 10, Count: -1, Explicit: true},
			"INSERT INTO t VALUES (DEFAULT, 'a'), (5, 'q')":       {Generated: true, Base: 140, Step: 10, Count: 1, Explicit: true},
			"INSERT INTO t VALUES (DEFAULT, 'a'), (DEFAULT, 'q')": {Generated: true, Base: 140, Step: 10, Count: -1},
		} {
			_, plan, err := outcome(t, in, sql, to, spark)
			if err != nil || len(plan.Identity) != 1 || plan.Identity[0] != want {
				t.Errorf("%s: %+v, %v; want %+v", sql, plan, err, want)
			}
		}
		check(t, in, to, options(expr.MySQL),
			"INSERT INTO t VALUES (NULL, 'a'), (0, 'q'), (7, 'b'), (DEFAULT, 'c')", "140 | a / 150 | q / 7 | b / 160 | c",
		)
	})
	t.Run("every duty is done", func(t *testing.T) {
		to := table(t, "id bigint always 1 1; n int not null; s struct<!a:int>; v varchar(3); g int generated n + 1", "", map[string]string{"c": "n > 0"})
		_, plan, err := outcome(t, in, "INSERT INTO t (n, s, v) VALUES (1, named_struct('a', 1), 'x')", to, spark)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range plan.Done {
			got = append(got, d.String())
		}
		if text := strings.Join(got, " "); text != "Identity(id) NotNull(n) NotNull(s.a) Length(v) Generated(g) Check(c)" {
			t.Error(text)
		}
	})
}

func TestReplace(t *testing.T) {
	in := instance(t)
	spark := options(expr.Spark)
	to := table(t, "id int; p string; v int", "p", nil)
	check(t, in, to, spark,
		"INSERT INTO t REPLACE WHERE p = 'a' SELECT 4, 'a', 40", "4 | a | 40",
		"INSERT INTO t REPLACE WHERE p = 'c' SELECT 6, 'd', 60", "'p = 'c'' of REPLACE WHERE. Row with values:\n - p : d…",
		"INSERT INTO t REPLACE WHERE v > 100 SELECT 7, 'c', NULL", "[DELTA_REPLACE_WHERE_MISMATCH]",
		"INSERT INTO t REPLACE WHERE nope > 100 SELECT 7, 'c', NULL", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"INSERT INTO t REPLACE WHERE rand() > 0 SELECT 7, 'c', NULL", "[INVALID_NON_DETERMINISTIC_EXPRESSIONS]",
		"INSERT INTO t REPLACE WHERE v = 35 SELECT 1, 'x', 2 WHERE FALSE", "",
		"INSERT INTO t REPLACE USING (id) SELECT 4 AS id, 'a', 40", "4 | a | 40",
		"INSERT INTO t REPLACE USING (v) SELECT 4 AS v, 'a', 40", "[INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS]",
		"INSERT INTO t REPLACE USING (nope) SELECT 4 AS id, 'a', 40", "[UNRESOLVED_INSERT_REPLACE_USING_COLUMN]",
		"INSERT INTO t REPLACE USING (v) SELECT 4 AS id, 'a', 40", "[UNRESOLVED_INSERT_REPLACE_USING_COLUMN]",
	)
	got, plan, err := outcome(t, in, "INSERT INTO t BY NAME REPLACE USING (v, p) SELECT 4 AS v, 'a' AS p", to, spark)
	if err != nil || plan.Replaced == nil || got != "NULL | a | 4" {
		t.Errorf("%s %+v %v", got, plan, err)
	}
}
