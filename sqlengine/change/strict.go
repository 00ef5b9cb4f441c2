package change

import (
	"fmt"
	"math"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// Texts that MySQL takes whole for a number or a moment. What only begins like a number is data that would be truncated.
const (
	numberText   = `[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`
	numberPrefix = `^[+-]?\.?[0-9]`
	momentText   = `[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T]+[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]*)?)?)?|[0-9]{6}|[0-9]{8}|[0-9]{12}|[0-9]{14}`
)

// strict is MySQL's assignment of a scalar: numbers are rounded half away from zero, and in strict mode what does not fit is an error.
func (a *assigner) strict(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from, ctx := e.Type(), a.b.Context()
	switch {
	case a.lenient:
		return a.clamped(e, to, path)
	case to.Kind == protocol.KindVariant && from.Kind == protocol.KindString:
		return a.json(e, path)
	case to.Kind == protocol.KindBoolean && (from.Kind == protocol.KindString || from.Kind == protocol.KindBinary):
		number, err := a.strict(e, protocol.DataType{Kind: protocol.KindByte}, path)
		if err != nil {
			return nil, err
		}
		return &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, SQL: "({0} <> 0)", Args: []expr.Expr{number}}, nil
	case to.Kind >= protocol.KindByte && to.Kind <= protocol.KindDecimal:
		return a.number(e, to, path)
	case to.Kind == protocol.KindDate || to.Kind == protocol.KindTimestamp || to.Kind == protocol.KindTimestampNTZ:
		return a.moment(e, to, path)
	}
	out, err := expr.Convert(e, to, ctx, false)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	return out, nil
}

// number stores a value in a column of a numeric type.
func (a *assigner) number(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from, ctx := e.Type(), a.b.Context()
	if !expr.Fallible(from, to) {
		return expr.Convert(e, to, ctx, false)
	}
	if l, ok := e.(*expr.Literal); ok && from.Kind >= protocol.KindByte && from.Kind <= protocol.KindLong && to.Kind <= protocol.KindLong && fits(l.Value, to) {
		return expr.Convert(e, to, ctx, false)
	}
	tooLarge := expr.Raise(to, a.overflow, "Out of range value ", expr.Shown(e, ctx), " for column '"+path+"'")
	tried := func(sql string) expr.Expr {
		return &expr.Raw{Typed: expr.Typed{Of: to, Null: true}, SQL: fmt.Sprintf(sql, expr.DuckType(to)), Args: []expr.Expr{e}}
	}
	switch {
	case from.Kind == protocol.KindBinary:
		text, err := expr.Convert(e, protocol.DataType{Kind: protocol.KindString}, ctx, false)
		if err != nil {
			return nil, err
		}
		return a.numberOfText(text, to, path, tooLarge), nil
	case from.Kind == protocol.KindString:
		return a.numberOfText(e, to, path, tooLarge), nil
	case from.Kind == protocol.KindDecimal || from.Kind >= protocol.KindByte && from.Kind <= protocol.KindLong || from.Kind == protocol.KindBoolean:
		return a.orElse(tried("TRY_CAST({0} AS %s)"), e, tooLarge), nil
	case (from.Kind == protocol.KindFloat || from.Kind == protocol.KindDouble) && to.Kind == protocol.KindDecimal: // by its digits, as MySQL does
		return a.orElse(tried("TRY_CAST(CAST({0} AS VARCHAR) AS %s)"), e, tooLarge), nil
	case from.Kind == protocol.KindFloat || from.Kind == protocol.KindDouble:
		return a.orElse(tried("TRY_CAST({0} AS %s)"), e, tooLarge), nil
	}
	out, err := expr.Convert(e, to, ctx, true)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	return a.orElse(out, e, tooLarge), nil
}

// numberOfText stores text in a numeric column: 1366 for what is no number, 1265 for what only begins like one, 1264 out of range.
func (a *assigner) numberOfText(text expr.Expr, to protocol.DataType, path string, tooLarge expr.Expr) expr.Expr {
	value := "TRY_CAST(trim({0}) AS " + expr.DuckType(to) + ")"
	what := "decimal"
	switch {
	case to.Kind <= protocol.KindLong:
		what, value = "integer", "TRY_CAST(TRY_CAST(trim({0}) AS DECIMAL(38,8)) AS "+expr.DuckType(to)+")"
	case to.Kind != protocol.KindDecimal:
		what = "double"
	}
	test := func(sql string) expr.Expr {
		return &expr.Raw{Typed: expr.Typed{Of: boolean, Null: true}, SQL: sql, Args: []expr.Expr{text}}
	}
	whole := test("regexp_full_match(trim({0}), '" + numberText + "')")
	failure := &expr.Case{Typed: expr.Typed{Of: to, Null: true}, Whens: []expr.When{
		{Condition: whole, Result: tooLarge},
		{Condition: test("regexp_matches(trim({0}), '" + numberPrefix + "')"), Result: expr.Raise(to, "DELTASQL_DATA_TRUNCATED", "Data truncated for column '"+path+"': '", text, "'")},
	}, Else: expr.Raise(to, "DELTASQL_INCORRECT_VALUE", "Incorrect "+what+" value: '", text, "' for column '"+path+"' of "+a.table)}
	tried := onlyWhere(whole, &expr.Raw{Typed: expr.Typed{Of: to, Null: true}, SQL: value, Args: []expr.Expr{text}})
	return a.orElse(tried, text, failure)
}

// moment stores a value in a DATE, TIMESTAMP or DATETIME column.
func (a *assigner) moment(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from, ctx := e.Type(), a.b.Context()
	tried, err := expr.Convert(e, to, ctx, true)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	if from.Kind >= protocol.KindDate && from.Kind <= protocol.KindTimestampNTZ {
		return tried, nil
	}
	if from.Kind == protocol.KindString {
		whole := &expr.Raw{Typed: expr.Typed{Of: boolean, Null: true}, SQL: "regexp_full_match(trim({0}), '" + momentText + "')", Args: []expr.Expr{e}}
		tried = onlyWhere(whole, tried)
	}
	what := "datetime"
	if to.Kind == protocol.KindDate {
		what = "date"
	}
	return a.orElse(tried, e, expr.Raise(to, "DELTASQL_INCORRECT_DATETIME_VALUE", "Incorrect "+what+" value: '", expr.Shown(e, ctx), "' for column '"+path+"' of "+a.table)), nil
}

// json stores text in a VARIANT column, which is MySQL's JSON: the text is a document.
func (a *assigner) json(e expr.Expr, path string) (expr.Expr, error) {
	variant := protocol.DataType{Kind: protocol.KindVariant}
	tried := &expr.Raw{Typed: expr.Typed{Of: variant, Null: true}, SQL: "CAST(CASE WHEN json_valid({0}) THEN CAST({0} AS JSON) END AS VARIANT)", Args: []expr.Expr{e}}
	return a.orElse(tried, e, expr.Raise(variant, "DELTASQL_INVALID_JSON_TEXT", "Invalid JSON text for column '"+path+"': ", e)), nil
}

// clamped is MySQL's assignment without strict mode: the nearest value of the column's type.
func (a *assigner) clamped(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	if low, high, ok := integerBounds(to); ok {
		if from := e.Type(); from.Kind == protocol.KindString || from.Kind == protocol.KindBinary {
			number, err := expr.Convert(e, protocol.DataType{Kind: protocol.KindDouble}, a.b.Context(), false)
			if err != nil {
				return nil, a.noCast(from, to, path)
			}
			e = number
		}
		if from := e.Type(); from.Kind >= protocol.KindByte && from.Kind <= protocol.KindDecimal {
			sql := fmt.Sprintf("CAST(CASE WHEN {0} >= %[2]d THEN %[2]d WHEN {0} <= %[1]d THEN %[1]d ELSE round({0}) END AS %[3]s)", low, high, expr.DuckType(to))
			return &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, SQL: sql, Args: []expr.Expr{e}}, nil
		}
	}
	out, err := expr.Convert(e, to, a.b.Context(), false)
	if err != nil {
		return nil, a.noCast(e.Type(), to, path)
	}
	return out, nil
}

func integerBounds(t protocol.DataType) (low, high int64, ok bool) {
	switch t.Kind {
	case protocol.KindByte:
		return math.MinInt8, math.MaxInt8, true
	case protocol.KindShort:
		return math.MinInt16, math.MaxInt16, true
	case protocol.KindInteger:
		return math.MinInt32, math.MaxInt32, true
	case protocol.KindLong:
		return math.MinInt64, math.MaxInt64, true
	}
	return 0, 0, false
}

func fits(v protocol.Value, to protocol.DataType) bool {
	low, high, ok := integerBounds(to)
	return ok && (v.Null || v.Int >= low && v.Int <= high)
}
