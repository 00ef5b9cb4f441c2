package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCopyFiles(t *testing.T) {
	in, err := Open(Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	folder := filepath.Join(t.TempDir(), "it's [here]")
	files, err := in.Copy(context.Background(), Copy{
		SQL:  "SELECT i AS a, CASE WHEN i > 1 THEN {'b\"c': i::DOUBLE / 0.1, 'l': [i, NULL]} END AS s, repeat('x', 300) AS t, CASE WHEN i < 2 THEN 'vk' ELSE 'n' END AS k FROM range($1) t(i)",
		Args: []any{int64(4)}, Folder: folder, Options: []string{"COMPRESSION zstd", "PARTITION_BY (k)"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
		info, err := os.Stat(f.Path)
		if err != nil || info.Size() != f.Bytes || f.Rows != 2 {
			t.Errorf("%s: %v, %d bytes, %d rows", f.Path, err, f.Bytes, f.Rows)
		}
		a, inner, list, text := f.Columns[ColumnKey("a")], f.Columns[ColumnKey("s", `b"c`)], f.Columns[ColumnKey("s", "l")], f.Columns[ColumnKey("t")]
		if text.MinExact || text.MaxExact || len(text.Min) != 256 || len(text.Max) != 256 || text.Max <= text.Min {
			t.Errorf("a string that was cut: %+v", text)
		}
		switch f.Keys["k"] {
		case "vk":
			if a.Min != "0" || a.Max != "1" || !a.MinExact || !a.MaxExact || a.Values != 2 || a.Nulls != 0 {
				t.Errorf("a: %+v", a)
			}
			if inner.Values-inner.Nulls != 0 || inner.HasMin || list.Values-list.Nulls != 0 {
				t.Errorf("members of NULL: %+v, %+v", inner, list)
			}
		case "n":
			if inner.Min != "20.0" || inner.Max != "30.0" || inner.Values-inner.Nulls != 2 || list.Values-list.Nulls != 2 {
				t.Errorf("members: %+v, %+v", inner, list)
			}
		default:
			t.Errorf("keys %v", f.Keys)
		}
	}
}

func TestCopyNothing(t *testing.T) {
	in, err := Open(Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	files, err := in.Copy(context.Background(), Copy{SQL: "SELECT 1 AS a WHERE false", Folder: filepath.Join(t.TempDir(), "f")})
	if err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestCopyFails: what DuckDB leaves of a COPY that fails or is cancelled is removed.
func TestCopyFails(t *testing.T) {
	in, err := Open(Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	parent := t.TempDir()
	folder := filepath.Join(parent, "f")
	empty := func(what string) {
		t.Helper()
		if entries, _ := os.ReadDir(parent); len(entries) > 0 {
			t.Errorf("%s: %v is left", what, entries)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = in.Copy(ctx, Copy{SQL: "SELECT hash(i) AS a FROM range(1000000000) t(i)", Folder: folder, FileBytes: 1_000_000})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	empty("cancelled")
	_, err = in.Copy(context.Background(), Copy{SQL: "SELECT CASE WHEN i = 900000 THEN error('broken') ELSE 'a' END AS a FROM range(1000000) t(i)", Folder: folder})
	var fault *Error
	if !errors.As(err, &fault) {
		t.Errorf("broken: %v", err)
	}
	empty("broken")
	if _, err = in.Copy(context.Background(), Copy{SQL: "SELECT", Folder: folder}); err == nil {
		t.Error("a query that is none passes")
	}
	empty("no query")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = in.Copy(context.Background(), Copy{SQL: "SELECT 1 AS a", Folder: folder}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a folder that is there: %v", err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 1 {
		t.Error("a folder that was there is removed")
	}
}
