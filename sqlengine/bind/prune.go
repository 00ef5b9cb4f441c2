package bind

import (
	"deltasql/sqlengine/expr"
)

// prune marks the columns of scans that the query reads and replaces outputs of inner queries that nobody reads by NULL, so
// that a view over a wide table costs only what is asked of it. It works on demand: reading an output reads its expression.
func prune(q *expr.Query) {
	p := &pruner{seen: map[*expr.Query]map[int]bool{}, entered: map[*expr.Query]bool{}, references: map[*expr.CTE]int{}}
	p.enter(q)
	p.everything(q)
	p.clear()
}

type pruner struct {
	seen       map[*expr.Query]map[int]bool // outputs that are read
	entered    map[*expr.Query]bool
	order      []*expr.Query
	references map[*expr.CTE]int
}

// everything reads all outputs.
func (p *pruner) everything(q *expr.Query) {
	for i := range q.Columns {
		p.output(q, i)
	}
}

// enter reads what a query reads whatever its outputs are for: conditions, keys, sort orders, and its relations.
func (p *pruner) enter(q *expr.Query) {
	if q == nil || p.entered[q] {
		return
	}
	p.entered[q] = true
	p.order = append(p.order, q)
	p.seen[q] = map[int]bool{}
	for _, o := range q.OrderBy {
		if c, ok := o.Expr.(*expr.Column); ok && c.Relation == q.Output {
			p.output(q, c.Index)
			continue
		}
		walk(o.Expr, false, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Column); ok && c.Relation == q.Output {
				p.output(q, c.Index)
			}
			return true
		})
		p.read(o.Expr)
	}
	p.enterBody(q.Body)
	if !prunable(q.Body) {
		p.everything(q)
	}
}

func (p *pruner) enterBody(body expr.Body) {
	switch body := body.(type) {
	case *expr.Query:
		p.enter(body)
	case *expr.SetOperation:
		p.enterBody(body.Left)
		p.enterBody(body.Right)
	case *expr.Select:
		walkClauses(body, p.read)
		p.enterFrom(body.From)
	}
}

func (p *pruner) enterFrom(from expr.From) {
	switch from := from.(type) {
	case *expr.Join:
		p.enterFrom(from.Left)
		p.enterFrom(from.Right)
		if from.On != nil {
			p.read(from.On)
		}
	case *expr.Relation:
		for _, x := range from.Args {
			p.read(x)
		}
		p.enter(from.Query)
		if from.CTE != nil {
			p.references[from.CTE]++
			p.enter(from.CTE.Query)
			if from.CTE.Recursive {
				p.everything(from.CTE.Query)
			}
		}
	}
}

// prunable tells whether a body's rows stay the same when an output is not computed.
func prunable(body expr.Body) bool {
	switch body := body.(type) {
	case *expr.Select:
		oneGroup := len(body.GroupBy) > 0 && !body.Grouped
		return !body.Distinct && !oneGroup
	case *expr.SetOperation:
		return body.Op == "UNION ALL" && prunable(body.Left) && prunable(body.Right)
	case *expr.Query:
		return prunable(body.Body)
	}
	return false
}

// output reads output column i of a query.
func (p *pruner) output(q *expr.Query, i int) {
	if p.seen[q] == nil {
		p.enter(q)
	}
	if p.seen[q][i] {
		return
	}
	p.seen[q][i] = true
	p.bodyOutput(q.Body, i)
}

func (p *pruner) bodyOutput(body expr.Body, i int) {
	switch body := body.(type) {
	case *expr.Query:
		p.output(body, i)
	case *expr.SetOperation:
		p.bodyOutput(body.Left, i)
		p.bodyOutput(body.Right, i)
	case *expr.Select:
		p.read(body.Items[i])
	case *expr.Values:
		for _, row := range body.Rows {
			p.read(row[i])
		}
	}
}

// read follows an expression to the columns it needs.
func (p *pruner) read(e expr.Expr) {
	walk(e, false, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok {
			p.column(c)
		}
		if q := expr.QueryOf(x); q != nil {
			if _, exists := x.(*expr.Exists); exists {
				onlyRows(q)
			}
			p.enter(q)
			p.everything(q)
		}
		return true
	})
}

// onlyRows makes a query give TRUE for each of its rows, where nothing but their number matters.
func onlyRows(q *expr.Query) {
	s, ok := q.Body.(*expr.Select)
	if !ok || !prunable(s) || len(s.DistinctOn) > 0 || len(q.OrderBy) > 0 || q.Output == nil {
		return
	}
	s.Items, s.Visible = []expr.Expr{literalTrue()}, 1
	q.Output.Columns = []expr.OutputColumn{{Out: "c0", Type: s.Items[0].Type()}}
	q.Columns = q.Output.Columns
}

func (p *pruner) column(c *expr.Column) {
	switch r := c.Relation; r.Kind {
	case expr.RelScan:
		r.Scan.Used[c.Index] = true
	case expr.RelQuery:
		if r.Query != nil {
			p.output(r.Query, c.Index)
		}
	case expr.RelCTE:
		if r.CTE.Query != nil {
			p.output(r.CTE.Query, c.Index)
		}
	}
}

// clear replaces the items and drops the common table expressions that nobody reads.
func (p *pruner) clear() {
	for _, q := range p.order {
		var with []*expr.CTE
		for _, c := range q.With {
			if c.References = p.references[c]; c.References > 0 {
				with = append(with, c)
			}
		}
		q.With = with
		p.clearBody(q.Body, p.seen[q])
	}
}

func (p *pruner) clearBody(body expr.Body, seen map[int]bool) {
	switch body := body.(type) {
	case *expr.SetOperation:
		p.clearBody(body.Left, seen)
		p.clearBody(body.Right, seen)
	case *expr.Select:
		for i, x := range body.Items {
			if !seen[i] {
				body.Items[i] = expr.Null(x.Type())
			}
		}
	}
}
