package sqlengine

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
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

// inferences are the types that inferSchema looks for, the narrowest first, with what a text must look like. Points in time stay
// texts, which are read in the session's time zone when they are stored.
var inferences = []struct {
	kind    protocol.Kind
	pattern string
}{
	{protocol.KindInteger, `[+-]?[0-9]+`},
	{protocol.KindLong, `[+-]?[0-9]+`},
	{protocol.KindDouble, `[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity`},
	{protocol.KindDate, `[0-9]{4}-[0-9]{2}-[0-9]{2}`},
	{protocol.KindBoolean, `(?i)true|false`},
}

// inferTypes gives text columns the narrowest type that holds all their values.
func (st *statement) inferTypes(table *bind.SQLTable) error {
	if len(table.Columns) == 0 {
		return nil
	}
	var items []string
	for _, c := range table.Columns {
		name := duck.QuoteIdentifier(c.Out)
		items = append(items, "count("+name+")")
		for _, i := range inferences {
			of := expr.DuckType(protocol.DataType{Kind: i.kind})
			items = append(items, fmt.Sprintf("count(*) FILTER (regexp_full_match(%s, %s) AND TRY_CAST(%s AS %s) IS NOT NULL)", name, duck.QuoteString(i.pattern), name, of))
		}
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return err
	}
	stream, err := instance.Query(st.ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+table.SQL)
	if err != nil {
		return translate(err, "")
	}
	defer stream.Close()
	batch, err := stream.Next(st.ctx)
	if err != nil {
		return translate(err, "")
	}
	outer := make([]string, len(table.Columns))
	for k := range table.Columns {
		c := &table.Columns[k]
		at := k * (1 + len(inferences))
		outer[k] = duck.QuoteIdentifier(c.Out)
		all := batch.Vector(at).Int64(0)
		for i, inferred := range inferences {
			if all > 0 && batch.Vector(at+1+i).Int64(0) == all {
				c.Type.Kind = inferred.kind
				outer[k] = "CAST(" + outer[k] + " AS " + expr.DuckType(c.Type) + ") AS " + outer[k]
				break
			}
		}
	}
	table.SQL = "(SELECT " + strings.Join(outer, ", ") + " FROM " + table.SQL + ")"
	return nil
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

// variantMark stands for a variant in what jsonType gives: DuckDB reads it as JSON and casts that.
const variantMark = "\x00variant"

// jsonType is the type as which a JSON value is read. JSON has no dates or times: what DuckDB takes for one stays a text, and is
// converted when it is stored. Objects become maps, and anything a variant, where the table's column is one; numbers
// for a decimal are read as their texts.
func jsonType(found duck.Type, to protocol.DataType) string {
	switch to.Kind {
	case protocol.KindVariant:
		return variantMark
	case protocol.KindMap:
		if found.Kind == duck.KindStruct {
			return "MAP(VARCHAR, " + jsonType(memberOf(found), *to.Value) + ")"
		}
	case protocol.KindDecimal:
		if found.Kind == duck.KindDouble {
			return "VARCHAR" // the shortest text that means the number, see exactNumber
		}
	}
	switch found.Kind {
	case duck.KindStruct:
		members := make([]string, len(found.Names))
		for i, name := range found.Names {
			members[i] = duck.QuoteIdentifier(name) + " " + jsonType(found.Children[i], targetType(to, name))
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	case duck.KindList:
		element := protocol.DataType{}
		if to.Kind == protocol.KindArray {
			element = *to.Element
		}
		return jsonType(found.Children[0], element) + "[]"
	case duck.KindBoolean, duck.KindBigInt, duck.KindUBigInt, duck.KindHugeInt, duck.KindDouble:
		return found.String()
	}
	return "VARCHAR"
}

// exactNumber is the text of a JSON number with a fraction that goes to a decimal. DuckDB has read it as a double, which holds
// 15 digits: a longer one may have lost some, and is refused.
func exactNumber(column string) string {
	const longer = "regexp_matches({0}, '[.eE]') AND length(ltrim(regexp_replace(regexp_replace({0}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')) > 15"
	const template = "CASE WHEN " + longer + " THEN error('[NUMERIC_VALUE_OUT_OF_RANGE] a JSON number of more than 15 digits, about ' || {0} || ', cannot be read exactly as a decimal: write it as a string') ELSE {0} END"
	return strings.ReplaceAll(template, "{0}", duck.QuoteIdentifier(column))
}

// numbersToDecimals tells whether some number with a fraction inside a JSON value goes to a decimal.
func numbersToDecimals(found duck.Type, to protocol.DataType) bool {
	switch {
	case to.Kind == protocol.KindDecimal:
		return found.Kind == duck.KindDouble
	case to.Kind == protocol.KindArray && found.Kind == duck.KindList:
		return numbersToDecimals(found.Children[0], *to.Element)
	case to.Kind == protocol.KindMap && found.Kind == duck.KindStruct:
		return numbersToDecimals(memberOf(found), *to.Value)
	case to.Kind == protocol.KindStruct && found.Kind == duck.KindStruct:
		for i, name := range found.Names {
			if numbersToDecimals(found.Children[i], targetType(to, name)) {
				return true
			}
		}
	}
	return false
}

// exactNested is a nested JSON value some number of which goes to a decimal, with the same check as exactNumber: no text in it may look
// like a number of more than 15 digits and a point. A string that only looks so is refused with it, which its hint says.
func exactNested(column string) string {
	var forms []string
	for whole := 1; whole <= 15; whole++ {
		forms = append(forms, fmt.Sprintf(`[0-9]{%d}\.[0-9]{%d,}`, whole, 16-whole))
	}
	pattern := `"-?(?:` + strings.Join(forms, "|") + `|[0-9]{16,}\.[0-9]+)(?:[eE][-+]?[0-9]+)?"`
	const template = "CASE WHEN regexp_matches(CAST(to_json({0}) AS VARCHAR), {1}) THEN error('[NUMERIC_VALUE_OUT_OF_RANGE] a JSON number of more than 15 digits inside the column cannot be read exactly as a decimal: write it as a string without its point, or load the column as a variant') ELSE {0} END"
	return strings.NewReplacer("{0}", duck.QuoteIdentifier(column), "{1}", duck.QuoteString(pattern)).Replace(template)
}

// memberOf is the type of a struct's members where they agree.
func memberOf(t duck.Type) duck.Type {
	for _, child := range t.Children[1:] {
		if child.String() != t.Children[0].String() {
			return duck.Type{Kind: duck.KindVarchar}
		}
	}
	return t.Children[0]
}
