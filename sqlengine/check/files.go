package check

import (
	"context"
	"errors"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// footersAtOnce is how many data files one statement looks into.
const footersAtOnce = 200

// checkedFile is a live data file.
type checkedFile struct {
	index       int // in the snapshot
	path, local string
	rows        int64 // as the footer says; -1 where it cannot be read
}

// checkFiles checks each live file: that it is there, what its footer says, its partition values, its vector, its statistics.
func (c *checker) checkFiles(ctx context.Context, s *log.Snapshot) error {
	c.checkPartitions(s)
	for _, path := range s.Files().RepeatedPaths() {
		c.fault(path, "the file is live several times, with different deletion vectors: its rows count as often")
	}
	files := s.Files()
	var batch []*checkedFile
	sound := files.Len() > 0
	schemas := newSchemaChecks(c, s.Config())
	for i := range files.Len() {
		if i%footersAtOnce == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.options.Progress("data files", i, files.Len())
		}
		file := c.findFile(ctx, files, i)
		if file != nil {
			batch = append(batch, file)
		} else {
			sound = false
		}
		if len(batch) < footersAtOnce && i+1 < files.Len() {
			continue
		}
		if err := c.readFooters(ctx, batch, schemas); err != nil {
			return err
		}
		for _, file := range batch {
			sound = sound && file.rows >= 0
			if err := c.checkFile(ctx, s, file); err != nil {
				return err
			}
		}
		batch = batch[:0]
	}
	if c.options.Deep && sound {
		return c.checkData(ctx, s)
	}
	return nil
}

// findFile locates a data file and compares its size; nil where it is not there.
func (c *checker) findFile(ctx context.Context, files *log.Files, i int) *checkedFile {
	path, local, err := c.localFile(ctx, files.Path(i))
	if err != nil {
		c.fault(path, "%v", err)
		return nil
	}
	size, err := sizeOf(local)
	if err != nil {
		c.fault(path, "%v", err)
		return nil
	}
	if size != files.Size(i) {
		c.fault(path, "the file has %d bytes, the log says %d", size, files.Size(i))
	}
	return &checkedFile{index: i, path: path, local: local, rows: -1}
}

// readFooters sets the rows of the files and checks their columns. Where the files cannot be read together they are one by one.
func (c *checker) readFooters(ctx context.Context, files []*checkedFile, schemas *schemaChecks) error {
	if len(files) == 0 {
		return nil
	}
	err := c.lookInto(ctx, files, schemas)
	if err == nil || ctx.Err() != nil {
		return err
	}
	for _, file := range files {
		file.rows = -1
		err := c.lookInto(ctx, []*checkedFile{file}, schemas)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			file.rows = -1
			c.fault(file.path, "the file cannot be read as Parquet: %s", strings.ReplaceAll(err.Error(), file.local, file.path))
		}
	}
	return nil
}

func (c *checker) lookInto(ctx context.Context, files []*checkedFile, schemas *schemaChecks) error {
	byName := make(map[string][]*checkedFile, len(files))
	var paths []string
	for _, file := range files {
		if byName[file.local] == nil {
			paths = append(paths, duck.LiteralPath(file.local))
		}
		byName[file.local] = append(byName[file.local], file)
	}
	err := c.each(ctx, "SELECT file_name, num_rows FROM parquet_file_metadata($1)", func(batch *duck.Batch) error {
		for row := range batch.Len() {
			for _, file := range byName[batch.Vector(0).Text(row)] {
				file.rows = batch.Vector(1).Int64(row)
			}
		}
		return nil
	}, paths)
	if err != nil {
		return err
	}
	return schemas.check(ctx, byName, paths)
}

// checkFile compares what a file's footer says with the log, and reads its vector.
func (c *checker) checkFile(ctx context.Context, s *log.Snapshot, file *checkedFile) error {
	files := s.Files()
	records, known := files.NumRecords(file.index)
	if known && file.rows >= 0 && file.rows != records {
		c.fault(file.path, "the file has %d rows, its statistics say %d", file.rows, records)
	}
	if known && file.rows < 0 {
		file.rows = records
	}
	c.checkStatistics(s, file)
	vector := files.DeletionVector(file.index)
	if vector == nil {
		return nil
	}
	if err := c.checkVector(ctx, vector, file); err != nil {
		return c.failed(ctx, file.path, err)
	}
	return nil
}

// checkVector reads a deletion vector: its size, checksum and cardinality, and that the file has the rows.
func (c *checker) checkVector(ctx context.Context, vector *protocol.DeletionVector, file *checkedFile) error {
	bitmap, err := vector.DecodeInline()
	if vector.StorageType != protocol.VectorInline {
		var section []byte
		if section, err = c.vectorSection(ctx, vector); err != nil {
			return err
		}
		bitmap, err = vector.DecodeSection(section)
	}
	if err != nil || file.rows < 0 {
		return err
	}
	return protocol.CheckRowIndexes(bitmap, file.rows)
}

// vectorSection is the part of a file that holds a vector.
func (c *checker) vectorSection(ctx context.Context, vector *protocol.DeletionVector) ([]byte, error) {
	path, absolute, err := vector.Path()
	if err != nil {
		return nil, err
	}
	offset, length, err := vector.Span()
	if err != nil {
		return nil, err
	}
	files := c.target.Files
	if absolute {
		folder, base := ".", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			folder, base = path[:i+1], path[i+1:]
		}
		if files, err = store.NewLocal(folder); err != nil {
			return nil, err
		}
		path = base
	}
	first, err := files.ReadRange(ctx, path, 0, 1)
	if errors.Is(err, store.ErrNotFound) {
		return nil, protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "its deletion vector %s is missing", path)
	}
	if err == nil && len(first) == 1 {
		err = protocol.CheckVectorFileVersion(first[0])
	}
	if err != nil {
		return nil, err
	}
	return files.ReadRange(ctx, path, offset, length)
}

// checkPartitions decodes the partition values, once for each combination.
func (c *checker) checkPartitions(s *log.Snapshot) {
	config, files := s.Config(), s.Files()
	seen := make([]bool, files.NumPartitionTuples())
	for i := range files.Len() {
		tuple := files.PartitionTuple(i)
		if seen[tuple] {
			continue
		}
		seen[tuple] = true
		for _, column := range config.PartitionColumns {
			field := config.Schema.Fields[column]
			text, null := files.TupleValue(tuple, config.PhysicalName(column))
			if _, err := protocol.DecodePartitionValue(field.Type, text, null, time.UTC); err != nil {
				c.fault(files.Path(i), "the partition value of %s: %v", field.Name, err)
			}
		}
	}
}
