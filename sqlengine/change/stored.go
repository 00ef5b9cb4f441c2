package change

import (
	"context"
	"reflect"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Stored is a checked expression of a table's definition.
type Stored struct {
	Expr expr.Expr
	// Text is what is stored: for a CHECK the tokens joined by one blank, as the reference writes it, for others the text as given.
	Text string
	// References are the paths of the columns that the expression names, each once, in the order of their first naming.
	References [][]protocol.LogicalName
}

// storedExpression reads and binds an expression that a table stores. What is its name for messages.
func (b *binding) storedExpression(text string, s bind.Scope, what string) (expr.Expr, error) {
	parsed, err := parseStored(text)
	if err != nil {
		return nil, within(err, what, b.table.shown())
	}
	bound, err := b.stored.Expression(parsed, s)
	if err != nil {
		return nil, within(err, what, b.table.shown())
	}
	return bound, nil
}

// within says that a fault lies in a stored text rather than in the statement's.
func within(err error, what, table string) error {
	e, ok := err.(*protocol.Error)
	if !ok {
		return err
	}
	n := *e
	n.Message = "in " + what + " of " + table + ": " + e.Message
	n.Line, n.Column = 0, 0
	return &n
}

// parseStored reads an expression by itself.
func parseStored(text string) (parse.Expr, error) {
	s, err := parse.Parse("SELECT ("+text+"\n)", parse.Options{Dialect: parse.Spark})
	if err != nil {
		return nil, err
	}
	if q, ok := s.(*parse.QueryStatement); ok {
		if block, ok := q.Query.Body.(*parse.Select); ok && len(block.Items) == 1 && block.Items[0].Alias == nil && block.From == nil {
			return block.Items[0].Expr, nil
		}
	}
	return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "%q is no expression", text)
}

// checker is the binding of an expression over a schema alone.
func checker(ctx context.Context, schema protocol.DataType, opts Options) (*binding, bind.Scope) {
	b := &binding{table: Table{Config: &protocol.TableConfig{Schema: schema}}, schema: schema, opts: opts}
	b.build = bind.NewBuilder(ctx, opts.Options)
	b.stored = b.build.In(storedContext(opts.Context))
	r := b.build.Relation(expr.RelSQL, "")
	for _, f := range schema.Fields {
		r.Columns = append(r.Columns, expr.OutputColumn{Name: string(f.Name), Type: f.Type, Nullable: f.Nullable})
	}
	return b, b.columns(r)
}

// CheckExpression checks the condition of a CHECK constraint over a schema: a deterministic boolean of one row.
func CheckExpression(ctx context.Context, name string, text parse.Text, schema protocol.DataType, opts Options) (out *Stored, err error) {
	defer bind.Catch(&err)
	faults := faults{aggregate: "INVALID_WHERE_CONDITION", window: "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", subquery: "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT",
		volatile: "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT", moment: "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT", what: "CHECK constraint `" + name + "` (" + text.Text + ")"}
	bound, err := rowExpression(ctx, text, schema, opts, faults)
	if err != nil {
		return nil, err
	}
	if bound.Type().Kind != protocol.KindBoolean {
		return nil, fail("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", text.Pos, "CHECK constraint `%s` (%s) should be a boolean expression, not %s", name, text.Text, bound.Type())
	}
	joined, err := parse.TokensJoined(text.Text, parse.Options{Dialect: parse.Spark})
	if err != nil {
		return nil, relocated(err, text.Pos)
	}
	return &Stored{Expr: bound, Text: joined, References: references(bound)}, nil
}

// GeneratedExpression checks GENERATED ALWAYS AS of a column of schema: a deterministic expression over columns that are not generated,
// of exactly the column's type.
func GeneratedExpression(ctx context.Context, column protocol.Field, text parse.Text, schema protocol.DataType, opts Options) (out *Stored, err error) {
	defer bind.Catch(&err)
	const refused = "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"
	what := "generated column `" + string(column.Name) + "` (" + text.Text + ")"
	faults := faults{aggregate: "DELTA_AGGREGATE_IN_GENERATED_COLUMN", window: refused, subquery: refused, volatile: refused, moment: "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", what: what}
	bound, err := rowExpression(ctx, text, schema, opts, faults)
	if err != nil {
		return nil, err
	}
	out = &Stored{Expr: bound, Text: text.Text, References: references(bound)}
	for _, path := range out.References {
		at := schema.Lookup(string(path[0]))
		if strings.EqualFold(string(path[0]), string(column.Name)) {
			return nil, fail(refused, text.Pos, "%s cannot refer to itself", what)
		}
		if _, generated := schema.Fields[at].Metadata.GenerationExpression(); generated {
			return nil, fail(refused, text.Pos, "%s cannot refer to another generated column, which `%s` is", what, path[0])
		}
	}
	switch t := bound.Type(); {
	case t.Kind == protocol.KindVariant:
		return nil, fail("DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN", text.Pos, "%s cannot have type VARIANT", what)
	case t.Equal(column.Type):
		return out, nil
	case upcast(t, column.Type):
		return nil, fail("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH", text.Pos, "the expression of %s has type %s, but the column has type %s", what, t, column.Type).
			WithHint("cast the expression to %s", upper(column.Type))
	default:
		return nil, fail(refused, text.Pos, "the expression of %s has type %s, which is incompatible with the column's type %s", what, t, column.Type).
			WithHint("cast the expression to %s", upper(column.Type))
	}
}

// upcast tells whether a type casts to another without any value failing or losing digits, as Spark counts it.
func upcast(from, to protocol.DataType) bool {
	switch {
	case from.Kind == protocol.KindVoid:
		return true
	case from.Kind >= protocol.KindArray || to.Kind >= protocol.KindArray:
		return false
	case to.Kind == protocol.KindString:
		return from.Kind != protocol.KindBinary && from.Kind != protocol.KindVariant
	case from.Kind == protocol.KindDate:
		return to.Kind == protocol.KindTimestamp || to.Kind == protocol.KindTimestampNTZ
	case from.Kind >= protocol.KindByte && from.Kind <= protocol.KindDecimal && to.Kind >= protocol.KindByte && to.Kind <= protocol.KindDecimal:
		return !expr.Fallible(from, to) && (from.Kind != protocol.KindDecimal || to.Kind == protocol.KindDecimal && to.Scale >= from.Scale)
	}
	return false
}

// DefaultExpression checks a column's DEFAULT: without columns or subqueries, of a type that can be stored in the column. Verb is the
// statement for the message, such as "CREATE TABLE".
func DefaultExpression(ctx context.Context, verb string, column protocol.Field, text parse.Text, opts Options) (out *Stored, err error) {
	defer bind.Catch(&err)
	b, _ := checker(ctx, protocol.DataType{Kind: protocol.KindStruct}, opts)
	parsed, err := parseStored(text.Text)
	if err != nil {
		return nil, relocated(err, text.Pos)
	}
	what := "the default " + text.Text + " of column `" + string(column.Name) + "`"
	bound, err := b.stored.Expression(parsed, bind.Scope{})
	if err != nil {
		if strings.HasPrefix(string(protocol.ClassOf(err)), "UNRESOLVED_COLUMN") {
			return nil, fail("INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION", text.Pos, "%s: %s failed because %s names a column", verb, verb, what).WithHint("a default has literals and functions of them")
		}
		return nil, relocated(err, text.Pos)
	}
	var fault error
	expr.Walk(bound, func(x expr.Expr) bool {
		if expr.QueryOf(x) != nil {
			fault = fail("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION", text.Pos, "%s failed because %s has a subquery", verb, what)
		}
		return fault == nil
	})
	if fault != nil {
		return nil, fault
	}
	if !storable(bound, column.Type) {
		return nil, fail("INVALID_DEFAULT_VALUE.DATA_TYPE", text.Pos, "%s failed because %s must have type %s, but it has type %s", verb, what, upper(column.Type), upper(bound.Type()))
	}
	value, err := expr.Convert(bound, column.Type, b.stored.Context(), false)
	if err != nil {
		return nil, fail("INVALID_DEFAULT_VALUE.DATA_TYPE", text.Pos, "%s failed because %s has type %s, which cannot be stored as %s", verb, what, bound.Type(), column.Type)
	}
	switch column.Type.Kind {
	case protocol.KindVariant, protocol.KindFile:
		if l, ok := value.(*expr.Literal); !ok || !l.Value.Null {
			return nil, fail("UNSUPPORTED_FEATURE.DEFAULT_VALUE", text.Pos, "a column of type %s can have no default but NULL", column.Type)
		}
	case protocol.KindGeometry, protocol.KindGeography:
		return nil, fail("UNSUPPORTED_FEATURE.DEFAULT_VALUE", text.Pos, "a column of type %s can have no default", column.Type)
	}
	return &Stored{Expr: value, Text: text.Text}, nil
}

// storable is Spark's rule for defaults: a cast up, or a literal of the same family that fits the column.
func storable(e expr.Expr, to protocol.DataType) bool {
	from := e.Type()
	if from.Equal(to) || from.Kind == protocol.KindVoid || upcast(from, to) {
		return true
	}
	number := func(t protocol.DataType) bool { return t.Kind >= protocol.KindByte && t.Kind <= protocol.KindDecimal }
	moment := func(t protocol.DataType) bool {
		return t.Kind >= protocol.KindDate && t.Kind <= protocol.KindTimestampNTZ
	}
	switch {
	case number(from) && number(to), moment(from) && moment(to):
		return true
	case from.Kind == protocol.KindString && moment(to), from.Kind == protocol.KindString && to.Kind == protocol.KindBinary:
		return true
	}
	return from.Kind == to.Kind && from.Kind >= protocol.KindArray
}

// faults are the classes of what a stored expression of one row may not hold.
type faults struct {
	aggregate, window, subquery, volatile, moment protocol.Class
	what                                          string
}

// rowExpression binds a stored expression of one row that always has the same value for the same row.
func rowExpression(ctx context.Context, text parse.Text, schema protocol.DataType, opts Options, f faults) (expr.Expr, error) {
	parsed, err := parseStored(text.Text)
	if err != nil {
		return nil, relocated(err, text.Pos)
	}
	b, scope := checker(ctx, schema, opts)
	bound, err := b.stored.Expression(parsed, scope)
	switch protocol.ClassOf(err) {
	case "DELTASQL_MISPLACED_FUNCTION":
		return nil, fail(f.aggregate, text.Pos, "%s cannot hold an aggregate", f.what)
	case "DELTASQL_MISPLACED_WINDOW":
		return nil, fail(f.window, text.Pos, "%s cannot hold a window function", f.what)
	}
	if err != nil {
		return nil, relocated(err, text.Pos)
	}
	var fault error
	expr.Walk(bound, func(x expr.Expr) bool {
		if expr.QueryOf(x) != nil {
			fault = fail(f.subquery, text.Pos, "%s cannot hold a subquery", f.what)
		}
		return fault == nil
	})
	switch {
	case fault != nil:
		return nil, fault
	case bind.Volatile(bound):
		return nil, fail(f.volatile, text.Pos, "%s is not deterministic", f.what)
	}
	// The moment, the user and kin are constants of a statement, so that they show only in another one.
	other := *opts.Context
	other.Now, other.User, other.Database, other.Version = opts.Context.Now.Add(-1e6*time.Second), other.User+"?", other.Database+"?", other.Version+"?"
	other.ConnectionID++
	opts.Context = &other
	b, scope = checker(ctx, schema, opts)
	if again, err := b.stored.Expression(parsed, scope); err != nil || !reflect.DeepEqual(bound, again) {
		return nil, fail(f.moment, text.Pos, "%s depends on the moment, the user or the session", f.what)
	}
	return bound, nil
}

// references are the columns of an expression, as paths.
func references(e expr.Expr) [][]protocol.LogicalName {
	var out [][]protocol.LogicalName
	seen := map[string]bool{}
	pathsOf(e, func(path []protocol.LogicalName, _ expr.Expr) {
		key := strings.ToLower(strings.Join(texts(path), "\x00"))
		if !seen[key] {
			seen[key] = true
			out = append(out, path)
		}
	})
	return out
}

func texts(path []protocol.LogicalName) []string {
	out := make([]string, len(path))
	for i, name := range path {
		out[i] = string(name)
	}
	return out
}

// relocated gives a fault inside a stored text the place of that text in the statement.
func relocated(err error, at parse.Pos) error {
	e, ok := err.(*protocol.Error)
	if !ok || at.Line == 0 {
		return err
	}
	n := *e
	n.Line, n.Column = at.Line, at.Column
	return &n
}
