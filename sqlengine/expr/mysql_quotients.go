package expr

import (
	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// MySQL's quotient of decimals shows the dividend's scale and four digits more. What is computed from it, though, is computed from more
// digits, which fill groups of nine: 1 / 3 shows 0.3333 and is 0.333333333, so that 1 / 3 * 3 is 1.0000. A node of the shown value
// carries the exact one beside it, and whoever computes with the value takes that. Comparing, sorting, grouping, text and what is
// selected take the shown one, as does everything beyond the expression: a derived table's column, a sum over groups.

// digitGroup is how many digits MySQL keeps together.
const digitGroup = 9

// inGroups is a number of digits, filled up to whole groups.
func inGroups(digits int) int { return (digits + digitGroup - 1) / digitGroup * digitGroup }

// wholeDigitsKept is how many digits before the point exact values leave room for where operands may have more: a type such as that of a
// sum has many more than its values.
const wholeDigitsKept = 20

// exactly is the value with all its digits.
func exactly(e Expr) Expr {
	if r, ok := e.(*Raw); ok && r.exact != nil {
		return r.exact
	}
	return e
}

// AllDigits is a constant as a variable of MySQL's keeps it: with all its digits.
func AllDigits(e Expr) Expr { return exactly(e) }

// isInexact tells whether a value shows fewer digits than it has.
func isInexact(e Expr) bool { return exactly(e) != e }

func anyInexact(list []Expr) bool {
	for _, e := range list {
		if isInexact(e) {
			return true
		}
	}
	return false
}

// allExactly are the values with all their digits.
func allExactly(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = exactly(e)
	}
	return out
}

// allShown are the values with the digits that they show alone.
func allShown(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		if out[i] = e; isInexact(e) {
			shown := *e.(*Raw)
			shown.exact = nil
			out[i] = &shown
		}
	}
	return out
}

// throughout makes a value that is one of its operands both of what they show and of all their digits.
func throughout(list []Expr, make func(list []Expr) (Expr, error)) (Expr, error) {
	shown, err := make(allShown(list))
	if err != nil || !anyInexact(list) {
		return shown, err
	}
	all, err := make(allExactly(list))
	return showing(shown, all), err
}

// showing is a shown value that carries the exact one, unless that has no more digits.
func showing(shown, exact Expr) Expr {
	of := exact.Type()
	if of.Kind != protocol.KindDecimal || shown.Type().Kind != protocol.KindDecimal || of.Scale <= shown.Type().Scale {
		return shown
	}
	r, ok := shown.(*Raw)
	if !ok {
		r = &Raw{Typed: Typed{shown.Type(), shown.Nullable()}, SQL: "{0}", Args: []Expr{shown}}
	}
	out, all := *r, &Raw{Typed: Typed{of, exact.Nullable()}, SQL: "{0}", Args: []Expr{exact}}
	if inner, ok := exact.(*Raw); ok {
		same := *inner
		all = &same
	}
	all.Shown, out.exact = r, all
	return &out
}

// rounded is an exact value as a type of fewer digits, with the exact one beside it.
func rounded(t protocol.DataType, exact Expr) Expr {
	if exact.Type().Scale <= t.Scale {
		return castTo(t, "{0}", exact)
	}
	return showing(castTo(t, "{0}", exact), exact)
}

// fewerDigits cuts an exact value to a scale.
func fewerDigits(e Expr, scale int) Expr {
	t := e.Type()
	return castTo(bounded(t.Precision-t.Scale+scale, scale), "{0}", e)
}

// factorDigits is how many digits behind the point the two sides of a product may have together: ten are left before it at least.
const factorDigits = 28

// mysqlInexact is arithmetic over decimals of which one has more digits than it shows; t is the type that is shown.
func (b *binder) mysqlInexact(op string, t protocol.DataType, left, right Expr, at parse.Pos) (Expr, error) {
	l, r := exactly(left), exactly(right)
	if op == "*" {
		for _, side := range []*Expr{&l, &r} {
			other := r
			if side == &r {
				other = l
			}
			if own, beside := (*side).Type().Scale, other.Type().Scale; own+beside > factorDigits && own > beside {
				*side = fewerDigits(*side, max(factorDigits-beside, factorDigits/2))
			}
		}
	}
	all, err := b.mysqlDecimals(op, l, r, at)
	if err != nil || !isDecimal(all.Type()) { // DIV gives an integer
		return all, err
	}
	return rounded(t, all), nil
}

func isDecimal(t protocol.DataType) bool { return t.Kind == protocol.KindDecimal }

// quotientType is the type of an exact quotient of two exact values; its scale is that of the shown value where there is no room for
// more.
func quotientType(lt, rt protocol.DataType, shown int) protocol.DataType {
	l, r := inGroups(lt.Scale), inGroups(rt.Scale)
	scale := inGroups(l + r + max(0, 4-(l-lt.Scale)-(r-rt.Scale)))
	whole := min(lt.Precision-lt.Scale, wholeDigitsKept) + rt.Scale
	scale = max(shown, min(scale, maxPrecision-whole))
	return bounded(lt.Precision-lt.Scale+rt.Scale+scale, scale)
}
