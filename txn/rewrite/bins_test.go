package rewrite_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
	"deltasql/txn/store"
)

// packed is a table whose log names files that are nowhere: packing looks at the log alone.
func packed(t *testing.T, adds []protocol.AddFile) *log.Snapshot {
	t.Helper()
	table := log.OpenTable(store.NewMemory(time.Now), "t", nil)
	metadata := protocol.Metadata{ID: "id", Provider: "parquet", PartitionColumns: []string{"p"}, Configuration: map[string]string{},
		SchemaString: `{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}},{"name":"p","type":"string","nullable":true,"metadata":{}}]}`}
	actions := []protocol.Action{{Protocol: &protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}, {Metadata: &metadata}}
	for i := range adds {
		actions = append(actions, protocol.Action{Add: &adds[i]})
	}
	data, err := protocol.EncodeCommit(actions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.WriteCommit(t.Context(), 0, data); err != nil {
		t.Fatal(err)
	}
	snapshot, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func file(name, partition string, size int64) protocol.AddFile {
	return protocol.AddFile{Path: name, Size: size, PartitionValues: map[string]*string{"p": &partition}, Stats: `{"numRecords":100}`}
}

func clustered(name string, size int64, cube, columns string) protocol.AddFile {
	add := file(name, "", size)
	add.ClusteringProvider = rewrite.ClusteringProvider
	add.Tags = map[string]string{rewrite.TagCubeID: cube, rewrite.TagCubeColumns: columns}
	return add
}

// names are the files of bins, a text a bin.
func names(s *log.Snapshot, bins *rewrite.Bins) []string {
	var out []string
	for _, bin := range bins.Bins {
		text := ""
		for _, number := range bin.Files {
			text += s.Files().Path(int(number))
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func TestPackSmall(t *testing.T) {
	s := packed(t, []protocol.AddFile{
		file("a", "x", 10), file("b", "x", 60), file("c", "x", 30), file("d", "x", 75), file("e", "x", 100),
		file("f", "y", 10),                     // alone in its partition
		file("g", "z", 50), file("h", "z", 60), // too large together
	})
	packing := rewrite.Packing{TargetBytes: 100, SmallBytes: 75, MaxDeleted: 0.05}
	bins := rewrite.PackSmall(s, packing)
	if got := fmt.Sprint(names(s, bins)); got != "[acb]" || bins.Considered != 8 || bins.Skipped != 5 {
		t.Errorf("%s, %d considered, %d skipped", got, bins.Considered, bins.Skipped)
	}
	packing.Lone = true
	if got := fmt.Sprint(names(s, rewrite.PackSmall(s, packing))); got != "[acb f g h]" {
		t.Errorf("lone files too: %s", got)
	}
	packing.Only, packing.Lone = []int32{0, 1}, false
	if got := fmt.Sprint(names(s, rewrite.PackSmall(s, packing))); got != "[ab]" {
		t.Errorf("some files only: %s", got)
	}
}

func TestPackSorted(t *testing.T) {
	sorted := func(name, partition string) protocol.AddFile {
		add := file(name, partition, 10)
		add.Tags = map[string]string{rewrite.TagCubeID: "c" + partition, rewrite.TagCubeColumns: `["a"]`, rewrite.TagCubeCurve: "zorder"}
		return add
	}
	s := packed(t, []protocol.AddFile{sorted("a", "x"), sorted("b", "x"), sorted("c", "y"), file("d", "y", 1)})
	if got := fmt.Sprint(names(s, rewrite.PackSorted(s, rewrite.Packing{}, []string{"a"}))); got != "[cd]" {
		t.Errorf("a sorted partition is not left alone: %s", got)
	}
	if got := fmt.Sprint(names(s, rewrite.PackSorted(s, rewrite.Packing{}, []string{"a", "b"}))); got != "[ab cd]" {
		t.Errorf("other columns: %s", got)
	}
}

func TestPackClustering(t *testing.T) {
	other := file("o", "", 5)
	other.ClusteringProvider = "another"
	s := packed(t, []protocol.AddFile{
		file("n", "", 10), clustered("s", 30, "small", `["a"]`), clustered("m", 100, "middle", `["a"]`), clustered("l", 5000, "large", `["a"]`),
		clustered("f", 5, "foreign", `["b"]`), other,
	})
	c := rewrite.Clustering{Columns: []string{"a"}, FullCubeBytes: 1000, MaxDeleted: 0.05}
	// The small cube weighs less than four times what is new; with it, the middle one does too.
	if got := fmt.Sprint(names(s, rewrite.PackClustering(s, c))); got != "[nsm]" {
		t.Errorf("%s", got)
	}
	c.Full = true
	if got := fmt.Sprint(names(s, rewrite.PackClustering(s, c))); got != "[nsmfo]" {
		t.Errorf("full: %s", got)
	}
	c.Full = false
	done := packed(t, []protocol.AddFile{clustered("a", 10, "one", `["a"]`), clustered("b", 10, "one", `["a"]`), clustered("c", 1, "two", `["a"]`)})
	if bins := rewrite.PackClustering(done, c); len(bins.Bins) != 0 || bins.Skipped != 3 || bins.Cubes != 2 {
		t.Errorf("what is clustered is clustered again: %v", names(done, bins))
	}
}

func TestJobs(t *testing.T) {
	bins := []rewrite.Bin{{Tuple: 0, Bytes: 1}, {Tuple: 1, Bytes: 1}, {Tuple: 1, Bytes: 1}, {Tuple: 2, Bytes: 1 << 40}}
	var sizes []int
	for _, job := range rewrite.Jobs(bins) {
		sizes = append(sizes, len(job))
	}
	if fmt.Sprint(sizes) != "[2 1 1]" {
		t.Errorf("jobs of %v bins: two bins of one partition, or large ones, go apart", sizes)
	}
}

func TestRelocate(t *testing.T) {
	s := packed(t, []protocol.AddFile{file("a", "x", 1), file("b", "x", 1), file("c", "x", 1)})
	bin := rewrite.PackSmall(s, rewrite.Packing{TargetBytes: 10, SmallBytes: 10}).Bins[0]
	places := rewrite.Places(s)
	delete(places, rewrite.Key(s, 1))
	if moved := bin.Relocate(places); fmt.Sprint(moved.Files) != "[0 2]" {
		t.Errorf("relocated to %v", moved.Files)
	}
}
