package protocol

import (
	"strings"
	"testing"
)

func TestDecodePath(t *testing.T) {
	for uri, want := range map[string]string{
		"p=a%253Ab/part%20x.parquet":      "p=a%3Ab/part x.parquet",
		"a.parquet":                       "a.parquet",
		"d=1/c=12:30/x":                   "d=1/c=12:30/x",
		"c=12:30/x":                       "c=12:30/x",
		"%C3%BC+x":                        "ü+x",
		"x?y#z":                           "x?y#z",
		"a/../b":                          "a/../b",
		"/a//b":                           "|/a/b",
		"file:/a/b%20c":                   "|/a/b c",
		"file:///a/b":                     "|/a/b",
		"FILE://localhost/a":              "|/a",
		"s3://bucket/a%20b//c":            "|s3://bucket/a b/c",
		"abfss://c@acc.dfs.example.net/x": "|abfss://c@acc.dfs.example.net/x",
		"s3://bucket":                     "|s3://bucket/",
	} {
		path, absolute, err := DecodePath(uri)
		if absolute {
			path = "|" + path
		}
		if err != nil || path != want {
			t.Errorf("%s: %q, %v; want %q", uri, path, err, want)
		}
	}
	for _, uri := range []string{"", "./", ".", "mailto:x", "part:1.parquet", "a%2", "a%zz", "%00", "a\x00b", "a\x00b%20", "../x", "a/../../x", "%2e%2e/x", "file://host/x", "s3:/x", "s3:x"} {
		if path, _, err := DecodePath(uri); ClassOf(err) != "DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI" {
			t.Errorf("%q: %q, %v must be refused", uri, path, err)
		}
	}
}

func TestCanonicalPath(t *testing.T) {
	for _, same := range [][]string{
		{"a/b", "a//b", "./a/b", "a%2Fb", "%61/b", "a/./b", "a/c/../b", "a/b/"},
		{"/a/b", "file:/a/b", "file:///a/b", "file:/a//b", "//a/b", "/%61/b", "/a/./b", "/../a/b"},
		{"s3://b/x y", "s3://b/x%20y", "S3://b//x%20y", "s3://b/./x%20y"},
	} {
		for _, uri := range same {
			got, err := CanonicalPath(uri)
			if err != nil || got != same[0] {
				t.Errorf("%s: %q, %v; want %q", uri, got, err, same[0])
			}
		}
	}
	name := "p=a%3Ab/part x?#é.parquet"
	if path, _, err := DecodePath(EncodePath(name)); err != nil || path != name {
		t.Errorf("%q does not come back from %q: %v", name, EncodePath(name), err)
	}
}

func TestParseLogFile(t *testing.T) {
	v := "00000000000000000012"
	for name, want := range map[string]LogFile{
		v + ".json":               {Kind: LogCommit, Version: 12, EndVersion: 12},
		v + ".crc":                {Kind: LogChecksum, Version: 12, EndVersion: 12},
		v + ".checkpoint.parquet": {Kind: LogCheckpoint, Version: 12, EndVersion: 12},
		v + ".checkpoint.0000000002.0000000003.parquet":                       {Kind: LogMultipartCheckpoint, Version: 12, EndVersion: 12, Part: 2, Parts: 3},
		v + ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet":        {Kind: LogUUIDCheckpoint, Version: 12, EndVersion: 12, UUID: "80a083e8-7026-4e79-81be-64bd76c43a11"},
		v + ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json":           {Kind: LogUUIDCheckpoint, Version: 12, EndVersion: 12, UUID: "80a083e8-7026-4e79-81be-64bd76c43a11", JSON: true},
		v + ".00000000000000000015.compacted.json":                            {Kind: LogCompaction, Version: 12, EndVersion: 15},
		"_staged_commits/" + v + ".80a083e8-7026-4e79-81be-64bd76c43a11.json": {Kind: LogStagedCommit, Version: 12, EndVersion: 12, UUID: "80a083e8-7026-4e79-81be-64bd76c43a11"},
		"_last_checkpoint":          {Kind: LogLastCheckpoint},
		"_sidecars/x-1.parquet":     {Kind: LogSidecar},
		"09223372036854775806.json": {Kind: LogCommit, Version: 1<<63 - 2, EndVersion: 1<<63 - 2},
	} {
		if got, ok := ParseLogFile(name); !ok || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "12.json", v, v + ".json.tmp", "." + v + ".json.crc", "0" + v + ".json", "99999999999999999999.json", "09223372036854775807.json", "+0000000000000000012.json", v + ".checkpoint.0000000004.0000000003.parquet",
		v + ".checkpoint.0000000000.0000000003.parquet", v + ".checkpoint.1.3.parquet", v + ".checkpoint..parquet", v + ".checkpoint.a.b.c.parquet", v + "." + v + ".compacted.json", "_staged_commits/" + v + ".json", "_sidecars/a/b.parquet", v + ".checkpoint.x.orc", "_delta_index"} {
		if got, ok := ParseLogFile(name); ok {
			t.Errorf("%s: %+v must not be part of the log", name, got)
		}
	}
	for _, name := range []string{CommitName(7), ChecksumName(7), CheckpointName(7), MultipartCheckpointName(7, 1, 2), UUIDCheckpointName(7, "a-b", "json"), CompactionName(7, 9)} {
		if f, ok := ParseLogFile(name); !ok || f.Version != 7 {
			t.Errorf("%s is not read back: %+v", name, f)
		}
	}
}

func TestLastCheckpoint(t *testing.T) {
	// The protocol's own sample ("JSON checksum").
	sample := `{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}`
	if sum, err := JSONChecksum([]byte(sample)); err != nil || sum != "6a92d155a59bf2eecbd4b4ec7fd1f875" {
		t.Errorf("%s, %v", sum, err)
	}
	text, err := canonicalJSON([]byte(`{"b":null,"a":"€+~","c":[],"d":{"checksum":true},"e":-1.50e3}`))
	if want := `"a"="%E2%82%AC%2B~","b"=null,"d"+"checksum"=true,"e"=-1.50e3`; err != nil || text != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if _, err := JSONChecksum([]byte(`{"a":{"b":1,"b":1}}`)); err == nil {
		t.Error("a key given twice has no checksum")
	}
	// A short text whose canonical form is long: a name of a megabyte before each of many elements.
	long := `{"` + strings.Repeat("a", 1<<20) + `":[` + strings.Repeat("1,", 1<<20) + `1]}`
	if _, err := JSONChecksum([]byte(long)); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a canonical form of a terabyte: %.100v", err)
	}
	body := `"version":3,"size":4,"parts":2,"sizeInBytes":5,"numOfAddFiles":6,"checkpointSchema":{"type":"struct","fields":[]},"tags":{"a":"b"},"v2Checkpoint":{"path":"p","sizeInBytes":1,"modificationTime":2,"nonFileActions":[{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}],"sidecarFiles":[{"path":"s","sizeInBytes":3,"modificationTime":4}]}`
	sum, err := JSONChecksum([]byte("{" + body + "}"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseLastCheckpoint([]byte("{" + body + `,"checksum":"` + sum + `"}`))
	if err != nil || h.Version != 3 || h.Size != 4 || *h.Parts != 2 || *h.SizeInBytes != 5 || *h.NumOfAddFiles != 6 || h.Tags["a"] != "b" || h.V2.Path != "p" || h.V2.NonFileActions[0].Protocol == nil || h.V2.SidecarFiles[0].Path != "s" {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"", "{}", `{"version":1}`, `{"version":-1,"size":1}`, `{"version":"1","size":1}`, "{" + body + `,"checksum":"00"}`, `{"version":1,"size":1}x`, `{"version":1,"version":1,"size":1}`} {
		if _, err := ParseLastCheckpoint([]byte(bad)); ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
			t.Errorf("%s: %v must be refused", bad, err)
		}
	}
}

func TestVersionChecksum(t *testing.T) {
	for _, histogram := range []string{"fileSizeHistogram", "histogramOpt"} {
		v, err := ParseVersionChecksum([]byte(`{"txnId":"t","tableSizeBytes":10,"numFiles":2,"numMetadata":1,"numProtocol":1,"inCommitTimestampOpt":5,"setTransactions":[{"appId":"a","version":1}],"domainMetadata":[{"domain":"d","configuration":"","removed":false}],
			"metadata":{"id":"m"},"protocol":{"minReaderVersion":1,"minWriterVersion":2},"` + histogram + `":{"sortedBinBoundaries":[0,8192],"fileCounts":[2,0],"totalBytes":[10,0]},"allFiles":[{"path":"x","size":1}],"numDeletedRecordsOpt":3,"numDeletionVectorsOpt":1,"deletedRecordCountsHistogramOpt":{"deletedRecordCounts":[1,2]},"future":1}`))
		if err != nil || v.NumFiles != 2 || *v.InCommitTimestamp != 5 || v.SetTransactions[0].AppID != "a" || v.DomainMetadata[0].Domain != "d" || v.Metadata.ID != "m" || v.Protocol.MinWriterVersion != 2 || v.FileSizeHistogram.FileCounts[0] != 2 || v.AllFiles[0].Path != "x" || *v.NumDeletedRecords != 3 || v.DeletedRecordsByClass[1] != 2 {
			t.Errorf("%s: %+v, %v", histogram, v, err)
		}
	}
	if _, err := ParseVersionChecksum([]byte(`{"numFiles":1}`)); ClassOf(err) != "DELTA_INVALID_LOG_FILE" || !strings.Contains(err.Error(), "tableSizeBytes") {
		t.Error(err)
	}
}

func TestDomains(t *testing.T) {
	for text, want := range map[string]int{`{"clusteringColumns":[["a"],["s","x"]]}`: 2, `{"clusteringColumns":["a","b","c"],"domainName":"delta.clustering"}`: 3, `{"clusteringColumns":[]}`: 0} {
		if paths, err := ClusteringColumns(text); err != nil || len(paths) != want {
			t.Errorf("%s: %v, %v", text, paths, err)
		}
	}
	for _, text := range []string{"", "{}", `{"clusteringColumns":[[]]}`, `{"clusteringColumns":[1]}`} {
		if _, err := ClusteringColumns(text); ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]int64{`{"rowIdHighWaterMark":42,"domainName":"x"}`: 42, `{}`: -1} {
		if mark, err := RowIDHighWaterMark(text); err != nil || mark != want {
			t.Errorf("%s: %d, %v", text, mark, err)
		}
	}
}
