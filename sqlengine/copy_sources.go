package sqlengine

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// copySource is a relation over files, and which of them are in it.
type copySource struct {
	table   bind.SQLTable
	files   []copyFile
	corrupt int // files that were left out
}

// openText opens a text file, decompressed by its name as Spark does.
func openText(path string) (io.Reader, func() error, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	switch lower := strings.ToLower(path); {
	case strings.HasSuffix(lower, ".gz"):
		in, err := gzip.NewReader(file)
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		return in, file.Close, nil
	case strings.HasSuffix(lower, ".bz2"):
		return bzip2.NewReader(file), file.Close, nil
	case strings.HasSuffix(lower, ".zst"), strings.HasSuffix(lower, ".snappy"), strings.HasSuffix(lower, ".lz4"), strings.HasSuffix(lower, ".deflate"):
		return nil, nil, errors.Join(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the compression of %s is not supported for CSV", path).WithHint("gzip and bzip2 are"), file.Close())
	}
	return file, file.Close, nil
}

// csvFile is a file's reader behind its header, and its columns' places among those of all files.
type csvFile struct {
	places []int
	empty  bool
}

// csvSource reads CSV files, which are taken together by the names in their headers; without headers the columns are _c0, _c1, ...
func (st *statement) csvSource(files []copyFile, o *copyOptions) (*copySource, error) {
	source := &copySource{}
	var names []string
	heads := make([]csvFile, 0, len(files))
	for _, file := range files {
		head, err := st.csvHead(file, o, &names)
		if err != nil {
			if o.skips(err) {
				source.corrupt++
				continue
			}
			return nil, err
		}
		source.files = append(source.files, file)
		heads = append(heads, head)
	}
	stage, err := st.stageText(len(names))
	if err != nil {
		return nil, err
	}
	kept := source.files[:0]
	for i, file := range source.files {
		offset, rows, err := stage.mark()
		if err != nil {
			return nil, err
		}
		switch err := st.csvRecords(file, heads[i], o, stage); {
		case err == nil:
			kept = append(kept, file)
		case o.skips(err):
			source.corrupt++
			if err := stage.rewind(offset, rows); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	source.files = kept
	if source.table, err = stage.relation(); err != nil {
		return nil, err
	}
	for i := range source.table.Columns {
		source.table.Columns[i].Name = names[i]
	}
	if o.infer {
		return source, st.inferTypes(&source.table)
	}
	return source, nil
}

// skips tells whether ignoreCorruptFiles leaves a file out for an error.
func (o *copyOptions) skips(err error) bool {
	class := protocol.ClassOf(err)
	return o.skipCorrupt && (class == "DELTA_FAILED_TO_READ_FILE" || class == "MALFORMED_RECORD_IN_PARSING")
}

// csvHead reads a file's first record for its columns and adds those that are new.
func (st *statement) csvHead(file copyFile, o *copyOptions, names *[]string) (head csvFile, err error) {
	reader, done, err := st.csvReader(file, o)
	if err != nil {
		return head, err
	}
	defer done()
	fields, err := reader.next()
	if errors.Is(err, io.EOF) {
		return csvFile{empty: true}, nil
	}
	if err != nil {
		return head, copyFault(err, file, reader.number)
	}
	used := map[int]bool{}
	for i, field := range fields {
		name := "_c" + strconv.Itoa(i)
		if o.header && len(field.text) > 0 {
			name = string(field.text)
		}
		at := -1
		for k, known := range *names {
			if strings.EqualFold(known, name) {
				at = k
			}
		}
		if at < 0 {
			*names = append(*names, name)
			at = len(*names) - 1
		}
		if used[at] {
			return head, protocol.NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "the header of %s names the column %s twice", file.path, name)
		}
		used[at] = true
		head.places = append(head.places, at)
	}
	return head, nil
}

func (st *statement) csvReader(file copyFile, o *copyOptions) (*textReader, func() error, error) {
	in, done, err := openText(file.path)
	if err != nil {
		return nil, nil, copyFault(err, file, 0)
	}
	reader := newTextReader(contextReader{st.ctx, in}, o.text)
	if mark, _ := reader.in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		reader.in.Discard(3)
	}
	return reader, done, nil
}

func copyFault(err error, file copyFile, number int64) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	return textFault(err, file.path, number)
}

// csvRecords stages a file's records.
func (st *statement) csvRecords(file copyFile, head csvFile, o *copyOptions, stage *stagedText) error {
	if head.empty {
		return nil
	}
	reader, done, err := st.csvReader(file, o)
	if err != nil {
		return err
	}
	defer done()
	if o.header {
		if _, err := reader.next(); err != nil {
			return copyFault(err, file, reader.number)
		}
	}
	values := make([][]byte, stage.columns)
	for {
		fields, err := reader.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return copyFault(err, file, reader.number)
		}
		if len(fields) != len(head.places) && o.mode != "PERMISSIVE" {
			if o.mode == "DROPMALFORMED" {
				continue
			}
			return protocol.NewError("MALFORMED_RECORD_IN_PARSING", "%s, record %d has %d fields, the first has %d", file.path, reader.number, len(fields), len(head.places)).
				WithHint("'mode' = 'PERMISSIVE' fills up with NULL and cuts off, 'DROPMALFORMED' leaves such records out")
		}
		clear(values)
		for i, at := range head.places {
			if i < len(fields) {
				values[at] = o.value(fields[i])
			}
		}
		if err := stage.add(values); err != nil {
			return err
		}
	}
}

// value is a field's text, nil for NULL: nothing without quotes, or the text of nullValue. A quoted nothing is emptyValue.
func (o *copyOptions) value(f textField) []byte {
	switch {
	case len(f.text) == 0 && !f.quoted:
		return nil
	case len(f.text) == 0:
		return []byte(o.empty)
	case o.null != "" && string(f.text) == o.null:
		return nil
	}
	return f.text
}

// fileSource reads JSON or Parquet files by DuckDB. Their columns are those of all files; where a file has not got one, it is NULL.
func (st *statement) fileSource(files []copyFile, o *copyOptions, target protocol.DataType) (*copySource, error) {
	source := &copySource{files: files}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	if o.skipCorrupt {
		source.files = nil
		for _, file := range files {
			switch err := translate(instance.Exec(st.ctx, "SELECT count(COLUMNS(*)) FROM "+o.reader([]copyFile{file}, "")), ""); {
			case err == nil:
				source.files = append(source.files, file)
			case st.ctx.Err() != nil:
				return nil, cancelled(st.ctx)
			case protocol.ClassOf(err) == "DELTASQL_OUT_OF_MEMORY":
				return nil, err
			default:
				source.corrupt++
			}
		}
	}
	if len(source.files) == 0 {
		return source, nil
	}
	stream, err := instance.Query(st.ctx, "SELECT * FROM "+o.reader(source.files, "")+" LIMIT 0")
	if err != nil {
		return nil, unreadable(err, o)
	}
	columns := stream.Columns()
	stream.Close()
	from := o.reader(source.files, "")
	if o.format == "json" {
		var types, items []string
		for i := range columns {
			text := jsonType(columns[i].Type, targetType(target, columns[i].Name))
			name := duck.QuoteIdentifier(columns[i].Name)
			types = append(types, duck.QuoteString(columns[i].Name)+": "+duck.QuoteString(strings.ReplaceAll(text, variantMark, "JSON")))
			if strings.Contains(text, variantMark) {
				name = "CAST(" + name + " AS " + strings.ReplaceAll(text, variantMark, "VARIANT") + ") AS " + name
			}
			switch c := columns[i]; {
			case text == "VARCHAR" && c.Type.Kind == duck.KindDouble:
				name = exactNumber(c.Name) + " AS " + name
			case numbersToDecimals(c.Type, targetType(target, c.Name)):
				name = exactNested(c.Name) + " AS " + name
			}
			items = append(items, name)
		}
		from = "(SELECT " + strings.Join(items, ", ") + " FROM " + o.reader(source.files, ", columns = {"+strings.Join(types, ", ")+"}") + ")"
		if stream, err = instance.Query(st.ctx, "SELECT * FROM "+from+" LIMIT 0"); err != nil {
			return nil, unreadable(err, o)
		}
		columns = stream.Columns()
		stream.Close()
	}
	int96, err := st.int96Columns(instance, source.files, o)
	if err != nil {
		return nil, err
	}
	var items []string
	for i, column := range columns {
		of, cast := deltaType(column.Type)
		item := duck.QuoteIdentifier(column.Name)
		switch {
		case int96[column.Name]: // Spark's and Hive's instants in UTC
			of = protocol.DataType{Kind: protocol.KindTimestamp}
			item = "timezone('UTC', CAST(" + item + " AS TIMESTAMP))"
		case cast:
			item = "CAST(" + item + " AS " + expr.DuckType(of) + ")"
		}
		items = append(items, item+" AS "+duck.QuoteIdentifier(out(i)))
		source.table.Columns = append(source.table.Columns, expr.OutputColumn{Name: column.Name, Out: out(i), Type: of, Nullable: true})
	}
	source.table.SQL = "(SELECT " + strings.Join(items, ", ") + " FROM " + from + ")"
	return source, nil
}

// reader is DuckDB's table function over files.
func (o *copyOptions) reader(files []copyFile, extra string) string {
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = duck.QuoteString(duck.LiteralPath(file.path))
	}
	list := "[" + strings.Join(names, ", ") + "]"
	if o.format == "parquet" {
		return "read_parquet(" + list + ", union_by_name => true, hive_partitioning => false)"
	}
	form := "newline_delimited"
	if o.text.multiLine {
		form = "auto"
	}
	text := "read_json(" + list + ", format => '" + form + "', hive_partitioning => false, maximum_object_size => " + strconv.Itoa(maxTextRecord)
	if o.mode == "DROPMALFORMED" {
		text += ", ignore_errors => true"
	}
	if extra == "" {
		// Objects are structs however many members they have, and every record is looked at.
		extra = ", union_by_name => true, sample_size => -1, map_inference_threshold => -1, field_appearance_threshold => 0, convert_strings_to_integers => false"
	}
	return text + extra + ")"
}

func unreadable(err error, o *copyOptions) error {
	known, _ := translate(err, "").(*protocol.Error)
	if known != nil && (known.Class == "INVALID_PARAMETER_VALUE" || known.Class == protocol.ClassInternal) {
		known.Class = "DELTA_FAILED_TO_READ_FILE"
		known.WithHint("'ignoreCorruptFiles' = 'true' leaves out files that cannot be read")
	}
	return known
}

// int96Columns are the columns of Parquet files that hold points in time in the form of old writers.
func (st *statement) int96Columns(instance *duck.Instance, files []copyFile, o *copyOptions) (map[string]bool, error) {
	out := map[string]bool{}
	if o.format != "parquet" {
		return out, nil
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = duck.QuoteString(duck.LiteralPath(file.path))
	}
	stream, err := instance.Query(st.ctx, "SELECT DISTINCT name FROM parquet_schema(["+strings.Join(names, ", ")+"]) WHERE type = 'INT96'")
	if err != nil {
		return nil, unreadable(err, o)
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(st.ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, unreadable(err, o)
		}
		for row := range batch.Len() {
			out[batch.Vector(0).Text(row)] = true
		}
	}
}

// targetType is the type of the table's column of a name; the zero type where there is none.
func targetType(schema protocol.DataType, name string) protocol.DataType {
	if at := schema.Lookup(name); at >= 0 {
		return schema.Fields[at].Type
	}
	return protocol.DataType{}
}
