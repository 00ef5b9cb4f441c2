package sqlengine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

// locate finds out where the table is to be and whether the name is taken. A view of the name is always in the way.
func (st *statement) locate(s *parse.CreateTable) (*creation, error) {
	c := &creation{s: s}
	var location string
	if s.Location != nil {
		var err error
		if location, err = st.session.engine.fencedPath(*s.Location); err != nil {
			return nil, err
		}
	}
	if len(s.Name) == 2 && s.Name[1].Quoted && fileFormats[strings.ToLower(s.Name[0].Name)] {
		if s.Temporary {
			return nil, at(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "a temporary table lies where the session has its own, not at a path"), s.Name)
		}
		return c, st.locatePath(c, location)
	}
	database, name, err := st.split(s.Name)
	if err != nil {
		return nil, at(err, s.Name)
	}
	catalog := st.session.engine.catalog
	if c.database, err = catalog.database(st.ctx, database); err != nil {
		return nil, at(err, s.Name)
	}
	c.name = name
	if !plainName(name) {
		return nil, at(protocol.NewError("INVALID_SCHEMA_OR_RELATION_NAME", "%q cannot be the name of a folder, and so not of a table", name).
			WithHint("names do not start with _ or . and hold no slashes; a table anywhere is named as delta.`path`"), s.Name)
	}
	if s.Temporary {
		return c, st.locateTemporary(c, location)
	}
	found, err := st.lookUpStored(st.ctx, c.database, name)
	if err != nil {
		return nil, err
	}
	c.target = target{database: c.database, name: name}
	if found.view != nil {
		if s.Mode == parse.Create && s.IfNotExists {
			c.known = true
			return c, nil
		}
		return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "%s is a view", found.view.qualified()), s.Name)
	}
	if found.path != "" {
		c.known, c.path, c.target = true, found.path, found
		external, err := catalog.external(st.ctx, c.database, name)
		c.external = err == nil && external != nil && external.Location == found.path
		if location != "" && location != found.path && s.Mode != parse.Create {
			return nil, at(protocol.NewError("DELTA_TABLE_LOCATION_MISMATCH", "the table %s lies in %s, not in %s", found.shown(), found.path, location), s.Name)
		}
		return c, err
	}
	if location != "" {
		c.path, c.external = location, true
		c.target.path = c.path
		return c, nil
	}
	if s.External {
		return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "CREATE EXTERNAL TABLE needs a LOCATION").At(s.Pos.Line, s.Pos.Column)
	}
	places, err := catalog.places(st.ctx, c.database)
	if err != nil {
		return nil, err
	}
	folder := places[0]
	if c.database == defaultDatabase && len(places) == 1 {
		folder = filepath.Join(catalog.root, defaultDatabase) // made with the first table
	}
	c.path = filepath.Join(folder, name)
	c.target.path = c.path
	return c, nil
}

// locatePath is locate for a table that is named by its path.
func (st *statement) locatePath(c *creation, location string) error {
	name := c.s.Name
	if format := strings.ToLower(name[0].Name); format != "delta" {
		return at(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "tables are Delta tables; %s.`path` cannot be created", format), name)
	}
	path, err := st.session.engine.fencedPath(name[1].Name)
	if err != nil {
		return at(err, name)
	}
	if location != "" && location != path {
		return at(protocol.NewError("DELTA_CREATE_TABLE_IDENTIFIER_LOCATION_MISMATCH", "the table is named by the path %s, and LOCATION says %s", path, location), name)
	}
	c.path, c.external, c.known = path, true, isMade(path)
	c.target = target{path: path}
	return nil
}

// claim refuses a folder that holds files, and one whose files another table would take for its own.
func (st *statement) claim(c *creation) error {
	if err := st.apart(c.path); err != nil {
		return at(err, c.s.Name)
	}
	if _, err := os.Lstat(filepath.Join(c.path, creationMark)); err == nil {
		return nil
	}
	switch full, err := holdsFiles(c.path); {
	case err != nil:
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be used", c.path).WithCause(err)
	case full && c.external && !c.s.HasColumns && c.s.Query == nil && c.s.Clone == nil && c.s.Like == nil:
		return at(protocol.NewError("DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG", "the folder %s holds files but no Delta table, so that the columns of %s are not known", c.path, c.target.shown()).
			WithHint("CONVERT TO DELTA parquet.`%s` makes a table of Parquet files", c.path), c.s.Name)
	case full:
		return at(protocol.NewError("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "the folder %s of the new table %s is not empty and holds no Delta table", c.path, c.target.shown()), c.s.Name)
	}
	return nil
}

// apart refuses a folder inside a table, whose VACUUM would delete what lies there, and one among the catalog's own files.
func (st *statement) apart(folder string) error {
	real := withoutLinks(folder)
	if table := enclosingTable(real); table != "" {
		return protocol.NewError("DELTASQL_LOCATION_OVERLAP", "the folder %s lies inside the table %s", folder, table).WithHint("a table has its folder for itself")
	}
	own := filepath.Join(withoutLinks(st.session.engine.catalog.root), catalogFolder)
	if real == own || strings.HasPrefix(real, own+string(filepath.Separator)) {
		return protocol.NewError("DELTASQL_LOCATION_OVERLAP", "the folder %s belongs to the catalog itself", folder)
	}
	return nil
}

// unclaim removes the folders that a failed CREATE has left, if they are empty.
func (st *statement) unclaim(c *creation) {
	if c.s.Temporary {
		os.RemoveAll(c.path)
		return
	}
	st.session.engine.catalog.forget(c.path)
	if isTable(c.path) {
		os.Remove(filepath.Join(c.path, protocol.LogFolder))
	}
	os.Remove(c.path)
}

// underName runs what makes, or changes, the table of a CREATE, and gives the table its name. The name of an external table is written
// first, so that no table lies there without it, whenever the process dies.
func (st *statement) underName(c *creation, make func() error) error {
	catalog := st.session.engine.catalog
	if c.s.Temporary || !c.external || c.database == "" || c.known {
		if err := make(); err != nil {
			return err
		}
		if c.s.Temporary {
			st.session.keepTemporary(c.target)
		}
		return nil
	}
	entry := &externalTable{Name: c.name, Database: c.database, Location: c.path, Created: st.now.UnixMilli()}
	err := catalog.reserve(st.ctx, entry)
	if errors.Is(err, store.ErrExists) {
		return at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table or view %s exists already", c.target.shown()), c.s.Name)
	}
	if err != nil {
		return err
	}
	after := context.WithoutCancel(st.ctx)
	if err := make(); err != nil {
		if drop := catalog.dropExternal(after, c.database, c.name); drop != nil {
			st.warn(warningLog, "%v", drop)
		}
		return err
	}
	if err := catalog.confirm(after, entry); err != nil {
		st.warn(warningLog, "%v", err) // the name stands for the table all the same, as long as that is there
	}
	return nil
}

// lockCreation waits until no other statement changes the name, or the folder, of a table that is to be made.
func (st *statement) lockCreation(s *parse.CreateTable) (unlock func(), err error) {
	if s.Temporary {
		return func() {}, nil
	}
	catalog := st.session.engine.catalog
	var locks []nameLock
	location := s.Location
	if len(s.Name) == 2 && s.Name[1].Quoted && fileFormats[strings.ToLower(s.Name[0].Name)] {
		location = &s.Name[1].Name
	} else if locks, err = st.locksOfName(s.Name); err != nil {
		return nil, err
	}
	if location != nil {
		path, err := st.session.engine.fencedPath(*location)
		if err != nil {
			return nil, at(err, s.Name)
		}
		locks = append(locks, lockOfFolder(path))
	}
	return catalog.lock(st.ctx, locks...)
}

// locksOfName are those of who changes what a name stands for. A database that is not there has none, as nothing can be changed in it.
func (st *statement) locksOfName(name parse.Name) ([]nameLock, error) {
	database, plain, err := st.split(name)
	if err != nil {
		return nil, at(err, name)
	}
	return []nameLock{lockOfDatabase(database, true), lockOfName(database, plain)}, nil
}

// holdsFiles tells whether a folder has a file in it, however deep, beside hidden ones.
func holdsFiles(folder string) (bool, error) {
	found := false
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == folder:
		case hidden(entry.Name()) && filepath.Dir(path) == folder:
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			found = true
			return fs.SkipAll
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return found, err
}
