package ddl

import (
	"encoding/json"
	"maps"
	"strconv"

	"deltasql/protocol"
	"deltasql/txn"
)

// Restore makes the definition of a table that goes back to an older version of it: the metadata of then and a protocol that
// supports the features of both, since it must go on reading the history in between. What counts upwards stays where it is: marks of
// identity columns, ids of mapped columns, the version up to which checkpoints are protected; and the names of the columns with
// row ids, which files that stay have inside. Clustering becomes that of then, or none. Protocol and metadata are always written.
//
// Files, and the mark of row ids, are the caller's part.
func Restore(now, then State) (*Change, error) {
	p := then.Config.Protocol.Merge(now.Config.Protocol)
	m := then.Config.Metadata
	m.Configuration = maps.Clone(m.Configuration)
	if m.Configuration == nil {
		m.Configuration = map[string]string{}
	}
	schema, moved := keepIdentityMarks(then.Config.Schema, now.Config.Schema)
	if moved {
		m.SchemaString = schema.JSON()
	}
	keep := func(name string) {
		if value, ok := setting(now.Config.Metadata.Configuration, name); ok {
			maps.DeleteFunc(m.Configuration, func(key, _ string) bool { return sameProperty(key, name) })
			m.Configuration[name] = value
		}
	}
	if then.Config.Mapping != protocol.MappingNone {
		last := max(columnIDMark(now.Config.Metadata.Configuration), columnIDMark(m.Configuration))
		if last > columnIDMark(m.Configuration) {
			m.Configuration[propMaxColumnID] = strconv.Itoa(last)
		}
	}
	if p.Supports("rowTracking") {
		keep(propRowIDColumn)
		keep(propRowVersionColumn)
	}
	if p.Supports("checkpointProtection") {
		keep(propProtectedBefore)
	}
	change := &Change{Protocol: &p, Metadata: &m}
	if !p.Supports("clustering") {
		return change, nil
	}
	var columns [][]protocol.PhysicalName
	if domain, ok := then.Domains[protocol.DomainClustering]; ok && !domain.Removed {
		var err error
		if columns, err = protocol.ClusteringColumns(domain.Configuration); err != nil {
			return nil, err
		}
	}
	domain := protocol.DomainMetadata{Domain: protocol.DomainClustering, Configuration: clusteringConfiguration(columns)}
	if old, ok := now.Domains[protocol.DomainClustering]; !ok || old.Removed || !sameClustering(old.Configuration, domain.Configuration) {
		change.Domains = append(change.Domains, domain)
	}
	return change, nil
}

// columnIDMark is the highest id that column mapping has given out by a table's properties, 0 where they do not say.
func columnIDMark(configuration map[string]string) int {
	text, _ := setting(configuration, propMaxColumnID)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// keepIdentityMarks gives identity columns of a schema the marks that the columns of their names have in another one, where these
// are further on.
func keepIdentityMarks(schema, newer protocol.DataType) (protocol.DataType, bool) {
	moved := false
	schema = copyType(schema)
	for i := range schema.Fields {
		f := &schema.Fields[i]
		id, ok := f.Metadata.Identity()
		if !ok {
			continue
		}
		at := newer.Lookup(string(f.Name))
		if at < 0 {
			continue
		}
		is, ok := newer.Fields[at].Metadata.Identity()
		if !ok || is.HighWaterMark == nil {
			continue
		}
		mark := id.HighWaterMark
		if mark == nil || id.Step > 0 && *is.HighWaterMark > *mark || id.Step < 0 && *is.HighWaterMark < *mark {
			value := *is.HighWaterMark
			id.HighWaterMark = &value
			f.Metadata = f.Metadata.WithIdentity(id)
			moved = true
		}
	}
	return schema, moved
}

// RestoreOperation is what history says of a RESTORE: the version or the time that was asked for, and what was done.
func RestoreOperation(version *int64, timestamp string, metrics []txn.Metric) txn.Operation {
	null := json.RawMessage("null")
	versionValue, timeValue := null, null
	if version != nil {
		versionValue = jsonText(*version)
	} else {
		timeValue = jsonText(timestamp)
	}
	return txn.Operation{Name: "RESTORE", Metrics: metrics, AllowEmpty: true,
		Parameters: []txn.Parameter{{Key: "version", Value: versionValue}, {Key: "timestamp", Value: timeValue}}}
}
