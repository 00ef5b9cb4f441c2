package duck

import (
	"context"
	"testing"
)

func TestMacrosAreDefinedWhenMissed(t *testing.T) {
	in, err := Open(Config{Threads: 1, Macros: []string{"CREATE MACRO twice(x) AS x * 2", "CREATE MACRO four_times(x) AS twice(twice(x))"}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx := context.Background()
	for range 2 {
		stream, err := in.Query(ctx, "SELECT four_times(i) FROM generate_series($1, $1) AS g(i)", int64(3))
		if err != nil {
			t.Fatal(err)
		}
		batch, err := stream.Next(ctx)
		if err != nil || batch.Vector(0).Int64(0) != 12 {
			t.Errorf("four_times(3): %v", err)
		}
		stream.Close()
	}
	if _, err := in.Query(ctx, "SELECT no_such_function(1)"); err == nil {
		t.Error("a function that is nowhere is found")
	}
}
