package expr

import (
	"strings"
	"unicode/utf8"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// comparable2 is the type in which two values are compared; false where they cannot be.
func comparable2(a, b protocol.DataType, ctx *Context) (protocol.DataType, bool) {
	if ctx.Dialect == MySQL {
		return comparableMySQL(a, b, ctx)
	}
	if isDatetime(a) && isIntegral(b) || isDatetime(b) && isIntegral(a) || a.Kind == protocol.KindBoolean && isNumeric(b) || b.Kind == protocol.KindBoolean && isNumeric(a) {
		return a, false
	}
	return commonType(a, b, ctx)
}

func (b *binder) bindComparison(op string, l, r parse.Expr, at parse.Pos) (Expr, error) {
	lt, okL := l.(*parse.Tuple)
	rt, okR := r.(*parse.Tuple)
	if okL && okR && len(lt.Items) != len(rt.Items) {
		return nil, fail(at, "DELTASQL_ROW_WIDTH_MISMATCH", "a row of %d values cannot be compared with one of %d", len(lt.Items), len(rt.Items))
	}
	if okL && okR && b.ctx.Dialect == MySQL {
		return b.compareRows(op, lt.Items, rt.Items, at)
	}
	left, err := b.bind(l)
	if err != nil {
		return nil, err
	}
	right, err := b.bind(r)
	if err != nil {
		return nil, err
	}
	return b.compare(op, left, right, at)
}

// compareRows compares row values as MySQL does: member by member, where a NULL decides nothing.
func (b *binder) compareRows(op string, left, right []parse.Expr, at parse.Pos) (Expr, error) {
	first, err := b.bindComparison(op, left[0], right[0], at)
	if err != nil || len(left) == 1 {
		return first, err
	}
	rest, err := b.compareRows(op, left[1:], right[1:], at)
	if err != nil {
		return nil, err
	}
	boolean := Typed{tBoolean, first.Nullable() || rest.Nullable()}
	switch op {
	case "=", "IS NOT DISTINCT FROM":
		return &Logic{boolean, false, flattened(false, first, rest)}, nil
	case "<>", "IS DISTINCT FROM":
		return &Logic{boolean, true, flattened(true, first, rest)}, nil
	}
	strict, err := b.bindComparison(op[:1], left[0], right[0], at)
	if err != nil {
		return nil, err
	}
	equal, err := b.bindComparison("=", left[0], right[0], at)
	if err != nil {
		return nil, err
	}
	return &Logic{boolean, true, []Expr{strict, &Logic{boolean, false, []Expr{equal, rest}}}}, nil
}

// compare is a comparison of bound operands.
func (b *binder) compare(op string, left, right Expr, at parse.Pos) (Expr, error) {
	lt, rt := left.Type(), right.Type()
	for _, t := range []protocol.DataType{lt, rt} {
		if !isOrderable(t) {
			return nil, WithPart(mismatch(at, "INVALID_ORDERING_TYPE", "values of type %s cannot be compared", t).
				WithHint("cast it to the type of the other side, or take the part to compare"), t)
		}
	}
	left, right = charSides(integralSide(left, right))
	if b.ctx.Dialect == MySQL {
		left, right = dateBesideText(left, right)
	}
	t, ok := comparable2(left.Type(), right.Type(), b.ctx)
	if !ok {
		return nil, mismatch(at, "BINARY_OP_DIFF_TYPES", "%s and %s cannot be compared", lt, rt)
	}
	if t.Kind == protocol.KindVoid {
		t = tInt
	}
	collation := lt.Collation
	if collation == "" {
		collation = rt.Collation
	}
	null := left.Nullable() || right.Nullable()
	if strings.HasPrefix(op, "IS ") {
		null = false
	}
	for _, e := range []*Expr{&left, &right} {
		var err error
		if *e, err = b.comparisonSide(*e, t, at); err != nil {
			return nil, err
		}
	}
	if beside, ok := besideNull(left, right); ok && strings.HasPrefix(op, "IS ") {
		return negated(op == "IS DISTINCT FROM", &IsNull{Typed{tBoolean, false}, beside}), nil
	}
	if t.Kind == protocol.KindString && collation == "" && b.ctx.Dialect == MySQL && b.ctx.MySQLCompare {
		collation = "utf8mb4_0900_ai_ci"
	}
	if collation != "" && t.Kind == protocol.KindString {
		left, right = collated(left, collation), collated(right, collation)
	}
	if strings.HasPrefix(op, "IS ") && computed(left) != computed(right) {
		return negated(op == "IS DISTINCT FROM", besideConstant(left, right)), nil
	}
	return &Compare{Typed{tBoolean, null}, op, left, right}, nil
}

// computed tells operands that may come to the constant NULL before a table is read from columns, which do not, and from literals, of
// which is known whether they are NULL.
func computed(e Expr) bool {
	if _, ok := e.(*Literal); ok {
		return false
	}
	columns := false
	Walk(e, func(x Expr) bool {
		_, is := x.(*Column)
		columns = columns || is
		return !columns
	})
	return !columns
}

// besideConstant is IS NOT DISTINCT FROM with an operand that is computed from no column. It is written out because of what besideNull
// says; each row still computes each operand once where that matters, in the one branch that it takes.
func besideConstant(left, right Expr) Expr {
	if computed(left) {
		left, right = right, left
	}
	equal := &Compare{Typed{tBoolean, true}, "=", left, right}
	return &Case{Typed: Typed{tBoolean, false}, Whens: []When{{Condition: &IsNull{Typed{tBoolean, false}, left}, Result: &IsNull{Typed{tBoolean, false}, right}}},
		Else: rawOf(tBoolean, "coalesce({0}, false)", equal)}
}

// besideNull is the operand that stands beside the constant NULL. A comparison with NULL that knows an answer is IS NULL; DuckDB fails on
// it where it looks through a member of a struct whose stored type is another one.
func besideNull(left, right Expr) (Expr, bool) {
	switch {
	case isNullLiteral(right):
		return left, true
	case isNullLiteral(left):
		return right, true
	}
	return nil, false
}

func (b *binder) comparisonSide(e Expr, t protocol.DataType, at parse.Pos) (Expr, error) {
	if b.ctx.Dialect == MySQL {
		return b.mysqlComparisonSide(e, t, at)
	}
	out, err := convert(e, t, b.ctx, false)
	return out, placed(err, at)
}

// integralSide keeps the comparison of an integer column with a decimal constant that is whole (id = 3.0) in integers, so
// that the column stays bare and files can be skipped.
func integralSide(left, right Expr) (Expr, Expr) {
	one := func(column, literal Expr) Expr {
		l, ok := asLiteral(literal)
		if !ok || !isIntegral(column.Type()) || l.Of.Kind != protocol.KindDecimal {
			return literal
		}
		if whole, exact := l.Value.Dec.Rescale(l.Of.Scale, 0); exact {
			if n, fits := whole.Int64(); fits && fitsInteger(n, column.Type()) {
				return constant(column.Type(), protocol.Value{Int: n})
			}
		}
		return literal
	}
	return one(right, left), one(left, right)
}

func (b *binder) bindBetween(n *parse.Between) (Expr, error) {
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	low, err := b.bind(n.Low)
	if err != nil {
		return nil, err
	}
	high, err := b.bind(n.High)
	if err != nil {
		return nil, err
	}
	from, err := b.compare(">=", operand, low, n.At())
	if err != nil {
		return nil, err
	}
	to, err := b.compare("<=", operand, high, n.At())
	if err != nil {
		return nil, err
	}
	return negated(n.Not, &Logic{Typed{tBoolean, from.Nullable() || to.Nullable()}, false, []Expr{from, to}}), nil
}

func negated(not bool, e Expr) Expr {
	if !not {
		return e
	}
	return &Not{Typed{tBoolean, e.Nullable()}, e}
}

func (b *binder) bindIn(n *parse.In) (Expr, error) {
	if n.Query != nil {
		return b.bindInQuery(n)
	}
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	list := make([]Expr, len(n.List))
	for i, item := range n.List {
		if list[i], err = b.bind(item); err != nil {
			return nil, err
		}
	}
	return b.in2(operand, list, n.Not, n.At())
}

// in2 is membership over bound operands. Where all items meet in one type it is one In node; in the MySQL dialect, where each
// item is compared by the rules of its own type, it becomes a chain of comparisons.
func (b *binder) in2(operand Expr, list []Expr, not bool, at parse.Pos) (Expr, error) {
	t, one := operand.Type(), true
	null := operand.Nullable()
	for i, item := range list {
		null = null || item.Nullable()
		_, list[i] = charSides(integralSide(operand, item))
		itemType, ok := comparable2(operand.Type(), list[i].Type(), b.ctx)
		if !ok || !isOrderable(itemType) {
			return nil, mismatch(at, "DATA_DIFF_TYPES", "IN compares %s with %s", operand.Type(), item.Type())
		}
		common, ok := commonType(t, itemType, b.ctx)
		if !ok {
			return nil, mismatch(at, "DATA_DIFF_TYPES", "IN compares %s with %s", operand.Type(), item.Type())
		}
		one = one && (b.ctx.Dialect == Spark || common.Equal(itemType) && (i == 0 || common.Equal(t)))
		t = common
	}
	if !one || operand.Type().Collation != "" || b.ctx.MySQLCompare && t.Kind == protocol.KindString {
		or := &Logic{Typed{tBoolean, null}, true, nil}
		for _, item := range list {
			c, err := b.compare("=", operand, item, at)
			if err != nil {
				return nil, err
			}
			or.Operands = append(or.Operands, c)
		}
		if len(or.Operands) == 1 {
			return negated(not, or.Operands[0]), nil
		}
		return negated(not, or), nil
	}
	if t.Kind == protocol.KindVoid {
		t = tInt
	}
	var err error
	if operand, err = b.comparisonSide(operand, t, at); err != nil {
		return nil, err
	}
	for i := range list {
		if list[i], err = b.comparisonSide(list[i], t, at); err != nil {
			return nil, err
		}
	}
	return negated(not, &In{Typed{tBoolean, null}, operand, list}), nil
}

func (b *binder) bindInQuery(n *parse.In) (Expr, error) {
	operands := []parse.Expr{n.Operand}
	if tuple, ok := n.Operand.(*parse.Tuple); ok {
		operands = tuple.Items
	}
	q, err := b.env.Query(n.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) != len(operands) {
		return nil, mismatch(n.At(), "IN_SUBQUERY_LENGTH_MISMATCH", "IN compares %d values with a subquery of %d columns", len(operands), len(q.Columns))
	}
	bound := make([]Expr, len(operands))
	types := make([]protocol.DataType, len(operands))
	for i, o := range operands {
		e, err := b.bind(o)
		if err != nil {
			return nil, err
		}
		t, ok := comparable2(e.Type(), q.Columns[i].Type, b.ctx)
		if !ok || !isOrderable(t) {
			return nil, mismatch(o.At(), "IN_SUBQUERY_DATA_TYPE_MISMATCH", "%s cannot be compared with the subquery's %s", e.Type(), q.Columns[i].Type)
		}
		types[i] = t
		if bound[i], err = b.comparisonSide(e, t, o.At()); err != nil {
			return nil, err
		}
	}
	if q, err = castColumns(q, types, b); err != nil {
		return nil, placed(err, n.At())
	}
	return negated(n.Not, &InQuery{Typed{tBoolean, true}, bound, q}), nil
}

func (b *binder) bindLike(n *parse.Like) (Expr, error) {
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	if operand.Type().Kind != protocol.KindBinary || n.Op == "RLIKE" {
		if operand, err = convert(operand, tString, b.ctx, false); err != nil {
			return nil, placed(err, n.At())
		}
	} else {
		operand = rawOf(tString, "decode({0}, 'replace')", operand)
	}
	escape := '\\'
	if n.Escape != nil {
		e, err := b.bind(n.Escape)
		if err != nil {
			return nil, err
		}
		text, ok := constantText(e)
		if !ok || utf8.RuneCountInString(text) > 1 {
			return nil, fail(n.At(), "INVALID_ESCAPE_CHAR", "ESCAPE takes one character")
		}
		if text == "" { // ESCAPE '' switches escaping off
			escape = 0
		} else {
			escape, _ = utf8.DecodeRuneInString(text)
		}
	}
	var out []Expr
	for _, p := range n.Patterns {
		pattern, err := b.bind(p)
		if err != nil {
			return nil, err
		}
		if pattern, err = convert(pattern, tString, b.ctx, false); err != nil {
			return nil, placed(err, n.At())
		}
		one, err := b.like(n, operand, pattern, escape)
		if err != nil {
			return nil, err
		}
		// NOT LIKE ALL is: like none of them; NOT LIKE ANY is: not like one of them.
		if n.Quantifier != "" {
			one = negated(n.Not, one)
		}
		out = append(out, one)
	}
	if n.Quantifier == "" {
		return negated(n.Not, out[0]), nil
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return &Logic{Typed{tBoolean, anyNullable(out)}, n.Quantifier == "ANY", out}, nil
}

func (b *binder) like(n *parse.Like, operand, pattern Expr, escape rune) (Expr, error) {
	null := operand.Nullable() || pattern.Nullable()
	fold := b.ctx.Dialect == MySQL && b.ctx.MySQLCompare || operand.Type().Collation != ""
	if n.Op == "RLIKE" {
		pattern, err := b.pattern(pattern, n.At())
		if err != nil {
			return nil, err
		}
		if fold {
			return &Raw{Typed: Typed{tBoolean, null}, SQL: "regexp_matches({0}, {1}, 'i')", Args: []Expr{operand, pattern}}, nil
		}
		return &Raw{Typed: Typed{tBoolean, null}, SQL: "regexp_matches({0}, {1})", Args: []Expr{operand, pattern}}, nil
	}
	if text, ok := constantText(pattern); ok && escape != 0 && escapesBadly(text, escape) {
		if b.ctx.Dialect == Spark {
			return nil, fail(n.At(), "INVALID_FORMAT.ESC_IN_THE_MIDDLE", "the escape character in %q must stand before %%, _ or itself", text)
		}
		pattern = textLiteral(repairedEscapes(text, escape))
	}
	return &Like{Typed{tBoolean, null}, operand, pattern, escape, fold || n.Op == "ILIKE"}, nil
}

// escapesBadly tells whether an escape stands before an ordinary character or at the end.
func escapesBadly(pattern string, escape rune) bool {
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		if runes[i] != escape {
			continue
		}
		i++
		if i == len(runes) || runes[i] != '%' && runes[i] != '_' && runes[i] != escape {
			return true
		}
	}
	return false
}

// repairedEscapes writes a pattern so that an escape before an ordinary character stands for that character, as in MySQL.
func repairedEscapes(pattern string, escape rune) string {
	var out strings.Builder
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		if runes[i] != escape {
			out.WriteRune(runes[i])
			continue
		}
		i++
		if i == len(runes) {
			out.WriteString(string(escape) + string(escape))
			break
		}
		if runes[i] == '%' || runes[i] == '_' || runes[i] == escape {
			out.WriteRune(escape)
		}
		out.WriteRune(runes[i])
	}
	return out.String()
}

func (b *binder) bindIs(n *parse.Is) (Expr, error) {
	if n.What == "NULL" {
		e, err := b.bind(n.Operand)
		if err != nil {
			return nil, err
		}
		return negated(n.Not, &IsNull{Typed{tBoolean, false}, e}), nil
	}
	e, err := b.condition(n.Operand)
	if err != nil {
		return nil, err
	}
	switch n.What {
	case "UNKNOWN":
		return negated(n.Not, &IsNull{Typed{tBoolean, false}, e}), nil
	case "TRUE", "FALSE":
		return negated(n.Not, &Compare{Typed{tBoolean, false}, "IS NOT DISTINCT FROM", e, boolLiteral(n.What == "TRUE")}), nil
	}
	return nil, notSupported(n.At(), "IS %s is not supported", n.What)
}

func (b *binder) bindCase(n *parse.Case) (Expr, error) {
	var operand Expr
	var err error
	if n.Operand != nil {
		if operand, err = b.bind(n.Operand); err != nil {
			return nil, err
		}
	}
	whens := make([]When, len(n.Whens))
	var results []Expr
	for i, w := range n.Whens {
		if operand != nil {
			value, err := b.bind(w.Condition)
			if err != nil {
				return nil, err
			}
			if whens[i].Condition, err = b.compare("=", operand, value, w.Condition.At()); err != nil {
				return nil, err
			}
		} else if whens[i].Condition, err = b.condition(w.Condition); err != nil {
			return nil, err
		}
		if whens[i].Result, err = b.bind(w.Result); err != nil {
			return nil, err
		}
		results = append(results, whens[i].Result)
	}
	if n.Else != nil {
		other, err := b.bind(n.Else)
		if err != nil {
			return nil, err
		}
		results = append(results, other)
	}
	return b.caseOf(whens, results, n.At())
}

// caseOf makes a CASE whose results (one more than whens where there is an ELSE) are brought to one type.
func (b *binder) caseOf(whens []When, results []Expr, at parse.Pos) (Expr, error) {
	return throughout(results, func(results []Expr) (Expr, error) { return b.plainCase(whens, results, at) })
}

func (b *binder) plainCase(whens []When, results []Expr, at parse.Pos) (Expr, error) {
	results, t, err := b.unified(results, at)
	if err != nil {
		return nil, err
	}
	out := &Case{Typed: Typed{t, len(results) == len(whens) || anyNullable(results)}, Whens: make([]When, len(whens))}
	for i, w := range whens {
		out.Whens[i] = When{w.Condition, results[i]}
	}
	if len(results) > len(whens) {
		out.Else = results[len(whens)]
	}
	return out, nil
}

// unified brings expressions to their common type.
func (b *binder) unified(list []Expr, at parse.Pos) ([]Expr, protocol.DataType, error) {
	t := tVoid
	for _, e := range list {
		common, ok := commonType(t, e.Type(), b.ctx)
		if !ok {
			return nil, t, mismatch(at, "DATA_DIFF_TYPES", "the types %s and %s have no common type", t, e.Type())
		}
		t = common
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = convert(e, t, b.ctx, false); err != nil {
			return nil, t, placed(err, at)
		}
	}
	return out, t, nil
}
