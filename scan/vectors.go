package scan

import (
	"context"
	"errors"
	"sync"

	"deltasql/protocol"
	"deltasql/txn/store"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

const (
	// vectorReaders is how many deletion vectors are read at a time.
	vectorReaders = 8
	// maxRowsPerFile bounds the bitset of a file whose number of rows is not known: 512 MB.
	maxRowsPerFile = 1 << 32
)

// loadVectors reads the deletion vectors of the files and keeps them as bitsets of rows that are not wanted.
func (t tableRef) loadVectors(ctx context.Context, files []*dataFile) error {
	work := make(chan *dataFile)
	failures := make(chan error, vectorReaders)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	for range vectorReaders {
		group.Go(func() {
			for f := range work {
				if err := t.loadVector(ctx, f); err != nil {
					failures <- err
					cancel()
					return
				}
			}
		})
	}
	for _, f := range files {
		if f.vector == nil {
			continue
		}
		select {
		case work <- f:
		case <-ctx.Done():
		}
	}
	close(work)
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return ctx.Err()
	}
}

func (t tableRef) loadVector(ctx context.Context, f *dataFile) error {
	bitmap, err := t.readVector(ctx, f.path, f.vector)
	if err != nil {
		return err
	}
	f.deleted, err = bitset(bitmap, f.records)
	if err != nil {
		return t.vectorError(f.path, err)
	}
	f.deletedRows = f.vector.Cardinality
	return nil
}

// readVector decodes a file's deletion vector, checking its size, checksum and cardinality.
func (t tableRef) readVector(ctx context.Context, file string, vector *protocol.DeletionVector) (*roaring64.Bitmap, error) {
	bitmap, err := t.decodeVector(ctx, vector)
	if err != nil {
		return nil, t.vectorError(file, err)
	}
	return bitmap, nil
}

func (t tableRef) decodeVector(ctx context.Context, vector *protocol.DeletionVector) (*roaring64.Bitmap, error) {
	if vector.StorageType == protocol.VectorInline {
		return vector.DecodeInline()
	}
	path, absolute, err := vector.Path()
	if err != nil {
		return nil, err
	}
	offset, length, err := vector.Span()
	if err != nil {
		return nil, err
	}
	section, err := t.readAt(ctx, path, absolute, offset, length)
	if errors.Is(err, store.ErrNotFound) {
		return nil, protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "the deletion vector file %s is not on the store", path)
	}
	if err != nil {
		return nil, err
	}
	return vector.DecodeSection(section)
}

// vectorError names the data file whose vector is wrong.
func (t tableRef) vectorError(file string, err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		named := *e
		named.Message = "data file " + file + ": " + e.Message
		return named.WithTable(t.name)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return protocol.NewError("DELTASQL_STORAGE", "the deletion vector of the data file %s cannot be read", file).
		WithTable(t.name).WithCause(err)
}

// bitset writes a vector as bits. records is the number of rows of the file, or -1.
func bitset(bitmap *roaring64.Bitmap, records int64) ([]uint64, error) {
	if bitmap.IsEmpty() {
		return nil, nil
	}
	if records < 0 {
		records = maxRowsPerFile
	}
	if err := protocol.CheckRowIndexes(bitmap, records); err != nil {
		return nil, err
	}
	words := make([]uint64, bitmap.Maximum()/64+1)
	return words, protocol.FillBitset(bitmap, words)
}
