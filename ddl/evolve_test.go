package ddl

import (
	"testing"

	"deltasql/protocol"
)

func TestEvolveSchema(t *testing.T) {
	type e = Evolution
	for _, c := range []struct {
		name            string
		properties      props
		table, incoming string
		strict          bool
		want            string // "" where the schema stays
		class           protocol.Class
	}{
		{name: "the same", table: "id int,s struct<a:int>", incoming: "S struct<A:int>,ID int"},
		{name: "new columns at the end", table: "id int,s struct<a:int>", incoming: "extra decimal(2,1),id int,s struct<b:string,a:int>", want: "struct<id:int,s:struct<a:int,b:string>,extra:decimal(2,1)>"},
		{name: "in elements and values", table: "l array<struct<a:int>>,m map<string,struct<k:int>>", incoming: "l array<struct<b:int>>,m map<string,struct<n:struct<z:int>>>",
			want: "struct<l:array<struct<a:int,b:int>>,m:map<string,struct<k:int,n:struct<z:int>>>>"},
		{name: "another type stays", table: "i int,s string", incoming: "i bigint,s int"},
		{name: "another type, strictly", table: "i int", incoming: "i bigint", strict: true, class: "DELTA_FAILED_TO_MERGE_FIELDS"},
		{name: "a narrower integer, strictly", table: "i int", incoming: "i smallint", strict: true},
		{name: "a struct over an int, strictly", table: "i int", incoming: "i struct<a:int>", strict: true, class: "DELTA_FAILED_TO_MERGE_FIELDS"},
		{name: "decimals, strictly", table: "i decimal(10,2)", incoming: "i decimal(12,2)", strict: true, class: "DELTA_FAILED_TO_MERGE_FIELDS"},
		{name: "void gets a type", table: "a int,b void", incoming: "b array<int>", want: "struct<a:int,b:array<int>>"},
		{name: "void into a type", table: "a int", incoming: "a void", strict: true},
		{name: "twice", table: "a int", incoming: "n int,N int", class: "DELTA_DUPLICATE_COLUMNS_FOUND"},
		{name: "timestamp_ntz", table: "a int", incoming: "n timestamp_ntz", class: "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"},
		{name: "int to long", properties: widening, table: "i int,j int,k smallint", incoming: "i bigint,j int,k int", want: "struct<i:bigint,j:int,k:int>"},
		{name: "int to double and to decimal", properties: widening, table: "j int,k int", incoming: "j double,k decimal(12,2)", want: "struct<j:double,k:decimal(12,2)>"},
		{name: "long to double stays", properties: widening, table: "i bigint", incoming: "i double"},
		{name: "decimal of fewer integer digits stays", properties: widening, table: "i decimal(10,2)", incoming: "i decimal(10,4)"},
		{name: "nested", properties: widening, table: "s struct<a:array<int>>,m map<smallint,int>", incoming: "s struct<a:array<bigint>>,m map<int,int>", want: "struct<s:struct<a:array<bigint>>,m:map<int,int>>"},
		{name: "Iceberg's steps only", properties: props{"delta.enableTypeWidening": "true", "delta.enableIcebergCompatV2": "true"}, table: "i int,j int", incoming: "i bigint,j double", want: "struct<i:bigint,j:int>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := created(t, CreateSpec{Schema: columns(t, c.table), Properties: c.properties})
			incoming := columns(t, "")
			for _, f := range splitColumns(c.incoming) {
				incoming.Fields = append(incoming.Fields, columns(t, f).Fields...)
			}
			change, err := EvolveSchema(s, incoming, e{Strict: c.strict}, freshEnv())
			if c.class != "" {
				wantClass(t, err, c.class)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if !change.Empty() {
					t.Errorf("%+v", change)
				}
				return
			}
			got := after(t, s, change).Config
			if got.Schema.String() != c.want {
				t.Errorf("%s, want %s", got.Schema, c.want)
			}
		})
	}
}

// splitColumns splits at the commas that are not inside a type.
func splitColumns(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range text + "," {
		switch {
		case r == '<' || r == '(':
			depth++
		case r == '>' || r == ')':
			depth--
		case r == ',' && depth == 0:
			out, start = append(out, text[start:i]), i+1
		}
	}
	return out
}

// TestEvolveRecords: types that grow are recorded one after another, new columns of a mapped table get ids, and nothing that
// comes in is NOT NULL.
func TestEvolveRecords(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "k smallint"), Properties: props{"delta.enableTypeWidening": "true", "delta.columnMapping.mode": "name"}})
	for _, incoming := range []string{"k int", "k decimal(12,2),n struct<a:int>"} {
		schema := columns(t, incoming)
		if len(schema.Fields) > 1 {
			schema.Fields[1].Nullable, schema.Fields[1].Type.Fields[0].Nullable = false, false
		}
		c, err := EvolveSchema(s, schema, Evolution{}, freshEnv())
		if err != nil {
			t.Fatal(err)
		}
		s = after(t, s, c)
	}
	if got := string(s.Config.Schema.Fields[0].Metadata[metaKeyTypeChanges]); got != `[{"toType":"integer","fromType":"short"},{"toType":"decimal(12,2)","fromType":"integer"}]` {
		t.Error(got)
	}
	n := s.Config.Schema.Fields[1]
	if id, _ := n.Type.Fields[0].ColumnID(); id != 3 || !n.Nullable || !n.Type.Fields[0].Nullable {
		t.Error(s.Config.Schema.JSON())
	}
}

func TestEvolveDependants(t *testing.T) {
	s, deps := dependent(t, true)
	s = must(t, s, deps, SetProperties{Properties: widening})
	_, err := EvolveSchema(s, columns(t, "k bigint"), Evolution{Deps: deps}, freshEnv())
	wantClass(t, err, "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH")
	_, err = EvolveSchema(s, columns(t, "a bigint"), Evolution{Deps: deps}, freshEnv())
	wantClass(t, err, "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH")
	_, err = EvolveSchema(s, columns(t, "p bigint"), Evolution{}, freshEnv())
	wantClass(t, err, protocol.ClassInternal)
	if c, err := EvolveSchema(s, columns(t, "p bigint"), Evolution{Deps: deps}, freshEnv()); err != nil || c.Empty() {
		t.Errorf("%v %+v", err, c)
	}
}
