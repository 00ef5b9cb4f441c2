package duck

import (
	"context"
	"sync/atomic"
	"testing"
)

func TestProgressIsTold(t *testing.T) {
	in, err := Open(Config{Threads: 2, Progress: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var told atomic.Int64
	ctx := WithProgress(context.Background(), func(fraction float64) {
		if fraction < 0 || fraction > 1 {
			t.Errorf("a fraction of %v", fraction)
		}
		told.Add(1)
	})
	if err := in.Exec(ctx, "SELECT count(*) FROM range(5000000) AS a(i) WHERE md5(CAST(i AS VARCHAR)) = 'x'"); err != nil {
		t.Fatal(err)
	}
	if told.Load() == 0 {
		t.Error("nothing was told")
	}
}
