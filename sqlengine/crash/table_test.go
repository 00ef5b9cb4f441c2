package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/check"
	"deltasql/sqlengine/render"
)

// long asks for every try there is, each in a process that is really killed, and for many rows.
var long = os.Getenv("DELTASQL_CRASH_TESTS") == "long"

// catalog is the folder of all databases of these tests, a database a try. The statements that are hit run in the engine victim;
// survivor is the one that opens the tables afterwards.
var (
	catalog          string
	victim, survivor *sqlengine.Engine
	databases        atomic.Int64
)

func TestMain(m *testing.M) {
	if task := os.Getenv(taskVariable); task != "" {
		os.Exit(runTask(task))
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code) // statements that were stopped are never to go on, so that the engines are not closed
}

func run(m *testing.M) (code int, err error) {
	if catalog, err = os.MkdirTemp("", "crash"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(catalog)
	if victim, err = openEngine(catalog); err != nil {
		return 0, err
	}
	if survivor, err = openEngine(catalog); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func openEngine(folder string) (*sqlengine.Engine, error) {
	return sqlengine.Open(sqlengine.Options{Catalog: folder, Memory: "512MB", Threads: 1, MaxRunning: 1 << 20, Store: newPoints})
}

// newDatabase makes an empty database, or one that is a copy of another.
func newDatabase(t *testing.T, like string) string {
	t.Helper()
	name := fmt.Sprintf("try%d", databases.Add(1))
	folder := filepath.Join(catalog, name)
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if like != "" {
		if err := copyFolder(filepath.Join(catalog, like), folder); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// copyFolder keeps the times of files, which are the times of commits.
func copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o666); err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}

// age makes the commits of a database's tables older.
func age(t *testing.T, database string, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(catalog, database), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime().Add(-by), info.ModTime().Add(-by))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// outside is a folder beside the catalog's databases, for the external table of one of them.
func outside(database string) string { return filepath.Join(catalog, "_outside", database) }

// expand puts a database's names into a statement.
func expand(sql, database string) string {
	return strings.NewReplacer("$outside", outside(database), "$folder", filepath.Join(catalog, database), "$db", database).Replace(sql)
}

// execute runs statements in one session of an engine until one fails.
func execute(ctx context.Context, engine *sqlengine.Engine, database string, statements ...string) error {
	session, err := engine.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		return err
	}
	defer session.Close()
	return executeIn(ctx, session, database, statements...)
}

func executeIn(ctx context.Context, session *sqlengine.Session, database string, statements ...string) error {
	for _, sql := range statements {
		if _, _, err := rowsIn(ctx, session, expand(sql, database)); err != nil {
			return err
		}
	}
	return nil
}

// must runs statements that succeed.
func must(t *testing.T, database string, statements ...string) {
	t.Helper()
	if err := execute(context.Background(), survivor, database, statements...); err != nil {
		t.Fatalf("%s: %v", strings.Join(statements, "; "), err)
	}
}

// rowsIn gives the rows of a statement as JSON, and the columns' names.
func rowsIn(ctx context.Context, session *sqlengine.Session, sql string) (rows, columns []string, err error) {
	result, err := session.Execute(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	defer result.Close()
	for _, c := range result.Columns {
		columns = append(columns, c.Name)
	}
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, columns, nil
		}
		if err != nil {
			return nil, nil, err
		}
		for row := range batch.Len() {
			line := []byte{'['}
			for i := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &result.Columns[i].Type, render.VariantWrapped)
			}
			rows = append(rows, string(append(line, ']')))
		}
	}
}

func query(t *testing.T, database, sql string) []string {
	t.Helper()
	session, err := survivor.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rows, _, err := rowsIn(context.Background(), session, expand(sql, database))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// rowsOrClass gives rows in order of their texts, and of a table that cannot be read the class of the error.
func rowsOrClass(t *testing.T, database, sql string) []string {
	t.Helper()
	session, err := survivor.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rows, _, err := rowsIn(context.Background(), session, expand(sql, database))
	if err != nil {
		return []string{string(protocol.ClassOf(err))}
	}
	slices.Sort(rows)
	return rows
}

// travel is the rows of the first versions of the table t.
func travel(t *testing.T, database string, versions int) string {
	t.Helper()
	var out strings.Builder
	for v := range versions {
		fmt.Fprintf(&out, "%d %s\n", v, strings.Join(rowsOrClass(t, database, fmt.Sprintf("SELECT * FROM t VERSION AS OF %d", v)), " "))
	}
	return out.String()
}

// state is all that can be asked of a database, as text: the tables' rows, columns, properties, versions and their operations.
func state(t *testing.T, database string) string {
	t.Helper()
	var out strings.Builder
	for _, name := range tables(t, database) {
		fmt.Fprintf(&out, "TABLE %s\n", name)
		rows := rowsOrClass(t, database, "SELECT * FROM "+name)
		fmt.Fprintf(&out, "rows %s\n", strings.Join(rows, " "))
		fmt.Fprintf(&out, "columns %s\n", strings.Join(query(t, database, "DESCRIBE "+name), " "))
		fmt.Fprintf(&out, "properties %s\n", strings.Join(query(t, database, "SHOW TBLPROPERTIES "+name), " "))
		fmt.Fprintf(&out, "history %s\n", strings.Join(history(t, database, name), " "))
	}
	return strings.ReplaceAll(out.String(), database, "$db")
}

func tables(t *testing.T, database string) []string {
	t.Helper()
	var names []string
	for _, row := range query(t, database, "SHOW TABLES") {
		var values []any
		if err := json.Unmarshal([]byte(row), &values); err != nil {
			t.Fatal(err)
		}
		names = append(names, values[1].(string))
	}
	return names
}

// history is version and operation of each version, newest first.
func history(t *testing.T, database, table string) []string {
	t.Helper()
	session, err := survivor.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rows, columns, err := rowsIn(context.Background(), session, "DESCRIBE HISTORY "+table)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, row := range rows {
		var values []any
		if err := json.Unmarshal([]byte(row), &values); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(values[slices.Index(columns, "version")], " ", values[slices.Index(columns, "operation")]))
	}
	return out
}

// faultless holds the tables of a database against the protocol, their data included.
func faultless(t *testing.T, database string) {
	t.Helper()
	session, err := survivor.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, name := range tables(t, database) {
		err := session.Check(context.Background(), name, check.Options{Deep: true}, func(f check.Fault) {
			t.Errorf("check of %s: %s: %s", name, f.File, f.Message)
		})
		if err != nil {
			t.Errorf("check of %s: %v", name, err)
		}
	}
}

// unreferenced are the files below a database's folder that no version of its table's log names, but for those of the log.
func unreferenced(t *testing.T, database string) []string {
	t.Helper()
	named := map[string]bool{}
	root := filepath.Join(catalog, database)
	logs, err := filepath.Glob(filepath.Join(root, "*", protocol.LogFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range logs {
		if strings.Contains(filepath.Base(file), ".checkpoint.") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			action, err := protocol.ParseAction([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			folder := filepath.Dir(filepath.Dir(file))
			name := func(uri string) {
				path, absolute, err := protocol.DecodePath(uri)
				if err != nil {
					t.Fatal(err)
				}
				if path = filepath.FromSlash(path); !absolute {
					path = filepath.Join(folder, path)
				}
				named[path] = true
			}
			switch {
			case action.Add != nil:
				name(action.Add.Path)
				if dv := action.Add.DeletionVector; dv != nil {
					if path, _, err := dv.Path(); err == nil && path != "" {
						named[filepath.Join(folder, filepath.FromSlash(path))] = true
					}
				}
			case action.Remove != nil:
				name(action.Remove.Path)
			case action.CDC != nil:
				name(action.CDC.Path)
			}
		}
	}
	var out []string
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !named[path] && !strings.Contains(path, protocol.LogFolder) && !strings.Contains(path, "_symlink_format_manifest") {
			inside, _ := filepath.Rel(root, path)
			out = append(out, inside)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sortedRows is query with the rows in order of their texts.
func sortedRows(t *testing.T, database, sql string) []string {
	t.Helper()
	rows := query(t, database, sql)
	slices.Sort(rows)
	return rows
}

// unsupported tells errors of statements that do not exist yet.
func unsupported(err error) bool {
	return err != nil && protocol.ClassOf(err) == "DELTASQL_UNSUPPORTED_STATEMENT"
}
