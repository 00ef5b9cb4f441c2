package sqlengine

import (
	"encoding/json"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// What INSERT OVERWRITE and INSERT ... REPLACE take away.

// replaced stages what an INSERT removes of the table as it was before and gives the operation.
func (st *statement) replaced(tx *txn.Transaction, before *log.Snapshot, t target, s *parse.Insert, plan *change.Plan, written inserted) (*txn.Operation, error) {
	operation := &txn.Operation{Name: "WRITE", Metrics: written.metrics()}
	mode := "Overwrite"
	var err error
	switch s.Mode {
	case parse.InsertInto, parse.InsertIgnore: // of a table without a key
		mode = "Append"
	case parse.InsertOverwrite:
		err = st.overwrite(tx, before, plan, written, operation)
	case parse.InsertReplace:
		err = st.replaceRows(tx, t, s, written, operation)
	default:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "this form of INSERT is not supported by this version").At(s.Pos.Line, s.Pos.Column)
	}
	operation.Parameters = append([]txn.Parameter{{Key: "mode", Value: protocol.JSONText(mode)}, {Key: "partitionBy", Value: protocol.JSONText("[]")}}, operation.Parameters...)
	return operation, err
}

func (st *statement) dynamicOverwrite(tx *txn.Transaction) bool {
	return strings.EqualFold(st.session.settings.get("partition_overwrite_mode"), "dynamic") && len(tx.Config().PartitionColumns) > 0
}

// overwrite stages the removal of what INSERT OVERWRITE replaces: everything, the partitions that a PARTITION clause names, or in
// dynamic mode the partitions that the new rows are in.
func (st *statement) overwrite(tx *txn.Transaction, before *log.Snapshot, plan *change.Plan, written inserted, operation *txn.Operation) error {
	config := before.Config()
	files := before.Files()
	var goes func(i int) (bool, error)
	switch {
	case st.dynamicOverwrite(tx) && len(plan.Partition) < len(config.PartitionColumns):
		operation.Parameters = append(operation.Parameters, txn.Parameter{Key: "isDynamicPartitionOverwrite", Value: json.RawMessage(`"true"`)})
		replaced := map[string]bool{}
		for i := range written.files {
			replaced[tupleKey(config, func(name protocol.PhysicalName) (string, bool) {
				value := written.files[i].PartitionValues[string(name)]
				if value == nil {
					return "", true
				}
				return *value, false
			})] = true
		}
		tx.ReadAll()
		goes = func(i int) (bool, error) {
			return replaced[tupleKey(config, func(name protocol.PhysicalName) (string, bool) { return files.PartitionValue(i, name) })], nil
		}
	case len(plan.Partition) > 0:
		values := make([]protocol.Value, len(plan.Partition))
		for k, p := range plan.Partition {
			value, err := st.foldOnce(st.ctx, p.Value)
			if err != nil {
				return err
			}
			values[k] = value
		}
		tx.ReadWhere(partitionPredicate(config, plan.Partition, values))
		goes = func(i int) (bool, error) {
			for k, p := range plan.Partition {
				text, null := files.PartitionValue(i, config.PhysicalName(p.Column))
				value, err := protocol.DecodePartitionValue(config.Schema.Fields[p.Column].Type, text, null, nil)
				if err != nil {
					return false, err
				}
				if value.Null != values[k].Null || !value.Null && value.Compare(values[k]) != 0 {
					return false, nil
				}
			}
			return true, nil
		}
	default:
		tx.ReadAll()
		goes = func(int) (bool, error) { return true, nil }
	}
	var gone []int32
	for i := range files.Len() {
		does, err := goes(i)
		if err != nil {
			return err
		}
		if does {
			gone = append(gone, int32(i))
		}
	}
	return st.removeFiles(tx, before, gone)
}

// removeFiles stages the removal of whole files of a snapshot. Where an earlier statement of the transaction has made change files the
// rows that go must stand in such files too.
func (st *statement) removeFiles(tx *txn.Transaction, s *log.Snapshot, files []int32) error {
	if _, _, changes := tx.Staged(); changes > 0 {
		instance, err := st.session.engine.duck()
		if err == nil {
			_, err = rewrite.RemoveFiles(st.progress(), instance, tx, s, files)
		}
		return err
	}
	for _, i := range files {
		if err := tx.Remove(true, s.Files().Add(int(i))); err != nil {
			return err
		}
	}
	return nil
}

// partitionPredicate is the condition that holds for the rows of the partitions that a PARTITION clause names.
func partitionPredicate(config *protocol.TableConfig, named []change.PartitionValue, values []protocol.Value) stats.Predicate {
	var all stats.And
	for k, p := range named {
		field := config.Schema.Fields[p.Column]
		leaf := stats.Leaf{Path: []protocol.PhysicalName{config.PhysicalName(p.Column)}, Type: field.Type, Partition: true, Name: string(field.Name)}
		all = append(all, stats.Compare{Leaf: leaf, Op: stats.NullSafeEqual, Value: values[k]})
	}
	return all
}

// tupleKey joins a file's partition values to a key. Writers differ in how they write a value down, so that it is the value that counts;
// where a text cannot be read as one it stands for itself.
func tupleKey(config *protocol.TableConfig, value func(protocol.PhysicalName) (string, bool)) string {
	var key strings.Builder
	for _, i := range config.PartitionColumns {
		text, null := value(config.PhysicalName(i))
		if v, err := protocol.DecodePartitionValue(config.Schema.Fields[i].Type, text, null, nil); err == nil {
			if null = v.Null; !null {
				text = v.Text()
			}
		}
		if null || text == "" {
			key.WriteString("-;")
			continue
		}
		key.WriteString(strconv.Itoa(len(text)) + ":" + text + ";")
	}
	return key.String()
}

// replaceRows stages what INSERT ... REPLACE WHERE deletes. The new rows are written already; they are none of the rows that go, for the
// deletion reads the table as the statement found it.
func (st *statement) replaceRows(tx *txn.Transaction, t target, s *parse.Insert, written inserted, operation *txn.Operation) error {
	removed, err := st.replacedWhere(tx, t, s)
	if err != nil {
		return err
	}
	applied, err := st.removeRows(tx, removed)
	if err != nil {
		return err
	}
	applied.FilesAdded += len(written.files)
	applied.BytesAdded += written.bytes
	applied.Inserted += written.rows
	operation.Metrics = applied.Metrics("WRITE")
	operation.Parameters = append(operation.Parameters, replaceParameter(s)...)
	return nil
}

// replacedWhere are the rows that INSERT ... REPLACE WHERE takes away.
func (st *statement) replacedWhere(tx *txn.Transaction, t target, s *parse.Insert) (*change.Changes, error) {
	del := &parse.Delete{Pos: s.Pos, From: &parse.TableRef{Pos: s.Pos, Name: s.Table}, Where: s.ReplaceWhere}
	return change.Delete(st.ctx, del, st.changed(tx, t), st.changeOptions())
}

func replaceParameter(s *parse.Insert) []txn.Parameter {
	if text := strings.TrimSpace(s.ReplaceText); text != "" {
		return []txn.Parameter{{Key: "predicate", Value: protocol.JSONText("(" + text + ")")}}
	}
	return nil
}

// replaceAtOnce is INSERT ... REPLACE as one change of the rows that come and of those that go: of REPLACE USING and ON always, since both
// read the source, and of any on a table that feeds its changes, where the new rows must stand in the change files of the others.
func (st *statement) replaceAtOnce(tx *txn.Transaction, t target, s *parse.Insert, plan *change.Plan, result *Result) (*txn.Operation, error) {
	changes := plan.Replaced
	if changes == nil {
		removed, err := st.replacedWhere(tx, t, s)
		if err != nil {
			return nil, err
		}
		changes = change.Replacing(plan, removed)
	}
	applied, err := st.apply(tx, changes)
	if err != nil {
		return nil, err
	}
	result.Affected, result.LastInsertID = applied.Inserted, firstGenerated(plan.Identity)
	return &txn.Operation{Name: "WRITE", Metrics: applied.Metrics("WRITE"), Parameters: append([]txn.Parameter{
		{Key: "mode", Value: protocol.JSONText("Overwrite")}, {Key: "partitionBy", Value: protocol.JSONText("[]")}}, replaceParameter(s)...)}, nil
}
