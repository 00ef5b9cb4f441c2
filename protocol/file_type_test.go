package protocol

import (
	"strings"
	"testing"
)

// TestFileModes: the storage modes of file types stand with the nearest field of a struct, by the path from there, and come back as
// parts of the types; the type itself is written as a plain string (protocol digest 9.1, 9.6 F2).
func TestFileModes(t *testing.T) {
	managed := DataType{Kind: KindFile, Parameter: FileManaged}
	external := DataType{Kind: KindFile, Parameter: FileExternal}
	plain := DataType{Kind: KindFile}
	schema := DataType{Kind: KindStruct, Fields: []Field{
		{Name: "f", Type: plain, Nullable: true},
		{Name: "m", Type: managed, Nullable: true},
		{Name: "s", Type: DataType{Kind: KindStruct, Fields: []Field{{Name: "a", Type: external, Nullable: true}}}, Nullable: true},
		{Name: "l", Type: DataType{Kind: KindArray, Element: &DataType{Kind: KindArray, Element: &managed, ContainsNull: true}, ContainsNull: true}, Nullable: true},
		{Name: "k", Type: DataType{Kind: KindMap, Key: &DataType{Kind: KindString}, Value: &external, ValueContainsNull: true}, Nullable: true},
	}}
	want := `{"type":"struct","fields":[{"name":"f","type":"file","nullable":true,"metadata":{}},` +
		`{"name":"m","type":"file","nullable":true,"metadata":{"__FILE_TYPE_MODE":{"m":"MANAGED"}}},` +
		`{"name":"s","type":{"type":"struct","fields":[{"name":"a","type":"file","nullable":true,"metadata":{"__FILE_TYPE_MODE":{"a":"EXTERNAL"}}}]},"nullable":true,"metadata":{}},` +
		`{"name":"l","type":{"type":"array","elementType":{"type":"array","elementType":"file","containsNull":true},"containsNull":true},"nullable":true,"metadata":{"__FILE_TYPE_MODE":{"l.element.element":"MANAGED"}}},` +
		`{"name":"k","type":{"type":"map","keyType":"string","valueType":"file","valueContainsNull":true},"nullable":true,"metadata":{"__FILE_TYPE_MODE":{"k.value":"EXTERNAL"}}}]}`
	if got := schema.JSON(); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	back, err := ParseSchema(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.String(), "struct<f:file,m:file managed,s:struct<a:file external>,l:array<array<file managed>>,k:map<string,file external>>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	back.Fields[1].Name = "renamed"
	if got := back.JSON(); !strings.Contains(got, `{"renamed":"MANAGED"}`) || strings.Contains(got, `"m":"MANAGED"`) {
		t.Errorf("the mode does not follow the name: %s", got)
	}
	for _, text := range []string{"file", "file managed", "array<file external>"} {
		parsed, err := ParseDataType(text)
		if err != nil || parsed.String() != text {
			t.Errorf("%s is read as %s, %v", text, parsed, err)
		}
	}
	for _, schema := range []string{
		`{"type":"struct","fields":[{"name":"l","type":{"type":"array","elementType":{"type":"file"},"containsNull":true},"nullable":true,"metadata":{"__FILE_TYPE_MODE":{"l.element":"UNKNOWN","x":1}}}]}`,
		`{"type":"struct","fields":[{"name":"l","type":{"type":"array","elementType":"file","containsNull":true},"nullable":true,"metadata":{"__FILE_TYPE_MODE":{"other":"MANAGED"}}}]}`,
		`{"type":"struct","fields":[{"name":"l","type":{"type":"array","elementType":"file","containsNull":true},"nullable":true,"metadata":{"__FILE_TYPE_MODE":{"l.element":"SOMETHING"}}}]}`,
	} {
		if parsed, err := ParseSchema(schema); err != nil || parsed.String() != "struct<l:array<file>>" {
			t.Errorf("%s is read as %s, %v", schema, parsed, err)
		}
	}
}
