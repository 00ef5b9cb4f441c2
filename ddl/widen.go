package ddl

import (
	"encoding/json"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// MayWiden says that a writer may change a column from the one type to the other and record it in delta.typeChanges
// (protocol, "Type Widening"). It is narrower than protocol.CanWiden, which readers go by: integers need the decimals that
// Parquet readers convert them to, ten digits for what is stored in 32 bits and twenty for long.
func MayWiden(from, to protocol.DataType) bool {
	if to.Kind == protocol.KindDecimal {
		switch from.Kind {
		case protocol.KindByte, protocol.KindShort, protocol.KindInteger:
			return to.Precision-to.Scale >= 10
		case protocol.KindLong:
			return to.Precision-to.Scale >= 20
		}
	}
	return !from.Equal(to) && from.Kind != protocol.KindVoid && protocol.CanWiden(from, to)
}

// icebergFollows says that Iceberg knows the change too: integers, float to double, and decimals of more digits.
func icebergFollows(from, to protocol.DataType) bool {
	switch from.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger:
		return to.Kind == protocol.KindShort || to.Kind == protocol.KindInteger || to.Kind == protocol.KindLong
	case protocol.KindFloat:
		return to.Kind == protocol.KindDouble
	case protocol.KindDecimal:
		return to.Kind == protocol.KindDecimal && to.Scale == from.Scale
	}
	return false
}

// widens says that the table's types may be widened: the feature is there, under either name, and switched on.
func widens(c *protocol.TableConfig) bool {
	return c.Active("typeWidening") || c.Active("typeWidening-preview")
}

// numericOrder is Spark's order of the types that hold numbers approximately or not at all.
var numericOrder = map[protocol.Kind]int{protocol.KindByte: 1, protocol.KindShort: 2, protocol.KindInteger: 3, protocol.KindLong: 4, protocol.KindFloat: 5, protocol.KindDouble: 6}

// integerDecimal is the decimal that holds any value of an integer type.
func integerDecimal(k protocol.Kind) (protocol.DataType, bool) {
	digits, ok := map[protocol.Kind]int{protocol.KindByte: 3, protocol.KindShort: 5, protocol.KindInteger: 10, protocol.KindLong: 20}[k]
	return protocol.DataType{Kind: protocol.KindDecimal, Precision: digits}, ok
}

// castsUp says that Spark casts the one type to the other without a loss it would warn of. It decides nothing but the class
// of a refusal: what does not even cast up is NOT_SUPPORTED_CHANGE_COLUMN.
func castsUp(from, to protocol.DataType) bool {
	if from.Equal(to) || from.Kind == protocol.KindVoid {
		return true
	}
	fits := func(inner, outer protocol.DataType) bool {
		return outer.Precision-outer.Scale >= inner.Precision-inner.Scale && outer.Scale >= inner.Scale
	}
	if to.Kind == protocol.KindDecimal {
		if from.Kind == protocol.KindDecimal {
			return fits(from, to)
		}
		whole, ok := integerDecimal(from.Kind)
		return ok && fits(whole, to)
	}
	if from.Kind == protocol.KindDecimal {
		if whole, ok := integerDecimal(to.Kind); ok {
			return fits(from, whole)
		}
		return to.Kind == protocol.KindString
	}
	if a, b := numericOrder[from.Kind], numericOrder[to.Kind]; a > 0 && b > 0 {
		return a < b
	}
	zoned, wall := protocol.KindTimestamp, protocol.KindTimestampNTZ
	switch {
	case to.Kind == protocol.KindString:
		return from.Kind != protocol.KindStruct && from.Kind != protocol.KindArray && from.Kind != protocol.KindMap &&
			from.Kind != protocol.KindVariant && from.Kind != protocol.KindFile
	case from.Kind == protocol.KindDate:
		return to.Kind == zoned || to.Kind == wall
	case from.Kind == zoned:
		return to.Kind == wall || to.Kind == protocol.KindLong
	case from.Kind == wall:
		return to.Kind == zoned
	case from.Kind == protocol.KindLong:
		return to.Kind == zoned
	}
	return false
}

// recordChange appends to the record of type changes of a field. The order of the members is the reference's.
// version is the version of the commit for the preview of the feature, which has it in the record; else negative.
func recordChange(f *protocol.Field, from, to protocol.DataType, fieldPath string, version int64) error {
	var changes []json.RawMessage
	if raw, ok := f.Metadata[metaKeyTypeChanges]; ok && string(raw) != "null" {
		if err := json.Unmarshal(raw, &changes); err != nil {
			return protocol.NewError("DELTA_INVALID_SCHEMA", "%s of the column %s is malformed", metaKeyTypeChanges, f.Name).WithCause(err)
		}
	}
	change := `{"toType":` + to.JSON() + `,"fromType":` + from.JSON()
	if fieldPath != "" {
		change += `,"fieldPath":` + string(jsonText(fieldPath))
	}
	if version >= 0 {
		change += `,"tableVersion":` + string(jsonText(version))
	}
	setMeta(f, metaKeyTypeChanges, append(changes, json.RawMessage(change+"}")))
	return nil
}

// retype gives what stands at a place another type, if the rules allow it, and records a widening with the field that the
// place belongs to. Complex types are changed member by member, never as a whole.
func (a *alteration) retype(at *place, to protocol.DataType, charVarchar string) error {
	t := at.dataType()
	from := *t
	declared := ""
	if from.Kind == protocol.KindString {
		declared = a.declaredAt(at)
	}
	if err := checkCollations(protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: protocol.LogicalName(at.path.String()), Type: to}}}); err != nil {
		return err
	}
	if from.Kind == protocol.KindString && to.Kind == protocol.KindString && from.Collation != to.Collation {
		return notAllowed("changing the collation of %s, which is %s", at.path, from.Collation)
	}
	if from.Kind == protocol.KindFile && to.Kind == protocol.KindFile && from.Parameter != to.Parameter {
		return notAllowed("changing the storage mode of %s, which is %s, to %s", at.path, from, to)
	}
	if from.Equal(to) && declared == charVarchar {
		return nil
	}
	unsupported := func() error {
		return protocol.NewError("NOT_SUPPORTED_CHANGE_COLUMN", "the column %s cannot be changed from %s to %s", at.path, typeText(from, declared), typeText(to, charVarchar)).
			WithHint("write the column anew: add a column of the new type, fill it by UPDATE, then drop this one and rename the new one")
	}
	if from.Kind == protocol.KindVoid {
		// A column without a type has no values, in no file: it may become anything, and nothing is recorded.
		if err := a.dependants(at.path); err != nil {
			return err
		}
		*t = copyType(to)
		stripMapping(t)
		a.declare(at, charVarchar)
		return nil
	}
	switch to.Kind {
	case protocol.KindStruct:
		return protocol.NewError("CANNOT_UPDATE_FIELD.STRUCT_TYPE", "the struct %s is changed member by member, not as a whole", at.path)
	case protocol.KindMap:
		return protocol.NewError("CANNOT_UPDATE_FIELD.MAP_TYPE", "the map %s is changed by its .key and .value, not as a whole", at.path)
	case protocol.KindArray:
		return protocol.NewError("CANNOT_UPDATE_FIELD.ARRAY_TYPE", "the array %s is changed by its .element, not as a whole", at.path)
	}
	if from.Kind == protocol.KindString && to.Kind == protocol.KindString {
		if !lengthGrows(declared, charVarchar) {
			return unsupported()
		}
		a.declare(at, charVarchar)
		return nil
	}
	if !castsUp(from, to) {
		return unsupported()
	}
	if !widens(a.old.Config) || !MayWiden(from, to) {
		e := protocol.NewError("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "the column %s cannot be changed from %s to %s", at.path, typeText(from, declared), typeText(to, charVarchar))
		if MayWiden(from, to) {
			e = e.WithHint("switch type widening on first: ALTER TABLE ... SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
		}
		return e
	}
	if err := a.dependants(at.path); err != nil {
		return err
	}
	if err := a.keepsGeneratedType(at.path); err != nil {
		return err
	}
	*t = to
	return recordChange(at.owner, from, to, at.below, a.recordedVersion())
}

// recordedVersion is what the record of a type change has for a version: the commit's where the preview asks for it.
func (a *alteration) recordedVersion() int64 {
	if a.supports("typeWidening-preview") {
		return a.old.Version + 1
	}
	return -1
}

func typeText(t protocol.DataType, charVarchar string) string {
	if charVarchar != "" {
		return charVarchar
	}
	return t.String()
}

// setCharVarchar notes the declared type of a string column; "" is a plain STRING. Elements, keys and values have no field
// of their own to note it in.
func setCharVarchar(f *protocol.Field, text string) {
	switch {
	case f == nil:
	case text == "":
		delete(f.Metadata, metaKeyCharVarchar)
	default:
		setMeta(f, metaKeyCharVarchar, text)
	}
}

// lengthGrows says that every string of the one declared type is one of the other: a VARCHAR may grow and may take a CHAR in,
// and everything may become a plain STRING, which is "".
func lengthGrows(from, to string) bool {
	if to == "" || from == to {
		return true
	}
	kindFrom, n, ok1 := declaredLength(from)
	kindTo, m, ok2 := declaredLength(to)
	if !ok1 || !ok2 || kindTo == "char" {
		return ok1 && ok2 && kindFrom == "char" && n == m
	}
	return n <= m
}

// declaredLength reads "char(5)" and "varchar(20)".
func declaredLength(text string) (kind string, length int, ok bool) {
	kind, rest, found := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "(")
	digits, closed := strings.CutSuffix(rest, ")")
	length, err := strconv.Atoi(strings.TrimSpace(digits))
	kind = strings.TrimSpace(kind)
	return kind, length, found && closed && err == nil && (kind == "char" || kind == "varchar")
}
