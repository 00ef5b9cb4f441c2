package expr

import (
	"fmt"
	"regexp"
	"strings"

	"deltasql/protocol"
)

// MySQL's date patterns are translated when a statement is bound; a pattern that is no constant is refused.

// formatLetters are MySQL's letters with strftime's text; those that need an expression are in formatExpressions.
var formatLetters = map[byte]string{
	'Y': "%Y", 'y': "%y", 'm': "%m", 'd': "%d", 'H': "%H", 'S': "%S", 's': "%S", 'f': "%f", 'j': "%j", 'p': "%p", 'a': "%a", 'b': "%b",
	'i': "%M", 'M': "%B", 'W': "%A", 'c': "%-m", 'e': "%-d", 'k': "%-H", 'l': "%-I", 'h': "%I", 'I': "%I", 'T': "%H:%M:%S", 'r': "%I:%M:%S %p",
	'x': "%G", 'v': "%V", 'U': "%U", 'w': "%w", '%': "%%",
}

var formatExpressions = map[byte]string{
	'D': "my_ordinal({0})", 'u': "my_two_digits(my_week1(CAST({0} AS DATE)))", 'V': "my_two_digits(my_week2(CAST({0} AS DATE)))",
	'X': "CAST(my_week_year2(CAST({0} AS DATE)) AS VARCHAR)",
}

// mysqlFormatted writes a wall clock by a pattern.
func (c *call) mysqlFormatted(clock, pattern Expr) (Expr, error) {
	text, ok := constantText(pattern)
	if isNullLiteral(pattern) || ok && text == "" {
		return Null(tString), nil
	}
	if !ok {
		return c.formattedByRow(clock, pattern)
	}
	var parts []string
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			parts = append(parts, "strftime({0}, "+quoteText(run.String())+")")
			run.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			if text[i] == '%' {
				run.WriteByte('%')
			}
			run.WriteByte(text[i])
			continue
		}
		i++
		if sql, ok := formatExpressions[text[i]]; ok {
			flush()
			parts = append(parts, sql)
		} else if letters, ok := formatLetters[text[i]]; ok {
			run.WriteString(letters)
		} else {
			run.WriteByte(text[i])
		}
	}
	flush()
	if len(parts) == 0 {
		return rawNull(tString, "CASE WHEN {0} IS NOT NULL THEN '' END", clock), nil
	}
	return rawNull(tString, "("+strings.Join(parts, " || ")+")", clock), nil
}

// formattedByRow formats by a pattern of the row itself, whose letters are translated by nested replaces.
func (c *call) formattedByRow(clock, pattern Expr) (Expr, error) {
	return rawNull(tString, "my_strftime({0}, {1})", clock, pattern), nil
}

func mysqlDateFormat(c *call) (Expr, error) {
	e := c.args[0]
	clock, err := c.mysqlConvert(e, tNTZ, c.at)
	if err != nil {
		return nil, err
	}
	usual, err := c.mysqlFormatted(clock, c.args[1])
	if text, ok := constantText(c.args[1]); ok && err == nil && e.Type().Kind == protocol.KindString && zeroDateOf(e) != "" {
		return rawNull(tString, "coalesce("+zeroFormatted(text)+", {0})", usual, e), nil
	}
	return usual, err
}

// timeFormat formats a TIME; hours may pass 24.
func timeFormat(c *call) (Expr, error) {
	text, ok := constantText(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the pattern of TIME_FORMAT must be a constant")
	}
	t, err := c.mysqlConvert(c.args[0], tDayTime, c.at)
	if err != nil {
		return nil, err
	}
	const hour, clock = "my_micros({0}) // 3600000000", "(TIMESTAMP '2000-01-01' + to_microseconds(my_micros({0}) % 86400000000))"
	var parts []string
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			parts = append(parts, quoteText(text[i:i+1]))
			continue
		}
		i++
		switch text[i] {
		case 'H':
			parts = append(parts, "CASE WHEN "+hour+" < 10 THEN '0' ELSE '' END", "CAST("+hour+" AS VARCHAR)")
		case 'k':
			parts = append(parts, "CAST("+hour+" AS VARCHAR)")
		case 'h', 'I', 'l', 'i', 's', 'S', 'f', 'p', 'r', 'T':
			parts = append(parts, "strftime("+clock+", "+quoteText(formatLetters[text[i]])+")")
		default:
			return nil, notSupported(c.at, "TIME_FORMAT supports no %%%c", text[i])
		}
	}
	if len(parts) == 0 {
		return textLiteral(""), nil
	}
	return rawNull(tString, "("+strings.Join(parts, " || ")+")", t), nil
}

// parseLetters are the letters of STR_TO_DATE: strptime's text, and what they match.
var parseLetters = map[byte]struct{ letters, match string }{
	'Y': {"%Y", "[0-9]{4}"}, 'y': {"%y", "[0-9]{2}"}, 'm': {"%m", "[0-9]{1,2}"}, 'c': {"%m", "[0-9]{1,2}"}, 'd': {"%d", "[0-9]{1,2}"}, 'e': {"%d", "[0-9]{1,2}"},
	'H': {"%H", "[0-9]{1,2}"}, 'k': {"%H", "[0-9]{1,2}"}, 'h': {"%I", "[0-9]{1,2}"}, 'I': {"%I", "[0-9]{1,2}"}, 'l': {"%I", "[0-9]{1,2}"},
	'i': {"%M", "[0-9]{1,2}"}, 's': {"%S", "[0-9]{1,2}"}, 'S': {"%S", "[0-9]{1,2}"}, 'f': {"%f", "[0-9]{1,6}"}, 'j': {"%j", "[0-9]{1,3}"},
	'p': {"%p", "[AaPp][Mm]"}, 'M': {"%B", "[A-Za-z]+"}, 'b': {"%b", "[A-Za-z]{3}"}, 'W': {"%A", "[A-Za-z]+"}, 'a': {"%a", "[A-Za-z]{3}"},
	'T': {"%H:%M:%S", "[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}"}, 'r': {"%I:%M:%S %p", "[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2} [AaPp][Mm]"}, '%': {"%%", "%"},
}

// strToDate reads text by a pattern: a DATE, a TIME or a DATETIME by the pattern's letters. Text behind what the pattern asks
// for is left out of account, text that does not match gives NULL.
func strToDate(c *call) (Expr, error) {
	if isNullLiteral(c.args[1]) {
		return Null(tNTZ), nil
	}
	pattern, ok := constantText(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the pattern of STR_TO_DATE must be a constant")
	}
	if week, ok := weekPatterns[pattern]; ok {
		return c.parsedBy(tDate, week, ""), nil
	}
	var letters, match strings.Builder
	date, time := false, false
	for i := 0; i < len(pattern); i++ {
		b := pattern[i]
		if b == ' ' {
			letters.WriteByte(' ')
			match.WriteString(`\s*`)
			continue
		}
		if b != '%' || i+1 == len(pattern) {
			letters.WriteByte(b)
			match.WriteString(regexp.QuoteMeta(string(b)))
			continue
		}
		i++
		l, ok := parseLetters[pattern[i]]
		if !ok {
			return nil, notSupported(c.at, "STR_TO_DATE supports no %%%c", pattern[i])
		}
		letters.WriteString(l.letters)
		match.WriteString(l.match)
		date = date || strings.IndexByte("YymcdejMbWa", pattern[i]) >= 0
		time = time || strings.IndexByte("HkhIlisSfTrp", pattern[i]) >= 0
	}
	if date && !complete(pattern) {
		return c.parsedBy(tDate, "CAST(NULL AS DATE)", ""), nil
	}
	clock := fmt.Sprintf("my_parsed({0}, %s, %s)", quoteText(`^\s*(`+match.String()+")"), quoteText(letters.String()))
	digits := 0
	if strings.Contains(pattern, "%f") {
		digits = 6
	}
	whole := `\s*` + match.String() + `\s*`
	switch {
	case date && time:
		return withDigits(c.parsedBy(tNTZ, clock, whole), digits), nil
	case time:
		return withDigits(c.parsedBy(tDayTime, "("+clock+" - date_trunc('day', "+clock+"))", whole), digits), nil
	}
	return c.parsedBy(tDate, "CAST("+clock+" AS DATE)", whole), nil
}

// parsedBy is text read by a pattern. What does not match is NULL, and what stands behind the match (where whole is a pattern of all) is
// left out; both are told.
func (c *call) parsedBy(of protocol.DataType, parsed, whole string) Expr {
	ctx, text := c.mysqlContext(), c.args[0]
	if !ctx.notes() {
		return rawNull(of, parsed, text)
	}
	constant := isConstant(text)
	none := ctx.bent(unparsedMoment, of, constant, quoting("Incorrect datetime value: ", "{0}", " for function str_to_date"), "")
	rest := ""
	if whole != "" {
		rest = " WHEN NOT regexp_full_match({0}, " + quoteText(whole) + ") THEN " + ctx.bent(truncatedValue, of, constant, quoting("Truncated incorrect datetime value: ", "{0}", ""), "{1}")
	}
	return rawNull(of, "CASE WHEN {0} IS NULL THEN NULL WHEN {1} IS NULL THEN "+none+rest+" ELSE {1} END", text, rawNull(of, parsed, text))
}

// complete tells whether a pattern has a year with a month and day, or with a day of the year: else the date is NULL.
func complete(pattern string) bool {
	has := func(letters string) bool {
		for i := 0; i+1 < len(pattern); i++ {
			if pattern[i] == '%' {
				if strings.IndexByte(letters, pattern[i+1]) >= 0 {
					return true
				}
				i++
			}
		}
		return false
	}
	return has("Yy") && (has("mcMb") && has("de") || has("j"))
}

// weekPatterns are the patterns of a year, a week and a day that tools write; strptime has no form for them.
var weekPatterns = map[string]string{
	"%X%V %W":  "my_week_start(CAST(left({0}, 4) AS INTEGER), CAST(substring({0}, 5, 2) AS INTEGER), substring({0}, 8))",
	"%x%v %W":  "my_iso_week_start(CAST(left({0}, 4) AS INTEGER), CAST(substring({0}, 5, 2) AS INTEGER), substring({0}, 8))",
	"%x %v %a": "my_iso_week_start(CAST(left({0}, 4) AS INTEGER), CAST(substring({0}, 6, 2) AS INTEGER), substring({0}, 9))",
}
