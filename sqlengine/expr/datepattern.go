package expr

import (
	"strings"

	"deltasql/protocol"
)

// A javaPattern run is translated once, when the statement is bound; a pattern that is no constant is refused.

// javaLetters maps a run of one letter of a Java date pattern to strftime; the length of the run counts.
func javaLetters(letter byte, n int) (string, bool) {
	switch letter {
	case 'y', 'u':
		if n == 2 {
			return "%y", true
		}
		return "%Y", n <= 4
	case 'M', 'L':
		return pick(n, "%-m", "%m", "%b", "%B")
	case 'd':
		return pick(n, "%-d", "%d")
	case 'D':
		return pick(n, "%-j", "", "%j")
	case 'H':
		return pick(n, "%-H", "%H")
	case 'h':
		return pick(n, "%-I", "%I")
	case 'm':
		return pick(n, "%-M", "%M")
	case 's':
		return pick(n, "%-S", "%S")
	case 'S':
		return pick(n, "", "", "%g", "", "", "%f") // %g is milliseconds in DuckDB
	case 'a':
		return "%p", n == 1
	case 'E':
		return pick(n, "%a", "%a", "%a", "%A")
	}
	return "", false
}

func pick(n int, choices ...string) (string, bool) {
	if n > len(choices) || choices[n-1] == "" {
		return "", false
	}
	return choices[n-1], true
}

// javaPattern translates a Java (Spark) date pattern to strftime's; it says what it cannot translate.
func javaPattern(pattern string) (string, string) {
	var out strings.Builder
	for i := 0; i < len(pattern); {
		b := pattern[i]
		switch {
		case b == '\'':
			end := strings.IndexByte(pattern[i+1:], '\'')
			if end < 0 {
				return "", "an unclosed quote"
			}
			text := pattern[i+1 : i+1+end]
			if text == "" {
				text = "'"
			}
			out.WriteString(strings.ReplaceAll(text, "%", "%%"))
			i += end + 2
		case b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == b {
				n++
			}
			text, ok := javaLetters(b, n)
			if !ok {
				return "", pattern[i : i+n]
			}
			out.WriteString(text)
			i += n
		case b == '%':
			out.WriteString("%%")
			i++
		case b == '[' || b == ']' || b == '{' || b == '}' || b == '#':
			return "", string(b)
		default:
			out.WriteByte(b)
			i++
		}
	}
	return out.String(), ""
}

// javaFormat is a constant pattern translated, as a template's text.
func (c *call) javaFormat(e Expr) (string, error) {
	text, ok := constantText(e)
	if !ok {
		return "", notSupported(c.at, "the pattern of %s must be a constant", c.name)
	}
	out, bad := javaPattern(text)
	if bad != "" {
		return "", fail(c.at, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "%s: the pattern %q has %s, which is not supported", c.name, text, bad)
	}
	return quoteText(out), nil
}

func dateFormat(c *call) (Expr, error) {
	format, err := c.javaFormat(c.args[1])
	if err != nil {
		return nil, err
	}
	return rawOf(tString, "strftime("+c.ctx.wallClock(c.args[0].Type(), "{0}")+", "+format+")", c.args[0]), nil
}

// parsed reads text by a pattern as a wall clock; what does not match fails with the class of Spark, or is NULL where try is.
func (c *call) parsed(x, format string, try bool) string {
	if try {
		return "try_strptime(" + x + ", " + format + ")"
	}
	return "parsed_clock(" + x + ", " + format + ")"
}

func toDate(c *call) (Expr, error) {
	e := c.args[0]
	try := strings.HasPrefix(c.name, "try_")
	if len(c.args) == 1 || e.Type().Kind != protocol.KindString {
		out, err := convert(e, tDate, c.ctx, try)
		return out, placed(err, c.at)
	}
	format, err := c.javaFormat(c.args[1])
	if err != nil {
		return nil, err
	}
	return rawNull(tDate, "CAST("+c.parsed("{0}", format, try)+" AS DATE)", e), nil
}

func toTimestamp(t protocol.DataType, try bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		e := c.args[0]
		if len(c.args) == 1 || e.Type().Kind != protocol.KindString {
			out, err := convert(e, t, c.ctx, try)
			return out, placed(err, c.at)
		}
		format, err := c.javaFormat(c.args[1])
		if err != nil {
			return nil, err
		}
		clock := c.parsed("{0}", format, try)
		if t.Kind == protocol.KindTimestamp {
			clock = c.ctx.instant(clock)
		}
		return rawNull(t, clock, e), nil
	}
}

// unixTimestamp is seconds since the epoch: of now, of a timestamp, or of text by a pattern (yyyy-MM-dd HH:mm:ss).
func unixTimestamp(c *call) (Expr, error) {
	if len(c.args) == 0 {
		return constant(tLong, protocol.Value{Int: floorDiv(c.ctx.Now.UnixMicro(), 1_000_000)}), nil
	}
	e := c.args[0]
	if e.Type().Kind == protocol.KindString {
		format := Expr(textLiteral("yyyy-MM-dd HH:mm:ss"))
		if len(c.args) == 2 {
			format = c.args[1]
		}
		translated, err := c.javaFormat(format)
		if err != nil {
			return nil, err
		}
		return rawNull(tLong, "CAST(floor(epoch_us("+c.ctx.instant(c.parsed("{0}", translated, false))+") / 1000000) AS BIGINT)", e), nil
	}
	e, err := convert(e, tTimestamp, c.ctx, false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	out, err := convert(e, tLong, c.ctx, false)
	return out, placed(err, c.at)
}

func fromUnixtime(c *call) (Expr, error) {
	format := `'%Y-%m-%d %H:%M:%S'`
	if len(c.args) == 2 {
		var err error
		if format, err = c.javaFormat(c.args[1]); err != nil {
			return nil, err
		}
	}
	return rawOf(tString, "strftime("+c.ctx.local("to_timestamp({0})")+", "+format+")", c.args[0]), nil
}
