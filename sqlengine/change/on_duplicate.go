package change

import (
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// turn is how the columns of a row's state stand in the relations of ON DUPLICATE KEY UPDATE. A state is what a row of the table has
// become by the statement's rows so far; it begins with the table's columns.
type turn struct {
	fields int // how many columns the table has
	places int // the place follows
	// there, group, rank, size and the two counts follow that, and behind them, while a row of the statement is applied, that row and the
	// columns as they were before.
	there, group, rank, size, affected, found int
	width                                     int // of a state
}

func (u *upserting) turn() turn {
	n := len(u.schema.Fields)
	t := turn{fields: n, places: n, there: n + len(u.places)}
	t.group, t.rank, t.size, t.affected, t.found = t.there+1, t.there+2, t.there+3, t.there+4, t.there+5
	t.width = t.found + 1
	return t
}

// onDuplicate are the rows of ON DUPLICATE KEY UPDATE. The first row of the statement with a key meets the rows of the table that have it, or
// becomes one; every later one meets what has become of that.
func (u *upserting) onDuplicate(out *Changes) (*expr.Relation, error) {
	t := u.turn()
	settings := make([]setting, len(u.s.OnDuplicate))
	for i, item := range u.s.OnDuplicate {
		var err error
		if settings[i], err = u.assignment(item); err != nil {
			return nil, err
		}
	}
	rows, from, err := u.matched(func(rows *expr.Relation) expr.Expr { return equalTo(u.number(rows, rankAt), 1) })
	if err != nil {
		return nil, err
	}
	var items []bind.Item
	for i, f := range u.schema.Fields {
		items = append(items, bind.Item{Name: string(f.Name), Value: choice(u.there(), loose(columnOf(u.target, i)), columnOf(rows, i))})
	}
	for _, p := range u.places {
		items = append(items, bind.Item{Name: p.Name, Value: loose(p.Value)})
	}
	items = append(items, bind.Item{Value: u.there()}, bind.Item{Value: u.number(rows, groupAt)}, bind.Item{Value: u.number(rows, rankAt)}, bind.Item{Value: u.number(rows, sizeAt)},
		bind.Item{Value: choice(u.there(), wholeLong(0), wholeLong(1))}, bind.Item{Value: choice(u.there(), wholeLong(0), wholeLong(1))})
	items = append(items, itemsOf(rows, 0, t.fields)...)
	first, err := u.applied(t, u.build.Block(from, items), settings, func(r *expr.Relation) expr.Expr { return columnOf(r, t.there) })
	if err != nil {
		return nil, err
	}
	states, err := u.build.Repeated(first, "states", func(last *expr.Relation) (*expr.Query, error) {
		next := u.build.Read(u.given)
		same := &expr.Compare{Typed: expr.Typed{Of: boolean}, Op: "=", Left: columnOf(last, t.group), Right: u.number(next, groupAt)}
		follows := &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "({0} = {1} + 1)", Args: []expr.Expr{u.number(next, rankAt), columnOf(last, t.rank)}}
		items := itemsOf(last, 0, t.width)
		items[t.rank].Value = u.number(next, rankAt)
		items = append(items, itemsOf(next, 0, t.fields)...)
		join := &expr.Join{Kind: "INNER", Left: last, Right: next, On: both(same, follows)}
		return u.applied(t, u.build.Block(join, items), settings, func(*expr.Relation) expr.Expr { return truthValue() })
	})
	if err != nil {
		return nil, err
	}
	u.with = append(u.with, states)
	out.Updates = true
	return u.final(t, u.build.Read(states), settings)
}

// applied is the states after the rows of the statement that stand beside them, where those meet a row.
func (u *upserting) applied(t turn, q *expr.Query, settings []setting, meets func(r *expr.Relation) expr.Expr) (*expr.Query, error) {
	rows := u.build.Derived(q, "")
	stages, err := u.stages(settings, u.scope(t, rows), true)
	if err != nil {
		return nil, err
	}
	width := len(rows.Columns)
	for _, i := range assignedColumns(settings) { // as they were before
		width++
		q = u.build.Block(rows, append(itemsOf(rows, 0, len(rows.Columns)), bind.Item{Value: columnOf(rows, i)}))
		rows = u.build.Derived(q, "")
	}
	for _, stage := range stages {
		items := itemsOf(rows, 0, width)
		for _, s := range stage {
			value, err := u.settingValue(s, u.scope(t, rows))
			if err != nil {
				return nil, err
			}
			items = append(items, bind.Item{Value: onlyWhere(meets(rows), value)})
		}
		computed := u.build.Derived(u.build.Block(rows, items), "")
		items = itemsOf(computed, 0, width)
		for i := range t.fields {
			value, err := u.newValue(i, columnOf(computed, i), stage, func(k int) expr.Expr { return columnOf(computed, width+k) })
			if err != nil {
				return nil, err
			}
			if value != expr.Expr(items[i].Value) && assigns(stage, i) {
				items[i].Value = choice(meets(computed), value, columnOf(computed, i))
			}
		}
		rows = u.build.Derived(u.build.Block(computed, items), "")
	}
	var differs expr.Expr
	for k, i := range assignedColumns(settings) {
		differs = either(differs, distinct(columnOf(rows, i), columnOf(rows, t.width+t.fields+k)))
	}
	items := itemsOf(rows, 0, t.width)
	counted := func(at int, same string) expr.Expr {
		return &expr.Raw{Typed: expr.Typed{Of: long}, SQL: "({0} + CASE WHEN NOT {1} THEN 0 WHEN {2} THEN 2 ELSE " + same + " END)", Args: []expr.Expr{columnOf(rows, at), meets(rows), differs}}
	}
	items[t.affected].Value, items[t.found].Value = counted(t.affected, "0"), counted(t.found, "1")
	return u.build.Block(rows, items), nil
}

// assignedColumns are the columns that assignments are to, each once.
func assignedColumns(settings []setting) []int {
	var out []int
	for i, s := range settings {
		if !assigns(settings[:i], s.column) {
			out = append(out, s.column)
		}
	}
	return out
}

func assigns(settings []setting, column int) bool {
	for _, s := range settings {
		if s.column == column {
			return true
		}
	}
	return false
}

// scope is what the assignments see: the row as it is, by bare names too; the row of the statement as VALUES(c), and by its alias.
func (u *upserting) scope(t turn, rows *expr.Relation) bind.Scope {
	path := u.table.Name
	if u.s.Alias != nil {
		path = []string{u.s.Alias.Name}
	}
	given := itemsOf(rows, t.width, t.width+t.fields)
	for i, f := range u.schema.Fields {
		given[i].Name = string(f.Name)
	}
	own := itemsOf(rows, 0, t.fields)
	for i, f := range u.schema.Fields {
		own[i].Name = string(f.Name)
	}
	scope := bind.Named(own, path...).Beside(bind.Named(given, expr.InsertedRow).Qualified())
	if u.s.QueryAlias == nil {
		return scope
	}
	if len(u.s.QueryColumns) == 0 {
		return scope.Beside(bind.Named(given, u.s.QueryAlias.Name).Qualified())
	}
	var renamed, bare []bind.Item
	for i, name := range u.s.QueryColumns {
		if at := u.aliased(i); at >= 0 {
			it := bind.Item{Name: name.Name, Value: given[at].Value}
			renamed = append(renamed, it)
			if u.schema.Lookup(name.Name) < 0 {
				bare = append(bare, it)
			}
		}
	}
	return scope.Beside(bind.Named(renamed, u.s.QueryAlias.Name).Qualified()).Beside(bind.Named(bare))
}

// aliased is the column of the table that a column of the row's alias goes to.
func (u *upserting) aliased(i int) int {
	for at, c := range u.cells {
		if c.from == i {
			return at
		}
	}
	return -1
}

// assignment finds what an assignment is to: a column of the table, or a member of one.
func (u *upserting) assignment(item parse.SetItem) (setting, error) {
	name := item.Target
	path := u.table.Name
	if u.s.Alias != nil {
		path = []string{u.s.Alias.Name}
	}
	for k := min(len(name)-1, len(path)); k > 0; k-- {
		if qualifies(path, name[:k]) {
			name = name[k:]
			break
		}
	}
	at := u.schema.Lookup(name[0].Name)
	if at < 0 {
		return setting{}, u.unresolved(item.Target)
	}
	s := setting{value: item.Value, pos: item.Target[0].Pos}
	var members []protocol.LogicalName
	for _, part := range name[1:] {
		members = append(members, protocol.LogicalName(part.Name))
	}
	return s, u.locate(&s, at, members)
}

// final are the last states of all rows. A generated column is computed anew where the statement has changed a row.
func (u *upserting) final(t turn, states *expr.Relation, settings []setting) (*expr.Relation, error) {
	there := columnOf(states, t.there)
	items := itemsOf(states, 0, t.fields)
	items = append(items, bind.Item{Name: "action", Value: choice(there, actionOf(rewrite.Update), actionOf(rewrite.Insert))})
	items = append(items, itemsOf(states, t.places, t.there)...)
	items = append(items, bind.Item{Value: columnOf(states, t.affected)}, bind.Item{Value: columnOf(states, t.found)}, bind.Item{Value: wholeLong(0)}, bind.Item{Value: columnOf(states, t.size)})
	updated := &expr.Logic{Typed: expr.Typed{Of: boolean}, Or: true, Operands: []expr.Expr{there,
		&expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "({0} > 1)", Args: []expr.Expr{columnOf(states, t.rank)}}}}
	for i, f := range u.schema.Fields {
		_, generated := u.generation(f)
		switch {
		case generated && assigns(settings, i):
			u.cells[i].from = 0 // it has a value everywhere, which is checked
		case generated && u.cells[i].given():
			u.cells[i].marker = len(items)
			items = append(items, bind.Item{Value: updated})
		}
	}
	last := &expr.Compare{Typed: expr.Typed{Of: boolean}, Op: "=", Left: columnOf(states, t.rank), Right: columnOf(states, t.size)}
	block, err := u.build.Select(states, items, last, nil, nil, bind.Scope{})
	if err != nil {
		return nil, err
	}
	block.With = u.with
	return u.build.Derived(block, ""), nil
}
