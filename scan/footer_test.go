package scan

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

// TestSchemaOfFooter: a schema is found whatever its length, is the same for files of the same columns alone, and damage gives none.
func TestSchemaOfFooter(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"long"`), nil, nil)
	wide := make([]string, 1500) // its footer is longer than what is read at first
	for i := range wide {
		wide[i] = fmt.Sprintf("%d AS a_column_with_quite_a_name_%d", i, i)
	}
	queries := map[string]string{
		"long":   "SELECT range AS id FROM range(3)",
		"again":  "SELECT range AS id FROM range(7, 5000)",
		"int":    "SELECT 7::INTEGER AS id",
		"nested": "SELECT [{'x': DATE '2024-01-01', 'y': MAP {'k': 1.5::DECIMAL(5,2)}, 'z': TIMESTAMP_NS '2024-01-01'}] AS id, true AS b, ''::BLOB AS c",
		"wide":   "SELECT " + strings.Join(wide, ", "),
	}
	found := map[string]string{}
	buffer := make([]byte, footerGuess)
	for name, query := range queries {
		table.write(name+".parquet", query, "")
		schema, err := readSchema(filepath.Join(table.dir, name+".parquet"), &buffer)
		if err != nil || len(schema) == 0 {
			t.Fatalf("%s: %q, %v", name, schema, err)
		}
		found[name] = string(schema)
	}
	for name := range queries {
		if same := found[name] == found["long"]; same != (name == "long" || name == "again") {
			t.Errorf("the schema of %s is that of long: %v", name, same)
		}
	}
	data, err := os.ReadFile(filepath.Join(table.dir, "nested.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	footer := data[len(data)-8-length : len(data)-8]
	end := strings.Index(string(footer), found["nested"]) + len(found["nested"])
	for n := range end { // no cut footer gives a schema, and none a panic
		if schema, err := schemaOf(footer[:n]); err == nil {
			t.Fatalf("%d bytes of a footer give a schema of %d", n, len(schema))
		}
	}
	for i := range footer {
		changed := append([]byte(nil), footer...)
		for _, b := range []byte{0, 0x0c, 0x7f, 0x80, 0xff} {
			changed[i] = b
			_, _ = schemaOf(changed)
		}
	}
	for name, damaged := range map[string][]byte{"empty": {}, "short": []byte("PAR1"), "mark": append(data[:len(data)-1:len(data)-1], 'E'), "length": []byte("PAR1\xff\xff\xff\x7fPAR1")} {
		path := filepath.Join(table.dir, name)
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if schema, err := readSchema(path, &buffer); err == nil {
			t.Errorf("%s: a schema of %d bytes", name, len(schema))
		}
	}
}

// TestManyShapes: where files are not told apart for DuckDB's estimates, each is still compared with the table.
func TestManyShapes(t *testing.T) {
	in := openInstance(t)
	const n = maxShapesForEstimate + 4
	var fields, names, adds []string
	for k := range n {
		names = append(names, fmt.Sprintf("c%d", k))
		fields = append(fields, field(names[k], `"long"`))
	}
	table := newTable(t, in, strings.Join(fields, ","), nil, nil)
	for k := range n {
		file := fmt.Sprintf("f%d.parquet", k)
		table.write(file, fmt.Sprintf("SELECT %d::INTEGER AS %s", k, names[k]), "")
		adds = append(adds, add(file, "", ""))
	}
	table.commit(adds...)
	relation, err := table.relation(nil, names...)
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	if relation.Report.Branches != 1 {
		t.Errorf("%d branches", relation.Report.Branches)
	}
	if got, want := query(t, in, relation, "sum(c1), sum(c19), count(c3), count(*)", ""), "[1, 19, 1, 20]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	table.write("odd.parquet", "SELECT 1.5 AS c3", "")
	table.commit(add("odd.parquet", "", ""))
	if _, err := table.relation(nil, names...); protocol.ClassOf(err) != "DELTA_FAILED_TO_READ_FILE" {
		t.Errorf("a file of decimals: %v", err)
	}
	if got := table.rows("count(c0)", "", "c4"); got != "[1]" {
		t.Errorf("without the column: %s", got)
	}
}

// TestManyFilesAreCompared: more files than are looked at for estimates.
func TestManyFilesAreCompared(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"long"`), nil, nil)
	table.write("f0.parquet", "SELECT 1::BIGINT AS id", "")
	adds := []string{add("f0.parquet", "", "")}
	for k := 1; k <= maxFilesForEstimate; k++ {
		name := fmt.Sprintf("f%d.parquet", k)
		if err := os.Link(filepath.Join(table.dir, "f0.parquet"), filepath.Join(table.dir, name)); err != nil {
			t.Skip(err)
		}
		adds = append(adds, add(name, "", ""))
	}
	table.commit(adds...)
	relation, err := table.relation(nil, "id")
	if err != nil {
		t.Fatal(err)
	}
	relation.Release()
	table.write("odd.parquet", "SELECT true AS id", "")
	table.commit(add("odd.parquet", "", ""))
	_, err = table.relation(nil, "id")
	if protocol.ClassOf(err) != "DELTA_FAILED_TO_READ_FILE" || !strings.Contains(err.Error(), "odd.parquet") {
		t.Errorf("a boolean among many files: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := readSchemas(ctx, []*dataFile{{local: filepath.Join(table.dir, "f0.parquet")}}); err != context.Canceled {
		t.Errorf("after a cancel: %v", err)
	}
}
