package scan

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// maxCastTuples is up to how many distinct tuples of per-file constants get a branch each where a constant of a type that
// travels as text would have to be cast for every row. Other constants come from a row set as soon as they differ: on
// DuckDB 2.0 that is as fast for rows, plans faster, and a condition on them leaves out files (docs/decisions/0004).
const maxCastTuples = 16

// branch is a set of files that one SELECT reads.
type branch struct {
	files      []*dataFile
	layout     *layout // nil where layouts do not tell files apart; else that of a file, equal to the others' as far as it matters
	constants  []protocol.Value
	perFile    bool // the constants differ from file to file
	rows       rowChoice
	changeRows bool
	// variantNulls: see dataFile; files without any keep DuckDB's shortcuts into shredded variants.
	variantNulls bool
}

// rowChoice says which rows of a branch's files are wanted.
type rowChoice uint8

const (
	allRows  rowChoice = iota
	liveRows           // those that are not in dataFile.deleted
	onlyRows           // those in dataFile.only
)

type branchKey struct {
	shape        string
	tuple        int
	rows         rowChoice
	changeRows   bool
	variantNulls bool
}

// branches groups the files, in order of first appearance.
func (b *builder) branches() []*branch {
	limit := 1
	for _, c := range b.columns {
		if c.source == sourceConstant && castFromText(c.field.Type) {
			limit = maxCastTuples
		}
	}
	perFile := b.numberTuples() > limit
	shapes := map[fileKind]string{}
	byKey := map[branchKey]*branch{}
	var list []*branch
	for _, f := range b.files {
		kind := f.kind()
		if !b.byLayout {
			kind.layout = nil
		}
		shape, ok := shapes[kind]
		if !ok {
			shape = b.shape(kind)
			shapes[kind] = shape
		}
		key := branchKey{shape: shape, tuple: f.tuple, changeRows: f.changeRows, variantNulls: f.variantNulls}
		if perFile {
			key.tuple = 0
		}
		switch {
		case f.only != nil:
			key.rows = onlyRows
		case f.deleted != nil:
			key.rows = liveRows
		}
		br := byKey[key]
		if br == nil {
			br = &branch{layout: kind.layout, constants: f.constants, perFile: perFile, rows: key.rows,
				changeRows: f.changeRows, variantNulls: f.variantNulls}
			byKey[key] = br
			list = append(list, br)
		}
		br.files = append(br.files, f)
	}
	for _, br := range list {
		br.leadWithTypical()
	}
	return list
}

// shape tells apart the layouts whose files must be read by different SELECTs: those that store some column of the relation
// under different names or in types of which read_parquet does not make the logical one by itself.
func (b *builder) shape(k fileKind) string {
	if k.layout == nil {
		return ""
	}
	var shape strings.Builder
	for _, c := range b.columns {
		found, t := b.columnIn(k, c)
		if found == nil {
			shape.WriteString("\x00")
			continue
		}
		shape.WriteString("\x01" + found.name)
		if b.adapts && !sameLayout(t, &found.typ, b.config.Mapping) {
			shape.WriteString("\x02" + found.text)
		}
		shape.WriteByte(0)
	}
	if b.config.Mapping == protocol.MappingID && !k.layout.hasIDs {
		shape.WriteByte(3) // to be refused
	}
	return shape.String()
}

// numShapes is how many shapes the files' layouts have.
func (b *builder) numShapes() int {
	seen, shapes := map[fileKind]bool{}, map[string]bool{}
	for _, f := range b.files {
		if k := f.kind(); !seen[k] {
			seen[k] = true
			shapes[b.shape(k)] = true
		}
	}
	return len(shapes)
}

// numberTuples numbers the distinct tuples of constants and gives their count.
func (b *builder) numberTuples() int {
	if b.constants == 0 {
		return 1
	}
	numbers := map[string]int{}
	var key []byte
	for _, f := range b.files {
		key = key[:0]
		for _, v := range f.constants {
			key = appendKey(key, v)
		}
		n, ok := numbers[string(key)]
		if !ok {
			n = len(numbers)
			numbers[string(key)] = n
		}
		f.tuple = n
	}
	return len(numbers)
}

// appendKey writes a value such that equal values, and no others, give equal bytes.
func appendKey(key []byte, v protocol.Value) []byte {
	if v.Null {
		return append(key, 0)
	}
	key = append(key, 1)
	key = binary.LittleEndian.AppendUint64(key, uint64(v.Int))
	key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v.Float))
	key = binary.LittleEndian.AppendUint64(key, uint64(v.Dec.Hi))
	key = binary.LittleEndian.AppendUint64(key, v.Dec.Lo)
	key = binary.AppendUvarint(key, uint64(len(v.Str)))
	return append(key, v.Str...)
}

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
		outputs[i] = fmt.Sprintf("%s AS c%d", padded(c.field, expression), i)
	}
	if len(outputs) == 0 {
		outputs = []string{"1 AS c0"}
	}
	sql := "SELECT " + strings.Join(outputs, ", ") + " FROM " + w.source(n)
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

// setMark stands for the id of the branch's row set until that is made.
const setMark = "\x00set\x00"

// facts collects the per-file values that a branch's expressions ask for; each key is one column of the row set.
type facts struct {
	files   []*dataFile
	ints    []duck.IntColumn
	strings []duck.StrColumn
	byKey   map[int]string
}

// integer is the expression of a BIGINT that value gives for each file.
func (f *facts) integer(key int, value func(*dataFile) (int64, bool)) string {
	return f.once(key, func() string {
		column := duck.IntColumn{Values: make([]int64, len(f.files)), Valid: make([]bool, len(f.files))}
		for i, file := range f.files {
			column.Values[i], column.Valid[i] = value(file)
		}
		f.ints = append(f.ints, column)
		return fmt.Sprintf("delta_int(%s, %d, file_index)", setMark, len(f.ints)-1)
	})
}

// text is the expression of a VARCHAR that value gives for each file.
func (f *facts) text(key int, value func(*dataFile) string) string {
	return f.nullableText(key, func(file *dataFile) (string, bool) { return value(file), true })
}

func (f *facts) nullableText(key int, value func(*dataFile) (string, bool)) string {
	return f.once(key, func() string {
		column := duck.StrColumn{Values: make([]string, len(f.files)), Valid: make([]bool, len(f.files))}
		for i, file := range f.files {
			column.Values[i], column.Valid[i] = value(file)
		}
		f.strings = append(f.strings, column)
		return fmt.Sprintf("delta_str(%s, %d, file_index)", setMark, len(f.strings)-1)
	})
}

func (f *facts) once(key int, make func() string) string {
	if e, ok := f.byKey[key]; ok {
		return e
	}
	if f.byKey == nil {
		f.byKey = map[int]string{}
	}
	e := make()
	f.byKey[key] = e
	return e
}

// newSet makes the branch's row set; nil where nothing asks for one.
func (w *branchWriter) newSet() (*duck.Set, error) {
	if w.branch.rows == allRows && len(w.facts.ints) == 0 && len(w.facts.strings) == 0 {
		return nil, nil
	}
	spec := duck.SetSpec{Files: len(w.branch.files), Ints: w.facts.ints, Strings: w.facts.strings}
	if w.branch.rows != allRows {
		spec.Deleted = make([][]uint64, len(w.branch.files))
		for i, f := range w.branch.files {
			spec.Deleted[i] = f.deleted
			if w.branch.rows == onlyRows {
				spec.Deleted[i] = f.only
			}
		}
	}
	return duck.NewSet(spec)
}
