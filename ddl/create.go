package ddl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn"
)

// Create makes the first version of a table (protocol digest, "CREATE, CTAS, REPLACE").
func Create(spec CreateSpec, env Env) (*Change, error) {
	return define(nil, spec, env, nil)
}

// Replace makes the version that puts another table in the place of one that is there: new metadata with a new id, the old
// protocol with what the new table needs besides. Ids and physical names of columns that stay compatible are kept, and so
// is the mark of row ids; clustering that is not asked for again ends. Removing the files is the caller's part.
func Replace(old State, spec CreateSpec, env Env) (*Change, error) {
	return define(&old, spec, env, nil)
}

// Like makes the first version of a table with the definition of another: columns with all that belongs to them,
// partitioning, constraints, properties and protocol. Rows, history, the marks of identity columns and the clustering
// columns stay behind. Of the spec only Table, Properties, which win over the source's, and External count.
func Like(source State, spec CreateSpec, env Env) (*Change, error) {
	from := source.Config
	spec.Schema = copyType(from.Schema)
	for i, f := range spec.Schema.Fields {
		if id, ok := f.Metadata.Identity(); ok {
			id.HighWaterMark = nil
			spec.Schema.Fields[i].Metadata = f.Metadata.WithIdentity(id)
		}
	}
	spec.PartitionColumns = slices.Clone(from.Metadata.PartitionColumns)
	spec.Description = from.Metadata.Description
	p := from.Protocol.WithoutFeature("catalogManaged").WithoutFeature("catalogOwned-preview")
	return define(nil, spec, env, &likeSource{config: from, protocol: p})
}

type likeSource struct {
	config   *protocol.TableConfig
	protocol protocol.Protocol
}

// define is what Create, Replace and Like have in common.
func define(old *State, spec CreateSpec, env Env, like *likeSource) (*Change, error) {
	named := func(err error) (*Change, error) {
		if e, ok := err.(*protocol.Error); ok && e.Table == "" && spec.Table != "" {
			return nil, e.WithTable(spec.Table)
		}
		return nil, err
	}
	spec.PartitionColumns = slices.Clone(spec.PartitionColumns)
	if err := checkSpec(old, spec, like != nil); err != nil {
		return named(err)
	}
	properties, err := CheckProperties(spec.Properties, env)
	if err != nil {
		return named(err)
	}
	if _, ok := properties[propClustering]; ok {
		return named(protocol.NewError("DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED", "the table feature clustering is not switched on by TBLPROPERTIES").WithHint("use CLUSTER BY"))
	}
	if text, ok := properties["comment"]; ok {
		if spec.Description == nil {
			spec.Description = &text
		}
		delete(properties, "comment")
	}
	if err := addConstraints(properties, spec.Constraints); err != nil {
		return named(err)
	}
	u := update{old: old, env: env, creating: true}
	if like != nil {
		properties = likeProperties(like.config, properties)
		u.inherited = &like.protocol
	}
	if len(spec.ClusterBy) > 0 {
		properties[propClustering] = "supported"
	}
	m := protocol.Metadata{
		ID: env.NewID(), Description: spec.Description, Provider: "parquet", FormatOptions: map[string]string{},
		SchemaString: storedSchema(spec).JSON(), PartitionColumns: spec.PartitionColumns, Configuration: properties, CreatedTime: &env.NowMillis,
	}
	if m.PartitionColumns == nil {
		m.PartitionColumns = []string{}
	}
	p, m, err := u.run(m)
	if err != nil {
		return named(err)
	}
	change := &Change{Metadata: &m, Warnings: createWarnings(m)}
	if old == nil || !p.Equal(old.Config.Protocol) {
		change.Protocol = &p
	}
	config, err := protocol.NewTableConfig(p, m)
	if err != nil {
		return named(err)
	}
	columns := spec.clusteringColumns()
	domain, err := clusteringDomain(config, columns)
	if err != nil {
		return named(err)
	}
	clustered := false
	if old != nil {
		_, clustered = old.Domains[protocol.DomainClustering]
	}
	if len(columns) > 0 || clustered {
		change.Domains = []protocol.DomainMetadata{domain}
	}
	change.Operation = createOperation(old != nil, spec, m, columnNames(config, columns))
	return change, nil
}

func (spec CreateSpec) clusteringColumns() []Path {
	columns := make([]Path, len(spec.ClusterBy))
	for i, column := range spec.ClusterBy {
		columns[i] = column
	}
	return columns
}

// columnNames are columns as history shows them, spelled as in the schema.
func columnNames(config *protocol.TableConfig, columns []Path) []string {
	names := []string{}
	for _, column := range columns {
		if at, err := find(&config.Schema, column); err == nil {
			names = append(names, at.path.String())
		}
	}
	return names
}

// createOperation is what history says of the statement. CREATE OR REPLACE is called so whether or not the table was there.
func createOperation(replacing bool, spec CreateSpec, m protocol.Metadata, clustering []string) txn.Operation {
	name := "CREATE TABLE"
	switch {
	case spec.OrReplace:
		name = "CREATE OR REPLACE TABLE"
	case replacing:
		name = "REPLACE TABLE"
	}
	if spec.AsSelect {
		name += " AS SELECT"
	}
	managed := "true"
	if spec.External {
		managed = "false"
	}
	description := json.RawMessage("null")
	if m.Description != nil {
		description = jsonText(*m.Description)
	}
	inText := func(value any) json.RawMessage { return jsonText(string(jsonText(value))) }
	return txn.Operation{
		Name: name,
		Parameters: []txn.Parameter{
			{Key: "partitionBy", Value: inText(m.PartitionColumns)},
			{Key: "clusterBy", Value: inText(clustering)},
			{Key: "description", Value: description},
			{Key: "isManaged", Value: jsonText(managed)},
			{Key: "properties", Value: inText(m.Configuration)},
		},
	}
}

// createWarnings tell what the table promises to others and nobody here keeps.
func createWarnings(m protocol.Metadata) []string {
	if formats, ok := setting(m.Configuration, propUniversalFormats); ok && formats != "" {
		return []string{"the metadata of other formats (" + propUniversalFormats + " = " + formats + ") are not written by this product"}
	}
	return nil
}

// storedSchema is the spec's schema as it is stored: without what belonged to another table's files, and for a query without
// all but comments and lengths, since every column of a query's result may be NULL.
func storedSchema(spec CreateSpec) protocol.DataType {
	schema := copyType(spec.Schema)
	schema.Kind = protocol.KindStruct
	_ = walk(&schema, func(path Path, f *protocol.Field) error {
		f.Metadata = f.Metadata.Without(mappingKeys...).Without(metaKeyTypeChanges, metaKeyExistsDefault)
		if spec.AsSelect {
			f.Nullable = true
			maps.DeleteFunc(f.Metadata, func(key string, _ json.RawMessage) bool {
				return key != metaKeyComment && key != metaKeyCharVarchar
			})
		}
		return nil
	})
	if spec.AsSelect {
		nullableInside(&schema)
	}
	return schema
}

// nullableInside lets elements and values of collections be NULL.
func nullableInside(t *protocol.DataType) {
	switch t.Kind {
	case protocol.KindArray:
		t.ContainsNull = true
		nullableInside(t.Element)
	case protocol.KindMap:
		t.ValueContainsNull = true
		nullableInside(t.Key)
		nullableInside(t.Value)
	case protocol.KindStruct:
		for i := range t.Fields {
			nullableInside(&t.Fields[i].Type)
		}
	}
}

// addConstraints puts CHECK constraints among the properties, where the protocol has them.
func addConstraints(properties, constraints map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(constraints)) {
		key := protocol.PropertyPrefixConstraint + strings.ToLower(name)
		if _, twice := properties[key]; twice {
			return protocol.NewError("DELTA_CONSTRAINT_ALREADY_EXISTS", "there is a CHECK constraint %s already", name)
		}
		properties[key] = constraints[name]
	}
	if _, bad := properties[protocol.PropertyPrefixConstraint+lengthConstraint]; bad {
		return protocol.NewError("DELTA_INVALID_CONSTRAINT_NAME", "a CHECK constraint cannot be called %s: the name is reserved", lengthConstraint)
	}
	return nil
}

// likeProperties are the source's properties without those that belong to its own history and files, then the statement's.
func likeProperties(source *protocol.TableConfig, given map[string]string) map[string]string {
	out := source.Properties()
	if out == nil {
		out = map[string]string{}
	}
	for _, own := range []string{propMaxColumnID, propRowIDColumn, propRowVersionColumn, propVersionSince, propTimestampSince, propProtectedBefore, "io.unitycatalog.tableId"} {
		maps.DeleteFunc(out, func(key, _ string) bool { return sameProperty(key, own) })
	}
	for key, value := range given {
		maps.DeleteFunc(out, func(other, _ string) bool { return sameProperty(other, key) })
		out[key] = value
	}
	return out
}
