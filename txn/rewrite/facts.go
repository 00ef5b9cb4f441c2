package rewrite

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
)

// What COPY notes of the columns while it writes them is what statistics need, with exceptions: it has no bounds of strings that
// are long and not ASCII, cuts others after 256 bytes, writes years before 1 in a form of its own, and leaves NaN out. Bounds
// that cannot be had from it are read from the files.

// copyPrefix is how many bytes DuckDB keeps of a string's bounds.
const copyPrefix = 256

// facts are what is to be said of each file's leaves, by file and by the encoder's order of leaves.
func (w *writer) facts(ctx context.Context, files []duck.CopiedFile) ([][]stats.LeafFacts, error) {
	all := make([][]stats.LeafFacts, len(files))
	lacking := map[int]bool{} // leaves that some file has no usable bounds of
	var unread []int          // files that lack some
	for i := range files {
		all[i] = make([]stats.LeafFacts, len(w.encoder.Leaves))
		complete := true
		for k := range w.encoder.Leaves {
			facts, known, err := w.leafFacts(&files[i], &w.encoder.Leaves[k])
			if err != nil {
				return nil, err
			}
			all[i][k] = facts
			if !known {
				lacking[k], complete = true, false
			}
		}
		if !complete {
			unread = append(unread, i)
		}
	}
	if len(unread) == 0 {
		return all, nil
	}
	return all, w.readBounds(ctx, files, unread, lacking, all)
}

// leafFacts makes the facts of what COPY noted; false where its bounds cannot be used.
func (w *writer) leafFacts(file *duck.CopiedFile, leaf *protocol.Leaf) (facts stats.LeafFacts, known bool, err error) {
	if !w.stored(leaf) {
		return stats.LeafFacts{Nulls: file.Rows}, true, nil
	}
	column, ok := file.Columns[leafColumn(leaf)]
	if !ok {
		return facts, false, protocol.NewError(protocol.ClassInternal, "DuckDB wrote no column %s", leafColumn(leaf))
	}
	present := column.Values - column.Nulls
	facts.Nulls = file.Rows - present
	if facts.Nulls < 0 || present < 0 {
		return facts, false, protocol.NewError(protocol.ClassInternal, "DuckDB counts %d values and %d NULLs of the column %s in %d rows", column.Values, column.Nulls, leafColumn(leaf), file.Rows)
	}
	if present == 0 || !stats.Bounded(leaf.Type) {
		return facts, true, nil
	}
	switch leaf.Type.Kind {
	case protocol.KindString:
		return w.stringFacts(facts, &column)
	case protocol.KindFloat, protocol.KindDouble:
		if column.NaNs == present {
			nan := protocol.Value{Kind: leaf.Type.Kind, Float: math.NaN()}
			facts.Min, facts.Max = &nan, &nan
			return facts, true, nil
		}
	}
	low, ok1 := protocol.ParseValue(leaf.Type, column.Min, time.UTC)
	high, ok2 := protocol.ParseValue(leaf.Type, column.Max, time.UTC)
	if !column.HasMin || !column.HasMax || !ok1 || !ok2 {
		return facts, false, nil
	}
	if column.NaNs > 0 {
		high.Float = math.NaN()
	}
	facts.Min, facts.Max = &low, &high
	return facts, true, nil
}

// stringFacts: bounds that were cut still serve where the log's are cut far shorter. Of the greatest the last byte is one more
// than it was, unless the bound is shorter than what DuckDB keeps, when more of it changed.
func (w *writer) stringFacts(facts stats.LeafFacts, column *duck.CopiedColumn) (stats.LeafFacts, bool, error) {
	if w.encoder.Prefix() == 0 {
		return facts, true, nil
	}
	// A character is at most three bytes a UTF-16 unit; a maximum looks at twice the prefix and one character more.
	short := 3*(2*w.encoder.Prefix()+2) < copyPrefix
	usable := func(has, exact bool, text string) bool { return has && (exact || short && len(text) == copyPrefix) }
	if !usable(column.HasMin, column.MinExact, column.Min) || !usable(column.HasMax, column.MaxExact, column.Max) {
		return facts, false, nil
	}
	facts.Min = &protocol.Value{Kind: protocol.KindString, Str: column.Min}
	facts.Max = &protocol.Value{Kind: protocol.KindString, Str: column.Max}
	return facts, true, nil
}

// stored tells whether files hold a leaf at all: those of the type void they do not.
func (w *writer) stored(leaf *protocol.Leaf) bool { return leaf.Type.Kind != protocol.KindVoid }

// leafColumn is the leaf's name among the columns of a file.
func leafColumn(leaf *protocol.Leaf) string {
	path := make([]string, len(leaf.Physical))
	for i, name := range leaf.Physical {
		path[i] = string(name)
	}
	return duck.ColumnKey(path...)
}

// readBounds reads bounds from the files.
func (w *writer) readBounds(ctx context.Context, files []duck.CopiedFile, unread []int, lacking map[int]bool, all [][]stats.LeafFacts) error {
	paths := make([]string, len(unread))
	for i, file := range unread {
		paths[i] = duck.LiteralPath(files[file].Path)
	}
	outputs := []string{"file_index"}
	var leaves []int
	for k := range w.encoder.Leaves {
		if !lacking[k] {
			continue
		}
		leaves = append(leaves, k)
		column, filter := leafColumn(&w.encoder.Leaves[k]), ""
		if kind := w.encoder.Leaves[k].Type.Kind; kind == protocol.KindFloat || kind == protocol.KindDouble {
			filter = " FILTER (WHERE NOT isnan(" + column + "))"
		}
		outputs = append(outputs, "min("+column+")"+filter, "max("+column+")"+filter)
	}
	stream, err := w.in.Query(ctx, "SELECT "+strings.Join(outputs, ", ")+" FROM read_parquet($1, hive_partitioning => false) GROUP BY file_index", paths)
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
			file := unread[batch.Vector(0).Int64(row)]
			for i, k := range leaves {
				leaf := &w.encoder.Leaves[k]
				low, ok1 := vectorValue(leaf.Type, batch.Vector(2*i+1), row)
				high, ok2 := vectorValue(leaf.Type, batch.Vector(2*i+2), row)
				if !ok1 || !ok2 {
					continue
				}
				if column := files[file].Columns[leafColumn(leaf)]; column.NaNs > 0 {
					high.Float = math.NaN()
				}
				all[file][k].Min, all[file][k].Max = &low, &high
			}
		}
	}
}

// vectorValue is a value of a result; false for NULL.
func vectorValue(t protocol.DataType, v *duck.Vector, row int) (protocol.Value, bool) {
	if !v.Valid(row) {
		return protocol.Value{}, false
	}
	out := protocol.Value{Kind: t.Kind}
	switch t.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		out.Float = v.Float64(row)
	case protocol.KindDecimal:
		n := v.Int128(row)
		out.Dec, out.Scale = protocol.Int128{Hi: n.Hi, Lo: n.Lo}, t.Scale
	case protocol.KindString:
		out.Str = v.Text(row)
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		out.Int = v.Micros(row)
	default:
		out.Int = v.Int64(row)
	}
	return out, true
}

// identityBounds adds what a file has of the identity columns.
func (w *writer) identityBounds(written *Written, file *duck.CopiedFile, values []protocol.Value) error {
	note := func(name protocol.LogicalName, low, high int64) {
		b, ok := written.Identity[name]
		if !ok {
			b = Bounds{low, high}
		}
		written.Identity[name] = Bounds{min(b.Min, low), max(b.Max, high)}
	}
	for k, key := range w.partitions {
		if _, ok := key.field.Metadata.Identity(); ok && !values[k].Null {
			note(key.field.Name, values[k].Int, values[k].Int)
		}
	}
	for _, c := range w.layout.columns {
		if c.field < 0 || w.config.IsPartitionColumn(c.field) {
			continue
		}
		f := &w.config.Schema.Fields[c.field]
		if _, ok := f.Metadata.Identity(); !ok {
			continue
		}
		column := file.Columns[duck.ColumnKey(c.name)]
		if column.Values == column.Nulls {
			continue
		}
		low, ok1 := protocol.ParseValue(c.typ, column.Min, time.UTC)
		high, ok2 := protocol.ParseValue(c.typ, column.Max, time.UTC)
		if !ok1 || !ok2 {
			return protocol.NewError(protocol.ClassInternal, "DuckDB gives no bounds of the identity column %s", f.Name)
		}
		note(f.Name, low.Int, high.Int)
	}
	return nil
}

// describe makes the actions of the files, and says where each is to go.
func (w *writer) describe(files []duck.CopiedFile, facts [][]stats.LeafFacts) (*Written, []placedFile, error) {
	written := &Written{Identity: map[protocol.LogicalName]Bounds{}}
	placed := make([]placedFile, len(files))
	names, err := newNames(w)
	if err != nil {
		return nil, nil, err
	}
	for i := range files {
		file := &files[i]
		values := make([]protocol.Value, len(w.partitions))
		texts := make(map[string]*string, len(values))
		for k := range w.partitions {
			var err error
			if values[k], err = w.partitions[k].value(file.Keys); err != nil {
				return nil, nil, err
			}
			texts[string(w.partitions[k].physical)] = logText(values[k])
		}
		if err := w.identityBounds(written, file, values); err != nil {
			return nil, nil, err
		}
		placed[i] = placedFile{staged: file.Path, name: names.next(values)}
		size, modified, err := placed[i].stat()
		if err != nil {
			return nil, nil, w.storageError(err)
		}
		path := protocol.EncodePath(placed[i].name)
		written.Rows += file.Rows
		written.Bytes += size
		if w.rows.ChangeType {
			written.Changes = append(written.Changes, protocol.AddCDCFile{Path: path, PartitionValues: texts, Size: size, Tags: w.options.Tags})
			continue
		}
		statistics, err := w.encoder.Encode(file.Rows, facts[i])
		if err != nil {
			return nil, nil, err
		}
		written.Files = append(written.Files, protocol.AddFile{
			Path: path, PartitionValues: texts, Size: size, ModificationTime: modified, DataChange: w.options.DataChange,
			Stats: statistics, Tags: w.options.Tags, ClusteringProvider: w.options.ClusteringProvider,
		})
	}
	return written, placed, nil
}
