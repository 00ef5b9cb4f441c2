package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// inferences are the types that inferSchema looks for, the narrowest first, with what a text must look like. Points in time stay
// texts, which are read in the session's time zone when they are stored.
var inferences = []struct {
	kind    protocol.Kind
	pattern string
}{
	{protocol.KindInteger, `[+-]?[0-9]+`},
	{protocol.KindLong, `[+-]?[0-9]+`},
	{protocol.KindDouble, `[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity`},
	{protocol.KindDate, `[0-9]{4}-[0-9]{2}-[0-9]{2}`},
	{protocol.KindBoolean, `(?i)true|false`},
}

// inferTypes gives text columns the narrowest type that holds all their values.
func (st *statement) inferTypes(table *bind.SQLTable) error {
	if len(table.Columns) == 0 {
		return nil
	}
	var items []string
	for _, c := range table.Columns {
		name := duck.QuoteIdentifier(c.Out)
		items = append(items, "count("+name+")")
		for _, i := range inferences {
			of := expr.DuckType(protocol.DataType{Kind: i.kind})
			items = append(items, fmt.Sprintf("count(*) FILTER (regexp_full_match(%s, %s) AND TRY_CAST(%s AS %s) IS NOT NULL)", name, duck.QuoteString(i.pattern), name, of))
		}
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return err
	}
	stream, err := instance.Query(st.ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+table.SQL)
	if err != nil {
		return translate(err, "")
	}
	defer stream.Close()
	batch, err := stream.Next(st.ctx)
	if err != nil {
		return translate(err, "")
	}
	outer := make([]string, len(table.Columns))
	for k := range table.Columns {
		c := &table.Columns[k]
		at := k * (1 + len(inferences))
		outer[k] = duck.QuoteIdentifier(c.Out)
		all := batch.Vector(at).Int64(0)
		for i, inferred := range inferences {
			if all > 0 && batch.Vector(at+1+i).Int64(0) == all {
				c.Type.Kind = inferred.kind
				outer[k] = "CAST(" + outer[k] + " AS " + expr.DuckType(c.Type) + ") AS " + outer[k]
				break
			}
		}
	}
	table.SQL = "(SELECT " + strings.Join(outer, ", ") + " FROM " + table.SQL + ")"
	return nil
}
