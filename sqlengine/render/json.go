// Package render writes the values of column batches as text: JSON for programs, plain text for people. It is the one place that
// knows the encoding of the machine-readable formats; the MySQL port and the shell use it for nested values.
package render

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// VariantStyle says how a variant, which arrives as its JSON text, is written.
type VariantStyle uint8

const (
	VariantPlain   VariantStyle = iota // its JSON as it is
	VariantWrapped                     // {"$variant": JSON}
)

// AppendJSON writes one value in the encoding of the machine-readable formats: integers and finite floats as JSON numbers,
// NaN and infinities as strings, decimals as strings with their declared scale, binary as lower-case hexadecimal, instants as
// UTC with a Z, maps as arrays of [key, value] sorted by key, structs as objects in field order.
func AppendJSON(out []byte, v *duck.Vector, row int, t *protocol.DataType, style VariantStyle) []byte {
	if !v.Valid(row) {
		return append(out, "null"...)
	}
	switch t.Kind {
	case protocol.KindVoid:
		return append(out, "null"...)
	case protocol.KindBoolean:
		return strconv.AppendBool(out, v.Bool(row))
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return strconv.AppendInt(out, v.Int64(row), 10)
	case protocol.KindFloat:
		return appendFloat(out, v.Float64(row), 32)
	case protocol.KindDouble:
		return appendFloat(out, v.Float64(row), 64)
	case protocol.KindVariant:
		if style == VariantPlain {
			return append(out, v.Bytes(row)...)
		}
		out = append(out, `{"$variant":`...)
		out = append(out, v.Bytes(row)...)
		return append(out, '}')
	case protocol.KindArray:
		return appendList(out, v, row, t.Element, style)
	case protocol.KindMap:
		return appendMap(out, v, row, t, style)
	case protocol.KindStruct:
		return appendStruct(out, v, row, t, style)
	case protocol.KindFile:
		return appendFile(out, v, row)
	case protocol.KindString:
		return AppendString(out, v.Bytes(row))
	default:
		out = append(out, '"')
		out = appendScalar(out, v, row, t, true)
		return append(out, '"')
	}
}

func appendList(out []byte, v *duck.Vector, row int, element *protocol.DataType, style VariantStyle) []byte {
	start, length := v.List(row)
	child := v.Child(0)
	out = append(out, '[')
	for i := range length {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendJSON(out, child, start+i, element, style)
	}
	return append(out, ']')
}

func appendMap(out []byte, v *duck.Vector, row int, t *protocol.DataType, style VariantStyle) []byte {
	start, length := v.List(row)
	entries := v.Child(0)
	keys, values := entries.Child(0), entries.Child(1)
	order := make([]int, length)
	for i := range order {
		order[i] = start + i
	}
	slices.SortFunc(order, func(a, b int) int { return compareKeys(keys, a, b, t.Key) })
	out = append(out, '[')
	for i, entry := range order {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		out = AppendJSON(out, keys, entry, t.Key, style)
		out = append(out, ',')
		out = AppendJSON(out, values, entry, t.Value, style)
		out = append(out, ']')
	}
	return append(out, ']')
}

// compareKeys orders map keys: integers, floats (NaN first) and points in time by value, everything else by the bytes of its text.
func compareKeys(v *duck.Vector, a, b int, t *protocol.DataType) int {
	switch t.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDate,
		protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return cmp.Compare(v.Int64(a), v.Int64(b))
	case protocol.KindFloat, protocol.KindDouble:
		return cmp.Compare(v.Float64(a), v.Float64(b))
	case protocol.KindString, protocol.KindBinary:
		return bytes.Compare(v.Bytes(a), v.Bytes(b))
	default:
		return bytes.Compare(AppendJSON(nil, v, a, t, VariantPlain), AppendJSON(nil, v, b, t, VariantPlain))
	}
}

func appendStruct(out []byte, v *duck.Vector, row int, t *protocol.DataType, style VariantStyle) []byte {
	out = append(out, '{')
	for i, field := range t.Fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendString(out, []byte(field.Name))
		out = append(out, ':')
		out = AppendJSON(out, v.Child(i), row, &field.Type, style)
	}
	return append(out, '}')
}

// inlineBytes is the member of a file in a result that says how many bytes the value holds itself; it is NULL where it holds none.
const inlineBytes = "inline_bytes"

// appendFile writes a file value as an object of its members, which are texts and integers.
func appendFile(out []byte, v *duck.Vector, row int) []byte {
	out = append(out, '{')
	for i, name := range v.Type().Names {
		if name == inlineBytes && !v.Child(i).Valid(row) {
			continue
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendString(out, []byte(name))
		out = append(out, ':')
		member := v.Child(i)
		kind := protocol.KindString
		if member.Kind() == duck.KindBigInt {
			kind = protocol.KindLong
		}
		out = AppendJSON(out, member, row, &protocol.DataType{Kind: kind}, VariantPlain)
	}
	return append(out, '}')
}

// appendFileText writes a file value for people: its URI, the range that it refers to, and how many bytes it holds itself.
func appendFileText(out []byte, v *duck.Vector, row int) []byte {
	at := map[string]*duck.Vector{}
	for i, name := range v.Type().Names {
		if child := v.Child(i); child.Valid(row) {
			at[name] = child
		}
	}
	start := len(out)
	part := func() {
		if len(out) > start {
			out = append(out, ' ')
		}
	}
	if uri := at["uri"]; uri != nil {
		out = append(out, uri.Bytes(row)...)
	}
	if size := at["size"]; size != nil {
		var offset int64
		if at["offset"] != nil {
			offset = at["offset"].Int64(row)
		}
		part()
		out = append(strconv.AppendInt(append(out, '['), offset, 10), ", "...)
		out = append(strconv.AppendInt(out, offset+size.Int64(row), 10), ')')
	}
	if inline := at[inlineBytes]; inline != nil {
		part()
		out = append(strconv.AppendInt(append(out, "inline, "...), inline.Int64(row), 10), " bytes"...)
	}
	return out
}

func appendFloat(out []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(out, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(out, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(out, `"-Infinity"`...)
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, 'g', -1, bits)
	if !bytes.ContainsAny(out[start:], ".e") {
		out = append(out, ".0"...) // so that a reader of JSON takes it for a fraction
	}
	return out
}

const hexDigits = "0123456789abcdef"

// AppendString writes a JSON string; bytes that are not UTF-8 become U+FFFD.
func AppendString(out, text []byte) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			out = append(out, c)
		default:
			r, size := utf8.DecodeRune(text[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		i++
	}
	return append(out, '"')
}
