package sqlengine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// filesRelation reads parquet.`path`, csv.`path` and json.`path` with DuckDB's readers. Its columns are what DuckDB finds;
// types that Delta does not have are turned into the nearest one that holds every value.
func (st *statement) filesRelation(ctx context.Context, t target) (*bind.SQLTable, error) {
	reader, err := readerSQL(t.format, t.path)
	if err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	stream, err := instance.Query(ctx, "SELECT * FROM "+reader+" LIMIT 0")
	if err != nil {
		return nil, translate(err, t.shown())
	}
	defer stream.Close()
	if t.format == "parquet" && isTable(t.path) {
		st.warn(warningIgnored, "%s is a Delta table, whose files may hold rows that are no longer in it: read delta.`%s`", t.path, t.path)
	}
	table := &bind.SQLTable{}
	var items []string
	for i, column := range stream.Columns() {
		of, cast := deltaType(column.Type)
		item := duck.QuoteIdentifier(column.Name)
		if cast {
			item = "CAST(" + item + " AS " + expr.DuckType(of) + ")"
		}
		items = append(items, item+" AS "+duck.QuoteIdentifier(out(i)))
		table.Columns = append(table.Columns, expr.OutputColumn{Name: column.Name, Out: out(i), Type: of, Nullable: true})
	}
	table.SQL = "(SELECT " + strings.Join(items, ", ") + " FROM " + reader + ")"
	return table, nil
}

// maxForeignFiles bounds the files of one folder.
const maxForeignFiles = 100_000

// readerSQL is DuckDB's reader for a path: a file, a folder with the files of the format below it, or, where nothing of that very
// name is there, a pattern.
func readerSQL(format, path string) (string, error) {
	info, err := os.Stat(path)
	var files string
	switch {
	case err == nil && info.IsDir():
		names, err := filesBelow(path, format)
		if err != nil {
			return "", err
		}
		files = "[" + strings.Join(names, ", ") + "]"
	case err == nil && !info.Mode().IsRegular():
		return "", protocol.NewError("DELTASQL_STORAGE", "%s is neither a file nor a folder", path)
	case err == nil:
		files = duck.QuoteString(duck.LiteralPath(path))
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?["):
		files = duck.QuoteString(path)
	case errors.Is(err, fs.ErrNotExist):
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%s does not exist", path)
	default:
		return "", protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", path).WithCause(err)
	}
	switch format {
	case "parquet":
		return "read_parquet(" + files + ", hive_partitioning => false)", nil
	case "csv":
		return "read_csv(" + files + ", hive_partitioning => false)", nil
	default:
		return "read_json(" + files + ", union_by_name => true, hive_partitioning => false)", nil
	}
}

// filesBelow are the files of a format in a folder and below it, quoted. As for Spark, what begins with _ or . is not data: the
// checkpoints of a table's log are Parquet files too.
func filesBelow(folder, format string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && hidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && strings.Contains(strings.ToLower(entry.Name()), "."+format):
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				return err
			}
			if names = append(names, duck.QuoteString(duck.LiteralPath(path))); len(names) > maxForeignFiles {
				return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the folder %s has more than %d files", folder, maxForeignFiles).
					WithHint("read a part of it by a pattern")
			}
		}
		return nil
	})
	var known *protocol.Error
	switch {
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be read", folder).WithCause(err)
	case len(names) == 0:
		return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no %s file in the folder %s", format, folder)
	}
	return names, nil
}

// deltaType is the Delta type that holds every value of a DuckDB type; cast tells whether the value must be converted.
func deltaType(t duck.Type) (of protocol.DataType, cast bool) {
	simple := map[duck.Kind]protocol.Kind{
		duck.KindBoolean: protocol.KindBoolean, duck.KindTinyInt: protocol.KindByte, duck.KindSmallInt: protocol.KindShort,
		duck.KindInteger: protocol.KindInteger, duck.KindBigInt: protocol.KindLong, duck.KindFloat: protocol.KindFloat,
		duck.KindDouble: protocol.KindDouble, duck.KindVarchar: protocol.KindString, duck.KindBlob: protocol.KindBinary,
		duck.KindDate: protocol.KindDate, duck.KindTimestamp: protocol.KindTimestampNTZ, duck.KindTimestampTZ: protocol.KindTimestamp,
		duck.KindVariant: protocol.KindVariant,
	}
	if kind, ok := simple[t.Kind]; ok {
		return protocol.DataType{Kind: kind}, false
	}
	widened := map[duck.Kind]protocol.Kind{
		duck.KindUTinyInt: protocol.KindShort, duck.KindUSmallInt: protocol.KindInteger, duck.KindUInteger: protocol.KindLong,
		duck.KindTimestampS: protocol.KindTimestampNTZ, duck.KindTimestampMS: protocol.KindTimestampNTZ, duck.KindTimestampNS: protocol.KindTimestampNTZ,
	}
	if kind, ok := widened[t.Kind]; ok {
		return protocol.DataType{Kind: kind}, true
	}
	switch t.Kind {
	case duck.KindUBigInt:
		return protocol.DataType{Kind: protocol.KindDecimal, Precision: 20}, true
	case duck.KindHugeInt, duck.KindUHugeInt:
		return protocol.DataType{Kind: protocol.KindDecimal, Precision: 38}, true
	case duck.KindDecimal:
		return protocol.DataType{Kind: protocol.KindDecimal, Precision: int(t.Width), Scale: int(t.Scale)}, false
	case duck.KindList, duck.KindArray:
		element, cast := deltaType(t.Children[0])
		return protocol.DataType{Kind: protocol.KindArray, Element: &element, ContainsNull: true}, cast || t.Kind == duck.KindArray
	case duck.KindMap:
		key, castKey := deltaType(t.Children[0].Children[0])
		value, castValue := deltaType(t.Children[0].Children[1])
		return protocol.DataType{Kind: protocol.KindMap, Key: &key, Value: &value, ValueContainsNull: true}, castKey || castValue
	case duck.KindStruct:
		of.Kind = protocol.KindStruct
		for i, child := range t.Children {
			member, castMember := deltaType(child)
			of.Fields = append(of.Fields, protocol.Field{Name: protocol.LogicalName(t.Names[i]), Type: member, Nullable: true})
			cast = cast || castMember
		}
		return of, cast
	}
	return protocol.DataType{Kind: protocol.KindString}, true
}
