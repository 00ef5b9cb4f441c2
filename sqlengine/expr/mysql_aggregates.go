package expr

import (
	"deltasql/protocol"
)

// mysqlSum is decimal over exact numbers, double over others.
func (c *call) mysqlSum() (Expr, error) {
	e, err := c.numericArg()
	if err != nil {
		return nil, err
	}
	if shown := shownArg(e); shown != e && c.keepsDigits() {
		all, err := c.sumOf(e, bounded(e.Type().Precision+22, e.Type().Scale))
		if err != nil {
			return nil, err
		}
		return rounded(bounded(shown.Type().Precision+22, shown.Type().Scale), all), nil
	}
	e = shownArg(e)
	switch t := e.Type(); {
	case isIntegral(t):
		a, err := c.aggregate("sum", decimalOf(maxPrecision, 0), e)
		if err != nil {
			return nil, err
		}
		return rawNull(decimalOf(maxPrecision, 0), "CAST({0} AS DECIMAL(38,0))", a), nil
	case t.Kind == protocol.KindDecimal:
		return c.sumOf(e, bounded(t.Precision+22, t.Scale))
	}
	return c.sumOf(e, tDouble)
}

// mysqlAvg is decimal at scale s+4 over exact numbers.
func (c *call) mysqlAvg(e Expr) (Expr, error) {
	t := shownArg(e).Type()
	if !c.keepsDigits() {
		e = shownArg(e)
	}
	switch {
	case isIntegral(t):
		own := integerDecimal(t)
		d, err := c.mysqlConvert(e, own, c.at)
		if err != nil {
			return nil, err
		}
		return c.decimalAvg(d, bounded(own.Precision+4, 4))
	case t.Kind == protocol.KindDecimal:
		scale := min(t.Scale+4, 30)
		return c.decimalAvg(e, bounded(t.Precision-t.Scale+scale, scale))
	}
	e, err := convert(e, tDouble, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	return c.aggregate("avg", tDouble, e)
}

// mysqlBitsOf is BIT_AND, BIT_OR and BIT_XOR, which are never NULL.
func (c *call) mysqlBitsOf(name string, e Expr) (Expr, error) {
	u, err := c.unsigned(e, c.at)
	if err != nil {
		return nil, err
	}
	a, err := c.aggregate(name, tUnsigned, u)
	if err != nil {
		return nil, err
	}
	empty := "0::UBIGINT"
	if name == "bit_and" {
		empty = "18446744073709551615::UBIGINT"
	}
	return &Raw{Typed: Typed{tUnsigned, false}, SQL: "CAST(coalesce({0}, " + empty + ") AS DECIMAL(20,0))", Args: []Expr{a}}, nil
}
