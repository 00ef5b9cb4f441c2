package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// Class is the stable name of a fault, spelled as Delta or Spark spell it; classes of our own start with DELTASQL_.
// Programs match on the class (errors.As, ClassOf), never on the text of a message.
type Class string

// Error is the one error type that crosses a package's edge.
// Message says what is wrong and with which table, file, line or column; Hint says what the user can do about it.
type Error struct {
	Class   Class
	Message string
	Hint    string
	Table   string // the table as the user named it, or its path; empty where none is involved
	Line    int    // 1-based place in the SQL text; 0 where there is none
	Column  int    // 1-based, in characters
	Cause   error
	Errno   int // MySQL's number where the context has another than the class; 0: the class's
}

// NewError makes an error of a registered class; the message is formatted as by fmt.Sprintf.
func NewError(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}

// WithHint adds the remedy.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithErrno sets MySQL's number for this context, where that of the class is too general.
func (e *Error) WithErrno(number int) *Error {
	e.Errno = number
	return e
}

// MySQLNumber is the error's number for MySQL clients; 1105 for a class without one.
func (e *Error) MySQLNumber() int {
	if e.Errno != 0 {
		return e.Errno
	}
	if info, ok := InfoOf(e.Class); ok {
		return info.Errno
	}
	return 1105
}

// WithTable names the table concerned.
func (e *Error) WithTable(table string) *Error {
	e.Table = table
	return e
}

// At places the error in the SQL text (1-based).
func (e *Error) At(line, column int) *Error {
	e.Line, e.Column = line, column
	return e
}

// WithCause keeps the error that led to this one; its text becomes part of the message.
func (e *Error) WithCause(cause error) *Error {
	e.Cause = cause
	return e
}

// Error is "[CLASS] " and Text.
func (e *Error) Error() string { return "[" + string(e.Class) + "] " + e.Text() }

// Text is the message, then the table, the place and the cause where they are known.
func (e *Error) Text() string {
	var text strings.Builder
	text.WriteString(e.Message)
	if e.Table != "" && !strings.Contains(e.Message, e.Table) {
		fmt.Fprintf(&text, " (table %s)", e.Table)
	}
	if e.Line > 0 {
		fmt.Fprintf(&text, " (line %d, column %d)", e.Line, e.Column)
	}
	if e.Cause != nil {
		fmt.Fprintf(&text, ": %v", e.Cause)
	}
	return text.String()
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is compare classes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Class == e.Class
}

// ClassOf is the class of the outermost Error in the chain, or DELTASQL_INTERNAL for an error that has none.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ClassInternal
}

// ClassInfo is what the registry knows of a class.
type ClassInfo struct {
	SQLState string // five characters, Delta's or Spark's
	Errno    int    // MySQL's number
}

// InfoOf looks a class up; a sub-class (CLASS.SUB) has its parent's entry.
func InfoOf(class Class) (ClassInfo, bool) {
	name, _, _ := strings.Cut(string(class), ".")
	info, ok := classes[Class(name)]
	return info, ok
}
