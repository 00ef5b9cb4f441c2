package wire

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// unsignedMark is set in the second byte of a parameter's type.
const unsignedMark = 0x80

// parameterType is the type of a parameter as its client declares it.
type parameterType struct {
	kind     uint8
	unsigned bool
}

// bindParameters reads what stands behind the head of COM_STMT_EXECUTE. Types that are not sent again are those of the time before; a
// value that was sent ahead by COM_STMT_SEND_LONG_DATA is not sent again either.
func (p *preparedStatement) bindParameters(in *cursor) ([]sqlengine.Parameter, error) {
	count := p.statement.Parameters()
	if count == 0 {
		return nil, nil
	}
	nulls := in.take((count + 7) / 8)
	if in.uint8() == 1 {
		types := make([]parameterType, count)
		for i := range types {
			types[i] = parameterType{in.uint8(), in.uint8()&unsignedMark != 0}
		}
		if !in.bad {
			p.types = types
		}
	}
	if in.bad || len(p.types) != count {
		return nil, protocolFault(1210, "the parameters of the statement have no types")
	}
	out := make([]sqlengine.Parameter, count)
	for i := range out {
		long, sentAhead := p.long[i]
		var err error
		switch {
		case sentAhead:
			out[i] = textParameter(long, p.types[i].kind)
		case nulls[i/8]&(1<<(i%8)) != 0:
			out[i] = nullParameter
		default:
			out[i], err = readParameter(in, p.types[i])
		}
		if err != nil {
			return nil, err
		}
		if in.bad {
			return nil, protocolFault(1835, "the parameters of the statement are cut off")
		}
	}
	return out, nil
}

var nullParameter = sqlengine.Parameter{
	Value: protocol.Value{Kind: protocol.KindVoid, Null: true}, Type: protocol.DataType{Kind: protocol.KindVoid},
}

// readParameter reads one value. Integers of every width are BIGINT, as in MySQL; an unsigned one beyond it is the decimal that stands
// for BIGINT UNSIGNED.
func readParameter(in *cursor, t parameterType) (sqlengine.Parameter, error) {
	integer := func(signed int64, unsigned uint64) (sqlengine.Parameter, error) {
		switch {
		case !t.unsigned:
			return longParameter(signed), nil
		case unsigned <= math.MaxInt64:
			return longParameter(int64(unsigned)), nil
		}
		return decimalParameter(protocol.Int128{Lo: unsigned}, 20, 0), nil
	}
	switch t.kind {
	case typeNull:
		return nullParameter, nil
	case typeTiny:
		n := in.uint8()
		return integer(int64(int8(n)), uint64(n))
	case typeShort, typeYear:
		n := in.uint16()
		return integer(int64(int16(n)), uint64(n))
	case typeLong, typeInt24:
		n := in.uint32()
		return integer(int64(int32(n)), uint64(n))
	case typeLongLong:
		n := in.uint64()
		return integer(int64(n), n)
	case typeFloat:
		return floatParameter(float64(math.Float32frombits(in.uint32())), protocol.KindFloat), nil
	case typeDouble:
		return floatParameter(math.Float64frombits(in.uint64()), protocol.KindDouble), nil
	case typeDate, typeDatetime, typeTimestamp:
		return readMoment(in, t.kind)
	case typeTime:
		return readTime(in)
	case typeDecimal, typeNewDecimal:
		return readDecimal(string(in.text()))
	case typeVarchar, typeVarString, typeString, typeEnum, typeSet, typeJSON, typeBit, typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeGeometry:
		return textParameter(in.text(), t.kind), nil
	}
	return sqlengine.Parameter{}, protocolFault(1210, "a parameter has the unknown type "+strconv.Itoa(int(t.kind)))
}

func longParameter(n int64) sqlengine.Parameter {
	return sqlengine.Parameter{Value: protocol.Value{Kind: protocol.KindLong, Int: n}, Type: protocol.DataType{Kind: protocol.KindLong}}
}

func floatParameter(f float64, kind protocol.Kind) sqlengine.Parameter {
	return sqlengine.Parameter{Value: protocol.Value{Kind: kind, Float: f}, Type: protocol.DataType{Kind: kind}}
}

func decimalParameter(n protocol.Int128, precision, scale int) sqlengine.Parameter {
	return sqlengine.Parameter{
		Value: protocol.Value{Kind: protocol.KindDecimal, Dec: n, Scale: scale},
		Type:  protocol.DataType{Kind: protocol.KindDecimal, Precision: precision, Scale: scale},
	}
}

// textParameter is text, or bytes where the type says so or the bytes are no UTF-8. Many clients send both under one type.
func textParameter(data []byte, kind uint8) sqlengine.Parameter {
	of := protocol.KindString
	switch kind {
	case typeBit, typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeGeometry:
		of = protocol.KindBinary
	default:
		if !utf8.Valid(data) {
			of = protocol.KindBinary
		}
	}
	return sqlengine.Parameter{Value: protocol.Value{Kind: of, Str: string(data)}, Type: protocol.DataType{Kind: of}}
}

// maxPrecision is the most digits of a decimal.
const maxPrecision = 38

// readDecimal reads a number as it is written; one with an exponent is a double.
func readDecimal(text string) (sqlengine.Parameter, error) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return sqlengine.Parameter{}, protocolFault(1367, "the decimal parameter "+strconv.Quote(text)+" is no number")
		}
		return floatParameter(f, protocol.KindDouble), nil
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	n, ok := protocol.ParseInt128Decimal(strings.TrimPrefix(text, "+"), len(fraction))
	if !ok || len(whole)+len(fraction) == 0 {
		return sqlengine.Parameter{}, protocolFault(1367, "the decimal parameter "+strconv.Quote(text)+" is no number of at most 38 digits")
	}
	precision := max(n.Digits(), len(fraction), 1)
	if precision > maxPrecision {
		return sqlengine.Parameter{}, protocolFault(1426, "the decimal parameter "+text+" has more than 38 digits")
	}
	return decimalParameter(n, precision, len(fraction)), nil
}

// readMoment reads a date or a wall clock: year, month, day, and the clock and microseconds where they are not zero.
func readMoment(in *cursor, kind uint8) (sqlengine.Parameter, error) {
	length := in.uint8()
	var year uint16
	var month, day, hour, minute, second uint8
	var fraction uint32
	if length >= 4 {
		year, month, day = in.uint16(), in.uint8(), in.uint8()
	}
	if length >= 7 {
		hour, minute, second = in.uint8(), in.uint8(), in.uint8()
	}
	if length >= 11 {
		fraction = in.uint32()
	}
	switch length {
	case 0, 4, 7, 11:
	default:
		in.bad = true
	}
	switch {
	case in.bad:
		return sqlengine.Parameter{}, nil
	case !validDate(int64(year), int(month), int(day)) || hour > 23 || minute > 59 || second > 59 || fraction >= microsPerSecond:
		return sqlengine.Parameter{}, protocolFault(1292, "a date parameter is not in the calendar: there are no zero dates here")
	}
	days := daysOf(int64(year), int(month), int(day))
	if kind == typeDate {
		return sqlengine.Parameter{Value: protocol.Value{Kind: protocol.KindDate, Int: days}, Type: protocol.DataType{Kind: protocol.KindDate}}, nil
	}
	micros := days*microsPerDay + (int64(hour)*3600+int64(minute)*60+int64(second))*microsPerSecond + int64(fraction)
	return sqlengine.Parameter{
		Value: protocol.Value{Kind: protocol.KindTimestampNTZ, Int: micros}, Type: protocol.DataType{Kind: protocol.KindTimestampNTZ},
	}, nil
}

// readTime reads a TIME: sign, days, clock, and microseconds where they are not zero.
func readTime(in *cursor) (sqlengine.Parameter, error) {
	length := in.uint8()
	var micros int64
	negative := false
	if length >= 8 {
		negative = in.uint8() != 0
		days := int64(in.uint32())
		hour, minute, second := int64(in.uint8()), int64(in.uint8()), int64(in.uint8())
		if days > 34 || hour > 23 || minute > 59 || second > 59 {
			return sqlengine.Parameter{}, protocolFault(1292, "a time parameter is beyond 838 hours or has no clock")
		}
		micros = ((days*24+hour)*3600 + minute*60 + second) * microsPerSecond
	}
	if length == 12 {
		micros += int64(in.uint32() % microsPerSecond)
	}
	if length != 0 && length != 8 && length != 12 {
		in.bad = true
	}
	if negative {
		micros = -micros
	}
	return sqlengine.Parameter{
		Value: protocol.Value{Kind: protocol.KindIntervalDayTime, Int: micros}, Type: protocol.DataType{Kind: protocol.KindIntervalDayTime},
	}, nil
}
