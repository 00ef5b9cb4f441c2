package ddl

import (
	"strings"
	"testing"

	"deltasql/protocol"
)

// TestConstraints holds the recorded life of CHECK constraints.
func TestConstraints(t *testing.T) {
	s := withRows(created(t, CreateSpec{Schema: columns(t, "id int,v int")}))
	c, err := Alter(s, []Action{AddConstraint{Name: "Pos", Expression: "id > 0", Refers: paths("id")}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Checks) != 1 || c.Checks[0].Kind != CheckConstraint || c.Checks[0].Expression != "id > 0" {
		t.Errorf("%+v", c.Checks)
	}
	if got := inHistory(c.Operation); got != "ADD CONSTRAINT\nname=Pos\nexpr=id > 0" {
		t.Error(got)
	}
	if c.Protocol == nil || c.Metadata == nil || shown(*c.Protocol) != shown(protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}) {
		t.Errorf("%+v", c)
	}
	s = after(t, s, c)
	if got := s.Config.Metadata.Configuration["delta.constraints.pos"]; got != "id > 0" {
		t.Errorf("%v", s.Config.Metadata.Configuration)
	}
	deps := Dependencies{Constraints: map[string][]Path{"pos": paths("id")}}
	for _, c := range []struct {
		action Action
		class  protocol.Class
	}{
		{AddConstraint{Name: "POS", Expression: "id > 5"}, "DELTA_CONSTRAINT_ALREADY_EXISTS"},
		{AddConstraint{Name: "__CHAR_VARCHAR_STRING_LENGTH_CHECK__", Expression: "id > 5"}, "DELTA_INVALID_CONSTRAINT_NAME"},
		{DropConstraint{Name: "nope"}, "DELTA_CONSTRAINT_DOES_NOT_EXIST"},
	} {
		_, err := Alter(s, []Action{c.action}, deps, freshEnv())
		wantClass(t, err, c.class)
	}
	named, err := Alter(s, []Action{AddConstraint{Expression: "v > 0"}, AddConstraint{Expression: "v < 9"}}, deps, freshEnv())
	if err != nil || named.Metadata.Configuration["delta.constraints.chk_2"] != "v < 9" {
		t.Errorf("%v %+v", err, named)
	}
	// Added and dropped in one statement: nothing is left, and nothing is looked at.
	both, err := Alter(s, []Action{AddConstraint{Name: "q", Expression: "v > 0"}, DropConstraint{Name: "Q"}}, deps, freshEnv())
	if err != nil || !both.Empty() || len(both.Checks) != 0 {
		t.Errorf("%v %+v", err, both)
	}
	c, err = Alter(s, []Action{DropConstraint{Name: "Pos"}}, deps, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := inHistory(c.Operation); got != "DROP CONSTRAINT\nname=Pos\nexpr=id > 0\nexisted=true" {
		t.Error(got)
	}
	if s = after(t, s, c); !s.Config.Supports("checkConstraints") || len(s.Config.Constraints()) > 0 {
		t.Error(shown(s.Config.Protocol))
	}
}

func TestKeys(t *testing.T) {
	s := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "id int,v int,w int")})
	c, err := Alter(s, []Action{AddKey{Key{Kind: "PRIMARY KEY", Columns: []string{"ID", "v"}}}, AddKey{Key{Name: "Out", Kind: "FOREIGN KEY", Columns: []string{"v"}, Table: []string{"db", "u"}, Target: []string{"k"}}}}, Dependencies{}, freshEnv())
	if err != nil || len(c.Warnings) != 2 {
		t.Fatalf("%v %+v", err, c)
	}
	if got := inHistory(c.Operation); !strings.HasPrefix(got, `SET TBLPROPERTIES
properties={"deltasql.constraints.primary":`) {
		t.Error(got)
	}
	s = after(t, s, c)
	keys := Keys(s.Config)
	if len(keys) != 2 || keys[0].Name != "out" || keys[0].Table[1] != "u" || keys[1].Columns[0] != "id" {
		t.Errorf("%+v", keys)
	}
	for _, c := range []struct {
		action Action
		class  protocol.Class
	}{
		{AddKey{Key{Name: "second", Kind: "PRIMARY KEY", Columns: []string{"w"}}}, "DELTA_CONSTRAINT_ALREADY_EXISTS"},
		{AddConstraint{Name: "OUT", Expression: "v > 0"}, "DELTA_CONSTRAINT_ALREADY_EXISTS"},
		{AddKey{Key{Kind: "FOREIGN KEY", Columns: []string{"nope"}, Table: []string{"u"}}}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{DropColumns{Columns: paths("v")}, "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"},
		{RenameColumn{Column: path("id"), To: "key"}, "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"},
	} {
		_, err := Alter(s, []Action{c.action}, Dependencies{}, freshEnv())
		wantClass(t, err, c.class)
	}
	s = must(t, s, Dependencies{}, DropPrimaryKey{}, DropConstraint{Name: "out"}, DropColumns{Columns: paths("v")})
	if len(Keys(s.Config)) > 0 {
		t.Error(s.Config.Metadata.Configuration)
	}
	_, err = Alter(s, []Action{DropPrimaryKey{}}, Dependencies{}, freshEnv())
	wantClass(t, err, "DELTA_CONSTRAINT_DOES_NOT_EXIST")
}
