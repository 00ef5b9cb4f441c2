package log

import (
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"

	"deltasql/protocol"
)

const (
	// rowsPerGroup bounds what a file in the making keeps in memory.
	rowsPerGroup = 32 << 10
	// rowsPerBatch is how many rows of one kind are gathered column by column before they go to the library.
	rowsPerBatch = 512
)

// actionFile writes a Parquet file whose rows are actions: one of its top-level structs is set in each row.
//
// Rows of one kind are gathered and written together, column by column: the columns of the other kinds get a run of NULLs
// without a look at each row, of which nearly all belong to add.
type actionFile struct {
	writer  *parquet.Writer
	group   *parquet.ConcurrentRowGroupWriter
	columns []leafColumn
	kinds   map[string]*actionKind
	nulls   []parquet.Value
	open    *actionKind // the kind of the rows in the batch
	batch   int         // rows in it
	grouped int         // rows in the row group
	rows    int64       // in the file
}

// actionKind is the range of columns below one top-level struct, and the columns by their path in it.
type actionKind struct {
	first, end int
	leaves     map[string]*leafColumn
}

// leafColumn gathers the values of one leaf.
type leafColumn struct {
	index, depth int // depth is the definition level of a value
	values       []parquet.Value
}

func newActionFile(out io.Writer, fields []parquet.Field) *actionFile {
	schema := parquet.NewSchema("spark_schema", newStruct(fields...))
	f := &actionFile{
		writer: parquet.NewWriter(out, schema, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1),
			parquet.PageBufferSize(1<<20), parquet.SkipPageBounds("add", "stats"), parquet.CreatedBy("deltasql", "", "")),
		columns: make([]leafColumn, len(schema.Columns())),
		kinds:   map[string]*actionKind{},
		nulls:   make([]parquet.Value, rowsPerBatch),
	}
	for i, path := range schema.Columns() {
		f.columns[i] = leafColumn{index: i, depth: mustLookup(schema, path...).MaxDefinitionLevel}
		kind := f.kinds[path[0]]
		if kind == nil {
			kind = &actionKind{first: i, leaves: map[string]*leafColumn{}}
			f.kinds[path[0]] = kind
		}
		kind.end = i + 1
		kind.leaves[leafKey(path[1:]...)] = &f.columns[i]
	}
	f.group = f.writer.BeginRowGroup()
	return f
}

// leafKey joins a path; no name holds the byte 0.
func leafKey(path ...string) string {
	key := ""
	for _, name := range path {
		key += name + "\x00"
	}
	return key
}

func (k *actionKind) leaf(path ...string) *leafColumn { return k.leaves[leafKey(path...)] }

// begin starts a row of a kind, to whose columns the caller then gives one entry each.
func (f *actionFile) begin(kind *actionKind) error {
	if f.open != nil && (f.open != kind || f.batch == rowsPerBatch) {
		if err := f.flush(); err != nil {
			return err
		}
	}
	f.open = kind
	f.batch++
	return nil
}

// flush writes the batch, and the row group where it is full.
func (f *actionFile) flush() error {
	if f.open == nil {
		return nil
	}
	for i, writer := range f.group.ColumnWriters() {
		values := f.nulls[:f.batch]
		if column := &f.columns[i]; i >= f.open.first && i < f.open.end {
			values = column.values
			column.values = column.values[:0]
		}
		if _, err := writer.WriteRowValues(values); err != nil {
			return err
		}
		clear(values)
	}
	f.grouped += f.batch
	f.rows += int64(f.batch)
	f.open, f.batch = nil, 0
	if f.grouped < rowsPerGroup {
		return nil
	}
	return f.commit()
}

func (f *actionFile) commit() error {
	f.grouped = 0
	_, err := f.group.Commit()
	return err
}

// close writes what is left and the footer.
func (f *actionFile) close() error {
	if err := f.flush(); err != nil {
		return err
	}
	if f.grouped > 0 {
		if err := f.commit(); err != nil {
			return err
		}
	}
	return f.writer.Close()
}

// The entries of a row. An absent value is entered at the level of the struct around it, which is one less than its own.

func (c *leafColumn) value(v parquet.Value) {
	c.values = append(c.values, v.Level(0, c.depth, c.index))
}

// absent enters NULL; missing is how many of the structs above the value, counted from it, are absent as well.
func (c *leafColumn) absent(missing int) {
	c.values = append(c.values, parquet.Value{}.Level(0, c.depth-1-missing, c.index))
}

func (c *leafColumn) text(text string) { c.bytes([]byte(text)) }

func (c *leafColumn) bytes(text []byte) { c.value(parquet.ByteArrayValue(text)) }

func (c *leafColumn) optionalBytes(text []byte) {
	if len(text) > 0 {
		c.bytes(text)
	} else {
		c.absent(0)
	}
}

func (c *leafColumn) optionalText(text *string) {
	if text != nil {
		c.text(*text)
	} else {
		c.absent(0)
	}
}

func (c *leafColumn) int(n int64) { c.value(parquet.Int64Value(n)) }

func (c *leafColumn) int32(n int64) { c.value(parquet.Int32Value(int32(n))) }

func (c *leafColumn) bool(b bool) { c.value(parquet.BooleanValue(b)) }

func (c *leafColumn) optionalInt(n *int64) {
	if n != nil {
		c.int(*n)
	} else {
		c.absent(0)
	}
}

// mapColumns are the two leaves of a map.
type mapColumns struct{ key, value *leafColumn }

func (k *actionKind) textMap(path ...string) mapColumns {
	path = append(path, "key_value")
	return mapColumns{k.leaf(append(path, "key")...), k.leaf(append(path, "value")...)}
}

// absent enters a map that is not there; the key's level counts the entry and the map.
func (m mapColumns) absent() {
	m.key.values = append(m.key.values, parquet.Value{}.Level(0, m.key.depth-2, m.key.index))
	m.value.values = append(m.value.values, parquet.Value{}.Level(0, m.key.depth-2, m.value.index))
}

func (m mapColumns) empty() {
	m.key.values = append(m.key.values, parquet.Value{}.Level(0, m.key.depth-1, m.key.index))
	m.value.values = append(m.value.values, parquet.Value{}.Level(0, m.key.depth-1, m.value.index))
}

// entry enters one entry, the first of its map or a further one.
func (m mapColumns) entry(first bool, key string, value *string) {
	repetition := 1
	if first {
		repetition = 0
	}
	m.key.values = append(m.key.values, parquet.ByteArrayValue([]byte(key)).Level(repetition, m.key.depth, m.key.index))
	if value == nil {
		m.value.values = append(m.value.values, parquet.Value{}.Level(repetition, m.value.depth-1, m.value.index))
		return
	}
	m.value.values = append(m.value.values, parquet.ByteArrayValue([]byte(*value)).Level(repetition, m.value.depth, m.value.index))
}

// texts enters a map, sorted by key.
func (m mapColumns) texts(values map[string]string) {
	if len(values) == 0 {
		m.empty()
		return
	}
	for i, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		m.entry(i == 0, key, &value)
	}
}

// optionalTexts enters a map, absent where it is empty.
func (m mapColumns) optionalTexts(values map[string]string) {
	if len(values) == 0 {
		m.absent()
		return
	}
	m.texts(values)
}

// list enters a list of texts; nil is absent.
func (c *leafColumn) list(values []string) {
	switch {
	case values == nil:
		c.values = append(c.values, parquet.Value{}.Level(0, c.depth-3, c.index))
	case len(values) == 0:
		c.values = append(c.values, parquet.Value{}.Level(0, c.depth-2, c.index))
	}
	for i, value := range values {
		c.values = append(c.values, parquet.ByteArrayValue([]byte(value)).Level(min(i, 1), c.depth, c.index))
	}
}

// vectorColumns are the leaves of a deletion vector.
type vectorColumns struct{ storageType, path, offset, size, cardinality *leafColumn }

func (k *actionKind) vector() vectorColumns {
	return vectorColumns{
		k.leaf("deletionVector", "storageType"), k.leaf("deletionVector", "pathOrInlineDv"), k.leaf("deletionVector", "offset"),
		k.leaf("deletionVector", "sizeInBytes"), k.leaf("deletionVector", "cardinality"),
	}
}

func (c *vectorColumns) enter(d *protocol.DeletionVector) error {
	if d == nil {
		for _, column := range []*leafColumn{c.storageType, c.path, c.offset, c.size, c.cardinality} {
			column.absent(1)
		}
		return nil
	}
	c.storageType.text(d.StorageType)
	c.path.text(d.PathOrInline)
	offset := d.Offset
	if d.SizeInBytes != int64(int32(d.SizeInBytes)) || offset != nil && *offset != int64(int32(*offset)) {
		return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the deletion vector %s does not fit into a checkpoint: its size and its offset must be below 2 GiB", d.UniqueID())
	}
	if offset != nil {
		c.offset.int32(*offset)
	} else {
		c.offset.absent(0)
	}
	c.size.int32(d.SizeInBytes)
	c.cardinality.int(d.Cardinality)
	return nil
}
