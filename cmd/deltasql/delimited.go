package main

import (
	"bytes"

	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// delimitedWriter writes CSV (RFC 4180: quotes where needed, NULL is an empty field, an empty string is "") and TSV (as the
// MySQL client's batch mode: tab, newline and backslash escaped, NULL is NULL), each with a header line.
type delimitedWriter struct {
	output
	comma   byte
	columns []sqlengine.ColumnInfo
	field   []byte
}

func (w *delimitedWriter) Begin(_ int, columns []sqlengine.ColumnInfo) error {
	w.columns = columns
	for i, column := range columns {
		w.separate(i)
		w.write([]byte(column.Name), true)
	}
	return w.out.WriteByte('\n')
}

func (w *delimitedWriter) Batch(batch *duck.Batch) error {
	for row := range batch.Len() {
		for i := range w.columns {
			w.separate(i)
			vector := batch.Vector(i)
			w.field = render.AppendText(w.field[:0], vector, row, &w.columns[i].Type)
			w.write(w.field, vector.Valid(row))
		}
		if err := w.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

func (w *delimitedWriter) End(int64) error { return nil }

func (w *delimitedWriter) separate(i int) {
	if i > 0 {
		w.out.WriteByte(w.comma)
	}
}

// write writes a field; a write error shows up at the line's end, since bufio keeps it.
func (w *delimitedWriter) write(field []byte, valid bool) {
	switch {
	case w.comma == '\t':
		w.writeEscaped(field)
	case !valid:
	case len(field) == 0 || bytes.ContainsAny(field, ",\"\r\n"):
		w.out.WriteByte('"')
		w.out.Write(bytes.ReplaceAll(field, []byte(`"`), []byte(`""`)))
		w.out.WriteByte('"')
	default:
		w.out.Write(field)
	}
}

func (w *delimitedWriter) writeEscaped(field []byte) {
	for _, c := range field {
		switch c {
		case '\t':
			w.out.WriteString(`\t`)
		case '\n':
			w.out.WriteString(`\n`)
		case '\\':
			w.out.WriteString(`\\`)
		case 0:
			w.out.WriteString(`\0`)
		default:
			w.out.WriteByte(c)
		}
	}
}
