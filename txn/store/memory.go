package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"sort"
	"strings"
	"sync"
	"time"
)

// Memory holds its objects in memory; it is the store of tests and of tables that need not last.
type Memory struct {
	mu      sync.Mutex
	objects map[string]memoryObject
	writes  int64 // number of writes so far, which makes the ETag of each
	now     func() time.Time
}

type memoryObject struct {
	data []byte
	info FileInfo
}

// NewMemory gives an empty store; now is its clock, nil for the system's.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{objects: map[string]memoryObject{}, now: now}
}

// List implements Store.
func (m *Memory) List(ctx context.Context, folder, startAfter string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		if err := checkFolder(folder); err != nil {
			yield(FileInfo{}, err)
			return
		}
		infos, found := m.list(folder, startAfter)
		if !found && folder != "" {
			yield(FileInfo{}, fmt.Errorf("list %s: %w", folder, ErrNotFound))
			return
		}
		for _, info := range infos {
			if err := ctx.Err(); err != nil {
				yield(FileInfo{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// list gives the entries after startAfter, and whether the folder has any entry at all.
func (m *Memory) list(folder, startAfter string) (infos []FileInfo, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	folders := map[string]bool{}
	for name, object := range m.objects {
		rest, inside := strings.CutPrefix(name, folder)
		if !inside {
			continue
		}
		found = true
		info := object.info
		if first, _, nested := strings.Cut(rest, "/"); nested {
			info = FileInfo{Name: folder + first + "/"}
			if folders[info.Name] {
				continue
			}
			folders[info.Name] = true
		}
		if info.Name > startAfter {
			info.ETag = ""
			infos = append(infos, info)
		}
	}
	sort.Slice(infos, func(i, j int) bool { return infos[i].Name < infos[j].Name })
	return infos, found
}

func (m *Memory) get(ctx context.Context, operation, name string) (memoryObject, error) {
	if err := ctx.Err(); err != nil {
		return memoryObject{}, err
	}
	if err := checkName(name); err != nil {
		return memoryObject{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	object, ok := m.objects[name]
	if !ok {
		return memoryObject{}, fmt.Errorf("%s %s: %w", operation, name, ErrNotFound)
	}
	return object, nil
}

// Read implements Store.
func (m *Memory) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	object, err := m.get(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	if object.info.Size > limit {
		return nil, fmt.Errorf("read %s: %w: %d bytes, limit %d", name, ErrTooLarge, object.info.Size, limit)
	}
	return append([]byte(nil), object.data...), nil
}

// ReadRange implements Store.
func (m *Memory) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	object, err := m.get(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("read %s: range %d+%d is not valid", name, offset, length)
	}
	start := min(offset, object.info.Size)
	end := start + min(length, object.info.Size-start)
	return append([]byte(nil), object.data[start:end]...), nil
}

// Stat implements Store.
func (m *Memory) Stat(ctx context.Context, name string) (FileInfo, error) {
	object, err := m.get(ctx, "stat", name)
	return object.info, err
}

// PutIfAbsent implements Store.
func (m *Memory) PutIfAbsent(ctx context.Context, name string, data []byte) (Outcome, error) {
	if err := m.put(ctx, name, data, false); err != nil {
		return NotWritten, err
	}
	return Written, nil
}

// Put implements Store.
func (m *Memory) Put(ctx context.Context, name string, data []byte) error {
	return m.put(ctx, name, data, true)
}

// PutFrom implements Store.
func (m *Memory) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := checkName(name); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return m.put(ctx, name, data.Bytes(), true)
}

func (m *Memory) put(ctx context.Context, name string, data []byte, overwrite bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, exists := m.objects[name]; exists && !overwrite {
		return fmt.Errorf("create %s: %w", name, ErrExists)
	}
	m.writes++
	m.objects[name] = memoryObject{append([]byte(nil), data...), FileInfo{
		Name: name, Size: int64(len(data)), ModTimeMillis: m.now().UnixMilli(), ETag: fmt.Sprint(m.writes),
	}}
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// Locate implements Store: objects in memory have no path.
func (m *Memory) Locate(_ context.Context, name string) (string, error) {
	return "", fmt.Errorf("locate %s: %w", name, ErrNotLocal)
}
