package log

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// fakeParquet answers the package's queries from tables in memory, by path; a path without one is a damaged file.
type fakeParquet struct {
	files   map[string]fakeFile
	queries []string
}

// fakeFile is a checkpoint: its non-file actions by kind as JSON, the paths of its adds, and more members of add's type.
type fakeFile struct {
	singles    map[string][]string
	adds       []string
	addMembers string
}

// fakeBatch is rows of string, int64 or nil.
type fakeBatch [][]any

func (b fakeBatch) Len() int { return len(b) }

func (b fakeBatch) Bytes(column, row int) ([]byte, bool) {
	text, ok := b[row][column].(string)
	return []byte(text), ok
}

func (b fakeBatch) Int64(column, row int) (int64, bool) {
	value, ok := b[row][column].(int64)
	return value, ok
}

func (p *fakeParquet) Query(_ context.Context, sql string, _ []any, each func(Batch) error) error {
	p.queries = append(p.queries, sql)
	var files []fakeFile
	for _, path := range strings.Split(sql, "'") {
		if !strings.HasSuffix(path, ".parquet") {
			continue
		}
		file, ok := p.files[path]
		if !ok {
			return errors.New("Invalid Input Error: no magic bytes found at end of file")
		}
		files = append(files, file)
	}
	switch {
	case strings.Contains(sql, "DESCRIBE"):
		return each(fakeBatch{
			{"protocol", "STRUCT(minReaderVersion INTEGER)"}, {"metaData", "STRUCT(id VARCHAR)"},
			{"sidecar", "STRUCT(path VARCHAR)"}, {"add", "STRUCT(path VARCHAR" + files[0].addMembers + ")"},
		})
	case strings.Contains(sql, "parquet_metadata"):
		return nil
	case strings.Contains(sql, `"protocol"`):
		kinds := []string{"protocol", "metaData", "sidecar"}
		for _, file := range files {
			for i, kind := range kinds {
				for _, text := range file.singles[kind] {
					row := make([]any, len(kinds))
					row[i] = text
					if err := each(fakeBatch{row}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	for _, file := range files {
		for _, path := range file.adds {
			row := make([]any, addColumns)
			row[addPath], row[addSize] = path, int64(10)
			if err := each(fakeBatch{row}); err != nil {
				return err
			}
		}
	}
	return nil
}

// tableRows are the protocol and metadata of a fake checkpoint.
func tableRows(sidecars ...string) map[string][]string {
	metadata := strings.TrimSuffix(strings.TrimPrefix(metadataLine("one", nil), `{"metaData":`), "}")
	rows := map[string][]string{
		"protocol": {`{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}`},
		"metaData": {metadata},
	}
	for _, sidecar := range sidecars {
		rows["sidecar"] = append(rows["sidecar"], fmt.Sprintf(`{"path":%q,"sizeInBytes":1,"modificationTime":1}`, sidecar))
	}
	return rows
}

const (
	uuidA = "80a083e8-7026-4e79-81be-64bd76c43a11"
	uuidB = "016ae953-37a9-438e-8683-9a9a4a79a395"
)

func checkpointPath(name string) string { return "/" + logFolder + longName(name) }

// Protocol digest 10.8, 142 and 143; bugs LR-04 and LR-05.
func TestStartsAtTheBestCheckpoint(t *testing.T) {
	commits := "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n-- 2.json --\nadd c\n-- 3.json --\nremove a\n-- 4.json --\nadd d\n"
	const all = "b c d"
	atTwo := fakeFile{singles: tableRows(), adds: []string{"a", "b", "c"}}
	atThree := fakeFile{singles: tableRows(), adds: []string{"b", "c"}}
	for _, c := range []struct {
		name, log string
		files     map[string]fakeFile
		starts    string // the first file of the segment
	}{
		{"none", "", nil, "0.json"},
		{"one file", "-- 2.checkpoint.parquet --\nPAR1\n", map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"newest", "-- 2.checkpoint.parquet --\nPAR1\n-- 3.checkpoint.parquet --\nPAR1\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo, "3.checkpoint.parquet": atThree}, "3.checkpoint.parquet"},
		{"newer than the hint", "-- 2.checkpoint.parquet --\nPAR1\n-- 3.checkpoint.parquet --\nPAR1\n-- _last_checkpoint --\n{\"version\":2,\"size\":5}\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo, "3.checkpoint.parquet": atThree}, "3.checkpoint.parquet"},
		{"newest without a byte", "-- 2.checkpoint.parquet --\nPAR1\n-- 3.checkpoint.parquet --\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"newest damaged", "-- 2.checkpoint.parquet --\nPAR1\n-- 3.checkpoint.parquet --\nPAR1 broken\n-- _last_checkpoint --\n{\"version\":3,\"size\":5}\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"only one, damaged", "-- 3.checkpoint.parquet --\nPAR1 broken\n", nil, "0.json"},
		{"all parts", "-- 2.checkpoint.0000000001.0000000002.parquet --\nP\n-- 2.checkpoint.0000000002.0000000002.parquet --\nP\n",
			map[string]fakeFile{
				"2.checkpoint.0000000001.0000000002.parquet": {singles: tableRows(), adds: []string{"a"}},
				"2.checkpoint.0000000002.0000000002.parquet": {singles: tableRows(), adds: []string{"b", "c"}},
			}, "2.checkpoint.0000000001.0000000002.parquet"},
		{"a part missing", "-- 3.checkpoint.0000000001.0000000002.parquet --\nP\n-- 2.checkpoint.parquet --\nPAR1\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"a part without a byte", "-- 3.checkpoint.0000000001.0000000002.parquet --\nP\n-- 3.checkpoint.0000000002.0000000002.parquet --\n", nil, "0.json"},
		{"V2 in JSON, files inside", "-- 2.checkpoint." + uuidA + ".json --\n{\"checkpointMetadata\":{\"version\":2}}\ntable\nadd a\nadd b\nadd c\nremove z\n",
			nil, "2.checkpoint." + uuidA + ".json"},
		{"V2 in JSON with sidecars", "-- 2.checkpoint." + uuidA + ".json --\n{\"checkpointMetadata\":{\"version\":2}}\ntable\n" +
			`{"sidecar":{"path":"s%201.parquet","sizeInBytes":1,"modificationTime":1}}` + "\n" +
			`{"sidecar":{"path":"file:///elsewhere/_delta_log/_sidecars/s2.parquet","sizeInBytes":1,"modificationTime":1}}` + "\n" +
			"-- _sidecars/s 1.parquet --\nP\n-- _sidecars/s2.parquet --\nP\n",
			map[string]fakeFile{"_sidecars/s 1.parquet": {adds: []string{"a"}}, "_sidecars/s2.parquet": {adds: []string{"b", "c"}}}, "2.checkpoint." + uuidA + ".json"},
		{"V2 in Parquet with a sidecar", "-- 2.checkpoint." + uuidB + ".parquet --\nP\n-- _sidecars/s.parquet --\nP\n",
			map[string]fakeFile{"2.checkpoint." + uuidB + ".parquet": {singles: tableRows("s.parquet")}, "_sidecars/s.parquet": {adds: []string{"a", "b", "c"}}},
			"2.checkpoint." + uuidB + ".parquet"},
		{"V2 under the classic name", "-- 2.checkpoint.parquet --\nP\n-- _sidecars/s.parquet --\nP\n",
			map[string]fakeFile{"2.checkpoint.parquet": {singles: tableRows("s.parquet")}, "_sidecars/s.parquet": {adds: []string{"a", "b", "c"}}},
			"2.checkpoint.parquet"},
		{"hint of no bytes", "-- 2.checkpoint.parquet --\nP\n-- _last_checkpoint --\n", map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"hint cut off", "-- 2.checkpoint.parquet --\nP\n-- _last_checkpoint --\n{\"version\":2", map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"hint with a wrong checksum", "-- 2.checkpoint.parquet --\nP\n-- _last_checkpoint --\n{\"version\":999,\"size\":1,\"checksum\":\"00000000000000000000000000000000\"}\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"hint beyond the log", "-- 2.checkpoint.parquet --\nP\n-- _last_checkpoint --\n{\"version\":999,\"size\":1,\"unknown\":[1]}\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"hint of a checkpoint that is gone", "-- 2.checkpoint.parquet --\nP\n-- _last_checkpoint --\n{\"version\":4,\"size\":1}\n",
			map[string]fakeFile{"2.checkpoint.parquet": atTwo}, "2.checkpoint.parquet"},
		{"repeated rows", "-- 2.checkpoint.parquet --\nP\n", map[string]fakeFile{"2.checkpoint.parquet": {singles: tableRows(), adds: []string{"a", "b", "a", "c", "c"}}},
			"2.checkpoint.parquet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newLog(t, commits+c.log)
			parquet := &fakeParquet{files: map[string]fakeFile{}}
			for name, file := range c.files {
				parquet.files[checkpointPath(name)] = file
			}
			table := OpenTable(dir, "t", parquet)
			snapshot := mustSnapshot(t, table)
			if snapshot.Version() != 4 || live(snapshot) != all {
				t.Errorf("version %d: %q", snapshot.Version(), live(snapshot))
			}
			if warnings := snapshot.Warnings(); strings.HasSuffix(c.name, "damaged") != (len(warnings) == 1 && strings.Contains(warnings[0], "3.checkpoint.parquet")) {
				t.Errorf("warnings %q", warnings)
			}
			if files := snapshot.Segment().Files(); files[0] != logFolder+longName(c.starts) {
				t.Errorf("made from %q", files)
			}
			for version, want := range []string{"a", "a b", "a b c", "b c", "b c d"} {
				old, err := table.SnapshotAt(context.Background(), int64(version))
				if err != nil || live(old) != want {
					t.Errorf("version %d: %v", version, err)
				}
			}
		})
	}
}

func TestListsFromTheHint(t *testing.T) {
	dir := newLog(t, "-- 7.json --\nadd x\n-- 8.json --\nadd c\n-- 7.checkpoint.parquet --\nP\n-- _last_checkpoint --\n{\"version\":7,\"size\":3}\n")
	parquet := &fakeParquet{files: map[string]fakeFile{checkpointPath("7.checkpoint.parquet"): {singles: tableRows(), adds: []string{"a"}}}}
	table := OpenTable(dir, "t", parquet)
	if snapshot := mustSnapshot(t, table); live(snapshot) != "a c" {
		t.Errorf("files %q", live(snapshot))
	}
	for version, class := range map[int64]protocol.Class{6: "DELTA_VERSION_NOT_FOUND", 9: "DELTA_VERSION_NOT_FOUND"} {
		if _, err := table.SnapshotAt(context.Background(), version); protocol.ClassOf(err) != class || !strings.Contains(err.Error(), "[7, 8]") {
			t.Errorf("version %d: %v", version, err)
		}
	}
	if version, err := table.VersionAt(context.Background(), 1_700_000_001_000, TimeLookup{}); err != nil || version != 7 {
		t.Errorf("version %d: %v", version, err)
	}
}

func TestDamagedCheckpointWithoutReplacementIsNamed(t *testing.T) {
	dir := newLog(t, "-- 8.json --\nadd c\n-- 7.checkpoint.parquet --\nP\n")
	_, err := OpenTable(dir, "t", &fakeParquet{}).Snapshot(context.Background())
	if protocol.ClassOf(err) != "DELTA_INVALID_LOG_FILE" || !strings.Contains(err.Error(), "00000000000000000007.checkpoint.parquet") || !strings.Contains(err.Error(), "magic bytes") {
		t.Error(err)
	}
}

// Bugs LR-13: a sidecar that is gone is never made good by the commits.
func TestMissingSidecarIsNamed(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n-- 1.checkpoint."+uuidA+".json --\n"+
		"{\"checkpointMetadata\":{\"version\":1}}\ntable\n{\"sidecar\":{\"path\":\"gone.parquet\",\"sizeInBytes\":1,\"modificationTime\":1}}\n")
	_, err := OpenTable(dir, "t", &fakeParquet{}).Snapshot(context.Background())
	if protocol.ClassOf(err) != "DELTA_LOG_FILE_NOT_FOUND" || !strings.Contains(err.Error(), "_sidecars/gone.parquet") {
		t.Error(err)
	}
}

// Files of one checkpoint may have different columns: each is read with its own.
func TestSidecarsWithDifferentColumns(t *testing.T) {
	vectors := ", deletionVector STRUCT(storageType VARCHAR)"
	dir := newLog(t, "-- 1.json --\nadd d\n-- 1.checkpoint.parquet --\nP\n-- _sidecars/old.parquet --\nP\n-- _sidecars/new.parquet --\nP\n-- _sidecars/older.parquet --\nP\n")
	parquet := &fakeParquet{files: map[string]fakeFile{
		checkpointPath("1.checkpoint.parquet"):    {singles: tableRows("old.parquet", "new.parquet", "older.parquet")},
		checkpointPath("_sidecars/old.parquet"):   {adds: []string{"a"}},
		checkpointPath("_sidecars/new.parquet"):   {adds: []string{"b"}, addMembers: vectors},
		checkpointPath("_sidecars/older.parquet"): {adds: []string{"c"}},
	}}
	if snapshot := mustSnapshot(t, OpenTable(dir, "t", parquet)); live(snapshot) != "a b c" {
		t.Errorf("files %q", live(snapshot))
	}
	for _, sql := range parquet.queries {
		if !strings.HasPrefix(sql, "SELECT CAST(struct_extract(") || !strings.Contains(sql, "_sidecars") {
			continue
		}
		isNew := strings.Contains(sql, "new.parquet")
		if isNew == strings.Contains(sql, "old.parquet") || isNew != strings.Contains(sql, "'storageType'") {
			t.Errorf("query %s", sql)
		}
	}
}

func TestCancelledCheckpointReadIsNoDamage(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\n-- 0.checkpoint.parquet --\nP\n")
	_, err := OpenTable(dir, "t", failingParquet{context.Canceled}).Snapshot(context.Background())
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = OpenTable(dir, "t", failingParquet{protocol.NewError("DELTASQL_OUT_OF_MEMORY", "full")}).Snapshot(context.Background())
	if protocol.ClassOf(err) != "DELTASQL_OUT_OF_MEMORY" {
		t.Error(err)
	}
}

type failingParquet struct{ err error }

func (p failingParquet) Query(context.Context, string, []any, func(Batch) error) error { return p.err }

func TestParseDuckType(t *testing.T) {
	text := `STRUCT(path VARCHAR, "a ""b"", (c)" MAP(VARCHAR, STRUCT(x DECIMAL(38,18), y TIMESTAMP WITH TIME ZONE[])), e ENUM('a)', 'b'), f INTEGER[3][])`
	parsed, err := parseDuckType(text)
	if err != nil {
		t.Fatal(err)
	}
	inner := parsed.field(`a "b", (c)`)
	if inner == nil || inner.name != "MAP" || inner.value.field("x").name != "DECIMAL" || inner.value.field("y").name != "LIST" ||
		inner.value.field("y").value.name != "TIMESTAMP WITH TIME ZONE" || parsed.field("e").name != "ENUM" || parsed.field("f").value.value.name != "INTEGER" {
		t.Errorf("parsed %+v", parsed)
	}
	for _, bad := range []string{"", "STRUCT(", "STRUCT(a", "STRUCT(a VARCHAR", "MAP(VARCHAR)", "INTEGER[", "DECIMAL(1", "VARCHAR)", `STRUCT("a VARCHAR)`,
		strings.Repeat("STRUCT(a ", maxTypeDepth+2)} {
		if _, err := parseDuckType(bad); err == nil {
			t.Errorf("%.40q was accepted", bad)
		}
	}
}

func TestFileListsHaveNoWildcards(t *testing.T) {
	if got := fileList([]string{"/a'b/[x]*?.parquet", "c"}); got != `['/a''b/[[]x][*][?].parquet', 'c']` {
		t.Error(got)
	}
}

func TestFooters(t *testing.T) {
	f := footers{
		"add, path": {1, 10, true}, "add, stats": {1, 10, true},
		"add, tags, key_value, key": {10, 10, true}, "add, tags, key_value, value": {10, 10, true},
		"add, deletionVector, offset": {10, 10, true}, "add, deletionVector, cardinality": {9, 10, true},
	}
	got := []bool{f.completeStats(), f.allNull("add, tags"), f.allNull("add, deletionVector"), f.allNull("add, baseRowId"), f.allNull("add, tag")}
	if want := []bool{true, true, false, false, false}; !slices.Equal(got, want) || f.adds() != 9 {
		t.Errorf("%v, want %v; %d adds", got, want, f.adds())
	}
	// What some row group does not record is not known, and all leaves of a member count.
	f["add, path"], f["add, stats"] = leafCounts{0, 0, false}, leafCounts{0, 0, false}
	f["add, deletionVector, cardinality"] = leafCounts{10, 10, false}
	if f.completeStats() || f.allNull("add, deletionVector") || f.adds() != 0 {
		t.Errorf("of unknown counts: %v %v %d", f.completeStats(), f.allNull("add, deletionVector"), f.adds())
	}
}
