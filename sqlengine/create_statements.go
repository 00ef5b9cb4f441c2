package sqlengine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
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
	unlock, err := st.lockCreation(s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if s.Clone != nil {
		return st.createClone(s)
	}
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	switch {
	case s.Using != "" && !strings.EqualFold(s.Using, "delta"):
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "tables are Delta tables; USING %s is not supported", s.Using).
			WithHint("files of other formats are read by %s.`path`, and a view gives them a name", strings.ToLower(s.Using)))
	case s.Like != nil && s.Mode != parse.Create:
		return nil, place(protocol.NewError("PARSE_SYNTAX_ERROR", "CREATE TABLE LIKE makes a new table and replaces none"))
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
	return result, st.put(c, do)
}

// put makes the table by the work, or changes the one that is there.
func (st *statement) put(c *creation, do work) error {
	switch made := isMade(c.path); {
	case made && !c.known && !c.external:
		return errMadeMeanwhile
	case made || c.known:
		return st.underName(c, func() error {
			_, err := st.changeTable(c.target, c.log, do)
			return err
		})
	}
	if err := st.claim(c); err != nil {
		return err
	}
	return st.underName(c, func() error { return st.makeTable(c, do) })
}

// makeTable makes version 0 of a table.
func (st *statement) makeTable(c *creation, do work) (err error) {
	defer func() {
		if err != nil {
			st.unclaim(c)
		}
	}()
	tx, err := txn.Create(st.ctx, c.log, st.transactionOptions())
	if err != nil {
		return err
	}
	filled := c.s.Query != nil || c.s.Clone != nil && !c.s.Clone.Shallow
	if filled {
		if err := c.log.Store().Put(st.ctx, creationMark, []byte("a CREATE TABLE that writes rows is at work here, or has died\n")); err != nil {
			return withTable(protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be written", c.path).WithCause(err), c.target)
		}
	}
	_, err = st.finish(tx, do)
	if filled {
		unmark := c.log.Store().Delete(context.WithoutCancel(st.ctx), creationMark)
		if err == nil && unmark != nil {
			st.warn(warningLog, "the file %s stays in the log, where it does no harm: %v", creationMark, unmark)
		}
	}
	if err != nil {
		return withTable(err, c.target)
	}
	return nil
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
	return &Result{}, st.put(c, func(tx *txn.Transaction) (*txn.Operation, error) {
		if tx.Snapshot() != nil {
			return nil, at(protocol.NewError("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "the folder %s holds a table already", c.path).
				WithHint("CREATE TABLE ... LOCATION without LIKE takes the table as it is"), c.s.Name)
		}
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
