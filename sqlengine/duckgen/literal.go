package duckgen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// literal prints a constant so that DuckDB reads exactly its type and value.
func (p *printer) literal(l *expr.Literal) string {
	v, t := l.Value, l.Of
	if v.Null {
		if t.Kind == protocol.KindVoid {
			return "NULL"
		}
		return "CAST(NULL AS " + expr.DuckType(t) + ")"
	}
	switch t.Kind {
	case protocol.KindBoolean:
		if v.Int != 0 {
			return "TRUE"
		}
		return "FALSE"
	case protocol.KindInteger:
		if v.Int >= 0 {
			return strconv.FormatInt(v.Int, 10)
		}
		return "(" + strconv.FormatInt(v.Int, 10) + ")::INTEGER"
	case protocol.KindByte, protocol.KindShort, protocol.KindLong:
		text := strconv.FormatInt(v.Int, 10)
		if v.Int < 0 {
			text = "(" + text + ")"
		}
		return text + "::" + expr.DuckType(t)
	case protocol.KindFloat:
		return float(v.Float, 32) + "::FLOAT"
	case protocol.KindDouble:
		return float(v.Float, 64) + "::DOUBLE"
	case protocol.KindDecimal:
		return "CAST('" + v.Dec.String(v.Scale) + "' AS " + expr.DuckType(t) + ")"
	case protocol.KindString:
		return p.text(v.Str)
	case protocol.KindBinary, protocol.KindGeometry, protocol.KindGeography:
		return blob(v.Str)
	case protocol.KindDate:
		return "'" + v.Text() + "'::DATE"
	case protocol.KindTimestamp:
		return "'" + v.Text() + "+00'::TIMESTAMPTZ"
	case protocol.KindTimestampNTZ:
		return "'" + v.Text() + "'::TIMESTAMP"
	case protocol.KindIntervalYearMonth:
		return "to_months((" + strconv.FormatInt(v.Int, 10) + ")::INTEGER)"
	case protocol.KindIntervalDayTime:
		return "to_microseconds((" + strconv.FormatInt(v.Int, 10) + ")::BIGINT)"
	}
	return p.fail("a literal of type %s", t)
}

// float prints a number that parses back to the same bits; what has no number is text to be cast.
func float(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "'nan'"
	case math.IsInf(f, 1):
		return "'inf'"
	case math.IsInf(f, -1):
		return "'-inf'"
	}
	return "'" + strconv.FormatFloat(f, 'g', -1, bits) + "'"
}

// text prints a string. DuckDB's parser ends a statement at a NUL, so one is put in by chr.
func (p *printer) text(s string) string {
	if !strings.ContainsRune(s, 0) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	parts := strings.Split(s, "\x00")
	for i, part := range parts {
		parts[i] = "'" + strings.ReplaceAll(part, "'", "''") + "'"
	}
	return "(" + strings.Join(parts, " || chr(0) || ") + ")"
}

// blob prints bytes; all are escaped, so that no encoding matters.
func blob(s string) string {
	var text strings.Builder
	text.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		fmt.Fprintf(&text, `\x%02X`, s[i])
	}
	text.WriteString("'::BLOB")
	return text.String()
}
