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
	database, err := st.session.engine.catalog.database(st.ctx, name[0].Name)
	if err != nil {
		return nil, at(err, name)
	}
	st.session.mu.Lock()
	st.session.database = database
	st.session.mu.Unlock()
	return &Result{}, nil
}

// set assigns variables. All values are worked out before the first is stored. SET name without a value shows it, SET alone all.
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
		value, err := st.constant(a.Value)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	for i, a := range s.Assigns {
		if a.Scope == "user" {
			settings.setUser(a.Name, values[i])
			continue
		}
		if err := st.setVariable(a.Name, values[i]); err != nil {
			if known, ok := err.(*protocol.Error); ok && known.Line == 0 {
				known.At(s.Pos.Line, s.Pos.Column)
			}
			return nil, err
		}
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
			return nil, protocol.NewError("SCALAR_SUBQUERY_TOO_MANY_ROWS", "the query of SELECT INTO gave more than one row").WithHint("add LIMIT 1")
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

func (st *statement) setVariable(name string, v userValue) error {
	settings := st.session.settings
	text := ""
	if !v.value.Null {
		text = v.value.Text()
	}
	switch strings.ToLower(name) {
	case "names", "character_set":
		if err := isUTF8(text); err != nil {
			return protocol.NewError("INVALID_PARAMETER_VALUE", "character set %s is not supported: %v", text, err)
		}
		for _, variable := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
			if err := settings.set(variable, text); err != nil {
				return err
			}
		}
		return nil
	}
	return settings.set(name, text)
}

// constant works out an expression that has no columns.
func (st *statement) constant(e parse.Expr) (userValue, error) {
	bound, err := bind.Expression(st.ctx, e, st.bindOptions())
	if err != nil {
		return userValue{}, err
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
	mode := strings.ToUpper(st.session.settings.get("sql_mode"))
	dialect := st.session.Dialect()
	return bind.Options{
		Context: st.context(), Catalog: st, Fold: st.fold,
		AnyValue: dialect == expr.MySQL && !strings.Contains(mode, "ONLY_FULL_GROUP_BY"),
	}
}
