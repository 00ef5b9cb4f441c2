package sqlengine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

// mayWrite refuses a statement that changes something in a session that may only read.
func (st *statement) mayWrite(verb string, at parse.Pos) error {
	if st.session.options.ReadOnly {
		return protocol.NewError("DELTASQL_READ_ONLY", "%s is refused: the session is read-only", verb).At(at.Line, at.Column)
	}
	if st.session.settings.on("transaction_read_only") {
		return protocol.NewError("DELTASQL_READ_ONLY", "%s is refused: transaction_read_only is on", verb).WithErrno(1792).At(at.Line, at.Column)
	}
	return nil
}

// ignored warns of clauses that were read and have no effect.
func (st *statement) ignored(clauses []parse.Ignored) {
	for _, c := range clauses {
		st.warn(warnIgnored, "%s is ignored", c.What)
	}
}

// MySQL's numbers of the notes that statements of this file and its neighbours leave.
const (
	warnIgnored        = 1235 // ER_NOT_SUPPORTED_YET
	noteDatabaseExists = 1007
	noteNoDatabase     = 1008
	noteTableExists    = 1050
	noteNoTable        = 1051
)

// bareDatabase is the one part of a database's name.
func bareDatabase(name parse.Name) (string, error) {
	bare := name
	if len(bare) == 2 && isCatalog(bare[0].Name) {
		bare = bare[1:]
	}
	if len(bare) != 1 {
		return "", at(protocol.NewError("SCHEMA_NOT_FOUND", "%s is not the name of a database", written(name)), name)
	}
	return bare[0].Name, nil
}

// createDatabase makes the folder of a database, and keeps what its clauses say.
func (st *statement) createDatabase(s *parse.CreateDatabase) (*Result, error) {
	if err := st.mayWrite("CREATE DATABASE", s.Pos); err != nil {
		return nil, err
	}
	name, err := bareDatabase(s.Name)
	if err != nil {
		return nil, err
	}
	st.ignored(s.Ignored)
	if !plainName(name) {
		return nil, at(protocol.NewError("INVALID_SCHEMA_OR_RELATION_NAME", "%q cannot be the name of a folder, and so not of a database", name), s.Name)
	}
	if strings.EqualFold(name, informationSchema) {
		return nil, at(protocol.NewError("SCHEMA_ALREADY_EXISTS", "%s describes the catalog and is always there", informationSchema), s.Name)
	}
	catalog := st.session.engine.catalog
	unlock, err := catalog.lock(st.ctx, lockOfDatabase(name, false))
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := catalog.database(st.ctx, name)
	switch {
	case err == nil && s.IfNotExists:
		st.warn(noteDatabaseExists, "database %s exists already", known)
		return st.databaseMade(), nil
	case err == nil:
		return nil, at(protocol.NewError("SCHEMA_ALREADY_EXISTS", "database %s exists already", known).WithHint("CREATE DATABASE IF NOT EXISTS leaves it as it is"), s.Name)
	case !bind.Missing(err):
		return nil, err
	}
	folder := filepath.Join(catalog.root, name)
	entry := &databaseEntry{Format: entryFormat, Name: name, Created: st.now.UnixMilli()}
	if s.Comment != nil {
		entry.Comment = *s.Comment
	}
	for _, p := range s.Properties {
		entry.Properties = append(entry.Properties, [2]string{p.Key, p.Value})
	}
	if s.Location != nil {
		if entry.Location, err = st.session.engine.fencedPath(*s.Location); err != nil {
			return nil, err
		}
		folder = entry.Location
		if err := st.apart(folder); err != nil {
			return nil, at(err, s.Name)
		}
	}
	if isTable(folder) {
		return nil, at(protocol.NewError("SCHEMA_ALREADY_EXISTS", "the folder %s is a table and cannot be a database", folder), s.Name)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s of the database cannot be made", folder).WithCause(err)
	}
	if entry.Comment == "" && entry.Location == "" && entry.Properties == nil {
		return st.databaseMade(), nil // the folder says it all
	}
	err = catalog.putEntry(st.ctx, databaseFile(name), "database "+name, entry, false)
	if errors.Is(err, store.ErrExists) {
		// What an earlier database of the name left behind.
		err = catalog.putEntry(st.ctx, databaseFile(name), "database "+name, entry, true)
	}
	return st.databaseMade(), err
}

// databaseMade is the result of CREATE DATABASE, which MySQL counts as one row.
func (st *statement) databaseMade() *Result {
	if st.mysql() {
		return &Result{Affected: 1}
	}
	return &Result{}
}

// dropDatabase removes a database that is empty, or with CASCADE one with all that is in it. MySQL's form is always the latter.
func (st *statement) dropDatabase(s *parse.DropDatabase) (*Result, error) {
	if err := st.mayWrite("DROP DATABASE", s.Pos); err != nil {
		return nil, err
	}
	name, err := bareDatabase(s.Name)
	if err != nil {
		return nil, err
	}
	catalog := st.session.engine.catalog
	unlock, err := catalog.lock(st.ctx, lockOfDatabase(name, false))
	if err != nil {
		return nil, err
	}
	defer unlock()
	database, err := catalog.database(st.ctx, name)
	if err != nil {
		if s.IfExists && bind.Missing(err) {
			st.warn(noteNoDatabase, "there is no database %s", name)
			return &Result{}, nil
		}
		if known, ok := err.(*protocol.Error); ok && bind.Missing(err) {
			known.Errno = noteNoDatabase
		}
		return nil, at(err, s.Name)
	}
	if database == defaultDatabase {
		return nil, at(protocol.NewError("UNSUPPORTED_FEATURE.DROP_DATABASE", "the database %s cannot be dropped", defaultDatabase), s.Name)
	}
	tables, err := catalog.tables(st.ctx, database)
	if err != nil {
		return nil, err
	}
	views, err := catalog.views(st.ctx, database)
	if err != nil {
		return nil, err
	}
	cascade := s.Cascade || !s.Restrict && st.session.Dialect() == expr.MySQL
	if len(tables)+len(views) > 0 && !cascade {
		return nil, at(protocol.NewError("SCHEMA_NOT_EMPTY", "database %s has %s", database, strings.Join(append(tables, views...), ", ")).
			WithHint("DROP DATABASE %s CASCADE drops them as well", database), s.Name)
	}
	for _, view := range views {
		if err := catalog.dropView(st.ctx, database, view); err != nil {
			return nil, err
		}
	}
	for _, table := range tables {
		if err := st.removeTable(database, table); err != nil {
			return nil, err
		}
	}
	entry, err := catalog.databaseEntry(st.ctx, database)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(catalog.root, database)
	if entry != nil && entry.Location != "" {
		folder = entry.Location
	}
	if entry != nil {
		if err := catalog.dropEntry(st.ctx, databaseFile(database), "database "+database); err != nil {
			return nil, err
		}
	}
	removeDropped(folder)
	// Only an empty folder goes: what else lies in it is none of ours.
	if err := os.Remove(folder); err != nil && !os.IsNotExist(err) {
		if entry != nil && entry.Location != "" {
			return &Result{Affected: int64(len(tables))}, nil
		}
		return nil, protocol.NewError("DELTASQL_STORAGE", "the database %s has no tables any more, but its folder holds other files and stays", database).WithCause(err).
			WithHint("remove what is in %s", folder)
	}
	if st.session.Database() == database {
		st.session.databaseDropped(st.mysql())
	}
	return &Result{Affected: int64(len(tables))}, nil
}
