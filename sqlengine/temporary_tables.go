package sqlengine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// temporaryTables are the temporary tables of one session: Delta tables in a folder of the session's own, below the engine's folder
// for temporary files. As in MySQL such a table belongs to a database, hides what that has of its name, and goes with DROP TABLE or the
// session. The queries of stored views never see one.
type temporaryTables struct {
	mu     sync.Mutex // guards what follows
	folder string     // made with the first table
	made   int        // names the tables' folders
	tables map[string]target
}

// temporaryKey is how a table is found: names match in any case.
func temporaryKey(database, name string) string {
	return strings.ToLower(database) + "\x00" + strings.ToLower(name)
}

func (s *Session) temporaryTable(database, name string) (target, bool) {
	s.temporary.mu.Lock()
	defer s.temporary.mu.Unlock()
	t, ok := s.temporary.tables[temporaryKey(database, name)]
	return t, ok
}

// temporaryTablesOf are the names of a database's temporary tables, sorted.
func (s *Session) temporaryTablesOf(database string) []string {
	s.temporary.mu.Lock()
	defer s.temporary.mu.Unlock()
	var names []string
	for _, t := range s.temporary.tables {
		if strings.EqualFold(t.database, database) {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	return names
}

// newTemporary is a folder for a table that is to be made, opened under the table's name.
func (s *Session) newTemporary(database, name string, parquet log.Parquet) (target, error) {
	own := &s.temporary
	own.mu.Lock()
	defer own.mu.Unlock()
	failed := func(err error) error {
		return protocol.NewError("DELTASQL_STORAGE", "no folder can be made for the temporary table %s.%s", database, name).WithCause(err).
			WithHint("temporary tables lie in the folder given by --temp")
	}
	if own.folder == "" {
		folder, err := s.engine.temporaryFolder("deltasql-session-")
		if err != nil {
			return target{}, failed(err)
		}
		own.folder, own.tables = folder, map[string]target{}
	}
	own.made++
	t := target{database: database, name: name, path: filepath.Join(own.folder, strconv.Itoa(own.made))}
	files, err := s.engine.catalog.store(t.path)
	if err != nil {
		return target{}, failed(err)
	}
	t.temporary = log.OpenTable(files, t.shown(), parquet)
	return t, nil
}

func (s *Session) keepTemporary(t target) {
	s.temporary.mu.Lock()
	defer s.temporary.mu.Unlock()
	s.temporary.tables[temporaryKey(t.database, t.name)] = t
}

// dropTemporary removes one table.
func (s *Session) dropTemporary(t target) error {
	s.temporary.mu.Lock()
	delete(s.temporary.tables, temporaryKey(t.database, t.name))
	s.temporary.mu.Unlock()
	return os.RemoveAll(t.path)
}

// dropTemporaryTables removes all of them.
func (s *Session) dropTemporaryTables() error {
	s.temporary.mu.Lock()
	folder := s.temporary.folder
	s.temporary.folder, s.temporary.tables = "", nil
	s.temporary.mu.Unlock()
	if folder == "" {
		return nil
	}
	if err := s.engine.removeTemporary(folder); err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "files of temporary tables stay in %s", folder).WithCause(err)
	}
	return nil
}

// Close ends a session: its open transaction is rolled back, and its temporary tables are removed. It must have no open result. Closing
// twice does nothing more.
func (s *Session) Close() error {
	s.rollback(context.Background())
	return s.dropTemporaryTables()
}

// temporaryFolder makes a folder below the engine's for temporary files, which Engine.Close removes if nobody has before.
func (e *Engine) temporaryFolder(prefix string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return "", engineClosed()
	}
	folder, err := os.MkdirTemp(e.options.TempDir, prefix)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err == nil {
		e.leftovers[folder] = true
	}
	return folder, err
}

func (e *Engine) removeTemporary(folder string) error {
	e.mu.Lock()
	delete(e.leftovers, folder)
	e.mu.Unlock()
	return os.RemoveAll(folder)
}

// locateTemporary is locate for CREATE TEMPORARY TABLE.
func (st *statement) locateTemporary(c *creation, location string) error {
	s := c.s
	switch {
	case location != "" || s.External:
		return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "a temporary table lies where the session has its own and takes no LOCATION").At(s.Pos.Line, s.Pos.Column)
	case st.session.temporaryView(c.name) != nil && strings.EqualFold(c.database, st.session.Database()):
		return at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "%s is a temporary view of this session", c.name), s.Name)
	}
	if t, ok := st.session.temporaryTable(c.database, c.name); ok {
		c.known, c.path, c.target = true, t.path, t
		return nil
	}
	t, err := st.session.newTemporary(c.database, c.name, st.session.engine.catalog.parquet)
	c.path, c.target = t.path, t
	return err
}

// dropsTemporary finds the temporary table that DROP TABLE is about, if it is about one.
func (st *statement) dropsTemporary(name parse.Name) (target, bool) {
	database, plain, err := st.split(name)
	if err != nil {
		return target{}, false
	}
	return st.session.temporaryTable(database, plain)
}
