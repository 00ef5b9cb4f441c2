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
	for {
		batch, err := stream.Next(ctx)
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
