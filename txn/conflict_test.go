package txn

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/conflicts.txt anew")

// contest is a kind of operation for the matrix: what it stages on a table that holds a1 and a2 (partition 1, v 0 to 9 and
// 20 to 29) and b (partition 2, v 0 to 9).
type contest struct {
	name      string
	operation string
	never     bool // NeverChangesData
	stage     func(r *rig, tx *Transaction, side string)
}

var contests = []contest{
	{"append to p=1", "WRITE", false, func(r *rig, tx *Transaction, side string) { r.add(tx, side+".parquet", 1, 30, 39) }},
	{"append to p=2", "WRITE", false, func(r *rig, tx *Transaction, side string) { r.add(tx, side+".parquet", 2, 30, 39) }},
	{"INSERT SELECT from itself", "WRITE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadAll()
		r.add(tx, side+".parquet", 3, 30, 39)
	}},
	{"DELETE p=1 (files)", "DELETE", false, func(r *rig, tx *Transaction, _ string) {
		tx.ReadWhere(inPartition(1))
		r.must(tx.Remove(true, live(r.t, tx.Snapshot(), "a1.parquet"), live(r.t, tx.Snapshot(), "a2.parquet")))
	}},
	{"UPDATE a1 (vector)", "UPDATE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadWhere(both(inPartition(1), between(0, 9)))
		old := live(r.t, tx.Snapshot(), "a1.parquet")
		r.must(tx.UpdateVector(old, vector(side, 1), loose(old.Stats)))
		r.add(tx, side+".parquet", 1, 5, 5)
	}},
	{"UPDATE a2 (rewrite)", "UPDATE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadWhere(both(inPartition(1), between(20, 29)))
		r.must(tx.Remove(true, live(r.t, tx.Snapshot(), "a2.parquet")))
		r.add(tx, side+".parquet", 1, 20, 29)
	}},
	{"MERGE into p=2", "MERGE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadWhere(inPartition(2))
		r.must(tx.Remove(true, live(r.t, tx.Snapshot(), "b.parquet")))
		r.add(tx, side+".parquet", 2, 0, 9)
	}},
	{"INSERT OVERWRITE", "WRITE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadAll()
		for _, path := range []string{"a1.parquet", "a2.parquet", "b.parquet"} {
			r.must(tx.Remove(true, live(r.t, tx.Snapshot(), path)))
		}
		r.add(tx, side+".parquet", 3, 0, 9)
	}},
	{"OPTIMIZE p=1", "OPTIMIZE", true, func(r *rig, tx *Transaction, side string) {
		for _, path := range []string{"a1.parquet", "a2.parquet"} {
			tx.ReadFile(path)
			r.must(tx.Remove(false, live(r.t, tx.Snapshot(), path)))
		}
		moved := file(side+".parquet", 1, 0, 29)
		moved.DataChange = false
		r.must(tx.Add([]protocol.AddFile{moved}, done(tx)))
	}},
	{"COMPUTE STATS of a1", "COMPUTE STATS", true, func(r *rig, tx *Transaction, _ string) {
		again := live(r.t, tx.Snapshot(), "a1.parquet")
		again.DataChange = false
		r.must(tx.AddAgain(again))
	}},
	{"row id backfill of a1", OperationBackfill, true, func(r *rig, tx *Transaction, _ string) {
		again := live(r.t, tx.Snapshot(), "a1.parquet")
		again.DataChange = false
		r.must(tx.AddAgain(again))
	}},
	{"row id unbackfill of a1", OperationUnbackfill, true, func(r *rig, tx *Transaction, _ string) {
		again := live(r.t, tx.Snapshot(), "a1.parquet")
		again.DataChange, again.BaseRowID, again.DefaultRowCommitVersion = false, nil, nil
		r.must(tx.AddAgain(again))
	}},
	{"SET TBLPROPERTIES (own key)", "SET TBLPROPERTIES", false, setProperty("own=1")},
	{"SET TBLPROPERTIES (row tracking)", "SET TBLPROPERTIES", false, setProperty("delta.enableRowTracking=true")},
	{"SET TBLPROPERTIES (vectors off)", "SET TBLPROPERTIES", false, setProperty("delta.enableDeletionVectors=false")},
	{"map columns by name", "SET TBLPROPERTIES", false, func(r *rig, tx *Transaction, _ string) {
		m := tx.Config().Metadata
		m.Configuration = withProperties(m.Configuration, map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"})
		schema := tx.Config().Schema
		schema.Fields = append([]protocol.Field(nil), schema.Fields...)
		for i := range schema.Fields {
			schema.Fields[i].Metadata = schema.Fields[i].Metadata.WithColumnMapping(i+1, protocol.PhysicalName(schema.Fields[i].Name))
		}
		m.SchemaString = schema.JSON()
		r.must(tx.SetMetadata(m))
	}},
	{"ADD CONSTRAINT", "ADD CONSTRAINT", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadAll()
		setProperty("delta.constraints.c=v > 0")(r, tx, side)
	}},
	{"ADD COLUMNS", "ADD COLUMNS", false, func(r *rig, tx *Transaction, _ string) {
		m := tx.Config().Metadata
		schema := tx.Config().Schema
		schema.Fields = append(append([]protocol.Field(nil), schema.Fields...), protocol.Field{Name: "n", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true})
		m.SchemaString = schema.JSON()
		r.must(tx.SetMetadata(m))
	}},
	{"add a feature", "UPGRADE PROTOCOL", false, func(r *rig, tx *Transaction, _ string) {
		p := tx.Config().Protocol
		p.WriterFeatures = append(append([]string(nil), p.WriterFeatures...), "vacuumProtocolCheck")
		p.ReaderFeatures = append(append([]string(nil), p.ReaderFeatures...), "vacuumProtocolCheck")
		r.must(tx.SetProtocol(p))
	}},
	{"DROP FEATURE", "DROP FEATURE", false, func(r *rig, tx *Transaction, _ string) {
		r.must(tx.SetProtocol(tx.Config().Protocol.WithoutFeature("v2Checkpoint")))
	}},
	{"set a domain", "WRITE", false, func(r *rig, tx *Transaction, _ string) {
		r.must(tx.SetDomain(protocol.DomainMetadata{Domain: "own", Configuration: "{}"}))
	}},
	{"write app 7", "STREAMING UPDATE", false, func(r *rig, tx *Transaction, side string) {
		r.add(tx, side+".parquet", 1, 30, 39)
		r.must(tx.SetTxn("app", 7))
	}},
	{"read app, write app 8", "STREAMING UPDATE", false, func(r *rig, tx *Transaction, side string) {
		tx.ReadApp("app")
		r.add(tx, side+".parquet", 1, 30, 39)
		r.must(tx.SetTxn("app", 8))
	}},
	{"identity INSERT", "WRITE", false, func(r *rig, tx *Transaction, side string) {
		r.add(tx, side+".parquet", 1, 30, 39)
		r.must(tx.AdvanceIdentity(map[protocol.LogicalName]int64{"id": 10}))
	}},
}

func setProperty(property string) func(*rig, *Transaction, string) {
	return func(r *rig, tx *Transaction, _ string) {
		key, value, _ := strings.Cut(property, "=")
		m := tx.Config().Metadata
		m.Configuration = withProperties(m.Configuration, map[string]string{key: value})
		r.must(tx.SetMetadata(m))
	}
}

// verdict is what becomes of a loser: "ok", "done" for one that the winner made needless, "again" for one to run again, else
// the class.
func (r *rig) verdict(loser, winner contest) string {
	ours, theirs := r.begin(), r.begin()
	loser.stage(r, ours, "ours")
	winner.stage(r, theirs, "theirs")
	if _, err := theirs.Commit(context.Background(), Operation{Name: winner.operation, NeverChangesData: winner.never}); err != nil {
		r.t.Fatalf("%s: the winner: %v", winner.name, err)
	}
	before := r.snapshot().Version()
	c, err := ours.Commit(context.Background(), Operation{Name: loser.operation, NeverChangesData: loser.never})
	after := r.snapshot()
	var conflict *Conflict
	switch {
	case err == nil && c.AlreadyApplied:
		if after.Version() != before {
			r.t.Errorf("%s after %s: what was done already made a version", loser.name, winner.name)
		}
		return "done"
	case err == nil:
		if c.Version != before+1 || after.Version() != c.Version {
			r.t.Errorf("%s after %s: %+v", loser.name, winner.name, c)
		}
		if tracksRows(after.Config()) && loser.operation != OperationUnbackfill && winner.operation != OperationUnbackfill {
			uniqueRowIDs(r.t, after)
		}
		return "ok"
	case after.Version() != before:
		r.t.Errorf("%s after %s: failed and made a version", loser.name, winner.name)
	case !errors.As(err, &conflict):
		return err.Error()
	case MayRerun(err):
		return "again"
	}
	short := map[protocol.Class]string{
		"DELTA_CONCURRENT_APPEND": "append", "DELTA_CONCURRENT_DELETE_READ": "delete-read", "DELTA_CONCURRENT_DELETE_DELETE": "delete-delete",
		"DELTA_METADATA_CHANGED": "metadata", "DELTA_PROTOCOL_CHANGED": "protocol", "DELTA_CONCURRENT_TRANSACTION": "transaction",
		"DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL": "revalidation", "DELTA_CONCURRENT_WRITE": "write",
		"DELTA_ROW_TRACKING_BACKFILL_RUNNING_CONCURRENTLY_WITH_UNBACKFILL": "backfill",
	}[protocol.ClassOf(err)]
	if short == "" {
		return err.Error()
	}
	return short
}

// contested is a table for one pair.
func contested(t testing.TB, level string) *rig {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.isolationLevel="+level, "delta.enableDeletionVectors=true")
	tx := r.begin()
	r.add(tx, "a1.parquet", 1, 0, 9)
	r.add(tx, "a2.parquet", 1, 20, 29)
	r.add(tx, "b.parquet", 2, 0, 9)
	r.commit(tx, "WRITE")
	return r
}

// TestConflictMatrix holds the verdict on every pair of operations under both levels against the golden file: the loser is
// the heading, a line a winner.
func TestConflictMatrix(t *testing.T) {
	var text strings.Builder
	text.WriteString("# What becomes of a transaction (heading) that loses to another (line), by the table's isolation level.\n" +
		"# ok: it commits behind the winner. done: the winner made it needless. again: run the statement again. Else: the conflict.\n")
	for _, loser := range contests {
		fmt.Fprintf(&text, "\n%s\n%-36s %-18s %s\n", loser.name, "", "WriteSerializable", "Serializable")
		for _, winner := range contests {
			fmt.Fprintf(&text, "    %-32s %-18s %s\n", winner.name, contested(t, "WriteSerializable").verdict(loser, winner), contested(t, "Serializable").verdict(loser, winner))
		}
	}
	const golden = "testdata/conflicts.txt"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(text.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("%s differs from line %d on: got %q", golden, i+1, got[min(i, len(got)-1)])
		}
	}
}

// TestDigestsMatrix holds the verdicts against the outcome matrix of the protocol digest, written down by hand.
func TestDigestsMatrix(t *testing.T) {
	const (
		blind, self, update, merge, optimize = "append to p=1", "INSERT SELECT from itself", "UPDATE a1 (vector)", "MERGE into p=2", "OPTIMIZE p=1"
		rewriting, own, constraint           = "DELETE p=1 (files)", "SET TBLPROPERTIES (own key)", "ADD CONSTRAINT"
	)
	named := func(name string) contest {
		for _, c := range contests {
			if c.name == name {
				return c
			}
		}
		t.Fatal(name)
		return contest{}
	}
	for _, c := range []struct{ loser, winner, writeSerializable, serializable string }{
		{blind, blind, "ok", "ok"}, {blind, update, "ok", "ok"}, {blind, merge, "ok", "ok"}, {blind, optimize, "ok", "ok"},
		{blind, own, "metadata", "metadata"},
		{self, blind, "ok", "append"}, {self, update, "append", "append"},
		{self, optimize, "ok", "ok"}, // the rows are the same (bugs CC-01)
		{rewriting, blind, "ok", "append"}, {rewriting, merge, "ok", "ok"}, {rewriting, update, "append", "append"}, {rewriting, optimize, "delete-delete", "delete-delete"},
		{merge, blind, "ok", "ok"}, {merge, "append to p=2", "ok", "append"}, {merge, optimize, "ok", "ok"},
		{optimize, blind, "ok", "ok"}, {optimize, merge, "ok", "ok"}, {optimize, update, "delete-read", "delete-read"}, {optimize, optimize, "delete-delete", "delete-delete"},
		{constraint, blind, "append", "append"}, {constraint, own, "metadata", "metadata"}, {own, own, "metadata", "metadata"}, {own, blind, "ok", "ok"},
		{blind, "SET TBLPROPERTIES (row tracking)", "ok", "ok"}, {blind, "map columns by name", "ok", "ok"},
		{blind, "add a feature", "ok", "ok"}, {blind, "DROP FEATURE", "protocol", "protocol"},
		{"read app, write app 8", "write app 7", "transaction", "transaction"}, {"set a domain", "set a domain", "transaction", "transaction"},
	} {
		for level, want := range map[string]string{"WriteSerializable": c.writeSerializable, "Serializable": c.serializable} {
			if got := contested(t, level).verdict(named(c.loser), named(c.winner)); got != want {
				t.Errorf("%s after %s, %s: %s, want %s", c.loser, c.winner, level, got, want)
			}
		}
	}
}

func TestConflictsSayWhatHappened(t *testing.T) {
	r := contested(t, "Serializable")
	ours, theirs := r.begin(), r.begin()
	ours.ReadWhere(inPartition(1))
	r.must(ours.Remove(true, live(t, ours.Snapshot(), "a1.parquet")))
	r.add(theirs, "n.parquet", 1, 0, 1)
	r.commit(theirs, "WRITE")
	_, err := ours.Commit(context.Background(), Operation{Name: "DELETE"})
	wantClass(t, err, "DELTA_CONCURRENT_APPEND")
	for _, want := range []string{"DELETE of the table t lost to version 2 (WRITE)", "in the partition [p=1]", "n.parquet"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	var conflict *Conflict
	if !errors.As(err, &conflict) || conflict.Winner != 2 || conflict.Operation != "WRITE" || conflict.Rerun {
		t.Errorf("%+v", conflict)
	}
}

// What a feature's drop needs is asked again of what the winner left, and the version up to which checkpoints are protected
// moves with the commit (protocol digest, "Concurrency around the downgrade commit").
func TestDropFeatureIsValidatedAgain(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		r := newRig(t, store.NewMemory(nil))
		p := allFeatures()
		r.createAs(p, metadata())
		tx := r.begin()
		dropped := p.WithoutFeature("v2Checkpoint")
		dropped.WriterFeatures = append(dropped.WriterFeatures, "checkpointProtection")
		r.must(tx.SetProtocol(dropped))
		r.must(tx.SetMetadata(metadata(propertyProtection + "=1")))
		r.append("a.parquet", 1, 0, 1)
		r.append("b.parquet", 1, 0, 1)
		var asked []int64
		_, err := tx.Commit(context.Background(), Operation{Name: "DROP FEATURE", Revalidate: func(winner int64) error {
			asked = append(asked, winner)
			if refuse && winner == 2 {
				return errors.New("a trace is back")
			}
			return nil
		}})
		if fmt.Sprint(asked) != "[1 2]" {
			t.Errorf("asked %v", asked)
		}
		if refuse {
			if wantClass(t, err, "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL"); !strings.Contains(err.Error(), "a trace is back") {
				t.Error(err)
			}
			continue
		}
		r.must(err)
		if got := r.snapshot().Config().Property(propertyProtection); got != "3" {
			t.Errorf("protected before %s", got)
		}
	}
}

// Dropping row tracking takes the ids of files along that were added meanwhile.
func TestDropOfRowTrackingTakesNewFilesAlong(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	r.append("a.parquet", 1, 0, 1)
	tx := r.begin()
	r.must(tx.SetProtocol(tx.Config().Protocol.WithoutFeature("rowTracking")))
	r.must(tx.SetMetadata(metadata()))
	r.must(tx.AddAgain(live(t, tx.Snapshot(), "a.parquet")))
	r.must(tx.SetDomain(protocol.DomainMetadata{Domain: protocol.DomainRowTracking, Configuration: "{}", Removed: true}))
	r.append("b.parquet", 1, 0, 1)
	drop := r.begin()
	r.must(drop.Remove(true, live(t, drop.Snapshot(), "a.parquet")))
	r.commit(drop, "DELETE")
	r.commit(tx, "DROP FEATURE")
	s := r.snapshot()
	if got := strings.Join(paths(s), " "); got != "b.parquet" {
		t.Errorf("files %s", got)
	}
	if _, ok := s.Files().BaseRowID(0); ok {
		t.Error("a row id is left")
	}
	if _, ok := s.Domain(protocol.DomainRowTracking); ok {
		t.Error("the domain is left")
	}
}

// A winner that asks something of files which are written already is a conflict even where the reference would let it pass.
func TestNewDutiesAreConflicts(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	ours, theirs := r.begin(), r.begin()
	r.add(ours, "a.parquet", 1, 0, 1)
	p := allFeatures()
	p.WriterFeatures = append(p.WriterFeatures, "materializePartitionColumns")
	r.must(theirs.SetProtocol(p))
	r.commit(theirs, "UPGRADE PROTOCOL")
	_, err := ours.Commit(context.Background(), Operation{Name: "WRITE"})
	if wantClass(t, err, "DELTA_PROTOCOL_CHANGED"); !strings.Contains(err.Error(), "MaterializedPartitions") {
		t.Error(err)
	}
}

// Removes of other writers may lack partition values and statistics: then they may be about any rows.
func TestBareRemovesMatchEverything(t *testing.T) {
	r := contested(t, "WriteSerializable")
	ours := r.begin()
	ours.ReadWhere(inPartition(1))
	r.add(ours, "n.parquet", 1, 0, 1)
	info, err := protocol.NewCommitInfo(protocol.CommitInfoFields{Operation: "DELETE"})
	r.must(err)
	data, err := protocol.EncodeCommit([]protocol.Action{{CommitInfo: info}, {Remove: &protocol.RemoveFile{Path: "b.parquet", DataChange: true}}})
	r.must(err)
	_, err = r.table.WriteCommit(context.Background(), 2, data)
	r.must(err)
	_, err = ours.Commit(context.Background(), Operation{Name: "UPDATE"})
	wantClass(t, err, "DELTA_CONCURRENT_DELETE_READ")
}
