package main

import (
	"encoding/json"
	"strconv"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// eventsWriter is the machine-readable result stream: one JSON value a line; a statement with a result set has a header line
// with its columns, a line an array a row, and every statement ends with exactly one line of rows, affected or error.
type eventsWriter struct {
	output
	statement int
	types     []protocol.DataType
	line      []byte
}

type eventColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

type eventError struct {
	Class    string `json:"class"`
	SQLState string `json:"sqlstate"`
	Errno    int    `json:"errno"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

func (w *eventsWriter) Begin(statement int, columns []sqlengine.ColumnInfo) error {
	w.statement = statement
	w.types = w.types[:0]
	header := make([]eventColumn, len(columns))
	for i, column := range columns {
		header[i] = eventColumn{column.Name, column.Type.String(), column.Nullable}
		w.types = append(w.types, column.Type)
	}
	return w.event(struct {
		Statement int           `json:"statement"`
		Columns   []eventColumn `json:"columns"`
	}{statement, header})
}

func (w *eventsWriter) Batch(batch *duck.Batch) error {
	for row := range batch.Len() {
		w.line = append(w.line[:0], '[')
		for i := range w.types {
			if i > 0 {
				w.line = append(w.line, ',')
			}
			w.line = render.AppendJSON(w.line, batch.Vector(i), row, &w.types[i], render.VariantWrapped)
		}
		w.line = append(w.line, ']', '\n')
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

func (w *eventsWriter) End(rows int64) error { return w.ended(w.statement, "rows", rows) }

func (w *eventsWriter) Done(statement int, affected int64) error {
	return w.ended(statement, "affected", affected)
}

func (w *eventsWriter) Fail(statement int, _ string, err error) error {
	fault := asError(err)
	info, _ := protocol.InfoOf(fault.Class)
	return w.event(struct {
		Statement int        `json:"statement"`
		Error     eventError `json:"error"`
	}{statement, eventError{
		Class: string(fault.Class), SQLState: info.SQLState, Errno: info.Errno,
		Message: fault.Error(), Hint: fault.Hint, Line: fault.Line, Column: fault.Column,
	}})
}

func (w *eventsWriter) ended(statement int, what string, n int64) error {
	line := append([]byte(`{"statement":`), strconv.Itoa(statement)...)
	line = append(line, `,"`+what+`":`...)
	line = strconv.AppendInt(line, n, 10)
	if _, err := w.out.Write(append(line, '}', '\n')); err != nil {
		return err
	}
	return w.out.Flush()
}

// event writes a value as a line; < and > of type names stay as they are.
func (w *eventsWriter) event(value any) error {
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return w.out.Flush()
}
