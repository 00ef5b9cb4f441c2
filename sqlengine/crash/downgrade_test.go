package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// downgrade is a statement that takes a table to other features in several commits, whose rows stay what they are.
type downgrade struct {
	name  string
	setup []string
	aged  time.Duration // the commits of the setup are so old
	run   string
	done  []protocol.Class // what a run says where there is nothing left to do
	keeps int              // so many versions of t, from 0, can be read as before whatever happens
}

const notPresent = protocol.Class("DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT")

var downgrades = []downgrade{
	{name: "vectors", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')", twoRows, "INSERT INTO t SELECT id, 'k' FROM range(9000)", "DELETE FROM t WHERE id % 3 = 0 AND s = 'k'", "DELETE FROM t WHERE id = 1",
		"INSERT OVERWRITE t SELECT id, s FROM t WHERE id < 9", "DELETE FROM t WHERE id = 4",
	}, run: "ALTER TABLE t DROP FEATURE deletionVectors", done: []protocol.Class{notPresent}, keeps: 7},
	{name: "vectors with the history", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableExpiredLogCleanup' = 'false')", twoRows, twoRows, "DELETE FROM t WHERE id = 1",
		"ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", "REORG TABLE t APPLY (PURGE)", twoRows, "CHECKPOINT t",
	}, aged: 3 * 24 * time.Hour, run: "ALTER TABLE t DROP FEATURE deletionVectors TRUNCATE HISTORY", done: []protocol.Class{notPresent}},
	{name: "protection with the history", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows, "DELETE FROM t WHERE id = 1", "ALTER TABLE t DROP FEATURE deletionVectors",
	}, aged: 3 * 24 * time.Hour, run: "ALTER TABLE t DROP FEATURE checkpointProtection TRUNCATE HISTORY", done: []protocol.Class{notPresent}},
	{name: "mapping", setup: []string{
		"CREATE TABLE t (id INT, x STRING, p INT) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true', 'delta.enableChangeDataFeed' = 'true')",
		"INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)", "ALTER TABLE t RENAME COLUMN x TO s", "INSERT INTO t VALUES (3, 'c', 1)",
	}, run: "ALTER TABLE t DROP FEATURE columnMapping", done: []protocol.Class{notPresent}, keeps: 4},
	{name: "mapping to none", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true')", twoRows, "ALTER TABLE t RENAME COLUMN s TO text", "DELETE FROM t WHERE id = 1",
	}, run: "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')", keeps: 4},
	{name: "widening", setup: []string{
		"CREATE TABLE t (id SMALLINT, s STRING, l ARRAY<INT>) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", "INSERT INTO t VALUES (1, 'a', array(1)), (3, 'c', NULL)",
		"ALTER TABLE t ALTER COLUMN id TYPE INT", "ALTER TABLE t ALTER COLUMN l.element TYPE BIGINT", "INSERT INTO t VALUES (70000, 'd', array(3000000000))",
	}, run: "ALTER TABLE t DROP FEATURE typeWidening", done: []protocol.Class{notPresent}, keeps: 5},
	{name: "row tracking", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableRowTracking' = 'true')", twoRows, twoRows,
	}, run: "ALTER TABLE t DROP FEATURE rowTracking", done: []protocol.Class{notPresent}, keeps: 3},
	{name: "row tracking on", setup: []string{plainTable, twoRows, twoRows}, run: "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')", keeps: 3},
	{name: "v2 checkpoints", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '1')", twoRows, twoRows,
	}, run: "ALTER TABLE t DROP FEATURE v2Checkpoint", done: []protocol.Class{notPresent}, keeps: 3},
	{name: "in-commit timestamps", setup: []string{
		plainTable, twoRows, "ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", twoRows,
	}, run: "ALTER TABLE t DROP FEATURE inCommitTimestamp", done: []protocol.Class{notPresent}, keeps: 4},
	{name: "clustering", setup: []string{plainTable + " CLUSTER BY (id)", twoRows, twoRows, "OPTIMIZE t"}, run: "ALTER TABLE t DROP FEATURE clustering", done: []protocol.Class{notPresent}, keeps: 4},
	{name: "domains", setup: []string{plainTable + " CLUSTER BY (id)", twoRows, "ALTER TABLE t DROP FEATURE clustering"}, run: "ALTER TABLE t DROP FEATURE domainMetadata", done: []protocol.Class{notPresent}, keeps: 3},
	{name: "shredding", setup: []string{
		"CREATE TABLE t (id INT, v VARIANT) TBLPROPERTIES ('delta.enableVariantShredding' = 'true')", `INSERT INTO t SELECT id, parse_json('{"a": 1}') FROM range(3)`,
	}, run: "ALTER TABLE t DROP FEATURE 'variantShredding-preview'", done: []protocol.Class{notPresent}, keeps: 2},
	{name: "change data", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", twoRows, "UPDATE t SET s = 'z' WHERE id = 1",
	}, run: "ALTER TABLE t DROP FEATURE changeDataFeed", done: []protocol.Class{notPresent}, keeps: 3},
}

// definition is what a table is, without what depends on how many commits it took, and without names that are made up.
func definition(t *testing.T, database string) string {
	t.Helper()
	session, err := survivor.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rows, columns, err := rowsIn(context.Background(), session, "DESCRIBE DETAIL t")
	if err != nil {
		t.Fatal(err)
	}
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(rows[0]), &values); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, name := range columns {
		switch name {
		case "id", "partitionColumns", "clusteringColumns", "minReaderVersion", "minWriterVersion", "tableFeatures":
			fmt.Fprintf(&out, "%s %s\n", name, values[i])
		case "properties":
			var properties [][2]string
			if err := json.Unmarshal(values[i], &properties); err != nil {
				t.Fatal(err)
			}
			for i, p := range properties {
				if p[0] == "delta.requireCheckpointProtectionBeforeVersion" || strings.HasPrefix(p[0], "delta.rowTracking.materialized") {
					properties[i][1] = "some"
				}
			}
			fmt.Fprintf(&out, "properties %v\n", properties)
		}
	}
	fmt.Fprintf(&out, "columns %s\nrows %s\n", strings.Join(query(t, database, "DESCRIBE t"), " "), strings.Join(sortedRows(t, database, "SELECT * FROM t"), " "))
	return out.String()
}

// TestCrashOfDowngrades stops statements that take several commits before, in the middle of, and after their calls to the store that
// write: whatever was done, the rows and the versions that stay are what they were, and the statement, run again by an engine that knows
// nothing of the first run, leaves the table as it does where nothing happens. Where not every test is asked for, some calls of each.
func TestCrashOfDowngrades(t *testing.T) {
	for n, d := range downgrades {
		t.Run(d.name, func(t *testing.T) {
			made := newDatabase(t, "")
			must(t, made, d.setup...)
			if d.aged > 0 {
				age(t, made, d.aged)
			}
			rows, versions := sortedRows(t, made, "SELECT * FROM t"), travel(t, made, d.keeps)
			whole := newDatabase(t, made)
			count := &plan{}
			if err := execute(count.attach(context.Background()), victim, whole, d.run); err != nil {
				t.Fatal(err)
			}
			want := definition(t, whole)
			faultless(t, whole)
			if len(count.calls) < 2 {
				t.Fatalf("only the calls %q", count.calls)
			}
			for at := 1; at <= len(count.calls); at++ {
				for _, do := range []action{stop, stopHalf, stopAfter} {
					if do == stopHalf && !strings.HasPrefix(count.calls[at-1], "put") || do == stop && at > 1 {
						continue // a stop before a call is one after the call before it
					}
					if !long && (at+int(do)+n)%23 != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s %d %s", do, at, strings.ReplaceAll(strings.Fields(count.calls[at-1])[0], "/", ":")), func(t *testing.T) {
						database := newDatabase(t, made)
						stopped(t, database, []string{d.run}, &plan{at: at, do: do})
						if now := sortedRows(t, database, "SELECT * FROM t"); !slices.Equal(now, rows) {
							t.Errorf("rows %v, want %v", now, rows)
						}
						faultless(t, database)
						err := execute(context.Background(), survivor, database, d.run)
						if class := protocol.ClassOf(err); err != nil && !slices.Contains(d.done, class) {
							t.Fatalf("a second run: %v", err)
						}
						if now := definition(t, database); now != want {
							t.Errorf("it ends as\n%s\nwant\n%s", now, want)
						}
						if now := travel(t, database, d.keeps); now != versions {
							t.Errorf("older versions are now:\n%s\nand were:\n%s", now, versions)
						}
						faultless(t, database)
					})
				}
			}
		})
	}
}
