package change

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// values binds VALUES. A cell that is DEFAULT becomes the column's default. Where the column is computed (generated, identity), a
// column that is DEFAULT in every row counts as not given; one that is DEFAULT in some gets a marker beside it.
func (b *binding) values(v *parse.Values, in *source) (*expr.Query, error) {
	in.width = len(v.Rows[0])
	for i, row := range v.Rows {
		if len(row) != in.width && b.mysql() {
			return nil, fail("INSERT_COLUMN_ARITY_MISMATCH", v.Pos, "row %d has %d values, the first has %d", i+1, len(row), in.width)
		}
	}
	rows, given, err := b.withoutDefaults(v, in)
	if err != nil {
		return nil, err
	}
	q, err := b.build.Values(&parse.Values{Pos: v.Pos, Rows: rows}, given)
	if err != nil && b.mysql() && strings.HasPrefix(string(protocol.ClassOf(err)), "UNRESOLVED_COLUMN") {
		if cells, again := b.earlier(rows, in, given); again == nil {
			return b.build.Table(cells, v)
		}
	}
	return q, err
}

// withoutDefaults gives the rows with every DEFAULT replaced by a name, and what the names stand for.
func (b *binding) withoutDefaults(v *parse.Values, in *source) ([][]parse.Expr, map[string]expr.Expr, error) {
	counts := make([]int, in.width)
	found := false
	for _, row := range v.Rows {
		for j, x := range row {
			if _, ok := x.(*parse.DefaultValue); ok && j < in.width {
				counts[j]++
				found = true
			}
		}
	}
	if !found {
		return v.Rows, nil, nil
	}
	given := map[string]expr.Expr{}
	rows := make([][]parse.Expr, len(v.Rows))
	for i, row := range v.Rows {
		rows[i] = append([]parse.Expr(nil), row...)
	}
	for j, n := range counts {
		if n == 0 || j >= len(in.targets) {
			continue // a width that does not fit the table is an error later on
		}
		f := b.schema.Fields[in.targets[j]]
		_, generated := b.generation(f)
		_, identity := b.identity(f)
		if identity && !b.mayGive(f) && !b.mysql() {
			return nil, nil, protocol.NewError("DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", "column `%s` of %s is GENERATED ALWAYS AS IDENTITY: not even DEFAULT can be given for it", f.Name, b.table.shown()).
				WithHint("leave the column out of the INSERT's column list")
		}
		var value expr.Expr = expr.Null(protocol.DataType{})
		if !generated && !identity {
			_, has := f.Metadata.CurrentDefault()
			if b.mysql() && !has && !f.Nullable {
				return nil, nil, b.withoutDefault(f)
			}
			var err error
			if value, err = b.defaultOf(f); err != nil {
				return nil, nil, err
			}
		} else if n == len(rows) {
			in.defaults[j] = true
		} else {
			in.markers[j], in.marked[j] = in.width+len(in.markers), int64(n)
			for i, row := range v.Rows {
				_, isDefault := row[j].(*parse.DefaultValue)
				rows[i] = append(rows[i], truth(isDefault))
			}
		}
		name := "\x00default" + strconv.Itoa(j)
		given[name] = value
		for i, row := range v.Rows {
			if _, ok := row[j].(*parse.DefaultValue); ok {
				rows[i][j] = &parse.Column{Name: parse.Name{{Name: name, Quoted: true}}}
			}
		}
	}
	return rows, given, nil
}

func truth(b bool) parse.Expr {
	if b {
		return &parse.Literal{Kind: parse.TrueLiteral}
	}
	return &parse.Literal{Kind: parse.FalseLiteral}
}

// earlier binds rows whose values name columns of the table, as MySQL allows: such a name is the value given to the column further
// left in the row, or else its default.
func (b *binding) earlier(rows [][]parse.Expr, in *source, given map[string]expr.Expr) ([][]expr.Expr, error) {
	before := make([]bind.Item, len(b.schema.Fields))
	for i, f := range b.schema.Fields {
		value, err := b.defaultOf(f)
		if err != nil {
			return nil, err
		}
		before[i] = bind.Item{Name: string(f.Name), Value: value}
	}
	out := make([][]expr.Expr, len(rows))
	for i, row := range rows {
		seen := append([]bind.Item(nil), before...)
		for j, x := range row {
			value, err := b.build.Given(x, bind.Named(seen, b.table.Name...), given)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], value)
			if j >= in.width || j >= len(in.targets) {
				continue
			}
			at := in.targets[j]
			if seen[at].Value, err = expr.Convert(value, b.schema.Fields[at].Type, b.build.Context(), false); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
