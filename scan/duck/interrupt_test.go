package duck

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// TestInterruptedCopies ends statements that write files at several times of their lives: each comes back. With async_threads (see
// settings) DuckDB's destructor of an open file waits for a write that waits for it, most times.
func TestInterruptedCopies(t *testing.T) {
	in, err := Open(Config{Threads: 2, MemoryLimit: "512MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	folder := t.TempDir()
	for i := range 10 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*30)*time.Millisecond)
		c := Copy{SQL: "SELECT a.range AS id, a.range % 3 AS p, b.range AS v FROM range(100000) a, range(100000) b", Folder: filepath.Join(folder, fmt.Sprint(i)), FileBytes: 10e6}
		if i%2 == 1 {
			c.Options = []string{"PARTITION_BY (p)"}
		}
		done := make(chan error, 1)
		go func() {
			_, err := in.Copy(ctx, c)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Error("ten billion rows were written at once")
			}
		case <-time.After(time.Minute):
			t.Fatalf("the statement ended after %d ms does not come back", i*30)
		}
		cancel()
	}
}
