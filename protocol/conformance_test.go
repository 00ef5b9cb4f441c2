package protocol

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestConformanceListIsWhole reads docs/conformance.md: each of the 190 statements is there once, in order, and each test that it names
// exists. The recorded scripts lie outside the project, so that only the test that runs them is looked for.
func TestConformanceListIsWhole(t *testing.T) {
	text, err := os.ReadFile("../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \|$`)
	named := regexp.MustCompile(`\bTest\w+`)
	next := 1
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if m[1] != strconv.Itoa(next) {
			t.Fatalf("statement %s stands where %d should", m[1], next)
		}
		next++
		for _, name := range named.FindAllString(m[2], -1) {
			if !tests[name] {
				t.Errorf("statement %s: there is no test %s", m[1], name)
			}
		}
	}
	if next != 191 {
		t.Errorf("the list ends before statement %d", next)
	}
}
