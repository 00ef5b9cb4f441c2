package protocol

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestErrorClasses(t *testing.T) {
	state := regexp.MustCompile(`^[0-9A-Z]{5}$`)
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	for class, info := range classes {
		if !name.MatchString(string(class)) {
			t.Errorf("%s is no class name", class)
		}
		if !state.MatchString(info.SQLState) || strings.HasPrefix(info.SQLState, "00") {
			t.Errorf("%s: SQLSTATE %q", class, info.SQLState)
		}
		// Numbers of client errors would be malformed in an ERR packet.
		if info.Errno < 1000 || info.Errno >= 2000 && info.Errno < 3000 || info.Errno >= 5000 && info.Errno < 6000 || info.Errno > 65535 {
			t.Errorf("%s: errno %d", class, info.Errno)
		}
	}
	source, err := os.ReadFile("error_classes.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^\t"([A-Z0-9_]+)":`).FindAllSubmatch(source, -1) {
		listed = append(listed, string(m[1]))
	}
	if !slices.IsSorted(listed) || len(listed) != len(classes) {
		t.Errorf("the table must be in alphabetical order: %d of %d lines", len(listed), len(classes))
	}
}

// TestRaisedClassesAreRegistered finds the classes this package raises by their spelling in its source.
func TestRaisedClassesAreRegistered(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	raise := regexp.MustCompile(`NewError\("([A-Z0-9_.]+)"`)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		source, err := os.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range raise.FindAllSubmatch(source, -1) {
			if _, ok := InfoOf(Class(m[1])); !ok {
				t.Errorf("%s raises %s, which is not registered", entry.Name(), m[1])
			}
		}
	}
}

func TestErrorBehaviour(t *testing.T) {
	cause := errors.New("boom")
	err := NewError("DELTA_INVALID_LOG_FILE", "file %s is bad", "x").WithTable("db.t").WithHint("do %s", "this").WithCause(cause).At(3, 4)
	if got, want := err.Error(), "[DELTA_INVALID_LOG_FILE] file x is bad (table db.t) (line 3, column 4): boom"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err.Hint != "do this" || !errors.Is(err, cause) || !errors.Is(err, &Error{Class: "DELTA_INVALID_LOG_FILE"}) || errors.Is(err, &Error{Class: ClassInternal}) {
		t.Error("hint, cause or class is lost")
	}
	if ClassOf(cause) != ClassInternal || ClassOf(errors.Join(err)) != "DELTA_INVALID_LOG_FILE" {
		t.Error("ClassOf is wrong")
	}
	if info, ok := InfoOf("UNRESOLVED_COLUMN.WITH_SUGGESTION"); !ok || info.Errno != 1054 {
		t.Error("a sub-class has its parent's entry")
	}
}
