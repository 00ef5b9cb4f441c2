package expr

// Children calls f with the direct operands of e, not with the queries inside it.
func Children(e Expr, f func(Expr)) {
	each := func(list []Expr) {
		for _, x := range list {
			f(x)
		}
	}
	orders := func(list []Order) {
		for _, o := range list {
			f(o.Expr)
		}
	}
	switch e := e.(type) {
	case *Field:
		f(e.Operand)
	case *Cast:
		f(e.Operand)
	case *Compare:
		f(e.Left)
		f(e.Right)
	case *Logic:
		each(e.Operands)
	case *Not:
		f(e.Operand)
	case *IsNull:
		f(e.Operand)
	case *In:
		f(e.Operand)
		each(e.List)
	case *Like:
		f(e.Operand)
		f(e.Pattern)
	case *Case:
		for _, w := range e.Whens {
			f(w.Condition)
			f(w.Result)
		}
		if e.Else != nil {
			f(e.Else)
		}
	case *Raw:
		each(e.Args)
	case *Lambda:
		f(e.Body)
	case *Aggregate:
		each(e.Args)
		orders(e.OrderBy)
		if e.Filter != nil {
			f(e.Filter)
		}
	case *Window:
		each(e.Args)
		orders(e.ArgOrder)
		if e.Filter != nil {
			f(e.Filter)
		}
		each(e.Spec.PartitionBy)
		orders(e.Spec.OrderBy)
		each(e.Spec.Bounds)
	case *InQuery:
		each(e.Operands)
	case *Quantified:
		f(e.Operand)
	case *Grouping:
		each(e.Args)
	}
}

// QueryOf is the query directly inside e, nil for most.
func QueryOf(e Expr) *Query {
	switch e := e.(type) {
	case *Subquery:
		return e.Query
	case *Exists:
		return e.Query
	case *InQuery:
		return e.Query
	case *Quantified:
		return e.Query
	}
	return nil
}

// Walk visits e and what is below it, parents first, while f returns true. It does not go into queries.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	Children(e, func(c Expr) { Walk(c, f) })
}
