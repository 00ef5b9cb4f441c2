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
// and those are their own canonical form, which is seen here without an allocation.
func canonicalPath(path []byte) []byte {
	if len(path) > 0 && path[0] != '/' && path[0] != '.' &&
		bytes.IndexByte(path, '%') < 0 && bytes.IndexByte(path, ':') < 0 && bytes.IndexByte(path, 0) < 0 && plainSegments(path) {
		return path
	}
	canonical, err := protocol.CanonicalPath(string(path))
	if err != nil {
		return path // whoever opens the file reports it; for replay the spelling is the key
	}
	return []byte(canonical)
}

// plainSegments tells that no slash is followed by another, by a dot or by the end.
func plainSegments(path []byte) bool {
	for {
		at := bytes.IndexByte(path, '/')
		if at < 0 {
			return true
		}
		path = path[at+1:]
		if len(path) == 0 || path[0] == '/' || path[0] == '.' {
			return false
		}
	}
}

var hashSeed = maphash.MakeSeed()

// hash is never 0.
func (k fileKey) hash() uint64 {
	hash := maphash.Bytes(hashSeed, k.path)
	if k.vector != "" {
		hash = bits.RotateLeft64(hash, 17) ^ maphash.String(hashSeed, k.vector)
	}
	return max(hash, 1)
}

// fileIndex finds the newest row of a key: open addressing over (32 bits of hash, row + 1). A slot is found by those bits
// too, so that growing needs no look at the keys. It belongs to the one appender of its columns.
type fileIndex struct {
	slots []uint64
	used  int
}

// newFileIndex makes an index of the rows of columns. Of rows with one key the newest wins.
func newFileIndex(c *columns) *fileIndex {
	index := &fileIndex{slots: make([]uint64, slotsFor(c.rows))}
	for row := range c.rows {
		index.swap(c, row, keyOf(c.path(row), c.vector(row)))
	}
	return index
}

func slotsFor(rows int) int { return 1 << max(10, bits.Len(uint(rows*2))) }

// find gives the slot of a key and its newest row, or the slot where it belongs and -1.
func (x *fileIndex) find(c *columns, key fileKey, hash uint64) (slot uint64, row int) {
	mask := uint64(len(x.slots) - 1)
	tag := hash >> 32
	for at := tag & mask; ; at = (at + 1) & mask {
		value := x.slots[at]
		if value == 0 {
			return at, -1
		}
		if value>>32 != tag {
			continue
		}
		if row := int(uint32(value)) - 1; key.is(c, row) {
			return at, row
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
	_, row := x.find(c, key, key.hash())
	return row
}

// swap records row as the newest of its key and gives the one before, -1 if there was none.
func (x *fileIndex) swap(c *columns, row int, key fileKey) (old int) {
	hash := key.hash()
	slot, old := x.find(c, key, hash)
	x.slots[slot] = hash>>32<<32 | uint64(row+1)
	if old < 0 {
		x.used++
		if x.used*4 > len(x.slots)*3 {
			x.grow()
		}
	}
	return old
}

func (x *fileIndex) grow() {
	old := x.slots
	x.slots = make([]uint64, 4*len(old))
	mask := uint64(len(x.slots) - 1)
	for _, value := range old {
		if value == 0 {
			continue
		}
		at := value >> 32 & mask
		for x.slots[at] != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = value
	}
}
