package ddl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/txn"
)

// checker is what *testing.T and *rapid.T have in common.
type checker interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// after is the table once the change is committed, empty changes included.
func after(t checker, old State, c *Change) State {
	t.Helper()
	p, m := old.Config.Protocol, old.Config.Metadata
	if c.Protocol != nil {
		p = *c.Protocol
	}
	if c.Metadata != nil {
		m = *c.Metadata
	}
	config, err := protocol.NewTableConfig(p, m)
	if err != nil {
		t.Fatal(err)
	}
	next := old
	next.Config, next.Version = config, old.Version+1
	next.Domains = map[string]protocol.DomainMetadata{}
	for name, d := range old.Domains {
		next.Domains[name] = d
	}
	for _, d := range c.Domains {
		if next.Domains[d.Domain] = d; d.Removed {
			delete(next.Domains, d.Domain)
		}
	}
	return next
}

// freshEnv gives ids that no other call gives.
func freshEnv() Env {
	return Env{NowMillis: 1_700_000_000_000, NewID: func() string { freshIDs++; return fmt.Sprintf("fresh-%d", freshIDs) }}
}

var freshIDs int

// must alters a table that allows it.
func must(t checker, old State, deps Dependencies, actions ...Action) State {
	t.Helper()
	c, err := Alter(old, actions, deps, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	return after(t, old, c)
}

// withRows is the table with files in it.
func withRows(s State) State {
	s.NumFiles = 2
	return s
}

func path(text string) Path { return strings.Split(text, ".") }

func paths(texts ...string) []Path {
	var out []Path
	for _, text := range texts {
		out = append(out, path(text))
	}
	return out
}

// column is a column to add: "s.b string" with what changes the field.
func column(t *testing.T, text string, edits ...func(*protocol.DataType)) NewColumn {
	t.Helper()
	name, kind, _ := strings.Cut(text, " ")
	p := path(name)
	schema := columns(t, p[len(p)-1]+" "+kind, edits...)
	return NewColumn{Parent: p[:len(p)-1], Field: schema.Fields[0]}
}

func typeOf(t *testing.T, text string) *protocol.DataType {
	t.Helper()
	out, err := protocol.ParseDataType(text)
	if err != nil {
		t.Fatal(err)
	}
	return &out
}

func text(s string) *string { return &s }

// inHistory is an operation as commitInfo has it: name and parameters, each parameter's text as it is.
func inHistory(o txn.Operation) string {
	out := o.Name
	for _, p := range o.Parameters {
		var s string
		if json.Unmarshal(p.Value, &s) != nil {
			s = string(p.Value)
		}
		out += "\n" + p.Key + "=" + s
	}
	return out
}

var mapped = props{"delta.columnMapping.mode": "name"}

func TestAddColumns(t *testing.T) {
	s := withRows(created(t, CreateSpec{Schema: columns(t, "a int,b string,s struct<x:int,n:struct<y:int>>,arr array<struct<p:int>>,m map<struct<k:int>,struct<v:int>>")}))
	first, second := column(t, "f bigint"), column(t, "g double")
	first.First, second.After = true, "A"
	w := column(t, "m.value.w int")
	w.First = true
	c, err := Alter(s, []Action{AddColumns{Columns: []NewColumn{first, second, column(t, "h decimal(8,3)"), column(t, "s.n.z date"), column(t, "arr.element.q string"), w, column(t, "M.KEY.l int")}}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	want := "struct<f:bigint,a:int,g:double,b:string,s:struct<x:int,n:struct<y:int,z:date>>,arr:array<struct<p:int,q:string>>,m:map<struct<k:int,l:int>,struct<w:int,v:int>>,h:decimal(8,3)>"
	if got := after(t, s, c).Config.Schema.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if c.Protocol != nil {
		t.Error("a column of an old type raises the protocol")
	}
	got := inHistory(c.Operation)
	if !strings.HasPrefix(got, `ADD COLUMNS
columns=[{"column":{"name":"f","type":"long","nullable":true,"metadata":{}},"position":"FIRST"},{"column":{"name":"g","type":"double","nullable":true,"metadata":{}},"position":"AFTER A"},{"column":{"name":"h","type":"decimal(8,3)"`) ||
		!strings.Contains(got, `{"column":{"name":"m.key.l","type":"integer"`) {
		t.Error(got)
	}
}

func TestAddColumnsRefused(t *testing.T) {
	plain := created(t, CreateSpec{Schema: columns(t, "a int,s struct<x:int>,arr array<int>")})
	tracked := created(t, CreateSpec{Schema: columns(t, "a int"), Properties: props{"delta.enableRowTracking": "true"}})
	internal := tracked.Config.Property("delta.rowTracking.materializedRowIdColumnName")
	after := column(t, "k int")
	after.After = "nope"
	for _, c := range []struct {
		name    string
		state   State
		columns []NewColumn
		class   protocol.Class
	}{
		{"there in another case", plain, []NewColumn{column(t, "A string")}, "FIELD_ALREADY_EXISTS"},
		{"there in a struct", plain, []NewColumn{column(t, "S.X string")}, "FIELD_ALREADY_EXISTS"},
		{"twice", plain, []NewColumn{column(t, "c int"), column(t, "C int")}, "COLUMN_ALREADY_EXISTS"},
		{"characters", plain, []NewColumn{{Field: protocol.Field{Name: "b c", Type: *typeOf(t, "int"), Nullable: true}}}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"},
		{"not null with rows", withRows(plain), []NewColumn{column(t, "n int", notNull("n"))}, "DELTA_OPERATION_NOT_ALLOWED"},
		{"not null in a struct with rows", withRows(plain), []NewColumn{column(t, "s.n int", notNull("n"))}, "DELTA_OPERATION_NOT_ALLOWED"},
		{"timestamp_ntz", plain, []NewColumn{column(t, "n timestamp_ntz")}, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"},
		{"parent is no struct", plain, []NewColumn{column(t, "a.z int")}, "INVALID_FIELD_NAME"},
		{"parent is an array", plain, []NewColumn{column(t, "arr.z int")}, "INVALID_FIELD_NAME"},
		{"element is no struct", plain, []NewColumn{column(t, "arr.element.z int")}, "INVALID_FIELD_NAME"},
		{"no parent", plain, []NewColumn{column(t, "nope.z int")}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"after nothing", plain, []NewColumn{after}, "FIELD_NOT_FOUND"},
		{"row tracking's name", tracked, []NewColumn{column(t, strings.ToUpper(internal)+" int")}, "DELTA_ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED"},
		{"generated with rows", withRows(plain), []NewColumn{column(t, "g int", generated("g", "a + 1"))}, "DELTA_OPERATION_NOT_ALLOWED"},
		{"default in a struct", plain, []NewColumn{column(t, "s.d int", defaulted("d", "1"))}, "DELTA_OPERATION_NOT_ALLOWED"},
		{"default of a variant", plain, []NewColumn{column(t, "v variant", defaulted("v", "1"))}, "INVALID_DEFAULT_VALUE.DATA_TYPE"},
		{"a collation", plain, []NewColumn{{Field: protocol.Field{Name: "c", Nullable: true, Type: protocol.DataType{Kind: protocol.KindString, Collation: "ICU.de"}}}}, "DELTASQL_UNSUPPORTED_FEATURE"},
		{"identity of an int", plain, []NewColumn{column(t, "i int", identity("i", protocol.Identity{Start: 1, Step: 1}))}, "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"},
		{"identity without a step", plain, []NewColumn{column(t, "i bigint", identity("i", protocol.Identity{Start: 1}))}, "DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP"},
		{"change column of the feed", created(t, CreateSpec{Schema: columns(t, "a int"), Properties: props{"delta.enableChangeDataFeed": "true"}}), []NewColumn{column(t, "_Change_Type int")}, "RESERVED_CDC_COLUMNS_ON_WRITE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Alter(c.state, []Action{AddColumns{Columns: c.columns}}, Dependencies{}, freshEnv())
			wantClass(t, err, c.class)
		})
	}
}

// TestAddColumnsWithDuties: what old rows could not satisfy is allowed where there are none, and asks the engine to look.
func TestAddColumnsWithDuties(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "a int")})
	c, err := Alter(s, []Action{AddColumns{Columns: []NewColumn{
		column(t, "n int", notNull("n")), column(t, "i bigint", identity("i", protocol.Identity{Start: 1, Step: 1})), column(t, "d int", defaulted("d", "7"))}}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Checks) != 2 || c.Checks[0].Kind != CheckNoRows || c.Checks[0].Refusal.Class != "DELTA_OPERATION_NOT_ALLOWED" {
		t.Errorf("%+v", c.Checks)
	}
	got := after(t, s, c)
	for _, feature := range []string{"allowColumnDefaults", "identityColumns", "invariants"} {
		if !got.Config.Active(feature) {
			t.Errorf("%s is not there: %s", feature, got.Config.Schema.JSON())
		}
	}
	g, err := Alter(s, []Action{AddColumns{Columns: []NewColumn{{Field: column(t, "g int", generated("g", "a + 1")).Field, Refers: paths("a")}}}, RenameColumn{Column: path("a"), To: "b"}}, Dependencies{}, freshEnv())
	if err == nil {
		t.Errorf("a column that the new generated column refers to was renamed: %+v", g)
	}
	wantClass(t, err, "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE")
	c, err = Alter(withRows(s), []Action{AddColumns{Columns: []NewColumn{column(t, "d int", defaulted("d", "7"))}}}, Dependencies{}, freshEnv())
	if err != nil || len(c.Warnings) != 1 {
		t.Errorf("%v %+v", err, c)
	}
	c, err = Alter(s, []Action{AddColumns{IfNotExists: true, Columns: []NewColumn{column(t, "A string")}}}, Dependencies{}, freshEnv())
	if err != nil || !c.Empty() || len(c.Warnings) != 1 {
		t.Errorf("%v %+v", err, c)
	}
}

// TestAddColumnsFeatures: types bring their feature, but timestamp_ntz only after it was named.
func TestAddColumnsFeatures(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "id int")})
	v := must(t, s, Dependencies{}, AddColumns{Columns: []NewColumn{column(t, "s struct<v:variant>")}})
	if got := shown(v.Config.Protocol); got != shown(protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"variantType"}, WriterFeatures: []string{"appendOnly", "invariants", "variantType"}}) {
		t.Error(got)
	}
	n := must(t, s, Dependencies{}, SetProperties{Properties: props{"delta.feature.timestampNtz": "supported"}})
	n = must(t, n, Dependencies{}, AddColumns{Columns: []NewColumn{column(t, "n timestamp_ntz")}})
	if !slices.Equal(n.Config.Protocol.ReaderFeatures, []string{"timestampNtz"}) {
		t.Error(shown(n.Config.Protocol))
	}
}

func TestDropColumns(t *testing.T) {
	s := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,b string,c double,s struct<x:int,y:struct<p:int,q:int>>,arr array<struct<m:int,n:int>>")})
	next := must(t, s, Dependencies{}, DropColumns{Columns: paths("b")})
	c, err := Alter(next, []Action{DropColumns{Columns: paths("s.y.p", "arr.element.n")}, DropColumns{Columns: paths("nope"), IfExists: true}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := inHistory(c.Operation); got != "DROP COLUMNS\ncolumns=[\"s.y.p\",\"arr.element.n\"]" {
		t.Error(got)
	}
	next = after(t, next, c)
	if got := next.Config.Schema.String(); got != "struct<a:int,c:double,s:struct<x:int,y:struct<q:int>>,arr:array<struct<m:int>>>" {
		t.Error(got)
	}
	if next.Config.Property("delta.columnMapping.maxColumnId") != s.Config.Property("delta.columnMapping.maxColumnId") {
		t.Error("the largest id fell")
	}
	// What is added under the old name is another column.
	again := must(t, next, Dependencies{}, AddColumns{Columns: []NewColumn{column(t, "b int")}})
	was, is := s.Config.Schema.Fields[1], again.Config.Schema.Fields[4]
	oldID, _ := was.ColumnID()
	newID, _ := is.ColumnID()
	if is.Name != "b" || oldID == newID || was.PhysicalName(protocol.MappingName) == is.PhysicalName(protocol.MappingName) || newID != 12 {
		t.Errorf("%+v after %+v", is, was)
	}
}

// dependent is a table with every kind of dependant: CHECK on k, generated g of a, clustered or partitioned.
func dependent(t *testing.T, clustered bool) (State, Dependencies) {
	spec := CreateSpec{Properties: mapped, Schema: columns(t, "a int,p int,b struct<x:int,y:int>,k int,g int", generated("g", "a + 1"))}
	if clustered {
		spec.ClusterBy = [][]string{{"b", "x"}}
	} else {
		spec.PartitionColumns = []string{"p"}
	}
	s := created(t, spec)
	deps := Dependencies{Generated: map[string][]Path{"g": paths("a")}}
	s = must(t, s, deps, AddConstraint{Name: "K_pos", Expression: "k > 0", Refers: paths("k")})
	deps.Constraints = map[string][]Path{"k_pos": paths("k")}
	return s, deps
}

func TestDropAndRenameRefused(t *testing.T) {
	clustered, deps := dependent(t, true)
	partitioned, _ := dependent(t, false)
	plain := created(t, CreateSpec{Schema: columns(t, "a int,b int")})
	one := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int")})
	nested := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,s struct<x:int>,arr array<int>")})
	only := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,p int"), PartitionColumns: []string{"p"}})
	drop := func(texts ...string) Action { return DropColumns{Columns: paths(texts...)} }
	rename := func(from, to string) Action { return RenameColumn{Column: path(from), To: to} }
	for _, c := range []struct {
		name   string
		state  State
		deps   Dependencies
		action Action
		class  protocol.Class
	}{
		{"drop without mapping", plain, Dependencies{}, drop("b"), "DELTA_UNSUPPORTED_DROP_COLUMN"},
		{"drop what is not there", plain, Dependencies{}, drop("nope"), "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"drop a partition column", partitioned, deps, drop("P"), "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"},
		{"drop a clustering column", clustered, deps, drop("b.x"), "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"},
		{"drop what holds one", clustered, deps, drop("b"), "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"},
		{"drop what a CHECK uses", clustered, deps, drop("k"), "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"},
		{"drop what a generated column uses", partitioned, deps, drop("a"), "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"},
		{"drop the last column", one, Dependencies{}, drop("a"), "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"},
		{"drop the last of a struct", nested, Dependencies{}, drop("s.x"), "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"},
		{"drop an element", nested, Dependencies{}, drop("arr.element"), "DELTA_UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE"},
		{"drop all but partition columns", only, Dependencies{}, drop("a"), "DELTA_NON_PARTITION_COLUMN_ABSENT"},
		{"rename without mapping", plain, Dependencies{}, rename("b", "c"), "DELTA_UNSUPPORTED_RENAME_COLUMN"},
		{"rename what is not there", one, Dependencies{}, rename("nope", "c"), "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"rename onto another", clustered, deps, rename("a", "B"), "FIELD_ALREADY_EXISTS"},
		{"rename onto itself", clustered, deps, rename("a", "A"), "FIELD_ALREADY_EXISTS"},
		{"rename what a CHECK uses", clustered, deps, rename("k", "kk"), "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"},
		{"rename what a generated column uses", clustered, deps, rename("a", "aa"), "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"},
		{"rename an element", nested, Dependencies{}, rename("arr.element", "e"), "INVALID_FIELD_NAME"},
		{"dependencies left out", clustered, Dependencies{}, drop("p"), protocol.ClassInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Alter(c.state, []Action{c.action}, c.deps, freshEnv())
			wantClass(t, err, c.class)
		})
	}
	// A generated column may go together with what it is made of.
	next := must(t, partitioned, deps, DropColumns{Columns: paths("g", "a")})
	if got := next.Config.Schema.String(); got != "struct<p:int,b:struct<x:int,y:int>,k:int>" {
		t.Error(got)
	}
}

func TestRenameColumns(t *testing.T) {
	s, deps := dependent(t, true)
	s = must(t, s, deps, SetProperties{Properties: props{"delta.dataSkippingStatsColumns": "p,b.x,k"}})
	domain := s.Domains[protocol.DomainClustering].Configuration
	c, err := Alter(s, []Action{RenameColumn{Column: path("B"), To: "the b"}}, deps, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := inHistory(c.Operation); got != "RENAME COLUMN\noldColumnPath=b\nnewColumnPath=the b" {
		t.Error(got)
	}
	next := after(t, s, c)
	if got := next.Config.Property("delta.dataSkippingStatsColumns"); got != "p,`the b`.x,k" {
		t.Error(got)
	}
	if next.Domains[protocol.DomainClustering].Configuration != domain {
		t.Error("the clustering changed")
	}
	// A renamed clustering column is one still.
	_, err = Alter(next, []Action{DropColumns{Columns: []Path{{"the b", "x"}}}}, deps, freshEnv())
	wantClass(t, err, "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN")

	p, deps := dependent(t, false)
	p = must(t, p, deps, RenameColumn{Column: path("p"), To: "part"})
	if !slices.Equal(p.Config.Metadata.PartitionColumns, []string{"part"}) {
		t.Error(p.Config.Metadata.PartitionColumns)
	}
	p = must(t, p, deps, RenameColumn{Column: path("b.x"), To: "z"}, RenameColumn{Column: path("g"), To: "gen"})
	if got := p.Config.Schema.String(); got != "struct<a:int,part:int,b:struct<z:int,y:int>,k:int,gen:int>" {
		t.Error(got)
	}
}

// TestStatsColumnsFollow holds the recorded walk of delta.dataSkippingStatsColumns.
func TestStatsColumnsFollow(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "a int,b int,s struct<x:int,y:int>"), Properties: props{"delta.columnMapping.mode": "name", "delta.dataSkippingStatsColumns": "a,b,s.x"}})
	for _, step := range []struct {
		action Action
		want   string
	}{
		{RenameColumn{Column: path("a"), To: "aa"}, "aa,b,s.x"},
		{RenameColumn{Column: path("s"), To: "st"}, "aa,b,st.x"},
		{DropColumns{Columns: paths("b")}, "aa,st.x"},
		{DropColumns{Columns: paths("st")}, "aa"},
	} {
		s = must(t, s, Dependencies{}, step.action)
		if got := s.Config.Property("delta.dataSkippingStatsColumns"); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	_, err := Alter(s, []Action{SetProperties{Properties: props{"delta.dataSkippingStatsColumns": "nope"}}}, Dependencies{}, freshEnv())
	wantClass(t, err, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA")
}

func TestClusterBy(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "a int,b string,c array<int>,f boolean")})
	by := func(texts ...string) Action { return SetClustering{Columns: paths(texts...)} }
	if c, err := Alter(s, []Action{by()}, Dependencies{}, freshEnv()); err != nil || !c.Empty() {
		t.Errorf("NONE on a plain table: %v %+v", err, c)
	}
	c, err := Alter(s, []Action{by("a")}, Dependencies{}, freshEnv())
	if err != nil || c.Protocol == nil || c.Metadata == nil || len(c.Domains) != 1 {
		t.Fatalf("%v %+v", err, c)
	}
	if got := c.Domains[0].Configuration; got != `{"clusteringColumns":[["a"]],"domainName":"delta.clustering"}` {
		t.Error(got)
	}
	if got := inHistory(c.Operation); got != "CLUSTER BY\noldClusteringColumns=\nnewClusteringColumns=a" {
		t.Error(got)
	}
	s = after(t, s, c)
	if got := strings.Join(s.Config.Protocol.Features(), ","); got != "appendOnly,clustering,domainMetadata,invariants" {
		t.Error(got)
	}
	s = must(t, s, Dependencies{}, by("b", "A"))
	if got := s.Domains[protocol.DomainClustering].Configuration; !strings.HasPrefix(got, `{"clusteringColumns":[["b"],["a"]]`) {
		t.Error(got)
	}
	if c, err := Alter(s, []Action{by("b", "a")}, Dependencies{}, freshEnv()); err != nil || !c.Empty() {
		t.Errorf("the same columns again: %v %+v", err, c)
	}
	none := must(t, s, Dependencies{}, by())
	if got := none.Domains[protocol.DomainClustering].Configuration; !strings.HasPrefix(got, `{"clusteringColumns":[]`) || !none.Config.Supports("clustering") {
		t.Error(got)
	}
	p := created(t, CreateSpec{Schema: columns(t, "a int,b string"), PartitionColumns: []string{"a"}})
	for _, c := range []struct {
		state  State
		action Action
		class  protocol.Class
	}{
		{s, by("c"), "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{s, by("f"), "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"},
		{s, by("nope"), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
		{s, by("a", "A"), "DELTA_DUPLICATE_COLUMNS_FOUND"},
		{s, by("a", "b", "c", "d", "e"), "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"},
		{p, by("b"), "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED"},
		{p, by(), "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED"},
		{s, SetClustering{Auto: true}, "DELTA_OPERATION_NOT_ALLOWED"},
		{s, SetProperties{Properties: props{"delta.dataSkippingNumIndexedCols": "1"}}, "DELTA_CLUSTERING_COLUMN_MISSING_STATS"},
	} {
		_, err := Alter(c.state, []Action{c.action}, Dependencies{}, freshEnv())
		wantClass(t, err, c.class)
	}
	// A clustering column that moves out of the columns with statistics.
	far := created(t, CreateSpec{Schema: columns(t, "a int,b int"), ClusterBy: [][]string{{"a"}}, Properties: props{"delta.dataSkippingNumIndexedCols": "1"}})
	_, err = Alter(far, []Action{ChangeColumn{Column: path("a"), After: "b"}}, Dependencies{}, freshEnv())
	wantClass(t, err, "DELTA_CLUSTERING_COLUMN_MISSING_STATS")
}

func TestReplaceColumns(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "a int,b string")})
	want := columns(t, "b string,c date,a int", meta("b", func(m protocol.FieldMetadata) protocol.FieldMetadata {
		return protocol.FieldMetadata{"comment": json.RawMessage(`"text"`)}
	}))
	next := must(t, s, Dependencies{}, ReplaceColumns{Columns: want.Fields})
	if got := next.Config.Schema.JSON(); got != want.JSON() {
		t.Error(got)
	}
	i := created(t, CreateSpec{Schema: columns(t, "k bigint,s string", identity("k", protocol.Identity{Start: 1, Step: 1}))})
	m := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,b string,c date")})
	for _, c := range []struct {
		state State
		text  string
		inner protocol.Class
		class protocol.Class
	}{
		{next, "a int", "DELTA_CANNOT_CHANGE_DATA_TYPE", "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP"},
		{next, "b string,c date,a string", "DELTA_CANNOT_CHANGE_DATA_TYPE", "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP"},
		{m, "a int,x int", "DELTA_AMBIGUOUS_DATA_TYPE_CHANGE", "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP"},
		{i, "k bigint,s string,u int", "", "DELTA_IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED"},
		{next, "a int,A int,b string,c date", "", "COLUMN_ALREADY_EXISTS"},
	} {
		fields := []protocol.Field{}
		for _, part := range strings.Split(c.text, ",") {
			fields = append(fields, columns(t, part).Fields...)
		}
		_, err := Alter(c.state, []Action{ReplaceColumns{Columns: fields}}, Dependencies{}, freshEnv())
		wantClass(t, err, c.class)
		if c.inner != "" && !strings.Contains(err.Error(), string(c.inner)) {
			t.Errorf("%v does not say %s", err, c.inner)
		}
	}
	ids := func(s State) string {
		var out []string
		for _, f := range s.Config.Schema.Fields {
			id, _ := f.ColumnID()
			out = append(out, fmt.Sprint(f.Name, id))
		}
		return strings.Join(out, " ")
	}
	if got := ids(must(t, m, Dependencies{}, ReplaceColumns{Columns: columns(t, "b string,a int").Fields})); got != "b2 a1" {
		t.Error(got)
	}
	c, deps := dependent(t, true)
	_, err := Alter(c, []Action{ReplaceColumns{Columns: columns(t, "a int,p int,b struct<x:int,y:int>,g int").Fields}}, deps, freshEnv())
	wantClass(t, err, "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE")
	_, err = Alter(c, []Action{ReplaceColumns{Columns: columns(t, "a int,p int,b struct<y:int>,k int,g int").Fields}}, deps, freshEnv())
	wantClass(t, err, "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN")
}

// TestNothingChanges holds the recorded statements that change nothing: none of them makes a commit.
func TestNothingChanges(t *testing.T) {
	s := created(t, CreateSpec{Properties: props{"k": "v", "delta.appendOnly": "false"}, Schema: columns(t, "id int,v string", meta("id", func(protocol.FieldMetadata) protocol.FieldMetadata {
		return protocol.FieldMetadata{"comment": json.RawMessage(`"key"`)}
	}))})
	for i, action := range []Action{
		SetProperties{Properties: props{"k": "v"}},
		UnsetProperties{Keys: []string{"nope", "delta.enableChangeDataFeed"}, IfExists: true},
		UnsetProperties{Keys: []string{"not.there"}},
		UnsetProperties{Keys: []string{"delta.minWriterVersion", "delta.feature.deletionVectors"}},
		DropConstraint{Name: "nope", IfExists: true},
		ChangeColumn{Column: path("id"), DropNotNull: true},
		ChangeColumn{Column: path("id"), Type: typeOf(t, "int")},
		ChangeColumn{Column: path("id"), Comment: text("key")},
		ChangeColumn{Column: path("id"), First: true},
		ChangeColumn{Column: path("v"), DropDefault: true},
		SetClustering{},
		SetProperties{Properties: props{"delta.minWriterVersion": "1"}},
		SetProperties{Properties: props{"delta.feature.appendOnly": "supported"}},
		SetComment{},
	} {
		anyway := i >= 1 && i <= 9 && i != 6 // the reference makes a version of these, but not of the type that is there
		c, err := Alter(s, []Action{action}, Dependencies{}, freshEnv())
		if err != nil || c.Empty() == anyway || (c.Operation.Name != "") != anyway || c.Protocol != nil {
			t.Errorf("%d: %v %+v", i, err, c)
			continue
		}
		if anyway && !reflect.DeepEqual(*c.Metadata, s.Config.Metadata) {
			t.Errorf("%d: %+v, want %+v", i, *c.Metadata, s.Config.Metadata)
		}
	}
}

// TestSeveralActions holds how actions of one statement fold, and that they are all or nothing.
func TestSeveralActions(t *testing.T) {
	s := withRows(created(t, CreateSpec{Properties: mapped, Schema: columns(t, "a int,b string")}))
	comment := func(name, text string) Action { return ChangeColumn{Column: path(name), Comment: &text} }
	for _, c := range []struct {
		actions []Action
		want    string
	}{
		{[]Action{comment("a", "x"), comment("b", "y")}, "CHANGE COLUMNS\ncolumns=[{\"name\":\"a\""},
		{[]Action{AddColumns{Columns: []NewColumn{column(t, "c int")}}, AddColumns{Columns: []NewColumn{column(t, "d int")}}}, "ADD COLUMNS\ncolumns=[{\"column\":{\"name\":\"c\""},
		{[]Action{AddColumns{Columns: []NewColumn{column(t, "c int")}}, DropColumns{Columns: paths("b")}}, "UPDATE SCHEMA\noldSchema={\"type\":\"struct\""},
		{[]Action{AddConstraint{Name: "x", Expression: "a > 0", Refers: paths("a")}, SetProperties{Properties: props{"k": "v"}}}, "SET TBLPROPERTIES\nproperties={\"delta.constraints.x\":\"a > 0\",\"k\":\"v\"}"},
		{[]Action{SetProperties{Properties: props{"k": "v"}}, SetProperties{Properties: props{"l": "w"}}}, "SET TBLPROPERTIES\nproperties={\"k\":\"v\",\"l\":\"w\"}"},
		{[]Action{UnsetProperties{Keys: []string{"q"}, IfExists: true}, SetProperties{Properties: props{"l": "<w>"}}}, "SET TBLPROPERTIES\nproperties={\"l\":\"<w>\"}"},
	} {
		change, err := Alter(s, c.actions, Dependencies{}, freshEnv())
		if err != nil {
			t.Fatal(err)
		}
		if got := inHistory(change.Operation); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	before := s.Config.Metadata.SchemaString
	_, err := Alter(s, []Action{DropColumns{Columns: paths("b")}, RenameColumn{Column: path("nope"), To: "c"}}, Dependencies{}, freshEnv())
	wantClass(t, err, "UNRESOLVED_COLUMN.WITH_SUGGESTION")
	if s.Config.Metadata.SchemaString != before || s.Config.Schema.JSON() != before {
		t.Error("a failed statement changed the table it was given")
	}
}

// TestNeutralStatements: what needs no feature leaves the protocol as it is, whatever that is, and a feature that comes
// keeps all that a legacy version implied.
func TestNeutralStatements(t *testing.T) {
	neutral := []Action{ChangeColumn{Column: path("a"), Comment: text("x")}, AddColumns{Columns: []NewColumn{column(t, "n int")}}, SetProperties{Properties: props{"my.key": "v"}}}
	for _, properties := range []props{{"delta.minWriterVersion": "4"}, {"delta.enableDeletionVectors": "true", "delta.checkpointPolicy": "v2"}, {"delta.ignoreProtocolDefaults": "true"}} {
		for _, action := range neutral {
			s := created(t, CreateSpec{Schema: columns(t, "a int"), Properties: properties})
			if c, err := Alter(s, []Action{action}, Dependencies{}, freshEnv()); err != nil || c.Protocol != nil || c.Metadata == nil {
				t.Errorf("%v %+v", err, c)
			}
		}
	}
	s := created(t, CreateSpec{Schema: columns(t, "a int"), Properties: props{"delta.minWriterVersion": "4"}, Constraints: map[string]string{"pos": "a > 0"}})
	s = must(t, s, Dependencies{Constraints: map[string][]Path{"pos": paths("a")}}, SetProperties{Properties: props{"delta.enableDeletionVectors": "true"}})
	if got := strings.Join(s.Config.Protocol.WriterFeatures, " "); got != "appendOnly changeDataFeed checkConstraints deletionVectors generatedColumns invariants" {
		t.Error(got)
	}
}

// TestDropAndAddAgain: a member of a struct that comes back under its old name is another one too.
func TestDropAndAddAgain(t *testing.T) {
	s := created(t, CreateSpec{Properties: mapped, Schema: columns(t, "s struct<x:int,y:int>,l array<struct<p:int,q:int>>")})
	for _, name := range []string{"s.x", "l.element.p"} {
		was, err := find(&s.Config.Schema, path(name))
		if err != nil {
			t.Fatal(err)
		}
		s = must(t, s, Dependencies{}, DropColumns{Columns: paths(name)}, AddColumns{Columns: []NewColumn{column(t, name+" int")}})
		is, err := find(&s.Config.Schema, path(name))
		if err != nil {
			t.Fatal(err)
		}
		oldID, _ := was.field().ColumnID()
		newID, _ := is.field().ColumnID()
		if newID <= oldID || fmt.Sprint(newID) != s.Config.Property("delta.columnMapping.maxColumnId") || is.field().PhysicalName(protocol.MappingName) == was.field().PhysicalName(protocol.MappingName) {
			t.Errorf("%s: %d after %d", name, newID, oldID)
		}
	}
}

func TestSetLocation(t *testing.T) {
	a := created(t, CreateSpec{Schema: columns(t, "a int,b int")})
	b := created(t, CreateSpec{Schema: columns(t, "a int,b int"), PartitionColumns: []string{"b"}})
	c := created(t, CreateSpec{Schema: columns(t, "a int,b bigint")})
	if err := CheckLocation(a, a); err != nil {
		t.Error(err)
	}
	wantClass(t, CheckLocation(a, b), "DELTA_SET_LOCATION_SCHEMA_MISMATCH")
	wantClass(t, CheckLocation(a, c), "DELTA_SET_LOCATION_SCHEMA_MISMATCH")
}
