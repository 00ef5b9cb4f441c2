package filetype

import (
	"bytes"
	"testing"

	"deltasql/protocol"
)

// footerOf makes a footer of a schema: the elements as they are in Thrift's compact form, between a version and a number of rows.
func footerOf(elements ...[]byte) []byte {
	out := []byte{0x15, 0x02, 0x19, byte(len(elements))<<4 | 0x0C}
	for _, e := range elements {
		out = append(out, e...)
	}
	return append(out, 0x16, 0x06, 0x00) // field 3: three rows; the end
}

// group is an element with a name and children: fields 3, 4 and 5.
func group(name string, children int, more ...byte) []byte {
	out := append([]byte{0x35, 0x02, 0x18, byte(len(name))}, name...)
	out = append(out, 0x15, byte(children*2))
	return append(append(out, more...), 0x00)
}

// leaf is an element with a type and a name: fields 1, 3 and 4.
func leaf(name string) []byte {
	out := append([]byte{0x15, 0x0C, 0x25, 0x02, 0x18, byte(len(name))}, name...)
	return append(out, 0x00)
}

var fileMark = []byte{0x5C, 0x0C, 0x26, 0x00, 0x00} // field 10, five behind the number of children, with the union's field 19

func TestAnnotate(t *testing.T) {
	file := protocol.DataType{Kind: protocol.KindFile}
	text := protocol.DataType{Kind: protocol.KindString}
	before := footerOf(group("root", 3), leaf("a"), group("f", 1), leaf("uri"), group("l", 1), group("list", 1), group("element", 1), leaf("uri"))
	want := footerOf(group("root", 3), leaf("a"), group("f", 1, fileMark...), leaf("uri"), group("l", 1), group("list", 1), group("element", 1, fileMark...), leaf("uri"))
	columns := []Column{{"a", text}, {"f", file}, {"l", protocol.DataType{Kind: protocol.KindArray, Element: &file}}}
	got, err := Annotate(before, columns, protocol.MappingNone)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got  % x, %v\nwant % x", got, err, want)
	}
	if again, err := Annotate(got, columns, protocol.MappingNone); err != nil || !bytes.Equal(again, got) {
		t.Errorf("a footer that is marked changes: % x, %v", again, err)
	}
	// A group with a field id, field 9, is four fields away from its end.
	withID := footerOf(group("root", 1), group("f", 1, 0x45, 0x08), leaf("uri"))
	if got, err := Annotate(withID, columns[1:2], protocol.MappingNone); err != nil || !bytes.Contains(got, []byte{0x45, 0x08, 0x1C, 0x0C, 0x26, 0x00, 0x00, 0x00}) {
		t.Errorf("got % x, %v", got, err)
	}
	for name, footer := range map[string][]byte{
		"no column": footerOf(group("root", 1), leaf("a")), "a leaf": footerOf(group("root", 1), leaf("f")), "no schema": {0x15, 0x02, 0x00}, "nothing": {},
		"too few elements":    footerOf(group("root", 2), leaf("a")),
		"another mark":        footerOf(group("root", 1), group("f", 1, 0x5C, 0x1C, 0x00, 0x00), leaf("uri")),
		"cut off":             before[:len(before)-20],
		"another kind of map": append([]byte{0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x11}, before...),
	} {
		if got, err := Annotate(footer, columns[1:2], protocol.MappingNone); err == nil {
			t.Errorf("%s: gave % x", name, got)
		}
	}
}

// FuzzAnnotate: whatever a footer has, there is an answer, and one that is marked has the same elements and is not marked again.
func FuzzAnnotate(f *testing.F) {
	f.Add(footerOf(group("root", 2), group("f", 1), leaf("uri"), leaf("a")))
	f.Add(footerOf(group("root", 1), group("f", 1, fileMark...), leaf("uri")))
	columns := []Column{{"f", protocol.DataType{Kind: protocol.KindFile}}}
	f.Fuzz(func(t *testing.T, footer []byte) {
		got, err := Annotate(footer, columns, protocol.MappingNone)
		if err != nil {
			return
		}
		was, err := schemaElements(footer)
		if err != nil {
			t.Fatal(err)
		}
		is, err := schemaElements(got)
		if err != nil || len(is) != len(was) {
			t.Fatalf("%d elements become %d, %v", len(was), len(is), err)
		}
		if again, err := Annotate(got, columns, protocol.MappingNone); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("% x becomes % x, %v", got, again, err)
		}
	})
}
