package wire

import (
	"errors"
	"fmt"
	"io"
)

// maxPayload is the most that one packet carries; a longer message is split, and ends with a packet that is not full.
const maxPayload = 1<<24 - 1

// Faults of framing; each ends its connection.
var (
	errTooLarge = errors.New("the packet is larger than max_allowed_packet")
	errSequence = errors.New("packets are out of order")
)

// readStep bounds how much memory is taken ahead of the bytes that have come, whatever length a header claims.
const readStep = 1 << 20

// message is what one or several packets carry.
type message struct {
	first, last uint8 // sequence numbers of its first and its last packet
	payload     []byte
}

// packetReader reads messages. It takes no byte more than they have, so that TLS can begin behind any of them.
type packetReader struct {
	from  io.Reader
	limit int // bytes of a message
}

// next reads a message into buf, which it may replace by a larger one.
func (r *packetReader) next(buf []byte) (message, error) {
	m := message{payload: buf[:0]}
	for started := false; ; started = true {
		var header [4]byte
		if _, err := io.ReadFull(r.from, header[:]); err != nil {
			if started && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return m, err
		}
		length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
		switch {
		case !started:
			m.first = header[3]
		case header[3] != m.last+1:
			return m, errSequence
		}
		m.last = header[3]
		if len(m.payload)+length > r.limit {
			return m, errTooLarge
		}
		for left := length; left > 0; {
			at, step := len(m.payload), min(left, readStep)
			m.payload = grow(m.payload, step)
			if _, err := io.ReadFull(r.from, m.payload[at:]); err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return m, err
			}
			left -= step
		}
		if length < maxPayload {
			return m, nil
		}
	}
}

// grow lengthens a slice by n bytes of any content.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b[:len(b)+n]
	}
	return append(b, make([]byte, n)...)
}

// Bounds of the buffer of a packetWriter.
const (
	flushAt  = 64 << 10 // what has gathered is sent
	keepSize = 1 << 20  // a larger buffer is given up once it is empty
)

// packetWriter gathers packets in one buffer. Between begin and end the payload is appended to out. The first failure is kept:
// what follows it is dropped.
type packetWriter struct {
	to    io.Writer
	out   []byte
	start int // of the packet being written
	seq   uint8
	sent  int64 // bytes, for statistics
	err   error
}

// begin starts a packet.
func (w *packetWriter) begin() {
	w.start = len(w.out)
	w.out = append(w.out, 0, 0, 0, 0)
}

// end finishes a packet and sends what has gathered if that is much.
func (w *packetWriter) end() error {
	if n := len(w.out) - w.start - 4; n < maxPayload {
		w.header(w.start, n)
	} else {
		w.split(n)
	}
	if len(w.out) >= flushAt {
		return w.flush()
	}
	return w.err
}

func (w *packetWriter) header(at, length int) {
	w.out[at], w.out[at+1], w.out[at+2], w.out[at+3] = byte(length), byte(length>>8), byte(length>>16), w.seq
	w.seq++
}

// split makes room for the headers inside a payload of n bytes, last part first.
func (w *packetWriter) split(n int) {
	more := n / maxPayload // parts behind the first; the last may be empty
	body := w.start + 4
	w.out = grow(w.out, 4*more)
	for i := more; i > 0; i-- {
		from := body + i*maxPayload
		length := min(n-i*maxPayload, maxPayload)
		copy(w.out[from+4*i:from+4*i+length], w.out[from:from+length])
	}
	for i := 0; i <= more; i++ {
		w.header(w.start+i*(maxPayload+4), min(n-i*maxPayload, maxPayload))
	}
}

// flush sends what has gathered.
func (w *packetWriter) flush() error {
	if w.err == nil && len(w.out) > 0 {
		n, err := w.to.Write(w.out)
		w.sent += int64(n)
		if err != nil {
			w.err = fmt.Errorf("write: %w", err)
		}
	}
	if w.out = w.out[:0]; cap(w.out) > keepSize {
		w.out = nil
	}
	return w.err
}
