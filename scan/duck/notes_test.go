package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// drain runs a statement to its end and counts its rows.
func drain(t *testing.T, in *Instance, sql string) int {
	t.Helper()
	s, err := in.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := 0
	for {
		batch, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Len()
	}
}

// TestNoteRowsOfBranch asserts that a note in a branch of a CASE is made for the rows that take it and for no others.
func TestNoteRowsOfBranch(t *testing.T) {
	in := openTest(t, Config{})
	notes, err := NewNotes(10)
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	for _, test := range []struct {
		sql   string
		total int64
		first string
	}{
		{"SELECT CASE WHEN i %% 1000 = 0 THEN delta_note(%d, 7, 'row ' || i) ELSE '' END FROM range(100000) t(i)", 100, "row "},
		{"SELECT CASE WHEN i = 3 THEN delta_note(%d, 7, CAST(i AS VARCHAR)) END FROM range(5) t(i)", 1, "3"},
		{"SELECT CASE WHEN 0 = 0 THEN delta_note_each(%d, 7, 'same') ELSE '' END FROM range(5) t(i)", 5, "same"},
		{"SELECT CASE WHEN 0 = 1 THEN delta_note_each(%d, 7, 'never') ELSE '' END FROM range(5) t(i)", 0, ""},
		{"SELECT i FROM range(50) t(i) WHERE i = 7 OR CASE WHEN i > 47 THEN delta_note(%d, 7, CAST(i AS VARCHAR)) IS NULL END", 2, "48"},
		{"SELECT CASE WHEN i = 1 THEN delta_note(%d, 7, NULL || i) END FROM range(5) t(i)", 1, ""},
	} {
		drain(t, in, fmt.Sprintf(test.sql, notes.ID()))
		kept, total := notes.Take()
		if total != test.total || int64(len(kept)) != min(total, 10) {
			t.Errorf("%s: %d notes, %d kept, want %d", test.sql, total, len(kept), test.total)
			continue
		}
		if len(kept) > 0 && (kept[0].Code != 7 || !strings.HasPrefix(kept[0].Text, test.first)) {
			t.Errorf("%s: first %v, want %q", test.sql, kept[0], test.first)
		}
	}
}

// TestNoteLimits asserts that long texts are cut between characters, that only so many notes are kept, and that a closed collector
// notes nothing.
func TestNoteLimits(t *testing.T) {
	in := openTest(t, Config{})
	notes, err := NewNotes(2)
	if err != nil {
		t.Fatal(err)
	}
	long := fmt.Sprintf("SELECT CASE WHEN i >= 0 THEN delta_note(%d, 1, 'x' || repeat('é', 1000) || i) END FROM range(3) t(i)", notes.ID())
	drain(t, in, long)
	kept, total := notes.Take()
	if total != 3 || len(kept) != 2 {
		t.Fatalf("%d of %d kept, want 2 of 3", len(kept), total)
	}
	if want := "x" + strings.Repeat("é", 255); kept[0].Text != want {
		t.Errorf("the text has %d bytes, want %d", len(kept[0].Text), len(want))
	}
	if again, total := notes.Take(); len(again) != 0 || total != 0 {
		t.Errorf("taken twice: %v of %d", again, total)
	}
	notes.Close()
	if rows := drain(t, in, long); rows != 3 {
		t.Errorf("%d rows after closing, want 3", rows)
	}
	if kept, total := notes.Take(); len(kept) != 0 || total != 0 {
		t.Errorf("noted after closing: %v of %d", kept, total)
	}
}
