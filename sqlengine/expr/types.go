package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// The scalar types, so that the function tables read like signatures.
var (
	tVoid      = protocol.DataType{Kind: protocol.KindVoid}
	tBoolean   = protocol.DataType{Kind: protocol.KindBoolean}
	tByte      = protocol.DataType{Kind: protocol.KindByte}
	tShort     = protocol.DataType{Kind: protocol.KindShort}
	tInt       = protocol.DataType{Kind: protocol.KindInteger}
	tLong      = protocol.DataType{Kind: protocol.KindLong}
	tFloat     = protocol.DataType{Kind: protocol.KindFloat}
	tDouble    = protocol.DataType{Kind: protocol.KindDouble}
	tString    = protocol.DataType{Kind: protocol.KindString}
	tBinary    = protocol.DataType{Kind: protocol.KindBinary}
	tDate      = protocol.DataType{Kind: protocol.KindDate}
	tTimestamp = protocol.DataType{Kind: protocol.KindTimestamp}
	tNTZ       = protocol.DataType{Kind: protocol.KindTimestampNTZ}
	tVariant   = protocol.DataType{Kind: protocol.KindVariant}
	tMonths    = protocol.DataType{Kind: protocol.KindIntervalYearMonth}
	tDayTime   = protocol.DataType{Kind: protocol.KindIntervalDayTime}
	tUnsigned  = protocol.DataType{Kind: protocol.KindDecimal, Precision: 20, Parameter: protocol.UnsignedLong} // MySQL's BIGINT UNSIGNED
)

const maxPrecision = 38

func decimalOf(precision, scale int) protocol.DataType {
	return protocol.DataType{Kind: protocol.KindDecimal, Precision: precision, Scale: scale}
}

func arrayOf(element protocol.DataType) protocol.DataType {
	return protocol.DataType{Kind: protocol.KindArray, Element: &element, ContainsNull: true}
}

func mapOf(key, value protocol.DataType) protocol.DataType {
	return protocol.DataType{Kind: protocol.KindMap, Key: &key, Value: &value, ValueContainsNull: true}
}

func isIntegral(t protocol.DataType) bool {
	return t.Kind >= protocol.KindByte && t.Kind <= protocol.KindLong
}

func isNumeric(t protocol.DataType) bool {
	return t.Kind >= protocol.KindByte && t.Kind <= protocol.KindDecimal
}

func isFractional(t protocol.DataType) bool {
	return t.Kind >= protocol.KindFloat && t.Kind <= protocol.KindDecimal
}

func isFloating(t protocol.DataType) bool {
	return t.Kind == protocol.KindFloat || t.Kind == protocol.KindDouble
}

func isDatetime(t protocol.DataType) bool {
	return t.Kind >= protocol.KindDate && t.Kind <= protocol.KindTimestampNTZ
}

func isInterval(t protocol.DataType) bool {
	return t.Kind == protocol.KindIntervalYearMonth || t.Kind == protocol.KindIntervalDayTime
}

func isAtomic(t protocol.DataType) bool {
	return t.Kind >= protocol.KindBoolean && t.Kind <= protocol.KindTimestampNTZ || isInterval(t)
}

func isNested(t protocol.DataType) bool { return t.Kind >= protocol.KindArray }

// WithPart adds, to an error about a type without an order, what of a file to compare, group or sort by instead.
func WithPart(err *protocol.Error, t protocol.DataType) *protocol.Error {
	if t.Holds(protocol.KindFile) {
		return err.WithHint("use a part of the file, such as its uri (f.uri), size or checksum")
	}
	return err
}

// isOrderable tells whether values can be compared, grouped and sorted.
func isOrderable(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindVariant, protocol.KindMap, protocol.KindGeometry, protocol.KindGeography, protocol.KindFile:
		return false
	case protocol.KindArray:
		return isOrderable(*t.Element)
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if !isOrderable(f.Type) {
				return false
			}
		}
	}
	return true
}

// integerDecimal is the decimal that holds every value of an integral type.
func integerDecimal(t protocol.DataType) protocol.DataType {
	switch t.Kind {
	case protocol.KindByte:
		return decimalOf(3, 0)
	case protocol.KindShort:
		return decimalOf(5, 0)
	case protocol.KindInteger:
		return decimalOf(10, 0)
	}
	return decimalOf(20, 0)
}

// decimalView is the decimal an operand counts as beside another decimal: an integer literal counts with its own digits.
func decimalView(e Expr) protocol.DataType {
	t := e.Type()
	if t.Kind == protocol.KindDecimal {
		return t
	}
	if l, ok := e.(*Literal); ok && isIntegral(t) && !l.Value.Null && !l.folded {
		return decimalOf(len(strings.TrimPrefix(fmt.Sprint(l.Value.Int), "-")), 0)
	}
	return integerDecimal(t)
}

// adjusted bounds a decimal result to 38 digits as Spark does: whole digits are kept and the scale shrinks, to 6 at least.
func adjusted(precision, scale int) protocol.DataType {
	if precision <= maxPrecision {
		return decimalOf(precision, scale)
	}
	whole := precision - scale
	return decimalOf(maxPrecision, max(maxPrecision-whole, min(scale, 6)))
}

// bounded cuts precision and scale to 38 without the rule of arithmetic.
func bounded(precision, scale int) protocol.DataType {
	return decimalOf(min(precision, maxPrecision), min(scale, maxPrecision))
}

// widerDecimal holds every value of both.
func widerDecimal(a, b protocol.DataType) protocol.DataType {
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	return adjusted(whole+scale, scale)
}

// CommonType is the type both sides of a set operation, the branches of a CASE and the items of a list take. In the Spark
// dialect it follows ANSI type coercion: a string beside another atomic type takes that type (bigint beside an integer).
// In the MySQL dialect different families meet as strings.
func CommonType(a, b protocol.DataType, ctx *Context) (protocol.DataType, error) {
	t, ok := commonType(a, b, ctx)
	if !ok {
		return t, protocol.NewError("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "the types %s and %s have no common type", a, b)
	}
	return t, nil
}

func commonType(a, b protocol.DataType, ctx *Context) (protocol.DataType, bool) {
	if a.Equal(b) {
		return mergeNulls(a, b), true
	}
	if a.Kind == protocol.KindVoid {
		return b, true
	}
	if b.Kind == protocol.KindVoid {
		return a, true
	}
	if isNumeric(a) && isNumeric(b) {
		return commonNumber(a, b, ctx), true
	}
	if isDatetime(a) && isDatetime(b) {
		if a.Kind == protocol.KindTimestamp || b.Kind == protocol.KindTimestamp {
			return tTimestamp, true
		}
		return tNTZ, true
	}
	if isInterval(a) && isInterval(b) {
		return a, false
	}
	if isNested(a) || isNested(b) {
		return commonNested(a, b, ctx)
	}
	if ctx.Dialect == MySQL {
		return commonMySQL(a, b), true
	}
	if a.Kind == protocol.KindString {
		return besideString(b)
	}
	if b.Kind == protocol.KindString {
		return besideString(a)
	}
	return a, false
}

func besideString(t protocol.DataType) (protocol.DataType, bool) {
	switch {
	case isIntegral(t):
		return tLong, true
	case isFractional(t):
		return tDouble, true
	case isAtomic(t):
		return t, true
	}
	return t, false
}

func commonMySQL(a, b protocol.DataType) protocol.DataType {
	if a.Kind == protocol.KindBoolean && isNumeric(b) {
		return b
	}
	if b.Kind == protocol.KindBoolean && isNumeric(a) {
		return a
	}
	if a.Kind == protocol.KindBinary || b.Kind == protocol.KindBinary {
		return tBinary
	}
	return tString
}

func commonNumber(a, b protocol.DataType, ctx *Context) protocol.DataType {
	switch {
	case isIntegral(a) && isIntegral(b):
		return protocol.DataType{Kind: max(a.Kind, b.Kind)}
	case isFloating(a) || isFloating(b):
		if a.Kind == protocol.KindFloat && b.Kind == protocol.KindFloat {
			return tFloat
		}
		return tDouble
	}
	if isIntegral(a) {
		a = integerDecimal(a)
	}
	if isIntegral(b) {
		b = integerDecimal(b)
	}
	return widerDecimal(a, b)
}

// mergeNulls joins the nullability inside two equal types.
func mergeNulls(a, b protocol.DataType) protocol.DataType {
	switch a.Kind {
	case protocol.KindArray:
		element := mergeNulls(*a.Element, *b.Element)
		a.Element, a.ContainsNull = &element, a.ContainsNull || b.ContainsNull
	case protocol.KindMap:
		value := mergeNulls(*a.Value, *b.Value)
		a.Value, a.ValueContainsNull = &value, a.ValueContainsNull || b.ValueContainsNull
	case protocol.KindStruct:
		fields := make([]protocol.Field, len(a.Fields))
		for i, f := range a.Fields {
			f.Type, f.Nullable = mergeNulls(f.Type, b.Fields[i].Type), f.Nullable || b.Fields[i].Nullable
			fields[i] = f
		}
		a.Fields = fields
	}
	return a
}

func commonNested(a, b protocol.DataType, ctx *Context) (protocol.DataType, bool) {
	if a.Kind != b.Kind {
		return a, false
	}
	switch a.Kind {
	case protocol.KindArray:
		element, ok := commonType(*a.Element, *b.Element, ctx)
		return arrayOf(element), ok
	case protocol.KindMap:
		key, okKey := commonType(*a.Key, *b.Key, ctx)
		value, okValue := commonType(*a.Value, *b.Value, ctx)
		return mapOf(key, value), okKey && okValue
	case protocol.KindStruct:
		if len(a.Fields) != len(b.Fields) {
			return a, false
		}
		fields := make([]protocol.Field, len(a.Fields))
		for i, f := range a.Fields {
			t, ok := commonType(f.Type, b.Fields[i].Type, ctx)
			if !ok {
				return a, false
			}
			fields[i] = protocol.Field{Name: f.Name, Type: t, Nullable: f.Nullable || b.Fields[i].Nullable}
		}
		return protocol.DataType{Kind: protocol.KindStruct, Fields: fields}, true
	}
	return a, false
}

// DuckType is DuckDB's spelling of a type. VOID is "NULL" in DuckDB's catalogue but cannot be named in a cast, so it is printed
// as INTEGER: a void value is always NULL and nothing can be read from it.
func DuckType(t protocol.DataType) string {
	switch t.Kind {
	case protocol.KindVoid, protocol.KindInteger:
		return "INTEGER"
	case protocol.KindBoolean:
		return "BOOLEAN"
	case protocol.KindByte:
		return "TINYINT"
	case protocol.KindShort:
		return "SMALLINT"
	case protocol.KindLong:
		return "BIGINT"
	case protocol.KindFloat:
		return "FLOAT"
	case protocol.KindDouble:
		return "DOUBLE"
	case protocol.KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case protocol.KindString:
		return "VARCHAR"
	case protocol.KindDate:
		return "DATE"
	case protocol.KindTimestamp:
		return "TIMESTAMPTZ"
	case protocol.KindTimestampNTZ:
		return "TIMESTAMP"
	case protocol.KindVariant:
		return "VARIANT"
	case protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime:
		return "INTERVAL"
	case protocol.KindArray:
		return DuckType(*t.Element) + "[]"
	case protocol.KindMap:
		return "MAP(" + DuckType(*t.Key) + ", " + DuckType(*t.Value) + ")"
	case protocol.KindStruct:
		var text strings.Builder
		text.WriteString("STRUCT(")
		for i, f := range t.Fields {
			if i > 0 {
				text.WriteString(", ")
			}
			text.WriteString(quoteIdent(string(f.Name)) + " " + DuckType(f.Type))
		}
		return text.String() + ")"
	case protocol.KindFile:
		return `STRUCT("uri" VARCHAR, "offset" BIGINT, "size" BIGINT, "content_type" VARCHAR, "checksum" VARCHAR, "inline" BLOB)`
	}
	return "BLOB"
}

// quoteIdent quotes a DuckDB identifier.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText quotes a DuckDB string literal. The printer leaves quoted text in templates as it is, braces included.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
