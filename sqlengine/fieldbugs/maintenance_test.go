package fieldbugs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// aged gives files a time of change, making those that are not there.
func (tb *table) aged(before time.Duration, names ...string) {
	tb.t.Helper()
	for _, name := range names {
		if _, err := os.Stat(tb.path(name)); err != nil {
			tb.write(name, []byte("x"))
		}
		tb.setTime(name, time.Now().Add(-before))
	}
}

// relative are the files beside the log, by their names in the table's folder.
func (tb *table) relative() (names []string) {
	tb.t.Helper()
	for _, path := range tb.dataFiles() {
		name, err := filepath.Rel(tb.dir, path)
		tb.check(err)
		names = append(names, name)
	}
	return names
}

// MT-01: VACUUM knows vectors for what they are, at the root, below a prefix and two in one file, and takes the old orphans alone.
func TestMT01VacuumAndVectorFiles(t *testing.T) {
	const old, young = 10 * 24 * time.Hour, time.Hour
	tb := newTable(t, shape{features: "deletionVectors changeDataFeed", fields: []string{"id long"}})
	for _, name := range []string{"a", "b", "c", "d"} {
		tb.parquet(name+".parquet", ids(1, 5))
	}
	shared, replaced, half := tb.newVectorFile(), tb.newVectorFile(), tb.newVectorFile()
	bitmap := bitmapBytes(t, 0)
	first, second := shared.put(bitmap), shared.put(bitmap)
	only := replaced.put(bitmap)
	gone, left := half.put(bitmap), half.put(bitmap)
	for _, f := range []*vectorFile{shared, replaced, half} {
		f.save()
	}
	prefixed := tb.vectorBelow("ab", 1)
	size := len(bitmap)
	tb.commit(1, tb.add("a.parquet", records(5), shared.descriptor(first, size, 1)), tb.add("b.parquet", records(5), shared.descriptor(second, size, 1)),
		tb.add("c.parquet", records(5), replaced.descriptor(only, size, 1)), tb.add("d.parquet", records(5), half.descriptor(gone, size, 1)))
	// Long ago: the vector of c was replaced by one below a prefix, and that of d by another in the same file.
	tb.commit(2, tb.drop("c.parquet", replaced.descriptor(only, size, 1)), tb.add("c.parquet", records(5), prefixed),
		tb.drop("d.parquet", half.descriptor(gone, size, 1)), tb.add("d.parquet", records(5), half.descriptor(left, size, 1)))
	for _, name := range tb.relative() {
		tb.aged(old, name)
	}
	goes := []string{replaced.name(), "orphan.parquet", "sub/orphan.parquet", "_change_data/cdc-old.parquet"}
	tb.aged(old, goes...)
	tb.aged(old, "_delta_index/i", ".hidden/h", "_tmp/t")
	tb.aged(young, "young.parquet", "_change_data/cdc-young.parquet")
	before := tb.relative()
	slices.Sort(goes)

	listed, err := tb.rows("VACUUM $t DRY RUN")
	tb.check(err)
	if len(listed) != len(goes) {
		t.Errorf("the dry run lists %q, want %q", listed, goes)
	}
	for _, name := range goes {
		if !slices.ContainsFunc(listed, func(line string) bool { return strings.Contains(line, "/"+name) }) {
			t.Errorf("the dry run does not list %s: %q", name, listed)
		}
	}
	if now := tb.relative(); !slices.Equal(now, before) {
		t.Errorf("the dry run left %q of %q", now, before)
	}
	tb.do("VACUUM $t")
	want := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(goes, name) })
	if now := tb.relative(); !slices.Equal(now, want) {
		t.Errorf("VACUUM left %q, want %q", now, want)
	}
	tb.want("SELECT count(*), sum(id) FROM $t", fmt.Sprintf("%d,%d", 16, 3*14+13))
}

// MT-05: sorting into files of a small target keeps every row once, removes what was there, and finds little to do a second time.
func TestMT05ZOrderIntoSmallFiles(t *testing.T) {
	for name, c := range map[string]struct{ by, properties string }{
		"partitioned": {by: " PARTITIONED BY (p)"}, "vectors": {properties: " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"},
	} {
		t.Run(name, func(t *testing.T) {
			tb := made(t, "CREATE TABLE $t (a INT, b INT, pad STRING, p INT)"+c.by+c.properties,
				"INSERT INTO $t SELECT CAST(id * 7919 % 20011 AS INT), CAST(id * 104729 % 9973 AS INT), md5(CAST(id AS STRING)), CAST(id % 2 AS INT) FROM range(250000)",
				"DELETE FROM $t WHERE a % 10 = 3")
			const whole = "SELECT count(*), sum(a), sum(b), count(DISTINCT pad), count(DISTINCT a, b, pad, p) FROM $t"
			before, err := tb.rows(whole)
			tb.check(err)
			tb.do("SET deltasql_optimize_file_size = 100000", "OPTIMIZE $t ZORDER BY (a, b)")
			tb.want(whole, before...)
			version := tb.newest()
			live := map[string]bool{}
			for v := range version {
				actions := tb.actions(v) // one that replaces a file's vector removes and adds one path
				for _, a := range actions["remove"] {
					delete(live, a["path"].(string))
				}
				for _, a := range actions["add"] {
					live[a["path"].(string)] = true
				}
			}
			last := tb.actions(version)
			if len(last["add"]) < 2 || // a file has a row group of 122,880 rows at least
				len(last["remove"]) != len(live) {
				t.Errorf("%d files of 100 kB in the place of %d, of which %d were live", len(last["add"]), len(last["remove"]), len(live))
			}
			for _, a := range last["remove"] {
				if !live[a["path"].(string)] {
					t.Errorf("%s is removed, which was not live", a["path"])
				}
			}
			for kind := range last {
				for _, a := range last[kind] {
					if change, ok := a["dataChange"]; ok && change != false {
						t.Errorf("an %s of OPTIMIZE changes data: %v", kind, a)
					}
				}
			}
			tb.do("OPTIMIZE $t ZORDER BY (a, b)", "OPTIMIZE $t ZORDER BY (a, b)")
			if now := tb.newest(); now != version {
				t.Errorf("a second OPTIMIZE wrote version %d", now)
			}
			tb.want(whole, before...)
			tb.do("RESET deltasql_optimize_file_size")
			tb.faultless()
		})
	}
}

// MT-07: a file with deleted rows is purged though it is the only one of its partition. OPTIMIZE leaves a lone file alone, as the
// reference does, and of several large ones writes those anew of which more is deleted than the ratio allows.
func TestMT07LoneFileWithDeletedRows(t *testing.T) {
	for _, percent := range []int{1, 60} {
		for _, by := range []string{"", " PARTITIONED BY (p)"} {
			tb := made(t, "CREATE TABLE $t (id INT, p INT)"+by+" TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
				"INSERT INTO $t SELECT CAST(id AS INT), 1 FROM range(1000)", fmt.Sprintf("DELETE FROM $t WHERE id < %d", 10*percent))
			tb.do("OPTIMIZE $t")
			if tb.newest() != 2 {
				t.Errorf("%d %% deleted%s: OPTIMIZE wrote a lone file anew", percent, by)
			}
			tb.do("INSERT INTO $t VALUES (5000, 2)") // a file without deleted rows is not the purge's business
			report, err := tb.rows("REORG TABLE $t APPLY (PURGE)")
			tb.check(err)
			if last := tb.actions(4); len(last["remove"]) != 1 || last["remove"][0]["deletionVector"] == nil || len(last["add"]) != 1 || last["add"][0]["deletionVector"] != nil {
				t.Errorf("the purge did %v", last)
			}
			if !strings.Contains(report[0], `"numDeletionVectorsRemoved":1`) || !strings.Contains(report[0], fmt.Sprintf(`"numDeletionVectorRowsRemoved":%d`, 10*percent)) {
				t.Errorf("the purge reports %s", report)
			}
			tb.do("REORG TABLE $t APPLY (PURGE)")
			if tb.newest() != 4 {
				t.Errorf("a purge of nothing wrote version %d", tb.newest())
			}
			tb.want("SELECT count(*) FROM $t", fmt.Sprint(1001-10*percent))
			tb.faultless()
		}
	}
	tb := made(t, "CREATE TABLE $t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO $t SELECT CAST(id AS INT) FROM range(1000)",
		"INSERT INTO $t SELECT CAST(id AS INT) FROM range(1000, 2000)", "INSERT INTO $t SELECT CAST(id AS INT) FROM range(2000, 3000)",
		"DELETE FROM $t WHERE id % 1000 < 40 OR id >= 1000 AND id % 1000 < 600", "SET deltasql_optimize_small_file = 1")
	defer tb.do("RESET deltasql_optimize_small_file")
	tb.do("OPTIMIZE $t")
	last := tb.actions(5)
	if len(last["remove"]) != 2 || len(last["add"]) != 1 {
		t.Errorf("OPTIMIZE of two files with 60 %% and one with 4 %% deleted did %v", last)
	}
	for _, a := range last["remove"] {
		if cardinality := a["deletionVector"].(map[string]any)["cardinality"]; cardinality != 600.0 {
			t.Errorf("a file with %v deleted rows was written anew", cardinality)
		}
	}
	tb.want("SELECT count(*) FROM $t", fmt.Sprint(960+2*400))
	tb.faultless()
}

// MT-08: what was optimised stays as it is; an append is sorted in its own partition, or into cubes of its weight.
func TestMT08OptimizeAgainAfterAnAppend(t *testing.T) {
	tb := made(t, "CREATE TABLE $t (id INT, p INT) PARTITIONED BY (p)",
		"INSERT INTO $t SELECT CAST(id AS INT), CAST(id % 100 AS INT) FROM range(1000)", "INSERT INTO $t SELECT CAST(id AS INT), CAST(id % 100 AS INT) FROM range(1000, 2000)",
		"OPTIMIZE $t ZORDER BY (id)", "INSERT INTO $t VALUES (5000, 42)")
	for _, sql := range []string{"OPTIMIZE $t", "OPTIMIZE $t ZORDER BY (id)"} {
		version := tb.newest()
		report, err := tb.rows(sql)
		tb.check(err)
		if !strings.Contains(report[0], `"totalFilesSkipped":99`) {
			t.Errorf("%s reports %s", sql, report)
		}
		for v := version + 1; v <= tb.newest(); v++ {
			for _, kind := range []string{"add", "remove"} {
				for _, a := range tb.actions(v)[kind] {
					if p := a["partitionValues"].(map[string]any)["p"]; p != "42" {
						t.Errorf("%s changed a file of partition %v", sql, p)
					}
				}
			}
		}
	}
	tb.want("SELECT count(*), sum(id) FROM $t", fmt.Sprintf("2001,%d", 1999*1000+5000))
	tb.faultless()

	clustered := made(t, "CREATE TABLE $t (id INT, v STRING) CLUSTER BY (id)", "INSERT INTO $t SELECT CAST(id AS INT), sha2(CAST(id AS STRING), 256) FROM range(20000)", "OPTIMIZE $t")
	version := clustered.newest()
	clustered.do("INSERT INTO $t VALUES (1, 'x')", "INSERT INTO $t VALUES (2, 'y')", "OPTIMIZE $t")
	last := clustered.actions(clustered.newest())
	if clustered.newest() != version+3 || len(last["remove"]) != 2 || len(last["add"]) != 1 || last["add"][0]["clusteringProvider"] != "liquid" {
		t.Errorf("clustering two new rows did %v", last)
	}
	// A file of another implementation of clustering is left to it.
	clustered.parquet("other.parquet", "SELECT 7::INTEGER AS id, 'z' AS v")
	clustered.commit(clustered.newest()+1, clustered.add("other.parquet", records(1), `"clusteringProvider":"another"`, `"tags":{"ANOTHER":"1"}`))
	version = clustered.newest()
	clustered.do("OPTIMIZE $t")
	if clustered.newest() != version {
		t.Errorf("OPTIMIZE did %v", clustered.actions(clustered.newest()))
	}
	clustered.want("SELECT count(*) FROM $t", "20003")
	clustered.faultless()
}
