package meta

import (
	"fmt"
	"slices"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
)

// MySQLTables is SHOW [FULL] TABLES in MySQL's form. Its heading names the database, and the pattern where there is one.
func MySQLTables(database string, pattern *string, list []Listed, full bool) Table {
	heading := "Tables_in_" + database
	if pattern != nil {
		heading += " (" + *pattern + ")"
	}
	t := Table{Columns: []Column{{heading, typeString, false}}}
	if full {
		t.Columns = append(t.Columns, Column{"Table_type", typeString, false})
	}
	rows := make([][]any, len(list))
	for i, entry := range list {
		rows[i] = []any{entry.Name}
		if full {
			rows[i] = append(rows[i], entry.MySQLType())
		}
	}
	t.Rows = rowsOf(rows)
	return t
}

// MySQLType is the type of table that MySQL calls it.
func (l Listed) MySQLType() string {
	switch {
	case l.System:
		return "SYSTEM VIEW"
	case l.View:
		return "VIEW"
	}
	return "BASE TABLE"
}

// MySQLDatabases is SHOW DATABASES in MySQL's form.
func MySQLDatabases(names []string, pattern *string) Table {
	heading := "Database"
	if pattern != nil {
		heading += " (" + *pattern + ")"
	}
	return Names(heading, names)
}

// MySQLCreateTable is SHOW CREATE TABLE in MySQL's layout, which clients take apart line by line. The types are ours, where MySQL has
// none, and options that MySQL lacks stand in the dialect's own words, so that the statement makes an equal table here.
func MySQLCreateTable(s Subject, keys []ddl.Key) Table {
	config := s.Snapshot.Config()
	var text strings.Builder
	text.WriteString("CREATE ")
	if s.Temporary {
		text.WriteString("TEMPORARY ")
	}
	name := s.Name
	if name == "" {
		fmt.Fprintf(&text, "TABLE delta.%s (\n", quoteAlways(s.Location))
		name = s.Location
	} else {
		fmt.Fprintf(&text, "TABLE %s (\n", quoteAlways(s.Name))
	}
	var lines []string
	for _, field := range config.Schema.Fields {
		lines = append(lines, "  "+mysqlColumnClause(field))
	}
	written := map[string]bool{}
	for _, key := range keys {
		// A primary key makes its columns NOT NULL in MySQL's dialect; one over other columns stays a property.
		if key.Kind != "PRIMARY KEY" || !anyNullable(key, config.Schema.Fields) {
			lines = append(lines, "  "+keyClause(key))
			written[ddl.KeyPrefix+key.Name] = true
		}
	}
	for _, c := range checkConstraints(s) {
		lines = append(lines, fmt.Sprintf("  CONSTRAINT %s CHECK (%s)", quoteAlways(c.name), c.expression))
	}
	text.WriteString(strings.Join(lines, ",\n") + "\n) ENGINE=Delta DEFAULT CHARSET=" + mysqlCharacterSet + " COLLATE=" + mysqlCollation)
	if comment := config.Metadata.Description; comment != nil && *comment != "" {
		text.WriteString(" COMMENT=" + quoteString(*comment))
	}
	text.WriteString(mysqlLayout(s, written))
	return Pairs("Table", "Create Table", [][2]string{{name, text.String()}})
}

func mysqlColumnClause(field protocol.Field) string {
	kind := declaredType(field)
	// Types that mean the same in either dialect are written as MySQL writes them.
	if of := field.Type; of.Kind >= protocol.KindBoolean && of.Kind <= protocol.KindTimestampNTZ && of.Collation == "" {
		c := MySQLColumn{}
		c.typed(field)
		kind = c.ColumnType
	}
	parts := []string{quoteAlways(string(field.Name)), kind}
	if !field.Nullable {
		parts = append(parts, "NOT NULL")
	}
	if text, ok := field.Metadata.GenerationExpression(); ok {
		parts = append(parts, "GENERATED ALWAYS AS ("+text+") STORED")
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

func anyNullable(key ddl.Key, fields []protocol.Field) bool {
	return slices.ContainsFunc(key.Columns, func(name string) bool {
		return slices.ContainsFunc(fields, func(f protocol.Field) bool { return strings.EqualFold(string(f.Name), name) && f.Nullable })
	})
}

func keyClause(key ddl.Key) string {
	list := func(names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = quoteAlways(name)
		}
		return strings.Join(quoted, ", ")
	}
	if key.Kind == "PRIMARY KEY" {
		text := "PRIMARY KEY (" + list(key.Columns) + ")"
		if key.Name != "primary" {
			text = "CONSTRAINT " + quoteAlways(key.Name) + " " + text
		}
		return text
	}
	parts := make([]string, len(key.Table))
	for i, part := range key.Table {
		parts[i] = quoteAlways(part)
	}
	text := fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s", quoteAlways(key.Name), list(key.Columns), strings.Join(parts, "."))
	if len(key.Target) > 0 {
		text += " (" + list(key.Target) + ")"
	}
	return text
}

// mysqlLayout is what only Delta tables have: partitions, clustering, place and those properties that are not written as clauses.
func mysqlLayout(s Subject, written map[string]bool) string {
	var text strings.Builder
	if names := partitionNames(s); len(names) > 0 {
		text.WriteString("\nPARTITIONED BY (" + strings.Join(names, ", ") + ")")
	} else if paths := clusteringPaths(s.Snapshot); len(paths) > 0 {
		columns := make([]string, len(paths))
		for i, path := range paths {
			columns[i] = quotePath(path)
		}
		text.WriteString("\nCLUSTER BY (" + strings.Join(columns, ", ") + ")")
	}
	if s.Name != "" && !s.Managed {
		text.WriteString("\nLOCATION " + quoteString(s.uri()))
	}
	var properties []string
	for _, p := range s.properties() {
		_, check := cutPrefixFold(p[0], "delta.constraints.")
		if !check && !written[p[0]] && !notInCreate[p[0]] {
			properties = append(properties, fmt.Sprintf("  %s = %s", quoteString(p[0]), quoteString(p[1])))
		}
	}
	if len(properties) > 0 {
		text.WriteString("\nTBLPROPERTIES (\n" + strings.Join(properties, ",\n") + ")")
	}
	return text.String()
}

// MySQLIndexes is SHOW INDEX: the informational primary key, the only key that names rows.
func MySQLIndexes(table string, keys []ddl.Key, fields []protocol.Field) Table {
	columns := []Column{
		{"Table", typeString, false}, {"Non_unique", typeInteger, false}, {"Key_name", typeString, false}, {"Seq_in_index", typeInteger, false},
		{"Column_name", typeString, true}, {"Collation", typeString, true}, {"Cardinality", typeLong, true}, {"Sub_part", typeLong, true}, {"Packed", typeString, true},
		{"Null", typeString, false}, {"Index_type", typeString, false}, {"Comment", typeString, false}, {"Index_comment", typeString, false},
		{"Visible", typeString, false}, {"Expression", typeString, true},
	}
	var rows [][]any
	for _, key := range keys {
		if key.Kind != "PRIMARY KEY" {
			continue
		}
		for i, name := range key.Columns {
			null := ""
			if at := slices.IndexFunc(fields, func(f protocol.Field) bool { return strings.EqualFold(string(f.Name), name) }); at >= 0 && fields[at].Nullable {
				null = "YES"
			}
			rows = append(rows, []any{table, int64(0), "PRIMARY", int64(i + 1), name, "A", nil, nil, nil, null, "INFORMATIONAL", "", KeyComment, "YES", nil})
		}
	}
	return Table{Columns: columns, Rows: rowsOf(rows)}
}

// KeyComment says what a key does here.
const KeyComment = "not enforced"
