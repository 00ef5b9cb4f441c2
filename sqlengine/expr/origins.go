package expr

import "deltasql/protocol"

// Origin is what a query's column shows that its type does not say: of a time, how many digits of its fraction are always shown; of
// text, whether it is a JSON document.
func Origin(q *Query, column int) (digits int, json bool) {
	look := columnLook{seen: map[*CTE]bool{}}
	switch t := q.Columns[column].Type; {
	case isTime(t):
		return look.digits(q, column), false
	case t.Kind == protocol.KindString:
		return 0, look.json(q, column)
	}
	return 0, false
}

// isTime tells whether values of a type have a fraction of a second.
func isTime(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindTimestamp, protocol.KindTimestampNTZ, protocol.KindIntervalDayTime:
		return true
	}
	return false
}

// columnLook follows a column to where its values come from, for what its type does not say.
type columnLook struct {
	seen map[*CTE]bool // recursive queries read themselves
}

// allDigits is the fraction of a stored time: microseconds.
const allDigits = 6

// digits is how many digits of a fraction a column always shows. As in MySQL, what comes from a stored column has that column's digits,
// and what a statement makes has those that it was written with.
func (l *columnLook) digits(q *Query, column int) int {
	n := 0
	l.origins(q.Body, column, func(e Expr) { n = max(n, l.digitsOf(e)) }, func() { n = allDigits })
	return n
}

func (l *columnLook) digitsOf(e Expr) int {
	switch e := e.(type) {
	case *Literal:
		if e.digits > 0 {
			return e.digits
		}
		return fractionDigits(e.Value)
	case *Raw:
		if e.fraction != nil {
			return *e.fraction
		}
	case *Column:
		n := 0
		l.relation(e, func(e Expr) { n = max(n, l.digitsOf(e)) }, func() { n = allDigits })
		return n
	case *Subquery:
		return l.digits(e.Query, 0)
	}
	n := 0
	Children(e, func(child Expr) {
		if isTime(child.Type()) {
			n = max(n, l.digitsOf(child))
		}
	})
	return n
}

// fractionDigits is how many digits a constant's fraction has, zeros at its end left out.
func fractionDigits(v protocol.Value) int {
	if v.Null {
		return 0
	}
	n, fraction := allDigits, v.Int%1_000_000
	for ; n > 0 && fraction%10 == 0; fraction /= 10 {
		n--
	}
	return n
}

// shownDigits is how many digits of a fraction a value always shows.
func shownDigits(e Expr) int {
	l := columnLook{seen: map[*CTE]bool{}}
	return l.digitsOf(e)
}

// withDigits is a value that always shows so many digits of its fraction.
func withDigits(e Expr, digits int) Expr {
	switch e := e.(type) {
	case *Literal:
		same := *e
		same.digits = digits
		return &same
	case *Raw:
		same := *e
		same.fraction = &digits
		return &same
	}
	return e
}

// json tells whether every value of a column is a JSON document.
func (l *columnLook) json(q *Query, column int) bool {
	found, all := false, true
	l.origins(q.Body, column, func(e Expr) { found, all = true, all && l.isJSON(e) }, func() { all = false })
	return found && all
}

func (l *columnLook) isJSON(e Expr) bool {
	switch e := e.(type) {
	case *Column:
		found, all := false, true
		l.relation(e, func(e Expr) { found, all = true, all && l.isJSON(e) }, func() { all = false })
		return found && all
	case *Subquery:
		return l.json(e.Query, 0)
	}
	return isJSON(e)
}

// origins calls each with the expressions that a column of a body is made of, and elsewhere where its values come from elsewhere.
func (l *columnLook) origins(body Body, column int, each func(Expr), elsewhere func()) {
	switch body := body.(type) {
	case *Query:
		l.origins(body.Body, column, each, elsewhere)
	case *SetOperation:
		l.origins(body.Left, column, each, elsewhere)
		l.origins(body.Right, column, each, elsewhere)
	case *Values:
		for _, row := range body.Rows {
			each(row[column])
		}
	case *Select:
		each(body.Items[column])
	}
}

// relation does so for a column of a relation.
func (l *columnLook) relation(c *Column, each func(Expr), elsewhere func()) {
	switch r := c.Relation; {
	case r.Kind == RelQuery && r.Query != nil:
		l.origins(r.Query.Body, c.Index, each, elsewhere)
	case r.Kind == RelCTE && r.CTE != nil && r.CTE.Query != nil:
		if l.seen[r.CTE] {
			return
		}
		l.seen[r.CTE] = true
		l.origins(r.CTE.Query.Body, c.Index, each, elsewhere)
		delete(l.seen, r.CTE)
	default:
		elsewhere()
	}
}
