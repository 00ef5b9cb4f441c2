package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// The schema of a Parquet file is the second field of its footer, a structure in Thrift's compact form. What follows finds
// the schema's bytes without understanding them: files with the same bytes have the same columns. That costs a fiftieth of
// asking DuckDB for them (docs/decisions/0010).

const (
	// footerReaders is how many files at most are open at once, for stores that are slow to answer.
	footerReaders = 8
	// footerGuess is how much is read from the end of a file before the footer's length is known.
	footerGuess = 16 << 10
	// maxFooter is up to what length a footer is looked at here.
	maxFooter = 64 << 20
)

// foundSchema is a file's schema as it lies in the footer; "" where that is not to be had in this way, for whatever reason:
// DuckDB is then to be asked, which reads the file or says what is wrong with it.
type foundSchema struct {
	bytes   string
	missing bool // there is no such file
}

// readSchemas looks for the schemas of the files.
func readSchemas(ctx context.Context, files []*dataFile) ([]foundSchema, error) {
	schemas := make([]foundSchema, len(files))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(footerReaders, 2*runtime.GOMAXPROCS(0), (len(files)+15)/16) {
		group.Go(func() {
			buffer, last := make([]byte, footerGuess), ""
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				schema, err := readSchema(files[i].local, &buffer)
				if err != nil {
					schemas[i].missing = errors.Is(err, fs.ErrNotExist)
					continue
				}
				if string(schema) != last {
					last = string(schema)
				}
				schemas[i].bytes = last // mostly shared
			}
		})
	}
	group.Wait()
	return schemas, ctx.Err()
}

var errNoSchema = errors.New("the footer has another form than expected")

// readSchema reads a file's footer into the buffer and gives the part that is the schema.
func readSchema(path string, buffer *[]byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const trailer = 8 // the footer's length, and the format's mark
	end := info.Size() - trailer
	tail := (*buffer)[:min(info.Size(), footerGuess)]
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(tail) < trailer || string(tail[len(tail)-4:]) != "PAR1" {
		return nil, errNoSchema
	}
	length := int64(binary.LittleEndian.Uint32(tail[len(tail)-trailer:]))
	if length > end || length > maxFooter {
		return nil, errNoSchema
	}
	tail = tail[:len(tail)-trailer]
	if length <= int64(len(tail)) {
		return schemaOf(tail[int64(len(tail))-length:])
	}
	if int64(cap(*buffer)) < length {
		*buffer = make([]byte, length)
	}
	footer := (*buffer)[:length]
	if _, err := f.ReadAt(footer, end-length); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return schemaOf(footer)
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

// schemaOf is the part of a footer that is the schema.
func schemaOf(footer []byte) ([]byte, error) {
	const nextField = 1 << 4 // the header of a field gives the difference to the last one's number
	r := thriftReader{data: footer}
	if r.byte() != nextField|thriftI32 { // the version
		return nil, errNoSchema
	}
	r.varint()
	if r.byte() != nextField|thriftList {
		return nil, errNoSchema
	}
	from := r.at
	r.skip(thriftList, 0)
	if r.failed {
		return nil, errNoSchema
	}
	return footer[from:r.at], nil
}

// thriftReader steps over values of Thrift's compact form.
type thriftReader struct {
	data   []byte
	at     int
	failed bool // the data ended too early, or are none
}

func (r *thriftReader) byte() byte {
	if r.at >= len(r.data) {
		r.failed = true
		return 0
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

func (r *thriftReader) bytes(n uint64) {
	if n > uint64(len(r.data)-r.at) {
		r.failed = true
		return
	}
	r.at += int(n)
}

// skip steps over a value of the type. Schemas nest a few levels deep at most.
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
		for !r.failed {
			header := r.byte()
			if header == thriftStop {
				return
			}
			if header>>4 == 0 {
				r.varint() // the field's number in full
			}
			r.skip(header&15, depth+1)
		}
	default:
		r.failed = true // schemas have no maps
	}
}

func (r *thriftReader) skipList(depth int) {
	header := r.byte()
	n, kind := uint64(header>>4), header&15
	if n == 15 {
		n = r.varint()
	}
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
