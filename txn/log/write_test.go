package log

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// parseCommit gives the actions of the lines that logDir writes.
func (d *logDir) parseCommit(version int64, lines string) (Commit, []byte) {
	d.t.Helper()
	c := &commit{}
	data := []byte(d.expand(lines))
	if _, err := c.parseLines(data, 0); err != nil {
		d.t.Fatal(err)
	}
	out := Commit{Version: version}
	out.Info, out.Actions = c.takeInfo()
	return out, data
}

// Committed: the next snapshot reads nothing, and is the one that the log gives.
func TestCommittedSparesTheReading(t *testing.T) {
	ctx := context.Background()
	dir := newLog(t, "-- 0.json --\ntable\nadd a\nadd b v1\n")
	faults := store.NewFaults(dir)
	table := OpenTable(faults, "t", nil)
	before := mustSnapshot(t, table)
	commit, data := dir.parseCommit(1, `{"commitInfo":{"txnId":"x"}}`+"\nremove b v1\nadd b v2\nadd c\n")
	if outcome, err := table.WriteCommit(ctx, 1, data); outcome != store.Written || err != nil {
		t.Fatal(outcome, err)
	}
	reads, ranges, lists := faults.Count(store.OpRead), faults.Count(store.OpReadRange), faults.Count(store.OpList)
	made := table.Committed(ctx, commit)
	if made == nil || made != mustSnapshot(t, table) {
		t.Fatal("the snapshot of the commit is not the table's newest")
	}
	if faults.Count(store.OpRead) != reads || faults.Count(store.OpReadRange) != ranges || faults.Count(store.OpList) != lists {
		t.Errorf("calls %q", faults.Calls())
	}
	if live(made) != "a b/v2 c" || live(before) != "a b/v1" || live(made) != live(mustSnapshot(t, dir.open())) {
		t.Errorf("%s, before %s", live(made), live(before))
	}
	if id, _ := made.CommitInfo().TxnID(); id != "x" {
		t.Errorf("commitInfo %+v", made.CommitInfo())
	}
	if table.Committed(ctx, commit) != made {
		t.Error("the same commit counted twice")
	}
	if outcome, err := table.WriteCommit(ctx, 1, data); outcome != store.NotWritten || !errors.Is(err, store.ErrExists) {
		t.Error(outcome, err)
	}
	// A commit of somebody else in between: nothing is made up.
	dir.write("-- 2.json --\nadd d\n")
	dir.write("-- 3.json --\nadd e\n")
	third, _ := dir.parseCommit(3, "add e\n")
	if table.Committed(ctx, third) != nil || live(mustSnapshot(t, table)) != "a b/v2 c d e" {
		t.Error(live(mustSnapshot(t, table)))
	}
}

// Bugs LR-16: a table that was dropped and made again meanwhile is not built on.
func TestCommittedSeesThatTheLogIsAnother(t *testing.T) {
	ctx := context.Background()
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	table := dir.open()
	mustSnapshot(t, table)
	dir.write("-- 0.json --\ntable two\nadd b\n-- 1.json --\nadd c\n")
	commit, _ := dir.parseCommit(1, "add c\n")
	if table.Committed(ctx, commit) != nil || live(mustSnapshot(t, table)) != "b c" {
		t.Error(live(mustSnapshot(t, table)))
	}
}

func TestWriteCommitOutcomes(t *testing.T) {
	ctx := context.Background()
	dir := newLog(t, "-- 0.json --\ntable\n")
	lost := fmt.Errorf("connection reset: %w", store.ErrOutcomeUnknown)
	table := OpenTable(store.NewFaults(dir, store.Fault{Op: store.OpPutIfAbsent, Nth: 1, Err: lost, After: true}, store.Fault{Op: store.OpPutIfAbsent, Nth: 2, Err: errors.New("disk full")}), "t", nil)
	_, data := dir.parseCommit(1, `{"commitInfo":{"txnId":"mine","inCommitTimestamp":77}}`+"\nadd a\n")
	if outcome, err := table.WriteCommit(ctx, 1, data); outcome != store.Unknown || !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Error(outcome, err)
	}
	read, err := table.ReadCommit(ctx, 1)
	if id, _ := read.Info.TxnID(); err != nil || id != "mine" || len(read.Actions) != 1 || read.TimestampMillis != 77 {
		t.Errorf("%+v %v", read, err)
	}
	if outcome, err := table.WriteCommit(ctx, 2, data); outcome != store.NotWritten || protocol.ClassOf(err) != "DELTASQL_STORAGE" || !strings.Contains(err.Error(), protocol.CommitName(2)) {
		t.Error(outcome, err)
	}
	if _, err := table.ReadCommit(ctx, 2); protocol.ClassOf(err) != "DELTA_LOG_FILE_NOT_FOUND" {
		t.Error(err)
	}
	var versions []int64
	for commit, err := range table.CommitsAfter(ctx, -1) {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, commit.Version)
	}
	if fmt.Sprint(versions) != "[0 1]" {
		t.Error(versions)
	}
}

// Overlays of one snapshot, made at once and while the table goes on, see what they would commit and nothing else.
func TestOverlaysAreApart(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 5))
		dir := newLog(t, "-- 0.json --\ntable\n")
		m := model{}
		version := 1
		for ; version < 30; version++ {
			dir.write(fmt.Sprintf("-- %d.json --\n%s", version, randomCommit(random, m, version)))
		}
		table := dir.open()
		base := mustSnapshot(t, table)
		shown := live(base)
		type plan struct {
			lines string
			want  string
		}
		plans := make([]plan, 6)
		for i := range plans {
			own := model{}
			for key, at := range m {
				own[key] = at
			}
			plans[i].lines = randomCommit(random, own, version)
			plans[i].want = own.live()
		}
		var group sync.WaitGroup
		for _, p := range plans {
			commit, _ := dir.parseCommit(int64(version), p.lines)
			group.Go(func() {
				overlay, err := base.Overlay(commit)
				if err != nil {
					t.Error(err)
					return
				}
				if got := live(overlay); got != p.want || overlay.Version() != int64(version) {
					t.Errorf("seed %d: overlay shows %q, want %q", seed, got, p.want)
				}
				again, err := overlay.Overlay(Commit{Version: int64(version) + 1})
				if err != nil || live(again) != p.want {
					t.Errorf("seed %d: overlay of an overlay: %v", seed, err)
				}
				for _, err := range overlay.Tombstones(ctx) {
					if protocol.ClassOf(err) != protocol.ClassInternal {
						t.Error("tombstones of an overlay: ", err)
					}
				}
			})
		}
		dir.write(fmt.Sprintf("-- %d.json --\n%s", version, plans[0].lines))
		group.Go(func() {
			if next, err := table.Snapshot(ctx); err != nil || live(next) != plans[0].want {
				t.Errorf("seed %d: the next version: %v", seed, err)
			}
		})
		group.Wait()
		if live(base) != shown {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
	}
}

// An overlay that changes metadata has another configuration; one that breaks the table is refused.
func TestOverlayOfMetadata(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n")
	base := mustSnapshot(t, dir.open())
	metadata := base.Config().Metadata
	metadata.Configuration = map[string]string{"delta.appendOnly": "true"}
	overlay, err := base.Overlay(Commit{Version: 1, Actions: []protocol.Action{{Metadata: &metadata},
		{Txn: &protocol.SetTransaction{AppID: "a", Version: 3}}, {Domain: &protocol.DomainMetadata{Domain: "d", Configuration: "{}"}}}})
	if err != nil || overlay.Config().Property("delta.appendOnly") != "true" || base.Config().Property("delta.appendOnly") == "true" {
		t.Fatal(err)
	}
	if _, ok := base.Domain("d"); ok || len(base.Transactions()) != 0 || overlay.Transactions()["a"].Version != 3 || len(overlay.Domains()) != 1 {
		t.Error("transactions or domains leaked")
	}
	metadata.SchemaString = "{"
	if _, err := base.Overlay(Commit{Version: 1, Actions: []protocol.Action{{Metadata: &metadata}}}); err == nil {
		t.Error("a broken schema was taken")
	}
	if _, err := dir.open().Checkpoint(context.Background(), overlay, Upkeep{}); protocol.ClassOf(err) != protocol.ClassInternal {
		t.Error("a checkpoint of an overlay: ", err)
	}
}

// A checksum is never written over another, and says what the files say.
func TestChecksumIsWrittenOnce(t *testing.T) {
	ctx := context.Background()
	dir := newLog(t, "-- 0.json --\n{\"commitInfo\":{\"txnId\":\"x\"}}\ntable\nadd a\nadd b v1\n")
	table := dir.open()
	snapshot := mustSnapshot(t, table)
	name := logFolder + protocol.ChecksumName(0)
	if err := table.WriteChecksum(ctx, snapshot); err != nil {
		t.Fatal(err)
	}
	data, err := dir.Read(ctx, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := protocol.ParseVersionChecksum(data)
	if err != nil || sum.NumFiles != 2 || sum.TableSizeBytes != 20 || *sum.NumDeletionVectors != 1 || *sum.NumDeletedRecords != 1 ||
		sum.DeletedRecordsByClass[0] != 1 || sum.DeletedRecordsByClass[1] != 1 || sum.FileSizeHistogram.FileCounts[0] != 2 || *sum.TxnID != "x" || sum.InCommitTimestamp != nil {
		t.Errorf("%s %v", data, err)
	}
	if err := dir.Put(ctx, name, json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteChecksum(ctx, snapshot); err != nil {
		t.Error(err)
	}
	if data, _ := dir.Read(ctx, name, 100); string(data) != "{}" {
		t.Errorf("written over: %s", data)
	}
}
