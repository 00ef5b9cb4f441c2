package meta

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
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
		if _, ok := cutPrefixFold(p[0], "delta.constraints."); !ok && !notInCreate[p[0]] {
			properties = append(properties, fmt.Sprintf("  %s = %s", quoteString(p[0]), quoteString(p[1])))
		}
	}
	if len(properties) > 0 {
		fmt.Fprintf(&text, "TBLPROPERTIES (\n%s)\n", strings.Join(properties, ",\n"))
	}
	return Names("createtab_stmt", []string{text.String()})
}

// notInCreate are properties that CREATE TABLE refuses: what the system writes, and the feature that only CLUSTER BY brings. A table
// whose clustering was taken away shows none, and what is made of the statement lacks the feature that it no longer uses.
var notInCreate = map[string]bool{
	"delta.columnMapping.maxColumnId": true, "delta.rowTracking.materializedRowIdColumnName": true,
	"delta.rowTracking.materializedRowCommitVersionColumnName": true, "delta.inCommitTimestampEnablementVersion": true,
	"delta.inCommitTimestampEnablementTimestamp": true, "delta.requireCheckpointProtectionBeforeVersion": true,
	"delta.rowTrackingSuspended": true, "io.unitycatalog.tableId": true, "delta.feature.clustering": true,
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

// declaredType is a column's type with the CHAR and VARCHAR types that it was declared with, wherever they are inside.
func declaredType(field protocol.Field) string {
	if declared, ok := field.Metadata.CharVarchar(); ok {
		return declaredSQL(field.Type, &lengthReader{text: declared})
	}
	return sqlType(field.Type)
}

// sqlType is a type as CREATE TABLE takes it, nested NOT NULL, collations and comments included.
func sqlType(t protocol.DataType) string { return declaredSQL(t, nil) }

func declaredSQL(t protocol.DataType, lengths *lengthReader) string {
	switch t.Kind {
	case protocol.KindArray:
		lengths.expect("array<")
		element := declaredSQL(*t.Element, lengths)
		lengths.expect(">")
		return "ARRAY<" + element + ">"
	case protocol.KindMap:
		lengths.expect("map<")
		key := declaredSQL(*t.Key, lengths)
		lengths.expect(",")
		value := declaredSQL(*t.Value, lengths)
		lengths.expect(">")
		return "MAP<" + key + ", " + value + ">"
	case protocol.KindStruct:
		lengths.expect("struct<")
		members := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			if i > 0 {
				lengths.expect(",")
			}
			lengths.member(string(field.Name))
			inside := lengths
			if declared, ok := field.Metadata.CharVarchar(); ok {
				inside = &lengthReader{text: declared}
			}
			members[i] = quoteName(string(field.Name)) + ": " + declaredSQL(field.Type, inside)
			if !field.Nullable {
				members[i] += " NOT NULL"
			}
			if text, ok := field.Metadata.Comment(); ok {
				members[i] += " COMMENT " + quoteString(text)
			}
		}
		lengths.expect(">")
		return "STRUCT<" + strings.Join(members, ", ") + ">"
	case protocol.KindString:
		return lengths.stringType(t)
	default:
		lengths.scalar()
		return strings.ToUpper(t.String())
	}
}

// quoteName puts a name in back quotes where it is no plain word, or one that a dialect reads as something else.
func quoteName(name string) string {
	if parse.MustQuote(name) {
		return quoteAlways(name)
	}
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
