package ddl

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// UpdateMetadata turns the metadata that a statement wants into the protocol and the metadata that are committed
// (protocol digest, "Upgrade triggers for an existing table"): the settings that Iceberg compatibility brings, column
// mapping, the protocol with every feature that was named or is needed (M1), the names of row tracking's columns; then it
// checks the whole. Properties that a user gave must have passed CheckProperties; a feature is named by delta.feature.<name>
// in the configuration. Without an old state the table is new, and the session's defaults are written into it.
func UpdateMetadata(old *State, m protocol.Metadata, env Env) (protocol.Protocol, protocol.Metadata, error) {
	u := update{old: old, env: env, creating: old == nil}
	return u.run(m)
}

// update is one call of UpdateMetadata.
type update struct {
	old       *State
	env       Env
	creating  bool               // the table is new, or replaced
	inherited *protocol.Protocol // the protocol a new table starts from instead of the default: that of LIKE's source

	schema protocol.DataType
	config map[string]string
}

func (u *update) oldConfig() map[string]string {
	if u.old == nil {
		return nil
	}
	return u.old.Config.Metadata.Configuration
}

func (u *update) run(m protocol.Metadata) (protocol.Protocol, protocol.Metadata, error) {
	fail := func(err error) (protocol.Protocol, protocol.Metadata, error) {
		return protocol.Protocol{}, protocol.Metadata{}, err
	}
	var err error
	if u.schema, err = protocol.ParseSchema(m.SchemaString); err != nil {
		return fail(err)
	}
	u.config = maps.Clone(m.Configuration)
	if u.config == nil {
		u.config = map[string]string{}
	}
	if u.creating {
		if u.config, err = withSessionDefaults(u.config, u.env); err != nil {
			return fail(err)
		}
	}
	if err := u.checkStatsColumns(m.PartitionColumns); err != nil {
		return fail(err)
	}
	if err := u.universalFormat(); err != nil {
		return fail(err)
	}
	if err := u.icebergSettings(); err != nil {
		return fail(err)
	}
	if err := u.mapColumns(); err != nil {
		return fail(err)
	}
	if u.old == nil || m.SchemaString != u.old.Config.Metadata.SchemaString {
		if err := checkNestedNotNull(u.schema); err != nil {
			return fail(err)
		}
	}
	u.keepTimestampsSince()

	var p protocol.Protocol
	if u.old == nil {
		p, err = u.newProtocol(m)
	} else {
		u.stripUnsupported()
		p, err = u.upgradedProtocol(m)
	}
	if err != nil {
		return fail(err)
	}
	maps.DeleteFunc(u.config, func(name, _ string) bool { return isProtocolProperty(name) })
	u.nameRowTrackingColumns(p)

	m.SchemaString, m.Configuration = u.schema.JSON(), u.config
	if err := u.check(p, m); err != nil {
		return fail(err)
	}
	return p, m, nil
}

// tentative is the table as it would be, for asking what its metadata need.
func (u *update) tentative(p protocol.Protocol, m protocol.Metadata) (*protocol.TableConfig, error) {
	m.SchemaString, m.Configuration = u.schema.JSON(), u.config
	return protocol.NewTableConfig(p, m)
}

// namedFeatures are those of delta.feature.<name>, sorted.
func (u *update) namedFeatures() ([]string, error) {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(u.config)) {
		given, ok := strings.CutPrefix(strings.ToLower(key), protocol.PropertyPrefixFeature)
		if !ok {
			continue
		}
		status := u.config[key]
		if !strings.EqualFold(status, "supported") && !strings.EqualFold(status, "enabled") {
			return nil, protocol.NewError("DELTA_UNSUPPORTED_FEATURE_STATUS", `the status of the table feature %s must be "supported", not %q`, given, status)
		}
		f, known := protocol.FeatureByProperty(given)
		if !known {
			return nil, protocol.NewError("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "there is no table feature %q", given).
				WithHint("the name must be that of a feature, as DESCRIBE DETAIL shows it")
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// versions reads delta.minReaderVersion and delta.minWriterVersion; 0 where one is not set.
func (u *update) versions() (reader, writer int, err error) {
	read := func(name string) int {
		text, ok := setting(u.config, name)
		if !ok || err != nil {
			return 0
		}
		v, notInt := strconv.Atoi(text)
		if notInt != nil {
			err = protocol.NewError("DELTA_PROTOCOL_PROPERTY_NOT_INT", "the property %s must be an integer, not %q", name, text)
			return 0
		}
		if err = protocol.CheckProperty(name, text); err != nil {
			return 0
		}
		return v
	}
	reader = read(propMinReader)
	writer = read(propMinWriter)
	return reader, writer, err
}

// ofVersions is the protocol that a pair of versions means as a wish: the features they imply; 7 alone implies none.
func ofVersions(reader, writer int) protocol.Protocol {
	if writer >= 7 {
		return protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{}}
	}
	return protocol.Protocol{MinReaderVersion: min(reader, 2), MinWriterVersion: writer}
}

// newProtocol computes the protocol of a table that is not there yet: the default versions or those asked for, and every
// feature that is named or needed.
func (u *update) newProtocol(m protocol.Metadata) (protocol.Protocol, error) {
	reader, writer, err := u.versions()
	if err != nil {
		return protocol.Protocol{}, err
	}
	named, err := u.namedFeatures()
	if err != nil {
		return protocol.Protocol{}, err
	}
	start := protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	if isOn(u.config, propIgnoreDefaults) {
		start.MinWriterVersion = 1
	}
	if reader > 0 {
		start.MinReaderVersion = reader
	}
	if writer > 0 {
		start.MinWriterVersion = writer
	}
	start = ofVersions(start.MinReaderVersion, start.MinWriterVersion)
	if u.inherited != nil {
		start = *u.inherited
	}
	p, err := u.withNeeded(start.Denormalize(), m, named, false)
	if err != nil {
		return protocol.Protocol{}, err
	}
	return p.Normalize(), u.checkNewFeatures(protocol.Protocol{}, p)
}

// upgradedProtocol raises the protocol of a table that is there. It is the same value where nothing is to be raised.
func (u *update) upgradedProtocol(m protocol.Metadata) (protocol.Protocol, error) {
	before := u.old.Config.Protocol
	p := before
	reader, writer, err := u.versions()
	if err != nil {
		return protocol.Protocol{}, err
	}
	if reader > 0 || writer > 0 {
		if reader == 0 {
			reader = before.MinReaderVersion
		}
		if writer == 0 {
			writer = before.MinWriterVersion
		}
		// Versions that are lower than the table's change nothing: a protocol never falls this way.
		if merged := before.Merge(ofVersions(reader, writer)); !merged.Equal(before) {
			p = merged
		}
	}
	named, err := u.namedFeatures()
	if err != nil {
		return protocol.Protocol{}, err
	}
	if p, err = u.withNeeded(p, m, named, true); err != nil {
		return protocol.Protocol{}, err
	}
	return p, u.checkNewFeatures(before, p)
}

// withNeeded adds the named features, then those that the metadata need. A table that is there gets no feature silently
// that would shut readers out which its owner may not have thought of (Feature.Manual).
func (u *update) withNeeded(p protocol.Protocol, m protocol.Metadata, named []string, existing bool) (protocol.Protocol, error) {
	p, err := p.WithFeatures(named...)
	if err != nil {
		return p, err
	}
	config, err := u.tentative(p, m)
	if err != nil {
		return p, err
	}
	var needed, manual []string
	for _, f := range config.NeededFeatures() {
		if existing && f.Manual && !p.Supports(f.Name) {
			manual = append(manual, f.Name)
		}
		needed = append(needed, f.Name)
	}
	if len(manual) > 0 {
		return p, protocol.NewError("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT", "the schema needs table features that are not switched on by themselves: %s", strings.Join(manual, ", ")).
			WithHint("run ALTER TABLE ... SET TBLPROPERTIES ('delta.feature.%s' = 'supported') first; readers without the feature then can no longer read the table", manual[0])
	}
	return p.WithFeatures(needed...)
}

// checkNewFeatures refuses to bring in what this product could not honour afterwards.
func (u *update) checkNewFeatures(before, after protocol.Protocol) error {
	for _, name := range after.Features() {
		f, known := protocol.LookupFeature(name)
		if before.Supports(name) || u.inherited != nil && u.inherited.Supports(name) || !known {
			continue
		}
		switch {
		case name == "catalogManaged" || name == "catalogOwned-preview" || name == "coordinatedCommits-preview":
			return protocol.NewError("DELTASQL_UNSUPPORTED_FEATURE", "the table feature %s cannot be switched on: there is no catalog that would ratify the commits", name)
		case strings.HasPrefix(name, "redirect") || strings.HasPrefix(name, "icebergWriterCompat") || !f.Reads:
			return protocol.NewError("DELTASQL_UNSUPPORTED_FEATURE", "the table feature %s cannot be switched on: it is not supported", name)
		}
	}
	return nil
}

// stripUnsupported takes generation expressions and identities out of a schema that comes to a table whose protocol does
// not know them: they were copied from another table, and must not raise the protocol. A statement that means them names
// the feature.
func (u *update) stripUnsupported() {
	before := u.old.Config.Protocol
	if u.creating {
		return
	}
	named := func(feature string) bool {
		_, ok := setting(u.config, protocol.PropertyPrefixFeature+feature)
		return ok || before.Supports(feature)
	}
	generated, identity := named("generatedColumns"), named("identityColumns")
	for i, f := range u.schema.Fields {
		if _, ok := f.Metadata.GenerationExpression(); ok && !generated {
			u.schema.Fields[i].Metadata = u.schema.Fields[i].Metadata.Without("delta.generationExpression")
		}
		if _, ok := f.Metadata.Identity(); ok && !identity {
			u.schema.Fields[i].Metadata = u.schema.Fields[i].Metadata.WithoutIdentity()
		}
	}
}

// nameRowTrackingColumns gives the columns that hold row ids and row commit versions their names. They are the table's own:
// taken from the table as it was, never from a schema that came from elsewhere, and gone without the feature.
func (u *update) nameRowTrackingColumns(p protocol.Protocol) {
	for _, column := range []struct{ name, prefix string }{{propRowIDColumn, "_row-id-col-"}, {propRowVersionColumn, "_row-commit-version-col-"}} {
		name := column.name
		was, _ := setting(u.oldConfig(), name)
		switch {
		case !p.Supports("rowTracking"):
			delete(u.config, name)
		case was != "":
			u.config[name] = was
		default:
			u.config[name] = column.prefix + u.env.NewID()
		}
	}
}

// keepTimestampsSince handles the two properties that say since when commits carry their own time. The commit that switches
// it on writes them; a new table needs none, and one that is replaced keeps them as long as it keeps the feature on.
func (u *update) keepTimestampsSince() {
	if !u.creating {
		return
	}
	for _, name := range []string{propVersionSince, propTimestampSince} {
		delete(u.config, name)
		was, ok := setting(u.oldConfig(), name)
		if ok && isOn(u.oldConfig(), propTimestamps) && isOn(u.config, propTimestamps) {
			u.config[name] = was
		}
	}
}
