package sqlengine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

// renameTable gives a table of the catalog another name: its folder is moved, or the entry of an external table.
func (st *statement) renameTable(name parse.Name, a *parse.RenameTable) (*Result, error) {
	own, err := st.resolve(st.ctx, name)
	if err != nil {
		return nil, err
	}
	unlock, err := st.lockNames(name, st.inDatabase(a.To, own.database))
	if err != nil {
		return nil, err
	}
	defer unlock()
	t, err := st.resolve(st.ctx, name)
	if err != nil {
		return nil, err
	}
	if _, err := st.table(t, "ALTER TABLE ... RENAME"); err != nil {
		return nil, at(err, name)
	}
	if t.name == "" {
		return nil, at(protocol.NewError("DELTA_CANNOT_RENAME_PATH", "a table that is named by its path has no name that could be changed"), name)
	}
	to, err := st.newName(a.To, t.database)
	if err != nil {
		return nil, err
	}
	catalog := st.session.engine.catalog
	external, err := catalog.external(st.ctx, t.database, t.name)
	if err != nil {
		return nil, err
	}
	if external != nil && external.Location == t.path {
		moved := *external
		moved.Database, moved.Name = to.database, to.name
		if err := catalog.reserve(st.ctx, &moved); err != nil {
			if errors.Is(err, store.ErrExists) {
				return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table %s exists already", to.shown()), a.To)
			}
			return nil, err
		}
		if err := catalog.dropExternal(st.ctx, t.database, t.name); err != nil {
			return nil, err
		}
		return &Result{}, catalog.confirm(st.ctx, &moved)
	}
	if err := os.MkdirAll(filepath.Dir(to.path), 0o777); err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder of the database %s cannot be made", to.database).WithCause(err)
	}
	table, err := catalog.table(t.path)
	if err != nil {
		return nil, err
	}
	turn, err := table.Turn(st.ctx, nil) // not in the middle of a commit of this process
	if err != nil {
		return nil, cancelled(st.ctx)
	}
	defer turn()
	err = store.RenameFolder(t.path, to.path)
	switch {
	case errors.Is(err, store.ErrOutcomeUnknown):
		st.warn(warnIgnored, "table %s is renamed, but may have its old name after a crash of the machine: %v", to.shown(), err)
	case errors.Is(err, fs.ErrExist):
		return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the folder %s, where the table %s would lie, exists already", to.path, to.shown()), a.To)
	case err != nil:
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be moved to %s", t.path, to.path).WithCause(err)
	}
	catalog.forget(t.path)
	catalog.forget(to.path)
	return &Result{}, nil
}

// inDatabase gives a bare name the database in the Spark dialect, where it does not mean the current one.
func (st *statement) inDatabase(name parse.Name, database string) parse.Name {
	if len(name) != 1 || database == "" || st.session.Dialect() != expr.Spark {
		return name
	}
	return parse.Name{{Name: database, Quoted: true}, name[0]}
}

// newName is where a table of a new name goes, which must be free. A bare name stays in the table's own database in the
// Spark dialect, and is in the current one in MySQL's.
func (st *statement) newName(name parse.Name, own string) (target, error) {
	database, plain, err := st.split(st.inDatabase(name, own))
	if err != nil {
		return target{}, at(err, name)
	}
	catalog := st.session.engine.catalog
	if database, err = catalog.database(st.ctx, database); err != nil {
		return target{}, at(err, name)
	}
	if !plainName(plain) {
		return target{}, at(protocol.NewError("INVALID_SCHEMA_OR_RELATION_NAME", "%q cannot be the name of a folder, and so not of a table", plain), name)
	}
	there, err := st.lookUp(st.ctx, database, plain)
	if err != nil && !bind.Missing(err) {
		return target{}, err
	}
	if there.path != "" || there.view != nil {
		return target{}, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table or view %s exists already", there.shown()), name)
	}
	places, err := catalog.places(st.ctx, database)
	if err != nil {
		return target{}, err
	}
	return target{database: database, name: plain, path: filepath.Join(places[0], plain)}, nil
}

// setLocation points the name of an external table at another folder that holds a table of the same shape.
func (st *statement) setLocation(name parse.Name, a *parse.SetLocation) (*Result, error) {
	unlock, err := st.lockNames(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	t, err := st.resolve(st.ctx, name)
	if err != nil {
		return nil, err
	}
	if a.Partition {
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "a partition of a Delta table has no location of its own").At(a.Pos.Line, a.Pos.Column)
	}
	if t.name == "" && t.view == nil {
		return nil, at(protocol.NewError("DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER", "a table that is named by its path lies at that path"), name)
	}
	now, err := st.snapshotOf(t, "ALTER TABLE ... SET LOCATION")
	if err != nil {
		return nil, at(err, name)
	}
	path, err := st.session.engine.fencedPath(a.Location)
	if err != nil {
		return nil, err
	}
	if err := checkTableFolder(path, a.Location); err != nil {
		return nil, err
	}
	there, err := st.snapshotOf(target{path: path}, "ALTER TABLE ... SET LOCATION")
	if err != nil {
		return nil, err
	}
	if err := ddl.CheckLocation(state(now), state(there)); err != nil {
		return nil, withTable(err, t)
	}
	catalog := st.session.engine.catalog
	external, err := catalog.external(st.ctx, t.database, t.name)
	if err != nil {
		return nil, err
	}
	if external == nil || external.Location != t.path {
		return nil, at(protocol.NewError("UNSUPPORTED_FEATURE", "the table %s lies in its database's folder, which is what its name means", t.shown()).
			WithHint("a table made with LOCATION can be pointed elsewhere"), name)
	}
	external.Location = path
	return &Result{}, catalog.putExternal(st.ctx, external, true)
}
