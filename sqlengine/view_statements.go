package sqlengine

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

func (s *Session) temporaryView(name string) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[strings.ToLower(name)]
}

func (s *Session) temporaryViews() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, v := range s.views {
		names = append(names, v.Name)
	}
	sort.Strings(names)
	return names
}

// createView checks a view by binding its query, then stores it.
func (st *statement) createView(s *parse.CreateView) (*Result, error) {
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	v := &view{
		Format: viewFormat, Query: s.Text, Current: st.session.Database(), Comment: s.Comment,
		Dialect: "spark", Created: st.now.UnixMilli(),
	}
	if st.session.Dialect() == expr.MySQL {
		v.Dialect, v.SQLMode = "mysql", st.session.settings.get("sql_mode")
	}
	for _, p := range s.Properties {
		v.Properties = append(v.Properties, [2]string{p.Key, p.Value})
	}
	database, name, err := st.split(s.Name)
	if err != nil {
		return nil, at(err, s.Name)
	}
	v.Name = name
	switch {
	case s.Global:
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "global temporary views are not supported; a temporary view belongs to its session"))
	case s.Temporary && len(s.Name) > 1:
		return nil, place(protocol.NewError("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS", "a temporary view has no database: %s", written(s.Name)))
	case s.Temporary:
		if st.session.temporaryView(name) != nil && !s.OrReplace {
			if s.IfNotExists {
				return &Result{}, nil
			}
			return nil, place(viewExists(v))
		}
		if t, ok := st.session.temporaryTable(database, name); ok {
			return nil, at(protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "%s is a temporary table of this session", t.shown()), s.Name)
		}
	default:
		if err := st.mayWrite("CREATE VIEW", s.Pos); err != nil {
			return nil, err
		}
		unlock, err := st.lockNames(s.Name)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if v.Database, err = st.session.engine.catalog.database(st.ctx, database); err != nil {
			return nil, at(err, s.Name)
		}
		old, err := st.lookUpStored(st.ctx, v.Database, name)
		if err != nil {
			return nil, err
		}
		switch {
		case old.path != "" && s.OrReplace:
			return nil, place(protocol.NewError("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", "%s is a table, not a view", old.shown()))
		case old.path != "" || old.view != nil && !s.OrReplace:
			if s.IfNotExists {
				return &Result{}, nil
			}
			return nil, place(viewExists(v))
		}
	}
	if err := st.shapeView(v, s); err != nil {
		return nil, err
	}
	if s.Temporary {
		st.session.mu.Lock()
		st.session.views[strings.ToLower(name)] = v
		st.session.mu.Unlock()
		return &Result{}, nil
	}
	err = st.session.engine.catalog.putView(st.ctx, v, s.OrReplace)
	if errors.Is(err, store.ErrExists) {
		if s.IfNotExists {
			return &Result{}, nil
		}
		return nil, place(viewExists(v))
	}
	return &Result{}, err
}

func viewExists(v *view) *protocol.Error {
	return protocol.NewError("TABLE_OR_VIEW_ALREADY_EXISTS", "table or view %s exists already", v.qualified()).
		WithHint("drop it, or use CREATE OR REPLACE VIEW or CREATE VIEW IF NOT EXISTS")
}

// shapeView binds the query for its columns. A view may not read itself.
func (st *statement) shapeView(v *view, s *parse.CreateView) error {
	st.creating = v
	bound, err := bind.Query(st.ctx, s.Query, st.bindOptions())
	st.creating = nil
	if err != nil {
		return err
	}
	if st.temporaries && !s.Temporary {
		return protocol.NewError("INVALID_TEMP_OBJ_REFERENCE", "the view %s would be kept, but it reads a temporary view or table", v.qualified()).
			At(s.Pos.Line, s.Pos.Column).WithHint("make it a temporary view too")
	}
	v.SessionNames = st.temporaries
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	if len(s.Columns) > 0 && len(s.Columns) != len(bound.Columns) {
		return place(protocol.NewError("CREATE_VIEW_COLUMN_ARITY_MISMATCH", "the view names %d columns, its query has %d", len(s.Columns), len(bound.Columns)))
	}
	var names []string
	for i, c := range bound.Columns {
		column := viewColumn{Name: c.Name}
		if len(s.Columns) > 0 {
			column.Name = s.Columns[i].Name.Name
			if s.Columns[i].Comment != "" {
				column.Comment = &s.Columns[i].Comment
			}
		}
		v.Columns = append(v.Columns, column)
		v.Outputs = append(v.Outputs, c.Name)
		names = append(names, column.Name)
	}
	if !distinctFold(names) {
		return place(protocol.NewError("COLUMN_ALREADY_EXISTS", "the view %s would have two columns of one name: %s", v.Name, strings.Join(names, ", ")).
			WithHint("name its columns: CREATE VIEW %s (a, b, ...)", v.Name))
	}
	return nil
}

// dropView removes a temporary or a stored view.
func (st *statement) dropView(s *parse.DropView) (*Result, error) {
	database, name, err := st.split(s.Name)
	if err != nil {
		return nil, at(err, s.Name)
	}
	if len(s.Name) == 1 && st.session.temporaryView(name) != nil {
		st.session.mu.Lock()
		delete(st.session.views, strings.ToLower(name))
		st.session.mu.Unlock()
		return &Result{}, nil
	}
	if err := st.mayWrite("DROP VIEW", s.Pos); err != nil {
		return nil, err
	}
	unlock, err := st.lockNames(s.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	catalog := st.session.engine.catalog
	if database, err = catalog.database(st.ctx, database); err != nil {
		if s.IfExists && bind.Missing(err) {
			return &Result{}, nil
		}
		return nil, at(err, s.Name)
	}
	old, err := st.lookUpStored(st.ctx, database, name)
	switch {
	case err != nil:
		return nil, err
	case old.path != "":
		return nil, at(protocol.NewError("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", "%s is a table, not a view", old.shown()), s.Name)
	case old.view == nil && s.IfExists:
		return &Result{}, nil
	case old.view == nil:
		missing := st.missing(st.ctx, s.Name, database, nil)
		missing.Class = "VIEW_NOT_FOUND"
		return nil, at(missing, s.Name)
	}
	return &Result{}, catalog.dropView(st.ctx, database, name)
}

// createStatement is the view's own CREATE statement.
func (v *view) createStatement() string {
	columns := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		columns[i] = "  `" + strings.ReplaceAll(c.Name, "`", "``") + "`"
		if c.Comment != nil {
			columns[i] += " COMMENT '" + strings.ReplaceAll(strings.ReplaceAll(*c.Comment, `\`, `\\`), "'", `\'`) + "'"
		}
	}
	kind := "VIEW"
	if v.Database == "" {
		kind = "TEMPORARY VIEW"
	}
	return fmt.Sprintf("CREATE %s %s (\n%s)\nAS %s\n", kind, v.qualified(), strings.Join(columns, ",\n"), v.Query)
}
