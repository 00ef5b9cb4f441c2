package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

func (b *binder) bindUnary(n *parse.Unary) (Expr, error) {
	if l, ok := n.Operand.(*parse.Literal); ok && n.Op == "-" && (l.Kind == parse.IntegerLiteral || l.Kind == parse.DecimalLiteral || l.Kind == parse.DoubleLiteral) {
		return b.bindLiteral(l, true)
	}
	if n.Op == "NOT" || n.Op == "!" {
		e, err := b.condition(n.Operand)
		if err != nil {
			return nil, err
		}
		return &Not{Typed{tBoolean, e.Nullable()}, e}, nil
	}
	e, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	if b.ctx.Dialect == MySQL {
		return b.mysqlUnary(n, e)
	}
	if e.Type().Kind == protocol.KindString {
		if e, err = convert(e, tDouble, b.ctx, false); err != nil {
			return nil, placed(err, n.At())
		}
	}
	t := e.Type()
	if t.Kind == protocol.KindVoid {
		return fromVoid(e, tInt), nil
	}
	switch n.Op {
	case "~":
		if !isIntegral(t) {
			return nil, mismatch(n.At(), "UNEXPECTED_INPUT_TYPE", "~ takes an integer, not %s", t)
		}
		return rawOf(t, "~{0}", e), nil
	case "+":
		if !isNumeric(t) && !isInterval(t) {
			return nil, mismatch(n.At(), "UNEXPECTED_INPUT_TYPE", "+ takes a number, not %s", t)
		}
		return e, nil
	}
	return negate(e, n.At())
}

func negate(e Expr, at parse.Pos) (Expr, error) {
	t := e.Type()
	switch {
	case isIntegral(t): // 0 - x overflows where -x would silently widen
		return rawOf(t, "(CAST(0 AS "+DuckType(t)+") - {0})", e), nil
	case isNumeric(t), isInterval(t):
		return rawOf(t, "(-{0})", e), nil
	}
	return nil, mismatch(at, "UNEXPECTED_INPUT_TYPE", "- takes a number or an interval, not %s", t)
}

func (b *binder) bindBinary(n *parse.Binary) (Expr, error) {
	switch n.Op {
	case "AND", "OR", "XOR":
		return b.bindLogic(n.Op, n)
	case "&&":
		return b.bindLogic("AND", n)
	case "||":
		if b.ctx.Dialect == MySQL && !b.ctx.PipesAsConcat {
			return b.bindLogic("OR", n)
		}
		return b.callOf("concat", n.At(), n.Left, n.Right)
	case "=", "<>", "<", "<=", ">", ">=":
		return b.bindComparison(n.Op, n.Left, n.Right, n.At())
	case "<=>":
		return b.bindComparison("IS NOT DISTINCT FROM", n.Left, n.Right, n.At())
	}
	if n.Op == "+" || n.Op == "-" {
		if e, done, err := b.mysqlDateInterval(n); done || err != nil {
			return e, err
		}
	}
	left, err := b.bind(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.bind(n.Right)
	if err != nil {
		return nil, err
	}
	at := n.At()
	switch n.Op {
	case "+", "-":
		if isDatetime(left.Type()) || isDatetime(right.Type()) || isInterval(left.Type()) || isInterval(right.Type()) {
			if b.ctx.Dialect == Spark || isInterval(right.Type()) {
				return b.datetimeArithmetic(n.Op, left, right, dayOnly(n.Left) || dayOnly(n.Right), at)
			}
		}
	case "*", "/":
		if isInterval(left.Type()) || isInterval(right.Type()) {
			return b.scaleInterval(n.Op, left, right, at)
		}
	}
	return b.arithmetic(n.Op, left, right, at)
}

func (b *binder) bindLogic(op string, n *parse.Binary) (Expr, error) {
	left, err := b.condition(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.condition(n.Right)
	if err != nil {
		return nil, err
	}
	null := left.Nullable() || right.Nullable()
	if op == "XOR" {
		return &Compare{Typed{tBoolean, null}, "<>", left, right}, nil
	}
	return &Logic{Typed{tBoolean, null}, op == "OR", flattened(op == "OR", left, right)}, nil
}

// flattened joins chains of one connective, so that a long conjunction is one node.
func flattened(or bool, operands ...Expr) []Expr {
	var out []Expr
	for _, e := range operands {
		if l, ok := e.(*Logic); ok && l.Or == or {
			out = append(out, l.Operands...)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// arithmetic is + - * / % DIV and the bit operators over bound operands.
func (b *binder) arithmetic(op string, left, right Expr, at parse.Pos) (Expr, error) {
	if op == "MOD" {
		op = "%"
	}
	switch op {
	case "&", "|", "^", "<<", ">>", ">>>":
		return b.bits(op, left, right, at)
	}
	if b.ctx.Dialect == MySQL {
		return b.mysqlArithmetic(op, left, right, at)
	}
	left, right, err := b.numbers(op, left, right, at)
	if err != nil {
		return nil, err
	}
	if left.Type().Kind == protocol.KindVoid {
		left, right = fromVoid(left, tInt), fromVoid(right, tInt)
	}
	lt, rt := left.Type(), right.Type()
	switch {
	case op == "DIV":
		return b.integralDivide(left, right, at)
	case lt.Kind == protocol.KindDecimal || rt.Kind == protocol.KindDecimal:
		if !isFloating(lt) && !isFloating(rt) {
			return b.decimals(op, left, right, at)
		}
	}
	t := commonNumber(lt, rt, b.ctx)
	if op == "/" {
		t = tDouble
	}
	if left, err = convert(left, t, b.ctx, false); err != nil {
		return nil, placed(err, at)
	}
	if right, err = convert(right, t, b.ctx, false); err != nil {
		return nil, placed(err, at)
	}
	switch op {
	case "/":
		return guarded(t, "{0} / {1}", divideByZeroSQL, left, right), nil
	case "%":
		return guarded(t, "{0} % {1}", remainderByZeroSQL, left, right), nil
	}
	return rawOf(t, "({0} "+op+" {1})", left, right), nil
}

// guarded is a quotient that fails on a zero divisor; a constant divisor needs no guard.
func guarded(t protocol.DataType, quotient, failure string, left, right Expr) Expr {
	if l, ok := asLiteral(right); ok && !isZero(l) {
		return rawOf(t, "("+quotient+")", left, right)
	}
	return rawOf(t, guard(left, right, failure, quotient), left, right)
}

// guard fails on a zero divisor where the dividend is not NULL. Both operands are printed twice; where that would double a text
// that is long already, they are bound to the parameter of a lambda over one element instead.
func guard(left, right Expr, failure, quotient string) string {
	sql := "CASE WHEN {1} = 0 AND {0} IS NOT NULL THEN " + failure + " ELSE " + quotient + " END"
	if printedSize(left)+printedSize(right) < 64 {
		return sql
	}
	inner := strings.NewReplacer("{0}", "pair.l", "{1}", "pair.r").Replace(sql)
	return "list_transform([struct_pack(l := {0}, r := {1})], lambda pair: " + inner + ")[1]"
}

// printedSize estimates how many nodes an expression is when printed, operands that a template repeats counted each time. It
// stops counting at some thousands.
func printedSize(e Expr) int {
	const enough = 4096
	total := 1
	if r, ok := e.(*Raw); ok {
		for i, a := range r.Args {
			if total += strings.Count(r.SQL, operand(i)) * printedSize(a); total > enough {
				return enough
			}
		}
		return total
	}
	Children(e, func(c Expr) {
		if total < enough {
			total += printedSize(c)
		}
	})
	return total
}

// withoutFailure makes the guard of a quotient give NULL instead of failing.
func withoutFailure(sql string) string {
	for _, failure := range []string{divideByZeroSQL, remainderByZeroSQL} {
		sql = strings.Replace(sql, failure, "NULL", 1)
	}
	return sql
}

func isZero(l *Literal) bool {
	switch {
	case isFloating(l.Of):
		return l.Value.Float == 0
	case l.Of.Kind == protocol.KindDecimal:
		return l.Value.Dec.Sign() == 0
	}
	return l.Value.Int == 0
}

// numbers makes both operands numeric: text beside an integer is a bigint, beside anything else a double.
func (b *binder) numbers(op string, left, right Expr, at parse.Pos) (Expr, Expr, error) {
	one := func(e, other Expr) (Expr, error) {
		t := e.Type()
		switch {
		case isNumeric(t):
			return e, nil
		case t.Kind == protocol.KindVoid:
			if isNumeric(other.Type()) {
				return fromVoid(e, other.Type()), nil
			}
			return e, nil
		case t.Kind == protocol.KindString:
			if isIntegral(other.Type()) && op != "/" {
				return convert(e, tLong, b.ctx, false)
			}
			return convert(e, tDouble, b.ctx, false)
		}
		if isNumeric(other.Type()) || other.Type().Kind == protocol.KindString {
			return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "%s cannot join %s and %s", op, left.Type(), right.Type())
		}
		return nil, mismatch(at, "BINARY_OP_WRONG_TYPE", "%s takes numbers, not %s", op, t)
	}
	l, err := one(left, right)
	if err != nil {
		return nil, nil, placed(err, at)
	}
	r, err := one(right, left)
	if err != nil {
		return nil, nil, placed(err, at)
	}
	if l.Type().Kind == protocol.KindVoid && r.Type().Kind != protocol.KindVoid {
		l = fromVoid(l, r.Type())
	}
	return l, r, nil
}

func (b *binder) integralDivide(left, right Expr, at parse.Pos) (Expr, error) {
	sql := "{0} // {1}"
	for _, e := range []*Expr{&left, &right} {
		t := (*e).Type()
		if t.Kind == protocol.KindDecimal || isFloating(t) {
			sql = "trunc({0} / {1})"
			continue
		}
		widened, err := convert(*e, tLong, b.ctx, false)
		if err != nil {
			return nil, placed(err, at)
		}
		*e = widened
	}
	if sql != "{0} // {1}" {
		if isFloating(left.Type()) || isFloating(right.Type()) {
			return nil, mismatch(at, "BINARY_OP_WRONG_TYPE", "DIV takes integers, decimals and intervals, not %s and %s", left.Type(), right.Type())
		}
		q, err := b.decimals("DIV", left, right, at)
		if err != nil {
			return nil, err
		}
		return q, nil
	}
	return guarded(tLong, sql, divideByZeroSQL, left, right), nil
}

// decimals is decimal arithmetic with Spark's rules for precision and scale.
func (b *binder) decimals(op string, left, right Expr, at parse.Pos) (Expr, error) {
	lt, rt := decimalView(left), decimalView(right)
	left, err := convert(left, lt, b.ctx, false)
	if err != nil {
		return nil, placed(err, at)
	}
	if right, err = convert(right, rt, b.ctx, false); err != nil {
		return nil, placed(err, at)
	}
	p1, s1, p2, s2 := lt.Precision, lt.Scale, rt.Precision, rt.Scale
	switch op {
	case "+", "-":
		scale := max(s1, s2)
		return b.naturalDecimal(op, adjusted(max(p1-s1, p2-s2)+scale+1, scale), left, right)
	case "*":
		if s1+s2 > maxPrecision {
			return nil, fail(at, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "the product of %s and %s needs scale %d, beyond %d", lt, rt, s1+s2, maxPrecision).
				WithHint("cast an operand to a smaller scale or to double")
		}
		return b.naturalDecimal(op, adjusted(p1+p2+1, s1+s2), left, right)
	case "%":
		scale := max(s1, s2)
		t, wide := adjusted(min(p1-s1, p2-s2)+scale, scale), widerDecimal(lt, rt)
		for _, e := range []*Expr{&left, &right} {
			if *e, err = convert(*e, wide, b.ctx, false); err != nil {
				return nil, placed(err, at)
			}
		}
		return castGuarded(t, "{0} % {1}", remainderByZeroSQL, left, right), nil
	case "DIV":
		return guardedDecimal(tLong, 0, lt, rt, left, right, true), nil
	}
	whole := p1 - s1 + s2
	scale := max(6, s1+p2+1)
	t := adjusted(whole+scale, scale)
	return guardedDecimal(t, t.Scale, lt, rt, left, right, false), nil
}

// naturalDecimal adds or multiplies decimals at the type DuckDB chooses, and widens the result to Spark's type above that.
// An operand that is such a widened result is taken without its cast, so that a chain of products stays in 64 bits as
// DuckDB's own would; where a product does not fit it DuckDB fails, and the engine runs the statement again with
// Context.WideDecimals, which computes in 128 bits.
func (b *binder) naturalDecimal(op string, t protocol.DataType, left, right Expr) (Expr, error) {
	if b.ctx.WideDecimals {
		for _, e := range []*Expr{&left, &right} {
			if own := (*e).Type(); own.Precision <= 18 {
				var err error
				if *e, err = convert(*e, decimalOf(19, own.Scale), b.ctx, false); err != nil {
					return nil, err
				}
			}
		}
	} else {
		left, right = unwidened(left), unwidened(right)
	}
	lt, rt := left.Type(), right.Type()
	natural := decimalOf(min(maxPrecision, lt.Precision+rt.Precision), lt.Scale+rt.Scale)
	if op != "*" {
		scale := max(lt.Scale, rt.Scale)
		natural = decimalOf(min(maxPrecision, max(lt.Precision-lt.Scale, rt.Precision-rt.Scale)+scale+1), scale)
	} else if natural.Precision > 18 && natural.Scale < 18 && lt.Precision <= 18 && rt.Precision <= 18 {
		natural.Precision = 18
	}
	out := rawOf(natural, "({0} "+op+" {1})", left, right)
	if natural.Equal(t) {
		return out, nil
	}
	return &Cast{Typed: Typed{t, out.Null}, Operand: out}, nil
}

// unwidened takes the cast off a decimal that naturalDecimal widened.
func unwidened(e Expr) Expr {
	c, ok := e.(*Cast)
	if !ok || c.Try || c.Of.Kind != protocol.KindDecimal {
		return e
	}
	inner := c.Operand.Type()
	if _, computed := c.Operand.(*Raw); computed && inner.Kind == protocol.KindDecimal && inner.Scale == c.Of.Scale && inner.Precision <= c.Of.Precision {
		return c.Operand
	}
	return e
}

func castTo(t protocol.DataType, sql string, args ...Expr) Expr {
	return rawOf(t, "CAST("+sql+" AS "+DuckType(t)+")", args...)
}

func castGuarded(t protocol.DataType, quotient, failure string, left, right Expr) Expr {
	return guarded(t, "CAST("+quotient+" AS "+DuckType(t)+")", failure, left, right)
}

// guardedDecimal divides exactly: both operands are brought to whole numbers, divided, and rounded half up at the scale of the
// result (or truncated). DuckDB's own division of decimals is a double, which has 15 digits only.
func guardedDecimal(t protocol.DataType, scale int, lt, rt protocol.DataType, left, right Expr, truncate bool) Expr {
	sql := decimalQuotient(t, scale, lt, rt, truncate)
	if l, ok := asLiteral(right); ok && !isZero(l) {
		return rawOf(t, sql, left, right)
	}
	return rawOf(t, guard(left, right, divideByZeroSQL, sql), left, right)
}

// decimalQuotient is the text of {0} / {1} at a scale, rounded half up or cut, for operands of two decimal types; a NULL or zero divisor
// gives NULL.
func decimalQuotient(t protocol.DataType, scale int, lt, rt protocol.DataType, truncate bool) string {
	more := max(0, lt.Scale-scale-rt.Scale) // digits both sides need on top, so that the numerator is whole
	up, down := scale+rt.Scale+more, rt.Scale+more
	whole := "HUGEINT"
	if max(lt.Precision-lt.Scale+up, rt.Precision-rt.Scale+down) <= 18 {
		whole = "BIGINT"
	}
	numerator := scaledUp("{0}", lt, up, whole)
	divisor := scaledUp("{1}", rt, down, whole)
	quotient := "decimal_quotient(" + numerator + ", nullif(" + divisor + ", 0))"
	if truncate {
		quotient = numerator + " // nullif(" + divisor + ", 0)"
	}
	if scale == 0 {
		return "CAST(" + quotient + " AS " + DuckType(t) + ")"
	}
	precision := 38
	if whole == "BIGINT" {
		precision = 18
	}
	unit := fmt.Sprintf("CAST('0.%s1' AS DECIMAL(%d,%d))", strings.Repeat("0", scale-1), scale, scale)
	return fmt.Sprintf("CAST(CAST(%s AS DECIMAL(%d,0)) * %s AS %s)", quotient, precision, unit, DuckType(t))
}

// scaledUp is x * 10^digits as a whole number.
func scaledUp(x string, t protocol.DataType, digits int, whole string) string {
	if digits == 0 {
		return "CAST(" + x + " AS " + whole + ")"
	}
	precision := t.Precision
	if whole == "HUGEINT" || t.Precision+digits > 18 { // DuckDB multiplies narrow decimals in 64 bits
		precision = maxPrecision
	}
	if t.Scale == 0 {
		return fmt.Sprintf("(CAST(%s AS %s) * 1%s)", x, whole, strings.Repeat("0", digits))
	}
	behind := "" // what does not fit into a decimal's digits together with the scale is multiplied as a whole number
	if t.Precision+digits > maxPrecision && digits > t.Scale {
		behind, digits = " * CAST('1"+strings.Repeat("0", digits-t.Scale)+"' AS HUGEINT)", t.Scale
	}
	scaled := fmt.Sprintf("CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST('1%s' AS DECIMAL(%d,0)) AS %s)", x, precision, t.Scale, strings.Repeat("0", digits), digits+1, whole)
	if behind != "" {
		return "(" + scaled + behind + ")"
	}
	return scaled
}

func (b *binder) bits(op string, left, right Expr, at parse.Pos) (Expr, error) {
	if b.ctx.Dialect == MySQL {
		return b.mysqlBits(op, left, right, at)
	}
	lt, rt := left.Type(), right.Type()
	if lt.Kind == protocol.KindVoid && rt.Kind == protocol.KindVoid {
		left, right = fromVoid(left, tInt), fromVoid(right, tInt)
	} else if lt.Kind == protocol.KindVoid {
		left = fromVoid(left, rt)
	} else if rt.Kind == protocol.KindVoid {
		right = fromVoid(right, lt)
	}
	lt, rt = left.Type(), right.Type()
	if !isIntegral(lt) || !isIntegral(rt) {
		return nil, mismatch(at, "BINARY_OP_WRONG_TYPE", "%s takes integers, not %s and %s", op, lt, rt)
	}
	if strings.HasPrefix(op, "<<") || strings.HasPrefix(op, ">>") {
		return b.callBound(map[string]string{"<<": "shiftleft", ">>": "shiftright", ">>>": "shiftrightunsigned"}[op], at, left, right)
	}
	t := commonNumber(lt, rt, b.ctx)
	for _, e := range []*Expr{&left, &right} {
		var err error
		if *e, err = convert(*e, t, b.ctx, false); err != nil {
			return nil, placed(err, at)
		}
	}
	if op == "^" {
		return rawOf(t, "xor({0}, {1})", left, right), nil
	}
	return rawOf(t, "({0} "+op+" {1})", left, right), nil
}
