package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// aggregateFunctions bind their arguments in the environment the aggregate's arguments have, or, with OVER, where they stand.
var aggregateFunctions = []*function{
	lazily("count", inBoth, "any*", count),
	lazily("sum", inBoth, "any", sum),
	lazily("try_sum", inSpark, "any", sum),
	lazily("avg mean", inBoth, "any", avg),
	lazily("try_avg", inSpark, "any", avg),
	lazily("min", inBoth, "any", extremum("min")),
	lazily("max", inBoth, "any", extremum("max")),
	lazily("any_value", inBoth, "any [any]", oneOf("any_value")),
	lazily("first", inSpark, "any [any]", oneOf("first")),
	lazily("last", inSpark, "any [any]", oneOf("last")),
	lazily("first_value", inBoth, "any [any]", edgeValue("first")),
	lazily("last_value", inBoth, "any [any]", edgeValue("last")),
	lazily("stddev stddev_samp std", inSpark, "any", spreadOf("stddev_samp")),
	lazily("stddev_pop", inBoth, "any", spreadOf("stddev_pop")),
	lazily("variance var_samp", inSpark, "any", spreadOf("var_samp")),
	lazily("var_pop", inBoth, "any", spreadOf("var_pop")),
	lazily("stddev std", inMySQL, "any", spreadOf("stddev_pop")),
	lazily("stddev_samp", inMySQL, "any", spreadOf("stddev_samp")),
	lazily("variance", inMySQL, "any", spreadOf("var_pop")),
	lazily("var_samp", inMySQL, "any", spreadOf("var_samp")),
	lazily("skewness", inBoth, "any", skewness),
	lazily("kurtosis", inBoth, "any", spreadOf("kurtosis_pop")),
	lazily("corr", inBoth, "any any", pairOf("corr", tDouble)),
	lazily("covar_pop", inBoth, "any any", pairOf("covar_pop", tDouble)),
	lazily("covar_samp", inBoth, "any any", pairOf("covar_samp", tDouble)),
	lazily("regr_count", inBoth, "any any", pairOf("regr_count", tLong)),
	lazily("regr_avgx", inBoth, "any any", pairOf("regr_avgx", tDouble)),
	lazily("regr_avgy", inBoth, "any any", pairOf("regr_avgy", tDouble)),
	lazily("regr_slope", inBoth, "any any", pairOf("regr_slope", tDouble)),
	lazily("regr_intercept", inBoth, "any any", pairOf("regr_intercept", tDouble)),
	lazily("regr_r2", inBoth, "any any", pairOf("regr_r2", tDouble)),
	lazily("regr_sxx", inBoth, "any any", pairOf("regr_sxx", tDouble)),
	lazily("regr_syy", inBoth, "any any", pairOf("regr_syy", tDouble)),
	lazily("regr_sxy", inBoth, "any any", pairOf("regr_sxy", tDouble)),
	lazily("collect_list array_agg", inBoth, "any", collect(false)),
	lazily("collect_set", inBoth, "any", collect(true)),
	lazily("approx_count_distinct", inBoth, "any [any]", approxDistinct),
	lazily("count_if", inBoth, "any", countIf),
	lazily("bool_and every", inBoth, "any", booleans("bool_and")),
	lazily("bool_or some any", inBoth, "any", booleans("bool_or")),
	lazily("max_by", inBoth, "any any", by("arg_max_null")),
	lazily("min_by", inBoth, "any any", by("arg_min_null")),
	lazily("median", inBoth, "any", quantile("quantile_cont", true)),
	lazily("mode", inBoth, "[any] [any]", modeOf),
	lazily("percentile", inBoth, "any any [any]", quantile("quantile_cont", false)),
	lazily("percentile_cont", inBoth, "any", quantile("quantile_cont", false)),
	lazily("percentile_disc", inBoth, "any", quantile("quantile_disc", false)),
	lazily("percentile_approx approx_percentile", inBoth, "any any [any]", quantile("quantile_disc", false)),
	lazily("string_agg listagg", inBoth, "any [any]", stringAgg),
	lazily("group_concat", inBoth, "any+", stringAgg),
	lazily("bit_and", inBoth, "any", bitsOf("bit_and")),
	lazily("bit_or", inBoth, "any", bitsOf("bit_or")),
	lazily("bit_xor", inBoth, "any", bitsOf("bit_xor")),
	lazily("product", inBoth, "any", spreadOf("product")),
	lazily("grouping", inBoth, "any+", grouping),
	lazily("grouping_id", inSpark, "any*", groupingID),
	lazily("json_arrayagg", inMySQL, "any", jsonArrayAgg),
	lazily("json_objectagg", inMySQL, "any any", jsonObjectAgg),
	lazily("map_agg", inBoth, "any any", mapAgg),
	lazily("histogram_numeric", inSpark, "any any", refused("it is an approximation of Spark's own")),
	lazily("schema_of_variant_agg", inBoth, "any", refused("ask schema_of_variant for the rows")),
}

// aggArgs binds an aggregate's arguments.
func (c *call) aggArgs() ([]Expr, error) {
	args, err := c.bound(c.in(c.argEnv()), c.node.Args)
	if err != nil {
		return nil, err
	}
	return args, c.comparesFiles(args)
}

func (c *call) argEnv() Env {
	if c.node.Over != nil {
		return c.env
	}
	return c.env.AggregateArgs()
}

// aggregate makes the node of an aggregate call, over a window where there is OVER.
func (c *call) aggregate(name string, t protocol.DataType, args ...Expr) (Expr, error) {
	var filter Expr
	if c.node.Filter != nil {
		var err error
		if filter, err = c.in(c.argEnv()).condition(c.node.Filter); err != nil {
			return nil, err
		}
	}
	order, err := c.argOrder()
	if err != nil {
		return nil, err
	}
	null := !strings.HasPrefix(name, "count")
	if c.node.Over == nil {
		ignore := c.node.IgnoreNulls != nil && *c.node.IgnoreNulls
		if ignore && len(args) > 0 && (name == "first" || name == "last") {
			present := notNull(args[0])
			if filter != nil {
				present = &Logic{Typed{tBoolean, true}, false, []Expr{filter, present}}
			}
			filter = present
		}
		return c.env.Aggregate(&Aggregate{Typed{t, null}, name, args, c.node.Distinct, order, filter}, c.at)
	}
	spec, err := c.env.WindowSpec(c.node.Over)
	if err != nil {
		return nil, err
	}
	if c.node.Distinct && (len(spec.OrderBy) > 0) {
		return nil, fail(c.at, "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "%s(DISTINCT ...) over an ordered window is not supported", c.name)
	}
	w := &Window{Typed: Typed{t, null}, Name: name, Args: args, Distinct: c.node.Distinct, ArgOrder: order, Filter: filter, Spec: spec,
		IgnoreNulls: c.node.IgnoreNulls != nil && *c.node.IgnoreNulls}
	return c.env.Window(w, c.at)
}

func (c *call) argOrder() ([]Order, error) {
	items := c.node.OrderBy
	if len(items) == 0 {
		items = c.node.WithinGroup
	}
	var out []Order
	for _, item := range items {
		e, err := c.in(c.argEnv()).bind(item.Expr)
		if err != nil {
			return nil, err
		}
		if !isOrderable(e.Type()) {
			return nil, mismatch(item.Expr.At(), "INVALID_ORDERING_TYPE", "values of type %s cannot be sorted", e.Type())
		}
		first := !item.Desc
		if item.NullsFirst != nil {
			first = *item.NullsFirst
		}
		out = append(out, Order{e, item.Desc, first})
	}
	return out, nil
}

// count is count(*), count(a) and count(DISTINCT a, b), which counts rows without a NULL.
func count(c *call) (Expr, error) {
	if len(c.node.Args) == 0 {
		return nil, fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "count takes * or values")
	}
	if s, ok := c.node.Args[0].Expr.(*parse.Star); ok && len(c.node.Args) == 1 && len(s.Qualifier) == 0 && len(s.Except) == 0 && !c.node.Distinct {
		return c.aggregate("count", tLong)
	}
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		if l, ok := asLiteral(args[0]); ok && !c.node.Distinct && !l.Value.Null {
			return c.aggregate("count", tLong)
		}
		if c.node.Distinct && !isOrderable(args[0].Type()) {
			return nil, mismatch(c.at, "INVALID_ORDERING_TYPE", "values of type %s cannot be compared", args[0].Type())
		}
		key, err := c.foldCase(args[0])
		if err != nil {
			return nil, err
		}
		return c.aggregate("count", tLong, key)
	}
	names := make([]string, len(args))
	var conditions []Expr
	for i, a := range args {
		names[i] = fmt.Sprintf("c%d", i)
		if args[i], err = c.foldCase(a); err != nil {
			return nil, err
		}
		conditions = append(conditions, notNull(a))
	}
	row := structOf(names, args)
	all := &Logic{Typed{tBoolean, false}, false, conditions}
	return c.aggregate("count", tLong, &Case{Typed: Typed{row.Type(), true}, Whens: []When{{all, row}}})
}

// foldCase is an argument of DISTINCT as the session compares text.
func (c *call) foldCase(e Expr) (Expr, error) {
	if !c.node.Distinct || e.Type().Kind != protocol.KindString {
		return e, nil
	}
	key, err := CollationKey(e, c.ctx)
	return key, placed(err, c.at)
}

// sumType is Spark's: bigint of integers, decimal(p+10, s), double.
func sumType(t protocol.DataType) protocol.DataType {
	switch {
	case isIntegral(t):
		return tLong
	case t.Kind == protocol.KindDecimal:
		return bounded(t.Precision+10, t.Scale)
	}
	return tDouble
}

// numericArg binds the one argument of an aggregate over numbers.
func (c *call) numericArg() (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, c.counted(len(args))
	}
	e, err := c.accept(args[0], "number")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes numbers, not %s", c.name, args[0].Type())
	}
	return e, nil
}

// keepsDigits tells whether MySQL aggregates all digits of its argument: it rounds what it gathers by groups or windows, and what must
// differ, to those that are shown.
func (c *call) keepsDigits() bool { return c.node.Over == nil && !c.node.Distinct && !c.env.Grouped() }

// shownArg is a number that an aggregate gathers as it is shown.
func shownArg(e Expr) Expr {
	if r, ok := e.(*Raw); ok && r.Shown != nil {
		return r.Shown
	}
	return e
}

func sum(c *call) (Expr, error) {
	if c.ctx.Dialect == MySQL {
		return c.mysqlSum()
	}
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	if len(args) == 1 && isInterval(args[0].Type()) {
		return c.sumIntervals(args[0])
	}
	e, err := c.numericArg()
	if err != nil {
		return nil, err
	}
	return c.sumOf(e, sumType(e.Type()))
}

// sumOf is the sum in a result type: DuckDB adds integers in 128 bits and decimals at 38 digits.
func (c *call) sumOf(e Expr, t protocol.DataType) (Expr, error) {
	natural := t
	operand := e
	switch {
	case e.Type().Kind == protocol.KindDecimal:
		operand = unwidened(e)
		natural = decimalOf(maxPrecision, e.Type().Scale)
	case isFloating(e.Type()):
		var err error
		if operand, err = convert(e, tDouble, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
		natural = tDouble
	}
	a, err := c.aggregate("sum", natural, operand)
	if err != nil {
		return nil, err
	}
	try := c.name == "try_sum"
	if isIntegral(e.Type()) || !natural.Equal(t) {
		if try {
			return rawNull(t, "TRY_CAST({0} AS "+DuckType(t)+")", a), nil
		}
		return rawNull(t, "CAST({0} AS "+DuckType(t)+")", a), nil
	}
	return a, nil
}

func (c *call) sumIntervals(e Expr) (Expr, error) {
	a, err := c.aggregate("sum", e.Type(), e)
	return a, err
}

// avg is double over integers and floats; over decimal(p, s) it is decimal(p+4, s+4), exact and rounded half up: DuckDB's own
// average of decimals is a double.
func avg(c *call) (Expr, error) {
	e, err := c.numericArg()
	if err != nil {
		return nil, err
	}
	if c.ctx.Dialect == MySQL {
		return c.mysqlAvg(e)
	}
	t := e.Type()
	if t.Kind != protocol.KindDecimal {
		if t.Kind == protocol.KindFloat {
			if e, err = convert(e, tDouble, c.ctx, false); err != nil {
				return nil, placed(err, c.at)
			}
		}
		return c.aggregate("avg", tDouble, e)
	}
	return c.decimalAvg(e, adjusted(t.Precision+4, t.Scale+4))
}

// decimalAvg divides the exact sum by the count.
func (c *call) decimalAvg(e Expr, t protocol.DataType) (Expr, error) {
	total, err := c.aggregate("sum", decimalOf(maxPrecision, e.Type().Scale), unwidened(e))
	if err != nil {
		return nil, err
	}
	n, err := c.aggregate("count", tLong, e)
	if err != nil {
		return nil, err
	}
	sum := decimalOf(maxPrecision, e.Type().Scale)
	shown := rawNull(t, decimalQuotient(t, t.Scale, sum, decimalOf(19, 0), false), total, n)
	if c.ctx.Dialect != MySQL {
		return shown, nil
	}
	all := quotientType(sum, decimalOf(19, 0), t.Scale)
	return showing(shown, rawNull(all, decimalQuotient(all, all.Scale, sum, decimalOf(19, 0), true), total, n)), nil
}

func extremum(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		if err := c.counted(len(args)); err != nil {
			return nil, err
		}
		if !isOrderable(args[0].Type()) {
			return nil, mismatch(c.at, "INVALID_ORDERING_TYPE", "%s takes values that can be compared, not %s", c.name, args[0].Type())
		}
		if isInexact(args[0]) && c.keepsDigits() {
			all, err := c.aggregate(name, exactly(args[0]).Type(), exactly(args[0]))
			if err != nil {
				return nil, err
			}
			return rounded(args[0].Type(), all), nil
		}
		return c.aggregate(name, args[0].Type(), typedVoid(args[0]))
	}
}

// oneOf is any_value, first and last. DuckDB's any_value leaves NULLs out, Spark's takes the first row's value.
func oneOf(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		if len(args) == 2 { // first(x, true) ignores NULLs
			l, ok := asLiteral(args[1])
			if !ok || l.Of.Kind != protocol.KindBoolean {
				return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "the second argument of %s must be true or false", c.name)
			}
			node := *c.node
			ignore := l.Value.Int == 1
			node.IgnoreNulls = &ignore
			c.node = &node
		}
		duck := name
		if name == "any_value" {
			duck = "first"
		}
		return c.aggregate(duck, args[0].Type(), args[0])
	}
}

// edgeValue is first_value and last_value, window functions that Spark also takes as aggregates.
func edgeValue(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		if c.node.Over == nil {
			return oneOf(name)(c)
		}
		c.name = name + "_value"
		return oneOf(name + "_value")(c)
	}
}

// spreadOf is an aggregate over doubles. A sample of one value has no spread: Spark gives NULL, as DuckDB does.
func spreadOf(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e, err := c.numericArg()
		if err != nil {
			return nil, err
		}
		if e, err = convert(e, tDouble, c.ctx, false); err != nil {
			return nil, placed(err, c.at)
		}
		return c.aggregate(name, tDouble, e)
	}
}

// skewness is that of the population; DuckDB has the sample's, which differs by a factor of the count.
func skewness(c *call) (Expr, error) {
	sample, err := spreadOf("skewness")(c)
	if err != nil {
		return nil, err
	}
	e, err := c.numericArg()
	if err != nil {
		return nil, err
	}
	n, err := c.aggregate("count", tLong, e)
	return rawNull(tDouble, "CASE WHEN {1} > 2 THEN {0} * ({1} - 2) / sqrt(CAST({1} AS DOUBLE) * ({1} - 1)) WHEN {1} = 2 THEN 0::DOUBLE END", sample, n), err
}

func pairOf(name string, t protocol.DataType) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		for i := range args {
			if args[i], err = c.accept(args[i], "double"); err != nil {
				return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes numbers", c.name)
			}
		}
		a, err := c.aggregate(name, t, args...)
		if err != nil || t.Kind == protocol.KindDouble {
			return a, err
		}
		return castTo(t, "{0}", a), nil
	}
}

// collect gathers values without NULLs; over no rows it is an empty array.
func collect(distinct bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		node := *c.node
		node.Distinct = node.Distinct || distinct
		present := &parse.Is{Not: true, What: "NULL", Operand: c.node.Args[0].Expr}
		if node.Filter != nil {
			node.Filter = &parse.Binary{Op: "AND", Left: node.Filter, Right: present}
		} else {
			node.Filter = present
		}
		c.node = &node
		t := arrayOf(args[0].Type())
		t.ContainsNull = false
		a, err := c.aggregate("list", t, args[0])
		if err != nil {
			return nil, err
		}
		return &Raw{Typed: Typed{t, false}, SQL: "coalesce({0}, CAST([] AS " + DuckType(t) + "))", Args: []Expr{a}}, nil
	}
}

func approxDistinct(c *call) (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	a, err := c.aggregate("approx_count_distinct", tLong, args[0])
	if err != nil {
		return nil, err
	}
	return &Raw{Typed: Typed{tLong, false}, SQL: "CAST({0} AS BIGINT)", Args: []Expr{a}}, nil
}

func countIf(c *call) (Expr, error) {
	condition, err := c.in(c.argEnv()).condition(c.node.Args[0].Expr)
	if err != nil {
		return nil, err
	}
	return c.aggregate("count", tLong, &Case{Typed: Typed{tInt, true}, Whens: []When{{condition, intLiteral(1)}}})
}

func booleans(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		condition, err := c.in(c.argEnv()).condition(c.node.Args[0].Expr)
		if err != nil {
			return nil, err
		}
		return c.aggregate(name, tBoolean, condition)
	}
}

// by is max_by and min_by: the value beside the largest or smallest key, NULL if that value is.
func by(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		args, err := c.aggArgs()
		if err != nil {
			return nil, err
		}
		if !isOrderable(args[1].Type()) {
			return nil, mismatch(c.at, "INVALID_ORDERING_TYPE", "%s takes a key that can be compared, not %s", c.name, args[1].Type())
		}
		return c.aggregate(name, args[0].Type(), args...)
	}
}

// bitsOf keeps the integer type in Spark; in MySQL the result is unsigned and never NULL.
func bitsOf(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e, err := c.numericArg()
		if err != nil {
			return nil, err
		}
		if c.ctx.Dialect == MySQL {
			return c.mysqlBitsOf(name, e)
		}
		if !isIntegral(e.Type()) {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes integers, not %s", c.name, e.Type())
		}
		return c.aggregate(name, e.Type(), e)
	}
}

// grouping is GROUPING(a): tinyint in Spark; several arguments make bits.
func grouping(c *call) (Expr, error) {
	args, err := c.bound(c.binder, c.node.Args)
	if err != nil {
		return nil, err
	}
	t := tByte
	if len(args) > 1 || c.ctx.Dialect == MySQL {
		t = tLong
	}
	g := &Grouping{Typed{tLong, false}, args}
	return &Raw{Typed: Typed{t, false}, SQL: "CAST({0} AS " + DuckType(t) + ")", Args: []Expr{g}}, nil
}

// groupingID without arguments is over all grouping columns; package bind fills them in.
func groupingID(c *call) (Expr, error) {
	args, err := c.bound(c.binder, c.node.Args)
	if err != nil {
		return nil, err
	}
	return &Grouping{Typed{tLong, false}, args}, nil
}

func mapAgg(c *call) (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	entry := structOf([]string{"key", "value"}, args)
	list, err := c.aggregate("list", arrayOf(entry.Type()), entry)
	if err != nil {
		return nil, err
	}
	return rawNull(mapOf(args[0].Type(), args[1].Type()), "map_from_entries({0})", list), nil
}
