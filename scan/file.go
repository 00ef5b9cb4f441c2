package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/store"
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
	changeRows    bool     // a file of change rows: it has a column _change_type of its own
	only          []uint64 // bitset of the rows wanted, where only some are: those that a change of the vector concerns
	localName     string   // relative to the table, "" for an absolute path
	local         string   // local path, see locate
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

// missingFile is the error of a data file that the log names and the store lacks.
func missingFile(f *dataFile) error {
	return protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "the data file %s is in the table's log but not on the store", f.path).
		WithHint("it was deleted by hand, or by VACUUM with too short a retention while this version was still in use")
}

func damagedFile(f *dataFile, what string) error {
	return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the data file %s cannot be read: %s", f.path, what)
}

// diagnose turns DuckDB's error about a data file into Delta's, naming the table and the file. Errors of another kind
// (of a user's expression, a cancelled context) are left as they are.
func diagnose(err error, table string, files []*dataFile) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		if known.Table != "" {
			return err
		}
		named := *known
		return named.WithTable(table)
	}
	var e *duck.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == duck.ErrorOutOfMemory || e.Kind == duck.ErrorInterrupt {
		return err
	}
	f := namedFile(e.Message, files)
	if f == nil {
		return err
	}
	if strings.Contains(e.Message, "No files found") || strings.Contains(e.Message, "No such file") {
		return missingFile(f).(*protocol.Error).WithTable(table)
	}
	message, _, _ := strings.Cut(e.Message, "\n")
	return damagedFile(f, strings.ReplaceAll(message, f.local, f.path)).(*protocol.Error).WithTable(table)
}

// namedFile finds the file that a message of DuckDB mentions.
func namedFile(message string, files []*dataFile) *dataFile {
	for _, f := range files {
		if strings.Contains(message, f.local) || strings.Contains(message, duck.LiteralPath(f.local)) {
			return f
		}
	}
	return nil
}

// namesNoFile recognises the faults of Parquet's inner layers, which say what is wrong and not where.
func namesNoFile(err error) bool {
	var e *duck.Error
	return errors.As(err, &e) && (strings.Contains(e.Message, "TProtocolException") || strings.Contains(e.Message, "decompress"))
}

// nameBrokenFile puts the file into the message of such a fault: each is read on its own until one fails in the same way.
// A table whose files take longer than a few seconds gets the error as it is.
func nameBrokenFile(in *duck.Instance, err error, files []*dataFile) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var fault, e *duck.Error
	errors.As(err, &fault)
	message, _, _ := strings.Cut(fault.Message, "\n")
	for _, f := range files {
		read := in.Exec(ctx, "SELECT max(hash(t)) FROM read_parquet("+duck.QuoteString(duck.LiteralPath(f.local))+") AS t")
		if errors.As(read, &e) && strings.HasPrefix(e.Message, message) {
			return &duck.Error{Kind: fault.Kind, Message: fmt.Sprintf("%q: %s", f.local, message)}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}
