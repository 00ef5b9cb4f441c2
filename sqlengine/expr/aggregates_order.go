package expr

import (
	"deltasql/protocol"
)

func modeOf(c *call) (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && len(c.node.WithinGroup) == 1 {
		e, err := c.in(c.argEnv()).bind(c.node.WithinGroup[0].Expr)
		if err != nil {
			return nil, err
		}
		node := *c.node
		node.WithinGroup = nil
		c.node = &node
		args = []Expr{e}
	}
	if len(args) == 0 {
		return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "mode takes a value, or WITHIN GROUP (ORDER BY value)")
	}
	return c.aggregate("mode", args[0].Type(), args[0])
}

// quantile is percentile(x, p), percentile_cont(p) WITHIN GROUP (ORDER BY x) and kin; p is a constant or an array of constants.
// percentile_approx answers exactly, which is within every accuracy.
func quantile(name string, median bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		var value, share Expr
		desc := false
		switch {
		case median:
			value, share = args[0], constant(tDouble, protocol.Value{Float: 0.5})
		case len(c.node.WithinGroup) == 1:
			if value, err = c.in(c.argEnv()).bind(c.node.WithinGroup[0].Expr); err != nil {
				return nil, err
			}
			share, desc = args[0], c.node.WithinGroup[0].Desc
			node := *c.node
			node.WithinGroup = nil
			c.node = &node
		case len(args) >= 2:
			value, share = args[0], args[1]
		default:
			return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s needs WITHIN GROUP (ORDER BY ...)", c.name)
		}
		if len(args) == 3 && c.name == "percentile" {
			return nil, notSupported(c.at, "percentile with a frequency is not supported")
		}
		return c.quantileOf(name, value, share, desc)
	}
}

func (c *call) quantileOf(name string, value, share Expr, desc bool) (Expr, error) {
	t := value.Type()
	if name == "quantile_cont" {
		if isInterval(t) {
			return nil, notSupported(c.at, "%s over intervals is not supported", c.name)
		}
		t = tDouble
		number, err := c.accept(value, "double")
		if err != nil || isDatetime(value.Type()) {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes numbers, not %s", c.name, value.Type())
		}
		value = number
	}
	if desc {
		return nil, notSupported(c.at, "%s in descending order is not supported", c.name).WithHint("take 1 minus the share in ascending order")
	}
	if share.Type().Kind == protocol.KindArray {
		if list, ok := share.(*Raw); !ok || !constants(list.Args) {
			return nil, mismatch(c.at, "NON_FOLDABLE_INPUT", "the shares of %s must be constants", c.name)
		}
		shares, err := convert(share, arrayOf(tDouble), c.ctx, false)
		if err != nil {
			return nil, placed(err, c.at)
		}
		return c.aggregate(name, arrayOf(t), value, shares)
	}
	p, err := convert(share, tDouble, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	if l, ok := asLiteral(p); !ok || l.Value.Float < 0 || l.Value.Float > 1 {
		return nil, mismatch(c.at, "VALUE_OUT_OF_RANGE", "the share of %s must be a constant from 0 to 1", c.name)
	}
	return c.aggregate(name, t, value, p)
}

func constants(list []Expr) bool {
	for _, e := range list {
		if _, ok := asLiteral(e); !ok {
			return false
		}
	}
	return true
}
