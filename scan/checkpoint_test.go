package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn/log"
)

const checkpointSchema = `{"type":"struct","fields":[` +
	`{"name":"p","type":"string","nullable":true,"metadata":{}},{"name":"n","type":"long","nullable":true,"metadata":{}},` +
	`{"name":"t","type":"timestamp","nullable":true,"metadata":{}},{"name":"u","type":"timestamp_ntz","nullable":true,"metadata":{}},` +
	`{"name":"c","type":"decimal(38,18)","nullable":true,"metadata":{}},{"name":"d","type":"date","nullable":true,"metadata":{}},` +
	`{"name":"f","type":"double","nullable":true,"metadata":{}},` +
	`{"name":"s","type":{"type":"struct","fields":[{"name":"a b","type":"string","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]}`

// writeCheckpoint makes a table whose log is one checkpoint, by SQL that selects its columns, and opens it.
func writeCheckpoint(t *testing.T, in *duck.Instance, folder, name, sql string) *log.Table {
	t.Helper()
	logFolder := filepath.Join(folder, protocol.LogFolder)
	if err := os.MkdirAll(logFolder, 0o777); err != nil {
		t.Fatal(err)
	}
	copySQL := "COPY (" + sql + ") TO " + duck.QuoteString(filepath.Join(logFolder, name)) + " (FORMAT parquet, ROW_GROUP_SIZE 2048)"
	if err := in.Exec(context.Background(), copySQL); err != nil {
		t.Fatal(err)
	}
	return openTable(t, in, folder)
}

// checkpointRows is a SELECT of protocol, metaData and adds; the adds are SQL for structs, the map type of metaData is given.
func checkpointRows(mapSQL func(entries ...string) string, adds ...string) string {
	protocolRow := "{'minReaderVersion': 1, 'minWriterVersion': 2}"
	metadataRow := "{'id': 'one', 'schemaString': " + duck.QuoteString(checkpointSchema) + ", 'partitionColumns': ['p'], 'configuration': " +
		mapSQL("k", "v") + ", 'format': {'provider': 'parquet', 'options': " + mapSQL() + "}}"
	rows := []string{
		"SELECT " + protocolRow + " AS protocol, NULL AS metaData, NULL AS add",
		"SELECT NULL, " + metadataRow + ", NULL",
	}
	for _, add := range adds {
		rows = append(rows, "SELECT NULL, NULL, "+add)
	}
	return strings.Join(rows, " UNION ALL ")
}

func realMap(entries ...string) string {
	if len(entries) == 0 {
		return "map([]::VARCHAR[], []::VARCHAR[])"
	}
	return "map(['" + entries[0] + "'], ['" + entries[1] + "'])"
}

// listedMap is a map as its group reads without an annotation.
func listedMap(entries ...string) string {
	if len(entries) == 0 {
		return "{'entries': []::STRUCT(k VARCHAR, v VARCHAR)[]}"
	}
	return "{'entries': [{'k': '" + entries[0] + "', 'v': '" + entries[1] + "'}]}"
}

// Bugs LR-01 and LR-02: foreign names for the children of maps, no optional members.
func TestForeignCheckpointShapes(t *testing.T) {
	in := openInstance(t)
	for name, mapSQL := range map[string]func(...string) string{"maps": realMap, "unannotated maps": listedMap} {
		t.Run(name, func(t *testing.T) {
			add := func(path string) string {
				return "{'path': '" + path + "', 'partitionValues': " + mapSQL("p", "x'y") + ", 'size': 10, 'modificationTime': 5, 'dataChange': true}"
			}
			add2 := strings.ReplaceAll(add("b"), "x'y", "z")
			sql := checkpointRows(mapSQL, strings.ReplaceAll(add("a"), "x'y", "x"), add2)
			table := writeCheckpoint(t, in, filepath.Join(t.TempDir(), "odd [name] *?"), protocol.CheckpointName(3), sql)
			snapshot, err := table.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			files := snapshot.Files()
			var got []string
			for i := range files.Len() {
				value, _ := files.PartitionValue(i, "p")
				got = append(got, fmt.Sprintf("%s p=%s %d", files.Path(i), value, files.Size(i)))
			}
			slices.Sort(got)
			if want := []string{"a p=x 10", "b p=z 10"}; !slices.Equal(got, want) || snapshot.Version() != 3 {
				t.Errorf("version %d: %q", snapshot.Version(), got)
			}
			if snapshot.Config().Metadata.Configuration["k"] != "v" {
				t.Errorf("configuration %v", snapshot.Config().Metadata.Configuration)
			}
		})
	}
}

// Struct statistics stand in where there is no JSON, and give the same bounds.
func TestStructStatisticsAreReadable(t *testing.T) {
	in := openInstance(t)
	instant := "TIMESTAMPTZ '%s+00'"
	bounds := func(n int, when string, c, f string) string {
		return fmt.Sprintf("{'n': %d::BIGINT, 't': "+instant+", 'u': TIMESTAMP '%s', 'c': %s::DECIMAL(38,18), 'd': DATE '2020-01-0%d', 'f': %s::DOUBLE, 's': {'a b': 'x%d'}, 'blob': 'a'::BLOB}",
			n, when, when, c, n, f, n)
	}
	parsed := func() string {
		return "{'numRecords': 4::BIGINT, 'minValues': " + bounds(1, "2020-01-01 00:00:00.001", "'-12345678901234567890.000000000000000001'", "'-inf'") +
			", 'maxValues': " + bounds(9, "2020-01-02 03:04:05.678", "'12345678901234567890.123456789012345678'", "'nan'") +
			", 'nullCount': {'n': 0::BIGINT, 's': {'a b': 1::BIGINT}}, 'tightBounds': true}"
	}
	add := func(path, json, parsed string) string {
		return "{'path': '" + path + "', 'partitionValues': " + realMap("p", "x") + ", 'size': 10, 'modificationTime': 5, 'dataChange': true, 'stats': " + json +
			", 'stats_parsed': " + parsed + ", 'tags': map(['k'], ['v'])}"
	}
	withZone := parsed()
	instant = "TIMESTAMP '%s'" // as INT96 reads
	for _, c := range []struct {
		name string
		adds []string
	}{
		{"instants with their annotation", []string{add("a", "NULL::VARCHAR", withZone)}},
		{"no JSON at all", []string{add("a", "NULL::VARCHAR", parsed())}},
		{"JSON for some", []string{add("a", "NULL::VARCHAR", parsed()), add("b", `'{"numRecords":4,"minValues":{"n":5},"maxValues":{"n":6}}'`, "NULL")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := writeCheckpoint(t, in, t.TempDir(), protocol.CheckpointName(3), checkpointRows(realMap, c.adds...))
			snapshot, err := table.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			files := snapshot.Files()
			for i := range files.Len() {
				if n, ok := files.NumRecords(i); !ok || n != 4 {
					t.Errorf("%s: %d records (%s)", files.Path(i), n, files.RawStats(i))
				}
				if files.Tags(i)["k"] != "v" {
					t.Errorf("tags %v", files.Tags(i))
				}
			}
			keeps := func(column string, op stats.Op, value protocol.Value, path ...protocol.PhysicalName) int {
				for i, field := range snapshot.Config().Schema.Fields {
					if string(field.Name) != column {
						continue
					}
					leaf := stats.Leaf{Path: append([]protocol.PhysicalName{snapshot.Config().PhysicalName(i)}, path...), Type: field.Type}
					if len(path) > 0 {
						leaf.Type = field.Type.Fields[0].Type
					}
					kept := 0
					for _, file := range snapshot.Stats().Prune(stats.Compare{Leaf: leaf, Op: op, Value: value}).Keep {
						if files.Path(int(file)) == "a" {
							kept++
						}
					}
					return kept
				}
				t.Fatal("no column", column)
				return 0
			}
			const day = 86_400_000_000
			twentieth := int64(18262) * day // 2020-01-01
			decimal, ok := protocol.ParseInt128Decimal("12345678901234567890.123456789012345678", 18)
			if !ok {
				t.Fatal("no decimal")
			}
			above := decimal
			above.Lo++
			for _, p := range []struct {
				what string
				kept int
				got  int
			}{
				{"n = 9", 1, keeps("n", stats.Equal, protocol.Value{Kind: protocol.KindLong, Int: 9})},
				{"n = 10", 0, keeps("n", stats.Equal, protocol.Value{Kind: protocol.KindLong, Int: 10})},
				{"t in", 1, keeps("t", stats.Less, protocol.Value{Kind: protocol.KindTimestamp, Int: twentieth + 1001})},
				{"t below", 0, keeps("t", stats.Less, protocol.Value{Kind: protocol.KindTimestamp, Int: twentieth + 1000})},
				{"u below", 0, keeps("u", stats.Less, protocol.Value{Kind: protocol.KindTimestampNTZ, Int: twentieth + 1000})},
				{"u in", 1, keeps("u", stats.Less, protocol.Value{Kind: protocol.KindTimestampNTZ, Int: twentieth + 1001})},
				{"c at its bound", 1, keeps("c", stats.GreaterOrEqual, protocol.Value{Kind: protocol.KindDecimal, Dec: decimal, Scale: 18})},
				{"c above", 0, keeps("c", stats.GreaterOrEqual, protocol.Value{Kind: protocol.KindDecimal, Dec: above, Scale: 18})},
				{"d above", 0, keeps("d", stats.Greater, protocol.Value{Kind: protocol.KindDate, Int: 18262 + 8})},
				{"f is NaN at most", 1, keeps("f", stats.Greater, protocol.Value{Kind: protocol.KindDouble, Float: 1e308})},
				{"s.a b above", 0, keeps("s", stats.Greater, protocol.Value{Kind: protocol.KindString, Str: "x9"}, "a b")},
				{"s.a b in", 1, keeps("s", stats.Equal, protocol.Value{Kind: protocol.KindString, Str: "x3"}, "a b")},
			} {
				if p.got != p.kept {
					t.Errorf("%s: %d of file a kept, want %d; statistics %s", p.what, p.got, p.kept, files.RawStats(0))
				}
			}
		})
	}
}

// A checkpoint cut off anywhere is passed over while the commits are there, and named where they are not.
func TestTruncatedCheckpointIsPassedOver(t *testing.T) {
	in := openInstance(t)
	folder := t.TempDir()
	add := "{'path': 'a', 'partitionValues': " + realMap("p", "x") + ", 'size': 10, 'modificationTime': 5, 'dataChange': true}"
	table := writeCheckpoint(t, in, folder, protocol.CheckpointName(0), checkpointRows(realMap, add))
	if _, err := table.Snapshot(context.Background()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, protocol.LogFolder, protocol.CheckpointName(0))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commit := `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"one","format":{"provider":"parquet","options":{}},"schemaString":` + fmt.Sprintf("%q", checkpointSchema) + `,"partitionColumns":["p"],"configuration":{}}}
{"add":{"path":"b","partitionValues":{"p":"x"},"size":10,"modificationTime":5,"dataChange":true}}
`
	for _, length := range []int{1, 4, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:length], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := openTable(t, in, folder).Snapshot(context.Background())
		if protocol.ClassOf(err) != "DELTA_INVALID_LOG_FILE" || !strings.Contains(err.Error(), protocol.CheckpointName(0)) {
			t.Errorf("%d of %d bytes: %v", length, len(whole), err)
		}
		commitPath := filepath.Join(folder, protocol.LogFolder, protocol.CommitName(0))
		if err := os.WriteFile(commitPath, []byte(commit), 0o666); err != nil {
			t.Fatal(err)
		}
		snapshot, err := openTable(t, in, folder).Snapshot(context.Background())
		if err != nil || snapshot.Files().Path(0) != "b" {
			t.Errorf("%d of %d bytes, with the commit: %v", length, len(whole), err)
		}
		if err := os.Remove(commitPath); err != nil {
			t.Fatal(err)
		}
	}
}
