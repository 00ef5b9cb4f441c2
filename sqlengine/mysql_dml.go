package sqlengine

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/rewrite"
)

// warnDuplicate is the number of the warning about a row that INSERT IGNORE leaves out (ER_DUP_ENTRY).
const warnDuplicate = 1062

// overKey tells whether an INSERT is one of MySQL's that look at a key.
func overKey(s *parse.Insert) bool {
	return s.OnDuplicate != nil || s.Mode == parse.InsertReplaceInto || s.Mode == parse.InsertIgnore
}

// primaryKey are the columns of a table's informational primary key; nil where none is declared.
func primaryKey(config *protocol.TableConfig) []int {
	for _, key := range ddl.Keys(config) {
		if key.Kind != "PRIMARY KEY" {
			continue
		}
		var columns []int
		for _, name := range key.Columns {
			at := config.Schema.Lookup(name)
			if at < 0 {
				return nil
			}
			columns = append(columns, at)
		}
		return columns
	}
	return nil
}

// insertOverKey is REPLACE INTO, INSERT ... ON DUPLICATE KEY UPDATE and INSERT IGNORE of a table with a key. What it commits is a MERGE
// on the key; INSERT IGNORE, which changes no row, commits an append.
func (st *statement) insertOverKey(s *parse.Insert, tx *txn.Transaction, t target, result *Result) (*txn.Operation, error) {
	key := primaryKey(tx.Config())
	if key == nil {
		form := "ON DUPLICATE KEY UPDATE"
		if s.Mode == parse.InsertReplaceInto {
			form = "REPLACE INTO"
		}
		return nil, protocol.NewError("DELTASQL_NO_PRIMARY_KEY", "%s needs a primary key, and %s declares none", form, t.shown()).
			WithHint("declare one: ALTER TABLE %s ADD PRIMARY KEY (...); or use MERGE INTO", t.shown()).At(s.Pos.Line, s.Pos.Column)
	}
	if s.Evolve {
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "WITH SCHEMA EVOLUTION does not go with an INSERT over a key").WithHint("use MERGE WITH SCHEMA EVOLUTION").At(s.Pos.Line, s.Pos.Column)
	}
	c, err := change.Upsert(st.ctx, s, st.changed(tx, t), key, st.changeOptions())
	if err != nil {
		return nil, err
	}
	applied, err := st.apply(tx, c)
	if err != nil {
		return nil, err
	}
	given, skipped := applied.Counts[change.CountRows], applied.Counts[change.CountSkipped]
	result.Affected, result.Found, result.LastInsertID = applied.Counts[change.CountAffected], applied.Counts[change.CountFound], firstGenerated(c.Identity)
	names := make([]string, len(key))
	for i, at := range key {
		names[i] = string(tx.Config().Schema.Fields[at].Name)
	}
	for range skipped {
		st.warn(warnDuplicate, "Duplicate entry for key '%s.PRIMARY' (%s)", t.name, strings.Join(names, ", "))
	}
	if s.Default || given != 1 {
		duplicates := skipped
		if s.Mode != parse.InsertIgnore {
			duplicates = result.Affected - applied.Inserted
			if s.Mode == parse.InsertReplaceInto {
				duplicates = result.Affected - given
			} else {
				duplicates /= 2
			}
		}
		result.Info = fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", given, duplicates, st.warningCount())
	}
	if !applied.Changed() {
		return nil, nil
	}
	if s.Mode == parse.InsertIgnore {
		return &txn.Operation{Name: "WRITE", Metrics: []txn.Metric{
			{Key: "numFiles", Value: strconv.Itoa(applied.FilesAdded)}, {Key: "numOutputRows", Value: strconv.FormatInt(applied.Inserted, 10)},
			{Key: "numOutputBytes", Value: strconv.FormatInt(applied.BytesAdded, 10)},
		}, Parameters: []txn.Parameter{{Key: "mode", Value: protocol.JSONText("Append")}, {Key: "partitionBy", Value: protocol.JSONText("[]")}}}, nil
	}
	applied.SourceRows = given
	return &txn.Operation{Name: "MERGE", Parameters: keyParameters(names), Metrics: applied.Metrics("MERGE")}, nil
}

// keyParameters are what history tells of a change over a key: the MERGE that does the same.
func keyParameters(key []string) []txn.Parameter {
	conditions := make([]string, len(key))
	for i, name := range key {
		conditions[i] = "target." + name + " = source." + name
	}
	action := func(name string) []map[string]string { return []map[string]string{{"actionType": name}} }
	return []txn.Parameter{
		{Key: "predicate", Value: textOf([]string{strings.Join(conditions, " AND ")})}, {Key: "matchedPredicates", Value: textOf(action("update"))},
		{Key: "notMatchedPredicates", Value: textOf(action("insert"))}, {Key: "notMatchedBySourcePredicates", Value: textOf([]string{})},
	}
}

// joinedTables are the tables that a FROM of joins names itself, without those of its subqueries and common table expressions.
func joinedTables(f parse.From, with []parse.CTE) []*parse.TableRef {
	switch f := f.(type) {
	case *parse.Join:
		return append(joinedTables(f.Left, with), joinedTables(f.Right, with)...)
	case *parse.TableRef:
		for _, c := range with {
			if len(f.Name) == 1 && strings.EqualFold(c.Name.Name, f.Name[0].Name) {
				return nil
			}
		}
		return []*parse.TableRef{f}
	}
	return nil
}

// calls tells whether a qualifier means a table of a FROM: its alias, or where it has none a tail of its name.
func (st *statement) calls(ref *parse.TableRef, qualifier parse.Name) bool {
	if ref.Alias != nil {
		return len(qualifier) == 1 && strings.EqualFold(qualifier[0].Name, ref.Alias.Name.Name)
	}
	name := ref.Name
	if len(name) == 1 && len(qualifier) == 2 {
		name = parse.Name{{Name: st.session.Database()}, name[0]}
	}
	if len(qualifier) > len(name) {
		return false
	}
	for i, part := range qualifier {
		if !strings.EqualFold(part.Name, name[len(name)-len(qualifier)+i].Name) {
			return false
		}
	}
	return true
}

// updatedTable is the table that an UPDATE of joined tables sets columns of: that of its first assignment. Whether the others agree is seen
// when the statement is bound.
func (st *statement) updatedTable(s *parse.Update) (*parse.TableRef, error) {
	refs := joinedTables(s.From, s.With)
	if len(refs) == 0 {
		return nil, protocol.NewError("DELTASQL_UNKNOWN_TABLE", "UPDATE has no table whose rows can be changed").At(s.Pos.Line, s.Pos.Column)
	}
	name := s.Set[0].Target
	for k := min(len(name)-1, 2); k > 0; k-- {
		for _, ref := range refs {
			if st.calls(ref, name[:k]) {
				return changeable(ref)
			}
		}
	}
	for _, ref := range refs {
		found, err := st.Table(st.ctx, ref, nil)
		if err != nil {
			return nil, err
		}
		if found.Source == nil {
			continue
		}
		for _, c := range found.Source.Columns() {
			if !c.Hidden && strings.EqualFold(c.Name, name[0].Name) {
				return changeable(ref)
			}
		}
	}
	return refs[0], nil // the binder knows what is wrong with the name
}

// deletedTable is the table that a DELETE of joined tables takes rows from.
func (st *statement) deletedTable(s *parse.Delete) (*parse.TableRef, error) {
	if len(s.Targets) > 1 {
		return nil, protocol.NewError("DELTASQL_MULTI_TABLE_CHANGE", "one DELETE can take rows from one table only").At(s.Pos.Line, s.Pos.Column).
			WithHint("use a DELETE for each table")
	}
	for _, ref := range joinedTables(s.From, s.With) {
		if st.calls(ref, s.Targets[0]) {
			return changeable(ref)
		}
	}
	for _, ref := range joinedTables(s.From, s.With) { // a table that is missing is told first
		if _, err := st.Table(st.ctx, ref, nil); err != nil {
			return nil, err
		}
	}
	last := s.Targets[0][len(s.Targets[0])-1]
	return nil, protocol.NewError("DELTASQL_UNKNOWN_TABLE", "Unknown table '%s' in MULTI DELETE", last.Name).At(last.Pos.Line, last.Pos.Column)
}

// changeable refuses an older version of a table.
func changeable(ref *parse.TableRef) (*parse.TableRef, error) {
	if ref.AsOf != nil {
		return nil, protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "only the newest version of a table can be changed").At(ref.AsOf.Pos.Line, ref.AsOf.Pos.Column)
	}
	return ref, nil
}

// tellUpdated says what an UPDATE did in MySQL's terms: rows that are as they were before do not count as affected there.
func (st *statement) tellUpdated(result *Result, applied *rewrite.Applied) {
	result.Affected, result.Found = applied.Updated, applied.Updated
	if st.session.Dialect() != expr.MySQL {
		return
	}
	result.Affected = applied.Differing
	result.Info = fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", applied.Updated, applied.Differing, st.warningCount())
}
