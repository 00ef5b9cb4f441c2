package scan

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// partitionValue decodes a file's value of a partition column. The empty text is NULL, except for a string column that
// cannot be NULL, where it can only mean itself.
func partitionValue(f *dataFile, field protocol.Field, name protocol.PhysicalName) (protocol.Value, error) {
	text, null := f.partition(name)
	if !null && text == "" && field.Type.Kind == protocol.KindString && !field.Nullable {
		return protocol.Value{Kind: protocol.KindString}, nil
	}
	v, err := protocol.DecodePartitionValue(field.Type, text, null, nil)
	if err != nil {
		return v, protocol.NewError(protocol.ClassOf(err), "data file %s, column %s", f.path, field.Name).WithCause(err)
	}
	return v, nil
}

// literal writes a value as a DuckDB constant of its type.
func literal(v protocol.Value, t protocol.DataType) (string, error) {
	text, err := TypeText(t, protocol.MappingNone)
	if err != nil {
		return "", err
	}
	if v.Null {
		return "CAST(NULL AS " + text + ")", nil
	}
	switch t.Kind {
	case protocol.KindBoolean:
		return strconv.FormatBool(v.Int != 0), nil
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return fmt.Sprintf("CAST(%s AS %s)", duck.QuoteString(strconv.FormatInt(v.Int, 10)), text), nil
	case protocol.KindString:
		return duck.QuoteString(v.Str), nil
	case protocol.KindDate:
		return fmt.Sprintf("make_date(CAST(%d AS INTEGER))", v.Int), nil
	case protocol.KindTimestamp:
		return fmt.Sprintf("CAST(make_timestamp(CAST(%s AS BIGINT)) AS %s)", duck.QuoteString(strconv.FormatInt(v.Int, 10)), text), nil
	case protocol.KindTimestampNTZ:
		return fmt.Sprintf("make_timestamp(CAST(%s AS BIGINT))", duck.QuoteString(strconv.FormatInt(v.Int, 10))), nil
	}
	if inner, ok := valueText(v); ok {
		return fromText(duck.QuoteString(inner), t, text)
	}
	return fromInteger(fmt.Sprintf("CAST(%d AS BIGINT)", v.Int), t, text)
}

// valueText is the text by which a value of a type that is no integer inside travels.
func valueText(v protocol.Value) (string, bool) {
	switch v.Kind {
	case protocol.KindString:
		return v.Str, true
	case protocol.KindBinary:
		return hex.EncodeToString([]byte(v.Str)), true
	case protocol.KindDecimal:
		return v.Dec.String(v.Scale), true
	case protocol.KindFloat, protocol.KindDouble:
		switch {
		case math.IsNaN(v.Float):
			return "nan", true
		case math.IsInf(v.Float, 0):
			return map[bool]string{true: "inf", false: "-inf"}[v.Float > 0], true
		}
		return strconv.FormatFloat(v.Float, 'g', -1, 64), true
	}
	return "", false
}

// castFromText says that values of the type travel as text (valueText) that is not yet the value.
func castFromText(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindBinary, protocol.KindDecimal, protocol.KindFloat, protocol.KindDouble:
		return true
	}
	return false
}

// fromText makes a value of a VARCHAR expression that valueText wrote.
func fromText(e string, t protocol.DataType, text string) (string, error) {
	switch t.Kind {
	case protocol.KindString:
		return e, nil
	case protocol.KindBinary:
		return "from_hex(" + e + ")", nil
	case protocol.KindDecimal, protocol.KindDouble:
		return "CAST(" + e + " AS " + text + ")", nil
	case protocol.KindFloat:
		return "CAST(CAST(" + e + " AS DOUBLE) AS FLOAT)", nil
	}
	return "", unsupportedType(t)
}

// fromInteger makes a value of a BIGINT expression that has Value.Int.
func fromInteger(e string, t protocol.DataType, text string) (string, error) {
	switch t.Kind {
	case protocol.KindVoid:
		return "CAST(NULL AS " + text + ")", nil
	case protocol.KindBoolean:
		return "(" + e + " = 1)", nil
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger:
		return "CAST(" + e + " AS " + text + ")", nil
	case protocol.KindLong:
		return e, nil
	case protocol.KindDate:
		return "make_date(CAST(" + e + " AS INTEGER))", nil
	case protocol.KindTimestampNTZ:
		return "make_timestamp(" + e + ")", nil
	case protocol.KindTimestamp:
		return "CAST(make_timestamp(" + e + ") AS " + text + ")", nil
	case protocol.KindIntervalYearMonth:
		return "to_months(CAST(" + e + " AS INTEGER))", nil
	case protocol.KindIntervalDayTime:
		return "to_microseconds(" + e + ")", nil
	}
	return "", unsupportedType(t)
}
