package sqlengine

import (
	"context"
	"errors"
	"io"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// errNotes is why a condition is not looked into: it would note twice what its query notes.
var errNotes = errors.New("the value is told of where it is computed")

// foldOnce is fold for conditions, which are asked about once for each scan they reach: results are kept for the statement.
func (st *statement) foldOnce(ctx context.Context, e expr.Expr) (protocol.Value, error) {
	text, args, err := duckgen.Expression(e, duckgen.Options{})
	if err != nil || len(args) > 0 {
		return st.fold(ctx, e) // it has a subquery over a table
	}
	if strings.Contains(text, "delta_note") {
		return protocol.Value{}, errNotes
	}
	if known, ok := st.folded[text]; ok {
		return known, nil
	}
	value, err := st.fold(ctx, e)
	if err == nil {
		st.folded[text] = value
	}
	return value, err
}

// fold evaluates an expression without columns by DuckDB.
func (st *statement) fold(ctx context.Context, e expr.Expr) (protocol.Value, error) {
	if literal, ok := e.(*expr.Literal); ok {
		return literal.Value, nil
	}
	query := &expr.Query{
		Body:    &expr.Select{Items: []expr.Expr{e}, Visible: 1},
		Columns: []expr.OutputColumn{{Name: "value", Out: out(0), Type: e.Type(), Nullable: true}},
	}
	explain := st.explain
	st.explain = nil // tables of constants are no tables of the statement
	p, err := st.plan(query)
	st.explain = explain
	if err != nil {
		return protocol.Value{}, err
	}
	stream, err := st.open(ctx, p)
	if err != nil {
		return protocol.Value{}, err
	}
	defer stream.Close()
	batch, err := stream.Next(ctx)
	if errors.Is(err, io.EOF) {
		return protocol.Value{Kind: e.Type().Kind, Null: true}, nil
	}
	if err != nil {
		return protocol.Value{}, p.diagnose(err)
	}
	value, ok := readValue(batch.Vector(0), 0, e.Type())
	if !ok {
		return protocol.Value{}, protocol.NewError("DATATYPE_MISMATCH", "a constant of type %s cannot stand here", e.Type())
	}
	return value, nil
}

// scalar runs a query of one column and gives the value of its first row; NULL where there is no row.
func (st *statement) scalar(q *parse.Query, options bind.Options) (protocol.Value, error) {
	bound, err := bind.Query(st.ctx, q, options)
	if err != nil {
		return protocol.Value{}, err
	}
	p, err := st.plan(bound)
	if err != nil {
		return protocol.Value{}, err
	}
	stream, err := st.open(st.ctx, p)
	if err != nil {
		return protocol.Value{}, err
	}
	defer stream.Close()
	of := bound.Columns[0].Type
	batch, err := stream.Next(st.ctx)
	if errors.Is(err, io.EOF) {
		return protocol.Value{Kind: of.Kind, Null: true}, nil
	}
	if err != nil {
		return protocol.Value{}, p.diagnose(err)
	}
	value, ok := readValue(batch.Vector(0), 0, of)
	if !ok {
		return protocol.Value{}, protocol.NewError(protocol.ClassInternal, "a value of type %s was asked for", of)
	}
	return value, nil
}
