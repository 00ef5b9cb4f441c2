package sqlengine

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/rewrite"
)

// convert is CONVERT TO DELTA: a folder of Parquet files becomes a table without a file being written anew.
func (st *statement) convert(s *parse.Convert) (*Result, error) {
	if err := st.mayWrite("CONVERT TO DELTA", s.Pos); err != nil {
		return nil, err
	}
	t, err := st.resolve(st.ctx, s.Source)
	if err != nil {
		return nil, err
	}
	unlock, err := st.session.engine.catalog.lock(st.ctx, lockOfFolder(t.path))
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch {
	case t.view != nil:
		_, err := st.table(t, "CONVERT TO DELTA")
		return nil, at(err, s.Source)
	case t.format == "", isTable(t.path) && isMade(t.path):
		st.warn(noteTableExists, "%s is a Delta table already", t.shown())
		return &Result{}, nil
	case t.format != "parquet":
		return nil, at(protocol.NewError("DELTA_CONVERT_NON_PARQUET_TABLE", "CONVERT TO DELTA takes folders of Parquet files, not %s", t.format), s.Source)
	}
	if !isFolder(t.path) {
		return nil, at(protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no folder %s", t.path), s.Source)
	}
	if root := enclosingTable(t.path); root != "" {
		return nil, at(protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s lies inside the Delta table %s", t.path, root), s.Source)
	}
	if _, err := os.Lstat(filepath.Join(t.path, creationMark)); err == nil {
		return nil, at(protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "in the folder %s a CREATE TABLE is at work, or has died", t.path).
			WithHint("if none is, remove %s and the files that it has left", filepath.Join(t.path, creationMark)), s.Source)
	}
	c := &conversion{st: st, s: s, path: t.path}
	if err := c.list(); err != nil {
		return nil, at(err, s.Source)
	}
	if err := st.admit(); err != nil {
		return nil, err
	}
	if err := c.infer(); err != nil {
		return nil, at(err, s.Source)
	}
	return c.commit()
}

// conversion is one CONVERT TO DELTA.
type conversion struct {
	st         *statement
	s          *parse.Convert
	path       string
	partitions []protocol.Field
	files      []foreignFile
	kinds      []foreignKind
	schema     protocol.DataType
}

type foreignFile struct {
	name   string // in the folder, with slashes
	size   int64
	millis int64
	values map[string]*string
	kind   int
}

// foreignKind are files with the same columns.
type foreignKind struct {
	example string
	columns []protocol.Field
	files   []int
}

// list finds the files, and their partition values in the names of their folders.
func (c *conversion) list() error {
	for _, p := range c.s.PartitionBy {
		c.partitions = append(c.partitions, protocol.Field{Name: protocol.LogicalName(p.Name.Name), Type: p.Type.Type, Nullable: true})
	}
	partitionFolder := func(name string) bool {
		for _, p := range c.partitions {
			if strings.HasPrefix(name, string(p.Name)+"=") {
				return true
			}
		}
		return false
	}
	err := filepath.WalkDir(c.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := c.st.ctx.Err(); err != nil {
			return err
		}
		if path != c.path && hidden(entry.Name()) && !(entry.IsDir() && partitionFolder(entry.Name())) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			if path != c.path && isTable(path) {
				return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "the folder holds the Delta table %s", path)
			}
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return err
		}
		name, err := filepath.Rel(c.path, path)
		if err != nil {
			return err
		}
		f := foreignFile{name: filepath.ToSlash(name), size: info.Size(), millis: info.ModTime().UnixMilli()}
		if f.values, err = c.valuesOf(f.name); err != nil {
			return err
		}
		c.files = append(c.files, f)
		return nil
	})
	if _, known := err.(*protocol.Error); err != nil && !known && c.st.ctx.Err() == nil {
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be read", c.path).WithCause(err)
	}
	if err == nil && len(c.files) == 0 {
		return protocol.NewError("DELTA_EMPTY_DIRECTORY", "there is no file in the folder %s that could become a table's", c.path)
	}
	return err
}

// valuesOf reads the partition values of a file's name.
func (c *conversion) valuesOf(name string) (map[string]*string, error) {
	var names, texts []string
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		key, text, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		for _, t := range []*string{&key, &text} {
			if plain, err := url.PathUnescape(*t); err == nil {
				*t = plain
			}
		}
		names, texts = append(names, key), append(texts, text)
	}
	var wanted []string
	for _, p := range c.partitions {
		wanted = append(wanted, string(p.Name))
	}
	if len(names) != len(wanted) {
		return nil, protocol.NewError("DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME", "%d partition columns are expected [%s], but the name of the file %s has %d [%s]",
			len(wanted), strings.Join(wanted, ", "), name, len(names), strings.Join(names, ", ")).WithHint("PARTITIONED BY (column type, ...) names those of the folders")
	}
	values := map[string]*string{}
	for i, p := range c.partitions {
		if !strings.EqualFold(names[i], wanted[i]) {
			return nil, protocol.NewError("DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME", "the partition column %s is expected, but the name of the file %s has %s", wanted[i], name, names[i])
		}
		text, ok := rewrite.PartitionText(p.Type, texts[i])
		if !ok {
			return nil, protocol.NewError("DELTA_FAILED_CAST_PARTITION_VALUE", "the value %q of the partition column %s in the name of the file %s is no %s", texts[i], wanted[i], name, p.Type)
		}
		values[wanted[i]] = text
	}
	return values, nil
}

// inferFiles is how many footers one query reads.
const inferFiles = 5_000

// infer reads the schemas of the files and joins them, in the order of the files' names.
func (c *conversion) infer() error {
	instance, err := c.st.session.engine.duck()
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	at := map[string]int{}
	for i := range c.files {
		at[c.local(i)] = i
	}
	for start := 0; start < len(c.files); start += inferFiles {
		var patterns []string
		for i := start; i < min(start+inferFiles, len(c.files)); i++ {
			patterns = append(patterns, duck.LiteralPath(c.local(i)))
		}
		sql := `SELECT file_name, string_agg(concat_ws(chr(1), name, type, coalesce(num_children, 0), converted_type, logical_type, scale, precision), chr(2) ORDER BY column_id),
			string_agg(name, chr(1) ORDER BY column_id) FILTER (WHERE type = 'INT96') FROM parquet_schema($1) GROUP BY file_name ORDER BY file_name`
		err := eachRow(c.st.ctx, instance, sql, []any{patterns}, func(batch *duck.Batch, row int) error {
			i, ok := at[batch.Vector(0).Text(row)]
			if !ok {
				return protocol.NewError(protocol.ClassInternal, "DuckDB tells of a file %s that was not asked for", batch.Vector(0).Text(row))
			}
			shape := batch.Vector(1).Text(row)
			k, known := kinds[shape]
			if !known {
				k = len(c.kinds)
				kinds[shape] = k
				c.kinds = append(c.kinds, foreignKind{example: c.local(i)})
				instants := map[string]bool{}
				if names := batch.Vector(2); names.Valid(row) {
					for _, name := range strings.Split(names.Text(row), "\x01") {
						instants[name] = true
					}
				}
				if c.kinds[k].columns, err = c.columnsOf(instance, c.local(i), instants); err != nil {
					return err
				}
			}
			c.files[i].kind = k
			c.kinds[k].files = append(c.kinds[k].files, i)
			return nil
		})
		if err != nil {
			return translate(err, c.path)
		}
	}
	c.schema = protocol.DataType{Kind: protocol.KindStruct}
	for _, kind := range c.kinds {
		if c.schema.Fields, err = joinFields(c.schema.Fields, kind.columns, kind.example, ""); err != nil {
			return err
		}
	}
	for _, p := range c.partitions {
		if i := c.schema.Lookup(string(p.Name)); i >= 0 {
			c.schema.Fields = append(c.schema.Fields[:i:i], c.schema.Fields[i+1:]...)
		}
	}
	c.schema.Fields = append(c.schema.Fields, c.partitions...)
	return nil
}

func (c *conversion) local(i int) string {
	return filepath.Join(c.path, filepath.FromSlash(c.files[i].name))
}

// columnsOf are the columns of a file in Delta's types. The old form of timestamps (INT96) is an instant, whatever DuckDB takes it for.
func (c *conversion) columnsOf(instance *duck.Instance, path string, instants map[string]bool) ([]protocol.Field, error) {
	stream, err := instance.Query(c.st.ctx, "SELECT * FROM read_parquet($1, hive_partitioning => false) LIMIT 0", []string{duck.LiteralPath(path)})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var fields []protocol.Field
	for _, column := range stream.Columns() {
		of, cast := deltaType(column.Type)
		if of.Kind == protocol.KindTimestampNTZ && instants[column.Name] {
			of, cast = protocol.DataType{Kind: protocol.KindTimestamp}, false
		}
		if cast {
			return nil, protocol.NewError("UNSUPPORTED_FEATURE", "the column %s of the file %s has the type %s, which Delta tables do not have", column.Name, path, column.Type.String()).
				WithHint("CREATE TABLE ... AS SELECT * FROM parquet.`...` converts the values")
		}
		fields = append(fields, protocol.Field{Name: protocol.LogicalName(column.Name), Type: of, Nullable: true})
	}
	return fields, nil
}

// joinFields adds the fields that only the second has; those that both have must have one type.
func joinFields(a, b []protocol.Field, file, prefix string) ([]protocol.Field, error) {
	out := append([]protocol.Field{}, a...)
	for _, f := range b {
		at := -1
		for i := range out {
			if strings.EqualFold(string(out[i].Name), string(f.Name)) {
				at = i
			}
		}
		switch {
		case at < 0:
			out = append(out, f)
		case out[at].Type.Kind == protocol.KindStruct && f.Type.Kind == protocol.KindStruct:
			inner, err := joinFields(out[at].Type.Fields, f.Type.Fields, file, prefix+string(f.Name)+".")
			if err != nil {
				return nil, err
			}
			out[at].Type.Fields = inner
		case !out[at].Type.Equal(f.Type):
			return nil, protocol.NewError("DELTA_FAILED_MERGE_SCHEMA_FILE", "the column %s%s has the type %s in the file %s and %s in others", prefix, f.Name, f.Type, file, out[at].Type).
				WithHint("CREATE TABLE ... AS SELECT writes files of one schema")
		}
	}
	return out, nil
}

// commit makes the table.
func (c *conversion) commit() (*Result, error) {
	st := c.st
	var columns []string
	for _, p := range c.partitions {
		columns = append(columns, string(p.Name))
	}
	made, err := ddl.Create(ddl.CreateSpec{Table: "parquet.`" + c.path + "`", Schema: c.schema, PartitionColumns: columns, External: true, UserColumns: true}, st.env())
	if err != nil {
		return nil, err
	}
	if made.Protocol != nil && made.Protocol.Supports("rowTracking") && c.s.NoStatistics {
		return nil, protocol.NewError("DELTA_CONVERT_TO_DELTA_ROW_TRACKING_WITHOUT_STATS", "rows can have ids only where files say how many there are, and NO STATISTICS leaves that out").At(c.s.Pos.Line, c.s.Pos.Column)
	}
	config, err := protocol.NewTableConfig(*made.Protocol, *made.Metadata)
	if err != nil {
		return nil, err
	}
	adds := make([]protocol.AddFile, len(c.files))
	for i, f := range c.files {
		adds[i] = protocol.AddFile{Path: protocol.EncodePath(f.name), Size: f.size, ModificationTime: f.millis, DataChange: true, PartitionValues: map[string]*string{}}
		for name, value := range f.values {
			adds[i].PartitionValues[name] = value
		}
	}
	if !c.s.NoStatistics {
		if err := c.measure(config, adds); err != nil {
			return nil, err
		}
	}
	table, err := st.session.engine.catalog.table(c.path)
	if err != nil {
		return nil, err
	}
	tx, err := txn.Create(st.ctx, table, st.transactionOptions())
	if err != nil {
		return nil, err
	}
	_, err = st.finish(tx, func(tx *txn.Transaction) (*txn.Operation, error) {
		if err := st.stage(tx, made); err != nil {
			return nil, err
		}
		// The rows are what they are: no duty of a new table without rules is open.
		if err := tx.Add(adds, tx.Duties()); err != nil {
			return nil, err
		}
		return &txn.Operation{Name: "CONVERT", Parameters: []txn.Parameter{
			{Key: "numFiles", Value: json.RawMessage(strconv.Itoa(len(adds)))}, {Key: "partitionedBy", Value: textOf(append([]string{}, columns...))},
			{Key: "collectStats", Value: json.RawMessage(strconv.FormatBool(!c.s.NoStatistics))}, {Key: "sourceFormat", Value: protocol.JSONText("parquet")},
		}, Metrics: []txn.Metric{{Key: "numConvertedFiles", Value: strconv.Itoa(len(adds))}}}, nil
	})
	if err != nil {
		st.session.engine.catalog.forget(c.path)
		os.Remove(filepath.Join(c.path, protocol.LogFolder)) // if it is empty
		return nil, err
	}
	return &Result{}, nil
}

func (c *conversion) measure(config *protocol.TableConfig, adds []protocol.AddFile) error {
	instance, err := c.st.session.engine.duck()
	if err != nil {
		return err
	}
	for _, kind := range c.kinds {
		files := rewrite.ForeignFiles{Columns: map[string]bool{}}
		for _, f := range kind.columns {
			files.Columns[string(f.Name)] = true
		}
		for _, i := range kind.files {
			files.Paths = append(files.Paths, c.local(i))
		}
		texts, err := rewrite.MeasureForeign(c.st.progress(), instance, config, files)
		if err != nil {
			return translate(err, c.path)
		}
		for k, i := range kind.files {
			adds[i].Stats = texts[k]
		}
	}
	return nil
}
