package sqlengine

import (
	"deltasql/protocol"
	"deltasql/scan/duck"
)

// readValue reads a scalar of type t from a vector; false for types that are no scalars.
func readValue(v *duck.Vector, row int, t protocol.DataType) (protocol.Value, bool) {
	value := protocol.Value{Kind: t.Kind, Null: !v.Valid(row)}
	if t.Kind == protocol.KindDecimal {
		value.Scale = t.Scale
	}
	if value.Null {
		return value, true
	}
	switch t.Kind {
	case protocol.KindVoid:
		value.Null = true
	case protocol.KindBoolean:
		if v.Bool(row) {
			value.Int = 1
		}
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDate:
		value.Int = v.Int64(row)
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		value.Int = v.Micros(row)
	case protocol.KindFloat, protocol.KindDouble:
		value.Float = v.Float64(row)
	case protocol.KindDecimal:
		wide := v.Int128(row)
		value.Dec = protocol.Int128{Hi: wide.Hi, Lo: wide.Lo}
	case protocol.KindString, protocol.KindBinary:
		value.Str = v.Text(row)
	case protocol.KindIntervalYearMonth:
		value.Int = int64(v.Interval(row).Months)
	case protocol.KindIntervalDayTime:
		interval := v.Interval(row)
		value.Int = int64(interval.Days)*86_400_000_000 + interval.Micros
	default:
		return value, false
	}
	return value, true
}

// sameType tells whether DuckDB's result type is the one that values of t are read as (Q2). A variant arrives as text.
func sameType(t protocol.DataType, got duck.Type) bool {
	switch t.Kind {
	case protocol.KindVoid:
		return true
	case protocol.KindDecimal:
		return got.Kind == duck.KindDecimal && int(got.Width) == t.Precision && int(got.Scale) == t.Scale
	case protocol.KindArray:
		return got.Kind == duck.KindList && sameType(*t.Element, got.Children[0])
	case protocol.KindMap:
		return got.Kind == duck.KindMap && sameType(*t.Key, got.Children[0].Children[0]) && sameType(*t.Value, got.Children[0].Children[1])
	case protocol.KindStruct:
		if got.Kind != duck.KindStruct || len(got.Children) != len(t.Fields) {
			return false
		}
		for i, field := range t.Fields {
			if !sameType(field.Type, got.Children[i]) {
				return false
			}
		}
		return true
	case protocol.KindFile:
		return got.Kind == duck.KindStruct
	}
	return got.Kind == scalarKinds[t.Kind]
}

var scalarKinds = map[protocol.Kind]duck.Kind{
	protocol.KindBoolean: duck.KindBoolean, protocol.KindByte: duck.KindTinyInt, protocol.KindShort: duck.KindSmallInt,
	protocol.KindInteger: duck.KindInteger, protocol.KindLong: duck.KindBigInt, protocol.KindFloat: duck.KindFloat,
	protocol.KindDouble: duck.KindDouble, protocol.KindString: duck.KindVarchar, protocol.KindBinary: duck.KindBlob,
	protocol.KindDate: duck.KindDate, protocol.KindTimestamp: duck.KindTimestampTZ, protocol.KindTimestampNTZ: duck.KindTimestamp,
	protocol.KindVariant: duck.KindVarchar, protocol.KindIntervalYearMonth: duck.KindInterval, protocol.KindIntervalDayTime: duck.KindInterval,
}
