package sqlengine

import (
	"testing"

	"deltasql/protocol"
)

func TestPrepareStatements(t *testing.T) {
	s, _ := openWarehouse(t)
	want(t, s, "SET @two = 2, @text = 'x'")
	want(t, s, "PREPARE p FROM 'SELECT id, ? FROM range(5) WHERE id > ? ORDER BY id LIMIT 1'")
	want(t, s, "EXECUTE p USING @text, @two", `[3,"x"]`)
	want(t, s, "EXECUTE p USING 7, 3", `[4,7]`)
	refuse(t, s, "EXECUTE p", "UNBOUND_SQL_PARAMETER")
	refuse(t, s, "EXECUTE p USING 1, 2, 3", "UNBOUND_SQL_PARAMETER")
	want(t, s, "SET @sql = 'SELECT 1 + ?'")
	want(t, s, "PREPARE p FROM @sql")
	want(t, s, "EXECUTE p USING 41", `[42]`)
	refuse(t, s, "PREPARE p FROM 'SELEC 1'", "PARSE_SYNTAX_ERROR")
	refuse(t, s, "EXECUTE p USING 1", "DELTASQL_UNKNOWN_STATEMENT")
	refuse(t, s, "PREPARE q FROM 'SELECT nope FROM range(1) WHERE id = ?'", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
	refuse(t, s, "PREPARE q FROM 'EXECUTE p'", "UNSUPPORTED_FEATURE")
	refuse(t, s, "PREPARE q FROM @nothing", "DATATYPE_MISMATCH")
	want(t, s, "PREPARE q FROM 'SELECT 1'")
	want(t, s, "DEALLOCATE PREPARE q")
	refuse(t, s, "DEALLOCATE PREPARE q", "DELTASQL_UNKNOWN_STATEMENT")
	want(t, s, "EXECUTE IMMEDIATE 'SELECT ? + :more' USING 1, 2 AS more", `[3]`)
	want(t, s, "EXECUTE IMMEDIATE 'SELECT 5' INTO @five")
	want(t, s, "SELECT @five", `[5]`)
	refuse(t, s, "SELECT ?", "UNBOUND_SQL_PARAMETER")
}

// TestDescribe holds the columns that a statement is described with before it runs against those that it then has.
func TestDescribe(t *testing.T) {
	s, _ := openWarehouse(t)
	long := Parameter{Value: protocol.Value{Kind: protocol.KindLong, Int: 1}, Type: protocol.DataType{Kind: protocol.KindLong}}
	for _, c := range []struct {
		sql        string
		parameters int
		described  string // "" for no columns
		run        string
	}{
		{"SELECT 1 AS a, 'x' AS b", 0, "a int, b string", "a int, b string"},
		{"SELECT id, name FROM people WHERE id = ?", 1, "id int, name string", "id int, name string"},
		{"SELECT ? AS p, id FROM people LIMIT ?", 2, "p string, id int", "p bigint, id int"},
		{"SELECT id FROM people VERSION AS OF ?", 1, "id int", "id int"},
		{"SHOW TABLES", 0, "namespace string, tableName string, isTemporary boolean", "namespace string, tableName string, isTemporary boolean"},
		{"DESCRIBE people", 0, "col_name string, data_type string, comment string", "col_name string, data_type string, comment string"},
		{"SET @a = ?", 1, "", ""},
	} {
		p, err := s.Prepare(t.Context(), c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := columnText(p.Columns()); got != c.described || p.Parameters() != c.parameters || p.Text() != c.sql {
			t.Errorf("%s is described as %q with %d parameters", c.sql, got, p.Parameters())
		}
		values := make([]Parameter, c.parameters)
		for i := range values {
			values[i] = long
		}
		for range 2 {
			result, err := p.Execute(t.Context(), values)
			if err != nil {
				if c.run != "" {
					t.Errorf("%s: %v", c.sql, err)
				}
				break
			}
			if got := columnText(result.Columns); got != c.run {
				t.Errorf("%s gives %q, want %q", c.sql, got, c.run)
			}
			result.Close()
		}
		if _, err := p.Execute(t.Context(), append(values, long)); protocol.ClassOf(err) != "WRONG_NUM_ARGS" {
			t.Errorf("%s with a value too many: %v", c.sql, err)
		}
	}
	for sql, class := range map[string]protocol.Class{
		"SELECT nope FROM people WHERE id = ?": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "SELECT * FROM nowhere WHERE id = ?": "DELTA_TABLE_NOT_FOUND", "SELECT ?,": "PARSE_SYNTAX_ERROR",
	} {
		if _, err := s.Prepare(t.Context(), sql); protocol.ClassOf(err) != class {
			t.Errorf("%s: %v, want %s", sql, err, class)
		}
	}
}

func columnText(columns []ColumnInfo) string {
	text := ""
	for i, c := range columns {
		if i > 0 {
			text += ", "
		}
		text += c.Name + " " + c.Type.String()
	}
	return text
}

// TestDigits follows times to where they come from.
func TestDigits(t *testing.T) {
	s, _ := openWarehouse(t)
	want(t, s, "SET deltasql_dialect = mysql")
	for sql, digits := range map[string]int{
		"SELECT ntz FROM moments": 6, "SELECT max(ntz) FROM moments": 6, "SELECT ntz + INTERVAL 1 DAY FROM moments": 6, "SELECT x FROM (SELECT ntz AS x FROM moments) t": 6,
		"WITH c AS (SELECT ntz FROM moments) SELECT ntz FROM c": 6, "SELECT TIMESTAMP '2024-01-01 00:00:00'": 0, "SELECT TIMESTAMP '2024-01-01 00:00:00.25'": 2,
		"SELECT TIMESTAMP '2024-01-01 00:00:00' UNION ALL SELECT ntz FROM moments": 6, "SELECT NOW()": 0, "SELECT (SELECT max(ntz) FROM moments)": 6,
	} {
		p, err := s.Prepare(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := p.Columns()[0].Digits; got != digits {
			t.Errorf("%s: %d digits, want %d", sql, got, digits)
		}
	}
}
