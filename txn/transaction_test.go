package txn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

func TestCommitWritesWhatTheReferenceWrites(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.isolationLevel=Serializable")
	tx := r.begin()
	r.add(tx, "a.parquet", 1, 0, 4)
	_, err := tx.Commit(context.Background(), Operation{
		Name:       "WRITE",
		Parameters: []Parameter{{Key: "mode", Value: protocol.JSONText("Append")}, {Key: "partitionBy", Value: protocol.JSONText("[]")}},
		Metrics:    []Metric{{Key: "numFiles", Value: "1"}, {Key: "numOutputRows", Value: "5"}},
	})
	r.must(err)
	want := `{"commitInfo":{"timestamp":1800000000004,"operation":"WRITE","operationParameters":{"mode":"Append","partitionBy":"[]"},` +
		`"readVersion":0,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numFiles":"1","numOutputRows":"5"},` +
		`"engineInfo":"deltasql/test","txnId":"00000000-0000-0000-0000-000000000002"}}
{"add":{"path":"a.parquet","partitionValues":{"p":"1"},"size":100,"modificationTime":1800000000000,"dataChange":true,` +
		`"stats":"{\"numRecords\":5,\"minValues\":{\"v\":0},\"maxValues\":{\"v\":4},\"nullCount\":{\"v\":0},\"tightBounds\":true}",` +
		`"baseRowId":0,"defaultRowCommitVersion":1}}
{"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":4,\"domainName\":\"delta.rowTracking\"}","removed":false}}
`
	if got := r.raw(1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := r.snapshot(); got.Version() != 1 || got.Files().Len() != 1 {
		t.Errorf("version %d has %d files", got.Version(), got.Files().Len())
	}
}

func TestNewTableConflictsWithAnother(t *testing.T) {
	st := store.NewMemory(nil)
	r := newRig(t, st)
	tx, err := Create(context.Background(), r.table, r.options())
	r.must(err)
	r.must(tx.SetProtocol(allFeatures()))
	r.must(tx.SetMetadata(metadata()))
	r.another(st).create()
	_, err = tx.Commit(context.Background(), Operation{Name: "CREATE TABLE"})
	wantClass(t, err, "DELTA_PROTOCOL_CHANGED")
}

func TestStagedIsTheNetEffect(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableDeletionVectors=true")
	r.append("old.parquet", 1, 0, 9)
	tx := r.begin()
	old := live(t, tx.Snapshot(), "old.parquet")

	r.add(tx, "gone.parquet", 1, 0, 1)
	r.must(tx.Remove(true, file("gone.parquet", 1, 0, 1)))
	first := vector("first", 1)
	r.must(tx.UpdateVector(old, first, loose(old.Stats)))
	between := old
	between.DeletionVector, between.Stats = &first, loose(old.Stats)
	r.must(tx.UpdateVector(between, vector("second", 3), loose(old.Stats)))
	r.add(tx, "mine.parquet", 2, 0, 9)
	mine := file("mine.parquet", 2, 0, 9)
	r.must(tx.UpdateVector(mine, vector("mine", 2), loose(mine.Stats)))
	view, err := tx.View()
	r.must(err)
	if got := paths(view); !slices.Equal(got, []string{"mine.parquet", "old.parquet"}) {
		t.Errorf("the view has %q", got)
	}
	if got := live(t, view, "old.parquet").DeletionVector; got == nil || got.Cardinality != 3 {
		t.Errorf("the view has the vector %v", got)
	}
	if got := tx.Snapshot().Files().NumDeletionVectors(); got != 0 {
		t.Errorf("the snapshot changed: %d vectors", got)
	}
	r.commit(tx, "UPDATE")
	var adds, removes []string
	for _, line := range strings.Split(r.raw(2), "\n") {
		action, err := protocol.ParseAction([]byte(line + " "))
		if line == "" {
			continue
		}
		r.must(err)
		if action.Add != nil {
			adds = append(adds, action.Add.Path+" "+action.Add.DeletionVector.UniqueID())
		}
		if action.Remove != nil {
			removes = append(removes, action.Remove.Path+" "+action.Remove.DeletionVector.UniqueID())
		}
	}
	slices.Sort(adds)
	if !slices.Equal(adds, []string{"mine.parquet imine", "old.parquet isecond"}) || !slices.Equal(removes, []string{"old.parquet "}) {
		t.Errorf("adds %q, removes %q", adds, removes)
	}
}

func TestSavepointsDropWhatCameAfter(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	tx := r.begin()
	r.put(tx, "a.parquet")
	r.add(tx, "a.parquet", 1, 0, 1)
	save := tx.Savepoint()
	r.put(tx, "b.parquet")
	r.add(tx, "b.parquet", 1, 0, 1)
	r.must(tx.SetTxn("app", 1))
	r.must(tx.RollbackTo(save))
	view, err := tx.View()
	r.must(err)
	if got := paths(view); !slices.Equal(got, []string{"a.parquet"}) {
		t.Errorf("the view has %q", got)
	}
	r.commit(tx, "WRITE")
	if !r.exists("a.parquet") || r.exists("b.parquet") {
		t.Error("the file that is not referred to must go, the other stay")
	}
	if _, ok := r.snapshot().Transactions()["app"]; ok {
		t.Error("the application's transaction was rolled back")
	}
}

func TestFailedTransactionsDeleteTheirFiles(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.appendOnly=true")
	tx := r.begin()
	r.put(tx, "a.parquet")
	tx.Abort(context.Background())
	if r.exists("a.parquet") {
		t.Error("Abort left the file")
	}
	if _, err := tx.Commit(context.Background(), Operation{Name: "WRITE"}); protocol.ClassOf(err) != protocol.ClassInternal {
		t.Errorf("a transaction that has ended: %v", err)
	}
	tx = r.begin()
	r.put(tx, "b.parquet")
	r.add(tx, "b.parquet", 1, 0, 1)
	r.must(tx.SetDomain(protocol.DomainMetadata{Domain: "x", Configuration: "{}"}))
	m := metadata()
	r.must(tx.SetMetadata(m))
	r.must(tx.SetProtocol(protocol.Protocol{MinReaderVersion: 2, MinWriterVersion: 6}))
	_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTA_DOMAIN_METADATA_NOT_SUPPORTED")
	if r.exists("b.parquet") {
		t.Error("the failed commit left the file")
	}
	if r.snapshot().Version() != 0 {
		t.Error("the failed commit made a version")
	}
}

func TestEmptyCommitsAreLeftOut(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	if c := r.commit(r.begin(), "UPDATE"); !c.Empty || c.Version != 0 {
		t.Errorf("%+v", c)
	}
	c, err := r.begin().Commit(context.Background(), Operation{Name: "Empty Commit", AllowEmpty: true})
	if err != nil || c.Empty || c.Version != 1 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestDutiesAreDemanded(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	m := metadata("delta.constraints.positive=v > 0", "delta.enableChangeDataFeed=true", "delta.enableRowTracking=true")
	m.SchemaString = `{"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":false,"metadata":{}}]},"nullable":true,"metadata":{}},` +
		`{"name":"p","type":"integer","nullable":true,"metadata":{}},{"name":"g","type":"long","nullable":true,"metadata":{"delta.generationExpression":"p + 1"}},` +
		`{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(3)"}}]}`
	p := allFeatures()
	p.WriterFeatures = append(p.WriterFeatures, "generatedColumns")
	r.createAs(p, m)
	tx := r.begin()
	var names []string
	for _, d := range tx.Duties() {
		names = append(names, d.String())
	}
	want := []string{"Statistics", "PartitionValues", "Length(c)", "NotNull(s.x)", "Check(positive)", "Generated(g)"}
	if !slices.Equal(names, want) {
		t.Fatalf("duties %q, want %q", names, want)
	}
	for i, name := range want {
		err := tx.Add([]protocol.AddFile{file("a.parquet", 1, 0, 1)}, slices.Delete(tx.Duties(), i, i+1))
		if wantClass(t, err, protocol.ClassInternal); !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	r.must(tx.Add([]protocol.AddFile{file("a.parquet", 1, 0, 1)}, tx.Duties()))
	r.commit(tx, "WRITE")

	for _, missing := range []DutyKind{ChangeRows, RowIDs} {
		tx = r.begin()
		r.must(tx.Remove(true, live(t, tx.Snapshot(), "a.parquet")))
		others := slices.DeleteFunc(done(tx), func(d Duty) bool { return d.Kind == missing })
		r.must(tx.Add([]protocol.AddFile{file("b.parquet", 1, 0, 1)}, others))
		_, err := tx.Commit(context.Background(), Operation{Name: "UPDATE"})
		if wantClass(t, err, protocol.ClassInternal); !strings.Contains(err.Error(), missing.String()) {
			t.Errorf("%v does not name %s", err, missing)
		}
	}
	tx = r.begin()
	r.must(tx.Add([]protocol.AddFile{file("c.parquet", 1, 0, 1)}, tx.Duties()))
	m.Configuration = map[string]string{"delta.constraints.positive": "v > 0", "delta.constraints.late": "v > 1"}
	r.must(tx.SetMetadata(m))
	_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	if wantClass(t, err, protocol.ClassInternal); !strings.Contains(err.Error(), "Check(late)") {
		t.Errorf("a constraint that came after the files: %v", err)
	}
}

func TestRulesOfActions(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableDeletionVectors=true")
	r.append("a.parquet", 1, 0, 9)
	add := func(change func(*protocol.AddFile)) error {
		tx := r.begin()
		f := file("n.parquet", 1, 0, 9)
		change(&f)
		return tx.Add([]protocol.AddFile{f}, done(tx))
	}
	dv := vector("dv", 2)
	for _, c := range []struct {
		name  string
		class protocol.Class
		err   error
	}{
		{"no partition value", "DELTA_INVALID_PARTITIONING_SCHEMA", add(func(f *protocol.AddFile) { f.PartitionValues = nil })},
		{"a value too many", "DELTA_INVALID_PARTITIONING_SCHEMA", add(func(f *protocol.AddFile) {
			f.PartitionValues = map[string]*string{"p": nil, "v": nil}
		})},
		{"an empty file", protocol.ClassInternal, add(func(f *protocol.AddFile) { f.Size = 0 })},
		{"a vector without counts", "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS", add(func(f *protocol.AddFile) { f.DeletionVector, f.Stats = &dv, "" })},
		{"a vector with tight bounds", "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED", add(func(f *protocol.AddFile) { f.DeletionVector = &dv })},
		{"a vector of too many rows", "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", add(func(f *protocol.AddFile) {
			many := vector("many", 11)
			f.DeletionVector, f.Stats = &many, loose(f.Stats)
		})},
	} {
		t.Run(c.name, func(t *testing.T) { wantClass(t, c.err, c.class) })
	}

	tx := r.begin()
	old := live(t, tx.Snapshot(), "a.parquet")
	r.add(tx, "n.parquet", 1, 0, 1)
	wantClass(t, tx.Add([]protocol.AddFile{file("n.parquet", 1, 0, 1)}, done(tx)), "DELTA_DUPLICATE_ACTIONS_FOUND")
	wantClass(t, tx.Add([]protocol.AddFile{file("./n.parquet", 1, 0, 1)}, done(tx)), "DELTA_DUPLICATE_ACTIONS_FOUND")
	wantClass(t, tx.UpdateVector(old, vector("all", 10), loose(old.Stats)), protocol.ClassInternal)
	r.must(tx.UpdateVector(old, vector("x", 2), loose(old.Stats)))
	now := old
	x := vector("x", 2)
	now.DeletionVector, now.Stats = &x, loose(old.Stats)
	wantClass(t, tx.UpdateVector(now, vector("fewer", 1), loose(old.Stats)), protocol.ClassInternal)
	r.must(tx.Remove(true, now))
	wantClass(t, tx.Remove(true, now), "DELTA_DUPLICATE_ACTIONS_FOUND")
	wantClass(t, tx.AddAgain(now), protocol.ClassInternal)
	wantClass(t, tx.AddChangeFile(protocol.AddCDCFile{Path: "_change_data/c.parquet"}), protocol.ClassInternal)
	for _, d := range []protocol.DomainMetadata{protocol.RowTrackingDomain(7), {Domain: "delta.own"}, {}} {
		wantClass(t, tx.SetDomain(d), protocol.ClassInternal)
	}
}

func TestVectorsNeedTheProperty(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	r.append("a.parquet", 1, 0, 9)
	tx := r.begin()
	old := live(t, tx.Snapshot(), "a.parquet")
	wantClass(t, tx.UpdateVector(old, vector("x", 2), loose(old.Stats)), "DELTA_ADDING_DELETION_VECTORS_DISALLOWED")
	dv := vector("x", 2)
	restored := file("b.parquet", 1, 0, 9)
	restored.DeletionVector, restored.Stats = &dv, loose(restored.Stats)
	r.must(tx.Add([]protocol.AddFile{restored}, done(tx)))
	_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTA_ADDING_DELETION_VECTORS_DISALLOWED")
	tx = r.begin()
	r.must(tx.Add([]protocol.AddFile{restored}, done(tx)))
	r.commit(tx, "RESTORE") // brings back what there was
}

func TestAppendOnlyTables(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.appendOnly=true", "delta.enableDeletionVectors=true")
	r.append("a.parquet", 1, 0, 9)
	tx := r.begin()
	old := live(t, tx.Snapshot(), "a.parquet")
	wantClass(t, tx.Remove(true, old), "DELTA_CANNOT_MODIFY_APPEND_ONLY")
	wantClass(t, tx.UpdateVector(old, vector("x", 1), loose(old.Stats)), "DELTA_CANNOT_MODIFY_APPEND_ONLY")
	r.must(tx.Remove(false, old)) // OPTIMIZE moves rows
	rewritten := file("b.parquet", 1, 0, 9)
	rewritten.DataChange = false
	r.must(tx.Add([]protocol.AddFile{rewritten}, done(tx)))
	r.commit(tx, "OPTIMIZE")
	if !strings.Contains(r.raw(2), `"isolationLevel":"SnapshotIsolation"`) {
		t.Error("a commit that changes no data needs no more than a snapshot")
	}
}

func TestUnknownWriterFeaturesAreRefusedAtOnce(t *testing.T) {
	for feature, class := range map[string]protocol.Class{
		"collations": "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "newFeature": "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
		"redirectWriterOnly-preview": "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
		"catalogManaged":             "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
	} {
		st := store.NewMemory(nil)
		r := newRig(t, st)
		p := allFeatures()
		p.WriterFeatures = append(p.WriterFeatures, feature)
		if feature == "catalogManaged" {
			p.ReaderFeatures = append(p.ReaderFeatures, feature)
		}
		m := metadata()
		data, err := protocol.EncodeCommit([]protocol.Action{{Protocol: &p}, {Metadata: &m}})
		r.must(err)
		_, err = r.table.WriteCommit(context.Background(), 0, data)
		r.must(err)
		_, err = Begin(context.Background(), r.table, r.snapshot(), r.options())
		wantClass(t, err, class)
		tx, err := Create(context.Background(), r.table, r.options())
		r.must(err)
		wantClass(t, tx.SetProtocol(p), class)
	}
}

// An application's transaction is written once, however often it is tried (bugs CC-06).
func TestApplicationTransactionsAreIdempotent(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	write := func(version int64) Committed {
		tx := r.begin()
		r.put(tx, "f")
		r.add(tx, "f", 1, 0, 0)
		r.must(tx.SetTxn("job", version))
		c := r.commit(tx, "STREAMING UPDATE")
		if !c.AlreadyApplied {
			r.must(r.store.Delete(context.Background(), "f"))
			drop := r.begin()
			r.must(drop.Remove(true, live(t, drop.Snapshot(), "f")))
			r.commit(drop, "DELETE")
		} else if r.exists("f") {
			t.Error("the file of a transaction that was not needed is left")
		}
		return c
	}
	for _, c := range []struct {
		version int64
		applied bool
	}{{30, false}, {30, true}, {10, true}, {31, false}, {31, true}} {
		if got := write(c.version); got.AlreadyApplied != c.applied {
			t.Errorf("%d: %+v", c.version, got)
		}
	}
	a, b := r.begin(), r.begin()
	for i, tx := range []*Transaction{a, b} {
		r.add(tx, string(rune('x'+i)), 1, 0, 0)
		r.must(tx.SetTxn("job", 40))
	}
	if c := r.commit(a, "STREAMING UPDATE"); c.AlreadyApplied {
		t.Error("the first is not applied yet")
	}
	if c := r.commit(b, "STREAMING UPDATE"); !c.AlreadyApplied {
		t.Error("the second is applied already")
	}
	if got := paths(r.snapshot()); !slices.Equal(got, []string{"x"}) {
		t.Errorf("files %q", got)
	}
}

func TestInCommitTimestamps(t *testing.T) {
	st := store.NewMemory(nil)
	r := newRig(t, st)
	r.create()
	r.append("a.parquet", 1, 0, 1)
	tx := r.begin()
	m := metadata("delta.enableInCommitTimestamps=true")
	r.must(tx.SetMetadata(m))
	other := r.another(st)
	other.append("b.parquet", 1, 0, 1)
	c := r.commit(tx, "SET TBLPROPERTIES")
	s := r.snapshot()
	if c.Version != 3 || s.Config().Property(propertyTimesVersion) != "3" {
		t.Fatalf("version %d, enabled at %q", c.Version, s.Config().Property(propertyTimesVersion))
	}
	millis, ok := s.CommitInfo().InCommitTimestamp()
	if !ok || s.Config().Property(propertyTimesMillis) != strconv.FormatInt(millis, 10) || !strings.HasPrefix(r.raw(3), `{"commitInfo":{"inCommitTimestamp":`) {
		t.Errorf("%s", r.raw(3))
	}
	// Clocks that are behind do not make time go back, and losing moves the time behind the winner's.
	r.now.Store(0)
	a, b := r.begin(), r.begin()
	r.add(a, "c.parquet", 1, 0, 1)
	r.add(b, "d.parquet", 1, 0, 1)
	r.commit(a, "WRITE")
	r.commit(b, "WRITE")
	for version := int64(4); version <= 5; version++ {
		info, err := r.table.ReadCommit(context.Background(), version)
		r.must(err)
		next, ok := info.Info.InCommitTimestamp()
		if !ok || next != millis+version-3 {
			t.Errorf("version %d at %d, version 3 at %d", version, next, millis)
		}
	}
	// A replacement of the metadata does not lose since when there are such times.
	tx = r.begin()
	r.must(tx.SetMetadata(metadata("delta.enableInCommitTimestamps=true", "a=b")))
	r.commit(tx, "REPLACE TABLE")
	if got := r.snapshot().Config().Property(propertyTimesVersion); got != "3" {
		t.Errorf("enabled at %q", got)
	}
}

func TestRowIDs(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableRowTracking=true", "delta.enableDeletionVectors=true")
	r.append("a.parquet", 1, 0, 2)
	r.append("b.parquet", 1, 0, 1)
	check := func(path string, base, version int64) {
		t.Helper()
		f := live(t, r.snapshot(), path)
		if f.BaseRowID == nil || *f.BaseRowID != base || *f.DefaultRowCommitVersion != version {
			t.Errorf("%s: %v %v", path, f.BaseRowID, f.DefaultRowCommitVersion)
		}
	}
	check("a.parquet", 0, 1)
	check("b.parquet", 3, 2)
	tx := r.begin()
	a := live(t, tx.Snapshot(), "a.parquet")
	r.must(tx.UpdateVector(a, vector("x", 1), loose(a.Stats)))
	r.commit(tx, "DELETE")
	check("a.parquet", 0, 1)
	if raw := r.raw(3); !strings.Contains(raw, `"tags":{"delta.rowTracking.preserved":"true"}`) || strings.Contains(raw, "domainMetadata") ||
		strings.Count(raw, `"baseRowId":0,"defaultRowCommitVersion":1`) != 2 {
		t.Errorf("%s", raw)
	}
	tx = r.begin()
	bad := file("c.parquet", 1, 0, 0)
	bad.Stats = ""
	r.must(tx.Add([]protocol.AddFile{bad}, done(tx)))
	_, err := tx.Commit(context.Background(), Operation{Name: "WRITE"})
	if wantClass(t, err, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"); !strings.Contains(err.Error(), "c.parquet") {
		t.Error(err)
	}
	tx = r.begin()
	r.must(tx.SetMetadata(metadata("delta.rowTrackingSuspended=true")))
	r.add(tx, "d.parquet", 1, 0, 1)
	r.must(tx.AddAgain(live(t, tx.Snapshot(), "b.parquet")))
	r.commit(tx, "WRITE")
	for _, path := range []string{"d.parquet", "b.parquet"} {
		if f := live(t, r.snapshot(), path); f.BaseRowID != nil || f.DefaultRowCommitVersion != nil {
			t.Errorf("%s has row ids of a table that suspended them", path)
		}
	}
}

// The mark that a commit tells is that of its last try, not of its first.
func TestRowIDsAreRebased(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create("delta.enableRowTracking=true")
	r.append("first.parquet", 1, 0, 5)
	a, b, c := r.begin(), r.begin(), r.begin()
	r.add(a, "a.parquet", 1, 0, 0)
	r.add(b, "b.parquet", 1, 0, 4)
	r.add(c, "c.parquet", 1, 0, 1)
	r.commit(b, "WRITE")
	r.commit(c, "WRITE")
	r.commit(a, "WRITE")
	s := r.snapshot()
	for path, want := range map[string]int64{"b.parquet": 6, "c.parquet": 11, "a.parquet": 13} {
		if got := *live(t, s, path).BaseRowID; got != want {
			t.Errorf("%s has ids from %d on, want %d", path, got, want)
		}
	}
	if mark, err := rowMark(s); err != nil || mark != 13 {
		t.Errorf("mark %d %v", mark, err)
	}
	uniqueRowIDs(t, s)
}

// A clone's files keep their ids, and new ones come behind them.
func TestFilesBringTheirRowIDs(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	tx, err := Create(context.Background(), r.table, r.options())
	r.must(err)
	r.must(tx.SetProtocol(allFeatures()))
	r.must(tx.SetMetadata(metadata()))
	base, version := int64(40), int64(0)
	cloned := file("cloned.parquet", 1, 0, 9)
	cloned.BaseRowID, cloned.DefaultRowCommitVersion = &base, &version
	r.must(tx.Add([]protocol.AddFile{cloned}, done(tx)))
	r.commit(tx, "CLONE")
	r.append("new.parquet", 1, 0, 9)
	if got := *live(t, r.snapshot(), "new.parquet").BaseRowID; got != 50 {
		t.Errorf("new rows have ids from %d on", got)
	}
	uniqueRowIDs(t, r.snapshot())
}

// A file that comes, goes and comes again in one transaction is there once.
func TestStagedFilesMayComeBack(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	r.create()
	r.append("old.parquet", 1, 0, 1)
	tx := r.begin()
	for range 3 {
		r.add(tx, "new.parquet", 1, 0, 1)
		r.must(tx.Remove(true, file("new.parquet", 1, 0, 1)))
	}
	r.add(tx, "new.parquet", 1, 0, 1)
	r.must(tx.Remove(true, live(t, tx.Snapshot(), "old.parquet")))
	r.must(tx.Add([]protocol.AddFile{live(t, tx.Snapshot(), "old.parquet")}, done(tx)))
	again := r.begin() // another that brings the file back must not bring it back from a removal
	r.must(again.Remove(true, live(t, again.Snapshot(), "old.parquet")))
	r.must(again.Add([]protocol.AddFile{live(t, again.Snapshot(), "old.parquet")}, done(again)))
	r.commit(tx, "WRITE")
	removal := r.begin()
	r.must(removal.Remove(true, live(t, removal.Snapshot(), "old.parquet")))
	r.commit(removal, "DELETE")
	_, err := again.Commit(context.Background(), Operation{Name: "WRITE"})
	wantClass(t, err, "DELTA_CONCURRENT_DELETE_READ")
	if raw := r.raw(2); strings.Count(raw, `{"add":`) != 2 || strings.Contains(raw, `{"remove":`) {
		t.Error(raw)
	}
}

// Enabling row tracking while others append: the backfill leaves what others committed, and every file has ids (6.6).
func TestBackfillRacesWithAppends(t *testing.T) {
	r := newRig(t, store.NewMemory(nil))
	p := allFeatures()
	p.WriterFeatures = slices.DeleteFunc(p.WriterFeatures, func(n string) bool { return n == "rowTracking" })
	r.createAs(p, metadata())
	r.append("a.parquet", 1, 0, 2)
	r.append("b.parquet", 1, 0, 2)
	upgrade, append1 := r.begin(), r.begin()
	r.must(upgrade.SetProtocol(allFeatures()))
	r.add(append1, "c.parquet", 1, 0, 2)
	r.commit(upgrade, "UPGRADE PROTOCOL")
	r.commit(append1, "WRITE") // began without row tracking
	backfill, deletion, append2 := r.begin(), r.begin(), r.begin()
	for i := range backfill.Snapshot().Files().Len() {
		if f := backfill.Snapshot().Files().Add(i); f.BaseRowID == nil {
			r.must(backfill.AddAgain(f))
		}
	}
	r.must(deletion.Remove(true, live(t, deletion.Snapshot(), "b.parquet")))
	r.add(append2, "d.parquet", 1, 0, 2)
	r.commit(append2, "WRITE")
	r.commit(deletion, "DELETE")
	r.commit(backfill, OperationBackfill)
	s := r.snapshot()
	if got := paths(s); !slices.Equal(got, []string{"a.parquet", "c.parquet", "d.parquet"}) {
		t.Fatalf("files %q", got)
	}
	uniqueRowIDs(t, s)

	update, again := r.begin(), r.begin()
	r.must(again.AddAgain(live(t, again.Snapshot(), "a.parquet")))
	r.must(update.Remove(true, live(t, update.Snapshot(), "a.parquet")))
	r.commit(again, OperationBackfill)
	r.commit(update, "DELETE")
	if got := paths(r.snapshot()); !slices.Equal(got, []string{"c.parquet", "d.parquet"}) {
		t.Errorf("files %q", got)
	}
}

// uniqueRowIDs checks R1 on a snapshot: every file has ids, none twice, all up to the mark.
func uniqueRowIDs(t testing.TB, s *log.Snapshot) {
	t.Helper()
	mark, err := rowMark(s)
	if err != nil {
		t.Fatal(err)
	}
	taken := map[int64]string{}
	for i := range s.Files().Len() {
		base, ok := s.Files().BaseRowID(i)
		version, versioned := s.Files().DefaultRowCommitVersion(i)
		n, counted := s.Files().NumRecords(i)
		if !ok || !versioned || !counted || version > s.Version() {
			t.Fatalf("version %d: %s has row id %d (%v) and commit version %d (%v)", s.Version(), s.Files().Path(i), base, ok, version, versioned)
		}
		for id := base; id < base+n; id++ {
			if other, twice := taken[id]; twice {
				t.Fatalf("version %d: %s and %s share the row id %d", s.Version(), other, s.Files().Path(i), id)
			}
			taken[id] = s.Files().Path(i)
			if id > mark {
				t.Fatalf("version %d: the row id %d is above the mark %d", s.Version(), id, mark)
			}
		}
	}
}
