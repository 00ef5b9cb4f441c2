package duckgen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
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

// The recorded answers of the reference, which lie beside the project; without them these tests are skipped.
const recorded = "../../../shared/oracle/query"

type script struct {
	Statements []struct {
		SQL     string
		Columns []struct{ Name, Type string }
		Rows    [][]any
		Error   *struct{ Class string }
	}
}

// fake is a catalog of plain DuckDB tables.
type fake struct {
	in     *duck.Instance
	tables map[string]*fakeTable
}

type fakeTable struct {
	name    string
	columns []expr.OutputColumn
}

func (t *fakeTable) Columns() []expr.OutputColumn { return t.columns }

func (f *fake) Table(_ context.Context, ref *parse.TableRef, _ *bind.AsOf) (bind.Resolved, error) {
	name := strings.ToLower(ref.Name[len(ref.Name)-1].Name)
	if t := f.tables[name]; t != nil {
		return bind.Resolved{Source: t}, nil
	}
	return bind.Resolved{}, protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "the table or view `%s` cannot be found", name)
}

func (f *fake) TableFunction(context.Context, *parse.TableFunction, bind.Arguments) (bind.Resolved, bool, error) {
	return bind.Resolved{}, false, nil
}

func (f *fake) options(dialect expr.Dialect) bind.Options {
	return bind.Options{
		Catalog: f,
		Context: &expr.Context{Dialect: dialect, TimeZone: "UTC", Database: "default", Now: time.Unix(1700000000, 0)},
		Fold: func(ctx context.Context, e expr.Expr) (protocol.Value, error) {
			return protocol.Value{}, errors.New("nothing is folded here")
		},
	}
}

var (
	bareNumber  = regexp.MustCompile(`([\[,])(NaN|-?Infinity)`)
	createTable = regexp.MustCompile(`(?is)^CREATE TABLE (\w+) \((.*?)\)(?: USING .*)?$`)
	insertInto  = regexp.MustCompile(`(?is)^INSERT INTO (\w+)\s+(.*)$`)
	columnDef   = regexp.MustCompile(`(?i)^\s*(\w+)\s+(.*?)(\s+NOT NULL)?\s*$`)
)

// mysqlTypes writes MySQL's column types as Delta's.
var mysqlTypes = strings.NewReplacer("varchar(5)", "string", "varchar(10)", "string", "varchar(20)", "string", "varchar(100)", "string", "text", "string",
	"datetime(6)", "timestamp_ntz", "tinyint(1)", "boolean")

func (f *fake) create(name, columns string) error {
	t := &fakeTable{name: strings.ToLower(name)}
	var defs []string
	depth, start := 0, 0
	for i, c := range columns + "," {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		case ',':
			if depth > 0 {
				continue
			}
			m := columnDef.FindStringSubmatch(columns[start:i])
			start = i + 1
			typ, err := protocol.ParseDataType(mysqlTypes.Replace(strings.ReplaceAll(strings.ToLower(m[2]), ": ", ":")))
			if err != nil {
				return err
			}
			if typ.Kind == protocol.KindByte && strings.EqualFold(m[2], "tinyint(1)") {
				typ.Kind = protocol.KindBoolean
			}
			t.columns = append(t.columns, expr.OutputColumn{Name: m[1], Out: m[1], Type: typ, Nullable: m[3] == ""})
			defs = append(defs, `"`+m[1]+`" `+expr.DuckType(typ))
		}
	}
	f.tables[t.name] = t
	return f.in.Exec(context.Background(), `CREATE OR REPLACE TABLE "`+t.name+`" (`+strings.Join(defs, ", ")+")")
}

// sql binds and prints a query.
func (f *fake) sql(text string, dialect expr.Dialect) (*expr.Query, string, error) {
	s, err := parse.Parse(text, parse.Options{Dialect: parse.Dialect(dialect)})
	if err != nil {
		return nil, "", err
	}
	q, err := bind.Query(context.Background(), s.(*parse.QueryStatement).Query, f.options(dialect))
	if err != nil {
		return nil, "", err
	}
	sql, _, err := duckgen.Print(q, duckgen.Options{Relation: func(r *expr.Relation, _ int) (string, []any, error) {
		return `"` + r.Scan.Source.(*fakeTable).name + `"`, nil, nil
	}})
	return q, sql, err
}

func (f *fake) insert(name, query string, dialect expr.Dialect) error {
	_, sql, err := f.sql(query, dialect)
	if err != nil {
		return err
	}
	return f.in.Exec(context.Background(), `INSERT INTO "`+strings.ToLower(name)+`" `+sql)
}

// rows runs a query and gives each row as JSON text.
func (f *fake) rows(q *expr.Query, sql string) ([]string, error) {
	cells := make([]string, len(q.Columns))
	for i := range cells {
		cells[i] = "c" + strconv.Itoa(i)
	}
	ctx := context.Background()
	stream, err := f.in.Query(ctx, "SELECT CAST(to_json(["+jsonCells(cells)+"]) AS VARCHAR) FROM ("+sql+")")
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var out []string
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i := 0; i < batch.Len(); i++ {
			out = append(out, batch.Vector(0).Text(i))
		}
	}
}

func jsonCells(cells []string) string {
	for i, c := range cells {
		cells[i] = "to_json(" + c + ")"
	}
	return strings.Join(cells, ", ")
}

// plain brings a cell of either side to one form.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil && !strings.ContainsAny(v, "xX") {
			return strconv.FormatFloat(f, 'g', 12, 64)
		}
		v = strings.NewReplacer("T", " ", "+00", "", "Z", "").Replace(v)
		if strings.Contains(v, ":") && strings.Contains(v, ".") {
			v = strings.TrimRight(strings.TrimRight(v, "0"), ".")
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', 12, 64)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = plain(x)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any: // a map, which the record has as a list of pairs
		var parts []string
		for k, x := range v {
			parts = append(parts, "["+plain(k)+" "+plain(x)+"]")
		}
		sort.Strings(parts)
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v)
}

// openWithMacros is a DuckDB in which every macro is defined.
func openWithMacros(t *testing.T) *duck.Instance {
	t.Helper()
	in, err := duck.Open(duck.Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	for _, macro := range expr.Macros() {
		if err := in.Exec(context.Background(), macro); err != nil {
			t.Errorf("%s: %v", macro, err)
		}
	}
	return in
}

// TestRecordedQueries runs the reference's query scripts over DuckDB tables and compares names, types, rows and error classes.
func TestRecordedQueries(t *testing.T) {
	files, _ := filepath.Glob(recorded + "/*.json")
	if len(files) == 0 {
		t.Skipf("no recorded queries at %s", recorded)
	}
	in := openWithMacros(t)
	for _, file := range files {
		if strings.Contains(file, "partition_pruning") {
			continue // it is about stored partition values: empty ones are NULL
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { runScript(t, in, file) })
	}
}

func runScript(t *testing.T, in *duck.Instance, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	f := &fake{in: in, tables: map[string]*fakeTable{}}
	for _, st := range s.Statements {
		if strings.Contains(st.SQL, "_metadata") || strings.Contains(st.SQL, "input_file_name") {
			continue // hidden columns are the engine's
		}
		if m := createTable.FindStringSubmatch(st.SQL); m != nil {
			if err := f.create(m[1], m[2]); err != nil {
				t.Skip(err)
			}
			continue
		}
		if m := insertInto.FindStringSubmatch(st.SQL); m != nil {
			if err := f.insert(m[1], m[2], expr.Spark); err != nil {
				t.Fatalf("%s: %v", st.SQL, err)
			}
			continue
		}
		if !strings.HasPrefix(st.SQL, "SELECT") && !strings.HasPrefix(st.SQL, "WITH") {
			t.Skipf("the script changes the table: %s", st.SQL)
		}
		q, sql, err := f.sql(st.SQL, expr.Spark)
		if st.Error != nil {
			if err == nil {
				if _, err = f.rows(q, sql); err == nil {
					t.Errorf("%s\nno error, want %s\n%s", st.SQL, st.Error.Class, sql)
				}
				continue
			}
			want, _, _ := strings.Cut(st.Error.Class, ".")
			got, _, _ := strings.Cut(string(protocol.ClassOf(err)), ".")
			if want != got {
				t.Errorf("%s\ngot  %v\nwant %s", st.SQL, err, st.Error.Class)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s\n%v", st.SQL, err)
			continue
		}
		for i, c := range st.Columns {
			if got := q.Columns[i].Type.String(); i < len(q.Columns) && (q.Columns[i].Name != c.Name || got != c.Type) {
				t.Errorf("%s\ncolumn %d is %s %s, want %s %s", st.SQL, i, q.Columns[i].Name, got, c.Name, c.Type)
			}
		}
		got, err := f.rows(q, sql)
		if err != nil {
			t.Errorf("%s\n%v\n%s", st.SQL, err, sql)
			continue
		}
		compareRows(t, st.SQL, sql, len(q.OrderBy) > 0, got, st.Rows)
	}
}

// compareRows compares rows in their order where the statement sorts them, else as a multiset.
func compareRows(t *testing.T, text, sql string, sorted bool, got []string, want [][]any) {
	t.Helper()
	var g, w []string
	for _, row := range got {
		var cells []any
		row = bareNumber.ReplaceAllString(row, `$1"$2"`)
		if err := json.Unmarshal([]byte(row), &cells); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		g = append(g, plain(cells))
	}
	for _, row := range want {
		w = append(w, plain(row))
	}
	if !sorted {
		sort.Strings(g)
		sort.Strings(w)
	}
	if strings.Join(g, "\n") != strings.Join(w, "\n") {
		t.Errorf("%s\ngot  %v\nwant %v\n%s", text, g, w, sql)
	}
}

const recordedMySQL = "../../../shared/oracle-mysql/select"

// ours reads the directives of a script: what is right for a statement where it is not what was recorded.
func ours(t *testing.T, file string) map[string]string {
	text, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	directive := ""
	for _, line := range strings.Split(string(text), "\n") {
		if d, ok := strings.CutPrefix(line, "-- @ours "); ok {
			directive = d
		} else if line != "" && !strings.HasPrefix(line, "--") {
			if directive != "" {
				out[strings.TrimSuffix(line, ";")] = directive
			}
			directive = ""
		}
	}
	return out
}

type mysqlScript struct {
	Statements []struct {
		SQL     string
		Columns []struct{ Name, Type string }
		Rows    [][]any
		Error   *struct{ Errno int }
	}
}

// TestRecordedMySQLQueries does the same for MySQL's clauses; rows are compared as text and faults by number.
func TestRecordedMySQLQueries(t *testing.T) {
	files, _ := filepath.Glob(recordedMySQL + "/*.json")
	if len(files) == 0 {
		t.Skipf("no recorded queries at %s", recordedMySQL)
	}
	in := openWithMacros(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { runMySQLScript(t, in, file) })
	}
}

func runMySQLScript(t *testing.T, in *duck.Instance, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s mysqlScript
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	right := ours(t, file)
	f := &fake{in: in, tables: map[string]*fakeTable{}}
	for _, st := range s.Statements {
		if m := createTable.FindStringSubmatch(strings.ReplaceAll(st.SQL, "`", "")); m != nil {
			if err := f.create(m[1], m[2]); err != nil {
				t.Skip(err)
			}
			continue
		}
		if m := insertInto.FindStringSubmatch(st.SQL); m != nil {
			if err := f.insert(m[1], m[2], expr.MySQL); err != nil {
				t.Fatalf("%s: %v", st.SQL, err)
			}
			continue
		}
		if strings.HasPrefix(st.SQL, "SET ") {
			return // what follows runs under another sql_mode
		}
		if !strings.HasPrefix(st.SQL, "SELECT") && !strings.HasPrefix(st.SQL, "WITH") && !strings.HasPrefix(st.SQL, "(") &&
			!strings.HasPrefix(st.SQL, "VALUES") && !strings.HasPrefix(st.SQL, "TABLE") {
			t.Skipf("the script goes beyond queries: %s", st.SQL)
		}
		errno := 0
		if st.Error != nil {
			errno = st.Error.Errno
		}
		kind, rest, _ := strings.Cut(right[st.SQL], " ")
		switch kind {
		case "skip":
			continue
		case "ok":
			errno = 0
		case "error":
			number, _, _ := strings.Cut(rest, " ")
			errno, _ = strconv.Atoi(number)
		case "rows":
			errno = 0
			if err := json.NewDecoder(strings.NewReader(rest)).Decode(&st.Rows); err != nil {
				t.Fatal(err)
			}
		}
		q, sql, err := f.sql(st.SQL, expr.MySQL)
		var rows []string
		if err == nil {
			rows, err = f.rows(q, sql)
		}
		if errno != 0 {
			info, _ := protocol.InfoOf(protocol.ClassOf(err))
			var duckError *duck.Error
			if err == nil || info.Errno != errno && !errors.As(err, &duckError) {
				t.Errorf("%s\ngot %v (%d), want error %d", st.SQL, err, info.Errno, errno)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s\n%v\n%s", st.SQL, err, sql)
			continue
		}
		for i, c := range st.Columns {
			if i >= len(q.Columns) || q.Columns[i].Name != c.Name {
				t.Errorf("%s\ncolumns %v, want %v", st.SQL, q.Columns, st.Columns)
				break
			}
		}
		for i := range rows {
			rows[i] = strings.NewReplacer("true", "1", "false", "0").Replace(rows[i]) // MySQL's booleans are integers
		}
		compareRows(t, st.SQL, sql, len(q.OrderBy) > 0, rows, st.Rows)
	}
}
