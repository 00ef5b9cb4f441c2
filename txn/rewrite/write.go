package rewrite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn"
)

// Rows is a query of DuckDB that gives the rows to be written.
type Rows struct {
	// SQL is a SELECT with columns c0, c1, ...: the columns of the table's schema as it will be, partition columns among them,
	// in the types of scan.TypeText. Members of structs have their logical names.
	SQL string
	// Args are the values of its parameters, the first of which is $1.
	Args []any
	// Done are the duties that the query discharges.
	Done []txn.Duty
	// RowIDs says that two more columns follow, both BIGINT: the rows' ids and the versions that changed them last, NULL for
	// new rows. They are written into the materialised columns of a table that tracks rows.
	RowIDs bool
	// ChangeType says that one more column follows, the last: the kind of change as change data feeds name it. The rows are
	// then written as change files.
	ChangeType bool
}

// Options are how rows are written. The progress of the statement is told as duck.WithProgress asks.
type Options struct {
	// DataChange says that the rows are new or changed, and not only put into other files.
	DataChange bool
	// TargetFileBytes is the size at which a new file is begun; 0 takes the table's delta.targetFileSize, or else 128 MiB.
	TargetFileBytes int64
	// SortBy are expressions over the columns c0, c1, ... by which the rows are sorted before they are divided into files.
	SortBy []string
	// OrderBy are leaves by whose values Rewrite sorts the rows, along a curve if there are several.
	OrderBy []protocol.Leaf
	// Tags are put on every file.
	Tags map[string]string
	// Apart makes Rewrite put the rows of each file into files of their own.
	Apart bool
	// ClusteringProvider is the implementation that clustered the rows, if one did.
	ClusteringProvider string
}

// Written is what Write staged.
type Written struct {
	Files       []protocol.AddFile
	Changes     []protocol.AddCDCFile
	Rows, Bytes int64
	// Identity has the least and greatest values of the identity columns, where there are any values.
	Identity map[protocol.LogicalName]Bounds
}

// Bounds are the least and the greatest of some values.
type Bounds struct{ Min, Max int64 }

// Write writes rows into new files of the transaction's table and stages these. Without rows it stages nothing. Where it fails
// nothing is staged and no file is left; the error may be DuckDB's own, about the query.
//
// In a transaction that has change files, new rows are written into such files too.
func Write(ctx context.Context, in *duck.Instance, tx *txn.Transaction, rows Rows, o Options) (*Written, error) {
	if !o.DataChange || rows.ChangeType || !feedsAlready(tx) {
		return writeRows(ctx, in, tx, rows, o)
	}
	savepoint := tx.Savepoint()
	written, err := writeRows(ctx, in, tx, rows, o)
	if err != nil || len(written.Files) == 0 {
		return written, err
	}
	if err := feedInserted(ctx, in, tx, written.Files); err != nil {
		return nil, errors.Join(err, tx.RollbackTo(savepoint), removeNames(ctx, tx, storeNames(written)))
	}
	return written, nil
}

// writeRows is Write for rows of which the caller sees to it that readers of changes hear rightly.
func writeRows(ctx context.Context, in *duck.Instance, tx *txn.Transaction, rows Rows, o Options) (*Written, error) {
	w, err := newWriter(ctx, in, tx, rows, o)
	if err != nil {
		return nil, err
	}
	copied, err := w.copy(ctx)
	if err != nil {
		return nil, w.failed(err)
	}
	defer os.RemoveAll(w.staging.local)
	if len(copied) == 0 {
		return &Written{}, nil
	}
	slices.SortFunc(copied, func(a, b duck.CopiedFile) int { return strings.Compare(a.Path, b.Path) })
	if err := w.verify(ctx, copied[0]); err != nil {
		return nil, err
	}
	if err := w.annotate(ctx, copied); err != nil {
		return nil, err
	}
	facts, err := w.facts(ctx, copied)
	if err != nil {
		return nil, err
	}
	written, placed, err := w.describe(copied, facts)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(placed))
	for i := range placed {
		names[i] = placed[i].name
	}
	tx.Wrote(names...)
	if err := w.place(ctx, placed); err != nil {
		return nil, errors.Join(err, w.remove(ctx, placed))
	}
	if err := w.stage(written); err != nil {
		return nil, errors.Join(err, w.remove(ctx, placed))
	}
	return written, nil
}

// writer is one call of Write.
type writer struct {
	in         *duck.Instance
	tx         *txn.Transaction
	config     *protocol.TableConfig
	rows       Rows
	options    Options
	layout     *layout
	partitions []partitionKey
	encoder    *stats.Encoder
	codec      codec
	bloom      []string // options of COPY
	staging    stagingFolder
	target     int64
}

func newWriter(ctx context.Context, in *duck.Instance, tx *txn.Transaction, rows Rows, o Options) (*writer, error) {
	w := &writer{in: in, tx: tx, config: tx.Config(), rows: rows, options: o}
	if w.config == nil {
		return nil, protocol.NewError(protocol.ClassInternal, "rows are written to %s before it has a schema", tx.Table().Name())
	}
	var err error
	if w.layout, err = newLayout(w.config, rows, slices.ContainsFunc(tx.Duties(), func(d txn.Duty) bool { return d.Kind == txn.MaterializedPartitions })); err != nil {
		return nil, err
	}
	clustering, err := clusteringColumns(tx)
	if err != nil {
		return nil, err
	}
	if w.encoder, err = stats.NewEncoder(w.config, clustering); err != nil {
		return nil, err
	}
	if w.codec, err = codecOf(w.config); err != nil {
		return nil, err
	}
	if w.bloom, err = bloomOptions(w.config); err != nil {
		return nil, err
	}
	if w.target, err = targetFileBytes(w.config, o.TargetFileBytes); err != nil {
		return nil, err
	}
	w.staging, err = newStagingFolder(ctx, tx)
	return w, err
}

// clusteringColumns are those of the table as it will be.
func clusteringColumns(tx *txn.Transaction) ([][]protocol.PhysicalName, error) {
	domain, ok := tx.Domain(protocol.DomainClustering)
	if !ok || domain.Removed {
		return nil, nil
	}
	return protocol.ClusteringColumns(domain.Configuration)
}

// copy runs the query. Partition values that are too long for the folders that DuckDB makes of them show only there; the query is then
// run again with other keys, which take longer.
func (w *writer) copy(ctx context.Context) (copied []duck.CopiedFile, err error) {
	for _, long := range []bool{false, true} {
		if w.partitions, err = partitionKeys(w.config, w.layout, long); err != nil {
			return nil, err
		}
		copied, err = w.in.Copy(ctx, duck.Copy{
			SQL: w.layout.sql(w.rows.SQL, w.partitions, w.options.SortBy), Args: w.rows.Args, Folder: w.staging.local, FileBytes: w.target, Options: w.copyOptions(),
		})
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), syscall.ENAMETOOLONG.Error()) ||
			!slices.ContainsFunc(w.partitions, func(k partitionKey) bool { return hasLongText(k.field.Type) }) {
			break
		}
	}
	return copied, err
}

// copyOptions are those of COPY.
func (w *writer) copyOptions() []string {
	options := []string{fmt.Sprintf("ROW_GROUP_SIZE %d", rowGroupRows), w.codec.option}
	if version := w.config.Property("delta.parquet.format.version"); strings.HasPrefix(version, "2.") {
		options = append(options, "PARQUET_VERSION V2")
	}
	options = append(append(options, w.bloom...), w.layout.options()...)
	if len(w.partitions) > 0 {
		var names []string
		for _, key := range w.partitions {
			for _, name := range key.names {
				names = append(names, duck.QuoteIdentifier(name))
			}
		}
		options = append(options, "PARTITION_BY ("+strings.Join(names, ", ")+")")
	}
	return options
}

// failed names the table where the files could not be written; errors of the query are the caller's to explain.
func (w *writer) failed(err error) error {
	var fault *duck.Error
	isDuck := errors.As(err, &fault)
	var path *os.PathError
	if isDuck && fault.Kind == duck.ErrorIO && strings.Contains(fault.Message, w.staging.local) || !isDuck && errors.As(err, &path) {
		return w.storageError(err)
	}
	return err
}

func (w *writer) storageError(err error) error {
	name := w.tx.Table().Name()
	return protocol.NewError("DELTASQL_STORAGE", "the data files of the table %s cannot be written", name).WithTable(name).WithCause(err)
}

// verify holds the schema of a file against what it is to be: a query that gives another type than the table has would
// otherwise make files that only we can read, or nobody.
func (w *writer) verify(ctx context.Context, file duck.CopiedFile) error {
	stream, err := w.in.Query(ctx, "SELECT * FROM read_parquet($1, hive_partitioning => false) LIMIT 0", []string{duck.LiteralPath(file.Path)})
	if err != nil {
		return err
	}
	defer stream.Close()
	return w.layout.verify(w.tx.Table().Name(), stream.Columns())
}

// stage hands the files to the transaction.
func (w *writer) stage(written *Written) error {
	for _, change := range written.Changes {
		if err := w.tx.AddChangeFile(change); err != nil {
			return err
		}
	}
	if len(written.Files) == 0 {
		return nil
	}
	done := slices.Clone(w.rows.Done)
	for _, kind := range []txn.DutyKind{txn.PhysicalNames, txn.Statistics, txn.PartitionValues, txn.MaterializedPartitions, txn.NestedIDs} {
		done = append(done, txn.Duty{Kind: kind})
	}
	return w.tx.Add(written.Files, done)
}
