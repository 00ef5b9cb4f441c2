package protocol

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// The storage types of a deletion vector. VectorInTableRaw ("r") belongs to adaptive metadata, which is not read.
const (
	VectorByUUID   = "u"
	VectorByPath   = "p"
	VectorInline   = "i"
	vectorRawTable = "r"
)

// DeletionVector is the descriptor in an add or remove (protocol, "Deletion Vectors").
type DeletionVector struct {
	StorageType  string // VectorByUUID, VectorByPath or VectorInline
	PathOrInline string // pathOrInlineDv
	Offset       *int64 // of the size word in the file; nil for inline vectors, 1 or absent for the first in a file
	SizeInBytes  int64  // of the bitmap's bytes
	Cardinality  int64  // rows deleted
}

// UniqueID identifies the vector; with the file's path it is the key of log replay. Without a vector it is "".
func (d *DeletionVector) UniqueID() string {
	if d == nil {
		return ""
	}
	if d.Offset == nil {
		return d.StorageType + d.PathOrInline
	}
	return d.StorageType + d.PathOrInline + "@" + strconv.FormatInt(*d.Offset, 10)
}

// Path is the vector's file: relative to the table's root for VectorByUUID, else as DecodePath gives it.
func (d *DeletionVector) Path() (path string, absolute bool, err error) {
	switch d.StorageType {
	case VectorByUUID:
		const encoded = 20
		at := len(d.PathOrInline) - encoded
		if at < 0 {
			return "", false, d.malformed("%q is too short for an encoded UUID", d.PathOrInline)
		}
		id, err := DecodeZ85(d.PathOrInline[at:])
		if err != nil {
			return "", false, d.malformed("%q is no encoded UUID", d.PathOrInline[at:])
		}
		name := "deletion_vector_" + formatUUID(id) + ".bin"
		if at > 0 {
			name = d.PathOrInline[:at] + "/" + name
		}
		if escapesRoot(name) {
			return "", false, d.malformed("%q leaves the table's folder", name)
		}
		return name, false, nil
	case VectorByPath:
		return DecodePath(d.PathOrInline)
	}
	return "", false, d.malformed("storage type %q has no file", d.StorageType)
}

// Span is the part of the file that holds the vector: the size word, the bitmap and the CRC.
func (d *DeletionVector) Span() (offset, length int64, err error) {
	if d.SizeInBytes < 0 || d.SizeInBytes > maxVectorBytes {
		return 0, 0, d.malformed("sizeInBytes is %d", d.SizeInBytes)
	}
	offset = 1
	if d.Offset != nil {
		offset = *d.Offset
	}
	if offset < 0 {
		return 0, 0, d.malformed("offset is %d", offset)
	}
	return offset, 4 + d.SizeInBytes + 4, nil
}

// maxVectorBytes bounds one vector; the format's own size word has 31 bits.
const maxVectorBytes = 1 << 30

func (d *DeletionVector) malformed(format string, args ...any) *Error {
	return NewError("DELTA_INVALID_LOG_FILE", "deletion vector %s: "+format, append([]any{shorten(d.UniqueID())}, args...)...)
}

func formatUUID(id []byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, hex[b>>4], hex[b&15])
	}
	return string(out)
}

// DecodeInline is the bitmap of an inline vector, its cardinality checked. Both ways of padding count, and what the
// padding after sizeInBytes holds is ignored.
func (d *DeletionVector) DecodeInline() (*roaring64.Bitmap, error) {
	if d.StorageType != VectorInline {
		return nil, d.malformed("storage type %q is not inline", d.StorageType)
	}
	whole, tail := d.PathOrInline, ""
	if at := len(whole) - 5; d.SizeInBytes%4 != 0 && at >= 0 && whole[at] == z85Pad {
		whole, tail = whole[:at], whole[at:]
	}
	data, err := DecodeZ85(whole)
	if err == nil && tail != "" {
		data, err = appendPartialGroup(data, tail, int(d.SizeInBytes%4))
	}
	if err != nil {
		return nil, d.malformed("the inline bitmap cannot be decoded").WithCause(err)
	}
	if d.SizeInBytes < 0 || d.SizeInBytes > int64(len(data)) {
		return nil, NewError("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "inline deletion vector has %d bytes, its descriptor says %d", len(data), d.SizeInBytes)
	}
	return d.decode(data[:d.SizeInBytes])
}

// DecodeSection is the bitmap of a vector in a file, from the bytes of Span, with size, CRC and cardinality checked
// (protocol, "Deletion Vector File Storage Format").
func (d *DeletionVector) DecodeSection(section []byte) (*roaring64.Bitmap, error) {
	_, length, err := d.Span()
	if err != nil {
		return nil, err
	}
	if len(section) < 4 {
		return nil, NewError("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "deletion vector file ends before the vector's size")
	}
	if stored := int64(binary.BigEndian.Uint32(section)); stored != d.SizeInBytes {
		return nil, NewError("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "deletion vector file says %d bytes, the descriptor %d", stored, d.SizeInBytes)
	}
	if int64(len(section)) < length {
		return nil, NewError("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "deletion vector file ends after %d of %d bytes of the vector", len(section), length)
	}
	data := section[4 : 4+d.SizeInBytes]
	stored := binary.BigEndian.Uint32(section[4+d.SizeInBytes:])
	if actual := crc32.ChecksumIEEE(data); actual != stored {
		return nil, NewError("DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", "deletion vector has CRC-32 %08x, its file says %08x", actual, stored)
	}
	return d.decode(data)
}

// CheckVectorFileVersion checks the first byte of a deletion vector file.
func CheckVectorFileVersion(first byte) error {
	if first != 1 {
		return NewError("DELTA_INVALID_LOG_FILE", "deletion vector file has format version %d; only 1 is known", first)
	}
	return nil
}

func (d *DeletionVector) decode(data []byte) (*roaring64.Bitmap, error) {
	bitmap, err := DecodeBitmap(data)
	if err != nil {
		return nil, err
	}
	if n := bitmap.GetCardinality(); n != uint64(d.Cardinality) {
		return nil, NewError("DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", "deletion vector deletes %d rows, its descriptor says %d", n, d.Cardinality)
	}
	return bitmap, nil
}
