package roundtrip

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// largeFiles is how many adds TestLargeCheckpoint writes; a million takes some seconds and is for measurements.
const largeFiles = 60_000

// TestLargeCheckpoint: many row groups, several sidecars, memory that does not grow with the table.
func TestLargeCheckpoint(t *testing.T) {
	n := largeFiles
	if text := os.Getenv("DELTASQL_LARGE_CHECKPOINT"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatal(err)
		}
	}
	ctx, parquet := context.Background(), openDuck(t)
	schema := `{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"uri","type":"string","nullable":true,"metadata":{}},` +
		`{"name":"at","type":"timestamp","nullable":true,"metadata":{}},{"name":"price","type":"decimal(12,2)","nullable":true,"metadata":{}},` +
		`{"name":"day","type":"date","nullable":true,"metadata":{}}]}`
	actions := []protocol.Action{
		{Protocol: &protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"v2Checkpoint"}, WriterFeatures: []string{"v2Checkpoint"}}},
		{Metadata: &protocol.Metadata{ID: "large", Provider: "parquet", SchemaString: schema, PartitionColumns: []string{"day"}}},
	}
	for i := range n {
		day := time.Unix(int64(i%365)*86400, 0).UTC().Format("2006-01-02")
		actions = append(actions, protocol.Action{Add: &protocol.AddFile{
			Path: fmt.Sprintf("day=%s/part-%05d-6f9619ff-8b86-d011-b42d-%012d.c000.zstd.parquet", day, i%200, i), PartitionValues: map[string]*string{"day": &day},
			Size: int64(1000 + i), ModificationTime: 1_700_000_000_000 + int64(i), DataChange: true,
			Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"id":%d,"uri":"s3://bucket/prefix/%010d","at":"2024-01-02T03:04:05.678Z","price":%d.25},`+
				`"maxValues":{"id":%d,"uri":"s3://bucket/prefix/%010d","at":"2024-01-03T03:04:05.678Z","price":%d.75},"nullCount":{"id":0,"uri":%d,"at":0,"price":0}}`,
				100+i%7, i*100, i*100, i%10000, i*100+99, i*100+99, i%10000+1, i%3),
		}})
	}
	folder := t.TempDir()
	table := log.OpenTable(openLocal(t, folder), "large", parquet)
	data, err := protocol.EncodeCommit(actions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.WriteCommit(ctx, 0, data); err != nil {
		t.Fatal(err)
	}
	actions, data = nil, nil
	snapshot, err := table.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"classic", "v2"} {
		snapshot = setProperties(t, table, snapshot, map[string]string{"delta.checkpointPolicy": policy})
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		peak, stop := watchHeap()
		start := time.Now()
		hint, err := table.Checkpoint(ctx, snapshot, upkeep(time.Now()))
		took := time.Since(start)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if *hint.NumOfAddFiles != int64(n) {
			t.Errorf("%d files", *hint.NumOfAddFiles)
		}
		t.Logf("%s: %d adds in %v, %d bytes, heap grew by %d MiB at most", policy, n, took, *hint.SizeInBytes, (int64(peak())-int64(before.HeapAlloc))>>20)
	}
	want := stateOf(t, snapshot, time.Now())
	last := snapshot.Version()
	keepOnly(t, folder, func(name string) bool { return name > protocol.VersionName(last) && name != protocol.CommitName(last) })
	after, err := log.OpenTable(openLocal(t, folder), "large", parquet).Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := stateOf(t, after, time.Now())
	sameMaps(t, "file", got.adds, want.adds)
	sameMaps(t, "statistics", got.stats, want.stats)
}

// watchHeap samples the heap's size.
func watchHeap() (peak func() uint64, stop func()) {
	var highest uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			highest = max(highest, stats.HeapAlloc)
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { return highest }, func() { close(done); <-ended }
}
