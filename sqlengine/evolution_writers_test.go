package sqlengine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
)

// conflicts are the classes that a statement beside others may end in; it has done nothing then, but for the steps of a drop.
var conflicts = []protocol.Class{"DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ", "DELTA_CONCURRENT_TRANSACTION",
	"DELTA_CONCURRENT_WRITE", "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
	"DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", "DELTA_UNSUPPORTED_RENAME_COLUMN", "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "DELTA_CONSTRAINT_ALREADY_EXISTS", "DELTA_CONSTRAINT_DOES_NOT_EXIST",
	"DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "DELTASQL_FEATURE_IN_USE"}

// TestEvolutionBesideWriters has two engines write rows, take rows away and change them while a third takes the table up to features and
// down again and renames a column. Every row whose statement was acknowledged is there, once and as it was last acknowledged, every row
// has an id of its own where row tracking is on, and the check finds no fault.
func TestEvolutionBesideWriters(t *testing.T) {
	rounds := 25
	if os.Getenv("DELTASQL_CRASH_TESTS") == "long" {
		rounds = 300
	}
	root := t.TempDir()
	setup := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	run(t, setup, "CREATE TABLE t (w INT, k INT, v INT, x INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true', 'delta.checkpointInterval' = '7')", "INSERT INTO t VALUES (9, 0, 0, 0)")
	var group sync.WaitGroup
	work := func(who int, s *Session, statement func(random *rand.Rand, n int) (sql string, done func())) {
		defer group.Done()
		random := rand.New(rand.NewPCG(uint64(who), 3))
		for n := range rounds {
			sql, done := statement(random, n)
			_, _, err := answer(s, sql)
			switch {
			case err == nil:
				done()
			case !slices.Contains(conflicts, protocol.ClassOf(err)):
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	rows := [2]map[int]int{{}, {}} // of each writer, v by k
	for who := range rows {
		group.Add(1)
		session := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
		go work(who, session, func(random *rand.Rand, n int) (string, func()) {
			mine, value := rows[who], random.IntN(1000)
			k := 1000 + random.IntN(n+1)
			if _, there := mine[k]; !there || random.IntN(2) == 0 {
				k = 1000 + n
				return fmt.Sprintf("INSERT INTO t (w, k, v) VALUES (%d, %d, %d)", who, k, value), func() { mine[k] = value }
			}
			switch random.IntN(3) {
			case 0:
				return fmt.Sprintf("DELETE FROM t WHERE w = %d AND k = %d", who, k), func() { delete(mine, k) }
			case 1:
				return "OPTIMIZE t", func() {}
			}
			return fmt.Sprintf("UPDATE t SET v = %d WHERE w = %d AND k = %d", value, who, k), func() { mine[k] = value }
		})
	}
	done := map[string]int{}
	group.Add(1)
	names := 0
	go work(7, openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{}), func(random *rand.Rand, _ int) (string, func()) {
		list := []string{"SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
			"SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')", "SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
			"ADD CONSTRAINT positive CHECK (k >= 0)", "DROP CONSTRAINT positive", "DROP FEATURE deletionVectors", "DROP FEATURE columnMapping", "DROP FEATURE rowTracking", "DROP FEATURE inCommitTimestamp", "DROP FEATURE v2Checkpoint", "DROP FEATURE changeDataFeed",
			fmt.Sprintf("ADD COLUMN y%d INT", names), "CLUSTER BY (k)", "CLUSTER BY NONE"}
		names++
		sql := list[random.IntN(len(list))]
		return "ALTER TABLE t " + sql, func() { done[strings.Fields(sql)[0]]++ }
	})
	group.Wait()
	for _, s := range []*Session{setup, openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})} {
		for who, mine := range rows {
			var lines []string
			for k, v := range mine {
				lines = append(lines, fmt.Sprintf("[%d,%d]", k, v))
			}
			slices.Sort(lines)
			want(t, s, fmt.Sprintf("SELECT k, v FROM t WHERE w = %d ORDER BY CAST(k AS STRING)", who), lines...)
		}
		if configOf(t, s, root, "t").Property("delta.enableRowTracking") == "true" {
			want(t, s, "SELECT count(*) - count(DISTINCT _metadata.row_id) FROM t", "[0]")
		}
		if err := s.Check(t.Context(), "t", check.Options{Deep: true}, func(f check.Fault) { t.Errorf("check: %s: %s", f.File, f.Message) }); err != nil {
			t.Error(err)
		}
	}
	t.Log(done, len(rows[0]), len(rows[1]))
}
