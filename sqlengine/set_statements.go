package sqlengine

import (
	"errors"
	"io"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
)

// use changes the current database.
func (st *statement) use(s *parse.Use) (*Result, error) {
	name := s.Name
	if s.Catalog {
		if len(name) == 1 && isCatalog(name[0].Name) {
			return &Result{}, nil
		}
		return nil, at(protocol.NewError("CATALOG_NOT_FOUND", "there is no catalog %s", written(name)).WithHint("the catalog is called %s", catalogName), name)
	}
	if len(name) == 2 && isCatalog(name[0].Name) {
		name = name[1:]
	}
	if len(name) != 1 {
		return nil, at(protocol.NewError("SCHEMA_NOT_FOUND", "there is no database %s", written(s.Name)), s.Name)
	}
	if strings.EqualFold(name[0].Name, informationSchema) {
		st.session.setDatabase(informationSchema)
		return &Result{}, nil
	}
	database, err := st.session.engine.catalog.database(st.ctx, name[0].Name)
	if err != nil {
		return nil, at(err, name)
	}
	st.session.setDatabase(database)
	return &Result{}, nil
}

// set assigns variables. All values are worked out and checked before the first is stored. SET name without a value shows it, SET alone all.
func (st *statement) set(s *parse.Set) (*Result, error) {
	settings := st.session.settings
	if len(s.Assigns) == 0 {
		return st.metaResult(meta.Pairs("key", "value", settings.all()))
	}
	if len(s.Assigns) == 1 && s.Assigns[0].Value == nil {
		name := s.Assigns[0].Name
		value, ok := settings.show(name)
		if !ok {
			value = "<undefined>"
		}
		return st.metaResult(meta.Pairs("key", "value", [][2]string{{name, value}}))
	}
	values := make([]userValue, len(s.Assigns))
	for i, a := range s.Assigns {
		if a.Scope == "global" {
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "SET GLOBAL is not supported: variables belong to a session").At(s.Pos.Line, s.Pos.Column)
		}
		if a.Value == nil {
			return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "SET %s needs a value", a.Name).At(s.Pos.Line, s.Pos.Column)
		}
		value, err := st.constantOf(a.Value, a.Scope == "user" && st.session.Dialect() == expr.MySQL)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	var changes []newValue
	for i, a := range s.Assigns {
		if a.Scope == "user" {
			continue
		}
		change, err := st.changesOf(a.Name, values[i])
		if err == nil {
			err = settings.check(change)
		}
		if err != nil {
			return nil, placedAt(err, s.Pos)
		}
		changes = append(changes, change...)
	}
	for i, a := range s.Assigns {
		if a.Scope == "user" {
			settings.setUser(a.Name, values[i])
		}
	}
	was := settings.on("autocommit")
	settings.store(changes)
	st.warnOfSettings(changes)
	if !was && settings.on("autocommit") {
		return &Result{}, st.commit() // as MySQL does
	}
	return &Result{}, nil
}

// selectInto runs SELECT ... INTO @a, @b: the one row's values become user variables; without a row they stay as they are.
func (st *statement) selectInto(s *parse.QueryStatement) (*Result, error) {
	result, err := st.query(s.Query)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	if len(result.Columns) != len(s.Into) {
		return nil, protocol.NewError("NUM_COLUMNS_MISMATCH", "the query has %d columns, INTO names %d variables", len(result.Columns), len(s.Into))
	}
	var values []userValue
	for {
		batch, err := result.Next(st.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if batch.Len() > 1 || values != nil {
			return nil, protocol.NewError("SCALAR_SUBQUERY_TOO_MANY_ROWS", "the query of SELECT INTO gave more than one row").WithErrno(1172).WithHint("add LIMIT 1")
		}
		for i, c := range result.Columns {
			value, ok := readValue(batch.Vector(i), 0, c.Type)
			if !ok {
				return nil, protocol.NewError("DATATYPE_MISMATCH", "variable @%s cannot hold a %s", s.Into[i], c.Type)
			}
			values = append(values, userValue{value, c.Type})
		}
	}
	if values == nil {
		st.warn(1329, "the query gave no row")
	}
	for i, v := range values {
		st.session.settings.setUser(s.Into[i], v)
	}
	return &Result{Affected: int64(min(len(values), 1))}, nil
}

// do is DO: expressions are worked out, and what they give is dropped.
func (st *statement) do(s *parse.Do) (*Result, error) {
	result, err := st.query(s.Query)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		if _, err := result.Next(st.ctx); errors.Is(err, io.EOF) {
			return &Result{}, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// textVariables are the variables that SET NAMES and SET CHARACTER SET set.
var textVariables = []string{"character_set_client", "character_set_connection", "character_set_results"}

// changesOf are the changes that one assignment makes. DEFAULT, as MySQL has it, puts a variable back.
func (st *statement) changesOf(name string, v userValue) ([]newValue, error) {
	names := []string{name}
	lower := strings.ToLower(name)
	if lower == "names" || lower == "character_set" {
		names = textVariables
	}
	text := ""
	if !v.value.Null {
		text = v.value.Text()
	} else if lower != "character_set_results" {
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "variable %s cannot be NULL", name).WithErrno(1231)
	}
	var changes []newValue
	for _, name := range names {
		changes = append(changes, newValue{name: name, text: text, reset: strings.EqualFold(text, "default") && !strings.Contains(name, ".")})
	}
	return changes, nil
}

// warnOfSettings tells of settings that clients send as a matter of course and that do here less than their names say.
func (st *statement) warnOfSettings(changes []newValue) {
	for _, c := range changes {
		if v := variableIndex[strings.ToLower(c.name)]; v != nil && v.idle && !c.reset && c.text != v.initial {
			st.warn(warningIgnored, "%s has no effect here: %s", v.name, v.help)
		}
		switch lower := strings.ToLower(c.text); strings.ToLower(c.name) {
		case "deltasql_mysql_compare":
			if on, err := parseBoolean(lower); err == nil && on && !st.mysql() {
				st.warn(warningIgnored, "deltasql_mysql_compare rules the MySQL dialect; SET deltasql_dialect = mysql chooses it")
			}
		case "collation_connection":
			if !c.reset && lower != "binary" && !strings.HasSuffix(lower, "_bin") && !st.session.settings.on("deltasql_mysql_compare") {
				st.warn(warningIgnored, "text is compared by its bytes, not by %s; SET deltasql_mysql_compare = on ignores case and accents", c.text)
			}
		}
	}
}

// warningIgnored is the number of a warning about something accepted without its effect (MySQL: unknown error).
const warningIgnored = 1105

// constant works out an expression that has no columns.
func (st *statement) constant(e parse.Expr) (userValue, error) { return st.constantOf(e, false) }

// constantOf is constant, with dates and times as text where asked for: MySQL's variables hold none.
func (st *statement) constantOf(e parse.Expr, datesAsText bool) (userValue, error) {
	options := st.bindOptions()
	bound, err := bind.Expression(st.ctx, e, options)
	if err != nil {
		return userValue{}, err
	}
	if datesAsText {
		bound = expr.AllDigits(bound)
	}
	switch kind := bound.Type().Kind; {
	case !datesAsText:
	case kind >= protocol.KindDate && kind <= protocol.KindTimestampNTZ, kind == protocol.KindIntervalDayTime:
		if bound, err = expr.Convert(bound, protocol.DataType{Kind: protocol.KindString}, options.Context, false); err != nil {
			return userValue{}, err
		}
	}
	if literal, ok := bound.(*expr.Literal); ok {
		return userValue{literal.Value, literal.Type()}, nil
	}
	value, err := st.fold(st.ctx, bound)
	if err != nil {
		return userValue{}, err
	}
	return userValue{value, bound.Type()}, nil
}

func (st *statement) bindOptions() bind.Options {
	return bind.Options{
		Context: st.context(), Catalog: st, Fold: st.fold,
		AnyValue: st.session.Dialect() == expr.MySQL && !st.session.settings.sqlMode().onlyFullGroupBy,
	}
}
