package bind

import (
	"strings"

	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// clause is where an expression stands; it decides what the expression may hold.
type clause uint8

const (
	clauseConstant clause = iota
	clauseFrom            // ON, arguments of table functions
	clauseWhere
	clauseItems
	clauseGroup
	clauseHaving
	clauseQualify
	clauseOrder
	clauseValues
	clauseRow // a condition or a value of one row, such as a CHECK
)

func (c clause) String() string {
	return [...]string{"a constant expression", "FROM", "WHERE", "the select list", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "VALUES", "an expression of one row"}[c]
}

// env is an expression's environment: a scope, the block it belongs to and what is allowed there.
type env struct {
	b      *binder
	place  place
	scope  *scope
	clause clause
	block  *block           // nil outside a SELECT block
	params []*expr.Relation // parameters of the lambdas around, outermost first
	inside string           // "", "aggregate", "window": what the expression is an argument of
	nested bool             // below the top of an ORDER BY element, where MySQL prefers columns to aliases
	// given are synthetic names: expressions that are bound already and take part in a text made up by the binder.
	given map[string]expr.Expr
}

var _ expr.Env = (*env)(nil)

func (e *env) Context() *expr.Context { return e.place.context }

func (e *env) NewRelation(kind expr.RelKind, name string) *expr.Relation {
	return e.b.relation(kind, name)
}

// Resolve finds a name: lambda parameters first, then columns and aliases in the order that the clause and the dialect have.
func (e *env) Resolve(name parse.Name) (expr.Expr, error) {
	if given, ok := e.given[name[0].Name]; ok && len(name) == 1 {
		return given, nil
	}
	for i := len(e.params) - 1; i >= 0; i-- {
		for j, c := range e.params[i].Columns {
			if strings.EqualFold(c.Name, name[0].Name) {
				param := &expr.Column{Typed: expr.Typed{Of: c.Type, Null: c.Nullable}, Relation: e.params[i], Index: j}
				return fields(param, name[1:])
			}
		}
	}
	aliasFirst, aliasLater := e.aliasOrder(name)
	if aliasFirst {
		if found, err := e.alias(name); found != nil || err != nil {
			return found, err
		}
	}
	local, err := e.scope.local(name)
	if local != nil || err != nil {
		return local, err
	}
	if aliasLater {
		if found, err := e.alias(name); found != nil || err != nil {
			return found, err
		}
	}
	outer, err := e.scope.outer.lookup(name)
	if outer != nil || err != nil {
		return outer, err
	}
	if e.clause == clauseConstant {
		return nil, fail("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", name[0].Pos, "no column can stand here, and %s is one", spelled(name)).
			WithHint("a constant expression has literals, parameters and functions of them")
	}
	var more []string
	if e.block != nil && (aliasFirst || aliasLater) {
		for _, it := range e.block.items {
			more = append(more, it.name)
		}
	}
	return nil, e.scope.unresolved(name, more)
}

// aliasOrder tells whether aliases of the select list are looked at, before or after the columns of FROM.
func (e *env) aliasOrder(name parse.Name) (before, after bool) {
	if e.block == nil || e.inside == "aggregate" {
		return false, false
	}
	mysql := e.place.context.Dialect == expr.MySQL
	switch e.clause {
	case clauseItems:
		return false, !mysql
	case clauseGroup:
		return false, true
	case clauseHaving:
		// MySQL prefers a column that is grouped by, then the alias, then any column.
		if !mysql {
			return true, false
		}
		if column, err := e.scope.local(name); err == nil && column != nil {
			for _, g := range e.block.keys {
				if same(g, column) {
					return false, true
				}
			}
		}
		return true, false
	case clauseQualify:
		return true, false
	case clauseOrder:
		if mysql && e.nested {
			return false, true
		}
		return true, false
	}
	return false, false
}

// alias finds a select item by its name: only those bound so far, and where several share it, they must agree. Clauses that
// come after the select list see every output name, the others only written aliases.
func (e *env) alias(name parse.Name) (expr.Expr, error) {
	after := e.clause == clauseHaving || e.clause == clauseQualify || e.clause == clauseOrder
	var found expr.Expr
	for _, it := range e.block.items {
		if !it.aliased && !after || !strings.EqualFold(it.name, name[0].Name) {
			continue
		}
		if found != nil && !same(found, it.value) {
			return nil, fail("AMBIGUOUS_REFERENCE", name[0].Pos, "the alias %s stands for several columns", spelled(name[:1]))
		}
		if found == nil {
			found = it.value
		}
	}
	if found == nil {
		return nil, nil
	}
	if e.clause == clauseItems && volatile(found) {
		return nil, fail("UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS", name[0].Pos, "%s is not deterministic and cannot be used again in the same select list", spelled(name)).
			WithHint("compute it in a subquery of FROM")
	}
	if larger(found, maxExpansion) {
		return nil, fail("DELTASQL_LIMIT_EXCEEDED", name[0].Pos, "the expression behind the alias %s is too large to be used again", spelled(name[:1])).
			WithHint("compute it in a subquery of FROM")
	}
	return fields(found, name[1:])
}

// Query binds a subquery that may name this environment's columns.
func (e *env) Query(q *parse.Query) (*expr.Query, error) {
	if e.params != nil {
		return nil, fail("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.HIGHER_ORDER_FUNCTION", q.Pos, "a subquery cannot stand inside a lambda")
	}
	p := e.place
	p.outer = e.scope
	return e.b.query(q, p)
}

// Aggregate accepts an aggregate call where one may stand.
func (e *env) Aggregate(a *expr.Aggregate, at parse.Pos) (expr.Expr, error) {
	if e.inside == "aggregate" {
		return nil, fail("NESTED_AGGREGATE_FUNCTION", at, "an aggregate cannot be the argument of another aggregate").
			WithHint("aggregate in a subquery of FROM first")
	}
	switch e.clause {
	case clauseItems, clauseHaving, clauseQualify, clauseOrder:
	case clauseGroup:
		return nil, fail("GROUP_BY_AGGREGATE", at, "an aggregate such as %s cannot stand in GROUP BY", a.Name)
	case clauseWhere:
		return nil, fail("INVALID_WHERE_CONDITION", at, "an aggregate such as %s cannot stand in WHERE", a.Name).
			WithHint("conditions on aggregates belong into HAVING")
	default:
		return nil, fail("DELTASQL_MISPLACED_FUNCTION", at, "an aggregate such as %s cannot stand in %s", a.Name, e.clause)
	}
	if e.params != nil {
		return nil, fail("DELTASQL_MISPLACED_FUNCTION", at, "an aggregate such as %s cannot stand inside a lambda", a.Name)
	}
	if e.block == nil {
		return nil, fail("DELTASQL_MISPLACED_FUNCTION", at, "an aggregate such as %s cannot stand in %s", a.Name, e.clause)
	}
	if e.outerOnly(a) {
		return nil, fail("UNSUPPORTED_FEATURE", at, "an aggregate over columns of the enclosing query only is not supported").
			WithHint("aggregate in the enclosing query")
	}
	e.block.aggregated = true
	return a, nil
}

// outerOnly tells whether an aggregate's columns all belong to enclosing queries, which makes it theirs in the standard.
func (e *env) outerOnly(a *expr.Aggregate) bool {
	inner, outer := false, false
	walk(a, false, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok && c.Relation.Kind != expr.RelLambda {
			if e.block.relations[c.Relation] {
				inner = true
			} else {
				outer = true
			}
		}
		return true
	})
	return outer && !inner
}

// AggregateArgs is the environment of an aggregate's arguments, ORDER BY and FILTER: columns of FROM, never aliases.
func (e *env) AggregateArgs() expr.Env {
	n := *e
	n.inside = "aggregate"
	return &n
}

// Grouped tells whether the block has GROUP BY.
func (e *env) Grouped() bool { return e.block != nil && e.block.ast.GroupBy != nil }

// Window accepts a window call where one may stand.
func (e *env) Window(w *expr.Window, at parse.Pos) (expr.Expr, error) {
	switch {
	case e.inside == "window":
		return nil, fail("DELTASQL_MISPLACED_WINDOW", at, "a window function cannot be part of another one's window")
	case e.inside == "aggregate":
		return nil, fail("DELTASQL_MISPLACED_WINDOW", at, "a window function cannot be the argument of an aggregate").
			WithHint("compute it in a subquery of FROM")
	case e.clause == clauseWhere:
		return nil, fail("INVALID_WHERE_CONDITION", at, "a window function such as %s cannot stand in WHERE", w.Name).
			WithHint("use QUALIFY, or filter around a subquery")
	case e.block == nil || e.clause != clauseItems && e.clause != clauseQualify && e.clause != clauseOrder || e.params != nil:
		return nil, fail("DELTASQL_MISPLACED_WINDOW", at, "a window function such as %s cannot stand in %s", w.Name, e.clause)
	}
	return w, nil
}

// Lambda is the environment of a lambda's body.
func (e *env) Lambda(params *expr.Relation) expr.Env {
	n := *e
	n.params = append(append([]*expr.Relation(nil), e.params...), params)
	return &n
}

// Stars expands * among a function's arguments.
func (e *env) Stars(s *parse.Star) ([]expr.Expr, error) {
	columns, err := e.expand(s)
	if err != nil {
		return nil, err
	}
	out := make([]expr.Expr, len(columns))
	for i, c := range columns {
		out[i] = c.value
	}
	return out, nil
}

// expand gives a star's columns after EXCEPT and REPLACE.
func (e *env) expand(s *parse.Star) ([]column, error) {
	columns, err := e.scope.expandStar(s)
	if err != nil {
		return nil, err
	}
	if len(s.Except) > 0 {
		if columns, err = e.except(columns, s.Except); err != nil {
			return nil, err
		}
	}
	for _, r := range s.Replace {
		if r.Alias == nil {
			return nil, fail("PARSE_SYNTAX_ERROR", s.At(), "REPLACE needs expressions with names")
		}
		value, err := expr.Bind(e, r.Expr)
		if err != nil {
			return nil, err
		}
		replaced := false
		for i, c := range columns {
			if strings.EqualFold(c.name, r.Alias.Name) {
				columns[i].value, replaced = value, true
			}
		}
		if !replaced {
			return nil, e.scope.unresolved(parse.Name{*r.Alias}, nil)
		}
	}
	return columns, nil
}

// except drops columns of a star. A bare name is looked up among the star's own columns, so that a.* EXCEPT (x) does not ask
// whether b has an x as well.
func (e *env) except(columns []column, names []parse.Name) ([]column, error) {
	drop := map[int]bool{}
	for _, name := range names {
		found, err := e.starColumn(columns, name)
		if err != nil {
			return nil, err
		}
		drop[found] = true
	}
	out := columns[:0:0]
	for i, c := range columns {
		if !drop[i] {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fail("EXCEPT_COLUMNS_EMPTY", names[0][0].Pos, "EXCEPT leaves no column")
	}
	return out, nil
}

// starColumn is the place of the one column among a star's that a name of EXCEPT means.
func (e *env) starColumn(columns []column, name parse.Name) (int, error) {
	var value expr.Expr
	if len(name) > 1 {
		var err error
		if value, err = e.scope.local(name); err != nil {
			return 0, err
		}
	}
	found := -1
	for i, c := range columns {
		if !strings.EqualFold(c.name, name[len(name)-1].Name) || len(name) > 1 && (value == nil || !same(value, c.value)) {
			continue
		}
		if found >= 0 && !same(columns[found].value, c.value) {
			return 0, ambiguous(name, e.scope)
		}
		found = i
	}
	switch {
	case found >= 0:
		return found, nil
	case value != nil:
		return 0, fail("UNSUPPORTED_FEATURE", name[0].Pos, "EXCEPT of the struct member %s is not supported", spelled(name))
	}
	return 0, e.scope.unresolved(name, nil)
}

// condition binds a boolean expression: WHERE, ON, HAVING, QUALIFY.
func (e *env) condition(x parse.Expr) (expr.Expr, error) {
	bound, err := expr.Bind(e, x)
	if err != nil {
		return nil, err
	}
	condition, err := expr.Condition(bound, e.place.context)
	return condition, located(err, x.At())
}

// with is the environment with synthetic names for expressions that are bound already.
func (e *env) with(given map[string]expr.Expr) *env {
	n := *e
	n.given = given
	return &n
}

// synthetic is the AST of a synthetic name.
func synthetic(name string) parse.Expr {
	return &parse.Column{Name: parse.Name{{Name: name, Quoted: true}}}
}
