package protocol

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzAppendAction: what was parsed is written as one line that parses to the same, and writing that again changes nothing.
func FuzzAppendAction(f *testing.F) {
	for _, seed := range []string{
		`{"add":{"path":"a","partitionValues":{"q":"\"","p":null},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}","tags":{"a":"b"},"deletionVector":{"storageType":"u","pathOrInlineDv":"wi5b","offset":1,"sizeInBytes":40,"cardinality":6},"baseRowId":1,"defaultRowCommitVersion":3,"clusteringProvider":"liquid"}}`,
		`{"commitInfo":{"timestamp":1, "operationParameters" : {"a":null,"b":[1,{"c":"d\u0000"}]},"txnId":"x"}}`,
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["a"]}}`,
		`{"metaData":{"id":"x","name":"","format":{"provider":"parquet","options":{"o":"p"}},"schemaString":"{}","partitionColumns":["p"],"configuration":{"a":"\u2028"},"createdTime":1}}`,
		`{"remove":{"path":"a","deletionTimestamp":1,"dataChange":true,"extendedFileMetadata":true,"size":1,"stats":"{}"}}`,
		`{"cdc":{"path":"c","partitionValues":{},"size":1,"dataChange":false}}`, `{"domainMetadata":{"domain":"d","configuration":"{}","removed":true}}`,
		`{"txn":{"appId":"a","version":-1,"lastUpdated":2}}`, `{"sidecar":{"path":"a","sizeInBytes":1,"modificationTime":1,"tags":{"t":"u"}}}`,
		`{"checkpointMetadata":{"version":1,"tags":{"a":"b"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseAction(data)
		if err != nil || a == (Action{}) {
			return
		}
		line, err := AppendAction([]byte("x"), a)
		if err != nil {
			if ClassOf(err) != ClassInternal || string(line) != "x" {
				t.Fatal(err, line)
			}
			return // of values that no writer of ours makes: an empty path, a negative size
		}
		line = line[1:]
		if bytes.ContainsAny(line, "\n\r") || !json.Valid(line) {
			t.Fatalf("%q is not one line of JSON", line)
		}
		back, err := ParseAction(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if a.CommitInfo != nil {
			if !sameMembers(a.CommitInfo.Raw, back.CommitInfo.Raw) {
				t.Fatalf("%s became %s", a.CommitInfo.Raw, back.CommitInfo.Raw)
			}
			return
		}
		if a.Metadata != nil && a.Metadata.PartitionColumns == nil {
			a.Metadata.PartitionColumns = []string{} // always written
		}
		emptyToNil(&a)
		emptyToNil(&back)
		if !reflect.DeepEqual(a, back) {
			t.Fatalf("%+v became %s", a, line)
		}
		again, err := AppendAction(nil, back)
		if err != nil || !bytes.Equal(again, line) {
			t.Fatalf("%s is written again as %s: %v", line, again, err)
		}
	})
}

// emptyToNil makes maps comparable: an empty one and none are the same in the log but for partitionValues of removes.
func emptyToNil(a *Action) {
	if a.Add != nil && len(a.Add.PartitionValues) == 0 {
		a.Add.PartitionValues = nil
	}
	if a.Remove != nil && len(a.Remove.PartitionValues) == 0 {
		a.Remove.PartitionValues = nil
	}
	if a.CDC != nil && len(a.CDC.PartitionValues) == 0 {
		a.CDC.PartitionValues = nil
	}
}

func sameMembers(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && x.String() == y.String()
}

// members gives the names of an object's members in their order, those of nested objects after a point; maps, whose order
// has no meaning, are left out.
func memberOrder(t *testing.T, line []byte) []string {
	var order []string
	c := jsonCursor{data: line}
	var walk func(prefix string) error
	walk = func(prefix string) error {
		if c.peek() != '{' {
			return c.skip()
		}
		return c.object(func(name []byte) error {
			full := prefix + "." + string(name)
			order = append(order, full)
			switch string(name) {
			case "partitionValues", "tags", "configuration", "options", "operationParameters", "operationMetrics":
				return c.skip()
			}
			return walk(full)
		})
	}
	if err := walk(""); err != nil {
		t.Fatal(err)
	}
	return order
}

// sparkLogs are tables that the reference wrote, beside the project; the test skips without them.
const sparkLogs = "../../shared/oracle-tables"

// TestEncodingIsTheReferences: every line of real commits, parsed and written again, has the same members in the same
// order with the same values.
func TestEncodingIsTheReferences(t *testing.T) {
	lines := map[string]int{}
	_ = filepath.WalkDir(sparkLogs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json") || filepath.Base(filepath.Dir(path)) != LogFolder {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			a, err := ParseAction(line)
			if err != nil || a == (Action{}) {
				continue
			}
			got, err := AppendAction(nil, a)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			var want, have any
			if json.Unmarshal(line, &want) != nil || json.Unmarshal(got, &have) != nil {
				t.Fatal(path)
			}
			kind := strings.Trim(string(line[:bytes.IndexByte(line, ':')]), `{"`)
			lines[kind]++
			if !reflect.DeepEqual(want, have) || !slices.Equal(memberOrder(t, line), memberOrder(t, got)) {
				t.Errorf("%s:\n%s\nis written as\n%s", path, line, got)
			}
		}
		return nil
	})
	if len(lines) == 0 {
		t.Skip("the tables of the reference are not there")
	}
	for _, kind := range []string{"add", "remove", "cdc", "metaData", "protocol", "domainMetadata", "commitInfo"} {
		if lines[kind] == 0 {
			t.Errorf("no line with %s among %v", kind, lines)
		}
	}
}

// TestChecksumFilesAreTheReferences does the same for .crc files, histograms included.
func TestChecksumFilesAreTheReferences(t *testing.T) {
	files := 0
	_ = filepath.WalkDir(sparkLogs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".crc") || strings.HasPrefix(entry.Name(), ".") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checksum, err := ParseVersionChecksum(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		listed := checksum.AllFiles // written with empty tags there, and never by us
		checksum.AllFiles = nil
		got, err := checksum.JSON()
		if err != nil {
			t.Fatal(err)
		}
		checksum.AllFiles = listed
		var want, have map[string]any
		if json.Unmarshal(data, &want) != nil || json.Unmarshal(got, &have) != nil {
			t.Fatal(path)
		}
		delete(want, "allFiles")
		if !reflect.DeepEqual(want, have) {
			t.Errorf("%s:\n%s\nis written as\n%s", path, data, got)
		}
		ours := memberOrder(t, got)
		if theirs := memberOrder(t, data); !slices.Equal(theirs[:min(len(ours), len(theirs))], ours) {
			t.Errorf("%s: members %q, want %q", path, ours, theirs)
		}
		if h := checksum.FileSizeHistogram; h != nil && checksum.AllFiles != nil {
			own, deleted := NewFileSizeHistogram(), make([]int64, DeletedRecordClasses)
			for _, file := range checksum.AllFiles {
				own.Count(file.Size, 1)
				rows := int64(0)
				if file.DeletionVector != nil {
					rows = file.DeletionVector.Cardinality
				}
				deleted[DeletedRecordClass(rows)]++
			}
			if !reflect.DeepEqual(own, h) {
				t.Errorf("%s: histogram %+v, want %+v", path, own, h)
			}
			if checksum.DeletedRecordsByClass != nil && !slices.Equal(deleted, checksum.DeletedRecordsByClass) {
				t.Errorf("%s: deleted rows %v, want %v", path, deleted, checksum.DeletedRecordsByClass)
			}
		}
		files++
		return nil
	})
	if files == 0 {
		t.Skip("the tables of the reference are not there")
	}
}

func TestDeletedRecordClasses(t *testing.T) {
	for deleted, class := range map[int64]int{0: 0, 1: 1, 9: 1, 10: 2, 99: 2, 100: 3, 999: 3, 1000: 4, 9999: 4, 10_000: 5, 99_999: 5, 100_000: 6,
		999_999: 6, 1_000_000: 7, 9_999_999: 7, 10_000_000: 8, 2_147_483_646: 8, 2_147_483_647: 9, 1 << 40: 9} {
		if got := DeletedRecordClass(deleted); got != class {
			t.Errorf("%d deleted rows are of class %d, want %d", deleted, got, class)
		}
	}
}

func TestFileSizeHistogramCounts(t *testing.T) {
	h := NewFileSizeHistogram()
	for _, size := range []int64{0, 8191, 8192, 300 << 30, 8192} {
		h.Count(size, 1)
	}
	h.Count(8192, -1)
	if h.FileCounts[0] != 2 || h.TotalBytes[0] != 8191 || h.FileCounts[1] != 1 || h.FileCounts[len(h.FileCounts)-1] != 1 {
		t.Errorf("%+v", h)
	}
}

func TestCommitInfoMembers(t *testing.T) {
	one, yes, note := int64(1), true, "a\nb"
	info, err := NewCommitInfo(CommitInfoFields{
		InCommitTimestamp: &one, Timestamp: 2, UserName: "u", Operation: "WRITE",
		OperationParameters: []Parameter{{"mode", JSONText("Append")}, {"partitionBy", JSONText(`["a"]`)}, {"description", json.RawMessage("null")}},
		ReadVersion:         &one, IsolationLevel: "Serializable", IsBlindAppend: &yes, OperationMetrics: []Metric{{"numFiles", "1"}},
		UserMetadata: &note, Tags: map[string]string{"k": "v"}, EngineInfo: "e", TxnID: "t",
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"inCommitTimestamp":1,"timestamp":2,"userName":"u","operation":"WRITE","operationParameters":{"mode":"Append","partitionBy":"[\"a\"]","description":null},` +
		`"readVersion":1,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numFiles":"1"},"userMetadata":"a\nb","tags":{"k":"v"},"engineInfo":"e","txnId":"t"}`
	if string(info.Raw) != want {
		t.Errorf("got  %s\nwant %s", info.Raw, want)
	}
	for _, bad := range [][]Parameter{{{"a", nil}}, {{"a", json.RawMessage("{")}}, {{"a", JSONText("")}, {"a", JSONText("")}}} {
		if _, err := NewCommitInfo(CommitInfoFields{OperationParameters: bad}); ClassOf(err) != ClassInternal || err == nil {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestEncodeCommitPutsCommitInfoFirst(t *testing.T) {
	data, err := EncodeCommit([]Action{{Txn: &SetTransaction{AppID: "a", Version: 1}}, {CommitInfo: &CommitInfo{Raw: json.RawMessage("{\n \"a\": 1\n}")}}})
	if err != nil || string(data) != "{\"commitInfo\":{\"a\":1}}\n{\"txn\":{\"appId\":\"a\",\"version\":1}}\n" {
		t.Errorf("%q %v", data, err)
	}
	path := "\xff"
	for name, actions := range map[string][]Action{
		"nothing": nil, "two infos": {{CommitInfo: &CommitInfo{}}, {CommitInfo: &CommitInfo{}}}, "no action": {{}},
		"two in one": {{Txn: &SetTransaction{}, Domain: &DomainMetadata{}}}, "no text": {{Add: &AddFile{Path: path}}},
		"no path": {{Add: &AddFile{}}}, "negative size": {{Add: &AddFile{Path: "a", Size: -1}}}, "a list": {{CommitInfo: &CommitInfo{Raw: json.RawMessage("[]")}}},
	} {
		if data, err := EncodeCommit(actions); err == nil || ClassOf(err) != ClassInternal {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
}

func TestLastCheckpointComesBack(t *testing.T) {
	n := int64(7)
	hint := LastCheckpoint{Version: 3, Size: 9, SizeInBytes: &n, NumOfAddFiles: &n, Tags: map[string]string{"ä": "\"%"},
		V2: &V2CheckpointHint{Path: "00000000000000000003.checkpoint.x.parquet", SizeInBytes: 1, ModificationTime: 2,
			NonFileActions: []Action{{CheckpointMetadata: &CheckpointMetadata{Version: 3}}, {Domain: &DomainMetadata{Domain: "d", Configuration: `{"a":1}`}}},
			SidecarFiles:   []Sidecar{{Path: "s.parquet", SizeInBytes: 1, ModificationTime: 2}}}}
	data, err := hint.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte(`{"version":3,"size":9,`)) {
		t.Errorf("%s", data)
	}
	back, err := ParseLastCheckpoint(data) // which verifies the checksum
	if err != nil || back.Checksum == "" {
		t.Fatal(err)
	}
	back.Checksum = ""
	if !reflect.DeepEqual(back, hint) {
		t.Errorf("%+v, want %+v", back, hint)
	}
	hint.V2.SidecarFiles = make([]Sidecar, maxHintList+1)
	hint.CheckpointSchema = json.RawMessage(`"` + strings.Repeat("x", maxHintSchema) + `"`)
	for i := range hint.V2.SidecarFiles {
		hint.V2.SidecarFiles[i].Path = "s"
	}
	if data, err = hint.JSON(); err != nil || bytes.Contains(data, []byte("sidecarFiles")) || bytes.Contains(data, []byte("checkpointSchema")) {
		t.Errorf("a long hint: %d bytes, %v", len(data), err)
	}
}

func TestDomainsAreTheReferences(t *testing.T) {
	clustering := ClusteringDomain([][]PhysicalName{{"a"}, {"s", `b"`}})
	if want := `{"clusteringColumns":[["a"],["s","b\""]],"domainName":"delta.clustering"}`; clustering.Configuration != want {
		t.Errorf("%s, want %s", clustering.Configuration, want)
	}
	if paths, err := ClusteringColumns(clustering.Configuration); err != nil || !reflect.DeepEqual(paths, [][]PhysicalName{{"a"}, {"s", `b"`}}) {
		t.Error(paths, err)
	}
	rows := RowTrackingDomain(41)
	if mark, err := RowIDHighWaterMark(rows.Configuration); err != nil || mark != 41 || rows.Configuration != `{"rowIdHighWaterMark":41,"domainName":"delta.rowTracking"}` {
		t.Error(rows, err)
	}
}
