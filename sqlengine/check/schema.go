package check

import (
	"context"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
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
	stream, err := s.checker.target.DuckDB.Query(ctx, "SELECT * FROM read_parquet($1, hive_partitioning = false) LIMIT 0", []string{duck.LiteralPath(local)})
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
			if misfit := scan.FindMisfit(field.Type, &columns[k].Type, s.config.Mapping); misfit != nil {
				problems = append(problems, "the column "+string(field.Name)+misfit.At+": "+misfit.String())
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
