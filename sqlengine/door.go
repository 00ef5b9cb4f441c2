package sqlengine

import (
	"context"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// What a door that serves other programs needs to know of a session, beyond running statements.

// User is whose session it is.
func (s *Session) User() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.User
}

// Location is the time zone in which the session's times are shown.
func (s *Session) Location() *time.Location {
	zone, err := expr.Zone(s.settings.get("time_zone"))
	if err != nil {
		return time.UTC
	}
	return zone
}

// Status is what the MySQL protocol tells of a session with every answer.
type Status struct {
	Autocommit         bool
	InTransaction      bool
	NoBackslashEscapes bool
}

// Status is the session's state now.
func (s *Session) Status() Status {
	return Status{Autocommit: s.settings.on("autocommit"), InTransaction: s.open != nil, NoBackslashEscapes: s.settings.sqlMode().noBackslashEscapes}
}

// Setting is the value of a variable, "" for one that is not known.
func (s *Session) Setting(name string) string {
	value, _ := s.settings.show(name)
	return value
}

// Use makes a database the current one.
func (s *Session) Use(ctx context.Context, name string) error {
	database, err := s.engine.catalog.database(ctx, name)
	if err != nil {
		return translate(err, "")
	}
	s.mu.Lock()
	s.database = database
	s.mu.Unlock()
	return nil
}

// TableColumns are the columns of a table or view of the current database.
func (s *Session) TableColumns(ctx context.Context, table string) ([]ColumnInfo, error) {
	p, err := s.Prepare(ctx, "SELECT * FROM `"+strings.ReplaceAll(table, "`", "``")+"`")
	if err != nil {
		return nil, err
	}
	return p.Columns(), nil
}

// Secured tells the session that its connection is encrypted, by which version of TLS and by which cipher, for SHOW STATUS.
func (s *Session) Secured(version, cipher string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secured = [2]string{version, cipher}
}

// Warn adds a warning that a door met while it handed on the result of the last statement.
func (s *Session) Warn(w Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings[:len(s.warnings):len(s.warnings)], w)
}

// Fail keeps an error that a door met on a statement's behalf, for SHOW WARNINGS and SHOW ERRORS.
func (s *Session) Fail(err *protocol.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings, s.dropped, s.failure = nil, 0, err
}

// Reset puts a session back to how it started: variables, user variables, temporary views and tables, and warnings go. The current
// database stays.
func (s *Session) Reset() error {
	s.rollback(context.Background())
	if err := s.dropTemporaryTables(); err != nil {
		return err
	}
	if err := s.settings.reset(""); err != nil {
		return err
	}
	s.settings.forgetUser()
	for name, value := range s.options.Settings {
		if err := s.settings.set(name, value); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.views)
	clear(s.prepared)
	s.last, s.warnings, s.dropped, s.failure, s.inserted = nil, nil, 0, nil, 0
	return nil
}

// ChangeUser resets a session and gives it to another user; its number stays. The empty database is the default one.
func (s *Session) ChangeUser(ctx context.Context, user, database string) error {
	if err := s.Reset(); err != nil {
		return err
	}
	s.mu.Lock()
	s.options.User, s.database = user, defaultDatabase
	s.mu.Unlock()
	if database == "" {
		return nil
	}
	return s.Use(ctx, database)
}

// forgetUser drops the user variables.
func (s *settings) forgetUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.user)
}

// ServerVersion is what clients see as the server's version.
func ServerVersion() string { return serverVersion }
