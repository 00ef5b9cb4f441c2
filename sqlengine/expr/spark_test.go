package expr_test

import (
	"testing"

	"deltasql/sqlengine/expr"
)

func TestSparkExpressions(t *testing.T) {
	in := instance(t)
	check(t, in, session(expr.Spark), sparkRows)
}

const sparkRows = `
# literals
1 ¦ int ¦ 1
2147483648 ¦ bigint ¦ 2147483648
-9223372036854775808 ¦ bigint ¦ -9223372036854775808
9223372036854775808 ¦ decimal(19,0) ¦ 9223372036854775808
1.5 ¦ decimal(2,1) ¦ 1.5
1e0 ¦ double ¦ 1.0
10L ¦ bigint ¦ 10
1Y ¦ tinyint ¦ 1
true ¦ boolean ¦ true
NULL ¦ void ¦ NULL
X'4142' ¦ binary ¦ AB
DATE '2024-2-9' ¦ date ¦ 2024-02-09
TIMESTAMP '2024-02-29T00:00:00+05:00' ¦ timestamp ¦ 2024-02-28 19:00:00+00
# arithmetic
2147483647 + 1 ¦ int ¦ [ARITHMETIC_OVERFLOW]
1 + 2 ¦ int ¦ 3
1 + 2L ¦ bigint ¦ 3
7 / 2 ¦ double ¦ 3.5
7 / 0 ¦ double ¦ [DIVIDE_BY_ZERO]
7 % 0 ¦ int ¦ [REMAINDER_BY_ZERO]
NULL / 0 ¦ double ¦ NULL
-7 % 3 ¦ int ¦ -1
-7 DIV 2 ¦ bigint ¦ -3
7 DIV 0 ¦ bigint ¦ [DIVIDE_BY_ZERO]
mod(-7, 3) ¦ int ¦ -1
pmod(-7, 3) ¦ int ¦ 2
0.1 + 0.2 = 0.3 ¦ boolean ¦ true
CAST(12.34 AS DECIMAL(5,2)) + CAST(12.34 AS DECIMAL(5,2)) ¦ decimal(6,2) ¦ 24.68
CAST(12.34 AS DECIMAL(5,2)) * CAST(12.34 AS DECIMAL(5,2)) ¦ decimal(11,4) ¦ 152.2756
CAST(12.34 AS DECIMAL(5,2)) / 3 ¦ decimal(9,6) ¦ 4.113333
CAST(-0.05 AS DECIMAL(5,2)) / 3 ¦ decimal(9,6) ¦ -0.016667
CAST(12.34 AS DECIMAL(5,2)) / CAST(7 AS INT) ¦ decimal(16,13) ¦ 1.7628571428571
CAST(12.34 AS DECIMAL(5,2)) / 0 ¦ decimal(9,6) ¦ [DIVIDE_BY_ZERO]
CAST(12.34 AS DECIMAL(5,2)) % 0.1 ¦ decimal(2,2) ¦ .04
CAST(1.0000000001 AS DECIMAL(38,10)) * CAST(1.0000000001 AS DECIMAL(38,10)) ¦ decimal(38,6) ¦ 1.000000
CAST(1 AS DECIMAL(25,2)) / CAST(3 AS BIGINT) ¦ decimal(38,15) ¦ 0.333333333333333
1 * 1.5 ¦ decimal(4,1) ¦ 1.5
1.5 + 1e0 ¦ double ¦ 2.5
'1' + 2 ¦ bigint ¦ 3
'1.5' * 2.0 ¦ double ¦ 3.0
abs(-5) ¦ int ¦ 5
-(-5) ¦ int ¦ 5
try_add(2147483647, 1) ¦ int ¦ NULL
try_divide(1, 0) ¦ double ¦ NULL
try_divide(3, 2) ¦ double ¦ 1.5
5 & 3 ¦ int ¦ 1
5 ^ 3 ¦ int ¦ 6
~1 ¦ int ¦ -2
shiftleft(1, 31) ¦ int ¦ -2147483648
shiftright(-8, 1) ¦ int ¦ -4
shiftrightunsigned(-8, 1) ¦ int ¦ 2147483644
# rounding
round(2.5) ¦ decimal(2,0) ¦ 3
round(-2.5) ¦ decimal(2,0) ¦ -3
bround(2.5, 0) ¦ decimal(2,0) ¦ 2
bround(3.5, 0) ¦ decimal(2,0) ¦ 4
round(CAST(12.34 AS DECIMAL(5,2)), 1) ¦ decimal(5,1) ¦ 12.3
floor(CAST(-0.05 AS DECIMAL(5,2))) ¦ decimal(4,0) ¦ -1
ceil(CAST(12.34 AS DECIMAL(5,2))) ¦ decimal(4,0) ¦ 13
floor(2.5D) ¦ bigint ¦ 2
round(2.567D, 1) ¦ double ¦ 2.6
round(12345, -2) ¦ int ¦ 12300
# casts
CAST(2.5 AS DECIMAL(2,0)) ¦ decimal(2,0) ¦ 3
CAST(-1.5 AS INT) ¦ int ¦ -1
CAST(1.9D AS INT) ¦ int ¦ 1
CAST('x1' AS INT) ¦ int ¦ [CAST_INVALID_INPUT]
CAST('1.5' AS INT) ¦ int ¦ [CAST_INVALID_INPUT]
CAST(' 12 ' AS INT) ¦ int ¦ 12
CAST(9223372036854775807 AS INT) ¦ int ¦ [CAST_OVERFLOW]
CAST(99.99 AS DECIMAL(3,2)) ¦ decimal(3,2) ¦ [NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION]
try_cast('x' AS INT) ¦ int ¦ NULL
try_cast('x' AS DATE) ¦ date ¦ NULL
CAST('2024-13-01' AS DATE) ¦ date ¦ [CAST_INVALID_INPUT]
CAST('2024-3' AS DATE) ¦ date ¦ 2024-03-01
CAST(concat('2024', '-3') AS DATE) ¦ date ¦ 2024-03-01
CAST(concat('2024-3-5', ' x') AS DATE) ¦ date ¦ 2024-03-05
CAST(concat('2024-03-05 ', '10:00') AS TIMESTAMP) ¦ timestamp ¦ 2024-03-05 10:00:00+00
CAST(DATE '2024-01-01' AS TIMESTAMP) ¦ timestamp ¦ 2024-01-01 00:00:00+00
CAST(1e10 AS STRING) ¦ string ¦ 1.0E10
CAST(1.5D AS STRING) ¦ string ¦ 1.5
CAST(CAST('1e-5' AS DOUBLE) AS STRING) ¦ string ¦ 1.0E-5
CAST(123456789.125D AS STRING) ¦ string ¦ 1.23456789125E8
CAST(0.001D AS STRING) ¦ string ¦ 0.001
CAST(-0.0001D AS STRING) ¦ string ¦ -1.0E-4
CAST(1e20 AS STRING) ¦ string ¦ 1.0E20
CAST(CAST('NaN' AS DOUBLE) AS STRING) ¦ string ¦ NaN
CAST(CAST('-inf' AS DOUBLE) AS STRING) ¦ string ¦ -Infinity
CAST(0.0D AS STRING) ¦ string ¦ 0.0
CAST(true AS STRING) ¦ string ¦ true
CAST(0.5 AS STRING) ¦ string ¦ 0.5
CAST(array(1, NULL) AS STRING) ¦ string ¦ [1, null]
CAST(map('a', 1) AS STRING) ¦ string ¦ {a -> 1}
CAST(named_struct('a', 1, 'b', NULL) AS STRING) ¦ string ¦ {1, null}
CAST(array('1', '2') AS ARRAY<INT>) ¦ array<int> ¦ [1, 2]
CAST(named_struct('a', 1) AS STRUCT<b: BIGINT>) ¦ struct<b:bigint> ¦ {'b': 1}
CAST(TIMESTAMP '2024-01-01 00:00:00' AS BIGINT) ¦ bigint ¦ 1704067200
CAST(1704067200 AS TIMESTAMP) ¦ timestamp ¦ 2024-01-01 00:00:00+00
'12'::INT ¦ int ¦ 12
# comparisons
1 = 1.0 ¦ boolean ¦ true
'1' = 1 ¦ boolean ¦ true
'x' = 1 ¦ boolean ¦ [CAST_INVALID_INPUT]
NULL = NULL ¦ boolean ¦ NULL
NULL <=> NULL ¦ boolean ¦ true
1 IS DISTINCT FROM NULL ¦ boolean ¦ true
CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE) ¦ boolean ¦ true
CAST('NaN' AS DOUBLE) > 1e300 ¦ boolean ¦ true
DATE '2024-01-01' < '2024-01-02' ¦ boolean ¦ true
DATE '2024-01-01' < TIMESTAMP '2024-01-01 00:00:01' ¦ boolean ¦ true
1 BETWEEN 0 AND 2 ¦ boolean ¦ true
1 NOT BETWEEN 0 AND 2 ¦ boolean ¦ false
1 IN (1, NULL) ¦ boolean ¦ true
2 IN (1, NULL) ¦ boolean ¦ NULL
2 NOT IN (1) ¦ boolean ¦ true
'100%_e' LIKE '100\\%\\_%' ¦ boolean ¦ true
'abc' LIKE 'a_c' ¦ boolean ¦ true
'abc' ILIKE 'A%' ¦ boolean ¦ true
'abc' LIKE ANY ('x%', 'a%') ¦ boolean ¦ true
'abc' RLIKE '^a' ¦ boolean ¦ true
NULL IS NULL ¦ boolean ¦ true
(NULL AND false) IS FALSE ¦ boolean ¦ true
true + 1 ¦ - ¦ [DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES]
# conditionals
CASE 1 WHEN 1 THEN 'one' ELSE 'other' END ¦ string ¦ one
CASE WHEN NULL THEN 1 ELSE 2.5 END ¦ decimal(11,1) ¦ 2.5
if(true, 1, 2L) ¦ bigint ¦ 1
coalesce(NULL, 1, 2.5) ¦ decimal(11,1) ¦ 1.0
nvl(NULL, 0) ¦ int ¦ 0
nullif(3, 3) ¦ int ¦ NULL
greatest(NULL, 2, 3) ¦ int ¦ 3
least(1, 2.5) ¦ decimal(11,1) ¦ 1.0
nvl2(NULL, 1, 2) ¦ int ¦ 2
decode(2, 1, 'a', 2, 'b') ¦ string ¦ b
# strings
length('Hello, Wörld') ¦ int ¦ 12
octet_length('Wö') ¦ int ¦ 3
upper('aé') ¦ string ¦ AÉ
substring('Hello', 1, 3) ¦ string ¦ Hel
substring('Hello', -3) ¦ string ¦ llo
substring('Hello', -10, 7) ¦ string ¦ He
substring('Hello', 0, 2) ¦ string ¦ He
left('abc', 2) ¦ string ¦ ab
right('abc', 2) ¦ string ¦ bc
trim('  x ') ¦ string ¦ x
trim(BOTH '-' FROM '--a-') ¦ string ¦ a
lpad('7', 3, '0') ¦ string ¦ 007
rpad('Hello', 3, '.') ¦ string ¦ Hel
concat('a', 1) ¦ string ¦ a1
concat('a', NULL) ¦ string ¦ NULL
concat_ws('-', 'a', NULL, 'b') ¦ string ¦ a-b
concat_ws(',', array('x', 'y'), 'z') ¦ string ¦ x,y,z
'a' || 'b' ¦ string ¦ ab
X'41' || X'42' ¦ binary ¦ AB
instr('Hello', 'l') ¦ int ¦ 3
locate('l', 'Hello', 4) ¦ int ¦ 4
position('W' IN 'xW') ¦ int ¦ 2
contains('Hello', 'llo') ¦ boolean ¦ true
replace('Hello', 'l', 'L') ¦ string ¦ HeLLo
translate('Hello', 'eo', 'EO') ¦ string ¦ HEllO
regexp_replace('Hello', '[aeiou]', '*') ¦ string ¦ H*ll*
regexp_replace('a1b2', '([a-z])([0-9])', '$2$1') ¦ string ¦ 1a2b
initcap('aB cD') ¦ string ¦ Ab Cd
split('a,b,,c', ',') ¦ array<string> ¦ [a, b, '', c]
split('a.b', '\\.') ¦ array<string> ¦ [a, b]
split('a1b2c', '[0-9]') ¦ array<string> ¦ [a, b, c]
split('a,b,c', ',', 2) ¦ array<string> ¦ [a, 'b,c']
split_part('a.b.c', '.', 2) ¦ string ¦ b
regexp_extract('k=42', '(\\w)=(\\d+)', 2) ¦ string ¦ 42
ascii('A') ¦ int ¦ 65
chr(66) ¦ string ¦ B
repeat('ab', 2) ¦ string ¦ abab
levenshtein('kitten', 'sitting') ¦ int ¦ 3
hex('A') ¦ string ¦ 41
hex(255) ¦ string ¦ FF
unhex('4142') ¦ binary ¦ AB
base64(X'00FF10') ¦ string ¦ AP8Q
unbase64('QUI=') ¦ binary ¦ AB
md5('') ¦ string ¦ d41d8cd98f00b204e9800998ecf8427e
sha2('a', 256) ¦ string ¦ ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
crc32('MySQL') ¦ bigint ¦ 3259397556
soundex('Robert') ¦ string ¦ R163
soundex('Miller') ¦ string ¦ M460
soundex('Tymczak') ¦ string ¦ T522
find_in_set('b', 'a,b,c') ¦ int ¦ 2
substring_index('a.b.c', '.', -2) ¦ string ¦ b.c
format_number(12345.678, 2) ¦ string ¦ 12,345.68
reverse('abc') ¦ string ¦ cba
# dates
year(DATE '2024-02-29') ¦ int ¦ 2024
dayofweek(DATE '2024-02-29') ¦ int ¦ 5
weekofyear(DATE '2024-02-29') ¦ int ¦ 9
hour(TIMESTAMP '2024-02-29 23:59:59.5') ¦ int ¦ 23
second(TIMESTAMP '2024-02-29 23:59:59.5') ¦ int ¦ 59
extract(SECOND FROM TIMESTAMP '2024-02-29 23:59:59.5') ¦ decimal(8,6) ¦ 59.500000
date_add(DATE '2024-02-29', 1) ¦ date ¦ 2024-03-01
date_sub(DATE '2024-02-29', 60) ¦ date ¦ 2023-12-31
add_months(DATE '2024-02-29', 12) ¦ date ¦ 2025-02-28
last_day(DATE '2024-02-05') ¦ date ¦ 2024-02-29
next_day(DATE '2024-02-29', 'MON') ¦ date ¦ 2024-03-04
next_day(DATE '2024-03-04', 'MON') ¦ date ¦ 2024-03-11
datediff(DATE '2024-03-01', DATE '2024-02-29') ¦ int ¦ 1
months_between(DATE '2024-03-31', DATE '2024-02-29') ¦ double ¦ 1.0
months_between(DATE '2024-03-31', DATE '2023-12-31') ¦ double ¦ 3.0
months_between(TIMESTAMP '1997-02-28 10:30:00', TIMESTAMP '1996-10-30 00:00:00') ¦ double ¦ 3.94959677
date_trunc('MONTH', TIMESTAMP '2024-02-29 23:59:59.5') ¦ timestamp ¦ 2024-02-01 00:00:00+00
trunc(DATE '2024-02-29', 'YEAR') ¦ date ¦ 2024-01-01
date_format(TIMESTAMP '2024-02-29 23:59:59.5', 'yyyy/MM/dd HH:mm:ss') ¦ string ¦ 2024/02/29 23:59:59
to_date('03.01.2024', 'dd.MM.yyyy') ¦ date ¦ 2024-01-03
to_timestamp('2024-01-01 01:02:03') ¦ timestamp ¦ 2024-01-01 01:02:03+00
try_to_timestamp('zz') ¦ timestamp ¦ NULL
DATE '2024-02-29' + INTERVAL 1 MONTH ¦ date ¦ 2024-03-29
TIMESTAMP '2024-02-29 23:59:59.5' - INTERVAL '1 12' DAY TO HOUR ¦ timestamp ¦ 2024-02-28 11:59:59.5+00
DATE '2024-02-29' + 1 ¦ date ¦ 2024-03-01
DATE '2024-02-29' - DATE '2024-01-01' > INTERVAL '0' DAY ¦ boolean ¦ true
DATE '2024-02-29' + INTERVAL 2 DAY ¦ date ¦ 2024-03-02
unix_timestamp(TIMESTAMP '2024-02-29 23:59:59.5') ¦ bigint ¦ 1709251199
timestamp_seconds(86400) ¦ timestamp ¦ 1970-01-02 00:00:00+00
make_date(2024, 2, 29) ¦ date ¦ 2024-02-29
timestampdiff(HOUR, TIMESTAMP '2023-12-31 00:00:00', TIMESTAMP '2024-03-01 00:00:00') ¦ bigint ¦ 1464
timestampdiff(MONTH, TIMESTAMP '2024-01-31 00:00:00', TIMESTAMP '2024-02-29 00:00:00') ¦ bigint ¦ 0
timestampdiff(MONTH, TIMESTAMP '2024-03-31 00:00:00', TIMESTAMP '2024-01-31 00:00:00') ¦ bigint ¦ -2
dateadd(WEEK, 2, DATE '2024-02-29') ¦ timestamp ¦ 2024-03-14 00:00:00+00
CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING) ¦ string ¦ INTERVAL '1-2' YEAR TO MONTH
CAST(INTERVAL '1 2:3:4.5' DAY TO SECOND AS STRING) ¦ string ¦ INTERVAL '1 02:03:04.5' DAY TO SECOND
from_unixtime(0) ¦ string ¦ 1970-01-01 00:00:00
current_date() ¦ date ¦ 2024-03-05
# collections
array(1, 2)[1] ¦ int ¦ 2
array(1, 2)[2] ¦ int ¦ [INVALID_ARRAY_INDEX]
element_at(array(1, 2), 5) ¦ int ¦ [INVALID_ARRAY_INDEX_IN_ELEMENT_AT]
element_at(array(1, 2), -1) ¦ int ¦ 2
try_element_at(array(1, 2), 5) ¦ int ¦ NULL
map('a', 1)['a'] ¦ int ¦ 1
map('a', 1)['b'] ¦ int ¦ NULL
map() ¦ map<void,void> ¦ {}
array() ¦ array<void> ¦ []
named_struct('a', 1, 'b', 'x').b ¦ string ¦ x
array(named_struct('x', 1), named_struct('x', 2)).x ¦ array<int> ¦ [1, 2]
size(array(1, 2)) ¦ int ¦ 2
size(map('a', 1)) ¦ int ¦ 1
array_contains(array(1, NULL), 2) ¦ boolean ¦ NULL
array_contains(array(1, NULL), 1) ¦ boolean ¦ true
array_distinct(array(3, 1, 3, NULL, NULL)) ¦ array<int> ¦ [3, 1, NULL]
array_union(array(1, 2), array(2, 3)) ¦ array<int> ¦ [1, 2, 3]
array_intersect(array(1, 2, NULL), array(NULL, 2)) ¦ array<int> ¦ [2, NULL]
array_except(array(1, 2), array(2)) ¦ array<int> ¦ [1]
array_join(array('a', NULL, 'b'), ',') ¦ string ¦ a,b
sort_array(array(3, NULL, 1), false) ¦ array<int> ¦ [3, 1, NULL]
slice(array(1, 2, 3, 4), 2, 2) ¦ array<int> ¦ [2, 3]
slice(array(1, 2, 3, 4), -2, 2) ¦ array<int> ¦ [3, 4]
flatten(array(array(1), array(2, 3))) ¦ array<int> ¦ [1, 2, 3]
sequence(1, 3) ¦ array<int> ¦ [1, 2, 3]
sequence(3, 1) ¦ array<int> ¦ [3, 2, 1]
sequence(DATE '2024-01-01', DATE '2024-01-03') ¦ array<date> ¦ [2024-01-01, 2024-01-02, 2024-01-03]
sequence(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 MONTH) ¦ array<date> ¦ [2024-01-01, 2024-02-01, 2024-03-01]
map_keys(map('a', 1, 'b', 2)) ¦ array<string> ¦ [a, b]
map_from_arrays(array('a'), array(1)) ¦ map<string,int> ¦ {a=1}
map_concat(map('a', 1), map('b', 2)) ¦ map<string,int> ¦ {a=1, b=2}
arrays_zip(array(1, 2), array('a')) ¦ array<struct<0:int,1:string>> ¦ [{'0': 1, '1': a}, {'0': 2, '1': NULL}]
array_insert(array(1, 2), 2, 9) ¦ array<int> ¦ [1, 9, 2]
array_position(array(3, 1), 1) ¦ bigint ¦ 2
array_remove(array(1, 2, 1), 1) ¦ array<int> ¦ [2]
array_repeat('x', 2) ¦ array<string> ¦ [x, x]
array_max(array(1, 3, NULL)) ¦ int ¦ 3
str_to_map('a:1,b:2') ¦ map<string,string> ¦ {a=1, b=2}
# lambdas
transform(array(3, NULL, 1), x -> x + 1) ¦ array<int> ¦ [4, NULL, 2]
transform(array(3, NULL, 1), (x, i) -> i) ¦ array<int> ¦ [0, 1, 2]
transform(array(1, 2), x -> transform(array(10), y -> x + y)) ¦ array<array<int>> ¦ [[11], [12]]
filter(array(3, NULL, 1), x -> x > 1) ¦ array<int> ¦ [3]
exists(array(3, NULL, 1), x -> x = 1) ¦ boolean ¦ true
exists(array(3, NULL), x -> x = 1) ¦ boolean ¦ NULL
forall(array(3, NULL, 1), x -> x > 0) ¦ boolean ¦ NULL
forall(CAST(array() AS ARRAY<INT>), x -> x > 0) ¦ boolean ¦ true
aggregate(array(3, NULL, 1), 0, (acc, x) -> acc + coalesce(x, 0), acc -> acc * 10) ¦ int ¦ 40
reduce(array(1, 2), 0, (acc, x) -> acc + x) ¦ int ¦ 3
map_filter(map('x', 1, 'y', 2), (k, v) -> v > 1) ¦ map<string,int> ¦ {y=2}
transform_values(map('x', 1, 'y', 2), (k, v) -> v * 2) ¦ map<string,int> ¦ {x=2, y=4}
transform_keys(map('x', 1), (k, v) -> upper(k)) ¦ map<string,int> ¦ {X=1}
zip_with(array(3, NULL, 1), array(1, 2), (x, y) -> coalesce(x, 0) + coalesce(y, 0)) ¦ array<int> ¦ [4, 2, 1]
map_zip_with(map('a', 1), map('a', 2, 'b', 3), (k, x, y) -> coalesce(x, 0) + y) ¦ map<string,int> ¦ {a=3, b=3}
array_sort(array(2, 3, 1), (x, y) -> CASE WHEN x < y THEN 1 WHEN x > y THEN -1 ELSE 0 END) ¦ array<int> ¦ [3, 2, 1]
array_sort(array(2, NULL, 1)) ¦ array<int> ¦ [1, 2, NULL]
# json and variant
parse_json('{"a":1,"b":{"c":[10,"x",null]}}'):b.c[0]::INT ¦ int ¦ 10
parse_json('{"a":1,"B d":true}'):['B d']::BOOLEAN ¦ boolean ¦ true
parse_json('[1.5,"s"]'):[1]::STRING ¦ string ¦ s
parse_json('{"a":"str"}'):a::INT ¦ int ¦ [INVALID_VARIANT_CAST]
parse_json('{bad') ¦ variant ¦ [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION]
try_parse_json('{bad') ¦ variant ¦ NULL
variant_get(parse_json('{"a":1}'), '$.a', 'int') ¦ int ¦ 1
try_variant_get(parse_json('{"a":"x"}'), '$.a', 'int') ¦ int ¦ NULL
to_json(parse_json('{"a":1,"b":"x"}')) ¦ string ¦ {"a":1,"b":"x"}
to_json(CAST(1.50 AS VARIANT)) ¦ string ¦ 1.5
to_json(CAST(-20.00 AS VARIANT)) ¦ string ¦ -20
to_json(CAST(1.05001 AS VARIANT)) ¦ string ¦ 1.05001
to_json(CAST(100 AS VARIANT)) ¦ string ¦ 100
CAST(CAST(1.50 AS VARIANT) AS STRING) ¦ string ¦ 1.5
CAST(parse_json('"1.50"') AS STRING) ¦ string ¦ 1.50
to_json(parse_json('{"a.10":"1.50 \\" 2.500", "b": "\\\\"}')) ¦ string ¦ {"a.10":"1.50 \" 2.500","b":"\\"}
to_json(named_struct('v', CAST(array(1.50, 2.25) AS VARIANT), 'd', CAST(1.50 AS DECIMAL(5,2)))) ¦ string ¦ {"v":[1.5,2.25],"d":1.50}
to_json(array(12345678901234567890.12, CAST(-0.05 AS DECIMAL(2,2)))) ¦ string ¦ [12345678901234567890.12,-0.05]
to_json(named_struct('a', 1, 'b', CAST(NULL AS INT), 'c', array(1, NULL))) ¦ string ¦ {"a":1,"c":[1,null]}
get_json_object('{"a":{"b":1}}', '$.a.b') ¦ string ¦ 1
from_json('{"a":1}', 'struct<a:int,b:string>') ¦ struct<a:int,b:string> ¦ {'a': 1, 'b': NULL}
'{"a":{"b":"x"}}':a.b ¦ string ¦ x
schema_of_variant(parse_json('{"B d":true,"a":1,"b":{"c":[10,"x",null]}}')) ¦ string ¦ OBJECT<` + "`B d`" + `: BOOLEAN, a: BIGINT, b: OBJECT<c: ARRAY<VARIANT>>>
typeof(array(1)) ¦ string ¦ array<int>
# aggregates
SELECT count(*) FROM range(3) ¦ bigint ¦ 3
SELECT sum(id) FROM range(4) ¦ bigint ¦ 6
SELECT sum(CAST(id AS INT)) FROM range(4) ¦ bigint ¦ 6
SELECT avg(CAST(id AS INT)) FROM range(4) ¦ double ¦ 1.5
SELECT sum(9223372036854775807) FROM range(2) ¦ bigint ¦ [ARITHMETIC_OVERFLOW]
SELECT sum(CAST(id AS DECIMAL(5,2))) FROM range(4) ¦ decimal(15,2) ¦ 6.00
SELECT avg(CAST(id AS DECIMAL(5,2))) FROM range(3) ¦ decimal(9,6) ¦ 1.000000
SELECT avg(CAST(id AS DECIMAL(5,2))) FROM range(0) ¦ decimal(9,6) ¦ NULL
SELECT count(DISTINCT id % 2) FROM range(4) ¦ bigint ¦ 2
SELECT count(DISTINCT id % 2, id % 3) FROM range(6) ¦ bigint ¦ 6
SELECT collect_list(id) FROM range(3) ¦ array<bigint> ¦ [0, 1, 2]
SELECT collect_list(id) FROM range(0) ¦ array<bigint> ¦ []
SELECT max_by(id, -id) FROM range(3) ¦ bigint ¦ 0
SELECT bool_and(id >= 0) FROM range(3) ¦ boolean ¦ true
SELECT count_if(id > 0) FROM range(3) ¦ bigint ¦ 2
SELECT percentile(id, 0.5) FROM range(4) ¦ double ¦ 1.5
SELECT percentile_approx(id, 0.5) FROM range(4) ¦ bigint ¦ 1
SELECT median(id) FROM range(4) ¦ double ¦ 1.5
SELECT stddev(id) FROM range(3) ¦ double ¦ 1.0
SELECT string_agg(id, ',') FROM range(3) ¦ string ¦ 0,1,2
SELECT listagg(id, '-') WITHIN GROUP (ORDER BY id DESC) FROM range(3) ¦ string ¦ 2-1-0
SELECT first(id) FROM range(3) ¦ bigint ¦ 0
SELECT bit_or(id) FROM range(4) ¦ bigint ¦ 3
SELECT sum(id) FILTER (WHERE id > 1) FROM range(4) ¦ bigint ¦ 5
SELECT approx_count_distinct(id) FROM range(3) ¦ bigint ¦ 3
# windows
SELECT row_number() OVER (ORDER BY id) FROM range(2) ¦ int ¦ 1 / 2
SELECT rank() OVER (ORDER BY id % 2) FROM range(3) ¦ int ¦ 1 / 1 / 3
SELECT ntile(2) OVER (ORDER BY id) FROM range(3) ¦ int ¦ 1 / 1 / 2
SELECT lag(id) OVER (ORDER BY id) FROM range(2) ¦ bigint ¦ NULL / 0
SELECT lead(id, 1, -1) OVER (ORDER BY id) FROM range(2) ¦ bigint ¦ 1 / -1
SELECT sum(id) OVER (ORDER BY id) FROM range(3) ¦ bigint ¦ 0 / 1 / 3
SELECT percent_rank() OVER (ORDER BY id) FROM range(2) ¦ double ¦ 0.0 / 1.0
SELECT first_value(id) OVER (ORDER BY id) FROM range(2) ¦ bigint ¦ 0 / 0
SELECT nth_value(id, 2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM range(2) ¦ bigint ¦ 1 / 1
# generators
SELECT col FROM explode(array(1, 2)) ¦ int ¦ 1 / 2
SELECT explode(array('p', 'q')) ¦ string ¦ p / q
SELECT explode_outer(CAST(NULL AS ARRAY<INT>)) ¦ int ¦ NULL
SELECT value FROM explode(map('k', 7)) ¦ int ¦ 7
SELECT pos FROM posexplode(array('a', 'b')) ¦ int ¦ 0 / 1
SELECT y FROM inline(array(named_struct('x', 1, 'y', 'a'), named_struct('x', 2, 'y', NULL))) ¦ string ¦ a / NULL
SELECT col1 FROM stack(2, 1, 'a', 2, 'b') ¦ string ¦ a / b
SELECT c1 FROM json_tuple('{"a":1,"b":"x"}', 'a', 'b') ¦ string ¦ x
SELECT key FROM variant_explode(parse_json('{"a":1,"b":2}')) ¦ string ¦ a / b
SELECT id FROM range(1, 6, 2) ¦ bigint ¦ 1 / 3 / 5
# errors
no_such(1) ¦ - ¦ [UNRESOLVED_ROUTINE]
upper() ¦ - ¦ [WRONG_NUM_ARGS.WITHOUT_SUGGESTION]
upper('a', 'b') ¦ - ¦ [WRONG_NUM_ARGS.WITHOUT_SUGGESTION]
named_struct('a', 1).zz ¦ - ¦ [FIELD_NOT_FOUND]
array(1) + 1 ¦ - ¦ [DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES]
parse_json('1') = parse_json('1') ¦ - ¦ [DATATYPE_MISMATCH.INVALID_ORDERING_TYPE]
`
