package expr

import (
	"fmt"

	"deltasql/protocol"
)

// mathFunctions: those of doubles are DuckDB's, with the checks that Spark makes (a logarithm of zero is NULL, a root of a
// negative number NaN).
var mathFunctions = []*function{
	custom("abs", inBoth, "any", abs),
	custom("sign signum", inSpark, "number", func(c *call) (Expr, error) { return c.doubles("CAST(sign({0}) AS DOUBLE)") }),
	custom("ceil ceiling", inSpark, "number [int]", whole("ceil")),
	custom("floor", inSpark, "number [int]", whole("floor")),
	custom("round", inSpark, "number [int]", round),
	custom("bround", inSpark, "number [int]", bround),
	custom("mod", inSpark, "any any", func(c *call) (Expr, error) { return c.arithmetic("%", c.args[0], c.args[1], c.at) }),
	custom("pmod", inSpark, "number number", pmod),
	custom("positive", inBoth, "any", func(c *call) (Expr, error) { return c.args[0], nil }),
	custom("negative", inBoth, "any", func(c *call) (Expr, error) { return negate(c.args[0], c.at) }),
	custom("div", inSpark, "any any", func(c *call) (Expr, error) { return c.arithmetic("DIV", c.args[0], c.args[1], c.at) }),
	fn("sqrt", inSpark, "double", asDouble, "CASE WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE sqrt({0}) END").total(),
	fn("cbrt", inBoth, "double", asDouble, "cbrt({0})").total(),
	fn("exp", inSpark, "double", asDouble, "exp({0})").total(),
	fn("expm1", inBoth, "double", asDouble, "(exp({0}) - 1)").total(),
	fn("ln", inSpark, "double", asDouble, "CASE WHEN {0} > 0 THEN ln({0}) END"),
	fn("log", inSpark, "double [double]", asDouble, "CASE WHEN {0} > 0 THEN ln({0}) END", "CASE WHEN {0} > 0 AND {1} > 0 THEN real_quotient(ln({1}), ln({0})) END"),
	fn("log10", inSpark, "double", asDouble, "CASE WHEN {0} > 0 THEN log10({0}) END"),
	fn("log2", inSpark, "double", asDouble, "CASE WHEN {0} > 0 THEN log2({0}) END"),
	fn("log1p", inBoth, "double", asDouble, "CASE WHEN {0} > -1 THEN ln(1 + {0}) END"),
	fn("pow power", inSpark, "double double", asDouble, "pow({0}, {1})").total(),
	fn("sin", inBoth, "double", asDouble, "sin({0})").total(),
	fn("cos", inBoth, "double", asDouble, "cos({0})").total(),
	fn("tan", inBoth, "double", asDouble, "tan({0})").total(),
	fn("cot", inBoth, "double", asDouble, "real_quotient(1, tan({0}))").total(),
	fn("sec", inSpark, "double", asDouble, "real_quotient(1, cos({0}))").total(),
	fn("csc", inSpark, "double", asDouble, "real_quotient(1, sin({0}))").total(),
	fn("asin", inSpark, "double", asDouble, "CASE WHEN abs({0}) > 1 THEN CAST('NaN' AS DOUBLE) ELSE asin({0}) END").total(),
	fn("acos", inSpark, "double", asDouble, "CASE WHEN abs({0}) > 1 THEN CAST('NaN' AS DOUBLE) ELSE acos({0}) END").total(),
	fn("atan", inSpark, "double", asDouble, "atan({0})").total(),
	fn("atan2", inBoth, "double double", asDouble, "atan2({0}, {1})").total(),
	fn("sinh", inBoth, "double", asDouble, "sinh({0})").total(),
	fn("cosh", inBoth, "double", asDouble, "cosh({0})").total(),
	fn("tanh", inBoth, "double", asDouble, "tanh({0})").total(),
	fn("asinh", inBoth, "double", asDouble, "asinh({0})").total(),
	fn("acosh", inBoth, "double", asDouble, "CASE WHEN {0} < 1 THEN CAST('NaN' AS DOUBLE) ELSE acosh({0}) END").total(),
	fn("atanh", inBoth, "double", asDouble, "CASE WHEN abs({0}) < 1 THEN atanh({0}) ELSE CAST('NaN' AS DOUBLE) END").total(),
	fn("hypot", inBoth, "double double", asDouble, "sqrt({0} * {0} + {1} * {1})").total(),
	fn("rint", inBoth, "double", asDouble, "round_even({0}, 0)").total(),
	fn("degrees", inBoth, "double", asDouble, "degrees({0})").total(),
	fn("radians", inBoth, "double", asDouble, "radians({0})").total(),
	fn("pi", inBoth, "", asDouble, "pi()").total(),
	fn("e", inBoth, "", asDouble, "exp(1)").total(),
	fn("factorial", inBoth, "int", asLong, "CASE WHEN {0} BETWEEN 0 AND 20 THEN CAST(factorial({0}) AS BIGINT) END"),
	fn("bin", inBoth, "bigint", asString, "bin({0})").total(),
	fn("conv", inSpark, "string int int", asString, "my_conv({0}, {1}, {2})"),
	custom("rand random", inSpark, "[bigint]", random("random()")),
	custom("randn", inSpark, "[bigint]", random("(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))")),
	fn("isnan", inBoth, "double", asBoolean, "coalesce(isnan({0}), false)").total(),
	fn("width_bucket", inSpark, "double double double bigint", asLong, "number_bucket({0}, {1}, {2}, {3})"),
	custom("bit_count", inSpark, "any", bitCount),
	fn("bit_get getbit", inSpark, "bigint int", fixed(tByte), "CAST(({0} >> {1}) & 1 AS TINYINT)").total(),
	custom("shiftleft", inSpark, "any int", shift("left")),
	custom("shiftright", inSpark, "any int", shift("right")),
	custom("shiftrightunsigned", inSpark, "any int", shift("unsigned")),
	custom("try_add", inSpark, "any any", try("+")),
	custom("try_subtract", inSpark, "any any", try("-")),
	custom("try_multiply", inSpark, "any any", try("*")),
	custom("try_divide", inSpark, "any any", try("/")),
	custom("try_mod", inSpark, "any any", try("%")),
	custom("uniform", inSpark, "number number [bigint]", uniform),
}

func (c *call) doubles(sql string) (Expr, error) {
	e, err := convert(c.args[0], tDouble, c.ctx, false)
	return rawOf(tDouble, sql, e), placed(err, c.at)
}

func abs(c *call) (Expr, error) {
	e := c.args[0]
	if isInterval(e.Type()) {
		return rawOf(e.Type(), "CASE WHEN {0} < INTERVAL '0' DAY THEN -{0} ELSE {0} END", e), nil
	}
	n, err := c.accept(e, "number")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "abs takes a number or an interval, not %s", e.Type())
	}
	if isInexact(e) {
		n = e
	}
	return throughout([]Expr{n}, func(list []Expr) (Expr, error) { return rawOf(list[0].Type(), "abs({0})", list[0]), nil })
}

// whole is ceil and floor: bigint of a double, decimal(p-s+1, 0) of a decimal.
func whole(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e := c.args[0]
		t := e.Type()
		if len(c.args) == 2 {
			return c.wholeAt(name)
		}
		switch {
		case isIntegral(t):
			return convert(e, tLong, c.ctx, false)
		case t.Kind == protocol.KindDecimal:
			return castTo(bounded(t.Precision-t.Scale+1, 0), name+"({0})", e), nil
		}
		return rawOf(tLong, "CAST("+name+"({0}) AS BIGINT)", e), nil
	}
}

func (c *call) wholeAt(name string) (Expr, error) {
	digits, ok := constantInt(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the second argument of %s must be a constant", name)
	}
	e, err := convert(c.args[0], decimalFor(c.args[0]), c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	t := roundedType(e.Type(), int(digits))
	unit := fmt.Sprintf("CAST(1e%d AS DECIMAL(%d,%d))", -digits, maxPrecision, max(int(digits), 0))
	return castTo(t, fmt.Sprintf("%s({0} / %s) * %s", name, unit, unit), e), nil
}

// decimalFor is a decimal that holds a number's values; a double gets the digits a decimal can keep of it.
func decimalFor(e Expr) protocol.DataType {
	switch t := e.Type(); {
	case t.Kind == protocol.KindDecimal:
		return t
	case isIntegral(t):
		return integerDecimal(t)
	}
	return decimalOf(30, 15)
}

// roundedType is the type of a decimal rounded to a number of digits behind the point.
func roundedType(t protocol.DataType, digits int) protocol.DataType {
	whole := t.Precision - t.Scale + 1
	if digits < 0 {
		return bounded(max(whole, -digits+1), 0)
	}
	scale := min(t.Scale, digits)
	return bounded(whole+scale, scale)
}

// round rounds half away from zero, in decimal for decimals; a double is rounded by the digits it shows, as Spark does.
func round(c *call) (Expr, error) { return c.rounded("round", "round") }

// bround rounds half to even.
func bround(c *call) (Expr, error) { return c.rounded("decimal_round_even", "round_even") }

// rounded rounds the first argument by exact for decimals and integers, and by float for the rest.
func (c *call) rounded(exact, float string) (Expr, error) {
	digits, err := c.digits()
	if err != nil {
		return nil, err
	}
	e := c.args[0]
	t := e.Type()
	switch {
	case t.Kind == protocol.KindDecimal:
		return castTo(roundedType(t, digits), fmt.Sprintf("%s({0}, %d)", exact, digits), e), nil
	case isIntegral(t) && digits >= 0:
		return e, nil
	case isIntegral(t):
		return castTo(t, fmt.Sprintf("%s(CAST({0} AS DECIMAL(20,0)), %d)", exact, digits), e), nil
	}
	return castTo(t, fmt.Sprintf("%s({0}, %d)", float, digits), e), nil
}

func (c *call) digits() (int, error) {
	if len(c.args) == 1 {
		return 0, nil
	}
	n, ok := constantInt(c.args[1])
	if !ok {
		return 0, mismatch(c.at, "NON_FOLDABLE_INPUT", "the number of digits of %s must be a constant", c.name)
	}
	return int(max(min(n, maxPrecision), -maxPrecision)), nil
}

// pmod is the remainder with the sign of the divisor.
func pmod(c *call) (Expr, error) {
	left, right := c.args[0], c.args[1]
	remainder, err := c.arithmetic("%", left, right, c.at)
	if err != nil {
		return nil, err
	}
	t := remainder.Type()
	divisor, err := convert(right, t, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	return castTo(t, "CASE WHEN {0} < 0 THEN ({0} + {1}) % {1} ELSE {0} END", remainder, divisor), nil
}

// random refuses a seed: DuckDB's generator cannot be seeded for one call.
func random(sql string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if len(c.args) > 0 {
			return nil, notSupported(c.at, "%s with a seed is not supported", c.name)
		}
		return &Raw{Typed: Typed{tDouble, false}, SQL: sql, Volatile: true}, nil
	}
}

func uniform(c *call) (Expr, error) {
	if len(c.args) > 2 {
		return nil, notSupported(c.at, "uniform with a seed is not supported")
	}
	t := commonNumber(c.args[0].Type(), c.args[1].Type(), c.ctx)
	return &Raw{Typed: Typed{t, anyNullable(c.args)}, SQL: "CAST({0} + random() * ({1} - {0}) AS " + DuckType(t) + ")", Args: c.args, Volatile: true}, nil
}

func bitCount(c *call) (Expr, error) {
	t := c.args[0].Type()
	if t.Kind == protocol.KindBoolean {
		return rawOf(tInt, "CAST({0} AS INTEGER)", c.args...), nil
	}
	if !isIntegral(t) {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "bit_count takes an integer or a boolean, not %s", t)
	}
	e, err := convert(c.args[0], tLong, c.ctx, false) // Java counts the bits of the widened value
	return rawOf(tInt, "CAST(bit_count({0}) AS INTEGER)", e), placed(err, c.at)
}

// shift moves the bits of an int or a bigint; the distance counts modulo the width, as in Java.
func shift(direction string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		t := c.args[0].Type()
		if !isIntegral(t) {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes an integer, not %s", c.name, t)
		}
		if t.Kind != protocol.KindLong {
			t = tInt
		}
		e, err := convert(c.args[0], t, c.ctx, false)
		if err != nil {
			return nil, placed(err, c.at)
		}
		name := map[protocol.Kind]string{protocol.KindInteger: "int", protocol.KindLong: "bigint"}[t.Kind]
		return rawOf(t, "CAST(shift_"+direction+"_"+name+"({0}, {1}) AS "+DuckType(t)+")", e, c.args[1]), nil
	}
}

// try is arithmetic that gives NULL where the plain operator fails.
func try(op string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		left, right := c.args[0], c.args[1]
		if c.ctx.Dialect == MySQL { // the functions are Spark's, and MySQL's operators have checks that TRY cannot hold
			ctx := *c.ctx
			ctx.Dialect = Spark
			c = &call{binder: &binder{env: c.env, ctx: &ctx}, at: c.at, name: c.name, f: c.f, node: c.node, args: c.args}
		}
		if (op == "+" || op == "-") && isDatetime(left.Type()) || (op == "+" || op == "-") && (isInterval(left.Type()) || isInterval(right.Type()) || isDatetime(right.Type())) {
			e, err := c.datetimeArithmetic(op, left, right, false, c.at)
			if err != nil {
				return nil, err
			}
			return rawNull(e.Type(), "TRY({0})", e), nil
		}
		if op == "/" || op == "%" {
			// A NULL divisor gives NULL where a zero would fail; a constant non-zero divisor needs no guard inside.
			return c.tryDivide(op, left, right)
		}
		e, err := c.arithmetic(op, left, right, c.at)
		if err != nil {
			return nil, err
		}
		return rawNull(e.Type(), "TRY({0})", e), nil
	}
}

func (c *call) tryDivide(op string, left, right Expr) (Expr, error) {
	e, err := c.arithmetic(op, left, right, c.at)
	if err != nil {
		return nil, err
	}
	r, ok := e.(*Raw)
	if !ok || len(r.Args) != 2 {
		return e, nil
	}
	return &Raw{Typed: Typed{r.Of, true}, SQL: withoutFailure(r.SQL), Args: r.Args}, nil
}
