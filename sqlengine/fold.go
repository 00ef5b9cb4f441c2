package sqlengine

import (
	"context"
	"errors"
	"io"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
)

// fold evaluates an expression without columns by DuckDB. Results are kept for the statement: a condition is asked about once
// for each scan it reaches.
func (st *statement) fold(ctx context.Context, e expr.Expr) (protocol.Value, error) {
	if literal, ok := e.(*expr.Literal); ok {
		return literal.Value, nil
	}
	query := &expr.Query{
		Body:    &expr.Select{Items: []expr.Expr{e}, Visible: 1},
		Columns: []expr.Column0{{Name: "value", Out: out(0), Type: e.Type(), Nullable: true}},
	}
	explain := st.explain
	st.explain = nil // tables of constants are no tables of the statement
	p, err := st.plan(query)
	st.explain = explain
	if err != nil {
		return protocol.Value{}, err
	}
	if known, ok := st.folded[p.sql]; ok && len(p.args) == 0 {
		return known, nil
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
	if len(p.args) == 0 {
		st.folded[p.sql] = value
	}
	return value, nil
}
