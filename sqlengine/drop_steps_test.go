package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
	"deltasql/txn/store"
)

// breaker is a store that goes out of order behind its n-th write of a commit or of a checkpoint, or does something before it.
type breaker struct {
	mu     sync.Mutex
	writes []string                 // names that were written, in the log
	at     int                      // the write behind which everything fails, from 1; 0 for never
	before func(n int, name string) // called before each commit is written
	broken bool
}

var errBroken = errors.New("the store is out of order")

func (b *breaker) reset(at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes, b.at, b.broken = nil, at, false
}

func (b *breaker) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		return errBroken
	}
	return nil
}

// step is a write of the log that counts: a commit, or a checkpoint.
func (b *breaker) step(name string) {
	if !strings.HasPrefix(name, protocol.LogFolder+"/") || !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".parquet") || strings.Contains(name, "_sidecars") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes = append(b.writes, filepath.Base(name))
	b.broken = b.broken || len(b.writes) == b.at
}

// breaking is a table's store behind a breaker.
type breaking struct {
	store.Store
	b *breaker
}

func (s breaking) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	if err := s.b.failure(); err != nil {
		return store.NotWritten, err
	}
	if s.b.before != nil && strings.HasSuffix(name, ".json") && strings.HasPrefix(name, protocol.LogFolder+"/") {
		s.b.mu.Lock()
		n := len(s.b.writes) + 1
		s.b.mu.Unlock()
		s.b.before(n, name)
	}
	outcome, err := s.Store.PutIfAbsent(ctx, name, data)
	if err == nil {
		s.b.step(name)
	}
	return outcome, err
}

func (s breaking) Put(ctx context.Context, name string, data []byte) error {
	if err := s.b.failure(); err != nil {
		return err
	}
	err := s.Store.Put(ctx, name, data)
	if err == nil && !strings.HasSuffix(name, "_last_checkpoint") && !strings.HasSuffix(name, ".crc") {
		s.b.step(name)
	}
	return err
}

func (s breaking) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := s.b.failure(); err != nil {
		return err
	}
	err := s.Store.PutFrom(ctx, name, write)
	if err == nil {
		s.b.step(name)
	}
	return err
}

func (s breaking) Delete(ctx context.Context, name string) error {
	if err := s.b.failure(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, name)
}

func (s breaking) Locate(ctx context.Context, name string) (string, error) {
	if err := s.b.failure(); err != nil {
		return "", err
	}
	return s.Store.Locate(ctx, name)
}

// dropCase is a table with a feature that is dropped.
type dropCase struct {
	feature string
	setup   []string
	how     string // TRUNCATE HISTORY
}

var dropCases = []dropCase{
	{feature: "deletionVectors", setup: []string{"CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')", "DELETE FROM t WHERE id = 2"}},
	{feature: "deletionVectors", how: " TRUNCATE HISTORY", setup: []string{"CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')", "DELETE FROM t WHERE id = 2"}},
	{feature: "columnMapping", setup: []string{"CREATE TABLE t (id INT, x STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true')", "INSERT INTO t VALUES (1, 'a'), (3, 'c')", "ALTER TABLE t RENAME COLUMN x TO s"}},
	{feature: "typeWidening", setup: []string{"CREATE TABLE t (id SMALLINT, s STRING) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", "INSERT INTO t VALUES (1, 'a'), (3, 'c')", "ALTER TABLE t ALTER COLUMN id TYPE INT"}},
	{feature: "rowTracking", setup: []string{"CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO t VALUES (1, 'a'), (3, 'c')"}},
	{feature: "v2Checkpoint", setup: []string{"CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '1')", "INSERT INTO t VALUES (1, 'a'), (3, 'c')"}},
	{feature: "inCommitTimestamp", setup: []string{"CREATE TABLE t (id INT, s STRING)", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO t VALUES (1, 'a'), (3, 'c')"}},
	{feature: "clustering", setup: []string{"CREATE TABLE t (id INT, s STRING) CLUSTER BY (id)", "INSERT INTO t VALUES (1, 'a'), (3, 'c')"}},
}

// droppable is an engine over a folder of one table, whose store can break and whose clock runs ahead.
type droppable struct {
	t       *testing.T
	root    string
	b       *breaker
	ahead   time.Duration
	session *Session
}

func (c dropCase) make(t *testing.T) *droppable {
	t.Helper()
	d := &droppable{t: t, root: t.TempDir(), b: &breaker{}}
	d.open()
	for _, sql := range c.setup {
		if _, _, err := answer(d.session, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	d.b.reset(0)
	return d
}

func (d *droppable) open() {
	engine := openEngine(d.t, Options{Catalog: d.root, Clock: func() time.Time { return time.Now().Add(d.ahead) }, Store: func(folder string, files store.Store) store.Store {
		if filepath.Base(folder) != "t" {
			return files
		}
		return breaking{files, d.b}
	}})
	d.session = openSession(d.t, engine, SessionOptions{})
}

// drop runs the statement until it is done, over the refusals that ask to be run again later.
func (d *droppable) drop(c dropCase) {
	d.t.Helper()
	for range 4 {
		_, _, err := answer(d.session, "ALTER TABLE t DROP FEATURE "+c.feature+c.how)
		switch refusal(err) {
		case "", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT":
			return
		case "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST":
			d.ahead += 25 * time.Hour
		default:
			d.t.Fatalf("DROP FEATURE %s: %v", c.feature, err)
		}
	}
	d.t.Fatalf("DROP FEATURE %s%s comes to no end", c.feature, c.how)
}

// ended is a table's definition and rows, without the version that checkpoints are protected below.
func (d *droppable) ended() string {
	d.t.Helper()
	table, err := d.session.engine.catalog.table(filepath.Join(d.root, "default", "t"))
	if err != nil {
		d.t.Fatal(err)
	}
	snapshot, err := table.Snapshot(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	config := snapshot.Config()
	properties := config.Properties()
	if _, ok := properties["delta.requireCheckpointProtectionBeforeVersion"]; ok {
		properties["delta.requireCheckpointProtectionBeforeVersion"] = "some"
	}
	for key := range properties { // names that are made up
		if strings.HasPrefix(key, "delta.rowTracking.materialized") {
			properties[key] = "some"
		}
	}
	features := config.Protocol.Features()
	slices.Sort(features)
	_, rows, err := answer(d.session, "SELECT * FROM t ORDER BY id")
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprintf("%d %d %v\n%v\n%s\nvectors %d\ndomains %v\nrows %v", config.Protocol.MinReaderVersion, config.Protocol.MinWriterVersion, features, properties,
		config.Schema.JSON(), snapshot.Files().NumDeletionVectors(), slices.Sorted(maps.Keys(snapshot.Domains())), rows)
}

func (d *droppable) faultless() {
	d.t.Helper()
	if err := d.session.Check(d.t.Context(), "t", check.Options{Deep: true}, func(f check.Fault) { d.t.Errorf("check: %s: %s", f.File, f.Message) }); err != nil {
		d.t.Errorf("check: %v", err)
	}
}

// everyStep is how far it is to the next step that is tried: every step of the first case, and of all where long tests are asked for.
func everyStep(number int) int {
	if number == 0 || os.Getenv("DELTASQL_CRASH_TESTS") == "long" {
		return 1
	}
	return 3
}

// TestDropFeatureResumesBehindEveryStep breaks the store behind each commit and each checkpoint of a drop. An engine that knows nothing
// of it then runs the statement again, and the table ends as it does when nothing happens; its rows are the same at every moment.
func TestDropFeatureResumesBehindEveryStep(t *testing.T) {
	for i, c := range dropCases {
		t.Run(c.feature+c.how, func(t *testing.T) {
			whole := c.make(t)
			_, rows, err := answer(whole.session, "SELECT * FROM t ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			whole.drop(c)
			want, steps := whole.ended(), slices.Clone(whole.b.writes)
			whole.faultless()
			if len(steps) < 2 {
				t.Fatalf("only the steps %q", steps)
			}
			for at := 1; at <= len(steps); at += everyStep(i) {
				d := c.make(t)
				d.b.reset(at)
				broke := false
				for range 3 {
					_, _, err := answer(d.session, "ALTER TABLE t DROP FEATURE "+c.feature+c.how)
					if class := refusal(err); class == "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD" && d.b.failure() == nil {
						d.ahead += 25 * time.Hour
						continue
					}
					broke = d.b.failure() != nil
					if !broke && err != nil {
						t.Fatalf("step %d: %v", at, err)
					}
					break
				}
				if !broke && at < len(steps) {
					t.Errorf("step %d of %q was not reached", at, steps)
				}
				d.b.reset(0)
				d.open()
				if _, now, err := answer(d.session, "SELECT * FROM t ORDER BY id"); err != nil || !slices.Equal(now, rows) {
					t.Errorf("broken behind step %d (%s): rows %v, %v", at, steps[at-1], now, err)
				}
				d.drop(c)
				if got := d.ended(); got != want {
					t.Errorf("broken behind step %d (%s):\n%s\nwant\n%s", at, steps[at-1], got, want)
				}
				d.faultless()
			}
		})
	}
}

// TestOurCleanUpKeepsWhatIsProtected: after a fast drop, checkpoints and commits below the protected version stay until all of them go at
// once, and a version from before the drop can be read until then.
func TestOurCleanUpKeepsWhatIsProtected(t *testing.T) {
	c := dropCases[0]
	c.setup = append(slices.Clone(c.setup), "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '1', 'delta.logRetentionDuration' = 'interval 2 days', 'delta.deletedFileRetentionDuration' = 'interval 2 days')")
	d := c.make(t)
	d.drop(c)
	config := d.config(t)
	protected, _, err := config.IntProperty("delta.requireCheckpointProtectionBeforeVersion")
	if err != nil || protected == 0 {
		t.Fatalf("protected below %d, %v", protected, err)
	}
	logFiles := func() (below, above []string) {
		files, err := filepath.Glob(filepath.Join(d.root, "default", "t", protocol.LogFolder, "0*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			var version int64
			if _, err := fmt.Sscanf(filepath.Base(file), "%020d", &version); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, ".crc") {
				continue
			}
			if version < protected {
				below = append(below, filepath.Base(file))
			} else {
				above = append(above, filepath.Base(file))
			}
		}
		return below, above
	}
	before, _ := logFiles()
	// Half of what is protected expires: nothing may go, for no checkpoint stands exactly where the rest would begin and older
	// readers could not prove that they read it.
	setTimes(t, d.root, func(version int64) time.Time {
		if version < protected/2 {
			return time.Now().Add(-10 * 24 * time.Hour)
		}
		return time.Now()
	})
	d.open()
	if _, _, err := answer(d.session, "INSERT INTO t VALUES (10, 'j')"); err != nil {
		t.Fatal(err)
	}
	after, _ := logFiles()
	gone := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return slices.Contains(after, name) })
	if len(gone) > 0 && len(after) > 0 && !slices.ContainsFunc(after, func(name string) bool {
		return strings.Contains(name, ".checkpoint.") && strings.HasPrefix(name, after[0][:20])
	}) {
		t.Errorf("gone %q, and what is left begins without a checkpoint: %q", gone, after)
	}
	t.Logf("of %d files %d went", len(before), len(gone))
	d.faultless()
	// All of it expires.
	d.ahead = 100 * 24 * time.Hour
	d.open()
	if _, _, err := answer(d.session, "INSERT INTO t VALUES (11, 'k')"); err != nil {
		t.Fatal(err)
	}
	below, above := logFiles()
	if len(below) > 0 || len(above) == 0 {
		t.Errorf("left below the protected version: %q", below)
	}
	want(t, d.session, "SELECT id FROM t ORDER BY id", `[1]`, `[3]`, `[10]`, `[11]`)
	d.faultless()
}

func (d *droppable) config(t *testing.T) *protocol.TableConfig {
	t.Helper()
	table, err := d.session.engine.catalog.table(filepath.Join(d.root, "default", "t"))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Config()
}

// setTimes gives the files of a table's log times by their version.
func setTimes(t *testing.T, root string, at func(version int64) time.Time) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "default", "t", protocol.LogFolder, "0*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var version int64
		if _, err := fmt.Sscanf(filepath.Base(file), "%020d", &version); err != nil {
			t.Fatal(err)
		}
		if err := chtimes(file, at(version)); err != nil {
			t.Fatal(err)
		}
	}
}

func chtimes(file string, at time.Time) error { return os.Chtimes(file, at, at) }

// refusal is the class of an error, "" of none.
func refusal(err error) protocol.Class {
	if err == nil {
		return ""
	}
	return protocol.ClassOf(err)
}
