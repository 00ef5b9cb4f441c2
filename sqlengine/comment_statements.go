package sqlengine

import (
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

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
