package protocol

import (
	"slices"
	"strings"
)

// FeatureKind says who must know a feature: writers only, or readers as well.
type FeatureKind uint8

// The kinds.
const (
	WriterFeature FeatureKind = iota + 1
	ReaderWriterFeature
)

// Feature is one row of the feature table.
type Feature struct {
	Name         string
	Kind         FeatureKind
	LegacyReader int                     // the versions that imply it without a list; 0, 0 for features that only lists name
	LegacyWriter int                     //
	Requires     []string                // features that come with it
	Active       func(*TableConfig) bool // given that it is supported: do metadata switch it on? nil: being supported is enough
	Auto         bool                    // metadata that make it active bring it into the protocol
	Needed       func(*TableConfig) bool // where it is not Active that brings it: do metadata and the other features?
	Manual       bool                    // metadata bring it into a new table only; one that is there must be given it by name
	// Duties are what its metadata ask of whoever writes rows, given that it is supported; nil for nothing. Binding ones are
	// asked for in any case: NOT NULL, invariants and CHECK, as in the reference.
	Duties  func(*TableConfig) []Duty
	Binding bool
	// ChangeDuty is what it asks, where it is active, of a commit that both removes rows and adds files; 0 for nothing.
	ChangeDuty DutyKind
	Reads      bool // this product reads tables that have it
	Writes     bool // this product writes tables that have it
}

// Legacy says that version numbers alone can imply the feature.
func (f *Feature) Legacy() bool { return f.LegacyWriter > 0 }

// minVersions are the least versions of a protocol that lists the feature.
func (f *Feature) minVersions() (reader, writer int) {
	switch {
	case f.Legacy():
		return f.LegacyReader, f.LegacyWriter
	case f.Kind == ReaderWriterFeature:
		return 3, 7
	}
	return 1, 7
}

// features is the table, in the order of the protocol's appendix, then previews, then what only other implementations and
// requests for comment know. Writes is set together with the code that honours the feature's duty.
var features = []*Feature{
	{Name: "appendOnly", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 2, Active: property("delta.appendOnly"), Auto: true, Reads: true, Writes: true},
	{Name: "columnMapping", Kind: ReaderWriterFeature, LegacyReader: 2, LegacyWriter: 5, Active: func(c *TableConfig) bool { return c.Mapping != MappingNone }, Needed: mapsColumns, Duties: fileDuties(func(c *TableConfig) bool { return c.Mapping != MappingNone }, DutyPhysicalNames), Reads: true, Writes: true},
	{Name: "identityColumns", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 6, Active: topLevel(isIdentity), Auto: true, Duties: columnDuties(DutyIdentity, isIdentity), Reads: true, Writes: true},
	{Name: "invariants", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 2, Active: hasInvariants, Auto: true, Duties: invariantDuties, Binding: true, Reads: true, Writes: true},
	{Name: "deletionVectors", Kind: ReaderWriterFeature, Active: property("delta.enableDeletionVectors"), Auto: true, Reads: true, Writes: true},
	{Name: "rowTracking", Kind: WriterFeature, Requires: []string{"domainMetadata"}, Active: property("delta.enableRowTracking"), Auto: true, ChangeDuty: DutyRowIDs, Reads: true, Writes: true},
	{Name: "timestampNtz", Kind: ReaderWriterFeature, Needed: holds(KindTimestampNTZ), Manual: true, Reads: true, Writes: true},
	{Name: "typeWidening", Kind: ReaderWriterFeature, Active: property("delta.enableTypeWidening"), Needed: unless("typeWidening-preview", property("delta.enableTypeWidening")), Reads: true, Writes: true},
	{Name: "domainMetadata", Kind: WriterFeature, Reads: true, Writes: true},
	{Name: "v2Checkpoint", Kind: ReaderWriterFeature, Needed: propertyIs("delta.checkpointPolicy", "v2"), Reads: true, Writes: true},
	{Name: "icebergCompatV1", Kind: WriterFeature, Requires: []string{"columnMapping"}, Active: property("delta.enableIcebergCompatV1"), Auto: true, Duties: fileDuties(property("delta.enableIcebergCompatV1"), DutyMaterializedPartitions), Reads: true, Writes: true},
	{Name: "icebergCompatV2", Kind: WriterFeature, Requires: []string{"columnMapping"}, Active: property("delta.enableIcebergCompatV2"), Auto: true, Duties: fileDuties(property("delta.enableIcebergCompatV2"), DutyMaterializedPartitions, DutyNestedIDs), Reads: true, Writes: true},
	{Name: "icebergCompatV3", Kind: WriterFeature, Requires: []string{"columnMapping", "rowTracking"}, Active: property("delta.enableIcebergCompatV3"), Auto: true, Duties: fileDuties(property("delta.enableIcebergCompatV3"), DutyMaterializedPartitions, DutyNestedIDs), Reads: true, Writes: true},
	{Name: "clustering", Kind: WriterFeature, Requires: []string{"domainMetadata"}, Reads: true, Writes: true},
	{Name: "vacuumProtocolCheck", Kind: ReaderWriterFeature, Reads: true, Writes: true},
	{Name: "inCommitTimestamp", Kind: WriterFeature, Active: property("delta.enableInCommitTimestamps"), Auto: true, Reads: true, Writes: true},
	{Name: "checkConstraints", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 3, Active: func(c *TableConfig) bool { return len(c.Constraints()) > 0 }, Auto: true, Duties: checkDuties, Binding: true, Reads: true, Writes: true},
	{Name: "generatedColumns", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 4, Active: topLevel(isGenerated), Auto: true, Duties: columnDuties(DutyGenerated, isGenerated), Reads: true, Writes: true},
	{Name: "changeDataFeed", Kind: WriterFeature, LegacyReader: 1, LegacyWriter: 4, Active: property("delta.enableChangeDataFeed"), Auto: true, ChangeDuty: DutyChangeRows, Reads: true, Writes: true},
	{Name: "allowColumnDefaults", Kind: WriterFeature, Active: topLevel(func(m FieldMetadata) bool { _, ok := m.CurrentDefault(); return ok }), Auto: true, Reads: true, Writes: true},
	{Name: "variantType", Kind: ReaderWriterFeature, Needed: unless("variantType-preview", holds(KindVariant)), Reads: true, Writes: true},
	{Name: "variantShredding", Kind: ReaderWriterFeature, Requires: []string{"variantType"}, Active: property("delta.enableVariantShredding"), Reads: true, Writes: true},
	// A catalog-managed table opened by its path shows what is published; staged commits are the catalog's to ratify.
	{Name: "catalogManaged", Kind: ReaderWriterFeature, Requires: []string{"inCommitTimestamp", "vacuumProtocolCheck"}, Reads: true},
	{Name: "checkpointProtection", Kind: WriterFeature, Reads: true, Writes: true},
	{Name: "materializePartitionColumns", Kind: WriterFeature, Active: property("delta.enableMaterializePartitionColumnsFeature"), Auto: true, Duties: fileDuties(func(*TableConfig) bool { return true }, DutyMaterializedPartitions), Reads: true, Writes: true},
	{Name: "geospatial", Kind: ReaderWriterFeature, Needed: unless("geospatial-dev", holds(KindGeometry, KindGeography))},
	{Name: "fileType", Kind: ReaderWriterFeature, Needed: holds(KindFile), Reads: true, Writes: true},

	{Name: "typeWidening-preview", Kind: ReaderWriterFeature, Active: property("delta.enableTypeWidening"), Reads: true, Writes: true},
	{Name: "variantType-preview", Kind: ReaderWriterFeature, Reads: true, Writes: true},
	// The property brings the preview's name, as in the reference.
	{Name: "variantShredding-preview", Kind: ReaderWriterFeature, Active: property("delta.enableVariantShredding"), Needed: unless("variantShredding", property("delta.enableVariantShredding")), Reads: true, Writes: true},
	{Name: "catalogOwned-preview", Kind: ReaderWriterFeature, Requires: []string{"inCommitTimestamp", "vacuumProtocolCheck"}, Reads: true},
	{Name: "coordinatedCommits-preview", Kind: WriterFeature, Requires: []string{"inCommitTimestamp", "vacuumProtocolCheck"}, Needed: hasProperty("delta.coordinatedCommits.commitCoordinator-preview"), Reads: true},
	// Following a redirect is not built, and the data left at its source may be out of date.
	{Name: "redirectReaderWriter-preview", Kind: ReaderWriterFeature, Needed: hasProperty("delta.redirectReaderWriter-preview")},
	{Name: "redirectWriterOnly-preview", Kind: WriterFeature, Needed: hasProperty("delta.redirectWriterOnly-preview"), Reads: true},
	{Name: "geospatial-dev", Kind: ReaderWriterFeature},
	{Name: "adaptiveMetadata-preview", Kind: ReaderWriterFeature, Requires: []string{"catalogManaged", "rowTracking", "domainMetadata", "deletionVectors", "columnMapping"}},

	{Name: "icebergWriterCompatV1", Kind: WriterFeature, Requires: []string{"icebergCompatV2"}, Active: property("delta.enableIcebergWriterCompatV1"), Auto: true, Reads: true},
	{Name: "icebergWriterCompatV3", Kind: WriterFeature, Requires: []string{"icebergCompatV3"}, Active: property("delta.enableIcebergWriterCompatV3"), Auto: true, Reads: true},
	{Name: "collations", Kind: WriterFeature, Requires: []string{"domainMetadata"}, Needed: unless("collations-preview", hasCollations), Reads: true},
	{Name: "collations-preview", Kind: WriterFeature, Requires: []string{"domainMetadata"}, Reads: true},
	{Name: "columnMappingUsageTracking", Kind: WriterFeature, Requires: []string{"columnMapping"}, Reads: true},
	{Name: "timestampNanos", Kind: ReaderWriterFeature, Requires: []string{"timestampNtz"}},
}

// featureAliases are names that some writers put in place of the table's.
var featureAliases = map[string]string{"timestampWithoutTimezone": "timestampNtz"}

var featureByName = func() map[string]*Feature {
	m := make(map[string]*Feature, len(features))
	for _, f := range features {
		m[f.Name] = f
	}
	for alias, name := range featureAliases {
		m[alias] = m[name]
	}
	return m
}()

// Features is the table, in its order.
func Features() []*Feature { return slices.Clone(features) }

// LookupFeature finds a feature by a name of the protocol action, which is case-sensitive; aliases lead to what they mean.
func LookupFeature(name string) (*Feature, bool) {
	f, ok := featureByName[name]
	return f, ok
}

func property(name string) func(*TableConfig) bool {
	return func(c *TableConfig) bool {
		on, err := c.BoolProperty(name)
		return err == nil && on
	}
}

// hasProperty says that the property is set, whatever to.
func hasProperty(name string) func(*TableConfig) bool {
	return func(c *TableConfig) bool { value, ok := c.LookupProperty(name); return ok && value != "" }
}

func propertyIs(name, value string) func(*TableConfig) bool {
	return func(c *TableConfig) bool { return strings.EqualFold(c.Property(name), value) }
}

// mapsColumns asks the property alone: Mapping is none as long as the protocol lacks the feature.
func mapsColumns(c *TableConfig) bool {
	return propertyIs("delta.columnMapping.mode", "name")(c) || propertyIs("delta.columnMapping.mode", "id")(c)
}

// unless lets another name of the same feature stand for it; such names are always listed.
func unless(other string, needed func(*TableConfig) bool) func(*TableConfig) bool {
	return func(c *TableConfig) bool {
		return !slices.Contains(c.Protocol.WriterFeatures, other) && needed(c)
	}
}

func holds(kinds ...Kind) func(*TableConfig) bool {
	return func(c *TableConfig) bool { return slices.ContainsFunc(kinds, c.Schema.Holds) }
}

func hasCollations(c *TableConfig) bool {
	found := false
	_ = walkFields(&c.Schema, func(f *Field, _ map[PhysicalName]bool) error {
		found = found || len(f.Metadata.Collations()) > 0
		return nil
	})
	return found
}

// NeededFeatures are the features that the table's metadata bring into its protocol, in the table's order, whether they are
// there already or not. What they require in turn is not among them.
func (c *TableConfig) NeededFeatures() []*Feature {
	var needed []*Feature
	for _, f := range features {
		if f.Needed != nil && f.Needed(c) || f.Auto && f.Active(c) {
			needed = append(needed, f)
		}
	}
	return needed
}

// FeatureByProperty finds a feature by the rest of a property's name (delta.feature.<name>), where case does not count.
func FeatureByProperty(name string) (*Feature, bool) {
	for _, f := range features {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return nil, false
}

func topLevel(has func(FieldMetadata) bool) func(*TableConfig) bool {
	return func(c *TableConfig) bool {
		return slices.ContainsFunc(c.Schema.Fields, func(f Field) bool { return has(f.Metadata) })
	}
}

func isIdentity(m FieldMetadata) bool { _, ok := m.Identity(); return ok }

func isGenerated(m FieldMetadata) bool { _, ok := m.GenerationExpression(); return ok }

// hasInvariants looks at fields reached through structs only: inside arrays and maps neither kind is enforced.
func hasInvariants(c *TableConfig) bool {
	var any func(fields []Field) bool
	any = func(fields []Field) bool {
		return slices.ContainsFunc(fields, func(f Field) bool {
			_, ok := f.Metadata[metaInvariants]
			return ok || !f.Nullable || f.Type.Kind == KindStruct && any(f.Type.Fields)
		})
	}
	return any(c.Schema.Fields)
}

// The versions this product knows.
const (
	maxReaderVersion = 3
	maxWriterVersion = 7
)

// Validate checks the action's shape (protocol, "Supported Features"): lists belong to reader version 3 and writer
// version 7. An empty list at a lower version is what some writers mean by none.
func (p Protocol) Validate() error {
	switch {
	case p.MinReaderVersion >= 3 && p.MinWriterVersion < 7:
		return NewError("DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE", "reader version %d needs writer version 7, the protocol has %d", p.MinReaderVersion, p.MinWriterVersion)
	case p.MinReaderVersion >= 3 && p.ReaderFeatures == nil:
		return NewError("DELTA_INVALID_LOG_FILE", "the protocol has reader version %d but no readerFeatures", p.MinReaderVersion)
	case p.MinWriterVersion >= 7 && p.WriterFeatures == nil:
		return NewError("DELTA_INVALID_LOG_FILE", "the protocol has writer version %d but no writerFeatures", p.MinWriterVersion)
	case p.MinReaderVersion < 3 && len(p.ReaderFeatures) > 0:
		return NewError("DELTA_INVALID_LOG_FILE", "the protocol has readerFeatures at reader version %d", p.MinReaderVersion)
	case p.MinWriterVersion < 7 && len(p.WriterFeatures) > 0:
		return NewError("DELTA_INVALID_LOG_FILE", "the protocol has writerFeatures at writer version %d", p.MinWriterVersion)
	}
	return nil
}

// CheckReadable says whether this product may read a table with the protocol (invariant P2): the version first, then the
// action's shape, then every reader feature by name. Writer features never block reading.
func CheckReadable(p Protocol, table string) error {
	if p.MinReaderVersion > maxReaderVersion {
		return versionError(table, "reader", p.MinReaderVersion, maxReaderVersion)
	}
	if err := p.Validate(); err != nil {
		return err.(*Error).WithTable(table)
	}
	unknown := unsupported(p.ReaderFeatures, func(f *Feature) bool { return f.Reads })
	if len(unknown) > 0 {
		return NewError("DELTA_UNSUPPORTED_FEATURES_FOR_READ", "table %s needs reader features that are not supported: %s", table, strings.Join(unknown, ", ")).
			WithTable(table).WithHint("read it with an engine that supports them, or drop the features there with ALTER TABLE ... DROP FEATURE")
	}
	return nil
}

// CheckWritable says whether this product may change a table with the protocol; whoever writes must also be able to read.
func CheckWritable(p Protocol, table string) error {
	if p.MinReaderVersion <= maxReaderVersion && p.MinWriterVersion > maxWriterVersion {
		return versionError(table, "writer", p.MinWriterVersion, maxWriterVersion)
	}
	if err := CheckReadable(p, table); err != nil {
		return err
	}
	unknown := unsupported(p.Features(), func(f *Feature) bool { return f.Writes })
	if len(unknown) > 0 {
		return NewError("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "table %s needs writer features that are not supported: %s", table, strings.Join(unknown, ", ")).
			WithTable(table)
	}
	return nil
}

func versionError(table, who string, version, known int) *Error {
	return NewError("DELTA_INVALID_PROTOCOL_VERSION", "table %s needs protocol %s version %d; versions up to %d are supported", table, who, version, known).
		WithTable(table).WithHint("upgrade to a release that supports this version")
}

func unsupported(names []string, ok func(*Feature) bool) []string {
	var bad []string
	for _, name := range names {
		if f, known := featureByName[name]; !known || !ok(f) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	return slices.Compact(bad)
}
