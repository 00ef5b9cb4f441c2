package fieldbugs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/sqlengine"
)

// modes are the two ways in which rows of a file go.
var modes = map[string]string{"vectors": "true", "rewriting": "false"}

// live counts how often a table names each of its files in the log as added and not removed since.
func (tb *table) live(name string) map[string]int {
	tb.t.Helper()
	entries, err := os.ReadDir(filepath.Join(engineFolder, "default", name, "_delta_log"))
	tb.check(err)
	files := map[string]int{}
	for _, entry := range entries {
		if len(entry.Name()) != len("00000000000000000000.json") || !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(engineFolder, "default", name, "_delta_log", entry.Name()))
		tb.check(err)
		for _, line := range strings.Split(string(data), "\n") {
			kind, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"`), `":{"path":"`)
			path, _, _ := strings.Cut(rest, `"`)
			switch kind {
			case "add":
				files[path]++
			case "remove":
				files[path]--
			}
		}
	}
	return files
}

func TestDM04ChangesOfOddPartitionsRepeated(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		name := "dm04_" + mode
		tb.do("CREATE TABLE "+name+" (id INT, v INT, p STRING) PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = '"+vectors+"')",
			"INSERT INTO "+name+" SELECT s.id, 0, p FROM VALUES ('A B'), ('100%'), ('é'), ('a/b'), ('a=b#?') AS x(p), VALUES (1), (2), (3) AS s(id)")
		for run := range 3 {
			tb.do(fmt.Sprintf("MERGE INTO %s t USING (SELECT id, %d AS v, p FROM %s VERSION AS OF 1) s ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", name, run, name),
				fmt.Sprintf("UPDATE %s SET v = v + 10 WHERE p IN ('A B', '100%%')", name),
				fmt.Sprintf("DELETE FROM %s WHERE p = 'é' AND id = 9", name))
			tb.want("SELECT count(*), count(DISTINCT id, p), sum(v) FROM "+name, fmt.Sprintf("15,15,%d", 15*run+60))
			for path, n := range tb.live(name) {
				if n != 0 && n != 1 {
					t.Errorf("%s is live %d times", path, n)
				}
			}
		}
		tb.do("DELETE FROM "+name+" WHERE p = 'a/b' AND id = 2", "DELETE FROM "+name+" WHERE p = 'a=b#?'")
		tb.want("SELECT p, count(*) FROM "+name+" GROUP BY p", `"A B",3`, `"100%",3`, `"é",3`, `"a/b",2`)
	}
}

func TestDM07DeletesAndUpdatesWhereUnknown(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		for _, by := range []string{"", " PARTITIONED BY (c)"} {
			name := fmt.Sprintf("dm07_%s_%d", mode, len(by))
			tb.do("CREATE TABLE "+name+" (id INT, c INT)"+by+" TBLPROPERTIES ('delta.enableDeletionVectors' = '"+vectors+"')",
				"INSERT INTO "+name+" VALUES (1, 1), (2, 2), (3, NULL)")
			for _, condition := range []string{"c <> 5 AND c > 100", "c NOT IN (1, NULL)", "NOT (c = 1) AND c NOT IN (2)", "c = NULL", "c NOT IN (SELECT NULL)"} {
				tb.do("DELETE FROM "+name+" WHERE "+condition, "UPDATE "+name+" SET id = 99 WHERE "+condition)
				tb.want("SELECT id, c FROM "+name, "1,1", "2,2", "3,null")
			}
			tb.do("DELETE FROM " + name + " WHERE c = 1")
			tb.want("SELECT id, c FROM "+name, "2,2", "3,null")
			tb.do("DELETE FROM " + name + " WHERE NOT (c <=> 2)")
			tb.want("SELECT id, c FROM "+name, "2,2")
		}
	}
}

func TestDM09NullKeysOfMerge(t *testing.T) {
	tb := emptyFolder(t)
	for i, by := range []string{"", " PARTITIONED BY (k)"} {
		for equal, rows := range map[string][]string{
			"t.k = s.k":                    {"1,2", "null,1", "null,2"},
			"t.k <=> s.k":                  {"1,2", "null,2"},
			"t.k IS NOT DISTINCT FROM s.k": {"1,2", "null,2"},
			"(t.k = s.k OR t.k IS NULL AND s.k IS NULL)": {"1,2", "null,2"},
		} {
			name := fmt.Sprintf("dm09_%d", i)
			tb.do("DROP TABLE IF EXISTS "+name, "CREATE TABLE "+name+" (k INT, v INT)"+by, "INSERT INTO "+name+" VALUES (NULL, 1), (1, 1)",
				"MERGE INTO "+name+" t USING (SELECT * FROM VALUES (NULL, 2), (1, 2) AS s(k, v)) s ON "+equal+" WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *")
			tb.want("SELECT k, v FROM "+name, rows...)
		}
	}
}

func TestDM11ChangesOfAColumnWithADot(t *testing.T) {
	tb := emptyFolder(t)
	for i, by := range []string{"", " PARTITIONED BY (`Product.Id`)"} {
		name := fmt.Sprintf("dm11_%d", i)
		tb.do("CREATE TABLE "+name+" (`Product.Id` INT, Product STRUCT<Id: INT>, v STRING)"+by,
			"INSERT INTO "+name+" VALUES (1, named_struct('Id', 2), 'a'), (2, named_struct('Id', 1), 'b'), (3, named_struct('Id', 3), 'c')",
			"DELETE FROM "+name+" WHERE `Product.Id` = 1", "UPDATE "+name+" SET v = 'u', Product.Id = 7 WHERE `Product.Id` = 2",
			"MERGE INTO "+name+" t USING (SELECT 3 AS `Product.Id`, 'm' AS v) s ON t.`Product.Id` = s.`Product.Id` WHEN MATCHED THEN UPDATE SET t.`Product.Id` = s.`Product.Id` + 10, v = s.v",
			"INSERT INTO "+name+" REPLACE WHERE `Product.Id` = 2 VALUES (2, named_struct('Id', 0), 'r')")
		tb.want("SELECT `Product.Id`, Product.Id, v FROM "+name, `13,3,"m"`, `2,0,"r"`)
	}
}

func TestDM12DefaultsAndExplicitNull(t *testing.T) {
	tb := emptyFolder(t)
	tb.do("CREATE TABLE dm12 (a INT, b INT DEFAULT 42, c INT) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
		"INSERT INTO dm12 (a) VALUES (1)", "INSERT INTO dm12 VALUES (2, NULL, 3)", "INSERT INTO dm12 VALUES (3, DEFAULT, 3)")
	tb.want("SELECT * FROM dm12", "1,42,null", "2,null,3", "3,42,3")
	tb.do("UPDATE dm12 SET b = 0", "UPDATE dm12 SET b = DEFAULT WHERE a = 2",
		"MERGE INTO dm12 t USING (SELECT 9 AS a) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)",
		"MERGE INTO dm12 t USING (SELECT 3 AS a) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = DEFAULT")
	tb.want("SELECT a, b FROM dm12", "1,0", "2,42", "3,42", "9,42")
	// A default that comes with its column is for new rows; the statement warns that it is.
	tb.do("ALTER TABLE dm12 ADD COLUMN d INT DEFAULT 7")
	if warnings := tb.skipping.Warnings(); len(warnings) == 0 {
		t.Error("ADD COLUMN with DEFAULT does not say that the old rows are without it")
	}
	tb.do("ALTER TABLE dm12 ADD COLUMN e INT", "ALTER TABLE dm12 ALTER COLUMN e SET DEFAULT CAST('8' AS INT)", "INSERT INTO dm12 (a) VALUES (10)")
	tb.want("SELECT a, d, e FROM dm12 WHERE a > 8", "9,null,null", "10,7,8")
}

func TestDM14DeletesAtBoundaries(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		for _, n := range []int{1, 2, 65_536, 65_537, 200_001} {
			for _, by := range []string{"", " PARTITIONED BY (p)"} {
				name := fmt.Sprintf("dm14_%s_%d_%d", mode, n, len(by))
				tb.do("CREATE TABLE "+name+" (id INT, p STRING)"+by+" TBLPROPERTIES ('delta.enableDeletionVectors' = '"+vectors+"')",
					fmt.Sprintf("INSERT INTO %s SELECT CAST(id AS INT), 'x y' FROM range(0, %d) AS r(id)", name, n))
				gone := map[int]bool{}
				for _, c := range []struct {
					sql  string
					goes func(id int) bool
				}{
					{"id = 0", func(id int) bool { return id == 0 }},
					{fmt.Sprintf("id = %d", n-1), func(id int) bool { return id == n-1 }},
					{"id IN (65534, 65535, 65536)", func(id int) bool { return id >= 65534 && id <= 65536 }},
					{"id % 2 = 1", func(id int) bool { return id%2 == 1 }},
					{"id <> 100", func(id int) bool { return id != 100 }},
					{"id = 100", func(id int) bool { return true }},
				} {
					tb.do("DELETE FROM " + name + " WHERE " + c.sql)
					left, sum := 0, 0
					for id := range n {
						gone[id] = gone[id] || c.goes(id)
						if !gone[id] {
							left, sum = left+1, sum+id
						}
					}
					shown := strconv.Itoa(sum)
					if left == 0 {
						shown = "null"
					}
					tb.want("SELECT count(*), sum(id) FROM "+name, fmt.Sprintf("%d,%s", left, shown))
					files := 0
					for _, n := range tb.live(name) {
						files += n
					}
					if (files == 0) != (left == 0) {
						t.Errorf("%s has %d files for %d rows after %s", name, files, left, c.sql)
					}
				}
				if n != 65_537 {
					break
				}
			}
		}
	}
}

func TestCC09TransactionReadsOneVersion(t *testing.T) {
	tb := emptyFolder(t)
	tb.do("CREATE TABLE cc09 (id INT)", "INSERT INTO cc09 VALUES (1)", "BEGIN")
	count := func(session int, sql string) string {
		t.Helper()
		rows, err := tb.rowsIn([]*sqlengine.Session{tb.skipping, tb.plain}[session], sql)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(rows, "|")
	}
	for i := range 3 {
		if got := count(0, "SELECT (SELECT count(*) FROM cc09), (SELECT count(*) FROM cc09 a JOIN cc09 b USING (id))"); got != "1,1" {
			t.Errorf("statement %d of the transaction counts %s", i, got)
		}
		count(1, fmt.Sprintf("INSERT INTO cc09 VALUES (%d)", i+2))
	}
	tb.do("COMMIT")
	tb.want("SELECT count(*) FROM cc09", "4")
}

func TestCD01UpdateFeedsBothImages(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		for kind, change := range map[string]string{"update": "UPDATE $n SET n = 30 WHERE c = 'v3'",
			"merge": "MERGE INTO $n t USING (SELECT 'v3' AS c, 30 AS n) s ON t.c = s.c WHEN MATCHED THEN UPDATE SET n = s.n"} {
			name := "cd01_" + mode + "_" + kind
			tb.do("CREATE TABLE "+name+" (c STRING, n INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"')",
				"INSERT INTO "+name+" VALUES ('v1', 1), ('v2', 2), ('v3', 3)", strings.ReplaceAll(change, "$n", name))
			tb.want("SELECT c, n, _change_type, _commit_version FROM table_changes('"+name+"', 0)", `"v1",1,"insert",1`, `"v2",2,"insert",1`, `"v3",3,"insert",1`,
				`"v3",3,"update_preimage",2`, `"v3",30,"update_postimage",2`)
		}
	}
}

func TestCD02MergeThatChangesNothing(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		name := "cd02_" + mode
		merge := "MERGE INTO " + name + " t USING (SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, '%s') AS s(id, title)) s ON t.id = s.id WHEN MATCHED AND s.title <> t.title THEN UPDATE SET title = s.title"
		tb.do("CREATE TABLE "+name+" (id INT, title STRING) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"')",
			"INSERT INTO "+name+" VALUES (1, 'a'), (2, 'b'), (3, 'c')", fmt.Sprintf(merge, "c"))
		tb.want("SELECT count(*) FROM table_changes('"+name+"', 0)", "3") // the first MERGE is none of it
		tb.do(fmt.Sprintf(merge, "new"))
		tb.want("SELECT id, title, _change_type FROM table_changes('"+name+"', 0) WHERE _change_type <> 'insert'", `3,"c","update_preimage"`, `3,"new","update_postimage"`)
		tb.do("UPDATE " + name + " SET title = title WHERE id = 1") // an equal value counts as a change
		tb.want("SELECT _change_type, count(*) FROM table_changes('"+name+"', 0) WHERE id = 1 GROUP BY 1", `"insert",1`, `"update_preimage",1`, `"update_postimage",1`)
	}
}

func TestCD04MergeDeletesWithSeveralMatches(t *testing.T) {
	tb := emptyFolder(t)
	for mode, vectors := range modes {
		name := "cd04_" + mode
		tb.do("CREATE TABLE "+name+" (id INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"')",
			"INSERT INTO "+name+" VALUES (1), (2)",
			"MERGE INTO "+name+" t USING (SELECT * FROM VALUES (1), (1), (3), (3) AS s(id)) s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *")
		tb.want("SELECT id, _change_type FROM table_changes('"+name+"', 2)", `1,"delete"`, `3,"insert"`, `3,"insert"`)
		tb.want("SELECT id FROM "+name, "2", "3", "3")
	}
}

func TestCD07SchemaChangedInsideTheWrittenRange(t *testing.T) {
	tb := emptyFolder(t)
	tb.do("CREATE TABLE cd07 (id INT, n INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')",
		"INSERT INTO cd07 VALUES (1, 10)", "ALTER TABLE cd07 ADD COLUMN extra STRING", "INSERT INTO cd07 VALUES (2, 20, 'x')",
		"ALTER TABLE cd07 RENAME COLUMN n TO renamed", "INSERT INTO cd07 VALUES (3, 30, 'y')", "ALTER TABLE cd07 ALTER COLUMN id TYPE BIGINT")
	tb.want("SELECT id, n, extra, _commit_version FROM table_changes('cd07', 1, 3)", "1,10,null,1", `2,20,"x",3`)
	tb.want("SELECT id, renamed, extra FROM table_changes('cd07', 5, 5)", `3,30,"y"`)
	tb.refuse("SELECT * FROM table_changes('cd07', 1, 5)", "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA")
	rows, err := tb.rows("SELECT * FROM table_changes('cd07', 1, 6)")
	if err == nil || slices.Contains(rows, "") {
		t.Errorf("a widened type in the range gives %q, %v", rows, err)
	}
}

// An overwrite of the partitions in the data replaces them however another writer has written their values down.
func TestDynamicOverwriteOfForeignPartitionValues(t *testing.T) {
	for typ, texts := range map[string][2]string{
		"timestamp": {"2024-01-02 03:04:05", "TIMESTAMP '2024-01-02 03:04:05'"}, "decimal(10,3)": {"1.5", "1.5"}, "integer": {"007", "7"}, "date": {"2024-01-02", "DATE '2024-01-02'"},
	} {
		tb := newTable(t, shape{fields: []string{"id long", "p " + typ}, partitionBy: []string{"p"}})
		tb.parquet("a.parquet", "SELECT 1::BIGINT AS id")
		tb.parquet("b.parquet", "SELECT 2::BIGINT AS id")
		tb.commit(1, tb.add("a.parquet", records(1), partition("p", asJSON(texts[0]))), tb.add("b.parquet", records(1), partition("p", "null")))
		tb.do("SET partition_overwrite_mode = dynamic", "INSERT OVERWRITE $t VALUES (3, "+texts[1]+")")
		tb.want("SELECT id FROM $t", "2", "3")
	}
}
