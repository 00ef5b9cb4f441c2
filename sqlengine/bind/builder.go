package bind

import (
	"context"

	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Builder binds a statement that is more than one query: its parts share common table expressions and the numbers of their relations,
// and the caller puts them together. Finish prepares what has been built.
type Builder struct {
	b *binder
	p place
}

// NewBuilder begins a statement.
func NewBuilder(ctx context.Context, opts Options) *Builder {
	return &Builder{b: &binder{ctx: ctx, opts: opts}, p: place{context: opts.Context}}
}

// Catch turns a panic of the binder into an error; it is deferred by whoever uses a Builder.
func Catch(err *error) { catch(err) }

// Context is the session as the statement sees it.
func (b *Builder) Context() *expr.Context { return b.p.context }

// In is a builder of the same statement that reads texts as another session would: the dialect of stored expressions is Spark's.
func (b *Builder) In(context *expr.Context) *Builder {
	p := b.p
	p.context = context
	return &Builder{b: b.b, p: p}
}

// With binds common table expressions and makes them visible to what is bound later.
func (b *Builder) With(with []parse.CTE, recursive bool) ([]*expr.CTE, error) {
	var out []*expr.CTE
	for i := range with {
		cte, err := b.b.cte(&with[i], recursive, b.p)
		if err != nil {
			return nil, err
		}
		out = append(out, cte)
		b.p.ctes = &cteFrame{name: with[i].Name.Name, cte: cte, outer: b.p.ctes}
	}
	return out, nil
}

// Query binds a query that sees nothing but the common table expressions.
func (b *Builder) Query(q *parse.Query) (*expr.Query, error) { return b.b.query(q, b.p) }

// Values binds VALUES whose cells may name what given holds, beside what they may anyway.
func (b *Builder) Values(v *parse.Values, given map[string]expr.Expr) (*expr.Query, error) {
	e := &env{b: b.b, place: b.p, scope: (&scope{}).under(b.p.outer), clause: clauseValues, given: given}
	rows, err := e.rows(v)
	if err != nil {
		return nil, err
	}
	return b.Table(rows, v)
}

// Table is the query of rows that are bound already; v is their text.
func (b *Builder) Table(rows [][]expr.Expr, v *parse.Values) (*expr.Query, error) {
	body, columns, err := constantTable(rows, v, b.p.context)
	if err != nil {
		return nil, err
	}
	q := &expr.Query{Body: body}
	b.b.output(q, columns)
	return q, nil
}

// Given binds an expression over a scope that may also name what given holds.
func (b *Builder) Given(e parse.Expr, s Scope, given map[string]expr.Expr) (expr.Expr, error) {
	return expr.Bind(b.row(s).with(given), e)
}

// Relation makes a relation with a fresh number.
func (b *Builder) Relation(kind expr.RelKind, name string) *expr.Relation {
	return b.b.relation(kind, name)
}

// Derived is a relation over a query.
func (b *Builder) Derived(q *expr.Query, name string) *expr.Relation { return b.b.derived(q, name) }

// Scan is a relation over what a catalog found.
func (b *Builder) Scan(found Resolved, name string, at parse.Pos) (*expr.Relation, error) {
	return b.b.resolved(found, name, at, b.p)
}

// Item is one output column of a block that a Builder makes.
type Item struct {
	Name  string
	Value expr.Expr
}

// Block is the query that computes items over a relation (nil: one row without columns).
func (b *Builder) Block(from expr.From, items []Item) *expr.Query {
	s := &expr.Select{From: from, Visible: len(items)}
	columns := make([]expr.OutputColumn, len(items))
	for i, it := range items {
		s.Items = append(s.Items, it.Value)
		columns[i] = expr.OutputColumn{Name: it.Name, Type: it.Value.Type(), Nullable: it.Value.Nullable()}
	}
	q := &expr.Query{Body: s}
	b.b.output(q, columns)
	return q
}

// Scope is what the names of an expression can mean.
type Scope struct{ s *scope }

// Over is the scope of a relation whose columns path qualifies.
func Over(r *expr.Relation, path ...string) Scope { return Scope{relationScope(r, path)} }

// Named is the scope of columns that are expressions already.
func Named(items []Item, path ...string) Scope {
	t := &table{path: path}
	for _, it := range items {
		t.columns = append(t.columns, column{name: it.Name, value: it.Value})
	}
	return Scope{&scope{columns: t.columns, tables: []*table{t}}}
}

// Beside is the scope of two relations side by side.
func (s Scope) Beside(o Scope) Scope { return Scope{beside(s.s, o.s)} }

// From binds a FROM item.
func (b *Builder) From(f parse.From) (expr.From, Scope, error) {
	from, sc, err := b.b.from(f, b.p, nil)
	return from, Scope{sc}, err
}

// Expression binds an expression over a scope; without one it names no columns. Neither aggregates nor window functions may stand in it.
func (b *Builder) Expression(e parse.Expr, s Scope) (expr.Expr, error) {
	return expr.Bind(b.row(s), e)
}

// Condition binds an expression over a scope and makes a boolean of it by the dialect's rules.
func (b *Builder) Condition(e parse.Expr, s Scope) (expr.Expr, error) {
	return b.row(s).condition(e)
}

func (b *Builder) row(s Scope) *env {
	if s.s == nil {
		return b.b.constants(b.p)
	}
	return &env{b: b.b, place: b.p, scope: s.s.under(b.p.outer), clause: clauseRow}
}

// Finish prepares the scans of the statement's query: the columns it reads and the conditions that may skip files.
func (b *Builder) Finish(q *expr.Query) {
	prune(q)
	pushDown(q)
}

// Volatile tells whether an expression may give another value each time it is evaluated.
func Volatile(e expr.Expr) bool { return volatile(e) }

// VolatileQuery tells whether a query holds an expression that may give another value each time it is evaluated.
func VolatileQuery(q *expr.Query) bool {
	found := false
	walkQuery(q, func(e expr.Expr) { found = found || volatile(e) })
	return found
}

// Relation finds the relation that a name qualifies, by alias or by a tail of its own name.
func (s Scope) Relation(name parse.Name) (*expr.Relation, bool) {
	for _, t := range s.s.tables {
		if len(t.path) == 0 || !t.named(name) {
			continue
		}
		for _, c := range t.columns {
			if own, ok := c.value.(*expr.Column); ok {
				return own.Relation, true
			}
		}
	}
	return nil, false
}

// Select is the query of a block over FROM: its items where a condition holds, in an order, the first so many.
func (b *Builder) Select(from expr.From, items []Item, where expr.Expr, order []parse.OrderItem, limit parse.Expr, s Scope) (*expr.Query, error) {
	q := b.Block(from, items)
	q.Body.(*expr.Select).Where = where
	for _, o := range order {
		value, err := b.Expression(o.Expr, s)
		if err != nil {
			return nil, err
		}
		by, err := ordered(o, value, b.p.context)
		if err != nil {
			return nil, err
		}
		q.OrderBy = append(q.OrderBy, by)
	}
	return q, b.b.limits(q, &parse.Query{Limit: limit}, b.p)
}

// Items are the columns that * gives.
func (s Scope) Items() []Item {
	var out []Item
	for _, c := range visible(s.s.columns) {
		out = append(out, Item{c.name, c.value})
	}
	return out
}

// Path is what qualifies the columns of a scope of one relation.
func (s Scope) Path() []string {
	if len(s.s.tables) == 0 {
		return nil
	}
	return s.s.tables[0].path
}

// Qualified is the scope with columns that only a qualified name finds.
func (s Scope) Qualified() Scope { return Scope{&scope{tables: s.s.tables}} }

// Shared is a query that is computed once, however often it is read.
func (b *Builder) Shared(q *expr.Query, name string) *expr.CTE {
	b.b.ids++
	return &expr.CTE{ID: b.b.ids, Name: name, Query: q, Materialized: true, Columns: append([]expr.OutputColumn(nil), q.Columns...)}
}

// Read is a relation over a common table expression.
func (b *Builder) Read(c *expr.CTE) *expr.Relation {
	r := b.b.relation(expr.RelCTE, c.Name)
	r.CTE, r.Columns = c, append([]expr.OutputColumn(nil), c.Columns...)
	return r
}

// Repeated is a query that begins with the rows of first and adds, as long as any come, the rows that step makes of those that the
// last step gave. Both have the same columns.
func (b *Builder) Repeated(first *expr.Query, name string, step func(last *expr.Relation) (*expr.Query, error)) (*expr.CTE, error) {
	b.b.ids++
	out := &expr.CTE{ID: b.b.ids, Name: name, Recursive: true, Columns: append([]expr.OutputColumn(nil), first.Columns...)}
	for i := range out.Columns {
		out.Columns[i].Nullable = true
	}
	more, err := step(b.Read(out))
	if err != nil {
		return nil, err
	}
	out.Query = &expr.Query{Body: &expr.SetOperation{Op: "UNION ALL", Left: first, Right: more}}
	b.b.output(out.Query, out.Columns)
	return out, nil
}
