package bind_test

import (
	"context"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// TestPredicateFolds asks for constants that are no literals: they are evaluated, and only their type decides whether they count.
func TestPredicateFolds(t *testing.T) {
	cases := []struct {
		name, sql string
		fold      protocol.Value
		want      string
	}{
		{"a folded date", "SELECT id FROM t WHERE d >= date_add(DATE '2024-01-01', 3)", protocol.Value{Int: 19726}, "d >= DATE '2024-01-04'"},
		{"mirrored", "SELECT id FROM t WHERE date_add(DATE '2024-01-01', 3) > d", protocol.Value{Int: 19726}, "d < DATE '2024-01-04'"},
		{"NULL", "SELECT id FROM t WHERE d = date_add(DATE '2024-01-01', 3)", protocol.Value{Null: true}, "d = NULL"},
		{"a list", "SELECT id FROM t WHERE id IN (1, abs(-7))", protocol.Value{Int: 7}, "id IN (1, 7)"},
		{"a cast that loses digits", "SELECT id FROM t WHERE CAST(price AS INT) = 5", protocol.Value{}, "maybe"},
		{"a cast that keeps order", "SELECT id FROM t WHERE CAST(id AS DECIMAL(20,2)) = 5.25", protocol.Value{}, "id = 5.25"},
		{"try_cast", "SELECT id FROM t WHERE try_cast(id AS BIGINT) = 5", protocol.Value{}, "maybe"},
		{"a volatile side", "SELECT id FROM t WHERE x > rand()", protocol.Value{}, "true"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			opts := testOptions(expr.Spark)
			q, err := bind.Query(context.Background(), mustParse(c.sql, expr.Spark), opts)
			if err != nil {
				t.Fatal(err)
			}
			r := q.Body.(*expr.Select).From.(*expr.Relation)
			got := bind.Predicate(context.Background(), r.Scan.Filters, bind.Skipping{
				Context: opts.Context, Leaf: leafOf(r.Scan.Source.(*source)),
				Fold: func(context.Context, expr.Expr) (protocol.Value, error) { return c.fold, nil },
			}).String()
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestPredicateComparesTextByBytes makes nothing of text that the session compares without case.
func TestPredicateComparesTextByBytes(t *testing.T) {
	opts := testOptions(expr.Spark)
	q, err := bind.Query(context.Background(), mustParse("SELECT id FROM t WHERE name = 'a' AND name LIKE 'b%' AND name IS NULL", expr.Spark), opts)
	if err != nil {
		t.Fatal(err)
	}
	r := q.Body.(*expr.Select).From.(*expr.Relation)
	skipping := bind.Skipping{Context: &expr.Context{MySQLCompare: true}, Leaf: leafOf(r.Scan.Source.(*source))}
	if got, want := bind.Predicate(context.Background(), r.Scan.Filters, skipping).String(), "maybe AND maybe AND name IS NULL"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
