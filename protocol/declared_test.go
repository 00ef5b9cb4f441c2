package protocol

import (
	"slices"
	"testing"
)

func TestDeclaredLengths(t *testing.T) {
	for _, c := range []struct {
		text, kind string
		want       []string
		again      string // what is written of it; "" for the text itself
	}{
		{text: "varchar(3)", kind: "string", want: []string{"varchar(3)"}},
		{text: "array<struct<a:varchar(3),b:int,c:decimal(5,2),d:string>>", kind: "array<struct<a:string,b:int,c:decimal(5,2),d:string>>", want: []string{"varchar(3)", ""}},
		{text: "map<CHAR( 2 ),struct<`x:y`:map<int,char(1)>>>", kind: "map<string,struct<`x:y`:map<int,string>>>", want: []string{"char( 2 )", "char(1)"}, again: "map<char( 2 ),struct<x:y:map<int,char(1)>>>"},
		{text: "struct<old:char(2) COMMENT 'x',b:int>", kind: "struct<renamed:string,b:int>", want: []string{"char(2)"}, again: "struct<renamed:char(2),b:int>"},
	} {
		kind, err := ParseDataType(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		lengths, ok := DeclaredLengths(c.text, kind)
		if !ok || !slices.Equal(lengths, c.want) {
			t.Errorf("%s: %q, %v", c.text, lengths, ok)
		}
		if c.again == "" {
			c.again = c.text
		}
		if got := DeclaredText(kind, lengths); got != c.again {
			t.Errorf("%s is written as %s", c.text, got)
		}
	}
	kind, err := ParseDataType("array<struct<a:string,b:int>>")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "varchar(3)", "array<struct<a:varchar(3)>>", "array<struct<a:varchar(3),b:int,c:int>>", "array<struct<a:varchar(3),b:int>", "array<struct<a:varchar(3),b:int>>>", "map<int,string>"} {
		if lengths, ok := DeclaredLengths(text, kind); ok {
			t.Errorf("%q is taken for %v", text, lengths)
		}
	}
	if got := DeclaredText(kind, []string{""}); got != "" {
		t.Errorf("a type without lengths is written as %s", got)
	}
}
