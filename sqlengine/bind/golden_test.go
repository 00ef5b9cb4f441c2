package bind_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
)

var rewriteGoldens = flag.Bool("rewrite", false, "write what the binder gives into testdata")

// source is a table of the fake catalog.
type source struct {
	name    string
	columns []expr.OutputColumn
}

func (s *source) Columns() []expr.OutputColumn { return s.columns }

// catalog is a fake catalog: tables by name, views by text.
type catalog struct {
	tables map[string]*source
	views  map[string]string
}

func (c *catalog) Table(_ context.Context, ref *parse.TableRef, asOf *bind.AsOf) (bind.Resolved, error) {
	name := ref.Name[len(ref.Name)-1].Name
	database := "main"
	if len(ref.Name) > 1 {
		database = ref.Name[0].Name
	}
	if text, ok := c.views[name]; ok {
		return bind.Resolved{View: &bind.View{Name: name, Query: mustParse(text, expr.Spark), Database: "main"}}, nil
	}
	if t, ok := c.tables[strings.ToLower(name)]; ok {
		s := &source{name: t.name, columns: t.columns}
		if asOf != nil {
			s.name += asOfText(asOf)
		}
		return bind.Resolved{Source: s, Name: []string{database, t.name}}, nil
	}
	return bind.Resolved{}, protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "the table or view `%s` cannot be found", name)
}

func asOfText(a *bind.AsOf) string {
	if a.Version != nil {
		return "@v" + protocol.Value{Kind: protocol.KindLong, Int: *a.Version}.Text()
	}
	return "@" + protocol.Value{Kind: protocol.KindTimestamp, Int: *a.Timestamp}.Text()
}

func (c *catalog) TableFunction(_ context.Context, fn *parse.TableFunction, args bind.Arguments) (bind.Resolved, bool, error) {
	if !strings.EqualFold(fn.Name[0].Name, "table_changes") {
		return bind.Resolved{}, false, nil
	}
	constants, err := args()
	if err != nil {
		return bind.Resolved{}, true, err
	}
	name := "changes("
	for _, a := range constants {
		name += a.Value.Text() + ";"
	}
	return bind.Resolved{Source: &source{name: name + ")", columns: table("id int, _change_type string")}}, true, nil
}

// table makes columns of "name type, ..." with the hidden ones every table has.
func table(columns string) []expr.OutputColumn {
	t, err := protocol.ParseDataType("struct<" + strings.NewReplacer(" not null", "", "  ", " ").Replace(colons(columns)) + ">")
	if err != nil {
		panic(err)
	}
	var out []expr.OutputColumn
	for _, f := range t.Fields {
		nullable := !strings.Contains(columns, string(f.Name)+" "+f.Type.String()+" not null")
		out = append(out, expr.OutputColumn{Name: string(f.Name), Out: string(f.Name), Type: f.Type, Nullable: nullable})
	}
	for name, kind := range map[string]protocol.Kind{"file_name": protocol.KindString} {
		out = append(out, expr.OutputColumn{Name: "_metadata." + name, Out: "_metadata." + name, Type: protocol.DataType{Kind: kind}, Hidden: true})
	}
	return out
}

// colons turns "id int, s string" into "id:int,s:string" outside of brackets, which are written in Spark's own form.
func colons(columns string) string {
	var out strings.Builder
	depth, named := 0, false
	for _, c := range columns {
		switch {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		case c == ',' && depth == 0:
			named = false
		case c == ' ' && depth == 0 && !named && !strings.HasSuffix(out.String(), ",") && out.Len() > 0:
			named = true
			c = ':'
		case c == ' ' && depth == 0 && strings.HasSuffix(out.String(), ","):
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

func testCatalog() *catalog {
	tables := map[string]string{
		"t": "id int not null, name string, price decimal(10,2), d date, ts timestamp, ok boolean, x double",
		"u": "id int, k bigint, note string",
		"n": "id int, s struct<a:int,b:struct<c:string>>, arr array<int>, m map<string,int>, items array<struct<q:int,w:string>>",
		"l": "k int, v string",
		"r": "k int, w string",
		"y": "y int, q string, amt int",
	}
	c := &catalog{tables: map[string]*source{}, views: map[string]string{
		"v":    "SELECT id, upper(name) AS big, price FROM t WHERE id > 1",
		"vv":   "SELECT big, count(*) AS n FROM v GROUP BY big",
		"loop": "SELECT * FROM loop",
		"bad":  "SELECT nope FROM t",
	}}
	for name, columns := range tables {
		c.tables[name] = &source{name: name, columns: table(columns)}
	}
	return c
}

func mustParse(sql string, dialect expr.Dialect) *parse.Query {
	s, err := parse.Parse(sql, parse.Options{Dialect: parse.Dialect(dialect)})
	if err != nil {
		panic(err)
	}
	return s.(*parse.QueryStatement).Query
}

func testOptions(dialect expr.Dialect) bind.Options {
	return bind.Options{
		Catalog: testCatalog(),
		Fold: func(_ context.Context, e expr.Expr) (protocol.Value, error) {
			return protocol.Value{Kind: e.Type().Kind, Null: true}, nil // nothing evaluates here: every fold is NULL
		},
		Context: &expr.Context{Dialect: dialect, TimeZone: "UTC", Database: "main", Now: time.Unix(1700000000, 0)},
	}
}

// scanText prints a scan as its name with what is pushed to it.
func scanText(r *expr.Relation, _ int) (string, []any, error) {
	s := r.Scan.Source.(*source)
	var used []string
	for i, u := range r.Scan.Used {
		if u {
			used = append(used, s.columns[i].Name)
		}
	}
	text := "[" + s.name + ": " + strings.Join(used, " ")
	if len(r.Scan.Filters) > 0 {
		text += " | " + bind.Predicate(context.Background(), r.Scan.Filters, bind.Skipping{Leaf: leafOf(s)}).String()
	}
	return text + "]", nil, nil
}

func leafOf(s *source) func(int, []protocol.LogicalName) (stats.Leaf, bool) {
	return func(column int, path []protocol.LogicalName) (stats.Leaf, bool) {
		leaf := stats.Leaf{Name: s.columns[column].Name, Type: s.columns[column].Type, Path: []protocol.PhysicalName{protocol.PhysicalName(s.columns[column].Name)}}
		for _, name := range path {
			i := leaf.Type.Lookup(string(name))
			if i < 0 {
				return leaf, false
			}
			leaf.Type, leaf.Name = leaf.Type.Fields[i].Type, leaf.Name+"."+string(name)
		}
		return leaf, true
	}
}

// outcome binds and prints one statement: the text, then its columns; or the error.
func outcome(sql string, dialect expr.Dialect, mode string) string {
	s, err := parse.Parse(sql, parse.Options{Dialect: parse.Dialect(dialect)})
	if err != nil {
		return "parse: " + err.Error()
	}
	opts := testOptions(dialect)
	opts.AnyValue = mode == "lenient"
	opts.Context.MySQLCompare = mode == "ci"
	q, err := bind.Query(context.Background(), s.(*parse.QueryStatement).Query, opts)
	if err != nil {
		var e *protocol.Error
		if !errors.As(err, &e) {
			return "plain error: " + err.Error()
		}
		text := e.Error()
		if e.Hint != "" {
			text += "\nhint: " + e.Hint
		}
		return text
	}
	text, _, err := duckgen.Print(q, duckgen.Options{Relation: scanText})
	if err != nil {
		return "print: " + err.Error()
	}
	columns := make([]string, len(q.Columns))
	for i, c := range q.Columns {
		columns[i] = c.Name + " " + c.Type.String()
		if !c.Nullable {
			columns[i] += " not null"
		}
	}
	return text + "\n=> " + strings.Join(columns, ", ")
}

// TestGoldens binds the statements of testdata/*.txt. A statement stands behind "-- spark", "-- mysql" "-- lenient" (MySQL
// without ONLY_FULL_GROUP_BY) or "-- ci" (MySQL, text compared without case); behind "----" is what is expected, up to an empty line.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runGolden(t, file) })
	}
}

func runGolden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, record := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		input, want, _ := strings.Cut(record, "\n----\n")
		header, sql, ok := strings.Cut(input, "\n")
		for ok && strings.HasPrefix(header, "# ") {
			out.WriteString(header + "\n")
			header, sql, ok = strings.Cut(sql, "\n")
		}
		dialect := expr.Spark
		if header != "-- spark" {
			dialect = expr.MySQL
		}
		got := outcome(sql, dialect, strings.TrimPrefix(header, "-- "))
		if got != want && !*rewriteGoldens {
			t.Errorf("%s\n got: %s\nwant: %s", sql, got, want)
		}
		out.WriteString(header + "\n" + sql + "\n----\n" + got + "\n\n")
	}
	if *rewriteGoldens {
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
