package wire

import (
	"encoding/base64"
	"math"
	"strconv"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/render"
)

// appendJSON writes a nested value as MySQL's JSON: structs and maps are objects, decimals numbers with all their digits, binary
// base 64, dates and times text as a column of theirs would show it. What JSON has no number for is null.
func (w *rowWriter) appendJSON(out []byte, v *duck.Vector, row int, t *protocol.DataType) []byte {
	if !v.Valid(row) {
		return append(out, "null"...)
	}
	switch t.Kind {
	case protocol.KindBoolean:
		return strconv.AppendBool(out, v.Bool(row))
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return strconv.AppendInt(out, v.Int64(row), 10)
	case protocol.KindFloat, protocol.KindDouble:
		return appendJSONFloat(out, v.Float64(row), t.Kind)
	case protocol.KindDecimal:
		return appendWideDecimal(out, v.Int128(row), t.Scale)
	case protocol.KindString:
		return render.AppendString(out, v.Bytes(row))
	case protocol.KindVariant:
		return appendDocument(out, v.Bytes(row))
	case protocol.KindBinary, protocol.KindGeometry, protocol.KindGeography:
		out = append(out, '"')
		out = base64.StdEncoding.AppendEncode(out, v.Bytes(row))
		return append(out, '"')
	case protocol.KindArray:
		start, length := v.List(row)
		out = append(out, '[')
		for i := range length {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = w.appendJSON(out, v.Child(0), start+i, t.Element)
		}
		return append(out, ']')
	case protocol.KindStruct:
		out = append(out, '{')
		for i := range t.Fields {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(render.AppendString(out, []byte(t.Fields[i].Name)), ": "...)
			out = w.appendJSON(out, v.Child(i), row, &t.Fields[i].Type)
		}
		return append(out, '}')
	case protocol.KindMap:
		return w.appendMap(out, v, row, t)
	case protocol.KindFile:
		return render.AppendJSON(out, v, row, t, render.VariantPlain)
	}
	return w.appendQuoted(out, v, row, t)
}

// appendDocument copies a JSON document with the blanks that MySQL writes: one behind every comma and colon, and no others.
func appendDocument(out, document []byte) []byte {
	quoted := false
	for i := 0; i < len(document); i++ {
		switch c := document[i]; {
		case quoted && c == '\\' && i+1 < len(document):
			out = append(out, c, document[i+1])
			i++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ':':
			out = append(out, c, ' ')
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			continue
		}
		out = append(out, document[i])
	}
	return out
}

func appendJSONFloat(out []byte, f float64, kind protocol.Kind) []byte {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(out, "null"...)
	case kind == protocol.KindFloat:
		return appendFloat(out, f, 32)
	}
	return appendFloat(out, f, 64)
}

// appendMap writes an object; a key that is no text is quoted as JSON has it.
func (w *rowWriter) appendMap(out []byte, v *duck.Vector, row int, t *protocol.DataType) []byte {
	start, length := v.List(row)
	keys, values := v.Child(0).Child(0), v.Child(0).Child(1)
	out = append(out, '{')
	for i := range length {
		if i > 0 {
			out = append(out, ", "...)
		}
		at := len(out)
		if out = w.appendJSON(out, keys, start+i, t.Key); out[at] != '"' {
			text := string(out[at:])
			out = render.AppendString(out[:at], []byte(text))
		}
		out = w.appendJSON(append(out, ": "...), values, start+i, t.Value)
	}
	return append(out, '}')
}

// appendQuoted writes dates, times and intervals as JSON strings.
func (w *rowWriter) appendQuoted(out []byte, v *duck.Vector, row int, t *protocol.DataType) []byte {
	at, ok := len(out), true
	out = append(out, '"')
	switch t.Kind {
	case protocol.KindDate:
		out, ok = appendDate(out, v.Int64(row))
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		out, ok = appendMoment(out, w.wallClock(v, row, t), allDigits)
	default:
		ok = false
	}
	if !ok {
		out = render.AppendText(out[:at+1], v, row, t)
	}
	return append(out, '"')
}
