package bind

import (
	"deltasql/sqlengine/expr"
)

// walk visits e and what is below it, parents first, while f returns true. With deep it goes into subqueries as well.
func walk(e expr.Expr, deep bool, f func(expr.Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	expr.Children(e, func(c expr.Expr) { walk(c, deep, f) })
	if q := expr.QueryOf(e); deep && q != nil {
		walkQuery(q, func(x expr.Expr) { walk(x, true, f) })
	}
}

// walkQuery calls f with every expression of a query's clauses, those of nested relations included.
func walkQuery(q *expr.Query, f func(expr.Expr)) {
	for _, c := range q.With {
		walkQuery(c.Query, f)
	}
	walkBody(q.Body, f)
	for _, o := range q.OrderBy {
		f(o.Expr)
	}
}

func walkBody(body expr.Body, f func(expr.Expr)) {
	switch body := body.(type) {
	case *expr.Query:
		walkQuery(body, f)
	case *expr.SetOperation:
		walkBody(body.Left, f)
		walkBody(body.Right, f)
	case *expr.Values:
		for _, row := range body.Rows {
			for _, x := range row {
				f(x)
			}
		}
	case *expr.Select:
		for _, x := range body.Items {
			f(x)
		}
		walkClauses(body, f)
		walkFrom(body.From, f)
	}
}

// walkClauses calls f with the expressions of a block other than its items and its FROM.
func walkClauses(s *expr.Select, f func(expr.Expr)) {
	for _, x := range s.DistinctOn {
		f(x)
	}
	for _, set := range s.GroupBy {
		for _, x := range set {
			f(x)
		}
	}
	for _, x := range []expr.Expr{s.Where, s.Having, s.Qualify} {
		if x != nil {
			f(x)
		}
	}
}

func walkFrom(from expr.From, f func(expr.Expr)) {
	switch from := from.(type) {
	case *expr.Join:
		walkFrom(from.Left, f)
		walkFrom(from.Right, f)
		if from.On != nil {
			f(from.On)
		}
	case *expr.Relation:
		for _, x := range from.Args {
			f(x)
		}
		if from.Query != nil {
			walkQuery(from.Query, f)
		}
	}
}

// relationsOf lists the relations of one FROM, not those inside derived tables.
func relationsOf(from expr.From, f func(*expr.Relation)) {
	switch from := from.(type) {
	case *expr.Join:
		relationsOf(from.Left, f)
		relationsOf(from.Right, f)
	case *expr.Relation:
		f(from)
	}
}

// volatile tells whether e may give another value each time it is evaluated.
func volatile(e expr.Expr) bool {
	found := false
	walk(e, true, func(x expr.Expr) bool {
		if r, ok := x.(*expr.Raw); ok && r.Volatile {
			found = true
		}
		return !found
	})
	return found
}

// contains tells whether is holds for e or something below it, subqueries not included.
func contains(e expr.Expr, is func(expr.Expr) bool) bool {
	found := false
	walk(e, false, func(x expr.Expr) bool {
		found = found || is(x)
		return !found
	})
	return found
}

// larger tells whether an expression has more than n nodes, literals not counted (a list is as long as its text). Expressions share parts, so a short text can stand for a tree that
// is too large to walk: whatever puts expressions into others asks this first.
func larger(e expr.Expr, n int) bool {
	walk(e, false, func(x expr.Expr) bool {
		if _, literal := x.(*expr.Literal); !literal {
			n--
		}
		return n >= 0
	})
	return n < 0
}

func isAggregate(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Aggregate, *expr.Grouping:
		return true
	}
	return false
}

func isWindow(e expr.Expr) bool { _, ok := e.(*expr.Window); return ok }

func isSubquery(e expr.Expr) bool { return expr.QueryOf(e) != nil }

// same tells whether two expressions always have the same value in a row: the same node, or the same shape without
// volatile parts and subqueries.
func same(a, b expr.Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || !a.Type().Equal(b.Type()) {
		return false
	}
	switch a := a.(type) {
	case *expr.Literal:
		b, ok := b.(*expr.Literal)
		return ok && a.Value == b.Value
	case *expr.Column:
		b, ok := b.(*expr.Column)
		return ok && a.Relation == b.Relation && a.Index == b.Index
	case *expr.Field:
		b, ok := b.(*expr.Field)
		return ok && a.Name == b.Name && same(a.Operand, b.Operand)
	case *expr.Cast:
		b, ok := b.(*expr.Cast)
		return ok && a.Try == b.Try && same(a.Operand, b.Operand)
	case *expr.Compare:
		b, ok := b.(*expr.Compare)
		return ok && a.Op == b.Op && same(a.Left, b.Left) && same(a.Right, b.Right)
	case *expr.Logic:
		b, ok := b.(*expr.Logic)
		return ok && a.Or == b.Or && sameList(a.Operands, b.Operands)
	case *expr.Not:
		b, ok := b.(*expr.Not)
		return ok && same(a.Operand, b.Operand)
	case *expr.IsNull:
		b, ok := b.(*expr.IsNull)
		return ok && same(a.Operand, b.Operand)
	case *expr.In:
		b, ok := b.(*expr.In)
		return ok && same(a.Operand, b.Operand) && sameList(a.List, b.List)
	case *expr.Like:
		b, ok := b.(*expr.Like)
		return ok && a.Escape == b.Escape && a.CaseFold == b.CaseFold && same(a.Operand, b.Operand) && same(a.Pattern, b.Pattern)
	case *expr.Case:
		b, ok := b.(*expr.Case)
		if !ok || len(a.Whens) != len(b.Whens) || (a.Else == nil) != (b.Else == nil) {
			return false
		}
		for i := range a.Whens {
			if !same(a.Whens[i].Condition, b.Whens[i].Condition) || !same(a.Whens[i].Result, b.Whens[i].Result) {
				return false
			}
		}
		return a.Else == nil || same(a.Else, b.Else)
	case *expr.Raw:
		b, ok := b.(*expr.Raw)
		return ok && !a.Volatile && a.SQL == b.SQL && sameList(a.Args, b.Args)
	case *expr.Lambda:
		b, ok := b.(*expr.Lambda)
		return ok && sameLambda(a, b)
	case *expr.Aggregate:
		b, ok := b.(*expr.Aggregate)
		return ok && a.Name == b.Name && a.Distinct == b.Distinct && sameList(a.Args, b.Args) &&
			sameOrder(a.OrderBy, b.OrderBy) && sameOptional(a.Filter, b.Filter)
	case *expr.Window:
		b, ok := b.(*expr.Window)
		return ok && a.Name == b.Name && a.Distinct == b.Distinct && a.IgnoreNulls == b.IgnoreNulls && sameList(a.Args, b.Args) &&
			sameOrder(a.ArgOrder, b.ArgOrder) && sameOptional(a.Filter, b.Filter) && a.Spec.Frame == b.Spec.Frame &&
			sameList(a.Spec.PartitionBy, b.Spec.PartitionBy) && sameOrder(a.Spec.OrderBy, b.Spec.OrderBy) &&
			sameList(a.Spec.Bounds, b.Spec.Bounds)
	case *expr.Grouping:
		b, ok := b.(*expr.Grouping)
		return ok && sameList(a.Args, b.Args)
	}
	return false
}

func sameList(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameOptional(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return same(a, b)
}

func sameOrder(a, b []expr.Order) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Desc != b[i].Desc || a[i].NullsFirst != b[i].NullsFirst || !same(a[i].Expr, b[i].Expr) {
			return false
		}
	}
	return true
}

// sameLambda compares bodies with b's parameters read as a's.
func sameLambda(a, b *expr.Lambda) bool {
	if len(a.Params.Columns) != len(b.Params.Columns) {
		return false
	}
	body := rewrite(b.Body, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Column); ok && c.Relation == b.Params {
			return &expr.Column{Typed: c.Typed, Relation: a.Params, Index: c.Index}
		}
		return nil
	})
	return same(a.Body, body)
}

// rewrite gives e with every part for which f gives an expression replaced by it, outermost parts first. Nodes without a
// replaced part are shared. Subqueries are left alone.
func rewrite(e expr.Expr, f func(expr.Expr) expr.Expr) expr.Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	changed := false
	one := func(x expr.Expr) expr.Expr {
		if x == nil {
			return nil
		}
		r := rewrite(x, f)
		changed = changed || r != x
		return r
	}
	list := func(xs []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(xs))
		for i, x := range xs {
			out[i] = one(x)
		}
		return out
	}
	orders := func(os []expr.Order) []expr.Order {
		out := make([]expr.Order, len(os))
		for i, o := range os {
			out[i] = expr.Order{Expr: one(o.Expr), Desc: o.Desc, NullsFirst: o.NullsFirst}
		}
		return out
	}
	var copied expr.Expr
	switch e := e.(type) {
	case *expr.Field:
		n := *e
		n.Operand = one(e.Operand)
		copied = &n
	case *expr.Cast:
		n := *e
		n.Operand = one(e.Operand)
		copied = &n
	case *expr.Compare:
		n := *e
		n.Left, n.Right = one(e.Left), one(e.Right)
		copied = &n
	case *expr.Logic:
		n := *e
		n.Operands = list(e.Operands)
		copied = &n
	case *expr.Not:
		n := *e
		n.Operand = one(e.Operand)
		copied = &n
	case *expr.IsNull:
		n := *e
		n.Operand = one(e.Operand)
		copied = &n
	case *expr.In:
		n := *e
		n.Operand, n.List = one(e.Operand), list(e.List)
		copied = &n
	case *expr.Like:
		n := *e
		n.Operand, n.Pattern = one(e.Operand), one(e.Pattern)
		copied = &n
	case *expr.Case:
		n := *e
		n.Whens = make([]expr.When, len(e.Whens))
		for i, w := range e.Whens {
			n.Whens[i] = expr.When{Condition: one(w.Condition), Result: one(w.Result)}
		}
		if e.Else != nil {
			n.Else = one(e.Else)
		}
		copied = &n
	case *expr.Raw:
		n := *e
		n.Args = list(e.Args)
		copied = &n
	case *expr.Lambda:
		n := *e
		n.Body = one(e.Body)
		copied = &n
	case *expr.Aggregate:
		n := *e
		n.Args, n.OrderBy = list(e.Args), orders(e.OrderBy)
		if e.Filter != nil {
			n.Filter = one(e.Filter)
		}
		copied = &n
	case *expr.Window:
		n := *e
		n.Args, n.ArgOrder = list(e.Args), orders(e.ArgOrder)
		if e.Filter != nil {
			n.Filter = one(e.Filter)
		}
		n.Spec.PartitionBy, n.Spec.OrderBy, n.Spec.Bounds = list(e.Spec.PartitionBy), orders(e.Spec.OrderBy), list(e.Spec.Bounds)
		copied = &n
	case *expr.InQuery:
		n := *e
		n.Operands = list(e.Operands)
		copied = &n
	case *expr.Quantified:
		n := *e
		n.Operand = one(e.Operand)
		copied = &n
	case *expr.Grouping:
		n := *e
		n.Args = list(e.Args)
		copied = &n
	}
	if !changed {
		return e
	}
	return copied
}
