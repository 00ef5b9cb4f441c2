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

// evolving is a table under random upgrades, changes of its columns, writes and downgrades, beside a model of its rows.
type evolving struct {
	t       *testing.T
	random  *rand.Rand
	root    string
	session *Session
	clock   *atomic.Int64 // milliseconds
	seen    map[string]bool

	columns []string                  // in the table's order; k comes first
	types   map[string]string         // of each column
	rows    map[int]map[string]string // by k, values as JSON; a column that is missing is NULL
	names   int
	script  []string
	counts  map[string]int // statements done, and refusals, by what they are
}

// allowed are the refusals that a statement of a kind may end in.
var allowed = map[string][]protocol.Class{
	"write":   {"DELTA_CANNOT_MODIFY_APPEND_ONLY"},
	"upgrade": {"DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
	"alter": {"DELTA_UNSUPPORTED_DROP_COLUMN", "DELTA_UNSUPPORTED_RENAME_COLUMN", "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
		"DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN", "DELTA_CONSTRAINT_ALREADY_EXISTS", "DELTA_CONSTRAINT_DOES_NOT_EXIST",
		"DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT", "DELTA_NEW_NOT_NULL_VIOLATION", "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"},
	"drop": {"DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "DELTASQL_FEATURE_IN_USE", "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
		"DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
		"DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"},
}

// TestEvolution takes tables through random sequences of upgrades, ALTERs, writes and DROP FEATUREs. After every statement the protocol
// is the lowest that holds its features (P1) and holds all that the metadata need, the rows are the model's, and a refused statement
// has changed nothing but what a drop that waits for the history has done. Now and then, and at the end, an engine that knows nothing
// of the table reads the same rows and the independent replay finds no fault.
func TestEvolution(t *testing.T) {
	seeds, steps := 4, 40
	if n, err := strconv.Atoi(os.Getenv("DELTASQL_EVOLUTION_SEEDS")); err == nil {
		seeds = n
	}
	total := map[string]int{}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			e := newEvolving(t, uint64(seed))
			for step := range steps {
				e.step()
				e.check(step%8 == 7)
				if t.Failed() {
					t.Fatalf("after\n%s", strings.Join(e.script, "\n"))
				}
			}
			e.deep()
			for what, n := range e.counts {
				total[what] += n
			}
			if t.Failed() {
				t.Fatalf("after\n%s", strings.Join(e.script, "\n"))
			}
		})
	}
	t.Log(total)
	if !t.Failed() {
		for _, kind := range []string{"write", "upgrade", "alter", "drop"} {
			if total[kind] < seeds {
				t.Errorf("only %d of %s", total[kind], kind)
			}
		}
	}
}

func newEvolving(t *testing.T, seed uint64) *evolving {
	e := &evolving{t: t, random: rand.New(rand.NewPCG(seed, 7)), root: t.TempDir(), clock: &atomic.Int64{}, seen: map[string]bool{},
		columns: []string{"k", "n", "s"}, types: map[string]string{"k": "BIGINT", "n": "INT", "s": "STRING"}, rows: map[int]map[string]string{}, counts: map[string]int{}}
	e.clock.Store(time.Now().UnixMilli())
	e.open()
	e.must("CREATE TABLE t (k BIGINT, n INT, s STRING) TBLPROPERTIES ('delta.checkpointInterval' = '5')")
	return e
}

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

// run runs a statement, and gives the files of the log that it has made the time of the clock.
func (e *evolving) run(sql string) error {
	_, _, err := answer(e.session, sql)
	outcome := ""
	if err != nil {
		outcome = " -- " + string(protocol.ClassOf(err))
	}
	e.script = append(e.script, sql+";"+outcome)
	now := time.UnixMilli(e.clock.Add(1000))
	files, globErr := filepath.Glob(filepath.Join(e.root, "default", "t", protocol.LogFolder, "*"))
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

// try runs a statement of a kind; true is that it was done.
func (e *evolving) try(kind, sql string) bool {
	e.t.Helper()
	before := e.version()
	err := e.run(sql)
	if err == nil {
		e.counts[kind]++
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
	table, err := e.session.engine.catalog.table(filepath.Join(e.root, "default", "t"))
	if err != nil {
		e.t.Fatal(err)
	}
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		e.t.Fatalf("%v\nafter\n%s", err, strings.Join(e.script, "\n"))
	}
	return snapshot.Config()
}

func (e *evolving) version() int64 {
	table, err := e.session.engine.catalog.table(filepath.Join(e.root, "default", "t"))
	if err != nil {
		e.t.Fatal(err)
	}
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		e.t.Fatalf("%v\nafter\n%s", err, strings.Join(e.script, "\n"))
	}
	return snapshot.Version()
}

func (e *evolving) step() {
	switch n := e.random.IntN(100); {
	case n < 35:
		e.write()
	case n < 55:
		e.upgrade()
	case n < 75:
		e.alter()
	case n < 95:
		e.dropFeature()
	default:
		hours := 1 + e.random.IntN(48)
		e.clock.Add(int64(hours) * 3_600_000)
		e.script = append(e.script, fmt.Sprintf("-- %d hours pass", hours))
		e.open()
	}
}

func (e *evolving) value(column string) (sql, text string) {
	n := e.random.IntN(100)
	switch e.types[column] {
	case "STRING":
		return fmt.Sprintf("'v%d'", n), fmt.Sprintf(`"v%d"`, n)
	case "DATE":
		return fmt.Sprintf("DATE '2024-01-%02d'", n%28+1), fmt.Sprintf(`"2024-01-%02d"`, n%28+1)
	}
	return strconv.Itoa(n), strconv.Itoa(n)
}

func (e *evolving) write() {
	switch e.random.IntN(5) {
	case 0, 1:
		var rows []string
		added := map[int]map[string]string{}
		for range 1 + e.random.IntN(4) {
			k := 1 + e.random.IntN(60)
			if e.rows[k] != nil || added[k] != nil {
				continue
			}
			row, list := map[string]string{}, []string{}
			for _, c := range e.columns {
				sql, text := e.value(c)
				if c == "k" {
					sql, text = strconv.Itoa(k), strconv.Itoa(k)
				}
				list, row[c] = append(list, sql), text
			}
			rows, added[k] = append(rows, "("+strings.Join(list, ", ")+")"), row
		}
		if len(rows) > 0 && e.try("write", "INSERT INTO t VALUES "+strings.Join(rows, ", ")) {
			maps.Copy(e.rows, added)
		}
	case 2:
		m, r := 2+e.random.IntN(4), e.random.IntN(2)
		if e.try("write", fmt.Sprintf("DELETE FROM t WHERE k %% %d = %d", m, r)) {
			maps.DeleteFunc(e.rows, func(k int, _ map[string]string) bool { return k%m == r })
		}
	case 3:
		column := e.columns[1+e.random.IntN(len(e.columns)-1)]
		m, r := 2+e.random.IntN(4), e.random.IntN(2)
		sql, text := e.value(column)
		if e.try("write", fmt.Sprintf("UPDATE t SET %s = %s WHERE k %% %d = %d", column, sql, m, r)) {
			for k, row := range e.rows {
				if k%m == r {
					row[column] = text
				}
			}
		}
	case 4:
		column := e.columns[1+e.random.IntN(len(e.columns)-1)]
		from := 1 + e.random.IntN(50)
		sql, text := e.value(column)
		if e.try("write", fmt.Sprintf("MERGE INTO t USING (SELECT CAST(id AS BIGINT) AS k, %[2]s AS v FROM range(%[3]d, %[4]d)) u ON t.k = u.k "+
			"WHEN MATCHED AND t.k %% 7 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET %[1]s = u.v WHEN NOT MATCHED AND u.k %% 2 = 0 THEN INSERT (k, %[1]s) VALUES (u.k, u.v)", column, sql, from, from+8)) {
			for k := from; k < from+8; k++ {
				switch row := e.rows[k]; {
				case row != nil && k%7 == 0:
					delete(e.rows, k)
				case row != nil:
					row[column] = text
				case k%2 == 0:
					e.rows[k] = map[string]string{"k": strconv.Itoa(k), column: text}
				}
			}
		}
	}
}

var upgrades = []string{
	"'delta.enableDeletionVectors' = 'true'", "'delta.enableDeletionVectors' = 'true'", "'delta.enableDeletionVectors' = 'false'", "'delta.enableRowTracking' = 'true'",
	"'delta.enableRowTracking' = 'false'", "'delta.enableChangeDataFeed' = 'true'", "'delta.enableChangeDataFeed' = 'false'", "'delta.columnMapping.mode' = 'name'", "'delta.columnMapping.mode' = 'name'",
	"'delta.columnMapping.mode' = 'none'", "'delta.enableTypeWidening' = 'true'", "'delta.enableTypeWidening' = 'true'", "'delta.enableInCommitTimestamps' = 'true'", "'delta.checkpointPolicy' = 'v2'", "'delta.checkpointPolicy' = 'classic'",
	"'delta.appendOnly' = 'true'", "'delta.appendOnly' = 'false'", "'delta.appendOnly' = 'false'", "'delta.feature.vacuumProtocolCheck' = 'supported'", "'delta.feature.timestampNtz' = 'enabled'",
	"'delta.feature.identityColumns' = 'supported'", "'delta.feature.variantType' = 'supported'", "'delta.minWriterVersion' = '5'", "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '6'",
	"'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7'", "'delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 2 hours'", "'delta.feature.materializePartitionColumns' = 'supported'",
	"'delta.feature.domainMetadata' = 'supported'", "'delta.enableVariantShredding' = 'true'", "'user.key' = '1'", "'delta.dataSkippingNumIndexedCols' = '2'",
}

func (e *evolving) upgrade() {
	e.try("upgrade", "ALTER TABLE t SET TBLPROPERTIES ("+upgrades[e.random.IntN(len(upgrades))]+")")
}

func (e *evolving) alter() {
	// added are the columns that came later.
	var added []string
	for _, c := range e.columns {
		if strings.HasPrefix(c, "x") {
			added = append(added, c)
		}
	}
	if len(added) == 0 {
		added = e.columns[1:2]
	}
	column := added[e.random.IntN(len(added))]
	at := slices.Index(e.columns, column)
	switch e.random.IntN(11) {
	case 0, 1:
		if len(e.columns) > 7 {
			return
		}
		e.names++
		name, typ := fmt.Sprintf("x%d", e.names), []string{"INT", "STRING", "DATE", "SMALLINT"}[e.random.IntN(4)]
		after := e.columns[e.random.IntN(len(e.columns))]
		if e.try("alter", fmt.Sprintf("ALTER TABLE t ADD COLUMN %s %s AFTER %s", name, typ, after)) {
			e.columns = slices.Insert(e.columns, slices.Index(e.columns, after)+1, name)
			e.types[name] = typ
		}
	case 2:
		if e.try("alter", "ALTER TABLE t DROP COLUMN "+column) {
			e.columns = slices.Delete(e.columns, at, at+1)
			for _, row := range e.rows {
				delete(row, column)
			}
		}
	case 3:
		e.names++
		name := fmt.Sprintf("x%d", e.names)
		if e.try("alter", "ALTER TABLE t RENAME COLUMN "+column+" TO "+name) {
			e.columns[at], e.types[name] = name, e.types[column]
			for _, row := range e.rows {
				if v, ok := row[column]; ok {
					row[name] = v
					delete(row, column)
				}
			}
		}
	case 4, 5:
		wider := map[string]string{"SMALLINT": "INT", "INT": "BIGINT"}[e.types[column]]
		if wider != "" && e.try("alter", fmt.Sprintf("ALTER TABLE t ALTER COLUMN %s TYPE %s", column, wider)) {
			e.types[column] = wider
		}
	case 6:
		e.try("alter", "ALTER TABLE t ADD CONSTRAINT positive CHECK (k > 0)")
	case 7:
		e.try("alter", "ALTER TABLE t DROP CONSTRAINT positive")
	case 8:
		e.try("alter", "ALTER TABLE t CLUSTER BY ("+[]string{"k", "s", "k, s"}[e.random.IntN(3)]+")")
	case 9:
		e.try("alter", "ALTER TABLE t CLUSTER BY NONE")
	case 10:
		what := []string{"COMMENT 'a column'", "DROP NOT NULL", "SET DEFAULT NULL", "DROP DEFAULT", "SET NOT NULL"}[e.random.IntN(4)]
		if strings.Contains(what, "DEFAULT") && !e.config().Supports("allowColumnDefaults") && e.random.IntN(2) == 0 {
			e.try("upgrade", "ALTER TABLE t SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
		}
		e.try("alter", "ALTER TABLE t ALTER COLUMN s "+what)
	}
}

func (e *evolving) dropFeature() {
	features := e.config().Protocol.Features()
	slices.Sort(features)
	feature := features[e.random.IntN(len(features))]
	how := ""
	if e.random.IntN(3) == 0 || feature == "checkpointProtection" {
		how = " TRUNCATE HISTORY"
	}
	if e.try("drop", "ALTER TABLE t DROP FEATURE '"+feature+"'"+how) {
		if e.config().Supports(feature) {
			e.t.Errorf("%s is still there", feature)
		}
		if how != "" && feature != "checkpointProtection" && slices.Contains(e.config().Protocol.Features(), "checkpointProtection") && !slices.Contains(features, "checkpointProtection") {
			e.t.Errorf("the drop of %s with its history brought checkpointProtection", feature)
		}
	}
}

// check holds what holds after every statement.
func (e *evolving) check(fresh bool) {
	e.t.Helper()
	config := e.config()
	if p := config.Protocol; !p.Normalize().Equal(p) {
		e.t.Errorf("the protocol %+v is not the lowest: %+v", p, p.Normalize())
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
	e.compare(e.session)
	if fresh {
		e.compare(openSession(e.t, openEngine(e.t, Options{Catalog: e.root}), SessionOptions{}))
		e.replay(check.Options{})
	}
}

func (e *evolving) replay(options check.Options) {
	e.t.Helper()
	if err := e.session.Check(context.Background(), "t", options, func(f check.Fault) { e.t.Errorf("check: %s: %s", f.File, f.Message) }); err != nil {
		e.t.Errorf("check: %v", err)
	}
}

func (e *evolving) deep() {
	e.replay(check.Options{Deep: true})
	e.compare(openSession(e.t, openEngine(e.t, Options{Catalog: e.root}), SessionOptions{}))
}

// compare compares the rows with the model's.
func (e *evolving) compare(session *Session) {
	e.t.Helper()
	columns, rows, err := answer(session, "SELECT * FROM t ORDER BY k")
	if err != nil {
		e.t.Errorf("the table cannot be read: %v", err)
		return
	}
	var declared []string
	for _, c := range e.columns {
		declared = append(declared, c+" "+strings.ToLower(e.types[c]))
	}
	names := strings.NewReplacer("long", "bigint", "integer", "int", "short", "smallint").Replace(columns)
	if names != strings.Join(declared, ", ") {
		e.t.Errorf("columns %s, want %s", names, strings.Join(declared, ", "))
	}
	var want []string
	for _, k := range slices.Sorted(maps.Keys(e.rows)) {
		values := make([]json.RawMessage, len(e.columns))
		for i, c := range e.columns {
			values[i] = json.RawMessage("null")
			if text, ok := e.rows[k][c]; ok {
				values[i] = json.RawMessage(text)
			}
		}
		line, err := json.Marshal(values)
		if err != nil {
			e.t.Fatal(err)
		}
		want = append(want, string(line))
	}
	if !slices.Equal(rows, want) {
		e.t.Errorf("rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}
