package duckgen

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// primary prints an operand, in parentheses unless it holds together by itself.
func (p *printer) primary(e expr.Expr) string {
	text := p.expr(e)
	if selfContained(text) {
		return text
	}
	return "(" + text + ")"
}

// expr prints an expression as it stands alone: in a list, an item, a condition.
func (p *printer) expr(e expr.Expr) string {
	if p.err != nil {
		return "NULL"
	}
	if p.levels++; p.levels > maxLevels {
		return p.limit("an expression is nested more than %d levels deep", maxLevels)
	}
	defer func() { p.levels-- }()
	p.words++
	if expr.QueryOf(e) != nil {
		p.words += maxCopied // a copied query would be planned and run again
	}
	switch e := e.(type) {
	case *expr.Literal:
		return p.literal(e)
	case *expr.Column:
		return p.column(e)
	case *expr.Field:
		return p.field(e)
	case *expr.Cast:
		word := "CAST("
		if e.Try {
			word = "TRY_CAST("
		}
		return word + p.expr(e.Operand) + " AS " + expr.DuckType(e.Of) + ")"
	case *expr.Compare:
		return p.primary(e.Left) + " " + e.Op + " " + p.primary(e.Right)
	case *expr.Logic:
		word := " AND "
		if e.Or {
			word = " OR "
		}
		parts := make([]string, len(e.Operands))
		for i, x := range e.Operands {
			parts[i] = p.logical(x, e.Or)
		}
		return strings.Join(parts, word)
	case *expr.Not:
		switch x := e.Operand.(type) {
		case *expr.IsNull:
			return p.primary(x.Operand) + " IS NOT NULL"
		case *expr.In, *expr.InQuery, *expr.Like:
			return "NOT (" + p.expr(x) + ")"
		}
		return "NOT " + p.primary(e.Operand)
	case *expr.IsNull:
		return p.primary(e.Operand) + " IS NULL"
	case *expr.In:
		return p.in(e)
	case *expr.Like:
		word := " LIKE "
		if e.CaseFold {
			word = " ILIKE "
		}
		text := p.primary(e.Operand) + word + p.primary(e.Pattern)
		if e.Escape != 0 && !withoutEscapes(e) {
			text += " ESCAPE " + p.text(string(e.Escape))
		}
		return text
	case *expr.Case:
		return p.cases(e)
	case *expr.Raw:
		return p.template(e.SQL, e.Args)
	case *expr.Lambda:
		params := make([]string, len(e.Params.Columns))
		for i := range params {
			params[i] = lambdaParam(e.Params, i)
		}
		return "lambda " + strings.Join(params, ", ") + ": " + p.expr(e.Body)
	case *expr.Aggregate:
		return p.aggregate(e)
	case *expr.Window:
		return p.window(e)
	case *expr.Subquery:
		return nested(p.query(e.Query))
	case *expr.Exists:
		return "EXISTS " + nested(p.query(e.Query))
	case *expr.InQuery:
		operand := p.primary(e.Operands[0])
		if len(e.Operands) > 1 {
			operand = "(" + p.list(e.Operands) + ")"
		}
		return operand + " IN " + nested(p.query(e.Query))
	case *expr.Quantified:
		word := " ANY "
		if e.All {
			word = " ALL "
		}
		return p.primary(e.Operand) + " " + e.Op + word + nested(p.query(e.Query))
	case *expr.Grouping:
		return "GROUPING(" + p.list(e.Args) + ")"
	}
	return p.fail("an expression of an unknown kind %T", e)
}

// withoutEscapes says that a pattern is a constant without the escape character. DuckDB has fast ways for LIKE, and statistics
// of files for a prefix, but none for LIKE ... ESCAPE.
func withoutEscapes(e *expr.Like) bool {
	pattern, ok := e.Pattern.(*expr.Literal)
	return ok && !strings.ContainsRune(pattern.Value.Str, e.Escape)
}

// in prints an IN list. A NULL in the list becomes a term of its own, which has the same truth: DuckDB 2.0 breaks with an INTERNAL
// error on a condition on a struct's member whose list holds one.
func (p *printer) in(e *expr.In) string {
	if len(e.List) == 0 {
		return p.fail("an empty IN list")
	}
	values := make([]expr.Expr, 0, len(e.List))
	for _, value := range e.List {
		if !isNull(value) {
			values = append(values, value)
		}
	}
	switch {
	case len(values) == len(e.List):
		return p.primary(e.Operand) + " IN (" + p.list(values) + ")"
	case len(values) == 0:
		return "(" + p.primary(e.Operand) + " = NULL)"
	}
	return "(" + p.primary(e.Operand) + " IN (" + p.list(values) + ") OR CAST(NULL AS BOOLEAN))"
}

// isNull tells whether an expression is the constant NULL of some type.
func isNull(e expr.Expr) bool {
	if cast, ok := e.(*expr.Cast); ok {
		return isNull(cast.Operand)
	}
	literal, ok := e.(*expr.Literal)
	return ok && literal.Value.Null
}

// logical prints an operand of AND or OR; comparisons bind more tightly and need no parentheses.
func (p *printer) logical(e expr.Expr, or bool) string {
	switch e := e.(type) {
	case *expr.Compare, *expr.IsNull, *expr.In, *expr.Like, *expr.InQuery, *expr.Exists, *expr.Not:
		return p.expr(e)
	case *expr.Logic:
		if !e.Or && or {
			return p.expr(e)
		}
	}
	return p.primary(e)
}

func lambdaParam(r *expr.Relation, i int) string {
	return "l" + strconv.Itoa(r.ID) + "_" + strconv.Itoa(i)
}

// column prints a column; the whole struct of a mapped table gets its logical member names.
func (p *printer) column(c *expr.Column) string {
	if whole := p.whole(c); whole != "" {
		return p.fill(whole, []string{p.physical(c)})
	}
	return p.physical(c)
}

// whole is the template of a scan's column whose logical value differs from what the scan gives; "" for others.
func (p *printer) whole(c *expr.Column) string {
	if c.Relation.Kind != expr.RelScan || c.Relation.Scan == nil {
		return ""
	}
	if n, ok := c.Relation.Scan.Source.(Nested); ok {
		return n.WholeColumn(c.Index)
	}
	return ""
}

// physical prints a column as its relation has it.
func (p *printer) physical(c *expr.Column) string {
	r := c.Relation
	if r == nil || c.Index < 0 || c.Index >= len(r.Columns) {
		return p.fail("a column outside of its relation")
	}
	if r.Kind == expr.RelLambda {
		return lambdaParam(r, c.Index)
	}
	out := r.Columns[c.Index].Out
	if r.Kind == expr.RelQuery || r.Kind == expr.RelCTE {
		out = "c" + strconv.Itoa(c.Index)
	}
	return "r" + strconv.Itoa(r.ID) + "." + quote(out)
}

// field prints a struct member. Over a column of a scan it names the physical member, so that files are still pruned by it; a
// member that is nested itself is taken out of the whole logical value.
func (p *printer) field(f *expr.Field) string {
	var path []protocol.LogicalName
	at := expr.Expr(f)
	for {
		inner, ok := at.(*expr.Field)
		if !ok {
			break
		}
		path = append([]protocol.LogicalName{inner.Name}, path...)
		at = inner.Operand
	}
	if c, ok := at.(*expr.Column); ok && p.whole(c) != "" && !hasMembers(f.Of) {
		n := c.Relation.Scan.Source.(Nested)
		text := p.physical(c)
		for i := range path {
			text += "." + quote(string(n.PhysicalField(c.Index, path[:i+1])))
		}
		return text
	}
	if c, ok := f.Operand.(*expr.Column); ok && p.whole(c) == "" {
		return p.physical(c) + "." + quote(string(f.Name))
	}
	if inner, ok := f.Operand.(*expr.Field); ok {
		return p.field(inner) + "." + quote(string(f.Name))
	}
	return "(" + p.expr(f.Operand) + ")." + quote(string(f.Name))
}

// hasMembers tells whether a type has structs in it.
func hasMembers(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindStruct:
		return true
	case protocol.KindArray:
		return hasMembers(*t.Element)
	case protocol.KindMap:
		return hasMembers(*t.Key) || hasMembers(*t.Value)
	}
	return false
}

func (p *printer) cases(c *expr.Case) string {
	var text strings.Builder
	text.WriteString("CASE")
	for _, w := range c.Whens {
		text.WriteString(" WHEN " + p.expr(w.Condition) + " THEN " + p.expr(w.Result))
	}
	if c.Else != nil {
		text.WriteString(" ELSE " + p.expr(c.Else))
	}
	return text.String() + " END"
}

func (p *printer) aggregate(a *expr.Aggregate) string {
	return p.call(a.Name, a.Args, a.Distinct, a.OrderBy, false) + p.filter(a.Filter)
}

func (p *printer) filter(e expr.Expr) string {
	if e == nil {
		return ""
	}
	return " FILTER (WHERE " + p.expr(e) + ")"
}

// call prints a function call with DISTINCT, ORDER BY and IGNORE NULLS inside its parentheses.
func (p *printer) call(name string, args []expr.Expr, distinct bool, orders []expr.Order, ignoreNulls bool) string {
	inside := p.list(args)
	if len(args) == 0 && strings.EqualFold(name, "count") {
		inside = "*"
	}
	if distinct {
		inside = "DISTINCT " + inside
	}
	if len(orders) > 0 {
		parts := make([]string, len(orders))
		for i, o := range orders {
			parts[i] = p.key(o.Expr) + direction(o)
		}
		inside += " ORDER BY " + strings.Join(parts, ", ")
	}
	if ignoreNulls {
		inside += " IGNORE NULLS"
	}
	return name + "(" + inside + ")"
}

func (p *printer) window(w *expr.Window) string {
	text := p.call(w.Name, w.Args, w.Distinct, w.ArgOrder, w.IgnoreNulls) + p.filter(w.Filter)
	var parts []string
	if len(w.Spec.PartitionBy) > 0 {
		keys := make([]string, len(w.Spec.PartitionBy))
		for i, x := range w.Spec.PartitionBy {
			keys[i] = p.key(x)
		}
		parts = append(parts, "PARTITION BY "+strings.Join(keys, ", "))
	}
	if len(w.Spec.OrderBy) > 0 {
		keys := make([]string, len(w.Spec.OrderBy))
		for i, o := range w.Spec.OrderBy {
			keys[i] = p.key(o.Expr) + direction(o)
		}
		parts = append(parts, "ORDER BY "+strings.Join(keys, ", "))
	}
	if w.Spec.Frame != "" {
		parts = append(parts, p.template(w.Spec.Frame, w.Spec.Bounds))
	}
	return text + " OVER (" + strings.Join(parts, " ") + ")"
}
