package log

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// logDir is a table in memory whose log a test writes line by line.
type logDir struct {
	*store.Memory
	t   testing.TB
	now time.Time
}

// newLog makes a table from files in the form of a txtar archive: "-- name --" lines, each followed by the content.
// Names are relative to _delta_log; "v.json" stands for the commit of version v, and so for other names with versions.
func newLog(t testing.TB, archive string) *logDir {
	t.Helper()
	dir := &logDir{t: t, now: time.UnixMilli(1_700_000_000_000)}
	dir.Memory = store.NewMemory(func() time.Time { return dir.now })
	dir.write(archive)
	return dir
}

// write adds files; each is a second later than the one before.
func (d *logDir) write(archive string) {
	d.t.Helper()
	for _, part := range strings.Split(archive, "-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		d.now = d.now.Add(time.Second)
		if err := d.Put(context.Background(), logFolder+longName(name), []byte(d.expand(content))); err != nil {
			d.t.Fatal(err)
		}
	}
}

// longName pads the versions that a short name starts with.
func longName(name string) string {
	fields := strings.Split(name, ".")
	for i, field := range fields {
		var version int64
		if n, _ := fmt.Sscanf(field, "%d", &version); n != 1 || fmt.Sprint(version) != field {
			break
		}
		fields[i] = protocol.VersionName(version)
	}
	return strings.Join(fields, ".")
}

// expand replaces short forms of actions by JSON: "table [id]", "add path [vector]", "remove path [vector]".
func (d *logDir) expand(content string) string {
	var out strings.Builder
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "{") {
			out.WriteString(line)
			continue
		}
		vector := ""
		if len(fields) > 2 {
			vector = `,"deletionVector":{"storageType":"i","pathOrInlineDv":"` + fields[2] + `","sizeInBytes":4,"cardinality":1}`
		}
		switch fields[0] {
		case "table":
			id := "one"
			if len(fields) > 1 {
				id = fields[1]
			}
			out.WriteString(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors","v2Checkpoint"],"writerFeatures":["deletionVectors","v2Checkpoint","inCommitTimestamp","domainMetadata"]}}` + "\n")
			out.WriteString(metadataLine(id, nil) + "\n")
		case "add":
			fmt.Fprintf(&out, `{"add":{"path":%q,"partitionValues":{},"size":10,"modificationTime":1,"dataChange":true%s}}`+"\n", fields[1], vector)
		case "remove":
			fmt.Fprintf(&out, `{"remove":{"path":%q,"dataChange":true%s}}`+"\n", fields[1], vector)
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

func metadataLine(id string, configuration map[string]string) string {
	var entries []string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range configuration {
			if !yield(name) {
				return
			}
		}
	}) {
		entries = append(entries, fmt.Sprintf("%q:%q", name, configuration[name]))
	}
	return fmt.Sprintf(`{"metaData":{"id":%q,"format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{%s}}}`,
		id, strings.Join(entries, ","))
}

// Locate makes the fake Parquet port possible.
func (d *logDir) Locate(_ context.Context, name string) (string, error) { return "/" + name, nil }

func (d *logDir) open() *Table { return OpenTable(d, "t", nil) }

// live lists a snapshot's files as "path" or "path/vector".
func live(s *Snapshot) string {
	var out []string
	for i := range s.Files().Len() {
		name := s.Files().Path(i)
		if vector := s.Files().DeletionVector(i); vector != nil {
			name += "/" + vector.PathOrInline
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func mustSnapshot(t testing.TB, table *Table) *Snapshot {
	t.Helper()
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func TestReplayReconcilesActions(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"adds stay", "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n", "a b"},
		{"remove ends a file", "-- 0.json --\ntable\nadd a\nadd b\n-- 1.json --\nremove a\n", "b"},
		{"re-added after removal", "-- 0.json --\ntable\nadd a\n-- 1.json --\nremove a\n-- 2.json --\nadd a\n", "a"},
		{"the same key again is new metadata", "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd a\n", "a"},
		{"a vector is part of the key", "-- 0.json --\ntable\nadd f\n-- 1.json --\nremove f\nadd f v4\n-- 2.json --\nremove f v4\nadd f v48\n", "f/v48"},
		// Bugs LR-07: an invalid log, in which the second delete forgot the vector; both entries stay, as in Spark.
		{"removal without the vector misses", "-- 0.json --\ntable\nadd f\n-- 1.json --\nremove f\nadd f v4\n-- 2.json --\nremove f\nadd f v48\n", "f/v4 f/v48"},
		{"order in a commit has no meaning", "-- 0.json --\ntable\nadd f\n-- 1.json --\nadd f v1\nremove f\n", "f/v1"},
		{"spellings of one path", "-- 0.json --\ntable\nadd p=a%20b/x\nadd file:/r/y\nadd s//z\n-- 1.json --\nremove p=a%20b/x\nremove file:///r/y\nremove s/z\nadd q%41\n-- 2.json --\nremove qA\n", ""},
		{"removal of an unknown file", "-- 0.json --\ntable\nremove gone\nadd a\n", "a"},
		{"unknown actions and fields", "-- 0.json --\ntable\n" + `{"futureThing":{"x":1}}` + "\n" +
			`{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"zzz":true}}` + "\n", "a"},
		{"blank lines and a byte order mark", "-- 0.json --\n" + "\ufeff{\"commitInfo\":{}}\n\ntable\n\r\nadd a\n\n", "a"},
		{"indented JSON", "-- 0.json --\ntable\n{\n \"add\": {\n  \"path\": \"a\",\n  \"partitionValues\": {}, \"size\": 1, \"modificationTime\": 1,\n  \"dataChange\": true\n }\n}\n", "a"},
		{"added and removed: the later line counts", "-- 0.json --\ntable\nadd a\nadd b\n-- 1.json --\nremove a\nadd a\nadd b\nremove b\n", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			snapshot := mustSnapshot(t, newLog(t, c.log).open())
			if got := live(snapshot); got != c.want {
				t.Errorf("files %q, want %q", got, c.want)
			}
		})
	}
}

func TestPathsThatAreLiveTwiceAreFound(t *testing.T) {
	snapshot := mustSnapshot(t, newLog(t, "-- 0.json --\ntable\nadd f\nadd g v1\n-- 1.json --\nadd f v4\n").open())
	if got := snapshot.Files().RepeatedPaths(); !slices.Equal(got, []string{"f"}) {
		t.Errorf("repeated %q", got)
	}
	snapshot = mustSnapshot(t, newLog(t, "-- 0.json --\ntable\nadd f v1\nadd g v1\n").open())
	if got := snapshot.Files().RepeatedPaths(); got != nil {
		t.Errorf("repeated %q", got)
	}
}

func TestSnapshotRefusesDamage(t *testing.T) {
	line := `{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}`
	for _, c := range []struct {
		name, log string
		class     protocol.Class
		says      []string
	}{
		{"nothing at all", "", "DELTA_TABLE_NOT_FOUND", []string{"t"}},
		{"only a hint", "-- _last_checkpoint --\n{}\n", "DELTA_TABLE_ONLY_OPERATION", []string{"t"}},
		{"gap", "-- 0.json --\ntable\n-- 2.json --\nadd a\n", "DELTA_VERSIONS_NOT_CONTIGUOUS", []string{"00000000000000000001.json"}},
		{"cut off at the start", "-- 3.json --\nadd a\n", "DELTA_TRUNCATED_TRANSACTION_LOG", []string{"commit 3"}},
		{"no protocol", "-- 0.json --\n" + metadataLine("x", nil) + "\n", "DELTA_STATE_RECOVER_ERROR", []string{"protocol"}},
		{"no metadata", "-- 0.json --\n{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n", "DELTA_STATE_RECOVER_ERROR", []string{"metaData"}},
		{"zero bytes", "-- 0.json --\ntable\n-- 1.json --\n", "DELTA_INVALID_LOG_FILE", []string{"00000000000000000001.json", "empty"}},
		{"cut off in a line", "-- 0.json --\ntable\nadd b\n" + line[:40], "DELTA_INVALID_LOG_FILE", []string{"00000000000000000000.json", "line 4"}},
		{"wrong type", "-- 0.json --\ntable\n-- 1.json --\n" + strings.Replace(line, `"a"`, `1`, 1), "DELTA_INVALID_LOG_FILE", []string{"00000000000000000001.json", "line 1", "path"}},
		{"one file twice", "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\nadd c\nadd b\n", "DELTA_DUPLICATE_ACTIONS_FOUND", []string{"00000000000000000001.json", `"b"`}},
		{"two tables", "-- 0.json --\ntable\n" + metadataLine("two", nil) + "\n", "DELTA_DUPLICATE_ACTIONS_FOUND", []string{"metaData"}},
		{"a feature of the future", "-- 0.json --\ntable\n" + "-- 1.json --\n" + `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["telepathy"],"writerFeatures":["telepathy"]}}`,
			"DELTA_UNSUPPORTED_FEATURES_FOR_READ", []string{"telepathy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newLog(t, c.log).open().Snapshot(context.Background())
			if protocol.ClassOf(err) != c.class {
				t.Fatalf("error %v, want class %s", err, c.class)
			}
			for _, text := range append(c.says, "t") {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
}

func TestSnapshotRefusesAnEnormousLine(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	head := dir.expand("add b\n")
	huge := head + `{"add":{"path":"` + strings.Repeat("x", maxLineBytes+rangeBytes) + `"}}`
	if err := dir.Put(context.Background(), logFolder+protocol.CommitName(1), []byte(huge)); err != nil {
		t.Fatal(err)
	}
	_, err := dir.open().Snapshot(context.Background())
	if protocol.ClassOf(err) != "DELTA_LOG_FILE_TOO_LARGE" || !strings.Contains(err.Error(), "00000000000000000001.json, line 2") {
		t.Fatalf("error %.300v", err)
	}
	if snapshot, err := dir.open().SnapshotAt(context.Background(), 0); err != nil || live(snapshot) != "a" {
		t.Errorf("the version before: %v", err)
	}
}

func TestReadsLargeCommitsInPieces(t *testing.T) {
	dir := newLog(t, "")
	var lines strings.Builder
	lines.WriteString(dir.expand("table\n"))
	padding := strings.Repeat("s", 1<<20)
	const adds = 40
	for i := range adds {
		fmt.Fprintf(&lines, `{"add":{"path":"f%d","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":%q}}`+"\n", i, padding)
	}
	if err := dir.Put(context.Background(), logFolder+protocol.CommitName(0), []byte(lines.String())); err != nil {
		t.Fatal(err)
	}
	snapshot := mustSnapshot(t, dir.open())
	if snapshot.Files().Len() != adds || string(snapshot.Files().RawStats(adds-1)) != padding {
		t.Errorf("%d files", snapshot.Files().Len())
	}
}

func TestSnapshotKeepsSingles(t *testing.T) {
	dir := newLog(t, `-- 0.json --
table
{"txn":{"appId":"a","version":1,"lastUpdated":5}}
{"domainMetadata":{"domain":"d","configuration":"{\"a\":1}","removed":false}}
{"domainMetadata":{"domain":"e","configuration":"","removed":false}}
-- 1.json --
{"commitInfo":{"operation":"WRITE","timestamp":77}}
{"txn":{"appId":"a","version":2}}
{"txn":{"appId":"b","version":9}}
{"domainMetadata":{"domain":"e","configuration":"","removed":true}}
`)
	snapshot := mustSnapshot(t, dir.open())
	if txns := snapshot.Transactions(); len(txns) != 2 || txns["a"].Version != 2 || txns["b"].Version != 9 {
		t.Errorf("transactions %v", txns)
	}
	if domains := snapshot.Domains(); len(domains) != 1 || domains["d"].Configuration != `{"a":1}` {
		t.Errorf("domains %v", domains)
	}
	if info := snapshot.CommitInfo(); info.Operation() != "WRITE" {
		t.Errorf("commit info %v", info)
	}
	if snapshot.Version() != 1 || snapshot.TimestampMillis() != 1_700_000_002_000 {
		t.Errorf("version %d at %d", snapshot.Version(), snapshot.TimestampMillis())
	}
}

func TestFilesGiveBackTheirAction(t *testing.T) {
	full := `{"add":{"path":"p=1/a","partitionValues":{"p":"1","q":null},"size":7,"modificationTime":8,"dataChange":true,` +
		`"stats":"{\"numRecords\":3}","tags":{"k":"v","n":null},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab","offset":1,"sizeInBytes":4,"cardinality":2},` +
		`"baseRowId":0,"defaultRowCommitVersion":5,"clusteringProvider":"liquid"}}`
	snapshot := mustSnapshot(t, newLog(t, "-- 0.json --\ntable\nadd x\n"+full+"\nadd y\n").open())
	files := snapshot.Files()
	add := files.Add(1)
	if add.Path != "p=1/a" || add.Size != 7 || add.ModificationTime != 8 || add.Stats != `{"numRecords":3}` || add.Tags["k"] != "v" ||
		add.DeletionVector.UniqueID() != "uab@1" || *add.BaseRowID != 0 || *add.DefaultRowCommitVersion != 5 ||
		add.ClusteringProvider != "liquid" || *add.PartitionValues["p"] != "1" || add.PartitionValues["q"] != nil || len(add.PartitionValues) != 2 {
		t.Errorf("add %+v", add)
	}
	if n, ok := files.NumRecords(1); n != 3 || !ok || files.DeletedRows(1) != 2 {
		t.Errorf("%d records, %d deleted", n, files.DeletedRows(1))
	}
	if text, null := files.PartitionValue(1, "p"); text != "1" || null {
		t.Error(text, null)
	}
	for _, name := range []protocol.PhysicalName{"q", "r"} {
		if _, null := files.PartitionValue(1, name); !null {
			t.Errorf("%s is not NULL", name)
		}
	}
	for _, i := range []int{0, 2} {
		plain := files.Add(i)
		if _, ok := files.BaseRowID(i); ok || plain.Tags != nil || plain.DeletionVector != nil || plain.ClusteringProvider != "" || files.RawStats(i) != nil {
			t.Errorf("file %d: %+v", i, plain)
		}
	}
	if files.PartitionTuple(0) != files.PartitionTuple(2) || files.PartitionTuple(0) == files.PartitionTuple(1) {
		t.Error("tuples")
	}
	if files.SizeBytes() != 27 || files.NumDeletionVectors() != 1 || files.TotalDeletedRows() != 2 {
		t.Error("totals")
	}
}

func TestNumRecords(t *testing.T) {
	for _, c := range []struct {
		stats string
		n     int64
		ok    bool
	}{
		{`{"numRecords":12,"minValues":{}}`, 12, true},
		{`{"numRecords":0}`, 0, true},
		{`{"numRecords": 5, "minValues": {}}`, 5, true},
		{`{ "numRecords" : 6 }`, 6, true},
		{`{"minValues":{"numRecords":5},"numRecords": 7}`, 7, true},
		{`{"minValues":{"numRecords":5}}`, 0, false},
		{`{"numRecords":-1}`, 0, false},
		{`{"numRecords":1.5}`, 0, false},
		{`{"numRecords":null}`, 0, false},
		{`{"numRecords":12`, 0, false},
		{`{"numRecords":99999999999999999999}`, 0, false},
		{``, 0, false}, {`[]`, 0, false},
	} {
		if n, ok := numRecords([]byte(c.stats)); n != c.n || ok != c.ok {
			t.Errorf("%s: %d %v", c.stats, n, ok)
		}
	}
}

func TestSnapshotIsExtendedAndImmutable(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\nadd b\n")
	faults := store.NewFaults(dir)
	table := OpenTable(faults, "t", nil)
	first := mustSnapshot(t, table)
	faults.Calls()
	if again := mustSnapshot(t, table); again != first {
		t.Error("a new snapshot without a new commit")
	}
	if calls := faults.Calls(); len(calls) != 2 {
		t.Errorf("calls for an unchanged table: %q", calls)
	}
	dir.write("-- 1.json --\nremove a\nadd c v1\n-- 2.json --\nadd d\n")
	second := mustSnapshot(t, table)
	for _, call := range faults.Calls() {
		if strings.HasSuffix(call, "0.json") && strings.HasPrefix(call, "read") {
			t.Errorf("read again: %s", call)
		}
	}
	if second.Version() != 2 || live(second) != "b c/v1 d" || second.Files().SizeBytes() != 30 {
		t.Errorf("second: %d %q", second.Version(), live(second))
	}
	if first.Version() != 0 || live(first) != "a b" || first.Files().SizeBytes() != 20 || first.Files().NumDeletionVectors() != 0 {
		t.Errorf("L3: first is now %q", live(first))
	}
	dir.write("-- 3.json --\nadd a\nremove c v1\n")
	if third := mustSnapshot(t, table); live(third) != "a b d" || live(second) != "b c/v1 d" {
		t.Errorf("third: %q", live(third))
	}
}

func TestFailedRefreshLeavesTheTableUsable(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	table := dir.open()
	first := mustSnapshot(t, table)
	dir.write("-- 1.json --\nadd b\n{\"add\":{\"path\":\"c\",\"partitionValues\":{\"p\":\"1\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n-- 2.json --\nnonsense\n")
	if _, err := table.Snapshot(context.Background()); protocol.ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
		t.Fatal(err)
	}
	dir.write("-- 2.json --\n{\"add\":{\"path\":\"d\",\"partitionValues\":{\"p\":\"2\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\nremove a\n")
	second := mustSnapshot(t, table)
	if live(second) != "b c d" || live(first) != "a" {
		t.Errorf("%q, %q", live(second), live(first))
	}
	if text, _ := second.Files().PartitionValue(2, "p"); text != "2" {
		t.Errorf("partition value %q", text)
	}
}

// Bugs LR-16.
func TestNoticesDropAndCreate(t *testing.T) {
	for name, log := range map[string]string{
		"shorter": "-- 0.json --\ntable two\nadd n\n",
		"equal":   "-- 0.json --\ntable two\nadd m\n-- 1.json --\nadd n\n",
		"longer":  "-- 0.json --\ntable two\nadd m\n-- 1.json --\nadd n\n-- 2.json --\nremove m\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := newLog(t, "-- 0.json --\ntable one\nadd a\n-- 1.json --\nadd b\n")
			table := dir.open()
			mustSnapshot(t, table)
			if _, err := table.SnapshotAt(context.Background(), 0); err != nil {
				t.Fatal(err)
			}
			for _, version := range []int64{0, 1} {
				if err := dir.Delete(context.Background(), logFolder+protocol.CommitName(version)); err != nil {
					t.Fatal(err)
				}
			}
			dir.write(log)
			snapshot := mustSnapshot(t, table)
			if id := snapshot.Config().Metadata.ID; id != "two" || strings.ContainsAny(live(snapshot), "ab") {
				t.Errorf("table %s with %q", id, live(snapshot))
			}
			old, err := table.SnapshotAt(context.Background(), 0)
			if err != nil || old.Config().Metadata.ID != "two" {
				t.Errorf("version 0 of the old table: %v", err)
			}
		})
	}
	dir := newLog(t, "-- 0.json --\ntable\n")
	table := dir.open()
	mustSnapshot(t, table)
	if err := dir.Delete(context.Background(), logFolder+protocol.CommitName(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Snapshot(context.Background()); protocol.ClassOf(err) != "DELTA_TABLE_NOT_FOUND" {
		t.Errorf("dropped: %v", err)
	}
}

func TestSnapshotAtVersions(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n-- 2.json --\nremove a\n")
	table := dir.open()
	ctx := context.Background()
	for version, want := range []string{"a", "a b", "b"} {
		for range 2 {
			snapshot, err := table.SnapshotAt(ctx, int64(version))
			if err != nil || live(snapshot) != want {
				t.Errorf("version %d: %v", version, err)
			}
		}
	}
	one, _ := table.SnapshotAt(ctx, 1)
	if again, _ := table.SnapshotAt(ctx, 1); again != one {
		t.Error("not kept")
	}
	for _, version := range []int64{3, -1, math.MinInt64, math.MaxInt64 - 1} {
		_, err := table.SnapshotAt(ctx, version)
		if protocol.ClassOf(err) != "DELTA_VERSION_NOT_FOUND" || !strings.Contains(err.Error(), "[0, 2]") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// Bugs LR-11, and the corpus note on compaction files that are not reconciled.
func TestCompactionsReplaceTheirRange(t *testing.T) {
	commits := `-- 0.json --
table
add a
-- 1.json --
add b
-- 2.json --
remove a
add c
-- 3.json --
remove c
add d
-- 4.json --
add e
`
	want := []string{"a", "a b", "b c", "b d", "b d e"}
	for _, c := range []struct {
		name, files, used string
	}{
		{"reconciled", "-- 1.3.compacted.json --\nadd b\nremove a\nremove c\nadd d\n", "1.3.compacted"},
		{"the longest is taken", "-- 1.2.compacted.json --\nadd b\nremove a\nadd c\n-- 1.3.compacted.json --\nadd b\nremove a\nremove c\nadd d\n", "1.3.compacted"},
		{"not reconciled", "-- 1.3.compacted.json --\nremove c\nadd d\nremove a\nadd c\nadd b\n", "3.json"},
		{"malformed names", "-- 2.2.compacted.json --\ngarbage\n-- 7.tmp --\n\n-- 3.1.compacted.json --\ngarbage\n", "3.json"},
		{"no bytes", "-- 1.3.compacted.json --\n", "3.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := newLog(t, commits+c.files).open()
			for version, files := range want {
				snapshot, err := table.SnapshotAt(context.Background(), int64(version))
				if err != nil || live(snapshot) != files {
					t.Fatalf("version %d: %v %q", version, err, live(snapshot))
				}
				if version == 4 && !slices.ContainsFunc(snapshot.Segment().Files(), func(name string) bool {
					return strings.Contains(name, longName(c.used))
				}) {
					t.Errorf("made from %q", snapshot.Segment().Files())
				}
			}
			if snapshot := mustSnapshot(t, table); live(snapshot) != want[4] {
				t.Errorf("newest %q", live(snapshot))
			}
		})
	}
}

func TestChecksumFilesAreVerified(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n"+
		`-- 0.crc --
{"tableSizeBytes":10,"numFiles":1,"numMetadata":1,"numProtocol":1,"metadata":`+strings.TrimSuffix(strings.TrimPrefix(metadataLine("one", nil), `{"metaData":`), "}")+`}
`)
	table := dir.open()
	if warnings := mustSnapshot(t, table).Warnings(); len(warnings) != 0 {
		t.Errorf("warnings %q", warnings)
	}
	dir.write("-- 1.json --\nadd b\n-- 1.crc --\n{\"tableSizeBytes\":10,\"numFiles\":1,\"numMetadata\":1,\"numProtocol\":1}\n")
	if warnings := mustSnapshot(t, table).Warnings(); len(warnings) != 2 || !strings.Contains(warnings[0], "numFiles is 1 there and 2 here") ||
		!strings.HasPrefix(warnings[0], "[DELTASQL_CHECKSUM_MISMATCH]") {
		t.Errorf("warnings %q", warnings)
	}
	dir.write("-- 2.json --\nadd c\n-- 2.crc --\n{\"tableSize")
	snapshot := mustSnapshot(t, table)
	if warnings := snapshot.Warnings(); len(warnings) != 1 || live(snapshot) != "a b c" {
		t.Errorf("warnings %q", warnings)
	}
}

func TestStagedCommitsAreIgnored(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	staged := protocol.StagedFolder + "/" + protocol.VersionName(1) + ".5b9bba4a-0085-430d-a65e-b0d38c1afbe9.json"
	dir.write("-- " + staged + " --\nadd b\n")
	if snapshot := mustSnapshot(t, dir.open()); snapshot.Version() != 0 || live(snapshot) != "a" {
		t.Errorf("version %d: %q", snapshot.Version(), live(snapshot))
	}
}

func TestStorageErrorsAreNamed(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	for _, fault := range []store.Fault{
		{Op: store.OpList, Nth: 1, Err: store.ErrThrottled},
		{Op: store.OpStat, Nth: 1, Err: errors.New("disk on fire")},
		{Op: store.OpRead, Nth: 2, Err: errors.New("disk on fire")}, // the first is the hint
	} {
		table := OpenTable(store.NewFaults(dir, fault), "t", nil)
		if _, err := table.Snapshot(context.Background()); protocol.ClassOf(err) != "DELTASQL_STORAGE" || !errors.Is(err, fault.Err) {
			t.Errorf("%s: %v", fault.Op, err)
		}
		if snapshot, err := table.Snapshot(context.Background()); err != nil || live(snapshot) != "a" {
			t.Errorf("after %s: %v", fault.Op, err)
		}
	}
	hint := OpenTable(store.NewFaults(dir, store.Fault{Op: store.OpRead, Nth: 1, Err: store.ErrThrottled}), "t", nil)
	if _, err := hint.Snapshot(context.Background()); err != nil {
		t.Errorf("a hint that cannot be read: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dir.open().Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTheLargestIntegerIsNoVersion(t *testing.T) {
	table := OpenTable(newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n"), "t", nil)
	for _, version := range []int64{math.MinInt64, -1, 2, math.MaxInt64} {
		_, err := table.SnapshotAt(context.Background(), version)
		if protocol.ClassOf(err) != "DELTA_VERSION_NOT_FOUND" || !strings.Contains(err.Error(), "[0, 1]") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// A large file that is shorter than it was listed must not lose its last, incomplete line in silence.
func TestShrunkenLargeCommit(t *testing.T) {
	for content, whole := range map[string]bool{`{"add":{"path":"a","si`: false, "{\"txn\":{\"appId\":\"a\",\"version\":1}}": true,
		"{\"txn\":{\"appId\":\"a\",\"version\":1}}\n{\"add\":": false} {
		dir := newLog(t, "")
		if err := dir.Put(context.Background(), "x.json", []byte(content)); err != nil {
			t.Fatal(err)
		}
		c, err := readActions(context.Background(), dir, "x.json", wholeFileBytes+1)
		if whole != (err == nil) || whole && len(c.actions) != 1 {
			t.Errorf("%s: %v", content, err)
		}
	}
}

// hidingStore leaves a name out of its first listings, as a folder that is read while it grows may do.
type hidingStore struct {
	*logDir
	name  string
	times int
}

func (s *hidingStore) List(ctx context.Context, folder, startAfter string) iter.Seq2[store.FileInfo, error] {
	hide := s.times > 0
	s.times--
	return func(yield func(store.FileInfo, error) bool) {
		for info, err := range s.logDir.List(ctx, folder, startAfter) {
			if hide && info.Name == s.name {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func TestACommitThatArrivesDuringTheListing(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n-- 2.json --\nadd c\n")
	hiding := &hidingStore{dir, logFolder + protocol.CommitName(1), 1}
	table := OpenTable(hiding, "t", nil)
	if snapshot := mustSnapshot(t, table); live(snapshot) != "a b c" {
		t.Errorf("files %q", live(snapshot))
	}
	dir.write("-- 3.json --\nadd d\n-- 4.json --\nadd e\n")
	hiding.name, hiding.times = logFolder+protocol.CommitName(3), 2
	if snapshot := mustSnapshot(t, table); live(snapshot) != "a b c d e" {
		t.Errorf("files %q", live(snapshot))
	}
	hiding.times = 1000
	_, err := OpenTable(hiding, "t", nil).Snapshot(context.Background())
	if protocol.ClassOf(err) != "DELTA_VERSIONS_NOT_CONTIGUOUS" || !strings.Contains(err.Error(), protocol.CommitName(3)) {
		t.Error(err)
	}
}
