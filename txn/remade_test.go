package txn

import (
	"context"
	"testing"

	"deltasql/protocol"
	"deltasql/stats"
	"deltasql/txn/store"
)

// dropLog deletes all commits of a table.
func dropLog(r *rig) {
	r.t.Helper()
	ctx := context.Background()
	var names []string
	for info, err := range r.store.List(ctx, protocol.LogFolder+"/", "") {
		r.must(err)
		names = append(names, info.Name)
	}
	for _, name := range names {
		r.must(r.store.Delete(ctx, name))
	}
}

// A transaction belongs to the log that it has read (L1): its commit must not come to stand in the log of a table that was made
// anew in the same folder, nor in a folder whose table is gone.
func TestTableMadeAnewTakesNoOldCommits(t *testing.T) {
	for _, c := range []struct {
		name    string
		commits int // of the new table, behind its first; -1 for no new table
		alone   bool
		class   protocol.Class
	}{
		{"gone", -1, false, "DELTA_METADATA_CHANGED"},
		{"shorter", 0, false, "DELTA_METADATA_CHANGED"},
		{"as long", 2, false, "DELTA_METADATA_CHANGED"},
		{"longer", 6, false, "DELTA_METADATA_CHANGED"},
		{"longer, in a turn", 6, true, "DELTA_METADATA_CHANGED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := store.NewMemory(nil)
			r := newRig(t, st)
			r.create()
			r.append("a.parquet", 1, 0, 1)
			r.append("b.parquet", 1, 0, 1)
			o := r.options()
			o.Alone = c.alone
			tx, err := Begin(context.Background(), r.table, r.snapshot(), o)
			r.must(err)
			r.put(tx, "c.parquet")
			r.add(tx, "c.parquet", 1, 0, 1)

			dropLog(r)
			other := r.another(st)
			if c.commits >= 0 {
				other.create()
				for i := range c.commits {
					other.append(string(rune('m'+i))+".parquet", 1, 0, 1)
				}
			}
			_, err = tx.Commit(context.Background(), Operation{Name: "WRITE"})
			wantClass(t, err, c.class)
			if r.exists("c.parquet") {
				t.Error("the file of the failed transaction is left")
			}
			if c.commits < 0 {
				if r.exists(protocol.LogFolder + "/" + protocol.CommitName(3)) {
					t.Error("a commit stands in a log that is gone")
				}
				return
			}
			if got := other.snapshot(); got.Version() != int64(c.commits) || got.Files().Len() != c.commits {
				t.Errorf("the new table is at version %d with %d files", got.Version(), got.Files().Len())
			}
		})
	}
}

// A savepoint is a value: what happens to the files that it holds does not reach it.
func TestSavepointKeepsWhetherRemovedFilesChangedData(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	r.append("old.parquet", 1, 0, 9)
	tx := r.begin()
	old := live(t, tx.Snapshot(), "old.parquet")
	r.must(tx.Remove(false, old))
	compacted := file("new.parquet", 1, 0, 9)
	compacted.DataChange = false
	again := old
	again.DeletionVector = nil
	r.must(tx.Add([]protocol.AddFile{compacted}, done(tx)))
	save := tx.Savepoint()
	staged := *tx.staged.files["old.parquet"].remove
	// The file comes back with another vector and goes again, this time with a change of data.
	dv := vector("some", 1)
	again.DeletionVector, again.Stats = &dv, loose(old.Stats)
	r.must(tx.Add([]protocol.AddFile{again}, done(tx)))
	r.must(tx.Remove(true, again))
	r.must(tx.RollbackTo(save))
	if got := tx.staged.files["old.parquet"].remove.DataChange; got != staged.DataChange {
		t.Errorf("the savepoint's removal now says dataChange %t", got)
	}
}

// What an append has read of applications, and the ids that it must not give out, count in a group too.
func TestAppendsWithMoreToSayAreNotJoined(t *testing.T) {
	r, end := held(t)
	defer end()
	for _, prepare := range []func(*Transaction){
		func(tx *Transaction) { tx.ReadApp("app") },
		func(tx *Transaction) { tx.RaiseRowMark(100) },
		func(tx *Transaction) { tx.ReadWhere(stats.Const(false)) },
	} {
		tx := r.begin()
		r.add(tx, "a.parquet", 1, 0, 1)
		if c, _, err := tx.prepare(&Operation{Name: "WRITE"}); err != nil || !tx.joinable(&c) {
			t.Fatalf("a plain append cannot be joined: %v", err)
		}
		prepare(tx)
		if c, _, err := tx.prepare(&Operation{Name: "WRITE"}); err != nil || tx.joinable(&c) {
			t.Errorf("an append can be joined although it says more: %v", err)
		}
	}
}

// Files that came first were written without what a change of the metadata brings. Whoever made it had looked at the files that
// were there.
func TestNewDutiesConflictWithFilesThatCameFirst(t *testing.T) {
	for _, c := range []struct {
		name, property string
		dataChange     bool
		conflict       bool
	}{
		{"a constraint", "delta.constraints.c=v > 0", true, true},
		{"a constraint, and rows that were there", "delta.constraints.c=v > 0", false, false},
		{"files of another form, and rows that were there", "delta.enableMaterializePartitionColumnsFeature=true", false, true},
		{"nothing new", "delta.appendOnly=true", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, store.NewMemory(nil))
			r.create()
			alter := r.begin()
			if c.name == "files of another form, and rows that were there" {
				p := allFeatures()
				p.WriterFeatures = append(p.WriterFeatures, "materializePartitionColumns")
				r.must(alter.SetProtocol(p))
			}
			r.must(alter.SetMetadata(metadata(c.property)))
			tx := r.begin()
			add := file("a.parquet", 1, 0, 1)
			add.DataChange = c.dataChange
			r.must(tx.Add([]protocol.AddFile{add}, done(tx)))
			r.commit(tx, "WRITE")
			_, err := alter.Commit(context.Background(), Operation{Name: "SET TBLPROPERTIES"})
			if c.conflict {
				wantClass(t, err, "DELTA_CONCURRENT_APPEND")
			} else {
				r.must(err)
			}
		})
	}
}
