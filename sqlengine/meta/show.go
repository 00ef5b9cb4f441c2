package meta

import (
	"slices"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
)

// Listed is a table or view of a database.
type Listed struct {
	Namespace, Name string
	Temporary       bool
	View            bool
	System          bool // a relation of information_schema and its kin
}

// ShowTables is SHOW TABLES.
func ShowTables(list []Listed) Table {
	rows := make([][]any, len(list))
	for i, t := range list {
		rows[i] = []any{t.Namespace, t.Name, t.Temporary}
	}
	return Table{Columns: []Column{{"namespace", typeString, false}, {"tableName", typeString, false}, {"isTemporary", typeBoolean, false}}, Rows: rowsOf(rows)}
}

// ShowTablesExtended is SHOW TABLE EXTENDED; information is asked for each table as its row is read, so that a table that does
// not open is reported in its own row.
func ShowTablesExtended(list []Listed, information func(Listed) string) Table {
	return Table{
		Columns: []Column{{"namespace", typeString, false}, {"tableName", typeString, false}, {"isTemporary", typeBoolean, false}, {"information", typeString, false}},
		Rows: func(yield func([]any, error) bool) {
			for _, t := range list {
				if !yield([]any{t.Namespace, t.Name, t.Temporary, information(t)}, nil) {
					return
				}
			}
		},
	}
}

// Information is the text that SHOW TABLE EXTENDED gives of a table: its details and its schema as a tree.
func Information(s Subject) string {
	var text strings.Builder
	for _, row := range details(s) {
		if name := row[0].(string); name != "" && !strings.HasPrefix(name, "#") {
			text.WriteString(name + ": " + row[1].(string) + "\n")
		}
	}
	text.WriteString("Schema: root\n")
	writeTree(&text, s.Snapshot.Config().Schema, " |-- ")
	return text.String()
}

func writeTree(text *strings.Builder, t protocol.DataType, prefix string) {
	entry := func(name string, of protocol.DataType, what string, nullable bool) {
		kind := of.String()
		if i := strings.IndexAny(kind, "<"); i > 0 {
			kind = kind[:i]
		}
		text.WriteString(prefix + name + ": " + kind + " (" + what + " = " + strconv.FormatBool(nullable) + ")\n")
		writeTree(text, of, " |   "+prefix)
	}
	switch t.Kind {
	case protocol.KindStruct:
		for _, field := range t.Fields {
			entry(string(field.Name), field.Type, "nullable", field.Nullable)
		}
	case protocol.KindArray:
		entry("element", *t.Element, "containsNull", t.ContainsNull)
	case protocol.KindMap:
		entry("key", *t.Key, "nullable", false)
		entry("value", *t.Value, "valueContainsNull", t.ValueContainsNull)
	}
}

// ShowViews is SHOW VIEWS.
func ShowViews(list []Listed) Table {
	rows := make([][]any, len(list))
	for i, t := range list {
		rows[i] = []any{t.Namespace, t.Name, t.Temporary}
	}
	return Table{Columns: []Column{{"namespace", typeString, false}, {"viewName", typeString, false}, {"isTemporary", typeBoolean, false}}, Rows: rowsOf(rows)}
}

// Properties is SHOW TBLPROPERTIES; with a key, that property alone or a text that says it is missing.
func Properties(s Subject, key string) Table {
	all := s.properties()
	if key == "" {
		return Pairs("key", "value", all)
	}
	at := slices.IndexFunc(all, func(p [2]string) bool {
		return p[0] == key || strings.HasPrefix(strings.ToLower(key), "delta.") && strings.EqualFold(p[0], key)
	})
	value := "Table " + s.QualifiedName() + " does not have property: " + key
	if at >= 0 {
		value = all[at][1]
	}
	return Pairs("key", "value", [][2]string{{key, value}})
}

// Constraints is SHOW CONSTRAINTS: NOT NULL, CHECK and the invariants that old writers kept in a column's metadata.
func Constraints(s Subject) Table {
	var rows [][]any
	var walk func(prefix string, fields []protocol.Field)
	walk = func(prefix string, fields []protocol.Field) {
		for _, field := range fields {
			name := prefix + quoteName(string(field.Name))
			if !field.Nullable {
				rows = append(rows, []any{nil, "NOT NULL", name + " IS NOT NULL", true})
			}
			if text, ok := field.Metadata.Invariant(); ok {
				rows = append(rows, []any{nil, "INVARIANT", text, true})
			}
			walk(name+".", field.Type.Fields)
		}
	}
	walk("", s.Snapshot.Config().Schema.Fields)
	for _, c := range checkConstraints(s) {
		rows = append(rows, []any{c.name, "CHECK", c.expression, true})
	}
	for _, key := range ddl.Keys(s.Snapshot.Config()) {
		rows = append(rows, []any{key.Name, key.Kind, keyText(key), false})
	}
	return Table{Columns: []Column{{"name", typeString, true}, {"kind", typeString, false}, {"expression", typeString, true}, {"enforced", typeBoolean, false}}, Rows: rowsOf(rows)}
}

// keyText is an informational key as ADD CONSTRAINT takes it.
func keyText(key ddl.Key) string {
	list := func(names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = quoteName(name)
		}
		return "(" + strings.Join(quoted, ", ") + ")"
	}
	text := list(key.Columns)
	if key.Kind == "FOREIGN KEY" {
		text += " REFERENCES " + quotePath(key.Table)
		if len(key.Target) > 0 {
			text += " " + list(key.Target)
		}
	}
	return text
}

// SortListed orders by namespace, then name.
func SortListed(list []Listed) {
	slices.SortStableFunc(list, func(a, b Listed) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// Warning is a warning, or an error as SHOW WARNINGS repeats it, with MySQL's number for it.
type Warning struct {
	Level   string // Warning or Error
	Code    int
	Message string
}

// Warnings is SHOW WARNINGS.
func Warnings(list []Warning) Table {
	rows := make([][]any, len(list))
	for i, w := range list {
		rows[i] = []any{w.Level, int64(w.Code), w.Message}
	}
	return Table{Columns: []Column{{"Level", typeString, false}, {"Code", typeInteger, false}, {"Message", typeString, false}}, Rows: rowsOf(rows)}
}
