package duck

import (
	"fmt"
	"path/filepath"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Kind is a DuckDB type without its parameters.
type Kind uint8

// The kinds a result column can have. Unknown ones (KindOther) have no accessor: cast them in the SQL text.
const (
	KindOther Kind = iota
	KindNull
	KindBoolean
	KindTinyInt
	KindSmallInt
	KindInteger
	KindBigInt
	KindUTinyInt
	KindUSmallInt
	KindUInteger
	KindUBigInt
	KindHugeInt
	KindUHugeInt
	KindFloat
	KindDouble
	KindDecimal
	KindVarchar
	KindBlob
	KindDate        // days since 1970-01-01
	KindTime        // microseconds since midnight
	KindTimestamp   // microseconds, zone-less
	KindTimestampS  // seconds, zone-less
	KindTimestampMS // milliseconds, zone-less
	KindTimestampNS // nanoseconds, zone-less
	KindTimestampTZ // microseconds, an instant
	KindInterval
	KindUUID
	KindEnum
	KindList
	KindArray
	KindStruct
	KindMap
	KindVariant
	KindGeometry
	KindBit
	KindTimestampTZNS // nanoseconds, an instant
)

var kindOf = map[bindings.Type]Kind{
	bindings.TypeSQLNull: KindNull, bindings.TypeBoolean: KindBoolean,
	bindings.TypeTinyInt: KindTinyInt, bindings.TypeSmallInt: KindSmallInt, bindings.TypeInteger: KindInteger,
	bindings.TypeBigInt: KindBigInt, bindings.TypeUTinyInt: KindUTinyInt, bindings.TypeUSmallInt: KindUSmallInt,
	bindings.TypeUInteger: KindUInteger, bindings.TypeUBigInt: KindUBigInt, bindings.TypeHugeInt: KindHugeInt,
	bindings.TypeUHugeInt: KindUHugeInt, bindings.TypeFloat: KindFloat, bindings.TypeDouble: KindDouble,
	bindings.TypeDecimal: KindDecimal, bindings.TypeVarchar: KindVarchar, bindings.TypeBlob: KindBlob,
	bindings.TypeDate: KindDate, bindings.TypeTime: KindTime, bindings.TypeTimestamp: KindTimestamp,
	bindings.TypeTimestampS: KindTimestampS, bindings.TypeTimestampMS: KindTimestampMS,
	bindings.TypeTimestampNS: KindTimestampNS, bindings.TypeTimestampTZ: KindTimestampTZ,
	bindings.TypeInterval: KindInterval, bindings.TypeUUID: KindUUID, bindings.TypeEnum: KindEnum,
	bindings.TypeList: KindList, bindings.TypeArray: KindArray, bindings.TypeStruct: KindStruct,
	bindings.TypeMap: KindMap, bindings.TypeVariant: KindVariant, bindings.TypeGeometry: KindGeometry,
	bindings.TypeBit: KindBit, bindings.TypeTimestampTZNS: KindTimestampTZNS,
}

var kindNames = [...]string{
	KindOther: "OTHER", KindNull: "\"NULL\"", KindBoolean: "BOOLEAN", KindTinyInt: "TINYINT", KindSmallInt: "SMALLINT",
	KindInteger: "INTEGER", KindBigInt: "BIGINT", KindUTinyInt: "UTINYINT", KindUSmallInt: "USMALLINT",
	KindUInteger: "UINTEGER", KindUBigInt: "UBIGINT", KindHugeInt: "HUGEINT", KindUHugeInt: "UHUGEINT",
	KindFloat: "FLOAT", KindDouble: "DOUBLE", KindDecimal: "DECIMAL", KindVarchar: "VARCHAR", KindBlob: "BLOB",
	KindDate: "DATE", KindTime: "TIME", KindTimestamp: "TIMESTAMP", KindTimestampS: "TIMESTAMP_S",
	KindTimestampMS: "TIMESTAMP_MS", KindTimestampNS: "TIMESTAMP_NS", KindTimestampTZ: "TIMESTAMP WITH TIME ZONE",
	KindInterval: "INTERVAL", KindUUID: "UUID", KindEnum: "ENUM", KindList: "LIST", KindArray: "ARRAY",
	KindStruct: "STRUCT", KindMap: "MAP", KindVariant: "VARIANT", KindGeometry: "GEOMETRY", KindBit: "BIT",
	KindTimestampTZNS: "TIMESTAMP_TZ_NS",
}

// Type is a DuckDB type with its parameters.
//
//	KindDecimal          Width digits, Scale of them behind the point
//	KindList, KindArray  Children[0] is the element; Size the length of a KindArray
//	KindStruct           Names and Children, one each a member
//	KindMap              Children[0] is the entry: a struct of key and value
//	KindEnum             Names holds the dictionary
type Type struct {
	Kind         Kind
	Width, Scale uint8
	Size         int
	Names        []string
	Children     []Type
}

// Column is a result column.
type Column struct {
	Name string
	Type Type
}

// String is the type in DuckDB's own spelling.
func (t Type) String() string {
	switch t.Kind {
	case KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Width, t.Scale)
	case KindList:
		return t.Children[0].String() + "[]"
	case KindArray:
		return fmt.Sprintf("%s[%d]", t.Children[0], t.Size)
	case KindMap:
		entry := t.Children[0]
		return fmt.Sprintf("MAP(%s, %s)", entry.Children[0], entry.Children[1])
	case KindStruct:
		var text strings.Builder
		text.WriteString("STRUCT(")
		for i, child := range t.Children {
			if i > 0 {
				text.WriteString(", ")
			}
			text.WriteString(QuoteIdentifier(t.Names[i]))
			text.WriteByte(' ')
			text.WriteString(child.String())
		}
		text.WriteByte(')')
		return text.String()
	default:
		return kindNames[t.Kind]
	}
}

// maxTypeDepth bounds the nesting of a type read from DuckDB; deeper parts become KindOther.
const maxTypeDepth = 128

// typeOf reads a logical type and destroys it.
func typeOf(logical bindings.LogicalType, depth int) Type {
	defer bindings.DestroyLogicalType(&logical)
	t := Type{Kind: kindOf[bindings.GetTypeId(logical)]}
	if depth > maxTypeDepth {
		return Type{Kind: KindOther}
	}
	switch t.Kind {
	case KindDecimal:
		t.Width, t.Scale = bindings.DecimalWidth(logical), bindings.DecimalScale(logical)
	case KindList:
		t.Children = []Type{typeOf(bindings.ListTypeChildType(logical), depth+1)}
	case KindArray:
		t.Size = int(bindings.ArrayTypeArraySize(logical))
		t.Children = []Type{typeOf(bindings.ArrayTypeChildType(logical), depth+1)}
	case KindMap:
		t.Children = []Type{{Kind: KindStruct, Names: []string{"key", "value"}, Children: []Type{
			typeOf(bindings.MapTypeKeyType(logical), depth+1), typeOf(bindings.MapTypeValueType(logical), depth+1),
		}}}
	case KindStruct:
		for i := range bindings.StructTypeChildCount(logical) {
			t.Names = append(t.Names, bindings.StructTypeChildName(logical, i))
			t.Children = append(t.Children, typeOf(bindings.StructTypeChildType(logical, i), depth+1))
		}
	case KindEnum:
		for i := range bindings.EnumDictionarySize(logical) {
			t.Names = append(t.Names, bindings.EnumDictionaryValue(logical, bindings.IdxT(i)))
		}
	}
	return t
}

// QuoteIdentifier writes a name as a DuckDB identifier.
func QuoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteString writes a text as a DuckDB string literal. DuckDB has no backslash escapes in such literals; a NUL byte,
// which its parser does not take, is joined in by chr(0).
func QuoteString(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.IndexByte(quoted, 0) >= 0 {
		quoted = "(" + strings.ReplaceAll(quoted, "\x00", "' || chr(0) || '") + ")"
	}
	return quoted
}

// GlobCharacters make DuckDB take a path for a pattern.
const GlobCharacters = "*?["

// LiteralPath writes a path so that DuckDB's globbing matches only itself. In its patterns a backslash separates folders and
// cannot be escaped, so a path that has both stays as it is: taken as a pattern it matches nothing, and DuckDB then takes
// it as a name.
func LiteralPath(path string) string {
	if !strings.ContainsAny(path, GlobCharacters) || filepath.Separator == '/' && strings.Contains(path, `\`) {
		return path
	}
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
