package sqlengine

import (
	"context"
	"io"
	"strings"
	"sync"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// SessionOptions are what a door gives its sessions.
type SessionOptions struct {
	Database string            // current at start; empty: default
	Dialect  string            // "spark" (also empty) or "mysql": what deltasql_dialect = auto means at this door
	Settings map[string]string // variables set before the first statement, as by SET
	User     string            // for current_user(); empty: the process's user is not asked, "deltasql" is shown
	ReadOnly bool              // refuses everything that would change a table or the catalog
	// LocalFile opens a file on the side of the door's client, for LOAD DATA LOCAL; nil where there is no other side. Whoever opens one
	// reads it to its end or closes it before the statement gives its result.
	LocalFile func(ctx context.Context, name string) (io.ReadCloser, error)
	// Progress is told how far the running statement is, between 0 and 1; it is called from another goroutine, a few times a
	// second, and only while DuckDB has an estimate. It works for sessions that started before the engine's first statement.
	Progress func(fraction float64)
}

// Session is one user's state: the current database, variables, temporary views, warnings. Statements of one session run one
// after the other; methods may be called from several goroutines.
type Session struct {
	engine   *Engine
	options  SessionOptions
	id       int64
	door     expr.Dialect
	settings *settings

	open *transaction // the open transaction, nil for none; statements of a session run one after the other

	prepared map[string]*Prepared // by lower-case name: what PREPARE has made; only the running statement looks at it

	mu       sync.Mutex // guards what follows
	database string
	secured  [2]string        // TLS version and cipher of the door's connection, empty for none
	views    map[string]*view // temporary views by lower-case name
	last     *statement       // whose warnings and failure follow
	warnings []Warning
	dropped  int64           // warnings that were not kept
	failure  *protocol.Error // that ended the last statement, nil for none
	inserted int64           // LAST_INSERT_ID()

	temporary temporaryTables
}

// NewSession starts a session. It fails for a setting or a database that does not exist. Session.Close ends it.
func (e *Engine) NewSession(options SessionOptions) (*Session, error) {
	e.mu.Lock()
	e.sessions++
	id := e.sessions
	e.progress = e.progress || options.Progress != nil
	e.mu.Unlock()
	s := &Session{engine: e, options: options, id: id, settings: newSettings(), database: defaultDatabase, views: map[string]*view{}}
	switch strings.ToLower(options.Dialect) {
	case "", "auto", "spark":
	case "mysql":
		s.door = expr.MySQL
	default:
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "dialect %q is none of auto, mysql, spark", options.Dialect)
	}
	if s.options.User == "" {
		s.options.User = "deltasql"
	}
	s.options.ReadOnly = options.ReadOnly || e.options.ReadOnly
	for name, value := range options.Settings {
		if err := s.settings.set(name, value); err != nil {
			return nil, err
		}
	}
	if options.Database != "" {
		database, err := e.catalog.database(context.Background(), options.Database)
		if err != nil {
			return nil, err
		}
		s.database = database
	}
	return s, nil
}

// ID numbers the engine's sessions from 1 (connection_id()).
func (s *Session) ID() int64 { return s.id }

// Database is the current database.
func (s *Session) Database() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.database
}

func (s *Session) setDatabase(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.database = name
}

// databaseDropped leaves the session without a database, as MySQL does, or in Spark's dialect in the default one.
func (s *Session) databaseDropped(mysql bool) {
	if mysql {
		s.setDatabase("")
		return
	}
	s.setDatabase(defaultDatabase)
}

// Warnings are those of the last statement that has ended or given its result, up to max_error_count of them. A result adds those that come
// up while its rows are computed when it ends.
func (s *Session) Warnings() []Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Warning(nil), s.warnings...)
}

// Dialect is the dialect that rules the next statement where Spark and MySQL differ.
func (s *Session) Dialect() expr.Dialect {
	switch strings.ToLower(s.settings.get("deltasql_dialect")) {
	case "spark":
		return expr.Spark
	case "mysql":
		return expr.MySQL
	}
	return s.door
}

// ParseOptions are how this session reads a text now; a script must be cut into statements under them, each after the
// statement before it has run.
func (s *Session) ParseOptions() parse.Options {
	return parseOptions(s.Dialect(), s.settings.sqlMode())
}

func parseOptions(dialect expr.Dialect, mode sqlMode) parse.Options {
	if dialect == expr.MySQL {
		return mode.parseOptions()
	}
	return parse.Options{Dialect: parse.Spark}
}

// Execute runs one statement, without or with its semicolon. A statement with a result set has run as far as its first batch
// needs; the rest runs as Next is called. The context governs the whole life of the result: cancelling it interrupts the
// statement and leaves the session usable.
func (s *Session) Execute(ctx context.Context, sql string) (*Result, error) {
	return s.ExecuteAt(ctx, sql, parse.Pos{})
}

// ExecuteAt is Execute for a statement that stands inside a longer text, so that errors name the text's own lines.
func (s *Session) ExecuteAt(ctx context.Context, sql string, start parse.Pos) (*Result, error) {
	return s.execute(ctx, func() (parse.Statement, error) {
		options := s.ParseOptions()
		options.Start = start
		return parse.Parse(sql, options)
	}, nil)
}

// execute runs what read gives, with values for its parameters.
func (s *Session) execute(ctx context.Context, read func() (parse.Statement, error), parameters []Parameter) (result *Result, err error) {
	st := newStatement(ctx, s)
	st.parameters = parameters
	defer func() {
		if fault := recover(); fault != nil {
			err = recovered(fault)
		}
		if err != nil {
			st.close()
			result, err = nil, translate(err, "")
		}
		s.remember(st, err)
	}()
	parsed, err := read()
	if err != nil {
		return nil, err
	}
	if result, err = st.run(parsed); err != nil {
		return nil, err
	}
	if result.next == nil {
		st.close() // nothing is left to read, so nothing is held
		result.Warnings = st.warnings
		return result, nil
	}
	result.Warnings = st.warnings
	result.onClose(func() { // what was noted while rows were computed
		result.Warnings = st.warnings
		s.complete(st)
	})
	result.onClose(st.close)
	result.onFailure = func(err error) { s.remember(st, err) }
	return result, nil
}

// remember keeps what SHOW WARNINGS and SHOW ERRORS tell of a statement. SHOW itself hands on what it has shown.
func (s *Session) remember(st *statement, err error) {
	failure, _ := err.(*protocol.Error)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.warnings, s.dropped = st, st.warnings, st.dropped
	if failure != nil || !st.keepsFailure {
		s.failure = failure
	}
}

// complete adds the warnings of a statement whose result has ended, unless another statement has run since.
func (s *Session) complete(st *statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == st {
		s.warnings, s.dropped = st.warnings, st.dropped
	}
}

// WarningCount is the number of the last statement's warnings, those that were not kept included.
func (s *Session) WarningCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.warnings) + int(s.dropped)
}

func (s *Session) lastFailure() *protocol.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}
