package rewrite

import (
	"context"
	"errors"
	"io"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
)

// eachBatch calls f with each batch of a stream.
func eachBatch(ctx context.Context, stream *duck.Stream, f func(batch *duck.Batch) error) error {
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(batch); err != nil {
			return err
		}
	}
}

// eachRow calls f with each row of a stream.
func eachRow(ctx context.Context, stream *duck.Stream, f func(batch *duck.Batch, row int) error) error {
	return eachBatch(ctx, stream, func(batch *duck.Batch) error {
		for row := range batch.Len() {
			if err := f(batch, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForeignFiles are Parquet files of another's making that have the same columns.
type ForeignFiles struct {
	Paths   []string        // local
	Columns map[string]bool // that the files have, at the top
}

// MeasureForeign makes the statistics of files that are to become a table's. What a file lacks of the table's columns is NULL in it.
func MeasureForeign(ctx context.Context, in *duck.Instance, config *protocol.TableConfig, files ForeignFiles) ([]string, error) {
	encoder, err := stats.NewEncoder(config, nil)
	if err != nil {
		return nil, err
	}
	expressions := make([]string, len(encoder.Leaves))
	for k := range encoder.Leaves {
		leaf := &encoder.Leaves[k]
		if leaf.Type.Kind != protocol.KindVoid && files.Columns[string(leaf.Physical[0])] {
			expressions[k] = leafColumn(leaf)
		}
	}
	out := make([]string, len(files.Paths))
	for start := 0; start < len(files.Paths); start += statisticsFiles {
		part := files.Paths[start:min(start+statisticsFiles, len(files.Paths))]
		patterns := make([]string, len(part))
		for i, path := range part {
			patterns[i] = duck.LiteralPath(path)
			out[start+i] = ""
		}
		err := gatherFacts(ctx, in, "read_parquet($1, hive_partitioning => false)", []any{patterns}, "file_index", encoder, expressions, func(group, rows int64, facts []stats.LeafFacts) error {
			text, err := encoder.Encode(rows, facts)
			out[start+int(group)] = text
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range part {
			if out[start+i] == "" { // a file without a row
				if out[start+i], err = encoder.Encode(0, make([]stats.LeafFacts, len(encoder.Leaves))); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// PartitionText is the text of a partition value in the log, of its text in the name of a folder; false where that is no value of the type.
func PartitionText(t protocol.DataType, text string) (*string, bool) {
	if text == hiveDefault || text == "" {
		return nil, true
	}
	value, err := protocol.DecodePartitionValue(t, text, false, time.UTC)
	if err != nil {
		return nil, false
	}
	if t.Kind == protocol.KindString || t.Kind == protocol.KindTimestamp {
		return &text, true
	}
	return logText(value), true
}
