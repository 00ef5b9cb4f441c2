package txn

import (
	"strings"

	"deltasql/protocol"
)

// Isolation is a level that a commit is held to against those that came first.
type Isolation uint8

// The levels, from the weakest. Under SnapshotIsolation what others add never matters; under WriteSerializable it does
// unless they added it without reading; under Serializable always.
const (
	SnapshotIsolation Isolation = iota + 1
	WriteSerializable
	Serializable
)

// String is the level's name in commitInfo and in the property delta.isolationLevel.
func (i Isolation) String() string {
	return [...]string{"", "SnapshotIsolation", "WriteSerializable", "Serializable"}[i]
}

// tableIsolation reads the table's level.
func tableIsolation(c *protocol.TableConfig) (Isolation, error) {
	text := strings.TrimSpace(c.Property("delta.isolationLevel"))
	for _, level := range []Isolation{WriteSerializable, Serializable} {
		if strings.EqualFold(text, level.String()) {
			return level, nil
		}
	}
	return 0, protocol.NewError("DELTA_INVALID_ISOLATION_LEVEL", "the table's property delta.isolationLevel is %q; it must be Serializable or WriteSerializable", text)
}

// isolationOf chooses the level of a commit (protocol digest, "Isolation level selection"): who only rearranges files is
// content with snapshot isolation.
func isolationOf(table Isolation, actions []protocol.Action, neverChangesData bool) Isolation {
	changesData, onlyFiles := false, true
	for i := range actions {
		switch a := &actions[i]; {
		case a.Add != nil:
			changesData = changesData || a.Add.DataChange
		case a.Remove != nil:
			changesData = changesData || a.Remove.DataChange
		case a.CDC != nil:
		case a.Domain != nil && a.Domain.Domain == protocol.DomainRowTracking:
		default:
			onlyFiles = false
		}
	}
	switch {
	case changesData:
		return table
	case table == Serializable && onlyFiles, table == WriteSerializable && neverChangesData:
		return SnapshotIsolation
	}
	return table
}
