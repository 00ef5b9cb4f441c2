package expr

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// dialects is a set of dialects: where a function has its meaning. A name of one dialect works in the other as well, with the
// meaning of its home, unless the other has a function of that name itself.
type dialects uint8

const (
	inSpark dialects = 1 << iota
	inMySQL
	inBoth = inSpark | inMySQL
)

// function is one record of the tables: names (the first is the canonical one), dialects, the types of its arguments, and
// either templates with the result's type or a Go function that binds the call.
type function struct {
	names []string
	in    dialects
	// args are words: a type ("string", "int", "bigint", "double", "date", "timestamp", "datetime", "boolean", "binary",
	// "number", "array", "map", "any", ...), in brackets where optional, with a + for one or more, a * for none or more.
	args []parameter
	out  rule
	// sql are DuckDB templates, the shortest call first: the last one serves all calls with more arguments. {*} stands for
	// all arguments, {1*} for those from the second on.
	sql      []string
	bind     func(c *call) (Expr, error)
	volatile bool
	strict   bool // NULL only where an argument is
	kind     kind
	lazy     bool     // binds its own arguments (lambdas, aggregates, units)
	named    []string // of the arguments, where a call may give them by name
}

// kind is where a function may stand: anywhere, over groups or windows, over windows only.
type kind uint8

const (
	scalar kind = iota
	aggregate
	window
)

type parameter struct {
	accepts  string
	optional bool
	repeat   bool
}

// rule gives a result's type from the arguments.
type rule func(args []Expr) protocol.DataType

func fixed(t protocol.DataType) rule {
	return func([]Expr) protocol.DataType { return t }
}

var (
	asString    = fixed(tString)
	asInt       = fixed(tInt)
	asLong      = fixed(tLong)
	asDouble    = fixed(tDouble)
	asBoolean   = fixed(tBoolean)
	asDate      = fixed(tDate)
	asBinary    = fixed(tBinary)
	asTimestamp = fixed(tTimestamp)
)

// fn makes a record with templates. Names and args are separated by blanks.
func fn(names string, in dialects, args string, out rule, sql ...string) *function {
	return &function{names: strings.Fields(names), in: in, args: parameters(args), out: out, sql: sql}
}

// custom makes a record that binds itself, over arguments that are bound and converted already.
func custom(names string, in dialects, args string, bind func(c *call) (Expr, error)) *function {
	return &function{names: strings.Fields(names), in: in, args: parameters(args), bind: bind}
}

// lazily makes a record that binds its own arguments.
func lazily(names string, in dialects, args string, bind func(c *call) (Expr, error)) *function {
	f := custom(names, in, args, bind)
	f.lazy = true
	return f
}

func parameters(words string) []parameter {
	var out []parameter
	for _, w := range strings.Fields(words) {
		p := parameter{accepts: strings.Trim(w, "[]+*")}
		p.optional = strings.HasPrefix(w, "[") || strings.HasSuffix(w, "*")
		p.repeat = strings.HasSuffix(w, "*") || strings.HasSuffix(w, "+")
		out = append(out, p)
	}
	return out
}

func (f *function) random() *function { f.volatile = true; return f }
func (f *function) total() *function  { f.strict = true; return f }

// arity is the least and the greatest number of arguments; -1 is no limit.
func (f *function) arity() (least, most int) {
	for _, p := range f.args {
		if !p.optional {
			least++
		}
		if p.repeat {
			most = -1
		} else if most >= 0 {
			most++
		}
	}
	return least, most
}

// library is every function by its lower-case name, the Spark meaning and the MySQL meaning apart. init fills it, because the
// functions of the tables look other functions up.
var (
	library        = map[string][2]*function{}
	generatorNames []string
)

func init() {
	for _, table := range [][]*function{
		castFunctions, stringFunctions, mathFunctions, dateFunctions, conditionalFunctions, collectionFunctions, lambdaFunctions, jsonFunctions, fileFunctions,
		miscFunctions, mysqlStringFunctions, mysqlMathFunctions, mysqlDateFunctions, mysqlJSONFunctions, mysqlMiscFunctions,
	} {
		register(table, scalar)
	}
	register(aggregateFunctions, aggregate)
	register(windowFunctions, window)
	for name := range generators {
		generatorNames = append(generatorNames, name)
	}
}

func register(table []*function, k kind) {
	for _, f := range table {
		f.kind = k
		for _, name := range f.names {
			entry := library[name]
			for i, bit := range []dialects{inSpark, inMySQL} {
				if f.in&bit == 0 {
					continue
				}
				if entry[i] != nil {
					panic("expr: two functions named " + name)
				}
				entry[i] = f
			}
			library[name] = entry
		}
	}
}

// lookup finds the function that a name means in a dialect.
func lookup(name string, d Dialect) *function {
	entry := library[strings.ToLower(name)]
	home, other := 0, 1
	if d == MySQL {
		home, other = 1, 0
	}
	if entry[home] != nil {
		return entry[home]
	}
	return entry[other]
}

// Functions lists the names of the functions that a dialect has, table functions included, sorted.
func Functions(d Dialect) []string {
	var names []string
	for name := range library {
		names = append(names, name)
	}
	names = append(names, generatorNames...)
	sort.Strings(names)
	unique := names[:0]
	for i, name := range names {
		if i == 0 || names[i-1] != name {
			unique = append(unique, name)
		}
	}
	return unique
}

// IsAggregate tells whether a name is an aggregate function's.
func IsAggregate(name string, d Dialect) bool {
	f := lookup(name, d)
	return f != nil && f.kind == aggregate
}

// call is a function call while it is bound.
type call struct {
	*binder
	at    parse.Pos
	name  string
	f     *function
	node  *parse.Call // nil for a call that an operator made
	using bool        // written with USING and a character set
	args  []Expr      // bound and converted; of a lazy function empty
}

func (b *binder) bindCall(n *parse.Call) (Expr, error) {
	if len(n.Name) != 1 {
		return nil, fail(n.At(), "UNRESOLVED_ROUTINE", "there is no function %s", dotted(n.Name))
	}
	c := &call{binder: b, at: n.At(), name: strings.ToLower(n.Name[0].Name), node: n}
	if c.name == "values" && b.ctx.Dialect == MySQL {
		return b.inserted(n)
	}
	if c.f = lookup(c.name, b.ctx.Dialect); c.f == nil {
		return nil, unknownFunction(n.Name[0].Name, n.At(), b.ctx.Dialect)
	}
	if k := len(n.Args) - 1; k >= 0 && n.Args[k].Name != nil && strings.EqualFold(n.Args[k].Name.Name, "using") {
		plain := *n // CHAR(65 USING utf8mb4): all text is UTF-8, and the parser refuses other character sets
		plain.Args = n.Args[:k]
		n, c.node, c.using = &plain, &plain, true
	}
	n, err := c.inOrder(n)
	if err != nil {
		return nil, err
	}
	if c.f.kind == scalar {
		switch {
		case n.Distinct:
			return nil, fail(n.At(), "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "%s does not take DISTINCT", c.name)
		case n.Filter != nil:
			return nil, fail(n.At(), "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "%s is no aggregate and takes no FILTER", c.name)
		case n.Over != nil:
			return nil, fail(n.At(), "UNSUPPORTED_EXPR_FOR_WINDOW", "%s is no aggregate and no window function", c.name)
		}
	}
	if c.f.lazy {
		if err := c.counted(len(n.Args)); err != nil {
			return nil, err
		}
		return c.f.bind(c)
	}
	args, err := c.bound(b, n.Args)
	if err != nil {
		return nil, err
	}
	return c.finish(args)
}

// inOrder puts arguments that are given by name at their places. Places that nothing is given for are NULL.
func (c *call) inOrder(n *parse.Call) (*parse.Call, error) {
	first := slices.IndexFunc(n.Args, func(a parse.Arg) bool { return a.Name != nil })
	if first < 0 {
		return n, nil
	}
	if c.f.named == nil {
		return nil, fail(n.At(), "NAMED_PARAMETERS_NOT_SUPPORTED", "%s takes no named arguments", c.name)
	}
	ordered := *n
	ordered.Args = append([]parse.Arg(nil), n.Args[:first]...)
	given := make([]*parse.Arg, len(c.f.named))
	for i := range n.Args[first:] {
		a := &n.Args[first+i]
		if a.Name == nil {
			return nil, fail(n.At(), "UNEXPECTED_POSITIONAL_ARGUMENT", "%s has an argument without a name behind one with a name", c.name)
		}
		at := slices.IndexFunc(c.f.named, func(name string) bool { return strings.EqualFold(name, a.Name.Name) })
		if at < 0 {
			err := fail(a.Name.Pos, "UNRECOGNIZED_PARAMETER_NAME", "%s has no argument called %s", c.name, a.Name.Name)
			if near := parse.Meant(a.Name.Name, c.f.named); near != "" {
				err.WithHint("did you mean %s?", near)
			}
			return nil, err
		}
		if at < first || given[at] != nil {
			return nil, fail(a.Name.Pos, "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT", "%s is given its argument %s twice", c.name, a.Name.Name)
		}
		given[at] = &parse.Arg{Expr: a.Expr}
	}
	last := len(given) - 1
	for last >= first && given[last] == nil {
		last--
	}
	for i := first; i <= last; i++ {
		if given[i] == nil {
			given[i] = &parse.Arg{Expr: &parse.Literal{Kind: parse.NullLiteral}}
		}
		ordered.Args = append(ordered.Args, *given[i])
	}
	c.node = &ordered
	return &ordered, nil
}

func unknownFunction(name string, at parse.Pos, d Dialect) error {
	err := fail(at, "UNRESOLVED_ROUTINE", "there is no function %s", name)
	if near := parse.Meant(name, Functions(d)); near != "" {
		err.WithHint("did you mean %s?", near)
	}
	return err
}

func dotted(name parse.Name) string {
	parts := make([]string, len(name))
	for i, p := range name {
		parts[i] = p.Name
	}
	return strings.Join(parts, ".")
}

// bound binds arguments in an environment, stars expanded.
func (c *call) bound(b *binder, args []parse.Arg) ([]Expr, error) {
	var out []Expr
	for _, a := range args {
		if s, ok := a.Expr.(*parse.Star); ok {
			columns, err := b.env.Stars(s)
			if err != nil {
				return nil, err
			}
			out = append(out, columns...)
			continue
		}
		e, err := b.bind(a.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// InsertedRow qualifies the columns of the row that an INSERT would add, as VALUES(c) names them in ON DUPLICATE KEY UPDATE.
const InsertedRow = "\x00values"

// inserted is MySQL's VALUES(c).
func (b *binder) inserted(n *parse.Call) (Expr, error) {
	if len(n.Args) == 1 {
		if c, ok := n.Args[0].Expr.(*parse.Column); ok {
			last := c.Name[len(c.Name)-1]
			if found, err := b.env.Resolve(parse.Name{{Name: InsertedRow, Quoted: true, Pos: last.Pos}, last}); err == nil {
				return found, nil
			}
		}
	}
	return nil, fail(n.At(), "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "VALUES(c) stands in ON DUPLICATE KEY UPDATE and names a column of the table")
}

// callOf binds a call that an operator stands for.
func (b *binder) callOf(name string, at parse.Pos, operands ...parse.Expr) (Expr, error) {
	args := make([]Expr, len(operands))
	for i, o := range operands {
		var err error
		if args[i], err = b.bind(o); err != nil {
			return nil, err
		}
	}
	return b.callBound(name, at, args...)
}

func (b *binder) callBound(name string, at parse.Pos, args ...Expr) (Expr, error) {
	c := &call{binder: b, at: at, name: name, f: lookup(name, b.ctx.Dialect)}
	if c.f == nil || c.f.lazy {
		return nil, protocol.NewError(protocol.ClassInternal, "%s is no function over bound values", name).At(at.Line, at.Column)
	}
	return c.finish(args)
}

// counted checks the number of arguments.
func (c *call) counted(n int) error {
	least, most := c.f.arity()
	if n >= least && (n <= most || most < 0) {
		return nil
	}
	want := fmt.Sprint(least)
	switch {
	case most < 0:
		want = fmt.Sprintf("%d or more", least)
	case most != least:
		want = fmt.Sprintf("%d to %d", least, most)
	}
	err := fail(c.at, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "%s takes %s arguments, not %d", c.name, want, n)
	if c.ctx.Dialect == MySQL && (c.f.kind != scalar || inGrammar[c.name]) {
		err.WithErrno(1064)
	}
	return err
}

// finish checks and converts bound arguments and makes the call's node.
func (c *call) finish(args []Expr) (Expr, error) {
	if err := c.counted(len(args)); err != nil {
		return nil, err
	}
	if err := c.comparesFiles(args); err != nil {
		return nil, err
	}
	c.args = make([]Expr, len(args))
	for i, a := range args {
		var err error
		if c.args[i], err = c.argument(i, a); err != nil {
			return nil, err
		}
	}
	if c.f.bind != nil {
		return c.f.bind(c)
	}
	least, _ := c.f.arity()
	sql := c.f.sql[min(len(args)-least, len(c.f.sql)-1)]
	return &Raw{Typed: Typed{c.f.out(c.args), !c.f.strict || anyNullable(c.args)}, SQL: spread(sql, len(args)), Args: c.args, Volatile: c.f.volatile}, nil
}

// spread replaces {*} and {1*} by the operands they stand for.
func spread(sql string, n int) string {
	for from := 0; from <= 2; from++ {
		mark := "{*}"
		if from > 0 {
			mark = fmt.Sprintf("{%d*}", from)
		}
		if !strings.Contains(sql, mark) {
			continue
		}
		var list []string
		for i := from; i < n; i++ {
			list = append(list, fmt.Sprintf("{%d}", i))
		}
		sql = strings.ReplaceAll(sql, mark, strings.Join(list, ", "))
	}
	return sql
}

// inGrammar are the functions whose arguments MySQL's own grammar counts, so that a wrong number is a syntax error (1064) there.
var inGrammar = wordSet("adddate ascii cast char charset coalesce collation convert curdate curtime current_user database date date_add date_sub day extract " +
	"format get_format hour if insert interval left microsecond minute mod month now password position quarter repeat replace reverse right row_count second " +
	"subdate substr substring sysdate time timestamp timestampadd timestampdiff trim truncate user utc_date utc_time utc_timestamp week weight_string year")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// argument converts argument i to what the function accepts.
func (c *call) argument(i int, e Expr) (Expr, error) {
	p := c.f.args[min(i, len(c.f.args)-1)]
	out, err := c.accept(e, p.accepts)
	if err != nil {
		return nil, mismatch(c.at, "UNEXPECTED_INPUT_TYPE", "argument %d of %s must be %s, not %s", i+1, c.name, p.accepts, e.Type())
	}
	return out, nil
}

var acceptedTypes = map[string]protocol.DataType{
	"string": tString, "int": tInt, "bigint": tLong, "double": tDouble, "boolean": tBoolean, "date": tDate, "timestamp": tTimestamp,
	"ntz": tNTZ, "binary": tBinary, "variant": tVariant,
}

var errNotAccepted = protocol.NewError("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "not accepted")

// accept makes an implicit cast of an argument.
func (c *call) accept(e Expr, what string) (Expr, error) {
	t := e.Type()
	if want, ok := acceptedTypes[what]; ok {
		if t.Kind == protocol.KindString && want.Kind == protocol.KindString {
			return e, nil
		}
		if c.ctx.Dialect == MySQL && !isNested(t) {
			return c.mysqlArgument(e, want)
		}
		if !implicit(t, want) {
			return nil, errNotAccepted
		}
		return convert(e, want, c.ctx, false)
	}
	switch what {
	case "any":
		return e, nil
	case "ordered":
		if !isOrderable(t) {
			return nil, errNotAccepted
		}
		return e, nil
	case "number":
		if isNumeric(t) {
			return exactly(e), nil
		}
		if t.Kind == protocol.KindVoid {
			return fromVoid(e, tDouble), nil
		}
		if c.ctx.Dialect == MySQL && !isNested(t) {
			return c.mysqlNumber(e, c.at)
		}
		if t.Kind == protocol.KindString {
			return convert(e, tDouble, c.ctx, false)
		}
	case "array":
		if t.Kind == protocol.KindArray {
			return e, nil
		}
		if t.Kind == protocol.KindVoid {
			return fromVoid(e, arrayOf(tVoid)), nil
		}
	case "map":
		if t.Kind == protocol.KindMap {
			return e, nil
		}
		if t.Kind == protocol.KindVoid {
			return fromVoid(e, mapOf(tString, tVoid)), nil
		}
	case "datetime": // a date or any timestamp, kept as it is; text becomes a timestamp
		if isDatetime(t) {
			return e, nil
		}
		if c.ctx.Dialect == MySQL {
			return c.mysqlArgument(e, tNTZ)
		}
		if t.Kind == protocol.KindString || t.Kind == protocol.KindVoid {
			return convert(e, tTimestamp, c.ctx, false)
		}
	case "bytes": // text or binary, kept as it is
		if t.Kind == protocol.KindBinary || t.Kind == protocol.KindString {
			return e, nil
		}
		return c.accept(e, "string")
	}
	return nil, errNotAccepted
}

// implicit tells whether Spark converts an argument of one type to another by itself.
func implicit(from, to protocol.DataType) bool {
	switch {
	case from.Kind == to.Kind, from.Kind == protocol.KindVoid, from.Kind == protocol.KindString && isAtomic(to):
		return true
	case to.Kind == protocol.KindString:
		return isAtomic(from)
	case isNumeric(from) && isNumeric(to):
		return true
	case isDatetime(from) && isDatetime(to):
		return true
	}
	return false
}
