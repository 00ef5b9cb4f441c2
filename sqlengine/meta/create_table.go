package meta

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// CreateTable is SHOW CREATE TABLE: one statement that makes an equal empty table.
func CreateTable(s Subject) Table {
	config := s.Snapshot.Config()
	var text strings.Builder
	if s.Temporary {
		fmt.Fprintf(&text, "CREATE TEMPORARY TABLE %s.%s (\n", quoteName(s.Database), quoteName(s.Name))
	} else if s.Name != "" {
		fmt.Fprintf(&text, "CREATE TABLE %s.%s.%s (\n", quoteName(s.Catalog), quoteName(s.Database), quoteName(s.Name))
	} else {
		fmt.Fprintf(&text, "CREATE TABLE delta.%s (\n", quoteAlways(s.Location))
	}
	var lines []string
	for _, field := range config.Schema.Fields {
		lines = append(lines, "  "+columnClause(field))
	}
	for _, c := range checkConstraints(s) {
		lines = append(lines, fmt.Sprintf("  CONSTRAINT %s CHECK (%s)", quoteName(c.name), c.expression))
	}
	text.WriteString(strings.Join(lines, ",\n"))
	text.WriteString(")\nUSING delta\n")
	if names := partitionNames(s); len(names) > 0 {
		fmt.Fprintf(&text, "PARTITIONED BY (%s)\n", strings.Join(names, ", "))
	} else if paths := clusteringPaths(s.Snapshot); len(paths) > 0 {
		columns := make([]string, len(paths))
		for i, path := range paths {
			columns[i] = quotePath(path)
		}
		fmt.Fprintf(&text, "CLUSTER BY (%s)\n", strings.Join(columns, ", "))
	}
	if s.Name != "" && !s.Managed {
		fmt.Fprintf(&text, "LOCATION %s\n", quoteString(s.uri()))
	}
	if comment := config.Metadata.Description; comment != nil && *comment != "" {
		fmt.Fprintf(&text, "COMMENT %s\n", quoteString(*comment))
	}
	var properties []string
	for _, p := range s.properties() {
		if _, ok := cutPrefixFold(p[0], "delta.constraints."); !ok && !writtenByTheSystem[p[0]] {
			properties = append(properties, fmt.Sprintf("  %s = %s", quoteString(p[0]), quoteString(p[1])))
		}
	}
	if len(properties) > 0 {
		fmt.Fprintf(&text, "TBLPROPERTIES (\n%s)\n", strings.Join(properties, ",\n"))
	}
	return Names("createtab_stmt", []string{text.String()})
}

// writtenByTheSystem are properties that a user may not set: a statement that names them would be refused.
var writtenByTheSystem = map[string]bool{
	"delta.columnMapping.maxColumnId": true, "delta.rowTracking.materializedRowIdColumnName": true,
	"delta.rowTracking.materializedRowCommitVersionColumnName": true, "delta.inCommitTimestampEnablementVersion": true,
	"delta.inCommitTimestampEnablementTimestamp": true, "delta.requireCheckpointProtectionBeforeVersion": true,
	"io.unitycatalog.tableId": true,
}

func partitionNames(s Subject) []string {
	config := s.Snapshot.Config()
	var names []string
	for _, i := range config.PartitionColumns {
		names = append(names, quoteName(string(config.Schema.Fields[i].Name)))
	}
	return names
}

// columnClause is a column's definition.
func columnClause(field protocol.Field) string {
	parts := []string{quoteName(string(field.Name)), declaredType(field)}
	if !field.Nullable {
		parts = append(parts, "NOT NULL")
	}
	if text, ok := field.Metadata.GenerationExpression(); ok {
		parts = append(parts, "GENERATED ALWAYS AS ("+text+")")
	}
	if clause := identityClause(field); clause != "" {
		parts = append(parts, clause)
	}
	if text, ok := field.Metadata.CurrentDefault(); ok {
		parts = append(parts, "DEFAULT "+text)
	}
	if text, ok := field.Metadata.Comment(); ok {
		parts = append(parts, "COMMENT "+quoteString(text))
	}
	return strings.Join(parts, " ")
}

func declaredType(field protocol.Field) string {
	declared, ok := field.Metadata.CharVarchar()
	switch {
	case !ok:
		return sqlType(field.Type)
	case field.Type.Collation != "":
		return strings.ToUpper(declared) + " COLLATE " + field.Type.Collation
	}
	return strings.ToUpper(declared)
}

// sqlType is a type as CREATE TABLE takes it, nested NOT NULL, collations and comments included.
func sqlType(t protocol.DataType) string {
	switch t.Kind {
	case protocol.KindArray:
		return "ARRAY<" + sqlType(*t.Element) + ">"
	case protocol.KindMap:
		return "MAP<" + sqlType(*t.Key) + ", " + sqlType(*t.Value) + ">"
	case protocol.KindStruct:
		members := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			members[i] = quoteName(string(field.Name)) + ": " + declaredType(field)
			if !field.Nullable {
				members[i] += " NOT NULL"
			}
			if text, ok := field.Metadata.Comment(); ok {
				members[i] += " COMMENT " + quoteString(text)
			}
		}
		return "STRUCT<" + strings.Join(members, ", ") + ">"
	case protocol.KindString:
		if t.Collation != "" {
			return "STRING COLLATE " + t.Collation
		}
		return "STRING"
	default:
		return strings.ToUpper(t.String())
	}
}

// quoteName puts a name in back quotes where it is no plain word.
func quoteName(name string) string {
	for i, r := range name {
		plain := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9'
		if !plain {
			return quoteAlways(name)
		}
	}
	if name == "" {
		return quoteAlways(name)
	}
	return name
}

func quotePath(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = quoteName(part)
	}
	return strings.Join(parts, ".")
}

func quoteAlways(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteString(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
