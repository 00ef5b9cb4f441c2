package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
)

// The sentinels; errors of a store wrap them.
var (
	ErrNotFound       = errors.New("no such object")
	ErrExists         = errors.New("the object exists")
	ErrTooLarge       = errors.New("the object is larger than the limit")
	ErrOutcomeUnknown = errors.New("the outcome of the write is unknown")
	ErrThrottled      = errors.New("the store asks to slow down")
	ErrNotLocal       = errors.New("the object has no local path")
)

// Outcome is what PutIfAbsent achieved.
type Outcome uint8

// The outcomes. Unknown comes with an error that wraps ErrOutcomeUnknown.
const (
	NotWritten Outcome = iota
	Written
	Unknown
)

// FileInfo describes one object.
type FileInfo struct {
	Name          string // relative to the store's root; a folder's name ends in a slash
	Size          int64  // bytes; 0 for a folder
	ModTimeMillis int64  // milliseconds since 1970-01-01 UTC; 0 for a folder
	// ETag changes whenever the object is written anew, even with equal content. Stat always sets it; List may leave it empty.
	ETag string
}

// IsFolder tells folders from objects.
func (f FileInfo) IsFolder() bool { return strings.HasSuffix(f.Name, "/") }

// Store is the port. All methods are safe for concurrent use.
type Store interface {
	// List gives the objects and folders directly in folder ("" is the root, any other name ends in a slash) whose
	// names are greater than startAfter (a full name; "" starts at the beginning), in ascending order of their names.
	// A folder that is not there yields ErrNotFound, or nothing on stores without folders.
	List(ctx context.Context, folder, startAfter string) iter.Seq2[FileInfo, error]
	// Read gives a whole object; one larger than limit bytes is ErrTooLarge.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
	// ReadRange gives up to length bytes from offset; fewer only where the object ends.
	ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// Stat describes one object.
	Stat(ctx context.Context, name string) (FileInfo, error)
	// PutIfAbsent creates the object (O1, O2); NotWritten comes with ErrExists or the cause.
	PutIfAbsent(ctx context.Context, name string, data []byte) (Outcome, error)
	// Put writes the object, over an existing one if need be; readers see the old or the new content. It is for hints.
	Put(ctx context.Context, name string, data []byte) error
	// PutFrom is Put for an object too large to be held in memory: write is given where its bytes go, and once it has
	// returned nil the object appears, whole. Nothing is left of it where write or the store fails.
	PutFrom(ctx context.Context, name string, write func(io.Writer) error) error
	// Delete removes the object; one that is not there is no error.
	Delete(ctx context.Context, name string) error
	// Locate gives a local path at which the object can be read; ErrNotLocal where there is none.
	// It does not check that the object exists.
	Locate(ctx context.Context, name string) (string, error)
}

// rootStands is the key of what RootStands puts into a context.
type rootStands struct{}

// RootStands gives a context for writes to a store whose root is known to have been there. A root that was taken away meanwhile, with
// what a table has, is not made anew for such a write, which is ErrNotFound then. Stores without folders have no root to miss.
func RootStands(ctx context.Context) context.Context {
	return context.WithValue(ctx, rootStands{}, true)
}

// checkName refuses names that could leave the root or that no store can hold.
func checkName(name string) error {
	if name == "" || !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return fmt.Errorf("%q is not the name of an object", name)
	}
	return nil
}

// checkFolder is checkName for the folder argument of List.
func checkFolder(folder string) error {
	if folder == "" {
		return nil
	}
	trimmed, ok := strings.CutSuffix(folder, "/")
	if !ok || checkName(trimmed) != nil {
		return fmt.Errorf("%q is not the name of a folder", folder)
	}
	return nil
}
