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

// dropTable removes tables: of an external one the catalog's entry, of any other its folder. A temporary table goes before one that it
// hides.
func (st *statement) dropTable(s *parse.DropTable) (*Result, error) {
	if err := st.mayWrite("DROP TABLE", s.Pos); err != nil {
		return nil, err
	}
	type found struct{ database, name string }
	var tables []found
	var temporary []target
	for _, name := range s.Names {
		if t, ok := st.dropsTemporary(name); ok {
			temporary = append(temporary, t)
			continue
		}
		if len(name) == 2 && name[1].Quoted && fileFormats[strings.ToLower(name[0].Name)] {
			return nil, at(protocol.NewError("UNSUPPORTED_FEATURE", "a table that is named by its path cannot be dropped").
				WithHint("remove its folder, or register it with CREATE TABLE ... LOCATION"), name)
		}
		database, plain, err := st.split(name)
		if err != nil {
			return nil, at(err, name)
		}
		var t target
		if database, err = st.session.engine.catalog.database(st.ctx, database); err == nil {
			t, err = st.lookUpStored(st.ctx, database, plain)
		}
		if s.Temporary {
			t = target{} // what outlives the session is not meant
		}
		switch {
		case err != nil && !bind.Missing(err):
			return nil, at(err, name)
		case t.view != nil:
			return nil, at(protocol.NewError("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "%s is a view; DROP VIEW removes it", t.view.qualified()), name)
		case t.path == "" && s.IfExists:
			st.warn(noteNoTable, "there is no table %s", written(name))
		case t.path == "":
			missing := st.missing(st.ctx, name, database, err)
			missing.Class, missing.Errno = "TABLE_OR_VIEW_NOT_FOUND", noteNoTable
			return nil, at(missing, name)
		default:
			tables = append(tables, found{database, plain})
		}
	}
	for _, t := range tables {
		if err := st.removeTable(t.database, t.name); err != nil {
			return nil, err
		}
	}
	for _, t := range temporary {
		if open := st.session.open; open != nil {
			open.forget(st.ctx, t)
		}
		if err := st.session.dropTemporary(t); err != nil {
			return nil, protocol.NewError("DELTASQL_STORAGE", "the temporary table %s is dropped, but files of it stay in %s", t.shown(), t.path).WithCause(err)
		}
	}
	return &Result{}, nil
}

// removeTable drops one table. A folder is first renamed to a hidden name, so that the table is gone as a whole or not at all.
func (st *statement) removeTable(database, name string) error {
	catalog := st.session.engine.catalog
	path, err := catalog.find(st.ctx, database, name)
	if err != nil || path == "" {
		return err
	}
	external, err := catalog.external(st.ctx, database, name)
	if err != nil {
		return err
	}
	if external != nil && external.Location == path {
		return catalog.dropExternal(st.ctx, database, name)
	}
	if path == catalog.root {
		return protocol.NewError("UNSUPPORTED_FEATURE", "the catalog's own folder %s is the table %s; it cannot be dropped from within", path, name)
	}
	hidden := filepath.Join(filepath.Dir(path), ".dropped-"+newID())
	if err := os.Rename(path, hidden); err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be removed", path).WithCause(err)
	}
	catalog.forget(path)
	if err := os.RemoveAll(hidden); err != nil {
		st.warn(warnIgnored, "table %s.%s is dropped, but files of it stay in %s: %v", database, name, hidden, err)
	}
	return nil
}
