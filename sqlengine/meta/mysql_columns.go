package meta

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
)

// MySQLColumn is a column as MySQL describes it. Texts and numbers that do not apply are nil.
type MySQLColumn struct {
	Name       string
	DataType   string // the bare type, such as decimal
	ColumnType string // the whole type, such as decimal(10,2)
	Nullable   bool
	Key        string // PRI, MUL or empty
	Default    any
	Extra      string
	Comment    string
	Generation string

	Characters, Octets, Precision, Scale, Fraction, CharacterSet, Collation any
}

// The one character set and collation of text, as settings name them.
const (
	mysqlCharacterSet = "utf8mb4"
	mysqlCollation    = "utf8mb4_bin"
)

// MySQLColumns describes columns. Keys are informational: MySQL's clients look for a primary key there.
func MySQLColumns(fields []protocol.Field, keys []ddl.Key) []MySQLColumn {
	out := make([]MySQLColumn, len(fields))
	for i, field := range fields {
		c := MySQLColumn{Name: string(field.Name), Nullable: field.Nullable}
		c.typed(field)
		c.computed(field)
		for _, key := range keys {
			for n, name := range key.Columns {
				switch {
				case !strings.EqualFold(name, c.Name):
				case key.Kind == "PRIMARY KEY":
					c.Key = "PRI"
				case n == 0 && c.Key == "":
					c.Key = "MUL"
				}
			}
		}
		if text, ok := field.Metadata.Comment(); ok {
			c.Comment = text
		}
		out[i] = c
	}
	return out
}

// typed fills in the type. What Delta has and MySQL lacks travels as JSON, and is called so.
func (c *MySQLColumn) typed(field protocol.Field) {
	number := func(name string, precision, scale int64) {
		c.DataType, c.ColumnType, c.Precision, c.Scale = name, name, precision, scale
	}
	text := func(name, whole string, characters int64) {
		c.DataType, c.ColumnType, c.Characters, c.Octets = name, whole, characters, min(characters*4, 1<<32-1)
		c.CharacterSet, c.Collation = mysqlCharacterSet, mysqlCollation
	}
	switch t := field.Type; t.Kind {
	case protocol.KindBoolean:
		number("tinyint", 3, 0)
		c.ColumnType = "tinyint(1)"
	case protocol.KindByte:
		number("tinyint", 3, 0)
	case protocol.KindShort:
		number("smallint", 5, 0)
	case protocol.KindInteger:
		number("int", 10, 0)
	case protocol.KindLong:
		number("bigint", 19, 0)
	case protocol.KindFloat:
		number("float", 12, 0)
		c.Scale = nil
	case protocol.KindDouble:
		number("double", 22, 0)
		c.Scale = nil
	case protocol.KindDecimal:
		number("decimal", int64(t.Precision), int64(t.Scale))
		c.ColumnType = fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case protocol.KindDate:
		c.DataType, c.ColumnType = "date", "date"
	case protocol.KindTimestamp:
		c.DataType, c.ColumnType, c.Fraction = "timestamp", "timestamp(6)", int64(6)
	case protocol.KindTimestampNTZ:
		c.DataType, c.ColumnType, c.Fraction = "datetime", "datetime(6)", int64(6)
	case protocol.KindIntervalDayTime:
		c.DataType, c.ColumnType, c.Fraction = "time", "time(6)", int64(6)
	case protocol.KindBinary:
		c.DataType, c.ColumnType, c.Characters, c.Octets = "longblob", "longblob", int64(1<<32-1), int64(1<<32-1)
	case protocol.KindStruct, protocol.KindArray, protocol.KindMap, protocol.KindVariant:
		c.DataType, c.ColumnType = "json", "json"
	case protocol.KindGeometry, protocol.KindGeography:
		c.DataType, c.ColumnType = "geometry", "geometry"
	default:
		text("text", "text", 65535)
		if name, length, ok := declaredLength(field); ok {
			text(name, fmt.Sprintf("%s(%d)", name, length), length)
		}
	}
}

// declaredLength is the length that a text column was declared with.
func declaredLength(field protocol.Field) (name string, length int64, ok bool) {
	declared, ok := field.Metadata.CharVarchar()
	if !ok || field.Type.Kind != protocol.KindString {
		return "", 0, false
	}
	name, rest, _ := strings.Cut(declared, "(")
	length, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64)
	return strings.ToLower(name), length, err == nil
}

// computed fills in where values come from that a statement does not give.
func (c *MySQLColumn) computed(field protocol.Field) {
	if text, ok := field.Metadata.GenerationExpression(); ok {
		c.Extra, c.Generation = "STORED GENERATED", text
	}
	if identityClause(field) != "" {
		c.Extra = "auto_increment"
	}
	if text, ok := field.Metadata.CurrentDefault(); ok {
		value, literal := literalText(text)
		switch {
		case strings.EqualFold(text, "NULL"):
		case literal:
			c.Default = value
		default:
			c.Default, c.Extra = text, "DEFAULT_GENERATED"
		}
	}
}

// literalText is the value that a literal number or string stands for.
func literalText(text string) (string, bool) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text, true
	}
	if n := len(text); n >= 2 && text[0] == '\'' && text[n-1] == '\'' && !strings.ContainsAny(text[1:n-1], `'\`) {
		return text[1 : n-1], true
	}
	if strings.EqualFold(text, "true") {
		return "1", true
	}
	return "0", strings.EqualFold(text, "false")
}

func yesNo(yes bool) string {
	if yes {
		return "YES"
	}
	return "NO"
}

// ShowMySQLColumns is DESCRIBE and SHOW [FULL] COLUMNS in MySQL's form.
func ShowMySQLColumns(list []MySQLColumn, full bool) Table {
	columns := []Column{{"Field", typeString, false}, {"Type", typeString, false}}
	if full {
		columns = append(columns, Column{"Collation", typeString, true})
	}
	columns = append(columns, Column{"Null", typeString, false}, Column{"Key", typeString, false}, Column{"Default", typeString, true}, Column{"Extra", typeString, false})
	if full {
		columns = append(columns, Column{"Privileges", typeString, false}, Column{"Comment", typeString, false})
	}
	rows := make([][]any, len(list))
	for i, c := range list {
		row := []any{c.Name, c.ColumnType}
		if full {
			row = append(row, c.Collation)
		}
		row = append(row, yesNo(c.Nullable), c.Key, c.Default, c.Extra)
		if full {
			row = append(row, ColumnPrivileges, c.Comment)
		}
		rows[i] = row
	}
	return Table{Columns: columns, Rows: rowsOf(rows)}
}

// ColumnPrivileges are what everyone may do with a column who may use the table.
const ColumnPrivileges = "select,insert,update,references"
