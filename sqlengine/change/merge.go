package change

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// merging is a MERGE while it is bound. Its rows go through five blocks: the join of target and source; the number of the clause that
// applies to each row; the values that the clauses assign, each only in rows of its clause; the table's columns; the checks.
type merging struct {
	*binding
	s      *parse.Merge
	path   []string // qualifies the target's columns
	source []string // qualifies the source's
	target []bind.Item
	given  []bind.Item // the source's columns
	lists  [][]setting // of each clause
}

// The names of columns that a text cannot write.
const (
	targetThere = "\x00target"
	sourceThere = "\x00source"
)

// Merge binds MERGE. With schema evolution IncomingMerge tells first what the table must become: t.Config is the table after it, while the
// catalog still has the table before.
func Merge(ctx context.Context, s *parse.Merge, t Table, opts Options) (out *Changes, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
	b.assign.byName, b.merges = true, true
	m := &merging{binding: b, s: s}
	with, err := b.build.With(s.With, s.Recursive)
	if err != nil {
		return nil, err
	}
	out = &Changes{}
	joined, hasID, err := m.join(out)
	if err != nil {
		return nil, err
	}
	joined.Query.With = with
	return out, m.clauses(out, joined, hasID)
}

// join is the relation of target and source side by side: the table's columns as they will be, action and place to come, a mark of
// being there; the source's columns and its mark.
func (m *merging) join(out *Changes) (*expr.Relation, bool, error) {
	_, targetScope, target, err := m.from(m.s.Target)
	if err != nil {
		return nil, false, err
	}
	if target == nil {
		return nil, false, protocol.NewError(protocol.ClassInternal, "a MERGE without a table")
	}
	out.Target, m.path = target, targetScope.Path()
	places, hasID, err := place(target)
	if err != nil {
		return nil, false, err
	}
	own := make([]bind.Item, len(m.schema.Fields))
	for i, f := range m.schema.Fields {
		own[i] = bind.Item{Name: string(f.Name), Value: expr.Null(f.Type)}
		for j, c := range target.Columns {
			if c.Hidden || !strings.EqualFold(c.Name, string(f.Name)) {
				continue
			}
			if own[i].Value, err = m.assign.store(columnOf(target, j), f.Type, string(f.Name)); err != nil {
				return nil, false, err
			}
		}
	}
	own = append(append(own, places...), bind.Item{Name: targetThere, Value: truthValue()})
	left := m.build.Derived(m.build.Block(target, own), "")

	sourceFrom, sourceScope, err := m.build.From(m.s.Source)
	if err != nil {
		return nil, false, err
	}
	m.source = sourceScope.Path()
	right := m.build.Derived(m.build.Block(sourceFrom, append(sourceScope.Items(), bind.Item{Name: sourceThere, Value: truthValue()})), "")

	n := len(m.schema.Fields)
	both := bind.Named(itemsOf(left, 0, n), m.path...).Beside(bind.Named(itemsOf(right, 0, len(right.Columns)-1), m.source...))
	on, err := m.condition(m.s.On, both, "ON")
	if err != nil {
		return nil, false, err
	}
	out.Keys = matchedBy(on, left, n)
	out.FindRepeated = m.findRepeated(out.Keys)
	join := &expr.Join{Kind: m.kind(), Left: left, Right: right, On: on}
	items := append(itemsOf(left, 0, len(left.Columns)), itemsOf(right, 0, len(right.Columns))...)
	joined := m.build.Derived(m.build.Block(join, items), "")
	for i := range joined.Columns { // either side may be missing
		joined.Columns[i].Nullable = true
	}
	return joined, hasID, nil
}

// matchedBy are the columns of the table that ON reads, ascending; the table's columns are the first n of target.
func matchedBy(on expr.Expr, target *expr.Relation, n int) (columns []int) {
	read := map[int]bool{}
	expr.Walk(on, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok && c.Relation == target && c.Index < n {
			read[c.Index] = true
		}
		return true
	})
	for i := range n {
		if read[i] && len(columns) < mostShownKeys {
			columns = append(columns, i)
		}
	}
	return columns
}

// mostShownKeys bounds the key columns that the error of an ambiguous MERGE shows, mostShownQuery the bytes of the query in its hint.
const (
	mostShownKeys  = 8
	mostShownQuery = 1000
)

// findRepeated is a query of the rows that several rows of the source match; "" where it would be long.
func (m *merging) findRepeated(keys []int) string {
	columns := make([]string, len(keys))
	for i, key := range keys {
		var name parse.Name
		for _, part := range append(m.path[:len(m.path):len(m.path)], string(m.schema.Fields[key].Name)) {
			name = append(name, parse.Ident{Name: part})
		}
		columns[i] = spelled(name)
	}
	list := strings.Join(columns, ", ")
	query := "SELECT " + list + ", count(*) FROM " + m.s.TargetText + " JOIN " + m.s.SourceText + " ON " + m.s.OnText + " GROUP BY " + list + " HAVING count(*) > 1"
	if len(keys) == 0 || len(m.s.With) > 0 || len(query) > mostShownQuery {
		return ""
	}
	return query
}

func truthValue() expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: boolean}, Value: protocol.Value{Kind: protocol.KindBoolean, Int: 1}}
}

func itemsOf(r *expr.Relation, from, to int) []bind.Item {
	out := make([]bind.Item, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, bind.Item{Name: r.Columns[i].Name, Value: columnOf(r, i)})
	}
	return out
}

// kind is the join that gives the rows which some clause is about.
func (m *merging) kind() string {
	var target, source bool
	for _, w := range m.s.Whens {
		source = source || w.Kind == parse.WhenNotMatched
		target = target || w.Kind == parse.WhenNotMatchedBySource
	}
	switch {
	case source && target:
		return "FULL"
	case source:
		return "RIGHT"
	case target:
		return "LEFT"
	}
	return "INNER"
}

// condition binds ON or a clause's AND.
func (m *merging) condition(e parse.Expr, scope bind.Scope, where string) (expr.Expr, error) {
	bound, err := m.build.Condition(e, scope)
	if err != nil {
		return nil, unresolvedInMerge(err)
	}
	return bound, deterministic(bound, where+" of MERGE")
}

// unresolvedInMerge gives an unknown name the class that the reference has for it in MERGE.
func unresolvedInMerge(err error) error {
	if e, ok := err.(*protocol.Error); ok && strings.HasPrefix(string(e.Class), "UNRESOLVED_COLUMN") {
		n := *e
		n.Class = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
		return &n
	}
	return err
}

// scope is what the expressions of a clause see.
func (m *merging) scope(kind parse.MergeKind) bind.Scope {
	target, source := bind.Named(m.target, m.path...), bind.Named(m.given, m.source...)
	switch kind {
	case parse.WhenNotMatched:
		return source
	case parse.WhenNotMatchedBySource:
		return target
	}
	return target.Beside(source)
}

// see makes the expressions of clauses read the columns of a relation that begins as the join does.
func (m *merging) see(rows *expr.Relation, sourceAt, sourceEnd int) {
	m.target, m.given = itemsOf(rows, 0, len(m.schema.Fields)), itemsOf(rows, sourceAt, sourceEnd)
}

// clauses builds the blocks over the join.
func (m *merging) clauses(out *Changes, joined *expr.Relation, hasID bool) error {
	n := len(m.schema.Fields)
	there := n + 2
	if hasID {
		there++
	}
	sourceEnd := len(joined.Columns) - 1
	m.see(joined, there+1, sourceEnd)
	number, err := m.number(out, columnOf(joined, there), columnOf(joined, sourceEnd))
	if err != nil {
		return err
	}
	numbered := m.build.Derived(m.build.Block(joined, append(itemsOf(joined, 0, len(joined.Columns)), bind.Item{Name: "clause", Value: number})), "")
	m.see(numbered, there+1, sourceEnd)
	clause := columnOf(numbered, sourceEnd+1)
	items := append(itemsOf(numbered, 0, there), bind.Item{Name: "clause", Value: clause})
	first := make([]int, len(m.s.Whens)) // where a clause's values begin
	for i := range m.s.Whens {
		if err := m.settings(i); err != nil {
			return err
		}
		first[i] = len(items)
		for _, s := range m.lists[i] {
			value, err := m.settingValue(s, m.scope(m.s.Whens[i].Kind))
			if err != nil {
				return unresolvedInMerge(err)
			}
			items = append(items, bind.Item{Value: onlyWhere(isClause(clause, i), value)})
		}
	}
	values, err := m.build.Select(numbered, items, present(clause), nil, nil, bind.Scope{})
	if err != nil {
		return err
	}
	return m.result(out, m.build.Derived(values, ""), there, first, hasID)
}

func isClause(clause expr.Expr, i int) expr.Expr {
	return &expr.Compare{Typed: expr.Typed{Of: boolean, Null: true}, Op: "=", Left: clause, Right: whole(i)}
}

func whole(i int) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindInteger}}, Value: protocol.Value{Kind: protocol.KindInteger, Int: int64(i)}}
}

// number says which clause applies to a row: the first of its kind whose condition holds. -1 is a matched row that none changes, NULL
// a row that has nothing to do with the result.
func (m *merging) number(out *Changes, target, source expr.Expr) (expr.Expr, error) {
	integer := protocol.DataType{Kind: protocol.KindInteger}
	byKind := map[parse.MergeKind]*expr.Case{}
	matched, deletesAll := 0, false
	for i, w := range m.s.Whens {
		condition := truthValue()
		if w.Condition != nil {
			var err error
			if condition, err = m.condition(w.Condition, m.scope(w.Kind), "a WHEN clause"); err != nil {
				return nil, err
			}
		}
		c := byKind[w.Kind]
		if c == nil {
			c = &expr.Case{Typed: expr.Typed{Of: integer, Null: true}}
			byKind[w.Kind] = c
		}
		c.Whens = append(c.Whens, expr.When{Condition: condition, Result: whole(i)})
		out.Updates = out.Updates || w.Action == parse.MergeUpdate
		out.Deletes = out.Deletes || w.Action == parse.MergeDelete
		out.Inserts = out.Inserts || w.Action == parse.MergeInsert
		if w.Kind == parse.WhenMatched {
			matched++
			deletesAll = w.Action == parse.MergeDelete && w.Condition == nil
		}
	}
	if matched > 0 && !(matched == 1 && deletesAll) {
		out.Repeated = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
		byKind[parse.WhenMatched].Else = whole(-1)
	}
	both := &expr.Logic{Typed: expr.Typed{Of: boolean}, Operands: []expr.Expr{present(target), present(source)}}
	all := &expr.Case{Typed: expr.Typed{Of: integer, Null: true}}
	for _, k := range []struct {
		kind parse.MergeKind
		rows expr.Expr
	}{{parse.WhenMatched, both}, {parse.WhenNotMatched, absent(target)}, {parse.WhenNotMatchedBySource, absent(source)}} {
		var result expr.Expr = expr.Null(integer)
		if c := byKind[k.kind]; c != nil {
			result = c
		}
		all.Whens = append(all.Whens, expr.When{Condition: k.rows, Result: result})
	}
	return all, nil
}

// result is the block of the table's columns as each clause makes them, with the action and the place behind them.
func (m *merging) result(out *Changes, rows *expr.Relation, there int, first []int, hasID bool) error {
	clause := columnOf(rows, there)
	n := len(m.schema.Fields)
	items := make([]bind.Item, n)
	cells := make([]cell, n)
	for i, f := range m.schema.Fields {
		value := &expr.Case{Typed: expr.Typed{Of: f.Type, Null: true}}
		_, generated := m.generation(f)
		_, identity := m.identity(f)
		without := &expr.In{Typed: expr.Typed{Of: boolean, Null: true}, Operand: clause} // clauses whose rows get a computed value
		gives := false
		for k, w := range m.s.Whens {
			if w.Action == parse.MergeDelete {
				continue
			}
			sets := false
			for _, s := range m.lists[k] {
				sets = sets || s.column == i
			}
			gives = gives || sets
			result, err := m.columnIn(k, i, rows, first[k], sets)
			if err != nil {
				return err
			}
			value.Whens = append(value.Whens, expr.When{Condition: isClause(clause, k), Result: result})
			if !sets && (generated || identity && w.Action == parse.MergeInsert) {
				without.List = append(without.List, whole(k))
			}
		}
		items[i] = bind.Item{Name: string(f.Name), Value: expr.Expr(value)}
		if len(value.Whens) == 0 {
			items[i].Value = expr.Null(f.Type)
		}
		cells[i] = cell{marker: -1, marked: -1}
		switch {
		case generated && !gives:
			cells[i].from = -1
		case len(without.List) > 0:
			cells[i].marker = len(without.List) // its place is known below
			items = append(items, bind.Item{Value: expr.Expr(without)})
		}
	}
	markers := append([]bind.Item(nil), items[n:]...)
	items = items[:n]
	action := &expr.Case{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindByte}}, Else: actionOf(rewrite.Keep)}
	for k, w := range m.s.Whens {
		does := map[parse.MergeAction]rewrite.Action{parse.MergeUpdate: rewrite.Update, parse.MergeDelete: rewrite.Delete, parse.MergeInsert: rewrite.Insert}[w.Action]
		if w.Kind == parse.WhenNotMatchedBySource {
			does = map[rewrite.Action]rewrite.Action{rewrite.Update: rewrite.UpdateBySource, rewrite.Delete: rewrite.DeleteBySource}[does]
		}
		action.Whens = append(action.Whens, expr.When{Condition: isClause(clause, k), Result: actionOf(does)})
	}
	items = append(items, bind.Item{Name: "action", Value: action})
	items = append(items, itemsOf(rows, n, there)...)
	for i := range cells {
		if cells[i].marker >= 0 {
			cells[i].marker = len(items)
			items, markers = append(items, markers[0]), markers[1:]
		}
	}
	return m.changed(out, m.build.Derived(m.build.Block(rows, items), ""), cells, hasID)
}

// columnIn is a column's value in the rows of a clause.
func (m *merging) columnIn(k, column int, rows *expr.Relation, first int, sets bool) (expr.Expr, error) {
	w := &m.s.Whens[k]
	value := func(j int) expr.Expr { return columnOf(rows, first+j) }
	f := m.schema.Fields[column]
	if w.Action == parse.MergeUpdate {
		m.assign.whole = true
		return m.newValue(column, columnOf(rows, column), m.lists[k], value)
	}
	m.assign.whole = !m.s.Evolve
	if sets {
		return m.newValue(column, expr.Null(f.Type), m.lists[k], value)
	}
	_, generated := m.generation(f)
	if _, identity := m.identity(f); generated || identity {
		return expr.Null(f.Type), nil
	}
	return m.defaultOf(f)
}
