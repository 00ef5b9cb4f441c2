package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// Why the statements of a connection are cancelled.
var (
	errGone     = protocol.NewError("DELTASQL_CANCELLED", "the client has gone")
	errKilled   = protocol.NewError("DELTASQL_CANCELLED", "the statement was killed")
	errShutdown = protocol.NewError("DELTASQL_CANCELLED", "the server is shutting down")
)

// conn is one connection. Its fields belong to the goroutine that runs commands, unless they say otherwise.
type conn struct {
	server       *Server
	raw          net.Conn // as accepted
	net          net.Conn // raw, or TLS over it
	in           packetReader
	out          packetWriter
	id           int64
	session      *sqlengine.Session
	process      *sqlengine.Process
	user         string
	nonce        []byte
	capabilities uint32
	secure       bool // TLS is on
	statements   map[uint32]*preparedStatement
	lastID       uint32
	lastFailed   bool // the last statement's answer ended with an error

	ctx      context.Context
	cancel   context.CancelCauseFunc
	messages chan arrival // from the goroutine that reads; nil while the handshake reads by itself
	buffers  chan []byte  // back to it
	ended    chan struct{}

	mu      sync.Mutex // guards what follows
	stop    context.CancelCauseFunc
	stopped bool // the connection ends after its command
}

// arrival is a message, or why there is none.
type arrival struct {
	message
	err error
}

func newConn(s *Server, raw net.Conn) *conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &conn{
		server: s, raw: raw, net: raw, in: packetReader{from: raw}, out: packetWriter{to: &deadlineWriter{raw, s.options.WriteTimeout}},
		statements: map[uint32]*preparedStatement{}, ctx: ctx, cancel: cancel,
		messages: nil, buffers: make(chan []byte, 2), ended: make(chan struct{}),
	}
}

func (c *conn) has(capability uint32) bool { return c.capabilities&capability != 0 }

// host is the client's address.
func (c *conn) host() string {
	if host, _, err := net.SplitHostPort(c.raw.RemoteAddr().String()); err == nil {
		return host
	}
	return "localhost"
}

// refuse answers a connection that may not come in.
func (c *conn) refuse(err error) {
	defer c.raw.Close()
	defer c.cancel(nil)
	c.capabilities = clientProtocol41
	if c.sendError(err) == nil {
		c.out.flush()
	}
}

// serve runs the connection to its end.
func (c *conn) serve() {
	log := c.server.log.With("client", c.raw.RemoteAddr().String())
	defer func() {
		if fault := recover(); fault != nil {
			log.Error("a connection failed by a fault of deltasql", "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
		}
		c.close()
	}()
	session, err := c.server.engine.NewSession(c.server.sessionOptions(c))
	if err != nil {
		c.refuse(err)
		return
	}
	c.session, c.id = session, session.ID()
	if err := c.enter(); err != nil {
		if f, ok := errors.AsType[fault](err); ok {
			log.Info("a client was refused", "errno", f.errno, "reason", f.message)
		} else {
			log.Debug("a handshake ended", "error", err)
		}
		return
	}
	log.Debug("connected", "connection", c.id, "user", c.user)
	c.commands()
	log.Debug("disconnected", "connection", c.id, "reason", context.Cause(c.ctx))
}

// sessionOptions are those of a new connection's session.
func (s *Server) sessionOptions(c *conn) sqlengine.SessionOptions {
	options := s.options.Session
	options.LocalFile = c.openLocal
	return options
}

// enter is the connection up to its first command. What is wrong has been sent when it returns.
func (c *conn) enter() error {
	if err := c.raw.SetDeadline(time.Now().Add(c.server.options.ConnectTimeout)); err != nil {
		return err
	}
	h, err := c.shakeHands()
	if err == nil {
		err = c.session.ChangeUser(c.ctx, c.user, h.database)
	}
	if err != nil {
		var f fault
		var known *protocol.Error
		if errors.As(err, &f) || errors.As(err, &known) {
			c.sendError(err)
			c.out.flush()
		}
		return err
	}
	if err := c.raw.SetDeadline(time.Time{}); err != nil {
		return err
	}
	c.process = c.session.Announce(c.raw.RemoteAddr().String(), h.attributes, c.kill)
	if err := c.sendOK(okay{status: c.status()}, 0); err != nil {
		return err
	}
	if err := c.out.flush(); err != nil {
		return err
	}
	c.in = packetReader{from: bufio.NewReaderSize(c.net, 16<<10), limit: c.server.options.MaxPacket}
	c.messages = make(chan arrival)
	c.buffers <- nil
	c.buffers <- nil
	go c.receiveAll()
	return nil
}

// receiveAll reads messages ahead of the commands that they carry, so that the end of the connection is seen at once.
func (c *conn) receiveAll() {
	for {
		var buffer []byte
		select {
		case buffer = <-c.buffers:
		case <-c.ended:
			return
		}
		m, err := c.in.next(buffer)
		if err != nil && !errors.Is(err, errTooLarge) && !errors.Is(err, errSequence) {
			c.cancel(errGone)
		}
		select {
		case c.messages <- arrival{m, err}:
		case <-c.ended:
			return
		}
		if err != nil {
			return
		}
	}
}

// close ends all that belongs to the connection.
func (c *conn) close() {
	c.cancel(errGone)
	if c.process != nil {
		c.process.Withdraw()
	}
	for id := range c.statements {
		c.closeStatement(id)
	}
	if c.session != nil {
		if err := c.session.Close(); err != nil {
			c.server.log.Warn("a session left files behind", "connection", c.id, "error", err)
		}
	}
	close(c.ended)
	c.raw.Close()
}

// end ends the connection: a running statement is cancelled and its client told.
func (c *conn) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.stop != nil {
		c.stop(cause)
	}
	c.cancel(cause)
}

// kill is KILL: of the running statement, or of the connection.
func (c *conn) kill(connection bool) {
	if connection {
		c.end(errKilled)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop(errKilled)
	}
}

// statementContext is the context of one statement; done ends it.
func (c *conn) statementContext() (ctx context.Context, done func()) {
	parent, timeout := c.ctx, c.server.options.StatementTimeout
	release := func() {}
	if millis, err := strconv.ParseInt(c.session.Setting("max_execution_time"), 10, 64); err == nil && millis > 0 {
		timeout = time.Duration(millis) * time.Millisecond
	}
	if timeout > 0 {
		late := protocol.NewError("DELTASQL_STATEMENT_TIMEOUT", "the statement ran longer than %s and was cancelled", timeout)
		parent, release = context.WithTimeoutCause(parent, timeout, late)
	}
	ctx, stop := context.WithCancelCause(parent)
	c.mu.Lock()
	c.stop = stop
	c.mu.Unlock()
	return ctx, func() {
		c.mu.Lock()
		c.stop = nil
		c.mu.Unlock()
		stop(nil)
		release()
	}
}

// receive gives the next message of an exchange inside a command or the handshake.
func (c *conn) receive() ([]byte, error) {
	if c.messages == nil {
		return c.read(maxHello)
	}
	select {
	case a := <-c.messages:
		if a.err == nil && a.first != c.out.seq {
			a.err = errSequence
		}
		if a.err != nil {
			return nil, a.err
		}
		c.out.seq = a.last + 1
		payload := append([]byte(nil), a.payload...)
		c.buffers <- a.payload[:0]
		return payload, nil
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
}

// status are the flags that go with every answer.
func (c *conn) status() uint16 {
	var flags uint16
	state := c.session.Status()
	if state.Autocommit {
		flags |= statusAutocommit
	}
	if state.InTransaction {
		flags |= statusInTransaction
	}
	if state.NoBackslashEscapes {
		flags |= statusNoBackslashEscapes
	}
	return flags
}

// idleTimeout is the session's wait_timeout where it has one.
func (c *conn) idleTimeout() time.Duration {
	name := "wait_timeout"
	if c.has(clientInteractive) {
		name = "interactive_timeout"
	}
	return c.seconds(name, c.server.options.IdleTimeout)
}

// seconds is a timeout that the session may shorten by a variable.
func (c *conn) seconds(name string, most time.Duration) time.Duration {
	if n, err := strconv.ParseInt(strings.TrimSpace(c.session.Setting(name)), 10, 64); err == nil && n > 0 && n <= int64(most/time.Second) {
		return time.Duration(n) * time.Second
	}
	return most
}

// commands runs commands until the connection ends.
func (c *conn) commands() {
	idle := time.NewTimer(c.idleTimeout())
	defer idle.Stop()
	for {
		var a arrival
		select {
		case <-c.server.closing:
			c.farewell(protocolFault(1053, "the server is shutting down"))
			return
		default:
		}
		select {
		case a = <-c.messages:
		case <-idle.C:
			c.farewell(protocolFault(4031, "the client was idle too long: the connection is closed"))
			return
		case <-c.server.closing:
			c.farewell(protocolFault(1053, "the server is shutting down"))
			return
		case <-c.ctx.Done():
			c.farewell(protocolFault(1317, "the connection was killed"))
			return
		}
		switch {
		case errors.Is(a.err, errTooLarge):
			c.out.seq = a.last + 1
			c.farewellNow(protocolFault(1153, fmt.Sprintf("a packet is larger than max_allowed_packet (%d bytes)", c.server.options.MaxPacket)))
			return
		case errors.Is(a.err, errSequence), a.err == nil && a.first != 0:
			c.out.seq = a.last + 1
			c.farewellNow(protocolFault(1156, "packets are out of order"))
			return
		case a.err != nil:
			return
		}
		c.out.seq = a.last + 1
		again := c.command(a.payload)
		if c.out.flush() != nil || !again {
			return
		}
		payload := a.payload[:0]
		if cap(payload) > keepSize {
			payload = nil
		}
		c.buffers <- payload
		c.mu.Lock()
		stopped := c.stopped
		c.mu.Unlock()
		if stopped {
			return
		}
		idle.Reset(c.idleTimeout())
		c.out.to.(*deadlineWriter).timeout = c.seconds("net_write_timeout", c.server.options.WriteTimeout)
	}
}

// farewell tells an idle client why its connection ends; the packet looks like the answer to a command it has not sent.
func (c *conn) farewell(err error) {
	c.out.seq = 0
	c.farewellNow(err)
}

func (c *conn) farewellNow(err error) {
	if c.sendError(err) == nil {
		c.out.flush()
	}
}
