package duckgen

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// Options say how a tree is printed.
type Options struct {
	// Relation prints a scan as a DuckDB table expression that can stand behind FROM, in parentheses where it is a query. Its
	// columns are the relation's Columns[i].Out; those that Scan.Used does not mark may be missing. Its bound values are args;
	// next is the number of the placeholder of the first.
	Relation func(r *expr.Relation, next int) (text string, args []any, err error)
}

// Nested is an expr.Source whose structs have other member names inside the scan than users see (column mapping).
type Nested interface {
	// PhysicalField is the name, inside the scan, of the member that path leads to below a column.
	PhysicalField(column int, path []protocol.LogicalName) protocol.PhysicalName
	// WholeColumn is the template of a column's logical value, {0} standing for the column of the scan; "" where the two are equal.
	WholeColumn(column int) string
}

// Print gives the statement's text and its bound values. A text that DuckDB cannot hold is an error; so is a tree that breaks
// the invariants of package expr.
func Print(q *expr.Query, opts Options) (string, []any, error) {
	p := &printer{opts: opts}
	text := p.query(q)
	return text, p.args, p.err
}

// Expression gives the text of an expression without columns, such as a constant to be folded: SELECT <text> evaluates it.
func Expression(e expr.Expr, opts Options) (string, []any, error) {
	p := &printer{opts: opts}
	text := p.expr(e)
	return text, p.args, p.err
}

// Bounds on what a tree may become as text: DuckDB takes seconds for some 10,000 words, and expressions of a limited depth.
const (
	maxCopied = 500  // words of an operand that is copied; a longer one is bound once
	maxLevels = 1000 // levels of an expression
)

type printer struct {
	opts   Options
	args   []any
	err    error
	levels int
	words  int // printed so far within an operand, those that DuckDB's macros come to included
	bound  int // the highest number of a lambda's parameter that binds operands, printed so far within an operand
}

func (p *printer) fail(format string, args ...any) string {
	if p.err == nil {
		p.err = protocol.NewError(protocol.ClassInternal, format, args...)
	}
	return "NULL"
}

func (p *printer) limit(format string, args ...any) string {
	if p.err == nil {
		p.err = protocol.NewError("DELTASQL_LIMIT_EXCEEDED", format, args...).WithHint("compute parts of it in subqueries of FROM")
	}
	return "NULL"
}

// quote quotes an identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// indent shifts a nested query's lines; line breaks inside quoted text belong to it and stay.
func indent(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '\'' || text[i] == '"' {
			end := quotedEnd(text, i)
			out.WriteString(text[i:end])
			i = end
			continue
		}
		out.WriteByte(text[i])
		if text[i] == '\n' {
			out.WriteString("  ")
		}
		i++
	}
	return out.String()
}

// nested puts a query into parentheses on lines of its own.
func nested(text string) string {
	if !strings.Contains(text, "\n") && len(text) < 100 {
		return "(" + text + ")"
	}
	return "(\n  " + indent(text) + "\n)"
}

// query prints a query with its WITH, ORDER BY and LIMIT.
func (p *printer) query(q *expr.Query) string {
	var text strings.Builder
	text.WriteString(p.with(q.With))
	_, isBlock := q.Body.(*expr.Select)
	if beyondPositions(q, isBlock) {
		text.WriteString(p.around(q))
	} else {
		text.WriteString(p.operand(q.Body) + p.orderBy(q.OrderBy, q.Output))
	}
	if q.Limit != nil {
		text.WriteString("\nLIMIT " + p.expr(q.Limit))
	}
	if q.Offset != nil {
		text.WriteString("\nOFFSET " + p.expr(q.Offset))
	}
	return text.String()
}

// beyondPositions tells whether ORDER BY needs the body as a relation. Behind a block DuckDB takes output columns by position and
// any expression over FROM; behind other bodies it takes positions only; expressions over outputs it takes nowhere.
func beyondPositions(q *expr.Query, block bool) bool {
	for _, o := range q.OrderBy {
		if c, ok := o.Expr.(*expr.Column); ok && c.Relation == q.Output {
			continue
		}
		if !block || namesOutput(o.Expr, q.Output) {
			return true
		}
	}
	return false
}

// around sorts by expressions over the outputs of a body.
func (p *printer) around(q *expr.Query) string {
	name := "r" + strconv.Itoa(q.Output.ID)
	columns := make([]string, len(q.Columns))
	names := make([]string, len(q.Columns))
	for i := range q.Columns {
		names[i] = "c" + strconv.Itoa(i)
		columns[i] = name + "." + names[i] + " AS " + names[i]
	}
	return "SELECT " + strings.Join(columns, ", ") + "\nFROM " + nested(p.operand(q.Body)) + " AS " + name + "(" + strings.Join(names, ", ") + ")" +
		p.orderBy(q.OrderBy, q.Output)
}

// orderBy prints ORDER BY, output columns by position.
func (p *printer) orderBy(orders []expr.Order, output *expr.Relation) string {
	if len(orders) == 0 {
		return ""
	}
	parts := make([]string, len(orders))
	for i, o := range orders {
		if c, ok := o.Expr.(*expr.Column); ok && c.Relation == output {
			parts[i] = strconv.Itoa(c.Index+1) + direction(o)
			continue
		}
		parts[i] = p.key(o.Expr) + direction(o)
	}
	return "\nORDER BY " + strings.Join(parts, ", ")
}

func direction(o expr.Order) string {
	text := " ASC"
	if o.Desc {
		text = " DESC"
	}
	if o.NullsFirst {
		return text + " NULLS FIRST"
	}
	return text + " NULLS LAST"
}

// key prints an expression of GROUP BY or ORDER BY, where a bare constant would be a position.
func (p *printer) key(e expr.Expr) string {
	text := p.expr(e)
	if l, ok := e.(*expr.Literal); ok && !strings.Contains(text, "::") {
		return "CAST(" + text + " AS " + expr.DuckType(l.Of) + ")"
	}
	return text
}

func (p *printer) with(ctes []*expr.CTE) string {
	if len(ctes) == 0 {
		return ""
	}
	recursive := ""
	parts := make([]string, len(ctes))
	for i, c := range ctes {
		hint := ""
		switch {
		case c.Recursive:
			recursive = "RECURSIVE "
		case c.Materialized:
			hint = "MATERIALIZED "
		case c.References == 1:
			hint = "NOT MATERIALIZED "
		}
		columns := make([]string, len(c.Columns))
		for j := range c.Columns {
			columns[j] = "c" + strconv.Itoa(j)
		}
		parts[i] = "cte" + strconv.Itoa(c.ID) + "(" + strings.Join(columns, ", ") + ") AS " + hint + nested(p.query(c.Query))
	}
	return "WITH " + recursive + strings.Join(parts, ",\n") + "\n"
}

// operand prints a body as it stands in a set operation or alone before ORDER BY.
func (p *printer) operand(body expr.Body) string {
	switch body := body.(type) {
	case *expr.Select:
		return p.block(body)
	case *expr.SetOperation:
		left := p.operand(body.Left)
		if _, ok := body.Left.(*expr.SetOperation); ok && body.Left.(*expr.SetOperation).Op != body.Op {
			left = nested(left)
		}
		right := p.operand(body.Right)
		if _, ok := body.Right.(*expr.SetOperation); ok {
			right = nested(right)
		}
		return left + "\n" + body.Op + "\n" + right
	case *expr.Values:
		return p.values(body)
	case *expr.Query:
		return nested(p.query(body))
	}
	return p.fail("a query body of an unknown kind %T", body)
}

func (p *printer) values(v *expr.Values) string {
	if text, ok := constantRows(v); ok {
		return text
	}
	rows := make([]string, len(v.Rows))
	for i, row := range v.Rows {
		cells := make([]string, len(row))
		for j, x := range row {
			cells[j] = p.expr(x)
		}
		rows[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	names := make([]string, len(v.Rows[0]))
	for j := range names {
		names[j] = "c" + strconv.Itoa(j)
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS v(" + strings.Join(names, ", ") + ")"
}

// block prints one SELECT.
func (p *printer) block(s *expr.Select) string {
	var text strings.Builder
	text.WriteString("SELECT ")
	switch {
	case len(s.DistinctOn) > 0:
		text.WriteString("DISTINCT ON (" + p.list(s.DistinctOn) + ") ")
	case s.Distinct:
		text.WriteString("DISTINCT ")
	}
	items := make([]string, len(s.Items))
	for i, x := range s.Items {
		items[i] = p.expr(x) + " AS c" + strconv.Itoa(i)
	}
	text.WriteString(strings.Join(items, ", "))
	if s.From != nil {
		text.WriteString("\nFROM " + p.from(s.From))
	}
	if s.Where != nil {
		text.WriteString("\nWHERE " + p.expr(s.Where))
	}
	if s.Grouped {
		text.WriteString("\nGROUP BY " + p.groups(s.GroupBy))
	}
	if s.Having != nil {
		text.WriteString("\nHAVING " + p.expr(s.Having))
	}
	if s.Qualify != nil {
		text.WriteString("\nQUALIFY " + p.expr(s.Qualify))
	}
	return text.String()
}

func (p *printer) groups(sets []expr.GroupSet) string {
	if len(sets) == 1 && len(sets[0]) > 0 {
		keys := make([]string, len(sets[0]))
		for i, x := range sets[0] {
			keys[i] = p.key(x)
		}
		return strings.Join(keys, ", ")
	}
	parts := make([]string, len(sets))
	for i, set := range sets {
		keys := make([]string, len(set))
		for j, x := range set {
			keys[j] = p.key(x)
		}
		parts[i] = "(" + strings.Join(keys, ", ") + ")"
	}
	return "GROUPING SETS (" + strings.Join(parts, ", ") + ")"
}

func (p *printer) list(list []expr.Expr) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = p.expr(x)
	}
	return strings.Join(parts, ", ")
}

// from prints a FROM item. Joins nest to the left without parentheses.
func (p *printer) from(from expr.From) string {
	switch from := from.(type) {
	case *expr.Relation:
		return p.relation(from)
	case *expr.Join:
		left := p.from(from.Left)
		right := p.from(from.Right)
		switch r := from.Right.(type) {
		case *expr.Join:
			right = "(" + indent(right) + ")"
		case *expr.Relation:
			if r.Lateral {
				right = "LATERAL " + right
			}
		}
		text := left + "\n" + from.Kind + " JOIN " + right
		if from.On != nil {
			text += " ON " + p.expr(from.On)
		}
		return text
	}
	return p.fail("a FROM item of an unknown kind %T", from)
}

func (p *printer) relation(r *expr.Relation) string {
	name := "r" + strconv.Itoa(r.ID)
	var text string
	switch r.Kind {
	case expr.RelScan:
		if p.opts.Relation == nil {
			return p.fail("no printer of scans was given")
		}
		scan, args, err := p.opts.Relation(r, len(p.args)+1)
		if err != nil {
			if p.err == nil {
				p.err = err
			}
			return "NULL"
		}
		text, p.args = scan+" AS "+name, append(p.args, args...)
	case expr.RelQuery:
		text = nested(p.query(r.Query)) + " AS " + name
	case expr.RelCTE:
		text = "cte" + strconv.Itoa(r.CTE.ID) + " AS " + name
	case expr.RelSQL:
		columns := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			columns[i] = quote(c.Out)
		}
		text = p.template(r.SQL, r.Args) + " AS " + name + "(" + strings.Join(columns, ", ") + ")"
	default:
		return p.fail("a relation of kind %d cannot stand in FROM", r.Kind)
	}
	if r.Sample != "" {
		text += " " + r.Sample
	}
	return text
}

// namesOutput tells whether an expression has a column of a relation.
func namesOutput(e expr.Expr, output *expr.Relation) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		c, ok := x.(*expr.Column)
		found = found || ok && c.Relation == output
		return !found
	})
	return found
}
