package change

import (
	"context"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// setting is one assignment of SET: a path below a column.
type setting struct {
	column int
	path   []int // members, by their place in the struct
	names  []string
	value  parse.Expr
	bound  expr.Expr // instead of value, for what * stands for
	pos    parse.Pos
}

func (s setting) shown() string { return strings.Join(s.names, ".") }

// overlaps tells whether one of two paths is the other's beginning.
func (s setting) overlaps(o setting) bool {
	if s.column != o.column {
		return false
	}
	for i := range min(len(s.path), len(o.path)) {
		if s.path[i] != o.path[i] {
			return false
		}
	}
	return true
}

// Update binds UPDATE. Spark assigns all at once; MySQL assigns from left to right, each expression seeing what the earlier ones
// have set, but all at once where it joins tables.
func Update(ctx context.Context, s *parse.Update, t Table, opts Options) (out *Changes, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
	b.assign.byName, b.assign.whole, b.updates = true, true, true
	if b.mysql() {
		b.assign.overflow = "CAST_OVERFLOW_IN_TABLE_INSERT"
	}
	with, err := b.build.With(s.With, s.Recursive)
	if err != nil {
		return nil, err
	}
	from, scope, single, err := b.from(s.From)
	if err != nil {
		return nil, err
	}
	if err := b.unordered(single, s.OrderBy, s.Limit, s.Pos); err != nil {
		return nil, err
	}
	out = &Changes{Updates: true, Target: single, Simple: single != nil && len(s.OrderBy) == 0 && s.Limit == nil}
	settings := make([]setting, len(s.Set))
	for i, item := range s.Set {
		if settings[i], err = b.setting(item, scope, &out.Target); err != nil {
			return nil, err
		}
	}
	stages, err := b.stages(settings, scope, single != nil)
	if err != nil {
		return nil, err
	}
	where, err := b.where(s.Where, scope)
	if err != nil {
		return nil, err
	}
	if out.Simple {
		out.Where = where
	}
	places, hasID, err := place(out.Target)
	if err != nil {
		return nil, err
	}
	if single == nil {
		where = both(where, present(places[0].Value))
	}
	// The rows as they are, with what the first stage computes over them.
	var items []bind.Item
	for i, f := range b.schema.Fields {
		items = append(items, bind.Item{Name: string(f.Name), Value: columnOf(out.Target, i)})
	}
	items = append(items, bind.Item{Name: "action", Value: actionOf(rewrite.Update)})
	items = append(items, places...)
	before := len(items) // where MySQL's values before the change begin, which say whether there is one
	if out.Differs = b.mysql(); out.Differs {
		for _, i := range assignedColumns(settings) {
			items = append(items, bind.Item{Value: columnOf(out.Target, i)})
		}
	}
	width := len(items)
	if items, err = b.settingValues(items, stages[0], scope); err != nil {
		return nil, err
	}
	block, err := b.build.Select(from, items, where, s.OrderBy, s.Limit, scope)
	if err != nil {
		return nil, err
	}
	block.With = with
	rows := b.build.Derived(block, "")
	path := b.alias(s.From)
	for i, stage := range stages {
		if i > 0 {
			items = items[:0:0]
			for j := range width {
				items = append(items, bind.Item{Name: rows.Columns[j].Name, Value: columnOf(rows, j)})
			}
			seen := bind.Named(append([]bind.Item(nil), items[:len(b.schema.Fields)]...), path...)
			if items, err = b.settingValues(items, stage, seen); err != nil {
				return nil, err
			}
			rows = b.build.Derived(b.build.Block(rows, items), "")
		}
		if rows, err = b.set(rows, width, stage); err != nil {
			return nil, err
		}
	}
	if out.Differs {
		var differs expr.Expr
		for k, i := range assignedColumns(settings) {
			differs = either(differs, distinct(columnOf(rows, i), columnOf(rows, before+k)))
		}
		rows = b.build.Derived(b.build.Block(rows, append(itemsOf(rows, 0, before), bind.Item{Name: "differs", Value: differs})), "")
	}
	return out, b.changed(out, rows, b.givenBy(settings), hasID)
}

// alias is what qualifies the columns of an UPDATE's only table.
func (b *binding) alias(f parse.From) []string {
	if ref, ok := f.(*parse.TableRef); ok && ref.Alias != nil {
		return []string{ref.Alias.Name.Name}
	}
	return b.table.Name
}

// setting finds what an assignment is to. The first one decides which table of a join is updated.
func (b *binding) setting(item parse.SetItem, scope bind.Scope, target **expr.Relation) (setting, error) {
	at := item.Target[0].Pos
	found, err := b.build.Expression(&parse.Column{Name: item.Target}, scope)
	if err != nil {
		return setting{}, err
	}
	out := setting{value: item.Value, pos: at}
	var names []protocol.LogicalName
	for {
		f, ok := found.(*expr.Field)
		if !ok {
			break
		}
		names = append([]protocol.LogicalName{f.Name}, names...)
		found = f.Operand
	}
	c, ok := found.(*expr.Column)
	if !ok || c.Relation.Kind != expr.RelScan || c.Index >= len(b.schema.Fields) && c.Relation.Columns[c.Index].Hidden {
		return out, fail("UNSUPPORTED_FEATURE", at, "%s is no column that can be set", spelled(item.Target))
	}
	if *target == nil {
		*target = c.Relation
	}
	if *target != c.Relation || c.Index >= len(b.schema.Fields) {
		return out, fail("DELTASQL_MULTI_TABLE_CHANGE", at, "one UPDATE can set columns of one table only, and %s belongs to another", spelled(item.Target))
	}
	return out, b.locate(&out, c.Index, names)
}

// locate fills in a setting's place.
func (b *binding) locate(s *setting, column int, members []protocol.LogicalName) error {
	f := b.schema.Fields[column]
	if _, ok := b.identity(f); ok {
		return fail("DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", s.pos, "the identity column `%s` of %s cannot be updated", f.Name, b.table.shown())
	}
	s.column, s.names = column, []string{string(f.Name)}
	at := f.Type
	for _, name := range members {
		i := at.Lookup(string(name))
		if at.Kind != protocol.KindStruct || i < 0 {
			return fail("FIELD_NOT_FOUND", s.pos, "no such struct field `%s` in `%s`", name, s.shown())
		}
		s.path, s.names = append(s.path, i), append(s.names, string(at.Fields[i].Name))
		at = at.Fields[i].Type
	}
	return nil
}

// stages cuts the assignments into groups that are made at once.
func (b *binding) stages(settings []setting, scope bind.Scope, single bool) ([][]setting, error) {
	if !b.mysql() || !single {
		for i, s := range settings {
			for _, o := range settings[:i] {
				if s.overlaps(o) {
					return nil, fail("DELTA_CONFLICT_SET_COLUMN", s.pos, "there is a conflict between the SET columns `%s` and `%s`", o.shown(), s.shown())
				}
			}
		}
		return [][]setting{settings}, nil
	}
	stages := [][]setting{nil}
	for _, s := range settings {
		last := stages[len(stages)-1]
		later := false
		for _, o := range last {
			later = later || s.overlaps(o)
		}
		if _, isDefault := s.value.(*parse.DefaultValue); !isDefault && !later && len(last) > 0 {
			value, err := b.build.Expression(s.value, scope)
			if err != nil {
				return nil, err
			}
			reads := func(x expr.Expr) {
				if c, ok := x.(*expr.Column); ok && (c.Relation.Kind == expr.RelScan || c.Relation.Kind == expr.RelQuery) {
					for _, o := range last {
						later = later || o.column == c.Index
					}
				}
			}
			expr.Walk(value, func(x expr.Expr) bool {
				reads(x)
				later = later || expr.QueryOf(x) != nil // a subquery may look at the row
				return true
			})
		}
		if later {
			stages = append(stages, nil)
		}
		stages[len(stages)-1] = append(stages[len(stages)-1], s)
	}
	return stages, nil
}

// settingValues adds what the assignments compute, one column each.
func (b *binding) settingValues(items []bind.Item, settings []setting, scope bind.Scope) ([]bind.Item, error) {
	for i, s := range settings {
		value, err := b.settingValue(s, scope)
		if err != nil {
			return nil, err
		}
		items = append(items, bind.Item{Name: "\x00set" + strconv.Itoa(i), Value: value})
	}
	return items, nil
}

func (b *binding) settingValue(s setting, scope bind.Scope) (expr.Expr, error) {
	if s.bound != nil {
		return s.bound, nil
	}
	if _, ok := s.value.(*parse.DefaultValue); !ok {
		return b.build.Expression(s.value, scope)
	}
	if len(s.path) > 0 {
		return nil, fail("DEFAULT_PLACEMENT_INVALID", s.pos, "`%s` is a member of a struct and has no default", s.shown())
	}
	f := b.schema.Fields[s.column]
	_, has := f.Metadata.CurrentDefault()
	if _, generated := b.generation(f); !has && !generated && !f.Nullable && b.mysql() {
		return nil, b.withoutDefault(f)
	}
	return b.defaultOf(f)
}

// set is the block in which the columns have their new values; the assignments' own columns, from width on, are gone.
func (b *binding) set(rows *expr.Relation, width int, settings []setting) (*expr.Relation, error) {
	items := make([]bind.Item, width)
	for i := range width {
		items[i] = bind.Item{Name: rows.Columns[i].Name, Value: columnOf(rows, i)}
	}
	var err error
	for i := range b.schema.Fields {
		if items[i].Value, err = b.newValue(i, columnOf(rows, i), settings, func(k int) expr.Expr { return columnOf(rows, width+k) }); err != nil {
			return nil, err
		}
	}
	return b.build.Derived(b.build.Block(rows, items), ""), nil
}

// newValue is a column after the assignments that are to it.
func (b *binding) newValue(column int, old expr.Expr, settings []setting, value func(k int) expr.Expr) (expr.Expr, error) {
	var own []int
	for k, s := range settings {
		if s.column == column {
			own = append(own, k)
		}
	}
	if own == nil {
		return old, nil
	}
	f := b.schema.Fields[column]
	out, err := b.rebuilt(f.Type, old, settings, own, 0, string(f.Name), value)
	if err != nil {
		return nil, err
	}
	return b.partitionText(column, b.shortened(f, out)), nil
}

// rebuilt is a value with some members below depth replaced: the value itself where an assignment ends here. A struct that was NULL
// becomes one whose other members are NULL, as in the reference.
func (b *binding) rebuilt(t protocol.DataType, old expr.Expr, settings []setting, own []int, depth int, path string, value func(k int) expr.Expr) (expr.Expr, error) {
	if len(own) == 1 && len(settings[own[0]].path) == depth {
		return b.assign.store(value(own[0]), t, path)
	}
	pack := &expr.Raw{Typed: expr.Typed{Of: t}}
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		member := memberOf(old, f)
		var below []int
		for _, k := range own {
			if settings[k].path[depth] == i {
				below = append(below, k)
			}
		}
		if below != nil {
			var err error
			if member, err = b.rebuilt(f.Type, member, settings, below, depth+1, path+"."+string(f.Name), value); err != nil {
				return nil, err
			}
		}
		parts[i] = quoted(string(f.Name)) + " := {" + strconv.Itoa(i) + "}"
		pack.Args = append(pack.Args, member)
	}
	pack.SQL = "struct_pack(" + strings.Join(parts, ", ") + ")"
	return pack, nil
}

// givenBy are the cells of an update: every column has a value but generated ones that are not set, which are computed anew.
func (b *binding) givenBy(settings []setting) []cell {
	cells := make([]cell, len(b.schema.Fields))
	for i, f := range b.schema.Fields {
		cells[i] = cell{marker: -1}
		if _, generated := b.generation(f); !generated {
			continue
		}
		cells[i].from = -1
		for _, s := range settings {
			if _, isDefault := s.value.(*parse.DefaultValue); s.column == i && !isDefault {
				cells[i].from = 0
			}
		}
	}
	return cells
}

// changed puts computed columns and checks over the rows of a change, whose columns are the table's, the action, the place, and what
// out.Differs and out.Counts say.
func (b *binding) changed(out *Changes, rows *expr.Relation, cells []cell, hasID bool) error {
	n := len(b.schema.Fields)
	width := 3 + out.Counts
	if hasID {
		width++
	}
	if out.Differs {
		width++
	}
	b.carried = nil
	for i := range width {
		b.carried = append(b.carried, n+i)
	}
	plan := &Plan{}
	rows, err := b.computed(rows, cells, plan)
	if err != nil {
		return err
	}
	if err := b.duties(rows, cells); err != nil {
		return err
	}
	if out.Deletes || out.Keeps || out.Repeated != "" {
		b.unchecked(columnOf(rows, b.carried[0]))
	}
	out.Query = b.checked(rows)
	out.places(n, hasID)
	out.Done, out.Identity = b.done, plan.Identity
	b.build.Finish(out.Query)
	return nil
}
