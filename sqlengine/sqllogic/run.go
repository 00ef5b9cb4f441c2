package sqllogic

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// Database is an engine on a catalog folder; a restart closes it and opens it again.
type Database interface {
	Connect(t testing.TB) Connection
	Close()
}

// Connection runs one statement and gives its rows as text, or its error. Columns is nil for a statement without a result set.
type Connection interface {
	Run(sql string) (columns []Column, rows [][]string, err error)
}

// Column is a result column: its name, and the letter of its type (I integer, R fraction, T text and binary, B boolean, D date,
// P point in time, V nested, variant and interval).
type Column struct {
	Name   string
	Letter byte
}

// Options say how scripts run.
type Options struct {
	Open    func(t testing.TB, catalog string) Database // catalog as the script names it
	Rewrite bool                                        // replace expected rows by those seen
	// Cell brings a value into a form in which doors that write values differently agree; it is applied to the values seen and to
	// those expected, letter being the column's type. Nil: values are compared as they are.
	Cell func(letter byte, value string) string
}

// RunFile runs a script file as the current test.
func RunFile(t testing.TB, path string, options Options) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rewritten := RunText(t, path, string(text), options)
	if options.Rewrite && rewritten != string(text) {
		if err := os.WriteFile(path, []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// RunText runs a script's text; name leads the messages. It returns the text with the rows that were seen.
func RunText(t testing.TB, name, text string, options Options) string {
	t.Helper()
	records, err := parseScript(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r := &scriptRun{t: t, name: name, options: options, variables: map[string]string{}, lines: strings.Split(text, "\n")}
	defer r.close()
	r.all(records)
	r.applyEdits()
	return strings.Join(r.lines, "\n")
}

type scriptRun struct {
	t           testing.TB
	name        string
	options     Options
	catalog     string
	database    Database
	connections map[string]Connection
	current     string
	variables   map[string]string
	lines       []string
	edits       []edit
	looping     bool
}

// edit replaces the expected rows of a query when expectations are rewritten.
type edit struct {
	from, to int
	rows     []string
}

func (r *scriptRun) close() {
	if r.database != nil {
		r.database.Close()
		r.database = nil
	}
	r.connections = map[string]Connection{}
}

func (r *scriptRun) all(records []record) {
	for _, next := range records {
		r.one(next)
	}
}

func (r *scriptRun) one(next record) {
	r.t.Helper()
	switch next.kind {
	case catalogRecord:
		r.close()
		r.catalog = next.name
	case restartRecord:
		r.close()
	case connectionRecord:
		r.current = next.name
	case letRecord:
		r.variables[next.name] = r.expand(next.value)
	case loopRecord:
		outer := r.looping
		r.looping = true
		for _, value := range next.loopValues {
			r.variables[next.name] = value
			r.all(next.body)
		}
		delete(r.variables, next.name)
		r.looping = outer
	case statementRecord:
		_, _, err := r.connection().Run(r.expand(next.sql))
		r.outcome(next, err)
	case queryRecord:
		columns, rows, err := r.connection().Run(r.expand(next.sql))
		if err != nil {
			r.fail(next, "%v", err)
			return
		}
		r.compare(next, columns, rows)
	}
}

// connection is the current one, opened on first use.
func (r *scriptRun) connection() Connection {
	r.t.Helper()
	if r.database == nil {
		r.database = r.options.Open(r.t, r.catalog)
		r.connections = map[string]Connection{}
	}
	if r.connections[r.current] == nil {
		r.connections[r.current] = r.database.Connect(r.t)
	}
	return r.connections[r.current]
}

// expand puts in the variables, longest names first.
func (r *scriptRun) expand(sql string) string {
	names := make([]string, 0, len(r.variables))
	for name := range r.variables {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		sql = strings.ReplaceAll(sql, name, r.variables[name])
	}
	return sql
}

func (r *scriptRun) fail(at record, format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s:%d: %s\n%s", r.name, at.line+1, at.sql, fmt.Sprintf(format, args...))
}

// outcome checks a statement's success or its error's class. An internal error is never what a script expects.
func (r *scriptRun) outcome(at record, err error) {
	r.t.Helper()
	switch {
	case err == nil && at.class != "":
		r.fail(at, "succeeded, want %s", at.class)
	case err == nil:
	case protocol.ClassOf(err) == protocol.ClassInternal:
		r.fail(at, "internal error: %v", err)
	case at.class == "":
		r.fail(at, "%v", err)
	case !isClass(string(protocol.ClassOf(err)), at.class):
		r.fail(at, "want %s, got %v", at.class, err)
	case at.pattern != nil && !at.pattern.MatchString(err.Error()):
		r.fail(at, "want a text that matches %s, got %v", at.pattern, err)
	}
}

// isClass tells whether a class is the wanted one, or a sub-class of it (CLASS.SUB).
func isClass(class, want string) bool {
	return class == want || strings.HasPrefix(class, want+".")
}

func (r *scriptRun) compare(at record, columns []Column, rows [][]string) {
	r.t.Helper()
	letters := ""
	var names []string
	for _, column := range columns {
		letters += string(column.Letter)
		names = append(names, column.Name)
	}
	if letters != at.types {
		r.fail(at, "columns are %s, want %s", letters, at.types)
		return
	}
	got := textLines(rows, at.sort)
	want := make([]string, len(at.want))
	for i, line := range at.want {
		want[i] = r.expand(line)
	}
	if r.options.Cell != nil && at.sort != valueSort {
		got, want = r.normal(letters, got, at.sort, false), r.normal(letters, want, at.sort, at.names)
	}
	if at.names {
		got = append([]string{strings.Join(names, "\t")}, got...)
	}
	if slices.Equal(got, want) {
		return
	}
	if r.options.Rewrite && !r.looping {
		r.edits = append(r.edits, edit{at.wantFrom, at.wantTo, got})
		return
	}
	r.fail(at, "got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// normal brings the values of lines into the form of Options.Cell; named tells that the first line holds names.
func (r *scriptRun) normal(letters string, lines []string, mode sortMode, named bool) []string {
	out := slices.Clone(lines)
	body := out
	if named && len(out) > 0 {
		body = out[1:]
	}
	for i, line := range body {
		values := strings.Split(line, "\t")
		for k := range values {
			if k < len(letters) {
				values[k] = r.options.Cell(letters[k], values[k])
			}
		}
		body[i] = strings.Join(values, "\t")
	}
	if mode == rowSort {
		slices.Sort(body)
	}
	return out
}

// textLines turns rows into lines of tab-separated values; an empty value is (empty).
func textLines(rows [][]string, mode sortMode) []string {
	var out []string
	for _, row := range rows {
		values := make([]string, len(row))
		for i, value := range row {
			if value == "" {
				value = "(empty)"
			}
			values[i] = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(value)
		}
		if mode == valueSort {
			out = append(out, values...)
		} else {
			out = append(out, strings.Join(values, "\t"))
		}
	}
	if mode != noSort {
		slices.Sort(out)
	}
	return out
}

// applyEdits puts the rows seen into the script's lines, last one first so that earlier places stay right.
func (r *scriptRun) applyEdits() {
	for _, e := range slices.Backward(r.edits) {
		r.lines = slices.Replace(r.lines, e.from, e.to, e.rows...)
	}
}
