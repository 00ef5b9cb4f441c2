package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Coerce is the implicit cast of an expression to a type, as set operations, VALUES, CASE branches and IN lists need it.
// Literals fold, so that skipping sees constants of the column's own type.
func Coerce(e Expr, to protocol.DataType, ctx *Context) (Expr, error) {
	return convert(e, to, ctx, false)
}

// convert casts by the dialect's rules; try gives NULL where the value does not convert.
func convert(e Expr, to protocol.DataType, ctx *Context, try bool) (Expr, error) {
	from := e.Type()
	if from.Equal(to) {
		return e, nil
	}
	if isNumeric(to) || to.Kind == protocol.KindBoolean {
		e = exactly(e)
		from = e.Type()
	}
	if l, ok := e.(*Literal); ok {
		if l.Value.Null {
			return Null(to), nil
		}
		if v, ok := foldCast(l, to, ctx); ok {
			folded := constant(to, v)
			folded.folded = true
			return folded, nil
		}
	}
	if r, ok := e.(*Raw); ok && r.bare != "" { // a JSON null casts to NULL
		e = &Raw{Typed: r.Typed, SQL: r.bare, Args: r.Args}
	}
	if from.Kind == protocol.KindVoid {
		return fromVoid(e, to), nil
	}
	if ctx.Dialect == MySQL && from.Kind == protocol.KindTimestampNTZ && to.Kind == protocol.KindString {
		if digits := shownDigits(e); digits > 0 {
			return rawOf(tString, fmt.Sprintf("left(strftime({0}, '%%Y-%%m-%%d %%H:%%M:%%S.%%f'), %d)", 20+digits), e), nil
		}
	}
	c := casting{ctx: ctx, try: try, constant: isConstant(e)}
	if c.plain(from, to) {
		return &Cast{Typed: Typed{to, e.Nullable() || try}, Operand: e, Try: try}, nil
	}
	sql, ok := c.sql(from, to, "{0}")
	if !ok {
		return nil, protocol.NewError("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "a value of type %s cannot be cast to %s", from, to)
	}
	return &Raw{Typed: Typed{to, e.Nullable() || try}, SQL: sql, Args: []Expr{e}}, nil
}

// fromVoid is a VOID expression as another type. The literal becomes a NULL of that type; any other must still be run, since it may
// be there to fail, as raise_error is.
func fromVoid(e Expr, to protocol.DataType) Expr {
	if isNullLiteral(e) {
		return Null(to)
	}
	return rawNull(to, voidSQL("{0}", to), e)
}

// voidSQL casts an operand that is NULL whenever it has a value. DuckDB has no cast from the INTEGER that stands for VOID to a
// date, but one from text to everything.
func voidSQL(x string, to protocol.DataType) string {
	return "CAST(CAST(" + x + " AS VARCHAR) AS " + DuckType(to) + ")"
}

// casting writes casts as DuckDB text over an operand's text, so that they nest in lists, maps and structs.
type casting struct {
	ctx      *Context
	try      bool
	constant bool // of a value that is the same for every row
	depth    int
}

// plain tells whether DuckDB's own cast has the meaning wanted.
func (c *casting) plain(from, to protocol.DataType) bool {
	f, t := from.Kind, to.Kind
	switch {
	case from.Equal(to):
		return true
	case f == protocol.KindVoid || t == protocol.KindVoid:
		return false
	case t == protocol.KindVariant:
		return !from.Holds(protocol.KindFile) // what a file holds itself is no part of it elsewhere
	case t == protocol.KindDecimal && isIntegral(from) && c.ctx.Dialect == MySQL && !c.try && Fallible(from, to):
		return false // it is brought into the range
	case isNumeric(to) && (isIntegral(from) || f == protocol.KindBoolean):
		return true
	case isFloating(to) && isNumeric(from):
		return true
	case t == protocol.KindDecimal && isNumeric(from):
		return c.ctx.Dialect == Spark
	case t == protocol.KindString:
		return isIntegral(from) || f == protocol.KindDecimal && from.Scale < from.Precision || f == protocol.KindDate || f == protocol.KindTimestampNTZ || f == protocol.KindBoolean && c.ctx.Dialect == Spark
	case f == protocol.KindString:
		return c.ctx.Dialect == Spark && (isFractional(to) || t == protocol.KindBoolean)
	case f == protocol.KindDate:
		return t == protocol.KindTimestampNTZ
	case f == protocol.KindTimestampNTZ:
		return t == protocol.KindDate
	case f == protocol.KindArray && t == protocol.KindArray:
		return c.plain(*from.Element, *to.Element)
	case f == protocol.KindMap && t == protocol.KindMap:
		return c.plain(*from.Key, *to.Key) && c.plain(*from.Value, *to.Value)
	case f == protocol.KindStruct && t == protocol.KindStruct:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if from.Fields[i].Name != to.Fields[i].Name || !c.plain(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return false
}

// duck is DuckDB's cast of an operand.
func (c *casting) duck(x string, to protocol.DataType) string {
	if c.try {
		return "TRY_CAST(" + x + " AS " + DuckType(to) + ")"
	}
	return "CAST(" + x + " AS " + DuckType(to) + ")"
}

// sql writes a cast; false where the dialect has none between the two types.
func (c *casting) sql(from, to protocol.DataType, x string) (string, bool) {
	if c.plain(from, to) {
		if from.Equal(to) {
			return x, true
		}
		return c.duck(x, to), true
	}
	if from.Kind == protocol.KindVoid {
		return voidSQL(x, to), true
	}
	if to.Kind == protocol.KindFile {
		return c.toFile(from, x)
	}
	if from.Kind == protocol.KindFile {
		return c.fromFile(to, x)
	}
	if from.Kind == protocol.KindVariant {
		return c.fromVariant(to, x)
	}
	if c.ctx.Dialect == MySQL && !isNested(from) && !isNested(to) {
		return c.mysql(from, to, x)
	}
	switch {
	case to.Kind == protocol.KindString:
		return c.text(from, x)
	case isIntegral(to):
		return c.integer(from, to, x)
	case isNumeric(to):
		return c.number(from, to, x)
	case to.Kind == protocol.KindBoolean:
		if isNumeric(from) {
			return "(" + x + " <> 0)", true
		}
	case to.Kind == protocol.KindBinary:
		if from.Kind == protocol.KindString {
			return "encode(" + x + ")", true
		}
	case isDatetime(to):
		return c.datetime(from, to, x)
	case isNested(to) && from.Kind == to.Kind:
		return c.nested(from, to, x)
	}
	return "", false
}

func (c *casting) integer(from, to protocol.DataType, x string) (string, bool) {
	switch {
	case from.Kind == protocol.KindString:
		return c.duck("spark_int_text("+x+")", to), true
	case isFractional(from):
		return c.duck("trunc("+x+")", to), true
	case from.Kind == protocol.KindTimestamp:
		return c.duck("CAST(floor(epoch_us("+x+") / 1000000) AS BIGINT)", to), true
	case from.Kind == protocol.KindIntervalYearMonth:
		return c.duck("spark_months("+x+")", to), true
	}
	return "", false
}

func (c *casting) number(from, to protocol.DataType, x string) (string, bool) {
	if from.Kind != protocol.KindTimestamp {
		return "", false
	}
	if to.Kind == protocol.KindDecimal {
		return c.duck("(CAST(epoch_us("+x+") AS DECIMAL(18,0)) * 0.000001)", to), true
	}
	return c.duck("(epoch_us("+x+") / 1000000)", to), true
}

func (c *casting) datetime(from, to protocol.DataType, x string) (string, bool) {
	zone := c.ctx.location()
	switch {
	case from.Kind == protocol.KindString && to.Kind == protocol.KindDate:
		return c.duck("spark_date_text("+x+")", to), true
	case from.Kind == protocol.KindString && to.Kind == protocol.KindTimestampNTZ:
		return c.duck("spark_time_text("+x+")", to), true
	case from.Kind == protocol.KindString:
		text := "spark_time_text(" + x + ")"
		if zone.String() == "UTC" {
			return c.duck(text, to), true
		}
		return "CASE WHEN spark_zoned(" + x + ") THEN " + c.duck(text, to) + " ELSE " + instantSQL(zone, c.duck(text, tNTZ)) + " END", true
	case from.Kind == protocol.KindTimestamp && to.Kind == protocol.KindDate:
		return "CAST(" + localSQL(zone, x) + " AS DATE)", true
	case from.Kind == protocol.KindTimestamp:
		return localSQL(zone, x), true
	case to.Kind == protocol.KindTimestamp && from.Kind == protocol.KindDate:
		return instantSQL(zone, "CAST("+x+" AS TIMESTAMP)"), true
	case to.Kind == protocol.KindTimestamp && from.Kind == protocol.KindTimestampNTZ:
		return instantSQL(zone, x), true
	case to.Kind == protocol.KindTimestamp && isIntegral(from):
		return "to_timestamp(CAST(" + x + " AS BIGINT))", true
	case to.Kind == protocol.KindTimestamp && isNumeric(from):
		return "make_timestamptz(CAST(floor(" + x + " * 1000000) AS BIGINT))", true
	}
	return "", false
}

// text writes a value as Spark prints it.
func (c *casting) text(from protocol.DataType, x string) (string, bool) {
	switch from.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		return "spark_double_text(CAST(" + x + " AS VARCHAR))", true
	case protocol.KindTimestamp:
		return "CAST(" + localSQL(c.ctx.location(), x) + " AS VARCHAR)", true
	case protocol.KindDecimal:
		return "fraction_text(CAST(" + x + " AS VARCHAR))", true
	case protocol.KindBinary:
		return "decode(" + x + ", 'replace')", true
	case protocol.KindIntervalYearMonth:
		return "spark_months_text(" + x + ")", true
	case protocol.KindIntervalDayTime:
		return "spark_daytime_text(" + x + ")", true
	case protocol.KindArray:
		v := c.variable()
		item, ok := c.element(*from.Element, v)
		return "('[' || array_to_string(list_transform(" + x + ", lambda " + v + ": " + item + "), ', ') || ']')", ok
	case protocol.KindMap:
		v := c.variable()
		key, okKey := c.element(*from.Key, v+".key")
		value, okValue := c.element(*from.Value, v+".value")
		return "('{' || array_to_string(list_transform(map_entries(" + x + "), lambda " + v + ": " + key + " || ' -> ' || " + value + "), ', ') || '}')", okKey && okValue
	case protocol.KindStruct:
		items := make([]string, len(from.Fields))
		for i, f := range from.Fields {
			item, ok := c.element(f.Type, member(x, f.Name))
			if !ok {
				return "", false
			}
			items[i] = item
		}
		return "CASE WHEN " + x + " IS NOT NULL THEN '{' || " + strings.Join(items, " || ', ' || ") + " || '}' END", true
	}
	if c.plain(from, tString) || from.Kind == protocol.KindString {
		return c.sql(from, tString, x)
	}
	return "", false
}

// element is the text of an item within a nested value, where NULL is written out.
func (c *casting) element(t protocol.DataType, x string) (string, bool) {
	item, ok := c.sql(t, tString, x)
	return "coalesce(" + item + ", 'null')", ok
}

// variable names the next lambda parameter inside a template.
func (c *casting) variable() string {
	c.depth++
	return fmt.Sprintf("cast_v%d", c.depth)
}

// member is the text that takes a struct's member.
func member(x string, name protocol.LogicalName) string {
	return "struct_extract(" + x + ", " + quoteText(string(name)) + ")"
}

// nested converts the items of lists and maps, and the members of structs by position.
func (c *casting) nested(from, to protocol.DataType, x string) (string, bool) {
	switch from.Kind {
	case protocol.KindArray:
		v := c.variable()
		item, ok := c.sql(*from.Element, *to.Element, v)
		return "list_transform(" + x + ", lambda " + v + ": " + item + ")", ok
	case protocol.KindMap:
		v := c.variable()
		key, okKey := c.sql(*from.Key, *to.Key, v+".key")
		value, okValue := c.sql(*from.Value, *to.Value, v+".value")
		return "map_from_entries(list_transform(map_entries(" + x + "), lambda " + v + ": struct_pack(key := " + key + ", value := " + value + ")))", okKey && okValue
	}
	if len(from.Fields) != len(to.Fields) {
		return "", false
	}
	items := make([]string, len(from.Fields))
	for i, f := range from.Fields {
		item, ok := c.sql(f.Type, to.Fields[i].Type, member(x, f.Name))
		if !ok {
			return "", false
		}
		items[i] = quoteIdent(string(to.Fields[i].Name)) + " := " + item
	}
	return "CASE WHEN " + x + " IS NOT NULL THEN struct_pack(" + strings.Join(items, ", ") + ") END", true
}

// fromVariant reads a variant as a type; DuckDB's error for one that does not convert is INVALID_VARIANT_CAST. A timestamp inside a variant is an instant already.
func (c *casting) fromVariant(to protocol.DataType, x string) (string, bool) {
	switch to.Kind {
	case protocol.KindString:
		return "variant_text(" + x + ")", true
	case protocol.KindVoid, protocol.KindMap:
		return "", false
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong: // a fraction is cut off, not rounded
		return "CASE WHEN regexp_matches(variant_typeof(" + x + "), '^(DOUBLE|FLOAT|DECIMAL)') THEN " + c.duck("trunc(CAST("+x+" AS DOUBLE))", to) + " ELSE " + c.duck(x, to) + " END", true
	case protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		text, _ := c.sql(tString, to, "CAST("+x+" AS VARCHAR)")
		return "CASE WHEN variant_typeof(" + x + ") = 'VARCHAR' THEN " + text + " ELSE " + c.duck(x, to) + " END", true
	}
	return c.duck(x, to), true
}

// cast is a cast that was written, not one that a rule makes: a literal counts with the type's digits from there on.
func (b *binder) cast(e Expr, to protocol.DataType, try bool, at parse.Pos) (Expr, error) {
	out, err := convert(e, to, b.ctx, try)
	if err != nil {
		return nil, placed(err, at)
	}
	if l, ok := out.(*Literal); ok && !l.folded {
		same := *l
		same.folded = true
		out = &same
	}
	return out, nil
}

// bindCast binds CAST, TRY_CAST, e::type and CONVERT(e, type).
func (b *binder) bindCast(n *parse.Cast) (Expr, error) {
	e, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	if n.Type.MySQL != "" {
		return b.mysqlCast(n, e)
	}
	to := n.Type.Type
	out, err := b.cast(e, to, n.Try, n.At())
	if err != nil {
		return nil, err
	}
	if n.Type.Length >= 0 && b.ctx.Dialect == MySQL && to.Kind == protocol.KindString {
		return b.shortened(out, n.Type.Length), nil
	}
	return out, nil
}
