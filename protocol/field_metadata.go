package protocol

import (
	"encoding/json"
	"maps"
	"strings"
)

// The metadata keys of a field that the protocol, Spark or we give a meaning.
const (
	metaColumnID         = "delta.columnMapping.id"
	metaPhysicalName     = "delta.columnMapping.physicalName"
	metaNestedIDs        = "delta.columnMapping.nested.ids"
	metaGeneration       = "delta.generationExpression"
	metaIdentityStart    = "delta.identity.start"
	metaIdentityStep     = "delta.identity.step"
	metaIdentityExplicit = "delta.identity.allowExplicitInsert"
	metaIdentityMark     = "delta.identity.highWaterMark"
	metaTypeChanges      = "delta.typeChanges"
	metaInvariants       = "delta.invariants"
	metaCurrentDefault   = "CURRENT_DEFAULT"
	metaExistsDefault    = "EXISTS_DEFAULT"
	metaComment          = "comment"
	metaCharVarchar      = "__CHAR_VARCHAR_TYPE_STRING"
	metaCollations       = "__COLLATIONS"
	metaFileModes        = "__FILE_TYPE_MODE"
)

// FieldMetadata is a field's metadata object; values are kept as they stand, so that what we do not know survives.
// A nil map is an empty object. The getters answer false where the key is absent or its value has another type.
type FieldMetadata map[string]json.RawMessage

// with copies the metadata with one key set.
func (m FieldMetadata) with(key string, value json.RawMessage) FieldMetadata {
	out := make(FieldMetadata, len(m)+1)
	maps.Copy(out, m)
	out[key] = value
	return out
}

func (m FieldMetadata) cursor(key string) (*jsonCursor, bool) {
	raw, ok := m[key]
	return &jsonCursor{data: raw}, ok
}

// Text is the string under the key.
func (m FieldMetadata) Text(key string) (string, bool) {
	c, ok := m.cursor(key)
	if !ok {
		return "", false
	}
	s, err := c.str()
	return s, err == nil
}

// Int is the integer under the key; a string of digits counts, as some writers quote them.
func (m FieldMetadata) Int(key string) (int64, bool) {
	c, ok := m.cursor(key)
	if !ok {
		return 0, false
	}
	if c.peek() == '"' {
		s, err := c.str()
		d, ok := ParseInt128Decimal(s, 0)
		v, fits := d.Int64()
		return v, err == nil && ok && fits
	}
	v, err := c.int()
	return v, err == nil
}

// Bool is the boolean under the key.
func (m FieldMetadata) Bool(key string) (bool, bool) {
	c, ok := m.cursor(key)
	if !ok {
		return false, false
	}
	b, err := c.bool()
	return b, err == nil
}

// texts is the object of strings under the key.
func (m FieldMetadata) texts(key string) map[string]string {
	c, ok := m.cursor(key)
	if !ok {
		return nil
	}
	out := map[string]string{}
	err := c.object(func(name []byte) error {
		k := string(name)
		v, err := c.str()
		out[k] = v
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// PhysicalName is the column's name in files, statistics and partition values under column mapping.
func (m FieldMetadata) PhysicalName() (PhysicalName, bool) {
	s, ok := m.Text(metaPhysicalName)
	return PhysicalName(s), ok && s != ""
}

// ColumnID is the column mapping id, which is the Parquet field id.
func (m FieldMetadata) ColumnID() (int, bool) {
	v, ok := m.Int(metaColumnID)
	return int(v), ok && v >= 0 && v <= 1<<31-1
}

// NestedIDs are the ids of array elements and map keys and values below the field, keyed "<physical>.element" and so on.
func (m FieldMetadata) NestedIDs() map[string]int {
	c, ok := m.cursor(metaNestedIDs)
	if !ok {
		return nil
	}
	out := map[string]int{}
	err := c.object(func(name []byte) error {
		k := string(name)
		v, err := c.int()
		out[k] = int(v)
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// GenerationExpression is the SQL text of a generated column, over logical names.
func (m FieldMetadata) GenerationExpression() (string, bool) { return m.Text(metaGeneration) }

// CurrentDefault is the SQL text of the column's default for new rows.
func (m FieldMetadata) CurrentDefault() (string, bool) { return m.Text(metaCurrentDefault) }

// Comment is the column's comment.
func (m FieldMetadata) Comment() (string, bool) { return m.Text(metaComment) }

// CharVarchar is the declared type of a string column: "char(5)", "varchar(20)", or a nested type that has such leaves.
func (m FieldMetadata) CharVarchar() (string, bool) { return m.Text(metaCharVarchar) }

// Collations maps the paths of collated strings ("c", "c.element") to PROVIDER.NAME.
func (m FieldMetadata) Collations() map[string]string { return m.texts(metaCollations) }

// FileModes maps the paths of file values to MANAGED, EXTERNAL or UNKNOWN.
func (m FieldMetadata) FileModes() map[string]string { return m.texts(metaFileModes) }

// Invariant is the SQL text of delta.invariants, which wraps it as {"expression":{"expression":"x > 3"}} inside a string.
func (m FieldMetadata) Invariant() (string, bool) {
	raw, ok := m[metaInvariants]
	if !ok {
		return "", false
	}
	if text, isText := m.Text(metaInvariants); isText {
		raw = json.RawMessage(text)
	}
	outer := jsonCursor{data: raw}
	found, expression := false, ""
	err := outer.object(func(name []byte) error {
		if string(name) != "expression" {
			return outer.skip()
		}
		return outer.object(func(name []byte) error {
			if string(name) != "expression" {
				return outer.skip()
			}
			var err error
			expression, err = outer.str()
			found = err == nil
			return err
		})
	})
	return expression, found && err == nil
}

// Identity is the definition of an identity column (protocol, "Identity Columns").
type Identity struct {
	Start, Step         int64
	AllowExplicitInsert bool
	HighWaterMark       *int64 // nil before the first generated value
}

// Identity is present where start, step and allowExplicitInsert all are.
func (m FieldMetadata) Identity() (Identity, bool) {
	start, ok1 := m.Int(metaIdentityStart)
	step, ok2 := m.Int(metaIdentityStep)
	explicit, ok3 := m.Bool(metaIdentityExplicit)
	id := Identity{Start: start, Step: step, AllowExplicitInsert: explicit}
	if mark, ok := m.Int(metaIdentityMark); ok {
		id.HighWaterMark = &mark
	}
	return id, ok1 && ok2 && ok3
}

// TypeChange is one entry of delta.typeChanges (protocol, "Type Widening").
type TypeChange struct {
	From, To  DataType
	FieldPath string // "element", "key", "value.element"; empty for the field itself
}

// TypeChanges are the recorded changes of the field's type, oldest first. A malformed record is DELTA_INVALID_SCHEMA.
func (m FieldMetadata) TypeChanges() ([]TypeChange, error) {
	c, ok := m.cursor(metaTypeChanges)
	if !ok || c.null() {
		return nil, nil
	}
	var changes []TypeChange
	readType := func() (DataType, error) {
		raw, err := c.raw()
		if err != nil {
			return DataType{}, err
		}
		return parseSchemaJSON(raw)
	}
	err := c.array(func(int) error {
		change := TypeChange{}
		have := 0
		err := c.object(func(name []byte) (err error) {
			switch string(name) {
			case "fromType":
				have |= 1
				change.From, err = readType()
			case "toType":
				have |= 2
				change.To, err = readType()
			case "fieldPath":
				change.FieldPath, err = c.str()
			default:
				err = c.skip()
			}
			return err
		})
		if err == nil && have != 3 {
			err = c.fault("needs fromType and toType")
		}
		changes = append(changes, change)
		return err
	})
	if err != nil {
		return nil, NewError("DELTA_INVALID_SCHEMA", "%s is malformed", metaTypeChanges).WithCause(err)
	}
	return changes, nil
}

// PhysicalName is the field's name in data files, statistics and partition values: the mapped one, or without mapping its own.
func (f Field) PhysicalName(mode MappingMode) PhysicalName {
	if mode == MappingName || mode == MappingID {
		if name, ok := f.Metadata.PhysicalName(); ok {
			return name
		}
	}
	return PhysicalName(f.Name)
}

// ColumnID is the field's column mapping id.
func (f Field) ColumnID() (int, bool) { return f.Metadata.ColumnID() }

// Lookup finds a member of a struct by name: with its case first, else ignoring case. It gives -1 where there is none.
func (t DataType) Lookup(name string) int {
	for i := range t.Fields {
		if string(t.Fields[i].Name) == name {
			return i
		}
	}
	folded := strings.ToLower(name)
	for i := range t.Fields {
		if strings.ToLower(string(t.Fields[i].Name)) == folded {
			return i
		}
	}
	return -1
}
