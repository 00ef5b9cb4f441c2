package txn

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

// The rules of this file hold a commit's actions against the table as it will be (protocol digest, "Actions and fields",
// "Deletion vectors"). What a user can bring about has Delta's class; what only a fault of ours can is DELTASQL_INTERNAL.

// fileStats are the members of a file's statistics that writers are bound by.
type fileStats struct {
	NumRecords  *int64 `json:"numRecords"`
	TightBounds *bool  `json:"tightBounds"`
}

func parseStats(add *protocol.AddFile) (fileStats, error) {
	var s fileStats
	if add.Stats == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(add.Stats), &s); err != nil {
		return s, internal("the statistics of %s are no JSON", add.Path).WithCause(err)
	}
	return s, nil
}

// numRecords is the number of rows that the file holds, those that a vector hides included; false where its statistics do
// not say.
func numRecords(add *protocol.AddFile) (int64, bool) {
	s, err := parseStats(add)
	if err != nil || s.NumRecords == nil || *s.NumRecords < 0 {
		return 0, false
	}
	return *s.NumRecords, true
}

func checkPath(path string) error {
	if _, _, err := protocol.DecodePath(path); err != nil {
		return internal("the path %q cannot stand in a log", path).WithCause(err)
	}
	return nil
}

// checkAdd holds one add against the table.
func checkAdd(c *protocol.TableConfig, add *protocol.AddFile) error {
	if err := checkPath(add.Path); err != nil {
		return err
	}
	if add.Size <= 0 {
		return internal("the file %s has a size of %d bytes", add.Path, add.Size)
	}
	if err := checkPartition(c, add.Path, add.PartitionValues); err != nil {
		return err
	}
	s, err := parseStats(add)
	if err != nil {
		return err
	}
	if compat := icebergCompat(c); compat > 0 {
		if s.NumRecords == nil {
			return protocol.NewError("DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT",
				"the file %s says nothing of its number of records, which IcebergCompatV%d needs", add.Path, compat)
		}
		if compat > 1 {
			tags := maps.Clone(add.Tags)
			if tags == nil {
				tags = map[string]string{}
			}
			tags[tagIcebergCompat] = string(rune('0' + compat))
			add.Tags = tags
		}
	}
	if add.DeletionVector == nil {
		return nil
	}
	return checkVector(c, add, s)
}

// checkVector holds a file with a vector against the rules that count however the vector came there.
func checkVector(c *protocol.TableConfig, add *protocol.AddFile, s fileStats) error {
	switch {
	case !c.Supports("deletionVectors"):
		return vectorsDisallowed(add.Path)
	case s.NumRecords == nil:
		return protocol.NewError("DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS",
			"the file %s has a deletion vector, but its statistics lack numRecords", add.Path)
	case s.TightBounds == nil || *s.TightBounds:
		return protocol.NewError("DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED",
			"the file %s has a deletion vector, but its statistics say that their bounds are tight", add.Path)
	case add.DeletionVector.Cardinality > *s.NumRecords:
		return protocol.NewError("DELTA_DELETION_VECTOR_INVALID_ROW_INDEX",
			"the deletion vector of %s hides %d rows of a file that has %d", add.Path, add.DeletionVector.Cardinality, *s.NumRecords)
	}
	return nil
}

// checkNewVector holds a vector against the one that the file had.
func checkNewVector(c *protocol.TableConfig, add *protocol.AddFile, old *protocol.DeletionVector) error {
	if !c.Active("deletionVectors") || icebergCompat(c) == 1 || icebergCompat(c) == 2 {
		return vectorsDisallowed(add.Path)
	}
	before := int64(0)
	if old != nil {
		before = old.Cardinality
	}
	if old.UniqueID() == add.DeletionVector.UniqueID() || add.DeletionVector.Cardinality <= before {
		return internal("the new deletion vector of %s hides %d rows, the old one %d", add.Path, add.DeletionVector.Cardinality, before)
	}
	if n, ok := numRecords(add); ok && add.DeletionVector.Cardinality == n {
		return internal("all rows of %s are deleted; the file must be removed", add.Path)
	}
	return nil
}

func vectorsDisallowed(path string) error {
	return protocol.NewError("DELTA_ADDING_DELETION_VECTORS_DISALLOWED", "the table takes no new deletion vectors, but %s would get one", path)
}

// checkPartition: the keys are the physical names of the partition columns, no more and no fewer.
func checkPartition(c *protocol.TableConfig, path string, values map[string]*string) error {
	wanted := make([]string, len(c.PartitionColumns))
	for i, column := range c.PartitionColumns {
		wanted[i] = string(c.PhysicalName(column))
	}
	slices.Sort(wanted)
	if has := slices.Sorted(maps.Keys(values)); !slices.Equal(has, wanted) {
		return protocol.NewError("DELTA_INVALID_PARTITIONING_SCHEMA",
			"the file %s has partition values for [%s]; the table is partitioned by [%s]", path, strings.Join(has, ", "), strings.Join(wanted, ", "))
	}
	return nil
}

// check holds the whole commit against the table as it was (nil for a new one) and as it will be.
func (tx *Transaction) check(op *Operation) error {
	s := &tx.staged
	config, table := tx.config, tx.table.Name()
	if config == nil {
		return internal("%s would be made without a protocol or without metadata", table)
	}
	if len(s.domains) > 0 && !config.Supports("domainMetadata") {
		for _, d := range s.domainList() {
			if !d.Removed {
				return protocol.NewError("DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
					"the table %s does not support domain metadata, so that %q cannot be set", table, d.Domain).WithTable(table).
					WithHint("ALTER TABLE ... SET TBLPROPERTIES ('delta.feature.domainMetadata' = 'supported')")
			}
		}
	}
	adds, removes := false, false
	appends := config.Active("appendOnly")
	for _, file := range s.each() {
		adds = adds || file.add != nil && file.fresh
		removes = removes || file.remove != nil
		if appends && file.remove != nil && file.remove.DataChange {
			return appendOnly(table)
		}
		if file.add == nil {
			continue
		}
		if err := checkAdd(config, file.add); err != nil { // the configuration may have changed since
			return err
		}
		if file.fresh && file.add.DeletionVector != nil && !config.Active("deletionVectors") && !bringsVectors(op) {
			return vectorsDisallowed(file.add.Path)
		}
	}
	if adds {
		owed := config.Duties()
		if removes {
			owed = append(owed, config.ChangeDuties()...)
		}
		if duty, missing := undone(owed, s.done); missing {
			return internal("files are added to %s without the duty %s", table, duty)
		}
	}
	return tx.checkChangeFeed()
}

// bringsVectors tells operations whose added files have vectors that were made before, here or in another table.
func bringsVectors(op *Operation) bool {
	return op.Name == operationRestore || op.Name == operationClone
}

// checkChangeFeed: a commit whose files a change feed must explain cannot rename or drop columns at the same time, for its
// removed files would be read under the one schema and its added files under the other.
func (tx *Transaction) checkChangeFeed() error {
	if tx.read == nil || tx.staged.metadata == nil || !tx.config.Active("changeDataFeed") {
		return nil
	}
	changes := false
	for _, file := range tx.staged.each() {
		changes = changes || file.add != nil && file.add.DataChange || file.remove != nil && file.remove.DataChange
	}
	if was := tx.read.Config(); changes && (was.Mapping != tx.config.Mapping || renamesOrDrops(was, tx.config)) {
		return protocol.NewError("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION",
			"the table %s feeds changes, so that no commit may both change its rows and rename, drop or map its columns", tx.table.Name()).
			WithTable(tx.table.Name()).WithHint("change the columns in a statement of its own")
	}
	return nil
}

// renamesOrDrops tells whether a mapped column is called otherwise or is gone.
func renamesOrDrops(was, is *protocol.TableConfig) bool {
	if was.Mapping == protocol.MappingNone {
		return false
	}
	names := func(c *protocol.TableConfig) map[string]string {
		out := map[string]string{}
		for _, leaf := range c.Leaves() {
			out[joined(leaf.Physical)] = joined(leaf.Logical)
		}
		for _, i := range c.PartitionColumns {
			out[string(c.PhysicalName(i))] = string(c.Schema.Fields[i].Name)
		}
		return out
	}
	now := names(is)
	for physical, logical := range names(was) {
		if now[physical] != logical {
			return true
		}
	}
	return false
}

// joined makes one text of a path; no name holds a zero byte.
func joined[T ~string](path []T) string {
	var text strings.Builder
	for _, name := range path {
		text.WriteString(string(name))
		text.WriteByte(0)
	}
	return text.String()
}
