package meta

import (
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
)

// PartitionFilter is one condition of SHOW PARTITIONS ... PARTITION (column = value).
type PartitionFilter struct {
	Column string
	Value  protocol.Value // of the column's type
}

// Partitions is SHOW PARTITIONS: the distinct partition values of the snapshot's files, a typed column each.
func Partitions(s Subject, filters []PartitionFilter) (Table, error) {
	config, files := s.Snapshot.Config(), s.Snapshot.Files()
	if len(config.PartitionColumns) == 0 {
		return Table{}, protocol.NewError("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE",
			"SHOW PARTITIONS is not allowed on a table that is not partitioned: %s", s.QualifiedName())
	}
	table := Table{}
	var physical []protocol.PhysicalName
	for _, i := range config.PartitionColumns {
		field := config.Schema.Fields[i]
		table.Columns = append(table.Columns, Column{string(field.Name), field.Type, true})
		physical = append(physical, config.PhysicalName(i))
	}
	wanted := map[int]protocol.Value{}
	var unknown []string
	for _, f := range filters {
		at := -1
		for k, column := range table.Columns {
			if strings.EqualFold(column.Name, f.Column) {
				at = k
			}
		}
		if at < 0 {
			unknown = append(unknown, f.Column)
			continue
		}
		wanted[at] = f.Value
	}
	if len(unknown) > 0 {
		return Table{}, protocol.NewError("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN",
			"columns [%s] of SHOW PARTITIONS are no partition columns", strings.Join(unknown, ", ")).WithTable(s.QualifiedName())
	}
	table.Rows = func(yield func([]any, error) bool) {
		seen := map[string]bool{}
		for i := range files.Len() {
			var key strings.Builder
			row := make([]any, len(physical))
			matches := true
			for k, name := range physical {
				text, null := files.PartitionValue(i, name)
				value, err := protocol.DecodePartitionValue(table.Columns[k].Type, text, null, time.UTC)
				if err != nil {
					yield(nil, err)
					return
				}
				if want, ok := wanted[k]; ok && (value.Null != want.Null || !value.Null && value.Compare(want) != 0) {
					matches = false
					break
				}
				row[k] = plain(value, table.Columns[k].Type)
				if value.Null {
					key.WriteString("N;")
				} else {
					// Writers spell one value in several ways: 1.5 and 1.50.
					text := value.Text()
					key.WriteString(strconv.Itoa(len(text)) + ":" + text)
				}
			}
			if !matches || seen[key.String()] {
				continue
			}
			seen[key.String()] = true
			if !yield(row, nil) {
				return
			}
		}
	}
	return table, nil
}

// plain is a decoded partition value as a Table's row holds it.
func plain(v protocol.Value, t protocol.DataType) any {
	if v.Null {
		return nil
	}
	switch t.Kind {
	case protocol.KindBoolean:
		return v.Int != 0
	case protocol.KindFloat, protocol.KindDouble:
		return v.Float
	case protocol.KindDecimal:
		return Decimal(v.Dec.String(v.Scale))
	case protocol.KindString:
		return v.Str
	case protocol.KindBinary:
		return []byte(v.Str)
	default:
		return v.Int
	}
}
