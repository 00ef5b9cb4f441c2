package change

import (
	"strconv"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// files checks the file values anywhere in a column, so that none is stored that nobody could resolve or that would give something
// away.
func (b *binding) files(f *protocol.Field, value expr.Expr) {
	fault := b.fileFault(f.Type, value)
	if fault == nil {
		return
	}
	b.check(present(fault), b.failure("DELTASQL_INVALID_FILE_VALUE", "no valid file value for the column `"+string(f.Name)+"` of "+b.table.shown()+": ", fault))
}

// fileFault is the text of what is wrong with the first file in a value that has a fault; nil where the type has no files.
func (b *binding) fileFault(t protocol.DataType, value expr.Expr) expr.Expr {
	text := expr.Typed{Of: protocol.DataType{Kind: protocol.KindString}, Null: true}
	first := func(list string, of protocol.DataType) expr.Expr {
		item, lambda := b.assign.parameter(of, true)
		fault := b.fileFault(of, item)
		if fault == nil {
			return nil
		}
		return &expr.Raw{Typed: text, SQL: "list_filter(list_transform(" + list + ", {1}), lambda fault: fault IS NOT NULL)[1]", Args: []expr.Expr{value, lambda(fault)}}
	}
	switch t.Kind {
	case protocol.KindFile:
		return expr.FileFault(value)
	case protocol.KindArray:
		return first("{0}", *t.Element)
	case protocol.KindMap:
		return first("map_values({0})", *t.Value)
	case protocol.KindStruct:
		all := &expr.Raw{Typed: text}
		for _, f := range t.Fields {
			if fault := b.fileFault(f.Type, memberOf(value, f)); fault != nil {
				all.Args = append(all.Args, fault)
			}
		}
		switch len(all.Args) {
		case 0:
			return nil
		case 1:
			return all.Args[0]
		}
		all.SQL = "coalesce("
		for i := range all.Args {
			if i > 0 {
				all.SQL += ", "
			}
			all.SQL += "{" + strconv.Itoa(i) + "}"
		}
		all.SQL += ")"
		return all
	}
	return nil
}
