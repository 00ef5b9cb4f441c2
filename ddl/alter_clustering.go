package ddl

import (
	"encoding/json"
	"slices"
	"strings"

	"deltasql/protocol"
)

// maxClusteringColumns is the reference's limit.
const maxClusteringColumns = 4

// SetClustering is CLUSTER BY (columns), or CLUSTER BY NONE without any. Files stay as they are until OPTIMIZE.
type SetClustering struct {
	Columns []Path
	Auto    bool // CLUSTER BY AUTO, which is refused
}

func (s SetClustering) apply(a *alteration) error {
	if s.Auto {
		return notAllowed("CLUSTER BY AUTO: nothing here chooses clustering columns").WithHint("name the columns: CLUSTER BY (a, b)")
	}
	if len(a.metadata.PartitionColumns) > 0 {
		return protocol.NewError("DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED", "a partitioned table cannot be clustered").
			WithHint("write the table anew: CREATE OR REPLACE TABLE ... CLUSTER BY ... AS SELECT")
	}
	if len(s.Columns) > maxClusteringColumns {
		return protocol.NewError("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS", "CLUSTER BY takes up to %d columns, not %d", maxClusteringColumns, len(s.Columns))
	}
	if len(s.Columns) == 0 && !a.supports("clustering") {
		return nil
	}
	old, err := a.clusteringColumns()
	if err != nil {
		return err
	}
	if !a.supports("clustering") {
		a.metadata.Configuration[propClustering] = "supported"
	}
	a.clusterBy = append([]Path{}, s.Columns...)
	names := func(columns []Path) string {
		texts := make([]string, len(columns))
		for i, c := range columns {
			parts := make([]string, len(c))
			for j, part := range c {
				parts[j] = quoted(part)
			}
			texts[i] = strings.Join(parts, ".")
		}
		return strings.Join(texts, ",")
	}
	a.record(entry{operation: "CLUSTER BY", parameters: []protocol.Parameter{
		textParameter("oldClusteringColumns", names(old)), textParameter("newClusteringColumns", names(s.Columns))}})
	return nil
}

// clusteringColumns are the table's clustering columns by the names they have now. The domain knows them by physical names,
// so that a renamed column stays one.
func (a *alteration) clusteringColumns() ([]Path, error) {
	if a.clusterBy != nil {
		return a.clusterBy, nil
	}
	domain, ok := a.old.Domains[protocol.DomainClustering]
	if !ok || domain.Removed {
		return nil, nil
	}
	physical, err := protocol.ClusteringColumns(domain.Configuration)
	if err != nil {
		return nil, err
	}
	return logicalPaths(&a.schema, a.old.Config.Mapping, physical), nil
}

// logicalPaths are the names that the schema has now for columns of physical names; what it does not have stays as it is.
func logicalPaths(schema *protocol.DataType, mapping protocol.MappingMode, physical [][]protocol.PhysicalName) []Path {
	paths := make([]Path, len(physical))
	for i, names := range physical {
		t := schema
		for _, name := range names {
			part := string(name)
			if t != nil {
				at := slices.IndexFunc(t.Fields, func(f protocol.Field) bool { return f.PhysicalName(mapping) == name })
				if at >= 0 {
					part, t = string(t.Fields[at].Name), &t.Fields[at].Type
				} else {
					t = nil
				}
			}
			paths[i] = append(paths[i], part)
		}
	}
	return paths
}

// unmappedClustering is the clustering of a table whose columns are about to have their own names in the files: the domain knows them
// by these from then on. false where there is nothing to change.
func unmappedClustering(schema *protocol.DataType, now State) (protocol.DomainMetadata, bool, error) {
	domain, ok := now.Domains[protocol.DomainClustering]
	if !ok || domain.Removed {
		return domain, false, nil
	}
	physical, err := protocol.ClusteringColumns(domain.Configuration)
	if err != nil {
		return domain, false, err
	}
	was := domain.Configuration
	domain.Configuration = clusteringConfiguration(logicalPaths(schema, now.Config.Mapping, physical))
	return domain, !sameClustering(was, domain.Configuration), nil
}

// clusteringConfiguration is the domain's text, by physical names.
func clusteringConfiguration[P ~[]N, N ~string](columns []P) string {
	if columns == nil {
		columns = []P{}
	}
	return `{"clusteringColumns":` + string(jsonText(columns)) + `,"domainName":"` + protocol.DomainClustering + `"}`
}

// checkClustering makes the domain of a new clustering, and makes sure that files written from now on have statistics for
// clustering columns as far as they had them.
func (a *alteration) checkClustering(config *protocol.TableConfig) error {
	if a.clusterBy != nil {
		domain, err := clusteringDomain(config, a.clusterBy)
		if err != nil {
			return err
		}
		a.domains = slices.DeleteFunc(a.domains, func(d protocol.DomainMetadata) bool { return d.Domain == domain.Domain }) // what unmap made
		old, live := a.old.Domains[protocol.DomainClustering]
		if !live || old.Removed || !sameClustering(old.Configuration, domain.Configuration) {
			a.domains = append(a.domains, domain)
		}
		return nil
	}
	if a.unmapped != nil {
		return nil // the columns are the same ones, under the names that unmap has given them in the domain
	}
	columns, err := a.clusteringColumns()
	if err != nil || len(columns) == 0 {
		return err
	}
	before, err := a.old.Config.StatisticsLeaves()
	if err != nil {
		return err
	}
	after, err := config.StatisticsLeaves()
	if err != nil {
		return err
	}
	key := func(names []protocol.PhysicalName) string {
		texts := make([]string, len(names))
		for i, n := range names {
			texts[i] = string(n)
		}
		return strings.Join(texts, "\x00")
	}
	has := func(leaves []protocol.Leaf) map[string]protocol.Leaf {
		m := map[string]protocol.Leaf{}
		for _, l := range leaves {
			m[key(l.Physical)] = l
		}
		return m
	}
	was, is := has(before), has(after)
	physical, err := protocol.ClusteringColumns(a.old.Domains[protocol.DomainClustering].Configuration)
	if err != nil {
		return err
	}
	for i, names := range physical {
		_, had := was[key(names)]
		if _, have := is[key(names)]; had && !have {
			return missingStatistics(columns[i])
		}
	}
	return nil
}

func missingStatistics(column Path) *protocol.Error {
	return protocol.NewError("DELTA_CLUSTERING_COLUMN_MISSING_STATS", "the clustering column %s would have no statistics", column).
		WithHint("statistics cover the first delta.dataSkippingNumIndexedCols columns, or those that delta.dataSkippingStatsColumns names")
}

func sameClustering(a, b string) bool {
	x, err1 := protocol.ClusteringColumns(a)
	y, err2 := protocol.ClusteringColumns(b)
	return err1 == nil && err2 == nil && slices.EqualFunc(x, y, func(p, q []protocol.PhysicalName) bool { return slices.Equal(p, q) })
}

// clusteringDomain is the domain of a table that is clustered by the columns, which must be leaves that statistics can
// bound and do cover. No columns is a clustered table without clustering columns.
func clusteringDomain(config *protocol.TableConfig, columns []Path) (protocol.DomainMetadata, error) {
	fail := func(class protocol.Class, format string, args ...any) (protocol.DomainMetadata, error) {
		return protocol.DomainMetadata{}, protocol.NewError(class, format, args...)
	}
	if len(columns) > maxClusteringColumns {
		return fail("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS", "CLUSTER BY takes up to %d columns, not %d", maxClusteringColumns, len(columns))
	}
	covered, err := config.StatisticsLeaves()
	if err != nil {
		return protocol.DomainMetadata{}, err
	}
	named := func(leaves []protocol.Leaf, path Path) *protocol.Leaf {
		i := slices.IndexFunc(leaves, func(l protocol.Leaf) bool {
			return len(l.Logical) == len(path) && slices.EqualFunc(l.Logical, path, func(n protocol.LogicalName, part string) bool { return strings.EqualFold(string(n), part) })
		})
		if i < 0 {
			return nil
		}
		return &leaves[i]
	}
	all := config.Leaves()
	paths, seen := [][]string{}, map[string]bool{}
	for _, column := range columns {
		leaf := named(all, column)
		if leaf == nil {
			if at, err := find(&config.Schema, column); err == nil {
				err := protocol.NewError("DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", "a table cannot be clustered by %s: %s has no order that statistics keep", column, at.dataType())
				if at.dataType().Kind == protocol.KindFile {
					err.WithHint("cluster by a part of it, such as %s.uri", column)
				}
				return protocol.DomainMetadata{}, err
			}
			return fail("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "there is no column %s to cluster by", column)
		}
		if !bounded(leaf.Type) {
			return fail("DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", "a table cannot be clustered by %s: %s has no order that statistics keep", column, leaf.Type)
		}
		if named(covered, column) == nil {
			return protocol.DomainMetadata{}, missingStatistics(column)
		}
		path := make([]string, len(leaf.Physical))
		for i, name := range leaf.Physical {
			path[i] = string(name)
		}
		if key := strings.Join(path, "\x00"); seen[key] {
			return fail("DELTA_DUPLICATE_COLUMNS_FOUND", "CLUSTER BY names %s twice", column)
		} else {
			seen[key] = true
		}
		paths = append(paths, path)
	}
	return protocol.DomainMetadata{Domain: protocol.DomainClustering, Configuration: clusteringConfiguration(paths)}, nil
}

// bounded says that files keep the least and the greatest value of the type, in an order to cluster by.
func bounded(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindFloat, protocol.KindDouble, protocol.KindDecimal,
		protocol.KindString, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return true
	}
	return false
}

// CheckLocation is SET LOCATION: the table at the new place must have the schema and the partitioning that the name has now.
func CheckLocation(now, there State) error {
	a, b := now.Config, there.Config
	if !a.Schema.Equal(b.Schema) || !slices.Equal(a.Metadata.PartitionColumns, b.Metadata.PartitionColumns) {
		return protocol.NewError("DELTA_SET_LOCATION_SCHEMA_MISMATCH", "the table at the new location has the schema %s partitioned by (%s), this one %s partitioned by (%s)",
			b.Schema, strings.Join(b.Metadata.PartitionColumns, ", "), a.Schema, strings.Join(a.Metadata.PartitionColumns, ", "))
	}
	return nil
}

// SetComment is COMMENT ON TABLE and MySQL's COMMENT = 'text'; nil takes the comment away.
type SetComment struct{ Text *string }

func (s SetComment) apply(a *alteration) error {
	text := "" // what the reference writes where a comment goes
	if s.Text != nil {
		text = *s.Text
	}
	if s.Text != nil || a.metadata.Description != nil {
		a.metadata.Description = &text
	}
	a.record(entry{operation: "SET TBLPROPERTIES", items: []json.RawMessage{member("comment", text)}})
	return nil
}
