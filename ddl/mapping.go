package ddl

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// mapColumns checks how the table's column mapping changes and gives ids and physical names to columns that have none
// (protocol digest, "Column mapping"; M3).
func (u *update) mapColumns() error {
	was, now := protocol.MappingNone, u.mode()
	if u.old != nil {
		was = u.old.Config.Mapping
	}
	switch now {
	case protocol.MappingNone, protocol.MappingName, protocol.MappingID:
	default:
		return protocol.CheckProperty(propMappingMode, string(now))
	}
	changing := was != now && !u.creating
	if changing && !(was == protocol.MappingNone && now == protocol.MappingName) {
		err := protocol.NewError("DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", "the column mapping mode cannot be changed from %s to %s", was, now)
		if now == protocol.MappingID {
			return err.WithHint("the mode id can be chosen only where a table is created")
		}
		return err
	}
	hadMapping := u.old != nil && hasMapping(u.old.Config.Schema)
	if now == protocol.MappingNone {
		// Without the mode the keys mean nothing, but there are readers that would follow them. Keys that the table already
		// has stay: taking them away could hide what its files call their columns.
		if !hadMapping && hasMapping(u.schema) {
			u.schema = copyType(u.schema)
			stripMapping(&u.schema)
		}
		return nil
	}
	if was == protocol.MappingNone && hadMapping && !u.creating {
		return protocol.NewError("DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS",
			"column mapping cannot be switched on: the schema has ids and physical names that another writer left").
			WithHint("create a new table with column mapping and copy the rows into it")
	}
	return u.assignColumns(was, now)
}

func (u *update) mode() protocol.MappingMode {
	text, ok := setting(u.config, propMappingMode)
	if !ok {
		return protocol.MappingNone
	}
	return protocol.MappingMode(strings.ToLower(text))
}

func hasMapping(t protocol.DataType) bool {
	found := false
	_ = walk(&t, func(_ Path, f *protocol.Field) error {
		found = found || slices.ContainsFunc(mappingKeys, func(key string) bool { _, ok := f.Metadata[key]; return ok })
		return nil
	})
	return found
}

// maxColumnID is the largest id in the schema, ids inside arrays and maps included.
func maxColumnID(t protocol.DataType) int {
	most := 0
	_ = walk(&t, func(_ Path, f *protocol.Field) error {
		if id, ok := f.ColumnID(); ok {
			most = max(most, id)
		}
		for _, id := range f.Metadata.NestedIDs() {
			most = max(most, id)
		}
		return nil
	})
	return most
}

// assignColumns walks the schema in pre-order. A column of a table that gets column mapping keeps the name it has in the
// files; one that REPLACE defines again, with a type that its old values fit, keeps id and physical name; all others are new.
func (u *update) assignColumns(was, now protocol.MappingMode) error {
	last := maxColumnID(u.schema)
	var before protocol.DataType
	if u.old != nil {
		before = u.old.Config.Schema
	}
	for _, config := range []map[string]string{u.config, u.oldConfig()} {
		if text, ok := setting(config, propMaxColumnID); ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				return protocol.CheckProperty(propMaxColumnID, text)
			}
			last = max(last, n)
		}
	}
	upgrading := u.old != nil && !u.creating && was != now
	reusing := u.old != nil && u.creating && was == now
	u.schema = copyType(u.schema)
	err := walk(&u.schema, func(path Path, f *protocol.Field) error {
		id, hasID := f.ColumnID()
		name, hasName := f.Metadata.PhysicalName()
		if hasID && hasName {
			return nil
		}
		existing := existingField(&before, path)
		if upgrading && existing == nil && len(before.Fields) > 0 {
			return protocol.NewError("DELTA_UNSUPPORTED_COLUMN_MAPPING_SCHEMA_CHANGE", "the column %s cannot be added in the statement that switches column mapping on", path)
		}
		reuse := reusing && existing != nil && fits(existing.Type, f.Type)
		if !hasID {
			if reuse {
				id, _ = existing.ColumnID()
			} else {
				last++
				id = last
			}
		}
		if !hasName {
			switch {
			case reuse:
				name, _ = existing.Metadata.PhysicalName()
			case upgrading && existing != nil:
				name = protocol.PhysicalName(existing.Name)
			default:
				name = protocol.PhysicalName("col-" + u.env.NewID())
			}
		}
		f.Metadata = f.Metadata.WithColumnMapping(id, name)
		if _, has := f.Metadata[nestedIDs]; reuse && !has {
			if ids, ok := existing.Metadata[nestedIDs]; ok {
				f.Metadata = f.Metadata.WithRaw(nestedIDs, ids)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if version := icebergVersion(u.config); version >= 2 {
		last = assignNestedIDs(&u.schema, last)
	}
	u.config[propMaxColumnID] = strconv.Itoa(last)
	return nil
}

const nestedIDs = "delta.columnMapping.nested.ids"

// existingField finds a field by its path; nil where the schema has none there.
func existingField(t *protocol.DataType, path Path) *protocol.Field {
	if len(path) == 0 || t.Kind == protocol.KindVoid {
		return nil
	}
	p, err := find(t, path)
	if err != nil {
		return nil
	}
	return p.field()
}

// fits says that values of the one type are values of the other: the same type, where the new one may allow nulls that the
// old one did not.
func fits(from, to protocol.DataType) bool {
	if from.Kind != to.Kind {
		return false
	}
	switch from.Kind {
	case protocol.KindArray:
		return (!from.ContainsNull || to.ContainsNull) && fits(*from.Element, *to.Element)
	case protocol.KindMap:
		return (!from.ValueContainsNull || to.ValueContainsNull) && fits(*from.Key, *to.Key) && fits(*from.Value, *to.Value)
	case protocol.KindStruct:
		return slices.EqualFunc(from.Fields, to.Fields, func(a, b protocol.Field) bool {
			return a.Name == b.Name && (!a.Nullable || b.Nullable) && fits(a.Type, b.Type)
		})
	}
	return from.Equal(to)
}

// assignNestedIDs gives ids to array elements, map keys and values, which Iceberg needs. They stand with the nearest struct
// field by physical path ("col-1.element"); a field without any has an empty list, as the reference writes it.
func assignNestedIDs(t *protocol.DataType, last int) int {
	var below func(t *protocol.DataType, path string, ids map[string]int)
	below = func(t *protocol.DataType, path string, ids map[string]int) {
		step := func(name string, child *protocol.DataType) {
			at := path + "." + name
			if _, has := ids[at]; !has {
				last++
				ids[at] = last
			}
			below(child, at, ids)
		}
		switch t.Kind {
		case protocol.KindArray:
			step("element", t.Element)
		case protocol.KindMap:
			step("key", t.Key)
			step("value", t.Value)
		case protocol.KindStruct:
			for i := range t.Fields {
				f := &t.Fields[i]
				own := maps.Clone(f.Metadata.NestedIDs())
				if own == nil {
					own = map[string]int{}
				}
				below(&f.Type, string(f.PhysicalName(protocol.MappingName)), own)
				text, _ := json.Marshal(own)
				f.Metadata = f.Metadata.WithRaw(nestedIDs, text)
			}
		}
	}
	below(t, "", nil)
	return last
}

// checkMappedColumns is the last look at ids and physical names; TableConfig checks that they are there and unique.
func checkMappedColumns(config *protocol.TableConfig) error {
	if config.Mapping == protocol.MappingNone {
		return nil
	}
	text, ok := config.LookupProperty(propMaxColumnID)
	if !ok {
		return protocol.NewError("DELTA_COLUMN_MAPPING_MAX_COLUMN_ID_NOT_SET", "column mapping is on, but %s is not set", propMaxColumnID)
	}
	most, err := strconv.Atoi(text)
	if found := maxColumnID(config.Schema); err != nil || most < found {
		return protocol.NewError("DELTA_COLUMN_MAPPING_MAX_COLUMN_ID_NOT_SET_CORRECTLY", "%s is %s, but the schema has the id %d", propMaxColumnID, text, found)
	}
	return nil
}
