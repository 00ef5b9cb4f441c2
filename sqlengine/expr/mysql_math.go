package expr

import (
	"fmt"

	"deltasql/protocol"
)

// mysqlMathFunctions: exact numbers stay exact (a rounded decimal has the scale asked for), and what has no value is NULL.
var mysqlMathFunctions = []*function{
	custom("sign", inMySQL, "number", func(c *call) (Expr, error) { return castTo(tLong, "sign({0})", c.args...), nil }),
	custom("ceil ceiling", inMySQL, "number", mysqlWhole("ceil")),
	custom("floor", inMySQL, "number", mysqlWhole("floor")),
	custom("round", inMySQL, "number [bigint]", mysqlRound),
	custom("truncate", inBoth, "number bigint", mysqlTruncate),
	custom("mod", inMySQL, "any any", func(c *call) (Expr, error) { return c.arithmetic("%", c.args[0], c.args[1], c.at) }),
	fn("sqrt", inMySQL, "double", asDouble, "CASE WHEN {0} >= 0 THEN sqrt({0}) END"),
	custom("ln", inMySQL, "double", logarithm("ln({0})", "{0} > 0")),
	custom("log10", inMySQL, "double", logarithm("log10({0})", "{0} > 0")),
	custom("log2", inMySQL, "double", logarithm("log2({0})", "{0} > 0")),
	custom("log", inMySQL, "double [double]", func(c *call) (Expr, error) {
		if len(c.args) == 1 {
			return logarithm("ln({0})", "{0} > 0")(c)
		}
		return logarithm("log({0}, {1})", "{0} > 0 AND {0} <> 1 AND {1} > 0")(c)
	}),
	fn("pow power", inMySQL, "double double", asDouble, "my_finite(pow({0}, {1}))").total(),
	fn("exp", inMySQL, "double", asDouble, "my_finite(exp({0}))").total(),
	fn("asin", inMySQL, "double", asDouble, "CASE WHEN abs({0}) <= 1 THEN asin({0}) END"),
	fn("acos", inMySQL, "double", asDouble, "CASE WHEN abs({0}) <= 1 THEN acos({0}) END"),
	fn("atan", inMySQL, "double [double]", asDouble, "atan({0})", "atan2({0}, {1})").total(),
	custom("rand", inMySQL, "[bigint]", random("random()")),
	custom("greatest", inMySQL, "any any+", mysqlExtreme("greatest")),
	custom("least", inMySQL, "any any+", mysqlExtreme("least")),
	custom("bit_count", inMySQL, "any", func(c *call) (Expr, error) {
		u, err := c.unsigned(c.args[0], c.at)
		return castTo(tLong, "bit_count(CAST(wrap_bigint(CAST({0} AS HUGEINT)) AS BIGINT))", u), err
	}),
	custom("interval", inBoth, "any any+", intervalIndex),
}

func mysqlWhole(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e := c.args[0]
		switch t := e.Type(); {
		case isIntegral(t):
			return convert(e, tLong, c.ctx, false)
		case t.Kind == protocol.KindDecimal:
			if t.Precision-t.Scale < 18 {
				return castTo(tLong, name+"({0})", e), nil
			}
			return castTo(bounded(t.Precision-t.Scale+1, 0), name+"({0})", e), nil
		}
		return castTo(tDouble, name+"({0})", e), nil
	}
}

// mysqlRound: integers stay integers, decimals get the scale asked for, doubles round half to even.
func mysqlRound(c *call) (Expr, error) {
	digits, err := c.digits()
	if err != nil {
		return nil, err
	}
	e := c.args[0]
	switch t := e.Type(); {
	case isIntegral(t):
		if digits >= 0 {
			return convert(e, tLong, c.ctx, false)
		}
		return castTo(tLong, fmt.Sprintf("round(CAST({0} AS DECIMAL(20,0)), %d)", digits), e), nil
	case t.Kind == protocol.KindDecimal:
		scale := max(0, min(digits, 30))
		to := bounded(t.Precision-t.Scale+1+scale, scale)
		if digits >= t.Scale {
			to = bounded(t.Precision-t.Scale+scale, scale)
		}
		return castTo(to, fmt.Sprintf("round({0}, %d)", digits), e), nil
	}
	return castTo(tDouble, fmt.Sprintf("my_round_double({0}, %d)", digits), e), nil
}

func mysqlTruncate(c *call) (Expr, error) {
	n, ok := constantInt(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the number of digits of TRUNCATE must be a constant")
	}
	digits := int(max(min(n, 30), -30))
	e := c.args[0]
	switch t := e.Type(); {
	case isIntegral(t):
		if digits >= 0 {
			return convert(e, tLong, c.ctx, false)
		}
		return castTo(tLong, fmt.Sprintf("CAST({0} AS BIGINT) // %d * %d", pow10(min(18, -digits)), pow10(min(18, -digits))), e), nil
	case t.Kind == protocol.KindDecimal:
		scale := max(0, digits)
		to := bounded(t.Precision-t.Scale+scale, scale)
		if digits >= t.Scale {
			return c.mysqlConvert(e, to, c.at)
		}
		if digits < 0 {
			return castTo(to, fmt.Sprintf("CAST(trunc({0}) AS HUGEINT) // %d * %d", pow10(min(18, -digits)), pow10(min(18, -digits))), e), nil
		}
		return castTo(to, fmt.Sprintf("trunc({0}, %d)", digits), e), nil
	}
	return castTo(tDouble, fmt.Sprintf("trunc({0} * 1e%d) / 1e%d", digits, digits), e), nil
}

// mysqlExtreme compares numbers as numbers and everything else as text; NULL if any operand is.
func mysqlExtreme(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if len(c.args) > 1 {
			numbers := true
			for _, a := range c.args {
				t := a.Type()
				numbers = numbers && (isNumeric(t) || isBoolean(t) || t.Kind == protocol.KindVoid)
			}
			for i, a := range c.args {
				if numbers && isIntegral(a.Type()) || isBoolean(a.Type()) {
					wide, err := c.mysqlConvert(a, tLong, c.at)
					if err != nil {
						return nil, err
					}
					c.args[i] = wide
				}
			}
		}
		for _, a := range c.args {
			if isNullLiteral(a) {
				_, t, err := c.unified(c.args, c.at)
				return Null(t), err
			}
		}
		return extreme(name)(c)
	}
}

func isBoolean(t protocol.DataType) bool { return t.Kind == protocol.KindBoolean }

// intervalIndex is INTERVAL(n, a, b, ...): how many of the ascending numbers are not above n, -1 for NULL.
func intervalIndex(c *call) (Expr, error) {
	args := make([]Expr, len(c.args))
	for i, a := range c.args {
		n, err := c.mysqlNumber(a, c.at)
		if err != nil {
			return nil, err
		}
		if args[i], err = c.mysqlConvert(n, tDouble, c.at); err != nil {
			return nil, err
		}
	}
	return &Raw{Typed: Typed{tLong, false}, SQL: "CASE WHEN {0} IS NULL THEN CAST(-1 AS BIGINT) ELSE CAST(len(list_filter([" + spread("{1*}", len(args)) + "], lambda bound: bound <= {0})) AS BIGINT) END", Args: args}, nil
}
