package expr

import (
	"fmt"
	"regexp"
	"strings"

	"deltasql/protocol"
)

// mysqlStringFunctions are MySQL's functions of text; arguments of any scalar type count as text. Lengths are bigint there.
var mysqlStringFunctions = []*function{
	fn("reverse", inSpark, "string", asString, "reverse({0})").total(),
	custom("length", inMySQL, "any", func(c *call) (Expr, error) {
		e := c.args[0]
		if e.Type().Kind != protocol.KindBinary {
			text, err := c.mysqlConvert(e, tString, c.at)
			if err != nil {
				return nil, err
			}
			e = rawOf(tBinary, "encode({0})", text)
		}
		return castTo(tLong, "octet_length({0})", e), nil
	}),
	custom("concat", inMySQL, "any+", mysqlConcat),
	custom("concat_ws", inMySQL, "string string+", func(c *call) (Expr, error) {
		return rawOf(tString, spread("concat_ws({0}, {1*})", len(c.args)), c.args...), nil
	}),
	custom("substring substr mid", inMySQL, "bytes bigint [bigint]", mysqlSubstring),
	fn("left", inMySQL, "string bigint", asString, "left({0}, at_least({1}, 0))").total(),
	fn("right", inMySQL, "string bigint", asString, "right({0}, at_least({1}, 0))").total(),
	custom("locate position", inMySQL, "string string [bigint]", func(c *call) (Expr, error) {
		args := append([]Expr{c.folded(c.args[0]), c.folded(c.args[1])}, c.args[2:]...)
		if len(args) == 3 {
			return castTo(tLong, "text_locate({0}, {1}, {2})", args...), nil
		}
		return castTo(tLong, "CASE WHEN {0} = '' THEN CASE WHEN {1} IS NOT NULL THEN 1 END ELSE instr({1}, {0}) END", args...), nil
	}),
	custom("instr", inMySQL, "string string", func(c *call) (Expr, error) {
		return castTo(tLong, "CASE WHEN {1} = '' THEN CASE WHEN {0} IS NOT NULL THEN 1 END ELSE instr({0}, {1}) END", c.folded(c.args[0]), c.folded(c.args[1])), nil
	}),
	fn("lpad", inMySQL, "string bigint string", asString, "my_pad_left({0}, {1}, {2})"),
	fn("rpad", inMySQL, "string bigint string", asString, "my_pad_right({0}, {1}, {2})"),
	fn("repeat", inMySQL, "string bigint", asString, "repeat({0}, at_least({1}, 0))").total(),
	fn("space", inMySQL, "bigint", asString, "repeat(' ', at_least({0}, 0))").total(),
	fn("ltrim", inMySQL, "string", asString, "ltrim({0}, ' ')").total(),
	fn("rtrim", inMySQL, "string", asString, "rtrim({0}, ' ')").total(),
	custom("trim", inMySQL, "string [string] [string]", mysqlTrim),
	fn("replace", inMySQL, "string string string", asString, "CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, {2}) END"),
	custom("field", inMySQL, "any any+", field),
	custom("find_in_set", inMySQL, "string string", func(c *call) (Expr, error) {
		const sql = "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {1} = '' OR contains({0}, ',') THEN 0 ELSE coalesce(CAST(list_position(string_split({1}, ','), {0}) AS BIGINT), 0) END"
		return castTo(tLong, sql, c.folded(c.args[0]), c.folded(c.args[1])), nil
	}),
	custom("elt", inMySQL, "bigint any+", elt),
	custom("make_set", inMySQL, "any string+", makeSet),
	custom("export_set", inMySQL, "any string string [string] [bigint]", exportSet),
	custom("substring_index", inMySQL, "string string bigint", substringIndex),
	fn("insert", inMySQL, "string bigint bigint string", asString, "CASE WHEN {1} < 1 OR {1} > length({0}) THEN {0} WHEN {2} < 0 OR {1} + {2} > length({0}) THEN left({0}, {1} - 1) || {3} ELSE left({0}, {1} - 1) || {3} || substring({0}, {1} + {2}) END"),
	custom("strcmp", inMySQL, "string string", func(c *call) (Expr, error) {
		return rawOf(tLong, "CAST(CASE WHEN {0} = {1} THEN 0 WHEN {0} < {1} THEN -1 WHEN {0} > {1} THEN 1 END AS BIGINT)", c.folded(c.args[0]), c.folded(c.args[1])), nil
	}),
	custom("format", inMySQL, "any bigint [string]", mysqlFormat),
	custom("char", inMySQL, "any+", mysqlChar),
	castFunction("convert", inMySQL, tString), // CONVERT(x USING utf8mb4)
	fn("ascii", inMySQL, "string", asLong, "CASE WHEN {0} = '' THEN 0 ELSE CAST('0x' || left(hex({0}), 2) AS BIGINT) END").total(),
	fn("ord", inBoth, "string", asLong, "CASE WHEN {0} = '' THEN 0 ELSE CAST('0x' || hex(left({0}, 1)) AS BIGINT) END").total(),
	custom("hex", inMySQL, "any", mysqlHex),
	fn("unhex", inMySQL, "string", asBinary, "TRY(unhex(CASE WHEN length({0}) % 2 = 1 THEN '0' || {0} ELSE {0} END))"),
	fn("oct", inMySQL, "bigint", asString, "my_conv_text(CAST(my_u64({0}) AS HUGEINT), 8)").total(),
	fn("conv", inMySQL, "string bigint bigint", asString, "my_conv({0}, {1}, {2})"),
	fn("quote", inMySQL, "string", asString, "coalesce('''' || replace(replace({0}, '\\', '\\\\'), '''', '\\''') || '''', 'NULL')"),
	custom("to_base64", inBoth, "bytes", func(c *call) (Expr, error) {
		if c.ctx.Dialect == MySQL { // lines of 76 characters
			return rawOf(tString, "rtrim(regexp_replace(to_base64({0}), '(.{76})', '\\1' || chr(10), 'g'), chr(10))", asBytes(c.args[0])), nil
		}
		return rawOf(tString, "to_base64({0})", asBytes(c.args[0])), nil
	}),
	fn("from_base64", inBoth, "string", asBinary, "TRY(from_base64({0}))"),
	custom("sha2", inMySQL, "bytes bigint", sha2),
	custom("regexp_like", inMySQL, "string string [string]", mysqlRegexp(tBoolean, "regexp_matches({0}, {1}, '%s')")),
	custom("regexp_replace", inMySQL, "string string string [bigint] [bigint] [string]", mysqlRegexpReplace),
	custom("regexp_substr", inMySQL, "string string [bigint] [bigint] [string]", mysqlRegexpSubstr),
	custom("regexp_instr", inMySQL, "string string", mysqlRegexp(tLong, "CAST(my_regexp_position({0}, {1}, '%s') AS BIGINT)")),
	fn("inet_aton", inBoth, "string", asLong, "my_inet_aton({0})"),
	fn("inet_ntoa", inBoth, "bigint", asString, "CASE WHEN {0} BETWEEN 0 AND 4294967295 THEN ({0} // 16777216) || '.' || ({0} // 65536 % 256) || '.' || ({0} // 256 % 256) || '.' || ({0} % 256) END"),
	fn("is_ipv4", inBoth, "string", asBoolean, "coalesce(my_is_ipv4({0}), false)"),
	fn("inet6_aton", inBoth, "string", asBinary, "delta_inet6_aton({0})"),
	fn("inet6_ntoa", inBoth, "binary", asString, "delta_inet6_ntoa({0})"),
	fn("is_ipv6", inBoth, "string", asBoolean, "coalesce(octet_length(delta_inet6_aton({0})) = 16, false)"),
	fn("is_uuid", inBoth, "string", asBoolean, "(TRY_CAST({0} AS UUID) IS NOT NULL)"),
	fn("uuid_to_bin", inBoth, "string", asBinary, "unhex(replace({0}, '-', ''))").total(),
	fn("bin_to_uuid", inBoth, "binary", asString, "CAST(CAST(hex({0}) AS UUID) AS VARCHAR)").total(),
	custom("compress uncompress aes_encrypt aes_decrypt", inMySQL, "any+", refused("it has no counterpart in DuckDB")),
	custom("sounds_like", inMySQL, "string string", func(c *call) (Expr, error) {
		return rawOf(tBoolean, "(text_soundex({0}) = text_soundex({1}))", c.args...), nil
	}),
}

// folded is text as the session compares it.
func (c *call) folded(e Expr) Expr {
	if c.ctx.Dialect == MySQL && c.ctx.MySQLCompare {
		return collated(e, "utf8mb4_0900_ai_ci")
	}
	return e
}

func mysqlConcat(c *call) (Expr, error) {
	args := make([]Expr, len(c.args))
	binary := false
	for _, a := range c.args {
		binary = binary || a.Type().Kind == protocol.KindBinary
	}
	for i, a := range c.args {
		args[i] = a
		if a.Type().Kind == protocol.KindBinary {
			continue
		}
		var err error
		if args[i], err = c.mysqlConvert(a, tString, c.at); err != nil {
			return nil, err
		}
		if binary { // bytes beside text make bytes
			args[i] = asBytes(args[i])
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	t := tString
	if binary {
		t = tBinary
	}
	return rawOf(t, "("+spreadBy(" || ", len(args))+")", args...), nil
}

// mysqlSubstring counts from 1 or from the end; position 0, and what lies before the start, gives nothing.
func mysqlSubstring(c *call) (Expr, error) {
	t, name := tString, "my_substring"
	if c.args[0].Type().Kind == protocol.KindBinary {
		t, name = tBinary, "my_binary_part"
	}
	if len(c.args) == 2 {
		return rawOf(t, name+"({0}, {1}, 2147483647)", c.args...), nil
	}
	return rawOf(t, name+"({0}, {1}, {2})", c.args...), nil
}

// mysqlTrim takes a whole text off the ends, not a set of characters.
func mysqlTrim(c *call) (Expr, error) {
	if len(c.args) == 1 {
		return rawOf(tString, "trim({0}, ' ')", c.args[0]), nil
	}
	if len(c.args) != 3 {
		return trims(c)
	}
	side, known := constantText(c.args[0])
	if !known || trimFunctions[side] == "" {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "trim takes BOTH, LEADING or TRAILING")
	}
	what, ok := constantText(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the text that TRIM takes off must be a constant")
	}
	if what == "" {
		return c.args[2], nil
	}
	if len(what) == 1 {
		return rawOf(tString, trimFunctions[side]+"({1}, {0})", c.args[1], c.args[2]), nil
	}
	pattern := regexp.QuoteMeta(what)
	sql := "{0}"
	if side != "TRAILING" {
		sql = "regexp_replace(" + sql + ", " + quoteText("^(?:"+pattern+")+") + ", '')"
	}
	if side != "LEADING" {
		sql = "regexp_replace(" + sql + ", " + quoteText("(?:"+pattern+")+$") + ", '')"
	}
	return rawOf(tString, sql, c.args[2]), nil
}

// field is the position of the first argument among the others: as numbers if all are, else as text.
func field(c *call) (Expr, error) {
	t := tString
	numbers := true
	for _, a := range c.args {
		numbers = numbers && (isNumeric(a.Type()) || a.Type().Kind == protocol.KindVoid)
	}
	texts := true
	for _, a := range c.args {
		texts = texts && a.Type().Kind == protocol.KindString
	}
	if !texts {
		t = tDouble
	}
	if !numbers && !texts {
		t = tDouble
	}
	args := make([]Expr, len(c.args))
	for i, a := range c.args {
		var err error
		if args[i], err = c.mysqlConvert(a, t, c.at); err != nil {
			return nil, err
		}
		if t.Kind == protocol.KindString {
			args[i] = c.folded(args[i])
		}
	}
	return &Raw{Typed: Typed{tLong, false}, SQL: "CAST(coalesce(list_position([" + spread("{1*}", len(args)) + "], {0}), 0) AS BIGINT)", Args: args}, nil
}

func makeSet(c *call) (Expr, error) {
	bits, err := c.unsigned(c.args[0], c.at)
	if err != nil {
		return nil, err
	}
	args := append([]Expr{bits}, c.args[1:]...)
	items := make([]string, len(args)-1)
	for i := range items {
		items[i] = fmt.Sprintf("CASE WHEN ({0} >> %d) & 1 = 1 THEN {%d} END", i, i+1)
	}
	return rawNull(tString, "CASE WHEN {0} IS NOT NULL THEN join_by(["+strings.Join(items, ", ")+"], ',') END", args...), nil
}

func exportSet(c *call) (Expr, error) {
	bits, err := c.unsigned(c.args[0], c.at)
	if err != nil {
		return nil, err
	}
	separator, count := Expr(textLiteral(",")), Expr(constant(tLong, protocol.Value{Int: 64}))
	if len(c.args) > 3 {
		separator = c.args[3]
	}
	if len(c.args) > 4 {
		count = c.args[4]
	}
	sql := joined("list_transform(range(least({4}, 64)), lambda bit: CASE WHEN ({0} >> CAST(bit AS UBIGINT)) & 1 = 1 THEN {1} ELSE {2} END)", "{3}", separator)
	return rawNull(tString, sql, bits, c.args[1], c.args[2], separator, count), nil
}

// mysqlFormat is FORMAT(x, d): rounded, with thousands parted; a locale other than en_US is refused.
func mysqlFormat(c *call) (Expr, error) {
	if len(c.args) == 3 {
		locale, ok := constantText(c.args[2])
		if !ok || !strings.HasPrefix(strings.ToLower(locale), "en_") {
			if ok && strings.EqualFold(locale, "de_DE") {
				return c.formatted(".", ",")
			}
			return nil, notSupported(c.at, "FORMAT supports the locales en_US and de_DE")
		}
	}
	return c.formatted(",", ".")
}

func (c *call) formatted(group, point string) (Expr, error) {
	digits, ok := constantInt(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the digits of FORMAT must be a constant")
	}
	number, err := c.mysqlNumber(c.args[0], c.at)
	if err != nil {
		return nil, err
	}
	out, err := c.grouped(number, int(max(0, min(digits, 30))))
	if err != nil || group == "," {
		return out, err
	}
	return rawOf(tString, "translate({0}, ',.', "+quoteText(group+point)+")", out), nil
}

// grouped writes a number with a fixed count of decimals and commas between thousands.
func (c *call) grouped(e Expr, digits int) (Expr, error) {
	to := decimalOf(maxPrecision, digits)
	d, err := convert(e, to, c.mysqlContext(), false)
	if err != nil {
		return nil, placed(err, c.at)
	}
	return rawOf(tString, "text_group(CAST({0} AS VARCHAR))", d), nil
}

func mysqlChar(c *call) (Expr, error) {
	args := make([]Expr, 0, len(c.args))
	for _, a := range c.args {
		n, err := c.mysqlNumber(a, c.at)
		if err != nil {
			return nil, err
		}
		if n, err = c.mysqlConvert(n, tLong, c.at); err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	parts := make([]string, len(args))
	for i := range parts {
		parts[i] = "coalesce(my_char_bytes({" + fmt.Sprint(i) + "}), ''::BLOB)"
	}
	bytes := &Raw{Typed: Typed{tBinary, false}, SQL: "(" + strings.Join(parts, " || ") + ")", Args: args}
	if c.using {
		return rawNull(tString, "TRY(decode({0}))", bytes), nil
	}
	return bytes, nil
}

func mysqlHex(c *call) (Expr, error) {
	switch t := c.args[0].Type(); {
	case isNumeric(t) || t.Kind == protocol.KindBoolean:
		u, err := c.unsigned(c.args[0], c.at)
		return rawOf(tString, "hex({0})", u), err
	case t.Kind == protocol.KindBinary:
		return rawOf(tString, "hex({0})", c.args[0]), nil
	}
	text, err := c.mysqlConvert(c.args[0], tString, c.at)
	return rawOf(tString, "hex({0})", text), err
}

// regexpFlags are DuckDB's options of a match: the session's case, changed by MySQL's match type (c, i, m, n).
func (c *call) regexpFlags(argument int) (string, error) {
	flags := "c"
	if c.ctx.Dialect == MySQL && c.ctx.MySQLCompare {
		flags = "i"
	}
	if argument < 0 || len(c.args) <= argument {
		return flags, nil
	}
	text, ok := constantText(c.args[argument])
	if !ok || strings.Trim(text, "cimnu") != "" {
		return "", notSupported(c.at, "the match type of %s must be a constant of the letters c, i, m and n", c.name)
	}
	for _, r := range text {
		switch r {
		case 'c', 'i':
			flags = string(r) + flags[1:]
		case 'm':
			flags += "m"
		case 'n':
			flags += "s"
		}
	}
	return flags, nil
}

// mysqlRegexp makes a call of (text, pattern [, match type]).
func mysqlRegexp(t protocol.DataType, sql string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		flags, err := c.regexpFlags(2)
		if err != nil {
			return nil, err
		}
		if _, err := c.pattern(c.args[1], c.at); err != nil {
			return nil, err
		}
		return rawNull(t, fmt.Sprintf(sql, flags), c.args[:2]...), nil
	}
}

func mysqlRegexpReplace(c *call) (Expr, error) {
	flags, err := c.regexpFlags(5)
	if err != nil {
		return nil, err
	}
	if len(c.args) > 4 {
		if n, ok := constantInt(c.args[4]); !ok || n != 0 {
			return nil, notSupported(c.at, "REGEXP_REPLACE of one occurrence is not supported")
		}
	}
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	with, err := c.replacement(c.args[2])
	if err != nil {
		return nil, err
	}
	call := fmt.Sprintf("regexp_replace(%%s, {1}, {2}, 'g%s')", flags)
	if len(c.args) > 3 {
		return rawOf(tString, "(left({0}, {3} - 1) || "+fmt.Sprintf(call, "substring({0}, {3})")+")", c.args[0], c.args[1], with, c.args[3]), nil
	}
	return rawOf(tString, fmt.Sprintf(call, "{0}"), c.args[0], c.args[1], with), nil
}

func mysqlRegexpSubstr(c *call) (Expr, error) {
	flags, err := c.regexpFlags(4)
	if err != nil {
		return nil, err
	}
	if _, err := c.pattern(c.args[1], c.at); err != nil {
		return nil, err
	}
	text, occurrence := "{0}", "1"
	if len(c.args) > 2 {
		text = "substring({0}, {2})"
	}
	if len(c.args) > 3 {
		occurrence = "{3}"
	}
	return rawNull(tString, fmt.Sprintf("regexp_extract_all(%s, {1}, 0, '%s')[%s]", text, flags, occurrence), c.args[:min(len(c.args), 4)]...), nil
}
