package sqlengine_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// corpusFolder is where tables of other engines lie, with their expected rows, when they lie beside the project.
const corpusFolder = "../../shared/corpus"

// corpusTable is what the corpus' manifest says of a table, as far as reading goes.
type corpusTable struct {
	ID          string `json:"id"`
	Path        string `json:"path"`
	ActiveFiles int64  `json:"activeFiles"`
	Expected    struct {
		Kind     string `json:"kind"`
		RowCount *int64 `json:"rowCount"`
		RowsPath string `json:"rowsPath"`
		Versions []struct {
			Version  int64  `json:"version"`
			RowsPath string `json:"rowsPath"`
		} `json:"versions"`
		CDF *struct {
			RowsPath     string   `json:"rowsPath"`
			Columns      []string `json:"columns"`
			StartVersion int64    `json:"startVersion"`
			EndVersion   int64    `json:"endVersion"`
		} `json:"cdf"`
	} `json:"expected"`
}

// TestCorpus reads every table of the corpus: latest rows, counts, older versions, change rows, and what must be refused.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpusFolder, "MANIFEST.json"))
	if err != nil {
		t.Skipf("no corpus beside the project: %v", err)
	}
	var manifest struct {
		Tables []corpusTable `json:"tables"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: t.TempDir(), Memory: "2GB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range manifest.Tables {
		t.Run(table.ID, func(t *testing.T) { checkCorpusTable(t, session, &table) })
	}
}

func checkCorpusTable(t *testing.T, session *sqlengine.Session, table *corpusTable) {
	path, err := filepath.Abs(filepath.Join(corpusFolder, table.Path))
	if err != nil {
		t.Fatal(err)
	}
	name, want := "delta.`"+path+"`", &table.Expected
	switch want.Kind {
	case "negative":
		if _, err := jsonRows(session, "SELECT * FROM "+name); !strings.HasPrefix(string(protocol.ClassOf(err)), "DELTA_") {
			t.Errorf("want a refusal, got %v", err)
		}
		return
	case "log-only":
		rows, err := jsonRows(session, "DESCRIBE DETAIL "+name)
		if err != nil {
			t.Fatal(err)
		}
		if files := fmt.Sprintf(",%d,", table.ActiveFiles); len(rows) != 1 || !strings.Contains(rows[0], files) {
			t.Errorf("want %d files, got %v", table.ActiveFiles, rows)
		}
		return
	}
	compareCorpusRows(t, session, "SELECT * FROM "+name, want.RowsPath)
	if want.RowCount != nil {
		rows, err := jsonRows(session, "SELECT count(*) FROM "+name)
		if err != nil {
			t.Error(err)
		} else if !slices.Equal(rows, []string{fmt.Sprintf("[%d]", *want.RowCount)}) {
			t.Errorf("count(*) is %v, want %d", rows, *want.RowCount)
		}
	}
	for _, version := range want.Versions {
		compareCorpusRows(t, session, fmt.Sprintf("SELECT * FROM %s VERSION AS OF %d", name, version.Version), version.RowsPath)
	}
	if cdf := want.CDF; cdf != nil && cdf.RowsPath != "" {
		quoted := make([]string, len(cdf.Columns))
		for i, column := range cdf.Columns {
			quoted[i] = "`" + strings.ReplaceAll(column, "`", "``") + "`"
		}
		compareCorpusRows(t, session, fmt.Sprintf("SELECT %s FROM table_changes('%s', %d, %d)", strings.Join(quoted, ", "), path,
			cdf.StartVersion, cdf.EndVersion), cdf.RowsPath)
	}
}

// compareCorpusRows compares as multisets; an empty rowsPath means that nothing is known.
func compareCorpusRows(t *testing.T, session *sqlengine.Session, sql, rowsPath string) {
	t.Helper()
	if rowsPath == "" {
		return
	}
	got, err := jsonRows(session, sql)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	want, err := expectedRows(filepath.Join(corpusFolder, rowsPath))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = normalJSON(t, got[i])
	}
	for i := range want {
		want[i] = normalJSON(t, want[i])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d rows, want %d\ngot  %.600q\nwant %.600q", sql, len(got), len(want), got, want)
	}
}

// jsonRows runs a statement and gives each row as a JSON array in the machine-readable encoding.
func jsonRows(session *sqlengine.Session, sql string) ([]string, error) {
	ctx := context.Background()
	result, err := session.Execute(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var rows []string
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
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

// expectedRows reads gzipped JSON lines.
func expectedRows(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var rows []string
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		rows = append(rows, lines.Text())
	}
	return rows, lines.Err()
}

// normalJSON gives equal values equal texts: object keys sorted, fractions to 14 digits.
func normalJSON(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := json.Marshal(normalValue(value))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func normalValue(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = normalValue(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = normalValue(v[key])
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, err := v.Float64()
			if err == nil {
				return "fraction " + strconv.FormatFloat(f, 'g', 14, 64)
			}
		}
	}
	return value
}
