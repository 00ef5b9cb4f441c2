package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// block is a SELECT block while it is bound. The order of the steps is the order in which names become known: FROM, WHERE,
// the select list, GROUP BY (which may name aliases), HAVING, QUALIFY, ORDER BY, and then the check of what is grouped.
type block struct {
	b          *binder
	place      place
	ast        *parse.Select
	scope      *scope
	sel        *expr.Select
	items      []item
	relations  map[*expr.Relation]bool // the relations of this FROM
	keys       []expr.Expr             // distinct expressions of GROUP BY
	folded     map[expr.Expr]bool      // those of keys that are grouped by the key of their collation
	aggregated bool                    // an aggregate was seen, or GROUP BY, or Spark's HAVING
	generator  *generator
}

// item is a bound select item.
type item struct {
	name    string
	aliased bool
	value   expr.Expr
	text    parse.Expr // nil where it comes from a star
	at      parse.Pos
}

func (k *block) env(c clause) *env {
	return &env{b: k.b, place: k.place, scope: k.scope, clause: c, block: k}
}

func (k *block) mysql() bool { return k.place.context.Dialect == expr.MySQL }

// selectQuery binds a query over one block into out: its ORDER BY may name columns that are not selected.
func (b *binder) selectQuery(out *expr.Query, s *parse.Select, q *parse.Query, p place) error {
	if p.context.Dialect == expr.Spark && generatesOverGroups(s) {
		return b.overGroups(out, s, q, p)
	}
	k := &block{b: b, place: p, ast: s, sel: &expr.Select{Distinct: s.Distinct}, relations: map[*expr.Relation]bool{}}
	if err := k.from(); err != nil {
		return err
	}
	if s.Where != nil {
		where, err := k.env(clauseWhere).condition(s.Where)
		if err != nil {
			return err
		}
		k.sel.Where = where
	}
	if err := k.selectList(); err != nil {
		return err
	}
	if err := k.groupBy(); err != nil {
		return err
	}
	if err := k.having(); err != nil {
		return err
	}
	if s.Qualify != nil {
		qualify, err := k.env(clauseQualify).condition(s.Qualify)
		if err != nil {
			return err
		}
		k.sel.Qualify = qualify
	}
	return k.finish(out, q)
}

// finish makes the query's output of the items, and binds what may name it.
func (k *block) finish(out *expr.Query, q *parse.Query) error {
	if len(k.items) == 0 {
		return fail("DELTA_READ_TABLE_WITHOUT_COLUMNS", k.ast.Pos, "* gives no columns here: the table has none")
	}
	columns := make([]expr.OutputColumn, len(k.items))
	for i, it := range k.items {
		k.sel.Items = append(k.sel.Items, it.value)
		columns[i] = expr.OutputColumn{Name: it.name, Type: it.value.Type(), Nullable: it.value.Nullable(), CharLength: expr.CharLength(it.value)}
	}
	k.sel.Visible = len(k.items)
	out.Body = k.sel
	k.b.output(out, columns)
	if err := k.distinctOn(); err != nil {
		return err
	}
	orders, err := k.orderBy(q, out.Output)
	if err != nil {
		return err
	}
	out.OrderBy = orders
	if err := k.checkGroups(out); err != nil {
		return err
	}
	if err := k.foldDistinct(); err != nil {
		return err
	}
	return k.b.limits(out, q, k.place)
}

// foldDistinct makes DISTINCT compare text by its collation: one row is kept of those with equal keys.
func (k *block) foldDistinct() error {
	if k.sel.Distinct {
		for i, it := range k.items {
			if it.value.Type().Holds(protocol.KindVariant) {
				return fail("UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", k.ast.Pos, "DISTINCT cannot compare variants, and column %d, %s, has them", i+1, it.name).
					WithHint("cast it to a type that can be compared")
			}
			if t := it.value.Type(); t.Holds(protocol.KindFile) {
				return expr.WithPart(fail("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", k.ast.Pos, "DISTINCT cannot compare files, and column %d, %s, has them", i+1, it.name), t)
			}
		}
	}
	if !k.sel.Distinct {
		return nil
	}
	keys, folds, err := collationKeys(k.sel.Items, k.place.context)
	if err != nil {
		return located(err, k.ast.Pos)
	}
	if folds {
		k.sel.DistinctOn = keys
	}
	return nil
}

// collationKeys are the keys of several values, and whether any of them is folded.
func collationKeys(list []expr.Expr, ctx *expr.Context) ([]expr.Expr, bool, error) {
	keys, folds := make([]expr.Expr, len(list)), false
	for i, e := range list {
		key, err := expr.CollationKey(e, ctx)
		if err != nil {
			return nil, false, err
		}
		keys[i], folds = key, folds || key != e
	}
	return keys, folds, nil
}

// generatesOverGroups tells whether a select list has a generator beside GROUP BY, or over an aggregate.
func generatesOverGroups(s *parse.Select) bool {
	for i := range s.Items {
		call := generatorCall(s.Items[i].Expr)
		if call == nil {
			continue
		}
		if s.GroupBy != nil || s.Having != nil {
			return true
		}
		for _, a := range call.Args {
			if c, ok := a.Expr.(*parse.Call); ok && len(c.Name) == 1 && c.Over == nil && expr.IsAggregate(c.Name[0].Name, expr.Spark) {
				return true
			}
		}
	}
	return false
}

func (k *block) from() error {
	k.scope = (&scope{}).under(k.place.outer)
	if k.ast.From != nil {
		from, sc, err := k.b.from(k.ast.From, k.place, nil)
		if err != nil {
			return err
		}
		if err := uniqueAliases(sc, k.place.context, k.ast.Pos); err != nil {
			return err
		}
		k.sel.From, k.scope = from, sc.under(k.place.outer)
	}
	for i := range k.ast.LateralViews {
		if err := k.lateralView(&k.ast.LateralViews[i]); err != nil {
			return err
		}
	}
	if k.sel.From != nil {
		relationsOf(k.sel.From, func(r *expr.Relation) { k.relations[r] = true })
	}
	return nil
}

// uniqueAliases refuses two relations of one name in MySQL, where they are an error even if no column is named.
func uniqueAliases(s *scope, ctx *expr.Context, at parse.Pos) error {
	if ctx.Dialect != expr.MySQL {
		return nil
	}
	seen := map[string]bool{}
	for _, t := range s.tables {
		key := strings.ToLower(strings.Join(t.path, "\x00"))
		if key != "" && seen[key] {
			return fail("DELTASQL_DUPLICATE_ALIAS", at, "the table or alias `%s` stands twice in FROM", t.path[len(t.path)-1]).
				WithHint("give one of them an alias of its own")
		}
		seen[key] = true
	}
	return nil
}

// selectList binds the items in order, so that Spark's later ones may name earlier aliases.
func (k *block) selectList() error {
	e := k.env(clauseItems)
	for i := range k.ast.Items {
		it := &k.ast.Items[i]
		if star, ok := it.Expr.(*parse.Star); ok {
			if k.sel.From == nil && len(star.Qualifier) == 0 {
				return fail("INVALID_USAGE_OF_STAR_OR_REGEX", star.At(), "* needs a FROM clause: there are no tables to take columns from")
			}
			columns, err := e.expand(star)
			if err != nil {
				return err
			}
			for _, c := range columns {
				k.items = append(k.items, item{name: c.name, value: c.value, at: star.At()})
			}
			continue
		}
		generated, err := k.generate(it)
		if err != nil {
			return err
		}
		if generated {
			continue
		}
		if len(it.Columns) > 0 {
			return fail("MULTI_ALIAS_WITHOUT_GENERATOR", it.Expr.At(), "only functions such as explode, which give several columns, take several names")
		}
		value, err := expr.Bind(e, it.Expr)
		if err != nil {
			return err
		}
		k.items = append(k.items, item{name: k.itemName(it), aliased: it.Alias != nil, value: value, text: it.Expr, at: it.Expr.At()})
	}
	return nil
}

// itemName names an output column: its alias, a column's name as written, or the expression's text (MySQL) or canonical
// form (Spark).
func (k *block) itemName(it *parse.SelectItem) string {
	if it.Alias != nil {
		return it.Alias.Name
	}
	switch x := it.Expr.(type) {
	case *parse.Column:
		return x.Name[len(x.Name)-1].Name
	case *parse.Literal:
		if k.mysql() && x.Kind == parse.StringLiteral {
			return x.Text
		}
	}
	if k.mysql() {
		return strings.TrimSpace(it.Text)
	}
	return expr.Name(it.Expr)
}

// having binds HAVING. Without groups and aggregates MySQL's HAVING is a filter that sees aliases.
func (k *block) having() error {
	if k.ast.Having == nil {
		return nil
	}
	condition, err := k.env(clauseHaving).condition(k.ast.Having)
	if err != nil {
		return err
	}
	if k.mysql() && !k.aggregated {
		if contains(condition, isWindow) {
			return fail("DELTASQL_MISPLACED_WINDOW", k.ast.Having.At(), "a window function cannot stand in HAVING").
				WithHint("filter around a subquery")
		}
		k.sel.Where = and(k.sel.Where, condition)
		return nil
	}
	if contains(condition, isWindow) {
		return fail("DELTASQL_MISPLACED_WINDOW", k.ast.Having.At(), "a window function cannot stand in HAVING").WithHint("use QUALIFY")
	}
	k.aggregated = true
	k.sel.Having = condition
	return nil
}

// and joins two conditions; either may be nil.
func and(a, b expr.Expr) expr.Expr {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	var operands []expr.Expr
	for _, e := range []expr.Expr{a, b} {
		if l, ok := e.(*expr.Logic); ok && !l.Or {
			operands = append(operands, l.Operands...)
		} else {
			operands = append(operands, e)
		}
	}
	return &expr.Logic{Typed: booleanTyped(a.Nullable() || b.Nullable()), Operands: operands}
}

func booleanTyped(nullable bool) expr.Typed {
	return expr.Typed{Of: protocol.DataType{Kind: protocol.KindBoolean}, Null: nullable}
}

// distinctOn binds DISTINCT ON; a whole number is the position of an item.
func (k *block) distinctOn() error {
	for _, x := range k.ast.DistinctOn {
		value, err := k.ordinal(x, "ORDER_BY_POS_OUT_OF_RANGE", "DISTINCT ON")
		if err != nil {
			return err
		}
		if value == nil {
			if value, err = expr.Bind(k.env(clauseOrder), x); err != nil {
				return err
			}
		}
		k.sel.DistinctOn = append(k.sel.DistinctOn, value)
	}
	return nil
}

// ordinal is the item that a bare whole number in GROUP BY or ORDER BY stands for; nil if x is something else.
func (k *block) ordinal(x parse.Expr, class protocol.Class, where string) (expr.Expr, error) {
	i, ok, err := position(x, len(k.items), class, where)
	if !ok || err != nil {
		return nil, err
	}
	return k.items[i].value, nil
}

// position reads a bare whole number as the position of one of n columns.
func position(x parse.Expr, n int, class protocol.Class, where string) (int, bool, error) {
	l, ok := x.(*parse.Literal)
	if !ok || l.Kind != parse.IntegerLiteral || l.Suffix != "" {
		return 0, false, nil
	}
	at := 0
	for _, c := range l.Text {
		if c < '0' || c > '9' {
			return 0, false, nil
		}
		at = min(at*10+int(c-'0'), 1<<30)
	}
	if at < 1 || at > n {
		return 0, false, fail(class, l.At(), "%s position %d is not in the select list, which has %d columns", where, at, n)
	}
	return at - 1, true, nil
}
