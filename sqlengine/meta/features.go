package meta

import (
	"deltasql/protocol"
)

// notDroppable are the known features that no rule allows to take from a table by itself: an Iceberg V3 reader relies on the one,
// a catalog decides about the others. Everything else can be dropped, some only after its traces are rewritten.
var notDroppable = map[string]bool{"icebergCompatV3": true, "catalogManaged": true, "catalogOwned": true, "catalogOwned-preview": true}

// Features is SHOW FEATURES: every feature that the table's protocol supports, by name or by its version numbers.
// Status is active where the metadata switch it on too, unknown where this product does not know it.
func Features(s Subject) Table {
	config := s.Snapshot.Config()
	var rows [][]any
	for _, name := range sortedSet(append([]string(nil), config.Protocol.Features()...)) {
		feature, ok := protocol.LookupFeature(name)
		if !ok {
			kind := "writer"
			for _, reader := range config.Protocol.ReaderFeatures {
				if reader == name {
					kind = "reader-writer"
				}
			}
			rows = append(rows, []any{name, kind, "unknown", nil})
			continue
		}
		kind, status := "writer", "supported"
		if feature.Kind == protocol.ReaderWriterFeature {
			kind = "reader-writer"
		}
		if config.Active(name) {
			status = "active"
		}
		rows = append(rows, []any{name, kind, status, !notDroppable[name]})
	}
	return Table{Columns: []Column{{"feature", typeString, false}, {"kind", typeString, false}, {"status", typeString, false}, {"droppable", typeBoolean, true}}, Rows: rowsOf(rows)}
}
