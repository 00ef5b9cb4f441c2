package protocol

import (
	"encoding/json"
	"maps"
	"strconv"
)

// The setters give a copy with one thing changed; the metadata they are called on stay as they are.

// WithText sets a key to a string.
func (m FieldMetadata) WithText(key, text string) FieldMetadata {
	return m.with(key, appendJSONString(nil, text))
}

// WithInt sets a key to an integer.
func (m FieldMetadata) WithInt(key string, v int64) FieldMetadata {
	return m.with(key, json.RawMessage(strconv.FormatInt(v, 10)))
}

// WithBool sets a key to a boolean.
func (m FieldMetadata) WithBool(key string, v bool) FieldMetadata {
	return m.with(key, json.RawMessage(strconv.FormatBool(v)))
}

// WithRaw sets a key to a JSON value.
func (m FieldMetadata) WithRaw(key string, value json.RawMessage) FieldMetadata {
	return m.with(key, value)
}

// Without takes keys away.
func (m FieldMetadata) Without(keys ...string) FieldMetadata {
	out := maps.Clone(m)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// WithComment sets the column's comment.
func (m FieldMetadata) WithComment(text string) FieldMetadata { return m.WithText(metaComment, text) }

// WithCurrentDefault sets the SQL text of the default for new rows.
func (m FieldMetadata) WithCurrentDefault(sql string) FieldMetadata {
	return m.WithText(metaCurrentDefault, sql)
}

// WithoutDefault takes the default away, also what Spark notes of it for rows that were there before.
func (m FieldMetadata) WithoutDefault() FieldMetadata {
	return m.Without(metaCurrentDefault, metaExistsDefault)
}

// WithGeneration sets the SQL text of a generated column.
func (m FieldMetadata) WithGeneration(sql string) FieldMetadata {
	return m.WithText(metaGeneration, sql)
}

// WithIdentity makes an identity column, or moves the mark of one.
func (m FieldMetadata) WithIdentity(id Identity) FieldMetadata {
	out := m.WithInt(metaIdentityStart, id.Start).WithInt(metaIdentityStep, id.Step).WithBool(metaIdentityExplicit, id.AllowExplicitInsert)
	if id.HighWaterMark != nil {
		return out.WithInt(metaIdentityMark, *id.HighWaterMark)
	}
	return out.Without(metaIdentityMark)
}

// WithoutIdentity makes an identity column an ordinary one.
func (m FieldMetadata) WithoutIdentity() FieldMetadata {
	return m.Without(metaIdentityStart, metaIdentityStep, metaIdentityExplicit, metaIdentityMark)
}

// WithCharVarchar records the declared type of a string column, such as "varchar(10)" or "array<char(3)>".
func (m FieldMetadata) WithCharVarchar(declared string) FieldMetadata {
	return m.WithText(metaCharVarchar, declared)
}

// WithColumnMapping sets the id and the physical name.
func (m FieldMetadata) WithColumnMapping(id int, name PhysicalName) FieldMetadata {
	return m.WithInt(metaColumnID, int64(id)).WithText(metaPhysicalName, string(name))
}

// WithoutColumnMapping takes id, physical name and nested ids away.
func (m FieldMetadata) WithoutColumnMapping() FieldMetadata {
	return m.Without(metaColumnID, metaPhysicalName, metaNestedIDs)
}
