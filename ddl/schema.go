package ddl

import (
	"slices"
	"strings"

	"deltasql/protocol"
)

// illegalCharacters may not stand in names without column mapping: Parquet writers of old take them for syntax.
const illegalCharacters = " ,;{}()\n\t="

// changeColumns are the columns that the change feed adds; while it is on they are nobody else's.
var changeColumns = []string{"_change_type", "_commit_version", "_commit_timestamp"}

// check is the last look at protocol and metadata together, as they would be committed.
func (u *update) check(p protocol.Protocol, m protocol.Metadata) error {
	config, err := protocol.NewTableConfig(p, m)
	if err != nil {
		return err
	}
	checks := []func(*protocol.TableConfig) error{
		checkNames, checkMappedColumns, checkComputedColumns, u.checkTypes, u.checkManifests, checkRowTracking, u.checkChangeColumns, u.checkPropertyPairs, u.icebergRules,
	}
	for _, check := range checks {
		if err := check(config); err != nil {
			return err
		}
	}
	return nil
}

// checkNames: without column mapping names stand in files as they are. Names of partition columns become folders and have
// an error of their own.
func checkNames(config *protocol.TableConfig) error {
	if config.Mapping != protocol.MappingNone {
		return nil
	}
	var bad []string
	for i := range config.Schema.Fields {
		f := &config.Schema.Fields[i]
		if config.IsPartitionColumn(i) {
			continue
		}
		one := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{*f}}
		_ = walk(&one, func(path Path, f *protocol.Field) error {
			if strings.ContainsAny(string(f.Name), illegalCharacters) {
				bad = append(bad, strings.Join(path, "."))
			}
			return nil
		})
	}
	if bad != nil {
		return protocol.NewError("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", `the names of these columns have one of the characters " ,;{}()\n\t=": %s`, strings.Join(bad, ", ")).
			WithHint("column mapping allows them: TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
	}
	for _, i := range config.PartitionColumns {
		if name := config.Schema.Fields[i].Name; strings.ContainsAny(string(name), illegalCharacters) {
			return protocol.NewError("DELTA_INVALID_PARTITION_COLUMN_NAME", `the name of the partition column %q has one of the characters " ,;{}()\n\t="`, name).
				WithHint("column mapping allows them: TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
		}
	}
	return nil
}

// checkNestedNotNull: nothing enforces NOT NULL inside arrays and maps, so a schema cannot promise it.
func checkNestedNotNull(schema protocol.DataType) error {
	return walk(&schema, func(path Path, f *protocol.Field) error {
		part := ""
		switch t := &f.Type; {
		case t.Kind == protocol.KindArray && !allNullable(t.Element):
			part = "element"
		case t.Kind == protocol.KindMap && !allNullable(t.Key):
			part = "key"
		case t.Kind == protocol.KindMap && !allNullable(t.Value):
			part = "value"
		default:
			return nil
		}
		return protocol.NewError("DELTA_NESTED_NOT_NULL_CONSTRAINT", "the %s type of the column %s has a NOT NULL field; NOT NULL is not supported inside arrays and maps", part, path)
	})
}

func allNullable(t *protocol.DataType) bool {
	all := true
	_ = walk(t, func(_ Path, f *protocol.Field) error {
		all = all && f.Nullable
		return nil
	})
	return all
}

// checkComputedColumns: a column has at most one source of values besides what is inserted, and the right type for it.
// Expressions themselves have been checked by whoever parsed them.
func checkComputedColumns(config *protocol.TableConfig) error {
	for i, f := range config.Schema.Fields {
		_, generated := f.Metadata.GenerationExpression()
		identity, isIdentity := f.Metadata.Identity()
		defaultText, hasDefault := f.Metadata.CurrentDefault()
		started, stepped := f.Metadata["delta.identity.start"], f.Metadata["delta.identity.step"]
		switch {
		case !isIdentity && (started != nil || stepped != nil || f.Metadata["delta.identity.allowExplicitInsert"] != nil):
			return protocol.NewError("DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA", "the column %s has only a part of what an identity column needs: start, step and allowExplicitInsert", f.Name)
		case isIdentity && generated:
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_WITH_GENERATED_EXPRESSION", "the identity column %s cannot have a generation expression", f.Name)
		case isIdentity && hasDefault:
			return protocol.NewError("IDENTITY_COLUMN_WITH_DEFAULT_VALUE", "the identity column %s cannot have a DEFAULT", f.Name)
		case generated && hasDefault:
			return protocol.NewError("GENERATED_COLUMN_WITH_DEFAULT_VALUE", "the generated column %s cannot have a DEFAULT (%s)", f.Name, defaultText)
		case isIdentity && f.Type.Kind != protocol.KindLong:
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE", "the identity column %s has the type %s; it must be BIGINT", f.Name, f.Type)
		case isIdentity && identity.Step == 0:
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP", "the step of the identity column %s must not be 0", f.Name)
		case isIdentity && config.IsPartitionColumn(i):
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED", "the identity column %s cannot be a partition column", f.Name)
		case generated && (f.Type.Kind == protocol.KindVariant || f.Type.Kind == protocol.KindFile):
			return protocol.NewError("DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN", "the generated column %s cannot have the type %s", f.Name, f.Type)
		case hasDefault && (f.Type.Kind == protocol.KindVariant || f.Type.Kind == protocol.KindFile) && !strings.EqualFold(strings.TrimSpace(defaultText), "null"):
			return protocol.NewError("INVALID_DEFAULT_VALUE.DATA_TYPE", "the column %s has the type %s, whose only DEFAULT can be NULL, not %s", f.Name, f.Type, defaultText)
		}
	}
	return nil
}

// checkTypes refuses types that no Delta table can have, and those that this product cannot write yet unless the table has
// them already.
func (u *update) checkTypes(config *protocol.TableConfig) error {
	var bad []string
	_ = walk(&config.Schema, func(path Path, f *protocol.Field) error {
		t := &f.Type
		for t.Kind == protocol.KindArray {
			t = t.Element
		}
		for _, kind := range []protocol.Kind{protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime, protocol.KindGeometry, protocol.KindGeography} {
			inside := t.Kind == kind || t.Kind == protocol.KindMap && (t.Key.Holds(kind) || t.Value.Holds(kind))
			if inside && (u.old == nil || !u.old.Config.Schema.Holds(kind)) {
				bad = append(bad, path.String()+": "+f.Type.String())
			}
		}
		if keysHold(t, protocol.KindFile) {
			bad = append(bad, path.String()+": "+f.Type.String()+" (a file cannot be a map's key)")
		}
		return nil
	})
	if bad != nil {
		return protocol.NewError("DELTA_UNSUPPORTED_DATA_TYPES", "these columns have types that a table cannot have: %s", strings.Join(bad, ", "))
	}
	return nil
}

// keysHold says that a map has keys of a kind; members of structs are looked at on their own.
func keysHold(t *protocol.DataType, kind protocol.Kind) bool {
	switch t.Kind {
	case protocol.KindArray:
		return keysHold(t.Element, kind)
	case protocol.KindMap:
		return t.Key.Holds(kind) || keysHold(t.Value, kind)
	}
	return false
}

// checkManifests: a symlink manifest lists whole files and cannot say which of their rows are deleted.
func (u *update) checkManifests(config *protocol.TableConfig) error {
	manifests, err := config.BoolProperty(propManifest)
	if err != nil || !manifests {
		return err
	}
	const class = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED."
	if isOn(u.config, propVectors) {
		return protocol.NewError(class+"PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION", "%s and %s exclude each other", propVectors, propManifest)
	}
	if u.old != nil && !u.creating && u.old.NumVectors > 0 {
		return protocol.NewError(class+"EXISTING_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION", "%s cannot be switched on: %d files have deletion vectors", propManifest, u.old.NumVectors).
			WithHint("run REORG TABLE ... APPLY (PURGE) first")
	}
	return nil
}

func checkRowTracking(config *protocol.TableConfig) error {
	on, err := config.BoolProperty(propRowTracking)
	if err != nil {
		return err
	}
	suspended, err := config.BoolProperty(propRowTrackingSuspend)
	if err != nil {
		return err
	}
	if on && suspended {
		return protocol.NewError("DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "%s and %s cannot both be true", propRowTracking, propRowTrackingSuspend)
	}
	for i, f := range config.Schema.Fields {
		for _, property := range []string{propRowIDColumn, propRowVersionColumn} {
			name := config.Property(property)
			if name != "" && (string(f.Name) == name || string(config.PhysicalName(i)) == name) {
				return protocol.NewError("DELTA_ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED", "a column cannot be called %s: row tracking uses the name", name)
			}
		}
	}
	return nil
}

func (u *update) checkChangeColumns(config *protocol.TableConfig) error {
	on, err := config.BoolProperty(propChangeFeed)
	if err != nil || !on {
		return err
	}
	var used []string
	for _, f := range config.Schema.Fields {
		if slices.ContainsFunc(changeColumns, func(name string) bool { return strings.EqualFold(name, string(f.Name)) }) {
			used = append(used, string(f.Name))
		}
	}
	if used == nil {
		return nil
	}
	if u.old != nil {
		if was, err := u.old.Config.BoolProperty(propChangeFeed); err == nil && was {
			return protocol.NewError("RESERVED_CDC_COLUMNS_ON_WRITE", "the columns %s have names that the change data feed uses", strings.Join(used, ", "))
		}
	}
	return protocol.NewError("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", "the change data feed cannot be switched on: the columns %s have names that it uses", strings.Join(used, ", ")).
		WithHint("rename or drop the columns")
}

// checkPropertyPairs looks at properties that bound each other, where one of them has changed.
func (u *update) checkPropertyPairs(*protocol.TableConfig) error {
	for _, name := range []string{propLogRetention, propFileRetention} {
		was, _ := setting(u.oldConfig(), name)
		if now, ok := setting(u.config, name); ok && (u.creating || now != was) {
			return checkRetention(u.config)
		}
	}
	return nil
}

// checkStatsColumns validates delta.dataSkippingStatsColumns against the schema: columns that are there, each once, whose
// type can have statistics, no partition columns. A struct stands for all its members.
func (u *update) checkStatsColumns(partitionColumns []string) error {
	list, ok := setting(u.config, propStatsColumns)
	if !ok {
		return nil
	}
	paths, err := protocol.ParseColumnPaths(list)
	if err != nil {
		return err
	}
	var seen []string
	for _, path := range paths {
		name := Path(path).String()
		if len(path) == 1 && slices.ContainsFunc(partitionColumns, func(p string) bool { return strings.EqualFold(p, path[0]) }) {
			return protocol.NewError("DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN", "%s cannot name the partition column %s: its values are in the log anyway", propStatsColumns, name)
		}
		f := existingField(&u.schema, path)
		if f == nil {
			f = fileLeaf(&u.schema, path)
		}
		if f == nil {
			return protocol.NewError("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "%s names the column %s, which is not in the schema", propStatsColumns, name).
				WithHint("the columns are %s", strings.Join(fieldNames(&u.schema), ", "))
		}
		if len(path) == 1 && f.Type.Kind != protocol.KindStruct && f.Type.Kind != protocol.KindFile && !bounded(f.Type) {
			return protocol.NewError("DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE", "%s cannot name the column %s: its type %s has no statistics to skip by", propStatsColumns, name, f.Type)
		}
		leaves := []string{strings.ToLower(strings.Join(path, "\x00"))}
		if f.Type.Kind == protocol.KindStruct || f.Type.Kind == protocol.KindFile {
			leaves = structLeaves(leaves[0], f.Type)
		}
		for _, leaf := range leaves {
			if slices.Contains(seen, leaf) {
				return protocol.NewError("DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS", "%s names the column %s twice", propStatsColumns, strings.ReplaceAll(leaf, "\x00", "."))
			}
			seen = append(seen, leaf)
		}
	}
	return nil
}

// fileLeaf finds a member of a file value that has statistics; nil where the path names none.
func fileLeaf(schema *protocol.DataType, path Path) *protocol.Field {
	if len(path) < 2 {
		return nil
	}
	last := len(path) - 1
	if file := existingField(schema, path[:last]); file == nil || file.Type.Kind != protocol.KindFile {
		return nil
	}
	for _, leaf := range protocol.FileLeaves() {
		if strings.EqualFold(string(leaf.Name), path[last]) {
			return &leaf
		}
	}
	return nil
}

func structLeaves(prefix string, t protocol.DataType) []string {
	var out []string
	fields := t.Fields
	if t.Kind == protocol.KindFile {
		fields = protocol.FileLeaves()
	}
	for _, f := range fields {
		at := prefix + "\x00" + strings.ToLower(string(f.Name))
		if f.Type.Kind == protocol.KindStruct || f.Type.Kind == protocol.KindFile {
			out = append(out, structLeaves(at, f.Type)...)
		} else {
			out = append(out, at)
		}
	}
	return out
}
