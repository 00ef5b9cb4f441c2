package filetype

import "encoding/binary"

// SchemaBytes is the part of a Parquet footer that is the schema, as it lies there; false where the footer has another form than
// expected. Files with the same bytes have the same columns, which is all that can be said of them without reading their elements.
func SchemaBytes(footer []byte) ([]byte, bool) {
	const nextField = 1 << 4 // the header of a field gives the difference to the last one's number
	r := thriftReader{data: footer}
	if r.byte() != nextField|thriftI32 { // the version
		return nil, false
	}
	r.varint()
	if r.byte() != nextField|thriftList {
		return nil, false
	}
	from := r.at
	r.skip(thriftList, 0)
	if r.failed {
		return nil, false
	}
	return footer[from:r.at], true
}

// Types of Thrift's compact form.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

// thriftReader steps through values of Thrift's compact form.
type thriftReader struct {
	data   []byte
	at     int
	failed bool // the data ended too early, or are none
}

func (r *thriftReader) byte() byte {
	if r.at >= len(r.data) {
		r.failed = true
		return thriftStop
	}
	r.at++
	return r.data[r.at-1]
}

func (r *thriftReader) varint() uint64 {
	n, width := binary.Uvarint(r.data[r.at:])
	if width <= 0 {
		r.failed = true
		return 0
	}
	r.at += width
	return n
}

func (r *thriftReader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)-r.at) {
		r.failed = true
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at]
}

// field reads a field's header: its type and its number. A structure's end has the type thriftStop.
func (r *thriftReader) field(last int) (kind byte, id int) {
	header := r.byte()
	if header == thriftStop {
		return thriftStop, last
	}
	if delta := int(header >> 4); delta > 0 {
		return header & 15, last + delta
	}
	v := r.varint()
	return header & 15, int(int16(v>>1) ^ -int16(v&1))
}

func (r *thriftReader) list() (n uint64, kind byte) {
	header := r.byte()
	n, kind = uint64(header>>4), header&15
	if n == 15 {
		n = r.varint()
	}
	return n, kind
}

// skip steps over a value. Footers nest a few levels deep at most, and have no maps.
func (r *thriftReader) skip(kind byte, depth int) {
	const maxDepth = 16
	if r.failed || depth > maxDepth {
		r.failed = true
		return
	}
	switch kind {
	case thriftTrue, thriftFalse: // the value is the type
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.varint()
	case thriftDouble:
		r.bytes(8)
	case thriftBinary:
		r.bytes(r.varint())
	case thriftList, thriftSet:
		r.skipList(depth)
	case thriftStruct:
		for id := 0; !r.failed; {
			field, next := r.field(id)
			if field == thriftStop {
				return
			}
			id = next
			r.skip(field, depth+1)
		}
	default:
		r.failed = true
	}
}

func (r *thriftReader) skipList(depth int) {
	n, kind := r.list()
	for range n {
		if r.failed {
			return
		}
		if kind == thriftTrue || kind == thriftFalse {
			r.byte() // in lists a boolean is a byte
			continue
		}
		r.skip(kind, depth+1)
	}
}
