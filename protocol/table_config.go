package protocol

import (
	"maps"
	"slices"
	"strings"
)

// TableConfig is a table's protocol, metadata and schema, joined and checked against each other. It never changes.
type TableConfig struct {
	Protocol         Protocol
	Metadata         Metadata
	Schema           DataType    // KindStruct
	PartitionColumns []int       // indices into Schema.Fields, in the order of metaData.partitionColumns
	Mapping          MappingMode // MappingNone where the protocol does not support column mapping, whatever the property says

	physical   []PhysicalName
	properties map[string]string // by lower-cased name where it starts with "delta.", else verbatim
}

// NewTableConfig joins and checks. It does not ask whether this product may read the table: CheckReadable does.
func NewTableConfig(p Protocol, m Metadata) (*TableConfig, error) {
	if p.MinReaderVersion <= maxReaderVersion && p.MinWriterVersion <= maxWriterVersion {
		if err := p.Validate(); err != nil {
			return nil, err
		}
	}
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	c := &TableConfig{Protocol: p, Metadata: m, Schema: schema, properties: make(map[string]string, len(m.Configuration))}
	for _, key := range slices.Sorted(maps.Keys(m.Configuration)) {
		folded := foldProperty(key)
		// Of two spellings of one name the canonical one counts, else the first in byte order.
		if _, twice := c.properties[folded]; !twice || propertyNamed(folded).name == key {
			c.properties[folded] = m.Configuration[key]
		}
	}
	if c.Mapping, err = c.mappingMode(); err != nil {
		return nil, err
	}
	if err := c.checkMapping(); err != nil {
		return nil, err
	}
	c.physical = make([]PhysicalName, len(schema.Fields))
	for i, f := range schema.Fields {
		c.physical[i] = f.PhysicalName(c.Mapping)
	}
	for _, name := range m.PartitionColumns {
		i := schema.Lookup(name)
		if i < 0 {
			return nil, NewError("DELTA_PARTITION_COLUMN_NOT_FOUND", "the partition column %q is not in the schema", name)
		}
		if slices.Contains(c.PartitionColumns, i) {
			return nil, NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "the partition columns name %q twice", name)
		}
		c.PartitionColumns = append(c.PartitionColumns, i)
	}
	if err := c.checkTypeChanges(); err != nil {
		return nil, err
	}
	return c, nil
}

// mappingMode reads the property; the protocol must support the feature for it to mean anything.
func (c *TableConfig) mappingMode() (MappingMode, error) {
	if !c.Protocol.Supports("columnMapping") {
		return MappingNone, nil
	}
	switch mode := MappingMode(strings.ToLower(c.Property("delta.columnMapping.mode"))); mode {
	case MappingNone, MappingName, MappingID:
		return mode, nil
	default:
		return "", NewError("DELTA_INVALID_SCHEMA", "delta.columnMapping.mode is %q; it must be none, name or id", shorten(string(mode)))
	}
}

// checkMapping: under column mapping every struct field has an id and a physical name, ids are unique in the schema, and
// so are physical names among the fields of one struct, which makes full physical paths unique.
func (c *TableConfig) checkMapping() error {
	if c.Mapping == MappingNone {
		return nil
	}
	ids := map[int]LogicalName{}
	return walkFields(&c.Schema, func(f *Field, siblings map[PhysicalName]bool) error {
		id, ok := f.ColumnID()
		if !ok {
			return NewError("DELTA_INVALID_SCHEMA", "column mapping is on, but the column %q has no usable id", f.Name)
		}
		name, ok := f.Metadata.PhysicalName()
		if !ok {
			return NewError("DELTA_INVALID_SCHEMA", "column mapping is on, but the column %q has no physical name", f.Name)
		}
		if other, twice := ids[id]; twice {
			return NewError("DELTA_INVALID_SCHEMA", "the columns %q and %q both have the column mapping id %d", other, f.Name, id)
		}
		ids[id] = f.Name
		if siblings[name] {
			return NewError("DELTA_INVALID_SCHEMA", "two columns have the physical name %q", name)
		}
		siblings[name] = true
		return nil
	})
}

// checkTypeChanges refuses recorded changes that a reader could not follow (protocol, "Type Widening").
func (c *TableConfig) checkTypeChanges() error {
	if !c.Supports("typeWidening") && !c.Supports("typeWidening-preview") {
		return nil
	}
	return walkFields(&c.Schema, func(f *Field, _ map[PhysicalName]bool) error {
		changes, err := f.Metadata.TypeChanges()
		if err != nil {
			return err
		}
		for _, change := range changes {
			if !CanWiden(change.From, change.To) {
				return NewError("DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "the column %q was changed from %s to %s, which is not supported", f.Name, change.From, change.To).
					WithHint("write the table anew with its current types, for instance by REORG TABLE ... APPLY (UPGRADE UNIFORM) or DROP FEATURE typeWidening in the engine that made the change")
			}
		}
		return nil
	})
}

// walkFields visits every struct field, parents first; siblings is one map for all fields of a struct.
func walkFields(t *DataType, visit func(f *Field, siblings map[PhysicalName]bool) error) error {
	switch t.Kind {
	case KindStruct:
		siblings := make(map[PhysicalName]bool, len(t.Fields))
		for i := range t.Fields {
			if err := visit(&t.Fields[i], siblings); err != nil {
				return err
			}
			if err := walkFields(&t.Fields[i].Type, visit); err != nil {
				return err
			}
		}
	case KindArray:
		return walkFields(t.Element, visit)
	case KindMap:
		if err := walkFields(t.Key, visit); err != nil {
			return err
		}
		return walkFields(t.Value, visit)
	}
	return nil
}

// CanWiden says that files of the one type can be read as the other without loss (protocol, "Type Widening").
// It is wider than what writers may record: an integer fits any decimal with as many integer digits as it can have,
// and tables that rely on that exist.
func CanWiden(from, to DataType) bool {
	if from.Equal(to) || from.Kind == KindVoid {
		return true
	}
	integerDigits := func(n int) bool { return to.Kind == KindDecimal && to.Precision-to.Scale >= n }
	switch from.Kind {
	case KindByte:
		return to.Kind == KindShort || to.Kind == KindInteger || to.Kind == KindLong || to.Kind == KindDouble || integerDigits(3)
	case KindShort:
		return to.Kind == KindInteger || to.Kind == KindLong || to.Kind == KindDouble || integerDigits(5)
	case KindInteger:
		return to.Kind == KindLong || to.Kind == KindDouble || integerDigits(10)
	case KindLong:
		return integerDigits(19)
	case KindFloat:
		return to.Kind == KindDouble
	case KindDate:
		return to.Kind == KindTimestampNTZ
	case KindDecimal:
		return to.Kind == KindDecimal && to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	}
	return false
}

// Supports says that the protocol lists or implies the feature.
func (c *TableConfig) Supports(feature string) bool { return c.Protocol.Supports(feature) }

// Active says that the feature is supported and the table's metadata switch it on.
func (c *TableConfig) Active(feature string) bool {
	if !c.Supports(feature) {
		return false
	}
	f, ok := featureByName[feature]
	return ok && (f.Active == nil || f.Active(c))
}

// CheckListed refuses a change of a table whose metadata switch on what its list of features lacks: its writer did not know what it
// did, and others go by the list. Legacy protocols have no list. NOT NULL, invariants and CHECK are honoured listed or not, and some
// writers leave them out. Reading such a table does no harm.
func (c *TableConfig) CheckListed(table string) error {
	if c.Protocol.WriterFeatures == nil {
		return nil
	}
	var missing []string
	for _, f := range c.NeededFeatures() {
		if !f.Binding && !c.Supports(f.Name) {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return NewError("DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", "the metadata of table %s use features that its protocol does not list: %s", table, strings.Join(missing, ", ")).
		WithTable(table).WithHint("another writer left the table so, and has to list them")
}

// PhysicalName is the name of the i-th column in files, statistics and partition values.
func (c *TableConfig) PhysicalName(i int) PhysicalName { return c.physical[i] }

// IsPartitionColumn says whether the i-th column's values stand in the log rather than in the files.
func (c *TableConfig) IsPartitionColumn(i int) bool { return slices.Contains(c.PartitionColumns, i) }

// Constraints are the CHECK constraints by lower-cased name: SQL text over logical names.
func (c *TableConfig) Constraints() map[string]string {
	const prefix = "delta.constraints."
	out := map[string]string{}
	for key, value := range c.properties {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			out[name] = value
		}
	}
	return out
}

// Properties are all stored properties, as the metadata has them.
func (c *TableConfig) Properties() map[string]string { return maps.Clone(c.Metadata.Configuration) }
