package scan

import (
	"strings"

	"deltasql/protocol"
)

// checkSchema refuses to show the rows of a version in a schema that means something else by its columns. Columns may
// have been added since; under column mapping none may have been renamed or dropped, and no type may have changed.
func (c *changeReader) checkSchema(config *protocol.TableConfig, version int64) error {
	class := schemaConflict(config.Schema, c.config.Schema, config.Mapping != protocol.MappingNone && c.config.Mapping != protocol.MappingNone)
	if class == "" {
		return nil
	}
	return protocol.NewError(class, "the changes of the versions [%d, %d] cannot be given in one schema: "+
		"the columns at version %d (%s) do not fit those that are to be shown (%s)",
		c.from, c.to, version, config.Schema, c.config.Schema).
		WithTable(c.table.name).WithHint("ask for the versions before and after the change of the schema apart")
}

const (
	conflictRenamed protocol.Class = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
	conflictChanged protocol.Class = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
)

// schemaConflict is the class of what keeps rows of the one type from being shown as the other, "" if nothing does.
func schemaConflict(old, shown protocol.DataType, mapped bool) protocol.Class {
	if old.Kind == protocol.KindVoid {
		return ""
	}
	if old.Kind != shown.Kind {
		return conflictChanged
	}
	switch old.Kind {
	case protocol.KindArray:
		return schemaConflict(*old.Element, *shown.Element, mapped)
	case protocol.KindMap:
		if class := schemaConflict(*old.Key, *shown.Key, mapped); class != "" {
			return class
		}
		return schemaConflict(*old.Value, *shown.Value, mapped)
	case protocol.KindStruct:
		for _, f := range old.Fields {
			at := sameField(f, shown, mapped)
			if at < 0 {
				if mapped {
					return conflictRenamed
				}
				return conflictChanged
			}
			if class := schemaConflict(f.Type, shown.Fields[at].Type, mapped); class != "" {
				return class
			}
		}
		return ""
	}
	if !old.Equal(shown) {
		return conflictChanged
	}
	return ""
}

// sameField finds a field under the same name and, with column mapping, the same physical name; -1 where there is none.
func sameField(f protocol.Field, shown protocol.DataType, mapped bool) int {
	for i, candidate := range shown.Fields {
		if !strings.EqualFold(string(candidate.Name), string(f.Name)) {
			continue
		}
		if mapped && candidate.PhysicalName(protocol.MappingName) != f.PhysicalName(protocol.MappingName) {
			return -1
		}
		return i
	}
	return -1
}
