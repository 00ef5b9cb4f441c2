package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"
)

// Local is a folder of the local file system.
//
// PutIfAbsent writes a hidden temporary file, syncs it and links it under its name: the link fails if the name is
// taken, so the object appears whole or not at all. Where the file system has no links it creates the file exclusively.
type Local struct {
	root string
}

// NewLocal gives a store for a folder, which need not exist. A relative folder is taken from the current one, now.
func NewLocal(root string) (*Local, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", root, err)
	}
	return &Local{root: absolute}, nil
}

// Root is the absolute path of the folder.
func (l *Local) Root() string { return l.root }

// List implements Store. The folder is read once, at the start.
func (l *Local) List(ctx context.Context, folder, startAfter string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		if err := checkFolder(folder); err != nil {
			yield(FileInfo{}, err)
			return
		}
		entries, err := l.entries(folder, startAfter)
		if err != nil {
			yield(FileInfo{}, l.wrap("list", folder, err))
			return
		}
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				yield(FileInfo{}, err)
				return
			}
			info, err := entry.info(folder)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted since the folder was read
			}
			if err != nil {
				err = l.wrap("list", entry.name, err)
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// localEntry is a name of a folder (folders end in a slash) with what describes it later.
type localEntry struct {
	name string
	fs.DirEntry
}

func (e localEntry) info(folder string) (FileInfo, error) {
	if strings.HasSuffix(e.name, "/") {
		return FileInfo{Name: folder + e.name}, nil
	}
	stat, err := e.Info()
	if err == nil && stat.Mode()&fs.ModeSymlink != 0 {
		return FileInfo{}, fs.ErrNotExist // a dangling link; entries resolved the others
	}
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{Name: folder + e.name, Size: stat.Size(), ModTimeMillis: stat.ModTime().UnixMilli()}, nil
}

// entries reads a folder: the names after startAfter in byte order, folders with their slash, links resolved.
func (l *Local) entries(folder, startAfter string) ([]localEntry, error) {
	opened, err := os.Open(l.path(folder))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	listed, err := opened.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	after, inside := strings.CutPrefix(startAfter, folder)
	if !inside {
		after = ""
		if startAfter > folder {
			return nil, nil
		}
	}
	entries := make([]localEntry, 0, len(listed))
	for _, entry := range listed {
		name := entry.Name()
		if entry.Type()&fs.ModeSymlink != 0 {
			if target, err := os.Stat(filepath.Join(l.path(folder), name)); err == nil {
				entry = fs.FileInfoToDirEntry(target)
			}
		}
		if entry.IsDir() {
			name += "/"
		}
		if name > after {
			entries = append(entries, localEntry{name, entry})
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].name < entries[j].name })
	return entries, nil
}

// Read implements Store.
func (l *Local) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	file, size, err := l.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > limit {
		return nil, fmt.Errorf("read %s: %w: %d bytes, limit %d", l.describe(name), ErrTooLarge, size, limit)
	}
	// One byte more than the size at opening shows whether the file grew; growth beyond the limit is refused too.
	data := make([]byte, 0, size+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, l.wrap("read", name, err)
		}
		if int64(len(data)) > limit {
			return nil, fmt.Errorf("read %s: %w: limit %d", l.describe(name), ErrTooLarge, limit)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// ReadRange implements Store.
func (l *Local) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("read %s: range %d+%d is not valid", l.describe(name), offset, length)
	}
	file, size, err := l.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, max(0, min(length, size-offset)))
	n, err := file.ReadAt(data, offset)
	if err != nil && err != io.EOF {
		return nil, l.wrap("read", name, err)
	}
	return data[:n], nil
}

func (l *Local) open(ctx context.Context, name string) (*os.File, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := checkName(name); err != nil {
		return nil, 0, err
	}
	file, err := os.Open(l.path(name))
	if err != nil {
		return nil, 0, l.wrap("read", name, err)
	}
	stat, err := file.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		file.Close()
		return nil, 0, l.wrap("read", name, err)
	}
	return file, stat.Size(), nil
}

// Stat implements Store.
func (l *Local) Stat(ctx context.Context, name string) (FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return FileInfo{}, err
	}
	if err := checkName(name); err != nil {
		return FileInfo{}, err
	}
	stat, err := os.Stat(l.path(name))
	if err != nil {
		return FileInfo{}, l.wrap("stat", name, err)
	}
	if stat.IsDir() {
		return FileInfo{}, l.wrap("stat", name, fs.ErrNotExist)
	}
	return FileInfo{
		Name: name, Size: stat.Size(), ModTimeMillis: stat.ModTime().UnixMilli(),
		ETag: fmt.Sprintf("%d-%d-%d", stat.Size(), stat.ModTime().UnixNano(), inode(stat)),
	}, nil
}

var temporaryCount atomic.Uint64

// PutIfAbsent implements Store.
func (l *Local) PutIfAbsent(ctx context.Context, name string, data []byte) (Outcome, error) {
	temporary, err := l.writeTemporary(ctx, name, data)
	if err != nil {
		return NotWritten, err
	}
	defer os.Remove(temporary)
	target := l.path(name)
	if err := os.Link(temporary, target); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return NotWritten, l.wrap("create", name, err)
		}
		return l.createExclusively(name, data)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return Unknown, fmt.Errorf("create %s: %w: %w", l.describe(name), ErrOutcomeUnknown, err)
	}
	return Written, nil
}

// createExclusively serves file systems without hard links. A crash in the middle leaves a short file under the name.
func (l *Local) createExclusively(name string, data []byte) (Outcome, error) {
	target := l.path(name)
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return NotWritten, l.wrap("create", name, err)
	}
	if _, err = file.Write(data); err == nil {
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
	temporary, err := l.writeTemporary(ctx, name, data)
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

// writeTemporary writes and syncs a hidden file beside the object, making the folder if it is not there.
func (l *Local) writeTemporary(ctx context.Context, name string, data []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	target := l.path(name)
	if err := l.makeFolders(filepath.Dir(target)); err != nil {
		return "", l.wrap("write", name, err)
	}
	temporary := filepath.Join(filepath.Dir(target),
		fmt.Sprintf(".%s.%d.%d.tmp", filepath.Base(target), os.Getpid(), temporaryCount.Add(1)))
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return "", l.wrap("write", name, err)
	}
	if _, err = file.Write(data); err == nil {
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

// makeFolders creates the folder and its missing parents, each synced into its own parent (O2).
func (l *Local) makeFolders(folder string) error {
	if stat, err := os.Stat(folder); err == nil {
		if !stat.IsDir() {
			return fmt.Errorf("%s is not a folder", folder)
		}
		return nil
	}
	parent := filepath.Dir(folder)
	if parent != folder {
		if err := l.makeFolders(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}

// Delete implements Store.
func (l *Local) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	if err := os.Remove(l.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l.wrap("delete", name, err)
	}
	return nil
}

// Locate implements Store.
func (l *Local) Locate(_ context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return l.path(name), nil
}

func (l *Local) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

// describe is how errors name an object: its full path.
func (l *Local) describe(name string) string { return l.path(name) }

// wrap maps the errors of the file system to the sentinels.
func (l *Local) wrap(operation, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %w", operation, l.describe(name), ErrNotFound)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %s: %w", operation, l.describe(name), ErrExists)
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err // its text repeats operation and path
	}
	return fmt.Errorf("%s %s: %w", operation, l.describe(name), err)
}
