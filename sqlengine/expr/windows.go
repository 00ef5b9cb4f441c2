package expr

import (
	"deltasql/protocol"
)

// windowFunctions need OVER. Ranks are int in Spark and bigint in MySQL; DuckDB's are bigint.
var windowFunctions = []*function{
	lazily("row_number", inBoth, "", ranking("row_number")),
	lazily("rank", inBoth, "", ranking("rank")),
	lazily("dense_rank", inBoth, "", ranking("dense_rank")),
	lazily("ntile", inBoth, "any", ntile),
	lazily("percent_rank", inBoth, "", distribution("percent_rank")),
	lazily("cume_dist", inBoth, "", distribution("cume_dist")),
	lazily("lag", inBoth, "any [any] [any]", neighbour("lag")),
	lazily("lead", inBoth, "any [any] [any]", neighbour("lead")),
	lazily("nth_value", inBoth, "any any", nthValue),
}

// over makes a window call.
func (c *call) over(name string, t protocol.DataType, null bool, args ...Expr) (Expr, error) {
	if c.node.Over == nil {
		return nil, fail(c.at, "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "%s needs an OVER clause", c.name)
	}
	spec, err := c.env.WindowSpec(c.node.Over)
	if err != nil {
		return nil, err
	}
	if len(spec.OrderBy) == 0 && c.ctx.Dialect == Spark && name != "first_value" && name != "last_value" && name != "nth_value" {
		return nil, fail(c.at, "WINDOW_FUNCTION_AND_FRAME_MISMATCH.NO_ORDER", "%s needs ORDER BY in its window", c.name)
	}
	if name != "nth_value" { // ranks and neighbours look at the whole partition whatever frame is written
		spec.Frame, spec.Bounds = "", nil
	}
	w := &Window{Typed: Typed{t, null}, Name: name, Args: args, Spec: spec, IgnoreNulls: c.node.IgnoreNulls != nil && *c.node.IgnoreNulls}
	return c.env.Window(w, c.at)
}

func (c *call) rankType() protocol.DataType {
	if c.ctx.Dialect == MySQL {
		return tLong
	}
	return tInt
}

func ranking(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		w, err := c.over(name, tLong, false)
		if err != nil {
			return nil, err
		}
		return convert(w, c.rankType(), c.ctx, false)
	}
}

func distribution(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) { return c.over(name, tDouble, false) }
}

func ntile(c *call) (Expr, error) {
	args, err := c.bound(c.binder, c.node.Args)
	if err != nil {
		return nil, err
	}
	n, ok := constantInt(args[0])
	if !ok || n <= 0 {
		return nil, mismatch(c.at, "VALUE_OUT_OF_RANGE", "ntile takes a constant number of groups above 0")
	}
	w, err := c.over("ntile", tLong, false, args[0])
	if err != nil {
		return nil, err
	}
	return convert(w, c.rankType(), c.ctx, false)
}

// neighbour is lag and lead; the default is brought to the value's type.
func neighbour(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.bound(c.binder, c.node.Args)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		if len(args) > 1 {
			if _, ok := constantInt(args[1]); !ok {
				return nil, mismatch(c.at, "NON_FOLDABLE_INPUT", "the offset of %s must be a constant", c.name)
			}
			if args[1], err = convert(args[1], tLong, c.ctx, false); err != nil {
				return nil, placed(err, c.at)
			}
		}
		if len(args) > 2 {
			common, ok := commonType(t, args[2].Type(), c.ctx)
			if !ok {
				return nil, mismatch(c.at, "DATA_DIFF_TYPES", "the default of %s is %s, its value %s", c.name, args[2].Type(), t)
			}
			t = common
			if args[0], err = convert(args[0], t, c.ctx, false); err != nil {
				return nil, placed(err, c.at)
			}
			if args[2], err = convert(args[2], t, c.ctx, false); err != nil {
				return nil, placed(err, c.at)
			}
		}
		return c.over(name, t, true, args...)
	}
}

func nthValue(c *call) (Expr, error) {
	args, err := c.bound(c.binder, c.node.Args)
	if err != nil {
		return nil, err
	}
	n, ok := constantInt(args[1])
	if !ok || n <= 0 {
		return nil, mismatch(c.at, "VALUE_OUT_OF_RANGE", "nth_value takes a constant position above 0")
	}
	return c.over("nth_value", args[0].Type(), true, args...)
}
