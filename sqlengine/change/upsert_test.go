package change_test

import (
	"testing"

	"deltasql/sqlengine/expr"
)

// Behind the values of a row stand its counts: affected, found, skipped. A row that goes or stays has NULL in the column of the checks.
func TestUpsert(t *testing.T) {
	in := instance(t)
	w := made(t, [3]string{"t", "k int; n int; s string default 'd'", "(1, 10, 'a'), (2, 20, 'b'), (3, NULL, 'c'), (4, 40, 'd')"},
		[3]string{"u", "k int; n int", "(2, 7), (9, 8), (9, 9)"})
	checkChanges(t, in, w, expr.MySQL,
		"INSERT INTO t VALUES (1, 11, 'x'), (5, 50, 'y') ON DUPLICATE KEY UPDATE n = VALUES(n)", "I 5 50 y +1 +1 +0 / U f0:0 1 11 a +2 +2 +0",
		"INSERT INTO t (k, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = n + VALUES(n), s = concat(s, n)", "U f0:0 1 11 a11 +2 +2 +0",
		"INSERT INTO t (k, n) VALUES (1, 1) AS new ON DUPLICATE KEY UPDATE n = t.n + new.n", "U f0:0 1 11 a +2 +2 +0",
		"INSERT INTO t (n, k) VALUES (1, 1) AS new(m, q) ON DUPLICATE KEY UPDATE n = n + m * 100 + new.q", "U f0:0 1 111 a +2 +2 +0",
		"INSERT INTO t (k, n) VALUES (1, 10) ON DUPLICATE KEY UPDATE n = VALUES(n)", "U f0:0 1 10 a +0 +1 +0",
		"INSERT INTO t (k, n) VALUES (7, 1), (7, 2), (1, 3), (7, 4), (1, 5) ON DUPLICATE KEY UPDATE n = n + VALUES(n)", "I 7 7 d +5 +5 +0 / U f0:0 1 18 a +4 +4 +0",
		"INSERT INTO t (k, n) VALUES (NULL, 1), (NULL, 2) ON DUPLICATE KEY UPDATE n = 0", "I NULL 1 d +1 +1 +0 / I NULL 2 d +1 +1 +0",
		"INSERT INTO t (k, n) SELECT k, n FROM u ON DUPLICATE KEY UPDATE n = VALUES(n), s = DEFAULT", "I 9 9 d +3 +3 +0 / U f0:1 2 7 d +2 +2 +0",
		"INSERT INTO t (k, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = (SELECT max(n) FROM u WHERE u.k > t.k)", "U f0:0 1 9 a +2 +2 +0",
		"INSERT INTO t SET k = 3, n = 5 ON DUPLICATE KEY UPDATE n = COALESCE(n, 0) + 1", "U f1:0 3 1 c +2 +2 +0",
		"INSERT INTO t (k, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE nope = 1", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
		"INSERT INTO t (k, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = VALUES(nope)", "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION]",
		"INSERT INTO t (k, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = 'word'", "[DELTASQL_INCORRECT_VALUE]",
		"INSERT INTO t (k, n) VALUES (6, 1) ON DUPLICATE KEY UPDATE n = 'word'", "I 6 1 d +1 +1 +0",
		"REPLACE INTO t VALUES (1, 11, 'x'), (5, 50, 'y')", "I 5 50 y +1 +1 +0 / U f0:0 1 11 x +2 +2 +0",
		"REPLACE INTO t (k, n) VALUES (1, 10), (2, NULL)", "U f0:0 1 10 d +2 +2 +0 / U f0:1 2 NULL d +2 +2 +0",
		"REPLACE INTO t VALUES (1, 10, 'a')", "U f0:0 1 10 a +1 +1 +0",
		"REPLACE INTO t (k, n) VALUES (9, 1), (9, 2), (NULL, 1), (NULL, 2)", "I 9 2 d +3 +3 +0 / I NULL 1 d +1 +1 +0 / I NULL 2 d +1 +1 +0",
		"REPLACE INTO t (k, n) SELECT * FROM u", "I 9 9 d +3 +3 +0 / U f0:1 2 7 d +2 +2 +0",
		"INSERT IGNORE INTO t (k, n) VALUES (1, 1), (6, 2), (6, 3), (NULL, 4)", "I 6 2 d +1 +1 +0 / I NULL 4 d +1 +1 +0 / K NULL 1 d +0 +0 +1 / K NULL 3 d +0 +0 +1",
		"INSERT IGNORE INTO t (k, n) SELECT * FROM u", "I 9 8 d +1 +1 +0 / K NULL 7 d +0 +0 +1 / K NULL 9 d +0 +0 +1",
	)
	twice := made(t, [3]string{"t", "k int; n int", "(1, 1), (1, 2), (2, 3)"})
	checkChanges(t, in, twice, expr.MySQL,
		"REPLACE INTO t VALUES (1, 9)", "D f0:1 NULL 9 +1 +1 +0 / U f0:0 1 9 +2 +2 +0",
		"INSERT INTO t VALUES (1, 9) ON DUPLICATE KEY UPDATE n = n + 10", "U f0:0 1 11 +2 +2 +0 / U f0:1 1 12 +2 +2 +0",
		"INSERT IGNORE INTO t VALUES (1, 9)", "K NULL 9 +0 +0 +1",
	)
	computed := made(t, [3]string{"t", "k int; twice int generated k * 2; id bigint by default 1 1 mark 5; v varchar(3) not null", "(1, 2, 1, 'a')"})
	checkChanges(t, in, computed, expr.MySQL,
		"INSERT INTO t (k, v) VALUES (1, 'x'), (8, 'y') ON DUPLICATE KEY UPDATE k = k + 10, v = VALUES(v)", "I 8 16 7 y +1 +1 +0 / U f0:0 11 22 1 x +2 +2 +0",
		"INSERT INTO t (k, twice, v) VALUES (1, 2, 'x') ON DUPLICATE KEY UPDATE k = 4", "U f0:0 4 8 1 a +2 +2 +0",
		"INSERT INTO t (k, twice, v) VALUES (3, 7, 'x') ON DUPLICATE KEY UPDATE k = 4", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]",
		"INSERT INTO t (k, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = NULL", "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
		"INSERT INTO t (k, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = 'long'", "[DELTA_EXCEED_CHAR_VARCHAR_LIMIT]",
		"REPLACE INTO t (k, v) VALUES (1, 'x'), (2, 'z')", "I 2 4 7 z +1 +1 +0 / U f0:0 1 2 6 x +2 +2 +0",
		"INSERT INTO t (k) VALUES (1) ON DUPLICATE KEY UPDATE v = 'b'", "[DELTASQL_NO_DEFAULT_VALUE]",
	)
}
