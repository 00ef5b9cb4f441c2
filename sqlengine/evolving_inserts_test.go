package sqlengine

import (
	"fmt"
	"sync"
	"testing"
)

func TestReplaceWithSchemaEvolution(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Catalog: t.TempDir()}), SessionOptions{})
	for i, properties := range []string{
		"'delta.enableDeletionVectors' = 'false'", "'delta.enableDeletionVectors' = 'true'", "'delta.enableChangeDataFeed' = 'true'",
		"'delta.columnMapping.mode' = 'name'", "'delta.enableTypeWidening' = 'true'", "'delta.enableRowTracking' = 'true'",
	} {
		for k, replace := range []string{"USING (a)", "WHERE a = 1", "ON old.a = new.a"} {
			name := fmt.Sprintf("t%d_%d", i, k)
			alias, query := "", "SELECT 1 AS a, 20L AS b, 30 AS c"
			if k == 2 {
				alias, query = " AS old", "(SELECT 1 AS a, 20L AS b, 30 AS c) AS new"
			}
			want(t, s, "CREATE TABLE "+name+" (a INT, b INT) TBLPROPERTIES ("+properties+")")
			want(t, s, "INSERT INTO "+name+" VALUES (1, 2), (3, 4)")
			want(t, s, "INSERT WITH SCHEMA EVOLUTION INTO "+name+alias+" REPLACE "+replace+" "+query)
			want(t, s, "SELECT * FROM "+name+" ORDER BY a", `[1,20,30]`, `[3,4,null]`)
			// A key of the rows that only they have is that of no row there.
			want(t, s, "INSERT WITH SCHEMA EVOLUTION INTO "+name+" REPLACE USING (d) SELECT 5 AS a, 6 AS b, 7 AS c, 8 AS d")
			want(t, s, "SELECT * FROM "+name+" ORDER BY a", `[1,20,30,null]`, `[3,4,null,null]`, `[5,6,7,8]`)
		}
	}
}

// Values that were reserved for a second run are used by it, also where the schema evolves.
func TestIdentityUnderEvolution(t *testing.T) {
	root := t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, x INT)")
	var writers sync.WaitGroup
	const each = 12
	for w := range 4 {
		writer := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
		want(t, writer, "SET deltasql_schema_evolution = on")
		writers.Go(func() {
			for i := range each {
				if _, err := writer.Execute(t.Context(), fmt.Sprintf("INSERT INTO t (x) VALUES (%d), (%d)", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	want(t, s, "SELECT count(*), count(DISTINCT id) FROM t", fmt.Sprintf("[%d,%d]", 4*2*each, 4*2*each))
}
