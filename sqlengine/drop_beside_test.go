package sqlengine

import (
	"os"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// TestDropFeatureBesideAnotherWriter has another engine commit just before each commit of a drop. The drop is done, over what the other
// wrote, or fails with a class that says so and is done when run again; what the other wrote is there.
func TestDropFeatureBesideAnotherWriter(t *testing.T) {
	may := []protocol.Class{"", "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ",
		"DELTA_CONCURRENT_APPEND", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"}
	c := dropCases[0]
	for name, other := range map[string][]string{
		"insert":         {"INSERT INTO t VALUES (9, 'z')"},
		"delete":         {"DELETE FROM t WHERE id = 3"},
		"vectors again":  {"ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "DELETE FROM t WHERE id = 3"},
		"property":       {"ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')"},
		"the same drop":  {"ALTER TABLE t DROP FEATURE deletionVectors"},
		"another drop":   {"ALTER TABLE t DROP FEATURE appendOnly"},
		"a checkpoint":   {"ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '1')", "INSERT INTO t VALUES (9, 'z')"},
		"a log clean-up": {"ALTER TABLE t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 0 hours', 'delta.deletedFileRetentionDuration' = 'interval 0 hours', 'delta.checkpointInterval' = '1')", "INSERT INTO t VALUES (9, 'z')"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[protocol.Class]int{}
			for at := 1; ; at += everyStep(1) {
				d := c.make(t)
				writer := openSession(t, openEngine(t, Options{Catalog: d.root}), SessionOptions{})
				done := false
				commits := 0
				d.b.before = func(int, string) {
					if commits++; commits != at || done {
						return
					}
					done = true
					for _, sql := range other {
						if _, _, err := answer(writer, sql); err != nil && !slices.Contains(may, refusal(err)) {
							t.Errorf("commit %d: %s: %v", at, sql, err)
						}
					}
				}
				_, _, err := answer(d.session, "ALTER TABLE t DROP FEATURE "+c.feature)
				class := refusal(err)
				seen[class]++
				if !slices.Contains(may, class) {
					t.Errorf("before commit %d: %v", at, err)
				}
				d.b.before = nil
				if err == nil && strings.Contains(d.ended(), c.feature) {
					t.Errorf("before commit %d: done, and the feature is there: %s", at, d.ended())
				}
				d.drop(c)
				if end := d.ended(); strings.Contains(end, "deletionVectors") || !strings.Contains(end, "vectors 0") {
					t.Errorf("before commit %d: it ends as %s", at, end)
				}
				rows := []string{`[1,"a"]`, `[3,"c"]`}
				if done && (name == "insert" || name == "a checkpoint" || name == "a log clean-up") {
					rows = append(rows, `[9,"z"]`)
				}
				if done && (name == "delete" || name == "vectors again") {
					rows = rows[:1]
				}
				want(t, d.session, "SELECT * FROM t ORDER BY id", rows...)
				d.faultless()
				if !done {
					break // the drop has fewer commits
				}
			}
			t.Log(seen)
			if seen[""] == 0 {
				t.Error("the drop was never done at once")
			}
		})
	}
}

// TestOtherDropsBesideAnotherWriter does so with features whose drops write files anew or change every file's action: what the other wrote
// is there, as itself, and the table ends without the feature.
func TestOtherDropsBesideAnotherWriter(t *testing.T) {
	may := []protocol.Class{"", "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ",
		"DELTA_CONCURRENT_APPEND", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"}
	others := []struct {
		name string
		sql  []string
		rows []string
	}{
		{"insert", []string{"INSERT INTO t VALUES (9, 'z')"}, []string{`[1,"a"]`, `[3,"c"]`, `[9,"z"]`}},
		{"update", []string{"UPDATE t SET s = 'y' WHERE id = 1", "INSERT INTO t VALUES (9, 'z')"}, []string{`[1,"y"]`, `[3,"c"]`, `[9,"z"]`}},
		{"delete", []string{"DELETE FROM t WHERE id = 3"}, []string{`[1,"a"]`}},
		{"optimize", []string{"INSERT INTO t VALUES (9, 'z')", "OPTIMIZE t"}, []string{`[1,"a"]`, `[3,"c"]`, `[9,"z"]`}},
		{"add column", []string{"ALTER TABLE t ADD COLUMN more INT"}, []string{`[1,"a",null]`, `[3,"c",null]`}},
	}
	for i, c := range dropCases {
		if i < 2 {
			continue // above
		}
		for j, other := range others {
			t.Run(c.feature+" "+other.name, func(t *testing.T) {
				first, last := 1, 100
				if os.Getenv("DELTASQL_CRASH_TESTS") != "long" {
					if (i+j)%2 > 0 {
						t.Skip("a long test")
					}
					first = 1 + (i+j)/2%3
					last = first
				}
				for at := first; at <= last; at++ {
					d := c.make(t)
					writer := openSession(t, openEngine(t, Options{Catalog: d.root}), SessionOptions{})
					done, commits := false, 0
					d.b.before = func(int, string) {
						if commits++; commits != at || done {
							return
						}
						done = true
						for _, sql := range other.sql {
							if _, _, err := answer(writer, sql); err != nil {
								t.Errorf("commit %d: %s: %v", at, sql, err)
							}
						}
					}
					_, _, err := answer(d.session, "ALTER TABLE t DROP FEATURE "+c.feature)
					if class := refusal(err); !slices.Contains(may, class) {
						t.Errorf("before commit %d: %v", at, err)
					} else if err == nil && slices.Contains(d.config(t).Protocol.Features(), c.feature) {
						t.Errorf("before commit %d: done, and the feature is there", at)
					}
					d.b.before = nil
					d.drop(c)
					if slices.Contains(d.config(t).Protocol.Features(), c.feature) {
						t.Errorf("before commit %d: it ends with the feature", at)
					}
					if !done {
						break // the drop has fewer commits
					}
					want(t, d.session, "SELECT * FROM t ORDER BY id", other.rows...)
					d.faultless()
				}
			})
		}
	}
}

// TestTwoDropsAtOnce: two engines drop the same feature, or two features, at the same time.
func TestTwoDropsAtOnce(t *testing.T) {
	c := dropCase{feature: "deletionVectors", setup: append(slices.Clone(dropCases[0].setup), "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")}
	for _, features := range [][2]string{{"deletionVectors", "deletionVectors"}, {"deletionVectors", "columnMapping"}} {
		d := c.make(t)
		errs := make(chan error, 2)
		for _, feature := range features {
			session := openSession(t, openEngine(t, Options{Catalog: d.root}), SessionOptions{})
			go func() {
				_, _, err := answer(session, "ALTER TABLE t DROP FEATURE "+feature)
				errs <- err
			}()
		}
		for range features {
			if err := <-errs; err != nil {
				switch class := refusal(err); class {
				case "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED",
					"DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ", "DELTA_CONCURRENT_APPEND":
					t.Log(class)
				default:
					t.Errorf("%v: %v", features, err)
				}
			}
		}
		for _, feature := range features {
			d.drop(dropCase{feature: feature})
			if d.session.engine != nil && strings.Contains(strings.SplitN(d.ended(), "\n", 2)[0], feature) {
				t.Errorf("%v: %s is still there: %s", features, feature, d.ended())
			}
		}
		want(t, d.session, "SELECT * FROM t ORDER BY id", `[1,"a"]`, `[3,"c"]`)
		d.faultless()
	}
}
