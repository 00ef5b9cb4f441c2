package change

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// assigner converts values to the types of the columns they are stored in. In the Spark dialect a store assignment is an ANSI cast
// whose overflow has a class of its own; strict.go has MySQL's.
type assigner struct {
	b        *bind.Builder
	byName   bool           // match struct members by name
	overflow protocol.Class // of a number that the column's type cannot hold
	lenient  bool           // of MySQL: clamp instead of failing
	whole    bool           // a struct must bring every member
	table    string         // for messages
}

// store converts a value for a column or a member; path is its dotted name. The value may be written several times, so it
// must be a column, a member of one, or a constant.
func (a *assigner) store(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from := e.Type()
	switch {
	case from.Equal(to):
		return e, nil
	case from.Kind == protocol.KindVoid:
		return expr.Convert(e, to, a.b.Context(), false)
	case from.Kind == protocol.KindStruct && to.Kind == protocol.KindStruct:
		return a.members(e, to, path)
	case from.Kind == protocol.KindArray && to.Kind == protocol.KindArray:
		return a.elements(e, to, path)
	case from.Kind == protocol.KindMap && to.Kind == protocol.KindMap:
		return a.entries(e, to, path)
	case a.b.Context().Dialect == expr.MySQL && from.Kind < protocol.KindArray && to.Kind < protocol.KindArray:
		return a.strict(e, to, path)
	}
	return a.scalar(e, to, path)
}

// scalar is the ANSI cast. The value that does not convert is in the message.
func (a *assigner) scalar(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from, ctx := e.Type(), a.b.Context()
	if from.Kind == protocol.KindDouble && to.Kind == protocol.KindFloat { // a double beyond every float becomes an infinity
		return &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, Args: []expr.Expr{e},
			SQL: "coalesce(TRY_CAST({0} AS FLOAT), CAST('Infinity' AS FLOAT) * CAST(sign({0}) AS FLOAT))"}, nil
	}
	plain, err := expr.Convert(e, to, ctx, false)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	if _, constant := plain.(*expr.Literal); constant || !expr.Fallible(from, to) {
		return plain, nil
	}
	tried, err := expr.Convert(e, to, ctx, true)
	if err != nil {
		return nil, a.noCast(from, to, path)
	}
	return a.orElse(tried, e, a.misfit(e, to, path)), nil
}

func (a *assigner) noCast(from, to protocol.DataType, path string) error {
	return protocol.NewError("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "column `%s` of %s has type %s, and a value of type %s cannot be cast to it",
		path, a.table, to, from)
}

// orElse is a tried conversion of e, with what is to happen where a value did not convert.
func (a *assigner) orElse(tried, e, failure expr.Expr) expr.Expr {
	return &expr.Raw{Typed: expr.Typed{Of: tried.Type(), Null: e.Nullable()}, SQL: "coalesce({0}, {1})",
		Args: []expr.Expr{tried, onlyWhere(present(e), failure)}}
}

// misfit raises the error of a value that does not convert.
func (a *assigner) misfit(e expr.Expr, to protocol.DataType, path string) expr.Expr {
	from := e.Type()
	value := expr.Shown(e, a.b.Context())
	overflow := expr.Raise(to, a.overflow, "Fail to assign the value ", value, " of type "+upper(from)+" to the "+upper(to)+" type column `"+path+"` due to an overflow.")
	malformed := expr.Raise(to, "CAST_INVALID_INPUT", "The value '", value, "' of the type "+upper(from)+" cannot be cast to "+upper(to)+" for the column `"+path+"` because it is malformed.")
	switch {
	case from.Kind == protocol.KindVariant:
		return expr.Raise(to, "INVALID_VARIANT_CAST", "The variant ", value, " cannot be cast to "+upper(to)+" for the column `"+path+"`.")
	case from.Kind == protocol.KindString && to.Kind == protocol.KindDecimal:
		number := &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "regexp_full_match(trim({0}), '" + numberText + "')", Args: []expr.Expr{e}}
		return &expr.Case{Typed: expr.Typed{Of: to, Null: true}, Whens: []expr.When{{Condition: number, Result: overflow}}, Else: malformed}
	case from.Kind == protocol.KindString || from.Kind == protocol.KindBinary:
		return malformed
	}
	return overflow
}

// members converts a struct member by member, by position or by name.
func (a *assigner) members(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from := e.Type()
	sources, err := a.match(from, to, path)
	if err != nil {
		return nil, err
	}
	pack := &expr.Raw{Typed: expr.Typed{Of: to}}
	parts := make([]string, len(to.Fields))
	for i, f := range to.Fields {
		var value expr.Expr = expr.Null(f.Type)
		if at := sources[i]; at >= 0 {
			source := from.Fields[at]
			member := &expr.Field{Typed: expr.Typed{Of: source.Type, Null: source.Nullable || e.Nullable()}, Operand: e, Name: source.Name}
			if value, err = a.store(member, f.Type, path+"."+string(f.Name)); err != nil {
				return nil, err
			}
		}
		parts[i] = quoted(string(f.Name)) + " := {" + strconv.Itoa(i) + "}"
		pack.Args = append(pack.Args, value)
	}
	pack.SQL = "struct_pack(" + strings.Join(parts, ", ") + ")"
	return onlyWhere(present(e), pack), nil
}

// match gives for each member of a struct the source's member that it takes its value from; -1: none, the member is NULL.
func (a *assigner) match(from, to protocol.DataType, path string) ([]int, error) {
	sources := make([]int, len(to.Fields))
	if !a.byName {
		if len(from.Fields) < len(to.Fields) {
			return nil, protocol.NewError("DELTA_INSERT_COLUMN_ARITY_MISMATCH", "cannot write to %s: the struct `%s` has %d members but the inserted value has %d",
				a.table, path, len(to.Fields), len(from.Fields))
		}
		if len(from.Fields) > len(to.Fields) {
			return nil, a.unknownMembers(path, names(from.Fields[len(to.Fields):]))
		}
		for i := range sources {
			sources[i] = i
		}
		return sources, nil
	}
	used := map[int]bool{}
	for i, f := range to.Fields {
		sources[i] = from.Lookup(string(f.Name))
		used[sources[i]] = true
		if sources[i] < 0 && a.whole {
			return nil, protocol.NewError("DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION", "cannot cast %s to %s: the value for `%s` of %s has no member `%s`", from, to, path, a.table, f.Name)
		}
	}
	var extra []string
	for i, f := range from.Fields {
		if !used[i] {
			extra = append(extra, string(f.Name))
		}
	}
	if extra != nil {
		return nil, a.unknownMembers(path, extra)
	}
	return sources, nil
}

func (a *assigner) unknownMembers(path string, extra []string) error {
	return protocol.NewError("DELTA_METADATA_MISMATCH", "the struct `%s` of %s has no member %s", path, a.table, ticked(extra)).
		WithHint("INSERT WITH SCHEMA EVOLUTION adds members that the table lacks")
}

// elements converts an array element by element.
func (a *assigner) elements(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	item, lambda := a.parameter(*e.Type().Element, e.Type().ContainsNull)
	stored, err := a.store(item, *to.Element, path+".element")
	if err != nil {
		return nil, err
	}
	return &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, SQL: "list_transform({0}, {1})", Args: []expr.Expr{e, lambda(stored)}}, nil
}

// entries converts a map entry by entry. Keys that become equal are an error of DuckDB's with Spark's class.
func (a *assigner) entries(e expr.Expr, to protocol.DataType, path string) (expr.Expr, error) {
	from := e.Type()
	pair := func(t protocol.DataType) protocol.DataType {
		return protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "key", Type: *t.Key}, {Name: "value", Type: *t.Value, Nullable: true}}}
	}
	entry, lambda := a.parameter(pair(from), false)
	key, err := a.store(&expr.Field{Typed: expr.Typed{Of: *from.Key}, Operand: entry, Name: "key"}, *to.Key, path+".key")
	if err != nil {
		return nil, err
	}
	value, err := a.store(&expr.Field{Typed: expr.Typed{Of: *from.Value, Null: true}, Operand: entry, Name: "value"}, *to.Value, path+".value")
	if err != nil {
		return nil, err
	}
	stored := &expr.Raw{Typed: expr.Typed{Of: pair(to)}, SQL: "struct_pack(key := {0}, value := {1})", Args: []expr.Expr{key, value}}
	return &expr.Raw{Typed: expr.Typed{Of: to, Null: e.Nullable()}, SQL: "map_from_entries(list_transform(map_entries({0}), {1}))", Args: []expr.Expr{e, lambda(stored)}}, nil
}

// parameter is a lambda's parameter, and the lambda that computes something of it.
func (a *assigner) parameter(of protocol.DataType, nullable bool) (*expr.Column, func(body expr.Expr) *expr.Lambda) {
	r := a.b.Relation(expr.RelLambda, "")
	r.Columns = []expr.OutputColumn{{Name: "e", Type: of, Nullable: nullable}}
	return &expr.Column{Typed: expr.Typed{Of: of, Null: nullable}, Relation: r}, func(body expr.Expr) *expr.Lambda {
		return &expr.Lambda{Typed: expr.Typed{Of: body.Type(), Null: body.Nullable()}, Params: r, Body: body}
	}
}

// boolean is the type of conditions.
var boolean = protocol.DataType{Kind: protocol.KindBoolean}

func absent(e expr.Expr) expr.Expr { return &expr.IsNull{Typed: expr.Typed{Of: boolean}, Operand: e} }

func present(e expr.Expr) expr.Expr {
	return &expr.Not{Typed: expr.Typed{Of: boolean}, Operand: absent(e)}
}

// onlyWhere is a value where a condition holds and NULL elsewhere.
func onlyWhere(condition, value expr.Expr) expr.Expr {
	return &expr.Case{Typed: expr.Typed{Of: value.Type(), Null: true}, Whens: []expr.When{{Condition: condition, Result: value}}}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func ticked(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

func upper(t protocol.DataType) string { return strings.ToUpper(t.String()) }

func names(fields []protocol.Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = string(f.Name)
	}
	return out
}
