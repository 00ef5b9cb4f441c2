package duck

import (
	"strings"
)

// ErrorKind is DuckDB's own name of a family of errors, as its messages begin ("Conversion Error: ...").
type ErrorKind string

// The kinds that callers tell apart; any other prefix DuckDB prints is kept as it is.
const (
	ErrorConversion     ErrorKind = "Conversion"
	ErrorOutOfRange     ErrorKind = "Out of Range"
	ErrorInvalidInput   ErrorKind = "Invalid Input"
	ErrorInvalid        ErrorKind = "Invalid" // of the libraries inside DuckDB
	ErrorBinder         ErrorKind = "Binder"
	ErrorCatalog        ErrorKind = "Catalog"
	ErrorParser         ErrorKind = "Parser"
	ErrorIO             ErrorKind = "IO"
	ErrorOutOfMemory    ErrorKind = "OutOfMemory"
	ErrorInterrupt      ErrorKind = "Interrupt"
	ErrorInternal       ErrorKind = "INTERNAL"
	ErrorFatal          ErrorKind = "FATAL"
	ErrorNotImplemented ErrorKind = "Not implemented"
	ErrorUnknown        ErrorKind = ""
)

// Error is a fault that DuckDB reported.
type Error struct {
	Kind    ErrorKind
	Message string // without the prefix that names the kind
	Stack   string // DuckDB's own, of an INTERNAL error; for reports of faults, not for users
}

func (e *Error) Error() string {
	if e.Kind == ErrorUnknown {
		return "DuckDB: " + e.Message
	}
	return "DuckDB " + string(e.Kind) + " error: " + e.Message
}

// poisons says that the instance cannot be trusted, or used, any more.
func (e *Error) poisons() bool { return e.Kind == ErrorInternal || e.Kind == ErrorFatal }

// maxKindLength bounds the prefix that is taken for a kind.
const maxKindLength = 40

// newError splits DuckDB's text into kind and message.
func newError(text string) *Error {
	const mark = " Error: "
	at := strings.Index(text, mark)
	if at <= 0 || at > maxKindLength || strings.ContainsAny(text[:at], "\n'\"") {
		return &Error{Message: text}
	}
	e := &Error{Kind: ErrorKind(text[:at]), Message: text[at+len(mark):]}
	switch e.Kind {
	case "INTERRUPT":
		e.Kind = ErrorInterrupt
	case "Out of Memory":
		e.Kind = ErrorOutOfMemory
	case "Internal":
		e.Kind = ErrorInternal
	}
	if e.poisons() {
		e.Message, e.Stack, _ = strings.Cut(e.Message, "\n\nStack Trace:")
	}
	return e
}
