package protocol

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestParseSchemaRoundTrip(t *testing.T) {
	for _, text := range []string{
		`{"type":"struct","fields":[]}`,
		`{"type":"struct","fields":[{"name":"id","type":"integer","nullable":true,"metadata":{}},{"name":"a b","type":"decimal(10,2)","nullable":false,"metadata":{"comment":"x \"y\" é","delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"}}]}`,
		`{"type":"struct","fields":[{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"timestamp_ntz","nullable":true,"metadata":{}}]},"containsNull":false},"valueContainsNull":true},"nullable":true,"metadata":{}}]}`,
		`{"type":"struct","fields":[{"name":"v","type":"variant","nullable":true,"metadata":{}},{"name":"n","type":"void","nullable":true,"metadata":{}},{"name":"f","type":"file","nullable":true,"metadata":{"__FILE_TYPE_MODE":{"f":"EXTERNAL"}}},{"name":"g","type":"geography(OGC:CRS84, spherical)","nullable":true,"metadata":{}},{"name":"i","type":"interval day to second","nullable":true,"metadata":{}},{"name":"j","type":"interval year","nullable":true,"metadata":{}}]}`,
		"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\\u0001\\n\",\"type\":\"byte\",\"nullable\":true,\"metadata\":{}}]}",
	} {
		schema, err := ParseSchema(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := schema.JSON(); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
}

func TestParseSchemaLenient(t *testing.T) {
	for text, want := range map[string]string{
		"":  `{"type":"struct","fields":[]}`,
		` `: `{"type":"struct","fields":[]}`,
		`{"fields":[{"type":"null","name":"a"}],"type":"struct","more":[1,{}]}`:                                         `{"type":"struct","fields":[{"name":"a","type":"void","nullable":true,"metadata":{}}]}`,
		`{"type":"struct","fields":[{"name":"f","type":{"type":"file"},"nullable":true,"metadata":null}]}`:              `{"type":"struct","fields":[{"name":"f","type":"file","nullable":true,"metadata":{}}]}`,
		`{"type":"struct","fields":[{"name":"c","type":"varchar(5)","nullable":true,"metadata":{}}]}`:                   `{"type":"struct","fields":[{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}}]}`,
		`{"type":"struct","fields":[{"name":"d","type":"decimal","nullable":true,"metadata":{"z": [1, 2] , "a":{ }}}]}`: `{"type":"struct","fields":[{"name":"d","type":"decimal(10,0)","nullable":true,"metadata":{"a":{},"z":[1,2]}}]}`,
	} {
		schema, err := ParseSchema(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := schema.JSON(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestParseSchemaRefuses(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","elementType":`, 600) + `"long"` + strings.Repeat("}", 600)
	for text, want := range map[string]Class{
		`"long"`:                         "DELTA_INVALID_SCHEMA",
		`{"type":"struct"}`:              "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[]`:   "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[]}x`: "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a","type":"integr"}]}`:                          "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a"}]}`:                                          "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a","name":"b","type":"long"}]}`:                 "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a","type":"decimal(39,0)"}]}`:                   "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a","type":"long"},{"name":"A","type":"long"}]}`: "DELTA_DUPLICATE_COLUMNS_FOUND",
		`{"type":"struct","fields":[{"name":"a","type":` + deep + `}]}`:                      "DELTA_INVALID_SCHEMA",
		`{"type":"struct","fields":[{"name":"a","type":{"type":"udt","sqlType":"long"}}]}`:   "DELTA_INVALID_SCHEMA",
	} {
		if _, err := ParseSchema(text); err == nil || ClassOf(err) != want {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
	_, err := ParseSchema(`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"strange"}}]}`)
	if err == nil || !strings.Contains(err.Error(), "fields[0].type.elementType") || !strings.Contains(err.Error(), "strange") {
		t.Errorf("the message must lead to the fault: %v", err)
	}
}

func TestParseDataTypeText(t *testing.T) {
	for text, want := range map[string]string{
		"BIGINT": "bigint", "long": "bigint", "int": "int", "integer": "int", "decimal( 10 , 2 )": "decimal(10,2)", "dec": "decimal(10,0)",
		"array<map<string, struct<a:int,`b:c`:double>>>": "array<map<string,struct<a:int,b:c:double>>>",
		"struct<>": "struct<>", "timestamp_ntz": "timestamp_ntz", "void": "void", "null": "void", "tinyint": "tinyint", "byte": "tinyint",
		"interval day to second": "interval day to second", "INTERVAL YEAR TO MONTH": "interval year to month", "interval hour": "interval hour",
		"geometry(EPSG:3857)": "geometry(EPSG:3857)", "geography(OGC:CRS84, spherical)": "geography(OGC:CRS84, spherical)",
		"string collate UNICODE": "string", "varchar(10)": "string",
	} {
		got, err := ParseDataType(text)
		if err != nil || got.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "array<int", "array<>", "map<int>", "struct<a>", "decimal(0)", "decimal(5,6)", "int>", "struct<a:int", "list<int>", strings.Repeat("array<", 700) + "int" + strings.Repeat(">", 700)} {
		if got, err := ParseDataType(text); err == nil {
			t.Errorf("%.40s: must be refused, got %s", text, got)
		}
	}
}

func TestCollationsReachTheirStrings(t *testing.T) {
	schema, err := ParseSchema(`{"type":"struct","fields":[{"name":"c","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"string","containsNull":true},"valueContainsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"c.value.element":"icu.UNICODE"}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	c := schema.Fields[0].Type
	if c.Key.Collation != "" || c.Value.Element.Collation != "icu.UNICODE" {
		t.Errorf("collations are %q and %q", c.Key.Collation, c.Value.Element.Collation)
	}
}

func TestFieldMetadataGetters(t *testing.T) {
	schema, err := ParseSchema(`{"type":"struct","fields":[{"name":"c","type":"long","nullable":true,"metadata":{
		"delta.columnMapping.id":7,"delta.columnMapping.physicalName":"col-7","delta.columnMapping.nested.ids":{"col-7.element":8},
		"delta.generationExpression":"a + 1","CURRENT_DEFAULT":"42","comment":"hello",
		"delta.identity.start":1,"delta.identity.step":-2,"delta.identity.allowExplicitInsert":true,"delta.identity.highWaterMark":9,
		"delta.invariants":"{\"expression\":{\"expression\":\"x > 3\"}}","__CHAR_VARCHAR_TYPE_STRING":"char(3)",
		"delta.typeChanges":[{"fromType":"short","toType":"integer","tableVersion":3},{"fromType":"integer","toType":"decimal(12,2)","fieldPath":"element"}]}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	f := schema.Fields[0]
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("physical name", f.PhysicalName(MappingName), PhysicalName("col-7"))
	check("name without mapping", f.PhysicalName(MappingNone), PhysicalName("c"))
	id, ok := f.ColumnID()
	check("id", id, 7)
	check("id", ok, true)
	check("nested id", f.Metadata.NestedIDs()["col-7.element"], 8)
	text, _ := f.Metadata.GenerationExpression()
	check("generation", text, "a + 1")
	text, _ = f.Metadata.CurrentDefault()
	check("default", text, "42")
	text, _ = f.Metadata.Comment()
	check("comment", text, "hello")
	text, _ = f.Metadata.Invariant()
	check("invariant", text, "x > 3")
	text, _ = f.Metadata.CharVarchar()
	check("char", text, "char(3)")
	identity, ok := f.Metadata.Identity()
	check("identity", ok && identity.Start == 1 && identity.Step == -2 && identity.AllowExplicitInsert && *identity.HighWaterMark == 9, true)
	changes, err := f.Metadata.TypeChanges()
	if err != nil || len(changes) != 2 || changes[0].To.Kind != KindInteger || changes[1].To.String() != "decimal(12,2)" || changes[1].FieldPath != "element" {
		t.Errorf("type changes: %v, %v", changes, err)
	}
	var none FieldMetadata
	if _, ok := none.PhysicalName(); ok || none.Collations() != nil {
		t.Error("nil metadata must be empty")
	}
}

// Reading a type costs as much as it is long, however deep it nests: its text is not looked at again at each level.
func TestDeepSchemaIsReadOnce(t *testing.T) {
	wide := make([]string, 4000)
	for i := range wide {
		wide[i] = fmt.Sprintf(`{"name":"c%d","type":"long"}`, i)
	}
	text := `{"type":"struct","fields":[` + strings.Join(wide, ",") + `]}`
	measure := func(levels int) uint64 {
		deep := strings.Repeat(`{"type":"struct","fields":[{"name":"a","type":`, levels) + text + strings.Repeat(`}]}`, levels)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ParseSchema(deep); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if flat, deep := measure(1), measure(400); deep > 4*flat {
		t.Errorf("%d bytes for 1 level, %d for 400", flat, deep)
	}
}
