package fieldbugs_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestST01TimestampMaximumIsCutToMilliseconds(t *testing.T) {
	for typ, c := range map[string]struct{ sql, feature, bound, literal string }{
		"timestamp":     {"TIMESTAMPTZ '2024-01-01 00:00:00.123456+00'", "deletionVectors", `"2024-01-01T00:00:00.123Z"`, "TIMESTAMP"},
		"timestamp_ntz": {"TIMESTAMP '2024-01-01 00:00:00.123456'", "timestampNtz", `"2024-01-01T00:00:00.123"`, "TIMESTAMP_NTZ"},
	} {
		t.Run(typ, func(t *testing.T) {
			tb := newTable(t, shape{features: c.feature, fields: []string{"id long", "ts " + typ}})
			tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, "+c.sql+" AS ts")
			tb.commit(1, tb.add("a.parquet", bounds(1, "ts", c.bound, c.bound, 0)))
			at := func(op, text string) string {
				return "ts " + op + " " + c.literal + " '2024-01-01 00:00:00" + text + "'"
			}
			tb.wantIDs(at(">", ".1234"), 1)
			tb.wantIDs(at("=", ".123456"), 1)
			tb.wantIDs(at(">=", ".123999"))
			tb.wantIDs(at(">", ".124"))
			tb.wantIDs(at(">=", ".123456"), 1)
			tb.wantIDs(at("<=", ".123456"), 1)
			tb.wantIDs(at("<", ".123456"))
			tb.wantIDs("NOT ("+at("<=", ".1234")+")", 1)
			tb.wantIDs("ts IN ("+c.literal+" '2024-01-01 00:00:00.123456')", 1)
			tb.wantFiles("SELECT id FROM $t WHERE "+at(">", ".1234"), 1)
			tb.wantFiles("SELECT id FROM $t WHERE "+at(">", ".124"), 0)
			tb.want("SELECT min(ts) = max(ts), max(ts) > "+c.literal+" '2024-01-01 00:00:00.1234' FROM $t", "true,true")
		})
	}
}

func TestST03ZoneOffsetWithSecondsIsLost(t *testing.T) {
	for _, c := range []struct{ at, bound string }{
		{"1850-01-01 00:07:33", "1850-01-01T01:01:01.000+00:53"},
		{"1850-01-01 00:07:33", "1850-01-01T00:00:01.000-00:07"},
		{"1890-06-01 12:00:59.123456", "1890-06-01T12:09:21.123+00:08"},
	} {
		tb := newTable(t, columns("id long", "ts timestamp"))
		tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, TIMESTAMPTZ '"+c.at+"+00' AS ts")
		tb.commit(1, tb.add("a.parquet", bounds(1, "ts", `"`+c.bound+`"`, `"`+c.bound+`"`, 0)))
		tb.wantIDs("ts = TIMESTAMP '"+c.at+"Z'", 1)
		tb.wantIDs("ts >= TIMESTAMP '"+c.at+"Z' AND ts <= TIMESTAMP '"+c.at+"Z'", 1)
		tb.wantFiles("SELECT id FROM $t WHERE ts > TIMESTAMP '1950-01-01 00:00:00Z'", 0)
	}
}

func TestST05CutStringMaximumSmallerThanTheString(t *testing.T) {
	prefix := strings.Repeat("a", 32)
	for name, max := range map[string]string{"tie-breaker below the value": prefix + "\uFFFD", "the prefix alone": prefix, "above it": prefix + "\U0010FFFD"} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, columns("id long", "s string"))
			value := prefix + "\U0001F33C"
			tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, '"+value+"' AS s")
			tb.commit(1, tb.add("a.parquet", bounds(1, "s", asJSON(prefix), asJSON(max), 0)))
			if name != "the prefix alone" { // a bound below the value that does not show it is simply wrong
				tb.wantIDs("s = '"+value+"'", 1)
				tb.wantIDs("s >= '"+prefix+"\U00010000'", 1)
				tb.wantIDs("s LIKE '"+prefix+"\U0001F33C%'", 1)
				tb.wantIDs("s IN ('x', '"+value+"')", 1)
			}
			tb.want("SELECT min(s), max(s) FROM $t", asJSON(value)+","+asJSON(value))
			tb.wantFiles("SELECT id FROM $t WHERE s < 'a'", 0)
		})
	}
}

func TestST07DecimalStatisticsThroughAFloat(t *testing.T) {
	for _, c := range []struct{ typ, low, high string }{
		{"decimal(18,0)", "-999999999999999999", "999999999999999999"},
		{"decimal(38,6)", "-99999999999999999999999999999999.999999", "99999999999999999999999999999999.999999"},
		{"decimal(10,2)", "0.10", "0.10"},
		{"decimal(38,0)", "-1", "12345678901234567890123456789012345678"},
	} {
		for name, text := range map[string]func(decimal string) string{
			"all digits": func(d string) string { return d },
			"text":       func(d string) string { return `"` + d + `"` },
			"float": func(d string) string {
				var f float64
				fmt.Sscan(d, &f)
				return fmt.Sprintf("%g", f)
			},
		} {
			t.Run(c.typ+" "+name, func(t *testing.T) {
				tb := newTable(t, columns("id long", "d "+c.typ))
				tb.parquet("a.parquet", fmt.Sprintf("SELECT 1::BIGINT AS id, '%s'::%s AS d UNION ALL SELECT 2, '%s'::%[2]s", c.low, c.typ, c.high))
				tb.commit(1, tb.add("a.parquet", bounds(2, "d", text(c.low), text(c.high), 0)))
				both := []int{1, 2}
				if c.low != c.high {
					both = []int{2}
				}
				tb.wantIDs("d = "+c.high, both...)
				tb.wantIDs("d >= "+c.high, both...)
				tb.wantIDs("d <= "+c.low, map[bool][]int{true: {1, 2}, false: {1}}[c.low == c.high]...)
				tb.wantIDs("d = CAST('"+c.low+"' AS "+c.typ+")", map[bool][]int{true: {1, 2}, false: {1}}[c.low == c.high]...)
				tb.want("SELECT min(d), max(d) FROM $t", `"`+c.low+`","`+c.high+`"`)
			})
		}
	}
}

func TestST08NaNAndInfinity(t *testing.T) {
	for _, typ := range []string{"double", "float"} {
		t.Run(typ, func(t *testing.T) {
			tb := newTable(t, columns("id long", "x "+typ))
			file := func(name string, first int, values string) {
				tb.parquet(name, fmt.Sprintf("SELECT %d + row_number() OVER () - 1 AS id, x::%s AS x FROM (SELECT unnest([%s]) AS x)", first, typ, values))
			}
			file("a.parquet", 1, "'1.0', 'NaN'")
			file("b.parquet", 3, "'-Infinity', 'Infinity', '-0.0'")
			file("c.parquet", 6, "'NaN', 'NaN'")
			// Bounds as writers that leave NaN out make them; infinities as texts; none at all.
			tb.commit(1, tb.add("a.parquet", bounds(2, "x", "1.0", "1.0", 0)), tb.add("b.parquet", bounds(3, "x", `"-Infinity"`, `"Infinity"`, 0)),
				tb.add("c.parquet", records(2)))
			tb.wantIDs("x > 100", 2, 4, 6, 7)
			tb.wantIDs("x = CAST('NaN' AS DOUBLE)", 2, 6, 7)
			tb.wantIDs("x = 0.0", 5)
			tb.wantIDs("x < -1e30", 3)
			tb.wantIDs("x >= 1", 1, 2, 4, 6, 7)
			tb.wantIDs("NOT (x <= 100)", 2, 4, 6, 7)
			tb.wantIDs("x <> 1", 2, 3, 4, 5, 6, 7)
			tb.wantIDs("x IN (0, CAST('NaN' AS DOUBLE))", 2, 5, 6, 7)
			tb.wantIDs("isnan(x)", 2, 6, 7)
			tb.want("SELECT min(x), max(x) FROM $t", `"-Infinity","NaN"`)
		})
	}
}

func TestST09PartitionColumnNotNullWithoutStatistics(t *testing.T) {
	tb := newTable(t, shape{fields: []string{"id long", "p integer not null"}, partitionBy: []string{"p"}})
	tb.parquet("a.parquet", ids(1, 2))
	tb.commit(1, tb.add("a.parquet", partition("p", `"1"`), bounds(2, "id", "1", "2", 0)),
		tb.add("not-there.parquet", partition("p", `"2"`), bounds(2, "id", "3", "4", 0)))
	rows, err := tb.rows("SELECT id FROM $t WHERE p = 1")
	if err != nil || strings.Join(rows, " ") != "1 2" {
		t.Errorf("rows of p = 1: %v, %v", rows, err)
	}
	tb.wantFiles("SELECT id FROM $t WHERE p = 1", 1)
	tb.wantFiles("SELECT id FROM $t WHERE p = 1 AND id = 2", 1)
	tb.wantFiles("SELECT id FROM $t WHERE p IS NULL", 0)
}

func TestST11ParameterOnThePartitionColumn(t *testing.T) {
	s := shape{fields: []string{"id long", "batch_id string"}, partitionBy: []string{"batch_id"}}
	tb := newTable(t, s)
	actions := []string{s.protocolAction(), s.metadataAction()}
	for v := 1; v <= 200; v++ {
		name := fmt.Sprintf("batch_id=my-batch/f%d.parquet", v)
		tb.parquet(name, ids(100*v, 100*v+99))
		add := tb.add(name, partition("batch_id", `"my-batch"`), bounds(100, "id", fmt.Sprint(100*v), fmt.Sprint(100*v+99), 0))
		tb.commit(v, add)
		if actions = append(actions, add); v == 120 {
			tb.checkpoint(v, actions...)
		}
	}
	tb.want("SELECT count(*) FROM $t WHERE batch_id = 'my-batch'", "20000")
	tb.want("SELECT count(id + 0) FROM $t WHERE batch_id = 'my-batch'", "20000")
	for _, c := range []struct{ value, count string }{{"my-batch", "20000"}, {"other", "0"}, {"my-batch", "20000"}} {
		if _, err := tb.rows("SET @b = '" + c.value + "'"); err != nil {
			t.Error(err)
		} else if rows, err := tb.rows("SELECT count(id + 0) FROM $t WHERE batch_id = @b"); err != nil || rows[0] != c.count {
			t.Errorf("by variable: %v, %v", rows, err)
		}
	}
}

func TestST12ConditionTheSkipperDoesNotUnderstand(t *testing.T) {
	tb := newTable(t, columns("id long", "x long", "s string"))
	for i, name := range []string{"a.parquet", "b.parquet"} {
		tb.parquet(name, fmt.Sprintf("SELECT range AS id, range AS x, repeat('s', (range %% 4)::BIGINT) AS s FROM range(%d, %d)", 10*i, 10*i+10))
	}
	tb.commit(1, tb.add("a.parquet", bounds(10, "x", "0", "9", 0)), tb.add("b.parquet", bounds(10, "x", "10", "19", 0)))
	even := "length(s) % 2 = 0"
	tb.wantIDs("x > 12 AND "+even, 14, 16, 18)
	tb.wantIDs("x > 16 OR "+even, 0, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19)
	tb.wantIDs("NOT (x > 4 AND "+even+")", 0, 1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 19)
	tb.wantIDs("NOT (x > 4 OR "+even+")", 1, 3)
	tb.wantIDs("CASE WHEN x > 16 THEN true ELSE "+even+" END", 0, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19)
	tb.wantIDs("x > 17 AND random() < 2", 18, 19)
	tb.wantIDs("x > 17 OR random() > 2", 18, 19)
	tb.wantIDs("NOT (x <= 17 OR random() > 2)", 18, 19)
	tb.wantIDs("(x > 17) = (random() < 2)", 18, 19)
	tb.wantIDs("coalesce(x > 17, random() < 2)", 18, 19)
	tb.wantIDs("x + 0 > 17", 18, 19)
	tb.wantIDs("(x > 17) IS TRUE", 18, 19)
	tb.wantIDs("(x > 1) IS NOT TRUE", 0, 1)
	tb.wantIDs("if(x > 17, true, NULL)", 18, 19)
	tb.wantIDs("x > 17 AND (x > 100 OR "+even+")", 18)
	tb.wantFiles("SELECT id FROM $t WHERE x > 12 AND "+even, 1)
}

func TestST14StructStatisticsOfFewerColumnsThanJSON(t *testing.T) {
	s := shape{fields: []string{"id long", "a long", "b long"}, config: map[string]string{"delta.checkpoint.writeStatsAsJson": "false", "delta.checkpoint.writeStatsAsStruct": "true"}}
	for name, parsed := range map[string]string{
		"one column": `STRUCT(numRecords BIGINT, minValues STRUCT(id BIGINT), maxValues STRUCT(id BIGINT), nullCount STRUCT(id BIGINT))`,
		"all":        `STRUCT(numRecords BIGINT, minValues STRUCT(id BIGINT, a BIGINT, b BIGINT), maxValues STRUCT(id BIGINT, a BIGINT, b BIGINT), nullCount STRUCT(id BIGINT, a BIGINT, b BIGINT))`,
		"count only": `STRUCT(numRecords BIGINT)`,
	} {
		t.Run(name, func(t *testing.T) {
			tb := emptyFolder(t)
			actions := []string{s.protocolAction(), s.metadataAction()}
			for i := range 3 {
				file := fmt.Sprintf("f%d.parquet", i)
				tb.parquet(file, fmt.Sprintf("SELECT range AS id, range + 100 AS a, range + 200 AS b FROM range(%d, %d)", 10*i, 10*i+10))
				value := func(n int) string { return fmt.Sprintf(`{"id":%d,"a":%d,"b":%d}`, 10*i+n, 10*i+n+100, 10*i+n+200) }
				actions = append(actions, tb.add(file, fmt.Sprintf(`"stats_parsed":{"numRecords":10,"minValues":%s,"maxValues":%s,"nullCount":{"id":0,"a":0,"b":0}}`, value(0), value(9))))
			}
			tb.actionsFile(checkpointName(3), []string{protocolColumn, metadataColumn,
				`add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats_parsed ` + parsed + `)'`}, actions...)
			tb.wantIDs("id >= 28", 28, 29)
			tb.wantIDs("a < 102", 0, 1)
			tb.wantIDs("b = 215", 15)
			tb.wantIDs("b IS NULL OR a IS NULL")
			tb.want("SELECT count(*), count(b), max(b), min(a) FROM $t", "30,30,229,100")
			if name != "count only" {
				tb.wantFiles("SELECT id FROM $t WHERE id >= 28", 1)
			}
			if name == "all" {
				tb.wantFiles("SELECT id FROM $t WHERE b = 215", 1)
			}
		})
	}
}

func TestST15AggregatesFromMetadataWithVectors(t *testing.T) {
	for _, tight := range []string{`,"tightBounds":false`, ""} {
		t.Run("tight bounds"+tight, func(t *testing.T) {
			tb := newTable(t, shape{features: "deletionVectors", fields: []string{"id long"}})
			text := stats(`{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":1}` + tight + `}`)
			tb.parquet("a.parquet", "SELECT unnest([NULL, 1, 2])::BIGINT AS id")
			const all = "SELECT count(*), count(id), min(id), max(id) FROM $t"
			tb.commit(1, tb.add("a.parquet", text))
			tb.want(all, "3,2,1,2")
			one, two := tb.vector(0), tb.vector(0, 2)
			tb.commit(2, tb.drop("a.parquet"), tb.add("a.parquet", text, one))
			tb.want(all, "2,2,1,2")
			tb.commit(3, tb.drop("a.parquet", one), tb.add("a.parquet", text, two))
			tb.want(all, "1,1,1,1")
			tb.want("SELECT count(*) FROM $t", "1")
			tb.want("SELECT count(id) FROM $t", "1")
			tb.want("SELECT max(id) FROM $t", "1")
			tb.want("SELECT count(*) FROM $t WHERE id IS NULL", "0")
			tb.want("SELECT id FROM $t WHERE id IS NOT NULL", "1")
			tb.want("SELECT count(*), max(id) FROM $t VERSION AS OF 2", "2,2")
		})
	}
}

func TestST17DatePartitionsArePruned(t *testing.T) {
	s := shape{fields: []string{"id long", "d date"}, partitionBy: []string{"d"}}
	tb := newTable(t, s)
	var adds []string
	for day := range 365 {
		date := fmt.Sprintf("2025-%02d-%02d", 1+day/31, 1+day%31)
		if 1+day%31 > 28 {
			continue
		}
		name := "d=" + date + "/f.parquet"
		tb.parquet(name, ids(day, day))
		adds = append(adds, tb.add(name, partition("d", `"`+date+`"`), bounds(1, "id", fmt.Sprint(day), fmt.Sprint(day), 0)))
	}
	tb.commit(1, adds...)
	day := 31*4 + 23 // 2025-05-24
	for condition, files := range map[string]int{
		"d = DATE '2025-05-24'": 1, "d IN (DATE '2025-05-24', DATE '1999-01-01')": 1, "d BETWEEN DATE '2025-05-24' AND DATE '2025-05-24'": 1,
		"d = CAST('2025-05-24' AS DATE)": 1, "d = '2025-05-24'": 1, "d >= '2025-05-24' AND d < DATE '2025-05-24' + INTERVAL 1 DAY": 1,
		"DATE '2025-05-24' = d": 1, "d <=> DATE '2025-05-24'": 1, "NOT (d <> DATE '2025-05-24')": 1, "d = make_date(2025, 5, 24)": 1,
	} {
		tb.wantIDs(condition, day)
		tb.wantFiles("SELECT id FROM $t WHERE "+condition, files)
	}
	tb.want("SELECT id FROM $t WHERE d = (SELECT max(d) FROM VALUES (DATE '2025-05-24'), (DATE '2025-01-01') AS s(d))", fmt.Sprint(day))
	tb.want("SELECT id FROM $t JOIN (VALUES (DATE '2025-05-24')) AS s(d) USING (d)", fmt.Sprint(day))
	tb.wantIDs("d = TIMESTAMP '2025-05-24 00:00:00'", day)
	tb.wantIDs("d = TIMESTAMP '2025-05-24 00:00:01'")
}

func TestST18BoundOutsideThePhysicalType(t *testing.T) {
	widened := field("a", "long", true, `{"delta.typeChanges":[{"toType":"long","fromType":"integer","tableVersion":2}]}`)
	tb := newTable(t, shape{features: "typeWidening", fields: []string{"id long", "a integer"}, config: map[string]string{"delta.enableTypeWidening": "true"}})
	tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, 0::INTEGER AS a")
	tb.parquet("b.parquet", "SELECT 2::BIGINT AS id, 5000000000::BIGINT AS a")
	tb.commit(1, tb.add("a.parquet", bounds(1, "a", "0", "0", 0)))
	tb.commit(2, shape{fields: []string{"id long", widened}, config: map[string]string{"delta.enableTypeWidening": "true"}}.metadataAction(),
		tb.add("b.parquet", bounds(1, "a", "5000000000", "5000000000", 0)))
	tb.wantIDs("a < 9223372036854775807", 1, 2)
	tb.wantIDs("a > -3000000000", 1, 2)
	tb.wantIDs("a = 4294967296")
	tb.wantIDs("a >= 4294967296", 2)
	tb.wantIDs("a < 2147483648.5", 1)
	tb.wantIDs("a IN (0, 4294967296, 5000000000)", 1, 2)
	tb.wantIDs("a = CAST(0 AS DECIMAL(38,0))", 1)
	tb.wantIDs("a < CAST(99999999999999999999 AS DECIMAL(38,0))", 1, 2)
	tb.wantIDs("a < 1e300", 1, 2)
	// The same trap without widening: a literal beyond the column's own type.
	small := newTable(t, columns("id long", "a byte"))
	small.parquet("a.parquet", "SELECT 1::BIGINT AS id, 7::TINYINT AS a")
	small.commit(1, small.add("a.parquet", bounds(1, "a", "7", "7", 0)))
	small.wantIDs("a < 1000", 1)
	small.wantIDs("a > -1000", 1)
	small.wantIDs("a = 263")
	small.wantIDs("a <> 263", 1)
	small.wantIDs("a < 7.5", 1)
	small.wantIDs("a > 6.5", 1)
	small.wantIDs("a = 7.5")
}

func TestST20IsNullOnPartitionColumns(t *testing.T) {
	for name, n := range map[string]string{
		"null count 0": stats(`{"numRecords":2,"nullCount":{"p":0,"id":0}}`),
		"nothing":      records(2),
		"no stats":     `"tags":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, shape{fields: []string{"id long", "p integer"}, partitionBy: []string{"p"}})
			tb.parquet("a.parquet", ids(1, 2))
			tb.parquet("b.parquet", ids(3, 4))
			tb.commit(1, tb.add("a.parquet", partition("p", `"1"`), n), tb.add("b.parquet", partition("p", "null"), n))
			tb.wantIDs("p IS NULL", 3, 4)
			tb.wantIDs("p IS NOT NULL", 1, 2)
			tb.wantIDs("coalesce(p, 0) = 0", 3, 4)
			tb.wantIDs("NOT (p IS NULL)", 1, 2)
			tb.wantIDs("p <=> NULL", 3, 4)
			tb.wantIDs("p = NULL")
			tb.want("SELECT count(*), count(p) FROM $t", "4,2")
			tb.want("SELECT count(p) FROM $t WHERE p IS NULL", "0")
		})
	}
}
