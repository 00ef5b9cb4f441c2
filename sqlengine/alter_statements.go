package sqlengine

import (
	"slices"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
)

// alterTable is ALTER TABLE. What changes the catalog alone (RENAME TO, SET LOCATION) and DROP FEATURE stand alone in their
// statement; all other actions together are one commit.
func (st *statement) alterTable(s *parse.AlterTable) (*Result, error) {
	if err := st.mayWrite("ALTER TABLE", s.Pos); err != nil {
		return nil, err
	}
	st.ignored(s.Ignored)
	if len(s.Actions) == 0 {
		return &Result{}, nil
	}
	for _, action := range s.Actions {
		switch a := action.(type) {
		case *parse.RefusedAction:
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "ALTER TABLE ... %s is not supported for Delta tables", a.What).At(a.Pos.Line, a.Pos.Column)
		case *parse.RenameTable, *parse.SetLocation, *parse.DropFeature:
			if len(s.Actions) > 1 {
				return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "RENAME TO, SET LOCATION and DROP FEATURE stand alone in an ALTER TABLE statement").At(s.Pos.Line, s.Pos.Column)
			}
		}
	}
	switch a := s.Actions[0].(type) {
	case *parse.RenameTable:
		return st.renameTable(s.Name, a)
	case *parse.SetLocation:
		return st.setLocation(s.Name, a)
	}
	t, table, err := st.changeTarget(s.Name, "ALTER TABLE")
	if err != nil {
		return nil, err
	}
	if a, ok := s.Actions[0].(*parse.DropFeature); ok {
		return st.dropFeature(t, table, a)
	}
	return &Result{}, st.alter(t, table, func(view *log.Snapshot, deps ddl.Dependencies) (*ddl.Change, error) {
		var actions []ddl.Action
		for i, action := range s.Actions {
			config := view.Config()
			if i > 0 { // expressions see the columns as the actions before them leave them
				var err error
				if config, err = st.between(view, actions, deps); err != nil {
					return nil, err
				}
			}
			list, err := st.action(config, action)
			if err != nil {
				return nil, err
			}
			actions = append(actions, list...)
		}
		return ddl.Alter(state(view), actions, deps, st.env())
	}, st.backfilled(s.Actions)...)
}

// between is the definition of a table that some actions of a statement have changed.
func (st *statement) between(view *log.Snapshot, actions []ddl.Action, deps ddl.Dependencies) (*protocol.TableConfig, error) {
	made, err := ddl.Alter(state(view), actions, deps, st.env())
	if err != nil {
		return nil, err
	}
	p, m := view.Config().Protocol, view.Config().Metadata
	if made.Protocol != nil {
		p = *made.Protocol
	}
	if made.Metadata != nil {
		m = *made.Metadata
	}
	return protocol.NewTableConfig(p, m)
}

// fills tells whether a new column gets its values in the rows that are there too: where the statement says so (DEFAULT e BACKFILL),
// and where MySQL does it and nothing else could be stored, which is NOT NULL with a default and a generated column.
func (st *statement) fills(c parse.ColumnDef) bool {
	return c.Backfill || st.mysql() && len(c.Path) == 1 && (c.Generated != nil || c.NotNull && c.Default != nil)
}

// backfilled are the new columns whose values go into the rows that are there.
func (st *statement) backfilled(actions []parse.AlterAction) []string {
	var columns []string
	for _, action := range actions {
		if add, ok := action.(*parse.AddColumns); ok {
			for _, c := range add.Columns {
				if st.fills(c) && len(c.Path) == 1 {
					columns = append(columns, c.Path[0].Name)
				}
			}
		}
	}
	return columns
}

// backfill gives the rows that are there the defaults and generated values of new columns, in the commit that adds them: an UPDATE of
// every row. A column that was there before (IF NOT EXISTS) is left alone.
func (st *statement) backfill(tx *txn.Transaction, t target, old *protocol.TableConfig, columns []string) error {
	view, err := tx.View()
	if err != nil || view.Files().Len() == 0 {
		return err
	}
	now := view.Config()
	columns = slices.DeleteFunc(columns, func(name string) bool {
		before, after := old.Schema.Lookup(name), now.Schema.Lookup(name)
		return before >= 0 && after >= 0 && old.PhysicalName(before) == now.PhysicalName(after)
	})
	if len(columns) == 0 {
		return nil
	}
	st.pin(t.path, view)
	set := make([]string, len(columns))
	for i, name := range columns {
		set[i] = quotedPath(ddl.Path{name}) + " = DEFAULT"
	}
	parsed, err := parse.Parse("UPDATE "+pathName(t.path)+" SET "+strings.Join(set, ", "), parse.Options{Dialect: parse.Spark})
	if err != nil {
		return err
	}
	c, err := change.Update(st.ctx, parsed.(*parse.Update), st.changed(tx, t), st.changeOptions())
	if err != nil {
		return err
	}
	_, err = st.apply(tx, c)
	return err
}

// alter commits a change of a table's definition: first the commits that must come before it, then the change with what the
// rows have to satisfy, and with the defaults of the columns that are to be filled.
func (st *statement) alter(t target, table *log.Table, make func(view *log.Snapshot, deps ddl.Dependencies) (*ddl.Change, error), filled ...string) error {
	for {
		var before []ddl.Step
		_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
			before = nil
			view, err := tx.View()
			if err != nil {
				return nil, err
			}
			deps, err := st.dependencies(view.Config())
			if err != nil {
				return nil, err
			}
			made, err := make(view, deps)
			if err != nil || made.Empty() {
				return nil, err
			}
			if before = made.Before; len(before) > 0 {
				return nil, nil
			}
			if err := st.stage(tx, made); err != nil {
				return nil, err
			}
			if err := st.checkRows(tx, t, made.Checks); err != nil {
				return nil, err
			}
			if err := st.rewriteFiles(tx, view, made.Rewrite); err != nil {
				return nil, err
			}
			if len(filled) > 0 {
				if err := st.backfill(tx, t, view.Config(), filled); err != nil {
					return nil, err
				}
			}
			operation := made.Operation
			operation.AllowEmpty = true
			return &operation, nil
		})
		if err != nil || len(before) == 0 {
			return err
		}
		if err := st.steps(t, table, before); err != nil {
			return err
		}
	}
}

// dependencies are the columns that a table's stored expressions refer to. One that cannot be understood, since another product wrote
// it, counts as referring to every column: what it may need cannot be changed, and everything else can, so that it can be dropped.
func (st *statement) dependencies(config *protocol.TableConfig) (ddl.Dependencies, error) {
	deps := ddl.Dependencies{Constraints: map[string][]ddl.Path{}, Generated: map[string][]ddl.Path{}}
	refers := func(stored *change.Stored, err error) ([]ddl.Path, error) {
		switch {
		case err == nil:
			return paths(stored.References), nil
		case st.ctx.Err() != nil:
			return nil, cancelled(st.ctx)
		}
		return []ddl.Path{{}}, nil
	}
	var err error
	for name, text := range config.Constraints() {
		if deps.Constraints[name], err = refers(change.CheckExpression(st.ctx, name, parse.Text{Text: text}, config.Schema, st.changeOptions())); err != nil {
			return deps, err
		}
	}
	for _, field := range config.Schema.Fields {
		text, ok := field.Metadata.GenerationExpression()
		if !ok {
			continue
		}
		if deps.Generated[string(field.Name)], err = refers(change.GeneratedExpression(st.ctx, field, parse.Text{Text: text}, config.Schema, st.changeOptions())); err != nil {
			return deps, err
		}
	}
	return deps, nil
}

func paths(references [][]protocol.LogicalName) []ddl.Path {
	out := make([]ddl.Path, len(references))
	for i, reference := range references {
		for _, part := range reference {
			out[i] = append(out[i], string(part))
		}
	}
	return out
}

func columnPath(name parse.Name) ddl.Path {
	path := make(ddl.Path, len(name))
	for i, part := range name {
		path[i] = part.Name
	}
	return path
}
