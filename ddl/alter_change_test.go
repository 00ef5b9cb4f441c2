package ddl

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

var widening = props{"delta.enableTypeWidening": "true"}

// TestChangeColumn holds the recorded changes of comments, order and nullability.
func TestChangeColumn(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "a int,b string,c date,s struct<x:int,y:int>")})
	history := []string{
		"CHANGE COLUMN\ncolumn={\"name\":\"b\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"comment\":\"new\"}}",
		"CHANGE COLUMN\ncolumn={\"name\":\"c\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}}\nposition=FIRST",
		"CHANGE COLUMN\ncolumn={\"name\":\"s.y\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}\nposition=FIRST",
		"CHANGE COLUMN\ncolumn={\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}\nposition=AFTER s",
		"CHANGE COLUMN\ncolumn={\"name\":\"s.x\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{\"comment\":\"inner\"}}",
	}
	for i, change := range []ChangeColumn{
		{Column: path("b"), Comment: text("new")},
		{Column: path("C"), Type: typeOf(t, "date"), First: true},
		{Column: path("s.y"), First: true},
		{Column: path("a"), After: "s"},
		{Column: path("s.x"), Type: typeOf(t, "int"), Comment: text("inner")},
	} {
		c, err := Alter(s, []Action{change}, Dependencies{}, freshEnv())
		if err != nil {
			t.Fatal(err)
		}
		if got := inHistory(c.Operation); got != history[i] {
			t.Errorf("%s\nwant %s", got, history[i])
		}
		s = after(t, s, c)
	}
	if got := s.Config.Schema.String(); got != "struct<c:date,b:string,s:struct<y:int,x:int>,a:int>" {
		t.Error(got)
	}
}

func TestChangeColumnRefused(t *testing.T) {
	off := created(t, CreateSpec{Schema: columns(t, "a int,b string,m map<int,int>,arr array<struct<x:int>>")})
	on := created(t, CreateSpec{Properties: widening, Schema: columns(t, "a int,l bigint,f float,d decimal(10,4),s string,e date,st struct<x:int>,ts timestamp,sm smallint,bin binary")})
	id := created(t, CreateSpec{Schema: columns(t, "i bigint,v int", identity("i", protocol.Identity{Start: 1, Step: 1}))})
	gen, deps := dependent(t, true)
	gen = must(t, gen, deps, SetProperties{Properties: widening})
	kind := func(column, kind string) ChangeColumn {
		return ChangeColumn{Column: path(column), Type: typeOf(t, kind)}
	}
	const refusedByDelta, refusedBySpark = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN"
	for _, c := range []struct {
		name   string
		state  State
		change ChangeColumn
		class  protocol.Class
	}{
		{"widening is off", off, kind("a", "bigint"), refusedByDelta},
		{"narrower", on, kind("a", "smallint"), refusedBySpark},
		{"long to double", on, kind("l", "double"), refusedByDelta},
		{"long to float", on, kind("l", "float"), refusedByDelta},
		{"int to float", on, kind("a", "float"), refusedByDelta},
		{"int to string", on, kind("a", "string"), refusedByDelta},
		{"string to int", on, kind("s", "int"), refusedBySpark},
		{"binary to string", on, kind("bin", "string"), refusedByDelta},
		{"decimal loses integer digits", on, kind("d", "decimal(10,5)"), refusedBySpark},
		{"decimal to double", on, kind("d", "double"), refusedBySpark},
		{"int to a short decimal", on, kind("a", "decimal(9,0)"), refusedBySpark},
		{"long to a short decimal", on, kind("l", "decimal(19,0)"), refusedBySpark},
		{"short to a decimal that readers cannot make of 32 bits", on, kind("sm", "decimal(6,0)"), refusedByDelta},
		{"date to timestamp", on, kind("e", "timestamp"), refusedByDelta},
		{"date to timestamp_ntz without the feature", on, kind("e", "timestamp_ntz"), "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"},
		{"timestamp to date", on, kind("ts", "date"), refusedBySpark},
		{"whole struct", on, kind("st", "struct<x:bigint>"), "CANNOT_UPDATE_FIELD.STRUCT_TYPE"},
		{"whole map", off, kind("m", "map<int,bigint>"), "CANNOT_UPDATE_FIELD.MAP_TYPE"},
		{"whole array", off, kind("arr", "array<int>"), "CANNOT_UPDATE_FIELD.ARRAY_TYPE"},
		{"array to int", off, kind("arr", "int"), refusedBySpark},
		{"after nothing", off, ChangeColumn{Column: path("a"), After: "nope"}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"no column", off, ChangeColumn{Column: path("nope"), Comment: text("x")}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"comment of a key", off, ChangeColumn{Column: path("m.key"), Comment: text("x")}, "DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY"},
		{"comment of an element", off, ChangeColumn{Column: path("arr.element"), Comment: text("x")}, "DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY"},
		{"position of a value", off, ChangeColumn{Column: path("m.value"), First: true}, "INVALID_FIELD_NAME"},
		{"NOT NULL inside an array", off, ChangeColumn{Column: path("arr.element.x"), SetNotNull: true}, "DELTA_NESTED_NOT_NULL_CONSTRAINT"},
		{"NOT NULL of an element", off, ChangeColumn{Column: path("arr.element"), SetNotNull: true}, "DELTA_NESTED_NOT_NULL_CONSTRAINT"},
		{"NULL as a key", off, ChangeColumn{Column: path("m.key"), DropNotNull: true}, refusedByDelta},
		{"default inside a struct", on, ChangeColumn{Column: path("st.x"), SetDefault: text("1")}, "DELTA_OPERATION_NOT_ALLOWED"},
		{"identity: type", id, kind("i", "decimal(20,0)"), "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"},
		{"identity: a narrower type", id, kind("i", "int"), refusedBySpark},
		{"identity: NOT NULL", id, ChangeColumn{Column: path("i"), SetNotNull: true}, "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"},
		{"identity: default", id, ChangeColumn{Column: path("i"), SetDefault: text("1")}, "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"},
		{"sync of another column", id, ChangeColumn{Column: path("v"), Sync: &SyncIdentity{}}, "DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN"},
		{"default of a generated column", gen, ChangeColumn{Column: path("g"), SetDefault: text("1")}, "GENERATED_COLUMN_WITH_DEFAULT_VALUE"},
		{"type of what a CHECK uses", gen, kind("k", "bigint"), "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"},
		{"type of what a generated column uses", gen, kind("a", "bigint"), "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Dependencies{}
			if c.state.Config == gen.Config {
				d = deps
			}
			_, err := Alter(c.state, []Action{c.change}, d, freshEnv())
			wantClass(t, err, c.class)
		})
	}
	// Of an identity column comment, position and name may change.
	for _, change := range []ChangeColumn{{Column: path("i"), Comment: text("x")}, {Column: path("i"), After: "v"}, {Column: path("i"), Type: typeOf(t, "bigint")}} {
		if _, err := Alter(id, []Action{change}, Dependencies{}, freshEnv()); err != nil {
			t.Error(err)
		}
	}
}

func TestNullability(t *testing.T) {
	s := created(t, CreateSpec{Properties: props{"delta.ignoreProtocolDefaults": "true"}, Schema: columns(t, "a int,s struct<x:int>")})
	c, err := Alter(withRows(s), []Action{ChangeColumn{Column: path("A"), SetNotNull: true}, ChangeColumn{Column: path("s.x"), SetNotNull: true}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Checks) != 2 || c.Checks[0].Kind != CheckNotNull || c.Checks[0].Column.String() != "a" || c.Checks[1].Column.String() != "s.x" {
		t.Errorf("%+v", c.Checks)
	}
	m := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,s struct<x:int>,b int")})
	renamed, err := Alter(m, []Action{ChangeColumn{Column: path("s.x"), SetNotNull: true}, ChangeColumn{Column: path("b"), SetNotNull: true}, ChangeColumn{Column: path("a"), SetNotNull: true, Rename: "c"},
		RenameColumn{Column: path("s"), To: "t"}, DropColumns{Columns: paths("b")}}, Dependencies{}, freshEnv())
	if err != nil || len(renamed.Checks) != 2 || renamed.Checks[0].Column.String() != "t.x" || renamed.Checks[1].Column.String() != "c" {
		t.Errorf("%v %+v", err, renamed)
	}
	s = after(t, s, c)
	if s.Config.Schema.Fields[0].Nullable || !s.Config.Supports("invariants") {
		t.Error(s.Config.Schema.JSON(), shown(s.Config.Protocol))
	}
	s = must(t, s, Dependencies{}, ChangeColumn{Column: path("a"), DropNotNull: true}, ChangeColumn{Column: path("s.x"), DropNotNull: true})
	if !s.Config.Schema.Fields[0].Nullable || s.Config.Schema.Fields[1].Type.Fields[0].Nullable == false || !s.Config.Supports("invariants") {
		t.Error(s.Config.Schema.JSON())
	}
}

func TestDefaults(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "id int,v string")})
	s = must(t, s, Dependencies{}, ChangeColumn{Column: path("v"), SetDefault: text("'later'")})
	if sql, _ := s.Config.Schema.Fields[1].Metadata.CurrentDefault(); sql != "'later'" || !s.Config.Supports("allowColumnDefaults") {
		t.Error(sql, shown(s.Config.Protocol))
	}
	s = must(t, s, Dependencies{}, ChangeColumn{Column: path("v"), DropDefault: true})
	if _, ok := s.Config.Schema.Fields[1].Metadata.CurrentDefault(); ok || !s.Config.Supports("allowColumnDefaults") {
		t.Error(s.Config.Schema.JSON())
	}
}

// TestWiden holds the recorded histories of widened types, in structs, elements, keys and values too.
func TestWiden(t *testing.T) {
	s := created(t, CreateSpec{Properties: props{"delta.enableTypeWidening": "true", "delta.feature.timestampNtz": "supported"},
		Schema: columns(t, "i8 tinyint,i16 smallint,n int,f float,d decimal(5,2),e date,l bigint,s struct<a:smallint>,arr array<int>,m map<tinyint,array<smallint>>")})
	for _, c := range [][2]string{{"i8", "smallint"}, {"i8", "int"}, {"i16", "bigint"}, {"n", "double"}, {"f", "double"}, {"d", "decimal(10,4)"}, {"e", "timestamp_ntz"},
		{"l", "decimal(20,0)"}, {"s.a", "int"}, {"arr.element", "bigint"}, {"m.key", "int"}, {"m.value.element", "double"}} {
		next := must(t, s, Dependencies{}, ChangeColumn{Column: path(c[0]), Type: typeOf(t, c[1])})
		if next.Config.Schema.String() == s.Config.Schema.String() {
			t.Errorf("%s stays", c[0])
		}
		s = next
	}
	for name, want := range map[string]string{
		"i8":  `[{"toType":"short","fromType":"byte"},{"toType":"integer","fromType":"short"}]`,
		"i16": `[{"toType":"long","fromType":"short"}]`, "n": `[{"toType":"double","fromType":"integer"}]`, "f": `[{"toType":"double","fromType":"float"}]`,
		"d": `[{"toType":"decimal(10,4)","fromType":"decimal(5,2)"}]`, "e": `[{"toType":"timestamp_ntz","fromType":"date"}]`,
		"l": `[{"toType":"decimal(20,0)","fromType":"long"}]`, "s.a": `[{"toType":"integer","fromType":"short"}]`,
		"arr": `[{"toType":"long","fromType":"integer","fieldPath":"element"}]`,
		"m":   `[{"toType":"integer","fromType":"byte","fieldPath":"key"},{"toType":"double","fromType":"short","fieldPath":"value.element"}]`,
	} {
		at, err := find(&s.Config.Schema, path(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(at.field().Metadata[metaKeyTypeChanges]); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if _, has := s.Config.Schema.Fields[7].Metadata[metaKeyTypeChanges]; has {
		t.Error("a struct has the record of its member")
	}
	// Iceberg knows fewer steps.
	ice := created(t, CreateSpec{Properties: props{"delta.enableTypeWidening": "true", "delta.enableIcebergCompatV2": "true"}, Schema: columns(t, "a int,b int")})
	must(t, ice, Dependencies{}, ChangeColumn{Column: path("a"), Type: typeOf(t, "bigint")})
	_, err := Alter(ice, []Action{ChangeColumn{Column: path("a"), Type: typeOf(t, "double")}}, Dependencies{}, freshEnv())
	wantClass(t, err, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING")
	// The preview notes the version of the commit.
	preview := created(t, CreateSpec{Properties: props{"delta.enableTypeWidening": "true", "delta.feature.typeWidening-preview": "supported"}, Schema: columns(t, "a int")})
	preview.Version = 6
	preview = must(t, preview, Dependencies{}, ChangeColumn{Column: path("a"), Type: typeOf(t, "bigint")})
	if got := string(preview.Config.Schema.Fields[0].Metadata[metaKeyTypeChanges]); got != `[{"toType":"long","fromType":"integer","tableVersion":7}]` || preview.Config.Supports("typeWidening") {
		t.Error(got, shown(preview.Config.Protocol))
	}
	// A column without a type may become anything, without the feature and without a record.
	void := created(t, CreateSpec{Schema: columns(t, "a int,b void"), Properties: mapped})
	void = must(t, void, Dependencies{}, ChangeColumn{Column: path("b"), Type: typeOf(t, "struct<x:int>")})
	if _, has := void.Config.Schema.Fields[1].Metadata[metaKeyTypeChanges]; has || void.Config.Schema.String() != "struct<a:int,b:struct<x:int>>" {
		t.Error(void.Config.Schema.JSON())
	}
}

// TestMayWiden is the whole table of what may be recorded.
func TestMayWiden(t *testing.T) {
	all := []string{"tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(6,3)", "decimal(9,0)", "decimal(10,0)", "decimal(19,0)", "decimal(20,0)", "decimal(38,10)",
		"string", "binary", "boolean", "date", "timestamp", "timestamp_ntz", "void", "variant"}
	allowed := map[string]string{
		"tinyint": "smallint int bigint double decimal(10,0) decimal(19,0) decimal(20,0) decimal(38,10)", "smallint": "int bigint double decimal(10,0) decimal(19,0) decimal(20,0) decimal(38,10)",
		"int": "bigint double decimal(10,0) decimal(19,0) decimal(20,0) decimal(38,10)", "bigint": "decimal(20,0) decimal(38,10)", "float": "double", "date": "timestamp_ntz",
		"decimal(5,2)": "decimal(6,3) decimal(38,10)", "decimal(6,3)": "decimal(38,10)", "decimal(9,0)": "decimal(10,0) decimal(19,0) decimal(20,0) decimal(38,10)",
		"decimal(10,0)": "decimal(19,0) decimal(20,0) decimal(38,10)", "decimal(19,0)": "decimal(20,0) decimal(38,10)", "decimal(20,0)": "decimal(38,10)",
	}
	for _, from := range all {
		for _, to := range all {
			want := slices.Contains(strings.Fields(allowed[from]), to)
			if got := MayWiden(*typeOf(t, from), *typeOf(t, to)); got != want {
				t.Errorf("%s to %s: %v", from, to, got)
			}
			if want && !castsUp(*typeOf(t, from), *typeOf(t, to)) {
				t.Errorf("%s to %s widens but does not cast up", from, to)
			}
		}
	}
}

func TestCharVarchar(t *testing.T) {
	declared := func(name, text string) func(*protocol.DataType) {
		return meta(name, func(protocol.FieldMetadata) protocol.FieldMetadata {
			return protocol.FieldMetadata{metaKeyCharVarchar: jsonText(text)}
		})
	}
	s := created(t, CreateSpec{Schema: columns(t, "v string,c string,l array<string>", declared("v", "varchar(3)"), declared("c", "char(2)"), declared("l", "array<varchar(3)>"))})
	change := func(name, text string) ChangeColumn {
		return ChangeColumn{Column: path(name), Type: typeOf(t, "string"), CharVarchar: text}
	}
	s = must(t, s, Dependencies{}, change("v", "varchar(5)"))
	_, err := Alter(s, []Action{change("v", "varchar(4)")}, Dependencies{}, freshEnv())
	wantClass(t, err, "NOT_SUPPORTED_CHANGE_COLUMN")
	s = must(t, s, Dependencies{}, change("c", "varchar(4)"), change("v", ""))
	if got, _ := s.Config.Schema.Fields[1].Metadata.CharVarchar(); got != "varchar(4)" || len(s.Config.Schema.Fields[0].Metadata) > 0 {
		t.Error(s.Config.Schema.JSON())
	}
	for _, c := range []ChangeColumn{change("v", "varchar(20)"), change("c", "char(4)")} {
		_, err := Alter(s, []Action{c}, Dependencies{}, freshEnv())
		wantClass(t, err, "NOT_SUPPORTED_CHANGE_COLUMN")
	}
	_, err = Alter(s, []Action{change("l.element", "varchar(2)")}, Dependencies{}, freshEnv())
	wantClass(t, err, "NOT_SUPPORTED_CHANGE_COLUMN")
	s = must(t, s, Dependencies{}, change("l.element", "varchar(4)"))
	if got, _ := s.Config.Schema.Fields[2].Metadata.CharVarchar(); got != "array<varchar(4)>" {
		t.Error(s.Config.Schema.JSON())
	}
	s = must(t, s, Dependencies{}, change("l.element", ""))
	if len(s.Config.Schema.Fields[2].Metadata) > 0 {
		t.Error(s.Config.Schema.JSON())
	}
}

// TestLengthsFollow: the one text that has the lengths of all strings inside a column follows what becomes of these.
func TestLengthsFollow(t *testing.T) {
	declared := func(name, text string) func(*protocol.DataType) {
		return meta(name, func(m protocol.FieldMetadata) protocol.FieldMetadata { return m.WithCharVarchar(text) })
	}
	for _, mode := range []string{"name", "none"} {
		s := created(t, CreateSpec{Schema: columns(t, "l array<struct<e:int,c:string,d:string>>,s struct<a:int,v:string>", declared("l", "array<struct<e:int,c:char(3),d:string>>"), declared("s", "struct<a:int,v:varchar(2)>")),
			Properties: props{"delta.columnMapping.mode": mode, "delta.enableTypeWidening": "true"}})
		text := func(i int) string { got, _ := s.Config.Schema.Fields[i].Metadata.CharVarchar(); return got }
		field := func(name, text string) protocol.Field {
			f := protocol.Field{Name: protocol.LogicalName(name), Type: *typeOf(t, "string"), Nullable: true}
			if text != "" {
				f.Metadata = f.Metadata.WithCharVarchar(text)
			}
			return f
		}
		want := func(l, inS string) {
			t.Helper()
			if text(0) != l || text(1) != inS {
				t.Errorf("%s: %q and %q, want %q and %q", mode, text(0), text(1), l, inS)
			}
		}
		s = must(t, s, Dependencies{}, AddColumns{Columns: []NewColumn{{Parent: path("l.element"), Field: field("f", "varchar(9)"), First: true}, {Parent: path("s"), Field: field("g", "")}}})
		want("array<struct<f:varchar(9),e:int,c:char(3),d:string>>", "struct<a:int,v:varchar(2),g:string>")
		s = must(t, s, Dependencies{}, ChangeColumn{Column: path("l.element.e"), Type: typeOf(t, "bigint")}, ChangeColumn{Column: path("s.v"), First: true}, ChangeColumn{Column: path("s.v"), Type: typeOf(t, "string"), CharVarchar: "varchar(4)"})
		want("array<struct<f:varchar(9),e:bigint,c:char(3),d:string>>", "struct<v:varchar(4),a:int,g:string>")
		if mode == "none" {
			continue
		}
		s = must(t, s, Dependencies{}, RenameColumn{Column: path("l.element.c"), To: "x"}, RenameColumn{Column: path("l.element.d"), To: "c"}, RenameColumn{Column: path("l.element.x"), To: "d"}, DropColumns{Columns: []Path{path("l.element.f")}})
		want("array<struct<e:bigint,d:char(3),c:string>>", "struct<v:varchar(4),a:int,g:string>")
		s = must(t, s, Dependencies{}, RenameColumn{Column: path("s.v"), To: "w"}, SetProperties{Properties: props{"delta.columnMapping.mode": "none"}})
		want("array<struct<e:bigint,d:char(3),c:string>>", "struct<w:varchar(4),a:int,g:string>")
		s = must(t, s, Dependencies{}, ChangeColumn{Column: path("s.w"), Type: typeOf(t, "string")})
		want("array<struct<e:bigint,d:char(3),c:string>>", "")
	}
}

func TestSyncIdentity(t *testing.T) {
	mark := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		name        string
		start, step int64
		old, found  *int64
		want        *int64
	}{
		{"exact", 1, 5, mark(6), mark(1001), mark(1001)},
		{"rounded up", 1, 5, nil, mark(1000), mark(1001)},
		{"rounded down for a negative step", 10, -3, nil, mark(-6), mark(-8)},
		{"never lowered", 1, 1, mark(500), mark(20), mark(500)},
		{"never raised for a negative step", 10, -1, mark(-500), mark(0), mark(-500)},
		{"before the start", 100, 10, nil, mark(7), nil},
		{"nothing found", 1, 1, mark(4), nil, mark(4)},
		{"a mark before the start is another's fault", 100, 10, mark(7), mark(8), mark(100)},
		{"across the whole range", math.MinInt64, 7, nil, mark(math.MaxInt64 - 1), mark(math.MaxInt64 - 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := created(t, CreateSpec{Schema: columns(t, "i bigint,v int", identity("i", protocol.Identity{Start: c.start, Step: c.step, HighWaterMark: c.old}))})
			if greatest, err := IdentityScan(s, path("I")); err != nil || greatest != (c.step > 0) {
				t.Error(greatest, err)
			}
			s = must(t, s, Dependencies{}, ChangeColumn{Column: path("i"), Sync: &SyncIdentity{Value: c.found}})
			id, _ := s.Config.Schema.Fields[0].Metadata.Identity()
			if (id.HighWaterMark == nil) != (c.want == nil) || id.HighWaterMark != nil && *id.HighWaterMark != *c.want {
				got, _ := json.Marshal(id)
				t.Errorf("%s, want %v", got, c.want)
			}
		})
	}
	s := created(t, CreateSpec{Schema: columns(t, "i bigint,v int", identity("i", protocol.Identity{Start: 1, Step: 5}))})
	_, err := Alter(s, []Action{ChangeColumn{Column: path("i"), Sync: &SyncIdentity{Value: mark(math.MaxInt64)}}}, Dependencies{}, freshEnv())
	wantClass(t, err, "ARITHMETIC_OVERFLOW")
}
