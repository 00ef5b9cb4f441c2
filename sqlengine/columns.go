package sqlengine

import (
	"deltasql/sqlengine/expr"
)

// resultColumns describes the columns of a bound query.
func resultColumns(q *expr.Query) []ColumnInfo {
	columns := make([]ColumnInfo, len(q.Columns))
	for i, c := range q.Columns {
		columns[i] = ColumnInfo{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
		columns[i].Digits, columns[i].JSON = expr.Origin(q, i)
	}
	return columns
}

// allDigits is the fraction of a stored time: microseconds.
const allDigits = 6
