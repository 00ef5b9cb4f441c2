package sqlengine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
)

// evolving is a table under random upgrades, changes of its columns, writes and downgrades, beside a model of its rows and features.
type evolving struct {
	t       *testing.T
	random  *rand.Rand
	root    string
	session *Session
	clock   *atomic.Int64 // milliseconds
	seen    map[string]bool
	log     *plainLog

	evolved
	names    int
	script   []string
	counts   map[string]int     // statements done, and refusals, by what they are
	versions map[int64]string   // what was read of a version when it was the newest
	times    map[int64]int64    // a moment behind the statement that made a version the newest and before the next, milliseconds
	short    bool               // the log is kept for a day only
	ids      map[string]rowMark // by k, while row tracking is on
	models   map[int64]evolved  // what the versions are
}

// evolved is what a version of the table is.
type evolved struct {
	columns  []string                  // in the table's order; k comes first, and g, where it is there, last
	types    map[string]string         // of each column, and of the fields of the struct o by o.name
	inner    []string                  // the fields of o, in order
	rows     map[int]map[string]string // by k, values as JSON, the fields of o by o.name; what is missing is NULL
	features map[string]bool
}

func (e evolved) copy() evolved {
	rows := map[int]map[string]string{}
	for k, row := range e.rows {
		rows[k] = maps.Clone(row)
	}
	return evolved{slices.Clone(e.columns), maps.Clone(e.types), slices.Clone(e.inner), rows, maps.Clone(e.features)}
}

// rowMark is what row tracking knows of a row.
type rowMark struct{ id, version int64 }

// allowed are the refusals that a statement of a kind may end in.
var allowed = map[string][]protocol.Class{
	"restore": {"DELTA_CANNOT_MODIFY_APPEND_ONLY", "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"},
	"write":   {"DELTA_CANNOT_MODIFY_APPEND_ONLY", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"},
	"upgrade": {"DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", "DELTA_CLUSTERING_COLUMN_MISSING_STATS"},
	"alter": {"DELTA_UNSUPPORTED_DROP_COLUMN", "DELTA_UNSUPPORTED_RENAME_COLUMN", "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA",
		"DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE", "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN", "DELTA_CONSTRAINT_ALREADY_EXISTS", "DELTA_CONSTRAINT_DOES_NOT_EXIST",
		"DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT", "DELTA_NEW_NOT_NULL_VIOLATION", "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED", "DELTA_CLUSTERING_COLUMN_MISSING_STATS"},
	"drop": {"DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "DELTASQL_FEATURE_IN_USE", "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
		"DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
		"DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"},
}

// TestEvolution takes tables through random sequences of upgrades, ALTERs, writes and DROP FEATUREs. After every statement
//
//   - the protocol has the features that the statements brought, and is the lowest that has them (P1);
//   - a reader of the log that shares no code with this product finds the same protocol, metadata, domains and live files;
//   - the rows are the model's, row ids stay with their rows, and a refused statement has changed nothing but what a drop that waits for
//     the history has done.
//
// At the end every version that the log still has reads as it did when it was the newest, an engine that begins at the newest checkpoint
// reads the same, and the deep check finds no fault. DELTASQL_EVOLUTION_SEEDS is the number of tables.
func TestEvolution(t *testing.T) {
	seeds, steps := 4, 40
	if n, err := strconv.Atoi(os.Getenv("DELTASQL_EVOLUTION_SEEDS")); err == nil {
		seeds = n
	}
	first, _ := strconv.Atoi(os.Getenv("DELTASQL_EVOLUTION_FIRST")) // a seed to begin with, to see one again
	total := map[string]int{}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			e := newEvolving(t, uint64(seed))
			for step := range steps {
				e.step()
				e.check(step%8 == 7)
				if t.Failed() {
					t.Fatalf("after\n%s", strings.Join(e.script, ";\n"))
				}
			}
			e.deep()
			for what, n := range e.counts {
				total[what] += n
			}
			if t.Failed() {
				t.Fatalf("after\n%s", strings.Join(e.script, ";\n"))
			}
		})
	}
	t.Log(total)
	if !t.Failed() {
		for _, kind := range []string{"write", "upgrade", "alter", "drop", "version"} {
			if total[kind] < seeds {
				t.Errorf("only %d of %s", total[kind], kind)
			}
		}
	}
}

func newEvolving(t *testing.T, seed uint64) *evolving {
	e := &evolving{t: t, random: rand.New(rand.NewPCG(seed, 7)), root: t.TempDir(), clock: &atomic.Int64{}, seen: map[string]bool{},
		evolved: evolved{columns: []string{"k", "n", "s", "o"}, inner: []string{"a", "b"}, types: map[string]string{"k": "BIGINT", "n": "INT", "s": "STRING", "o": "STRUCT", "o.a": "SMALLINT", "o.b": "STRING"},
			rows: map[int]map[string]string{}, features: map[string]bool{"appendOnly": true, "invariants": true}},
		counts: map[string]int{}, versions: map[int64]string{}, times: map[int64]int64{}, models: map[int64]evolved{}}
	e.clock.Store(time.Now().UnixMilli())
	e.open()
	e.log = newPlainLog(e.folder())
	more, properties := "", ""
	switch seed % 4 {
	case 1:
		more = " PARTITIONED BY (n)"
	case 2:
		e.columns, e.types["g"], e.features["generatedColumns"] = append(e.columns, "g"), "BIGINT", true
	case 3:
		properties = ", 'delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true'"
		more, e.features["columnMapping"], e.features["clustering"], e.features["domainMetadata"], e.features["deletionVectors"] = " CLUSTER BY (o.a)", true, true, true, true
	}
	generated := ""
	if e.features["generatedColumns"] {
		generated = ", g BIGINT GENERATED ALWAYS AS (k * 2)"
	}
	e.must("CREATE TABLE t (k BIGINT, n INT, s STRING, o STRUCT<a: SMALLINT, b: STRING>" + generated + ")" + more +
		" TBLPROPERTIES ('delta.checkpointInterval' = '5', 'delta.deletedFileRetentionDuration' = 'interval 30 days'" + properties + ")")
	e.check(false)
	return e
}

func (e *evolving) folder() string { return filepath.Join(e.root, "default", "t") }

func (e *evolving) open() {
	engine := openEngine(e.t, Options{Catalog: e.root, Clock: func() time.Time { return time.UnixMilli(e.clock.Load()) }})
	e.session = openSession(e.t, engine, SessionOptions{})
}

func (e *evolving) must(sql string) {
	e.t.Helper()
	if err := e.run(sql); err != nil {
		e.t.Fatalf("%s: %v\nafter\n%s", sql, err, strings.Join(e.script, "\n"))
	}
}

// run runs a statement, gives the files of the log that it has made the time of the clock, and lets a second pass.
func (e *evolving) run(sql string) error {
	_, _, err := answer(e.session, sql)
	outcome := ""
	if err != nil {
		outcome = " -- " + string(protocol.ClassOf(err))
	}
	e.script = append(e.script, sql+outcome)
	now := time.UnixMilli(e.clock.Add(1000) - 1000)
	files, globErr := filepath.Glob(filepath.Join(e.folder(), protocol.LogFolder, "*"))
	if globErr != nil {
		e.t.Fatal(globErr)
	}
	for _, file := range files {
		if !e.seen[file] {
			e.seen[file] = true
			if chErr := os.Chtimes(file, now, now); chErr != nil {
				e.t.Fatal(chErr)
			}
		}
	}
	return err
}

// try runs a statement of a kind; true is that it was done, and the features that it brings are there.
func (e *evolving) try(kind, sql string, brings ...string) bool {
	e.t.Helper()
	before := e.version()
	err := e.run(sql)
	if err == nil {
		e.counts[kind]++
		for _, feature := range brings {
			e.features[feature] = true
		}
		return true
	}
	class := protocol.ClassOf(err)
	e.counts[string(class)]++
	if !slices.Contains(allowed[kind], class) {
		e.t.Errorf("%s: %v", sql, err)
	}
	if kind != "drop" && e.version() != before {
		e.t.Errorf("%s was refused (%s) and made a version", sql, class)
	}
	return false
}

func (e *evolving) config() *protocol.TableConfig {
	e.t.Helper()
	config, _ := e.snapshot()
	return config
}

func (e *evolving) version() int64 {
	_, version := e.snapshot()
	return version
}

func (e *evolving) snapshot() (*protocol.TableConfig, int64) {
	e.t.Helper()
	table, err := e.session.engine.catalog.table(e.folder())
	if err != nil {
		e.t.Fatal(err)
	}
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		e.t.Fatalf("%v\nafter\n%s", err, strings.Join(e.script, "\n"))
	}
	return snapshot.Config(), snapshot.Version()
}

// check holds what holds after every statement.
func (e *evolving) check(fresh bool) {
	e.t.Helper()
	config := e.config()
	features := config.Protocol.Features()
	if want := slices.Sorted(maps.Keys(e.features)); !slices.Equal(features, want) {
		e.t.Errorf("the features are %v, not %v", features, want)
	}
	for _, f := range config.NeededFeatures() {
		if !config.Supports(f.Name) {
			e.t.Errorf("the metadata need %s, which the protocol %+v lacks", f.Name, config.Protocol)
		}
	}
	for key := range config.Properties() {
		if strings.HasPrefix(key, "delta.feature.") || key == "delta.minReaderVersion" || key == "delta.minWriterVersion" {
			e.t.Errorf("%s is stored", key)
		}
	}
	e.log.read(e.t)
	e.log.agrees(e.t, e.session)
	e.compare(e.session)
	e.checkRowIDs()
	e.logIsWhole()
	if fresh {
		e.anew()
		e.replay(check.Options{})
	}
}

// logIsWhole makes sure that whoever knows nothing of checkpointProtection can begin: the commits that are left have no gap, and where the
// first ones are gone there is a checkpoint of the first that is left.
func (e *evolving) logIsWhole() {
	e.t.Helper()
	entries, err := os.ReadDir(filepath.Join(e.folder(), protocol.LogFolder))
	if err != nil {
		e.t.Fatal(err)
	}
	var commits []int64
	checkpoints := map[int64]bool{}
	for _, entry := range entries {
		var version int64
		if n, _ := fmt.Sscanf(entry.Name(), "%020d.", &version); n == 0 {
			continue
		}
		switch {
		case strings.Contains(entry.Name(), ".checkpoint."):
			checkpoints[version] = true
		case strings.HasSuffix(entry.Name(), ".json"):
			commits = append(commits, version)
		}
	}
	slices.Sort(commits)
	for i, version := range commits {
		if version != commits[0]+int64(i) {
			e.t.Errorf("the commits %v have a gap", commits)
			break
		}
	}
	if commits[0] > 0 && !checkpoints[commits[0]] {
		e.t.Errorf("the log begins with version %d, and the checkpoints are %v", commits[0], checkpoints)
	}
	for version := range checkpoints {
		if version < commits[0] {
			e.t.Errorf("there is a checkpoint of %d, and the log begins with %d", version, commits[0])
		}
	}
}

// anew reads the table with an engine that has not seen it.
func (e *evolving) anew() {
	e.t.Helper()
	session := openSession(e.t, openEngine(e.t, Options{Catalog: e.root}), SessionOptions{})
	e.compare(session)
	e.log.agrees(e.t, session)
}

func (e *evolving) replay(options check.Options) {
	e.t.Helper()
	if err := e.session.Check(context.Background(), "t", options, func(f check.Fault) { e.t.Errorf("check: %s: %s", f.File, f.Message) }); err != nil {
		e.t.Errorf("check: %v", err)
	}
}

func (e *evolving) deep() {
	e.replay(check.Options{Deep: true})
	e.anew()
	newest := e.version()
	for _, version := range slices.Sorted(maps.Keys(e.versions)) {
		_, missing := os.Stat(filepath.Join(e.folder(), protocol.LogFolder, fmt.Sprintf("%020d.json", version)))
		for _, at := range []string{fmt.Sprintf("VERSION AS OF %d", version), fmt.Sprintf("TIMESTAMP AS OF timestamp_millis(%d)", e.times[version])} {
			if version == newest && strings.HasPrefix(at, "TIMESTAMP") {
				continue // no time behind the newest version is anybody's
			}
			columns, rows, err := answer(e.session, "SELECT * FROM t "+at+" ORDER BY k")
			switch {
			case err != nil && (missing != nil || e.short && protocol.ClassOf(err) == "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"):
			case err != nil:
				e.t.Errorf("version %d, %s: %v", version, at, err)
			default:
				e.counts["version"]++
				if got := columns + "\n" + strings.Join(rows, "\n"); got != e.versions[version] {
					e.t.Errorf("version %d, %s: reads\n%s\nand was\n%s", version, at, got, e.versions[version])
				}
			}
		}
	}
}

// compare compares the rows with the model's.
func (e *evolving) compare(session *Session) {
	e.t.Helper()
	columns, rows, err := answer(session, "SELECT * FROM t ORDER BY k")
	if err != nil {
		e.t.Errorf("the table cannot be read: %v", err)
		return
	}
	spelled := func(name string) string { return strings.ToLower(e.types[name]) }
	var declared []string
	for _, c := range e.columns {
		if c == "o" {
			var fields []string
			for _, f := range e.inner {
				fields = append(fields, f+":"+spelled("o."+f))
			}
			declared = append(declared, "o struct<"+strings.Join(fields, ",")+">")
			continue
		}
		declared = append(declared, c+" "+spelled(c))
	}
	names := strings.NewReplacer("long", "bigint", "integer", "int", "short", "smallint").Replace(columns)
	if names != strings.Join(declared, ", ") {
		e.t.Errorf("columns %s, want %s", names, strings.Join(declared, ", "))
	}
	var want []string
	for _, k := range slices.Sorted(maps.Keys(e.rows)) {
		want = append(want, e.rowText(k))
	}
	if !slices.Equal(rows, want) {
		e.t.Errorf("rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if session == e.session {
		version := e.version()
		if e.versions[version] == "" {
			e.times[version] = e.clock.Load() - 500
		}
		e.versions[version] = columns + "\n" + strings.Join(rows, "\n")
		e.models[version] = e.evolved.copy()
	}
}

// rowText is a row of the model as it is rendered.
func (e *evolving) rowText(k int) string {
	row := e.rows[k]
	value := func(key string) string {
		if text, ok := row[key]; ok {
			return text
		}
		return "null"
	}
	var values []string
	for _, c := range e.columns {
		switch {
		case c == "g":
			values = append(values, strconv.Itoa(2*k))
		case c == "o" && row["o"] != "":
			var fields []string
			for _, f := range e.inner {
				name, err := json.Marshal(f)
				if err != nil {
					e.t.Fatal(err)
				}
				fields = append(fields, string(name)+":"+value("o."+f))
			}
			values = append(values, "{"+strings.Join(fields, ",")+"}")
		default:
			values = append(values, value(c))
		}
	}
	return "[" + strings.Join(values, ",") + "]"
}

// checkRowIDs holds row ids and row commit versions against what they were: a row keeps its id as long as it is there, and its version
// unless the statement wrote rows.
func (e *evolving) checkRowIDs() {
	e.t.Helper()
	config := e.config()
	if on, err := config.BoolProperty("delta.enableRowTracking"); err != nil || !on {
		e.ids = nil
		return
	}
	_, rows, err := answer(e.session, "SELECT k, _metadata.row_id, _metadata.row_commit_version FROM t")
	if err != nil {
		e.t.Errorf("row ids cannot be read: %v", err)
		return
	}
	now, holder := map[string]rowMark{}, map[int64]string{}
	last := e.script[len(e.script)-1]
	wrote := !strings.HasPrefix(last, "ALTER")
	for _, row := range rows {
		var values []*int64
		if err := json.Unmarshal([]byte(row), &values); err != nil || values[1] == nil || values[2] == nil {
			e.t.Errorf("a row without an id: %s, %v", row, err)
			return
		}
		k, mark := strconv.FormatInt(*values[0], 10), rowMark{*values[1], *values[2]}
		if holder[mark.id] != "" {
			e.t.Errorf("the rows %s and %s have the id %d", k, holder[mark.id], mark.id)
		}
		now[k], holder[mark.id] = mark, k
		if was, ok := e.ids[k]; ok && (was.id != mark.id || !wrote && was.version != mark.version) {
			e.t.Errorf("the row %s was %v and is %v behind %s", k, was, mark, last)
		}
		if mark.version > e.version() {
			e.t.Errorf("the row %s is of the version %d, and the table of %d", k, mark.version, e.version())
		}
	}
	e.ids = now
}
