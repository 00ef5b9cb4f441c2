package sqlengine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

// dropTable removes tables: of an external one the catalog's entry, of any other its folder. A temporary table goes before one that it
// hides.
func (st *statement) dropTable(s *parse.DropTable) (*Result, error) {
	if err := st.mayWrite("DROP TABLE", s.Pos); err != nil {
		return nil, err
	}
	type found struct{ database, name string }
	var tables []found
	var temporary []target
	unlock, err := st.lockNames(s.Names...)
	if err != nil {
		return nil, err
	}
	defer unlock()
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

// droppedPrefix begins the names of folders of dropped tables while they are being removed.
const droppedPrefix = ".dropped-"

// removeTable drops one table. A folder is first renamed to a hidden name, so that the table is gone as a whole or not at all.
func (st *statement) removeTable(database, name string) error {
	catalog := st.session.engine.catalog
	path, err := catalog.find(st.ctx, database, name)
	if err != nil || path == "" {
		return err
	}
	table, err := catalog.table(path)
	if err != nil {
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
	turn, err := table.Turn(st.ctx, nil) // not in the middle of a commit of this process
	if err != nil {
		return cancelled(st.ctx)
	}
	defer turn()
	hidden := filepath.Join(filepath.Dir(path), droppedPrefix+newID())
	err = store.RenameFolder(path, hidden)
	switch {
	case errors.Is(err, store.ErrOutcomeUnknown):
		st.warn(warnIgnored, "table %s.%s is dropped, but may be back after a crash of the machine: %v", database, name, err)
	case err != nil:
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be removed", path).WithCause(err)
	}
	catalog.forget(path)
	if err := os.RemoveAll(hidden); err != nil {
		st.warn(warnIgnored, "table %s.%s is dropped, but files of it stay in %s: %v", database, name, hidden, err)
	}
	removeDropped(filepath.Dir(path))
	return nil
}

// lockNames waits until no other statement changes what the names stand for.
func (st *statement) lockNames(names ...parse.Name) (unlock func(), err error) {
	var locks []nameLock
	for _, name := range names {
		if len(name) == 2 && name[1].Quoted && fileFormats[strings.ToLower(name[0].Name)] {
			continue
		}
		more, err := st.locksOfName(name)
		if err != nil {
			return nil, err
		}
		locks = append(locks, more...)
	}
	return st.session.engine.catalog.lock(st.ctx, locks...)
}

// removeDropped removes what a DROP that died has left of tables in a folder.
func removeDropped(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // whoever removes the folder says so
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), droppedPrefix) {
			os.RemoveAll(filepath.Join(folder, entry.Name()))
		}
	}
}
