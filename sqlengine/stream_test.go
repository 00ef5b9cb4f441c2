package sqlengine

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// residentBytes is the memory of this process that is in use now; the test is skipped where the system does not tell.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("the system does not tell the memory in use")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// drain reads a result to its end, looks at each batch and counts the rows.
func drain(t *testing.T, result *Result, look func(batch *duck.Batch, rows int64)) int64 {
	t.Helper()
	rows := int64(0)
	for {
		batch, err := result.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += int64(batch.Len())
		look(batch, rows)
	}
}

// A long result streams (M1): its first rows are there long before its last, and memory stays what the limit and a batch take. All
// of its rows at once would be 800 MB.
func TestLongResultStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("drains 50 million rows")
	}
	engine, err := Open(Options{Catalog: t.TempDir(), Memory: "200MB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := openSession(t, engine, SessionOptions{})
	want(t, s, "SELECT 1", `[1]`)
	runtime.GC()
	before, most := residentBytes(t), int64(0)

	started := time.Now()
	result, err := s.Execute(context.Background(), "SELECT id, id * 2 AS twice FROM range(50000000)")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var first time.Duration
	batches, sum := 0, int64(0)
	rows := drain(t, result, func(batch *duck.Batch, _ int64) {
		if batches++; batches == 1 {
			first = time.Since(started)
		}
		sum += batch.Vector(0).Int64(batch.Len() - 1)
		if batches%1000 == 0 {
			most = max(most, residentBytes(t))
		}
	})
	took := time.Since(started)
	if rows != 50_000_000 || sum == 0 {
		t.Errorf("%d rows", rows)
	}
	if first > took/2 && first > time.Second {
		t.Errorf("the first rows came after %s of %s", first, took)
	}
	if grown := most - before; grown > 400<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
}

// Cancelling in the middle of a stream ends it with its own error, and the session answers the next statement.
func TestCancelInMidStream(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	result, err := s.Execute(ctx, "SELECT a.id FROM range(100000) a, range(100000) b")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if _, err := result.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = result.Next(context.Background())
	}
	if protocol.ClassOf(err) != "DELTASQL_CANCELLED" {
		t.Errorf("after the cancel: %v", err)
	}
	if _, again := result.Next(context.Background()); !errors.Is(again, err) {
		t.Errorf("an ended result gives %v", again)
	}
	want(t, s, "SELECT 1", `[1]`)
}

// Close waits for nobody: a stream that runs goes on to its end or fails with an error of its own, new statements are refused.
func TestCloseWhileStatementsRun(t *testing.T) {
	engine := openEngine(t, Options{})
	s := openSession(t, engine, SessionOptions{})
	result, err := s.Execute(context.Background(), "SELECT id FROM range(5000000)")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if _, err := result.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	shown, err := s.Execute(context.Background(), "SHOW VARIABLES")
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	refuse(t, s, "SELECT 1", "DELTASQL_CANCELLED")
	refuse(t, s, "SHOW TABLES", "DELTASQL_CANCELLED")
	if rows := drain(t, result, func(*duck.Batch, int64) {}); rows == 0 {
		t.Error("the running stream lost its rows")
	}
	if _, err := shown.Next(context.Background()); err != nil && protocol.ClassOf(err) != "DELTASQL_CANCELLED" {
		t.Errorf("a metadata answer of a closed engine: %v", err)
	}
}
