package bind

import (
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// pushDown fills Scan.Filters: conditions over one scan's columns alone that every row of the scan that matters satisfies.
// The conditions stay where they are in the query; a scan may only skip what cannot satisfy them (B3).
//
// A condition moves down as follows. Through a derived table or a view it is rewritten over the inner items, unless a LIMIT,
// a window, DISTINCT ON or a sample stands between. Through GROUP BY go conditions over the keys of a single grouping set.
// Through UNION, INTERSECT and EXCEPT it goes to both sides. Through an inner join it goes to both sides; through an outer join only to the side
// that is kept, while conditions of ON go to the side that may be missing, and to the kept side of a semi join.
// An equality between columns of the two sides carries a condition over.
func pushDown(q *expr.Query) {
	d := &pusher{done: map[*expr.Query]bool{}}
	d.query(q, nil)
}

type pusher struct{ done map[*expr.Query]bool }

// condition over the outputs of a query: Columns of the relation over it stand for its outputs.
type condition struct {
	relation *expr.Relation
	e        expr.Expr
}

// query handles one query with the conditions that its reader puts on its outputs.
func (d *pusher) query(q *expr.Query, conditions []condition) {
	if q == nil || d.done[q] {
		return
	}
	d.done[q] = true
	for _, c := range q.With {
		if c.References != 1 || c.Recursive || c.Materialized {
			d.query(c.Query, nil)
		}
	}
	for _, o := range q.OrderBy {
		d.subqueries(o.Expr)
	}
	if q.Limit != nil || q.Offset != nil {
		conditions = nil
	}
	d.body(q.Body, conditions)
}

// subqueries handles the queries inside an expression, which take no conditions from outside.
func (d *pusher) subqueries(e expr.Expr) {
	walk(e, false, func(x expr.Expr) bool {
		if q := expr.QueryOf(x); q != nil {
			d.query(q, nil)
		}
		return true
	})
}

func (d *pusher) body(body expr.Body, conditions []condition) {
	switch body := body.(type) {
	case *expr.Query:
		d.query(body, conditions)
	case *expr.SetOperation:
		d.body(body.Left, conditions)
		d.body(body.Right, conditions)
	case *expr.Values:
		for _, row := range body.Rows {
			for _, x := range row {
				d.subqueries(x)
			}
		}
	case *expr.Select:
		d.block(body, conditions)
	}
}

func (d *pusher) block(s *expr.Select, conditions []condition) {
	for _, x := range s.Items {
		d.subqueries(x)
	}
	walkClauses(s, d.subqueries)
	known := conjuncts(s.Where, nil)
	for _, c := range conditions {
		if inner := inside(s, c); inner != nil {
			known = append(known, conjuncts(inner, nil)...)
		}
	}
	if s.Having != nil && !windowed(s) {
		for _, h := range conjuncts(s.Having, nil) {
			if overKeys(s, h) {
				known = append(known, h)
			}
		}
	}
	d.from(s.From, known)
}

// windowed tells whether a block computes windows, which see rows that a later condition removes.
func windowed(s *expr.Select) bool {
	if s.Qualify != nil {
		return true
	}
	for _, x := range s.Items {
		if contains(x, isWindow) {
			return true
		}
	}
	return false
}

// inside rewrites a condition on a block's outputs over the columns of its FROM; nil where it may not move down.
func inside(s *expr.Select, c condition) expr.Expr {
	if len(s.DistinctOn) > 0 || windowed(s) {
		return nil
	}
	inner := rewrite(c.e, func(x expr.Expr) expr.Expr {
		if column, ok := x.(*expr.Column); ok && column.Relation == c.relation {
			return s.Items[column.Index]
		}
		return nil
	})
	if larger(inner, maxPushed) || len(s.GroupBy) > 0 && !overKeys(s, inner) {
		return nil
	}
	return inner
}

// overKeys tells whether a condition of a grouped block depends on the keys of its one grouping set alone, so that it keeps or
// removes whole groups. A single global group never goes away, so nothing moves below it.
func overKeys(s *expr.Select, e expr.Expr) bool {
	if len(s.GroupBy) != 1 || !s.Grouped || len(s.GroupBy[0]) == 0 || !pure(e) {
		return false
	}
	holds := true
	var check func(x expr.Expr)
	check = func(x expr.Expr) {
		for _, key := range s.GroupBy[0] {
			if same(key, x) {
				return
			}
		}
		if _, ok := x.(*expr.Column); ok || isAggregate(x) {
			holds = false
			return
		}
		expr.Children(x, check)
	}
	check(e)
	return holds
}

// pure tells whether a condition gives the same answer wherever it is evaluated.
func pure(e expr.Expr) bool {
	return !volatile(e) && !contains(e, isSubquery) && !contains(e, isAggregate) && !contains(e, isWindow)
}

// from hands conditions to a FROM item: every row of it that matters satisfies them.
func (d *pusher) from(from expr.From, known []expr.Expr) {
	switch from := from.(type) {
	case *expr.Join:
		d.join(from, known)
	case *expr.Relation:
		for _, x := range from.Args {
			d.subqueries(x)
		}
		d.relation(from, known)
	}
}

func (d *pusher) relation(r *expr.Relation, known []expr.Expr) {
	var mine []expr.Expr
	if r.Sample == "" {
		for _, e := range known {
			if only(e, r) && pure(e) && !isTaken(mine, e) {
				mine = append(mine, e)
			}
		}
	}
	switch r.Kind {
	case expr.RelScan:
		r.Scan.Filters = append(r.Scan.Filters, mine...)
	case expr.RelQuery, expr.RelCTE:
		q := r.Query
		if r.Kind == expr.RelCTE {
			if r.CTE.References != 1 || r.CTE.Recursive || r.CTE.Materialized {
				return
			}
			q = r.CTE.Query
		}
		conditions := make([]condition, len(mine))
		for i, e := range mine {
			conditions[i] = condition{r, e}
		}
		d.query(q, conditions)
	}
}

// only tells whether a condition has columns, and all of them are the relation's.
func only(e expr.Expr, r *expr.Relation) bool {
	some, others := false, false
	walk(e, false, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok {
			switch {
			case c.Relation == r:
				some = true
			case c.Relation.Kind != expr.RelLambda:
				others = true
			}
		}
		return !others
	})
	return some && !others
}

func (d *pusher) join(j *expr.Join, known []expr.Expr) {
	on := conjuncts(j.On, nil)
	d.subqueriesOf(on)
	left, right := map[*expr.Relation]bool{}, map[*expr.Relation]bool{}
	relationsOf(j.Left, func(r *expr.Relation) { left[r] = true })
	relationsOf(j.Right, func(r *expr.Relation) { right[r] = true })
	var toLeft, toRight []expr.Expr
	switch j.Kind {
	case "INNER", "CROSS":
		all := closure(merge(known, innerConditions(j, nil)))
		toLeft, toRight = all, all
	case "LEFT":
		toLeft, toRight = known, merge(on, carried(known, on, left, right))
	case "RIGHT":
		toRight, toLeft = known, merge(on, carried(known, on, right, left))
	case "SEMI":
		toLeft = merge(known, on)
		toRight = merge(on, carried(toLeft, on, left, right))
	case "ANTI":
		toLeft, toRight = known, merge(on, carried(known, on, left, right))
	}
	d.from(j.Left, toLeft)
	d.from(j.Right, toRight)
}

func (d *pusher) subqueriesOf(list []expr.Expr) {
	for _, e := range list {
		d.subqueries(e)
	}
}

// merge is a list of both.
func merge(a, b []expr.Expr) []expr.Expr { return append(append([]expr.Expr(nil), a...), b...) }

// innerConditions are the ON conditions of a tree of inner joins, all of which hold for each of its rows.
func innerConditions(from expr.From, list []expr.Expr) []expr.Expr {
	j, ok := from.(*expr.Join)
	if !ok || j.Kind != "INNER" && j.Kind != "CROSS" {
		return list
	}
	return innerConditions(j.Right, innerConditions(j.Left, conjuncts(j.On, list)))
}

// closure adds what follows from equalities between columns: where a.k = b.k, a condition over a.k alone holds for b.k.
func closure(list []expr.Expr) []expr.Expr {
	const most = 500
	for done := 0; done < len(list) && len(list) < most; done++ {
		for _, derived := range derivations(list[done], list, nil, nil) {
			if !isTaken(list, derived) {
				list = append(list, derived)
			}
		}
	}
	return list
}

// carried derives conditions for one side of a join from conditions on the other side.
func carried(conditions, equalities []expr.Expr, from, to map[*expr.Relation]bool) []expr.Expr {
	var out []expr.Expr
	for _, e := range conditions {
		out = append(out, derivations(e, equalities, from, to)...)
	}
	return out
}

// derivations are the conditions that follow from e by the equalities; from and to, where given, say between which relations.
// Floating point columns are left out, since 0.0 equals -0.0 and is not the same.
func derivations(e expr.Expr, equalities []expr.Expr, from, to map[*expr.Relation]bool) []expr.Expr {
	column := soleColumn(e)
	if column == nil || !pure(e) || column.Of.Kind == protocol.KindFloat || column.Of.Kind == protocol.KindDouble {
		return nil
	}
	var out []expr.Expr
	for _, equality := range equalities {
		c, ok := equality.(*expr.Compare)
		if !ok || c.Op != "=" {
			continue
		}
		l, okLeft := c.Left.(*expr.Column)
		r, okRight := c.Right.(*expr.Column)
		if !okLeft || !okRight {
			continue
		}
		if same(r, column) {
			l, r = r, l
		}
		if !same(l, column) || same(r, column) || from != nil && (!from[l.Relation] || !to[r.Relation]) {
			continue
		}
		out = append(out, rewrite(e, func(x expr.Expr) expr.Expr {
			if same(x, l) {
				return r
			}
			return nil
		}))
	}
	return out
}

// soleColumn is the one column that a condition depends on; nil where there are none or several.
func soleColumn(e expr.Expr) *expr.Column {
	var sole *expr.Column
	several := false
	walk(e, false, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok && c.Relation.Kind != expr.RelLambda {
			several = several || sole != nil && !same(c, sole)
			sole = c
		}
		return !several
	})
	if several {
		return nil
	}
	return sole
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e expr.Expr, list []expr.Expr) []expr.Expr {
	if e == nil {
		return list
	}
	if l, ok := e.(*expr.Logic); ok && !l.Or {
		for _, x := range l.Operands {
			list = conjuncts(x, list)
		}
		return list
	}
	return append(list, e)
}
