package scan

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/store"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// tableRef is the table that data files belong to.
type tableRef struct {
	name  string // for messages
	store store.Store
}

// dataFile is one file of a relation: a data file or a file of change rows.
type dataFile struct {
	path          string // as the log has it
	number        int32  // in the snapshot, -1 for a file of change rows
	partition     func(name protocol.PhysicalName) (text string, null bool)
	size, modTime int64 // bytes; milliseconds since 1970
	records       int64 // rows in the file, deleted ones included; -1 where that is not known
	vector        *protocol.DeletionVector
	baseRowID     *int64
	commitVersion *int64 // default row commit version
	constants     []protocol.Value
	changeRows    bool              // a file of change rows: it has a column _change_type of its own
	only          []uint64          // bitset of the rows wanted, where only some are: those that a change of the vector concerns
	minus         *roaring64.Bitmap // rows that are not wanted beside those of the vector
	localName     string            // relative to the table, "" for an absolute path
	local         string            // local path, see locate
	layout        *layout
	deleted       []uint64 // bitset of rows that are not wanted, set by loadVectors
	deletedRows   int64
	tuple         int                      // number of the file's constants among those of the relation
	variants      map[string][]variantLeaf // by column of the file, of those that the relation reads
	variantNulls  bool                     // some of these may be variant nulls
}

// locate finds the local path of the file.
func (t tableRef) locate(ctx context.Context, f *dataFile) error {
	path, absolute, err := protocol.DecodePath(f.path)
	if err != nil {
		return err
	}
	if absolute {
		if strings.Contains(path, "://") {
			return protocol.NewError("UNSUPPORTED_FEATURE", "the table %s has a data file on another store: %s", t.name, path)
		}
		f.local = filepath.FromSlash(path)
		return checkPattern(f)
	}
	f.localName = path
	f.local, err = t.store.Locate(ctx, path)
	if err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "the data file %s of the table %s cannot be reached", path, t.name).WithCause(err)
	}
	return checkPattern(f)
}

// readAt reads a part of a file next to the data: by its name in the table, or by an absolute local path.
func (t tableRef) readAt(ctx context.Context, path string, absolute bool, offset, length int64) ([]byte, error) {
	if !absolute {
		return t.store.ReadRange(ctx, path, offset, length)
	}
	if strings.Contains(path, "://") {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "the table %s has a deletion vector on another store: %s", t.name, path)
	}
	folder, err := store.NewLocal(filepath.Dir(filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	return folder.ReadRange(ctx, filepath.Base(path), offset, length)
}

// checkPattern makes sure that a file is there whose path cannot be written as a pattern, see duck.LiteralPath.
func checkPattern(f *dataFile) error {
	if duck.LiteralPath(f.local) != f.local || !strings.ContainsAny(f.local, duck.GlobCharacters) {
		return nil
	}
	if _, err := os.Stat(f.local); errors.Is(err, fs.ErrNotExist) {
		return missingFile(f)
	}
	return nil
}

// globPaths are the files' paths for read_parquet, with what it would take for patterns made literal.
func globPaths(files []*dataFile) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = duck.LiteralPath(f.local)
	}
	return paths
}
