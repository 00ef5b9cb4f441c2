package sqlengine

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/render"
)

func init() {
	onTypeMismatch = func(sql string, column ColumnInfo, got duck.Type) {
		panic("DuckDB gives " + got.String() + " for the " + column.Type.String() + " " + column.Name + " of\n" + sql)
	}
}

// shared is a folder of tables written by other engines, when it lies beside the project.
func shared(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../shared", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the project", name)
	}
	return path
}

func openEngine(t *testing.T, options Options) *Engine {
	t.Helper()
	if options.Catalog == "" {
		options.Catalog = t.TempDir()
	}
	options.Threads, options.Memory = 2, "1GB"
	engine, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func openSession(t *testing.T, engine *Engine, options SessionOptions) *Session {
	t.Helper()
	session, err := engine.NewSession(options)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// answer runs a statement and gives its column names and its rows as JSON arrays.
func answer(s *Session, sql string) (columns string, rows []string, err error) {
	ctx := context.Background()
	result, err := s.Execute(ctx, sql)
	if err != nil {
		return "", nil, err
	}
	defer result.Close()
	var names []string
	for _, c := range result.Columns {
		names = append(names, c.Name+" "+c.Type.String())
	}
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return strings.Join(names, ", "), rows, nil
		}
		if err != nil {
			return "", nil, err
		}
		for row := range batch.Len() {
			line := []byte{'['}
			for i, c := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &c.Type, render.VariantWrapped)
			}
			rows = append(rows, string(append(line, ']')))
		}
	}
}

// want checks a statement's rows.
func want(t *testing.T, s *Session, sql string, rows ...string) {
	t.Helper()
	_, got, err := answer(s, sql)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	if strings.Join(got, "\n") != strings.Join(rows, "\n") {
		t.Errorf("%s:\ngot  %s\nwant %s", sql, strings.Join(got, "\n     "), strings.Join(rows, "\n     "))
	}
}

// refuse checks a statement's error class.
func refuse(t *testing.T, s *Session, sql string, class protocol.Class) *protocol.Error {
	t.Helper()
	_, rows, err := answer(s, sql)
	if err == nil {
		t.Errorf("%s: gave %v, want %s", sql, rows, class)
		return &protocol.Error{}
	}
	known, ok := err.(*protocol.Error)
	if !ok {
		t.Errorf("%s: %T %v is no *protocol.Error", sql, err, err)
		return &protocol.Error{}
	}
	if known.Class != class {
		t.Errorf("%s: %v, want %s", sql, err, class)
	}
	return known
}

func TestSelectConstant(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	want(t, s, "select 1", `[1]`)
	want(t, s, "SELECT 1 AS a, 'x' AS b, 1.5 AS c, NULL AS d", `[1,"x","1.5",null]`)
}
