package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// eachStore runs a test against every store that keeps the promises.
func eachStore(t *testing.T, test func(t *testing.T, s Store)) {
	local, err := NewLocal(filepath.Join(t.TempDir(), "not", "there yet"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("local", func(t *testing.T) { test(t, local) })
	t.Run("memory", func(t *testing.T) { test(t, NewMemory(nil)) })
	t.Run("faults", func(t *testing.T) { test(t, NewFaults(NewMemory(nil))) })
}

func names(t *testing.T, s Store, folder, after string) []string {
	t.Helper()
	var found []string
	for info, err := range s.List(context.Background(), folder, after) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, info.Name)
	}
	return found
}

func TestStoreListsInOrderAfterAName(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		for _, name := range []string{"log/b", "log/a", "log/sub/x", "log/sub-1", "log/sub/y", "other", "log/c d"} {
			if outcome, err := s.PutIfAbsent(ctx, name, []byte(name)); err != nil || outcome != Written {
				t.Fatal(name, outcome, err)
			}
		}
		for _, c := range []struct {
			folder, after string
			want          []string
		}{
			{"", "", []string{"log/", "other"}},
			{"log/", "", []string{"log/a", "log/b", "log/c d", "log/sub-1", "log/sub/"}},
			{"log/", "log/a", []string{"log/b", "log/c d", "log/sub-1", "log/sub/"}},
			{"log/", "log/b!", []string{"log/c d", "log/sub-1", "log/sub/"}},
			{"log/", "log/z", nil},
			{"log/", "m", nil},
			{"log/", "a", []string{"log/a", "log/b", "log/c d", "log/sub-1", "log/sub/"}},
			{"log/sub/", "log/sub/x", []string{"log/sub/y"}},
		} {
			if got := names(t, s, c.folder, c.after); !reflect.DeepEqual(got, c.want) {
				t.Errorf("list %q after %q: %q, want %q", c.folder, c.after, got, c.want)
			}
		}
		for _, err := range s.List(ctx, "nothing/", "") {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("list of a missing folder: %v", err)
			}
		}
	})
}

func TestStoreReadsWithinLimits(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		if err := s.Put(ctx, "f", []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Read(ctx, "f", 10); err != nil || string(data) != "0123456789" {
			t.Errorf("read: %q %v", data, err)
		}
		if _, err := s.Read(ctx, "f", 9); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "f") {
			t.Errorf("read over the limit: %v", err)
		}
		for _, c := range []struct {
			offset, length int64
			want           string
		}{{0, 4, "0123"}, {8, 4, "89"}, {10, 1, ""}, {99, 1, ""}, {3, 0, ""}} {
			if data, err := s.ReadRange(ctx, "f", c.offset, c.length); err != nil || string(data) != c.want {
				t.Errorf("range %d+%d: %q %v", c.offset, c.length, data, err)
			}
		}
		if _, err := s.ReadRange(ctx, "f", -1, 2); err == nil {
			t.Error("a negative offset was accepted")
		}
		if _, err := s.Read(ctx, "g", 10); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "g") {
			t.Errorf("read of a missing object: %v", err)
		}
		if _, err := s.Stat(ctx, "g"); !errors.Is(err, ErrNotFound) {
			t.Errorf("stat of a missing object: %v", err)
		}
	})
}

func TestStoreWritesOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		const writers = 8
		var group sync.WaitGroup
		outcomes := make([]Outcome, writers)
		for i := range writers {
			group.Go(func() {
				var err error
				outcomes[i], err = s.PutIfAbsent(ctx, "log/1", fmt.Append(nil, i))
				if outcomes[i] != Written && !errors.Is(err, ErrExists) {
					t.Errorf("writer %d: %v", i, err)
				}
			})
		}
		group.Wait()
		var won []int
		for i, outcome := range outcomes {
			if outcome == Written {
				won = append(won, i)
			}
		}
		data, err := s.Read(ctx, "log/1", 100)
		if len(won) != 1 || err != nil || string(data) != fmt.Sprint(won[0]) {
			t.Errorf("winners %v, content %q, %v", won, data, err)
		}
		if got := names(t, s, "log/", ""); len(got) != 1 {
			t.Errorf("left behind: %q", got)
		}
	})
}

func TestStoreStatTellsRewrites(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		var tags []string
		for range 2 {
			if err := s.Put(ctx, "x/hint", []byte("same")); err != nil {
				t.Fatal(err)
			}
			info, err := s.Stat(ctx, "x/hint")
			if err != nil || info.Size != 4 || info.ModTimeMillis == 0 || info.Name != "x/hint" {
				t.Fatal(info, err)
			}
			tags = append(tags, info.ETag)
		}
		if tags[0] == tags[1] || tags[0] == "" {
			t.Errorf("etags %q", tags)
		}
		for range 2 {
			if err := s.Delete(ctx, "x/hint"); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Stat(ctx, "x"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a folder passes for an object: %v", err)
		}
	})
}

func TestStoreRefusesNamesOutsideTheRoot(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		for _, name := range []string{"", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", "a\x00b"} {
			if _, err := s.Read(ctx, name, 10); err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("read %q: %v", name, err)
			}
			if _, err := s.PutIfAbsent(ctx, name, nil); err == nil {
				t.Errorf("create %q was accepted", name)
			}
		}
	})
}

func TestStoreStopsWithTheContext(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx, cancel := context.WithCancel(context.Background())
		if err := s.Put(ctx, "f", nil); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := s.Read(ctx, "f", 10); !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		if _, err := s.PutIfAbsent(ctx, "g", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("create: %v", err)
		}
		for _, err := range s.List(ctx, "", "") {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("list: %v", err)
			}
		}
	})
}

func TestLocalLocatesAndIgnoresDanglingLinks(t *testing.T) {
	root := t.TempDir()
	s, err := NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "gone"), filepath.Join(root, "dangling")); err != nil {
		t.Skip(err)
	}
	if err := s.Put(context.Background(), "a b.parquet", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s, "", ""); !reflect.DeepEqual(got, []string{"a b.parquet"}) {
		t.Errorf("listed %q", got)
	}
	path, err := s.Locate(context.Background(), "a b.parquet")
	if err != nil || path != filepath.Join(root, "a b.parquet") {
		t.Error(path, err)
	}
	if _, err := NewMemory(nil).Locate(context.Background(), "x"); !errors.Is(err, ErrNotLocal) {
		t.Error(err)
	}
}

func TestFaultsHitTheChosenCall(t *testing.T) {
	ctx := context.Background()
	lost := fmt.Errorf("connection reset: %w", ErrOutcomeUnknown)
	s := NewFaults(NewMemory(nil),
		Fault{Op: OpPutIfAbsent, Nth: 1, Err: ErrThrottled},
		Fault{Op: OpPutIfAbsent, Nth: 2, Err: lost, After: true},
		Fault{Op: OpPutIfAbsent, Nth: 3, Err: ErrThrottled, After: true},
		Fault{Op: OpPut, Nth: 1, Crash: true, After: true},
	)
	if outcome, err := s.PutIfAbsent(ctx, "a", []byte("1")); outcome != NotWritten || !errors.Is(err, ErrThrottled) {
		t.Error(outcome, err)
	}
	if _, err := s.Read(ctx, "a", 9); !errors.Is(err, ErrNotFound) {
		t.Error("the refused write was made")
	}
	if outcome, err := s.PutIfAbsent(ctx, "a", []byte("1")); outcome != Unknown || !errors.Is(err, ErrOutcomeUnknown) {
		t.Error(outcome, err)
	}
	if data, _ := s.Read(ctx, "a", 9); string(data) != "1" {
		t.Error("the write whose answer was lost was not made")
	}
	if outcome, err := s.PutIfAbsent(ctx, "c", nil); outcome != Unknown || !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, ErrThrottled) {
		t.Error(outcome, err)
	}
	if err := s.Put(ctx, "b", nil); !errors.Is(err, ErrCrashed) {
		t.Error(err)
	}
	if _, err := s.Stat(ctx, "b"); !errors.Is(err, ErrCrashed) {
		t.Error(err)
	}
	want := []string{"put-if-absent a", "read a", "put-if-absent a", "read a", "put-if-absent c", "put b", "stat b"}
	if got := s.Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("calls %q", got)
	}
	if s.Count(OpRead) != 2 || s.Count(OpAny) != 7 {
		t.Error("counts")
	}
	slow := NewFaults(NewMemory(nil), Fault{Op: OpRead, Delay: time.Hour, Err: ErrThrottled})
	brief, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := slow.Read(brief, "a", 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
