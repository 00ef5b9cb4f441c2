package sqlengine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"
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
	}, backfilled(s.Actions)...)
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

// backfilled are the new columns whose default goes into the rows that are there: ADD COLUMN ... DEFAULT e BACKFILL.
func backfilled(actions []parse.AlterAction) []string {
	var columns []string
	for _, action := range actions {
		if add, ok := action.(*parse.AddColumns); ok {
			for _, c := range add.Columns {
				if c.Backfill && len(c.Path) == 1 {
					columns = append(columns, c.Path[0].Name)
				}
			}
		}
	}
	return columns
}

// backfill gives the rows that are there the defaults of new columns, in the commit that adds them: an UPDATE of every row.
// A column that was there before (IF NOT EXISTS) is left alone.
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
	st.pins[t.path+"\x00"+momentKey(nil)] = view
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

// dependencies are the columns that a table's stored expressions refer to.
func (st *statement) dependencies(config *protocol.TableConfig) (ddl.Dependencies, error) {
	deps := ddl.Dependencies{Constraints: map[string][]ddl.Path{}, Generated: map[string][]ddl.Path{}}
	for name, text := range config.Constraints() {
		stored, err := change.CheckExpression(st.ctx, name, parse.Text{Text: text}, config.Schema, st.changeOptions())
		if err != nil {
			return deps, protocol.NewError(protocol.ClassOf(err), "the CHECK constraint %s (%s) of the table cannot be understood", name, text).WithCause(err)
		}
		deps.Constraints[name] = paths(stored.References)
	}
	for _, field := range config.Schema.Fields {
		text, ok := field.Metadata.GenerationExpression()
		if !ok {
			continue
		}
		stored, err := change.GeneratedExpression(st.ctx, field, parse.Text{Text: text}, config.Schema, st.changeOptions())
		if err != nil {
			return deps, protocol.NewError(protocol.ClassOf(err), "the generated column %s (%s) of the table cannot be understood", field.Name, text).WithCause(err)
		}
		deps.Generated[string(field.Name)] = paths(stored.References)
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

// action is an action in the terms of package ddl, its expressions checked.
func (st *statement) action(config *protocol.TableConfig, action parse.AlterAction) ([]ddl.Action, error) {
	switch a := action.(type) {
	case *parse.AddColumns:
		return st.addColumns(config, a)
	case *parse.DropColumns:
		drop := ddl.DropColumns{IfExists: a.IfExists}
		for _, name := range a.Columns {
			drop.Columns = append(drop.Columns, columnPath(name))
		}
		return []ddl.Action{drop}, nil
	case *parse.RenameColumn:
		return []ddl.Action{ddl.RenameColumn{Column: columnPath(a.Column), To: a.To.Name}}, nil
	case *parse.ChangeColumn:
		changed, err := st.changeColumn(config, a)
		return []ddl.Action{changed}, err
	case *parse.ReplaceColumns:
		var replace ddl.ReplaceColumns
		for _, c := range a.Columns {
			field, err := st.field(c)
			if err != nil {
				return nil, err
			}
			replace.Columns = append(replace.Columns, field)
		}
		return []ddl.Action{replace}, nil
	case *parse.AddCheck:
		return st.addCheck(config, a.Check)
	case *parse.AddKey:
		if a.Key.Kind != "PRIMARY KEY" {
			st.warn(warnIgnored, "%s is ignored: tables have no indexes, files are skipped by statistics", a.Key.Kind)
			return nil, nil
		}
		key := ddl.Key{Kind: a.Key.Kind, Columns: identNames(a.Key.Columns)}
		if a.Key.Name != nil {
			key.Name = a.Key.Name.Name
		}
		return []ddl.Action{ddl.AddKey{Key: key}}, nil
	case *parse.AddForeignKey:
		key := ddl.Key{Kind: "FOREIGN KEY", Columns: identNames(a.Key.Columns), Target: identNames(a.Key.Target)}
		if a.Key.Name != nil {
			key.Name = a.Key.Name.Name
		}
		for _, part := range a.Key.Table {
			key.Table = append(key.Table, part.Name)
		}
		return []ddl.Action{ddl.AddKey{Key: key}}, nil
	case *parse.DropConstraint:
		switch {
		case a.Kind == "PRIMARY KEY":
			return []ddl.Action{ddl.DropPrimaryKey{IfExists: a.IfExists}}, nil
		case a.Kind == "INDEX":
			st.warn(warnIgnored, "DROP INDEX is ignored: tables have no indexes")
			return nil, nil
		case a.Name == nil:
			return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "DROP %s needs a name", a.Kind).At(a.Pos.Line, a.Pos.Column)
		}
		return []ddl.Action{ddl.DropConstraint{Name: a.Name.Name, IfExists: a.IfExists}}, nil
	case *parse.SetProperties:
		properties, err := propertyMap(a.Properties, a.Pos)
		return []ddl.Action{ddl.SetProperties{Properties: properties}}, err
	case *parse.UnsetProperties:
		return []ddl.Action{ddl.UnsetProperties{Keys: a.Keys, IfExists: a.IfExists}}, nil
	case *parse.SetClustering:
		clustering := ddl.SetClustering{Auto: a.ClusterBy.Auto}
		for _, name := range a.ClusterBy.Columns {
			clustering.Columns = append(clustering.Columns, columnPath(name))
		}
		return []ddl.Action{clustering}, nil
	case *parse.SetTableComment:
		return []ddl.Action{ddl.SetComment{Text: &a.Text}}, nil
	}
	return nil, protocol.NewError(protocol.ClassInternal, "an action of an unknown kind %T", action)
}

// addColumns checks the expressions of new columns over the schema as it will be.
func (st *statement) addColumns(config *protocol.TableConfig, a *parse.AddColumns) ([]ddl.Action, error) {
	add := ddl.AddColumns{IfNotExists: a.IfNotExists}
	schema := config.Schema
	schema.Fields = append([]protocol.Field(nil), schema.Fields...)
	var checks []parse.Check
	for _, c := range a.Columns {
		field, err := st.field(c)
		if err != nil {
			return nil, err
		}
		if c.Generated != nil {
			field.Metadata = field.Metadata.WithGeneration(c.Generated.Text)
		}
		column := ddl.NewColumn{Parent: columnPath(c.Path[:len(c.Path)-1]), Field: field, First: c.First, Backfill: c.Backfill}
		if c.After != nil {
			column.After = c.After.Name
		}
		add.Columns = append(add.Columns, column)
		if len(c.Path) == 1 {
			schema.Fields = append(schema.Fields, field)
		}
		checks = append(append(checks, c.Checks...), impliedChecks(c)...)
		st.ignored(c.Ignored)
	}
	for i, c := range a.Columns {
		field := &add.Columns[i].Field
		if c.Generated != nil {
			stored, err := change.GeneratedExpression(st.ctx, *field, *c.Generated, schema, st.changeOptions())
			if err != nil {
				return nil, err
			}
			add.Columns[i].Refers = paths(stored.References)
		}
		if c.Default != nil {
			stored, err := change.DefaultExpression(st.ctx, "ALTER TABLE ADD COLUMNS", *field, *c.Default, st.changeOptions())
			if err != nil {
				return nil, err
			}
			field.Metadata = field.Metadata.WithCurrentDefault(stored.Text)
		}
	}
	actions := []ddl.Action{add}
	for _, check := range checks {
		stored, err := st.checkAction(schema, check)
		if err != nil {
			return nil, err
		}
		actions = append(actions, stored)
	}
	return actions, nil
}

func (st *statement) addCheck(config *protocol.TableConfig, check parse.Check) ([]ddl.Action, error) {
	action, err := st.checkAction(config.Schema, check)
	return []ddl.Action{action}, err
}

func (st *statement) checkAction(schema protocol.DataType, check parse.Check) (ddl.Action, error) {
	if check.NotEnforced {
		return nil, protocol.NewError("UNSUPPORTED_CONSTRAINT_CHARACTERISTIC", "a CHECK constraint is always enforced: NOT ENFORCED is not supported").At(check.Pos.Line, check.Pos.Column)
	}
	name := ""
	if check.Name != nil {
		name = check.Name.Name
	}
	stored, err := change.CheckExpression(st.ctx, name, check.Condition, schema, st.changeOptions())
	if err != nil {
		return nil, err
	}
	return ddl.AddConstraint{Name: name, Expression: stored.Text, Refers: paths(stored.References)}, nil
}

// changeColumn is ALTER, CHANGE and MODIFY COLUMN. MySQL's forms give the whole definition: what they leave out goes.
func (st *statement) changeColumn(config *protocol.TableConfig, a *parse.ChangeColumn) (ddl.Action, error) {
	c := ddl.ChangeColumn{
		Column: columnPath(a.Column), SetNotNull: a.SetNotNull, DropNotNull: a.DropNotNull, Comment: a.Comment, DropDefault: a.DropDefault, First: a.First,
	}
	if a.After != nil {
		c.After = a.After.Name
	}
	if a.Rename != nil {
		c.Rename = a.Rename.Name
	}
	typed, setDefault := a.Type, a.SetDefault
	if d := a.Definition; a.Whole && d != nil {
		typed, setDefault = d.Type, d.Default
		c.Comment, c.ClearComment = d.Comment, d.Comment == nil
		c.SetNotNull, c.DropNotNull = d.NotNull, !d.NotNull
		c.DropDefault = d.Default == nil
		c.First = d.First
		if d.After != nil {
			c.After = d.After.Name
		}
		if d.Generated != nil || d.Identity != nil {
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "a column becomes a generated or an identity column only when it is made").At(a.Pos.Line, a.Pos.Column)
		}
		if checks := append(impliedChecks(*d), d.Checks...); len(checks) > 0 {
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the new definition of column %s brings a constraint (%s), which MODIFY COLUMN does not add", d.Path[0].Name, checks[0].Condition.Text).
				At(a.Pos.Line, a.Pos.Column).WithHint("change the type, then ALTER TABLE ... ADD CONSTRAINT ... CHECK (%s)", checks[0].Condition.Text)
		}
	}
	field := protocol.Field{Name: protocol.LogicalName(a.Column[len(a.Column)-1].Name)}
	if len(a.Column) == 1 {
		if i := config.Schema.Lookup(a.Column[0].Name); i >= 0 {
			field = config.Schema.Fields[i]
		} else if a.Type == nil && !a.Whole {
			return c, nil // package ddl says that there is no such column, and which there are
		}
	}
	if typed != nil {
		t := typed.Type
		c.Type, c.CharVarchar = &t, typed.CharVarchar
		field.Type = t
	}
	if setDefault != nil {
		stored, err := change.DefaultExpression(st.ctx, "ALTER TABLE ALTER COLUMN", field, *setDefault, st.changeOptions())
		if err != nil {
			return nil, err
		}
		c.SetDefault = &stored.Text
	}
	if a.Sync {
		value, err := st.identityValue(config, c.Column)
		if err != nil {
			return nil, err
		}
		c.Sync = &ddl.SyncIdentity{Value: value}
	}
	return c, nil
}

// renameTable gives a table of the catalog another name: its folder is moved, or the entry of an external table.
func (st *statement) renameTable(name parse.Name, a *parse.RenameTable) (*Result, error) {
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
		if err := catalog.putExternal(st.ctx, &moved, false); err != nil {
			if errors.Is(err, store.ErrExists) {
				return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "the table %s exists already", to.shown()), a.To)
			}
			return nil, err
		}
		return &Result{}, catalog.dropExternal(st.ctx, t.database, t.name)
	}
	if err := os.MkdirAll(filepath.Dir(to.path), 0o777); err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder of the database %s cannot be made", to.database).WithCause(err)
	}
	if err := os.Rename(t.path, to.path); err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be moved to %s", t.path, to.path).WithCause(err)
	}
	catalog.forget(t.path)
	catalog.forget(to.path)
	return &Result{}, nil
}

// newName is where a table of a new name goes, which must be free. A bare name stays in the table's own database in the
// Spark dialect, and is in the current one in MySQL's.
func (st *statement) newName(name parse.Name, own string) (target, error) {
	database, plain, err := st.split(name)
	if err != nil {
		return target{}, at(err, name)
	}
	if len(name) == 1 && st.session.Dialect() == expr.Spark {
		database = own
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

// commentOn is COMMENT ON.
func (st *statement) commentOn(s *parse.CommentOn) (*Result, error) {
	if err := st.mayWrite("COMMENT ON", s.Pos); err != nil {
		return nil, err
	}
	var name parse.Name
	var action func(config *protocol.TableConfig) (ddl.Action, error)
	switch strings.ToUpper(s.What) {
	case "TABLE":
		name = s.Name
		action = func(*protocol.TableConfig) (ddl.Action, error) { return ddl.SetComment{Text: s.Text}, nil }
	case "COLUMN":
		if len(s.Name) < 2 {
			return nil, at(protocol.NewError("PARSE_SYNTAX_ERROR", "COMMENT ON COLUMN needs a table and a column: t.c"), s.Name)
		}
		name = s.Name[:len(s.Name)-1]
		column := ddl.Path{s.Name[len(s.Name)-1].Name}
		action = func(*protocol.TableConfig) (ddl.Action, error) {
			return ddl.ChangeColumn{Column: column, Comment: s.Text, ClearComment: s.Text == nil}, nil
		}
	case "DATABASE":
		return st.commentOnDatabase(s)
	default:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "COMMENT ON %s is not supported", s.What).At(s.Pos.Line, s.Pos.Column)
	}
	t, table, err := st.changeTarget(name, "COMMENT ON")
	if err != nil {
		return nil, err
	}
	return &Result{}, st.alter(t, table, func(view *log.Snapshot, deps ddl.Dependencies) (*ddl.Change, error) {
		a, err := action(view.Config())
		if err != nil {
			return nil, err
		}
		return ddl.Alter(state(view), []ddl.Action{a}, deps, st.env())
	})
}

func (st *statement) commentOnDatabase(s *parse.CommentOn) (*Result, error) {
	name, err := bareDatabase(s.Name)
	if err != nil {
		return nil, err
	}
	catalog := st.session.engine.catalog
	database, err := catalog.database(st.ctx, name)
	if err != nil {
		return nil, at(err, s.Name)
	}
	entry, err := catalog.databaseEntry(st.ctx, database)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		entry = &databaseEntry{Format: entryFormat, Name: database, Created: st.now.UnixMilli()}
	}
	entry.Comment = ""
	if s.Text != nil {
		entry.Comment = *s.Text
	}
	return &Result{}, catalog.putEntry(st.ctx, databaseFile(database), "database "+database, entry, true)
}
