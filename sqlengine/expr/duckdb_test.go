package expr_test

import (
	"context"
	"errors"
	"io"
	"regexp"
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
			t.Errorf("%s\n%v", m, err)
		}
	}
	return in
}

func session(d expr.Dialect) *expr.Context {
	return &expr.Context{Dialect: d, TimeZone: "UTC", Now: time.Date(2024, 3, 5, 14, 7, 9, 0, time.UTC), Database: "db", User: "me", Version: "8.0.99"}
}

// run parses, binds, prints and runs one SELECT, and gives its only cell as text with its type. Every printed column is
// checked to have in DuckDB the type that the binder says (invariant E1).
func run(t *testing.T, in *duck.Instance, ctx *expr.Context, sql string) (text, typeName string, err error) {
	t.Helper()
	opts := parse.Options{Dialect: parse.Spark}
	if ctx.Dialect == expr.MySQL {
		opts.Dialect = parse.MySQL
	}
	statement, err := parse.Parse(sql, opts)
	if err != nil {
		return "", "", err
	}
	q, err := bind.Query(t.Context(), statement.(*parse.QueryStatement).Query, bind.Options{Context: ctx})
	if err != nil {
		return "", "", err
	}
	printed, args, err := duckgen.Print(q, duckgen.Options{})
	if err != nil {
		return "", "", err
	}
	of := q.Columns[0].Type
	start := time.Now()
	defer func() {
		if d := time.Since(start); d > 300*time.Millisecond {
			t.Logf("slow: %v %s", d, sql)
		}
	}()
	text, err = cell(t.Context(), in, "SELECT CAST(c0 AS VARCHAR), typeof(c0) FROM ("+printed+") AS t(c0)", args, of)
	if err != nil {
		if known := duckFault(err); known != nil {
			return "", of.String(), known
		}
		return "", of.String(), errors.Join(err, errors.New(printed))
	}
	return text, of.String(), nil
}

// duckFault is a DuckDB error as the engine reports it.
func duckFault(err error) *protocol.Error {
	var fault *duck.Error
	if !errors.As(err, &fault) {
		return nil
	}
	return expr.DuckError(string(fault.Kind) + " Error: " + fault.Message)
}

func classOf(err error) protocol.Class {
	if known := duckFault(err); known != nil {
		return known.Class
	}
	return protocol.ClassOf(err)
}

func cell(ctx context.Context, in *duck.Instance, sql string, args []any, of protocol.DataType) (string, error) {
	s, err := in.Query(ctx, sql, args...)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var cells []string
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return strings.Join(cells, " / "), nil
		}
		if err != nil {
			return "", err
		}
		for i := range b.Len() {
			text := "NULL"
			if b.Vector(0).Valid(i) {
				text = b.Vector(0).Text(i)
			}
			if got, want := canonical(b.Vector(1).Text(i)), canonical(expr.DuckType(of)); got != want && of.Kind != protocol.KindVoid {
				text += " (DuckDB has " + got + ", not " + want + ")"
			}
			cells = append(cells, text)
		}
	}
}

// canonical is DuckDB's own spelling of a type.
func canonical(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"), `"`, "")
}

// check runs rows of "expression | type | value"; the value may be an error class in brackets.
func check(t *testing.T, in *duck.Instance, ctx *expr.Context, rows string) {
	t.Helper()
	for _, row := range strings.Split(rows, "\n") {
		if row = strings.TrimSpace(row); row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		parts := strings.Split(row, " ¦ ")
		sql, wantType, want := parts[0], parts[1], parts[2]
		if !strings.HasPrefix(strings.ToUpper(sql), "SELECT ") && !strings.HasPrefix(strings.ToUpper(sql), "WITH ") {
			sql = "SELECT " + sql
		}
		text, typeName, err := run(t, in, ctx, sql)
		if err != nil {
			text = "[" + string(protocol.ClassOf(err)) + "]"
			if text != want {
				t.Errorf("%s\n  want %s %s\n  got  %v", sql, wantType, want, err)
			}
			continue
		}
		if want == "(empty)" {
			want = ""
		}
		if text != want || wantType != "-" && typeName != wantType {
			t.Errorf("%s\n  want %s %q\n  got  %s %q", sql, wantType, want, typeName, text)
		}
	}
}

func TestMacrosComeAfterThoseTheyUse(t *testing.T) {
	name := regexp.MustCompile(`^CREATE MACRO (\w+)\(`)
	call := regexp.MustCompile(`\b(\w+)\(`)
	all := map[string]bool{}
	for _, m := range expr.Macros() {
		all[name.FindStringSubmatch(m)[1]] = true
	}
	seen := map[string]bool{}
	for _, m := range expr.Macros() {
		own := name.FindStringSubmatch(m)[1]
		for _, used := range call.FindAllStringSubmatch(m, -1) {
			if all[used[1]] && !seen[used[1]] && used[1] != own {
				t.Errorf("%s uses %s, which comes later", own, used[1])
			}
		}
		seen[own] = true
	}
}
