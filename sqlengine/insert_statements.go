package sqlengine

import (
	"context"
	"slices"
	"strconv"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/rewrite"
)

// insertion is a bound source of rows for a table.
type insertion struct {
	query    *expr.Query
	schema   protocol.DataType // of the table that CREATE TABLE AS SELECT makes
	done     []txn.Duty
	identity []change.Identity
}

// inserted is what became of an insertion.
type inserted struct {
	files []protocol.AddFile
	rows  int64
	bytes int64
}

// metrics are what history tells of written rows.
func (w inserted) metrics() []txn.Metric {
	return []txn.Metric{
		{Key: "numFiles", Value: strconv.Itoa(len(w.files))},
		{Key: "numOutputRows", Value: strconv.FormatInt(w.rows, 10)},
		{Key: "numOutputBytes", Value: strconv.FormatInt(w.bytes, 10)},
	}
}

// insertRows writes the rows of an insertion as new files of a transaction.
func (st *statement) insertRows(tx *txn.Transaction, source *insertion) (inserted, error) {
	written, err := st.writeRows(tx, source)
	if isDecimalOverflow(err) && !st.widens() {
		st.wide = true // as for queries: once more in 128 bits
		st.forgetNotes()
		written, err = st.writeRows(tx, source)
	}
	if err != nil {
		return inserted{}, err
	}
	if err := st.advance(tx, source.identity, written.Rows); err != nil {
		return inserted{}, err
	}
	return inserted{files: written.Files, rows: written.Rows, bytes: written.Bytes}, nil
}

func (st *statement) writeRows(tx *txn.Transaction, source *insertion) (*rewrite.Written, error) {
	if err := st.admit(); err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	p := &plan{wide: st.widens()}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(source.query, duckgen.Options{Relation: planner.relation}); err != nil {
		return nil, err
	}
	p.sql = checkedFiles(p.sql, source.schema) // a table that the query makes; a plan for one that is there has the check in it
	// Inserted rows are new, whatever else the transaction does: they have no ids to keep, and Write puts them into change files where
	// the log itself would not tell of them.
	done := append(slices.Clone(source.done), txn.Duty{Kind: txn.ChangeRows}, txn.Duty{Kind: txn.RowIDs})
	options := rewrite.Options{DataChange: true}
	if len(p.relations) == 0 { // rows of the statement itself, few enough to be put in order
		if options.SortBy, err = clusteringOrder(tx); err != nil {
			return nil, err
		}
	}
	written, err := rewrite.Write(st.progress(), instance, tx, rewrite.Rows{SQL: p.sql, Args: p.args, Done: done}, options)
	return written, p.diagnose(err)
}

// clusteringOrder are the clustering columns of the table that is written, as expressions over the columns of new rows; none where it
// is not clustered.
func clusteringOrder(tx *txn.Transaction) ([]string, error) {
	config := tx.Config()
	domain, ok := tx.Domain(protocol.DomainClustering)
	if !ok || !config.Supports("clustering") {
		return nil, nil
	}
	paths, err := protocol.ClusteringColumns(domain.Configuration)
	if err != nil {
		return nil, err
	}
	var order []string
	all := config.Leaves()
	for _, path := range paths {
		at := slices.IndexFunc(all, func(l protocol.Leaf) bool { return slices.Equal(l.Physical, path) })
		if at < 0 {
			continue // the order of rows is no promise
		}
		item := "c" + strconv.Itoa(config.Schema.Lookup(string(all[at].Logical[0])))
		for _, member := range all[at].Logical[1:] {
			item += "." + duck.QuoteIdentifier(string(member))
		}
		order = append(order, item)
	}
	return order, nil
}

// progress is the statement's context, which tells the session how far DuckDB is.
func (st *statement) progress() context.Context {
	if report := st.session.options.Progress; report != nil {
		return duck.WithProgress(st.ctx, report)
	}
	return st.ctx
}

// insert is INSERT.
func (st *statement) insert(s *parse.Insert) (*Result, error) {
	t, table, err := st.changeTarget(s.Table, "INSERT")
	if err != nil {
		return nil, err
	}
	st.ignored(s.Ignored)
	result := &Result{}
	err = st.changeRows(t, table, result, func(tx *txn.Transaction) (*txn.Operation, error) {
		if overKey(s) && (s.Mode != parse.InsertIgnore || primaryKey(tx.Config()) != nil) {
			return st.insertOverKey(s, tx, t, result)
		}
		source, plan, err := st.bindInsert(tx, t, s)
		if err != nil {
			return nil, err
		}
		if plan.Replaced != nil || s.Mode == parse.InsertReplace && tx.Config().Active("changeDataFeed") {
			return st.replaceAtOnce(tx, t, s, plan, result)
		}
		before, err := tx.View() // which in a transaction has what its statements wrote
		if err != nil {
			return nil, err
		}
		written, err := st.insertRows(tx, source)
		if err != nil {
			return nil, err
		}
		operation, err := st.replaced(tx, before, t, s, plan, written)
		if err != nil {
			return nil, err
		}
		result.Affected, result.LastInsertID = written.rows, firstGenerated(plan.Identity)
		return operation, nil
	})
	st.session.insertedID(result, err)
	return result, err
}

// firstGenerated is the first value that an INSERT has generated for an identity column; 0 where it has generated none.
func firstGenerated(columns []change.Identity) int64 {
	for _, c := range columns {
		if c.Generated && c.Count != 0 {
			return c.Base
		}
	}
	return 0
}

// insertedID keeps what LAST_INSERT_ID() gives: a statement that fails or generates nothing leaves it as it is.
func (s *Session) insertedID(r *Result, err error) {
	if err != nil || r.LastInsertID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inserted = r.LastInsertID
}

// lastInserted is what LAST_INSERT_ID() gives.
func (s *Session) lastInserted() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inserted
}

// bindInsert binds an INSERT over the table as it will be; schema evolution comes first.
func (st *statement) bindInsert(tx *txn.Transaction, t target, s *parse.Insert) (*insertion, *change.Plan, error) {
	options := st.changeOptions()
	into := st.changed(tx, t)
	if s.Evolve || st.session.settings.on("deltasql_schema_evolution") {
		incoming, err := change.Incoming(st.ctx, s, into, options)
		if err != nil {
			return nil, nil, err
		}
		if into, err = st.evolved(tx, t, incoming); err != nil {
			return nil, nil, err
		}
	}
	plan, err := change.Insert(st.ctx, s, into, options)
	if err != nil {
		return nil, nil, err
	}
	// What is taken away is of the table as it will be, while the new rows' source has read it as it was.
	st.pin(t.path, into.Source.(*tableSource).snapshot)
	return &insertion{query: plan.Query, done: plan.Done, identity: plan.Identity}, plan, nil
}

// changed is the table as package change sees it.
func (st *statement) changed(tx *txn.Transaction, t target) change.Table {
	name := []string{t.shown()}
	if t.name != "" {
		name = []string{t.database, t.name}
	}
	return change.Table{Name: name, Config: st.reserved.config(tx.Config()), Source: newTableSource(t, st.pins[pinKey(t.path, nil)], true)}
}

// evolved gives the table the columns that incoming rows bring, and is then what changed is: the table and its snapshot as they will be,
// identity columns going on with reserved values.
func (st *statement) evolved(tx *txn.Transaction, t target, incoming protocol.DataType) (change.Table, error) {
	if err := st.evolve(tx, incoming); err != nil {
		return change.Table{}, err
	}
	view, err := tx.View()
	if err != nil {
		return change.Table{}, err
	}
	out := st.changed(tx, t)
	out.Source = newTableSource(t, view, true)
	return out, nil
}

// evolve gives the table the columns that incoming rows bring.
func (st *statement) evolve(tx *txn.Transaction, incoming protocol.DataType) error {
	view, err := tx.View()
	if err != nil {
		return err
	}
	deps, err := st.dependencies(view.Config())
	if err != nil {
		return err
	}
	evolved, err := ddl.EvolveSchema(state(view), incoming, ddl.Evolution{Deps: deps}, st.env())
	if err != nil || evolved.Empty() {
		return err
	}
	return st.stage(tx, evolved)
}
