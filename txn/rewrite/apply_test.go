package rewrite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// changed makes the query of a change of a table k BIGINT, v VARCHAR, p VARCHAR: which rows, what becomes of them, the new v; inserts are
// further SELECTs of new rows.
func (tt *testTable) changed(view *log.Snapshot, c Changes, where, action, v string, inserts ...string) (Changes, *scan.Relation) {
	tt.t.Helper()
	request := scan.Request{Snapshot: view, Columns: []int{0, 1, 2}, Hidden: []scan.HiddenColumn{scan.FileNumber, scan.RowIndex}}
	if c.HasRowIDs {
		request.Hidden = append(request.Hidden, scan.RowID, scan.RowCommitVersion)
	}
	relation, err := scan.Build(context.Background(), tt.in, request)
	if err != nil {
		tt.t.Fatal(err)
	}
	line := func(place, action, olds, news, ids, from string) string {
		outputs := place + ", " + action
		for _, more := range []struct {
			wanted bool
			sql    string
		}{{c.HasOld, olds}, {c.HasNew, news}, {c.HasRowIDs, ids}, {c.HasDiffers, "c1 IS DISTINCT FROM " + v}} {
			if more.wanted {
				outputs += ", " + more.sql
			}
		}
		return "SELECT " + outputs + from
	}
	c.SQL = line("c3, c4", action, "c0, c1, c2", "c0, "+v+", c2", "c5, c6", " FROM ("+relation.SQL+")"+where)
	for _, values := range inserts {
		c.SQL += " UNION ALL " + line("NULL, NULL", fmt.Sprint(Insert), "NULL, NULL, NULL", values, "NULL, NULL", " FROM (SELECT NULL AS c1)")
	}
	c.Args = relation.Args
	return c, relation
}

// change runs a change in a transaction of its own.
func (tt *testTable) change(operation string, c Changes, where, action, v string, inserts ...string) (*Applied, error) {
	tt.t.Helper()
	tx := tt.begin()
	c.Done = tx.Duties()
	c, relation := tt.changed(tx.Snapshot(), c, where, action, v, inserts...)
	defer relation.Release()
	a, err := Apply(context.Background(), tt.in, tx, tx.Snapshot(), c, Options{})
	if err != nil {
		tx.Abort(context.Background())
		return nil, err
	}
	_, err = tx.Commit(context.Background(), txn.Operation{Name: operation, Metrics: a.Metrics(operation)})
	return a, err
}

func (tt *testTable) mustChange(operation string, c Changes, where, action, v string, inserts ...string) *Applied {
	tt.t.Helper()
	a, err := tt.change(operation, c, where, action, v, inserts...)
	if err != nil {
		tt.t.Fatal(err)
	}
	return a
}

// kinds are the kinds of actions of the newest commit, in order: a for an add, r for a remove, c for a change file, each with v where
// it has a vector.
func (tt *testTable) kinds() string {
	tt.t.Helper()
	var text string
	version := tt.snapshot().Version()
	for commit, err := range tt.Commits(context.Background(), version, version) {
		if err != nil {
			tt.t.Fatal(err)
		}
		for _, action := range commit.Actions {
			var dv *protocol.DeletionVector
			switch {
			case action.Add != nil:
				text += " a"
				dv = action.Add.DeletionVector
			case action.Remove != nil:
				text += " r"
				dv = action.Remove.DeletionVector
			case action.CDC != nil:
				text += " c"
			}
			if dv != nil {
				text += "v"
			}
		}
	}
	return strings.TrimSpace(text)
}

const changeFields = `{"name":"k","type":"long","nullable":true,"metadata":{}},{"name":"v","type":"string","nullable":true,"metadata":{}},{"name":"p","type":"string","nullable":true,"metadata":{}}`

var (
	deletes = fmt.Sprint(Delete)
	updates = fmt.Sprint(Update)
)

// TestWhatIsCommitted holds the actions of commits against the reference's (protocol digest, "Change data feed" and the recorded tables).
func TestWhatIsCommitted(t *testing.T) {
	in := openInstance(t)
	inserted := "9::BIGINT, 'new', NULL::VARCHAR"
	for _, test := range []struct {
		name           string
		vectors, feeds bool
		operation      string
		changes        Changes
		where, action  string
		inserts        []string
		want           string
	}{
		{"delete", false, false, "DELETE", Changes{}, " WHERE c0 < 3", deletes, nil, "a r"},
		{"delete a file", false, false, "DELETE", Changes{}, "", deletes, nil, "r"},
		{"delete nothing", false, false, "DELETE", Changes{}, " WHERE false", deletes, nil, ""},
		{"delete, fed", false, true, "DELETE", Changes{}, " WHERE c0 < 3", deletes, nil, "a r c"},
		{"delete a file, fed", false, true, "DELETE", Changes{}, "", deletes, nil, "r c"},
		{"delete by vector", true, false, "DELETE", Changes{}, " WHERE c0 < 3", deletes, nil, "r av"},
		{"delete by vector, fed", true, true, "DELETE", Changes{HasOld: true}, " WHERE c0 < 3", deletes, nil, "r av"},
		{"delete a file with vectors, fed", true, true, "DELETE", Changes{}, "", deletes, nil, "r"},
		{"update", false, false, "UPDATE", Changes{HasNew: true}, " WHERE c0 < 3", updates, nil, "a r"},
		{"update, fed", false, true, "UPDATE", Changes{HasNew: true}, " WHERE c0 < 3", updates, nil, "a r c"},
		{"update by vector", true, false, "UPDATE", Changes{HasNew: true}, " WHERE c0 < 3", updates, nil, "r av a"},
		{"update by vector, fed", true, true, "UPDATE", Changes{HasNew: true, HasOld: true}, " WHERE c0 < 3", updates, nil, "r av a c"},
		{"update nothing, fed", true, true, "UPDATE", Changes{HasNew: true}, " WHERE false", updates, nil, ""},
		{"merge that only inserts, fed", false, true, "MERGE", Changes{HasNew: true, ChangeFiles: true}, " WHERE false", updates, []string{inserted}, "a"},
		{"merge, fed", false, true, "MERGE", Changes{HasNew: true, ChangeFiles: true}, " WHERE c0 < 3", deletes, []string{inserted}, "a r c"},
		{"merge that deletes by vector, fed", true, true, "MERGE", Changes{HasNew: true, ChangeFiles: true}, " WHERE c0 < 3", deletes, []string{inserted}, "r av a c"},
		{"replace by vector, fed", true, true, "WRITE", Changes{HasNew: true}, " WHERE c0 < 3", deletes, []string{inserted}, "r av a"},
		{"replace, fed", false, true, "WRITE", Changes{HasNew: true}, " WHERE c0 < 3", deletes, []string{inserted}, "a r c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, changeFields, nil, map[string]string{"delta.enableDeletionVectors": fmt.Sprint(test.vectors), "delta.enableChangeDataFeed": fmt.Sprint(test.feeds)})
			tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
			version := tt.snapshot().Version()
			tt.mustChange(test.operation, test.changes, test.where, test.action, "'u'", test.inserts...)
			got := ""
			if tt.snapshot().Version() > version {
				got = tt.kinds()
			}
			sorted := func(s string) []string { return slices.Sorted(slices.Values(strings.Fields(s))) }
			if !slices.Equal(sorted(got), sorted(test.want)) {
				t.Errorf("the commit has %q, want %q", got, test.want)
			}
		})
	}
}

// TestVectorsGrow: a second vector holds the first, the removed one is named, statistics become wide, and the last row takes the file with it.
func TestVectorsGrow(t *testing.T) {
	tt := newTable(t, openInstance(t), changeFields, nil, map[string]string{"delta.enableDeletionVectors": "true"})
	tt.write("SELECT i AS c0, CASE WHEN i < 3 THEN 'v' END AS c1, NULL::VARCHAR AS c2 FROM range(6) t(i)")
	a := tt.mustChange("DELETE", Changes{}, " WHERE c0 = 1", deletes, "c1")
	if a.VectorsAdded != 1 || a.VectorsUpdated != 0 || a.VectorsRemoved != 0 || a.FilesRemoved+a.FilesAdded != 0 || a.Deleted != 1 {
		t.Errorf("%+v", a)
	}
	a = tt.mustChange("DELETE", Changes{}, " WHERE c0 >= 3 AND c0 < 5", deletes, "c1")
	if a.VectorsAdded != 1 || a.VectorsUpdated != 1 || a.VectorsRemoved != 1 || a.Deleted != 2 {
		t.Errorf("%+v", a)
	}
	if got := tt.kinds(); got != "rv av" {
		t.Errorf("the commit has %s", got)
	}
	files := tt.snapshot().Files()
	const want = `{"numRecords":6,"minValues":{"k":0,"v":"v"},"maxValues":{"k":5,"v":"v"},"nullCount":{"k":0,"v":3,"p":6},"tightBounds":false}`
	if files.Len() != 1 || files.DeletedRows(0) != 3 || string(files.RawStats(0)) != want {
		t.Errorf("%d files, %d deleted rows, statistics %s, want %s", files.Len(), files.DeletedRows(0), files.RawStats(0), want)
	}
	if got := tt.read(); !slices.Equal(got, []string{"0|v|NULL", "2|v|NULL", "5|NULL|NULL"}) {
		t.Errorf("the rows are %q", got)
	}
	tt.check()
	a = tt.mustChange("DELETE", Changes{}, "", deletes, "c1")
	if got := tt.kinds(); got != "rv" || a.FilesRemoved != 1 || a.VectorsRemoved != 1 || a.VectorsAdded != 0 {
		t.Errorf("the commit has %s; %+v", got, a)
	}
}

// TestVectorsSwitchedOff: files keep their vectors, and are written anew without the rows when more go.
func TestVectorsSwitchedOff(t *testing.T) {
	tt := newTable(t, openInstance(t), changeFields, nil, map[string]string{"delta.enableDeletionVectors": "true"})
	tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
	tt.mustChange("DELETE", Changes{}, " WHERE c0 = 1", deletes, "c1")
	tx := tt.begin()
	metadata := tx.Config().Metadata
	metadata.Configuration = nil
	if err := tx.SetMetadata(metadata); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(context.Background(), txn.Operation{Name: "UNSET TBLPROPERTIES"}); err != nil {
		t.Fatal(err)
	}
	a := tt.mustChange("DELETE", Changes{}, " WHERE c0 = 2", deletes, "c1")
	if got := tt.kinds(); got != "a rv" && got != "rv a" || a.Copied != 4 || a.Deleted != 1 || a.VectorsRemoved != 1 || a.FilesRemoved != 1 || a.FilesAdded != 1 {
		t.Errorf("the commit has %s; %+v", got, a)
	}
	if got := len(tt.read()); got != 4 {
		t.Errorf("%d rows", got)
	}
	tt.check()
}

// TestRecordsUnknown: files without statistics get what a vector needs, or are counted.
func TestRecordsUnknown(t *testing.T) {
	in := openInstance(t)
	for _, vectors := range []string{"true", "false"} {
		tt := newTable(t, in, changeFields, nil, map[string]string{"delta.enableDeletionVectors": vectors})
		tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
		tx := tt.begin()
		add := tx.Snapshot().Files().Add(0)
		add.Stats = ""
		if err := tx.AddAgain(add); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(context.Background(), txn.Operation{Name: "COMPUTE STATS"}); err != nil {
			t.Fatal(err)
		}
		if a := tt.mustChange("DELETE", Changes{}, " WHERE c0 = 1", deletes, "c1"); a.Deleted != 1 || vectors == "false" && a.Copied != 5 {
			t.Errorf("%+v", a)
		}
		if got := string(tt.snapshot().Files().RawStats(0)); vectors == "true" && got != `{"numRecords":6,"tightBounds":false}` {
			t.Errorf("the statistics are %s", got)
		}
		if got := tt.read(); len(got) != 5 {
			t.Errorf("the rows are %q", got)
		}
		tx = tt.begin()
		if a, decided, err := RemoveWhere(context.Background(), in, tx, tx.Snapshot(), nil); err != nil || !decided || a.Deleted != 5 {
			t.Errorf("%+v, %t, %v", a, decided, err)
		}
		tx.Abort(context.Background())
	}
}

// TestRepeated: rows that come several times.
func TestRepeated(t *testing.T) {
	in := openInstance(t)
	const twice = ", range(2) twice(n) WHERE c0 < 3"
	for _, test := range []struct {
		name    string
		changes Changes
		action  string
		class   protocol.Class
		want    Applied
	}{
		{"deletes", Changes{}, deletes, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", Applied{}},
		{"deletes of another class", Changes{Repeated: "MERGE_CARDINALITY_VIOLATION"}, deletes, "MERGE_CARDINALITY_VIOLATION", Applied{}},
		{"allowed deletes", Changes{AllowRepeatedDeletes: true}, deletes, "", Applied{Deleted: 3}},
		{"allowed deletes with values", Changes{HasOld: true, HasNew: true, AllowRepeatedDeletes: true}, deletes, "", Applied{Deleted: 3}},
		{"updates", Changes{HasNew: true, AllowRepeatedDeletes: true}, updates, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", Applied{}},
		{"allowed updates", Changes{HasNew: true, AllowRepeated: true}, updates, "", Applied{Updated: 3}},
		{"a delete and one that is kept", Changes{AllowRepeatedDeletes: true}, "CASE WHEN c0 = 1 AND n = 0 THEN 0 ELSE 1 END", "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", Applied{}},
		{"kept twice", Changes{}, "0", "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", Applied{}},
		{"kept, whatever comes", Changes{AllowRepeated: true}, "0", "", Applied{}},
		{"by source", Changes{HasNew: true, AllowRepeated: true}, "CASE WHEN c0 = 1 THEN 4 ELSE 5 END", "", Applied{Deleted: 1, DeletedBySource: 1, Updated: 2, UpdatedBySource: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, changeFields, nil, map[string]string{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"})
			tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
			a, err := tt.change("MERGE", test.changes, twice, test.action, "'u'")
			if class := protocol.ClassOf(err); err != nil && class != test.class || (err == nil) != (test.class == "") {
				t.Fatalf("%v, want %s", err, test.class)
			}
			if err != nil {
				return
			}
			if a.Deleted != test.want.Deleted || a.Updated != test.want.Updated || a.DeletedBySource != test.want.DeletedBySource || a.UpdatedBySource != test.want.UpdatedBySource {
				t.Errorf("%+v, want %+v", a, test.want)
			}
			if got := int64(len(tt.read())); got != 6-a.Deleted {
				t.Errorf("%d rows", got)
			}
			if tt.snapshot().Version() < 2 {
				return
			}
			changes, err := scan.BuildChanges(context.Background(), in, scan.ChangeRequest{Table: tt.Table, From: 2, To: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer changes.Release()
			if got := int64(len(rows(t, in, "SELECT c3 FROM ("+changes.SQL+")", changes.Args...))); got != a.Deleted+2*a.Updated {
				t.Errorf("%d change rows of %+v", got, a)
			}
		})
	}
}

// TestDiffering counts the updated rows that are not as they were.
func TestDiffering(t *testing.T) {
	tt := newTable(t, openInstance(t), changeFields, nil, nil)
	tt.write("SELECT i AS c0, 'v' || i % 2 AS c1, 'p' AS c2 FROM range(6) t(i)")
	if a := tt.mustChange("UPDATE", Changes{HasNew: true, HasDiffers: true}, " WHERE c0 < 5", updates, "'v0'"); a.Updated != 5 || a.Differing != 2 {
		t.Errorf("%+v", a)
	}
	if a := tt.mustChange("UPDATE", Changes{HasNew: true}, " WHERE c0 < 5", updates, "'v0'"); a.Updated != 5 || a.Differing != 5 {
		t.Errorf("%+v", a)
	}
}

// TestBrokenQueries: what only a fault of ours can bring about is refused.
func TestBrokenQueries(t *testing.T) {
	tt := newTable(t, openInstance(t), changeFields, nil, nil)
	tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
	for _, sql := range []string{
		"SELECT 0, 1, NULL", "SELECT 1, 0, 1", "SELECT -1, 0, 1", "SELECT 0, -1, 1", "SELECT NULL, NULL, 1", "SELECT 0, 0, 9", "SELECT 0, 0, 2", "SELECT NULL, NULL, 3",
	} {
		tx := tt.begin()
		_, err := Apply(context.Background(), tt.in, tx, tx.Snapshot(), Changes{SQL: sql}, Options{})
		if protocol.ClassOf(err) != protocol.ClassInternal {
			t.Errorf("%s: %v", sql, err)
		}
		tx.Abort(context.Background())
	}
	tx := tt.begin()
	defer tx.Abort(context.Background())
	if _, err := Apply(context.Background(), tt.in, tx, tx.Snapshot(), Changes{SQL: "SELECT 0, 6, 1"}, Options{}); protocol.ClassOf(err) != "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX" {
		t.Errorf("a row behind the last: %v", err)
	}
}

// TestMetricKeys holds the metrics against those that the reference records.
func TestMetricKeys(t *testing.T) {
	changes := "executionTimeMs numAddedBytes numAddedChangeFiles numAddedFiles numCopiedRows numDeletionVectorsAdded numDeletionVectorsRemoved numDeletionVectorsUpdated numRemovedBytes numRemovedFiles rewriteTimeMs scanTimeMs "
	optimize := "maxFileSize minFileSize numAddedBytes numAddedFiles numDeletionVectorsRemoved numRemovedBytes numRemovedFiles p25FileSize p50FileSize p75FileSize"
	for operation, want := range map[string]string{
		"DELETE": changes + "numDeletedRows", "UPDATE": changes + "numUpdatedRows", "OPTIMIZE": optimize, "REORG": optimize, "TRUNCATE": "executionTimeMs numRemovedFiles",
		"WRITE": "numAddedChangeFiles numCopiedRows numDeletedRows numFiles numOutputBytes numOutputRows numRemovedBytes numRemovedFiles",
		"MERGE": "executionTimeMs materializeSourceTimeMs numOutputRows numSourceRows numTargetBytesAdded numTargetBytesRemoved numTargetChangeFilesAdded " +
			"numTargetDeletionVectorsAdded numTargetDeletionVectorsRemoved numTargetDeletionVectorsUpdated numTargetFilesAdded numTargetFilesRemoved numTargetRowsCopied " +
			"numTargetRowsDeleted numTargetRowsInserted numTargetRowsMatchedDeleted numTargetRowsMatchedUpdated numTargetRowsNotMatchedBySourceDeleted " +
			"numTargetRowsNotMatchedBySourceUpdated numTargetRowsUpdated rewriteTimeMs scanTimeMs",
		"CREATE TABLE": "",
	} {
		a := Applied{Deleted: 5, DeletedBySource: 2, Scan: time.Second, Rewrite: 2 * time.Second, Sizes: []int64{30, 10, 20}}
		var keys []string
		values := map[string]string{}
		for _, m := range a.Metrics(operation) {
			keys = append(keys, m.Key)
			values[m.Key] = m.Value
		}
		slices.Sort(keys)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(keys, wanted) {
			t.Errorf("%s has %q, want %q", operation, keys, wanted)
		}
		for key, value := range map[string]string{"executionTimeMs": "3000", "numTargetRowsMatchedDeleted": "3", "numDeletedRows": "5", "minFileSize": "10", "p50FileSize": "20", "maxFileSize": "30"} {
			if got, ok := values[key]; ok && got != value {
				t.Errorf("%s: %s is %s, want %s", operation, key, got, value)
			}
		}
	}
}

// TestApplyFails: whatever fails, no file and no table is left, and what was staged before is as it was.
func TestApplyFails(t *testing.T) {
	in := openInstance(t)
	for _, test := range []struct {
		name    string
		vectors string
		prepare func(tt *testTable)
		where   string
		v       string
		fails   func(err error) bool
	}{
		{"a value", "true", nil, "", "CASE WHEN c0 = 5 THEN error('no') ELSE 'u' END", func(err error) bool { var d *duck.Error; return errors.As(err, &d) }},
		{"a type", "true", nil, "", "5", func(err error) bool { return protocol.ClassOf(err) == protocol.ClassInternal }},
		{"a change file", "true", func(tt *testTable) { tt.block("_change_data") }, " WHERE c0 > 2", "'u'", func(err error) bool { return protocol.ClassOf(err) == "DELTASQL_STORAGE" }},
		{"a change file, copying", "false", func(tt *testTable) { tt.block("_change_data") }, " WHERE c0 > 2", "'u'", func(err error) bool { return protocol.ClassOf(err) == "DELTASQL_STORAGE" }},
		{"a data file", "true", func(tt *testTable) { tt.block("p=new") }, " WHERE c0 > 2", "'u'", func(err error) bool { return protocol.ClassOf(err) == "DELTASQL_STORAGE" }},
		{"a data file, copying", "false", func(tt *testTable) { tt.block("p=new") }, " WHERE c0 > 2", "'u'", func(err error) bool { return protocol.ClassOf(err) == "DELTASQL_STORAGE" }},
		{"a lost data file", "false", func(tt *testTable) { tt.lose() }, " WHERE c0 > 2", "'u'", func(err error) bool { return err != nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, changeFields, []string{"p"}, map[string]string{"delta.enableDeletionVectors": test.vectors, "delta.enableChangeDataFeed": "true"})
			tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
			tx := tt.begin()
			defer tx.Abort(context.Background())
			done := append(tx.Duties(), txn.Duty{Kind: txn.ChangeRows})
			if _, err := Write(context.Background(), in, tx, Rows{SQL: "SELECT 100::BIGINT AS c0, 'w' AS c1, 'q' AS c2", Done: done}, Options{DataChange: true}); err != nil {
				t.Fatal(err)
			}
			view, err := tx.View()
			if err != nil {
				t.Fatal(err)
			}
			c, relation := tt.changed(view, Changes{HasNew: true, Done: tx.Duties()}, test.where, updates, test.v, "7::BIGINT, NULL, 'new'")
			defer relation.Release()
			if test.prepare != nil {
				test.prepare(tt)
			}
			files := tt.dataFiles()
			adds, removes, changes := tx.Staged()
			if _, err = Apply(context.Background(), in, tx, view, c, Options{}); !test.fails(err) {
				t.Errorf("the error is %v", err)
			}
			tt.nothingLeft(files)
			if a, r, c := tx.Staged(); a != adds || r != removes || c != changes {
				t.Errorf("%d adds, %d removes and %d change files are staged, not %d, %d and %d", a, r, c, adds, removes, changes)
			}
		})
	}
}

// block puts a file where a folder is needed.
func (tt *testTable) block(name string) {
	tt.t.Helper()
	if err := os.WriteFile(filepath.Join(tt.dir, name), nil, 0o644); err != nil {
		tt.t.Fatal(err)
	}
}

// lose deletes the first data file.
func (tt *testTable) lose() {
	tt.t.Helper()
	name, _, err := protocol.DecodePath(tt.snapshot().Files().Path(0))
	if err == nil {
		err = os.Remove(filepath.Join(tt.dir, filepath.FromSlash(name)))
	}
	if err != nil {
		tt.t.Fatal(err)
	}
}

// nothingLeft: the table's folder has these files, DuckDB no table.
func (tt *testTable) nothingLeft(files []string) {
	tt.t.Helper()
	if got := tt.dataFiles(); !slices.Equal(got, files) {
		tt.t.Errorf("the files are %q, before they were %q", got, files)
	}
	if got := rows(tt.t, tt.in, "SELECT table_name FROM duckdb_tables()"); len(got) > 0 {
		tt.t.Errorf("DuckDB has the tables %q", got)
	}
}

// TestApplyFaults: each write of the store fails in turn, and the context ends at many moments.
func TestApplyFaults(t *testing.T) {
	in := openInstance(t)
	for _, fault := range []store.Fault{{Op: store.OpPutFrom}, {Op: store.OpPutFrom, After: true}, {Op: store.OpLocate}} {
		failed := 0
		for failing := true; failing; failed++ {
			fault.Nth, fault.Err = failed+1, errors.New("the disk is full")
			failing = storeFails(t, in, fault)
		}
		if failed < 2 {
			t.Errorf("no call of %s was made to fail", fault.Op)
		}
	}
	tt := newTable(t, in, changeFields, []string{"p"}, map[string]string{"delta.enableChangeDataFeed": "true"})
	tt.write("SELECT i AS c0, 'v' AS c1, 'p' || i % 3 AS c2 FROM range(300000) t(i)")
	files := tt.dataFiles()
	cancelled := 0
	for wait := time.Duration(0); wait < 2*time.Second; wait = wait*3/2 + 500*time.Microsecond {
		tx := tt.begin()
		c, relation := tt.changed(tx.Snapshot(), Changes{HasNew: true, Done: tx.Duties()}, " WHERE c0 % 2 = 0", updates, "'u'")
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		_, err := Apply(ctx, in, tx, tx.Snapshot(), c, Options{})
		cancel()
		relation.Release()
		if err == nil {
			tx.Abort(context.Background())
			break
		}
		if cancelled++; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", wait, err)
		}
		tt.nothingLeft(files)
	}
	tt.nothingLeft(files)
	if cancelled < 5 {
		t.Errorf("only %d changes were cancelled", cancelled)
	}
}

// storeFails updates rows on a store that fails once, and tells whether it did.
func storeFails(t *testing.T, in *duck.Instance, fault store.Fault) bool {
	tt := newTable(t, in, changeFields, nil, map[string]string{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"})
	tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
	table := log.OpenTable(store.NewFaults(tt.Store(), fault), tt.dir, scan.LogParquet{Instance: in})
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := txn.Begin(context.Background(), table, snapshot, transactionOptions())
	if err != nil {
		t.Fatal(err)
	}
	c, relation := tt.changed(tt.snapshot(), Changes{HasNew: true, Done: tx.Duties()}, " WHERE c0 < 2", updates, "'u'")
	defer relation.Release()
	files := tt.dataFiles()
	_, err = Apply(context.Background(), in, tx, snapshot, c, Options{})
	if err == nil {
		tx.Abort(context.Background())
	}
	tt.nothingLeft(files)
	return err != nil
}

// TestSpills: more changed rows than memory.
func TestSpills(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes hundreds of megabytes")
	}
	in, err := duck.Open(duck.Config{TempDir: t.TempDir(), MemoryLimit: "200MB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	tt := newTable(t, in, changeFields, nil, map[string]string{"delta.enableDeletionVectors": "true"})
	tt.write("SELECT i AS c0, 'v' AS c1, 'p' AS c2 FROM range(2000000) t(i)")
	a := tt.mustChange("UPDATE", Changes{HasNew: true}, " WHERE c0 % 100 > 0", updates, "repeat(md5(CAST(c0 AS VARCHAR)), 4)")
	if a.Updated != 1_980_000 {
		t.Errorf("%+v", a)
	}
	snapshot := tt.snapshot()
	relation, err := scan.Build(context.Background(), in, scan.Request{Snapshot: snapshot, Columns: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	if got := rows(t, in, "SELECT concat(count(*), '|', sum(c0), '|', sum(length(c1))) FROM ("+relation.SQL+")", relation.Args...); got[0] != fmt.Sprintf("2000000|1999999000000|%d", 1_980_000*128+20_000) {
		t.Errorf("the rows come to %s", got)
	}
}

// TestRewriteUnmaps: files are written anew under other names of their columns, with the ids that the rows have.
func TestRewriteUnmaps(t *testing.T) {
	l := layoutChoice{vectors: true, partitioned: true, tracked: true, mapping: "name"}
	tt := newModelTable(t, l)
	tt.write("SELECT i AS c0, 'v' AS c1, {'a': i, 'b': 'b'} AS c2, i::VARIANT AS c3, 'p' || i % 2 AS c4 FROM range(6) t(i)")
	tx := tt.begin()
	relation, err := scan.Build(context.Background(), tt.in, scan.Request{Snapshot: tx.Snapshot(), Columns: []int{0}, Hidden: []scan.HiddenColumn{scan.FileNumber, scan.RowIndex}})
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	if _, err := Apply(context.Background(), tt.in, tx, tx.Snapshot(), Changes{SQL: "SELECT c1, c2, 1 FROM (" + relation.SQL + ") WHERE c0 = 2", Args: relation.Args}, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(context.Background(), txn.Operation{Name: "DELETE"}); err != nil {
		t.Fatal(err)
	}
	ids := func() []string {
		r, err := scan.Build(context.Background(), tt.in, scan.Request{Snapshot: tt.snapshot(), Columns: []int{0}, Hidden: []scan.HiddenColumn{scan.RowID, scan.RowCommitVersion}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		return rows(t, tt.in, "SELECT c0::VARCHAR, c1::VARCHAR, c2::VARCHAR FROM ("+r.SQL+")", r.Args...)
	}
	before, beforeIDs := tt.read(), ids()
	tx = tt.begin()
	metadata := tx.Config().Metadata
	metadata.Configuration = map[string]string{}
	for key, value := range tx.Config().Metadata.Configuration {
		if !strings.HasPrefix(key, "delta.columnMapping") {
			metadata.Configuration[key] = value
		}
	}
	schema := tx.Config().Schema
	metadata.SchemaString = `{"type":"struct","fields":[` + field("k", `"long"`) + "," + field("v", `"string"`) + "," +
		field("n", `{"type":"struct","fields":[`+field("a", `"long"`)+","+field("b", `"string"`)+`]}`) + "," + field("x", `"variant"`) + "," + field("p", `"string"`) + "]}"
	if err := tx.SetMetadata(metadata); err != nil {
		t.Fatal(err)
	}
	files := make([]int32, tx.Snapshot().Files().Len())
	for i := range files {
		files[i] = int32(i)
	}
	a, err := Rewrite(context.Background(), tt.in, tx, tx.Snapshot(), files, Options{})
	if err != nil || a.Copied != 5 || a.FilesRemoved != len(files) || a.VectorsRemoved != 1 {
		t.Fatalf("%+v of %d columns: %v", a, len(schema.Fields), err)
	}
	if _, err := tx.Commit(context.Background(), txn.Operation{Name: "SET TBLPROPERTIES", NeverChangesData: true}); err != nil {
		t.Fatal(err)
	}
	if got := tt.read(); !slices.Equal(got, before) {
		t.Errorf("the rows are\n%q, before\n%q", got, before)
	}
	if got := ids(); !slices.Equal(got, beforeIDs) {
		t.Errorf("the ids are %q, before %q", got, beforeIDs)
	}
	tt.check()
}

// TestRemoveWhere: what partition values alone do not decide is left to others.
func TestRemoveWhere(t *testing.T) {
	in := openInstance(t)
	tt := newTable(t, in, field("k", `"long"`)+","+field("p", `"string"`)+`,{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)"}}`,
		[]string{"p", "c"}, nil)
	tt.write("SELECT i AS c0, CASE WHEN i % 3 > 0 THEN 'p' || i % 3 END AS c1, 'c' AS c2 FROM range(9) t(i)")
	text := protocol.DataType{Kind: protocol.KindString}
	value := func(s string) protocol.Value { return protocol.Value{Kind: protocol.KindString, Str: s} }
	p := stats.Leaf{Path: []protocol.PhysicalName{"p"}, Type: text, Partition: true}
	c := stats.Leaf{Path: []protocol.PhysicalName{"c"}, Type: text, Partition: true}
	k := stats.Leaf{Path: []protocol.PhysicalName{"k"}, Type: protocol.DataType{Kind: protocol.KindLong}}
	for _, test := range []struct {
		predicate stats.Predicate
		decided   bool
		files     int
	}{
		{nil, true, 3},
		{stats.Const(false), true, 0},
		{stats.Null{}, true, 0},
		{stats.Compare{Leaf: p, Op: stats.Equal, Value: value("p1")}, true, 1},
		{stats.Not{Of: stats.Compare{Leaf: p, Op: stats.Equal, Value: value("p1")}}, true, 1}, // not NULL
		{stats.Compare{Leaf: p, Op: stats.NullSafeEqual, Value: protocol.NullValue(protocol.KindString)}, true, 1},
		{stats.Or{stats.IsNull{Leaf: p}, stats.Prefix{Leaf: p, Text: "p2"}}, true, 2},
		{stats.And{stats.IsNotNull{Leaf: p}, stats.InList{Leaf: p, Values: []protocol.Value{value("p2"), value("x")}}}, true, 1},
		{stats.Maybe{}, false, 0},
		{stats.And{stats.Const(false), stats.Maybe{}}, false, 0},
		{stats.Compare{Leaf: c, Op: stats.Equal, Value: value("c  ")}, false, 0},
		{stats.IsNotNull{Leaf: k}, false, 0},
	} {
		tx := tt.begin()
		a, decided, err := RemoveWhere(context.Background(), in, tx, tx.Snapshot(), test.predicate)
		if err != nil || decided != test.decided {
			t.Errorf("%v: decided %t, %v", test.predicate, decided, err)
		} else if decided && (a.FilesRemoved != test.files || a.Deleted != int64(3*test.files)) {
			t.Errorf("%v: %+v, want %d files", test.predicate, a, test.files)
		}
		tx.Abort(context.Background())
	}
}

// TestInsertedIdentity: only rows that are inserted count for the marks of identity columns.
func TestInsertedIdentity(t *testing.T) {
	p := features
	p.WriterFeatures = append(slices.Clone(p.WriterFeatures), "identityColumns")
	metadata := protocol.Metadata{ID: "id", Provider: "parquet", SchemaString: `{"type":"struct","fields":[{"name":"k","type":"long","nullable":true,"metadata":` +
		`{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.highWaterMark":10,"delta.identity.allowExplicitInsert":true}},` + field("v", `"string"`) + "," + field("p", `"string"`) + "]}"}
	tt := newTableOf(t, openInstance(t), p, metadata)
	tt.write("SELECT i * 1000 AS c0, 'v' AS c1, 'p' AS c2 FROM range(6) t(i)")
	a := tt.mustChange("MERGE", Changes{HasNew: true}, " WHERE c0 > 0", updates, "'u'", "11::BIGINT, 'n', 'p'", "12::BIGINT, 'n', 'p'")
	if got := a.Identity["k"]; got != (Bounds{11, 12}) || a.Copied != 1 || a.Updated != 5 || a.Inserted != 2 || a.FilesAdded != 1 {
		t.Errorf("%v, %+v", got, a)
	}
}
