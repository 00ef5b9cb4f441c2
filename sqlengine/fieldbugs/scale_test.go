package fieldbugs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deltasql/sqlengine"
	"deltasql/txn/store"
)

// watched is a store that counts its calls and can be made to refuse checkpoints.
type watched struct {
	store.Store
	calls   *atomic.Int64
	refuses *atomic.Bool
}

func (w watched) List(ctx context.Context, folder, after string) iter.Seq2[store.FileInfo, error] {
	return func(yield func(store.FileInfo, error) bool) {
		entries := 0
		for info, err := range w.Store.List(ctx, folder, after) {
			if entries++; entries%1000 == 1 { // a page
				w.calls.Add(1)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (w watched) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	w.calls.Add(1)
	return w.Store.Read(ctx, name, limit)
}

func (w watched) refused(name string) error {
	w.calls.Add(1)
	if w.refuses.Load() && strings.Contains(name, ".checkpoint") {
		return errors.New("no room for checkpoints")
	}
	return nil
}

func (w watched) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	if err := w.refused(name); err != nil {
		return store.NotWritten, err
	}
	return w.Store.PutIfAbsent(ctx, name, data)
}

func (w watched) Put(ctx context.Context, name string, data []byte) error {
	if err := w.refused(name); err != nil {
		return err
	}
	return w.Store.Put(ctx, name, data)
}

func (w watched) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := w.refused(name); err != nil {
		return err
	}
	return w.Store.PutFrom(ctx, name, write)
}

// PS-02: a checkpoint every interval, with the hint; the last insert asks no more of the store than an early one; and a checkpoint that
// cannot be written is a warning, not the commit's failure.
func TestPS02CheckpointsComeByThemselves(t *testing.T) {
	var calls atomic.Int64
	var refuses atomic.Bool
	catalog := t.TempDir()
	own, err := sqlengine.Open(sqlengine.Options{Catalog: catalog, Memory: "256MB", Threads: 1, Store: func(_ string, files store.Store) store.Store {
		return watched{files, &calls, &refuses}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	session, err := own.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tb := &table{t: t, dir: filepath.Join(catalog, "default", "ps02"), skipping: session, plain: session}
	for properties, interval := range map[string]int{"": 10, " TBLPROPERTIES ('delta.checkpointInterval' = '7')": 7} {
		const inserts = 120
		tb.do("DROP TABLE IF EXISTS ps02", "CREATE TABLE ps02 (id INT)"+properties)
		round := func(from int) int64 { // of an interval, with its checkpoint
			before := calls.Load()
			for i := range interval {
				tb.do(fmt.Sprintf("INSERT INTO ps02 VALUES (%d)", from+i))
			}
			return calls.Load() - before
		}
		first, last := int64(0), int64(0)
		for from := 0; from+interval <= inserts; from += interval {
			last = round(from)
			if from == 2*interval {
				first = last
			}
		}
		if last > first*3/2 {
			t.Errorf("%d inserts make %d calls of the store, the first ones %d", interval, last, first)
		}
		made := inserts / interval * interval
		for v := interval; v <= made; v += interval {
			tb.read(fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", v))
		}
		if hint := string(tb.read("_delta_log/_last_checkpoint")); !strings.Contains(hint, fmt.Sprintf(`"version":%d`, made)) {
			t.Errorf("the hint after %d versions: %s", made, hint)
		}
		tb.want("SELECT count(*) FROM ps02", fmt.Sprint(made))
		refuses.Store(true)
		warned := 0
		for i := range interval {
			tb.do(fmt.Sprintf("INSERT INTO ps02 VALUES (%d)", i))
			warned += len(session.Warnings())
		}
		refuses.Store(false)
		if warned == 0 {
			t.Error("no warning tells of the checkpoint that failed")
		}
		if _, err := os.Stat(tb.path(fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", made+interval))); err == nil {
			t.Error("the checkpoint was written")
		}
		tb.do("INSERT INTO ps02 VALUES (0)")
		tb.want("SELECT count(*) FROM ps02", fmt.Sprint(made+interval+1))
	}
}

// ME-03: a checkpoint of many files takes bounded memory beside the snapshot, leaves expired tombstones out, and lets others append.
func TestME03CheckpointOfManyFiles(t *testing.T) {
	live, tombstones := 50_000, 5_000
	if os.Getenv("DELTASQL_CRASH_TESTS") == "long" {
		live, tombstones = 500_000, 50_000
	}
	tb := newTable(t, shape{fields: []string{"id long", "p string"}, config: map[string]string{"delta.checkpointInterval": "1000000"}})
	young := fmt.Sprint(time.Now().UnixMilli())
	commit := func(version, from, to int, line func(i int) string) {
		lines := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			lines = append(lines, line(i))
		}
		tb.commit(version, lines...)
	}
	statistics := `"stats":"{\"numRecords\":10,\"minValues\":{\"id\":1,\"p\":\"aaaaaaaa\"},\"maxValues\":{\"id\":9,\"p\":\"zzzzzzzz\"},\"nullCount\":{\"id\":0,\"p\":0}}"`
	add := func(i int) string {
		return fmt.Sprintf(`{"add":{"path":"part-%09d-6f9619ff-8b86-d011-b42d-00c04fc964ff.parquet","partitionValues":{},"size":1000,"modificationTime":1700000000000,"dataChange":true,%s}}`, i, statistics)
	}
	drop := func(i int) string {
		at := "1700000000000"
		if i%2 == 0 {
			at = young
		}
		return fmt.Sprintf(`{"remove":{"path":"part-%09d-6f9619ff-8b86-d011-b42d-00c04fc964ff.parquet","deletionTimestamp":%s,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":1000}}`, i, at)
	}
	commit(1, 0, live+tombstones, add)
	commit(2, live, live+tombstones, drop)
	counted, err := tb.rows("SELECT count(*) FROM $t") // from the statistics: there are no files
	if tb.check(err); !slices.Equal(counted, []string{fmt.Sprint(10 * live)}) {
		t.Errorf("%s rows in %d files", counted, live)
	}

	runtime.GC()
	var idle, now runtime.MemStats
	runtime.ReadMemStats(&idle)
	stop, peak := make(chan struct{}), uint64(0)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
		}
	})
	appended := make(chan error, 1)
	other := tb.session()
	go func() { appended <- tb.in(other, "INSERT INTO $t VALUES (1, 'x')", "INSERT INTO $t VALUES (2, 'y')") }()
	tb.do("CHECKPOINT $t")
	tb.check(<-appended)
	close(stop)
	group.Wait()
	const fixed = 128 << 20
	if peak > 2*idle.HeapAlloc+fixed {
		t.Errorf("the heap was %d MB and grew to %d MB", idle.HeapAlloc>>20, peak>>20)
	}
	tb.do("CHECKPOINT $t") // whatever the first one saw of the appends
	files, err := filepath.Glob(tb.path("_delta_log/*.checkpoint*.parquet"))
	tb.check(err)
	slices.Sort(files)
	tb.want("SELECT count(add.path), count(remove.path) FROM parquet.`"+files[len(files)-1]+"`", fmt.Sprintf("%d,%d", live+2, (tombstones+1)/2))
}
