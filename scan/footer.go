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

	"deltasql/filetype"
)

// What follows finds the bytes of the schemas of Parquet files without understanding them: files with the same bytes have the same
// columns. That costs a fiftieth of asking DuckDB for them (docs/decisions/0010).

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

func schemaOf(footer []byte) ([]byte, error) {
	schema, ok := filetype.SchemaBytes(footer)
	if !ok {
		return nil, errNoSchema
	}
	return schema, nil
}
