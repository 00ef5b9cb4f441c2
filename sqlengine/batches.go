package sqlengine

import (
	"context"
	"errors"
	"io"

	"deltasql/scan/duck"
)

// eachRow runs a query of DuckDB and calls f with each row's batch and place in it.
func eachRow(ctx context.Context, in *duck.Instance, sql string, args []any, f func(batch *duck.Batch, row int) error) error {
	stream, err := in.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer stream.Close()
	return eachOf(ctx, stream.Next, f)
}

// each calls f with each row of a result.
func (r *Result) each(ctx context.Context, f func(batch *duck.Batch, row int) error) error {
	return eachOf(ctx, r.Next, f)
}

func eachOf(ctx context.Context, next func(context.Context) (*duck.Batch, error), f func(batch *duck.Batch, row int) error) error {
	for {
		batch, err := next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for row := range batch.Len() {
			if err := f(batch, row); err != nil {
				return err
			}
		}
	}
}
