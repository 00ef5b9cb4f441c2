package ddl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

// SetProperties is SET TBLPROPERTIES. A property may bring a feature into the protocol; what is set to false or to none never
// takes one out. Two properties need work on the files:
//
//   - delta.enableRowTracking = true gives row ids to the files that are there first, in commits of their own (Change.Before);
//   - delta.columnMapping.mode = none writes all files anew under their logical names, in the same commit (Change.Rewrite).
type SetProperties struct {
	Properties map[string]string
}

func (s SetProperties) apply(a *alteration) error {
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		folded := strings.ToLower(key)
		switch {
		case strings.HasPrefix(folded, protocol.PropertyPrefixConstraint):
			return protocol.NewError("DELTA_ADD_CONSTRAINTS", "a CHECK constraint is not set as a property (%s)", key).
				WithHint("use ALTER TABLE ... ADD CONSTRAINT %s CHECK (%s)", key[len(protocol.PropertyPrefixConstraint):], s.Properties[key])
		case folded == propClustering:
			return protocol.NewError("DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED", "the table feature clustering is not set as a property").
				WithHint("use ALTER TABLE ... CLUSTER BY")
		case folded == strings.ToLower(protocol.PropertyPrefixFeature+"catalogManaged") && !a.supports("catalogManaged"):
			return notAllowed("making a table that exists catalog-managed")
		}
	}
	set, err := CheckProperties(s.Properties, a.env)
	if err != nil {
		return err
	}
	if err := a.catalogKeeps(slices.Sorted(maps.Keys(set))); err != nil {
		return err
	}
	e := entry{operation: "SET TBLPROPERTIES"}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		value := set[name]
		e.items = append(e.items, member(name, value))
		if name == "comment" {
			a.metadata.Description = &value
			continue
		}
		a.removeProperty(name)
		a.metadata.Configuration[name] = value
	}
	if strings.EqualFold(set[propMappingMode], string(protocol.MappingNone)) {
		if err := a.unmap(); err != nil {
			return err
		}
	}
	if strings.EqualFold(set[propRowTracking], "true") {
		if err := a.enableRowTracking(); err != nil {
			return err
		}
		if len(set) == 1 {
			e.tags = map[string]string{"rowTrackingEnablementOnly": "true"}
		}
	}
	a.record(e)
	return nil
}

// catalogKeeps refuses changes of what a catalog-managed table rests on.
func (a *alteration) catalogKeeps(names []string) error {
	if !a.supports("catalogManaged") && !a.supports("catalogOwned-preview") {
		return nil
	}
	for _, name := range names {
		if name == propTimestamps || name == propVersionSince || name == propTimestampSince {
			return protocol.NewError("DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES", "the property %s of a catalog-managed table cannot be changed", name)
		}
	}
	return nil
}

// UnsetProperties is UNSET TBLPROPERTIES. A key that is not there is passed over, with and without IF EXISTS, as the
// reference does; keys that configure the protocol are never there.
type UnsetProperties struct {
	Keys     []string
	IfExists bool
}

func (s UnsetProperties) apply(a *alteration) error {
	e := entry{operation: "UNSET TBLPROPERTIES", parameters: []protocol.Parameter{{Key: "ifExists", Value: jsonText(s.IfExists)}}}
	var names []string
	for _, key := range s.Keys {
		name, _ := protocol.CanonicalProperty(key)
		if _, there := a.property(name); there && systemProperties[name] {
			return protocol.NewError("DELTA_CANNOT_MODIFY_TABLE_PROPERTY", "the table property %s is written by the system and cannot be taken away", name)
		}
		names = append(names, name)
	}
	if err := a.catalogKeeps(names); err != nil {
		return err
	}
	for _, name := range names {
		e.items = append(e.items, jsonText(name))
		if name == "comment" {
			a.metadata.Description = nil
			continue
		}
		if name == propMappingMode {
			if err := a.unmap(); err != nil {
				return err
			}
		}
		if constraint, ok := strings.CutPrefix(name, protocol.PropertyPrefixConstraint); ok {
			delete(a.constraints, constraint)
		}
		a.removeProperty(name)
	}
	a.record(e)
	return nil
}

// unmap takes column mapping out of a table that has it: keys of the schema and the largest id go, and the files are written
// anew. Every name must be one that files can have.
func (a *alteration) unmap() error {
	if !a.mapped() {
		return nil
	}
	if err := plainNames(a.schema); err != nil {
		return err
	}
	if version := icebergVersion(a.metadata.Configuration); version > 0 {
		return violation(version, "WRONG_REQUIRED_TABLE_PROPERTY", "the table property %s must be name; it is to be none", propMappingMode)
	}
	if !sameColumns(&a.old.Config.Schema, &a.schema, byID) {
		return a.unmapsAlone()
	}
	if a.clusterBy == nil {
		domain, changed, err := unmappedClustering(&a.schema, a.old)
		if err != nil {
			return err
		}
		if changed {
			a.domains = append(a.domains, domain)
		}
	}
	a.followLengths() // while columns have ids to follow
	stripMapping(&a.schema)
	a.removeProperty(propMaxColumnID)
	a.unmapped = new(protocol.DataType)
	*a.unmapped = copyType(a.schema)
	return nil
}

// unmapsAlone refuses other changes of the columns beside the end of column mapping: the files are written anew column by column in the
// order that they have, so that there must be the same ones, of the same types. New names are no matter, as long as they come first.
func (a *alteration) unmapsAlone() error {
	return notAllowed("adding, dropping, moving or retyping columns in the statement that sets %s to none", propMappingMode).WithHint("use a statement for each")
}

// sameColumns says that two schemas have the same fields in the same order, of the same types, all the way down.
func sameColumns(x, y *protocol.DataType, same func(f, g *protocol.Field) bool) bool {
	if x.Kind != y.Kind {
		return false
	}
	switch x.Kind {
	case protocol.KindStruct:
		return slices.EqualFunc(x.Fields, y.Fields, func(f, g protocol.Field) bool { return same(&f, &g) && sameColumns(&f.Type, &g.Type, same) })
	case protocol.KindArray:
		return sameColumns(x.Element, y.Element, same)
	case protocol.KindMap:
		return sameColumns(x.Key, y.Key, same) && sameColumns(x.Value, y.Value, same)
	}
	return x.Equal(*y)
}

func byID(f, g *protocol.Field) bool {
	x, known := f.ColumnID()
	y, alsoKnown := g.ColumnID()
	return known && alsoKnown && x == y
}

func byName(f, g *protocol.Field) bool { return f.Name == g.Name }

// plainNames refuses names that only column mapping allows.
func plainNames(schema protocol.DataType) error {
	var bad []string
	_ = walk(&schema, func(path Path, f *protocol.Field) error {
		if strings.ContainsAny(string(f.Name), illegalCharacters) {
			bad = append(bad, path.String())
		}
		return nil
	})
	if bad == nil {
		return nil
	}
	return protocol.NewError("DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING", "column mapping cannot go: the names of the columns %s have characters (among %q) that only it allows", strings.Join(bad, ", "), illegalCharacters).
		WithHint("rename the columns first")
}

// BackfillFiles is how many files one commit of a backfill of row ids, or of its undoing, takes along.
const BackfillFiles = 22000

// enableRowTracking plans what comes before the property: the feature in a commit of its own, so that writers from then on
// give ids to the files they add, then ids for the files that are there. Each commit stands on its own; after an
// interruption the plan begins with what is left.
func (a *alteration) enableRowTracking() error {
	if isOn(a.metadata.Configuration, propRowTrackingSuspend) {
		return suspendedAndEnabled()
	}
	if a.old.Config.Active("rowTracking") {
		return nil
	}
	steps, err := PlanBackfill(a.old)
	if isOn(a.old.Config.Metadata.Configuration, propRowTrackingSuspend) && len(steps) > 0 {
		// While the suspension stands, files get no ids, whoever commits them.
		resume := commitSet(map[string]string{propRowTrackingSuspend: "false"})
		steps = append(steps[:len(steps)-1:len(steps)-1], resume, steps[len(steps)-1])
	}
	a.before = append(a.before, steps...)
	return err
}

func suspendedAndEnabled() *protocol.Error {
	return protocol.NewError("DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "%s and %s cannot both be true", propRowTracking, propRowTrackingSuspend).
		WithHint("set %s = false in the same statement, or before it", propRowTrackingSuspend)
}

// PlanBackfill is what a table needs before it may promise row ids: the feature, and ids for every live file.
func PlanBackfill(old State) ([]Step, error) {
	var steps []Step
	if !old.Config.Supports("rowTracking") {
		upgraded, err := old.Config.Protocol.WithFeatures("rowTracking")
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Kind: StepCommit, Add: []string{"rowTracking"}, Operation: operation("UPGRADE PROTOCOL", textParameter("newProtocol", protocolJSON(upgraded)))})
	}
	if old.NumFiles > 0 && !old.Tracked {
		steps = append(steps, Step{Kind: StepRecommit, Files: FilesWithoutRowID, BatchFiles: BackfillFiles, Operation: backfill("ROW TRACKING BACKFILL")})
	}
	return steps, nil
}

// protocolJSON is a protocol as the reference writes it into operationParameters; a list that is absent is null or left out
// there alike, and left out here.
func protocolJSON(p protocol.Protocol) string {
	text := map[string]json.RawMessage{"minReaderVersion": jsonText(p.MinReaderVersion), "minWriterVersion": jsonText(p.MinWriterVersion)}
	order := []string{"minReaderVersion", "minWriterVersion"}
	if p.ReaderFeatures != nil {
		text["readerFeatures"], order = jsonText(p.ReaderFeatures), append(order, "readerFeatures")
	}
	if p.WriterFeatures != nil {
		text["writerFeatures"], order = jsonText(p.WriterFeatures), append(order, "writerFeatures")
	}
	members := make([]json.RawMessage, len(order))
	for i, name := range order {
		members[i] = append(append(jsonText(name), ':'), text[name]...)
	}
	return object(members)
}
