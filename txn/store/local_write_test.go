package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func newLocal(t *testing.T) *Local {
	t.Helper()
	s, err := NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leftovers are the files of a folder but for the named ones.
func leftovers(t *testing.T, s *Local, wanted ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(s.Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(s.Root(), path)
		for _, want := range wanted {
			if name == want {
				return nil
			}
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPutFromShowsWholeObjectsOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		if err := s.Put(ctx, "f", []byte("old")); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("no space left on device")
		err := s.PutFrom(ctx, "f", func(w io.Writer) error {
			if _, err := w.Write([]byte("half")); err != nil {
				return err
			}
			if data, err := s.Read(ctx, "f", 100); string(data) != "old" {
				t.Errorf("while it is written: %q %v", data, err)
			}
			return broken
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "f") {
			t.Errorf("a failed write: %v", err)
		}
		if data, err := s.Read(ctx, "f", 100); string(data) != "old" {
			t.Errorf("after a failed write: %q %v", data, err)
		}
		if err := s.PutFrom(ctx, "f", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Read(ctx, "f", 100); string(data) != "new" || len(names(t, s, "", "")) != 1 {
			t.Errorf("after the write: %q %v, %q", data, err, names(t, s, "", ""))
		}
	})
}

func TestLocalLeavesNothingBehind(t *testing.T) {
	s, ctx := newLocal(t), context.Background()
	if err := s.PutFrom(ctx, "a/b", func(io.Writer) error { return syscall.ENOSPC }); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "a/b") {
		t.Errorf("a full disk: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	err := s.PutFrom(cancelled, "a/c", func(io.Writer) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left := leftovers(t, s); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestLocalWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s := newLocal(t)
	if err := os.Chmod(s.Root(), 0o555); err != nil {
		t.Fatal(err)
	}
	outcome, err := s.PutIfAbsent(context.Background(), "x", []byte("1"))
	if outcome != NotWritten || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Root()) {
		t.Error(outcome, err)
	}
}

// A folder that is a file, and a file where a folder must be: clear errors, nothing left.
func TestLocalWhereAFileIsInTheWay(t *testing.T) {
	s, ctx := newLocal(t), context.Background()
	if err := s.Put(ctx, "log", []byte("a file")); err != nil {
		t.Fatal(err)
	}
	if outcome, err := s.PutIfAbsent(ctx, "log/1", nil); outcome != NotWritten || err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Error(outcome, err)
	}
	if left := leftovers(t, s, "log"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The renaming that does not replace keeps O1 where there are no hard links.
func TestRenameDoesNotReplace(t *testing.T) {
	folder := t.TempDir()
	const writers = 8
	var group sync.WaitGroup
	won := make([]bool, writers)
	for i := range writers {
		group.Go(func() {
			from := filepath.Join(folder, fmt.Sprint(i))
			if err := os.WriteFile(from, []byte(fmt.Sprint(i)), 0o666); err != nil {
				t.Error(err)
			}
			err := renameNoReplace(from, filepath.Join(folder, "target"))
			if err != nil && !errors.Is(err, fs.ErrExist) && !noSuchOperation(err) {
				t.Error(err)
			}
			won[i] = err == nil
		})
	}
	group.Wait()
	data, err := os.ReadFile(filepath.Join(folder, "target"))
	if err != nil {
		t.Skip("this file system cannot do it")
	}
	winners := 0
	for i, w := range won {
		if w {
			winners++
			if string(data) != fmt.Sprint(i) {
				t.Errorf("%q was written over %d", data, i)
			}
		}
	}
	if winners != 1 {
		t.Errorf("%d winners", winners)
	}
}

// The last resort, without links and renaming: still one winner, and a failed write leaves nothing.
func TestCreateExclusively(t *testing.T) {
	s := newLocal(t)
	if outcome, err := s.createExclusively("x", []byte("1")); outcome != Written || err != nil {
		t.Fatal(outcome, err)
	}
	if outcome, err := s.createExclusively("x", []byte("2")); outcome != NotWritten || !errors.Is(err, ErrExists) {
		t.Error(outcome, err)
	}
	if data, _ := s.Read(context.Background(), "x", 9); string(data) != "1" {
		t.Errorf("%q", data)
	}
}

func TestTemporaryOf(t *testing.T) {
	for name, object := range map[string]string{
		"_delta_log/.00000000000000000001.json.12.3.tmp": "_delta_log/00000000000000000001.json", ".a.1.2.tmp": "a",
		".a.1.tmp": "", "a.1.2.tmp": "", ".a.1.x.tmp": "", "..1.2.tmp": "", ".a.1.2": "", "_delta_log/.00000000000000000001.json.crc": "", "x/.tmp": "",
	} {
		got, ok := TemporaryOf(name)
		if ok != (object != "") || ok && got != object {
			t.Errorf("%s: %q %v", name, got, ok)
		}
	}
	s := newLocal(t)
	temporary, err := s.writeTemporary(context.Background(), "log/1.json", func(io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	relative, _ := filepath.Rel(s.Root(), temporary)
	if object, ok := TemporaryOf(filepath.ToSlash(relative)); !ok || object != "log/1.json" {
		t.Errorf("%s: %q %v", relative, object, ok)
	}
}
