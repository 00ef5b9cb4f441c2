package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// foreign is a commit of another product, as its lines in the log; the lines are made from the table as it is.
type foreign struct {
	name string
	make func(f *foreignTable) []string
}

// foreignTable is what another product sees of a table's folder.
type foreignTable struct {
	t        *testing.T
	folder   string
	version  int                 // the newest
	files    map[string]fileLine // by the partition's value
	protocol string              // the lines
	metadata map[string]any
}

type fileLine struct {
	path  string
	line  map[string]any
	plain string
}

// look reads a log without checkpoints.
func look(t *testing.T, database string) *foreignTable {
	t.Helper()
	f := &foreignTable{t: t, folder: filepath.Join(catalog, database, "t"), version: -1, files: map[string]fileLine{}}
	names, err := filepath.Glob(filepath.Join(f.folder, protocol.LogFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f.version++
		for line := range strings.Lines(string(data)) {
			var a map[string]map[string]any
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			switch {
			case a["add"] != nil:
				path := a["add"]["path"].(string)
				f.files[a["add"]["partitionValues"].(map[string]any)["p"].(string)] = fileLine{path: path, line: a["add"]}
			case a["metaData"] != nil:
				f.metadata = a["metaData"]
			}
		}
	}
	return f
}

func line(kind string, members map[string]any) string {
	text, _ := json.Marshal(map[string]any{kind: members})
	return string(text)
}

// info is a commitInfo of an append; blind is what the others say.
func info(operation string, blind bool) string {
	return line("commitInfo", map[string]any{"timestamp": 1700000000000, "operation": operation, "isBlindAppend": blind, "engineInfo": "another product"})
}

// another is an add of the same rows as a file that is there, under another name.
func (f *foreignTable) another(partition string, dataChange bool) string {
	f.t.Helper()
	old := f.files[partition]
	data, err := os.ReadFile(filepath.Join(f.folder, filepath.FromSlash(old.path)))
	if err != nil {
		f.t.Fatal(err)
	}
	name := "p=" + partition + "/foreign.parquet"
	if err := os.WriteFile(filepath.Join(f.folder, filepath.FromSlash(name)), data, 0o666); err != nil {
		f.t.Fatal(err)
	}
	add := map[string]any{}
	for key, value := range old.line {
		add[key] = value
	}
	add["path"], add["dataChange"] = name, dataChange
	return line("add", add)
}

func (f *foreignTable) gone(partition string, dataChange bool) string {
	old := f.files[partition]
	return line("remove", map[string]any{
		"path": old.path, "deletionTimestamp": 1700000000000, "dataChange": dataChange, "extendedFileMetadata": true,
		"partitionValues": old.line["partitionValues"], "size": old.line["size"],
	})
}

// commit writes the next version as any product must.
func (f *foreignTable) commit(lines []string) {
	f.t.Helper()
	name := filepath.Join(f.folder, protocol.LogFolder, fmt.Sprintf("%020d.json", f.version+1))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := file.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		f.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.t.Fatal(err)
	}
}

var foreigners = []foreign{
	{"blind append", func(f *foreignTable) []string { return []string{info("WRITE", true), f.another("a", true)} }},
	{"append that read", func(f *foreignTable) []string { return []string{info("WRITE", false), f.another("a", true)} }},
	{"append elsewhere", func(f *foreignTable) []string { return []string{info("WRITE", false), f.another("b", true)} }},
	{"delete", func(f *foreignTable) []string { return []string{info("DELETE", false), f.gone("a", true)} }},
	{"compaction", func(f *foreignTable) []string {
		return []string{info("OPTIMIZE", false), f.gone("a", false), f.another("a", false)}
	}},
	{"metadata", func(f *foreignTable) []string {
		f.metadata["description"] = "another's"
		return []string{info("SET TBLPROPERTIES", false), line("metaData", f.metadata)}
	}},
	{"vectors on", func(f *foreignTable) []string {
		f.metadata["configuration"].(map[string]any)["delta.enableDeletionVectors"] = "true"
		return []string{info("SET TBLPROPERTIES", false), line("metaData", f.metadata),
			`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["appendOnly","invariants","deletionVectors"]}}`}
	}},
	{"protocol", func(*foreignTable) []string {
		return []string{info("UPGRADE PROTOCOL", false), `{"protocol":{"minReaderVersion":1,"minWriterVersion":3}}`}
	}},
	{"unknown protocol", func(*foreignTable) []string {
		return []string{info("UPGRADE PROTOCOL", false), `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly","invariants","someFutureFeature"]}}`}
	}},
	{"append of job 7", func(f *foreignTable) []string {
		return []string{info("STREAMING UPDATE", true), `{"txn":{"appId":"job","version":7}}`, f.another("a", true)}
	}},
}

// contest is a statement that a foreign commit comes first to, with what must become of it for each of foreigners in turn: ok, or the
// class without its first word.
type contest struct {
	name, level string
	run         []string
	wants       string
}

// Letters of contest.wants: o the statement is done; a CONCURRENT_APPEND, r CONCURRENT_DELETE_READ, d CONCURRENT_DELETE_DELETE,
// m METADATA_CHANGED, p PROTOCOL_CHANGED, u UNSUPPORTED_FEATURES_FOR_WRITE, - done already and not again; a blank leaves it open which
// conflict is told.
var verdicts = map[byte]protocol.Class{
	'a': "DELTA_CONCURRENT_APPEND", 'r': "DELTA_CONCURRENT_DELETE_READ", 'd': "DELTA_CONCURRENT_DELETE_DELETE",
	'm': "DELTA_METADATA_CHANGED", 'p': "DELTA_PROTOCOL_CHANGED", 'u': "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", 't': "DELTA_CONCURRENT_TRANSACTION",
}

const (
	serializable      = "Serializable"
	writeSerializable = "WriteSerializable"
)

// What is wanted stands in the order of foreigners: blind append, append that read, append elsewhere, delete, compaction, metadata,
// vectors on, protocol, unknown protocol, append of job 7.
var contests = []contest{
	{"insert", serializable, []string{"INSERT INTO t VALUES (3, 'a')"}, "ooooomoouo"},
	{"insert select", serializable, []string{"INSERT INTO t SELECT id + 10, p FROM t"}, "aaaromooua"},
	{"insert select of a partition", serializable, []string{"INSERT INTO t SELECT id + 10, p FROM t WHERE p = 'a'"}, "aaoromooua"},
	{"insert select of another partition", serializable, []string{"INSERT INTO t SELECT id + 10, p FROM t WHERE p = 'b'"}, "ooaoomoouo"},
	{"insert select", writeSerializable, []string{"INSERT INTO t SELECT id + 10, p FROM t"}, "oaaromoouo"},
	{"insert overwrite", serializable, []string{"INSERT OVERWRITE t VALUES (9, 'a')"}, "aaardmooua"},
	{"overwrite of a partition", serializable, []string{"INSERT OVERWRITE t PARTITION (p = 'a') VALUES (9)"}, "aaordmooua"},
	{"replace where", serializable, []string{"INSERT INTO t REPLACE WHERE p = 'a' VALUES (9, 'a')"}, "aaordmooua"},
	{"add column", serializable, []string{"ALTER TABLE t ADD COLUMN more INT"}, "ooooommouo"},
	{"add constraint", serializable, []string{"ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)"}, "aaaromppua"},
	{"replace table", serializable, []string{"CREATE OR REPLACE TABLE t (id INT, p STRING) PARTITIONED BY (p)"}, "aaardmmoua"},
	{"delete", serializable, []string{"DELETE FROM t WHERE p = 'a'"}, "aaordmooua"},
	{"delete a row", serializable, []string{"DELETE FROM t WHERE p = 'b' AND id = 2"}, "ooaoomoouo"},
	{"update", serializable, []string{"UPDATE t SET id = id + 100 WHERE p = 'a'"}, "aaordmooua"},
	{"update", writeSerializable, []string{"UPDATE t SET id = id + 100 WHERE p = 'a'"}, "oaordmoouo"},
	{"job 7", serializable, []string{"SET deltasql_txn_app_id = 'job'", "SET deltasql_txn_version = 7", "INSERT INTO t VALUES (3, 'a')"}, "ooooomoou-"},
	{"job 8", serializable, []string{"SET deltasql_txn_app_id = 'job'", "SET deltasql_txn_version = 8", "INSERT INTO t VALUES (3, 'a')"}, "ooooomoouo"},
	{"transaction", serializable, []string{"BEGIN", "INSERT INTO t VALUES (3, 'a')", "INSERT INTO t SELECT id + 10, p FROM t WHERE p = 'b'", "COMMIT"}, "ooaoomoouo"},
}

// TestForeignCommitComesFirst puts a commit of another product between a statement's read and its commit. The statement is done as if
// it had come second, or fails with a conflict and leaves the table to the other; and it fails where, and only where, the rules say so.
func TestForeignCommitComesFirst(t *testing.T) {
	origin := map[string]string{}
	for _, level := range []string{serializable, writeSerializable} {
		origin[level] = newDatabase(t, "")
		must(t, origin[level], "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) TBLPROPERTIES ('delta.isolationLevel' = '"+level+"')",
			"INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'b')")
	}
	rowsOf := func(t *testing.T, database string) string {
		rows := query(t, database, "SELECT id, p FROM t")
		slices.Sort(rows)
		return strings.Join(rows, " ")
	}
	for _, c := range contests {
		t.Run(c.name+", "+c.level, func(t *testing.T) {
			for i, f := range foreigners {
				t.Run(f.name, func(t *testing.T) {
					commit := func(database string) {
						table := look(t, database)
						table.commit(f.make(table))
					}
					// later is the table where the statement comes second, and earlier where it comes first.
					later := newDatabase(t, origin[c.level])
					commit(later)
					theirs := rowsOf(t, later)

					database := newDatabase(t, origin[c.level])
					var once sync.Once
					p := &plan{before: func(op store.Operation, name string) {
						if op == store.OpPutIfAbsent && strings.HasSuffix(name, ".json") {
							once.Do(func() { commit(database) })
						}
					}}
					err := execute(p.attach(context.Background()), victim, database, c.run...)
					if protocol.ClassOf(err) == "DELTASQL_UNSUPPORTED_STATEMENT" {
						t.Skip(err)
					}
					now := rowsOf(t, database)
					class := protocol.ClassOf(err)
					want := c.wants[i]
					switch {
					case want == 'o' && err != nil:
						t.Errorf("it is no conflict, and failed: %v", err)
					case want == '-' && (err != nil || now != theirs):
						t.Errorf("it was done already: %v, %s", err, now)
					case verdicts[want] != "" && class != verdicts[want]:
						t.Errorf("got %v, want %s", err, verdicts[want])
					}
					switch {
					case err != nil && now != theirs:
						t.Errorf("it failed and left %s, not %s", now, theirs)
					case err == nil && want != '-':
						serialErr := execute(context.Background(), survivor, later, c.run...)
						serial := rowsOf(t, later)
						if now == serial {
							break
						}
						if c.level == writeSerializable {
							earlier := newDatabase(t, origin[c.level])
							must(t, earlier, c.run...)
							table := look(t, earlier)
							table.commit(f.make(look(t, origin[c.level]).in(table)))
							if now == rowsOf(t, earlier) {
								break
							}
						}
						t.Errorf("it was done and left %s; one after the other gives %s (%v)", now, serial, serialErr)
					}
					if err != nil && class == protocol.ClassInternal {
						t.Error(err)
					}
					if err == nil || long && f.name != "unknown protocol" {
						faultless(t, database)
					}
					for _, left := range unreferenced(t, database) {
						t.Errorf("the file %s was left", left)
					}
				})
			}
		})
	}
}

// in is what a product sees that read one table and commits to another that has come of it.
func (f *foreignTable) in(to *foreignTable) *foreignTable {
	f.folder, f.version = to.folder, to.version
	return f
}
