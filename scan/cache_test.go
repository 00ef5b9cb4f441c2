package scan

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache(100, func(_ int, text string) int { return len(text) })
	c.put(0, fmt.Sprintf("%26d", 0)) // more than a quarter
	if _, ok := c.get(0); ok {
		t.Error("a value that is too large is kept")
	}
	for i := range 50 {
		c.put(i, fmt.Sprintf("%10d", i))
		c.put(i, "nothing") // what is there stays
		if value, ok := c.get(i); !ok || len(value) != 10 {
			t.Errorf("%d: %q, %v", i, value, ok)
		}
		if c.bytes > 100 || c.bytes != 10*len(c.byKey) {
			t.Fatalf("%d bytes of %d entries", c.bytes, len(c.byKey))
		}
	}
}

func TestReadInParallel(t *testing.T) {
	for _, n := range []int{0, 1, 3, 1000} {
		done := make([]atomic.Bool, n)
		if err := inParallel(context.Background(), 8, n, func(_ context.Context, i int) error {
			if done[i].Swap(true) {
				t.Errorf("%d of %d is read twice", i, n)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		for i := range done {
			if !done[i].Load() {
				t.Errorf("%d of %d is not read", i, n)
			}
		}
	}
	broken := errors.New("broken")
	var reads atomic.Int64
	if err := inParallel(context.Background(), 8, 100_000, func(ctx context.Context, i int) error {
		reads.Add(1)
		if i == 5 {
			return broken
		}
		<-ctx.Done() // the others end by the failure
		return ctx.Err()
	}); err != broken || reads.Load() > 8 {
		t.Errorf("%v after %d reads", err, reads.Load())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(broken)
	if err := inParallel(ctx, 8, 3, func(context.Context, int) error { return nil }); err != broken {
		t.Errorf("under a cancelled context: %v", err)
	}
}

func TestLayoutsAreBounded(t *testing.T) {
	c := layoutCache{byFile: map[layoutKey]*layout{}, bySignature: map[string]*layout{}, bySchema: map[string]*layout{}}
	wide := &layout{columns: make([]layoutColumn, 10_000)} // 2 MB
	for i := range 500 {
		key, text := layoutKey{path: fmt.Sprint(i)}, fmt.Sprint(i)
		c.put(key, text, wide)
		c.putSchema(key, text, wide)
		if c.get(key) != wide || c.withSchema(text) != wide {
			t.Fatalf("layout %d is not kept", i)
		}
		if c.bytes > maxCachedLayoutBytes || len(c.bySchema)+len(c.bySignature) > maxCachedLayoutBytes/(2_000_000) {
			t.Fatalf("%d bytes of %d layouts", c.bytes, len(c.bySchema)+len(c.bySignature))
		}
	}
	before := len(c.byFile)
	for i := range 10 { // of a known schema
		c.putSchema(layoutKey{path: fmt.Sprint("more", i)}, "499", wide)
	}
	if len(c.byFile) != before+10 {
		t.Errorf("%d files, want %d", len(c.byFile), before+10)
	}
}
