package sqlengine

import (
	"context"

	"deltasql/scan"
	"deltasql/txn/log"
)

// duckParquet lets logs read their checkpoints through the engine's DuckDB, which starts only when one of them does.
type duckParquet struct{ engine *Engine }

func (p duckParquet) Query(ctx context.Context, sql string, args []any, each func(log.Batch) error) error {
	instance, err := p.engine.duck()
	if err != nil {
		return err
	}
	return scan.LogParquet{Instance: instance}.Query(ctx, sql, args, each)
}
