package ddl

import (
	"encoding/json"
	"maps"

	"deltasql/protocol"
	"deltasql/txn"
)

// Clone makes the definition of a table that has the files of another: its columns with their physical names, partitioning, constraints,
// properties (those of the spec win), protocol and clustering. The description stays behind, and so does what belongs to the source's
// own history: row ids are kept by the files, but the columns that hold moved ones are the table's own, so that the rows of a clone
// have other ids than they might get in the source. old is a table that is replaced, nil for a new one; it keeps its id, and its
// protocol never falls. Of the spec only Table and Properties count.
func Clone(old *State, source State, spec CreateSpec, env Env) (*Change, error) {
	env.SessionDefaults = nil
	properties, err := CheckProperties(spec.Properties, env)
	if err != nil {
		return nil, err
	}
	from := source.Config
	config := likeProperties(from, properties)
	if last, ok := setting(from.Metadata.Configuration, propMaxColumnID); ok && from.Mapping != protocol.MappingNone {
		config[propMaxColumnID] = last
	}
	p := from.Protocol.WithoutFeature("catalogManaged").WithoutFeature("catalogOwned-preview").WithoutFeature("checkpointProtection")
	m := protocol.Metadata{
		ID: env.NewID(), Provider: "parquet", FormatOptions: map[string]string{}, SchemaString: from.Metadata.SchemaString,
		PartitionColumns: from.Metadata.PartitionColumns, Configuration: config, CreatedTime: &env.NowMillis,
	}
	if m.PartitionColumns == nil {
		m.PartitionColumns = []string{}
	}
	u := update{env: env, creating: true, inherited: &p}
	p, m, err = u.run(m)
	if err != nil {
		if e, ok := err.(*protocol.Error); ok && e.Table == "" && spec.Table != "" {
			return nil, e.WithTable(spec.Table)
		}
		return nil, err
	}
	change := &Change{Protocol: &p, Metadata: &m}
	if old != nil {
		p = old.Config.Protocol.Merge(p)
		m.ID, m.CreatedTime = old.Config.Metadata.ID, old.Config.Metadata.CreatedTime
		for _, name := range []string{propRowIDColumn, propRowVersionColumn} {
			if was, ok := setting(old.Config.Metadata.Configuration, name); ok && p.Supports("rowTracking") {
				maps.DeleteFunc(m.Configuration, func(key, _ string) bool { return sameProperty(key, name) })
				m.Configuration[name] = was
			}
		}
	}
	if !p.Supports("clustering") {
		return change, nil
	}
	domain, clustered := source.Domains[protocol.DomainClustering]
	clustered = clustered && !domain.Removed
	if !clustered {
		domain = protocol.DomainMetadata{Domain: protocol.DomainClustering, Configuration: clusteringConfiguration[Path](nil)}
	}
	var before protocol.DomainMetadata
	had := false
	if old != nil {
		before, had = old.Domains[protocol.DomainClustering]
	}
	if clustered && !had || had && (before.Removed || !sameClustering(before.Configuration, domain.Configuration)) {
		change.Domains = append(change.Domains, domain)
	}
	return change, nil
}

// CloneOperation is what history says of a clone.
func CloneOperation(source string, version int64, shallow bool, metrics []txn.Metric) txn.Operation {
	return txn.Operation{Name: "CLONE", Metrics: metrics, AllowEmpty: true, Parameters: []txn.Parameter{
		{Key: "source", Value: jsonText(source)}, {Key: "sourceVersion", Value: jsonText(version)}, {Key: "isShallow", Value: json.RawMessage(jsonText(shallow))}}}
}
