package txn

import (
	"slices"

	"deltasql/protocol"
)

// Duty is one obligation of whoever writes rows; DutyKind is its kind. The features table says which feature brings which.
type (
	Duty     = protocol.Duty
	DutyKind = protocol.DutyKind
)

// The kinds.
const (
	NotNull                = protocol.DutyNotNull
	Check                  = protocol.DutyCheck
	Invariant              = protocol.DutyInvariant
	Generated              = protocol.DutyGenerated
	Identity               = protocol.DutyIdentity
	Length                 = protocol.DutyLength
	PhysicalNames          = protocol.DutyPhysicalNames
	Statistics             = protocol.DutyStatistics
	PartitionValues        = protocol.DutyPartitionValues
	MaterializedPartitions = protocol.DutyMaterializedPartitions
	NestedIDs              = protocol.DutyNestedIDs
	ChangeRows             = protocol.DutyChangeRows
	RowIDs                 = protocol.DutyRowIDs
)

// undone is the first of the duties that is not among those done; false where all are.
func undone(owed, done []Duty) (Duty, bool) {
	for _, d := range owed {
		if !slices.Contains(done, d) {
			return d, true
		}
	}
	return Duty{}, false
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
