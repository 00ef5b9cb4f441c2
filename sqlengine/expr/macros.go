package expr

// Macros are the statements that define this package's DuckDB macros. The engine runs them once on each instance, before any
// query. A macro is text that DuckDB puts in place of its call, so one that is not used costs nothing; a macro exists where a
// form needs an operand several times, or needs regular expressions with braces, which templates cannot hold.
func Macros() []string {
	return append([]string(nil), macros...)
}

// text_of and text_parts of the zone grammar: what may stand behind a clock.
const zonePattern = `(Z|UTC|GMT|[A-Za-z]+/[A-Za-z_/]+|(UTC|GMT)?[+-][0-9]{1,2}(:?[0-9]{2})?)$`

var macros = []string{
	// ---- numbers ----

	// The quotient of two whole numbers, rounded half away from zero.
	`CREATE MACRO decimal_quotient(n, d) AS n // d + CASE WHEN abs(n % d) >= abs(d) - abs(n % d) THEN CASE WHEN (n < 0) = (d < 0) THEN 1 ELSE -1 END ELSE 0 END`,
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
	`CREATE MACRO spark_double_text(t) AS CASE WHEN starts_with(t, '-') AND t <> '-nan' THEN '-' || spark_double_positive(substring(t, 2)) ELSE spark_double_positive(ltrim(t, '-')) END`,

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
	`CREATE MACRO parsed_clock(t, f) AS CASE WHEN t IS NOT NULL AND try_strptime(t, f) IS NULL THEN error('[CANNOT_PARSE_TIMESTAMP] Text ''' || t || ''' could not be parsed. Use try_to_timestamp to get NULL instead.') ELSE try_strptime(t, f) END`,

	// ---- intervals and calendars ----

	`CREATE MACRO spark_months(i) AS CAST(date_part('year', i) * 12 + date_part('month', i) AS BIGINT)`,
	`CREATE MACRO spark_micros(i) AS CAST(date_part('day', i) * 86400000000 + date_part('hour', i) * 3600000000 + date_part('minute', i) * 60000000 + date_part('microsecond', i) AS BIGINT)`,
	`CREATE MACRO spark_months_text(i) AS 'INTERVAL ''' || CASE WHEN spark_months(i) < 0 THEN '-' ELSE '' END || abs(spark_months(i)) // 12 || '-' || abs(spark_months(i)) % 12 || ''' YEAR TO MONTH'`,
	`CREATE MACRO micros_clock(m) AS m // 86400000000 || ' ' || lpad(CAST(m // 3600000000 % 24 AS VARCHAR), 2, '0') || ':' || lpad(CAST(m // 60000000 % 60 AS VARCHAR), 2, '0') || ':' || lpad(CAST(m // 1000000 % 60 AS VARCHAR), 2, '0') || CASE WHEN m % 1000000 = 0 THEN '' ELSE '.' || rtrim(lpad(CAST(m % 1000000 AS VARCHAR), 6, '0'), '0') END`,
	`CREATE MACRO spark_daytime_text(i) AS 'INTERVAL ''' || CASE WHEN spark_micros(i) < 0 THEN '-' ELSE '' END || micros_clock(abs(spark_micros(i))) || ''' DAY TO SECOND'`,
	// Whole months from one wall clock to another.
	`CREATE MACRO clock_day(x) AS date_part('day', x) * 86400000000 + epoch_us(x) - epoch_us(date_trunc('day', x))`,
	`CREATE MACRO clock_months_raw(a, b) AS (date_part('year', b) - date_part('year', a)) * 12 + date_part('month', b) - date_part('month', a)`,
	`CREATE MACRO clock_months(a, b) AS clock_months_raw(a, b) - CASE WHEN b >= a AND clock_day(b) < clock_day(a) THEN 1 WHEN b < a AND clock_day(b) > clock_day(a) THEN -1 ELSE 0 END`,
	// Months with a fraction of a 31-day month, 0 on the same or the last day of both.
	`CREATE MACRO spark_months_between(a, b) AS CASE WHEN date_part('day', a) = date_part('day', b) OR (CAST(a AS DATE) = last_day(a) AND CAST(b AS DATE) = last_day(b)) THEN CAST(clock_months_raw(b, a) AS DOUBLE) ELSE clock_months_raw(b, a) + (clock_day(a) - clock_day(b)) / 1000000.0::DOUBLE / 2678400.0::DOUBLE END`,

	// ---- text ----

	`CREATE MACRO text_locate(sub, s, pos) AS CASE WHEN pos < 1 THEN CASE WHEN s IS NOT NULL AND sub IS NOT NULL THEN 0 END WHEN sub = '' THEN CASE WHEN pos <= length(s) + 1 THEN pos ELSE 0 END WHEN instr(substring(s, pos), sub) = 0 THEN 0 ELSE instr(substring(s, pos), sub) + pos - 1 END`,
	`CREATE MACRO spark_lpad(s, n, p) AS CASE WHEN n <= 0 THEN CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN '' END WHEN n <= length(s) OR p = '' THEN CASE WHEN p IS NOT NULL THEN left(s, n) END ELSE lpad(s, n, p) END`,
	`CREATE MACRO spark_rpad(s, n, p) AS CASE WHEN n <= 0 THEN CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN '' END WHEN n <= length(s) OR p = '' THEN CASE WHEN p IS NOT NULL THEN left(s, n) END ELSE rpad(s, n, p) END`,
	// substring(s, i, n) where i may be negative: what lies before the start eats of the length.
	`CREATE MACRO text_from(s, i, n) AS CASE WHEN i >= 0 THEN substring(s, greatest(i, 1), greatest(n, 0)) WHEN -i > length(s) THEN substring(s, 1, greatest(n + length(s) + i, 0)) ELSE substring(s, length(s) + i + 1, greatest(n, 0)) END`,
	`CREATE MACRO binary_substring(b, i, n) AS unhex(substring(hex(b), (i - 1) * 2 + 1, least(n, 1000000000) * 2))`,
	`CREATE MACRO binary_from(b, i, n) AS unhex(CASE WHEN i >= 0 THEN substring(hex(b), (greatest(i, 1) - 1) * 2 + 1, greatest(n, 0) * 2) WHEN -i > octet_length(b) THEN substring(hex(b), 1, greatest(n + octet_length(b) + i, 0) * 2) ELSE substring(hex(b), (octet_length(b) + i) * 2 + 1, greatest(n, 0) * 2) END)`,
	`CREATE MACRO regexp_position(s, p) AS CASE WHEN regexp_matches(s, p) THEN instr(s, regexp_extract(s, p)) ELSE CASE WHEN s IS NOT NULL AND p IS NOT NULL THEN 0 END END`,
	`CREATE MACRO text_split(s, sep, n) AS CASE WHEN len(string_split(s, sep)) <= n THEN string_split(s, sep) ELSE string_split(s, sep)[1:n - 1] || [array_to_string(string_split(s, sep)[n:], sep)] END`,
	`CREATE MACRO my_substring_index(s, d, n) AS CASE WHEN n = 0 OR d = '' THEN CASE WHEN s IS NOT NULL THEN '' END WHEN n > 0 THEN array_to_string(string_split(s, d)[1:n], d) ELSE array_to_string(string_split(s, d)[greatest(len(string_split(s, d)) + n + 1, 1):], d) END`,
	// Soundex: the first letter, then the classes of the others without repeats, vowels and H, W between.
	`CREATE MACRO soundex_codes(s) AS translate(upper(s), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '01230120022455012623010202')`,
	`CREATE MACRO soundex_squeezed(s) AS list_reduce(list_transform(string_split(soundex_codes(regexp_replace(upper(s), '(.)[HW]+', '\1', 'g')), ''), lambda c: c), lambda acc, c: CASE WHEN right(acc, 1) = c THEN acc ELSE acc || c END, '')`,
	`CREATE MACRO text_soundex(s) AS CASE WHEN regexp_matches(s, '^[A-Za-z]') THEN upper(left(s, 1)) || rpad(left(replace(regexp_replace(substring(soundex_squeezed(s), 2), '[^0-9]', '', 'g'), '0', ''), 3), 3, '0') ELSE s END`,
	// CRC-32 (IEEE) of bytes, bit by bit over the reflected polynomial.
	`CREATE MACRO crc32_step(c) AS CASE WHEN c % 2 = 1 THEN xor(c >> 1, 3988292384) ELSE c >> 1 END`,
	`CREATE MACRO crc32_byte(c, b) AS list_reduce(range(8), lambda acc, i: crc32_step(acc), xor(c, b))`,
	`CREATE MACRO bytes_crc32(x) AS CASE WHEN x IS NOT NULL THEN xor(list_reduce(list_transform(range(octet_length(x)), lambda i: CAST('0x' || substring(hex(x), CAST(i * 2 + 1 AS INTEGER), 2) AS BIGINT)), lambda c, b: crc32_byte(c, b), 4294967295), 4294967295) END`,
	`CREATE MACRO text_luhn(s) AS regexp_full_match(s, '[0-9]+') AND list_sum(list_transform(string_split(reverse(s), ''), lambda d, i: CASE WHEN i % 2 = 1 THEN CAST(d AS INTEGER) WHEN CAST(d AS INTEGER) > 4 THEN CAST(d AS INTEGER) * 2 - 9 ELSE CAST(d AS INTEGER) * 2 END)) % 10 = 0`,

	// ---- lists ----

	`CREATE MACRO list_has_null(l, x) AS list_contains(l, x) OR (x IS NULL AND list_count(l) < len(l))`,
	`CREATE MACRO list_unique_in_order(l) AS list_reduce(l, lambda acc, x: CASE WHEN list_has_null(acc, x) THEN acc ELSE list_append(acc, x) END, l[1:0])`,
	`CREATE MACRO list_part(l, i, n) AS CASE WHEN i = 0 THEN error('[INVALID_PARAMETER_VALUE.START] The start of slice cannot be 0.') WHEN n < 0 THEN error('[INVALID_PARAMETER_VALUE.LENGTH] The length of slice cannot be negative.') WHEN i > 0 THEN l[i:i + n - 1] WHEN -i > len(l) THEN l[1:0] ELSE l[len(l) + i + 1:len(l) + i + n] END`,
	`CREATE MACRO list_insert_at(l, i, x) AS CASE WHEN i = 0 THEN error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid. An index shall be either < 0 or > 0.') WHEN i > 0 AND i <= len(l) THEN l[1:i - 1] || [x] || l[i:] WHEN i > 0 THEN l || list_resize(l[1:0], i - len(l) - 1) || [x] WHEN -i <= len(l) + 1 THEN l[1:len(l) + i + 1] || [x] || l[len(l) + i + 2:] ELSE [x] || list_resize(l[1:0], -i - len(l) - 1) || l END`,
	`CREATE MACRO sequence_checked(a, b, s) AS CASE WHEN s = 0 AND a <> b OR s > 0 AND a > b OR s < 0 AND a < b THEN error('[ILLEGAL_SEQUENCE_BOUNDARIES] Illegal sequence boundaries: ' || a || ' to ' || b || ' by ' || s || '.') WHEN s = 0 THEN [a] ELSE generate_series(a, b, s) END`,

	// ---- variants ----

	`CREATE MACRO variant_is_null(v) AS v IS NOT NULL AND variant_typeof(v) = 'VARIANT_NULL'`,
	`CREATE MACRO variant_items(v) AS CASE WHEN starts_with(variant_typeof(v), 'ARRAY') THEN TRY_CAST(v AS VARIANT[]) WHEN starts_with(variant_typeof(v), 'OBJECT') THEN list_transform(json_extract(CAST(v AS JSON), '$.*'), lambda j: CAST(j AS VARIANT)) END`,
	`CREATE MACRO variant_item_keys(v) AS CASE WHEN starts_with(variant_typeof(v), 'ARRAY') THEN list_transform(TRY_CAST(v AS VARIANT[]), lambda j: CAST(NULL AS VARCHAR)) WHEN starts_with(variant_typeof(v), 'OBJECT') THEN json_keys(CAST(v AS JSON)) END`,
	`CREATE MACRO variant_scalar_schema(t) AS CASE WHEN t = 'VARIANT_NULL' THEN 'VOID' WHEN t IN ('UINT64', 'INT64', 'UINT32', 'INT32', 'UINT16', 'INT16', 'UINT8', 'INT8') THEN 'BIGINT' WHEN starts_with(t, 'BOOL') THEN 'BOOLEAN' WHEN t = 'VARCHAR' THEN 'STRING' WHEN t = 'BLOB' THEN 'BINARY' WHEN starts_with(t, 'DECIMAL') THEN replace(t, ' ', '') WHEN starts_with(t, 'TIMESTAMP') THEN CASE WHEN contains(t, 'TZ') THEN 'TIMESTAMP' ELSE 'TIMESTAMP_NTZ' END ELSE t END`,
	`CREATE MACRO variant_json(v) AS CAST(CAST(v AS JSON) AS VARCHAR)`,
	`CREATE MACRO variant_text(v) AS CASE WHEN variant_typeof(v) = 'VARCHAR' THEN CAST(v AS VARCHAR) WHEN variant_typeof(v) = 'VARIANT_NULL' THEN NULL ELSE CAST(CAST(v AS JSON) AS VARCHAR) END`,
}
