package fieldbugs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ST-05: the upper bound of a cut text is above the text.
func TestST05CutMaximumIsAboveTheText(t *testing.T) {
	long := strings.Repeat("a", 32) + "\U0001F33C"
	tb := made(t, "CREATE TABLE $t (id INT, s STRING)", "INSERT INTO $t VALUES (1, '"+long+"')", "INSERT INTO $t VALUES (2, '"+strings.Repeat("\U0010FFFF", 40)+"')")
	tb.wantIDs("s = '"+long+"'", 1)
	tb.wantIDs("s >= '"+strings.Repeat("a", 32)+"\U00010000'", 1, 2)
	tb.wantIDs("s = '"+strings.Repeat("\U0010FFFF", 40)+"'", 2)
	stats := tb.statsOf(tb.actions(1)["add"][0])
	if max, ok := stats["maxValues"].(map[string]any)["s"].(string); ok && max < long {
		t.Errorf("the maximum %q is below the value", max)
	}
	tb.faultless()
}

// ST-07: decimals are written with all their digits.
func TestST07DecimalStatisticsAreExact(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, a DECIMAL(18,0), b DECIMAL(38,6), c DECIMAL(10,2))",
		"INSERT INTO $t VALUES (1, 999999999999999999, 99999999999999999999999999999999.999999, 0.10), (2, -999999999999999999, -99999999999999999999999999999999.999999, 0.20)")
	text, _ := tb.actions(1)["add"][0]["stats"].(string)
	for _, exact := range []string{`"a":999999999999999999`, `"a":-999999999999999999`, `"b":99999999999999999999999999999999.999999`, `"c":0.1`} {
		if !strings.Contains(text, exact) {
			t.Errorf("the statistics lack %s: %s", exact, text)
		}
	}
	tb.wantIDs("a = 999999999999999999", 1)
	tb.wantIDs("b = 99999999999999999999999999999999.999999", 1)
	tb.wantIDs("b < 0", 2)
	tb.wantIDs("c >= 0.15", 2)
	tb.faultless()
}

// ST-14: fewer indexed columns change no answer, and what a checkpoint keeps of older files is right.
func TestST14FewerIndexedColumns(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, b INT, c INT, d INT, e INT)", "INSERT INTO $t VALUES (1, 1, 1, 1, 10)", "INSERT INTO $t VALUES (2, 2, 2, 2, 20)",
		"ALTER TABLE $t SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2', 'delta.checkpoint.writeStatsAsJson' = 'false', 'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpointInterval' = '1')",
		"INSERT INTO $t VALUES (3, 3, 3, 3, 30)")
	tb.do("REFRESH TABLE $t")
	tb.wantIDs("e = 10", 1)
	tb.wantIDs("e > 15", 2, 3)
	tb.wantIDs("b = 2", 2)
	tb.wantFiles("SELECT * FROM $t WHERE e = 10", 2) // the file without statistics, and the one that they keep
	tb.faultless()
}

// TY-01: a column without a type is read and left out of what is written.
func TestTY01VoidColumns(t *testing.T) {
	tb := newTable(t, columns("id long", "x void"))
	tb.do("INSERT INTO $t (id) VALUES (1)")
	tb.want("SELECT id, x FROM $t", "1,null")
	tb.do("ALTER TABLE $t ALTER COLUMN x TYPE INT", "INSERT INTO $t VALUES (2, 5)")
	tb.want("SELECT id, x FROM $t", "1,null", "2,5")
	tb.faultless()
	made := emptyFolder(t)
	if _, err := made.rows("CREATE TABLE $t AS SELECT 1 AS id, NULL AS n"); err == nil {
		made.want("SELECT id, n FROM $t", "1,null")
		made.faultless()
	}
}

// TY-02: the length of CHAR and VARCHAR is kept, in characters, everywhere.
func TestTY02LengthsAreKept(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (c VARCHAR(5), f CHAR(3), arr ARRAY<VARCHAR(2)>, p VARCHAR(2)) PARTITIONED BY (p)")
	tb.unchanged("INSERT INTO $t (c) VALUES ('abcdef')", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT", "5", "c")
	tb.do("INSERT INTO $t (c) VALUES ('ünïcö')")
	tb.unchanged("INSERT INTO $t (p) VALUES ('abc')", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT")
	tb.unchanged("INSERT INTO $t (arr) VALUES (array('ab', 'abc'))", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT")
	tb.do("INSERT INTO $t (f) VALUES ('a')")
	tb.want("SELECT length(f) FROM $t WHERE f = 'a  '", "3")
	tb.unchanged("UPDATE $t SET c = 'abcdef'", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT")
	tb.do("ALTER TABLE $t ALTER COLUMN c TYPE STRING", "INSERT INTO $t (c) VALUES ('abcdef')")
	tb.faultless()
}

// TY-07: a value that does not fit fails the statement, which changes nothing.
func TestTY07NothingIsNarrowedSilently(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (d DATE, i INT, n DECIMAL(5,2), y TINYINT, s STRUCT<a: TINYINT>, m MAP<STRING, INT>)",
		"INSERT INTO $t VALUES (DATE'2024-01-01', 1, 1.5, 1, named_struct('a', 1), map('k', 1))")
	for _, c := range []struct{ column, value, class string }{
		{"d", "'Active'", "CAST_INVALID_INPUT"},
		{"i", "9876543210", "CAST_OVERFLOW_IN_TABLE_INSERT"},
		{"n", "123456.789", "NUMERIC_VALUE_OUT_OF_RANGE"},
		{"y", "300", "CAST_OVERFLOW_IN_TABLE_INSERT"},
		{"s", "named_struct('a', 300)", ""},
		{"m", "map('k', 9876543210)", ""},
	} {
		for _, sql := range []string{
			"INSERT INTO $t (%[1]s) SELECT %[2]s", "INSERT INTO $t (%[1]s) VALUES (%[2]s)", "UPDATE $t SET %[1]s = %[2]s",
			"MERGE INTO $t t USING (SELECT 1 AS k) u ON t.i = u.k WHEN MATCHED THEN UPDATE SET %[1]s = %[2]s",
			"MERGE INTO $t t USING (SELECT 2 AS k) u ON t.i = u.k WHEN NOT MATCHED THEN INSERT (%[1]s) VALUES (%[2]s)",
		} {
			sql = fmt.Sprintf(sql, c.column, c.value)
			before := tb.newest()
			if rows, err := tb.rows(sql); err == nil {
				t.Errorf("%s was done: %s", sql, rows)
			}
			if tb.newest() != before {
				t.Errorf("%s made a version", sql)
			}
		}
	}
	tb.want("SELECT d, i, n, y, s.a, m['k'] FROM $t", `"2024-01-01",1,"1.50",1,1,1`)
	tb.do("INSERT INTO $t (i, n) VALUES ('12', 1.005)")
	tb.want("SELECT n FROM $t WHERE i = 12", `"1.01"`) // half up, as Spark rounds
}

// PP-01: the empty text is NULL where it is a partition's value, by every statement.
func TestPP01EmptyTextInPartition(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, p STRING) PARTITIONED BY (p)", "INSERT INTO $t VALUES (1, 'abc'), (2, ''), (3, NULL)",
		"MERGE INTO $t t USING (SELECT 4 AS id, '' AS p) u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *")
	tb.wantIDs("p IS NULL", 2, 3, 4)
	tb.wantIDs("p = ''")
	tb.do("DELETE FROM $t WHERE p IS NULL")
	tb.wantIDs("true", 1)
	tb.faultless()
}

// PP-04: every text is a partition's value, and none leaves the table's folder.
func TestPP04OddPartitionValuesWritten(t *testing.T) {
	values := []string{"ID$", "R&D", "A/A", "B B", "a:b", "a%20b", "100%", "x=y", "(beta)", "[1]", "{2}", "#", "?", `"`, "\\", "\t", "\n", "..", ".",
		strings.Repeat("é", 200), "\U0001F600", "trailing ", "trailing.", "*", "__HIVE_DEFAULT_PARTITION__"}
	tb := made(t, "CREATE TABLE $t (id INT, p STRING) PARTITIONED BY (p)")
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(s) + "'"
	}
	var rows, ids []string
	for i, value := range values {
		rows = append(rows, fmt.Sprintf("(%d, %s)", i, quote(value)))
		ids = append(ids, fmt.Sprint(i))
	}
	tb.do("INSERT INTO $t VALUES " + strings.Join(rows, ", "))
	tb.want("SELECT id FROM $t", ids...)
	for i, value := range values[:len(values)-1] {
		tb.wantIDs("p = "+quote(value), i)
	}
	tb.do("UPDATE $t SET id = id + 1000 WHERE p IN ('A/A', '..', 'x=y')",
		"MERGE INTO $t t USING (SELECT '100%' AS p) u ON t.p = u.p WHEN MATCHED THEN UPDATE SET id = 2000",
		"DELETE FROM $t WHERE p IN ('?', '#', "+quote("\\")+")")
	tb.want("SELECT id FROM $t WHERE id >= 1000", "1002", "1007", "1017", "2000")
	tb.want("SELECT count(*) FROM $t", fmt.Sprint(len(values)-3))
	tb.faultless()
	entries, err := os.ReadDir(filepath.Dir(tb.dir))
	tb.check(err)
	if len(entries) != 1 {
		t.Errorf("there are files beside the table: %v", entries)
	}
}

// PP-07: moments before 1970 as partition values.
func TestPP07PartitionBefore1970(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, p TIMESTAMP_NTZ) PARTITIONED BY (p)",
		"INSERT INTO $t VALUES (1, TIMESTAMP_NTZ'1969-12-31 23:20:57.657658'), (2, TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'), (3, TIMESTAMP_NTZ'1969-12-31 23:59:59'), (4, TIMESTAMP_NTZ'1970-01-01 00:00:00')")
	tb.wantIDs("p = TIMESTAMP_NTZ'1969-12-31 23:20:57.657658'", 1)
	tb.wantIDs("p > TIMESTAMP_NTZ'1969-12-31 23:59:59'", 2, 4)
	tb.wantIDs("p < TIMESTAMP_NTZ'1970-01-01 00:00:00'", 1, 2, 3)
	var texts []string
	for _, add := range tb.actions(1)["add"] {
		texts = append(texts, add["partitionValues"].(map[string]any)["p"].(string))
	}
	for _, want := range []string{"1969-12-31 23:20:57.657658", "1969-12-31 23:59:59.999999"} {
		if !strings.Contains(strings.Join(texts, "|"), want) {
			t.Errorf("partition values %q lack %s", texts, want)
		}
	}
	tb.faultless()
}

// PP-09: partition columns in another order than the schema's.
func TestPP09OrderOfPartitionColumns(t *testing.T) {
	for _, schema := range []string{"(id INT, first STRING, second STRING)", "(second STRING, first STRING, id INT)"} {
		tb := made(t, "CREATE TABLE $t "+schema+" PARTITIONED BY (second, first)", "INSERT INTO $t (first, id, second) VALUES ('A', 1, 'B')",
			"INSERT INTO $t (id, first, second) VALUES (2, 'X', 'Y')")
		tb.want("SELECT id, first, second FROM $t", `1,"A","B"`, `2,"X","Y"`)
		tb.wantIDs("first = 'A'", 1)
		tb.wantIDs("second = 'Y'", 2)
		tb.do("UPDATE $t SET id = 3 WHERE first = 'X'", "UPDATE $t SET second = 'Z' WHERE id = 1")
		tb.want("SELECT id, first, second FROM $t", `1,"A","Z"`, `3,"X","Y"`)
		tb.faultless()
	}
}
