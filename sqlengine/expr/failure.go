package expr

import (
	"regexp"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// fail makes an error placed at an expression.
func fail(at parse.Pos, class protocol.Class, format string, args ...any) *protocol.Error {
	return protocol.NewError(class, format, args...).At(at.Line, at.Column)
}

// placed gives an error without a place the place of an expression.
func placed(err error, at parse.Pos) error {
	if e, ok := err.(*protocol.Error); ok && e.Line == 0 {
		e.At(at.Line, at.Column)
	}
	return err
}

func notSupported(at parse.Pos, format string, args ...any) *protocol.Error {
	return fail(at, "UNSUPPORTED_FEATURE", format, args...)
}

func mismatch(at parse.Pos, kind, format string, args ...any) *protocol.Error {
	return fail(at, protocol.Class("DATATYPE_MISMATCH."+kind), format, args...)
}

// failSQL is the DuckDB expression that raises an error of a class at run time. The engine reads the class back from the
// text's leading brackets (see DuckError).
func failSQL(class protocol.Class, message string) string {
	return "error(" + quoteText("["+string(class)+"] "+message) + ")"
}

// Errors raised at run time by more than one operator.
var (
	divideByZeroSQL    = failSQL("DIVIDE_BY_ZERO", "Division by zero. Use try_divide to get NULL instead.")
	remainderByZeroSQL = failSQL("REMAINDER_BY_ZERO", "Remainder by zero. Use try_mod to get NULL instead.")
)

// duckFailures reads DuckDB's own run-time errors: what its text looks like, and the class that Spark has for the fault.
// Order matters: the first match wins.
var duckFailures = []struct {
	pattern *regexp.Regexp
	class   protocol.Class
}{
	{regexp.MustCompile(`^Out of Range Error: Overflow (in|on) `), "ARITHMETIC_OVERFLOW"},
	{regexp.MustCompile(`Can't convert VARIANT`), "INVALID_VARIANT_CAST"},
	{regexp.MustCompile(`(?i)malformed JSON`), "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"},
	{regexp.MustCompile(`Invalid input for hex digit|Could not decode string`), "CAST_INVALID_INPUT"},
	{regexp.MustCompile(`Division by zero`), "DIVIDE_BY_ZERO"},
	{regexp.MustCompile(`Pattern has \d+ groups`), "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX"},
	{regexp.MustCompile(`key cannot be NULL`), "INVALID_PARAMETER_VALUE"},
	{regexp.MustCompile(`^Out of Range Error: Cannot negate `), "ARITHMETIC_OVERFLOW"},
	{regexp.MustCompile(`^Conversion Error: Type INT128 with value .* can't be cast`), "ARITHMETIC_OVERFLOW"},
	{regexp.MustCompile(`^(Conversion|Invalid Input) Error: Type \S+ with value .* can't be cast`), "CAST_OVERFLOW"},
	{regexp.MustCompile(`^Conversion Error: (Casting value ".*" to type DECIMAL|Could not cast value .* to DECIMAL)`), "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
	{regexp.MustCompile(`^Out of Range Error: (Needed scale|.*DECIMAL)`), "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
	{regexp.MustCompile(`^Conversion Error: .*(out of range|overflow).*(timestamp|date)`), "DATETIME_OVERFLOW"},
	{regexp.MustCompile(`^(Conversion Error|Invalid Input Error): (Could not convert|Could not parse|invalid date|date field value|invalid timestamp|timestamp field value|Failed to cast|Failure in decode)`), "CAST_INVALID_INPUT"},
	{regexp.MustCompile(`^Conversion Error: `), "CAST_INVALID_INPUT"},
	{regexp.MustCompile(`More than one row returned by a subquery`), "SCALAR_SUBQUERY_TOO_MANY_ROWS"},
	{regexp.MustCompile(`^Out of Range Error: `), "ARITHMETIC_OVERFLOW"},
	{regexp.MustCompile(`^Invalid Input Error: .*(Map keys must be unique|Map keys can not be NULL)`), "DUPLICATED_MAP_KEY"},
	{regexp.MustCompile(`^Invalid Input Error: .*(regular expression|regexp|missing|repetition|invalid escape)`), "INVALID_PARAMETER_VALUE.PATTERN"},
}

var raisedClass = regexp.MustCompile(`^(?:[A-Za-z ]+ Error: )?\[([A-Z][A-Z0-9_.]*)\] (?s:(.*))$`)

// DuckError turns the text of a DuckDB run-time error into an error with a class: the one that a lowered expression raised by
// error('[CLASS] text'), or the one that stands for DuckDB's own fault. It gives nil for a text it does not know.
func DuckError(text string) *protocol.Error {
	if cut := strings.Index(text, "\n\nLINE "); cut >= 0 {
		text = text[:cut]
	}
	text = strings.TrimSpace(text)
	if strings.Contains(text, "Max expression depth limit") {
		return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "an expression is nested too deep").WithHint("compute parts of it in subqueries of FROM")
	}
	if m := raisedClass.FindStringSubmatch(text); m != nil {
		return protocol.NewError(protocol.Class(m[1]), "%s", m[2])
	}
	for _, f := range duckFailures {
		if f.pattern.MatchString(text) {
			_, message, ok := strings.Cut(text, "Error: ")
			if !ok {
				message = text
			}
			return protocol.NewError(f.class, "%s", message)
		}
	}
	return nil
}
