package crash_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deltasql/protocol"
)

// kind is a kind of statement that writes.
type kind struct {
	name  string
	setup []string                            // makes the database that it runs in
	each  []string                            // further setup for each try, which cannot be copied
	aged  time.Duration                       // the commits of the setup are so old
	run   []string                            // the statements, in one session
	steps bool                                // it makes several commits, so that there are states in between; rows stay what they are
	then  func(t *testing.T, database string) // done to the database once its setup has run
	hurt  bool                                // the setup leaves a table that cannot be read whole, which the statement mends
	keeps int                                 // so many versions of t, from 0, can be read as before whatever happens
}

const (
	plainTable = "CREATE TABLE t (id INT, s STRING)"
	twoRows    = "INSERT INTO t VALUES (1, 'a'), (2, 'b')"
)

// kinds are all kinds of statements that write.
var kinds = []kind{
	{name: "create", run: []string{"CREATE TABLE t (id INT NOT NULL, s STRING DEFAULT 'x', n BIGINT GENERATED ALWAYS AS IDENTITY) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"}},
	{name: "create if not exists", run: []string{"CREATE TABLE IF NOT EXISTS t (id INT, p INT) PARTITIONED BY (p)"}},
	{name: "create external", run: []string{"CREATE TABLE t (id INT, s STRING) LOCATION '$outside'"}},
	{name: "create like", setup: []string{plainTable, twoRows}, run: []string{"CREATE TABLE u LIKE t"}},
	{name: "create as select", run: []string{"CREATE TABLE t AS SELECT id, CAST(id AS STRING) AS s FROM range(100)"}},
	{name: "create as select, external", run: []string{"CREATE TABLE t LOCATION '$outside' AS SELECT 1 AS id"}},
	{name: "create as select, partitioned", run: []string{"CREATE TABLE t PARTITIONED BY (p) AS SELECT id, id % 3 AS p FROM range(30)"}},
	{name: "replace", setup: []string{plainTable, twoRows}, run: []string{"REPLACE TABLE t (x DOUBLE)"}},
	{name: "replace as select", setup: []string{plainTable, twoRows}, run: []string{"CREATE OR REPLACE TABLE t AS SELECT 7 AS seven"}},
	{name: "insert", setup: []string{plainTable, twoRows}, run: []string{"INSERT INTO t VALUES (3, 'c'), (4, NULL)"}},
	{name: "insert select", setup: []string{plainTable, twoRows}, run: []string{"INSERT INTO t SELECT id + 10, s FROM t"}},
	{name: "insert, identity and row ids", setup: []string{
		"CREATE TABLE t (k BIGINT GENERATED ALWAYS AS IDENTITY, id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableInCommitTimestamps' = 'true')",
		"INSERT INTO t (id) VALUES (1)",
	}, run: []string{"INSERT INTO t (id) VALUES (2), (3)"}},
	{name: "insert, partitioned", setup: []string{"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)"}, run: []string{"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'x=y/z')"}},
	{name: "insert overwrite", setup: []string{plainTable, twoRows}, run: []string{"INSERT OVERWRITE t VALUES (9, 'z')"}},
	{name: "insert overwrite, a partition", setup: []string{
		"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
	}, run: []string{"INSERT OVERWRITE t PARTITION (p = 'a') VALUES (9)"}},
	{name: "replace where", setup: []string{plainTable, twoRows}, run: []string{"INSERT INTO t REPLACE WHERE id > 1 VALUES (5, 'e')"}},
	{name: "with schema evolution", setup: []string{plainTable, twoRows}, run: []string{"INSERT WITH SCHEMA EVOLUTION INTO t SELECT 3 AS id, 'c' AS s, 1.5 AS more"}},
	{name: "update", setup: []string{plainTable, twoRows}, run: []string{"UPDATE t SET s = concat(s, '!') WHERE id = 1"}},
	{name: "update with vectors", setup: []string{plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows}, run: []string{"UPDATE t SET s = concat(s, '!') WHERE id = 1"}},
	{name: "delete", setup: []string{plainTable, twoRows}, run: []string{"DELETE FROM t WHERE id = 1"}},
	{name: "delete with vectors and change data", setup: []string{plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')", twoRows}, run: []string{"DELETE FROM t WHERE id = 1"}},
	{name: "merge", setup: []string{plainTable, twoRows}, run: []string{
		"MERGE INTO t USING (SELECT * FROM VALUES (1, 'x'), (5, 'y') AS v(id, s)) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = concat(t.s, u.s) WHEN NOT MATCHED THEN INSERT *",
	}},
	{name: "truncate", setup: []string{plainTable, twoRows}, run: []string{"TRUNCATE TABLE t"}},
	{name: "optimize", setup: []string{plainTable, twoRows, twoRows}, run: []string{"OPTIMIZE t"}},
	{name: "optimize by zorder", setup: []string{plainTable, twoRows, twoRows}, run: []string{"OPTIMIZE t ZORDER BY (s, id)"}, keeps: 3},
	{name: "optimize by clustering", setup: []string{
		plainTable + " CLUSTER BY (id) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", twoRows, twoRows,
	}, run: []string{"OPTIMIZE t"}, keeps: 3},
	{name: "optimize of all clusters", setup: []string{plainTable + " CLUSTER BY (id)", twoRows, twoRows, "OPTIMIZE t", twoRows}, run: []string{"OPTIMIZE t FULL"}, keeps: 5},
	{name: "optimize of partitions", setup: []string{
		"CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1), (2, 2)", "INSERT INTO t VALUES (3, 1), (4, 2)",
	}, run: []string{"OPTIMIZE t WHERE p = 1"}, keeps: 3},
	{name: "purge", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')", twoRows, "DELETE FROM t WHERE id = 1",
	}, run: []string{"REORG TABLE t APPLY (PURGE)"}, keeps: 3},
	{name: "vacuum", setup: []string{plainTable, twoRows, "INSERT OVERWRITE t VALUES (7, 'g')", twoRows}, run: []string{"VACUUM t"}, steps: true, keeps: 4},
	{name: "vacuum of all but the newest", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows, "INSERT OVERWRITE t VALUES (7, 'g'), (8, 'h')", "DELETE FROM t WHERE id = 7", "UPDATE t SET s = 'i'",
	}, run: []string{"SET spark.databricks.delta.retentionDurationCheck.enabled = false", "VACUUM t RETAIN 0 HOURS"}, steps: true},
	{name: "vacuum lite", setup: []string{plainTable, twoRows, "INSERT OVERWRITE t VALUES (7, 'g')", twoRows},
		run: []string{"SET spark.databricks.delta.retentionDurationCheck.enabled = false", "VACUUM t LITE RETAIN 0 HOURS"}, steps: true},
	{name: "restore", setup: []string{plainTable, twoRows, twoRows}, run: []string{"RESTORE TABLE t TO VERSION AS OF 1"}, keeps: 3},
	{name: "restore of vectors and definition", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')", twoRows, "DELETE FROM t WHERE id = 1", "ALTER TABLE t ADD COLUMN more INT", "INSERT OVERWRITE t VALUES (7, 'g', 1)",
	}, run: []string{"RESTORE TABLE t TO VERSION AS OF 2"}, keeps: 5},
	{name: "shallow clone", setup: []string{plainTable, twoRows}, run: []string{"CREATE TABLE u SHALLOW CLONE t"}, keeps: 2},
	{name: "deep clone", setup: []string{plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows, "DELETE FROM t WHERE id = 1"}, run: []string{"CREATE TABLE u DEEP CLONE t"}, keeps: 3},
	{name: "deep clone that follows", setup: []string{
		plainTable, twoRows, "CREATE TABLE u DEEP CLONE t", "UPDATE t SET s = 'z' WHERE id = 1", twoRows,
	}, run: []string{"CREATE OR REPLACE TABLE u DEEP CLONE t"}, keeps: 4},
	{name: "convert", setup: []string{plainTable, twoRows, twoRows}, then: forgetLog, run: []string{"CONVERT TO DELTA parquet.`$folder/t`"}},
	{name: "convert, partitioned", setup: []string{
		"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'a'), (2, 'b c')",
	}, then: forgetLog, run: []string{"CONVERT TO DELTA parquet.`$folder/t` NO STATISTICS PARTITIONED BY (p STRING)"}},
	{name: "analyze", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')", twoRows, "ALTER TABLE t SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')",
	}, run: []string{"ANALYZE TABLE t COMPUTE DELTA STATISTICS"}, keeps: 3},
	{name: "repair of a missing file", setup: []string{plainTable, twoRows, "INSERT INTO t VALUES (3, 'c')"}, then: loseFile("*.parquet"), hurt: true, run: []string{"FSCK REPAIR TABLE t"}},
	{name: "repair of a missing vector", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows, "INSERT INTO t SELECT id, 'k' FROM range(9000)", "DELETE FROM t WHERE id % 3 = 0 AND s = 'k'",
	}, then: loseFile("deletion_vector_*.bin"), hurt: true, run: []string{"FSCK REPAIR TABLE t"}},
	{name: "checkpoint on demand", setup: []string{plainTable, twoRows, twoRows}, run: []string{"CHECKPOINT t"}, steps: true, keeps: 3},
	{name: "compaction of the log", setup: []string{plainTable, twoRows, "DELETE FROM t WHERE id = 1", twoRows}, run: []string{"COMPACT LOG t FROM 1 TO 3"}, steps: true, keeps: 4},
	{name: "checksum on demand", setup: []string{plainTable, twoRows}, run: []string{"REPAIR CHECKSUM t"}, steps: true, keeps: 2},
	{name: "manifests", setup: []string{"CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1), (2, 2)"}, run: []string{"GENERATE symlink_format_manifest FOR TABLE t"}, steps: true, keeps: 2},
	{name: "clean-up on demand", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'false', 'delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 1 day')",
		twoRows, twoRows, "CHECKPOINT t", twoRows, "CHECKPOINT t",
	}, aged: 20 * 24 * time.Hour, run: []string{"CLEAN LOG t"}, steps: true},
	{name: "add column", setup: []string{plainTable, twoRows}, run: []string{"ALTER TABLE t ADD COLUMN more DOUBLE AFTER id"}},
	{name: "rename column", setup: []string{plainTable + " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", twoRows}, run: []string{"ALTER TABLE t RENAME COLUMN s TO text"}},
	{name: "drop column", setup: []string{plainTable + " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", twoRows}, run: []string{"ALTER TABLE t DROP COLUMN s"}},
	{name: "add constraint", setup: []string{plainTable, twoRows}, run: []string{"ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)"}},
	{name: "set properties", setup: []string{plainTable, twoRows}, run: []string{"ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'mine' = '1')"}},
	{name: "drop feature", setup: []string{plainTable + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", twoRows}, run: []string{"ALTER TABLE t DROP FEATURE deletionVectors"}, steps: true},
	{name: "comment", setup: []string{plainTable, twoRows}, run: []string{"COMMENT ON TABLE t IS 'two rows'"}},
	{name: "drop", setup: []string{plainTable, twoRows}, run: []string{"DROP TABLE t"}},
	{name: "rename", setup: []string{plainTable, twoRows}, run: []string{"ALTER TABLE t RENAME TO u"}},
	{name: "set location", each: []string{plainTable + " LOCATION '$outside'", twoRows, "CREATE TABLE u (id INT, s STRING)"}, run: []string{"ALTER TABLE t SET LOCATION '$folder/u'"}},
	{name: "drop external", each: []string{plainTable + " LOCATION '$outside'", twoRows}, run: []string{"DROP TABLE t"}},
	{name: "transaction", setup: []string{plainTable, twoRows}, run: []string{
		"BEGIN", "INSERT INTO t VALUES (3, 'c')", "INSERT INTO t SELECT id + 10, s FROM t", "COMMIT",
	}},
	{name: "transaction that starts anew", setup: []string{plainTable, twoRows}, run: []string{
		"BEGIN", "INSERT OVERWRITE t VALUES (3, 'c')", "SAVEPOINT p", "INSERT INTO t VALUES (8, 'h')", "ROLLBACK TO p", "INSERT INTO t VALUES (4, 'd')", "COMMIT",
	}},
	{name: "checkpoint", setup: []string{plainTable + " TBLPROPERTIES ('delta.checkpointInterval' = '2')", twoRows}, run: []string{"INSERT INTO t VALUES (3, 'c')"}},
	{name: "v2 checkpoint", setup: []string{plainTable + " TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.checkpointPolicy' = 'v2')", twoRows}, run: []string{"INSERT INTO t VALUES (3, 'c')"}},
	{name: "clean-up", setup: []string{
		plainTable + " TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 1 day')", twoRows, twoRows, twoRows, twoRows,
	}, aged: 20 * 24 * time.Hour, run: []string{"INSERT INTO t VALUES (3, 'c')", "INSERT INTO t VALUES (4, 'd')"}, steps: true},
}

// forgetLog leaves of the table t a folder of Parquet files.
func forgetLog(t *testing.T, database string) {
	if err := os.RemoveAll(filepath.Join(catalog, database, "t", protocol.LogFolder)); err != nil {
		t.Fatal(err)
	}
}

// loseFile deletes the newest of t's files of a kind.
func loseFile(pattern string) func(t *testing.T, database string) {
	return func(t *testing.T, database string) {
		files, err := filepath.Glob(filepath.Join(catalog, database, "t", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file %s: %v", pattern, err)
		}
		newest := slices.MaxFunc(files, func(a, b string) int { return modified(t, a).Compare(modified(t, b)) })
		if err := os.Remove(newest); err != nil {
			t.Fatal(err)
		}
	}
}

func modified(t *testing.T, file string) time.Time {
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
