package protocol

// Kind tells the variants of DataType apart.
type Kind uint8

// The kinds, scalar ones first. KindVoid is the type of NULL and of a column without a type yet.
const (
	KindVoid Kind = iota
	KindBoolean
	KindByte
	KindShort
	KindInteger
	KindLong
	KindFloat
	KindDouble
	KindDecimal
	KindString
	KindBinary
	KindDate
	KindTimestamp    // an instant, microseconds
	KindTimestampNTZ // a wall clock reading, microseconds
	KindVariant
	KindIntervalYearMonth // months
	KindIntervalDayTime   // microseconds
	KindGeometry
	KindGeography
	KindFile
	KindArray
	KindMap
	KindStruct
)

// LogicalName is a column's name as users see it; PhysicalName is its name in data files, statistics and partition values.
// They differ under column mapping, which is why they are two types.
type (
	LogicalName  string
	PhysicalName string
)

// DataType is a Delta (Spark) type. Only the fields that its Kind names are set.
type DataType struct {
	Kind              Kind
	Precision, Scale  int       // KindDecimal
	Element           *DataType // KindArray
	ContainsNull      bool      // KindArray
	Key, Value        *DataType // KindMap
	ValueContainsNull bool      // KindMap
	Fields            []Field   // KindStruct
	Parameter         string    // KindGeometry, KindGeography: reference system; KindFile: storage mode; KindDecimal: see UnsignedLong
	Collation         string    // KindString: PROVIDER.NAME where it is not the default UTF8_BINARY
}

// Field is a member of a struct; the table's columns are the fields of its schema.
type Field struct {
	Name     LogicalName
	Type     DataType
	Nullable bool
	Metadata FieldMetadata
}

// MappingMode is the table's column mapping: how a column of the schema is found in data files.
type MappingMode string

// The mapping modes (property delta.columnMapping.mode).
const (
	MappingNone MappingMode = "none"
	MappingName MappingMode = "name"
	MappingID   MappingMode = "id"
)

// UnsignedLong is the Parameter of a decimal(20,0) that stands for MySQL's BIGINT UNSIGNED in an expression: its values go from 0 to
// 18446744073709551615. A column that is stored is a decimal like any other.
const UnsignedLong = "unsigned"
