package scan

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
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
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// corpusDir is the collection of real tables beside the project, see docs of the corpus; tests skip without it.
const corpusDir = "../../shared/corpus"

type corpusTable struct {
	ID       string
	Path     string
	Version  int64
	Tags     []string
	Expected struct {
		Kind     string
		RowCount int
		RowsPath string
		Versions []struct {
			Version     int64
			RowCount    int
			RowsPath    string
			ColumnNames []string
		}
		CDF *struct {
			StartVersion, EndVersion int64
			Columns                  []string
			RowCount                 int
			RowsPath                 string
		}
	}
}

func corpus(t *testing.T) []corpusTable {
	data, err := os.ReadFile(filepath.Join(corpusDir, "MANIFEST.json"))
	if err != nil {
		t.Skip("the corpus is not there: ", err)
	}
	var manifest struct{ Tables []corpusTable }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Tables
}

func openInstance(t testing.TB) *duck.Instance {
	in, err := duck.Open(duck.Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

func openTable(t testing.TB, in *duck.Instance, folder string) *log.Table {
	st, err := store.NewLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	return log.OpenTable(st, folder, LogParquet{in})
}

// TestCorpus reads the newest version, and the older ones that have rows, of every table of the corpus.
func TestCorpus(t *testing.T) {
	in := openInstance(t)
	for _, table := range corpus(t) {
		if table.Expected.Kind != "read" {
			continue
		}
		t.Run(table.ID, func(t *testing.T) {
			source := openTable(t, in, filepath.Join(corpusDir, table.Path))
			snapshot, err := source.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			compareSnapshot(t, in, snapshot, table.Expected.RowsPath, table.Expected.RowCount)
			for _, v := range table.Expected.Versions {
				if v.RowsPath == "" || v.Version == table.Version {
					continue
				}
				older, err := source.SnapshotAt(context.Background(), v.Version)
				if err != nil {
					t.Errorf("version %d: %v", v.Version, err)
					continue
				}
				compareSnapshot(t, in, older, v.RowsPath, v.RowCount)
			}
		})
	}
}

// TestCorpusChanges reads the change rows of every table of the corpus that has some.
func TestCorpusChanges(t *testing.T) {
	in := openInstance(t)
	for _, table := range corpus(t) {
		cdf := table.Expected.CDF
		if cdf == nil || cdf.RowsPath == "" {
			continue
		}
		t.Run(table.ID, func(t *testing.T) {
			changes, err := BuildChanges(context.Background(), in, ChangeRequest{
				Table: openTable(t, in, filepath.Join(corpusDir, table.Path)), From: cdf.StartVersion, To: cdf.EndVersion,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer changes.Release()
			// The corpus leaves the times out.
			changes.Columns = changes.Columns[:len(changes.Columns)-1]
			got, err := relationRows(in, changes.Relation)
			if err != nil {
				t.Fatal(err)
			}
			var types []protocol.DataType
			for _, name := range cdf.Columns {
				for _, f := range changes.ChangeFields() {
					if string(f.Name) == name {
						types = append(types, f.Type)
					}
				}
			}
			compareRows(t, "changes", got, expectedRows(t, cdf.RowsPath, types))
		})
	}
}

func compareSnapshot(t *testing.T, in *duck.Instance, snapshot *log.Snapshot, rowsPath string, rowCount int) {
	t.Helper()
	var columns []int
	var types []protocol.DataType
	for i, f := range snapshot.Config().Schema.Fields {
		columns = append(columns, i)
		types = append(types, f.Type)
	}
	relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: columns})
	if err != nil {
		t.Errorf("version %d: %v", snapshot.Version(), err)
		return
	}
	defer relation.Release()
	got, err := relationRows(in, relation)
	if err != nil {
		t.Errorf("version %d: %v\n%.2000s", snapshot.Version(), err, relation.SQL)
		return
	}
	if rowsPath == "" {
		if len(got) != rowCount {
			t.Errorf("version %d: %d rows, want %d", snapshot.Version(), len(got), rowCount)
		}
		return
	}
	compareRows(t, fmt.Sprintf("version %d", snapshot.Version()), got, expectedRows(t, rowsPath, types))
}

func compareRows(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	shown := 0
	for i := 0; i < max(len(got), len(want)) && shown < 3; i++ {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("got  %.600s\nwant %.600s", g, w)
			shown++
		}
	}
}

func expectedRows(t *testing.T, rowsPath string, types []protocol.DataType) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(corpusDir, rowsPath))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber()
		var row []any
		if err := decoder.Decode(&row); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for i, value := range row {
			writeJSON(&text, types[i], value)
			text.WriteByte('|')
		}
		rows = append(rows, text.String())
	}
	return rows
}

// tagged is the expression of a value whose variants stand in a member $variant, so that JSON shows a variant null apart
// from NULL.
func tagged(e string, t protocol.DataType) string {
	if !contains(t, ofKind(protocol.KindVariant)) {
		return e
	}
	switch t.Kind {
	case protocol.KindVariant:
		return "CASE WHEN " + e + " IS NOT NULL THEN {'$variant': CAST(" + e + " AS JSON)} END"
	case protocol.KindArray:
		return "list_transform(" + e + ", lambda x: " + tagged("x", *t.Element) + ")"
	case protocol.KindMap:
		return "map_from_entries(list_transform(map_entries(" + e + "), lambda y: {'key': y.key, 'value': " + tagged("y.value", *t.Value) + "}))"
	}
	var members []string
	for _, f := range t.Fields {
		name := duck.QuoteIdentifier(string(f.Name))
		members = append(members, name+" := "+tagged(e+"."+name, f.Type))
	}
	return "CASE WHEN " + e + " IS NOT NULL THEN struct_pack(" + strings.Join(members, ", ") + ") END"
}

// relationRows reads a relation and writes its rows in a form to compare.
func relationRows(in *duck.Instance, relation *Relation) ([]string, error) {
	ctx := context.Background()
	var outputs []string
	for i, c := range relation.Columns {
		output := relation.Logical(i, c.Name)
		if contains(c.Type, ofKind(protocol.KindVariant)) {
			output = "CAST(" + tagged(output, c.Type) + " AS JSON)"
		}
		outputs = append(outputs, output)
	}
	if len(outputs) == 0 {
		outputs = []string{"c0"}
	}
	stream, err := in.Query(ctx, "SELECT "+strings.Join(outputs, ", ")+" FROM ("+relation.SQL+")", relation.Args...)
	if err != nil {
		return nil, relation.Diagnose(err)
	}
	defer stream.Close()
	var rows []string
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, relation.Diagnose(err)
		}
		for row := range batch.Len() {
			var text strings.Builder
			for i, c := range relation.Columns {
				v := batch.Vector(i)
				if v.Valid(row) && contains(c.Type, ofKind(protocol.KindVariant)) {
					decoder := json.NewDecoder(bytes.NewReader(v.Bytes(row)))
					decoder.UseNumber()
					var value any
					if err := decoder.Decode(&value); err != nil {
						return nil, err
					}
					writeJSON(&text, c.Type, value)
				} else {
					writeVector(&text, c.Type, v, row)
				}
				text.WriteByte('|')
			}
			rows = append(rows, text.String())
		}
	}
}

// writeVector and writeJSON write a value the same way from DuckDB and from the corpus.
func writeVector(text *strings.Builder, t protocol.DataType, v *duck.Vector, row int) {
	if !v.Valid(row) {
		text.WriteString("NULL")
		return
	}
	switch t.Kind {
	case protocol.KindBoolean:
		text.WriteString(strconv.FormatBool(v.Bool(row)))
	case protocol.KindFloat:
		text.WriteString(strconv.FormatFloat(v.Float64(row), 'g', -1, 32))
	case protocol.KindDouble:
		text.WriteString(strconv.FormatFloat(v.Float64(row), 'g', -1, 64))
	case protocol.KindDecimal:
		n := v.Int128(row)
		text.WriteString(protocol.Int128{Hi: n.Hi, Lo: n.Lo}.String(t.Scale))
	case protocol.KindString:
		text.WriteString(strconv.Quote(v.Text(row)))
	case protocol.KindBinary:
		text.WriteString(strconv.Quote(hex.EncodeToString(v.Bytes(row))))
	case protocol.KindDate:
		text.WriteString(strconv.Quote(time.Unix(v.Int64(row)*86400, 0).UTC().Format("2006-01-02")))
	case protocol.KindTimestamp:
		text.WriteString(strconv.Quote(time.UnixMicro(v.Int64(row)).UTC().Format("2006-01-02T15:04:05.000000Z")))
	case protocol.KindTimestampNTZ:
		text.WriteString(strconv.Quote(time.UnixMicro(v.Int64(row)).UTC().Format("2006-01-02T15:04:05.000000")))
	case protocol.KindArray:
		text.WriteByte('[')
		offset, n := v.List(row)
		for i := offset; i < offset+n; i++ {
			writeVector(text, *t.Element, v.Child(0), i)
			text.WriteByte(',')
		}
		text.WriteByte(']')
	case protocol.KindMap:
		offset, n := v.List(row)
		entries := make([]string, n)
		for i := range entries {
			var entry strings.Builder
			writeVector(&entry, *t.Key, v.Child(0).Child(0), offset+i)
			entry.WriteByte(':')
			writeVector(&entry, *t.Value, v.Child(0).Child(1), offset+i)
			entries[i] = entry.String()
		}
		writeSorted(text, entries)
	case protocol.KindStruct:
		entries := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			var entry strings.Builder
			fmt.Fprintf(&entry, "%s:", v.Type().Names[i])
			writeVector(&entry, f.Type, v.Child(i), row)
			entries[i] = entry.String()
		}
		writeSorted(text, entries)
	default:
		text.WriteString(strconv.FormatInt(v.Int64(row), 10))
	}
}

func writeSorted(text *strings.Builder, entries []string) {
	slices.Sort(entries)
	text.WriteString("{" + strings.Join(entries, ",") + "}")
}

func writeJSON(text *strings.Builder, t protocol.DataType, value any) {
	if object, ok := value.(map[string]any); ok && t.Kind == protocol.KindVariant {
		if inner, ok := object["$variant"]; ok {
			if value = inner; value == nil {
				text.WriteString("null") // a variant null, not NULL
				return
			}
		}
	}
	if value == nil {
		text.WriteString("NULL")
		return
	}
	switch t.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		number, err := strconv.ParseFloat(fmt.Sprint(value), 64)
		if err != nil {
			panic(err)
		}
		bits := 64
		if t.Kind == protocol.KindFloat {
			bits, number = 32, float64(float32(number))
		}
		text.WriteString(strconv.FormatFloat(number, 'g', -1, bits))
	case protocol.KindDecimal:
		fmt.Fprint(text, value)
	case protocol.KindArray:
		text.WriteByte('[')
		for _, element := range value.([]any) {
			writeJSON(text, *t.Element, element)
			text.WriteByte(',')
		}
		text.WriteByte(']')
	case protocol.KindMap:
		var entries []string
		add := func(k, v any) {
			var entry strings.Builder
			writeJSON(&entry, *t.Key, k)
			entry.WriteByte(':')
			writeJSON(&entry, *t.Value, v)
			entries = append(entries, entry.String())
		}
		if object, ok := value.(map[string]any); ok { // DuckDB's own JSON
			for k, v := range object {
				add(k, v)
			}
		} else {
			for _, pair := range value.([]any) {
				add(pair.([]any)[0], pair.([]any)[1])
			}
		}
		writeSorted(text, entries)
	case protocol.KindStruct:
		var entries []string
		for name, member := range value.(map[string]any) {
			var entry strings.Builder
			fmt.Fprintf(&entry, "%s:", name)
			writeJSON(&entry, t.Fields[t.Lookup(name)].Type, member)
			entries = append(entries, entry.String())
		}
		writeSorted(text, entries)
	case protocol.KindVariant:
		writePlain(text, value)
	case protocol.KindString, protocol.KindBinary, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		text.WriteString(strconv.Quote(value.(string)))
	default:
		fmt.Fprint(text, value)
	}
}

// writePlain writes the JSON of a variant; numbers are compared as numbers.
func writePlain(text *strings.Builder, value any) {
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			panic(err)
		}
		text.WriteString(strconv.FormatFloat(number, 'g', -1, 64))
	case []any:
		for _, element := range value {
			writePlain(text, element)
			text.WriteByte(',')
		}
	case map[string]any:
		var entries []string
		for name, member := range value {
			var entry strings.Builder
			entry.WriteString(name + ":")
			writePlain(&entry, member)
			entries = append(entries, entry.String())
		}
		writeSorted(text, entries)
	default:
		plain, _ := json.Marshal(value)
		text.Write(plain)
	}
}
