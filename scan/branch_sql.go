package scan

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// branchWriter writes one branch.
type branchWriter struct {
	*builder
	branch  *branch
	adapter adapter
	read    []readColumn
	facts   facts
	// variantSets are further row sets, to be released with the relation.
	variantSets []*duck.Set
}

// write gives the branch's SELECT, with the list of files as parameter number n, and the row set it uses, if any.
func (w *branchWriter) write(n int) (string, *duck.Set, error) {
	w.facts.files = w.branch.files
	outputs := make([]string, len(w.columns))
	for i, c := range w.columns {
		expression, err := w.expression(i, c)
		if err != nil {
			return "", nil, w.blame(c, err)
		}
		if !w.unpadded {
			expression = padded(c.field, expression)
		}
		outputs[i] = fmt.Sprintf("%s AS c%d", expression, i)
	}
	if len(outputs) == 0 {
		outputs = []string{"1 AS c0"}
	}
	from := perFileSource(len(w.branch.files))
	if !w.subset.PerFile {
		from = w.source(n)
	}
	sql := "SELECT " + strings.Join(outputs, ", ") + " FROM " + from
	switch w.branch.rows {
	case liveRows:
		sql += " WHERE delta_live(" + setMark + ", file_index, file_row_number)"
	case onlyRows:
		sql += " WHERE NOT delta_live(" + setMark + ", file_index, file_row_number)"
	}
	set, err := w.newSet()
	if err != nil || set == nil {
		return sql, set, err
	}
	return strings.ReplaceAll(sql, setMark, strconv.FormatInt(set.ID(), 10)), set, nil
}

// blame names the column and an example of the files.
func (w *branchWriter) blame(c column, err error) error {
	return protocol.NewError(protocol.ClassOf(err), "column %s, data file %s", c.field.Name, w.branch.files[0].path).
		WithTable(w.table.name).WithCause(err)
}

func (w *branchWriter) expression(i int, c column) (string, error) {
	switch {
	case c.source == sourceHidden && c.hidden == RowIndex && w.subset.PerFile:
		return "CAST(NULL AS BIGINT)", nil
	case c.source == sourceHidden:
		var failed error
		expression := hiddenExpression(c.hidden, w.config, &w.facts, func(name string) string {
			e, err := w.fileColumn(name, -1, protocol.DataType{Kind: protocol.KindLong})
			failed = err
			return e
		})
		return expression, failed
	case c.source == sourceChangeType && w.branch.changeRows:
		return w.fileColumn(string(c.physical), -1, c.field.Type)
	case c.source == sourceFile:
		id := -1
		if w.config.Mapping == protocol.MappingID {
			id, _ = c.field.ColumnID()
		}
		return w.fileColumn(string(c.physical), id, c.field.Type)
	case !w.branch.perFile:
		return literal(w.branch.constants[c.constant], c.field.Type)
	}
	text, err := TypeText(c.field.Type, protocol.MappingNone)
	if err != nil {
		return "", err
	}
	key := int(numHidden) + i
	if c.field.Type.Kind == protocol.KindString || castFromText(c.field.Type) {
		e := w.facts.nullableText(key, func(f *dataFile) (string, bool) {
			v := f.constants[c.constant]
			text, _ := valueText(v)
			return text, !v.Null
		})
		return fromText(e, c.field.Type, text)
	}
	e := w.facts.integer(key, func(f *dataFile) (int64, bool) {
		v := f.constants[c.constant]
		return v.Int, !v.Null
	})
	return fromInteger(e, c.field.Type, text)
}

// fileColumn reads a column of the files: by Parquet field id where id is not negative, else by name.
func (w *branchWriter) fileColumn(name string, id int, t protocol.DataType) (string, error) {
	text, err := TypeText(t, w.config.Mapping)
	if err != nil {
		return "", err
	}
	if t.Kind == protocol.KindVoid {
		return "CAST(NULL AS " + text + ")", nil
	}
	if w.branch.layout == nil {
		return w.readColumn(readColumn{physical: protocol.PhysicalName(name), name: name, read: text, typ: t}), nil
	}
	var found *layoutColumn
	if id >= 0 {
		if !w.branch.layout.hasIDs {
			return "", protocol.NewError("DELTA_FAILED_TO_READ_FILE",
				"the table maps columns by field id, but the file has no field ids")
		}
		found = w.branch.layout.byID(id)
	} else {
		found = w.branch.layout.byName(name)
	}
	if found == nil {
		return "CAST(NULL AS " + text + ")", nil
	}
	if !w.adapts {
		return w.readColumn(readColumn{physical: protocol.PhysicalName(name), name: found.name, read: text, typ: t}), nil
	}
	if w.adapter.fixes, err = w.variantFixes(found); err != nil {
		return "", err
	}
	read, conv, err := w.adapter.adapt(t, &found.typ, found.text)
	if err != nil {
		return "", err
	}
	return conv.apply(w.readColumn(readColumn{physical: protocol.PhysicalName(name), name: found.name, read: read, typ: t})), nil
}
