package sqlengine

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

// recorded is what Spark with Delta did with one statement.
type recorded struct {
	SQL     string `json:"sql"`
	Columns []struct{ Name, Type string }
	Rows    []json.RawMessage
	Error   *struct{ Class string }
}

// ours are statements whose right answer here is not Spark's or that cannot run over the tables left behind, and why.
var ours = map[string]string{
	"cdf/ranges_and_their_errors: SELECT id FROM table_changes('t', -1)":                           "any error will do",
	"maintain/shallow_clone_basics: SELECT * FROM old":                                             "the clone lies elsewhere",
	"protocol/clone-takes-the-features: SELECT id, g FROM d":                                       "the clone lies elsewhere",
	"rowtracking/clone_has_distinct_ids: SELECT COUNT(*), COUNT(DISTINCT _metadata.row_id) FROM c": "the clone lies elsewhere",
}

var reading = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|DESC|DESCRIBE|SHOW|VALUES|FROM|TABLE)\b`)

// TestOracleStatements runs, over the tables that Spark left behind, the statements of each recorded script that follow its last
// write, and compares rows and error classes.
func TestOracleStatements(t *testing.T) {
	scripts, tables := shared(t, "oracle"), shared(t, "oracle-tables")
	files, err := filepath.Glob(filepath.Join(scripts, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		id := strings.TrimSuffix(strings.TrimPrefix(file, scripts+"/"), ".json")
		folder := filepath.Join(tables, id)
		if !isFolder(folder) {
			continue
		}
		t.Run(id, func(t *testing.T) { ran += runRecorded(t, id, file, folder) })
	}
	t.Logf("%d statements", ran)
}

func runRecorded(t *testing.T, id, file, folder string) int {
	var script struct{ Statements []recorded }
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &script); err != nil {
		t.Fatal(err)
	}
	directives, _ := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sql")
	last := -1
	for i, s := range script.Statements {
		if !reading.MatchString(s.SQL) && (s.Error == nil) {
			last = i
		}
	}
	root := t.TempDir()
	if err := os.Symlink(folder, filepath.Join(root, "default")); err != nil {
		t.Fatal(err)
	}
	recordedAt := newest(t, folder).Add(time.Hour) // retentions in the scripts are 0 or 2 hours
	session := openSession(t, openEngine(t, Options{Catalog: root, Clock: func() time.Time { return recordedAt }}), SessionOptions{})
	ran := 0
	for _, s := range script.Statements[last+1:] {
		if !reading.MatchString(s.SQL) || strings.Contains(s.SQL, "${DIR}") {
			continue
		}
		if ours[id+": "+s.SQL] != "" || anyRows(string(directives), s.SQL) && s.Error == nil || oursDirective(string(directives), s.SQL) {
			continue
		}
		ran++
		compareRecorded(t, session, root, s)
	}
	return ran
}

// newest is when the last file of a folder was written: what was recorded then holds for about that time, not for today.
func newest(t *testing.T, folder string) time.Time {
	t.Helper()
	var at time.Time
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// anyRows tells whether the script does not compare the statement's rows.
func anyRows(script, sql string) bool {
	return regexp.MustCompile(`(?m)^-- @rows any.*\n(?:--.*\n)*` + regexp.QuoteMeta(firstLine(sql))).MatchString(script)
}

func oursDirective(script, sql string) bool {
	return regexp.MustCompile(`(?m)^-- @ours (?:ok|error|skip).*\n(?:--.*\n)*` + regexp.QuoteMeta(firstLine(sql))).MatchString(script)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func compareRecorded(t *testing.T, session *Session, root string, s recorded) {
	columns, rows, err := answer(session, s.SQL)
	compareAnswer(t, root, s, columns, rows, err)
}

func compareAnswer(t *testing.T, root string, s recorded, columns string, rows []string, err error) {
	if s.Error != nil {
		if err == nil {
			t.Errorf("%s\ngave %d rows, Spark refuses with %s", s.SQL, len(rows), s.Error.Class)
		} else if !sameFault(s.Error.Class, string(protocol.ClassOf(err))) {
			t.Errorf("%s\n%v, Spark says %s", s.SQL, err, s.Error.Class)
		}
		return
	}
	if err != nil {
		t.Errorf("%s\n%v", s.SQL, err)
		return
	}
	var names, got, want []string
	for _, c := range s.Columns {
		names = append(names, c.Name+" "+c.Type)
	}
	if strings.Join(names, ", ") != columns {
		t.Errorf("%s\ncolumns %s\nSpark   %s", s.SQL, columns, strings.Join(names, ", "))
	}
	for _, row := range rows {
		got = append(got, normal(t, inWarehouse(row, root)))
	}
	for _, row := range s.Rows {
		want = append(want, normal(t, string(row)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot   %s\nSpark %s", s.SQL, strings.Join(got, " "), strings.Join(want, " "))
	}
}

// sameFault tells whether two classes name one fault; either Spark or Delta may notice first.
func sameFault(spark, got string) bool {
	spark, _, _ = strings.Cut(spark, ".")
	got, _, _ = strings.Cut(got, ".")
	for _, nameless := range []string{"_LEGACY_ERROR_TEMP_", "INTERNAL_ERROR", "TASK_WRITE_FAILED", "FAILED_READ_FILE", "None"} {
		if strings.HasPrefix(spark, nameless) {
			return true
		}
	}
	for _, group := range [][]string{
		{"TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_MISSING_DELTA_TABLE", "DELTA_PATH_DOES_NOT_EXIST"},
		{"TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_TABLE_ALREADY_EXISTS"},
		{"UNRESOLVED_COLUMN", "DELTA_COLUMN_NOT_FOUND", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "FIELD_NOT_FOUND"},
		{"COLUMN_ALREADY_EXISTS", "FIELD_ALREADY_EXISTS", "DELTA_DUPLICATE_COLUMNS_FOUND", "DELTA_DUPLICATE_COLUMNS_ON_INSERT"},
		{"CAST_OVERFLOW_IN_TABLE_INSERT", "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"},
		{"ALL_PARTITION_COLUMNS_NOT_ALLOWED", "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION"},
		{"MERGE_WITHOUT_WHEN", "DELTA_MERGE_MISSING_WHEN"},
		{"CLUSTERING_COLUMNS_MISMATCH", "DELTA_COLUMN_NOT_FOUND"},
	} {
		if slices.Contains(group, spark) && slices.Contains(group, got) {
			return true
		}
	}
	return spark == got || spark == "DELTA_"+got || got == "DELTA_"+spark
}

// normal writes JSON with sorted keys and numbers of at most 14 digits.
func normal(t *testing.T, text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := json.Marshal(rounded(value))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func rounded(value any) any {
	switch v := value.(type) {
	case json.Number:
		if _, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return v
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return json.Number(strconv.FormatFloat(f, 'g', 14, 64))
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = rounded(v[k])
		}
	}
	return value
}

// inWarehouse writes the folder of the tables as the recordings do, which call it by a path or by a URI.
func inWarehouse(row, root string) string {
	return strings.NewReplacer("file:"+root+"/default", "${WAREHOUSE}", root+"/default", "${WAREHOUSE}").Replace(row)
}
