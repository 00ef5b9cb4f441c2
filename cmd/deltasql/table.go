package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// sampleRows is how many rows decide the widths of a table's columns; later, wider values push their line out.
const sampleRows = 500

// minColumn is the least width a column is squeezed to before a table is shown as vertical blocks instead.
const minColumn = 8

// tableStyle is the set of characters that a table is drawn with.
type tableStyle struct {
	top, middle, bottom [3]string // left, cross, right; empty: no such line
	line, bar           string
	markdown            bool
}

var (
	boxStyle = tableStyle{
		top: [3]string{"┌", "┬", "┐"}, middle: [3]string{"├", "┼", "┤"}, bottom: [3]string{"└", "┴", "┘"},
		line: "─", bar: "│",
	}
	markdownStyle = tableStyle{middle: [3]string{"|", "|", "|"}, line: "-", bar: "|", markdown: true}
)

// tableWriter draws a result set as a table with the columns' types and the number of rows. It holds back the first rows to
// choose the widths. A table wider than width (0: no limit) is squeezed, and shown vertically if that does not do.
type tableWriter struct {
	output
	style    tableStyle
	width    int
	color    bool
	columns  []sqlengine.ColumnInfo
	numeric  []bool
	widths   []int
	sample   [][]string
	nulls    [][]bool
	started  bool
	vertical bool
	rows     int64
	cell     []byte
}

func (w *tableWriter) Begin(_ int, columns []sqlengine.ColumnInfo) error {
	if w.style.line == "" {
		w.style = boxStyle
	}
	w.columns, w.sample, w.nulls, w.started, w.vertical, w.rows = columns, nil, nil, false, false, 0
	w.numeric = make([]bool, len(columns))
	for i, column := range columns {
		kind := column.Type.Kind
		w.numeric[i] = kind >= protocol.KindByte && kind <= protocol.KindDecimal
	}
	return nil
}

func (w *tableWriter) Batch(batch *duck.Batch) error {
	if w.isPlan() {
		return w.plan(batch)
	}
	for row := range batch.Len() {
		cells, nulls := make([]string, len(w.columns)), make([]bool, len(w.columns))
		for i := range w.columns {
			vector := batch.Vector(i)
			w.cell = render.AppendText(w.cell[:0], vector, row, &w.columns[i].Type)
			cells[i], nulls[i] = w.shown(string(w.cell)), !vector.Valid(row)
		}
		if !w.started {
			w.sample, w.nulls = append(w.sample, cells), append(w.nulls, nulls)
			if len(w.sample) == sampleRows {
				w.start()
			}
			continue
		}
		w.row(cells, nulls)
	}
	return w.lost()
}

// lost is the error of an earlier write, which the buffer keeps: without it a statement would run on with nobody to read it.
func (w *tableWriter) lost() error {
	_, err := w.out.Write(nil)
	return err
}

// isPlan tells whether the result is EXPLAIN's: its lines are drawn already and stand better without a frame.
func (w *tableWriter) isPlan() bool {
	return !w.style.markdown && len(w.columns) == 1 && w.columns[0].Name == "plan" && w.columns[0].Type.Kind == protocol.KindString
}

func (w *tableWriter) plan(batch *duck.Batch) error {
	for row := range batch.Len() {
		w.cell = append(render.AppendText(w.cell[:0], batch.Vector(0), row, &w.columns[0].Type), '\n')
		if _, err := w.out.Write(w.cell); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWriter) End(rows int64) error {
	if w.isPlan() {
		return nil
	}
	if !w.started {
		w.start()
	}
	if !w.vertical {
		w.rule(w.style.bottom)
	}
	if !w.style.markdown {
		w.out.WriteString(rowCount(rows))
	}
	return w.lost()
}

// Done tells how many rows a statement changed; a statement that changes none says OK.
func (w *tableWriter) Done(_ int, affected int64) error {
	text := "OK\n"
	if affected > 0 {
		text = "OK, " + strings.TrimSuffix(rowCount(affected), "\n") + " affected\n"
	}
	_, err := w.out.WriteString(text)
	return err
}

// Fail shows the rows that came before the error.
func (w *tableWriter) Fail(statement int, place string, err error) error {
	if len(w.sample) > 0 {
		w.start()
	}
	return w.output.Fail(statement, place, err)
}

// start fixes the widths and draws the head and the rows held back.
func (w *tableWriter) start() {
	w.started = true
	w.widths = make([]int, len(w.columns))
	for i, column := range w.columns {
		w.widths[i] = displayWidth(w.shown(column.Name))
		if !w.style.markdown {
			w.widths[i] = max(w.widths[i], displayWidth(column.Type.String()))
			if w.width > 0 {
				w.widths[i] = max(displayWidth(w.shown(column.Name)), min(w.widths[i], 24))
			}
		}
		for _, cells := range w.sample {
			w.widths[i] = max(w.widths[i], displayWidth(cells[i]))
		}
	}
	w.vertical = !w.fit()
	if !w.vertical {
		w.head()
	}
	for i, cells := range w.sample {
		w.row(cells, w.nulls[i])
	}
	w.sample, w.nulls = nil, nil
}

// fit squeezes the widest columns until the table fits the screen, and tells whether it does.
func (w *tableWriter) fit() bool {
	if w.width == 0 {
		return true
	}
	total := 1
	for _, width := range w.widths {
		total += width + 3
	}
	for total > w.width {
		widest := 0
		for i, width := range w.widths {
			if width > w.widths[widest] {
				widest = i
			}
		}
		if len(w.widths) == 0 || w.widths[widest] <= minColumn {
			return false
		}
		w.widths[widest]--
		total--
	}
	return true
}

func (w *tableWriter) head() {
	w.rule(w.style.top)
	names, types := make([]string, len(w.columns)), make([]string, len(w.columns))
	for i, column := range w.columns {
		names[i], types[i] = w.shown(column.Name), column.Type.String()
	}
	w.cells(names, func(int, string) (string, string) { return "\x1b[1m", "\x1b[0m" })
	if !w.style.markdown {
		w.cells(types, func(int, string) (string, string) { return "\x1b[2m", "\x1b[0m" })
	}
	w.rule(w.style.middle)
}

func (w *tableWriter) row(cells []string, nulls []bool) {
	w.rows++
	if w.vertical {
		w.block(cells)
		return
	}
	w.cells(cells, func(i int, _ string) (string, string) {
		if nulls[i] {
			return "\x1b[2m", "\x1b[0m"
		}
		return "", ""
	})
}

// block writes a row of a table that is too wide as name: value lines.
func (w *tableWriter) block(cells []string) {
	width := 0
	for _, column := range w.columns {
		width = max(width, displayWidth(onOneLine(column.Name)))
	}
	w.out.Write(appendRowMark(nil, w.rows))
	for i, cell := range cells {
		name := onOneLine(w.columns[i].Name)
		w.out.WriteString(strings.Repeat(" ", width-displayWidth(name)) + name + ": " + cell + "\n")
	}
}

func (w *tableWriter) cells(cells []string, paint func(i int, cell string) (string, string)) {
	for i, cell := range cells {
		if w.width > 0 && displayWidth(cell) > w.widths[i] {
			cell = runewidth.Truncate(cell, w.widths[i], "…")
		}
		space := strings.Repeat(" ", max(0, w.widths[i]-displayWidth(cell)))
		before, after := "", ""
		if w.color {
			before, after = paint(i, cell)
		}
		w.out.WriteString(w.style.bar + " ")
		if w.numeric[i] {
			w.out.WriteString(space + before + cell + after)
		} else {
			w.out.WriteString(before + cell + after + space)
		}
		w.out.WriteString(" ")
	}
	w.out.WriteString(w.style.bar + "\n")
}

func (w *tableWriter) rule(ends [3]string) {
	if ends[0] == "" || len(w.widths) == 0 {
		return
	}
	for i, width := range w.widths {
		w.out.WriteString(ends[min(i, 1)])
		line := strings.Repeat(w.style.line, width+2)
		if w.style.markdown && w.numeric[i] {
			line = line[1:] + ":"
		}
		w.out.WriteString(line)
	}
	w.out.WriteString(ends[2] + "\n")
}

// shown is a text as a cell holds it.
func (w *tableWriter) shown(text string) string {
	text = onOneLine(text)
	if w.style.markdown {
		return strings.ReplaceAll(text, "|", `\|`)
	}
	return text
}

// displayWidth is the number of terminal cells of a text.
func displayWidth(text string) int { return runewidth.StringWidth(text) }

// onOneLine shows control characters as escapes, so that a value cannot break the table or the terminal.
func onOneLine(text string) string {
	if strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	quoted := strconv.QuoteToGraphic(text)
	quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return strings.ReplaceAll(quoted, `\\`, `\`)
}

func appendSpaces(out []byte, n int) []byte {
	for range n {
		out = append(out, ' ')
	}
	return out
}

func appendRowMark(out []byte, row int64) []byte {
	out = append(out, "*************************** "...)
	out = strconv.AppendInt(out, row, 10)
	return append(out, ". row ***************************\n"...)
}

func rowCount(rows int64) string {
	if rows == 1 {
		return "1 row\n"
	}
	return strconv.FormatInt(rows, 10) + " rows\n"
}
