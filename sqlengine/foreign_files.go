package sqlengine

import (
	"context"
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
	table := &bind.SQLTable{}
	var items []string
	for i, column := range stream.Columns() {
		of, cast := deltaType(column.Type)
		item := duck.QuoteIdentifier(column.Name)
		if cast {
			item = "CAST(" + item + " AS " + expr.DuckType(of) + ")"
		}
		items = append(items, item+" AS "+duck.QuoteIdentifier(out(i)))
		table.Columns = append(table.Columns, expr.Column0{Name: column.Name, Out: out(i), Type: of, Nullable: true})
	}
	table.SQL = "(SELECT " + strings.Join(items, ", ") + " FROM " + reader + ")"
	return table, nil
}

// readerSQL is DuckDB's reader for a path: a file, a pattern, or a folder with all the files below it.
func readerSQL(format, path string) (string, error) {
	if !strings.ContainsAny(path, "*?[") {
		info, err := os.Stat(path)
		switch {
		case os.IsNotExist(err):
			return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%s does not exist", path)
		case err != nil:
			return "", protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", path).WithCause(err)
		case info.IsDir() && format == "parquet":
			path = filepath.Join(path, "**", "*.parquet")
		case info.IsDir():
			path = filepath.Join(path, "**", "*."+format+"*")
		}
	}
	quoted := duck.QuoteString(path)
	switch format {
	case "parquet":
		return "read_parquet(" + quoted + ", hive_partitioning => false)", nil
	case "csv":
		return "read_csv(" + quoted + ", hive_partitioning => false)", nil
	default:
		return "read_json(" + quoted + ", union_by_name => true, hive_partitioning => false)", nil
	}
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
