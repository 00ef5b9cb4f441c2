package scan

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

// changes gives the change rows of a range as id, kind and version, or the class of the error.
func (tt *testTable) changes(from, to int64, expressions string) string {
	tt.t.Helper()
	changes, err := BuildChanges(context.Background(), tt.in, ChangeRequest{Table: tt.Table, From: from, To: to})
	if err != nil {
		return string(protocol.ClassOf(err))
	}
	defer changes.Release()
	return query(tt.t, tt.in, changes.Relation, expressions, "")
}

func feedOn() map[string]string { return map[string]string{"delta.enableChangeDataFeed": "true"} }

func TestChangesOfFilesAndVectors(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`)+","+field("p", `"string"`), []string{"p"}, feedOn())
	table.write("a.parquet", "SELECT i::INTEGER AS id FROM range(5) t(i)", "")
	table.write("b.parquet", "SELECT 50 AS id, 'ignored' AS _change_type", "")
	table.write("_change_data/c.parquet", "SELECT 70 AS id, 'update_preimage' AS _change_type UNION ALL SELECT 71, 'update_postimage'", "")
	vectors := vectorFile(t, filepath.Join(t.TempDir(), "v.bin"), []uint64{1}, []uint64{2, 3})
	p := `"p":"x"`
	table.commit(add("a.parquet", p, ""), add("b.parquet", p, "")) // 1
	table.commit(strings.Replace(add("b.parquet", p, ""), `"dataChange":true`, `"dataChange":false`, 1))
	table.commit(`{"remove":{"path":"a.parquet","dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":"x"}}}`,
		add("a.parquet", p, `,"deletionVector":`+vectors[0])) // 3: row 1 goes
	table.commit(`{"remove":{"path":"a.parquet","dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":"x"},"deletionVector":`+vectors[0]+`}}`,
		add("a.parquet", p, `,"deletionVector":`+vectors[1])) // 4: rows 2 and 3 go, row 1 comes back
	table.commit(`{"remove":{"path":"a.parquet","dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":"x"},"deletionVector":` + vectors[1] + `}}`) // 5
	table.commit(`{"cdc":{"path":"_change_data/c.parquet","partitionValues":{"p":"y"},"size":1,"dataChange":false}}`, add("unread.parquet", p, ""))               // 6
	table.commit(`{"commitInfo":{"operation":"MERGE","operationMetrics":{"numTargetRowsInserted":"0","numTargetRowsUpdated":"0","numTargetRowsDeleted":"0"}}}`,
		add("alsounread.parquet", p, "")) // 7
	for _, test := range []struct {
		from, to int64
		want     string
	}{
		{0, 0, ""},
		{1, 1, "[0, x, insert, 1] [1, x, insert, 1] [2, x, insert, 1] [3, x, insert, 1] [4, x, insert, 1] [50, x, insert, 1]"},
		{2, 2, ""},
		{3, 3, "[1, x, delete, 3]"},
		{4, 4, "[1, x, insert, 4] [2, x, delete, 4] [3, x, delete, 4]"},
		{5, 5, "[0, x, delete, 5] [1, x, delete, 5] [4, x, delete, 5]"},
		{6, 7, "[70, y, update_preimage, 6] [71, y, update_postimage, 6]"},
		{3, -1, "[0, x, delete, 5] [1, x, delete, 3] [1, x, delete, 5] [1, x, insert, 4] [2, x, delete, 4] [3, x, delete, 4] [4, x, delete, 5] " +
			"[70, y, update_preimage, 6] [71, y, update_postimage, 6]"},
		{7, 6, "DELTA_INVALID_CDC_RANGE"},
		{8, 9, "DELTA_CDC_START_VERSION_AFTER_LATEST"},
	} {
		if got := table.changes(test.from, test.to, "c0::VARCHAR, c1, c2, c3::VARCHAR"); got != test.want {
			t.Errorf("versions %d to %d:\ngot  %s\nwant %s", test.from, test.to, got, test.want)
		}
	}
	table.commit(`{"remove":{"path":"b.parquet","dataChange":true}}`)
	if got := table.changes(8, 8, "c0"); got != "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA" {
		t.Errorf("a removal without partition values: %s", got)
	}
}

func TestChangesNeedTheFeed(t *testing.T) {
	in := openInstance(t)
	table := newTable(t, in, field("id", `"integer"`), nil, nil)
	table.write("a.parquet", "SELECT 1 AS id", "")
	table.commit(metadataLine(field("id", `"integer"`), nil, feedOn()))                            // 1
	table.commit(add("a.parquet", "", ""))                                                         // 2
	table.commit(metadataLine(field("id", `"integer"`), nil, nil))                                 // 3
	table.commit(metadataLine(field("id", `"integer"`)+","+field("n", `"string"`), nil, feedOn())) // 4: a column more
	if got := table.changes(2, 4, "c0"); got != "DELTA_MISSING_CHANGE_DATA" {
		t.Errorf("a range with the feed off inside: got %s", got)
	}
	table.commit(metadataLine(field("id", `"long"`)+","+field("n", `"string"`), nil, feedOn())) // 5: a type widened
	for _, test := range []struct {
		from, to int64
		want     string
	}{
		{0, 2, "DELTA_MISSING_CHANGE_DATA"},
		{1, 2, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"}, // the newest schema is what rows would have
		{5, 5, ""},
	} {
		if got := table.changes(test.from, test.to, "c0"); got != test.want {
			t.Errorf("versions %d to %d: got %s, want %s", test.from, test.to, got, test.want)
		}
	}
}

func TestChangesUnderColumnMapping(t *testing.T) {
	in := openInstance(t)
	configuration := feedOn()
	configuration["delta.columnMapping.mode"] = "name"
	a, b := mapped("a", `"integer"`, "pa", 1), mapped("b", `"string"`, "pb", 2)
	table := newTable(t, in, a+","+b, nil, configuration)
	table.write("f.parquet", "SELECT 1 AS pa, 'x' AS pb", "")
	table.commit(add("f.parquet", "", ""))                                                  // 1
	table.commit(metadataLine(a+","+mapped("bb", `"string"`, "pb", 2), nil, configuration)) // 2: renamed
	table.write("g.parquet", "SELECT 2 AS pa, 'y' AS pb", "")
	table.commit(add("g.parquet", "", ""))            // 3
	table.commit(metadataLine(a, nil, configuration)) // 4: dropped
	for _, test := range []struct {
		from, to int64
		want     string
	}{
		{1, 1, "[1]"}, {2, 3, "[2]"}, {4, 4, ""},
		{1, 3, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"},
		{3, 4, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"},
	} {
		if got := table.changes(test.from, test.to, "c0"); got != test.want {
			t.Errorf("versions %d to %d: got %s, want %s", test.from, test.to, got, test.want)
		}
	}
}
