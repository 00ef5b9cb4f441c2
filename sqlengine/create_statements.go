package sqlengine

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// creation is a CREATE TABLE while it runs: where the table is to be, and what is there.
type creation struct {
	s        *parse.CreateTable
	database string // "" for a table that is named by its path
	name     string
	path     string // the table's folder
	external bool   // not in the database's folder
	known    bool   // the name stands for a table, or the path for one
	target   target // of messages
	log      *log.Table
}

// createTable is CREATE TABLE in all its forms.
func (st *statement) createTable(s *parse.CreateTable) (*Result, error) {
	if err := st.mayWrite("CREATE TABLE", s.Pos); err != nil {
		return nil, err
	}
	if s.Clone != nil {
		return st.createClone(s)
	}
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	switch {
	case s.Using != "" && !strings.EqualFold(s.Using, "delta"):
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "tables are Delta tables; USING %s is not supported", s.Using).
			WithHint("files of other formats are read by %s.`path`, and a view gives them a name", strings.ToLower(s.Using)))
	case len(s.Options) > 0:
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "OPTIONS has no meaning for Delta tables").WithHint("table properties are set by TBLPROPERTIES"))
	case s.Query != nil && s.HasColumns && st.session.Dialect() == expr.Spark:
		return nil, place(protocol.NewError("PARSE_SYNTAX_ERROR", "CREATE TABLE AS SELECT takes its columns from the query and no list of them"))
	case s.Query != nil && s.HasColumns:
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "CREATE TABLE AS SELECT takes its columns from the query and no list of them").
			WithHint("create the table first, then INSERT INTO ... SELECT"))
	}
	st.ignored(s.Ignored)
	return st.retryCreation(s, st.createOnce)
}

// retryCreation runs a statement that makes a table again where another writer has made the table since its name was looked up.
func (st *statement) retryCreation(s *parse.CreateTable, once func(*parse.CreateTable) (*Result, error)) (*Result, error) {
	for run := 0; ; run++ {
		result, err := once(s)
		var lost *txn.Conflict
		if run == maxReruns || !errors.Is(err, errMadeMeanwhile) && (!errors.As(err, &lost) || lost.Winner > 0) {
			return result, err
		}
		clear(st.pins)
	}
}

// errMadeMeanwhile ends a CREATE TABLE that finds a table where there was none when it looked.
var errMadeMeanwhile = errors.New("another writer has made the table meanwhile")

// madeMeanwhile tells whether the name stands for a table now and did not when it was looked up.
func (st *statement) madeMeanwhile(c *creation) (bool, error) {
	if c.known || !isMade(c.path) {
		return false, nil
	}
	if !c.external || c.database == "" {
		return !c.external, nil
	}
	there, err := st.session.engine.catalog.external(st.ctx, c.database, c.name)
	return there != nil, err
}

// createOnce looks the name up and does what CREATE TABLE means by what it finds. A creation that loses to another one is a conflict
// with its version 0.
func (st *statement) createOnce(s *parse.CreateTable) (*Result, error) {
	c, err := st.locate(s)
	if err != nil {
		return nil, err
	}
	switch {
	case c.known && s.Mode == parse.Create && s.IfNotExists:
		st.warn(noteTableExists, "table %s exists already", c.target.shown())
		return &Result{}, nil
	case c.known && s.Mode == parse.Create:
		return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table or view %s exists already", c.target.shown()).
			WithHint("CREATE TABLE IF NOT EXISTS leaves it as it is, CREATE OR REPLACE TABLE makes it anew"), s.Name)
	case !c.known && s.Mode == parse.Replace:
		return nil, at(protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "there is no table %s to replace", written(s.Name)).WithHint("CREATE OR REPLACE TABLE makes one"), s.Name)
	}
	if c.log, err = st.table(c.target, "CREATE TABLE"); err != nil {
		return nil, err
	}
	if s.Like != nil {
		return st.createLike(c)
	}
	return st.createNew(c)
}

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

// createNew makes a table from columns, or from a query, in one commit.
func (st *statement) createNew(c *creation) (*Result, error) {
	spec, source, err := st.spec(c)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	do := func(tx *txn.Transaction) (*txn.Operation, error) {
		if source != nil && tx.Snapshot() != nil { // the query may read the very table, and then reads the version that it replaces
			if spec, source, err = st.spec(c); err != nil {
				return nil, err
			}
		}
		made, err := st.made(c, spec, tx)
		if err != nil || made == nil {
			return nil, err
		}
		if err := st.stage(tx, made); err != nil {
			return nil, err
		}
		operation := made.Operation
		if tx.Snapshot() != nil {
			if err := removeAll(tx, tx.Snapshot()); err != nil {
				return nil, err
			}
		}
		if source != nil {
			written, err := st.insertRows(tx, source)
			if err != nil {
				return nil, err
			}
			operation.Metrics = append(operation.Metrics, written.metrics()...)
			result.Affected = written.rows
		}
		return &operation, nil
	}
	if meanwhile, err := st.madeMeanwhile(c); err != nil || meanwhile {
		return nil, cmp.Or(err, errMadeMeanwhile)
	}
	if c.known || isMade(c.path) {
		if _, err := st.changeTable(c.target, c.log, do); err != nil {
			return nil, err
		}
		return result, st.register(c)
	}
	return result, st.createBy(c, do)
}

// createBy makes version 0 of a table and gives it its name. The name of an external table is reserved first, so that a table never
// lies there without it.
func (st *statement) createBy(c *creation, do work) (err error) {
	if err := st.claim(c); err != nil {
		return err
	}
	free, err := st.reserveName(c)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			st.unclaim(c)
			free()
		}
	}()
	tx, err := txn.Create(st.ctx, c.log, st.transactionOptions())
	if err != nil {
		return err
	}
	if c.s.Query != nil {
		if err := c.log.Store().Put(st.ctx, creationMark, []byte("a CREATE TABLE AS SELECT is at work here, or has died\n")); err != nil {
			return withTable(protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be written", c.path).WithCause(err), c.target)
		}
	}
	_, err = st.finish(tx, do)
	if c.s.Query != nil {
		unmark := c.log.Store().Delete(context.WithoutCancel(st.ctx), creationMark)
		if err == nil && unmark != nil {
			st.warn(warningLog, "the file %s stays in the log, where it does no harm: %v", creationMark, unmark)
		}
	}
	if err != nil {
		return withTable(err, c.target)
	}
	return st.confirmName(c)
}

// creationMark is there while a new table's rows are written before its first commit. In a folder that has it and no commit, what
// else is there was left by a CREATE that died; no table has these files, and VACUUM of the table that comes removes them.
const creationMark = logFolder + "/.creating"

// made is what the new table is, by package ddl: a new one, one in place of another, or one that is there already and agrees (nil).
func (st *statement) made(c *creation, spec ddl.CreateSpec, tx *txn.Transaction) (*ddl.Change, error) {
	old := tx.Snapshot()
	switch {
	case old == nil:
		return ddl.Create(spec, st.env())
	case c.s.Mode == parse.Create && c.s.Query != nil:
		return nil, at(protocol.NewError("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "the folder %s holds a table already, to which CREATE TABLE AS SELECT does not add rows", c.path).
			WithHint("CREATE TABLE ... LOCATION without a query takes the table as it is; INSERT INTO adds rows to it"), c.s.Name)
	case c.s.Mode == parse.Create:
		return nil, ddl.Adopt(state(old), spec, st.env())
	}
	return ddl.Replace(state(old), spec, st.env())
}

// claim refuses a folder that holds other files, and one whose files another table would take for its own.
func (st *statement) claim(c *creation) error {
	if err := st.apart(c.path); err != nil {
		return at(err, c.s.Name)
	}
	entries, err := os.ReadDir(c.path)
	if err != nil && !os.IsNotExist(err) {
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be used", c.path).WithCause(err)
	}
	if _, err := os.Lstat(filepath.Join(c.path, creationMark)); err == nil {
		return nil
	}
	for _, entry := range entries {
		if hidden(entry.Name()) {
			continue
		}
		if c.external && !c.s.HasColumns && c.s.Query == nil {
			return at(protocol.NewError("DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG", "the folder %s holds files but no Delta table, so that the columns of %s are not known", c.path, c.target.shown()).
				WithHint("CONVERT TO DELTA parquet.`%s` makes a table of Parquet files", c.path), c.s.Name)
		}
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

// reserveName writes the name of an external table that is to be made; free takes it back where the table was not made.
func (st *statement) reserveName(c *creation) (free func(), err error) {
	if !c.external || c.database == "" || c.s.Temporary {
		return func() {}, nil
	}
	free, err = st.session.engine.catalog.reserve(st.ctx, st.entry(c))
	if errors.Is(err, store.ErrExists) {
		err = errMadeMeanwhile
	}
	return free, err
}

func (st *statement) entry(c *creation) *externalTable {
	return &externalTable{Name: c.name, Database: c.database, Location: c.path, Created: st.now.UnixMilli()}
}

// confirmName gives a new temporary table its name in the session, and tells of an external one that has lost its name: while one
// CREATE is at work another one of another location cannot know it from one that has died.
func (st *statement) confirmName(c *creation) error {
	if c.s.Temporary {
		st.session.keepTemporary(c.target)
		return nil
	}
	if !c.external || c.database == "" {
		return nil
	}
	if now, err := st.session.engine.catalog.externalEntry(st.ctx, c.database, c.name); err == nil && now != nil && now.Location != c.path {
		return at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the name %s was given to another table meanwhile, and this one lies in %s without a name", c.target.shown(), c.path), c.s.Name)
	}
	return nil
}

// register gives a table that was found at an external location its name in the catalog.
func (st *statement) register(c *creation) error {
	if !c.external || c.database == "" || c.known || c.s.Temporary {
		return nil
	}
	err := st.session.engine.catalog.putExternal(st.ctx, st.entry(c), false)
	if errors.Is(err, store.ErrExists) {
		return at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table %s was made by another session meanwhile", c.target.shown()), c.s.Name)
	}
	return err
}

// spec is what the statement says of the table; source is the query that fills it, nil without one.
func (st *statement) spec(c *creation) (spec ddl.CreateSpec, source *insertion, err error) {
	s := c.s
	properties, err := propertyMap(s.Properties, s.Pos)
	if err != nil {
		return spec, nil, err
	}
	spec = ddl.CreateSpec{
		Table: c.target.shown(), Description: s.Comment, Properties: properties, OrReplace: s.Mode == parse.CreateOrReplace, External: c.external,
		AsSelect: s.Query != nil, UserColumns: s.HasColumns,
	}
	for _, p := range s.PartitionBy {
		spec.PartitionColumns = append(spec.PartitionColumns, p.Name.Name)
	}
	if s.ClusterBy != nil {
		if s.ClusterBy.Auto {
			return spec, nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "CLUSTER BY AUTO is not supported").
				WithHint("name the columns to cluster by").At(s.ClusterBy.Pos.Line, s.ClusterBy.Pos.Column)
		}
		spec.ClusterBy = columnPaths(s.ClusterBy.Columns)
	}
	if s.Query != nil {
		source, err = st.selectInsertion(s)
		if err != nil {
			return spec, nil, err
		}
		spec.Schema = source.schema
		return spec, source, nil
	}
	table := c.name
	if table == "" {
		table = filepath.Base(c.path)
	}
	d, err := st.define(table, s.Columns, s.PartitionBy, s.Checks, s.Keys, s.ForeignKeys)
	if err != nil {
		return spec, nil, err
	}
	spec.Schema, spec.Constraints = d.schema, d.constraints
	for key, value := range d.properties {
		spec.Properties[key] = value
	}
	return spec, nil, nil
}

// columnPaths are names of columns as paths; never nil.
func columnPaths(names []parse.Name) [][]string {
	out := make([][]string, len(names))
	for i, name := range names {
		for _, part := range name {
			out[i] = append(out[i], part.Name)
		}
	}
	return out
}

// createLike copies a table's definition.
func (st *statement) createLike(c *creation) (*Result, error) {
	t, err := st.resolve(st.ctx, c.s.Like)
	if err != nil {
		return nil, err
	}
	source, err := st.snapshotOf(t, "CREATE TABLE LIKE")
	if err != nil {
		return nil, at(err, c.s.Like)
	}
	properties, err := propertyMap(c.s.Properties, c.s.Pos)
	if err != nil {
		return nil, err
	}
	return &Result{}, st.createBy(c, func(tx *txn.Transaction) (*txn.Operation, error) {
		made, err := ddl.Like(state(source), ddl.CreateSpec{Table: c.target.shown(), Properties: properties, External: c.external}, st.env())
		if err != nil {
			return nil, err
		}
		return &made.Operation, st.stage(tx, made)
	})
}

// snapshotOf is the version that the statement reads of a target that must be a Delta table.
func (st *statement) snapshotOf(t target, doing string) (*log.Snapshot, error) {
	if _, err := st.table(t, doing); err != nil {
		return nil, err
	}
	return st.snapshot(st.ctx, t, nil)
}
