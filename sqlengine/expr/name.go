package expr

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Name is the name that a select item gets without an alias, in Spark's spelling: a column's own last part, the text of an
// operator in parentheses, a function's name in lower case with its arguments.
func Name(e parse.Expr) string {
	switch n := e.(type) {
	case *parse.Column:
		return n.Name[len(n.Name)-1].Name
	case *parse.Field:
		return n.Name.Name
	}
	return spelled(e)
}

// spelled is an expression as Spark prints it inside another one.
func spelled(e parse.Expr) string {
	switch n := e.(type) {
	case *parse.Literal:
		return spelledLiteral(n)
	case *parse.Interval:
		return spelledInterval(n)
	case *parse.Column:
		return dotted(n.Name)
	case *parse.Star:
		return "*"
	case *parse.Unary:
		return spelledUnary(n)
	case *parse.Binary:
		return spelledBinary(n)
	case *parse.Between:
		text := "between(" + spelledList(n.Operand, n.Low, n.High) + ")"
		if n.Not {
			return "(NOT " + text + ")"
		}
		return text
	case *parse.In:
		text := "(" + spelled(n.Operand) + " IN (" + spelledList(n.List...) + "))"
		if n.Query != nil {
			text = "(" + spelled(n.Operand) + " IN (listquery()))"
		}
		if n.Not {
			return "(NOT " + text + ")"
		}
		return text
	case *parse.Like:
		return spelledLike(n)
	case *parse.Is:
		text := "(" + spelled(n.Operand) + " IS " + n.What + ")"
		switch {
		case n.What != "NULL" && n.What != "UNKNOWN":
			text = "(" + spelled(n.Operand) + " <=> " + strings.ToLower(n.What) + ")"
			if n.Not {
				return "(NOT " + text + ")"
			}
		case n.Not:
			text = "(" + spelled(n.Operand) + " IS NOT NULL)"
		case n.What == "UNKNOWN":
			text = "(" + spelled(n.Operand) + " IS NULL)"
		}
		return text
	case *parse.IsDistinct:
		text := "(" + spelled(n.Left) + " <=> " + spelled(n.Right) + ")"
		if !n.Not {
			return "(NOT " + text + ")"
		}
		return text
	case *parse.Case:
		return spelledCase(n)
	case *parse.Cast:
		word := "CAST("
		if n.Try {
			word = "TRY_CAST("
		}
		return word + spelled(n.Operand) + " AS " + typeName(n.Type) + ")"
	case *parse.Call:
		return spelledCall(n)
	case *parse.Lambda:
		params := make([]string, len(n.Params))
		for i := range params {
			params[i] = "namedlambdavariable()"
		}
		return "lambdafunction(" + strings.Join(append([]string{spelledLambda(n)}, params...), ", ") + ")"
	case *parse.Subquery:
		return "scalarsubquery()"
	case *parse.Exists:
		return "exists()"
	case *parse.Field:
		return spelled(n.Operand) + "." + n.Name.Name
	case *parse.Index:
		return spelled(n.Operand) + "[" + spelled(n.Index) + "]"
	case *parse.VariantPath:
		return spelledPath(n)
	case *parse.Tuple:
		return "struct(" + spelledList(n.Items...) + ")"
	case *parse.Param:
		return "?"
	case *parse.Variable:
		return n.Name
	case *parse.Collate:
		return "collate(" + spelled(n.Operand) + ", " + dotted(n.Collation) + ")"
	}
	return "expr"
}

func spelledList(items ...parse.Expr) string {
	parts := make([]string, len(items))
	for i, e := range items {
		parts[i] = spelled(e)
	}
	return strings.Join(parts, ", ")
}

func spelledLiteral(n *parse.Literal) string {
	switch n.Kind {
	case parse.NullLiteral:
		return "NULL"
	case parse.TrueLiteral:
		return "true"
	case parse.FalseLiteral:
		return "false"
	case parse.DateLiteral:
		return "DATE '" + n.Text + "'"
	case parse.TimestampLiteral, parse.TimestampLTZLiteral:
		return "TIMESTAMP '" + n.Text + "'"
	case parse.TimestampNTZLiteral:
		return "TIMESTAMP_NTZ '" + n.Text + "'"
	case parse.BinaryLiteral, parse.BitLiteral:
		const digits = "0123456789ABCDEF"
		var text strings.Builder
		for i := 0; i < len(n.Text); i++ {
			text.WriteByte(digits[n.Text[i]>>4])
			text.WriteByte(digits[n.Text[i]&15])
		}
		return "X'" + text.String() + "'"
	}
	return n.Text
}

func spelledInterval(n *parse.Interval) string {
	var parts []string
	for _, p := range n.Parts {
		unit := p.Unit
		if p.To != "" {
			unit += " TO " + p.To
		}
		parts = append(parts, "INTERVAL '"+spelled(p.Value)+"' "+unit)
	}
	return strings.Join(parts, " + ")
}

func spelledUnary(n *parse.Unary) string {
	operand := spelled(n.Operand)
	switch n.Op {
	case "NOT", "!":
		return "(NOT " + operand + ")"
	case "~":
		return "~" + operand
	}
	if _, literal := n.Operand.(*parse.Literal); literal && n.Op == "-" {
		return "-" + operand
	}
	return "(" + n.Op + " " + operand + ")"
}

func spelledBinary(n *parse.Binary) string {
	left, right := spelled(n.Left), spelled(n.Right)
	switch n.Op {
	case "<>":
		return "(NOT (" + left + " = " + right + "))"
	case "||":
		return "concat(" + left + ", " + right + ")"
	case "DIV":
		return "(" + left + " div " + right + ")"
	case "MOD":
		return "(" + left + " % " + right + ")"
	}
	return "(" + left + " " + n.Op + " " + right + ")"
}

func spelledLike(n *parse.Like) string {
	operand := spelled(n.Operand)
	if n.Quantifier != "" {
		text := strings.ToLower(n.Op+n.Quantifier) + "(" + operand + ", " + spelledList(n.Patterns...) + ")"
		if n.Not {
			return "not" + text
		}
		return text
	}
	text := operand + " LIKE " + spelled(n.Patterns[0])
	switch n.Op {
	case "ILIKE":
		text = "ilike(" + operand + ", " + spelled(n.Patterns[0]) + ")"
	case "RLIKE":
		text = "RLIKE(" + operand + ", " + spelled(n.Patterns[0]) + ")"
	default:
		if n.Escape != nil {
			text += " ESCAPE '" + spelled(n.Escape) + "'"
		}
	}
	if n.Not {
		return "(NOT " + text + ")"
	}
	return text
}

func spelledCase(n *parse.Case) string {
	var text strings.Builder
	text.WriteString("CASE")
	for _, w := range n.Whens {
		condition := spelled(w.Condition)
		if n.Operand != nil {
			condition = "(" + spelled(n.Operand) + " = " + condition + ")"
		}
		text.WriteString(" WHEN " + condition + " THEN " + spelled(w.Result))
	}
	if n.Else != nil {
		text.WriteString(" ELSE " + spelled(n.Else))
	}
	return text.String() + " END"
}

// typeName is a type as CAST shows it in a name.
func typeName(t parse.TypeName) string {
	if t.MySQL != "" && t.Type.Kind == protocol.KindVoid {
		return t.MySQL
	}
	return strings.ToUpper(t.Type.String())
}

func spelledCall(n *parse.Call) string {
	name := strings.ToLower(dotted(n.Name))
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		args[i] = spelled(a.Expr)
	}
	switch {
	case name == "count" && len(n.Args) == 1 && args[0] == "*" && !n.Distinct:
		args[0] = "1"
	case name == "if" && len(args) == 3:
		return "(IF(" + strings.Join(args, ", ") + "))" + over(n)
	case name == "extract" && len(args) == 2:
		return "extract(" + args[0] + " FROM " + args[1] + ")"
	case name == "trim" && len(args) == 3:
		return "TRIM(" + args[0] + " " + args[1] + " FROM " + args[2] + ")"
	case name == "current_date" || name == "current_timestamp" || name == "current_user":
		return name + "()"
	case upperNames[name]:
		name = strings.ToUpper(name)
	}
	text := name + "("
	if n.Distinct {
		text += "DISTINCT "
	}
	text += strings.Join(args, ", ") + ")"
	if n.Filter != nil {
		text += " FILTER (WHERE " + spelled(n.Filter) + ")"
	}
	if n.IgnoreNulls != nil && *n.IgnoreNulls {
		text += " ignore nulls"
	}
	return text + over(n)
}

// upperNames are the functions whose names Spark prints in upper case.
var upperNames = map[string]bool{"ceil": true, "floor": true, "ceiling": true, "sqrt": true, "exp": true, "ln": true, "log10": true, "log2": true,
	"log": true, "pow": true, "power": true, "sin": true, "cos": true, "tan": true, "asin": true, "acos": true, "atan": true, "atan2": true,
	"sinh": true, "cosh": true, "tanh": true, "degrees": true, "radians": true, "cbrt": true, "expm1": true, "log1p": true, "hypot": true}

func over(n *parse.Call) string {
	if n.Over == nil {
		return ""
	}
	var parts []string
	if n.Over.Base != nil {
		parts = append(parts, n.Over.Base.Name)
	}
	if len(n.Over.PartitionBy) > 0 {
		parts = append(parts, "PARTITION BY "+spelledList(n.Over.PartitionBy...))
	}
	if len(n.Over.OrderBy) > 0 {
		keys := make([]string, len(n.Over.OrderBy))
		for i, o := range n.Over.OrderBy {
			direction, nulls := "ASC", "NULLS FIRST"
			if o.Desc {
				direction, nulls = "DESC", "NULLS LAST"
			}
			if o.NullsFirst != nil {
				nulls = map[bool]string{true: "NULLS FIRST", false: "NULLS LAST"}[*o.NullsFirst]
			}
			keys[i] = spelled(o.Expr) + " " + direction + " " + nulls
		}
		parts = append(parts, "ORDER BY "+strings.Join(keys, ", "))
	}
	return " OVER (" + strings.Join(append(parts, frame(n)), " ") + ")"
}

// frame is the frame as Spark prints it, its default included.
func frame(n *parse.Call) string {
	f := n.Over.Frame
	if f == nil {
		switch {
		case ranksByRows[strings.ToLower(dotted(n.Name))]:
			return "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
		case len(n.Over.OrderBy) > 0:
			return "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
		}
		return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
	}
	unit := map[parse.FrameUnit]string{parse.FrameRows: "ROWS", parse.FrameRange: "RANGE", parse.FrameGroups: "GROUPS"}[f.Unit]
	return unit + " BETWEEN " + bound(f.Start) + " AND " + bound(f.End)
}

var ranksByRows = map[string]bool{"row_number": true, "rank": true, "dense_rank": true, "ntile": true, "percent_rank": true, "cume_dist": true}

func bound(b parse.FrameBound) string {
	switch b.Kind {
	case parse.UnboundedPreceding:
		return "UNBOUNDED PRECEDING"
	case parse.UnboundedFollowing:
		return "UNBOUNDED FOLLOWING"
	case parse.CurrentRow:
		return "CURRENT ROW"
	case parse.Preceding:
		return spelled(b.Offset) + " PRECEDING"
	}
	return spelled(b.Offset) + " FOLLOWING"
}

// spelledLambda is a lambda's body with its parameters as Spark prints them.
func spelledLambda(n *parse.Lambda) string {
	names := map[string]bool{}
	for _, p := range n.Params {
		names[strings.ToLower(p.Name)] = true
	}
	return lambdaNames(n.Body, names)
}

// lambdaNames spells a body; a name that is a parameter becomes namedlambdavariable().
func lambdaNames(e parse.Expr, names map[string]bool) string {
	text := spelled(e)
	var out strings.Builder
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && isWordByte(text[j]) {
			j++
		}
		switch {
		case j == i:
			out.WriteByte(text[i])
			i++
			continue
		case names[strings.ToLower(text[i:j])] && (j == len(text) || text[j] != '('):
			out.WriteString("namedlambdavariable()")
		default:
			out.WriteString(text[i:j])
		}
		i = j
	}
	return out.String()
}

func isWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}

func spelledPath(n *parse.VariantPath) string {
	path := "$"
	for _, s := range n.Steps {
		if s.Index != nil {
			path += "[" + spelled(s.Index) + "]"
		} else {
			path += "." + s.Name
		}
	}
	return "variant_get(" + spelled(n.Operand) + ", " + path + ")"
}
