package log

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/parquet-go/parquet-go/compress"

	"deltasql/protocol"
)

// structNode is a Parquet group whose members keep their order, which the library's own group sorts by name. Everything is
// optional but the keys of maps, as the reference writes it.
type structNode struct{ members []parquet.Field }

func newStruct(members ...parquet.Field) structNode { return structNode{members} }

func (structNode) ID() int                     { return 0 }
func (structNode) String() string              { return "struct" }
func (structNode) Type() parquet.Type          { return parquet.Group{}.Type() }
func (structNode) Optional() bool              { return false }
func (structNode) Repeated() bool              { return false }
func (structNode) Required() bool              { return true }
func (structNode) Leaf() bool                  { return false }
func (n structNode) Fields() []parquet.Field   { return n.members }
func (structNode) Encoding() encoding.Encoding { return nil }
func (structNode) Compression() compress.Codec { return nil }
func (structNode) GoType() reflect.Type        { return reflect.TypeFor[struct{}]() }

// member is a named member of a struct.
type member struct {
	parquet.Node
	name string
}

func (m member) Name() string { return m.name }

// Value is for writing Go structs, which is not how these files are written.
func (member) Value(reflect.Value) reflect.Value { return reflect.Value{} }

func optional(name string, node parquet.Node) parquet.Field {
	return member{parquet.Optional(node), name}
}

func textMap() parquet.Node { return parquet.Map(parquet.String(), parquet.Optional(parquet.String())) }

func textList() parquet.Node { return parquet.List(parquet.Optional(parquet.String())) }

func bigint() parquet.Node { return parquet.Leaf(parquet.Int64Type) }

func integer() parquet.Node { return parquet.Leaf(parquet.Int32Type) }

func boolean() parquet.Node { return parquet.Leaf(parquet.BooleanType) }

func vectorStruct() parquet.Node {
	return newStruct(optional("storageType", parquet.String()), optional("pathOrInlineDv", parquet.String()),
		optional("offset", integer()), optional("sizeInBytes", integer()), optional("cardinality", bigint()))
}

// addStruct is the struct of add actions; typed are the members for statistics and partition values by type.
func addStruct(statsText bool, typed ...parquet.Field) parquet.Field {
	members := []parquet.Field{
		optional("path", parquet.String()), optional("partitionValues", textMap()), optional("size", bigint()),
		optional("modificationTime", bigint()), optional("dataChange", boolean()), optional("tags", textMap()),
		optional("deletionVector", vectorStruct()), optional("baseRowId", bigint()), optional("defaultRowCommitVersion", bigint()),
		optional("clusteringProvider", parquet.String()),
	}
	if statsText {
		members = append(members, optional("stats", parquet.String()))
	}
	return optional("add", newStruct(append(members, typed...)...))
}

// removeStruct has neither statistics nor tags, which mean nothing in a tombstone.
func removeStruct() parquet.Field {
	return optional("remove", newStruct(
		optional("path", parquet.String()), optional("deletionTimestamp", bigint()), optional("dataChange", boolean()),
		optional("extendedFileMetadata", boolean()), optional("partitionValues", textMap()), optional("size", bigint()),
		optional("deletionVector", vectorStruct()), optional("baseRowId", bigint()), optional("defaultRowCommitVersion", bigint())))
}

// singleStructs are the structs of the actions that are no files; those of V2 checkpoints last.
func singleStructs(v2 bool) []parquet.Field {
	fields := []parquet.Field{
		optional("txn", newStruct(optional("appId", parquet.String()), optional("version", bigint()), optional("lastUpdated", bigint()))),
		optional("metaData", newStruct(optional("id", parquet.String()), optional("name", parquet.String()), optional("description", parquet.String()),
			optional("format", newStruct(optional("provider", parquet.String()), optional("options", textMap()))),
			optional("schemaString", parquet.String()), optional("partitionColumns", textList()), optional("configuration", textMap()),
			optional("createdTime", bigint()))),
		optional("protocol", newStruct(optional("minReaderVersion", integer()), optional("minWriterVersion", integer()),
			optional("readerFeatures", textList()), optional("writerFeatures", textList()))),
		optional("domainMetadata", newStruct(optional("domain", parquet.String()), optional("configuration", parquet.String()), optional("removed", boolean()))),
	}
	if v2 {
		fields = append(fields,
			optional("checkpointMetadata", newStruct(optional("version", bigint()), optional("tags", textMap()))),
			optional("sidecar", newStruct(optional("path", parquet.String()), optional("sizeInBytes", bigint()),
				optional("modificationTime", bigint()), optional("tags", textMap()))))
	}
	return fields
}

// scalarNode is the Parquet type of a column's type, and false for types that checkpoints hold no typed values of.
func scalarNode(t protocol.DataType) (parquet.Node, bool) {
	switch t.Kind {
	case protocol.KindBoolean:
		return boolean(), true
	case protocol.KindByte:
		return parquet.Int(8), true
	case protocol.KindShort:
		return parquet.Int(16), true
	case protocol.KindInteger:
		return integer(), true
	case protocol.KindLong:
		return bigint(), true
	case protocol.KindFloat:
		return parquet.Leaf(parquet.FloatType), true
	case protocol.KindDouble:
		return parquet.Leaf(parquet.DoubleType), true
	case protocol.KindString:
		return parquet.String(), true
	case protocol.KindBinary:
		return parquet.Leaf(parquet.ByteArrayType), true
	case protocol.KindDate:
		return parquet.Date(), true
	case protocol.KindTimestamp:
		return parquet.TimestampAdjusted(parquet.Microsecond, true), true
	case protocol.KindTimestampNTZ:
		return parquet.TimestampAdjusted(parquet.Microsecond, false), true
	case protocol.KindDecimal:
		switch {
		case t.Precision <= 9:
			return parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type), true
		case t.Precision <= 18:
			return parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type), true
		}
		return parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(decimalBytes(t.Precision))), true
	}
	return nil, false
}

// decimalBytes is the least number of bytes that hold every decimal of a precision.
func decimalBytes(precision int) int {
	bytes := [...]int{19: 9, 20: 9, 21: 9, 22: 10, 23: 10, 24: 11, 25: 11, 26: 11, 27: 12, 28: 12, 29: 13, 30: 13, 31: 13, 32: 14, 33: 14, 34: 15, 35: 15, 36: 16, 37: 16, 38: 16}
	return bytes[precision]
}

// scalarValue is a value that is not NULL in the Parquet form of its type; false where it does not fit.
func scalarValue(t protocol.DataType, v protocol.Value) (parquet.Value, bool) {
	switch t.Kind {
	case protocol.KindBoolean:
		return parquet.BooleanValue(v.Int != 0), true
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindDate:
		return parquet.Int32Value(int32(v.Int)), v.Int == int64(int32(v.Int))
	case protocol.KindLong, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return parquet.Int64Value(v.Int), true
	case protocol.KindFloat:
		return parquet.FloatValue(float32(v.Float)), true
	case protocol.KindDouble:
		return parquet.DoubleValue(v.Float), true
	case protocol.KindString, protocol.KindBinary:
		return parquet.ByteArrayValue([]byte(v.Str)), true
	case protocol.KindDecimal:
		if t.Precision <= 18 {
			n, fits := v.Dec.Int64()
			if t.Precision <= 9 {
				return parquet.Int32Value(int32(n)), fits && n == int64(int32(n))
			}
			return parquet.Int64Value(n), fits
		}
		var wide [16]byte
		for i := range 8 {
			wide[i], wide[8+i] = byte(v.Dec.Hi>>(56-8*i)), byte(v.Dec.Lo>>(56-8*i))
		}
		return parquet.FixedLenByteArrayValue(wide[16-decimalBytes(t.Precision):]), v.Dec.Digits() <= t.Precision
	}
	return parquet.Value{}, false
}

// mustLookup finds a leaf of a schema that this package made.
func mustLookup(schema *parquet.Schema, path ...string) parquet.LeafColumn {
	leaf, ok := schema.Lookup(path...)
	if !ok {
		panic(fmt.Sprintf("the checkpoint's schema has no leaf %q", path))
	}
	return leaf
}
