package wire

import (
	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/render"
)

// rowWriter writes the rows of one result into the connection's buffer. Nothing is allocated for a row.
type rowWriter struct {
	out     *packetWriter
	columns []column
	zone    zoneSpan
	scratch []byte // text whose length must be known before it is written
	lost    []int  // for each column, how many values became NULL since the protocol has no form for them
}

func newRowWriter(out *packetWriter, columns []column) *rowWriter {
	return &rowWriter{out: out, columns: columns, lost: make([]int, len(columns))}
}

// textRow writes a row of COM_QUERY.
func (w *rowWriter) textRow(batch *duck.Batch, row int) error {
	w.out.begin()
	out := w.out.out
	for i := range w.columns {
		c, v := &w.columns[i], batch.Vector(i)
		if !v.Valid(row) {
			out = append(out, 0xfb)
			continue
		}
		at := len(out)
		var ok bool
		if out, ok = c.text(w, out, v, row, c); !ok {
			w.lost[i]++
			out = append(out[:at], 0xfb)
		}
	}
	w.out.out = out
	return w.out.end()
}

// binaryRow writes a row of a prepared statement: a zero, a bit a column for NULL, the values.
func (w *rowWriter) binaryRow(batch *duck.Batch, row int) error {
	w.out.begin()
	out := append(w.out.out, 0)
	nulls := len(out)
	out = append(out, w.nullBits()...)
	for i := range w.columns {
		c, v := &w.columns[i], batch.Vector(i)
		at, ok := len(out), v.Valid(row)
		if ok {
			if out, ok = c.binary(w, out, v, row, c); !ok {
				w.lost[i]++
			}
		}
		if !ok {
			out = out[:at]
			out[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
		}
	}
	w.out.out = out
	return w.out.end()
}

// nullBits are the bits of a row without a NULL. The first two of them mean nothing.
func (w *rowWriter) nullBits() []byte {
	n := (len(w.columns) + 9) / 8
	if cap(w.scratch) < n {
		w.scratch = make([]byte, n)
	}
	w.scratch = w.scratch[:n]
	clear(w.scratch)
	return w.scratch
}

// measured closes a text that begins behind the length byte at a place.
func measured(out []byte, at int) []byte {
	out[at] = byte(len(out) - at - 1)
	return out
}

func textNever(_ *rowWriter, out []byte, _ *duck.Vector, _ int, _ *column) ([]byte, bool) {
	return out, false
}

func textBytes(_ *rowWriter, out []byte, v *duck.Vector, row int, _ *column) ([]byte, bool) {
	return appendText(out, v.Bytes(row)), true
}

// textRendered writes values as the other doors show them.
func textRendered(w *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	w.scratch = render.AppendText(w.scratch[:0], v, row, &c.of)
	return appendText(out, w.scratch), true
}

func textJSON(w *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	switch c.of.Kind {
	case protocol.KindVariant, protocol.KindString:
		w.scratch = appendDocument(w.scratch[:0], v.Bytes(row))
	default:
		w.scratch = w.appendJSON(w.scratch[:0], v, row, &c.of)
	}
	return appendText(out, w.scratch), true
}

// textGeometry writes well-known binary behind the number of the reference system, as MySQL stores it.
func textGeometry(_ *rowWriter, out []byte, v *duck.Vector, row int, c *column) ([]byte, bool) {
	shape := v.Bytes(row)
	out = appendLength(out, uint64(len(shape))+4)
	return append(appendUint32(out, referenceSystem(c.of.Parameter)), shape...), true
}
