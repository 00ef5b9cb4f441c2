package wire

import (
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/expr"
)

// column is a result column as the client sees it, and how its values are written.
type column struct {
	name     string
	of       protocol.DataType
	kind     uint8
	charset  uint16
	length   uint32
	decimals uint8
	flags    uint16
	digits   int        // of a time's fraction in text, at least
	text     appendFunc // a value of a text row
	binary   appendFunc // a value of a binary row
}

// appendFunc appends a value that is not NULL, or answers false for one that the protocol cannot carry.
type appendFunc func(w *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool)

// Lengths of columns whose values have no bound of their own.
const (
	anyText   = 65535 * 4
	anyBinary = 1<<32 - 1
)

// allDigits is the number of digits of microseconds. Times are described with them whatever their text shows, since some clients cut
// binary values to what the description says.
const allDigits = 6

// columnsOf maps result columns. An interval of days is a TIME to the MySQL dialect, in which nothing else makes one.
func columnsOf(infos []sqlengine.ColumnInfo, dialect expr.Dialect) []column {
	columns := make([]column, len(infos))
	for i, info := range infos {
		columns[i] = columnOf(info, dialect)
	}
	return columns
}

func columnOf(info sqlengine.ColumnInfo, dialect expr.Dialect) column {
	c := column{name: info.Name, of: info.Type, charset: charsetBinary, digits: info.Digits}
	if dialect != expr.MySQL {
		c.digits = allDigits
	}
	if !info.Nullable {
		c.flags |= flagNotNull
	}
	if !isNumber(info.Type.Kind) { // as in MySQL; a client may take a boolean that is flagged binary for bytes
		c.flags |= flagBinary
	}
	integer := func(kind uint8, length uint32, binary appendFunc) {
		c.kind, c.length, c.text, c.binary = kind, length, textInteger, binary
	}
	switch info.Type.Kind {
	case protocol.KindVoid:
		c.kind, c.text, c.binary = typeNull, textNever, textNever
	case protocol.KindBoolean:
		integer(typeTiny, 1, binaryTiny)
	case protocol.KindByte:
		integer(typeTiny, 4, binaryTiny)
	case protocol.KindShort:
		integer(typeShort, 6, binaryShort)
	case protocol.KindInteger:
		integer(typeLong, 11, binaryLong)
	case protocol.KindLong:
		integer(typeLongLong, 20, binaryLongLong)
	case protocol.KindFloat:
		c.kind, c.length, c.decimals, c.text, c.binary = typeFloat, 12, notFixed, textFloat, binaryFloat
	case protocol.KindDouble:
		c.kind, c.length, c.decimals, c.text, c.binary = typeDouble, 22, notFixed, textFloat, binaryDouble
	case protocol.KindDecimal:
		if info.Type.Parameter == protocol.UnsignedLong {
			c.kind, c.length, c.text, c.binary = typeLongLong, 20, textDecimal, binaryLongLong
			c.flags |= flagUnsigned
			break
		}
		c.kind, c.decimals = typeNewDecimal, uint8(info.Type.Scale)
		if c.length = uint32(info.Type.Precision) + 1; info.Type.Scale > 0 {
			c.length++
		}
		c.text, c.binary = textDecimal, textDecimal
	case protocol.KindBinary:
		c.kind, c.length, c.flags = typeBlob, anyBinary, c.flags|flagBlob
		c.text, c.binary = textBytes, textBytes
	case protocol.KindGeometry, protocol.KindGeography:
		c.kind, c.length, c.flags = typeGeometry, anyBinary, c.flags|flagBlob
		c.text, c.binary = textGeometry, textGeometry
	case protocol.KindDate:
		c.kind, c.length, c.text, c.binary = typeDate, 10, textDate, binaryDate
	case protocol.KindTimestamp:
		c.kind, c.length, c.decimals, c.text, c.binary = typeTimestamp, 26, allDigits, textMoment, binaryMoment
	case protocol.KindTimestampNTZ:
		c.kind, c.length, c.decimals, c.text, c.binary = typeDatetime, 26, allDigits, textMoment, binaryMoment
	case protocol.KindIntervalDayTime:
		if dialect == expr.MySQL {
			c.kind, c.length, c.decimals, c.text, c.binary = typeTime, 17, allDigits, textTime, binaryTime
			break
		}
		c.written(textRendered)
	case protocol.KindIntervalYearMonth, protocol.KindFile:
		c.written(textRendered)
	case protocol.KindVariant, protocol.KindArray, protocol.KindMap, protocol.KindStruct:
		c.kind, c.length, c.flags = typeJSON, anyBinary, c.flags|flagBlob
		c.text, c.binary = textJSON, textJSON
	default:
		if c.written(textBytes); info.JSON && dialect == expr.MySQL {
			c.kind, c.charset, c.length, c.flags = typeJSON, charsetBinary, anyBinary, c.flags|flagBinary|flagBlob
			c.text, c.binary = textJSON, textJSON
		}
	}
	return c
}

func isNumber(kind protocol.Kind) bool {
	return kind >= protocol.KindBoolean && kind <= protocol.KindDecimal
}

// written makes the column one of text.
func (c *column) written(as appendFunc) {
	c.kind, c.charset, c.length, c.flags = typeVarString, charsetUTF8MB4, anyText, c.flags&^flagBinary
	c.text, c.binary = as, as
}

// define writes a column definition. A column of COM_FIELD_LIST has its default behind it, here always NULL.
func (c *column) define(out []byte, database, table string, listed bool) []byte {
	out = appendText(out, "def")
	out = appendText(out, database)
	out = appendText(out, table)
	out = appendText(out, table)
	out = appendText(out, c.name)
	original := ""
	if table != "" {
		original = c.name
	}
	out = appendText(out, original)
	out = append(out, 0x0c)
	out = appendUint16(out, c.charset)
	out = appendUint32(out, c.length)
	out = append(out, c.kind)
	out = appendUint16(out, c.flags)
	out = append(out, c.decimals, 0, 0)
	if listed {
		out = append(out, 0xfb)
	}
	return out
}

// parameterColumn describes a ? before its value is known.
var parameterColumn = column{name: "?", kind: typeVarString, charset: charsetBinary, flags: flagBinary}

// referenceSystem is the number of a geometry's reference system ("OGC:CRS84", "EPSG:3857", "4326"); 0 where it has none.
func referenceSystem(parameter string) uint32 {
	parameter, _, _ = strings.Cut(parameter, ",")
	if strings.EqualFold(parameter, "OGC:CRS84") || parameter == "" {
		return 4326
	}
	if at := strings.LastIndexByte(parameter, ':'); at >= 0 {
		parameter = parameter[at+1:]
	}
	n, err := strconv.ParseUint(strings.TrimSpace(parameter), 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// zoneSpan keeps the offset of a zone for the span of time in which it is constant, since values of one result lie close together.
type zoneSpan struct {
	zone     *time.Location
	from, to int64 // microseconds since 1970
	offset   int64 // microseconds
}

// local turns an instant into the zone's wall clock.
func (z *zoneSpan) local(micros int64) int64 {
	if z.zone == time.UTC || z.zone == nil {
		return micros
	}
	if micros < z.from || micros >= z.to {
		at := time.UnixMicro(micros).In(z.zone)
		_, seconds := at.Zone()
		z.offset = int64(seconds) * 1e6
		start, end := at.ZoneBounds()
		if z.from, z.to = -1<<63, 1<<63-1; !start.IsZero() {
			z.from = start.UnixMicro()
		}
		if !end.IsZero() {
			z.to = end.UnixMicro()
		}
	}
	return micros + z.offset
}
