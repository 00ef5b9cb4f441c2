package scan

import (
	"encoding/binary"
	"math"
	"strings"

	"deltasql/protocol"
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

// leadWithTypical puts the file first whose number of rows is nearest to the mean: DuckDB takes that number times the number
// of files for the rows of all.
func (br *branch) leadWithTypical() {
	total := int64(0)
	for _, f := range br.files {
		if f.records < 0 {
			return
		}
		total += f.records
	}
	mean, best := total/int64(len(br.files)), 0
	distance := func(i int) int64 {
		d := br.files[i].records - mean
		return max(d, -d)
	}
	for i := range br.files {
		if distance(i) < distance(best) {
			best = i
		}
	}
	br.files[0], br.files[best] = br.files[best], br.files[0]
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
