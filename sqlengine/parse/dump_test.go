package parse

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// dump writes a tree as an S-expression: names as they are (quoted ones in back quotes), strings in quotes, everything
// else in parentheses with its kind first. Positions are left out.
func dump(node any) string {
	switch n := node.(type) {
	case nil:
		return "_"
	case *QueryStatement:
		if n.Into != nil {
			return form("into", strings.Join(n.Into, " "), dump(n.Query))
		}
		return dump(n.Query)
	case *Query:
		return dumpQuery(n)
	case *Select:
		return dumpSelect(n)
	case *SetOperation:
		op := []string{"union", "intersect", "except"}[n.Op]
		if n.All {
			op += "-all"
		}
		if n.ByName {
			op += "-by-name"
		}
		return form(op, dump(n.Left), dump(n.Right))
	case *Values:
		parts := []string{}
		for _, row := range n.Rows {
			parts = append(parts, "["+dumpExprs(row)+"]")
		}
		return form("values", parts...)
	case *TableBody:
		return form("table", dumpFrom(n.Table))
	case *NestedQuery:
		return form("nested", dump(n.Query))
	case Expr:
		if reflect.ValueOf(n).IsNil() {
			return "_"
		}
		return dumpExpr(n)
	case From:
		return dumpFrom(n)
	case Name:
		return dumpName(n)
	case Ident:
		return dumpName(Name{n})
	}
	return dumpFields(node)
}

func form(head string, parts ...string) string {
	text := "(" + head
	for _, part := range parts {
		if part != "" {
			text += " " + part
		}
	}
	return text + ")"
}

func dumpName(name Name) string {
	parts := []string{}
	for _, i := range name {
		if i.Quoted {
			parts = append(parts, "`"+i.Name+"`")
		} else {
			parts = append(parts, i.Name)
		}
	}
	return strings.Join(parts, ".")
}

func dumpIdents(list []Ident) string {
	parts := []string{}
	for _, i := range list {
		parts = append(parts, dumpName(Name{i}))
	}
	return strings.Join(parts, " ")
}

func dumpExprs(list []Expr) string {
	parts := []string{}
	for _, e := range list {
		parts = append(parts, dumpExpr(e))
	}
	return strings.Join(parts, " ")
}

func optional(head string, e Expr) string {
	if e == nil {
		return ""
	}
	return form(head, dumpExpr(e))
}

func dumpQuery(q *Query) string {
	parts := []string{}
	for _, c := range q.With {
		cte := form("cte", dumpName(Name{c.Name}), dumpIdents(c.Columns), dumpQuery(c.Query))
		if q.Recursive {
			cte = "recursive" + cte
		}
		parts = append(parts, cte)
	}
	body := dump(q.Body)
	tail := []string{}
	if q.OrderBy != nil {
		head := "order"
		if q.SortBy {
			head = "sort"
		}
		tail = append(tail, form(head, dumpOrder(q.OrderBy)))
	}
	if q.OrderAll {
		tail = append(tail, "(order all)")
	}
	tail = append(tail, optional("limit", q.Limit), optional("offset", q.Offset))
	if strings.Join(tail, "") == "" && len(parts) == 0 {
		return body
	}
	return form("query", append(append(parts, body), tail...)...)
}

func dumpOrder(items []OrderItem) string {
	parts := []string{}
	for _, o := range items {
		text := dumpExpr(o.Expr)
		if o.Desc {
			text += " desc"
		}
		if o.NullsFirst != nil {
			text += map[bool]string{true: " nulls-first", false: " nulls-last"}[*o.NullsFirst]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func dumpItem(i SelectItem) string {
	text := dumpExpr(i.Expr)
	if i.Alias != nil {
		return form("as", dumpName(Name{*i.Alias}), text)
	}
	if i.Columns != nil {
		return form("as", "["+dumpIdents(i.Columns)+"]", text)
	}
	return text
}

func dumpSelect(s *Select) string {
	head := "select"
	if s.Distinct {
		head += "-distinct"
	}
	parts := []string{}
	if s.DistinctOn != nil {
		parts = append(parts, form("on", dumpExprs(s.DistinctOn)))
	}
	for _, i := range s.Items {
		parts = append(parts, dumpItem(i))
	}
	if s.From != nil {
		parts = append(parts, form("from", dumpFrom(s.From)))
	}
	for _, v := range s.LateralViews {
		view := form("view", dumpName(v.Name), dumpArgs(v.Args))
		if v.Outer {
			view += "outer"
		}
		if v.Table != nil {
			view += ":" + v.Table.Name
		}
		parts = append(parts, view+"["+dumpIdents(v.Columns)+"]")
	}
	parts = append(parts, optional("where", s.Where))
	if g := s.GroupBy; g != nil {
		group := []string{}
		if g.All {
			group = append(group, "all")
		}
		for _, e := range g.Elements {
			if e.Kind == GroupExpr {
				group = append(group, dumpExpr(e.Expr))
				continue
			}
			sets := []string{}
			for _, set := range e.Sets {
				sets = append(sets, "["+dumpExprs(set)+"]")
			}
			group = append(group, form([]string{"", "rollup", "cube", "sets"}[e.Kind], sets...))
		}
		if g.WithRollup {
			group = append(group, "with-rollup")
		}
		if g.WithCube {
			group = append(group, "with-cube")
		}
		parts = append(parts, form("group", group...))
	}
	parts = append(parts, optional("having", s.Having), optional("qualify", s.Qualify))
	for _, w := range s.Windows {
		parts = append(parts, form("window", w.Name.Name, dumpWindow(&w.Spec)))
	}
	return form(head, parts...)
}

func dumpWindow(w *WindowSpec) string {
	parts := []string{}
	if w.Base != nil {
		parts = append(parts, w.Base.Name)
	}
	if w.PartitionBy != nil {
		parts = append(parts, form("partition", dumpExprs(w.PartitionBy)))
	}
	if w.OrderBy != nil {
		parts = append(parts, form("order", dumpOrder(w.OrderBy)))
	}
	if f := w.Frame; f != nil {
		bound := func(b FrameBound) string {
			return []string{"<<", "<" + dump(b.Offset), "=", ">" + dump(b.Offset), ">>"}[b.Kind]
		}
		parts = append(parts, form([]string{"rows", "range", "groups"}[f.Unit], bound(f.Start), bound(f.End), f.Exclude))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func dumpAlias(a *Alias) string {
	if a == nil {
		return ""
	}
	text := ":" + dumpName(Name{a.Name})
	if a.Columns != nil {
		text += "[" + dumpIdents(a.Columns) + "]"
	}
	return text
}

func dumpAsOf(a *AsOf) string {
	if a == nil {
		return ""
	}
	switch {
	case a.Version != nil:
		return "@version=" + dumpExpr(a.Version)
	case a.Timestamp != nil:
		return "@timestamp=" + dumpExpr(a.Timestamp)
	}
	return "@" + dumpExpr(a.Either)
}

func dumpSample(s *Sample) string {
	if s == nil {
		return ""
	}
	return form("sample", optional("percent", s.Percent), optional("rows", s.Rows), optional("seed", s.Seed))
}

func dumpFrom(f From) string {
	switch f := f.(type) {
	case *TableRef:
		return dumpName(f.Name) + dumpAsOf(f.AsOf) + dumpSample(f.Sample) + dumpAlias(f.Alias)
	case *Join:
		head := []string{"join", "cross", "left", "right", "full", "semi", "anti"}[f.Kind]
		if f.Comma {
			head = ","
		}
		if f.Natural {
			head = "natural-" + head
		}
		using := ""
		if f.Using != nil {
			using = form("using", dumpIdents(f.Using))
		}
		return form(head, dumpFrom(f.Left), dumpFrom(f.Right), optional("on", f.On), using)
	case *DerivedTable:
		text := "<" + dumpQuery(f.Query) + ">" + dumpSample(f.Sample) + dumpAlias(f.Alias)
		if f.Lateral {
			text = "lateral" + text
		}
		return text
	case *TableFunction:
		text := form("call", dumpName(f.Name), dumpArgs(f.Args)) + dumpAlias(f.Alias)
		if f.Lateral {
			text = "lateral" + text
		}
		return text
	case *JSONTable:
		return form("json-table", dumpExpr(f.Doc), dumpExpr(f.Path), dumpJSONColumns(f.Columns)) + dumpAlias(f.Alias)
	case *Pivot:
		values := []string{}
		for _, v := range f.Values {
			values = append(values, dumpItem(SelectItem{Expr: v.Expr, Alias: v.Alias}))
		}
		items := []string{}
		for _, a := range f.Aggregates {
			items = append(items, dumpItem(a))
		}
		return form("pivot", dumpFrom(f.Input), "["+strings.Join(items, " ")+"]", "["+dumpExprs(f.Columns)+"]", "["+strings.Join(values, " ")+"]") + dumpAlias(f.Alias)
	case *Unpivot:
		columns := []string{}
		for _, c := range f.Columns {
			names := []string{}
			for _, n := range c.Columns {
				names = append(names, dumpName(n))
			}
			text := strings.Join(names, "+")
			if c.Alias != nil {
				text += ":" + c.Alias.Name
			}
			columns = append(columns, text)
		}
		head := "unpivot"
		if f.IncludeNulls {
			head += "-nulls"
		}
		return form(head, dumpFrom(f.Input), "["+dumpIdents(f.Values)+"]", f.Name.Name, "["+strings.Join(columns, " ")+"]") + dumpAlias(f.Alias)
	}
	return fmt.Sprintf("?%T", f)
}

func dumpJSONColumns(columns []JSONColumn) string {
	parts := []string{}
	for _, c := range columns {
		switch {
		case c.Ordinality:
			parts = append(parts, form(c.Name.Name, "ordinality"))
		case c.Nested != nil:
			parts = append(parts, form("nested", dumpExpr(c.Path), dumpJSONColumns(c.Nested)))
		default:
			exists := ""
			if c.Exists {
				exists = "exists"
			}
			parts = append(parts, form(c.Name.Name, dumpType(c.Type), exists, dumpExpr(c.Path), optional("empty", c.OnEmpty), optional("error", c.OnError)))
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func dumpArgs(args []Arg) string {
	parts := []string{}
	for _, a := range args {
		text := dumpExpr(a.Expr)
		if a.Name != nil {
			text = a.Name.Name + "=>" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func dumpType(t TypeName) string {
	text := t.Type.String()
	if t.MySQL != "" {
		text += "/" + t.MySQL
	}
	if t.Length >= 0 {
		text += "(" + strconv.Itoa(t.Length) + ")"
	}
	if t.Fixed {
		text += "!"
	}
	if t.Digits >= 0 {
		text += "." + strconv.Itoa(t.Digits)
	}
	if t.CharVarchar != "" && t.Type.Kind != protocol.KindString {
		text += "=" + t.CharVarchar
	}
	if t.Type.Collation != "" {
		text += " collate " + t.Type.Collation
	}
	for _, value := range t.Values {
		text += " " + strconv.Quote(value)
	}
	return text
}

func not(is bool) string {
	if is {
		return "not-"
	}
	return ""
}

func dumpExpr(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		switch e.Kind {
		case NullLiteral:
			return "null"
		case TrueLiteral:
			return "true"
		case FalseLiteral:
			return "false"
		case IntegerLiteral:
			return e.Text + e.Suffix
		case DecimalLiteral:
			return e.Text + "m" + e.Suffix
		case DoubleLiteral:
			return e.Text + "d" + e.Suffix
		case StringLiteral:
			return strconv.Quote(e.Text)
		}
		return []string{"x", "b", "date", "time", "timestamp", "ntz", "ltz"}[e.Kind-BinaryLiteral] + strconv.Quote(e.Text)
	case *Interval:
		parts := []string{}
		for _, i := range e.Parts {
			text := dumpExpr(i.Value) + " " + i.Unit
			if i.To != "" {
				text += "-" + i.To
			}
			parts = append(parts, strings.TrimSpace(text))
		}
		return form("interval", parts...)
	case *Column:
		return dumpName(e.Name)
	case *Star:
		text := "*"
		if e.Qualifier != nil {
			text = dumpName(e.Qualifier) + ".*"
		}
		for _, n := range e.Except {
			text += "-" + dumpName(n)
		}
		for _, r := range e.Replace {
			text += "+" + dumpItem(r)
		}
		return text
	case *Unary:
		return form(e.Op, dumpExpr(e.Operand))
	case *Binary:
		return form(e.Op, dumpExpr(e.Left), dumpExpr(e.Right))
	case *Between:
		return form(not(e.Not)+"between", dumpExpr(e.Operand), dumpExpr(e.Low), dumpExpr(e.High))
	case *In:
		if e.Query != nil {
			return form(not(e.Not)+"in", dumpExpr(e.Operand), dumpQuery(e.Query))
		}
		return form(not(e.Not)+"in", dumpExpr(e.Operand), "["+dumpExprs(e.List)+"]")
	case *Like:
		head := not(e.Not) + strings.ToLower(e.Op)
		if e.Quantifier != "" {
			head += "-" + strings.ToLower(e.Quantifier)
		}
		return form(head, dumpExpr(e.Operand), dumpExprs(e.Patterns), optional("escape", e.Escape))
	case *Is:
		return form("is-"+not(e.Not)+strings.ToLower(e.What), dumpExpr(e.Operand))
	case *IsDistinct:
		return form("is-"+not(e.Not)+"distinct", dumpExpr(e.Left), dumpExpr(e.Right))
	case *Case:
		parts := []string{}
		if e.Operand != nil {
			parts = append(parts, dumpExpr(e.Operand))
		}
		for _, w := range e.Whens {
			parts = append(parts, form("when", dumpExpr(w.Condition), dumpExpr(w.Result)))
		}
		return form("case", append(parts, optional("else", e.Else))...)
	case *Cast:
		head := "cast"
		if e.Try {
			head = "try-cast"
		}
		return form(head, dumpExpr(e.Operand), dumpType(e.Type))
	case *Call:
		return dumpCall(e)
	case *Lambda:
		return form("lambda", "["+dumpIdents(e.Params)+"]", dumpExpr(e.Body))
	case *Subquery:
		return form("subquery", dumpQuery(e.Query))
	case *Exists:
		return form("exists", dumpQuery(e.Query))
	case *Quantified:
		return form(e.Op+map[bool]string{true: "all", false: "any"}[e.All], dumpExpr(e.Operand), dumpQuery(e.Query))
	case *Field:
		return form(".", dumpExpr(e.Operand), dumpName(Name{e.Name}))
	case *Index:
		return form("index", dumpExpr(e.Operand), dumpExpr(e.Index))
	case *VariantPath:
		steps := ""
		for _, s := range e.Steps {
			switch {
			case s.Index != nil:
				steps += "[" + dumpExpr(s.Index) + "]"
			case s.Quoted:
				steps += ".`" + s.Name + "`"
			default:
				steps += "." + s.Name
			}
		}
		return form("path", dumpExpr(e.Operand), steps)
	case *Tuple:
		return form("row", dumpExprs(e.Items))
	case *Param:
		if e.Name != "" {
			return ":" + e.Name
		}
		return "?" + strconv.Itoa(e.Index)
	case *Variable:
		return form("var", e.Scope, e.Name)
	case *Assign:
		return form(":=", e.Variable, dumpExpr(e.Value))
	case *Collate:
		return form("collate", dumpExpr(e.Operand), dumpName(e.Collation))
	case *DefaultValue:
		return "DEFAULT"
	}
	return fmt.Sprintf("?%T", e)
}

func dumpCall(c *Call) string {
	parts := []string{}
	if c.Distinct {
		parts = append(parts, "distinct")
	}
	parts = append(parts, dumpArgs(c.Args))
	if c.OrderBy != nil {
		parts = append(parts, form("order", dumpOrder(c.OrderBy)))
	}
	parts = append(parts, optional("separator", c.Separator))
	if c.WithinGroup != nil {
		parts = append(parts, form("within", dumpOrder(c.WithinGroup)))
	}
	parts = append(parts, optional("filter", c.Filter))
	if c.IgnoreNulls != nil {
		parts = append(parts, map[bool]string{true: "ignore-nulls", false: "respect-nulls"}[*c.IgnoreNulls])
	}
	if c.Over != nil {
		parts = append(parts, "over"+dumpWindow(c.Over))
	}
	return form(dumpName(c.Name), parts...)
}

// dumpFields writes the fields of a statement or of a part of one that are set, in order.
func dumpFields(node any) string {
	v := reflect.Indirect(reflect.ValueOf(node))
	parts := []string{}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if field := v.Field(i); name == "Pos" || name == "span" || field.IsZero() {
			continue
		} else if field.Kind() == reflect.Bool {
			parts = append(parts, strings.ToLower(name))
		} else {
			parts = append(parts, strings.ToLower(name)+"="+dumpField(field))
		}
	}
	return form(v.Type().Name(), parts...)
}

// dumpField writes a field's value.
func dumpField(field reflect.Value) string {
	switch value := field.Interface().(type) {
	case string:
		return strconv.Quote(value)
	case *string:
		return strconv.Quote(*value)
	case *int64:
		return strconv.FormatInt(*value, 10)
	case *AsOf:
		return dumpAsOf(value)
	case *TypeName:
		return dumpType(*value)
	case *Alias:
		return dumpAlias(value)
	case Text:
		return dump(value.Expr) + "~" + strconv.Quote(value.Text)
	case *Text:
		return dump(value.Expr) + "~" + strconv.Quote(value.Text)
	case Name, Expr, From, *Query, Statement:
		return dump(value)
	case Ident:
		return dumpName(Name{value})
	case *Ident:
		return dumpName(Name{*value})
	case SetItem:
		return dumpName(value.Target) + "=" + dump(value.Value)
	case SelectItem:
		return dumpItem(value)
	case []OrderItem:
		return "[" + dumpOrder(value) + "]"
	case Property:
		return form("Property", "key="+strconv.Quote(value.Key), optionalText("value", value.Value))
	case []CTE:
		query := dumpQuery(&Query{With: value, Body: &Values{}})
		return "[" + query + "]"
	}
	switch field.Kind() {
	case reflect.Slice:
		items := []string{}
		for j := range field.Len() {
			items = append(items, dumpField(field.Index(j)))
		}
		return "[" + strings.Join(items, " ") + "]"
	case reflect.Struct, reflect.Pointer, reflect.Interface:
		return dumpFields(field.Interface())
	}
	return fmt.Sprint(field.Interface())
}

func optionalText(name, text string) string {
	if text == "" {
		return ""
	}
	return name + "=" + strconv.Quote(text)
}
