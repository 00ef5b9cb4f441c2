package expr_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// recorded is what a MySQL server answered to the statements of a script.
type recorded struct {
	Statements []struct {
		SQL     string
		Columns []struct{ Name, Type string }
		Rows    [][]any
		Ours    *struct{ Rows [][]any }
		Error   any
	}
}

// TestMySQLRecords runs every recorded SELECT that reads no table and compares the cells as text. The records lie beside the
// project; without them there is nothing to compare with.
func TestMySQLRecords(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "oracle-mysql", "*", "*.json"))
	if len(files) == 0 {
		t.Skip("the recorded answers (../shared/oracle-mysql) are not here")
	}
	in := instance(t)
	agreed, differed := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		var r recorded
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		area := filepath.Base(filepath.Dir(file))
		if area != "functions" && area != "types" && area != "select" {
			continue
		}
		for _, s := range r.Statements {
			if !strings.HasPrefix(strings.ToUpper(s.SQL), "SELECT") || s.Rows == nil {
				continue
			}
			ctx := session(expr.MySQL)
			ctx.MySQLCompare = strings.Contains(string(script), "-- collation: ci")
			got, err := cells(t, in, ctx, s.SQL)
			if err != nil && strings.Contains(string(protocol.ClassOf(err)), "TABLE_OR_VIEW_NOT_FOUND") || err != nil && strings.Contains(err.Error(), "catalog") {
				continue
			}
			if knownDifferences[s.SQL] {
				continue
			}
			types := make([]string, len(s.Columns))
			for i, c := range s.Columns {
				types[i] = c.Type
			}
			if problem := compareRows(got, err, s.Rows, types); problem != "" {
				differed++
				t.Errorf("%s: %s\n  %s", filepath.Base(file), s.SQL, problem)
				continue
			}
			agreed++
		}
	}
	t.Logf("%d statements agree, %d differ", agreed, differed)
}

// knownDifferences are statements of which one cell is refused or differs, each for a reason that stands beside it.
var knownDifferences = map[string]bool{
	// MySQL 9 rounds each quotient, MariaDB keeps more digits inside an expression.
	"SELECT 7 / 2 AS a, 1 / 3 AS b, 1.00 / 3 AS c, 10.000 / 4 AS d, 2 / 3.00 AS e, -7 / 2 AS f, 1 / 3 * 3 AS g": true,
	// MySQL refuses an empty pattern.
	"SELECT 'a' REGEXP ''": true,
	// NO_UNSIGNED_SUBTRACTION is set before one of the two.
	"SELECT CAST(1 AS UNSIGNED) - 2 AS a": true,
	// Dates with a zero month or day are no dates here.
	"SELECT YEAR(NULL) AS a, MONTH('bad') AS b, DAYNAME(NULL) AS c, YEAR('2024-00-00') AS d": true,
	// A broken document is an error, as in MySQL.
	`SELECT JSON_EXTRACT('{bad', '$.a') AS a`: true,
}

func compareRows(got [][]string, err error, want [][]any, types []string) string {
	if err != nil {
		return err.Error()
	}
	if len(got) != len(want) {
		return "rows: want " + strconv.Itoa(len(want)) + ", got " + strconv.Itoa(len(got))
	}
	for i := range want {
		for j := range want[i] {
			expected := "NULL"
			if want[i][j] != nil {
				expected = want[i][j].(string)
			}
			if !sameCell(got[i][j], expected, types[j]) {
				return "column " + strconv.Itoa(j) + " (" + types[j] + "): want " + expected + ", got " + got[i][j]
			}
		}
	}
	return ""
}

func sameCell(got, want, family string) bool {
	if got == want {
		return true
	}
	switch family {
	case "double":
		a, errA := strconv.ParseFloat(got, 64)
		b, errB := strconv.ParseFloat(want, 64)
		return errA == nil && errB == nil && math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), 1)
	case "datetime", "time", "decimal", "string":
		if strings.Contains(want, ".") && family != "string" && family != "decimal" {
			return strings.TrimRight(strings.TrimRight(want, "0"), ".") == got
		}
		var a, b any
		if json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return family != "decimal" && string(x) == string(y)
		}
	case "json":
		var a, b any
		if json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return string(x) == string(y)
		}
	case "binary":
		return strings.EqualFold(strings.TrimPrefix(want, "0x"), strings.TrimPrefix(got, "0x")) || want == got
	}
	return false
}

// cells runs a query and gives every cell as MySQL prints it.
func cells(t *testing.T, in *duck.Instance, ctx *expr.Context, sql string) ([][]string, error) {
	t.Helper()
	statement, err := parse.Parse(sql, parse.Options{Dialect: parse.MySQL})
	if err != nil {
		return nil, err
	}
	q, err := bind.Query(t.Context(), statement.(*parse.QueryStatement).Query, bind.Options{Context: ctx, Catalog: noTables{}})
	if err != nil {
		return nil, err
	}
	rel := &expr.Relation{ID: 1_000_000, Kind: expr.RelQuery, Query: q, Columns: q.Columns}
	outer := &expr.Query{Body: &expr.Select{From: rel, Visible: len(q.Columns)}}
	for i, c := range q.Columns {
		column := expr.Expr(&expr.Column{Typed: expr.Typed{Of: c.Type, Null: true}, Relation: rel, Index: i})
		item, err := expr.Coerce(column, protocol.DataType{Kind: protocol.KindString}, ctx)
		if c.Type.Kind == protocol.KindBinary {
			item, err = &expr.Raw{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindString}}, SQL: "'0x' || hex({0})", Args: []expr.Expr{column}}, nil
		}
		if err != nil {
			return nil, err
		}
		outer.Body.(*expr.Select).Items = append(outer.Body.(*expr.Select).Items, item)
		outer.Columns = append(outer.Columns, expr.OutputColumn{Name: c.Name, Type: protocol.DataType{Kind: protocol.KindString}})
	}
	printed, args, err := duckgen.Print(outer, duckgen.Options{})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() {
		if d := time.Since(start); d > 300*time.Millisecond {
			t.Logf("slow: %v %s", d, sql)
		}
	}()
	s, err := in.Query(t.Context(), printed, args...)
	if err != nil {
		return nil, errors.Join(err, errors.New(printed))
	}
	defer s.Close()
	var rows [][]string
	for {
		b, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, errors.Join(err, errors.New(printed))
		}
		for i := range b.Len() {
			row := make([]string, len(outer.Columns))
			for j := range row {
				row[j] = "NULL"
				if b.Vector(j).Valid(i) {
					row[j] = b.Vector(j).Text(i)
				}
			}
			rows = append(rows, row)
		}
	}
}

// noTables is a catalog without tables.
type noTables struct{}

func (noTables) Table(_ context.Context, ref *parse.TableRef, _ *bind.AsOf) (bind.Resolved, error) {
	return bind.Resolved{}, protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "there is no table %s", ref.Name[0].Name)
}

func (noTables) TableFunction(context.Context, *parse.TableFunction, bind.Arguments) (bind.Resolved, bool, error) {
	return bind.Resolved{}, false, nil
}
