package filetype

import (
	"fmt"

	"deltasql/protocol"
)

// A Parquet footer is a FileMetaData in Thrift's compact form, whose second field is the schema: a list of elements, depth first. An
// element has its name in field 4, the number of its children in field 5 and its logical type, a union, in field 10. FILE is the
// union's field 19, a structure without fields. Writers that do not know it leave the group without a mark; it is put there by
// inserting a few bytes behind the element's last field.

// Column is a column of a file: its name there and its type.
type Column struct {
	Name string
	Type protocol.DataType
}

const (
	fieldSchema      = 2  // of FileMetaData
	fieldName        = 4  // of SchemaElement
	fieldNumChildren = 5  //
	fieldLogicalType = 10 //
	unionFile        = 19 // of LogicalType

	maxElements = 1 << 20
)

// Annotate gives the footer with FILE on every group that a file value is stored in. Members of structs have their names under the
// mapping mode. Groups that are marked already stay; one with another logical type is an error, as is a footer that lacks a group.
func Annotate(footer []byte, columns []Column, mode protocol.MappingMode) ([]byte, error) {
	list, err := schemaElements(footer)
	if err != nil {
		return nil, err
	}
	w := walker{elements: list, marked: map[int]bool{}}
	if len(list) == 0 {
		return nil, fmt.Errorf("the footer has no schema")
	}
	children, err := w.children(0)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if !c.Type.Holds(protocol.KindFile) {
			continue
		}
		at, ok := children[c.Name]
		if !ok {
			return nil, fmt.Errorf("the footer has no column %s", c.Name)
		}
		if err := w.mark(at, c.Type, mode); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	out, from := make([]byte, 0, len(footer)+4*len(w.marked)), 0
	for i := range list {
		e := &list[i]
		if !w.marked[i] || e.isFile {
			continue
		}
		out = append(out, footer[from:e.stop]...)
		// The header of field 10, a structure; in it the header of field 19, too far from 0 for the short form; that structure's end;
		// the union's end.
		out = append(out, byte(fieldLogicalType-e.last)<<4|thriftStruct, thriftStruct, unionFile<<1, thriftStop, thriftStop)
		from = e.stop
	}
	return append(out, footer[from:]...), nil
}

// element is what matters of a SchemaElement.
type element struct {
	name     string
	children int
	last     int // the number of its last field
	stop     int // where the byte is that ends it
	logical  bool
	isFile   bool
}

// schemaElements reads the schema.
func schemaElements(footer []byte) ([]element, error) {
	r := thriftReader{data: footer}
	for id := 0; ; {
		kind, next := r.field(id)
		if r.failed || kind == thriftStop {
			return nil, fmt.Errorf("the footer has another form than expected")
		}
		if id = next; id == fieldSchema && kind == thriftList {
			break
		}
		r.skip(kind, 0)
	}
	n, kind := r.list()
	if kind != thriftStruct || n > maxElements {
		return nil, fmt.Errorf("the schema has another form than expected")
	}
	list := make([]element, 0, min(n, uint64(len(footer))))
	for range n {
		e := element{}
		for {
			e.stop = r.at
			kind, id := r.field(e.last)
			if r.failed {
				return nil, fmt.Errorf("the schema ends too early")
			}
			if kind == thriftStop {
				break
			}
			if id <= e.last {
				return nil, fmt.Errorf("the fields of an element of the schema are out of order")
			}
			e.last = id
			e.logical = e.logical || id == fieldLogicalType
			switch {
			case id == fieldName && kind == thriftBinary:
				e.name = string(r.bytes(r.varint()))
			case id == fieldNumChildren && kind == thriftI32:
				v := r.varint()
				e.children = int(int32(v>>1) ^ -int32(v&1))
			case id == fieldLogicalType && kind == thriftStruct:
				union := r.at
				_, chosen := r.field(0)
				e.isFile = chosen == unionFile
				r.at = union
				r.skip(kind, 0)
			default:
				r.skip(kind, 0)
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// walker finds the groups of types among the elements.
type walker struct {
	elements []element
	marked   map[int]bool
}

// children are the elements right below one, by name.
func (w *walker) children(at int) (map[string]int, error) {
	found := map[string]int{}
	next := at + 1
	for range w.elements[at].children {
		if next >= len(w.elements) {
			return nil, fmt.Errorf("the schema has fewer elements than its groups say")
		}
		found[w.elements[next].name] = next
		next = w.after(next)
	}
	return found, nil
}

// after is the element behind one and all that is below it.
func (w *walker) after(at int) int {
	open := 1
	for open > 0 && at < len(w.elements) {
		open += max(w.elements[at].children, 0) - 1
		at++
	}
	return at
}

// nth is child i of a group that has n of them.
func (w *walker) nth(at, i, n int) (int, error) {
	if w.elements[at].children != n {
		return 0, fmt.Errorf("the group %s has %d children, not %d", w.elements[at].name, w.elements[at].children, n)
	}
	for at++; i > 0; i-- {
		at = w.after(at)
	}
	if at >= len(w.elements) {
		return 0, fmt.Errorf("the schema has fewer elements than its groups say")
	}
	return at, nil
}

// mark notes the groups of file values below a column's element.
func (w *walker) mark(at int, t protocol.DataType, mode protocol.MappingMode) error {
	inside := func(at int, t protocol.DataType, i, n int) error {
		repeated, err := w.nth(at, 0, 1)
		if err != nil {
			return err
		}
		item, err := w.nth(repeated, i, n)
		if err != nil {
			return err
		}
		return w.mark(item, t, mode)
	}
	switch t.Kind {
	case protocol.KindFile:
		e := &w.elements[at]
		if e.logical && !e.isFile || e.children <= 0 || !e.logical && e.last > fieldLogicalType {
			return fmt.Errorf("the element %s is no group that could be marked as a file", e.name)
		}
		w.marked[at] = true
	case protocol.KindArray:
		if t.Element.Holds(protocol.KindFile) {
			return inside(at, *t.Element, 0, 1)
		}
	case protocol.KindMap:
		if t.Value.Holds(protocol.KindFile) {
			return inside(at, *t.Value, 1, 2)
		}
	case protocol.KindStruct:
		children, err := w.children(at)
		if err != nil {
			return err
		}
		for i := range t.Fields {
			f := &t.Fields[i]
			if !f.Type.Holds(protocol.KindFile) {
				continue
			}
			child, ok := children[string(f.PhysicalName(mode))]
			if !ok {
				return fmt.Errorf("the group %s has no member %s", w.elements[at].name, f.PhysicalName(mode))
			}
			if err := w.mark(child, f.Type, mode); err != nil {
				return err
			}
		}
	}
	return nil
}
