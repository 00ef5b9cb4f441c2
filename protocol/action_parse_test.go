package protocol

import (
	"reflect"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func TestParseAction(t *testing.T) {
	for line, want := range map[string]Action{
		`{"add":{"path":"a%20b","partitionValues":{"p":"1","q":null},"size":10,"modificationTime":5,"dataChange":true,"stats":"{\"numRecords\":1}","tags":{"k":"v","n":null},"baseRowId":3,"defaultRowCommitVersion":4,"clusteringProvider":"liquid","deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":2,"cardinality":3,"maxRowIndex":9}}}`: {
			Add: &AddFile{Path: "a%20b", PartitionValues: map[string]*string{"p": ptr("1"), "q": nil}, Size: 10, ModificationTime: 5, DataChange: true,
				Stats: `{"numRecords":1}`, Tags: map[string]string{"k": "v"}, BaseRowID: ptr(int64(3)), DefaultRowCommitVersion: ptr(int64(4)), ClusteringProvider: "liquid",
				DeletionVector: &DeletionVector{StorageType: "u", PathOrInline: "x", Offset: ptr(int64(1)), SizeInBytes: 2, Cardinality: 3}}},
		`{"add":null,"remove":{"path":"a","deletionTimestamp":7,"dataChange":false,"extendedFileMetadata":true,"size":1,"stats":null}}`: {
			Remove: &RemoveFile{Path: "a", DeletionTimestamp: ptr(int64(7)), ExtendedFileMetadata: ptr(true), Size: ptr(int64(1))}},
		`{"cdc":{"path":"_change_data/x","partitionValues":{},"size":1e2,"dataChange":false}}`: {CDC: &AddCDCFile{Path: "_change_data/x", Size: 100}},
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["a"]}}`: {
			Protocol: &Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"a"}}},
		`{"protocol":{"minReaderVersion":1,"minWriterVersion":2,"readerFeatures":null}}`: {Protocol: &Protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		`{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"partitionColumns":["p"],"configuration":{"a":"b"},"createdTime":1}}`: {
			Metadata: &Metadata{ID: "i", Provider: "parquet", FormatOptions: map[string]string{}, PartitionColumns: []string{"p"}, Configuration: map[string]string{"a": "b"}, CreatedTime: ptr(int64(1))}},
		`{"txn":{"appId":"a","version":3,"lastUpdated":4}}`:                     {Txn: &SetTransaction{AppID: "a", Version: 3, LastUpdated: ptr(int64(4))}},
		`{"domainMetadata":{"domain":"d","configuration":"{}","removed":true}}`: {Domain: &DomainMetadata{Domain: "d", Configuration: "{}", Removed: true}},
		`{"checkpointMetadata":{"version":1,"tags":{}}}`:                        {CheckpointMetadata: &CheckpointMetadata{Version: 1}},
		`{"sidecar":{"path":"s.parquet","sizeInBytes":1,"modificationTime":2}}`: {Sidecar: &Sidecar{Path: "s.parquet", SizeInBytes: 1, ModificationTime: 2}},
		`{"unknown":{"x":[1,2,{"y":null}]}}`:                                    {},
		`{"eommitInfo":3,"ADD":{"path":1}}`:                                     {},
		` {} `:                                                                  {},
	} {
		got, err := ParseAction([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestParseActionRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`{"add":{"path":"a","size":1,"path":"b"}}`:                          "add.path: given twice",
		`{"add":{"size":1}}`:                                                "add.path: missing",
		`{"add":{"path":null,"size":1}}`:                                    "add.path: missing",
		`{"add":{"path":"a","size":"1"}}`:                                   "add.size: expected an integer, found a string",
		`{"add":{"path":"a","size":1.5}}`:                                   "add.size: 1.5 is not",
		`{"add":{"path":"a","size":99999999999999999999}}`:                  "add.size",
		`{"add":{"path":"a","size":-1}}`:                                    "add.size",
		`{"add":{"path":"a","size":1,"stats":{}}}`:                          "add.stats: expected a string, found an object",
		`{"add":{"path":"a","size":1,"partitionValues":{"p":1}}}`:           "add.partitionValues.p: expected a string, found a number",
		`{"add":{"path":"a","size":1,"partitionValues":{"p":"1","p":"2"}}}`: "add.partitionValues.p: given twice",
		`{"add":{"path":"a","size":1},"remove":{"path":"a"}}`:               `remove: stands in one object with "add"`,
		`{"add":{"path":"a","size":1},"add":{"path":"b","size":1}}`:         `add: stands in one object with "add"`,
		`{"add":[]}`: "add: expected an object, found an array",
		`{"protocol":{"minReaderVersion":-1,"minWriterVersion":2}}`:          "protocol.minReaderVersion",
		`{"add":{"path":"a","size":1,"deletionVector":{"storageType":"u"}}}`: "add.deletionVector.pathOrInlineDv: missing",
		`[]`: "expected an object", `{"add"`: "expected ':'", `{"a":tru}`: "expected a boolean", `{} {}`: "unexpected text", ``: "the end of the text",
		"{\"add\":{\"path\":\"a\x01\"}}": "add.path: control character",
		`{"x":01}`:                       "number", `{"x":"\q"}`: "bad escape", `{"x":1,}`: "member name",
	} {
		_, err := ParseAction([]byte(line))
		if err == nil || !strings.Contains(err.Error(), want) || ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestParseActionsConcatenated(t *testing.T) {
	data := "\xEF\xBB\xBF" + `{"add":{"path":"a","size":1}}{"add":{
		"path":"b",
		"size":1}}` + "\r\n\n" + `{"other":1} {"remove":{"path":"a"}}` + "\n"
	var seen []string
	for a, err := range ParseActions([]byte(data)) {
		switch {
		case err != nil:
			t.Fatal(err)
		case a.Add != nil:
			seen = append(seen, "+"+a.Add.Path)
		case a.Remove != nil:
			seen = append(seen, "-"+a.Remove.Path)
		default:
			seen = append(seen, "?")
		}
	}
	if got := strings.Join(seen, " "); got != "+a +b ? -a" {
		t.Error(got)
	}
	failures := 0
	for _, err := range ParseActions([]byte("{\"txn\":{}}\n{}")) {
		if err == nil {
			t.Error("must end at the error")
		}
		failures++
	}
	if failures != 1 {
		t.Errorf("%d results", failures)
	}
	for range ParseActions(nil) {
		t.Error("nothing is in an empty commit")
	}
}

func TestCommitInfoGetters(t *testing.T) {
	a, err := ParseAction([]byte(`{"commitInfo":{"timestamp":10,"inCommitTimestamp":11,"operation":"WRITE","operationParameters":{"mode":"Append","partitionBy":"[]","statsOnLoad":false,"description":null},
		"readVersion":3,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numFiles":"1","numOutputRows":2},"userMetadata":"hi","engineInfo":"E","txnId":"t","userId":"u","userName":"n","clusterId":"c","job":{"jobId":"1"},"notebook":{"notebookId":"2"},"tags":{"a":"b"},"extra":[1, 2]}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := a.CommitInfo
	ts, _ := c.Timestamp()
	ict, _ := c.InCommitTimestamp()
	read, _ := c.ReadVersion()
	blind, _ := c.IsBlindAppend()
	level, _ := c.IsolationLevel()
	user, _ := c.UserMetadata()
	engine, _ := c.EngineInfo()
	txn, _ := c.TxnID()
	id, _ := c.UserID()
	name, _ := c.UserName()
	cluster, _ := c.ClusterID()
	got := []any{ts, ict, read, blind, level, user, engine, txn, id, name, cluster, c.Operation(), c.Job()["jobId"], c.Notebook()["notebookId"], c.Tags()["a"]}
	want := []any{int64(10), int64(11), int64(3), true, "Serializable", "hi", "E", "t", "u", "n", "c", "WRITE", "1", "2", "b"}
	if !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
	if p := c.OperationParameters(); !reflect.DeepEqual(p, map[string]string{"mode": "Append", "partitionBy": "[]", "statsOnLoad": "false"}) {
		t.Error(p)
	}
	if m := c.OperationMetrics(); m["numOutputRows"] != "2" {
		t.Error(m)
	}
	if raw, ok := c.RawMember("extra"); !ok || string(raw) != "[1, 2]" {
		t.Error(string(raw))
	}
	var none *CommitInfo
	if _, ok := none.Timestamp(); ok || none.Operation() != "" {
		t.Error("a nil commitInfo has nothing")
	}
}
