package txn

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"deltasql/protocol"
)

// A winner's change of the metadata conflicts unless all of it is something that files which are written already satisfy:
// row tracking, deletion vectors, V2 checkpoints or in-commit timestamps switched on, or column mapping by name, whose
// physical names are the names that the files have (protocol digest, "Metadata conflicts").

// incompatible says why files written for one configuration do not fit another; "" where they do.
func incompatible(was, is *protocol.TableConfig) string {
	if !sameButSchema(&was.Metadata, &is.Metadata) {
		return "it changes what the table is called, made of or partitioned by"
	}
	for _, key := range changedKeys(was.Metadata.Configuration, is.Metadata.Configuration) {
		if !harmless(was, is, key) {
			return "it changes the property " + key
		}
	}
	if !sameSchema(was, is) {
		return "it changes the schema"
	}
	return ""
}

// unprepared finds a file of the winner that was written without a duty which the loser's metadata bring: whoever switched it on has
// looked at the files that were there, or found none. Files that only hold other files' rows owe what concerns files. Columns that
// come are NULL in files that lack them, which no length forbids, and names of files are the physical names where mapping begins.
func (c *contender) unprepared(w *winner) (*protocol.AddFile, Duty, error) {
	if c.metadata == nil || len(w.adds) == 0 {
		return nil, Duty{}, nil
	}
	config, err := c.config()
	if err != nil {
		return nil, Duty{}, err
	}
	had := c.was.Duties()
	for _, duty := range config.Duties() {
		if duty.Kind == PhysicalNames || duty.Kind == Length || slices.Contains(had, duty) {
			continue
		}
		ofFiles := duty.Kind == MaterializedPartitions || duty.Kind == NestedIDs
		if i := slices.IndexFunc(w.adds, func(add *protocol.AddFile) bool { return add.DataChange || ofFiles }); i >= 0 {
			return w.adds[i], duty, nil
		}
	}
	return nil, Duty{}, nil
}

// sameButSchema compares all of two metadata but the schema and the configuration.
func sameButSchema(a, b *protocol.Metadata) bool {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return a.ID == b.ID && text(a.Name) == text(b.Name) && text(a.Description) == text(b.Description) && a.Provider == b.Provider &&
		maps.Equal(a.FormatOptions, b.FormatOptions) && slices.Equal(a.PartitionColumns, b.PartitionColumns)
}

func sameConfiguration(a, b *protocol.Metadata) bool {
	return maps.Equal(a.Configuration, b.Configuration)
}

// changedKeys are the keys that differ, sorted.
func changedKeys(was, is map[string]string) []string {
	var keys []string
	for key, value := range was {
		if now, ok := is[key]; !ok || now != value {
			keys = append(keys, key)
		}
	}
	for key := range is {
		if _, ok := was[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// harmless tells whether the change of one property asks nothing of files that are written already. A property that is
// taken away never is.
func harmless(was, is *protocol.TableConfig, key string) bool {
	value, there := is.Metadata.Configuration[key]
	if !there {
		return false
	}
	_, before := was.Metadata.Configuration[key]
	on := func(feature string) bool { return is.Supports(feature) && strings.EqualFold(value, "true") }
	switch key {
	case "delta.enableRowTracking":
		return on("rowTracking")
	case "delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName":
		return is.Active("rowTracking")
	case "delta.columnMapping.mode":
		return was.Mapping == protocol.MappingNone && is.Mapping == protocol.MappingName
	case "delta.columnMapping.maxColumnId":
		return true
	case "delta.enableDeletionVectors":
		return on("deletionVectors")
	case "delta.checkpointPolicy":
		return is.Supports("v2Checkpoint") && strings.EqualFold(value, "v2")
	case propertyTimes:
		return on("inCommitTimestamp")
	case propertyTimesVersion, propertyTimesMillis:
		return !before
	}
	return false
}

// turnedOn tells whether a switch is on that was not.
func turnedOn(was, is *protocol.TableConfig, key string) bool {
	before, _ := was.BoolProperty(key)
	now, err := is.BoolProperty(key)
	return err == nil && now && !before
}

// mappingKeys are the field metadata that column mapping adds.
var mappingKeys = []string{"delta.columnMapping.id", "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids"}

// sameSchema compares schemas; where the one has come to map columns by name, without what that adds to fields.
func sameSchema(was, is *protocol.TableConfig) bool {
	if was.Metadata.SchemaString == is.Metadata.SchemaString {
		return true
	}
	a, b := was.Schema, is.Schema
	if was.Mapping == protocol.MappingNone && is.Mapping == protocol.MappingName {
		if !namesKept(&b) {
			return false
		}
		a, b = unmapped(a), unmapped(b)
	}
	return sameJSON(a.JSON(), b.JSON())
}

// namesKept tells whether every physical name is the field's own, which is what a table has whose files were not mapped.
func namesKept(t *protocol.DataType) bool {
	for i := range t.Fields {
		f := &t.Fields[i]
		if name, ok := f.Metadata.PhysicalName(); !ok || string(name) != string(f.Name) || !namesKept(&f.Type) {
			return false
		}
	}
	for _, inner := range []*protocol.DataType{t.Element, t.Key, t.Value} {
		if inner != nil && !namesKept(inner) {
			return false
		}
	}
	return true
}

// unmapped is the type without the metadata of column mapping, at every depth.
func unmapped(t protocol.DataType) protocol.DataType {
	t.Fields = slices.Clone(t.Fields)
	for i := range t.Fields {
		t.Fields[i].Metadata = t.Fields[i].Metadata.Without(mappingKeys...)
		t.Fields[i].Type = unmapped(t.Fields[i].Type)
	}
	for _, inner := range []**protocol.DataType{&t.Element, &t.Key, &t.Value} {
		if *inner != nil {
			plain := unmapped(**inner)
			*inner = &plain
		}
	}
	return t
}

// sameJSON compares two texts as JSON: writers order the members of field metadata as they like. Numbers are compared as
// they are written, for 64-bit integers are among them.
func sameJSON(a, b string) bool {
	parse := func(text string) (value any, err error) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		err = d.Decode(&value)
		return value, err
	}
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}
