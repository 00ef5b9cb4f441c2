package rewrite

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
)

// layout is what stands in a data file: its columns, in order.
type layout struct {
	columns []fileColumn
	mapping protocol.MappingMode
	shred   bool // variants at the top may be shredded
}

// fileColumn is a column of the files.
type fileColumn struct {
	name    string // physical
	source  string // the expression over the rows
	typ     protocol.DataType
	fieldID string // of COPY's FIELD_IDS, "" for none
	field   int    // of the schema; -1 for a column that is not in it
}

// changeTypeColumn is the column of change files that says what happened to a row (protocol, "Add CDC File").
const changeTypeColumn = "_change_type"

// The field ids that Iceberg reserves for the columns of row tracking; from its third version on they are those columns' ids.
const (
	icebergRowID        = "2147483540"
	icebergRowVersionID = "2147483539"
)

// newLayout gives the columns of the schema in order, without partition columns and columns of the type void; then, where
// files must hold them or the table wishes it, the partition columns; then what Rows has more.
func newLayout(config *protocol.TableConfig, rows Rows, materialised bool) (*layout, error) {
	shred, err := config.BoolProperty("delta.enableVariantShredding")
	if err != nil {
		return nil, err
	}
	wished, err := config.BoolProperty("delta.writePartitionColumnsToParquet")
	if err != nil {
		return nil, err
	}
	l := &layout{mapping: config.Mapping, shred: shred}
	nested := config.Active("icebergCompatV2") || config.Active("icebergCompatV3")
	add := func(i int) error {
		f := &config.Schema.Fields[i]
		if f.Type.Kind == protocol.KindVoid {
			return nil
		}
		if err := checkWritable(f.Type, string(f.Name), false); err != nil {
			return err
		}
		column := fileColumn{name: string(config.PhysicalName(i)), typ: f.Type, field: i}
		column.source = (&converter{mode: config.Mapping}).physical(fmt.Sprintf("c%d", i), f.Type, f.Type.Kind == protocol.KindVariant)
		if config.Mapping != protocol.MappingNone {
			if column.fieldID, err = fieldIDs(f, config.Mapping, nested); err != nil {
				return err
			}
		}
		l.columns = append(l.columns, column)
		return nil
	}
	for i := range config.Schema.Fields {
		if !config.IsPartitionColumn(i) {
			if err := add(i); err != nil {
				return nil, err
			}
		}
	}
	if len(l.columns) == 0 {
		return nil, protocol.NewError("DELTA_CANNOT_WRITE_EMPTY_SCHEMA", "the table has no column that a data file could hold")
	}
	if materialised || wished {
		for _, i := range config.PartitionColumns {
			if err := add(i); err != nil {
				return nil, err
			}
		}
	}
	next := len(config.Schema.Fields)
	more := func(name string, kind protocol.Kind, fieldID string) {
		l.columns = append(l.columns, fileColumn{name: name, source: fmt.Sprintf("c%d", next), typ: protocol.DataType{Kind: kind}, fieldID: fieldID, field: -1})
		next++
	}
	if rows.RowIDs {
		for _, column := range []struct{ property, icebergID string }{
			{"delta.rowTracking.materializedRowIdColumnName", icebergRowID}, {"delta.rowTracking.materializedRowCommitVersionColumnName", icebergRowVersionID},
		} {
			name, id := config.Property(column.property), ""
			if name == "" {
				return nil, protocol.NewError(protocol.ClassInternal, "row ids are to be kept, but the table has no property %s", column.property)
			}
			if config.Active("icebergCompatV3") {
				id = column.icebergID
			}
			more(name, protocol.KindLong, id)
		}
	}
	if rows.ChangeType {
		more(changeTypeColumn, protocol.KindString, "")
	}
	return l, nil
}

// checkWritable refuses what no file can hold. Spark's rules on void: a column of it is left out, a struct's member too, but
// not inside arrays and maps.
func checkWritable(t protocol.DataType, path string, inCollection bool) error {
	switch t.Kind {
	case protocol.KindVoid:
		if inCollection {
			return protocol.NewError("DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE", "the column %s has the type void inside an array or a map, which no data file can hold", path).
				WithHint("give the elements a type with ALTER TABLE ... ALTER COLUMN")
		}
	case protocol.KindGeometry, protocol.KindGeography, protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime:
		return protocol.NewError("UNSUPPORTED_FEATURE", "the column %s has the type %s, whose values cannot be written", path, t)
	case protocol.KindArray:
		return checkWritable(*t.Element, path+".element", true)
	case protocol.KindMap:
		if err := checkWritable(*t.Key, path+".key", true); err != nil {
			return err
		}
		return checkWritable(*t.Value, path+".value", true)
	case protocol.KindStruct:
		held := false
		for i := range t.Fields {
			f := &t.Fields[i]
			if err := checkWritable(f.Type, path+"."+string(f.Name), false); err != nil {
				return err
			}
			held = held || f.Type.Kind != protocol.KindVoid
		}
		if !held {
			return protocol.NewError("DELTA_CANNOT_WRITE_EMPTY_SCHEMA", "the column %s is a struct without a member that a data file could hold", path)
		}
	}
	return nil
}

// sql is the SELECT that gives the columns of the files, with those that say which file a row goes to.
func (l *layout) sql(rows string, keys []partitionKey, sortBy []string) string {
	outputs := make([]string, 0, len(l.columns)+len(keys))
	for _, c := range l.columns {
		outputs = append(outputs, c.source+" AS "+duck.QuoteIdentifier(c.name))
	}
	for _, key := range keys {
		for i, expression := range key.expressions {
			outputs = append(outputs, expression+" AS "+duck.QuoteIdentifier(key.names[i]))
		}
	}
	sql := "SELECT " + strings.Join(outputs, ", ") + " FROM (" + rows + ")"
	if len(sortBy) > 0 {
		sql += " ORDER BY " + strings.Join(sortBy, ", ")
	}
	return sql
}

// options are those of COPY that depend on the columns.
func (l *layout) options() []string {
	var ids, shredding []string
	for _, c := range l.columns {
		if c.fieldID != "" {
			ids = append(ids, duck.QuoteString(c.name)+": "+c.fieldID)
		}
		if c.typ.Kind == protocol.KindVariant && !l.shred {
			// Without this DuckDB shreds by what the first rows have.
			shredding = append(shredding, duck.QuoteString(c.name)+": 'VARIANT'")
		}
	}
	var options []string
	if len(ids) > 0 {
		options = append(options, "FIELD_IDS {"+strings.Join(ids, ", ")+"}")
	}
	if len(shredding) > 0 {
		options = append(options, "SHREDDING {"+strings.Join(shredding, ", ")+"}")
	}
	return options
}

// fieldIDs is FIELD_IDS for a column: its id, and those of what is inside it. Elements of arrays and keys and values of maps have
// ids only for the sake of Iceberg, and then must have them.
func fieldIDs(f *protocol.Field, mode protocol.MappingMode, nested bool) (string, error) {
	id, _ := f.ColumnID()
	n := idWriter{ids: f.Metadata.NestedIDs(), mode: mode, required: nested}
	return n.write(id, f.Type, string(f.PhysicalName(mode)))
}

type idWriter struct {
	ids      map[string]int // those of elements, keys and values below the field, by path
	mode     protocol.MappingMode
	required bool
}

func (n *idWriter) write(id int, t protocol.DataType, path string) (string, error) {
	var inner []string
	add := func(name, text string) {
		if text != "" {
			inner = append(inner, duck.QuoteString(name)+": "+text)
		}
	}
	part := func(name string, t protocol.DataType) error {
		path := path + "." + name
		id, ok := n.ids[path]
		if !ok {
			if n.required {
				return protocol.NewError(protocol.ClassInternal, "%s has no field id, which Iceberg compatibility demands", path)
			}
			id = -1
		}
		text, err := n.write(id, t, path)
		add(name, text)
		return err
	}
	switch t.Kind {
	case protocol.KindArray:
		if err := part("element", *t.Element); err != nil {
			return "", err
		}
	case protocol.KindMap:
		if err := part("key", *t.Key); err != nil {
			return "", err
		}
		if err := part("value", *t.Value); err != nil {
			return "", err
		}
	case protocol.KindStruct:
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Type.Kind == protocol.KindVoid {
				continue
			}
			text, err := fieldIDs(f, n.mode, n.required)
			if err != nil {
				return "", err
			}
			add(string(f.PhysicalName(n.mode)), text)
		}
	}
	if len(inner) == 0 {
		if id < 0 {
			return "", nil
		}
		return strconv.Itoa(id), nil
	}
	if id >= 0 {
		inner = append([]string{"__duckdb_field_id: " + strconv.Itoa(id)}, inner...)
	}
	return "{" + strings.Join(inner, ", ") + "}", nil
}

// verify compares the columns of a file, as DuckDB reads them, with what they are to be.
func (l *layout) verify(table string, stored []duck.Column) error {
	bad := func(format string, args ...any) error {
		return protocol.NewError(protocol.ClassInternal, "a new data file of %s: %s", table, fmt.Sprintf(format, args...))
	}
	if len(stored) != len(l.columns) {
		return bad("it has %d columns instead of %d", len(stored), len(l.columns))
	}
	for i, c := range l.columns {
		if stored[i].Name != c.name {
			return bad("column %d is called %q instead of %q", i, stored[i].Name, c.name)
		}
		wanted, err := storedType(c.typ, l.mapping, true)
		if err != nil {
			return err
		}
		if got := stored[i].Type.String(); got != wanted {
			return bad("the column %s has the type %s instead of %s", c.name, got, wanted)
		}
	}
	return nil
}

// storedType is how DuckDB describes what is stored of a type: variants inside other types are two byte strings, members of
// the type void are not there.
func storedType(t protocol.DataType, mode protocol.MappingMode, top bool) (string, error) {
	switch t.Kind {
	case protocol.KindVariant:
		if !top {
			return `STRUCT("metadata" BLOB, "value" BLOB)`, nil
		}
	case protocol.KindArray:
		element, err := storedType(*t.Element, mode, false)
		return element + "[]", err
	case protocol.KindMap:
		key, err := storedType(*t.Key, mode, false)
		if err != nil {
			return "", err
		}
		value, err := storedType(*t.Value, mode, false)
		return "MAP(" + key + ", " + value + ")", err
	case protocol.KindStruct:
		var members []string
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Type.Kind == protocol.KindVoid {
				continue
			}
			text, err := storedType(f.Type, mode, false)
			if err != nil {
				return "", err
			}
			members = append(members, duck.QuoteIdentifier(string(f.PhysicalName(mode)))+" "+text)
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")", nil
	}
	return scan.TypeText(t, mode)
}
