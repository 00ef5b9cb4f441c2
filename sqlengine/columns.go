package sqlengine

import (
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// resultColumns describes the columns of a bound query.
func resultColumns(q *expr.Query) []ColumnInfo {
	columns := make([]ColumnInfo, len(q.Columns))
	for i, c := range q.Columns {
		look := columnLook{seen: map[*expr.CTE]bool{}}
		columns[i] = ColumnInfo{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
		switch {
		case isTime(c.Type):
			columns[i].Digits = look.digits(q, i)
		case c.Type.Kind == protocol.KindString:
			columns[i].JSON = look.json(q, i)
		}
	}
	return columns
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
	seen map[*expr.CTE]bool // recursive queries read themselves
}

// allDigits is the fraction of a stored time: microseconds.
const allDigits = 6

// digits is how many digits of a fraction a column always shows. As in MySQL, what comes from a stored column has that column's digits,
// and what a statement makes has those that it was written with.
func (l *columnLook) digits(q *expr.Query, column int) int {
	n := 0
	l.origins(q.Body, column, func(e expr.Expr) { n = max(n, l.digitsOf(e)) }, func() { n = allDigits })
	return n
}

func (l *columnLook) digitsOf(e expr.Expr) int {
	switch e := e.(type) {
	case *expr.Literal:
		return fractionDigits(e.Value)
	case *expr.Column:
		n := 0
		l.relation(e, func(e expr.Expr) { n = max(n, l.digitsOf(e)) }, func() { n = allDigits })
		return n
	case *expr.Subquery:
		return l.digits(e.Query, 0)
	}
	n := 0
	expr.Children(e, func(child expr.Expr) {
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

// json tells whether every value of a column is a JSON document.
func (l *columnLook) json(q *expr.Query, column int) bool {
	found, all := false, true
	l.origins(q.Body, column, func(e expr.Expr) { found, all = true, all && l.isJSON(e) }, func() { all = false })
	return found && all
}

func (l *columnLook) isJSON(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Column:
		found, all := false, true
		l.relation(e, func(e expr.Expr) { found, all = true, all && l.isJSON(e) }, func() { all = false })
		return found && all
	case *expr.Subquery:
		return l.json(e.Query, 0)
	}
	return expr.IsJSON(e)
}

// origins calls each with the expressions that a column of a body is made of, and elsewhere where its values come from elsewhere.
func (l *columnLook) origins(body expr.Body, column int, each func(expr.Expr), elsewhere func()) {
	switch body := body.(type) {
	case *expr.Query:
		l.origins(body.Body, column, each, elsewhere)
	case *expr.SetOperation:
		l.origins(body.Left, column, each, elsewhere)
		l.origins(body.Right, column, each, elsewhere)
	case *expr.Values:
		for _, row := range body.Rows {
			each(row[column])
		}
	case *expr.Select:
		each(body.Items[column])
	}
}

// relation does so for a column of a relation.
func (l *columnLook) relation(c *expr.Column, each func(expr.Expr), elsewhere func()) {
	switch r := c.Relation; {
	case r.Kind == expr.RelQuery && r.Query != nil:
		l.origins(r.Query.Body, c.Index, each, elsewhere)
	case r.Kind == expr.RelCTE && r.CTE != nil && r.CTE.Query != nil:
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
