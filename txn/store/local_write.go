package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Every object is written under a hidden temporary name in its own folder, synced, and only then given its name, in one
// step of the file system; then the folder is synced (O2). A writer that dies in between leaves nothing but the hidden
// file, which TemporaryOf tells apart from everything else.

var temporaryCount atomic.Uint64

const temporarySuffix = ".tmp"

// TemporaryOf gives the name of the object that a hidden file of Local was to become; false for any other name.
// Such a file is nobody's once its writer is gone.
func TemporaryOf(name string) (object string, ok bool) {
	folder, base := "", name
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		folder, base = name[:slash+1], name[slash+1:]
	}
	base, hidden := strings.CutPrefix(base, ".")
	base, temporary := strings.CutSuffix(base, temporarySuffix)
	for range 2 { // the process and its counter
		dot := strings.LastIndexByte(base, '.')
		if dot < 0 || dot == len(base)-1 || strings.Trim(base[dot+1:], "0123456789") != "" {
			return "", false
		}
		base = base[:dot]
	}
	return folder + base, hidden && temporary && base != ""
}

// PutIfAbsent implements Store: a hard link, or a renaming that refuses to replace, gives the temporary file its name.
func (l *Local) PutIfAbsent(ctx context.Context, name string, data []byte) (Outcome, error) {
	if err := checkName(name); err != nil {
		return NotWritten, err
	}
	target := l.path(name)
	if _, err := os.Lstat(target); err == nil { // the common way to lose, before anything is written and synced
		return NotWritten, l.wrap("create", name, fs.ErrExist)
	}
	temporary, err := l.writeTemporary(ctx, name, func(w io.Writer) error { return writeAll(w, data) })
	if err != nil {
		return NotWritten, err
	}
	defer os.Remove(temporary)
	switch err := Publish(temporary, target); {
	case err == nil:
	case errors.Is(err, errors.ErrUnsupported):
		return l.createExclusively(name, data)
	default:
		return NotWritten, l.wrap("create", name, err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return Unknown, fmt.Errorf("create %s: %w: %w", l.describe(name), ErrOutcomeUnknown, err)
	}
	return Written, nil
}

// Publish gives a complete file, or a folder, its name on the local file system if that is free, in one step. A file may have its
// former name too afterwards. Where the name is taken that is fs.ErrExist, where the file system knows no such step
// errors.ErrUnsupported.
func Publish(temporary, target string) error {
	err := os.Link(temporary, target)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if renamed := renameNoReplace(temporary, target); renamed == nil || errors.Is(renamed, fs.ErrExist) || !noSuchOperation(renamed) {
		return renamed
	}
	if noSuchOperation(err) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// Sync makes the content of a file on the local file system, or the names in a folder, durable.
func Sync(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syncFolder(path)
	}
	return syncOpened(path, os.O_RDWR) // some systems sync only what may be written
}

func syncOpened(path string, flags int) error {
	opened, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

// createExclusively is the last resort, on file systems that have neither hard links nor a renaming that does not replace
// (some network and FUSE file systems): the file is created under its own name. Two writers still cannot both succeed, but
// a reader may see the file while it is short, and a crash of the machine in the middle leaves it so. A short commit is
// refused by readers, never taken for a whole one unless it ends at the end of a line, so that the bytes are written in
// one call.
func (l *Local) createExclusively(name string, data []byte) (Outcome, error) {
	target := l.path(name)
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return NotWritten, l.wrap("create", name, err)
	}
	if err = writeAll(file, data); err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		if removeErr := os.Remove(target); removeErr != nil {
			return Unknown, fmt.Errorf("create %s: %w: %w", l.describe(name), ErrOutcomeUnknown, err)
		}
		return NotWritten, l.wrap("create", name, err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return Unknown, fmt.Errorf("create %s: %w: %w", l.describe(name), ErrOutcomeUnknown, err)
	}
	return Written, nil
}

// Put implements Store, by renaming a complete temporary file.
func (l *Local) Put(ctx context.Context, name string, data []byte) error {
	return l.PutFrom(ctx, name, func(w io.Writer) error { return writeAll(w, data) })
}

// PutFrom implements Store.
func (l *Local) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	temporary, err := l.writeTemporary(ctx, name, write)
	if err != nil {
		return err
	}
	target := l.path(name)
	if err := os.Rename(temporary, target); err != nil {
		os.Remove(temporary)
		return l.wrap("write", name, err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return l.wrap("write", name, err)
	}
	return nil
}

func writeAll(w io.Writer, data []byte) error {
	_, err := io.Copy(w, bytes.NewReader(data))
	return err
}

// writeTemporary writes and syncs a hidden file beside the object, making the folder if it is not there.
func (l *Local) writeTemporary(ctx context.Context, name string, write func(io.Writer) error) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	target := l.path(name)
	last := ""
	if ctx.Value(rootStands{}) != nil {
		last = filepath.Clean(l.root)
	}
	temporary := filepath.Join(filepath.Dir(target),
		fmt.Sprintf(".%s.%d.%d%s", filepath.Base(target), os.Getpid(), temporaryCount.Add(1), temporarySuffix))
	var file *os.File
	var err error
	for range 5 { // an empty folder may be removed by whoever made it and has failed
		if err = makeFolders(filepath.Dir(target), last); err != nil {
			break
		}
		if file, err = os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return "", l.wrap("write", name, err)
	}
	if err = write(file); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(temporary)
		return "", l.wrap("write", name, err)
	}
	return temporary, nil
}

// MakeFolders creates a folder of the local file system and its missing parents below another, which must be there.
func MakeFolders(folder, below string) error {
	return makeFolders(filepath.Clean(folder), filepath.Clean(below))
}

// makeFolders creates the folder and its missing parents, each synced into its own parent (O2); last is a folder that is not made,
// "" for none.
func makeFolders(folder, last string) error {
	if stat, err := os.Stat(folder); err == nil {
		if !stat.IsDir() {
			return fmt.Errorf("%s is not a folder", folder)
		}
		return nil
	}
	parent := filepath.Dir(folder)
	if folder == last {
		return &fs.PathError{Op: "mkdir", Path: folder, Err: fs.ErrNotExist}
	}
	if parent != folder {
		if err := makeFolders(parent, last); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}
