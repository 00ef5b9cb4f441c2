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

// clamped is MySQL's assignment without strict mode: the nearest value of the column's type, with a warning where that is another.
func (a *assigner) clamped(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	silent := *a.b.Context() // the store tells of a value once, in its own words
	silent.Notes = nil
	from, given := e.Type(), e
	isText := from.Kind == protocol.KindString || from.Kind == protocol.KindBinary
	if low, high, ok := integerBounds(to); ok {
		if isText {
			number, err := expr.Convert(e, protocol.DataType{Kind: protocol.KindDouble}, &silent, false)
			if err != nil {
				return nil, a.noCast(from, to, path)
			}
			e = number
		}
		if of := e.Type(); of.Kind >= protocol.KindByte && of.Kind <= protocol.KindDecimal {
			bound := func(n int64) expr.Expr {
				limit := &expr.Raw{Typed: expr.Typed{Of: to}, SQL: fmt.Sprintf("CAST(%d AS %s)", n, expr.DuckType(to))}
				return a.told(1264, "NUMERIC_VALUE_OUT_OF_RANGE", to, limit, "Out of range value ", expr.Shown(given, &silent), " for column '"+path+"'")
			}
			sql := fmt.Sprintf("CASE WHEN {0} > %[2]d THEN {1} WHEN {0} < %[1]d THEN {2} ELSE CAST(least(greatest(round({0}), %[1]d), %[2]d) AS %[3]s) END", low, high, expr.DuckType(to))
			sql = fmt.Sprintf("CASE WHEN {0} IS NOT NULL THEN %s END", sql)
			stored := &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, SQL: sql, Args: []expr.Expr{e, bound(high), bound(low)}}
			return a.asNumber(stored, given, isText, "integer", path), nil
		}
	}
	stored, err := expr.Convert(e, to, &silent, false)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	switch {
	case to.Kind >= protocol.KindByte && to.Kind <= protocol.KindDecimal:
		what := "decimal"
		if to.Kind != protocol.KindDecimal {
			what = "double"
		} else if from.Kind >= protocol.KindByte && from.Kind <= protocol.KindDecimal && expr.Fallible(from, to) {
			whole := fmt.Sprintf("TRY_CAST({0} AS %s) IS NULL AND {0} IS NOT NULL", expr.DuckType(to))
			return a.toldWhere(whole, stored, given, 1264, "NUMERIC_VALUE_OUT_OF_RANGE", "Out of range value ", "for column '"+path+"'"), nil
		}
		return a.asNumber(stored, given, isText, what, path), nil
	case (to.Kind == protocol.KindDate || to.Kind == protocol.KindTimestamp || to.Kind == protocol.KindTimestampNTZ) && isText:
		return a.toldWhere("{1} IS NULL AND {0} IS NOT NULL OR NOT regexp_full_match(trim({0}), '"+momentText+"')", stored, given, 1265, "DELTASQL_DATA_TRUNCATED",
			"Data truncated for column '"+path+"': ", ""), nil
	}
	return stored, nil
}

// asNumber tells of text that is stored as a number and is not wholly one.
func (a *assigner) asNumber(stored, given expr.Expr, isText bool, what, path string) expr.Expr {
	if !isText || given.Type().Kind != protocol.KindString {
		return stored
	}
	cut := a.toldWhere("regexp_matches(trim({0}), '"+numberPrefix+"')", stored, given, 1265, "DELTASQL_DATA_TRUNCATED", "Data truncated for column '"+path+"': ", "")
	none := a.told(1366, "DELTASQL_INCORRECT_VALUE", stored.Type(), stored, "Incorrect "+what+" value: '", given, "' for column '"+path+"' of "+a.table)
	return &expr.Raw{Typed: expr.Typed{Of: stored.Type(), Null: stored.Nullable()}, Args: []expr.Expr{given, stored, cut, none},
		SQL: "CASE WHEN {0} IS NULL OR regexp_full_match(trim({0}), '" + numberText + "') THEN {1} WHEN regexp_matches(trim({0}), '" + numberPrefix + "') THEN {2} ELSE {3} END"}
}

// toldWhere is a stored value ({1} in the condition) that is told of where a condition on the value given ({0}) holds.
func (a *assigner) toldWhere(condition string, stored, given expr.Expr, code int, class protocol.Class, before, after string) expr.Expr {
	silent := *a.b.Context()
	silent.Notes = nil
	told := a.told(code, class, stored.Type(), stored, before, expr.Shown(given, &silent), after)
	return &expr.Raw{Typed: expr.Typed{Of: stored.Type(), Null: stored.Nullable()}, SQL: "CASE WHEN " + condition + " THEN {2} ELSE {1} END", Args: []expr.Expr{given, stored, told}}
}

// told is a value that is stored instead of another, with a warning.
func (a *assigner) told(code int, class protocol.Class, to protocol.DataType, instead expr.Expr, parts ...any) expr.Expr {
	return expr.Bend(a.b.Context(), code, class, to, instead, parts...)
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
