package duckgen

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// manyRows is from where on constant rows are printed as one text. DuckDB plans each cell of VALUES by itself, which takes seconds for
// the rows that a dump inserts at once; a text is read in a moment and its columns are cast as columns.
const manyRows = 50

// constantRows prints VALUES whose cells are all constants as a JSON text of texts; false where there are few rows or other cells.
func constantRows(v *expr.Values) (string, bool) {
	if len(v.Rows) < manyRows {
		return "", false
	}
	types := make([]protocol.DataType, len(v.Rows[0]))
	var rows strings.Builder
	for i, row := range v.Rows {
		for j, x := range row {
			l, ok := x.(*expr.Literal)
			if !ok || i > 0 && !l.Of.Equal(types[j]) {
				return "", false
			}
			types[j] = l.Of
			rows.WriteString(separator(i, j))
			if l.Value.Null {
				rows.WriteString("null")
				continue
			}
			text, ok := cellText(l)
			if !ok {
				return "", false
			}
			quoted, err := json.Marshal(text)
			if err != nil {
				return "", false
			}
			rows.Write(quoted)
		}
	}
	items := make([]string, len(types))
	for j, t := range types {
		cell := fmt.Sprintf("r[%d]", j+1)
		switch t.Kind {
		case protocol.KindString:
			items[j] = cell
		case protocol.KindBinary:
			items[j] = "unhex(" + cell + ")"
		default:
			items[j] = "CAST(" + cell + " AS " + expr.DuckType(t) + ")"
		}
		items[j] += " AS c" + strconv.Itoa(j)
	}
	text := strings.ReplaceAll("["+rows.String()+"]]", "'", "''")
	return "SELECT " + strings.Join(items, ", ") + " FROM (SELECT unnest(from_json('" + text + `', '[["VARCHAR"]]')) AS r)`, true
}

// separator is what stands before cell j of row i.
func separator(i, j int) string {
	switch {
	case j > 0:
		return ","
	case i > 0:
		return "],["
	}
	return "["
}

// cellText is the text from which DuckDB casts exactly a constant's value; false for what has none here.
func cellText(l *expr.Literal) (string, bool) {
	v := l.Value
	switch l.Of.Kind {
	case protocol.KindBoolean:
		return strconv.FormatBool(v.Int != 0), true
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return strconv.FormatInt(v.Int, 10), true
	case protocol.KindFloat:
		return strings.Trim(float(v.Float, 32), "'"), true
	case protocol.KindDouble:
		return strings.Trim(float(v.Float, 64), "'"), true
	case protocol.KindDecimal:
		return v.Dec.String(v.Scale), true
	case protocol.KindString:
		return v.Str, utf8.ValidString(v.Str) && !strings.ContainsRune(v.Str, 0)
	case protocol.KindBinary:
		return hex.EncodeToString([]byte(v.Str)), true
	case protocol.KindDate, protocol.KindTimestampNTZ:
		return v.Text(), true
	case protocol.KindTimestamp:
		return v.Text() + "+00", true
	}
	return "", false
}
