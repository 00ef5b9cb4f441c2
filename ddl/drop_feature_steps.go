package ddl

import (
	"fmt"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn"
)

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

func mapsNow(s *DropState) bool {
	return s.Config.Mapping != protocol.MappingNone || hasMapping(s.Config.Schema)
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
