package meta

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"deltasql/protocol"
)

// describeColumns are DESCRIBE TABLE's.
var describeColumns = []Column{{"col_name", typeString, true}, {"data_type", typeString, true}, {"comment", typeString, true}}

// Describe is DESCRIBE TABLE, with EXTENDED for the details of the table.
func Describe(s Subject, extended bool) Table {
	config := s.Snapshot.Config()
	var rows [][]any
	for _, field := range config.Schema.Fields {
		rows = append(rows, []any{string(field.Name), field.Type.String(), comment(field)})
	}
	if len(config.PartitionColumns) > 0 {
		rows = append(rows, []any{"# Partition Information", "", ""}, []any{"# col_name", "data_type", "comment"})
		for _, i := range config.PartitionColumns {
			field := config.Schema.Fields[i]
			rows = append(rows, []any{string(field.Name), field.Type.String(), comment(field)})
		}
	}
	if clustering := clusteringColumns(s.Snapshot); len(clustering) > 0 {
		rows = append(rows, []any{"# Clustering Information", "", ""}, []any{"# col_name", "data_type", "comment"})
		for i, path := range clusteringPaths(s.Snapshot) {
			field, ok := fieldByPath(config.Schema, path)
			if !ok {
				rows = append(rows, []any{clustering[i], nil, nil})
				continue
			}
			rows = append(rows, []any{clustering[i], field.Type.String(), comment(field)})
		}
	}
	if extended {
		rows = append(rows, details(s)...)
	}
	return Table{Columns: describeColumns, Rows: rowsOf(rows)}
}

func fieldByPath(t protocol.DataType, path []string) (protocol.Field, bool) {
	for _, field := range t.Fields {
		if !strings.EqualFold(string(field.Name), path[0]) {
			continue
		}
		if len(path) == 1 {
			return field, true
		}
		return fieldByPath(field.Type, path[1:])
	}
	return protocol.Field{}, false
}

// details are the blocks that EXTENDED adds: rules of columns, where there are any, then the table itself.
func details(s Subject) [][]any {
	var rows [][]any
	block := func(title string, entries [][2]string) {
		if len(entries) == 0 {
			return
		}
		rows = append(rows, []any{"", "", ""}, []any{title, "", ""})
		for _, e := range entries {
			rows = append(rows, []any{e[0], e[1], ""})
		}
	}
	config := s.Snapshot.Config()
	var defaults, generated, identity [][2]string
	for _, field := range config.Schema.Fields {
		if text, ok := field.Metadata.CurrentDefault(); ok {
			defaults = append(defaults, [2]string{string(field.Name), text})
		}
		if text, ok := field.Metadata.GenerationExpression(); ok {
			generated = append(generated, [2]string{string(field.Name), text})
		}
		if clause := identityClause(field); clause != "" {
			identity = append(identity, [2]string{string(field.Name), clause})
		}
	}
	block("# Column Default Information", defaults)
	block("# Generated Columns", generated)
	block("# Identity Columns", identity)
	var constraints [][2]string
	for _, c := range checkConstraints(s) {
		constraints = append(constraints, [2]string{c.name, "CHECK (" + c.expression + ")"})
	}
	block("# Constraints", constraints)

	rows = append(rows, []any{"", "", ""}, []any{"# Detailed Table Information", "", ""})
	add := func(name, value string) { rows = append(rows, []any{name, value, ""}) }
	if s.Name != "" {
		add("Catalog", s.Catalog)
		add("Namespace", s.Database)
		add("Database", s.Database)
		add("Table", s.Name)
	}
	if s.Managed {
		add("Type", "MANAGED")
	} else {
		add("Type", "EXTERNAL")
	}
	if text := config.Metadata.Description; text != nil && *text != "" {
		add("Comment", *text)
	}
	add("Location", s.uri())
	add("Provider", "delta")
	if s.Managed {
		add("Is_managed_location", "true")
	}
	var properties []string
	for _, p := range s.properties() {
		properties = append(properties, p[0]+"="+p[1])
	}
	add("Table Properties", "["+strings.Join(properties, ",")+"]")
	return rows
}

// DescribeColumn is DESCRIBE t c for a top-level column.
func DescribeColumn(s Subject, field protocol.Field) Table {
	text := "NULL"
	if c, ok := comment(field).(string); ok {
		text = c
	}
	return Pairs("info_name", "info_value", [][2]string{
		{"col_name", string(field.Name)}, {"data_type", field.Type.String()}, {"comment", text},
	})
}

// DescribeFields is DESCRIBE QUERY and DESCRIBE of a view: the columns of an output. Comments are by position, nil for none.
func DescribeFields(columns []Column, comments []*string) Table {
	rows := make([][]any, len(columns))
	for i, c := range columns {
		rows[i] = []any{c.Name, c.Type.String(), nil}
		if i < len(comments) && comments[i] != nil {
			rows[i][2] = *comments[i]
		}
	}
	return Table{Columns: describeColumns, Rows: rowsOf(rows)}
}

// WithBlock adds a titled block of name and value to a DESCRIBE.
func WithBlock(t Table, title string, entries [][2]string) Table {
	rows := t.Rows
	return Table{Columns: t.Columns, Rows: func(yield func([]any, error) bool) {
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
		}
		if !yield([]any{"", "", ""}, nil) || !yield([]any{title, "", ""}, nil) {
			return
		}
		for _, e := range entries {
			if !yield([]any{e[0], e[1], ""}, nil) {
				return
			}
		}
	}}
}

// detailColumns are DESCRIBE DETAIL's.
var detailColumns = []Column{
	{"format", typeString, true}, {"id", typeString, true}, {"name", typeString, true}, {"description", typeString, true},
	{"location", typeString, true}, {"createdAt", typeTimestamp, true}, {"lastModified", typeTimestamp, true},
	{"partitionColumns", typeStrings, true}, {"clusteringColumns", typeStrings, true}, {"numFiles", typeLong, true},
	{"sizeInBytes", typeLong, true}, {"properties", typeStringMap, true}, {"minReaderVersion", typeInteger, true},
	{"minWriterVersion", typeInteger, true}, {"tableFeatures", typeStrings, true},
}

// Detail is DESCRIBE DETAIL. It opens no data file.
func Detail(s Subject) Table {
	config, files := s.Snapshot.Config(), s.Snapshot.Files()
	total, known := int64(0), true
	for i := range files.Len() {
		known = known && files.Size(i) <= math.MaxInt64-total
		total += files.Size(i)
	}
	var size any // NULL for sizes that no store holds
	if known {
		size = total
	}
	name := textOrNull(config.Metadata.Name)
	if s.Name != "" {
		name = s.QualifiedName()
	}
	var created any
	if millis := config.Metadata.CreatedTime; millis != nil {
		created = micros(*millis)
	}
	partitions := []string{}
	for _, i := range config.PartitionColumns {
		partitions = append(partitions, string(config.Schema.Fields[i].Name))
	}
	properties := make(map[string]*string)
	for key, value := range config.Metadata.Configuration {
		properties[key] = &value
	}
	features := sortedSet(append([]string(nil), config.Protocol.Features()...))
	row := []any{
		"delta", config.Metadata.ID, name, textOrNull(config.Metadata.Description), s.uri(), created,
		micros(s.Snapshot.TimestampMillis()), partitions, clusteringColumns(s.Snapshot), int64(files.Len()), size, properties,
		int64(config.Protocol.MinReaderVersion), int64(config.Protocol.MinWriterVersion), features,
	}
	return Table{Columns: detailColumns, Rows: rowsOf([][]any{row})}
}

// ForeignDetail is DESCRIBE DETAIL of files that are no Delta table: what is not known is NULL.
func ForeignDetail(format, location string) Table {
	row := make([]any, len(detailColumns))
	row[0], row[4], row[7], row[11] = format, "file:"+location, []string{}, map[string]*string{}
	return Table{Columns: detailColumns, Rows: rowsOf([][]any{row})}
}

type constraint struct{ name, expression string }

// checkConstraints are the table's CHECK constraints in the order of their names.
func checkConstraints(s Subject) []constraint {
	var out []constraint
	for _, check := range Checks(s.Snapshot.Config()) {
		out = append(out, constraint{check[0], check[1]})
	}
	return out
}

// Checks are name and condition of the CHECK constraints of a table, in the order of their names.
func Checks(config *protocol.TableConfig) [][2]string {
	var out [][2]string
	for key, value := range config.Metadata.Configuration {
		if name, ok := cutPrefixFold(key, "delta.constraints."); ok {
			out = append(out, [2]string{name, value})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

func cutPrefixFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return "", false
	}
	return text[len(prefix):], true
}

// identityClause is GENERATED ... AS IDENTITY of an identity column, or "".
func identityClause(field protocol.Field) string {
	id, ok := field.Metadata.Identity()
	if !ok {
		return ""
	}
	kind := "ALWAYS"
	if id.AllowExplicitInsert {
		kind = "BY DEFAULT"
	}
	return fmt.Sprintf("GENERATED %s AS IDENTITY (START WITH %d INCREMENT BY %d)", kind, id.Start, id.Step)
}
