package change

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Incoming is the schema of an INSERT's rows in the table's own terms: columns that the table has under the table's names, with the
// source's type where the table's may be widened to it; behind them the columns and struct members that the table lacks. Schema evolution
// merges it into the table's schema, and then the statement is bound over the new one.
func Incoming(ctx context.Context, s *parse.Insert, t Table, opts Options) (out protocol.DataType, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "CAST_OVERFLOW_IN_TABLE_INSERT")
	in, err := b.source(s)
	if err != nil {
		return out, err
	}
	if s.ByName {
		return b.incoming(in.query.Columns[:in.width], nil), nil
	}
	if in.listed {
		return b.incoming(in.query.Columns[:min(in.width, len(in.targets))], in.targets), nil
	}
	return b.incoming(in.query.Columns[:in.width], in.targets), nil
}

// IncomingMerge is Incoming for a MERGE: what its clauses assign directly, by name.
func IncomingMerge(ctx context.Context, s *parse.Merge, t Table, opts Options) (out protocol.DataType, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
	if _, err := b.build.With(s.With, s.Recursive); err != nil {
		return out, err
	}
	_, scope, err := b.build.From(s.Source)
	if err != nil {
		return out, err
	}
	var columns []expr.OutputColumn
	seen := map[string]bool{}
	add := func(name string, value expr.Expr) {
		if key := strings.ToLower(name); !seen[key] {
			seen[key] = true
			columns = append(columns, expr.OutputColumn{Name: name, Type: value.Type()})
		}
	}
	for _, w := range s.Whens {
		if w.Star {
			except := map[string]bool{}
			for _, name := range w.Except {
				except[strings.ToLower(name[len(name)-1].Name)] = true
			}
			for _, it := range scope.Items() {
				if !except[strings.ToLower(it.Name)] {
					add(it.Name, it.Value)
				}
			}
			continue
		}
		for _, item := range w.Set {
			column, plain := item.Value.(*parse.Column)
			if !plain || len(item.Target) > 1 && !qualifies(t.Name, item.Target[:len(item.Target)-1]) && (s.Target.Alias == nil || len(item.Target) > 2 || !strings.EqualFold(item.Target[0].Name, s.Target.Alias.Name.Name)) {
				continue
			}
			if value, err := b.build.Expression(column, scope); err == nil { // else a column of the target
				add(item.Target[len(item.Target)-1].Name, value)
			}
		}
	}
	return b.incoming(columns, nil), nil
}

// incoming is the schema of columns that go to targets by position, those beyond them being new; nil targets match by name.
func (b *binding) incoming(columns []expr.OutputColumn, targets []int) protocol.DataType {
	widens := b.widens()
	out := protocol.DataType{Kind: protocol.KindStruct}
	for i, c := range columns {
		at := -1
		switch {
		case targets == nil:
			at = b.schema.Lookup(c.Name)
		case i < len(targets):
			at = targets[i]
		}
		f := protocol.Field{Name: protocol.LogicalName(c.Name), Type: c.Type.AsNullable(), Nullable: true}
		if at >= 0 {
			f = b.schema.Fields[at]
			f.Type = merged(f.Type, c.Type, targets == nil, widens)
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// widens is whether schema evolution may change types.
func (b *binding) widens() bool {
	on, err := b.table.Config.BoolProperty("delta.enableTypeWidening")
	return err == nil && on && b.table.Config.Active("typeWidening")
}

// merged is a column's type with what a source of another type brings: new members behind those there are, and wider types.
func merged(table, source protocol.DataType, byName, widens bool) protocol.DataType {
	switch {
	case table.Kind == protocol.KindVoid:
		return source.AsNullable()
	case table.Kind != source.Kind:
		if widens && widened(source, table) {
			return source
		}
		return table
	}
	switch table.Kind {
	case protocol.KindDecimal:
		if widens && widened(source, table) {
			return source
		}
	case protocol.KindArray:
		element := merged(*table.Element, *source.Element, byName, widens)
		table.Element = &element
	case protocol.KindMap:
		key, value := merged(*table.Key, *source.Key, byName, widens), merged(*table.Value, *source.Value, byName, widens)
		table.Key, table.Value = &key, &value
	case protocol.KindStruct:
		fields := append([]protocol.Field(nil), table.Fields...)
		for i, f := range source.Fields {
			at := i
			if byName {
				at = table.Lookup(string(f.Name))
			}
			if at < 0 || at >= len(table.Fields) {
				fields = append(fields, protocol.Field{Name: f.Name, Type: f.Type.AsNullable(), Nullable: true})
				continue
			}
			fields[at].Type = merged(fields[at].Type, f.Type, byName, widens)
		}
		table.Fields = fields
	}
	return table
}

// widened tells whether a column of type from may become to (protocol, "Type Widening").
func widened(to, from protocol.DataType) bool {
	integer := func(k protocol.Kind) bool { return k >= protocol.KindByte && k <= protocol.KindLong }
	switch {
	case integer(from.Kind) && integer(to.Kind):
		return to.Kind > from.Kind
	case integer(from.Kind) && to.Kind == protocol.KindDouble:
		return from.Kind != protocol.KindLong
	case integer(from.Kind) && to.Kind == protocol.KindDecimal:
		digits := 10
		if from.Kind == protocol.KindLong {
			digits = 20
		}
		return to.Precision-to.Scale >= digits
	case from.Kind == protocol.KindFloat:
		return to.Kind == protocol.KindDouble
	case from.Kind == protocol.KindDate:
		return to.Kind == protocol.KindTimestampNTZ
	case from.Kind == protocol.KindDecimal && to.Kind == protocol.KindDecimal:
		scale := to.Scale - from.Scale
		return scale >= 0 && to.Precision-from.Precision >= scale && !from.Equal(to)
	}
	return false
}
