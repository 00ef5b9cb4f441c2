package expr

// Macros are the statements that define this package's DuckDB macros. The engine runs them once on each instance, before any
// query, or when a statement first needs one: a macro comes after those that it uses. A macro is text that DuckDB puts in place of
// its call, operands repeated. Where that would double long texts over and over, the operand is bound once to a lambda's
// parameter: list_transform([x], lambda v: ...)[1].
func Macros() []string {
	return append(append([]string(nil), macros...), fileMacros...)
}

// zonePattern is what may stand behind a clock.
const zonePattern = `(Z|UTC|GMT|[A-Za-z]+/[A-Za-z_/]+|(UTC|GMT)?[+-][0-9]{1,2}(:?[0-9]{2})?)$`

var macros = []string{
	// ---- numbers ----

	// The quotient of two whole numbers, rounded half away from zero.
	`CREATE MACRO decimal_quotient(n, d) AS n // d + CASE WHEN abs(n % d) >= abs(d) - abs(n % d) THEN CASE WHEN (n < 0) = (d < 0) THEN 1 ELSE -1 END ELSE 0 END`,
	// A quotient of doubles as Java has it: infinite or no number where the divisor is zero.
	`CREATE MACRO real_quotient(x, d) AS CASE WHEN d <> 0 THEN x / d WHEN x > 0 THEN 'inf'::DOUBLE WHEN x < 0 THEN '-inf'::DOUBLE WHEN x = 0 AND d = 0 THEN 'nan'::DOUBLE END`,
	// Rounding half to even of a decimal.
	`CREATE MACRO decimal_round_even(x, digits) AS CASE WHEN abs(x - trunc(x, digits)) * 2 = CAST(pow(10, -digits) AS DECIMAL(38,19)) AND CAST(trunc(x, digits) * CAST(pow(10, digits) AS DECIMAL(20,0)) AS HUGEINT) % 2 = 0 THEN trunc(x, digits) ELSE round(x, digits) END`,
	// Shifts with Java's meaning: the distance counts modulo the width, what leaves the width is lost.
	`CREATE MACRO wrap_int(x) AS CASE WHEN x >= 2147483648 THEN x - 4294967296 ELSE x END`,
	`CREATE MACRO wrap_bigint(x) AS CASE WHEN x >= 9223372036854775808::HUGEINT THEN x - 18446744073709551616::HUGEINT ELSE x END`,
	`CREATE MACRO shift_left_int(x, n) AS wrap_int(((CAST(x AS HUGEINT) & 4294967295) << (n & 31)) & 4294967295)`,
	`CREATE MACRO shift_left_bigint(x, n) AS wrap_bigint(((CAST(x AS HUGEINT) & 18446744073709551615::HUGEINT) << (n & 63)) & 18446744073709551615::HUGEINT)`,
	`CREATE MACRO shift_right_int(x, n) AS x >> (n & 31)`,
	`CREATE MACRO shift_right_bigint(x, n) AS x >> (n & 63)`,
	`CREATE MACRO shift_unsigned_int(x, n) AS wrap_int((CAST(x AS HUGEINT) & 4294967295) >> (n & 31))`,
	`CREATE MACRO shift_unsigned_bigint(x, n) AS wrap_bigint((CAST(x AS HUGEINT) & 18446744073709551615::HUGEINT) >> (n & 63))`,
	`CREATE MACRO number_bucket(x, lo, hi, n) AS CASE WHEN n <= 0 OR lo = hi THEN NULL WHEN lo < hi THEN CASE WHEN x < lo THEN 0 WHEN x >= hi THEN n + 1 ELSE CAST(floor((x - lo) / (hi - lo) * n) AS BIGINT) + 1 END ELSE CASE WHEN x > lo THEN 0 WHEN x <= hi THEN n + 1 ELSE CAST(floor((lo - x) / (lo - hi) * n) AS BIGINT) + 1 END END`,
	// A number as Java prints a double: plain from 0.001 to 10,000,000, in scientific notation beyond.
	`CREATE MACRO spark_double_digits(t) AS CASE WHEN contains(t, 'e') THEN replace(split_part(t, 'e', 1), '.', '') ELSE rtrim(ltrim(replace(t, '.', ''), '0'), '0') END`,
	`CREATE MACRO spark_double_exponent(t) AS CASE WHEN contains(t, 'e') THEN CAST(split_part(t, 'e', 2) AS INTEGER) WHEN starts_with(t, '0.') THEN -1 - length(regexp_extract(t, '^0\.(0*)', 1)) ELSE length(split_part(t, '.', 1)) - 1 END`,
	`CREATE MACRO spark_double_positive(t) AS CASE WHEN t IN ('inf', 'nan') THEN CASE t WHEN 'inf' THEN 'Infinity' ELSE 'NaN' END WHEN t = '0.0' THEN '0.0' WHEN spark_double_exponent(t) BETWEEN -3 AND 6 THEN t ELSE left(spark_double_digits(t), 1) || '.' || CASE WHEN length(spark_double_digits(t)) > 1 THEN substring(spark_double_digits(t), 2) ELSE '0' END || 'E' || spark_double_exponent(t) END`,
	`CREATE MACRO spark_double_text(t) AS list_transform([t], lambda v: CASE WHEN starts_with(v, '-') AND v <> '-nan' THEN '-' || spark_double_positive(substring(v, 2)) ELSE spark_double_positive(ltrim(v, '-')) END)[1]`,

	// A decimal whose digits all stand behind the point: DuckDB leaves the zero before it out.
	`CREATE MACRO fraction_text(t) AS regexp_replace(t, '^(-?)\.', '\1' || '0.')`,

	// ---- text to numbers and times ----

	// Text that is an integer; other text is quoted, so that the cast behind it fails and names it.
	`CREATE MACRO spark_int_text(t) AS CASE WHEN regexp_full_match(t, '\s*[+-]?[0-9]+\s*') THEN t ELSE '''' || t || '''' END`,
	// Text of a date brought to yyyy-mm-dd.
	`CREATE MACRO spark_date_trimmed(t) AS CASE WHEN regexp_full_match(t, '[0-9]{4}') THEN t || '-01-01' WHEN regexp_full_match(t, '[0-9]{4}-[0-9]{1,2}') THEN t || '-01' WHEN regexp_matches(t, '^[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}[T ]') THEN regexp_extract(t, '^[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}') ELSE t END`,
	`CREATE MACRO spark_date_text(t) AS spark_date_trimmed(trim(t))`,
	`CREATE MACRO spark_time_trimmed(t) AS CASE WHEN regexp_full_match(t, '[0-9]{4}') THEN t || '-01-01' WHEN regexp_full_match(t, '[0-9]{4}-[0-9]{1,2}') THEN t || '-01' ELSE t END`,
	`CREATE MACRO spark_time_text(t) AS spark_time_trimmed(trim(t))`,
	`CREATE MACRO spark_zoned(t) AS regexp_matches(t, '[0-9]:[0-9]{1,2}.*` + zonePattern + `')`,
	// Text by a strptime pattern; what does not match is an error of its own.
	`CREATE MACRO parsed_clock(t, f) AS list_transform([t], lambda v: CASE WHEN v IS NOT NULL AND try_strptime(v, f) IS NULL THEN error('[CANNOT_PARSE_TIMESTAMP] Text ''' || v || ''' could not be parsed. Use try_to_timestamp to get NULL instead.') ELSE try_strptime(v, f) END)[1]`,

	// ---- intervals and calendars ----

	`CREATE MACRO spark_months(i) AS CAST(date_part('year', i) * 12 + date_part('month', i) AS BIGINT)`,
	`CREATE MACRO spark_micros(i) AS epoch_us(i)`,
	`CREATE MACRO spark_months_text(i) AS 'INTERVAL ''' || CASE WHEN spark_months(i) < 0 THEN '-' ELSE '' END || abs(spark_months(i)) // 12 || '-' || abs(spark_months(i)) % 12 || ''' YEAR TO MONTH'`,
	`CREATE MACRO micros_clock(m) AS m // 86400000000 || ' ' || lpad(CAST(m // 3600000000 % 24 AS VARCHAR), 2, '0') || ':' || lpad(CAST(m // 60000000 % 60 AS VARCHAR), 2, '0') || ':' || lpad(CAST(m // 1000000 % 60 AS VARCHAR), 2, '0') || CASE WHEN m % 1000000 = 0 THEN '' ELSE '.' || rtrim(lpad(CAST(m % 1000000 AS VARCHAR), 6, '0'), '0') END`,
	`CREATE MACRO spark_daytime_text(i) AS list_transform([epoch_us(i)], lambda m: 'INTERVAL ''' || CASE WHEN m < 0 THEN '-' ELSE '' END || micros_clock(abs(m)) || ''' DAY TO SECOND')[1]`,
	// Whole months from one wall clock to another.
	`CREATE MACRO clock_day(x) AS date_part('day', x) * 86400000000 + epoch_us(x) - epoch_us(date_trunc('day', x))`,
	`CREATE MACRO clock_months_raw(a, b) AS (date_part('year', b) - date_part('year', a)) * 12 + date_part('month', b) - date_part('month', a)`,
	`CREATE MACRO clock_months_of(a, b) AS clock_months_raw(a, b) - CASE WHEN b >= a AND clock_day(b) < clock_day(a) THEN 1 WHEN b < a AND clock_day(b) > clock_day(a) THEN -1 ELSE 0 END`,
	`CREATE MACRO clock_months(a, b) AS list_transform([struct_pack(x := a, y := b)], lambda p: clock_months_of(p.x, p.y))[1]`,
	// Months with a fraction of a 31-day month, 0 on the same or the last day of both.
	`CREATE MACRO months_between_of(a, b) AS CASE WHEN date_part('day', a) = date_part('day', b) OR (CAST(a AS DATE) = last_day(a) AND CAST(b AS DATE) = last_day(b)) THEN CAST(clock_months_raw(b, a) AS DOUBLE) ELSE clock_months_raw(b, a) + (clock_day(a) - clock_day(b)) / 1000000.0::DOUBLE / 2678400.0::DOUBLE END`,
	`CREATE MACRO spark_months_between(a, b) AS list_transform([struct_pack(x := a, y := b)], lambda p: months_between_of(p.x, p.y))[1]`,

	// ---- text ----

	`CREATE MACRO text_locate(sub, s, pos) AS CASE WHEN pos < 1 THEN CASE WHEN s IS NOT NULL AND sub IS NOT NULL THEN 0 END WHEN sub = '' THEN CASE WHEN pos <= length(s) + 1 THEN pos ELSE 0 END WHEN instr(substring(s, pos), sub) = 0 THEN 0 ELSE instr(substring(s, pos), sub) + pos - 1 END`,
	`CREATE MACRO at_least(x, lo) AS CASE WHEN x < lo THEN lo ELSE x END`,
	`CREATE MACRO spark_lpad(s, n, p) AS CASE WHEN n <= 0 THEN CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN '' END WHEN n <= length(s) OR p = '' THEN CASE WHEN p IS NOT NULL THEN left(s, n) END ELSE lpad(s, n, p) END`,
	`CREATE MACRO spark_rpad(s, n, p) AS CASE WHEN n <= 0 THEN CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN '' END WHEN n <= length(s) OR p = '' THEN CASE WHEN p IS NOT NULL THEN left(s, n) END ELSE rpad(s, n, p) END`,
	// substring(s, i, n) where i may be negative: what lies before the start eats of the length.
	`CREATE MACRO text_from(s, i, n) AS list_transform([s], lambda v: CASE WHEN i >= 0 THEN substring(v, at_least(i, 1), at_least(n, 0)) WHEN -i > length(v) THEN substring(v, 1, at_least(n + length(v) + i, 0)) ELSE substring(v, length(v) + i + 1, at_least(n, 0)) END)[1]`,
	`CREATE MACRO binary_substring(b, i, n) AS unhex(substring(hex(b), (i - 1) * 2 + 1, least(n, 1000000000) * 2))`,
	`CREATE MACRO binary_from(b, i, n) AS unhex(CASE WHEN i >= 0 THEN substring(hex(b), (at_least(i, 1) - 1) * 2 + 1, at_least(n, 0) * 2) WHEN -i > octet_length(b) THEN substring(hex(b), 1, at_least(n + octet_length(b) + i, 0) * 2) ELSE substring(hex(b), (octet_length(b) + i) * 2 + 1, at_least(n, 0) * 2) END)`,
	`CREATE MACRO regexp_position(s, p) AS CASE WHEN regexp_matches(s, p) THEN instr(s, regexp_extract(s, p)) ELSE CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN 0 END END`,
	`CREATE MACRO text_split(s, sep, n) AS CASE WHEN len(string_split(s, sep)) <= n THEN string_split(s, sep) ELSE string_split(s, sep)[1:n - 1] || [array_to_string(string_split(s, sep)[n:], sep)] END`,
	// Texts joined without those that are NULL, by a constant and by any separator.
	`CREATE MACRO join_by(l, sep) AS CASE WHEN l IS NOT NULL AND sep IS NOT NULL THEN coalesce(array_to_string(l, sep), '') END`,
	`CREATE MACRO join_all(k, sep) AS CASE WHEN len(k) = 0 THEN CASE WHEN sep IS NOT NULL THEN '' END ELSE list_reduce(k, lambda acc, x: acc || sep || x) END`,
	`CREATE MACRO join_text(l, sep) AS list_transform([list_filter(l, lambda x: x IS NOT NULL)], lambda k: join_all(k, sep))[1]`,
	`CREATE MACRO my_substring_index(s, d, n) AS CASE WHEN n = 0 OR d = '' THEN CASE WHEN s IS NOT NULL THEN '' END WHEN n > 0 THEN array_to_string(string_split(s, d)[1:n], d) ELSE array_to_string(string_split(s, d)[greatest(len(string_split(s, d)) + n + 1, 1):], d) END`,
	`CREATE MACRO my_substring_index_by(s, d, n) AS CASE WHEN n = 0 OR d = '' THEN CASE WHEN s IS NOT NULL THEN '' END WHEN n > 0 THEN join_text(string_split(s, d)[1:n], d) ELSE join_text(string_split(s, d)[greatest(len(string_split(s, d)) + n + 1, 1):], d) END`,
	// Soundex: the first letter, then the classes of the others without repeats, vowels and H, W between.
	`CREATE MACRO soundex_codes(s) AS translate(upper(s), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '01230120022455012623010202')`,
	`CREATE MACRO soundex_squeezed(s) AS list_reduce(list_transform(string_split(soundex_codes(regexp_replace(upper(s), '(.)[HW]+', '\1', 'g')), ''), lambda c: c), lambda acc, c: CASE WHEN right(acc, 1) = c THEN acc ELSE acc || c END, '')`,
	`CREATE MACRO text_soundex(s) AS list_transform([s], lambda v: CASE WHEN regexp_matches(v, '^[A-Za-z]') THEN upper(left(v, 1)) || rpad(left(replace(regexp_replace(substring(soundex_squeezed(v), 2), '[^0-9]', '', 'g'), '0', ''), 3), 3, '0') ELSE v END)[1]`,
	// CRC-32 (IEEE) of bytes, bit by bit over the reflected polynomial.
	`CREATE MACRO crc32_step(c) AS CASE WHEN c % 2 = 1 THEN xor(c >> 1, 3988292384) ELSE c >> 1 END`,
	`CREATE MACRO crc32_byte(c, b) AS list_reduce(range(8), lambda acc, i: crc32_step(acc), xor(c, b))`,
	`CREATE MACRO bytes_crc32(x) AS list_transform([hex(x)], lambda h: CASE WHEN h IS NOT NULL THEN xor(list_reduce(list_transform(range(length(h) // 2), lambda i: CAST('0x' || substring(h, CAST(i * 2 + 1 AS INTEGER), 2) AS BIGINT)), lambda c, b: crc32_byte(c, b), 4294967295), 4294967295) END)[1]`,
	`CREATE MACRO text_luhn(s) AS regexp_full_match(s, '[0-9]+') AND list_sum(list_transform(string_split(reverse(s), ''), lambda d, i: CASE WHEN i % 2 = 1 THEN CAST(d AS INTEGER) WHEN CAST(d AS INTEGER) > 4 THEN CAST(d AS INTEGER) * 2 - 9 ELSE CAST(d AS INTEGER) * 2 END)) % 10 = 0`,

	// ---- lists ----

	`CREATE MACRO list_has_null(l, x) AS list_contains(l, x) OR (x IS NULL AND list_count(l) < len(l))`,
	`CREATE MACRO list_unique_in_order(l) AS list_reduce(l, lambda acc, x: CASE WHEN list_has_null(acc, x) THEN acc ELSE list_append(acc, x) END, l[1:0])`,
	`CREATE MACRO list_part(l, i, n) AS CASE WHEN i = 0 THEN error('[INVALID_PARAMETER_VALUE.START] The start of slice cannot be 0.') WHEN n < 0 THEN error('[INVALID_PARAMETER_VALUE.LENGTH] The length of slice cannot be negative.') WHEN i > 0 THEN l[i:i + n - 1] WHEN -i > len(l) THEN l[1:0] ELSE l[len(l) + i + 1:len(l) + i + n] END`,
	`CREATE MACRO list_insert_at(l, i, x) AS CASE WHEN i = 0 THEN error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid. An index shall be either < 0 or > 0.') WHEN i > 0 AND i <= len(l) THEN l[1:i - 1] || [x] || l[i:] WHEN i > 0 THEN l || list_resize(l[1:0], i - len(l) - 1) || [x] WHEN -i <= len(l) + 1 THEN l[1:len(l) + i + 1] || [x] || l[len(l) + i + 2:] ELSE [x] || list_resize(l[1:0], -i - len(l) - 1) || l END`,
	`CREATE MACRO sequence_checked(a, b, s) AS CASE WHEN s = 0 AND a <> b OR s > 0 AND a > b OR s < 0 AND a < b THEN error('[ILLEGAL_SEQUENCE_BOUNDARIES] Illegal sequence boundaries: ' || a || ' to ' || b || ' by ' || s || '.') WHEN s = 0 THEN [a] ELSE generate_series(a, b, s) END`,

	// ---- variants ----

	// The variant null: an empty dictionary of version 1, and the byte of a null. DuckDB's cast from JSON gives NULL for it.
	`CREATE MACRO variant_null() AS variant_bytes_to_variant('\x01\x00\x00\x00'::BLOB)`,
	`CREATE MACRO variant_of(j) AS CASE WHEN json_type(j) = 'NULL' THEN variant_null() ELSE CAST(j AS VARIANT) END`,
	`CREATE MACRO variant_is_null(v) AS v IS NOT NULL AND variant_typeof(v) = 'VARIANT_NULL'`,
	`CREATE MACRO variant_items(v) AS CASE WHEN starts_with(variant_typeof(v), 'ARRAY') THEN TRY_CAST(v AS VARIANT[]) WHEN starts_with(variant_typeof(v), 'OBJECT') THEN list_transform(json_extract(CAST(v AS JSON), '$.*'), lambda j: CAST(j AS VARIANT)) END`,
	`CREATE MACRO variant_item_keys(v) AS CASE WHEN starts_with(variant_typeof(v), 'ARRAY') THEN list_transform(TRY_CAST(v AS VARIANT[]), lambda j: CAST(NULL AS VARCHAR)) WHEN starts_with(variant_typeof(v), 'OBJECT') THEN json_keys(CAST(v AS JSON)) END`,
	// Text of a JSON document whose decimals end without zeros: 1.5, not 1.50. A double's text never ends in one, but for 1.0.
	`CREATE MACRO json_trimmed(t) AS regexp_replace(t, '("(?:\\.|[^"\\])*")|(\.[0-9]*[1-9])0+\b|\.00+\b', '\1\2', 'g')`,
	`CREATE MACRO variant_json(v) AS json_trimmed(CAST(CAST(v AS JSON) AS VARCHAR))`,
	`CREATE MACRO variant_text(v) AS CASE WHEN variant_typeof(v) = 'VARCHAR' THEN CAST(v AS VARCHAR) WHEN variant_typeof(v) = 'VARIANT_NULL' THEN NULL ELSE variant_json(v) END`,

	// ---- the schema of a variant, by its JSON text ----

	`CREATE MACRO schema_number(t) AS CASE WHEN contains(lower(t), 'e') THEN 'DOUBLE' WHEN contains(t, '.') THEN 'DECIMAL(' || greatest(length(ltrim(replace(ltrim(t, '-'), '.', ''), '0')), length(split_part(t, '.', 2))) || ',' || length(split_part(t, '.', 2)) || ')' ELSE 'BIGINT' END`,
	`CREATE MACRO schema_scalar(j) AS CASE json_type(j) WHEN 'NULL' THEN 'VOID' WHEN 'BOOLEAN' THEN 'BOOLEAN' WHEN 'VARCHAR' THEN 'STRING' ELSE schema_number(CAST(j AS VARCHAR)) END`,
	"CREATE MACRO schema_key(k) AS CASE WHEN regexp_full_match(k, '[A-Za-z_][A-Za-z0-9_]*') THEN k ELSE '`' || k || '`' END",
	`CREATE MACRO schema_label(k) AS CASE WHEN k IS NULL THEN '' ELSE schema_key(k) || ': ' END`,
	`CREATE MACRO schema_labels(j) AS CASE json_type(j) WHEN 'OBJECT' THEN json_keys(j) END`,
	`CREATE MACRO schema_join(j, acc, x) AS CASE WHEN json_type(j) = 'OBJECT' THEN CASE WHEN acc = '' THEN x ELSE acc || ', ' || x END WHEN acc IN ('', 'VOID') THEN x WHEN x IN ('VOID', acc) THEN acc ELSE 'VARIANT' END`,
	`CREATE MACRO schema_wrap(j, inside) AS CASE json_type(j) WHEN 'OBJECT' THEN 'OBJECT<' || inside || '>' WHEN 'ARRAY' THEN 'ARRAY<' || coalesce(nullif(inside, ''), 'VOID') || '>' ELSE schema_scalar(j) END`,
	`CREATE MACRO schema_nested(j, types) AS list_transform([list_reduce(list_transform(list_zip(types, schema_labels(j)), lambda p: schema_label(p[2]) || p[1]), lambda acc, x: schema_join(j, acc, x), '')], lambda inside: schema_wrap(j, inside))[1]`,
	`CREATE MACRO schema_children(j) AS CASE json_type(j) WHEN 'OBJECT' THEN json_extract(j, '$.*') WHEN 'ARRAY' THEN json_extract(j, '$[*]') END`,
	`CREATE MACRO schema_deepest(j) AS CASE WHEN json_type(j) IN ('OBJECT', 'ARRAY') THEN error('[UNSUPPORTED_FEATURE] schema_of_variant goes down six levels, this variant has more.') ELSE schema_scalar(j) END`,
	`CREATE MACRO schema_5(j) AS schema_nested(j, list_transform(schema_children(j), lambda c5: schema_deepest(c5)))`,
	`CREATE MACRO schema_4(j) AS schema_nested(j, list_transform(schema_children(j), lambda c4: schema_5(c4)))`,
	`CREATE MACRO schema_3(j) AS schema_nested(j, list_transform(schema_children(j), lambda c3: schema_4(c3)))`,
	`CREATE MACRO schema_2(j) AS schema_nested(j, list_transform(schema_children(j), lambda c2: schema_3(c2)))`,
	`CREATE MACRO schema_1(j) AS schema_nested(j, list_transform(schema_children(j), lambda c1: schema_2(c1)))`,
	`CREATE MACRO variant_schema(v) AS list_transform([CAST(v AS JSON)], lambda j: CASE WHEN j IS NOT NULL THEN schema_1(j) END)[1]`,

	// ---- MySQL: numbers and text ----

	`CREATE MACRO my_prefix(t) AS coalesce(nullif(regexp_extract(t, '^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)', 1), ''), '0')`,
	`CREATE MACRO my_num(t) AS CASE WHEN t IS NOT NULL THEN CAST(my_prefix(t) AS DOUBLE) END`,
	`CREATE MACRO my_decimal(t) AS CASE WHEN t IS NOT NULL THEN CAST(my_prefix(t) AS DECIMAL(38,10)) END`,
	`CREATE MACRO my_int_digits(t) AS coalesce(TRY_CAST(t AS BIGINT), CASE WHEN starts_with(t, '-') THEN -9223372036854775808 ELSE 9223372036854775807 END)`,
	`CREATE MACRO my_int(t) AS CASE WHEN t IS NOT NULL THEN my_int_digits(coalesce(nullif(regexp_extract(t, '^\s*([+-]?[0-9]+)', 1), ''), '0')) END`,
	`CREATE MACRO my_u64(x) AS CAST(CAST(x AS HUGEINT) & 18446744073709551615::HUGEINT AS UBIGINT)`,
	`CREATE MACRO my_signed(x) AS CAST(wrap_bigint(CAST(x AS HUGEINT)) AS BIGINT)`,
	`CREATE MACRO my_unsigned(x) AS CASE WHEN x < 0 OR x > 18446744073709551615 THEN error('[ARITHMETIC_OVERFLOW] BIGINT UNSIGNED value is out of range') ELSE CAST(x AS DECIMAL(20,0)) END`,
	`CREATE MACRO my_finite(x) AS CASE WHEN isinf(x) THEN error('[ARITHMETIC_OVERFLOW] DOUBLE value is out of range') ELSE x END`,
	`CREATE MACRO my_round_double(x, n) AS CASE WHEN n >= 0 THEN round_even(x, n) ELSE round_even(x * pow(10, n), 0) / pow(10, n) END`,
	// A double as MySQL prints it: no .0, an exponent without sign and zeros.
	`CREATE MACRO my_double_text(t) AS regexp_replace(regexp_replace(t, '\.0$', ''), 'e\+?(-?)0*', 'e\1')`,
	`CREATE MACRO my_conv_digits(t, f) AS lower(regexp_extract(trim(t), CASE WHEN abs(f) <= 10 THEN '^-?[0-' || CAST(abs(f) - 1 AS VARCHAR) || ']+' ELSE '(?i)^-?[0-9a-' || chr(CAST(86 + abs(f) AS INTEGER)) || ']+' END))`,
	`CREATE MACRO my_conv_value(d, f) AS list_reduce(list_transform(string_split(ltrim(d, '-'), ''), lambda c: CAST(instr('0123456789abcdefghijklmnopqrstuvwxyz', c) - 1 AS HUGEINT)), lambda acc, x: acc * abs(f) + x, 0::HUGEINT)`,
	`CREATE MACRO my_conv_letters(v, t) AS CASE WHEN v = 0 THEN '0' ELSE ltrim(array_to_string(list_transform(range(63, -1, -1), lambda i: substring('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', CAST(CASE WHEN pow(abs(t), i) > 1e37 THEN 0 ELSE v // CAST(pow(abs(t), i) AS HUGEINT) % abs(t) END AS INTEGER) + 1, 1)), ''), '0') END`,
	`CREATE MACRO my_conv_text(v, t) AS list_transform([v], lambda n: my_conv_letters(n, t))[1]`,
	`CREATE MACRO my_conv_signed(d, f) AS my_conv_value(d, f) * CASE WHEN starts_with(d, '-') THEN -1 ELSE 1 END`,
	`CREATE MACRO my_conv_of(d, f, t) AS CASE WHEN d = '' THEN '0' WHEN t < 0 THEN CASE WHEN my_conv_signed(d, f) < 0 THEN '-' ELSE '' END || my_conv_text(abs(my_conv_signed(d, f)), t) ELSE my_conv_text(CAST(my_u64(my_conv_signed(d, f)) AS HUGEINT), t) END`,
	`CREATE MACRO my_conv(s, f, t) AS CASE WHEN abs(f) BETWEEN 2 AND 36 AND abs(t) BETWEEN 2 AND 36 THEN list_transform([my_conv_digits(s, f)], lambda d: my_conv_of(d, f, t))[1] END`,
	// Text cut to n bytes, not within a character: the characters that begin there, without the one that goes on behind.
	`CREATE MACRO my_cut_hex(t, h, n) AS left(t, CAST(length(regexp_replace(left(h, n * 2), '[0-7C-F][0-9A-F](?:[89AB][0-9A-F])*', 'x', 'g')) - CASE WHEN substring(h, n * 2 + 1, 1) IN ('8', '9', 'A', 'B') THEN 1 ELSE 0 END AS BIGINT))`,
	`CREATE MACRO my_cut(t, n) AS my_cut_hex(t, hex(encode(t)), n)`,
	`CREATE MACRO my_pad_left(s, n, p) AS CASE WHEN n < 0 THEN NULL WHEN n <= length(s) THEN CASE WHEN p IS NOT NULL THEN left(s, n) END WHEN p = '' THEN '' ELSE lpad(s, CAST(n AS INTEGER), p) END`,
	`CREATE MACRO my_pad_right(s, n, p) AS CASE WHEN n < 0 THEN NULL WHEN n <= length(s) THEN CASE WHEN p IS NOT NULL THEN left(s, n) END WHEN p = '' THEN '' ELSE rpad(s, CAST(n AS INTEGER), p) END`,
	`CREATE MACRO my_substring(s, i, n) AS CASE WHEN i = 0 OR n < 1 OR -i > length(s) THEN CASE WHEN s IS NOT NULL THEN '' END ELSE substring(s, i, least(n, 2147483647)) END`,
	`CREATE MACRO my_binary_part(b, i, n) AS CASE WHEN i = 0 OR n < 1 OR -i > octet_length(b) THEN CASE WHEN b IS NOT NULL THEN ''::BLOB END ELSE unhex(substring(hex(b), CASE WHEN i > 0 THEN (i - 1) * 2 + 1 ELSE (octet_length(b) + i) * 2 + 1 END, least(n, 1000000000) * 2)) END`,
	`CREATE MACRO my_binary(b, n) AS unhex(rpad(left(hex(b), n * 2), n * 2, '0'))`,
	`CREATE MACRO my_char_bytes(n) AS CASE WHEN n IS NOT NULL THEN unhex(CASE WHEN length(hex(n)) % 2 = 1 THEN '0' || hex(n) ELSE hex(n) END) END`,
	`CREATE MACRO text_group(t) AS CASE WHEN starts_with(t, '-') THEN '-' ELSE '' END || format('{:,}', abs(CAST('0' || ltrim(split_part(t, '.', 1), '-') AS HUGEINT))) || CASE WHEN contains(t, '.') THEN '.' || split_part(t, '.', 2) ELSE '' END`,
	`CREATE MACRO my_regexp_position(s, p, o) AS CASE WHEN regexp_matches(s, p, o) THEN instr(s, regexp_extract(s, p, 0, o)) ELSE CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN 0 END END`,
	`CREATE MACRO my_is_ipv4(s) AS regexp_full_match(s, '((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])')`,
	`CREATE MACRO my_inet_aton(s) AS CASE WHEN my_is_ipv4(s) THEN list_reduce(list_transform(string_split(s, '.'), lambda p: CAST(p AS BIGINT)), lambda acc, p: acc * 256 + p) END`,

	// ---- MySQL: dates and times ----

	// A datetime from text: digits alone, or year-month-day with a clock; text behind it is left out of account.
	// Years of one or two digits are those from 1970 to 2069.
	`CREATE MACRO my_century_of(t) AS CASE WHEN regexp_matches(t, '^[0-6][0-9][-/.]') THEN '20' || t WHEN regexp_matches(t, '^[7-9][0-9][-/.]') THEN '19' || t ELSE t END`,
	`CREATE MACRO my_century(t) AS my_century_of(regexp_replace(t, '^([0-9])([-/.])', '0\1\2'))`,
	// What is behind a time's six digits rounds the last of them.
	`CREATE MACRO my_seventh_digit(t) AS CASE WHEN regexp_matches(t, ':[0-9]{1,2}\.[0-9]{6}[5-9]') THEN to_microseconds(1) ELSE to_microseconds(0) END`,
	`CREATE MACRO my_datetime_text(t) AS CASE WHEN regexp_full_match(t, '[0-9]{14}') THEN try_strptime(t, '%Y%m%d%H%M%S') WHEN regexp_full_match(t, '[0-9]{12}') THEN try_strptime(t, '%y%m%d%H%M%S') WHEN regexp_full_match(t, '[0-9]{8}') THEN try_strptime(t, '%Y%m%d') WHEN regexp_full_match(t, '[0-9]{6}') THEN try_strptime(t, '%y%m%d') ELSE my_seventh_digit(t) + TRY_CAST(regexp_replace(regexp_extract(my_century(t), '^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T]+[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]{1,6})?)?)?'), '^([0-9]+)[-/.]([0-9]+)[-/.]([0-9]+)', '\1-\2-\3') AS TIMESTAMP) END`,
	`CREATE MACRO my_datetime(t) AS list_transform([trim(t)], lambda v: my_datetime_text(v))[1]`,
	`CREATE MACRO my_datetime_number(n) AS my_datetime_text(CASE WHEN n < 101 THEN 'x' WHEN n < 1000000 THEN lpad(CAST(n AS VARCHAR), 6, '0') WHEN n < 100000000 THEN lpad(CAST(n AS VARCHAR), 8, '0') WHEN n < 1000000000000 THEN lpad(CAST(n AS VARCHAR), 12, '0') ELSE lpad(CAST(n AS VARCHAR), 14, '0') END)`,
	// Dates with a month or a day of zero, as the number yyyymmdd; NULL for whatever is none.
	`CREATE MACRO my_zero_year(y) AS CAST(y AS BIGINT) + CASE WHEN length(y) > 2 THEN 0 WHEN CAST(y AS BIGINT) < 70 THEN 2000 ELSE 1900 END`,
	`CREATE MACRO my_zero_date_of(t) AS CASE WHEN regexp_full_match(t, '[0-9]{1,4}[-/.](0?0[-/.](3[01]|[0-2]?[0-9])|(1[0-2]|0?[1-9])[-/.]0?0)([ T].*)?') THEN my_zero_year(regexp_extract(t, '^[0-9]+')) * 10000 + CAST(regexp_extract(t, '^[0-9]+[-/.]([0-9]+)', 1) AS BIGINT) * 100 + CAST(regexp_extract(t, '^[0-9]+[-/.][0-9]+[-/.]([0-9]+)', 1) AS BIGINT) WHEN regexp_full_match(t, '([0-9]{2}|[0-9]{4})(00(3[01]|[0-2][0-9])|(0[1-9]|1[0-2])00)([0-9]{6})?') THEN my_zero_year(left(t, CASE WHEN length(t) IN (6, 12) THEN 2 ELSE 4 END)) * 10000 + CAST(substring(t, CASE WHEN length(t) IN (6, 12) THEN 3 ELSE 5 END, 4) AS BIGINT) END`,
	`CREATE MACRO my_zero_date(t) AS list_transform([trim(t)], lambda v: my_zero_date_of(v))[1]`,
	`CREATE MACRO my_zero_date_number(n) AS my_zero_date(CASE WHEN n = 0 THEN '00000000' WHEN n < 101 THEN 'x' WHEN n < 1000000 THEN lpad(CAST(n AS VARCHAR), 6, '0') WHEN n < 100000000 THEN lpad(CAST(n AS VARCHAR), 8, '0') WHEN n < 1000000000000 THEN lpad(CAST(n AS VARCHAR), 12, '0') ELSE lpad(CAST(n AS VARCHAR), 14, '0') END)`,
	`CREATE MACRO my_zero_month(z) AS CASE WHEN z // 100 % 100 > 0 THEN monthname(make_date(2000, z // 100 % 100, 1)) END`,
	// A TIME from text: [-][days ]h:m[:s[.f]], digits alone, or the clock of a datetime.
	`CREATE MACRO my_part(t, p, g) AS CAST(coalesce(nullif(regexp_extract(t, p, g), ''), '0') AS BIGINT)`,
	`CREATE MACRO my_fraction(t) AS CAST(rpad(left(regexp_extract(t, '\.([0-9]+)', 1), 6), 6, '0') AS BIGINT)`,
	`CREATE MACRO my_time_parts(d, h, m, s, f) AS CASE WHEN m > 59 OR s > 59 THEN NULL ELSE least(((d * 24 + h) * 3600 + m * 60 + s) * 1000000 + f, 3020399000000) END`,
	`CREATE MACRO my_time_digits(t) AS my_time_parts(0, my_part(t, '^-?([0-9]*?)([0-9]{1,2})?([0-9]{1,2})(\.|$)', 1), my_part(t, '^-?([0-9]*?)([0-9]{1,2})?([0-9]{1,2})(\.|$)', 2), my_part(t, '^-?([0-9]*?)([0-9]{1,2})?([0-9]{1,2})(\.|$)', 3), my_fraction(t))`,
	`CREATE MACRO my_time_clock(t) AS my_time_parts(my_part(t, '^-?([0-9]+) ', 1), my_part(t, '([0-9]+):([0-9]{1,2})(:([0-9]{1,2}))?', 1), my_part(t, '([0-9]+):([0-9]{1,2})(:([0-9]{1,2}))?', 2), my_part(t, '([0-9]+):([0-9]{1,2})(:([0-9]{1,2}))?', 4), my_fraction(t))`,
	`CREATE MACRO my_clock_micros_of(d) AS epoch_us(d) - epoch_us(date_trunc('day', d))`,
	`CREATE MACRO my_clock_micros(d) AS list_transform([d], lambda v: my_clock_micros_of(v))[1]`,
	`CREATE MACRO my_time_micros(t) AS CASE WHEN regexp_matches(t, '^[0-9]{4}[-/]') THEN my_clock_micros(my_datetime(CASE WHEN my_zero_date_of(t) IS NULL THEN t ELSE regexp_replace(t, '^[0-9]+[-/.][0-9]+[-/.][0-9]+', '2000-01-01') END)) WHEN regexp_matches(t, '^-?([0-9]+ )?[0-9]+:[0-9]') THEN my_time_clock(t) WHEN regexp_full_match(t, '-?[0-9]+(\.[0-9]*)?') THEN my_time_digits(t) END`,
	`CREATE MACRO my_time(t) AS list_transform([trim(t)], lambda v: to_microseconds(my_time_micros(v) * CASE WHEN starts_with(v, '-') THEN -1 ELSE 1 END))[1]`,
	`CREATE MACRO my_micros(i) AS abs(epoch_us(i))`,
	`CREATE MACRO my_time_clock_text(m) AS CASE WHEN m < 36000000000 THEN '0' ELSE '' END || (m // 3600000000) || ':' || lpad(CAST(m // 60000000 % 60 AS VARCHAR), 2, '0') || ':' || lpad(CAST(m // 1000000 % 60 AS VARCHAR), 2, '0') || CASE WHEN m % 1000000 = 0 THEN '' ELSE '.' || rtrim(lpad(CAST(m % 1000000 AS VARCHAR), 6, '0'), '0') END`,
	`CREATE MACRO my_time_text(i) AS list_transform([epoch_us(i)], lambda m: CASE WHEN m < 0 THEN '-' ELSE '' END || my_time_clock_text(abs(m)))[1]`,
	`CREATE MACRO my_time_signed(m) AS CASE WHEN m < 0 THEN -1 ELSE 1 END * (abs(m) // 3600000000 * 10000 + abs(m) // 60000000 % 60 * 100 + abs(m) // 1000000 % 60)`,
	`CREATE MACRO my_time_number(i) AS list_transform([epoch_us(i)], lambda m: my_time_signed(m))[1]`,
	`CREATE MACRO my_round_time(i, u) AS list_transform([epoch_us(i)], lambda m: to_microseconds(CAST((abs(m) + u // 2) // u * u * CASE WHEN m < 0 THEN -1 ELSE 1 END AS BIGINT)))[1]`,
	`CREATE MACRO my_round_clock(x, u) AS make_timestamp(CAST(floor((epoch_us(x) + u // 2) / u) * u AS BIGINT))`,
	`CREATE MACRO my_dated(t, x) AS CASE WHEN contains(t, ':') THEN CAST(x AS VARCHAR) ELSE CAST(CAST(x AS DATE) AS VARCHAR) END`,
	`CREATE MACRO my_year(n) AS CAST(CASE WHEN n = 0 THEN 0 WHEN n < 70 THEN n + 2000 WHEN n < 100 THEN n + 1900 WHEN n BETWEEN 1901 AND 2155 THEN n END AS SMALLINT)`,
	`CREATE MACRO my_period(p, n) AS ((p // 100 * 12 + p % 100 - 1 + n) // 12) * 100 + (p // 100 * 12 + p % 100 - 1 + n) % 12 + 1`,
	`CREATE MACRO my_parsed(t, p, f) AS try_strptime(regexp_extract(t, p, 1), f)`,
	`CREATE MACRO my_two_digits(n) AS lpad(CAST(n AS VARCHAR), 2, '0')`,
	`CREATE MACRO my_ordinal(d) AS CAST(day(d) AS VARCHAR) || CASE WHEN day(d) IN (11, 12, 13) THEN 'th' WHEN day(d) % 10 = 1 THEN 'st' WHEN day(d) % 10 = 2 THEN 'nd' WHEN day(d) % 10 = 3 THEN 'rd' ELSE 'th' END`,
	// Week numbers. Modes with an odd number begin on Monday; 2, 3, 6 and 7 count the first days of a year to the last week of
	// the year before; 1, 3, 4 and 6 want four days of the new year in its first week, the others a whole week.
	`CREATE MACRO my_week0(d) AS CAST(strftime(d, '%U') AS INTEGER)`,
	`CREATE MACRO my_week1(d) AS CASE WHEN isoyear(d) < year(d) THEN 0 WHEN isoyear(d) > year(d) THEN 53 ELSE week(d) END`,
	`CREATE MACRO my_week2(d) AS CASE WHEN my_week0(d) > 0 THEN my_week0(d) ELSE my_week0(make_date(year(d) - 1, 12, 31)) END`,
	`CREATE MACRO my_week3(d) AS week(d)`,
	`CREATE MACRO my_middle(d) AS d - CAST(dayofweek(d) AS INTEGER) + 3`,
	`CREATE MACRO my_week6(d) AS (dayofyear(my_middle(d)) - 1) // 7 + 1`,
	`CREATE MACRO my_week4(d) AS CASE WHEN year(my_middle(d)) < year(d) THEN 0 WHEN year(my_middle(d)) > year(d) THEN 53 ELSE my_week6(d) END`,
	`CREATE MACRO my_week5(d) AS CAST(strftime(d, '%W') AS INTEGER)`,
	`CREATE MACRO my_week7(d) AS CASE WHEN my_week5(d) > 0 THEN my_week5(d) ELSE my_week5(make_date(year(d) - 1, 12, 31)) END`,
	`CREATE MACRO my_week_year2(d) AS CASE WHEN my_week0(d) > 0 THEN year(d) ELSE year(d) - 1 END`,
	`CREATE MACRO my_week_year3(d) AS isoyear(d)`,
	`CREATE MACRO my_week_year6(d) AS year(my_middle(d))`,
	`CREATE MACRO my_week_year7(d) AS CASE WHEN my_week5(d) > 0 THEN year(d) ELSE year(d) - 1 END`,
	`CREATE MACRO my_strftime_of(x, f) AS CASE WHEN x IS NOT NULL AND f IS NOT NULL THEN array_to_string(list_transform(regexp_extract_all(f, '%.|[^%]+|%'), lambda s: CASE WHEN NOT starts_with(s, '%') THEN s WHEN s = '%i' THEN strftime(x, '%M') WHEN s = '%M' THEN monthname(x) WHEN s = '%W' THEN dayname(x) WHEN s = '%c' THEN CAST(month(x) AS VARCHAR) WHEN s = '%e' THEN CAST(day(x) AS VARCHAR) WHEN s = '%k' THEN CAST(hour(x) AS VARCHAR) WHEN s = '%l' THEN strftime(x, '%-I') WHEN s = '%h' THEN strftime(x, '%I') WHEN s = '%s' THEN strftime(x, '%S') WHEN s = '%T' THEN strftime(x, '%H:%M:%S') WHEN s = '%r' THEN strftime(x, '%I:%M:%S %p') WHEN s = '%x' THEN strftime(x, '%G') WHEN s = '%v' THEN strftime(x, '%V') WHEN s = '%D' THEN my_ordinal(x) WHEN s = '%u' THEN my_two_digits(my_week1(CAST(x AS DATE))) WHEN s = '%V' THEN my_two_digits(my_week2(CAST(x AS DATE))) WHEN s = '%X' THEN CAST(my_week_year2(CAST(x AS DATE)) AS VARCHAR) WHEN s = '%Y' THEN strftime(x, '%Y') WHEN s = '%y' THEN strftime(x, '%y') WHEN s = '%m' THEN strftime(x, '%m') WHEN s = '%d' THEN strftime(x, '%d') WHEN s = '%H' THEN strftime(x, '%H') WHEN s = '%S' THEN strftime(x, '%S') WHEN s = '%f' THEN strftime(x, '%f') WHEN s = '%j' THEN strftime(x, '%j') WHEN s = '%p' THEN strftime(x, '%p') WHEN s = '%a' THEN strftime(x, '%a') WHEN s = '%b' THEN strftime(x, '%b') WHEN s = '%I' THEN strftime(x, '%I') WHEN s = '%U' THEN strftime(x, '%U') WHEN s = '%w' THEN strftime(x, '%w') ELSE substring(s, 2) END), '') END`,
	`CREATE MACRO my_strftime(x, f) AS list_transform([x], lambda v: my_strftime_of(v, f))[1]`,
	`CREATE MACRO my_day_number(n) AS list_position(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], lower(left(n, 3))) - 1`,
	`CREATE MACRO my_first_sunday(y) AS make_date(y, 1, 1) + CAST((7 - dayofweek(make_date(y, 1, 1))) % 7 AS INTEGER)`,
	`CREATE MACRO my_week_start(y, w, n) AS my_first_sunday(y) + CAST((w - 1) * 7 + my_day_number(n) AS INTEGER)`,
	`CREATE MACRO my_first_monday(y) AS make_date(y, 1, 4) - CAST(isodow(make_date(y, 1, 4)) - 1 AS INTEGER)`,
	`CREATE MACRO my_iso_week_start(y, w, n) AS my_first_monday(y) + CAST((w - 1) * 7 + (my_day_number(n) + 6) % 7 AS INTEGER)`,

	// ---- MySQL: JSON ----

	`CREATE MACRO my_json_unquote(t) AS CASE WHEN starts_with(t, '"') AND json_valid(t) THEN json_extract_string(t, '$') ELSE t END`,
	`CREATE MACRO my_json_type(j) AS CASE json_type(j) WHEN 'UBIGINT' THEN 'INTEGER' WHEN 'BIGINT' THEN 'INTEGER' WHEN 'VARCHAR' THEN 'STRING' ELSE json_type(j) END`,
	`CREATE MACRO my_json_length(j) AS CASE json_type(j) WHEN 'ARRAY' THEN json_array_length(j) WHEN 'OBJECT' THEN len(json_keys(j)) ELSE CASE WHEN j IS NOT NULL THEN 1 END END`,
	// Depth: one more than the brackets around the innermost value; strings are masked first. A state is depth * 1000 + deepest.
	`CREATE MACRO my_json_masked(t) AS regexp_replace(t, '"(\\.|[^"\\])*"', 's', 'g')`,
	`CREATE MACRO my_depth_open(a) AS (a // 1000 + 1) * 1000 + greatest(a % 1000, a // 1000 + 1)`,
	`CREATE MACRO my_depth_step(a, c) AS CASE WHEN c IN ('[', '{') THEN my_depth_open(a) WHEN c IN (']', '}') THEN a - 1000 WHEN c IN (',', ':', ' ') THEN a ELSE a // 1000 * 1000 + greatest(a % 1000, a // 1000 + 1) END`,
	`CREATE MACRO my_json_depth(t) AS CAST(list_reduce(string_split(my_json_masked(t), ''), lambda a, c: my_depth_step(a, c), 0::BIGINT) % 1000 AS BIGINT)`,
}
