package meta

import (
	"fmt"
	"slices"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
)

// Features is SHOW FEATURES: every feature that the table's protocol supports, by name or by its version numbers. Status is active where
// the metadata switch it on too, unknown where this product does not know it; why says what does so. Droppable answers for the table as
// it is now, and blocked_by is what stands against it. What only DROP FEATURE itself can find out, as that the history is still too
// young, is not asked here.
func Features(s Subject) Table {
	config := s.Snapshot.Config()
	now := ddl.DropState{State: ddl.State{Config: config, Domains: s.Snapshot.Domains(), NumFiles: s.Snapshot.Files().Len(), Version: s.Snapshot.Version()}}
	var readOnly any
	if err := protocol.CheckWritable(config.Protocol, s.QualifiedName()); err != nil {
		readOnly = reason(err)
	}
	var rows [][]any
	for _, name := range sortedSet(append([]string(nil), config.Protocol.Features()...)) {
		kind, status := "writer", "supported"
		feature, ok := protocol.LookupFeature(name)
		switch {
		case !ok:
			status = "unknown"
			if slices.Contains(config.Protocol.ReaderFeatures, name) {
				kind = "reader-writer"
			}
			rows = append(rows, []any{name, kind, status, nil, "", readOnly})
			continue
		case feature.Kind == protocol.ReaderWriterFeature:
			kind = "reader-writer"
		}
		if config.Active(name) {
			status = "active"
		}
		blocked := readOnly
		if blocked == nil {
			if err := ddl.DropRefusal(now, name); err != nil {
				blocked = reason(err)
			}
		}
		rows = append(rows, []any{name, kind, status, blocked == nil, why(s, name), blocked})
	}
	return Table{Columns: []Column{{"feature", typeString, false}, {"kind", typeString, false}, {"status", typeString, false}, {"droppable", typeBoolean, true},
		{"why", typeString, false}, {"blocked_by", typeString, true}}, Rows: rowsOf(rows)}
}

// reason is an error in a cell: its class and what it says.
func reason(err error) string {
	known, ok := err.(*protocol.Error)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("[%s] %s", known.Class, known.Message)
}

// switches are the properties that make features active.
var switches = map[string]string{
	"appendOnly": "delta.appendOnly", "changeDataFeed": "delta.enableChangeDataFeed", "columnMapping": "delta.columnMapping.mode",
	"deletionVectors": "delta.enableDeletionVectors", "rowTracking": "delta.enableRowTracking", "typeWidening": "delta.enableTypeWidening",
	"typeWidening-preview": "delta.enableTypeWidening", "inCommitTimestamp": "delta.enableInCommitTimestamps", "v2Checkpoint": "delta.checkpointPolicy",
	"variantShredding": "delta.enableVariantShredding", "variantShredding-preview": "delta.enableVariantShredding",
	"icebergCompatV1": "delta.enableIcebergCompatV1", "icebergCompatV2": "delta.enableIcebergCompatV2", "icebergCompatV3": "delta.enableIcebergCompatV3",
	"icebergWriterCompatV1": "delta.enableIcebergWriterCompatV1", "icebergWriterCompatV3": "delta.enableIcebergWriterCompatV3",
	"materializePartitionColumns": "delta.enableMaterializePartitionColumnsFeature", "checkpointProtection": "delta.requireCheckpointProtectionBeforeVersion",
	"coordinatedCommits-preview":   "delta.coordinatedCommits.commitCoordinator-preview",
	"redirectReaderWriter-preview": "delta.redirectReaderWriter-preview", "redirectWriterOnly-preview": "delta.redirectWriterOnly-preview",
}

// why says what makes a feature active, or what has brought it where nothing does: the property, the columns, the constraints or the
// features of the table that need it, else the protocol itself.
func why(s Subject, name string) string {
	config := s.Snapshot.Config()
	if property := switches[name]; property != "" {
		if value, ok := config.LookupProperty(property); ok {
			return property + " = " + value
		}
	}
	if uses := usedBy(s, name); len(uses) > 0 {
		return strings.Join(uses, ", ")
	}
	var needing []string
	for _, other := range config.Protocol.Features() {
		if f, ok := protocol.LookupFeature(other); ok && slices.Contains(f.Requires, name) {
			needing = append(needing, other)
		}
	}
	if len(needing) > 0 {
		slices.Sort(needing)
		return "needed by " + strings.Join(needing, ", ")
	}
	if slices.Contains(config.Protocol.WriterFeatures, name) || slices.Contains(config.Protocol.ReaderFeatures, name) {
		return "listed in the protocol"
	}
	return fmt.Sprintf("part of writer version %d", config.Protocol.MinWriterVersion)
}

// usedBy are the parts of a table's definition that use a feature.
func usedBy(s Subject, name string) []string {
	config := s.Snapshot.Config()
	columns := func(has func(f protocol.Field) bool) []string {
		var out []string
		for _, f := range config.Schema.Fields {
			if has(f) {
				out = append(out, "column "+quoteName(string(f.Name)))
			}
		}
		return out
	}
	holds := func(kinds ...protocol.Kind) []string {
		return columns(func(f protocol.Field) bool { return slices.ContainsFunc(kinds, f.Type.Holds) })
	}
	switch name {
	case "checkConstraints":
		var out []string
		for _, c := range checkConstraints(s) {
			out = append(out, "constraint "+quoteName(c.name))
		}
		return out
	case "generatedColumns":
		return columns(func(f protocol.Field) bool { _, ok := f.Metadata.GenerationExpression(); return ok })
	case "identityColumns":
		return columns(func(f protocol.Field) bool { _, ok := f.Metadata.Identity(); return ok })
	case "allowColumnDefaults":
		return columns(func(f protocol.Field) bool { _, ok := f.Metadata.CurrentDefault(); return ok })
	case "invariants":
		return columns(func(f protocol.Field) bool { return !f.Nullable })
	case "timestampNtz":
		return holds(protocol.KindTimestampNTZ)
	case "variantType", "variantType-preview":
		return holds(protocol.KindVariant)
	case "fileType":
		return holds(protocol.KindFile)
	case "geospatial", "geospatial-dev":
		return holds(protocol.KindGeometry, protocol.KindGeography)
	case "clustering":
		if columns := clusteringColumns(s.Snapshot); len(columns) > 0 {
			return []string{"CLUSTER BY (" + strings.Join(columns, ", ") + ")"}
		}
	case "domainMetadata":
		var out []string
		for domain := range s.Snapshot.Domains() {
			out = append(out, "domain "+domain)
		}
		slices.Sort(out)
		return out
	}
	return nil
}
