package txn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// held is a table whose turn is taken, so that what is committed waits.
func held(t *testing.T) (*rig, func()) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableRowTracking=true")
	end, err := r.table.Turn(context.Background(), nil)
	r.must(err)
	return r, end
}

// waitFor lets the number of appends come to wait.
func waitFor(r *rig, n int) {
	for {
		queues.Lock()
		waits := len(queues.of[r.table])
		queues.Unlock()
		if waits == n {
			return
		}
	}
}

func (r *rig) appendOf(path string, rows int64, o Options) func(context.Context) (Committed, error) {
	tx, err := Begin(context.Background(), r.table, r.snapshot(), o)
	r.must(err)
	r.put(tx, path)
	r.add(tx, path, 1, 0, rows-1)
	return func(ctx context.Context) (Committed, error) {
		return tx.Commit(ctx, Operation{
			Name: "WRITE", Parameters: []Parameter{{Key: "mode", Value: protocol.JSONText("Append")}},
			Metrics: []Metric{{Key: "numFiles", Value: "1"}, {Key: "numOutputRows", Value: strconv.FormatInt(rows, 10)}},
		})
	}
}

func TestWaitingAppendsBecomeOneVersion(t *testing.T) {
	r, end := held(t)
	stranger := r.options()
	stranger.UserMetadata = "mine"
	commits := []func(context.Context) (Committed, error){
		r.appendOf("a.parquet", 3, r.options()), r.appendOf("b.parquet", 4, r.options()), r.appendOf("c.parquet", 5, r.options()),
		r.appendOf("d.parquet", 6, stranger),
	}
	results := make([]Committed, len(commits))
	var group sync.WaitGroup
	for i, commit := range commits {
		group.Go(func() {
			var err error
			if results[i], err = commit(context.Background()); err != nil {
				t.Error(err)
			}
		})
		waitFor(r, i+1)
	}
	end()
	group.Wait()
	if results[0].Version != results[1].Version || results[1].Version != results[2].Version || results[3].Version == results[0].Version {
		t.Errorf("%+v", results)
	}
	raw := r.raw(results[0].Version)
	if !strings.Contains(raw, `"operationMetrics":{"numFiles":"3","numOutputRows":"12"}`) || strings.Count(raw, `{"add":`) != 3 {
		t.Error(raw)
	}
	if raw := r.raw(results[3].Version); !strings.Contains(raw, `"userMetadata":"mine"`) || strings.Count(raw, `{"add":`) != 1 {
		t.Error(raw)
	}
	s := r.snapshot()
	if s.Version() != 2 || s.Files().Len() != 4 {
		t.Errorf("version %d with %d files", s.Version(), s.Files().Len())
	}
	uniqueRowIDs(t, s)
	if len(queues.of) != 0 {
		t.Error("a queue is left")
	}
}

// One bad append does not fail the others.
func TestJoinedAppendsFailAlone(t *testing.T) {
	r, end := held(t)
	good := r.appendOf("good.parquet", 1, r.options())
	tx := r.begin()
	r.put(tx, "bad.parquet")
	bad := file("bad.parquet", 1, 0, 0)
	bad.Stats = ""
	r.must(tx.Add([]protocol.AddFile{bad}, done(tx)))
	var errGood, errBad error
	var group sync.WaitGroup
	group.Go(func() {
		_, errBad = tx.Commit(context.Background(), Operation{
			Name: "WRITE", Parameters: []Parameter{{Key: "mode", Value: protocol.JSONText("Append")}},
			Metrics: []Metric{{Key: "numFiles", Value: "1"}, {Key: "numOutputRows", Value: "1"}},
		})
	})
	waitFor(r, 1)
	group.Go(func() { _, errGood = good(context.Background()) })
	waitFor(r, 2)
	end()
	group.Wait()
	r.must(errGood)
	wantClass(t, errBad, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS")
	if got := strings.Join(paths(r.snapshot()), " "); got != "good.parquet" || r.exists("bad.parquet") || !r.exists("good.parquet") {
		t.Errorf("files %s", got)
	}
}

// Who is cancelled while waiting leaves, and its file goes; the others are committed.
func TestCancelledAppendsLeaveTheQueue(t *testing.T) {
	r, end := held(t)
	first, second := r.appendOf("a.parquet", 1, r.options()), r.appendOf("b.parquet", 1, r.options())
	ctx, cancel := context.WithCancel(context.Background())
	var errFirst, errSecond error
	var cancelled, group sync.WaitGroup
	cancelled.Go(func() { _, errFirst = first(ctx) })
	waitFor(r, 1)
	group.Go(func() { _, errSecond = second(context.Background()) })
	waitFor(r, 2)
	cancel()
	cancelled.Wait()
	end()
	group.Wait()
	r.must(errSecond)
	if !errors.Is(errFirst, context.Canceled) || r.exists("a.parquet") || strings.Join(paths(r.snapshot()), " ") != "b.parquet" {
		t.Errorf("%v, files %q", errFirst, paths(r.snapshot()))
	}
}

// Sessions of one process: each is told a version that has its file, once.
func TestSessionsOfOneProcess(t *testing.T) {
	const sessions, each = 8, 40
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableRowTracking=true")
	var group sync.WaitGroup
	var mu sync.Mutex
	versions := map[string]int64{}
	for w := range sessions {
		group.Go(func() {
			for i := range each {
				path := fmt.Sprintf("w%d-%d.parquet", w, i)
				c, err := r.appendOf(path, 2, r.options())(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				versions[path] = c.Version
				mu.Unlock()
			}
		})
	}
	group.Wait()
	s := r.snapshot()
	uniqueRowIDs(t, s)
	if s.Files().Len() != sessions*each || len(versions) != sessions*each {
		t.Fatalf("%d files of %d", s.Files().Len(), sessions*each)
	}
	for path, version := range versions {
		if got := *live(t, s, path).DefaultRowCommitVersion; got != version {
			t.Errorf("%s was said to be in version %d and is in %d", path, version, got)
		}
	}
}
