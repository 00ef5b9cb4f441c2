package ddl

import (
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

// dropRow is how one feature is dropped.
type dropRow struct {
	name        string
	protected   bool                         // old versions need it to be read: barriers and protection, or the end of the history
	forced      bool                         // only with DropOptions.Force
	unsupported string                       // why this product cannot drop it
	refuse      func(s *DropState) error     // what in the table uses it and is the user's to take away; nil: nothing
	clean       func(s *DropState) []Step    // what takes its traces out; nil: there are none
	left        func(s *DropState) string    // a trace that is left, "" for none; nil: there are none
	unset       []string                     // properties that go in the downgrade's commit
	domains     []string                     // domains that go in the downgrade's commit
	trace       func(a protocol.Action) bool // an action of the history that uses it (HistoryTrace); nil: none ever counts
}

// dropRows are the features that can be dropped: those of the reference, then those that only we drop (protocol digest,
// "what droppable means").
var dropRows = func() map[string]*dropRow {
	rows := []*dropRow{
		{name: "checkConstraints", refuse: refuseConstraints, left: leftIf(func(s *DropState) bool { return len(s.Config.Constraints()) > 0 }, "there are CHECK constraints")},
		{name: "columnMapping", protected: true, refuse: refuseNames, clean: cleanMapping, left: leftMapping, trace: metadataTrace(mapsInLog)},
		{name: "deletionVectors", protected: true, clean: cleanVectors, left: leftVectors, trace: traceVectors},
		{name: "v2Checkpoint", protected: true, clean: cleanCheckpoints, left: leftCheckpoints, trace: traceCheckpoints},
		{name: "typeWidening", protected: true, clean: cleanWidening, left: leftWidening, trace: metadataTrace(widensInLog)},
		{name: "typeWidening-preview", protected: true, clean: cleanWidening, left: leftWidening, trace: metadataTrace(widensInLog)},
		{name: "vacuumProtocolCheck", protected: true},
		{name: "inCommitTimestamp", clean: cleanTimestamps, left: leftTimestamps},
		{name: "rowTracking", clean: cleanRowTracking, left: leftRowTracking, domains: []string{protocol.DomainRowTracking},
			unset: []string{propRowTracking, propRowTrackingSuspend, propRowIDColumn, propRowVersionColumn}},
		{name: "domainMetadata", clean: cleanDomains, left: leftIf(func(s *DropState) bool { return len(liveDomains(s)) > 0 }, "there are domains")},
		{name: "materializePartitionColumns", unset: []string{"delta.enableMaterializePartitionColumnsFeature"}},
		{name: "checkpointProtection", left: leftIf(func(s *DropState) bool { _, ok := s.Config.LookupProperty(propProtectedBefore); return ok }, "the property that protects checkpoints is set")},
		{name: "coordinatedCommits-preview", refuse: refuseUnpublished, clean: cleanProperties(coordinatorProperties...), left: leftProperties(coordinatorProperties...)},
		{name: "redirectReaderWriter-preview", clean: cleanProperties("delta.redirectReaderWriter-preview"), left: leftProperties("delta.redirectReaderWriter-preview")},
		{name: "redirectWriterOnly-preview", clean: cleanProperties("delta.redirectWriterOnly-preview"), left: leftProperties("delta.redirectWriterOnly-preview")},
		{name: "geospatial", protected: true, refuse: refuseGeo, left: leftGeo},
		{name: "geospatial-dev", protected: true, refuse: refuseGeo, left: leftGeo},
		{name: "catalogManaged", protected: true, unsupported: "its catalog would have to release the table"},
		{name: "catalogOwned-preview", protected: true, unsupported: "its catalog would have to release the table"},

		{name: "appendOnly", clean: cleanFlag("delta.appendOnly"), left: leftActive("appendOnly")},
		{name: "changeDataFeed", clean: cleanFlag(propChangeFeed, "delta.enableChangeDataCapture"), left: leftActive("changeDataFeed")},
		{name: "invariants", refuse: inUse("invariants", "a NOT NULL column or an invariant", "make the columns nullable first: ALTER COLUMN ... DROP NOT NULL", invariantColumns), left: leftColumns(invariantColumns)},
		{name: "generatedColumns", refuse: inUse("generatedColumns", "a generated column", "drop the generated columns first", columnsWith("delta.generationExpression")), left: leftColumns(columnsWith("delta.generationExpression"))},
		{name: "identityColumns", refuse: inUse("identityColumns", "an identity column", "drop the identity columns first", columnsWith(identityKeys...)), left: leftColumns(columnsWith(identityKeys...))},
		{name: "allowColumnDefaults", refuse: inUse("allowColumnDefaults", "a default", "drop the defaults first: ALTER COLUMN ... DROP DEFAULT", columnsWith(metaKeyDefault, metaKeyExistsDefault)),
			left: leftColumns(columnsWith(metaKeyDefault, metaKeyExistsDefault))},
		{name: "timestampNtz", protected: true, refuse: typeInUse("timestampNtz", protocol.KindTimestampNTZ), left: leftType("timestampNtz", protocol.KindTimestampNTZ), trace: typeTrace(protocol.KindTimestampNTZ)},
		{name: "variantType", protected: true, refuse: typeInUse("variantType", protocol.KindVariant), left: leftType("variantType", protocol.KindVariant), trace: typeTrace(protocol.KindVariant)},
		{name: "variantType-preview", protected: true, refuse: typeInUse("variantType-preview", protocol.KindVariant), left: leftType("variantType-preview", protocol.KindVariant), trace: typeTrace(protocol.KindVariant)},
		{name: "fileType", protected: true, refuse: typeInUse("fileType", protocol.KindFile), left: leftType("fileType", protocol.KindFile), trace: typeTrace(protocol.KindFile)},
		{name: "variantShredding", protected: true, clean: cleanShredding, left: leftShredding, trace: metadataTrace(flagInLog("delta.enableVariantShredding"))},
		{name: "variantShredding-preview", protected: true, clean: cleanShredding, left: leftShredding, trace: metadataTrace(flagInLog("delta.enableVariantShredding"))},
		{name: "icebergCompatV1", clean: cleanIceberg("delta.enableIcebergCompatV1"), left: leftActive("icebergCompatV1")},
		{name: "icebergCompatV2", clean: cleanIceberg("delta.enableIcebergCompatV2"), left: leftActive("icebergCompatV2")},
		{name: "icebergCompatV3", forced: true, clean: cleanIceberg("delta.enableIcebergCompatV3"), left: leftActive("icebergCompatV3")},
		{name: "icebergWriterCompatV1", clean: cleanIceberg("delta.enableIcebergWriterCompatV1"), left: leftActive("icebergWriterCompatV1")},
		{name: "clustering", clean: cleanClustering, left: leftClustering},
		{name: "collations", refuse: inUse("collations", "a collated column", "", columnsWith("__COLLATIONS")), clean: cleanCollations, left: leftCollations},
		{name: "collations-preview", refuse: inUse("collations-preview", "a collated column", "", columnsWith("__COLLATIONS")), clean: cleanCollations, left: leftCollations},
	}
	m := make(map[string]*dropRow, len(rows))
	for _, row := range rows {
		m[row.name] = row
	}
	return m
}()

func refuseConstraints(s *DropState) error {
	names := slices.Sorted(maps.Keys(s.Config.Constraints()))
	if len(names) == 0 {
		return nil
	}
	return protocol.NewError("DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "the table feature checkConstraints cannot be dropped: there are constraints: %s", strings.Join(names, ", ")).
		WithHint("drop them first: ALTER TABLE ... DROP CONSTRAINT")
}

func refuseNames(s *DropState) error {
	if !mapsNow(s) {
		return nil
	}
	return plainNames(s.Config.Schema)
}

var coordinatorProperties = []string{"delta.coordinatedCommits.commitCoordinator-preview", "delta.coordinatedCommits.commitCoordinatorConf-preview", "delta.coordinatedCommits.tableConf-preview"}

func refuseUnpublished(s *DropState) error {
	if s.Unpublished == 0 {
		return nil
	}
	return protocol.NewError("DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE", "coordinatedCommits-preview cannot be dropped: %d commits are with a coordinator that is not supported", s.Unpublished)
}

func refuseGeo(s *DropState) error {
	names := geoColumns(s)
	if len(names) == 0 {
		return nil
	}
	return protocol.NewError("DELTA_CANNOT_DROP_GEOSPATIAL_FEATURE", "the geospatial feature cannot be dropped: the columns %s need it", strings.Join(names, ", ")).WithHint("drop the columns first")
}

// HistoryTrace says that an action of an old version uses the feature, so that a reader without it could not read that
// version. Protocol actions do not count: what they list nobody need have used.
func HistoryTrace(feature string, a protocol.Action) bool {
	row, ok := dropRows[feature]
	return ok && row.trace != nil && row.trace(a)
}
