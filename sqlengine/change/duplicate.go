package change

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/rewrite"
)

// upserting is an INSERT over a key while it is bound: ON DUPLICATE KEY UPDATE, REPLACE INTO, INSERT IGNORE. The key is informational: nobody
// enforces it, so that several rows of the table may have one and the same. A NULL in it equals nothing.
type upserting struct {
	*binding
	s     *parse.Insert
	key   []int // columns of the schema
	cells []cell
	plan  *Plan
	// given are the rows of the statement: the table's columns as they would be inserted, and behind them the numbers groupAt and on.
	given  *expr.CTE
	target *expr.Relation
	places []bind.Item
	hasID  bool
	with   []*expr.CTE
}

// The numbers of a row of the statement, by their place behind the table's columns: the group of rows with equal keys that it belongs to,
// its rank there in the order of the statement, and how many rows the group has.
const (
	groupAt = iota
	rankAt
	sizeAt
	givenNumbers
)

// The columns of Changes.Counts in the result of Upsert, each to be summed.
const (
	CountAffected = iota // MySQL's affected rows: 1 for a row that is new, 2 for one that changed another, 0 for one that left it as it was
	CountFound           // the same with CLIENT_FOUND_ROWS: 1 for one that left it as it was
	CountSkipped         // rows that INSERT IGNORE left out
	CountRows            // rows of the statement, or more
	upsertCounts
)

var long = protocol.DataType{Kind: protocol.KindLong}

// Upsert binds REPLACE INTO, INSERT ... ON DUPLICATE KEY UPDATE and INSERT IGNORE over a key of the table. Rows of the statement with one
// key act upon each other in its order, as if each were a statement of its own.
func Upsert(ctx context.Context, s *parse.Insert, t Table, key []int, opts Options) (out *Changes, err error) {
	defer bind.Catch(&err)
	opts.Lenient = opts.Lenient || s.Mode == parse.InsertIgnore
	u := &upserting{binding: newBinding(ctx, t, opts, "CAST_OVERFLOW_IN_TABLE_INSERT"), s: s, key: key, plan: &Plan{}}
	if err := u.writable(); err != nil {
		return nil, err
	}
	if t.Source == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "an INSERT over the key of %s needs its snapshot", t.shown())
	}
	if err := u.rank(); err != nil {
		return nil, err
	}
	if u.target, err = u.build.Scan(bind.Resolved{Source: t.Source}, t.shown(), s.Pos); err != nil {
		return nil, err
	}
	if u.places, u.hasID, err = place(u.target); err != nil {
		return nil, err
	}
	out = &Changes{Target: u.target, Inserts: true, Counts: upsertCounts}
	var rows *expr.Relation
	switch s.Mode {
	case parse.InsertIgnore:
		rows, err = u.ignore(out)
	case parse.InsertReplaceInto:
		rows, err = u.replace(out)
	default:
		rows, err = u.onDuplicate(out)
	}
	if err != nil {
		return nil, err
	}
	u.updates = true // identity columns have their values by now
	if err := u.changed(out, rows, u.cells, u.hasID); err != nil {
		return nil, err
	}
	out.Identity = u.plan.Identity
	return out, nil
}

// rank binds the statement's rows and numbers them.
func (u *upserting) rank() error {
	in, err := u.source(u.s)
	if err != nil {
		return err
	}
	if u.cells, err = u.binding.cells(u.s, in); err != nil {
		return err
	}
	order := &expr.Window{Typed: expr.Typed{Of: long}, Name: "row_number"}
	values, err := u.candidates(in, u.cells, u.plan, bind.Item{Name: "order", Value: order})
	if err != nil {
		return err
	}
	at := columnOf(values, u.carried[0])
	var keys []expr.Expr
	var missing expr.Expr
	for _, i := range u.key {
		column := columnOf(values, i)
		key, err := expr.CollationKey(column, u.build.Context())
		if err != nil {
			return err
		}
		keys = append(keys, key)
		missing = either(missing, absent(column))
	}
	over := func(name string, args []expr.Expr, order []expr.Order) expr.Expr {
		return &expr.Window{Typed: expr.Typed{Of: long}, Name: name, Args: args, Spec: expr.WindowSpec{PartitionBy: keys, OrderBy: order}}
	}
	alone := func(one, group expr.Expr) expr.Expr {
		return &expr.Case{Typed: expr.Typed{Of: long}, Whens: []expr.When{{Condition: missing, Result: one}}, Else: group}
	}
	items := itemsOf(values, 0, len(u.schema.Fields))
	items = append(items,
		bind.Item{Name: "group", Value: alone(at, over("min", []expr.Expr{at}, nil))},
		bind.Item{Name: "rank", Value: alone(wholeLong(1), over("row_number", nil, []expr.Order{{Expr: at}}))},
		bind.Item{Name: "size", Value: alone(wholeLong(1), over("count", []expr.Expr{at}, nil))})
	u.given = u.build.Shared(u.build.Block(values, items), "given")
	u.with = append(u.with, u.given)
	u.carried = nil
	for i := range u.cells { // what follows sees whole rows
		u.cells[i] = cell{marker: -1, from: u.cells[i].from, constant: u.cells[i].constant}
	}
	return nil
}

// number is one of the numbers of a relation over given.
func (u *upserting) number(rows *expr.Relation, which int) expr.Expr {
	return columnOf(rows, len(u.schema.Fields)+which)
}

// matched joins some of the statement's rows with the rows of the table that have their key; where none has, those are missing.
func (u *upserting) matched(which func(rows *expr.Relation) expr.Expr) (rows *expr.Relation, from expr.From, err error) {
	all := u.build.Read(u.given)
	some, err := u.build.Select(all, itemsOf(all, 0, len(all.Columns)), which(all), nil, nil, bind.Scope{})
	if err != nil {
		return nil, nil, err
	}
	rows = u.build.Derived(some, "")
	var on expr.Expr
	for _, i := range u.key {
		equal, err := u.build.Given(&parse.Binary{Op: "=", Left: hidden("own"), Right: hidden("given")}, bind.Over(u.target),
			map[string]expr.Expr{"\x00own": columnOf(u.target, i), "\x00given": columnOf(rows, i)})
		if err != nil {
			return nil, nil, err
		}
		on = both(on, equal)
	}
	return rows, &expr.Join{Kind: "LEFT", Left: rows, Right: u.target, On: on}, nil
}

// there tells whether the table has a row with the key.
func (u *upserting) there() expr.Expr { return present(loose(u.places[0].Value)) }

// loose is a column of the side of a join that may be missing.
func loose(e expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Column); ok {
		n := *c
		n.Null = true
		return &n
	}
	return e
}

// ignore are the rows of INSERT IGNORE: those whose key the table has, or an earlier row of the statement, are left out.
func (u *upserting) ignore(out *Changes) (*expr.Relation, error) {
	rows, from, err := u.matched(func(*expr.Relation) expr.Expr { return nil })
	if err != nil {
		return nil, err
	}
	// Several rows of the table with one key would count one row several times.
	exists := &expr.Window{Typed: expr.Typed{Of: long}, Name: "row_number", Spec: expr.WindowSpec{
		PartitionBy: []expr.Expr{u.number(rows, groupAt), u.number(rows, rankAt)}}}
	items := append(itemsOf(rows, 0, len(u.schema.Fields)), bind.Item{Value: u.number(rows, rankAt)}, bind.Item{Value: u.there()}, bind.Item{Value: exists})
	joined := u.build.Derived(u.build.Block(from, items), "")
	n := len(u.schema.Fields)
	kept := both(equalTo(columnOf(joined, n), 1), &expr.Not{Typed: expr.Typed{Of: boolean}, Operand: columnOf(joined, n+1)})
	items = append(itemsOf(joined, 0, n), bind.Item{Name: "action", Value: choice(kept, actionOf(rewrite.Insert), actionOf(rewrite.Keep))})
	for range u.places {
		items = append(items, bind.Item{Value: expr.Null(long)})
	}
	one := choice(kept, wholeLong(1), wholeLong(0))
	items = append(items, bind.Item{Value: one}, bind.Item{Value: one}, bind.Item{Value: choice(kept, wholeLong(0), wholeLong(1))}, bind.Item{Value: wholeLong(1)})
	block, err := u.build.Select(joined, items, equalTo(columnOf(joined, n+2), 1), nil, nil, bind.Scope{})
	if err != nil {
		return nil, err
	}
	block.With = u.with
	out.Keeps = true
	return u.build.Derived(block, ""), nil
}

// replace are the rows of REPLACE INTO: the last row of the statement with a key takes the place of the rows that have it. Where the table has
// several, it takes the place of one and the others go.
func (u *upserting) replace(out *Changes) (*expr.Relation, error) {
	rows, from, err := u.matched(func(rows *expr.Relation) expr.Expr {
		return &expr.Compare{Typed: expr.Typed{Of: boolean}, Op: "=", Left: u.number(rows, rankAt), Right: u.number(rows, sizeAt)}
	})
	if err != nil {
		return nil, err
	}
	n := len(u.schema.Fields)
	nth := &expr.Window{Typed: expr.Typed{Of: long}, Name: "row_number", Spec: expr.WindowSpec{PartitionBy: []expr.Expr{u.number(rows, groupAt)},
		OrderBy: []expr.Order{{Expr: loose(u.places[0].Value)}, {Expr: loose(u.places[1].Value)}}}}
	var differs expr.Expr
	for i := range u.schema.Fields {
		differs = either(differs, distinct(columnOf(rows, i), loose(columnOf(u.target, i))))
	}
	items := append(itemsOf(rows, 0, n), bind.Item{Value: u.there()}, bind.Item{Value: nth}, bind.Item{Value: differs}, bind.Item{Value: u.number(rows, sizeAt)})
	for _, p := range u.places {
		items = append(items, bind.Item{Name: p.Name, Value: loose(p.Value)})
	}
	joined := u.build.Derived(u.build.Block(from, items), "")
	there, size := columnOf(joined, n), columnOf(joined, n+3)
	first := equalTo(columnOf(joined, n+1), 1)
	action := &expr.Case{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindByte}}, Else: actionOf(rewrite.Delete), Whens: []expr.When{
		{Condition: &expr.Not{Typed: expr.Typed{Of: boolean}, Operand: there}, Result: actionOf(rewrite.Insert)},
		{Condition: first, Result: actionOf(rewrite.Update)},
	}}
	// A row counts once for being inserted and once more for what it takes away, which is nothing where it is the same.
	sql := "CASE WHEN {1} = 1 THEN 2 * {2} - 1 + CASE WHEN {0} AND ({2} > 1 OR {3}) THEN 1 ELSE 0 END ELSE 1 END"
	count := &expr.Raw{Typed: expr.Typed{Of: long}, SQL: sql, Args: []expr.Expr{there, columnOf(joined, n+1), size, columnOf(joined, n+2)}}
	items = append(itemsOf(joined, 0, n), bind.Item{Name: "action", Value: action})
	items = append(items, itemsOf(joined, n+4, len(joined.Columns))...)
	items = append(items, bind.Item{Value: count}, bind.Item{Value: count}, bind.Item{Value: wholeLong(0)}, bind.Item{Value: choice(first, size, wholeLong(0))})
	block := u.build.Block(joined, items)
	block.With = u.with
	out.Updates, out.Deletes = true, true
	return u.build.Derived(block, ""), nil
}

func wholeLong(n int64) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: long}, Value: protocol.Value{Kind: protocol.KindLong, Int: n}}
}

func equalTo(e expr.Expr, n int64) expr.Expr {
	return &expr.Compare{Typed: expr.Typed{Of: boolean, Null: e.Nullable()}, Op: "=", Left: e, Right: wholeLong(n)}
}

// distinct is whether two values differ, NULL being one.
func distinct(a, b expr.Expr) expr.Expr {
	return &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "({0} IS DISTINCT FROM {1})", Args: []expr.Expr{a, b}}
}

// choice is one value where a condition holds and another elsewhere.
func choice(condition, then, otherwise expr.Expr) expr.Expr {
	return &expr.Case{Typed: expr.Typed{Of: then.Type(), Null: then.Nullable() || otherwise.Nullable()},
		Whens: []expr.When{{Condition: condition, Result: then}}, Else: otherwise}
}
