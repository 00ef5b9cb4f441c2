package roundtrip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// model is what a table's state must be: the oracle of random histories.
type model struct {
	version    int64
	proto      protocol.Protocol
	metadata   protocol.Metadata
	adds       map[string]protocol.AddFile
	tombstones map[string]protocol.RemoveFile
	txns       map[string]protocol.SetTransaction
	domains    map[string]protocol.DomainMetadata
}

const modelSchema = `{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"p","type":"string","nullable":true,"metadata":{}},` +
	`{"name":"s","type":{"type":"struct","fields":[{"name":"a b","type":"string","nullable":true,"metadata":{}},{"name":"t","type":"timestamp","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]}`

func newModel(properties map[string]string) (*model, []protocol.Action) {
	m := &model{
		version: -1, adds: map[string]protocol.AddFile{}, tombstones: map[string]protocol.RemoveFile{},
		txns: map[string]protocol.SetTransaction{}, domains: map[string]protocol.DomainMetadata{},
		proto: protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"deletionVectors", "v2Checkpoint"},
			WriterFeatures: []string{"deletionVectors", "v2Checkpoint", "domainMetadata", "rowTracking"}},
		metadata: protocol.Metadata{ID: "one", Provider: "parquet", SchemaString: modelSchema, PartitionColumns: []string{"p"}, Configuration: properties},
	}
	return m, []protocol.Action{{Protocol: &m.proto}, {Metadata: &m.metadata}}
}

func fileKey(path string, vector *protocol.DeletionVector) string {
	if vector != nil {
		return path + "/" + vector.UniqueID()
	}
	return path
}

// commit makes the actions of a random commit and applies them.
func (m *model) commit(random *rand.Rand, nowMillis int64) []protocol.Action {
	var actions []protocol.Action
	touched := map[string]bool{}
	for range random.IntN(8) {
		if random.IntN(3) == 0 && len(m.adds) > 0 {
			keys := slices.Sorted(maps.Keys(m.adds))
			key := keys[random.IntN(len(keys))]
			if touched[key] {
				continue
			}
			touched[key] = true
			add, deleted, extended := m.adds[key], nowMillis-int64(random.IntN(3))*86_400_000*5, true
			size := add.Size
			remove := protocol.RemoveFile{Path: add.Path, DeletionTimestamp: &deleted, DataChange: true, ExtendedFileMetadata: &extended,
				PartitionValues: add.PartitionValues, Size: &size, DeletionVector: add.DeletionVector, BaseRowID: add.BaseRowID, DefaultRowCommitVersion: add.DefaultRowCommitVersion}
			if random.IntN(5) == 0 {
				remove = protocol.RemoveFile{Path: add.Path, DeletionVector: add.DeletionVector, DeletionTimestamp: &deleted, DataChange: true}
			}
			actions = append(actions, protocol.Action{Remove: &remove})
			delete(m.adds, key)
			m.tombstones[key] = remove
			continue
		}
		add := m.randomAdd(random)
		key := fileKey(add.Path, add.DeletionVector)
		if touched[key] {
			continue
		}
		touched[key] = true
		actions = append(actions, protocol.Action{Add: &add})
		m.adds[key] = add
		delete(m.tombstones, key)
	}
	if random.IntN(4) == 0 {
		txn := protocol.SetTransaction{AppID: fmt.Sprint("app", random.IntN(3)), Version: m.version}
		if random.IntN(2) == 0 {
			updated := nowMillis - int64(random.IntN(10))*86_400_000
			txn.LastUpdated = &updated
		}
		actions = append(actions, protocol.Action{Txn: &txn})
		m.txns[txn.AppID] = txn
	}
	if random.IntN(4) == 0 {
		domain := protocol.DomainMetadata{Domain: fmt.Sprint("d", random.IntN(3)), Configuration: `{"ä":"` + fmt.Sprint(random.IntN(9)) + `\n"}`, Removed: random.IntN(3) == 0}
		actions = append(actions, protocol.Action{Domain: &domain})
		if delete(m.domains, domain.Domain); !domain.Removed {
			m.domains[domain.Domain] = domain
		}
	}
	return actions
}

func (m *model) randomAdd(random *rand.Rand) protocol.AddFile {
	add := protocol.AddFile{Path: fmt.Sprintf("p=x%%2520y/f%d.parquet", random.IntN(30)), Size: int64(random.IntN(1 << 24)), ModificationTime: 5, DataChange: true,
		PartitionValues: map[string]*string{"p": nil}}
	if n := random.IntN(4); n > 0 {
		value := []string{"", "a", "ü=/\"", "z"}[n]
		add.PartitionValues["p"] = &value
	}
	switch random.IntN(4) {
	case 0:
		add.Stats = `{"numRecords":4,"minValues":{"id":-1,"s":{"a b":"x\"y","t":"2020-01-01T00:00:00.001Z"}},"maxValues":{"id":9,"s":{"a b":"zz","t":"2020-01-01T00:00:00.002Z"}},"nullCount":{"id":0,"s":{"a b":1,"t":0}},"tightBounds":true}`
	case 1:
		add.Stats = `{"numRecords":4}`
	case 2:
		add.Stats = `{"numRecords":4,"minValues":{"unknown":1,"s":{"t":"2020-01-01T00:00:00.001+01:00"}}}`
	}
	if random.IntN(3) == 0 {
		offset := int64(1)
		add.DeletionVector = &protocol.DeletionVector{StorageType: "u", PathOrInline: fmt.Sprintf("ab^-aqEH.-t@S}K{vb[*k%d", random.IntN(2)), Offset: &offset, SizeInBytes: 40, Cardinality: int64(random.IntN(2000))}
	}
	if random.IntN(3) == 0 {
		add.Tags = map[string]string{"ZCUBE_ID": "1", "a": `"b"`}
		add.ClusteringProvider = "liquid"
	}
	if random.IntN(2) == 0 {
		id, version := int64(random.IntN(1000)), m.version
		add.BaseRowID, add.DefaultRowCommitVersion = &id, &version
	}
	return add
}

// matches holds a snapshot against the model. Tombstones and identifiers that have expired may be there or not.
func (m *model) matches(t *testing.T, s *log.Snapshot, now time.Time) {
	t.Helper()
	if s.Version() != m.version {
		t.Fatalf("version %d, want %d", s.Version(), m.version)
	}
	want := state{adds: map[string]string{}, stats: map[string]string{}, tombstones: map[string]string{}}
	for key, add := range m.adds {
		want.stats[key], add.Stats, add.DataChange = add.Stats, "", false
		text, err := protocol.AppendAction(nil, protocol.Action{Add: &add})
		if err != nil {
			t.Fatal(err)
		}
		want.adds[key] = string(text)
	}
	for key, remove := range m.tombstones {
		if *remove.DeletionTimestamp >= now.UnixMilli()-7*86_400_000 {
			text, err := protocol.AppendAction(nil, protocol.Action{Remove: &remove})
			if err != nil {
				t.Fatal(err)
			}
			want.tombstones[key] = string(text)
		}
	}
	got := stateOf(t, s, now)
	sameMaps(t, "file", got.adds, want.adds)
	sameMaps(t, "tombstone", got.tombstones, want.tombstones)
	for key, stats := range want.stats {
		if !sameStatistics(s.Config(), got.stats[key], stats) {
			t.Errorf("statistics of %s: %s, want %s", key, got.stats[key], stats)
		}
	}
	transactions := s.Transactions()
	for app, txn := range m.txns {
		if got, ok := transactions[app]; ok && got.Version != txn.Version || !ok && m.metadata.Configuration["delta.setTransactionRetentionDuration"] == "" {
			t.Errorf("transaction %s: %+v, want %+v", app, got, txn)
		}
	}
	if got := s.Domains(); !maps.Equal(got, m.domains) {
		t.Errorf("domains %v, want %v", got, m.domains)
	}
	if len(s.Warnings()) > 0 {
		t.Errorf("warnings %q", s.Warnings())
	}
}

// write commits the actions of the model's next version and does the upkeep.
func (m *model) write(t *testing.T, table *log.Table, actions []protocol.Action, o log.Upkeep) {
	t.Helper()
	ctx := context.Background()
	m.version++
	info := &protocol.CommitInfo{Raw: json.RawMessage(fmt.Sprintf(`{"timestamp":%d,"operation":"WRITE","txnId":"t%d"}`, o.Now().UnixMilli(), m.version))}
	data, err := protocol.EncodeCommit(append([]protocol.Action{{CommitInfo: info}}, actions...))
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := table.WriteCommit(ctx, m.version, data); outcome != store.Written {
		t.Fatal(outcome, err)
	}
	o.Snapshot = table.Committed(ctx, log.Commit{Version: m.version, Info: info, Actions: actions})
	if warnings := table.AfterCommit(ctx, m.version, o); len(warnings) > 0 {
		t.Fatalf("version %d: %q", m.version, warnings)
	}
}

// TestRandomHistoriesWithUpkeep writes random tables with frequent checkpoints in every layout, compactions and checksums,
// and loads each version anew: the model is what must come back, whatever the log was rebuilt from (L2).
func TestRandomHistoriesWithUpkeep(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			properties := map[string]string{"delta.checkpointInterval": fmt.Sprint(2 + random.IntN(6)), "delta.enableExpiredLogCleanup": "false"}
			if seed%2 == 1 {
				properties["delta.checkpointPolicy"] = "v2"
			}
			if seed%3 == 1 {
				properties["delta.checkpoint.writeStatsAsJson"] = "false"
			}
			if seed%4 == 2 {
				properties["delta.checkpoint.writeStatsAsStruct"] = "false"
			}
			if seed%4 == 3 {
				properties["delta.setTransactionRetentionDuration"] = "interval 3 days"
			}
			now := time.Now()
			o := upkeep(now)
			o.SidecarActions, o.ManifestJSON, o.CompactionInterval = 5, seed%4 == 1, 3
			folder := t.TempDir()
			writer := log.OpenTable(openLocal(t, folder), "t", parquet)
			m, first := newModel(properties)
			m.write(t, writer, first, o)
			if seed%2 == 0 {
				if _, err := writer.Snapshot(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for range 18 {
				m.write(t, writer, m.commit(random, now.UnixMilli()), o)
				loaded, err := log.OpenTable(openLocal(t, folder), "t", parquet).Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				m.matches(t, loaded, now)
				kept, err := writer.Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				m.matches(t, kept, now)
				// The incremental checksum is that of a full count.
				incremental, counted := kept.Checksum(), loaded.Checksum()
				a, err1 := incremental.JSON()
				b, err2 := counted.JSON()
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				a, b = withoutTxn(t, a), withoutTxn(t, b)
				if string(a) != string(b) {
					t.Fatalf("checksum\n%s\nwant\n%s", a, b)
				}
			}
		})
	}
}

// withoutTxn drops what may be absent from a state that came from a checkpoint: its commit's id and expired identifiers.
func withoutTxn(t *testing.T, data []byte) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "txnId")
	delete(members, "setTransactions")
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUpkeepSurvivesCrashes lets the machine stop at each call of the upkeep: the version stays readable and
// right, and the next commit's upkeep succeeds.
func TestUpkeepSurvivesCrashes(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	for _, policy := range []string{"classic", "v2"} {
		random := rand.New(rand.NewPCG(3, 9))
		now := time.Now()
		// A table just before its second checkpoint, whose first is old enough to have its past cleaned up.
		template := t.TempDir()
		m, first := newModel(map[string]string{"delta.checkpointInterval": "4", "delta.checkpointPolicy": policy})
		writer := log.OpenTable(openLocal(t, template), "t", parquet)
		m.write(t, writer, first, upkeep(now))
		for range 6 {
			m.write(t, writer, m.commit(random, now.UnixMilli()), upkeep(now))
		}
		for version := range int64(7) {
			old := now.Add(-60*24*time.Hour + time.Duration(version)*time.Minute)
			if err := os.Chtimes(filepath.Join(template, protocol.LogFolder, protocol.CommitName(version)), old, old); err != nil {
				t.Fatal(err)
			}
		}
		actions := m.commit(random, now.UnixMilli())
		m.version++
		data, err := protocol.EncodeCommit(append([]protocol.Action{{CommitInfo: &protocol.CommitInfo{}}}, actions...))
		if err != nil {
			t.Fatal(err)
		}
		if m.version != 7 {
			t.Fatal(m.version)
		}
		m.version = 8 // one more, empty commit makes the interval
		if _, err := writer.WriteCommit(ctx, 7, data); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.WriteCommit(ctx, 8, []byte(`{"commitInfo":{}}`+"\n")); err != nil {
			t.Fatal(err)
		}
		for nth := 1; ; nth++ {
			folder := copyLog(t, template)
			// What a crash after a call leaves on the disk is what one before the next call leaves.
			faults := store.NewFaults(openLocal(t, folder), store.Fault{Op: store.OpAny, Nth: nth, Crash: true})
			warnings := log.OpenTable(faults, "t", parquet).AfterCommit(ctx, 8, upkeep(now))
			crashed := faults.Count(store.OpAny) >= nth
			if crashed != (len(warnings) > 0) {
				t.Fatalf("%s, call %d: crashed %v, warnings %q", policy, nth, crashed, warnings)
			}
			reopened := log.OpenTable(openLocal(t, folder), "t", parquet)
			loaded, err := reopened.Snapshot(ctx)
			if err != nil {
				t.Fatalf("%s, call %d: %v", policy, nth, err)
			}
			m.matches(t, loaded, now)
			if warnings := reopened.AfterCommit(ctx, 8, upkeep(now)); len(warnings) > 0 {
				t.Fatalf("%s, call %d: the upkeep after the crash: %q", policy, nth, warnings)
			}
			if !crashed {
				if nth < 20 {
					t.Errorf("only %d calls", nth)
				}
				checkCleaned(t, folder)
				break
			}
		}
	}
}

// checkCleaned: of the versions before the first checkpoint nothing is left.
func checkCleaned(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(folder, protocol.LogFolder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			t.Errorf("left behind: %s", entry.Name())
		}
		if file, ok := protocol.ParseLogFile(entry.Name()); ok && file.Kind != protocol.LogLastCheckpoint && file.Version < 4 {
			t.Errorf("not deleted: %s", entry.Name())
		}
	}
	for _, name := range []string{protocol.CommitName(4), protocol.CommitName(8), protocol.ChecksumName(8), protocol.CheckpointName(4), protocol.LastCheckpointName} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing from %q", name, names)
		}
	}
}

// TestFailuresOfUpkeepAreWarnings: a store that refuses every write of the upkeep does not fail the commit, and says so.
func TestFailuresOfUpkeepAreWarnings(t *testing.T) {
	parquet, ctx := openDuck(t), context.Background()
	full := errors.New("no space left on device")
	folder := t.TempDir()
	m, first := newModel(map[string]string{"delta.checkpointInterval": "1"})
	m.write(t, log.OpenTable(openLocal(t, folder), "t", parquet), first, upkeep(time.Now()))
	for _, op := range []store.Operation{store.OpPut, store.OpPutFrom} {
		m.version++
		table := log.OpenTable(store.NewFaults(openLocal(t, folder), store.Fault{Op: op, Err: full}), "t", parquet)
		if _, err := table.WriteCommit(ctx, m.version, []byte(`{"commitInfo":{}}`+"\n")); err != nil {
			t.Fatal(err)
		}
		warnings := table.AfterCommit(ctx, m.version, upkeep(time.Now()))
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "[DELTASQL_STORAGE]") || !strings.Contains(warnings[0], "no space left") {
			t.Errorf("%s: %q", op, warnings)
		}
		if _, err := table.Snapshot(ctx); err != nil {
			t.Error(err)
		}
	}
}

// Sidecars have as many actions as they may, and none is empty.
func TestSidecarsAreFull(t *testing.T) {
	parquet, random := openDuck(t), rand.New(rand.NewPCG(1, 7))
	for _, removed := range []int{0, 1, 3} {
		now := time.Now()
		o := upkeep(now)
		o.SidecarActions = 3
		folder := t.TempDir()
		table := log.OpenTable(openLocal(t, folder), "t", parquet)
		m, actions := newModel(map[string]string{"delta.checkpointInterval": "1", "delta.checkpointPolicy": "v2"})
		for len(m.adds) < 6 {
			add := m.randomAdd(random)
			if key := fileKey(add.Path, add.DeletionVector); m.adds[key].Path == "" {
				m.adds[key] = add
				actions = append(actions, protocol.Action{Add: &add})
			}
		}
		for i := range removed {
			deleted := now.UnixMilli()
			actions = append(actions, protocol.Action{Remove: &protocol.RemoveFile{Path: fmt.Sprintf("gone-%d.parquet", i), DeletionTimestamp: &deleted, DataChange: true}})
		}
		m.write(t, table, actions[:2], log.Upkeep{Now: o.Now, NewID: o.NewID, SidecarActions: 3})
		before, err := os.ReadDir(filepath.Join(folder, "_delta_log", "_sidecars"))
		if err != nil {
			before = nil
		}
		m.write(t, table, actions[2:], o)
		after, err := os.ReadDir(filepath.Join(folder, "_delta_log", "_sidecars"))
		if want := (6 + removed + 2) / 3; err != nil || len(after)-len(before) != want {
			t.Errorf("%d actions are in %d sidecars, want %d: %v", 6+removed, len(after)-len(before), want, err)
		}
	}
}
