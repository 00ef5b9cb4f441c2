package change_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// stored is a table's snapshot whose rows are constants: two rows a file.
type stored struct {
	source
	name, values string
}

// text is the scan as a DuckDB table expression.
func (s stored) text() string {
	var items, columns []string
	for i, f := range s.config.Schema.Fields {
		items = append(items, fmt.Sprintf(`CAST(x%d AS %s) AS "%s"`, i, expr.DuckType(f.Type), f.Name))
		columns = append(columns, fmt.Sprintf("x%d", i))
	}
	return "(SELECT " + strings.Join(items, ", ") + `, n // 2 AS "__file_number", n % 2 AS "_metadata.row_index", 100 + n AS "_metadata.row_id" FROM (SELECT *, row_number() OVER () - 1 AS n FROM (VALUES ` +
		s.values + ") v(" + strings.Join(columns, ", ") + ")))"
}

// world is a catalog of stored tables.
type world map[string]stored

func (w world) Table(_ context.Context, ref *parse.TableRef, _ *bind.AsOf) (bind.Resolved, error) {
	name := ref.Name[len(ref.Name)-1].Name
	s, ok := w[name]
	if !ok {
		return bind.Resolved{}, protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "no table %s", name)
	}
	return bind.Resolved{Source: s, Name: []string{"db", name}}, nil
}

func (w world) TableFunction(context.Context, *parse.TableFunction, bind.Arguments) (bind.Resolved, bool, error) {
	return bind.Resolved{}, false, nil
}

// made makes a world of "name(columns) values".
func made(t *testing.T, tables ...[3]string) world {
	w := world{}
	for _, x := range tables {
		w[x[0]] = stored{source{table(t, x[1], "", nil).Config}, x[0], x[2]}
	}
	return w
}

// changes is what a statement changes in the world's table t: "action file:row new values", sorted; or the class of its error.
func changes(t *testing.T, in *duck.Instance, sql string, w world, dialect expr.Dialect, config *protocol.TableConfig) (string, *change.Changes, error) {
	t.Helper()
	opts := options(dialect)
	opts.Catalog = w
	if config == nil {
		config = w["t"].config
	}
	to := change.Table{Name: []string{"db", "t"}, Config: config, Source: w["t"]}
	var c *change.Changes
	var err error
	switch s := parsed(t, sql, dialect).(type) {
	case *parse.Update:
		c, err = change.Update(t.Context(), s, to, opts)
	case *parse.Delete:
		c, err = change.Delete(t.Context(), s, to, opts)
	case *parse.Merge:
		c, err = change.Merge(t.Context(), s, to, opts)
	case *parse.Insert:
		if s.OnDuplicate != nil || s.Mode == parse.InsertIgnore || s.Mode == parse.InsertReplaceInto {
			c, err = change.Upsert(t.Context(), s, to, []int{0}, opts)
			break
		}
		var plan *change.Plan
		if plan, err = change.Insert(t.Context(), s, to, opts); err == nil {
			c = plan.Replaced
		}
	default:
		t.Fatalf("%s is %T", sql, s)
	}
	if err != nil {
		return "[" + string(protocol.ClassOf(err)) + "]", nil, err
	}
	printed, args, err := duckgen.Print(c.Query, duckgen.Options{Relation: func(r *expr.Relation, _ int) (string, []any, error) {
		return r.Scan.Source.(stored).text(), nil, nil
	}})
	if err != nil {
		return "", nil, err
	}
	items := []string{fmt.Sprintf("['K', 'D', 'U', 'I', 'D', 'U'][c%d + 1] || coalesce(' f' || c%d || ':' || c%d, '')", c.Action, c.File, c.Row)}
	for i := range c.Values {
		items = append(items, fmt.Sprintf("coalesce(CAST(c%d AS VARCHAR), 'NULL')", i))
	}
	if c.Differs {
		items = append(items, fmt.Sprintf("CASE WHEN c%d THEN '*' ELSE '=' END", c.Values+4))
	}
	for i := range min(c.Counts, 3) {
		items = append(items, fmt.Sprintf("'+' || c%d", c.Values+4+i))
	}
	lines, err := texts(t.Context(), in, "SELECT "+strings.Join(items, " || ' ' || ")+" FROM ("+printed+")", args)
	if err != nil {
		err = fault(err, printed)
		return "[" + string(protocol.ClassOf(err)) + "]", c, err
	}
	if s, ok := parsed(t, sql, dialect).(*parse.Insert); ok && s.Mode == parse.InsertReplace {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "I") }) // TestReplace has the rows that come
	}
	slices.Sort(lines)
	return strings.Join(lines, " / "), c, nil
}

func checkChanges(t *testing.T, in *duck.Instance, w world, dialect expr.Dialect, cases ...string) {
	t.Helper()
	for i := 0; i < len(cases); i += 2 {
		got, _, err := changes(t, in, cases[i], w, dialect, nil)
		if got != cases[i+1] {
			t.Errorf("%s\n  want %s\n  got  %s\n  %v", cases[i], cases[i+1], got, err)
		}
	}
}

func TestDelete(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "id int; k int", "(1, 10), (2, 20), (3, 20), (4, 30), (5, NULL)"}, [3]string{"u", "k int", "(20), (30), (30)"})
	checkChanges(t, in, w, expr.Spark,
		"DELETE FROM t WHERE id = 2", "D f0:1",
		"DELETE FROM t", "D f0:0 / D f0:1 / D f1:0 / D f1:1 / D f2:0",
		"DELETE FROM t AS x WHERE x.k IN (SELECT k FROM u) AND x.id > 2", "D f1:0 / D f1:1",
		"DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", "D f0:1 / D f1:0 / D f1:1",
		"DELETE FROM t WHERE NULL", "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN]",
		"DELETE FROM t WHERE CAST(NULL AS BOOLEAN)", "",
		"DELETE FROM t WHERE nope = 1", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"WITH c AS (SELECT 1 AS n) DELETE FROM t WHERE id IN (SELECT n FROM c)", "D f0:0",
	)
	checkChanges(t, in, w, expr.MySQL,
		"DELETE FROM t ORDER BY id DESC LIMIT 1", "D f2:0",
		"DELETE FROM t WHERE id > 1 ORDER BY k, id LIMIT 2", "D f0:1 / D f2:0",
		"DELETE t FROM t JOIN u ON t.k = u.k WHERE t.id <> 3", "D f0:1 / D f1:1 / D f1:1",
		"DELETE x FROM t AS x LEFT JOIN u ON x.k = u.k WHERE u.k IS NULL AND x.k IS NOT NULL", "D f0:0",
		"DELETE y FROM t AS x JOIN u ON x.k = u.k", "[DELTASQL_UNKNOWN_TABLE]",
		"DELETE FROM t ORDER BY nope LIMIT 1", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
	)
	_, c, err := changes(t, in, "DELETE FROM t WHERE id = 2", w, expr.Spark, nil)
	if err != nil || !c.Simple || c.Where == nil || c.Target == nil || len(c.Target.Scan.Filters) != 1 || c.RowID != 3 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestReplaceOn(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "id int; k int", "(1, 10), (2, 20), (3, 20), (4, NULL)"}, [3]string{"u", "id int; k int", "(7, 20), (8, 20), (9, NULL)"})
	checkChanges(t, in, w, expr.Spark,
		"INSERT INTO t AS a REPLACE ON a.k = b.k (SELECT * FROM u) AS b", "D f0:1 NULL NULL / D f1:0 NULL NULL",
		"INSERT INTO t AS a REPLACE ON a.k <=> b.k (SELECT * FROM u) AS b", "D f0:1 NULL NULL / D f1:0 NULL NULL / D f1:1 NULL NULL",
		"WITH c AS (SELECT 1 AS id, 2 AS k) INSERT INTO t AS a REPLACE ON a.id = b.id (SELECT * FROM c) AS b", "D f0:0 NULL NULL",
		"INSERT INTO t AS a REPLACE ON a.k = nope (SELECT * FROM u) AS b", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"INSERT INTO t AS a REPLACE ON k = 1 (SELECT * FROM u) AS b", "[AMBIGUOUS_REFERENCE]",
		"INSERT INTO t AS a REPLACE ON a.k = b.k (SELECT id, CAST(rand() AS INT) + 100 AS k FROM u) AS b", "",
	)
}

func TestUpdate(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "id int not null; a int default 42; b int; s varchar(4)", "(1, 10, 1, 'x'), (2, 20, 2, 'y'), (3, 30, 3, 'x'), (4, NULL, 4, NULL)"},
		[3]string{"u", "k int; w int", "(10, 100), (20, 200), (20, 200)"})
	checkChanges(t, in, w, expr.Spark,
		"UPDATE t SET a = id, id = a WHERE id = 3", "U f1:0 30 3 3 x",
		"UPDATE t SET a = DEFAULT, s = upper(s) WHERE b > 2", "U f1:0 3 42 3 X / U f1:1 4 42 4 NULL",
		"UPDATE t AS x SET x.b = (SELECT max(w) FROM u WHERE u.k = x.a) WHERE id <= 2", "U f0:0 1 10 100 x / U f0:1 2 20 200 y",
		"UPDATE t SET a = 1, A = 2", "[DELTA_CONFLICT_SET_COLUMN]",
		"UPDATE t SET nope = 1", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"UPDATE t SET a = 'text' WHERE id = 1", "[CAST_INVALID_INPUT]",
		"UPDATE t SET a = 'text' WHERE id = 9", "",
		"UPDATE t SET a = 99999999999 WHERE id = 1", "[DELTA_CAST_OVERFLOW_IN_TABLE_WRITE]",
		"UPDATE t SET s = 'toolong' WHERE id = 1", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
		"UPDATE t SET id = NULL", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
	)
	checkChanges(t, in, w, expr.MySQL,
		"UPDATE t SET a = a * 2, b = a WHERE id = 2", "U f0:1 2 40 40 y *",
		"UPDATE t SET s = 'x'", "U f0:0 1 10 1 x = / U f0:1 2 20 2 x * / U f1:0 3 30 3 x = / U f1:1 4 NULL 4 x *",
		"UPDATE t SET a = a + 1, a = a - 1 WHERE id < 3", "U f0:0 1 10 1 x = / U f0:1 2 20 2 y =",
		"UPDATE t SET a = 1, b = b + 1, a = a + b WHERE id = 2", "U f0:1 2 4 3 y *",
		"UPDATE t SET b = 0 ORDER BY a LIMIT 2", "U f0:0 1 10 0 x * / U f1:1 4 NULL 0 NULL *",
		"UPDATE t JOIN u ON t.a = u.k SET t.b = u.w", "U f0:0 1 10 100 x * / U f0:1 2 20 200 y * / U f0:1 2 20 200 y *",
		"UPDATE t LEFT JOIN u ON t.a = u.k SET t.b = -1 WHERE u.k IS NULL", "U f1:0 3 30 -1 x * / U f1:1 4 NULL -1 NULL *",
		"UPDATE t JOIN u ON t.a = u.k SET t.b = 1, u.w = 2", "[DELTASQL_MULTI_TABLE_CHANGE]",
		"UPDATE t SET a = 'word' WHERE id = 1", "[DELTASQL_INCORRECT_VALUE]",
	)
	nested := made(t, [3]string{"t", "id int; s struct<a:int,n:struct<x:string,y:int>>", "(1, {'a': 1, 'n': {'x': 'p', 'y': 2}}), (2, NULL)"})
	checkChanges(t, in, nested, expr.Spark,
		"UPDATE t SET s.n.y = s.n.y + 40, s.a = 7 WHERE id = 1", "U f0:0 1 {'a': 7, 'n': {'x': p, 'y': 42}}",
		"UPDATE t SET s.a = 5 WHERE id = 2", "U f0:1 2 {'a': 5, 'n': NULL}",
		"UPDATE t SET s = NAMED_STRUCT('a', 0, 'n', NULL), s.a = 1", "[DELTA_CONFLICT_SET_COLUMN]",
		"UPDATE t SET s = NAMED_STRUCT('a', 0)", "[DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION]",
		"UPDATE t SET s.nope = 1", "[FIELD_NOT_FOUND]",
	)
	computed := made(t, [3]string{"t", "id int; twice int generated id * 2; k bigint always 1 1", "(1, 2, 1)"})
	checkChanges(t, in, computed, expr.Spark,
		"UPDATE t SET id = 50", "U f0:0 50 100 1",
		"UPDATE t SET twice = 1", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]",
		"UPDATE t SET id = 3, twice = 6", "U f0:0 3 6 1",
		"UPDATE t SET k = 3", "[DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED]",
	)
	_, c, err := changes(t, in, "UPDATE t SET id = 50", computed, expr.Spark, nil)
	if err != nil || fmt.Sprint(c.Done) != "[Identity(k) Generated(twice)]" || len(c.Identity) != 0 || !c.Updates || c.Deletes || c.Inserts {
		t.Errorf("%+v %v", c, err)
	}
}

func TestMerge(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "k int; v int; note string", "(1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd')"},
		[3]string{"s", "k int; v int", "(1, NULL), (2, 9), (3, 1), (7, 5), (8, -5), (9, 0)"}, [3]string{"d", "k int; v int; note string", "(1, 1, 'x'), (1, 2, 'y'), (5, 5, 'z'), (5, 5, 'z')"})
	checkChanges(t, in, w, expr.Spark,
		`MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED AND s.v > 5 THEN UPDATE SET v = t.v + s.v, note = 'big'
		 WHEN MATCHED THEN UPDATE SET note = 'rest' WHEN NOT MATCHED AND s.v > 0 THEN INSERT (k, v, note) VALUES (s.k, s.v, 'new') WHEN NOT MATCHED AND s.v < 0 THEN INSERT (k) VALUES (s.k)
		 WHEN NOT MATCHED BY SOURCE AND t.k = 4 THEN UPDATE SET note = 'gone'`,
		"D f0:0 NULL NULL NULL / I 7 5 new / I 8 NULL NULL / U f0:1 2 29 big / U f1:0 3 30 rest / U f1:1 4 40 gone",
		"MERGE INTO t USING d ON t.k = d.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "I 5 5 z / I 5 5 z / U f0:0 1 1 x / U f0:0 1 2 y",
		"MERGE INTO t AS a USING d AS b ON a.k = b.k WHEN MATCHED AND b.v = 2 THEN UPDATE SET a.v = b.v", "K f0:0 NULL NULL NULL / U f0:0 1 2 a",
		"MERGE INTO t USING d ON t.k = d.k WHEN MATCHED THEN DELETE", "D f0:0 NULL NULL NULL / D f0:0 NULL NULL NULL",
		"MERGE INTO t USING d ON FALSE WHEN NOT MATCHED THEN INSERT * EXCEPT (note)", "I 1 1 NULL / I 1 2 NULL / I 5 5 NULL / I 5 5 NULL",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *", "[DELTA_MERGE_UNRESOLVED_EXPRESSION]",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.v", "[DELTA_MERGE_UNRESOLVED_EXPRESSION]",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (t.k)", "[DELTA_MERGE_UNRESOLVED_EXPRESSION]",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET extra = s.v", "[DELTA_MERGE_UNRESOLVED_EXPRESSION]",
		"MERGE INTO t USING (SELECT 1 AS k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 1, v = 2", "[DELTA_CONFLICT_SET_COLUMN]",
		"MERGE INTO t USING (SELECT 1 AS k, 'q' AS v) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v", "[CAST_INVALID_INPUT]",
		"MERGE INTO t USING (SELECT 1 AS k, 'q' AS v) s ON t.k = s.k WHEN MATCHED AND t.v > 10 THEN UPDATE SET v = s.v", "K f0:0 NULL NULL NULL",
	)
	for sql, want := range map[string]protocol.Class{
		"MERGE INTO t USING d ON t.k = d.k WHEN MATCHED THEN DELETE":             "",
		"MERGE INTO t USING d ON t.k = d.k WHEN MATCHED AND d.v > 0 THEN DELETE": "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
		"MERGE INTO t USING d ON t.k = d.k WHEN NOT MATCHED THEN INSERT *":       "",
	} {
		_, c, err := changes(t, in, sql, w, expr.Spark, nil)
		if err != nil || c.Repeated != want {
			t.Errorf("%s: %+v %v", sql, c, err)
		}
	}
	computed := made(t, [3]string{"t", "id bigint by default 1 5 mark 6; k int not null; twice int generated k * 2; v varchar(3) default 'def'", "(6, 1, 2, 'a')"},
		[3]string{"s", "k int; v string", "(1, 'A'), (2, 'B')"})
	checkChanges(t, in, computed, expr.Spark,
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)", "I 11 2 4 B / U f0:0 6 1 2 A",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = DEFAULT WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, DEFAULT)", "I 11 2 4 def / U f0:0 6 1 2 def",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "I 11 2 4 B / U f0:0 6 1 2 A",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, twice) VALUES (s.k, 5)", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (id, k) VALUES (77, s.k)", "I 77 2 4 def",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (id) VALUES (77)", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
		"MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 'long')", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET id = 3", "[DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED]",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE", "D f0:0 NULL NULL NULL NULL",
	)
	t.Run("evolution", func(t *testing.T) {
		w := made(t, [3]string{"t", "k int; n struct<a:int>", "(1, {'a': 1})"}, [3]string{"s", "k int; n struct<a:int,b:string>; extra double", "(1, {'a': 2, 'b': 'q'}, 1.5), (2, NULL, 2.5)"})
		const sql = "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
		opts := options(expr.Spark)
		opts.Catalog = w
		incoming, err := change.IncomingMerge(t.Context(), parsed(t, sql, expr.Spark).(*parse.Merge), change.Table{Name: []string{"db", "t"}, Config: w["t"].config}, opts)
		if err != nil || incoming.String() != "struct<k:int,n:struct<a:int,b:string>,extra:double>" {
			t.Fatal(incoming, err)
		}
		evolved := table(t, "k int; n struct<a:int,b:string>; extra double", "", nil).Config
		got, _, err := changes(t, in, sql, w, expr.Spark, evolved)
		if want := "I 2 NULL 2.5 / U f0:0 1 {'a': 2, 'b': q} 1.5"; got != want {
			t.Error(got, err)
		}
		got, _, err = changes(t, in, "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET extra = s.extra", w, expr.Spark, evolved)
		if want := "U f0:0 1 {'a': 1, 'b': NULL} 1.5"; got != want {
			t.Error(got, err)
		}
	})
}
