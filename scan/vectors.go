package scan

import (
	"context"
	"errors"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

const (
	// vectorReaders is how many deletion vectors are read at a time.
	vectorReaders = 8
	// maxRowsPerFile bounds a bitset: 512 MB.
	maxRowsPerFile = 1 << 32
)

// loadVectors reads the deletion vectors of the files and keeps them as bitsets of rows that are not wanted.
func (t tableRef) loadVectors(ctx context.Context, files []*dataFile) error {
	var with []*dataFile
	for _, f := range files {
		if f.vector != nil {
			with = append(with, f)
		}
	}
	return inParallel(ctx, vectorReaders, len(with), func(ctx context.Context, i int) (err error) {
		f := with[i]
		f.deleted, err = t.vectorRows(ctx, f.path, f.vector, f.records)
		f.deletedRows = f.vector.Cardinality
		return err
	})
}

// DeletedRows are the rows that the vector of a snapshot's file hides; nil where it has none. The bitmap is the caller's.
func DeletedRows(ctx context.Context, snapshot *log.Snapshot, file int32) (*roaring64.Bitmap, error) {
	files := snapshot.Files()
	vector := files.DeletionVector(int(file))
	if vector == nil {
		return nil, nil
	}
	t := tableRef{name: snapshot.Table().Name(), store: snapshot.Table().Store()}
	path := files.Path(int(file))
	bitmap, err := t.readVector(ctx, path, vector)
	if err != nil {
		return nil, err
	}
	if records, ok := files.NumRecords(int(file)); ok {
		if err := protocol.CheckRowIndexes(bitmap, records); err != nil {
			return nil, t.vectorError(path, err)
		}
	}
	return bitmap, nil
}

// vectorRows is the bitset of the rows that a file's vector deletes, up to the word of the last one. It may be shared and
// must not be changed. records is the number of rows of the file, -1 where that is not known.
func (t tableRef) vectorRows(ctx context.Context, file string, vector *protocol.DeletionVector, records int64) ([]uint64, error) {
	key := vectorKey{t.name, vector.UniqueID(), vector.SizeInBytes, vector.Cardinality, records}
	if rows, ok := vectors.get(key); ok {
		return rows, nil
	}
	bitmap, err := t.readVector(ctx, file, vector)
	if err != nil {
		return nil, err
	}
	rows, err := bitset(bitmap, records)
	if err != nil {
		return nil, t.vectorError(file, err)
	}
	vectors.put(key, rows)
	return rows, nil
}

// maxCachedVectorBytes is enough for the vectors of a thousand files of half a million rows.
const maxCachedVectorBytes = 64 << 20

var vectors = newCache(maxCachedVectorBytes, func(key vectorKey, rows []uint64) int {
	const overhead = 200 // of an entry and its key
	return overhead + 8*len(rows)
})

type vectorKey struct {
	table, id                  string
	size, cardinality, records int64
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
	front := int64(0)
	if offset == 1 {
		front = 1 // the first vector of a file lies behind the byte of the format's version, which is looked at in passing
	}
	section, err := t.readAt(ctx, path, absolute, offset-front, length+front)
	if errors.Is(err, store.ErrNotFound) {
		return nil, protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "the deletion vector file %s is not on the store", path)
	}
	if err != nil {
		return nil, err
	}
	if front > 0 && len(section) > 0 {
		if err := protocol.CheckVectorFileVersion(section[0]); err != nil {
			return nil, err
		}
		section = section[1:]
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

// bitset writes a vector as bits, up to the word of its last row.
func bitset(bitmap *roaring64.Bitmap, records int64) ([]uint64, error) {
	if bitmap.IsEmpty() {
		return nil, nil
	}
	if records < 0 || records > maxRowsPerFile {
		records = maxRowsPerFile
	}
	if err := protocol.CheckRowIndexes(bitmap, records); err != nil {
		return nil, err
	}
	words := make([]uint64, bitmap.Maximum()/64+1)
	return words, protocol.FillBitset(bitmap, words)
}
