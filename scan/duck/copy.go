package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// Copy writes the rows of a query into Parquet files.
type Copy struct {
	// SQL is the query, whose parameters are Args.
	SQL  string
	Args []any
	// Folder is where the files go. It must not exist: Instance.Copy makes it, and takes it away again if it fails.
	Folder string
	// FileBytes is the size at which another file is begun; 0 leaves that to no size.
	FileBytes int64
	// Options are further ones of COPY, as DuckDB writes them: "COMPRESSION zstd".
	Options []string
}

// CopiedFile is a file that Instance.Copy wrote.
type CopiedFile struct {
	Path  string
	Rows  int64
	Bytes int64
	// Columns are what is known of the columns, and of the members and elements inside them, by ColumnKey.
	Columns map[string]CopiedColumn
	// Keys are the values of PARTITION_BY columns; NULLs are not among them.
	Keys map[string]string
}

// CopiedColumn is what DuckDB noted of a column while it wrote it. Bounds are texts as CAST(... AS VARCHAR) gives them, and NaN
// is never one.
type CopiedColumn struct {
	Values, Nulls, NaNs int64 // of a column inside lists or maps these count elements; inside a NULL struct there is no list to count
	Min, Max            string
	HasMin, HasMax      bool
	// MinExact and MaxExact say that the bound is a value and not one that was cut off: strings are cut after 256 bytes, and of
	// the greatest one the last byte is then one more.
	MinExact, MaxExact bool
}

// ColumnKey is how CopiedFile.Columns names a column or a member of a struct.
func ColumnKey(path ...string) string {
	quoted := make([]string, len(path))
	for i, name := range path {
		quoted[i] = QuoteIdentifier(name)
	}
	return strings.Join(quoted, ".")
}

// Copy runs a COPY to its end. If it fails, or the context ends, nothing is left of the folder: DuckDB itself leaves
// truncated files under their final names.
//
// Files without rows are not reported, though DuckDB makes one of a query that gives none. The files are complete, but nothing has been done to make them survive a power loss.
func (in *Instance) Copy(ctx context.Context, c Copy) (files []CopiedFile, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.Folder, 0o777); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			if removal := os.RemoveAll(c.Folder); removal != nil {
				err = errors.Join(err, removal)
			}
		}
	}()
	if c.FileBytes <= 0 {
		c.FileBytes = math.MaxInt64 // without a size DuckDB writes a file and no folder
	}
	options := append([]string{"FORMAT parquet", "RETURN_STATS", fmt.Sprintf("FILE_SIZE_BYTES %d", c.FileBytes)}, c.Options...)
	sql := fmt.Sprintf("COPY (%s) TO %s (%s)", c.SQL, QuoteString(c.Folder), strings.Join(options, ", "))
	stream, err := in.Query(ctx, sql, c.Args...)
	if err != nil {
		return nil, err
	}
	defer stream.Close() // before the folder is removed: it ends what DuckDB still does
	columns := map[string]int{}
	for i, column := range stream.Columns() {
		columns[column.Name] = i
	}
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range batch.Len() {
			file, err := copiedFile(batch, columns, row)
			if err != nil {
				return nil, err
			}
			if file.Rows > 0 {
				files = append(files, file)
			}
		}
	}
}

func copiedFile(batch *Batch, columns map[string]int, row int) (CopiedFile, error) {
	for _, name := range []string{"filename", "count", "file_size_bytes", "column_statistics", "partition_keys"} {
		if _, ok := columns[name]; !ok {
			return CopiedFile{}, fmt.Errorf("DuckDB's COPY gives no column %s", name)
		}
	}
	vector := func(name string) *Vector { return batch.Vector(columns[name]) }
	file := CopiedFile{
		Path: vector("filename").Text(row), Rows: vector("count").Int64(row), Bytes: vector("file_size_bytes").Int64(row),
		Columns: map[string]CopiedColumn{}, Keys: textMap(vector("partition_keys"), row),
	}
	statistics := vector("column_statistics")
	keys, values := statistics.Child(0).Child(0), statistics.Child(0).Child(1)
	offset, n := statistics.List(row)
	for i := offset; i < offset+n; i++ {
		column, err := copiedColumn(textMap(values, i))
		if err != nil {
			return CopiedFile{}, fmt.Errorf("statistics of the column %s: %w", keys.Bytes(i), err)
		}
		file.Columns[keys.Text(i)] = column
	}
	return file, nil
}

// textMap reads a map of texts; entries without a value are left out.
func textMap(v *Vector, row int) map[string]string {
	offset, n := v.List(row)
	out := make(map[string]string, n)
	keys, values := v.Child(0).Child(0), v.Child(0).Child(1)
	for i := offset; i < offset+n; i++ {
		if values.Valid(i) {
			out[keys.Text(i)] = values.Text(i)
		}
	}
	return out
}

func copiedColumn(facts map[string]string) (CopiedColumn, error) {
	var c CopiedColumn
	for name, target := range map[string]*int64{"num_values": &c.Values, "null_count": &c.Nulls, "nan_count": &c.NaNs} {
		text, ok := facts[name]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return c, err
		}
		*target = n
	}
	c.Min, c.HasMin = facts["min"]
	c.Max, c.HasMax = facts["max"]
	c.MinExact = facts["min_is_exact"] == "true"
	c.MaxExact = facts["max_is_exact"] == "true"
	return c, nil
}
