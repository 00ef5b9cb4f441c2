package roundtrip

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/stats"
	"deltasql/txn/log"
)

// The collections of real tables beside the project; tests skip without them.
var collections = []string{"../../../../shared/corpus", "../../../../shared/oracle-tables"}

// realTables gives the folders of tables in the collections: one of five, or all of them if DELTASQL_ALL_TABLES is set.
func realTables(t *testing.T) []string {
	var folders []string
	for _, root := range collections {
		_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == protocol.LogFolder {
				folders = append(folders, filepath.Dir(path))
				return filepath.SkipDir
			}
			return nil
		})
	}
	if len(folders) == 0 {
		t.Skip("the corpus is not there")
	}
	if os.Getenv("DELTASQL_ALL_TABLES") != "" {
		return folders
	}
	var some []string
	for i := 0; i < len(folders); i += 5 {
		some = append(some, folders[i])
	}
	return some
}

// layouts are the forms of a checkpoint.
var layouts = []struct {
	name string
	set  func(*log.Upkeep)
	v2   bool
}{
	{"classic", func(*log.Upkeep) {}, false},
	{"v2", func(o *log.Upkeep) { o.SidecarActions = 3 }, true},
	{"v2 JSON", func(o *log.Upkeep) { o.ManifestJSON = true }, true},
}

// TestCheckpointsOfRealTables holds L2: a checkpoint of each real table, read back without its commits, is the state that
// the commits give.
func TestCheckpointsOfRealTables(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	written := 0
	for _, folder := range realTables(t) {
		name := folder[strings.Index(folder, "shared/")+len("shared/"):]
		before, err := log.OpenTable(openLocal(t, folder), name, parquet).Snapshot(ctx)
		if err != nil {
			continue // tables that are meant to be refused
		}
		now := time.UnixMilli(before.TimestampMillis()).Add(time.Hour)
		for _, layout := range layouts {
			if layout.v2 && !before.Config().Supports("v2Checkpoint") {
				continue
			}
			t.Run(name+" "+layout.name, func(t *testing.T) {
				copied := copyLog(t, folder)
				st := openLocal(t, copied)
				table := log.OpenTable(st, name, parquet)
				snapshot, err := table.Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				policy := "classic"
				if layout.v2 {
					policy = "v2"
				}
				snapshot = setProperties(t, table, snapshot, map[string]string{"delta.checkpointPolicy": policy})
				want := stateOf(t, snapshot, now)
				o := upkeep(now)
				layout.set(&o)
				hint, err := table.Checkpoint(ctx, snapshot, o)
				if err != nil {
					if protocol.ClassOf(err) == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" {
						t.Skip(err)
					}
					t.Fatal(err)
				}
				if layout.v2 != (hint.V2 != nil) {
					t.Fatalf("the hint is %+v", hint)
				}
				own := protocol.CheckpointName(hint.Version)
				if hint.V2 != nil {
					own = hint.V2.Path
				}
				keepOnly(t, copied, func(file string) bool { return file == own })
				after, err := log.OpenTable(st, name, parquet).Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				got := stateOf(t, after, now)
				if got.singles != want.singles {
					t.Errorf("got %s\nwant %s", got.singles, want.singles)
				}
				sameMaps(t, "file", got.adds, want.adds)
				sameMaps(t, "tombstone", got.tombstones, want.tombstones)
				if text, _ := snapshot.Config().BoolProperty("delta.checkpoint.writeStatsAsJson"); text {
					sameMaps(t, "statistics of", got.stats, want.stats)
				} else {
					for key, stats := range want.stats {
						if !sameStatistics(snapshot.Config(), got.stats[key], stats) {
							t.Errorf("statistics of %s: %s\nwant %s", key, got.stats[key], stats)
						}
					}
				}
				if hint.Size != int64(2+len(before.Transactions())+len(before.Domains())+len(want.adds)+len(want.tombstones)) && hint.V2 == nil {
					t.Errorf("%d actions", hint.Size)
				}
			})
			written++
		}
	}
	t.Logf("%d checkpoints", written)
	if written < 50 {
		t.Errorf("only %d checkpoints", written)
	}
}

// setProperties changes properties of a copied table by one more commit.
func setProperties(t *testing.T, table *log.Table, s *log.Snapshot, properties map[string]string) *log.Snapshot {
	t.Helper()
	metadata := s.Config().Metadata
	configuration := map[string]string{}
	for key, value := range metadata.Configuration {
		configuration[key] = value
	}
	for key, value := range properties {
		configuration[key] = value
	}
	metadata.Configuration = configuration
	info := &protocol.CommitInfo{Raw: json.RawMessage(`{"timestamp":1,"inCommitTimestamp":` + json.Number(itoa(s.TimestampMillis()+1)).String() + `}`)}
	data, err := protocol.EncodeCommit([]protocol.Action{{CommitInfo: info}, {Metadata: &metadata}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.WriteCommit(context.Background(), s.Version()+1, data); err != nil {
		t.Fatal(err)
	}
	next, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func itoa(n int64) string { data, _ := json.Marshal(n); return string(data) }

// TestStructStatisticsLoseNothing: with the text switched off every file's statistics come back with the same meaning, by
// the struct or by a text that was kept (bugs ST-14).
func TestStructStatisticsLoseNothing(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	asStruct := 0
	for _, folder := range realTables(t) {
		name := folder[strings.Index(folder, "shared/")+len("shared/"):]
		if s, err := log.OpenTable(openLocal(t, folder), name, parquet).Snapshot(ctx); err != nil || s.Files().Len() == 0 {
			continue
		}
		copied := copyLog(t, folder)
		st := openLocal(t, copied)
		table := log.OpenTable(st, name, parquet)
		snapshot, err := table.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		snapshot = setProperties(t, table, snapshot, map[string]string{
			"delta.checkpoint.writeStatsAsJson": "false", "delta.checkpoint.writeStatsAsStruct": "true", "delta.checkpointPolicy": "classic"})
		now := time.UnixMilli(snapshot.TimestampMillis())
		want := stateOf(t, snapshot, now)
		if _, err := table.Checkpoint(ctx, snapshot, upkeep(now)); err != nil {
			if protocol.ClassOf(err) != "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		own := protocol.CheckpointName(snapshot.Version())
		keepOnly(t, copied, func(file string) bool { return file == own })
		after, err := log.OpenTable(st, name, parquet).Snapshot(ctx)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := stateOf(t, after, now)
		for key, stats := range want.stats {
			if got.stats[key] != stats {
				asStruct++
			}
			if !sameStatistics(snapshot.Config(), got.stats[key], stats) {
				t.Errorf("%s: statistics of %s: %s\nwant %s", name, key, got.stats[key], stats)
			}
		}
	}
	if asStruct < 20 {
		t.Errorf("only %d files had their statistics from the struct", asStruct)
	}
}

// sameStatistics compares two spellings of a file's statistics: counts, and bounds as values of their column's type.
func sameStatistics(c *protocol.TableConfig, a, b string) bool {
	leaves := c.Leaves()
	asked := make([]stats.Leaf, len(leaves))
	for i, leaf := range leaves {
		asked[i] = stats.Leaf{Path: leaf.Physical, Type: leaf.Type}
	}
	x, y := stats.NewTexts(asked), stats.NewTexts(asked)
	readX, readY := x.Read([]byte(a)), y.Read([]byte(b))
	if !json.Valid([]byte(a)) && a != "" && a != b || readX != readY {
		return false
	}
	same := func(left, right int64, leftOK, rightOK bool) bool {
		return leftOK == rightOK && (!leftOK || left == right)
	}
	nx, okx := x.NumRecords()
	ny, oky := y.NumRecords()
	tx, tokx := x.TightBounds()
	ty, toky := y.TightBounds()
	if !same(nx, ny, okx, oky) || tokx != toky || tx != ty {
		return false
	}
	for i, leaf := range leaves {
		nx, okx := x.NullCount(i)
		ny, oky := y.NullCount(i)
		if !same(nx, ny, okx, oky) {
			return false
		}
		for _, upper := range []bool{false, true} {
			left, okx := x.Bound(i, upper)
			right, oky := y.Bound(i, upper)
			if okx != oky {
				return false
			}
			if string(left) == string(right) {
				continue
			}
			v, okx := protocol.ParseValue(leaf.Type, string(left), nil)
			w, oky := protocol.ParseValue(leaf.Type, string(right), nil)
			if !okx || !oky || v.Compare(w) != 0 {
				return false
			}
		}
	}
	return true
}
