package sqlengine

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"deltasql/protocol"
)

const largeDecimals = "(SELECT CAST(id + 100000000000000000 AS DECIMAL(18,0)) AS d FROM range(3))"

// TestDecimalOverflowRunsWide multiplies decimals whose products need more than the 64 bits that DuckDB takes for them.
func TestDecimalOverflowRunsWide(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	want(t, s, "SELECT d * d AS p FROM "+largeDecimals+" ORDER BY d",
		`["10000000000000000000000000000000000"]`, `["10000000000000000200000000000000001"]`, `["10000000000000000400000000000000004"]`)
	want(t, s, "SELECT sum(d * d) AS p FROM "+largeDecimals, `["30000000000000000600000000000000005"]`)
	want(t, s, "SELECT count(*) AS n FROM "+largeDecimals+" WHERE d * d > 0", `[3]`)
	want(t, s, "SELECT CAST(100000000000000000 AS DECIMAL(18,0)) * CAST(100000000000000000 AS DECIMAL(18,0)) AS p", `["10000000000000000000000000000000000"]`)
	want(t, s, "SELECT id FROM range(3) WHERE id < CAST(100000000000000000 AS DECIMAL(18,0)) * CAST(100000000000000000 AS DECIMAL(18,0)) AND id > 1", `[2]`)
	refuse(t, s, "SELECT d * d * d FROM "+largeDecimals, "ARITHMETIC_OVERFLOW")
}

// TestDecimalOverflowAfterRows overflows far behind the first rows. They are out by then, so the statement fails and says what helps.
func TestDecimalOverflowAfterRows(t *testing.T) {
	s := openSession(t, openEngine(t, Options{Threads: 1}), SessionOptions{})
	sql := "SELECT d * d AS p FROM (SELECT CAST(CASE WHEN id < 2900000 THEN 1 ELSE 100000000000000000 END AS DECIMAL(18,0)) AS d FROM range(3000000))"
	rows := func() (int, error) {
		result, err := s.Execute(context.Background(), sql)
		if err != nil {
			return 0, err
		}
		defer result.Close()
		for n := 0; ; {
			batch, err := result.Next(context.Background())
			if err != nil {
				return n, err
			}
			n += batch.Len()
		}
	}
	n, err := rows()
	var fault *protocol.Error
	if !errors.As(err, &fault) || n == 0 || fault.Class != "ARITHMETIC_OVERFLOW" || !strings.Contains(fault.Hint, "deltasql_wide_decimals") {
		t.Errorf("%d rows, error %v", n, err)
	}
	want(t, s, "SET deltasql_wide_decimals = on")
	if n, err := rows(); n != 3000000 || !errors.Is(err, io.EOF) {
		t.Errorf("%d rows, error %v", n, err)
	}
}
