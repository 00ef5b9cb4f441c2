package change

import (
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
)

// duties makes the checks of every row: NOT NULL, lengths, file values, invariants, given values of generated columns, CHECK.
func (b *binding) duties(values *expr.Relation, cells []cell) error {
	for i := range b.schema.Fields {
		b.notNull(&b.schema.Fields[i], columnOf(values, i), "")
	}
	for i := range b.schema.Fields {
		f := &b.schema.Fields[i]
		if err := b.lengths(f, columnOf(values, i), string(f.Name)); err != nil {
			return err
		}
		b.files(f, columnOf(values, i))
	}
	for i := range b.schema.Fields {
		if err := b.invariants(&b.schema.Fields[i], values, ""); err != nil {
			return err
		}
	}
	for i, f := range b.schema.Fields {
		text, ok := b.generation(f)
		if !ok {
			continue
		}
		if cells[i].given() {
			if err := b.sameAsGenerated(i, f, text, values); err != nil {
				return err
			}
		}
		b.done = append(b.done, txn.Duty{Kind: txn.Generated, Column: string(f.Name)})
	}
	constraints := b.table.Config.Constraints()
	for _, name := range slices.Sorted(maps.Keys(constraints)) {
		text := constraints[name]
		if err := b.holds(text, values, "the CHECK constraint "+name, "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "CHECK constraint "+name+" ("+text+") violated by row with values:"); err != nil {
			return err
		}
		b.done = append(b.done, txn.Duty{Kind: txn.Check, Column: name})
	}
	return nil
}

func (b *binding) check(broken, failure expr.Expr) {
	b.checks = append(b.checks, expr.When{Condition: broken, Result: failure})
}

// failure raises an error in place of the keeper's value.
func (b *binding) failure(class protocol.Class, parts ...any) expr.Expr {
	return expr.Raise(b.schema.Fields[b.keeper()].Type, class, parts...)
}

// notNull checks a column and the members of its structs. A member that is NOT NULL is missing, as in the reference, also where
// the struct around it is NULL.
func (b *binding) notNull(f *protocol.Field, value expr.Expr, parent string) {
	path := parent + string(f.Name)
	if !f.Nullable {
		text := "NOT NULL constraint violated for column: " + path + "."
		if b.mysql() {
			text = "Column '" + path + "' cannot be null"
		}
		b.check(absent(value), b.failure("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", text))
		b.done = append(b.done, txn.Duty{Kind: txn.NotNull, Column: path})
	}
	if f.Type.Kind != protocol.KindStruct {
		return
	}
	for i := range f.Type.Fields {
		b.notNull(&f.Type.Fields[i], memberOf(value, f.Type.Fields[i]), path+".")
	}
}

func memberOf(e expr.Expr, f protocol.Field) expr.Expr {
	return &expr.Field{Typed: expr.Typed{Of: f.Type, Null: true}, Operand: e, Name: f.Name}
}

// invariants checks delta.invariants of a column and of the members of its structs.
func (b *binding) invariants(f *protocol.Field, values *expr.Relation, parent string) error {
	path := parent + string(f.Name)
	if text, ok := f.Metadata.Invariant(); ok {
		if err := b.holds(text, values, "the invariant of column `"+path+"`", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "CHECK constraint "+path+" ("+text+") violated by row with values:"); err != nil {
			return err
		}
		b.done = append(b.done, txn.Duty{Kind: txn.Invariant, Column: path})
	} else if _, there := f.Metadata["delta.invariants"]; there {
		return protocol.NewError("DELTA_UNRECOGNIZED_INVARIANT", "column `%s` of %s has an invariant that is not understood, so nothing can be written", path, b.table.shown())
	}
	if f.Type.Kind != protocol.KindStruct {
		return nil
	}
	for i := range f.Type.Fields {
		if err := b.invariants(&f.Type.Fields[i], values, path+"."); err != nil {
			return err
		}
	}
	return nil
}

// holds checks that a stored condition is TRUE; message goes before the values of the columns that it names.
func (b *binding) holds(text string, values *expr.Relation, what string, class protocol.Class, message string) error {
	condition, err := b.storedExpression(text, b.columns(values), what)
	if err != nil {
		return err
	}
	if condition, err = expr.Condition(condition, b.stored.Context()); err != nil {
		return err
	}
	b.check(untrue(condition), b.failure(class, b.withValues(message, condition)...))
	return nil
}

// untrue is whether a condition is FALSE or NULL.
func untrue(condition expr.Expr) expr.Expr {
	return &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "({0} IS NOT TRUE)", Args: []expr.Expr{condition}}
}

// withValues is a message with the values of the columns that an expression names, in the order of their names.
func (b *binding) withValues(message string, e expr.Expr) []any {
	parts := []any{message}
	named := map[string]expr.Expr{}
	pathsOf(e, func(path []protocol.LogicalName, value expr.Expr) {
		text := make([]string, len(path))
		for i, name := range path {
			text[i] = string(name)
		}
		named[strings.Join(text, ".")] = value
	})
	for _, name := range slices.Sorted(maps.Keys(named)) {
		parts = append(parts, "\n - "+name+" : ", expr.Shown(named[name], b.stored.Context()))
	}
	return parts
}

// pathsOf calls f with every column, or longest path into a column's structs, that an expression reads.
func pathsOf(e expr.Expr, f func(path []protocol.LogicalName, value expr.Expr)) {
	expr.Walk(e, func(x expr.Expr) bool {
		var path []protocol.LogicalName
		for at := x; ; {
			switch n := at.(type) {
			case *expr.Field:
				path = append([]protocol.LogicalName{n.Name}, path...)
				at = n.Operand
				continue
			case *expr.Column:
				if n.Relation.Kind != expr.RelLambda {
					f(append([]protocol.LogicalName{protocol.LogicalName(n.Relation.Columns[n.Index].Name)}, path...), x)
				}
				return false
			}
			return true
		}
	})
}

// sameAsGenerated checks a given value of a generated column against its expression.
func (b *binding) sameAsGenerated(i int, f protocol.Field, text string, values *expr.Relation) error {
	value, err := b.generated(f, text, values)
	if err != nil {
		return err
	}
	value = b.partitionText(i, value)
	different, err := b.stored.Given(&parse.IsDistinct{Left: hidden("own"), Right: hidden("generated")}, b.columns(values),
		map[string]expr.Expr{"\x00own": columnOf(values, i), "\x00generated": value})
	if err != nil {
		return err
	}
	both := &expr.Logic{Typed: expr.Typed{Of: boolean, Null: true}, Operands: []expr.Expr{columnOf(values, i), value}}
	message := "CHECK constraint Generated Column (" + string(f.Name) + " <=> " + text + ") violated by row with values:"
	b.check(different, b.failure("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", b.withValues(message, both)...))
	return nil
}

// hidden is a name that no text can write.
func hidden(name string) parse.Expr {
	return &parse.Column{Name: parse.Name{{Name: "\x00" + name, Quoted: true}}}
}
