package sqlengine

import (
	"deltasql/ddl"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// dropState is a table as DROP FEATURE looks at it.
func (st *statement) dropState(table *log.Table, view *log.Snapshot) (*ddl.DropState, error) {
	d := &ddl.DropState{State: state(view)}
	for set, count := range map[ddl.FileSet]*int{
		ddl.FilesWithRowIDs: &d.FilesWithRowIDs, ddl.FilesOfOldTypes: &d.FilesOfOldTypes, ddl.FilesShredded: &d.FilesShredded,
		ddl.FilesClustered: &d.FilesClustered, ddl.FilesCollated: &d.FilesCollated,
	} {
		files, err := st.filesIn(view, set)
		if err != nil {
			return nil, err
		}
		*count = len(files)
	}
	extent, err := table.Extent(st.ctx)
	if err != nil {
		return nil, err
	}
	d.EarliestCheckpoint, d.EarliestCommit, d.V2Checkpoint = extent.Checkpoint, extent.Commit, extent.V2
	return d, nil
}

// planDrop plans ALTER TABLE ... DROP FEATURE on the table as it is.
func (st *statement) planDrop(table *log.Table, a *parse.DropFeature) (*ddl.Plan, error) {
	view, err := table.Snapshot(st.ctx)
	if err != nil {
		return nil, err
	}
	now, err := st.dropState(table, view)
	if err != nil {
		return nil, err
	}
	slow := !st.session.settings.on("deltasql_fast_drop_feature")
	return ddl.PlanDropFeature(*now, a.Feature, ddl.DropOptions{Truncate: a.Truncate, Slow: slow}, st.env())
}

// dropFeature is ALTER TABLE ... DROP FEATURE.
func (st *statement) dropFeature(t target, table *log.Table, a *parse.DropFeature) (*Result, error) {
	plan, err := st.planDrop(table, a)
	if err != nil {
		return nil, withTable(err, t)
	}
	return &Result{}, st.steps(t, table, plan.Steps)
}

// explainDrop answers EXPLAIN ALTER TABLE ... DROP FEATURE with the steps, one a row.
func (st *statement) explainDrop(name parse.Name, a *parse.DropFeature) (*Result, error) {
	t, err := st.resolve(st.ctx, name)
	if err != nil {
		return nil, err
	}
	table, err := st.table(t, "ALTER TABLE ... DROP FEATURE")
	if err != nil {
		return nil, at(err, name)
	}
	plan, err := st.planDrop(table, a)
	if err != nil {
		return nil, withTable(err, t)
	}
	return st.metaResult(meta.Names("plan", plan.Lines()))
}
