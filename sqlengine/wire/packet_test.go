package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestSplit writes messages around the largest packet and reads them back.
func TestSplit(t *testing.T) {
	for _, length := range []int{0, 1, maxPayload - 1, maxPayload, maxPayload + 1, 2*maxPayload - 1, 2 * maxPayload, 2*maxPayload + 5} {
		payload := bytes.Repeat([]byte("abcdefg"), length/7+1)[:length]
		var sent bytes.Buffer
		w := packetWriter{to: &sent, seq: 254} // the number wraps around
		w.begin()
		w.out = append(w.out, "before"...)
		w.end()
		w.begin()
		w.out = append(w.out, payload...)
		w.end()
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		r := packetReader{from: &sent, limit: 64 << 20}
		if m, err := r.next(nil); err != nil || string(m.payload) != "before" || m.first != 254 {
			t.Fatalf("%d: the packet before it: %v", length, err)
		}
		m, err := r.next(nil)
		if err != nil || !bytes.Equal(m.payload, payload) {
			t.Fatalf("%d bytes did not come back: %d, %v", length, len(m.payload), err)
		}
		if parts := length/maxPayload + 1; m.first != 255 || m.last != uint8(254+parts) || w.seq != uint8(255+parts) {
			t.Errorf("%d: sequence numbers %d to %d, next %d", length, m.first, m.last, w.seq)
		}
		if sent.Len() != 0 {
			t.Errorf("%d: %d bytes are left", length, sent.Len())
		}
	}
}

func TestReadFaults(t *testing.T) {
	full := "\xff\xff\xff\x00" + strings.Repeat("x", maxPayload)
	for name, c := range map[string]struct {
		sent string
		want error
	}{
		"nothing":                  {"", io.EOF},
		"half a header":            {"\x01\x00", io.ErrUnexpectedEOF},
		"half a payload":           {"\x05\x00\x00\x00abc", io.ErrUnexpectedEOF},
		"too large":                {"\x00\x00\xf0\x00", errTooLarge},
		"second part missing":      {full, io.ErrUnexpectedEOF},
		"second part out of order": {full + "\x01\x00\x00\x02a", errSequence},
		"second part too large":    {full + "\xff\xff\xff\x01", errTooLarge},
	} {
		limit := 17 << 20
		if name == "too large" {
			limit = 1 << 20
		}
		r := packetReader{from: strings.NewReader(c.sent), limit: limit}
		if _, err := r.next(nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestClaimedLength makes sure that a header alone takes no memory.
func TestClaimedLength(t *testing.T) {
	r := packetReader{from: strings.NewReader("\xfe\xff\xff\x00abc"), limit: 64 << 20}
	m, err := r.next(nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) || cap(m.payload) > 4*readStep {
		t.Errorf("%v, %d bytes taken", err, cap(m.payload))
	}
}

func TestLengths(t *testing.T) {
	for _, n := range []uint64{0, 1, 250, 251, 252, 65535, 65536, 1<<24 - 1, 1 << 24, 1<<64 - 1} {
		in := cursor{data: appendLength(nil, n)}
		if got := in.length(); got != n || in.bad || len(in.data) != 0 {
			t.Errorf("%d came back as %d", n, got)
		}
	}
	for _, broken := range []string{"", "\xfb", "\xff", "\xfc\x01", "\xfd\x01\x02", "\xfe\x01\x02\x03\x04\x05\x06\x07"} {
		if in := (cursor{data: []byte(broken)}); in.length() != 0 || !in.bad {
			t.Errorf("%q is no length", broken)
		}
	}
}

func FuzzPackets(f *testing.F) {
	f.Add([]byte("\x03\x00\x00\x00abc\x00\x00\x00\x01"))
	f.Add([]byte("\xff\xff\xff\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := packetReader{from: bytes.NewReader(data), limit: 1 << 20}
		for {
			m, err := r.next(nil)
			if err != nil {
				return
			}
			if len(m.payload) > len(data) {
				t.Fatal("more came than was sent")
			}
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte("\x85\xa6\xff\x20\x00\x00\x00\x01\x2d" + strings.Repeat("\x00", 23) + "root\x00\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) { parseHello(data) })
}

func FuzzParameters(f *testing.F) {
	f.Add([]byte{1, 0, 1, typeLongLong, 0, typeDatetime, 0, typeVarString, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		in := cursor{data: data[1:]}
		for range int(data[0]) {
			value, err := readParameter(&in, parameterType{in.uint8(), in.uint8() != 0})
			if err != nil || in.bad {
				return
			}
			_ = value.Value.Text()
		}
	})
}
