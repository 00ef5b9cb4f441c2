package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// faulty is a table on a store that fails in the given ways from now on, its data in the store below.
func faulty(t *testing.T, faults ...store.Fault) (*rig, *store.Faults, *store.Memory) {
	t.Helper()
	below := store.NewMemory(nil)
	clean := newRig(t, below)
	clean.create("delta.enableRowTracking=true")
	clean.append("old.parquet", 1, 0, 9)
	f := store.NewFaults(below, faults...)
	r := clean.another(f)
	return r, f, below
}

// staging begins on the clean store and stages a file, so that faults count from the commit.
func staging(t *testing.T, r *rig, f *store.Faults, below *store.Memory) *Transaction {
	t.Helper()
	_, err := below.PutIfAbsent(context.Background(), "new.parquet", []byte("data"))
	r.must(err)
	snapshot, err := r.another(below).table.Snapshot(context.Background())
	r.must(err)
	tx, err := Begin(context.Background(), r.table, snapshot, r.options())
	r.must(err)
	tx.Wrote("new.parquet")
	r.add(tx, "new.parquet", 2, 0, 4)
	f.Calls()
	return tx
}

// blind lets a commit look once, at the log before its first try, and never again.
func blind() []store.Fault {
	var faults []store.Fault
	for nth := 2; nth < 50; nth++ {
		faults = append(faults, store.Fault{Op: store.OpStat, Nth: nth, Err: errors.New("down")})
	}
	return faults
}

var errLost = fmt.Errorf("connection reset: %w", store.ErrOutcomeUnknown)

func TestLostAnswers(t *testing.T) {
	for _, c := range []struct {
		name      string
		faults    []store.Fault
		committed bool
	}{
		{"written, answer lost", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost, After: true}}, true},
		{"not written, answer lost", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost}}, true},
		{"twice not written", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost}, {Op: store.OpPutIfAbsent, Nth: 2, Err: errLost}}, true},
		{"written, and a look fails once", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost, After: true}, {Op: store.OpStat, Nth: 2, Err: errors.New("down")}}, true},
		{"throttled, then written", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: store.ErrThrottled}, {Op: store.OpPutIfAbsent, Nth: 2, Err: store.ErrThrottled}}, true},
		{"refused", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Err: errors.New("forbidden")}}, false},
		{"delayed", []store.Fault{{Op: store.OpPutIfAbsent, Nth: 1, Delay: time.Millisecond}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, f, below := faulty(t, c.faults...)
			tx := staging(t, r, f, below)
			done, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
			s := r.another(below).snapshot()
			if c.committed {
				r.must(err)
				if done.Version != 2 || s.Version() != 2 || !slices.Equal(paths(s), []string{"new.parquet", "old.parquet"}) {
					t.Errorf("%+v, version %d with %q", done, s.Version(), paths(s))
				}
				uniqueRowIDs(t, s)
				return
			}
			wantClass(t, err, "DELTASQL_STORAGE")
			if s.Version() != 1 || r.another(below).exists("new.parquet") {
				t.Errorf("version %d, file left: %v", s.Version(), r.another(below).exists("new.parquet"))
			}
		})
	}
}

// A commit of which nobody knows whether it stands keeps its files, for it may.
func TestUnknownOutcomesKeepFiles(t *testing.T) {
	for _, written := range []bool{true, false} {
		r, f, below := faulty(t, append(blind(), store.Fault{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost, After: written})...)
		tx := staging(t, r, f, below)
		_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
		wantClass(t, err, "DELTASQL_COMMIT_OUTCOME_UNKNOWN")
		clean := r.another(below)
		if !clean.exists("new.parquet") {
			t.Error("a file was deleted that a version may refer to")
		}
		if got, want := clean.snapshot().Version(), map[bool]int64{true: 2, false: 1}[written]; got != want {
			t.Errorf("version %d, want %d", got, want)
		}
	}
	// A write without an answer, then one that is refused: the first may still arrive.
	r, f, below := faulty(t, store.Fault{Op: store.OpPutIfAbsent, Nth: 1, Err: errLost}, store.Fault{Op: store.OpPutIfAbsent, Nth: 2, Err: errors.New("down")})
	tx := staging(t, r, f, below)
	_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTASQL_COMMIT_OUTCOME_UNKNOWN")
	if !r.another(below).exists("new.parquet") {
		t.Error("a file was deleted that a version may refer to")
	}
}

// A store that repeats a request by itself answers "exists" for what it has written: the commit is recognised (bugs CC-04).
func TestOwnCommitIsRecognised(t *testing.T) {
	below := store.NewMemory(nil)
	clean := newRig(t, below)
	clean.create()
	r := clean.another(repeating{below})
	tx := r.begin()
	r.put(tx, "a.parquet")
	r.add(tx, "a.parquet", 1, 0, 1)
	done := r.commit(tx, "WRITE")
	if s := clean.snapshot(); done.Version != 1 || s.Version() != 1 || s.Files().Len() != 1 || !clean.exists("a.parquet") {
		t.Errorf("%+v, version %d", done, s.Version())
	}
}

// repeating sends each write twice, as a client does that lost the first answer, and tells the second answer.
type repeating struct{ *store.Memory }

func (s repeating) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	if !strings.HasSuffix(name, ".json") {
		return s.Memory.PutIfAbsent(ctx, name, data)
	}
	_, _ = s.Memory.PutIfAbsent(ctx, name, data)
	return s.Memory.PutIfAbsent(ctx, name, data)
}

// A process that dies at any call to the store leaves the old version or the new one, and the new one if it said so.
func TestCrashAtEveryCall(t *testing.T) {
	for _, contended := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			for n := 1; ; n++ {
				r, f, below := faulty(t, store.Fault{Op: store.OpAny, Nth: n, Crash: true, After: after})
				tx := staging(t, r, f, below)
				base := int64(1)
				if contended {
					r.another(below).append("rival.parquet", 1, 0, 2)
					base++
				}
				done, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
				calls := f.Calls()
				s := r.another(below).snapshot()
				has := slices.Contains(paths(s), "new.parquet")
				switch {
				case s.Version() != base && s.Version() != base+1, has != (s.Version() == base+1):
					t.Fatalf("crash at %q: version %d, file in it: %v", calls, s.Version(), has)
				case err == nil && (!has || done.Version != s.Version()):
					t.Fatalf("crash at %q: said to be committed as %d, but version %d", calls, done.Version, s.Version())
				case has && !r.another(below).exists("new.parquet"):
					t.Fatalf("crash at %q: the file of the version is gone", calls)
				case err != nil && has && protocol.ClassOf(err) != "DELTASQL_COMMIT_OUTCOME_UNKNOWN":
					t.Fatalf("crash at %q: said to have failed, but it stands: %v", calls, err)
				}
				uniqueRowIDs(t, s)
				if len(calls) < n {
					break // the whole commit was made without reaching the call
				}
			}
		}
	}
}

// Errors of any one call leave the table as it was or as it was to be, and a failed commit leaves no file.
func TestErrorAtEveryCall(t *testing.T) {
	for _, contended := range []bool{false, true} {
		for n := 1; ; n++ {
			r, f, below := faulty(t, store.Fault{Op: store.OpAny, Nth: n, Err: errors.New("a fault")})
			tx := staging(t, r, f, below)
			if contended {
				r.another(below).append("rival.parquet", 1, 0, 2)
			}
			_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
			calls := f.Calls()
			clean := r.another(below)
			has := slices.Contains(paths(clean.snapshot()), "new.parquet")
			if has != (err == nil) || has != clean.exists("new.parquet") {
				t.Fatalf("fault at %q: %v, committed: %v, file: %v", calls, err, has, clean.exists("new.parquet"))
			}
			if len(calls) < n {
				break
			}
		}
	}
}

func TestRetriesAreBounded(t *testing.T) {
	below := store.NewMemory(nil)
	r := newRig(t, below)
	r.create()
	rival := r.another(below)
	o := r.options()
	o.MaxRetries = 4
	var waits []int
	o.Wait = func(_ context.Context, attempt int) error {
		waits = append(waits, attempt)
		rival.append(fmt.Sprintf("rival%d.parquet", attempt), 1, 0, 0)
		return nil
	}
	tx, err := Begin(context.Background(), r.table, r.snapshot(), o)
	r.must(err)
	r.put(tx, "a.parquet")
	r.add(tx, "a.parquet", 1, 0, 1)
	rival.append("rival.parquet", 1, 0, 0)
	c, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED")
	if c.Attempts != 4 || fmt.Sprint(waits) != "[1 2 3]" || r.exists("a.parquet") {
		t.Errorf("%+v, waited %v", c, waits)
	}
	// The end of the context ends the waiting.
	tx, err = Begin(context.Background(), r.table, r.snapshot(), r.options())
	r.must(err)
	r.add(tx, "b.parquet", 1, 0, 1)
	rival.append("last.parquet", 1, 0, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = tx.Commit(ctx, Operation{Name: "WRITE"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Neither is a version another's that exists but cannot be read: it may be this commit, sent twice.
func TestUnreadableWinnersLeaveDoubt(t *testing.T) {
	below := store.NewMemory(nil)
	clean := newRig(t, below)
	clean.create()
	f := store.NewFaults(repeating{below}, blind()...)
	r := clean.another(f)
	tx, err := Begin(context.Background(), r.table, clean.snapshot(), r.options())
	r.must(err)
	_, err = below.PutIfAbsent(context.Background(), "a.parquet", []byte("data"))
	r.must(err)
	tx.Wrote("a.parquet")
	r.add(tx, "a.parquet", 1, 0, 1)
	_, err = tx.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTASQL_COMMIT_OUTCOME_UNKNOWN")
	if s := clean.snapshot(); s.Version() != 1 || !clean.exists("a.parquet") {
		t.Errorf("version %d, file: %v", s.Version(), clean.exists("a.parquet"))
	}
}
