package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// pivot binds PIVOT: the columns that neither the aggregates nor FOR use are the keys, and each value gives one column an
// aggregate. A cell without rows is NULL, a count's too.
func (b *binder) pivot(v *parse.Pivot, p place, lateral *scope) (expr.From, *scope, error) {
	input, sc, err := b.from(v.Input, p, lateral)
	if err != nil {
		return nil, nil, err
	}
	k := &block{b: b, place: p, ast: &parse.Select{Pos: v.Pos}, scope: sc.under(p.outer), sel: &expr.Select{From: input, Grouped: true}, relations: map[*expr.Relation]bool{}}
	relationsOf(input, func(r *expr.Relation) { k.relations[r] = true })
	e := k.env(clauseItems)
	var aggregates []expr.Expr
	used := map[expr.Expr]bool{}
	note := func(x expr.Expr) {
		walk(x, true, func(y expr.Expr) bool {
			for _, c := range sc.columns {
				if c.value != nil && same(c.value, y) {
					used[c.value] = true
				}
			}
			return true
		})
	}
	for _, a := range v.Aggregates {
		bound, err := expr.Bind(e, a.Expr)
		if err != nil {
			return nil, nil, err
		}
		if !contains(bound, isAggregate) {
			return nil, nil, fail("PIVOT_AGGREGATE_EXPRESSION_EXPECTED", a.Expr.At(), "PIVOT needs an aggregate here")
		}
		aggregates = append(aggregates, bound)
		note(bound)
	}
	var columns []expr.Expr
	for _, x := range v.Columns {
		bound, err := expr.Bind(k.env(clauseFrom), x)
		if err != nil {
			return nil, nil, err
		}
		columns = append(columns, bound)
		note(bound)
	}
	set := expr.GroupSet{}
	var out []expr.OutputColumn
	for _, c := range visible(sc.columns) {
		if used[c.value] {
			continue
		}
		set = append(set, c.value)
		k.keys = append(k.keys, c.value)
		k.sel.Items = append(k.sel.Items, c.value)
		out = append(out, expr.OutputColumn{Name: c.name, Type: c.value.Type(), Nullable: c.value.Nullable()})
	}
	k.sel.GroupBy = []expr.GroupSet{set}
	for _, value := range v.Values {
		condition, name, err := k.pivotValue(value, columns)
		if err != nil {
			return nil, nil, err
		}
		for i, a := range aggregates {
			cell, err := k.cell(a, condition)
			if err != nil {
				return nil, nil, err
			}
			k.sel.Items = append(k.sel.Items, cell)
			out = append(out, expr.OutputColumn{Name: pivotName(name, v.Aggregates, i), Type: cell.Type(), Nullable: true})
		}
	}
	for i := range k.sel.Items {
		checked, err := k.grouped(k.sel.Items[i], v.Pos)
		if err != nil {
			return nil, nil, err
		}
		k.sel.Items[i] = checked
	}
	k.sel.Visible = len(k.sel.Items)
	q := &expr.Query{Body: k.sel}
	b.output(q, out)
	return b.aliased(b.derived(q, aliasName(v.Alias)), v.Alias, nil)
}

// pivotValue is the condition under which a row belongs to a value, and the value's name.
func (k *block) pivotValue(v parse.PivotValue, columns []expr.Expr) (expr.Expr, string, error) {
	values := []parse.Expr{v.Expr}
	if t, ok := v.Expr.(*parse.Tuple); ok && len(columns) > 1 {
		values = t.Items
	}
	if len(values) != len(columns) {
		return nil, "", fail("PIVOT_VALUE_DATA_TYPE_MISMATCH", v.Expr.At(), "PIVOT has %d columns in FOR, but a value with %d", len(columns), len(values))
	}
	e := k.b.constants(k.place)
	var condition expr.Expr
	var names []string
	for i, x := range values {
		given := e.with(map[string]expr.Expr{"\x00p": columns[i]})
		equal, err := expr.Bind(given, &parse.Binary{Op: "<=>", Left: synthetic("\x00p"), Right: x})
		if err != nil {
			if strings.HasPrefix(string(protocol.ClassOf(err)), "UNRESOLVED_COLUMN") {
				return nil, "", fail("NON_LITERAL_PIVOT_VALUES", x.At(), "the values of PIVOT must be constants")
			}
			return nil, "", located(err, x.At())
		}
		if equal, err = expr.Condition(equal, k.place.context); err != nil {
			return nil, "", located(err, x.At())
		}
		condition = and(condition, equal)
		names = append(names, valueName(x))
	}
	name := strings.Join(names, ", ")
	if len(names) > 1 {
		name = "{" + name + "}"
	}
	if v.Alias != nil {
		name = v.Alias.Name
	}
	return condition, name, nil
}

// valueName is a value's text as the name of its column.
func valueName(x parse.Expr) string {
	if l, ok := x.(*parse.Literal); ok {
		switch l.Kind {
		case parse.NullLiteral:
			return "null"
		case parse.TrueLiteral:
			return "true"
		case parse.FalseLiteral:
			return "false"
		}
		return l.Text
	}
	return expr.Name(x)
}

func pivotName(value string, aggregates []parse.SelectItem, i int) string {
	a := aggregates[i]
	switch {
	case len(aggregates) == 1 && a.Alias == nil:
		return value
	case a.Alias != nil && len(aggregates) == 1:
		return value
	case a.Alias != nil:
		return value + "_" + a.Alias.Name
	}
	return value + "_" + expr.Name(a.Expr)
}

// cell is an aggregate over the rows of one value: every aggregate in it is filtered, and without rows it is NULL.
func (k *block) cell(aggregate, condition expr.Expr) (expr.Expr, error) {
	filtered := rewrite(aggregate, func(x expr.Expr) expr.Expr {
		a, ok := x.(*expr.Aggregate)
		if !ok {
			return nil
		}
		n := *a
		n.Filter = and(a.Filter, condition)
		return &n
	})
	bare := filtered
	if c, ok := bare.(*expr.Cast); ok {
		bare = c.Operand
	}
	if _, ok := bare.(*expr.Aggregate); ok && bare.Nullable() {
		return filtered, nil // such as sum and max: NULL over no rows by themselves
	}
	return &expr.Case{Typed: expr.Typed{Of: filtered.Type(), Null: true}, Whens: []expr.When{{Condition: someRows(condition), Result: filtered}}}, nil
}

// unpivot binds UNPIVOT: each row becomes one row a column (or tuple of columns), and rows without a value are left out
// unless INCLUDE NULLS says otherwise.
func (b *binder) unpivot(v *parse.Unpivot, p place, lateral *scope) (expr.From, *scope, error) {
	input, sc, err := b.from(v.Input, p, lateral)
	if err != nil {
		return nil, nil, err
	}
	at := sc.under(p.outer)
	types := make([]protocol.DataType, len(v.Values))
	groups := make([][]expr.Expr, len(v.Columns))
	labels := make([]string, len(v.Columns))
	var taken []expr.Expr
	for i, c := range v.Columns {
		if len(c.Columns) != len(v.Values) {
			return nil, nil, fail("UNPIVOT_VALUE_SIZE_MISMATCH", v.Pos, "UNPIVOT names %d value columns, but a group has %d columns", len(v.Values), len(c.Columns))
		}
		var parts []string
		for j, name := range c.Columns {
			value, err := sc.local(name)
			if err != nil {
				return nil, nil, err
			}
			if value == nil {
				return nil, nil, at.unresolved(name, nil)
			}
			if types[j], err = commonOrFirst(i, types[j], value.Type(), p.context); err != nil {
				return nil, nil, fail("UNPIVOT_VALUE_DATA_TYPE_MISMATCH", name[0].Pos, "UNPIVOT columns have types %s and %s, which have no common type", types[j], value.Type())
			}
			groups[i] = append(groups[i], value)
			taken = append(taken, value)
			parts = append(parts, name[len(name)-1].Name)
		}
		labels[i] = strings.Join(parts, "_")
		if c.Alias != nil {
			labels[i] = c.Alias.Name
		}
	}
	r := b.relation(expr.RelSQL, "")
	r.Lateral = true
	text := protocol.DataType{Kind: protocol.KindString}
	r.Columns = append(r.Columns, expr.OutputColumn{Name: v.Name.Name, Out: "u0", Type: text})
	for j, name := range v.Values {
		r.Columns = append(r.Columns, expr.OutputColumn{Name: name.Name, Out: "u" + strconv.Itoa(j+1), Type: types[j], Nullable: true})
	}
	var rows []string
	for i, group := range groups {
		cast, err := coerceAll(group, types, p.context)
		if err != nil {
			return nil, nil, located(err, v.Pos)
		}
		r.Args = append(r.Args, &expr.Literal{Typed: expr.Typed{Of: text}, Value: protocol.Value{Kind: protocol.KindString, Str: labels[i]}})
		fields := []string{"u0 := {" + strconv.Itoa(len(r.Args)-1) + "}"}
		for j, x := range cast {
			r.Args = append(r.Args, x)
			fields = append(fields, "u"+strconv.Itoa(j+1)+" := {"+strconv.Itoa(len(r.Args)-1)+"}")
		}
		rows = append(rows, "struct_pack("+strings.Join(fields, ", ")+")")
	}
	r.SQL = "(SELECT unnest([" + strings.Join(rows, ", ") + "], recursive := true))"
	s := &expr.Select{From: &expr.Join{Kind: "CROSS", Left: input, Right: r}}
	var out []expr.OutputColumn
	for _, c := range visible(sc.columns) {
		if isTaken(taken, c.value) {
			continue
		}
		s.Items = append(s.Items, c.value)
		out = append(out, expr.OutputColumn{Name: c.name, Type: c.value.Type(), Nullable: c.value.Nullable()})
	}
	var some []expr.Expr
	for i := range r.Columns {
		c := columnOf(r, i)
		s.Items = append(s.Items, c)
		out = append(out, r.Columns[i])
		if i > 0 {
			some = append(some, &expr.Not{Typed: booleanTyped(false), Operand: &expr.IsNull{Typed: booleanTyped(false), Operand: c}})
		}
	}
	if !v.IncludeNulls {
		s.Where = some[0]
		if len(some) > 1 {
			s.Where = &expr.Logic{Typed: booleanTyped(false), Or: true, Operands: some}
		}
	}
	s.Visible = len(s.Items)
	q := &expr.Query{Body: s}
	b.output(q, out)
	return b.aliased(b.derived(q, aliasName(v.Alias)), v.Alias, nil)
}

func commonOrFirst(i int, known, next protocol.DataType, ctx *expr.Context) (protocol.DataType, error) {
	if i == 0 {
		return next, nil
	}
	t, err := expr.CommonType(known, next, ctx)
	if err != nil {
		return known, err
	}
	return t, nil
}

func isTaken(list []expr.Expr, e expr.Expr) bool {
	for _, x := range list {
		if same(x, e) {
			return true
		}
	}
	return false
}
