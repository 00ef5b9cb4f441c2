package wire

import (
	"context"
	"io"
)

// openLocal asks the client for a file of its own: LOAD DATA LOCAL. The client sends it in packets, of which the last is empty, and
// nothing else may be sent before that: the reader must be closed.
func (c *conn) openLocal(_ context.Context, name string) (io.ReadCloser, error) {
	if !c.has(clientLocalFiles) {
		return nil, protocolFault(3948, "the client does not send local files")
	}
	c.out.begin()
	c.out.out = append(append(c.out.out, 0xfb), name...)
	if err := c.out.end(); err != nil {
		return nil, err
	}
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	return &localFile{conn: c}, nil
}

type localFile struct {
	conn *conn
	left []byte // of the last packet
	err  error  // io.EOF after the empty packet
}

func (f *localFile) Read(into []byte) (int, error) {
	for len(f.left) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		payload, err := f.conn.receive()
		switch {
		case err != nil:
			f.err = err
		case len(payload) == 0:
			f.err = io.EOF
		}
		f.left = payload
	}
	n := copy(into, f.left)
	f.left = f.left[n:]
	return n, nil
}

// Close takes what the client still sends, so that the answer comes behind it.
func (f *localFile) Close() error {
	f.left = nil
	_, err := io.Copy(io.Discard, f)
	return err
}
