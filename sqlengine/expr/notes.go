package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// The MySQL dialect bends values that it cannot take as they are, and tells so: by a warning, or by an error where the statement writes
// in strict mode. Warnings are noted while DuckDB computes, by a call that stands in the branch of a CASE that only such values take;
// a statement without such a branch pays nothing, nor does one whose values need no bending.

// bending is a reason to take another value: MySQL's number for the warning, and the class of the error.
type bending struct {
	code  int
	class protocol.Class
}

var (
	zeroDivision     = bending{1365, "DIVIDE_BY_ZERO"}
	truncatedValue   = bending{1292, "DELTASQL_TRUNCATED_VALUE"}
	incorrectMoment  = bending{1292, "DELTASQL_INCORRECT_DATETIME_VALUE"}
	outOfRange       = bending{1264, "NUMERIC_VALUE_OUT_OF_RANGE"}
	unparsedMoment   = bending{1411, "CANNOT_PARSE_TIMESTAMP"}
	momentOverflow   = bending{1441, "DATETIME_OVERFLOW"}
	invalidLogarithm = bending{3020, "DELTASQL_INVALID_LOGARITHM"}
	cutGroup         = bending{1260, "DELTASQL_GROUP_CONCAT_CUT"}
)

// notes tells whether bent values are noted or refused.
func (c *Context) notes() bool { return c.Dialect == MySQL && (c.Strict || c.Notes != nil) }

// bent is the text that stands for a bent value of a type: NULL or instead, once the reason is told. The message is DuckDB text. Where
// the values that decide are no constants it must hang on them, or DuckDB would compute the call before it knows whether it is made.
func (c *Context) bent(why bending, of protocol.DataType, constant bool, message, instead string) string {
	switch {
	case !c.notes():
	case c.Strict:
		return "error(concat(" + quoteText("["+string(why.class)+"] ") + ", " + message + "))"
	default:
		function := "delta_note"
		if constant {
			function = "delta_note_each"
		}
		note := fmt.Sprintf("CAST(%s(%d, %d, %s) AS %s)", function, c.Notes(), why.code, message, DuckType(of))
		if instead == "" {
			return note
		}
		return "coalesce(" + note + ", " + instead + ")"
	}
	if instead == "" {
		return "NULL"
	}
	return instead
}

// isConstant tells whether an expression has the same value for every row.
func isConstant(e Expr) bool {
	constant := true
	Walk(e, func(x Expr) bool {
		switch x.(type) {
		case *Column, *Aggregate, *Window, *Grouping:
			constant = false
		}
		constant = constant && QueryOf(x) == nil
		return constant
	})
	return constant
}

// quoting is the text of a message that shows a value: before, the value in quotes, after.
func quoting(before, value, after string) string {
	return quoteText(before+"'") + " || " + value + " || " + quoteText("'"+after)
}

// hanging is the text of a message that hangs on a value without showing it.
func hanging(message, value string) string {
	return quoteText(message) + " || left(CAST(" + value + " AS VARCHAR), 0)"
}

// Bend is a value of a type that tells why it is not the one given: NULL or instead, with a warning of MySQL's number, or where ctx is
// strict an error. The parts of the message are texts and string expressions, as for Raise, of which one at least hangs on the row.
// It may only stand where a CASE comes to it for the values that it is about.
func Bend(ctx *Context, code int, class protocol.Class, of protocol.DataType, instead Expr, parts ...any) Expr {
	out := &Raw{Typed: Typed{of, true}}
	var texts []string
	constant := true
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			texts = append(texts, quoteText(part))
		case Expr:
			texts = append(texts, fmt.Sprintf("coalesce({%d}, 'null')", len(out.Args)))
			out.Args = append(out.Args, part)
			constant = constant && isConstant(part)
		}
	}
	value := ""
	if instead != nil {
		value = fmt.Sprintf("{%d}", len(out.Args))
		out.Args = append(out.Args, instead)
	}
	out.SQL = ctx.bent(bending{code, class}, of, constant, "concat("+strings.Join(texts, ", ")+")", value)
	return out
}

// divided is a quotient or remainder as a fragment over both operands: NULL where the divisor is zero, which is told unless there is
// nothing to divide.
func (b *binder) divided(of protocol.DataType, sql string, left, right Expr) Expr {
	if l, ok := asLiteral(right); ok && !isZero(l) {
		return rawNull(of, sql, left, right)
	}
	if !b.ctx.notes() || !b.ctx.ZeroDivisionTold {
		return rawNull(of, "CASE WHEN {1} <> 0 THEN "+sql+" END", left, right)
	}
	constant, message := isConstant(right) && isConstant(left), quoteText("Division by 0")
	switch {
	case constant:
	case isConstant(right):
		message = hanging("Division by 0", "{0}")
	default:
		message = hanging("Division by 0", "{1}")
	}
	told := b.ctx.bent(zeroDivision, of, constant, message, "")
	return rawNull(of, "CASE WHEN {1} <> 0 THEN "+sql+" WHEN {1} = 0 AND {0} IS NOT NULL THEN "+told+" END", left, right)
}

// Texts that MySQL takes for a number without leaving anything out.
const (
	wholeNumber = `\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*`
	wholeDigits = `\s*[+-]?[0-9]+\s*`
	wholeMoment = `\s*([0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T]+[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]*)?)?)?|[0-9]{6}|[0-9]{8}|[0-9]{12}|[0-9]{14})\s*`
)

// numberOfText reads text as a number by a macro that takes what the text begins with; what it leaves out is told.
func (c *casting) numberOfText(macro, name, whole string, of protocol.DataType, x string) string {
	read := macro + "(" + x + ")"
	if c.try || !c.ctx.notes() {
		return read
	}
	told := c.ctx.bent(truncatedValue, of, c.constant, quoting("Truncated incorrect "+name+" value: ", x, ""), read)
	return "CASE WHEN regexp_full_match(" + x + ", '" + whole + "') THEN " + read + " WHEN " + x + " IS NOT NULL THEN " + told + " END"
}

// clockOfText reads text as a datetime. What is none is NULL, what stands behind one is left out, and both are told.
func (c *casting) clockOfText(x string) string {
	read := "my_datetime(" + x + ")"
	if c.try || !c.ctx.notes() {
		return read
	}
	none := c.ctx.bent(incorrectMoment, tNTZ, c.constant, quoting("Incorrect datetime value: ", "told.x", ""), "")
	rest := c.ctx.bent(truncatedValue, tNTZ, c.constant, quoting("Truncated incorrect datetime value: ", "told.x", ""), "told.v")
	return "list_transform([struct_pack(x := " + x + ", v := " + read + ")], lambda told: CASE WHEN told.x IS NULL THEN NULL WHEN told.v IS NULL THEN " + none +
		" WHEN NOT regexp_full_match(told.x, '" + wholeMoment + "') THEN " + rest + " ELSE told.v END)[1]"
}

// toldIfNull is a value that is NULL where the one it is made of does not convert, which is told.
func (c *casting) toldIfNull(value, x string, of protocol.DataType, why bending, message string) string {
	if c.try || !c.ctx.notes() {
		return value
	}
	shown := "CAST(" + x + " AS VARCHAR)"
	return "CASE WHEN " + x + " IS NOT NULL THEN coalesce(" + value + ", " + c.ctx.bent(why, of, c.constant, quoting(message, shown, ""), "") + ") END"
}

// inCalendar is a date or datetime that was computed: NULL outside of MySQL's years, which is told.
func (b *binder) inCalendar(sum *Raw, function string) Expr {
	constant := isConstant(sum)
	message := quoteText("Datetime function: " + function + " field overflow")
	if !constant {
		message = hanging("Datetime function: "+function+" field overflow", "{0}")
	}
	told := b.ctx.bent(momentOverflow, sum.Of, constant, message, "")
	return rawNull(sum.Of, "CASE WHEN {0} >= DATE '0000-01-01' AND {0} < DATE '10000-01-01' THEN {0} WHEN {0} IS NOT NULL THEN "+told+" END", sum)
}

// logarithm is a logarithm, which numbers that are not positive do not have; that is told.
func logarithm(sql, positive string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		constant := true
		for _, a := range c.args {
			constant = constant && isConstant(a)
		}
		message := quoteText("Invalid argument for logarithm")
		if !constant {
			message += " || left(concat(" + spread("{*}", len(c.args)) + "), 0)"
		}
		present := "{0} IS NOT NULL"
		if len(c.args) == 2 {
			present += " AND {1} IS NOT NULL"
		}
		told := c.mysqlContext().bent(invalidLogarithm, tDouble, constant, message, "")
		return rawNull(tDouble, "CASE WHEN "+positive+" THEN "+sql+" WHEN "+present+" THEN "+told+" END", c.args...), nil
	}
}
