package protocol

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"

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

// UniqueID identifies the vector; with the file's path it is the key of log replay.
func (d *DeletionVector) UniqueID() string {
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

const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Digits = func() (digits [256]int8) {
	for i := range digits {
		digits[i] = -1
	}
	for i := range len(z85Alphabet) {
		digits[z85Alphabet[i]] = int8(i)
	}
	return digits
}()

// DecodeZ85 turns each five characters into four bytes; the length must be a multiple of five.
func DecodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 text of %d characters; not a multiple of five", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		var v uint64
		for j := i; j < i+5; j++ {
			digit := z85Digits[text[j]]
			if digit < 0 {
				return nil, NewError("DELTA_INVALID_LOG_FILE", "character %q is not of base 85", text[j])
			}
			v = v*85 + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q exceeds 32 bits", text[i:i+5])
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out, nil
}

// EncodeZ85 is the inverse; data is padded with zeros to a multiple of four bytes.
func EncodeZ85(data []byte) string {
	var out strings.Builder
	for i := 0; i < len(data); i += 4 {
		var word [4]byte
		copy(word[:], data[i:])
		v := binary.BigEndian.Uint32(word[:])
		var digits [5]byte
		for j := 4; j >= 0; j-- {
			digits[j] = z85Alphabet[v%85]
			v /= 85
		}
		out.Write(digits[:])
	}
	return out.String()
}

// z85Pad starts a last group that holds fewer than four bytes in the manner of kernel-rs: n bytes as n+1 digits after 4-n
// of these characters. The protocol pads the bytes with zeros instead. No group of four bytes starts with it.
const z85Pad = '#'

func appendPartialGroup(data []byte, group string, n int) ([]byte, error) {
	var v uint64
	for i := range len(group) {
		digit := z85Digits[group[i]]
		if i < 4-n {
			if group[i] != z85Pad {
				return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q is padded wrongly", group)
			}
			continue
		}
		if digit < 0 {
			return nil, NewError("DELTA_INVALID_LOG_FILE", "character %q is not of base 85", group[i])
		}
		v = v*85 + uint64(digit)
	}
	if v >= 1<<(8*n) {
		return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q exceeds %d bytes", group, n)
	}
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		data = append(data, byte(v>>shift))
	}
	return data, nil
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

const (
	magicPortable = 1681511377 // the protocol's form: 64-bit Roaring, portable
	magicNative   = 1681511376 // Spark's in-memory form, read but never written
)

// DecodeBitmap reads a vector's bytes, magic number included, in the portable or the native form.
func DecodeBitmap(data []byte) (bitmap *roaring64.Bitmap, err error) {
	// The library checks what it reads, but it was written for trusted data; a panic must not leave this package.
	defer func() {
		if r := recover(); r != nil {
			bitmap, err = nil, badBitmap("%v", r)
		}
	}()
	if len(data) < 4 {
		return nil, badBitmap("%d bytes are too few", len(data))
	}
	switch magic := binary.LittleEndian.Uint32(data); magic {
	case magicPortable:
		return decodePortable(data[4:])
	case magicNative:
		return decodeNative(data[4:])
	default:
		return nil, badBitmap("magic number is %d", magic)
	}
}

func badBitmap(format string, args ...any) *Error {
	return NewError("DELTA_INVALID_LOG_FILE", "deletion vector bitmap is malformed: "+format, args...)
}

// decodePortable: u64 bucket count, then per bucket its u32 high key, ascending, and a 32-bit Roaring bitmap.
func decodePortable(data []byte) (*roaring64.Bitmap, error) {
	if len(data) < 8 {
		return nil, badBitmap("no bucket count")
	}
	count := binary.LittleEndian.Uint64(data)
	rest := data[8:]
	// Each bucket takes at least its key and an empty bitmap's eight bytes: this bounds what the library allocates.
	if count > uint64(len(rest)/12) {
		return nil, badBitmap("%d buckets in %d bytes", count, len(rest))
	}
	// Spark writes an empty bitmap for every bucket that has no rows; the library calls those malformed, so they are left out.
	previous, kept, filled := int64(-1), make([]byte, 8, len(data)), uint64(0)
	for range count {
		if len(rest) < 4 {
			return nil, badBitmap("a bucket is cut off")
		}
		key := int64(binary.LittleEndian.Uint32(rest))
		if key <= previous || key > 1<<31-1 {
			return nil, badBitmap("bucket key %d after %d", key, previous)
		}
		previous = key
		n, err := bitmap32Length(rest[4:])
		if err != nil {
			return nil, err
		}
		if n > emptyBitmap32 {
			kept = append(kept, rest[:4+n]...)
			filled++
		}
		rest = rest[4+n:]
	}
	if len(rest) > 0 {
		return nil, badBitmap("%d bytes too many", len(rest))
	}
	binary.LittleEndian.PutUint64(kept, filled)
	bitmap := roaring64.New()
	if filled == 0 {
		return bitmap, nil
	}
	if err := bitmap.UnmarshalBinary(kept); err != nil {
		return nil, badBitmap("%v", err)
	}
	if err := bitmap.Validate(); err != nil {
		return nil, badBitmap("%v", err)
	}
	return bitmap, nil
}

// emptyBitmap32 is the length of a 32-bit Roaring bitmap without rows.
const emptyBitmap32 = 8

// decodeNative: i32 bitmap count, then per high key from 0 an i32 length and a 32-bit Roaring bitmap.
func decodeNative(data []byte) (*roaring64.Bitmap, error) {
	if len(data) < 4 {
		return nil, badBitmap("no bitmap count")
	}
	count := uint64(binary.LittleEndian.Uint32(data))
	rest := data[4:]
	if count > uint64(len(rest)/12) {
		return nil, badBitmap("%d bitmaps in %d bytes", count, len(rest))
	}
	portable := binary.LittleEndian.AppendUint64(make([]byte, 0, len(data)+8), count)
	for key := range count {
		if len(rest) < 4 {
			return nil, badBitmap("a bitmap is cut off")
		}
		n := uint64(binary.LittleEndian.Uint32(rest))
		if n > uint64(len(rest)-4) {
			return nil, badBitmap("a bitmap is cut off")
		}
		portable = binary.LittleEndian.AppendUint32(portable, uint32(key))
		portable = append(portable, rest[4:4+n]...)
		rest = rest[4+n:]
	}
	if len(rest) > 0 {
		return nil, badBitmap("%d bytes too many", len(rest))
	}
	return decodePortable(portable)
}

// bitmap32Length walks a 32-bit Roaring bitmap and gives its length in bytes, so that the library never reads, and never
// allocates for, more than there is.
func bitmap32Length(data []byte) (int, error) {
	const (
		cookieWithRuns    = 12347
		cookieWithoutRuns = 12346
		offsetThreshold   = 4
	)
	if len(data) < 4 {
		return 0, badBitmap("a bucket is cut off")
	}
	cookie := binary.LittleEndian.Uint32(data)
	at, containers := 4, 0
	var runs []byte
	switch {
	case cookie&0xFFFF == cookieWithRuns:
		containers = int(cookie>>16) + 1
		n := (containers + 7) / 8
		if len(data) < at+n {
			return 0, badBitmap("a bucket is cut off")
		}
		runs = data[at : at+n]
		at += n
	case cookie == cookieWithoutRuns:
		if len(data) < 8 {
			return 0, badBitmap("a bucket is cut off")
		}
		n := binary.LittleEndian.Uint32(data[4:])
		if n > 1<<16 {
			return 0, badBitmap("%d containers", n)
		}
		containers, at = int(n), 8
	default:
		return 0, badBitmap("a bucket starts with %d", cookie)
	}
	headers := at
	at += 4 * containers
	if runs == nil || containers >= offsetThreshold {
		at += 4 * containers
	}
	for i := range containers {
		if headers+4*i+4 > len(data) || at > len(data) {
			return 0, badBitmap("a bucket is cut off")
		}
		cardinality := int(binary.LittleEndian.Uint16(data[headers+4*i+2:])) + 1
		switch {
		case runs != nil && runs[i/8]&(1<<(i%8)) != 0:
			if at+2 > len(data) {
				return 0, badBitmap("a bucket is cut off")
			}
			at += 2 + 4*int(binary.LittleEndian.Uint16(data[at:]))
		case cardinality <= 4096:
			at += 2 * cardinality
		default:
			at += 8192
		}
	}
	if at > len(data) {
		return 0, badBitmap("a bucket is cut off")
	}
	return at, nil
}

// EncodeBitmap writes the portable form, magic number included.
func EncodeBitmap(bitmap *roaring64.Bitmap) ([]byte, error) {
	bitmap.RunOptimize()
	body, err := bitmap.ToBytes()
	if err != nil {
		return nil, NewError(ClassInternal, "encode a deletion vector").WithCause(err)
	}
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(body)), magicPortable), body...), nil
}

// CheckRowIndexes refuses a vector that names a row the file does not have.
func CheckRowIndexes(bitmap *roaring64.Bitmap, numRecords int64) error {
	if bitmap.IsEmpty() {
		return nil
	}
	if last := bitmap.Maximum(); numRecords < 0 || last >= uint64(numRecords) {
		return NewError("DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", "deletion vector names row %d of a file with %d rows", last, numRecords)
	}
	return nil
}

// FillBitset sets bit r of words (bit r%64 of word r/64) for every row r of the vector.
// Rows beyond the words are DELTA_DELETION_VECTOR_INVALID_ROW_INDEX and leave words as they were.
func FillBitset(bitmap *roaring64.Bitmap, words []uint64) error {
	if err := CheckRowIndexes(bitmap, int64(len(words))*64); err != nil {
		return err
	}
	rows := bitmap.ManyIterator()
	var buffer [512]uint64
	for n := rows.NextMany(buffer[:]); n > 0; n = rows.NextMany(buffer[:]) {
		for _, row := range buffer[:n] {
			words[row/64] |= 1 << (row % 64)
		}
	}
	return nil
}
