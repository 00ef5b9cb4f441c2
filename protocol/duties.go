package protocol

import (
	"maps"
	"slices"
)

// DutyKind is a kind of obligation of whoever writes rows.
type DutyKind uint8

// The kinds. What names a column is a dotted logical path.
const (
	// DutyNotNull: no row has NULL in the field, where the structs around it are not NULL.
	DutyNotNull DutyKind = iota + 1
	// DutyCheck: the CHECK constraint of the name is TRUE for every row.
	DutyCheck
	// DutyInvariant: the expression in delta.invariants of the field is TRUE for every row.
	DutyInvariant
	// DutyGenerated: the column has the value of its expression.
	DutyGenerated
	// DutyIdentity: values of the column were generated or were allowed to be given, and the table's mark moves with the commit.
	DutyIdentity
	// DutyLength: values fit the CHAR or VARCHAR type of the column.
	DutyLength
	// DutyPhysicalNames: files use the physical names and field ids of column mapping.
	DutyPhysicalNames
	// DutyStatistics: files carry numRecords and the bounds of the leaves that the table's properties choose.
	DutyStatistics
	// DutyPartitionValues: rows of a file share the partition values that its action has.
	DutyPartitionValues
	// DutyMaterializedPartitions: files hold the partition columns too, behind the others.
	DutyMaterializedPartitions
	// DutyNestedIDs: array elements and map keys and values have their field ids in the files (Iceberg compatibility).
	DutyNestedIDs
	// DutyChangeRows: where the table feeds changes, the commit's cdc files say what happened to each row, or its removed and
	// added files say it rightly (all rows of the one deleted, all of the other inserted).
	DutyChangeRows
	// DutyRowIDs: rows that were in the table before keep their ids and commit versions, in the materialised columns.
	DutyRowIDs
)

var dutyNames = [...]string{DutyNotNull: "NotNull", DutyCheck: "Check", DutyInvariant: "Invariant", DutyGenerated: "Generated", DutyIdentity: "Identity",
	DutyLength: "Length", DutyPhysicalNames: "PhysicalNames", DutyStatistics: "Statistics", DutyPartitionValues: "PartitionValues",
	DutyMaterializedPartitions: "MaterializedPartitions", DutyNestedIDs: "NestedIDs", DutyChangeRows: "ChangeRows", DutyRowIDs: "RowIDs"}

// String is the kind's name.
func (k DutyKind) String() string { return dutyNames[k] }

// Duty is one obligation; Column is empty where the kind concerns whole files.
type Duty struct {
	Kind   DutyKind
	Column string
}

// String is "NotNull(a.b)" or "Statistics".
func (d Duty) String() string {
	if d.Column == "" {
		return d.Kind.String()
	}
	return d.Kind.String() + "(" + d.Column + ")"
}

// Duties are what new rows of the table owe, in a fixed order: of every table, then of its features in the table's order.
// What the features ask of a commit rather than of rows (row ids, times, append-only) is not among them.
func (c *TableConfig) Duties() []Duty {
	out := []Duty{{Kind: DutyStatistics}}
	if len(c.PartitionColumns) > 0 {
		out = append(out, Duty{Kind: DutyPartitionValues})
	}
	out = c.fieldDuties(out, DutyLength, func(f *Field) bool { _, ok := f.Metadata.CharVarchar(); return ok })
	for _, f := range features {
		if f.Duties == nil || !f.Binding && !c.Supports(f.Name) {
			continue
		}
		for _, d := range f.Duties(c) {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// ChangeDuties are what a commit owes beside Duties that both removes rows and adds files.
func (c *TableConfig) ChangeDuties() []Duty {
	var out []Duty
	for _, f := range features {
		if f.ChangeDuty != 0 && c.Active(f.Name) {
			out = append(out, Duty{Kind: f.ChangeDuty})
		}
	}
	return out
}

// fieldDuties adds a duty for each column, and field of a struct in one, that has a property. Inside arrays and maps nothing
// is enforced (protocol, "Column Invariants"); CHAR and VARCHAR stand at the column also for leaves deeper down.
func (c *TableConfig) fieldDuties(out []Duty, kind DutyKind, owes func(*Field) bool) []Duty {
	var walk func(fields []Field, parent string)
	walk = func(fields []Field, parent string) {
		for i := range fields {
			f := &fields[i]
			path := parent + string(f.Name)
			if owes(f) {
				out = append(out, Duty{kind, path})
			}
			if f.Type.Kind == KindStruct {
				walk(f.Type.Fields, path+".")
			}
		}
	}
	walk(c.Schema.Fields, "")
	return out
}

// The functions below are the Duties of features.

func invariantDuties(c *TableConfig) []Duty {
	out := c.fieldDuties(nil, DutyNotNull, func(f *Field) bool { return !f.Nullable })
	// One that is not understood is owed too: a writer that cannot keep it must not write.
	return c.fieldDuties(out, DutyInvariant, func(f *Field) bool { _, ok := f.Metadata[metaInvariants]; return ok })
}

func checkDuties(c *TableConfig) []Duty {
	var out []Duty
	for _, name := range slices.Sorted(maps.Keys(c.Constraints())) {
		out = append(out, Duty{DutyCheck, name})
	}
	return out
}

// columnDuties makes a duty of each top-level column that has some metadata.
func columnDuties(kind DutyKind, has func(FieldMetadata) bool) func(*TableConfig) []Duty {
	return func(c *TableConfig) []Duty {
		var out []Duty
		for i := range c.Schema.Fields {
			if f := &c.Schema.Fields[i]; has(f.Metadata) {
				out = append(out, Duty{kind, string(f.Name)})
			}
		}
		return out
	}
}

// fileDuties are duties of whole files. Partition columns are materialised where there are any.
func fileDuties(owes func(*TableConfig) bool, kinds ...DutyKind) func(*TableConfig) []Duty {
	return func(c *TableConfig) []Duty {
		var out []Duty
		for _, kind := range kinds {
			if owes(c) && (kind != DutyMaterializedPartitions || len(c.PartitionColumns) > 0) {
				out = append(out, Duty{Kind: kind})
			}
		}
		return out
	}
}
