package sqlengine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestListFiles: list_files gives the regular files below a folder with values that can be stored, follows no link, and reads no folder
// outside of the roots.
func TestListFiles(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	s := openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	moment := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	for path, content := range map[string]string{
		filepath.Join(root, "in", "a b.PNG"): "12345", filepath.Join(root, "in", "sub", "ü,\"x\".txt"): "", filepath.Join(root, "in", "sub", "plain"): "123",
		filepath.Join(outside, "secret.txt"): "secret",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in/out": outside, "in/file.txt": filepath.Join(outside, "secret.txt"), "in/again": filepath.Join(root, "in"), "gone": outside} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	in := filepath.Join(root, "in")
	real, err := filepath.EvalSymlinks(in)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, "SET TIME ZONE 'UTC'")
	want(t, s, "SELECT path = '"+real+"/a b.PNG', size, string(modification_time), file.uri = 'file://"+real+"/a%20b.PNG', file.size, file.content_type FROM list_files('"+in+"') WHERE size = 5",
		`[true,5,"2024-05-06 07:08:09.123456",true,5,"image/png"]`)
	want(t, s, "SELECT replace(path, '"+real+"', ''), replace(file.uri, '"+real+"', ''), file.content_type FROM list_files('"+in+"') ORDER BY 1",
		`["/a b.PNG","file:///a%20b.PNG","image/png"]`, `["/sub/plain","file:///sub/plain",null]`, `["/sub/ü,\"x\".txt","file:///sub/%C3%BC,%22x%22.txt","text/plain"]`)
	want(t, s, "SELECT count(*) FROM list_files('"+in+"', '*.txt')", `[1]`)
	want(t, s, "SELECT count(*) FROM list_files('"+in+"', 'sub/*')", `[2]`)
	want(t, s, "SELECT count(*) FROM list_files('file:"+in+"', '[b-z]*')", `[1]`)
	run(t, s, "CREATE TABLE inventory AS SELECT file, size FROM list_files('"+in+"')")
	want(t, s, "SELECT count(*), sum(file.size) FROM inventory", `[3,8]`)

	for _, path := range []string{outside, in + "/out", in + "/../..", root + "/gone", "/", outside + "/not there"} {
		refuse(t, s, "SELECT * FROM list_files('"+path+"')", "DELTASQL_PATH_FENCED")
	}
	refuse(t, s, "SELECT * FROM list_files('"+in+"/none')", "DELTA_PATH_DOES_NOT_EXIST")
	refuse(t, s, "SELECT * FROM list_files('"+in+"/sub/plain')", "INVALID_PARAMETER_VALUE")
	refuse(t, s, "SELECT * FROM list_files('"+in+"', '[')", "INVALID_PARAMETER_VALUE.PATTERN")
	refuse(t, s, "SELECT * FROM list_files('s3://b/a')", "DELTASQL_STORAGE")
	refuse(t, s, "SELECT * FROM list_files(NULL)", "INVALID_PARAMETER_VALUE")
	refuse(t, s, "SELECT * FROM list_files()", "INCORRECT_NUMBER_OF_ARGUMENTS")
	run(t, s, "SET deltasql_file_roots = '"+in+", "+outside+"'")
	want(t, s, "SELECT size, file.content_type FROM list_files('"+in+"/out')", `[6,"text/plain"]`)
	refuse(t, s, "SELECT * FROM list_files('"+root+"')", "DELTASQL_PATH_FENCED")

	// Whoever starts the engine says what paths statements may name; no session gets beyond that.
	fenced := openSession(t, openEngine(t, Options{Catalog: root, Roots: []string{root}}), SessionOptions{})
	run(t, fenced, "SET deltasql_file_roots = '/'")
	refuse(t, fenced, "SELECT * FROM list_files('"+outside+"')", "DELTASQL_PATH_FENCED")
	refuse(t, fenced, "SELECT * FROM list_files('"+in+"')", "DELTASQL_PATH_FENCED")
	run(t, fenced, "SET deltasql_file_roots = ''")
	want(t, fenced, "SELECT count(*) FROM list_files('"+in+"')", `[3]`)
}
