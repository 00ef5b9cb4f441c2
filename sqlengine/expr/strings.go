package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

// stringFunctions have one meaning in both dialects, or Spark's. Lengths and positions count characters, from 1.
var stringFunctions = []*function{
	fn("upper ucase", inBoth, "string", asString, "upper({0})").total(),
	fn("lower lcase", inBoth, "string", asString, "lower({0})").total(),
	fn("reverse", inMySQL, "string", asString, "reverse({0})").total(),
	fn("char_length character_length", inBoth, "string", asInt, "CAST(length({0}) AS INTEGER)").total(),
	custom("length len", inSpark, "bytes", lengthOf),
	custom("octet_length", inBoth, "bytes", octets),
	custom("bit_length", inBoth, "bytes", octets),
	custom("concat", inSpark, "any*", concat),
	custom("concat_ws", inSpark, "string any*", concatWs),
	custom("trim btrim", inSpark, "string [string] [string]", trims),
	fn("ltrim", inSpark, "string [string]", asString, "ltrim({0}, ' ')", "ltrim({1}, {0})"),
	fn("rtrim", inSpark, "string [string]", asString, "rtrim({0}, ' ')", "rtrim({1}, {0})"),
	fn("lpad", inSpark, "string int [string]", asString, "spark_lpad({0}, {1}, ' ')", "spark_lpad({0}, {1}, {2})"),
	fn("rpad", inSpark, "string int [string]", asString, "spark_rpad({0}, {1}, ' ')", "spark_rpad({0}, {1}, {2})"),
	custom("substring substr", inSpark, "bytes int [int]", substring),
	fn("left", inSpark, "string int", asString, "left({0}, at_least({1}, 0))").total(),
	fn("right", inSpark, "string int", asString, "right({0}, at_least({1}, 0))").total(),
	fn("instr", inSpark, "string string", asInt, "CAST(instr({0}, {1}) AS INTEGER)").total(),
	fn("locate", inSpark, "string string [int]", asInt, "CAST(instr({1}, {0}) AS INTEGER)", "CAST(text_locate({0}, {1}, {2}) AS INTEGER)").total(),
	fn("position", inSpark, "string string [int]", asInt, "CAST(instr({1}, {0}) AS INTEGER)", "CAST(text_locate({0}, {1}, {2}) AS INTEGER)").total(),
	fn("charindex", inSpark, "string string [int]", asInt, "CAST(instr({1}, {0}) AS INTEGER)", "CAST(text_locate({0}, {1}, {2}) AS INTEGER)").total(),
	fn("contains", inSpark, "string string", asBoolean, "contains({0}, {1})").total(),
	custom("startswith", inSpark, "string string", startsWith),
	fn("endswith", inSpark, "string string", asBoolean, "ends_with({0}, {1})").total(),
	fn("replace", inSpark, "string string [string]", asString, "CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, '') END", "CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, {2}) END"),
	fn("translate", inSpark, "string string string", asString, "translate({0}, {1}, {2})").total(),
	fn("repeat", inSpark, "string int", asString, "repeat({0}, at_least({1}, 0))").total(),
	fn("space", inSpark, "int", asString, "repeat(' ', at_least({0}, 0))").total(),
	fn("initcap", inSpark, "string", asString, "array_to_string(list_transform(string_split(lower({0}), ' '), lambda w: upper(left(w, 1)) || substring(w, 2)), ' ')").total(),
	fn("ascii", inSpark, "string", asInt, "CASE WHEN {0} = '' THEN 0 ELSE ascii({0}) END").total(),
	fn("chr char", inSpark, "bigint", asString, "CASE WHEN {0} < 0 THEN '' ELSE chr(CAST({0} % 256 AS INTEGER)) END").total(),
	fn("levenshtein", inSpark, "string string [int]", asInt, "CAST(levenshtein({0}, {1}) AS INTEGER)", "CASE WHEN levenshtein({0}, {1}) > {2} THEN -1 ELSE CAST(levenshtein({0}, {1}) AS INTEGER) END").total(),
	fn("split_part", inSpark, "string string int", asString, "CASE WHEN {2} = 0 THEN "+failSQL("INVALID_INDEX_OF_ZERO", "The index 0 is invalid. An index shall be either < 0 or > 0.")+" ELSE split_part({0}, {1}, {2}) END"),
	custom("substring_index", inSpark, "string string int", substringIndex),
	custom("split", inSpark, "string string [int]", split),
	custom("regexp_extract", inSpark, "string string [int]", regexpExtract),
	custom("regexp_extract_all", inSpark, "string string [int]", regexpExtractAll),
	custom("regexp_replace", inSpark, "string string string [int]", regexpReplace),
	custom("regexp_count", inSpark, "string string", func(c *call) (Expr, error) {
		return c.withPattern(tInt, "CAST(len(regexp_extract_all({0}, {1})) AS INTEGER)")
	}),
	custom("regexp_substr", inSpark, "string string", func(c *call) (Expr, error) {
		return c.withPattern(tString, "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}) END")
	}),
	custom("regexp_instr", inSpark, "string string [int]", func(c *call) (Expr, error) {
		return c.withPattern(tInt, "CAST(regexp_position({0}, {1}) AS INTEGER)")
	}),
	custom("regexp_like regexp rlike", inSpark, "string string", func(c *call) (Expr, error) {
		return c.withPattern(tBoolean, "regexp_matches({0}, {1})")
	}),
	custom("like", inSpark, "string string", func(c *call) (Expr, error) {
		return &Like{Typed{tBoolean, anyNullable(c.args)}, c.args[0], c.args[1], '\\', false}, nil
	}),
	custom("ilike", inSpark, "string string", func(c *call) (Expr, error) {
		return &Like{Typed{tBoolean, anyNullable(c.args)}, c.args[0], c.args[1], '\\', true}, nil
	}),
	fn("find_in_set", inSpark, "string string", asInt, "CASE WHEN contains({0}, ',') THEN 0 ELSE coalesce(CAST(list_position(string_split({1}, ','), {0}) AS INTEGER), 0) END").total(),
	custom("elt", inSpark, "int any+", elt),
	fn("overlay", inSpark, "string string int [int]", asString, "(left({0}, {2} - 1) || {1} || substring({0}, {2} + length({1})))", "(left({0}, {2} - 1) || {1} || substring({0}, {2} + {3}))").total(),
	fn("soundex", inBoth, "string", asString, "text_soundex({0})"),
	custom("hex", inSpark, "any", hexOf),
	fn("unhex", inSpark, "string", asBinary, "TRY(unhex({0}))"),
	fn("base64", inSpark, "binary", asString, "to_base64({0})").total(),
	fn("unbase64", inSpark, "string", asBinary, "from_base64({0})").total(),
	custom("encode", inSpark, "string string", charset),
	custom("decode", inSpark, "any any+", decode),
	custom("to_binary", inSpark, "string [string]", toBinary),
	fn("md5", inBoth, "bytes", asString, "md5({0})").total(),
	fn("sha sha1", inBoth, "bytes", asString, "sha1({0})").total(),
	custom("crc32", inBoth, "bytes", crc32),
	fn("luhn_check", inSpark, "string", asBoolean, "text_luhn({0})").total(),
	custom("format_number", inSpark, "number int", formatNumber),
	custom("is_valid_utf8", inSpark, "bytes", validUTF8),
	fn("quote", inSpark, "string", asString, "('''' || replace(replace({0}, '\\', '\\\\'), '''', '\\''') || '''')").total(),
	custom("format_string printf", inBoth, "string any*", formatString),
	fn("url_encode", inBoth, "string", asString, "replace(url_encode({0}), '%20', '+')").total(),
	fn("url_decode", inBoth, "string", asString, "url_decode(replace({0}, '+', '%20'))").total(),
	custom("to_char to_varchar", inSpark, "any string", toChar),
}

// startsWith is LIKE 'prefix%' where the prefix is constant, so that files can be skipped by it.
func startsWith(c *call) (Expr, error) {
	prefix, ok := constantText(c.args[1])
	if !ok || prefix == "" {
		return rawOf(tBoolean, "starts_with({0}, {1})", c.args...), nil
	}
	pattern := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(prefix) + "%"
	return &Like{Typed{tBoolean, c.args[0].Nullable()}, c.args[0], textLiteral(pattern), '\\', false}, nil
}

func lengthOf(c *call) (Expr, error) {
	if c.args[0].Type().Kind == protocol.KindBinary {
		return rawOf(tInt, "CAST(octet_length({0}) AS INTEGER)", c.args...), nil
	}
	return rawOf(tInt, "CAST(length({0}) AS INTEGER)", c.args...), nil
}

// asBytes is text's UTF-8.
func asBytes(e Expr) Expr {
	if e.Type().Kind == protocol.KindBinary {
		return e
	}
	return rawOf(tBinary, "encode({0})", e)
}

func octets(c *call) (Expr, error) {
	sql := "CAST(octet_length({0}) AS INTEGER)"
	if c.f.names[0] == "bit_length" {
		sql = "CAST(octet_length({0}) * 8 AS INTEGER)"
	}
	return rawOf(tInt, sql, asBytes(c.args[0])), nil
}

// concat joins text, binary or arrays; NULL if any part is.
func concat(c *call) (Expr, error) {
	if len(c.args) == 0 {
		return textLiteral(""), nil
	}
	arrays, allBinary := false, true
	for _, a := range c.args {
		arrays = arrays || a.Type().Kind == protocol.KindArray
		allBinary = allBinary && a.Type().Kind == protocol.KindBinary
	}
	if arrays {
		list, t, err := c.unified(c.args, c.at)
		if err != nil {
			return nil, err
		}
		if len(list) == 1 {
			return list[0], nil
		}
		return rawOf(t, "("+spreadBy(" || ", len(list))+")", list...), nil
	}
	args := make([]Expr, len(c.args))
	for i, a := range c.args {
		args[i] = a
		if allBinary {
			continue
		}
		var err error
		if args[i], err = c.accept(a, "string"); err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of concat must be text, not %s", i+1, a.Type())
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	t := tString
	if allBinary {
		t = tBinary
	}
	return rawOf(t, "("+spreadBy(" || ", len(args))+")", args...), nil
}

func spreadBy(separator string, n int) string {
	return strings.ReplaceAll(spread("{*}", n), ", ", separator)
}

// concatWs joins what is not NULL; an array gives its items.
func concatWs(c *call) (Expr, error) {
	args := []Expr{c.args[0]}
	lists := make([]string, 0, len(c.args))
	for i, a := range c.args[1:] {
		t := tString
		if a.Type().Kind == protocol.KindArray {
			t = arrayOf(tString)
		}
		e, err := convert(a, t, c.ctx, false)
		if err != nil {
			return nil, placed(err, c.at)
		}
		args = append(args, e)
		if t.Kind == protocol.KindArray {
			lists = append(lists, "coalesce("+operand(i+1)+", [])")
		} else {
			lists = append(lists, "["+operand(i+1)+"]")
		}
	}
	if len(lists) == 0 {
		return rawOf(tString, "CASE WHEN {0} IS NOT NULL THEN '' END", args...), nil
	}
	return &Raw{Typed: Typed{tString, args[0].Nullable()}, SQL: joined(strings.Join(lists, " || "), "{0}", args[0]), Args: args}, nil
}

// joined is the text of a list of texts joined by a separator, NULLs left out. DuckDB's own function wants a constant separator.
func joined(list, separator string, by Expr) string {
	if _, ok := asLiteral(by); ok {
		return "join_by(" + list + ", " + separator + ")"
	}
	return "join_text(" + list + ", " + separator + ")"
}

func operand(i int) string { return fmt.Sprintf("{%d}", i) }

// trims is trim(s), trim(chars, s) of Spark's old form, btrim(s, chars), and trim('BOTH', chars, s) of the syntax.
func trims(c *call) (Expr, error) {
	switch len(c.args) {
	case 1:
		return rawOf(tString, "trim({0}, ' ')", c.args...), nil
	case 2:
		if side, ok := constantText(c.args[0]); ok && c.name == "trim" && trimFunctions[side] != "" {
			return rawOf(tString, trimFunctions[side]+"({0}, ' ')", c.args[1]), nil
		}
		if c.name == "btrim" {
			return rawOf(tString, "trim({0}, {1})", c.args...), nil
		}
		return rawOf(tString, "trim({1}, {0})", c.args...), nil
	}
	side, _ := constantText(c.args[0])
	name, ok := trimFunctions[strings.ToUpper(side)]
	if !ok {
		return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "trim takes BOTH, LEADING or TRAILING, not %q", side)
	}
	if isNullLiteral(c.args[1]) {
		return rawOf(tString, name+"({0}, ' ')", c.args[2]), nil
	}
	return rawOf(tString, name+"({1}, {0})", c.args[1], c.args[2]), nil
}

var trimFunctions = map[string]string{"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}

// substring counts from 1, from the end where negative; 0 counts as 1. What lies before the start eats of the length.
func substring(c *call) (Expr, error) {
	t, unit := tString, "substring"
	args := append([]Expr(nil), c.args...)
	if c.args[0].Type().Kind == protocol.KindBinary {
		t, unit = tBinary, "binary_substring"
	}
	start, ok := constantInt(args[1])
	if len(args) == 2 {
		if ok && start >= 0 {
			return rawOf(t, unit+"({0}, at_least({1}, 1), 2147483647)", args...), nil
		}
		return rawOf(t, unit+"({0}, CASE WHEN {1} >= 0 THEN at_least({1}, 1) WHEN -{1} > octet_length("+octetsOf(t)+") THEN 1 ELSE {1} END, 2147483647)", args...), nil
	}
	if ok && start >= 0 {
		return rawOf(t, unit+"({0}, at_least({1}, 1), at_least({2}, 0))", args...), nil
	}
	if t.Kind == protocol.KindBinary {
		return rawOf(t, "binary_from({0}, {1}, {2})", args...), nil
	}
	return rawOf(t, "text_from({0}, {1}, {2})", args...), nil
}

func octetsOf(t protocol.DataType) string {
	if t.Kind == protocol.KindBinary {
		return "{0}"
	}
	return "encode({0})"
}

func substringIndex(c *call) (Expr, error) {
	name := "my_substring_index"
	if _, ok := asLiteral(c.args[1]); !ok {
		name = "my_substring_index_by"
	}
	return rawOf(tString, name+"({0}, {1}, {2})", c.args...), nil
}

func elt(c *call) (Expr, error) {
	list := make([]Expr, len(c.args)-1)
	for i, a := range c.args[1:] {
		var err error
		if list[i], err = c.accept(a, "string"); err != nil {
			return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be text, not %s", i+2, c.name, a.Type())
		}
	}
	return rawNull(tString, "CASE WHEN {0} > 0 THEN (["+spread("{1*}", len(c.args))+"])[{0}] END", append([]Expr{c.args[0]}, list...)...), nil
}

func hexOf(c *call) (Expr, error) {
	switch t := c.args[0].Type(); {
	case isNumeric(t):
		e, err := convert(c.args[0], tLong, c.ctx, false)
		return rawOf(tString, "hex({0})", e), placed(err, c.at)
	case t.Kind == protocol.KindBinary:
		return rawOf(tString, "hex({0})", c.args[0]), nil
	}
	e, err := c.accept(c.args[0], "string")
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "%s takes a number, text or binary, not %s", c.name, c.args[0].Type())
	}
	return rawOf(tString, "hex({0})", e), nil
}

func charset(c *call) (Expr, error) {
	name, ok := constantText(c.args[1])
	if !ok || !utf8Names[strings.ToUpper(name)] {
		return nil, notSupported(c.at, "%s supports the character set UTF-8 only", c.name)
	}
	return rawOf(tBinary, "encode({0})", c.args[0]), nil
}

var utf8Names = map[string]bool{"UTF-8": true, "UTF8": true, "UTF8MB4": true, "US-ASCII": true}

// decode is text of bytes with a character set, or Oracle's decode(e, search, result, ..., default).
func decode(c *call) (Expr, error) {
	if len(c.args) == 2 {
		name, ok := constantText(c.args[1])
		if !ok || !utf8Names[strings.ToUpper(name)] {
			return nil, notSupported(c.at, "decode supports the character set UTF-8 only")
		}
		e, err := c.accept(c.args[0], "bytes")
		if err != nil {
			return nil, placed(err, c.at)
		}
		return rawOf(tString, "decode({0}, 'replace')", asBytes(e)), nil
	}
	var whens []When
	var results []Expr
	for i := 1; i+1 < len(c.args); i += 2 {
		condition, err := c.compare("IS NOT DISTINCT FROM", c.args[0], c.args[i], c.at)
		if err != nil {
			return nil, err
		}
		whens = append(whens, When{Condition: condition})
		results = append(results, c.args[i+1])
	}
	if len(c.args)%2 == 0 {
		results = append(results, c.args[len(c.args)-1])
	}
	return c.caseOf(whens, results, c.at)
}

func toBinary(c *call) (Expr, error) {
	format := "hex"
	if len(c.args) == 2 {
		text, ok := constantText(c.args[1])
		if !ok {
			return nil, notSupported(c.at, "the format of to_binary must be a constant")
		}
		format = strings.ToLower(text)
	}
	switch format {
	case "hex":
		return rawOf(tBinary, "unhex({0})", c.args[0]), nil
	case "base64":
		return rawOf(tBinary, "from_base64({0})", c.args[0]), nil
	case "utf-8", "utf8":
		return rawOf(tBinary, "encode({0})", c.args[0]), nil
	}
	return nil, fail(c.at, "INVALID_PARAMETER_VALUE", "to_binary knows the formats hex, base64 and utf-8, not %q", format)
}

func crc32(c *call) (Expr, error) { return rawOf(tLong, "bytes_crc32({0})", asBytes(c.args[0])), nil }

func formatNumber(c *call) (Expr, error) {
	digits, ok := constantInt(c.args[1])
	if !ok || digits < 0 || digits > 30 {
		return nil, notSupported(c.at, "%s takes a constant number of digits", c.name)
	}
	return c.grouped(c.args[0], int(digits))
}

func validUTF8(c *call) (Expr, error) {
	return rawOf(tBoolean, "(TRY(decode({0})) IS NOT NULL)", asBytes(c.args[0])), nil
}

// toChar formats a date or timestamp by a pattern; number patterns are refused.
func toChar(c *call) (Expr, error) {
	if t := c.args[0].Type(); isDatetime(t) || t.Kind == protocol.KindString {
		return c.callBound("date_format", c.at, c.args...)
	}
	return nil, notSupported(c.at, "%s formats dates and timestamps only", c.name)
}
