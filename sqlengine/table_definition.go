package sqlengine

import (
	"fmt"
	"regexp"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// definition is what the columns and the constraints of CREATE TABLE (or of ALTER TABLE ... ADD and REPLACE COLUMNS) say, in
// the terms of the log: a schema whose fields carry their properties as metadata, and the properties that constraints become.
type definition struct {
	table       string
	schema      protocol.DataType
	constraints map[string]string // CHECK: name to the text that is stored
	properties  map[string]string // of informational keys
	primaryKey  bool
}

// define reads column definitions and constraints. Expressions are checked over the whole schema, in the Spark dialect in which
// they are stored.
func (st *statement) define(table string, columns []parse.ColumnDef, partition []parse.PartitionColumn, checks []parse.Check, keys []parse.Key, foreign []parse.ForeignKey) (*definition, error) {
	d := &definition{table: table, schema: protocol.DataType{Kind: protocol.KindStruct}, constraints: map[string]string{}, properties: map[string]string{}}
	for _, c := range columns {
		field, err := st.field(c)
		if err != nil {
			return nil, err
		}
		d.schema.Fields = append(d.schema.Fields, field)
		checks = append(checks, c.Checks...)
		checks = append(checks, impliedChecks(c)...)
		if c.PrimaryKey {
			keys = append(keys, parse.Key{Pos: c.Pos, Kind: "PRIMARY KEY", Columns: []parse.Ident{c.Path[0]}})
		}
		if c.Unique {
			st.warn(warnIgnored, "UNIQUE of column %s is ignored: no uniqueness is enforced", c.Path[0].Name)
		}
		if c.References != nil {
			key := *c.References
			key.Columns = []parse.Ident{c.Path[0]}
			foreign = append(foreign, key)
		}
		st.ignored(c.Ignored)
	}
	for _, p := range partition {
		if p.Type != nil {
			field, err := st.field(parse.ColumnDef{Pos: p.Name.Pos, Path: parse.Name{p.Name}, Type: p.Type})
			if err != nil {
				return nil, err
			}
			d.schema.Fields = append(d.schema.Fields, field)
		}
	}
	if err := st.defineExpressions(d, columns); err != nil {
		return nil, err
	}
	for _, check := range checks {
		if err := st.defineCheck(d, check); err != nil {
			return nil, err
		}
	}
	for _, key := range keys {
		if err := st.defineKey(d, key); err != nil {
			return nil, err
		}
	}
	for i, key := range foreign {
		if err := st.defineForeignKey(d, key, i+1); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// field is a column's field without its expressions.
func (st *statement) field(c parse.ColumnDef) (protocol.Field, error) {
	name := c.Path[len(c.Path)-1].Name
	f := protocol.Field{Name: protocol.LogicalName(name), Nullable: !c.NotNull && !c.PrimaryKey}
	place := func(err *protocol.Error) error { return err.At(c.Pos.Line, c.Pos.Column) }
	switch {
	case c.Type != nil:
		f.Type = c.Type.Type
		if c.Type.CharVarchar != "" {
			f.Metadata = f.Metadata.WithCharVarchar(c.Type.CharVarchar)
		}
		if c.Type.MySQLCollation != "" {
			st.warn(warnIgnored, "the collation %s of column %s is ignored: strings are compared as bytes", c.Type.MySQLCollation, name)
		}
		if unsigned(c.Type) {
			st.warn(warnIgnored, "column %s is stored as %s, with a constraint that it is not negative", name, strings.ToUpper(f.Type.String()))
		}
		if c.Type.MySQL == "TIME" {
			st.warn(warnIgnored, "column %s is stored as STRING: there is no type TIME in Delta tables", name)
		}
	case c.Generated != nil:
		return f, place(protocol.NewError("PARSE_SYNTAX_ERROR", "column %s needs a type", name))
	default:
		return f, place(protocol.NewError("PARSE_SYNTAX_ERROR", "column %s has no type", name))
	}
	if c.Comment != nil {
		f.Metadata = f.Metadata.WithComment(*c.Comment)
	}
	if c.OnUpdate != nil {
		return f, place(protocol.NewError("UNSUPPORTED_FEATURE", "ON UPDATE of column %s is not supported", name).
			WithHint("set the column in the UPDATE statement"))
	}
	if c.Identity != nil {
		id := protocol.Identity{Start: 1, Step: 1, AllowExplicitInsert: !c.Identity.Always}
		if c.Identity.Start != nil {
			id.Start = *c.Identity.Start
		}
		if c.Identity.Step != nil {
			id.Step = *c.Identity.Step
		}
		if c.Identity.AutoIncrement {
			switch f.Type.Kind {
			case protocol.KindByte, protocol.KindShort, protocol.KindInteger:
				st.warn(warnIgnored, "column %s is stored as BIGINT, the type of identity columns", name)
				f.Type = protocol.DataType{Kind: protocol.KindLong}
			}
		}
		f.Metadata = f.Metadata.WithIdentity(id)
	}
	return f, nil
}

// unsignedWord finds MySQL's UNSIGNED in a type as it was written. ZEROFILL means it too.
var unsignedWord = regexp.MustCompile(`(?i)\b(UNSIGNED|ZEROFILL)\b`)

// unsigned tells whether a type is one of MySQL's numbers without negative values.
func unsigned(t *parse.TypeName) bool {
	switch t.Type.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindFloat, protocol.KindDouble, protocol.KindDecimal:
		return unsignedWord.MatchString(t.Text)
	}
	return false
}

// impliedChecks are the CHECK constraints that MySQL's types mean, which both let NULL pass: ENUM, and UNSIGNED.
func impliedChecks(c parse.ColumnDef) []parse.Check {
	if c.Type == nil {
		return nil
	}
	column := "`" + strings.ReplaceAll(c.Path[0].Name, "`", "``") + "`"
	var text, kind string
	switch {
	case c.Type.MySQL == "ENUM":
		values := make([]string, len(c.Type.Values))
		for i, v := range c.Type.Values {
			values[i] = "'" + strings.ReplaceAll(strings.ReplaceAll(v, `\`, `\\`), "'", `\'`) + "'"
		}
		kind, text = "enum", column+" IS NULL OR "+column+" IN ("+strings.Join(values, ", ")+")"
	case unsigned(c.Type):
		kind, text = "unsigned", column+" IS NULL OR "+column+" >= 0"
	default:
		return nil
	}
	name := parse.Ident{Name: c.Path[0].Name + "_" + kind, Pos: c.Pos}
	return []parse.Check{{Pos: c.Pos, Name: &name, Condition: parse.Text{Text: text, Pos: c.Pos}}}
}

// changeOptions are the surroundings of stored expressions and of changes of rows.
func (st *statement) changeOptions() change.Options {
	mode := st.session.settings.sqlMode()
	return change.Options{Options: st.bindOptions(), Lenient: st.session.Dialect() == expr.MySQL && !mode.strict, ZeroIsValue: mode.zeroIsValue}
}

// defineExpressions checks generation expressions and defaults and gives them to their fields.
func (st *statement) defineExpressions(d *definition, columns []parse.ColumnDef) error {
	for i, c := range columns {
		field := &d.schema.Fields[i]
		if c.Generated != nil {
			field.Metadata = field.Metadata.WithGeneration(c.Generated.Text)
		}
	}
	for i, c := range columns {
		field := &d.schema.Fields[i]
		if c.Generated != nil {
			if _, err := change.GeneratedExpression(st.ctx, *field, *c.Generated, d.schema, st.changeOptions()); err != nil {
				return err
			}
		}
		if c.Default != nil {
			stored, err := change.DefaultExpression(st.ctx, "CREATE TABLE", *field, *c.Default, st.changeOptions())
			if err != nil {
				return err
			}
			field.Metadata = field.Metadata.WithCurrentDefault(stored.Text)
		}
	}
	return nil
}

// defineCheck checks a CHECK constraint; one without a name gets MySQL's.
func (st *statement) defineCheck(d *definition, check parse.Check) error {
	if check.NotEnforced {
		return protocol.NewError("UNSUPPORTED_CONSTRAINT_CHARACTERISTIC", "a CHECK constraint is always enforced: NOT ENFORCED is not supported").At(check.Pos.Line, check.Pos.Column)
	}
	name := ""
	if check.Name != nil {
		name = check.Name.Name
	}
	for n := 1; name == ""; n++ {
		candidate := fmt.Sprintf("%s_chk_%d", d.table, n)
		if _, taken := d.constraints[strings.ToLower(candidate)]; !taken {
			name = candidate
		}
	}
	key := strings.ToLower(name)
	if _, taken := d.constraints[key]; taken {
		return protocol.NewError("DELTA_CONSTRAINT_ALREADY_EXISTS", "the constraint %s is there already", name).At(check.Pos.Line, check.Pos.Column)
	}
	stored, err := change.CheckExpression(st.ctx, name, check.Condition, d.schema, st.changeOptions())
	if err != nil {
		return err
	}
	d.constraints[key] = stored.Text
	return nil
}

// defineKey keeps a primary key; other keys have no meaning here.
func (st *statement) defineKey(d *definition, key parse.Key) error {
	if key.Kind != "PRIMARY KEY" {
		st.warn(warnIgnored, "%s is ignored: tables have no indexes, files are skipped by statistics", key.Kind)
		return nil
	}
	if d.primaryKey {
		return protocol.NewError("MULTIPLE_PRIMARY_KEYS", "a table has one primary key").At(key.Pos.Line, key.Pos.Column)
	}
	d.primaryKey = true
	k := ddl.Key{Name: "primary", Kind: "PRIMARY KEY"}
	if key.Name != nil {
		k.Name = key.Name.Name
	}
	for _, column := range key.Columns {
		i := d.schema.Lookup(column.Name)
		if i < 0 {
			return protocol.NewError("DELTA_COLUMN_NOT_FOUND", "the primary key names the column %s, which is not there", column.Name).At(column.Pos.Line, column.Pos.Column)
		}
		if st.session.Dialect() == expr.MySQL {
			d.schema.Fields[i].Nullable = false
		}
		k.Columns = append(k.Columns, string(d.schema.Fields[i].Name))
	}
	return d.keep(k)
}

// defineForeignKey keeps a foreign key, which nobody enforces.
func (st *statement) defineForeignKey(d *definition, key parse.ForeignKey, n int) error {
	k := ddl.Key{Name: fmt.Sprintf("fk_%d", n), Kind: "FOREIGN KEY", Columns: identNames(key.Columns), Target: identNames(key.Target)}
	if key.Name != nil {
		k.Name = key.Name.Name
	}
	for _, part := range key.Table {
		k.Table = append(k.Table, part.Name)
	}
	st.warn(warnIgnored, "the foreign key %s is recorded and not enforced", k.Name)
	return d.keep(k)
}

func (d *definition) keep(k ddl.Key) error {
	property := ddl.KeyPrefix + strings.ToLower(k.Name)
	if _, taken := d.properties[property]; taken {
		return protocol.NewError("DELTA_CONSTRAINT_ALREADY_EXISTS", "the constraint %s is there already", k.Name)
	}
	d.properties[property] = jsonOf(k)
	return nil
}

func identNames(list []parse.Ident) []string {
	var names []string
	for _, part := range list {
		names = append(names, part.Name)
	}
	return names
}
