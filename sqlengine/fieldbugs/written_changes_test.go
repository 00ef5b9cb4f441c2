package fieldbugs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// DM-01: a row that two source rows match is an error that names them; rows that match nothing are all inserted.
func TestDM01DuplicateSourceKeys(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, s STRING)", "INSERT INTO $t VALUES (1, 'a')")
	source := "(SELECT * FROM VALUES (1, 'b'), (1, 'c') AS v(id, s)) u"
	tb.unchanged("MERGE INTO $t t USING "+source+" ON t.id = u.id WHEN MATCHED THEN UPDATE SET *", "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE")
	tb.do("MERGE INTO $t t USING (SELECT * FROM VALUES (2, 'b'), (2, 'c') AS v(id, s)) u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *")
	tb.want("SELECT * FROM $t", `1,"a"`, `2,"b"`, `2,"c"`)
	tb.faultless()
}

// EM-02: the error of an ambiguous MERGE counts the rows, names some by all columns of the key and says how to find the others.
func TestEM02AmbiguousMergeNamesTheRows(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (k INT, `l.m` STRING, v INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "INSERT INTO $t SELECT id, 'x', 0 FROM range(100000)")
	source := func(twice string) string {
		return "(SELECT id AS k, 'x' AS `l.m`, 1 AS v FROM range(100000) UNION ALL SELECT * FROM VALUES " + twice + " AS v(k, l, v)) u"
	}
	merge := func(twice, when string) string {
		return "MERGE INTO $t t USING " + source(twice) + " ON t.k = u.k AND t.`l.m` = u.`l.m` " + when
	}
	for _, when := range []string{"WHEN MATCHED THEN UPDATE SET *", "WHEN MATCHED AND u.v > 1 THEN DELETE", "WHEN MATCHED AND u.v > 1 THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT *"} {
		tb.unchanged(merge("(77, 'x', 2), (4242, 'x', 2), (4242, 'x', 3), (99999, 'x', 2)", when), "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
			"3 rows", "(k = 77, l.m = x) by 2", "(k = 4242, l.m = x) by 3", "(k = 99999, l.m = x) by 2", ".parquet")
	}
	many := "(1, 'x', 2), (2, 'x', 2), (3, 'x', 2), (4, 'x', 2), (5, 'x', 2), (6, 'x', 2), (7, 'x', 2)"
	tb.unchanged(merge(many, "WHEN MATCHED THEN UPDATE SET *"), "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "7 rows", "(k = 5, l.m = x) by 2, ...")
	_, err := tb.rows(merge("(77, 'x', 2)", "WHEN MATCHED THEN UPDATE SET *"))
	var known *protocol.Error
	if !errors.As(err, &known) {
		t.Fatal(err)
	}
	_, query, found := strings.Cut(known.Hint, "SELECT ")
	if !found {
		t.Fatalf("the hint has no query: %s", known.Hint)
	}
	tb.want("SELECT "+query, `77,"x",2`)
	// Without an alias the table's own name qualifies; a condition without a column of the table has no keys to show.
	tb.do("CREATE OR REPLACE TABLE em02 (k INT, v INT)", "INSERT INTO em02 VALUES (1, 0), (NULL, 0)")
	tb.refuse("MERGE INTO em02 USING (SELECT * FROM VALUES (1, 1), (1, 2), (NULL, 3), (NULL, 4) AS v(k, v)) u ON em02.k <=> u.k WHEN MATCHED THEN UPDATE SET v = u.v",
		"DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "2 rows", "(k = NULL) by 2", "GROUP BY")
	tb.refuse("MERGE INTO em02 USING (SELECT * FROM VALUES (1), (2) AS v(k)) u ON true WHEN MATCHED THEN UPDATE SET v = u.k", "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", ".parquet")
	tb.want("SELECT * FROM em02", "1,0", "null,0")
}

// DM-02: unique keys never look alike, however many there are.
func TestDM02UniqueKeysAtScale(t *testing.T) {
	for _, properties := range []string{"", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"} {
		for _, n := range []int{8193, 100001} {
			tb := made(t, "CREATE TABLE $t (id BIGINT, v INT)"+properties, fmt.Sprintf("INSERT INTO $t SELECT id, 0 FROM range(%d)", n))
			tb.do("MERGE INTO $t t USING (SELECT id, v + 1 AS v FROM $t) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
			tb.want("SELECT count(*), count(DISTINCT id), min(v), max(v) FROM $t", fmt.Sprintf("%d,%d,1,1", n, n))
			if updated, inserted := tb.metric(2, "numTargetRowsUpdated"), tb.metric(2, "numTargetRowsInserted"); updated != fmt.Sprint(n) || inserted != "0" {
				t.Errorf("%d keys: %s updated, %s inserted", n, updated, inserted)
			}
		}
	}
}

// DM-08: what the source does not match is not pruned by the condition that says what matches.
func TestDM08NotMatchedBySource(t *testing.T) {
	setup := []string{"CREATE TABLE $t (a INT, b INT, c STRING, pt STRING) PARTITIONED BY (pt)",
		"INSERT INTO $t VALUES (1, 10, 'c1', 'p1'), (2, 20, 'c2', 'p1'), (3, 30, 'c3', 'p2'), (4, 40, 'c4', 'p2')"}
	merge := "MERGE INTO $t t USING (SELECT 1 AS a, 100 AS b) s ON t.a = s.a AND t.pt = 'p1' WHEN MATCHED THEN UPDATE SET b = s.b "
	tb := made(t, setup...)
	tb.do(merge + "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET c = 'stale'")
	tb.want("SELECT a, b, c FROM $t", `1,100,"c1"`, `2,20,"stale"`, `3,30,"stale"`, `4,40,"stale"`)
	tb = made(t, setup...)
	tb.do(merge + "WHEN NOT MATCHED BY SOURCE AND t.pt = 'p1' THEN UPDATE SET c = 'stale'")
	tb.want("SELECT a, b, c FROM $t", `1,100,"c1"`, `2,20,"stale"`, `3,30,"c3"`, `4,40,"c4"`)
	for _, removed := range tb.actions(2)["remove"] {
		if removed["partitionValues"].(map[string]any)["pt"] == "p2" {
			t.Errorf("a file of p2 was rewritten: %v", removed)
		}
	}
	tb.faultless()
}

// PS-05: a MERGE opens the files that its condition leaves, whatever type its literal has.
func TestPS05MergeSkipsPartitions(t *testing.T) {
	for _, literal := range []string{"3", "'3'", "CAST(3 AS BIGINT)"} {
		tb := made(t, "CREATE TABLE $t (id INT, v INT, month INT) PARTITIONED BY (month)", "INSERT INTO $t SELECT id, 0, id % 12 FROM range(120)")
		var away []string // what is not to be opened is not there
		for _, add := range tb.actions(1)["add"] {
			if path := tb.path(add["path"].(string)); add["partitionValues"].(map[string]any)["month"] != "3" {
				tb.check(os.Rename(path, path+".away"))
				away = append(away, path)
			}
		}
		tb.do("MERGE INTO $t t USING (SELECT 3 AS id, 9 AS v) s ON t.id = s.id AND t.month = " + literal + " WHEN MATCHED THEN UPDATE SET v = s.v")
		for _, path := range away {
			tb.check(os.Rename(path+".away", path))
		}
		tb.want("SELECT id, v FROM $t WHERE v > 0", "3,9")
		if removed := tb.actions(2)["remove"]; len(removed) != 1 {
			t.Errorf("month = %s: %d files were rewritten", literal, len(removed))
		}
	}
}

// compact commits what another product's OPTIMIZE of all files of a version does: one file in their place, without a change of data.
func (tb *table) compact(query string) {
	tb.t.Helper()
	next := tb.newest() + 1
	var actions []string
	live := map[string]bool{}
	for v := range next {
		for _, a := range tb.actions(v)["add"] {
			live[a["path"].(string)] = true
		}
		for _, a := range tb.actions(v)["remove"] {
			delete(live, a["path"].(string))
		}
	}
	for path := range live {
		actions = append(actions, tb.drop(path, `"dataChange":false`))
	}
	name := fmt.Sprintf("compacted%d.parquet", next)
	tb.parquet(name, query)
	actions = append(actions, tb.add(name, `"dataChange":false`, records(2)), `{"commitInfo":{"operation":"OPTIMIZE","isBlindAppend":false}}`)
	tb.commit(next, actions...)
}

func (tb *table) in(session *sqlengine.Session, statements ...string) error {
	for _, sql := range statements {
		if _, err := tb.rowsIn(session, sql); err != nil {
			return err
		}
	}
	return nil
}

// CC-01: a compaction that came first is no conflict for an append.
func TestCC01AppendAfterCompaction(t *testing.T) {
	for _, insert := range []string{"INSERT INTO $t VALUES (3)", "INSERT INTO $t SELECT CAST(id AS INT) + 3 FROM range(1)", "INSERT INTO $t SELECT id + 2 FROM $t WHERE id = 1"} {
		tb := made(t, "CREATE TABLE $t (id INT)", "INSERT INTO $t VALUES (1)", "INSERT INTO $t VALUES (2)")
		session := tb.session()
		tb.check(tb.in(session, "BEGIN", insert))
		tb.compact("SELECT * FROM VALUES (1), (2) AS v(id)")
		if err := tb.in(session, "COMMIT"); err != nil {
			t.Errorf("%s: %v", insert, err)
		}
		tb.wantIDs("true", 1, 2, 3)
		if blind := tb.actions(4)["commitInfo"][0]["isBlindAppend"]; blind != !strings.Contains(insert, "FROM $t") {
			t.Errorf("%s: isBlindAppend %v", insert, blind)
		}
	}
}

// CC-02: a row that was deleted from a file does not come back with the file that stands for it.
func TestCC02DeleteAgainstCompaction(t *testing.T) {
	for _, properties := range []string{"", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"} {
		tb := made(t, "CREATE TABLE $t (id INT)"+properties, "INSERT INTO $t VALUES (1), (2)")
		session := tb.session()
		tb.check(tb.in(session, "BEGIN", "DELETE FROM $t WHERE id = 1"))
		tb.compact("SELECT * FROM VALUES (1), (2) AS v(id)")
		if err := tb.in(session, "COMMIT"); err == nil {
			tb.wantIDs("true", 2)
		} else {
			if class := protocol.ClassOf(err); class != "DELTA_CONCURRENT_DELETE_DELETE" && class != "DELTA_CONCURRENT_DELETE_READ" && class != "DELTA_CONCURRENT_APPEND" {
				t.Error(err)
			}
			tb.wantIDs("true", 1, 2)
		}
	}
}

// CC-06: a version of an application is written once, also behind a checkpoint.
func TestCC06ApplicationVersions(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT) TBLPROPERTIES ('delta.checkpointInterval' = '2')")
	job := func(version, id int) error {
		session := tb.session()
		return tb.in(session, "SET deltasql_txn_app_id = 'job'", fmt.Sprintf("SET deltasql_txn_version = %d", version), fmt.Sprintf("INSERT INTO $t VALUES (%d)", id))
	}
	for _, c := range [][2]int{{30, 1}, {30, 2}, {10, 3}, {31, 4}, {31, 5}} {
		tb.check(job(c[0], c[1]))
	}
	tb.wantIDs("true", 1, 4)
	tb.remove("_delta_log/00000000000000000000.json")
	tb.remove("_delta_log/00000000000000000001.json")
	tb.do("REFRESH TABLE $t")
	tb.check(job(31, 6))
	tb.wantIDs("true", 1, 4)
	// Two at once: one is written, the other has nothing to do.
	first, second := tb.session(), tb.session()
	for i, session := range []*sqlengine.Session{first, second} {
		tb.check(tb.in(session, "SET deltasql_txn_app_id = 'job'", "SET deltasql_txn_version = 40", "BEGIN", fmt.Sprintf("INSERT INTO $t VALUES (%d)", 7+i)))
	}
	tb.check(tb.in(first, "COMMIT"))
	tb.check(tb.in(second, "COMMIT"))
	tb.wantIDs("true", 1, 4, 7)
}

// CC-07: two MERGEs of different partitions do not conflict, be the partition named or only joined.
func TestCC07MergesOfTwoPartitions(t *testing.T) {
	for name, condition := range map[string]string{"literal": "t.id = s.id AND t.p = %d", "join": "t.id = s.id AND t.p = s.p"} {
		t.Run(name, func(t *testing.T) {
			tb := made(t, "CREATE TABLE $t (id INT, v INT, p INT) PARTITIONED BY (p)", "INSERT INTO $t VALUES (1, 0, 1), (2, 0, 2)")
			merge := func(p int) string {
				on := condition
				if strings.Contains(on, "%d") {
					on = fmt.Sprintf(on, p)
				}
				return fmt.Sprintf("MERGE INTO $t t USING (SELECT %[1]d AS id, 5 AS v, %[1]d AS p) s ON %[2]s WHEN MATCHED THEN UPDATE SET v = s.v", p, on)
			}
			session := tb.session()
			tb.check(tb.in(session, "BEGIN", merge(1)))
			tb.do(merge(2))
			if err := tb.in(session, "COMMIT"); err != nil {
				if name == "literal" {
					t.Error(err)
				} else if text := err.Error(); !strings.Contains(text, "p=2") || !strings.Contains(text, "version 2") || !strings.Contains(text, "MERGE") {
					t.Errorf("the conflict does not say with whom: %v", err)
				}
				return
			}
			tb.want("SELECT id, v, p FROM $t", "1,5,1", "2,5,2")
			tb.faultless()
		})
	}
}

// CD-10: row ids after a lost race.
func TestCD10RowIDsAfterLostRaces(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO $t SELECT CAST(id AS INT) FROM range(6)")
	var sessions []*sqlengine.Session
	for i := range 2 {
		session := tb.session()
		tb.check(tb.in(session, "BEGIN", fmt.Sprintf("INSERT INTO $t VALUES (%d)", 100+i)))
		sessions = append(sessions, session)
	}
	tb.do("INSERT INTO $t SELECT CAST(id AS INT) + 10 FROM range(5)")
	for _, session := range sessions {
		tb.check(tb.in(session, "COMMIT"))
	}
	var bases []string
	for v := 1; v <= 4; v++ {
		var domain struct{ RowIDHighWaterMark int }
		tb.check(json.Unmarshal([]byte(tb.actions(v)["domainMetadata"][0]["configuration"].(string)), &domain))
		bases = append(bases, fmt.Sprint(tb.actions(v)["add"][0]["baseRowId"], " ", domain.RowIDHighWaterMark))
	}
	want := []string{"0 5", "6 10", "11 11", "12 12"}
	if !slices.Equal(bases, want) {
		t.Errorf("base row ids and marks: %q", bases)
	}
	tb.faultless()
}
