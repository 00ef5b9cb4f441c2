package bind

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func ftoa(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// float reads any number as a double.
func float(v protocol.Value) (float64, bool) {
	switch {
	case v.Null:
		return 0, false
	case v.Kind >= protocol.KindByte && v.Kind <= protocol.KindLong:
		return float64(v.Int), true
	case v.Kind == protocol.KindFloat || v.Kind == protocol.KindDouble:
		return v.Float, true
	case v.Kind == protocol.KindDecimal:
		f, err := strconv.ParseFloat(v.Dec.String(v.Scale), 64)
		return f, err == nil
	}
	return 0, false
}

// tableRef binds a name in FROM: a common table expression, or what the catalog has.
func (b *binder) tableRef(t *parse.TableRef, p place) (expr.From, *scope, error) {
	sample, err := b.sample(t.Sample, p)
	if err != nil {
		return nil, nil, err
	}
	if len(t.Name) == 1 {
		if cte := p.ctes.find(t.Name[0].Name); cte != nil {
			if t.AsOf != nil {
				return nil, nil, fail("UNSUPPORTED_FEATURE.TIME_TRAVEL", t.AsOf.Pos, "`%s` is a common table expression and has no versions", t.Name[0].Name)
			}
			r := b.relation(expr.RelCTE, t.Name[0].Name)
			r.CTE, r.Sample = cte, sample
			r.Columns = append([]expr.OutputColumn(nil), cte.Columns...)
			return b.aliased(r, t.Alias, []string{t.Name[0].Name})
		}
	}
	found, err := b.resolve(t, p)
	if err != nil {
		return nil, nil, err
	}
	path := found.Name
	if path == nil {
		for _, part := range t.Name {
			path = append(path, part.Name)
		}
		if len(path) == 1 && p.context.Database != "" {
			path = []string{p.context.Database, path[0]}
		}
	}
	r, err := b.resolved(found, bare(t.Name), t.Pos, p)
	if err != nil {
		return nil, nil, err
	}
	r.Sample = sample
	return b.aliased(r, t.Alias, path)
}

// resolved makes a relation of what the catalog found.
func (b *binder) resolved(found Resolved, name string, at parse.Pos, p place) (*expr.Relation, error) {
	switch {
	case found.Source != nil:
		r := b.relation(expr.RelScan, name)
		r.Columns = append([]expr.OutputColumn(nil), found.Source.Columns()...)
		for i, c := range r.Columns {
			if c.Out == "" {
				r.Columns[i].Out = c.Name
			}
		}
		r.Scan = &expr.Scan{Source: found.Source, Used: make([]bool, len(r.Columns))}
		return r, nil
	case found.View != nil:
		return b.view(found.View, name, at, p)
	case found.SQL != nil:
		r := b.relation(expr.RelSQL, name)
		r.SQL, r.Args = found.SQL.SQL, found.SQL.Args
		r.Columns = append([]expr.OutputColumn(nil), found.SQL.Columns...)
		return r, nil
	}
	return nil, protocol.NewError(protocol.ClassInternal, "the catalog gave nothing for %s", name)
}

// view inlines a view in its own database and dialect; it sees neither columns nor common table expressions of the query.
func (b *binder) view(v *View, name string, at parse.Pos, p place) (*expr.Relation, error) {
	for _, open := range p.views {
		if strings.EqualFold(open, v.Name) {
			return nil, fail("RECURSIVE_VIEW", at, "the view `%s` is defined by itself: %s", v.Name, strings.Join(append(p.views, v.Name), " -> "))
		}
	}
	if len(p.views) >= maxViews {
		return nil, fail("VIEW_EXCEED_MAX_NESTED_DEPTH", at, "views are nested more than %d deep at `%s`", maxViews, v.Name)
	}
	context := *p.context
	context.Dialect, context.PipesAsConcat = v.Dialect, v.PipesAsConcat
	if v.Database != "" {
		context.Database = v.Database
	}
	context.Param = nil
	q, err := b.query(v.Query, place{context: &context, stored: v.Database != "", views: append(append([]string(nil), p.views...), v.Name)})
	if err != nil {
		return nil, inView(err, v.Name, at)
	}
	r := b.derived(q, name)
	if v.Columns != nil {
		if len(v.Columns) != len(r.Columns) {
			return nil, fail("VIEW_COLUMN_ARITY_MISMATCH", at, "the view `%s` was made with %d columns, but its query now gives %d", v.Name, len(v.Columns), len(r.Columns)).
				WithHint("make the view again")
		}
		for i, column := range v.Columns {
			r.Columns[i].Name = column
		}
	}
	return r, nil
}

// inView says that a fault lies in a view's text, at the place where the statement names the view.
func inView(err error, view string, at parse.Pos) error {
	e, ok := err.(*protocol.Error)
	if !ok {
		return err
	}
	n := *e
	n.Message = "in the view `" + view + "`: " + e.Message
	n.Line, n.Column = at.Line, at.Column
	return &n
}

// versionSuffix is @v12 and @20260131235959000 behind a table's name.
var versionSuffix = regexp.MustCompile(`^(.+)@(?:v(\d{1,18})|(\d{17}))$`)

// resolve asks the catalog, with the moment of time travel. Only where no table has the whole name, a suffix is read as one.
func (b *binder) resolve(t *parse.TableRef, p place) (Resolved, error) {
	asOf, err := b.asOf(t.AsOf, p)
	if err != nil {
		return Resolved{}, err
	}
	found, err := b.table(t, asOf, p)
	if !Missing(err) {
		return found, err
	}
	last := t.Name[len(t.Name)-1]
	m := versionSuffix.FindStringSubmatch(last.Name)
	if m == nil {
		return found, located(err, t.Pos)
	}
	if asOf != nil {
		return found, fail("DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS", t.Pos, "the version of %s is given both in its name and by a clause", spelled(t.Name))
	}
	suffix := &AsOf{Pos: last.Pos}
	if m[2] != "" {
		version, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			return found, fail("DELTA_INVALID_TIMESTAMP_FORMAT", last.Pos, "@v%s is no version", m[2])
		}
		suffix.Version = &version
	} else {
		zone, err := expr.Zone(p.context.TimeZone)
		if err != nil {
			return found, err
		}
		moment, err := time.ParseInLocation("20060102150405.000", m[3][:14]+"."+m[3][14:], zone)
		if err != nil {
			return found, fail("DELTA_INVALID_TIMESTAMP_FORMAT", last.Pos, "@%s is no time of the form yyyyMMddHHmmssSSS", m[3])
		}
		micros := moment.UnixMicro()
		suffix.Timestamp = &micros
	}
	stripped := *t
	stripped.Name = append(append(parse.Name(nil), t.Name[:len(t.Name)-1]...), parse.Ident{Name: m[1], Quoted: last.Quoted, Pos: last.Pos})
	found, err = b.table(&stripped, suffix, p)
	return found, err
}

// table asks the catalog. Inside a stored view a bare name belongs to the view's database.
func (b *binder) table(t *parse.TableRef, asOf *AsOf, p place) (Resolved, error) {
	if b.opts.Catalog == nil {
		return Resolved{}, fail("TABLE_OR_VIEW_NOT_FOUND", t.Pos, "the table or view %s cannot be found", spelled(t.Name))
	}
	if p.stored && len(t.Name) == 1 && p.context.Database != "" {
		full := *t
		full.Name = parse.Name{{Name: p.context.Database, Quoted: true, Pos: t.Name[0].Pos}, t.Name[0]}
		t = &full
	}
	ctx := b.ctx
	if p.stored {
		ctx = context.WithValue(ctx, storedView{}, true)
	}
	found, err := b.opts.Catalog.Table(ctx, t, asOf)
	if err != nil {
		return found, located(err, t.Pos)
	}
	if asOf != nil && found.View != nil {
		return found, fail("UNSUPPORTED_FEATURE.TIME_TRAVEL", asOf.Pos, "%s is a view and has no versions", spelled(t.Name)).
			WithHint("travel in time on the tables of its query")
	}
	if asOf != nil && found.SQL != nil {
		return found, fail("UNSUPPORTED_FEATURE.TIME_TRAVEL", asOf.Pos, "%s is no Delta table and has no versions", spelled(t.Name))
	}
	return found, nil
}

// asOf folds a time travel clause. Its operand is constant: columns and session variables are refused, so that the version
// a text reads does not depend on what is outside of it.
func (b *binder) asOf(a *parse.AsOf, p place) (*AsOf, error) {
	if a == nil {
		return nil, nil
	}
	context := *p.context
	context.Variable = func(scope, name string) (protocol.Value, protocol.DataType, error) {
		return protocol.Value{}, protocol.DataType{}, protocol.NewError("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.UNEVALUABLE", "the variable %s cannot stand in a time travel clause", name)
	}
	p.context, p.outer = &context, nil
	e := b.constants(p)
	operand := a.Version
	for _, x := range []parse.Expr{a.Timestamp, a.Either} {
		if x != nil {
			operand = x
		}
	}
	bound, err := expr.Bind(e, operand)
	if err != nil {
		return nil, err
	}
	if volatile(bound) {
		return nil, fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.NON_DETERMINISTIC", operand.At(), "a time travel clause must be deterministic")
	}
	isVersion := a.Version != nil
	if a.Either != nil {
		kind := bound.Type().Kind
		isVersion = kind >= protocol.KindByte && kind <= protocol.KindLong
	}
	if isVersion {
		return b.version(bound, operand.At())
	}
	return b.timestamp(e, bound, operand.At())
}

func (b *binder) version(bound expr.Expr, at parse.Pos) (*AsOf, error) {
	value, err := b.fold(bound, at)
	if err != nil {
		return nil, located(err, at)
	}
	n, ok := wholeNumber(value)
	if value.Kind == protocol.KindString && !value.Null {
		n, err = strconv.ParseInt(strings.TrimSpace(value.Str), 10, 64)
		ok = err == nil
	}
	if !ok {
		return nil, fail("INVALID_TIME_TRAVEL_SPEC", at, "VERSION AS OF needs a whole number, not a value of type %s", bound.Type())
	}
	return &AsOf{Version: &n, Pos: at}, nil
}

func (b *binder) timestamp(e *env, bound expr.Expr, at parse.Pos) (*AsOf, error) {
	invalid := func(shown string) error {
		return fail("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT", at, "%s is no time: it cannot be cast to TIMESTAMP", shown)
	}
	switch bound.Type().Kind {
	case protocol.KindString, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
	default:
		return nil, invalid("a value of type " + bound.Type().String())
	}
	instant := protocol.DataType{Kind: protocol.KindTimestamp}
	cast, err := expr.Bind(e.with(map[string]expr.Expr{"\x00t": bound}), &parse.Cast{Try: true, Operand: synthetic("\x00t"), Type: parse.TypeName{Type: instant, Length: -1, Digits: -1}})
	if err != nil {
		return nil, invalid("the operand")
	}
	value, err := b.fold(cast, at)
	if err != nil {
		return nil, located(err, at)
	}
	if value.Null {
		shown := "the operand"
		if l, ok := bound.(*expr.Literal); ok && l.Value.Kind == protocol.KindString {
			shown = strconv.Quote(l.Value.Str)
		}
		return nil, invalid(shown)
	}
	micros := value.Int
	return &AsOf{Timestamp: &micros, Pos: at}, nil
}
