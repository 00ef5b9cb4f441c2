package log

import (
	"bytes"
	"strings"

	"github.com/parquet-go/parquet-go"

	"deltasql/protocol"
	"deltasql/stats"
)

// A checkpoint holds statistics as their JSON text, as a struct with a member of its own type for each column
// (stats_parsed), or both, as the table's properties say; in the same way partition values by type
// (partitionValues_parsed). Members have physical names. What the struct cannot say exactly is absent there.
//
// Without the text the struct is all that is left. So it then covers every column instead of the indexed ones, and a file
// of whose statistics it would lose anything keeps its text (bugs ST-14).

// statsForm is how a checkpoint holds the statistics of one snapshot.
type statsForm struct {
	text    textForm
	leaves  []protocol.Leaf // of the struct; nil without one
	typed   bool
	columns []typedColumn // of the partition values; nil without them
}

// textForm says which files keep the text of their statistics.
type textForm uint8

const (
	textForNone    textForm = iota
	textForVectors          // those with a deletion vector, of which the protocol demands numRecords
	textForLossy            // those whose statistics the struct cannot hold
	textForAll
)

// typedColumn is a partition column.
type typedColumn struct {
	name     protocol.PhysicalName
	dataType protocol.DataType
}

// newStatsForm reads the table's properties.
func newStatsForm(s *Snapshot) (*statsForm, error) {
	text, err := s.config.BoolProperty("delta.checkpoint.writeStatsAsJson")
	if err != nil {
		return nil, err
	}
	typed, err := s.config.BoolProperty("delta.checkpoint.writeStatsAsStruct")
	if err != nil {
		return nil, err
	}
	form := &statsForm{typed: typed}
	switch {
	case text:
		form.text = textForAll
	case typed:
		form.text = textForLossy
	default:
		form.text = textForVectors
	}
	if !typed {
		return form, nil
	}
	if form.leaves = s.config.Leaves(); text {
		if form.leaves, err = s.config.StatisticsLeaves(); err != nil {
			return nil, err
		}
	}
	for _, at := range s.config.PartitionColumns {
		column := typedColumn{s.config.PhysicalName(at), s.config.Schema.Fields[at].Type}
		if _, ok := scalarNode(column.dataType); ok {
			form.columns = append(form.columns, column)
		}
	}
	return form, nil
}

// bounded tells the types whose bounds the struct holds: those that the reference's bounds have, and booleans.
func bounded(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindBoolean, protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindFloat,
		protocol.KindDouble, protocol.KindDecimal, protocol.KindString, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return true
	}
	return false
}

// fields are the members of add for typed statistics and partition values.
func (f *statsForm) fields() []parquet.Field {
	if !f.typed {
		return nil
	}
	members := []parquet.Field{optional("numRecords", bigint())}
	section := func(name string, node func(protocol.DataType) (parquet.Node, bool)) {
		tree := &nameTree{}
		for _, leaf := range f.leaves {
			if node, ok := node(leaf.Type); ok {
				tree.put(leaf.Physical, node)
			}
		}
		if len(tree.children) > 0 {
			members = append(members, optional(name, tree.node()))
		}
	}
	bound := func(t protocol.DataType) (parquet.Node, bool) {
		if !bounded(t) {
			return nil, false
		}
		return scalarNode(t)
	}
	section("minValues", bound)
	section("maxValues", bound)
	section("nullCount", func(protocol.DataType) (parquet.Node, bool) { return bigint(), true })
	members = append(members, optional("tightBounds", boolean()))
	fields := []parquet.Field{optional("stats_parsed", newStruct(members...))}
	if len(f.columns) > 0 {
		values := make([]parquet.Field, len(f.columns))
		for i, column := range f.columns {
			node, _ := scalarNode(column.dataType)
			values[i] = optional(string(column.name), node)
		}
		fields = append(fields, optional("partitionValues_parsed", newStruct(values...)))
	}
	return fields
}

// nameTree puts leaves with paths into nested structs.
type nameTree struct {
	name     string
	leaf     parquet.Node
	children []*nameTree
}

func (t *nameTree) put(path []protocol.PhysicalName, node parquet.Node) {
	at := t
	for _, name := range path {
		var child *nameTree
		for _, c := range at.children {
			if c.name == string(name) {
				child = c
			}
		}
		if child == nil {
			child = &nameTree{name: string(name)}
			at.children = append(at.children, child)
		}
		at = child
	}
	at.leaf = node
}

func (t *nameTree) node() parquet.Node {
	if t.leaf != nil {
		return t.leaf
	}
	members := make([]parquet.Field, len(t.children))
	for i, child := range t.children {
		members[i] = optional(child.name, child.node())
	}
	return newStruct(members...)
}

// statsReader turns the statistics of one file after another into typed values.
type statsReader struct {
	leaves []protocol.Leaf
	texts  *stats.Texts
}

func newStatsReader(leaves []protocol.Leaf) *statsReader {
	asked := make([]stats.Leaf, len(leaves))
	for i, leaf := range leaves {
		asked[i] = stats.Leaf{Path: leaf.Physical, Type: leaf.Type}
	}
	return &statsReader{leaves, stats.NewTexts(asked)}
}

// bound is a leaf's minimum or maximum; found tells that there is one, ok that the type holds exactly what its text says.
func (r *statsReader) bound(leaf int, upper bool) (value parquet.Value, found, ok bool) {
	text, found := r.texts.Bound(leaf, upper)
	if !found {
		return parquet.Value{}, false, false
	}
	t := r.leaves[leaf].Type
	if !bounded(t) || !exactText(t, text) {
		return parquet.Value{}, true, false
	}
	if t.Kind == protocol.KindString {
		return parquet.ByteArrayValue(bytes.Clone(text)), true, true
	}
	v, ok := protocol.ParseValue(t, string(text), nil)
	if !ok || v.Null {
		return parquet.Value{}, true, false
	}
	value, ok = scalarValue(t, v)
	return value, true, ok
}

// exactText refuses texts that readers widen because of how they are written, which a typed value would hide: local
// times with an offset, whose seconds some writers dropped, and decimals that may have been printed from a float.
func exactText(t protocol.DataType, text []byte) bool {
	switch t.Kind {
	case protocol.KindTimestamp:
		return bytes.HasSuffix(text, []byte{'Z'})
	case protocol.KindDecimal:
		_, fraction, _ := bytes.Cut(text, []byte{'.'})
		return len(text) <= 15 || len(fraction) == t.Scale && !bytes.ContainsAny(text, "eE")
	}
	return true
}

// lossless tells that the struct says all that a file's statistics say: each value in their text is one that it holds.
func (r *statsReader) lossless(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if !r.texts.Read(text) {
		return false
	}
	held := 0
	count := func(found bool) {
		if found {
			held++
		}
	}
	_, found := r.texts.NumRecords()
	count(found)
	_, found = r.texts.TightBounds()
	count(found)
	for i := range r.leaves {
		for _, upper := range []bool{false, true} {
			_, found, ok := r.bound(i, upper)
			if found && !ok {
				return false
			}
			count(found)
		}
		_, found = r.texts.NullCount(i)
		count(found)
	}
	return held == scalars(text)
}

// scalars counts the values of a JSON object that are no objects; -1 where there is an array. The text is valid.
func scalars(text []byte) int {
	members, objects := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ':':
			members++
		case '{':
			objects++
		case '[':
			return -1
		}
	}
	return members - (objects - 1)
}

// settle decides whether the text is needed at all, so that a checkpoint without any has no column for it.
func (f *statsForm) settle(files *Files) {
	switch f.text {
	case textForVectors:
		if files.NumDeletionVectors() == 0 {
			f.text = textForNone
		}
	case textForLossy:
		reader := newStatsReader(f.leaves)
		for i := range files.Len() {
			if !reader.lossless(files.RawStats(i)) {
				return
			}
		}
		f.text = textForNone
	}
}

// statsColumns are the columns of statistics and of typed partition values in a file, and who fills them.
type statsColumns struct {
	form              *statsForm
	reader            *statsReader
	text              *leafColumn
	numRecords, tight *leafColumn
	bounds            [2][]*leafColumn // by leaf; nil where the type has no bounds
	nulls             []*leafColumn
	partition         []*leafColumn
	tuples            map[int][]parquet.Value // partition values by the number of their tuple; nil where one is no value
}

func (f *statsForm) bind(add *actionKind) *statsColumns {
	c := &statsColumns{form: f, text: add.leaf("stats"), reader: newStatsReader(f.leaves), tuples: map[int][]parquet.Value{}}
	if !f.typed {
		return c
	}
	c.numRecords, c.tight = add.leaf("stats_parsed", "numRecords"), add.leaf("stats_parsed", "tightBounds")
	path := func(section string, leaf protocol.Leaf) []string {
		out := []string{"stats_parsed", section}
		for _, name := range leaf.Physical {
			out = append(out, string(name))
		}
		return out
	}
	for _, leaf := range f.leaves {
		c.bounds[0] = append(c.bounds[0], add.leaf(path("minValues", leaf)...))
		c.bounds[1] = append(c.bounds[1], add.leaf(path("maxValues", leaf)...))
		c.nulls = append(c.nulls, add.leaf(path("nullCount", leaf)...))
	}
	for _, column := range f.columns {
		c.partition = append(c.partition, add.leaf("partitionValues_parsed", string(column.name)))
	}
	return c
}

// enter gives a file's statistics to the columns.
func (c *statsColumns) enter(files *Files, i int) {
	raw := files.RawStats(i)
	if c.text != nil {
		kept := raw
		if c.form.text == textForLossy && c.reader.lossless(raw) || c.form.text == textForVectors && files.DeletionVector(i) == nil {
			kept = nil
		}
		c.text.optionalBytes(kept)
	}
	if !c.form.typed {
		return
	}
	if len(raw) == 0 || !c.reader.texts.Read(raw) {
		c.absent()
	} else {
		c.present()
	}
	c.enterPartition(files, i)
}

// absent enters that there are no statistics: add is all that is there.
func (c *statsColumns) absent() {
	none := func(column *leafColumn) {
		if column != nil {
			column.absent(column.depth - 2)
		}
	}
	none(c.numRecords)
	none(c.tight)
	for i := range c.nulls {
		none(c.bounds[0][i])
		none(c.bounds[1][i])
		none(c.nulls[i])
	}
}

// present enters what was read; the structs around absent leaves are there.
func (c *statsColumns) present() {
	enterCount := func(column *leafColumn, n int64, ok bool) {
		if ok {
			column.int(n)
		} else {
			column.absent(0)
		}
	}
	n, ok := c.reader.texts.NumRecords()
	enterCount(c.numRecords, n, ok)
	for i := range c.nulls {
		for side, columns := range c.bounds {
			if column := columns[i]; column != nil {
				if value, _, ok := c.reader.bound(i, side == 1); ok {
					column.value(value)
				} else {
					column.absent(0)
				}
			}
		}
		n, ok := c.reader.texts.NullCount(i)
		enterCount(c.nulls[i], n, ok)
	}
	if tight, ok := c.reader.texts.TightBounds(); ok {
		c.tight.bool(tight)
	} else {
		c.tight.absent(0)
	}
}

// enterPartition enters the typed partition values, which files share; a tuple with a text that is no value has none.
func (c *statsColumns) enterPartition(files *Files, i int) {
	if len(c.partition) == 0 {
		return
	}
	tuple := files.PartitionTuple(i)
	values, known := c.tuples[tuple]
	if !known {
		values = c.form.partitionValues(files, tuple)
		c.tuples[tuple] = values
	}
	for k, column := range c.partition {
		switch {
		case values == nil:
			column.absent(1)
		case values[k].IsNull():
			column.absent(0)
		default:
			column.value(values[k])
		}
	}
}

func (f *statsForm) partitionValues(files *Files, tuple int) []parquet.Value {
	values := make([]parquet.Value, len(f.columns))
	for k, column := range f.columns {
		text, null := files.TupleValue(tuple, column.name)
		if !null && column.dataType.Kind == protocol.KindTimestamp && !strings.HasSuffix(text, "Z") {
			return nil // a reading of the writer's clock, in a zone that readers choose
		}
		v, err := protocol.DecodePartitionValue(column.dataType, text, null, nil)
		if err != nil {
			return nil
		}
		if v.Null {
			continue
		}
		var ok bool
		if values[k], ok = scalarValue(column.dataType, v); !ok {
			return nil
		}
	}
	return values
}
