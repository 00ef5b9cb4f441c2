package log

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"deltasql/protocol"
)

// fileKey identifies a data file in log replay: its canonical path and its deletion vector's id (protocol, "Action
// Reconciliation"). Two actions are about the same logical file exactly if their keys are equal.
type fileKey struct {
	path   []byte // canonical
	vector string // "" without one
}

func keyOf(path []byte, vector *protocol.DeletionVector) fileKey {
	key := fileKey{path: canonicalPath(path)}
	if vector != nil {
		key.vector = vector.UniqueID()
	}
	return key
}

// canonicalPath makes different spellings of a path equal. Nearly all paths in a log are relative and free of escapes,
// and those are their own canonical form, which is seen without an allocation.
func canonicalPath(path []byte) []byte {
	plain := len(path) > 0 && path[0] != '/'
	for i := 0; plain && i < len(path); i++ {
		switch c := path[i]; {
		case c == '%', c == ':', c == '\\', c < ' ':
			plain = false
		case c == '/' && (i+1 == len(path) || path[i+1] == '/' || path[i+1] == '.'):
			plain = false
		case c == '.' && i == 0:
			plain = false
		}
	}
	if plain {
		return path
	}
	canonical, err := protocol.CanonicalPath(string(path))
	if err != nil {
		return path // whoever opens the file reports it; for replay the spelling is the key
	}
	return []byte(canonical)
}

var hashSeed = maphash.MakeSeed()

func (k fileKey) hash() uint64 {
	hash := maphash.Bytes(hashSeed, k.path)
	if k.vector != "" {
		hash = bits.RotateLeft64(hash, 17) ^ maphash.String(hashSeed, k.vector)
	}
	return hash
}

// fileIndex finds the newest row of a key: open addressing over (32 bits of hash, row + 1). It is built when a first
// removal or repetition has to be looked up, and belongs to the one appender of its columns.
type fileIndex struct {
	slots []uint64
	used  int
}

// newFileIndex makes an index of the first rows of columns. Of rows with one key the newest wins.
func newFileIndex(c *columns, rows int) *fileIndex {
	index := &fileIndex{slots: make([]uint64, slotsFor(rows))}
	for row := range rows {
		index.put(c, row, keyOf(c.path(row), c.vector(row)))
	}
	return index
}

func slotsFor(rows int) int { return 1 << max(10, bits.Len(uint(rows*2))) }

func (x *fileIndex) find(c *columns, key fileKey) (slot, row int) {
	hash := key.hash()
	mask := uint64(len(x.slots) - 1)
	tag := hash >> 32 << 32
	for at := hash & mask; ; at = (at + 1) & mask {
		value := x.slots[at]
		if value == 0 {
			return int(at), -1
		}
		if value&^0xffffffff != tag {
			continue
		}
		row := int(uint32(value)) - 1
		if key.is(c, row) {
			return int(at), row
		}
	}
}

// is tells whether a row has the key.
func (k fileKey) is(c *columns, row int) bool {
	vector := c.vector(row)
	if (vector == nil) != (k.vector == "") || vector != nil && vector.UniqueID() != k.vector {
		return false
	}
	path := c.path(row)
	return bytes.Equal(path, k.path) || bytes.Equal(canonicalPath(path), k.path)
}

// lookup gives the newest row of a key, -1 if there is none.
func (x *fileIndex) lookup(c *columns, key fileKey) int {
	_, row := x.find(c, key)
	return row
}

// put records row as the newest of its key.
func (x *fileIndex) put(c *columns, row int, key fileKey) {
	slot, old := x.find(c, key)
	x.slots[slot] = key.hash()>>32<<32 | uint64(row+1)
	if old >= 0 {
		return
	}
	x.used++
	if x.used*4 > len(x.slots)*3 {
		x.grow(c)
	}
}

func (x *fileIndex) grow(c *columns) {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	mask := uint64(len(x.slots) - 1)
	for _, value := range old {
		if value == 0 {
			continue
		}
		row := int(uint32(value)) - 1
		at := keyOf(c.path(row), c.vector(row)).hash() & mask
		for x.slots[at] != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = value
	}
}
