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
	"syscall"
)

// Local is a folder of the local file system.
//
// How it writes stands in local_write.go.
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
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %w", operation, l.describe(name), ErrNotFound)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %s: %w", operation, l.describe(name), ErrExists)
	}
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch { // their texts repeat operation and path
	case errors.As(err, &pathError):
		err = pathError.Err
	case errors.As(err, &linkError):
		err = linkError.Err
	}
	return fmt.Errorf("%s %s: %w", operation, l.describe(name), err)
}
