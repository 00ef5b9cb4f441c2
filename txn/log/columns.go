package log

import (
	"math"
	"slices"
	"strconv"

	"deltasql/protocol"
)

// The files of a snapshot are held as columns, in chunks of a fixed number of rows: a million files are some hundred
// long-lived allocations without pointers, which the collector does not walk, and a growing table never copies what it has.
//
// Rows are only appended. A clone shares all full chunks and the memory of the last one; it may append because rows beyond
// the original's length are nobody else's, which holds as long as at most one clone of a columns value is extended.

const (
	chunkShift = 14
	chunkRows  = 1 << chunkShift
	chunkMask  = chunkRows - 1

	absent = math.MinInt64 // the int64 that stands for "not in the action"
)

// columns holds one row for each add action that was replayed, live or not.
type columns struct {
	chunks []*chunk
	rows   int
	tuples *tuples
	// providers are the distinct clusteringProvider values; a row's code counts from 1, 0 is none.
	providers []string
}

type chunk struct {
	path, stats, tags  textColumn
	size, modification []int64
	tuple              []uint32
	// The columns below are nil until a row needs them; shorter than the chunk, they mean absent for the rest.
	baseRowID, rowCommitVersion []int64
	provider                    []uint8
	vectors                     []*protocol.DeletionVector
}

// textColumn is text of many rows in one piece; an empty text and none are the same. Trailing rows may be missing.
type textColumn struct {
	data []byte
	ends []uint32
}

func (c *textColumn) at(row int) []byte {
	if row >= len(c.ends) {
		return nil
	}
	start := uint32(0)
	if row > 0 {
		start = c.ends[row-1]
	}
	return c.data[start:c.ends[row]:c.ends[row]]
}

// set appends the text as the given row, leaving rows in between empty.
func (c *textColumn) set(row int, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if len(c.data)+len(text) > math.MaxUint32 {
		return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the log holds over 4 GiB of text for %d files", chunkRows)
	}
	for len(c.ends) < row {
		c.ends = append(c.ends, uint32(len(c.data)))
	}
	c.data = append(c.data, text...)
	c.ends = append(c.ends, uint32(len(c.data)))
	return nil
}

// setSparse stores a value in a column that is nil or short as long as rows hold the empty value.
func setSparse[T comparable](column *[]T, row int, value, empty T) {
	if value == empty {
		return
	}
	for len(*column) < row {
		*column = append(*column, empty)
	}
	*column = append(*column, value)
}

func sparse[T any](column []T, row int, empty T) T {
	if row < len(column) {
		return column[row]
	}
	return empty
}

// addRow is one add action in the form that the columns take; the slices are copied.
type addRow struct {
	path, stats, tags           []byte
	size, modification          int64
	tuple                       uint32
	baseRowID, rowCommitVersion int64 // absent where the action has none
	provider                    string
	vector                      *protocol.DeletionVector
}

func newColumns() *columns { return &columns{tuples: newTuples()} }

// clone gives columns that can be appended to while readers use the original.
func (c *columns) clone() *columns {
	clone := &columns{chunks: slices.Clone(c.chunks), rows: c.rows, tuples: c.tuples.clone(), providers: slices.Clip(c.providers)}
	if last := len(clone.chunks) - 1; last >= 0 {
		header := *clone.chunks[last]
		clone.chunks[last] = &header
	}
	return clone
}

// append adds a row and gives its number.
func (c *columns) append(add *addRow) (int, error) {
	row := c.rows
	if row == math.MaxInt32 {
		return 0, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the log holds over %d file actions", math.MaxInt32)
	}
	at := row & chunkMask
	if at == 0 {
		c.chunks = append(c.chunks, c.newChunk())
	}
	k := c.chunks[len(c.chunks)-1]
	for _, text := range []struct {
		column *textColumn
		text   []byte
	}{{&k.path, add.path}, {&k.stats, add.stats}, {&k.tags, add.tags}} {
		if err := text.column.set(at, text.text); err != nil {
			return 0, err
		}
	}
	k.size = append(k.size, add.size)
	k.modification = append(k.modification, add.modification)
	k.tuple = append(k.tuple, add.tuple)
	setSparse(&k.baseRowID, at, add.baseRowID, absent)
	setSparse(&k.rowCommitVersion, at, add.rowCommitVersion, absent)
	if add.provider != "" {
		setSparse(&k.provider, at, c.providerCode(add.provider), 0)
	}
	setSparse(&k.vectors, at, add.vector, nil)
	c.rows++
	return row, nil
}

// newChunk reserves what the chunk before came to need.
func (c *columns) newChunk() *chunk {
	if len(c.chunks) == 0 {
		return &chunk{}
	}
	last := c.chunks[len(c.chunks)-1]
	return &chunk{
		path: last.path.reserve(), stats: last.stats.reserve(), tags: last.tags.reserve(),
		size: make([]int64, 0, chunkRows), modification: make([]int64, 0, chunkRows), tuple: make([]uint32, 0, chunkRows),
	}
}

// reserve makes room for about as much text again.
func (c *textColumn) reserve() textColumn {
	if len(c.data) == 0 {
		return textColumn{}
	}
	return textColumn{make([]byte, 0, len(c.data)+len(c.data)/32), make([]uint32, 0, chunkRows)}
}

// providerCode numbers clusteringProvider values; there is one in practice ("liquid"), and beyond 255 they are dropped,
// which the protocol allows for this informative field.
func (c *columns) providerCode(provider string) uint8 {
	at := slices.Index(c.providers, provider)
	if at < 0 {
		if len(c.providers) == math.MaxUint8 {
			return 0
		}
		at = len(c.providers)
		c.providers = append(c.providers, provider)
	}
	return uint8(at + 1)
}

func (c *columns) chunk(row int) (*chunk, int) { return c.chunks[row>>chunkShift], row & chunkMask }

func (c *columns) path(row int) []byte {
	k, at := c.chunk(row)
	return k.path.at(at)
}

func (c *columns) vector(row int) *protocol.DeletionVector {
	k, at := c.chunk(row)
	return sparse(k.vectors, at, nil)
}

// copyRow appends a row of other columns that share the tuples.
func (c *columns) copyRow(from *columns, row int) error {
	k, at := from.chunk(row)
	add := addRow{
		path: k.path.at(at), stats: k.stats.at(at), tags: k.tags.at(at),
		size: k.size[at], modification: k.modification[at], tuple: k.tuple[at],
		baseRowID: sparse(k.baseRowID, at, absent), rowCommitVersion: sparse(k.rowCommitVersion, at, absent),
		vector: sparse(k.vectors, at, nil),
	}
	if code := sparse(k.provider, at, 0); code > 0 {
		add.provider = from.providers[code-1]
	}
	_, err := c.append(&add)
	return err
}

// tuples numbers the distinct partition value maps of the add actions: a table has far fewer of them than files.
type tuples struct {
	values  []partitionTuple
	encoded []string // of each value
	// codes finds a value's number by its encoding. Clones share the map, and one that was given up may have left
	// numbers in it that now belong to another value: an answer counts only if the encoding there is the same.
	codes map[string]uint32
}

// partitionTuple is one partitionValues map by physical name; nil is JSON null.
type partitionTuple map[protocol.PhysicalName]*string

func newTuples() *tuples { return &tuples{codes: map[string]uint32{}} }

func (t *tuples) clone() *tuples {
	return &tuples{values: t.values, encoded: t.encoded, codes: t.codes}
}

// lookup finds a map's number by its encoding.
func (t *tuples) lookup(key []byte) (uint32, bool) {
	code, ok := t.codes[string(key)]
	return code, ok && int(code) < len(t.values) && t.encoded[code] == string(key)
}

// code numbers a map; scratch is memory for its encoding.
func (t *tuples) code(values map[string]*string, scratch *[]byte) (uint32, error) {
	key := encodeTuple((*scratch)[:0], values)
	*scratch = key
	if code, ok := t.lookup(key); ok {
		return code, nil
	}
	if len(t.values) == math.MaxInt32 {
		return 0, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the log holds over %d distinct partitions", math.MaxInt32)
	}
	tuple := make(partitionTuple, len(values))
	for name, value := range values {
		if value != nil {
			copied := *value
			value = &copied
		}
		tuple[protocol.PhysicalName(name)] = value
	}
	code, text := uint32(len(t.values)), string(key)
	t.values = append(t.values, tuple)
	t.encoded = append(t.encoded, text)
	t.codes[text] = code
	return code, nil
}

// encodeTuple makes a text that equal maps share: sorted names, each text with its length.
func encodeTuple(out []byte, values map[string]*string) []byte {
	switch len(values) {
	case 0:
		return out
	case 1:
		for name, value := range values {
			out = encodeTupleEntry(out, name, value)
		}
		return out
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = encodeTupleEntry(out, name, values[name])
	}
	return out
}

func encodeTupleEntry(out []byte, name string, value *string) []byte {
	if value == nil {
		return appendNullEntry(out, name)
	}
	return appendEntry(out, name, *value)
}

func appendNullEntry(out []byte, name string) []byte { return append(appendSized(out, name), '-') }

func appendEntry[T string | []byte](out []byte, name string, value T) []byte {
	return appendSized(appendSized(out, name), value)
}

func appendSized[T string | []byte](out []byte, text T) []byte {
	return append(append(strconv.AppendInt(out, int64(len(text)), 10), ':'), text...)
}
