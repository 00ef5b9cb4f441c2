package expr_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// TestOverColumns runs the rows of the other tests once more with every number and text among a call's or an operator's operands
// taken from a column. DuckDB treats constants more kindly than columns (a literal 5 fits any integer parameter), and they fold.
// Functions that insist on a constant say so and are passed over.
func TestOverColumns(t *testing.T) {
	in := instance(t)
	for _, row := range strings.Split(sparkRows, "\n") {
		parts := strings.Split(row, " ¦ ")
		if len(parts) == 3 && !strings.HasPrefix(parts[0], "SELECT ") {
			overColumns(t, in, session(expr.Spark), parts[0], parts[2])
		}
	}
	for _, row := range strings.Split(mysqlRows, "\n") {
		sql, want, ok := strings.Cut(row, " ¦ ")
		if ok && !strings.HasPrefix(sql, "SELECT ") && !strings.HasPrefix(sql, "ci: ") {
			overColumns(t, in, session(expr.MySQL), sql, want)
		}
	}
}

func overColumns(t *testing.T, in *duck.Instance, ctx *expr.Context, text, want string) {
	t.Helper()
	opts := parse.Options{Dialect: parse.Dialect(ctx.Dialect)}
	s, err := parse.Parse("SELECT "+text, opts)
	if err != nil {
		return
	}
	q := s.(*parse.QueryStatement).Query
	item := &q.Body.(*parse.Select).Items[0]
	var found []parse.SelectItem
	item.Expr = literalsOut(item.Expr, &found, false)
	if len(found) == 0 {
		return
	}
	inner, err := parse.Parse("SELECT 1 FROM (SELECT 1) AS q", opts)
	if err != nil {
		t.Fatal(err)
	}
	outer := inner.(*parse.QueryStatement).Query
	outer.Body.(*parse.Select).Items = []parse.SelectItem{*item}
	outer.Body.(*parse.Select).From.(*parse.DerivedTable).Query.Body.(*parse.Select).Items = found
	bound, err := bind.Query(t.Context(), outer, bind.Options{Context: ctx})
	if err != nil {
		switch class := string(protocol.ClassOf(err)); {
		case class == "UNSUPPORTED_FEATURE", "["+class+"]" == want, strings.HasPrefix(class, "DATATYPE_MISMATCH"), strings.HasPrefix(class, "INVALID_"):
			return
		}
		t.Errorf("%s over columns: %v", text, err)
		return
	}
	printed, args, err := duckgen.Print(bound, duckgen.Options{})
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if want == "(empty)" {
		want = ""
	}
	got, err := cell(t.Context(), in, "SELECT CAST(c0 AS VARCHAR), typeof(c0) FROM ("+printed+") AS t(c0)", args, bound.Columns[0].Type)
	if err != nil {
		if class := string(classOf(err)); "["+class+"]" != want {
			t.Errorf("%s over columns\n  want %s\n  got  [%s] %v\n%s", text, want, class, err, printed)
		}
		return
	}
	// Literals have types of their own digits, so decimals differ in scale; booleans are not 0 and 1 here.
	if got != want && strings.Contains(got, "(DuckDB has") || got != want && !alike(got, want) {
		t.Errorf("%s over columns\n  want %q\n  got  %q\n%s", text, want, got, printed)
	}
}

func alike(got, want string) bool {
	trim := func(s string) string {
		s = strings.TrimPrefix(s, "0")
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	switch {
	case got == "true" && want == "1", got == "false" && want == "0", trim(got) == trim(want), strings.HasPrefix(want, "0x"):
		return true
	}
	return len(got) > 5 && len(want) > 5 && (strings.HasPrefix(got, want[:5]) && strings.Contains(want, ".")) // more or fewer digits
}

// literalsOut replaces the numbers and texts inside calls and operators by columns v0, v1, ...
func literalsOut(e parse.Expr, found *[]parse.SelectItem, inside bool) parse.Expr {
	if l, ok := e.(*parse.Literal); ok {
		if !inside || l.Kind != parse.IntegerLiteral && l.Kind != parse.StringLiteral && l.Kind != parse.DecimalLiteral && l.Kind != parse.DoubleLiteral {
			return e
		}
		name := parse.Ident{Name: fmt.Sprintf("v%d", len(*found))}
		*found = append(*found, parse.SelectItem{Expr: l, Alias: &name})
		return &parse.Column{Name: parse.Name{name}}
	}
	if u, ok := e.(*parse.Unary); ok && u.Op == "-" {
		if _, literal := u.Operand.(*parse.Literal); literal && inside {
			name := parse.Ident{Name: fmt.Sprintf("v%d", len(*found))}
			*found = append(*found, parse.SelectItem{Expr: u, Alias: &name})
			return &parse.Column{Name: parse.Name{name}}
		}
	}
	if _, ok := e.(*parse.Interval); ok {
		return e
	}
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanSet() {
			rewriteField(f, found)
		}
	}
	return e
}

var exprType = reflect.TypeOf((*parse.Expr)(nil)).Elem()

func rewriteField(f reflect.Value, found *[]parse.SelectItem) {
	switch {
	case f.Type() == exprType && !f.IsNil():
		f.Set(reflect.ValueOf(literalsOut(f.Interface().(parse.Expr), found, true)))
	case f.Kind() == reflect.Slice:
		for i := range f.Len() {
			rewriteField(f.Index(i), found)
		}
	case f.Kind() == reflect.Struct:
		for i := range f.NumField() {
			if f.Field(i).CanSet() {
				rewriteField(f.Field(i), found)
			}
		}
	}
}
