package roundtrip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// agedTable is a table with a commit for each of a number of past days, oldest first, checkpoints every 10 versions and all
// other kinds of files of a log. The newest commit is of this day.
func agedTable(t *testing.T, parquet log.Parquet, days int, properties map[string]string) (folder string, m *model, now time.Time) {
	t.Helper()
	folder, now = t.TempDir(), time.Now()
	all := map[string]string{"delta.checkpointInterval": "10", "delta.enableExpiredLogCleanup": "false"}
	for key, value := range properties {
		all[key] = value
	}
	m, first := newModel(all)
	table := log.OpenTable(openLocal(t, folder), "t", parquet)
	o, random := upkeep(now), rand.New(rand.NewPCG(1, 2))
	o.CompactionInterval = 4
	m.write(t, table, first, o)
	for range days - 1 {
		m.write(t, table, m.commit(random, now.UnixMilli()), o)
	}
	logFolder := filepath.Join(folder, protocol.LogFolder)
	entries, err := os.ReadDir(logFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if file, ok := protocol.ParseLogFile(entry.Name()); ok && file.Kind != protocol.LogLastCheckpoint {
			at := now.AddDate(0, 0, int(file.EndVersion)-days+1)
			if err := os.Chtimes(filepath.Join(logFolder, entry.Name()), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	sidecars, _ := os.ReadDir(filepath.Join(logFolder, protocol.SidecarFolder))
	for _, entry := range sidecars {
		old := now.AddDate(0, 0, -3)
		if err := os.Chtimes(filepath.Join(logFolder, protocol.SidecarFolder, entry.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	return folder, m, now
}

func fileNames(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			found = append(found, entry.Name())
		}
	}
	return found
}

// Bugs MT-04 and conformance 159: what is older than the checkpoint at the cutoff goes, of every kind; its own commit stays.
func TestCleanUpByRetention(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	for _, c := range []struct {
		retention, policy string
		oldest            int64 // 60 versions, one a day: the newest checkpoint at least that old
	}{
		{"interval 30 days", "classic", 20}, {"interval 2 weeks", "v2", 40}, {"INTERVAL 36 HOURS", "v2", 50}, {"1 days", "classic", 50}, {"interval 100 days", "classic", 0},
	} {
		t.Run(c.retention+" "+c.policy, func(t *testing.T) {
			folder, m, now := agedTable(t, parquet, 60, map[string]string{"delta.logRetentionDuration": c.retention, "delta.checkpointPolicy": c.policy})
			logFolder := filepath.Join(folder, protocol.LogFolder)
			for name, age := range map[string]int{
				".00000000000000000003.json.crc": 0, ".00000000000000000058.json.crc": 0, ".00000000000000000061.json.1.1.tmp": 3, ".00000000000000000062.json.1.1.tmp": 0,
				"unknown.txt": 90, "_sidecars/orphan.parquet": 3, "_sidecars/young.parquet": 0,
			} {
				path := filepath.Join(logFolder, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
					t.Fatal(err)
				}
				at := now.AddDate(0, 0, -age)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			table := log.OpenTable(openLocal(t, folder), "t", parquet)
			snapshot, err := table.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, wanted, err := snapshot.Expired(now); wanted || err != nil {
				t.Fatal("the table asked for no clean-up", err)
			}
			retention, err := protocol.ParseIntervalMillis(c.retention)
			if err != nil {
				t.Fatal(err)
			}
			before := now.Add(-time.Duration(retention) * time.Millisecond).UTC().Truncate(24 * time.Hour)
			deleted, err := table.CleanUp(ctx, snapshot, before, upkeep(now))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := table.CleanUp(ctx, snapshot, before, upkeep(now)); again != 0 || err != nil {
				t.Errorf("a second clean-up deleted %d: %v", again, err)
			}
			left := fileNames(t, logFolder)
			for _, name := range left {
				file, ok := protocol.ParseLogFile(name)
				if ok && file.Kind != protocol.LogLastCheckpoint && file.Version < c.oldest || ok && file.Kind == protocol.LogCompaction && file.Version <= c.oldest && c.oldest > 0 {
					t.Errorf("%s was not deleted", name)
				}
			}
			wanted := []string{protocol.CommitName(c.oldest), protocol.CommitName(59), protocol.ChecksumName(59), protocol.LastCheckpointName, "unknown.txt", ".00000000000000000058.json.crc", ".00000000000000000062.json.1.1.tmp"}
			if c.oldest > 0 {
				wanted = append(wanted, protocol.CheckpointName(c.oldest)) // of a V2 table too: the copy for old clients
				if slices.Contains(left, ".00000000000000000003.json.crc") || slices.Contains(left, ".00000000000000000061.json.1.1.tmp") {
					t.Errorf("hidden files are left: %q", left)
				}
			} else if deleted != 0 {
				t.Errorf("%d deleted without a checkpoint that is old enough", deleted)
			}
			for _, name := range wanted {
				if !slices.Contains(left, name) {
					t.Errorf("%s is gone", name)
				}
			}
			sidecars := fileNames(t, filepath.Join(logFolder, protocol.SidecarFolder))
			if !slices.Contains(sidecars, "young.parquet") || slices.Contains(sidecars, "orphan.parquet") != (c.oldest == 0) {
				t.Errorf("sidecars left: %q", sidecars)
			}
			for version := c.oldest; version < 60; version += 9 {
				if _, err := log.OpenTable(openLocal(t, folder), "t", parquet).SnapshotAt(ctx, version); err != nil {
					t.Errorf("version %d: %v", version, err)
				}
			}
			if c.oldest > 0 {
				if _, err := log.OpenTable(openLocal(t, folder), "t", parquet).SnapshotAt(ctx, c.oldest-1); protocol.ClassOf(err) != "DELTA_VERSION_NOT_FOUND" {
					t.Errorf("version %d: %v", c.oldest-1, err)
				}
			}
			after, err := log.OpenTable(openLocal(t, folder), "t", parquet).Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			m.matches(t, after, now)
		})
	}
}

// A checkpoint that everything would hang on is read first: a damaged one keeps the log.
func TestCleanUpKeepsWhatADamagedCheckpointNeeds(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	folder, m, now := agedTable(t, parquet, 15, nil)
	path := filepath.Join(folder, protocol.LogFolder, protocol.CheckpointName(10))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	table := log.OpenTable(openLocal(t, folder), "t", parquet)
	snapshot, err := table.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := len(fileNames(t, filepath.Join(folder, protocol.LogFolder)))
	if deleted, err := table.CleanUp(ctx, snapshot, now.Add(time.Hour), upkeep(now)); deleted != 0 || protocol.ClassOf(err) != "DELTA_INVALID_LOG_FILE" || !strings.Contains(err.Error(), protocol.CheckpointName(10)) {
		t.Errorf("%d deleted, %v", deleted, err)
	}
	if after := len(fileNames(t, filepath.Join(folder, protocol.LogFolder))); after != before {
		t.Errorf("%d files, %d before", after, before)
	}
	// And the next checkpoint can be written all the same, with the tombstones that the commits have.
	hint, err := table.Checkpoint(ctx, snapshot, upkeep(now))
	if err != nil || hint.Version != 14 {
		t.Fatal(hint, err)
	}
	keepOnly(t, folder, func(name string) bool { return name == protocol.CheckpointName(14) })
	loaded, err := log.OpenTable(openLocal(t, folder), "t", parquet).Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.matches(t, loaded, now)
}

// Conformance 146: expired tombstones and identifiers are left out, others kept without statistics and tags.
func TestCheckpointDropsWhatHasExpired(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	folder, now := t.TempDir(), time.Now()
	m, first := newModel(map[string]string{"delta.deletedFileRetentionDuration": "interval 2 days", "delta.setTransactionRetentionDuration": "interval 1 hours"})
	table := log.OpenTable(openLocal(t, folder), "t", parquet)
	m.write(t, table, first, upkeep(now))
	ago := func(d time.Duration) *int64 { at := now.Add(-d).UnixMilli(); return &at }
	yes := true
	m.write(t, table, []protocol.Action{
		{Remove: &protocol.RemoveFile{Path: "young", DeletionTimestamp: ago(47 * time.Hour), DataChange: true, ExtendedFileMetadata: &yes, Stats: `{"numRecords":1}`, Tags: map[string]string{"a": "b"}}},
		{Remove: &protocol.RemoveFile{Path: "old", DeletionTimestamp: ago(49 * time.Hour), DataChange: true}},
		{Remove: &protocol.RemoveFile{Path: "timeless", DataChange: true}},
		{Txn: &protocol.SetTransaction{AppID: "young", Version: 1, LastUpdated: ago(time.Minute)}},
		{Txn: &protocol.SetTransaction{AppID: "old", Version: 1, LastUpdated: ago(2 * time.Hour)}},
		{Txn: &protocol.SetTransaction{AppID: "timeless", Version: 1}},
		{Domain: &protocol.DomainMetadata{Domain: "gone", Removed: true}},
	}, upkeep(now))
	snapshot, err := table.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Checkpoint(ctx, snapshot, upkeep(now)); err != nil {
		t.Fatal(err)
	}
	keepOnly(t, folder, func(name string) bool { return name == protocol.CheckpointName(1) })
	loaded, err := log.OpenTable(openLocal(t, folder), "t", parquet).Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var removes []string
	for remove, err := range loaded.Tombstones(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		removes = append(removes, fmt.Sprintf("%s %q %d %v", remove.Path, remove.Stats, len(remove.Tags), *remove.ExtendedFileMetadata))
	}
	if !slices.Equal(removes, []string{`young "" 0 true`}) {
		t.Errorf("tombstones %q", removes)
	}
	if txns := loaded.Transactions(); len(txns) != 1 || txns["young"].Version != 1 || len(loaded.Domains()) != 0 {
		t.Errorf("transactions %v, domains %v", txns, loaded.Domains())
	}
}

// The hint only moves forward, and a damaged one is replaced.
func TestHintMovesForward(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	folder, _, now := agedTable(t, parquet, 12, nil)
	table := log.OpenTable(openLocal(t, folder), "t", parquet)
	path := filepath.Join(folder, protocol.LogFolder, protocol.LastCheckpointName)
	version := func() int64 {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		hint, err := protocol.ParseLastCheckpoint(data)
		if err != nil {
			t.Fatal(err)
		}
		return hint.Version
	}
	for _, step := range []struct{ checkpoint, hint int64 }{{10, 10}, {5, 10}, {11, 11}} {
		snapshot, err := table.SnapshotAt(ctx, step.checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Checkpoint(ctx, snapshot, upkeep(now)); err != nil {
			t.Fatal(err)
		}
		if got := version(); got != step.hint {
			t.Errorf("after a checkpoint of %d the hint is %d", step.checkpoint, got)
		}
	}
	if err := os.WriteFile(path, []byte(`{"version":99`), 0o666); err != nil {
		t.Fatal(err)
	}
	snapshot, err := table.SnapshotAt(ctx, 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Checkpoint(ctx, snapshot, upkeep(now)); err != nil || version() != 4 {
		t.Error(err, version())
	}
}
