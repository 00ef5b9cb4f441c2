package sqlengine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFence names paths outside of the roots in every statement that takes one, straight, by a link, by dots and by a pattern.
func TestFence(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.csv"), []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "open.csv"), []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	engine, err := Open(Options{Catalog: root, Roots: []string{root}, Threads: 1, Memory: "256MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.NewSession(SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, s, "CREATE TABLE t (a INT)")
	want(t, s, "SELECT count(*) FROM csv.`"+filepath.Join(root, "open.csv")+"`", "[1]")
	for _, path := range []string{
		outside, filepath.Join(root, "link"), filepath.Join(root, "link", "new"), root + "/../" + filepath.Base(outside), "file://" + outside, outside + "/*", root + "/link/*", root + "x",
	} {
		for _, sql := range []string{
			"SELECT * FROM delta.`PATH`", "SELECT * FROM csv.`PATH/secret.csv`", "SELECT * FROM csv.`PATH`", "DESCRIBE DETAIL delta.`PATH`", "SHOW FILES delta.`PATH`",
			"CREATE TABLE delta.`PATH/t` (a INT)", "CREATE TABLE u (a INT) LOCATION 'PATH/t'", "CREATE DATABASE d LOCATION 'PATH/d'", "ALTER TABLE t SET LOCATION 'PATH'",
			"INSERT INTO delta.`PATH` VALUES (1)", "COPY INTO t FROM 'PATH' FILEFORMAT = CSV", "LOAD DATA INFILE 'PATH/secret.csv' INTO TABLE t",
		} {
			refuse(t, s, strings.Replace(sql, "PATH", path, 1), "DELTASQL_PATH_FENCED")
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside of the roots lie %v, %v", entries, err)
	}
}
