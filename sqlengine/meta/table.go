package meta

import (
	"iter"
	"slices"
	"strings"

	"deltasql/protocol"
)

// Column is a column of an answer.
type Column struct {
	Name     string
	Type     protocol.DataType
	Nullable bool
}

// Table is the answer of a metadata statement. A row has one value a column:
//
//	nil, bool, string, int64 (any integer type; a date's days; a timestamp's microseconds), float64,
//	Decimal (its written form), []byte (binary), []string (array<string>), map[string]*string (map<string,string>),
//	[]any (struct, in field order)
//
// Rows may be read once; it ends with the first error.
type Table struct {
	Columns []Column
	Rows    iter.Seq2[[]any, error]
}

// Decimal is a decimal number in its written form.
type Decimal string

// rowsOf makes rows that are already there.
func rowsOf(rows [][]any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

var (
	typeString    = protocol.DataType{Kind: protocol.KindString}
	typeLong      = protocol.DataType{Kind: protocol.KindLong}
	typeInteger   = protocol.DataType{Kind: protocol.KindInteger}
	typeBoolean   = protocol.DataType{Kind: protocol.KindBoolean}
	typeTimestamp = protocol.DataType{Kind: protocol.KindTimestamp}
	typeWallClock = protocol.DataType{Kind: protocol.KindTimestampNTZ}
	typeStrings   = protocol.DataType{Kind: protocol.KindArray, Element: &typeString, ContainsNull: true}
	typeStringMap = protocol.DataType{Kind: protocol.KindMap, Key: &typeString, Value: &typeString, ValueContainsNull: true}
)

func structOf(names ...string) protocol.DataType {
	t := protocol.DataType{Kind: protocol.KindStruct}
	for _, name := range names {
		t.Fields = append(t.Fields, protocol.Field{Name: protocol.LogicalName(name), Type: typeString, Nullable: true})
	}
	return t
}

// micros is a time of the log, in milliseconds, for a timestamp column; one before year 1 or after 9999 is no time and shown as NULL.
func micros(millis int64) any {
	if millis < -62_135_596_800_000 || millis > 253_402_300_799_999 {
		return nil
	}
	return millis * 1000
}

// textOrNull is the text, or NULL where there is none.
func textOrNull(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

func stringMap(m map[string]string) map[string]*string {
	out := make(map[string]*string, len(m))
	for k, v := range m {
		out[k] = &v
	}
	return out
}

// Names is the answer of one string column, in the order of names.
func Names(column string, names []string) Table {
	rows := make([][]any, len(names))
	for i, name := range names {
		rows[i] = []any{name}
	}
	return Table{Columns: []Column{{Name: column, Type: typeString}}, Rows: rowsOf(rows)}
}

// Pairs is an answer of two string columns.
func Pairs(first, second string, pairs [][2]string) Table {
	rows := make([][]any, len(pairs))
	for i, p := range pairs {
		rows[i] = []any{p[0], p[1]}
	}
	return Table{Columns: []Column{{Name: first, Type: typeString}, {Name: second, Type: typeString, Nullable: true}}, Rows: rowsOf(rows)}
}

// Counts is an answer of one row of numbers.
func Counts(names []string, values ...int64) Table {
	row := make([]any, len(values))
	columns := make([]Column, len(values))
	for i, v := range values {
		row[i], columns[i] = v, Column{Name: names[i], Type: typeLong}
	}
	return Table{Columns: columns, Rows: rowsOf([][]any{row})}
}

// MatchLike tells whether a name matches the pattern of SHOW ... LIKE: Spark's patterns are alternatives divided by | in which *
// is any text, MySQL's know % for any text and _ for one character; % is accepted in both. Matching ignores case.
// The null pattern matches everything.
func MatchLike(pattern *string, name string, mysql bool) bool {
	if pattern == nil {
		return true
	}
	name = strings.ToLower(name)
	if mysql {
		return matchWild([]rune(strings.ToLower(*pattern)), []rune(name), "%", "_")
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(*pattern), "|"), func(alternative string) bool {
		return matchWild([]rune(strings.TrimSpace(alternative)), []rune(name), "*%", "")
	})
}

// matchWild matches with backtracking to the last wildcard only, so that it is linear in practice.
func matchWild(pattern, text []rune, many, one string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && strings.ContainsRune(many, pattern[p]):
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == text[t] || strings.ContainsRune(one, pattern[p])):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && strings.ContainsRune(many, pattern[p]) {
		p++
	}
	return p == len(pattern)
}

// Slice keeps rows from offset on, at most limit of them where limited.
func Slice(t Table, offset, limit int64, limited bool) Table {
	rows := t.Rows
	return Table{Columns: t.Columns, Rows: func(yield func([]any, error) bool) {
		at := int64(0)
		for row, err := range rows {
			if limited && at >= offset+limit {
				return
			}
			if (at >= offset || err != nil) && !yield(row, err) {
				return
			}
			at++
		}
	}}
}
