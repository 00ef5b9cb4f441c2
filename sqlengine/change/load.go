package change

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// Load binds rows that come from files. IncomingRows is its Incoming.
func Load(ctx context.Context, rows Rows, t Table, opts Options) (*Plan, error) {
	opts.Catalog = rowCatalog{opts.Catalog, &rows.Source}
	return Insert(ctx, rows.statement(), t, opts)
}

// IncomingRows is Incoming for Load.
func IncomingRows(ctx context.Context, rows Rows, t Table, opts Options) (protocol.DataType, error) {
	opts.Catalog = rowCatalog{opts.Catalog, &rows.Source}
	return Incoming(ctx, rows.statement(), t, opts)
}

// rowsName is what the statement of Load calls its rows; no text can write it.
const rowsName = "\x00rows"

// statement is the INSERT that Load stands for.
func (r Rows) statement() *parse.Insert {
	ref := &parse.TableRef{Name: parse.Name{{Name: rowsName, Quoted: true}}}
	if r.Alias != "" {
		ref.Alias = &parse.Alias{Name: parse.Ident{Name: r.Alias, Quoted: true}}
	}
	items := r.Items
	if items == nil {
		items = []parse.SelectItem{{Expr: &parse.Star{}}}
	}
	return &parse.Insert{
		Query:   &parse.Query{Body: &parse.Select{Items: items, From: ref, Where: r.Where}},
		Columns: r.Columns, HasColumns: r.Columns != nil, ByName: r.Columns == nil && !r.ByPosition, Evolve: r.Evolve,
	}
}

// rowCatalog is a catalog that knows the rows of Load.
type rowCatalog struct {
	outer bind.Catalog
	rows  *bind.SQLTable
}

func (c rowCatalog) Table(ctx context.Context, ref *parse.TableRef, asOf *bind.AsOf) (bind.Resolved, error) {
	if len(ref.Name) == 1 && ref.Name[0].Name == rowsName {
		return bind.Resolved{SQL: c.rows, Name: []string{rowsName}}, nil
	}
	if c.outer == nil {
		return bind.Resolved{}, protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "the table or view `%s` cannot be found", ref.Name[len(ref.Name)-1].Name)
	}
	return c.outer.Table(ctx, ref, asOf)
}

func (c rowCatalog) TableFunction(ctx context.Context, fn *parse.TableFunction, args bind.Arguments) (bind.Resolved, bool, error) {
	if c.outer == nil {
		return bind.Resolved{}, false, nil
	}
	return c.outer.TableFunction(ctx, fn, args)
}

// LoadData binds LOAD DATA. The file's fields are the columns of source, in order and without names: they go to the columns and variables
// that the statement lists, or to all columns of the table; SET computes further columns from both.
func LoadData(ctx context.Context, s *parse.LoadData, source bind.SQLTable, t Table, opts Options) (*Plan, error) {
	targets := s.Targets
	if targets == nil {
		for _, f := range t.Config.Schema.Fields {
			targets = append(targets, parse.LoadTarget{Column: &parse.Ident{Name: string(f.Name), Quoted: true}})
		}
	}
	if len(targets) != len(source.Columns) {
		return nil, protocol.NewError("DELTASQL_WRONG_NUMBER_OF_FIELDS", "the rows of the file have %d fields, but they are to fill %d columns and variables", len(source.Columns), len(targets))
	}
	rows := Rows{Source: source}
	rows.Source.Columns = append([]expr.OutputColumn(nil), source.Columns...)
	variables := map[string]bool{}
	set := map[string]bool{}
	for _, item := range s.Set {
		set[strings.ToLower(item.Target[len(item.Target)-1].Name)] = true
	}
	for i, to := range targets {
		if to.Column == nil {
			rows.Source.Columns[i].Name = "@" + to.Variable
			variables[strings.ToLower(to.Variable)] = true
			continue
		}
		rows.Source.Columns[i].Name = to.Column.Name
		if set[strings.ToLower(to.Column.Name)] {
			continue // SET has the last word
		}
		rows.Columns = append(rows.Columns, parse.Name{*to.Column})
		rows.Items = append(rows.Items, parse.SelectItem{Expr: &parse.Column{Name: parse.Name{*to.Column}}})
	}
	for _, item := range s.Set {
		rows.Columns = append(rows.Columns, item.Target)
		rows.Items = append(rows.Items, parse.SelectItem{Expr: item.Value})
	}
	context := *opts.Context
	context.RowVariables = variables
	opts.Context = &context
	opts.Lenient = opts.Lenient || s.Ignore
	return Load(ctx, rows, t, opts)
}
