package crash_test

import (
	"slices"
	"testing"
)

// TestStatementsOfATransactionSeeEachOther: what a statement replaces is the table as the transaction has it, with the rows that it has
// written itself.
func TestStatementsOfATransactionSeeEachOther(t *testing.T) {
	for _, c := range []struct {
		name string
		run  []string
		want []string
	}{
		{"overwrite", []string{"INSERT INTO t VALUES (3, 'c')", "INSERT OVERWRITE t VALUES (9, 'z')"}, []string{`[9,"z"]`}},
		{"overwrite twice", []string{"INSERT OVERWRITE t VALUES (3, 'c')", "INSERT OVERWRITE t SELECT id + 1, s FROM t"}, []string{`[4,"c"]`}},
		{"overwrite of a partition", []string{"INSERT INTO t VALUES (3, 'a'), (4, 'b')", "INSERT OVERWRITE t PARTITION (s = 'b') VALUES (9)"}, []string{`[1,"a"]`, `[3,"a"]`, `[9,"b"]`}},
		{"replace where", []string{"INSERT INTO t VALUES (3, 'c')", "INSERT INTO t REPLACE WHERE id > 1 VALUES (7, 'g')"}, []string{`[1,"a"]`, `[7,"g"]`}},
		{"delete", []string{"INSERT INTO t VALUES (3, 'c')", "DELETE FROM t WHERE id <> 2"}, []string{`[2,"b"]`}},
		{"update", []string{"INSERT INTO t VALUES (3, 'c')", "UPDATE t SET id = id + 10 WHERE id > 1"}, []string{`[1,"a"]`, `[12,"b"]`, `[13,"c"]`}},
		{"update twice", []string{"UPDATE t SET id = id + 10", "UPDATE t SET id = id + 100 WHERE id > 11"}, []string{`[11,"a"]`, `[112,"b"]`}},
		{"delete twice", []string{"DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (1, 'n')"}, []string{`[1,"n"]`}},
		{"merge", []string{"INSERT INTO t VALUES (3, 'c')",
			"MERGE INTO t USING (SELECT 3 AS id) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = 'm'"}, []string{`[1,"a"]`, `[2,"b"]`, `[3,"m"]`}},
	} {
		for _, properties := range []string{"", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"} {
			t.Run(c.name+properties, func(t *testing.T) {
				database := newDatabase(t, "")
				must(t, database, "CREATE TABLE t (id INT, s STRING) PARTITIONED BY (s)"+properties, twoRows)
				run := append(append([]string{"BEGIN"}, c.run...), "COMMIT")
				if err := execute(t.Context(), victim, database, run...); unsupported(err) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				}
				if got := sortedRows(t, database, "SELECT * FROM t"); !slices.Equal(got, c.want) {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if got := history(t, database, "t"); len(got) != 3 {
					t.Errorf("the transaction made other than one version: %s", got)
				}
				faultless(t, database)
				if left := unreferenced(t, database); len(left) > 0 {
					t.Errorf("files that nothing names: %q", left)
				}
			})
		}
	}
}
