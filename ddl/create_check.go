package ddl

import (
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

// checkSpec looks at a table's definition as it was written, before anything is added to it, and spells the partition
// columns as the schema does.
func checkSpec(old *State, spec CreateSpec, like bool) error {
	if (old != nil || spec.OrReplace) && len(spec.Schema.Fields) == 0 {
		return protocol.NewError("DELTA_SCHEMA_NOT_PROVIDED", "REPLACE TABLE needs columns or a query")
	}
	if len(spec.PartitionColumns) > 0 && len(spec.ClusterBy) > 0 {
		return protocol.NewError("DELTA_CLUSTER_BY_WITH_PARTITIONED_BY", "a table cannot have both CLUSTER BY and PARTITIONED BY")
	}
	if old != nil && len(spec.PartitionColumns) > 0 && old.Config.Supports("clustering") {
		return protocol.NewError("DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE", "a clustered table cannot be replaced by a partitioned one").
			WithHint("drop the table and create it anew")
	}
	if err := checkDuplicates(spec.Schema); err != nil {
		return err
	}
	if err := checkCollations(spec.Schema); err != nil {
		return err
	}
	if like {
		return nil
	}
	return checkPartitionColumns(spec)
}

// checkDuplicates: names of one struct differ in more than case.
func checkDuplicates(schema protocol.DataType) error {
	seen := map[string]bool{}
	return walk(&schema, func(path Path, f *protocol.Field) error {
		key := strings.ToLower(strings.Join(path, "\x00"))
		if seen[key] {
			return protocol.NewError("COLUMN_ALREADY_EXISTS", "the column %s is defined twice (names that differ only in case are the same)", path)
		}
		seen[key] = true
		return nil
	})
}

// checkCollations: strings of stored columns compare by their bytes.
func checkCollations(schema protocol.DataType) error {
	return walk(&schema, func(path Path, f *protocol.Field) error {
		for t := &f.Type; t != nil; {
			if t.Collation != "" && !strings.EqualFold(t.Collation, "UTF8_BINARY") && !strings.EqualFold(t.Collation, "spark.UTF8_BINARY") {
				return protocol.NewError("DELTASQL_UNSUPPORTED_FEATURE", "the column %s has the collation %s; stored columns cannot have a collation other than UTF8_BINARY", path, t.Collation).
					WithHint("leave the collation out, and compare with COLLATE or lower()")
			}
			switch t.Kind {
			case protocol.KindArray:
				t = t.Element
			case protocol.KindMap:
				if t.Key.Kind == protocol.KindString && t.Key.Collation != "" {
					t = t.Key
				} else {
					t = t.Value
				}
			default:
				t = nil
			}
		}
		return nil
	})
}

func checkPartitionColumns(spec CreateSpec) error {
	var seen []int
	for i, name := range spec.PartitionColumns {
		at := spec.Schema.Lookup(name)
		if at < 0 {
			return protocol.NewError("DELTA_PARTITION_COLUMN_NOT_FOUND", "PARTITIONED BY names the column %s, which is not in the schema", name).
				WithHint("the columns are %s", strings.Join(fieldNames(&spec.Schema), ", "))
		}
		if slices.Contains(seen, at) {
			return protocol.NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "PARTITIONED BY names the column %s twice", name)
		}
		seen = append(seen, at)
		f := spec.Schema.Fields[at]
		switch f.Type.Kind {
		case protocol.KindStruct, protocol.KindArray, protocol.KindMap, protocol.KindVariant, protocol.KindFile, protocol.KindGeometry, protocol.KindGeography,
			protocol.KindVoid, protocol.KindIntervalDayTime, protocol.KindIntervalYearMonth:
			err := protocol.NewError("INVALID_PARTITION_COLUMN_DATA_TYPE", "the column %s cannot be a partition column: its type is %s", name, f.Type)
			if f.Type.Kind == protocol.KindFile {
				err.WithHint("partition by a column that is generated from a part of it, such as %s.content_type", name)
			}
			return err
		}
		if _, identity := f.Metadata.Identity(); identity {
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED", "the identity column %s cannot be a partition column", name)
		}
		spec.PartitionColumns[i] = string(f.Name)
	}
	if len(seen) > 0 && len(seen) == len(spec.Schema.Fields) {
		return protocol.NewError("ALL_PARTITION_COLUMNS_NOT_ALLOWED", "not every column can be a partition column")
	}
	return nil
}

// Adopt says whether CREATE TABLE may take the table that is already at its location: what the statement says of columns,
// partitioning, clustering and properties must be what is there. Nothing is committed.
func Adopt(there State, spec CreateSpec, env Env) error {
	named := func(err *protocol.Error) error {
		return err.WithTable(spec.Table)
	}
	properties, err := CheckProperties(spec.Properties, env)
	if err != nil {
		return err
	}
	if err := addConstraints(properties, spec.Constraints); err != nil {
		return err
	}
	config := there.Config
	if spec.UserColumns {
		if difference := schemaDifference(spec.Schema, config.Schema); difference != "" {
			return named(protocol.NewError("DELTA_CREATE_TABLE_SCHEME_MISMATCH", "the table that is there has other columns: %s", difference).
				WithHint("leave the columns out to take the table as it is"))
		}
		if !slices.Equal(spec.PartitionColumns, config.Metadata.PartitionColumns) {
			return named(protocol.NewError("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "the table that is there is partitioned by (%s), not by (%s)",
				strings.Join(config.Metadata.PartitionColumns, ", "), strings.Join(spec.PartitionColumns, ", ")))
		}
	}
	if spec.UserColumns || len(spec.ClusterBy) > 0 {
		wanted, err := clusteringDomain(config, spec.clusteringColumns())
		if err != nil {
			return err
		}
		has := there.Domains[protocol.DomainClustering].Configuration
		if has == "" {
			none, _ := clusteringDomain(config, nil)
			has = none.Configuration
		}
		if !sameClustering(wanted.Configuration, has) {
			return named(protocol.NewError("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", "the table that is there is clustered by other columns than (%s)",
				strings.Join(columnNames(config, spec.clusteringColumns()), ", ")))
		}
	}
	delete(properties, "comment")
	maps.DeleteFunc(properties, func(key, _ string) bool { return isProtocolProperty(key) })
	if len(properties) == 0 {
		return nil
	}
	existing := config.Properties()
	maps.DeleteFunc(existing, func(key, _ string) bool {
		name, _ := protocol.CanonicalProperty(key)
		_, asked := properties[name]
		return isProtocolProperty(name) || systemProperties[name] || name == propAtomicConversion && !asked
	})
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if value, ok := setting(existing, key); !ok || value != properties[key] {
			return named(protocol.NewError("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "the table that is there does not have %s = %q", key, properties[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(existing)) {
		if _, ok := setting(properties, key); !ok {
			return named(protocol.NewError("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "the table that is there has %s = %q, which the statement does not name", key, existing[key]).
				WithHint("leave TBLPROPERTIES out to take the table as it is"))
		}
	}
	return nil
}

// schemaDifference describes the first difference between the columns that a statement names and those of a table; "" where
// there is none. What only writers keep in field metadata is not compared, and neither is the order of columns.
func schemaDifference(wanted, there protocol.DataType) string {
	fields := func(t protocol.DataType) (map[string]string, []string) {
		described, order := map[string]string{}, []string{}
		_ = walk(&t, func(path Path, f *protocol.Field) error {
			kind := f.Type.String()
			if f.Type.Kind == protocol.KindStruct {
				kind = "struct"
			}
			text := kind
			if !f.Nullable {
				text += " NOT NULL"
			}
			for _, key := range []string{metaKeyCharVarchar, metaKeyComment, metaKeyDefault, "delta.generationExpression"} {
				if value, ok := f.Metadata.Text(key); ok {
					text += " " + key + "=" + value
				}
			}
			if id, ok := f.Metadata.Identity(); ok {
				id.HighWaterMark = nil
				text += " " + string(jsonText(id))
			}
			key := strings.ToLower(path.String())
			described[key] = text
			order = append(order, key)
			return nil
		})
		return described, order
	}
	left, leftOrder := fields(wanted)
	right, rightOrder := fields(there)
	for _, key := range leftOrder {
		switch has, ok := right[key]; {
		case !ok:
			return "it has no column " + key
		case has != left[key]:
			return "the column " + key + " is " + has + ", not " + left[key]
		}
	}
	for _, key := range rightOrder {
		if _, ok := left[key]; !ok {
			return "it has the column " + key + " besides"
		}
	}
	return ""
}
