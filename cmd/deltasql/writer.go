package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
)

// writer renders the outcome of statements in one format. For a statement with a result set the calls are
// Begin, Batch*, End; for one without, Done. Fail may come instead of Done, or after Begin and some batches.
// Statement numbers count from 1 over the whole run.
type writer interface {
	Begin(statement int, columns []sqlengine.ColumnInfo) error
	Batch(batch *duck.Batch) error
	End(rows int64) error
	Done(statement int, affected int64) error
	// Fail tells what went wrong; place is file:line where the statement came from a file, else "".
	Fail(statement int, place string, err error) error
	// Flush hands everything written so far to the reader.
	Flush() error
}

// formats are the names of --format, in the order of the help text.
var formats = []string{"auto", "table", "csv", "tsv", "json", "jsonl", "markdown", "vertical", "events"}

// newWriter makes the writer of a format. Errors of statements go to errs, except in the events format.
func newWriter(format string, out *bufio.Writer, errs io.Writer, width int) (writer, error) {
	plain := output{out: out, errs: errs}
	switch format {
	case "events":
		return &eventsWriter{output: plain}, nil
	case "table":
		return &tableWriter{output: plain, width: width}, nil
	case "markdown":
		return &tableWriter{output: plain, style: markdownStyle}, nil
	case "vertical":
		return &verticalWriter{output: plain}, nil
	case "csv":
		return &delimitedWriter{output: plain, comma: ','}, nil
	case "tsv":
		return &delimitedWriter{output: plain, comma: '\t'}, nil
	case "json":
		return &jsonWriter{output: plain, array: true}, nil
	case "jsonl":
		return &jsonWriter{output: plain}, nil
	default:
		return nil, fmt.Errorf("unknown format %q: one of %v", format, formats)
	}
}

// output is what every writer shares: where results and errors go.
type output struct {
	out  *bufio.Writer
	errs io.Writer
}

func (o *output) Flush() error { return o.out.Flush() }

// Done says nothing: formats for programs and pipes show result sets only.
func (o *output) Done(int, int64) error { return nil }

// Fail prints `ERROR errno (sqlstate): [CLASS] message` and the hint, after what was already written.
func (o *output) Fail(_ int, place string, err error) error {
	if flushed := o.out.Flush(); flushed != nil {
		return flushed
	}
	_, wrote := fmt.Fprint(o.errs, errorText(err, place))
	return wrote
}

// errorText renders an error for people; place (file:line) leads it where the statement came from a file.
func errorText(err error, place string) string {
	fault := asError(err)
	info, _ := protocol.InfoOf(fault.Class)
	text := fmt.Sprintf("ERROR %d (%s): [%s] %s\n", info.Errno, info.SQLState, fault.Class, fault.Text())
	if place != "" {
		text = place + ": " + text
	}
	if fault.Hint != "" {
		text += "hint: " + fault.Hint + "\n"
	}
	return text
}

// asError is the classified error in the chain, or an internal one around an error that has no class.
func asError(err error) *protocol.Error {
	var fault *protocol.Error
	if errors.As(err, &fault) {
		return fault
	}
	return protocol.NewError(protocol.ClassInternal, "%v", err)
}
