package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var errMalformed = errors.New("malformed packet")

// cursor takes a payload apart. After the first read beyond its end, bad is set and everything reads as zero.
type cursor struct {
	data []byte
	bad  bool
}

// take gives the next n bytes, which lie in the payload.
func (c *cursor) take(n int) []byte {
	if c.bad || n < 0 || n > len(c.data) {
		c.bad, c.data = true, nil
		return nil
	}
	taken := c.data[:n:n]
	c.data = c.data[n:]
	return taken
}

func (c *cursor) uint8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length reads a length-encoded integer; the marks of NULL and of errors are malformed here.
func (c *cursor) length() uint64 {
	switch first := c.uint8(); first {
	case 0xfc:
		return uint64(c.uint16())
	case 0xfd:
		if b := c.take(3); b != nil {
			return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
		}
		return 0
	case 0xfe:
		return c.uint64()
	case 0xfb, 0xff:
		c.bad, c.data = true, nil
		return 0
	default:
		return uint64(first)
	}
}

// text reads bytes behind their length.
func (c *cursor) text() []byte {
	n := c.length()
	if n > uint64(len(c.data)) {
		c.bad, c.data = true, nil
		return nil
	}
	return c.take(int(n))
}

// terminated reads bytes up to a NUL, or up to the end where there is none.
func (c *cursor) terminated() []byte {
	end := bytes.IndexByte(c.data, 0)
	if end < 0 {
		return c.rest()
	}
	taken := c.take(end)
	c.take(1)
	return taken
}

// rest gives all that is left.
func (c *cursor) rest() []byte { return c.take(len(c.data)) }

func appendUint16(out []byte, n uint16) []byte { return binary.LittleEndian.AppendUint16(out, n) }
func appendUint32(out []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(out, n) }
func appendUint64(out []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(out, n) }

// appendLength writes a length-encoded integer.
func appendLength(out []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(out, byte(n))
	case n < 1<<16:
		return append(out, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(out, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return appendUint64(append(out, 0xfe), n)
}

// appendText writes bytes behind their length.
func appendText[T ~string | ~[]byte](out []byte, text T) []byte {
	return append(appendLength(out, uint64(len(text))), text...)
}
