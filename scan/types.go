package scan

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

var scalarTypes = map[protocol.Kind]string{
	protocol.KindVoid: `"NULL"`, protocol.KindBoolean: "BOOLEAN", protocol.KindByte: "TINYINT",
	protocol.KindShort: "SMALLINT", protocol.KindInteger: "INTEGER", protocol.KindLong: "BIGINT",
	protocol.KindFloat: "FLOAT", protocol.KindDouble: "DOUBLE", protocol.KindString: "VARCHAR",
	protocol.KindBinary: "BLOB", protocol.KindDate: "DATE", protocol.KindTimestamp: "TIMESTAMP WITH TIME ZONE",
	protocol.KindTimestampNTZ: "TIMESTAMP", protocol.KindVariant: "VARIANT",
	protocol.KindIntervalYearMonth: "INTERVAL", protocol.KindIntervalDayTime: "INTERVAL",
}

// TypeText is the DuckDB type of a Delta type's values. Members of structs are named physically under a column mapping
// mode and logically under protocol.MappingNone.
func TypeText(t protocol.DataType, mode protocol.MappingMode) (string, error) {
	if name, ok := scalarTypes[t.Kind]; ok {
		return name, nil
	}
	switch t.Kind {
	case protocol.KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
	case protocol.KindArray:
		element, err := TypeText(*t.Element, mode)
		return element + "[]", err
	case protocol.KindMap:
		key, err := TypeText(*t.Key, mode)
		if err != nil {
			return "", err
		}
		value, err := TypeText(*t.Value, mode)
		return "MAP(" + key + ", " + value + ")", err
	case protocol.KindStruct, protocol.KindFile:
		list := membersOf(t, mode)
		if len(list) == 0 {
			return "", unsupportedType(t)
		}
		texts := make([]string, len(list))
		for i, m := range list {
			text, err := TypeText(m.typ, mode)
			if err != nil {
				return "", err
			}
			texts[i] = duck.QuoteIdentifier(m.name) + " " + text
		}
		return "STRUCT(" + strings.Join(texts, ", ") + ")", nil
	}
	return "", unsupportedType(t)
}

func unsupportedType(t protocol.DataType) error {
	return protocol.NewError("UNSUPPORTED_FEATURE", "values of type %s cannot be read", t).
		WithHint("leave the column out of the statement")
}

// member is a struct's member with the name that it has in a relation.
type member struct {
	name string
	typ  protocol.DataType
}

// membersOf are the members of a struct, or of a file value, whose names no column mapping changes.
func membersOf(t protocol.DataType, mode protocol.MappingMode) []member {
	fields := t.Fields
	if t.Kind == protocol.KindFile {
		fields, mode = protocol.FileMembers(), protocol.MappingNone
	}
	list := make([]member, len(fields))
	for i, f := range fields {
		list[i] = member{string(f.PhysicalName(mode)), f.Type}
	}
	return list
}

// contains says that the type is, or has somewhere inside it, one that the test accepts.
func contains(t protocol.DataType, test func(protocol.DataType) bool) bool {
	if test(t) {
		return true
	}
	switch t.Kind {
	case protocol.KindArray:
		return contains(*t.Element, test)
	case protocol.KindMap:
		return contains(*t.Key, test) || contains(*t.Value, test)
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if contains(f.Type, test) {
				return true
			}
		}
	}
	return false
}

func ofKind(kinds ...protocol.Kind) func(protocol.DataType) bool {
	return func(t protocol.DataType) bool {
		for _, kind := range kinds {
			if t.Kind == kind {
				return true
			}
		}
		return false
	}
}
