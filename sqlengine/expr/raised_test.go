package expr_test

import (
	"testing"

	"deltasql/sqlengine/expr"
)

// TestRaisedErrors holds raise_error and assert_true to failing wherever their value, which has no type of its own, is cast.
func TestRaisedErrors(t *testing.T) {
	in := instance(t)
	check(t, in, session(expr.Spark), raisedRows)
	check(t, in, session(expr.MySQL), raisedMySQLRows)
}

const raisedRows = `
raise_error('a') ¦ void ¦ [USER_RAISED_EXCEPTION]
raise_error(NULL) ¦ void ¦ [USER_RAISED_EXCEPTION]
if(true, raise_error('b'), 1) ¦ int ¦ [USER_RAISED_EXCEPTION]
if(false, raise_error('b'), 1) ¦ int ¦ 1
if(true, raise_error('b'), DATE '2024-01-01') ¦ date ¦ [USER_RAISED_EXCEPTION]
if(false, raise_error('b'), DATE '2024-01-01') ¦ date ¦ 2024-01-01
CASE WHEN true THEN raise_error('c') ELSE 'x' END ¦ string ¦ [USER_RAISED_EXCEPTION]
CASE WHEN false THEN raise_error('c') ELSE 'x' END ¦ string ¦ x
coalesce(NULL, raise_error('d'), 1) ¦ int ¦ [USER_RAISED_EXCEPTION]
coalesce(1, raise_error('d')) ¦ int ¦ 1
CAST(raise_error('f') AS INT) ¦ int ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS DATE) ¦ date ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS TIMESTAMP) ¦ timestamp ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS BINARY) ¦ binary ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS VARIANT) ¦ variant ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS ARRAY<INT>) ¦ array<int> ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS MAP<STRING, INT>) ¦ map<string,int> ¦ [USER_RAISED_EXCEPTION]
CAST(raise_error('f') AS STRUCT<a: INT>) ¦ struct<a:int> ¦ [USER_RAISED_EXCEPTION]
CAST(array(raise_error('f')) AS ARRAY<DATE>) ¦ array<date> ¦ [USER_RAISED_EXCEPTION]
CAST(array(NULL) AS ARRAY<DATE>) ¦ array<date> ¦ [NULL]
CAST(named_struct('a', NULL) AS STRUCT<a: DATE>) ¦ struct<a:date> ¦ {'a': NULL}
SELECT 1 UNION ALL SELECT raise_error('g') ¦ int ¦ [USER_RAISED_EXCEPTION]
SELECT * FROM (VALUES (1), (raise_error('g'))) ¦ int ¦ [USER_RAISED_EXCEPTION]
SELECT 1 WHERE raise_error('h') ¦ - ¦ [USER_RAISED_EXCEPTION]
SELECT 1 WHERE raise_error('h') OR false ¦ - ¦ [USER_RAISED_EXCEPTION]
SELECT c + 1 FROM (SELECT raise_error('i') AS c) ¦ int ¦ [USER_RAISED_EXCEPTION]
SELECT date_add(c, 1) FROM (SELECT NULL AS c) ¦ date ¦ NULL
NOT raise_error('k') ¦ boolean ¦ [USER_RAISED_EXCEPTION]
-raise_error('k') ¦ int ¦ [USER_RAISED_EXCEPTION]
raise_error('k') + 1 ¦ int ¦ [USER_RAISED_EXCEPTION]
1 / raise_error('k') ¦ double ¦ [USER_RAISED_EXCEPTION]
raise_error('k') + raise_error('l') ¦ int ¦ [USER_RAISED_EXCEPTION]
5 & raise_error('k') ¦ int ¦ [USER_RAISED_EXCEPTION]
5L & NULL ¦ bigint ¦ NULL
1 = raise_error('k') ¦ boolean ¦ [USER_RAISED_EXCEPTION]
raise_error('k') IS NULL ¦ boolean ¦ [USER_RAISED_EXCEPTION]
1 IN (2, raise_error('k')) ¦ boolean ¦ [USER_RAISED_EXCEPTION]
abs(raise_error('k')) ¦ double ¦ [USER_RAISED_EXCEPTION]
upper(raise_error('k')) ¦ string ¦ [USER_RAISED_EXCEPTION]
array_max(raise_error('k')) ¦ void ¦ [USER_RAISED_EXCEPTION]
map_keys(raise_error('k')) ¦ array<string> ¦ [USER_RAISED_EXCEPTION]
min(raise_error('k')) ¦ void ¦ [USER_RAISED_EXCEPTION]
SELECT max(NULL) FROM (VALUES (1), (2)) ¦ void ¦ NULL
sum(raise_error('k')) ¦ double ¦ [USER_RAISED_EXCEPTION]
concat('a', raise_error('k')) ¦ string ¦ [USER_RAISED_EXCEPTION]
assert_true(true) ¦ void ¦ NULL
assert_true(false) ¦ void ¦ [USER_RAISED_EXCEPTION]
assert_true(NULL) ¦ void ¦ [USER_RAISED_EXCEPTION]
assert_true(false, 'of mine') ¦ void ¦ [USER_RAISED_EXCEPTION]
coalesce(assert_true(1 > 2), 1) ¦ int ¦ [USER_RAISED_EXCEPTION]
coalesce(assert_true(1 < 2), 1) ¦ int ¦ 1
SELECT 1 WHERE assert_true(false) ¦ - ¦ [USER_RAISED_EXCEPTION]
CAST(assert_true(false) AS STRING) ¦ string ¦ [USER_RAISED_EXCEPTION]
`

const raisedMySQLRows = `
if(true, raise_error('b'), 1) ¦ int ¦ [USER_RAISED_EXCEPTION]
raise_error('k') + 1 ¦ double ¦ [USER_RAISED_EXCEPTION]
raise_error('k') + INTERVAL 1 DAY ¦ - ¦ [USER_RAISED_EXCEPTION]
json_array(raise_error('k')) ¦ string ¦ [USER_RAISED_EXCEPTION]
json_array(NULL, 1) ¦ string ¦ [null,1]
1 | raise_error('k') ¦ - ¦ [USER_RAISED_EXCEPTION]
concat('a', raise_error('k')) ¦ string ¦ [USER_RAISED_EXCEPTION]
SELECT 1 WHERE raise_error('h') ¦ - ¦ [USER_RAISED_EXCEPTION]
`
