package stats

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"deltasql/protocol"
)

// countingSource counts the texts read.
type countingSource struct {
	memorySource
	reads atomic.Int64
}

func (s *countingSource) RawStats(i int) []byte {
	s.reads.Add(1)
	return s.memorySource.RawStats(i)
}

func numberedFiles(n int) memorySource {
	files := make(memorySource, n)
	for i := range files {
		files[i] = memoryFile{
			stats:  fmt.Sprintf(`{"numRecords":10,"minValues":{"a":%d,"s":"s3://bucket/part-%07d"},"maxValues":{"a":%d,"s":"s3://bucket/part-%07d~"},"nullCount":{"a":0,"s":0}}`, i*10, i, i*10+9, i),
			values: map[string]string{"p": fmt.Sprint(i % 100)},
		}
	}
	return files
}

func TestTableParsesOnceAndLazily(t *testing.T) {
	const n = 2 * indexMinFiles
	source := &countingSource{memorySource: numberedFiles(n)}
	table := NewTable(source, config("a long", "s string", "*p int"))
	read := func(want int64, what string) {
		t.Helper()
		if got := source.reads.Swap(0); got != want {
			t.Errorf("%s: %d texts read, want %d", what, got, want)
		}
	}
	table.Prune(cmpOf("p int", Equal, 5))
	read(0, "partitions alone")
	got := table.Prune(And{cmpOf("p int", Equal, 5), cmpOf("a long", Less, 6000)})
	if !slices.Equal(got.Keep, []int32{5, 105, 205, 305, 405, 505}) || got.SkippedByStats != 82-6 {
		t.Errorf("%+v", got)
	}
	read(82, "a leaf of the few files that partitions leave")
	table.Prune(And{cmpOf("a long", Equal, 77), cmpOf("s string", Greater, "x")})
	read(n, "two leaves at once")
	table.Prune(Or{cmpOf("a long", Equal, 77), cmpOf("s string", Greater, "x")})
	table.Prune(And{cmpOf("p int", Equal, 5), cmpOf("a long", Less, 6000)})
	table.Rows(nil)
	read(0, "the same again")
	if table.Bytes() < n*(8+8+8) {
		t.Errorf("%d bytes", table.Bytes())
	}
}

func TestTableConcurrentUse(t *testing.T) {
	const n = indexMinFiles + 10
	table := NewTable(numberedFiles(n), config("a long", "s string", "*p int"))
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range 10 {
				f := (worker*977 + i*131) % n
				p := []Predicate{
					cmpOf("a long", Equal, f*10+3), cmpOf("s string", Equal, fmt.Sprintf("s3://bucket/part-%07d", f)),
					And{cmpOf("p int", Equal, f%100), cmpOf("a long", Equal, f*10)},
				}[(worker+i)%3]
				if got := table.Prune(p).Keep; !slices.Equal(got, []int32{int32(f)}) {
					t.Errorf("%s keeps %v", p, got)
				}
				table.Rows(nil)
				table.MinMax(leafOf("a long"), nil)
				table.Bytes()
			}
		}()
	}
	wait.Wait()
}

// Runs parsed side by side must join into the same column, the last, shorter one too.
func TestTableParsesInRuns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 3*minRunFiles + 77
	files := numberedFiles(n)
	files[n-2].stats, files[minRunFiles+5].stats = "", `{"numRecords":1`
	table := NewTable(files, config("a long", "s string"))
	a, s := table.columnOf(leafOf("a long")), table.columnOf(leafOf("s string"))
	for f := range int32(n) {
		known := f != n-2 && f != minRunFiles+5
		low, high := fmt.Sprintf("s3://bucket/part-%07d", f), fmt.Sprintf("s3://bucket/part-%07d~", f)
		if !known {
			low, high = "", ""
		}
		if a.hasMin.has(f) != known || s.hasMax.has(f) != known || known && a.max.ints[f] != int64(f)*10+9 {
			t.Fatalf("file %d: %d, %v", f, a.max.ints[f], known)
		}
		if string(s.min.text(f)) != low || string(s.max.text(f)) != high {
			t.Fatalf("file %d: %q to %q", f, s.min.text(f), s.max.text(f))
		}
	}
}

// A million files: go test -run - -bench Million ./stats
func BenchmarkMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("large")
	}
	const n = 1_000_000
	source := bulkSource{stats: make([][]byte, n)}
	for i := range n {
		id := (i * 7919) % n
		source.stats[i] = fmt.Appendf(nil, `{"numRecords":1000,"minValues":{"id":%d,"uri":"s3://bucket/prefix/object-%09d.bin","ts":"2024-01-02T03:04:05.678Z"},"maxValues":{"id":%d,"uri":"s3://bucket/prefix/object-%09d.bin","ts":"2024-01-02T03:04:06.678Z"},"nullCount":{"id":0,"uri":0,"ts":3}}`, id*10, id, id*10+9, id)
	}
	cfg := config("id long", "uri string", "ts ts", "*p int")
	fresh := func() *Table { return NewTable(source, cfg) }
	build := func(p Predicate) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				fresh().Prune(p)
			}
		}
	}
	b.Run("records", func(b *testing.B) {
		for b.Loop() {
			fresh().Rows(nil)
		}
	})
	b.Run("build/long", build(cmpOf("id long", Equal, 5)))
	b.Run("build/string", build(cmpOf("uri string", Equal, "x")))
	b.Run("build/three", build(And{cmpOf("id long", Equal, 5), cmpOf("uri string", Equal, "x"), isNull("ts ts")}))
	b.Run("build/partition", build(cmpOf("p int", Equal, 5)))
	b.Run("index/string", func(b *testing.B) {
		c := fresh().columnOf(leafOf("uri string"))
		for b.Loop() {
			newSortedIndex(c)
		}
	})
	b.Run("index/long", func(b *testing.B) {
		c := fresh().columnOf(leafOf("id long"))
		for b.Loop() {
			newSortedIndex(c)
		}
	})
	table := fresh()
	ask := func(p Predicate) func(*testing.B) {
		return func(b *testing.B) {
			for range indexAfterLookups + 1 {
				table.Prune(p)
			}
			for b.Loop() {
				table.Prune(p)
			}
		}
	}
	b.Run("point/long", ask(cmpOf("id long", Equal, 5_000_003)))
	b.Run("point/string", ask(cmpOf("uri string", Equal, "s3://bucket/prefix/object-000500000.bin")))
	b.Run("point/partition", ask(cmpOf("p int", Equal, 77)))
	b.Run("range/long", ask(And{cmpOf("id long", Greater, 5_000_000), cmpOf("id long", Less, 5_001_000)}))
	b.Run("pass/long", ask(cmpOf("id long", Greater, 5_000_000)))
	b.Run("pass/string", ask(cmpOf("uri string", Greater, "s3://bucket/prefix/object-000500000.bin")))
	b.Logf("%d bytes", table.Bytes())
}

type bulkSource struct{ stats [][]byte }

func (s bulkSource) NumFiles() int         { return len(s.stats) }
func (s bulkSource) RawStats(i int) []byte { return s.stats[i] }
func (s bulkSource) DeletedRows(int) int64 { return 0 }

func (s bulkSource) PartitionValue(i int, _ protocol.PhysicalName) (string, bool) {
	return [...]string{"77", "78", "79", "80", "81", "82", "83", "84", "85", "86", "87"}[i%11], false
}
