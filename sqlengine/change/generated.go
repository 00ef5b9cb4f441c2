package change

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Generation is a generation expression that computes its column from one other column of the table.
type Generation struct {
	Column, Source int // of the schema
	// Function is what it applies to the source, in small letters; "" is the source itself, "cast" a cast to DATE.
	Function string
	// Texts and Numbers are the function's constant arguments.
	Texts   []string
	Numbers []string
}

// Generations are the generation expressions of a table that are a function of one top-level column and constants.
func Generations(config *protocol.TableConfig) []Generation {
	if !config.Supports("generatedColumns") {
		return nil
	}
	var out []Generation
	for i, f := range config.Schema.Fields {
		text, ok := f.Metadata.GenerationExpression()
		if !ok {
			continue
		}
		parsed, err := parseStored(text)
		if err != nil {
			continue // a statement that writes says so
		}
		g := Generation{Column: i, Source: -1}
		if g.read(parsed, &config.Schema) && g.Source >= 0 {
			out = append(out, g)
		}
	}
	return out
}

// read takes an expression apart; false where it is of another form.
func (g *Generation) read(e parse.Expr, schema *protocol.DataType) bool {
	switch e := e.(type) {
	case *parse.Column:
		if len(e.Name) != 1 {
			return false
		}
		g.Source = schema.Lookup(e.Name[0].Name)
		return true
	case *parse.Cast:
		column, ok := e.Operand.(*parse.Column)
		if !ok || e.Type.Type.Kind != protocol.KindDate {
			return false
		}
		g.Function = "cast"
		return g.read(column, schema)
	case *parse.Call:
		if len(e.Name) != 1 || e.Distinct || e.Filter != nil || e.Over != nil {
			return false
		}
		g.Function = strings.ToLower(e.Name[0].Name)
		for _, a := range e.Args {
			switch x := a.Expr.(type) {
			case *parse.Column:
				if g.Source >= 0 || a.Name != nil || !g.read(x, schema) {
					return false
				}
			case *parse.Literal:
				switch x.Kind {
				case parse.StringLiteral:
					g.Texts = append(g.Texts, x.Text)
				case parse.IntegerLiteral:
					g.Numbers = append(g.Numbers, x.Text)
				default:
					return false
				}
			default:
				return false
			}
		}
		return true
	}
	return false
}

// Of is the expression's value for a value of its source, as an expression without columns.
func (g Generation) Of(ctx context.Context, t Table, value protocol.Value, opts Options) (out expr.Expr, err error) {
	defer bind.Catch(&err)
	b := newBinding(ctx, t, opts, "CAST_OVERFLOW_IN_TABLE_INSERT")
	source, column := b.schema.Fields[g.Source], b.schema.Fields[g.Column]
	text, _ := column.Metadata.GenerationExpression()
	literal := &expr.Literal{Typed: expr.Typed{Of: source.Type, Null: value.Null}, Value: value}
	bound, err := b.storedExpression(text, bind.Named([]bind.Item{{Name: string(source.Name), Value: literal}}), "the generation expression of column `"+string(column.Name)+"`")
	if err != nil {
		return nil, err
	}
	return expr.Convert(bound, column.Type, b.stored.Context(), false)
}
