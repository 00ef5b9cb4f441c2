package sqlengine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// script is a recorded script with what the reference made of its tables.
type script struct {
	Statements []recorded
	Tables     map[string]struct {
		Protocol struct {
			MinReaderVersion, MinWriterVersion int
			Features                           []string
		}
		Versions []struct{ Operation string }
		Final    struct {
			Columns []struct{ Name, Type string }
			Rows    []json.RawMessage
		}
	}
}

// unbuilt are the statements that do not exist yet; scripts that use them wait.
var unbuilt = regexp.MustCompile(`(?im)^(DECLARE|SET VAR|CREATE TABLE .*USING parquet)\b`)

// waiting are scripts that are decided against, each with its reason.
var waiting = map[string]string{
	"cdf/deletion_vectors_need_no_change_files": "the answer of RESTORE tells sizes of files, which are each product's own",
	"create/generated-column-errors":            "constraints/generated_expressions_that_are_refused names Delta's own class for an aggregate, this script Spark's",
}

var (
	confLine = regexp.MustCompile(`(?m)^-- conf: ([^=\n]+)=(.*)$`)
	oursLine = regexp.MustCompile(`^-- @ours (ok|error \S+|skip)`)
	rowsLine = regexp.MustCompile(`^-- @rows (any|ordered)`)
	differs  = regexp.MustCompile(`(?m)^-- @ours (\w+) differs`)
)

// TestOracleScripts runs the recorded scripts from their first statement and compares the outcome and the rows of each statement, and
// of each table the protocol, the operations and the final rows, with what Spark did. The judge beside the scripts compares more.
func TestOracleScripts(t *testing.T) {
	folder := shared(t, "oracle")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d scripts", err, len(files))
	}
	for _, file := range files {
		id := strings.TrimSuffix(strings.TrimPrefix(file, folder+"/"), ".json")
		t.Run(id, func(t *testing.T) {
			if reason := waiting[id]; reason != "" {
				t.Skip(reason)
			}
			t.Parallel()
			runScript(t, file)
		})
	}
}

func runScript(t *testing.T, file string) {
	var s script
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	if statement := unbuilt.FindString(string(text)); statement != "" {
		t.Skipf("%s does not exist yet", statement)
	}
	directives := directivesOf(string(text))
	if len(directives) != len(s.Statements) {
		t.Fatalf("%d statements in the script, %d recorded", len(directives), len(s.Statements))
	}
	root, scratch := t.TempDir(), t.TempDir()
	settings := map[string]string{}
	for _, m := range confLine.FindAllStringSubmatch(string(text), -1) {
		settings[strings.TrimSpace(m[1])] = strings.TrimSpace(m[2])
	}
	session := openSession(t, openEngine(t, Options{Catalog: root, Threads: 1}), SessionOptions{Settings: settings})
	for i, statement := range s.Statements {
		statement.SQL = strings.ReplaceAll(statement.SQL, "${DIR}", scratch)
		compareStatement(t, session, root, scratch, statement, directives[i])
	}
	apart := map[string]bool{}
	for _, m := range differs.FindAllStringSubmatch(string(text), -1) {
		apart[m[1]] = true
	}
	for name, want := range s.Tables {
		path := filepath.Join(root, "default", name)
		if !isTable(path) {
			t.Errorf("the table %s does not exist", name)
			continue
		}
		table, err := session.engine.catalog.table(path)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := table.Inspect(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := snapshot.Config().Protocol
		features := p.Features()
		slices.Sort(features)
		if !apart["protocol"] && (p.MinReaderVersion != want.Protocol.MinReaderVersion || p.MinWriterVersion != want.Protocol.MinWriterVersion ||
			p.MinWriterVersion >= 7 && !slices.Equal(features, want.Protocol.Features)) {
			t.Errorf("%s has the protocol (%d, %d) %v\nSpark (%d, %d) %v", name, p.MinReaderVersion, p.MinWriterVersion, features,
				want.Protocol.MinReaderVersion, want.Protocol.MinWriterVersion, want.Protocol.Features)
		}
		if !apart["operations"] {
			compareOperations(t, session, name, want.Versions)
		}
		if !apart["rows"] {
			compareRecorded(t, session, root, recorded{SQL: "SELECT * FROM `" + name + "`", Columns: want.Final.Columns, Rows: want.Final.Rows})
		}
	}
}

// directive is what a script says of one statement.
type directive struct{ ours, rows string }

// directivesOf are the directives of a script's statements, in their order.
func directivesOf(text string) []directive {
	var list []directive
	var next directive
	inside := false
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case !inside && strings.HasPrefix(trimmed, "--"):
			if m := oursLine.FindStringSubmatch(trimmed); m != nil {
				next.ours = m[1]
			}
			if m := rowsLine.FindStringSubmatch(trimmed); m != nil {
				next.rows = m[1]
			}
		case trimmed == "" && !inside:
		default:
			inside = !strings.HasSuffix(trimmed, ";")
			if !inside {
				list, next = append(list, next), directive{}
			}
		}
	}
	return list
}

func compareStatement(t *testing.T, session *Session, root, scratch string, s recorded, d directive) {
	switch {
	case d.ours == "skip":
		_, _, _ = answer(session, s.SQL)
		return
	case d.ours == "ok":
		s.Error, d.rows = nil, "any"
	case strings.HasPrefix(d.ours, "error "):
		s.Error = &struct{ Class string }{strings.TrimPrefix(d.ours, "error ")}
	}
	if s.Error == nil && (d.rows == "any" || s.Columns == nil) {
		if _, _, err := answer(session, s.SQL); err != nil {
			t.Errorf("%s\n%v", s.SQL, err)
		}
		return
	}
	for i, row := range s.Rows {
		s.Rows[i] = json.RawMessage(strings.ReplaceAll(string(row), "${DIR}", scratch))
	}
	columns, rows, err := answer(session, s.SQL)
	if err == nil && s.Error == nil && columns == "" {
		return // a count that Spark gives as a row
	}
	compareAnswer(t, root, s, columns, rows, err)
}

// compareOperations compares the operations of a table's versions. How many barriers a downgrade writes is the engine's choice.
func compareOperations(t *testing.T, session *Session, name string, want []struct{ Operation string }) {
	_, rows, err := answer(session, "DESCRIBE HISTORY `"+name+"`")
	if err != nil {
		t.Error(err)
		return
	}
	var got, recorded []string
	for _, row := range rows {
		var values []any
		if err := json.Unmarshal([]byte(row), &values); err != nil {
			t.Fatal(err)
		}
		if operation, _ := values[4].(string); operation != "Empty Commit" {
			got = append(got, operation)
		}
	}
	slices.Reverse(got)
	for _, v := range want {
		if v.Operation != "Empty Commit" {
			recorded = append(recorded, v.Operation)
		}
	}
	if !slices.Equal(got, recorded) {
		t.Errorf("%s: operations %v\nSpark %v", name, got, recorded)
	}
}
