package fieldbugs_test

import (
	"slices"
	"strings"
	"testing"
)

// PF-03: every feature that schema and properties activate is in the lists.
func TestPF03CreatingListsImpliedFeatures(t *testing.T) {
	for _, c := range []struct{ create, reader, writer string }{
		{"(id BIGINT NOT NULL, ts TIMESTAMP_NTZ)", "timestampNtz", "timestampNtz invariants"},
		{"(id BIGINT, ts TIMESTAMP_NTZ, CONSTRAINT c CHECK (id > 0))", "timestampNtz", "timestampNtz checkConstraints"},
		{"(id BIGINT, g BIGINT GENERATED ALWAYS AS (id + 1), ts TIMESTAMP_NTZ)", "timestampNtz", "timestampNtz generatedColumns"},
		{"(id BIGINT GENERATED ALWAYS AS IDENTITY, ts TIMESTAMP_NTZ)", "timestampNtz", "timestampNtz identityColumns"},
		{"(id BIGINT, ts TIMESTAMP_NTZ) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "timestampNtz", "timestampNtz changeDataFeed"},
		{"(id BIGINT, ts TIMESTAMP_NTZ) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "timestampNtz columnMapping", "timestampNtz columnMapping"},
		{"(id BIGINT DEFAULT 5, ts TIMESTAMP_NTZ) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')", "timestampNtz", "timestampNtz allowColumnDefaults"},
		{"(s STRUCT<a: INT NOT NULL, ts: TIMESTAMP_NTZ>) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "timestampNtz", "timestampNtz rowTracking domainMetadata invariants"},
	} {
		t.Run(c.create, func(t *testing.T) {
			tb := made(t, "CREATE TABLE $t "+c.create)
			reader, writer := tb.features(0)
			for _, name := range strings.Fields(c.reader) {
				if !slices.Contains(reader, name) {
					t.Errorf("reader features %q lack %s", reader, name)
				}
			}
			for _, name := range strings.Fields(c.writer) {
				if !slices.Contains(writer, name) {
					t.Errorf("writer features %q lack %s", writer, name)
				}
			}
			if len(reader) != len(strings.Fields(c.reader)) {
				t.Errorf("reader features %q, want %s", reader, c.reader)
			}
			tb.faultless()
		})
	}
}

// PF-05: what a legacy protocol implies stays when the lists come.
func TestPF05UpgradeKeepsImpliedFeatures(t *testing.T) {
	s := columns("a integer")
	s.protocol = `{"minReaderVersion":1,"minWriterVersion":4}`
	s.config = map[string]string{"delta.constraints.pos": "a > 0"}
	tb := newTable(t, s)
	tb.do("ALTER TABLE $t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	reader, writer := tb.features(1)
	if !slices.Equal(reader, []string{"deletionVectors"}) {
		t.Errorf("reader features: %q", reader)
	}
	for _, name := range strings.Fields("appendOnly invariants checkConstraints generatedColumns changeDataFeed deletionVectors") {
		if !slices.Contains(writer, name) {
			t.Errorf("writer features %q lack %s", writer, name)
		}
	}
	tb.unchanged("INSERT INTO $t VALUES (-1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "pos", "-1")
	tb.do("INSERT INTO $t VALUES (1)")
	tb.faultless()
}

// PF-06: statements that need no protocol write none.
func TestPF06NeutralAltersKeepProtocol(t *testing.T) {
	for name, change := range map[string]func(*shape){
		"legacy":   func(s *shape) { s.protocol = `{"minReaderVersion":1,"minWriterVersion":4}` },
		"features": func(s *shape) { s.features = "deletionVectors appendOnly invariants" },
	} {
		t.Run(name, func(t *testing.T) {
			s := columns("id integer", "s string")
			change(&s)
			tb := newTable(t, s)
			for _, sql := range []string{
				"COMMENT ON COLUMN $t.id IS 'a number'", "ALTER TABLE $t ADD COLUMN more DOUBLE", "ALTER TABLE $t SET TBLPROPERTIES ('mine' = '1')",
				"ALTER TABLE $t ALTER COLUMN s COMMENT 'text'", "COMMENT ON TABLE $t IS 'both'", "INSERT INTO $t VALUES (1, 'a', 1.5)",
			} {
				tb.do(sql)
				if found := tb.actions(tb.newest())["protocol"]; len(found) > 0 {
					t.Errorf("%s wrote the protocol %v", sql, found)
				}
			}
			tb.faultless()
		})
	}
}

// PF-07: both ways to drop a feature say what they do.
func TestPF07DropFeature(t *testing.T) {
	setup := []string{
		"CREATE TABLE $t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO $t VALUES (1), (2), (3), (4)",
		"DELETE FROM $t WHERE id = 2", "DELETE FROM $t WHERE id = 3",
	}
	tb := made(t, setup...)
	tb.do("ALTER TABLE $t DROP FEATURE deletionVectors")
	tb.want("SELECT id FROM $t", "1", "4")
	tb.want("SELECT id FROM $t VERSION AS OF 2", "1", "3", "4")
	var last []string
	for v := tb.newest(); v > 0; v-- {
		if len(tb.actions(v)["protocol"]) > 0 {
			_, last = tb.features(v)
			break
		}
	}
	if !slices.Contains(last, "checkpointProtection") || slices.Contains(last, "deletionVectors") {
		t.Errorf("writer features: %q", last)
	}
	tb.faultless()

	tb = made(t, setup...)
	tb.refuse("ALTER TABLE $t DROP FEATURE deletionVectors TRUNCATE HISTORY", "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD")
	tb.want("SELECT id FROM $t", "1", "4")
	tb.faultless()
}

// PF-14: a dropped column's values do not come back with its name.
func TestPF14DroppedColumnStaysAway(t *testing.T) {
	plain := made(t, "CREATE TABLE $t (a INT, b INT)", "INSERT INTO $t VALUES (1, 2)")
	plain.unchanged("ALTER TABLE $t DROP COLUMN b", "DELTA_UNSUPPORTED_DROP_COLUMN", "delta.columnMapping.mode")
	tb := made(t, "CREATE TABLE $t (a INT, b INT, s STRUCT<x: INT, y: INT>) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
		"INSERT INTO $t VALUES (1, 2, named_struct('x', 3, 'y', 4))")
	before := tb.actions(0)["metaData"][0]["configuration"].(map[string]any)["delta.columnMapping.maxColumnId"]
	tb.do("ALTER TABLE $t DROP COLUMN b", "ALTER TABLE $t ADD COLUMN b INT", "ALTER TABLE $t DROP COLUMN s.x", "ALTER TABLE $t ADD COLUMN s.x INT")
	tb.want("SELECT a, b, s.x, s.y FROM $t", "1,null,null,4")
	after := tb.actions(tb.newest())["metaData"][0]["configuration"].(map[string]any)["delta.columnMapping.maxColumnId"]
	if before != "5" || after != "7" {
		t.Errorf("the greatest column id was %v and is %v", before, after)
	}
	tb.faultless()
}

// PF-15: names that differ by case alone are one name.
func TestPF15NamesThatDifferByCase(t *testing.T) {
	emptyFolder(t).refuse("CREATE TABLE $t (id INT, ID INT)", "COLUMN_ALREADY_EXISTS", "ID")
	emptyFolder(t).refuse("CREATE TABLE $t (s STRUCT<a: INT, A: INT>)", "COLUMN_ALREADY_EXISTS", "s.A")
	tb := made(t, "CREATE TABLE $t (id INT, x INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
	if _, err := tb.rows("ALTER TABLE $t ADD COLUMN Id INT"); err == nil {
		t.Error("Id was added beside id")
	}
	if _, err := tb.rows("ALTER TABLE $t RENAME COLUMN x TO iD"); err == nil {
		t.Error("x was renamed to iD beside id")
	}
	tb.do("INSERT INTO $t (ID, X) VALUES (1, 2)")
	tb.want("SELECT iD, `X` FROM $t WHERE Id = 1", "1,2")
	tb.faultless()
}

// LR-10: lists of features survive checkpoint and clean-up.
func TestLR10FeaturesSurviveCheckpoint(t *testing.T) {
	s := columns("id integer")
	s.features = "deletionVectors appendOnly checkConstraints"
	s.config = map[string]string{"delta.checkpointInterval": "2", "delta.constraints.pos": "id > 0"}
	tb := newTable(t, s)
	tb.do("INSERT INTO $t VALUES (1)", "INSERT INTO $t VALUES (2)", "INSERT INTO $t VALUES (3)")
	if _, err := tb.rows("SELECT count(*) FROM parquet.`$dir/_delta_log/00000000000000000002.checkpoint.parquet`"); err != nil {
		t.Fatal(err)
	}
	tb.remove("_delta_log/00000000000000000000.json")
	tb.remove("_delta_log/00000000000000000001.json")
	tb.do("REFRESH TABLE $t")
	tb.want("SELECT id FROM $t", "1", "2", "3")
	tb.unchanged("INSERT INTO $t VALUES (-1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "pos")
	tb.want("SELECT protocol.minReaderVersion, protocol.minWriterVersion, array_sort(protocol.readerFeatures), array_sort(protocol.writerFeatures) "+
		"FROM parquet.`$dir/_delta_log/00000000000000000002.checkpoint.parquet` WHERE protocol IS NOT NULL",
		`3,7,["deletionVectors"],["appendOnly","checkConstraints","deletionVectors"]`)
}

// LR-07: two deletes leave one live add of the path, and the second remove names the vector.
func TestLR07TwoDeletesOfOneFile(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO $t SELECT id FROM range(1, 11)",
		"DELETE FROM $t WHERE id = 5", "DELETE FROM $t WHERE id = 9")
	tb.wantIDs("true", 1, 2, 3, 4, 6, 7, 8, 10)
	removed := tb.actions(3)["remove"]
	if len(removed) != 1 || removed[0]["deletionVector"] == nil {
		t.Errorf("the second delete removes %v", removed)
	}
	if added := tb.actions(3)["add"]; len(added) != 1 || added[0]["path"] != removed[0]["path"] {
		t.Errorf("the second delete adds %v", added)
	}
	tb.faultless()
}

// CD-08: names of the change data feed are taken, and a dot in a name is a letter.
func TestCD08ReservedNamesOfTheFeed(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, _change_type STRING)")
	tb.unchanged("ALTER TABLE $t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", "_change_type")
	fed := made(t, "CREATE TABLE $t (id INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
	fed.unchanged("ALTER TABLE $t ADD COLUMN _commit_version BIGINT", "RESERVED_CDC_COLUMNS_ON_WRITE", "_commit_version")
	dotted := made(t, "CREATE TABLE $t (`column.name` INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "INSERT INTO $t VALUES (1)")
	dotted.want("SELECT `column.name`, _change_type, _commit_version FROM table_changes_by_path('$dir', 1)", `1,"insert",1`)
}
