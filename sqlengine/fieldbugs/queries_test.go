package fieldbugs_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDM07ThreeValuedLogic(t *testing.T) {
	for _, partitioned := range []bool{false, true} {
		t.Run(fmt.Sprintf("partitioned %t", partitioned), func(t *testing.T) {
			s := columns("id long", "c integer")
			if partitioned {
				s.partitionBy = []string{"c"}
			}
			tb := newTable(t, s)
			for i, value := range []string{"1", "2", "NULL"} {
				name := fmt.Sprintf("f%d.parquet", i)
				if partitioned {
					tb.parquet(name, ids(i, i))
					text := map[bool]string{true: "null", false: `"` + value + `"`}[value == "NULL"]
					tb.commit(i+1, tb.add(name, partition("c", text), records(1)))
					continue
				}
				tb.parquet(name, fmt.Sprintf("SELECT %d::BIGINT AS id, %s::INTEGER AS c", i, value))
				n := bounds(1, "c", value, value, 0)
				if value == "NULL" {
					n = stats(`{"numRecords":1,"minValues":{},"maxValues":{},"nullCount":{"c":1}}`)
				}
				tb.commit(i+1, tb.add(name, n))
			}
			tb.wantIDs("NOT (c = 1)", 1)
			tb.wantIDs("NOT coalesce(c = 1, false)", 1, 2)
			tb.wantIDs("(c = 1) IS NOT TRUE", 1, 2)
			tb.wantIDs("c <> 5 AND c > 100")
			tb.wantIDs("NOT (c <> 5 AND c > 100)", 0, 1)
			tb.wantIDs("c NOT IN (1, NULL)")
			tb.wantIDs("NOT (c NOT IN (1, NULL))", 0)
			tb.wantIDs("c IN (1, NULL)", 0)
			tb.wantIDs("c <> 1", 1)
			tb.wantIDs("c IS DISTINCT FROM 1", 1, 2)
			tb.wantIDs("NOT (c <=> 1)", 1, 2)
			tb.wantIDs("c = c", 0, 1)
			tb.wantIDs("c NOT BETWEEN 2 AND 3", 0)
			tb.wantIDs("NOT (c IS NULL OR c = 2)", 0)
			tb.wantIDs("c NOT IN (SELECT * FROM VALUES (1), (NULL))")
		})
	}
}

func TestDM09NullKeysAndPruning(t *testing.T) {
	tb := newTable(t, shape{fields: []string{"id long", "k integer"}, partitionBy: []string{"k"}})
	tb.parquet("a.parquet", ids(1, 1))
	tb.parquet("b.parquet", ids(2, 2))
	tb.parquet("c.parquet", ids(3, 3))
	tb.commit(1, tb.add("a.parquet", partition("k", "null")), tb.add("b.parquet", partition("k", `"1"`)), tb.add("c.parquet", partition("k", `"2"`)))
	const source = "(VALUES (CAST(NULL AS INT), 20), (1, 10)) AS s(k, v)"
	tb.want("SELECT t.id, v FROM $t t JOIN "+source+" ON t.k = s.k", "2,10")
	tb.want("SELECT t.id, v FROM $t t JOIN "+source+" ON t.k <=> s.k", "1,20", "2,10")
	tb.want("SELECT t.id, v FROM $t t JOIN "+source+" ON t.k IS NOT DISTINCT FROM s.k", "1,20", "2,10")
	tb.want("SELECT t.id, v FROM $t t LEFT JOIN "+source+" ON t.k = s.k", "1,null", "2,10", "3,null")
	tb.want("SELECT s.v FROM "+source+" LEFT ANTI JOIN $t t ON t.k = s.k", "20")
	tb.want("SELECT t.id FROM $t t JOIN " + source + " ON t.k = s.k WHERE t.k IS NULL")
}

func TestDM11ColumnNameWithADot(t *testing.T) {
	for _, mode := range []string{"none", "name"} {
		t.Run(mode, func(t *testing.T) {
			s := shape{fields: []string{"id long", field("Product.Id", "string", true, "{}"), field("Product", structType("Id string"), true, "{}")}, partitionBy: []string{"Product.Id"}}
			physical := "Product.Id"
			if mode == "name" {
				physical = "col.1"
				s = shape{features: "columnMapping", partitionBy: s.partitionBy, config: map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "4"},
					fields: []string{mapped("id", "long", "id", 1), mapped("Product.Id", "string", physical, 2), mapped("Product", structType(mapped("Id", "string", "Id", 4)), "Product", 3)}}
			}
			tb := newTable(t, s)
			tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, {'Id': 'inner1'} AS Product")
			tb.parquet("b.parquet", "SELECT 2::BIGINT AS id, {'Id': 'inner2'} AS Product")
			tb.commit(1, tb.add("a.parquet", partition(physical, `"x"`), records(1)), tb.add("b.parquet", partition(physical, `"y"`), records(1)))
			tb.wantIDs("`Product.Id` = 'x'", 1)
			tb.wantIDs("Product.Id = 'inner2'", 2)
			tb.wantIDs("Product.Id = 'x'")
			tb.want("SELECT `Product.Id`, Product.Id FROM $t", `"x","inner1"`, `"y","inner2"`)
			tb.wantFiles("SELECT id FROM $t WHERE `Product.Id` = 'x'", 1)
		})
	}
}

func TestDM14VectorsAtBoundaries(t *testing.T) {
	s := shape{features: "deletionVectors", fields: []string{"id long", "p integer"}}
	for _, partitioned := range []bool{false, true} {
		for _, n := range []int{1, 2, 65536, 65537, 200001} {
			t.Run(fmt.Sprintf("%d rows, partitioned %t", n, partitioned), func(t *testing.T) {
				s := s
				values := partition()
				if partitioned {
					s.partitionBy, values = []string{"p"}, partition("p", `"7"`)
				}
				tb := newTable(t, s)
				tb.parquet("a.parquet", fmt.Sprintf("SELECT range AS id, 7::INTEGER AS p FROM range(%d)", n), "ROW_GROUP_SIZE 2048")
				version := 1
				tb.commit(version, tb.add("a.parquet", values, records(n)))
				last := `"tags":{}`
				whole := func(from, to, step int) (rows []uint64) {
					for i := from; i < to; i += step {
						rows = append(rows, uint64(i))
					}
					return rows
				}
				for _, rows := range [][]uint64{whole(0, 1, 1), whole(n-1, n, 1), whole(0, n-1, 1), whole(1, n, 1), whole(0, n, 2), whole(1, n, 2), whole(65535, min(n, 65537), 1), whole(0, n, 1), whole(0, 0, 1)} {
					vector := `"tags":{}`
					if len(rows) > 0 {
						vector = tb.vector(rows...)
					}
					version++
					tb.commit(version, tb.drop("a.parquet", values, last), tb.add("a.parquet", values, records(n), vector))
					last = vector
					live, sum := n, n*(n-1)/2
					for _, row := range rows {
						live--
						sum -= int(row)
					}
					if live == 0 {
						tb.want("SELECT count(*), count(id), sum(id) FROM $t", "0,0,null")
					} else {
						tb.want("SELECT count(*), count(id), sum(id) FROM $t", fmt.Sprintf("%d,%[1]d,%d", live, sum))
					}
					deleted := map[uint64]bool{}
					for _, row := range rows {
						deleted[row] = true
					}
					for _, row := range []int{0, 1, 2047, 2048, 65535, 65536, n - 1} {
						if row < n && !deleted[uint64(row)] {
							tb.wantIDs(fmt.Sprintf("id = %d AND p = 7", row), row)
						} else {
							tb.wantIDs(fmt.Sprintf("id = %d", row))
						}
					}
				}
			})
		}
	}
}

func TestCC09SnapshotIsTheSameForAllScansOfAStatement(t *testing.T) {
	tb := newTable(t, columns("id long"))
	tb.parquet("a.parquet", ids(1, 10))
	tb.commit(1, tb.add("a.parquet", records(10)))
	tb.parquet("b.parquet", ids(11, 11))
	stop := make(chan struct{})
	var appending sync.WaitGroup
	appending.Go(func() {
		for v := 2; v < 3000; v++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				tb.commit(v, tb.add(fmt.Sprintf("b.parquet?%d", v)[:9], records(1), fmt.Sprintf(`"tags":{"v":"%d"}`, v)), tb.drop("b.parquet"))
			}
		}
	})
	for range 60 {
		rows, err := tb.rowsIn(tb.plain, "SELECT (SELECT count(*) FROM $t) = (SELECT count(*) FROM $t), (SELECT count(*) FROM $t a JOIN $t b USING (id)) = (SELECT count(*) FROM $t)")
		if err != nil || strings.Join(rows, " ") != "true,true" {
			t.Errorf("the scans of one statement differ: %v, %v", rows, err)
			break
		}
	}
	close(stop)
	appending.Wait()
	tb.want("SELECT a.n, b.n FROM (SELECT count(*) AS n FROM $t VERSION AS OF 0) a, (SELECT count(*) AS n FROM $t VERSION AS OF 1) b", "0,10")
}

func TestMT10SessionSeesAChangedSchemaAtTheNextStatement(t *testing.T) {
	one, two := columns("id long"), columns("id long", "extra string")
	tb := newTable(t, one)
	tb.parquet("a.parquet", ids(1, 1))
	tb.commit(1, tb.add("a.parquet", records(1)))
	if _, err := tb.rows("CREATE TEMPORARY VIEW latest AS SELECT * FROM $t"); err != nil {
		t.Fatal(err)
	}
	tb.want("SELECT * FROM $t", "1")
	tb.parquet("b.parquet", "SELECT 2::BIGINT AS id, 'x' AS extra")
	tb.commit(2, two.metadataAction(), tb.add("b.parquet", records(1)))
	tb.want("SELECT * FROM $t", "1,null", `2,"x"`)
	tb.commit(3, one.metadataAction(), tb.drop("b.parquet")) // restored to version 1
	tb.want("SELECT * FROM $t", "1")
	tb.refuse("SELECT extra FROM $t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "extra")
	tb.want("SELECT * FROM $t VERSION AS OF 2", "1,null", `2,"x"`)
	if rows, err := tb.rows("SELECT id FROM latest"); err != nil || len(rows) != 1 {
		t.Errorf("the view gives %v, %v", rows, err)
	}
}

func TestPS04FiltersKnownOnlyAtRunTime(t *testing.T) {
	tb := newTable(t, shape{fields: []string{"id long", "p integer"}, partitionBy: []string{"p"}})
	var adds []string
	for i := range 100 {
		name := fmt.Sprintf("p=%d/f.parquet", i)
		tb.parquet(name, ids(i, i))
		adds = append(adds, tb.add(name, partition("p", fmt.Sprintf(`"%d"`, i)), bounds(1, "id", fmt.Sprint(i), fmt.Sprint(i), 0)))
	}
	tb.commit(1, adds...)
	const dim = "(VALUES (40, 1), (60, 1), (70, 0)) AS dim(p, x)"
	tb.want("SELECT id FROM $t WHERE p = (SELECT max(p) FROM "+dim+")", "70")
	tb.want("SELECT id FROM $t JOIN "+dim+" USING (p) WHERE dim.x = 1", "40", "60")
	tb.want("SELECT id FROM $t WHERE p IN (SELECT p FROM "+dim+" WHERE x = 1)", "40", "60")
	tb.want("SELECT id FROM $t ORDER BY id DESC LIMIT 2", "98", "99")
}

func TestPS07TensOfThousandsOfFiles(t *testing.T) {
	s := shape{fields: []string{"id long", "p integer"}, partitionBy: []string{"p"}}
	tb := newTable(t, s)
	tb.parquet("real.parquet", ids(1, 1))
	actions := []string{s.protocolAction(), s.metadataAction()}
	long := strings.Repeat("x", 150)
	for i := range 20000 {
		actions = append(actions, tb.add(fmt.Sprintf("%s/f%05d.parquet", long, i), partition("p", fmt.Sprintf(`"%d"`, i%1000)), bounds(1, "id", fmt.Sprint(i+10), fmt.Sprint(i+10), 0)))
	}
	actions = append(actions, tb.add("real.parquet", partition("p", `"5000"`), bounds(1, "id", "1", "1", 0)))
	tb.checkpoint(1, actions...)
	tb.remove("_delta_log/00000000000000000000.json")
	tb.commit(2, tb.add("real.parquet", partition("p", `"5000"`), bounds(1, "id", "1", "1", 0)))
	if rows, err := tb.rows("SELECT count(*), min(id), max(id) FROM $t"); err != nil || rows[0] != "20001,1,20009" {
		t.Errorf("from the log: %v, %v", rows, err)
	}
	started := time.Now()
	for _, sql := range []string{"SELECT id FROM $t WHERE p = 5000", "SELECT id FROM $t WHERE id = 1", "SELECT id FROM $t WHERE id < 5 LIMIT 1"} {
		if rows, err := tb.rows(sql); err != nil || len(rows) != 1 || rows[0] != "1" {
			t.Errorf("%s: %v, %v", sql, rows, err)
		}
		tb.wantFiles(sql, 1)
	}
	tb.wantFiles("SELECT count(*), sum(id) FROM $t WHERE p = 7", 20)
	if took := time.Since(started); took > 2*time.Second {
		t.Errorf("three point queries over 20,000 files took %v", took)
	}
}
