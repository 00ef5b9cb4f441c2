package ddl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn"
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

// ---- what is left ----

func leftIf(holds func(*DropState) bool, what string) func(*DropState) string {
	return func(s *DropState) string {
		if holds(s) {
			return what
		}
		return ""
	}
}

func leftActive(feature string) func(*DropState) string {
	return leftIf(func(s *DropState) bool { return s.Config.Active(feature) }, "it is switched on")
}

func leftProperties(names ...string) func(*DropState) string {
	return func(s *DropState) string { return strings.Join(stored(s, names...), ", ") }
}

// stored are those of the properties that are in the table, as it spells them.
func stored(s *DropState, names ...string) []string {
	var out []string
	for _, name := range names {
		for key := range s.Config.Metadata.Configuration {
			if sameProperty(key, name) {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

func on(s *DropState, property string) bool { return isOn(s.Config.Metadata.Configuration, property) }

func commitUnset(names ...string) Step {
	return Step{Kind: StepCommit, Unset: names, Operation: unsetOperation(names...)}
}

func commitSet(properties map[string]string) Step {
	return Step{Kind: StepCommit, Set: properties, Operation: setOperation(properties)}
}

// cleanFlag takes a property away that switches the feature on.
func cleanFlag(names ...string) func(*DropState) []Step {
	return func(s *DropState) []Step {
		set := stored(s, names...)
		if slices.ContainsFunc(set, func(name string) bool { return on(s, name) }) {
			return []Step{commitUnset(set...)}
		}
		return nil
	}
}

// cleanProperties takes properties away whose being there counts.
func cleanProperties(names ...string) func(*DropState) []Step {
	return func(s *DropState) []Step {
		if set := stored(s, names...); len(set) > 0 {
			return []Step{commitUnset(set...)}
		}
		return nil
	}
}

// ---- CHECK constraints ----

func refuseConstraints(s *DropState) error {
	names := slices.Sorted(maps.Keys(s.Config.Constraints()))
	if len(names) == 0 {
		return nil
	}
	return protocol.NewError("DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "the table feature checkConstraints cannot be dropped: there are constraints: %s", strings.Join(names, ", ")).
		WithHint("drop them first: ALTER TABLE ... DROP CONSTRAINT")
}

// ---- column mapping ----

func mapsNow(s *DropState) bool {
	return s.Config.Mapping != protocol.MappingNone || hasMapping(s.Config.Schema)
}

func refuseNames(s *DropState) error {
	if !mapsNow(s) {
		return nil
	}
	return plainNames(s.Config.Schema)
}

func cleanMapping(s *DropState) []Step {
	if !mapsNow(s) {
		return nil
	}
	return []Step{{Kind: StepRewrite, Files: FilesAll, StripSchema: stripColumnMapping, Unset: []string{propMappingMode, propMaxColumnID},
		Operation: txn.Operation{Name: "REMOVE COLUMN MAPPING", NeverChangesData: true}}}
}

func leftMapping(s *DropState) string {
	if mapsNow(s) {
		return "columns are mapped"
	}
	return ""
}

func mapsInLog(m *protocol.Metadata) bool {
	mode, _ := setting(m.Configuration, propMappingMode)
	return mode != "" && !strings.EqualFold(mode, string(protocol.MappingNone))
}

// ---- deletion vectors ----

func cleanVectors(s *DropState) []Step {
	var steps []Step
	if leftVectors(s) != "" {
		if stored(s, propVectors) != nil {
			steps = append(steps, commitUnset(propVectors))
		}
		// A writer that had begun before the property went can still add a vector: the engine looks for such files again
		// when it has rewritten the first ones.
		steps = append(steps, Step{Kind: StepRewrite, Files: FilesWithVectors, Operation: reorg()})
	}
	return append(steps, Step{Kind: StepTombstones, Operation: txn.Operation{Name: "Deletion Vector Tombstones", NeverChangesData: true, AllowEmpty: true}})
}

func leftVectors(s *DropState) string {
	switch {
	case on(s, propVectors):
		return propVectors + " is true"
	case s.NumVectors > 0:
		return fmt.Sprintf("%d files have deletion vectors", s.NumVectors)
	}
	return ""
}

func traceVectors(a protocol.Action) bool {
	switch {
	case a.Metadata != nil:
		return isOn(a.Metadata.Configuration, propVectors)
	case a.Add != nil:
		return a.Add.DeletionVector != nil
	case a.Remove != nil:
		return a.Remove.DeletionVector != nil
	}
	return false
}

// ---- V2 checkpoints ----

const propCheckpointPolicy = "delta.checkpointPolicy"

func v2Policy(configuration map[string]string) bool {
	policy, _ := setting(configuration, propCheckpointPolicy)
	return policy != "" && !strings.EqualFold(policy, "classic")
}

func cleanCheckpoints(s *DropState) []Step {
	if leftCheckpoints(s) == "" {
		return nil
	}
	// The checkpoint of the barrier that follows is a classic one.
	return []Step{commitSet(map[string]string{propCheckpointPolicy: "classic"})}
}

func leftCheckpoints(s *DropState) string {
	switch {
	case v2Policy(s.Config.Metadata.Configuration):
		return propCheckpointPolicy + " is not classic"
	case s.V2Checkpoint:
		return "the table rests on a V2 checkpoint"
	}
	return ""
}

func traceCheckpoints(a protocol.Action) bool {
	return a.CheckpointMetadata != nil || a.Sidecar != nil || a.Metadata != nil && v2Policy(a.Metadata.Configuration)
}

// ---- type widening ----

const propWidening = "delta.enableTypeWidening"

func hasTypeChanges(schema protocol.DataType) bool {
	return len(columnsOf(schema, metaKeyTypeChanges)) > 0
}

func cleanWidening(s *DropState) []Step {
	if leftWidening(s) == "" {
		return nil
	}
	steps := []Step{commitUnset(propWidening)}
	if stored(s, propWidening) == nil {
		steps = nil
	}
	if hasTypeChanges(s.Config.Schema) {
		steps = append(steps,
			Step{Kind: StepRewrite, Files: FilesOfOldTypes, Operation: reorg()},
			Step{Kind: StepCommit, StripSchema: stripTypeChanges, Operation: txn.Operation{Name: "DROP FEATURE"}})
	}
	return steps
}

func leftWidening(s *DropState) string {
	switch {
	case on(s, propWidening):
		return propWidening + " is true"
	case hasTypeChanges(s.Config.Schema):
		return "the schema has a record of widened types"
	}
	return ""
}

func widensInLog(m *protocol.Metadata) bool {
	schema, err := protocol.ParseSchema(m.SchemaString)
	return err != nil || hasTypeChanges(schema)
}

// ---- in-commit timestamps ----

func cleanTimestamps(s *DropState) []Step {
	gone := stored(s, propTimestampSince, propVersionSince)
	enabled := on(s, propTimestamps)
	if len(gone) == 0 && !enabled {
		return nil
	}
	step := Step{Kind: StepCommit, Unset: gone}
	named := slices.Clone(gone)
	if enabled {
		step.Set = map[string]string{propTimestamps: "false"}
		named = append(named, propTimestamps)
	}
	step.Operation = unsetOperation(named...)
	return []Step{step}
}

func leftTimestamps(s *DropState) string {
	if on(s, propTimestamps) {
		return propTimestamps + " is true"
	}
	return strings.Join(stored(s, propTimestampSince, propVersionSince), ", ")
}

// ---- row tracking ----

func cleanRowTracking(s *DropState) []Step {
	if leftRowTracking(s) == "" {
		return nil
	}
	var steps []Step
	if on(s, propRowTracking) || !on(s, propRowTrackingSuspend) {
		steps = append(steps, commitSet(map[string]string{propRowTracking: "false", propRowTrackingSuspend: "true"}))
	}
	if s.NumFiles > 0 {
		// Files that a writer adds before it sees the suspension get ids too: the engine looks until none is left.
		steps = append(steps, Step{Kind: StepRecommit, Files: FilesWithRowIDs, BatchFiles: BackfillFiles, Operation: backfill("ROW TRACKING UNBACKFILL")})
	}
	return steps
}

func leftRowTracking(s *DropState) string {
	switch {
	case on(s, propRowTracking):
		return propRowTracking + " is true"
	case !on(s, propRowTrackingSuspend):
		return propRowTrackingSuspend + " is not true"
	case s.FilesWithRowIDs > 0:
		return fmt.Sprintf("%d files have row ids", s.FilesWithRowIDs)
	}
	return ""
}

// ---- domains ----

func liveDomains(s *DropState) []string {
	var names []string
	for name, d := range s.Domains {
		if !d.Removed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func cleanDomains(s *DropState) []Step {
	names := liveDomains(s)
	if len(names) == 0 {
		return nil
	}
	return []Step{{Kind: StepCommit, Tombstones: names,
		Operation: operation("DOMAIN METADATA CLEANUP", protocol.Parameter{Key: "domainMetadataRemovedCount", Value: jsonText(len(names))})}}
}

// ---- clustering ----

func cleanClustering(s *DropState) []Step {
	var steps []Step
	if d, live := s.Domains[protocol.DomainClustering]; live && !d.Removed {
		steps = append(steps, Step{Kind: StepCommit, Tombstones: []string{protocol.DomainClustering}, Operation: txn.Operation{Name: "DROP FEATURE"}})
	}
	if s.FilesClustered > 0 {
		steps = append(steps, Step{Kind: StepRecommit, Files: FilesClustered, BatchFiles: BackfillFiles, Operation: txn.Operation{Name: "DROP FEATURE", NeverChangesData: true}})
	}
	return steps
}

func leftClustering(s *DropState) string {
	if d, live := s.Domains[protocol.DomainClustering]; live && !d.Removed {
		return "the table has clustering columns"
	}
	if s.FilesClustered > 0 {
		return fmt.Sprintf("%d files name a clustering provider", s.FilesClustered)
	}
	return ""
}

// ---- variants, collations, Iceberg ----

const propShredding = "delta.enableVariantShredding"

func cleanShredding(s *DropState) []Step {
	if leftShredding(s) == "" {
		return nil
	}
	var steps []Step
	if stored(s, propShredding) != nil {
		steps = append(steps, commitUnset(propShredding))
	}
	if s.FilesShredded > 0 {
		steps = append(steps, Step{Kind: StepRewrite, Files: FilesShredded, Operation: reorg()})
	}
	return steps
}

func leftShredding(s *DropState) string {
	switch {
	case on(s, propShredding):
		return propShredding + " is true"
	case s.FilesShredded > 0:
		return fmt.Sprintf("%d files may hold shredded variants", s.FilesShredded)
	}
	return ""
}

func flagInLog(property string) func(*protocol.Metadata) bool {
	return func(m *protocol.Metadata) bool { return isOn(m.Configuration, property) }
}

func cleanCollations(s *DropState) []Step {
	if s.FilesCollated == 0 {
		return nil
	}
	return []Step{{Kind: StepRecommit, Files: FilesCollated, BatchFiles: BackfillFiles, Operation: txn.Operation{Name: "DROP FEATURE", NeverChangesData: true}}}
}

func leftCollations(s *DropState) string {
	if s.FilesCollated > 0 {
		return fmt.Sprintf("the statistics of %d files are collated", s.FilesCollated)
	}
	return leftColumns(columnsWith("__COLLATIONS"))(s)
}

// cleanIceberg switches a compatibility off, and with it the format that rests on it.
func cleanIceberg(property string) func(*DropState) []Step {
	return func(s *DropState) []Step {
		if !on(s, property) {
			return nil
		}
		step := commitSet(map[string]string{property: "false"})
		if formats, ok := setting(s.Config.Metadata.Configuration, propUniversalFormats); ok && !strings.Contains(property, "WriterCompat") {
			rest := slices.DeleteFunc(strings.Split(formats, ","), func(f string) bool { return strings.TrimSpace(f) == "iceberg" })
			if len(rest) == 0 {
				step.Unset = []string{propUniversalFormats}
			} else if joined := strings.Join(rest, ","); joined != formats {
				step.Set[propUniversalFormats] = joined
			}
		}
		return []Step{step}
	}
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

func geoColumns(s *DropState) []string {
	return columnsOfType(s, protocol.KindGeometry, protocol.KindGeography)
}

func leftGeo(s *DropState) string { return strings.Join(geoColumns(s), ", ") }

// ---- features that columns use ----

var identityKeys = []string{"delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert", metaKeyHighWaterMark}

func columnsOf(schema protocol.DataType, keys ...string) []string {
	var names []string
	_ = walk(&schema, func(path Path, f *protocol.Field) error {
		if slices.ContainsFunc(keys, func(key string) bool { _, ok := f.Metadata[key]; return ok }) {
			names = append(names, path.String())
		}
		return nil
	})
	return names
}

func columnsWith(keys ...string) func(*DropState) []string {
	return func(s *DropState) []string { return columnsOf(s.Config.Schema, keys...) }
}

// invariantColumns are the fields, inside collections too, that keep NULL out or have an invariant.
func invariantColumns(s *DropState) []string {
	names := columnsOf(s.Config.Schema, metaKeyInvariants)
	_ = walk(&s.Config.Schema, func(path Path, f *protocol.Field) error {
		if !f.Nullable {
			names = append(names, path.String())
		}
		return nil
	})
	return names
}

func columnsOfType(s *DropState, kinds ...protocol.Kind) []string {
	var names []string
	for _, f := range s.Config.Schema.Fields {
		if slices.ContainsFunc(kinds, f.Type.Holds) {
			names = append(names, string(f.Name))
		}
	}
	return names
}

func leftColumns(columns func(*DropState) []string) func(*DropState) string {
	return func(s *DropState) string { return strings.Join(columns(s), ", ") }
}

// inUse refuses as long as columns use the feature: what the table's columns are is the user's to change.
func inUse(feature, what, hint string, columns func(*DropState) []string) func(*DropState) error {
	return func(s *DropState) error {
		names := columns(s)
		if len(names) == 0 {
			return nil
		}
		e := protocol.NewError("DELTASQL_FEATURE_IN_USE", "the table feature %s cannot be dropped: there is %s: %s", feature, what, strings.Join(names, ", "))
		if hint != "" {
			e = e.WithHint("%s", hint)
		}
		return e
	}
}

// otherName is the feature's second name: a preview and its stable successor stand for one another.
func otherName(feature string) string {
	if stable, preview := strings.CutSuffix(feature, "-preview"); preview {
		return stable
	}
	return feature + "-preview"
}

func typeColumns(feature string, kind protocol.Kind) func(*DropState) []string {
	return func(s *DropState) []string {
		if s.Config.Supports(otherName(feature)) {
			return nil
		}
		return columnsOfType(s, kind)
	}
}

func typeInUse(feature string, kind protocol.Kind) func(*DropState) error {
	return inUse(feature, "a column of the type "+protocol.DataType{Kind: kind}.String(), "drop the columns first", typeColumns(feature, kind))
}

func leftType(feature string, kind protocol.Kind) func(*DropState) string {
	return leftColumns(typeColumns(feature, kind))
}

// ---- traces in the history ----

func metadataTrace(uses func(*protocol.Metadata) bool) func(protocol.Action) bool {
	return func(a protocol.Action) bool { return a.Metadata != nil && uses(a.Metadata) }
}

func typeTrace(kind protocol.Kind) func(protocol.Action) bool {
	return metadataTrace(func(m *protocol.Metadata) bool {
		schema, err := protocol.ParseSchema(m.SchemaString)
		return err != nil || schema.Holds(kind)
	})
}

// HistoryTrace says that an action of an old version uses the feature, so that a reader without it could not read that
// version. Protocol actions do not count: what they list nobody need have used.
func HistoryTrace(feature string, a protocol.Action) bool {
	row, ok := dropRows[feature]
	return ok && row.trace != nil && row.trace(a)
}
