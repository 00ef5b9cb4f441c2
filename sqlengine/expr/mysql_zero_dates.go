package expr

import (
	"fmt"
	"regexp"
	"strings"

	"deltasql/protocol"
)

// Dates whose month or day is zero ('2024-00-00') are no dates to arithmetic, to names of days and to casts, which give NULL for them.
// What takes dates apart reads them, though: the year of '2024-05-00' is 2024 and its day 0. No column holds such a date, so only text
// and numbers have one.

// zeroDate matches text that may be such a date.
var zeroDate = regexp.MustCompile(`(^|[-/.])0?0([-/. T]|$)|^\d{2}(\d{2})?(00\d\d|\d\d00)(\d{6})?$`)

// zeroDateOf is the SQL of an operand's zero date as the number yyyymmdd, NULL for every other value; "" where the operand can be none.
func zeroDateOf(e Expr) string {
	switch t := e.Type(); {
	case t.Kind == protocol.KindString:
		if text, ok := constantText(e); ok && !zeroDate.MatchString(strings.TrimSpace(text)) {
			return ""
		}
		return "my_zero_date({1})"
	case isIntegral(t):
		return "my_zero_date_number({1})"
	}
	return ""
}

// beside is whole, a fragment over {0}, where the operand is a whole date, and else what zero makes of its zero date (%s).
func (c *call) beside(of protocol.DataType, whole, zero string) (Expr, error) {
	e := c.args[0]
	clock, err := c.accept(e, "datetime")
	if err != nil {
		return nil, err
	}
	usual := "CAST(" + strings.ReplaceAll(whole, "{0}", c.ctx.wallClock(clock.Type(), "{0}")) + " AS " + DuckType(of) + ")"
	if date := zeroDateOf(e); date != "" {
		return rawNull(of, fmt.Sprintf("coalesce(CAST("+zero+" AS "+DuckType(of)+"), %s)", date, usual), clock, e), nil
	}
	return rawOf(of, usual, clock), nil
}

// zeroParts are the parts of a zero date.
var zeroParts = map[string]string{
	"YEAR": "%s // 10000", "MONTH": "%s // 100 %% 100", "DAY": "%s %% 100", "QUARTER": "(%s // 100 %% 100 + 2) // 3", "YEAR_MONTH": "%s // 100",
}

// datePart is a part of a date, which a zero date has as well.
func datePart(name string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e, err := c.beside(tInt, "date_part('"+strings.ToLower(name)+"', {0})", zeroParts[name])
		if err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument 1 of %s must be a date, not %s", c.name, c.args[0].Type())
		}
		return e, nil
	}
}

// zeroLetters are DATE_FORMAT's letters for a zero date p.z. Those that name a month need one.
var zeroLetters = map[byte]string{
	'Y': "lpad(CAST(p.z // 10000 AS VARCHAR), 4, '0')", 'y': "my_two_digits(p.z // 10000 % 100)", 'm': "my_two_digits(p.z // 100 % 100)",
	'c': "CAST(p.z // 100 % 100 AS VARCHAR)", 'd': "my_two_digits(p.z % 100)", 'e': "CAST(p.z % 100 AS VARCHAR)",
	'D': "CASE WHEN p.z % 100 = 0 THEN '0th' ELSE my_ordinal(make_date(2000, 1, p.z % 100)) END",
	'M': "my_zero_month(p.z)", 'b': "left(my_zero_month(p.z), 3)",
}

// zeroFormatted is the text of a zero date {1} by a pattern, NULL for every other value. What asks for a weekday or a week counts from the
// last day of the month before, as MySQL does; without a month there is none.
func zeroFormatted(pattern string) string {
	const before = "(make_date(greatest(p.z // 10000, 1), nullif(p.z // 100 % 100, 0), 1) - 1 + CAST(p.z % 100 AS INTEGER))"
	parts := []string{"''"}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			parts = append(parts, quoteText(pattern[i:i+1]))
			continue
		}
		i++
		letter := pattern[i]
		of := "p.x"
		if strings.IndexByte("WajwUuVvXx", letter) >= 0 {
			of = before
		}
		if sql, ok := zeroLetters[letter]; ok {
			parts = append(parts, sql)
		} else if sql, ok := formatExpressions[letter]; ok {
			parts = append(parts, strings.ReplaceAll(sql, "{0}", of))
		} else if letters, ok := formatLetters[letter]; ok {
			parts = append(parts, "strftime("+of+", "+quoteText(letters)+")")
		} else {
			parts = append(parts, quoteText(pattern[i:i+1]))
		}
	}
	return "list_transform([struct_pack(z := my_zero_date({1}), x := TIMESTAMP '2000-01-01' + my_time({1}))], lambda p: CASE WHEN p.z IS NOT NULL THEN " +
		strings.Join(parts, " || ") + " END)[1]"
}
