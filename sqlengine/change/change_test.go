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
	return out
}

func options(dialect expr.Dialect) change.Options {
	return change.Options{Options: bind.Options{Context: &expr.Context{Dialect: dialect, TimeZone: "UTC", Database: "db", User: "me",
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
	text, err := rows(t.Context(), in, plan.Query)
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
		if err != nil || len(plan.Partition) != 1 || plan.Partition[0].Column != 2 || plan.Explicit != true {
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
	_, plan, err := outcome(t, in, "INSERT INTO t BY NAME REPLACE USING (v, p) SELECT 4 AS v, 'a' AS p", to, spark)
	if err != nil || fmt.Sprint(plan.Using) != "[2 1]" {
		t.Errorf("%+v %v", plan, err)
	}
}

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
