package duck

/*
#include "notes.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Note is something that a function had to tell about a value: a number and a text of up to 512 bytes.
type Note struct {
	Code int
	Text string
}

// Notes gathers what the functions of one statement note while DuckDB computes, in no certain order:
//
//	delta_note(notes BIGINT, code INTEGER, text VARCHAR)      -> VARCHAR  always NULL; notes once for each row it is called for
//	delta_note_each(notes BIGINT, code INTEGER, text VARCHAR) -> VARCHAR  the same
//
// Put the call where DuckDB comes only for the rows it is about: into a branch of a CASE. delta_note is an ordinary function to DuckDB,
// which computes it ahead once where its arguments are constants, so its text must hang on the row; a filter that has it can still
// be moved. delta_note_each is for constants: it is called for every row, and a filter that has it stays where it is.
// A statement that runs again must take and drop what the first run has noted.
type Notes struct{ id int64 }

// NewNotes makes a collector that keeps the first limit notes and counts all. Close it.
func NewNotes(limit int) (*Notes, error) {
	id := int64(C.deltasql_notes_open(C.uint64_t(max(limit, 0))))
	if id == 0 {
		return nil, errors.New("no memory for a statement's notes")
	}
	return &Notes{id: id}, nil
}

// ID is the number that SQL names the collector by.
func (n *Notes) ID() int64 { return n.id }

// Take gives what was noted since the last call: the notes that were kept, and how many there were.
func (n *Notes) Take() (kept []Note, total int64) {
	var count, all C.uint64_t
	notes := C.deltasql_notes_take(C.int64_t(n.id), &count, &all)
	defer C.deltasql_notes_free(notes, count)
	for _, note := range unsafe.Slice(notes, int(count)) {
		kept = append(kept, Note{Code: int(note.code), Text: C.GoStringN(note.text, C.int(note.length))})
	}
	return kept, int64(all)
}

// Close forgets the collector. A statement that still names it notes nothing.
func (n *Notes) Close() { C.deltasql_notes_close(C.int64_t(n.id)) }
