package change_test

import (
	"testing"

	"deltasql/sqlengine/expr"
)

func TestSubqueriesInConditions(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "k int; v int", "(1, 10), (2, 20), (3, 30)"}, [3]string{"s", "k int; v int", "(1, 5), (2, 6), (9, 7)"}, [3]string{"u", "k int", "(1), (9)"})
	checkChanges(t, in, w, expr.Spark,
		"MERGE INTO t USING s ON t.k = s.k AND t.k = (SELECT min(k) FROM u) WHEN MATCHED THEN UPDATE SET v = s.v", "U f0:0 1 5",
		"MERGE INTO t USING s ON t.k = s.k AND s.k IN (SELECT k FROM u) WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *", "I 2 6 / I 9 7 / U f0:0 1 5",
		"MERGE INTO t USING s ON t.k = s.k AND t.k < (SELECT max(k) FROM u) WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0",
		"D f0:0 NULL NULL / D f0:1 NULL NULL / I 9 7 / U f1:0 3 0",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND EXISTS (SELECT 1 FROM u WHERE u.k = t.k) THEN DELETE WHEN NOT MATCHED AND s.v > (SELECT min(k) FROM u) THEN INSERT *", "D f0:0 NULL NULL / I 9 7 / K f0:1 NULL NULL",
		"MERGE INTO t USING s ON t.k = s.k AND EXISTS (SELECT 1 FROM u WHERE u.k = s.k) WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *", "D f0:0 NULL NULL / I 2 6 / I 9 7",
		"MERGE INTO t USING s ON t.k = s.k AND EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.k < s.v) WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *", "D f0:0 NULL NULL / I 2 6 / I 9 7",
		"INSERT INTO t AS a REPLACE ON a.k = b.k AND a.k IN (SELECT k FROM u) (SELECT * FROM s) AS b", "D f0:0 NULL NULL",
		"MERGE INTO t USING s ON t.k = s.k AND rand() < 2 WHEN MATCHED THEN DELETE", "[INVALID_NON_DETERMINISTIC_EXPRESSIONS]",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v > (SELECT rand()) THEN DELETE", "[INVALID_NON_DETERMINISTIC_EXPRESSIONS]",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = (SELECT max(u.k) FROM u WHERE u.k >= t.k)", "U f0:0 1 9 / U f0:1 2 9",
	)
}
