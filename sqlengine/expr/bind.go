package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Bind types an expression and lowers it to DuckDB's meaning in the dialect of the environment's context.
// Every error names its place in the text.
func Bind(env Env, e parse.Expr) (Expr, error) {
	b := &binder{env: env, ctx: env.Context()}
	return b.bind(e)
}

// Condition makes a boolean of a bound expression that decides: a WHERE, ON or HAVING condition or a CASE's WHEN. The MySQL
// dialect takes any number or text and asks whether it is not zero.
func Condition(e Expr, ctx *Context) (Expr, error) {
	b := &binder{ctx: ctx}
	return b.truth(e, parse.Pos{})
}

// binder binds one expression in an environment. It lives as long as the call.
type binder struct {
	env Env
	ctx *Context
}

func (b *binder) in(env Env) *binder { return &binder{env: env, ctx: b.ctx} }

func (b *binder) bind(e parse.Expr) (Expr, error) {
	switch n := e.(type) {
	case *parse.Literal:
		return b.bindLiteral(n, false)
	case *parse.Interval:
		return b.bindInterval(n)
	case *parse.Column:
		return b.env.Resolve(n.Name)
	case *parse.Unary:
		return b.bindUnary(n)
	case *parse.Binary:
		return b.bindBinary(n)
	case *parse.Between:
		return b.bindBetween(n)
	case *parse.In:
		return b.bindIn(n)
	case *parse.Like:
		return b.bindLike(n)
	case *parse.Is:
		return b.bindIs(n)
	case *parse.IsDistinct:
		op := "IS DISTINCT FROM"
		if n.Not {
			op = "IS NOT DISTINCT FROM"
		}
		return b.bindComparison(op, n.Left, n.Right, n.At())
	case *parse.Case:
		return b.bindCase(n)
	case *parse.Cast:
		return b.bindCast(n)
	case *parse.Call:
		return b.bindCall(n)
	case *parse.Subquery:
		return b.bindSubquery(n)
	case *parse.Exists:
		q, err := b.env.Query(n.Query)
		if err != nil {
			return nil, err
		}
		return &Exists{Typed{tBoolean, false}, q}, nil
	case *parse.Quantified:
		return b.bindQuantified(n)
	case *parse.Field:
		operand, err := b.bind(n.Operand)
		if err != nil {
			return nil, err
		}
		return member1(operand, n.Name)
	case *parse.Index:
		return b.bindIndex(n)
	case *parse.VariantPath:
		return b.bindVariantPath(n)
	case *parse.Tuple:
		return b.bindTuple(n)
	case *parse.Param:
		if b.ctx.Param == nil {
			return nil, fail(n.At(), "UNBOUND_SQL_PARAMETER", "a parameter has no value here")
		}
		v, t, err := b.ctx.Param(n.Index, n.Name)
		if err != nil {
			return nil, placed(err, n.At())
		}
		return constant(t, v), nil
	case *parse.Variable:
		if n.Scope == "user" && b.ctx.RowVariables[strings.ToLower(n.Name)] {
			return b.env.Resolve(parse.Name{{Name: "@" + n.Name, Quoted: true, Pos: n.At()}})
		}
		if b.ctx.Variable == nil {
			return nil, fail(n.At(), "UNRESOLVED_VARIABLE", "the variable %s cannot be read here", n.Name)
		}
		v, t, err := b.ctx.Variable(n.Scope, n.Name)
		if err != nil {
			return nil, placed(err, n.At())
		}
		return constant(t, v), nil
	case *parse.Assign:
		return b.bindAssign(n)
	case *parse.Collate:
		return b.bindCollate(n)
	case *parse.Lambda:
		return nil, fail(n.At(), "INVALID_LAMBDA_FUNCTION_CALL", "a lambda may only stand as an argument of a function that takes one, such as transform or filter")
	case *parse.DefaultValue:
		return nil, fail(n.At(), "DEFAULT_PLACEMENT_INVALID", "DEFAULT may only stand by itself, as a whole value of VALUES or SET")
	case *parse.Star:
		return nil, fail(n.At(), "INVALID_USAGE_OF_STAR_OR_REGEX", "* may only stand in a select list or among a function's arguments")
	}
	return nil, protocol.NewError(protocol.ClassInternal, "an expression of an unknown kind %T", e)
}

// condition binds an expression and makes it a boolean.
func (b *binder) condition(e parse.Expr) (Expr, error) {
	bound, err := b.bind(e)
	if err != nil {
		return nil, err
	}
	return b.truth(bound, e.At())
}

// truth makes a boolean of a bound expression.
func (b *binder) truth(e Expr, at parse.Pos) (Expr, error) {
	t := e.Type()
	if t.Kind == protocol.KindBoolean {
		return e, nil
	}
	if t.Kind == protocol.KindVoid {
		return fromVoid(e, tBoolean), nil
	}
	if b.ctx.Dialect == MySQL && !isNested(t) {
		n, err := b.mysqlNumber(e, at)
		if err != nil {
			return nil, err
		}
		zero, err := convert(intLiteral(0), n.Type(), b.ctx, false)
		if err != nil {
			return nil, placed(err, at)
		}
		return &Compare{Typed{tBoolean, e.Nullable()}, "<>", n, zero}, nil
	}
	if t.Kind == protocol.KindString {
		out, err := convert(e, tBoolean, b.ctx, false)
		return out, placed(err, at)
	}
	return nil, mismatch(at, "UNEXPECTED_INPUT_TYPE", "a condition must be a boolean, not %s", t)
}

func (b *binder) bindSubquery(n *parse.Subquery) (Expr, error) {
	q, err := b.env.Query(n.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) != 1 {
		return nil, fail(n.At(), "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
			"a subquery used as a value must give one column, this one gives %d", len(q.Columns))
	}
	return &Subquery{Typed{q.Columns[0].Type, true}, q}, nil
}

func (b *binder) bindQuantified(n *parse.Quantified) (Expr, error) {
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	q, err := b.env.Query(n.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) != 1 {
		return nil, fail(n.At(), "INVALID_SUBQUERY_EXPRESSION", "the subquery of ANY or ALL must give one column, this one gives %d", len(q.Columns))
	}
	t, ok := comparable2(operand.Type(), q.Columns[0].Type, b.ctx)
	if !ok {
		return nil, mismatch(n.At(), "BINARY_OP_DIFF_TYPES", "%s and %s cannot be compared", operand.Type(), q.Columns[0].Type)
	}
	if operand, err = convert(operand, t, b.ctx, false); err != nil {
		return nil, placed(err, n.At())
	}
	if q, err = castColumns(q, []protocol.DataType{t}, b); err != nil {
		return nil, placed(err, n.At())
	}
	return &Quantified{Typed{tBoolean, true}, n.Op, n.All, operand, q}, nil
}

// castColumns wraps a query so that its columns have the types asked for.
func castColumns(q *Query, types []protocol.DataType, b *binder) (*Query, error) {
	same := true
	for i, t := range types {
		same = same && q.Columns[i].Type.Equal(t)
	}
	if same {
		return q, nil
	}
	rel := b.env.NewRelation(RelQuery, "")
	rel.Query = q
	rel.Columns = append([]OutputColumn(nil), q.Columns...)
	items := make([]Expr, len(types))
	columns := make([]OutputColumn, len(types))
	for i, t := range types {
		var err error
		if items[i], err = convert(&Column{Typed{q.Columns[i].Type, q.Columns[i].Nullable}, rel, i}, t, b.ctx, false); err != nil {
			return nil, err
		}
		columns[i] = q.Columns[i]
		columns[i].Type = t
	}
	return &Query{Body: &Select{Items: items, Visible: len(items), From: rel}, Columns: columns, Output: &Relation{ID: rel.ID, Kind: RelQuery, Columns: columns}}, nil
}

func (b *binder) bindTuple(n *parse.Tuple) (Expr, error) {
	if len(n.Items) == 1 {
		return b.bind(n.Items[0])
	}
	items := make([]Expr, len(n.Items))
	for i, item := range n.Items {
		var err error
		if items[i], err = b.bind(item); err != nil {
			return nil, err
		}
	}
	names := make([]string, len(items))
	for i := range items {
		names[i] = fmt.Sprintf("col%d", i+1)
	}
	return structOf(names, items), nil
}

func (b *binder) bindAssign(n *parse.Assign) (Expr, error) {
	e, err := b.bind(n.Value)
	if err != nil {
		return nil, err
	}
	l, ok := e.(*Literal)
	if !ok || b.ctx.Assign == nil {
		return nil, notSupported(n.At(), "@%s := takes a constant only", n.Variable).WithHint("use SET @%s = (SELECT ...) before the statement", n.Variable)
	}
	b.ctx.Assign(n.Variable, l.Value)
	return l, nil
}

// collations that compare by code point, and those that compare without case, under their Delta and MySQL names.
var (
	binaryCollation = map[string]bool{"utf8_binary": true, "utf8mb4_bin": true, "utf8_bin": true, "binary": true, "utf8mb4_nopad_bin": true, "utf8mb4_0900_bin": true}
	foldCollation   = map[string]string{
		"utf8_lcase": "lower({0})", "utf8mb4_general_ci": "lower({0})", "utf8_general_ci": "lower({0})",
		"unicode_ci": "lower({0})", "unicode_ci_ai": "lower(strip_accents({0}))", "unicode_ai": "strip_accents({0})",
		"utf8mb4_0900_ai_ci": "lower(strip_accents({0}))", "utf8mb4_unicode_ci": "lower(strip_accents({0}))", "utf8mb4_0900_as_ci": "lower({0})",
	}
)

// bindCollate marks a string's collation in its type; comparisons fold both sides by it (see collated).
func (b *binder) bindCollate(n *parse.Collate) (Expr, error) {
	e, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	if e.Type().Kind != protocol.KindString {
		return nil, mismatch(n.At(), "UNEXPECTED_INPUT_TYPE", "COLLATE takes a string, not %s", e.Type())
	}
	name := n.Collation[len(n.Collation)-1].Name
	key := strings.ToLower(name)
	t := e.Type()
	switch {
	case binaryCollation[key]:
		t.Collation = ""
	case foldCollation[key] != "" || key == "unicode":
		t.Collation = name
	default:
		return nil, fail(n.At(), "COLLATION_INVALID_NAME", "the collation %s is not known", name)
	}
	return &Raw{Typed: Typed{t, e.Nullable()}, SQL: "{0}", Args: []Expr{e}}, nil
}

// collated gives a string's comparison key under a collation; "" is the comparison by code point.
func collated(e Expr, collation string) Expr {
	if fold, ok := foldCollation[strings.ToLower(collation)]; ok {
		return rawOf(tString, fold, e)
	}
	return e
}

// rawOf makes a scalar fragment that is NULL only where an operand is.
func rawOf(t protocol.DataType, sql string, args ...Expr) *Raw {
	return &Raw{Typed: Typed{t, anyNullable(args)}, SQL: sql, Args: args}
}

// rawNull makes a scalar fragment that may be NULL whatever its operands are.
func rawNull(t protocol.DataType, sql string, args ...Expr) *Raw {
	return &Raw{Typed: Typed{t, true}, SQL: sql, Args: args}
}

func anyNullable(args []Expr) bool {
	for _, a := range args {
		if a != nil && a.Nullable() {
			return true
		}
	}
	return false
}
