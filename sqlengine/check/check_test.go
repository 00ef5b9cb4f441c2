package check

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/store"
)

// shared is a folder beside the project; without it the test is skipped.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("../../../shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the project", name)
	}
	return path
}

const warehouseTables = "../../testdata/warehouse/default"

func openInstance(t *testing.T) *duck.Instance {
	t.Helper()
	instance, err := duck.Open(duck.Config{Threads: 2, MemoryLimit: "1GB", TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { instance.Close() })
	return instance
}

// faultsOf checks a table and gives its faults as lines.
func faultsOf(t *testing.T, instance *duck.Instance, table string, deep bool) []string {
	t.Helper()
	files, err := store.NewLocal(table)
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	target := Target{Name: table, Files: files, DuckDB: instance}
	if err := Table(context.Background(), target, Options{Deep: deep}, func(f Fault) { faults = append(faults, f.File+": "+f.Message) }); err != nil {
		t.Errorf("%s: %v", table, err)
	}
	return faults
}

func TestCheckFindsNothingInSoundTables(t *testing.T) {
	instance := openInstance(t)
	tables, err := os.ReadDir(warehouseTables)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if faults := faultsOf(t, instance, filepath.Join(warehouseTables, table.Name()), true); len(faults) > 0 {
			t.Errorf("%s: %s", table.Name(), strings.Join(faults, "\n"))
		}
	}
}

func TestCheckFindsNothingInTablesOfTheOracle(t *testing.T) {
	root := shared(t, "oracle-tables")
	instance := openInstance(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != protocol.LogFolder {
			return err
		}
		if faults := faultsOf(t, instance, filepath.Dir(path), true); len(faults) > 0 {
			t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copied is a copy of a table of the warehouse that a test may damage.
type copied struct {
	t   *testing.T
	dir string
}

func copyOf(t *testing.T, table string) copied {
	t.Helper()
	c := copied{t, filepath.Join(t.TempDir(), table)}
	if err := os.CopyFS(c.dir, os.DirFS(filepath.Join(warehouseTables, table))); err != nil {
		t.Fatal(err)
	}
	return c
}

// find gives the path of the nth file that matches a pattern, counted from 0; -1 is the last.
func (c copied) find(pattern string, n int) string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.dir, pattern))
	if err != nil || len(found) == 0 {
		c.t.Fatalf("no %s in %s: %v", pattern, c.dir, err)
	}
	if n < 0 {
		n += len(found)
	}
	return found[n]
}

func (c copied) edit(path string, change func([]byte) []byte) {
	c.t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// replace changes a text in a file, which must have it.
func (c copied) replace(path, old, text string) {
	c.t.Helper()
	c.edit(path, func(data []byte) []byte {
		if !bytes.Contains(data, []byte(old)) {
			c.t.Fatalf("%s does not have %s", path, old)
		}
		return bytes.ReplaceAll(data, []byte(old), []byte(text))
	})
}

func (c copied) add(version int, lines ...string) {
	c.write(fmt.Sprintf("_delta_log/%020d.json", version), strings.Join(lines, "\n")+"\n")
}

func (c copied) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c copied) remove(path string) {
	c.t.Helper()
	if err := os.Remove(path); err != nil {
		c.t.Fatal(err)
	}
}

func commit(version int) string { return fmt.Sprintf("_delta_log/%020d.json", version) }

func half(data []byte) []byte { return data[:len(data)/2] }

// damages are what a check must find; each want is a part of a line, and together they are all lines.
var damages = []struct {
	name, table string
	deep        bool
	damage      func(c copied)
	want        []string
}{
	{"a data file is missing", "clustered", false, func(c copied) { c.remove(c.find("*.parquet", 0)) }, []string{"parquet: the file is missing"}},
	{"a data file is cut", "clustered", false, func(c copied) { c.edit(c.find("*.parquet", 0), half) },
		[]string{"bytes, the log says", "the file cannot be read as Parquet"}},
	{"a data file of another table", "mapped_by_id", false, func(c copied) {
		data, err := os.ReadFile(copied{c.t, filepath.Join(warehouseTables, "people")}.find("*.parquet", 0))
		if err != nil {
			c.t.Fatal(err)
		}
		c.edit(c.find("*/*.parquet", 0), func([]byte) []byte { return data })
	}, []string{"bytes, the log says", "no field ids"}},
	{"a column of another type", "scalars", false, func(c copied) {
		c.replace(c.find(commit(0), 0), `{\"name\":\"d\",\"type\":\"double\"`, `{\"name\":\"d\",\"type\":\"boolean\"`)
		for range 4 {
			c.remove(c.find("_delta_log/*.crc", 0))
		}
	}, []string{"cannot be read as boolean", "cannot be read as boolean", "cannot be read as boolean"}},
	{"a commit is missing", "feed", false, func(c copied) { c.remove(c.find(commit(2), 0)) },
		[]string{commit(2) + ": the commit is missing", "DELTA_VERSIONS_NOT_CONTIGUOUS"}},
	{"a commit is empty", "feed", false, func(c copied) { c.edit(c.find(commit(3), 0), func([]byte) []byte { return nil }) },
		[]string{commit(3) + ": the file is empty", commit(3) + ": it holds no action", "[DELTA_INVALID_LOG_FILE]"}},
	{"a commit is cut", "feed", false, func(c copied) { c.edit(c.find(commit(3), 0), half) },
		[]string{commit(3) + ": [DELTA_INVALID_LOG_FILE]", "[DELTA_INVALID_LOG_FILE]"}},
	{"a stray name", "feed", false, func(c copied) { c.write("_delta_log/7.json", "{}") }, []string{"_delta_log/7.json: the name is none"}},
	{"a checkpoint of another version", "checkpoints", false, func(c copied) {
		data, err := os.ReadFile(c.find("_delta_log/*3.checkpoint.parquet", 0))
		if err != nil {
			c.t.Fatal(err)
		}
		c.edit(c.find("_delta_log/*6.checkpoint.parquet", 0), func([]byte) []byte { return data })
	}, []string{"6.checkpoint.parquet: the checkpoint differs from the replay of the commits: it lacks 3 files"}},
	{"a checkpoint is cut", "checkpoints", false, func(c copied) { c.edit(c.find("_delta_log/*6.checkpoint.parquet", 0), half) },
		[]string{"6.checkpoint.parquet: [DELTA_INVALID_LOG_FILE]"}},
	{"a sidecar is missing", "checkpoints_v2", false, func(c copied) { c.remove(c.find("_delta_log/_sidecars/*", 0)) },
		[]string{".json: [DELTA_LOG_FILE_NOT_FOUND]"}},
	{"parts of a checkpoint are missing", "feed", false, func(c copied) {
		c.write("_delta_log/00000000000000000002.checkpoint.0000000001.0000000003.parquet", "PAR1")
	}, []string{"the checkpoint of version 2 is incomplete: 1 of its 3 parts"}},
	{"the hint names no checkpoint", "checkpoints", false, func(c copied) { c.write("_delta_log/_last_checkpoint", `{"version":7,"size":3}`) },
		[]string{"_last_checkpoint: it names version 7, which has no complete checkpoint"}},
	{"the hint is cut", "checkpoints", false, func(c copied) { c.edit(c.find("_delta_log/_last_checkpoint", 0), half) }, []string{"_last_checkpoint: "}},
	{"a checksum is wrong", "feed", false, func(c copied) { c.replace(c.find("_delta_log/*2.crc", 0), `"numFiles":2`, `"numFiles":4`) },
		[]string{"2.crc: numFiles is 4, the commits say 2"}},
	{"a histogram is wrong", "feed", false, func(c copied) { c.replace(c.find("_delta_log/*2.crc", 0), `"fileCounts":[2,`, `"fileCounts":[1,`) },
		[]string{"2.crc: its histogram of file sizes differs from the commits"}},
	{"a checksum is cut", "feed", false, func(c copied) { c.edit(c.find("_delta_log/*2.crc", 0), half) }, []string{"2.crc: "}},
	{"a vector's bytes are changed", "vectors", false, func(c copied) {
		for n := range 2 {
			c.edit(c.find("*.bin", n), func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
		}
	}, []string{"DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"}},
	{"a vector is missing", "vectors", false, func(c copied) { c.remove(c.find("*.bin", 0)); c.remove(c.find("*.bin", 0)) },
		[]string{"its deletion vector deletion_vector_"}},
	{"a vector's old one stays", "vectors", false, func(c copied) {
		c.edit(c.find(commit(3), 0), func(data []byte) []byte {
			lines := bytes.SplitAfter(data, []byte("\n"))
			return bytes.Join(slices.DeleteFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"remove"`)) }), nil)
		})
		c.remove(c.find("_delta_log/*3.crc", 0))
		c.remove(c.find("_delta_log/*4.crc", 0))
	}, []string{"with another deletion vector and does not remove the old one", "the file is live several times"}},
	{"a minimum is too high", "people", true, func(c copied) {
		c.replace(c.find(commit(2), 0), `\"minValues\":{\"id\":3,\"name\":\"Édgar\"`, `\"minValues\":{\"id\":3,\"name\":\"Édgar \"`)
		c.replace(c.find(commit(2), 0), `\"maxValues\":{\"id\":3,\"name\":\"Édgar\"`, "\\\"maxValues\\\":{\\\"id\\\":3,\\\"name\\\":\\\"É\U0010FFFF\\\"")
	}, []string{"the statistics of name: minValues is Édgar , the file has Édgar"}},
	{"a maximum is too low", "people", true, func(c copied) {
		c.replace(c.find(commit(2), 0), `\"born\":\"1923-08-19\"`, `\"born\":\"1923-08-18\"`)
	}, []string{"the statistics of born: maxValues is 1923-08-18, the file has 1923-08-19"}},
	{"bounds cross", "people", false, func(c copied) {
		c.replace(c.find(commit(2), 0), `\"maxValues\":{\"id\":3`, `\"maxValues\":{\"id\":2`)
	}, []string{"the statistics of id: minValues 3 is above maxValues 2"}},
	{"a count of NULLs is wrong", "people", true, func(c copied) {
		c.replace(c.find(commit(2), 0), `\"born\":0,\"score\":1`, `\"born\":0,\"score\":0`)
	}, []string{"the statistics of score: nullCount is 0, the file has 1"}},
	{"too many NULLs", "people", false, func(c copied) {
		c.replace(c.find(commit(2), 0), `\"born\":0,\"score\":1`, `\"born\":0,\"score\":7`)
	}, []string{"the statistics of score: nullCount is 7 of 1 rows"}},
	{"a count of rows is wrong", "people", false, func(c copied) {
		c.replace(c.find(commit(2), 0), `{\"numRecords\":1,\"minValues\":{\"id\":3`, `{\"numRecords\":3,\"minValues\":{\"id\":3`)
	}, []string{"the file has 1 rows, its statistics say 3"}},
	{"statistics are no JSON", "people", false, func(c copied) {
		c.replace(c.find(commit(2), 0), `{\"numRecords\":1,\"minValues\":{\"id\":3`, `{numRecords:1,\"minValues\":{\"id\":3`)
	}, []string{"its statistics are no JSON object"}},
	{"a file is added twice", "people", false, func(c copied) {
		c.edit(c.find(commit(2), 0), func(data []byte) []byte {
			at := bytes.Index(data, []byte(`{"add"`))
			return append(data, data[at:at+bytes.IndexByte(data[at:], '\n')+1]...)
		})
	}, []string{"more than once", "[DELTA_DUPLICATE_ACTIONS_FOUND]"}},
	{"a partition value is no date", "parts", false, func(c copied) { c.replace(c.find(commit(1), 0), `"d":"2024-01-02"`, `"d":"2024-01-77"`) },
		[]string{"the partition value of d"}},
	{"a partition value is missing", "parts", false, func(c copied) { c.replace(c.find(commit(1), 0), `,"d":"2024-01-02"`, ``) },
		[]string{`has partition values of ["p"]`}},
	{"row ids overlap", "tracked", false, func(c copied) {
		c.add(5, `{"add":{"path":"part-00000-05d14266-d9a4-4464-a7ad-1a448ab51112-c000.snappy.parquet","partitionValues":{},"size":1628,"modificationTime":1,"dataChange":true,`+
			`"stats":"{\"numRecords\":4}","baseRowId":12,"defaultRowCommitVersion":2}}`)
	}, []string{"overlap those of another file", "the high-water mark of row ids is 13 and row id 15 is given out"}},
	{"a feature is not listed", "tracked", false, func(c copied) {
		c.add(5, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`)
	}, []string{"the metadata use the feature rowTracking"}},
}

func TestCheckFindsDamage(t *testing.T) {
	instance := openInstance(t)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			c := copyOf(t, d.table)
			d.damage(c)
			faults := faultsOf(t, instance, c.dir, d.deep)
			if !slices.EqualFunc(faults, d.want, strings.Contains) {
				t.Errorf("got  %s\nwant %s", strings.Join(faults, "\n     "), strings.Join(d.want, "\n     "))
			}
		})
	}
}

// dirty are the tables of the corpus that break the protocol, or that this product refuses, besides those whose data files were
// left out.
var dirty = strings.Fields(`
	delta-kernel-rs/compacted-log-files-table delta-kernel-rs/crc-full delta-kernel-rs/parsed-stats delta-kernel-rs/table-with-geo
	delta-rs/err__table_b delta-rs/err__table_e delta-rs/err__table_h delta-rs/err__table_i delta-rs/simple_table_features
	delta/bench__basic_catalog_managed delta/golden__data-reader-absolute-paths-escaped-chars
	delta/golden__deltalog-state-reconstruction-from-checkpoint-missing-metadata
	delta/golden__deltalog-state-reconstruction-without-protocol delta/golden__versions-not-contiguous
	dremio/checkpoint_empty dremio/checkpoint_test dremio/emptyDataFilesNoStatsParsed dremio/malformedMetadata
	dremio/multiPartCheckpoint dremio/multibatchCheckpointWithRemove dremio/newPlanDataset`)

func TestCheckOfTheCorpus(t *testing.T) {
	root := shared(t, "corpus")
	instance := openInstance(t)
	logs, err := filepath.Glob(filepath.Join(root, "*/*", protocol.LogFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range logs {
		name, err := filepath.Rel(root, filepath.Dir(folder))
		if err != nil {
			t.Fatal(err)
		}
		faults := slices.DeleteFunc(faultsOf(t, instance, filepath.Dir(folder), true), func(f string) bool { return strings.HasSuffix(f, ": the file is missing") })
		if known := slices.Contains(dirty, filepath.ToSlash(name)); known != (len(faults) > 0) {
			t.Errorf("%s, known to be dirty %t: %s", name, known, strings.Join(faults, "\n"))
		}
	}
}
