package sqlengine

import (
	"fmt"
	"strconv"

	"deltasql/scan/duck"
)

// warn adds a warning; beyond max_error_count it is counted and not kept.
func (st *statement) warn(code int, format string, args ...any) {
	if len(st.warnings) >= st.mostWarnings() {
		st.dropped++
		return
	}
	st.warnings = append(st.warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// mostWarnings is how many warnings of a statement are kept.
func (st *statement) mostWarnings() int {
	n, err := strconv.Atoi(st.session.settings.get("max_error_count"))
	if err != nil {
		return 0
	}
	return n
}

func isWarningCount(text string) error { return inRange(text, 0, 65535, "warnings") }

// notes names the collector of what the statement's functions note of values that they bend. It is made for the first function
// that may have something to note, lives as long as the statement and gives its notes as warnings at the end.
func (st *statement) notes() int64 {
	if st.noting == nil {
		notes, err := duck.NewNotes(st.mostWarnings())
		if err != nil {
			return 0 // there is no memory for warnings: no collector has this number
		}
		st.noting = notes
		st.onClose(func() {
			st.takeNotes()
			notes.Close()
			st.noting = nil
		})
	}
	return st.noting.ID()
}

// takeNotes makes warnings of what was noted so far.
func (st *statement) takeNotes() {
	if st.noting == nil {
		return
	}
	kept, total := st.noting.Take()
	for _, note := range kept {
		st.warn(note.Code, "%s", note.Text)
	}
	st.dropped += total - int64(len(kept))
}

// forgetNotes drops what was noted so far, before a statement or a part of it runs again.
func (st *statement) forgetNotes() {
	if st.noting != nil {
		st.noting.Take()
	}
}

// warningCount is the number of the statement's warnings so far.
func (st *statement) warningCount() int64 {
	st.takeNotes()
	return int64(len(st.warnings)) + st.dropped
}
