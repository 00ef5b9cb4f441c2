package scan

import (
	"context"
	"errors"
	"io"

	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// LogParquet lets the log read its checkpoints through DuckDB: it implements log.Parquet.
type LogParquet struct{ Instance *duck.Instance }

// Query runs the log's SQL and hands over its batches.
func (p LogParquet) Query(ctx context.Context, sql string, args []any, each func(log.Batch) error) error {
	stream, err := p.Instance.Query(ctx, sql, args...)
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
		if err := each(logBatch{batch}); err != nil {
			return err
		}
	}
}

// logBatch gives a batch the shape that the log asks for.
type logBatch struct{ batch *duck.Batch }

func (b logBatch) Len() int { return b.batch.Len() }

func (b logBatch) Bytes(column, row int) ([]byte, bool) {
	v := b.batch.Vector(column)
	if !v.Valid(row) {
		return nil, false
	}
	return v.Bytes(row), true
}

func (b logBatch) Int64(column, row int) (int64, bool) {
	v := b.batch.Vector(column)
	if !v.Valid(row) {
		return 0, false
	}
	return v.Int64(row), true
}
