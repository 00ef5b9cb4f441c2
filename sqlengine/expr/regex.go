package expr

import (
	"fmt"
	"regexp"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// pattern checks a regular expression. DuckDB has RE2, which lacks look-around, back references and possessive quantifiers:
// a constant pattern that uses them, or that is broken, is refused here; another one fails when it runs.
func (b *binder) pattern(e Expr, at parse.Pos) (Expr, error) {
	text, ok := constantText(e)
	if !ok {
		return e, nil
	}
	if text == "" && b.ctx.Dialect == MySQL {
		return nil, fail(at, "INVALID_PARAMETER_VALUE.PATTERN", "a regular expression cannot be empty").WithErrno(3685)
	}
	if _, err := regexp.Compile(text); err != nil {
		return nil, fail(at, "INVALID_PARAMETER_VALUE.PATTERN", "the regular expression %q is not supported: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			WithHint("patterns have RE2's syntax, without look-around and back references")
	}
	return e, nil
}

// withPattern makes a call whose second argument is a pattern.
func (c *call) withPattern(t protocol.DataType, sql string) (Expr, error) {
	p, err := c.pattern(c.args[1], c.at)
	if err != nil {
		return nil, err
	}
	args := append([]Expr(nil), c.args...)
	args[1] = p
	return &Raw{Typed: Typed{t, true}, SQL: sql, Args: args}, nil
}

func (c *call) group(index int) (string, error) {
	group := int64(1)
	if len(c.args) > index {
		n, ok := constantInt(c.args[index])
		if !ok {
			return "", notSupported(c.at, "the group of %s must be a constant", c.name)
		}
		group = n
	}
	if text, ok := constantText(c.args[1]); ok {
		if re, err := regexp.Compile(text); err == nil && (group < 0 || int(group) > re.NumSubexp()) {
			return "", fail(c.at, "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", "%s: the pattern has %d groups, group %d is none of them", c.name, re.NumSubexp(), group)
		}
	}
	return fmt.Sprint(group), nil
}

func regexpExtract(c *call) (Expr, error) {
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	group, err := c.group(2)
	if err != nil {
		return nil, err
	}
	return rawOf(tString, "regexp_extract({0}, {1}, "+group+")", c.args[:2]...), nil
}

func regexpExtractAll(c *call) (Expr, error) {
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	group, err := c.group(2)
	if err != nil {
		return nil, err
	}
	return rawOf(arrayOf(tString), "regexp_extract_all({0}, {1}, "+group+")", c.args[:2]...), nil
}

var javaGroup = regexp.MustCompile(`\\(.)|\$(\d)`)

// replacement turns $1 into RE2's \1 and \$ into $.
func (c *call) replacement(e Expr) (Expr, error) {
	text, ok := constantText(e)
	if !ok {
		return rawOf(tString, `regexp_replace(replace({0}, '\', '\\'), '\$([0-9])', '\\\1', 'g')`, e), nil
	}
	return textLiteral(javaGroup.ReplaceAllStringFunc(text, func(m string) string {
		switch {
		case m[0] == '$':
			return `\` + m[1:]
		case m[1:] == `\`:
			return `\\`
		}
		return m[1:]
	})), nil
}

func regexpReplace(c *call) (Expr, error) {
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	with, err := c.replacement(c.args[2])
	if err != nil {
		return nil, err
	}
	args := []Expr{c.args[0], c.args[1], with}
	if len(c.args) == 4 {
		return rawOf(tString, "(left({0}, {3} - 1) || regexp_replace(substring({0}, {3}), {1}, {2}, 'g'))", append(args, c.args[3])...), nil
	}
	return rawOf(tString, "regexp_replace({0}, {1}, {2}, 'g')", args...), nil
}

// split cuts text at a regular expression. A limit above zero keeps the rest whole, and is supported for plain separators.
func split(c *call) (Expr, error) {
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	t := arrayOf(tString)
	t.ContainsNull = false
	text, constant := constantText(c.args[1])
	plain := constant && regexp.QuoteMeta(text) == text
	if unescaped, ok := plainSeparator(text); constant && ok {
		c.args[1], plain = textLiteral(unescaped), true
	}
	if len(c.args) == 3 {
		limit, ok := constantInt(c.args[2])
		switch {
		case !ok:
			return nil, notSupported(c.at, "the limit of split must be a constant")
		case limit == 1:
			return rawOf(t, "[{0}]", c.args[0]), nil
		case limit > 0 && !plain:
			return nil, notSupported(c.at, "split with a limit supports plain separators only, not a regular expression")
		case limit > 0:
			return rawOf(t, fmt.Sprintf("text_split({0}, {1}, %d)", limit), c.args[:2]...), nil
		}
	}
	if plain {
		return rawOf(t, "string_split({0}, {1})", c.args[:2]...), nil
	}
	return rawOf(t, "regexp_split_to_array({0}, {1})", c.args[:2]...), nil
}

// plainSeparator reads a pattern that is ordinary characters with some escaped ones among them.
func plainSeparator(pattern string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		b := pattern[i]
		if b == '\\' && i+1 < len(pattern) && strings.IndexByte(`.|*+?()[]{}^$\`, pattern[i+1]) >= 0 {
			i++
			out.WriteByte(pattern[i])
			continue
		}
		if strings.IndexByte(`.|*+?()[]{}^$\`, b) >= 0 {
			return "", false
		}
		out.WriteByte(b)
	}
	return out.String(), true
}
