package wire

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"
)

// Authentication methods.
const (
	methodNative = "mysql_native_password"
	methodSHA2   = "caching_sha2_password"
	methodClear  = "mysql_clear_password"
)

// maxHello bounds what a client may send before it has proved who it is: connection attributes have at most 64 KiB.
const maxHello = 128 << 10

// nonceLength is the length of the random text that a client mixes with its password.
const nonceLength = 20

// newNonce makes such a text. It has no NUL and, as some clients expect, only seven bits a byte.
func newNonce() ([]byte, error) {
	nonce := make([]byte, nonceLength)
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("random numbers: %w", err)
	}
	for i := range nonce {
		if nonce[i] &= 0x7f; nonce[i] == 0 || nonce[i] == '$' {
			nonce[i]++
		}
	}
	return nonce, nil
}

// sendGreeting writes the server's first packet.
func (c *conn) sendGreeting(version string, capabilities uint32) error {
	c.out.begin()
	out := append(c.out.out, 10)
	out = append(append(out, version...), 0)
	out = appendUint32(out, uint32(c.id))
	out = append(append(out, c.nonce[:8]...), 0)
	out = appendUint16(out, uint16(capabilities))
	out = append(out, charsetUTF8MB4)
	out = appendUint16(out, statusAutocommit)
	out = appendUint16(out, uint16(capabilities>>16))
	out = append(out, nonceLength+1)
	out = append(out, make([]byte, 10)...)
	out = append(append(out, c.nonce[8:]...), 0)
	c.out.out = append(append(out, methodSHA2...), 0)
	if err := c.out.end(); err != nil {
		return err
	}
	return c.out.flush()
}

// hello is a client's answer to the greeting.
type hello struct {
	capabilities uint32
	charset      uint8
	user         string
	response     []byte
	database     string
	method       string
	attributes   map[string]string
}

// secureRequestLength is the length of a hello that ends before the user's name, which asks for TLS.
const secureRequestLength = 32

func parseHello(payload []byte) (hello, error) {
	in := cursor{data: payload}
	h := hello{capabilities: in.uint32()}
	if in.bad || h.capabilities&clientProtocol41 == 0 {
		return h, protocolFault(1251, "the client speaks a protocol older than MySQL 4.1")
	}
	in.uint32() // the largest packet it takes: rows are never cut to it
	h.charset = in.uint8()
	in.take(23)
	if len(payload) == secureRequestLength && h.capabilities&clientSSL != 0 {
		return h, nil
	}
	h.user = string(in.terminated())
	switch {
	case h.capabilities&clientPluginAuthLenenc != 0:
		h.response = in.text()
	case h.capabilities&clientSecureConnection != 0:
		h.response = in.take(int(in.uint8()))
	default:
		h.response = in.terminated()
	}
	if h.capabilities&clientConnectWithDB != 0 && len(in.data) > 0 {
		h.database = string(in.terminated())
	}
	if h.capabilities&clientPluginAuth != 0 && len(in.data) > 0 {
		h.method = string(in.terminated())
	}
	if h.capabilities&clientConnectAttrs != 0 && len(in.data) > 0 {
		h.attributes = parseAttributes(&in)
	}
	if in.bad {
		return h, protocolFault(1043, "bad handshake")
	}
	return h, nil
}

// parseAttributes reads names and values behind the length of all of them.
func parseAttributes(in *cursor) map[string]string {
	list := cursor{data: in.text()}
	attributes := map[string]string{}
	for len(list.data) > 0 {
		name, value := list.text(), list.text()
		if !list.bad {
			attributes[string(name)] = string(value)
		}
	}
	in.bad = in.bad || list.bad
	return attributes
}

// shakeHands greets a client, turns TLS on where it asks for it, and finds out who it is. A fault that it returns is still to be
// sent; any other error ends the connection silently.
func (c *conn) shakeHands() (hello, error) {
	var err error
	if c.nonce, err = newNonce(); err != nil {
		return hello{}, err
	}
	offered := serverCapabilities
	if c.server.options.TLS != nil && c.raw.LocalAddr().Network() != "unix" {
		offered |= clientSSL
	}
	if err := c.sendGreeting(c.server.version, offered); err != nil {
		return hello{}, err
	}
	payload, err := c.read(maxHello)
	if err != nil {
		return hello{}, err
	}
	h, err := parseHello(payload)
	if err != nil {
		return h, err
	}
	if h.capabilities&offered&clientSSL != 0 && len(payload) == secureRequestLength {
		secured := tls.Server(c.raw, c.server.options.TLS)
		if err := secured.Handshake(); err != nil {
			return h, fmt.Errorf("TLS: %w", err)
		}
		c.net, c.in.from, c.out.to, c.secure = secured, secured, &deadlineWriter{secured, c.server.options.WriteTimeout}, true
		state := secured.ConnectionState()
		c.session.Secured(strings.ReplaceAll(tls.VersionName(state.Version), "TLS ", "TLSv"), tls.CipherSuiteName(state.CipherSuite))
		if payload, err = c.read(maxHello); err != nil {
			return h, err
		}
		if h, err = parseHello(payload); err != nil {
			return h, err
		}
	}
	c.capabilities = h.capabilities & offered
	if c.server.options.RequireTLS && !c.secure && c.raw.LocalAddr().Network() != "unix" {
		return h, protocolFault(3159, "connections without TLS are refused here")
	}
	return h, c.authenticate(h.user, h.method, h.response)
}

// read reads one message of the handshake, while nobody else reads.
func (c *conn) read(limit int) ([]byte, error) {
	c.in.limit = limit
	m, err := c.in.next(nil)
	if err != nil {
		return nil, err
	}
	if m.first != c.out.seq {
		return nil, protocolFault(1156, "packets are out of order")
	}
	c.out.seq = m.last + 1
	return m.payload, nil
}

// deadlineWriter gives every write a time by which it must have gone out, so that a client that stops reading is let go.
type deadlineWriter struct {
	to      net.Conn
	timeout time.Duration
}

func (w *deadlineWriter) Write(data []byte) (int, error) {
	if w.timeout > 0 {
		if err := w.to.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
			return 0, err
		}
	}
	return w.to.Write(data)
}
