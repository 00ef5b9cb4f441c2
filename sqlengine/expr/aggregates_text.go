package expr

import (
	"fmt"

	"deltasql/sqlengine/parse"
)

// stringAgg is string_agg, listagg and GROUP_CONCAT: texts joined by a separator, without NULLs.
func stringAgg(c *call) (Expr, error) {
	joined, err := c.joinedText()
	if err != nil || c.name != "group_concat" || c.ctx.Dialect != MySQL || c.ctx.GroupConcatLimit == 0 {
		return joined, err
	}
	n := c.ctx.GroupConcatLimit
	cut := fmt.Sprintf("my_cut({0}, %d)", n)
	told := c.ctx.bent(cutGroup, tString, isConstant(joined), hanging(fmt.Sprintf("A group was cut by GROUP_CONCAT() to %d bytes", n), "{0}"), cut)
	return rawNull(tString, fmt.Sprintf("CASE WHEN strlen({0}) > %d THEN %s ELSE {0} END", n, told), joined), nil
}

// joinedText is the aggregate before it is cut.
func (c *call) joinedText() (Expr, error) {
	args, err := c.aggArgs()
	if err != nil {
		return nil, err
	}
	separator := Expr(textLiteral(""))
	if c.name == "group_concat" {
		separator = textLiteral(",")
		if c.node.Separator != nil {
			if separator, err = c.bind(c.node.Separator); err != nil {
				return nil, err
			}
		}
		joined, err := concatOf(c, args)
		if err != nil {
			return nil, err
		}
		args = []Expr{joined}
	} else if len(args) == 2 {
		separator = args[1]
	}
	if c.name == "string_agg" && len(args) == 1 && c.node.Separator != nil {
		if separator, err = c.bind(c.node.Separator); err != nil {
			return nil, err
		}
	}
	if isNullLiteral(separator) {
		separator = textLiteral("")
	}
	if separator, err = convert(separator, tString, c.ctx, false); err != nil {
		return nil, placed(err, c.at)
	}
	if _, ok := separator.(*Literal); !ok {
		return nil, mismatch(c.at, "NON_FOLDABLE_INPUT", "the separator of %s must be a constant", c.name)
	}
	text, err := convert(args[0], tString, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	if c.node.Distinct {
		return c.distinctText(text, args[0], separator)
	}
	return c.aggregate("string_agg", tString, text, separator)
}

// concatOf joins the arguments of GROUP_CONCAT(a, b).
func concatOf(c *call, args []Expr) (Expr, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	return c.callBound("concat", c.at, args...)
}

// distinctText is string_agg(DISTINCT ..). DuckDB sorts distinct arguments only by themselves, so where the order is that of
// the value before it became text, the value is gathered first and joined afterwards.
func (c *call) distinctText(text, value, separator Expr) (Expr, error) {
	order := append(append([]parse.OrderItem(nil), c.node.OrderBy...), c.node.WithinGroup...)
	if len(order) == 0 {
		return c.aggregate("string_agg", tString, text, separator)
	}
	if len(order) > 1 {
		return nil, notSupported(c.at, "%s(DISTINCT ...) sorts by its own value only", c.name)
	}
	by, err := c.in(c.argEnv()).bind(order[0].Expr)
	if err != nil {
		return nil, err
	}
	if !sameColumn(by, value) {
		return nil, notSupported(c.at, "%s(DISTINCT ...) sorts by its own value only", c.name)
	}
	node := *c.node
	node.OrderBy, node.WithinGroup = nil, nil
	c.node = &node
	list, err := c.aggregate("list", arrayOf(value.Type()), value)
	if err != nil {
		return nil, err
	}
	direction := "'ASC'"
	if order[0].Desc {
		direction = "'DESC'"
	}
	w := casting{ctx: c.ctx}
	item, ok := w.sql(value.Type(), tString, "item")
	if !ok {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes text, not %s", c.name, value.Type())
	}
	return rawNull(tString, "CASE WHEN len({0}) > 0 THEN "+joined("list_transform(list_sort(list_filter({0}, lambda item: item IS NOT NULL), "+direction+"), lambda item: "+item+")", "{1}", separator)+" END", list, separator), nil
}

func sameColumn(a, b Expr) bool {
	x, okX := a.(*Column)
	y, okY := b.(*Column)
	if okX && okY {
		return x.Relation == y.Relation && x.Index == y.Index
	}
	return okX == okY && fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b)
}
