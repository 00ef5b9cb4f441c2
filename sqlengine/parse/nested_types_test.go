package parse

import "testing"

// TestColumnTypes checks what the dump of a type leaves out: NOT NULL and comments of nested fields.
func TestColumnTypes(t *testing.T) {
	statement, err := Parse("CREATE TABLE t (s STRUCT<a: INT NOT NULL COMMENT 'it''s', b: ARRAY<STRUCT<c: VARCHAR(3) NOT NULL>>, d FILE EXTERNAL>, "+
		"l ARRAY<STRING COLLATE UNICODE_CI>)", Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns := statement.(*CreateTable).Columns
	fields := columns[0].Type.Type.Fields
	if comment, _ := fields[0].Metadata.Comment(); fields[0].Nullable || comment != "it's" || !fields[1].Nullable {
		t.Errorf("the fields are %+v", fields)
	}
	if inner := fields[1].Type.Element.Fields[0]; inner.Nullable {
		t.Errorf("the nested field is %+v", inner)
	}
	if fields[2].Type.Parameter != "EXTERNAL" {
		t.Errorf("the mode of the file is %q", fields[2].Type.Parameter)
	}
	if got := columns[0].Type.CharVarchar; got != "struct<a:int,b:array<struct<c:varchar(3)>>,d:file>" {
		t.Errorf("CharVarchar is %q", got)
	}
	if got := columns[1].Type.Type.Element.Collation; got != "icu.UNICODE_CI" {
		t.Errorf("the collation is %q", got)
	}
}
