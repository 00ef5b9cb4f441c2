package wire

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"deltasql/sqlengine"
)

// Options are what the owner of a Server decides. The zero value serves user root without a password, on this machine alone.
type Options struct {
	Accounts   Accounts    // nil: root without a password
	TLS        *tls.Config // nil: no TLS
	RequireTLS bool        // refuses connections without it, local sockets aside

	Session sqlengine.SessionOptions // of every connection; User and Database come from the client

	MaxConnections   int           // 0: DefaultConnections
	MaxPacket        int           // bytes of one message of a client; 0: DefaultPacket
	ConnectTimeout   time.Duration // to prove who one is; 0: 10 s
	IdleTimeout      time.Duration // between commands; 0: 8 hours
	WriteTimeout     time.Duration // for a client to take what is sent; 0: 60 s
	StatementTimeout time.Duration // 0: none

	Log *slog.Logger // nil: nowhere. It never holds the text of a statement or a secret
}

// Defaults of Options.
const (
	DefaultConnections = 500
	DefaultPacket      = 64 << 20

	defaultConnectTimeout = 10 * time.Second
	defaultIdleTimeout    = 8 * time.Hour
	defaultWriteTimeout   = time.Minute
)

// ErrClosed is what Serve returns after Shutdown.
var ErrClosed = errors.New("the server is closed")

// Server serves one engine to MySQL clients. It is safe for concurrent use.
type Server struct {
	engine  *sqlengine.Engine
	options Options
	log     *slog.Logger
	version string
	started time.Time
	key     func() (*rsa.PrivateKey, error) // made on first use

	mu        sync.Mutex // guards what follows
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	questions int64
	closed    bool
	closing   chan struct{} // closed when the server begins to shut down
	running   sync.WaitGroup
}

// New makes a server. It listens nowhere yet.
func New(engine *sqlengine.Engine, options Options) *Server {
	if options.Accounts == nil {
		options.Accounts = AccountList{NewAccount("root", "")}
	}
	if options.Log == nil {
		options.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	options.MaxConnections = orDefault(options.MaxConnections, DefaultConnections)
	options.MaxPacket = orDefault(options.MaxPacket, DefaultPacket)
	options.ConnectTimeout = orDefault(options.ConnectTimeout, defaultConnectTimeout)
	options.IdleTimeout = orDefault(options.IdleTimeout, defaultIdleTimeout)
	options.WriteTimeout = orDefault(options.WriteTimeout, defaultWriteTimeout)
	if options.Session.Dialect == "" || options.Session.Dialect == "auto" {
		options.Session.Dialect = "mysql"
	}
	return &Server{
		engine: engine, options: options, log: options.Log, version: sqlengine.ServerVersion(), started: time.Now(),
		key:       sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
		listeners: map[net.Listener]bool{}, conns: map[*conn]bool{}, closing: make(chan struct{}),
	}
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// acceptPause is how long Serve waits after an error that passes, such as too many open files.
const acceptPause = 50 * time.Millisecond

// Serve accepts connections until Shutdown, then returns ErrClosed. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.listeners[l] = true
	s.mu.Unlock()
	for {
		raw, err := l.Accept()
		if err != nil {
			select {
			case <-s.closing:
				return ErrClosed
			default:
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			s.log.Warn("a connection could not be accepted", "error", err)
			time.Sleep(acceptPause)
			continue
		}
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			s.ServeConn(raw)
		}()
	}
}

// ServeConn serves one connection to its end and closes it.
func (s *Server) ServeConn(raw net.Conn) {
	c := newConn(s, raw)
	if err := s.enter(c); err != nil {
		c.refuse(err)
		return
	}
	defer s.leave(c)
	c.serve()
}

// enter counts a connection, or says why it may not come in.
func (s *Server) enter(c *conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return protocolFault(1053, "the server is shutting down")
	case len(s.conns) >= s.options.MaxConnections:
		return protocolFault(1040, "too many connections")
	}
	s.conns[c] = true
	return nil
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// count counts a command and tells how many connections there are.
func (s *Server) count(more int64) (questions int64, connections int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions += more
	return s.questions, len(s.conns)
}

// lingering is how long Shutdown waits for connections whose statements it has cancelled.
const lingering = 2 * time.Second

// Shutdown stops accepting, ends idle connections at once and the others when their statement ends; when the context does, it cancels
// what still runs and answers the context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	for l := range s.listeners {
		l.Close()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.end(errShutdown)
	}
	s.mu.Unlock()
	select {
	case <-done:
	case <-time.After(lingering):
		s.mu.Lock()
		for c := range s.conns {
			c.raw.Close()
		}
		s.mu.Unlock()
	}
	return ctx.Err()
}
