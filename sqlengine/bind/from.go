package bind

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// from binds a FROM item. Lateral is what LATERAL items may see: the items to their left.
func (b *binder) from(f parse.From, p place, lateral *scope) (expr.From, *scope, error) {
	switch f := f.(type) {
	case *parse.TableRef:
		return b.tableRef(f, p)
	case *parse.Join:
		if err := b.enter(f.Pos); err != nil {
			return nil, nil, err
		}
		defer b.leave()
		return b.join(f, p, lateral)
	case *parse.DerivedTable:
		return b.derivedTable(f, p, lateral)
	case *parse.TableFunction:
		return b.tableFunction(f, p, lateral)
	case *parse.JSONTable:
		return b.jsonTable(f, p, lateral)
	case *parse.Pivot:
		return b.pivot(f, p, lateral)
	case *parse.Unpivot:
		return b.unpivot(f, p, lateral)
	}
	return nil, nil, protocol.NewError(protocol.ClassInternal, "FROM item %T", f)
}

// sees is the scope of a lateral item: what stands to its left, then the enclosing query.
func sees(p place, lateral *scope) place {
	if lateral != nil {
		p.outer = lateral
	}
	return p
}

var joinWords = [...]string{
	parse.JoinInner: "INNER", parse.JoinCross: "CROSS", parse.JoinLeft: "LEFT", parse.JoinRight: "RIGHT",
	parse.JoinFull: "FULL", parse.JoinLeftSemi: "SEMI", parse.JoinLeftAnti: "ANTI",
}

// join binds a join and merges the scopes of its sides.
func (b *binder) join(j *parse.Join, p place, lateral *scope) (expr.From, *scope, error) {
	left, ls, err := b.from(j.Left, p, lateral)
	if err != nil {
		return nil, nil, err
	}
	behind := p.outer
	if lateral != nil {
		behind = lateral
	}
	right, rs, err := b.from(j.Right, p, ls.under(behind))
	if err != nil {
		return nil, nil, err
	}
	out := &expr.Join{Kind: joinWords[j.Kind], Left: left, Right: right}
	both := beside(ls, rs)
	if j.Natural || len(j.Using) > 0 {
		sc, err := b.using(j, out, ls, rs, p)
		return out, sc, err
	}
	if j.On != nil {
		// ON sees its own two sides, not what stands to the left of the join.
		e := &env{b: b, place: p, scope: both.under(p.outer), clause: clauseFrom}
		if out.On, err = e.condition(j.On); err != nil {
			return nil, nil, err
		}
		if out.Kind == "CROSS" {
			out.Kind = "INNER"
		}
	} else if out.Kind == "INNER" {
		out.Kind = "CROSS"
	} else if out.Kind != "CROSS" {
		out.On = literalTrue()
	}
	switch j.Kind {
	case parse.JoinLeft:
		return out, beside(ls, rs.nullable()), nil
	case parse.JoinRight:
		return out, beside(ls.nullable(), rs), nil
	case parse.JoinFull:
		return out, beside(ls.nullable(), rs.nullable()), nil
	case parse.JoinLeftSemi, parse.JoinLeftAnti:
		return out, ls, nil
	}
	return out, both, nil
}

func literalTrue() expr.Expr {
	return &expr.Literal{Typed: booleanTyped(false), Value: protocol.Value{Kind: protocol.KindBoolean, Int: 1}}
}

// using binds JOIN ... USING and NATURAL JOIN. The merged columns come first, then the rest of the left side, then the rest of
// the right side; MySQL keeps the order of the first table and begins with the right side in a RIGHT JOIN. Both sides' own
// columns stay reachable by their table's name.
func (b *binder) using(j *parse.Join, out *expr.Join, ls, rs *scope, p place) (*scope, error) {
	mysql := p.context.Dialect == expr.MySQL
	first, second := ls, rs
	if mysql && j.Kind == parse.JoinRight {
		first, second = rs, ls
	}
	names := j.Using
	if j.Natural {
		for _, c := range visible(first.columns) {
			if len(named(visible(second.columns), c.name)) > 0 {
				names = append(names, parse.Ident{Name: c.name, Pos: j.Pos})
			}
		}
	}
	if out.Kind == "CROSS" && len(names) > 0 {
		out.Kind = "INNER"
	}
	lk, rk := ls, rs
	if j.Kind == parse.JoinRight || j.Kind == parse.JoinFull {
		lk = ls.nullable()
	}
	if j.Kind == parse.JoinLeft || j.Kind == parse.JoinFull {
		rk = rs.nullable()
	}
	merged := make([]column, len(names))
	for i, name := range names {
		l, err := usingColumn(ls, name, "left")
		if err != nil {
			return nil, err
		}
		r, err := usingColumn(rs, name, "right")
		if err != nil {
			return nil, err
		}
		e := (&env{b: b, place: p, scope: &scope{}, clause: clauseFrom}).with(map[string]expr.Expr{"\x00l": l.value, "\x00r": r.value})
		equal, err := e.condition(&parse.Binary{Op: "=", Left: synthetic("\x00l"), Right: synthetic("\x00r")})
		if err != nil {
			return nil, located(err, name.Pos)
		}
		out.On = and(out.On, equal)
		merged[i] = column{name: l.name, value: l.value}
		switch j.Kind {
		case parse.JoinRight:
			merged[i] = column{name: r.name, value: r.value}
		case parse.JoinFull:
			if merged[i].value, err = coalesced(asNullable(l.value), asNullable(r.value), p.context); err != nil {
				return nil, located(err, name.Pos)
			}
		}
	}
	if out.On == nil && out.Kind != "CROSS" {
		if out.Kind == "INNER" {
			out.Kind = "CROSS"
		} else {
			out.On = literalTrue()
		}
	}
	firstKept, secondKept := lk, rk
	if first == rs {
		firstKept, secondKept = rk, lk
	}
	taken := func(name string) int {
		for i, m := range merged {
			if strings.EqualFold(m.name, name) {
				return i
			}
		}
		return -1
	}
	sc := &scope{tables: append(append([]*table(nil), lk.tables...), rk.tables...)}
	if mysql {
		for _, c := range first.columns {
			if i := taken(c.name); i >= 0 && !c.hidden {
				sc.columns = append(sc.columns, merged[i])
			}
		}
	} else {
		sc.columns = append(sc.columns, merged...)
	}
	rest := func(s *scope) {
		for _, c := range s.columns {
			if taken(c.name) < 0 || c.hidden {
				sc.columns = append(sc.columns, c)
			}
		}
	}
	rest(firstKept)
	if j.Kind != parse.JoinLeftSemi && j.Kind != parse.JoinLeftAnti {
		rest(secondKept)
	} else {
		sc.tables = lk.tables
	}
	return sc, nil
}

// usingColumn finds one side's column of USING.
func usingColumn(s *scope, name parse.Ident, side string) (column, error) {
	found := named(visible(s.columns), name.Name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return column{}, fail("UNRESOLVED_USING_COLUMN_FOR_JOIN", name.Pos, "USING column `%s` cannot be found on the %s side of the join", name.Name, side).
			WithHint("%s", suggestion(name.Name, columnNames(s)))
	}
	return column{}, ambiguous(parse.Name{name}, s)
}

func columnNames(s *scope) []string {
	var names []string
	for _, c := range visible(s.columns) {
		names = append(names, c.name)
	}
	return names
}

// coalesced is the merged column of a full join: whichever side is there.
func coalesced(l, r expr.Expr, ctx *expr.Context) (expr.Expr, error) {
	t, err := expr.CommonType(l.Type(), r.Type(), ctx)
	if err != nil {
		return nil, err
	}
	both, err := coerceAll([]expr.Expr{l, r}, []protocol.DataType{t, t}, ctx)
	if err != nil {
		return nil, err
	}
	return &expr.Raw{Typed: expr.Typed{Of: t, Null: true}, SQL: "coalesce({0}, {1})", Args: both}, nil
}

// derivedTable binds a subquery in FROM.
func (b *binder) derivedTable(d *parse.DerivedTable, p place, lateral *scope) (expr.From, *scope, error) {
	if d.Alias == nil && p.context.Dialect == expr.MySQL {
		return nil, nil, fail("DELTASQL_DERIVED_TABLE_WITHOUT_ALIAS", d.Pos, "a subquery in FROM needs an alias")
	}
	inner := p
	if d.Lateral {
		inner = sees(p, lateral)
	}
	q, err := b.query(d.Query, inner)
	if err != nil {
		return nil, nil, err
	}
	r := b.derived(q, aliasName(d.Alias))
	r.Lateral = d.Lateral
	if r.Sample, err = b.sample(d.Sample, p); err != nil {
		return nil, nil, err
	}
	return b.aliased(r, d.Alias, nil)
}

func aliasName(a *parse.Alias) string {
	if a == nil {
		return ""
	}
	return a.Name.Name
}

// aliased gives a relation its name and, where the alias lists them, its columns' names.
func (b *binder) aliased(r *expr.Relation, a *parse.Alias, path []string) (expr.From, *scope, error) {
	if a == nil {
		return r, relationScope(r, path), nil
	}
	if err := rename(r.Columns, a.Columns, a.Name.Name, a.Name.Pos); err != nil {
		return nil, nil, err
	}
	r.Name = a.Name.Name
	return r, relationScope(r, []string{a.Name.Name}), nil
}

// rename gives columns the names of an alias list.
func rename(columns []expr.OutputColumn, names []parse.Ident, what string, at parse.Pos) error {
	if len(names) == 0 {
		return nil
	}
	shown := 0
	for i := range columns {
		if columns[i].Hidden {
			continue
		}
		if shown < len(names) {
			columns[i].Name = names[shown].Name
		}
		shown++
	}
	if shown != len(names) {
		return fail("NUM_TABLE_VALUE_ALIASES_MISMATCH", at, "`%s` has %d columns, but %d names are given", what, shown, len(names))
	}
	return nil
}

// sample writes DuckDB's TABLESAMPLE clause. A percentage takes rows independently, a number of rows is exact.
func (b *binder) sample(s *parse.Sample, p place) (string, error) {
	if s == nil {
		return "", nil
	}
	number := func(x parse.Expr) (protocol.Value, error) {
		bound, err := expr.Bind(b.constants(p), x)
		if err != nil {
			return protocol.Value{}, err
		}
		return b.fold(bound, x.At())
	}
	seed := ""
	if s.Seed != nil {
		v, err := number(s.Seed)
		if err != nil {
			return "", err
		}
		n, ok := wholeNumber(v)
		if !ok {
			return "", fail("INVALID_PARAMETER_VALUE", s.Seed.At(), "the seed of TABLESAMPLE must be a whole number")
		}
		seed = " REPEATABLE (" + itoa(n&0x7fffffff) + ")"
	}
	if s.Rows != nil {
		v, err := number(s.Rows)
		if err != nil {
			return "", err
		}
		n, ok := wholeNumber(v)
		if !ok || n < 0 {
			return "", fail("INVALID_PARAMETER_VALUE", s.Rows.At(), "TABLESAMPLE needs a whole number of rows")
		}
		return "TABLESAMPLE reservoir(" + itoa(n) + " ROWS)" + seed, nil
	}
	v, err := number(s.Percent)
	if err != nil {
		return "", err
	}
	percent, ok := float(v)
	if !ok || percent < 0 || percent > 100 {
		return "", fail("INVALID_PARAMETER_VALUE", s.Percent.At(), "TABLESAMPLE needs a percentage between 0 and 100")
	}
	return "TABLESAMPLE bernoulli(" + ftoa(percent) + " PERCENT)" + seed, nil
}
