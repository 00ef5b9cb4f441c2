package ddl

import (
	"slices"
	"strings"

	"deltasql/protocol"
)

// DropColumns is DROP COLUMNS. Only metadata change: the files keep the values, under a physical name that is never given
// again.
type DropColumns struct {
	Columns  []Path
	IfExists bool
}

func (s DropColumns) apply(a *alteration) error {
	e := entry{operation: "DROP COLUMNS", schema: true}
	var paths []Path
	for _, path := range s.Columns {
		at, err := find(&a.schema, path)
		if err != nil {
			if s.IfExists && protocol.ClassOf(err) == "UNRESOLVED_COLUMN.WITH_SUGGESTION" {
				a.warn("there is no column " + path.String())
				continue
			}
			if known, ok := err.(*protocol.Error); ok && len(path) == 1 && known.Errno == 0 && known.Class == "UNRESOLVED_COLUMN.WITH_SUGGESTION" {
				known.Errno = 1091 // MySQL has a number of its own for what DROP does not find
			}
			return err
		}
		paths = append(paths, at.path)
	}
	if len(paths) == 0 {
		return nil
	}
	if !a.mapped() {
		return needsMapping("DELTA_UNSUPPORTED_DROP_COLUMN", "columns cannot be dropped from this table")
	}
	for _, path := range paths {
		if len(path) > 1 {
			if err := a.keepsGeneratedType(path); err != nil {
				return err
			}
		}
		if err := a.dropColumn(path); err != nil {
			return err
		}
		e.items = append(e.items, jsonText(path.String()))
	}
	for _, path := range paths {
		if err := a.dependants(path); err != nil {
			return err
		}
	}
	a.record(e)
	return nil
}

func needsMapping(class protocol.Class, text string) *protocol.Error {
	return protocol.NewError(class, "%s: its columns have the same names in the files as in the schema", text).
		WithHint("switch column mapping on first: ALTER TABLE ... SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
}

// dropColumn takes one column out of the schema and out of what names it. Dependants are for the caller, once all columns
// of the statement are gone.
func (a *alteration) dropColumn(path Path) error {
	at, err := find(&a.schema, path)
	if err != nil {
		return err
	}
	if at.field() == nil {
		return protocol.NewError("DELTA_UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE", "%s cannot be dropped: only members of structs can be", path)
	}
	if len(at.parent.Fields) == 1 {
		return protocol.NewError("DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA", "%s cannot be dropped: it is the only column there", path)
	}
	if err := a.mayLeave(path); err != nil {
		return err
	}
	at.parent.Fields = slices.Delete(at.parent.Fields, at.index, at.index+1)
	a.namesDiverge()
	a.followChecks(at.path, "")
	if !slices.ContainsFunc(a.schema.Fields, func(f protocol.Field) bool { return !a.partitioned(string(f.Name)) }) {
		return protocol.NewError("DELTA_NON_PARTITION_COLUMN_ABSENT", "%s cannot be dropped: only partition columns would be left", path)
	}
	a.statsColumns(func(listed Path) Path {
		if listed.within(path) {
			return nil
		}
		return listed
	})
	return nil
}

// followChecks keeps what is asked of the rows by the names of the schema that comes out; "" drops the column.
func (a *alteration) followChecks(path Path, to string) {
	a.checks = slices.DeleteFunc(a.checks, func(c Check) bool { return to == "" && c.Kind == CheckNotNull && c.Column.within(path) })
	for i, c := range a.checks {
		if c.Kind == CheckNotNull && c.Column.within(path) {
			c.Column = slices.Clone(c.Column)
			c.Column[len(path)-1] = to
			a.checks[i] = c
		}
	}
}

// namesDiverge notes, where the table keeps note of it, that logical names may no longer be taken for physical ones.
func (a *alteration) namesDiverge() {
	if a.supports("columnMappingUsageTracking") {
		a.removeProperty(propDiverged)
		a.metadata.Configuration[propDiverged] = "true"
	}
}

const propDiverged = "delta.columnMapping.hasDroppedOrRenamed"

// mayLeave refuses partition and clustering columns, and structs that hold one of the latter.
func (a *alteration) mayLeave(path Path) error {
	if len(path) == 1 && a.partitioned(path[0]) {
		return protocol.NewError("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", "the partition column %s cannot be dropped", path)
	}
	columns, err := a.clusteringColumns()
	if err != nil {
		return err
	}
	for _, c := range columns {
		if c.within(path) {
			return protocol.NewError("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", "%s cannot be dropped: the table is clustered by %s", path, c).
				WithHint("change the clustering first: ALTER TABLE ... CLUSTER BY")
		}
	}
	return nil
}

func (a *alteration) partitioned(name string) bool {
	return slices.ContainsFunc(a.metadata.PartitionColumns, func(p string) bool { return strings.EqualFold(p, name) })
}

// statsColumns rewrites delta.dataSkippingStatsColumns path by path; nil takes a path away. A list that becomes empty stays,
// because no list at all would mean the first columns.
func (a *alteration) statsColumns(follow func(Path) Path) {
	const name = "delta.dataSkippingStatsColumns"
	for key, list := range a.metadata.Configuration {
		if !sameProperty(key, name) {
			continue
		}
		paths, err := protocol.ParseColumnPaths(list)
		if err != nil {
			return // what cannot be read names no column
		}
		changed, texts := false, []string{}
		for _, path := range paths {
			next := follow(path)
			changed = changed || !slices.Equal(next, path)
			if next == nil {
				continue
			}
			parts := make([]string, len(next))
			for i, part := range next {
				parts[i] = quoted(part)
			}
			texts = append(texts, strings.Join(parts, "."))
		}
		if changed {
			a.metadata.Configuration[key] = strings.Join(texts, ",")
		}
	}
}

// RenameColumn is RENAME COLUMN. Files, statistics and the clustering know the column by its physical name and stay.
type RenameColumn struct {
	Column Path
	To     string
}

func (s RenameColumn) apply(a *alteration) error {
	at, err := find(&a.schema, s.Column)
	if err != nil {
		return err
	}
	old := at.path
	if err := a.rename(at, s.To); err != nil {
		return err
	}
	renamed := append(slices.Clone(old[:len(old)-1]), s.To)
	a.record(entry{operation: "RENAME COLUMN", schema: true, parameters: []protocol.Parameter{
		textParameter("oldColumnPath", old.String()), textParameter("newColumnPath", renamed.String())}})
	return nil
}

// rename gives the field at the place another name, in the schema and in all that names it.
func (a *alteration) rename(at *place, to string) error {
	f := at.field()
	if f == nil {
		return protocol.NewError("INVALID_FIELD_NAME", "%s cannot be renamed: it is not a member of a struct", at.path)
	}
	if at.parent.Lookup(to) >= 0 {
		return protocol.NewError("FIELD_ALREADY_EXISTS", "the column %s cannot be renamed: %s exists already", at.path, to)
	}
	if err := a.dependants(at.path); err != nil {
		return err
	}
	if !a.mapped() {
		return needsMapping("DELTA_UNSUPPORTED_RENAME_COLUMN", "columns of this table cannot be renamed")
	}
	if len(at.path) > 1 {
		if err := a.keepsGeneratedType(at.path); err != nil {
			return err
		}
	}
	a.namesDiverge()
	a.followChecks(at.path, to)
	from := string(f.Name)
	f.Name = protocol.LogicalName(to)
	if len(at.path) == 1 {
		for i, name := range a.metadata.PartitionColumns {
			if strings.EqualFold(name, from) {
				a.metadata.PartitionColumns[i] = to
			}
		}
		if refers, ok := a.deps.Generated[from]; ok {
			a.deps.Generated[to] = refers
		}
	}
	a.statsColumns(func(listed Path) Path {
		if !listed.within(at.path) {
			return listed
		}
		listed = slices.Clone(listed)
		listed[len(at.path)-1] = to
		return listed
	})
	return nil
}
