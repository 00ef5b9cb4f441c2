package sqlengine

import (
	"context"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// schemaChecks compares the columns of data files with the table's. Files with equal columns are compared once.
type schemaChecks struct {
	checker *checker
	config  *protocol.TableConfig
	known   map[string][]string // problems by the columns' text
}

func newSchemaChecks(c *checker, config *protocol.TableConfig) *schemaChecks {
	return &schemaChecks{checker: c, config: config, known: map[string][]string{}}
}

// parquetElement is a line of a file's schema, in preorder.
type parquetElement struct {
	name     string
	children int64
	id       int64 // -1 for none
	text     string
}

// check reads the schemas of files and reports what a reader cannot bring together with the table.
func (s *schemaChecks) check(ctx context.Context, files map[string][]*checkedFile, paths []string) error {
	schemas := map[string][]parquetElement{}
	err := s.checker.each(ctx, `SELECT file_name, name, coalesce(num_children, 0), coalesce(field_id, -1), coalesce(duckdb_type, '')
		FROM parquet_schema($1) ORDER BY file_name, column_id`, func(batch *duck.Batch) error {
		for row := range batch.Len() {
			name := batch.Vector(0).Text(row)
			schemas[name] = append(schemas[name], parquetElement{batch.Vector(1).Text(row), batch.Vector(2).Int64(row), batch.Vector(3).Int64(row), batch.Vector(4).Text(row)})
		}
		return nil
	}, paths)
	if err != nil {
		return err
	}
	for local, elements := range schemas {
		var signature strings.Builder
		for _, e := range elements {
			signature.WriteString(e.name + "\x00" + strconv.FormatInt(e.children, 10) + "\x00" + strconv.FormatInt(e.id, 10) + "\x00" + e.text + "\x00")
		}
		problems, known := s.known[signature.String()]
		if !known {
			if problems, err = s.compare(ctx, local, elements); err != nil {
				return err
			}
			s.known[signature.String()] = problems
		}
		for _, file := range files[local] {
			for _, problem := range problems {
				s.checker.fault(file.path, "%s", problem)
			}
		}
	}
	return nil
}

// compare says what is wrong with the columns of a file. A column that the file lacks is no fault: it reads as NULL.
func (s *schemaChecks) compare(ctx context.Context, local string, elements []parquetElement) ([]string, error) {
	instance, err := s.checker.engine.duck()
	if err != nil {
		return nil, err
	}
	stream, err := instance.Query(ctx, "SELECT * FROM read_parquet($1, hive_partitioning = false) LIMIT 0", []string{literalPattern(local)})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	columns, top := stream.Columns(), topLevelElements(elements)
	if len(columns) != len(top) {
		return []string{"its schema cannot be understood"}, nil
	}
	var problems []string
	byID := s.config.Mapping == protocol.MappingID
	identified := false
	for _, element := range top {
		identified = identified || element.id >= 0
	}
	if byID && !identified && len(top) > 0 {
		return []string{"its columns have no field ids, though columns are mapped by id"}, nil
	}
	for i, field := range s.config.Schema.Fields {
		if s.config.IsPartitionColumn(i) {
			continue
		}
		id, _ := field.ColumnID()
		for k, element := range top {
			if byID && element.id != int64(id) || !byID && element.name != string(s.config.PhysicalName(i)) {
				continue
			}
			if problem := unreadable(field.Type, &columns[k].Type, s.config.Mapping); problem != "" {
				problems = append(problems, "the column "+string(field.Name)+": "+problem)
			}
		}
	}
	return problems, nil
}

// topLevelElements are a schema's columns.
func topLevelElements(elements []parquetElement) []parquetElement {
	var top []parquetElement
	var skip func(at int) int
	skip = func(at int) int {
		next := at + 1
		for range elements[at].children {
			if next >= len(elements) {
				return next
			}
			next = skip(next)
		}
		return next
	}
	for at := 1; at < len(elements); at = skip(at) {
		top = append(top, elements[at])
	}
	return top
}

// storedKinds are the kinds of scalars as files have them.
var storedKinds = map[duck.Kind]protocol.Kind{
	duck.KindBoolean: protocol.KindBoolean, duck.KindTinyInt: protocol.KindByte, duck.KindSmallInt: protocol.KindShort, duck.KindInteger: protocol.KindInteger,
	duck.KindBigInt: protocol.KindLong, duck.KindUTinyInt: protocol.KindShort, duck.KindUSmallInt: protocol.KindInteger, duck.KindUInteger: protocol.KindLong,
	duck.KindFloat: protocol.KindFloat, duck.KindDouble: protocol.KindDouble, duck.KindDecimal: protocol.KindDecimal, duck.KindDate: protocol.KindDate,
}

// unreadable says why values of a file's type are no values of a column's; "" where they are.
func unreadable(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) string {
	no := "it has the type " + file.String() + ", which cannot be read as " + t.String()
	ok := false
	switch t.Kind {
	case protocol.KindStruct:
		if file.Kind != duck.KindStruct {
			return no
		}
		for _, field := range t.Fields {
			for k, name := range file.Names {
				if name != string(field.PhysicalName(mode)) {
					continue
				}
				if problem := unreadable(field.Type, &file.Children[k], mode); problem != "" {
					return "the member " + string(field.Name) + ": " + problem
				}
			}
		}
		return ""
	case protocol.KindArray:
		if file.Kind != duck.KindList {
			return no
		}
		return unreadable(*t.Element, &file.Children[0], mode)
	case protocol.KindMap:
		if file.Kind != duck.KindMap {
			return no
		}
		if problem := unreadable(*t.Key, &file.Children[0].Children[0], mode); problem != "" {
			return problem
		}
		return unreadable(*t.Value, &file.Children[0].Children[1], mode)
	case protocol.KindString, protocol.KindBinary:
		ok = file.Kind == duck.KindVarchar || file.Kind == duck.KindBlob || file.Kind == duck.KindUUID
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		switch file.Kind {
		case duck.KindTimestamp, duck.KindTimestampTZ, duck.KindTimestampNS, duck.KindTimestampMS, duck.KindTimestampS:
			ok = true
		case duck.KindDate:
			ok = t.Kind == protocol.KindTimestampNTZ
		}
	case protocol.KindVoid, protocol.KindVariant, protocol.KindFile, protocol.KindGeometry, protocol.KindGeography,
		protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime:
		ok = true // their forms are the reader's affair; a deep check reads them
	default:
		kind, scalar := storedKinds[file.Kind]
		from := protocol.DataType{Kind: kind, Precision: int(file.Width), Scale: int(file.Scale)}
		ok = scalar && (from.Equal(t) || protocol.CanWiden(from, t) || wholeNumber(kind) && wholeNumber(t.Kind))
	}
	if ok {
		return ""
	}
	return no
}

// wholeNumber: integers are all stored as INT32 or INT64, and some writers leave the annotation of the narrow ones away.
func wholeNumber(k protocol.Kind) bool {
	return k == protocol.KindByte || k == protocol.KindShort || k == protocol.KindInteger
}
