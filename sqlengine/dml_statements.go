package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// changedName is the name of the table that an UPDATE or a DELETE changes, if it says so by itself: the one table of its FROM.
func changedName(f parse.From) (parse.Name, bool) {
	ref, ok := f.(*parse.TableRef)
	if !ok {
		return nil, false
	}
	return ref.Name, true
}

// deleteFrom is DELETE. A condition that partition values decide costs no more than the log.
func (st *statement) deleteFrom(s *parse.Delete) (*Result, error) {
	name, ok := changedName(s.From)
	if !ok || len(s.Targets) > 0 {
		ref, err := st.deletedTable(s)
		if err != nil {
			return nil, err
		}
		name = ref.Name
	}
	t, table, err := st.changeTarget(name, "DELETE")
	if err != nil {
		return nil, err
	}
	st.ignored(s.Ignored)
	result := &Result{}
	err = st.changeRows(t, table, result, func(tx *txn.Transaction) (*txn.Operation, error) {
		c, err := change.Delete(st.ctx, s, st.changed(tx, t), st.changeOptions())
		if err != nil {
			return nil, err
		}
		applied, err := st.removeRows(tx, c)
		if err != nil || !applied.Changed() {
			return nil, err
		}
		result.Affected = applied.Deleted
		return &txn.Operation{Name: "DELETE", Parameters: predicateParameter(s.WhereText), Metrics: applied.Metrics("DELETE")}, nil
	})
	return result, err
}

// removeRows deletes the rows of a change that only deletes.
func (st *statement) removeRows(tx *txn.Transaction, c *change.Changes) (*rewrite.Applied, error) {
	if !c.Simple {
		return st.apply(tx, c)
	}
	view, err := st.changedView(tx, c)
	if err != nil {
		return nil, err
	}
	var predicate stats.Predicate
	if c.Where != nil {
		predicate = st.predicate(view.Config(), []expr.Expr{c.Where})
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	applied, decided, err := rewrite.RemoveWhere(st.ctx, instance, tx, view, predicate)
	if err != nil || !decided {
		if err != nil {
			return nil, err
		}
		return st.apply(tx, c)
	}
	tx.ReadWhere(predicate)
	return applied, nil
}

// predicate is what skipping can make of conditions over a table's columns.
func (st *statement) predicate(config *protocol.TableConfig, conditions []expr.Expr) stats.Predicate {
	return bind.Predicate(st.ctx, conditions, bind.Skipping{
		Context: st.context(),
		Leaf: func(column int, path []protocol.LogicalName) (stats.Leaf, bool) {
			return leafOf(config, column, path)
		},
		Fold: st.foldOnce,
		Text: conditionText,
	})
}

// predicateParameter is what history tells of a condition.
func predicateParameter(text string) []txn.Parameter {
	if text == "" {
		text = "true"
	}
	return []txn.Parameter{{Key: "predicate", Value: textOf([]string{text})}}
}

// update is UPDATE.
func (st *statement) update(s *parse.Update) (*Result, error) {
	name, ok := changedName(s.From)
	if !ok {
		ref, err := st.updatedTable(s)
		if err != nil {
			return nil, err
		}
		name = ref.Name
	}
	t, table, err := st.changeTarget(name, "UPDATE")
	if err != nil {
		return nil, err
	}
	st.ignored(s.Ignored)
	result := &Result{}
	err = st.changeRows(t, table, result, func(tx *txn.Transaction) (*txn.Operation, error) {
		options := st.changeOptions()
		options.Lenient = options.Lenient || s.Ignore
		c, err := change.Update(st.ctx, s, st.changed(tx, t), options)
		if err != nil {
			return nil, err
		}
		applied, err := st.apply(tx, c)
		if err != nil {
			return nil, err
		}
		st.tellUpdated(result, applied)
		if !applied.Changed() {
			return nil, nil
		}
		return &txn.Operation{Name: "UPDATE", Parameters: predicateParameter(s.WhereText), Metrics: applied.Metrics("UPDATE")}, nil
	})
	return result, err
}

// merge is MERGE. It gives a row with what it did.
func (st *statement) merge(s *parse.Merge) (*Result, error) {
	t, table, err := st.changeTarget(s.Target.Name, "MERGE")
	if err != nil {
		return nil, err
	}
	applied := &rewrite.Applied{}
	committed, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		into := st.changed(tx, t)
		if s.Evolve || st.session.settings.on("deltasql_schema_evolution") {
			incoming, err := change.IncomingMerge(st.ctx, s, into, st.changeOptions())
			if err != nil {
				return nil, err
			}
			if into, err = st.evolved(tx, t, incoming); err != nil {
				return nil, err
			}
			st.pin(t.path, into.Source.(*tableSource).snapshot)
		}
		c, err := change.Merge(st.ctx, s, into, st.changeOptions())
		if err != nil {
			return nil, err
		}
		if applied, err = st.apply(tx, c); err != nil {
			return nil, err
		}
		if !applied.Changed() && !tx.Changed() {
			return nil, nil
		}
		if err := st.countSource(s, applied); err != nil {
			return nil, err
		}
		return &txn.Operation{Name: "MERGE", Parameters: mergeParameters(s), Metrics: applied.Metrics("MERGE")}, nil
	})
	if err != nil {
		return nil, err
	}
	if committed.AlreadyApplied {
		applied = &rewrite.Applied{}
	}
	return st.counts([]string{"num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"},
		applied.Updated+applied.Deleted+applied.Inserted, applied.Updated, applied.Deleted, applied.Inserted)
}

// countSource counts the rows of a MERGE's source for history.
func (st *statement) countSource(s *parse.Merge, applied *rewrite.Applied) error {
	count := &parse.Query{With: s.With, Recursive: s.Recursive, Body: &parse.Select{
		From:  s.Source,
		Items: []parse.SelectItem{{Expr: &parse.Call{Name: parse.Name{{Name: "count"}}, Args: []parse.Arg{{Expr: &parse.Star{}}}}}},
	}}
	value, err := st.scalar(count, st.bindOptions())
	applied.SourceRows = value.Int
	return err
}

// mergeParameters are what history tells of a MERGE's conditions.
func mergeParameters(s *parse.Merge) []txn.Parameter {
	type clause struct {
		Predicate  string `json:"predicate,omitempty"`
		ActionType string `json:"actionType"`
	}
	actions := map[parse.MergeAction]string{parse.MergeUpdate: "update", parse.MergeDelete: "delete", parse.MergeInsert: "insert"}
	lists := map[parse.MergeKind][]clause{parse.WhenMatched: {}, parse.WhenNotMatched: {}, parse.WhenNotMatchedBySource: {}}
	for _, w := range s.Whens {
		lists[w.Kind] = append(lists[w.Kind], clause{w.Text, actions[w.Action]})
	}
	return []txn.Parameter{
		{Key: "predicate", Value: textOf([]string{s.OnText})}, {Key: "matchedPredicates", Value: textOf(lists[parse.WhenMatched])},
		{Key: "notMatchedPredicates", Value: textOf(lists[parse.WhenNotMatched])},
		{Key: "notMatchedBySourcePredicates", Value: textOf(lists[parse.WhenNotMatchedBySource])},
	}
}

// truncate is TRUNCATE TABLE.
func (st *statement) truncate(s *parse.Truncate) (*Result, error) {
	if s.Partition {
		return nil, protocol.NewError("DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED", "TRUNCATE TABLE on a partition of a Delta table is not supported").
			WithHint("DELETE FROM ... WHERE on the partition columns does it").At(s.Pos.Line, s.Pos.Column)
	}
	t, table, err := st.changeTarget(s.Table, "TRUNCATE TABLE")
	if err != nil {
		return nil, err
	}
	_, err = st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		view, err := tx.View()
		if err != nil {
			return nil, err
		}
		instance, err := st.session.engine.duck()
		if err != nil {
			return nil, err
		}
		tx.ReadAll()
		applied, _, err := rewrite.RemoveWhere(st.ctx, instance, tx, view, nil)
		if err != nil {
			return nil, err
		}
		return &txn.Operation{Name: "TRUNCATE", Metrics: applied.Metrics("TRUNCATE"), AllowEmpty: true}, nil
	})
	return &Result{}, err
}

// apply makes a bound change of rows.
func (st *statement) apply(tx *txn.Transaction, c *change.Changes) (*rewrite.Applied, error) {
	applied, err := st.applyOnce(tx, c)
	if isDecimalOverflow(err) && !st.widens() {
		st.wide = true // as for queries: once more in 128 bits
		st.forgetNotes()
		applied, err = st.applyOnce(tx, c)
	}
	if err != nil {
		return nil, err
	}
	rows := applied.Inserted
	if c.Counts > 0 {
		rows = applied.Counts[change.CountRows] // those that met another row have used up identity values as well
	}
	return applied, st.advance(tx, c.Identity, rows)
}

func (st *statement) applyOnce(tx *txn.Transaction, c *change.Changes) (*rewrite.Applied, error) {
	if err := st.admit(); err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	view, err := st.changedView(tx, c)
	if err != nil {
		return nil, err
	}
	p := &plan{wide: st.widens()}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(c.Query, duckgen.Options{Relation: planner.relation}); err != nil {
		return nil, err
	}
	items := []string{fmt.Sprintf("c%d", c.File), fmt.Sprintf("c%d", c.Row), fmt.Sprintf("c%d", c.Action)}
	for i := range c.Values {
		items = append(items, fmt.Sprintf("c%d", i))
	}
	if c.RowID >= 0 {
		// The version of a changed row is the commit's, so that its old one is of no use.
		items = append(items, fmt.Sprintf("c%d", c.RowID), "CAST(NULL AS BIGINT)")
	}
	next := c.Row + 1
	if c.RowID >= 0 {
		next = c.RowID + 1
	}
	if c.Differs {
		items = append(items, fmt.Sprintf("c%d", next))
		next++
	}
	for i := range c.Counts {
		items = append(items, fmt.Sprintf("c%d", next+i))
	}
	changes := rewrite.Changes{
		SQL: "SELECT " + strings.Join(items, ", ") + "\nFROM (" + p.sql + ")", Args: p.args,
		ChangeFiles: c.Inserts && c.Deletes || c.Inserts && c.Updates || c.Deletes && c.Updates,
		HasNew:      c.Values > 0, HasRowIDs: c.RowID >= 0, Done: c.Done, Repeated: c.Repeated, Keys: c.Keys, FindRepeated: c.FindRepeated,
		HasDiffers: c.Differs, Counts: c.Counts, AllowRepeated: c.Repeated == "",
	}
	applied, err := rewrite.Apply(st.progress(), instance, tx, view, changes, rewrite.Options{DataChange: true})
	return applied, p.diagnose(err)
}

// changedView is the snapshot whose rows a change names by file and place: the one that its scan of the changed table reads. With
// deltasql_as_of that would be an older version, whose places mean other rows in the newest.
func (st *statement) changedView(tx *txn.Transaction, c *change.Changes) (*log.Snapshot, error) {
	view, ok := st.pins[pinKey(st.changing.path, nil)]
	if !ok {
		var err error
		if view, err = tx.View(); err != nil {
			return nil, err
		}
	}
	if source, ok := c.Target.Scan.Source.(*tableSource); !ok || source.snapshot != view {
		return nil, protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "only the newest version of %s can be changed, and the session reads an older one", st.changing.shown()).
			WithHint("RESET deltasql_as_of")
	}
	return view, nil
}

// counts is a result of one row of numbers.
func (st *statement) counts(names []string, values ...int64) (*Result, error) {
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = fmt.Sprintf("CAST(%d AS BIGINT) AS `%s`", v, names[i])
	}
	parsed, err := parse.Parse("SELECT "+strings.Join(items, ", "), parse.Options{Dialect: parse.Spark})
	if err != nil {
		return nil, err
	}
	result, err := st.query(parsed.(*parse.QueryStatement).Query)
	if err == nil {
		result.Affected = values[0]
	}
	return result, err
}
