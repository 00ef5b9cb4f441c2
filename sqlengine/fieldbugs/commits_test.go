package fieldbugs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"deltasql/sqlengine"
	"deltasql/txn/store"
)

// lossy is a store whose answers to writes of commits get lost: lose says what the writer learns of a write that was made.
type lossy struct {
	store.Store
	lose func(done store.Outcome, err error) (store.Outcome, error)
	lost *atomic.Int64
}

func (s lossy) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	done, err := s.Store.PutIfAbsent(ctx, name, data)
	if !strings.HasSuffix(name, ".json") || done != store.Written {
		return done, err
	}
	s.lost.Add(1)
	return s.lose(done, err)
}

// CC-04: a writer whose commit was written, but who is told "exists" or nothing, finds its own commit and reports it once; one that was
// overtaken comes after the other, and nobody's commit is overwritten.
func TestCC04LostAnswersOfCommits(t *testing.T) {
	for name, lose := range map[string]func(store.Outcome, error) (store.Outcome, error){
		"exists":  func(store.Outcome, error) (store.Outcome, error) { return store.NotWritten, store.ErrExists },
		"unknown": func(store.Outcome, error) (store.Outcome, error) { return store.Unknown, store.ErrOutcomeUnknown },
	} {
		t.Run(name, func(t *testing.T) {
			catalog, lost := t.TempDir(), &atomic.Int64{}
			open := func(wrap func(string, store.Store) store.Store) *sqlengine.Session {
				e, err := sqlengine.Open(sqlengine.Options{Catalog: catalog, Memory: "256MB", Threads: 1, Store: wrap})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				s, err := e.NewSession(sqlengine.SessionOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			clean := open(nil)
			slow := open(func(_ string, files store.Store) store.Store { return lossy{files, lose, lost} })
			tb := &table{t: t, dir: filepath.Join(catalog, "default", "cc04"), skipping: clean, plain: clean}
			tb.do("CREATE TABLE cc04 (id INT, w STRING)", "INSERT INTO cc04 VALUES (0, 'first')")
			for i := range 4 {
				tb.check(tb.in(slow, "BEGIN", fmt.Sprintf("INSERT INTO cc04 VALUES (%d, 'slow')", i)))
				tb.do(fmt.Sprintf("INSERT INTO cc04 VALUES (%d, 'rival')", i))
				tb.check(tb.in(slow, "COMMIT", "UPDATE cc04 SET id = id + 10 WHERE w = 'slow' AND id < 10"))
			}
			if lost.Load() != 8 {
				t.Errorf("%d answers were lost", lost.Load())
			}
			if tb.newest() != 13 { // CREATE, INSERT, and four times two inserts and an update
				t.Errorf("the newest version is %d", tb.newest())
			}
			tb.want("SELECT w, count(*), sum(id) FROM cc04 GROUP BY w", `"first",1,0`, `"rival",4,6`, `"slow",4,46`)
			tb.faultless()
		})
	}
}
