package sqlengine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// An export without OVERWRITE takes a free name, and never that of something which came meanwhile, whatever the file system can do.
func TestExportTakesOnlyFreeNames(t *testing.T) {
	lay := func(path, text string, folder bool) {
		t.Helper()
		if folder {
			if err := os.Mkdir(path, 0o777); err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(path, "f")
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	content := func(path string, folder bool) string {
		if folder {
			path = filepath.Join(path, "f")
		}
		text, _ := os.ReadFile(path)
		return string(text)
	}
	for _, folder := range []bool{false, true} {
		o := &exportOptions{}
		if folder {
			o.partitionBy = []string{"p"}
		}
		for name, place := range map[string]func(written, path string) error{"settle": o.settle, "takeName": takeName} {
			in := t.TempDir()
			written, free, taken := filepath.Join(in, ".w"), filepath.Join(in, "free"), filepath.Join(in, "taken")
			lay(written, "new", folder)
			if err := place(written, free); err != nil || content(free, folder) != "new" {
				t.Errorf("%s, a folder %t: %v, content %q", name, folder, err, content(free, folder))
			}
			if _, err := os.Lstat(written); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, a folder %t: the hidden name is left", name, folder)
			}
			if err := os.RemoveAll(written); err != nil {
				t.Fatal(err)
			}
			lay(written, "new", folder)
			lay(taken, "theirs", folder)
			if err := place(written, taken); err == nil || content(taken, folder) != "theirs" {
				t.Errorf("%s, a folder %t, over what is there: %v, content %q", name, folder, err, content(taken, folder))
			}
		}
	}
}
