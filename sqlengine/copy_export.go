package sqlengine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// exportOptions are the options of COPY ... TO, after they have been checked.
type exportOptions struct {
	format      string // "csv", "json", "parquet"
	compression string
	delimiter   string
	quote       string
	escape      string
	null        string
	header      bool
	overwrite   bool
	partitionBy []string
}

// exportFormats are what the ends of names stand for where no FORMAT says it.
var exportFormats = map[string]string{".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}

// uncompressedName is a name in lower case without what says how the file is compressed.
func uncompressedName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
}

var exportCompressions = map[string][]string{
	"csv": {"none", "gzip", "zstd"}, "json": {"none", "gzip", "zstd"}, "parquet": {"uncompressed", "snappy", "gzip", "zstd", "lz4_raw"},
}

func exportOptionsOf(s *parse.CopyTo) (*exportOptions, error) {
	o := &exportOptions{format: exportFormats[filepath.Ext(uncompressedName(s.Path))], delimiter: ",", quote: `"`, escape: `"`, header: true}
	known := []string{"format", "header", "delimiter", "delim", "sep", "quote", "escape", "null", "nullstr", "compression", "partition_by", "overwrite"}
	text := ""
	err := eachOption("COPY TO", s.Options, known, func(key, value string) error {
		switch key {
		case "format":
			o.format = strings.ToLower(value)
		case "header":
			text = key
			return boolOption(key, value, &o.header)
		case "delimiter", "delim", "sep":
			o.delimiter, text = unescapedSeparator(value), key
		case "quote":
			o.quote, text = value, key
		case "escape":
			o.escape, text = value, key
		case "null", "nullstr":
			o.null, text = value, key
		case "compression":
			o.compression = strings.ToLower(value)
		case "overwrite":
			return boolOption(key, value, &o.overwrite)
		case "partition_by":
			o.partitionBy = strings.Split(value, parse.ListSeparator)
		}
		return nil
	})
	compressions, supported := exportCompressions[o.format]
	switch {
	case err != nil:
		return nil, err
	case o.format == "":
		return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "COPY TO '%s' does not say in which format", s.Path).WithHint("add (FORMAT csv), (FORMAT json) or (FORMAT parquet)")
	case !supported:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the format %s is not supported", o.format).WithHint("csv, json and parquet are")
	case o.compression != "" && !slices.Contains(compressions, o.compression):
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "the compression of %s files is one of %s, not %q", o.format, strings.Join(compressions, ", "), o.compression)
	case text != "" && o.format != "csv":
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "the option '%s' is one of CSV, not of %s", text, o.format)
	case len(o.delimiter) != 1 || len(o.quote) > 1 || len(o.escape) > 1:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "delimiter, quote and escape are characters of one byte")
	}
	if o.compression == "" && o.format != "parquet" {
		switch filepath.Ext(strings.ToLower(s.Path)) {
		case ".gz":
			o.compression = "gzip"
		case ".zst":
			o.compression = "zstd"
		}
	}
	return o, nil
}

// copyTo is COPY ... TO: it writes the rows of a table or a query to a file, or with PARTITION_BY to a folder of files. Values have
// the texts that the session gives them. What is written appears whole under its name or not at all.
func (st *statement) copyTo(s *parse.CopyTo) (*Result, error) {
	if err := st.mayWrite("COPY TO", s.Pos); err != nil {
		return nil, err
	}
	place := func(err error) error { return at(err, parse.Name{{Pos: s.Pos}}) }
	o, err := exportOptionsOf(s)
	if err != nil {
		return nil, place(err)
	}
	path, err := st.exportPath(s, o)
	if err != nil {
		return nil, place(err)
	}
	query := s.Query
	if query == nil {
		query = &parse.Query{Body: &parse.TableBody{Table: s.Table}}
	}
	bound, types, err := st.exported(query, o)
	if err != nil {
		return nil, place(err)
	}
	rows, err := st.export(bound, types, path, o)
	if isDecimalOverflow(err) && !st.widens() {
		st.wide = true
		if bound, types, err = st.exported(query, o); err == nil {
			rows, err = st.export(bound, types, path, o)
		}
	}
	return &Result{Affected: rows}, err
}

// exportPath is where the export goes: never into a table, and over what is there only with OVERWRITE.
func (st *statement) exportPath(s *parse.CopyTo, o *exportOptions) (string, error) {
	path, err := st.session.engine.fencedPath(s.Path)
	if err != nil {
		return "", err
	}
	real := withoutLinks(path)
	for _, at := range []string{path, real} {
		if isTable(at) || enclosingTable(at) != "" || filepath.Base(at) == logFolder {
			return "", protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "COPY TO does not write into the Delta table %s", s.Path).WithHint("INSERT INTO adds rows to a table")
		}
	}
	if !isFolder(filepath.Dir(path)) {
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no folder %s", filepath.Dir(path))
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", protocol.NewError("DELTASQL_STORAGE", "%s cannot be used", s.Path).WithCause(err)
	case !o.overwrite:
		return "", protocol.NewError("DELTASQL_FILE_EXISTS", "%s exists already", s.Path).WithHint("(OVERWRITE) replaces it")
	case info.IsDir() && o.partitionBy == nil:
		return "", protocol.NewError("DELTASQL_FILE_EXISTS", "%s is a folder, which one file does not replace", s.Path)
	case info.IsDir():
		return path, st.replaceable(path)
	}
	return path, nil
}

// replaceable refuses to replace a folder with anything but data files in it.
func (st *statement) replaceable(folder string) error {
	inside, err := filepath.Rel(folder, st.session.engine.catalog.root)
	if err == nil && filepath.IsLocal(inside) {
		return protocol.NewError("DELTASQL_FILE_EXISTS", "the catalog lies in %s, which so is not replaced", folder)
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be read", folder).WithCause(err)
		case entry.IsDir() && entry.Name() == logFolder:
			return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "there is a Delta table in %s, which so is not replaced", folder)
		case !entry.IsDir() && (!entry.Type().IsRegular() || exportFormats[filepath.Ext(uncompressedName(entry.Name()))] == ""):
			return protocol.NewError("DELTASQL_FILE_EXISTS", "the folder %s is not replaced: %s in it is no data file", folder, path).
				WithHint("OVERWRITE replaces folders of CSV, JSON and Parquet files; name another folder")
		}
		return nil
	})
}

// exported is the query as its rows are written. For CSV and JSON every value is text: of CSV a column each, of JSON one object a row.
// types are the columns' own.
func (st *statement) exported(query *parse.Query, o *exportOptions) (bound *expr.Query, types []protocol.DataType, err error) {
	defer bind.Catch(&err)
	b := bind.NewBuilder(st.ctx, st.bindOptions())
	inner, err := b.Query(query)
	if err != nil {
		return nil, nil, err
	}
	rows := b.Derived(inner, "")
	seen := map[string]bool{}
	partition := map[int]bool{}
	for i, c := range inner.Columns {
		types = append(types, c.Type)
		if folded := strings.ToLower(c.Name); seen[folded] {
			return nil, nil, protocol.NewError("COLUMN_ALREADY_EXISTS", "two columns are called %s", c.Name).WithHint("give them names: SELECT a AS x, b AS y")
		} else {
			seen[folded] = true
		}
		if slices.ContainsFunc(o.partitionBy, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			partition[i] = true
		}
	}
	for _, name := range o.partitionBy {
		if !seen[strings.ToLower(name)] {
			return nil, nil, protocol.NewError("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "PARTITION_BY names %s, which is no column of the query", name)
		}
	}
	if o.partitionBy != nil && len(partition) == len(inner.Columns) {
		return nil, nil, protocol.NewError("ALL_PARTITION_COLUMNS_NOT_ALLOWED", "not every column can be one of PARTITION_BY")
	}
	text := protocol.DataType{Kind: protocol.KindString}
	var items, members []bind.Item
	for i, c := range inner.Columns {
		var value expr.Expr = &expr.Column{Typed: expr.Typed{Of: c.Type, Null: true}, Relation: rows, Index: i}
		switch {
		case c.Type.Kind == protocol.KindVoid:
			return nil, nil, protocol.NewError("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "column %s has type VOID, which cannot be exported", c.Name).WithHint("give it a type by CAST")
		case o.format == "json" && !partition[i]:
			members = append(members, bind.Item{Name: c.Name, Value: exactTime(value)})
			continue
		case o.format == "csv" && c.Type.Kind >= protocol.KindArray, o.format == "csv" && c.Type.Kind == protocol.KindBinary:
			return nil, nil, protocol.NewError("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "column %s has type %s, which CSV cannot hold", c.Name, strings.ToUpper(c.Type.String())).
				WithHint("write it as text: to_json(%[1]s), hex(%[1]s)", c.Name)
		}
		if (o.format != "parquet" || partition[i]) && c.Type.Kind != protocol.KindString {
			if value, err = expr.Convert(value, text, b.Context(), false); err != nil {
				return nil, nil, err
			}
		}
		items = append(items, bind.Item{Name: c.Name, Value: value})
	}
	if o.format == "json" {
		object, err := b.Expression(jsonObject(members), bind.Named(members))
		if err != nil {
			return nil, nil, err
		}
		name := "object" // a file's one column, whose name is not written
		for seen[name] {
			name += "_"
		}
		items = append([]bind.Item{{Name: name, Value: object}}, items...)
	}
	bound = b.Block(rows, items)
	b.Finish(bound)
	return bound, types, nil
}

// exactTime is a point in time as a text for JSON that keeps its microseconds: instants in UTC with a Z. Others stay as they are.
func exactTime(e expr.Expr) expr.Expr {
	text := expr.Typed{Of: protocol.DataType{Kind: protocol.KindString}, Null: true}
	switch e.Type().Kind {
	case protocol.KindTimestamp:
		return &expr.Raw{Typed: text, SQL: "strftime(timezone('UTC', {0}), '%Y-%m-%dT%H:%M:%S.%fZ')", Args: []expr.Expr{e}}
	case protocol.KindTimestampNTZ:
		return &expr.Raw{Typed: text, SQL: "strftime({0}, '%Y-%m-%dT%H:%M:%S.%f')", Args: []expr.Expr{e}}
	}
	return e
}

// jsonObject is to_json over a struct of the columns. NULLs are left out, as Spark does.
func jsonObject(members []bind.Item) parse.Expr {
	call := func(name string, args []parse.Arg) parse.Expr {
		return &parse.Call{Name: parse.Name{{Name: name}}, Args: args}
	}
	var args []parse.Arg
	for _, m := range members {
		args = append(args, parse.Arg{Expr: &parse.Literal{Kind: parse.StringLiteral, Text: m.Name}},
			parse.Arg{Expr: &parse.Column{Name: parse.Name{{Name: m.Name, Quoted: true}}}})
	}
	return call("to_json", []parse.Arg{{Expr: call("named_struct", args)}})
}

// export runs the query into a hidden name beside the path and moves that to the path.
func (st *statement) export(bound *expr.Query, types []protocol.DataType, path string, o *exportOptions) (int64, error) {
	if err := st.admit(); err != nil {
		return 0, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return 0, err
	}
	p := &plan{wide: st.widens()}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(bound, duckgen.Options{Relation: planner.relation}); err != nil {
		return 0, err
	}
	items := make([]string, len(bound.Columns))
	for i, c := range bound.Columns {
		items[i] = duck.QuoteIdentifier(c.Out) + " AS " + duck.QuoteIdentifier(c.Name)
	}
	hiddenPath := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-"+newID())
	sql := "COPY (SELECT " + strings.Join(items, ", ") + " FROM (" + p.sql + ")) TO " + duck.QuoteString(hiddenPath) + " (" + strings.Join(o.clauses(), ", ") + ")"
	rows, err := st.copied(instance, sql, p)
	if err == nil {
		err = o.settle(hiddenPath, path)
	}
	if err != nil {
		return 0, errors.Join(err, os.RemoveAll(hiddenPath))
	}
	return rows, nil
}

// copied runs DuckDB's COPY, which answers with the number of rows.
func (st *statement) copied(instance *duck.Instance, sql string, p *plan) (rows int64, err error) {
	stream, err := instance.Query(st.progress(), sql, p.args...)
	if err != nil {
		return 0, p.diagnose(err)
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(st.ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return 0, p.diagnose(err)
		}
		for row := range batch.Len() {
			rows += batch.Vector(0).Int64(row)
		}
	}
}

// clauses are the options as DuckDB writes them.
func (o *exportOptions) clauses() []string {
	out := []string{"FORMAT " + o.format}
	switch o.format {
	case "json":
		// An object is a text without ends of lines and control characters, so this writes it as it is.
		out = []string{"FORMAT csv", "HEADER false", `QUOTE ''`, `ESCAPE ''`, "DELIMITER " + duck.QuoteString("\x01")}
	case "csv":
		header := "HEADER false"
		if o.header {
			header = "HEADER true"
		}
		out = append(out, header, "DELIMITER "+duck.QuoteString(o.delimiter), "QUOTE "+duck.QuoteString(o.quote), "ESCAPE "+duck.QuoteString(o.escape), "NULLSTR "+duck.QuoteString(o.null))
	}
	if o.compression != "" {
		out = append(out, "COMPRESSION "+o.compression)
	}
	if o.partitionBy != nil {
		names := make([]string, len(o.partitionBy))
		for i, name := range o.partitionBy {
			names[i] = duck.QuoteIdentifier(name)
		}
		extension := o.format
		switch o.compression {
		case "gzip":
			extension += ".gz"
		case "zstd":
			extension += ".zst"
		}
		if o.format == "parquet" {
			extension = o.format
		}
		out = append(out, "PARTITION_BY ("+strings.Join(names, ", ")+")", "FILE_EXTENSION "+duck.QuoteString(extension))
	}
	return out
}
