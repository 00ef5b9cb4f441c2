package fieldbugs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// bitmapBytes is a deletion vector in the protocol's form: the magic number, then a portable 64-bit Roaring bitmap.
func bitmapBytes(t *testing.T, rows ...uint64) []byte {
	t.Helper()
	bitmap := roaring64.BitmapOf(rows...)
	bitmap.RunOptimize()
	out := binary.LittleEndian.AppendUint32(nil, 1681511377)
	buffer := bytes.NewBuffer(out)
	if _, err := bitmap.WriteTo(buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// encodeZ85 writes four bytes as five characters; the last ones are padded with zeros.
func encodeZ85(data []byte) string {
	var out strings.Builder
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	for ; len(data) > 0; data = data[4:] {
		value := binary.BigEndian.Uint32(data)
		for _, power := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			out.WriteByte(z85[value/power%85])
		}
	}
	return out.String()
}

// vectorFile is a file of deletion vectors in the making.
type vectorFile struct {
	tb   *table
	id   string // the UUID's hexadecimal digits
	data []byte
}

// newVectorFile starts a file of the table; save writes it.
func (tb *table) newVectorFile() *vectorFile {
	tb.vectors++
	return &vectorFile{tb: tb, id: fmt.Sprintf("d2c639aa8816431aaaf6d3fe%08x", tb.vectors), data: []byte{1}}
}

// put appends a bitmap and gives its offset.
func (f *vectorFile) put(bitmap []byte) int {
	at := len(f.data)
	f.data = binary.BigEndian.AppendUint32(f.data, uint32(len(bitmap)))
	f.data = append(f.data, bitmap...)
	f.data = binary.BigEndian.AppendUint32(f.data, crc32.ChecksumIEEE(bitmap))
	return at
}

// name is the file's, relative to the table.
func (f *vectorFile) name() string {
	id := f.id
	return fmt.Sprintf("deletion_vector_%s-%s-%s-%s-%s.bin", id[:8], id[8:12], id[12:16], id[16:20], id[20:])
}

func (f *vectorFile) save() { f.tb.t.Helper(); f.tb.write(f.name(), f.data) }

// descriptor is the member of an action for a vector of this file.
func (f *vectorFile) descriptor(offset, size, cardinality int) string {
	id, err := hex.DecodeString(f.id)
	f.tb.check(err)
	return fmt.Sprintf(`"deletionVector":{"storageType":"u","pathOrInlineDv":%s,"offset":%d,"sizeInBytes":%d,"cardinality":%d}`,
		asJSON(encodeZ85(id)), offset, size, cardinality)
}

// absoluteDescriptor is descriptor by absolute path.
func (f *vectorFile) absoluteDescriptor(offset, size, cardinality int) string {
	return fmt.Sprintf(`"deletionVector":{"storageType":"p","pathOrInlineDv":%s,"offset":%d,"sizeInBytes":%d,"cardinality":%d}`,
		asJSON("file://"+f.tb.path(f.name())), offset, size, cardinality)
}

// vector writes a file with one vector that deletes these rows (indexes from 0), and gives the member of an action for it.
func (tb *table) vector(rows ...uint64) string {
	tb.t.Helper()
	file, bitmap := tb.newVectorFile(), bitmapBytes(tb.t, rows...)
	offset := file.put(bitmap)
	file.save()
	return file.descriptor(offset, len(bitmap), len(rows))
}

// vectorBelow is vector in a file below a random prefix, as tables with prefixes of paths have them.
func (tb *table) vectorBelow(prefix string, rows ...uint64) string {
	tb.t.Helper()
	file, bitmap := tb.newVectorFile(), bitmapBytes(tb.t, rows...)
	offset := file.put(bitmap)
	tb.write(prefix+"/"+file.name(), file.data)
	return strings.Replace(file.descriptor(offset, len(bitmap), len(rows)), `"pathOrInlineDv":"`, `"pathOrInlineDv":"`+prefix, 1)
}

// inline is the member of an action for a vector inside the log.
func inline(t *testing.T, rows ...uint64) string {
	t.Helper()
	bitmap := bitmapBytes(t, rows...)
	return fmt.Sprintf(`"deletionVector":{"storageType":"i","pathOrInlineDv":%s,"sizeInBytes":%d,"cardinality":%d}`,
		asJSON(encodeZ85(bytes.Clone(bitmap))), len(bitmap), len(rows))
}
