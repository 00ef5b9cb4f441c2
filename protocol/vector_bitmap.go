package protocol

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

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
