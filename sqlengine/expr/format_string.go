package expr

import (
	"regexp"
	"strings"

	"deltasql/protocol"
)

var formatSpec = regexp.MustCompile(`%(?:%|n|([-+ 0,#]*)(\d*)(\.\d+)?([a-zA-Z]))`)

// formatString is printf with a constant format of %s, %d, %x, %o, %f, %e, %g, %c, %b and %%; DuckDB's printf takes the rest of
// the work, over operands that are brought to the type each letter wants.
func formatString(c *call) (Expr, error) {
	format, ok := constantText(c.args[0])
	if !ok {
		return nil, notSupported(c.at, "the format of %s must be a constant", c.name)
	}
	var args []Expr
	var fault error
	next := 1
	text := formatSpec.ReplaceAllStringFunc(format, func(spec string) string {
		if spec == "%%" || spec == "%n" {
			return strings.ReplaceAll(spec, "%n", "\n")
		}
		if next >= len(c.args) {
			fault = fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s: the format asks for more than %d values", c.name, len(c.args)-1)
			return spec
		}
		e, letter := c.args[next], spec[len(spec)-1]
		next++
		t := tString
		switch letter {
		case 'd', 'x', 'X', 'o':
			t = tLong
		case 'f', 'e', 'E', 'g', 'G':
			t = tDouble
		case 's', 'S', 'c', 'b':
			spec = spec[:len(spec)-1] + "s"
		default:
			fault = notSupported(c.at, "%s supports no %s", c.name, spec)
			return spec
		}
		if strings.Contains(spec, ",") {
			fault = notSupported(c.at, "%s supports no %s", c.name, spec)
			return spec
		}
		if t.Kind != protocol.KindString && !isNumeric(e.Type()) && e.Type().Kind != protocol.KindVoid {
			fault = mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s: %s wants a number, not %s", c.name, spec, e.Type())
			return spec
		}
		value, err := convert(e, t, c.ctx, false)
		if err != nil {
			fault = placed(err, c.at)
			return spec
		}
		if t.Kind == protocol.KindString {
			value = rawOf(tString, "coalesce({0}, 'null')", value)
		}
		args = append(args, value)
		return spec
	})
	if fault != nil {
		return nil, fault
	}
	if len(args) == 0 {
		return textLiteral(strings.ReplaceAll(text, "%%", "%")), nil
	}
	return rawOf(tString, "printf("+quoteText(text)+", "+spread("{*}", len(args))+")", args...), nil
}
