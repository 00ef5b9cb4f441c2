package bind

import (
	"context"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Bounds on what one statement may hold, so that no text makes the binder run away.
const (
	maxDepth     = 200   // nested queries, joins and views
	maxRelations = 20000 // relations of a statement, inlined views included
	maxViews     = 100   // views inside views
	maxSets      = 4096  // grouping sets of one GROUP BY
	maxExpansion = 10000 // nodes of an expression that an alias puts into another one
	maxPushed    = 2000  // nodes of a condition that moves into a derived table
)

// Options are the surroundings of a query.
type Options struct {
	Context *expr.Context
	Catalog Catalog
	// Fold evaluates an expression that has no columns. It is needed for time travel, LIMIT and table functions whose
	// operands are more than literals; nil refuses those.
	Fold func(ctx context.Context, e expr.Expr) (protocol.Value, error)
	// AnyValue reads a column that is neither grouped nor aggregated as any value of its group: the MySQL dialect without
	// ONLY_FULL_GROUP_BY.
	AnyValue bool
	// MaxRecursion is how many levels a recursive query may have (cte_max_recursion_depth); 0: 1000.
	MaxRecursion int64
}

// Query binds a query and prepares its scans. Faults of the text are *protocol.Error with line and column.
func Query(ctx context.Context, q *parse.Query, opts Options) (out *expr.Query, err error) {
	defer catch(&err)
	b := &binder{ctx: ctx, opts: opts}
	bound, err := b.query(q, place{context: opts.Context})
	if err != nil {
		return nil, err
	}
	prune(bound)
	pushDown(bound)
	return bound, nil
}

// Expression binds an expression that has no columns around it, such as the value of SET. Subqueries are allowed.
func Expression(ctx context.Context, e parse.Expr, opts Options) (out expr.Expr, err error) {
	defer catch(&err)
	b := &binder{ctx: ctx, opts: opts}
	bound, err := expr.Bind(b.constants(place{context: opts.Context}), e)
	if err != nil {
		return nil, err
	}
	prepare(bound)
	return bound, nil
}

// catch turns a panic into an error of ours: a statement must not take its session down.
func catch(err *error) {
	if fault := recover(); fault != nil {
		*err = protocol.NewError(protocol.ClassInternal, "the binder failed: %v", fault)
	}
}

// prepare readies the scans of subqueries in an expression that is evaluated by itself.
func prepare(e expr.Expr) {
	root := &expr.Query{Body: &expr.Select{Items: []expr.Expr{e}, Visible: 1}, Columns: []expr.OutputColumn{{Name: "value", Out: "c0", Type: e.Type()}}}
	prune(root)
	pushDown(root)
}

// binder holds what is common to a statement.
type binder struct {
	ctx   context.Context
	opts  Options
	ids   int
	depth int
}

// place is what a query sees around it.
type place struct {
	context *expr.Context
	outer   *scope    // columns of the enclosing query, for correlated subqueries
	ctes    *cteFrame // common table expressions in scope
	views   []string  // views being inlined, outermost first
	stored  bool      // the innermost of them has a database of its own for bare names
}

func (b *binder) relation(kind expr.RelKind, name string) *expr.Relation {
	b.ids++
	return &expr.Relation{ID: b.ids, Kind: kind, Name: name}
}

// enter counts a level of nesting; the caller must leave.
func (b *binder) enter(at parse.Pos) error {
	if err := b.ctx.Err(); err != nil {
		return protocol.NewError("DELTASQL_CANCELLED", "the statement was cancelled").WithCause(err)
	}
	if b.depth++; b.depth > maxDepth {
		return fail("DELTASQL_LIMIT_EXCEEDED", at, "queries and joins are nested more than %d deep", maxDepth)
	}
	if b.ids > maxRelations {
		return fail("DELTASQL_LIMIT_EXCEEDED", at, "the statement has more than %d relations", maxRelations)
	}
	return nil
}

func (b *binder) leave() { b.depth-- }

// constants is the environment of operands that may not name a column.
func (b *binder) constants(p place) *env {
	return &env{b: b, place: p, scope: &scope{}, clause: clauseConstant}
}

// fold evaluates an expression without columns.
func (b *binder) fold(e expr.Expr, at parse.Pos) (protocol.Value, error) {
	if l, ok := e.(*expr.Literal); ok {
		return l.Value, nil
	}
	if b.opts.Fold == nil {
		return protocol.Value{}, fail("UNSUPPORTED_FEATURE", at, "only a literal may stand here")
	}
	prepare(e)
	return b.opts.Fold(b.ctx, e)
}

// fail makes an error at a place in the text; the zero Pos has none.
func fail(class protocol.Class, at parse.Pos, format string, args ...any) *protocol.Error {
	e := protocol.NewError(class, format, args...)
	if at.Line > 0 {
		e.At(at.Line, at.Column)
	}
	return e
}

// located gives an error of a lower layer a place, unless it has one.
func located(err error, at parse.Pos) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*protocol.Error); ok && e.Line == 0 && at.Line > 0 {
		return e.At(at.Line, at.Column)
	}
	return err
}
