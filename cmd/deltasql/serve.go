package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deltasql/sqlengine"
	"deltasql/sqlengine/wire"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	session      sessionFlags
	listen       string
	socket       string
	user         string
	passwordFile string
	accounts     string
	tlsMode      string
	tlsCert      string
	tlsKey       string
	roots        []string
	anyPath      bool
	connections  int
	idle         time.Duration
	statement    time.Duration
	grace        time.Duration
	verbose      bool
}

func serveCommand() *cobra.Command {
	var flags serveFlags
	command := &cobra.Command{
		Use:   "serve [flags] [CATALOG]",
		Short: "serve a catalog to MySQL clients",
		Long: "serve answers MySQL clients over the tables of CATALOG until it is ended (SIGTERM or Ctrl-C).\n" +
			"Without accounts it lets user root in without a password, from this machine alone.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(command.Context(), catalogOf(args))
		},
	}
	set := command.Flags()
	flags.session.registerEngine(set)
	set.StringVar(&flags.listen, "listen", "127.0.0.1:3306", "HOST:PORT to listen on; port 0 picks one; empty for none")
	set.StringVar(&flags.socket, "socket", "", "Unix socket to listen on as well")
	set.StringVar(&flags.user, "user", "root", "the user that may connect")
	set.StringVar(&flags.passwordFile, "password-file", "", "file whose first line is that user's password")
	set.StringVar(&flags.accounts, "accounts", "", "file of lines user:password, instead of --user; the password may be a digest as MySQL stores it")
	set.StringVar(&flags.tlsMode, "tls", "auto", "auto: for clients that ask; required; off")
	set.StringVar(&flags.tlsCert, "tls-cert", "", "certificate (PEM); without one a self-signed one is made in memory")
	set.StringVar(&flags.tlsKey, "tls-key", "", "key of the certificate (PEM)")
	set.StringArrayVar(&flags.roots, "allow-path", nil, "folder that delta.`path` and csv.`path` may name besides the catalog (repeatable)")
	set.BoolVar(&flags.anyPath, "allow-any-path", false, "let statements name any path that this process can read")
	set.IntVar(&flags.connections, "max-connections", wire.DefaultConnections, "connections at once")
	set.DurationVar(&flags.idle, "idle-timeout", 8*time.Hour, "how long a connection may be idle")
	set.DurationVar(&flags.statement, "statement-timeout", 0, "how long a statement may run (0: for ever)")
	set.DurationVar(&flags.grace, "shutdown-grace", 5*time.Second, "how long running statements may go on after SIGTERM")
	set.BoolVar(&flags.verbose, "verbose", false, "log connections to standard error")
	return command
}

// run serves until a signal.
func (f *serveFlags) run(ctx context.Context, catalog string) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	if f.listen == "" && f.socket == "" {
		return errors.New("nothing to listen on: --listen or --socket is wanted")
	}
	engineOptions, settings, err := f.session.engine(catalog)
	if err != nil {
		return err
	}
	if !f.anyPath {
		engineOptions.Roots = append([]string{catalog}, f.roots...)
	}
	engine, err := sqlengine.Open(engineOptions)
	if err != nil {
		return startFailed(err)
	}
	defer engine.Close()
	options.Session = sqlengine.SessionOptions{Dialect: f.session.dialect, Settings: settings, Database: f.session.database, ReadOnly: f.session.readOnly}
	if _, err := engine.NewSession(options.Session); err != nil {
		return startFailed(err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.serve(ctx, wire.New(engine, options))
}

// serve listens, prints where, and ends when the context does.
func (f *serveFlags) serve(ctx context.Context, server *wire.Server) error {
	listeners, err := f.listeners()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deltasql:", err)
		return exitStatus(exitFailed)
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
		fmt.Println("listening on", l.Addr())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = nil
	}
	grace, cancel := context.WithTimeout(context.Background(), f.grace)
	defer cancel()
	server.Shutdown(grace)
	if err != nil {
		fmt.Fprintln(os.Stderr, "deltasql:", err)
		return exitStatus(exitFailed)
	}
	return nil
}

// listeners opens what the flags name; the address comes first.
func (f *serveFlags) listeners() ([]net.Listener, error) {
	var out []net.Listener
	if f.listen != "" {
		l, err := net.Listen("tcp", f.listen)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	if f.socket != "" {
		l, err := listenSocket(f.socket)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// listenSocket opens a Unix socket in the place of one that nobody listens on any more.
func listenSocket(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statError := os.Lstat(path)
	if statError != nil || info.Mode()&os.ModeSocket == 0 {
		return nil, err
	}
	if other, dialError := net.Dial("unix", path); dialError == nil {
		other.Close()
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

// options are the server's, as far as they do not hang on the engine.
func (f *serveFlags) options() (wire.Options, error) {
	options := wire.Options{
		MaxConnections: f.connections, IdleTimeout: f.idle, StatementTimeout: f.statement,
	}
	if f.connections < 1 {
		return options, errors.New("--max-connections: at least 1 is wanted")
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	options.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	accounts, err := f.accountList()
	if err != nil {
		return options, err
	}
	options.Accounts = accounts
	if accounts.Open() && f.listen != "" && !onLoopback(f.listen) {
		return options, fmt.Errorf("--listen %s: an account without a password is for this machine alone; give --password-file or --accounts", f.listen)
	}
	return options, f.secure(&options)
}

func (f *serveFlags) accountList() (wire.AccountList, error) {
	switch {
	case f.accounts != "" && f.passwordFile != "":
		return nil, errors.New("--accounts and --password-file exclude each other")
	case f.accounts != "":
		return wire.ReadAccounts(f.accounts)
	case f.passwordFile != "":
		text, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return nil, err
		}
		password, _, _ := strings.Cut(string(text), "\n")
		if password = strings.TrimSuffix(password, "\r"); password == "" {
			return nil, fmt.Errorf("--password-file: the first line of %s is empty", f.passwordFile)
		}
		return wire.AccountList{wire.NewAccount(f.user, password)}, nil
	}
	return wire.AccountList{wire.NewAccount(f.user, "")}, nil
}

// onLoopback tells whether nobody beyond this machine can reach an address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // net.Listen says what is wrong with it
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// secure sets up TLS.
func (f *serveFlags) secure(options *wire.Options) error {
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	switch f.tlsMode {
	case "off":
		if f.tlsCert != "" {
			return errors.New("--tls off: there is no use for a certificate")
		}
		return nil
	case "auto":
	case "required":
		options.RequireTLS = true
	default:
		return fmt.Errorf("--tls %s: auto, required or off is wanted", f.tlsMode)
	}
	if f.tlsCert == "" {
		options.TLS = wire.SelfSignedTLS()
		return nil
	}
	config, err := wire.LoadTLS(f.tlsCert, f.tlsKey)
	options.TLS = config
	return err
}
