package txn

import (
	"maps"
	"slices"

	"deltasql/protocol"
)

// DutyKind is a kind of obligation of whoever writes rows.
type DutyKind uint8

// The kinds. What names a column is a dotted logical path.
const (
	// NotNull: no row has NULL in the field, where the structs around it are not NULL.
	NotNull DutyKind = iota + 1
	// Check: the CHECK constraint of the name is TRUE for every row.
	Check
	// Invariant: the expression in delta.invariants of the field is TRUE for every row.
	Invariant
	// Generated: the column has the value of its expression.
	Generated
	// Identity: values of the column were generated or were allowed to be given, and the table's mark moves with the commit.
	Identity
	// Length: values fit the CHAR or VARCHAR type of the column.
	Length
	// PhysicalNames: files use the physical names and field ids of column mapping.
	PhysicalNames
	// Statistics: files carry numRecords and the bounds of the leaves that the table's properties choose.
	Statistics
	// PartitionValues: rows of a file share the partition values that its action has.
	PartitionValues
	// MaterializedPartitions: files hold the partition columns too, behind the others.
	MaterializedPartitions
	// NestedIDs: array elements and map keys and values have their field ids in the files (Iceberg compatibility).
	NestedIDs
	// ChangeRows: where the table feeds changes, the commit's cdc files say what happened to each row, or its removed and
	// added files say it rightly (all rows of the one deleted, all of the other inserted).
	ChangeRows
	// RowIDs: rows that were in the table before keep their ids and commit versions, in the materialised columns.
	RowIDs
)

var dutyNames = [...]string{NotNull: "NotNull", Check: "Check", Invariant: "Invariant", Generated: "Generated", Identity: "Identity",
	Length: "Length", PhysicalNames: "PhysicalNames", Statistics: "Statistics", PartitionValues: "PartitionValues",
	MaterializedPartitions: "MaterializedPartitions", NestedIDs: "NestedIDs", ChangeRows: "ChangeRows", RowIDs: "RowIDs"}

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

// duties are what new rows of a table owe, in a fixed order: the part of the active features that a writer of rows must
// do. The rest (row ids, timestamps, append-only) a Transaction does by itself. NOT NULL, invariants and CHECK count
// whatever the protocol lists, as in the reference; the other metadata mean something only where it does.
func duties(c *protocol.TableConfig) []Duty {
	var out []Duty
	for i := range c.Schema.Fields {
		out = fieldDuties(out, c, &c.Schema.Fields[i], "")
	}
	for i := range c.Schema.Fields {
		f := &c.Schema.Fields[i]
		if _, ok := f.Metadata.GenerationExpression(); ok && c.Supports("generatedColumns") {
			out = append(out, Duty{Generated, string(f.Name)})
		}
		if _, ok := f.Metadata.Identity(); ok && c.Supports("identityColumns") {
			out = append(out, Duty{Identity, string(f.Name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Constraints())) {
		out = append(out, Duty{Check, name})
	}
	if c.Mapping != protocol.MappingNone {
		out = append(out, Duty{Kind: PhysicalNames})
	}
	out = append(out, Duty{Kind: Statistics})
	if len(c.PartitionColumns) > 0 {
		out = append(out, Duty{Kind: PartitionValues})
		if materializesPartitions(c) {
			out = append(out, Duty{Kind: MaterializedPartitions})
		}
	}
	if c.Active("icebergCompatV2") || c.Active("icebergCompatV3") {
		out = append(out, Duty{Kind: NestedIDs})
	}
	return out
}

// fieldDuties are those of a field and of the fields in its structs. Inside arrays and maps nothing is enforced (protocol,
// "Column Invariants"); lengths of CHAR and VARCHAR stand at the column also for leaves deeper down.
func fieldDuties(out []Duty, c *protocol.TableConfig, f *protocol.Field, parent string) []Duty {
	path := parent + string(f.Name)
	if !f.Nullable {
		out = append(out, Duty{NotNull, path})
	}
	if _, ok := f.Metadata.Invariant(); ok {
		out = append(out, Duty{Invariant, path})
	}
	if _, ok := f.Metadata.CharVarchar(); ok {
		out = append(out, Duty{Length, path})
	}
	if f.Type.Kind == protocol.KindStruct {
		for i := range f.Type.Fields {
			out = fieldDuties(out, c, &f.Type.Fields[i], path+".")
		}
	}
	return out
}

// materializesPartitions tells whether new files must hold the partition columns (protocol, "Materialize Partition Columns").
func materializesPartitions(c *protocol.TableConfig) bool {
	return c.Supports("materializePartitionColumns") || icebergCompat(c) > 0
}

// icebergCompat is the version of Iceberg compatibility that is on, 0 for none.
func icebergCompat(c *protocol.TableConfig) int {
	for i, name := range []string{"icebergCompatV1", "icebergCompatV2", "icebergCompatV3"} {
		if c.Active(name) {
			return i + 1
		}
	}
	return 0
}

// undone is the first of the duties that is not among those done; false where all are.
func undone(owed, done []Duty) (Duty, bool) {
	for _, d := range owed {
		if !slices.Contains(done, d) {
			return d, true
		}
	}
	return Duty{}, false
}
