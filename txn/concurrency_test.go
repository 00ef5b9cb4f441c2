package txn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// The history of a table is linearizable if it is that of a counter: a commit adds one and tells its version, a snapshot
// tells the version there is. An operation whose outcome is not known may take effect at any later time, or never.
type counted struct {
	commit  bool
	version int64 // what was told; -1 for a commit that failed or may have
	maybe   bool
}

var versionModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{int64(0)} },
	Step: func(state, _, output any) []any {
		now, op := state.(int64), output.(counted)
		switch {
		case op.maybe:
			return []any{now, now + 1}
		case op.commit && op.version == now+1:
			return []any{now + 1}
		case !op.commit && op.version == now:
			return []any{now}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a.(int64) == b.(int64) },
}

// history collects the operations of several clients.
type history struct {
	mu    sync.Mutex
	start time.Time
	ops   []porcupine.Operation
}

func (h *history) do(client int, op func() (counted, bool)) {
	call := time.Since(h.start).Nanoseconds()
	out, ok := op()
	if !ok {
		return
	}
	end := time.Since(h.start).Nanoseconds()
	if out.maybe {
		end = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Call: call, Output: out, Return: end})
}

// TestConcurrentAppendsAreLinearizable: writers in processes of their own, and readers, while answers of the store are lost.
// Nothing that was said to be committed is lost, nothing is there twice, and versions have no gap (C1, C2, L1).
func TestConcurrentAppendsAreLinearizable(t *testing.T) {
	for _, faults := range []bool{false, true} {
		t.Run(fmt.Sprintf("faults %v", faults), func(t *testing.T) {
			const writers, each = 8, 25
			below := store.NewMemory(nil)
			clean := newRig(t, below)
			clean.create("delta.enableRowTracking=true")
			h := &history{start: time.Now()}
			var group sync.WaitGroup
			var mu sync.Mutex
			wanted, possible := map[string]int64{}, map[string]bool{}
			for w := range writers {
				st := store.Store(below)
				if faults {
					var plan []store.Fault
					for n := 1 + w; n < 4*each; n += 7 {
						plan = append(plan, store.Fault{Op: store.OpPutIfAbsent, Nth: n, Err: errLost, After: n%2 == 0})
					}
					plan = append(plan, store.Fault{Op: store.OpStat, Nth: 40 + w, Err: errors.New("down")})
					st = store.NewFaults(below, plan...)
				}
				r := clean.another(st)
				group.Go(func() {
					for i := range each {
						path := fmt.Sprintf("w%d-%d.parquet", w, i)
						h.do(w, func() (counted, bool) {
							version, err := r.tryAppend(path, int64(i%5))
							mu.Lock()
							defer mu.Unlock()
							if err != nil {
								maybe := protocol.ClassOf(err) == "DELTASQL_COMMIT_OUTCOME_UNKNOWN"
								possible[path] = maybe
								return counted{commit: true, version: -1, maybe: maybe}, maybe
							}
							wanted[path] = version
							return counted{commit: true, version: version}, true
						})
						h.do(w, func() (counted, bool) {
							s, err := r.table.Snapshot(context.Background())
							if err != nil {
								return counted{}, false
							}
							return counted{version: s.Version()}, true
						})
					}
				})
			}
			group.Wait()
			s := clean.another(below).snapshot()
			found := paths(s)
			for _, path := range found {
				if _, ok := wanted[path]; !ok && !possible[path] {
					t.Errorf("%s was said to have failed, but is there", path)
				}
			}
			for path, version := range wanted {
				if !slices.Contains(found, path) {
					t.Errorf("%s was committed as version %d and is lost", path, version)
				}
			}
			if int64(len(found)) != s.Version() {
				t.Errorf("%d files in version %d", len(found), s.Version())
			}
			uniqueRowIDs(t, s)
			if !porcupine.CheckOperations(versionModel.ToModel(), h.ops) {
				t.Error("the history is not linearizable")
			}
		})
	}
}

// tryAppend commits a file of some rows.
func (r *rig) tryAppend(path string, rows int64) (int64, error) {
	s, err := r.table.Snapshot(context.Background())
	if err != nil {
		return 0, err
	}
	tx, err := Begin(context.Background(), r.table, s, r.options())
	if err != nil {
		return 0, err
	}
	if err := tx.Add([]protocol.AddFile{file(path, 1, 0, rows)}, done(tx)); err != nil {
		return 0, err
	}
	c, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	return c.Version, err
}

// TestConcurrentIdentityInserts: statements that lose run again with fresh values; none is given twice, and none is left out
// that an aborted statement did not take.
func TestConcurrentIdentityInserts(t *testing.T) {
	const writers, each = 8, 20
	below := store.NewMemory(nil)
	clean := newRig(t, below)
	clean.create()
	var group sync.WaitGroup
	for w := range writers {
		r := clean.another(below)
		group.Go(func() {
			for i := range each {
				for {
					err := r.insertIdentity(fmt.Sprintf("w%d-%d.parquet", w, i), 3)
					if err == nil {
						break
					}
					if !MayRerun(err) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	s := clean.another(below).snapshot()
	taken := map[string]bool{}
	for i := range s.Files().Len() {
		first := string(s.Files().RawStats(i))
		if taken[first] {
			t.Errorf("values were given twice: %s", first)
		}
		taken[first] = true
	}
	id, _ := s.Config().Schema.Fields[0].Metadata.Identity()
	if want := int64(writers * each * 3); len(taken) != writers*each || id.HighWaterMark == nil || *id.HighWaterMark != want {
		t.Errorf("%d inserts, mark %v, want %d", len(taken), id.HighWaterMark, want)
	}
}

// insertIdentity inserts rows whose identity values stand in v.
func (r *rig) insertIdentity(path string, rows int64) error {
	s, err := r.table.Snapshot(context.Background())
	if err != nil {
		return err
	}
	tx, err := Begin(context.Background(), r.table, s, r.options())
	if err != nil {
		return err
	}
	id, _ := s.Config().Schema.Fields[0].Metadata.Identity()
	first, _ := NextIdentity(id)
	last := first + rows - 1
	if err := tx.Add([]protocol.AddFile{file(path, 1, first, last)}, done(tx)); err != nil {
		return err
	}
	if err := tx.AdvanceIdentity(map[protocol.LogicalName]int64{"id": last}); err != nil {
		return err
	}
	_, err = tx.Commit(context.Background(), Operation{Name: "WRITE"})
	return err
}

// TestRowIDsSurviveAnyRace: transactions that begin and commit in any order, adding, removing, marking and committing files
// again, leave row ids unique and the mark never falling (R1), and every commit stands behind its winners (C3).
func TestRowIDsSurviveAnyRace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		below := store.NewMemory(nil)
		r := newRig(t, below)
		r.create("delta.enableRowTracking=true", "delta.enableDeletionVectors=true")
		var open []*Transaction
		files, vectors, mark := 0, 0, int64(-1)
		for range rapid.IntRange(5, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "step") {
			case 0:
				tx := r.another(below).begin()
				for range rapid.IntRange(1, 3).Draw(rt, "changes") {
					stageAny(rt, r, tx, &files, &vectors)
				}
				open = append(open, tx)
			default:
				if len(open) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
				tx := open[i]
				open = slices.Delete(open, i, i+1)
				before := r.snapshot()
				c, err := tx.Commit(context.Background(), Operation{Name: "UPDATE"})
				s := r.snapshot()
				var conflict *Conflict
				switch {
				case err != nil && !errors.As(err, &conflict):
					rt.Fatal(err)
				case err != nil && s.Version() != before.Version():
					rt.Fatalf("%v, and version %d", err, s.Version())
				case err == nil && !c.Empty && c.Version != before.Version()+1:
					rt.Fatalf("committed as %d behind %d", c.Version, before.Version())
				}
				uniqueRowIDs(t, s)
				now, err := rowMark(s)
				if err != nil || now < mark {
					rt.Fatalf("the mark fell from %d to %d (%v)", mark, now, err)
				}
				mark = now
				keepsRowIDs(rt, before, s)
			}
		}
	})
}

func stageAny(rt *rapid.T, r *rig, tx *Transaction, files, vectors *int) {
	view, err := tx.View()
	r.must(err)
	kind := rapid.IntRange(0, 3).Draw(rt, "change")
	if view.Files().Len() == 0 {
		kind = 0
	}
	if kind == 0 {
		*files++
		r.add(tx, fmt.Sprintf("f%d.parquet", *files), 1, 0, rapid.Int64Range(1, 6).Draw(rt, "rows"))
		return
	}
	old := view.Files().Add(rapid.IntRange(0, view.Files().Len()-1).Draw(rt, "file"))
	old.DataChange = true
	switch kind {
	case 1:
		r.must(tx.Remove(true, old))
	case 2:
		again := old
		again.DataChange = false
		if err := tx.AddAgain(again); err != nil {
			rt.Fatal(err)
		}
	case 3:
		n, _ := numRecords(&old)
		cardinality := int64(1)
		if old.DeletionVector != nil {
			cardinality += old.DeletionVector.Cardinality
		}
		if cardinality < n {
			*vectors++
			r.must(tx.UpdateVector(old, vector(fmt.Sprint("v", *vectors), cardinality), loose(old.Stats)))
		}
	}
}

// keepsRowIDs: a file that was there keeps the ids of its rows.
func keepsRowIDs(rt *rapid.T, before, after *log.Snapshot) {
	bases := map[string]int64{}
	for i := range before.Files().Len() {
		bases[before.Files().Path(i)], _ = before.Files().BaseRowID(i)
	}
	for i := range after.Files().Len() {
		path := after.Files().Path(i)
		if base, ok := bases[path]; ok {
			if now, _ := after.Files().BaseRowID(i); now != base {
				rt.Fatalf("the rows of %s had ids from %d on and have them from %d on", path, base, now)
			}
		}
	}
}

// TestReservedIdentities: values that were set aside are nobody else's, and the commits that use them lose to nobody.
func TestReservedIdentities(t *testing.T) {
	const writers, each = 8, 20
	below := store.NewMemory(nil)
	clean := newRig(t, below)
	clean.create()
	var group sync.WaitGroup
	for w := range writers {
		r := clean.another(below)
		group.Go(func() {
			for i := range each {
				path := fmt.Sprintf("w%d-%d.parquet", w, i)
				if w%2 == 0 { // some do without, and run again
					for err := errRerun; MayRerun(err); {
						err = r.insertIdentity(path, 3)
					}
					continue
				}
				reserved, err := ReserveIdentity(context.Background(), r.table, map[protocol.LogicalName]int64{"id": 3}, r.options())
				if err != nil {
					t.Error(err)
					return
				}
				tx := r.begin()
				r.add(tx, path, 1, reserved["id"], reserved["id"]+2)
				r.commit(tx, "WRITE")
			}
		})
	}
	group.Wait()
	s := clean.another(below).snapshot()
	taken := map[string]bool{}
	for i := range s.Files().Len() {
		taken[string(s.Files().RawStats(i))] = true
	}
	id, _ := s.Config().Schema.Fields[0].Metadata.Identity()
	if len(taken) != writers*each || *id.HighWaterMark != writers*each*3 {
		t.Errorf("%d different ranges of %d, mark %d", len(taken), writers*each, *id.HighWaterMark)
	}
	history, err := clean.another(below).table.History(context.Background(), 0)
	clean.must(err)
	if !slices.ContainsFunc(history, func(c log.Commit) bool {
		return c.Info.Operation() == "CHANGE COLUMN" && c.Info.Tags()[tagIdentity] == "true"
	}) {
		t.Error("no commit that reserves")
	}
}

var errRerun error = &Conflict{Rerun: true, err: protocol.NewError("DELTA_METADATA_CHANGED", "")}

func TestNextIdentities(t *testing.T) {
	mark := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		id          protocol.Identity
		count       int64
		first, last int64
		ok          bool
	}{
		{protocol.Identity{Start: 1, Step: 1}, 3, 1, 3, true},
		{protocol.Identity{Start: 1, Step: 5, HighWaterMark: mark(6)}, 2, 11, 16, true},
		{protocol.Identity{Start: 0, Step: -2}, 3, 0, -4, true},
		{protocol.Identity{Start: math.MaxInt64 - 1, Step: 1}, 2, math.MaxInt64 - 1, math.MaxInt64, true},
		{protocol.Identity{Start: math.MaxInt64 - 1, Step: 1}, 3, 0, 0, false},
		{protocol.Identity{Start: math.MinInt64 + 4, Step: -2}, 3, math.MinInt64 + 4, math.MinInt64, true},
		{protocol.Identity{Start: math.MinInt64 + 4, Step: -2}, 4, 0, 0, false},
		{protocol.Identity{Start: math.MinInt64, Step: math.MaxInt64}, 3, math.MinInt64, math.MaxInt64 - 1, true},
		{protocol.Identity{Step: 1, HighWaterMark: mark(math.MaxInt64)}, 1, 0, 0, false},
	} {
		first, last, ok := nextIdentities(c.id, c.count)
		if ok != c.ok || ok && (first != c.first || last != c.last) {
			t.Errorf("%+v: %d to %d, %v", c, first, last, ok)
		}
	}
}

func TestNextIdentity(t *testing.T) {
	mark := func(v int64) *int64 { return &v }
	if _, ok := NextIdentity(protocol.Identity{Step: 2, HighWaterMark: mark(math.MaxInt64 - 1)}); ok {
		t.Error("a column that has run out gives a value")
	}
	if v, ok := NextIdentity(protocol.Identity{Start: 9, Step: -2}); !ok || v != 9 {
		t.Error("the first value is the start")
	}
}
