package meta

import (
	"sort"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// Subject is the table that a metadata statement is about.
type Subject struct {
	Catalog, Database, Name string // empty for a table named by its path
	Location                string // absolute path of the folder, or a URI
	Managed                 bool   // lies where the catalog puts its tables
	Temporary               bool   // belongs to the session
	Snapshot                *log.Snapshot
}

// QualifiedName is catalog.database.table, or delta.`path`.
func (s Subject) QualifiedName() string {
	if s.Name == "" {
		return "delta.`" + s.Location + "`"
	}
	return s.Catalog + "." + s.Database + "." + s.Name
}

// uri is the location as Spark shows it.
func (s Subject) uri() string {
	if strings.Contains(s.Location, "://") {
		return s.Location
	}
	return "file:" + s.Location
}

// properties are the table's properties with those that stand for its protocol, sorted by key.
func (s Subject) properties() [][2]string {
	config := s.Snapshot.Config()
	var out [][2]string
	for key, value := range config.Metadata.Configuration {
		out = append(out, [2]string{key, value})
	}
	p := config.Protocol
	out = append(out, [2]string{"delta.minReaderVersion", strconv.Itoa(p.MinReaderVersion)},
		[2]string{"delta.minWriterVersion", strconv.Itoa(p.MinWriterVersion)})
	for _, name := range explicitFeatures(p) {
		out = append(out, [2]string{"delta.feature." + name, "supported"})
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

// explicitFeatures are the features that the protocol action names, each once, sorted.
func explicitFeatures(p protocol.Protocol) []string {
	return sortedSet(append(append([]string(nil), p.ReaderFeatures...), p.WriterFeatures...))
}

func sortedSet(names []string) []string {
	sort.Strings(names)
	out := names[:0]
	for i, name := range names {
		if i == 0 || names[i-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// clusteringPaths are the clustering columns by their logical names, each a path down to the member. A domain whose
// configuration cannot be read gives none: it tells how a table is laid out, not what it holds.
func clusteringPaths(snapshot *log.Snapshot) [][]string {
	domain, ok := snapshot.Domain(protocol.DomainClustering)
	if !ok {
		return nil
	}
	columns, err := protocol.ClusteringColumns(domain.Configuration)
	if err != nil {
		return nil
	}
	config := snapshot.Config()
	var out [][]string
	for _, column := range columns {
		if len(column) > 0 {
			out = append(out, logicalPath(config.Schema, config.Mapping, column))
		}
	}
	return out
}

// clusteringColumns are the clustering columns as dotted names; a part that holds a dot is quoted.
func clusteringColumns(snapshot *log.Snapshot) []string {
	out := []string{}
	for _, path := range clusteringPaths(snapshot) {
		parts := make([]string, len(path))
		for i, part := range path {
			parts[i] = part
			if strings.ContainsAny(part, ".`") {
				parts[i] = quoteAlways(part)
			}
		}
		out = append(out, strings.Join(parts, "."))
	}
	return out
}

// logicalPath translates a path of physical names; a name that is not found stays as it is.
func logicalPath(t protocol.DataType, mode protocol.MappingMode, path []protocol.PhysicalName) []string {
	out := make([]string, len(path))
	for i, physical := range path {
		out[i] = string(physical)
		next := protocol.DataType{}
		for _, field := range t.Fields {
			if field.PhysicalName(mode) == physical {
				out[i], next = string(field.Name), field.Type
				break
			}
		}
		t = next
	}
	return out
}

// comment is a column's comment or NULL.
func comment(field protocol.Field) any {
	if text, ok := field.Metadata.Comment(); ok {
		return text
	}
	return nil
}
