package duck

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestDeletionVectorCost compares the C function with reading the same files raw (docs/decisions/0002). It measures,
// so it runs on request only: DELTASQL_MEASURE=1.
func TestDeletionVectorCost(t *testing.T) {
	if os.Getenv("DELTASQL_MEASURE") == "" {
		t.Skip("set DELTASQL_MEASURE=1 to measure")
	}
	const files, rowsPerFile = 8, 500_000
	in := openTest(t, Config{MemoryLimit: "4GB"})
	ctx := context.Background()
	dir := t.TempDir()
	var paths []string
	for f := range files {
		path := filepath.Join(dir, fmt.Sprintf("f%d.parquet", f))
		paths = append(paths, path)
		err := in.Exec(ctx, fmt.Sprintf(`COPY (SELECT i AS id, i %% 100 AS k, i * 1.5 AS price,
			'comment ' || (i %% 1000) AS s FROM range(%d, %d) t(i)) TO %s (COMPRESSION zstd)`,
			f*rowsPerFile, (f+1)*rowsPerFile, QuoteString(path)))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, share := range []float64{0.001, 0.05} {
		deleted := make([][]uint64, files)
		random := rand.New(rand.NewSource(1))
		for f := range deleted {
			deleted[f] = make([]uint64, (rowsPerFile+63)/64)
			for range int(rowsPerFile * share) {
				row := random.Intn(rowsPerFile)
				deleted[f][row>>6] |= 1 << (row & 63)
			}
		}
		set, err := NewSet(SetSpec{Files: files, Deleted: deleted})
		if err != nil {
			t.Fatal(err)
		}
		where := fmt.Sprintf(" WHERE delta_live(%d, file_index, file_row_number)", set.ID())
		for _, query := range []string{
			"SELECT sum(id) FROM read_parquet($1)%s",
			"SELECT k, sum(id), sum(price), max(s) FROM read_parquet($1)%s GROUP BY k",
		} {
			raw, vector := fmt.Sprintf(query, ""), fmt.Sprintf(query, where)
			var ratios []float64
			var rawTime, vectorTime time.Duration
			for range 15 {
				a := timed(t, in, raw, paths)
				b := timed(t, in, vector, paths)
				rawTime, vectorTime = a, b
				ratios = append(ratios, float64(b)/float64(a))
			}
			slices.Sort(ratios)
			t.Logf("%5.1f%% deleted, %s: ratio %.2f (last %v against %v)", share*100, query, ratios[len(ratios)/2], vectorTime, rawTime)
		}
		set.Release()
	}
}

func timed(t *testing.T, in *Instance, sql string, paths []string) time.Duration {
	start := time.Now()
	if err := in.Exec(context.Background(), sql, paths); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}
