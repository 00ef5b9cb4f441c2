package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// tableFunction binds f(args) in FROM: first the catalog's functions over constants, then those of package expr, which see
// the items to their left.
func (b *binder) tableFunction(f *parse.TableFunction, p place, lateral *scope) (expr.From, *scope, error) {
	if b.opts.Catalog != nil {
		found, mine, err := b.opts.Catalog.TableFunction(b.ctx, f, func() ([]Constant, error) { return b.arguments(f, p) })
		if err != nil {
			return nil, nil, located(err, f.Pos)
		}
		if mine {
			r, err := b.resolved(found, bare(f.Name), f.Pos, p)
			if err != nil {
				return nil, nil, err
			}
			return b.aliased(r, f.Alias, []string{f.Name[len(f.Name)-1].Name})
		}
	}
	r, err := b.generatorRelation(f, sees(p, lateral))
	if err != nil {
		return nil, nil, err
	}
	return b.aliased(r, f.Alias, []string{f.Name[len(f.Name)-1].Name})
}

// generatorRelation binds a table function of package expr in a scope.
func (b *binder) generatorRelation(f *parse.TableFunction, p place) (*expr.Relation, error) {
	sc := p.outer
	if sc == nil {
		sc = &scope{}
	}
	r, err := expr.BindTableFunction(&env{b: b, place: p, scope: sc, clause: clauseFrom}, f)
	if err != nil {
		return nil, located(err, f.Pos)
	}
	return r, nil
}

// arguments folds the arguments of a table function.
func (b *binder) arguments(f *parse.TableFunction, p place) ([]Constant, error) {
	p.outer = nil
	out := make([]Constant, len(f.Args))
	for i, a := range f.Args {
		bound, err := expr.Bind(b.constants(p), a.Expr)
		if strings.HasPrefix(string(protocol.ClassOf(err)), "UNRESOLVED_COLUMN") {
			return nil, notConstant(f, a.Expr.At())
		}
		if err != nil {
			return nil, err
		}
		if volatile(bound) {
			return nil, notConstant(f, a.Expr.At())
		}
		value, err := b.fold(bound, a.Expr.At())
		if err != nil {
			return nil, located(err, a.Expr.At())
		}
		out[i] = Constant{Value: value, Type: bound.Type(), Pos: a.Expr.At()}
		if a.Name != nil {
			out[i].Name = a.Name.Name
		}
	}
	return out, nil
}

func notConstant(f *parse.TableFunction, at parse.Pos) error {
	name := f.Name[len(f.Name)-1].Name
	if strings.HasPrefix(strings.ToLower(name), "table_changes") {
		return fail("DELTA_CDC_NON_CONSTANT_ARGUMENT", at, "the arguments of %s must be constants", name)
	}
	return fail("NON_FOLDABLE_ARGUMENT", at, "the arguments of %s must be constants", name)
}

// generator is a function of the select list that gives rows, such as explode.
type generator struct{ name string }

// generatorCall is the call if an item is one.
func generatorCall(x parse.Expr) *parse.Call {
	c, ok := x.(*parse.Call)
	if !ok || len(c.Name) != 1 || c.Over != nil || !expr.IsGenerator(c.Name[0].Name) {
		return nil
	}
	return c
}

// generate binds an item that is a generator: it becomes a lateral relation behind FROM, and its columns become items.
func (k *block) generate(it *parse.SelectItem) (bool, error) {
	call := generatorCall(it.Expr)
	if call == nil || k.mysql() {
		return false, nil
	}
	name := strings.ToLower(call.Name[0].Name)
	if k.generator != nil {
		return true, fail("UNSUPPORTED_GENERATOR.MULTI_GENERATOR", call.At(), "only one generator is allowed in a select list, but there are %s and %s", k.generator.name, name).
			WithHint("use LATERAL VIEW for the second one")
	}
	k.generator = &generator{name}
	p := k.place
	p.outer = k.scope
	r, err := k.b.generatorRelation(&parse.TableFunction{Pos: call.At(), Lateral: true, Name: call.Name, Args: call.Args}, p)
	if err != nil {
		return true, err
	}
	return true, k.generated(it, call, r)
}

// generated joins a generator's relation and makes items of its columns.
func (k *block) generated(it *parse.SelectItem, call *parse.Call, r *expr.Relation) error {
	k.join(r, false)
	names := it.Columns
	if it.Alias != nil {
		names = []parse.Ident{*it.Alias}
	}
	if len(names) > 0 && len(names) != len(r.Columns) {
		return fail("UDTF_ALIAS_NUMBER_MISMATCH", call.At(), "%s gives %d columns, but %d names are given", call.Name[0].Name, len(r.Columns), len(names))
	}
	for i := range r.Columns {
		column := item{name: r.Columns[i].Name, value: columnOf(r, i), text: it.Expr, at: call.At()}
		if len(names) > 0 {
			column.name, column.aliased = names[i].Name, true
		}
		k.items = append(k.items, column)
	}
	return nil
}

// overGroups binds a block whose select list has a generator beside groups or aggregates: the block without the generator is
// grouped first, the generator then reads its rows. ORDER BY sees output names only.
func (b *binder) overGroups(out *expr.Query, s *parse.Select, q *parse.Query, p place) error {
	inner := *s
	inner.Items, inner.Distinct, inner.DistinctOn, inner.Qualify = nil, false, nil, nil
	var at *parse.SelectItem
	var call *parse.Call
	before := 0
	for i := range s.Items {
		if c := generatorCall(s.Items[i].Expr); c != nil {
			if call != nil {
				return fail("UNSUPPORTED_GENERATOR.MULTI_GENERATOR", c.At(), "only one generator is allowed in a select list, but there are %s and %s", call.Name[0].Name, c.Name[0].Name)
			}
			at, call, before = &s.Items[i], c, len(inner.Items)
			continue
		}
		inner.Items = append(inner.Items, s.Items[i])
	}
	for _, it := range inner.Items {
		if star, ok := it.Expr.(*parse.Star); ok {
			return fail("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", star.At(), "* beside GROUP BY and %s is not supported", call.Name[0].Name).
				WithHint("name the columns")
		}
	}
	for i, a := range call.Args {
		inner.Items = append(inner.Items, parse.SelectItem{Expr: a.Expr, Alias: &parse.Ident{Name: argumentName(i), Quoted: true}})
	}
	grouped := &expr.Query{}
	if err := b.selectQuery(grouped, &inner, &parse.Query{Pos: q.Pos}, p); err != nil {
		return err
	}
	r := b.derived(grouped, "")
	if s.Qualify != nil {
		return fail("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", s.Qualify.At(), "QUALIFY beside groups and %s is not supported", call.Name[0].Name).
			WithHint("group in a subquery of FROM")
	}
	outer := &parse.Select{Pos: s.Pos, Distinct: s.Distinct, DistinctOn: s.DistinctOn}
	k := &block{b: b, place: p, ast: outer, sel: &expr.Select{Distinct: s.Distinct, From: r}, relations: map[*expr.Relation]bool{r: true}}
	k.scope = relationScope(r, nil).under(p.outer)
	args := make([]parse.Arg, len(call.Args))
	for i, a := range call.Args {
		args[i] = parse.Arg{Name: a.Name, Expr: synthetic(argumentName(i))}
	}
	lateral := p
	lateral.outer = k.scope
	rows, err := b.generatorRelation(&parse.TableFunction{Pos: call.At(), Lateral: true, Name: call.Name, Args: args}, lateral)
	if err != nil {
		return err
	}
	kept := len(r.Columns) - len(args)
	for i := 0; i <= kept; i++ {
		if i == before {
			if err := k.generated(at, call, rows); err != nil {
				return err
			}
		}
		if i < kept {
			k.items = append(k.items, item{name: r.Columns[i].Name, aliased: true, value: columnOf(r, i), at: s.Pos})
		}
	}
	return k.finish(out, q)
}

func argumentName(i int) string { return "\x00argument" + strconv.Itoa(i) }

// join puts a lateral relation behind FROM; outer keeps the rows for which it gives none.
func (k *block) join(r *expr.Relation, outer bool) {
	r.Lateral = true
	k.relations[r] = true
	switch {
	case k.sel.From == nil && !outer:
		k.sel.From = r
	case k.sel.From == nil:
		one := k.b.derived(oneRow(k.b), "")
		k.sel.From = &expr.Join{Kind: "LEFT", Left: one, Right: r, On: literalTrue()}
	case outer:
		k.sel.From = &expr.Join{Kind: "LEFT", Left: k.sel.From, Right: r, On: literalTrue()}
	default:
		k.sel.From = &expr.Join{Kind: "CROSS", Left: k.sel.From, Right: r}
	}
}

// oneRow is a query of one row, for generators without FROM.
func oneRow(b *binder) *expr.Query {
	q := &expr.Query{Body: &expr.Select{Items: []expr.Expr{literalTrue()}, Visible: 1}}
	b.output(q, []expr.OutputColumn{{Type: protocol.DataType{Kind: protocol.KindBoolean}}})
	return q
}

// lateralView binds LATERAL VIEW, whose columns later views and all clauses see.
func (k *block) lateralView(v *parse.LateralView) error {
	p := k.place
	p.outer = k.scope
	r, err := k.b.generatorRelation(&parse.TableFunction{Pos: v.Pos, Lateral: true, Name: v.Name, Args: v.Args}, p)
	if err != nil {
		return err
	}
	var path []string
	if v.Table != nil {
		path, r.Name = []string{v.Table.Name}, v.Table.Name
	}
	if err := rename(r.Columns, v.Columns, bare(v.Name), v.Pos); err != nil {
		return err
	}
	view := relationScope(r, path)
	if v.Outer {
		for i := range r.Columns {
			r.Columns[i].Nullable = true
		}
		view = relationScope(r, path)
	}
	k.join(r, v.Outer)
	k.scope = beside(k.scope, view).under(k.place.outer)
	return nil
}
