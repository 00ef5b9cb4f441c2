package main

import (
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// jsonWriter writes a result set as one array of objects, or as one object a line.
type jsonWriter struct {
	output
	array   bool
	columns []sqlengine.ColumnInfo
	rows    int64
	line    []byte
}

func (w *jsonWriter) Begin(_ int, columns []sqlengine.ColumnInfo) error {
	w.columns, w.rows = columns, 0
	if w.array {
		return w.out.WriteByte('[')
	}
	return nil
}

func (w *jsonWriter) Batch(batch *duck.Batch) error {
	for row := range batch.Len() {
		w.line = w.line[:0]
		if w.array {
			if w.rows > 0 {
				w.line = append(w.line, ',')
			}
			w.line = append(w.line, '\n')
		}
		w.line = append(w.line, '{')
		for i := range w.columns {
			if i > 0 {
				w.line = append(w.line, ',')
			}
			w.line = render.AppendString(w.line, []byte(w.columns[i].Name))
			w.line = append(w.line, ':')
			w.line = render.AppendJSON(w.line, batch.Vector(i), row, &w.columns[i].Type, render.VariantPlain)
		}
		w.line = append(w.line, '}')
		if !w.array {
			w.line = append(w.line, '\n')
		}
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

func (w *jsonWriter) End(int64) error {
	if !w.array {
		return nil
	}
	_, err := w.out.WriteString("\n]\n")
	return err
}

// verticalWriter writes a row as a block of `name: value` lines, for rows wider than the screen.
type verticalWriter struct {
	output
	columns []sqlengine.ColumnInfo
	width   int
	rows    int64
	line    []byte
}

func (w *verticalWriter) Begin(_ int, columns []sqlengine.ColumnInfo) error {
	w.columns, w.rows, w.width = columns, 0, 0
	for _, column := range columns {
		w.width = max(w.width, displayWidth(column.Name))
	}
	return nil
}

func (w *verticalWriter) Batch(batch *duck.Batch) error {
	for row := range batch.Len() {
		w.rows++
		w.line = appendRowMark(w.line[:0], w.rows)
		for i, column := range w.columns {
			w.line = appendSpaces(w.line, w.width-displayWidth(column.Name))
			w.line = append(w.line, column.Name...)
			w.line = append(w.line, ": "...)
			w.line = render.AppendText(w.line, batch.Vector(i), row, &w.columns[i].Type)
			w.line = append(w.line, '\n')
		}
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

func (w *verticalWriter) End(rows int64) error {
	_, err := w.out.WriteString(rowCount(rows))
	return err
}
