package expr_test

import (
	"testing"

	"deltasql/sqlengine/expr"
)

func TestSessionZone(t *testing.T) {
	in := instance(t)
	paris := session(expr.Spark)
	paris.TimeZone = "Europe/Paris"
	check(t, in, paris, `
TIMESTAMP '2024-07-01 00:00:00' ¦ timestamp ¦ 2024-06-30 22:00:00+00
CAST(TIMESTAMP '2024-07-01 00:00:00' AS STRING) ¦ string ¦ 2024-07-01 00:00:00
hour(TIMESTAMP '2024-07-01 00:00:00') ¦ int ¦ 0
CAST(TIMESTAMP '2024-07-01 00:00:00' AS DATE) ¦ date ¦ 2024-07-01
CAST(DATE '2024-07-01' AS TIMESTAMP) ¦ timestamp ¦ 2024-06-30 22:00:00+00
CAST(concat('2024-07-01 00:00', ':00') AS TIMESTAMP) ¦ timestamp ¦ 2024-06-30 22:00:00+00
CAST(concat('2024-07-01 00:00:00', 'Z') AS TIMESTAMP) ¦ timestamp ¦ 2024-07-01 00:00:00+00
CAST(concat('2024-07-01 00:00:00', '+05:00') AS TIMESTAMP) ¦ timestamp ¦ 2024-06-30 19:00:00+00
TIMESTAMP '2024-03-30 12:00:00' + INTERVAL 1 MONTH ¦ timestamp ¦ 2024-04-30 10:00:00+00
date_trunc('DAY', TIMESTAMP '2024-07-01 10:00:00') ¦ timestamp ¦ 2024-06-30 22:00:00+00
CAST(TIMESTAMP '2024-03-31 02:30:00' AS STRING) ¦ string ¦ 2024-03-31 03:30:00
date_format(TIMESTAMP '2024-07-01 00:00:00', 'HH:mm') ¦ string ¦ 00:00
unix_timestamp(TIMESTAMP '1970-01-01 01:00:00') ¦ bigint ¦ 0
from_unixtime(0) ¦ string ¦ 1970-01-01 01:00:00
to_timestamp('01.07.2024', 'dd.MM.yyyy') ¦ timestamp ¦ 2024-06-30 22:00:00+00
from_utc_timestamp(TIMESTAMP '2024-07-01 00:00:00', 'Asia/Tokyo') ¦ timestamp ¦ 2024-07-01 07:00:00+00
TIMESTAMP_NTZ '2024-07-01 00:00:00' = TIMESTAMP '2024-07-01 00:00:00' ¦ boolean ¦ true
current_date() ¦ date ¦ 2024-03-05
`)
	offset := session(expr.Spark)
	offset.TimeZone = "+05:30"
	check(t, in, offset, `
TIMESTAMP '2024-07-01 00:00:00' ¦ timestamp ¦ 2024-06-30 18:30:00+00
hour(TIMESTAMP '2024-07-01 01:00:00') ¦ int ¦ 1
CAST(TIMESTAMP '2024-07-01 00:00:00' AS STRING) ¦ string ¦ 2024-07-01 00:00:00
`)
}
