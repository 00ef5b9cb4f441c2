package sqlengine

import (
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/parse"
)

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
		column := ddl.NewColumn{Parent: columnPath(c.Path[:len(c.Path)-1]), Field: field, First: c.First, Backfill: st.fills(c)}
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

// saysAgain tells that a definition says of a column what it is already: AUTO_INCREMENT of an identity column, or its expression of a
// generated one.
func saysAgain(config *protocol.TableConfig, column parse.Name, d *parse.ColumnDef) bool {
	at := config.Schema.Lookup(column[0].Name)
	if len(column) > 1 || at < 0 {
		return false
	}
	text, generated := config.Schema.Fields[at].Metadata.GenerationExpression()
	_, identity := config.Schema.Fields[at].Metadata.Identity()
	switch {
	case d.Identity != nil:
		return identity && d.Identity.AutoIncrement
	case d.Generated != nil:
		return generated && strings.TrimSpace(d.Generated.Text) == strings.TrimSpace(text)
	}
	return false
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
		same := saysAgain(config, a.Column, d)
		if same && d.Identity != nil {
			c.DropNotNull = false // AUTO_INCREMENT does not say that there may be NULL
		}
		if !same && (d.Generated != nil || d.Identity != nil) {
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
