package bind_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// FuzzQuery looks for statements that make the binder or the printer fail by a fault of their own instead of an error with a class.
func FuzzQuery(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, record := range strings.Split(string(text), "\n\n") {
			input, _, _ := strings.Cut(record, "\n----\n")
			if header, sql, ok := strings.Cut(input, "\n"); ok {
				f.Add(sql, header != "-- spark")
			}
		}
	}
	f.Fuzz(func(t *testing.T, sql string, mysql bool) {
		watch := time.AfterFunc(10*time.Second, func() { panic("too slow: " + sql) })
		defer watch.Stop()
		dialect := expr.Spark
		if mysql {
			dialect = expr.MySQL
		}
		s, err := parse.Parse(sql, parse.Options{Dialect: parse.Dialect(dialect)})
		if err != nil {
			return
		}
		statement, ok := s.(*parse.QueryStatement)
		if !ok {
			return
		}
		q, err := bind.Query(context.Background(), statement.Query, testOptions(dialect))
		if err != nil {
			if protocol.ClassOf(err) == protocol.ClassInternal {
				t.Fatalf("%q: %v", sql, err)
			}
			return
		}
		if _, _, err := duckgen.Print(q, duckgen.Options{Relation: scanText}); err != nil {
			t.Fatalf("%q: %v", sql, err)
		}
	})
}
