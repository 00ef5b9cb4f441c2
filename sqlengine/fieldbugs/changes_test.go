package fieldbugs_test

import (
	"fmt"
	"testing"
)

// feed is the shape of a table with change data feed from version 0 on.
func feed(features string, fields ...string) shape {
	return shape{features: features, fields: fields, config: map[string]string{"delta.enableChangeDataFeed": "true"}}
}

// change is a cdc action.
func (tb *table) change(path string, members ...string) string {
	return tb.fileAction("cdc", path, append(members, `"dataChange":false`)...)
}

func TestCD01UpdateWithVectors(t *testing.T) {
	for _, how := range []string{"change files", "vector alone", "copy on write"} {
		t.Run(how, func(t *testing.T) {
			tb := newTable(t, feed("changeDataFeed deletionVectors", "c string", "n long"))
			tb.parquet("a.parquet", "SELECT 'v' || range AS c, range AS n FROM range(1, 4)")
			tb.parquet("b.parquet", "SELECT 'v3' AS c, 30::BIGINT AS n")
			tb.commit(1, tb.add("a.parquet", records(3)))
			vector := tb.vector(2)
			actions := []string{tb.drop("a.parquet"), tb.add("a.parquet", records(3), vector), tb.add("b.parquet", records(1))}
			if how == "copy on write" {
				tb.parquet("c.parquet", "SELECT 'v' || range AS c, range AS n FROM range(1, 3) UNION ALL SELECT 'v3', 30")
				actions = []string{tb.drop("a.parquet"), tb.add("c.parquet", records(3))}
			}
			if how != "vector alone" {
				tb.parquet("_change_data/x.parquet", "SELECT 'v3' AS c, 3::BIGINT AS n, 'update_preimage' AS _change_type UNION ALL SELECT 'v3', 30, 'update_postimage'")
				actions = append(actions, tb.change("_change_data/x.parquet"))
			}
			tb.commit(2, actions...)
			pair := []string{`"v3",3,"update_preimage",2`, `"v3",30,"update_postimage",2`}
			if how == "vector alone" { // nothing says that the two rows belong together
				pair = []string{`"v3",3,"delete",2`, `"v3",30,"insert",2`}
			}
			tb.want("SELECT c, n, _change_type, _commit_version FROM table_changes('$dir', 0)",
				append(pair, `"v1",1,"insert",1`, `"v2",2,"insert",1`, `"v3",3,"insert",1`)...)
			tb.want("SELECT c, n, _change_type FROM table_changes('$dir', 2) WHERE n = 30 AND _commit_timestamp = TIMESTAMP '2024-05-01 10:02:00Z'", pair[1][:len(pair[1])-2])
			tb.want("SELECT * FROM $t", `"v1",1`, `"v2",2`, `"v3",30`)
		})
	}
}

func TestCD02RowsMerelyCopiedAreNoChanges(t *testing.T) {
	tb := newTable(t, feed("changeDataFeed", "id long", "title string"))
	tb.parquet("a.parquet", "SELECT range AS id, 't' || range AS title FROM range(1, 4)")
	tb.parquet("copy.parquet", "SELECT range AS id, 't' || range AS title FROM range(1, 4)")
	tb.commit(1, tb.add("a.parquet", records(3)))
	metrics := func(updated int) string {
		return fmt.Sprintf(`{"commitInfo":{"timestamp":1,"operation":"MERGE","operationMetrics":{"numTargetRowsInserted":"0","numTargetRowsUpdated":"%d","numTargetRowsDeleted":"0","numTargetRowsCopied":"3"}}}`, updated)
	}
	// A merge that rewrote a file without changing a row, then a compaction, then a merge that changed one row.
	tb.commit(2, metrics(0), tb.drop("a.parquet"), tb.add("copy.parquet", records(3)))
	tb.commit(3, tb.drop("copy.parquet", `"dataChange":false`), tb.add("a.parquet", records(3), `"dataChange":false`))
	tb.parquet("b.parquet", "SELECT 1::BIGINT AS id, 'new' AS title UNION ALL SELECT range, 't' || range FROM range(2, 4)")
	tb.parquet("_change_data/x.parquet", "SELECT 1::BIGINT AS id, 't1' AS title, 'update_preimage' AS _change_type UNION ALL SELECT 1, 'new', 'update_postimage'")
	tb.commit(4, metrics(1), tb.drop("a.parquet"), tb.add("b.parquet", records(3)), tb.change("_change_data/x.parquet"))
	tb.want("SELECT id, title, _change_type, _commit_version FROM table_changes('$dir', 2)", `1,"t1","update_preimage",4`, `1,"new","update_postimage",4`)
	tb.want("SELECT count(*) FROM table_changes('$dir', 2, 3)", "0")
	tb.want("SELECT count(*) FROM table_changes('$dir', 0)", "5")
}

func TestCD04DeleteEventsOnceARow(t *testing.T) {
	tb := newTable(t, feed("changeDataFeed deletionVectors", "id long"))
	tb.parquet("a.parquet", ids(1, 2))
	tb.commit(1, tb.add("a.parquet", records(2)))
	tb.parquet("b.parquet", "SELECT unnest([3, 3])::BIGINT AS id")
	one := tb.vector(0)
	tb.commit(2, tb.drop("a.parquet"), tb.add("a.parquet", records(2), one), tb.add("b.parquet", records(2)))
	tb.want("SELECT id, _change_type FROM table_changes('$dir', 2)", `1,"delete"`, `3,"insert"`, `3,"insert"`)
	// The next vector deletes the rows that it adds alone; one that shrinks brings rows back; the file itself goes with what is left.
	tb.parquet("c.parquet", ids(10, 19))
	first, second, third := tb.vector(1, 2), tb.vector(1, 2, 5), tb.vector(5)
	tb.commit(3, tb.add("c.parquet", records(10), first))
	tb.commit(4, tb.drop("c.parquet", first), tb.add("c.parquet", records(10), second))
	tb.commit(5, tb.drop("c.parquet", second), tb.add("c.parquet", records(10), third))
	tb.commit(6, tb.drop("c.parquet", third))
	tb.want("SELECT count(*) FROM table_changes('$dir', 3, 3)", "8")
	tb.want("SELECT id, _change_type FROM table_changes('$dir', 4, 4)", `15,"delete"`)
	tb.want("SELECT id, _change_type FROM table_changes('$dir', 5, 5)", `11,"insert"`, `12,"insert"`)
	tb.want("SELECT _change_type, count(*), min(id) FROM table_changes('$dir', 6) GROUP BY 1", `"delete",9,10`)
}

func TestCD06BoundsOfAChangeQuery(t *testing.T) {
	off := shape{features: "changeDataFeed", fields: []string{"id long"}}
	tb := newTable(t, off) // version v is of 10:0v
	for v := 1; v <= 3; v++ {
		name := fmt.Sprintf("f%d.parquet", v)
		tb.parquet(name, ids(v, v))
		actions := []string{tb.add(name, records(1))}
		if v == 1 {
			actions = append(actions, feed("changeDataFeed", "id long").metadataAction())
		}
		tb.commit(v, actions...)
	}
	const ask = "SELECT id, _commit_version FROM table_changes('$dir', "
	tb.want(ask+"1, 2)", "1,1", "2,2")
	tb.want(ask+"2)", "2,2", "3,3")
	tb.want(ask+"3, 3)", "3,3")
	tb.want(ask+"2, 99)", "2,2", "3,3") // an end after the newest is cut
	tb.refuse(ask+"2, 1)", "DELTA_INVALID_CDC_RANGE", "2", "1")
	tb.refuse(ask+"0, 3)", "DELTA_MISSING_CHANGE_DATA", "0")
	tb.refuse(ask+"4, 5)", "DELTA_CDC_START_VERSION_AFTER_LATEST", "4", "3")
	tb.refuse(ask+"NULL)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY")
	tb.refuse(ask+"2, NULL)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY")
	tb.want(ask+"'2024-05-01 10:01:00', '2024-05-01 10:02:00')", "1,1", "2,2")
	tb.want(ask+"'2024-05-01 10:01:30')", "2,2", "3,3")                        // the first commit after the start
	tb.want(ask+"'2024-05-01 10:01:30', '2024-05-01 10:02:59')", "2,2")        // the last commit before the end
	tb.want(ask+"TIMESTAMP '2024-05-01 10:02:00', 3)", "2,2", "3,3")           // kinds may be mixed
	tb.refuse(ask+"1, '2024-05-01 10:00:30')", "DELTA_INVALID_CDC_RANGE", "1") // ends before it starts
	rows, err := tb.rows(ask + "'2024-05-01 10:03:01')")
	if err == nil {
		t.Errorf("a start after the newest commit gives %v", rows)
	}
}

func TestCD07SchemaChangedInsideTheRange(t *testing.T) {
	config := map[string]string{"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
	s := func(fields ...string) shape {
		return shape{features: "changeDataFeed columnMapping typeWidening", fields: fields, config: config}
	}
	tb := newTable(t, s(mapped("id", "long", "c1", 1), mapped("n", "integer", "c2", 2)))
	tb.parquet("a.parquet", "SELECT 1::BIGINT AS c1, 10::INTEGER AS c2")
	tb.commit(1, tb.add("a.parquet", records(1)))
	tb.commit(2, s(mapped("id", "long", "c1", 1), mapped("n", "integer", "c2", 2), mapped("extra", "string", "c3", 3)).metadataAction())
	tb.parquet("b.parquet", "SELECT 2::BIGINT AS c1, 20::INTEGER AS c2, 'x' AS c3")
	tb.commit(3, tb.add("b.parquet", records(1)))
	tb.commit(4, s(mapped("id", "long", "c1", 1), mapped("renamed", "integer", "c2", 2), mapped("extra", "string", "c3", 3)).metadataAction())
	tb.parquet("c.parquet", "SELECT 3::BIGINT AS c1, 30::INTEGER AS c2, 'y' AS c3")
	tb.commit(5, tb.add("c.parquet", records(1)))
	tb.want("SELECT id, n, extra, _commit_version FROM table_changes('$dir', 1, 3)", "1,10,null,1", `2,20,"x",3`)
	tb.want("SELECT id, renamed, extra, _commit_version FROM table_changes('$dir', 5, 5)", `3,30,"y",5`)
	tb.refuse("SELECT * FROM table_changes('$dir', 1, 5)", "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA", "$dir")
}

func TestCD08DotsInNames(t *testing.T) {
	tb := newTable(t, feed("changeDataFeed", "column.name string"))
	tb.parquet("a.parquet", `SELECT 'x' AS "column.name"`)
	tb.commit(1, tb.add("a.parquet", records(1)))
	tb.want("SELECT `column.name`, _change_type, _commit_version FROM table_changes('$dir', 1)", `"x","insert",1`)
	tb.want("SELECT * EXCEPT (_commit_timestamp) FROM table_changes('$dir', 1)", `"x","insert",1`)
	tb.want("SELECT `column.name` FROM $t WHERE `column.name` = 'x'", `"x"`)
	// A data file may hold _change_type itself; who reads the table does not see it.
	tb.parquet("b.parquet", `SELECT 'y' AS "column.name", 'insert' AS _change_type`)
	tb.commit(2, tb.add("b.parquet", records(1)))
	tb.want("SELECT * FROM $t", `"x"`, `"y"`)
}

func TestCD10RowIDs(t *testing.T) {
	const id, version = "_row-id-col-1", "_row-commit-version-col-1"
	tb := newTable(t, shape{features: "rowTracking domainMetadata deletionVectors", fields: []string{"id long"}, config: map[string]string{
		"delta.enableRowTracking": "true", "delta.rowTracking.materializedRowIdColumnName": id, "delta.rowTracking.materializedRowCommitVersionColumnName": version,
	}})
	mark := func(n int) string {
		return fmt.Sprintf(`{"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":%d}","removed":false}}`, n)
	}
	base := func(row, version int) string {
		return fmt.Sprintf(`"baseRowId":%d,"defaultRowCommitVersion":%d`, row, version)
	}
	tb.parquet("b.parquet", ids(1, 5))
	tb.parquet("a.parquet", ids(6, 6))
	tb.commit(1, mark(10), tb.add("b.parquet", records(5), base(6, 1)))
	tb.commit(2, mark(11), tb.add("a.parquet", records(1), base(11, 2))) // the loser of the race, rebased
	const ask = "SELECT id, _metadata.row_id, _metadata.row_commit_version FROM $t"
	tb.want(ask, "1,6,1", "2,7,1", "3,8,1", "4,9,1", "5,10,1", "6,11,2")
	// Rewritten rows keep what is materialised; where that is null the formula holds, counting deleted rows too.
	tb.parquet("c.parquet", fmt.Sprintf(`SELECT * FROM (VALUES (1::BIGINT, 6::BIGINT, 1::BIGINT), (20, 7, NULL), (21, NULL, NULL)) AS t(id, "%s", "%s")`, id, version))
	tb.commit(3, mark(14), tb.drop("b.parquet", base(6, 1)), tb.add("c.parquet", records(3), base(12, 3)))
	tb.want(ask, "1,6,1", "20,7,3", "21,14,3", "6,11,2")
	tb.commit(4, tb.drop("c.parquet", base(12, 3)), tb.add("c.parquet", records(3), base(12, 3), tb.vector(0)))
	tb.want(ask, "20,7,3", "21,14,3", "6,11,2")
	tb.want("SELECT * FROM $t", "20", "21", "6") // the materialised columns are hidden
}
